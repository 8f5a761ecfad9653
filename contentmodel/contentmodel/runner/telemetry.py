"""Spans and metrics of runs, by OpenTelemetry's conventions for generative AI. Needs the extra `otel`.

The names are those of opentelemetry-semantic-conventions 0.66b2 (seen in November 2026). The conventions are still in
development; their drafts rename some counters (`cache_creation` to `cache_write`), and no release has that yet.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.adapter import adapter
from contentmodel.client import ClientError, TimeoutExceeded
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.conventions import PROVIDERS, SCOPE, present, token_totals, usage_attributes
from contentmodel.extras import needs_extra
from contentmodel.message import ChatMessage, FinishReason, tool_result
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.runner.jobs import Cancelled, OnOutcome, Outcome, OutOfTime
from contentmodel.runner.observer import Observer
from contentmodel.runner.report import RunResult
from contentmodel.tools.definition import Tool
from contentmodel.tools.outcome import error_of, writable

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

API = "otel-gen-ai"
"""The adapter that writes messages, and that reads them from traces."""
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
OPTIONS = {
    "max_output_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
    "stop_sequences": "gen_ai.request.stop_sequences",
    "conversation_id": "gen_ai.conversation.id",
}
"""The attribute of each recorded request option."""

DOUBLES = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
"""Options that are recorded as floats even if they are integers: a backend keeps one type for each attribute."""

TOKEN_BOUNDS = [4**power for power in range(14)]
SECOND_BOUNDS = [0.01 * 2**power for power in range(14)]
"""The buckets that the conventions recommend."""

Attributes = dict[str, Any]


class OpenTelemetry(Observer):
    """Record spans of runs and metrics of answers; pass it to a runner as `observer`. One serves any number of runs.

    | span | of | its parent |
    |---|---|---|
    | `invoke_agent {agent}` | a run | the current span of the runner's caller |
    | `chat {model}` | an answer, with all tries of the client | the run |
    | `execute_tool {name}` | a run of a tool | the run |

    A tool's span is current in the tool's thread or task, so spans that the tool makes are its children. An answer's
    span is current while the client waits for it, but not while a stream is read, because the reader may be in any
    context. A stream that is never read has no span. Calls that never run (invalid, refused, too many) have no span.

    If a call is given up (time limit, cancelled run), its thread or task goes on. Its span ends when that ends, maybe
    after the run's span, and records why the call was given up, even if the tool returned a value. If a tool never
    returns, its span never ends and is not exported.

    `error.type` is "timeout", "cancelled", the provider's code or HTTP status, or the code of the ErrorContent that a
    tool returned; otherwise it is the name of the exception. A run that reached a limit did not fail. The stop reason
    of each run is in `contentmodel.run.stop`.

    If `contents` is true, messages, instructions, tools, arguments, results, and the messages of a tool's errors are
    recorded, each as JSON. `agent` is the name of the application. `providers` maps API ids to `gen_ai.provider.name`,
    for example `{"openai-chat": "azure.ai.openai"}`. The default tracer and meter providers are the global ones.

    Raise MissingExtraError if `opentelemetry-api` is not installed.
    """

    def __init__(
        self,
        *,
        contents: bool = False,
        agent: str | None = None,
        providers: Mapping[str, str] | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        with needs_extra("otel"):
            from opentelemetry import metrics, trace

        self._contents = contents
        self._agent = agent
        self._providers = {**PROVIDERS, **(providers or {})}
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDS,
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=SECOND_BOUNDS,
        )

    # -- runs --------------------------------------------------------------------------------------------------

    def run_started(self, request: ChatRequest) -> _Run:
        """Record the caller's context. The span begins later."""
        from opentelemetry import context
        from opentelemetry.trace import SpanKind

        attributes = present({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._agent})
        attributes |= present({"gen_ai.conversation.id": request.options.conversation_id})
        caller = context.get_current()
        begin = partial(
            self._tracer.start_span,
            f"invoke_agent {self._agent}" if self._agent else "invoke_agent",
            context=caller,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
        )
        return _Run(request, caller, begin)

    def run_ended(self, run: _Run, result: RunResult, error: Exception | None) -> None:
        """End the span of a run."""
        span = run.span
        try:
            span.set_attribute("contentmodel.run.stop", result.stop)
            span.set_attributes(usage_attributes(result.report.usage))
            last = result.responses[-1] if result.responses else ChatResponse()
            span.set_attributes(present({"gen_ai.response.finish_reasons": _finish_reasons(last)}))
            if result.stop in ("error", "cancelled"):
                failure = error or result.error
                _fail(span, "cancelled" if failure is None else _type_of(failure), _error_text(failure))
            if self._contents and span.is_recording():
                span.set_attribute(INPUT, _recorded(run.request)[INPUT])
                span.set_attribute(OUTPUT, _json(lambda: _outputs(last)))
        finally:
            span.end()

    # -- answers -----------------------------------------------------------------------------------------------

    def ask_started(self, run: _Run, request: ChatRequest, api: str, model: str | None) -> _Ask:
        """Begin the span of an answer."""
        from opentelemetry.trace import SpanKind

        attributes = present({"gen_ai.provider.name": self._providers.get(api, api), "gen_ai.request.model": model})
        run.span.set_attributes(attributes)
        attributes["gen_ai.operation.name"] = "chat"
        span = self._tracer.start_span(
            writable(f"chat {model}") if model else "chat",
            context=run.context,
            kind=SpanKind.CLIENT,
            attributes={**attributes, **_of_options(request.options)},
        )
        if self._contents and span.is_recording():
            span.set_attributes(_recorded(request))
        return _Ask(span, attributes)

    def asking(self, ask: _Ask) -> AbstractContextManager[Any]:
        """Make the span of an answer current, as the parent of spans of the client's own instrumentation."""
        ask.is_streamed = False
        return _current(ask.span)

    def ask_ended(self, ask: _Ask, response: ChatResponse | None, error: BaseException | None) -> None:
        """End the span of an answer, and record its metrics."""
        span = ask.span
        try:
            if ask.is_streamed:
                span.set_attribute("gen_ai.request.stream", True)
            failure = error or (response.error if response is not None else asyncio.CancelledError())
            if failure is not None:
                ask.attributes["error.type"] = _type_of(failure)
                _fail(span, ask.attributes["error.type"], _error_text(failure))
            if response is not None:
                self._answered(ask, response)
            self._seconds.record(time.monotonic() - ask.begun, ask.attributes, ask.context)
        finally:
            span.end()

    def _answered(self, ask: _Ask, response: ChatResponse) -> None:
        ask.attributes |= present({"gen_ai.response.model": response.model})
        ask.span.set_attributes(ask.attributes)
        ask.span.set_attributes(usage_attributes(response.usage))
        ask.span.set_attributes(
            present({"gen_ai.response.id": response.id, "gen_ai.response.finish_reasons": _finish_reasons(response)})
        )
        if self._contents and ask.span.is_recording():
            ask.span.set_attribute(OUTPUT, _json(lambda: _outputs(response)))
        counted = {name: value for name, value in ask.attributes.items() if name != "error.type"}
        for kind, tokens in token_totals(response.usage).items():
            self._tokens.record(tokens, {**counted, "gen_ai.token.type": kind}, ask.context)

    # -- calls -------------------------------------------------------------------------------------------------

    @contextmanager
    def calling(self, run: _Run, tool: Tool, call: FunctionCallContent) -> Iterator[OnOutcome]:
        """Record a span around a run of a tool, current in its thread or task."""
        from opentelemetry.trace import SpanKind

        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool.name,
            "gen_ai.tool.call.id": call.call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": tool.definition.description,
        }
        span = self._tracer.start_span(
            writable(f"execute_tool {tool.name}"),
            context=run.context,
            kind=SpanKind.INTERNAL,
            attributes=present(attributes),
        )
        try:
            if self._contents and span.is_recording():
                span.set_attribute("gen_ai.tool.call.arguments", _json(lambda: _opened(call.arguments_text)))
            with _current(span):
                yield partial(self._record_outcome, span)
        finally:
            span.end()

    def _record_outcome(self, span: Span, outcome: Outcome) -> None:
        """Record the outcome of a tool. Its error message may contain content, so it needs `contents`."""
        failure = outcome if isinstance(outcome, BaseException) else outcome.error
        if failure is not None:
            _fail(span, _type_of(failure), _error_text(failure) if self._contents else None)
        elif self._contents and not isinstance(outcome, BaseException) and span.is_recording():
            span.set_attribute("gen_ai.tool.call.result", _json(lambda: _result_of(outcome.contents)))


