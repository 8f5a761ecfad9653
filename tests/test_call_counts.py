"""The number of Python calls of small conversions, pinned: of requests and of streams."""

from __future__ import annotations

import copy
import gc
import json
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

import contentmodel

ANTHROPIC, CHAT = contentmodel.adapter("anthropic-messages"), contentmodel.adapter("openai-chat")
RESPONSES = contentmodel.adapter("openai-responses")
REQUEST = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "toolu_01", "name": "look", "input": {"a": 1}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "a cat"}]},
    ],
    "tools": [
        {
            "name": "look",
            "description": "d",
            "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        }
    ],
}
BODY = json.dumps(REQUEST).encode()
DECODED = ANTHROPIC.decode_request(BODY)


def frames(events: list[dict[str, Any]]) -> list[bytes]:
    """Return events as server-sent events, with their names if they have a type."""
    named = [(b"event: %b\n" % event["type"].encode() if "type" in event else b"", event) for event in events]
    return [b"%bdata: %b\n\n" % (name, json.dumps(event, separators=(",", ":")).encode()) for name, event in named]


TEXTS = ("Hello", " wor", "ld")
ARGUMENTS = ('{"a":', " 1}")


def of_anthropic(block: dict[str, Any], deltas: list[dict[str, Any]]) -> list[bytes]:
    """Return a stream of Anthropic Messages with one block and one call."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    start, delta, stop = "content_block_start", "content_block_delta", "content_block_stop"
    pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ARGUMENTS]
    return frames(
        [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
            {"type": start, "index": 0, "content_block": block},
            *({"type": delta, "index": 0, "delta": one} for one in deltas),
            {"type": stop, "index": 0},
            {"type": start, "index": 1, "content_block": call},
            *({"type": delta, "index": 1, "delta": piece} for piece in pieces),
            {"type": stop, "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}},
            {"type": "message_stop"},
        ]
    )


OF_TEXT = of_anthropic({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in TEXTS])
OF_THOUGHT = of_anthropic(
    {"type": "thinking", "thinking": "", "signature": ""},
    [
        *({"type": "thinking_delta", "thinking": text} for text in TEXTS),
        {"type": "signature_delta", "signature": "c2ln"},
    ],
)


def of_responses() -> list[bytes]:
    """Return a stream of the Responses API with a message and a call."""
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": []}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "in_progress", "role": "assistant", "content": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "status": "in_progress"}
    text, arguments = "".join(TEXTS), "".join(ARGUMENTS)
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    of_call = {"item_id": "fc_1", "output_index": 1}
    done = [
        {**message, "status": "completed", "content": [{**part, "text": text}]},
        {**call, "status": "completed", "arguments": arguments},
    ]
    whole = {**head, "status": "completed", "output": done, "usage": {"input_tokens": 5, "output_tokens": 9}}
    events: list[tuple[str, dict[str, Any]]] = [
        ("created", {"response": {**head, "status": "in_progress"}}),
        ("output_item.added", {"output_index": 0, "item": message}),
        ("content_part.added", {**place, "part": part}),
        *(("output_text.delta", {**place, "delta": piece, "logprobs": []}) for piece in TEXTS),
        ("output_text.done", {**place, "text": text, "logprobs": []}),
        ("content_part.done", {**place, "part": {**part, "text": text}}),
        ("output_item.done", {"output_index": 0, "item": done[0]}),
        ("output_item.added", {"output_index": 1, "item": {**call, "arguments": ""}}),
        *(("function_call_arguments.delta", {**of_call, "delta": piece}) for piece in ARGUMENTS),
        ("function_call_arguments.done", {**of_call, "arguments": arguments, "name": "look"}),
        ("output_item.done", {"output_index": 1, "item": done[1]}),
        ("completed", {"response": whole}),
    ]
    return frames([{"type": f"response.{name}", "sequence_number": at, **e} for at, (name, e) in enumerate(events)])


def of_gemini() -> list[bytes]:
    """Return a stream of generateContent with a text and a call."""
    call = {"functionCall": {"name": "look", "args": {"a": 1}}}
    candidates: list[dict[str, Any]] = [
        *({"content": {"parts": [{"text": text}], "role": "model"}} for text in TEXTS),
        {"content": {"parts": [call], "role": "model"}, "finishReason": "STOP"},
    ]
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}
    rest = {"usageMetadata": counts, "modelVersion": "gemini-2.5-flash", "responseId": "r1"}
    return frames([{"candidates": [candidate], **rest} for candidate in candidates])


def counted(run: Callable[[], object]) -> tuple[int, int]:
    """Return the number of calls of Python functions, and of the files that these are in, of a warm run.

    The garbage collector also calls functions: it closes the generators of earlier runs.
    """
    run()
    run()
    gc.collect()
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            codes.append(frame.f_code)

    previous = sys.getprofile()
    gc.disable()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(previous)
        gc.enable()
    # The first is the function itself.
    files = {code.co_filename if code.co_filename[0] != "<" else "<rows>" for code in codes[1:]}
    return len(codes) - 1, len(files)


@pytest.mark.parametrize(
    ("run", "calls", "files"),
    [
        pytest.param(lambda: ANTHROPIC.trace_request(BODY), 90, 20, id="decode"),
        pytest.param(lambda: CHAT.encode_request(DECODED), 169, 33, id="encode"),
        pytest.param(lambda: RESPONSES.encode_request(DECODED), 247, 34, id="encode to Responses"),
        pytest.param(
            lambda: contentmodel.convert(BODY, source="anthropic-messages", target="openai-chat", kind="request"),
            279,
            44,
            id="convert",
        ),
    ],
)
def test_conversion_of_a_small_request_makes_few_calls(run: Callable[[], object], calls: int, files: int) -> None:
    made, seen = counted(run)
    assert made <= calls
    assert seen <= files


OF_CHAT = CHAT.decode_request(CHAT.encode_request(DECODED).payload)


@pytest.mark.parametrize(
    ("api", "read", "written"),
    [
        ("anthropic-messages", 90, 190),
        ("bedrock-converse", 136, 227),
        ("google-generate-content", 179, 335),
        ("google-interactions", 95, 221),
    ],
)
def test_small_request_of_claude_and_gemini_makes_few_calls(api: str, read: int, written: int) -> None:
    adapter = contentmodel.adapter(api)
    body = json.dumps(adapter.encode_request(DECODED).payload).encode()
    decoded, _ = counted(lambda: adapter.trace_request(body))
    encoded, _ = counted(lambda: adapter.encode_request(OF_CHAT))
    assert decoded <= read
    assert encoded <= written


@pytest.mark.parametrize(
    ("make", "calls"),
    [
        pytest.param(lambda: CHAT.encode_request(DECODED), 80, id="of the model"),
        pytest.param(
            lambda: contentmodel.convert(BODY, source="anthropic-messages", target="openai-chat", kind="request"),
            132,
            id="of the payload",
        ),
    ],
)
def test_losses_are_found_without_a_second_encoding(make: Callable[[], Any], calls: int) -> None:
    results = iter([make() for _ in range(3)])
    made, _ = counted(lambda: next(results).losses)
    assert made <= calls


@pytest.mark.parametrize(
    ("chunks", "source", "target", "calls"),
    [
        pytest.param([b"".join(OF_TEXT)], "anthropic-messages", "openai-chat", 480, id="text at once"),
        pytest.param([b"".join(OF_THOUGHT)], "anthropic-messages", "openai-chat", 544, id="thought at once"),
        pytest.param(OF_TEXT, "anthropic-messages", "openai-chat", 574, id="text"),
        pytest.param(OF_THOUGHT, "anthropic-messages", "openai-chat", 644, id="thought"),
        pytest.param(of_responses(), "openai-responses", "anthropic-messages", 847, id="Responses"),
        pytest.param(OF_TEXT, "anthropic-messages", "openai-responses", 851, id="to Responses"),
        pytest.param(of_gemini(), "google-generate-content", "openai-chat", 581, id="Gemini"),
        pytest.param([b"".join(OF_TEXT)], "anthropic-messages", "bedrock-converse", 657, id="to Converse"),
        pytest.param([b"".join(OF_TEXT)], "anthropic-messages", "google-generate-content", 543, id="to Gemini"),
        pytest.param([b"".join(OF_TEXT)], "anthropic-messages", "google-interactions", 588, id="to Interactions"),
    ],
)
def test_conversion_of_a_small_stream_makes_few_calls(
    chunks: list[bytes], source: str, target: str, calls: int
) -> None:
    made, _ = counted(lambda: list(contentmodel.convert_stream(chunks, source=source, target=target)))
    assert made <= calls


def test_conversion_of_a_text_delta_makes_few_calls() -> None:
    def converter_in_text() -> contentmodel.streams.StreamConverter:
        converter = contentmodel.streams.StreamConverter("anthropic-messages", "openai-chat")
        for frame in OF_TEXT[:3]:
            converter.feed(frame)
        return converter

    converters = iter([converter_in_text() for _ in range(3)])
    made, _ = counted(lambda: next(converters).feed(OF_TEXT[3]))
    assert made <= 12


def claude_turn(turn: int) -> list[Any]:
    _, assistant, results = copy.deepcopy(REQUEST["messages"])
    assistant["content"][1]["id"] = results["content"][0]["tool_use_id"] = f"toolu_1{turn}"
    return [assistant, results]


def responses_turn(turn: int) -> list[Any]:
    thought = [{"type": "summary_text", "text": "hm"}]
    call = {"type": "function_call", "id": f"fc_{turn}", "call_id": f"c{turn}", "name": "look", "arguments": '{"a": 1}'}
    return [
        {"type": "reasoning", "id": f"rs_{turn}", "summary": thought, "encrypted_content": "c2ln"},
        {**call, "status": "completed"},
        {"type": "function_call_output", "call_id": f"c{turn}", "output": "a cat"},
    ]


def gemini_turn(turn: int) -> list[Any]:
    call = {"functionCall": {"name": "look", "args": {"a": turn}}, "thoughtSignature": "c2ln"}
    result = {"functionResponse": {"name": "look", "response": {"output": "a cat"}}}
    return [
        {"role": "model", "parts": [{"text": "hm", "thought": True}, call]},
        {"role": "user", "parts": [result]},
    ]


def converse_turn(turn: int) -> list[Any]:
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}}
    call = {"toolUse": {"toolUseId": f"t{turn}", "name": "look", "input": {"a": turn}}}
    result = {"toolResult": {"toolUseId": f"t{turn}", "content": [{"text": "a cat"}]}}
    return [{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [result]}]


def interactions_turn(turn: int) -> list[Any]:
    return [
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "hm"}]},
        {"type": "function_call", "id": f"c{turn}", "name": "look", "arguments": {"a": turn}},
        {"type": "function_result", "call_id": f"c{turn}", "name": "look", "result": "a cat"},
    ]


@pytest.mark.parametrize(
    ("source", "target", "head", "field", "turn", "calls"),
    [
        pytest.param("anthropic-messages", "openai-chat", REQUEST, "messages", claude_turn, 20, id="claude"),
        pytest.param(
            "openai-responses", "anthropic-messages", {"model": "gpt-5"}, "input", responses_turn, 27, id="responses"
        ),
        pytest.param("google-generate-content", "anthropic-messages", {}, "contents", gemini_turn, 25, id="gemini"),
        pytest.param("bedrock-converse", "openai-chat", {}, "messages", converse_turn, 20, id="converse"),
        pytest.param(
            "google-interactions",
            "openai-chat",
            {"model": "gemini-3"},
            "input",
            interactions_turn,
            35,
            id="interactions",
        ),
    ],
)
def test_each_loss_of_a_long_transcript_is_found_with_few_calls(
    source: str, target: str, head: dict[str, Any], field: str, turn: Callable[[int], list[Any]], calls: int
) -> None:
    found: list[tuple[int, int]] = []
    for turns in (10, 60):
        payload = {**head, field: [item for number in range(turns) for item in turn(number)]}
        results = [contentmodel.convert(payload, source=source, target=target, kind="request") for _ in range(3)]
        number = len(contentmodel.convert(payload, source=source, target=target, kind="request").losses)
        made, _ = counted(lambda rest=results: rest.pop().losses)  # type: ignore[misc]
        found.append((made, number))
    (of_few, few), (of_many, many) = found
    assert many >= few + 50
    assert (of_many - of_few) / (many - few) <= calls


def searches(number: int) -> list[dict[str, Any]]:
    """Return a document of Pydantic AI with searches that Anthropic ran."""
    provider = {"tool_name": "web_search", "provider_name": "anthropic"}
    page = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "E"}
    parts = [
        part
        for call in (f"c{at}" for at in range(number))
        for part in (
            {**provider, "part_kind": "builtin-tool-call", "tool_call_id": call, "args": {"query": "q"}},
            {**provider, "part_kind": "builtin-tool-return", "tool_call_id": call, "content": [page]},
        )
    ]
    return [{"kind": "response", "parts": parts}]


def test_each_guest_of_a_framework_makes_few_calls() -> None:
    adapter = contentmodel.adapter("pydantic-ai-messages")
    read, written = [], []
    for number in (10, 30):
        document = searches(number)
        request = adapter.decode_request(document)
        read.append(counted(lambda document=document: adapter.trace_request(document))[0])  # type: ignore[misc]
        written.append(counted(lambda request=request: adapter.encode_request(request))[0])  # type: ignore[misc]
    assert (read[1] - read[0]) / 40 <= 106
    assert (written[1] - written[0]) / 40 <= 87
