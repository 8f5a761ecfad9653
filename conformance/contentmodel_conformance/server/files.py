"""Read script files: turns as JSON Lines, or as a JSON list."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contentmodel.errors import ContentModelError, DecodeError
from contentmodel.json import kind_of, parse
from contentmodel_conformance.server.script import ScriptError, Turn, as_turn, within

LINES = (".jsonl", ".ndjson")


def read_script(path: str) -> list[Turn]:
    """Return the turns of a file; "-" is standard input. Raises ScriptError with the file, line or turn, and JSON path.

    The file is JSON Lines with a turn per line, or JSON: a list of turns, or one turn. See `as_turn` for its format.
    """
    name = "standard input" if path == "-" else path
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    turns = [_turn(value, location, json_path) for value, location, json_path in _values(data, name)]
    if not turns:
        raise ScriptError(f"{name}: the script has no turns")
    return turns


def _values(data: bytes, name: str) -> Iterator[tuple[Any, str, str]]:
    """Yield each candidate for a turn, its location for error messages, and its JSON path."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if Path(name).suffix.lower() in LINES or not _is_json(data, lines):
        for number, line in lines:
            yield _parsed(line, f"{name}, line {number}"), f"{name}, line {number}", "$"
        return
    value = _parsed(data, name)
    if not isinstance(value, list):
        yield value, name, "$"
        return
    for place, item in enumerate(value):
        yield item, f"{name}, turn {place + 1}", f"$[{place}]"


def _is_json(data: bytes, lines: list[tuple[int, bytes]]) -> bool:
    """Return whether the file is one JSON text, valid or not. In JSON Lines, the first line is valid JSON by itself."""
    for text in (data, *(line for _, line in lines[:1])):
        try:
            parse(text)
        except DecodeError:
            continue
        return text is data
    return True


def _parsed(data: bytes, location: str) -> Any:
    try:
        return parse(data)
    except DecodeError as error:
        raise ScriptError(f"{location}: {error.faults[0].message}") from None


def _turn(value: Any, location: str, path: str) -> Turn:
    if not isinstance(value, dict | str):
        raise ScriptError(f"{location}: expected an object or a string, got {kind_of(value)} at {path}")
    try:
        return as_turn(value)
    except DecodeError as error:
        raise ScriptError(f"{location}: {within(error, path)}") from None
    except ContentModelError as error:
        raise ScriptError(f"{location}: {error}") from None
