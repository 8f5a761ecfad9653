"""`timeout` and `max_seconds` hold for any model, provider and arguments, and the transcript can be continued."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bounded import Clock, dripping, no_hang
from contentmodel import ChatMessage, ChatResponse, TextContent, async_chat_client, chat_client, fold
from contentmodel.content.tools import ToolResultContent
from contentmodel.events import BlockStart, BlockStop, StreamEvent, TextDelta, TurnError, TurnStart
from contentmodel.runner import AsyncToolRunner, Observer, RunResult, ToolRunner, calls
from contentmodel.tools import Cancellation, InputLimits, Tool, keywords, tool
from scripted import AsyncScripted, AsyncStream, Scripted, Stream, answer, call

over = threading.Event()


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """End all hanging threads of a test with the test."""
    over.clear()
    yield
    over.set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that runs use during a test."""
    return Clock.install(monkeypatch)


@tool
def work() -> str:
    """Works."""
    return "done"


def check_continues(result: RunResult) -> None:
    """Check that every call has one result, and that the transcript can be continued."""
    contents = [c for message in result.messages for c in message.contents]
    calls = [c.call_id for c in contents if type(c).__name__ == "FunctionCallContent"]
    assert calls == [c.call_id for c in contents if isinstance(c, ToolResultContent)]
    again = ToolRunner(Scripted([answer("Hello.")]), [work]).run(result.request)
    assert (again.stop, again.text) == ("completed", "Hello.")


# Clients that hang ----------------------------------------------------------------------------------------------------


def hang(request: Any) -> ChatResponse:
    over.wait()
    return answer("late")


CALL = call("work", "a")
EVENTS: list[StreamEvent] = [
    TurnStart(response=ChatResponse()),
    BlockStart(index=0, content=CALL),
    BlockStop(index=0, content=CALL),
    BlockStart(index=1, content=TextContent(text="")),
]


def next_of(events: Iterator[StreamEvent], clock: Clock | None) -> StreamEvent | None:
    """Return the next event. With the last one, leave the run 0.3 seconds."""
    event = next(events, None)
    if event is EVENTS[-1] and clock is not None:
        clock.leave(0.3)
    return event


class Endless(Scripted):
    """A model that makes a call, sets the clock forward, and then sends text without end or, if `silent`, nothing."""

    def __init__(self, *, silent: bool, clock: Clock | None = None) -> None:
        super().__init__([])
        self.silent, self.clock, self.closed = silent, clock, threading.Event()

    def stream(self, request: Any, *, timeout: float | None = None) -> Any:
        outer, events = self, iter(EVENTS)

        class EndlessStream(Stream):
            def _next(self) -> StreamEvent | None:
                event = next_of(events, outer.clock)
                if event is None and outer.silent:
                    over.wait()
                return event or TextDelta(index=1, text="a")

            def _close(self) -> None:
                outer.closed.set()

        return EndlessStream(self, request)


class AsyncEndless(AsyncScripted):
    def __init__(self, *, silent: bool, clock: Clock | None = None) -> None:
        super().__init__([])
        self.silent, self.clock, self.closed = silent, clock, threading.Event()

    async def complete(self, request: Any, *, timeout: float | None = None) -> ChatResponse:
        return await asyncio.get_running_loop().create_future()

    def stream(self, request: Any, *, timeout: float | None = None) -> Any:
        outer, events = self, iter(EVENTS)

        class EndlessStream(AsyncStream):
            async def __anext__(self) -> StreamEvent:
                event = next_of(events, outer.clock)
                if event is None and outer.silent:
                    await asyncio.get_running_loop().create_future()
                return event or TextDelta(index=1, text="a")

            async def close(self) -> None:
                outer.closed.set()

        return EndlessStream(self, request)


def test_answer_that_hangs_ends_the_run_at_max_seconds() -> None:
    with no_hang():
        result = ToolRunner(Scripted([hang]), [work], max_seconds=0.3).run("Hello?")
    assert (result.stop, result.responses, result.error) == ("time_limit", [], None)
    check_continues(result)


def test_later_answer_that_hangs_ends_the_run_at_max_seconds(clock: Clock) -> None:
    class Second(Observer):
        """A client that sets the clock forward before the second request."""

        def ask_started(self, run: Any, request: Any, api: str, model: str | None) -> None:
            if request.messages[1:]:
                clock.leave(0.3)

    runner = ToolRunner(Scripted([answer(CALL), hang]), [work], max_seconds=Clock.SECONDS, observer=Second())
    with no_hang():
        result = runner.run("Hello?")
    assert (result.stop, result.report.outcomes) == ("time_limit", {"ok": 1})
    check_continues(result)


def test_answer_that_hangs_ends_an_async_run_at_max_seconds() -> None:
    async def main() -> RunResult:
        return await AsyncToolRunner(AsyncEndless(silent=True), [work], max_seconds=0.3).run("Hello?")

    with no_hang():
        result = asyncio.run(main())
    assert result.stop == "time_limit"
    check_continues(result)


