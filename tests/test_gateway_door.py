"""The input of the gateway from clients and upstreams: names in paths, long texts, secrets, comments."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import httpx2
import pytest

import contentmodel
from contentmodel.gateway import GatewayConfig, read_config
from contentmodel.gateway.config import hosts_of, http_apis
from contentmodel.gateway.front import GatewayError, Scrubbing, secrets_of, without
from contentmodel.gateway.upstream import Sender
from contentmodel.json import write
from contentmodel_conformance.server.serving import serving
from gateways import Gateways, config_for, gateway
from providers import PROVIDERS
from raw_upstreams import RawUpstream, answer, stream
from test_gateway_errors import frames, whole

HOSTS = [(api, None) for api in http_apis()] + [(api, host) for api in http_apis() for host in hosts_of(api)]


def sender_of(api: str, host: str | None) -> Sender:
    value: Any = {"api": api, "base_url": "http://upstream.example/base/v1", "key": "none"}
    value |= {"dialect": host} if host else {}
    config = read_config({"upstreams": {"up": value}, "routes": [{"to": "up"}]})
    http = hosts_of(api)[host] if host else http_apis()[api]
    return Sender("up", config.upstreams["up"], http, contentmodel.adapter(api), None)


NAMES = [
    *(".", "..", "%2e", "%2e%2e", "%252e%252e", "...", "../x", "x/..", "a/../../b", "./x", "/", "//evil.example/x"),
    *(
        "..\\..\\x",
        "\\",
        "a?b=c",
        "a#b",
        "a;b",
        "a b",
        "a\r\nx: 1",
        "\x00",
        "\x7f",
        "@evil.example",
        ":80",
        "é/..",
        "\ud800",
    ),
    *("http://evil.example/x", "x" * 70_000, "arn:aws:bedrock:us-east-1:1:inference-profile/us.a.b-v1:0"),
]


@pytest.mark.parametrize(("api", "host"), HOSTS)
@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:24])
def test_name_of_a_model_changes_the_path_of_no_api(api: str, host: str | None, name: str) -> None:
    """The path that an HTTP client sends has the model as one segment, or nothing is sent."""
    sender = sender_of(api, host)
    methods = [sender.http.generate, sender.http.stream, sender.http.count and sender.http.count.method]
    for method in filter(None, methods):
        try:
            url = sender.url(method, name)
        except GatewayError:
            assert name in (".", "..", "\ud800")
            continue
        sent = httpx2.Request("POST", url if len(url) < 60_000 else sender.url(method, name[:9]))
        before, marked, after = f"/base/v1{method.path}".partition("{model}")
        path = sent.url.raw_path.decode().partition("?")[0]
        assert sent.url.host == "upstream.example"
        assert path.startswith(before)
        assert path.endswith(after)
        model = path[len(before) : len(path) - len(after)]
        assert bool(model) is bool(marked)
        assert not set("/\\?#\r\n\x00 ") & set(model)


def test_model_that_is_a_dot_segment_is_refused_before_anything_is_sent(upstream: RawUpstream) -> None:
    upstream.set_answers(answer(whole("openai-chat")))
    for api, dialect in (("bedrock-converse", None), ("anthropic-messages", "bedrock")):
        value: Any = {"api": api, "base_url": upstream.url, "key": "none", "retries": 0}
        up = {**value, **({"dialect": dialect} if dialect else {})}
        with gateway(read_config({"upstreams": {"up": up}, "routes": [{"to": "up"}]})) as (url, app):
            clients = Gateways.of(url, app)
            for name in (".", "..", "\\ud800"):
                body = json.dumps({**PROVIDERS["openai-chat"].request, "model": "NAME"}).replace("NAME", name)
                response = clients.post("openai-chat", "", content=body)
                assert response.status_code == 400, response.text
                assert "cannot be the name of a model" in response.json()["error"]["message"]
    assert upstream.requests == []


# -- texts of clients --------------------------------------------------------------------------------------------------


def test_texts_of_clients_in_reports_and_logs_are_bounded(
    upstream: RawUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "contentmodel.gateway")
    long = "n" * 300_000
    chat = PROVIDERS["openai-chat"].request
    payloads: list[Any] = [
        {**chat, "model": long},
        {**chat, long: {long: 1}},
        {**chat, **{f"unknown_{number}": 1 for number in range(3000)}},
        {**chat, "messages": [{"role": "user", "content": [{"type": long}] * 20}]},
        {**chat, "tools": [{"type": "function", "function": {"name": long, "parameters": {"type": long}}}] * 9},
    ]
    with gateway(config_for("anthropic-messages", upstream.base_url("anthropic-messages"), model=None)) as (url, app):
        clients = Gateways.of(url, app)
        for payload in payloads:
            upstream.set_answers(answer(whole("anthropic-messages")))
            clients.post("openai-chat", "", json=payload)
        clients.post("openai-chat", "", path="/v1/messages/" + "x" * 30_000)
        unknown = clients.post("google-generate-content", "", path=f"/v1beta/models/{'x' * 30_000}:generateContent")
        assert unknown.status_code == 200
        reports = list(app.state.reports._reports.values())
    for report in reports:
        size = len(write(report))
        assert size < 500_000, (report.model, size)
        assert report.model is None or len(report.model) < 300
        assert len(report.request) <= 1000
    assert sum(len(loss.path) for loss in reports[2].request) < 100_000
    assert "provider-field=3000" in reports[2].counts()
    assert max(len(record.getMessage()) for record in caplog.records) < 20_000


# -- secrets -----------------------------------------------------------------------------------------------------------

SECRET, BEARER, KEY = "azure/key+0123456789==", "tok-abcdefgh-0123", 'sk-"upstream"-secret-0123'
ENVIRONMENT = {"UP": KEY}


def secret_config(api: str, upstream: RawUpstream) -> GatewayConfig:
    headers = {"x-secret": SECRET, "x-other": f"Bearer {BEARER}", "anthropic-beta": "context-1m-2025-08-07"}
    up = {"api": api, "base_url": upstream.base_url(api), "key": "env:UP", "headers": headers, "retries": 0}
    return read_config({"upstreams": {"up": up}, "routes": [{"to": "up"}]}, environment=ENVIRONMENT)


def spellings() -> str:
    return " ".join([SECRET, SECRET.replace("/", "\\/"), "azure%2Fkey%2B0123456789%3D%3D", BEARER, KEY])


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "openai-responses", "google-generate-content"])
@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages"])
def test_secrets_in_configured_headers_are_in_no_answer(api: str, target: str, upstream: RawUpstream) -> None:
    echo = spellings()
    error = {"error": {"message": echo, "type": "x", "code": 400, "status": "x"}, "type": "error"}
    event: Any = {"type": "error", "error": {"type": "api_error", "message": echo, "code": 500}}
    event |= {"message": echo, "code": "x"}
    named = b"event: error\n" if target in ("anthropic-messages", "openai-responses") else b""
    broken = named + b"data: " + json.dumps(event).encode() + b"\n\n"
    everything = []
    with gateway(secret_config(target, upstream), environment=ENVIRONMENT) as (url, app):
        clients = Gateways.of(url, app)
        ids = {"x_request_id": SECRET, "request_id": BEARER, "x_echo": KEY}
        for steps in (
            answer(json.dumps(error), 400, **ids),
            answer(f"<html>{echo}</html>", 500, **ids),
            answer(whole(target), **ids),
        ):
            upstream.set_answers(steps)
            response = clients.post(api, "")
            everything.append(f"{response.headers} {response.text}")
        for cut in (9, len(broken) // 2, len(broken) - 40):
            sent = frames(target)[: len(frames(target)) // 2]
            upstream.set_answers(stream(*sent, broken[:cut], broken[cut:], **ids))
            with clients.stream(api, "") as streamed:
                everything.append(f"{streamed.read().decode()} {streamed.headers}")
    text = "\n".join(everything)
    assert "[key]" in text
    for secret in (SECRET, SECRET.replace("/", "\\/"), SECRET.replace("/", "\\\\/"), "azure%2Fkey", BEARER, KEY):
        assert secret not in text
    assert json.dumps(KEY)[1:-1] not in text


def test_scrubbing_of_a_stream_does_not_depend_on_its_chunks() -> None:
    secrets = secrets_of(KEY, [SECRET])
    data = f"data: {spellings()} {KEY[:9]} {SECRET[:5]}\n\n".encode()
    for size in range(1, len(data)):
        scrubbing = Scrubbing(secrets)
        pieces = [scrubbing.feed(data[at : at + size]) for at in range(0, len(data), size)]
        assert b"".join([*pieces, scrubbing.close()]) == without(data, secrets)


# -- comments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("silent", [b": OPENROUTER PROCESSING\n\n", b'event: ping\ndata: {"type": "ping"}\n\n'])
@pytest.mark.parametrize("api", [api for api in PROVIDERS if api in http_apis()])
def test_chunks_that_convert_to_nothing_do_not_delay_the_keep_alives(api: str, silent: bytes) -> None:
    """The client gets its headers and keep-alives before the first event."""
    target = "openai-responses" if api == "anthropic-messages" else "anthropic-messages"
    http, releasing = http_apis()[api], threading.Event()

    async def upstream(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while not releasing.is_set():
            await send({"type": "http.response.body", "body": silent, "more_body": True})
            await asyncio.sleep(0.03)
        await send({"type": "http.response.body", "body": b"".join(frames(target))})

    with serving(upstream) as upstream_url:
        base = f"{upstream_url}/v1" if target.startswith("openai") else upstream_url
        with (
            gateway(config_for(target, base, limits={"heartbeat": 0.2})) as (url, app),
            Gateways.of(url, app).stream(api, "") as response,
        ):
            read, chunks = b"", response.iter_raw()
            while http.keep_alive and read.count(http.keep_alive) < 3:
                read += next(chunks)
            releasing.set()
            read += b"".join(chunks)
    assert response.status_code == 200
    if "text/event-stream" in response.headers["content-type"] and http.comments:
        check_no_empty_events(read)


def check_no_empty_events(data: bytes) -> None:
    """Assert that each empty line ends an event, as a reader without comments requires it."""
    for block in data.split(b"\n\n")[:-1]:
        lines = [line for line in block.split(b"\n") if not line.startswith(b":")]
        assert any(line.startswith(b"data:") for line in lines), block


# -- methods that are passed through -----------------------------------------------------------------------------------

COMPACT = "/v1/responses/compact"


def test_compaction_is_passed_through_to_an_upstream_of_the_same_api(upstream: RawUpstream) -> None:
    with gateway(config_for("openai-responses", upstream.base_url("openai-responses"), model="gpt-5.2")) as (url, app):
        clients = Gateways.of(url, app)
        upstream.set_answers(answer({"object": "response.compaction", "output": []}))
        response = clients.post("openai-responses", "", path=COMPACT, content=b'{"model":"m", "input":[],"x":1}')
        assert response.json() == {"object": "response.compaction", "output": []}
        assert upstream.requests[0].target == COMPACT
        assert upstream.requests[0].body == b'{"model":"gpt-5.2", "input":[],"x":1}'
        upstream.set_answers(answer({"error": {"message": "oops", "type": "x"}}, 429))
        assert clients.post("openai-responses", "", path=COMPACT, content=b'{"model":"m"}').status_code == 429


def test_compaction_of_another_api_is_an_error_of_the_client_api(upstream: RawUpstream) -> None:
    with gateway(config_for("anthropic-messages", upstream.base_url("anthropic-messages"))) as (url, app):
        response = Gateways.of(url, app).post("openai-responses", "", path=COMPACT, content=b'{"model":"m","input":[]}')
    assert response.status_code == 404
    assert "/responses/compact needs an upstream of openai-responses" in response.json()["error"]["message"]
