"""Functions of Arrow record batches with one payload per row, which add columns of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from contentmodel.adapter import adapter
from contentmodel.batches import FORMATS
from contentmodel.convert import KINDS
from contentmodel.datasets.rows import (
    MAX_BYTES,
    LossColumn,
    Operation,
    Row,
    audit_row,
    check_row,
    convert_row,
    plan_row,
    row_of,
    show_row,
    statistics_row,
)
from contentmodel.literals import OnLoss, PayloadKind, Policies
from contentmodel.policies import check_choices
from contentmodel.renames import Renames


def _structs(*fields: str, **others: Any) -> Any:
    """Return the type of a list of structs: the `fields` are text."""
    return pa.list_(pa.struct([*((name, pa.string()) for name in fields), *others.items()]))


_COUNTS = _structs("code", count=pa.int64())
_ENDS = (("error", pa.string()), ("api", pa.string()))
"""The columns that every function adds."""
_NUMBERS = ("messages", "turns", "tools", "tool_calls", "input_tokens", "output_tokens")

COLUMNS: dict[str, tuple[tuple[str, Any], ...]] = {
    "convert": (("payload", pa.large_string()), ("losses", _COUNTS), *_ENDS),
    "convert with paths": (
        ("payload", pa.large_string()),
        ("losses", _structs("code", "kind", "path", "what", "why")),
        *_ENDS,
    ),
    "check": (("violations", _structs("path", "rule", "severity", "message", "fix")), *_ENDS),
    "audit": (("unaccounted", _structs("path", "value")), *_ENDS),
    "plan": (
        ("plans", _structs("target", cost=pa.float64(), losses=_COUNTS, violations=pa.list_(pa.string()))),
        *_ENDS,
    ),
    "show": (("text", pa.large_string()), *_ENDS),
    "statistics": (
        ("kind", pa.string()),
        ("model", pa.string()),
        *((name, pa.int64()) for name in _NUMBERS),
        ("contents", _structs("type", count=pa.int64())),
        *_ENDS,
    ),
}
"""The columns of results of each operation: their names and types."""

Key: TypeAlias = str | Sequence[str] | None


class BatchFunction:
    """Apply an operation to each row of a record batch, and add the results as columns. Picklable.

    `operation` gets the payload of a row. `columns` are the names and types of the columns of its results.

    `column` is the column of the payloads. If it is None, the payload is the whole row without the columns of `key`, or
    the value of its only column, if that has text or structs. `key` names the columns of the input that the result
    keeps; None keeps all. A column of results replaces a column of the input with its name.

    A payload is JSON text, or a struct, list or map. Arrow gives all structs of a column the same fields: fields that
    are null are left out.
    """

    def __init__(
        self,
        operation: Operation,
        columns: Iterable[tuple[str, Any]],
        column: str | None = None,
        key: Key = None,
        max_bytes: int = MAX_BYTES,
        *,
        takes_keys: bool = False,
    ) -> None:
        self.operation = operation
        self.takes_keys = takes_keys
        self.columns = tuple(columns)
        self.column = column
        self.key = (key,) if isinstance(key, str) else key if key is None else tuple(key)
        self.max_bytes = max_bytes

    def __call__(self, batch: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
        """Return the batch, or the table, with the columns of results. Raise ValueError if a column is missing."""
        if not isinstance(batch, pa.Table):
            return self.with_rows(batch, self.rows(batch))
        parts = batch.to_batches() or [pa.RecordBatch.from_pylist([], schema=batch.schema)]
        return pa.Table.from_batches([self(part) for part in parts])

    def rows(self, batch: pa.RecordBatch) -> list[Row]:
        """Return the results of each row."""
        keys = texts_of(batch.column(self.key[0])) if self.key is not None and len(self.key) == 1 else None
        return self.results([*self.payloads(batch)], keys)

    def results(self, payloads: Sequence[Any], keys: Sequence[str | None] | None) -> list[Row]:
        """Return the results of payloads, whose rows have these keys."""
        if not self.takes_keys:
            return [row_of(self.operation, payload, self.max_bytes) for payload in payloads]
        named = zip(payloads, keys or [None] * len(payloads), strict=True)
        return [row_of(self.operation, payload, self.max_bytes, key=key) for payload, key in named]

    def payloads(self, batch: pa.RecordBatch) -> Iterator[Any]:
        """Return an iterator over the payloads of the rows. A value that Arrow cannot read is an exception."""
        self._require(batch, *([] if self.column is None else [self.column]), *(self.key or ()))
        names = [name for name in batch.schema.names if name not in (self.key or ())]
        if self.column is not None:
            return payloads_of(batch.column(self.column))
        kind = batch.schema.field(names[0]).type if len(names) == 1 else None
        if kind is not None and (_is_text(kind) or pa.types.is_struct(kind)):
            return payloads_of(batch.column(names[0]))
        return payloads_of(batch.select(names).to_struct_array())

    def with_rows(self, batch: pa.RecordBatch, rows: Sequence[Row]) -> pa.RecordBatch:
        """Return the kept columns of a batch, and the columns of the results."""
        schema = self.schema(batch.schema)
        results = dict(self.columns)
        arrays = [
            _array([_value(row, field.name) for row in rows], field.type)
            if field.name in results
            else batch.column(field.name)
            for field in schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of the output, given that of the input: the kept columns, and those of the results."""
        results = dict(self.columns)
        fields = [field for field in schema if field.name not in results and self._keeps(field.name)]
        return pa.schema([*fields, *(pa.field(name, kind) for name, kind in self.columns)])

    def _keeps(self, name: str) -> bool:
        return self.key is None or name in self.key

    def _require(self, batch: pa.RecordBatch, *names: str) -> None:
        for name in names:
            if name not in batch.schema.names:
                raise ValueError(f"no column {name!r}: the input has {', '.join(batch.schema.names)}")


