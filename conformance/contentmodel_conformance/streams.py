"""The laws of streams, one plain function each; pytest is not needed.

A violated law raises `LawBroken` with the law, the event or block, and both values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from contentmodel import ChatResponse, Citation, FunctionCallContent, TextContent
from contentmodel import events as ev
from contentmodel.content import Span, convert_span
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.display import count_of
from contentmodel.errors import DecodeError, StreamError
from contentmodel.events import Fold, fold
from contentmodel.framing import DONE, SSE, StreamFormat, stream_format_of
from contentmodel.json import parse, steps_of, write
from contentmodel.unfolding import unfold
from contentmodel_conformance.differences import ABSENT, Label, difference
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.oracles.accumulators import accumulated, comparable
from contentmodel_conformance.respellings import respellings

Events = Sequence[ev.StreamEvent]


# -- bytes and events --------------------------------------------------------------------------------------------------


def frames_of(body: Iterable[dict[str, Any]], form: StreamFormat = SSE) -> list[bytes]:
    """Return a recorded stream, a list of {event?, data}, as the bytes of its events."""
    frames = []
    for event in body:
        data = event["data"]
        text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else write(data)
        frames.append(form.write(text, event.get("event") or None))
    return frames


def decode(adapter: Any, pieces: Iterable[bytes]) -> list[ev.StreamEvent]:
    """Decode a stream that arrives in these pieces, and close it."""
    decoder = adapter.stream_decoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.close()]


def cut(raw: bytes, places: Iterable[int]) -> list[bytes]:
    """Return the bytes, cut at these offsets."""
    inner = sorted({place for place in places if 0 < place < len(raw)})
    return [raw[start:end] for start, end in zip([0, *inner], [*inner, len(raw)], strict=True)]


# -- the laws of decoding ----------------------------------------------------------------------------------------------


def cuts(adapter: Any, raw: bytes, places: Iterable[int]) -> None:
    """The events do not depend on where the bytes are cut."""
    same_events("cuts", decode(adapter, [raw]), decode(adapter, cut(raw, places)))


def readings(adapter: Any, body: Sequence[dict[str, Any]]) -> None:
    """Parsed events decode like their bytes. A decoder without deltas emits none, and gives the same response."""
    frames = frames_of(body, stream_format_of(adapter))
    whole = decode(adapter, frames)
    decoder, quiet = adapter.stream_decoder(), adapter.stream_decoder(deltas=False)
    parsed: list[ev.StreamEvent] = []
    without_deltas: list[ev.StreamEvent] = []
    for event, frame in zip(body, frames, strict=True):
        is_parsed = isinstance(event["data"], dict)
        parsed += decoder.feed_event(event["data"], event.get("event")) if is_parsed else decoder.feed(frame)
        without_deltas += quiet.feed(frame)
    same_events("readings (parsed)", whole, [*parsed, *decoder.close()])
    without_deltas += quiet.close()
    same("readings (without deltas)", fold(whole), fold(without_deltas))
    for place, emitted in enumerate(without_deltas):
        if isinstance(emitted, ev.BlockDelta):
            raise LawBroken(
                "readings (without deltas)", f"event {place}", "a delta was emitted", Label("no deltas"), emitted
            )


def spellings(adapter: Any, raw: bytes, form: StreamFormat) -> None:
    """The events do not depend on line endings, also missing ones at the end, or on comments, ids and blank lines.

    Formats other than server-sent events have other spellings.
    """
    whole = decode(adapter, [raw])
    for name, respelled in respellings(raw, form):
        same_events(f"spellings ({name})", whole, decode(adapter, [respelled]))
        ends = [at + 1 for at, byte in enumerate(respelled) if byte == 0x0D]
        same_events(f"spellings ({name}, cut)", whole, decode(adapter, cut(respelled, [1, 2, 3, *ends])))


def separation(adapter: Any, one: bytes, other: bytes, size: int) -> None:
    """Two streams that one adapter decodes alternately do not affect each other."""
    decoders = adapter.stream_decoder(), adapter.stream_decoder()
    events: tuple[list[ev.StreamEvent], list[ev.StreamEvent]] = ([], [])
    for at in range(0, max(len(one), len(other)), size):
        for number, raw in enumerate((one, other)):
            events[number].extend(decoders[number].feed(raw[at : at + size]))
    for number, raw in enumerate((one, other)):
        events[number].extend(decoders[number].close())
        same_events("separation", decode(adapter, [raw]), events[number])


def same_events(law: str, one: Events, other: Events) -> None:
    """Raise LawBroken at the first event that differs."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            raise LawBroken(law, f"event {place}", "the events differ", left, right)
    if len(one) != len(other):
        detail = f"{count_of(len(one), 'event')} became {len(other)}"
        raise LawBroken(law, f"event {min(len(one), len(other))}", detail, one[len(other) :], other[len(one) :])


