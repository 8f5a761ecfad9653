"""The metrics of a gateway as OpenMetrics text. They are counted from the reports of finished requests.

Labels have only names of the configuration, kinds of errors, codes of losses and statuses, so their number is bounded.
(github.com/prometheus/OpenMetrics, specification 1.0.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import msgspec

from contentmodel.failures import STATUSES
from contentmodel.gateway.config import GatewayConfig
from contentmodel.gateway.report import Report
from contentmodel.gateway.upstream import UNREACHABLE
from contentmodel.usage import Usage

MEDIA_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
OTHER = "other"
"""The label of a model, or a kind of error, that is no name of the configuration or of this library."""
NONE = "none"
"""The label of a request that went to no route or upstream."""
SIDES = ("request", "answer")
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""The upper bounds of the buckets of the histograms, in seconds."""

Labels: TypeAlias = tuple[str, ...]
Value: TypeAlias = float | list[float]
Snapshot: TypeAlias = list[tuple[str, Labels, Value]]
"""The values of one process: the name of a family, the values of its labels, and a number, or the buckets and sum of a
histogram."""


class Family(msgspec.Struct, frozen=True):
    """One metric: its kind in OpenMetrics, its labels, and its meaning. `unit` is the end of its name."""

    kind: str
    labels: Labels
    help: str
    unit: str = ""


FAMILIES: dict[str, Family] = {
    "requests": Family(
        "counter",
        ("client_api", "route", "upstream", "model", "status"),
        "Finished requests. The status is that of the client's answer, 499 if the client left before it.",
    ),
    "losses": Family("counter", ("code", "kind", "side"), "Significant losses of requests and answers."),
    "tokens": Family("counter", ("kind", "upstream", "model"), "Tokens of answers. Cached tokens count once."),
    "cost": Family("counter", ("upstream", "model"), "The cost of answers, in the currency of the prices."),
    "unpriced": Family("counter", ("upstream", "model"), "Answers without a price or without their usage."),
    "refusals": Family("counter", ("key", "limit"), "Requests that a limit of a key refused."),
    "fallbacks": Family("counter", ("from", "to", "reason"), "Requests that went to the next upstream."),
    "seconds": Family("histogram", ("client_api", "upstream"), "The time to the end of the answer.", "seconds"),
    "first_byte_seconds": Family(
        "histogram", ("client_api", "upstream"), "The time to the first byte of a stream.", "seconds"
    ),
    "streams_open": Family("gauge", (), "Streams that are being sent."),
    "upstream_open": Family("gauge", ("upstream",), "1 if requests skip the upstream (cooldown)."),
}
"""The metrics by name, without the prefix `contentmodel_`."""


class Metrics:
    """The metrics of this process."""

    def __init__(self, config: GatewayConfig) -> None:
        self._values: dict[tuple[str, Labels], Value] = {}
        self._models: set[str] = set()
        self.streams_open = 0
        self.configure(config)

    def configure(self, config: GatewayConfig) -> None:
        """Take the names of models of a new configuration as labels."""
        self._models = {
            name
            for route in config.routes
            for name in (*route.models, route.model, *(route.at(t, config.upstreams).model for t in route.targets))
            if name is not None
        }

    @asynccontextmanager
    async def open_stream(self) -> AsyncIterator[None]:
        """Count a stream while it is sent."""
        self.streams_open += 1
        try:
            yield
        finally:
            self.streams_open -= 1

    def add(self, report: Report) -> None:
        """Count a finished request."""
        upstream, model = report.upstream or NONE, self._model(report)
        status = "499" if report.status == 0 else str(report.status)
        self._count("requests", (report.client_api, report.route or NONE, upstream, model, status))
        for side, losses, counts in zip(SIDES, (report.request, report.answer), report.counted, strict=True):
            kinds = {loss.code: loss.kind for loss in losses if loss.is_significant}
            for code, number in counts.items():
                self._count("losses", (code, kinds.get(code, OTHER), side), number)
        for kind, tokens in tokens_of(report.usage).items():
            self._count("tokens", (kind, upstream, model), tokens)
        if report.cost is not None:
            self._count("cost", (upstream, model), report.cost)
        elif report.unpriced:
            self._count("unpriced", (upstream, model))
        if report.limit is not None:
            self._count("refusals", (report.key or NONE, report.limit))
        for before, after in zip(report.attempts, report.attempts[1:], strict=False):
            if before.upstream != after.upstream:
                self._count("fallbacks", (before.upstream, after.upstream, _reason(before.error)))
        self._observe("seconds", (report.client_api, upstream), report.seconds)
        self._observe("first_byte_seconds", (report.client_api, upstream), report.first_byte)

    def _model(self, report: Report) -> str:
        name = report.upstream_model or report.model
        return NONE if name is None else name if name in self._models else OTHER

    def _count(self, family: str, labels: Labels, amount: float = 1) -> None:
        value = self._values.get((family, labels), 0)
        assert not isinstance(value, list)
        self._values[family, labels] = value + amount

    def _observe(self, family: str, labels: Labels, seconds: float | None) -> None:
        if seconds is None:
            return
        values = self._values.setdefault((family, labels), [0.0] * (len(BOUNDS) + 2))
        assert isinstance(values, list)
        values[bisect_left(BOUNDS, seconds)] += 1
        values[-1] += seconds

    def snapshot(self, is_open: Mapping[str, bool]) -> Snapshot:
        """Return all values. `is_open` are the upstreams, and whether requests skip them."""
        gauges: Snapshot = [("streams_open", (), self.streams_open)]
        gauges += [("upstream_open", (name,), float(value)) for name, value in is_open.items()]
        return [*((family, labels, value) for (family, labels), value in self._values.items()), *gauges]


