"""Broken adapters that decode or encode streams incorrectly."""

from __future__ import annotations

import re
from typing import Any

from contentmodel import ChatChoice, ChatResponse, FinishReason, TextContent
from contentmodel import events as ev
from contentmodel.content.tools import ToolCallContent
from contentmodel.errors import StreamError
from contentmodel_conformance.mutants.broken import (
    ANTHROPIC,
    CHAT,
    RESPONSES,
    Broken,
    Reader,
    Writer,
    mutant,
    replace,
)

# -- decoding streams --------------------------------------------------------------------------------------------------


@mutant(CHAT, "stream-cuts/written")
class DecodesEachPiece(Broken):
    """Decode each piece of bytes as UTF-8, so that a character that is cut becomes two invalid ones."""

    def received(self, data: bytes) -> bytes:
        return data.decode("utf-8", "replace").encode()


@mutant(CHAT, "surrogates/written")
class LosesHalfPairs(Broken):
    """Drop the half of a surrogate pair at the end of a delta."""

    def received(self, data: bytes) -> bytes:
        return re.sub(rb'\\ud83[c-e](?=")', b"", data)


@mutant(CHAT, "stream-readings/written")
class AlwaysEmitsDeltas(Broken):
    """Emit deltas although they are disabled."""

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        return super().stream_decoder()


@mutant(CHAT, "stream-deltas/written")
class DoublesDeltas(Broken):
    """Emit every delta of a text twice."""

    def events_decoded(self, events: Any) -> Any:
        return [e for event in events for e in ([event, event] if isinstance(event, ev.TextDelta) else [event])]


@mutant(CHAT, "stream-order/written", "stream-totality/bytes")
class DropsTheLastEvent(Broken):
    """Drop the event that ends the turn."""

    def events_decoded(self, events: Any) -> Any:
        return [event for event in events if not isinstance(event, ev.TurnComplete | ev.TurnError)]


@mutant(CHAT, "stream-crossing/foreign", "stream-accumulation/written")
class ReportsStopInStreams(Broken):
    """Give every streamed answer the finish reason "stop"."""

    def events_decoded(self, events: Any) -> Any:
        return [_ended(event, finish_reason=FinishReason(reason="stop", raw="stop")) for event in events]


def _ended(event: Any, **fields: Any) -> Any:
    if not isinstance(event, ev.TurnComplete):
        return event
    choices = [replace(choice, **fields) for choice in event.response.choices]
    return replace(event, response=replace(event.response, choices=choices))


@mutant(ANTHROPIC, "stream-crossing/foreign", "stream-accumulation/written")
class ForgetsUsageInStreams(Broken):
    """Drop the usage of a streamed answer."""

    def events_decoded(self, events: Any) -> Any:
        return [
            replace(e, response=replace(e.response, usage=None)) if isinstance(e, ev.TurnComplete) else e
            for e in events
        ]


@mutant(CHAT, "stream-separation/written")
class MixesStreams(Broken):
    """Share one decoder between streams."""

    shared: Any = None

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        if self.shared is None or self.shared.is_over:
            self.shared = self.inner.stream_decoder(deltas=deltas)
        return self.shared


@mutant(CHAT, "stream-malformed/written")
class SkipsMalformedEvents(Broken):
    """Skip events that are not JSON, and report no error."""

    def received(self, data: bytes) -> bytes:
        return data.replace(b'data: {"oops\n\n', b"")


@mutant(CHAT, "stream-prefix/written")
class EndsHalfCalls(Broken):
    """Emit an incomplete call as a complete one."""

    def events_decoded(self, events: Any) -> Any:
        return [_whole(event) for event in events]


def _whole(event: Any) -> Any:
    is_half = isinstance(event, ev.BlockStop) and isinstance(event.content, ToolCallContent)
    return replace(event, content=replace(event.content, status=None), is_complete=True) if is_half else event


@mutant(CHAT, "stream-spellings/written")
class AcceptsOneLineEnd(Broken):
    """Accept only LF as the end of a line."""

    def received(self, data: bytes) -> bytes:
        return data.replace(b"\r", b"?")


@mutant(CHAT, "stream-totality/flipped", "stream-totality/bytes")
class RaisesInStreams(Broken):
    """Raise UnicodeDecodeError for bytes that are not UTF-8."""

    def received(self, data: bytes) -> bytes:
        data.decode()
        return data


@mutant(CHAT, "stream-deltas/written")
class EndsWithOtherText(Broken):
    """Emit another text at the end of a block than in its deltas."""

    def events_decoded(self, events: Any) -> Any:
        return [self._shorter(event) for event in events]

    def _shorter(self, event: Any) -> Any:
        is_text = isinstance(event, ev.BlockStop) and isinstance(event.content, TextContent)
        return replace(event, content=replace(event.content, text=event.content.text[:-1])) if is_text else event


@mutant(CHAT, "stream-snapshots/written")
class StartsBlocksTwice(Broken):
    """Start a text block again after each delta."""

    def events_decoded(self, events: list[ev.StreamEvent]) -> list[ev.StreamEvent]:
        return [again for event in events for again in _restarted(event)]


def _restarted(event: Any) -> list[Any]:
    if not isinstance(event, ev.TextDelta):
        return [event]
    return [event, ev.BlockStart(index=event.index, content=TextContent(text=""))]


