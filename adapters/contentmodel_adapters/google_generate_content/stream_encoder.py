"""Streams of generateContent, written: answers that add up, as server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.content.citations import Citation, Span
from contentmodel.content.text import TextContent, convert_span
from contentmodel.events import TurnComplete, TurnError
from contentmodel.wire.json import write
from contentmodel.wire.stream_encoding import MARK, Outgoing, StreamEncoder, Written, growing, is_half_a_call
from contentmodel.wire.table import note_of
from contentmodel_adapters.google_generate_content.blocks import API
from contentmodel_adapters.google_generate_content.stream import is_plain


class Encoder(StreamEncoder):
    """One answer as chunks."""

    choices = True

    def __init__(self, adapter: Any, policies: Mapping[str, str] | None = None) -> None:
        super().__init__(adapter, policies)
        self._beside: dict[int, list[tuple[int, int, Any]]] = {}
        self._parts: dict[int, tuple[int, bool | None, int]] = {}
        self._before: dict[int, int] = {}
        self._head: dict[str, Any] = {}
        self._begun: set[int] = set()
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
        """The number of a part, and the bytes before it: a text that follows one of its kind is more of that."""
        kind = bool(part.get("thought")) if is_plain(part) else None
        text = part.get("text")
        size = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else 0
        number, last, before = self._parts.get(choice, (-1, None, 0))
        if kind is None or kind != last:
            number, before = number + 1, 0
        self._parts[choice] = number, kind, before + size
        return number, before

    # -- blocks ------------------------------------------------------------------------------------------------

    def _begin_choice(self, choice: int) -> None:
        """Names the choices before this one: who reads a stream numbers them as they come."""
        for number in range(choice):
            if number not in self._begun:
                self.put({"candidates": [{"index": number}], **self._head})
        self._begun.update(range(choice + 1))

    def open(self, block: Outgoing) -> None:
        if block.content.protected is not None or _is_beside(block.content):
            return
        parts = self.encode_start(block.content)["candidates"][0]["content"].get("parts") or []
        if len(parts) != 1 or parts[0].get("text").__class__ is not str or not parts[0].keys() <= {"text", "thought"}:
            return
        self._begin_choice(block.choice)
        thought = b'"thought":true,' if parts[0].get("thought") else b""
        prefix = b'data: {"candidates":[{"content":{"parts":[{%b"text":' % thought
        index = b',"index":%d' % block.choice if block.choice else b""
        block.grow = growing(prefix, b'}],"role":"model"}' + index + self._suffix)
        said = parts[0]["text"]
        if said != MARK:
            self.say(block, said)

    def shut(self, block: Outgoing) -> None:
        content, place = block.content, (block.choice, block.index)
        if is_half_a_call(block):
            self.lose(place, content, "the call broke off")
            return
        if _is_beside(content):
            self._beside.setdefault(block.choice, []).append((-1, block.index, content))
            return
        plain = msgspec.structs.replace(content, annotations=None) if content.annotations else content
        parts = self.encode([plain], places=[place])["candidates"][0].get("content", {}).get("parts") or []
        if block.grow is not None:
            self._shut_live(block, parts)
        elif parts:
            self._chunk(block.choice, parts)
        places = [self._place(block.choice, part) for part in parts]
        if places:
            block.place, before = places[0]
            if before:
                self._before[block.index] = before
        if content.annotations:
            self._cite(place, block.place, content)
        block.cited = len(content.annotations or ())

    def _shut_live(self, block: Outgoing, parts: list[Any]) -> None:
        """What is left of a text: a signature comes with a part of its own."""
        part = parts[0] if parts else {}
        left = block.left(part.get("text", ""))
        if left:
            self.say(block, left)
        rest = {key: value for key, value in part.items() if key != "text"}
        if rest.keys() - {"thought"}:
            parts[0] = {key: part[key] for key in ("text", "thought") if key in part}
            parts.insert(1, {**rest, "text": ""})
            self._chunk(block.choice, parts[1:2])

    def _cite(self, place: tuple[int, int], number: int, content: Any) -> None:
        before = self._before.get(place[1], 0)
        if before:
            citations = [moved(citation, content.text, before) for citation in content.annotations]
            content = msgspec.structs.replace(content, annotations=citations)
        self._beside.setdefault(place[0], []).append((number, place[1], content))

    def amend(self, index: int, content: Any, written: Written) -> None:
        text = getattr(content, "text", None)
        if isinstance(text, str) and len(text) > written.sent and written.sent:
            fresh = msgspec.structs.replace(content, text=text[written.sent :], annotations=None)
            candidate = self.encode([fresh], places=[(written.choice, index)])["candidates"][0]
            self._chunk(written.choice, candidate["content"].get("parts") or [])
            written.sent = len(text)
        if len(content.annotations or ()) > written.cited:
            self._cite((written.choice, index), written.place, content)
            written.cited = len(content.annotations)

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self, event: TurnComplete) -> None:
        payload = self.encode_envelope(event)
        rest = {key: value for key, value in payload.items() if key != "candidates"}
        candidates = []
        for choice, wire in enumerate(payload.get("candidates") or ()):
            # Its number is the one that its words came with.
            number = {"index": choice} if choice or "index" in wire else {}
            candidates.append({**wire, **number, **self._found(choice)})
            if "finishReason" not in wire:
                # A stream that says no reason is one that broke off.
                candidates[-1]["finishReason"] = "STOP"
                self.synthesize(f"$.choices[{choice}].finish_reason", f"{API} ends a stream with one")
            content = wire.get("content")
            if content is not None and not content.get("parts"):
                candidates[-1]["content"] = {**content, "parts": []}
        said = {"candidates": candidates} if candidates else {}
        self.put({**said, **self._head, **rest})

    def _found(self, choice: int) -> dict[str, Any]:
        """What stands beside the content: the citations of its texts, and what a search found."""
        beside = self._beside.get(choice, [])
        found: dict[str, Any] = {}
        numbers = [number for number, _, _ in beside if number >= 0]
        together = self.is_native and len(set(numbers)) == len(numbers)
        # Its own API's belong together; those of another, and of texts that became one, are told text by text.
        for group in [beside] if beside and together else [[entry] for entry in beside]:
            wire = self._encode_beside(choice, group)
            found = {**found, **{key: wire[key] for key in BESIDE if key in wire}, **joined(found, wire)}
        return found

    def _encode_beside(self, choice: int, beside: list[tuple[int, int, Any]]) -> dict[str, Any]:
        cited = {number: (index, content) for number, index, content in beside if number >= 0}
        uncited = (-1, TextContent(text=""))
        found = [cited.get(number, uncited) for number in range(max(cited, default=-1) + 1)]
        found += [(index, content) for number, index, content in beside if number < 0]
        places = [(choice, index) for index, _ in found]
        wire: dict[str, Any] = self.encode([content for _, content in found], places=places)["candidates"][0]
        return wire

    def fail(self, event: TurnError, payload: dict[str, Any]) -> None:
        self.put({"error": payload.get("error")})


BESIDE = ("groundingMetadata", "urlContextMetadata")


def moved(citation: Citation, text: str, before: int) -> Citation:
    """The citation of a text that begins at the byte `before` of its part."""
    span = convert_span(text, citation.span or Span(start=0, end=len(text)), "byte")
    end = None if span.end is None else span.end + before
    return msgspec.structs.replace(citation, span=Span(start=(span.start or 0) + before, end=end, unit="byte"))


def joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The grounding of two texts as one: its chunks once each, and the supports that point at them."""
    if "groundingMetadata" not in old or "groundingMetadata" not in new:
        return {}
    before, after = old["groundingMetadata"], new["groundingMetadata"]
    chunks = list(before.get("groundingChunks", ()))
    numbers = []
    for chunk in after.get("groundingChunks", ()):
        if chunk not in chunks:
            chunks.append(chunk)
        numbers.append(chunks.index(chunk))
    supports = [
        {**support, "groundingChunkIndices": [numbers[index] for index in support.get("groundingChunkIndices", ())]}
        for support in after.get("groundingSupports", ())
    ]
    all_supports = [*before.get("groundingSupports", ()), *supports]
    return {"groundingMetadata": {**before, **after, "groundingChunks": chunks, "groundingSupports": all_supports}}


def _is_beside(content: Any) -> bool:
    """Whether a content stands beside the parts."""
    return bool(note_of(content, API, ":grounding"))
