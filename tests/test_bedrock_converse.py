"""Bedrock's Converse: blocks with one key, issuers by model, cache points between blocks, documents, and boto3."""

from __future__ import annotations

import base64
import json
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError as Refusal
from hypothesis import example, given
from hypothesis import strategies as st

import contentmodel
from conftest import records
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DataContent,
    FunctionCallContent,
    ReasoningContent,
    TextContent,
    convert,
    fold_stream,
)
from contentmodel.client import RateLimitError, chat_client
from contentmodel.content import CodeInterpreterToolResultContent, Protected, UnknownContent, WebSearchToolCallContent
from contentmodel.message import contents_of, user
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.oracles.aws import faults_of_sdk, with_bytes
from contentmodel_conformance.server import Fault, LoopbackServer, Turn

API = "bedrock-converse"
BEDROCK = contentmodel.adapter(API)
CLAUDE, NOVA = "us.anthropic.claude-opus-4-8", "us.amazon.nova-2-lite-v1:0"
PIXEL = "iVBORw0KGgo="


def asked(*content: Any, **others: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(content)}], **others}


REQUEST = {
    "modelId": CLAUDE,
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "What is in these?"},
                {"image": {"format": "png", "source": {"bytes": PIXEL}}},
                {
                    "video": {
                        "format": "three_gp",
                        "source": {"s3Location": {"uri": "s3://b/v", "bucketOwner": "1" * 12}},
                    }
                },
                {"audio": {"format": "mp3", "source": {"bytes": "SUQz"}}},
                {
                    "document": {
                        "format": "txt",
                        "name": "notes",
                        "source": {"text": "A."},
                        "citations": {"enabled": True},
                    }
                },
                {
                    "document": {
                        "name": "parts",
                        "source": {"content": [{"text": "A."}, {"text": "B."}]},
                        "context": "c",
                    }
                },
                {"searchResult": {"source": "https://a.example", "title": "A", "content": [{"text": "A."}]}},
                {"guardContent": {"text": {"text": "Guard this.", "qualifiers": ["query"]}}},
                {"guardContent": {"image": {"format": "png", "source": {"bytes": PIXEL}}}},
                {"cachePoint": {"type": "default", "ttl": "1h"}},
                {"cachePoint": {"type": "default"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
                {"citationsContent": {"content": [{"text": "A"}, {"text": "."}], "citations": [{"title": "notes"}]}},
                {"toolUse": {"toolUseId": "s1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
                {"toolResult": {"toolUseId": "s1", "content": [], "type": "nova_grounding_result"}},
                {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"a": 1}}},
                {"toolAddition": {"tool": {"type": "x", "name": "y"}}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"json": {"b": [1]}}]}}],
        },
    ],
    "inferenceConfig": {"maxTokens": 99, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
    "toolConfig": {
        "tools": [
            {"toolSpec": {"name": "look", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}},
            {"cachePoint": {"type": "default"}},
            {"systemTool": {"name": "nova_grounding"}},
        ],
        "toolChoice": {"tool": {"name": "look"}},
    },
    "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "anthropic_beta": ["x"]},
    "outputConfig": {
        "effort": "high",
        "textFormat": {
            "type": "json_schema",
            "structure": {"jsonSchema": {"schema": '{"type": "object"}', "name": "n"}},
        },
    },
    "guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "DRAFT"},
    "serviceTier": {"type": "flex"},
}


def test_request_with_every_kind_of_block_is_kept_and_known() -> None:
    request = BEDROCK.decode_request(REQUEST)
    assert BEDROCK.encode_request(request).payload == REQUEST
    assert not any(isinstance(content, UnknownContent) for content in contents_of(request.messages))
    assert judge(API, "request").faults(REQUEST) == faults_of_sdk(REQUEST) == []


def test_cache_point_belongs_to_the_block_before_it() -> None:
    request = BEDROCK.decode_request(REQUEST)
    assert request.instructions[0].cache_point is not None
    assert request.tools[0].cache_point is not None
    assert request.messages[0].contents[-2].cache_point.ttl == "1h"
    there = convert(REQUEST, source=API, target="anthropic-messages").payload
    assert there["system"][0]["cache_control"] == {"type": "ephemeral"}
    back = convert(there, source="anthropic-messages", target=API, model=CLAUDE).payload
    assert back["system"] == REQUEST["system"]


def test_calls_of_server_tools_are_hosted_calls() -> None:
    contents = BEDROCK.decode_request(REQUEST).messages[1].contents
    assert any(isinstance(content, WebSearchToolCallContent) for content in contents)
    result = {"toolUseId": "s", "content": [{"json": {"stdOut": "2"}}], "type": "nova_code_interpreter_result"}
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"toolResult": result}]}},
        "stopReason": "end_turn",
    }
    assert isinstance(BEDROCK.decode_response(answer).messages[0].contents[0], CodeInterpreterToolResultContent)


# -- issuers -----------------------------------------------------------------------------------------------------------


def reasoned(block: dict[str, Any], model: str | None) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": [{"text": "?"}]},
        {"role": "assistant", "content": [{"reasoningContent": block}, {"text": "Yes."}]},
        {"role": "user", "content": [{"text": "Why?"}]},
    ]
    return {"messages": messages, **({} if model is None else {"modelId": model})}


SIGNED = {"reasoningText": {"text": "Hm.", "signature": "c2lnbmF0dXJl"}}


