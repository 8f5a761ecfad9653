"""Values that are left in scrubbed records, and look random: secrets in no known format, or ids and hashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contentmodel.json import Json, JsonObject
from contentmodel_conformance.captures.pieces import split_texts
from contentmodel_conformance.captures.secret_names import is_random, words_of

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,256}={0,2}(?![A-Za-z0-9+/_-])")
"""A longer text is media, or encrypted."""
_MEDIA = re.compile(r"data:[^,\s]{0,100},\S+")
_WORD = re.compile(r"[A-Za-z0-9+_-]+")
_ID = re.compile(
    r"(?:call|toolu|tooluse|srvtoolu|mcptoolu|msg|resp|rs|fc|fco|fs|ws|ci|ig|mcp[lr]?|chatcmpl|cmpl|req|file|gen|run|step"
    r"|thread|asst|item|vs|batch|container|conv|response|fp|eval|ft|modr|snapshot|cfile|cntr|user|collection|SCRUBBED)[-_].*",
    re.DOTALL,
)
_FORMAT = re.compile(
    r"(?:.*_)?(?:ids?|signature|encrypted_(?:content|index)|redacted_content|data|bytes|blob|b64|result|fingerprint|hash|digest"
    r"|etag|created|created_at|obfuscation|cache_key|token)"
)
"""Fields with random values that formats need."""


class Unknown(NamedTuple):
    """A value that looks random, with its places: the ids of records, and JSON paths."""

    value: str
    places: list[tuple[str, str]]

    @property
    def masked(self) -> str:
        """The value without its middle: "ab12…ef (40 characters)"."""
        return f"{self.value[:4]}…{self.value[-2:]} ({len(self.value)} characters)"


def unknown_in(records: Iterable[JsonObject], known: Iterable[JsonObject] = ()) -> list[Unknown]:
    """Return the values of records that look random, in order. Those that `known` records have, too, are left out."""
    old = {value for record in known for _, value in _values(record)}
    unknown: dict[str, Unknown] = {}
    for record in records:
        for path, value in _values(record):
            if value not in old:
                places = unknown.setdefault(value, Unknown(value, [])).places
                if (place := (str(record["id"]), path)) not in places:
                    places.append(place)
    return list(unknown.values())


def _values(record: JsonObject) -> Iterator[tuple[str, str]]:
    body = record["body"]
    split = (
        [(path, "".join(piece.text for piece in pieces)) for path, pieces in split_texts(body)]
        if isinstance(body, list)
        else []
    )
    for path, text in [*split, *_texts(body, "$")]:
        if not _FORMAT.fullmatch(words_of(path.rpartition(".")[2])):
            yield from ((path, run) for run in _RUN.findall(_MEDIA.sub(" ", text)) if _is_unknown(run))


def _texts(value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}")


def _is_unknown(run: str) -> bool:
    """Return whether a text looks random: as a whole, and the longest part of it that is no name of a folder."""
    return not _ID.fullmatch(run) and is_random(run) and is_random(max(_WORD.findall(run), key=len), 12)
