"""Hints: what a codec keeps beside the unknown fields of a wire object, to restore how the wire spelled a value.

A residue (`extra[api]`) holds unknown wire fields and hints side by side. The key of a hint begins with one ":". The
key of a wire field that begins with ":" gets one more when it enters the residue, and loses it when it is written
again, so no payload can forge a hint.

Hints are part of every stored conversation. Each is therefore declared once, with its type and its owner:

    LEVEL = Hint[str](API, "level", "the level of reasoning in the letters that the request had")

    LEVEL.on(request, API, "High")      # a copy of the request with the hint
    LEVEL.of(request, API)              # "High", or None

A hint of a wrong type reads as if it were missing: a stored document may come from anyone. If the form of a value
changes, the hint gets a new name, and `older` reads the values that were stored under the names it had before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin

import msgspec

from contentmodel.engine.json import Json, JsonObject

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent, ToolResultContent

T = TypeVar("T")
Owner = TypeVar("Owner", bound=msgspec.Struct)
Call = TypeVar("Call", "ToolCallContent", "ToolResultContent")
Migration = Callable[[Json], Json]
"""Turns the value of an earlier version into the value of today; None if it is none."""

_declared: dict[str, dict[str | None, Hint[Any]]] = {}


class HasExtra(Protocol):
    """A value of the model with residue."""

    @property
    def extra(self) -> Mapping[str, JsonObject] | None: ...


class Hint(Generic[T]):
    """One key that codecs keep in the residue of `api`, with the type of its values; None is every API.

    `meaning` is a description for people. `fields` is for a value that holds fields of the wire object around the
    content: encoding for another API reports them as lost. `older` maps the names that the hint had in earlier
    versions, the latest first, to functions that return a value of today for a value of then.

    Raise TypeError if the API has another hint of this name. The same declaration again, of a module that is imported
    anew, takes the place of the earlier one.
    """

    def __init__(
        self,
        api: str | None,
        name: str,
        meaning: str,
        *,
        fields: bool = False,
        older: Mapping[str, Migration] = MappingProxyType({}),
    ) -> None:
        self.api, self.name, self.meaning, self.fields = api, name, meaning, fields
        self.key = f":{name}"
        self.older = {f":{former}": migrate for former, migrate in older.items()}
        self.version = 1 + len(older)
        self._fits: Callable[[object], bool] = self._first_fits
        self._class: type | None = None
        _declare(self)

    def __repr__(self) -> str:
        return f"Hint({self.api!r}, {self.name!r})"

    @property
    def type(self) -> Any:
        """The type of the values: the T of `Hint[T](...)`."""
        made = getattr(self, "__orig_class__", None)
        if made is None:
            raise TypeError(f"the hint {self.name!r} has no type: declare it as Hint[type](...)")
        return get_args(made)[0]

    def of(self, owner: HasExtra, api: str) -> T | None:
        """Return the hint of `api` that a value has; None if it has none, or one of a wrong type."""
        extra = owner.extra
        if extra is None:
            return None
        residue = extra.get(api)
        if residue is None:
            return None
        # As `read` does, without another call: most values are encoded through here.
        value: T | None = residue.get(self.key)
        if value is not None:
            return value if value.__class__ is self._class or self._fits(value) else None
        return self._read_older(residue) if self.older else None

    def read(self, residue: Mapping[str, Json]) -> T | None:
        """Return the hint in a residue; None if there is none, or one of a wrong type."""
        value: T | None = residue.get(self.key)
        if value is not None:
            return value if self._fits(value) else None
        return self._read_older(residue) if self.older else None

    def is_in(self, residue: Mapping[str, Json]) -> bool:
        """Return whether a residue has the hint, of the right type. A hint may be there and be None."""
        if self.key in residue:
            return self._fits(residue[self.key])
        return bool(self.older) and self._read_older(residue) is not None

    def on(self, owner: Owner, api: str, value: T) -> Owner:
        """Return a copy of a value of the model that has the hint."""
        model: Any = owner
        extra = model.extra or {}
        changed: Owner = msgspec.structs.replace(model, extra={**extra, api: {**extra.get(api, {}), self.key: value}})
        return changed

    def entry(self, value: T) -> JsonObject:
        """Return the entry of a residue that is the hint."""
        return {self.key: value}

    def extra(self, api: str, value: T) -> dict[str, JsonObject]:
        """Return the `extra` of a new value that has this hint alone."""
        return {api: {self.key: value}}

    def _read_older(self, residue: Mapping[str, Json]) -> T | None:
        for key, migrate in self.older.items():
            if residue.get(key) is not None:
                value: T | None = migrate(residue[key])
                return value if value is not None and self._fits(value) else None
        return None

    def _first_fits(self, value: object) -> bool:
        self._fits, self._class = _test_of(self.type), _class_of(self.type)
        return self._fits(value)


def _declare(hint: Hint[Any]) -> None:
    owners = _declared.setdefault(hint.name, {})
    if owners and (hint.api is None or hint.api in owners or None in owners):
        other = next(iter(owners.values())) if hint.api is None else owners.get(hint.api) or owners[None]
        if (other.api, other.meaning) != (hint.api, hint.meaning):
            raise TypeError(f"{hint!r} is declared already: {other!r}, {other.meaning}")
    owners[hint.api] = hint


def declared() -> list[Hint[Any]]:
    """Return every hint of the modules that are imported, by API and name; those of every API come first."""
    hints = [hint for owners in _declared.values() for hint in owners.values()]
    return sorted(hints, key=lambda hint: (hint.api or "", hint.name))


def hints_with_fields(api: str) -> list[Hint[JsonObject]]:
    """Return the hints of an API whose values hold wire fields."""
    return [hint for hint in declared() if hint.fields and hint.api in (None, api)]


# -- types -------------------------------------------------------------------------------------------------------------


def _class_of(kind: object) -> type | None:
    """Return the class whose every value is of a type; None if there is no such class."""
    return dict if kind == JsonObject else str if kind is str else None


def _test_of(kind: object) -> Callable[[object], bool]:
    """Return a function that tests whether a JSON value is of a type."""
    if get_origin(kind) is Literal:
        words = {(word.__class__, word) for word in get_args(kind)}
        return lambda value: value.__class__ in (str, bool, int) and (value.__class__, value) in words
    if kind is Any:
        return lambda value: True
    only = _class_of(kind)
    if only is not None:
        return lambda value: value.__class__ is only
    if kind == list[str]:
        return lambda value: value.__class__ is list and all(item.__class__ is str for item in value)
    return lambda value: _converts(value, kind)


def _converts(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return False
    return True


# -- residues ----------------------------------------------------------------------------------------------------------


def is_hint(key: str) -> bool:
    """Return whether a key of a residue names a hint, not a wire field."""
    return key[:1] == ":" and key[1:2] != ":"


def escaped_key(key: str) -> str:
    """Return the residue key of a wire field."""
    return f":{key}" if key[:1] == ":" else key


def wire_key(key: str) -> str:
    """Return the wire field that a residue key stands for: the inverse of `escaped_key`."""
    return key[1:] if key[:2] == "::" else key


def escaped(fields: JsonObject) -> JsonObject:
    """Return wire fields as a residue holds them; the same dict where no key begins with ":"."""
    for key in fields:
        if key[:1] == ":":
            return {escaped_key(key): value for key, value in fields.items()}
    return fields


def wire_fields(residue: Mapping[str, object]) -> JsonObject:
    """Return the wire fields of a residue, without its hints: the inverse of `escaped`."""
    return {wire_key(key): value for key, value in residue.items() if not is_hint(key)}


AROUND = ":around."
"""What begins the `field` of a loss that is a field of the wire object around the content."""


# -- hints of every API ------------------------------------------------------------------------------------------------


ABSENT = Hint[list[str]](None, "absent", "the keys that name the type of a wire object, and were missing")
COLUMN = Hint[str](None, "column", "the field of the message or result that the content came from")
FAILURE = Hint[Literal["sign", "text"]](
    None, "failure", 'the origin of an error that a decoder made: "sign" for a field beside the outputs, "text" for one'
)
FORM = Hint[Literal["list", "one", "string"]](None, "form", "the form that the wire had, of several that mean the same")
MINTED = Hint[str](None, "minted", "the id that an adapter gave a call or result of an API without ids: it is not sent")
ROW = Hint[str](None, "row", "the name of the row that decoded the value, if another row usually encodes it")


def with_call_id(content: Call, call_id: str) -> Call:
    """Return a call or result under another id. One that its adapter gave stays one that is not sent."""
    old, extra = content.call_id, content.extra
    if extra is not None and old is not None:
        extra = {
            api: {**fields, **MINTED.entry(call_id)} if MINTED.read(fields) == old else fields
            for api, fields in extra.items()
        }
    return msgspec.structs.replace(content, call_id=call_id, extra=extra)


def minted(call: ToolCallContent | ToolResultContent) -> dict[str, JsonObject] | None:
    """Return the `extra` of a call's result if an adapter gave the call its id; else None."""
    apis: Iterable[str] = call.extra or ()
    ids = {api: MINTED.of(call, api) for api in apis}
    return {api: MINTED.entry(made) for api, made in ids.items() if made is not None and made == call.call_id} or None