@pytest.mark.parametrize("model", [CLAUDE, "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-x-v1:0"])
def test_signature_of_claude_goes_to_the_messages_api_and_back(model: str) -> None:
    payload = reasoned(SIGNED, model)
    there = convert(payload, source=API, target="anthropic-messages").payload
    assert there["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
    back = convert(there, source="anthropic-messages", target=API).payload
    assert back["messages"][1]["content"][0] == {"reasoningContent": SIGNED}


def test_redacted_reasoning_of_claude_is_the_text_of_the_messages_api() -> None:
    data = base64.b64encode(b"c2VhbGVk").decode()
    payload = reasoned({"redactedContent": data}, CLAUDE)
    there = convert(payload, source=API, target="anthropic-messages").payload
    assert there["messages"][1]["content"][0] == {"type": "redacted_thinking", "data": "c2VhbGVk"}
    back = convert(there, source="anthropic-messages", target=API).payload
    assert back["messages"][1]["content"][0] == {"reasoningContent": {"redactedContent": data}}


@pytest.mark.parametrize(
    "model", [NOVA, "us.deepseek.r1-v1:0", "openai.gpt-oss-120b-1:0", "google.gemma-3-4b-it", None]
)
@pytest.mark.parametrize("target", ["anthropic-messages", "openai-responses", "google-generate-content"])
def test_signatures_of_other_models_reach_no_other_api(model: str | None, target: str) -> None:
    converted = convert(reasoned(SIGNED, model), source=API, target=target, model="claude-opus-4-8")
    assert "c2lnbmF0dXJl" not in json.dumps(converted.payload)
    assert any("reasoning" in loss.code or "opaque" in loss.code for loss in converted.losses)


def test_signatures_do_not_pass_from_nova_to_claude_within_the_api() -> None:
    request = BEDROCK.decode_request(reasoned(SIGNED, NOVA))
    assert "c2lnbmF0dXJl" in json.dumps(BEDROCK.encode_request(request).payload)
    encoded = BEDROCK.encode_request(request, model=CLAUDE)
    assert "c2lnbmF0dXJl" not in json.dumps(encoded.payload)
    assert "foreign-reasoning" in {loss.code for loss in encoded.losses}


HIDDEN = {"redactedContent": "b3Bx"}


@pytest.mark.parametrize(
    ("block", "source", "target"),
    [(HIDDEN, CLAUDE, NOVA), (SIGNED, NOVA, CLAUDE), ({"reasoningText": {"text": "Hm."}}, NOVA, CLAUDE)],
)
def test_reasoning_does_not_pass_to_the_model_of_another_maker(block: dict[str, Any], source: str, target: str) -> None:
    payload = reasoned(block, source)
    encoded = convert(payload, source=API, target=API, model=target)
    assert encoded.payload["messages"][1]["content"] == [{"text": "Yes."}]
    assert ("$.messages[1].content[0]", "foreign-reasoning") in {(loss.path, loss.code) for loss in encoded.losses}
    assert BEDROCK.check_request(encoded.payload) == []
    assert convert(payload, source=API, target=API).payload == payload


def test_policy_reasoning_applies_to_models_of_other_makers() -> None:
    encoded = convert(reasoned(SIGNED, NOVA), source=API, target=API, model=CLAUDE, policies={"reasoning": "text"})
    assert encoded.payload["messages"][1]["content"] == [{"text": "Hm.\n\n"}, {"text": "Yes."}]


def test_message_with_only_unread_reasoning_is_not_sent() -> None:
    payload = reasoned(HIDDEN, CLAUDE)
    del payload["messages"][1]["content"][1]
    encoded = convert(payload, source=API, target=API, model=NOVA)
    assert encoded.payload["messages"] == [{"role": "user", "content": [{"text": "?"}, {"text": "Why?"}]}]
    assert ("$.messages[1]", "empty-message") in {(loss.path, loss.code) for loss in encoded.losses}


def test_state_of_an_unnamed_model_is_kept_within_the_api() -> None:
    request = BEDROCK.decode_request(reasoned(SIGNED, None))
    assert "c2lnbmF0dXJl" in json.dumps(BEDROCK.encode_request(request, model=CLAUDE).payload)


def test_signature_of_claude_does_not_go_to_another_model() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes."}]},
        {"role": "user", "content": "Why?"},
    ]
    payload = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}
    for model in (NOVA, "openai.gpt-oss-120b-1:0"):
        assert "c2lnbmF0dXJl" not in json.dumps(
            convert(payload, source="anthropic-messages", target=API, model=model).payload
        )


def answered(*content: Any, **others: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(content)}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    body = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
    return {**body, **others}


def streamed(response: ChatResponse) -> bytes:
    """Return a response as the bytes of a stream. Nothing of it may be lost."""
    encoder = BEDROCK.stream_encoder()
    data = b"".join(map(encoder.feed, contentmodel.unfold(response)))
    assert encoder.losses == ()
    return data


def test_answer_of_a_prompt_router_keeps_its_state() -> None:
    blocks = [{"reasoningContent": SIGNED}, {"reasoningContent": {"redactedContent": "b3Bx"}}, {"text": "Yes."}]
    answer = answered(*blocks, trace={"promptRouter": {"invokedModelId": CLAUDE}})
    response = BEDROCK.decode_response(answer)
    assert BEDROCK.encode_response(response).payload == answer
    assert fold_stream([streamed(response)], API).messages == response.messages


STEPS = {
    (API, CLAUDE): "anthropic",
    (API, NOVA): "amazon",
    (API, "openai.gpt-oss-120b-1:0"): "openai",
    ("anthropic-messages", "claude-opus-4-8"): "anthropic",
    ("openai-chat", "gpt-5.2"): "openai-api",
    ("google-generate-content", "gemini-3-pro-preview"): "google",
}
"""APIs with models, and who can read the opaque state of each."""
step = st.sampled_from(list(STEPS))
REDACTED = "c2VhbGVk"


@example(CLAUDE, [("anthropic-messages", "claude-opus-4-8"), (API, CLAUDE)] * 2)
@given(start=st.sampled_from([CLAUDE, NOVA]), steps=st.lists(step, min_size=4, max_size=4))
def test_state_survives_a_chain_of_apis_exactly_as_long_as_its_maker_reads_it(
    start: str, steps: list[tuple[str, str]]
) -> None:
    payload = reasoned(SIGNED, start)
    hidden = {"reasoningContent": {"redactedContent": base64.b64encode(REDACTED.encode()).decode()}}
    payload["messages"][1]["content"].insert(0, hidden)
    api, is_kept = API, True
    for target, model in steps:
        payload = convert(payload, source=api, target=target, model=model).payload
        is_kept = is_kept and STEPS[target, model] == STEPS[API, start]
        api, text = target, json.dumps(payload)
        assert ("c2lnbmF0dXJl" in text) is is_kept
        assert (REDACTED in text or hidden["reasoningContent"]["redactedContent"] in text) is is_kept


# -- requests of other APIs --------------------------------------------------------------------------------------------


def test_roles_alternate_and_begin_with_the_user() -> None:
    messages = [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "One."},
        {"role": "user", "content": "Two."},
    ]
    encoded = convert({"model": CLAUDE, "messages": messages}, source="openai-chat", target=API)
    assert [message["role"] for message in encoded.payload["messages"]] == ["user", "assistant", "user"]
    assert encoded.payload["messages"][2]["content"] == [{"text": "One."}, {"text": "Two."}]
    assert BEDROCK.check_request(encoded.payload) == []


def test_documents_get_names_that_the_service_accepts() -> None:
    data = [
        DataContent(data="JVBERi0=", media_type="application/pdf", name=name) for name in ("a_b.pdf", "a b pdf", None)
    ]
    request = ChatRequest(model=CLAUDE, messages=[ChatMessage(role="user", contents=data)])
    encoded = BEDROCK.encode_request(request)
    content = encoded.payload["messages"][0]["content"]
    assert [block["document"]["name"] for block in content[:3]] == ["a_b pdf", "a b pdf", "Document"]
    assert "text" in content[3]
    assert BEDROCK.check_request(encoded.payload) == []


