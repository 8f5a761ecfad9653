"""The table of generateContent answers: candidates, grounding, finish reasons, usage (google-genai 3.4; Nov. 2026).

A file of its own: table.py would be longer than 1,000 lines.

The results of a search are in groundingMetadata, beside the content. They become a call and a result at the end of the
message, and citations on the texts that they ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Fields,
    Hint,
    ObjectList,
    Pieces,
    ProtobufJson,
    ProviderOnly,
    Record,
    camel_name,
    canonical,
    escaped,
    finished_by_calls,
    list_of,
    object_of,
    reasons,
    snake_name,
    wire_fields,
)
from contentmodel.content import hosted
from contentmodel.content.citations import Citation
from contentmodel.content.media import UriContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import MALFORMED, PairedFinishReasons
from contentmodel_adapters.common.objects import in_snake_case
from contentmodel_adapters.google.generate_content.table import (
    API,
    CHUNKS,
    ERROR,
    GROUNDING,
    READ_URLS,
    SUPPORT,
    TABLE,
    USAGE,
    Answer,
    without_grounding,
)

# The meaning of each value, and its number, which the wire has if enums are requested as integers
# (google.ai.generativelanguage.v1beta, Candidate.FinishReason, seen 2026-11-22; Vertex AI has other numbers from 6 on).
_REASONS: dict[str, tuple[str, int | None]] = {
    "FINISH_REASON_UNSPECIFIED": ("other", 0),
    "STOP": ("stop", 1),
    "MAX_TOKENS": ("length", 2),
    "SAFETY": ("content_filter", 3),
    "RECITATION": ("content_filter", 4),
    "OTHER": ("error", 5),
    "LANGUAGE": ("error", 6),
    "BLOCKLIST": ("content_filter", 7),
    "PROHIBITED_CONTENT": ("content_filter", 8),
    "SPII": ("content_filter", 9),
    "MALFORMED_FUNCTION_CALL": ("error", 10),
    "IMAGE_SAFETY": ("content_filter", 11),
    "UNEXPECTED_TOOL_CALL": ("error", 12),
    "IMAGE_PROHIBITED_CONTENT": ("content_filter", None),
    "IMAGE_OTHER": ("error", None),
    "NO_IMAGE": ("error", None),
    "IMAGE_RECITATION": ("content_filter", None),
    "TOO_MANY_TOOL_CALLS": ("error", None),
    "MISSING_THOUGHT_SIGNATURE": ("error", None),
    "MALFORMED_RESPONSE": ("error", None),
    "ESCALATION": ("content_filter", None),
    "PUP_LIMITED_DISABLED": ("content_filter", None),
    "CONTINUATION": ("pause", None),
    "MODEL_ARMOR": ("content_filter", None),
}
_MEANINGS: dict[str | int, str] = {raw: meaning for raw, (meaning, _) in _REASONS.items()}
_MEANINGS |= {number: meaning for meaning, number in _REASONS.values() if number is not None}
_VALUES: dict[str, str | int] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "PROHIBITED_CONTENT",
    "refusal": "PROHIBITED_CONTENT",
    "pause": "CONTINUATION",
    "error": "OTHER",
}
FINISH = PairedFinishReasons(
    _MEANINGS,
    _VALUES,
    "OTHER",
    implied=("tool_calls",),
    paired={converse: gemini for gemini, converse in MALFORMED.items()},
    same=tuple(number for name, (_, number) in _REASONS.items() if name in _VALUES.values() and number is not None),
)
TABLE.known_values("finish_reason", *_REASONS)
TABLE.keep(
    "candidate",
    *("avgLogprobs", "citationMetadata", "continuationToken", "finishMessage", "safetyRatings", "tokenCount"),
    *("groundingMetadata", "urlContextMetadata"),
)
TABLE.keep(
    "grounding",
    *("webSearchQueries", "groundingChunks", "groundingSupports", "imageSearchQueries", "retrievalMetadata"),
    *("searchEntryPoint", "googleMapsWidgetContextToken", "retrievalQueries", "sourceFlaggingUris"),
)
TABLE.keep("response", "automaticFunctionCallingHistory", "modelStatus", "parsed", "promptFeedback", "sdkHttpResponse")

CANDIDATE_CONTENT = Answer()
CHOICE = TABLE.record(
    "candidate",
    ChatChoice,
    {
        "index": "index",
        "content": ("messages", CANDIDATE_CONTENT),
        "finishReason": ("finish_reason", FINISH),
        "logprobsResult": ("logprobs", ProviderOnly("logprobs")),
    },
    ProtobufJson(),
)
SNAKE = Hint[list[str]](API, "snake_metadata", "the metadata beside the content whose names have underscores")
SAME_SUPPORT = Hint[Literal[True]](API, "same_support", "a citation of a further source of the support before it")
SEARCH_ID, URLS_ID = "grounding", "url_context"
BESIDE = ("groundingMetadata", "urlContextMetadata")
"""The fields of a candidate with the results of its hosted tools."""


# -- grounding in ------------------------------------------------------------------------------------------------------


def decode_candidate(wire: dict[str, Any], context: DecodeContext) -> ChatChoice:
    """Decode one candidate, and move the metadata beside its content into its message."""
    wire, respelled = _with_usual_names(wire, context)
    choice = finished_by_calls(CHOICE.decode(wire, context))
    if respelled:
        choice = SNAKE.on(choice, API, respelled)
    residue = (choice.extra or {}).get(API)
    if residue is None or residue.keys().isdisjoint(BESIDE) or not choice.messages:
        return choice
    message = choice.messages[0]
    remaining = dict(residue)
    contents = list(message.contents)
    pairs = [*_decode_grounding(remaining, contents, context), *_decode_urls(remaining, context)]
    if not pairs:
        return choice
    message = msgspec.structs.replace(message, contents=[*contents, *pairs])
    return msgspec.structs.replace(choice, messages=[message], extra={API: remaining} if remaining else None)


def _with_usual_names(wire: dict[str, Any], context: DecodeContext) -> tuple[dict[str, Any], list[str]]:
    """Return a candidate whose metadata have the usual names, and the metadata that had names with underscores.

    The SDK writes such names in Python (`model_dump` of google-genai 3.4).
    """
    usual = {snake_name(name): name for name in BESIDE}
    respelled = [key for key in usual.keys() & wire.keys() if wire[key].__class__ is dict and _is_snake(wire[key])]
    if not respelled:
        return wire, []
    context.is_respelled = True
    copy = {usual[key] if key in respelled else key: value for key, value in wire.items()}
    context.copied(copy, wire)
    for key in respelled:
        copy[usual[key]] = _camel(wire[key], context)
    return copy, sorted(usual[key] for key in respelled)


def _is_snake(value: Any) -> bool:
    """Return whether all names in a value can be restored from the usual ones."""
    if value.__class__ is list:
        return all(map(_is_snake, value))
    if value.__class__ is not dict:
        return True
    return all(snake_name(camel_name(key)) == key and _is_snake(item) for key, item in value.items())


def _camel(value: Any, context: DecodeContext) -> Any:
    if value.__class__ is list:
        copy: Any = [_camel(item, context) for item in value]
    elif value.__class__ is dict:
        copy = {camel_name(key): _camel(item, context) for key, item in value.items()}
    else:
        return value
    context.copied(copy, value)
    return copy


def _objects(value: Any) -> bool:
    return value.__class__ is list and bool(value) and all(item.__class__ is dict for item in value)


def _decode_grounding(residue: dict[str, Any], contents: list[Any], context: DecodeContext) -> list[Any]:
    grounding = residue.get("groundingMetadata")
    if grounding.__class__ is not dict:
        return []
    queries, chunks = grounding.get("webSearchQueries"), grounding.get("groundingChunks")
    has_queries = queries.__class__ is list and bool(queries) and all(q.__class__ is str for q in queries)
    if not has_queries and not _objects(chunks):
        return []
    other_metadata = dict(residue.pop("groundingMetadata"))
    arguments: dict[str, Any] | None = {"queries": other_metadata.pop("webSearchQueries")} if has_queries else None
    outputs: list[Any] = []
    if _objects(chunks):
        outputs = CHUNKS.decode_list(other_metadata.pop("groundingChunks"), context)
        context.trace(CHUNKS, outputs, grounding, "groundingChunks", spread=True)
    others = {"webSearchQueries", "web_search_queries"}
    if _attach(other_metadata.get("groundingSupports"), contents, outputs, grounding, context):
        del other_metadata["groundingSupports"]
        others |= {"groundingSupports", "grounding_supports"}
    call = GROUNDING.on(hosted.WebSearchToolCallContent(call_id=SEARCH_ID, arguments=arguments), API, True)
    result = hosted.WebSearchToolResultContent(call_id=SEARCH_ID, outputs=outputs, extra=_beside(other_metadata))
    context.trace(Pieces({"arguments": "webSearchQueries"}), [call], grounding, None, spread=False)
    context.trace(Pieces({"outputs": "groundingChunks"}, others), [result], grounding, None, spread=False)
    return [call, result]


def _beside(fields: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the residue of a result whose metadata are next to the parts of a candidate."""
    return {API: {**GROUNDING.entry(True), **escaped(fields)}}


