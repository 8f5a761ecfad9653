"""Gemini's grounding in the metadata of a message: the sources that its texts cite, and its searches.

langchain-google-genai 4.4.3 writes the grounding of a candidate in Python's names, with null fields (chat_models.py,
`_response_to_result`), and LangChain.js in those of the API. Seen 2026-11-27. The adapter of the API decodes it. The
metadata stay in the message: encoding leaves out what was decoded from them.
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import DecodeContext, EncodeContext, Hint, object_of, objects_of, text_of
from contentmodel.content.text import TextContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel_adapters.frameworks.langchain.blocks import API
from contentmodel_adapters.frameworks.langchain.dialects import GOOGLE
from contentmodel_adapters.frameworks.langchain.sources import without_cited

GROUNDED = Hint[Literal[True]](API, "grounded", "the citation, call or result is in the metadata of the message")
_NAMES = ("grounding_metadata", "groundingMetadata")
_SUPPORTS = ("grounding_supports", "groundingSupports")

# -- decoding ----------------------------------------------------------------------------------------------------------


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
    google: Any = installed(GOOGLE)
    answer = google.read_response({"candidates": [candidate]})
    made = list(contents_of(message for choice in answer.choices for message in choice.messages))
    contents = {id(old): _cited(old, new, context) for old, new in zip(texts, made, strict=False)}
    beside = [GROUNDED.on(content, API, True) for content in made[len(texts) :]]
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


# -- encoding ----------------------------------------------------------------------------------------------------------


def without_grounding(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message without the citations and searches that its metadata have."""
    kept = [content for content in message.contents if GROUNDED.of(content, API) is None]
    return without_cited(context.with_contents(message, kept), context, GROUNDED)
