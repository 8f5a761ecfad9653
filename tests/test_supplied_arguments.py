"""A tool never gets the model's value for an argument that the caller supplies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentmodel import FunctionCallContent, FunctionTool, dumps
from contentmodel.content.tools import ToolApprovalRequestContent, ToolResultContent
from contentmodel.events import Notice, fold
from contentmodel.interop.ag_ui import run_events
from contentmodel.interop.vercel_ui import ui_chunks
from contentmodel.runner import AsyncToolRunner, RunResult, ToolRunner
from contentmodel.tools import Tool, ToolContext, ToolSet, load_tools, tool, validate_input
from contentmodel.tools.config import GraphQLExecutor, RestExecutor, SqlExecutor
from scripted import AsyncScripted, Scripted, answer

EVIL, OWN = "of-the-model", "of-the-caller"
PARAMETERS = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "word": {"type": "string"}},
    "required": ["user", "word"],
}


class Seen:
    """The arguments that the tools got, as text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def transport(self) -> httpx2.Client:
        def handle(request: httpx2.Request) -> httpx2.Response:
            self.texts.append(f"{request.url.path} {request.url.query.decode()} {request.content.decode()}")
            return httpx2.Response(200, json={"data": {"ok": True}})

        return httpx2.Client(transport=httpx2.MockTransport(handle))


def entry(kind: str, api: dict[str, Any] | None = None) -> dict[str, Any]:
    made = {"type": kind, "function": {"name": "act", "parameters": PARAMETERS}, "context": ["user"]}
    return made if api is None else {**made, "api": api}


def rest(seen: Seen, path: str, method: str) -> Tool:
    made = RestExecutor("https://api.example", client=seen.transport())
    return act([entry("api", {"path": path, "method": method})], executors={"default": made})


def graphql(seen: Seen) -> Tool:
    made = GraphQLExecutor("https://api.example", client=seen.transport())
    query = "query q($user: String!, $word: String!) { f(user: $user, word: $word) }"
    return act([entry("api", {"query": query})], executors={"default": made})


def sql(seen: Seen) -> Tool:
    class Watched(SqlExecutor):
        def run(self, operation: Any, arguments: Any) -> Any:
            outcome = super().run(operation, arguments)
            seen.texts.append(outcome.text)
            return outcome

    made = Watched("sqlite://")
    return act([entry("api", {"query": "SELECT :user AS user, :word AS word"})], executors={"default": made})


def local(seen: Seen) -> Tool:
    def work(user: str, word: str) -> str:
        seen.texts.append(f"{user} {word}")
        return "ok"

    return act([entry("local")], functions={"act": work})


def asked(seen: Seen) -> Tool:
    @tool(approval=lambda args: seen.texts.append(str(args)) or False)  # type: ignore[func-returns-value]
    async def work(user: str, word: str) -> str:
        return "ok"

    return act([entry("local")], functions={"act": work})


def act(source: list[Any], **options: Any) -> Tool:
    (made,) = load_tools(source, **options).tools({"user": OWN})
    assert isinstance(made, Tool)
    return made


KINDS: dict[str, Callable[[Seen], Tool]] = {
    "rest in the path": lambda seen: rest(seen, "/{user}/{word}", "GET"),
    "rest in the query": lambda seen: rest(seen, "/a?user={user}&word={word}", "DELETE"),
    "rest in the body": lambda seen: rest(seen, "/a", "POST"),
    "graphql": graphql,
    "sql": sql,
    "local": local,
    "local with approval": asked,
}
ways = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
client_kinds = pytest.mark.parametrize("kind", ["client", "function"])
spellings = pytest.mark.parametrize(
    "arguments",
    [
        {"user": EVIL, "word": "a"},
        json.dumps({"user": EVIL, "word": "a"}),
        '{"word": "a", "\\u0075ser": "of-the-model"}',
        '{"user": "x", "user": "of-the-model", "word": "a"}',
    ],
)


def ran(made: Any, call: FunctionCallContent, *, is_async: bool) -> RunResult:
    script = [answer(call), answer("Done.")]
    if is_async:
        return asyncio.run(AsyncToolRunner(AsyncScripted(script), [made]).run("Go."))
    return ToolRunner(Scripted(script), [made]).run("Go.")


@pytest.mark.parametrize("kind", KINDS)
@ways
@spellings
def test_tool_of_a_file_gets_the_callers_value(kind: str, is_async: bool, arguments: Any) -> None:
    seen = Seen()
    call = FunctionCallContent(call_id="c", name="act", arguments=arguments)
    result = ran(KINDS[kind](seen), call, is_async=is_async)
    assert result.report.outcomes == {"ok": 1}
    assert EVIL not in " ".join(seen.texts)
    assert OWN in " ".join(seen.texts)
    assert EVIL not in (result.report.calls[0].use or "")