def _attach(supports: Any, contents: list[Any], chunks: list[Any], grounding: Any, context: DecodeContext) -> bool:
    """Convert supports to citations of their texts. Return False, and change nothing, if one does not fit."""
    if not _objects(supports):
        return False
    by_index: dict[int, list[list[Citation]]] = {}
    latest = 0
    for support in supports:
        segment = support.get("segment")
        named = segment.get("partIndex") if segment.__class__ is dict else None
        index = 0 if named is None else named
        if index.__class__ is not int or not latest <= index < len(contents):
            return False
        if contents[index].__class__ is not TextContent:
            return False
        latest = index
        by_index.setdefault(index, []).append(_by_source(SUPPORT.decode(support, context), chunks))
    groups = list(chain.from_iterable(by_index.values()))
    for number in range(max(map(len, groups))):
        # The citations of one support have the same path.
        column = [group[min(number, len(group) - 1)] for group in groups]
        context.trace(SUPPORT, column, grounding, "groundingSupports", spread=True)
    for index, lists in by_index.items():
        annotations = list(chain.from_iterable(lists))
        contents[index] = msgspec.structs.replace(contents[index], annotations=annotations)
    return True


def _by_source(citation: Citation, chunks: list[Any]) -> list[Citation]:
    """Return a citation for each source of a support, with its address and title, for readers and other APIs.

    Encoding takes the addresses from the chunks, and writes only the first citation, which has the indices of all.
    """
    listed = dict.fromkeys(citation.source_indices or ())
    indices = [i for i in listed if 0 <= i < len(chunks) and isinstance(chunks[i], UriContent)]
    named = [msgspec.structs.replace(citation, url=chunks[i].uri, title=chunks[i].title) for i in indices]
    span = citation.span
    more = [
        Citation(
            span=span, url=cited.url, title=cited.title, source_indices=[index], extra=SAME_SUPPORT.extra(API, True)
        )
        for index, cited in zip(indices[1:], named[1:], strict=True)
    ]
    return [*(named[:1] or [citation]), *more]