def test_calls_without_definitions_get_a_tool_config() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Seen."},
    ]
    encoded = convert({"model": CLAUDE, "messages": messages}, source="openai-chat", target=API)
    assert [tool["toolSpec"]["name"] for tool in encoded.payload["toolConfig"]["tools"]] == ["look"]
    assert "bedrock-tool-config" in {loss.code for loss in encoded.losses}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (NOVA, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}),
        ("openai.gpt-oss-120b-1:0", {"reasoning_effort": "high"}),
    ],
)
def test_effort_is_in_the_field_of_the_model(model: str, expected: dict[str, Any]) -> None:
    payload = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "?"}], "reasoning_effort": "high"}
    encoded = convert(payload, source="openai-chat", target=API, model=model)
    assert encoded.payload["additionalModelRequestFields"] == expected
    written = {**encoded.payload, "modelId": model}
    back = convert(written, source=API, target="openai-chat", model="gpt-5.2")
    assert back.payload["reasoning_effort"] == "high"
    assert contentmodel.audit(written, back) == []
    assert BEDROCK.encode_request(BEDROCK.decode_request(written)).payload == written


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("openai.gpt-oss-20b-1:0", {"outputConfig": {"effort": "low"}}),
        (NOVA, {"additionalModelRequestFields": {"thinking": {"type": "disabled"}, "top_k": 5}}),
        (NOVA, {"additionalModelRequestFields": {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": 1}}}),
        (CLAUDE, {"additionalModelRequestFields": {"reasoning_effort": "low"}}),
        (
            "openai.gpt-oss-20b-1:0",
            {"outputConfig": {"effort": "low"}, "additionalModelRequestFields": {"reasoning_effort": "high", "x": 1}},
        ),
    ],
)
def test_effort_in_a_field_of_another_model_is_kept_and_reported(model: str, fields: dict[str, Any]) -> None:
    payload = asked({"text": "?"}, modelId=model, **fields)
    request = BEDROCK.decode_request(payload)
    assert request.options.reasoning is None
    assert BEDROCK.encode_request(request).payload == payload
    encoded = convert(payload, source=API, target="openai-chat", model="gpt-5.2")
    assert contentmodel.audit(payload, encoded) == []
    assert {f"$.{name}" for name in fields} <= {loss.path for loss in encoded.losses}


def test_effort_of_gpt_oss_goes_to_the_field_of_claude_within_the_api() -> None:
    payload = asked(
        {"text": "?"}, modelId="openai.gpt-oss-20b-1:0", additionalModelRequestFields={"reasoning_effort": "low"}
    )
    assert convert(payload, source=API, target=API, model=CLAUDE).payload["outputConfig"] == {"effort": "low"}


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"])
def test_validator_of_the_sdk_accepts_converted_requests(source: str) -> None:
    for record in records(source, "request"):
        payload = convert(record["body"], source=source, target=API, model=CLAUDE).payload
        assert judge(API, "request").faults(payload) == faults_of_sdk(payload) == [], record["id"]


def with_result(**result: Any) -> dict[str, Any]:
    """Return a request with one call and its result."""
    call = {"toolUse": {"toolUseId": "t", "name": "look", "input": {}}}
    messages = [
        {"role": "user", "content": [{"text": "?"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", **result}}]},
    ]
    return {"modelId": CLAUDE, "messages": messages, "toolConfig": REQUEST["toolConfig"]}


def test_numbers_outside_of_the_limits_are_left_out() -> None:
    payload = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "?"}], "temperature": 1.5, "top_p": 0.5}
    encoded = convert(payload, source="openai-chat", target=API, model="acme.model-1")
    assert encoded.payload["inferenceConfig"] == {"topP": 0.5}
    assert ("$.temperature", "refused-setting") in {(loss.path, loss.code) for loss in encoded.losses}
    assert "refused" not in {violation.severity for violation in BEDROCK.check_request(encoded.payload)}


def test_settings_that_claude_refuses_together_are_left_out() -> None:
    function = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    payload = {
        "model": "gpt-5.2",
        "messages": [{"role": "user", "content": "?"}],
        "tools": [function],
        "tool_choice": "required",
    }
    model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    sampled = {**payload, "temperature": 0.3, "top_p": 0.9}
    encoded = convert(sampled, source="openai-chat", target=API, model=model)
    assert encoded.payload["inferenceConfig"] == {"temperature": 0.3}
    assert ("$.top_p", "refused-setting") in {(loss.path, loss.code) for loss in encoded.losses}
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "tool_choice": {"type": "any"}}
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    asks = {"model": "claude-sonnet-4-5", "max_tokens": 9999, "messages": payload["messages"], "tools": tools}
    encoded = convert({**asks, **thinking}, source="anthropic-messages", target=API, model=model)
    assert "toolChoice" not in encoded.payload["toolConfig"]
    assert "$.tool_choice" in {loss.path for loss in encoded.losses}
    assert BEDROCK.check_request(encoded.payload) == []


def test_json_results_of_other_apis_are_objects() -> None:
    parts = [{"functionResponse": {"name": "w", "response": {"result": [1, 2]}}}]
    contents = [
        {"role": "user", "parts": [{"text": "?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}}]},
        {"role": "user", "parts": parts},
    ]
    encoded = convert({"contents": contents}, source="google-generate-content", target=API, model=CLAUDE)
    result = encoded.payload["messages"][2]["content"][0]["toolResult"]
    assert result["content"] == [{"text": "[1,2]"}]
    assert BEDROCK.check_request(encoded.payload) == []


def test_failed_result_without_content_gets_a_placeholder() -> None:
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True}]},
    ]
    payload = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}
    encoded = convert(payload, source="anthropic-messages", target=API, model=CLAUDE)
    result = encoded.payload["messages"][2]["content"][0]["toolResult"]
    assert result == {"toolUseId": "t", "status": "error", "content": [{"text": "[the result has no content]"}]}
    assert ("bedrock-empty-result", "synthesized") in {(loss.code, loss.kind) for loss in encoded.losses}
    assert BEDROCK.check_request(encoded.payload) == []


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        ({"content": [{"json": [1, 2]}]}, "json-results-are-objects"),
        ({"content": [], "status": "error"}, "failed-results-have-content"),
    ],
)
def test_results_that_the_service_refuses_are_kept_and_reported(result: dict[str, Any], rule: str) -> None:
    payload = with_result(**result)
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload
    assert [violation.rule for violation in BEDROCK.check_request(payload)] == [rule]


# -- boto3 -------------------------------------------------------------------------------------------------------------

KEYS = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
ANSWER = ChatResponse(
    model="claude-opus-4-8",
    choices=[
        ChatChoice(
            messages=[
                ChatMessage(
                    role="assistant",
                    contents=[
                        ReasoningContent(
                            text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="c2ln")
                        ),
                        TextContent(text="It is a long text in pieces."),
                        FunctionCallContent(call_id="t1", name="look", arguments={"a": 1}),
                    ],
                )
            ]
        )
    ],
)


@pytest.mark.parametrize(
    "target", ["openai-chat", "openai-responses", "google-generate-content", "google-interactions", "mistral-chat"]
)
def test_server_of_an_added_tool_is_reported(target: str) -> None:
    added = {"toolAddition": {"tool": {"type": "tool_reference", "name": "look", "serverName": "srv"}}}
    payload = asked(added, {"text": "?"}, toolConfig={"tools": REQUEST["toolConfig"]["tools"][:1]})
    encoded = convert(payload, source=API, target=target, model="m")
    assert contentmodel.audit(payload, encoded) == []
    assert "$.messages[0].content[0].toolAddition.tool" in {loss.path for loss in encoded.losses}


def test_audit_finds_redacted_reasoning_of_an_unnamed_model() -> None:
    payload = reasoned({"redactedContent": base64.b64encode(b"opaque state").decode()}, None)
    encoded = convert(payload, source=API, target=API, model=CLAUDE)
    assert encoded.payload["messages"] == payload["messages"]
    assert contentmodel.audit(payload, encoded) == []


