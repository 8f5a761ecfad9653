"""`contentmodel show`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.rule import Rule

from contentmodel.cli.console import out, safe_text
from contentmodel.cli.export import ConversationId, Upto
from contentmodel.cli.follow import show_stream
from contentmodel.cli.incoming import Stream
from contentmodel.cli.installed import api_option
from contentmodel.cli.options import From, In, Kind
from contentmodel.cli.pieces import Page, print_parts
from contentmodel.cli.read import Document, decode, for_each, identify, open_input
from contentmodel.cli.stores import check_no_store, check_store, is_store, show_store
from contentmodel.cli.transcript import transcript

Width = Annotated[
    int | None,
    typer.Option(
        "--width", metavar="COLUMNS", min=20, help="The width of the output. Default: the width of the terminal."
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print long texts completely.")]


def show(
    path: In = None,
    api: From = None,
    kind: Kind = None,
    conversation: ConversationId = None,
    upto: Upto = None,
    width: Width = None,
    full: Full = False,
) -> None:
    """Show payloads of any API, stored documents, streams and stores as readable transcripts.

    Each tool call is shown together with its result. Long texts are cut; --full prints them completely. Control
    characters of the content are printed as escapes.

    On a terminal, a stream is shown while it arrives: complete blocks first, then the last lines of open blocks.

    A store is a SQLite file or the URL of a PostgreSQL database. Without --conversation, its conversations are listed.

    Exit codes: 0 shown; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel show chat.json
    contentmodel show log.jsonl --full | less -R
    contentmodel show response.json --from openai-responses --kind response
    curl -N ... | contentmodel show
    contentmodel show history.db
    contentmodel show history.db --conversation trip
    contentmodel show postgresql://localhost/chats
    """
    api = api_option(api, "--from")
    console = out(width)
    if path is not None and is_store(path):
        check_store({"--from": api, "--kind": kind})
        show_store(path, conversation, upto, console, Page(full))
        return
    check_no_store({"--conversation": conversation, "--upto": upto})

    def work(document: Document) -> None:
        payload = identify(document, api, None if kind is None else kind.value)
        value = decode(payload, document)
        prefix = "" if document.line is None else f"line {document.line} · "
        console.print(Rule(safe_text(f"{prefix}{payload.api} {payload.kind}", "bold")))
        print_parts(console, transcript(value, Page(full)))

    source = open_input(path, api, None if kind is None else kind.value)
    if isinstance(source, Stream):
        raise typer.Exit(show_stream(source, api, console, Page(full)))
    raise typer.Exit(for_each(source.documents, work))
