"""Decompress the bodies of requests, with a limit: a few bytes may expand to fill all memory.

Codex compresses its requests with zstd if the user is logged in, and other clients use gzip (issues of gateways:
BYK/loreai#1032, SaladDay/cc-switch-cli#469, zyycn/codex-proxy-rs#66; seen 2026-11-27).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

from contentmodel.extras import needs_extra
from contentmodel.gateway.front import GatewayError


def decompressed(body: bytes, headers: Mapping[str, str], most: int) -> bytes:
    """Return the body of a request without the coding that its header names.

    Raise GatewayError if the coding is unknown, if the data are damaged, or if they have more than `most` bytes.
    """
    coding = coding_of(headers)
    if coding is None:
        return body
    decompress = _CODINGS.get(coding)
    if decompress is None:
        known = ", ".join(_CODINGS)
        raise _invalid(f"the gateway cannot read content-encoding {coding!r:.100}: use one of {known}, or none")
    data = decompress(body, most + 1)
    if data is None:
        raise _invalid(f"the body of the request is damaged: it is not complete {coding} data")
    if len(data) > most:
        raise GatewayError("too_large", f"the request has more than {most:,} bytes, the gateway's limit")
    return data


def coding_of(headers: Mapping[str, str]) -> str | None:
    """Return the coding of a body; None if it is not compressed."""
    coding = headers.get("content-encoding", "").strip().lower()
    return None if coding in ("", "identity") else coding


def _invalid(message: str) -> GatewayError:
    return GatewayError("invalid_request", message)


def _inflated(body: bytes, most: int, window: int) -> bytes | None:
    """Return at most `most` bytes of one or more streams of zlib; None if they are damaged or cut off."""
    pieces: list[bytes] = []
    while body and most > 0:
        inflater = zlib.decompressobj(window)
        try:
            pieces.append(inflater.decompress(body, most))
        except zlib.error:
            return None
        most -= len(pieces[-1])
        if most > 0 and not inflater.eof:
            return None
        body = inflater.unused_data
    return b"".join(pieces)


def _gzip(body: bytes, most: int) -> bytes | None:
    return _inflated(body, most, zlib.MAX_WBITS | 16)


def _deflate(body: bytes, most: int) -> bytes | None:
    # Some clients omit the header of zlib (RFC 9110, section 8.4.1.2).
    data = _inflated(body, most, zlib.MAX_WBITS)
    return _inflated(body, most, -zlib.MAX_WBITS) if data is None else data


def _zstd(body: bytes, most: int) -> bytes | None:
    """Return at most `most` bytes of one or more frames. The data of a frame that is cut off are no complete JSON."""
    with needs_extra("gateway"):
        import zstandard
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
    try:
        with decompressor.stream_reader(body, read_across_frames=True) as reader:
            data: bytes = reader.read(most)
    except zstandard.ZstdError:
        return None
    return data


MAX_WINDOW = 1 << 23
"""The largest window in bytes, as RFC 9659 requires it of zstd in HTTP."""

_CODINGS: dict[str, Callable[[bytes, int], bytes | None]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
