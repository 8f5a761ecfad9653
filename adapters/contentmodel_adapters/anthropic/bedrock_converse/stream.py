"""Streams of ConverseStream, in binary frames: blocks grow and stop one after the other (botocore 1.43.117; Nov. 2026).

Texts and reasoning have no start: their first delta starts the block. A streamed citation is a delta of the text that
has it. The usage comes after the stop reason.
"""

from __future__ import annotations

from typing import Any, ClassVar

from contentmodel.authoring import (
    TEXT_HERE,
    ArgumentsDelta,
    BlockDecoder,
    BlockEncoder,
    BlockParts,
    BlockState,
    EncodeContext,
    NamedEvent,
    OutgoingBlock,
    ReasoningDelta,
    TextDelta,
    UnknownDelta,
    list_of,
    merge_into,
    object_at,
    object_of,
    place_at,
    reasons,
    write,
)
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.anthropic.aws_errors import exception_of, is_exception, wire_of_exception
from contentmodel_adapters.anthropic.bedrock_converse.response import USAGE
from contentmodel_adapters.anthropic.bedrock_converse.table import API, CITATIONS, CITED_TEXT, CONTENT

# -- reading -----------------------------------------------------------------------------------------------------------

EVENTS = frozenset(
    {
        *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"),
        *("internalServerException", "modelStreamErrorException", "validationException", "throttlingException"),
        "serviceUnavailableException",
    }
)
IMAGE, REDACTED_DATA = "image.source.bytes", "reasoningContent.redactedContent"
"""The fields whose base64 arrives in pieces."""
PLACEHOLDER = {"text": ""}
CALL_PLACEHOLDER = {"toolUse": {"toolUseId": "", "name": "", "input": {}}}
"""The placeholder of an answer with calls. The finish reason depends on them."""


class Decoder(BlockDecoder):
    """Decode one answer event by event. Finished blocks are not kept, except reasoning of an unknown model."""

    blocks, citations, arguments = CONTENT, CITATIONS, "toolUse.input"

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._role: dict[str, Any] = {"role": "assistant"}
        self._has_calls = False
        self._unnamed: list[BlockState] = []
        """Finished reasoning. A prompt router names the model, which made its state, at the end of the stream."""

    def assume_model(self, model: str) -> None:
        self.answer = {"modelId": model, **self.answer}

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        if name is None:
            # The SDKs have the name as the only key of an event.
            name = next((key for key in wire if key in EVENTS), None)
            wire = wire if name is None else object_at(wire, name, API)
        if "p" in wire:
            wire = {key: value for key, value in wire.items() if key != "p"}
        if name == "contentBlockDelta":
            self._grow(place_at(wire, "contentBlockIndex", API), object_at(wire, "delta", API))
        elif name == "contentBlockStart":
            self._start(place_at(wire, "contentBlockIndex", API), object_at(wire, "start", API))
        elif name == "contentBlockStop":
            self.end_block(place_at(wire, "contentBlockIndex", API))
        elif name == "messageStart":
            # The API does not name the model; an application may.
            self.answer |= {key: value for key, value in wire.items() if key == "modelId"}
            self._role |= {key: value for key, value in wire.items() if key != "modelId"}
            self.begin(self.answer_with(is_begun=False))
        elif name == "messageStop":
            merge_into(self.answer, wire)
            self._finish_if_known()
        elif name == "metadata":
            merge_into(self.answer, wire)
            self.count(USAGE, self.answer.get("usage"))
            self._finish_if_known()
        elif is_exception(name, wire):
            self.fail_with(wire_of_exception(name or "", wire))
        else:
            self.wire_event(name, wire)

    def answer_with(self, is_begun: bool) -> dict[str, Any]:
        content = [CALL_PLACEHOLDER if self._has_calls else PLACEHOLDER] * is_begun
        return {**self.answer, "output": {"message": {**self._role, "content": content}}}

    def _finish_if_known(self) -> None:
        """Finish when both the stop reason and the metadata are known, in any order."""
        if "stopReason" in self.answer and "usage" in self.answer:
            self.finish()

    def is_ready(self) -> bool:
        return "stopReason" in self.answer

    # -- blocks ------------------------------------------------------------------------------------------------

    def _start(self, place: int, wire: dict[str, Any]) -> BlockState:
        # Blocks follow each other. Some servers do not stop them.
        for before in list(self.open):
            self.end_block(before)
        self.begin(self.answer_with(is_begun=False))
        if wire.get("toolUse").__class__ is dict:
            wire = {**wire, "toolUse": {"input": {}, **wire["toolUse"]}}
        elif wire.get("toolResult").__class__ is dict:
            wire = {**wire, "toolResult": {**wire["toolResult"], "content": [*list_of(wire["toolResult"], "content")]}}
        return self.begin_block(place, wire)

    def _grow(self, place: int, delta: dict[str, Any]) -> None:
        block = self.open.get(place)
        if block is None:
            block = self._start(place, _beginning(delta))
        for key, value in delta.items():
            is_known = self._grow_by(block, key, value)
            if not is_known:
                self.emit(UnknownDelta(index=block.index, api=API, delta={key: value}))

    def _grow_by(self, block: BlockState, key: str, value: Any) -> bool:
        """Merge one member of a delta into a block. Return whether its form is known."""
        if key == "text" and value.__class__ is str:
            self.more(block, "text", value, TextDelta)
        elif key == "citation" and value.__class__ is dict:
            self.cite(block, value)
        elif key == "toolUse" and value.__class__ is dict and value.get("input").__class__ is str:
            self.more(block, self.arguments, value["input"], ArgumentsDelta)
        elif key == "reasoningContent" and value.__class__ is dict:
            return self._reason(block, value)
        elif key == "toolResult" and value.__class__ is list:
            _extend(block.wire.setdefault("toolResult", {}).setdefault("content", []), value)
        elif key == "image" and value.__class__ is dict:
            self._append_image(block, value)
        else:
            return False
        return True

    def _append_image(self, block: BlockState, value: dict[str, Any]) -> None:
        """Merge a part of an image. Its bytes arrive in pieces, each encoded by itself."""
        image, source = object_of(block.wire, "image"), object_of(value, "source")
        if source:
            before = object_of(image, "source")
            merged = {**before, **source}
            if source.get("bytes").__class__ is str:
                block.grow(IMAGE, source["bytes"])
                merged["bytes"] = before.get("bytes", "")
            value = {**value, "source": merged}
        block.wire["image"] = {**image, **value}

    def _reason(self, block: BlockState, value: dict[str, Any]) -> bool:
        reasoning = block.wire.setdefault("reasoningContent", {})
        for key, part in value.items():
            if key == "text" and part.__class__ is str:
                self.more(block, "reasoningContent.reasoningText.text", part, ReasoningDelta)
            elif key == "signature" and part.__class__ is str:
                text = reasoning.setdefault("reasoningText", {"text": ""})
                text["signature"] = text.get("signature", "") + part
                self.sign(block)
            elif key == "redactedContent" and part.__class__ is str:
                reasoning.setdefault("redactedContent", "")
                block.grow(REDACTED_DATA, part)
            else:
                return False
        return True

    def end_block(self, place: int, *, is_complete: bool = True) -> BlockState | None:
        block = super().end_block(place, is_complete=is_complete)
        if block is not None:
            self._has_calls = self._has_calls or getattr(block.emitted, "executor", None) == "client"
            if "reasoningContent" in block.wire and self.origin().model is None:
                self._unnamed.append(block)
        return block

    def merge(self, block: BlockState) -> dict[str, Any]:
        wire = block.merge_pieces(base64=(IMAGE, REDACTED_DATA))
        if "citations" in wire:
            text, citations = wire.pop("text", ""), wire.pop("citations")
            wire["citationsContent"] = {"content": [{"text": text}], "citations": citations}
        return wire

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self) -> None:
        for place in list(self.open):
            self.end_block(place)
        for block in self._unnamed if self.origin().model is not None else ():
            self.catch_up(block, self.decode_block(block.wire))
        super().finish()


