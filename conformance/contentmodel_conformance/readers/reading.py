"""The facts that readers take from payloads, and shared helpers for JSON text, media and counters.

The readers check the adapters independently. They are written by hand from the documentation of each API and
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
PAUSED, FAILURE, RUNNING = "paused", "failed", "running"
"""Why an answer ended. Other values are the API's own."""
ENDED = "ended"
"""The answer ended, and the API does not distinguish `stop` from `tool calls`."""
NORMALIZED_FINISHES = {
    "stop": STOP,
    "length": LENGTH,
    "content_filter": FILTERED,
    "error": FAILURE,
    "refusal": FILTERED,
    "pause": PAUSED,
    "running": RUNNING,
}
"""The meaning of the words in which formats without an issuer say why an answer ended, without that for calls."""

SYSTEM, USER, ASSISTANT, RESULT = "system text", "user text", "assistant text", "result text"
CALL, FAILED, MEDIUM, FINISH = "call", "failed result", "medium", "finish reason"
INPUT, CACHED, WRITTEN = "input tokens", "cached tokens", "cache written tokens"
OUTPUT, REASONING, TOTAL = "output tokens", "reasoning tokens", "total tokens"
COUNTERS = (INPUT, CACHED, WRITTEN, OUTPUT, REASONING, TOTAL)


@dataclass(frozen=True)
class Fact:
    """One fact of a payload: its `kind`, its `value`, and the JSON `paths` that it is read from.

    The first path is the value's. The others affect its meaning: the role of its message, the flag of a failed tool,
    the other counters of a sum.

    If it is `alone`, its field can hold only one text: several texts of another API are joined in it.

    Texts are strings. A call is its name and its arguments as JSON text with sorted keys. A medium is the digest of its
    bytes, or its link. `input tokens` include those of the cache, `output tokens` include reasoning.
    """

    kind: str
    value: Any
    paths: tuple[str, ...]
    alone: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.value!r:.200}"


class Reading:
    """The facts of one payload, in order."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.counts_total = False
        """True if the API has a counter of all tokens, and the payload counts tokens."""

    def of(self, kind: str) -> list[Fact]:
        """Return the facts of a kind."""
        return [fact for fact in self.facts if fact.kind == kind]

    def add(self, kind: str, value: Any, *paths: str, alone: bool = False) -> None:
        """Add a fact, unless its value is None or an empty text."""
        if value is not None and value != "":
            self.facts.append(Fact(kind, value, paths, alone))

    def call(self, name: Any, arguments: Any, path: str, *paths: str) -> None:
        """Add a call, unless it has no name and no arguments. Arguments that are JSON text are read as JSON."""
        if name is None and arguments is None:
            return
        self.add(CALL, (name, as_json(arguments)), path, *paths)

    def free_call(self, name: Any, text: Any, path: str, *paths: str) -> None:
        """Add a call of a free-text tool, as a function call with the text as its only argument."""
        self.call(name, {"input": text}, path, *paths)

    def result(self, text: Any, *paths: str, alone: bool = False) -> None:
        """Add a text of a tool result. A JSON object is normalized, so that whitespace does not matter."""
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
    """Yield the objects of a list, or a single one, each with its path."""
    if isinstance(value, dict):
        yield path, value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield f"{path}[{index}]", item


def first(value: dict[str, Any], *keys: str) -> tuple[str, Any]:
    """Return the first of the keys that has a value, and the value; the first key and None if none has."""
    return next(((key, value[key]) for key in keys if value.get(key) is not None), (keys[0], None))


def neutral(values: dict[Any, str], value: Any) -> Any:
    """Return the neutral value for an API's value, or the value itself if there is none."""
    return values.get(value, value) if isinstance(value, str | int) else value


def number_at(value: Any, dotted: str) -> int | None:
    """Return the number at a dotted path, else None."""
    for key in dotted.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def openai_usage(reading: Reading, usage: dict[str, Any], input_name: str, output_name: str) -> None:
    """Add the counters of an API of OpenAI, under its names for the tokens of the input and of the output.

    xAI counts reasoning separately from the output, as its total shows. DeepSeek, Moonshot and Together have their own
    counters of cached tokens.
    """
    counters = (f"{input_name}_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens")
    cached = next((field for field in counters if number_at(usage, field) is not None), counters[0])
    reasoning = f"{output_name}_details.reasoning_tokens"
    is_beside = usage.get("total_tokens") == sum(
        number_at(usage, field) or 0 for field in (input_name, output_name, reasoning)
    )
    reading.counters(
        usage,
        "$.usage",
        input_tokens=(input_name,),
        cached_tokens=(cached,),
        output_tokens=(output_name, reasoning) if is_beside else (output_name,),
        reasoning_tokens=(reasoning,),
        total_tokens=("total_tokens",),
        cache_written_tokens=(f"{input_name}_details.cache_write_tokens",),
    )


def as_json(value: Any) -> str:
    """Return a JSON value as text with sorted keys. JSON text is parsed first; other text is returned unchanged."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return str(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(data: Any) -> str | None:
    """Return the digest of base64 bytes of either alphabet, with or without padding; None if `data` is not a string."""
    if not isinstance(data, str):
        return None
    plain = "".join(data.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return f"not base64: {data}"
    return digest_of_bytes(decoded)


def digest_of_bytes(data: bytes) -> str:
    """Return the digest of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"


def link(url: Any) -> str | None:
    """Return the digest of the bytes of a data URI, or any other link unchanged."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return url if isinstance(url, str) else None
    head, _, data = url.partition(",")
    return digest(data) if head.endswith(";base64") else url


def texts(value: Any, path: str, types: Collection[Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a content that is a string, or a list of parts of these types, each with its path."""
    if isinstance(value, str):
        yield path, value
    for part_path, part in objects(value, path):
        if part.get("type") in types and isinstance(part.get("text"), str):
            yield f"{part_path}.text", part["text"]
