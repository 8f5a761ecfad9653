"""Encode streams of ConverseStream: blocks are started, grown and stopped one after the other, in binary frames."""

from __future__ import annotations

from typing import Any, ClassVar

from contentmodel.authoring import (
    TEXT_HERE,
    BlockEncoder,
    BlockParts,
    EncodeContext,
    NamedEvent,
    OutgoingBlock,
    list_of,
    object_of,
    objects_of,
    reasons,
    write,
)
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.anthropic.aws_errors import exception_of

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


class Encoder(BlockEncoder):
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
        wires = self.adapter.encode_more([_with_streamed_outputs(c, context) for c in contents], context)
        kept = [wire for wire in wires if not wire.keys() & _WHOLE_ONLY]
        for content in contents if len(kept) < len(wires) else ():
            point = content.cache_point if kept else None
            context.report_loss(point or content, None, NOT_STREAMED)
        return kept

    def parts_of(self, wire: dict[str, Any]) -> BlockParts:
        parts = _growing_parts(wire)
        return _whole_parts(wire) if parts is None else parts

    def start_event(self, start: dict[str, Any]) -> NamedEvent:
        return {"start": start, "contentBlockIndex": self.count}, "contentBlockStart"

    def delta_event(self, delta: dict[str, Any]) -> NamedEvent:
        return {"delta": delta, "contentBlockIndex": self.count}, "contentBlockDelta"

    def stop_event(self) -> NamedEvent:
        return {"contentBlockIndex": self.count}, "contentBlockStop"

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
            elif self.is_native and event.response.finish_reason is not None:
                self.put({"stopReason": envelope["stopReason"]}, "messageStop")
        self.put(*exception_of(payload))


def _growing_parts(wire: dict[str, Any]) -> BlockParts | None:
    """Return the parts of a block whose text grows; None if it has none. Only calls have a start."""
    cited, reasoning, call = (object_of(wire, key) for key in ("citationsContent", "reasoningContent", "toolUse"))
    if call.get("input").__class__ in (dict, str):
        start = {**wire, "toolUse": {key: value for key, value in call.items() if key != "input"}}
        text = call["input"] if call["input"].__class__ is str else write(call["input"]).decode()
        return BlockParts(start, {"toolUse": {"input": TEXT_HERE}}, "" if call["input"] == {} else text)
    if len(wire) != 1:
        return None
    if wire.get("text").__class__ is str:
        return BlockParts(None, {"text": TEXT_HERE}, wire["text"], needs_text=True)
    if cited and cited.keys() <= {"content", "citations"}:
        text = "".join(part.get("text", "") for part in objects_of(cited, "content"))
        citations = tuple({"citation": citation} for citation in list_of(cited, "citations"))
        return BlockParts(None, {"text": TEXT_HERE}, text, citations, needs_text=True)
    thought = object_of(reasoning, "reasoningText")
    if thought.get("text").__class__ is str and thought.keys() <= {"text", "signature"}:
        signed = ({"reasoningContent": {"signature": thought["signature"]}},) if "signature" in thought else ()
        return BlockParts(None, {"reasoningContent": {"text": TEXT_HERE}}, thought["text"], signed, needs_text=True)
    return None


def _whole_parts(wire: dict[str, Any]) -> BlockParts:
    """Return the parts of a block whose text does not grow."""
    if object_of(wire, "reasoningContent").keys() == {"redactedContent"} and len(wire) == 1:
        return BlockParts(None, rest=(wire,))
    key = next((key for key in ("toolResult", "image") if wire.get(key).__class__ is dict), None)
    if key is None:
        return BlockParts(wire)
    sent = {name: value for name, value in wire[key].items() if name in ("content", "source", "error")}
    start = {**wire, key: {name: value for name, value in wire[key].items() if name not in sent}}
    delta = sent.get("content") if key == "toolResult" else sent
    return BlockParts(start, rest=({key: delta},) if delta else ())


def _with_streamed_outputs(content: Any, context: EncodeContext) -> Any:
    """Return a result with the outputs that a stream can have: texts and JSON values."""
    if not isinstance(content, ToolResultContent):
        return content
    kept = [output for output in content.output_list if isinstance(output, TextContent | JsonContent)]
    if len(kept) == len(content.output_list):
        return content
    for output in content.output_list:
        if not any(output is other for other in kept):
            context.report_loss(output, None, NOT_STREAMED)
    return context.replace(content, outputs=kept)
