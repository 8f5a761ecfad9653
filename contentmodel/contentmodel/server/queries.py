"""Query parameters and headers of requests, and pagination cursors."""

from __future__ import annotations

import base64
import hashlib
import secrets
from datetime import datetime

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from starlette.exceptions import HTTPException
from starlette.requests import Request

from contentmodel.history import Conversation
from contentmodel.history.log_entries import LONGEST_KIND
from contentmodel.json import whole_number

PAGE, LARGEST_PAGE = 50, 500
LONGEST_CURSOR = 5_000
MOST_KINDS = 50
"""Kinds of log entries that one query may name."""


def after_of(request: Request) -> int:
    """Return the number of the last event that a client has, 0 if it has none."""
    header = request.headers.get("last-event-id")
    if header is not None:
        return _number("Last-Event-ID", "the number of an event", header)
    return _number("after", "the number of an event", request.query_params.get("after", ""))


def _number(name: str, expected: str, text: str) -> int:
    number = whole_number(text or "0", 18)
    if number is None:
        raise wrong(name, expected, text)
    return number


class LogQuery(msgspec.Struct, frozen=True):
    """A query of a log: at most `limit` entries after number `after`, optionally only of some kinds or of one turn."""

    limit: int
    after: int
    kinds: list[str] | None
    turn: str | None


def log_of(request: Request) -> LogQuery:
    """Return the log query of a request. Raise HTTPException (400) if it is invalid."""
    query = request.query_params
    kinds = query.getlist("kind")
    strange = next((kind for kind in kinds if not kind or len(kind) > LONGEST_KIND or not kind.isprintable()), None)
    if strange is not None or len(kinds) > MOST_KINDS:
        expected = f"at most {MOST_KINDS} kinds of 1 to {LONGEST_KIND} printable characters"
        raise wrong("kind", expected, strange or str(len(kinds)))
    after = _number("after", "the `next` of a page", query.get("after", ""))
    return LogQuery(limit_of(request), after, kinds or None, query.get("turn"))


def limit_of(request: Request) -> int:
    """Return the page size of a request. Raise HTTPException (400) if it is invalid."""
    text = request.query_params.get("limit", str(PAGE))
    limit = whole_number(text)
    if limit is None or not 1 <= limit <= LARGEST_PAGE:
        raise wrong("limit", f"a number from 1 to {LARGEST_PAGE}", text)
    return limit


def flag_of(request: Request, name: str) -> bool:
    """Return whether a query flag is `true`. A missing flag is false. Raise HTTPException (400) for other values."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise wrong(name, "true or false", text)
    return text == "true"


VOCABULARIES = ("content", "turn-blocks")
"""The vocabularies of the events: those of the content model, and the rows of turns."""


def vocabulary_of(request: Request) -> str:
    """Return the vocabulary that a client wants events in. Raise HTTPException (400) if it is unknown."""
    vocabulary = request.query_params.get("vocabulary", VOCABULARIES[0])
    if vocabulary not in VOCABULARIES:
        raise wrong("vocabulary", f"one of {', '.join(VOCABULARIES)}", vocabulary)
    return str(vocabulary)


def wrong(name: str, expected: str, text: str) -> HTTPException:
    """Return the error for an invalid query parameter."""
    return HTTPException(400, f"{name}: expected {expected}, got {text[:100]!r}")


class _Place(msgspec.Struct, array_like=True):
    created_at: datetime
    id: str


class Cursors:
    """Write and read the cursors of pages of conversations.

    A cursor names the last conversation that was read, which the client may not be allowed to see. So it is encrypted.
    `secret` is the key: all processes of one service need the same key. None generates a key for this process.
    """

    def __init__(self, secret: bytes | None) -> None:
        key = hashlib.sha256(secret or secrets.token_bytes(32)).digest()
        self._fernet = Fernet(base64.urlsafe_b64encode(key))

    def write(self, place: Conversation) -> str:
        """Return the cursor of the page after a conversation. It stays valid if that conversation is deleted."""
        return self._fernet.encrypt(msgspec.json.encode(_Place(place.created_at, place.id))).decode()

    def read(self, request: Request) -> Conversation | None:
        """Return where a page begins, None for the first page. Raise HTTPException (400) for an invalid cursor."""
        cursor = request.query_params.get("after")
        if cursor is None:
            return None
        try:
            place = msgspec.json.decode(self._fernet.decrypt(cursor[:LONGEST_CURSOR].encode()), type=_Place)
        except (InvalidToken, UnicodeError):
            raise wrong("after", "the `next` of a page", cursor) from None
        moment = place.created_at
        return Conversation(id=place.id, turns=0, head=None, created_at=moment, updated_at=moment)