def test_bytes_of_payloads_are_base64() -> None:
    given = asked({"text": "?"}, {"image": {"format": "png", "source": {"bytes": base64.b64decode(PIXEL)}}})
    payload = asked({"text": "?"}, {"image": {"format": "png", "source": {"bytes": PIXEL}}})
    assert BEDROCK.encode_request(BEDROCK.decode_request(given)).payload == payload
    assert with_bytes(payload, "ConverseRequest") == given


def test_boto3_reads_answers_and_streams() -> None:
    with LoopbackServer([ANSWER, ANSWER]) as server:
        client = boto3.client("bedrock-runtime", endpoint_url=server.base_url(API), **KEYS)
        answer = client.converse(modelId=CLAUDE, **asked({"text": "?"}))
        events = list(client.converse_stream(modelId=CLAUDE, **asked({"text": "?"}))["stream"])
    content = answer["output"]["message"]["content"]
    assert content[0]["reasoningContent"]["reasoningText"] == {"text": "Hm.", "signature": "c2ln"}
    assert content[2]["toolUse"] == {"toolUseId": "t1", "name": "look", "input": {"a": 1}}
    decoder = BEDROCK.stream_decoder()
    folded = contentmodel.fold([made for event in events for made in decoder.feed_event(event)] + decoder.close())
    assert folded.messages[0].contents == BEDROCK.decode_response(answer).messages[0].contents


GROUNDED = {"toolUseId": "s1", "type": "nova_grounding_result", "status": "success"}
STREAMED = [
    {"reasoningContent": {"redactedContent": "b3Bx"}},
    {"toolResult": {**GROUNDED, "content": [{"text": "a"}, {"text": "b"}, {"json": {"x": 1}}]}},
    {"image": {"format": "png", "source": {"bytes": PIXEL}}},
    {"citationsContent": {"content": [{"text": "A"}], "citations": [{"title": "notes"}]}},
]


def test_boto3_reads_streamed_blocks_that_do_not_grow() -> None:
    response = BEDROCK.decode_response(answered(*STREAMED))
    assert streamed(response)
    with LoopbackServer([response]) as server:
        client = boto3.client("bedrock-runtime", endpoint_url=server.base_url(API), **KEYS)
        events = list(client.converse_stream(modelId=CLAUDE, **asked({"text": "?"}))["stream"])
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert deltas[:3] == [
        {"reasoningContent": {"redactedContent": b"opq"}},
        {"toolResult": [{"text": "a"}, {"text": "b"}, {"json": {"x": 1}}]},
        {"image": {"source": {"bytes": base64.b64decode(PIXEL)}}},
    ]
    assert "SDK_UNKNOWN_MEMBER" not in str(events)
    decoder = BEDROCK.stream_decoder()
    folded = contentmodel.fold([made for event in events for made in decoder.feed_event(event)] + decoder.close())
    assert folded.messages[0].contents == response.messages[0].contents


@pytest.mark.parametrize("block", STREAMED[:3])
def test_decoder_reads_blocks_that_are_whole_in_their_start(block: dict[str, Any]) -> None:
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"start": block, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    decoder = BEDROCK.stream_decoder()
    folded = contentmodel.fold([made for event in events for made in decoder.feed_event(event)] + decoder.close())
    assert folded.messages[0].contents == BEDROCK.decode_response(answered(block)).messages[0].contents


def test_stream_encoder_reports_blocks_that_streams_cannot_have() -> None:
    document = {"document": {"name": "d", "format": "pdf", "source": {"bytes": "JVBERi0="}}}
    result = {"toolResult": {**GROUNDED, "content": [{"json": {"x": 1}}, document]}}
    encoder = BEDROCK.stream_encoder()
    response = BEDROCK.decode_response(answered(document, result, {"text": "a"}))
    data = b"".join(map(encoder.feed, contentmodel.unfold(response)))
    at = "$.choices[0].messages[0].contents"
    assert [(loss.path, loss.code, loss.kind) for loss in encoder.losses] == [
        (f"{at}[0]", "bedrock-not-streamed", "dropped"),
        (f"{at}[1].outputs[1]", "bedrock-not-streamed", "dropped"),
    ]
    kept = {"toolResult": {**GROUNDED, "content": [{"json": {"x": 1}}]}}
    written = fold_stream([data], API).messages[0].contents
    assert written == BEDROCK.decode_response(answered(kept, {"text": "a"})).messages[0].contents


def test_client_keeps_signatures_and_names_the_model() -> None:
    request = ChatRequest(messages=[user("?")])
    with LoopbackServer([ANSWER, ANSWER]) as server:
        client = chat_client(API, model=CLAUDE, base_url=server.base_url(API), **KEYS)
        answer = client.complete(request)
        with client.stream(request) as stream:
            list(stream)
        assert [(record.model, record.payload) for record in server.requests] == [(CLAUDE, asked({"text": "?"}))] * 2
    assert answer.model == stream.response.model == CLAUDE
    assert answer.messages[0].contents[0] == ANSWER.messages[0].contents[0]
    assert stream.response.messages == answer.messages


def test_client_raises_the_error_of_a_refusal() -> None:
    with LoopbackServer([Turn(fault=Fault(status=429, message="Too many."))] * 2) as server:
        once = Config(retries={"total_max_attempts": 1})
        sdk = boto3.client("bedrock-runtime", endpoint_url=server.base_url(API), config=once, **KEYS)
        with pytest.raises(Refusal, match="ThrottlingException"):
            sdk.converse(modelId=CLAUDE, **asked({"text": "?"}))
        client = chat_client(API, model=CLAUDE, base_url=server.base_url(API), max_retries=0, **KEYS)
        with pytest.raises(RateLimitError, match="ThrottlingException") as raised:
            client.complete(ChatRequest(messages=[user("?")]))
    assert raised.value.error is not None
    assert raised.value.error.kind == "rate_limit"


def test_exception_in_a_stream_keeps_the_original_error() -> None:
    fields = {"message": "No.", "originalStatusCode": 503, "originalMessage": "Busy."}
    frames = [
        BEDROCK.stream_format.write(b'{"role":"assistant"}', "messageStart"),
        BEDROCK.stream_format.write(json.dumps(fields).encode(), "modelStreamErrorException"),
    ]
    encoder = BEDROCK.stream_encoder()
    data = b"".join(map(encoder.feed, contentmodel.decode_stream(frames, API))) + encoder.close()
    name, written = BEDROCK.stream_format.framing().feed(data)[-1]
    assert (name, json.loads(written)) == ("modelStreamErrorException", fields)
    body = {"__type": "ModelStreamErrorException", **fields}
    assert BEDROCK.encode_response(BEDROCK.decode_response(body)).payload == body
    encoded = convert(body, source=API, target="openai-chat", kind="response")
    assert contentmodel.audit(body, encoded) == []


def test_stream_that_is_cut_inside_of_its_metadata_is_an_error() -> None:
    response = BEDROCK.decode_response(answered({"text": "Yes."}))
    *frames, metadata = BEDROCK.stream_format.split(streamed(response))
    assert fold_stream([*frames, metadata], API) == response
    assert fold_stream(frames, API).error is None
    for length in (1, 9, len(metadata) - 1):
        cut = fold_stream([*frames, metadata[:length]], API)
        assert cut.error is not None
        assert (cut.error.code, cut.text, cut.finish_reason.reason) == ("stream_ended", "Yes.", "stop")


