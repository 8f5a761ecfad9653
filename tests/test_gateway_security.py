"""Keys, model names and headers from clients and upstreams: the gateway sends each only where it belongs."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from conftest import APIS
from contentmodel.gateway import ConfigError, read_config
from gateways import Gateways, config_for, gateway
from providers import PROVIDERS, base_url, path_of
from raw_upstreams import RawUpstream, answer, stream
from test_gateway_errors import ENDPOINT, QUICK, check_error, error_event, frames, outcome, whole

KEY, OTHER_KEY = "sk-upstream-secret", "sk-client-secret"
ENVIRONMENT = {"UPSTREAM_KEY": KEY, "GATEWAY_KEY": "sk-gateway-secret"}


def configured(
    api: str, upstream: RawUpstream, *, key: str = "env:UPSTREAM_KEY", gateway_key: str | None = None
) -> Any:
    value = {
        "upstreams": {"up": {"api": api, "base_url": upstream.base_url(api), "key": key, "retries": 0}},
        "routes": [{"to": "up"}],
        **({} if gateway_key is None else {"key": gateway_key}),
    }
    return read_config(value, environment=ENVIRONMENT)


@pytest.mark.parametrize(("api", "target"), [*QUICK, *((api, api) for api in APIS)])
def test_keys_are_in_no_error_report_or_log(
    api: str, target: str, upstream: RawUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    message = f"the key {KEY} is wrong"
    headers = {"authorization": f"Bearer {OTHER_KEY}", "x-api-key": OTHER_KEY, "x-goog-api-key": OTHER_KEY}
    event = error_event(target).replace(b"oops", message.encode())
    with gateway(configured(target, upstream), environment=ENVIRONMENT) as (url, app):
        clients = Gateways.of(url, app)
        upstream.set_answers(
            answer(ENDPOINT[target].error_body(401, message), 401, zz_echo=KEY),
            answer(f"<html>{message}</html>", 502, "text/html"),
            answer(ENDPOINT[target].error_body(401, message)),
            stream(*frames(target)[: len(frames(target)) // 2], event),
        )
        texts = []
        for number in range(3 if api != target else 2):
            response = clients.post(api, "", headers=headers)
            texts.append(f"{response.headers} {response.text}")
            assert number == 2 or response.status_code >= 400
        if api != target:
            with clients.stream(api, "") as streamed:
                texts.append(streamed.read().decode())
            assert "[key]" in texts[-1]
        reports = [str(report) for report in app.state.reports._reports.values()]
        kept = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, "x-goog-api-key": KEY}
        sent = upstream.requests[0].headers
        assert kept.items() & sent.items()
    everything = "".join([*texts, *reports, caplog.text])
    assert "[key]" in everything
    assert KEY not in everything
    assert OTHER_KEY not in everything
    assert OTHER_KEY not in str([request.headers for request in upstream.requests])


@pytest.mark.parametrize(
    "name", ["../../x", "a?b=c", "a#b", "http://other/x", "a\r\nzz: 1", "é/..", "..", "a%2fb", "@x"]
)
@pytest.mark.parametrize("target", APIS)
def test_name_of_a_model_changes_neither_host_nor_path(target: str, name: str, upstream: RawUpstream) -> None:
    upstream.set_answers(answer(whole(target)))
    config = config_for(target, upstream.base_url(target), model=None)
    with gateway(config) as (url, app):
        clients = Gateways.of(url, app)
        response = clients.post("openai-chat", "", json={**PROVIDERS["openai-chat"].request, "model": name})
        assert response.status_code == 200
    (request,) = upstream.requests
    if target == "google-generate-content":
        prefix, _, rest = request.target.partition("/v1beta/models/")
        assert prefix == ""
        assert rest.endswith(":generateContent")
        assert not set("/?#\r\n ") & set(rest)
    else:
        assert request.target == path_of(target)
        assert request.payload["model"] == name
    assert request.headers["host"] == upstream.url.removeprefix("http://")
    assert "zz" not in request.headers


@pytest.mark.parametrize("api", APIS)
def test_gateway_key_is_required_and_goes_to_no_upstream(api: str, upstream: RawUpstream) -> None:
    upstream.set_answers(answer(whole(api)))
    with gateway(configured(api, upstream, gateway_key="env:GATEWAY_KEY"), environment=ENVIRONMENT) as (url, app):
        check_error(api, outcome(PROVIDERS[api].official(base_url(api, url))), "authentication", "its own key")
        clients = Gateways.of(url, app)
        assert upstream.requests == []
        right = ENVIRONMENT["GATEWAY_KEY"]
        for headers in (
            {"authorization": f"Bearer {right}"},
            {"x-api-key": right},
            {"x-goog-api-key": right, "anthropic-version": "2023-06-01"},
        ):
            assert clients.post(api, "", headers=headers).status_code == 200
        for headers in (
            {},
            {"authorization": "Basic x"},
            {"x-api-key": right + "x"},
            {"x-api-key": "\xe9".encode("latin-1")},
        ):
            assert clients.post(api, "", headers=headers).status_code == 401
        for path in ("/v1/models", "/v1beta/models", "/contentmodel/losses/x"):
            assert clients.get(path).status_code == 401
    assert right not in str([request.headers for request in upstream.requests])
    assert len(upstream.requests) == 3


def test_key_of_clients_cannot_be_sent_by_a_gateway_with_a_key(upstream: RawUpstream) -> None:
    with pytest.raises(ConfigError, match="clients send the key of the gateway"):
        configured("openai-chat", upstream, key="client", gateway_key="env:GATEWAY_KEY")


def test_key_that_cannot_be_a_header_is_a_fault_of_the_configuration() -> None:
    value = {"upstreams": {"up": {"api": "openai-chat", "key": "env:KEY"}}, "routes": [{"to": "up"}]}
    for key in ("a\nb", "é", " a"):
        with pytest.raises(ConfigError, match="the environment variable KEY has characters that a header cannot have"):
            read_config(value, environment={"KEY": key})


@pytest.mark.parametrize("target", APIS)
def test_key_of_the_client_is_sent_in_the_form_of_the_upstream(target: str, upstream: RawUpstream) -> None:
    upstream.set_answers(answer(whole(target)))
    forms = [{"authorization": f"Bearer {OTHER_KEY}"}, {"x-api-key": OTHER_KEY}, {"x-goog-api-key": OTHER_KEY}]
    with gateway(configured(target, upstream, key="client")) as (url, app):
        clients = Gateways.of(url, app)
        for headers in forms:
            assert clients.post("openai-chat", "", headers=headers).status_code == 200
        path = f"/v1beta/models/m:generateContent?key={OTHER_KEY}"
        assert clients.post("google-generate-content", "", path=path).status_code == 200
        bad = clients.post("google-generate-content", "", path="/v1beta/models/m:generateContent?key=a%0d%0azz:1")
        assert bad.status_code == 401
    wanted = {"openai": "authorization", "anthropic": "x-api-key", "google": "x-goog-api-key"}[target.partition("-")[0]]
    assert len(upstream.requests) == 4
    for request in upstream.requests:
        assert request.headers[wanted].removeprefix("Bearer ") == OTHER_KEY
        assert OTHER_KEY not in request.target


def test_bearer_token_of_an_anthropic_client_is_sent_to_its_own_api(upstream: RawUpstream) -> None:
    upstream.set_answers(answer(whole("anthropic-messages")))
    with gateway(configured("anthropic-messages", upstream, key="client")) as (url, app):
        Gateways.of(url, app).post("anthropic-messages", "", headers={"authorization": f"Bearer {OTHER_KEY}"})
    assert upstream.requests[0].headers["authorization"] == f"Bearer {OTHER_KEY}"
    assert "x-api-key" not in upstream.requests[0].headers


def test_invalid_headers_of_an_upstream_do_not_break_the_answer(upstream: RawUpstream) -> None:
    config = config_for("openai-chat", upstream.base_url("openai-chat"))
    with gateway(config) as (url, app):
        clients = Gateways.of(url, app)
        for api in APIS:
            upstream.set_answers(answer(whole("openai-chat"), x_request_id="\xe9\x01\x7f", retry_after="\xb2"))
            response = clients.post(api, "")
            assert response.status_code == 200
            assert "contentmodel-request-id" in response.headers
