"""Anthropic's payloads at Bedrock (InvokeModel) and at Vertex AI: bodies, streams, errors, rules, clients, gateways."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import boto3
import pytest
from anthropic.types import message_create_params
from botocore.config import Config
from botocore.exceptions import ClientError as Refusal
from botocore.exceptions import EventStreamError
from pydantic import TypeAdapter

import contentmodel
from conftest import records
from contentmodel import ChatRequest, async_chat_client, chat_client, convert
from contentmodel.authoring import INVOKE_STREAM
from contentmodel.batches import convert_line
from contentmodel.client import RateLimitError
from contentmodel.gateway import ConfigError, read_config
from contentmodel.message import user
from contentmodel.streams import encode_stream, fold_stream
from contentmodel.unfolding import unfold
from contentmodel_conformance import streams
from contentmodel_conformance.server import Fault, LoopbackServer, Turn
from gateways import gateway

API, RECORDED = "anthropic-messages", "bedrock-anthropic-invoke"
MESSAGES = contentmodel.adapter(API)
MODEL = "us.anthropic.claude-opus-4-8"
HI: Any = {"role": "user", "content": "Hi"}
HOSTS = ("bedrock", "vertex")
VERSIONS = {"bedrock": "bedrock-2023-05-31", "vertex": "vertex-2023-10-16"}
REQUEST: dict[str, Any] = {"model": MODEL, "max_tokens": 9, "stream": True, "messages": [HI]}
ANSWER = {"text": "Hello there, how are you?", "calls": [{"name": "look", "arguments": {"place": "harbour"}}]}
HELLO = ChatRequest(messages=[user("Hi")])


def sent(payload: dict[str, Any], host: str, source: str = API) -> Any:
    """Return the body for a host, and the significant losses by path."""
    encoded = convert(payload, source=source, target=API, policies={"dialect": host})
    return encoded.payload, {loss.path: loss.code for loss in encoded.losses if loss.is_significant}


# -- bodies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["request", "response"])
def test_recorded_bodies_of_invoke_model_are_unchanged(kind: Any) -> None:
    for record in records(RECORDED, kind):
        body = record["body"]
        assert contentmodel.detect(body) == (API, kind)
        for policies in (None, {"dialect": "bedrock"}):
            encoded = convert(body, source=API, target=API, kind=kind, policies=policies)  # type: ignore[arg-type]
            assert (encoded.payload, encoded.losses) == (body, ())
        converted = convert(body, target="openai-chat", kind=kind)
        assert {loss.path for loss in converted.losses if loss.is_significant} <= {
            "$.model",
            "$.top_k",
            "$.usage.input_tokens",
        }


def test_recorded_requests_break_no_rule_of_bedrock() -> None:
    for record in records(RECORDED, "request"):
        found = contentmodel.check(record["body"], api=API, model=record["model"], policies={"dialect": "bedrock"})
        assert [violation for violation in found if violation.severity != "unchecked"] == []


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "google-generate-content", "bedrock-converse"])
def test_recorded_requests_of_other_apis_are_accepted_by_the_host(source: str, host: Any) -> None:
    types = TypeAdapter(message_create_params.MessageCreateParamsBase)
    for record in list(records(source, "request"))[::7]:
        if record["status"] not in (200, None):
            continue
        encoded = convert(record["body"], source=source, target=API, model=MODEL, policies={"dialect": host})
        body = encoded.payload
        found = contentmodel.check(body, api=API, model=MODEL, policies={"dialect": host})
        assert [v for v in found if v.severity == "refused"] == [], record["id"]
        assert "model" not in body
        types.validate_python({"model": MODEL, **{key: value for key, value in body.items() if key != "stream"}})


def test_unknown_host_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown policy dialect=azure: expected anthropic \| bedrock \| vertex"):
        sent(REQUEST, "azure")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("anthropic.claude-v2:1", "Claude 3.5 and older"),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", "Claude 3.5 and older"),
        ("global.anthropic.claude-opus-4-6-v1", "Opus 4.6, Sonnet 4.6"),
        ("claude-opus-4-5@20251101", "Opus 4.5"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-8", "Opus 4.8"),
    ],
)
def test_names_of_hosts_have_the_capabilities_of_the_model(name: str, shown: str) -> None:
    row = MESSAGES.look_up_model(name).row
    assert row is not None
    assert row.shown == shown


# -- streams and errors ------------------------------------------------------------------------------------------------


def test_recorded_streams_of_invoke_model_fold_to_the_same_answer_in_each_format(corpus: Any) -> None:
    lines = [json.loads(line) for line in (corpus / "recorded" / "raw-framing.jsonl").read_text().splitlines()]
    raw = {line["id"]: base64.b64decode(line["raw"]) for line in lines if line["api"] == RECORDED}
    for record in records(RECORDED, "stream"):
        frames = streams.frames_of(record["body"], INVOKE_STREAM)
        answer = fold_stream(frames, API)
        assert answer.error is None
        assert contentmodel.detect(frames[0]) == (API, "stream")
        assert fold_stream(raw[record["id"]], API) == answer
        assert fold_stream(streams.frames_of(record["body"]), API) == answer
        events = streams.decode(MESSAGES, frames)
        for policies in (None, {"dialect": "bedrock"}):
            again = [*encode_stream(events, API, policies)]  # type: ignore[arg-type]
            assert fold_stream(again, API) == answer


def test_metrics_of_bedrock_stay_in_the_last_event() -> None:
    metrics = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}}
    events = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "claude"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop", **metrics},
    ]
    frames = [INVOKE_STREAM.write(json.dumps(event).encode(), None) for event in events]
    raw = b"".join(encode_stream(streams.decode(MESSAGES, frames), API, {"dialect": "bedrock"}))
    last = INVOKE_STREAM.framing().feed(raw)[-1]
    assert json.loads(last[1]) == {"type": "message_stop", **metrics}


def test_events_of_the_sdk_of_aws_are_read() -> None:
    event = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "claude"}}
    decoder = MESSAGES.stream_decoder()
    assert decoder.feed_event({"chunk": {"bytes": json.dumps(event).encode()}}) != []


def test_exception_in_a_stream_ends_the_turn_with_its_error() -> None:
    response = fold_stream([INVOKE_STREAM.write(b'{"message":"Slow down."}', "throttlingException")], API)
    assert response.error is not None
    assert (response.error.code, response.error.kind) == ("ThrottlingException", "rate_limit")


def test_error_body_of_bedrock_is_read_and_restored() -> None:
    body = {"message": "Slow down.", "__type": "ThrottlingException"}
    response = MESSAGES.decode_response(body)
    assert response.error is not None
    assert (response.error.message, response.error.kind) == ("Slow down.", "rate_limit")
    assert MESSAGES.encode_response(response).payload == body
    assert MESSAGES.encode_response(response, {"dialect": "bedrock"}).payload == body
    error = {"type": "rate_limit_error", "message": "Slow down."}
    assert MESSAGES.encode_response(response, {"dialect": "vertex"}).payload == {"type": "error", "error": error}


# -- clients -----------------------------------------------------------------------------------------------------------

CLASSES: dict[str, tuple[Any, Any]] = {
    "bedrock": (anthropic.AnthropicBedrock, anthropic.AsyncAnthropicBedrock),
    "vertex": (anthropic.AnthropicVertex, anthropic.AsyncAnthropicVertex),
}


def sdk_of(kind: Any, url: str, **options: Any) -> Any:
    """Return a client of Anthropic's SDK for a host. `url` is its base URL."""
    if kind in CLASSES["bedrock"]:
        options |= {"aws_region": "us-east-1", "api_key": "none"}
    elif kind in CLASSES["vertex"]:
        options |= {"region": "r", "project_id": "p", "access_token": "none"}
    else:
        options |= {"api_key": "none"}
    return kind(base_url=url, max_retries=0, **options)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer([ANSWER], repeat=True) as running:
        yield running


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("streamed", [False, True])
def test_sdk_reads_answers_of_a_host(server: LoopbackServer, host: str, streamed: bool) -> None:
    sdk = sdk_of(CLASSES[host][0], server.base_url(API, host))
    asked: Any = {"model": MODEL, "max_tokens": 9, "messages": [HI]}
    if streamed:
        with sdk.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = sdk.messages.create(**asked)
    assert message.content[0].text == ANSWER["text"]
    assert message.content[1].input == {"place": "harbour"}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("streamed", [False, True])
