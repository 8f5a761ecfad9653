"""Find the API of an exchange: by its URL, as the adapters' `http` describes it, else by its payloads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from starlette.routing import compile_path

from contentmodel.adapter import RequestsOnly, adapter, adapters
from contentmodel.http_api import HttpApi

LIKELY = 0.9
"""The minimum confidence to recognize a request at an unknown path."""

_ADDRESS = re.compile(r"[0-9.]+|.*:.*|[^.]*")


class Call(NamedTuple):
    """A call of an API's method.

    `model` is the model in the path. `is_own_host` is True if the host belongs to the provider. `method` is "generate",
    "stream" or "count".
    """

    api: str
    method: str
    model: str | None = None
    is_own_host: bool = False


def call_at(url: str) -> Call | None:
    """Return the call that a URL makes; None if no API has its path.

    If several APIs have the same path, the one with this host is preferred, then one with a prefix (`HttpApi.mount`).
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return None
    candidates = [candidate for name in sorted(adapters()) for candidate in _calls(name, host, parts.path)]
    best = min(candidates, key=lambda candidate: (not candidate[0].is_own_host, not candidate[1]), default=None)
    return None if best is None else best[0]


def _calls(api: str, host: str, path: str) -> Iterator[tuple[Call, bool]]:
    """Yield the call of an API at a path, and whether the API has a mount."""
    http = getattr(adapter(api), "http", None)
    if not isinstance(http, HttpApi):
        return
    is_own = _domain(host) == _domain(urlsplit(http.base_url).hostname or "")
    # At other hosts, the paths of an API with a mount are recognized only below the mount.
    for method, patterns in _patterns(api, everywhere=is_own or not http.mount).items():
        for pattern in patterns:
            match = pattern.match(path)
            if match is not None:
                model = match.groupdict().get("model")
                yield Call(api, method, model and unquote(model), is_own), bool(http.mount)
                return


@cache
def _patterns(api: str, *, everywhere: bool) -> dict[str, list[re.Pattern[str]]]:
    """Return the patterns of the routes of an API's methods. If `everywhere`, any prefix may precede a path."""
    http: HttpApi = adapter(api).http  # type: ignore[attr-defined]
    methods = {
        "generate": http.generate,
        "stream": http.stream,
        "count": None if http.count is None else http.count.method,
    }
    return {
        name: [compile_path(path)[0] for path in (*_anywhere(method.path, everywhere), *method.routes)]
        for name, method in methods.items()
        if method is not None
    }


def _anywhere(path: str, is_allowed: bool) -> tuple[str, ...]:
    return (path, "/{before:path}" + path) if is_allowed else ()


def _domain(host: str) -> str:
    """Return the last two labels of a host name. Return an IP address, or a name without a dot, unchanged."""
    return host if _ADDRESS.fullmatch(host) else ".".join(host.split(".")[-2:])


def api_of_request(payload: Any) -> str | None:
    """Return the API that recognizes the payload of a request at an unknown path; None if no single one does."""
    if not isinstance(payload, dict):
        return None
    scores = _scores(payload)
    best = max(scores.values(), default=0.0)
    winners = [name for name, score in scores.items() if score == best]
    if best < LIKELY or len(winners) > 1 or isinstance(adapter(winners[0]), RequestsOnly):
        return None
    return winners[0]


def is_request_of(api: str, payload: Any) -> bool:
    """Return whether a payload at the path of an API may be a request of the API.

    Applications use the same paths: Ollama and the examples of the Vercel AI SDK have `/api/chat`.
    """
    if not isinstance(payload, dict):
        return False
    scores = _scores(payload)
    own_score = scores.get(api, 0.0)
    return not any(
        score >= LIKELY and score > own_score and isinstance(adapter(name), RequestsOnly)
        for name, score in scores.items()
    )


def _scores(payload: dict[str, Any]) -> dict[str, float]:
    return {name: candidate.recognises(payload).get("request", 0.0) for name, candidate in adapters().items()}


def is_answer_of(api: str, payload: Any) -> bool:
    """Return whether an API recognizes a JSON value as an answer, or as an event of a stream."""
    return isinstance(payload, dict) and bool({"response", "stream"} & adapter(api).recognises(payload).keys())
