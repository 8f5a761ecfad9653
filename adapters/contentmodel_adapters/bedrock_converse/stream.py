"""Decode streams of ConverseStream (botocore 1.43.117; November 2026).

Texts and reasoning have no start: their first delta starts the block. A streamed citation is a delta of the text that
has it. The usage comes after the stop reason.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import (
    ArgumentsDelta,
    BlockState,
    CitationDelta,
    Layout,
    ReasoningDelta,
    SignatureDelta,
    StreamDecoder,
    TextDelta,
    UnknownDelta,
    join_base64,
    merge_into,
    object_at,
    object_of,
    object_or_text,
    place_at,
)
from contentmodel.content.tools import ToolCallContent
from contentmodel.errors import DecodeError, Fault
from contentmodel_adapters.bedrock_converse.blocks import API, CITATIONS, CONTENT
from contentmodel_adapters.bedrock_converse.response import USAGE
from contentmodel_adapters.shared.aws_errors import wire_of_exception

EVENTS = frozenset(
    {
        *("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"),
        *("internalServerException", "modelStreamErrorException", "validationException", "throttlingException"),
        "serviceUnavailableException",
    }
)
PLACEHOLDER = {"text": ""}
CALL = {"toolUse": {"toolUseId": "", "name": "", "input": {}}}
"""The placeholder of an answer with calls. The finish reason depends on them."""


class Decoder(StreamDecoder):
    """Decode one answer event by event. Finished blocks are not kept, except reasoning of an unknown model."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._open: dict[int, BlockState] = {}
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
            self._stop(place_at(wire, "contentBlockIndex", API))
        elif name == "messageStart":
            # The API does not name the model; an application may.
            self.answer |= {key: value for key, value in wire.items() if key == "modelId"}
            self._role |= {key: value for key, value in wire.items() if key != "modelId"}
            self.begin(self._answer())
        elif name == "messageStop":
            merge_into(self.answer, wire)
            self._finish_if_known()
        elif name == "metadata":
            merge_into(self.answer, wire)
            self.count(USAGE, self.answer.get("usage"))
            self._finish_if_known()
        elif name is not None and name.endswith("Exception"):
            self.fail_with(wire_of_exception(name, wire))
        else:
            self.wire_event(name, wire)

    def _answer(self) -> dict[str, Any]:
        content = [CALL if self._has_calls else PLACEHOLDER] * min(self._blocks, 1)
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
        for before in list(self._open):
            self._stop(before)
        self.begin(self._answer())
        wire = dict(wire)
        if wire.get("toolUse").__class__ is dict:
            wire["toolUse"] = {"input": {}, **wire["toolUse"]}
        elif wire.get("toolResult").__class__ is dict:
            wire["toolResult"] = {"content": [], **wire["toolResult"]}
        content = self._decode(wire)
        if getattr(content, "arguments", None) == {}:
            content = msgspec.structs.replace(content, arguments="")
        block = self._open[place] = self.start(wire, content)
        return block

    def _grow(self, place: int, delta: dict[str, Any]) -> None:
        block = self._open.get(place)
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
            block.wire.setdefault("citations", []).append(value)
            for citation in CITATIONS.decode_list([value], self.context()):
                self.emit(CitationDelta(index=block.index, citation=citation))
        elif key == "toolUse" and object_of({key: value}, key).get("input").__class__ is str:
            self.more(block, "input", value["input"], ArgumentsDelta)
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
                block.grow("bytes", source["bytes"])
                known["bytes"] = before.get("bytes", "")
            value = {**value, "source": known}
        block.wire["image"] = {**image, **value}

    def _reason(self, block: BlockState, value: dict[str, Any]) -> bool:
        reasoning = block.wire.setdefault("reasoningContent", {})
        for key, part in value.items():
            if key == "text" and part.__class__ is str:
                self.more(block, "reasoning", part, ReasoningDelta)
            elif key == "signature" and part.__class__ is str:
                text = reasoning.setdefault("reasoningText", {"text": ""})
                text["signature"] = text.get("signature", "") + part
                protected = self._decode(block.wire).protected
                if protected is not None:
                    self.emit(SignatureDelta(index=block.index, protected=protected))
            elif key == "redactedContent" and part.__class__ is str:
                reasoning.setdefault("redactedContent", "")
                block.grow("redactedContent", part)
            else:
                return False
        return True

    def _stop(self, place: int, *, is_complete: bool = True) -> None:
        block = self._open.pop(place, None)
        if block is not None:
            self.stop(block, self._finished(block), is_complete=is_complete)
            if "reasoningContent" in block.wire and self.origin().model is None:
                self._unnamed.append(block)

    def _finished(self, block: BlockState) -> Any:
        _join_bytes(block)
        texts = {field: "".join(pieces) for field, pieces in block.pieces.items()}
        block.joined = next(iter(texts.values()), "")
        block.pieces = {}
        wire, citations = block.wire, block.wire.pop("citations", None)
        if "text" in texts:
            wire["text"] = wire.get("text", "") + texts["text"]
        if citations is not None:
            text = wire.pop("text", "")
            wire["citationsContent"] = {"content": [{"text": text}], "citations": citations}
        if "reasoning" in texts:
            reasoning = wire["reasoningContent"].setdefault("reasoningText", {"text": ""})
            reasoning["text"] += texts["reasoning"]
        typed = texts.get("input", "")
        if typed:
            wire["toolUse"] = {**wire["toolUse"], "input": object_or_text(typed)}
        context = self.context()
        is_cut = typed and wire["toolUse"]["input"] is typed
        content = self._decode({**wire, "toolUse": {**wire["toolUse"], "input": {}}} if is_cut else wire, context)
        context.finish(wire)
        self._has_calls = self._has_calls or getattr(content, "executor", None) == "client"
        if is_cut and isinstance(content, ToolCallContent):
            # Mostly truncated arguments (max_tokens). An answer without streaming cannot have them.
            return msgspec.structs.replace(content, arguments=typed)
        return content

    def _decode(self, wire: dict[str, Any], context: Any = None) -> Any:
        return CONTENT.decode_list([wire], context or self.context())[0]

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self) -> None:
        if not self._has_begun:
            raise DecodeError(API, [Fault("$", "the message ends and has not started")])
        for place in list(self._open):
            self._stop(place)
        for block in self._unnamed if self.origin().model is not None else ():
            self.catch_up(block, self._decode(block.wire))
        wire, layout = self.broken()
        self.complete(self.adapter.read_response(wire), layout)

    def stop_open(self) -> None:
        for place in list(self._open):
            self._stop(place, is_complete=False)

    def broken(self) -> tuple[dict[str, Any], Layout]:
        if not self._has_begun:
            return {}, []
        return self._answer(), [[list(range(self._blocks))]]


