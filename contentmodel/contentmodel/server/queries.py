"""The queries and headers that web clients send, and the cursors that they send back."""

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

PAGE, LARGEST_PAGE = 50, 500
LONGEST_CURSOR = 5_000


def after_of(request: Request) -> int:
    """Return the number of the last event that a client has, 0 if it has none."""
    header = request.headers.get("last-event-id")
    text = request.query_params.get("after", "") if header is None else header
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise wrong("Last-Event-ID" if header is not None else "after", "the number of an event", text)
    return int(text)


def limit_of(request: Request) -> int:
    """Return how many items a page is to have."""
    text = request.query_params.get("limit", str(PAGE))
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= LARGEST_PAGE):
        raise wrong("limit", f"a number from 1 to {LARGEST_PAGE}", text)
    return int(text)


def flag_of(request: Request, name: str) -> bool:
    """Return whether a flag of the query is `true`; it may be `false`, or missing."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise wrong(name, "true or false", text)
    return text == "true"


def wrong(name: str, wanted: str, text: str) -> HTTPException:
    """Return the error about a part of a query."""
    return HTTPException(400, f"{name}: expected {wanted}, got {text[:100]!r}")


class _Place(msgspec.Struct, array_like=True):
    created_at: datetime
    id: str


class Cursors:
    """Writes and reads the cursors of pages of conversations.

    A page may end at a conversation that its reader may not see, so a cursor is encrypted. `secret` is the key: the
    processes of one service need the same. None is a key of this process alone.
    """

    def __init__(self, secret: bytes | None) -> None:
        key = hashlib.sha256(secret or secrets.token_bytes(32)).digest()
        self._fernet = Fernet(base64.urlsafe_b64encode(key))

    def write(self, place: Conversation) -> str:
        """Return the cursor of the page behind a conversation; it stays good when that conversation is deleted."""
        return self._fernet.encrypt(msgspec.json.encode(_Place(place.created_at, place.id))).decode()

    def read(self, request: Request) -> Conversation | None:
        """Return the place where a page begins, None for the first page. Raise HTTPException for a foreign cursor."""
        cursor = request.query_params.get("after")
        if cursor is None:
            return None
        try:
            place = msgspec.json.decode(self._fernet.decrypt(cursor[:LONGEST_CURSOR].encode()), type=_Place)
        except (InvalidToken, UnicodeError):
            raise wrong("after", "the `next` of a page", cursor) from None
        moment = place.created_at
        return Conversation(id=place.id, turns=0, head=None, created_at=moment, updated_at=moment)
