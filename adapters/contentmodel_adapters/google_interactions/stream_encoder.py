"""Encode streams of Interactions: steps are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    SSE,
    OutgoingBlock,
    StreamEncoder,
    Written,
    growing,
    list_of,
    object_of,
    objects_of,
    reasons,
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


class Encoder(StreamEncoder):
    """Encode one answer as the events of Interactions."""

    _count = 0
    _is_unstopped = False
    """True if the last step is written but not stopped: citations of its text may still arrive."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {"id": "", **{key: value for key, value in payload.items() if key not in ("steps", "usage")}}
        self._put("interaction.created", interaction={**head, "status": "in_progress"})

    def _put(self, kind: str, **fields: Any) -> None:
        self.put({**fields, "event_type": kind}, kind)

    def _delta(self, delta: dict[str, Any]) -> None:
        self._put("step.delta", index=self._count, delta=delta)

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
        self._begin_step(steps[0])
        block.grow = self._growing(kind)
        self.write_begun(block)

    def _growing(self, kind: str) -> Callable[[str], bytes]:
        """Return a function that writes more text of the step that was just started."""
        begin, end = GROWTH[kind]
        head = b'{"index":%d,"delta":%b' % (self._count, begin)
        tail = end + b',"event_type":"step.delta"}'
        if self.stream_format is SSE:
            return growing(b"event: step.delta\ndata: " + head, tail + b"\n\n")
        grown = growing(head, tail)
        return lambda more: self.stream_format.write(grown(more), "step.delta")

    def break_off(self, block: OutgoingBlock) -> None:
        super().break_off(block)
        self._count += block.grow is not None

    def close_block(self, block: OutgoingBlock) -> None:
        live = block.grow is not None
        steps = self.encode_block(block)
        # A signature that arrived after the text is a second step, a thought. Find the step that was started.
        kind = {TextContent: "model_output", ReasoningContent: "thought"}.get(block.content.__class__, "function_call")
        own = next((step for step in steps if live and step["type"] == kind), None)
        if live:
            self._end_step(block, own or {"type": kind}, sent=block.sent)
        for step in steps:
            if step is not own:
                self._begin_step(step)
                self._end_step(block, step, sent=0)
        block.cited = len(block.content.annotations or ())

    def _begin_step(self, step: dict[str, Any]) -> None:
        """Start a step, without the fields that its deltas send."""
        self._stop_last()
        start = step
        if step["type"] in GROWTH:
            start = {key: value for key, value in step.items() if key not in ("content", "summary", "signature")}
            if "arguments" in start:
                start = {**start, "arguments": {}}
        self._put("step.start", index=self._count, step=start)

    def _end_step(self, block: OutgoingBlock, step: dict[str, Any], *, sent: int) -> None:
        for delta in _deltas(step, sent):
            self._delta(delta)
        self._is_unstopped, block.place = block.is_complete, self._count
        self._count += 1

    def _stop_last(self) -> None:
        if self._is_unstopped:
            self._is_unstopped = False
            self._put("step.stop", index=self._count - 1)

    def amend(self, index: int, content: Any, written: Written) -> None:
        text = content.text if isinstance(content, TextContent | ReasoningContent) else ""
        if len(text) > written.sent:
            rest = content.__class__(text=text[written.sent :])
            for step in self.encode([rest], places=[(0, index)]):
                self._begin_step(step)
                self._end_step(OutgoingBlock(index, content, 0), step, sent=0)
            written.sent = len(text)
        elif len(content.annotations or ()) > written.cited and self._is_unstopped and written.place == self._count - 1:
            for step in self.encode([content], places=[(0, index)]):
                for part in objects_of(step, "content"):
                    added = list_of(part, "annotations")[written.cited :]
                    delta = {"type": "text_annotation_delta", "annotations": added}
                    self._put("step.delta", index=written.place, delta=delta)
            written.cited = len(content.annotations)
        elif len(content.annotations or ()) > written.cited:
            self.report_loss((0, index), content, reasons.AFTER_BLOCK, field="annotations")
        elif written.call is not None:
            self.report_loss((0, index), content, reasons.CHANGED_AFTER_WRITE)

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
