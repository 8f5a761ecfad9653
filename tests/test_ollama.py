"""Ollama's own API, /api/chat: ids of calls, images, settings, streams in lines, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import ollama
import pytest
from ollama._types import ChatRequest as SdkRequest
from typer.testing import CliRunner

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    ErrorContent,
    FunctionCallContent,
    ReasoningContent,
    TextContent,
    convert,
)
from contentmodel.authoring import significant
from contentmodel.cli.app import app
from contentmodel.events import BlockStart, BlockStop, TextDelta, TurnComplete, TurnStart
from contentmodel.request import ChatOptions, ReasoningOptions
from contentmodel.serialize import loads
from contentmodel_conformance import laws
from contentmodel_conformance.server import LoopbackServer
from ollama_payloads import ANSWER, PNG, REQUEST

API = "ollama-chat"
ADAPTER: Any = contentmodel.adapter(API)


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def line(content: str = "", **message: Any) -> dict[str, Any]:
    """Return a line of a stream."""
    head = {"model": "qwen3", "created_at": "2026-11-23T10:00:00Z"}
    return {**head, "message": {"role": "assistant", "content": content, **message}, "done": False}


END = {**line(), "done": True, "done_reason": "stop", "total_duration": 5, "prompt_eval_count": 3, "eval_count": 4}


# -- requests ----------------------------------------------------------------------------------------------------------


def test_request_and_answer_are_written_unchanged() -> None:
    request, answer = ADAPTER.decode_request(REQUEST), ADAPTER.decode_response(ANSWER)
    assert ADAPTER.encode_request(request).payload == REQUEST
    assert ADAPTER.encode_response(answer).payload == ANSWER
    assert not ADAPTER.check_request(REQUEST)


def test_results_without_ids_are_paired_with_calls_by_name_and_order() -> None:
    messages = ADAPTER.decode_request(REQUEST).messages
    calls = [content.call_id for content in messages[2].contents if isinstance(content, FunctionCallContent)]
    results: list[Any] = [messages[3].contents[0], messages[4].contents[0]]
    assert calls == ["call_1", "call_2"]
    assert [(result.call_id, result.text) for result in results] == [("call_1", "11 degrees"), ("call_2", "22 degrees")]


def test_ids_of_answers_differ_between_answers() -> None:
    later = {**ANSWER, "created_at": "2026-11-23T10:00:01Z"}
    one, other = ([c.call_id for c in ADAPTER.decode_response(wire).tool_calls] for wire in (ANSWER, later))
    assert len({*one, *other}) == 4


def test_ids_of_other_apis_are_written_and_restored() -> None:
    tool_call = {"id": "call_x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": None, "tool_calls": [tool_call]},
            {"role": "tool", "tool_call_id": "call_x", "content": "1"},
        ],
    }
    made = convert(chat, source="openai-chat", target=API, kind="request")
    assert made.payload["messages"][1]["tool_calls"] == [{"id": "call_x", "function": {"name": "f", "arguments": {}}}]
    assert made.payload["messages"][2] == {"role": "tool", "tool_call_id": "call_x", "tool_name": "f", "content": "1"}
    back = convert(made.payload, source=API, target="openai-chat", kind="request").payload["messages"]
    assert back[1]["tool_calls"] == chat["messages"][1]["tool_calls"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("wire", "streams"), [({}, True), ({"stream": None}, True), ({"stream": False}, False), ({"stream": True}, True)]
)
def test_request_without_stream_is_streamed(wire: dict[str, Any], streams: bool) -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "?"}], **wire}
    request = ADAPTER.decode_request(payload)
    assert request.options.stream is streams
    assert ADAPTER.encode_request(request).payload == payload
    edited = msgspec.structs.replace(request, options=ChatOptions(stream=False))
    assert ADAPTER.encode_request(edited).payload["stream"] is False


def test_request_of_another_api_gets_stream_false() -> None:
    request = ChatRequest(model="m", messages=[ChatMessage(role="user", contents=[TextContent(text="?")])])
    encoded = ADAPTER.encode_request(request)
    assert encoded.payload["stream"] is False
    assert not significant(encoded.losses)


@pytest.mark.parametrize(
    ("think", "reasoning"),
    [
        (True, ReasoningOptions(mode="adaptive")),
        (False, ReasoningOptions(mode="disabled")),
        ("high", ReasoningOptions(effort="high")),
    ],
)
def test_think_decodes_to_a_mode_or_a_level(think: Any, reasoning: ReasoningOptions) -> None:
    request = ADAPTER.decode_request({"model": "m", "messages": [], "think": think})
    assert request.options.reasoning == reasoning


def test_effort_that_ollama_lacks_becomes_the_nearest_level() -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "?"}], "reasoning_effort": "xhigh"}
    encoded = convert(chat, source="openai-chat", target=API, kind="request", model="gpt-oss:20b")
    assert encoded.payload["think"] == "high"
    assert "$.reasoning_effort" in [loss.path for loss in encoded.losses]


def test_image_gets_the_media_type_of_its_first_bytes() -> None:
    user = ADAPTER.decode_request(REQUEST).messages[1]
    assert user.contents[1] == DataContent(data=PNG, media_type="image/png")
    made = convert(REQUEST, source=API, target="anthropic-messages", kind="request")
    images = [part for part in made.payload["messages"][0]["content"] if part["type"] == "image"]
    assert images[0]["source"] == {"type": "base64", "media_type": "image/png", "data": PNG}


def converted(source: str, payload: dict[str, Any]) -> contentmodel.Encoded:
    """Return a request of another API, converted with an audit."""
    made = convert(payload, source=source, target=API, kind="request")
    assert not contentmodel.audit(payload, made)
    return made


def test_schema_of_the_answer_becomes_the_format() -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("city", "land")}}
    response_format = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}}
    chat = {"model": "m", "messages": [{"role": "user", "content": "?"}], "response_format": response_format}
    assert converted("openai-chat", chat).payload["format"] == schema


def test_any_json_is_the_format_json() -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "?"}], "response_format": {"type": "json_object"}}
    made = converted("openai-chat", chat)
    assert made.payload["format"] == "json"
    back = convert(made.payload, source=API, target="openai-chat", kind="request")
    assert back.payload["response_format"] == chat["response_format"]
    assert not contentmodel.audit(made.payload, back)


@pytest.mark.parametrize(("number", "codes"), [(40.0, ["no-model"]), (39.6, ["whole-number", "no-model"])])
def test_top_k_of_another_api_becomes_a_whole_number(number: float, codes: list[str]) -> None:
    contents = [{"role": "user", "parts": [{"text": "?"}]}]
    google = {"contents": contents, "generationConfig": {"topK": number}}
    made = converted("google-generate-content", google)
    top_k = made.payload["options"]["top_k"]
    assert (top_k, top_k.__class__) == (40, int)
    assert [loss.code for loss in made.losses] == codes


def test_missing_model_is_a_loss_and_breaks_a_rule() -> None:
    made = converted("google-generate-content", {"contents": [{"role": "user", "parts": [{"text": "?"}]}]})
    assert [loss.code for loss in made.losses] == ["no-model"]
    assert [violation.rule for violation in ADAPTER.check_request(made.payload)] == ["model-required"]
    laws.rules(ADAPTER, made)


def test_encoder_reports_lost_attributes_of_an_image() -> None:
    cached = {"type": "ephemeral", "ttl": "5m"}
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}, "cache_control": cached}
    made = converted("openai-chat", {"model": "m", "messages": [{"role": "user", "content": [image]}]})
    assert "$.messages[0].content[0].cache_control" in [loss.path for loss in made.losses]
    part = {"inlineData": {"mimeType": "image/png", "data": PNG}, "thoughtSignature": "c2ln"}
    google = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    answer = convert(google, source="google-generate-content", target=API, kind="response")
    assert "$.candidates[0].content.parts[0].thoughtSignature" in [loss.path for loss in answer.losses]


TEXT_CALL = {"function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"model": ""}, "model-required"),
        ({"think": "huge"}, "thinking-is-known"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "?"}]}]}, "content-is-text"),
        ({"messages": [{"role": "user", "images": ["data:image/png;base64,AA=="]}]}, "images-are-base64"),
        ({"messages": [{"role": "assistant", "tool_calls": [TEXT_CALL]}]}, "arguments-are-objects"),
        ({"messages": [{"role": "tool", "content": "1", "tool_call_id": "a"}]}, "results-follow-their-calls"),
    ],
)
def test_check_reports_what_the_server_refuses(changed: dict[str, Any], rule: str) -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "?"}], **changed}
    assert rule in [violation.rule for violation in ADAPTER.check_request(payload)]


def test_sdk_accepts_converted_requests() -> None:
    chat = convert(REQUEST, source=API, target="openai-chat", kind="request").payload
    made = convert(chat, source="openai-chat", target=API, kind="request").payload
    read = SdkRequest(**made)
    assert read.messages is not None
    assert len(read.messages) == 7


# -- streams -----------------------------------------------------------------------------------------------------------


def test_stream_folds_to_the_answer_that_it_has_without_streaming() -> None:
    message = ANSWER["message"]
    raw = lines(
        line(thinking="Two "),
        line(thinking="cities."),
        line("Let me "),
        line("look."),
        line(tool_calls=message["tool_calls"][:1]),
        line(tool_calls=message["tool_calls"][1:]),
        {**ANSWER, "message": {"role": "assistant", "content": ""}},
    ).replace(b"2026-11-23T10:00:00Z", ANSWER["created_at"].encode())
    assert contentmodel.fold_stream(raw, API) == ADAPTER.decode_response(ANSWER)


def test_stream_without_last_line_break_is_complete() -> None:
    assert contentmodel.fold_stream(lines(line("Hi"), END)[:-1], API).error is None


def test_thinking_after_the_text_belongs_to_the_same_content() -> None:
    answer = contentmodel.fold_stream(lines(line(thinking="a"), line("x"), line(thinking="b"), line("y"), END), API)
    assert answer.messages[0].contents == [ReasoningContent(text="ab"), TextContent(text="xy")]


def test_log_probabilities_of_all_lines_are_kept() -> None:
    tokens = [{"token": text, "logprob": -0.5} for text in "ab"]
    raw = lines({**line("a"), "logprobs": tokens[:1]}, {**line("b"), "logprobs": tokens[1:]}, END)
    assert contentmodel.fold_stream(raw, API).choices[0].logprobs == tokens


@pytest.mark.parametrize(
    ("end", "code"),
    [(b'{"error":"the model crashed"}\n', None), (b'{"mess', "stream_ended"), (b'{"mess\n', "stream_malformed")],
)
def test_stream_that_breaks_keeps_its_text(end: bytes, code: str | None) -> None:
    answer = contentmodel.fold_stream(lines(line("Half")) + end, API)
    assert answer.text == "Half"
    assert answer.error is not None
    assert answer.error.code == code


def test_stream_of_another_api_is_written_in_lines() -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": reason}]}
        for text, reason in (("He", None), ("llo", None), ("", "stop"))
    ]
    raw = b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in chunks) + b"data: [DONE]\n\n"
    made = b"".join(contentmodel.convert_stream([raw], source="openai-chat", target=API))
    wires = [json.loads(text) for text in made.splitlines()]
    assert [wire["message"]["content"] for wire in wires] == ["He", "llo", ""]
    assert [wire["done"] for wire in wires] == [False, False, True]
    assert wires[-1]["done_reason"] == "stop"


def test_content_that_becomes_a_text_is_separated_in_streams() -> None:
    blocks = [{"type": "compaction", "content": "A summary."}, {"type": "text", "text": "Hello"}]
    message = {"id": "a", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    answer: Any = contentmodel.adapter("anthropic-messages").decode_response({**message, "stop_reason": "end_turn"})
    whole = ADAPTER.encode_response(answer).payload["message"]["content"]
    encoder = ADAPTER.stream_encoder()
    made = b"".join(map(encoder.feed, contentmodel.unfold(answer))) + encoder.close()
    assert whole == "A summary.\n\nHello"
    assert "".join(json.loads(text)["message"]["content"] for text in made.splitlines()) == whole


def test_block_that_becomes_a_call_is_written_after_its_text() -> None:
    call = FunctionCallContent(call_id="call_1", name="weather", arguments="")
    response = contentmodel.ChatResponse(choices=[contentmodel.ChatChoice(messages=[ChatMessage(role="assistant")])])
    events = [
        TurnStart(response=contentmodel.ChatResponse(id="i", model="m")),
        *(BlockStart(index=0, content=TextContent(text="")), TextDelta(index=0, text="Hi.")),
        *(BlockStop(index=0, content=call), TurnComplete(response=response, layout=[[[0]]])),
    ]
    encoder = ADAPTER.stream_encoder()
    made = b"".join(map(encoder.feed, events)) + encoder.close()
    messages = [json.loads(text)["message"] for text in made.splitlines()]
    assert messages[0]["content"] == "Hi."
    assert messages[1]["tool_calls"][0]["function"]["name"] == "weather"


def test_stream_is_detected_by_its_first_line() -> None:
    raw = lines(line("Hi"), END)
    assert contentmodel.detect(raw) == (API, "stream")
    assert contentmodel.detect(lines(ANSWER)) == (API, "response")
    assert contentmodel.detect(json.dumps(REQUEST, indent=1)) == (API, "request")


@pytest.mark.parametrize("name", ["answer.ndjson", "answer"])
def test_command_converts_lines_as_one_stream(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(lines(line("Hel"), line("lo"), END))
    made = CliRunner().invoke(app, ["convert", str(path), "--to", "contentmodel", "--quiet"])
    assert loads(made.stdout).text == "Hello"


@pytest.mark.parametrize("number", [-1, -2])
@pytest.mark.parametrize("target", ["bedrock-converse", "mistral-chat", "google-interactions", "openai-responses"])
def test_number_of_tokens_without_a_limit_is_no_limit_elsewhere(target: str, number: int) -> None:
    messages = [{"role": "user", "content": "Hi."}]
    payload = {"model": "m", "messages": messages, "stream": False, "options": {"num_predict": number}}
    request = ADAPTER.decode_request(payload)
    assert request.options.max_output_tokens is None
    assert ADAPTER.encode_request(request).payload == payload
    made = convert(payload, source=API, target=target)
    assert str(number) not in made.to_json().decode()
    assert ("$.options", "dropped") in {(loss.path, loss.kind) for loss in made.losses}


# -- errors and the official client ------------------------------------------------------------------------------------


def test_error_is_encoded_as_a_text() -> None:
    answer = ADAPTER.decode_response({"error": "model 'x' not found"})
    assert answer.error == ErrorContent(message="model 'x' not found")
    encoded = convert(
        {"type": "error", "error": {"type": "not_found_error", "message": "No such model."}},
        source="anthropic-messages",
        target=API,
        kind="response",
    )
    assert encoded.payload == {"error": "No such model."}
    assert encoded.status == 404


def test_official_client_reads_calls_and_images_of_answers() -> None:
    answer = ADAPTER.decode_response(ANSWER)
    with LoopbackServer([answer, answer]) as server:
        client = ollama.Client(host=server.base_url(API))
        whole = client.chat(model="m", messages=[{"role": "user", "content": "?"}])
        assert ADAPTER.decode_response(whole).messages == answer.messages
        chunks = list(client.chat(model="m", messages=[{"role": "user", "content": "?"}], stream=True))
    decoder = ADAPTER.stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed_event(chunk)]
    read = contentmodel.fold([*events, *decoder.close()])
    assert read.messages == answer.messages
    assert [record.is_stream for record in server.requests] == [False, True]
    assert {record.status for record in server.requests} == {200}


# -- log probabilities ---------------------------------------------------------------------------------------------

OTHER = {"token": "ho", "bytes": None, "logprob": -2}
TOKEN = {"token": "hi", "bytes": [104, 105], "logprob": -0.1, "top_logprobs": [OTHER]}


def test_log_probabilities_are_those_of_chat_completions() -> None:
    payload = {**line("hi"), "done": True, "done_reason": "stop", "logprobs": [TOKEN, {"token": "!", "logprob": -1}]}
    converted = convert(payload, source=API, target="openai-chat", kind="response")
    tokens = [TOKEN, {"token": "!", "bytes": None, "logprob": -1, "top_logprobs": []}]
    assert converted.payload["choices"][0]["logprobs"] == {"content": tokens, "refusal": None}
    assert "logprobs" not in str([loss.path for loss in converted.losses])
    assert contentmodel.audit(payload, converted) == []
    back = convert(converted.payload, source="openai-chat", target=API, kind="response")
    assert back.payload["logprobs"] == tokens


def test_fields_of_tokens_that_the_target_lacks_are_reported() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    own = {**TOKEN, "token_id": 5, "top_logprobs": [{**OTHER, "bytes": [1], "token id": 7}]}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "usage": {}}
    payload = {**answer, "choices": [{**choice, "logprobs": {"content": [own], "refusal": [TOKEN]}}]}
    for source, target in (("mistral-chat", "openai-chat"), ("openai-chat", API)):
        converted = convert(payload, source=source, target=target, kind="response")
        at = "$.choices[0].logprobs"
        paths = [loss.path for loss in converted.losses if loss.path.startswith(at)]
        first = f"{at}.content[0]"
        assert paths == [f"{at}.refusal", f"{first}.token_id", f"{first}.top_logprobs[0]['token id']"]
        assert contentmodel.audit(payload, converted) == []


def test_log_probabilities_of_another_form_are_lost() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    for value in (
        {"content": None},
        {"content": [{"token": 1, "logprob": 1}]},
        [1],
        {"content": [{**TOKEN, "bytes": "a"}]},
    ):
        payload = {"object": "chat.completion", "choices": [{**choice, "logprobs": value}]}
        converted = convert(payload, source="openai-chat", target=API, kind="response")
        assert "logprobs" not in converted.payload
        assert "$.choices[0].logprobs" in [loss.path for loss in converted.losses if loss.code == "provider-form"]
