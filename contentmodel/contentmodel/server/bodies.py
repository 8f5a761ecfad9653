"""What clients send, checked as a whole, and what they are answered."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.history import START, ConflictError, Conversation, HistoryError, InvalidTurnError, NotFoundError, Turn
from contentmodel.message import ChatMessage
from contentmodel.serialize import convert_value, to_builtins
from contentmodel.wire.json import kind_of, parse, write

logger = logging.getLogger("contentmodel.server")

HERE = "request"
"""The api of the errors in what clients send."""
LONGEST_KEY, PAGE, LARGEST_PAGE = 200, 50, 500


class Asked(msgspec.Struct, frozen=True):
    """What a client says in its turn. `previous` is an id or START; None is after the turn that began last."""

    contents: list[Any]
    previous: str | None
    branch: bool
    key: str | None


# -- bodies ------------------------------------------------------------------------------------------------------------


async def body_of(request: Request, limit: int) -> dict[str, Any]:
    """The JSON object that a client sends. HTTPException where it is of another type, or too long; DecodeError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        # A page of somebody else's can send other types without asking; this one a browser asks about first.
        raise HTTPException(415, f"expected a body of the type application/json, got {kind or 'none'}")
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > limit:
            raise HTTPException(413, f"the body is longer than {limit} bytes")
    value = parse(bytes(data), HERE)
    if not isinstance(value, dict):
        raise DecodeError(HERE, [Fault("$", f"expected an object, got {kind_of(value)}")])
    return value


def asked_of(body: dict[str, Any]) -> Asked:
    """A user's turn. DecodeError with everything that is wrong with it."""
    faults = _strange(body, ("content", "previous", "branch", "idempotency_key"))
    contents = _contents(body, faults)
    previous = body.get("previous")
    if previous is not None and not isinstance(previous, str):
        faults.append(Fault("$.previous", f"expected the id of a turn, or null for none, got {kind_of(previous)}"))
    branch = body.get("branch", False)
    if not isinstance(branch, bool):
        faults.append(Fault("$.branch", f"expected true or false, got {kind_of(branch)}"))
    key = body.get("idempotency_key")
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
        faults.append(Fault("$.idempotency_key", f"expected text of 1 to {LONGEST_KEY} characters"))
    if faults:
        raise DecodeError(HERE, faults)
    return Asked(contents, START if "previous" in body and previous is None else previous, branch, key)


def _strange(body: Mapping[str, Any], known: tuple[str, ...]) -> list[Fault]:
    wanted = ", ".join(known)
    return [Fault("$", f"unknown field {name!r}: there are {wanted}") for name in body if name not in known]


def _contents(body: Mapping[str, Any], faults: list[Fault]) -> list[Any]:
    said = body.get("content")
    if isinstance(said, str) and said:
        return [TextContent(text=said)]
    if not isinstance(said, list) or not said:
        got = "nothing" if "content" not in body else "an empty one" if said in ("", []) else kind_of(said)
        faults.append(Fault("$.content", f"expected text, or a list of contents, got {got}"))
        return []
    try:
        message: ChatMessage = convert_value({"role": "user", "contents": said}, ChatMessage)
    except DecodeError as error:
        faults += [Fault(fault.path.replace("$.contents", "$.content", 1), fault.message) for fault in error.faults]
        return []
    return list(message.contents)


def answers_of(body: dict[str, Any]) -> dict[str, bool | str]:
    """Answers to questions, by their ids. DecodeError with everything that is wrong with them."""
    faults = [
        Fault(f"$[{name!r}]", f"expected true, false, or why not, got {kind_of(said)}")
        for name, said in body.items()
        if not isinstance(said, bool | str)
    ]
    if not body:
        faults.append(Fault("$", "expected an answer, by the id of its request"))
    if faults:
        raise DecodeError(HERE, faults)
    return body


# -- queries -----------------------------------------------------------------------------------------------------------


def after_of(request: Request) -> int:
    """The number of the last event that a client has; 0 where it has none."""
    header = request.headers.get("last-event-id")
    said = request.query_params.get("after", "") if header is None else header
    if not said:
        return 0
    if not (said.isascii() and said.isdigit() and len(said) <= 18):
        raise _wrong("Last-Event-ID" if header is not None else "after", "the number of an event", said)
    return int(said)


def limit_of(request: Request) -> int:
    """How many things a page is to have."""
    said = request.query_params.get("limit", str(PAGE))
    if not (said.isascii() and said.isdigit() and len(said) < 9 and 1 <= int(said) <= LARGEST_PAGE):
        raise _wrong("limit", f"a number from 1 to {LARGEST_PAGE}", said)
    return int(said)


def flag_of(request: Request, name: str) -> bool:
    """Whether something is asked for: `true` or `false`."""
    said = request.query_params.get(name, "false")
    if said not in ("true", "false"):
        raise _wrong(name, "true or false", said)
    return said == "true"


def cursor_of(conversation: Conversation) -> str:
    """Where a page of conversations ends; it holds when that conversation is deleted."""
    return f"{conversation.created_at.isoformat()}~{conversation.id}"


def place_of(request: Request) -> Conversation | None:
    """The same, backwards: of a conversation, what says where it stands."""
    said = request.query_params.get("after")
    if said is None:
        return None
    moment, mark, name = said.partition("~")
    try:
        created = datetime.fromisoformat(moment)
    except ValueError:
        raise _wrong("after", "the `next` of a page", said) from None
    if not mark or created.utcoffset() != timedelta(0):
        raise _wrong("after", "the `next` of a page", said)
    return Conversation(id=name, turns=0, head=None, created_at=created, updated_at=created)


def _wrong(name: str, wanted: str, said: str) -> HTTPException:
    return HTTPException(400, f"{name}: expected {wanted}, got {said[:100]!r}")


# -- answers -----------------------------------------------------------------------------------------------------------


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of the model, or JSON, as an answer."""
    return Response(write(to_builtins(value)), status, headers, "application/json")


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn as clients see it. Which process writes it is none of their business."""
    said: dict[str, Any] = to_builtins(msgspec.structs.replace(turn, writer=None))
    return said


CODES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    503: "unavailable",
}
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InvalidTurnError, 400),
    (EncodeError, 400),
    (HistoryError, 503),
)


async def refuse(request: Request, error: Exception) -> Response:
    """Says what went wrong, as JSON."""
    headers: Mapping[str, str] | None = None
    if isinstance(error, HTTPException):
        status, message, headers = error.status_code, error.detail, error.headers
    else:
        status, message = _status(error), str(error)
    if status >= 500 and not isinstance(error, HTTPException):
        # What went wrong in here is told to those who run it.
        logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        message = "the server failed; its log says why"
    said: dict[str, Any] = {"code": CODES.get(status, "internal_error"), "message": message}
    if status == 400 and isinstance(error, DecodeError):
        said["faults"] = [{"path": fault.path, "message": fault.message} for fault in error.faults]
    return answer({"error": said}, status, headers)


def _status(error: Exception) -> int:
    if isinstance(error, DecodeError):
        return 400 if error.api == HERE else 500
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
