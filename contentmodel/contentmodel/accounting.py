"""The accounting law as code: every value of a source payload is in what was made of it, or under a loss.

Values are counted: two equal images of which one is gone are not accounted for. What a payload says in words of its
API that every API has in words of its own (roles, types, finish reasons) is structure, and not counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from contentmodel.adapter import Payload, adapter, as_json
from contentmodel.containment import contained
from contentmodel.content.media import standard_base64
from contentmodel.wire.json import child_path, snake_name
from contentmodel.wire.losses import Encoded, Loss
from contentmodel.wire.marks import APART, unmarked


class Vocabulary(msgspec.Struct, frozen=True):
    """The fields of an API that hold its own words for what every API says (`structure`), and those that name a thing
    that stands elsewhere as well (`references`).
    """

    structure: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()


class Unaccounted(msgspec.Struct, frozen=True):
    """A value of the source that is neither in the output nor under a loss: its JSON `path`, and the `value`."""

    path: str
    value: Any

    def __str__(self) -> str:
        return f"{self.value!r:.80} at {self.path} is neither in the output nor under a loss"


def audit(source: Payload, encoded: Encoded, vocabulary: Vocabulary | None = None) -> list[Unaccounted]:
    """The values of `source` that are neither in `encoded.payload` nor under one of its losses; [] where all are.

    A loss of the kind "dropped" or "degraded" covers all at and below its path; one of the kind "moved" does not, for
    what moved is still there. `vocabulary` has the words of the source's API; without one, they are read off the
    adapter that decoded the source (see `vocabulary_of`).
    """
    if vocabulary is None and encoded.source_api is not None:
        vocabulary = _vocabulary_of_api(encoded.source_api)
    return unaccounted(as_json(source, "json"), encoded.payload, encoded.losses, vocabulary)


@cache
def _vocabulary_of_api(api: str) -> Vocabulary:
    return vocabulary_of(adapter(api))


def unaccounted(
    source: Any, output: Any, losses: Iterable[Loss], vocabulary: Vocabulary | None = None
) -> list[Unaccounted]:
    """The same for plain JSON values."""
    words, references = STRUCTURE, _REFERENCES
    if vocabulary is not None:
        words, references = words | vocabulary.structure, references | vocabulary.references
    # What has no place of its own stands for nothing else.
    lost = {loss.path for loss in losses if loss.kind in ("dropped", "degraded", "insignificant") and loss.exact} - {
        "$"
    }
    held = _Held(output)
    counted = (
        (path, value)
        for path, value, above in leaves(source)
        if not _says_nothing(value)
        and path not in _ERROR_WORDS
        and not _is_structure(value, above, words)
        and lost.isdisjoint(above)
    )
    # What is there as it was comes first: what is there in another form must not take it away.
    rest = [(path, value) for path, value in counted if not held.take(value, again=_field(path) in references)]
    held.look_for(value for _, value in rest)
    return [Unaccounted(path, value) for path, value in rest if not held.take_in_other_form(value)]


def leaves(value: Any, path: str = "$", above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Every scalar of a JSON value, with its path and the paths of all that it stands in, its own as the last."""
    stack = [(value, path, above)]
    while stack:
        item, where, over = stack.pop()
        here = (*over, where)
        if isinstance(item, dict):
            stack += [(v, child_path(where, k), here) for k, v in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(v, f"{where}[{i}]", here) for i, v in reversed([*enumerate(item)])]
        else:
            yield where, item, here


STRUCTURE = frozenset(
    {
        "type",
        "role",
        "object",
        "status",
        "mode",
        "index",
        "finish_reason",
        "finishReason",
        "stop_reason",
        "incomplete_details",
        "tool_choice",
        "effort",
        "reasoning_effort",
        "thinkingLevel",
        "modalities",
        "responseModalities",
        "responseMimeType",
    }
)
"""Fields whose values are an API's own words for what every API says in its own: a loss is reported where the other
API has only a coarser word, and a translation is none."""

# What names a thing that stands elsewhere as well: one API repeats it where another says it once.
_REFERENCES = frozenset({"name", "id", "call_id", "tool_call_id", "tool_use_id", "url", "uri", "title"}) | {
    "allowedFunctionNames"
}

# Fields of the model: what each API says of them in words of its own, and what names a thing.
_WORDS = {"role", "kind", "index", "finish_reason", "tool_choice", "mode", "effort", "modalities", "status"}
_NAMES = {"name", "call_id", "file_id", "url", "title"}


def vocabulary_of(reader: Any) -> Vocabulary:
    """The words of an API, as far as its adapter describes its tables: what says of what kind an object is, what is
    translated word by word, and what names a call, a tool or a source.
    """
    described = reader.describe() if hasattr(reader, "describe") else {}
    unions = described.get("unions", {}).values()
    rows = [*described.get("records", {}).values(), *(row for union in unions for row in union["rows"])]
    rows += [half for pair in described.get("pairs", ()) for half in pair.values()]
    kinds = {path for row in rows for path in row["constants"]} | {union["tag"] for union in unions}
    return Vocabulary(_steps(kinds | _holding(_WORDS, rows)), _steps(_holding(_NAMES, rows)))


