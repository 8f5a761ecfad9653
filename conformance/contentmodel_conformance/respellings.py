"""Other spellings of streams with the same events."""

from __future__ import annotations

from collections.abc import Iterator

from contentmodel.framing import LINES, SSE, StreamFormat

BOM = b"\xef\xbb\xbf"


def respellings(raw: bytes, form: StreamFormat) -> Iterator[tuple[str, bytes]]:
    """Yield other spellings of a stream that have the same events, each with a name."""
    if form is SSE:
        yield from _respelled_events(raw)
    elif form is LINES:
        yield "CRLF", raw.replace(b"\n", b"\r\n")
        yield "blank lines", raw.replace(b"\n", b"\n\n")
        yield "spaces", b" " + raw.replace(b"\n", b" \n\t")
        yield "byte order mark", BOM + raw
        yield "no last line break", raw.removesuffix(b"\n")


def _respelled_events(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield other spellings of server-sent events that the standard allows or recordings have, each with a name."""
    yield "CRLF", raw.replace(b"\n", b"\r\n")
    yield "CR", raw.replace(b"\n", b"\r")
    yield "comments", raw.replace(b"\n\n", b"\n\n: still here\n\n")
    yield "blank lines", raw.replace(b"\n\n", b"\n\n\n\n")
    yield "ids", raw.replace(b"\n\n", b"\nid: 7\nretry: 10\nfield: of tomorrow\n\n")
    yield "no space", raw.replace(b"\ndata: ", b"\ndata:")
    yield "byte order mark", BOM + raw
    yield "blank line first", b"\n" + raw
    yield "no blank line at the end", raw.removesuffix(b"\n")
    yield "no line break at the end", raw.rstrip(b"\n")
