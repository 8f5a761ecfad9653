"""The law of texts: texts with other content between them stay separate, even if that content is dropped."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from contentmodel import ChatResponse, TextContent
from contentmodel.content import convert_span
from contentmodel.events import fold
from contentmodel.unfolding import unfold
from contentmodel_conformance import streams
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken

__all__ = ["texts_apart"]


def texts_apart(adapter: Any, response: ChatResponse, size: int | None = None, *, streamed: bool = False) -> None:
    """Texts of an answer are joined only if no other content is between them, and citations keep their text."""
    if streamed:
        raw, _ = streams.encode(adapter, unfold(response, size=size))
        decoded = _texts(fold(streams.decode(adapter, [raw])))
    else:
        decoded = _texts(adapter.decode_response(adapter.encode_response(response).payload))
    for one, other, is_parted in _neighbours(response):
        if is_parted and any(one + other in content.text for content in decoded):
            raise LawBroken(
                "texts apart", "$", "two separate texts were joined", Label(f"{one!r}, {other!r}"), one + other
            )
        if not is_parted and one + other not in "".join(content.text for content in decoded):
            raise LawBroken("texts apart", "$", "adjacent texts were separated", one + other, [c.text for c in decoded])
    before, after = _cited(_texts(response)), _cited(decoded)
    if after and before != after:
        raise LawBroken("texts apart", "$", "the citations refer to other text", before, after)


def _contents(response: ChatResponse) -> list[Any]:
    return [content for message in response.messages for content in message.contents]


def _texts(response: ChatResponse) -> list[TextContent]:
    return [content for content in _contents(response) if isinstance(content, TextContent)]


def _neighbours(response: ChatResponse) -> list[tuple[str, str, bool]]:
    """Return each text with the next one, and whether other content is between them. Empty texts are skipped."""
    texts: list[tuple[str, int]] = []
    others = 0
    for content in _contents(response):
        if not isinstance(content, TextContent):
            others += 1
        elif content.text:
            texts.append((content.text, others))
    return [(one, other, before != after) for (one, before), (other, after) in pairwise(texts)]


def _cited(texts: list[TextContent]) -> list[str]:
    """Return the text that each citation refers to."""
    cited = []
    for content in texts:
        for citation in content.annotations or ():
            span = citation.span and convert_span(content.text, citation.span, "codepoint")
            cited.append(content.text[span.start : span.end] if span else content.text)
    return cited
