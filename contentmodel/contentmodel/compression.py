"""Decompress HTTP bodies, with a limit: a few bytes may expand to fill all memory."""

from __future__ import annotations

import zlib

from contentmodel.errors import ContentModelError
from contentmodel.extras import needs_extra


class UndecodedError(ContentModelError, ValueError):
    """Raised if a body cannot be decoded. Its text is the reason."""


class TooLargeError(UndecodedError):
    """Raised if a decoded body exceeds the limit."""


class CutOffError(UndecodedError):
    """Raised if a body is incomplete."""


def gzip(data: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of gzip data. Raise UndecodedError if they are damaged, cut off or too large."""
    return _inflated(data, limit, zlib.MAX_WBITS | 16)


def deflate(data: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of zlib data. Raise the same errors as `gzip`."""
    # Some clients and servers omit the header of zlib (RFC 9110, section 8.4.1.2).
    try:
        return _inflated(data, limit, zlib.MAX_WBITS)
    except TooLargeError:
        raise
    except UndecodedError:
        return _inflated(data, limit, -zlib.MAX_WBITS)


def zstandard(data: bytes, limit: int, extra: str, *, max_window: int = 0) -> bytes:
    """Return at most `limit` bytes of one or more frames of zstd.

    A frame that is cut off gives the bytes that it has. `extra` installs the package. `max_window` is the largest
    window in bytes; 0 is the package's limit. Raise UndecodedError if the data are damaged or too large, and
    MissingExtraError.
    """
    with needs_extra(extra):
        import zstandard as package
    decompressor = package.ZstdDecompressor(max_window_size=max_window)
    try:
        with decompressor.stream_reader(data, read_across_frames=True) as reader:
            read: bytes = reader.read(limit + 1)
    except package.ZstdError as error:
        raise UndecodedError(f"damaged: {error}") from None
    if len(read) > limit:
        raise TooLargeError("too large after decompression")
    return read


def _inflated(data: bytes, limit: int, window: int) -> bytes:
    """Decompress one or more streams of zlib."""
    pieces: list[bytes] = []
    while data:
        inflater = zlib.decompressobj(window)
        try:
            pieces.append(inflater.decompress(data, limit + 1))
        except zlib.error as error:
            raise UndecodedError(f"damaged: {error}") from None
        limit -= len(pieces[-1])
        if limit < 0:
            raise TooLargeError("too large after decompression")
        if not inflater.eof:
            raise CutOffError("the compressed body is cut off")
        data = inflater.unused_data
    return b"".join(pieces)
