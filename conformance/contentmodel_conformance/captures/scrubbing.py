"""Replace secrets in recorded payloads by placeholders.

Three kinds of texts are secrets: the values of headers, cookies and query parameters that carry credentials, wherever a
payload repeats them; texts that look like keys; and the values of fields such as `api_key`. A secret that the deltas of
a stream split is replaced, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import NamedTuple
from urllib.parse import quote

from contentmodel.json import Json, write
from contentmodel_conformance.captures.credentials import credentials_of
from contentmodel_conformance.captures.entries import Exchange
from contentmodel_conformance.captures.pieces import put, split_texts
from contentmodel_conformance.captures.secret_names import (
    can_be_secret,
    can_be_secret_header,
    is_literal,
    is_random,
    is_secret,
    is_secret_header,
    looks_secret,
)
from contentmodel_conformance.captures.secret_patterns import FIELD, PATTERNS, Pattern

PLACEHOLDER = "SCRUBBED-"
"""The start of a placeholder. A number follows: equal secrets of one exchange have the same number."""

_NUMBERED = re.compile(rf"{PLACEHOLDER}([0-9]{{1,6}})")


KNOWN = "known credential"


class Place(NamedTuple):
    """The place of a replaced secret: the number of its value in the arguments, its JSON path, and its kind."""

    number: int
    path: str
    kind: str


class Scrubber:
    """Replace secrets. `patterns` are the user's regular expressions: each match is a secret.

    `counts` has the number of replaced secrets, by kind, and `places` those of the last values. They never contain a
    secret.
    """

    def __init__(self, patterns: Iterable[re.Pattern[str]] = ()) -> None:
        names = (Pattern(f"--scrub {number}", expression) for number, expression in enumerate(patterns, 1))
        self._patterns = (*PATTERNS, *names)
        self._known: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.places: list[Place] = []

    def learn(self, exchange: Exchange, *, cookies: bool) -> None:
        """Store the credentials in the headers and the URL of an exchange; with `cookies`, also its cookies."""
        self.know(credentials_of(exchange, cookies=cookies))

    def know(self, secrets: Iterable[str], kind: str = KNOWN) -> None:
        """Store texts that are secrets wherever they are, and their kind."""
        for secret in secrets:
            if PLACEHOLDER not in secret:
                # The secret itself, and as it is written in JSON and in a URL.
                for written in (secret, write(secret)[1:-1].decode(), quote(secret, safe="")):
                    self._known.setdefault(written, kind)

    def scrub(self, values: Sequence[Json]) -> list[Json]:
        """Return the JSON values of one exchange without secrets. A value that is a list of events is a stream."""
        scrubbing = _Scrubbing(self._patterns, sorted(self._known.items()))
        scrubbed = scrubbing.scrub(values)
        self.places = scrubbing.places
        self.counts.update(place.kind for place in self.places)
        return scrubbed


# -- the values of one exchange ----------------------------------------------------------------------------------------


class _Match(NamedTuple):
    start: int
    end: int
    kind: str


_MAP = re.compile(r"(?i)(?:[a-z]+[-_]?)?headers|env(?:ironment)?|(?:env|environment)[-_]?(?:vars?|variables)")
"""The names of objects whose fields are headers or variables, as tools of MCP servers have them."""


def _is_field(name: str, value: str, *, is_map: bool) -> bool:
    """Return whether the value of a field is a secret."""
    if is_secret(name) or (looks_secret(value) and can_be_secret(name)):
        return True
    return is_map and (
        is_secret_header(name)
        or (can_be_secret(name) and len(value) >= 8)
        or (is_random(value) and can_be_secret_header(name))
    )


class _Scrubbing:
    """The secrets of one exchange, with their numbers."""

    def __init__(self, patterns: Sequence[Pattern], known: Sequence[tuple[str, str]]) -> None:
        self._patterns, self._known = patterns, known
        self._numbers: dict[str, int] = {}
        self._first = 1
        self._value = 0
        self.places: list[Place] = []

    def scrub(self, values: Sequence[Json]) -> list[Json]:
        texts = (text for value in values for text in _texts(value))
        # A record that was scrubbed before contains placeholders.
        numbers = (int(number) for text in texts for number in _NUMBERED.findall(text))
        self._first = 1 + max(numbers, default=0)
        return [self._whole(number, value) for number, value in enumerate(values)]

    def _whole(self, number: int, value: Json) -> Json:
        self._value = number
        if isinstance(value, list):
            value = deepcopy(value)
            self._join(value)
        return self._scrubbed(value, "$")

    def _scrubbed(self, value: Json, path: str) -> Json:
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return [self._scrubbed(item, f"{path}[{index}]") for index, item in enumerate(value)]
        if isinstance(value, dict):
            return self._object(value, path)
        return value

    def _object(self, value: dict[str, Json], path: str) -> Json:
        """Return an object without secrets. An object with `name` and `value` is a field with this name, too."""
        scrubbed: dict[str, Json] = {}
        is_map = _MAP.fullmatch(path.rpartition(".")[2]) is not None
        name = value.get("name", value.get("key"))
        for key, item in value.items():
            written = self._text(key, path)
            scrubbed[written] = self._field(key, item, f"{path}.{written}", is_map=is_map)
            if key == "value" and isinstance(name, str):
                scrubbed[written] = self._field(name, scrubbed[written], f"{path}.{written}", is_map=True)
        return scrubbed

    def _field(self, name: str, value: Json, path: str, *, is_map: bool) -> Json:
        if isinstance(value, str) and is_literal(value, name) and _is_field(name, value, is_map=is_map):
            if _NUMBERED.search(value):
                return self._scrubbed(value, path)
            return self._placeholder(value, path, FIELD)
        if isinstance(value, list) and is_secret(name):
            return [self._field(name, item, f"{path}[{index}]", is_map=is_map) for index, item in enumerate(value)]
        return self._scrubbed(value, path)

    def _text(self, text: str, path: str) -> str:
        pieces, end = [], 0
        for match in self._matches(text):
            pieces += [text[end : match.start], self._replaced(text, match, path)]
            end = match.end
        return "".join([*pieces, text[end:]]) if pieces else text

    def _replaced(self, text: str, match: _Match, path: str) -> str:
        return self._placeholder(text[match.start : match.end], path, match.kind)

    def _placeholder(self, secret: str, path: str, kind: str) -> str:
        self.places.append(Place(self._value, path, kind))
        number = self._numbers.setdefault(secret, self._first + len(self._numbers))
        return f"{PLACEHOLDER}{number}"

    def _matches(self, text: str) -> list[_Match]:
        """Return the secrets in a text, in order. Overlapping matches are merged."""
        merged: list[_Match] = []
        for match in sorted(self._all_matches(text)):
            if merged and match.start < merged[-1].end:
                first = merged[-1]
                merged[-1] = _Match(first.start, max(first.end, match.end), first.kind)
            else:
                merged.append(match)
        return merged

    def _all_matches(self, text: str) -> Iterator[_Match]:
        for secret, kind in self._known:
            if secret in text:
                for match in re.finditer(re.escape(secret), text):
                    yield _Match(match.start(), match.end(), kind)
        for pattern in self._patterns:
            if pattern.hint in text:
                for match in pattern.expression.finditer(text):
                    span = pattern.find(match)
                    if span is not None and span[0] < span[1] and not _NUMBERED.search(text, *span):
                        yield _Match(*span, pattern.name)

    # -- streams -------------------------------------------------------------------------------------------------------

    def _join(self, events: list[Json]) -> None:
        """Replace the secrets that are split over several events of a stream, in place."""
        for path, pieces in split_texts(events):
            text = "".join(piece.text for piece in pieces)
            replaced = [(match, self._replaced(text, match, path)) for match in self._matches(text)]
            # From the last to the first: the offsets of the others stay valid.
            for match, placeholder in reversed(replaced):
                put(pieces, match.start, match.end, placeholder)
            for piece in pieces:
                piece.container[piece.key] = piece.text


def _texts(value: Json) -> Iterator[str]:
    """Yield every text and every key of a JSON value."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            stack += item.values()
        elif isinstance(item, list):
            stack += item
