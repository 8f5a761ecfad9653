"""Citations of Cohere's answers, and documents for Cohere, which a message has beside its content.

langchain-cohere 0.6.0 keeps citations in `additional_kwargs` in the form of the API, with null fields, and sends the
documents that a message of the user has there (chat_models.py, `_get_generation_info_v2` and
`get_cohere_chat_request_v2`, seen 2026-11-27). The adapter of the API decodes and encodes both.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import DecodeContext, EncodeContext, Hint, hints, list_of, object_of
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.objects import at, put, without
from contentmodel_adapters.frameworks.langchain.blocks import API
from contentmodel_adapters.frameworks.langchain.calls import PLAN
from contentmodel_adapters.frameworks.langchain.dialects import COHERE

NULLS = Hint[list[str]](API, "nulls", "the fields of Cohere's citation that were null")
BESIDE = Hint[Literal[True]](API, "beside", "the document or citation is in `additional_kwargs`, in the form of Cohere")
_DOCUMENTS = "additional_kwargs.documents"
_CITATIONS = "additional_kwargs.citations"
_NULLS = "$nulls"
"""The field of an encoded citation with its fields that were null."""


def is_of_cohere(content: AIContent) -> bool:
    """Return whether only answers of Cohere have a content in this form."""
    is_thinking = hints.ROW.of(content, API) == "reasoning.cohere" or hints.COLUMN.of(content, API) == PLAN
    return is_thinking or any(BESIDE.of(one, API) for one in content.annotations or ())


def with_places_of_sources(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body for audits, in which the sources of Cohere's citations are as in audits of its API."""
    adapter: Any = installed(COHERE)
    listed = at(body, _CITATIONS)
    return put(body, _CITATIONS, adapter.expanded(listed)) if listed.__class__ is list else body


# -- decoding ----------------------------------------------------------------------------------------------------------


