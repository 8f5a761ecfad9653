"""The keys of clients: their models, limits and counters, and the prices of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from conftest import fresh_database
from contentmodel import adapter
from contentmodel.errors import ContentModelError
from contentmodel.gateway import ConfigError, read_config
from contentmodel.gateway.config import ClientKey, Price
from contentmodel.gateway.front import GatewayError
from contentmodel.gateway.keys import Allowances, cost_of, digest_of, price_of, span_of
from contentmodel.gateway.records import Counter, Records, Wanted
from contentmodel.gateway.report import Report, Reports
from contentmodel.gateway.stored_records import StoredRecords
from contentmodel.history import HistoryError
from contentmodel.usage import Usage
from gateways import Gateways, gateway
from providers import PROVIDERS
from raw_upstreams import HOLD, RawUpstream, answer, raw_upstream, stream
from test_gateway_errors import frames, whole

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
ANNA, OWNER = "anna-" + "a" * 20, "owner-" + "o" * 20
ENVIRONMENT = {"KEY_ANNA": ANNA, "KEY_OWNER": OWNER}
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
PRICES = {"gpt-*": {"input": 1.0, "cached": 0.1, "output": 10.0}}


@pytest.fixture(scope="module")
def up() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


def config_of(up: RawUpstream, *, keys: dict[str, Any] | None = None, **more: Any) -> Any:
    upstream = {"api": CHAT, "base_url": up.base_url(CHAT), "key": "none", "retries": 0}
    value = {"upstreams": {"up": upstream}, "routes": [{"to": "up", "model": "gpt-5.2"}], "key": "env:KEY_OWNER"}
    if keys is not None:
        value["keys"] = keys
    return read_config({**value, **more}, environment=ENVIRONMENT)


def ask(url: str, key: str | None, model: str = "claude-x", api: str = CHAT) -> httpx2.Response:
    path = "/v1/chat/completions" if api == CHAT else "/v1/messages"
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return httpx2.post(f"{url}{path}", json={**PROVIDERS[api].request, "model": model}, headers=headers)


@pytest.mark.parametrize("form", ["key", "sha256"])
def test_key_of_a_client_allows_its_models_and_no_other(form: str, up: RawUpstream) -> None:
    up.set_answers(answer(whole(CHAT)))
    source = {"key": "env:KEY_ANNA"} if form == "key" else {"sha256": digest_of(ANNA).upper()}
    routes = [{"models": ["claude-x"], "to": "up"}, {"models": ["gpt-5.2"], "to": "up"}]
    config = config_of(up, keys={"anna": {**source, "routes": ["claude-*"]}}, routes=routes)
    with gateway(config, environment=ENVIRONMENT) as (url, app):
        assert ask(url, ANNA).status_code == 200
        assert Gateways.of(url, app).report("").key == "anna"
        refused = ask(url, ANNA, "gpt-5.2")
        assert refused.status_code == 403
        assert "the key 'anna' may use claude-* (keys.anna.routes)" in refused.json()["error"]["message"]
        assert ask(url, OWNER, "gpt-5.2").status_code == 200
        assert Gateways.of(url, app).report("").key is None
        assert [ask(url, key).status_code for key in (None, "another")] == [401, 401]
        headers = {"authorization": f"Bearer {ANNA}"}
        assert [m["id"] for m in httpx2.get(f"{url}/v1/models", headers=headers).json()["data"]] == ["claude-x"]
        assert httpx2.get(f"{url}/metrics", headers=headers).status_code == 403
    assert all(ANNA not in json.dumps(request.headers) for request in up.requests)


def test_limit_of_requests_is_an_error_of_the_clients_api(up: RawUpstream) -> None:
    up.set_answers(answer(whole(CHAT)))
    config = config_of(up, keys={"anna": {"key": "env:KEY_ANNA", "requests_per_day": 2}})
    with gateway(config, environment=ENVIRONMENT) as (url, app):
        assert [ask(url, ANNA).status_code for _ in range(2)] == [200, 200]
        refused = ask(url, ANNA, api=CLAUDE)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 24 * 3600
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert "'anna' has used up its limit requests_per_day = 2" in refused.json()["error"]["message"]
        report = Gateways.of(url, app).report("")
        assert (report.error, report.limit) == ("rate_limit", "requests_per_day")
        assert ask(url, OWNER).status_code == 200
        metrics = httpx2.get(f"{url}/metrics", headers={"authorization": f"Bearer {OWNER}"}).text
        assert 'contentmodel_refusals_total{key="anna",limit="requests_per_day"} 1' in metrics


@pytest.mark.parametrize(("limit", "most", "allowed"), [("tokens_per_day", 150, 2), ("cost_per_month", 0.0003, 2)])
def test_tokens_and_costs_are_counted_after_an_answer(limit: str, most: float, allowed: int, up: RawUpstream) -> None:
    up.set_answers(answer({**json.loads(whole(CHAT)), "usage": USAGE}))
    config = config_of(up, keys={"anna": {"key": "env:KEY_ANNA", limit: most}}, prices=PRICES)
    with gateway(config, environment=ENVIRONMENT) as (url, _):
        assert [ask(url, ANNA).status_code for _ in range(allowed + 1)] == [200] * allowed + [429]


def test_report_has_the_cost_or_says_that_there_is_no_price(up: RawUpstream) -> None:
    usage = {**USAGE, "prompt_tokens_details": {"cached_tokens": 40}}
    up.set_answers(answer({**json.loads(whole(CHAT)), "usage": usage}))
    routes = [{"models": ["free"], "to": "up", "model": "llama"}, {"to": "up", "model": "gpt-5.2"}]
    with gateway(config_of(up, prices=PRICES, routes=routes), environment=ENVIRONMENT) as (url, app):
        clients = Gateways.of(url, app)
        ask(url, OWNER)
        report = clients.report("")
        assert (report.cost, report.unpriced) == (pytest.approx((60 * 1 + 40 * 0.1 + 10 * 10) / 1e6), False)
        ask(url, OWNER, "free")
        report = clients.report("")
        assert (report.cost, report.unpriced) == (None, True)


def test_stream_that_a_client_left_is_priced_from_the_usage_that_arrived(up: RawUpstream) -> None:
    sent = frames(CLAUDE)
    upstream = {"api": CLAUDE, "base_url": up.base_url(CLAUDE), "key": "none"}
    prices = {"m": {"input": 1.0, "output": 1.0}}
    config = config_of(up, prices=prices, upstreams={"up": upstream}, routes=[{"to": "up", "model": "m"}])
    start = json.loads(sent[0].partition(b"data: ")[2])
    start["message"]["usage"] = {"input_tokens": 50, "output_tokens": 1}
    up.set_answers(stream(b"event: message_start\ndata: " + json.dumps(start).encode() + b"\n\n", *sent[1:3], HOLD))
    with gateway(config, environment=ENVIRONMENT) as (url, app):
        payload = {**PROVIDERS[CHAT].request, "stream": True}
        headers = {"authorization": f"Bearer {OWNER}"}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=payload, headers=headers) as response:
            chunks = response.iter_raw()
            next(chunks)
        report = Gateways.of(url, app).report("")
    assert (report.ended, report.partial, report.cost) == ("left", True, pytest.approx(51 / 1e6))


ANSWERS: dict[str, tuple[dict[str, Any], float]] = {
    # 60 tokens of input, 30 read from a cache and 10 written to it if the API counts them, 20 of output with 5 of
    # reasoning. The price of each is another power of ten.
    "openai-chat": (
        {
            "usage": {
                "prompt_tokens": 90,
                "completion_tokens": 20,
                "total_tokens": 110,
                "prompt_tokens_details": {"cached_tokens": 30},
                "completion_tokens_details": {"reasoning_tokens": 5},
            }
        },
        60 * 1 + 30 * 0.1 + 20 * 100,
    ),
    "openai-responses": (
        {
            "usage": {
                "input_tokens": 90,
                "output_tokens": 20,
                "total_tokens": 110,
                "input_tokens_details": {"cached_tokens": 30},
                "output_tokens_details": {"reasoning_tokens": 5},
            }
        },
        60 * 1 + 30 * 0.1 + 20 * 100,
    ),
    "anthropic-messages": (
        {
            "usage": {
                "input_tokens": 60,
                "output_tokens": 20,
                "cache_read_input_tokens": 30,
                "cache_creation_input_tokens": 10,
            }
        },
        60 * 1 + 30 * 0.1 + 10 * 10 + 20 * 100,
    ),
    "google-generate-content": (
        {
            "usageMetadata": {
                "promptTokenCount": 90,
                "candidatesTokenCount": 15,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 110,
                "cachedContentTokenCount": 30,
            }
        },
        60 * 1 + 30 * 0.1 + 20 * 100,
    ),
    "bedrock-converse": (
        {
            "usage": {
                "inputTokens": 60,
                "outputTokens": 20,
                "totalTokens": 120,
                "cacheReadInputTokens": 30,
                "cacheWriteInputTokens": 10,
            }
        },
        60 * 1 + 30 * 0.1 + 10 * 10 + 20 * 100,
    ),
    "mistral-chat": ({"usage": {"prompt_tokens": 60, "completion_tokens": 20, "total_tokens": 80}}, 60 + 2000),
    "cohere-chat": ({"usage": {"tokens": {"input_tokens": 60, "output_tokens": 20}}}, 60 + 2000),
    "ollama-chat": ({"prompt_eval_count": 60, "eval_count": 20, "done": True}, 60 + 2000),
    "google-interactions": (
        {"usage": {"total_input_tokens": 60, "total_output_tokens": 15, "total_thought_tokens": 5, "total_tokens": 80}},
        60 + 2000,
    ),
}


@pytest.mark.parametrize("api", PROVIDERS)
def test_each_token_of_an_answer_is_priced_once(api: str) -> None:
    fields, expected = ANSWERS[api]
    usage = adapter(api).decode_response({**json.loads(whole(api)), **fields}).usage
    price = Price(input=1.0, cached=0.1, cache_write=10.0, output=100.0)
    assert usage is not None
    assert cost_of(usage, price) == pytest.approx(expected / 1e6)


def test_price_is_that_of_the_name_or_of_the_first_pattern() -> None:
    prices = {"gpt-*": Price(input=1, output=1), "gpt-5.2": Price(input=2, output=2)}
    assert price_of("gpt-5.2", prices) == prices["gpt-5.2"]
    assert price_of("gpt-5", prices) == prices["gpt-*"]
    assert price_of("llama", prices) is None
    assert cost_of(Usage(input_tokens=2, cache_read_tokens=1), prices["gpt-5.2"]) == pytest.approx(4e-6)


def test_times_of_limits_are_minutes_days_and_months_of_utc() -> None:
    now = 1_798_761_599.5  # 2026-12-31T23:59:59.5Z
    following = 1_798_761_600
    assert span_of("requests_per_minute", now) == (following - 60, following)
    assert span_of("tokens_per_day", now) == (following - 86_400, following)
    assert span_of("cost_per_month", now) == (following - 31 * 86_400, following)


class Counted(Records):
    """Records that count their accesses, and fail on demand."""

    accesses, fails = 0, False

    async def reserve(self, counter: Counter, amount: int, most: int) -> int:
        self.accesses += 1
        if self.fails:
            raise HistoryError("no")
        return await super().reserve(counter, amount, most)


def report() -> Report:
    return Report(id="r", client_api=CHAT, path="/", started=0)


async def admitted(allowances: Allowances, key: ClientKey, number: int, *, allows_failures: bool = False) -> int:
    """Return how many of so many requests are admitted."""
    done = 0
    for _ in range(number):
        try:
            await allowances.admit("anna", key, report(), allows_failures=allows_failures)
        except GatewayError:
            continue
        done += 1
    return done


def test_most_requests_need_no_access_to_the_counters() -> None:
    async def main() -> tuple[int, int]:
        records = Counted(Reports(1))
        return await admitted(
            Allowances(records, lambda: 0.0), ClientKey(requests_per_day=1000), 1100
        ), records.accesses

    done, accesses = asyncio.run(main())
    assert done == 1000
    assert accesses < 25 + 100


def test_limits_begin_again_in_the_next_time_and_rest_is_given_back() -> None:
    async def main() -> list[int]:
        now, records = [0.0], Counted(Reports(1))
        key = ClientKey(requests_per_minute=100)
        first = Allowances(records, lambda: now[0])
        found = [await admitted(first, key, 10)]
        await first.close()
        found.append(await admitted(Allowances(records, lambda: now[0]), key, 200))
        now[0] = 60.0
        found.append(await admitted(Allowances(records, lambda: now[0]), key, 200))
        return found

    assert asyncio.run(main()) == [10, 90, 100]


@pytest.mark.parametrize(("allows", "done"), [(True, 3), (False, 0)])
def test_setting_decides_if_the_store_fails(*, allows: bool, done: int) -> None:
    async def main() -> int:
        records = Counted(Reports(1))
        records.fails = True
        return await admitted(Allowances(records), ClientKey(requests_per_day=9), 3, allows_failures=allows)

    assert asyncio.run(main()) == done


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_processes_with_one_store_share_counters_and_reports(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if database == "sqlite":
        check_shared(str(tmp_path / "g.sqlite"))
    else:
        with fresh_database(request.getfixturevalue("postgresql")) as location:
            check_shared(location)


def check_shared(location: str) -> None:
    async def main() -> tuple[int, ...]:
        one, other = (StoredRecords(Reports(9), location, "g") for _ in range(2))
        key = ClientKey(requests_per_day=60)
        async with one.running(), other.running():
            counts = await asyncio.gather(*(admitted(Allowances(r, lambda: 5.0), key, 60) for r in (one, other)))
            counter = Counter("anna", "tokens_per_day", 0)
            reserved = [await records.reserve(counter, 40, 100) for records in (one, other, one, other)]
            given = await one.reserve(counter, -15, 100)
            reserved.append(await other.reserve(counter, 40, 100))
            for number, records in enumerate((one, other, one)):
                made = Report(id=f"r{number}", client_api=CHAT, path="/", started=number, status=200 + number)
                records.finished(made)
            await one.latest(Wanted())
            assert [found.id for found in await other.latest(Wanted(status="2xx"))] == ["r2", "r1", "r0"]
            assert [found.id for found in await other.latest(Wanted(since=1, status="201"))] == ["r1"]
            found = await other.find("r0")
            assert found is not None
            assert found.status == 200
            await other.check()
        return sum(counts), *reserved, given

    assert asyncio.run(main()) == (60, 40, 40, 20, 0, 15, -15)


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        ({"keys": {"a": {}}}, "keys.a", "expected one of key = 'env:NAME' and sha256"),
        ({"keys": {"a": {"key": "env:NO"}}}, "keys.a.key", "the environment variable NO is not set"),
        ({"keys": {"a": {"key": "sk-1"}}}, "keys.a.key", "expected env:NAME"),
        ({"keys": {"a": {"sha256": "f" * 64, "cost_per_day": 1}}}, "keys.a.cost_per_day", "set prices"),
        ({"keys": {"a": {"key": "env:KEY_ANNA", "request_per_day": 1}}}, "keys.a.request_per_day", "did you mean"),
        ({"prices": {"m": {"input": -1, "output": 1}}}, "prices.m.input", ">= 0"),
    ],
)
def test_fault_of_a_key_has_its_place(fields: Any, path: str, message: str, up: RawUpstream) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(up, **fields)
    assert [(fault.path, message in fault.message) for fault in caught.value.faults] == [(path, True)]
    assert isinstance(caught.value, ContentModelError)
