"""Streams of Interactions: steps that grow (google-genai 3.4, _gaos/types/interactions; November 2026).

A delta is appended to the open step of its index. The last event has the whole answer, usually without its steps. Steps
are written one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel.authoring import (
    TEXT_HERE,
    ArgumentsDelta,
    BlockEncoder,
    BlockParts,
    BlockPlace,
    BlockState,
    CitationDelta,
    Layout,
    MediaDelta,
    NamedEvent,
    OutgoingBlock,
    ReasoningDelta,
    SignatureDelta,
    StreamDecoder,
    TextDelta,
    UnknownDelta,
    Written,
    contents_of,
    decode_call,
    extended,
    layout_of,
    list_of,
    merge_into,
    object_at,
    object_of,
    objects_of,
    place_at,
    reasons,
    text_of,
    write,
)
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import TurnComplete, TurnError, WireEvent
from contentmodel_adapters.common.reasoning import is_signed
from contentmodel_adapters.google.interactions.table import (
    API,
    CITATIONS,
    CONTENT,
    LISTS,
    STEP,
    TABLE,
    USAGE,
    decode_step,
    is_outputs,
)

# -- reading -----------------------------------------------------------------------------------------------------------

EVENTS = (
    *("interaction.created", "interaction.status_update", "interaction.completed"),
    *("step.start", "step.delta", "step.stop", "error"),
)
TABLE.known_values("stream event", *EVENTS)
OLDER = {
    "interaction.start": "interaction.created",
    "interaction.complete": "interaction.completed",
    **{f"content.{name}": f"step.{name}" for name in ("start", "delta", "stop")},
}
"""The events before `Api-Revision: 2026-05-20`, when each content was an item of the answer (seen 2026-11-28).

