"""Damaged databases: a store reads any file or row or raises HistoryError, and never hangs."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table

from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    TextContent,
    Usage,
)
from contentmodel.history import (
    AsyncConversationLog,
    AsyncTurnStore,
    ConversationLog,
    DamagedError,
    HistoryError,
    SchemaError,
    TurnStore,
)
from contentmodel.history.migrations import SCHEMA
from contentmodel.history.tables import METADATA

ORIGIN = Origin(api="openai-chat", issuer="openai", model="m")
CALL = FunctionCallContent(call_id="1", name="weather", arguments={"city": "Oslo"})
RESULT = FunctionResultContent(call_id="1", outputs=[TextContent(text="Sunny. " * 400)])
TABLES: list[Table] = [*METADATA.sorted_tables, SCHEMA]
ODD: list[Any] = [None, 0, -1, 7, 2**62, 1.5, "", "x", "{", "[]", "{}", "[1]", "null", '"x"', '{":json": 1}']
ODD += ['{":json": "{"}', '{":row": 1}', "\ufdd0{", "\ufdd01", b"", b"\xff\xfe", b"x" * 3000, "2026-13-45 99:00:00"]


@pytest.fixture(scope="session")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a conversation, an open turn, an interrupted one and a log."""
    path = tmp_path_factory.mktemp("sound") / "turns.db"
    with TurnStore.open(path) as store:
        messages = [ChatMessage(role="user", contents=[TextContent(text=f"Hello {n} \0")]) for n in range(20)]
        store.save("c", ChatRequest(messages=messages, options=ChatOptions(temperature=0.5), origin=ORIGIN))
        turn = store.begin_turn("c", "assistant", model="m", origin=ORIGIN)
        for sequence, content in enumerate([CALL, RESULT, TextContent(text="\ud83d")]):
            store.put_block(turn, sequence, content)
        store.end_turn(turn, status="failed", usage=Usage(input_tokens=3), error=ErrorContent(message="no"))
        log = ConversationLog(store)
        entry = log.add("c", "title", "Weather", {"a": [1, 2]}, turn)
        log.add("c", "note", None, [CALL], parent=entry)
        store.begin_turn("c", "assistant", previous=turn)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def deep() -> bool:
    """Return whether to try everything instead of a sample."""
    return os.environ.get("CONTENTMODEL_PROFILE") == "deep"


@pytest.fixture
def damaged(intact: Path, tmp_path: Path) -> Path:
    """A copy of the database. Tests damage it."""
    return Path(shutil.copy(intact, tmp_path / "turns.db"))


def work(store: TurnStore) -> Iterator[Callable[[], Any]]:
    """Return every operation that reads, or reads before it writes."""
    log = ConversationLog(store)
    yield from (
        lambda: store.load("c"),
        lambda: store.export("c"),
        lambda: list(store.stream("c")),
        lambda: [store.turn(turn) for turn in store.turns("c")],
        lambda: [store.blocks(turn) for turn in store.turns("c")],
        lambda: [store.load("c", upto=turn) for turn in store.turns("c")[-2:]],
        lambda: store.conversation("c"),
        lambda: store.conversations(),
        lambda: store.interrupted(),
        lambda: [log.entry(entry) for entry in log.entries("c")],
        lambda: list(log.stream("c", kinds=["title"])),
        lambda: log.add("c", "note", "more"),
        lambda: store.add_turn("c", "user", [TextContent(text="More.")]),
        lambda: _write_a_turn(store),
        lambda: store.recover(),
        lambda: [store.delete_turn(turn) for turn in store.turns("c")[-1:]],
        lambda: store.delete("c"),
    )


def _write_a_turn(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    store.put_block(turn, 0, TextContent(text="x"))
    store.put_block(turn, 0, TextContent(text="x"))
    store.describe_turn(turn, model="m")
    store.end_turn(turn)


def use(path: Path) -> None:
    """Call every operation of a store. Suppress only HistoryError."""
    with suppress(HistoryError), TurnStore.open(path) as store:
        for operation in work(store):
            with suppress(HistoryError):
                operation()


async def use_async(path: Path) -> None:
    """Call some operations asynchronously: they share their implementation with the synchronous ones."""
    with suppress(HistoryError):
        async with await AsyncTurnStore.open(path) as store:
            log = AsyncConversationLog(store)
            for operation in (
                lambda: store.load("c"),
                lambda: store.export("c"),
                lambda: store.turns("c"),
                lambda: store.conversations(),
                lambda: store.interrupted(),
                lambda: log.entries("c"),
                lambda: log.add("c", "note", "more"),
                lambda: store.add_turn("c", "user", [TextContent(text="More.")]),
                lambda: store.delete("c"),
            ):
                with suppress(HistoryError):
                    await operation()


# -- bytes -------------------------------------------------------------------------------------------------------------


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 4, 30, 200))):
        data[chance.randrange(len(data))] = chance.randrange(256)


