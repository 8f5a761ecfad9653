"""Read HAR files, version 1.2 (w3c.github.io/web-performance/specs/HAR/Overview.html, seen 2026-11-24).

Browsers, Charles, Proxyman, Fiddler and `mitmdump --set hardump=FILE` write them. Bodies are texts, or base64 if
`encoding` is "base64". Proxyman and Insomnia also set `encoding` of a request's body.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel_conformance.captures.entries import CaptureError, Damaged, Entry, Exchange, Message


class _Header(msgspec.Struct):
    name: str
    value: str = ""


class _Content(msgspec.Struct):
    text: str | None = None
    encoding: str | None = None
    size: float | None = None


class _Request(msgspec.Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Header] = []
    post_data: _Content | None = None


class _Response(msgspec.Struct):
    status: int | None = None
    headers: list[_Header] = []
    content: _Content = msgspec.field(default_factory=_Content)


class _Entry(msgspec.Struct):
    request: _Request
    response: _Response = msgspec.field(default_factory=_Response)
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")


def read_har(log: Any) -> Iterator[Entry]:
    """Yield the entries of the `log` of a HAR file. Raise CaptureError if it has no list of entries."""
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise CaptureError("expected a list at $.log.entries of the HAR file")
    for number, value in enumerate(entries, 1):
        place = f"entry {number}"
        try:
            yield _exchange(msgspec.convert(value, _Entry), place)
        except (msgspec.ValidationError, CaptureError) as error:
            yield Damaged(place=place, reason=str(error))


def _exchange(entry: _Entry, place: str) -> Exchange:
    # Browsers write the status 0 if there was no answer.
    status = entry.response.status or None
    return Exchange(
        place=place,
        method=entry.request.method,
        url=entry.request.url,
        request=_message(entry.request.headers, entry.request.post_data or _Content(), "$.request.postData"),
        status=status,
        answer=_message(entry.response.headers, entry.response.content, "$.response.content"),
        is_websocket=entry.resource_type == "websocket" or status == 101,
    )


def _message(headers: list[_Header], content: _Content, path: str) -> Message:
    pairs = [(header.name, header.value) for header in headers]
    if content.text is None:
        # Browsers drop large bodies, and the bodies of pages that the user has left.
        return Message(headers=pairs, body=None if (content.size or 0) > 0 else b"")
    if content.encoding != "base64":
        return Message(headers=pairs, body=_bytes(content.text))
    return Message(headers=pairs, body=from_base64(content.text, f"{path}.text"))


def _bytes(text: str) -> bytes:
    """Return the bytes of a body. Chrome and mitmproxy store some binary ones as Latin-1. Only these contain nulls."""
    if "\0" in text:
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            pass
    return text.encode("utf-8", "surrogatepass")


def from_base64(text: str, path: str) -> bytes:
    """Return the bytes of a base64 text, which may have line breaks. Raise CaptureError with the path."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise CaptureError(f"{path}: not base64: {error}") from None
