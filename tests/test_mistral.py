"""Mistral's chat completions: requests, answers and streams, and the models of its SDK."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from mistralai.client import models

import contentmodel
from contentmodel import HostedToolResultContent, ReasoningContent, TextContent, convert, fold_stream
from contentmodel.events import BlockStart
from contentmodel.streams import StreamConverter, decode_stream, encode_stream
from contentmodel.unfolding import unfold
from providers import frames

API = "mistral-chat"
MISTRAL = contentmodel.adapter(API)
MODEL = "mistral-medium-latest"
REFERENCE = {"type": "reference", "reference_ids": [1, 2]}
THINKING = {
    "type": "thinking",
    "thinking": [{"type": "text", "text": "One "}, REFERENCE, {"type": "text", "text": "is enough."}],
    "closed": True,
}
PARTS = [
    {"type": "text", "text": "Look."},
    REFERENCE,
    {"type": "reference", "reference_ids": ["a"]},
    {"type": "image_url", "image_url": "https://example.org/cat.png"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
    {"type": "document_url", "document_url": "https://example.org/paper.pdf", "document_name": "paper.pdf"},
    {"type": "file", "file_id": "f1"},
    {"type": "input_audio", "input_audio": "SUQzBAA="},
    {"type": "resource", "uri": "notes://1", "content": {"type": "text", "text": "A note."}},
    {"type": "resource_link", "uri": "https://example.org/a.txt", "metadata": {"size": 1}},
]


def call(call_id: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look_up", "arguments": arguments}}


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": list(messages), **fields}


def foreign(*after: dict[str, Any]) -> dict[str, Any]:
    """Return a request of Chat Completions with a call, its result, and the messages after it."""
    return {
        "model": "gpt-5.2",
        "messages": [
            {"role": "user", "content": "What is a cat?"},
            {"role": "assistant", "content": None, "tool_calls": [call("call_of_openai")]},
            {"role": "tool", "tool_call_id": "call_of_openai", "content": "A small animal."},
            *after,
        ],
        "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}],
    }


def sent(payload: dict[str, Any], **options: Any) -> contentmodel.Encoded:
    """Convert a request to Mistral. The models of the SDK accept it, and it breaks no rule."""
    encoded = convert(payload, target=API, model=options.pop("model", MODEL), **options)
    models.ChatCompletionRequest.model_validate(encoded.payload)
    assert MISTRAL.check_request(encoded.payload) == []
    return encoded


# -- errors --------------------------------------------------------------------------------------------------------

OLD_VLLM = {"object": "error", "message": "No model x.", "type": "NotFoundError", "param": None, "code": 404}
INVALID = {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required", "input": {}}]}


def test_detect_takes_error_with_a_numeric_code_as_one_of_another_host() -> None:
    own = {"object": "error", "message": "Wait.", "type": "rate_limited", "param": None, "code": "1300"}
    assert contentmodel.detect(own) == (API, "response")
    assert contentmodel.detect({**own, "raw_status_code": 429}) == (API, "response")
    assert contentmodel.detect(OLD_VLLM) == ("openai-chat", "response")
    assert convert(OLD_VLLM, target="anthropic-messages").status == 404


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (OLD_VLLM, "not_found", 404),
        (
            {"object": "error", "message": "No.", "type": "new", "code": "9", "raw_status_code": 401},
            "authentication",
            401,
        ),
        (INVALID, "invalid_request", 400),
    ],
)
def test_error_has_the_kind_of_its_status_or_of_its_form(body: dict[str, Any], kind: str, status: int) -> None:
    read = MISTRAL.decode_response(body)
    assert read.error.kind == kind
    encoded = MISTRAL.encode_response(read)
    assert (encoded.payload, encoded.status) == (body, status)


# -- requests ----------------------------------------------------------------------------------------------------------


def test_decoder_supports_every_part_and_tool_of_the_sdk() -> None:
    tools = [{"type": "image_generation"}, {"type": "document_library", "library_ids": ["l"]}]
    payload = request(
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": [THINKING, *PARTS], "tool_calls": [call("Kx8sP2mQ1")], "prefix": False},
        {"role": "tool", "tool_call_id": "Kx8sP2mQ1", "name": "look_up", "content": PARTS},
        tools=[*tools, {"type": "connector", "connector_id": "c"}],
    )
    models.ChatCompletionRequest.model_validate(payload)
    decoded = MISTRAL.decode_request(payload)
    assert MISTRAL.encode_request(decoded).payload == payload
    assert b'"unknown"' not in contentmodel.dumps(decoded)
    assert [tool.kind for tool in decoded.tools] == ["image_generation", "file_search", "connector"]


@pytest.mark.parametrize("content", ["Hi.", [{"type": "text", "text": "Hi."}]])
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_encoder_keeps_the_form_of_content(role: str, content: Any) -> None:
    payload = request({"role": role, "content": content})
    decoded = MISTRAL.decode_request(payload)
    assert decoded.messages[0].text == "Hi."
    assert MISTRAL.encode_request(decoded).payload == payload


@pytest.mark.parametrize("arguments", ['{"a":  1}', {"a": 1}])
def test_encoder_keeps_the_form_of_arguments_and_sends_text_elsewhere(arguments: Any) -> None:
    payload = request({"role": "assistant", "content": "", "tool_calls": [call("Kx8sP2mQ1", arguments)]})
    decoded = MISTRAL.decode_request(payload)
    assert decoded.messages[0].tool_calls[0].arguments_object == {"a": 1}
    assert MISTRAL.encode_request(decoded).payload == payload
    chat = convert(payload, source=API, target="openai-chat").payload
    assert json.loads(chat["messages"][0]["tool_calls"][0]["function"]["arguments"]) == {"a": 1}


@pytest.mark.parametrize("choice", ["any", "required"])
def test_encoder_keeps_the_spelling_of_a_required_call(choice: str) -> None:
    payload = request({"role": "user", "content": "Hi."}, tool_choice=choice)
    decoded = MISTRAL.decode_request(payload)
    assert decoded.options.tool_choice is not None
    assert decoded.options.tool_choice.mode == "required"
    assert MISTRAL.encode_request(decoded).payload == payload
    assert convert(payload, source=API, target="openai-chat").payload["tool_choice"] == "required"


def test_reasoning_with_references_has_its_text_and_keeps_its_parts() -> None:
    payload = request({"role": "assistant", "content": [THINKING]})
    decoded = MISTRAL.decode_request(payload)
    (reasoning,) = decoded.messages[0].contents
    assert isinstance(reasoning, ReasoningContent)
    assert reasoning.text == "One is enough."
    edited = contentmodel.message.ChatMessage(
        role="assistant",
        contents=[ReasoningContent(text="Two.", extra=reasoning.extra)],
        origin=decoded.messages[0].origin,
    )
    wire = MISTRAL.encode_request(
        contentmodel.ChatRequest(model=MODEL, messages=[edited], origin=decoded.origin)
    ).payload
    assert wire["messages"][0]["content"][0] == {**THINKING, "thinking": [{"type": "text", "text": "Two."}]}


# -- requests of other APIs --------------------------------------------------------------------------------------------


def test_ids_of_other_apis_become_nine_characters_and_are_restored() -> None:
    encoded = sent(foreign())
    (made,) = encoded.payload["messages"][1]["tool_calls"]
    assert len(made["id"]) == 9
    assert made["id"].isalnum()
    assert encoded.payload["messages"][2]["tool_call_id"] == made["id"]
    message = {"role": "assistant", "content": "", "tool_calls": [call(made["id"])]}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": MODEL, "usage": {}}
    answer["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    back = convert(answer, source=API, target="openai-chat", maps=encoded.maps).payload
    assert back["choices"][0]["message"]["tool_calls"][0]["id"] == "call_of_openai"


def test_assistant_message_is_added_between_a_tool_and_a_user_message() -> None:
    encoded = sent(foreign({"role": "user", "content": "In one sentence."}))
    assert [message["role"] for message in encoded.payload["messages"]] == [
        *("user", "assistant", "tool", "assistant", "user")
    ]
    assert "mistral-chat-bridge" in {loss.code for loss in encoded.losses}


def test_system_message_after_an_answer_is_sent_as_user() -> None:
    after = [{"role": "assistant", "content": "It is one."}, {"role": "developer", "content": "Be brief."}]
    encoded = sent(foreign(*after))
    assert encoded.payload["messages"][-1]["role"] == "user"
    assert {"mistral-chat-system", "mistral-chat-developer"} <= {loss.code for loss in encoded.losses}


def test_user_message_after_a_tool_message_breaks_a_rule() -> None:
    result = {"role": "tool", "tool_call_id": "Kx8sP2mQ1", "content": "Done."}
    calls = {"role": "assistant", "content": "", "tool_calls": [call("Kx8sP2mQ1")]}
    found = MISTRAL.check_request(request(calls, result, {"role": "user", "content": "And?"}))
    assert [(one.rule, one.path) for one in found] == [("roles-in-order", "$.messages[2].role")]


@pytest.mark.parametrize(("model", "kinds"), [("voxtral-small-latest", ["input_audio"]), (MODEL, [])])
def test_audio_is_sent_only_to_models_that_accept_it(model: str, kinds: list[str]) -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "SUQzBAA=", "format": "mp3"}}
    text = {"type": "text", "text": "Listen."}
    payload = {"model": "gpt-audio", "messages": [{"role": "user", "content": [text, audio]}]}
    content = sent(payload, source="openai-chat", model=model).payload["messages"][0]["content"]
    assert [part["type"] for part in content if not isinstance(part, str) and part["type"] != "text"] == kinds


@pytest.mark.parametrize(("effort", "written"), [("medium", "high"), ("none", "none")])
def test_effort_of_another_api_becomes_one_that_the_model_supports(effort: str, written: str) -> None:
    assert sent({**foreign(), "reasoning_effort": effort}).payload["reasoning_effort"] == written


# -- answers and streams -----------------------------------------------------------------------------------------------


def test_error_at_the_top_of_the_body_becomes_an_error_of_another_api() -> None:
    body = {"object": "error", "message": "Slow down.", "type": "rate_limited", "param": None, "code": "1300"}
    decoded = MISTRAL.decode_response(body)
    assert decoded.error is not None
    assert (decoded.error.message, decoded.error.kind) == ("Slow down.", "rate_limit")
    assert MISTRAL.encode_response(decoded).payload == body
    chat = convert(body, source=API, target="openai-chat", kind="response").payload
    assert chat["error"]["type"] == "rate_limit_error"
    assert convert(chat, target=API, kind="response").payload["type"] == "rate_limited"


def chunk(*content: Any, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    inner = {**({"content": content[0]} if content else {}), **delta}
    choice = {"index": 0, "delta": inner, "finish_reason": finish}
    return {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


def test_decoder_merges_parts_texts_and_pieces_of_calls() -> None:
    thinking = [{"type": "text", "text": "I look "}]
    first = {**call("Kx8sP2mQ1", '{"a"'), "index": 0}
    stream = frames(
        chunk([{"type": "thinking", "thinking": thinking}], role="assistant"),
        chunk([{"type": "thinking", "thinking": [{"type": "text", "text": "it up."}]}]),
        chunk("Wait"),
        chunk("."),
        chunk("", tool_calls=[first]),
        chunk("", tool_calls=[{"id": "null", "function": {"name": "", "arguments": ": 1}"}, "index": 0}]),
        chunk("", finish="tool_calls"),
        "[DONE]",
    )
    answer = fold_stream(stream, API)
    reasoning, text, made = answer.messages[0].contents
    assert isinstance(reasoning, ReasoningContent)
    assert isinstance(text, TextContent)
    assert (reasoning.text, text.text) == ("I look it up.", "Wait.")
    assert (made.call_id, made.arguments_object) == ("Kx8sP2mQ1", {"a": 1})
    payload = MISTRAL.encode_response(answer).payload
    assert MISTRAL.decode_response(payload).messages[0].contents == answer.messages[0].contents


@pytest.mark.parametrize(("model", "api"), [(MODEL, API), ("gpt-5.2", "openai-chat")])
def test_detect_uses_the_name_of_the_model(model: str, api: str) -> None:
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": model, "usage": {}}
    answer["choices"] = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}]
    assert contentmodel.detect(answer) == (api, "response")
    assert contentmodel.detect({"model": model, "messages": [{"role": "user", "content": "Hi."}]}) == (api, "request")


@pytest.mark.parametrize(
    ("fields", "api"),
    [
        ({"max_tokens": 5, "reasoning_effort": "high", "guardrails": []}, API),
        ({"random_seed": 1, "newer": 2}, API),
        ({"max_completion_tokens": 100, "seed": 5, "stream_options": {}}, "openai-chat"),
        ({"user": "u1"}, "openai-chat"),
        ({"options": {"temperature": 0.1}, "keep_alive": "5m"}, "ollama-chat"),
        ({"messages": [{"role": "user", "content": "What?", "images": ["iVBORw0KGgo="]}]}, "ollama-chat"),
    ],
)
def test_detect_prefers_fields_of_other_hosts_to_the_name_of_the_model(fields: dict[str, Any], api: str) -> None:
    payload = {"model": "mistral-small3.2", "messages": [{"role": "user", "content": "Hi."}], **fields}
    assert contentmodel.detect(payload) == (api, "request")


def relayed(*deltas: dict[str, Any]) -> tuple[bytes, bytes, Any]:
    """Return a stream of these deltas, the stream that it converts to for its own API, and the losses."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    ends = [*([None] * (len(deltas) - 1)), "stop"]
    choices = [{"index": 0, "delta": d, "finish_reason": end} for d, end in zip(deltas, ends, strict=True)]
    stream = b"".join(frames(*({**head, "choices": [choice]} for choice in choices)))
    converter = StreamConverter(API, API)
    return stream, converter.feed(stream) + converter.close(), converter.losses


