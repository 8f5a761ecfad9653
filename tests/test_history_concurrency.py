"""Stores under concurrency: first turns at the same time, broken connections, and cancelled calls."""

from __future__ import annotations

import asyncio
import itertools
import random
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from conftest import DATABASES, PROFILE
from contentmodel import TextContent, fold
from contentmodel.events import TurnComplete
from contentmodel.history import AsyncTurnStore, ConflictError, HistoryError, Turn, TurnStore
from contentmodel.history.engines import url_of
from contentmodel.server import EventReader
from scripted import AsyncScripted, answer
from services.postgresql import NotInstalledError, cluster, stopped
from test_server_app import serving

BOUND = 120
"""A test fails if it takes more seconds. No assertion depends on how long anything takes."""
STORES = 10 if PROFILE == "deep" else 3
CANCELLATIONS = 300 if PROFILE == "deep" else 40


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    """Return the URL of a new database."""
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


def bounded(work: Awaitable[Any]) -> Any:
    """Run `work`. Fail if it hangs."""

    async def run() -> Any:
        async with asyncio.timeout(BOUND):
            return await work

    return asyncio.run(run())


def text(value: str) -> TextContent:
    return TextContent(text=value)


async def write_turn(store: AsyncTurnStore, conversation: str) -> Turn:
    turn = await store.begin_turn(conversation, "assistant")
    await store.put_block(turn, 0, text(conversation))
    return await store.end_turn(turn)


async def assert_complete(store: AsyncTurnStore, conversations: list[str]) -> None:
    for conversation in conversations:
        assert [message.text for message in (await store.load(conversation)).messages] == [conversation]


def break_connections(database: str) -> None:
    """End all connections to the database, as a restart of the server does."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(url_of(database, is_async=False), poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# -- first turns -------------------------------------------------------------------------------------------------------


def test_first_turns_of_several_tasks_begin_at_once(url: str) -> None:
    async def run(names: list[str]) -> None:
        async with await AsyncTurnStore.open(url) as store:
            turns = await asyncio.gather(*(write_turn(store, name) for name in names))
            assert {turn.status for turn in turns} == {"complete"}
            await assert_complete(store, names)

    for number in range(STORES):
        bounded(run([f"{number}.{index}" for index in range(5)]))


def test_first_turns_of_several_threads_begin_at_once(url: str, tmp_path: Path) -> None:
    for number in range(STORES):
        with TurnStore.open(url) as store:
            names = [f"{number}.{index}" for index in range(4)]
            assert write_in_threads(store, names) == []
            assert [store.load(name).messages[0].text for name in names] == names
            assert len(list(tmp_path.glob("*-writer-*"))) <= 1
        assert not list(tmp_path.glob("*-writer-*"))


def write_in_threads(store: TurnStore, names: list[str]) -> list[BaseException]:
    """Write a turn of each conversation in a thread of its own. Return the errors. Fail if a thread hangs."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(names))

    def write(conversation: str) -> None:
        try:
            barrier.wait(BOUND)
            turn = store.begin_turn(conversation, "assistant")
            store.put_block(turn, 0, text(conversation))
            store.end_turn(turn)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(name,), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def test_failed_lock_file_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contentmodel.history import leases

    def refuse(connection: Any) -> None:
        connection.execute("PRAGMA user_version = 1")
        raise sqlite3.OperationalError("disk I/O error")

    with TurnStore.open(tmp_path / "turns.db") as store:
        monkeypatch.setattr(leases, "_lock", refuse)
        with pytest.raises(HistoryError, match="cannot lock"):
            store.begin_turn("c", "assistant")
        assert not list(tmp_path.glob("*-writer-*"))
        monkeypatch.undo()
        assert store.end_turn(store.begin_turn("c", "assistant")).status == "complete"


# -- broken connections ------------------------------------------------------------------------------------------------


def test_turns_of_several_tasks_begin_after_the_connections_broke(database: str) -> None:
    async def run() -> None:
        async with await AsyncTurnStore.open(database) as store:
            await write_turn(store, "before")
            for number in range(STORES):
                break_connections(database)
                names = [f"{number}.{index}" for index in range(10)]
                turns = await asyncio.gather(*(write_turn(store, name) for name in names))
                assert {turn.status for turn in turns} == {"complete"}
                await assert_complete(store, names)

    bounded(run())


