"""Recorded traffic: a folder of JSON Lines, one exchange per line. Invalid lines are listed with file and line.

A record has `id`, `api`, `kind` ("request", "response", "stream" or "error"), `status` and `body`. The body of a stream
is the list of its events, `{"event"?, "data"}`. Other fields are optional. Files are named
`<api>.<kind>.jsonl`, in the folder or in its subfolder `recorded`. Those of a host in `HOSTS` have its name in place of
the API's.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from contentmodel.adapter import adapters
from contentmodel.errors import ContentModelError
from contentmodel.framing import StreamFormat, stream_format_of
from contentmodel_conformance.streams import frames_of

HOSTS = {"anthropic-messages": {"bedrock-anthropic-invoke": "bedrock"}}
"""The names of files of hosts that have paths of their own, by API, with the dialect of the host."""

RECORD_KINDS = ("request", "response", "stream", "error")
"""The kinds of records."""


class CorpusError(ContentModelError, ValueError):
    """Raised if a folder has no recorded traffic."""


class Record:
    """One recorded exchange: `source` is its file and line, `data` the JSON object there, `api` the API of the file."""

    def __init__(self, source: str, data: dict[str, Any], api: str) -> None:
        self.api = api
        self.source = f"{source} ({data['id']})" if "id" in data else source
        self.data = data
        self.id: str = str(data.get("id", source))
        self.kind: str = data["kind"]
        self.body: Any = data["body"]
        self.status: int | None = data.get("status")
        self.model: str | None = data.get("model")

    @property
    def accepted(self) -> bool:
        """True if the provider accepted it: its status is 200 or missing."""
        return self.status in (200, None)

    # -- streams -------------------------------------------------------------------------------------------------------

    @property
    def stream_format(self) -> StreamFormat:
        """The format of a stream: that of the API, or of the host."""
        dialect = self.data.get("dialect")
        policies = {"dialect": str(dialect)} if dialect in HOSTS.get(self.api, {}).values() else None
        return stream_format_of(adapters().get(self.api), policies)

    @cached_property
    def frames(self) -> list[bytes]:
        """The events of a stream as bytes, in its format."""
        return frames_of(self.body, self.stream_format)

    @cached_property
    def raw(self) -> bytes:
        """The bytes of a stream."""
        return b"".join(self.frames)

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The events of a stream that are JSON objects."""
        return [event["data"] for event in self.body if isinstance(event["data"], dict)]

    def places(self, count: int) -> list[int]:
        """Return offsets to cut the bytes at, between and inside events; the same in every run."""
        chance = random.Random(self.id)
        ends = [0]
        for frame in self.frames:
            ends.append(ends[-1] + len(frame))
        inside = [chance.randrange(1, len(self.raw)) for _ in range(count)] if len(self.raw) > 1 else []
        return sorted({*chance.sample(ends, min(count, len(ends))), *inside})


INNER = "recorded"
"""The name of the subfolder that may have the files."""


def folder_of_files(folder: Path) -> Path:
    """Return the folder of the files of a corpus: its subfolder `recorded` if it has one, else the folder itself."""
    inner = folder / INNER
    return inner if inner.is_dir() else folder


class Recordings:
    """The recorded traffic in a folder. Raises CorpusError if there are no files."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._files = sorted(folder_of_files(self.folder).glob("*.jsonl"))
        if not self._files:
            inner = self.folder / INNER
            raise CorpusError(f"no recorded traffic in {self.folder}: expected files *.jsonl there, or in {inner}")
        self._read: dict[tuple[str, str], list[Record]] = {}
        self.bad: dict[str, list[str]] = {}
        """Invalid lines by API, each as "file:line: reason"."""

    def of(self, api: str, *kinds: str) -> list[Record]:
        """Return the records of an API, of these kinds."""
        return [record for kind in kinds for record in self._of(api, kind)]

    def accepted(self, api: str, *kinds: str) -> list[Record]:
        """Return the records that the provider accepted. If `kinds` has "error", all errors are included."""
        return [record for record in self.of(api, *kinds) if record.accepted or record.kind == "error"]

    def _of(self, api: str, kind: str) -> list[Record]:
        if (api, kind) not in self._read:
            hosts = {f"{name}.{kind}.jsonl": dialect for name, dialect in HOSTS.get(api, {}).items()}
            names = {f"{api}.{kind}.jsonl": None, **hosts}
            self._read[api, kind] = [
                record
                for path in self._files
                if path.name in names
                for record in self._lines(path, api, kind, names[path.name])
            ]
        return self._read[api, kind]

    def _lines(self, path: Path, api: str, kind: str, dialect: str | None) -> Iterator[Record]:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{path.name}:{number}"
                try:
                    record = _record(place, line, api, kind)
                    record.data["dialect"] = dialect or record.data.get("dialect")
                    yield record
                except ValueError as error:
                    self.bad.setdefault(api, []).append(f"{place}: {error}")


def _record(place: str, line: bytes, api: str, kind: str) -> Record:
    return Record(place, read_record(line, kind), api)


def read_record(line: bytes, kind: str) -> dict[str, Any]:
    """Return the JSON object of a record of this kind. Raises ValueError with the reason if the line is none."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    if "body" not in data:
        raise ValueError("no body")
    if data.setdefault("kind", kind) != kind:
        raise ValueError(f"its kind is {data['kind']!r}, and this is a file of {kind!r}")
    if kind == "stream":
        _check_events(data["body"])
    return data


def _check_events(body: Any) -> None:
    if not isinstance(body, list):
        raise ValueError("the body of a stream is a list of events")
    for number, event in enumerate(body):
        if not isinstance(event, dict) or not isinstance(event.get("data"), dict | str):
            raise ValueError(f"event {number} has no data: expected an object or a string")
