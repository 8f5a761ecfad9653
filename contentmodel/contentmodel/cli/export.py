"""`contentmodel export`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from contentmodel.cli.console import err
from contentmodel.cli.convert import convert_document, convert_value
from contentmodel.cli.errors import BAD_DOCUMENT, Problem, print_problem, problem_of
from contentmodel.cli.incoming import NAMED_BY_API, Stream, Turn, is_broken, read_turn, report_broken
from contentmodel.cli.installed import api_option, has_lines, points
from contentmodel.cli.losses import Tally, print_tally
from contentmodel.cli.options import From, Kind
from contentmodel.cli.order import Order
from contentmodel.cli.output import check_output, layout, open_output
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, Source, decode, for_each, identify, only_document, open_input
from contentmodel.cli.stores import (
    check_no_store,
    check_store,
    conversations,
    counted,
    file_of,
    is_store,
    open_store,
    read,
    the_only,
)
from contentmodel.events import Fold
from contentmodel.json import write as write_json
from contentmodel.losses import Loss
from contentmodel.serialize import dumps

if TYPE_CHECKING:
    from contentmodel.history import TurnStore

HTML, JSON, LINES, ROWS = "html", "json", "jsonl", "turn-blocks"
_BY_ENDING = {".html": HTML, ".htm": HTML, ".json": JSON, ".jsonl": LINES, ".ndjson": LINES}

SourcePath = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="A store (a SQLite file or postgresql://...), JSON, JSON Lines, or a stream. Default, or with -: "
        "standard input.",
        show_default=False,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="html, json, jsonl, turn-blocks, or an API. Default: by the suffix of --output, else html.",
        show_default=False,
    ),
]
ConversationId = Annotated[
    str | None, typer.Option("--conversation", "-c", metavar="ID", help="The id of a conversation in a store.")
]
Upto = Annotated[
    str | None,
    typer.Option(
        "--upto",
        metavar="TURN",
        help="The id of the last turn to read, e.g. the end of another branch. Default: the newest turn.",
    ),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="The output file. Default: standard output.")
]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The title of the HTML page.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the summary of losses and the progress.")]


def export(
    source: SourcePath = None,
    *,
    conversation: ConversationId = None,
    upto: Upto = None,
    to: To = None,
    output: Output = None,
    api: From = None,
    kind: Kind = None,
    title: Title = None,
    quiet: Quiet = False,
) -> None:
    """Export a conversation as an HTML page, as JSON, as rows, or as a request to an API.

    The formats: [bold]html[/bold] is one self-contained page without scripts; from a store it includes times,
    branches and the conversation log. [bold]json[/bold] is a stored document, as `convert --to contentmodel` writes
    it. [bold]jsonl[/bold] is one stored document per line: every conversation of a store, unless --conversation names
    one. [bold]turn-blocks[/bold] is the rows of a store, with ids and times. The id of an API writes a request to
    that API, and a summary of the losses to standard error.

    If a store has exactly one conversation, --conversation is optional. Opening a store migrates an older schema, and
    marks the unfinished turns of crashed writers; it changes nothing else.

    Exit codes: 0 exported; 2 bad input, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel export history.db --conversation trip -o trip.html
    contentmodel export history.db -o all.jsonl
    contentmodel export postgresql://localhost/chats -c trip --to json
    contentmodel export history.db -c trip --to anthropic-messages -o request.json
    contentmodel export history.db -c trip --to turn-blocks
    contentmodel export chat.json -o chat.html
    curl -N ... | contentmodel export --to html > answer.html
    """
    target = _format(to, output)
    api = api_option(api, "--from")
    check_output(output, [source], "--output")
    if title is not None and target != HTML:
        raise Problem(f"--title cannot be used with --to {target}; only a page has a title", hint="use --to html")
    order = Order(target, api, None if kind is None else kind.value, {}, "report", None, None, None, quiet)
    if source is not None and is_store(source):
        check_store({"--from": api, "--kind": kind})
        raise typer.Exit(_export_store(source, conversation, upto, order, output, title))
    check_no_store({"--conversation": conversation, "--upto": upto})
    opened = open_input(source, order.api, order.kind)
    if isinstance(opened, Stream):
        raise typer.Exit(_export_stream(opened, order, output, title))
    raise typer.Exit(_export_documents(opened, order, output, title))


def _format(to: str | None, output: str | None) -> str:
    if to is None:
        return _BY_ENDING.get(Path(output or "").suffix.lower(), HTML)
    if to not in (HTML, JSON, LINES):
        try:
            return api_option(to, "--to", stored=False)
        except Problem as problem:
            formats = ", ".join((HTML, JSON, LINES, *points()))
            raise Problem(f"--to: unknown format or API {to!r}", hint=f"use one of: {formats}") from problem
    return to


# -- stores ------------------------------------------------------------------------------------------------------------


def _export_store(
    path: str, conversation: str | None, upto: str | None, order: Order, output: str | None, title: str | None
) -> int:
    with open_store(path) as store:
        check_output(output, [file_of(path)], "--output")
        if upto is not None and conversation is None:
            raise Problem("--upto needs --conversation", hint="name the conversation with --conversation ID")
        if conversation is None and order.target == LINES:
            with open_output(output, source=file_of(path)) as write:
                for each in counted(conversations(store), "conversations exported", quiet=order.quiet):
                    write(layout(dumps(store.load(each.id)), pretty=False))
            return 0
        name = the_only(store, path) if conversation is None else conversation
        tally = Tally(documents=1)
        body = _stored_body(store, name, upto, order, title, tally)
        with open_output(output, source=file_of(path)) as write:
            write(body)
    _print(tally, order)
    return 0


def _stored_body(store: TurnStore, name: str, upto: str | None, order: Order, title: str | None, tally: Tally) -> bytes:
    if order.target == HTML:
        return _stored_page(store, name, upto, order, title)
    with _working(order.quiet):
        if order.target == ROWS:
            return layout(write_json(store.export(name, upto)), pretty=True)
        request = store.load(name, upto)
        if order.target in (JSON, LINES):
            return layout(dumps(request), pretty=order.target == JSON)
        return _converted(Document(dumps(request), name), order, tally)


def _stored_page(store: TurnStore, name: str, upto: str | None, order: Order, title: str | None) -> bytes:
    from contentmodel.history.log import ConversationLog

    stored = read(store, name, upto, quiet=order.quiet)
    entries = list(ConversationLog(store).stream(name))
    with _working(order.quiet):
        page_title = title or _title(entries) or name
        return _page(stored.request, turns=stored.turns, log=entries, branches=stored.every, title=page_title)


def _title(entries: list[Any]) -> str | None:
    titles = [entry.text for entry in entries if entry.kind == "title" and entry.text]
    return titles[-1] if titles else None


@contextmanager
def _working(quiet: bool) -> Iterator[None]:
    """Show a status line on a terminal while the body runs."""
    console = err()
    if quiet or not console.is_terminal:
        yield
        return
    with console.status("exporting"):
        yield


# -- documents and streams ---------------------------------------------------------------------------------------------


def _export_documents(source: Source, order: Order, output: str | None, title: str | None) -> int:
    tally = Tally()

    def work(document: Document) -> None:
        tally.documents += 1
        write(_body(document, order, title, tally))

    documents = documents_of(source, "exporting", quiet=order.quiet, prints=output in (None, "-"))
    if order.target != LINES:
        hint = "use --to jsonl for all of them, or sed -n 1p FILE | contentmodel export - for the first"
        documents = only_document(documents, order.target, hint)
    with open_output(output) as write:
        code = for_each(documents, work)
        if code and not source.is_lines:
            raise typer.Exit(code)
    _print(tally, order)
    return code


def _body(document: Document, order: Order, title: str | None, tally: Tally) -> bytes:
    if order.target not in (HTML, JSON, LINES):
        return _converted(document, order, tally)
    value = decode(identify(document, order.api, order.kind), document)
    return _value_body(value, order, title or Path(document.name).name)


def _value_body(value: Any, order: Order, title: str) -> bytes:
    if order.target == HTML:
        return _page(value, title=title)
    return layout(dumps(value), pretty=order.target == JSON)


def _page(value: Any, **options: Any) -> bytes:
    from contentmodel.html import page

    return page(value, **options).encode()


def _converted(document: Document, order: Order, tally: Tally) -> bytes:
    pieces, losses, _ = convert_document(document, order)
    return _laid_out(pieces, losses, document, order, tally)


def _laid_out(
    pieces: Iterable[bytes], losses: tuple[Loss, ...], document: Document, order: Order, tally: Tally
) -> bytes:
    tally.converted += 1
    tally.add(document, losses)
    body = b"".join(pieces)
    return body if has_lines(order.target) else layout(body, pretty=True)


def _print(tally: Tally, order: Order) -> None:
    if tally.converted and not order.quiet:
        print_tally(tally, err(), target=order.target, is_lines=False)


def _export_stream(stream: Stream, order: Order, output: str | None, title: str | None) -> int:
    """Export the response of a stream. If the stream is broken, export the received part."""
    try:
        turn = read_turn(stream, order.api)
        response = _fold(turn).response
        tally = Tally(documents=1)
        if order.target in (HTML, JSON, LINES):
            body = _value_body(response, order, title or Path(stream.name).name)
        else:
            pieces, losses, _ = convert_value(response, order, "$")
            body = _laid_out(pieces, losses, Document(b"", stream.name), order, tally)
        with open_output(output) as write:
            write(body)
    except BAD_DOCUMENT as fault:
        problem = problem_of(fault, stream.name, NAMED_BY_API)
        print_problem(problem)
        return problem.code
    _print(tally, order)
    error = response.error
    if error is not None and is_broken(turn, error):
        return report_broken(turn, error, "the part before the fault was exported")
    return 0


def _fold(turn: Turn) -> Fold:
    fold = Fold()
    for batch in turn.batches:
        for event in batch:
            fold.feed(event)
    return fold