@pytest.mark.slow
def test_store_works_again_after_a_restart_of_the_database() -> None:
    """The test has a cluster of its own: other tests use the shared one at the same time."""

    async def run(url: str) -> None:
        async with await AsyncTurnStore.open(url) as store, await AsyncTurnStore.open(url) as other:
            done, opened = await write_turn(store, "before"), await store.begin_turn("open", "assistant")
            await store.put_block(opened, 0, text("open"))
            with stopped(url):
                for call in (store.load("before"), store.put_block(opened, 1, text("lost")), write_turn(store, "down")):
                    with pytest.raises(HistoryError, match="database"):
                        await call
            # Nothing that was acknowledged is lost, and nothing else is there.
            assert [turn.id for turn in await store.turns("before")] == [done.id]
            assert [block.content for block in await store.blocks(opened)] == [text("open")]
            assert [found.id for found in await store.conversations()] == ["before", "open"]
            names = [f"after {number}" for number in range(10)]
            turns = await asyncio.gather(*(write_turn(store, name) for name in names))
            assert {turn.status for turn in turns} == {"complete"}
            await assert_complete(store, names)
            # The new lock also protects the turn that was open: no other store may take it.
            assert await other.recover() == 0
            await store.put_block(opened, 1, text(" end"))
            assert (await store.end_turn(opened)).status == "complete"
            assert [message.text for message in (await other.load("open")).messages] == ["open end"]
            assert (await write_turn(other, "other")).status == "complete"

    with own_cluster() as url:
        bounded(run(url))


@pytest.mark.slow
def test_server_works_again_after_a_restart_of_the_database() -> None:
    async def run(url: str) -> None:
        model = AsyncScripted(itertools.repeat(answer("One.", "Two three.")))
        async with serving(url, model, poll=0.05) as front:
            assert await ask(front.http, "before") == ["One.Two three."]
            with stopped(url):
                refused = await front.http.post("/conversations/down/turns", json={"content": "down"})
                assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
            names = [f"after {number}" for number in range(10)]
            assert await asyncio.gather(*(ask(front.http, name) for name in names)) == [["One.Two three."]] * 10
            for name in ("before", *names):
                texts = [message.text for message in (await front.store.load(name)).messages]
                assert texts == [name, "One.Two three."]
                assert [turn.status for turn in await front.store.turns(name)] == ["complete", "complete"]
            assert len(await front.store.conversations()) == 11

    with own_cluster() as url:
        bounded(run(url))


@contextmanager
def own_cluster() -> Iterator[str]:
    """Start a cluster. Skip the test if PostgreSQL is not installed."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(cluster())
        except NotInstalledError as error:
            pytest.skip(str(error))
        yield url


def test_open_turn_moves_to_the_new_lock_if_the_connection_of_the_old_one_broke(database: str) -> None:
    with TurnStore.open(database) as store, TurnStore.open(database) as other:
        turn, first = store.begin_turn("c", "assistant"), store.writer
        break_connections(database)
        store.end_turn(store.begin_turn("d", "assistant"))
        assert store.writer != first
        assert store.turn(turn).writer == store.writer
        assert other.recover() == 0
        with pytest.raises(ConflictError, match="another store"):
            other.put_block(turn, 0, text("a"))
        store.put_block(turn, 0, text("a"))
        assert store.end_turn(turn).status == "complete"


def test_close_interrupts_turns_whose_connection_broke(database: str) -> None:
    store = TurnStore.open(database)
    turn = store.begin_turn("c", "assistant")
    break_connections(database)
    store.close()
    with TurnStore.open(database) as other:
        assert other.turn(turn).status == "interrupted"


def test_lock_whose_key_another_session_holds_is_taken_with_another_key(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock is never waited for: the session that holds it may be a broken one of this store."""
    from contentmodel.history import leases

    class Id:
        def __init__(self, value: int) -> None:
            self.int, self.hex = value << 65, f"{value:032x}"

    ids = iter([*[7] * 2, *range(8, 100)])
    monkeypatch.setattr(leases.uuid, "uuid4", lambda: Id(next(ids)))
    with TurnStore.open(database) as store, TurnStore.open(database) as other:
        store.begin_turn("c", "assistant")
        other.begin_turn("d", "assistant")
        assert store.writer == "7"
        assert other.writer != "7"