def _decode_urls(residue: dict[str, Any], context: DecodeContext) -> list[Any]:
    metadata = residue.get("urlContextMetadata")
    if metadata.__class__ is not dict or not _objects(metadata.get("urlMetadata")):
        return []
    other_metadata = dict(residue.pop("urlContextMetadata"))
    outputs = READ_URLS.decode_list(other_metadata.pop("urlMetadata"), context)
    context.trace(READ_URLS, outputs, metadata, "urlMetadata", spread=True)
    call = hosted.UrlContextToolCallContent(call_id=URLS_ID, extra=GROUNDING.extra(API, True))
    result = hosted.UrlContextToolResultContent(call_id=URLS_ID, outputs=outputs, extra=_beside(other_metadata))
    context.trace(Pieces({}), [call], metadata, None, spread=False)
    context.trace(Pieces({"outputs": "urlMetadata"}, set()), [result], metadata, None, spread=False)
    return [call, result]


# -- grounding out -----------------------------------------------------------------------------------------------------


def encode_candidate(choice: ChatChoice, context: EncodeContext) -> dict[str, Any]:
    """Return the candidate of a choice."""
    messages = _without_beside(choice.messages, context)
    shown = choice if messages is choice.messages else context.replace(choice, messages=messages)
    wire = CHOICE.encode(shown, context)
    _encode_beside(choice.messages, wire, context)
    for name in SNAKE.of(choice, API) or ():
        if name in wire:
            wire[snake_name(name)] = in_snake_case(wire.pop(name))
    return wire


