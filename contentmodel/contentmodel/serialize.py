"""Serialize values of the model to versioned JSON, and describe the format by a JSON Schema.

A document is `{"contentmodel": 2, "kind": "request", "value": {...}}`. A reader keeps content types and fields of newer
versions: they become UnknownContent and unmapped fields of the API "contentmodel", and are written back unchanged. A
content of a registered type (`contentmodel.content.register`) becomes an instance of its class. If a
type has no `extra`, its newer fields are kept in the `extra` of the nearest enclosing type, by their path ("$.span").
If no enclosing type has `extra`, as in a stream event, the reader raises DecodeError.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any, TypeAlias, TypeVar, overload
from uuid import UUID

import msgspec

from contentmodel.content import CONTENT_TYPES, Content
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.registering import REGISTERED, registered_type
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.events import EVENT_TYPES, StreamEvent
from contentmodel.interop import options_of
from contentmodel.json import child_path, parse, write
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.usage import Usage

VERSION = 2
"""The version of the format. It only rises if old readers would misread new documents. All versions are read."""

NEWER = "contentmodel"
"""The key in `extra` of the fields of newer versions."""
_NEWER_MARK = b'"contentmodel"'
_TAGS = {kind.__struct_config__.tag for kind in CONTENT_TYPES}
_Event: Any = reduce(or_, EVENT_TYPES)
_KINDS: dict[str, Any] = {
    "request": ChatRequest,
    "response": ChatResponse,
    "message": ChatMessage,
    "messages": list[ChatMessage],
    "content": Content,
    "contents": list[Content],
    "usage": Usage,
    "event": _Event,
    "events": list[_Event],
}


Document: TypeAlias = (
    ChatRequest
    | ChatResponse
    | ChatMessage
    | AIContent
    | Usage
    | StreamEvent
    | list[ChatMessage]
    | list[AIContent]
    | list[StreamEvent]
)
"""The types that a document can contain."""

_Kind = TypeVar("_Kind")


def dumps(value: Document) -> bytes:
    """Serialize a request, response, message, content, usage, stream event, or a list of one of them, to JSON.

    Raise EncodeError, with a path, if a field has a value of the wrong type or one that JSON cannot represent.
    """
    body = require_valid(value)
    if _NEWER_MARK in body:
        body = write(_unwrap(parse(body), value))
    return b'{"contentmodel":%d,"kind":"%s","value":%b}' % (VERSION, _kind_of(value).encode(), body)


@overload
def loads(data: bytes | str) -> Document: ...
@overload
def loads(data: bytes | str, kind: type[_Kind]) -> _Kind: ...
def loads(data: bytes | str, kind: Any = None) -> Any:
    """Deserialize a document of `dumps`. The result equals the value that was passed to `dumps`.

    `kind` is the required type: `loads(data, ChatRequest)`, `loads(data, list[ChatMessage])`. Raise DecodeError, with
    the path of the fault, if the document is invalid or contains another type.
    """
    document = parse(data, "contentmodel")
    if not isinstance(document, dict) or "contentmodel" not in document:
        raise DecodeError(
            "contentmodel", [Fault("$", "expected a contentmodel document, an object with the key contentmodel")]
        )
    _check_version(document["contentmodel"])
    name = document.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        wanted = ", ".join(_KINDS)
        raise DecodeError("contentmodel", [Fault("$.kind", f"expected one of {wanted}, got {name!r}")])
    value = convert_value(document.get("value"), _KINDS[name], path="$.value")
    if kind is not None and kind != _KINDS[name] and not (isinstance(kind, type) and isinstance(value, kind)):
        wanted = getattr(kind, "__name__", str(kind)) if isinstance(kind, type) else str(kind)
        raise DecodeError("contentmodel", [Fault("$", f"expected {wanted}, got a document of the kind {name!r}")])
    return value


def _check_version(version: object) -> None:
    if type(version) is not int or version < 1:
        raise DecodeError("contentmodel", [Fault("$.contentmodel", "expected the version of the format, an integer")])
    if version > VERSION:
        newer = f"the document has version {version} of the format, this library reads {VERSION}: update contentmodel"
        raise DecodeError("contentmodel", [Fault("$.contentmodel", newer)])


def to_builtins(value: object) -> Any:
    """Return a model value as plain JSON values, without the envelope. Raise EncodeError if it is nested too deeply."""
    try:
        return _unwrap(msgspec.to_builtins(value), value)
    except RecursionError:
        raise EncodeError("nested too deeply to be written as JSON") from None


def require_valid(value: Any, path: str = "$") -> bytes:
    """Return the JSON of a model value, without the envelope.

    Raise EncodeError if reading the JSON would not return an equal value. The message contains the path, below `path`,
    of the first value that has the wrong type or that JSON cannot represent.
    """
    return _require(value, _KINDS[_kind_of(value)], path)


def require_valid_as(value: Any, kind: Any) -> None:
    """Raise EncodeError, as `require_valid` does, if `value` is not a valid value of the type `kind`."""
    _require(value, kind, "$")


def _require(value: Any, kind: Any, path: str) -> bytes:
    body = write(value)
    try:
        read = _read(body, kind, path)
        fault = None if read == value else _misread(value, read, path)
    except DecodeError as error:
        fault = error.faults[0]
    if fault is not None:
        raise EncodeError(f"{type(value).__name__}: {fault}")
    return body


def require_valid_parts(value: Any, kind: type[ChatRequest | ChatResponse]) -> None:
    """Raise EncodeError if `value` is not a `kind`, or if a part that the application created is invalid.

    Parts without an origin are checked as in `require_valid`. Parts with an origin come from a decoder and are valid.
    """
    if not isinstance(value, kind):
        raise EncodeError(f"expected a {kind.__name__}, got {type(value).__name__}")
    if value.origin is None:
        require_valid(value)
        return
    messages = value.messages if isinstance(value, ChatRequest) else value.choices[0].messages if value.choices else ()
    for index, message in enumerate(messages):
        if message.origin is None:
            require_valid(message, f"$.messages[{index}]")


def _read(body: bytes, kind: Any, path: str) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (RecursionError, ValueError):
        return convert_value(parse(body), kind, path)


_NOT_JSON = (bytes, bytearray, memoryview, datetime.datetime, datetime.date, datetime.time, UUID, Decimal)
"""Classes that msgspec serializes as texts, although no field of the model has them."""


_ABSTRACT = {base for kind in CONTENT_TYPES for base in kind.__mro__ if issubclass(base, AIContent)} - {*CONTENT_TYPES}
"""The abstract base classes of contents, which have no JSON form."""


def _misread(value: Any, read: Any, path: str) -> Fault | None:
    """Return the first fault: a value whose class differs from that of the value read from its JSON."""
    if isinstance(value, _NOT_JSON):
        return Fault(path, f"{type(value).__name__} is not a JSON type")
    if isinstance(value, float) and read is None:
        return Fault(path, f"{value} is not a JSON number")
    if type(value) in _ABSTRACT:
        return Fault(path, f"{type(value).__name__} is an abstract class: use one of its subclasses")
    if isinstance(value, msgspec.Struct) and isinstance(read, type(value)):
        pairs = [(f"{path}.{name}", getattr(value, name), getattr(read, name)) for name in value.__struct_fields__]
    elif isinstance(value, dict) and isinstance(read, dict):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            return Fault(path, f"expected keys of type str, got {odd!r}")
        pairs = [(child_path(path, key), item, read.get(key)) for key, item in value.items()]
    elif isinstance(value, list | tuple) and isinstance(read, list):
        pairs = [(f"{path}[{index}]", *both) for index, both in enumerate(zip(value, read, strict=True))]
    else:
        fits = isinstance(value, type(read) | AIContent)
        return None if fits else Fault(path, f"expected {type(read).__name__}, got {type(value).__name__}")
    faults = (_misread(item, other, inner) for inner, item, other in pairs)
    return next((fault for fault in faults if fault is not None), None)


def convert_value(value: Any, kind: Any, path: str = "$") -> Any:
    """Convert plain JSON values to the model type `kind`. Keep newer content types and fields.

    Raise DecodeError with the path, below `path`, of an invalid value.
    """
    registered = registered_type(value)
    if registered is not None and any(
        isinstance(option, type) and issubclass(registered, option) for option in _bases_of(kind)
    ):
        kind = registered
    try:
        return msgspec.convert(value, kind)
    except RecursionError:
        raise DecodeError("contentmodel", [Fault(path, "nested too deeply")]) from None
    except (msgspec.ValidationError, UnicodeEncodeError):
        pass
    try:
        wrapped = _wrap(value, kind, _Room(path))
        converted = msgspec.convert(wrapped, kind)
        return _with_registered(converted) if REGISTERED else converted
    except RecursionError:
        raise DecodeError("contentmodel", [Fault(path, "nested too deeply")]) from None
    except msgspec.ValidationError as error:
        raise _misfit(error, path) from None
    except UnicodeEncodeError:
        raise _misfit_of_halves(wrapped, kind, path) from None


def _bases_of(kind: Any) -> tuple[Any, ...]:
    """Return the types of which a registered type may be a subclass, where a value of the type `kind` is expected."""
    options = options_of(kind)
    return (AIContent,) if UnknownContent in options and len(options) > 1 else options


def _with_registered(value: Any) -> Any:
    """Return a value that was just converted, with the contents of registered types in place of their wrappers."""
    if isinstance(value, UnknownContent) and isinstance(value.block, AIContent):
        return value.block
    if isinstance(value, list):
        value[:] = map(_with_registered, value)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            item = getattr(value, name)
            if isinstance(item, list | msgspec.Struct):
                msgspec.structs.force_setattr(value, name, _with_registered(item))
    return value


def _misfit(error: msgspec.ValidationError, path: str) -> DecodeError:
    message, _, position = str(error).partition(" - at `")
    return DecodeError("contentmodel", [Fault(path + position.rpartition("$")[2].rstrip("`"), message)])


def _misfit_of_halves(value: Any, kind: Any, path: str) -> DecodeError:
    """Return the error for a lone surrogate in a value that is not a free text. msgspec reports no path for it."""
    try:
        msgspec.convert(_without_halves(value), kind)
    except msgspec.ValidationError as error:
        return _misfit(error, path)
    return DecodeError("contentmodel", [Fault(path, "half of a surrogate pair in a value that is not free text")])


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _without_halves(item) for key, item in value.items()}
    return [_without_halves(item) for item in value] if isinstance(value, list) else value


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the documents that `dumps` writes, and of those of earlier versions.

    It has the registered types, too.
    """
    names, registered = list(_KINDS), list(REGISTERED.values())
    types = [*(_KINDS[name] for name in names), *registered]
    described, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    values, added = described[: len(names)], dict(zip(REGISTERED, described[len(names) :], strict=True))
    if added:
        _add_types(added, [*values, *components.values()])
    choices = [
        {"properties": {"kind": {"const": name}, "value": value}} for name, value in zip(names, values, strict=True)
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:contentmodel:{VERSION}",
        "title": "contentmodel",
        "type": "object",
        "properties": {
            "contentmodel": {"enum": list(range(1, VERSION + 1))},
            "kind": {"enum": names},
            "value": {},
        },
        "required": ["contentmodel", "kind", "value"],
        "oneOf": choices,
        "$defs": components,
    }