# -- damaged writers ---------------------------------------------------------------------------------------------------

WRITERS = ["9" * 30, "9" * 5000, str(2**63), "-1", "1.5", "", "x", "../turns.db", "a\tb", "²", "f" * 300]


@pytest.mark.parametrize("writer", WRITERS, ids=range(len(WRITERS)))
def test_turn_with_a_damaged_writer_is_interrupted(url: str, writer: str) -> None:
    import sqlalchemy

    with TurnStore.open(url) as store:
        store.add_turn("other", "user", [text("Hi.")])
        turn = store.begin_turn("c", "assistant")
        engine = sqlalchemy.create_engine(url_of(url, is_async=False))
        with engine.begin() as connection:
            connection.execute(
                sqlalchemy.text("UPDATE turns SET writer = :w WHERE id = :id"), {"w": writer, "id": turn.id}
            )
        engine.dispose()
        with TurnStore.open(url) as opened:
            assert opened.turn(turn).status == "interrupted"
            assert opened.load("other").messages[0].text == "Hi."


# -- cancelled calls ---------------------------------------------------------------------------------------------------


async def cancelled(work: Awaitable[Any], choose: random.Random) -> Any:
    """Run `work`, and cancel it at a random moment. Return its result; None if it was cancelled before its end."""
    task = asyncio.ensure_future(work)
    if choose.random() < 0.5:
        for _ in range(choose.randrange(30)):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(choose.random() * 0.012)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return None


async def step_of(store: AsyncTurnStore, number: int, choose: random.Random) -> None:
    """Cancel one method of the store, and check that the conversation can be continued by the usual calls."""
    name = f"c{number}"
    kind = choose.choice(["begin_turn", "add_turn", "put_block", "end_turn", "load"])
    if kind == "begin_turn":
        begun = await cancelled(store.begin_turn(name, "assistant"), choose)
        if begun is not None:
            await store.end_turn(begun)
    elif kind == "add_turn":
        added = await cancelled(store.add_turn(name, "user", [text("Hi.")]), choose)
        assert added is None or (await store.turn(added)).status == "complete"
    else:
        turn = await store.begin_turn(name, "assistant")
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "put_block": lambda: store.put_block(turn, 0, text("a")),
            "end_turn": lambda: store.end_turn(turn),
            "load": lambda: store.load(name),
        }
        await cancelled(calls[kind](), choose)
        if kind != "end_turn":
            await store.put_block(turn, 0, text("a"))
            assert [block.content.text for block in await store.blocks(turn)] == ["a"]
        assert (await store.end_turn(turn)).status == "complete"
    assert (await write_turn(store, name)).status == "complete"


@pytest.mark.parametrize("seed", range(5 if PROFILE == "deep" else 1))
def test_calls_that_are_cancelled_at_any_moment_leave_the_store_usable(url: str, seed: int) -> None:
    choose = random.Random(seed)

    async def run() -> None:
        for _ in range(10):
            opened = await cancelled(AsyncTurnStore.open(url), choose)
            if opened is not None:
                await opened.close()
        async with await AsyncTurnStore.open(url) as store:
            for number in range(CANCELLATIONS):
                await step_of(store, number, choose)
            assert await store.recover() == 0
            assert await store.interrupted() == []
            conversations = await store.conversations(limit=CANCELLATIONS)
            turns = [turn for each in conversations for turn in await store.turns(each.id)]
            assert {turn.status for turn in turns} == {"complete"}
            # The session of the lock is the only connection in use.
            assert store._engine.pool.checkedout() == ("postgresql" in url)

    bounded(run())


