"""Values of an answer that are beside its content: citations, sources and searches. They become contents or citations.

- langchain-cohere 0.6.0 keeps citations in `additional_kwargs` in the form of the API, with null fields, and sends the
  documents that a message of the user has there (chat_models.py, `_get_generation_info_v2` and
  `get_cohere_chat_request_v2`).
- langchain-google-genai 4.4.3 writes the grounding of a candidate in the metadata, in Python's names, with null fields
  (chat_models.py, `_response_to_result`), and LangChain.js in those of the API. The metadata stay in the message:
  encoding leaves out what was decoded from them.
- langchain-perplexity 1.4.2 and langchain-xai 1.3.0 keep lists of sources in `additional_kwargs` (chat_models.py).

All seen 2026-11-27. The adapter of the provider decodes and encodes what has the form of its API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Hint,
    guests,
    hints,
    list_of,
    object_of,
    objects_of,
    runs,
    text_of,
)
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel_adapters.common.citations import SourceLists, source_union
from contentmodel_adapters.common.objects import at, put, without
from contentmodel_adapters.frameworks.langchain.blocks import API, TABLE
from contentmodel_adapters.frameworks.langchain.guests import COHERE, GOOGLE, unknown
from contentmodel_adapters.frameworks.langchain.repeated import PLAN, links_of

# -- lists of sources -------------------------------------------------------------------------------------------------

LISTED_IN = Hint[Literal["additional_kwargs.citations", "additional_kwargs.search_results"]](
    API, "source", "the field of the body that lists the source, if it is not an annotation"
)
_LISTS = SourceLists(
    LISTED_IN,
    {
        "additional_kwargs.search_results": source_union(
            TABLE, "search_result", url="url", title="title", snippet="cited_text"
        ),
        "additional_kwargs.citations": None,
    },
)


def with_sources(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return an answer with the sources that its body lists, as citations of its text."""
    extra = message.extra or {}
    residue = extra.get(API, {})
    remaining = _LISTS.cite(message, residue, body, context)
    return message if remaining is residue else context.replace(message, extra={**extra, API: remaining})


def without_cited(message: ChatMessage, context: EncodeContext, *marks: Hint[Any]) -> ChatMessage:
    """Return a message without the citations that its body has beside the content: those with one of the hints."""
    return context.with_contents(message, [_uncited(content, context, marks) for content in message.contents])


def _uncited(content: AIContent, context: EncodeContext, marks: Sequence[Hint[Any]]) -> AIContent:
    citations = [
        citation for citation in content.annotations or () if all(mark.of(citation, API) is None for mark in marks)
    ]
    if len(citations) == len(content.annotations or ()):
        return content
    changed: AIContent = context.replace(content, annotations=citations or None)
    return changed