def _add_types(added: dict[str, dict[str, Any]], schemas: list[Any]) -> None:
    """Add types, by tag, to each union of all contents in the schemas."""
    stack = schemas
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif isinstance(item, dict):
            stack += item.values()
            mapping = item.get("discriminator", {}).get("mapping", {}) if "anyOf" in item else {}
            if "unknown" in mapping and "text" in mapping:
                item["anyOf"] += added.values()
                mapping.update({tag: reference["$ref"] for tag, reference in added.items()})


def _kind_of(value: Any) -> str:
    for kind, name in (
        (ChatRequest, "request"),
        (ChatResponse, "response"),
        (ChatMessage, "message"),
        (Usage, "usage"),
    ):
        if isinstance(value, kind):
            return name
    if isinstance(value, AIContent):
        return "content"
    if isinstance(value, StreamEvent):
        return "event"
    if isinstance(value, list):
        if value and all(isinstance(item, StreamEvent) for item in value):
            return "events"
        return "messages" if all(isinstance(item, ChatMessage) for item in value) else "contents"
    raise EncodeError(f"{type(value).__name__} is not a type of the model")


def _unwrap(plain: Any, value: Any) -> Any:
    """Restore the types and fields of a newer writer in the JSON of a model value.

    JSON data inside the value, such as arguments, is returned unchanged.
    """
    if isinstance(value, list | tuple):
        return [_unwrap(*both) for both in zip(plain, value, strict=True)]
    if not isinstance(value, msgspec.Struct):
        return plain
    if isinstance(value, UnknownContent) and value.api == NEWER and _is_kept(value.block):
        return value.block
    fields = {name: _unwrap(item, getattr(value, name, None)) for name, item in plain.items()}
    extra = getattr(value, "extra", None)
    return _put_back(fields, value) if isinstance(extra, dict) and NEWER in extra else fields


