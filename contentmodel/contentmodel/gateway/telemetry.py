"""OpenTelemetry spans of a gateway: one for each request of a client, and one for each try of an upstream.

They are recorded when the request has ended, from its report. Without `opentelemetry-api`, nothing is recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contentmodel.conventions import PROVIDERS, SCOPE, present, usage_attributes
from contentmodel.gateway.report import Attempt, Report
from contentmodel.losses import significant

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

NANOSECONDS = 10**9


class Spans:
    """Record the spans of finished requests.

    | span | of | its parent |
    |---|---|---|
    | `chat {model}` (server) | a request of a client | the span in the client's `traceparent` header |
    | `chat {model}` (client) | a try of an upstream | the request |

    The number of significant losses is in `contentmodel.losses`, and in `contentmodel.losses.{code}` for each code.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry import trace
        except ModuleNotFoundError:
            self._tracer = None
        else:
            self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)

    def record(self, report: Report, headers: Mapping[str, str]) -> None:
        """Record a finished request. `headers` are those of the client, with names in lower case."""
        if self._tracer is None:
            return
        from opentelemetry import propagate, trace

        span = self._tracer.start_span(
            f"chat {report.model or ''}".strip(),
            context=propagate.extract(dict(headers)),
            kind=trace.SpanKind.SERVER,
            attributes=_of_request(report),
            start_time=_nanoseconds(report.started),
        )
        context = trace.set_span_in_context(span)
        for attempt in report.attempts:
            made = self._tracer.start_span(
                f"chat {report.upstream_model or ''}".strip(),
                context=context,
                kind=trace.SpanKind.CLIENT,
                attributes=_of_attempt(attempt, report),
                start_time=_nanoseconds(attempt.started),
            )
            _end(made, attempt.error, attempt.started + attempt.seconds)
        _end(span, report.error, report.started + (report.seconds or 0))


def _of_request(report: Report) -> dict[str, Any]:
    losses = significant((*report.request, *report.answer))
    return present(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": report.model,
            "url.path": report.path,
            "http.response.status_code": report.status,
            "error.type": report.error,
            "contentmodel.request.id": report.id,
            "contentmodel.client.api": report.client_api,
            "contentmodel.upstream": report.upstream,
            "contentmodel.upstream.api": report.upstream_api,
            "contentmodel.stream.end": report.ended,
            "contentmodel.losses": len(losses),
            **{f"contentmodel.losses.{code}": count for code, count in Counter(loss.code for loss in losses).items()},
            **usage_attributes(report.usage),
        }
    )


def _of_attempt(attempt: Attempt, report: Report) -> dict[str, Any]:
    return present(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(attempt.api, attempt.api),
            "gen_ai.request.model": attempt.model or report.upstream_model,
            "contentmodel.upstream": attempt.upstream,
            "http.response.status_code": attempt.status,
            "error.type": attempt.error,
        }
    )


def _end(span: Span, error: str | None, seconds: float) -> None:
    from opentelemetry.trace import Status, StatusCode

    if error is not None:
        span.set_status(Status(StatusCode.ERROR))
    span.end(end_time=_nanoseconds(seconds))


def _nanoseconds(seconds: float) -> int:
    return round(seconds * NANOSECONDS)
