"""Decode the bodies of exchanges: Content-Encoding, JSON, and the events of streams."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from contentmodel.compression import CutOffError, TooLargeError, UndecodedError, deflate, gzip, zstandard
from contentmodel.errors import DecodeError
from contentmodel.extras import needs_extra
from contentmodel.framing import EVENT_STREAM, LINES, SSE, AnyFraming, StreamFormat
from contentmodel.json import parse
from contentmodel_conformance.captures.entries import Message

GZIP = b"\x1f\x8b"
_TEXT = re.compile(rb"\s*[{\[]|(data|event|id|retry)?:")
_CHUNK = 64
"""The number of compressed bytes in one call of brotli. It is small, because a few bytes may expand to 16 MiB."""


# -- compression -------------------------------------------------------------------------------------------------------


def decoded(message: Message, limit: int) -> bytes:
    """Return the body without its Content-Encoding.

    Browsers and proxies store decoded bodies and keep the header, so a body that begins like JSON or a stream is
    returned unchanged. Raise TooLargeError if the body has more than `limit` bytes, UndecodedError if it is damaged or
    has an unknown encoding, and MissingExtraError if the package for its encoding is not installed.
    """
    body = message.body or b""
    names = [name.strip().lower() for name in message.header("content-encoding").split(",")]
    names = [name for name in names if name not in ("", "identity")]
    # A cassette may lack the header.
    for name in reversed(names or (["gzip"] if body.startswith(GZIP) else [])):
        if not _is_decoded(body):
            body = decompressed(body, name, limit)
    if len(body) > limit:
        raise TooLargeError(f"more than {limit:,} bytes")
    return body


def _is_decoded(body: bytes) -> bool:
    if not body or not _TEXT.match(body):
        return not body
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def decompressed(data: bytes, encoding: str, limit: int) -> bytes:
    """Return the decompressed bytes. `encoding` is a content coding. Raise the same errors as `decoded`."""
    decompress = _DECOMPRESS.get(encoding)
    if decompress is None:
        raise UndecodedError(f"unknown Content-Encoding {encoding!r}: expected one of {', '.join(_DECOMPRESS)}")
    return decompress(data, limit)


def _brotli(data: bytes, limit: int) -> bytes:
    with needs_extra("captures"):
        import brotli
    decompressor = brotli.Decompressor()
    pieces: list[bytes] = []
    try:
        for start in range(0, len(data), _CHUNK):
            pieces.append(decompressor.process(data[start : start + _CHUNK]))
            limit -= len(pieces[-1])
            if limit < 0:
                raise TooLargeError("too large after decompression")
    except brotli.error as error:
        raise UndecodedError(f"damaged: {error}") from None
    if not decompressor.is_finished():
        raise CutOffError("the compressed body is cut off")
    return b"".join(pieces)


_DECOMPRESS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "br": _brotli,
    "zstd": partial(zstandard, extra="captures"),
}


# -- streams -----------------------------------------------------------------------------------------------------------


def is_stream(body: bytes, content_type: str, form: StreamFormat, *, asked: bool) -> bool:
    """Return whether a body consists of events. `asked`: whether the request asked for a stream in the format `form`.

    A cassette may lack the header. A stream of lines may be a single line, which is also a JSON document.
    """
    if any(other.is_type(content_type) for other in (SSE, LINES, EVENT_STREAM, form)):
        return True
    if SSE.begins(body) is True or EVENT_STREAM.begins(body) is True or body.lstrip().startswith(b"["):
        return True
    return asked and form is LINES and not content_type


def events_in(body: bytes) -> list[dict[str, Any]]:
    """Return the events of a stream, each with its `data` and, if it has one, its `event`.

    Raise CutOffError if the last event is incomplete, and UndecodedError if the framing is damaged.
    """
    framing = AnyFraming()
    frames = framing.feed(body)
    if framing.fault is not None:
        raise UndecodedError(framing.fault)
    if framing.close():
        # Some recorders remove the blank line at the end.
        frames += framing.feed(b"\n\n")
    if framing.close().strip():
        raise CutOffError("the last event is cut off")
    events = [_event(name, data) for name, data in frames]
    if events and not isinstance(events[-1]["data"], dict) and frames[-1][1].lstrip().startswith(b"{"):
        raise CutOffError("the last event is cut off")
    return events


def _event(name: str | None, data: bytes) -> dict[str, Any]:
    event: dict[str, Any] = {} if name is None else {"event": name}
    try:
        value = parse(data)
    except DecodeError:
        value = None
    event["data"] = value if isinstance(value, dict) else data.decode("utf-8", "replace")
    return event