@pytest.mark.parametrize("kind", [{"type": "json_schema_v2"}, {}, {"type": None}])
def test_unknown_type_of_the_output_format_is_kept(kind: dict[str, Any]) -> None:
    schema = {"jsonSchema": {"schema": '{"type": "object"}', "name": "n"}}
    payload = asked({"text": "?"}, outputConfig={"textFormat": {**kind, "structure": schema}})
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload


def test_exception_in_a_stream_is_an_error() -> None:
    frames = [
        BEDROCK.stream_format.write(b'{"role":"assistant"}', "messageStart"),
        BEDROCK.stream_format.write(b'{"contentBlockIndex":0,"delta":{"text":"Hel"},"p":"abc"}', "contentBlockDelta"),
        BEDROCK.stream_format.write(b'{"message":"Slow down."}', "throttlingException"),
    ]
    response = fold_stream(frames, API)
    assert response.text == "Hel"
    assert response.error is not None
    assert (response.error.code, response.error.kind) == ("ThrottlingException", "rate_limit")


@pytest.mark.parametrize(("first", "second", "whole"), [("iVBO", "Rw0K", "iVBORw0K"), ("QUI=", "Qw==", "QUJD")])
def test_pieces_of_bytes_in_a_stream_are_joined(first: str, second: str, whole: str) -> None:
    def delta(place: int, value: dict[str, Any]) -> bytes:
        data = json.dumps({"contentBlockIndex": place, "delta": value}).encode()
        return BEDROCK.stream_format.write(data, "contentBlockDelta")

    start = {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}
    frames = [
        BEDROCK.stream_format.write(b'{"role":"assistant"}', "messageStart"),
        BEDROCK.stream_format.write(json.dumps(start).encode(), "contentBlockStart"),
        *(delta(0, {"image": {"source": {"bytes": piece}}}) for piece in (first, second)),
        *(delta(1, {"reasoningContent": {"redactedContent": piece}}) for piece in (first, second)),
        BEDROCK.stream_format.write(b'{"stopReason":"end_turn"}', "messageStop"),
        BEDROCK.stream_format.write(b'{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}', "metadata"),
    ]
    response = fold_stream(frames, API)
    assert BEDROCK.encode_response(response).payload["output"]["message"]["content"] == [
        {"image": {"format": "png", "source": {"bytes": whole}}},
        {"reasoningContent": {"redactedContent": whole}},
    ]


@pytest.mark.parametrize("target", ["cohere-chat", "ollama-chat"])
@pytest.mark.parametrize("source", [{"text": "BODY"}, {"bytes": "Qk9EWQ=="}])
def test_text_document_is_a_text_for_apis_without_documents(target: str, source: dict[str, Any]) -> None:
    payload = asked({"text": "?"}, {"document": {"name": "d", "format": "txt", "source": source}})
    encoded = convert(payload, source=API, target=target)
    assert "BODY" in encoded.to_json().decode()
    assert {loss.code for loss in encoded.losses} & {"document-as-text", "document-text"}
    assert contentmodel.audit(payload, encoded) == []


def test_documents_keep_their_citations_and_context_at_the_messages_api() -> None:
    cited = {"citations": {"enabled": True}}
    both = {**cited, "context": "About cats."}
    parts = {"name": "e", "format": "txt", "source": {"content": [{"text": "PART"}]}}
    result = {"source": "https://a", "title": "t", "content": [{"text": "x"}], **cited}
    payload = asked(
        {"text": "?"},
        {"document": {"name": "d", "format": "txt", "source": {"text": "BODY"}, **both}},
        {"document": {**parts, **both}},
        {"searchResult": result},
    )
    encoded = convert(payload, source=API, target="anthropic-messages")
    blocks = encoded.payload["messages"][0]["content"]
    assert [{name: block[name] for name in both if name in block} for block in blocks[1:]] == [both, both, cited]
    assert not [loss.path for loss in encoded.losses if "citations" in loss.path or "context" in loss.path]
    assert contentmodel.audit(payload, encoded) == []
    back = convert(encoded.payload, source="anthropic-messages", target=API)
    members = [next(iter(block.values())) for block in back.payload["messages"][0]["content"][1:]]
    assert [{name: member[name] for name in both if name in member} for member in members] == [both, both, cited]
    assert contentmodel.audit(encoded.payload, back) == []


@pytest.mark.parametrize("damaged", [{"citations": True}, {"context": 1}, {"citations": {}, "context": ""}])
def test_damaged_settings_of_documents_are_not_sent_to_the_messages_api(damaged: dict[str, Any]) -> None:
    document = {"name": "d", "format": "txt", "source": {"text": "BODY"}, **damaged}
    payload = asked({"text": "?"}, {"document": document})
    encoded = convert(payload, source=API, target="anthropic-messages")
    assert damaged.keys().isdisjoint(encoded.payload["messages"][0]["content"][1])
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload
    assert contentmodel.audit(payload, encoded) == []


# -- settings in other places --------------------------------------------------------------------------------------


def sent_to(model: str, **fields: Any) -> dict[str, Any]:
    """Return a request of Chat Completions, converted for a model."""
    payload = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "?"}], **fields}
    encoded: dict[str, Any] = convert(payload, source="openai-chat", target=API, model=model).payload
    return encoded


OWN = "additionalModelRequestFields"


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        (NOVA, "none", {"reasoningConfig": {"type": "disabled"}}),
        ("openai.gpt-6-sol", "none", {"reasoning": {"effort": "none"}}),
        ("openai.gpt-6-astra", "none", {"reasoning": {"effort": "low"}}),
        ("xai.grok-4-7", "high", {"reasoning": {"effort": "high"}}),
        ("deepseek.v3.2", "medium", {"reasoning_effort": "high"}),
        ("us.zai.glm-5.3", "max", {"reasoning_effort": "max"}),
        ("zai.glm-4.7", "none", {"reasoning_effort": "none"}),
        ("qwen.qwen3-32b-v1:0", "low", {"reasoning_config": "low"}),
    ],
)
def test_reasoning_is_in_the_fields_of_the_maker(model: str, effort: str, expected: dict[str, Any]) -> None:
    written = sent_to(model, reasoning_effort=effort)
    assert written[OWN] == expected
    assert "outputConfig" not in written
    read = BEDROCK.decode_request({**written, "modelId": model})
    assert BEDROCK.encode_request(read).payload == {**written, "modelId": model}
    assert read.options.reasoning is not None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (NOVA, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}),
        ("deepseek.v3.2", {"reasoning_effort": "high"}),
        ("openai.gpt-oss-120b-1:0", None),
    ],
)
def test_reasoning_without_an_effort_is_turned_on_by_the_field_of_the_model(model: str, expected: Any) -> None:
    payload = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
    payload["thinking"] = {"type": "adaptive"}
    encoded = convert(payload, source="anthropic-messages", target=API, model=model)
    assert encoded.payload.get(OWN) == expected


