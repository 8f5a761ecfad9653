"""Encode streams of ConverseStream: blocks are started, grown and stopped one after the other, in binary frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from contentmodel.authoring import (
    EncodeContext,
    OutgoingBlock,
    SequentialEncoder,
    list_of,
    object_of,
    objects_of,
    reasons,
    write,
)
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.shared.aws_errors import exception_of

NOT_STREAMED = reasons.dropped("bedrock-not-streamed", "{target} has no event for it in streams")
_WHOLE_ONLY = {
    "document",
    "video",
    "audio",
    "searchResult",
    "guardContent",
    "cachePoint",
    "toolAddition",
    "toolRemoval",
}
"""The blocks of an answer that a stream cannot have (ContentBlockStart and ContentBlockDelta, botocore 1.43.117)."""


class Encoder(SequentialEncoder):
    """Encode one answer as the events of ConverseStream."""

    empty_text: ClassVar[dict[str, Any]] = {"text": ""}

    def begin(self, payload: dict[str, Any]) -> None:
        role = object_of(object_of(payload, "output"), "message").get("role", "assistant")
        model = {"modelId": payload["modelId"]} if "modelId" in payload else {}
        self.put({"role": role, **model}, "messageStart")

    # -- blocks ------------------------------------------------------------------------------------------------

    def encode_block(self, block: OutgoingBlock) -> Any:
        return self.encode_with(self._encode_streamed, [block.content], [(block.choice, block.index)])

    def _encode_streamed(self, contents: list[Any], context: EncodeContext) -> list[dict[str, Any]]:
        """Encode a content to blocks that a stream can have. Report the others as lost."""
        wires = self.adapter.encode_contents([_with_streamed_outputs(c, context) for c in contents], context)
        kept = [wire for wire in wires if not wire.keys() & _WHOLE_ONLY]
        for content in contents if len(kept) < len(wires) else ():
            point = content.cache_point if kept else None
            context.report_loss(point or content, None, NOT_STREAMED)
        return kept

    def open_block(self, block: OutgoingBlock) -> None:
        wires = self.encode_start(block.content)
        if len(wires) != 1:
            return
        growth = growth_of(wires[0])
        if growth is None or not _is_growing(block.content, wires[0]):
            return
        self.begin_block(wires[0])
        place, make = self.count, growth[1]
        block.grow = lambda text: self._delta(place, make(text))
        self.write_begun(block)

    def _delta(self, place: int, delta: dict[str, Any]) -> bytes:
        data = write({"delta": delta, "contentBlockIndex": place})
        return self.stream_format.write(data, "contentBlockDelta")

    def begin_block(self, wire: dict[str, Any]) -> None:
        growth = growth_of(wire)
        start = _parts_of(wire)[0] if growth is None else growth[0]
        if start is not None:
            self.put({"start": start, "contentBlockIndex": self.count}, "contentBlockStart")

    def end_block(self, wire: dict[str, Any], *, sent: int = 0, is_complete: bool = True) -> None:
        growth = growth_of(wire)
        if growth is not None:
            start, make, text = growth
            left = text[sent:]
            if left or (not sent and start is None):
                self.put_raw(self._delta(self.count, make(left)))
        for delta in _parts_of(wire)[1] if growth is None else _after_text(wire):
            self.put_raw(self._delta(self.count, delta))
        if is_complete:
            self.put({"contentBlockIndex": self.count}, "contentBlockStop")
        self.count += 1

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        self._end_message(self.encode_envelope(event))

    def _end_message(self, payload: dict[str, Any]) -> None:
        names = ("stopReason", "additionalModelResponseFields")
        stop = {name: payload[name] for name in names if name in payload}
        if stop:
            self.put(stop, "messageStop")
        rest = {name: value for name, value in payload.items() if name not in (*names, "output", "modelId")}
        if rest:
            self.put(rest, "metadata")

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        if self._has_begun:
            # Send what was received before the error: the tokens or the stop reason. Both would end the message.
            envelope = self.encode_envelope(event)
            if event.response.usage is not None:
                self.put({"usage": envelope["usage"]}, "metadata")
            elif event.response.finish_reason is not None:
                self.put({"stopReason": envelope["stopReason"]}, "messageStop")
        self.put(*exception_of(payload))


Growth = tuple[dict[str, Any] | None, Callable[[str], dict[str, Any]], str]
"""The start of a block that grows (None if it has none), the delta for more text, and its text."""


def growth_of(wire: dict[str, Any]) -> Growth | None:
    """Return how a block grows; None if its text does not grow."""
    cited, reasoning, call = (object_of(wire, key) for key in ("citationsContent", "reasoningContent", "toolUse"))
    if wire.get("text").__class__ is str and len(wire) == 1:
        return None, lambda text: {"text": text}, wire["text"]
    if cited and cited.keys() <= {"content", "citations"} and len(wire) == 1:
        return None, lambda text: {"text": text}, "".join(part.get("text", "") for part in objects_of(cited, "content"))
    thought = object_of(reasoning, "reasoningText")
    if thought.get("text").__class__ is str and thought.keys() <= {"text", "signature"} and len(wire) == 1:
        return None, lambda text: {"reasoningContent": {"text": text}}, thought["text"]
    if call.get("input").__class__ in (dict, str):
        start = {**wire, "toolUse": {key: value for key, value in call.items() if key != "input"}}
        typed = call["input"] if call["input"].__class__ is str else write(call["input"]).decode()
        return start, lambda text: {"toolUse": {"input": text}}, "" if call["input"] == {} else typed
    return None


def _parts_of(wire: dict[str, Any]) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Return the start of a block whose text does not grow (None if it has none), and its deltas."""
    if object_of(wire, "reasoningContent").keys() == {"redactedContent"} and len(wire) == 1:
        return None, [wire]
    if wire.get("toolResult").__class__ is dict:
        result = dict(wire["toolResult"])
        content = result.pop("content", None)
        return {**wire, "toolResult": result}, [{"toolResult": content}] if content else []
    if wire.get("image").__class__ is dict:
        parts = {key: value for key, value in wire["image"].items() if key in ("source", "error")}
        image = {key: value for key, value in wire["image"].items() if key not in parts}
        return {**wire, "image": image}, [{"image": parts}] if parts else []
    return wire, []


def _with_streamed_outputs(content: Any, context: EncodeContext) -> Any:
    """Return a result with the outputs that a stream can have: texts and JSON values."""
    if not isinstance(content, ToolResultContent):
        return content
    kept = [output for output in content.outputs if isinstance(output, TextContent | JsonContent)]
    if len(kept) == len(content.outputs):
        return content
    for output in content.outputs:
        if not any(output is other for other in kept):
            context.report_loss(output, None, NOT_STREAMED)
    return context.replace(content, outputs=kept)


def _after_text(wire: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the deltas after the text of a block that grows: its citations, and its signature."""
    citations = list_of(object_of(wire, "citationsContent"), "citations")
    signature = object_of(object_of(wire, "reasoningContent"), "reasoningText").get("signature")
    signed = [] if signature is None else [{"reasoningContent": {"signature": signature}}]
    return [{"citation": citation} for citation in citations] + signed


def _is_growing(content: Any, wire: dict[str, Any]) -> bool:
    """Return whether the input is the call's arguments unchanged. Free text is not: it is inside an object."""
    call = object_of(wire, "toolUse")
    return not call or bool(call.get("input") == (content.arguments or {}))
