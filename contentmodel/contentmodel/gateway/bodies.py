"""Decompress the bodies of requests.

Codex compresses its requests with zstd if the user is logged in, and other clients use gzip (issues of gateways:
BYK/loreai#1032, SaladDay/cc-switch-cli#469, zyycn/codex-proxy-rs#66; seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from contentmodel.compression import TooLargeError, UndecodedError, deflate, gzip, zstandard
from contentmodel.gateway.front import GatewayError


def decompressed(body: bytes, coding: str, most: int) -> bytes:
    """Return the body of a request without its content coding.

    Raise GatewayError if the coding is unknown, if the data are damaged, or if they have more than `most` bytes.
    """
    decompress = _CODINGS.get(coding)
    if decompress is None:
        known = ", ".join(_CODINGS)
        raise _invalid(f"the gateway cannot read content-encoding {coding!r:.100}: use one of {known}, or none")
    try:
        return decompress(body, most)
    except TooLargeError:
        raise GatewayError("too_large", f"the request has more than {most:,} bytes, the gateway's limit") from None
    except UndecodedError:
        raise _invalid(f"the body of the request is damaged: it is not complete {coding} data") from None


def coding_of(headers: Mapping[str, str]) -> str | None:
    """Return the coding of a body; None if it is not compressed."""
    coding = headers.get("content-encoding", "").strip().lower()
    return None if coding in ("", "identity") else coding


def _invalid(message: str) -> GatewayError:
    return GatewayError("invalid_request", message)


MAX_WINDOW = 1 << 23
"""The largest window in bytes, as RFC 9659 requires it of zstd in HTTP."""

_CODINGS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "zstd": partial(zstandard, extra="gateway", max_window=MAX_WINDOW),
}
