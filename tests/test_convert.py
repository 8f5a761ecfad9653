"""Conversion from one API to another, by example: kept, lost and refused values."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import contentmodel
from conftest import APIS, records
from contentmodel import ChatMessage, ChatRequest, HostedTool, LossError, TextContent, adapter, audit, check, convert
from contentmodel.auditing import unaccounted
from contentmodel.detecting import is_stream
from contentmodel.errors import DetectError
from contentmodel.streams import StreamConverter
from contentmodel_conformance import laws
from contentmodel_conformance.differences import difference
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.subject import limits_of
from providers import PROVIDERS

KINDS = ("request", "response")
EXAMPLES = Path(__file__).parent.parent / "examples"


ERRORS = [
    ("anthropic-messages", {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}),
    ("openai-chat", {"error": {"message": "Slow down.", "type": "requests", "param": None, "code": None}}),
    ("google-generate-content", {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}}),
]


@pytest.mark.parametrize(("api", "body"), ERRORS)
def test_detect_recognizes_error_body_as_response(api: str, body: dict[str, Any]) -> None:
    assert contentmodel.detect(body) == contentmodel.detect(body, api=api) == (api, "response")
    assert contentmodel.detect(body, kind="response") == (api, "response")
    other = contentmodel.convert(body, target="openai-responses")
    assert other.payload["error"]["message"] == "Slow down."


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages", "ollama-chat"])
def test_id_of_an_error_that_the_target_has_no_field_for_is_reported(target: str) -> None:
    body = {"id": "5c1f", "message": "invalid request: no such tool."}
    converted = contentmodel.convert(body, source="cohere-chat", target=target)
    assert "5c1f" not in json.dumps(converted.payload)
    assert [(loss.code, loss.path) for loss in converted.losses if loss.path == "$.id"] == [("no-field", "$.id")]


MISFITS = [
    ({"messages": 7}, "$.messages: expected array as in a request of openai-chat, got integer"),
    ({"messages": {}, "model": "gpt"}, "$.messages: expected array as in a request of openai-chat, got object"),
    (
        {"messages": None, "max_tokens": 1},
        "$.messages: expected array as in a request of anthropic-messages or a request of openai-chat, got null",
    ),
    ({"contents": "Hi"}, "$.contents: expected array or object as in a request of google-generate-content, got string"),
    ({"input": 3}, "$.input: expected array or string as in a request of openai-responses, got integer"),
    (
        {"input": {"messages": []}, "config": {}},
        "$.input: expected array or string as in a request of openai-responses, got object",
    ),
    ({"choices": "x"}, "$.choices: expected array as in a response of openai-chat, got string"),
    ({"turns": {}}, "$.turns: expected array as in a request of turn-blocks, got object"),
]


@pytest.mark.parametrize(("payload", "message"), MISFITS)
def test_detect_names_key_of_api_with_value_of_wrong_class(payload: dict[str, Any], message: str) -> None:
    with pytest.raises(DetectError) as caught:
        contentmodel.detect(payload)
    assert f": {message}; correct the value, or pass its API, one of ag-ui" in str(caught.value)


ROWS_WITH_INPUT: list[dict[str, Any]] = [
    {"instruction": "Translate.", "input": "Hi.", "output": "Hei."},
    {"instruction": "Translate.", "input": "Hi.", "chosen": "Hei.", "rejected": "Ho."},
    {"input": "Hi.", "output": "Hei."},
    {"input": [{"role": "user", "content": "Hi."}], "output": "Hei.", "model": "gpt-5.2", "category": "chat"},
]


@pytest.mark.parametrize("row", ROWS_WITH_INPUT)
def test_row_of_a_data_set_with_input_is_no_request(row: dict[str, Any]) -> None:
    with pytest.raises(DetectError, match=r"no API recognizes an object with the keys"):
        contentmodel.detect(row)
    assert contentmodel.detect({"input": "Hi.", "new_field": 1}) == ("openai-responses", "request")
    assert contentmodel.detect({"input": "Hi.", "model": "m", "a": 1, "b": 2}) == ("openai-responses", "request")


ASKED = [{"role": "user", "content": "Which harbour is nearest?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/harbour.png"}}
CLIP = {"type": "video_url", "video_url": {"url": "https://example.org/harbour.mp4"}}
THOUGHT = {"role": "assistant", "content": [{"type": "thinking", "thinking": "The north one."}]}
UNTYPED = [{"role": "user", "content": [{"text": "Which harbour is nearest?"}]}]
LIMITED: list[tuple[str, dict[str, Any]]] = [
    ("anthropic-messages", {"model": "claude-opus-5"}),
    ("anthropic-messages", {"model": "claude-opus-5", "stop_sequences": ["."]}),
    ("anthropic-messages", {"model": "glm-4.6", "thinking": {"type": "enabled", "budget_tokens": 1024}}),
    ("anthropic-messages", {"model": "kimi-k2", "system": "Be brief."}),
    ("openai-chat", {"model": "gpt-4o"}),
    ("openai-chat", {"model": "anthropic/claude-haiku-4.5"}),
    ("openai-chat", {"model": "claude-opus-5", "n": 2}),
    ("openai-chat", {"model": "claude-opus-5", "stream": True, "stream_options": {"include_usage": True}}),
    ("openai-chat", {"model": "glm-4.6", "thinking": {"type": "enabled"}}),
    ("openai-chat", {"model": "qwen3", "top_k": 20}),
    ("openai-chat", {"model": "gpt-4o", "messages": [{"role": "user", "content": [PICTURE]}]}),
    ("openai-chat", {"messages": [{"role": "user", "content": [CLIP]}]}),
    ("cohere-chat", {"model": "command-a-03-2025"}),
    ("cohere-chat", {"model": "command-a-03-2025", "stop_sequences": ["."], "frequency_penalty": 0.1}),
    ("cohere-chat", {"model": "command-a-reasoning-08-2025", "messages": [*ASKED, THOUGHT]}),
    ("mistral-chat", {"model": "mistral-small-latest", "n": 2}),
    ("bedrock-converse", {"messages": UNTYPED, "system": [{"text": "Be brief."}]}),
]


@pytest.mark.parametrize(("api", "fields"), LIMITED)
def test_detect_tells_requests_with_a_token_limit_apart(api: str, fields: dict[str, Any]) -> None:
    assert contentmodel.detect({"messages": ASKED, "max_tokens": 64, **fields}) == (api, "request")


def test_detect_with_api_names_key_with_value_of_wrong_class() -> None:
    with pytest.raises(DetectError, match=r"expected array as in a request of openai-chat, got integer; .*its kind"):
        contentmodel.detect({"messages": 7}, api="openai-chat")
    with pytest.raises(DetectError, match=r"^this looks like neither .* of openai-chat: pass its kind$"):
        contentmodel.detect({"contents": 7}, api="openai-chat")
    with pytest.raises(DetectError, match=r"the keys messages: pass its API"):
        contentmodel.detect({"messages": 7}, kind="response")


@pytest.mark.parametrize("target", PROVIDERS)
@pytest.mark.parametrize("name", ["agent_turns.anthropic.json", "answer.responses.json"])
def test_detect_with_api_returns_kind_of_converted_example(name: str, target: str) -> None:
    payload = json.loads((EXAMPLES / name).read_text())
    _, kind = contentmodel.detect(payload)
    assert contentmodel.detect(convert(payload, target=target).payload, api=target) == (target, kind)


@pytest.mark.parametrize("name", ["agent_turns.anthropic.json", "chat.openai.json", "answer.responses.json"])
@pytest.mark.parametrize("target", APIS)
def test_convert_accounts_for_every_value_of_examples(name: str, target: str) -> None:
    payload = json.loads((EXAMPLES / name).read_text())
    source, kind = contentmodel.detect(payload)
    encoded = convert(payload, target=target)
    laws.accounting(payload, encoded)
    laws.acceptance(judge(target, kind), encoded)
    assert (encoded.losses == ()) == (source == target)


def test_convert_reports_loss_with_source_path() -> None:
    payload = {
        "model": "claude-opus-5",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
        ],
    }
    (loss,) = convert(payload, target="openai-chat", model="gpt-5.2").losses
    assert loss.path == "$.messages[0].content[0].cache_control"
    assert loss.kind == "insignificant"


def test_convert_on_loss_raise_raises_loss_error() -> None:
    payload = {"model": "m", "max_tokens": 5, "top_k": 3, "system": "s", "messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(LossError, match=r"top_k"):
        convert(payload, target="openai-chat", on_loss="raise")


def test_convert_drops_reasoning_for_another_issuer_unless_policy_is_text() -> None:
    payload = {
        "model": "claude-opus-5",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "secret thought", "signature": "c2lnbmF0dXJl"},
                    {"type": "text", "text": "hello"},
                ],
            },
        ],
    }
    for target in ("openai-chat", "openai-responses"):
        encoded = convert(payload, source="anthropic-messages", target=target)
        assert b"secret" not in encoded.to_json()
        assert b"c2lnbmF0dXJl" not in encoded.to_json()
        assert any(loss.path == "$.messages[1].content[0]" for loss in encoded.losses)
        as_text = convert(payload, source="anthropic-messages", target=target, policies={"reasoning": "text"})
        assert b"secret thought" in as_text.to_json()
        assert b"c2lnbmF0dXJl" not in as_text.to_json()


def test_convert_encodes_hosted_call_and_result_as_function_pair() -> None:
    payload = json.loads((EXAMPLES / "agent_turns.anthropic.json").read_text())
    out = convert(payload, target="openai-chat").payload["messages"]
    calls = [call["id"] for message in out for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in out if message["role"] == "tool"]
    assert calls
    assert calls == results


def test_convert_restores_system_messages_from_instructions() -> None:
    payload = {
        "model": "gpt-5",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    }
    forward = convert(payload, source="openai-chat", target="anthropic-messages")
    assert forward.payload["system"] == "be brief"
    back = convert(forward.payload, source="anthropic-messages", target="openai-chat")
    assert back.payload["messages"] == payload["messages"]


def test_convert_counts_cached_tokens_as_the_target_does() -> None:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 3},
    }
    chat = convert(answer, target="openai-chat").payload["usage"]
    assert chat["prompt_tokens"] == 100
    assert chat["prompt_tokens_details"] == {"cached_tokens": 90}
    usage = contentmodel.adapter("anthropic-messages").decode_response(answer).usage
    assert usage.all_input_tokens == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "openai-chat", "kind": "batch"}, "expected one of request, response, stream"),
        ({"target": "openai-chat", "on_loss": "ignore"}, "expected 'report' or 'raise'"),
        ({"target": "openai-chat", "policies": {"reasoning": "shout"}}, "unknown policy reasoning=shout"),
    ],
)
def test_convert_rejects_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert({"model": "m", "messages": []}, **arguments)


def test_unknown_api_error_lists_known_apis() -> None:
    with pytest.raises(contentmodel.UnknownApiError, match=r"did you mean 'openai'.*openai-responses"):
        convert({"messages": []}, target="opnai")


@pytest.mark.parametrize(("api", "kind"), [(api, kind) for api in APIS for kind in KINDS])
def test_detect_recognizes_recorded_payloads(api: str, kind: str, corpus: Any) -> None:
    found = []
    for record in records(api, kind):
        if record["status"] != 200:
            continue
        try:
            found.append(contentmodel.detect(record["body"]) == (api, kind))
        except DetectError:
            found.append(False)
    # A request of messages with string contents is valid in two APIs: these cannot be distinguished.
    assert sum(found) / len(found) > 0.95


# -- handmade requests, and answers sent back --------------------------------------------------------------------------


def hand_made(**fields: Any) -> ChatRequest:
    hello = ChatMessage(role="user", contents=[TextContent(text="Hi.")])
    return ChatRequest(model="claude-opus-4-8", messages=[hello], **fields)


def test_encoder_completes_handmade_request_and_keeps_provider_settings() -> None:
    search = HostedTool(kind="web_search", settings={"max_uses": 3})
    encoded = contentmodel.adapter("anthropic-messages").encode_request(hand_made(tools=[search]))
    assert encoded.payload["tools"][0]["max_uses"] == 3
    assert encoded.payload["max_tokens"] > 0
    assert [loss.kind for loss in encoded.losses] == ["synthesized"]


def test_convert_drops_provider_specific_tool_settings() -> None:
    payload = {"model": "gpt-5.2", "input": "x", "tools": [{"type": "web_search", "search_context_size": "low"}]}
    encoded = convert(payload, source="openai-responses", target="anthropic-messages", kind="request")
    assert "search_context_size" not in encoded.to_json().decode()
    assert "$.tools[0].search_context_size" in {loss.path for loss in encoded.losses}


def test_convert_reports_unsupported_response_format_at_its_path() -> None:
    """Regression: the loss was reported at "$", which covered all other losses."""
    schema = {"$defs": {"Tree": {"type": "object", "properties": {"down": {"$ref": "#/$defs/Tree"}}}}}
    config = {"responseMimeType": "application/json", "responseJsonSchema": {**schema, "$ref": "#/$defs/Tree"}}
    payload = {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": config}
    encoded = convert(payload, target="anthropic-messages", model="claude-opus-4-8")
    assert "$.generationConfig.responseJsonSchema" in {loss.path for loss in encoded.losses}
    assert contentmodel.audit(payload, encoded) == []


def test_convert_reports_unsupported_fields_of_an_object_separately() -> None:
    part = {"functionResponse": {"id": "1", "name": "f", "response": {"output": "x"}, "scheduling": "SILENT"}}
    call = {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "f", "args": {}}}]}
    hello = {"role": "user", "parts": [{"text": "x"}]}
    payload = {"contents": [hello, call, {"role": "user", "parts": [part]}]}
    paths = {loss.path for loss in convert(payload, target="openai-chat", model="gpt-5.2").losses}
    assert "$.contents[2].parts[0].functionResponse.scheduling" in paths
    assert "$.contents[2].parts[0].functionResponse" not in paths


def test_audit_of_converted_stream_raises_type_error() -> None:
    data = (
        b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )
    made = convert(data, source="openai-chat", target="anthropic-messages", kind="stream")
    with pytest.raises(TypeError, match="fold it with fold_stream"):
        contentmodel.audit(data, made)  # type: ignore[arg-type]


def test_audit_ignores_losses_that_are_inexact_or_at_the_root() -> None:
    source = {"messages": [{"role": "user", "content": "gone"}]}
    for path, exact, found in (("$.messages[0]", True, []), ("$.messages[0]", False, ["gone"]), ("$", True, ["gone"])):
        loss = contentmodel.Loss(path, "dropped", "a word", "to see", exact=exact)
        assert [one.value for one in unaccounted(source, {}, [loss])] == found


def test_encoder_drops_response_only_fields_in_requests() -> None:
    shell = {"type": "shell_call", "id": "s", "call_id": "c", "status": "completed", "created_by": "somebody"}
    answer = {"object": "response", "output": [{**shell, "action": {"commands": ["ls"]}}], "status": "completed"}
    adapter = contentmodel.adapter("openai-responses")
    (message,) = adapter.decode_response(answer).choices[0].messages
    assert message.origin is not None
    assert message.origin.is_answer
    encoded = adapter.encode_request(msgspec.structs.replace(hand_made(origin=message.origin), messages=[message]))
    assert "created_by" not in encoded.payload["input"][0]
    assert any("created_by" in loss.why for loss in encoded.losses)
    request = adapter.decode_request({"model": "m", "input": answer["output"]})
    assert adapter.encode_request(request).payload["input"] == answer["output"]


CALLED: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
            }
        ],
    },
    "google-generate-content": {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                "finishReason": "STOP",
            }
        ]
    },
}


@pytest.mark.parametrize("source", CALLED)
def test_convert_sets_tool_finish_reason_if_response_has_tool_calls(source: str) -> None:
    """Regression: the finish reason was `end_turn`, so no tool was run."""
    answer = CALLED[source]
    encoded = convert(answer, source=source, target="anthropic-messages", kind="response")
    assert encoded.payload["stop_reason"] == "tool_use"
    assert difference(answer, convert(answer, source=source, target=source, kind="response").payload) is None


def test_stream_converter_sets_tool_finish_reason_if_stream_has_tool_calls() -> None:
    converter = StreamConverter(source="google-generate-content", target="openai-chat")
    body = b"data: " + json.dumps({**CALLED["google-generate-content"], "responseId": "i"}).encode() + b"\n\n"
    assert b'"finish_reason":"tool_calls"' in converter.feed(body) + converter.close()


def test_audit_counts_text_once_in_each_longer_text() -> None:
    source = [{"title": "A page"}, {"title": "A page"}]
    assert unaccounted(source, [{"text": "A page\nof it"}, {"text": "A page\nof it"}], []) == []
    assert len(unaccounted(source, [{"text": "A page\nof it"}], [])) == 1


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ([{"input": {"q": "zebra"}}, {"text": "late result\nzebra"}], 0),
        ([{"text": "late result\nzebra"}], 1),
        ([{"input": {"q": "zebra"}}], 1),
    ],
)
def test_audit_counts_text_separately_from_equal_argument(output: Any, count: int) -> None:
    source = {"text": "zebra", "arguments": '{"q": "zebra"}'}
    assert len(unaccounted(source, output, [])) == count


@pytest.mark.parametrize(("uri", "text"), [("data:,x", "x"), ("data:text/plain,caf%C3%A9%20au%20lait", "café au lait")])
def test_audit_finds_the_text_of_a_data_uri_without_base64(uri: str, text: str) -> None:
    source = {"url": uri}
    assert unaccounted(source, {"media_type": "text/plain", "data": text}, []) == []
    assert unaccounted(source, {"media_type": "text/plain", "data": base64.b64encode(text.encode()).decode()}, []) == []
    assert [one.value for one in unaccounted(source, {"media_type": "text/plain", "data": "y"}, [])] == [uri]


def test_audit_accepts_message_id_that_is_not_converted() -> None:
    content = [{"type": "output_text", "text": "Hello."}]
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    source = {"id": "r", "object": "response", "model": "m", "created_at": 1, "status": "completed", "output": [item]}
    encoded = convert(source, source="openai-responses", target="turn-blocks", kind="response")
    assert contentmodel.audit(source, encoded) == []


@pytest.mark.parametrize(
    "target",
    ["anthropic-messages", "bedrock-converse", "cohere-chat", "google-generate-content", "mistral-chat", "ollama-chat"],
)
def test_refusal_is_a_text_at_apis_without_refusals(target: str) -> None:
    refused: dict[str, Any] = {"role": "assistant", "content": None, "refusal": "I keep the recipe."}
    said = [{"role": "user", "content": "Share it."}, refused, {"role": "user", "content": "A hint?"}]
    payload = {"model": "gpt-5.2", "messages": said}
    made = convert(payload, source="openai-chat", target=target, kind="request")
    answer = adapter(target).decode_request(made.payload).messages[1]
    assert [content.__class__ for content in answer.contents] == [TextContent]
    assert answer.text == "I keep the recipe."
    assert "as-text" in {loss.code for loss in made.losses}
    assert audit(payload, made) == []


DOCUMENT_RESULTS: dict[str, Any] = {
    "cohere-chat": {
        "role": "tool",
        "tool_call_id": "t",
        "content": [{"type": "document", "document": {"data": "High."}}],
    },
    "anthropic-messages": {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [
                    {
                        "type": "search_result",
                        "source": "https://example.org",
                        "title": "Tides",
                        "content": [{"type": "text", "text": "High."}],
                    }
                ],
            }
        ],
    },
}


@pytest.mark.parametrize("source", DOCUMENT_RESULTS)
@pytest.mark.parametrize("target", PROVIDERS)
def test_document_in_a_result_has_its_text_at_every_api(source: str, target: str) -> None:
    call: dict[str, Any] = {
        "cohere-chat": {"tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        "anthropic-messages": {"content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
    }[source]
    said = [{"role": "user", "content": "?"}, {"role": "assistant", **call}, DOCUMENT_RESULTS[source]]
    made = convert({"model": "m", "max_tokens": 9, "messages": said}, source=source, target=target, kind="request")
    assert "High." in json.dumps(made.payload)


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "bedrock-converse", "anthropic-messages"])
def test_error_in_user_message_is_a_text(target: str) -> None:
    contents = [{"$type": "error", "message": "The upload broke off."}, {"$type": "text", "text": "What now?"}]
    payload = [{"role": "user", "contents": contents}]
    made = convert(payload, source="meai", target=target, kind="request", model=limits_of(adapter(target)).model)
    (message,) = adapter(target).decode_request(made.payload).messages
    assert [content.__class__ for content in message.contents] == [TextContent, TextContent]
    assert [v.rule for v in check(made.payload, api=target) if v.severity == "refused"] == []
    assert audit(payload, made) == []


SAME_SETTINGS: dict[str, Any] = {
    "moderation": {"model": "omni-moderation-latest"},
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "explicit"},
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "stream": True,
    "stream_options": {"include_obfuscation": False},
}


@pytest.mark.parametrize(
    ("source", "target", "body", "lost"),
    [
        ("openai-chat", "openai-responses", {"messages": [{"role": "user", "content": "q"}]}, "include_usage"),
        ("openai-responses", "openai-chat", {"input": "q"}, "other"),
    ],
)
def test_settings_of_both_apis_of_openai_are_kept(source: str, target: str, body: dict[str, Any], lost: str) -> None:
    options = {**SAME_SETTINGS["stream_options"], lost: True}
    wire = {"model": "gpt-5.2", **body, **SAME_SETTINGS, "stream_options": options}
    encoded = contentmodel.convert(wire, source=source, target=target, kind="request")
    assert {name: encoded.payload[name] for name in SAME_SETTINGS} == SAME_SETTINGS
    assert [loss.path for loss in encoded.losses] == [f"$.stream_options.{lost}"]
    assert contentmodel.audit(wire, encoded) == []


def test_settings_of_openai_are_not_sent_to_other_hosts() -> None:
    wire = {"model": "deepseek-chat", "input": "q", "safety_identifier": "s"}
    encoded = contentmodel.convert(wire, source="openai-responses", target="openai-chat", kind="request")
    assert "safety_identifier" not in encoded.payload
    assert [loss.path for loss in encoded.losses] == ["$.safety_identifier"]


CHUNK = {"candidates": [{"content": {"parts": [{"text": "Hi]"}], "role": "model"}, "finishReason": "STOP"}]}


@pytest.mark.parametrize("event", [CHUNK, {"error": {"code": 429, "message": "No.", "status": "RESOURCE_EXHAUSTED"}}])
def test_detect_recognizes_array_of_events(event: dict[str, Any]) -> None:
    for text in (json.dumps([event, event]), json.dumps([event], indent=1)):
        assert contentmodel.detect(text.encode()) == ("google-generate-content", "stream")
    assert b"data: " in contentmodel.convert(json.dumps([event]).encode(), target="openai-chat").payload


@pytest.mark.parametrize("items", [[], [1], [{"role": "user", "content": "q"}], [{"type": "message", "role": "user"}]])
def test_other_arrays_are_no_streams(items: list[Any]) -> None:
    assert not is_stream(json.dumps(items))
