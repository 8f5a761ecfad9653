"""`contentmodel detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from contentmodel.cli.console import visible
from contentmodel.cli.errors import BAD_DOCUMENT, Problem, print_problem, problem_of
from contentmodel.cli.incoming import STREAM, Stream, find_api
from contentmodel.cli.installed import STORED
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, decode, for_each, identify, open_input

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="JSON, JSON Lines, or a stream. Default, or with -: standard input.",
        show_default=False,
    ),
]


def detect(paths: Files = None) -> None:
    """Detect the API and the kind (request, response or stream) of payloads.

    Prints `API KIND` for a document, and `LINE API KIND` for each document of a JSON Lines file. With several files,
    each line begins with the file: `FILE API KIND`, `FILE:LINE API KIND`.

    Exit codes: 0 all documents were recognized; 2 a document was not recognized, bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel detect chat.json
    contentmodel detect *.json
    contentmodel detect log.jsonl | cut -d ' ' -f 2 | sort | uniq -c
    """
    files: list[str | None] = [*paths] if paths else [None]
    raise typer.Exit(max([_detect_in(path, named=len(files) > 1) for path in files]))


def _detect_in(path: str | None, *, named: bool) -> int:
    """Print the documents of one file. Report an unreadable file and continue. Return the exit code."""

    def work(document: Document) -> None:
        prefix = [document.name] if named else []
        prefix += [] if document.line is None else [str(document.line)]
        typer.echo(visible(" ".join(filter(None, (":".join(prefix), *_detect_document(document))))))

    try:
        source = open_input(path, None, folds=False)
        if isinstance(source, Stream):
            return _detect_stream(source, named=named)
        return for_each(documents_of(source, "detecting"), work, options="")
    except BrokenPipeError:
        raise
    except (Problem, OSError) as error:
        problem = problem_of(error)
        print_problem(problem)
        return problem.code


def _detect_document(document: Document) -> tuple[str, str]:
    """Return the API and the kind of a document."""
    if document.api is not None:
        return document.api, "request"
    payload = identify(document, None, None)
    if payload.api == STORED:
        decode(payload, document)
    return payload.api, payload.kind


def _detect_stream(stream: Stream, *, named: bool) -> int:
    """Print the API as soon as an event identifies it, without reading the rest of the stream."""
    try:
        api = find_api(stream)[0]
    except BAD_DOCUMENT as error:
        problem = problem_of(error, stream.name, "")
        print_problem(problem)
        return problem.code
    typer.echo(visible(" ".join((*([stream.name] if named else []), api, STREAM))))
    return 0
