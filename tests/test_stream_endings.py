"""Ends of streams: usage, errors, converted reasoning, and the time of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contentmodel import POLICIES, ChatResponse, Origin, adapter, convert, decode_stream, detect, fold_stream
from contentmodel.json import parse
from contentmodel.streams import convert_stream, encode_stream
from contentmodel.unfolding import unfold
from providers import PROVIDERS

ANTHROPIC, CHAT, RESPONSES, GEMINI = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "google-generate-content",
)


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def chunks_of(stream: bytes) -> list[dict[str, Any]]:
    """Return the JSON of each event of a stream."""
    lines = [line[6:] for line in stream.split(b"\n") if line.startswith(b"data: ") and line != b"data: [DONE]"]
    return [parse(line) for line in lines]


def thinking(*blocks: tuple[str, str]) -> bytes:
    """Return a stream of the Messages API with these blocks, each a type and its text."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    usage = {"input_tokens": 3, "output_tokens": 0}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**start, "usage": usage}}]
    for index, (kind, text) in enumerate(blocks):
        field = "thinking" if kind == "thinking" else "text"
        block = {"type": kind, field: "", **({"signature": ""} if kind == "thinking" else {})}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        for piece in (text[:1], text[1:]):
            delta = {"type": f"{field}_delta", field: piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return sse(*events)


def answer(*blocks: tuple[str, str]) -> dict[str, Any]:
    """Return an answer of the Messages API with these blocks."""
    content = [
        {
            "type": kind,
            "thinking" if kind == "thinking" else "text": text,
            **({"signature": "x"} if kind == "thinking" else {}),
        }
        for kind, text in blocks
    ]
    usage = {"input_tokens": 3, "output_tokens": 5}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


# -- usage -------------------------------------------------------------------------------------------------------------


def test_converted_chat_stream_has_a_choice_in_every_chunk() -> None:
    encoded = convert(thinking(("text", "Hello.")), source=ANTHROPIC, target=CHAT)
    chunks = chunks_of(encoded.payload)
    assert all(chunk["choices"] for chunk in chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"] == {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    assert fold_stream(encoded.payload, CHAT).usage.output_tokens == 5


def test_chat_stream_has_a_separate_usage_chunk_if_the_policy_is_chunk() -> None:
    policies = {"stream_usage": "chunk"}
    chunks = chunks_of(convert(thinking(("text", "Hi")), source=ANTHROPIC, target=CHAT, policies=policies).payload)
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 8
    assert "usage" not in chunks[-2]
    assert POLICIES["stream_usage"][0] == "last"


def test_chat_stream_keeps_its_own_usage_chunk() -> None:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": None}
    stream = sse(
        {**head, "choices": [first]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**head, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
    )
    chunks = chunks_of(convert(stream + b"data: [DONE]\n\n", source=CHAT, target=CHAT).payload)
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 3


# -- errors ------------------------------------------------------------------------------------------------------------


def failing_chat() -> bytes:
    """Return a Chat stream of a host that sends a finish reason, and then an error."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    probability = {"token": "Hi", "logprob": -1.0, "bytes": None, "top_logprobs": []}
    first = {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "logprobs": {"content": [probability]}}
    ended = {"index": 0, "delta": {}, "finish_reason": "length", "native_finish_reason": "MAX", "channel": "final"}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    error = {"message": "boom", "type": "server_error", "param": None, "code": "server_error"}
    return sse({**head, "choices": [first]}, {**head, "choices": [ended], "usage": usage}, {"error": error})


def test_chat_stream_keeps_finish_reason_and_usage_before_an_error() -> None:
    stream = failing_chat()
    again = convert(stream, source=CHAT, target=CHAT).payload
    folded = fold_stream(again, CHAT)
    assert folded == fold_stream(stream, CHAT)
    assert folded.finish_reason is not None
    assert folded.finish_reason.raw == "length"
    assert folded.usage.total_tokens == 3


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, RESPONSES])
def test_converted_stream_keeps_usage_and_no_finish_reason_before_an_error(target: str) -> None:
    made = convert(failing_chat(), source=CHAT, target=target)
    folded = fold_stream(made.payload, target)
    assert folded.error is not None
    assert folded.finish_reason is None or folded.finish_reason.reason not in ("stop", "tool_calls")
    assert folded.usage.output_tokens == 2


def test_responses_stream_reports_what_an_error_event_leaves_out() -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"index": 0, "delta": {"role": "assistant", "content": "A", "channel": "final"}, "finish_reason": None}
    second = {"index": 1, "delta": {"role": "assistant", "content": "B"}, "finish_reason": None}
    events = [{**chunk, "choices": [first], "provider": "x"}, {**chunk, "choices": [second]}]
    stream = sse(*events, {"error": {"message": "boom"}})
    made = convert(stream, source=CHAT, target=RESPONSES, kind="stream")
    assert chunks_of(made.payload)[-1]["type"] == "error"
    lost = [loss.path for loss in made.losses if loss.is_significant]
    assert "$.choices[1]" in lost
    assert {path.rpartition(".")[2] for path in lost} >= {"channel", "provider"}


def test_usage_before_an_error_is_in_a_failed_response() -> None:
    stream = thinking(("text", "Hello."))
    error = sse({"type": "error", "error": {"type": "api_error", "message": "boom"}})
    failed = stream[: stream.index(b'data: {"type": "message_delta"')] + error
    made = convert(failed, source=ANTHROPIC, target=RESPONSES)
    assert chunks_of(made.payload)[-1]["type"] == "response.failed"
    folded = fold_stream(made.payload, RESPONSES)
    assert (folded.text, folded.usage.input_tokens) == ("Hello.", 3)
    assert folded.error is not None
    assert folded.error.message == "boom"


def test_usage_of_a_truncated_stream_is_reported_as_a_loss_by_responses() -> None:
    stream = thinking(("text", "Hello."))
    cut = stream[: stream.index(b'"message_delta"') - 20]
    made = convert(cut, source=ANTHROPIC, target=RESPONSES)
    assert chunks_of(made.payload)[-1]["type"] == "error"
    assert "$.usage" in [loss.path for loss in made.losses]


def test_converted_truncated_stream_has_no_finish_reason() -> None:
    stream = thinking(("text", "Hello."))
    cut = stream[: stream.index(b'"message_delta"') - 20]
    for target in (CHAT, GEMINI, ANTHROPIC):
        folded = fold_stream(convert(cut, source=ANTHROPIC, target=target).payload, target)
        assert folded.text == "Hello."
        assert folded.error is not None
        assert folded.finish_reason is None


# -- bytes -------------------------------------------------------------------------------------------------------------


def test_fold_stream_accepts_bytes_text_and_iterables() -> None:
    stream = thinking(("text", "Hello."))
    expected = fold_stream([stream], ANTHROPIC)
    assert expected.text == "Hello."
    for whole in (stream, stream.decode(), bytearray(stream), memoryview(stream), [stream.decode()], iter([stream])):
        assert fold_stream(whole, ANTHROPIC) == expected
    assert list(decode_stream(stream, ANTHROPIC)) == list(decode_stream([stream], ANTHROPIC))
    assert b"".join(convert_stream(stream, source=ANTHROPIC, target=ANTHROPIC))


@pytest.mark.parametrize("wrong", [5, None, [5], [None], ChatResponse()])
def test_fold_stream_refuses_values_that_are_not_streams(wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        fold_stream(wrong, ANTHROPIC)


@pytest.mark.parametrize("created", [float("inf"), float("nan"), "soon"])
def test_chat_encoder_reports_an_invalid_time(created: Any) -> None:
    encoded = adapter(CHAT).encode_response(ChatResponse(created=created, origin=Origin(api="other", issuer="x")))
    assert encoded.payload["created"] == 0
    assert "$.created" in [loss.path for loss in encoded.losses]


def failed_stream(*items: dict[str, Any], done: int) -> bytes:
    """Return a stream of Responses that ends with an error. The first `done` items are complete."""
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "in_progress"}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": head}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if index < done:
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "error", "code": "server_error", "message": "boom", "param": None})
    return sse(*events)


def test_responses_encoder_keeps_the_type_of_an_error_event() -> None:
    error = {"type": "server_error", "code": None, "message": "The lighthouse is dark.", "param": None}
    stream = sse({"type": "error", "error": error, "sequence_number": 7})
    assert detect(stream) == (RESPONSES, "stream")
    encoder = adapter(RESPONSES).stream_encoder()
    again = b"".join(encoder.feed(event) for event in decode_stream(stream, RESPONSES)) + encoder.close()
    assert fold_stream(again, RESPONSES).error == fold_stream(stream, RESPONSES).error
    assert chunks_of(again)[-1]["error"] == error


def test_responses_encoder_drops_an_incomplete_search() -> None:
    """With its result, the search would look complete."""
    action = {"type": "search", "query": "cats", "sources": [{"type": "url", "url": "https://example.org/a"}]}
    stream = failed_stream({"type": "web_search_call", "id": "ws_1", "action": action}, done=0)
    encoder = adapter(RESPONSES).stream_encoder()
    again = b"".join(encoder.feed(event) for event in decode_stream(stream, RESPONSES)) + encoder.close()
    assert not fold_stream(again, RESPONSES).messages
    assert {loss.code for loss in encoder.losses} == {"interrupted-call"}


IN_PROGRESS: dict[str, list[dict[str, Any]]] = {
    RESPONSES: [
        {
            "type": "response.created",
            "sequence_number": 0,
            "response": {
                "id": "resp_1",
                "object": "response",
                "created_at": 1,
                "model": "m",
                "output": [],
                "status": "in_progress",
            },
        },
        {
            "type": "response.output_item.added",
            "sequence_number": 1,
            "output_index": 0,
            "item": {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []},
        },
        {
            "type": "response.content_part.added",
            "sequence_number": 2,
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []},
        },
        {
            "type": "response.output_text.delta",
            "sequence_number": 3,
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": "Half",
        },
    ],
    "google-interactions": [
        {
            "event_type": "interaction.created",
            "interaction": {"id": "v1", "object": "interaction", "status": "in_progress", "model": "g"},
        },
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "Half"}},
    ],
}


@pytest.mark.parametrize("source", IN_PROGRESS)
@pytest.mark.parametrize("target", PROVIDERS)
def test_answer_in_progress_has_no_finish_reason_if_its_stream_breaks_off(source: str, target: str) -> None:
    streamed = convert(sse(*IN_PROGRESS[source]), source=source, target=target, kind="stream").payload
    answer = fold_stream(streamed, api=target)
    assert answer.text == "Half"
    assert answer.error is not None
    # Cohere has no other place for an error than the finish reason.
    assert answer.finish_reason is None or answer.finish_reason.reason == "error"


CALLED: dict[str, dict[str, Any]] = {
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"text": "Look."}, {"toolUse": {"toolUseId": "call1call", "name": "f", "input": {}}}],
            }
        },
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
    "mistral-chat": {
        "id": "a",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Look.",
                    "tool_calls": [{"id": "call1call", "function": {"name": "f", "arguments": "{}"}}],
                },
                "finish_reason": "stop",
            }
        ],
    },
    "google-interactions": {
        "id": "v",
        "object": "interaction",
        "status": "completed",
        "steps": [{"type": "function_call", "id": "call1call", "name": "f", "arguments": {}}],
    },
}
"""Answers with calls that ended in the usual way."""


@pytest.mark.parametrize("api", CALLED)
def test_answer_with_calls_is_finished_by_them(api: str) -> None:
    body = CALLED[api]
    response = adapter(api).decode_response(body)
    assert response.finish_reason is not None
    assert response.finish_reason.reason == "tool_calls"
    assert adapter(api).encode_response(response).payload == body
    assert fold_stream([*encode_stream(unfold(response), api)], api) == response
    encoded = convert(body, source=api, target="openai-chat", kind="response")
    assert encoded.payload["choices"][0]["finish_reason"] == "tool_calls"


EVENT_FIELDS = ("content_block", "data", "delta", "event", "index", "item", "message", "part", "step", "text", "type")


@pytest.mark.parametrize("value", ["x", 7, None, {"y": 1}], ids=["text", "number", "null", "object"])
@pytest.mark.parametrize("api", PROVIDERS)
def test_fields_of_an_answer_may_have_the_names_of_the_fields_of_events(api: str, value: Any) -> None:
    answered = PROVIDERS[api].answer("Hi")
    answered = {**dict.fromkeys(EVENT_FIELDS, value), **answered}
    response = adapter(api).decode_response(answered)
    stream = b"".join(encode_stream(unfold(response), api))
    assert adapter(api).encode_response(fold_stream([stream], api)).payload == answered


@pytest.mark.parametrize("error", [None, "x", {"code": 1}])
def test_a_field_named_error_of_an_answer_of_cohere_is_no_failure_in_a_stream(error: Any) -> None:
    answered = {**PROVIDERS["cohere-chat"].answer("Hi"), "error": error}
    response = adapter("cohere-chat").decode_response(answered)
    stream = b"".join(encode_stream(unfold(response), "cohere-chat"))
    assert adapter("cohere-chat").encode_response(fold_stream([stream], "cohere-chat")).payload == answered


def test_the_type_of_a_message_that_changes_in_a_stream_is_inside_the_delta() -> None:
    # Beside the delta, it would be the type of the event: a reader would take the event for a whole answer.
    whole = {**PROVIDERS[ANTHROPIC].answer(""), "content": [], "stop_reason": "tool_use"}
    twice = sse(*({"type": "message_start", "message": {**whole, "type": kind}} for kind in ("other", "message")))
    written = b"".join(convert_stream([twice], source=ANTHROPIC, target=ANTHROPIC))
    changes = [data for data in chunks_of(written) if "usage" in data]
    assert [data["type"] for data in changes] == ["message_delta"]
    assert changes[0]["delta"]["type"] == "message"
