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
    FunctionCallContent,
    ReasoningContent,
    TextContent,
    convert,
    fold_stream,
)
from contentmodel.client import RateLimitError, chat_client
from contentmodel.content import Protected, UnknownContent
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


# -- issuers -----------------------------------------------------------------------------------------------------------


def reasoned(block: dict[str, Any], model: str | None) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": [{"text": "?"}]},
        {"role": "assistant", "content": [{"reasoningContent": block}, {"text": "Yes."}]},
        {"role": "user", "content": [{"text": "Why?"}]},
    ]
    return {"messages": messages, **({} if model is None else {"modelId": model})}


SIGNED = {"reasoningText": {"text": "Hm.", "signature": "c2lnbmF0dXJl"}}


def test_signatures_do_not_pass_from_nova_to_claude_within_the_api() -> None:
    request = BEDROCK.decode_request(reasoned(SIGNED, NOVA))
    assert "c2lnbmF0dXJl" in json.dumps(BEDROCK.encode_request(request).payload)
    encoded = BEDROCK.encode_request(request, model=CLAUDE)
    assert "c2lnbmF0dXJl" not in json.dumps(encoded.payload)
    assert "foreign-reasoning" in {loss.code for loss in encoded.losses}


def test_state_of_an_unnamed_model_is_kept_within_the_api() -> None:
    request = BEDROCK.decode_request(reasoned(SIGNED, None))
    assert "c2lnbmF0dXJl" in json.dumps(BEDROCK.encode_request(request, model=CLAUDE).payload)


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


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"])
def test_validator_of_the_sdk_accepts_converted_requests(source: str) -> None:
    for record in records(source, "request"):
        payload = convert(record["body"], source=source, target=API, model=CLAUDE).payload
        assert judge(API, "request").faults(payload) == faults_of_sdk(payload) == [], record["id"]


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


@pytest.mark.parametrize("damaged", [{"citations": True}, {"context": 1}, {"citations": {}, "context": ""}])
def test_damaged_settings_of_documents_are_not_sent_to_the_messages_api(damaged: dict[str, Any]) -> None:
    document = {"name": "d", "format": "txt", "source": {"text": "BODY"}, **damaged}
    payload = asked({"text": "?"}, {"document": document})
    encoded = convert(payload, source=API, target="anthropic-messages")
    assert damaged.keys().isdisjoint(encoded.payload["messages"][0]["content"][1])
    assert BEDROCK.encode_request(BEDROCK.decode_request(payload)).payload == payload
    assert contentmodel.audit(payload, encoded) == []


# -- settings in other places --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("payload", [{"modelId": CLAUDE}, {"modelId": CLAUDE, "promptVariables": {}}, {}])
def test_other_request_without_messages_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(contentmodel.DecodeError, match=r"missing array at \$\.messages"):
        BEDROCK.decode_request(payload)
    assert [violation.path for violation in BEDROCK.check_request(payload)] == ["$.messages"]


OF_BOTOCORE = {"Error": {"Code": "ThrottlingException", "Message": "Too many."}, "ResponseMetadata": {"RequestId": "r"}}


def test_error_of_botocore_is_an_exception_of_its_name_in_a_stream() -> None:
    encoder = BEDROCK.stream_encoder()
    events = contentmodel.unfold(BEDROCK.decode_response(OF_BOTOCORE))
    data = b"".join(map(encoder.feed, events)) + encoder.close()
    name, written = BEDROCK.stream_format.framing().feed(data)[-1]
    assert (name, json.loads(written)) == ("throttlingException", {"message": "Too many."})


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


# -- finish reasons ----------------------------------------------------------------------------------------------------


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
