"""The session store for the Claude Agent SDK, on both databases, and the readers of that SDK on it and on our files."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

import sqlalchemy

from conftest import DATABASES
from contentmodel import TextContent, adapter, convert
from contentmodel.history import (
    AsyncConversationLog,
    AsyncTurnStore,
    ClaudeSessionStore,
    InvalidEntryError,
    NotFoundError,
)
from session_files import Claude, claude_session, codex_session, compacted_session, text

SESSION = "5e551011-0000-4000-8000-000000000000"
KEY = {"project_key": "-project", "session_id": SESSION}
AGENT = {**KEY, "subpath": "subagents/agent-1"}
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
COLLATION = "SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'"
WRITER = Path(__file__).parent / "history" / "writer.py"


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a coroutine function as a test."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    """Return the URL of a new database."""
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@asynccontextmanager
async def opened(url: str, fold: Any = None, **options: Any) -> AsyncIterator[ClaudeSessionStore]:
    async with await AsyncTurnStore.open(url, **options) as store:
        yield ClaudeSessionStore(store, fold)


def entries(file: list[Any]) -> list[Any]:
    """Return the lines of a file that the SDK sends: those that are objects."""
    return [line for line in file if isinstance(line, dict)]


def entry(uuid: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "user", **({} if uuid is None else {"uuid": uuid}), **fields}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


# -- entries -----------------------------------------------------------------------------------------------------------

AWKWARD = [
    entry("b", value=[1.0, -0.0, 1e300, 2**63, -(2**53) - 1, None, True, ""]),
    entry("a", text="\x00 \ud83d \u2028 ✅"),
    entry("\ud83d", contentmodel=1, kind="json", value=2),
    entry("", **{":json": "1"}),
    {"type": "\x00" * 200, "uuid": 7},
    {},
]


@pytest.mark.parametrize("file", [claude_session(), compacted_session(), AWKWARD], ids=["session", "compacted", "odd"])
@asynchronous
async def test_load_returns_equal_entries_in_order(url: str, file: list[Any]) -> None:
    lines = entries(file)
    async with opened(url) as store:
        await store.append(KEY, lines[:3])
        await store.append(KEY, [])
        await store.append(KEY, lines[3:])
        loaded = await store.load(KEY)
    assert loaded == lines
    assert repr(loaded) == repr(lines) or "postgresql" in url  # JSONB sorts the keys of objects.


@asynchronous
async def test_load_returns_none_for_unknown_keys(url: str) -> None:
    async with opened(url) as store:
        await store.append(KEY, [])
        assert await store.load(KEY) is None
        await store.append(KEY, [entry("a")])
        assert await store.load(AGENT) is None


@asynchronous
async def test_append_ignores_a_uuid_that_is_stored_under_the_same_key(url: str) -> None:
    """Entries without a uuid are kept each time. Another key may have the same uuid."""
    batch = [entry("a", n=1), entry(n=2), entry("b", n=3), entry("b", n=4)]
    async with opened(url) as store:
        await store.append(KEY, batch)
        await store.append(KEY, [*batch, entry("c", n=5)])
        await store.append(AGENT, batch[:1])
        assert [line["n"] for line in await store.load(KEY) or ()] == [1, 2, 3, 2, 5]
        assert await store.load(AGENT) == batch[:1]


@asynchronous
async def test_append_takes_batches_of_any_size(url: str) -> None:
    lines = [entry(f"{number}") for number in range(1_300)]
    async with opened(url) as store:
        await store.append(KEY, lines[:700])
        await store.append(KEY, lines)
        assert await store.load(KEY) == lines


@pytest.mark.parametrize("value", [object(), float("nan"), {1: 2}])
@asynchronous
async def test_append_refuses_entries_that_are_not_json(value: Any) -> None:
    async with opened(":memory:") as store:
        with pytest.raises(InvalidEntryError, match="cannot be stored"):
            await store.append(KEY, [entry("a"), entry("b", value=value)])
        assert await store.load(KEY) is None


@asynchronous
async def test_store_refuses_an_empty_subpath() -> None:
    async with opened(":memory:") as store:
        with pytest.raises(InvalidEntryError, match="the subpath of the key is empty"):
            await store.append({**KEY, "subpath": ""}, [entry("a")])


@asynchronous
async def test_other_entries_and_turns_of_the_conversation_are_not_entries_of_the_session(url: str) -> None:
    async with opened(url) as store:
        await store.append(KEY, [entry("a")])
        (conversation,) = await store.store.conversations()
        await AsyncConversationLog(store.store).add(conversation.id, "title", "A title")
        await store.store.add_turn(conversation.id, "user", [TextContent(text="Hello.")])
        await store.append(KEY, [entry("b")])
        assert await store.load(KEY) == [entry("a"), entry("b")]
        logged = await AsyncConversationLog(store.store).entries(conversation.id)
    assert [(line.number, line.text) for line in logged] == [(1, "user"), (2, "A title"), (3, "user")]


@asynchronous
async def test_concurrent_appends_and_log_entries_get_numbers_of_their_own(url: str) -> None:
    async with opened(url) as store:
        await store.append(KEY, [entry("a")])
        (conversation,) = await store.store.conversations()
        log = AsyncConversationLog(store.store)
        appends = (store.append(KEY, [entry(f"{number}"), entry("same")]) for number in range(12))
        notes = (log.add(conversation.id, "note", f"{number}") for number in range(12))
        await asyncio.gather(*(job for pair in zip(appends, notes, strict=True) for job in pair))
        assert len(await store.load(KEY) or ()) == 1 + 12 + 1
        assert [found.number for found in await log.entries(conversation.id)] == [*range(1, 1 + 12 + 1 + 12 + 1)]


@asynchronous
async def test_store_keeps_entries_when_it_is_opened_again(url: str) -> None:
    async with opened(url) as store:
        await store.append(KEY, [entry("a")])
    async with opened(url) as store:
        await store.append(KEY, [entry("a"), entry("b")])
        assert await store.load(KEY) == [entry("a"), entry("b")]


@pytest.mark.slow
def test_concurrent_processes_neither_lose_nor_double_entries(url: str) -> None:
    names, count = ("one", "two", "three"), 25
    command = [sys.executable, str(WRITER), "session", url]
    writers = [subprocess.Popen([*command, name, str(count)], stderr=subprocess.PIPE, text=True) for name in names]
    assert [process.communicate()[1] for process in writers] == [""] * len(names)

    async def load() -> Any:
        async with opened(url) as store:
            return await store.load({"project_key": "project", "session_id": "session"})

    loaded = asyncio.run(load())
    shared = [line["uuid"] for line in loaded if line["type"] == "shared"]
    assert sorted(shared) == sorted(f"shared-{number}" for number in range(count))
    for name in names:
        assert [line["number"] for line in loaded if line["type"] == name] == [*range(count)]


# -- keys --------------------------------------------------------------------------------------------------------------


@asynchronous
async def test_list_sessions_returns_the_sessions_of_one_project(url: str) -> None:
    """Names are compared exactly, and slashes in them do not join keys."""
    projects = ["p", "P", "p/q", "p%2Fq", "p0", "p-", "p ", "Projekt ä", "\x00\ud83d", ""]
    async with opened(url) as store:
        for project in projects:
            for session in ("s", "q/s", "s%", project):
                await store.append({"project_key": project, "session_id": session}, [entry(project=project, s=session)])
        for project in projects:
            listed = {found["session_id"] for found in await store.list_sessions(project)}
            assert listed == {"s", "q/s", "s%", project}
            for session in listed:
                loaded = await store.load({"project_key": project, "session_id": session})
                assert loaded == [entry(project=project, s=session)]
        assert await store.list_sessions("unknown") == []


@asynchronous
async def test_sessions_are_listed_in_a_database_with_a_language_collation(database: str) -> None:
    """Languages sort "-a" after "0", and ignore punctuation."""
    keys = [{"project_key": project, "session_id": "-0/~"} for project in ("-a", "a", "A", "a0", "a ")]
    async with opened(database) as store:
        async with store.store._engine.begin() as connection:
            if not (await connection.execute(sqlalchemy.text(COLLATION))).scalar():
                pytest.skip("this PostgreSQL has no ICU")
            await connection.execute(
                sqlalchemy.text('ALTER TABLE conversations ALTER COLUMN id TYPE VARCHAR COLLATE "en-x-icu"')
            )
        for key in keys:
            await store.append(key, [entry("a")])
            await store.append({**key, "subpath": "~"}, [entry("a")])
        for key in keys:
            assert [found["session_id"] for found in await store.list_sessions(key["project_key"])] == ["-0/~"]
            assert await store.list_subkeys(key) == ["~"]


@asynchronous
async def test_list_sessions_has_the_time_of_the_last_append_in_milliseconds(url: str) -> None:
    clock = Clock()
    async with opened(url, clock=clock) as store:
        await store.append(KEY, [entry("a")])
        clock.now += timedelta(milliseconds=1234, microseconds=999)
        await store.append(KEY, [entry("b")])
        clock.now += timedelta(days=1)
        await store.append(KEY, [entry("b")])
        await store.append(AGENT, [entry("c")])
        milliseconds = int(NOON.timestamp()) * 1000 + 1234
        assert await store.list_sessions("-project") == [{"session_id": SESSION, "mtime": milliseconds}]


@asynchronous
async def test_subkeys_are_listed_and_deleted_with_their_session(url: str) -> None:
    paths = ["subagents/agent-1", "subagents/workflows/w%/agent-ä", "/odd//path"]
    other = {**KEY, "session_id": f"{SESSION}0"}
    async with opened(url) as store:
        for path in paths:
            await store.append({**KEY, "subpath": path}, [entry("a")])
            await store.append({**other, "subpath": path}, [entry("a")])
        assert await store.list_sessions("-project") == []
        await store.append(KEY, [entry("a")])
        assert sorted(await store.list_subkeys(KEY)) == sorted(paths)
        await store.delete(AGENT)
        assert sorted(await store.list_subkeys(KEY)) == sorted(paths[1:])
        await store.delete(KEY)
        await store.delete(KEY)
        assert await store.list_subkeys(KEY) == await store.list_sessions("-project") == []
        assert await store.load(KEY) is await store.load({**KEY, "subpath": paths[1]}) is None
        assert sorted(await store.list_subkeys(other)) == sorted(paths)
        await store.append(KEY, [entry("a")])
        assert await store.load(KEY) == [entry("a")]


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [claude_session(), compacted_session()], ids=["session", "compacted"])
@asynchronous
async def test_request_is_what_the_adapter_decodes(url: str, file: list[Any]) -> None:
    lines = entries(file)
    async with opened(url) as store:
        await store.append(KEY, lines)
        request = await store.request(KEY)
        assert request == adapter("claude-code-session").decode_request(lines)
        turns = await store.store.save("copy", request)
        assert await store.store.load("copy") == request
    assert [turn.usage for turn in turns if turn.role == "assistant"] != []
    assert all(turn.usage is not None for turn in turns if turn.role == "assistant")


@asynchronous
async def test_request_of_an_unknown_key_raises_not_found() -> None:
    async with opened(":memory:") as store:
        with pytest.raises(NotFoundError, match="there is no session 'claude-code-session/-project/5e551011"):
            await store.request(KEY)


# -- summaries ---------------------------------------------------------------------------------------------------------


class Folding:
    """A fold like that of the SDK, which records the number of entries of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[bool, int]] = []

    def __call__(self, previous: Any, key: Any, new: list[Any]) -> Any:
        self.calls.append((previous is not None, len(new)))
        seen = [*(previous["data"]["seen"] if previous else []), *(line.get("uuid") for line in new)]
        return {"session_id": key["session_id"], "mtime": 0, "data": {"seen": seen}}