def test_top_k_of_nova_is_in_its_inference_config() -> None:
    payload = asked({"text": "?"}, modelId=NOVA, **{OWN: {"inferenceConfig": {"topK": 20, "x": 1}}})
    request = BEDROCK.decode_request(payload)
    assert request.options.top_k == 20
    assert BEDROCK.encode_request(request).payload == payload
    to_gemini = convert(payload, source=API, target="google-generate-content", model="gemini-2.5-pro")
    assert to_gemini.payload["generationConfig"] == {"topK": 20}
    claude = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
    assert convert(payload, source=API, target=API, model=claude).payload[OWN]["top_k"] == 20


def test_body_of_novas_invoke_model_has_its_limits() -> None:
    config = {"max_new_tokens": 500, "topK": 20, "topP": 0.9}
    payload = {"schemaVersion": "messages-v1", **asked({"text": "?"}), "inferenceConfig": config}
    payload.pop("modelId", None)
    request = BEDROCK.decode_request(payload)
    assert (request.options.max_output_tokens, request.options.top_k) == (500, 20)
    assert BEDROCK.encode_request(request).payload == payload


@pytest.mark.parametrize("rest", [{}, {"thinking": {"type": "adaptive"}}, {"output_config": {"x": 1}}])
def test_effort_among_the_fields_of_claude_is_read_and_written_back(rest: dict[str, Any]) -> None:
    fields = {**rest, "output_config": {"effort": "medium", **rest.get("output_config", {})}}
    payload = asked({"text": "?"}, modelId=CLAUDE, **{OWN: fields})
    request = BEDROCK.decode_request(payload)
    assert request.options.reasoning is not None
    assert request.options.reasoning.effort == "medium"
    assert BEDROCK.encode_request(request).payload == payload
    encoded = convert(payload, source=API, target="openai-chat", model="gpt-5.2")
    assert encoded.payload["reasoning_effort"] == "medium"
    assert contentmodel.audit(payload, encoded) == []


@pytest.mark.parametrize(
    "config",
    [
        {"type": "enabled", "budget_tokens": 2000},
        {"type": "adaptive", "display": "summarized"},
        {"type": "disabled", "x": 1},
    ],
)
def test_reasoning_config_of_claude_is_its_thinking(config: dict[str, Any]) -> None:
    payload = asked({"text": "?"}, modelId="claude-sonnet-4-6", **{OWN: {"reasoning_config": config, "top_k": 3}})
    request = BEDROCK.decode_request(payload)
    assert BEDROCK.encode_request(request).payload == payload
    written = convert(payload, source=API, target="anthropic-messages", kind="request")
    known = {name: value for name, value in config.items() if name != "x"}
    assert written.payload["thinking"] == known
    assert contentmodel.audit(payload, written) == []


def test_reasoning_config_is_not_read_beside_thinking() -> None:
    fields = {"thinking": {"type": "disabled"}, "reasoning_config": {"type": "enabled", "budget_tokens": 2000}}
    payload = asked({"text": "?"}, modelId="claude-sonnet-4-6", **{OWN: fields})
    request = BEDROCK.decode_request(payload)
    assert request.options.reasoning is not None
    assert (request.options.reasoning.mode, request.options.reasoning.budget_tokens) == ("disabled", None)
    assert BEDROCK.encode_request(request).payload == payload


@pytest.mark.parametrize("field", [{"outputConfig": {"effort": "low"}}, {"outputConfig": None}])
def test_effort_of_claude_is_not_read_if_the_usual_place_is_taken(field: dict[str, Any]) -> None:
    payload = asked({"text": "?"}, modelId=CLAUDE, **{OWN: {"output_config": {"effort": "high"}}}, **field)
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload


def test_choice_of_no_tool_is_in_the_field_of_claude() -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    written = sent_to(CLAUDE, tools=tools, tool_choice="none")
    assert written[OWN] == {"tool_choice": {"type": "none"}}
    assert "toolChoice" not in written["toolConfig"]
    read = BEDROCK.decode_request({**written, "modelId": CLAUDE})
    assert read.options.tool_choice is not None
    assert read.options.tool_choice.mode == "none"
    assert BEDROCK.encode_request(read).payload == {**written, "modelId": CLAUDE}
    back = convert({**written, "modelId": CLAUDE}, source=API, target="openai-chat", model="gpt-5.2")
    assert back.payload["tool_choice"] == "none"


LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
ONE_CALL = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}


@pytest.mark.parametrize(
    ("choice", "model", "fields", "reported"),
    [
        (None, CLAUDE, ONE_CALL, False),
        ("auto", CLAUDE, ONE_CALL, False),
        ("required", CLAUDE, None, True),
        ("none", CLAUDE, {"tool_choice": {"type": "none"}}, True),
        (None, "us.anthropic.claude-opus-4-1-20250805-v1:0", None, True),
        (None, NOVA, None, True),
    ],
)
def test_parallel_calls_are_forbidden_in_the_field_of_claude(
    choice: str | None, model: str, fields: Any, reported: bool
) -> None:
    tools = [{"type": "function", "function": LOOK}]
    payload = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "?"}], "tools": tools}
    payload |= {"parallel_tool_calls": False, **({} if choice is None else {"tool_choice": choice})}
    encoded = convert(payload, source="openai-chat", target=API, model=model)
    assert encoded.payload.get(OWN) == fields
    assert (fields is ONE_CALL) <= ("toolChoice" not in encoded.payload["toolConfig"])
    assert ("$.parallel_tool_calls" in {loss.path for loss in encoded.losses}) is reported
    written = {**encoded.payload, "modelId": model}
    read = BEDROCK.decode_request(written)
    assert read.options.parallel_tool_calls is (False if fields is ONE_CALL else None)
    assert BEDROCK.encode_request(read).payload == written


@pytest.mark.parametrize("choice", [{}, {"toolChoice": {"auto": {}}}, {"toolChoice": {"any": {}}}])
@pytest.mark.parametrize("flag", [True, False])
def test_field_of_claude_for_parallel_calls_is_read(flag: bool, choice: dict[str, Any]) -> None:
    fields = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": flag}, "x": 1}
    tool = {"toolSpec": {"name": "look", "inputSchema": {"json": LOOK["parameters"]}}}
    payload = asked({"text": "?"}, modelId=CLAUDE, toolConfig={"tools": [tool], **choice}, **{OWN: fields})
    request = BEDROCK.decode_request(payload)
    assert request.options.parallel_tool_calls is (not flag)
    assert BEDROCK.encode_request(request).payload == payload
    encoded = convert(payload, source=API, target="anthropic-messages")
    assert encoded.payload["tool_choice"]["disable_parallel_tool_use"] is flag
    other = convert(payload, source=API, target="cohere-chat")
    assert f"$.{OWN}.tool_choice" in {loss.path for loss in other.losses}


@pytest.mark.parametrize("display", ["summarized", "omitted"])
def test_display_of_thinking_is_sent_between_anthropic_and_bedrock(display: str) -> None:
    thinking = {"type": "adaptive", "display": display}
    payload = asked({"text": "?"}, modelId="us.anthropic.claude-sonnet-5", **{OWN: {"thinking": thinking}})
    sent = convert(payload, source=API, target="anthropic-messages", model="claude-sonnet-5")
    assert sent.payload["thinking"] == thinking
    back = convert(sent.payload, source="anthropic-messages", target=API, model="us.anthropic.claude-sonnet-5")
    assert back.payload[OWN] == {"thinking": thinking}
    other = convert(sent.payload, source="anthropic-messages", target=API, model=NOVA)
    assert "$.thinking.display" in {loss.path for loss in other.losses}


