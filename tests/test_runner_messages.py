"""A runner with stored messages: they are loaded before a run, and saved after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    DataContent,
    FunctionCallContent,
    FunctionResultContent,
    Loss,
    TextContent,
    user,
)
from contentmodel.client import ServerError
from contentmodel.runner import AsyncToolRunner, RunInterrupted, RunResult, ToolRunner, answered
from contentmodel.tools import load_tools, tool
from contentmodel.tools.config import MessageLog, MessageStoreError, Operation, SqlExecutor, ToolFile
from scripted import AsyncScripted, Scripted, answer, call

INTERNAL = ("InternalSaveChatMessage", "InternalGetChatMessages")
PARAMETERS = {"type": "object", "properties": {"limit": {"type": "integer"}}}
CHAT = [
    {
        "type": "api",
        "function": {"name": "InternalSaveChatMessage"},
        "context": ["customer"],
        "api": {
            "query": "INSERT INTO chat (customer, role, content, name, call) "
            "VALUES (:customer, :role, :content, :name, :function_call)"
        },
    },
    {
        "type": "api",
        "function": {"name": "InternalGetChatMessages"},
        "context": ["customer"],
        "api": {
            "query": "SELECT role, content, name, call AS function_call FROM chat "
            "WHERE customer = :customer ORDER BY id"
        },
    },
    {
        "type": "api",
        "function": {"name": "orders", "parameters": PARAMETERS},
        "api": {"query": "SELECT 7 AS id LIMIT coalesce(:limit, 1)"},
    },
]


@pytest.fixture
def file() -> Iterator[ToolFile]:
    database = SqlExecutor("sqlite://")
    setup = "CREATE TABLE chat (id integer PRIMARY KEY, customer, role, content, name, call)"
    database.run(Operation("setup", query=setup), {})
    yield load_tools(CHAT, executors={"default": database}, strict=True)
    database.close()


def log_of(file: ToolFile, customer: int = 7) -> MessageLog:
    made = file.messages({"customer": customer})
    assert made is not None
    return made


WAYS = ["run", "stream", "async run", "async stream"]
every_way = pytest.mark.parametrize("way", WAYS)


def run(way: str, script: list[Any], asked: Any, file: ToolFile, log: Any, **more: Any) -> tuple[RunResult, list[Any]]:
    """Run once. Return the result and the requests that the model received."""
    tools = [*file.tools({"customer": 7}), *more.pop("tools", [])]
    if not way.startswith("async"):
        client = Scripted(script)
        runner = ToolRunner(client, tools, messages=log, **more)
        return runner.run(asked) if way == "run" else runner.stream(asked).read(), client.requests

    async def main() -> RunResult:
        runner = AsyncToolRunner(later, tools, messages=log, **more)
        return await (runner.run(asked) if way == "async run" else runner.stream(asked).read())

    later = AsyncScripted(script)
    return asyncio.run(main()), later.requests


def texts_of(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    """Return the role of each message, with its text, calls and results."""
    readers = {
        TextContent: lambda c: c.text,
        FunctionCallContent: lambda c: c.name,
        FunctionResultContent: lambda c: c.text,
    }
    return [(m.role, " ".join(readers[type(c)](c) for c in m.contents if type(c) in readers)) for m in messages]


def lost(result: RunResult) -> list[str]:
    """Return the names of lost values, except for the origins of answers, which no row has."""
    return [loss.what for loss in result.losses if loss.path != "$.origin"]


FIRST = [("user", "My orders?"), ("assistant", "orders"), ("tool", '[{"id": 7}]'), ("assistant", "One.")]


@every_way
def test_conversation_is_loaded_before_a_run_and_saved_after_it(way: str, file: ToolFile) -> None:
    result, requests = run(way, [answer(call("orders", "c1")), answer("One.")], "My orders?", file, log_of(file))
    assert (result.stop, lost(result)) == ("completed", [])
    assert texts_of(log_of(file).load()) == FIRST
    assert not any(getattr(made, "name", None) in INTERNAL for made in requests[0].tools)
    _, requests = run(way, [answer("You are welcome.")], "Thanks.", file, log_of(file))
    assert texts_of(requests[0].messages) == [*FIRST, ("user", "Thanks.")]
    assert texts_of(log_of(file).load())[4:] == [("user", "Thanks."), ("assistant", "You are welcome.")]
    assert log_of(file, 8).load() == []


@every_way
def test_instructions_are_sent_first_and_not_saved(way: str, file: ToolFile) -> None:
    log = log_of(file)
    log.save(ChatMessage(role="user", contents=[TextContent(text="Before.")]))
    asked = [
        ChatMessage(role=role, contents=[TextContent(text=text)])
        for role, text in (("system", "Be brief."), ("user", "Hi."))
    ]
    result, requests = run(way, [answer("Hello.")], asked, file, log)
    assert texts_of(requests[0].messages) == [("system", "Be brief."), ("user", "Before."), ("user", "Hi.")]
    assert texts_of(log_of(file).load()) == [("user", "Before."), ("user", "Hi."), ("assistant", "Hello.")]
    assert texts_of(result.request.messages) == [("system", "Be brief.")]


@every_way
def test_run_that_waits_for_approval_resumes_from_the_store(way: str, file: ToolFile) -> None:
    @tool(approval=True)
    def book(city: str) -> str:
        """Books a hotel."""
        return f"Booked {city}."

    script = [answer(call("book", "c1", city="Oslo"))]
    result, _ = run(way, script, "Book.", file, log_of(file), tools=[book])
    assert result.stop == "approval"
    # Rows cannot hold a request for approval. It is reported as a loss, and the answer needs only its id.
    assert lost(result) == ["a ToolApprovalRequestContent"]
    more, requests = run(way, [answer("Done.")], result.answer({"c1": True}), file, log_of(file), tools=[book])
    assert (more.stop, more.report.outcomes) == ("completed", {"ok": 1})
    assert texts_of(requests[0].messages)[:3] == [("user", "Book."), ("assistant", "book"), ("tool", "Booked Oslo.")]
    assert texts_of(log_of(file).load()) == [*texts_of(requests[0].messages)[:3], ("assistant", "Done.")]
    assert answered(ChatRequest(), result.approvals, {"c1": True}).messages == result.answer({"c1": True}).messages


@every_way
def test_run_whose_first_request_fails_saves_nothing(way: str, file: ToolFile) -> None:
    with pytest.raises(ServerError):
        run(way, [ServerError("overloaded")], "Hi.", file, log_of(file))
    assert log_of(file).load() == []


@pytest.mark.parametrize("way", ["run", "async run"])
def test_run_whose_later_request_fails_saves_the_messages_before_it(way: str, file: ToolFile) -> None:
    script = [answer(call("orders", "c1")), ServerError("overloaded")]
    with pytest.raises(RunInterrupted) as raised:
        run(way, script, "My orders?", file, log_of(file))
    assert texts_of(log_of(file).load()) == FIRST[:3]
    again, requests = run(way, [answer("One.")], raised.value.result.request, file, log_of(file))
    assert again.text == "One."
    assert texts_of(requests[0].messages) == FIRST[:3]
    assert texts_of(log_of(file).load()) == FIRST


@every_way
def test_content_that_cannot_be_saved_is_a_loss_of_the_result(way: str, file: ToolFile) -> None:
    image = ChatMessage(role="user", contents=[DataContent(data="AAAA", media_type="image/png")])
    result, _ = run(way, [answer("A dot.")], [image], file, log_of(file))
    assert lost(result) == ["a DataContent"]
    assert {loss.kind for loss in result.losses} == {"dropped"}


class Broken:
    """A store that fails."""

    def __init__(self, at: str) -> None:
        self.at = at

    def load(self) -> list[ChatMessage]:
        if self.at == "load":
            raise MessageStoreError("the database is gone")
        return []

    def save(self, message: ChatMessage) -> list[Any]:
        raise MessageStoreError("the database is gone")


@every_way
def test_error_of_the_store_keeps_the_result(way: str, file: ToolFile) -> None:
    with pytest.raises(MessageStoreError):
        run(way, [answer("Hello.")], "Hi.", file, Broken("load"))
    with pytest.raises(RunInterrupted, match="the database is gone") as raised:
        run(way, [answer("Hello.")], "Hi.", file, Broken("save"))
    result = raised.value.result
    assert result.text == "Hello."
    assert texts_of(result.request.messages) == [("user", "Hi."), ("assistant", "Hello.")]


class Full(Broken):
    """A store that holds at most `room` messages."""

    def __init__(self, room: int) -> None:
        super().__init__("never")
        self.room, self.messages = room, list[ChatMessage]()

    def save(self, message: ChatMessage) -> list[Any]:
        if len(self.messages) == self.room:
            raise MessageStoreError("the disk is full")
        self.messages.append(message)
        return []


@pytest.mark.parametrize("room", [0, 1])
def test_error_of_the_store_leaves_the_unsaved_messages_in_the_request(room: int) -> None:
    store = Full(room)
    with pytest.raises(RunInterrupted) as raised:
        ToolRunner(Scripted([answer("Hello.")]), [], messages=store).run("Hi.")
    messages = raised.value.result.request.messages
    assert texts_of([*store.messages, *messages]) == [("user", "Hi."), ("assistant", "Hello.")]


def test_runner_with_a_store_refuses_a_conversation_of_the_server(file: ToolFile) -> None:
    request = ChatRequest(options=ChatOptions(conversation_id="conv_1"))
    with pytest.raises(ValueError, match="the server stores that conversation"):
        run("run", [], request, file, log_of(file))


class LoadsOnly:
    def load(self) -> list[ChatMessage]:
        return []


class SavesOnly:
    def save(self, message: ChatMessage) -> tuple[Loss, ...]:
        return ()


class Both(LoadsOnly, SavesOnly):
    pass


class Unset(Both):
    save = None  # type: ignore[assignment]


class Later(Both):
    async def load(self) -> list[ChatMessage]:  # type: ignore[override]
        return []


@pytest.mark.parametrize("runner", [ToolRunner, AsyncToolRunner])
@pytest.mark.parametrize(
    ("store", "message"),
    [
        (LoadsOnly(), r"the save function is missing: LoadsOnly has no save\(message\); pass messages= an object with"),
        (
            SavesOnly(),
            r"the load function is missing: SavesOnly has no load\(\); pass messages= an object with load\(\)",
        ),
        (Unset(), "the save function is missing"),
        (object(), "the load function is missing"),
        (Later(), "the load function of Later is async"),
    ],
)
def test_runner_names_the_function_that_a_store_lacks(runner: Any, store: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        runner(Scripted([]), messages=store)


@pytest.mark.parametrize("missing", ["InternalSaveChatMessage", "InternalGetChatMessages"])
def test_runner_names_the_tool_that_a_file_lacks(missing: str) -> None:
    queries = {
        "InternalSaveChatMessage": "INSERT INTO m VALUES (:role, :content, :name, :function_call)",
        "InternalGetChatMessages": "SELECT role, content, name, function_call FROM m",
    }
    del queries[missing]
    entries = [{"type": "api", "function": {"name": n}, "api": {"query": q}} for n, q in queries.items()]
    log = load_tools(entries, executors={"default": SqlExecutor("sqlite://")}).messages()
    assert log is not None
    use = "save" if "Save" in missing else "load"
    with pytest.raises(MessageStoreError, match=f"the {use} function is missing: the file has no tool {missing}"):
        ToolRunner(Scripted([]), messages=log)
    with pytest.raises(MessageStoreError, match=f"the {use} function is missing"):
        log.save(user("Hi.")) if use == "save" else log.load()


def test_store_may_return_nothing_for_no_losses() -> None:
    class Silent(LoadsOnly):
        def save(self, message: ChatMessage) -> None:
            saved.append(message.role)

    saved: list[str] = []
    assert ToolRunner(Scripted([answer("Hi.")]), messages=Silent()).run("Hello.").losses == []
    assert saved == ["user", "assistant"]
