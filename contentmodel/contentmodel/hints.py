"""Hints: values in a residue that restore how the wire spelled a value.

A residue (`extra[api]`) contains unknown wire fields and hints side by side. The key of a hint begins with one ":". If
the key of a wire field begins with ":", it gets one more in the residue, which is removed when it is written. So no
payload can forge a hint.

Hints are part of every stored conversation. Each is therefore declared once, with its type and its owner:

    LEVEL = Hint[str](API, "level", "the level of reasoning in the letters that the request had")

    LEVEL.on(request, API, "High")      # a copy of the request with the hint
    LEVEL.of(request, API)              # "High", or None

A hint of a wrong type is read as missing, because a stored document may come from any source. If the form of a value
changes, the hint gets a new name, and `older` migrates values that are stored under earlier names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin

import msgspec

from contentmodel.json import Json, JsonObject

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent, ToolResultContent

T = TypeVar("T")
Owner = TypeVar("Owner", bound=msgspec.Struct)
Call = TypeVar("Call", bound="ToolCallContent | ToolResultContent")
Migration = Callable[[Json], Json]
"""Convert the value of an earlier version to the current form; None if it is invalid."""

_declared: dict[str, dict[str | None, Hint[Any]]] = {}
_NOTES: set[str] = set()
"""The keys of declared hints whose values contain no wire fields."""


class HasExtra(Protocol):
    """A model value with residue."""

    @property
    def extra(self) -> Mapping[str, JsonObject] | None: ...


class Hint(Generic[T]):
    """One key that codecs keep in the residue of `api`, with the type of its values. None means every API.

    - `meaning`: a description for people.
    - `fields`: whether the value contains fields of the wire object around the content. Encoding for another API
      reports them as lost.
    - `older`: maps earlier names of the hint, the latest first, to functions that migrate a value.

    Raise TypeError if the API has another hint of this name. Declaring the same hint again (when a module is reloaded)
    replaces it.
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the hint by its API and name: the reading process has the same declaration."""
        return _declaration_of, (self.api, self.name)

    @property
    def type(self) -> Any:
        """The type of the values: the T of `Hint[T](...)`."""
        declared = getattr(self, "__orig_class__", None)
        if declared is None:
            raise TypeError(f"the hint {self.name!r} has no type: declare it as Hint[type](...)")
        return get_args(declared)[0]

    def of(self, owner: HasExtra, api: str) -> T | None:
        """Return the hint of `api` on a value; None if it is missing or has a wrong type."""
        extra = owner.extra
        if extra is None:
            return None
        residue = extra.get(api)
        if residue is None:
            return None
        # Same as `read`, inlined for speed: most values are encoded through here.
        value: T | None = residue.get(self.key)
        if value is not None:
            return value if value.__class__ is self._class or self._fits(value) else None
        return self._read_older(residue) if self.older else None

    def read(self, residue: Mapping[str, Json]) -> T | None:
        """Return the hint in a residue; None if it is missing or has a wrong type."""
        value: T | None = residue.get(self.key)
        if value is not None:
            return value if self._fits(value) else None
        return self._read_older(residue) if self.older else None

    def is_in(self, residue: Mapping[str, Json]) -> bool:
        """Return whether a residue has the hint with the right type. The value may be None."""
        if self.key in residue:
            return self._fits(residue[self.key])
        return bool(self.older) and self._read_older(residue) is not None

    def on(self, owner: Owner, api: str, value: T) -> Owner:
        """Return a copy of a model value with the hint."""
        model: Any = owner
        extra = model.extra or {}
        changed: Owner = msgspec.structs.replace(model, extra={**extra, api: {**extra.get(api, {}), self.key: value}})
        return changed

    def entry(self, value: T) -> JsonObject:
        """Return the residue entry of the hint."""
        return {self.key: value}

    def extra(self, api: str, value: T) -> dict[str, JsonObject]:
        """Return the `extra` of a new value that has only this hint."""
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
    for owner in owners.values():
        keys = {owner.key, *owner.older}
        if any(other.fields for other in owners.values()):
            _NOTES.difference_update(keys)
        else:
            _NOTES.update(keys)


def holds_fields(residue: Mapping[str, object]) -> bool:
    """Return whether a residue has wire fields, as entries or in hints, and not only hints."""
    return not _NOTES.issuperset(residue)


def _declaration_of(api: str | None, name: str) -> Hint[Any]:
    return _declared[name][api]


def declared() -> list[Hint[Any]]:
    """Return all hints of imported modules, sorted by API and name. Hints of every API come first."""
    hints = [hint for owners in _declared.values() for hint in owners.values()]
    return sorted(hints, key=lambda hint: (hint.api or "", hint.name))


def hints_with_fields(api: str) -> list[Hint[JsonObject]]:
    """Return the hints of an API whose values contain wire fields."""
    return [hint for hint in declared() if hint.fields and hint.api in (None, api)]


# -- types -------------------------------------------------------------------------------------------------------------


def _class_of(kind: object) -> type | None:
    """Return the class that is equivalent to a type; None if there is none."""
    return dict if kind == JsonObject else str if kind is str else None


def _test_of(kind: object) -> Callable[[object], bool]:
    """Return a function that tests whether a JSON value has a type."""
    if get_origin(kind) is Literal:
        members = {(member.__class__, member) for member in get_args(kind)}
        return lambda value: value.__class__ in (str, bool, int) and (value.__class__, value) in members
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
    """Return the wire field of a residue key: the inverse of `escaped_key`."""
    return key[1:] if key[:2] == "::" else key


def escaped(fields: JsonObject) -> JsonObject:
    """Return wire fields as residue entries. If no key begins with ":", return the same dict."""
    for key in fields:
        if ":" in key and key[0] == ":":
            return {escaped_key(key): value for key, value in fields.items()}
    return fields


def wire_fields(residue: Mapping[str, object]) -> JsonObject:
    """Return a dict of the wire fields of a residue, without its hints: the inverse of `escaped`."""
    for key in residue:
        if ":" in key and key[0] == ":":
            return {wire_key(key): value for key, value in residue.items() if not is_hint(key)}
    return dict(residue)


INSIDE = ":inside."
"""The prefix of a loss's `field` for a dotted path in the wire object of the residue: keys, and indexes of lists."""
AROUND = ":around."
"""The prefix of a loss's `field` for a field of the wire object around the content."""


