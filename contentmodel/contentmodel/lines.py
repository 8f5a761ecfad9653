"""Read and write JSON Lines without loss: one JSON value per line, and the text of each line that is not JSON.

A document of lines is the list of its values. A `str` in it is the text of a line, not a JSON string: a line that was
cut off, or that is a JSON string, keeps its text. Blank lines, carriage returns at the ends of lines, and byte order
marks are not part of the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias

from contentmodel.errors import DecodeError, EncodeError
from contentmodel.json import Json, JsonArray, parse, write

PROBED = 200
"""The number of lines that are read to detect the format of a document."""

_BLANK = " \t\r\n"
_BLANK_BYTES = _BLANK.encode()
_MARK = "\ufeff"
_MARK_BYTES = _MARK.encode()


Lines: TypeAlias = bytes | bytearray | memoryview | str | Iterable[bytes]
"""JSON Lines as one text, or line by line: a binary file."""


class ParsedLines(list[Json]):
    """The values of lines to which no other code refers. Decoding copies any other list, but not this one."""


def parse_lines(data: Lines) -> JsonArray:
    """Return the value of each line. The value of a line that is not JSON, or is a JSON string, is its text.

    Bytes that are not UTF-8 become lone surrogates (U+DC80 to U+DCFF), which `write_lines` writes as the same bytes.
    """
    return [_value_of(line) for _, line in _numbered(data)]


def probe_lines(data: bytes | bytearray | memoryview | str, most: int = PROBED) -> JsonArray:
    """Return the values of the first lines only."""
    return [_value_of(line) for _, line in islice(_numbered(data), most)]


def line_numbers(data: Lines) -> list[int]:
    """Return the number of the line, from 1, of each value."""
    return [number for number, _ in _numbered(data)]


def _numbered(data: Lines) -> Iterator[tuple[int, str | bytes]]:
    """Yield the number and the text of each line that is not blank."""
    for number, line in enumerate(_each(data), 1):
        text = _without_blanks(line)
        if text:
            yield number, text


def _each(data: Lines) -> Iterator[str | bytes]:
    """Yield one line at a time, without its line feed."""
    if isinstance(data, str):
        yield from _text_lines(data)
    elif isinstance(data, bytes | bytearray | memoryview):
        yield from _byte_lines(data)
    else:
        yield from (line.removesuffix(b"\n") for line in data)


def _text_lines(data: str) -> Iterator[str]:
    """Yield one line at a time, without its line feed. No other character ends a line."""
    start = 0
    while (end := data.find("\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]


def _byte_lines(data: bytes | bytearray | memoryview) -> Iterator[bytes]:
    if not isinstance(data, bytes):
        data = bytes(data)
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]


def _without_blanks(line: str | bytes) -> str | bytes:
    """Return a line without byte order marks before it and carriage returns after it; empty if the rest is blank."""
    if isinstance(line, str):
        line = line.lstrip(_MARK).rstrip("\r")
        return line if line.strip(_BLANK) else ""
    while line.startswith(_MARK_BYTES):
        line = line[len(_MARK_BYTES) :]
    return line.rstrip(b"\r") if line.strip(_BLANK_BYTES) else b""


def _value_of(line: str | bytes) -> Json:
    try:
        value = parse(line)
    except DecodeError:
        return _text_of(line)
    return _text_of(line) if value.__class__ is str else value


def _text_of(line: str | bytes) -> str:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    return data.decode("utf-8", "surrogateescape")


def write_lines(values: JsonArray) -> bytes:
    """Return the values as JSON Lines, each with a line feed. A `str` is written as it is: it is the text of a line.

    Raise EncodeError if a value is not representable in JSON, or if a text has a line feed.
    """
    return b"".join(written_lines(values))


def written_lines(values: JsonArray) -> Iterator[bytes]:
    """Yield each line that `write_lines` joins."""
    for at, value in enumerate(values):
        yield _line_of(value, at) + b"\n"


def _line_of(value: Json, at: int) -> bytes:
    if value.__class__ is not str:
        return write(value)
    if "\n" in value:
        raise EncodeError(f"the text of a line has a line feed at $[{at}]: write it as a JSON value of its own")
    try:
        return bytes(value.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise EncodeError(f"the text of a line has half of a surrogate pair at $[{at}]") from None