@asynchronous
async def test_summaries_are_folded_from_new_entries_only(url: str) -> None:
    fold, clock = Folding(), Clock()
    async with opened(url, fold, clock=clock) as store:
        await store.append(KEY, [entry("a"), entry("b")])
        clock.now += timedelta(seconds=1)
        await store.append(KEY, [entry("b"), entry("c")])
        await store.append(KEY, [entry("c")])
        await store.append(AGENT, [entry("d")])
        await store.append({**KEY, "project_key": "other"}, [entry("e")])
        mtime = (int(NOON.timestamp()) + 1) * 1000
        summary = {"session_id": SESSION, "mtime": mtime, "data": {"seen": ["a", "b", "c"]}}
        assert await store.list_session_summaries("-project") == [summary]
        assert await store.list_sessions("-project") == [{"session_id": SESSION, "mtime": mtime}]
        assert await store.load(KEY) == [entry("a"), entry("b"), entry("c")]
        await store.delete(KEY)
        assert await store.list_session_summaries("-project") == []
    assert fold.calls == [(False, 2), (True, 1), (False, 1)]


@asynchronous
async def test_summary_includes_entries_that_a_store_without_a_fold_appended(url: str) -> None:
    """Until then, the summary is older than its session, so that the SDK loads the session."""
    fold, clock = Folding(), Clock()
    async with opened(url, fold, clock=clock) as store:
        await ClaudeSessionStore(store.store).append(KEY, [entry("a")])
        assert await store.list_session_summaries("-project") == []
        await store.append(KEY, [entry("b")])
        clock.now += timedelta(seconds=1)
        await ClaudeSessionStore(store.store).append(KEY, [entry("c")])
        ((summary,), (listed,)) = await store.list_session_summaries("-project"), await store.list_sessions("-project")
        assert summary["mtime"] < listed["mtime"]
        await store.append(KEY, [entry("d")])
        (summary,) = await store.list_session_summaries("-project")
        assert summary["data"] == {"seen": ["a", "b", "c", "d"]}
    assert fold.calls == [(False, 2), (False, 4)]


