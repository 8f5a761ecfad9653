"""Read and write JSON without loss, and read the fields of wire objects by their class.

msgspec does most of it; the standard library reads what msgspec refuses.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from typing import Any, NoReturn, TypeAlias, TypeVar

import msgspec

from contentmodel.errors import DecodeError, EncodeError, Fault

Json: TypeAlias = Any
"""Any JSON value: an object, an array, a string, a number, a boolean or None. Test its class before use."""

JsonObject: TypeAlias = dict[str, Json]
"""A JSON object."""

JsonArray: TypeAlias = list[Json]
"""A JSON array."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_MAX_DEPTH = 10_000


_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def kind_of(value: object) -> str:
    """Return the JSON name of a value's type."""
    return "null" if value is None else _NAMES.get(value.__class__, value.__class__.__name__)


def name_of(kind: type) -> str:
    """Return the JSON name of a Python class of JSON values."""
    return _NAMES[kind]


def parse(data: bytes | bytearray | memoryview | str, api: str = "json") -> Json:
    """Parse a JSON text. Raise DecodeError with the position if the text is not JSON.

    msgspec refuses lone surrogates (a text that was cut inside of an emoji has them) and a byte order mark. The
    standard library accepts both: surrogates are kept, a byte order mark is removed.
    """
    try:
        return _decode(data)
    except RecursionError:
        raise DecodeError(api, [Fault("$", "nested too deeply")]) from None
    except (msgspec.MsgspecError, UnicodeError, TypeError, ValueError):
        return _parse_slowly(data, api)


def _parse_slowly(data: bytes | bytearray | memoryview | str, api: str) -> Json:
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8-sig", "strict")
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise DecodeError(api, [Fault("$", "nested too deeply")]) from None
    except (ValueError, TypeError) as error:
        raise DecodeError(api, [Fault("$", f"not JSON: {error}")]) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"number out of range: {text}")
    return number


def write(value: object) -> bytes:
    """Return `value` as compact UTF-8 JSON, with halves of surrogate pairs as escapes (`\\ud83d`).

    Raise EncodeError if it contains a value that JSON cannot represent.
    """
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _write_slowly(value)
    except RecursionError:
        raise EncodeError("nested too deeply to be written as JSON") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise EncodeError(f"not representable in JSON: {error}") from None


def _write_slowly(value: object) -> bytes:
    """Return `value` as ASCII JSON. Used for halves of surrogate pairs, which msgspec refuses."""
    try:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode("ascii")
    except RecursionError:
        raise EncodeError("nested too deeply to be written as JSON") from None
    except (TypeError, ValueError) as error:
        raise EncodeError(f"not representable in JSON: {error}") from None


def canonical(value: object) -> str:
    """Return JSON text that is the same for equal values in any key order. Use it as a lookup key."""
    return json.dumps(value, sort_keys=True)


DUMPERS: dict[str, Callable[[Any], Any]] = {}
"""Functions that return an object of a library as JSON values, by the first name of its module (`pydantic_ai`).

An adapter of a library's format adds one if `model_dump` does not return what the library stores. A function returns
NotImplemented for objects that it does not convert.
"""


def set_fields(value: Any) -> JsonObject:
    """Return the fields of a pydantic object that are set, by alias, and its type, which constructors set by default.

    A function for `DUMPERS`. Objects in the fields are not converted.
    """
    fields = type(value).model_fields
    names = [name for name in fields if name in value.model_fields_set or name == "type"]
    fields_by_alias = {
        fields[name].serialization_alias or fields[name].alias or name: getattr(value, name) for name in names
    }
    return {**fields_by_alias, **(value.model_extra or {})}


def plain(value: object, api: str) -> Json:
    """Return a copy of `value` that contains only dict, list, str, int, float, bool and None.

    SDK objects (pydantic models, also nested in dicts) are converted to the JSON that the SDK would send, and objects
    of other libraries with `DUMPERS`. Bytes become base64. Raise DecodeError with the path of each value that is not
    JSON: a NaN, an unsupported object, a key that is not a string.
    """
    try:
        return _copied(value)
    except (TypeError, RecursionError):
        pass
    faults: list[Fault] = []
    try:
        copy = _plain(value, "$", faults)
    except RecursionError:
        faults, copy = [Fault("$", "nested too deeply")], None
    if faults:
        raise DecodeError(api, faults)
    return copy


_ATOMS = frozenset({str, int, bool, type(None)})


