"""`contentmodel detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from contentmodel.cli.console import visible
from contentmodel.cli.errors import Problem, print_problem, problem_of
from contentmodel.cli.installed import STORED
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, decode, for_each, identify, open_source

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="JSON or JSON Lines; - is standard input, which is also read when something is piped in.",
        show_default=False,
    ),
]


def detect(paths: Files = None) -> None:
    """Say which API payloads are of, and whether they are requests or responses.

    Prints `API KIND` for a document; for JSON Lines the line number stands before it. Of several files the name comes
    first: `FILE API KIND`, `FILE:LINE API KIND`. Exit code 2 where a document is not recognised.

    \b
    [bold]Examples[/bold]
    contentmodel detect chat.json
    contentmodel detect *.json
    contentmodel detect log.jsonl | cut -d ' ' -f 2 | sort | uniq -c
    """
    files: list[str | None] = [*paths] if paths else [None]
    raise typer.Exit(max([_detect_in(path, named=len(files) > 1) for path in files]))


def _detect_in(path: str | None, *, named: bool) -> int:
    """What one file holds; a file that cannot be read does not lose the others. Gives the exit code."""

    def work(document: Document) -> None:
        payload = identify(document, None, None)
        if payload.api == STORED:
            decode(payload, document)
        place = [document.name] if named else []
        place += [] if document.line is None else [str(document.line)]
        typer.echo(visible(" ".join(filter(None, (":".join(place), payload.api, payload.kind)))))

    try:
        return for_each(documents_of(open_source(path), "detecting"), work, way="")
    except BrokenPipeError:
        raise
    except (Problem, OSError) as error:
        problem = problem_of(error)
        print_problem(problem)
        return problem.code
