"""The law of live blocks: what is sent of the arguments of a call is the source's own text, and nothing is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contentmodel import events as ev
from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.engine.table.codecs import unparsed_arguments
from contentmodel.json import object_or_text, write
from contentmodel_conformance import streams
from contentmodel_conformance.laws import LawBroken

__all__ = ["live_prefix", "typed_texts"]


def live_prefix(target: Any, events: streams.Events, policies: Any = None) -> None:
    """Streamed pieces of the arguments of a call are the text that the source sent, byte for byte.

    However the text is spelled, cut off or malformed: nothing is added when the block ends, and the events that repeat
    the whole text have the same text. A target that has no pieces has the object, or the text marked as no object. Only
    a target of text may complete arguments without any text to an empty object.
    """
    sources = [one for one in typed_texts(events) if one[0].__class__ is FunctionCallContent]
    raw, _ = streams.encode(target, events, policies)
    decoder = target.stream_decoder(deltas=False)
    repeats = [content for content, _, _ in typed_texts([*decoder.feed(raw), *decoder.close()])]
    sent = list(zip(typed_texts(streams.decode(target, [raw])), repeats, strict=True))
    for number, (call, typed, _) in enumerate(sources):
        # Other calls may have become calls of functions.
        at = next((at for at, one in enumerate(sent) if one[0][0].name == call.name), None)
        if at is None:
            raise LawBroken("live prefix", f"calls[{number}]", "a call is missing", call, sent)
        (written, text, is_in_pieces), repeat = sent.pop(at)
        path = f"calls[{number}].arguments"
        if not _is_same(typed, call.arguments):
            if text not in (typed, call.arguments_text):
                raise LawBroken("live prefix", path, "the text is neither what was sent nor the end", typed, text)
            continue
        if not is_in_pieces and not _is_same(typed, written.arguments):
            raise LawBroken("live prefix", path, "the arguments differ", typed, written.arguments)
        if is_in_pieces and text != typed and (typed, text) != ("", "{}"):
            raise LawBroken("live prefix", path, "the pieces of the arguments differ", typed, text)
        if is_in_pieces and repeat.arguments.__class__ is str and repeat.arguments != text:
            raise LawBroken("live prefix", path, "an event repeats another text", text, repeat.arguments)


def typed_texts(events: Iterable[Any]) -> Iterator[tuple[Any, str, bool]]:
    """Yield each complete call with the text of its arguments, and whether it arrived in pieces.

    An object that arrived at once has no spelling of its own: its text is compact.
    """
    begun: dict[int, str] = {}
    grown: set[int] = set()
    for event in events:
        if isinstance(event, ev.BlockStart):
            arguments = getattr(event.content, "arguments", None)
            begun[event.index] = arguments if isinstance(arguments, str) else ""
        elif isinstance(event, ev.ArgumentsDelta) and event.path is None:
            begun[event.index] += event.text
            grown.add(event.index)
        elif isinstance(event, ev.BlockStop) and isinstance(event.content, ToolCallContent) and event.is_complete:
            text, whole = begun[event.index], event.content.arguments or ""
            text = text or (whole if isinstance(whole, str) else write(whole).decode())
            yield event.content, text, event.index in grown


def _is_same(typed: str, arguments: Any) -> bool:
    """Return whether arguments that arrived at once are those of a text."""
    expected: Any = object_or_text(typed) if typed.strip() not in ("", "null") else {}
    read = unparsed_arguments(expected) if isinstance(expected, dict) else None
    value = object_or_text(arguments) if isinstance(arguments, str) and arguments else arguments or {}
    return value == expected or arguments in (typed, read)
