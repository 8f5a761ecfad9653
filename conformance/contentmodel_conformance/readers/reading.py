"""What a reader takes out of a payload, and what all readers share: texts of JSON, media as bytes, counters.

The readers are a second opinion on what payloads mean. They are written by hand from the documentation of each API and
share no code with the adapters: nothing here imports `contentmodel` or an adapter (a test asserts it).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

STOP, LENGTH, TOOL_CALLS, FILTERED = "stop", "length", "tool calls", "filtered"
PAUSED, FAILURE = "paused", "failed"
"""Why an answer ended. Other words are the API's own."""
ENDED = "ended"
"""The answer ended, and the API does not distinguish `stop` from `tool calls`."""

SYSTEM, USER, ASSISTANT, RESULT = "system text", "user text", "assistant text", "result text"
CALL, FAILED, MEDIUM, FINISH = "call", "failed result", "medium", "finish reason"
INPUT, CACHED, WRITTEN = "input tokens", "cached tokens", "cache written tokens"
OUTPUT, REASONING, TOTAL = "output tokens", "reasoning tokens", "total tokens"
COUNTERS = (INPUT, CACHED, WRITTEN, OUTPUT, REASONING, TOTAL)


@dataclass(frozen=True)
class Fact:
    """One thing that a payload says: of which `kind`, its `value`, and the JSON `paths` that it is read from.

    The first path is the value's. The others decide what the value means: the role of its message, the flag that says
    that a tool failed, the other counters of a sum.

    If it is `alone`, its place has room for one text only: what was several texts elsewhere is one here.

    Texts are strings. A call is its name and its arguments as JSON text with sorted keys. A medium is the digest of its
    bytes, or its link. A counter counts: `input tokens` with those of the cache, `output tokens` with reasoning.
    """

    kind: str
    value: Any
    paths: tuple[str, ...]
    alone: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.value!r:.200}"


class Reading:
    """The facts of one payload, in its order."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.counts_total = False
        """Whether the API has a counter of all tokens, and the payload counts tokens."""

    def of(self, kind: str) -> list[Fact]:
        """Return the facts of a kind."""
        return [fact for fact in self.facts if fact.kind == kind]

    def add(self, kind: str, value: Any, *paths: str, alone: bool = False) -> None:
        """Add a fact; an empty text is none."""
        if value is not None and value != "":
            self.facts.append(Fact(kind, value, paths, alone))

    def call(self, name: Any, arguments: Any, path: str, *paths: str) -> None:
        """Add a call. Arguments that are JSON text are read as JSON."""
        self.add(CALL, (name, as_json(arguments)), path, *paths)

    def free_call(self, name: Any, text: Any, path: str, *paths: str) -> None:
        """Add a call of a tool that takes free text: elsewhere, it is a function with the text as its one argument."""
        self.call(name, {"input": text}, path, *paths)

    def result(self, text: Any, *paths: str, alone: bool = False) -> None:
        """Add a text that a tool gave. One that is a JSON object counts as the object, however it is spaced."""
        value = as_json(text) if not isinstance(text, str) or text[:1] == "{" else text
        self.add(RESULT, value, *paths, alone=alone)

    def counters(self, usage: dict[str, Any], path: str, **sums: tuple[str, ...]) -> None:
        """Add counters: each the sum of fields (dotted), if any is a number."""
        self.counts_total = "total_tokens" in sums
        for kind, fields in sums.items():
            numbers = [number_at(usage, field) for field in fields]
            if any(number is not None for number in numbers):
                self.add(kind.replace("_", " "), sum(filter(None, numbers)), *(f"{path}.{field}" for field in fields))


def objects(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the objects of a list, or a single one, each with its path."""
    if isinstance(value, dict):
        yield path, value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield f"{path}[{index}]", item


def first(value: dict[str, Any], *keys: str) -> tuple[str, Any]:
    """Return the first of the keys that has a value, and the value; the first key and None if none has."""
    return next(((key, value[key]) for key in keys if value.get(key) is not None), (keys[0], None))


def word(words: dict[Any, str], value: Any) -> Any:
    """Return the neutral word for an API's; one that has none, as it is."""
    return words.get(value, value) if isinstance(value, str | int) else value


def number_at(value: Any, dotted: str) -> int | None:
    """Return the number at a dotted path, else None."""
    for key in dotted.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_json(value: Any) -> str:
    """Return a JSON value as text with sorted keys; text that holds JSON as that JSON, other text as it is."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return str(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(data: Any) -> str | None:
    """Return the digest of bytes that are base64, of either alphabet and with or without padding; None for no text."""
    if not isinstance(data, str):
        return None
    plain = "".join(data.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        found = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return f"not base64: {data}"
    return digest_of_bytes(found)


def digest_of_bytes(data: bytes) -> str:
    """Return the digest that stands for bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"


def link(url: Any) -> str | None:
    """Return what a link says: the digest of the bytes of a data URI, else the link."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return url if isinstance(url, str) else None
    head, _, data = url.partition(",")
    return digest(data) if head.endswith(";base64") else url


def texts(value: Any, path: str, types: Collection[Any]) -> Iterator[tuple[str, str]]:
    """Return the texts of a content that is a string, or a list of parts of these types, each with its path."""
    if isinstance(value, str):
        yield path, value
    for where, part in objects(value, path):
        if part.get("type") in types and isinstance(part.get("text"), str):
            yield f"{where}.text", part["text"]
