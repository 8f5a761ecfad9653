"""The tool loop: invariants over random scripts of answers and tools, and each outcome of a run."""

from __future__ import annotations

import asyncio
import math
import pickle
import threading
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contentmodel as cm
from bounded import LONG, Clock
from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    CustomTool,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedTool,
    TextContent,
    ToolChoice,
    Usage,
)
from contentmodel.client import ServerError
from contentmodel.content import (
    CustomToolCallContent,
    CustomToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.events import BlockStart, Notice, TextDelta, TurnComplete, TurnError, TurnStart
from contentmodel.runner import (
    OUTCOMES,
    STOPS,
    AsyncToolRunner,
    Observer,
    RunInterrupted,
    RunResult,
    ToolRunner,
)
from contentmodel.tools import (
    Cancellation,
    Tool,
    ToolContext,
    ToolDefinitionError,
    ToolOutcome,
    ToolSet,
    bind,
    result_of,
    tool,
)
from scripted import AsyncScripted, AsyncStream, Gate, Scripted, answer, call, collected


class Quit(BaseException):
    """An exception that is not an Exception."""


class Unreadable:
    """A value that JSON cannot represent."""


Behavior = Literal["ok", "null", "raise", "exit", "interrupt", "quit", "stop", "strange", "error", "hang", "image"]


class Log:
    """A record of the arguments of tools, and of how many ran at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = self.most = 0
        self.args: list[Any] = []
        self.alone = True

    def __enter__(self) -> None:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.running -= 1


def behave(what: Behavior, context: ToolContext) -> Any:
    """Return, raise or wait, depending on `what`."""
    if what == "raise":
        raise ValueError("it did not work")
    if what == "exit":
        raise SystemExit(3)
    if what == "interrupt":
        raise KeyboardInterrupt
    if what == "quit":
        raise Quit("enough")
    if what == "stop":
        raise StopIteration
    if what == "hang":
        context.cancellation.wait(30)
        return "too late"
    values: dict[str, Any] = {"null": None, "strange": Unreadable(), "error": ErrorContent(message="no such thing")}
    return values.get(what, f"did {what}")


def tools_of(log: Log) -> list[Any]:
    """Return tools of every kind: sync, async, not concurrent, terminating, with approval, declared only."""

    @tool
    def work(what: Behavior, context: ToolContext) -> Any:
        """Acts as `what` requests."""
        with log:
            log.args.append(what)
            return behave(what, context)

    @tool
    async def later(what: Behavior, context: ToolContext) -> Any:
        """Acts as `what` requests, asynchronously."""
        with log:
            log.args.append(what)
            if what == "hang":
                await asyncio.sleep(30)
            await asyncio.sleep(0)
            return behave(what, context)

    @tool(concurrent=False)
    def alone(what: Behavior, context: ToolContext) -> Any:
        """Acts as `what` requests, while no other tool runs."""
        with log:
            log.args.append(what)
            log.alone = log.alone and log.running == 1
            return behave(what, context)

    @tool(terminates=True)
    def finish(what: Behavior, context: ToolContext) -> Any:
        """Ends the run."""
        with log:
            log.args.append(what)
            return behave(what, context)

    @tool(approval=True)
    def delete(what: Behavior, context: ToolContext) -> Any:
        """Asks first."""
        with log:
            log.args.append(what)
            return behave(what, context)

    declared = FunctionTool(name="elsewhere", parameters={"type": "object", "properties": {}})
    return [work, later, alone, finish, delete, declared, HostedTool(kind="web_search", name="web_search")]


RUNNABLE = ["work", "later", "alone", "finish"]
behaviors = st.sampled_from(Behavior.__args__)  # type: ignore[attr-defined]
quick_behaviors = behaviors.filter(lambda what: what != "hang")
ids = st.sampled_from(["a", "b", "c", "call-1", None])
broken = st.sampled_from(
    ['{"what": "ok"', "[]", '{"what": "fly"}', "{}", '{"what": "ok", "more": 1}', "ok", '{"what": 1}']
)
arguments = st.one_of(
    quick_behaviors.map(lambda what: {"what": what}), quick_behaviors.map(lambda what: f'{{"what":"{what}"}}'), broken
)


def calls(names: list[str]) -> st.SearchStrategy[FunctionCallContent]:
    return st.builds(
        FunctionCallContent,
        call_id=ids,
        name=st.sampled_from([*names, "unknown"]),
        arguments=arguments,
        status=st.sampled_from([None, None, None, "completed", "incomplete"]),
    )


others = st.sampled_from(
    [
        TextContent(text="I see."),
        cm.ReasoningContent(text="Let me think."),
        WebSearchToolCallContent(call_id="search", arguments={"query": "weather"}),
        WebSearchToolResultContent(call_id="search", outputs=[TextContent(text="rain")]),
        FunctionCallContent(call_id="done", name="work", arguments={"what": "ok"}, executor="provider"),
    ]
)


def answers(names: list[str]) -> st.SearchStrategy[ChatResponse]:
    contents = st.lists(st.one_of(calls(names), others), max_size=5)
    reasons = st.sampled_from(["", "", "", "length", "pause", "content_filter"])
    return st.builds(lambda made, reason: answer(*made, reason=reason), contents, reasons)


def scripts(names: list[str]) -> st.SearchStrategy[list[ChatResponse]]:
    return st.lists(answers(names), max_size=5).map(lambda script: [*script, answer("That is all.")])


def question(**options: Any) -> ChatRequest:
    return ChatRequest(
        messages=[ChatMessage(role="user", contents=[TextContent(text="Go.")])], options=ChatOptions(**options)
    )


def client_calls(message: ChatMessage) -> list[str | None]:
    return [made.call_id for made in message.tool_calls]


def check_pairs(messages: list[ChatMessage]) -> None:
    """Check that every call of a turn has exactly one result, in order, before any other message."""
    waiting: list[str | None] = []
    for message in messages:
        if message.role == "tool":
            assert [content.call_id for content in message.contents] == waiting
            waiting = []
        elif message.role == "assistant":
            waiting += client_calls(message)
        else:
            assert waiting == []
    assert waiting == []


def check_run(result: RunResult, client: Scripted | AsyncScripted, asked: ChatRequest, log: Log, bound: int) -> None:
    """Check the invariants of every run."""
    for request in client.requests:
        check_pairs(request.messages)
        assert [definition.name for definition in request.tools][:5] == [*RUNNABLE, "delete"]
        assert request.messages[: len(asked.messages)] == asked.messages
    assert log.most <= bound
    assert log.alone
    assert set(log.args) <= set(Behavior.__args__)  # type: ignore[attr-defined]
    assert result.stop in STOPS
    assert result.why
    assert {record.outcome for record in result.report.calls} <= set(OUTCOMES)
    made = [made for message in result.messages if message.role == "assistant" for made in client_calls(message)]
    handed_back = {made.call_id for made in result.handed_back}
    assert [record.call_id for record in result.report.calls] == [i for i in made if i not in handed_back]
    assert len(set(made)) == len(made)
    assert result.report.iterations == len(client.requests) == len(result.responses)
    assert cm.loads(cm.dumps(result.request)) == result.request
    if result.stop != "handed_back":
        check_pairs(result.request.messages)


@given(script=scripts(RUNNABLE), bound=st.integers(1, 3), choice=st.sampled_from([None, "required", "work"]))
@example(
    script=[answer(call("work", "a", what="ok"), call("work", "a", what="null")), answer("")], bound=1, choice=None
)
@example(
    script=[answer(call("work", "a", what="ok")), answer(call("work", "a", what="ok")), answer("")],
    bound=1,
    choice=None,
)
def test_run_of_any_script_pairs_calls_with_results_and_keeps_its_bounds(
    script: list[ChatResponse], bound: int, choice: str | None
) -> None:
    log = Log()
    made = ToolSet(tools_of(log))
    asked = question(tool_choice=None if choice is None else made.choice(choice))
    before = cm.dumps(asked)
    client = Scripted(script)
    result = ToolRunner(client, made, max_concurrency=bound, max_iterations=4).run(asked)
    assert cm.dumps(asked) == before
    check_run(result, client, asked, log, bound)
    forced = [
        r.options.tool_choice
        for r in client.requests
        if r.options.tool_choice and r.options.tool_choice.mode == "required"
    ]
    assert len(forced) == (choice is not None and bool(client.requests))


@given(script=scripts([*RUNNABLE, "delete", "elsewhere"]))
def test_streamed_run_gives_the_same_result_as_a_whole_run(script: list[ChatResponse]) -> None:
    whole = ToolRunner(Scripted(script), tools_of(Log())).run(question())
    with ToolRunner(Scripted(script), tools_of(Log())).stream(question()) as stream:
        events = list(stream)
    assert cm.fold(events) == stream.result.response == whole.response
    assert timeless(stream.result) == timeless(whole)
    starts = [event.index for event in events if isinstance(event, BlockStart)]
    assert starts == list(range(len(starts)))
    assert isinstance(events[0], TurnStart)
    assert sum(isinstance(event, TurnStart) for event in events) == 1
    assert isinstance(events[-1], TurnComplete)


@given(script=scripts([*RUNNABLE, "delete", "elsewhere"]))
def test_async_run_gives_the_same_result_as_a_sync_run(script: list[ChatResponse]) -> None:
    async def both() -> tuple[RunResult, RunResult, list[Any]]:
        result = await AsyncToolRunner(AsyncScripted(script), tools_of(Log())).run(question())
        async with AsyncToolRunner(AsyncScripted(script), tools_of(Log())).stream(question()) as stream:
            events = await collected(stream)
        return result, stream.result, events

    whole = ToolRunner(Scripted(script), tools_of(Log())).run(question())
    plain, streamed, events = asyncio.run(both())
    assert timeless(plain) == timeless(streamed) == timeless(whole)
    assert cm.fold(events) == whole.response


@given(script=scripts([*RUNNABLE, "delete"]), at=st.integers(0, 60), is_async=st.booleans())
def test_stream_closed_at_any_event_leaves_a_transcript_that_can_be_continued(
    script: list[ChatResponse], at: int, is_async: bool
) -> None:
    client = AsyncScripted(script) if is_async else Scripted(script)

    async def some() -> RunResult:
        async with AsyncToolRunner(client, tools_of(Log())).stream(question()) as stream:
            seen = 0
            async for _ in stream:
                seen += 1
                if seen > at:
                    break
        return stream.result

    if is_async:
        result = asyncio.run(some())
    else:
        with ToolRunner(client, tools_of(Log())).stream(question()) as stream:
            for _ in zip(range(at), stream, strict=False):
                pass
        result = stream.result
    assert client.open == 0
    assert result.stop in STOPS
    if result.stop != "approval":
        check_pairs(result.messages)
        check_pairs(result.request.messages)
    again = ToolRunner(Scripted([answer("Fine.")]), tools_of(Log())).run(refused_all(result))
    assert (again.stop, again.text) in [("completed", "Fine."), ("terminated", "")]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (ChatMessage(role="user", contents="Hi"), "expected a ChatRequest, a list of messages or a text, got"),
        (None, "got NoneType"),
        (["Hi"], r"messages\[0\]: expected a ChatMessage, got str"),
        (ChatRequest(messages=["Hi"]), r"messages\[0\]: expected a ChatMessage, got str"),  # type: ignore[list-item]
    ],
)
def test_run_refuses_a_value_that_is_not_a_request(asked: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ToolRunner(Scripted([])).run(asked)
    with pytest.raises(TypeError, match=message):
        asyncio.run(AsyncToolRunner(Scripted([])).run(asked))


def test_incomplete_call_does_not_run_when_the_run_is_resumed() -> None:
    log = Log()
    made = tools_of(log)
    script = [answer(call("delete", "a", what="ok"), call("delete", "b", what="null"), reason="length")]
    result, _ = run(script, made)
    assert [request.request_id for request in result.approvals] == ["a"]
    assert [message.role for message in result.messages] == ["assistant", "assistant", "tool"]
    more, client = run([answer("Done.")], made, cm.loads(cm.dumps(result.answer({"a": True}))))
    assert (more.text, log.args) == ("Done.", ["ok"])
    check_pairs(client.requests[0].messages)


def refused_all(result: RunResult) -> ChatRequest:
    return result.answer({request.request_id: False for request in result.approvals})


def timeless(result: RunResult) -> RunResult:
    """Return a result without its times."""
    calls = [msgspec.structs.replace(c, started=c.started and 0.0, seconds=0.0) for c in result.report.calls]
    return msgspec.structs.replace(result, report=msgspec.structs.replace(result.report, calls=calls, seconds=0.0))


# -- results of calls --------------------------------------------------------------------------------------------------


def run(script: list[Any], tools: Any = None, asked: Any = None, **settings: Any) -> tuple[RunResult, Scripted]:
    client = Scripted(script)
    runner = ToolRunner(client, tools_of(Log()) if tools is None else tools, **settings)
    return runner.run(question() if asked is None else asked), client


def outputs(result: RunResult) -> list[str]:
    """Return the text of each result that the model received."""
    results = (c for message in result.messages if message.role == "tool" for c in message.contents)
    return [made.error.message if made.error else made.text for made in results]


def test_run_accepts_a_text() -> None:
    result, client = run([answer("Hello.")], asked="Hi.")
    assert (result.text, result.stop) == ("Hello.", "completed")
    assert client.requests[0].messages[0].text == "Hi."


@pytest.mark.parametrize("is_streamed", [False, True])
def test_run_keeps_lone_surrogates_in_texts_and_arguments(is_streamed: bool) -> None:
    surrogate = "half \ud83d of it"

    @tool
    def note(what: str) -> str:
        """Notes something."""
        return what

    calls = [
        call("note", "a", what=surrogate),
        FunctionCallContent(call_id="b", name="note", arguments='{"what": "\\udfff"}'),
    ]
    runner = ToolRunner(Scripted([answer(surrogate, *calls), answer(surrogate)]), [note])
    if is_streamed:
        with runner.stream(surrogate) as stream:
            assert list(stream)
        result = stream.result
    else:
        result = runner.run(surrogate)
    assert (result.text, result.stop, len(outputs(result))) == (surrogate, "completed", 2)
    assert cm.loads(cm.dumps(result.messages)) == result.messages


def test_run_accepts_a_list_of_messages() -> None:
    message = ChatMessage(role="user", contents=[TextContent(text="Hi.")])
    assert run([answer("Hello.")], asked=[message])[1].requests[0].messages == [message]


def test_report_adds_up_usage_of_all_answers() -> None:
    result, _ = run([answer(call("work", "a", what="ok")), answer("Done.", usage=Usage(input_tokens=7))])
    assert result.report.usage == Usage(input_tokens=17, output_tokens=1)
    assert result.response.usage == result.report.usage
    assert [response.usage.input_tokens for response in result.responses if response.usage] == [10, 7]


def test_usage_adds_tokens_that_are_counted_in_different_ways() -> None:
    inside = Usage(input_tokens=10, cache_read_tokens=4, output_tokens=6, reasoning_tokens=2)
    beside = Usage(input_tokens=5, cache_read_tokens=3, output_tokens=1, cached_inside=False, reasoning_inside=False)
    for total in (inside + beside, beside + inside):
        assert total.all_input_tokens == inside.all_input_tokens + beside.all_input_tokens
        assert total.all_output_tokens == inside.all_output_tokens + beside.all_output_tokens


def test_report_has_a_record_of_each_call() -> None:
    script = [
        answer(call("work", "a", what="ok"), call("nope", "b"), call("work", "c", what="fly")),
        answer(call("later", "d", what="raise")),
        answer("Done."),
    ]
    result, _ = run(script)
    report = result.report
    assert [(c.call_id, c.iteration, c.outcome) for c in report.calls] == [
        ("a", 1, "ok"),
        ("b", 1, "unknown"),
        ("c", 1, "invalid"),
        ("d", 2, "failed"),
    ]
    assert report.outcomes == {"ok": 1, "unknown": 1, "invalid": 1, "failed": 1}
    assert report.tools == {"work": 2, "nope": 1, "later": 1}
    assert [c.started is not None for c in report.calls] == [True, False, False, True]
    assert report.calls[0].use == 'work({"what": "ok"})'
    assert report.calls[0].display == "did ok"
    assert report.calls[3].error == "it did not work"


@pytest.mark.parametrize("name", ["work", "later"])
@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("ok", "did ok"),
        ("null", "null"),
        ("raise", "it did not work"),
        ("exit", "3"),
        ("interrupt", "the tool failed: KeyboardInterrupt"),
        ("quit", "enough"),
        ("error", "no such thing"),
        ("strange", "the tool's result cannot be sent: a value of type Unreadable at $ is not JSON"),
    ],
)
def test_run_turns_any_outcome_of_a_tool_into_a_result(name: str, what: str, expected: str) -> None:
    script = [answer(call(name, "a", what=what)), answer("I see.")]
    result, _ = run(script)
    assert outputs(result) == [expected]
    assert asyncio.run(AsyncToolRunner(AsyncScripted(script), tools_of(Log())).run("Go.")).messages == result.messages


def test_result_of_a_failed_tool_has_a_traceback_only_with_details() -> None:
    script = [answer(call("work", "a", what="raise")), answer("I see.")]
    for details in (False, True):
        result, _ = run(script, details=details)
        error = result.messages[1].contents[0].error
        assert ("Traceback" in str(error.details)) == details


def test_results_of_concurrent_tools_are_in_the_order_of_the_calls() -> None:
    gate = Gate()

    @tool
    def slow() -> str:
        gate.pass_through()
        return "slow"

    @tool
    def quick() -> str:
        gate.entered.acquire()
        gate.opened.set()
        return "quick"

    result, _ = run([answer(call("slow", "a"), call("quick", "b")), answer("Done.")], [slow, quick])
    assert outputs(result) == ["slow", "quick"]


def test_run_ignores_tools_that_exceed_the_timeout() -> None:
    @tool(timeout=LONG)
    def patient() -> str:
        return "did ok"

    script = [answer(call("work", "a", what="hang"), call("later", "b", what="hang"), call("patient", "c"))]
    tools = [*tools_of(Log()), patient]
    for max_concurrency in (1, 8):
        result, _ = run([*script, answer("Done.")], tools, timeout=0.05, max_concurrency=max_concurrency)
        assert outputs(result) == [
            "work took longer than 0.05 s: its result is ignored",
            "later took longer than 0.05 s: its result is ignored",
            "did ok",
        ]
        assert result.report.outcomes == {"timeout": 2, "ok": 1}
    runner = AsyncToolRunner(AsyncScripted([*script, answer("Done.")]), tools, timeout=0.05)
    assert outputs(asyncio.run(runner.run("Go."))) == outputs(result)


def test_timeout_of_a_tool_applies_if_the_runner_has_none() -> None:
    @tool(timeout=0.05)
    def slow(context: ToolContext) -> str:
        context.cancellation.wait(30)
        return "too late"

    result, _ = run([answer(call("slow", "a")), answer("Done.")], [slow], timeout=None)
    assert outputs(result) == ["slow took longer than 0.05 s: its result is ignored"]


def test_run_truncates_results_longer_than_max_result_characters() -> None:
    @tool
    def flood() -> ToolOutcome:
        image = cm.DataContent(media_type="image/png", data="A" * 4000)
        return ToolOutcome(["x" * 3000, image, "y" * 10], note="done")

    result, _ = run([answer(call("flood", "a")), answer("Done.")], [flood], max_result_characters=100)
    shown = result.messages[1].contents[0].outputs
    assert shown[0].text == "x" * 100 + "\n[100 of 3000 characters are shown: the result is longer than is allowed]"
    assert shown[1].text == "[image/png of 4000 characters is left out: the result is longer than is allowed]"
    assert shown[-1].text == "\n[0 of 4 characters are shown: the result is longer than is allowed]"
    assert result.report.calls[0].left_out == 2900 + 4000 + 10 + 4
    assert (result.report.calls[0].outcome, result.report.calls[0].error) == ("ok", None)


def test_tool_context_has_the_state_and_the_call_id() -> None:
    @tool
    def who(context: ToolContext) -> str:
        return f"{context.state} {context.call_id}"

    assert outputs(run([answer(call("who", "a")), answer("Done.")], [who], state="Ada")[0]) == ["Ada a"]


def test_tool_that_changes_its_arguments_leaves_the_transcript_unchanged() -> None:
    class Change(Tool):
        name = "change"
        args_schema = {"type": "object", "properties": {"items": {"type": "array"}}}

        def run(self, args: Any, *context: Any) -> str:
            args["items"].append("more")
            return "done"

    script = [answer(call("change", "a", items=["one"])), answer("Done.")]
    result, client = run(script, [Change()])
    assert client.requests[1].messages[1].contents[0].arguments == {"items": ["one"]}
    assert result.messages[0].contents[0].arguments == {"items": ["one"]}


# -- how a run ends ----------------------------------------------------------------------------------------------------


def again(count: int, what: str = "ok") -> list[ChatResponse]:
    return [answer(call("work", f"c{number}", what=what)) for number in range(count)]


def test_run_stops_at_max_iterations_and_can_be_continued() -> None:
    result, client = run(again(9), max_iterations=3)
    assert (result.stop, len(client.requests)) == ("max_iterations", 3)
    check_pairs(result.request.messages)
    more, client = run([answer("Done.")], asked=result.request)
    assert more.text == "Done."
    assert client.requests[0].messages == result.request.messages


def test_run_with_answer_on_limit_forbids_tools_in_the_last_iteration() -> None:
    _, client = run([*again(2), answer("Done.")], max_iterations=3, answer_on_limit=True)
    choices = [request.options.tool_choice for request in client.requests]
    assert choices == [None, None, ToolChoice(mode="none")]
    assert all(request.tools for request in client.requests)


@pytest.mark.parametrize(
    ("script", "limits"),
    [
        ([answer(*(call("work", name, what="ok") for name in "abc"))], {"max_calls": 2}),
        (again(2, "raise"), {"max_failures": 2}),
    ],
)
def test_run_with_answer_on_limit_asks_for_text_after_a_limit_of_calls(script: list[Any], limits: Any) -> None:
    [reason] = limits
    result, client = run([*script, answer("Done.")], answer_on_limit=True, **limits)
    assert (result.stop, result.text) == ("completed", "Done.")
    choices = [request.options.tool_choice for request in client.requests]
    assert choices == [*[None] * len(script), ToolChoice(mode="none")]
    result, client = run([*script, *again(2)], answer_on_limit=True, **limits)
    assert (result.stop, len(client.requests)) == (reason, len(script) + 1)
    check_pairs(result.request.messages)
    result, client = run([*script, answer("Done.")], answer_on_limit=True, max_iterations=len(script), **limits)
    assert (result.stop, len(client.requests)) == (reason, len(script))


def test_terminating_tool_ends_the_run_only_if_it_succeeds() -> None:
    script = [
        answer(call("finish", "a", what="raise")),
        answer(call("work", "b", what="ok"), call("finish", "c", what="ok"), call("work", "d", what="ok")),
    ]
    result, _ = run(script)
    assert result.stop == "terminated"
    assert outputs(result) == ["it did not work", "did ok", "did ok", "did ok"]


def test_run_stops_at_max_failures_in_a_row() -> None:
    result, client = run(again(9, "raise"), max_failures=2)
    assert (result.stop, len(client.requests)) == ("max_failures", 2)
    mixed = answer(call("work", "x", what="raise"), call("work", "y", what="ok"))
    result, _ = run([*again(1, "raise"), mixed, *again(1, "raise"), answer("Done.")], max_failures=2)
    assert result.stop == "completed"
    assert run([*again(4, "raise"), answer("Done.")], max_failures=None)[0].stop == "completed"


def test_run_stops_at_max_calls() -> None:
    log = Log()
    three = answer(*(call("work", name, what="ok") for name in "abc"))
    result, client = run([three, answer("Done.")], tools_of(log), max_calls=2)
    assert (result.stop, len(client.requests), len(log.args)) == ("max_calls", 1, 2)
    assert outputs(result)[2] == "no more than 2 calls are allowed: the tool did not run"


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_run_stops_tools_at_max_seconds(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock.install(monkeypatch)

    class Soon(Observer):
        """Sets the clock forward when the model has answered."""

        def ask_ended(self, ask: Any, response: Any, error: Any) -> None:
            clock.leave(1)

    script = [answer(*(call("work", name, what="hang") for name in "ab"[:count])), answer("Done.")]
    result, client = run(script, max_seconds=Clock.SECONDS, max_concurrency=1, observer=Soon())
    assert (result.stop, len(client.requests)) == ("time_limit", 1)
    assert (
        outputs(result)
        == [
            "the run reached its time limit before the tool had a result",
            "the run reached its time limit: the tool did not run",
        ][:count]
    )


def test_runner_refuses_settings_out_of_range() -> None:
    with pytest.raises(ValueError, match="max_iterations=0, timeout=-1, max_failures=0"):
        ToolRunner(Scripted([]), max_iterations=0, timeout=-1, max_failures=0)
    assert run([answer(call("work", "a", what="ok")), answer("Done.")], timeout=math.inf)[0].text == "Done."
    with pytest.raises(ValueError, match="asks for 3"):
        run([], asked=question(choices=3))


def test_answer_with_an_error_ends_the_run() -> None:
    failed = answer(call("work", "b", what="ok"), error=ErrorContent(code="overloaded", message="Too busy."))
    result, _ = run([answer(call("work", "a", what="ok")), failed])
    assert (result.stop, result.error) == ("error", failed.error)
    check_pairs(result.messages)
    assert outputs(result) == ["did ok", "the answer broke off: the tool did not run"]
    # The transcript ends before the failed answer: the request can be repeated.
    assert result.request.messages == [*question().messages, *result.messages[:2]]


def test_error_of_the_client_raises_run_interrupted_with_the_result_so_far() -> None:
    error = ServerError("no", api="scripted", status=503, retryable=True)
    with pytest.raises(ServerError) as first:
        run([error])
    assert first.value is error
    with pytest.raises(RunInterrupted) as later:
        run([answer(call("work", "a", what="ok")), error])
    interrupted = later.value
    assert interrupted.__cause__ is error
    assert (interrupted.status, interrupted.retryable, interrupted.api) == (503, True, "scripted")
    assert outputs(interrupted.result) == ["did ok"]
    assert run([answer("Done.")], asked=interrupted.result.request)[0].text == "Done."


def test_error_of_the_client_ends_a_stream_with_turn_error() -> None:
    error = ServerError("no")
    with pytest.raises(ServerError):
        ToolRunner(Scripted([error])).stream("Go.").read()
    stream = ToolRunner(Scripted([answer(call("work", "a", what="ok")), error]), tools_of(Log())).stream("Go.")
    events = list(stream)
    assert isinstance(events[-1], TurnError)
    assert stream.failure is error
    assert stream.result.stop == "error"
    assert cm.fold(events) == stream.result.response


def test_run_continues_a_paused_turn() -> None:
    paused = answer(WebSearchToolCallContent(call_id="s", arguments={}))
    paused = msgspec.structs.replace(
        paused,
        choices=[
            msgspec.structs.replace(paused.choices[0], finish_reason=FinishReason(reason="pause", resumable=True))
        ],
    )
    result, client = run([paused, answer("Found.")])
    assert (result.stop, result.text) == ("completed", "Found.")
    assert client.requests[1].messages[-1].contents == paused.messages[0].contents


def test_run_stops_if_the_answer_is_still_running() -> None:
    result, client = run([answer(call("work", "a", what="ok"), reason="running")])
    assert (result.stop, len(client.requests), result.report.calls) == ("running", 1, [])


# -- calls that do not run ---------------------------------------------------------------------------------------------


def test_incomplete_call_does_not_run() -> None:
    log = Log()
    whole, cut = call("work", "a", what="ok"), call("work", "b", what="ok")
    result, _ = run([answer(whole, cut, reason="length"), answer("Done.")], tools_of(log))
    assert log.args == ["ok"]
    assert outputs(result)[1] == "the answer ended in the middle of this call: the tool did not run"
    marked = msgspec.structs.replace(whole, status="incomplete")
    result, _ = run([answer(marked), answer("Done.")], tools_of(log))
    assert outputs(result) == ["the answer ended in the middle of this call: the tool did not run"]
    result, _ = run([answer(whole, cut, reason="content_filter"), answer("Done.")], tools_of(log))
    assert log.args == ["ok"]
    assert result.report.outcomes == {"cut_short": 2}


def test_run_does_not_hand_back_an_incomplete_call() -> None:
    free = CustomToolCallContent(call_id="a", name="sql", arguments="DELETE FROM ord", status="incomplete")
    shell = ShellToolCallContent(call_id="b", arguments={"commands": ["rm -rf /"]}, executor="client")
    result, _ = run([answer(free, call("elsewhere", "c"), shell, reason="length"), answer("Done.")])
    assert [made.call_id for made in result.handed_back] == ["c"]
    kinds = [type(content) for content in result.messages[1].contents]
    assert kinds == [CustomToolResultContent, ShellToolResultContent]


def test_run_does_not_run_calls_executed_by_the_provider() -> None:
    search = WebSearchToolCallContent(call_id="s", arguments={"query": "weather"})
    served = FunctionCallContent(call_id="f", name="work", arguments={"what": "ok"}, executor="provider")
    result, client = run([answer(search, served, "It rains.")])
    assert (result.stop, len(client.requests), result.report.calls) == ("completed", 1, [])


def test_run_does_not_run_a_call_that_has_a_result_in_the_answer() -> None:
    log = Log()
    done = FunctionResultContent(call_id="a", outputs=[TextContent(text="42")])
    result, _ = run([answer(call("work", "a", what="ok"), done, "It is 42.")], tools_of(log))
    assert (result.stop, log.args) == ("completed", [])


def test_run_hands_back_calls_of_declared_tools() -> None:
    both = answer(call("elsewhere", "a"), call("work", "b", what="ok"))
    result, _ = run([both])
    assert result.stop == "handed_back"
    assert [made.call_id for made in result.handed_back] == ["a"]
    assert outputs(result) == ["did ok"]
    given_back = ChatMessage(role="tool", contents=[result_of(result.handed_back[0], "from elsewhere")])
    asked = msgspec.structs.replace(result.request, messages=[*result.request.messages, given_back])
    more, client = run([answer("Done.")], asked=cm.loads(cm.dumps(asked)))
    assert more.text == "Done."
    results = [content for m in client.requests[0].messages if m.role == "tool" for content in m.contents]
    assert {content.call_id: content.text for content in results} == {"a": "from elsewhere", "b": "did ok"}


def test_run_hands_back_calls_of_tools_declared_in_the_request() -> None:
    asked = msgspec.structs.replace(question(), tools=[FunctionTool(name="theirs"), FunctionTool(name="work")])
    result, client = run([answer(call("theirs", "a"))], asked=asked)
    assert result.stop == "handed_back"
    names = [definition.name for definition in client.requests[0].tools]
    assert (names[0], names.count("work")) == ("theirs", 1)


def test_run_hands_back_calls_of_custom_tools() -> None:
    made = CustomToolCallContent(call_id="a", name="sql", arguments="SELECT 1")
    result, _ = run([answer(made)], [CustomTool(name="sql")])
    assert (result.stop, result.handed_back) == ("handed_back", [made])


def test_runner_keeps_a_second_result_of_a_call() -> None:
    """Regression: the result was missing, without a report, if another call of the turn had none."""
    calls = ChatMessage(role="assistant", contents=[call("work", "a", what="ok"), call("work", "b", what="ok")])
    first, second = (
        ChatMessage(role="tool", contents=[FunctionResultContent(call_id="a", outputs=[TextContent(text=text)])])
        for text in ("one", "two")
    )
    asked = ChatRequest(messages=[cm.user("Go."), calls, first, second])
    result, client = run([answer("Done.")], asked=asked)
    assert result.stop == "completed"
    [request] = client.requests
    results = [(content.call_id, content.outputs) for m in request.messages[2:] for content in m.contents]
    assert [call_id for call_id, _ in results] == ["a", "b", "a"]
    assert (results[0][1], results[2][1]) == (first.contents[0].outputs, second.contents[0].outputs)
    encoded = cm.adapter("openai-chat").encode_request(request)
    assert [loss.path for loss in encoded.losses if loss.code == "unmatched-result"] == ["$.messages[3].contents[0]"]


def test_results_of_handed_back_calls_are_put_in_the_order_of_the_calls() -> None:
    result, _ = run([answer(call("elsewhere", "a"), call("work", "b", what="ok"))])
    given_back = ChatMessage(role="tool", contents=[result_of(result.handed_back[0], "from elsewhere")])
    asked = msgspec.structs.replace(result.request, messages=[*result.request.messages, given_back])
    _, client = run([answer("Done.")], asked=asked)
    check_pairs(client.requests[0].messages)


def test_cancelled_run_hands_back_no_calls() -> None:
    cancellation = Cancellation()

    @tool
    def stop() -> str:
        cancellation.cancel()
        return "stopped"

    declared = FunctionTool(name="elsewhere")
    client = Scripted([answer(call("elsewhere", "a"), call("stop", "b"))])
    result = ToolRunner(client, [stop, declared]).run("Go.", cancellation=cancellation)
    assert (result.stop, result.handed_back) == ("cancelled", [])
    check_pairs(result.request.messages)


def test_second_run_of_a_transcript_declares_each_tool_once() -> None:
    group = cm.ToolGroup(tools=[FunctionTool(name="inner")])
    tools = [*tools_of(Log()), HostedTool(kind="code_interpreter"), group]
    result, first = run([answer("One.")], tools)
    _, second = run([answer("Two.")], tools, result.request)
    assert second.requests[0].tools == first.requests[0].tools


def test_result_in_an_answer_gets_the_new_id_of_a_call_with_a_repeated_id() -> None:
    done = FunctionResultContent(call_id="a", outputs=[TextContent(text="42")])
    log = Log()
    script = [answer(call("work", "a", what="ok")), answer(call("work", "a", what="null"), done), answer("Done.")]
    result, _ = run(script, tools_of(log))
    assert (log.args, result.stop) == (["ok"], "completed")
    assert [content.call_id for content in result.messages[2].contents] == ["a_2", "a_2"]
    hosted = WebSearchToolResultContent(call_id="a", outputs=[])
    result, _ = run([answer(call("work", "a", what="ok"), hosted), answer("Done.")], tools_of(log))
    assert log.args == ["ok", "ok"]


def test_empty_answer_completes_the_run() -> None:
    empty = ChatResponse(choices=[])
    result, client = run([answer(call("work", "a", what="ok")), empty, answer("More.")])
    assert (result.stop, len(client.requests)) == ("completed", 2)
    blank = answer()
    result, _ = run([answer(call("work", "a", what="ok")), blank])
    assert result.stop == "completed"
    assert [message.role for message in result.request.messages] == ["user", "assistant", "tool"]


def test_calls_with_the_same_id_get_distinct_ids() -> None:
    script = [
        answer(call("work", "a", what="ok"), call("work", "a", what="null")),
        answer(call("work", "a", what="ok")),
        answer("Done."),
    ]
    result, _ = run(script)
    assert [made.call_id for message in result.messages for made in message.tool_calls] == ["a", "a_2", "a_3"]
    assert outputs(result) == ["did ok", "null", "did ok"]


# -- approval ----------------------------------------------------------------------------------------------------------


def run_that_needs_approval() -> tuple[RunResult, Log, list[Any]]:
    log = Log()
    made = tools_of(log)
    batch = answer(call("delete", "a", what="ok"), call("work", "b", what="ok"), call("delete", "c", what="null"))
    return run([batch], made)[0], log, made


def test_call_that_needs_approval_holds_back_all_calls_of_the_turn() -> None:
    result, log, _ = run_that_needs_approval()
    assert (result.stop, log.args) == ("approval", [])
    assert [(request.request_id, request.name, request.arguments) for request in result.approvals] == [
        ("a", "delete", {"what": "ok"}),
        ("c", "delete", {"what": "null"}),
    ]
    assert result.messages[-1].contents == result.approvals


def test_run_with_approvals_resumes_from_a_stored_transcript() -> None:
    result, log, made = run_that_needs_approval()
    stored = cm.dumps(result.answer({"a": True, "c": "not today"}))
    more, client = run([answer("Done.")], made, cm.loads(stored))
    assert (more.stop, sorted(log.args)) == ("completed", ["ok", "ok"])
    assert outputs(more) == ["did ok", "did ok", "the user did not allow this call: not today"]
    assert more.report.outcomes == {"ok": 2, "refused": 1}
    assert more.report.calls[0].iteration == 0
    check_pairs(client.requests[0].messages)
    kinds = {type(content) for message in client.requests[0].messages for content in message.contents}
    assert not kinds & {ToolApprovalRequestContent, ToolApprovalResponseContent}


def test_request_has_no_resolved_approvals() -> None:
    """A store keeps all messages, with approval requests and responses."""
    result, _, made = run_that_needs_approval()
    answers = result.answer({"a": True, "c": False})
    done, _ = run([answer("Done.")], made, answers)
    messages = [*answers.messages, *done.messages, ChatMessage(role="user", contents=[TextContent(text="And now?")])]
    asked = msgspec.structs.replace(result.request, messages=messages)
    more, client = run([answer("Nothing.")], made, asked)
    assert (more.text, more.report.calls) == ("Nothing.", [])
    check_pairs(client.requests[0].messages)
    kinds = {type(content) for message in client.requests[0].messages for content in message.contents}
    assert not kinds & {ToolApprovalRequestContent, ToolApprovalResponseContent}


def test_resumed_run_can_be_streamed() -> None:
    result, _, made = run_that_needs_approval()
    stream = ToolRunner(Scripted([answer("Done.")]), made).stream(result.answer({"a": True, "c": False}))
    events = list(stream)
    assert cm.fold(events) == stream.result.response
    assert [message.role for message in stream.result.messages] == ["tool", "assistant"]


def test_run_with_some_approvals_missing_asks_for_them_again() -> None:
    result, log, made = run_that_needs_approval()
    more, client = run([], made, result.answer({"a": True}))
    assert (more.stop, log.args, client.requests) == ("approval", [], [])
    assert [request.request_id for request in more.approvals] == ["c"]
    last, _ = run([answer("Done.")], made, cm.loads(cm.dumps(more.answer({"c": False}))))
    assert (last.stop, log.args) == ("completed", ["ok", "ok"])
    assert last.report.outcomes == {"ok": 2, "refused": 1}
    assert more.answer({}) == more.request


def test_result_answer_refuses_unknown_requests_and_wrong_types() -> None:
    result, *_ = run_that_needs_approval()
    with pytest.raises(ValueError, match="no pending request x; pending requests: a, c"):
        result.answer({"x": True})
    with pytest.raises(TypeError, match="a text with the reason: a"):
        result.answer({"a": 1})  # type: ignore[dict-item]


def test_calls_do_not_run_if_the_user_continues_without_approval() -> None:
    result, log, made = run_that_needs_approval()
    words = ChatMessage(role="user", contents=[TextContent(text="Never mind.")])
    asked = msgspec.structs.replace(result.request, messages=[*result.request.messages, words])
    more, client = run([answer("Fine.")], made, asked)
    assert (more.text, log.args) == ("Fine.", [])
    check_pairs(client.requests[0].messages)
    assert client.requests[0].messages[-1] == words
    assert more.report.outcomes == {"not_run": 3}


def test_report_has_no_result_for_a_call_of_an_earlier_run_instead_of_not_run() -> None:
    words = ChatMessage(role="user", contents=[TextContent(text="Hello?")])
    earlier = [*answer(call("work", "a", what="ok"), call("work", "b", what="ok")).messages]
    cancelled = Cancellation()
    cancelled.cancel()
    ends = [
        run([answer("Yes?")], asked=[*earlier, words])[0],
        ToolRunner(Scripted([]), tools_of(Log())).run(earlier, cancellation=cancelled),
        run([], asked=earlier, max_calls=1)[0],
    ]
    for result in ends:
        shown = [output for output in outputs(result) if output != "did ok"]
        assert shown
        assert all(output.endswith(": no result was recorded") for output in shown)
        assert not any("did not run" in output for output in shown)
    assert [result.report.outcomes for result in ends] == [
        {"no_result": 2},
        {"cancelled": 2},
        {"ok": 1, "no_result": 1},
    ]


def test_pending_call_of_a_crashed_run_asks_for_approval_and_holds_back_the_others() -> None:
    log = Log()
    made = tools_of(log)
    earlier = answer(call("delete", "a", what="ok"), call("work", "b", what="ok")).messages
    result, client = run([], made, earlier)
    assert (result.stop, log.args, client.requests) == ("approval", [], [])
    assert [request.request_id for request in result.approvals] == ["a"]


def test_approval_before_a_later_turn_of_a_crashed_run_is_asked_for_again() -> None:
    result, log, made = run_that_needs_approval()
    begun = ChatMessage(role="assistant", contents=[])
    more, client = run([], made, [*result.answer({"a": True, "c": True}).messages, begun])
    assert (more.stop, log.args, client.requests) == ("approval", [], [])
    assert [request.request_id for request in more.approvals] == ["a", "c"]


def test_pending_call_of_a_crashed_run_without_approval_runs() -> None:
    log = Log()
    result, _ = run([answer("Done.")], tools_of(log), answer(call("work", "b", what="ok")).messages)
    assert (result.text, log.args) == ("Done.", ["ok"])


def test_approval_may_be_followed_by_a_message_of_the_user() -> None:
    result, _, made = run_that_needs_approval()
    asked = result.answer({"a": True})
    words = ChatMessage(role="user", contents=[TextContent(text="But quickly.")])
    asked = msgspec.structs.replace(asked, messages=[*asked.messages, words])
    more, client = run([answer("Done.")], made, asked)
    assert (more.text, more.report.outcomes) == ("Done.", {"ok": 2, "not_run": 1})
    assert client.requests[0].messages[-1] == words


def test_run_accepts_results_instead_of_approvals() -> None:
    result, log, made = run_that_needs_approval()
    calls = result.messages[0].tool_calls
    has_no_origin = ChatMessage(
        role="tool", contents=[result_of(made_call, "by hand") for made_call in reversed(calls)]
    )
    asked = msgspec.structs.replace(result.request, messages=[*result.request.messages, has_no_origin])
    more, client = run([answer("Done.")], made, asked)
    assert (more.text, log.args) == ("Done.", [])
    check_pairs(client.requests[0].messages)
    contents = [content for message in client.requests[0].messages for content in message.contents]
    assert not any(isinstance(content, ToolApprovalRequestContent) for content in contents)


def test_approval_may_depend_on_the_arguments() -> None:
    @tool(approval=lambda args: args["amount"] > 100)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    @tool(approval=lambda args: 1 / 0)
    def odd() -> str:
        return "never"

    assert outputs(run([answer(call("pay", "a", amount=5)), answer("Done.")], [pay])[0]) == ["paid 5"]
    assert run([answer(call("pay", "a", amount=500))], [pay])[0].stop == "approval"
    assert outputs(run([answer(call("odd", "a")), answer("Done.")], [odd])[0]) == ["division by zero"]


def test_tool_refuses_a_coroutine_function_as_approval() -> None:
    async def ask(args: Any) -> bool:
        return True

    with pytest.raises(ToolDefinitionError, match="approval"):
        tool(approval=ask)(lambda: None)  # type: ignore[arg-type]


def test_run_stops_for_approval_requests_of_the_provider() -> None:
    asking = ToolApprovalRequestContent(request_id="mcpr_1", name="search", server="docs", arguments="{}")
    result, _ = run([answer(asking)])
    assert (result.stop, result.approvals) == ("approval", [asking])
    more, client = run([answer("Done.")], asked=result.answer({"mcpr_1": True}))
    assert more.text == "Done."
    assert client.requests[0].messages[1].contents == [asking]
    assert client.requests[0].messages[2].contents[0] == ToolApprovalResponseContent(request_id="mcpr_1", approved=True)


def test_run_stops_for_approval_requests_of_provider_and_application_together() -> None:
    provider_request = ToolApprovalRequestContent(request_id="mcpr_1", name="search")
    log = Log()
    made = tools_of(log)
    result, _ = run([answer(provider_request, call("delete", "a", what="ok"))], made)
    assert [request.request_id for request in result.approvals] == ["a", "mcpr_1"]
    both = result.answer({"a": True, "mcpr_1": True})
    more, client = run([answer("Done.")], made, cm.loads(cm.dumps(both)))
    assert (more.text, log.args) == ("Done.", ["ok"])
    assert client.requests[0].messages[-1].contents == [ToolApprovalResponseContent(request_id="mcpr_1", approved=True)]
    one, _ = run([], made, result.answer({"a": True}))
    assert (one.stop, [request.request_id for request in one.approvals]) == ("approval", ["mcpr_1"])
    handed, _ = run([answer(provider_request, call("elsewhere", "b"))], made)
    assert (len(handed.approvals), len(handed.handed_back)) == (1, 1)


# -- cancellation ------------------------------------------------------------------------------------------------------


def test_run_cancelled_while_tools_run_has_a_result_for_each_call() -> None:
    cancellation, gate = Cancellation(), Gate()

    @tool
    def wait() -> str:
        gate.pass_through()
        return "late"

    def cancel() -> None:
        gate.entered.acquire()
        cancellation.cancel()

    threading.Thread(target=cancel).start()
    client = Scripted([answer(call("wait", "a"), call("wait", "b"))])
    result = ToolRunner(client, [wait], max_concurrency=1, timeout=None).run("Go.", cancellation=cancellation)
    gate.opened.set()
    assert result.stop == "cancelled"
    assert outputs(result) == [
        "the run was cancelled before the tool had a result",
        "the run was cancelled: the tool did not run",
    ]
    check_pairs(result.request.messages)


def test_runner_does_not_set_the_cancellation_of_the_caller() -> None:
    cancellation = Cancellation()
    runner = ToolRunner(
        Scripted([answer(call("work", "a", what="ok")), ServerError("no"), answer("Done.")]), tools_of(Log())
    )
    with pytest.raises(RunInterrupted) as interrupted:
        runner.run("Go.", cancellation=cancellation)
    assert not cancellation.is_cancelled
    assert runner.run(interrupted.value.result.request, cancellation=cancellation).text == "Done."
    with ToolRunner(Scripted([answer("One."), answer("Two.")])).stream("Go.", cancellation=cancellation) as stream:
        next(stream)
    assert not cancellation.is_cancelled


@pytest.mark.parametrize("ticks", range(1, 30))
def test_task_of_an_async_run_can_be_cancelled_at_any_tick(ticks: int) -> None:
    @tool
    async def quick() -> str:
        return "done"

    async def some() -> None:
        client = AsyncScripted([answer(call("quick", str(number))) for number in range(9)])
        task = asyncio.create_task(AsyncToolRunner(client, [quick], max_iterations=9).run("Go."))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(some())


def test_slow_reader_of_a_stream_causes_no_timeout_of_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock.install(monkeypatch)

    @tool(timeout=LONG)
    def quick() -> str:
        return "done"

    def slowly(event: Any) -> None:
        """Advance the clock beyond the timeout of the tool, after the tool has ended."""
        if isinstance(event, Notice) and event.kind == "tool_use":
            for thread in threading.enumerate():
                if thread.name == "tool quick":
                    thread.join(LONG)
            clock.advance(2 * LONG)

    script = [answer(call("quick", "a"), call("quick", "b")), answer("Done.")]
    stream = ToolRunner(Scripted(script), [quick]).stream("Go.")
    for event in stream:
        slowly(event)
    assert stream.result.report.outcomes == {"ok": 2}

    async def later() -> RunResult:
        stream = AsyncToolRunner(AsyncScripted(script), [quick]).stream("Go.")
        async for event in stream:
            slowly(event)
        return stream.result

    assert asyncio.run(later()).report.outcomes == {"ok": 2}


def test_async_stream_is_read_in_the_task_of_its_reader() -> None:
    seen: set[Any] = set()

    class Watching(AsyncScripted):
        def stream(self, request: ChatRequest, *, timeout: float | None = None) -> Any:
            made = super().stream(request)
            step = made._next

            def watched() -> Any:
                seen.add(asyncio.current_task())
                return step()

            made._next = watched
            return made

    async def some() -> Any:
        await AsyncToolRunner(Watching([answer("Done.")])).stream("Go.").read()
        return asyncio.current_task()

    task = asyncio.run(some())
    assert seen == {task}


def test_async_stream_can_be_cancelled_before_its_first_event() -> None:
    class Slow(AsyncScripted):
        def stream(self, request: ChatRequest, *, timeout: float | None = None) -> Any:
            return Silent(self, request)

    class Silent(AsyncStream):
        async def __anext__(self) -> Any:
            cancellation.cancel()
            await asyncio.sleep(30)
            raise AssertionError

    async def some() -> tuple[RunResult, int]:
        stream = AsyncToolRunner(Slow([])).stream("Go.", cancellation=cancellation)
        result = await stream.read()
        task = asyncio.current_task()
        assert task is not None
        return result, task.cancelling()

    cancellation = Cancellation()
    result, cancelling = asyncio.run(some())
    assert (result.stop, result.messages, cancelling) == ("cancelled", [], 0)


def test_stream_starts_its_run_when_it_is_first_read() -> None:
    begun: list[str] = []

    class Watch(Observer):
        def run_started(self, request: ChatRequest) -> None:
            begun.append("run")

    stream = ToolRunner(Scripted([answer("Done.")]), observer=Watch()).stream("Go.")
    assert (begun, stream.result.stop) == ([], "unfinished")
    stream.read()
    assert begun == ["run"]


def test_run_raises_the_error_of_an_observer() -> None:
    class Broken(Observer):
        def ask_ended(self, ask: Any, response: Any, error: Any) -> None:
            raise RuntimeError("no disk")

    for how in ("run", "read"):
        runner = ToolRunner(Scripted([answer("Done.")]), observer=Broken())
        with pytest.raises(RuntimeError, match="no disk"):
            runner.run("Go.") if how == "run" else runner.stream("Go.").read()


def test_errors_of_a_run_can_be_pickled() -> None:
    with pytest.raises(RunInterrupted) as interrupted:
        run([answer(call("work", "a", what="ok")), ServerError("no", status=503)])
    copy = pickle.loads(pickle.dumps(interrupted.value))
    assert (copy.status, copy.result) == (503, interrupted.value.result)


def test_async_run_can_be_cancelled_while_it_waits_for_the_model() -> None:
    class Slow(AsyncScripted):
        async def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
            cancellation.cancel()
            await asyncio.sleep(30)
            raise AssertionError

    cancellation = Cancellation()
    result = asyncio.run(AsyncToolRunner(Slow([])).run("Go.", cancellation=cancellation))
    assert (result.stop, result.messages) == ("cancelled", [])
    assert result.request.messages[0].text == "Go."


def test_observer_gets_the_result_of_a_cancelled_task() -> None:
    ended: list[RunResult] = []

    class Watch(Observer):
        def run_ended(self, run: Any, result: RunResult, error: Exception | None) -> None:
            ended.append(result)

    async def cancelled() -> None:
        started = asyncio.Event()

        @tool
        async def wait() -> str:
            started.set()
            await asyncio.sleep(30)
            return "late"

        client = AsyncScripted([answer(call("wait", "a"))])
        task = asyncio.create_task(AsyncToolRunner(client, [wait], observer=Watch()).run("Go."))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert ended[0].stop == "cancelled"
    check_pairs(ended[0].messages)


def test_stream_cancelled_within_an_answer_keeps_the_received_part() -> None:
    cancellation = Cancellation()
    client = Scripted([answer("A long story about nothing.", call("work", "a", what="ok"))])
    stream = ToolRunner(client, tools_of(Log())).stream("Go.", cancellation=cancellation)
    events = []
    for event in stream:
        events.append(event)
        if isinstance(event, TextDelta):
            cancellation.cancel()
    assert isinstance(events[-1], TurnError)
    assert stream.result.stop == "cancelled"
    assert stream.result.messages[0].text == "A lon"
    assert cm.fold(events) == stream.result.response
    assert len(stream.result.request.messages) == 1


def test_cancellation_of_a_tool_is_set_after_its_timeout() -> None:
    was_cancelled = threading.Event()

    @tool(timeout=0.05)
    def wait(context: ToolContext) -> str:
        if context.cancellation.wait(30):
            was_cancelled.set()
        return "late"

    run([answer(call("wait", "a")), answer("Done.")], [wait])
    assert was_cancelled.wait(30)


# -- conversations that the server holds -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["previous_response_id", "conversation_id"])
def test_run_sends_only_new_messages_if_the_server_keeps_the_conversation(option: str) -> None:
    script = [answer(call("work", "a", what="ok"), id="resp_2"), answer("Done.", id="resp_3")]
    client = Scripted(script, keeps_conversations=True)
    result = ToolRunner(client, tools_of(Log())).run(question(**{option: "before"}))
    first, second = client.requests
    assert [message.role for message in second.messages] == ["tool"]
    assert getattr(first.options, option) == "before"
    expected = "resp_2" if option == "previous_response_id" else "before"
    assert getattr(second.options, option) == expected
    assert result.request.messages == []
    assert [message.role for message in result.messages] == ["assistant", "tool", "assistant"]


def test_run_keeps_repeated_call_ids_if_the_server_keeps_the_conversation() -> None:
    script = [
        answer(call("work", "a", what="ok"), id="r2"),
        answer(call("work", "a", what="ok"), id="r3"),
        answer("Done."),
    ]
    client = Scripted(script, keeps_conversations=True)
    ToolRunner(client, tools_of(Log())).run(question(previous_response_id="r1"))
    assert [request.messages[-1].contents[0].call_id for request in client.requests[1:]] == ["a", "a"]


def test_run_with_approvals_resumes_if_the_server_keeps_the_conversation() -> None:
    client = Scripted([answer(call("delete", "a", what="ok"), id="r2"), answer("Done.")], keeps_conversations=True)
    runner = ToolRunner(client, tools_of(Log()))
    result = runner.run(question(previous_response_id="r1"))
    runner.run(cm.loads(cm.dumps(result.answer({"a": True}))))
    assert [message.role for message in client.requests[1].messages] == ["tool"]
    assert client.requests[1].options.previous_response_id == "r2"


def test_run_sends_all_messages_if_the_request_has_no_conversation_id() -> None:
    client = Scripted([answer(call("work", "a", what="ok"), id="r2"), answer("Done.")], keeps_conversations=True)
    ToolRunner(client, tools_of(Log())).run(question())
    assert [message.role for message in client.requests[1].messages] == ["user", "assistant", "tool"]


# -- observers ---------------------------------------------------------------------------------------------------------


def test_observer_gets_start_and_end_of_the_run_and_of_each_request() -> None:
    seen: list[str] = []

    class Watch(Observer):
        def run_started(self, request: ChatRequest) -> str:
            seen.append("run")
            return "run"

        def run_ended(self, run: Any, result: RunResult, error: Exception | None) -> None:
            seen.append(f"{run} {result.stop} {error}")

        def ask_started(self, run: Any, request: ChatRequest, api: str, model: str | None) -> int:
            seen.append(f"ask {api} {model}")
            return len(request.messages)

        def ask_ended(self, ask: Any, response: ChatResponse | None, error: BaseException | None) -> None:
            seen.append(f"{ask} {response is not None} {error}")

    for how in ("run", "stream"):
        seen.clear()
        client = Scripted([answer(call("work", "a", what="ok")), ServerError("no")])
        runner = ToolRunner(client, tools_of(Log()), observer=Watch())
        asked = msgspec.structs.replace(question(), model="m")
        if how == "run":
            with pytest.raises(RunInterrupted):
                runner.run(asked)
        else:
            runner.stream(asked).read()
        assert seen == ["run", "ask scripted m", "1 True None", "ask scripted m", "3 False no", "run error no"]


def test_bind_requires_the_tool_choice_only_in_the_first_turn() -> None:
    made = ToolSet(tools_of(Log()))
    asked = bind(question(), made, choice=["work", "later"])
    _, client = run([answer(call("work", "a", what="ok")), answer("Done.")], made, asked)
    assert [request.options.tool_choice for request in client.requests] == [
        ToolChoice(mode="required", tools=["work", "later"]),
        ToolChoice(mode="auto", tools=["work", "later"]),
    ]