def section(adapter: Any, events: Events) -> None:
    """The response of a stream survives encoding and decoding without streaming, except marks of incomplete calls."""
    response = fold(events)
    again = adapter.decode_response(adapter.encode_response(response).payload)
    same("section", _without_marks(response), _without_marks(again))


def _without_marks(response: ChatResponse) -> ChatResponse:
    replace = msgspec.structs.replace
    choices = [
        replace(choice, messages=[replace(m, contents=[_unmarked(c) for c in m.contents]) for m in choice.messages])
        for choice in response.choices
    ]
    return replace(response, choices=choices)


def _unmarked(content: Any) -> Any:
    is_half = isinstance(content, ToolCallContent) and content.status == "incomplete"
    return msgspec.structs.replace(content, status=None) if is_half else content


def same(law: str, one: Any, other: Any) -> None:
    """Raise LawBroken at the first difference of two model values."""
    if one != other:
        changed = difference(msgspec.to_builtins(one), msgspec.to_builtins(other))
        raise LawBroken(law, *(changed or ("$", "the values differ, but their JSON is equal", one, other)))


def order(events: Events) -> None:
    """A turn starts and ends once. Each block starts once, before its deltas, and stops once. Indices have no gaps."""
    if not events or not isinstance(events[-1], ev.TurnComplete | ev.TurnError):
        raise LawBroken(
            "order", "the end", "the last event does not end the turn", Label("TurnComplete or TurnError"), events[-1:]
        )
    started: set[int] = set()
    stopped: set[int] = set()
    for place, event in enumerate(events):
        fault = _out_of_order(event, started, stopped)
        if isinstance(event, ev.TurnStart) and any(isinstance(e, ev.TurnStart) for e in events[:place]):
            fault = "the turn starts twice"
        if isinstance(event, ev.TurnComplete | ev.TurnError) and place != len(events) - 1:
            fault = "the turn ends before its last event"
        if fault:
            raise LawBroken("order", f"event {place}", fault, Label("events in a valid order"), event)
    if started != stopped:
        raise LawBroken("order", "the end", "some blocks never stop", sorted(started), sorted(stopped))
    laid = [index for choice in events[-1].layout for message in choice for index in message]
    if len(laid) != len(set(laid)) or not set(laid) <= started:
        raise LawBroken("order", "the layout", "its blocks are not the blocks that started", sorted(started), laid)


def _out_of_order(event: ev.StreamEvent, started: set[int], stopped: set[int]) -> str | None:
    if isinstance(event, ev.BlockStart):
        if event.index != len(started):
            return f"block {event.index} starts, and the next index is {len(started)}"
        started.add(event.index)
    elif isinstance(event, ev.BlockStop):
        if event.index not in started or event.index in stopped:
            return "a block stops that is not open"
        stopped.add(event.index)
    elif isinstance(event, ev.BlockCatchUp):
        return None if event.index in stopped else "a block is replaced that has not stopped"
    elif isinstance(event, ev.CitationDelta):
        return None if event.index in started else "a citation is added to a block that has not started"
    elif isinstance(event, ev.BlockDelta) and event.index not in started:
        return "a delta is added to a block that has not started"
    return None