Proxies and recordings still have them (earendil-works/pi#2172, BerriAI/litellm#28153).
"""
# Contents whose data come in several deltas.
GROWING_MEDIA = ("audio", "video")


class Step:
    """The state of one step: its wire object, and its blocks. If it has a list of contents, each content is a block."""

    __slots__ = ("blocks", "decoded", "field", "wire")

    def __init__(self, wire: dict[str, Any]) -> None:
        self.field = LISTS[wire["type"]][0] if text_of(wire, "type") in LISTS else None
        self.wire = wire
        self.blocks: list[BlockState] = []
        self.decoded: tuple[str, list[Any]] | None = None
        """The decoded role and contents; None until the step is stopped."""

    def whole(self) -> dict[str, Any]:
        """Return the wire step with everything that was appended to it."""
        for block in self.blocks:
            block.merge_pieces()
        parts = [block.wire for block in self.blocks if block.wire]
        if self.field is None:
            return {**self.wire, **(parts[0] if parts else {})}
        return {**self.wire, self.field: parts} if parts else self.wire


class Decoder(StreamDecoder):
    """Decode one answer event by event."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._steps: dict[int, Step] = {}

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        kind = text_of(wire, "event_type") or name
        if kind in OLDER and (renewed := self._renewed(kind, wire)) is not None:
            kind, wire = OLDER[kind], renewed
        if kind == "step.delta":
            self._grow(place_at(wire, "index", API), object_at(wire, "delta", API))
            self._count(object_of(object_of(wire, "metadata"), "total_usage"))
        elif kind == "step.start":
            self._begin_step(place_at(wire, "index", API), object_at(wire, "step", API))
        elif kind == "step.stop":
            self._stop_step(self._steps.get(place_at(wire, "index", API)))
            self._count(object_of(wire, "usage"))
        elif kind == "interaction.created":
            self._merge(object_at(wire, "interaction", API))
            self.begin(self.answer)
        elif kind == "interaction.status_update":
            merge_into(self.answer, {key: wire[key] for key in ("status", "continuation_token") if key in wire})
            self._count(object_of(wire, "usage"))
        elif kind == "interaction.completed":
            self._complete_with(object_at(wire, "interaction", API))
        elif kind == "error":
            self.fail_with({"error": object_of(wire, "error")})
        else:
            self.wire_event(name or kind, wire)

    def _renewed(self, kind: str, wire: dict[str, Any]) -> dict[str, Any] | None:
        """Return an older event in the present form. The first delta of a content may start its step.

        Return None for the start of a call or result, which has only its type: its delta has all the rest.
        """
        wire = {"index": max(self._steps, default=0), **wire}
        if kind == "content.start":
            step = step_of(object_of(wire, "content"))
            return {**wire, "step": step} if len(step) > 1 or text_of(step, "type") in LISTS else None
        if kind == "interaction.complete" and self._steps:
            # The contents were sent already.
            answer = {key: value for key, value in object_of(wire, "interaction").items() if key != "outputs"}
            return {**wire, "interaction": answer}
        delta = object_of(wire, "delta")
        if delta.get("type") == "thought_summary":
            delta = {**delta, "content": {"type": "text", **object_of(delta, "content")}}
        place, begun = place_at(wire, "index", API), {"type": text_of(delta, "type")}
        if kind == "content.delta" and place not in self._steps:
            is_listed = step_of(begun)["type"] in LISTS
            self._begin_step(place, step_of(begun if is_listed else {**delta}))
            delta = delta if is_listed else begun
        return {**wire, "delta": delta}

    def _merge(self, interaction: dict[str, Any]) -> None:
        """Merge an answer without its steps. An empty id means that the server does not store it."""
        fields = {key: value for key, value in interaction.items() if key != "steps" and (key, value) != ("id", "")}
        merge_into(self.answer, fields)

    def _count(self, usage: dict[str, Any]) -> None:
        if usage:
            self.answer["usage"] = usage
            self.count(USAGE, usage)

    # -- steps -------------------------------------------------------------------------------------------------

    def _begin_step(self, place: int, wire: dict[str, Any]) -> None:
        self.begin(self.answer)
        step = self._steps[place] = Step(dict(wire))
        if step.field is None:
            content = decode_step({**wire}, [wire], 0, self.context())[1][0]
            if getattr(content, "arguments", None) == {}:
                content = msgspec.structs.replace(content, arguments="")
            step.blocks.append(self.start({}, content))
            return
        for part in list_of(step.wire, step.field):
            self._part(step, part)
        if step.wire["type"] == "thought" and not step.blocks:
            step.blocks.append(self.start({}, decode_step(step.wire, [wire], 0, self.context())[1][0]))

    def _part(self, step: Step, part: dict[str, Any]) -> BlockState:
        """Start a content of a step. Only the first one has the fields of the step."""
        around = {"type": step.wire["type"]} if step.blocks else step.wire
        contents = decode_step({**around, step.field: [{**part}]}, [part], 0, self.context())[1]  # type: ignore[dict-item]
        if step.blocks:
            extra = {
                api: residue for api, residue in (contents[0].extra or {}).items() if residue.keys() != {STEP.key}
            } or None
            contents[0] = msgspec.structs.replace(contents[0], extra=extra)
        step.blocks.append(self.start({**part}, contents[0]))
        return step.blocks[-1]

    def _grow(self, place: int, delta: dict[str, Any]) -> None:
        step = self._steps.get(place)
        if step is None or step.decoded is not None:
            raise DecodeError(API, [Fault("$.index", f"step {place} is not open")])
        kind = delta.get("type")
        last = step.blocks[-1] if step.blocks else None
        if step.wire.get("type") == "thought" and last is not None:
            self._think(step, last, delta)
        elif step.field is not None:
            self._output(step, last, delta)
        elif kind == "arguments_delta" and last is not None and delta.get("arguments").__class__ is str:
            self.more(last, "arguments", delta["arguments"], ArgumentsDelta)
        elif last is not None:
            # The delta of a hosted tool has the fields of its step.
            step.wire = extended(step.wire, {key: value for key, value in delta.items() if key != "type"})
            self.emit(UnknownDelta(index=last.index, api=API, delta=delta))

    def _think(self, step: Step, last: BlockState, delta: dict[str, Any]) -> None:
        content = object_of(delta, "content")
        if delta.get("type") == "thought_summary" and content:
            self._summarize(step, last, content)
        elif delta.get("type") == "thought_signature" and delta.get("signature").__class__ is str:
            step.wire["signature"] = step.wire.get("signature", "") + delta["signature"]
            signature = decode_step({"type": "thought", **step.wire}, [], 0, self.context())[1][-1].protected
            if signature is not None:
                self.emit(SignatureDelta(index=last.index, protected=signature))
        else:
            self.emit(UnknownDelta(index=last.index, api=API, delta=delta))

    def _summarize(self, step: Step, last: BlockState, content: dict[str, Any]) -> None:
        """Append to the text of a thought, or begin another part of its summary."""
        other_fields = {key: value for key, value in content.items() if key != "text"}
        is_text = content.get("type") == "text" and content.get("text").__class__ is str
        if last.wire and not (is_text and last.wire.get("type") == "text"):
            last = self._part(step, {**other_fields, "text": ""} if is_text else content)
        elif is_text:
            last.wire.update({"text": last.wire.get("text", ""), **other_fields})
        else:
            last.wire.update(content)
        if is_text:
            self.more(last, "text", content["text"], ReasoningDelta)

    def _output(self, step: Step, last: BlockState | None, delta: dict[str, Any]) -> None:
        kind, text = delta.get("type"), delta.get("text")
        open_kind = None if last is None else last.wire.get("type")
        if kind == "text_annotation_delta" and last is not None and open_kind == "text":
            for citation in objects_of(delta, "annotations"):
                last.wire["annotations"] = [*list_of(last.wire, "annotations"), citation]
                self.emit(CitationDelta(index=last.index, citation=CITATIONS.decode(citation, self.context())))
        elif kind == "text" and text.__class__ is str:
            if last is None or open_kind != "text":
                last = self._part(step, {**delta, "text": ""})
            last.wire.update({key: value for key, value in delta.items() if key != "text"})
            self.more(last, "text", text, TextDelta)
        elif last is not None and kind == open_kind and kind in GROWING_MEDIA and delta.get("data").__class__ is str:
            last.grow("data", delta["data"])
            self.emit(MediaDelta(index=last.index, data=delta["data"]))
        else:
            self._part(step, delta)

    def _stop_step(self, step: Step | None, *, is_complete: bool = True) -> None:
        if step is None or step.decoded is not None:
            return
        context, typed = self.context(), "".join(p for b in step.blocks for p in b.pieces.get("arguments", ()))
        wire = step.wire = step.whole()
        if typed:
            role = "assistant"
            contents = [decode_call(wire, "arguments", typed, lambda call: decode_step(call, [call], 0, context)[1][0])]
        else:
            role, contents = decode_step(wire, [wire], 0, context)
        context.finish(wire)
        step.decoded = role, contents
        for block, content in zip(step.blocks, contents[: len(step.blocks)], strict=True):
            self.stop(block, content, is_complete=is_complete)
        step.blocks += [self.whole(content) for content in contents[len(step.blocks) :]]

    # -- the end -----------------------------------------------------------------------------------------------

    def _complete_with(self, interaction: dict[str, Any]) -> None:
        if not self._steps and is_outputs(interaction.get("outputs")):
            self._complete_with_outputs(interaction)
            return
        for place, wire in enumerate(list_of(interaction, "steps")):
            if place not in self._steps and wire.__class__ is dict:
                self._begin_step(place, wire)
        self._merge(interaction)
        if not self._steps:
            self.answer["steps"] = interaction.get("steps", [])
        self.begin(self.answer)
        for step in self._steps.values():
            self._stop_step(step)
        wire, layout = self.broken()
        self.complete(self._read_answer(wire), layout)

    def _complete_with_outputs(self, interaction: dict[str, Any]) -> None:
        """Complete an answer in the form that it had before steps. Its contents had no events."""
        self._merge(interaction)
        self.begin({key: value for key, value in self.answer.items() if key != "outputs"})
        response = self.adapter.read_response(self.answer)
        blocks = [self.whole(content).index for content in contents_of(response.messages)]
        self.complete(response, [[blocks]])

    def _read_answer(self, wire: dict[str, Any]) -> Any:
        return self.adapter.read_response(wire, {id(s.wire): s.decoded for s in self._steps.values() if s.decoded})

    def stop_open(self) -> None:
        for step in self._steps.values():
            self._stop_step(step, is_complete=False)

    def broken(self) -> tuple[dict[str, Any], Layout]:
        if not self._has_begun:
            return {}, []
        steps = [self._steps[place] for place in sorted(self._steps)]
        wire = {**self.answer, "steps": [step.wire for step in steps]} if steps else self.answer
        blocks = [block.index for step in steps for block in step.blocks]
        response = self._read_answer(wire)
        return wire, layout_of(response, [blocks] * len(response.choices))


def step_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return the step that begins with a content of an older answer. Thoughts and calls are steps."""
    kind = text_of(content, "type")
    if kind.startswith("thought"):
        return {**content, "type": "thought"} if kind == "thought" else {"type": "thought"}
    if not CONTENT.knows(content):
        return content
    return {"type": "model_output", **({"content": [content]} if len(content) > 1 else {})}


# -- writing -----------------------------------------------------------------------------------------------------------

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
        in_deltas = {_KEYS[kind]} if parts else set()
        if kind == "thought" and isinstance(wire.get("signature"), str):
            in_deltas.add("signature")
        start = {key: value for key, value in wire.items() if key not in in_deltas}
        if kind == "function_call":
            arguments = wire.get("arguments")
            text = arguments if isinstance(arguments, str) else write(arguments).decode() if arguments else ""
            start |= {"arguments": {}} if "arguments" in wire else {}
            return BlockParts(start, {"type": "arguments_delta", "arguments": TEXT_HERE}, text)
        if kind not in DELTAS:
            return BlockParts(start)
        deltas = [delta for part in parts for delta in DELTAS[kind](part)]
        if "signature" in in_deltas:
            deltas.append({"type": "thought_signature", "signature": wire["signature"]})
        first = parts[0] if parts else {"type": "text", "text": ""}
        if not _is_text(first):
            return BlockParts(start, rest=tuple(deltas))
        growth, more_deltas = DELTAS[kind]({**first, "text": TEXT_HERE})[0], deltas[1:] if parts else deltas
        return BlockParts(start, growth, first["text"], tuple(more_deltas), needs_text=bool(parts))

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
    contents = list_of(step, _KEYS.get(text_of(step, "type"), ""))
    return contents if {dict}.issuperset(map(type, contents)) else []


_KEYS = {kind: LISTS[kind][0] for kind in ("model_output", "thought")}


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