@dataclass(eq=False)
class _Run:
    """A run, and its span. The span begins on first use: a stream that is never read would never end it."""

    request: ChatRequest
    caller: Context
    begin: Callable[[], Span]
    _begun: Span | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def span(self) -> Span:
        """The span. Locked, because concurrent tools may request it first."""
        with self._lock:
            if self._begun is None:
                self._begun = self.begin()
            return self._begun

    @property
    def context(self) -> Context:
        """The caller's context with the run's span as current span."""
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(self.span, self.caller)


@dataclass(eq=False)
class _Ask:
    """A request to the model: its span, and the attributes of its metrics."""

    span: Span
    attributes: Attributes
    begun: float = field(default_factory=time.monotonic)
    is_streamed: bool = True

    @property
    def context(self) -> Context:
        """A context with the span as current span, so that a measurement can refer to it."""
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(self.span)


def _current(span: Span) -> AbstractContextManager[Span]:
    from opentelemetry.trace import use_span

    return use_span(span, record_exception=False, set_status_on_exception=False)


# -- attributes --------------------------------------------------------------------------------------------------------


def _of_options(options: ChatOptions) -> Attributes:
    attributes = {name: getattr(options, option) for option, name in OPTIONS.items()}
    for option in DOUBLES:
        value = attributes[OPTIONS[option]]
        attributes[OPTIONS[option]] = float(value) if isinstance(value, int) else value
    if options.response_format is not None and options.response_format.kind in ("text", "json", "json_schema"):
        attributes["gen_ai.output.type"] = options.response_format.kind.partition("_")[0]
    return present(attributes)