def deltas(events: Events) -> None:
    """The deltas of a block, if it has any, add up to the text or the arguments that it has when it stops."""
    starts: dict[int, Any] = {}
    grown: dict[int, list[Any]] = {}
    ends: dict[int, Any] = {}
    for event in events:
        if isinstance(event, ev.BlockStart):
            starts[event.index], grown[event.index] = event.content, []
        elif isinstance(event, ev.BlockDelta):
            grown[event.index].append(event)
        elif isinstance(event, ev.BlockStop | ev.BlockCatchUp):
            ends[event.index] = event.content
    for index, end in ends.items():
        if isinstance(end, ToolCallContent) and not any(isinstance(d, ev.ArgumentsDelta) for d in grown[index]):
            continue
        from_deltas, at_end = delta_value(ev.grown(starts[index], grown[index]), grown[index]), delta_value(end, ())
        if from_deltas != at_end:
            raise LawBroken(
                "deltas", f"block {index}", "its deltas do not add up to its final content", at_end, from_deltas
            )


def delta_value(content: Any, pieces: Sequence[Any]) -> Any:
    """Return the part of a content that deltas carry, as a comparable value; None if it has none."""
    if isinstance(content, TextContent | ReasoningContent):
        return content.text or ""
    if not isinstance(content, ToolCallContent):
        return None
    arguments = content.arguments
    for piece in pieces:
        if isinstance(piece, ev.ArgumentsDelta) and piece.path is not None:
            arguments = put(arguments, steps_of(piece.path), piece.text or piece.value)
    return _value_of(arguments)


def _value_of(arguments: Any) -> Any:
    """Return arguments as a value if their text is JSON. Missing and blank arguments equal an empty object."""
    if isinstance(arguments, str) and arguments.strip():
        try:
            arguments = parse(arguments)
        except DecodeError:
            return arguments
    return {} if isinstance(arguments, str) and arguments.isspace() else arguments or {}