TOOL_REFERENCE = {"type": "tool_reference", "tool": "web_search", "title": "A page"}


@pytest.mark.parametrize(
    "parts",
    [
        THINKING["thinking"],
        [REFERENCE, {"type": "text", "text": "a"}, TOOL_REFERENCE],
        [TOOL_REFERENCE],
    ],
)
def test_relayed_stream_keeps_references_between_thoughts(parts: list[dict[str, Any]]) -> None:
    pieces = [{"content": [{"type": "thinking", "thinking": [part]}]} for part in parts]
    for deltas in ([{"content": [{**THINKING, "thinking": parts}]}], pieces):
        stream, made, losses = relayed(*deltas, {"content": "Done."})
        assert fold_stream(made, API) == fold_stream(stream, API)
        assert not losses
        (thought, _) = fold_stream(made, API).messages[0].contents
        assert thought.extra[API]["thinking"] == parts


def test_encoded_stream_of_an_answer_keeps_references_between_thoughts() -> None:
    message = {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Done."}]}
    answer = {"id": "c1", "created": 1, "model": MODEL, "choices": [{"index": 0, "message": message}]}
    response = MISTRAL.decode_response(answer)
    encoder = MISTRAL.stream_encoder()
    made = b"".join(encoder.feed(event) for event in unfold(response, size=2)) + encoder.close()
    assert fold_stream(made, API).messages == response.messages


def test_relayed_stream_keeps_the_list_of_a_single_text() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    answer = {"id": "c1", "created": 1, "model": MODEL, "choices": [{"index": 0, "message": message}]}
    response = MISTRAL.decode_response(answer)
    events = list(unfold(response, size=2))
    for _ in range(2):
        encoder, decoder = MISTRAL.stream_encoder(), MISTRAL.stream_decoder()
        made = b"".join(map(encoder.feed, events)) + encoder.close()
        events = [*decoder.feed(made), *decoder.close()]
        assert fold_stream(made, API).messages == response.messages


@pytest.mark.parametrize("text", ["Sure, ", "Sure,\n"])
def test_answer_to_continue_has_no_white_space_at_its_end_at_claude(text: str) -> None:
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": text, "prefix": True}]
    request = {"model": MODEL, "messages": messages}
    claude = contentmodel.adapter("anthropic-messages")
    made = convert(request, source=API, target="anthropic-messages", model="claude-sonnet-4-5")
    assert made.payload["messages"][1]["content"] == [{"type": "text", "text": "Sure,"}]
    assert ("$.messages[1].content", "degraded") in {(loss.path, loss.kind) for loss in made.losses}
    assert not claude.check_request(made.payload)
    own = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "messages": [messages[0], {"role": "assistant", "content": text}],
    }
    assert claude.encode_request(claude.decode_request(own)).payload == own


