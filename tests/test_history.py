"""The turn store on both databases: storing and loading, concurrent writers, and crashes."""

from __future__ import annotations

import asyncio
import inspect
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, DATABASES, FEW, PROFILE, fresh_database, records
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    Usage,
    decode_stream,
    fold,
    unfold,
)
from contentmodel.content import CONTENT_TYPES, CustomToolResultContent, WebSearchToolResultContent
from contentmodel.content.citations import Citation
from contentmodel.events import (
    BlockCatchUp,
    BlockStart,
    BlockStop,
    CitationDelta,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
)
from contentmodel.history import (
    START,
    AsyncConversationLog,
    AsyncTurnStore,
    ConflictError,
    ConversationLog,
    DamagedError,
    HistoryError,
    InvalidTurnError,
    NotFoundError,
    SchemaError,
    TurnStore,
    arecord,
    migrations,
    record,
)
from contentmodel.history.rows import rows
from contentmodel.message import Branch
from contentmodel_conformance.strategies import model as strategies
from contentmodel_conformance.strategies.transcripts import transcripts
from contentmodel_conformance.streams import frames_of
from history import writer

WRITER = Path(writer.__file__)
ORIGIN = Origin(api="turn-blocks", issuer="")


def text(value: str) -> TextContent:
    return TextContent(text=value)


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    """Return the URL of a new database."""
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def store(url: str) -> Iterator[TurnStore]:
    with TurnStore.open(url) as opened:
        yield opened


@pytest.fixture(scope="module", params=DATABASES)
def shared(request: Any, tmp_path_factory: Any) -> Iterator[TurnStore]:
    """Yield a store that many examples write to, each to its own conversation."""
    if request.param == "sqlite":
        with TurnStore.open(tmp_path_factory.mktemp("shared") / "turns.db") as opened:
            yield opened
        return
    with fresh_database(request.getfixturevalue("postgresql")) as server, TurnStore.open(server) as opened:
        yield opened


_NAMES = iter(range(10**9))


def name() -> str:
    return f"conversation {next(_NAMES)}"


# -- storing and loading -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONTENT_TYPES, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_store_loads_every_content_type_unchanged(shared: TurnStore, kind: type[Any], data: st.DataObject) -> None:
    content = data.draw(strategies.structs(kind))
    conversation = name()
    turn = shared.begin_turn(conversation, "assistant")
    shared.put_block(turn, 0, content)
    assert [block.content for block in shared.blocks(turn)] == [content]
    shared.end_turn(turn)
    messages = shared.load(conversation).messages
    assert [c for message in messages for c in message.contents] == [content]


@given(st.data())
def test_store_loads_any_valid_request_unchanged_and_refuses_others(shared: TurnStore, data: st.DataObject) -> None:
    request = data.draw(strategies.requests())
    conversation = name()
    wrong = [v for v in rows().check_request(rows().encode_request(request).payload) if v.severity == "refused"]
    if wrong:
        with pytest.raises(InvalidTurnError, match="role"):
            shared.save(conversation, request)
        with pytest.raises(NotFoundError):
            shared.load(conversation)
        return
    shared.save(conversation, request)
    assert shared.load(conversation) == request
    assert [m for part in shared.stream(conversation) for m in part.messages] == request.messages


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_store_loads_generated_transcripts_unchanged(shared: TurnStore, api: str, data: st.DataObject) -> None:
    request = data.draw(transcripts(api))
    conversation = name()
    shared.save(conversation, request)
    assert shared.load(conversation) == request
    exported = shared.export(conversation)
    assert rows().decode_request(json.loads(json.dumps(exported))).options == request.options
    assert [v for v in rows().check_request(exported) if v.severity == "refused"] == []


