"""The reports of a gateway: what each request was converted to, and what it lost. They contain no keys and no texts."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from contentmodel.json import write
from contentmodel.losses import Loss, significant
from contentmodel.usage import Usage

logger = logging.getLogger("contentmodel.gateway")

ID_HEADER = "contentmodel-request-id"
LOSSES_HEADER = "contentmodel-losses"
UPSTREAM_HEADER = "contentmodel-upstream"

MAX_LOSSES = 1000
"""The number of losses, and of violations, of one payload that a report lists."""
MAX_TEXT = 256
"""The characters of a text in a report that a client or an upstream chose: the name of a model, a path."""


def short(text: str) -> str:
    """Return the start of a text, and how much is left out."""
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}... ({len(text):,} characters)"


def _listed(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Return the losses that a report lists."""
    return tuple(
        loss
        if len(loss.path) + len(loss.what) + len(loss.why) <= MAX_TEXT
        else msgspec.structs.replace(loss, path=short(loss.path), what=short(loss.what), why=short(loss.why))
        for loss in islice(losses, MAX_LOSSES)
    )


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try of an upstream: its name, API and model, the HTTP status, the kind of the error, and the time.

    `started` is in seconds since 1970. `seconds` is the time until the first bytes of the answer, or the failure.
    """

    upstream: str
    api: str
    model: str
    started: float
    seconds: float
    status: int | None = None
    error: str | None = None


class Report(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The report of one request.

    It is bounded: texts that a client chose are cut, and its lists have at most 1,000 entries.
    `counted` are the numbers of all significant losses by code, those of the request first.

    `key` is the name of the client's key, and `limit` the limit of it that refused the request. `route` are the models
    of the route. `cost` is the price of the answer; it is missing and `unpriced` true if the model has no price, or the
    answer no usage. `partial` is true if the usage is the part that arrived before the client left.

    `client_api`, `model`: the API and the model that the client asked for. `upstream`, `upstream_api`,
    `upstream_model`: where the request went. `status` is the status of the client's answer. `request` are the losses of
    the request, with paths in the client's payload; `answer` are those of the answer, with paths in the upstream's
    payload, or in the folded answer of a stream. `violations` are rules of the upstream's API that the converted
    request breaks. Times are in seconds, from the arrival of the request. `ended` tells how a stream ended: "complete",
    "failed" (the upstream's stream broke) or "left" (the client closed the connection).
    """

    id: str
    client_api: str
    path: str
    started: float
    model: str | None = None
    key: str | None = None
    limit: str | None = None
    route: str | None = None
    streamed: bool = False
    upstream: str | None = None
    upstream_api: str | None = None
    upstream_model: str | None = None
    passed_through: bool = False
    status: int = 0
    error: str | None = None
    ended: str | None = None
    attempts: list[Attempt] = []
    request: tuple[Loss, ...] = ()
    answer: tuple[Loss, ...] = ()
    counted: tuple[dict[str, int], dict[str, int]] = ({}, {})
    violations: list[str] = []
    notes: list[str] = []
    usage: Usage | None = None
    partial: bool = False
    cost: float | None = None
    unpriced: bool = False
    first_byte: float | None = None
    seconds: float | None = None

    def describe_request(self, losses: Sequence[Loss]) -> None:
        """Record the losses of the request."""
        self.request, self.counted = _listed(losses), (_counts(losses), self.counted[1])

    def describe_violations(self, violations: Sequence[str]) -> None:
        """Record the rules that the converted request breaks."""
        self.violations = [short(text) for text in violations[:MAX_LOSSES]]

    def describe_answer(self, losses: Sequence[Loss], usage: Usage | None) -> None:
        """Record the losses and the usage of the answer."""
        self.answer, self.counted = _listed(losses), (self.counted[0], _counts(losses))
        self.usage = usage

    def counts(self) -> str:
        """Return the number of significant losses by code, the largest first: "no-field=2, as-text=1", or "none"."""
        counts = sum(map(Counter, self.counted), Counter[str]())
        return ", ".join(f"{code}={count}" for code, count in counts.most_common()) or "none"

    def summary(self) -> dict[str, Any]:
        """Return the report as JSON values, with counts in place of the losses."""
        whole: dict[str, Any] = msgspec.to_builtins(self)
        counts = {side: dict(Counter(loss.code for loss in getattr(self, side))) for side in ("request", "answer")}
        return {**whole, **{side: count for side, count in counts.items() if count}}


def _counts(losses: Iterable[Loss]) -> dict[str, int]:
    return dict(Counter(loss.code for loss in significant(losses)))


class Reports:
    """The reports of the latest requests."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._reports: OrderedDict[str, Report] = OrderedDict()

    def resize(self, most: int) -> None:
        """Keep another number of reports from now on."""
        self.most = most

    def add(self, report: Report) -> None:
        """Keep a report, and forget the oldest one if there are too many."""
        self._reports[report.id] = report
        while len(self._reports) > self.most:
            self._reports.popitem(last=False)

    def newest(self) -> Iterator[Report]:
        """Yield the reports of finished requests, the newest first."""
        return (report for report in reversed(self._reports.values()) if report.seconds is not None)

    def find(self, name: str) -> Report | None:
        """Return the report of a request; None if it is unknown or was forgotten."""
        return self._reports.get(name)


def log(report: Report) -> None:
    """Write the summary of a finished request to the log, as one line of JSON."""
    level = logging.WARNING if report.status >= 500 or report.ended == "failed" else logging.INFO
    if logger.isEnabledFor(level):
        logger.log(level, "%s", write(report.summary()).decode(), extra={"report": report})
