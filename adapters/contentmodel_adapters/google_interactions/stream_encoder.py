"""Encode streams of Interactions: steps are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    SSE,
    BlockPlace,
    OutgoingBlock,
    SequentialEncoder,
    StreamEncoder,
    Written,
    growing,
    list_of,
    object_of,
    objects_of,
    write,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.events import TurnComplete, TurnError, WireEvent
from contentmodel_adapters.shared.google import is_signed

# By the type of a step: the start and the end of the JSON of a delta that appends text.
GROWTH = {
    "model_output": (b'{"type":"text","text":', b"}"),
    "thought": (b'{"type":"thought_summary","content":{"type":"text","text":', b"}}"),
    "function_call": (b'{"type":"arguments_delta","arguments":', b"}"),
}


class Encoder(SequentialEncoder):
    """Encode one answer as the events of Interactions."""

    _is_unstopped = False
    """True if the last step is written but not stopped: citations of its text may still arrive."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {"id": "", **{key: value for key, value in payload.items() if key not in ("steps", "usage")}}
        self._put("interaction.created", interaction={**head, "status": "in_progress"})

    def _put(self, kind: str, **fields: Any) -> None:
        self.put({**fields, "event_type": kind}, kind)

    def _delta(self, delta: dict[str, Any]) -> None:
        self._put("step.delta", index=self.count, delta=delta)

    # -- blocks ------------------------------------------------------------------------------------------------

    @staticmethod
    def is_empty(content: Any) -> bool:
        # An empty text with a signature is not empty: the signature is sent in a thought.
        return StreamEncoder.is_empty(content) and not is_signed(content)

    def open_block(self, block: OutgoingBlock) -> None:
        steps = self.encode_start(block.content)
        kind = steps[0]["type"] if len(steps) == 1 else ""
        if kind not in GROWTH or (kind == "function_call" and not _is_object(block.content, steps[0])):
            return
        parts = [*list_of(steps[0], "content"), *list_of(steps[0], "summary")]
        if any(part.get("type") != "text" for part in parts):
            return
        self.begin_block(steps[0])
        block.grow = self._growing(kind)
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
        kind = {TextContent: "model_output", ReasoningContent: "thought"}.get(block.content.__class__, "function_call")
        return next((step for step in wires if step["type"] == kind), {"type": kind})

    def begin_block(self, wire: dict[str, Any]) -> None:
        self._stop_last()
        start = wire
        if wire["type"] in GROWTH:
            start = {key: value for key, value in wire.items() if key not in ("content", "summary", "signature")}
            if "arguments" in start:
                start = {**start, "arguments": {}}
        self._put("step.start", index=self.count, step=start)

    def end_block(self, wire: dict[str, Any], *, sent: int = 0, is_complete: bool = True) -> None:
        for delta in _deltas(wire, sent):
            self._delta(delta)
        self._is_unstopped = is_complete
        self.count += 1

    def _stop_last(self) -> None:
        if self._is_unstopped:
            self._is_unstopped = False
            self._put("step.stop", index=self.count - 1)

    def cite_late(self, place: BlockPlace, content: Any, written: Written) -> None:
        if not self._is_unstopped or written.place != self.count - 1:
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
        self._stop_last()
        payload = self.encode_envelope(event)
        payload.pop("steps", None)
        self._put("interaction.completed", interaction={"id": "", "status": "completed", **payload})

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        self._stop_last()
        self._put("error", error=object_of(payload, "error"))

    def wire_event(self, event: WireEvent) -> None:
        self.put(event.data, event.name)


def _deltas(step: dict[str, Any], sent: int) -> list[dict[str, Any]]:
    """Return the deltas of a step, without the first `sent` characters of its text."""
    if step["type"] == "function_call":
        arguments = step.get("arguments")
        text = arguments if isinstance(arguments, str) else write(arguments).decode() if arguments else ""
        return [{"type": "arguments_delta", "arguments": text[sent:]}] if text[sent:] else []
    deltas: list[dict[str, Any]] = []
    for part in objects_of(step, "content") if step["type"] == "model_output" else ():
        if part.get("type") != "text":
            deltas.append(part)
            continue
        rest = {key: value for key, value in part.items() if key != "annotations"}
        if len(rest) > 2 or rest["text"][sent:] or not sent:
            deltas.append({**rest, "text": rest["text"][sent:]})
        if part.get("annotations"):
            deltas.append({"type": "text_annotation_delta", "annotations": part["annotations"]})
        sent = 0
    for part in objects_of(step, "summary") if step["type"] == "thought" else ():
        if len(part) > 2 or part["text"][sent:] or not sent:
            deltas.append({"type": "thought_summary", "content": {**part, "text": part["text"][sent:]}})
        sent = 0
    if step["type"] == "thought" and "signature" in step:
        deltas.append({"type": "thought_signature", "signature": step["signature"]})
    return deltas


def _is_object(content: Any, step: dict[str, Any]) -> bool:
    """Return whether a step has the arguments of its call unchanged. Free text is changed: it is put into an object."""
    return bool(step.get("arguments") == (content.arguments or {}))