def _beginning(delta: dict[str, Any]) -> dict[str, Any]:
    """Return the wire object of a block that begins with a delta, without the text of the delta."""
    reasoning = object_of(delta, "reasoningContent")
    if "redactedContent" in reasoning:
        return {"reasoningContent": {"redactedContent": ""}}
    if "reasoningContent" in delta:
        return {"reasoningContent": {"reasoningText": {"text": ""}}}
    return {"text": ""} if "text" in delta or "citation" in delta else {}


def _extend(content: list[Any], deltas: list[Any]) -> None:
    """Append to the content of a result. A text at the start of a delta continues the text before it."""
    if content and deltas and _is_text(content[-1]) and _is_text(deltas[0]):
        content[-1] = {"text": content[-1]["text"] + deltas[0]["text"]}
        deltas = deltas[1:]
    content += deltas


def _is_text(part: Any) -> bool:
    return part.__class__ is dict and part.keys() == {"text"} and part["text"].__class__ is str


# -- writing -----------------------------------------------------------------------------------------------------------

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
        streamed = [wire for wire in wires if not wire.keys() & _WHOLE_ONLY]
        for content in contents if len(streamed) < len(wires) else ():
            point = content.cache_point if streamed else None
            context.report_loss(point or content, None, NOT_STREAMED)
        return streamed

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
        other_fields = {name: value for name, value in payload.items() if name not in (*names, "output", "modelId")}
        if other_fields:
            self.put(other_fields, "metadata")

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
    call = object_of(wire, "toolUse")
    if call.get("input").__class__ in (dict, str):
        start = {**wire, "toolUse": {key: value for key, value in call.items() if key != "input"}}
        text = call["input"] if call["input"].__class__ is str else write(call["input"]).decode()
        return BlockParts(start, {"toolUse": {"input": TEXT_HERE}}, "" if call["input"] == {} else text)
    if len(wire) != 1:
        return None
    if wire.get("text").__class__ is str:
        return BlockParts(None, {"text": TEXT_HERE}, wire["text"], needs_text=True)
    cited = object_of(wire, "citationsContent")
    parts = list_of(cited, "content")
    if cited and cited.keys() <= {"content", "citations"} and all(map(CITED_TEXT.is_part, parts)):
        text = CITED_TEXT.text_of(parts)
        citations = tuple({"citation": citation} for citation in list_of(cited, "citations"))
        return BlockParts(None, {"text": TEXT_HERE}, text, citations, needs_text=True)
    thought = object_of(object_of(wire, "reasoningContent"), "reasoningText")
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
    streamed = [output for output in content.output_list if isinstance(output, TextContent | JsonContent)]
    if len(streamed) == len(content.output_list):
        return content
    for output in content.output_list:
        if not any(output is other for other in streamed):
            context.report_loss(output, None, NOT_STREAMED)
    return context.replace(content, outputs=streamed)
