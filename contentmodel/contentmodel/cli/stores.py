"""Stores as input: which paths are one, opening it without making one, and what is in it."""

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
from contentmodel.errors import ContentModelError
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
    """A conversation as it was read: its transcript, the turns of it, and all turns there are, on every branch."""

    id: str
    request: ChatRequest
    turns: list[StoredTurn]
    every: list[Turn]

    @property
    def ends(self) -> list[Turn]:
        """The turns that other branches end with."""
        followed = {turn.previous for turn in self.every} | {part.turn.id for part in self.turns}
        return [turn for turn in self.every if turn.id not in followed]


def is_store(path: str | None) -> bool:
    """Whether an input is a store: the URL of a database, or a SQLite file."""
    if path is None or path == "-":
        return False
    if not os.path.isfile(path):
        return not os.path.exists(path) and _URL.match(path) is not None
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_no_store(options: dict[str, object]) -> None:
    """Problem where an option is for stores, and the input is none."""
    for option, value in options.items():
        if value is not None:
            raise Problem(f"{option}: it is for a store, and the input is none", hint="name a SQLite file or a URL")


def check_store(options: dict[str, object]) -> None:
    """Problem where an option is for documents, and the input is a store."""
    for option, value in options.items():
        if value is not None:
            raise Problem(f"{option}: it is for documents, and the input is a store", hint="leave it out")


@contextmanager
def open_store(path: str) -> Iterator[TurnStore]:
    """The store at a path or URL. Problem where there is none: reading makes no store. Passwords are not repeated.

    Opening a store of an older version brings it up to date, and marks the turns of writers that have died.
    """
    try:
        from contentmodel.history import TurnStore
    except ImportError as error:
        raise _missing(error) from None
    name = _without_password(path)
    try:
        url = _url(path)
        if not _has_store(url):
            raise Problem(f"{name}: a database, and no store of conversations", hint="contentmodel.history makes one")
        with TurnStore.open(path) as store:
            yield store
    except ImportError as error:
        raise _missing(error) from None
    except ContentModelError as error:
        hint = f"contentmodel show {name} lists the conversations" if isinstance(error, LookupError) else ""
        raise Problem(f"{name}: {' '.join(str(error).split())}", hint=hint) from None


def _without_password(path: str) -> str:
    if not _URL.match(path):
        return path
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", re.sub(r"(?<=://).*@", "***@", path))


def file_of(path: str) -> str | None:
    """The file that a store is kept in, where it is one."""
    url = _url(path)
    return url.database if url.get_backend_name() == "sqlite" else None


def _url(path: str) -> URL:
    from contentmodel.history.engines import url_of

    try:
        return url_of(path, is_async=False)
    except ValueError as error:
        raise Problem(f"{_without_password(path)}: no URL of a database: {error}") from None


def _missing(error: ImportError) -> Problem:
    extra = "postgresql" if (error.name or "").startswith("psycopg") else "history"
    return Problem(f"reading a store needs {error.name}", hint=f'pip install "contentmodel[{extra}]"')


def _has_store(url: URL) -> bool:
    """Whether there is a store, found out in a way that changes nothing."""
    from contentmodel.history.common import told_plainly
    from contentmodel.history.engines import BUSY, is_in_memory, make_engine

    if is_in_memory(url):
        raise Problem("a database in memory is empty", hint="name a SQLite file or the URL of a database")
    if url.get_backend_name() == "sqlite":
        return _has_table(str(url.database))
    from sqlalchemy import inspect

    engine = make_engine(url, BUSY)
    try:
        with told_plainly():
            return inspect(engine).has_table(_TABLE)
    finally:
        engine.dispose()


def _has_table(path: str) -> bool:
    os.stat(path)
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        try:
            found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (_TABLE,))
            return found.fetchone() is not None
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise Problem(f"{Path(path).name}: cannot be read as a SQLite database: {error}") from None


# -- reading -----------------------------------------------------------------------------------------------------------


def conversations(store: TurnStore) -> Iterator[Conversation]:
    """Every conversation, in the order in which they were begun."""
    after: Conversation | None = None
    while page := store.conversations(_PAGE, after):
        yield from page
        after = page[-1]


def every_turn(store: TurnStore, conversation: str) -> Iterator[Turn]:
    """Every turn of a conversation, on all its branches."""
    after: Turn | None = None
    while page := store.turns(conversation, _PAGE, after):
        yield from page
        after = page[-1]


def read(store: TurnStore, conversation: str, upto: str | None, *, quiet: bool = False) -> StoredConversation:
    """A conversation up to a turn, by default to the one that began last. NotFoundError."""
    every = list(every_turn(store, conversation))
    turns = list(counted(store.stream(conversation, upto), "turns read", quiet=quiet))
    request = store.load(conversation, turns[0].turn) if turns else store.load(conversation)
    messages = [message for part in turns for message in part.messages]
    return StoredConversation(conversation, msgspec.structs.replace(request, messages=messages), turns, every)


def counted(items: Iterable[T], doing: str, *, quiet: bool = False) -> Iterator[T]:
    """The items, and how many there were so far where a terminal shows it and there are many."""
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
    """The conversation of a store that has one. Problem where it has none, or others."""
    found = store.conversations(_NAMED + 1)
    if len(found) == 1:
        return found[0].id
    if not found:
        raise Problem(f"{name}: it has no conversations yet")
    names = tuple(conversation.id for conversation in found[:_NAMED])
    more = ("...",) if len(found) > _NAMED else ()
    hint = "--conversation ID names one, and --to jsonl takes all"
    raise Problem(f"{name}: it has several conversations", (*names, *more), hint)


# -- showing -----------------------------------------------------------------------------------------------------------


def show_store(path: str, conversation: str | None, upto: str | None, console: Terminal, page: Page) -> None:
    """Lists the conversations of a store, or shows one of them."""
    if upto is not None and conversation is None:
        raise Problem("--upto: a turn of which conversation?", hint="name it with --conversation ID")
    with open_store(path) as store:
        if conversation is None:
            _list(store, console)
        else:
            _show(read(store, conversation, upto), console, page)


def _list(store: TurnStore, console: Terminal) -> None:
    count = 0
    for count, found in enumerate(conversations(store), 1):
        if count == 1:
            head = f"{'turns':>7}  {'begun':<19}  {'changed (UTC)':<19}  conversation"
            console.print(Text(head, style="bold"), soft_wrap=True)
        line = Text(f"{found.turns:>7,}  ").append(f"{found.created_at:%Y-%m-%d %H:%M:%S}  ", style="dim")
        line.append(f"{found.updated_at:%Y-%m-%d %H:%M:%S}  ", style="dim").append_text(safe_text(found.id))
        console.print(line, soft_wrap=True)
    if not count:
        console.print("no conversations", style="dim")


def _show(told: StoredConversation, console: Terminal, page: Page) -> None:
    console.print(Rule(safe_text(f"conversation {told.id}", "bold")))
    for part in transcript(told.request, page):
        console.print(part)
    unfinished = [part.turn for part in told.turns if part.turn.status != "complete"]
    if unfinished or told.ends:
        console.print()
    for turn in unfinished:
        why = f": {turn.error.message}" if turn.error is not None else ""
        console.print(safe_text(f"turn {turn.number} ({turn.role}) is {turn.status}{why}", "red"), soft_wrap=True)
    for turn in told.ends:
        said = f"another branch ends with turn {turn.number}: --upto {turn.id} shows it"
        console.print(Text(visible(said), style="dim"), soft_wrap=True)