# The form of an answer of Nova with web grounding, as public tests have it (crmne/ruby_llm, seen 2026-11-27).
OF_NOVA = [
    {"text": "Ruby 4 is the latest version"},
    {"citationsContent": {"citations": [{"location": {"web": {"url": "https://ruby-lang.org", "domain": "x"}}}]}},
    {"text": "."},
]


def test_citations_of_nova_belong_to_the_text_before_them() -> None:
    payload = answered(*OF_NOVA)
    assert BEDROCK.encode_response(BEDROCK.decode_response(payload)).payload == payload
    message = convert(payload, source=API, target="openai-chat", kind="response").payload["choices"][0]["message"]
    assert message["content"] == "Ruby 4 is the latest version."
    cited = message["annotations"][0]["url_citation"]
    assert message["content"][cited["start_index"] : cited["end_index"]] == "Ruby 4 is the latest version"
    parts = convert(payload, source=API, target="openai-responses", kind="response").payload["output"][0]["content"]
    assert [(part["text"], len(part["annotations"])) for part in parts] == [
        ("Ruby 4 is the latest version", 1),
        (".", 0),
    ]
    encoded = convert(payload, source=API, target="anthropic-messages", kind="response")
    assert "$.output.message.content[1].citationsContent.citations[0]" in {loss.path for loss in encoded.losses}


def test_cached_tokens_have_the_names_of_novas_invoke_model() -> None:
    payload = answered({"text": "Hi."})
    payload["usage"] |= {"cacheReadInputTokenCount": 3, "cacheWriteInputTokenCount": 0}
    response = BEDROCK.decode_response(payload)
    assert response.usage is not None
    assert response.usage.cache_read_tokens == 3
    assert BEDROCK.encode_response(response).payload == payload
    both = answered({"text": "Hi."})
    both["usage"] |= {"cacheReadInputTokenCount": 3, "cacheReadInputTokens": 3}
    assert BEDROCK.encode_response(BEDROCK.decode_response(both)).payload == both


PROMPT = "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEFGHIJ:1"


@pytest.mark.parametrize(
    "payload",
    [
        {"modelId": PROMPT, "promptVariables": {"genre": {"text": "pop"}}},
        {"modelId": PROMPT},
        {"promptVariables": {"genre": {"text": "pop"}}},
        {"modelId": PROMPT, "messages": []},
    ],
)
def test_request_for_a_prompt_needs_no_messages(payload: dict[str, Any]) -> None:
    assert contentmodel.detect(payload) == (API, "request")
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload
    assert BEDROCK.check_request(payload) == []
    encoded = convert(payload, source=API, target="openai-chat", kind="request", model="m")
    assert contentmodel.audit(payload, encoded) == []


@pytest.mark.parametrize("payload", [{"modelId": CLAUDE}, {"modelId": CLAUDE, "promptVariables": {}}, {}])
def test_other_request_without_messages_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(contentmodel.DecodeError, match=r"missing array at \$\.messages"):
        BEDROCK.decode_request(payload)
    assert [violation.path for violation in BEDROCK.check_request(payload)] == ["$.messages"]


UNKNOWN_PATH = {"Output": {"__type": "com.amazon.coral.service#UnknownOperationException"}, "Version": "1.0"}
OF_BOTOCORE = {"Error": {"Code": "ThrottlingException", "Message": "Too many."}, "ResponseMetadata": {"RequestId": "r"}}
TOO_LONG = {"Code": "ValidationException", "Message": "prompt is too long: 3 tokens > 2 maximum"}


