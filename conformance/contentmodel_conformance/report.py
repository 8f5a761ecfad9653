"""The results of a run as data: written as JSON, read back, and compared with an earlier report.

Owns the format of a report. `rendering.py` and `page.py` display it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.errors import ContentModelError

VERSION = 1
"""The version of the report format. Reports of other versions are refused."""

Status: TypeAlias = Literal["passed", "failed", "skipped"]
"""`skipped`: the check does not apply to this adapter, or it had nothing to try. Its note has the reason."""


class ReportError(ContentModelError, ValueError):
    """Raised for a file that is not a valid report. The message has the path."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One violation of a law.

    `where` is a JSON path, an event or a byte. `detail` describes the violation. `expected` and `found` are the values
    there, as text. `minimal` is the smallest failing input as text; for a recorded input, `source` is its file and
    line instead. If the input is a model value, `wire` is its encoded payload. `row` is the row of the table at
    `where`, with what it maps there. `command` reproduces the finding.
    """

    law: str
    where: str
    detail: str
    expected: str
    found: str
    command: str
    label: str = ""
    minimal: str = ""
    source: str = ""
    wire: str = ""
    row: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one check of one adapter.

    `tried` counts the values. `refused` counts those that the check does not apply to; `failed` those that failed.
    """

    api: str
    check: str
    law: str
    on: str
    status: Status
    tried: int = 0
    refused: int = 0
    failed: int = 0
    note: str = ""
    findings: tuple[Finding, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A check whose status differs from an earlier report."""

    kind: Literal["fixed", "broken", "new", "gone"]
    api: str
    check: str
    before: str
    now: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run: an outcome for each check of each adapter.

    `laws` maps each law to its promise, in the order of the table. `adapters` describes the adapters by API id. `only`
    lists the laws and checks that were selected; empty if all were.
    """

    adapters: dict[str, str]
    laws: dict[str, str]
    outcomes: tuple[Outcome, ...]
    seed: int = 0
    deep: bool = False
    only: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes of the checks that failed."""
        return [outcome for outcome in self.outcomes if outcome.status == "failed"]

    @property
    def ok(self) -> bool:
        """True if no check failed, and at least one passed: a run without inputs proves nothing."""
        return not self.failures and any(outcome.status == "passed" for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0 if the report is `ok`, else 1."""
        return 0 if self.ok else 1

    def of(self, api: str, law: str) -> list[Outcome]:
        """Return the outcomes of one law of one adapter: a cell of the table."""
        return [outcome for outcome in self.outcomes if (outcome.api, outcome.law) == (api, law)]

    def recorded(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Return how many recordings hold and how many were tried, by API and figure; {} if none were tried.

        The figures are identity, streams, acceptance and audit. A stream counts once for each law.
        """
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        for outcome in self.outcomes:
            figure = _figure(outcome)
            if figure:
                passed, tried = counts.setdefault(outcome.api, {}).get(figure, (0, 0))
                count = outcome.tried - outcome.refused
                counts[outcome.api][figure] = passed + count - outcome.failed, tried + count
        return counts

    def since(self, earlier: Report) -> list[Change]:
        """Return what changed: checks that are fixed, broken, new, or gone (removed or not applicable any more).

        Adapters and checks that this run did not select are ignored.
        """
        before, now = _statuses(earlier), _statuses(self)
        checks = list(now)
        if not self.only:
            checks += [check for check in before if check not in now and check[0] in self.adapters]
        changes = (_change(check, before.get(check), now.get(check)) for check in checks)
        return [change for change in changes if change is not None]

    def to_json(self) -> bytes:
        """Return the report as indented JSON; `from_json` reads it."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes | str) -> Report:
        """Return the report that `to_json` wrote. Raises ReportError if it is invalid or has another version."""
        try:
            report = msgspec.json.decode(data, type=Report)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ReportError(f"not a report of the checks: {error}") from None
        if report.version != VERSION:
            raise ReportError(
                f"the report has version {report.version}, and version {VERSION} is supported: run the checks again"
            )
        return report


def merged(reports: Iterable[Report]) -> Report:
    """Merge reports of several adapters. Raises ValueError if there are none."""
    parts = list(reports)
    if not parts:
        raise ValueError("no reports to merge: pass at least one")
    return Report(
        adapters={api: name for report in parts for api, name in report.adapters.items()},
        laws={law: promise for report in parts for law, promise in report.laws.items()},
        outcomes=tuple(outcome for report in parts for outcome in report.outcomes),
        seed=parts[0].seed,
        deep=parts[0].deep,
        only=parts[0].only,
    )


FIGURES = {"identity": "identity", "acceptance": "acceptance", "accounting": "audit"}


def _figure(outcome: Outcome) -> str | None:
    """Return the figure of recorded traffic that a check counts for, if any."""
    if outcome.status == "skipped" or not outcome.check.endswith("/recorded"):
        return None
    return "streams" if outcome.law.startswith("stream ") else FIGURES.get(outcome.law)


def _statuses(report: Report) -> dict[tuple[str, str], Status]:
    """Return the status of each check that ran, by adapter and name."""
    ran = (outcome for outcome in report.outcomes if outcome.status != "skipped")
    return {(outcome.api, outcome.check): outcome.status for outcome in ran}


def _change(check: tuple[str, str], before: Status | None, now: Status | None) -> Change | None:
    if before == now:
        return None
    kind: Literal["fixed", "broken", "new", "gone"]
    if now == "failed":
        kind = "broken"
    elif now == "passed":
        kind = "fixed" if before == "failed" else "new"
    else:
        kind = "gone"
    return Change(kind=kind, api=check[0], check=check[1], before=before or "", now=now or "")


# -- values as text ----------------------------------------------------------------------------------------------------


def shown(value: Any, longest: int = 300) -> str:
    """Return a value as readable text: JSON if possible, bytes decoded; cut to `longest` characters."""
    text = printable(_text_of(value))
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def beside(one: Any, other: Any, longest: int = 300) -> tuple[str, str]:
    """Return two values as readable text, each cut around their first difference."""
    texts = printable(_text_of(one)), printable(_text_of(other))
    common = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, common - longest // 4) if max(map(len, texts)) > longest else 0
    return _from(texts[0], start, longest), _from(texts[1], start, longest)


def _from(text: str, start: int, longest: int) -> str:
    if start == 0 and len(text) <= longest:
        return text
    before, end = "..." if start else "", start + longest
    return f"{before}{text[start:end]}{'...' if end < len(text) else ''} ({len(text):,} characters)"


def printable(text: str) -> str:
    """Return a text with halves of surrogate pairs escaped: files and terminals refuse them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _text_of(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        return json.dumps(_plain(value), ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        return f"{value!r:.4000}"


def _plain(value: Any) -> Any:
    """Return the value as JSON values. Bytes become text, or base64 if they are not UTF-8."""
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return "base64:" + base64.b64encode(value).decode()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
