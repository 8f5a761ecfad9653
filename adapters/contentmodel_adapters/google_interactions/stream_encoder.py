"""Encode streams of Interactions: steps are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    SSE,
    BlockPlace,
    OutgoingBlock,
    SequentialEncoder,
    Written,
    growing,
    list_of,
    object_of,
    objects_of,
    reasons,
    text_of,
    write,
)
from contentmodel.events import TurnComplete, TurnError, WireEvent
from contentmodel_adapters.google_interactions.blocks import API
from contentmodel_adapters.google_interactions.messages import LISTS, STEP
from contentmodel_adapters.google_interactions.stream import GROWING_MEDIA
from contentmodel_adapters.shared.google import is_signed

# By the type of a step: the start and the end of the JSON of a delta that appends text.
GROWTH = {
    "model_output": (b'{"type":"text","text":', b"}"),
    "thought": (b'{"type":"thought_summary","content":{"type":"text","text":', b"}}"),
    "function_call": (b'{"type":"arguments_delta","arguments":', b"}"),
}

GROWING = ("text", *GROWING_MEDIA)
NO_BORDER = reasons.moved(
    "google-interactions-no-border",
    "a stream of {target} cannot separate two contents of this type in one step: it becomes a step of its own",
)


class Encoder(SequentialEncoder):
    """Encode one answer as the events of Interactions."""

    _unstopped: dict[str, Any] | None = None
    """The last step if it is written but not stopped: citations of its text, or more contents, may still arrive."""
    _begun: OutgoingBlock | None = None
    """The block whose first step is written next."""
    _last: int | None = None
    """The number of the last block, if nothing was written after it."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {"id": "", **{key: value for key, value in payload.items() if key not in ("steps", "usage")}}
        self._put("interaction.created", interaction={**head, "status": "in_progress"})

    def _put(self, kind: str, **fields: Any) -> None:
        self.put({**fields, "event_type": kind}, kind)

    def _delta(self, delta: dict[str, Any]) -> None:
        self._put("step.delta", index=self.count, delta=delta)

    # -- blocks ------------------------------------------------------------------------------------------------

    def is_empty(self, content: Any) -> bool:
        # An empty text with a signature is not empty: the signature is sent in a thought.
        return super().is_empty(content) and not is_signed(content)

    def open_block(self, block: OutgoingBlock) -> None:
        steps = self.encode_start(block.content)
        kind = text_of(steps[0], "type") if len(steps) == 1 else ""
        if kind not in GROWTH or (kind == "function_call" and not _is_object(block.content, steps[0])):
            return
        if any(part.get("type") != "text" for part in _parts(steps[0])):
            return
        self._begun = block
        self.begin_block(steps[0])
        block.grow, block.state = self._growing(kind), kind
        self.write_begun(block)

    def _growing(self, kind: str) -> Callable[[str], bytes]:
        """Return a function that writes more text of the step that was just started."""
        begin, end = GROWTH[kind]
        head = b'{"index":%d,"delta":%b' % (self.count, begin)
        tail = end + b',"event_type":"step.delta"}'
        if self.stream_format is SSE:
            return growing(b"event: step.delta\ndata: " + head, tail + b"\n\n")
        grown = growing(head, tail)
        return lambda more: self.stream_format.write(grown(more), "step.delta")

    def begun_wire(self, block: OutgoingBlock, wires: list[dict[str, Any]]) -> dict[str, Any]:
        # A signature that arrived after the text is a second step, a thought. Find the step that was started.
        return next((step for step in wires if step.get("type") == block.state), {"type": block.state})

    def close_block(self, block: OutgoingBlock) -> None:
        self._begun = block if block.grow is None else None
        super().close_block(block)
        self._begun, self._last = None, block.index

    def begin_block(self, wire: dict[str, Any]) -> None:
        block, self._begun, self._last = self._begun, None, None
        if block is not None and self._continues(block, wire):
            self.count -= 1
            return
        self._stop_last()
        start = {key: value for key, value in wire.items() if not _is_in_deltas(key, value, wire)}
        if wire.get("type") == "function_call" and "arguments" in wire:
            start["arguments"] = {}
        self._put("step.start", index=self.count, step=start)

    def _continues(self, block: OutgoingBlock, wire: dict[str, Any]) -> bool:
        """Return whether a content belongs to the open step. Report it as moved if it cannot be written there."""
        before, parts = _parts(self._unstopped or {}), _parts(wire)
        is_of_this_api = self._origin is not None and self._origin.api == self.api
        if not is_of_this_api or STEP.of(block.content, API) is not None or not before or not parts:
            return False
        if self._unstopped is None or self._unstopped["type"] != wire["type"] or "signature" in self._unstopped:
            return False
        if before[-1].get("type") == parts[0].get("type") in GROWING:
            self.report_loss((block.choice, block.index), block.content, NO_BORDER)
            return False
        return True

    def end_block(self, wire: dict[str, Any], *, sent: int = 0, is_complete: bool = True) -> None:
        for delta in _deltas(wire, sent):
            self._delta(delta)
        self._unstopped = wire if is_complete else None
        self.count += 1

    def _stop_last(self) -> None:
        if self._unstopped is not None:
            self._unstopped = None
            self._put("step.stop", index=self.count - 1)

    def cite_late(self, place: BlockPlace, content: Any, written: Written) -> None:
        if self._unstopped is None or self._last != place[1] or not list_of(self._unstopped, "content"):
            super().cite_late(place, content, written)
            return
        for step in self.encode([content], places=[place]):
            for part in objects_of(step, "content"):
                added = list_of(part, "annotations")[written.cited :]
                delta = {"type": "text_annotation_delta", "annotations": added}
                self._put("step.delta", index=written.place, delta=delta)
        written.cited = len(content.annotations)

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        self._complete(self.encode_envelope(event))

    def _complete(self, interaction: dict[str, Any]) -> None:
        self._stop_last()
        interaction.pop("steps", None)
        self._put("interaction.completed", interaction={"id": "", "status": "completed", **interaction})

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        if "errors" in payload:
            # A failed interaction is complete: its last event has its errors.
            self._complete({**payload, **self.encode_envelope(event)})
            return
        self._stop_last()
        self._put("error", error=object_of(payload, "error"))

    def wire_event(self, event: WireEvent) -> None:
        self.put(event.data, event.name)