def test_client_gets_the_remaining_time_as_timeout() -> None:
    seen: list[float | None] = []

    class Asked(Scripted):
        def complete(self, request: Any, *, timeout: float | None = None) -> ChatResponse:
            seen.append(timeout)
            return super().complete(request)

    def ask(**settings: Any) -> float | None:
        ToolRunner(Asked([answer("Yes.")]), **settings).run("Hello?")
        return seen.pop()

    assert ask() is None
    assert ask(request_timeout=7) == 7
    assert ask(request_timeout=7, max_seconds=100) == 7
    assert 90 < (ask(max_seconds=100) or 0) <= 101


def check_left(events: list[StreamEvent], result: RunResult, client: Any) -> None:
    assert isinstance(events[-1], TurnError)
    assert (result.stop, result.error.code if result.error else None) == ("time_limit", "time_limit")
    assert fold(events) == result.response
    assert result.report.outcomes == {"not_run": 1}
    assert client.closed.wait(10)
    check_continues(result)


@pytest.mark.parametrize("silent", [False, True])
def test_endless_stream_ends_at_max_seconds(silent: bool, clock: Clock) -> None:
    client = Endless(silent=silent, clock=clock)
    with no_hang():
        stream = ToolRunner(client, [work], max_seconds=Clock.SECONDS).stream("Hello?")
        events = list(stream)
        stream.close()
    check_left(events, stream.result, client)


@pytest.mark.parametrize("silent", [False, True])
def test_endless_async_stream_ends_at_max_seconds(silent: bool, clock: Clock) -> None:
    client = AsyncEndless(silent=silent, clock=clock)

    async def main() -> tuple[list[StreamEvent], RunResult]:
        async with AsyncToolRunner(client, [work], max_seconds=Clock.SECONDS).stream("Hello?") as stream:
            events = [event async for event in stream]
        return events, stream.result

    with no_hang():
        events, result = asyncio.run(main())
    check_left(events, result, client)


def test_stream_within_max_seconds_equals_a_stream_without_a_limit() -> None:
    script = [answer("Wait.", CALL), answer("Done.")]
    free = list(ToolRunner(Scripted(script), [work]).stream("Hello?"))
    client = Scripted(script)
    assert list(ToolRunner(client, [work], max_seconds=60).stream("Hello?")) == free
    assert client.open == 0
    with pytest.raises(ZeroDivisionError):
        list(ToolRunner(Scripted([ZeroDivisionError()]), max_seconds=60).stream("Hello?"))
    with pytest.raises(ZeroDivisionError):
        ToolRunner(Scripted([ZeroDivisionError()]), max_seconds=60).run("Hello?")


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: "
DELTA = b'"choices":[{"index":0,"delta":{"content":"a"}}]'
CHUNK = b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m",' + DELTA + b"}\n\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "drip"),
    [(HEAD + b"application/json\r\n\r\n", b" "), (HEAD + b"text/event-stream\r\n\r\n", b":"), (HEAD, b"x")],
    ids=["body", "event", "headers"],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_run_of_a_provider_that_sends_slowly_ends_at_max_seconds(head: bytes, drip: bytes, streamed: bool) -> None:
    with dripping(head, drip) as (port, _):
        client = chat_client("openai-chat", model="m", api_key="none", base_url=f"http://127.0.0.1:{port}/v1")
        runner = ToolRunner(client, [work], max_seconds=0.7)
        with no_hang():
            result = runner.stream("Hello?").read() if streamed else runner.run("Hello?")
    assert result.stop == "time_limit"
    check_continues(result)


def test_run_of_a_provider_with_an_endless_stream_ends_at_max_seconds(clock: Clock) -> None:
    async def main(url: str) -> RunResult:
        client = async_chat_client("openai-chat", model="m", api_key="none", base_url=url)
        stream = AsyncToolRunner(client, [work], max_seconds=Clock.SECONDS).stream("Hello?")
        async for event in stream:
            if isinstance(event, TextDelta):
                clock.leave(0.3)
                break
        return await stream.read()

    with dripping(HEAD + b"text/event-stream\r\n\r\n", CHUNK) as (port, gone):
        with no_hang():
            result = asyncio.run(main(f"http://127.0.0.1:{port}/v1"))
        assert gone.wait(10)
    assert result.stop == "time_limit"
    assert set(result.text) == {"a"}


# Validation of arguments ----------------------------------------------------------------------------------------------


class Slow(Tool):
    """A tool whose schema uses all validation steps that are allowed."""

    name = "slow"
    args_schema = {"type": "object", "properties": {"a": {"items": {"anyOf": [{"type": "string"}] * 900}}}}

    def run(self, args: Any) -> str:
        return "ran"


SLOW = [call("slow", f"s{number}", a=[1] * 5000) for number in range(6)]
MANY_STEPS = InputLimits(max_steps=10**12)


