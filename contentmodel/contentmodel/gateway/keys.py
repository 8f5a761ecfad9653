"""The keys of clients: who a client is, how much it may use, and the price of an answer.

Limits are checked before a request, and counted after it. Counters are in the records of the gateway; each process
reserves a part of them ahead, so most requests need no access to the store.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from contentmodel.errors import ContentModelError
from contentmodel.gateway.config import ClientKey, GatewayConfig, Price
from contentmodel.gateway.front import GatewayError
from contentmodel.gateway.metrics import tokens_of
from contentmodel.gateway.records import Counter, Records
from contentmodel.gateway.report import Report, logger
from contentmodel.usage import Usage

MILLION = 1_000_000
"""The tokens of a price, and the parts of the currency that costs are counted in."""
PARTS = 20
"""A process reserves this part of a limit at once."""
PATIENCE = 5.0
"""The seconds that a request waits for the store."""


def digest_of(key: str) -> str:
    """Return the SHA-256 of a key, as `sha256` of the configuration has it."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def names_of(config: GatewayConfig, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the keys by the SHA-256 of the key."""
    return {digest_of_key(key, environment): name for name, key in config.keys.items()}


def digest_of_key(key: ClientKey, environment: Mapping[str, str]) -> str:
    """Return the SHA-256 of a configured key."""
    if key.sha256 is not None:
        return key.sha256.lower()
    return digest_of(environment[(key.key or "").partition(":")[2]])


# -- prices ------------------------------------------------------------------------------------------------------------


def price_of(model: str | None, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model: the one of its name, or else the first whose pattern it matches."""
    if model is None:
        return None
    return prices.get(model) or next((price for name, price in prices.items() if fnmatchcase(model, name)), None)


def cost_of(usage: Usage, price: Price) -> float:
    """Return the cost of an answer. Each token is priced once: cached and written ones are no input tokens."""
    tokens = tokens_of(usage)
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    per_token = {"input": price.input, "cached": cached, "cache_write": written, "output": price.output}
    return sum(tokens.get(kind, 0) * one for kind, one in per_token.items()) / MILLION


def set_cost(report: Report, prices: Mapping[str, Price]) -> None:
    """Record the cost of an answer, or that it has none."""
    has_answer = report.usage is not None or (bool(report.attempts) and report.status == 200)
    if not prices or not has_answer:
        return
    price = price_of(report.upstream_model, prices)
    if price is None or report.usage is None:
        report.unpriced = True
    else:
        report.cost = round(cost_of(report.usage, price), 9)


# -- limits ------------------------------------------------------------------------------------------------------------


def span_of(limit: str, now: float) -> tuple[int, int]:
    """Return the begin and the end of the minute, day or month of UTC that a limit counts, in seconds since 1970."""
    unit = limit.rpartition("_")[2]
    if unit == "month":
        day = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        following = day.replace(year=day.year + day.month // 12, month=day.month % 12 + 1)
        return int(day.timestamp()), int(following.timestamp())
    length = {"minute": 60, "day": 24 * 3600}[unit]
    start = int(now) // length * length
    return start, start + length


class _Part:
    """The part of a counter that this process has reserved, and what it has used of it."""

    def __init__(self, counter: Counter, most: int) -> None:
        self.counter, self.most = counter, most
        self.granted = self.used = 0
        self.lock = asyncio.Lock()
        self.refill: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        return max(1, self.most // PARTS)


def _log_failure(counter: Counter, error: ContentModelError) -> None:
    logger.error("the counter %s of the key %r is not in the store: %s", counter.limit, counter.key, error)


class Allowances:
    """The limits of all keys, as this process has used them."""

    def __init__(self, records: Records, clock: Callable[[], float] = time.time) -> None:
        self._records, self._clock = records, clock
        self._parts: dict[tuple[str, str], _Part] = {}
        self._fails = False

    async def admit(self, name: str, key: ClientKey, report: Report, *, allows_failures: bool) -> None:
        """Count a request. Raise GatewayError if a limit of its key is used up.

        `allows_failures` is whether a request is allowed if the store fails.
        """
        for limit, most in key.limits.items():
            part = self._part(name, limit, most)
            try:
                is_left = await self._is_left(part)
            except (ContentModelError, TimeoutError) as error:
                if not self._fails:
                    logger.error("the counters of keys cannot be read from the store: %s", error)
                self._fails = True
                if allows_failures:
                    continue
                message = "the gateway cannot count the use of keys (limits.on_store_failure): try again later"
                raise GatewayError("overloaded", message, retry_after=1) from None
            self._fails = False
            if not is_left:
                report.limit = limit
                wait = max(1, math.ceil(span_of(limit, self._clock())[1] - self._clock()))
                shown = f"{most / MILLION:g}" if limit.startswith("cost") else f"{most:,}"
                message = f"the key {name!r} has used up its limit {limit} = {shown}"
                raise GatewayError("rate_limit", message, retry_after=wait)
        self._use(name, key, "requests", 1)

    def count(self, name: str, key: ClientKey, report: Report) -> None:
        """Count what a finished request has used."""
        tokens = tokens_of(report.usage)
        used = sum(count for kind, count in tokens.items() if kind != "reasoning")
        self._use(name, key, "tokens", used)
        self._use(name, key, "cost", round((report.cost or 0) * MILLION))

    async def close(self) -> None:
        """Give back what was not used, and count what was used without a reservation."""
        parts, self._parts = self._parts, {}
        for part in parts.values():
            if part.refill is not None:
                await asyncio.wait({part.refill})
            try:
                await self._records.reserve(part.counter, part.used - part.granted, part.most)
            except ContentModelError as error:
                _log_failure(part.counter, error)

    def _use(self, name: str, key: ClientKey, unit: str, amount: int) -> None:
        for limit, most in key.limits.items():
            if limit.startswith(f"{unit}_"):
                self._part(name, limit, most).used += amount

    def _part(self, name: str, limit: str, most: int) -> _Part:
        start = span_of(limit, self._clock())[0]
        part = self._parts.get((name, limit))
        if part is None or part.counter.start != start or part.most != most:
            part = self._parts[name, limit] = _Part(Counter(name, limit, start), most)
        return part

    async def _is_left(self, part: _Part) -> bool:
        """Return whether something is left of a counter. Reserve more before it is used up."""
        left = part.granted - part.used
        if left > 0:
            if left <= part.size // 2 and (part.refill is None or part.refill.done()):
                part.refill = asyncio.create_task(self._refill(part))
            return True
        async with part.lock:
            if part.used >= part.granted:
                await asyncio.wait_for(self._reserve(part), PATIENCE)
        return part.used < part.granted

    async def _refill(self, part: _Part) -> None:
        try:
            async with part.lock:
                await self._reserve(part)
        except ContentModelError as error:
            _log_failure(part.counter, error)

    async def _reserve(self, part: _Part) -> None:
        wanted = max(part.used - part.granted, 0) + part.size
        part.granted += await self._records.reserve(part.counter, wanted, part.most)