def _parts(step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the contents of a step that are sent in deltas."""
    contents = list_of(step, _key_of_parts(step))
    return contents if all(content.__class__ is dict for content in contents) else []


def _key_of_parts(step: dict[str, Any]) -> str:
    kind = text_of(step, "type")
    return LISTS[kind][0] if kind in ("model_output", "thought") else ""


def _is_in_deltas(key: str, value: Any, step: dict[str, Any]) -> bool:
    """Return whether deltas send a field of a step."""
    if key == "signature":
        return step.get("type") == "thought" and value.__class__ is str
    return key == _key_of_parts(step) and bool(_parts(step))


def _deltas(step: dict[str, Any], sent: int) -> list[dict[str, Any]]:
    """Return the deltas of a step, without the first `sent` characters of its text."""
    kind = step.get("type")
    if kind == "function_call":
        arguments = step.get("arguments")
        text = arguments if isinstance(arguments, str) else write(arguments).decode() if arguments else ""
        return [{"type": "arguments_delta", "arguments": text[sent:]}] if text[sent:] else []
    deltas: list[dict[str, Any]] = []
    for part in _parts(step):
        deltas += _deltas_of(part, sent) if kind == "model_output" else _deltas_of_summary(part, sent)
        sent = 0
    if kind == "thought" and isinstance(step.get("signature"), str):
        deltas.append({"type": "thought_signature", "signature": step["signature"]})
    return deltas


def _deltas_of(part: dict[str, Any], sent: int) -> list[dict[str, Any]]:
    """Return the deltas of a content of the output. The citations of a text have their own."""
    if part.get("type") != "text" or not isinstance(part.get("text"), str):
        return [part]
    rest = {key: value for key, value in part.items() if key != "annotations"}
    text = part["text"][sent:]
    deltas = [{**rest, "text": text}] if len(rest) > 2 or text or not sent else []
    cited = [{"type": "text_annotation_delta", "annotations": part["annotations"]}] if part.get("annotations") else []
    return [*deltas, *cited]


def _deltas_of_summary(part: dict[str, Any], sent: int) -> list[dict[str, Any]]:
    """Return the deltas of a part of a thought's summary."""
    if part.get("type") != "text" or not isinstance(part.get("text"), str):
        return [{"type": "thought_summary", "content": part}]
    text = part["text"][sent:]
    is_news = len(part) > 2 or text or not sent
    return [{"type": "thought_summary", "content": {**part, "text": text}}] if is_news else []


def _is_object(content: Any, step: dict[str, Any]) -> bool:
    """Return whether a step has the arguments of its call unchanged. Free text is changed: it is put into an object."""
    return bool(step.get("arguments") == (content.arguments or {}))