@mutant(CHAT, "stream-readings/written")
class ReadsParsedEventsByHalf(Broken):
    """Drop the text deltas of events that are already parsed."""

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        return _ByHalf(self.inner.stream_decoder(deltas=deltas), self)


class _ByHalf(Reader):
    def feed_event(self, event: Any, name: str | None = None) -> Any:
        events = super().feed_event(event, name)
        return [one for one in events if not isinstance(one, ev.TextDelta)]


@mutant(CHAT, "bounds/streams")
class DecodesAllAgain(Broken):
    """Decode the whole stream again for every eighth piece of bytes."""

    def stream_decoder(self, *, deltas: bool = True) -> Any:
        return _FromTheStart(self.inner, deltas)


class _FromTheStart:
    def __init__(self, adapter: Any, deltas: bool) -> None:
        self._adapter, self._deltas = adapter, deltas
        self._pieces: list[bytes] = []
        self._count = 0

    def _again(self, *, is_closed: bool) -> list[Any]:
        decoder = self._adapter.stream_decoder(deltas=self._deltas)
        events = [event for piece in self._pieces for event in decoder.feed(piece)]
        events += decoder.close() if is_closed else []
        fresh, self._count = events[self._count :], len(events)
        return fresh

    def feed(self, data: bytes) -> list[Any]:
        self._pieces.append(data)
        return self._again(is_closed=False) if len(self._pieces) % 8 == 0 else []

    def close(self) -> list[Any]:
        return self._again(is_closed=True)


# -- encoding streams --------------------------------------------------------------------------------------------------


@mutant(CHAT, "stream-unfinished/turn")
class EndsHalfTurns(Broken):
    """Encode an incomplete turn as a complete one."""

    def stream_encoder(self, policies: Any = None) -> Any:
        return _Ending(self.inner.stream_encoder(policies), self)


class _Ending(Writer):
    def close(self) -> Any:
        if self._encoder.is_over:
            return b""
        choice = ChatChoice(finish_reason=FinishReason(reason="stop"))
        return self.feed(ev.TurnComplete(response=ChatResponse(choices=[choice]), layout=[[[0]]]))


@mutant(CHAT, "stream-encoding/written")
class PadsTextsInStreams(Broken):
    """Append a space to every text of a stream."""

    def event_to_encode(self, event: Any) -> Any:
        is_text = isinstance(event, ev.BlockStop) and isinstance(event.content, TextContent)
        return replace(event, content=replace(event.content, text=f"{event.content.text} ")) if is_text else event


@mutant(CHAT, "stream-section/written")
class DropsFinishReasonOfAnswers(Broken):
    """Drop the finish reason of answers without streaming."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "response" and "choices" in payload:
            payload["choices"] = [{**choice, "finish_reason": None} for choice in payload["choices"]]
        return payload


@mutant(CHAT, "stream-crossing/foreign")
class WritesNoCallsInStreams(Broken):
    """Drop the calls of a streamed answer."""

    def event_to_encode(self, event: Any) -> Any:
        is_call = isinstance(event, ev.BlockStart | ev.BlockStop) and isinstance(event.content, ToolCallContent)
        return replace(event, content=TextContent(text="")) if is_call else event


@mutant(CHAT, "stream-conversion/mixed-up")
class TrustsTheClassOfAField(Broken):
    """Require unknown fields to be hashable when a stream is encoded."""

    def event_to_encode(self, event: Any) -> Any:
        for name in ("response", "content"):
            extra = getattr(getattr(event, name, None), "extra", None) or {}
            for fields in extra.values():
                {value: field for field, value in fields.items()}
        return event


@mutant(CHAT, "stream-disorder/turns")
class RaisesKeyErrors(Broken):
    """Raise KeyError for an event of a block that has not started."""

    def stream_encoder(self, policies: Any = None) -> Any:
        return _Looking(self.inner.stream_encoder(policies), self)


class _Looking(Writer):
    def feed(self, event: Any) -> Any:
        try:
            return super().feed(event)
        except StreamError as error:
            raise KeyError(str(error)) from None


@mutant(CHAT, "stream-conversion/mixed-up")
class SwallowsErrors(Broken):
    """Encode a failed turn as a complete one."""

    def event_to_encode(self, event: Any) -> Any:
        if not isinstance(event, ev.TurnError):
            return event
        return ev.TurnComplete(response=replace(event.response, error=None), layout=event.layout)


@mutant(CHAT, "failing/written")
class ForgetsTheCostOfAnError(Broken):
    """Drop the usage of an answer that ends with an error."""

    def event_to_encode(self, event: Any) -> Any:
        if not isinstance(event, ev.TurnError):
            return event
        choices = [replace(choice, finish_reason=None) for choice in event.response.choices]
        return replace(event, response=replace(event.response, usage=None, choices=choices))


@mutant(RESPONSES, "stream-repetition/foreign")
class RenumbersItems(Broken):
    """Give the items of a stream other ids in its last event."""

    def stream_encoder(self, policies: Any = None) -> Any:
        return _Renaming(self.inner.stream_encoder(policies), self)


class _Renaming(Writer):
    def feed(self, event: Any) -> Any:
        before, last, whole = super().feed(event).partition(b"event: response.completed")
        return before + last + re.sub(rb'"id":"(msg|fc)_', rb'"id":"\1_0', whole)
