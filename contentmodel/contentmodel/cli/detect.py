"""`contentmodel detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from contentmodel.cli.console import visible
from contentmodel.cli.errors import BAD_DOCUMENT, Problem, print_problem, problem_of
from contentmodel.cli.incoming import STREAM, Stream, read_turn
from contentmodel.cli.installed import STORED
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, decode, for_each, identify, open_input

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="JSON, JSON Lines, or a stream; - is standard input, which is also read when something is piped in.",
        show_default=False,
    ),
]


def detect(paths: Files = None) -> None:
    """Say which API payloads are of, and whether they are requests, responses or streams.

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
        source = open_input(path)
        if isinstance(source, Stream):
            return _detect_stream(source, named=named)
        return for_each(documents_of(source, "detecting"), work, way="")
    except BrokenPipeError:
        raise
    except (Problem, OSError) as error:
        problem = problem_of(error)
        print_problem(problem)
        return problem.code


def _detect_stream(stream: Stream, *, named: bool) -> int:
    """Said as soon as an event tells: the rest of the stream is not awaited."""
    try:
        api = read_turn(stream, None).api
    except BAD_DOCUMENT as error:
        problem = problem_of(error, stream.name, "")
        print_problem(problem)
        return problem.code
    typer.echo(visible(" ".join((*([stream.name] if named else []), api, STREAM))))
    return 0
