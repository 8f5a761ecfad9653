"""The common part of Messages and Converse: functions without parameters, documents, citations and cache writes.

A setting of documents, or the cache writes, of one API are residue in the other. The steps give them the form of the
target.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    EncodeContext,
    Pair,
    Row,
    Silent,
    Spec,
    asked_to_continue,
    content_step,
    each_output,
    hints,
    is_native,
    needs,
    object_of,
    reasons,
    with_contents,
)
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import WebFetchToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import FunctionTool
from contentmodel.response import ChatResponse

CLAUDE, CONVERSE = "anthropic-messages", "bedrock-converse"

# -- functions without parameters --------------------------------------------------------------------------------------

# Both APIs require a schema. The form is a row of the table of each, so decoding restores the definition.
NO_PARAMETERS = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
    "description": "This function has no parameters.",
}
"""The schema of a function that was defined without one."""


def without_parameters_row(
    name: str,
    schema: str,
    others: Mapping[str, Spec] = MappingProxyType({}),
    *,
    at: str = "",
    silent: tuple[str, ...] = (),
) -> Row:
    """Return the row of a function without parameters, for an API that requires a schema in the field `schema`.

    `others` are further fields of the function, and `at` is the path before its name.
    `silent` are attributes that other code writes.
    """
    fields = {f"{at}{key}": key for key in ("name", "description", "strict")} | dict(others)
    return Row(name, FunctionTool, fields, Silent("parameters", *silent), constants={schema: NO_PARAMETERS})


ONE_TOOL = Pair((dict,), lambda tool: [tool], lambda tools: tools[0] if tools else None, "dict")
"""The tool of a block that adds or removes one."""

# -- settings of documents ---------------------------------------------------------------------------------------------

# Whether documents are cited, and their context: the Messages API has them in the block, Converse in its member
# `document` or `searchResult`. Sources: types/document_block_param.py of anthropic 2.12, DocumentBlock and
# SearchResultBlock of botocore 1.43.117.
TYPES = (DataContent, UriContent, DocumentContent, FunctionResultContent)
_SETTINGS = {"citations": dict, "context": str}
_MEMBERS = ("document", "searchResult")


def with_document_settings(content: Any, context: EncodeContext) -> Any:
    """Return a document, or a result with documents, with the settings of the other API as settings of this one."""
    origin = context.origin
    if context.native or origin is None or origin.api not in (CLAUDE, CONVERSE):
        return content
    return _moved(content, context)


def _moved(content: Any, context: EncodeContext) -> Any:
    if isinstance(content, FunctionResultContent):
        return each_output(content, _moved, context)
    source = CLAUDE if context.api == CONVERSE else CONVERSE
    extra = content.extra or {}
    if not isinstance(content, TYPES) or source not in extra:
        return content
    residue = extra[source]
    member = (
        None if source == CLAUDE else next((name for name in _MEMBERS if residue.get(name).__class__ is dict), None)
    )
    fields = residue if member is None else object_of(residue, member)
    kinds = {"citations": dict} if _is_result(content) else _SETTINGS
    settings = {
        name: fields[name] for name, kind in kinds.items() if fields.get(name) and fields[name].__class__ is kind
    }
    if not settings:
        return content
    other_fields = {name: value for name, value in fields.items() if name not in settings}
    remaining = (
        other_fields
        if member is None
        else {**residue, member: other_fields}
        if other_fields
        else {k: v for k, v in residue.items() if k != member}
    )
    moved_fields = settings if context.api == CLAUDE else {_MEMBERS[_is_result(content)]: settings}
    return replace(content, extra={**extra, source: remaining, context.api: moved_fields})


WITH_CITED_DOCUMENTS = content_step(with_document_settings, *TYPES, needs=TYPES)


def _is_result(content: Any) -> bool:
    """Return whether a content is a search result, which has no context."""
    return isinstance(content, DocumentContent) and content.uri is not None and content.title is not None


# -- citations -----------------------------------------------------------------------------------------------------

_ROWS = {
    CLAUDE: {"char": "char_location", "page": "page_location", "block": "content_block_location"},
    CONVERSE: {"char": "documentChar", "page": "documentPage", "block": "documentChunk"},
}
_OF_RESULT = {CLAUDE: "search_result_location", CONVERSE: "searchResultLocation"}
"""The rows of citations, by unit: both APIs count characters, pages and blocks of the documents of a request.

Sources: botocore 1.43.117 (DocumentCharLocation and others), anthropic 2.12 (types/citation_*_location.py); 2026-11-27.
"""
_SAME_TYPES = ("application/pdf", "text/plain")
"""The types of documents that both APIs take in the same place. Others may be dropped, which would change indices."""


@needs(Citation)
def with_citation_rows(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose citations of documents are in the rows of this API if the other API of Claude made them.

    Without its documents, an index in any other citation means nothing.
    """
    is_kept, changed = True, []
    for message in messages:
        # Later documents have later indices.
        is_kept = is_kept and all(map(_is_same_document, _documents(message)))
        if not is_native(message, context):
            api = context.api if is_kept and message.origin is not None and message.origin.api in _ROWS else None
            contents = [_with_rows(content, api, context) for content in message.contents]
            message = with_contents(message, contents)
        changed.append(message)
    return changed


