"""`contentmodel-conformance mutants`: test the checks on deliberately broken adapters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from contentmodel.cli.console import err, out, safe_text
from contentmodel.cli.errors import Problem
from contentmodel.cli.output import print_json
from contentmodel_conformance.cli import command
from contentmodel_conformance.mutants import MUTANTS, Mutant
from contentmodel_conformance.report import Finding, Report

NAMES_HELP = "The mutants to try. Default: all, which takes a minute or two."
Names = Annotated[list[str] | None, typer.Argument(metavar="[MUTANT]...", help=NAMES_HELP, show_default=False)]
Listed = Annotated[bool, typer.Option("--list", "-l", help="List the mutants and their defects, and try none.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="The seed of the examples. The same seed gives the same examples.")
]
Json = Annotated[bool, typer.Option("--json", help="Write the results as JSON Lines, one mutant per line.")]


@command
def mutants(names: Names = None, *, listed: Listed = False, seed: Seed = 0, json: Json = False) -> None:
    """Run the checks on mutants: adapters with one deliberate defect, which the checks must find.

    Each mutant is tried with the checks that must find it, in a quick run. A missed mutant means that a law is too
    weak.

    Exit codes: 0 all mutants were found; 1 some were missed; 2 invalid command line.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance mutants
    contentmodel-conformance mutants --list
    contentmodel-conformance mutants collides-ids loses-null --seed 7
    contentmodel-conformance mutants --json | jq 'select(.missed != [])'
    """
    chosen = _chosen(names)
    if listed:
        _show(_listing(chosen))
        return
    results = []
    console = err()
    for at, mutant in enumerate(chosen, 1):
        if console.is_terminal:
            console.print(f"{at} of {len(chosen)}: {mutant.name}", end="\r", style="dim", highlight=False)
        results.append((mutant, mutant.report(seed=seed)))
        if json:
            print_json(_as_json(*results[-1]))
    missed = [mutant for mutant, report in results if _missed(report)]
    if not json:
        _show(_table(results))
        count = f"{len(results) - len(missed):,} of {len(results):,} found"
        out().print(count, style="bold red" if missed else "bold green", highlight=False)
    raise typer.Exit(1 if missed else 0)


def _chosen(names: list[str] | None) -> list[Mutant]:
    for name in names or ():
        if name not in MUTANTS:
            raise Problem(f"no mutant is named {name}", hint="see contentmodel-conformance mutants --list")
    return [mutant for name, mutant in MUTANTS.items() if not names or name in names]


def _missed(report: Report) -> list[str]:
    """Return the checks that found nothing."""
    return [outcome.check for outcome in report.outcomes if outcome.status != "failed"]


def _as_json(mutant: Mutant, report: Report) -> dict[str, object]:
    findings = {outcome.check: _first(outcome.findings) for outcome in report.failures}
    return {
        "mutant": mutant.name,
        "description": mutant.description,
        "adapter": mutant.api,
        "found": findings,
        "missed": _missed(report),
    }


def _first(findings: tuple[Finding, ...]) -> str:
    finding = findings[0]
    return f"{finding.law} at {finding.where}: {finding.detail}"


# -- tables ------------------------------------------------------------------------------------------------------------


def _show(table: Table) -> None:
    out().print(table)


def _listing(chosen: Iterable[Mutant]) -> Table:
    table = _new_table("mutant", "defect", "found by")
    for mutant in chosen:
        table.add_row(*map(safe_text, (mutant.name, mutant.description, "\n".join(mutant.checks))))
    return table


def _table(results: Iterable[tuple[Mutant, Report]]) -> Table:
    table = _new_table("mutant", "check", "finding")
    for mutant, report in results:
        for at, outcome in enumerate(report.outcomes):
            finding = safe_text(_first(outcome.findings)) if outcome.findings else Text("missed", style="bold red")
            table.add_row(safe_text("" if at else mutant.name), safe_text(outcome.check), finding)
    return table


def _new_table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for other in others:
        table.add_column(other, overflow="fold")
    return table
