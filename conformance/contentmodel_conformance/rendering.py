"""Render a report as terminal text or Markdown. Also has the texts that the HTML page shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from contentmodel.cli.console import safe_text, visible
from contentmodel.display import count_of
from contentmodel_conformance.report import Change, Finding, Outcome, Report

SHOWN = 5
"""The number of findings shown of one check; a JSON report has all."""


def cell(outcomes: Iterable[Outcome]) -> tuple[str, str]:
    """Return a cell of the table: its status ("passed", "failed", or "skipped" if nothing was tried) and its text."""
    outcomes = list(outcomes)
    tried = sum(outcome.tried - outcome.refused for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    if any(outcome.status == "failed" for outcome in outcomes):
        return "failed", f"{failed:,} of {tried:,} fail"
    if any(outcome.status == "passed" for outcome in outcomes):
        return "passed", f"{tried:,}"
    return "skipped", "-"


def figures(report: Report) -> dict[str, list[tuple[str, str]]]:
    """Return the figures of recorded traffic as rows: a status and a text for each figure and API."""
    recorded = report.recorded()
    names = dict.fromkeys(name for counts in recorded.values() for name in counts)
    return {name: [_figure(recorded.get(api, {}).get(name)) for api in report.adapters] for name in names}


def _figure(counts: tuple[int, int] | None) -> tuple[str, str]:
    if not counts or not counts[1]:
        return "skipped", "-"
    passed, tried = counts
    return ("passed" if passed == tried else "failed"), f"{passed:,} of {tried:,}"


def headline(report: Report) -> str:
    """Return a summary of the report in one line."""
    passed = sum(outcome.status == "passed" for outcome in report.outcomes)
    skipped = sum(outcome.status == "skipped" for outcome in report.outcomes)
    passing = f"{count_of(passed, 'check')} {'passes' if passed == 1 else 'pass'}"
    failing = f"{len(report.failures):,} {'fails' if len(report.failures) == 1 else 'fail'}"
    missing = f"{skipped:,} {'does' if skipped == 1 else 'do'} not apply"
    return f"{passing}, {failing}, {missing} ({'deep' if report.deep else 'quick'}, seed {report.seed})"


def reasons(report: Report) -> dict[str, list[str]]:
    """Return why checks were skipped: each "API: reason" with its checks."""
    skipped: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        if outcome.status == "skipped":
            skipped.setdefault(f"{outcome.api}: {outcome.note}", []).append(outcome.check)
    return skipped


def notes(report: Report) -> list[str]:
    """Return the notes of the checks that ran."""
    ran = (outcome for outcome in report.outcomes if outcome.status != "skipped" and outcome.note)
    return [f"{outcome.api} {outcome.check}: {outcome.note}" for outcome in ran]


def finding_lines(finding: Finding) -> Iterator[str]:
    """Yield a finding as lines: path and detail, both values, the row, the input, and the command that repeats it."""
    yield f"{finding.law} at {finding.where}: {finding.detail}"
    yield f"  expected  {finding.expected}"
    yield f"  found     {finding.found}"
    if finding.row:
        yield f"  row       {finding.row}"
    if finding.label:
        yield f"  on        {finding.label}"
    if finding.source:
        yield f"  recorded  {finding.source}"
    if finding.minimal:
        yield f"  input     {finding.minimal}"
    if finding.wire:
        yield f"  payload   {finding.wire}"
    yield f"  repeat    {finding.command}"


def change_lines(changes: Iterable[Change]) -> Iterator[tuple[str, str]]:
    """Yield each change since an earlier report as its kind and a line."""
    for change in changes:
        before, now = change.before or "not tried", change.now or "not tried"
        yield change.kind, f"{change.kind}: {change.api} {change.check} ({before} before, {now} now)"


# -- terminals ---------------------------------------------------------------------------------------------------------

_STYLES = {"passed": "green", "failed": "bold red", "skipped": "dim"}
_CHANGES = {"fixed": "green", "broken": "bold red", "new": "cyan", "gone": "yellow"}


def as_text(report: Report, changes: Iterable[Change] = ()) -> Iterator[Table | Text]:
    """Yield the report for a terminal: tables, and lines that should not be wrapped."""
    rows = {law: [cell(report.of(api, law)) for api in report.adapters] for law in report.laws}
    yield _table("law", report, rows)
    if report.recorded():
        yield _table("recorded", report, figures(report))
    for outcome in report.failures:
        yield from _failure(outcome)
    yield from (safe_text(note, "yellow") for note in notes(report))
    for reason, checks in reasons(report).items():
        yield safe_text(f"skipped {count_of(len(checks), 'check')} of {reason}", "dim")
    yield from (safe_text(line, _CHANGES[kind]) for kind, line in change_lines(changes))
    yield Text(headline(report), style="bold green" if report.ok else "bold red")


def _table(title: str, report: Report, rows: Mapping[str, Iterable[tuple[str, str]]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title, no_wrap=True)
    for api in report.adapters:
        table.add_column(api, justify="right", overflow="fold")
    for name, cells in rows.items():
        table.add_row(name, *(Text(text, style=_STYLES[status]) for status, text in cells))
    return table


def _failure(outcome: Outcome) -> Iterator[Text]:
    title = f"{outcome.api} breaks {outcome.check}, on {outcome.on}"
    yield safe_text(title, "bold red")
    for finding in outcome.findings[:SHOWN]:
        first, *rest = finding_lines(finding)
        yield safe_text("  " + first)
        yield from (safe_text("  " + line, "dim") for line in rest)
    if len(outcome.findings) > SHOWN:
        yield safe_text(f"  and {len(outcome.findings) - SHOWN} more", "dim")
    yield Text("")


# -- Markdown ----------------------------------------------------------------------------------------------------------


def as_markdown(report: Report, changes: Iterable[Change] = ()) -> str:
    """Return the report as Markdown."""
    lines = ["# Conformance", "", headline(report), ""]
    lines += [f"- {_code(api)}: {_escaped(description)}" for api, description in report.adapters.items()]
    changed = [f"- {_escaped(line)}" for _, line in change_lines(changes)]
    lines += ["", "## Changes", "", *changed] if changed else []
    heads = ["law", *map(_code, report.adapters), "promise"]
    lines += ["", _row(heads), _row(["---"] * len(heads))]
    for law, promise in report.laws.items():
        cells = (cell(report.of(api, law)) for api in report.adapters)
        lines.append(_row([law, *(_marked(*pair) for pair in cells), _escaped(promise)]))
    recorded = figures(report)
    if recorded:
        heads = ["recorded", *map(_code, report.adapters)]
        lines += ["", _row(heads), _row(["---"] * len(heads))]
        lines += [_row([name, *(_marked(*pair) for pair in cells)]) for name, cells in recorded.items()]
    for outcome in report.failures:
        lines += ["", f"## {_code(outcome.api)} breaks {_code(outcome.check)}", "", _escaped(f"On {outcome.on}.")]
        for finding in outcome.findings[:SHOWN]:
            lines += ["", *("    " + visible(line) for line in finding_lines(finding))]
    skipped = reasons(report)
    lines += ["", "## Skipped", ""] if skipped else []
    lines += [f"- {_escaped(reason)} ({len(checks)})" for reason, checks in skipped.items()]
    return "\n".join(lines) + "\n"


def _marked(status: str, text: str) -> str:
    return f"**{text}**" if status == "failed" else text


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{visible(text)}`"


_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|"})


def _escaped(text: str) -> str:
    """Escape text for Markdown."""
    return visible(text).replace("\n", " ").translate(_MARKS)


def laws_table(laws: Mapping[str, str], checks: Iterable[tuple[str, str, str]]) -> str:
    """Return a Markdown table of laws: their promises, and what they are tried on. `checks` has (law, check, on)."""
    tried: dict[str, list[str]] = {}
    for law, check, on in checks:
        tried.setdefault(law, []).append(f"`{check}`: {_escaped(on)}")
    rows = [_row([law, _escaped(promise), "<br>".join(tried[law])]) for law, promise in laws.items()]
    return "\n".join([_row(["law", "promise", "tried on"]), _row(["---"] * 3), *rows]) + "\n"
