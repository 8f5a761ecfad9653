"""`contentmodel detect`."""

from __future__ import annotations

import typer

from contentmodel.cli.console import visible
from contentmodel.cli.installed import STORED
from contentmodel.cli.options import In
from contentmodel.cli.read import Document, decode, for_each, identify, open_source


def detect(path: In = None) -> None:
    """Say which API payloads are of, and whether they are requests or responses.

    Prints `API KIND` for a document; for JSON Lines the line number stands before it. Exit code 2 where a document
    is not recognised.

    \b
    [bold]Examples[/bold]
    contentmodel detect chat.json
    contentmodel detect log.jsonl | cut -d ' ' -f 2 | sort | uniq -c
    """

    def work(document: Document) -> None:
        payload = identify(document, None, None)
        if payload.api == STORED:
            decode(payload, document)
        number = "" if document.line is None else f"{document.line} "
        typer.echo(visible(f"{number}{payload.api} {payload.kind}"))

    raise typer.Exit(for_each(open_source(path).documents, work))
