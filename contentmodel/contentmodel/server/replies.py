"""JSON responses and error responses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from contentmodel.errors import DecodeError
from contentmodel.history import ConflictError, HistoryError, InvalidTurnError, NotFoundError, Turn
from contentmodel.history.log_entries import ERROR, QUESTION, LogEntry
from contentmodel.http_guard import Refusal
from contentmodel.json import write
from contentmodel.serialize import to_builtins
from contentmodel.server.sent import HERE

logger = logging.getLogger("contentmodel.server")


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON response with a value of the model, or with plain JSON."""
    return Response(write(to_builtins(value)), status, headers, "application/json")


def turn_json(turn: Turn) -> dict[str, Any]:
    """Return the JSON of a turn for clients, without its `writer`."""
    shown: dict[str, Any] = to_builtins(msgspec.structs.replace(turn, writer=None))
    return shown


PRIVATE_KINDS = (QUESTION, ERROR)
"""Kinds of log entries that are hidden from clients: the application's own model requests, and their errors."""


def log_page(entries: Sequence[LogEntry], limit: int, page_bytes: int) -> dict[str, Any]:
    """Return a page of at most `limit` entries, and the `after` of the next page (None if there is none).

    Pass one entry more than `limit` if there are more. A page ends at `page_bytes`, and has at least one entry if any
    is visible.
    """
    shown: list[dict[str, Any]] = []
    remaining, last = page_bytes, 0
    for entry in entries[:limit]:
        if entry.kind not in PRIVATE_KINDS:
            whole = to_builtins(entry)
            remaining -= len(write(whole))
            if shown and remaining < 0:
                return {"entries": shown, "next": last}
            shown.append(whole)
        last = entry.number
    return {"entries": shown, "next": last if len(entries) > limit else None}


CODES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    503: "unavailable",
}
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InvalidTurnError, 400),
    (HistoryError, 503),
)


async def refuse(request: Request, error: Exception) -> Response:
    """Return an error as a JSON response. Internal errors are logged, and the client gets a generic message."""
    headers: Mapping[str, str] | None = None
    if isinstance(error, HTTPException):
        status, message, headers = error.status_code, error.detail, error.headers
    else:
        status, message = _status(error), str(error)
    if status >= 500 and not isinstance(error, HTTPException):
        logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        message = "the server failed; its log has the reason"
    error_json: dict[str, Any] = {"code": CODES.get(status, "internal_error"), "message": message}
    if status == 400 and isinstance(error, DecodeError):
        error_json["faults"] = [{"path": fault.path, "message": fault.message} for fault in error.faults]
    return answer({"error": error_json}, status, headers)


async def refuse_early(scope: Scope, refusal: Refusal) -> Response:
    """Return the answer to a request that the guard refuses."""
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    if refusal.kind in ("too_large", "timeout"):
        headers["connection"] = "close"
    return await refuse(Request(scope), HTTPException(refusal.status, str(refusal), headers))


def _status(error: Exception) -> int:
    if isinstance(error, DecodeError):
        return 400 if error.api == HERE else 500
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
