"""The work on one shard: read it, apply the operation to its rows, and write its outputs.

Each output is written to a temporary file and renamed, the report last. So a shard is finished if its report exists,
and a killed process leaves only temporary files. The outputs depend only on the shard and the job: a repeated shard has
the same outputs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from contentmodel.batches import FORMATS
from contentmodel.datasets.arrow import MAKERS, MAPS, BatchFunction, KeyedMaps, texts_of
from contentmodel.datasets.engines import count_rows
from contentmodel.datasets.errors import JobError
from contentmodel.datasets.inputs import PARQUET, PAYLOAD, Place, Shard, batches_of
from contentmodel.datasets.reports import Report
from contentmodel.datasets.rows import MAX_BYTES, Row
from contentmodel.errors import ContentModelError
from contentmodel.json import write

Command: TypeAlias = Literal["convert", "check", "stats"]
Format: TypeAlias = Literal["parquet", "jsonl"]

DATA, ERRORS, REPORTS, DRAFTS = "data", "errors", "reports", ".drafts"
"""The folders of a job's output."""
_SOURCE_SHOWN = 1 << 20
"""The largest payload, in bytes, that is copied to the file of errors."""
_GROUP_BYTES = 64 << 20
"""The size of a row group of Parquet, before compression."""


class Settings(msgspec.Struct, frozen=True):
    """The settings of a job. `options` are the parameters of the function of `command`, without column and key."""

    command: Command
    options: dict[str, Any]
    column: str | None = None
    key: str | None = None
    format: Format = "parquet"
    shard_rows: int = 10_000
    max_bytes: int = MAX_BYTES


class ShardJob:
    """Work on shards of a job. Picklable: engines pass it to their workers, and call it with each shard."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder

    def __call__(self, shard: Shard) -> Report:
        """Write the outputs of a shard, and return its report. Raise JobError with the file if that is not possible."""
        try:
            return self._run(shard)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise JobError(f"{shard.path}, after row {shard.first:,}: {error}") from None

    def _run(self, shard: Shard) -> Report:
        began = time.perf_counter()
        report, function = Report(), self.function(shard)
        batches = batches_of(shard, self.settings.column, self.settings.key, self.settings.max_bytes)
        with (
            self._draft(self.data_path(shard)) as data,
            self._draft(self.folder / ERRORS / f"{shard.name}.jsonl") as errors,
            self._writer(data, function, next(batches).batch) as writer,
            _Failures(errors, shard, self.settings.key) as failures,
            self._draft(self.folder / MAPS / f"{shard.name}.jsonl") as maps,
        ):
            for place in batches:
                payloads = list(function.payloads(place.batch))
                rows = function.results(payloads, self._keys(place, shard))
                writer.write(place.batch, rows)
                _write_maps(maps, rows)
                count_rows(len(rows))
                for at, row in enumerate(rows):
                    report.add_row(row)
                    if row.error is not None:
                        failures.write(place, at, payloads[at], row.error)
        report.seconds = time.perf_counter() - began
        report.data_bytes = self.data_path(shard).stat().st_size
        with self._draft(self.report_path(shard)) as path:
            path.write_bytes(msgspec.json.encode(report))
        return report

    def _keys(self, place: Place, shard: Shard) -> list[str | None]:
        """Return the keys of rows: those of the column, or the numbers of the file and of the row."""
        if self.settings.key is not None:
            return texts_of(place.batch.column(self.settings.key))
        return [f"f{int(shard.name.partition('-')[0])}-r{number}" for number in place.numbers]

    def function(self, shard: Shard) -> BatchFunction:
        """Return the function of the batches of a shard."""
        settings = self.settings
        is_lines = not shard.path.lower().endswith(PARQUET)
        return MAKERS[settings.command](
            **settings.options,
            column=PAYLOAD if is_lines else settings.column,
            key=settings.key or ("row" if is_lines else None),
            max_bytes=settings.max_bytes,
        )

    def check(self) -> None:
        """Raise UnknownApiError or ValueError if the settings are wrong for every row."""
        MAKERS[self.settings.command](**self.settings.options)

    def is_done(self, shard: Shard) -> bool:
        """Return whether the outputs of a shard are complete. Raise JobError if its results are cut off."""
        data = self.data_path(shard)
        if not self.report_path(shard).exists() or not data.exists():
            return False
        size, wanted = data.stat().st_size, self.report_of(shard).data_bytes
        if size != wanted:
            raise JobError(f"{data} has {size:,} bytes, and its report counts {wanted:,}: remove it to write it again")
        return True

    def data_path(self, shard: Shard) -> Path:
        """Return the path of the results of a shard."""
        return self.folder / DATA / f"{shard.name}.{self.settings.format}"

    def report_path(self, shard: Shard) -> Path:
        """Return the path of the report of a shard."""
        return self.folder / REPORTS / f"{shard.name}.json"

    def report_of(self, shard: Shard) -> Report:
        """Return the report of a finished shard. Raise JobError if it is damaged."""
        path = self.report_path(shard)
        try:
            return msgspec.json.decode(path.read_bytes(), type=Report)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise JobError(f"{path}: not the report of a shard: {error}: remove it to do the shard again") from None

    def _draft(self, path: Path) -> AbstractContextManager[Path]:
        return draft_of(path, self.folder)

    def _writer(self, path: Path, function: BatchFunction, empty: pa.RecordBatch) -> _ParquetRows | _JsonRows:
        if self.settings.format == "jsonl":
            return _JsonRows(path, function, self.settings)
        return _ParquetRows(path, function, empty)


@contextmanager
def draft_of(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the path of a temporary file. When the block succeeds, rename the file, if there is one, to `path`."""
    drafts = folder / DRAFTS
    drafts.mkdir(parents=True, exist_ok=True)
    draft = drafts / f"{path.name}.{uuid4().hex}"
    try:
        yield draft
        if draft.exists():
            with open(draft, "rb+") as file:
                os.fsync(file.fileno())
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