def _copied(value: Json) -> Json:
    """Return a copy of JSON values. Raise TypeError at the first value that `_plain` converts or refuses."""
    kind = value.__class__
    if kind is dict:
        copy: Json = value.copy()
        for key, item in value.items():
            if item.__class__ not in _ATOMS:
                copy[key] = _copied(item)
            if key.__class__ is not str:
                raise TypeError
        return copy
    if kind is list:
        return [item if item.__class__ in _ATOMS else _copied(item) for item in value]
    if kind in _ATOMS or (kind is float and math.isfinite(value)):
        return value
    raise TypeError


def _plain(value: Any, path: str, faults: list[Fault]) -> Json:
    kind = value.__class__
    if kind in _ATOMS:
        return value
    if kind is float:
        if not math.isfinite(value):
            faults.append(Fault(path, f"{value} is not a JSON value"))
        return value
    if kind is list or kind is tuple:
        return [
            item if item.__class__ in _ATOMS else _plain(item, f"{path}[{i}]", faults) for i, item in enumerate(value)
        ]
    if isinstance(value, Mapping):
        return _plain_mapping(value, path, faults)
    if kind is bytes or kind is bytearray:
        # As the SDKs of AWS send bytes.
        return base64.b64encode(value).decode("ascii")
    return _plain_object(value, path, faults)


def _plain_mapping(value: Mapping[object, object], path: str, faults: list[Fault]) -> JsonObject:
    copy = {}
    items = value.items() if value.__class__ is dict else _converted(lambda: list(value.items()), value, path, faults)
    for key, item in items or ():
        if not isinstance(key, str):
            faults.append(Fault(path, f"expected string keys, got {key!r}"))
            continue
        copy[key] = item if item.__class__ in _ATOMS else _plain(item, child_path(path, key), faults)
    return copy


def _plain_object(value: object, path: str, faults: list[Fault]) -> Json:
    if isinstance(value, type):
        faults.append(Fault(path, f"the class {value.__name__} is not a JSON value: pass its JSON Schema as a dict"))
        return None
    # An object may raise any exception when it is read.
    dumped = _converted(lambda: _dumped(value), value, path, faults)
    if dumped is NotImplemented:
        faults.append(Fault(path, f"{type(value).__name__} is not a JSON value"))
        return None
    return _plain(dumped, path, faults)


def _converted(convert: Callable[[], Any], value: object, path: str, faults: list[Fault]) -> Any:
    """Return the result of a function of an object, or None and a fault if the object raises an exception."""
    try:
        return convert()
    except RecursionError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        faults.append(Fault(path, f"{type(value).__name__} cannot be converted to JSON: {why}"))
        return None


def _dumped(value: Any) -> Any:
    """Return an object of a library as values that are closer to JSON; NotImplemented if it is of no known kind."""
    roots = (base.__module__.partition(".")[0] for base in type(value).__mro__)
    dumper = next((DUMPERS[root] for root in roots if root in DUMPERS), None)
    dumped = NotImplemented if dumper is None else dumper(value)
    if dumped is not NotImplemented:
        return dumped
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        # Response classes of SDKs track the fields that were sent: exclude_unset returns the wire object.
        return dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, str | int | float):
        return value.value if hasattr(value, "value") else type(value).__mro__[1](value)
    return list(value) if hasattr(value, "__iter__") else NotImplemented


def whole_number(text: str, longest: int = 9) -> int | None:
    """Return the number that ASCII digits spell; None for any other text, and for more than `longest` digits.

    `int` also accepts signs, blanks and the digits of other scripts, and fails for texts of more than 4,300 digits.
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= longest else None


def child_path(path: str, key: str) -> str:
    """Return `path` with one more key: `$.a` and "b" give `$.a.b`. Other keys than names are quoted: `$.a['x y']`."""
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"


STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]")
"""A step of a JSON path: `.name`, `[1]` or `['quoted']`."""


def steps_of(path: str) -> list[str | int]:
    """Return the keys and indexes of a JSON path: "a", 0 for `$.a[0]`."""
    return [int(index) if index else name or quoted for name, index, quoted in STEP.findall(path)]


@lru_cache(maxsize=4096)
def path_keys(wire: str) -> tuple[str, ...]:
    r"""Return the keys of a dotted wire path. A dot in a key has a backslash before it: `a\.b.c` is "a.b", "c"."""
    return tuple(key.replace("\\.", ".") for key in _DOT.split(wire))


_DOT = re.compile(r"(?<!\\)\.")


def dotted_key(key: str) -> str:
    """Return the wire path of one key, which may contain dots: the inverse of `path_keys`."""
    return key.replace(".", "\\.")


def wire_path(path: str, wire: str) -> str:
    """Return `path` with the keys of a dotted wire path appended."""
    for key in path_keys(wire):
        path = child_path(path, key)
    return path


def value_at(payload: Json, path: str, otherwise: Json = None) -> Json:
    """Return the value at a JSON path; `otherwise` if there is none."""
    value = payload
    for step in steps_of(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return otherwise
    return value


def without_path(payload: object, path: str) -> Json:
    """Return a copy of `payload` without the value at a JSON path. Also remove objects and lists that become empty."""
    return _without(payload, steps_of(path))


def _without(value: object, steps: list[str | int]) -> Json:
    copy: Json = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else None
    step = steps[0]
    if copy is None or (step not in copy if isinstance(copy, dict) else not isinstance(step, int) or step >= len(copy)):
        return value
    if len(steps) > 1:
        copy[step] = _without(copy[step], steps[1:])
    if len(steps) == 1 or copy[step] in ([], {}):
        del copy[step]
    return copy


@cache
def snake_name(name: str) -> str:
    """Return a name in snake case: `file_data` for `fileData`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def camel_name(name: str) -> str:
    """Return a name in camel case: `fileData` for `file_data`."""
    head, *words = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in words)


