"""`contentmodel show`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.rule import Rule

from contentmodel.cli.console import out, safe_text
from contentmodel.cli.export import ConversationId, Upto
from contentmodel.cli.follow import show_stream
from contentmodel.cli.incoming import Stream
from contentmodel.cli.installed import check_api
from contentmodel.cli.options import From, In, Kind
from contentmodel.cli.pieces import Page, print_parts
from contentmodel.cli.read import Document, decode, for_each, identify, open_input
from contentmodel.cli.stores import check_no_store, check_store, is_store, show_store
from contentmodel.cli.transcript import transcript

Width = Annotated[
    int | None, typer.Option("--width", metavar="COLUMNS", min=20, help="Columns. Default: those of the terminal.")
]
Full = Annotated[bool, typer.Option("--full", help="Cut no long texts.")]


def show(
    path: In = None,
    api: From = None,
    kind: Kind = None,
    conversation: ConversationId = None,
    upto: Upto = None,
    width: Width = None,
    full: Full = False,
) -> None:
    """Show payloads as readable transcripts: any API's, or stored documents, or streams, or a store of conversations.

    On a terminal a stream is shown while it comes, each block as soon as it is complete and what grows below them.
    Calls stand with their results. Control characters of the content are shown as escapes.

    A store is a SQLite file or the URL of a PostgreSQL: without --conversation its conversations are listed.

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
    check_api(api, "--from")
    console = out(width)
    if path is not None and is_store(path):
        check_store({"--from": api, "--kind": kind})
        show_store(path, conversation, upto, console, Page(full))
        return
    check_no_store({"--conversation": conversation, "--upto": upto})

    def work(document: Document) -> None:
        payload = identify(document, api, None if kind is None else kind.value)
        value = decode(payload, document)
        where = "" if document.line is None else f"line {document.line} · "
        console.print(Rule(safe_text(f"{where}{payload.api} {payload.kind}", "bold")))
        print_parts(console, transcript(value, Page(full)))

    source = open_input(path, None if kind is None else kind.value)
    if isinstance(source, Stream):
        raise typer.Exit(show_stream(source, api, console, Page(full)))
    raise typer.Exit(for_each(source.documents, work))