# -- hints of every API ------------------------------------------------------------------------------------------------


ABSENT = Hint[list[str]](None, "absent", "the keys that name the type of a wire object, and were missing or null")
COLUMN = Hint[str](None, "column", "the field of the message or result that the content came from")
FAILURE = Hint[Literal["sign", "text"]](
    None, "failure", 'the origin of an error that a decoder made: "sign" for a field beside the outputs, "text" for one'
)
FORM = Hint[Literal["list", "one", "string"]](None, "form", "the form that the wire had, of several that mean the same")
MINTED = Hint[str](None, "minted", "the id that an adapter gave a call or result of an API without ids: it is not sent")
GUEST = Hint[str](
    None, "guest", "the content is a block of this API that a message of another format has: the name of its form there"
)
REPEATED = Hint[list[str]](
    None, "guest_repeats", "the dotted paths of values of a part that its block has elsewhere, or in another spelling"
)
# They are losses.
_NOTES.discard(REPEATED.key)
ROW = Hint[str](None, "row", "the name of the row that decoded the value, if another row usually encodes it")


def without_tag(value: Owner, api: str, tag: str, wire: Mapping[str, Json]) -> Owner:
    """Return a copy of a value whose wire object has no tag: the key is missing, or null."""
    model: Any = value
    extra = model.extra or {}
    null = {tag: None} if tag in wire else {}
    changed: Owner = msgspec.structs.replace(
        model, extra={**extra, api: {**extra.get(api, {}), **null, **ABSENT.entry([tag])}}
    )
    return changed


def with_call_id(content: Call, call_id: str) -> Call:
    """Return a call or result with another id. An id that an adapter gave keeps its hint, so that it is not sent."""
    old, extra = content.call_id, content.extra
    if extra is not None and old is not None:
        extra = {
            api: {**fields, **MINTED.entry(call_id)} if MINTED.read(fields) == old else fields
            for api, fields in extra.items()
        }
    return msgspec.structs.replace(content, call_id=call_id, extra=extra)


def minted_id(content: Call, api: str, call_id: str) -> Call:
    """Return a call or result of an API without ids with an id, and a hint that the encoder of that API drops it."""
    return MINTED.on(msgspec.structs.replace(content, call_id=call_id), api, call_id)


def minted(call: ToolCallContent | ToolResultContent) -> dict[str, JsonObject] | None:
    """Return the `extra` for a result of a call if an adapter gave the call its id; else None."""
    apis: Iterable[str] = call.extra or ()
    if not apis:
        return None
    ids = {api: MINTED.of(call, api) for api in apis}
    return {
        api: MINTED.entry(call_id) for api, call_id in ids.items() if call_id is not None and call_id == call.call_id
    } or None
