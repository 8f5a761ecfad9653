"""The conversation log on both databases: entries are kept in order, separate from the turns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlalchemy")

import sqlalchemy

from conftest import DATABASES
from contentmodel import ChatMessage, ChatRequest, ChatResponse, ErrorContent, TextContent, Usage
from contentmodel.client import ClientError
from contentmodel.events import BlockStart, BlockStop, Notice, TurnComplete, TurnStart
from contentmodel.history import (
    AsyncTurnStore,
    ConflictError,
    HistoryError,
    NotFoundError,
    TurnStore,
    migrations,
    record,
)
from contentmodel.history.log import ConversationLog, InvalidEntryError, LogEntry, record_notices
from contentmodel.history.log_async import AsyncConversationLog, arecord_notices
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.sdk import json_values
from scripted import AsyncScripted, Scripted, answer

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def text(value: str) -> TextContent:
    return TextContent(text=value)


def asking(value: str) -> ChatRequest:
    return ChatRequest(messages=[ChatMessage(role="user", contents=[text(value)])])


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    """Return the URL of a new database."""
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def log(url: str) -> Iterator[ConversationLog]:
    """Yield the log of a store with the conversations "c" and "other" of one turn each."""
    with TurnStore.open(url, clock=lambda: NOON) as store:
        store.add_turn("c", "user", [text("Hello.")])
        store.add_turn("other", "user", [text("Hello, other.")])
        yield ConversationLog(store)


@pytest.fixture(scope="module")
def memory() -> Iterator[ConversationLog]:
    """Yield the log of a store in memory, for many examples."""
    with TurnStore.open(":memory:") as store:
        store.add_turn("c", "user", [text("Hello.")])
        yield ConversationLog(store)


# -- adding and reading ------------------------------------------------------------------------------------------------


def test_log_keeps_entries_in_the_order_of_their_addition(log: ConversationLog) -> None:
    """The entries have the same time, since the clock of this store does not advance."""
    made = [log.add("c", "note", str(number)) for number in range(20)]
    log.add("other", "note", "elsewhere")
    assert [entry.text for entry in log.entries("c")] == [str(number) for number in range(20)]
    assert log.entries("c") == made
    assert [entry.number for entry in made] == list(range(1, 21))
    assert {entry.created_at for entry in made} == {NOON}
    assert log.entry(made[3]) == log.entry(made[3].id) == made[3]


@pytest.mark.slow
def test_log_reads_entries_in_pages(log: ConversationLog) -> None:
    made = [log.add("c", "ab"[number % 2], str(number)) for number in range(450)]
    first = log.entries("c", 7)
    assert first == made[:7]
    assert log.entries("c", 7, first[-1]) == made[7:14]
    assert log.entries("c", 7, made[-1]) == []
    assert log.entries("c", 3, first[-1], kinds=["b"]) == [made[7], made[9], made[11]]
    assert log.entries("c", 2, kinds="b") == [made[1], made[3]]
    assert log.entries("c", kinds=[]) == []
    assert list(log.stream("c")) == made
    assert list(log.stream("c", kinds=["a"])) == made[::2]


def test_log_reads_the_entries_of_one_turn(log: ConversationLog) -> None:
    (turn,) = log.store.turns("c")
    entry = log.add("c", "note", "of it", turn=turn)
    log.add("c", "note", "of none")
    assert log.entries("c", turn=turn) == log.entries("c", turn=turn.id) == [entry]
    assert entry.turn == turn.id


def test_entry_keeps_its_parent(log: ConversationLog) -> None:
    whole = log.add("c", "task", "do it")
    part = log.add("c", "step", "first", parent=whole)
    inner = log.add("c", "step", "first of the first", parent=part.id)
    assert [entry.parent for entry in log.entries("c")] == [None, whole.id, part.id]
    assert inner.parent == part.id


CONTENTS = (
    json_values
    | model.contents(depth=1)
    | model.structs(ChatMessage)
    | st.lists(model.contents(depth=1), max_size=2)
    | model.structs(Usage)
    | model.structs(ChatResponse)
    | st.fixed_dictionaries({"contentmodel": json_values}, optional={"kind": st.text(), "value": json_values})
)


@given(string=st.none() | st.text(max_size=8) | st.sampled_from(["Ünïcödé ✅", "\ud83d"]), content=CONTENTS)
def test_log_loads_any_entry_unchanged(memory: ConversationLog, string: str | None, content: Any) -> None:
    before = memory.store.load("c")
    made = memory.add("c", "note", string, content)
    assert (made.text, made.content) == (string, content)
    assert memory.entry(made) == made
    assert memory.store.load("c") == before


@pytest.mark.parametrize(
    "content",
    [
        {"a": ["\x00", "\ud83d", 1e300, -0.0]},
        [text("\x00\ud83d")],
        {"contentmodel": 1, "kind": "content", "value": {"type": "text", "text": "x"}},
        {"contentmodel": 1, "kind": "json", "value": 1},
        asking("What is it about?"),
        answer("A title"),
        False,
        "",
        [],
        0,
    ],
)
def test_every_database_loads_contents_unchanged(log: ConversationLog, content: Any) -> None:
    made = log.add("c", "note", "\x00\ud83d\x01", content)
    (loaded,) = log.entries("c")
    assert loaded == made
    assert (loaded.text, loaded.content, type(loaded.content)) == ("\x00\ud83d\x01", content, type(content))


def test_log_reads_a_document_of_an_unknown_kind_as_json(log: ConversationLog) -> None:
    """The value was written into the table without the store."""
    made = log.add("c", "note", content={"a": 1})
    broken = '{"contentmodel": 1, "kind": "nothing", "value": 2}'
    with log.store._engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"UPDATE log_entries SET content = '{broken}'".replace(":", "\\:")))
    assert log.entry(made).content == {"contentmodel": 1, "kind": "nothing", "value": 2}


# -- invalid entries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "x" * 101, "a\nb", "\x00", 1, None])
def test_log_refuses_invalid_kinds(log: ConversationLog, kind: Any) -> None:
    with pytest.raises(InvalidEntryError, match=r"the kind .* is not valid: expected 1 to 100 printable characters"):
        log.add("c", kind, "x")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": 1}, "the text of the entry 'note' must be str or None, not int"),
        ({"content": {"a": [object()]}}, r"cannot be stored: .*at \$\.a\[0\]"),
        ({"content": float("nan")}, "cannot be stored"),
        ({"content": {1: 2}}, "cannot be stored"),
        ({"content": [text("x"), 1]}, "cannot be stored"),
        ({"content": TurnStart}, "cannot be stored"),
    ],
)
def test_log_refuses_texts_and_contents_that_cannot_be_stored(log: ConversationLog, fields: Any, message: str) -> None:
    with pytest.raises(InvalidEntryError, match=message):
        log.add("c", "note", **fields)
    assert log.entries("c") == []


def test_log_refuses_a_content_that_is_nested_too_deeply(log: ConversationLog) -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(HistoryError, match="nested too deeply"):
        log.add("c", "note", content=deep)
    while isinstance(deep, list):  # Free the lists one by one. Python would free them in one recursion.
        deep = deep.pop()


def test_log_raises_not_found_for_unknown_conversations(log: ConversationLog) -> None:
    for name in ("nobody", "", "\x00", "\ud83d", None):
        with pytest.raises(NotFoundError, match="there is no conversation"):
            log.add(name, "note", "x")  # type: ignore[arg-type]
        with pytest.raises(NotFoundError, match="there is no conversation"):
            log.entries(name)  # type: ignore[arg-type]
    assert [conversation.id for conversation in log.store.conversations()] == ["c", "other"]


def test_log_refuses_turns_and_parents_of_another_conversation(log: ConversationLog) -> None:
    other_entry = log.add("other", "note", "x")
    (turn,) = log.store.turns("other")
    for fields in ({"turn": turn}, {"turn": "gone"}, {"turn": "\x00"}):
        with pytest.raises(NotFoundError, match="turn"):
            log.add("c", "note", "x", **fields)  # type: ignore[arg-type]
    for entry in (other_entry, "gone"):
        with pytest.raises(NotFoundError, match="has no log entry"):
            log.add("c", "note", "x", parent=entry)
    with pytest.raises(NotFoundError, match="there is no log entry 'gone'"):
        log.entry("gone")
    assert log.entries("c") == []


# -- beside the conversation -------------------------------------------------------------------------------------------


def test_aside_logs_question_and_answer_without_changing_the_conversation(log: ConversationLog) -> None:
    before = log.store.load("c"), log.store.turns("c"), log.store.conversation("c")
    request = asking("A title for this, please.")
    client = Scripted([answer("A greeting")])
    title = log.side_request("c", "title", client, request)
    assert client.requests == [request]
    question, entry = log.entries("c")
    assert entry == title
    assert (question.kind, question.text, question.content, question.parent) == (
        "question",
        "A title for this, please.",
        request,
        None,
    )
    assert (title.kind, title.text, title.content, title.parent) == (
        "title",
        "A greeting",
        answer("A greeting"),
        question.id,
    )
    assert (log.store.load("c"), log.store.turns("c"), log.store.conversation("c")) == before


def test_aside_logs_errors_of_the_client_and_of_the_answer(log: ConversationLog) -> None:
    (turn,) = log.store.turns("c")
    with pytest.raises(ClientError, match="overloaded"):
        log.side_request(
            "c", "summary", Scripted([ClientError("overloaded", status=529)]), asking("Sum up."), turn=turn
        )
    question, failure = log.entries("c", turn=turn)
    assert (failure.kind, failure.text, failure.parent) == ("error", "overloaded", question.id)
    refused = ChatResponse(error=ErrorContent(code="refusal", message="No."))
    entry = log.side_request("c", "summary", Scripted([refused]), asking("Sum up."))
    assert (entry.kind, entry.text, entry.content) == ("error", "No.", refused)
    assert log.entries("c", kinds=["summary"]) == []


def test_add_task_accepts_a_conversation_or_messages(log: ConversationLog) -> None:
    run = [ChatMessage(role="assistant", contents=[text("Found.")])]
    by_name, whole = log.add_task("c", "Look it up", "other"), log.add_task("c", "Look it up", run)
    assert by_name.content == {"conversation": "other"}
    assert [(entry.kind, entry.text) for entry in log.entries("c")] == [("task", "Look it up")] * 2
    assert log.entry(whole).content == run
    for work in ([], [1], ["x"]):
        with pytest.raises(InvalidEntryError, match="the id of a conversation, or the messages"):
            log.add_task("c", "x", work)  # type: ignore[arg-type]


@given(steps=st.lists(st.sampled_from(["add", "side_request", "fails", "task", "notice", "part"]), max_size=8))
def test_log_entries_do_not_change_the_transcript(memory: ConversationLog, steps: list[str]) -> None:
    store = memory.store
    before = store.load("c"), store.export("c"), store.turns("c")
    (turn,) = store.turns("c")
    last: LogEntry | None = None
    for step in steps:
        if step == "side_request":
            last = memory.side_request("c", "title", Scripted([answer("T")]), asking("?"), turn, last)
        elif step == "fails":
            with pytest.raises(ClientError):
                memory.side_request("c", "title", Scripted([ClientError("no")]), asking("?"))
        elif step == "task":
            last = memory.add_task("c", "do", [ChatMessage(role="user", contents=[text("x")])])
        elif step == "notice":
            list(record_notices([Notice(kind="tool_use", text="x")], memory, turn))
        else:
            last = memory.add("c", step, "x", parent=last if step == "part" else None)
    assert (store.load("c"), store.export("c"), store.turns("c")) == before


# -- notices -----------------------------------------------------------------------------------------------------------

EVENTS = [
    TurnStart(response=ChatResponse()),
    Notice(kind="tool_use", text="Searching …", call_id="c1"),
    BlockStart(index=0, content=text("")),
    Notice(kind="progress", text="half"),
    BlockStop(index=0, content=text("Hi.")),
    TurnComplete(response=ChatResponse()),
]


def test_record_notices_logs_notices_and_passes_all_events_on(log: ConversationLog) -> None:
    turn = log.store.begin_turn("c", "assistant")
    passed = list(record_notices(record(iter(EVENTS), log.store, turn), log, turn))
    assert passed == EVENTS
    assert [(e.kind, e.text, e.content, e.turn) for e in log.entries("c")] == [
        ("tool_use", "Searching …", {"call_id": "c1"}, turn.id),
        ("progress", "half", None, turn.id),
    ]
    assert log.store.load("c").messages[-1].contents == [text("Hi.")]
    assert log.store.turn(turn).status == "complete"


def test_record_notices_logs_a_notice_before_it_passes_it_on(log: ConversationLog) -> None:
    (turn,) = log.store.turns("c")
    for event in record_notices(EVENTS, log, turn.id):
        if isinstance(event, Notice):
            assert log.entries("c")[-1].text == event.text


# -- deletion ----------------------------------------------------------------------------------------------------------


def test_delete_of_a_conversation_deletes_its_log(log: ConversationLog) -> None:
    entry: LogEntry | None = None
    for number in range(50):
        entry = log.add("c", "note", str(number), parent=entry)
    kept = log.add("other", "note", "stays")
    log.store.delete("c")
    assert entry is not None
    with pytest.raises(NotFoundError):
        log.entry(entry)
    with pytest.raises(NotFoundError):
        log.entries("c")
    assert log.entries("other") == [kept]


def test_delete_of_a_conversation_deletes_a_long_chain_of_entries(log: ConversationLog) -> None:
    """SQLite limits the depth of cascades to a thousand."""
    first = log.add("c", "note", "0")
    rows = [
        {"id": f"e{n}", "conversation": "c", "kind": "note", "created_at": NOON, "number": n, "parent": f"e{n - 1}"}
        for n in range(3, 3_000)
    ]
    with log.store._engine.begin() as connection:
        connection.execute(log_table().insert(), [{**rows[0], "id": "e2", "number": 2, "parent": first.id}, *rows])
    log.store.delete("c")
    with log.store._engine.connect() as connection:
        assert connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(log_table())).scalar() == 0


def log_table() -> Any:
    from contentmodel.history.tables import log_entries

    return log_entries


def test_delete_of_a_turn_keeps_its_log_entries(log: ConversationLog) -> None:
    """The user has seen the entry."""
    turn = log.store.add_turn("c", "assistant", [text("Hi.")])
    entry = log.add("c", "note", "x", turn=turn)
    log.store.delete_turn(turn)
    assert log.entry(entry).turn is None
    assert log.entries("c") == [log.entry(entry)]


def test_log_is_kept_when_the_store_is_opened_again(url: str) -> None:
    with TurnStore.open(url) as store:
        store.add_turn("c", "user", [text("x")])
        made = ConversationLog(store).add("c", "note", "x", asking("?"))
    with TurnStore.open(url) as store:
        assert ConversationLog(store).entries("c") == [made]
        assert ConversationLog(store).add("c", "note", "y").number == 2


# -- concurrency -------------------------------------------------------------------------------------------------------


def in_threads(*jobs: Callable[[], None]) -> list[BaseException]:
    faults: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=guarded, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def test_concurrent_writers_add_entries_and_a_reader_sees_all(log: ConversationLog) -> None:
    each, writers = 15, 4
    seen: list[LogEntry] = []

    def write(name: str) -> Callable[[], None]:
        return lambda: [log.add("c", name, str(number)) for number in range(each)] and None

    def follow() -> None:
        while len(seen) < each * writers:
            seen.extend(log.entries("c", 7, seen[-1] if seen else None))

    assert in_threads(follow, *(write(f"w{number}") for number in range(writers))) == []
    assert seen == log.entries("c", 1_000)
    assert [entry.number for entry in seen] == list(range(1, each * writers + 1))
    for number in range(writers):
        texts = [entry.text for entry in seen if entry.kind == f"w{number}"]
        assert texts == [str(n) for n in range(each)]


def test_log_and_turns_can_be_written_at_the_same_time(log: ConversationLog) -> None:
    store = log.store
    turn = store.begin_turn("c", "assistant")

    def write_turns() -> None:
        for number in range(20):
            store.put_block(turn, number, text("x"))
        store.end_turn(turn)
        for _ in range(10):
            store.end_turn(store.begin_turn("c", "assistant"))

    def add() -> None:
        for number in range(30):
            log.add("c", "note", str(number), turn=turn)

    assert in_threads(write_turns, add, add) == []
    assert len(log.entries("c", 100)) == 60


# -- async log ---------------------------------------------------------------------------------------------------------


def test_async_log_has_the_methods_of_the_sync_log(url: str) -> None:
    async def go() -> None:
        async with await AsyncTurnStore.open(url) as store:
            turn = await store.add_turn("c", "user", [text("Hello.")])
            before = await store.load("c")
            log = AsyncConversationLog(store)
            note = await log.add("c", "note", "x", asking("?"), turn=turn)
            title = await log.side_request("c", "title", AsyncScripted([answer("A title")]), asking("?"))
            with pytest.raises(ClientError, match="no"):
                await log.side_request("c", "title", AsyncScripted([ClientError("no")]), asking("?"))
            task = await log.add_task("c", "do", "other", parent=note)

            async def events() -> AsyncIterator[Any]:
                for event in EVENTS:
                    yield event

            assert [event async for event in arecord_notices(events(), log, turn.id)] == EVENTS
            entries = await log.entries("c")
            assert [entry.kind for entry in entries] == [
                "note",
                "question",
                "title",
                "question",
                "error",
                "task",
                "tool_use",
                "progress",
            ]
            assert [entry async for entry in log.stream("c")] == entries
            assert await log.entries("c", 2, note, kinds=["title", "task"]) == [title, task]
            assert await log.entry(task.id) == task
            assert await log.entries("c", turn=turn) == [note, *entries[-2:]]
            with pytest.raises(NotFoundError):
                await log.add("nobody", "note", "x")
            assert await store.load("c") == before

    asyncio.run(go())


# -- older versions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
def test_migration_orders_log_entries_by_their_times(url: str, version: int) -> None:
    """The entries of version 2 get numbers in the order of their times."""
    from contentmodel.history.engines import make_engine, url_of

    engine = make_engine(url_of(url, is_async=False), 30)
    with engine.begin() as connection:
        migrations.migrate(connection, to=version)
    with engine.begin() as connection:
        moments = {"created_at": NOON, "updated_at": NOON}
        conversations = ({"id": name, "turn_count": 0, "last_number": 0, **moments} for name in ("a", "b"))
        connection.execute(conversation_table().insert(), list(conversations))
        if version == 2:
            insert = sqlalchemy.text(
                "INSERT INTO log_entries (id, conversation, kind, text, created_at)"
                " VALUES (:id, :of, 'note', :text, :at)"
            ).bindparams(sqlalchemy.bindparam("at", type_=sqlalchemy.DateTime(timezone=True)))
            for name, second in (("z", 1), ("y", 3), ("x", 2), ("w", 3)):
                connection.execute(
                    insert, {"id": name, "text": name, "of": "a", "at": NOON + timedelta(seconds=second)}
                )
            connection.execute(insert, {"id": "v", "text": "v", "of": "b", "at": NOON})
    engine.dispose()
    with TurnStore.open(url) as store:
        log = ConversationLog(store)
        old = [(entry.number, entry.text) for entry in log.entries("a")]
        assert old == ([(1, "z"), (2, "x"), (3, "w"), (4, "y")] if version == 2 else [])
        assert log.add("a", "note", "new", parent=log.entries("a")[0] if old else None).number == len(old) + 1
        assert [entry.number for entry in log.entries("b")] == ([1] if version == 2 else [])


def conversation_table() -> Any:
    from contentmodel.history.tables import conversations

    return conversations


def test_refused_delete_of_a_conversation_keeps_its_log(log: ConversationLog) -> None:
    log.store.begin_turn("c", "assistant")
    entry = log.add("c", "note", "x")
    with pytest.raises(ConflictError):
        log.store.delete("c")
    assert log.entries("c") == [entry]