@pytest.mark.parametrize("api", [API, "anthropic-messages"])
@pytest.mark.parametrize(
    ("body", "kind", "path"),
    [
        (UNKNOWN_PATH, "not_found", "$.Output.__type"),
        (OF_BOTOCORE, "rate_limit", "$.Error.Code"),
        ({"Error": TOO_LONG, "message": TOO_LONG["Message"], "x": 1}, "context_length", "$.Error.Code"),
        ({"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "No."}, "permission", "$.__type"),
    ],
)
def test_error_of_aws_in_an_object_is_read(api: str, body: dict[str, Any], kind: str, path: str) -> None:
    adapter = contentmodel.adapter(api)
    assert contentmodel.detect(body) == (API, "response")
    response = adapter.decode_response(body)
    assert response.error is not None
    assert response.error.kind == kind
    assert response.error.code is not None
    assert adapter.encode_response(response).payload == body
    encoded = convert(body, source=api, target="openai-chat", kind="response")
    assert path in {loss.path for loss in encoded.losses}
    assert contentmodel.audit(body, encoded) == []


def test_error_of_botocore_is_an_exception_of_its_name_in_a_stream() -> None:
    encoder = BEDROCK.stream_encoder()
    events = contentmodel.unfold(BEDROCK.decode_response(OF_BOTOCORE))
    data = b"".join(map(encoder.feed, events)) + encoder.close()
    name, written = BEDROCK.stream_format.framing().feed(data)[-1]
    assert (name, json.loads(written)) == ("throttlingException", {"message": "Too many."})


def test_error_of_the_service_that_unknown_paths_get_keeps_its_kind() -> None:
    encoded = convert(UNKNOWN_PATH, source=API, target="anthropic-messages", kind="response")
    assert encoded.payload == {"type": "error", "error": {"type": "not_found_error", "message": ""}}


@pytest.mark.parametrize("body", [{"Error": {"Message": "No."}}, {"Output": {"text": "x"}}, {"Error": "x"}])
def test_other_objects_are_no_errors(body: dict[str, Any]) -> None:
    response = BEDROCK.decode_response(body)
    assert response.error is None
    assert BEDROCK.encode_response(response).payload == body


# -- citations of Claude -----------------------------------------------------------------------------------------------

PLACES = {
    "documentChar": ("documentIndex", {"type": "char_location"}, ("start_char_index", "end_char_index")),
    "documentPage": ("documentIndex", {"type": "page_location"}, ("start_page_number", "end_page_number")),
    "documentChunk": ("documentIndex", {"type": "content_block_location"}, ("start_block_index", "end_block_index")),
    "searchResultLocation": (
        "searchResultIndex",
        {"type": "search_result_location", "source": "https://a", "search_result_index": 1},
        ("start_block_index", "end_block_index"),
    ),
}
MESSAGES = "anthropic-messages"


def cited(place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a citation of Converse, and the same one of the Messages API."""
    index, fields, (start, end) = PLACES[place]
    own: dict[str, Any] = {"title": "Doc", "location": {place: {index: 1, "start": 3, "end": 10}}}
    if index == "searchResultIndex":
        own, fields = {**own, "source": "https://a"}, {**fields, "title": "Doc"}
    else:
        fields = {**fields, "document_title": "Doc", "document_index": 1}
    return {**own, "sourceContent": [{"text": "sky"}]}, {**fields, start: 3, end: 10, "cited_text": "sky"}


@pytest.mark.parametrize("place", PLACES)
def test_citations_of_documents_are_sent_between_both_apis_of_claude(place: str) -> None:
    own, other = cited(place)
    payload = answered({"citationsContent": {"content": [{"text": "Blue."}], "citations": [own]}})
    encoded = convert(payload, source=API, target=MESSAGES)
    assert encoded.payload["content"] == [{"type": "text", "text": "Blue.", "citations": [other]}]
    assert contentmodel.audit(payload, encoded) == []
    assert judge(MESSAGES, "response").faults(encoded.payload) == []
    back = convert(encoded.payload, source=MESSAGES, target=API)
    assert back.payload["output"] == payload["output"]
    assert contentmodel.audit(encoded.payload, back) == []
    deltas = b"".join(
        contentmodel.convert_stream([streamed(BEDROCK.decode_response(payload))], source=API, target=MESSAGES)
    )
    assert fold_stream([deltas], MESSAGES).messages[0].contents[0].annotations is not None


def test_citation_without_a_title_gets_the_fields_that_the_messages_api_requires() -> None:
    place = {"documentChar": {"documentIndex": 0, "start": 0, "end": 3}}
    payload = answered({"citationsContent": {"content": [{"text": "Blue."}], "citations": [{"location": place}]}})
    [text] = convert(payload, source=API, target=MESSAGES).payload["content"]
    assert (text["citations"][0]["document_title"], text["citations"][0]["cited_text"]) == (None, "")


INLINE = {"type": "text", "media_type": "text/plain", "data": "The sky."}


@pytest.mark.parametrize(
    ("sources", "is_sent"),
    [
        ([INLINE], True),
        ([{"type": "content", "content": [{"type": "text", "text": "The sky."}]}], True),
        ([INLINE, {"type": "url", "url": "https://a/b.pdf"}], False),
        ([{"type": "file", "file_id": "f"}, INLINE], False),
    ],
)
def test_citation_is_sent_if_all_documents_before_it_are(sources: list[dict[str, Any]], is_sent: bool) -> None:
    documents = [{"type": "document", "source": source} for source in sources]
    text = {"type": "text", "text": "Blue.", "citations": [cited("documentChar")[1]]}
    later = {"type": "document", "source": {"type": "url", "url": "https://a/c.pdf"}}
    messages = [
        {"role": "user", "content": [*documents, {"type": "text", "text": "?"}]},
        {"role": "assistant", "content": [text]},
        {"role": "user", "content": [later, {"type": "text", "text": "And?"}]},
    ]
    payload = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages}
    encoded = convert(payload, source=MESSAGES, target=API, model=CLAUDE)
    assert ("citationsContent" in encoded.payload["messages"][1]["content"][0]) is is_sent
    reported = any(loss.path.startswith("$.messages[1].content[0].citations") for loss in encoded.losses)
    assert reported is not is_sent
    assert contentmodel.audit(payload, encoded) == []


def test_citations_of_other_apis_are_not_sent() -> None:
    citation = contentmodel.content.Citation(
        document_index=0, location=contentmodel.content.Span(start=0, end=3, unit="char")
    )
    message = ChatMessage(role="assistant", contents=[TextContent(text="Blue.", annotations=[citation])])
    request = ChatRequest(model=CLAUDE, messages=[user("?"), message, user("!")])
    assert BEDROCK.encode_request(request).payload["messages"][1]["content"] == [{"text": "Blue."}]


# -- finish reasons ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "of_gemini"),
    [("malformed_tool_use", "MALFORMED_FUNCTION_CALL"), ("malformed_model_output", "MALFORMED_RESPONSE")],
)
def test_malformed_answers_have_the_same_reason_at_gemini(reason: str, of_gemini: str) -> None:
    payload = {**answered({"text": "x"}), "stopReason": reason}
    encoded = convert(payload, source=API, target="google-generate-content")
    assert encoded.payload["candidates"][0]["finishReason"] == of_gemini
    assert "no-finish-reason" not in {loss.code for loss in encoded.losses}
    back = convert(encoded.payload, source="google-generate-content", target=API)
    assert back.payload["stopReason"] == reason


@pytest.mark.parametrize(("value", "reason"), [(10, "malformed_tool_use"), ("NO_IMAGE", "malformed_model_output")])
def test_other_failures_of_gemini_are_malformed_answers(value: object, reason: str) -> None:
    payload = {"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": value}]}
    assert convert(payload, source="google-generate-content", target=API).payload["stopReason"] == reason


# -- cache writes ------------------------------------------------------------------------------------------------------

WRITES = [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m", "inputTokens": 10}]


@pytest.mark.parametrize(("details", "of_1h", "of_5m"), [(WRITES, 20, 10), (WRITES[:1], 20, 0), (WRITES[1:], 0, 10)])
def test_cache_writes_are_counted_by_lifetime_at_both_apis_of_claude(details: Any, of_1h: int, of_5m: int) -> None:
    usage = {
        "inputTokens": 1,
        "outputTokens": 2,
        "totalTokens": 33,
        "cacheWriteInputTokens": 30,
        "cacheDetails": details,
    }
    payload = {**answered({"text": "x"}), "usage": usage}
    encoded = convert(payload, source=API, target=MESSAGES)
    creation = {"ephemeral_1h_input_tokens": of_1h, "ephemeral_5m_input_tokens": of_5m}
    assert encoded.payload["usage"]["cache_creation"] == creation
    assert contentmodel.audit(payload, encoded) == []
    back = convert(encoded.payload, source=MESSAGES, target=API)
    assert back.payload["usage"]["cacheDetails"] == details
    assert contentmodel.audit(encoded.payload, back) == []
    events = contentmodel.convert_stream([streamed(BEDROCK.decode_response(payload))], source=API, target=MESSAGES)
    assert b'"ephemeral_1h_input_tokens":%d' % of_1h in b"".join(events)


@pytest.mark.parametrize("details", [[{"ttl": "2h", "inputTokens": 3}], [{"ttl": "1h"}], WRITES[:1] * 2, {"x": 3}])
def test_cache_writes_of_an_unknown_form_are_reported(details: Any) -> None:
    payload = {**answered({"text": "x"}), "usage": {"inputTokens": 1, "outputTokens": 2, "cacheDetails": details}}
    assert BEDROCK.encode_response(BEDROCK.decode_response(payload)).payload == payload
    encoded = convert(payload, source=API, target=MESSAGES)
    assert "$.usage.cacheDetails" in {loss.path for loss in encoded.losses}


def test_cache_writes_are_empty_if_the_messages_api_counts_none() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    usage |= {"cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0}}
    payload = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}], "usage": usage}
    assert convert(payload, source=MESSAGES, target=API).payload["usage"]["cacheDetails"] == []


def test_answer_without_blocks_has_an_empty_content() -> None:
    choice = {"message": {"role": "assistant", "content": ""}, "finish_reason": "stop", "index": 0}
    payload = {"id": "a", "object": "chat.completion", "created": 1, "model": "gpt-5.2", "choices": [choice]}
    encoded = convert(payload, source="openai-chat", target=API)
    assert encoded.payload["output"] == {"message": {"role": "assistant", "content": []}}
