"""`contentmodel plan`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from contentmodel.cli.console import out, safe_text
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import STORED, api_option, load_all, target_option
from contentmodel.cli.losses import LOSS_STYLES
from contentmodel.cli.options import From, In, Kind, parse_models, parse_policies
from contentmodel.cli.output import print_json
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, decode, for_each, identify, open_source
from contentmodel.planning import Plan, explanation
from contentmodel.planning import plan as plan_transcript
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse

Targets = Annotated[
    list[str] | None,
    typer.Option("--to", metavar="API", help="A target API. Repeatable. Default: the APIs of all other providers."),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="API=MODEL", help="The model of a target. Repeatable."),
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="FAMILY=CHOICE", help="As for `contentmodel convert`. Repeatable."),
]
_WIDE = 10_000
_FIRST, _RULES = "losses by family", "violations"
AsJson = Annotated[bool, typer.Option("--json", help="Print the plans as JSON, with every loss and its path.")]


def plan(
    path: In = None,
    *,
    target: Targets = None,
    api: From = None,
    kind: Kind = None,
    model: Models = None,
    policy: Policies = None,
    as_json: AsJson = False,
) -> None:
    """Compare the losses of a transcript for each target API, the lowest cost first.

    The transcript is converted to every target in memory, and the losses are counted by family of content. The
    [bold]cost[/bold] is the weighted sum of the losses, plus 100 for each violation that the target refuses. The
    violations of each converted request are listed below the table. Nothing is sent or written.

    Exit codes: 0 compared; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel plan chat.json
    contentmodel plan chat.json --to openai-chat --to anthropic-messages
    contentmodel plan chat.json --model anthropic-messages=claude-opus-4-8
    contentmodel plan chat.json --json | jq '.[0].target'
    """
    for name in target or ():
        target_option(name, "--to", None, stored=False)
    api = api_option(api, "--from")
    models, policies = parse_models(model or []), parse_policies(policy or [])

    def work(document: Document) -> None:
        payload = identify(document, api, None if kind is None else kind.value)
        value = decode(payload, document) if payload.api == STORED else payload.value
        if payload.api == STORED and not isinstance(value, ChatRequest | ChatResponse):
            raise Problem("only stored requests and responses can be planned")
        source, source_kind = (None, None) if payload.api == STORED else (payload.api, payload.payload_kind)
        plans = plan_transcript(
            value, targets=target or None, source=source, kind=source_kind, models=models, policies=policies
        )
        if as_json:
            print_json(plans)
        else:
            _print(document, plans)

    load_all()
    source = open_source(path, "only requests and responses can be planned", api, None if kind is None else kind.value)
    raise typer.Exit(for_each(documents_of(source, "planning"), work))


def _print(document: Document, plans: Sequence[Plan]) -> None:
    console = out()
    if document.line is not None:
        console.print(f"line {document.line}", style="bold")
    for number, table in enumerate(_tables(plans, console.width)):
        if number:
            console.print()
        # The terminal breaks the lines if it is narrower than one target.
        out(_WIDE).print(table)
    console.print(explanation(), style="dim")
    for plan in plans:
        for violation in plan.violations:
            console.print(safe_text(f"{plan.target}: {violation}"), soft_wrap=True)


def _tables(plans: Sequence[Plan], width: int) -> Iterator[Table]:
    """Yield tables of the targets that fit the width, so that no cell is wrapped."""
    names = [_FIRST, _RULES, *(family for plan in plans for family in plan.families)]
    room = width - max(map(len, names)) - 1
    some: list[Plan] = []
    free = room
    for plan in plans:
        wide = max(len(line) for cell in _column(plan) for line in cell.plain.split("\n")) + 1
        if some and wide > free:
            yield _table(some)
            some, free = [], room
        some.append(plan)
        free -= wide
    yield _table(some)


def _column(plan: Plan) -> Iterator[Text]:
    """Yield the cells of a target."""
    yield safe_text(plan.target)
    yield from map(_counts, plan.families.values())
    yield Text(f"{plan.cost:g}")


def _table(plans: Sequence[Plan]) -> Table:
    # Narrow, so that three API ids fit in 80 columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(_FIRST, no_wrap=True)
    for plan in plans:
        table.add_column(safe_text(plan.target), no_wrap=True)
    for family in sorted({family for plan in plans for family in plan.families}):
        table.add_row(family, *(_counts(plan.families.get(family, {})) for plan in plans))
    table.add_section()
    table.add_row(_RULES, *(str(len(plan.violations) or "-") for plan in plans))
    table.add_row("cost", *(f"{plan.cost:g}" for plan in plans), style="bold")
    return table


def _counts(kinds: dict[str, int]) -> Text:
    counts = [Text(f"{kinds[kind]:,} {kind}", style=style) for kind, style in LOSS_STYLES.items() if kind in kinds]
    return Text("\n").join(counts) if counts else Text("-", style="dim")