def test_stop_sequence_that_is_a_text_is_read() -> None:
    payload = request({"role": "user", "content": "Count."}, stop="END")
    decoded = MISTRAL.decode_request(payload)
    assert decoded.options.stop_sequences == ["END"]
    assert MISTRAL.encode_request(decoded).payload == payload
    assert convert(payload, source=API, target="openai-chat").payload["stop"] == ["END"]
    edited = msgspec.structs.replace(decoded, options=msgspec.structs.replace(decoded.options, stop_sequences=["STOP"]))
    assert MISTRAL.encode_request(edited).payload["stop"] == ["STOP"]


AUDIO = ["SUQzBAA=", {"data": "SUQzBAA=", "format": "mp3"}, "https://example.org/a.mp3", {"data": 1}, {}]


@pytest.mark.parametrize("audio", AUDIO)
def test_audio_is_base64_an_object_or_an_address(audio: Any) -> None:
    part = {"type": "input_audio", "input_audio": audio}
    payload = request({"role": "user", "content": [{"type": "text", "text": "Listen."}, part]})
    assert MISTRAL.encode_request(MISTRAL.decode_request(payload)).payload == payload
    encoded = convert(payload, source=API, target="openai-chat")
    assert contentmodel.audit(payload, encoded) == []
    if audio in AUDIO[:2]:
        heard = {"type": "input_audio", "input_audio": {"data": "SUQzBAA=", "format": "mp3"}}
        assert encoded.payload["messages"][0]["content"][1] == heard
    if audio == AUDIO[2]:
        assert audio in encoded.to_json().decode()


