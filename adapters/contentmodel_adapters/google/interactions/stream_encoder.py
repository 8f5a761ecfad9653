"""Encode streams of Interactions: steps are started, grown and stopped one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    TEXT_HERE,
    BlockEncoder,
    BlockParts,
    BlockPlace,
    NamedEvent,
    OutgoingBlock,
    Written,
    list_of,
    object_of,
    objects_of,
    reasons,
    text_of,
    write,
)
from contentmodel.events import TurnComplete, TurnError, WireEvent
from contentmodel_adapters.common.google import is_signed
from contentmodel_adapters.google.interactions.stream import GROWING_MEDIA
from contentmodel_adapters.google.interactions.table import API, LISTS, STEP

GROWING = ("text", *GROWING_MEDIA)
NO_BORDER = reasons.moved(
    "google-interactions-no-border",
    "a stream of {target} cannot separate two contents of this type in one step: it becomes a step of its own",
)


class Encoder(BlockEncoder):
    """Encode one answer as the events of Interactions."""

    _unstopped: dict[str, Any] | None = None
    """The last step if it is written but not stopped: citations of its text, or more contents, may still arrive."""
    _last: int | None = None
    """The number of the last block, if nothing was written after it."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {"id": "", **{key: value for key, value in payload.items() if key not in ("steps", "usage")}}
        self._put("interaction.created", interaction={**head, "status": "in_progress"})

    def _put(self, kind: str, **fields: Any) -> None:
        self.put({**fields, "event_type": kind}, kind)

    # -- blocks ------------------------------------------------------------------------------------------------

    def is_empty(self, content: Any) -> bool:
        # An empty text with a signature is not empty: the signature is sent in a thought.
        return super().is_empty(content) and not is_signed(content)

    def parts_of(self, wire: dict[str, Any]) -> BlockParts:
        kind, parts = text_of(wire, "type"), _parts(wire)
        start = {key: value for key, value in wire.items() if not _is_in_deltas(key, value, wire)}
        if kind == "function_call":
            arguments = wire.get("arguments")
            text = arguments if isinstance(arguments, str) else write(arguments).decode() if arguments else ""
            start |= {"arguments": {}} if "arguments" in wire else {}
            return BlockParts(start, {"type": "arguments_delta", "arguments": TEXT_HERE}, text)
        if kind not in DELTAS:
            return BlockParts(start)
        deltas = [delta for part in parts for delta in DELTAS[kind](part)]
        if kind == "thought" and isinstance(wire.get("signature"), str):
            deltas.append({"type": "thought_signature", "signature": wire["signature"]})
        first = parts[0] if parts else {"type": "text", "text": ""}
        if not _is_text(first):
            return BlockParts(start, rest=tuple(deltas))
        growth, rest = DELTAS[kind]({**first, "text": TEXT_HERE})[0], deltas[1:] if parts else deltas
        return BlockParts(start, growth, first["text"], tuple(rest), needs_text=bool(parts))

    def start_event(self, start: dict[str, Any]) -> NamedEvent:
        return {"index": self.count, "step": start, "event_type": "step.start"}, "step.start"

    def delta_event(self, delta: dict[str, Any]) -> NamedEvent:
        return {"index": self.count, "delta": delta, "event_type": "step.delta"}, "step.delta"

    def begun_wire(self, block: OutgoingBlock, wires: list[dict[str, Any]]) -> dict[str, Any]:
        # A signature that arrived after the text is a second step, a thought. Find the step that was started.
        kind = block.state.start["type"]
        return next((step for step in wires if step.get("type") == kind), {"type": kind})

    def close_block(self, block: OutgoingBlock) -> None:
        super().close_block(block)
        self._last = block.index

    def begin_block(self, wire: dict[str, Any], parts: BlockParts, block: OutgoingBlock | None = None) -> None:
        self._last = None
        if block is not None and self._continues(block, wire):
            self.count -= 1
            return
        self._stop_last()
        super().begin_block(wire, parts, block)

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

    def stop_block(self, wire: dict[str, Any], *, is_complete: bool) -> None:
        self._unstopped = wire if is_complete else None

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


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)


def _outputs(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the deltas of a content of the output. The citations of a text have their own."""
    if not _is_text(part):
        return [part]
    rest, citations = {key: value for key, value in part.items() if key != "annotations"}, part.get("annotations")
    return [rest, {"type": "text_annotation_delta", "annotations": citations}] if citations else [rest]


DELTAS: dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]] = {
    "model_output": _outputs,
    "thought": lambda part: [{"type": "thought_summary", "content": part}],
}
"""By the type of a step, the deltas of one of its contents."""