def overwrite(data: bytearray, chance: random.Random) -> None:
    at, size = chance.randrange(len(data)), chance.choice((16, 400, 4096))
    data[at : at + size] = chance.choice((bytes(size), chance.randbytes(size), bytes(data[:size])))


def truncate(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


@pytest.mark.parametrize("damage", [flip, overwrite, truncate])
def test_store_with_damaged_file_raises_only_history_errors(
    intact: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], None], deep: bool
) -> None:
    for seed in range(1_000 if deep else 12):
        data = bytearray(intact.read_bytes())
        damage(data, random.Random(f"{damage.__name__} {seed}"))
        path = tmp_path / f"{seed}.db"
        path.write_bytes(data)
        if seed % 4:
            use(path)
        else:
            asyncio.run(use_async(path))
        path.unlink()


# -- rows --------------------------------------------------------------------------------------------------------------


def put(path: Path, table: str, column: str, value: Any) -> bool:
    """Write a value into a column of every row without checks. Return whether the database accepted it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        with suppress(sqlite3.Error), connection:
            connection.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (value,))
            return True
    return False


COLUMNS = [(table.name, column.name) for table in TABLES for column in table.c]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(COLUMNS)), ids=[".".join(names) for names in COLUMNS])
def test_store_with_any_value_in_any_column_raises_only_history_errors(
    intact: Path, tmp_path: Path, place: int, deep: bool
) -> None:
    # In the quick profile, each column gets some of the values, and the next column others.
    for number, value in enumerate(ODD if deep else ODD[place % 6 :: 6]):
        path = Path(shutil.copy(intact, tmp_path / f"{number}.db"))
        if put(path, *COLUMNS[place], value):
            use(path)
            if not number:
                asyncio.run(use_async(path))


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("turns", "usage", "{", r"turns\.db: the row with id '\w+' of turns: the column usage cannot be read"),
        ("turns", "started_at", 5, "of turns: the column started_at cannot be read: expected str, got int"),
        ("turns", "role", b"user", "of turns: the column role is damaged: expected str, got bytes"),
        ("turns", "layout", "{}", "of turns: the column layout is damaged: expected list, got dict"),
        ("turns", "layout", "[[]]", "of turns cannot be read"),
        ("turn_blocks", "rest", "[1]", "of turn_blocks: the column rest is damaged: expected dict, got list"),
        ("turn_blocks", "text_content", b"\xff", "turn .*, sequence .* of turn_blocks: the column text_content"),
        ("conversations", "settings", "[]", "the row with id 'c' of conversations: the column settings is damaged"),
        ("conversations", "settings", '{"request": [1]}', "the row with id 'c' of conversations cannot be read"),
    ],
)
def test_damaged_error_names_store_table_row_and_column(
    damaged: Path, table: str, column: str, value: Any, message: str
) -> None:
    assert put(damaged, table, column, value)
    with TurnStore.open(damaged) as store, pytest.raises(DamagedError, match=message) as raised:
        store.load("c")
    assert str(damaged) in str(raised.value)

    async def load() -> None:
        async with await AsyncTurnStore.open(damaged) as store:
            await store.load("c")

    with pytest.raises(DamagedError, match=message) as raised:
        asyncio.run(load())
    assert str(damaged) in str(raised.value)


def test_store_reads_turns_with_circular_references(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DROP INDEX turns_follow_once")
        connection.execute("UPDATE turns SET previous = id WHERE number = 3")
    with TurnStore.open(damaged) as store:
        assert len(store.load("c").messages) >= 1
        assert store.delete_turn(store.turns("c")[-1]) == 1


@pytest.mark.parametrize("version", ["x", -3, None])
def test_store_rejects_invalid_schema_version(damaged: Path, version: Any) -> None:
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DROP TABLE contentmodel_schema")
        connection.execute("CREATE TABLE contentmodel_schema (version INTEGER)")
        connection.execute("INSERT INTO contentmodel_schema VALUES (?)", (version,))
    with pytest.raises(SchemaError, match="has the version"):
        TurnStore.open(damaged)


@pytest.mark.parametrize("name", ["half \ud83d", "\udfff"])
def test_store_raises_history_error_for_name_with_lone_surrogate(damaged: Path, name: str) -> None:
    with TurnStore.open(damaged) as store:
        for ask in (store.load, store.turn, store.blocks, store.conversation, store.delete, store.delete_turn):
            with pytest.raises(HistoryError):
                ask(name)  # type: ignore[operator]