# -- answers of several messages -----------------------------------------------------------------------------------


def hosted_call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "web_search", "arguments": '{"query": "cats"}'}}


# The form of docs.mistral.ai/cookbooks/mistral-connectors-05-connectors-in-completions and of the SDK (DeltaMessage).
SEVERAL = [
    {"role": "assistant", "index": 0, "content": "Let me see.", "tool_calls": [hosted_call("abcdefghi")]},
    {"role": "tool", "index": 1, "tool_call_id": "abcdefghi", "content": "A cat is small."},
    {"role": "assistant", "index": 2, "content": "It is small.", "tool_calls": [call("bbcdefghi")]},
]


def answer_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    choice = {"index": 0, "finish_reason": "stop", "messages": messages}
    head = {"id": "a", "object": "chat.completion", "created": 1, "model": MODEL}
    return {**head, "usage": usage, "choices": [choice]}


def deltas_of(messages: list[dict[str, Any]]) -> bytes:
    """Return the stream of an answer, with one chunk for each field of a message."""
    chunks = []
    for message in messages:
        for key in ("content", "tool_calls"):
            if key in message:
                delta = {**{k: v for k, v in message.items() if k not in ("content", "tool_calls")}, key: message[key]}
                chunks.append({"index": 0, "delta": delta, "finish_reason": None})
    chunks[-1] = {**chunks[-1], "finish_reason": "stop"}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return b"".join(frames(*({**head, "choices": [chunk]} for chunk in chunks), "[DONE]"))