# -- makers ------------------------------------------------------------------------------------------------------------


def converter(
    *,
    target: str,
    source: str | None = None,
    kind: PayloadKind | None = None,
    column: str | None = None,
    key: Key = None,
    losses: LossColumn = "counts",
    on_loss: OnLoss = "report",
    model: str | None = None,
    policies: Policies | None = None,
    maps: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that converts each row to the API `target`.

    It adds these columns: `payload`, the converted payload as JSON text; `losses`; `error`, a text with a JSON path, or
    null; and `api`, the API of the source. A row with an error is kept, without a payload.

    `losses` are counts by code (structs of `code` and `count`), which take almost no time. With `losses="all"`, they
    are structs of `code`, `kind`, `path`, `what` and `why`. With `on_loss="raise"`, significant losses are an error.

    `column`, `key` and `max_bytes`, the largest size of a JSON text, are those of `BatchFunction`; the other parameters
    are those of `contentmodel.convert`. `source` and `target` may both be formats of batch files
    (`contentmodel.batches.FORMATS`), or `target` alone: each row is a request, and the column `key` has its key. `maps`
    is the output folder of the job that converted the requests: the answers get their ids and names.

    Raise UnknownApiError or ValueError for parameters that are invalid for every row.
    """
    if source in FORMATS:
        if target not in FORMATS:
            raise ValueError(f"{source} is a format of batch files: the target must be one of {', '.join(FORMATS)}")
    else:
        _check(source, None if target in FORMATS else target, kind)
    check_choices(policies, on_loss)
    if losses not in ("counts", "all"):
        raise ValueError(f"losses is {losses!r}: expected 'counts' or 'all'")
    operation = partial(
        convert_row,
        losses=losses,
        source=source,
        target=target,
        kind=kind,
        on_loss=on_loss,
        model=model,
        policies=policies,
        maps=None if maps is None else maps_in(maps),
    )
    columns = COLUMNS["convert with paths" if losses == "all" else "convert"]
    return BatchFunction(operation, columns, column, key, max_bytes, takes_keys=True)


def checker(
    *,
    source: str | None = None,
    column: str | None = None,
    key: Key = None,
    model: str | None = None,
    policies: Policies | None = None,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that checks each request, as `contentmodel.check` does.

    It adds the columns `violations` (structs of `path`, `rule`, `severity`, `message` and `fix`), `error` and `api`.
    `source` may be a format of batch files: the requests in the lines are checked.
    """
    if source not in FORMATS:
        _check(source)
    check_choices(policies, "report")
    operation = partial(check_row, source=source, model=model, policies=policies)
    return BatchFunction(operation, COLUMNS["check"], column, key, max_bytes)


def auditor(
    *,
    target: str,
    source: str | None = None,
    kind: PayloadKind | None = None,
    column: str | None = None,
    key: Key = None,
    model: str | None = None,
    policies: Policies | None = None,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that converts each row, and audits the result as `contentmodel.audit` does.

    It adds the columns `unaccounted` (structs of `path`, and `value` as JSON text), `error` and `api`.
    """
    _check(source, target, kind)
    check_choices(policies, "report")
    operation = partial(audit_row, source=source, target=target, kind=kind, model=model, policies=policies)
    return BatchFunction(operation, COLUMNS["audit"], column, key, max_bytes)


def planner(
    *,
    targets: Sequence[str] | None = None,
    source: str | None = None,
    kind: PayloadKind | None = None,
    column: str | None = None,
    key: Key = None,
    models: Mapping[str, str] | None = None,
    policies: Policies | None = None,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that compares targets for each row, as `contentmodel.plan` does.

    It adds the columns `plans` (structs of `target`, `cost`, `losses` by code, and the names of `violations`; the
    lowest cost first), `error` and `api`.
    """
    for target in targets or ():
        _check(source, target, kind)
    check_choices(policies, "report")
    operation = partial(plan_row, targets=targets, source=source, kind=kind, models=models, policies=policies)
    return BatchFunction(operation, COLUMNS["plan"], column, key, max_bytes)


def shower(
    *,
    source: str | None = None,
    kind: PayloadKind | None = None,
    column: str | None = None,
    key: Key = None,
    width: int = 100,
    full: bool = True,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that draws each row as a transcript. It needs the extra `cli`.

    It adds the columns `text`, `error` and `api`. If not `full`, long texts are cut.
    """
    _check(source, None, kind)
    operation = partial(show_row, source=source, kind=kind, width=width, full=full)
    return BatchFunction(operation, COLUMNS["show"], column, key, max_bytes)


def statistics(
    *,
    source: str | None = None,
    kind: PayloadKind | None = None,
    column: str | None = None,
    key: Key = None,
    max_bytes: int = MAX_BYTES,
) -> BatchFunction:
    """Return a function of record batches that counts what each row contains.

    It adds the columns `kind`, `model`, `messages`, `turns` (consecutive messages of one role are one turn), `tools`,
    `tool_calls`, `input_tokens` and `output_tokens` (null without usage), `contents` (structs of `type` and `count`),
    `error` and `api`.
    """
    _check(source, None, kind)
    operation = partial(statistics_row, source=source, kind=kind)
    return BatchFunction(operation, COLUMNS["statistics"], column, key, max_bytes)


MAKERS: dict[str, Callable[..., BatchFunction]] = {
    "convert": converter,
    "check": checker,
    "stats": statistics,
}
"""The functions that jobs run, by the name of their command."""


def _check(source: str | None, target: str | None = None, kind: str | None = None) -> None:
    """Raise UnknownApiError or ValueError for parameters that are wrong for every row."""
    for api in (source, target):
        if api is not None:
            adapter(api)
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")


MAPS = "maps"
"""The folder of a job's output with the replaced ids and names of requests, by the keys of their rows."""


class KeyedMaps(msgspec.Struct, frozen=True):
    """A line of a file of maps."""

    key: str
    maps: Renames


@lru_cache(maxsize=1)
def maps_in(folder: str) -> Mapping[str, Renames]:
    """Return the maps of a job's requests by their keys. Raise ValueError if the folder has no job."""
    if not Path(folder, "manifest.json").is_file():
        raise ValueError(f"{folder}: not the output folder of a job that converted requests")
    maps_by_key: dict[str, Renames] = {}
    for path in sorted(Path(folder, MAPS).glob("*.jsonl")):
        try:
            lines = msgspec.json.Decoder(KeyedMaps).decode_lines(path.read_bytes())
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ValueError(f"{path}: not a file of maps: {error}") from None
        maps_by_key.update((line.key, line.maps) for line in lines)
    return maps_by_key


# -- columns of payloads -----------------------------------------------------------------------------------------------


def payloads_of(array: Any) -> Iterator[Any]:
    """Yield the payloads of a column: JSON text as bytes, objects and arrays without padding, or other values."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_text(array.type):
        # As bytes, text that is not UTF-8 is an error of its row, and not of the batch.
        yield from array.cast(_BYTES.get(array.type, array.type)).to_pylist()
    elif pa.types.is_nested(array.type):
        yield from map(without_padding, _values_of(array))
    else:
        yield from array.to_pylist()


_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def _is_text(kind: Any) -> bool:
    return bool(
        kind in _BYTES
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or kind == pa.binary_view()
        or (isinstance(kind, pa.BaseExtensionType) and _is_text(kind.storage_type))
        or (pa.types.is_dictionary(kind) and _is_text(kind.value_type))
    )


def texts_of(array: Any) -> list[str | None]:
    """Return the values of a column of keys as text."""
    return [value if value is None or isinstance(value, str) else str(value) for value in array.to_pylist()]


def _values_of(array: Any) -> Iterable[Any]:
    """Return the values of nested rows. If one cannot be read, it is an exception."""
    try:
        return array.to_pylist(maps_as_pydicts="lossy")  # type: ignore[no-any-return]
    except (ValueError, ArithmeticError):
        return [_read(array[at]) for at in range(len(array))]


def _read(scalar: Any) -> Any:
    try:
        return scalar.as_py(maps_as_pydicts="lossy")
    except (ValueError, ArithmeticError) as error:
        return error


def without_padding(value: Any) -> Any:
    """Return a value without the null fields of its objects."""
    if value.__class__ is dict:
        return {key: without_padding(item) for key, item in value.items() if item is not None}
    return [without_padding(item) for item in value] if value.__class__ is list else value


# -- columns of results ------------------------------------------------------------------------------------------------


def _value(row: Row, name: str) -> Any:
    return getattr(row, name) if name in ("error", "api") else row.values.get(name)


def _array(values: list[Any], kind: Any) -> Any:
    """Return a column. Text and numbers that Arrow refuses are rewritten."""
    try:
        return pa.array(values, kind)
    except (UnicodeError, ArithmeticError, pa.ArrowException):
        return pa.array([_storable(value) for value in values], kind)


def _storable(value: Any) -> Any:
    """Return a value with lone surrogates escaped, and null instead of integers of more than 64 bits."""
    if value.__class__ is str:
        return value.encode("utf-8", "backslashreplace").decode()
    if value.__class__ is int:
        return value if -(2**63) <= value < 2**63 else None
    if value.__class__ is dict:
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if value.__class__ is list else value