def encode_answer(messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
    """Return the fields of a candidate that have the contents: the content, and the metadata of grounding and URLs."""
    wire = {"content": CANDIDATE_CONTENT.encode(_without_beside(messages, context), context, None)}
    _encode_beside(messages, wire, context)
    return wire


def is_beside(content: Any) -> bool:
    """Return whether a content is written beside the parts."""
    return content.extra is not None and GROUNDING.of(content, API) is not None


def _without_beside(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    return [without_grounding(message, context) for message in messages] if _contents_beside(messages) else messages


def _contents_beside(messages: list[ChatMessage]) -> list[Any]:
    return [c for m in messages for c in m.contents if c.extra is not None and GROUNDING.of(c, API) is not None]


def _encode_beside(messages: list[ChatMessage], wire: dict[str, Any], context: EncodeContext) -> None:
    """Write the metadata of grounding and URLs of a candidate."""
    beside = _contents_beside(messages)
    citations = [(i, content) for m in messages for i, content in enumerate(m.contents) if content.annotations]
    if not beside and not citations:
        return
    grounding: dict[str, Any] = {}
    grounded = False
    for content in beside:
        fields = wire_fields(content.extra[API])
        if isinstance(content, hosted.WebSearchToolCallContent):
            grounded = True
            if content.arguments:
                grounding["webSearchQueries"] = content.arguments_object.get("queries", [])
        elif isinstance(content, hosted.WebSearchToolResultContent):
            grounded = True
            grounding.update(fields)
            if content.outputs:
                grounding["groundingChunks"] = CHUNKS.encode_list(content.outputs, context)
        elif isinstance(content, hosted.UrlContextToolResultContent):
            wire["urlContextMetadata"] = {**fields, "urlMetadata": READ_URLS.encode_list(content.output_list, context)}
    chunks = Chunks(list_of(grounding, "groundingChunks"))
    supports = [s for index, content in citations for s in _supports(index, content, chunks, context)]
    if chunks.items:
        grounding["groundingChunks"] = chunks.items
    if supports:
        grounding["groundingSupports"] = supports
    if grounded or grounding:
        wire["groundingMetadata"] = {**wire.get("groundingMetadata", {}), **grounding}


class Chunks:
    """The sources of an answer, without duplicates."""

    def __init__(self, chunks: Iterable[Any] = ()) -> None:
        self.items = list(chunks)
        self._places: dict[str, int] = {}
        for place, chunk in enumerate(self.items):
            self._places.setdefault(canonical(chunk), place)

    def place(self, chunk: Any) -> int:
        """Return the index of a source; append it if it is new."""
        key = canonical(chunk)
        if key not in self._places:
            self._places[key] = len(self.items)
            self.items.append(chunk)
        return self._places[key]


def _is_written(citation: Citation, before: Citation | None) -> bool:
    """Return whether the support of the citation `before` names the source of this one."""
    if before is None or SAME_SUPPORT.of(citation, API) is None or before.span != citation.span:
        return False
    return set(citation.source_indices or ()) <= set(before.source_indices or ())


def _supports(index: int, content: Any, chunks: Chunks, context: EncodeContext) -> Iterable[dict[str, Any]]:
    converter = SpanConverter(content.text) if content.__class__ is TextContent else None
    written: Citation | None = None
    for citation in content.annotations:
        if context.native:
            if not _is_written(citation, written):
                written = citation
                yield SUPPORT.encode(citation, context)
        elif citation.url is None or converter is None:
            context.report_loss(citation, None, reasons.CITATION_WITHOUT_URL)
        else:
            yield _foreign_support(index, converter, citation, chunks, context)


def _foreign_support(
    index: int, converter: SpanConverter, citation: Citation, chunks: Chunks, context: EncodeContext
) -> dict[str, Any]:
    """Convert a citation of another API: its page becomes a chunk, its span is counted in bytes."""
    chunk = {"web": {"uri": citation.url, **({"title": citation.title} if citation.title else {})}}
    span = converter.convert(citation.span, "byte")
    if citation.span is not None:
        context.report_loss(citation, "span", reasons.CITATION_UNITS)
    converted = msgspec.structs.replace(citation, span=span, source_indices=[chunks.place(chunk)])
    support = SUPPORT.encode(context.replaced(citation, converted), context)
    support["segment"] = {**support.get("segment", {}), **({"partIndex": index} if index else {})}
    return support


class Candidates(ObjectList[ChatChoice]):
    """The list of candidates."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        return [decode_candidate(wire, context) for wire in self.objects(value)]

    def encode(self, value: list[ChatChoice], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [encode_candidate(choice, context) for choice in value]


# -- a refused prompt --------------------------------------------------------------------------------------------------

BLOCKED = Hint[Literal[True]](API, "blocked", "the choice of an answer without candidates: the prompt was blocked")
_BLOCK_REASON = Fields({"finish_reason": "promptFeedback.blockReason"})


def with_block_reason(response: ChatResponse, wire: dict[str, Any], context: DecodeContext) -> ChatResponse:
    """Return an answer. If its prompt was blocked, it has an empty choice whose finish reason is the reason of that."""
    raw = object_of(wire, "promptFeedback").get("blockReason")
    if response.choices or raw.__class__ is not str:
        return response
    finish = FinishReason(reason="content_filter", raw=raw)
    choice = ChatChoice(finish_reason=finish, extra=BLOCKED.extra(API, True))
    context.trace(_BLOCK_REASON, [choice], wire, None, spread=False)
    return msgspec.structs.replace(response, choices=[choice])


def is_feedback(choice: ChatChoice, reason: Any) -> bool:
    """Return whether a choice stands for the reason why the prompt was blocked, and nothing else."""
    finish = choice.finish_reason
    is_unchanged = finish is not None and (finish.reason, finish.raw) == ("content_filter", reason)
    return is_unchanged and not choice.messages and BLOCKED.of(choice, API) is True


# google/rpc/code.proto and ai.google.dev/gemini-api/docs/troubleshooting (seen 2026-11-22). A lack of credit (402) and
# a rate limit (429) have the same status and differ in the number.
ERRORS = ErrorTypes(
    ("code", "status"),
    {
        "invalid_request": {"code": 400, "status": "INVALID_ARGUMENT"},
        "authentication": {"code": 401, "status": "UNAUTHENTICATED"},
        "billing": {"code": 402, "status": "RESOURCE_EXHAUSTED"},
        "permission": {"code": 403, "status": "PERMISSION_DENIED"},
        "not_found": {"code": 404, "status": "NOT_FOUND"},
        "conflict": {"code": 409, "status": "ABORTED"},
        "context_length": {"code": 400, "status": "INVALID_ARGUMENT"},
        "too_large": {"code": 400, "status": "INVALID_ARGUMENT"},
        "rate_limit": {"code": 429, "status": "RESOURCE_EXHAUSTED"},
        "cancelled": {"code": 499, "status": "CANCELLED"},
        "server": {"code": 500, "status": "INTERNAL"},
        "overloaded": {"code": 503, "status": "UNAVAILABLE"},
        "timeout": {"code": 504, "status": "DEADLINE_EXCEEDED"},
    },
    {
        "RESOURCE_EXHAUSTED": "rate_limit",
        "FAILED_PRECONDITION": "invalid_request",
        "OUT_OF_RANGE": "invalid_request",
        "UNIMPLEMENTED": "invalid_request",
        "ALREADY_EXISTS": "conflict",
        "UNKNOWN": "server",
        "DATA_LOSS": "server",
    },
    {"too_large": 400},
)
TABLE.known_values("error.status", *ERRORS.types)

RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "responseId": "id",
        "modelVersion": "model",
        "createTime": "created",
        "candidates": ("choices", Candidates(CHOICE)),
        "usageMetadata": ("usage", Record(USAGE)),
        "error": ("error", ErrorBody(ERROR, ERRORS)),
    },
    ProtobufJson(),
)