def _finish_reasons(response: ChatResponse) -> list[str] | None:
    return [_finish_reason(choice, response) for choice in response.choices] or None


def _finish_reason(choice: ChatChoice, response: ChatResponse) -> str:
    """Return why an answer ended; "error" if it broke off without a finish reason."""
    reason = "error" if choice.finish_reason is None else choice.finish_reason.reason
    if reason == "running" and response.error is not None:
        return "error"
    return "tool_call" if reason == "tool_calls" else reason


# -- failures ----------------------------------------------------------------------------------------------------------


def _fail(span: Span, kind: str, message: str | None) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, message))


def _type_of(failure: BaseException | ErrorContent) -> str:
    """Return `error.type`: one value for all errors of a kind."""
    if isinstance(failure, ErrorContent):
        return writable(failure.code or "_OTHER")
    if isinstance(failure, Cancelled | asyncio.CancelledError | GeneratorExit):
        return "cancelled"
    if isinstance(failure, TimeoutError | OutOfTime | TimeoutExceeded):
        return "timeout"
    if isinstance(failure, ClientError) and (failure.code or failure.status):
        return writable(str(failure.code or failure.status))
    kind = type(failure)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _error_text(failure: BaseException | ErrorContent | None) -> str | None:
    if failure is None or isinstance(failure, asyncio.CancelledError | GeneratorExit):
        return None
    return writable(failure.message if isinstance(failure, ErrorContent) else error_of(failure).message)


# -- contents ----------------------------------------------------------------------------------------------------------


def _json(make: Callable[[], Any]) -> str:
    """Return a value as JSON text. Never raise: a value that cannot be written must not fail the run."""
    try:
        return _text_of(make())
    except Exception as error:
        return _not_recorded(error)


def _text_of(value: Any) -> str:
    return writable(json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, separators=(",", ":")))


def _not_recorded(error: Exception) -> str:
    return _text_of([{"type": "not_recorded", "error": type(error).__name__}])


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else repr(value)


def _opened(text: str) -> Any:
    """Return the value of JSON text if it is an object or a list, else the text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return text
    return value if isinstance(value, dict | list) else text


def _recorded(request: ChatRequest) -> dict[str, str]:
    """Return the attributes with the messages, instructions and tools of a request."""
    try:
        return {name: _text_of(value) for name, value in _inputs(request).items()}
    except Exception as error:
        return {INPUT: _not_recorded(error)}


def _inputs(request: ChatRequest) -> Attributes:
    """Return the messages, instructions and tools of a request, as the adapter of traces writes them."""
    recorded = ChatRequest(instructions=request.instructions, messages=request.messages, tools=request.tools)
    return {INPUT: [], **adapter(API).encode_request(recorded).payload}


def _outputs(response: ChatResponse) -> list[Attributes]:
    """Return one message for each choice, even if the API returns several."""
    failed = FinishReason(reason="error")
    choices = [
        msgspec.structs.replace(choice, finish_reason=failed) if _finish_reason(choice, response) == "error" else choice
        for choice in response.choices
    ]
    recorded = ChatResponse(choices=choices, origin=response.origin)
    messages: list[Attributes] = adapter(API).encode_response(recorded).payload.get(OUTPUT, [])
    return messages


def _result_of(outputs: Sequence[AIContent]) -> Any:
    """Return the outputs of a tool: the value of a single text, else a list of parts."""
    call = ChatMessage(role="assistant", contents=[FunctionCallContent(call_id="call")])
    result = tool_result("call", *outputs)
    response = _inputs(ChatRequest(messages=[call, result]))[INPUT][-1]["parts"][0]["response"]
    return _opened(response) if isinstance(response, str) else response
