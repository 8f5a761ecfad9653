"""Retries and fallbacks of the gateway.

A request is repeated only if it certainly caused no answer, and only before the first byte of an answer.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from contentmodel.gateway import Report, read_config
from contentmodel.gateway.config import Cooldown
from contentmodel.gateway.cooldown import Circuit
from gateways import Gateways, gateway
from providers import PROVIDERS
from raw_upstreams import CUT, RawUpstream, Step, answer, head, raw_upstream, stream
from test_gateway_errors import ENDPOINT, TEXT, error_event, frames, whole

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
GOOD = answer(whole(CLAUDE))


@pytest.fixture(scope="module")
def first() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


@pytest.fixture(scope="module")
def second() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


@pytest.fixture(scope="module")
def gateways(first: RawUpstream, second: RawUpstream) -> Iterator[Gateways]:
    """Gateways with two upstreams of different APIs, by the name of the first one. `unreachable` has no server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]

    def config_of(name: str) -> Any:
        shared = {"key": "none", "retries": 2, "retry_wait": 0.01}
        url = f"http://127.0.0.1:{free}" if name == "unreachable" else first.url
        upstreams = {
            "first": {"api": CLAUDE, "base_url": url, **shared},
            "second": {"api": "google-generate-content", "base_url": second.url, **shared, "retries": 0},
        }
        to = ["first", {"upstream": "second", "model": "gemini-3-pro"}]
        # No test depends on the failures of another one.
        cooldown = {"failures": 1000, "seconds": 1e-9}
        return read_config({"upstreams": upstreams, "routes": [{"to": to}], "cooldown": cooldown})

    with Gateways(config_of) as running:
        yield running


def refused(status: int, **headers: Any) -> list[Step]:
    return answer(ENDPOINT[CLAUDE].error_body(status, "oops"), status, **headers)


def attempts(report: Report) -> list[tuple[str, int | None, str | None]]:
    return [(attempt.upstream, attempt.status, attempt.error) for attempt in report.attempts]


@pytest.mark.parametrize(
    ("steps", "status", "kind"),
    [
        (refused(429), 429, "rate_limit"),
        (refused(503), 503, "overloaded"),
        (refused(529, retry_after=0), 529, "overloaded"),
        (answer("<html>busy</html>", 503, "text/html"), 503, "overloaded"),
    ],
)
def test_request_is_repeated_if_it_certainly_caused_no_answer(
    steps: list[Step], status: int, kind: str, first: RawUpstream, second: RawUpstream, gateways: Gateways
) -> None:
    first.set_answers(steps, steps, GOOD)
    assert TEXT in gateways.post(CHAT, CLAUDE).text
    report = gateways.report(CLAUDE)
    assert attempts(report) == [("first", status, kind)] * 2 + [("first", 200, None)]
    assert report.error is None
    assert len({request.body for request in first.requests}) == 1


def test_stream_that_begins_with_an_overload_is_repeated(first: RawUpstream, gateways: Gateways) -> None:
    first.set_answers(stream(error_event(CLAUDE, 529)), stream(*frames(CLAUDE)))
    assert gateways.reader(CHAT, CLAUDE).streamed()[1] == TEXT
    assert attempts(gateways.report(CLAUDE)) == [("first", 200, "overloaded"), ("first", 200, None)]


@pytest.mark.parametrize(
    "steps",
    [refused(500), refused(504), [CUT], [head(content_length=9) + b"{", CUT], answer("{")],
    ids=["500", "504", "no response", "body that breaks", "body that is not JSON"],
)
def test_request_that_may_have_caused_an_answer_goes_to_the_next_upstream_at_once(
    steps: list[Step], first: RawUpstream, second: RawUpstream, gateways: Gateways
) -> None:
    first.set_answers(steps)
    second.set_answers(answer(whole("google-generate-content")))
    response = gateways.post(CHAT, CLAUDE)
    assert TEXT in response.text
    assert response.headers["contentmodel-upstream"] == "second"
    report = gateways.report(CLAUDE)
    assert [attempt.upstream for attempt in report.attempts] == ["first", "second"]
    assert (report.upstream_api, report.status, report.error) == ("google-generate-content", 200, None)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_request_that_is_refused_for_itself_goes_to_no_other_upstream(
    status: int, first: RawUpstream, second: RawUpstream, gateways: Gateways
) -> None:
    first.set_answers(refused(status))
    second.set_answers(answer(whole("google-generate-content")))
    expected = {401: 502, 403: 502, 422: 400}.get(status, status)
    assert gateways.post(CHAT, CLAUDE).status_code == expected
    assert (len(first.requests), len(second.requests)) == (1, 0)