def test_validation_ends_at_timeout() -> None:
    runner = ToolRunner(Scripted([answer(*SLOW), answer("Done.")]), [Slow()], timeout=0.2, input_limits=MANY_STEPS)
    with no_hang():
        result = runner.run("Go.")
    assert (result.stop, result.report.outcomes) == ("completed", {"invalid": 6})
    assert all("more time than is left" in (record.error or "") for record in result.report.calls)
    assert result.text == "Done."


def test_validation_ends_at_max_seconds(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """The first validation that reads the clock ends the time of the run."""

    class Inside:
        @staticmethod
        def monotonic() -> float:
            clock.leave(-1)
            return clock()

    class Between:
        monotonic = staticmethod(clock)

    monkeypatch.setattr(keywords, "time", Inside)
    monkeypatch.setattr(calls, "time", Between)
    limited: dict[str, Any] = {"timeout": None, "max_seconds": Clock.SECONDS, "input_limits": MANY_STEPS}
    with no_hang():
        result = ToolRunner(Scripted([answer(*SLOW, CALL), answer("Done.")]), [Slow(), work], **limited).run("Go.")
    outcomes = [record.outcome for record in result.report.calls]
    assert (result.stop, outcomes) == ("time_limit", ["invalid", *["not_run"] * 6])
    assert "more time than is left" in (result.report.calls[0].error or "")
    check_continues(result)


def test_run_with_a_validation_that_hangs_ends_at_max_seconds() -> None:
    class Hanging(Slow):
        @property
        def arguments(self) -> Any:
            class Hang:
                schema = Slow.args_schema
                description = None

                def read(self, text: bytes, value: Any) -> Any:
                    over.wait()

            return Hang()

    large = call("slow", "s", a=["x" * 30_000])
    with no_hang():
        result = ToolRunner(Scripted([answer(large)]), [Hanging()], max_seconds=0.3).run("Go.")
    assert (result.stop, result.report.outcomes) == ("time_limit", {"not_run": 1})
    check_continues(result)


async def until_validation(running: asyncio.Future[Any], before: set[threading.Thread]) -> None:
    """Wait until a thread validates that is not in `before`. An earlier test may have left a thread running."""
    while not any(thread.name == "validation" for thread in set(threading.enumerate()) - before):
        assert not running.done()
        await asyncio.sleep(0.01)


def test_validation_does_not_block_the_event_loop() -> None:
    async def main() -> tuple[bool, RunResult]:
        before, cancellation = set(threading.enumerate()), Cancellation()
        runner = AsyncToolRunner(AsyncScripted([answer(*SLOW)]), [Slow()], timeout=2, input_limits=MANY_STEPS)
        running = asyncio.ensure_future(runner.run("Go.", cancellation=cancellation))
        await until_validation(running, before)
        for _ in range(10):
            await asyncio.sleep(0)
        is_early = not running.done()
        cancellation.cancel()
        return is_early, await running

    with no_hang():
        is_early, result = asyncio.run(main())
    assert is_early
    assert (result.stop, result.report.outcomes) == ("cancelled", {"cancelled": 6})


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_run_cancelled_during_validation_gives_every_call_a_result(streamed: bool) -> None:
    results: list[RunResult] = []

    class Keep(Observer):
        def run_ended(self, run: Any, result: RunResult, error: Exception | None) -> None:
            results.append(result)

    async def main() -> None:
        before = set(threading.enumerate())
        runner = AsyncToolRunner(
            AsyncScripted([answer(*SLOW)]), [Slow()], timeout=2, input_limits=MANY_STEPS, observer=Keep()
        )
        running = asyncio.ensure_future(runner.stream("Go.").read() if streamed else runner.run("Go."))
        await until_validation(running, before)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with no_hang():
        asyncio.run(main())
    (result,) = results
    assert (result.stop, result.report.outcomes) == ("cancelled", {"cancelled": 6})
    check_continues(result)


def test_runner_applies_its_input_limits_to_arguments() -> None:
    @tool
    def keep(text: str) -> str:
        """Keeps a text."""
        return "kept"

    script = [answer(call("keep", "a", text="x" * 1000)), answer("Done.")]
    result = ToolRunner(Scripted(script), [keep], input_limits=InputLimits(max_bytes=500)).run("Go.")
    assert result.report.outcomes == {"invalid": 1}
    assert "at most 500 bytes of JSON" in (result.report.calls[0].error or "")


def test_threads_of_answers_end_with_their_answers() -> None:
    def count() -> int:
        return sum(thread.name == "answer" for thread in threading.enumerate())

    runner = ToolRunner(Scripted([answer(str(n)) for n in range(20)]), max_seconds=60)
    for _ in range(10):
        runner.run([ChatMessage(role="user", contents=[TextContent(text="Go.")])])
        runner.stream("Go.").read()
    deadline = time.monotonic() + 10
    while count() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert count() == 0
