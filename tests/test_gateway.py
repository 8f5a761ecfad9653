"""The gateway in front of the loopback server: what clients get, what upstreams are sent, and what is reported."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any
from unittest import mock

import httpx2
import pytest

from conftest import APIS
from contentmodel import Violation, adapter, fold_stream
from contentmodel_conformance.server import LoopbackServer, say
from gateways import Gateways, config_for, gateway
from providers import PROVIDERS, base_url
from test_official_clients import decoded, text_of

TEXT = "Hello there, how are you?"


FURTHER = [api for api in PROVIDERS if api not in APIS]
PAIRS = [*product(APIS, repeat=2), *((api, APIS[0]) for api in FURTHER), *((APIS[2], api) for api in FURTHER)]
"""Clients and upstreams: each pair of the APIs of most clients, and each further API as a client and an upstream."""


@pytest.mark.parametrize(("api", "upstream"), PAIRS)
def test_official_client_gets_the_answer_of_any_upstream(api: str, upstream: str) -> None:
    with LoopbackServer([say(TEXT)], repeat=True) as server:
        config = config_for(upstream, server.base_url(upstream))
        with gateway(config) as (url, _):
            reader = PROVIDERS[api].official(base_url(api, url))
            answers = [reader.plain(), reader.streamed()[0], asyncio.run(reader.plain_later())]
            answers.append(asyncio.run(PROVIDERS[api].official(base_url(api, url)).streamed_later()))
        assert [text_of(decoded(api, answer)) for answer in answers] == [TEXT] * 4
        assert server.check() == []


def post(url: str, path: str, payload: Any, **options: Any) -> httpx2.Response:
    with httpx2.Client(trust_env=False) as client:
        return client.post(f"{url}{path}", json=payload, **options)


CHAT = {"model": "m", "messages": [{"role": "user", "content": "?"}]}


def test_report_lists_the_losses_of_a_request() -> None:
    with LoopbackServer([say(TEXT)]) as server:
        config = config_for("google-generate-content", server.base_url("google-generate-content"))
        with gateway(config) as (url, _):
            answer = post(url, "/v1/chat/completions", {**CHAT, "store": True})
            name = answer.headers["contentmodel-request-id"]
            report = httpx2.get(f"{url}/contentmodel/losses/{name}").json()
    assert "no-field=1" in answer.headers["contentmodel-losses"]
    assert [(loss["path"], loss["code"]) for loss in report["request"]] == [("$.store", "no-field")]
    assert report["upstream"] == "up"


@pytest.mark.parametrize("stream", [True, False])
def test_report_lists_the_rules_that_a_converted_request_breaks(*, stream: bool) -> None:
    broken = Violation(path="$.x", rule="a-rule", severity="refused", message="", fix="")
    upstream: Any = adapter("google-generate-content")
    with LoopbackServer([say(TEXT)]) as server, mock.patch.object(upstream, "check_request", return_value=[broken]):
        config = config_for("google-generate-content", server.base_url("google-generate-content"))
        with gateway(config) as (url, app):
            post(url, "/v1/chat/completions", {**CHAT, "stream": stream})
            report = Gateways.of(url, app).report("")
    assert report.violations == ["a-rule at $.x"]


def test_gateway_passes_an_answer_that_contains_the_client_key() -> None:
    """A client's key may be an ordinary word. Only errors are searched for keys, and only for long ones."""
    with LoopbackServer([say(TEXT)], repeat=True) as server:
        config = config_for("anthropic-messages", server.base_url("anthropic-messages"), upstream={"key": "client"})
        with gateway(config) as (url, _):
            for key in ("Hello", TEXT):
                headers = {"authorization": f"Bearer {key}"}
                answer = post(url, "/v1/chat/completions", CHAT, headers=headers).json()
                assert answer["choices"][0]["message"]["content"] == TEXT
                stream = post(url, "/v1/chat/completions", {**CHAT, "stream": True}, headers=headers).content
                assert fold_stream(stream, "openai-chat").messages[0].text == TEXT


@pytest.mark.parametrize("hosted_tools", ["encode", "function"])
def test_losses_have_paths_in_the_client_payload_if_the_gateway_changes_the_request(hosted_tools: str) -> None:
    contents = [{"role": "user", "parts": [{"text": "?"}]}]
    tools = [{"urlContext": {}}]
    payload = {"contents": contents, "generationConfig": {"topK": 64}, "cachedContent": "cachedContents/1"}
    with LoopbackServer([say(TEXT)]) as server:
        config = config_for("openai-responses", server.base_url("openai-responses"), hosted_tools=hosted_tools)
        with gateway(config) as (url, _):
            answer = post(url, "/v1beta/models/gemini-3-pro:streamGenerateContent", {**payload, "tools": tools})
            name = answer.headers["contentmodel-request-id"]
            report = httpx2.get(f"{url}/contentmodel/losses/{name}").json()
    lost = {loss["path"] for loss in report["request"]}
    assert lost >= {"$.generationConfig.topK", "$.cachedContent"}
    assert not any(path.startswith(("$.options", "$.extra")) for path in lost)