@asynchronous
async def test_store_without_a_fold_has_no_summaries() -> None:
    async with opened(":memory:") as store:
        with pytest.raises(NotImplementedError, match="pass fold="):
            await store.list_session_summaries("-project")


# -- the SDK -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sdk() -> Any:
    """The Claude Agent SDK. Its wheel has a program of 380 MB, so it is not among the packages for development."""
    return pytest.importorskip("claude_agent_sdk")


@pytest.mark.parametrize("with_fold", [True, False])
@asynchronous
async def test_store_passes_the_conformance_tests_of_the_sdk(sdk: Any, url: str, with_fold: bool) -> None:
    from claude_agent_sdk.testing import run_session_store_conformance

    stores: list[AsyncTurnStore] = []

    async def make() -> ClaudeSessionStore:
        stores.append(await AsyncTurnStore.open(url))
        for conversation in await stores[-1].conversations(1_000):
            await stores[-1].delete(conversation.id)
        return ClaudeSessionStore(stores[-1], sdk.fold_session_summary if with_fold else None)

    skipped = frozenset() if with_fold else frozenset({"list_session_summaries"})
    await run_session_store_conformance(make, skip_optional=skipped)
    for store in stores:
        await store.close()


@pytest.mark.parametrize("with_fold", [True, False])
@asynchronous
async def test_readers_of_the_sdk_return_equal_values_from_both_stores(
    sdk: Any, url: str, tmp_path: Path, with_fold: bool
) -> None:
    folder = str(tmp_path)
    reference = sdk.InMemorySessionStore()
    key = {"project_key": sdk.project_key_for_directory(folder), "session_id": SESSION}
    agent = {**key, "subpath": "subagents/agent-a1"}
    compacted = {**key, "session_id": SESSION.replace("0000", "0001")}
    metadata = {"type": "agent_metadata", "agentType": "general-purpose", "toolUseId": "toolu_9"}
    side = Claude()
    side.user("Count.", isSidechain=True, agentId="a1")
    side.answer("msg_4", text("One."), isSidechain=True, agentId="a1")
    async with opened(url, sdk.fold_session_summary if with_fold else None) as ours:
        for store in (reference, ours):
            await store.append(key, entries(claude_session())[:5])
            await store.append(key, entries(claude_session())[5:])
            await store.append(compacted, entries(compacted_session()))
            await store.append(agent, [metadata, *side.lines])
        for read, *arguments in [
            (sdk.get_session_messages_from_store, SESSION),
            (sdk.get_session_messages_from_store, compacted["session_id"]),
            (sdk.list_subagents_from_store, SESSION),
            (sdk.get_subagent_messages_from_store, SESSION, "a1"),
        ]:
            expected = await read(reference, *arguments, directory=folder)
            assert expected
            assert await read(ours, *arguments, directory=folder) == expected
        for store in (reference, ours):
            await sdk.rename_session_via_store(store, SESSION, "A title", directory=folder)
            await sdk.tag_session_via_store(store, SESSION, "a tag", directory=folder)
        infos = [await sdk.list_sessions_from_store(store, directory=folder) for store in (reference, ours)]
        assert len(infos[0]) == 2
        known = [{info.session_id: (info.summary, info.tag, info.first_prompt) for info in found} for found in infos]
        assert known[0] == known[1]
        fork = await sdk.fork_session_via_store(ours, SESSION, directory=folder)
        assert await sdk.get_session_messages_from_store(ours, fork.session_id, directory=folder)
        await sdk.delete_session_via_store(ours, SESSION, directory=folder)
        assert await sdk.list_subagents_from_store(ours, SESSION, directory=folder) == []


