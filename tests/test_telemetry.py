"""The OpenTelemetry spans of a run: their attributes and parents, and that all are ended."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

import contentmodel
from conftest import APIS
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    ResponseFormat,
    TextContent,
    Usage,
    async_chat_client,
    chat_client,
)
from contentmodel.client import ClientError, RateLimitError, TimeoutExceeded
from contentmodel.runner import AsyncToolRunner, RunInterrupted, ToolRunner
from contentmodel.runner.jobs import Cancelled, OutOfTime
from contentmodel.runner.telemetry import PROVIDERS, OpenTelemetry
from contentmodel.tools import Cancellation, ToolOutcome, tool
from contentmodel_conformance.server import Call, Fault, Turn, say
from contentmodel_conformance.strategies.sdk import sdk_payloads

NAMES = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
PART = {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}
MESSAGE = {
    "type": "object",
    "properties": {"role": {"type": "string"}, "parts": {"type": "array", "items": PART}},
    "required": ["role", "parts"],
}


class Started(SpanProcessor):
    """A span processor that collects every started span, and its baggage."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.baggage: list[Any] = []

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self.spans.append(span)
        self.baggage.append(baggage.get_all(parent_context))


class Watch:
    """A tracer provider and a meter provider of a test, with the spans and metrics recorded."""

    def __init__(self) -> None:
        self.provider = TracerProvider()
        self._exporter, self.started = InMemorySpanExporter(), Started()
        self.provider.add_span_processor(self.started)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        self._meters = MeterProvider([self._reader])

    def observer(self, **settings: Any) -> OpenTelemetry:
        return OpenTelemetry(tracer_provider=self.provider, meter_provider=self._meters, **settings)

    @property
    def tracer(self) -> trace.Tracer:
        return self.provider.get_tracer("test")

    @property
    def spans(self) -> list[ReadableSpan]:
        """The ended spans, in the order of their start."""
        ended = {span.context.span_id: span for span in self._exporter.get_finished_spans()}
        assert len(ended) == len(self._exporter.get_finished_spans())
        return [ended[span.context.span_id] for span in self.started.spans if span.context.span_id in ended]

    @property
    def open(self) -> list[str]:
        return [span.name for span in self.started.spans if span.end_time is None]

    def named(self, name: str) -> ReadableSpan:
        (span,) = [span for span in self.spans if span.name == name]
        return span

    @property
    def tree(self) -> list[tuple[str, str | None]]:
        """Each span, with its parent."""
        names = {span.context.span_id: span.name for span in self.spans}
        return [(span.name, names[span.parent.span_id] if span.parent else None) for span in self.spans]

    def points(self, metric: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        return [point for scope in scopes for m in scope.metrics if m.name == metric for point in m.data.data_points]


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Yield a watch. Check after the test that all spans have ended."""
    watch = Watch()
    yield watch
    assert watch.open == []


class Client:
    """A client that returns or raises the given outcomes."""

    api, model, keeps_conversations = "anthropic-messages", "m", False

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer(request) if callable(answer) else answer


class AsyncClient(Client):
    async def complete(self, request: ChatRequest, *, timeout: float | None = None) -> ChatResponse:  # type: ignore[override]
        answer = Client.complete(self, request)
        return await answer if asyncio.iscoroutine(answer) else answer


def answer(*contents: Any, reason: str = "stop", **fields: Any) -> ChatResponse:
    message = ChatMessage(role="assistant", contents=list(contents))
    return ChatResponse(choices=[ChatChoice(messages=[message], finish_reason=FinishReason(reason=reason))], **fields)


def calls(*names: str, **arguments: Any) -> ChatResponse:
    made = [FunctionCallContent(call_id=f"c{i}", name=name, arguments=arguments) for i, name in enumerate(names)]
    return answer(*made, reason="tool_calls")


DONE = answer(TextContent(text="done"))


def text_of(span: ReadableSpan) -> str:
    """Return the name, status and attributes of a span. Raise if they cannot be encoded in UTF-8."""
    values = [span.name, span.status.description, *span.attributes.values()]
    return "\n".join(map(str, values)).encode().decode()


# -- a whole run -------------------------------------------------------------------------------------------------------


def url(server: Any, api: str) -> dict[str, Any]:
    base = server.base_url(api)
    return {"http_options": {"base_url": base}} if api.startswith("google") else {"base_url": base}


def drive(way: str, api: str, server: Any, tools: list[Any], observer: OpenTelemetry, **options: Any) -> Any:
    """Run in one of the four ways."""
    settings = {"api_key": "none", "model": "m", **url(server, api)}
    request = ChatRequest(
        messages=[ChatMessage(role="user", contents=[TextContent(text="Hi")])], options=ChatOptions(**options)
    )
    if way in ("run", "stream"):
        with chat_client(api, **settings) as client:
            runner = ToolRunner(client, tools, observer=observer)
            return runner.run(request) if way == "run" else runner.stream(request).read()

    async def run() -> Any:
        async with async_chat_client(api, **settings) as client:
            runner = AsyncToolRunner(client, tools, observer=observer)
            return await (runner.run(request) if way == "async run" else runner.stream(request).read())

    return asyncio.run(run())


@pytest.mark.parametrize("way", ["run", "stream", "async run", "async stream"])
@pytest.mark.parametrize("api", APIS)
def test_run_has_a_tree_of_spans_with_their_attributes(watch: Watch, loopback: Any, api: str, way: str) -> None:
    @tool
    def weather(city: str) -> str:
        """Returns the weather."""
        with watch.tracer.start_as_current_span("look out"):
            return "mild"

    @tool
    async def clock() -> str:
        with watch.tracer.start_as_current_span("look up"):
            return "12:00"

    usage = Usage(input_tokens=10, cache_read_tokens=4, output_tokens=5)
    turns = [say("", Call(name="weather", arguments={"city": "Paris"}), Call(name="clock")), say("It is mild.")]
    server = loopback([msgspec.structs.replace(turn, usage=usage) for turn in turns])
    with watch.tracer.start_as_current_span("caller"):
        result = drive(way, api, server, [weather, clock], watch.observer(agent="guide"), temperature=1)

    assert sorted(watch.tree, key=str) == [
        ("caller", None),
        ("chat m", "invoke_agent guide"),
        ("chat m", "invoke_agent guide"),
        ("execute_tool clock", "invoke_agent guide"),
        ("execute_tool weather", "invoke_agent guide"),
        ("invoke_agent guide", "caller"),
        ("look out", "execute_tool weather"),
        ("look up", "execute_tool clock"),
    ]
    run, asked = watch.named("invoke_agent guide"), [span for span in watch.spans if span.name == "chat m"]
    assert {span.kind for span in asked} == {SpanKind.CLIENT}
    assert {span.kind for span in watch.spans if span not in asked} == {SpanKind.INTERNAL}
    assert {span.status.status_code for span in watch.spans} == {StatusCode.UNSET}
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "guide",
        "gen_ai.provider.name": PROVIDERS[api],
        "gen_ai.request.model": "m",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 8,
        "contentmodel.run.stop": "completed",
        **{name: 0 for name in run.attributes if run.attributes[name] == 0},
    }
    first, last = (span.attributes for span in asked)
    assert [span["gen_ai.operation.name"] for span in (first, last)] == ["chat", "chat"]
    assert [span["gen_ai.provider.name"] for span in (first, last)] == [PROVIDERS[api]] * 2
    assert [span["gen_ai.usage.input_tokens"] for span in (first, last)] == [10, 10]
    assert [span["gen_ai.response.model"] for span in (first, last)] == [
        response.model for response in result.responses
    ]
    assert [span["gen_ai.response.id"] for span in (first, last)] == [response.id for response in result.responses]
    assert [span.get("gen_ai.request.stream") for span in (first, last)] == [True if "stream" in way else None] * 2
    assert [span["gen_ai.request.temperature"] for span in (first, last)] == [1.0, 1.0]
    # Gemini has no finish reason of its own for calls.
    assert first["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert last["gen_ai.response.finish_reasons"] == ("stop",)
    assert watch.named("execute_tool weather").attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": result.report.calls[0].call_id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Returns the weather.",
    }
    names = {name for span in watch.spans for name in span.attributes if name.startswith("gen_ai.")}
    assert names <= NAMES


@pytest.mark.parametrize("way", ["run", "async run"])
def test_spans_of_the_client_are_children_of_the_chat_span(watch: Watch, way: str) -> None:
    def sends(request: ChatRequest) -> ChatResponse:
        with watch.tracer.start_as_current_span("POST"):
            return DONE

    async def sends_later(request: ChatRequest) -> ChatResponse:
        await asyncio.sleep(0)
        return sends(request)

    if way == "run":
        ToolRunner(Client(sends), observer=watch.observer()).run("Hi")
    else:
        asyncio.run(AsyncToolRunner(AsyncClient(sends_later), observer=watch.observer()).run("Hi"))
    assert watch.tree == [("invoke_agent", None), ("chat m", "invoke_agent"), ("POST", "chat m")]


def test_concurrent_runs_have_separate_spans(watch: Watch) -> None:
    @tool
    async def wait() -> str:
        await asyncio.sleep(0.01)
        return "waited"

    observer = watch.observer()

    async def run(name: str) -> None:
        with watch.tracer.start_as_current_span(name):
            await AsyncToolRunner(AsyncClient(calls("wait"), DONE), [wait], observer=observer).run("Hi")

    async def both() -> None:
        await asyncio.gather(run("one"), run("two"))

    asyncio.run(both())
    of_trace: dict[int, list[str]] = {}
    for span in watch.spans:
        of_trace.setdefault(span.context.trace_id, []).append(span.name)
    run_spans = ["invoke_agent", "chat m", "execute_tool wait", "chat m"]
    assert sorted(of_trace.values()) == [["one", *run_spans], ["two", *run_spans]]


def test_parent_of_a_stream_is_the_span_that_created_it(watch: Watch, loopback: Any) -> None:
    @tool
    def look() -> str:
        return "mild"

    server = loopback([say("", Call(name="look")), "It is mild."])
    with chat_client("openai-chat", api_key="none", model="m", **url(server, "openai-chat")) as client:
        runner = ToolRunner(client, [look], observer=watch.observer())
        token = context.attach(baggage.set_baggage("tenant", "a"))
        with watch.tracer.start_as_current_span("caller"):
            stream = runner.stream("Hi")
        context.detach(token)
        with watch.tracer.start_as_current_span("reader"):
            stream.read()
    assert watch.tree == [
        ("caller", None),
        ("reader", None),
        ("invoke_agent", "caller"),
        ("chat m", "invoke_agent"),
        ("execute_tool look", "invoke_agent"),
        ("chat m", "invoke_agent"),
    ]
    assert watch.started.baggage == [{"tenant": "a"}, {}, *[{"tenant": "a"}] * 4]


def test_pending_calls_that_start_at_once_share_the_span_of_the_run(watch: Watch) -> None:
    class Slow(SpanProcessor):
        """Give other threads time to start the same span again."""

        def on_start(self, span: Any, parent_context: Any = None) -> None:
            threading.Event().wait(0.05)

    watch.provider.add_span_processor(Slow())
    barrier = threading.Barrier(4, timeout=10)

    @tool
    def meet() -> str:
        barrier.wait()
        return "met"

    transcript = [ChatMessage(role="user"), *calls(*["meet"] * 4).messages]
    ToolRunner(Client(DONE), [meet], observer=watch.observer()).run(transcript)
    assert sorted(watch.tree, key=str) == [
        ("chat m", "invoke_agent"),
        *[("execute_tool meet", "invoke_agent")] * 4,
        ("invoke_agent", None),
    ]


# -- attributes --------------------------------------------------------------------------------------------------------


def test_chat_span_has_the_options_of_the_request() -> None:
    watch = Watch()
    options = ChatOptions(
        max_output_tokens=100,
        temperature=0,
        top_p=0.5,
        top_k=4,
        frequency_penalty=1,
        presence_penalty=-1,
        seed=7,
        stop_sequences=["END"],
        conversation_id="conv_1",
        response_format=ResponseFormat(kind="json_schema", schema={}),
    )
    ToolRunner(Client(DONE), observer=watch.observer()).run(ChatRequest(options=options))
    attributes = {name: value for name, value in watch.named("chat m").attributes.items() if "request." in name}
    assert attributes == {
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.top_k": 4.0,
        "gen_ai.request.frequency_penalty": 1.0,
        "gen_ai.request.presence_penalty": -1.0,
        "gen_ai.request.seed": 7,
        "gen_ai.request.stop_sequences": ("END",),
    }
    assert {type(attributes[f"gen_ai.request.{name}"]) for name in ("temperature", "top_k", "presence_penalty")} == {
        float
    }
    assert watch.named("chat m").attributes["gen_ai.output.type"] == "json"
    assert {span.attributes["gen_ai.conversation.id"] for span in watch.spans} == {"conv_1"}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # Anthropic counts cached tokens separately from the input, and OpenAI within it.
        (
            Usage(input_tokens=1, cache_read_tokens=20, cache_write_tokens=300, cached_inside=False),
            (321, None, 20, 300),
        ),
        (Usage(input_tokens=321, cache_read_tokens=20, output_tokens=5), (321, 5, 20, None)),
        # Google counts reasoning separately from the output.
        (Usage(input_tokens=1, output_tokens=2, reasoning_tokens=4, reasoning_inside=False), (1, 6, None, None)),
        (Usage(output_tokens=0), (None, 0, None, None)),
        (None, (None, None, None, None)),
    ],
)
def test_spans_count_tokens_as_the_conventions_require(watch: Watch, usage: Usage | None, tokens: Any) -> None:
    response = answer(TextContent(text="Hi"), usage=usage)
    ToolRunner(Client(response), observer=watch.observer()).run("Hi")
    names = ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens")
    for span in watch.spans:
        assert tuple(span.attributes.get(f"gen_ai.usage.{name}") for name in names) == tokens


def test_chat_span_has_the_provider_of_the_api(watch: Watch) -> None:
    client = Client(DONE, DONE, DONE)
    ToolRunner(client, observer=watch.observer(providers={"anthropic-messages": "aws.bedrock"})).run("Hi")
    client.api = "somebody-elses"
    ToolRunner(client, observer=watch.observer()).run("Hi")
    client.model = None
    ToolRunner(client, observer=watch.observer()).run(ChatRequest(model="asked-for"))
    asked = [span for span in watch.spans if span.name.startswith("chat")]
    assert [span.attributes["gen_ai.provider.name"] for span in asked] == ["aws.bedrock", *["somebody-elses"] * 2]
    assert asked[-1].name == "chat asked-for"


def test_metrics_record_tokens_and_durations_of_answers(watch: Watch) -> None:
    usage = Usage(input_tokens=1, cache_read_tokens=9, output_tokens=5, cached_inside=False)
    broken = answer(usage=usage, model="m-2", error=ErrorContent(code="overloaded"))
    client = Client(answer(usage=usage, model="m-1"), RateLimitError("slowly", status=429), broken)
    runner = ToolRunner(client, observer=watch.observer())
    runner.run("Hi")
    with pytest.raises(RateLimitError):
        runner.run("Hi")
    runner.run("Hi")
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "m"}
    tokens = [(point.attributes, point.count, point.sum) for point in watch.points("gen_ai.client.token.usage")]
    assert tokens == [
        ({**attributes, "gen_ai.response.model": model, "gen_ai.token.type": kind}, 1, total)
        for model in ("m-1", "m-2")
        for kind, total in (("input", 10), ("output", 5))
    ]
    seconds = watch.points("gen_ai.client.operation.duration")
    assert [point.count for point in seconds] == [1, 1, 1]
    assert [point.attributes for point in seconds] == [
        {**attributes, "gen_ai.response.model": "m-1"},
        {**attributes, "error.type": "429"},
        {**attributes, "gen_ai.response.model": "m-2", "error.type": "overloaded"},
    ]


# -- failures ----------------------------------------------------------------------------------------------------------


def failed(span: ReadableSpan) -> tuple[str, str | None]:
    assert span.status.status_code == StatusCode.ERROR
    return span.attributes["error.type"], span.status.description


@pytest.mark.parametrize("way", ["run", "async run"])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RateLimitError("slowly", error=ErrorContent(code="rate_limit", message="slowly"), status=429), "rate_limit"),
        (ClientError("slowly", status=500), "500"),
        (ClientError("slowly"), "contentmodel.client.ClientError"),
        (TimeoutExceeded("slowly"), "timeout"),
        (ValueError("slowly"), "ValueError"),
        (KeyboardInterrupt("slowly"), "KeyboardInterrupt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_error_of_the_client_fails_the_spans_of_answer_and_run(
    watch: Watch, way: str, error: BaseException, kind: str
) -> None:
    sync = ToolRunner(Client(error), observer=watch.observer())
    other = AsyncToolRunner(AsyncClient(error), observer=watch.observer())
    with pytest.raises(type(error)):
        sync.run("Hi") if way == "run" else asyncio.run(other.run("Hi"))
    run, asked = watch.spans
    is_interrupt = isinstance(error, KeyboardInterrupt)
    # In a separate task, the interrupt ends the event loop, so the request may end as cancelled.
    assert failed(asked) in ([(kind, "slowly")] if not is_interrupt else [(kind, "slowly"), ("cancelled", None)])
    assert failed(run) == (("cancelled", None) if is_interrupt else (kind, "slowly"))


def test_span_of_an_interrupted_run_has_the_error_of_the_client(watch: Watch) -> None:
    @tool
    def look() -> str:
        return "mild"

    with pytest.raises(RunInterrupted):
        ToolRunner(Client(calls("look"), ClientError("gone", status=503)), [look], observer=watch.observer()).run("Hi")
    assert failed(watch.named("invoke_agent")) == ("503", "gone")
    assert watch.named("invoke_agent").attributes["contentmodel.run.stop"] == "error"
    assert watch.named("execute_tool look").status.status_code == StatusCode.UNSET


@pytest.mark.parametrize("way", ["stream", "async stream"])
@pytest.mark.parametrize("api", APIS)
def test_stream_that_is_cut_fails_the_spans_of_answer_and_run(watch: Watch, loopback: Any, api: str, way: str) -> None:
    server = loopback([Turn(say("It is very mild. " * 40), Fault(drop_after=1500), delta_size=4)])
    result = drive(way, api, server, [], watch.observer())
    assert result.stop == "error"
    run, asked = watch.spans
    assert failed(asked)[0] == failed(run)[0] == result.error.code
    assert asked.attributes["gen_ai.response.finish_reasons"] == ("error",)


@pytest.mark.parametrize("way", ["run", "stream", "async run", "async stream"])
def test_refused_request_fails_the_spans_of_answer_and_run(watch: Watch, loopback: Any, way: str) -> None:
    server = loopback([Turn(fault=Fault(status=400, message="not so"))])
    with pytest.raises(ClientError, match="not so"):
        drive(way, "openai-chat", server, [], watch.observer())
    assert all("not so" in (failed(span)[1] or "") for span in watch.spans)
    assert len(watch.spans) == 2


def raising(error: BaseException) -> Any:
    @tool
    def fail() -> str:
        raise error

    return fail


def raising_later(error: BaseException) -> Any:
    @tool
    async def fail() -> str:
        await asyncio.sleep(0)
        raise error

    return fail


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("make", [raising, raising_later])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("secret"), "ValueError"),
        (SystemExit("secret"), "SystemExit"),
        (TimeoutError("secret"), "timeout"),
        (asyncio.CancelledError("secret"), "cancelled"),
        (Unprintable("secret"), "test_telemetry.Unprintable"),
        (OSError("secret \udcff"), "OSError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_error_of_a_tool_fails_only_its_own_span(
    watch: Watch, make: Callable[[Any], Any], error: BaseException, kind: str
) -> None:
    for contents in (False, True):
        observer = watch.observer(contents=contents)
        asyncio.run(AsyncToolRunner(AsyncClient(calls("fail"), DONE), [make(error)], observer=observer).run("Hi"))
    ToolRunner(Client(calls("fail"), DONE), [make(error)], observer=watch.observer()).run("Hi")
    quiet, open_, sync = [span for span in watch.spans if span.name == "execute_tool fail"]
    assert failed(quiet) == failed(sync) == (kind, None)
    assert failed(open_)[0] == kind
    assert "secret" not in text_of(quiet) + text_of(sync)
    assert "secret" in text_of(open_) or isinstance(error, Unprintable | asyncio.CancelledError)
    assert all(span.status.status_code == StatusCode.UNSET for span in watch.spans if "execute" not in span.name)


def test_error_content_of_a_tool_fails_its_span(watch: Watch) -> None:
    @tool
    def coded() -> ToolOutcome:
        return ToolOutcome([ErrorContent(code="no_such_city", message="secret")])

    @tool
    def bare() -> ErrorContent:
        return ErrorContent(message="secret")

    client = Client(calls("coded", "bare"), DONE)
    ToolRunner(client, [coded, bare], observer=watch.observer()).run("Hi")
    assert failed(watch.named("execute_tool coded")) == ("no_such_city", None)
    assert failed(watch.named("execute_tool bare")) == ("_OTHER", None)


def test_calls_that_do_not_run_have_no_span(watch: Watch) -> None:
    @tool
    def weather(city: str) -> str:
        raise AssertionError("it must not run")

    client = Client(calls("weather", "unknown", city=3), DONE)
    result = ToolRunner(client, [weather], observer=watch.observer()).run("Hi")
    assert [call.outcome for call in result.report.calls] == ["invalid", "unknown"]
    assert [span.name for span in watch.spans] == ["invoke_agent", "chat m", "chat m"]


def test_run_that_reaches_a_limit_does_not_fail_its_span(watch: Watch) -> None:
    @tool
    def look() -> str:
        return "mild"

    ToolRunner(Client(calls("look")), [look], max_iterations=1, observer=watch.observer()).run("Hi")
    assert watch.named("invoke_agent").attributes["contentmodel.run.stop"] == "max_iterations"
    assert watch.named("invoke_agent").status.status_code == StatusCode.UNSET


# -- cancelled runs ----------------------------------------------------------------------------------------------------


def test_span_of_a_call_after_its_timeout_ends_with_its_thread(watch: Watch) -> None:
    go, gone = threading.Event(), threading.Event()

    class Gone(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            if span.name == "execute_tool hang":
                gone.set()

    watch.provider.add_span_processor(Gone())

    @tool(timeout=0.01)
    def hang() -> str:
        go.wait(10)
        with watch.tracer.start_as_current_span("wind up"):
            return "late"

    result = ToolRunner(Client(calls("hang"), DONE), [hang], observer=watch.observer()).run("Hi")
    assert [call.outcome for call in result.report.calls] == ["timeout"]
    assert watch.open == ["execute_tool hang"]
    go.set()
    assert gone.wait(10)
    assert watch.tree[-2:] == [("chat m", "invoke_agent"), ("wind up", "execute_tool hang")]
    assert ("execute_tool hang", "invoke_agent") in watch.tree
    assert failed(watch.named("execute_tool hang")) == ("timeout", None)


def test_span_of_an_async_call_after_its_timeout_ends_with_its_cancellation(watch: Watch) -> None:
    @tool(timeout=0.01)
    async def hang() -> str:
        await asyncio.sleep(60)
        return "late"

    async def run() -> None:
        client = AsyncClient(calls("hang"), DONE)
        result = await AsyncToolRunner(client, [hang], observer=watch.observer()).run("Hi")
        assert [call.outcome for call in result.report.calls] == ["timeout"]

    asyncio.run(run())
    assert failed(watch.named("execute_tool hang")) == ("timeout", None)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (TimeoutError("late"), "timeout"),
        (OutOfTime("late"), "timeout"),
        (Cancelled("late"), "cancelled"),
        (asyncio.CancelledError(), "cancelled"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_span_of_an_abandoned_call_has_the_reason(watch: Watch, outcome: Any, kind: str) -> None:
    hang = raising(outcome)
    observer = watch.observer()
    run = observer.run_started(ChatRequest())
    with observer.calling(run, hang, FunctionCallContent(call_id="c", name="fail")) as end:
        end(outcome)
    run.span.end()
    assert failed(watch.named("execute_tool fail"))[0] == kind


def test_cancelled_run_ends_its_spans(watch: Watch) -> None:
    async def never(request: ChatRequest) -> ChatResponse:
        cancellation.cancel()
        await asyncio.sleep(60)
        return DONE

    cancellation = Cancellation()
    runner = AsyncToolRunner(AsyncClient(never), observer=watch.observer())
    result = asyncio.run(runner.run("Hi", cancellation=cancellation))
    assert result.stop == "cancelled"
    assert [failed(span) for span in watch.spans] == [("cancelled", None)] * 2


@pytest.mark.parametrize("in_tool", [False, True])
def test_cancelled_task_ends_its_spans(watch: Watch, in_tool: bool) -> None:
    async def run() -> None:
        begun = asyncio.Event()

        async def never(request: ChatRequest | None = None) -> Any:
            begun.set()
            await asyncio.sleep(60)

        @tool
        async def hang() -> str:
            return str(await never())

        client = AsyncClient(calls("hang")) if in_tool else AsyncClient(never)
        task = asyncio.create_task(AsyncToolRunner(client, [hang], observer=watch.observer()).run("Hi"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert failed(watch.named("invoke_agent")) == ("cancelled", None)
    assert failed(watch.named("execute_tool hang" if in_tool else "chat m")) == ("cancelled", None)


@pytest.mark.parametrize("close", [True, False], ids=["closed", "dropped"])
@pytest.mark.parametrize("until", ["TextDelta", "Notice"])
def test_stream_that_is_closed_or_dropped_ends_its_spans(watch: Watch, loopback: Any, until: str, close: bool) -> None:
    @tool
    def look() -> str:
        return "mild"

    server = loopback([say("Let me see.", Call(name="look")), "It is mild."])
    with chat_client("openai-chat", api_key="none", model="m", **url(server, "openai-chat")) as client:
        stream = ToolRunner(client, [look], max_concurrency=1, observer=watch.observer()).stream("Hi")
        for event in stream:
            if type(event).__name__ == until:
                break
        if close:
            stream.close()
        del stream
        for thread in threading.enumerate():
            if thread.name == "tool look":
                thread.join(10)
    assert failed(watch.named("invoke_agent"))[0] == "cancelled"
    chat = watch.named("chat m")
    assert chat.status.status_code == (StatusCode.ERROR if until == "TextDelta" else StatusCode.UNSET)


@pytest.mark.parametrize("until", ["TextDelta", "Notice"])
def test_async_stream_that_is_closed_ends_its_spans(watch: Watch, loopback: Any, until: str) -> None:
    @tool
    async def look() -> str:
        await asyncio.sleep(60)
        return "mild"

    async def run(server: Any) -> None:
        settings = {"api_key": "none", "model": "m", **url(server, "openai-chat")}
        client = async_chat_client("openai-chat", **settings)
        async with client, AsyncToolRunner(client, [look], observer=watch.observer()).stream("Hi") as stream:
            async for event in stream:
                if type(event).__name__ == until:
                    return

    asyncio.run(run(loopback([say("Let me see.", Call(name="look")), "It is mild."])))
    assert failed(watch.named("invoke_agent"))[0] == "cancelled"


def test_async_stream_that_is_dropped_ends_its_spans(watch: Watch) -> None:
    @tool
    async def look() -> str:
        return "mild"

    async def run() -> None:
        runner = AsyncToolRunner(AsyncClient(), [look], observer=watch.observer())
        async for _ in runner.stream(calls("look").messages):
            return

    asyncio.run(run())
    assert failed(watch.named("invoke_agent")) == ("cancelled", None)


def test_stream_that_is_not_read_has_no_span(watch: Watch) -> None:
    ToolRunner(Client(), observer=watch.observer()).stream("Hi")
    assert (watch.spans, watch.open) == ([], [])


def test_stream_that_is_closed_before_it_is_read_has_no_span(watch: Watch) -> None:
    with ToolRunner(Client(), observer=watch.observer()).stream("Hi"):
        pass
    assert (watch.spans, watch.open) == ([], [])


def test_observer_works_without_an_opentelemetry_sdk() -> None:
    assert ToolRunner(Client(DONE), observer=OpenTelemetry(contents=True)).run("Hi").stop == "completed"


def test_observer_without_the_opentelemetry_api_reports_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ImportError, match=r"contentmodel\[otel\]"):
        OpenTelemetry()


def test_import_of_the_runner_loads_no_telemetry() -> None:
    code = "import sys, contentmodel.runner; print([name for name in sys.modules if 'telemetry' in name])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


# -- contents ----------------------------------------------------------------------------------------------------------


def test_spans_have_contents_only_if_contents_is_set(watch: Watch) -> None:
    @tool
    def look(where: str) -> str:
        return "secret result"

    def run(observer: OpenTelemetry) -> None:
        thought = answer(TextContent(text="secret answer"))
        client = Client(calls("look", where="secret place"), calls("look", "fail", where="secret"), thought)
        message = ChatMessage(role="user", contents=[TextContent(text="secret question")])
        rules = [TextContent(text="secret rules")]
        tools = [look, raising(ValueError("secret"))]
        ToolRunner(client, tools, observer=observer).run(ChatRequest(messages=[message], instructions=rules))

    run(watch.observer())
    assert all("secret" not in text_of(span) for span in watch.spans)
    count = len(watch.spans)
    run(watch.observer(contents=True))
    assert all("secret" in text_of(span) for span in watch.spans[count:])


def test_spans_have_contents_in_the_form_of_the_conventions(watch: Watch) -> None:
    @tool
    def look(where: str) -> dict[str, int]:
        return {"degrees": 18}

    client = Client(calls("look", where="out"), answer(TextContent(text="Mild.")))
    request = ChatRequest(
        messages=[ChatMessage(role="user", contents=[TextContent(text="Hi")], author_name="Ada")],
        instructions=[TextContent(text="Be brief.")],
    )
    ToolRunner(client, [look], observer=watch.observer(contents=True)).run(request)
    run, first, call, last = (dict(span.attributes) for span in watch.spans)
    user_message = {"role": "user", "name": "Ada", "parts": [{"type": "text", "content": "Hi"}]}
    call_part = {"type": "tool_call", "id": "c0", "name": "look", "arguments": {"where": "out"}}
    # The text is recorded as the model gets it.
    result = {"type": "tool_call_response", "id": "c0", "name": "look", "response": '{"degrees": 18}'}
    output = [{"role": "assistant", "parts": [{"type": "text", "content": "Mild."}], "finish_reason": "stop"}]
    assert json.loads(first["gen_ai.system_instructions"]) == [{"type": "text", "content": "Be brief."}]
    assert json.loads(first["gen_ai.input.messages"]) == [user_message]
    assert json.loads(first["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [call_part], "finish_reason": "tool_call"}
    ]
    assert json.loads(call["gen_ai.tool.call.arguments"]) == {"where": "out"}
    assert json.loads(call["gen_ai.tool.call.result"]) == {"degrees": 18}
    assert json.loads(last["gen_ai.input.messages"]) == [
        user_message,
        {"role": "assistant", "parts": [call_part]},
        {"role": "tool", "parts": [result]},
    ]
    assert json.loads(last["gen_ai.output.messages"]) == json.loads(run["gen_ai.output.messages"]) == output
    assert json.loads(run["gen_ai.input.messages"]) == [user_message]
    assert [definition["name"] for definition in json.loads(last["gen_ai.tool.definitions"])] == ["look"]
    assert {name for span in watch.spans for name in span.attributes if name.startswith("gen_ai.")} <= NAMES


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_spans_can_record_any_messages_of_an_api(api: str, data: st.DataObject) -> None:
    watch, adapter = Watch(), contentmodel.adapter(api)
    observer = watch.observer(contents=True)
    request = adapter.decode_request(data.draw(sdk_payloads(api, "request")))
    response = adapter.decode_response(data.draw(sdk_payloads(api, "response")))
    run = observer.run_started(request)
    observer.ask_ended(observer.ask_started(run, request, api, request.model), response, None)
    run.span.end()
    (asked,) = [span for span in watch.spans if span.name.startswith("chat")]
    inputs, outputs = (json.loads(asked.attributes[f"gen_ai.{name}.messages"]) for name in ("input", "output"))
    jsonschema.validate([*inputs, *outputs], {"type": "array", "items": MESSAGE})
    # A message of which no content can be recorded is left out.
    assert len(inputs) <= len(request.messages)
    assert len(outputs) == len(response.choices)
    assert text_of(asked)
    assert watch.open == []


@pytest.mark.parametrize("arguments", ["{", "[" * 100_000, '{"a": NaN}', "\udcff", "9" * 5000])
def test_span_has_arguments_that_are_not_json_as_text(watch: Watch, arguments: str) -> None:
    call = FunctionCallContent(call_id="c\udcff", name="look", arguments=arguments)
    client = Client(answer(call, reason="tool_calls"), DONE)
    assert ToolRunner(client, observer=watch.observer(contents=True)).run("Hi").stop == "completed"
    assert all(map(text_of, watch.spans))
    (message,) = json.loads(watch.spans[1].attributes["gen_ai.output.messages"])
    assert message["parts"][0]["arguments"] == arguments.replace("\udcff", "?")


@pytest.mark.parametrize("value", ["deep", float("nan")], ids=str)
def test_span_marks_messages_that_cannot_be_recorded(watch: Watch, value: Any) -> None:
    for _ in range(100_000 if value == "deep" else 0):
        value = [value]
    call = FunctionCallContent(call_id="c", name="look", arguments={"a": value})
    ToolRunner(Client(answer(call)), max_iterations=1, observer=watch.observer(contents=True)).run("Hi")
    (message,) = json.loads(watch.named("chat m").attributes["gen_ai.output.messages"])
    assert message["type"] == "not_recorded"
    assert message["error"] in ("EncodeError", "RecursionError")
