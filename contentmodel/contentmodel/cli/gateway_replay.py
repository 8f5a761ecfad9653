"""`contentmodel gateway replay`: convert recorded requests to another API, and say what they would lose there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

import contentmodel
from contentmodel.cli.console import visible
from contentmodel.cli.errors import Problem
from contentmodel.display import count_of
from contentmodel.errors import DecodeError, EncodeError
from contentmodel.json import parse, write
from contentmodel.losses import significant

FOUND = 1

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of `--record`.")]
To = Annotated[str, typer.Option("--to", metavar="API", help="The API to convert the requests to.")]
Model = Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model. Default: the recorded one.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FOLDER", help="Write the converted requests to this folder.")
]


def replay(folder: Folder, to: To, model: Model = None, output: Output = None) -> None:
    """Convert the requests of a recorded session to another API, and print their losses and what it would refuse.

    Nothing is sent.

    Exit codes: 0 every request can be sent; 1 the API would refuse one, or one cannot be read; 2 a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel gateway --to openai-responses --model gpt-5.2 --record session --run claude
    contentmodel gateway replay session --to google-generate-content --model gemini-3-pro
    """
    if to not in contentmodel.adapters():
        from contentmodel.gateway.config import unknown

        raise Problem(f"--to: {unknown('API', to, contentmodel.adapters())}")
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise Problem(f"{folder}: no recorded requests", hint="record them: contentmodel gateway ... --record FOLDER")
    target = None
    if output is not None:
        from contentmodel.gateway.recording import private_folder

        target = private_folder(output)
    losses, refused = Counter[str](), 0
    for file in files:
        line, lost, is_refused = _replayed(file, to, model, target)
        losses.update(lost)
        refused += is_refused
        typer.echo(visible(f"{file.stem}: {line}"))
    shown = ", ".join(f"{code} {count:,}" for code, count in losses.most_common()) or "none"
    typer.echo(f"{count_of(len(files), 'request')}, {refused} that {to} would refuse; losses: {shown}")
    if refused:
        raise typer.Exit(FOUND)


def _replayed(file: Path, to: str, model: str | None, target: Path | None) -> tuple[str, Counter[str], bool]:
    """Return the line of a request, its losses by code, and whether it cannot be sent."""
    try:
        value: Any = parse(file.read_bytes())
        report, body = value["report"], parse(value["client"]["request"]["text"])
    except (OSError, DecodeError, KeyError, TypeError):
        return "not a recorded request", Counter(), True
    name = model or report.get("upstream_model") or report.get("model")
    try:
        converted = contentmodel.convert(body, source=report["client_api"], target=to, kind="request", model=name)
    except (DecodeError, EncodeError) as error:
        return str(error), Counter(), True
    if target is not None:
        (target / file.name).write_bytes(write(converted.payload))
    lost = Counter(loss.code for loss in significant(converted.losses))
    found = contentmodel.check(converted.payload, api=to, model=name)
    rules = ", ".join(sorted({violation.rule for violation in found if violation.severity == "refused"}))
    shown = ", ".join(f"{code} {count}" for code, count in lost.most_common()) or "nothing lost"
    return f"{shown}; refused: {rules}" if rules else shown, lost, bool(rules)