def test_client_sends_what_the_sdk_sends_and_the_version_of_the_host(
    server: LoopbackServer, host: str, streamed: bool
) -> None:
    sdk = sdk_of(CLASSES[host][0], server.base_url(API, host))
    client = chat_client(API, sdk=sdk, model=MODEL)
    answer = client.stream(HELLO).read() if streamed else client.complete(HELLO)
    assert answer.text == ANSWER["text"]
    assert answer.choices[0].messages[0].tool_calls[0].arguments == {"place": "harbour"}
    ours = server.requests[-1]
    assert ours.check() == []
    payload = MESSAGES.encode_request(HELLO, None, MODEL).payload
    sdk.messages.create(**{**payload, "stream": streamed})
    theirs = server.requests[-1]
    assert ours.path == theirs.path
    version = {"anthropic_version": VERSIONS[host]}
    assert ours.payload == {key: v for key, v in {**theirs.payload, **version}.items() if (key, v) != ("stream", False)}


@pytest.mark.parametrize("host", HOSTS)
def test_async_client_works_through_the_sdk_of_a_host(server: LoopbackServer, host: str) -> None:
    async def asked() -> list[str]:
        async with sdk_of(CLASSES[host][1], server.base_url(API, host)) as sdk:
            client = async_chat_client(API, sdk=sdk, model=MODEL)
            whole = await client.complete(HELLO)
            return [whole.text, (await client.stream(HELLO).read()).text]

    assert asyncio.run(asked()) == [ANSWER["text"]] * 2