def sample(recorded: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all records in the deep profile, and every sixth in the quick one."""
    return list(recorded)[:: 1 if PROFILE == "deep" else 6]


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_store_loads_recorded_transcripts_unchanged(shared: TurnStore, api: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    for recorded in sample(records(api, "request")):
        if recorded["status"] not in (200, None):
            continue
        request = adapter.decode_request(recorded["body"])
        conversation = name()
        shared.save(conversation, request)
        loaded = shared.load(conversation)
        assert loaded == request, recorded["id"]
        assert adapter.encode_request(loaded).payload == recorded["body"]


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_record_stores_recorded_streams_as_their_folded_answer(shared: TurnStore, api: str, corpus: Any) -> None:
    for recorded in sample(records(api, "stream")):
        events = list(decode_stream(frames_of(recorded["body"]), api))
        answer = fold(events)
        conversation = name()
        turn = shared.begin_turn(conversation, "assistant")
        assert list(record(iter(events), shared, turn)) == events
        ended = shared.turn(turn)
        assert ended.status == ("complete" if isinstance(events[-1], TurnComplete) else "failed")
        if ended.status == "complete" and len(answer.choices) < 2:
            row = shared.export(conversation)["turns"][0]
            assert [c for m in shared.load(conversation).messages for c in m.contents] == [
                c for m in answer.messages for c in m.contents
            ]
            assert_same_answer(row, answer)


def assert_same_answer(row: dict[str, Any], answer: ChatResponse) -> None:
    """Check that the row decodes to the answer, except for the columns that only rows have."""
    read = rows().decode_response(row)
    assert (read.id, read.model, read.choices, read.usage, read.origin) == (
        answer.id,
        answer.model,
        answer.choices,
        answer.usage,
        answer.origin,
    )


@pytest.mark.parametrize(
    "what", ["\0", "\ud83d", "\ufdd0x", {"a": 1e23}, {":json": "1"}, {"\0": "\udfff"}, 10**30, -0.0]
)
def test_store_keeps_values_that_databases_cannot_represent(store: TurnStore, what: Any) -> None:
    string = what if isinstance(what, str) else "text"
    call = FunctionCallContent(call_id=string, name="f", arguments={"what": what})
    response = ChatResponse(model=string, usage=Usage(extra={"x": {"what": what}}), origin=ORIGIN)
    turn = store.begin_turn("c", "assistant", model=string)
    store.put_block(turn, 0, call)
    store.put_block(turn, 1, text(string))
    message = ChatMessage(role="assistant", contents=[call, text(string)])
    response = msgspec.structs.replace(response, choices=[ChatChoice(messages=[message])])
    ended = store.end_turn(turn, response=response, stop_reason=string)
    assert store.load("c").messages[0].contents == [call, text(string)]
    assert (ended.model, ended.stop_reason, ended.usage) == (string, string, response.usage)
    assert repr(store.load("c").messages[0].contents[0].arguments) == repr(call.arguments)


# -- order of turns ----------------------------------------------------------------------------------------------------


def test_store_appends_turns_to_a_conversation(store: TurnStore) -> None:
    asked = store.add_turn("c", "user", [text("What is the weather?")])
    turn = store.begin_turn("c", "assistant", model="m", origin=Origin(api="a", issuer="b"))
    call = FunctionCallContent(call_id="1", name="weather", arguments={"city": "Oslo"})
    result = FunctionResultContent(call_id="1", outputs=[text("Sunny.")])
    for index, content in enumerate([call, result, text("It is sunny.")]):
        store.put_block(turn, index, content)
    ended = store.end_turn(turn, stop_reason="stop", usage=Usage(input_tokens=3, output_tokens=4))
    assert (ended.status, ended.stop_reason, ended.usage) == (
        "complete",
        "stop",
        Usage(input_tokens=3, output_tokens=4),
    )
    assert (asked.previous, turn.previous, asked.number, turn.number) == (None, asked.id, 1, 2)
    assert [m.role for m in store.load("c").messages] == ["user", "assistant", "tool", "assistant"]
    assert store.turns("c") == [store.turn(asked), ended]
    assert store.load("c", upto=asked).messages == [ChatMessage(role="user", contents=[text("What is the weather?")])]


def test_store_accepts_blocks_in_any_order(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    store.put_block(turn, 7, text("second"))
    store.put_block(turn, 2, text("first"))
    assert [(b.sequence, b.content.text) for b in store.blocks(turn)] == [(2, "first"), (7, "second")]
    assert store.load("c").messages[0].text == "firstsecond"


def test_put_block_ignores_an_equal_block_and_refuses_a_different_one(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    call = FunctionCallContent(call_id="1", name="f", arguments={"a": 1.0, "b": [True]})
    store.put_block(turn, 0, call)
    store.put_block(turn, 0, call)
    with pytest.raises(ConflictError, match=r"block 0 of the turn .* with other content"):
        store.put_block(turn, 0, text("x"))
    store.end_turn(turn)
    store.put_block(turn, 0, call)
    store.end_turn(turn)
    assert [block.content for block in store.blocks(turn)] == [call]
    with pytest.raises(ConflictError, match="is complete"):
        store.put_block(turn, 1, text("late"))
    with pytest.raises(ConflictError, match="is complete"):
        store.end_turn(turn, status="failed")


def test_add_turn_refuses_a_second_successor_of_a_turn_without_branch(store: TurnStore) -> None:
    first = store.add_turn("c", "user", [text("1")])
    second = store.add_turn("c", "assistant", [text("2")], previous=first)
    with pytest.raises(ConflictError, match="load the conversation again, or set branch=True"):
        store.add_turn("c", "assistant", [text("2b")], previous=first.id)
    with pytest.raises(ConflictError, match="the start of 'c' is already followed"):
        store.add_turn("c", "user", [text("1b")], previous=START)
    branch = store.add_turn("c", "assistant", [text("2b")], previous=first, branch=True)
    another = store.add_turn("c", "user", [text("1b")], previous=START, branch=True)
    leaf = store.add_turn("c", "user", [text("3b")], previous=branch)
    words = {turn.id: [m.text for m in store.load("c", upto=turn).messages] for turn in (second, branch, another, leaf)}
    assert list(words.values()) == [["1", "2"], ["1", "2b"], ["1b"], ["1", "2b", "3b"]]
    assert [m.text for m in store.load("c").messages] == ["1", "2b", "3b"]
    assert [turn.number for turn in store.turns("c")] == [1, 2, 3, 4, 5]


def test_add_turn_refuses_to_follow_an_open_turn(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    with pytest.raises(ConflictError, match="still being written"):
        store.add_turn("c", "user", [text("?")])
    store.end_turn(turn)
    store.add_turn("c", "user", [text("?")])


def test_store_accepts_a_text_instead_of_contents(store: TurnStore) -> None:
    for contents in ("Hello", ["Hello"], ("Hello",), [TextContent(text="Hello")]):
        store.add_turn("t", "user", contents)  # type: ignore[arg-type]
    turn = store.begin_turn("t", "assistant")
    store.put_block(turn, 0, "Hello")  # type: ignore[arg-type]
    assert [message.contents for message in store.load("t").messages] == [[TextContent(text="Hello")]] * 5


def test_store_refuses_arguments_of_a_wrong_type_with_their_path(store: TurnStore) -> None:
    wrong: Any = store
    turn = store.begin_turn("t", "assistant")
    with pytest.raises(TypeError, match="contents: expected a list of contents or a text, got TextContent"):
        wrong.add_turn("u", "user", TextContent(text="Hello"))
    with pytest.raises(TypeError, match="content: expected a content or a text, got int"):
        wrong.put_block(turn, 0, 5)
    with pytest.raises(TypeError, match=r"messages\[1\]: expected a ChatMessage, got str"):
        wrong.add_messages("u", [ChatMessage(role="user", contents="Hello"), "Hello"])
    with pytest.raises(TypeError, match="messages: expected a list of messages, got ChatMessage"):
        wrong.add_messages("u", ChatMessage(role="user", contents="Hello"))
    with pytest.raises(TypeError, match="expected a ChatRequest, got list"):
        wrong.save("u", [])
    assert store.conversations() == [store.conversation("t")]


def test_open_turn_without_blocks_has_no_message(store: TurnStore) -> None:
    store.add_turn("c", "user", [text("?")])
    turn = store.begin_turn("c", "assistant")
    assert [message.role for message in store.load("c").messages] == ["user"]
    store.put_block(turn, 0, text("!"))
    assert [message.text for message in store.load("c").messages] == ["?", "!"]


@pytest.mark.parametrize("status", ["complete", "interrupted", "failed"])
def test_turn_that_ended_without_blocks_has_a_message(store: TurnStore, status: Any) -> None:
    store.add_turn("c", "user", [text("?")])
    store.end_turn(store.begin_turn("c", "assistant"), status=status)
    assert store.load("c").messages[1] == ChatMessage(role="assistant", contents=[], origin=None)


def test_store_refuses_writes_to_an_open_turn_of_another_store(url: str) -> None:
    with TurnStore.open(url) as one, TurnStore.open(url) as other:
        turn = one.begin_turn("c", "assistant")
        other.add_turn("d", "user", [text("?")])
        for act in (
            lambda: other.put_block(turn, 0, text("x")),
            lambda: other.end_turn(turn),
            lambda: other.delete("c"),
            lambda: other.delete_turn(turn),
            lambda: other.add_turn("c", "user", [text("?")]),
        ):
            with pytest.raises(ConflictError, match=r"by another store|still being written"):
                act()
        assert other.recover() == 0
        assert other.turn(turn).is_open
        one.put_block(turn, 0, text("x"))
        one.end_turn(turn)


def test_query_finds_failed_results_with_their_text(store: TurnStore, url: str) -> None:
    error = ErrorContent(message="boom", code="x")
    results: list[Any] = [
        FunctionResultContent(call_id="0", outputs=[text("fine")]),
        FunctionResultContent(call_id="1", outputs=[text("boom")], is_error=True),
        FunctionResultContent(call_id="2", outputs=[text("partial"), error]),
        CustomToolResultContent(call_id="3", outputs=[error], is_error=True),
        WebSearchToolResultContent(call_id="4", outputs=[error]),
    ]
    turn = store.begin_turn("c", "assistant")
    for index, result in enumerate(results):
        store.put_block(turn, index, result)
    store.end_turn(turn, status="failed", error=error)
    is_error = "content->>'is_error' = 'true'" if "postgresql" in url else "json_extract(content, '$.is_error')"
    engine = sqlalchemy.create_engine(url if "://" in url else f"sqlite:///{url}")
    with engine.connect() as connection:
        query = f"SELECT sequence, text_content FROM turn_blocks WHERE {is_error} ORDER BY sequence"
        found = connection.execute(sqlalchemy.text(query)).all()
        (failed,) = connection.execute(sqlalchemy.text("SELECT error FROM turns WHERE status = 'failed'")).one()
    engine.dispose()
    assert [tuple(row) for row in found] == [(index, "boom") for index in range(1, 5)]
    assert (json.loads(failed) if isinstance(failed, str) else failed) == {"message": "boom", "code": "x"}
    assert [block.content for block in store.blocks(turn)] == results


def test_pages_of_turns_and_conversations_continue_after_the_last_entry(store: TurnStore) -> None:
    for number in range(7):
        store.add_turn("c", "user", [text(str(number))])
        store.add_turn(f"d{number}", "user", [text("x")])
    pages, after = [], None
    while page := store.turns("c", limit=3, after=after):
        pages.append([turn.number for turn in page])
        after = page[-1]
    assert pages == [[1, 2, 3], [4, 5, 6], [7]]
    for newest_first in (False, True):
        found, last = [], None
        while some := store.conversations(limit=3, after=last, newest_first=newest_first):
            found += some
            last = some[-1]
        expected = ["c", *(f"d{number}" for number in range(7))]
        assert [c.id for c in found] == (expected[::-1] if newest_first else expected)
    assert store.conversation("c").turns == 7


def test_pages_list_all_conversations_if_they_have_the_same_time(url: str) -> None:
    moment = datetime(2026, 11, 21, 12, tzinfo=UTC)
    with TurnStore.open(url, clock=lambda: moment) as store:
        for number in range(5):
            store.add_turn(f"c{number}", "user", [text("x")])
        first = store.conversations(limit=2)
        assert [c.id for c in store.conversations(after=first[-1])] == ["c2", "c3", "c4"]
        assert first[0].created_at == moment


def test_store_returns_times_in_utc(url: str) -> None:
    from datetime import timezone

    moment = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=3)))
    with TurnStore.open(url, clock=lambda: moment) as store:
        turn = store.add_turn("c", "user", [text("x")])
        assert turn.started_at == turn.ended_at == moment
        assert turn.started_at.utcoffset() == timedelta(0)
        assert store.export("c")["turns"][0]["started_at"] == "2026-11-21T09:00:00.123456+00:00"


def test_delete_removes_all_rows_of_a_turn_or_conversation(store: TurnStore, url: str) -> None:
    turns = [store.add_turn("c", "user", [text(str(number))]) for number in range(5)]
    store.add_turn("c", "user", [text("2b")], previous=turns[1], branch=True)
    assert store.delete_turn(turns[2]) == 3
    assert [m.text for m in store.load("c").messages] == ["0", "1", "2b"]
    assert store.conversation("c").turns == 3
    assert store.add_turn("c", "user", [text("3b")]).number == 7
    store.delete("c")
    assert count(url, "turns") == count(url, "turn_blocks") == count(url, "conversations") == 0
    for act in (store.delete, store.load, store.conversation, store.export):
        with pytest.raises(NotFoundError, match="no conversation 'c'"):
            act("c")
    with pytest.raises(NotFoundError, match="no turn"):
        store.turn(turns[0])


def count(url: str, table: str) -> int:
    with engine_of(url).connect() as connection:
        return connection.execute(sqlalchemy.text(f"SELECT count(*) FROM {table}")).scalar_one()


def engine_of(url: str) -> Any:
    full = url if "://" in url else f"sqlite:///{url}"
    return sqlalchemy.create_engine(full, poolclass=sqlalchemy.pool.NullPool)


def test_store_loads_and_deletes_a_conversation_of_1500_turns(store: TurnStore) -> None:
    messages = [ChatMessage(role=("user", "assistant")[n % 2], contents=[text(str(n))]) for n in range(1500)]
    turns = store.add_messages("c", messages)
    assert store.load("c").messages == messages
    assert [part.turn.id for part in store.stream("c")] == [turn.id for turn in turns]
    assert store.delete_turn(turns[1]) == 1499
    store.delete("c")


# -- invalid values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "content", "message"),
    [
        ("asistant", text("x"), "the role 'asistant'"),
        ("", text("x"), "the role ''"),
        (3, text("x"), "expected a string"),
        ("user", FunctionCallContent(call_id="1", name="f"), "tool_use in a turn of the role user"),
        ("system", ReasoningContent(text="x"), "thinking in a turn of the role system"),
        # The same content in rows whose type is a field. The rules of rows do not check this field.
        (
            "user",
            FunctionCallContent(call_id="1", name="f", extra={"turn-blocks": {":form": "type"}}),
            "function_call in a turn of the role user",
        ),
        (
            "developer",
            ReasoningContent(
                protected=Protected(issuer="anthropic", kind="signature", data="x"),
                extra={"turn-blocks": {":form": "type"}},
            ),
            "reasoning in a turn of the role developer",
        ),
    ],
)
def test_store_refuses_unknown_roles_and_contents_that_the_role_cannot_have(
    store: TurnStore, role: Any, content: Any, message: str
) -> None:
    with pytest.raises(InvalidTurnError, match=message):
        store.add_turn("c", role, [content])
    if role in rows().roles:
        turn = store.begin_turn("c", role)
        with pytest.raises(InvalidTurnError, match=message):
            store.put_block(turn, 0, content)
    else:
        with pytest.raises(InvalidTurnError, match=message):
            store.begin_turn("c", role)


@pytest.mark.parametrize("conversation", ["", "x" * 501, "a\0b", "a\ud83d", "a\nb", 7])
def test_store_refuses_invalid_names_of_conversations(store: TurnStore, conversation: Any) -> None:
    with pytest.raises(InvalidTurnError, match="of a conversation is not valid"):
        store.add_turn(conversation, "user", [])


def test_put_block_refuses_contents_that_are_not_json_and_invalid_sequences(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for sequence, content in (
        (0, FunctionCallContent(arguments={"a": object()})),
        (0, FunctionCallContent(arguments={"a": float("nan")})),
        (0, FunctionCallContent(arguments=deep)),
        (-1, text("x")),
        ("0", text("x")),
    ):
        with pytest.raises(contentmodel.ContentModelError):
            store.put_block(turn, sequence, content)
    assert store.blocks(turn) == []
    with pytest.raises(InvalidTurnError, match="with the status 'done'"):
        store.end_turn(turn, status="done")  # type: ignore[arg-type]


def test_store_raises_not_found_for_unknown_turns(store: TurnStore) -> None:
    store.add_turn("c", "user", [text("x")])
    other = store.add_turn("d", "user", [text("x")])
    for act in (
        lambda: store.add_turn("c", "user", [], previous="nowhere"),
        lambda: store.add_turn("c", "user", [], previous=other),
        lambda: store.load("c", upto="nowhere"),
        lambda: store.load("c", upto=other),
        lambda: store.put_block("nowhere", 0, text("x")),
        lambda: store.end_turn("nowhere"),
        lambda: store.delete_turn("nowhere"),
    ):
        with pytest.raises(NotFoundError, match="no turn"):
            act()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://localhost/x", "not mysql"),
        ("/nowhere/at/all/turns.db", "unable to open"),
        ("postgresql://127.0.0.1:1/x", "database failed"),
        ("sqlite:///file:x.db?uri=true", "path of the SQLite file"),
        ("://", "not the URL"),
    ],
)
def test_open_reports_databases_that_cannot_be_opened(url: str, message: str) -> None:
    with pytest.raises(HistoryError, match=message):
        TurnStore.open(url)


def test_store_in_memory_can_be_used_by_several_threads() -> None:
    with TurnStore.open(":memory:") as store:
        threads = [
            threading.Thread(target=lambda n=n: [store.add_turn(f"c{n}", "user", [text("x")]) for _ in range(10)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(c.turns for c in store.conversations()) == [10, 10, 10, 10]


def test_store_refuses_use_in_a_forked_process(tmp_path: Path) -> None:
    with TurnStore.open(tmp_path / "turns.db") as store:
        store.add_turn("c", "user", [text("x")])
        errors = multiprocessing.get_context("fork").SimpleQueue()

        def child() -> None:
            try:
                store.add_turn("c", "user", [text("y")])
            except HistoryError as error:
                errors.put(str(error))
            os._exit(0)

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        assert "another process" in errors.get()
        process.join()


# -- the schema --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(migrations.VERSION))
def test_open_migrates_every_earlier_version_of_the_schema(url: str, version: int) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        if version:
            frozen = (WRITER.parent / f"version_{version}.{engine.dialect.name}.sql").read_text()
            for statement in frozen.split(";\n"):
                if statement.strip():
                    connection.exec_driver_sql(statement)
    with TurnStore.open(url) as store:
        if version:
            (turn,) = store.turns("old")
            assert (turn.id, turn.role, turn.status, turn.model) == ("t1", "assistant", "complete", "m")
            assert store.load("old").messages == [
                ChatMessage(role="assistant", contents=[text("Hello."), FunctionCallContent(call_id="1", name="f")])
            ]
        store.add_turn("old", "user", [text("new")])
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version FROM contentmodel_schema").scalar_one() == migrations.VERSION
        migrated = shape_of(connection)
    assert migrated == fresh_shape(url, engine)


def shape_of(connection: Any) -> Any:
    inspector = sqlalchemy.inspect(connection)
    return {
        table: (
            sorted((c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)),
            index_names(connection, table),
        )
        for table in inspector.get_table_names()
    }


def index_names(connection: Any, table: str) -> list[str]:
    """Return the names of the indexes. SQLAlchemy does not return those on expressions."""
    catalogue = "SELECT indexname FROM pg_indexes WHERE tablename = '{}'"
    if connection.dialect.name == "sqlite":
        catalogue = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = '{}'"
    return sorted(connection.exec_driver_sql(catalogue.format(table)).scalars())


def fresh_shape(url: str, engine: Any) -> Any:
    """Return the tables of a new store."""
    if engine.dialect.name == "sqlite":
        TurnStore.open(f"{url}.fresh").close()
        with engine_of(f"{url}.fresh").connect() as connection:
            return shape_of(connection)
    with fresh_database(url) as other:
        TurnStore.open(other).close()
        with engine_of(other).connect() as connection:
            return shape_of(connection)


def test_open_refuses_a_newer_schema(url: str) -> None:
    TurnStore.open(url).close()
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE contentmodel_schema SET version = {migrations.VERSION + 1}")
    for _ in range(2):
        with pytest.raises(SchemaError, match=r"version 4 of the schema.*supports version 3: upgrade"):
            TurnStore.open(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM contentmodel_schema")
    with pytest.raises(SchemaError, match="but it has 0"):
        TurnStore.open(url)


def test_open_refuses_tables_of_another_program(url: str) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE turns (a INTEGER)")
    with pytest.raises(SchemaError, match="tables of another program \\(turns\\)"):
        TurnStore.open(url)
    with engine.connect() as connection:
        assert set(sqlalchemy.inspect(connection).get_table_names()) == {"turns"}


def test_threads_can_open_a_new_store_at_the_same_time(url: str) -> None:
    faults: list[BaseException] = []

    def go() -> None:
        try:
            TurnStore.open(url).close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_sqlite_store_uses_wal_full_sync_and_foreign_keys(tmp_path: Path) -> None:
    with TurnStore.open(tmp_path / "turns.db") as store, store._engine.connect() as connection:
        pragmas = {p: connection.exec_driver_sql(f"PRAGMA {p}").scalar() for p in ("journal_mode", "foreign_keys")}
        assert pragmas == {"journal_mode": "wal", "foreign_keys": 1}
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_queries_of_a_turn_do_not_scan_earlier_turns(tmp_path: Path) -> None:
    """The cost of a turn does not depend on the length of the conversation: every query uses an index."""
    with TurnStore.open(tmp_path / "turns.db") as store:
        asked = store.add_turn("c", "user", [text("x")])
        statements: list[tuple[str, Any]] = []
        sqlalchemy.event.listen(
            store._engine,
            "before_cursor_execute",
            lambda c, cursor, sql, parameters, *rest: statements.append((sql, parameters)),
        )
        turn = store.begin_turn("c", "assistant", previous=asked)
        store.put_block(turn, 0, text("x"))
        store.end_turn(turn)
        store.add_turn("c", "user", [text("x")])
        store.recover()
        store.interrupted()
        with store._engine.connect() as connection:
            plans = [
                line[3]
                for sql, parameters in list(statements)
                if sql.startswith(("SELECT", "UPDATE"))
                for line in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)
            ]
    assert len(plans) > 10
    assert [plan for plan in plans if plan.startswith("SCAN") or plan.endswith("(conversation=?)")] == []


# -- recording ---------------------------------------------------------------------------------------------------------

CALL = FunctionCallContent(call_id="1", name="f", arguments={"a": 1})
RESULT = FunctionResultContent(call_id="1", outputs=[text("done")])
RUN = [CALL, RESULT, text("All done.")]


def run_of_tools(layout: list[list[int]] | None = None) -> Iterator[Any]:
    origin = Origin(api="openai-chat", issuer="openai", model="gpt-4.1")
    response = ChatResponse(id="r1", model="gpt-4.1", origin=origin)
    yield TurnStart(response=response)
    for index, content in enumerate(RUN):
        yield BlockStart(index=index, content=content)
        yield BlockStop(index=index, content=content)
    roles = ("assistant", "tool", "assistant")
    shells = [ChatMessage(role=role, origin=origin if role == "assistant" else None) for role in roles]
    choice = ChatChoice(messages=shells if layout else [], finish_reason=FinishReason(reason="stop", raw="stop"))
    usage = Usage(input_tokens=1, output_tokens=2)
    end = ChatResponse(id="r1", model="gpt-4.1", origin=origin, choices=[choice], usage=usage)
    yield TurnComplete(response=end, layout=[layout] if layout else [])


@pytest.mark.parametrize("layout", [None, [[0], [1], [2]]])
def test_record_stores_a_run_of_tools_as_one_turn(store: TurnStore, layout: Any) -> None:
    turn = store.begin_turn("c", "assistant")
    seen = []
    for event in record(run_of_tools(layout), store, turn):
        if isinstance(event, BlockStop):
            seen.append([block.sequence for block in store.blocks(turn)])
        if isinstance(event, TurnComplete):
            assert store.turn(turn).status == "complete"
    assert seen == [[0], [0, 1], [0, 1, 2]]
    ended = store.turn(turn)
    assert (ended.model, ended.usage, ended.stop_reason) == ("gpt-4.1", Usage(input_tokens=1, output_tokens=2), "stop")
    messages = store.load("c").messages
    assert [(m.role, m.contents) for m in messages] == [
        ("assistant", [CALL]),
        ("tool", [RESULT]),
        ("assistant", [RUN[2]]),
    ]
    assert messages[0].origin == Origin(api="openai-chat", issuer="openai", model="gpt-4.1")
    read = rows().decode_response(store.export("c")["turns"][0])
    assert (read.id, read.finish_reason, read.messages) == ("r1", FinishReason(reason="stop", raw="stop"), messages)


@given(st.data())
def test_record_stores_any_answer(shared: TurnStore, data: st.DataObject) -> None:
    answer = data.draw(strategies.responses())
    conversation = name()
    turn = shared.begin_turn(conversation, "assistant")
    list(record(unfold(answer), shared, turn))
    if answer.error is None:
        (row,) = shared.export(conversation)["turns"]
        first = answer.choices[:1]
        if any(m.contents for choice in first for m in choice.messages):
            assert rows().decode_response(row).choices == first
            assert shared.load(conversation).messages == first[0].messages


def test_record_keeps_the_messages_of_blocks_that_end_out_of_order(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    contents = [text("b"), text("a"), text("c")]
    shells = [ChatMessage(role="assistant", message_id=name) for name in ("one", "two")]
    events = [
        TurnStart(response=ChatResponse()),
        *(BlockStart(index=i, content=c) for i, c in enumerate(contents)),
        *(BlockStop(index=i, content=contents[i]) for i in (2, 0, 1)),
        TurnComplete(response=ChatResponse(choices=[ChatChoice(messages=shells)]), layout=[[[1], [0, 2]]]),
    ]
    list(record(iter(events), store, turn))
    assert [(m.message_id, m.text) for m in store.load("c").messages] == [("one", "a"), ("two", "bc")]
    assert [block.content for block in store.blocks(turn)] == contents
    assert [v for v in rows().check_request(store.export("c")) if v.severity == "refused"] == []


def test_record_stores_the_first_choice_as_the_transcript(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    answer = ChatResponse(
        id="r",
        choices=[
            ChatChoice(index=n, messages=[ChatMessage(role="assistant", contents=[text(words) for words in texts])])
            for n, texts in enumerate((["a", "b"], ["c"]))
        ],
    )
    list(record(unfold(answer), store, turn))
    assert [block.content.text for block in store.blocks(turn)] == ["a", "b", "c"]
    assert store.load("c").messages == answer.choices[0].messages
    assert rows().decode_response(store.export("c")["turns"][0]).choices == answer.choices[:1]


def test_end_turn_refuses_a_response_whose_blocks_differ_from_the_stored(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    store.put_block(turn, 3, text("a"))
    answer = ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=[text("a")])])])
    for response, order, message in (
        (ChatResponse(), None, "has 0 blocks, but the turn .* has 1"),
        (answer, [0], "does not have"),
        (answer, [3, 3], "or duplicates"),
        (answer, [], "has 1 block, but the turn .* has 0"),
    ):
        with pytest.raises(InvalidTurnError, match=message):
            store.end_turn(turn, response=response, order=order)
    store.end_turn(turn, response=answer)
    assert store.load("c").messages == answer.messages


def test_record_stores_a_block_again_if_it_changes_after_its_end(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    citation = Citation(url="https://a.example")
    events = [
        TurnStart(response=ChatResponse()),
        BlockStart(index=0, content=text("")),
        TextDelta(index=0, text="a"),
        BlockStop(index=0, content=text("a")),
        CitationDelta(index=0, citation=citation),
        BlockStart(index=1, content=text("")),
        BlockStop(index=1, content=text("b")),
        BlockCatchUp(index=1, content=text("B")),
        UsageDelta(usage=Usage(input_tokens=1)),
        TurnComplete(response=ChatResponse(), layout=[[[0, 1]]]),
    ]
    list(record(iter(events), store, turn))
    assert [b.content for b in store.blocks(turn)] == [TextContent(text="a", annotations=[citation]), text("B")]


def test_record_does_not_store_incomplete_blocks(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    events = [
        TurnStart(response=ChatResponse()),
        BlockStart(index=0, content=text("")),
        BlockStop(index=0, content=text("whole")),
        BlockStart(index=1, content=text("")),
        TextDelta(index=1, text="ha"),
        BlockStop(index=1, content=text("ha"), is_complete=False),
        TurnError(error=ErrorContent(message="Cut.", code="stream_ended"), response=ChatResponse(), layout=[[[0, 1]]]),
    ]
    list(record(iter(events), store, turn))
    ended = store.turn(turn)
    assert (ended.status, ended.error) == ("failed", ErrorContent(message="Cut.", code="stream_ended"))
    assert [m.text for m in store.load("c").messages] == ["whole"]


def test_record_stores_a_growing_result_at_its_end(store: TurnStore) -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    result = FunctionResultContent(call_id="c1", outputs=[text("Sunny in Oslo.")])
    message = ChatMessage(role="assistant", contents=[call, result])
    events = list(unfold(ChatResponse(choices=[ChatChoice(messages=[message])]), size=4))
    end = next(n for n, event in enumerate(events) if isinstance(event, BlockStop) and event.index == 1)
    for count in range(end - 3, end + 2):
        turn = store.begin_turn(f"c{count}", "assistant")
        list(record(events[:count], store, turn))
        stored = [block.content for block in store.blocks(turn)]
        assert stored == ([call, result] if count > end else [call])


@pytest.mark.parametrize("stop_at", range(8))
def test_record_interrupts_the_turn_if_its_reader_stops(store: TurnStore, stop_at: int) -> None:
    turn = store.begin_turn("c", "assistant")
    events = record(run_of_tools(), store, turn)
    taken = [next(events) for _ in range(stop_at)]
    events.close()
    stored = [event.content for event in taken if isinstance(event, BlockStop)]
    assert [block.content for block in store.blocks(turn)] == stored
    if stop_at:
        assert store.turn(turn).status == ("complete" if stop_at == 8 else "interrupted")
    assert store.turn(turn).is_open == (stop_at == 0)


def test_record_interrupts_the_turn_if_the_events_have_no_end(store: TurnStore) -> None:
    turn = store.begin_turn("c", "assistant")
    list(record(list(run_of_tools())[:3], store, turn))
    assert store.turn(turn).status == "interrupted"
    assert store.interrupted() == [store.turn(turn)]


@pytest.mark.parametrize(("error", "status"), [(ValueError("Broke."), "failed"), (KeyboardInterrupt(), "interrupted")])
def test_record_ends_the_turn_if_the_source_raises(store: TurnStore, error: BaseException, status: str) -> None:
    def source() -> Iterator[Any]:
        yield from list(run_of_tools())[:3]
        raise error

    turn = store.begin_turn("c", "assistant")
    with pytest.raises(type(error)):
        list(record(source(), store, turn))
    ended = store.turn(turn)
    assert ended.status == status
    assert ended.error == (ErrorContent(message="Broke.", code="ValueError") if status == "failed" else None)
    assert len(store.blocks(turn)) == 1


def test_record_raises_and_fails_the_turn_if_a_block_cannot_be_stored(store: TurnStore) -> None:
    turn = store.begin_turn("c", "user")
    seen = []
    with pytest.raises(InvalidTurnError, match="tool_use in a turn of the role user"):
        seen += record(run_of_tools(), store, turn)
    assert store.turn(turn).status == "failed"


# -- the async store ---------------------------------------------------------------------------------------------------


def test_async_store_has_the_methods_of_the_sync_store(url: str) -> None:
    async def events(stop: int) -> Any:
        for event in list(run_of_tools([[0], [1], [2]]))[:stop]:
            yield event

    async def go() -> None:
        async with await AsyncTurnStore.open(url) as store:
            asked = await store.add_turn("c", "user", [text("?")])
            turn = await store.begin_turn("c", "assistant", previous=asked)
            with pytest.raises(ConflictError, match="still being written"):
                await store.add_turn("c", "user", [text("?")])
            assert len([event async for event in arecord(events(8), store, turn)]) == 8
            assert (await store.turn(turn)).status == "complete"
            loaded = await store.load("c")
            assert [m.role for m in loaded.messages] == ["user", "assistant", "tool", "assistant"]
            assert [p.turn.id async for p in store.stream("c")] == [asked.id, turn.id]
            assert (await store.export("c"))["turns"][1]["blocks"][0]["block_type"] == "tool_use"
            assert [t.id for t in await store.turns("c")] == [asked.id, turn.id]
            assert [c.id for c in await store.conversations()] == ["c"]
            assert (await store.conversation("c")).turns == 2
            other = await store.begin_turn("d", "assistant")
            listening = arecord(events(8), store, other)
            await anext(listening)
            await listening.aclose()
            assert [t.id for t in await store.interrupted()] == [other.id]
            await store.put_block(turn, 0, CALL)
            await store.describe_turn(await store.begin_turn("e", "assistant"), model="m")
            saved = ChatRequest(model="m", messages=loaded.messages)
            await store.save("f", saved)
            assert await store.load("f") == saved
            await store.add_messages("g", loaded.messages)
            assert await store.delete_turn(asked) == 2
            await store.delete("c")
        async with await AsyncTurnStore.open(url) as again:
            assert [t.conversation for t in await again.interrupted()] == ["d", "e"]
            assert await again.recover() == 0

    asyncio.run(go())
    with TurnStore.open(url) as store:
        assert store.load("f").model == "m"


def public_parameters(kind: type[Any]) -> dict[str, list[tuple[str, Any, Any]]]:
    """Return the public methods of a class, with the name, the kind and the default of each parameter."""
    methods = inspect.getmembers(kind, inspect.isroutine)
    public = [(name, method) for name, method in methods if not name.startswith("_")]
    return {
        name: [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()]
        for name, method in public
    }


@pytest.mark.parametrize(
    ("kind", "async_kind", "some"),
    [
        (TurnStore, AsyncTurnStore, {"open", "close", "begin_turn", "put_block", "load", "stream"}),
        (ConversationLog, AsyncConversationLog, {"add", "side_request", "entries", "stream"}),
    ],
)
def test_sync_and_async_class_have_the_same_methods(kind: type[Any], async_kind: type[Any], some: set[str]) -> None:
    parameters = public_parameters(kind)
    assert parameters == public_parameters(async_kind)
    assert some <= parameters.keys()
    for name in parameters:
        method, async_method = getattr(kind, name), getattr(async_kind, name)
        assert method.__doc__
        assert async_method.__doc__
        result, async_result = (inspect.signature(found).return_annotation for found in (method, async_method))
        if async_result.startswith("AsyncIterator["):
            assert async_result == f"Async{result}"
        else:
            assert inspect.iscoroutinefunction(async_method)
            assert async_result.removeprefix("Async") == result
        assert not inspect.iscoroutinefunction(method)


def test_stream_of_an_unknown_conversation_raises_when_it_is_called(store: TurnStore) -> None:
    with pytest.raises(NotFoundError):
        store.stream("nobody")
    with pytest.raises(NotFoundError):
        ConversationLog(store).stream("nobody")


def test_stream_reads_a_conversation_in_pages(store: TurnStore) -> None:
    store.add_messages("c", [ChatMessage(role="user", contents=[text(str(n))]) for n in range(450)])
    parts = store.stream("c")
    next(parts)
    store.delete("c")
    assert 1 < sum(1 for _ in parts) + 1 < 450


def test_arecord_interrupts_the_turn_if_its_task_is_cancelled(url: str) -> None:
    async def endless() -> Any:
        for event in list(run_of_tools())[:3]:
            yield event
        await asyncio.sleep(1000)

    async def go() -> None:
        async with await AsyncTurnStore.open(url) as store:
            turn = await store.begin_turn("c", "assistant")
            reached = asyncio.Event()

            async def listen() -> None:
                async for event in arecord(endless(), store, turn):
                    if isinstance(event, BlockStop):
                        reached.set()

            task = asyncio.create_task(listen())
            await reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await store.turn(turn)).status == "interrupted"
            assert len(await store.blocks(turn)) == 1

    asyncio.run(go())


# -- several writers ---------------------------------------------------------------------------------------------------


def test_concurrent_stores_that_follow_the_same_turn_conflict(url: str) -> None:
    with TurnStore.open(url) as store:
        first = store.add_turn("c", "user", [text("x")])
        outcomes: list[Any] = []
        barrier = threading.Barrier(6)

        def go(number: int) -> None:
            with TurnStore.open(url) as own:
                barrier.wait()
                try:
                    outcomes.append(own.add_turn("c", "assistant", [text(str(number))], previous=first))
                except ConflictError as error:
                    outcomes.append(error)

        threads = [threading.Thread(target=go, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len([o for o in outcomes if isinstance(o, ConflictError)]) == 5
        assert len(store.turns("c")) == 2


def start(*arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_turns_of_concurrent_processes_do_not_interleave(url: str) -> None:
    processes, each = (4, 25) if PROFILE == "deep" else (3, 6)
    with TurnStore.open(url) as store:
        store.add_turn("c", "user", [text("start")])
        writers = [start("append", url, "c", each) for _ in range(processes)]
        outcomes = [process.communicate() for process in writers]
        assert [errors for _, errors in outcomes] == [""] * processes
        printed = [json.loads(line) for output, _ in outcomes for line in output.splitlines()]
        turns = store.turns("c", limit=1000)
        assert len(turns) == 1 + processes * each
        assert [turn.previous for turn in turns[1:]] == [turn.id for turn in turns[:-1]]
        assert {(turn.id, turn.previous) for turn in turns[1:]} == {
            (s["turn"], s["previous"]) for s in printed if "turn" in s
        }
        assert all(
            "load the conversation" in s["conflict"] or "being written" in s["conflict"]
            for s in printed
            if "turn" not in s
        )
        for turn in turns[1:]:
            words = [block.content.text.rsplit(".", 1) for block in store.blocks(turn)]
            assert [index for _, index in words] == ["0", "1", "2"]
            assert len({whose for whose, _ in words}) == 1


# -- crashes -----------------------------------------------------------------------------------------------------------


def test_open_interrupts_turns_of_dead_writers_only(url: str) -> None:
    with TurnStore.open(url) as store:
        living, dying = start("hold", url, "living"), start("hold", url, "dying")
        turns = [json.loads(process.stdout.readline())["turn"] for process in (living, dying)]
        with TurnStore.open(url) as other:
            assert [other.turn(turn).status for turn in turns] == ["open", "open"]
            with pytest.raises(ConflictError, match="still being written"):
                other.add_turn("dying", "user", [text("?")])
        dying.kill()
        dying.wait()
        wait_until_closed(store, turns[1])
        with TurnStore.open(url) as other:
            assert [other.turn(turn).status for turn in turns] == ["open", "interrupted"]
            other.add_turn("dying", "user", [text("?")])
        printed, _ = living.communicate("go on\n")
        assert json.loads(printed)["ended"]
        assert store.turn(turns[0]).status == "complete"
        assert [block.content.text for block in store.blocks(turns[0])] == ["first", "second"]


def wait_until_closed(store: TurnStore, turn: str) -> None:
    """Wait until the database has noticed the end of a process. A server notices it with a delay."""
    deadline = time.monotonic() + 30
    while store.turn(turn).is_open and time.monotonic() < deadline:
        store.recover()
        time.sleep(0.01)


def test_add_turn_follows_the_turn_of_a_dead_writer_in_an_open_store(url: str) -> None:
    with TurnStore.open(url) as store:
        dying = start("hold", url, "c")
        turn = json.loads(dying.stdout.readline())["turn"]
        dying.kill()
        dying.wait()
        deadline = time.monotonic() + 30
        while True:
            try:
                store.add_turn("c", "user", [text("go on")])
                break
            except ConflictError:
                assert time.monotonic() < deadline
        assert store.turn(turn).status == "interrupted"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40 if PROFILE == "deep" else 3))
def test_complete_blocks_survive_a_kill_of_the_writer_at_any_time(url: str, seed: int) -> None:
    choose = random.Random(seed)
    printed: list[dict[str, Any]] = []
    rounds = 3
    for number in range(rounds):
        process = start("run", url, seed * rounds + number)
        for _ in range(choose.randrange(1, 25)):
            printed.append({**json.loads(process.stdout.readline()), "seed": seed * rounds + number})
        time.sleep(choose.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0]
        printed += [
            {**json.loads(line), "seed": seed * rounds + number} for line in rest.splitlines() if line.endswith("}")
        ]
        check_stored_turns(url, printed)


def check_stored_turns(url: str, printed: list[dict[str, Any]]) -> None:
    with TurnStore.open(url) as store:
        seeds = {line["turn"]: (line["seed"], line["number"]) for line in printed}
        for turn in seeds:
            wait_until_closed(store, turn)
        turns = store.turns(writer.CONVERSATION, limit=100_000)
        assert [turn.previous for turn in turns[1:]] == [turn.id for turn in turns[:-1]]
        ended = {line["turn"] for line in printed if "ended" in line}
        for turn in turns:
            if turn.id in seeds:
                blocks = store.blocks(turn)
                assert [block.sequence for block in blocks] == list(range(len(blocks)))
                expected = [writer.block(*seeds[turn.id], block.sequence) for block in blocks]
                assert [block.content for block in blocks] == expected
                last = max(
                    (line["block"] for line in printed if line["turn"] == turn.id and "block" in line), default=-1
                )
                assert len(blocks) > last
            assert turn.status == "complete" if turn.id in ended else turn.status in ("complete", "interrupted")
        request = store.load(writer.CONVERSATION)
        asked = ChatMessage(role="user", contents=[text("Go on.")])
        assert_can_be_sent(ChatRequest(model="m", messages=[*request.messages, asked], origin=request.origin))
        store.add_turn(writer.CONVERSATION, "user", [text("Go on.")])


MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro",
}


def assert_can_be_sent(request: ChatRequest) -> None:
    for api, model in MODELS.items():
        adapter = contentmodel.adapter(api)
        payload = adapter.encode_request(request, model=model).payload
        assert [v for v in adapter.check_request(payload, model) if v.severity == "refused"] == []


@pytest.mark.parametrize("kept", range(1, 6))
def test_turn_interrupted_after_any_block_can_be_continued(store: TurnStore, kept: int) -> None:
    """Calls without results get placeholders when the transcript is sent, also to its own API."""
    origin = writer.ORIGIN
    store.add_turn("c", "user", [text("Do it.")])
    turn = store.begin_turn("c", "assistant", origin=origin, model=origin.model)
    contents = [
        ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="c2ln")),
        CALL,
        FunctionCallContent(call_id="2", name="f", arguments={}),
        RESULT,
        text("Half"),
    ]
    for index, content in enumerate(contents[:kept]):
        store.put_block(turn, index, content)
    store.end_turn(turn, status="interrupted")
    store.add_turn("c", "user", [text("Go on.")])
    assert_can_be_sent(store.load("c"))


def test_load_sets_the_store_as_origin_if_a_saved_request_was_continued(store: TurnStore) -> None:
    origin = Origin(api="anthropic-messages", issuer="anthropic", model="claude-opus-4-8")
    asked = ChatMessage(role="user", contents=[text("Do it.")], origin=origin)
    saved = ChatRequest(model="claude-opus-4-8", messages=[asked], origin=origin)
    (first,) = store.save("c", saved)
    assert store.load("c").origin == origin
    turn = store.begin_turn("c", "assistant", origin=origin)
    store.put_block(turn, 0, CALL)
    store.end_turn(turn, status="interrupted")
    assert store.load("c").origin == ORIGIN
    assert store.load("c", upto=first) == saved
    store.add_turn("c", "user", [text("Go on.")])
    assert_can_be_sent(store.load("c"))
    with pytest.raises(ConflictError, match="already exists"):
        store.save("c", saved)


def test_writer_that_lost_its_lock_cannot_write_to_its_turn(database: str) -> None:
    with TurnStore.open(database) as store:
        turn = store.begin_turn("c", "assistant")
        store.put_block(turn, 0, text("a"))
        with engine_of(database).connect() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        with TurnStore.open(database) as other:
            wait_until_closed(other, turn.id)
            assert other.turn(turn).status == "interrupted"
            with pytest.raises(ConflictError, match="is interrupted"):
                store.put_block(turn, 1, text("b"))
            again = store.begin_turn("c", "assistant")
            assert other.recover() == 0
            with pytest.raises(ConflictError, match="still being written"):
                other.add_turn("c", "user", [text("?")])
            store.end_turn(again)
        assert [m.text for m in store.load("c").messages] == ["a", ""]


def test_sqlite_store_removes_its_lock_files_and_those_of_dead_writers(tmp_path: Path) -> None:
    database = tmp_path / "turns.db"
    process = start("hold", database, "c")
    process.stdout.readline()
    process.kill()
    process.wait()
    assert len(list(tmp_path.glob("*-writer-*"))) == 1
    with TurnStore.open(database) as store:
        store.begin_turn("d", "assistant")
        assert len(list(tmp_path.glob("*-writer-*"))) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["turns.db"]


def test_store_reports_a_lock_file_that_cannot_be_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TurnStore.open(tmp_path / "turns.db") as store:
        monkeypatch.setattr(store._leases, "_database", tmp_path / "nowhere" / "turns.db")
        with pytest.raises(HistoryError, match=r"cannot lock .*nowhere"):
            store.begin_turn("c", "assistant")
        assert store.writer is None


def test_save_keeps_model_usage_and_other_columns_of_imported_rows(store: TurnStore) -> None:
    wire = {
        "turns": [
            {"id": "t1", "role": "user", "started_at": "2026-01-01", "mood": "calm", "blocks": []},
            {
                "id": "t2",
                "previous": "t1",
                "role": "assistant",
                "model": "m",
                "usage": {"input_tokens": 3},
                "blocks": [],
            },
        ]
    }
    first, second = store.save("c", rows().decode_request(wire))
    assert (second.model, second.usage) == ("m", Usage(input_tokens=3))
    exported = store.export("c")["turns"]
    assert [turn["id"] for turn in exported] == [first.id, second.id]
    assert exported[0]["envelope"]["imported"] == {"id": "t1", "started_at": "2026-01-01", "mood": "calm"}


def test_save_keeps_records_of_messages_in_columns_and_loads_them(store: TurnStore) -> None:
    origin = Origin(api="anthropic-messages", issuer="anthropic", model="m")
    answers = [
        ChatMessage(
            role="assistant",
            contents=[FunctionCallContent(call_id="1", name="f")],
            created="2026-01-01T00:00:05Z",
            response_id="r1",
            usage=Usage(input_tokens=3, output_tokens=1, extra={"anthropic-messages": {"a": 1}}),
            finish_reason=FinishReason(reason="tool_calls", raw="tool_use"),
            origin=origin,
        ),
        ChatMessage(role="tool", contents=[FunctionResultContent(call_id="1", artifact={"a": [1]}, outcome="denied")]),
        ChatMessage(
            role="assistant",
            contents=[text("Done.")],
            created="2026-01-01T01:00:09+01:00",
            response_id="r2",
            usage=Usage(input_tokens=5, output_tokens=2),
            finish_reason=FinishReason(reason="stop", raw="end_turn"),
            origin=origin,
        ),
    ]
    asked = ChatMessage(role="user", contents=[text("Do it.")], created=1767225600, message_id="u1")
    branch = Branch(kind="agent", messages=answers[:1], parent_id="u1", call_id="1", name="helper")
    request = ChatRequest(messages=[asked, *answers], branches=[branch])
    first, second = store.save("c", request)
    assert store.load("c") == request
    assert first.started_at == first.ended_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert (second.model, second.stop_reason) == ("m", "end_turn")
    assert second.usage == Usage(input_tokens=8, output_tokens=3)
    assert second.started_at == datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert second.ended_at == datetime(2026, 1, 1, 0, 0, 9, tzinfo=UTC)
    assert store.turn(second) == second


@pytest.mark.parametrize("created", ["yesterday", 1e300, -1e300, 1767225600000, "0001-01-01T00:00:00+01:00"])
def test_save_takes_its_own_time_for_messages_whose_time_is_unreadable(store: TurnStore, created: float | str) -> None:
    request = ChatRequest(messages=[ChatMessage(role="user", contents=[text("x")], created=created)])
    before = datetime.now(UTC)
    (turn,) = store.save("c", request)
    assert before <= turn.started_at <= datetime.now(UTC)
    assert store.load("c") == request


def test_load_and_add_turn_do_not_register_a_writer(store: TurnStore) -> None:
    with pytest.raises(NotFoundError):
        store.load("c")
    assert store.writer is None
    store.add_turn("c", "user", [HostedFileContent(file_id="f")])
    assert store.writer is None


def test_load_reports_the_path_of_a_damaged_row(store: TurnStore, url: str) -> None:
    store.add_turn("c", "user", [text("x")])
    with engine_of(url).begin() as connection:
        connection.exec_driver_sql("UPDATE turn_blocks SET block_type = 'tool_result', content = '[1]'")
    with pytest.raises(DamagedError, match=r"of turns .*expected an object, got array at \$.blocks\[0\].content"):
        store.load("c")