def test_client_gets_retry_after_if_it_is_longer_than_retry_wait(
    first: RawUpstream, second: RawUpstream, gateways: Gateways
) -> None:
    first.set_answers(refused(429, retry_after=60))
    second.set_answers(answer(ENDPOINT["google-generate-content"].error_body(429, "oops", 90), 429))
    response = gateways.post(CHAT, CLAUDE)
    assert (response.status_code, response.headers["retry-after"]) == (429, "90")
    assert attempts(gateways.report(CLAUDE)) == [("first", 429, "rate_limit"), ("second", 429, "rate_limit")]


def test_upstream_that_cannot_be_reached_is_tried_again(second: RawUpstream, gateways: Gateways) -> None:
    second.set_answers(answer(whole("google-generate-content")))
    assert TEXT in gateways.post(CHAT, "unreachable").text
    assert attempts(gateways.report("unreachable")) == [("first", None, "unreachable")] * 3 + [("second", 200, None)]


def test_upstream_that_is_never_reached_is_skipped_for_a_while(second: RawUpstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    up = {"api": CHAT, "key": "none", "retries": 0}
    upstreams = {
        "first": {**up, "base_url": f"http://127.0.0.1:{port}/v1"},
        "second": {**up, "base_url": second.base_url(CHAT)},
    }
    routes = [{"models": ["both"], "to": ["first", "second"]}, {"to": "first"}]
    config = read_config({"upstreams": upstreams, "routes": routes, "cooldown": {"failures": 2}})
    second.set_answers(answer(whole(CHAT)))
    with gateway(config) as (url, app):
        clients = Gateways.of(url, app)
        tried = []
        for _ in range(4):
            clients.post(CHAT, "", json={**PROVIDERS[CHAT].request, "model": "both"})
            tried.append([attempt.upstream for attempt in clients.report("").attempts])
        # Without another upstream, the client gets its error.
        assert clients.post(CHAT, "").status_code == 502
    assert tried == [["first", "second"]] * 2 + [["second"]] * 2


def test_skipped_upstream_is_tried_again_by_one_request() -> None:
    now = [0.0]
    circuit = Circuit(Cooldown(failures=2, seconds=30), lambda: now[0])
    circuit.failed("server")
    assert not circuit.was_open
    circuit.failed("timeout")
    assert (circuit.is_open, circuit.wait, circuit.last_error) == (True, 30, "timeout")
    now[0] = 31
    assert not circuit.is_open
    circuit.tried()
    assert circuit.is_open
    circuit.succeeded()
    assert not circuit.was_open


def test_upstream_that_limits_the_rate_is_skipped_as_long_as_it_asks() -> None:
    now = [0.0]
    circuit = Circuit(Cooldown(seconds=30), lambda: now[0])
    circuit.limited(None)
    assert not circuit.is_open
    circuit.limited(7)
    assert circuit.wait == 7
    circuit.limited(3600)
    assert circuit.wait == 30


def test_overloaded_upstream_is_skipped_and_one_that_answers_in_between_is_not() -> None:
    circuit = Circuit(Cooldown(failures=2))
    for _ in range(3):
        circuit.failed("overloaded")
        circuit.succeeded()
    assert not circuit.is_open


@pytest.mark.parametrize(
    ("fallback_on", "status", "tried"),
    [(["auth"], 401, 2), (["auth"], 403, 2), (["context"], 413, 2), (["context"], 404, 1), (["server"], 429, 1)],
)
def test_fallback_on_names_the_failures_after_which_the_next_upstream_is_tried(
    fallback_on: list[str], status: int, tried: int, first: RawUpstream, second: RawUpstream
) -> None:
    up = {"api": CLAUDE, "key": "none", "retries": 0}
    upstreams = {"first": {**up, "base_url": first.url}, "second": {**up, "base_url": second.url}}
    config = read_config({"upstreams": upstreams, "routes": [{"to": ["first", "second"], "fallback_on": fallback_on}]})
    first.set_answers(refused(status))
    second.set_answers(GOOD)
    with gateway(config) as (url, app):
        clients = Gateways.of(url, app)
        clients.post(CHAT, "")
        assert len(clients.report("").attempts) == tried


def test_stream_that_breaks_after_its_first_byte_goes_to_no_other_upstream(
    first: RawUpstream, second: RawUpstream, gateways: Gateways
) -> None:
    sent = frames(CLAUDE)
    first.set_answers(stream(*sent[: len(sent) // 2], ends=False))
    second.set_answers(stream(*frames("google-generate-content")))
    with gateways.stream(CHAT, CLAUDE) as response:
        assert b"the stream ended" in response.read()
    assert len(second.requests) == 0


def test_error_of_the_last_upstream_is_returned(first: RawUpstream, second: RawUpstream, gateways: Gateways) -> None:
    first.set_answers(refused(500))
    second.set_answers(answer(ENDPOINT["google-generate-content"].error_body(404, "no such model"), 404))
    response = gateways.post(CHAT, CLAUDE)
    assert (response.status_code, response.json()["error"]["message"]) == (404, "no such model")
    assert gateways.report(CLAUDE).error == "not_found"
