"""The spans of a gateway: one for each request, and one for each attempt at an upstream."""

from __future__ import annotations

import logging
from typing import Any

import httpx2
import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contentmodel_conformance.server import Fault, LoopbackServer, Turn, say
from gateways import config_for, gateway

CHAT = {"model": "m", "store": True, "messages": [{"role": "user", "content": "?"}]}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def spans_of(script: list[Any], **payload: Any) -> list[ReadableSpan]:
    """Return the spans of one request."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with LoopbackServer(script) as server:
        upstream = {"retries": 1, "retry_wait": 0}
        config = config_for("anthropic-messages", server.base_url("anthropic-messages"), upstream=upstream)
        with gateway(config, tracer_provider=provider) as (url, _):
            headers = {"traceparent": PARENT}
            httpx2.post(f"{url}/v1/chat/completions", json={**CHAT, **payload}, headers=headers)
    return list(exporter.get_finished_spans())


@pytest.mark.parametrize("stream", [False, True])
def test_request_has_a_span_with_losses_and_usage(stream: bool) -> None:
    attempt, request = spans_of([say("Hello.")], stream=stream)
    assert request.parent is not None
    assert format(request.parent.span_id, "x") == "b7ad6b7169203331"
    assert request.attributes is not None
    assert request.attributes["contentmodel.losses.no-field"] == 1
    assert request.attributes["http.response.status_code"] == 200
    assert attempt.parent is not None
    assert attempt.parent.span_id == request.context.span_id
    assert attempt.attributes is not None
    assert attempt.attributes["gen_ai.provider.name"] == "anthropic"
    assert attempt.attributes["gen_ai.request.model"] == "claude-opus-4-8"


def test_each_try_has_a_span_with_its_error() -> None:
    failing = Turn(say("Hello."), fault=Fault(status=529))
    first, second, request = spans_of([failing])
    assert [dict(span.attributes or {}).get("error.type") for span in (first, second, request)] == [
        "overloaded",
        None,
        None,
    ]
    assert not first.status.is_ok
    assert request.status.is_unset


def test_log_has_one_line_of_json_for_a_request(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "contentmodel.gateway"):
        spans_of([say("Hello.")])
    lines = [record.getMessage() for record in caplog.records if record.name == "contentmodel.gateway"]
    assert len(lines) == 1
    report = msgspec.json.decode(lines[0])
    assert report["request"]["no-field"] == 1
    assert report["status"] == 200
    assert report["attempts"][0]["upstream"] == "up"