def put(owner: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Return a copy of `owner` with `value` at a path. Text is appended to existing text."""
    if not steps:
        return owner + value if isinstance(owner, str) and isinstance(value, str) else value
    step, *rest = steps
    if isinstance(step, int):
        items = list(owner) if isinstance(owner, list) else []
        items += [None] * (step + 1 - len(items))
        items[step] = put(items[step], rest, value)
        return items
    entries = dict(owner) if isinstance(owner, dict) else {}
    entries[step] = put(entries.get(step), rest, value)
    return entries


def snapshots(events: Events, places: Iterable[int]) -> None:
    """The fold has a response after every event, and the text of an open block only grows."""
    moments = set(places)
    gathered = Fold()
    texts: dict[int, str] = {}
    for place, event in enumerate(events):
        gathered.feed(event)
        if isinstance(event, ev.BlockStop | ev.BlockCatchUp):
            texts.pop(event.index, None)
        if place not in moments:
            continue
        response = gathered.response
        if not isinstance(response, ChatResponse):
            raise LawBroken(
                "snapshots", f"event {place}", "the fold has no response", Label("a ChatResponse"), response
            )
        for index in list(texts) + ([event.index] if isinstance(event, ev.BlockStart) else []):
            texts[index] = _still_growing(index, texts.get(index, ""), gathered)


def _still_growing(index: int, before: str, gathered: Fold) -> str:
    now = grown_text(gathered.content(index))
    if not now.startswith(before):
        raise LawBroken("snapshots", f"block {index}", "earlier text changed", before, now)
    return now


def grown_text(content: Any) -> str:
    """Return the text of a content that deltas extend; "" if it has none."""
    field = ev.growing_field(content)
    if field == "arguments":
        return content.arguments if isinstance(content.arguments, str) else ""
    return (getattr(content, field) or "") if field in ("text", "message") else ""


def encoding(adapter: Any, events: Events, *, losses: bool = False) -> None:
    """Decoded events encode to a stream that folds to the same response, and no loss is reported."""
    raw, reported = encode(adapter, events)
    again = decode(adapter, [raw])
    order(again)
    same("encoding", fold(events), fold(again))
    if reported and not losses:  # With `losses`, the stream contradicts itself.
        raise LawBroken(
            "encoding", reported[0].path, f"a loss was reported: {reported[0].what}", Label("no loss"), reported[0]
        )


# -- broken streams ----------------------------------------------------------------------------------------------------


def prefix(adapter: Any, raw: bytes, length: int, whole: Events | None = None) -> None:
    """A truncated stream has the same events up to its end, ends the turn, and marks each incomplete call.

    An answer whose stream broke off is no longer in progress.
    """
    whole = decode(adapter, [raw]) if whole is None else whole
    decoder = adapter.stream_decoder()
    before = decoder.feed(raw[:length])
    after = decoder.close()
    same_events("prefix", whole[: len(before)], before)
    order([*before, *after])
    last = (before + after)[-1]
    if isinstance(last, ev.TurnError):
        where, finish = f"byte {length}", [choice.finish_reason for choice in last.response.choices]
        if not (last.error.code or last.error.message):
            raise LawBroken("prefix", where, "the error has no code and no message", Label("a code or a message"), last)
        if any(ending is not None and ending.reason == "running" for ending in finish):
            raise LawBroken("prefix", where, "a broken answer is in progress", Label("no finish reason"), finish)
    _no_more_than(fold([*before, *after]), before + after, whole, length)


def malformed(adapter: Any, frames: Sequence[bytes], form: StreamFormat, place: int) -> None:
    """An event that is not JSON ends the turn with the error "stream_malformed", and earlier content is kept."""
    broken = form.write(b'{"oops', None)
    events = decode(adapter, [*frames[:place], broken, *frames[place:]])
    before = decode(adapter, frames[:place])
    order(events)
    if not isinstance(before[-1], ev.TurnError) or before[-1].error.code != "stream_ended":
        return
    if not isinstance(events[-1], ev.TurnError) or events[-1].error.code != "stream_malformed":
        expected = Label("stream_malformed")
        raise LawBroken("malformed", f"event {place}", "the turn goes on", expected, events[-1])
    same("malformed", _all_contents(fold(before)), _all_contents(fold(events)))


def ending(events: Events) -> None:
    """A complete recorded stream has an end of its turn, and no malformed event."""
    end = events[-1]
    if isinstance(end, ev.TurnError) and end.error.code in ("stream_ended", "stream_malformed"):
        raise LawBroken("ending", "the end", str(end.error.message), Label("the end of the turn"), end)


def last_word(adapter: Any, events: Events, answer: dict[str, Any]) -> None:
    """If the last event of a stream has the whole answer, the stream folds to the value that this answer decodes to."""
    contents = [message.contents for message in fold(events).messages]
    same("last word", [message.contents for message in adapter.decode_response(answer).messages], contents)


def unfinished(adapter: Any) -> None:
    """A turn without an end is encoded as a turn that failed, with the content so far."""
    opening = [ev.BlockStart(index=0, content=TextContent(text="")), ev.TextDelta(index=0, text="Half of it")]
    encoder = adapter.stream_encoder(None)
    raw = b"".join(encoder.feed(event) for event in opening)
    end = encoder.close()
    if not end:
        raise LawBroken("unfinished", "the end", "closing the encoder writes nothing", Label("an error"), ABSENT)
    events = decode(adapter, [raw + end])
    if not isinstance(events[-1], ev.TurnError):
        raise LawBroken(
            "unfinished", "the end", "the incomplete turn ends as a complete one", Label("a TurnError"), events[-1]
        )
    same("unfinished", "Half of it", fold(events).text)


def accumulation(api: str, adapter: Any, events: Events) -> None:
    """The official SDK's accumulator builds the same answer from an encoded stream."""
    raw, _ = encode(adapter, events)
    theirs = accumulated(api, values_of(raw, adapter))
    ours = adapter.encode_response(fold(decode(adapter, [raw]))).payload
    start = next((event.response for event in events if isinstance(event, ev.TurnStart)), None)
    if start is not None and start.id != fold(events).id:
        # Some hosts change the id during a stream. The SDKs keep the first or the last.
        ours, theirs = {**ours, "id": ""}, {**theirs, "id": ""}
    changed = difference(comparable(api, ours), comparable(api, theirs))
    if changed is not None:
        raise LawBroken("accumulation", *changed)


def agreement(api: str, adapter: Any, events: Events, theirs: Any) -> None:
    """A stream folds to the answer that the official SDK's accumulator builds from it."""
    changed = difference(theirs, comparable(api, adapter.encode_response(fold(events)).payload))
    if changed is not None:
        raise LawBroken("agreement", *changed)


def repetition(adapter: Any, events: Events) -> None:
    """If the last event repeats the answer, its items, without citations, are those sent before, with their ids."""
    wires = values_of(encode(adapter, events)[0], adapter)
    whole = wires[-1].get("response", {}).get("output") if wires else None
    if whole is None:
        return
    finished = [wire["item"] for wire in wires if wire["type"] == "response.output_item.done"]
    ids = [wire["item"].get("id") for wire in wires if wire["type"] == "response.output_item.added"]
    same("repetition", *([_uncited(item) for item in items] for items in (whole, finished)))
    same("repetition", [item.get("id") or "an id" for item in whole], ids)
    same("repetition", [], [wire for wire in wires if "item_id" in wire and wire["item_id"] not in ids])


def _uncited(item: Any) -> Any:
    parts = item.get("content")
    return {**item, "content": [{**p, "annotations": []} for p in parts]} if isinstance(parts, list) else item


def values_of(raw: bytes, adapter: Any) -> list[dict[str, Any]]:
    """Return the events of a stream as parsed JSON, without "[DONE]"."""
    frames = stream_format_of(adapter).framing().feed(raw)
    return [json.loads(data) for _, data in frames if data != DONE]


def _no_more_than(response: ChatResponse, events: Events, whole: Events, length: int) -> None:
    gathered, all_of_it = Fold(), Fold()
    for event in events:
        gathered.feed(event)
    for event in whole:
        all_of_it.feed(event)
    for index in {event.index for event in events if isinstance(event, ev.BlockStart)}:
        content, full = gathered.content(index), all_of_it.content(index)
        if isinstance(content, FunctionCallContent):
            if content.status != "incomplete" and content.arguments != getattr(full, "arguments", None):
                detail = f"block {index} is half of a call, but is not marked as incomplete"
                raise LawBroken("prefix", f"byte {length}", detail, Label("incomplete"), content)
        elif isinstance(content, TextContent | ReasoningContent) and not grown_text(full).startswith(
            grown_text(content)
        ):
            detail = f"block {index} has text that the whole stream does not have"
            raise LawBroken("prefix", f"byte {length}", detail, grown_text(full), grown_text(content))


def totality(adapter: Any, pieces: Sequence[bytes]) -> list[ev.StreamEvent]:
    """Any bytes decode without an exception, and the events are in a valid order."""
    events = decode(adapter, pieces)
    order(events)
    fold(events)
    return events


def conversion(source: Any, target: Any, pieces: Sequence[bytes]) -> None:
    """Any bytes of a stream convert to a valid stream of the target. If the turn failed, it ends with an error."""
    events = totality(source, pieces)
    raw, _ = encode(target, events)
    again = totality(target, [raw])
    if isinstance(events[-1], ev.TurnError) and not isinstance(again[-1], ev.TurnError):
        detail = "the turn failed, but the target's stream does not end with an error"
        raise LawBroken("conversion", "the end", detail, events[-1], again[-1])


def disorder(adapter: Any, events: Events) -> None:
    """Model events in any order encode to a valid stream, or raise a StreamError that names the block."""
    try:
        raw, _ = encode(adapter, events)
    except StreamError as error:
        if "block " not in str(error):
            raise LawBroken(
                "disorder", "the error", "the error does not name the block", Label("a block"), str(error)
            ) from None
        return
    totality(adapter, [raw])


# -- encoding ----------------------------------------------------------------------------------------------------------


def unfolding(response: ChatResponse, size: int | None) -> None:
    """A response unfolds to valid events, with deltas of any size, that fold to the same response."""
    events = list(unfold(response, size=size))
    order(events)
    deltas(events)
    same("unfolding", response, fold(events))


def encode(adapter: Any, events: Iterable[ev.StreamEvent], policies: Any = None) -> tuple[bytes, Any]:
    """Encode events as the API's stream. Return its bytes and its losses."""
    encoder = adapter.stream_encoder(policies)
    raw = b"".join(encoder.feed(event) for event in events)
    raw += encoder.close()
    return raw, encoder.losses


def crossing(target: Any, events: Events) -> None:
    """A turn encoded as a stream of another API folds to the response that it has without streaming.

    A stream keeps the text of arguments, and the id and model of its beginning. Ids of items may be made of these, and
    of the number of the item: a stream may have an item for an empty text. generateContent has no bounds between texts:
    adjacent texts are joined, and the positions of their citations change. Of a failed turn only the contents are
    compared.
    """
    response = fold(events)
    raw, _ = encode(target, events)
    streamed = fold(decode(target, [raw]))
    expected = target.decode_response(target.encode_response(response).payload)
    if streamed == expected:
        return
    if isinstance(events[-1], ev.TurnError) or streamed.error is not None:
        same("crossing", _all_contents(expected), _all_contents(streamed))
        if streamed.error is None:
            raise LawBroken("crossing", "$.error", "the turn failed, but its stream has no error", events[-1], None)
        return
    same("crossing", _plainly(expected, events), _plainly(_without_new_reasons(streamed, expected), events))


def _without_new_reasons(streamed: ChatResponse, expected: ChatResponse) -> ChatResponse:
    """Remove generated finish reasons: a stream of generateContent must end with one."""
    choices = [
        msgspec.structs.replace(choice, finish_reason=None) if other.finish_reason is None else choice
        for choice, other in zip(streamed.choices, expected.choices, strict=True)
    ]
    return msgspec.structs.replace(streamed, choices=choices)


def _plainly(response: ChatResponse, events: Events) -> ChatResponse:
    start = next((event.response for event in events if isinstance(event, ev.TurnStart)), None)
    end = events[-1].response  # type: ignore[attr-defined]
    replace = msgspec.structs.replace
    is_late = start is None or (start.id, start.model, start.created) != (end.id, end.model, end.created)
    has_empty_text = any(getattr(stop.content, "text", None) == "" for stop in events if isinstance(stop, ev.BlockStop))
    if is_late:
        response = replace(response, id=None, model=None, created=None, origin=None)
    choices = []
    for choice, messages in zip(response.choices, _plain_contents(response), strict=True):
        if is_late or has_empty_text:
            messages = [[replace(content, extra=None) for content in contents] for contents in messages]
        shells = [replace(shell, origin=None) for shell in choice.messages]
        filled = [replace(shell, contents=contents) for shell, contents in zip(shells, messages, strict=True)]
        choices.append(replace(choice, messages=filled))
    return replace(response, choices=choices)


def _all_contents(response: ChatResponse) -> list[Any]:
    return [content for messages in _plain_contents(response) for contents in messages for content in contents]


def _plain_contents(response: ChatResponse) -> list[list[list[Any]]]:
    return [[_joined(message.contents) for message in choice.messages] for choice in response.choices]


def _joined(contents: Iterable[Any]) -> list[Any]:
    """Join adjacent texts, remove empty ones, and parse arguments."""
    joined: list[Any] = []
    for content in contents:
        if isinstance(content, ToolCallContent):
            content = msgspec.structs.replace(content, arguments=_value_of(content.arguments))
        if not isinstance(content, TextContent) or content.protected is not None:
            joined.append(content)
        elif joined and isinstance(joined[-1], TextContent) and joined[-1].protected is None:
            quoted = [*(joined[-1].annotations or ()), *_quoted(content)]
            joined[-1] = TextContent(text=joined[-1].text + content.text, annotations=quoted or None)
        elif content.text:
            joined.append(msgspec.structs.replace(content, annotations=_quoted(content) or None))
    return joined


def _quoted(content: TextContent) -> list[Citation]:
    """Return the citations of a text with the text cited in place of its position."""
    quoted = []
    for citation in content.annotations or ():
        span = convert_span(content.text, citation.span, "codepoint") if citation.span else Span(start=0)
        cited = content.text[span.start or 0 : span.end]
        quoted.append(Citation(url=citation.url, cited_text=cited))
    return quoted