def test_decoder_reads_the_messages_of_an_answer() -> None:
    models.ChatCompletionResponse.model_validate(answer_of(SEVERAL))
    response = MISTRAL.decode_response(answer_of(SEVERAL))
    kinds = [type(content).__name__ for message in response.messages for content in message.contents]
    hosted = ["HostedToolCallContent", "HostedToolResultContent"]
    assert kinds == ["TextContent", *hosted, "TextContent", "FunctionCallContent"]
    assert [call.call_id for message in response.messages for call in message.tool_calls] == ["bbcdefghi"]
    assert MISTRAL.encode_response(response).payload == answer_of(SEVERAL)


def test_texts_of_several_messages_are_sent_and_calls_of_the_service_are_not() -> None:
    converted = convert(answer_of(SEVERAL), source=API, target="openai-chat", kind="response")
    message = converted.payload["choices"][0]["message"]
    assert message["content"] == "Let me see.\n\nIt is small."
    assert [one["id"] for one in message["tool_calls"]] == ["bbcdefghi"]
    assert [(loss.code, loss.path) for loss in converted.losses if loss.kind == "dropped"] == [
        ("foreign-hosted-tool", "$.choices[0].messages[0].tool_calls[0]"),
        ("foreign-hosted-tool", "$.choices[0].messages[1]"),
    ]


def test_next_request_has_the_messages_of_an_answer_without_their_index() -> None:
    request_of_user = MISTRAL.decode_request(request({"role": "user", "content": "What is a cat?"}))
    answer = MISTRAL.decode_response(answer_of(SEVERAL)).messages
    followed = msgspec.structs.replace(request_of_user, messages=[*request_of_user.messages, *answer])
    sent = MISTRAL.encode_request(followed).payload["messages"][1:]
    assert sent == [{key: value for key, value in message.items() if key != "index"} for message in SEVERAL]


def test_stream_of_several_messages_folds_to_the_answer() -> None:
    folded = fold_stream(deltas_of(SEVERAL), API)
    assert folded.messages == MISTRAL.decode_response(answer_of(SEVERAL)).messages
    again = fold_stream(b"".join(encode_stream(unfold(folded), API)), API)
    assert again.messages == folded.messages


