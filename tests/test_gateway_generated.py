"""Generated answers through the gateway: a client gets the bytes that `convert` and `convert_stream` return."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from hypothesis import assume, given
from starlette.testclient import TestClient

from conftest import APIS
from contentmodel import ChatResponse, adapter, convert
from contentmodel.gateway import create_app
from contentmodel.json import parse, write
from contentmodel.streams import convert_stream, encode_stream
from contentmodel.unfolding import unfold
from contentmodel_conformance.strategies.transcripts import answers
from gateways import config_for
from providers import PROVIDERS, path_of

PAIRS = [(api, target) for api in APIS for target in APIS if api != target]


class Upstream:
    """An ASGI app that returns `stream` if the request is for a stream, else `whole`."""

    whole = stream = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        is_stream = b'"stream":true' in body or "stream" in scope["path"]
        kind = b"text/event-stream" if is_stream else b"application/json"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": self.stream if is_stream else self.whole})


@pytest.mark.slow
@pytest.mark.parametrize(("api", "target"), PAIRS)
def test_gateway_converts_a_generated_answer_as_convert_does(
    api: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `convert` has no clock: the time of an answer without one is 0.
    monkeypatch.setattr("contentmodel.gateway.translation.time", SimpleNamespace(time=lambda: 0))
    upstream = Upstream()
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=upstream))
    app = create_app(config_for(target, "http://upstream.example", reasoning="drop"), client=client)
    whole_path, stream_path, payload = path_of(api), path_of(api, streams=True), PROVIDERS[api].request

    @given(answers(target))
    def check(answer: ChatResponse) -> None:
        assume(answer.error is None and answer.choices)
        upstream.whole = write(adapter(target).encode_response(answer).payload)
        upstream.stream = b"".join(encode_stream(unfold(answer), target))
        got = http.post(whole_path, json=payload)
        converted = convert(upstream.whole, source=target, target=api, kind="response")
        assert parse(got.content) == converted.payload
        report = app.state.reports.find(got.headers["contentmodel-request-id"])
        assert report.answer == tuple(loss for loss in converted.losses if loss.code != "unknown-time")
        streamed = http.post(stream_path, json=payload if whole_path != stream_path else {**payload, "stream": True})
        frames, _, comment = streamed.content.partition(b": contentmodel-losses ")
        assert frames == b"".join(convert_stream(upstream.stream, source=target, target=api))
        assert bool(comment) is (api != "google-generate-content")

    with TestClient(app) as http:
        check()
