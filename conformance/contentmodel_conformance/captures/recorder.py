"""Convert entries of captures to recorded traffic without secrets and duplicates: one file for each API and kind."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from contentmodel.cli.output import open_output
from contentmodel.json import JsonObject, canonical, write
from contentmodel_conformance.captures.drafts import drafts_of
from contentmodel_conformance.captures.entries import CaptureError, Damaged, Entry, Exchange, OwnRecord
from contentmodel_conformance.captures.reading import read_records
from contentmodel_conformance.captures.review import Unknown, unknown_in
from contentmodel_conformance.captures.scrubbing import Scrubber
from contentmodel_conformance.captures.secret_names import is_secret_header
from contentmodel_conformance.recordings import RECORD_KINDS, folder_of_files

LARGEST_BODY = 16 * 2**20
"""The default of the maximum size of a body, in bytes."""

DUPLICATE = "a duplicate of another record"
UNKNOWN = "unknown value"

Files = dict[tuple[str, str], list[JsonObject]]
"""Records by API and kind."""


class Summary(msgspec.Struct, kw_only=True):
    """The counts of a recording.

    `records` counts the records by API and kind. `skipped` counts exchanges, answers and duplicates by reason,
    `left_out` the headers with credentials, and `scrubbed` the replaced secrets, by kind. `places` counts them by the
    id of the record, JSON path and kind.
    """

    exchanges: int = 0
    records: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    scrubbed: Counter[str] = msgspec.field(default_factory=Counter)
    places: Counter[tuple[str, str, str]] = msgspec.field(default_factory=Counter)


class Recorder:
    """Convert entries to records.

    Add all entries, then call `finish`, which scrubs them: a secret of one entry may be in the payload of another.
    `patterns` are the user's regular expressions for secrets. Bodies of more than `largest` bytes are skipped.
    """

    def __init__(self, patterns: Iterable[re.Pattern[str]] = (), largest: int = LARGEST_BODY) -> None:
        self._scrubber = Scrubber(patterns)
        self._largest = largest
        self._drafts: list[list[JsonObject]] = []
        """A list of records for each entry. The records of one entry may share secrets."""
        self._kept: list[JsonObject] = []
        self.summary = Summary()

    def add(self, entry: Entry) -> str | None:
        """Add an entry. Return the reason if it, or its answer, is skipped.

        Raise CaptureError if the entry is damaged, and MissingExtraError if its encoding needs an extra.
        """
        self.summary.exchanges += 1
        if isinstance(entry, Exchange):
            return self._add(entry)
        if isinstance(entry, Damaged):
            raise CaptureError(entry.reason)
        self.keep(entry)
        return None

    def keep(self, record: OwnRecord) -> None:
        """Add a record without counting it."""
        self._drafts.append([record.data])

    def keep_written(self, record: OwnRecord) -> None:
        """Add a record that is in the output folder. Its unknown values were reviewed when it was written."""
        self.keep(record)
        self._kept.append(record.data)

    def unknown(self, files: Files) -> list[Unknown]:
        """Return the values of finished records that look random, without those of records that were written before."""
        return unknown_in((record for records in files.values() for record in records), self._kept)

    def scrub_values(self, values: Iterable[str]) -> None:
        """Treat values as secrets. Call `finish` again to replace them."""
        self._scrubber.know(values, UNKNOWN)

    def _add(self, exchange: Exchange) -> str | None:
        drafts = drafts_of(exchange, self._largest)
        self._scrubber.learn(exchange, cookies=bool(drafts.records))
        if drafts.records:
            self._drafts.append(drafts.records)
            names = [name for message in (exchange.request, exchange.answer) for name, _ in message.headers]
            self.summary.left_out += Counter(f"header {name.lower()}" for name in names if is_secret_header(name))
        if drafts.skipped is not None:
            self.summary.skipped[drafts.skipped] += 1
        return drafts.skipped

    def finish(self) -> Files:
        """Return the records without secrets and duplicates, by API and kind, sorted by id."""
        best: dict[tuple[str, str, str], JsonObject] = {}
        ids: dict[str, str] = {}
        duplicates = 0
        self.summary.places.clear()
        for record in (record for draft in self._drafts for record in self._scrubbed(draft, ids)):
            key = (record["api"], record["kind"], canonical(record["body"]))
            if key in best:
                duplicates += 1
            best[key] = min(best.get(key, record), record, key=_rank)
        files: Files = {}
        for record in sorted(best.values(), key=lambda record: str(record["id"])):
            if record.get("request_id") in ids:
                record["request_id"] = ids[record["request_id"]]
            files.setdefault((record["api"], record["kind"]), []).append(record)
        self.summary.records = Counter({owner: len(records) for owner, records in sorted(files.items())})
        self.summary.skipped += Counter({DUPLICATE: duplicates - self.summary.skipped[DUPLICATE]})
        self.summary.scrubbed = Counter()
        for (_, _, kind), count in self.summary.places.items():
            self.summary.scrubbed[kind] += count
        return files

    def _scrubbed(self, records: list[JsonObject], ids: dict[str, str]) -> Iterator[JsonObject]:
        """Yield the records of one entry without secrets. Add the new id of each record whose id changes to `ids`."""
        values = [value for record in records for value in (record["body"], _others(record))]
        before = [canonical(record["body"]) for record in records]
        scrubbed = self._scrubber.scrub(values)
        places = self._scrubber.places
        request_id = None
        numbered = zip(records, before, scrubbed[::2], scrubbed[1::2], strict=True)
        for number, (record, text, body, others) in enumerate(numbered):
            clean = {"id": record.get("id"), **record, **others, "body": body}
            if "id" not in record or canonical(body) != text:
                clean["id"] = _id_of(clean)
                if "id" in record:
                    ids[str(record["id"])] = clean["id"]
            if "id" not in record and clean["kind"] == "request":
                request_id = clean["id"]
            elif request_id is not None:
                clean["request_id"] = request_id
            own_places = (place for place in places if place.number // 2 == number)
            self.summary.places.update((str(clean["id"]), place.path, place.kind) for place in own_places)
            yield clean


_STRUCTURE = frozenset({"id", "api", "kind", "status", "request_id", "body"})


def _others(record: JsonObject) -> JsonObject:
    """Return the fields that may contain secrets, without the body."""
    return {key: value for key, value in record.items() if key not in _STRUCTURE}


def _rank(record: JsonObject) -> tuple[Any, ...]:
    """Return the sort key of records with the same body: accepted ones of own hosts first. The first record is kept."""
    return (record.get("status") or 200, record.get("dialect") is not None, write(record))


def _id_of(record: JsonObject) -> str:
    digest = hashlib.sha256(canonical(record["body"]).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{record['api']}-{record['kind']}-{digest[:12]}"


# -- the folder --------------------------------------------------------------------------------------------------------


def records_in(folder: Path) -> Iterator[tuple[Path, Entry]]:
    """Yield the records of a corpus, each with its file. The folder may be missing."""
    for path in sorted(folder_of_files(folder).glob("*.jsonl")):
        if path.name.removesuffix(".jsonl").rpartition(".")[2] in RECORD_KINDS:
            for entry in read_records(path.read_bytes(), path.name):
                yield path, entry


def write_records(files: Files, folder: Path) -> list[Path]:
    """Write records into a folder, which is created if it is missing. Return the files that changed.

    Others cannot read new files and folders. Files that exist keep their permissions.
    """
    folder = folder_of_files(folder)
    changed = []
    with _private():
        folder.mkdir(parents=True, exist_ok=True)
        for (api, kind), records in files.items():
            path = folder / f"{api}.{kind}.jsonl"
            text = b"".join(write(record) + b"\n" for record in records)
            if not path.exists() or path.read_bytes() != text:
                with open_output(str(path)) as write_text:
                    write_text(text)
                changed.append(path)
    return changed


@contextmanager
def _private() -> Iterator[None]:
    """Create files and folders that only their owner can use."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
