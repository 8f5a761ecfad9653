"""Stores as input: recognize a store, open it without creating one, and read it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import msgspec
from rich.rule import Rule
from rich.text import Text

from contentmodel.cli.console import Terminal, err, safe_text, visible
from contentmodel.cli.errors import Problem
from contentmodel.cli.pieces import Page
from contentmodel.cli.transcript import transcript
from contentmodel.errors import ContentModelError, MissingExtraError
from contentmodel.request import ChatRequest

if TYPE_CHECKING:
    from sqlalchemy import URL

    from contentmodel.history import Conversation, StoredTurn, Turn, TurnStore

T = TypeVar("T")
_MAGIC = b"SQLite format 3\0"
_TABLE = "contentmodel_schema"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PAGE = 200
_MANY = 200
_NAMED = 5


class StoredConversation(msgspec.Struct, frozen=True):
    """A conversation that was read: its transcript, its turns, and the turns of all branches (`every`)."""

    id: str
    request: ChatRequest
    turns: list[StoredTurn]
    every: list[Turn]

    @property
    def ends(self) -> list[Turn]:
        """Return the last turns of the other branches."""
        followed = {turn.previous for turn in self.every} | {part.turn.id for part in self.turns}
        return [turn for turn in self.every if turn.id not in followed]


def is_store(path: str | None) -> bool:
    """Return whether an input is a store: the URL of a database, or a SQLite file."""
    if path is None or path == "-":
        return False
    if not os.path.isfile(path):
        return not os.path.exists(path) and _URL.match(path) is not None
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_no_store(options: dict[str, object]) -> None:
    """Raise Problem if an option needs a store; the input is not a store."""
    for option, value in options.items():
        if value is not None:
            raise Problem(
                f"{option} needs a store, but the input is not a store", hint="name a SQLite file or a database URL"
            )


def check_store(options: dict[str, object]) -> None:
    """Raise Problem if an option needs documents; the input is a store."""
    for option, value in options.items():
        if value is not None:
            raise Problem(f"{option} cannot be used with a store", hint=f"remove {option}")


@contextmanager
def open_store(path: str, *, create: bool = False) -> Iterator[TurnStore]:
    """Open the store at a path or URL. Raise Problem if there is none, unless `create`. Passwords are not printed.

    Opening migrates an older schema, and marks the unfinished turns of crashed writers.
    """
    from contentmodel.history import TurnStore

    name = without_password(path)
    try:
        url = _url(path)
        _refuse_in_memory(url)
        if create and url.get_backend_name() == "sqlite":
            _check_new_file(str(url.database), name)
        if not create and not _has_store(url):
            hint = "stores are created with contentmodel.history, e.g. TurnStore.open(path)"
            raise Problem(f"{name}: this database is not a store of conversations", hint=hint)
        with TurnStore.open(path) as store:
            yield store
    except MissingExtraError:
        raise
    except ContentModelError as error:
        hint = f"`contentmodel show {name}` lists the conversations" if isinstance(error, LookupError) else ""
        raise Problem(f"{name}: {' '.join(str(error).split())}", hint=hint) from None


def _check_new_file(path: str, name: str) -> None:
    """Raise Problem or OSError if a SQLite file cannot be created or opened at a path."""
    os.stat(Path(path).parent)
    if os.path.isdir(path):
        raise Problem(f"{name}: is a folder", hint="name a file in it")
    if os.path.exists(path) and os.path.getsize(path) and not is_store(path):
        raise Problem(f"{name}: the file exists, and is not a SQLite database", hint="name a new file, or a store")


def without_password(path: str) -> str:
    """Return the name of a store without the password of its URL."""
    if not _URL.match(path):
        return path
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", re.sub(r"(?<=://).*@", "***@", path))


def file_of(path: str) -> str | None:
    """Return the file of a SQLite store, else None."""
    url = _url(path)
    return url.database if url.get_backend_name() == "sqlite" else None


def _url(path: str) -> URL:
    from contentmodel.history.engines import url_of

    try:
        return url_of(path, is_async=False)
    except ValueError as error:
        raise Problem(f"{without_password(path)}: not the URL of a database: {error}") from None


def _refuse_in_memory(url: URL) -> None:
    from contentmodel.history.engines import is_in_memory

    if is_in_memory(url):
        raise Problem("an in-memory database is always empty", hint="name a SQLite file or the URL of a database")


def _has_store(url: URL) -> bool:
    """Return whether the database is a store, without changing it."""
    from contentmodel.history.common import translated_errors
    from contentmodel.history.engines import BUSY, make_engine

    if url.get_backend_name() == "sqlite":
        return _has_table(str(url.database))
    from sqlalchemy import inspect

    engine = make_engine(url, BUSY)
    try:
        with translated_errors():
            return inspect(engine).has_table(_TABLE)
    finally:
        engine.dispose()


def _has_table(path: str) -> bool:
    os.stat(path)
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        try:
            rows = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (_TABLE,))
            return rows.fetchone() is not None
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise Problem(f"{Path(path).name}: cannot be read as a SQLite database: {error}") from None


# -- reading -----------------------------------------------------------------------------------------------------------


def conversations(store: TurnStore) -> Iterator[Conversation]:
    """Yield every conversation, in the order of creation."""
    after: Conversation | None = None
    while page := store.conversations(_PAGE, after):
        yield from page
        after = page[-1]


def every_turn(store: TurnStore, conversation: str) -> Iterator[Turn]:
    """Yield every turn of a conversation, on all branches."""
    after: Turn | None = None
    while page := store.turns(conversation, _PAGE, after):
        yield from page
        after = page[-1]


def read(store: TurnStore, conversation: str, upto: str | None, *, quiet: bool = False) -> StoredConversation:
    """Read a conversation up to a turn, by default the newest. Raise NotFoundError if it does not exist."""
    every = list(every_turn(store, conversation))
    turns = list(counted(store.stream(conversation, upto), "turns read", quiet=quiet))
    request = store.load(conversation, turns[0].turn) if turns else store.load(conversation)
    messages = [message for part in turns for message in part.messages]
    return StoredConversation(conversation, msgspec.structs.replace(request, messages=messages), turns, every)


def counted(items: Iterable[T], doing: str, *, quiet: bool = False) -> Iterator[T]:
    """Yield the items, and show their number on a terminal if there are many."""
    console = err()
    if quiet or not console.is_terminal:
        yield from items
        return
    status = None
    try:
        for count, item in enumerate(items, 1):
            if count == _MANY:
                status = console.status("")
                status.start()
            if status is not None and count % _MANY == 0:
                status.update(f"{count:,} {doing}")
            yield item
    finally:
        if status is not None:
            status.stop()


def the_only(store: TurnStore, name: str) -> str:
    """Return the only conversation of a store. Raise Problem if it has none or several."""
    first = store.conversations(_NAMED + 1)
    if len(first) == 1:
        return first[0].id
    if not first:
        raise Problem(f"{name}: the store has no conversations")
    names = tuple(conversation.id for conversation in first[:_NAMED])
    more = ("...",) if len(first) > _NAMED else ()
    hint = "choose one with --conversation ID, or export all with --to jsonl"
    raise Problem(f"{name}: the store has several conversations", (*names, *more), hint)


# -- showing -----------------------------------------------------------------------------------------------------------


def show_store(path: str, conversation: str | None, upto: str | None, console: Terminal, page: Page) -> None:
    """List the conversations of a store, or show one of them."""
    if upto is not None and conversation is None:
        raise Problem("--upto needs --conversation", hint="name the conversation with --conversation ID")
    with open_store(path) as store:
        if conversation is None:
            _list(store, console)
        else:
            _show(read(store, conversation, upto), console, page)


def _list(store: TurnStore, console: Terminal) -> None:
    count = 0
    for count, conversation in enumerate(conversations(store), 1):
        if count == 1:
            head = f"{'turns':>7}  {'created (UTC)':<19}  {'changed (UTC)':<19}  conversation"
            console.print(Text(head, style="bold"), soft_wrap=True)
        line = Text(f"{conversation.turns:>7,}  ").append(f"{conversation.created_at:%Y-%m-%d %H:%M:%S}  ", style="dim")
        line.append(f"{conversation.updated_at:%Y-%m-%d %H:%M:%S}  ", style="dim").append_text(
            safe_text(conversation.id)
        )
        console.print(line, soft_wrap=True)
    if not count:
        console.print("no conversations", style="dim")


def _show(stored: StoredConversation, console: Terminal, page: Page) -> None:
    console.print(Rule(safe_text(f"conversation {stored.id}", "bold")))
    for part in transcript(stored.request, page):
        console.print(part)
    unfinished = [part.turn for part in stored.turns if part.turn.status != "complete"]
    if unfinished or stored.ends:
        console.print()
    for turn in unfinished:
        reason = f": {turn.error.message}" if turn.error is not None else ""
        console.print(safe_text(f"turn {turn.number} ({turn.role}) is {turn.status}{reason}", "red"), soft_wrap=True)
    for turn in stored.ends:
        note = f"another branch ends with turn {turn.number}; --upto {turn.id} shows it"
        console.print(Text(visible(note), style="dim"), soft_wrap=True)
