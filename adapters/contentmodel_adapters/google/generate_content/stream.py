"""Streams of generateContent: chunks that add up (google-genai 3.4, models.py and types.py; November 2026).

Parts are appended. A text continues a preceding text of its kind, unless a signature is between them (ai.google.dev,
thought signatures: a part with one is not merged with others). Fields beside the content are not split; the last value
counts. They are written as server-sent events.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import msgspec

from contentmodel.authoring import (
    BlockState,
    ChoiceOrder,
    EncodeContext,
    JoiningEncoder,
    OutgoingBlock,
    StreamDecoder,
    Written,
    citations_of_piece,
    extended,
    growing,
    kind_of,
    layout_of,
    list_of,
    loss_of,
    merge_into,
    object_of,
    objects_of,
    place_at,
    reasons,
    steps_of,
    text_of,
    write,
)
from contentmodel.content.citations import Citation, Span
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.events import ArgumentsDelta, Layout, ReasoningDelta, TextDelta, TurnComplete, TurnError
from contentmodel.message import ChatMessage, contents_of
from contentmodel.response import ChatResponse
from contentmodel_adapters.google.generate_content.response import BESIDE, Chunks, is_beside
from contentmodel_adapters.google.generate_content.table import (
    API,
    PARTS,
    USAGE,
    CallIds,
    id_of_answer,
    with_id,
)

# -- reading -----------------------------------------------------------------------------------------------------------

# Placeholders of complete parts: texts may be cited, and calls determine the finish reason. The parts are not kept.
A_TEXT, NO_TEXT, A_CALL = {"text": ""}, {"thought": True, "text": ""}, {"functionCall": {"name": ""}}
FIRST = ("responseId", "createTime")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class Candidate:
    """The state of one candidate."""

    __slots__ = ("arguments", "blocks", "content", "ids", "number", "open", "parts", "rest")

    def __init__(self, number: int, answer_id: str | None) -> None:
        self.number = number
        self.rest: dict[str, Any] = {}
        self.content: dict[str, Any] | None = None
        self.parts: list[dict[str, Any]] = []
        self.blocks: list[BlockState] = []
        self.open: BlockState | None = None
        self.arguments: dict[str, Any] | None = None
        self.ids = CallIds(answer_id=answer_id)

    def continues(self, candidate: _Candidate, part: _Part) -> bool:
        """Return whether a part only continues the open text."""
        block, content = self.open, self.content
        if block is None or content is None or self.arguments is not None or "text" not in block.wire:
            return False
        return bool(block.wire.get("thought")) is part.thought and content.get("role") == candidate.content.role

    def wire(self) -> dict[str, Any]:
        """Return the candidate, with placeholders for its parts."""
        if self.content is None:
            return self.rest
        parts = {"parts": self.parts} if self.parts or "parts" in self.content else {}
        return {**self.rest, "content": {**self.content, **parts}}


class _Part(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    text: str
    thought: bool = False


class _Content(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    parts: Annotated[list[_Part], msgspec.Meta(min_length=1, max_length=1)]
    role: str | None = None


class _Candidate(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    content: _Content
    index: int = 0


class _Chunk(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename="camel"):
    """A chunk that only continues one text; its token counts may be new."""

    candidates: Annotated[list[_Candidate], msgspec.Meta(min_length=1, max_length=1)]
    model_version: str
    response_id: str
    usage_metadata: dict[str, Any] | None = None
    create_time: str | None = None


_decode_chunk = msgspec.json.Decoder(_Chunk).decode


class Decoder(StreamDecoder):
    """Decode one answer chunk by chunk."""

    def __init__(self, adapter: Any, *, deltas: bool = True) -> None:
        super().__init__(adapter, deltas=deltas)
        self._order = ChoiceOrder(lambda position: Candidate(position, id_of_answer(self.answer)))
        self._candidates = self._order.choices

    def reads_quickly(self, name: str | None, data: bytes) -> bool:
        try:
            chunk = _decode_chunk(data)
        except (msgspec.MsgspecError, UnicodeError):
            return False
        first, answer = chunk.candidates[0], self.answer
        candidate = self._candidates.get(first.index)
        block = None if candidate is None else candidate.open
        part = first.content.parts[0]
        if block is None or candidate is None or not candidate.continues(first, part) or not part.text:
            return False
        if (chunk.model_version, chunk.response_id) != (answer.get("modelVersion"), answer.get("responseId")):
            return False
        if chunk.create_time != answer.get("createTime"):
            return False
        usage = chunk.usage_metadata
        if usage is not None and usage != answer.get("usageMetadata"):
            merge_into(answer, {"usageMetadata": usage})
            self.count(USAGE, answer["usageMetadata"])
        self.more(block, "text", part.text, ReasoningDelta if part.thought else TextDelta)
        return True

    def read(self, name: str | None, wire: dict[str, Any]) -> None:
        if "error" in wire and "candidates" not in wire:
            self.fail_with(wire)
            return
        candidates = wire.pop("candidates", None)
        usage = self.answer.get("usageMetadata")
        merge_into(self.answer, wire, FIRST)
        if not self._has_begun:
            self.begin(dict(self.answer))
        elif wire.get("usageMetadata") is not None and wire["usageMetadata"] != usage:
            self.count(USAGE, self.answer["usageMetadata"])
        if candidates is not None and candidates.__class__ is not list:
            raise DecodeError(API, [Fault("$.candidates", f"expected an array, got {kind_of(candidates)}")])
        for place, candidate in enumerate(candidates or ()):
            if candidate.__class__ is not dict:
                raise DecodeError(
                    API, [Fault(f"$.candidates[{place}]", f"expected an object, got {kind_of(candidate)}")]
                )
            for ready in self._order.take(_number_of(candidate), candidate):
                self._read_candidate(ready)

    def read_rest(self) -> None:
        for candidate in self._order.rest():
            self._read_candidate(candidate)

    def _read_candidate(self, wire: dict[str, Any]) -> None:
        candidate = self._order.begin(_number_of(wire))
        content = wire.pop("content", None)
        merge_into(candidate.rest, {k: v for k, v in wire.items() if k != "logprobsResult"})
        if wire.get("logprobsResult").__class__ is dict:
            existing = candidate.rest.get("logprobsResult")
            candidate.rest["logprobsResult"] = extended(existing, wire["logprobsResult"])
        if content.__class__ is not dict:
            return
        parts = content.pop("parts", None)
        if candidate.content is None:
            candidate.content = {}
        merge_into(candidate.content, content if parts is None else {**content, "parts": []})
        for part in parts if parts.__class__ is list else ():
            if part.__class__ is not dict:
                raise DecodeError(API, [Fault("$.candidates[*].content.parts", f"got {kind_of(part)} for an object")])
            self._read_part(candidate, part)

    # -- parts -------------------------------------------------------------------------------------------------

    def _read_part(self, candidate: Candidate, part: dict[str, Any]) -> None:
        call = part.get("functionCall")
        if candidate.arguments is not None and call.__class__ is dict and not call.get("name"):
            self._grow_call(candidate, part, call)
            return
        text = part.get("text")
        if text.__class__ is str and self._adds_text(candidate, part, text):
            return
        self._stop_open(candidate)
        if call.__class__ is dict and ("partialArgs" in call or call.get("willContinue")):
            self._open_call(candidate, part, call)
            return
        candidate.open = self._start(candidate, part)
        if text.__class__ is not str or not is_plain(part):
            self._stop_open(candidate)

    def _adds_text(self, candidate: Candidate, part: dict[str, Any], text: str) -> bool:
        """Append a text to the open text. Return whether it did, or the text was empty."""
        if not is_plain(part):
            return False
        block = candidate.open
        if text == "" and (candidate.parts or block is not None):
            return True
        if block is None or candidate.arguments is not None:
            return False
        if bool(block.wire.get("thought")) is not bool(part.get("thought")):
            return False
        self.more(block, "text", text, ReasoningDelta if part.get("thought") else TextDelta)
        return True

    def _start(self, candidate: Candidate, part: dict[str, Any]) -> BlockState:
        text = part.get("text")
        is_text = text.__class__ is str and is_plain(part)
        content = self._decode(candidate, {**part, "text": ""} if is_text else part)
        content = candidate.ids.identify(ChatMessage(role="assistant", contents=[content])).contents[0]
        block = self.start(part, content, candidate.number)
        candidate.blocks.append(block)
        if is_text:
            block.wire = {**part, "text": ""}
            block.grow("text", text)  # type: ignore[arg-type]
            if text:
                event = ReasoningDelta if part.get("thought") else TextDelta
                self.emit(event(index=block.index, text=text))
        return block

    def _decode(self, candidate: Candidate, part: dict[str, Any]) -> Any:
        context = self.context()
        contents = PARTS.decode_list([part], context)
        context.finish(part)
        return contents[0]

    def _stop_open(self, candidate: Candidate, *, is_complete: bool = True, is_ended: bool = False) -> None:
        """Stop the open part. A call that should have continued is incomplete."""
        block, candidate.open = candidate.open, None
        if block is None:
            return
        wire, content = block.wire, block.emitted
        if block.pieces:
            content = self._decode(candidate, block.merge_pieces())
        elif candidate.arguments is not None:
            call = {key: value for key, value in wire["functionCall"].items() if key != "willContinue"}
            wire["functionCall"] = {**call, "args": candidate.arguments}
            content = with_id(self._decode(candidate, wire), block.emitted.call_id)
            candidate.arguments = None
            is_complete = is_ended
        is_text = wire.get("text").__class__ is str and not wire.get("thought")
        candidate.parts.append(A_TEXT if is_text else A_CALL if "functionCall" in wire else NO_TEXT)
        self.stop(block, content, is_complete=is_complete)
        block.wire, block.joined = {}, ""
        if block.emitted.__class__ is not TextContent:
            block.emitted = None

    def _open_call(self, candidate: Candidate, part: dict[str, Any], call: dict[str, Any]) -> None:
        """Start a call whose arguments are sent one by one."""
        begun = {key: value for key, value in call.items() if key not in ("partialArgs", "willContinue")}
        block = candidate.open = self._start(candidate, {**part, "functionCall": begun})
        candidate.arguments = dict(begun["args"]) if begun.get("args").__class__ is dict else {}
        self._add_arguments(candidate, block, call)
        if not call.get("willContinue"):
            self._stop_open(candidate, is_ended=True)

    def _grow_call(self, candidate: Candidate, part: dict[str, Any], call: dict[str, Any]) -> None:
        block = candidate.open
        if block is None:
            return
        merge_into(block.wire, {key: value for key, value in part.items() if key != "functionCall"})
        self._add_arguments(candidate, block, call)
        if not call.get("willContinue"):
            other_fields = {k: v for k, v in call.items() if k not in ("partialArgs", "willContinue", "args")}
            merge_into(block.wire["functionCall"], other_fields)
            if call.get("args").__class__ is dict:
                candidate.arguments = {**(candidate.arguments or {}), **call["args"]}
            self._stop_open(candidate, is_ended=True)

    def _add_arguments(self, candidate: Candidate, block: BlockState, call: dict[str, Any]) -> None:
        for entry in list_of(call, "partialArgs"):
            path = entry.get("jsonPath") if entry.__class__ is dict else None
            if path.__class__ is not str or candidate.arguments is None:
                continue
            key = next((key for key in _VALUES if key in entry), None)
            value = None if key in (None, "nullValue") else entry[key]
            put(candidate.arguments, path, value)
            text = value if value.__class__ is str else ""
            self.emit(ArgumentsDelta(index=block.index, text=text, path=path, value=None if text else value))

    # -- the end -----------------------------------------------------------------------------------------------

    def is_ready(self) -> bool:
        if not self._candidates:
            return self._has_begun and "promptFeedback" in self.answer
        return all(candidate.rest.get("finishReason") is not None for candidate in self._candidates.values())

    def finish(self) -> None:
        for candidate in self._candidates.values():
            self._stop_open(candidate)
        _, response, layout = self._finished()
        self.complete(response, layout)

    def _finished(self) -> tuple[dict[str, Any], ChatResponse, Layout]:
        """Return the answer so far, on the wire and in the model, and the layout of its blocks."""
        wire = self._merged()
        response = self.adapter.read_response(wire)
        self._bring_in(response)
        # An answer whose prompt was blocked has a choice without a candidate.
        blocks = [[b.index for b in c.blocks] for c in self._candidates.values()] or [[] for _ in response.choices]
        return wire, response, layout_of(response, blocks)

    def _merged(self) -> dict[str, Any]:
        if not self._candidates:
            return self.answer
        return {**self.answer, "candidates": [candidate.wire() for candidate in self._candidates.values()]}

    def _bring_in(self, response: Any) -> None:
        """Add the metadata beside the content: citations of texts, and search results."""
        if not self._candidates:
            return
        for candidate, choice in zip(self._candidates.values(), response.choices, strict=True):
            contents = list(contents_of(choice.messages))
            for block, content in zip(candidate.blocks, contents, strict=False):
                if content.annotations:
                    self.catch_up(block, msgspec.structs.replace(block.emitted, annotations=content.annotations))
            for content in contents[len(candidate.blocks) :]:
                candidate.blocks.append(self.whole(content, candidate.number))

    def stop_open(self) -> None:
        for candidate in self._candidates.values():
            self._stop_open(candidate, is_complete=False)

    def broken(self) -> tuple[dict[str, Any], Layout]:
        if not self._has_begun:
            return {}, []
        wire, _, layout = self._finished()
        return wire, layout


def is_plain(part: dict[str, Any]) -> bool:
    """Return whether a part is a text without other fields than `thought`."""
    return "text" in part and (len(part) == 1 or (len(part) == 2 and part.get("thought").__class__ is bool))


def _number_of(candidate: dict[str, Any]) -> int:
    return 0 if candidate.get("index") is None else place_at(candidate, "index", API)


def put(arguments: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a JSON path of the arguments; append a text to an existing text."""
    steps: list[str | int] = steps_of(path)
    owner: Any = arguments
    for step, following in pairwise(steps):
        owner = _step_into(owner, step, [] if following.__class__ is int else {})
    if steps:
        existing = _get(owner, steps[-1])
        _set(owner, steps[-1], existing + value if existing.__class__ is str and value.__class__ is str else value)