def _put_back(plain: dict[str, Any], value: Any) -> dict[str, Any]:
    """Move the fields of a newer writer from `extra` back to their original position in the JSON of a value."""
    residues = {api: residue for api, residue in plain.pop("extra").items() if api != NEWER}
    newer_fields: dict[str, Any] = value.extra[NEWER]
    places = {key: fields for key, fields in newer_fields.items() if isinstance(fields, dict) and _PLACE.fullmatch(key)}
    fields = {key: item for key, item in newer_fields.items() if key not in places}
    restored = {**plain, **({"extra": residues} if residues else {}), **_newer_fields(fields, value)}
    for place, newer in places.items():
        _put_back_at(_steps(place), newer, restored, value)
    return restored


def _newer_fields(newer: dict[str, Any], owner: msgspec.Struct) -> dict[str, Any]:
    """Return the kept fields of an object without those that this version has.

    A kept tag is that of a newer content type, which is read as a class of `_BASES`. Other objects keep no tag.
    """
    tag = owner.__struct_config__.tag_field
    named = {_field_of(key): item for key, item in newer.items()}
    fields = {name: item for name, item in named.items() if name not in owner.__struct_fields__}
    if tag in fields and not (_is_newer(fields) and _base_of(fields[tag]) is type(owner)):
        del fields[tag]
    return fields


