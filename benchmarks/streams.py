"""Streams of answers, as each API would send them: written by hand from one turn, as the transcripts are.

The pieces have the sizes that the providers' own have: a token or so of OpenAI's, a few of Anthropic's, a sentence of
Gemini's. What each of their events repeats (ids, counters) is repeated here, and the bytes are spelled as theirs are:
the order of fields, padding, blanks and line ends of recorded streams of 2025 and 2026.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from transcripts import APIS, Turn, long_answer, response, short_answer

ANTHROPIC, CHAT, RESPONSES, GOOGLE = APIS
Events = Iterator[dict[str, Any]]

_PIECE = {ANTHROPIC: 15, CHAT: 5, RESPONSES: 5, GOOGLE: 60}
_PADDING = "ReLAoBL6oNRsXAyJ"
_write = msgspec.json.Encoder().encode


def long_text(api: str, deltas: int = 2000) -> list[bytes]:
    """The frames of an answer that is one long text."""
    turn = replace(long_answer(), thinking="", signature="", calls=(), citation=None)
    size = _PIECE[api] * deltas
    return frames(api, replace(turn, text=(turn.text * (size // len(turn.text) + 1))[:size]))


def agent_answer(api: str) -> list[bytes]:
    """The frames of what an agent answers: 3,000 characters of reasoning, a few sentences, two calls."""
    return frames(api, replace(short_answer(), thinking=long_answer().thinking[:3000]))


def frames(api: str, turn: Turn) -> list[bytes]:
    """The server-sent events of a turn."""
    write, spell = _WRITERS[api]
    sent = [spell(wire, padding) for wire, padding in zip(write(turn), _paddings(), strict=False)]
    return [*sent, b"data: [DONE]\n\n"] if api == CHAT else sent


def data_of(sent: list[bytes]) -> list[bytes]:
    """The JSON of each frame."""
    found = [frame[frame.index(b"data: ") + 6 :].strip() for frame in sent]
    return [data for data in found if data != b"[DONE]"]


def _paddings() -> Events:
    """What hides how long the words are, in OpenAI's way; its length is that of Anthropic's blanks."""
    rng = random.Random(3)
    while True:
        yield {"obfuscation": _PADDING[: rng.randint(1, 16)]}


def _spell_anthropic(wire: dict[str, Any], padding: dict[str, Any]) -> bytes:
    blanks = b"" if wire["type"] == "ping" else b" " * (len(padding["obfuscation"]) - 1)
    return b"event: %b\ndata: %b%b}\n\n" % (wire["type"].encode(), _write(wire)[:-1], blanks)


def _spell_chat(wire: dict[str, Any], padding: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % _write({**wire, **padding})


def _spell_responses(wire: dict[str, Any], padding: dict[str, Any]) -> bytes:
    said = {**wire, **padding} if wire["type"].endswith(".delta") else wire
    ordered = {"type": wire["type"], **{key: said[key] for key in sorted(said)}}
    return b"event: %b\ndata: %b\n\n" % (wire["type"].encode(), _write(ordered))


def _spell_google(wire: dict[str, Any], padding: dict[str, Any]) -> bytes:
    return b"data: %b\r\n\r\n" % json.dumps(wire, ensure_ascii=False, separators=(",", ": ")).encode()


def _pieces(api: str, text: str) -> Iterator[str]:
    """The text in pieces of uneven length, the same ones in every run."""
    rng = random.Random(len(text))
    size = _PIECE[api]
    at = 0
    while at < len(text):
        # Two thirds to four thirds of the usual length.
        step = rng.randint(size - size // 3, size + size // 3)
        yield text[at : at + step]
        at += step


# -- Anthropic ---------------------------------------------------------------------------------------------------


def _anthropic(turn: Turn) -> Events:
    whole = response(ANTHROPIC, turn)
    blocks = [block for block in whole["content"] if block["type"] != "thinking" or turn.thinking]
    usage = whole["usage"]
    yield {
        "type": "message_start",
        "message": {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 3}},
    }
    for index, block in enumerate(blocks):
        yield from _anthropic_block(index, block)
        if index == 0:
            yield {"type": "ping"}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    counted = {key: value for key, value in usage.items() if key != "service_tier"}
    yield {"type": "message_delta", "delta": ending, "usage": counted}
    yield {"type": "message_stop"}


def _anthropic_block(index: int, block: dict[str, Any]) -> Events:
    kind = block["type"]
    if kind == "tool_use":
        start, text = {**block, "input": {}}, _write(block["input"]).decode()
        delta = {"type": "input_json_delta", "partial_json": ""}
    else:
        start, text = {**block, kind: ""}, block[kind]
        delta = {"type": f"{kind}_delta", kind: ""}
    if "signature" in start:
        start["signature"] = ""
    yield {"type": "content_block_start", "index": index, "content_block": start}
    grown = list(delta)[1]
    for piece in _pieces(ANTHROPIC, text):
        yield {"type": "content_block_delta", "index": index, "delta": {**delta, grown: piece}}
    if block.get("signature"):
        signed = {"type": "signature_delta", "signature": block["signature"]}
        yield {"type": "content_block_delta", "index": index, "delta": signed}
    yield {"type": "content_block_stop", "index": index}


# -- Chat --------------------------------------------------------------------------------------------------------


def _chat(turn: Turn) -> Events:
    whole = response(CHAT, turn)
    fields = ("id", "object", "created", "model", "service_tier", "system_fingerprint")
    head = {**{key: whole[key] for key in fields}, "object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    # OpenAI's own models keep their thoughts; this column is that of the hosts whose models do not.
    for piece in _pieces(CHAT, turn.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(CHAT, turn.text):
        yield chunk({"content": piece})
    for number, call in enumerate(whole["choices"][0]["message"]["tool_calls"]):
        function = call["function"]
        yield chunk({"tool_calls": [{"index": number, **call, "function": {**function, "arguments": ""}}]})
        for piece in _pieces(CHAT, function["arguments"]):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    yield {**head, "choices": [], "usage": whole["usage"]}


# -- Responses ---------------------------------------------------------------------------------------------------


def _responses(turn: Turn) -> Events:
    for number, event in enumerate(_responses_events(turn)):
        yield {**event, "sequence_number": number}


def _responses_events(turn: Turn) -> Events:
    whole = response(RESPONSES, turn)
    whole["output"] = [item for item in whole["output"] if item["type"] != "reasoning" or turn.thinking]
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for place, item in enumerate(whole["output"]):
        grow = {"reasoning": _responses_reasoning, "message": _responses_message}.get(item["type"], _responses_call)
        yield from grow(place, item)
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": whole}


def _responses_reasoning(place: int, item: dict[str, Any]) -> Events:
    yield {"type": "response.output_item.added", "output_index": place, "item": {**item, "summary": []}}
    where = {"item_id": item["id"], "output_index": place, "summary_index": 0}
    part = item["summary"][0]
    yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
    for piece in _pieces(RESPONSES, part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **where, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **where, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **where, "part": part}


def _responses_message(place: int, item: dict[str, Any]) -> Events:
    begun = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    where = {"item_id": item["id"], "output_index": place, "content_index": 0}
    part = item["content"][0]
    yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    for piece in _pieces(RESPONSES, part["text"]):
        yield {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}


def _responses_call(place: int, item: dict[str, Any]) -> Events:
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    where = {"item_id": item["id"], "output_index": place}
    for piece in _pieces(RESPONSES, item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]}


# -- Gemini ------------------------------------------------------------------------------------------------------


def _google(turn: Turn) -> Events:
    whole = response(GOOGLE, turn)
    candidate = whole["candidates"][0]
    counted = whole["usageMetadata"]
    beside = {key: whole[key] for key in ("modelVersion", "responseId")}
    spoken = 0

    def chunk(part: dict[str, Any], **ending: Any) -> dict[str, Any]:
        said = {"content": {"parts": [part], "role": "model"}, **ending, "index": 0}
        so_far = {**counted, "candidatesTokenCount": spoken, "totalTokenCount": counted["promptTokenCount"] + spoken}
        return {"candidates": [said], "usageMetadata": so_far, **beside}

    for part in candidate["content"]["parts"]:
        if "text" not in part:
            yield chunk(part)
            continue
        for piece in _pieces(GOOGLE, part["text"]) if turn.thinking or not part.get("thought") else ():
            spoken += len(piece) // 4
            yield chunk({**part, "text": piece})
    yield chunk({"text": ""}, finishReason=candidate["finishReason"])


_WRITERS = {
    ANTHROPIC: (_anthropic, _spell_anthropic),
    CHAT: (_chat, _spell_chat),
    RESPONSES: (_responses, _spell_responses),
    GOOGLE: (_google, _spell_google),
}


# -- a stream of any length --------------------------------------------------------------------------------------


def endless(api: str, size: int) -> Iterator[bytes]:
    """The frames of one answer of many blocks, made while they are read, until they are `size` bytes.

    Blocks have some 40,000 characters: thoughts and texts by turns, and for Chat, which has one text, calls.
    """
    # What comes before and after the blocks is that of any answer.
    turn = replace(long_answer(), thinking="", calls=(), citation=None, text="x" * 4 * _PIECE[api])
    made = frames(api, turn)
    first, last = {ANTHROPIC: (1, -2), CHAT: (1, -3), RESPONSES: (2, -1), GOOGLE: (0, -1)}[api]
    yield from made[:first]
    write, spell = _BLOCKS[api], _WRITERS[api][1]
    words = (long_answer().text * 6)[:40_000]
    length = number = 0
    paddings = _paddings()
    while length < size:
        for wire in write(number, words):
            frame = spell(wire, next(paddings))
            length += len(frame)
            yield frame
        number += 1
    yield from made[last:]


def _anthropic_blocks(number: int, words: str) -> Events:
    kind = "text" if number % 2 else "thinking"
    signed = {"signature": "c2lnbmVk"} if kind == "thinking" else {}
    return _anthropic_block(number, {"type": kind, kind: words, **signed})


def _chat_blocks(number: int, words: str) -> Events:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000, "model": "gpt-4.1"}
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "write_file", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"index": number, **call}]
    text = _write({"content": words}).decode()
    deltas += ({"index": number, "function": {"arguments": piece}} for piece in _pieces(CHAT, text))
    for delta in deltas:
        choice = {"index": 0, "delta": {"tool_calls": [delta]}, "logprobs": None, "finish_reason": None}
        yield {**head, "choices": [choice], "usage": None}


def _responses_blocks(number: int, words: str) -> Events:
    part = {"type": "output_text", "text": words, "annotations": []}
    item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]}
    yield from _responses_message(number, item)
    yield {"type": "response.output_item.done", "output_index": number, "item": item}


def _google_blocks(number: int, words: str) -> Events:
    for piece in _pieces(GOOGLE, words):
        part = {"text": piece} if number % 2 else {"text": piece, "thought": True}
        said = {"content": {"parts": [part], "role": "model"}, "index": 0}
        yield {"candidates": [said], "modelVersion": "gemini-2.5-pro", "responseId": "1"}


_BLOCKS = {ANTHROPIC: _anthropic_blocks, CHAT: _chat_blocks, RESPONSES: _responses_blocks, GOOGLE: _google_blocks}


# -- a stream as it is measured ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """A stream: its bytes in one, the JSON of its frames, and how many frames there are."""

    raw: bytes
    data: list[bytes]
    frames: int

    def cut(self, size: int) -> list[bytes]:
        """The bytes in chunks of this size."""
        return [self.raw[at : at + size] for at in range(0, len(self.raw), size)]


def sent(made: list[bytes]) -> Sent:
    """These frames as a stream."""
    return Sent(b"".join(made), data_of(made), len(made))


def recorded(body: list[dict[str, Any]]) -> Sent:
    """A recorded stream: a list of {event?, data}."""
    made = []
    for event in body:
        name = b"event: %b\n" % event["event"].encode() if event.get("event") else b""
        data = event["data"]
        made.append(b"%bdata: %b\n\n" % (name, data.encode() if isinstance(data, str) else _write(data)))
    return sent(made)