def _with_rows(content: Any, api: str | None, context: EncodeContext) -> Any:
    """Return a content whose citations have the names of their rows. Without any, Converse gets no citations."""
    if content.annotations is None:
        return content
    citations = [_with_row(citation, api, context) for citation in content.annotations]
    if any(new is not old for new, old in zip(citations, content.annotations, strict=True)):
        return replace(content, annotations=citations)
    if context.api == CLAUDE:
        return content
    context.report_lost_attributes(content, ("annotations",))
    return replace(content, annotations=None)


def _with_row(citation: Citation, api: str | None, context: EncodeContext) -> Citation:
    name = None if api is None else _row_of(citation, api)
    return citation if name is None else hints.ROW.on(citation, context.api, name)


def _row_of(citation: Citation, api: str) -> str | None:
    """Return the name of the row of a citation; None if the API has no such citation."""
    place = citation.location
    if place is None or place.start is None or place.end is None or citation.document_index is None:
        return None
    return _ROWS[api].get(place.unit) if citation.url is None else _OF_RESULT[api] if place.unit == "block" else None


def _documents(message: ChatMessage) -> list[Any]:
    results = [content for content in message.contents if isinstance(content, FunctionResultContent)]
    outputs = [output for result in results for output in result.output_list]
    return [content for content in (*message.contents, *outputs) if isinstance(content, _MEDIA)]


def _is_same_document(content: Any) -> bool:
    """Return whether a medium is no document, or one that stays a document in both APIs. Fetched pages do not."""
    if isinstance(content, WebFetchToolResultContent):
        return False
    if isinstance(content, DocumentContent) or content.media_kind in ("image", "audio", "video"):
        return True
    return isinstance(content, DataContent) and content.media_type in _SAME_TYPES


_MEDIA = (DataContent, UriContent, HostedFileContent, DocumentContent, WebFetchToolResultContent)


# -- an answer to continue -----------------------------------------------------------------------------------------

PREFILL_END = reasons.degraded(
    "anthropic-messages-prefill-end", "{target} refuses white space at the end of an answer to continue: it is removed"
)


def ends_in_space(text: object) -> bool:
    """Return whether a text that is not blank ends in white space, which no answer to continue may."""
    return isinstance(text, str) and bool(text.strip()) and text != text.rstrip()


def continues_answers(context: EncodeContext) -> bool:
    """Return whether the model continues an answer at the end. Other models refuse one, so it stays as it is."""
    return bool(context.known.capabilities.prefill)


def with_fitting_prefill(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages that do not end with white space or reasoning of an answer that the model continues.

    After reasoning, a message of the user asks for more, unless the policy `prefill` is "keep".
    """
    last = messages[-1] if messages and messages[-1].role == "assistant" and messages[-1].contents else None
    content = last.contents[-1] if last is not None else None
    if last is None or content is None:
        return messages
    if isinstance(content, ReasoningContent) and context.policies.get("prefill") != "keep":
        return [*messages, asked_to_continue(last, context)]
    if not isinstance(content, TextContent) or not ends_in_space(content.text):
        return messages
    context.report_loss(content, "text", PREFILL_END)
    trimmed = replace(content, text=content.text.rstrip())
    return [*messages[:-1], replace(last, contents=[*last.contents[:-1], trimmed])]


# -- cache writes ------------------------------------------------------------------------------------------------------

# The tokens that Claude writes to caches, by their lifetime. They are residue of the usage, in two forms. Sources:
# types/cache_creation.py of anthropic 2.12, CacheDetail of botocore 1.43.117; seen 2026-11-27.
_CACHE_FIELDS = {CLAUDE: "cache_creation", CONVERSE: "cacheDetails"}
_COUNTERS = {"1h": "ephemeral_1h_input_tokens", "5m": "ephemeral_5m_input_tokens"}
"""The counters of the Messages API, in the order in which Converse lists the lifetimes."""


def with_cache_writes(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a response of the other API of Claude with the cache writes in the form of this one."""
    usage, origin = response.usage, response.origin
    if usage is None or origin is None or origin.api not in _CACHE_FIELDS or context.native:
        return response
    extra, field = usage.extra or {}, _CACHE_FIELDS[origin.api]
    counts = counts_of(extra.get(origin.api, {}).get(field))
    if not counts:
        return response
    remaining = {name: value for name, value in extra[origin.api].items() if name != field}
    residue = {**extra.get(context.api, {}), _CACHE_FIELDS[context.api]: _written(counts, context.api)}
    return replace(response, usage=replace(usage, extra={**extra, origin.api: remaining, context.api: residue}))


def counts_of(value: Any) -> dict[str, int]:
    """Return the tokens by lifetime; none if the value has another form."""
    if value.__class__ is list and all(
        item.__class__ is dict and item.keys() == {"ttl", "inputTokens"} for item in value
    ):
        counts = {item["ttl"]: item["inputTokens"] for item in value if item["ttl"] in ("1h", "5m")}
        is_whole = len(counts) == len(value)
    else:
        counters = value if value.__class__ is dict else {}
        counts = {ttl: counters[name] for ttl, name in _COUNTERS.items() if name in counters}
        is_whole = len(counts) == len(counters)
    return counts if is_whole and all(count.__class__ is int for count in counts.values()) else {}


def _written(counts: dict[str, int], api: str) -> Any:
    if api == CLAUDE:
        return {name: counts.get(ttl, 0) for ttl, name in reversed(_COUNTERS.items())}
    return [{"ttl": ttl, "inputTokens": counts[ttl]} for ttl in _COUNTERS if counts.get(ttl)]
