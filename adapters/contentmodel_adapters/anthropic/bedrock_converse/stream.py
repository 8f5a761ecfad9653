"""Decode streams of ConverseStream (botocore 1.43.117; November 2026).

Texts and reasoning have no start: their first delta starts the block. A streamed citation is a delta of the text that
has it. The usage comes after the stop reason.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsDelta,
    BlockDecoder,
    BlockState,
    ReasoningDelta,
    TextDelta,
    UnknownDelta,
    list_of,
    merge_into,
    object_at,
    object_of,
    place_at,
)
from contentmodel_adapters.anthropic.aws_errors import is_exception, wire_of_exception
from contentmodel_adapters.anthropic.bedrock_converse.response import USAGE
from contentmodel_adapters.anthropic.bedrock_converse.table import API, CITATIONS, CONTENT

EVENTS = frozenset(
    {
        *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"),
        *("internalServerException", "modelStreamErrorException", "validationException", "throttlingException"),
        "serviceUnavailableException",
    }
)
IMAGE, REDACTED = "image.source.bytes", "reasoningContent.redactedContent"
"""The fields whose base64 arrives in pieces."""
PLACEHOLDER = {"text": ""}
CALL = {"toolUse": {"toolUseId": "", "name": "", "input": {}}}
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
        content = [CALL if self._has_calls else PLACEHOLDER] * is_begun
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
            known = self._grow_by(block, key, value)
            if not known:
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
            known = {**before, **source}
            if source.get("bytes").__class__ is str:
                block.grow(IMAGE, source["bytes"])
                known["bytes"] = before.get("bytes", "")
            value = {**value, "source": known}
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
                block.grow(REDACTED, part)
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
        wire = block.merge_pieces(base64=(IMAGE, REDACTED))
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