@pytest.mark.parametrize(
    "pieces",
    [
        ("A cat ", "is small."),
        ([{"type": "text", "text": "A cat "}], [{"type": "text", "text": "is small."}]),
        ("A cat ", [{"type": "text", "text": "is small."}]),
    ],
)
def test_pieces_of_a_result_in_a_stream_are_joined(pieces: tuple[Any, Any]) -> None:
    calling, result, text = SEVERAL
    results = [{**result, "content": piece} for piece in pieces]
    folded = fold_stream(deltas_of([calling, *results, text]), API)
    (found,) = (c for message in folded.messages for c in message.contents if isinstance(c, HostedToolResultContent))
    assert found.text == "A cat is small."


def test_stream_emits_a_call_of_the_service_as_hosted() -> None:
    events = [event for event in decode_stream(deltas_of(SEVERAL), API) if isinstance(event, BlockStart)]
    kinds = [event.content.__class__.__name__ for event in events]
    hosted = ["HostedToolCallContent", "HostedToolResultContent"]
    assert kinds == ["TextContent", *hosted, "TextContent", "FunctionCallContent"]
    converted = convert(deltas_of(SEVERAL), source=API, target="openai-chat", kind="stream")
    assert b"A cat is small." not in converted.payload
    assert b"abcdefghi" not in converted.payload


# -- requests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts", [[{"text": ""}], [{"text": ""}, {"text": ""}], [{"text": "", "thoughtSignature": "YWI="}]]
)
def test_request_drops_an_empty_answer_of_another_api(parts: list[Any]) -> None:
    turns = [{"role": "user", "parts": [{"text": "Hi."}]}, {"role": "model", "parts": parts}]
    converted = convert({"contents": [*turns, turns[0]]}, source="google-generate-content", target=API, model=MODEL)
    assert converted.payload["messages"] == [{"role": "user", "content": "Hi."}] * 2
    assert {loss.code for loss in converted.losses} == {"blank-text"}
    assert all(loss.path.startswith("$.contents[1].parts[") for loss in converted.losses)
    assert MISTRAL.check_request(converted.payload) == []


@pytest.mark.parametrize("fields", [{}, {"prefix": True}, {"partial": True}])
def test_request_marks_the_last_answer_as_continued(fields: dict[str, Any]) -> None:
    user = {"role": "user", "content": "JSON"}
    payload = {"model": "m", "messages": [user, {"role": "assistant", "content": "{", **fields}]}
    converted = convert(payload, source="openai-chat", target=API, model=MODEL)
    assert converted.payload["messages"] == [user, {"role": "assistant", "content": "{", "prefix": True}]
    assert converted.losses == ()
    assert MISTRAL.check_request(converted.payload) == []


def test_request_to_an_agent_needs_no_model() -> None:
    payload = {"agent_id": "ag:1", "messages": [{"role": "user", "content": "Hi."}]}
    assert contentmodel.detect(payload) == (API, "request")
    assert MISTRAL.check_request(payload) == []


@pytest.mark.parametrize("content", ["A cat.", [{"type": "text", "text": "A "}, {"type": "text", "text": "cat."}]])
def test_prediction_is_sent_between_mistral_and_chat_completions(content: Any) -> None:
    fields = {"prediction": {"type": "content", "content": content}, "prompt_cache_key": "cats"}
    source = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}], **fields}
    sent = convert(source, source="openai-chat", target=API, kind="request", model=MODEL)
    assert sent.payload["prediction"] == {"type": "content", "content": "A cat."}
    assert [loss.code for loss in sent.losses] == []
    back = convert(sent.payload, source=API, target="openai-chat", kind="request")
    assert (back.payload["prediction"]["content"], back.payload["prompt_cache_key"]) == ("A cat.", "cats")


def test_prediction_that_a_limit_excludes_is_not_sent_to_chat_completions() -> None:
    prediction = {"type": "content", "content": "A cat."}
    source = request({"role": "user", "content": "Hi."}, max_tokens=5, prediction=prediction)
    sent = convert(source, source=API, target="openai-chat", kind="request", model="gpt-4o")
    assert "prediction" not in sent.payload
    assert [loss.path for loss in sent.losses if loss.kind == "dropped"] == ["$.prediction"]
    assert contentmodel.check(sent.payload, api="openai-chat") == []