def _beginning(delta: dict[str, Any]) -> dict[str, Any]:
    """Return the wire object of a block that begins with a delta, without the text of the delta."""
    reasoning = object_of(delta, "reasoningContent")
    if "redactedContent" in reasoning:
        return {"reasoningContent": {"redactedContent": ""}}
    if "reasoningContent" in delta:
        return {"reasoningContent": {"reasoningText": {"text": ""}}}
    return {"text": ""} if "text" in delta or "citation" in delta else {}


def _join_bytes(block: BlockState) -> None:
    """Write the pieces of an image or of redacted reasoning into the wire object."""
    source, reasoning = object_of(object_of(block.wire, "image"), "source"), object_of(block.wire, "reasoningContent")
    for owner, key in ((source, "bytes"), (reasoning, "redactedContent")):
        if key in block.pieces:
            owner[key] = join_base64([owner.get(key) or "", *block.pieces.pop(key)])


def _extend(content: list[Any], deltas: list[Any]) -> None:
    """Append to the content of a result. A text at the start of a delta continues the text before it."""
    if content and deltas and _is_text(content[-1]) and _is_text(deltas[0]):
        content[-1] = {"text": content[-1]["text"] + deltas[0]["text"]}
        deltas = deltas[1:]
    content += deltas


def _is_text(part: Any) -> bool:
    return part.__class__ is dict and part.keys() == {"text"} and part["text"].__class__ is str