def test_client_of_bedrock_sends_beta_features_in_the_body(server: LoopbackServer) -> None:
    headers = {"anthropic-beta": "context-1m, tools"}
    sdk = sdk_of(anthropic.AnthropicBedrock, server.base_url(API, "bedrock"), default_headers=headers)
    chat_client(API, sdk=sdk, model=MODEL).complete(HELLO)
    assert server.requests[-1].payload["anthropic_beta"] == ["context-1m", "tools"]


def test_client_of_bedrock_raises_the_error_of_a_refusal() -> None:
    fault = Fault(status=429, message="Slow down.")
    with LoopbackServer([Turn("Hi.", fault)]) as server:
        sdk = sdk_of(anthropic.AnthropicBedrock, server.base_url(API, "bedrock"))
        with pytest.raises(RateLimitError, match=r"Slow down\.") as caught:
            chat_client(API, sdk=sdk, model=MODEL).complete(HELLO)
    assert caught.value.error.code == "ThrottlingException"


def boto3_client(url: str) -> Any:
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    once = Config(retries={"total_max_attempts": 1})
    return boto3.client("bedrock-runtime", endpoint_url=url, config=once, **keys)


def test_boto3_reads_errors_of_invoke_model() -> None:
    with LoopbackServer([Turn("Hi.", Fault(status=429, message="Slow down."))]) as server:
        client = boto3_client(server.base_url(API, "bedrock"))
        with pytest.raises(Refusal) as caught:
            client.invoke_model(modelId=MODEL, body=json.dumps(sent(REQUEST, "bedrock")[0]))
    assert caught.value.response["Error"] == {"Code": "ThrottlingException", "Message": "Slow down."}


def test_sdks_read_an_exception_in_a_stream() -> None:
    broken = [*unfold(MESSAGES.decode_response({"id": "m", "role": "assistant", "model": "c", "content": []}))][:1]
    raw = b"".join(encode_stream(broken, API, {"dialect": "bedrock"}))
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    class Body:
        def stream(self) -> Iterator[bytes]:
            yield raw

    shape = boto3_client("http://127.0.0.1:9").meta.service_model.shape_for("ResponseStream")
    events = iter(EventStream(Body(), shape, EventStreamJSONParser(), "InvokeModelWithResponseStream"))
    assert "chunk" in next(events)
    with pytest.raises(EventStreamError, match="internalServerException"):
        next(events)


# -- the gateway and batches -------------------------------------------------------------------------------------------

FRONTS = {
    "anthropic": (anthropic.Anthropic, ""),
    "bedrock": (anthropic.AnthropicBedrock, ""),
    "vertex": (anthropic.AnthropicVertex, "/v1"),
}


