"""Helpers of store operations: arguments, times, errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import as_contents
from contentmodel.history import rows
from contentmodel.history.errors import ConflictError, DamagedError, HistoryError, InvalidTurnError, NotFoundError
from contentmodel.history.turns import STATUSES, Turn
from contentmodel.history.writing import Ending, NewTurn
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

TurnOrId: TypeAlias = Turn | str
Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@contextmanager
def translated_errors(name: str = "the database") -> Iterator[None]:
    """Convert errors of the database `name` to errors of this library. Keep the original error as the cause."""
    try:
        yield
    except DamagedError as error:
        raise DamagedError(f"{name}: {error}") from error
    except IntegrityError as error:
        raise ConflictError(f"another writer changed the same rows first: {error.orig}") from error
    except DBAPIError as error:
        raise HistoryError(f"the database failed: {error.orig}") from error
    except SQLAlchemyError as error:
        raise HistoryError(f"the database cannot be used: {error}") from error
    except RecursionError:
        raise InvalidTurnError("the value is nested too deeply to be stored") from None
    except UnicodeEncodeError as error:
        # Stored texts are escaped, so this error comes from a name in a query.
        raise NotFoundError(f"nothing is stored with the name {error.object!r}") from None
    except (UnicodeDecodeError, sqlite3.Error) as error:
        raise DamagedError(f"{name}: the database cannot be read: {error}") from error


def id_of(turn: TurnOrId | None) -> str | None:
    """Return the id of a turn that is given as a Turn or an id; None for None."""
    return turn.id if isinstance(turn, Turn) else turn


def new_turn(
    conversation: str,
    role: str,
    previous: TurnOrId | None,
    branch: bool,
    model: str | None = None,
    origin: Origin | None = None,
) -> NewTurn:
    """Create a NewTurn from the arguments of a store's methods."""
    columns = rows.answer_columns(model=model, origin=origin)
    return NewTurn(conversation=conversation, role=role, previous=id_of(previous), branch=branch, columns=columns)


def blocks_of(contents: Sequence[AIContent]) -> list[dict[str, Any]]:
    """Return the block rows of a complete turn."""
    with translated_errors():
        return [rows.block_row(index, content) for index, content in enumerate(as_contents(contents, "contents"))]


def turns_of(messages: Sequence[ChatMessage]) -> list[Any]:
    """Return the rows of the turns that messages are stored as. Raise TypeError if a message is of another type."""
    if not isinstance(messages, list | tuple):
        raise TypeError(f"messages: expected a list of messages, got {type(messages).__name__}")
    for index, message in enumerate(messages):
        if not isinstance(message, ChatMessage):
            raise TypeError(f"messages[{index}]: expected a ChatMessage, got {type(message).__name__}")
    with translated_errors():
        return rows.turn_rows(list(messages))


def turns_of_request(request: ChatRequest) -> list[Any]:
    """Return the rows of the turns of a whole transcript. Raise TypeError if it is not a ChatRequest."""
    if not isinstance(request, ChatRequest):
        raise TypeError(f"expected a ChatRequest, got {type(request).__name__}")
    return turns_of(request.messages)


def check_status(status: str) -> None:
    """Raise InvalidTurnError if a turn cannot end with this status."""
    if status not in STATUSES or status == "open":
        allowed = ", ".join(name for name in STATUSES if name != "open")
        raise InvalidTurnError(f"a turn cannot end with the status {status!r}: use one of {allowed}")


def ending_of(
    turn: Turn,
    *,
    model: str | None,
    origin: Origin | None,
    stop_reason: str | None,
    usage: Usage | None,
    error: ErrorContent | None,
    response: ChatResponse | None,
    order: Sequence[int] | None,
) -> Ending:
    """Return the final values of a turn. Explicit arguments override the values of the response."""
    columns = rows.answer_columns(model=model, origin=origin, stop_reason=stop_reason, usage=usage, error=error)
    if response is None:
        return Ending(columns=columns)
    count = sum(len(message.contents) for message in response.messages)
    return Ending(columns={**rows.response_columns(response, turn.role), **columns}, count=count, order=order)