def _holding(attributes: set[str], rows: Iterable[dict[str, Any]]) -> set[str]:
    """The wire fields that hold one of these attributes."""
    return {
        path
        for row in rows
        for path, field in row["fields"].items()
        if not attributes.isdisjoint(name.rpartition(".")[2] for name in field["attribute"].split(", "))
    }


def _steps(paths: Iterable[str]) -> frozenset[str]:
    """The last steps of dotted paths, in either spelling."""
    names = {path.rpartition(".")[2] for path in paths}
    return frozenset(names | {snake_name(name) for name in names})


# Chat has a short word for a format where others have a media type.
_MEDIA_WORDS = {
    "audio/mpeg": ("mp3",),
    "audio/mp3": ("mp3", "audio/mpeg"),
    "audio/wav": ("wav",),
    "mp3": ("audio/mpeg",),
    "wav": ("audio/wav",),
    "flac": ("audio/flac",),
    "opus": ("audio/opus",),
    "aac": ("audio/aac",),
}


# Where an item stands, and the number of an enum's member in the place of its name.
_NUMBERED = frozenset({"index", "sequence", "finishReason"})

# The fields of an error body that name its kind: each API has its own word, or the number of the HTTP status.
_ERROR_WORDS = frozenset({"$.error.type", "$.error.code", "$.error.status"})


def _says_nothing(value: Any) -> bool:
    return value is None or value == "" or value is False


def _is_structure(value: Any, above: tuple[str, ...], words: Collection[str]) -> bool:
    """Return whether a value is a word of its API. Numbers are words in few fields: elsewhere they are data."""
    if value.__class__ in (int, float):
        field = _field(above[-1])
        return field in _NUMBERED and field in words
    return any(_field(path) in words for path in above[-2:])


def _field(path: str) -> str:
    return path.rpartition(".")[2].partition("[")[0]


class _Held:
    """The scalars of an output, inside of JSON text and data URIs too, each to be taken as often as it is there."""

    def __init__(self, output: Any) -> None:
        self._counts: Counter[Any] = Counter()
        self._texts: list[str] = []
        self._whole: Counter[str] = Counter()
        """The texts that were taken as they are."""
        self._told: set[str] = set()
        """The texts that were looked for and are part of longer ones."""
        for _, value, _ in leaves(output):
            self._add(value)

    def _add(self, value: Any) -> None:
        self._counts[_key(value)] += 1
        if isinstance(value, str):
            self._texts.append(value)
            for inner in _inside(value) or ():
                self._counts[_key(inner)] += 1

    def take(self, value: Any, *, again: bool = False) -> bool:
        """Whether the value is there: once more than it was taken, or (`again`) at all."""
        key = _key(value)
        if self._counts[key] > 0:
            self._counts[key] -= 1
            if value.__class__ is str:
                self._whole[value] += 1
            return True
        return again and key in self._counts

    def look_for(self, values: Iterable[Any]) -> None:
        """Finds out, for all values at once, which of them longer texts hold."""
        texts = {value for value in values if isinstance(value, str)}
        inner = (part for text in texts for part in _inside(text) or ())
        texts |= {part for part in inner if isinstance(part, str) and self._whole[part]}
        self._told = contained(texts | {unmarked(text) for text in texts}, self._texts)

    def take_in_other_form(self, value: Any) -> bool:
        """The same for a text that is there as the JSON it spells, as another word for a type, or in a longer text."""
        return isinstance(value, str) and (self._take_parts(value) or self._take_word(value) or value in self._told)

    def _take_word(self, text: str) -> bool:
        call_id = APART.read(text)
        if call_id is not None:
            return self.take(call_id, again=True)
        said = unmarked(text)
        if said != text:
            return not said or self.take(said) or self._take_parts(said) or said in self._told
        return any(self.take(word) for word in _MEDIA_WORDS.get(text, ())) or self._take_bytes(text)

    def _take_bytes(self, text: Any) -> bool:
        """Whether the bytes of base64 are there in the standard alphabet, padded."""
        standard = standard_base64(text) if isinstance(text, str) else None
        return standard not in (None, "", text) and self.take(standard)

    def _take_parts(self, text: str) -> bool:
        """The JSON that a text spells, or the parts of a data URI."""
        parts = _inside(text)
        if parts is None:
            return False
        return all(
            self.take(part) or self._take_bytes(part) or self._take_over(part)
            for part in parts
            if not _says_nothing(part)
        )

    def _take_over(self, part: Any) -> bool:
        """Whether another value took this text, and is part of a longer text as well: then that one stands for it."""
        if part not in self._told or self._whole[part] <= 0:
            return False
        self._whole[part] -= 1
        return True


def _key(value: Any) -> Any:
    return ("bool", value) if isinstance(value, bool) else value


def _inside(text: str) -> list[Any] | None:
    """The scalars of a JSON text, or the media type and the data of a data URI; None for any other text."""
    if text.startswith("data:") and ";base64," in text:
        head, _, data = text.partition(";base64,")
        return [head[5:], data]
    if text[:1] not in ("{", "["):
        return None
    try:
        return [inner for _, inner, _ in leaves(json.loads(text))]
    except (ValueError, RecursionError):
        return None
