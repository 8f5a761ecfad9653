"""The entries of a capture file: exchanges, and entries that cannot be read."""

from __future__ import annotations

from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

import msgspec

from contentmodel.errors import ContentModelError


class CaptureError(ContentModelError, ValueError):
    """Raised if a file cannot be read as a capture. Its text is the reason."""


class NotACapture(CaptureError):
    """Raised if a file is not in one of the formats of captures."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A request or an answer. `headers` are pairs of name and value; `body` is None if the capture does not have it."""

    headers: list[tuple[str, str]] = []
    body: bytes | None = b""

    def header(self, name: str) -> str:
        """Return the first value of a header, given its name in lower case; "" if it is missing."""
        return next((value for key, value in self.headers if key.lower() == name), "")


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its answer. `place` is the position in the file: "entry 3". `status` is None without an answer."""

    place: str
    method: str
    url: str
    request: Message
    status: int | None = None
    answer: Message = Message()
    is_websocket: bool = False

    @property
    def parts(self) -> SplitResult:
        """The parts of the URL. All are empty if the URL is not valid."""
        try:
            return urlsplit(self.url)
        except ValueError:
            return SplitResult("", "", "", "", "")


class Damaged(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that cannot be read, and the reason."""

    place: str
    reason: str


class OwnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record of recorded traffic, which needs no conversion."""

    place: str
    data: dict[str, Any]


Entry: TypeAlias = Exchange | OwnRecord | Damaged