def object_or_text(text: str) -> JsonObject | str:
    """Return the object that a JSON text has; any other text as it is, such as truncated arguments of a call."""
    try:
        value = parse(text)
    except DecodeError:
        return text
    return value if value.__class__ is dict else text


def wire_at(wire: object, path: str) -> Json:
    """Return the value at a dotted path of a wire object, in camel or snake case; None if there is none."""
    for key in path_keys(path):
        if wire.__class__ is not dict:
            return None
        wire = wire.get(key) if key in wire else wire.get(snake_name(key))
    return wire


def container_of(wire: JsonObject, path: str) -> tuple[JsonObject, str]:
    """Return the object that contains the last key of a dotted path, and that key. Create missing objects."""
    *parents, key = path_keys(path)
    for parent in parents:
        wire = wire.setdefault(parent, {})
    return wire, key


def put_at(wire: JsonObject, path: str, value: object) -> None:
    """Set a value at a dotted path of a wire object. If the value is None, do nothing."""
    if value is None:
        return
    if "." in path:
        wire, path = container_of(wire, path)
    wire[path] = value


def is_empty(value: object) -> bool:
    """Return whether a value is null, or an object or a list without values."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif value is not None and value != []:
            return False
    return True


def without_nulls(value: Json) -> Json:
    """Return a copy of a JSON value without the fields of objects that are null."""
    if value.__class__ is dict:
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if value.__class__ is list else value


_T = TypeVar("_T")


def runs(items: Iterable[_T], is_single: Callable[[_T], bool]) -> Iterator[tuple[list[_T], bool]]:
    """Yield each single item in a list of its own, with True, and each run of other items, with False."""
    for are_single, run in groupby(items, key=is_single):
        if are_single:
            yield from (([item], True) for item in run)
        else:
            yield list(run), False


# -- fields of wire objects by their JSON class ------------------------------------------------------------------------


def text_of(wire: Mapping[str, object], key: str) -> str:
    """Return the string at `key`; the empty string if there is none."""
    value = wire.get(key)
    return value if value.__class__ is str else ""


def list_of(wire: Mapping[str, object], key: str) -> JsonArray:
    """Return the array at `key`; an empty one if there is none."""
    value = wire.get(key)
    return value if value.__class__ is list else []


def object_of(wire: Mapping[str, object], key: str) -> JsonObject:
    """Return the object at `key`; an empty one if there is none."""
    value = wire.get(key)
    return value if value.__class__ is dict else {}


def objects_of(wire: Mapping[str, object], key: str) -> list[JsonObject]:
    """Return the objects in the array at `key`."""
    value = wire.get(key)
    return [item for item in value if item.__class__ is dict] if value.__class__ is list else []


def is_error_in_list(wire: object) -> bool:
    """Return whether a value is a list of one object with an error, as Google sends it to clients of streams."""
    return wire.__class__ is list and len(wire) == 1 and wire[0].__class__ is dict and bool(object_of(wire[0], "error"))


def object_at(wire: Mapping[str, object], key: str, api: str) -> JsonObject:
    """Return the object at `key`. Raise DecodeError if there is none."""
    value = wire.get(key)
    if value.__class__ is not dict:
        raise DecodeError(api, [Fault(f"$.{key}", f"expected an object, got {kind_of(value)}")])
    return value


def place_at(wire: Mapping[str, object], key: str, api: str) -> int:
    """Return the integer at `key`, the index of a block. Raise DecodeError if there is none."""
    value = wire.get(key)
    if value.__class__ is not int:
        raise DecodeError(api, [Fault(f"$.{key}", f"expected an integer, got {kind_of(value)}")])
    return value
