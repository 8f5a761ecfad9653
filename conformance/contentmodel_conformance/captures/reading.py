"""Find capture files, detect their format, and read their entries."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from contentmodel.compression import UndecodedError
from contentmodel.errors import DecodeError
from contentmodel.framing import BOM
from contentmodel.json import parse
from contentmodel_conformance.captures.bodies import GZIP, decompressed
from contentmodel_conformance.captures.entries import CaptureError, Damaged, Entry, NotACapture, OwnRecord
from contentmodel_conformance.captures.flows import read_flows
from contentmodel_conformance.captures.har import read_har
from contentmodel_conformance.captures.vcr import interactions_of, load_yaml, read_vcr
from contentmodel_conformance.recordings import RECORD_KINDS, read_record

STDIN = "-"
SUFFIXES = frozenset({".har", ".json", ".jsonl", ".yaml", ".yml", ".mitm", ".flow", ".flows", ".dump", ".gz"})
"""The suffixes of the files that are read from a folder."""
LARGEST = 2**31
"""The maximum size of a compressed file after decompression, in bytes."""
_FLOW = re.compile(rb"[0-9]{1,12}:")
_API = re.compile(r"[a-z0-9][a-z0-9-]*")
_YAML = re.compile(rb"(?m)^(interactions|http_interactions|requests):")


def files_of(paths: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the files at the paths, each with False if it was found in a folder. Hidden files there are skipped."""
    files: dict[str, bool] = {}
    for path in paths:
        if path == STDIN or not Path(path).is_dir():
            files[path] = True
            continue
        for file in sorted(Path(path).rglob("*")):
            inner = file.relative_to(path).parts
            is_hidden = any(part.startswith(".") for part in inner)
            if file.suffix.lower() in SUFFIXES and not is_hidden and file.is_file():
                files.setdefault(str(file), False)
    return list(files.items())


def read_capture(path: str) -> Iterator[Entry]:
    """Yield the entries of a file, or of standard input ("-").

    Raise OSError if the file cannot be opened, CaptureError if it is damaged, and its subclass NotACapture if it is in
    another format.
    """
    data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    if data.startswith(GZIP):
        try:
            data = decompressed(data, "gzip", LARGEST)
        except UndecodedError as error:
            raise CaptureError(str(error)) from None
    data = data.removeprefix(BOM)
    if _FLOW.match(data):
        return read_flows(data)
    text = data.lstrip()
    if not text:
        raise NotACapture("the file is empty")
    if text.startswith(b"{"):
        return _read_json(data, Path(path).name)
    if _YAML.search(data):
        return _read_values(load_yaml(data))
    raise NotACapture("neither HAR, nor a VCR cassette, nor flows of mitmproxy, nor recorded traffic")


def _read_json(data: bytes, name: str) -> Iterator[Entry]:
    try:
        value = parse(data)
    except DecodeError as error:
        first = _first_line(data)
        if first is None:
            raise CaptureError(error.faults[0].message) from None
        if not _is_record(first, name):
            raise NotACapture("JSON Lines, but not recorded traffic") from None
        return read_records(data, name)
    return read_records(data, name) if _is_record(value, name) else _read_values(value)


def _read_values(value: Any) -> Iterator[Entry]:
    """Return the entries of a HAR file or of a cassette."""
    if isinstance(value, dict) and "log" in value:
        return read_har(value["log"])
    interactions = interactions_of(value)
    if interactions is None:
        raise NotACapture("JSON, but neither HAR, nor a VCR cassette, nor recorded traffic")
    return read_vcr(interactions)


# -- recorded traffic --------------------------------------------------------------------------------------------------


def _first_line(data: bytes) -> Any:
    """Return the value of the first line; None if it is not JSON."""
    try:
        return parse(data.lstrip().partition(b"\n")[0])
    except DecodeError:
        return None


def _is_record(value: Any, name: str) -> bool:
    return isinstance(value, dict) and "body" in value and _owner(value, name) is not None


def _owner(value: dict[str, Any], name: str) -> tuple[str, str] | None:
    """Return the API and the kind of a record, by default those of the file name, `<api>.<kind>.jsonl`; else None."""
    first, _, rest = name.partition(".")
    api, kind = value.get("api", first), value.get("kind", rest.partition(".")[0])
    return (api, kind) if isinstance(api, str) and _API.fullmatch(api) and kind in RECORD_KINDS else None


def read_records(data: bytes, name: str) -> Iterator[Entry]:
    """Yield the records of JSON Lines. If a record lacks its API or its kind, it gets that of the file name."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield _read_line(line, name, f"line {number}")


def _read_line(line: bytes, name: str, place: str) -> Entry:
    try:
        value = parse(line)
        owner = _owner(value, name) if isinstance(value, dict) else None
        if owner is None:
            return Damaged(
                place=place, reason=f"no record: expected api, body, and a kind, one of {', '.join(RECORD_KINDS)}"
            )
        api, kind = owner
        return OwnRecord(place=place, data={**read_record(line, kind), "api": api})
    except DecodeError as error:
        return Damaged(place=place, reason=error.faults[0].message)
    except ValueError as error:
        return Damaged(place=place, reason=str(error))
