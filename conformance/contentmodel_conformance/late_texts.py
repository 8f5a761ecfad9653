"""The law of late texts: what a text gets after its block is written is in the stream once, or is reported as lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel import Citation, TextContent
from contentmodel import events as ev
from contentmodel.content import Span, convert_span
from contentmodel.events import fold
from contentmodel_conformance import streams
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken

__all__ = ["stream_late_texts"]


def stream_late_texts(target: Any, events: streams.Events) -> None:
    """Text that follows the end of its block is written once. Its citations are written or reported as lost."""
    raw, losses = streams.encode(target, events)
    answer = fold(streams.decode(target, [raw]))
    written = [c for m in answer.messages for c in m.contents if isinstance(c, TextContent)]
    last = {event.index: event.content for event in events if isinstance(event, ev.BlockStop | ev.BlockCatchUp)}
    paths = [loss.path for loss in losses]
    for path, before, content in _changed(events):
        for piece in filter(None, (before.text, content.text[len(before.text) :])):
            count, sought = _count(piece, written), _count(piece, last.values())
            if not count:
                raise LawBroken("late texts", f"{path}.text", "a text is not in the stream", piece, written)
            if count > sought:
                raise LawBroken("late texts", f"{path}.text", "a text is in the stream more than once", piece, written)
        for number, citation in enumerate(content.annotations or ()):
            place = f"{path}.annotations[{number}]"
            if not any(_is_at(lost, place) for lost in paths):
                _same_citation(place, _quoted(content, citation), citation, written)


def _changed(events: streams.Events) -> list[tuple[str, Any, Any]]:
    """Return the path of each text that changed after its block, with the content before and after."""
    layout = next(event.layout for event in events if isinstance(event, ev.TurnComplete))
    stopped = {event.index: event.content for event in events if isinstance(event, ev.BlockStop)}
    return [
        (f"$.choices[0].messages[0].contents[{layout[0][0].index(event.index)}]", stopped[event.index], event.content)
        for event in events
        if isinstance(event, ev.BlockCatchUp)
    ]


def _count(piece: str, contents: Iterable[Any]) -> int:
    return sum(content.text.count(piece) for content in contents if isinstance(content, TextContent))


def _is_at(path: str, place: str) -> bool:
    """Return whether a loss at `path` explains a citation at `place`."""
    return path.startswith(place) or place.startswith((f"{path}.", f"{path}["))


def _same_citation(path: str, quoted: str, citation: Citation, written: list[TextContent]) -> None:
    quotes = [
        _quoted(content, other)
        for content in written
        for other in content.annotations or ()
        if other.url == citation.url
    ]
    if not quotes:
        raise LawBroken("late texts", path, "a citation is neither written nor reported", citation, Label("nothing"))
    # A citation of a text in two pieces is a citation of each.
    if "".join(quotes) != quoted:
        raise LawBroken("late texts", path, "a citation refers to other text", quoted, quotes)


def _quoted(content: TextContent, citation: Citation) -> str:
    span = citation.span and convert_span(content.text, citation.span, "codepoint")
    return content.text[(span or Span(start=0)).start : span.end if span else None]