@asynchronous
async def test_sdk_imports_and_resumes_sessions_from_files(sdk: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    write(sdk, tmp_path, entries(claude_session()))
    async with opened(":memory:") as store:
        for _ in range(2):
            await sdk.import_session_to_store(SESSION, store, directory=str(tmp_path))
        key = {"project_key": sdk.project_key_for_directory(tmp_path), "session_id": SESSION}
        loaded = [line for line in await store.load(key) or () if "uuid" in line]
        assert loaded == [line for line in entries(claude_session()) if "uuid" in line]


def write(sdk: Any, folder: Path, lines: list[Any]) -> None:
    """Write the file of a session where the SDK finds it."""
    from contentmodel.lines import write_lines

    path = folder / "config" / "projects" / sdk.project_key_for_directory(folder) / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(write_lines(lines))


def test_sdk_reads_the_messages_of_a_converted_rollout(sdk: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    lines = convert(
        codex_session(),
        source="codex-rollout",
        target="claude-code-session",
        policies={"session": SESSION, "directory": str(tmp_path)},
    ).payload
    write(sdk, tmp_path, lines)
    read = sdk.get_session_messages(SESSION, directory=str(tmp_path))
    assert [message.message for message in read] == [line["message"] for line in lines if "message" in line]
    assert "It stays." in str(read[-1].message)
    (info,) = sdk.list_sessions(directory=str(tmp_path))
    assert (info.session_id, info.cwd) == (SESSION, str(tmp_path))