_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_PLACE = re.compile(r"\$(\.\w+|\[\d{1,9}\])+")
"""The path of an object below the type whose `extra` keeps its newer fields."""


def _steps(place: str) -> list[str | int]:
    return [name or int(index) for name, index in _STEP.findall(place)]


def _key_of(field: str) -> str:
    """Return the key under which a newer field is kept: one that no path has."""
    return f"${field}" if field[:1] == "$" else field


def _field_of(key: str) -> str:
    """Return the name of a newer field: the inverse of `_key_of`."""
    return key[1:] if key[:2] == "$$" else key


def _put_back_at(steps: list[str | int], newer: dict[str, Any], plain: Any, value: Any) -> None:
    """Add newer fields to the JSON of an object of the model inside a value. Drop them if none is at the path."""
    left_out: list[tuple[dict[str, Any], str, Any]] = []
    for step in steps:
        if isinstance(step, str):
            fields = value.__struct_fields__ if isinstance(value, msgspec.Struct) else ()
            value = getattr(value, step) if step in fields else None
            outer, plain = plain, None
            if isinstance(outer, dict) and isinstance(value, msgspec.Struct | list):
                plain = outer.get(step, {})
                # Objects with only default values are left out.
                left_out += [] if step in outer else [(outer, step, plain)]
        else:
            is_inside = isinstance(plain, list) and isinstance(value, list) and step < len(value)
            value, plain = (value[step], plain[step]) if is_inside else (None, None)
    added = _newer_fields(newer, value) if isinstance(plain, dict) and isinstance(value, msgspec.Struct) else {}
    if added:
        plain.update(added)
        for outer, field, inner in left_out:
            outer[field] = inner


class _Room:
    """The storage for newer fields of an object.

    `path` is the object's path in the document. `place` is its path below the type whose `extra` receives `kept`.
    """

    __slots__ = ("kept", "path", "place")

    def __init__(self, path: str, kept: dict[str, Any] | None = None, place: str = "$") -> None:
        self.path, self.kept, self.place = path, kept, place

    def inner(self, step: str) -> _Room:
        """Return the storage for a part of the object."""
        return _Room(self.path + step, self.kept, self.place + step)

    def keep(self, newer: dict[str, Any], struct: type) -> None:
        """Keep the newer fields of an object. Raise DecodeError if no enclosing type has `extra`."""
        if self.kept is None:
            message = f"{struct.__name__} has no such field in this version, and no `extra` to keep it in"
            raise DecodeError("contentmodel", [Fault(child_path(self.path, name), message) for name in newer])
        newer = {_key_of(name): item for name, item in newer.items()}
        if self.place == "$":
            self.kept.update(newer)
        else:
            self.kept[self.place] = newer