class _ParquetRows:
    """Write batches with their results to a Parquet file."""

    def __init__(self, path: Path, function: BatchFunction, empty: pa.RecordBatch) -> None:
        self._function = function
        self._schema = function.schema(empty.schema)
        self._file = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._pending: list[Any] = []

    def write(self, batch: pa.RecordBatch, rows: Sequence[Row]) -> None:
        self._pending.append(self._function.with_rows(batch, rows))
        if sum(part.nbytes for part in self._pending) > _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        # Each written table is a row group.
        self._file.write_table(pa.Table.from_batches(self._pending, self._schema))
        self._pending.clear()

    def __enter__(self) -> _ParquetRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._file.close()


class _JsonRows:
    """Write results to a file of JSON Lines: converted payloads without those that failed, or all other results.

    With a key, a payload is in an object with its key, unless it is a line of a batch.
    """

    def __init__(self, path: Path, function: BatchFunction, settings: Settings) -> None:
        self._file = open(path, "wb")  # noqa: SIM115
        self._function = function
        self._settings = settings

    def write(self, batch: pa.RecordBatch, rows: Sequence[Row]) -> None:
        key = self._settings.key
        if self._settings.command == "convert":
            key = None if self._settings.options.get("target") in FORMATS else key  # A line of a batch has its own.
            names = [None] * len(rows) if key is None else batch.column(key).to_pylist()
            lines = (_line_of(row, key, name) for row, name in zip(rows, names, strict=True) if row.error is None)
        else:
            column_names = self._function.key or batch.schema.names
            keys = batch.select(list(column_names)).to_pylist()
            lines = (
                write({**columns, **row.values, "error": row.error, "api": row.api})
                for columns, row in zip(keys, rows, strict=True)
            )
        self._file.writelines(line + b"\n" for line in lines)

    def __enter__(self) -> _JsonRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _line_of(row: Row, key: str | None, name: object) -> bytes:
    """Return a converted payload as one line, in an object if there is a key. A text of several lines is a string."""
    text: str = row.values["payload"]
    payload = write(text) if "\n" in text else text.encode()
    return payload if key is None else b'{%b:%b,"payload":%b}' % (write(key), write(name), payload)


def _write_maps(path: Path, rows: Sequence[Row]) -> None:
    """Add the maps of converted requests to a file. Without any, there is no file."""
    lines = [KeyedMaps(*row.maps) for row in rows if row.maps is not None]
    if lines:
        with open(path, "ab") as file:
            file.write(msgspec.json.Encoder().encode_lines(lines))


class _Failures:
    """Write the rows that failed to a file of JSON Lines. Without any, there is no file."""

    def __init__(self, path: Path, shard: Shard, key: str | None) -> None:
        self._path = path
        self._shard = shard
        self._key = key
        self._file: IO[bytes] | None = None

    def write(self, place: Place, at: int, payload: object, error: str) -> None:
        if self._file is None:
            self._file = open(self._path, "wb")  # noqa: SIM115
        key = {} if self._key is None else {"key": place.batch.column(self._key)[at].as_py()}
        row = {"file": self._shard.path, "row": place.numbers[at], **key, "error": error, "source": _shown(payload)}
        self._file.write(write(row) + b"\n")

    def __enter__(self) -> _Failures:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _shown(payload: Any) -> str | None:
    """Return the text of a payload that failed; None if it is too large or not JSON."""
    try:
        text = payload if isinstance(payload, bytes) else write(payload)
    except ContentModelError:
        return None
    return None if len(text) > _SOURCE_SHOWN else text.decode("utf-8", "backslashreplace")