def with_citations(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations of Cohere on its contents. If one belongs to no content, it is unchanged."""
    own = (message.extra or {}).get(API, {})
    listed = at(own, _CITATIONS)
    if listed.__class__ is not list or not listed or not all(map(_is_citation, listed)):
        return message
    cited = _cited(message)
    copies = [_without_nulls(one) for one in listed]
    adapter: Any = installed(COHERE)
    request, trace = adapter.read_request({"messages": [{**_wire_of(cited), "citations": copies}]})
    made = [content for one in request.messages for content in one.contents]
    is_kept = any("citations" in (one.extra or {}).get(COHERE, {}) for one in request.messages)
    if trace.has_faults or is_kept or len(made) != len(cited):
        return message
    for copy, original in zip(copies, listed, strict=True):
        context.copied(copy, original)
    context.adopt(trace, {})
    cited_now = {id(old): _with_annotations(old, new, context) for old, new in zip(cited, made, strict=True)}
    contents = [cited_now.get(id(content), content) for content in message.contents]
    extra = {**(message.extra or {}), API: without(own, _CITATIONS)}
    changed: ChatMessage = context.replace(message, contents=contents, extra=extra)
    return changed


def _cited(message: ChatMessage) -> list[Any]:
    """Return the contents that citations can belong to, in the order of Cohere's columns."""
    contents = [one for one in message.contents if one.__class__ in (TextContent, ReasoningContent)]
    return sorted(contents, key=lambda content: not _is_plan(content))


def _is_plan(content: Any) -> bool:
    return content.__class__ is ReasoningContent and content.kind == "plan"


def _without_nulls(citation: dict[str, Any]) -> dict[str, Any]:
    """Return a citation with the names of its null fields in place of the fields."""
    nulls = [key for key, value in citation.items() if value is None]
    return {key: value for key, value in citation.items() if value is not None} | ({_NULLS: nulls} if nulls else {})


def _is_citation(value: Any) -> bool:
    return value.__class__ is dict and value.get("sources").__class__ is list and _NULLS not in value


def _wire_of(contents: list[Any]) -> dict[str, Any]:
    """Return Cohere's message of texts, thinking and a plan."""
    parts = [
        {"type": "text", "text": content.text}
        if content.__class__ is TextContent
        else {"type": "thinking", "thinking": content.text}
        for content in contents
        if not _is_plan(content)
    ]
    plans = [content.text for content in contents if _is_plan(content)]
    return {"role": "assistant", "content": parts, **({"tool_plan": plans[0]} if plans else {})}


def _with_annotations(old: Any, new: Any, context: DecodeContext) -> Any:
    """Return a content with the citations of the content that Cohere's adapter decoded."""
    if not new.annotations:
        return old
    citations = [context.replaced(one, _marked(one)) for one in new.annotations]
    return context.replace(old, annotations=[*(old.annotations or ()), *citations])


def _marked(citation: Citation) -> Citation:
    """Return a citation of Cohere with hints of this format."""
    extra = citation.extra or {}
    residue = {key: value for key, value in extra.get(COHERE, {}).items() if key != _NULLS}
    made = replace(citation, extra={**extra, COHERE: residue})
    nulls = extra.get(COHERE, {}).get(_NULLS)
    return BESIDE.on(made if nulls is None else NULLS.on(made, API, nulls), API, True)


def with_documents(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message of the user with its documents for Cohere before its contents.

    If some have another form than that of the API, it is unchanged.
    """
    extra = message.extra or {}
    listed = at(extra.get(API, {}), _DOCUMENTS)
    if listed.__class__ is not list or not listed or not all(map(_is_document, listed)):
        return message
    request, trace = _read_documents(listed)
    made = list(request.messages[0].contents)
    if trace.has_faults or len(made) != len(listed) or any(one.__class__ is not DocumentContent for one in made):
        return message
    documents = [context.replaced(one, BESIDE.on(one, API, True)) for one in made]
    adapter: Any = installed(COHERE)
    context.trace(
        adapter.table.unions["document"], made, object_of(body, "additional_kwargs"), "documents", spread=True
    )
    changed: ChatMessage = context.replace(
        message,
        contents=[*documents, *message.contents],
        extra={**extra, API: without(extra[API], _DOCUMENTS)},
    )
    return changed


def _is_document(value: Any) -> bool:
    return value.__class__ is dict and value.get("data").__class__ in (str, dict)


def _read_documents(listed: list[Any]) -> Any:
    adapter: Any = installed(COHERE)
    return adapter.read_request({"messages": [{"role": "user", "content": ""}], "documents": listed})


# -- encoding ----------------------------------------------------------------------------------------------------------


def add_citations(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the citations of Cohere to a body, in place."""
    contents = [_as_inner(content, context) for content in _cited(message)]
    if not any(content.annotations for content in contents):
        return
    origin = Origin(api=COHERE, issuer="cohere")
    inner = ChatMessage(role="assistant", contents=contents, origin=origin)
    encoded = installed(COHERE).encode_request(ChatRequest(messages=[inner], origin=origin))
    encoded.hand_over(context)
    listed = [one for wire in list_of(encoded.payload, "messages") for one in wire.get("citations", ())]
    body.update(put(body, _CITATIONS, [_with_nulls(citation) for citation in listed]))


def _as_inner(content: Any, context: EncodeContext) -> Any:
    """Return a content with the citations of Cohere alone."""
    citations = [context.replaced(one, _unmarked(one)) for one in content.annotations or () if BESIDE.of(one, API)]
    kind = {"kind": content.kind} if _is_plan(content) else {}
    made = content.__class__(text=content.text, annotations=citations or None, **kind)
    return context.replaced(content, made)


def _unmarked(citation: Citation) -> Citation:
    extra = citation.extra or {}
    nulls = NULLS.of(citation, API)
    residue = {**extra.get(COHERE, {}), **({} if nulls is None else {_NULLS: nulls})}
    return replace(citation, extra={COHERE: residue})


def _with_nulls(citation: dict[str, Any]) -> dict[str, Any]:
    nulls = {key: None for key in citation.get(_NULLS, ()) if key not in citation}
    return {**{key: value for key, value in citation.items() if key != _NULLS}, **nulls}


def without_documents(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message without the documents that are beside its content."""
    return context.with_contents(message, [content for content in message.contents if not _is_beside(content)])


def _is_beside(content: AIContent) -> bool:
    return content.__class__ is DocumentContent and BESIDE.of(content, API) is True


def add_documents(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the documents beside the content of a message to its body, in place."""
    documents = [content for content in message.contents if _is_beside(content)]
    if not documents:
        return
    # The message in which Cohere's adapter keeps the documents of a request.
    request, _ = _read_documents([{"data": ""}])
    plain = [
        context.replaced(one, replace(one, extra={COHERE: (one.extra or {}).get(COHERE, {})})) for one in documents
    ]
    messages = [replace(request.messages[0], contents=plain), *request.messages[1:]]
    encoded = installed(COHERE).encode_request(replace(request, messages=messages))
    encoded.hand_over(context)
    body.update(put(body, _DOCUMENTS, list_of(encoded.payload, "documents")))