def test_calls_of_several_tasks_that_are_cancelled_leave_the_store_usable(url: str) -> None:
    choose = random.Random(7)

    async def run() -> None:
        async with await AsyncTurnStore.open(url) as store:
            for round_ in range(CANCELLATIONS // 8):
                numbers = [round_ * 8 + index for index in range(8)]
                await asyncio.gather(*(step_of(store, number, choose) for number in numbers))
            assert store._engine.pool.checkedout() == ("postgresql" in url)

    bounded(run())


def test_cancelled_change_is_rolled_back_if_the_database_was_locked(tmp_path: Path) -> None:
    """The cancellation does not wait for the lock, and the change is not made after it."""
    path = tmp_path / "turns.db"

    async def run() -> None:
        async with await AsyncTurnStore.open(path) as store:
            await store.add_turn("c", "user", [text("1")])
            blocker = sqlite3.connect(path, isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            for call in (store.add_turn("c", "user", [text("2")]), store.begin_turn("c", "assistant")):
                task = asyncio.ensure_future(call)
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            blocker.execute("ROLLBACK")
            blocker.close()
            await store.add_turn("c", "user", [text("3")])
            assert [message.text for message in (await store.load("c")).messages] == ["1", "3"]
        assert not list(tmp_path.glob("*-writer-*"))

    bounded(run())


def test_cancelled_begin_turn_that_was_committed_is_withdrawn(url: str) -> None:
    async def run() -> None:
        async with await AsyncTurnStore.open(url) as store:
            await write_turn(store, "c")
            committed, go_on, perform = asyncio.Event(), asyncio.Event(), store._perform

            async def slow(step: Any) -> Any:
                result = await perform(step)
                if isinstance(result, Turn):
                    committed.set()
                    await go_on.wait()
                return result

            store._perform = slow  # type: ignore[method-assign]
            task = asyncio.ensure_future(store.begin_turn("c", "assistant"))
            await committed.wait()
            task.cancel()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [turn.status for turn in await store.turns("c")] == ["complete"]
            assert (await write_turn(store, "c")).status == "complete"

    bounded(run())


def test_broken_lock_session_is_replaced_if_it_waits_for_a_rollback(database: str) -> None:
    with TurnStore.open(database) as store:
        store.end_turn(store.begin_turn("c", "assistant"))
        # The state that an interrupted driver leaves behind.
        store._leases._session.invalidate()
        assert store.end_turn(store.begin_turn("c", "assistant")).status == "complete"


# -- servers -----------------------------------------------------------------------------------------------------------

SERVER = """
import itertools, sys
sys.path.insert(0, sys.argv[3])
import uvicorn
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import create_app
from scripted import AsyncScripted, answer

model = AsyncScripted(itertools.repeat(answer("One.", "Two three.")))
uvicorn.run(create_app(sys.argv[1], AsyncToolRunner(model)), port=int(sys.argv[2]), log_level="error")
"""
CLIENTS = 200 if PROFILE == "deep" else 40


async def ask(http: httpx2.AsyncClient, conversation: str) -> list[str]:
    """Ask a question, and return the texts of the answer's blocks in the events."""
    begun = await http.post(f"/conversations/{conversation}/turns", json={"content": conversation})
    assert begun.status_code == 201, begun.text
    reader, events = EventReader(), []
    async with http.stream("GET", begun.json()["events"]) as response:
        async for data in response.aiter_bytes():
            events += reader.feed(data)
    assert isinstance(events[-1], TurnComplete)
    return [message.text for message in fold(events).messages]


async def ask_all(ports: list[int]) -> list[list[str]]:
    """Ask `CLIENTS` questions at once as soon as the servers listen."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=BOUND))
            for port in ports
        ]
        for port in ports:
            while True:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                await asyncio.sleep(0.02)
        return await asyncio.gather(*(ask(servers[index % len(servers)], f"c{index}") for index in range(CLIENTS)))


def test_cold_servers_of_one_database_answer_all_clients(database: str) -> None:
    frees = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [free.getsockname()[1] for free in frees]
    for free in frees:
        free.close()
    command = [sys.executable, "-c", SERVER, database]
    here = str(Path(__file__).parent)
    servers = [subprocess.Popen([*command, str(port), here], stderr=subprocess.PIPE, text=True) for port in ports]
    try:
        answers = bounded(ask_all(ports))
        assert answers == [["One.Two three."]] * CLIENTS
        with TurnStore.open(database) as store:
            for index in range(CLIENTS):
                assert [turn.status for turn in store.turns(f"c{index}")] == ["complete", "complete"]
                texts = [message.text for message in store.load(f"c{index}").messages]
                assert texts == [f"c{index}", "One.Two three."]
        for server in servers:
            server.terminate()
        assert [server.communicate(timeout=BOUND)[1] for server in servers] == ["", ""]
    finally:
        for server in servers:
            server.kill()
            server.wait()