def tokens_of(usage: Usage | None) -> dict[str, int]:
    """Return the tokens of a usage by kind. Each token has one kind, but tokens of reasoning are also output."""
    if usage is None:
        return {}
    cached, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    tokens = {
        "input": max(0, usage.all_input_tokens - cached - written),
        "cached": cached,
        "cache_write": written,
        "output": usage.all_output_tokens,
        "reasoning": usage.reasoning_tokens or 0,
    }
    return {kind: count for kind, count in tokens.items() if count}


def _reason(kind: str | None) -> str:
    return kind if kind is not None and (kind in STATUSES or kind == UNREACHABLE) else OTHER


def summed(snapshots: Iterable[Iterable[Any]]) -> Snapshot:
    """Return the sums of the values of several processes."""
    sums: dict[tuple[str, Labels], Value] = {}
    for family, labels, value in (entry for snapshot in snapshots for entry in snapshot):
        key = family, tuple(labels)
        before = sums.get(key)
        if before is None:
            sums[key] = value
        elif isinstance(before, list):
            sums[key] = [one + other for one, other in zip(before, value, strict=True)]
        else:
            # An upstream is skipped by some processes, or by none.
            sums[key] = max(before, value) if family == "upstream_open" else before + value
    return [(family, labels, value) for (family, labels), value in sums.items()]


def openmetrics(snapshot: Snapshot) -> bytes:
    """Return values as OpenMetrics text."""
    by_family: dict[str, list[tuple[Labels, Value]]] = {name: [] for name in FAMILIES}
    for family, labels, value in snapshot:
        by_family[family].append((labels, value))
    lines = [line for name, values in by_family.items() for line in _lines(name, sorted(values, key=lambda v: v[0]))]
    return "\n".join([*lines, "# EOF", ""]).encode()


def _lines(name: str, values: list[tuple[Labels, Value]]) -> Iterator[str]:
    family, full = FAMILIES[name], f"contentmodel_{name}"
    yield f"# TYPE {full} {family.kind}"
    if family.unit:
        yield f"# UNIT {full} {family.unit}"
    yield f"# HELP {full} {family.help}"
    for labels, value in values:
        pairs = list(zip(family.labels, labels, strict=True))
        if not isinstance(value, list):
            yield f"{full}{'_total' if family.kind == 'counter' else ''}{_labels(pairs)} {_number(value)}"
            continue
        *counts, total = value
        count = 0.0
        for bound, number in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            count += number
            yield f"{full}_bucket{_labels([*pairs, ('le', bound)])} {_number(count)}"
        yield f"{full}_count{_labels(pairs)} {_number(count)}"
        yield f"{full}_sum{_labels(pairs)} {_number(total)}"


def _labels(pairs: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}" if pairs else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