def add_sources(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the sources of the contents of a message to the lists of its body, in place."""
    body.update(_LISTS.write(body, message.contents, context))
    residue = (message.extra or {}).get(API, {})
    kwargs = object_of(body, "additional_kwargs")
    if "links_again" in residue and "links_again" not in body and kwargs.get("citations") == residue["links_again"]:
        links = links_of(kwargs)
        other_kwargs = {key: value for key, value in kwargs.items() if key != "citations"}
        body["additional_kwargs"] = {**other_kwargs, **({"citations": links} if links else {})}


# -- Gemini -----------------------------------------------------------------------------------------------------------

GROUNDED = Hint[Literal[True]](API, "grounded", "the citation, call or result is in the metadata of the message")
_NAMES = ("grounding_metadata", "groundingMetadata")
_SUPPORTS = ("grounding_supports", "groundingSupports")


def with_grounding(message: ChatMessage, metadata: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations and searches that its metadata have, if it is an answer of Gemini."""
    key = next((name for name in _NAMES if metadata.get(name).__class__ is dict), None)
    if key is None:
        return message
    texts = [content for content in message.contents if content.__class__ is TextContent]
    candidate = {
        "content": {"role": "model", "parts": [{"text": text.text} for text in texts]},
        key: _with_places(_without_nulls(metadata[key]), texts),
    }
    decoded = list(contents_of(guests.Provider(GOOGLE).read_answer({"candidates": [candidate]})))
    contents = {id(old): _cited(old, new, context) for old, new in zip(texts, decoded, strict=False)}
    beside = [GROUNDED.on(content, API, True) for content in decoded[len(texts) :]]
    context.trace(None, beside, metadata, key, spread=False)
    changed = [contents.get(id(content), content) for content in message.contents]
    new: ChatMessage = context.replace(message, contents=[*changed, *beside])
    return new


def _without_nulls(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if value.__class__ is list else value


def _with_places(grounding: dict[str, Any], texts: list[Any]) -> dict[str, Any]:
    """Return a grounding whose supports name the text that they are a part of. Without such a text, it has none.

    The index of a part counts parts that are no blocks of the message, and the texts of a message may be cut.
    """
    key = next((name for name in _SUPPORTS if name in grounding), None)
    if key is None:
        return grounding
    encoded = [text.text.encode("utf-8", "surrogatepass") for text in texts]
    placed: list[tuple[int, dict[str, Any]]] = []
    for support in objects_of(grounding, key):
        place = _place_of(object_of(support, "segment"), encoded)
        if place is not None:
            segment = {name: item for name, item in support["segment"].items() if name not in ("part_index", _PART)}
            placed.append(
                (place, {**support, "segment": {**segment, _PART if key == _SUPPORTS[1] else "part_index": place}})
            )
    placed.sort(key=lambda pair: pair[0])
    return {**grounding, key: [support for _, support in placed]}


_PART = "partIndex"


def _place_of(segment: dict[str, Any], texts: list[bytes]) -> int | None:
    """Return the index of the text that a segment is a part of."""
    start, end = (segment.get(name, segment.get(other, 0)) for name, other in _BOUNDS)
    if start.__class__ is not int or end.__class__ is not int:
        return None
    part = text_of(segment, "text").encode("utf-8", "surrogatepass")
    named = segment.get("part_index", segment.get(_PART))
    places = sorted(range(len(texts)), key=lambda index: index != named)
    return next((index for index in places if part and texts[index][start:end] == part), None)


_BOUNDS = (("start_index", "startIndex"), ("end_index", "endIndex"))


def _cited(old: Any, new: Any, context: DecodeContext) -> Any:
    """Return a text with the citations of the text that was decoded with the grounding, if it has none."""
    if old.annotations or not new.annotations:
        return old
    citations = [GROUNDED.on(citation, API, True) for citation in new.annotations]
    return context.replace(old, annotations=citations)


def without_grounding(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message without the citations and searches that its metadata have."""
    contents = [content for content in message.contents if GROUNDED.of(content, API) is None]
    return without_cited(context.with_contents(message, contents), context, GROUNDED)


# -- Cohere -----------------------------------------------------------------------------------------------------------

PROVIDER = guests.Provider(COHERE)
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
    adapter: Any = PROVIDER.adapter
    listed = at(body, _CITATIONS)
    return put(body, _CITATIONS, adapter.expanded(listed)) if listed.__class__ is list else body


def with_citations(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message with the citations of Cohere on its contents. If one belongs to no content, it is unchanged."""
    residue = (message.extra or {}).get(API, {})
    listed = at(residue, _CITATIONS)
    if listed.__class__ is not list or not listed or not all(map(_is_citation, listed)):
        return message
    cited = _citable(message)
    copies = [_with_named_nulls(one) for one in listed]
    messages, trace = PROVIDER.read({"messages": [{**_wire_of(cited), "citations": copies}]})
    decoded = list(contents_of(messages))
    is_kept = any("citations" in (one.extra or {}).get(COHERE, {}) for one in messages)
    if trace.has_faults or is_kept or len(decoded) != len(cited):
        return message
    for copy, original in zip(copies, listed, strict=True):
        context.copied(copy, original)
    context.add_traces(trace, {})
    cited_now = {id(old): _with_annotations(old, new, context) for old, new in zip(cited, decoded, strict=True)}
    contents = [cited_now.get(id(content), content) for content in message.contents]
    extra = {**(message.extra or {}), API: without(residue, _CITATIONS)}
    changed: ChatMessage = context.replace(message, contents=contents, extra=extra)
    return changed


def _citable(message: ChatMessage) -> list[Any]:
    """Return the contents that citations can belong to, in the order of Cohere's columns."""
    contents = [one for one in message.contents if one.__class__ in (TextContent, ReasoningContent)]
    return sorted(contents, key=lambda content: not _is_plan(content))


def _is_plan(content: Any) -> bool:
    return content.__class__ is ReasoningContent and content.kind == "plan"


def _with_named_nulls(citation: dict[str, Any]) -> dict[str, Any]:
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
    marked = replace(citation, extra={**extra, COHERE: residue})
    nulls = extra.get(COHERE, {}).get(_NULLS)
    return BESIDE.on(marked if nulls is None else NULLS.on(marked, API, nulls), API, True)


def with_documents(message: ChatMessage, body: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a message of the user with its documents for Cohere before its contents.

    Entries of another form than that of the API are unknown contents.
    """
    extra = message.extra or {}
    listed = at(extra.get(API, {}), _DOCUMENTS)
    places = [place for place, one in enumerate(list_of({"": listed}, "")) if _is_document(one)]
    if not places:
        return message
    messages, trace = _read_documents([listed[place] for place in places])
    decoded = messages[0].contents
    if trace.has_faults or len(decoded) != len(places) or any(one.__class__ is not DocumentContent for one in decoded):
        return message
    union, wires = PROVIDER.adapter.table.unions["document"], object_of(body, "additional_kwargs")["documents"]
    documents = dict(zip(places, decoded, strict=True))
    for place, document in documents.items():
        context.trace(union, [document], wires, place, spread=False)
    listed_now = [documents.get(place) or unknown(wires, place, context) for place in range(len(listed))]
    changed: ChatMessage = context.replace(
        message,
        contents=[*(context.replaced(one, BESIDE.on(one, API, True)) for one in listed_now), *message.contents],
        extra={**extra, API: without(extra[API], _DOCUMENTS)},
    )
    return changed


def _is_document(value: Any) -> bool:
    return value.__class__ is dict and value.get("data").__class__ in (str, dict)


def _read_documents(listed: list[Any]) -> tuple[list[ChatMessage], DecodeContext]:
    return PROVIDER.read({"messages": [{"role": "user", "content": ""}], "documents": listed})


def add_citations(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the citations of Cohere to a body, in place."""
    contents = [_with_citations_of_cohere(content, context) for content in _citable(message)]
    if not any(content.annotations for content in contents):
        return
    inner = ChatMessage(role="assistant", contents=contents, origin=PROVIDER.origin)
    payload = PROVIDER.write([inner], context)
    listed = [one for wire in list_of(payload, "messages") for one in wire.get("citations", ())]
    body.update(put(body, _CITATIONS, [_with_nulls(citation) for citation in listed]))


def _with_citations_of_cohere(content: Any, context: EncodeContext) -> Any:
    """Return a content with the citations of Cohere alone."""
    citations = [context.replaced(one, _unmarked(one)) for one in content.annotations or () if BESIDE.of(one, API)]
    kind = {"kind": content.kind} if _is_plan(content) else {}
    inner = content.__class__(text=content.text, annotations=citations or None, **kind)
    return context.replaced(content, inner)


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
    return content.__class__ in (DocumentContent, UnknownContent) and BESIDE.of(content, API) is True


def add_documents(body: dict[str, Any], message: ChatMessage, context: EncodeContext) -> None:
    """Write the documents beside the content of a message to its body, in place."""
    documents: list[Any] = [content for content in message.contents if _is_beside(content)]
    if not documents:
        return
    # The message in which Cohere's adapter keeps the documents of a request.
    (message, *others), _ = _read_documents([{"data": ""}])
    listed: list[Any] = []
    for run, is_unknown in runs(documents, lambda one: one.__class__ is UnknownContent):
        if is_unknown:
            listed.append(run[0].block)
            continue
        plain = [context.replaced(one, replace(one, extra={COHERE: (one.extra or {}).get(COHERE, {})})) for one in run]
        payload = PROVIDER.write([replace(message, contents=plain), *others], context)
        listed += list_of(payload, "documents")
    body.update(put(body, _DOCUMENTS, listed))