def _step_into(owner: Any, step: str | int, fresh: Any) -> Any:
    existing = _get(owner, step)
    if existing.__class__ is dict or existing.__class__ is list:
        return existing
    _set(owner, step, fresh)
    return fresh


def _get(owner: Any, step: str | int) -> Any:
    if owner.__class__ is list:
        return owner[step] if step.__class__ is int and step < len(owner) else None
    return owner.get(step)


def _set(owner: Any, step: str | int, value: Any) -> None:
    if owner.__class__ is not list:
        owner[step] = value
    elif step.__class__ is int and step < len(owner) + 10_000:
        owner.extend([None] * (step - len(owner) + 1))
        owner[step] = value
    else:
        raise DecodeError(API, [Fault("$.candidates", f"partial arguments name {step!r} in a list of {len(owner)}")])


# -- writing -----------------------------------------------------------------------------------------------------------


class Encoder(JoiningEncoder):
    """Encode one answer as chunks."""

    choices = True

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._beside: dict[int, list[Cited]] = {}
        self._parts: dict[int, tuple[int, bool | None, int]] = {}
        self._before: dict[int, int] = {}
        self._head: dict[str, Any] = {}
        self._begun = 0
        self._suffix = b""

    def begin(self, payload: dict[str, Any]) -> None:
        keys = ("modelVersion", "responseId", "createTime")
        self._head = {key: payload[key] for key in keys if key in payload}
        self._suffix = b"}]" + (b"," + write(self._head)[1:] if self._head else b"}") + b"\n\n"

    def _chunk(self, choice: int, parts: list[Any]) -> None:
        self._begin_choice(choice)
        index = {"index": choice} if choice else {}
        self.put({"candidates": [{"content": {"parts": parts, "role": "model"}, **index}], **self._head})

    def _place(self, choice: int, part: dict[str, Any]) -> tuple[int, int]:
        """Return the number of a part, and its offset in bytes: a text continues a preceding text of its kind."""
        kind = bool(part.get("thought")) if is_plain(part) else None
        size = len(text_of(part, "text").encode("utf-8", "surrogatepass"))
        number, last, before = self._parts.get(choice, (-1, None, 0))
        if kind is None or kind != last:
            number, before = number + 1, 0
        self._parts[choice] = number, kind, before + size
        return number, before

    # -- blocks ------------------------------------------------------------------------------------------------

    def _begin_choice(self, choice: int) -> None:
        """Emit the choices before this one: readers number them by their first appearance."""
        for number in range(self._begun, choice):
            self.put({"candidates": [{"index": number}], **self._head})
        self._begun = max(self._begun, choice + 1)

    def open_block(self, block: OutgoingBlock) -> None:
        if block.content.protected is not None or is_beside(block.content):
            return
        parts = _parts(self.encode_start(block.content))
        # A thought's text may be missing while it is empty.
        part = {"text": "", **parts[0]} if len(parts) == 1 else {}
        if part.get("text").__class__ is not str or not part.keys() <= {"text", "thought"}:
            return
        self._begin_choice(block.choice)
        thought = b'"thought":true,' if part.get("thought") else b""
        prefix = b'data: {"candidates":[{"content":{"parts":[{%b"text":' % thought
        index = b',"index":%d' % block.choice if block.choice else b""
        block.grow = growing(prefix, b'}],"role":"model"}' + index + self._suffix)
        if not thought and isinstance(block.content, _TEXTS):
            block.grow = self.joining(block, block.grow)
        self.write_begun(block)

    def close_block(self, block: OutgoingBlock) -> None:
        content, place = block.content, (block.choice, block.index)
        if is_beside(content):
            self._beside.setdefault(block.choice, []).append(Cited(-1, block.index, content))
            return
        plain = msgspec.structs.replace(content, annotations=None) if content.annotations else content
        parts = _parts(self.encode([plain], places=[place]))
        text = self._text_of(block, parts)
        line = self.texts_of(block).before(text or "")
        before = [{"text": line}] if line else []
        if block.grow is not None:
            self._shut_live(block, parts)
        elif parts:
            self._chunk(block.choice, [*before, *parts])
        if parts:
            self._count(block, text)
        for part in before:
            self._place(block.choice, part)
        places = [self._place(block.choice, part) for part in parts]
        if places:
            block.place, size = places[0]
            if size:
                self._before[block.index] = size
        if content.annotations:
            cited = Cited(block.place, block.index, content, before=self._before.get(block.index, 0))
            self._beside.setdefault(block.choice, []).append(cited)
        block.cited = len(content.annotations or ())

    def _text_of(self, block: OutgoingBlock, parts: list[Any]) -> str | None:
        """Return the text that a block adds to the texts before it; None if it has any other part."""
        if any(part.get("text").__class__ is not str or part.get("thought") for part in parts):
            return None
        return "".join(part["text"] for part in parts) if isinstance(block.content, _TEXTS) else None

    def _count(self, block: OutgoingBlock, text: str | None) -> None:
        if text is None:
            self.texts_of(block).end()
        else:
            self.texts_of(block).add(text)
            # Another content that became a text is a separate text.
            self.start(block)

    def _shut_live(self, block: OutgoingBlock, parts: list[Any]) -> None:
        """Write the rest of a text. A signature is sent in a separate part."""
        part = parts[0] if parts else {}
        unsent = block.unwritten(text_of(part, "text"))
        if unsent:
            self.write_text(block, unsent)
        other_fields = {key: value for key, value in part.items() if key != "text"}
        if other_fields.keys() - {"thought"}:
            parts[0] = {key: part[key] for key in ("text", "thought") if key in part}
            # A part without a text, such as audio after its transcript, is not the rest of the text.
            parts.insert(1, {**other_fields, "text": ""} if "text" in part else other_fields)
            self._chunk(block.choice, parts[1:2])

    def amend(self, index: int, content: Any, written: Written) -> None:
        place = (written.choice, index)
        if written.call is not None:
            self.report_loss(place, content, reasons.CHANGED_AFTER_WRITE)
        cited = Cited(written.place, index, content, before=self._before.get(index, 0), written=written.cited)
        texts = [cited]
        if isinstance(content, TextContent | ReasoningContent) and len(content.text) > written.sent:
            unsent = msgspec.structs.replace(content, text=content.text[written.sent :], annotations=None)
            parts = _parts(self.encode([unsent], places=[place]))
            self._chunk(written.choice, parts)
            number, before = next((self._place(written.choice, part) for part in parts), (written.place, 0))
            texts = [cited._replace(end=written.sent), cited._replace(part=number, start=written.sent, before=before)]
            written.sent = len(content.text)
        if len(content.annotations or ()) > written.cited:
            self._beside.setdefault(written.choice, []).extend(texts)
            written.cited = len(content.annotations)

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        self._put_end(event)

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        if self._has_begun:
            # Send what was received before the error: the tokens, and the finish reason if there is one.
            self._put_end(event)
        # A bare object, as the API sends it: the JavaScript SDK ignores an error in an event.
        self.put_raw(write({"error": payload.get("error")}) + b"\n\n")

    def _put_end(self, event: TurnComplete | TurnError) -> None:
        """Write the fields of the whole answer, and those beside each choice's parts."""
        payload = self.encode_envelope(event)
        other_fields = {key: value for key, value in payload.items() if key != "candidates"}
        candidates = []
        for choice, wire in enumerate(objects_of(payload, "candidates")):
            # The same index as in the chunks of its text.
            number = {"index": choice} if choice or "index" in wire else {}
            candidates.append({**wire, **number, **self._metadata(choice)})
            if "finishReason" not in wire and isinstance(event, TurnComplete):
                # Readers take a stream without a finish reason as broken off.
                candidates[-1]["finishReason"] = "STOP"
                path = f"$.choices[{choice}].finish_reason"
                self.add_losses(
                    None, [loss_of(reasons.FINISH_REASON, path, "finish_reason", self.api, family="settings")]
                )
            content = wire.get("content")
            if content.__class__ is dict and not content.get("parts"):
                candidates[-1]["content"] = {**content, "parts": []}
        if isinstance(event, TurnError):
            candidates = [wire for wire in candidates if wire.keys() - {"index", "content"}]
            if not candidates and not other_fields.keys() - self._head.keys():
                return
        body = {"candidates": candidates} if candidates else {}
        self.put({**body, **self._head, **other_fields})

    def _metadata(self, choice: int) -> dict[str, Any]:
        """Return the metadata beside the content: citations of its texts, and search results."""
        beside = self._beside.get(choice, [])
        metadata: dict[str, Any] = {}
        numbers = [entry.part for entry in beside if entry.part >= 0]
        together = self.is_native and len(set(numbers)) == len(numbers)
        # Encode native metadata together. Those of another API, and of joined texts, are encoded text by text.
        wires = [self._encode_beside(choice, g) for g in ([beside] if beside and together else [[e] for e in beside])]
        for wire in wires:
            metadata.update({key: wire[key] for key in BESIDE if key in wire})
        if len(wires) > 1:
            metadata.update(joined([object_of(wire, BESIDE[0]) for wire in wires if BESIDE[0] in wire]))
        return metadata

    def _encode_beside(self, choice: int, beside: list[Cited]) -> dict[str, Any]:
        beside = sorted(beside, key=lambda entry: (entry.part < 0, entry.part))

        def encode(contents: list[Any], context: EncodeContext) -> Any:
            cited = [entry.of(content, context) for entry, content in zip(beside, contents, strict=True)]
            return self.adapter.encode_more(cited, context)

        places = [(choice, entry.block) for entry in beside]
        wire: dict[str, Any] = self.encode_with(encode, [entry.content for entry in beside], places)
        if not self.is_native and beside[0].part > 0:
            for support in objects_of(object_of(wire, "groundingMetadata"), "groundingSupports"):
                object_of(support, "segment")["partIndex"] = beside[0].part
        return wire


