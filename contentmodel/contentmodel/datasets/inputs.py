"""The input files of a job, their division into shards, and the rows of a shard.

A shard is a range of rows of one file. Its batches are read one after the other, so that memory does not grow with the
size of the file.
"""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from contentmodel.datasets.errors import JobError
from contentmodel.errors import DecodeError
from contentmodel.json import parse, write

LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".zst", ".bz2", ".lz4")
"""The endings of compressed JSON Lines. pyarrow reads them."""

BATCH_ROWS = 500
_BATCH_BYTES = 16 << 20
_COPIED = 1 << 20
_BLANK_LINES = 1_000_000
"""The largest number of blank lines in a row. Some kilobytes of compressed data expand to millions of them."""


class File(msgspec.Struct, frozen=True):
    """An input file. Its size and time show whether it changed since the job began."""

    path: str
    size: int
    modified: int

    @property
    def is_parquet(self) -> bool:
        return self.path.lower().endswith(PARQUET)


class Shard(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range of rows of a file: `rows` rows after the first `first` ones. If `rows` is None, all rows that follow.

    `name` is the name of its outputs. For JSON Lines, `offset` is the position of its first line. `size` is in bytes.
    """

    name: str
    path: str
    first: int
    rows: int | None
    size: int
    offset: int = 0


class Place(NamedTuple):
    """A batch of a shard, and the number of each of its rows in the file, which begin with 1."""

    batch: pa.RecordBatch
    numbers: Sequence[int]


# -- files -------------------------------------------------------------------------------------------------------------


def find_files(inputs: Sequence[str]) -> list[File]:
    """Return the files of paths, folders and glob patterns, in order and without duplicates.

    A folder stands for its JSON Lines and Parquet files, those of subfolders included. Hidden files, and files whose
    name begins with `_`, are left out. Raise JobError if an input has no files, and FileNotFoundError if it is missing.
    """
    paths = dict.fromkeys(os.path.abspath(path) for name in inputs for path in _paths_of(name))
    return [_file(path) for path in paths]


def _file(path: str) -> File:
    status = os.stat(path)
    return File(path, status.st_size, status.st_mtime_ns)


def _paths_of(name: str) -> list[str]:
    if os.path.isdir(name):
        folder = Path(name)
        if folder.joinpath("manifest.json").is_file() and folder.joinpath("data").is_dir():
            # The output of a job: its reports and maps are no rows.
            folder = folder / "data"
        paths = sorted(str(path) for path in folder.rglob("*") if path.is_file() and _is_data(path, folder))
    elif not os.path.exists(name) and glob.has_magic(name):
        paths = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    else:
        return [name]
    if not paths:
        raise JobError(f"{name}: no files that end in {', '.join((*LINES, *PARQUET))}, or in these and .gz or .zst")
    return paths


def _is_data(path: Path, folder: Path) -> bool:
    if any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
        return False
    name = path.name.lower()
    stem = next((name.removesuffix(ending) for ending in COMPRESSED if name.endswith(ending)), name)
    return name.endswith(PARQUET) or stem.endswith(LINES)


# -- shards ------------------------------------------------------------------------------------------------------------


def divide(files: Sequence[File], rows: int) -> Iterator[Shard]:
    """Yield the shards of files, of about `rows` rows each. The same files give the same shards.

    A shard of Parquet has whole row groups, unless a group has more rows. Compressed lines are one shard: they can only
    be read from their beginning.
    """
    for number, file in enumerate(files):
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", Path(file.path).name)[:60]
        for first, count, offset, size in _ranges(file, rows):
            yield Shard(f"{number:05}-{stem}-{first:010}", file.path, first, count, size, offset)


def _ranges(file: File, rows: int) -> Iterator[tuple[int, int | None, int, int]]:
    """Yield the ranges of a file: the number of rows before each, its rows, its offset and its size."""
    if file.is_parquet:
        yield from _ranges_of_groups(file, rows)
    elif file.path.lower().endswith(COMPRESSED):
        yield 0, None, 0, file.size
    else:
        yield from _ranges_of_lines(file.path, rows)


def _ranges_of_groups(file: File, rows: int) -> Iterator[tuple[int, int, int, int]]:
    with _opened_parquet(file.path) as opened:
        metadata = opened.metadata
    width = file.size / max(metadata.num_rows, 1)
    first = pending = 0
    for index in range(metadata.num_row_groups):
        size = metadata.row_group(index).num_rows
        if pending and pending + size > rows:
            yield first, pending, 0, int(width * pending)
            first, pending = first + pending, 0
        pending += size
        while pending > rows:
            yield first, rows, 0, int(width * rows)
            first, pending = first + rows, pending - rows
    if pending:
        yield first, pending, 0, int(width * pending)


def _ranges_of_lines(path: str, rows: int) -> Iterator[tuple[int, int, int, int]]:
    first = offset = 0
    with open(path, "rb") as file:
        while True:
            count = size = 0
            for line in islice(_pieces(file), rows):
                count, size = count + 1, size + line
            if not count:
                return
            yield first, count, offset, size
            first, offset = first + count, offset + size


def _pieces(file: Any) -> Iterator[int]:
    """Yield the length of each line. A long line is not read at once."""
    while line := file.readline(_COPIED):
        size = len(line)
        while len(line) == _COPIED and not line.endswith(b"\n"):
            line = file.readline(_COPIED)
            size += len(line)
        yield size


def _opened_parquet(path: str) -> Any:
    try:
        # With a buffer, a large row group is read in parts.
        return pq.ParquetFile(path, buffer_size=_COPIED)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise JobError(f"{path}: not a Parquet file, or damaged: {error}") from None


# -- rows --------------------------------------------------------------------------------------------------------------

PAYLOAD = "_payload"
"""The column of the payloads of JSON Lines."""


def batches_of(shard: Shard, column: str | None, key: str | None, max_bytes: int) -> Iterator[Place]:
    """Yield the batches of a shard. The first one is empty: it has the columns of all.

    The batches of Parquet have the columns of the file, or only `column` and `key` if both are given. Those of JSON
    Lines have the column `key` (this field as text) or, without a key, `row` (the number of the line); and `PAYLOAD`:
    the line, or its field `column`.
    """
    if shard.path.lower().endswith(PARQUET):
        yield from _batches_of_groups(shard, None if None in (column, key) else [str(column), str(key)])
    else:
        yield from _batches_of_lines(shard, column, key, max_bytes)


def _batches_of_groups(shard: Shard, columns: list[str] | None) -> Iterator[Place]:
    with _opened_parquet(shard.path) as file:
        schema = file.schema_arrow
        if columns is not None:
            columns = list(dict.fromkeys(name for name in columns if name in schema.names))
            schema = pa.schema([schema.field(name) for name in columns])
        last = shard.first + (shard.rows or 0)
        groups: list[int] = []
        begin = at = 0
        for index in range(file.metadata.num_row_groups):
            size = file.metadata.row_group(index).num_rows
            if at < last and at + size > shard.first:
                begin = begin if groups else at
                groups.append(index)
            at += size
        at = begin
        yield Place(pa.RecordBatch.from_pylist([], schema=schema), ())
        for batch in _read_batches(file, groups, columns, shard.path):
            start, stop = max(shard.first - at, 0), min(last - at, batch.num_rows)
            if start < stop:
                yield Place(batch.slice(start, stop - start), range(at + start + 1, at + stop + 1))
            at += batch.num_rows


def _read_batches(file: Any, groups: list[int], columns: list[str] | None, path: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of row groups. Raise JobError with the file if it is damaged."""
    try:
        yield from file.iter_batches(BATCH_ROWS, groups, columns)
    except (OSError, pa.ArrowException) as error:
        raise JobError(f"{path}: the Parquet file is damaged: {error}") from None


def _batches_of_lines(shard: Shard, column: str | None, key: str | None, max_bytes: int) -> Iterator[Place]:
    schema = pa.schema([("row", pa.int64()) if key is None else (key, pa.string()), (PAYLOAD, pa.large_binary())])
    yield Place(pa.RecordBatch.from_pylist([], schema=schema), ())
    for lines in _grouped(lines_of(shard, max_bytes)):
        numbers = [number for number, _ in lines]
        fields = [_fields_of(line, column, key) for _, line in lines]
        names = numbers if key is None else [name for _, name in fields]
        arrays = [
            pa.array(names, schema.field(0).type),
            pa.array([payload for payload, _ in fields], pa.large_binary()),
        ]
        yield Place(pa.RecordBatch.from_arrays(arrays, schema=schema), numbers)


Line: TypeAlias = tuple[int, bytes]
"""A line and its number in the file, which begins with 1."""


def _grouped(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Yield lists of lines that are limited in number and size."""
    group: list[Line] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line[1])
        if len(group) >= BATCH_ROWS or size >= _BATCH_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def lines_of(shard: Shard, max_bytes: int) -> Iterator[Line]:
    """Yield the lines of a shard that are not blank. Lines are cut one byte after the limit, to detect long ones."""
    with _opened_lines(shard) as file:
        number = shard.first
        last = None if shard.rows is None else shard.first + shard.rows
        filled = number
        while number != last and (line := file.readline(max_bytes + 1)):
            number += 1
            if len(line) > max_bytes:
                _skip_line(file, line)
            if line.strip():
                filled = number
                yield number, line.rstrip(b"\r\n")
            elif number - filled > _BLANK_LINES:
                raise JobError(f"{shard.path}: more than {_BLANK_LINES:,} blank lines after line {filled:,}")


def _skip_line(file: Any, read: bytes) -> None:
    """Skip the rest of a line."""
    while read and not read.endswith(b"\n"):
        read = file.readline(_COPIED)


def _opened_lines(shard: Shard) -> Any:
    if shard.path.lower().endswith(COMPRESSED):
        return io.BufferedReader(pa.input_stream(shard.path, "detect"), _COPIED)
    file = open(shard.path, "rb")  # noqa: SIM115
    file.seek(shard.offset)
    return file


def _fields_of(line: bytes, column: str | None, key: str | None) -> tuple[bytes | None, str | None]:
    """Return the payload of a line, and its key as text. A line that is not an object is its own payload."""
    if column is None and key is None:
        return line, None
    fields = _fields(line)
    if fields is None:
        return line, None
    payload = line if column is None else bytes(fields[column]) if column in fields else None
    return payload, _key_text(fields.get(key or ""))


def _fields(line: bytes) -> dict[str, msgspec.Raw] | None:
    """Return the fields of a line; None if it is not a JSON object."""
    try:
        return _FIELDS.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # msgspec refuses halves of surrogate pairs, and a byte order mark.
        pass
    try:
        value = parse(line)
    except DecodeError:
        return None
    return {key: msgspec.Raw(write(field)) for key, field in value.items()} if isinstance(value, dict) else None


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _key_text(raw: msgspec.Raw | None) -> str | None:
    if raw is None:
        return None
    text = bytes(raw)
    if not text.startswith(b'"'):
        return text.decode("utf-8", "backslashreplace")
    try:
        return str(msgspec.json.decode(text))
    except (msgspec.MsgspecError, UnicodeError):
        return text.decode("utf-8", "backslashreplace")
