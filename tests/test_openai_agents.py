"""Sessions of the OpenAI Agents SDK: the SDK writes a file, we read it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contentmodel import DecodeError, adapter, audit, convert, detect
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.interop.openai_agents import items, sessions
from contentmodel.message import contents_of

API = "openai-responses"
ITEMS: list[Any] = [
    {"role": "user", "content": "Book a trip to Oslo."},
    {
        "type": "reasoning",
        "id": "__fake_id__",
        "summary": [{"type": "summary_text", "text": "Another agent books."}],
        "provider_data": {"model": "m", "response_id": "r1"},
    },
    {
        "type": "function_call",
        "id": "__fake_id__",
        "call_id": "c1",
        "name": "transfer_to_booking",
        "arguments": "{}",
        "status": "completed",
        "provider_data": {"model": "m"},
    },
    {"type": "function_call_output", "call_id": "c1", "output": '{"assistant": "Booking"}'},
    {
        "type": "message",
        "id": "__fake_id__",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Booked.", "annotations": [], "logprobs": []}],
        "provider_data": {"model": "m"},
    },
]
"""A handoff with a model of another provider: ids that are no ids, and fields of the provider."""


def stored(path: Path, **conversations: list[Any]) -> Path:
    """Write sessions with the SDK."""
    agents = pytest.importorskip("agents", reason="openai-agents, which writes the sessions, is not installed")

    async def write() -> None:
        for name, conversation in conversations.items():
            session = agents.SQLiteSession(name, path)
            await session.add_items(conversation)
            session.close()

    asyncio.run(write())
    return path


def by_hand(path: Path, *rows: Any) -> Path:
    """Write a session with the tables of the SDK."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP)")
        database.execute(
            "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_data TEXT)"
        )
        database.execute("INSERT INTO agent_sessions (session_id) VALUES ('a'), ('empty')")
        database.executemany(
            "INSERT INTO agent_messages (session_id, message_data) VALUES ('a', ?)", [(row,) for row in rows]
        )
        database.commit()
    return path


@pytest.mark.slow
def test_sessions_of_the_sdk_are_read_in_order(tmp_path: Path) -> None:
    path = stored(tmp_path / "chats.db", b=ITEMS, a=ITEMS[:1])
    before = path.read_bytes()
    assert sessions(path) == ["b", "a"]
    assert (items(path, "b"), items(str(path), "a")) == (ITEMS, ITEMS[:1])
    assert path.read_bytes() == before


def test_items_are_written_unchanged_and_have_calls_and_results() -> None:
    assert detect(ITEMS) == (API, "request")
    request = adapter(API).decode_request(ITEMS)
    assert adapter(API).encode_request(request).payload == ITEMS
    handoff = [one for one in contents_of(request.messages) if isinstance(one, FunctionCallContent)]
    answers = [one for one in contents_of(request.messages) if isinstance(one, FunctionResultContent)]
    assert [(one.name, one.call_id) for one in handoff] == [("transfer_to_booking", "c1")]
    assert [(one.text, one.call_id) for one in answers] == [('{"assistant": "Booking"}', "c1")]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "google-generate-content"])
def test_conversion_of_items_reports_every_loss(target: str) -> None:
    converted = convert(ITEMS, source=API, target=target, model="m")
    assert audit(ITEMS, converted) == []
    assert "__fake_id__" not in str(converted.payload)


def test_empty_session_has_no_items(tmp_path: Path) -> None:
    path = by_hand(tmp_path / "a b#%.db", '{"role": "user", "content": "Hi."}')
    assert sessions(path) == ["a", "empty"]
    assert items(path, "empty") == []
    assert items(path, "a") == [{"role": "user", "content": "Hi."}]


def test_missing_file_table_and_session_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.db"):
        sessions(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    text = tmp_path / "text.db"
    text.write_text("not a database" * 100)
    with pytest.raises(DecodeError, match=r"text\.db: it is not a database of SQLiteSession: file is not a database"):
        sessions(text)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE a (b)")
    with pytest.raises(DecodeError, match="no such table: agent_messages"):
        items(other, "a")
    with pytest.raises(DecodeError, match="it has no session 'b'"):
        items(by_hand(tmp_path / "a.db"), "b")


@pytest.mark.parametrize(("row", "message"), [("{", "not JSON"), ("1", "expected an object, got integer")])
def test_row_that_is_no_item_is_named(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(DecodeError, match=f"the row 2 of agent_messages: {message}"):
        items(by_hand(tmp_path / "a.db", "{}", row), "a")


def thought(texts: list[str], sealed: str, model: str = "anthropic/claude-opus-4-5") -> dict[str, Any]:
    return {
        "type": "reasoning",
        "id": "__fake_id__",
        "summary": [{"type": "summary_text", "text": "".join(texts)}],
        "content": [{"type": "reasoning_text", "text": text} for text in texts],
        "encrypted_content": sealed,
        "provider_data": {"model": model, "response_id": "x"},
    }


@pytest.mark.parametrize(("texts", "signatures"), [(["why"], ["EuYB"]), (["why", "how"], ["EuYB", "EuYC"])])
def test_signatures_of_claude_in_an_item_are_those_of_its_thoughts(texts: list[str], signatures: list[str]) -> None:
    conversation = [{"role": "user", "content": "hi"}, thought(texts, "\n".join(signatures)), *ITEMS[2:4]]
    request = adapter(API).decode_request(conversation)
    assert adapter(API).encode_request(request).payload == conversation
    sent = convert(conversation, source=API, target="anthropic-messages", kind="request").payload
    thoughts = [block for block in sent["messages"][1]["content"] if block["type"] == "thinking"]
    assert [(block["thinking"], block["signature"]) for block in thoughts] == list(zip(texts, signatures, strict=True))


@pytest.mark.parametrize(
    "item", [thought(["why", "how"], "EuYB"), thought(["why"], "EuYB", "ollama/x"), thought([], "EuYB")]
)
def test_state_of_an_unknown_thought_or_maker_is_only_in_its_item(item: dict[str, Any]) -> None:
    conversation = [{"role": "user", "content": "hi"}, item]
    request = adapter(API).decode_request(conversation)
    assert all(getattr(content, "protected", None) is None for content in contents_of(request.messages))
    assert adapter(API).encode_request(request).payload == conversation


def test_items_of_advanced_session_are_those_of_one_branch(tmp_path: Path) -> None:
    memory = pytest.importorskip("agents.extensions.memory", reason="openai-agents is not installed")
    path = tmp_path / "advanced.db"
    first: list[Any] = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Again"}]
    other: list[Any] = [{"role": "user", "content": "Other branch"}]

    async def write() -> dict[str, list[Any]]:
        session = memory.AdvancedSQLiteSession(session_id="adv", db_path=path, create_tables=True)
        await session.add_items(first)
        name = await session.create_branch_from_turn(2)
        await session.add_items(other)
        read = {branch: await session.get_items(branch_id=branch) for branch in ("main", name)}
        session.close()
        return read

    read = asyncio.run(write())
    assert items(path, "adv") == first
    assert {branch: items(path, "adv", branch) for branch in read} == read
    assert [*read.values()][1][-1:] == other
    with pytest.raises(DecodeError, match="no branch 'lost', but main"):
        items(path, "adv", "lost")