class Cited(NamedTuple):
    """A content that has fields beside the parts: a search result, or the citations of a text or of a piece of it."""

    part: int
    """The number of the part that has the text; -1 for a content without a part."""
    block: int
    """The number of the block."""
    content: Any
    start: int = 0
    end: int | None = None
    """The code points of the text that are in the part."""
    before: int = 0
    """The bytes of other texts before them in the part."""
    written: int = 0
    """The number of citations that are written already."""

    def of(self, content: Any, context: EncodeContext) -> Any:
        """Return the content of the part, with its citations as they are there."""
        if self[3:] == (0, None, 0, 0):
            return content
        piece = content.text[self.start : self.end]
        converter = SpanConverter(piece)
        annotations = [
            context.replaced(old, moved(new, converter, self.before))
            for old, new in citations_of_piece(content, self.written, self.start, self.end)
            if new is not None
        ]
        return context.replace(content, text=piece, annotations=annotations or None)


_TEXTS = (TextContent, ReasoningContent, CompactionContent, ToolResultContent)
"""Contents that are texts, or become texts by a policy."""


def moved(citation: Citation, converter: SpanConverter, before: int) -> Citation:
    """Return the citation of a text that begins at the byte `before` of its part."""
    span = converter.convert(citation.span, "byte")
    end = None if span.end is None else span.end + before
    return msgspec.structs.replace(citation, span=Span(start=(span.start or 0) + before, end=end, unit="byte"))


def joined(groundings: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the groundings of several texts: chunks without duplicates, and supports that point at them."""
    if len(groundings) < 2:
        return {}
    chunks = Chunks()
    supports: list[Any] = []
    whole: dict[str, Any] = {}
    for grounding in groundings:
        whole.update(grounding)
        numbers = [chunks.place(chunk) for chunk in list_of(grounding, "groundingChunks")]
        supports += [_renumbered(support, numbers) for support in list_of(grounding, "groundingSupports")]
    return {"groundingMetadata": {**whole, "groundingChunks": chunks.items, "groundingSupports": supports}}


def _renumbered(support: Any, numbers: list[int]) -> Any:
    """Return a support with the new indices of its chunks; an index without a chunk is dropped."""
    if support.__class__ is not dict:
        return support
    indices = [i for i in list_of(support, "groundingChunkIndices") if i.__class__ is int and 0 <= i < len(numbers)]
    return {**support, "groundingChunkIndices": [numbers[index] for index in indices]}


def _parts(wire: dict[str, Any]) -> list[Any]:
    """Return the parts of encoded contents."""
    return list_of(object_of(wire, "content"), "parts")
