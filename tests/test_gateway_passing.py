"""The gateway between a client and an upstream of one API: bytes pass through unchanged, except for the model."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from conftest import APIS
from gateways import Gateways, config_for
from providers import PROVIDERS
from raw_upstreams import RawUpstream, answer, stream, zipped

ODD = (
    ' { "zz_new" : 1.0, "n":1e2,\t"e": "\\u00e9\\ud83d\\ude00", "half": "\\ud83d", '
    '"big": 123456789012345678901234567890, "model ": {"model": "}"}, "x": "model", "q": "\\"model\\": ", '
)
"""The start of an object with unknown fields and unusual spellings."""


@pytest.fixture(scope="module")
def gateways(upstream: RawUpstream) -> Iterator[Gateways]:
    """One gateway for each API that keeps the model, and one that changes it ("api.other")."""

    def config_of(name: str) -> object:
        api, _, other = name.partition(".")
        return config_for(api, upstream.base_url(api), model="other-model" if other else None)

    with Gateways(config_of) as running:  # type: ignore[arg-type]
        yield running


def odd_request(api: str) -> bytes:
    payload = PROVIDERS[api].request
    return (ODD + json.dumps(payload)[1:] + "\n").encode()


@pytest.mark.parametrize("api", APIS)
def test_request_to_the_same_api_passes_unchanged(api: str, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.set_answers(answer("{}"))
    gateways.post(api, api, content=odd_request(api))
    assert upstream.requests[0].body == odd_request(api)


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("api", APIS)
def test_model_of_the_route_is_the_only_change_of_a_request(
    api: str, start: bytes, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(answer("{}"))
    assert gateways.post(api, f"{api}.other", content=start + odd_request(api)).status_code == 200
    sent = upstream.requests[0]
    if api == "google-generate-content":
        assert sent.target == "/v1beta/models/other-model:generateContent"
        assert sent.body == start + odd_request(api)
        return
    assert sent.body == start + odd_request(api).replace(b'"model": "m"', b'"model": "other-model"')


@pytest.mark.parametrize("name", ["plain", "error", "compressed", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_answer_of_the_same_api_passes_unchanged(
    api: str, name: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    body = (ODD + '"x":[]}\r\n').encode()
    upstream.set_answers(
        {
            "plain": answer(body, 201, zz_own="a\xe9", content_type_options="x"),
            "error": answer(body, 418, zz_own="a\xe9"),
            "compressed": zipped(body),
            "stream": stream(b"data: " + body + b": comment\r\n\r\n", zz_own="a\xe9"),
        }[name]
    )
    if name == "stream":
        with gateways.stream(api, api) as response:
            assert response.read() == b"data: " + body + b": comment\r\n\r\n"
    else:
        response = gateways.post(api, api)
        assert response.content == body
    assert response.status_code == {"plain": 201, "error": 418}.get(name, 200)
    if name != "compressed":
        assert dict(response.headers.raw)[b"zz-own"] == b"a\xe9"


def test_hop_by_hop_headers_of_an_answer_are_not_passed(upstream: RawUpstream, gateways: Gateways) -> None:
    own = {"connection": "keep-alive, zz-hop", "keep_alive": "timeout=5", "zz_hop": "1", "zz_end": "2"}
    for status in (200, 400):
        upstream.set_answers(answer("{}", status, set_cookie="a=b", **own))
        headers = gateways.post("openai-chat", "openai-chat").headers
        assert headers["zz-end"] == "2"
        assert {"zz-hop", "keep-alive", "set-cookie"}.isdisjoint(headers)


def test_client_headers_that_the_api_does_not_define_are_not_sent(upstream: RawUpstream, gateways: Gateways) -> None:
    headers = {
        "anthropic-beta": "x",
        "anthropic-version": "2099-01-01",
        "cookie": "c",
        "zz-own": "1",
        "user-agent": "me",
    }
    for client in ("anthropic-messages", "openai-chat"):
        upstream.set_answers(answer("{}"))
        gateways.post(client, "anthropic-messages", headers={**headers, "accept-encoding": "br"})
        sent = upstream.requests[0].headers
        assert sent.get("anthropic-beta") == ("x" if client == "anthropic-messages" else None)
        assert sent["anthropic-version"] == ("2099-01-01" if client == "anthropic-messages" else "2023-06-01")
        assert sent["accept-encoding"] == "identity"
        assert {"cookie", "zz-own", "x-api-key", "authorization"}.isdisjoint(sent)
        assert sent["user-agent"] != "me"


@pytest.mark.parametrize("api", ["anthropic-messages", "openai-chat"])
def test_client_header_that_is_not_ascii_is_sent_unchanged(api: str, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.set_answers(answer("{}"))
    name = {"anthropic-messages": "anthropic-beta", "openai-chat": "openai-project"}[api]
    assert gateways.post(api, api, headers={name: "é".encode("latin-1")}).status_code == 200
    assert upstream.requests[0].headers[name] == "é"