@client_kinds
@ways
@spellings
def test_call_that_is_handed_back_has_the_callers_value(kind: str, is_async: bool, arguments: Any) -> None:
    call = FunctionCallContent(call_id="c", name="act", arguments=arguments)
    result = ran(act([entry(kind)]), call, is_async=is_async)
    (handed,) = result.handed_back
    assert handed.arguments_object == {"user": OWN, "word": "a"}
    assert type(handed.arguments) is type(arguments)
    assert EVIL not in dumps(result.request).decode()
    assert OWN not in dumps(result.request).decode()


@client_kinds
@spellings
def test_stream_of_a_handed_back_call_has_no_value_of_the_model(kind: str, arguments: Any) -> None:
    call = FunctionCallContent(call_id="c", name="act", arguments=arguments)
    with ToolRunner(Scripted([answer(call)]), [act([entry(kind)])]).stream("Go.") as stream:
        events = list(stream)
    for shown in (list(run_events(events, thread_id="t", run_id="r")), list(ui_chunks(events, message_id="t"))):
        assert EVIL not in json.dumps(shown)
        assert OWN not in json.dumps(shown)
        assert '"a"' in json.dumps(shown).replace("\\", "")
    assert not [event for event in events if EVIL in repr(event) or OWN in repr(event)]
    assert fold(events) == stream.result.response
    (shown_call,) = stream.result.response.messages[0].tool_calls
    assert shown_call.arguments_object == {"word": "a"}
    assert stream.result.handed_back[0].arguments_object == {"user": OWN, "word": "a"}


def test_tool_set_hands_back_the_callers_value_without_a_runner() -> None:
    tools = ToolSet([act([entry("client")]), FunctionTool(name="other")])
    call = FunctionCallContent(call_id="c", name="act", arguments={"user": EVIL, "word": "a"})
    assert tools.handed_back(call).arguments == {"user": OWN, "word": "a"}
    other = FunctionCallContent(call_id="d", name="other", arguments={"user": "x"})
    assert tools.handed_back(other) is other


@ways
def test_call_that_is_handed_back_is_refused_if_its_arguments_are_no_object(is_async: bool) -> None:
    call = FunctionCallContent(call_id="c", name="act", arguments='{"user": "of-the-model", "wo')
    result = ran(act([entry("client")]), call, is_async=is_async)
    assert (result.handed_back, result.report.outcomes) == ([], {"invalid": 1})


@ways
def test_approval_shows_no_value_that_the_tool_does_not_get(is_async: bool) -> None:
    @tool(approval=True)
    def work(user: str, word: str) -> str:
        return f"{user} {word}"

    made = act([entry("local")], functions={"act": work})
    call = FunctionCallContent(call_id="c", name="act", arguments={"user": EVIL, "word": "a"})
    waiting = ran(made, call, is_async=is_async)
    assert waiting.approvals == [ToolApprovalRequestContent(request_id="c", name="act", arguments={"word": "a"})]
    done = ToolRunner(Scripted([answer("Done.")]), [made]).run(waiting.answer({"c": True}))
    assert [c.text for c in done.messages[0].contents if isinstance(c, ToolResultContent)] == [f"{OWN} a"]


def test_notice_shows_no_value_that_the_tool_does_not_get() -> None:
    call = FunctionCallContent(call_id="c", name="act", arguments={"user": EVIL, "word": "a"})
    with ToolRunner(Scripted([answer(call), answer("Done.")]), [local(Seen())]).stream("Go.") as stream:
        notices = [event.text for event in stream if isinstance(event, Notice)]
    assert notices == ['act({"word": "a"})', "ok"]


class Named(Tool):
    name = "named"
    args_schema = {"type": "object", "properties": {"word": {"type": "string"}}}

    def _run(self, word: str, ctx: ToolContext) -> Any:
        return ctx


class Open(Named):
    def _run(self, ctx: ToolContext, **others: Any) -> Any:  # type: ignore[override]
        return ctx


class Whole(Named):
    def _run(self, args: dict[str, Any], ctx: ToolContext) -> Any:  # type: ignore[override]
        return ctx


@tool
def function(word: str, ctx: ToolContext) -> Any:
    return ctx


@pytest.mark.parametrize("made", [Named(), Open(), Whole(), function], ids=lambda made: made.name)
@given(more=st.dictionaries(st.sampled_from(["ctx", "context", "call_id", "state"]), st.text(max_size=3)))
def test_python_tool_gets_no_context_from_the_model(made: Tool, more: dict[str, Any]) -> None:
    call = FunctionCallContent(call_id="c", name=made.name, arguments={"word": "a", **more})
    context = ToolContext(call_id="c", state="the application's")
    try:
        valid = validate_input(made, call)
    except ValueError:
        assert made is function
        assert more
        return
    assert made.invoke(valid.args, context) is context