@pytest.mark.parametrize("upstream", ["openai-chat", "anthropic", *HOSTS])
def test_gateway_connects_clients_of_every_host_with_every_upstream(server: LoopbackServer, upstream: str) -> None:
    api = upstream if upstream == "openai-chat" else API
    dialect = upstream if upstream in HOSTS else None
    base = server.base_url(api, dialect) + (
        "/projects/p/locations/l/publishers/anthropic" if upstream == "vertex" else ""
    )
    target: dict[str, Any] = {"api": api, "base_url": base, "key": "none", "retries": 0}
    if dialect is not None:
        target["dialect"] = dialect
    model = "gpt-5.2" if upstream == "openai-chat" else MODEL
    config = read_config({"upstreams": {"up": target}, "routes": [{"to": "up", "model": model}]}, environment={})
    asked: Any = {"model": MODEL, "max_tokens": 9, "messages": [HI]}
    with gateway(config) as (url, _):
        for name, (kind, path) in FRONTS.items():
            sdk = sdk_of(kind, url + path)
            whole = sdk.messages.create(**asked)
            request = server.requests[-1]
            with sdk.messages.stream(**asked) as stream:
                folded = stream.get_final_message()
            for message in (whole, folded):
                assert message.content[0].text == ANSWER["text"]
                assert message.content[1].input == {"place": "harbour"}
            assert request.model == model
            if name != upstream:
                assert request.check() == []
            assert (request.payload.get("anthropic_version") == VERSIONS.get(upstream)) or name == upstream


def test_gateway_refuses_and_counts_in_the_form_of_the_host(server: LoopbackServer) -> None:
    target = {"api": "openai-chat", "base_url": server.base_url("openai-chat"), "key": "none"}
    config = read_config({"upstreams": {"up": target}, "routes": [{"to": "up", "models": ["m"]}]}, environment={})
    with gateway(config) as (url, _):
        with pytest.raises(Refusal) as caught:
            boto3_client(url).invoke_model(modelId="other", body=json.dumps(sent(REQUEST, "bedrock")[0]))
        assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"
        vertex = sdk_of(anthropic.AnthropicVertex, f"{url}/v1")
        assert vertex.messages.count_tokens(model="m", messages=[HI]).input_tokens > 0


@pytest.mark.parametrize(
    ("upstream", "fault"),
    [
        ({"api": API, "dialect": "azure"}, "unknown host 'azure': known: bedrock, vertex"),
        ({"api": API, "dialect": "vertex"}, "upstreams.up.base_url: required: https://aiplatform.googleapis.com"),
    ],
)
def test_gateway_reports_faults_of_a_host(upstream: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault.replace(".", r"\.")):
        read_config({"upstreams": {"up": {"key": "none", **upstream}}, "routes": [{"to": "up"}]}, environment={})


def test_batches_of_bedrock_have_the_body_of_invoke_model() -> None:
    line = {"custom_id": "r-1", "params": {key: value for key, value in REQUEST.items() if key != "stream"}}
    made = convert_line(line, source="anthropic-batch", target="bedrock-batch")
    assert made.line == {"recordId": "r-1", "modelInput": sent(REQUEST, "bedrock")[0]}
    assert [(loss.path, loss.code) for loss in made.losses] == [("$.params.model", "in-url")]
    back = convert_line(made.line, source="bedrock-batch", target="anthropic-batch", model=MODEL)
    assert back.line == line


def test_haiku_5_5_takes_disabled_thinking_up_to_effort_high() -> None:
    """@ai-sdk/anthropic 2.0.109."""
    adapter = contentmodel.adapter("anthropic-messages")
    assert adapter.look_up_model("claude-haiku-5-5").capabilities.efforts_without_thinking == ("low", "medium", "high")
    settings = {"thinking": {"type": "disabled"}, "output_config": {"effort": "xhigh"}}
    payload = {
        "model": "claude-sonnet-4-6",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "x"}],
        **settings,
    }
    there = convert(payload, source="anthropic-messages", target="anthropic-messages", model="claude-haiku-5-5")
    assert contentmodel.check(there.payload) == []
    assert contentmodel.check({**payload, "model": "claude-haiku-5-5"}) != []
