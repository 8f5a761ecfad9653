"""What a run of the checks found, as data: written as JSON, read again, and compared with an earlier one.

Owns the form of a report. How people see one is in `rendering.py` and `page.py`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.errors import ContentModelError

VERSION = 1
"""The version of the form of reports; one of another version is refused."""

Status: TypeAlias = Literal["passed", "failed", "skipped"]
"""`skipped`: the check does not apply to this adapter, or there was nothing to try it on; its note says why."""


class ReportError(ContentModelError, ValueError):
    """What was to be read as a report is none; says where."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which a law is broken: which `law`, `where` (a JSON path, an event, a byte), in words (`detail`), the
    value that was `expected` there and the one that was `found`, both as text; and on what: the `minimal` input that
    shows it, as text, or the `source` of a recorded one. If the input is a value of the model, `wire` is the payload
    that its adapter writes of it. `command` shows it again.
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


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one check of one adapter came to: how many values were `tried`, how many of them were no payloads
    (`refused`), how many `failed`, and the `note` that says what is to be known about it.
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
    """One check that came to something else than in an earlier report."""

    kind: Literal["fixed", "broken", "new", "gone"]
    api: str
    check: str
    before: str
    now: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found: an outcome for each check of each adapter.

    `laws` has what each law promises, in the order of the table; `adapters` says what was tried, by API id; `only` has
    the laws and checks that were asked for, where not all were.
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
        """Whether no check failed, and at least one passed: a run that tried nothing proves nothing."""
        return not self.failures and any(outcome.status == "passed" for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0 where the report is `ok`, else 1."""
        return 0 if self.ok else 1

    def of(self, api: str, law: str) -> list[Outcome]:
        """The outcomes of the checks of one law, of one adapter: a cell of the table."""
        return [outcome for outcome in self.outcomes if (outcome.api, outcome.law) == (api, law)]

    def recorded(self) -> dict[str, dict[str, tuple[int, int]]]:
        """The figures of recorded traffic: by API and by figure (identity, streams, acceptance, audit), how many of the
        recordings that could be tried hold, and how many were tried. A stream counts once for each law that it is
        tried on. {} where nothing recorded was tried.
        """
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for outcome in self.outcomes:
            figure = _figure(outcome)
            if figure:
                held, tried = found.setdefault(outcome.api, {}).get(figure, (0, 0))
                count = outcome.tried - outcome.refused
                found[outcome.api][figure] = held + count - outcome.failed, tried + count
        return found

    def since(self, earlier: Report) -> list[Change]:
        """What changed: fixed and broken checks, new ones, and those that are gone or no longer apply.

        Only what this report is about counts: other adapters are not gone, nor checks that nobody asked for.
        """
        before, now = _statuses(earlier), _statuses(self)
        places = list(now)
        if not self.only:
            places += [place for place in before if place not in now and place[0] in self.adapters]
        changes = (_change(place, before.get(place), now.get(place)) for place in places)
        return [change for change in changes if change is not None]

    def to_json(self) -> bytes:
        """The report as JSON, in lines; `from_json` reads it."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes | str) -> Report:
        """The report that `to_json` wrote. ReportError where it is none, or of another version."""
        try:
            report = msgspec.json.decode(data, type=Report)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ReportError(f"this is no report of the checks: {error}") from None
        if report.version != VERSION:
            raise ReportError(f"this report has version {report.version}; version {VERSION} is read here: run it again")
        return report


def merged(reports: Iterable[Report]) -> Report:
    """Reports of several adapters as one. ValueError where there is none."""
    found = list(reports)
    if not found:
        raise ValueError("no reports to merge: give one at least")
    return Report(
        adapters={api: what for report in found for api, what in report.adapters.items()},
        laws={law: says for report in found for law, says in report.laws.items()},
        outcomes=tuple(outcome for report in found for outcome in report.outcomes),
        seed=found[0].seed,
        deep=found[0].deep,
        only=found[0].only,
    )


FIGURES = {"identity": "identity", "acceptance": "acceptance", "accounting": "audit"}


def _figure(outcome: Outcome) -> str | None:
    """The figure of recorded traffic that a check counts for."""
    if outcome.status == "skipped" or not outcome.check.endswith("/recorded"):
        return None
    return "streams" if outcome.law.startswith("stream ") else FIGURES.get(outcome.law)


def _statuses(report: Report) -> dict[tuple[str, str], Status]:
    """The checks that ran, by adapter and name."""
    ran = (outcome for outcome in report.outcomes if outcome.status != "skipped")
    return {(outcome.api, outcome.check): outcome.status for outcome in ran}


def _change(place: tuple[str, str], before: Status | None, now: Status | None) -> Change | None:
    if before == now:
        return None
    kind: Literal["fixed", "broken", "new", "gone"]
    if now == "failed":
        kind = "broken"
    elif now == "passed":
        kind = "fixed" if before == "failed" else "new"
    else:
        kind = "gone"
    return Change(kind=kind, api=place[0], check=place[1], before=before or "", now=now or "")


# -- values as text ----------------------------------------------------------------------------------------------------


def shown(value: Any, longest: int = 300) -> str:
    """A value as text for people: JSON where it can be, bytes as the text they are; cut where it is too long."""
    text = printable(_text_of(value))
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text):,} characters)"


def beside(one: Any, other: Any, longest: int = 300) -> tuple[str, str]:
    """Two values as text for people, each cut around the place where they begin to differ."""
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
    """Return a text with halves of surrogate pairs written out, which no file or terminal takes."""
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
    """The value as JSON values, pieces of bytes in it as their text."""
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
