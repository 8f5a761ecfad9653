"""Encode streams of generateContent: chunks that add up, as server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from contentmodel.authoring import (
    EncodeContext,
    JoiningEncoder,
    OutgoingBlock,
    Written,
    citations_of_piece,
    growing,
    list_of,
    loss_of,
    object_of,
    objects_of,
    reasons,
    text_of,
    write,
)
from contentmodel.content.citations import Citation, Span
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import SpanConverter, TextContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.events import TurnComplete, TurnError
from contentmodel_adapters.google.generate_content.response import BESIDE, Chunks
from contentmodel_adapters.google.generate_content.stream import is_plain
from contentmodel_adapters.google.generate_content.table import API, GROUNDING


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
        if block.content.protected is not None or _is_beside(block.content):
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
        if _is_beside(content):
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
        left = block.left(text_of(part, "text"))
        if left:
            self.write_text(block, left)
        rest = {key: value for key, value in part.items() if key != "text"}
        if rest.keys() - {"thought"}:
            parts[0] = {key: part[key] for key in ("text", "thought") if key in part}
            # A part without a text, such as audio after its transcript, is not the rest of the text.
            parts.insert(1, {**rest, "text": ""} if "text" in part else rest)
            self._chunk(block.choice, parts[1:2])

    def amend(self, index: int, content: Any, written: Written) -> None:
        place = (written.choice, index)
        if written.call is not None:
            self.report_loss(place, content, reasons.CHANGED_AFTER_WRITE)
        cited = Cited(written.place, index, content, before=self._before.get(index, 0), written=written.cited)
        texts = [cited]
        if isinstance(content, TextContent | ReasoningContent) and len(content.text) > written.sent:
            rest = msgspec.structs.replace(content, text=content.text[written.sent :], annotations=None)
            parts = _parts(self.encode([rest], places=[place]))
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
        rest = {key: value for key, value in payload.items() if key != "candidates"}
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
            if not candidates and not rest.keys() - self._head.keys():
                return
        body = {"candidates": candidates} if candidates else {}
        self.put({**body, **self._head, **rest})

    def _metadata(self, choice: int) -> dict[str, Any]:
        """Return the metadata beside the content: citations of its texts, and search results."""
        beside = self._beside.get(choice, [])
        metadata: dict[str, Any] = {}
        numbers = [one.part for one in beside if one.part >= 0]
        together = self.is_native and len(set(numbers)) == len(numbers)
        # Encode native metadata together. Those of another API, and of joined texts, are encoded text by text.
        wires = [self._encode_beside(choice, g) for g in ([beside] if beside and together else [[e] for e in beside])]
        for wire in wires:
            metadata.update({key: wire[key] for key in BESIDE if key in wire})
        if len(wires) > 1:
            metadata.update(joined([object_of(wire, BESIDE[0]) for wire in wires if BESIDE[0] in wire]))
        return metadata

    def _encode_beside(self, choice: int, beside: list[Cited]) -> dict[str, Any]:
        beside = sorted(beside, key=lambda one: (one.part < 0, one.part))

        def encode(contents: list[Any], context: EncodeContext) -> Any:
            cited = [one.of(content, context) for one, content in zip(beside, contents, strict=True)]
            return self.adapter.encode_more(cited, context)

        places = [(choice, one.block) for one in beside]
        wire: dict[str, Any] = self.encode_with(encode, [one.content for one in beside], places)
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
    span = converter.convert(citation.span or Span(start=0, end=len(converter.text)), "byte")
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
    known = [i for i in list_of(support, "groundingChunkIndices") if i.__class__ is int and 0 <= i < len(numbers)]
    return {**support, "groundingChunkIndices": [numbers[index] for index in known]}


def _parts(wire: dict[str, Any]) -> list[Any]:
    """Return the parts of encoded contents."""
    return list_of(object_of(wire, "content"), "parts")


def _is_beside(content: Any) -> bool:
    """Return whether a content is written beside the parts."""
    return GROUNDING.of(content, API) is not None
