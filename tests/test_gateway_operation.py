"""The endpoints for those who operate a gateway: health, metrics, reports, upstreams, and the stream of requests."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from contentmodel.gateway import read_config
from contentmodel.gateway.metrics import Metrics, openmetrics, summed
from contentmodel.gateway.report import Attempt, Report
from contentmodel.usage import Usage
from gateways import Gateways, gateway
from providers import PROVIDERS, path_of
from raw_upstreams import HOLD, RawUpstream, answer, raw_upstream, stream
from test_gateway_errors import ENDPOINT, frames, whole

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
MODEL = PROVIDERS[CHAT].model


@pytest.fixture(scope="module")
def up() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


def config_of(up: RawUpstream, environment: dict[str, str] | None = None, **more: Any) -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    shared = {"api": CHAT, "key": "none", "retries": 0}
    upstreams = {
        "up": {**shared, "base_url": up.base_url(CHAT), "model": MODEL},
        "dead": {**shared, "base_url": f"http://127.0.0.1:{free}/v1"},
    }
    routes = [
        {"models": ["both"], "to": ["dead", "up"], "model": MODEL},
        {"models": ["claude-*"], "to": "up"},
        {"to": {"upstream": "dead"}},
    ]
    return read_config(
        {"upstreams": upstreams, "routes": routes, "cooldown": {"failures": 1}, **more}, environment=environment
    )


@pytest.fixture
def clients(up: RawUpstream) -> Iterator[Gateways]:
    with gateway(config_of(up)) as (url, app):
        yield Gateways.of(url, app)


def ask(clients: Gateways, model: str, api: str = CHAT) -> httpx2.Response:
    return clients.post(api, "", json={**PROVIDERS[api].request, "model": model})


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Return the values of the metrics by name and labels, as the official parser reads them."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
    }


def test_health_says_that_the_gateway_lives_and_is_ready(clients: Gateways) -> None:
    assert clients.get("/health/live").json() == {"status": "live"}
    assert clients.get("/health/ready").status_code == 200


def test_health_needs_no_key_and_everything_else_does(up: RawUpstream) -> None:
    environment = {"GATEWAY_KEY": "k" * 20}
    config = config_of(up, environment, key="env:GATEWAY_KEY")
    with gateway(config, environment=environment) as (url, _):
        for path in ("/metrics", "/contentmodel/requests", "/contentmodel/upstreams", "/contentmodel/stream"):
            assert httpx2.get(url + path).status_code == 401
            if path != "/contentmodel/stream":
                assert httpx2.get(url + path, headers={"authorization": "Bearer " + "k" * 20}).status_code == 200
        assert httpx2.get(url + "/health/ready").status_code == 200


def test_metrics_count_requests_losses_tokens_and_fallbacks(up: RawUpstream, clients: Gateways) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    up.set_answers(answer({**json.loads(whole(CHAT)), "usage": usage}))
    assert ask(clients, "both").status_code == 200
    assert ask(clients, "claude-x", CLAUDE).status_code == 200
    clients.report("")
    response = clients.get("/metrics")
    assert response.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    found = samples(response.text)
    name = "contentmodel_requests_total"
    assert found[name, CHAT, "both", "up", MODEL, "200"] == 1
    assert found[name, CLAUDE, "claude-*", "up", MODEL, "200"] == 1
    assert found["contentmodel_fallbacks_total", "dead", "up", "unreachable"] == 1
    assert found["contentmodel_tokens_total", "output", "up", MODEL] == 8
    assert found["contentmodel_seconds_count", CHAT, "up"] == 1
    assert found["contentmodel_seconds_bucket", CHAT, "up", "+Inf"] == 1
    assert found["contentmodel_upstream_open", "dead"] == 1
    assert found["contentmodel_upstream_open", "up"] == 0
    assert any(key[0] == "contentmodel_losses_total" for key in found) is (clients.report("").counts() != "none")


def test_streams_are_counted_while_they_are_sent(up: RawUpstream, clients: Gateways) -> None:
    up.set_answers(stream(*frames(CHAT)[:2], HOLD))
    payload = {**PROVIDERS[CHAT].request, "model": "both", "stream": True}
    with clients.stream_of(path_of(CHAT), payload) as response:
        chunks = response.iter_raw()
        next(chunks)
        assert samples(clients.get("/metrics").text)["contentmodel_streams_open",] == 1
    clients.report("")
    found = samples(clients.get("/metrics").text)
    assert found["contentmodel_streams_open",] == 0
    assert found["contentmodel_first_byte_seconds_count", CHAT, "up"] == 1


@pytest.mark.parametrize("ends", [True, False])
def test_usage_of_a_passed_stream_is_recorded(ends: bool, up: RawUpstream, clients: Gateways) -> None:
    """That of a stream that the client leaves as well, as far as it arrived."""
    begun = frames(CHAT)
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n'
    up.set_answers(stream(*begun[:-1], usage, begun[-1] if ends else HOLD))
    payload = {**PROVIDERS[CHAT].request, "model": "both", "stream": True}
    with clients.stream_of(path_of(CHAT), payload) as response:
        for chunk in response.iter_raw():
            if b'"prompt_tokens":7' in chunk and not ends:
                break
    report = clients.report("")
    assert report.passed_through
    assert (report.ended, report.partial) == (("complete", False) if ends else ("left", True))
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens) == (7, 3)


def test_models_of_clients_add_no_labels(up: RawUpstream) -> None:
    config = config_of(up)
    metrics = Metrics(config)
    for number in range(10_000):
        attempts = [
            Attempt(upstream="dead", api=CHAT, model="m", started=0, seconds=0, error=f"odd {number}"),
            Attempt(upstream="up", api=CHAT, model="m", started=0, seconds=0),
        ]
        report = Report(id="r", client_api=CHAT, path="/", started=0, model=f"model {number}", attempts=attempts)
        report.upstream, report.route, report.seconds = "up", "*", number / 1000
        report.usage = Usage(input_tokens=1, cache_read_tokens=1)
        metrics.add(report)
    found = samples(openmetrics(metrics.snapshot({})).decode())
    assert found["contentmodel_requests_total", CHAT, "*", "up", "other", "499"] == 10_000
    assert found["contentmodel_fallbacks_total", "dead", "up", "other"] == 10_000
    assert found["contentmodel_tokens_total", "cached", "up", "other"] == 10_000
    assert len(found) < 40


def test_names_with_any_characters_are_escaped_in_labels(up: RawUpstream) -> None:
    metrics = Metrics(config_of(up))
    report = Report(id="r", client_api=CHAT, path="/", started=0, route='a"b\\c\nd', seconds=0.1)
    metrics.add(report)
    found = samples(openmetrics(metrics.snapshot({})).decode())
    assert found["contentmodel_requests_total", CHAT, 'a"b\\c\nd', "none", "none", "499"] == 1


def test_metrics_of_processes_are_added(up: RawUpstream) -> None:
    metrics = Metrics(config_of(up))
    metrics.add(Report(id="r", client_api=CHAT, path="/", started=0, status=200, seconds=0.1))
    one = metrics.snapshot({"up": True})
    found = samples(openmetrics(summed([one, json.loads(json.dumps(one)), metrics.snapshot({"up": False})])).decode())
    assert found["contentmodel_requests_total", CHAT, "none", "none", "none", "200"] == 3
    assert found["contentmodel_seconds_count", CHAT, "none"] == 3
    assert found["contentmodel_seconds_sum", CHAT, "none"] == pytest.approx(0.3)
    assert found["contentmodel_upstream_open", "up"] == 1


def test_requests_are_listed_the_newest_first(up: RawUpstream, clients: Gateways) -> None:
    up.set_answers(answer(whole(CHAT)), answer(ENDPOINT[CHAT].error_body(500, "oops"), 500))
    ask(clients, "claude-x", CLAUDE)
    ask(clients, "both")
    ask(clients, "other")
    clients.report("")
    listed = clients.get("/contentmodel/requests").json()
    assert listed["scope"] == "process"
    assert [(one["model"], one["status"]) for one in listed["requests"]] == [
        ("other", 502),
        ("both", 500),
        ("claude-x", 200),
    ]

    def models(query: str) -> list[str]:
        found = clients.get(f"/contentmodel/requests?{query}").json()["requests"]
        return [one["model"] for one in found]

    assert models("limit=1") == ["other"]
    assert models("upstream=up") == ["both", "claude-x"]
    assert models("status=5xx") == ["other", "both"]
    assert models("status=200&upstream=up") == ["claude-x"]
    assert models(f"since={listed['requests'][1]['started']}") == ["other", "both"]
    assert models("code=no-such-code") == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "from 1 to 1000"),
        ("limit=x", "from 1 to 1000"),
        ("since=x", "seconds since 1970"),
        ("staus=1", "unknown parameter 'staus': did you mean 'status'?"),
    ],
)
def test_wrong_query_names_the_parameter(query: str, message: str, clients: Gateways) -> None:
    response = clients.get(f"/contentmodel/requests?{query}")
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


def test_upstreams_have_their_state_and_their_rate_limits(up: RawUpstream, clients: Gateways) -> None:
    limits = {"x_ratelimit_limit_requests": 9, "x_ratelimit_remaining_requests": 4}
    up.set_answers(answer(whole(CHAT), **limits))
    ask(clients, "both")
    states = clients.get("/contentmodel/upstreams").json()
    assert states["scope"] == "process"
    up_state, dead = states["upstreams"]["up"], states["upstreams"]["dead"]
    assert (up_state["state"], up_state["failures"]) == ("closed", 0)
    assert up_state["rate_limits"]["limits"]["requests"] == {"limit": 9, "remaining": 4}
    assert (dead["state"], dead["failures"], dead["last_error"]["error"]) == ("open", 1, "unreachable")
    assert dead["open_until"] > dead["last_error"]["at"]


def test_stream_has_an_event_for_the_begin_and_the_end_of_each_request(up: RawUpstream, clients: Gateways) -> None:
    up.set_answers(answer(whole(CHAT)))
    with clients.stream_of("/contentmodel/stream") as response:
        chunks = response.iter_text()
        assert "requests of this process" in next(chunks)
        asking = threading.Thread(target=ask, args=(clients, "both"))
        asking.start()
        text = ""
        while text.count("data: ") < 2:
            text += next(chunks)
        asking.join()
    events = [part.split("\n") for part in text.strip().split("\n\n")]
    assert [lines[0] for lines in events] == ["event: begin", "event: end"]
    begin, end = (json.loads(lines[1].removeprefix("data: ")) for lines in events)
    assert begin["id"] == end["id"]
    assert (end["model"], end["status"]) == ("both", 200)
