"""Read a tool configuration file as JSON values, and find faults of its shape."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from contentmodel.errors import DecodeError, Fault
from contentmodel.json import child_path, kind_of, parse, plain
from contentmodel.tools.config.format import KINDS, Api, Function, tool_file_schema
from contentmodel.tools.faults import shown

Source = os.PathLike[str] | str | bytes | Sequence[Mapping[str, Any]]
"""A path (a `Path`, never a str), the JSON text as str or bytes, or the list that the text contains."""


def name_of_source(source: Source) -> str:
    """Return the name of a file in faults."""
    return os.fspath(source) if isinstance(source, os.PathLike) else "tools"


def value_of_source(source: Source) -> tuple[Any, list[Fault]]:
    """Return the JSON value of a file, and the faults of its text. Raise OSError if a path cannot be read."""
    if not isinstance(source, str | bytes | os.PathLike):
        try:
            return plain(source if isinstance(source, dict) else list(source), "json"), []
        except (DecodeError, TypeError) as error:
            return None, [Fault("$", f"not a JSON value: {error}")]
    text = Path(source).read_bytes() if isinstance(source, os.PathLike) else source
    try:
        return parse(text), _doubled(text)
    except DecodeError as error:
        return None, [Fault("$", error.faults[0].message + _hint(source))]


def _hint(source: Source) -> str:
    is_name = isinstance(source, str) and len(source) < 260 and source.rstrip().endswith(".json")
    return f"; to read a file, pass Path({source!r})" if is_name else ""


# Duplicate keys -------------------------------------------------------------------------------------------------------


class _Object(dict[str, Any]):
    """An object that remembers its duplicate keys. A JSON parser would keep only the last value of each."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.doubled = [key for key in self if len(keys) > len(self) and keys.count(key) > 1]


def _doubled(text: str | bytes) -> list[Fault]:
    plain_text = text if isinstance(text, str) else text.decode("utf-8-sig")
    try:
        value = json.loads(plain_text.removeprefix("\ufeff"), object_pairs_hook=_Object)
        return list(_doubled_in(value, "$"))
    except RecursionError:
        return [Fault("$", "nested too deeply")]


def _doubled_in(value: Any, path: str) -> Iterator[Fault]:
    if isinstance(value, _Object):
        for key in value.doubled:
            yield Fault(child_path(path, key), f"the key {key!r} is duplicated: remove one")
        for key, item in value.items():
            yield from _doubled_in(item, child_path(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _doubled_in(item, f"{path}[{index}]")


# The shape of a tool --------------------------------------------------------------------------------------------------


def shape_faults(entry: Any) -> list[Fault]:
    """Return the faults of a file's entry, with paths relative to the entry ("api.query")."""
    if not isinstance(entry, dict):
        return [Fault("", f"expected an object (a tool), got {_a(kind_of(entry))}")]
    kind = entry.get("type")
    if kind is None:
        return [Fault("type", f"the key 'type' is missing: add it with one of {', '.join(KINDS)}")]
    if not isinstance(kind, str) or kind not in KINDS:
        return [Fault("type", f"unknown type {shown(kind)}{_did_you_mean(str(kind), KINDS)}")]
    errors = sorted(_validator(kind).iter_errors(entry), key=lambda error: error.json_path)
    return [fault for error in errors for fault in _faults(error)]


def without_unknown_keys(entry: Any) -> Any:
    """Return an entry without the keys that are not in the format."""
    kind = KINDS.get(entry.get("type", "")) if isinstance(entry, dict) and isinstance(entry.get("type"), str) else None
    if kind is None:
        return entry
    fields = {key: value for key, value in entry.items() if key in ("type", *kind.__struct_fields__)}
    for name, part in (("function", Function), ("api", Api)):
        if isinstance(fields.get(name), dict):
            fields[name] = {key: value for key, value in fields[name].items() if key in part.__struct_fields__}
    return fields


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    return Draft202012Validator({"$ref": f"#/$defs/{KINDS[kind].__name__}", "$defs": tool_file_schema()["$defs"]})


def _faults(error: Any) -> Iterator[Fault]:
    path, value, limit = error.json_path.removeprefix("$").removeprefix("."), error.instance, error.validator_value
    if error.validator == "additionalProperties":
        properties = error.schema["properties"]
        for key in (key for key in value if key not in properties):
            yield Fault(_below(path, key), f"unknown key {key!r}{_did_you_mean(key, properties)}")
    elif error.validator == "required":
        for key in (key for key in limit if key not in value):
            yield Fault(path, f"the key {key!r} is missing: add it")
    elif error.validator == "oneOf":
        # A value that is not an object is reported by another error.
        yield from [Fault(path, _path_or_query(value))] if isinstance(value, dict) else []
    elif error.validator == "enum":
        yield Fault(path, f"unknown {path.rpartition('.')[2]} {shown(value)}{_did_you_mean(str(value), limit)}")
    elif error.validator == "minLength":
        yield Fault(path, "the text is empty: set it")
    else:
        yield Fault(path, f"expected {_a(str(limit))}, got {_a(kind_of(value))}")


def _path_or_query(api: Any) -> str:
    if "path" in api and "query" in api:
        return "path and query are both set: remove one"
    if "query" in api:
        return "method is only allowed with path: remove it, the executor decides how a query is sent"
    return "path and query are both missing: add one"


def _did_you_mean(name: str, choices: Mapping[str, Any] | Sequence[str]) -> str:
    close = get_close_matches(name.lower(), {text.lower(): text for text in choices}, n=1)
    match = next((text for text in choices if close and text.lower() == close[0]), None)
    return (f": did you mean {match!r}?" if match else ":") + f" use one of {', '.join(choices)}"


def _below(path: str, key: str) -> str:
    return child_path(f"$.{path}" if path else "$", key).removeprefix("$").removeprefix(".")


def _a(kind: str) -> str:
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aeio" else f"a {kind}"