def _wrap(value: Any, kind: Any, room: _Room) -> Any:
    """Move unknown content types and fields of a document's value to where the model keeps them."""
    if isinstance(value, list):
        lists = (option.__args__[0] for option in options_of(kind) if getattr(option, "__origin__", None) is list)
        inner = next(lists, Any)
        return [_wrap(item, inner, room.inner(f"[{index}]")) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    struct = _struct_for(value, kind)
    if struct is not None:
        return _wrap_fields(value, struct, room)
    registered = registered_type(value)
    if registered is not None and AIContent in _bases_of(kind):
        # `_with_registered` takes it out again: the union of all contents does not have the type.
        return {"type": "unknown", "api": NEWER, "block": convert_value(value, registered, room.path)}
    takes_newer = _OPEN & set(options_of(kind)) and _is_newer(value)
    return _wrap_newer_content(value, room.path) if takes_newer else value


def _is_newer(value: Any) -> bool:
    """Return whether `value` is a content of a type that neither this version nor the application defines."""
    tag = value.get("type") if isinstance(value, dict) else None
    return isinstance(tag, str) and tag not in _TAGS and tag not in REGISTERED


def _is_kept(block: Any) -> bool:
    """Return whether `block` is a content that is read as UnknownContent."""
    return _is_newer(block) and _wrap_newer_content(block)["type"] == "unknown"


_BASES = {"_tool_call": HostedToolCallContent, "_tool_result": HostedToolResultContent}
_OPEN = {UnknownContent, *_BASES.values()}
"""The types that content types of newer versions are converted to."""


def _base_of(tag: Any) -> Any:
    """Return the class that a content of a newer type with this tag is read as; None if it is UnknownContent."""
    return next((base for ending, base in _BASES.items() if isinstance(tag, str) and tag.endswith(ending)), None)


def _wrap_newer_content(value: dict[str, Any], path: str = "$") -> dict[str, Any]:
    """Convert a content of an unknown type to a hosted call or result if its tag and fields match, else to unknown."""
    tag = value.get("type")
    base = _base_of(tag)
    if base is not None:
        wrapped = _wrap_fields({**value, "type": base.__struct_config__.tag}, base, _Room(path), {"type": tag})
        if _fits(wrapped, base):
            return wrapped
    return {"type": "unknown", "api": NEWER, "block": value}


def _fits(value: dict[str, Any], kind: Any) -> bool:
    """Return whether the fields of a content are valid for its type. `outputs` are converted separately."""
    outputs = value.get("outputs")
    try:
        msgspec.convert({**value, "outputs": []} if isinstance(outputs, list) else value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _wrap_fields(value: dict[str, Any], struct: Any, room: _Room, also: dict[str, Any] | None = None) -> dict[str, Any]:
    """Move the newer fields of an object of a known type, and `also`, to `extra`."""
    fields = {f.name: f.type for f in msgspec.structs.fields(struct)}
    newer = {k: v for k, v in value.items() if k not in fields and k != struct.__struct_config__.tag_field}
    inner_room = _Room(room.path, dict(also or {})) if "extra" in fields else room
    if newer:
        inner_room.keep(newer, struct)
    wrapped = {
        name: item if name == "extra" else _wrap(item, fields.get(name, Any), inner_room.inner(f".{name}"))
        for name, item in value.items()
        if name not in newer
    }
    return _with_kept(wrapped, inner_room.kept) if inner_room is not room and inner_room.kept else wrapped


def _with_kept(value: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    extra = value.get("extra") or {}
    residue = extra.get(NEWER, {}) if isinstance(extra, dict) else None
    # Keep an `extra` of another shape: it is an error in the document, which the conversion reports.
    return {**value, "extra": {**extra, NEWER: {**residue, **newer}}} if isinstance(residue, dict) else value


def _struct_for(value: dict[str, Any], kind: Any) -> Any:
    structs = [k for k in options_of(kind) if isinstance(k, type) and issubclass(k, msgspec.Struct)]
    if not structs:
        return None
    tagged = [s for s in structs if s.__struct_config__.tag is not None]
    if not tagged:
        return structs[0]
    return next((s for s in tagged if s.__struct_config__.tag == value.get("type")), None)
