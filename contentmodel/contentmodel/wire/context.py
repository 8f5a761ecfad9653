"""The state of one decoding or one encoding: faults, losses, and which wire object each content came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.capabilities import UNLIMITED
from contentmodel.errors import DecodeError, Fault
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage
from contentmodel.wire import reasons
from contentmodel.wire.json import child_path, kind_of, snake_name, steps_of, value_at, wire_path
from contentmodel.wire.losses import RESIDUE, Loss, ModelPlaces, Note, what_of
from contentmodel.wire.notes import wire_key
from contentmodel.wire.reasons import Reason, unlisted

if TYPE_CHECKING:
    from contentmodel.wire.names import Maps
    from contentmodel.wire.table import Row


class DecodeContext:
    """Collects the faults of one payload, and remembers cheaply what was decoded from where.

    Nothing here knows a path while decoding: faults and traces name the wire object that holds the value, and
    paths are found by identity when they are needed.
    """

    __slots__ = ("_copies", "_faults", "_moved", "_replaced", "alone", "api", "minted", "origin", "traces")

    def __init__(self, api: str, origin: Origin) -> None:
        self.api = api
        self.origin = origin
        self.minted = 0
        self.alone: list[Any] | None = None
        """The messages, if the payload is a list of them and no object."""
        self._copies: list[tuple[Any, Any]] = []
        self._moved: list[tuple[Any, str, str]] = []
        self._replaced: list[tuple[Any, Any]] = []
        self._faults: dict[tuple[int, str | int | None], tuple[Any, str | int | None, str]] = {}
        self.traces: list[tuple[Any, list[Any], Any, str | int | None, bool]] = []

    def fault(self, container: Any, key: str | int | None, message: str) -> None:
        """Something is wrong at `container[key]` (None: with the container itself)."""
        self._faults[(id(container), key)] = (container, key, message)

    def expected(self, container: Any, key: str | int | None, wanted: str, value: Any) -> None:
        """`container[key]` is `value`, which is not `wanted`."""
        self.fault(container, key, f"expected {wanted}, got {kind_of(value)}")

    def attempt(self, decode: Callable[..., Any], wire: Any) -> Any:
        """Return what `decode` makes of a wire object; None, and no fault of the payload, if it finds faults in it."""
        before, self._faults = self._faults, {}
        value = decode(wire, self)
        found, self._faults = self._faults, before
        return None if found else value

    def trace(self, row: Any, objects: list[Any], container: Any, key: str | int | None, *, spread: bool) -> None:
        """`objects` were decoded from `container[key]`: each from its own element of it where `spread`.

        What a row decodes is found without a trace; who groups wire objects in a way of his own leaves one.
        """
        self.traces.append((row, objects, container, key, spread))

    def trace_messages(self, messages: list[Any], container: Any, row_of: Any) -> None:
        """Messages that were decoded each from its own element of a list."""
        self.traces.append((row_of, messages, container, None, True))

    def replaced(self, old: Any, new: Any) -> None:
        """`new` stands for `old`, and came from the same place."""
        self._replaced.append((old, new))

    def copied(self, copy: Any, original: Any, moved: tuple[str, str] | None = None) -> None:
        """Trace `copy`, which is decoded in place of `original`.

        `moved` is a field of the copy, and the dotted path in the original that it came from.
        """
        self._copies.append((copy, original))
        if moved is not None:
            self._moved.append((original, *moved))

    def _paths(self, payload: Any) -> dict[int, str]:
        paths = wire_paths(payload if self.alone is None else self.alone)
        for copy, original in self._copies:
            paths[id(copy)] = paths.get(id(original), "$")
        return paths

    def finish(self, payload: Any) -> None:
        """Raises every fault as one DecodeError."""
        if self._faults:
            paths = self._paths(payload)
            faults = [
                Fault(_locate(paths, container, key), message) for container, key, message in self._faults.values()
            ]
            raise DecodeError(self.api, faults)

    def places(self, payload: Any) -> WirePlaces:
        """Where in `payload` each decoded object came from."""
        root = payload if self.alone is None else self.alone
        moved = {id(original) for original, _, _ in self._moved}
        copies = {id(original): copy for copy, original in self._copies if id(original) in moved}
        places = WirePlaces(self.traces, self._paths(payload), self.api, root, self._replaced, copies)
        for old, new in self._replaced:
            places.same(old, new)
        for item, field, origin in self._moved:
            places.move(item, field, origin)
        return places


def wire_paths(payload: Any) -> dict[int, str]:
    """The JSON path of every object and array of a payload, by identity."""
    paths: dict[int, str] = {}
    stack = [(payload, "$")]
    while stack:
        value, path = stack.pop()
        if isinstance(value, dict):
            paths.setdefault(id(value), path)
            stack.extend((v, child_path(path, k)) for k, v in value.items() if isinstance(v, dict | list))
        elif isinstance(value, list):
            paths.setdefault(id(value), path)
            stack.extend((v, f"{path}[{i}]") for i, v in enumerate(value) if isinstance(v, dict | list))
    return paths


def _locate(paths: Mapping[int, str], container: Any, key: str | int | None) -> str:
    path = paths.get(id(container), "$")
    if key is None:
        return path
    return f"{path}[{key}]" if isinstance(key, int) else child_path(path, key)


def _residue_path(path: str, field: str) -> str:
    """Return the path of a residue field; `:item.x` is the field x of the wire object that holds the part's list."""
    if field.startswith(":item."):
        return child_path(re.sub(r"\.\w+(\[\d+\])?$", "", path), wire_key(field[6:]))
    return child_path(path, wire_key(field))


def _left_in(left: Any, wire: Any, path: str) -> Iterator[str]:
    """Where what is `left` of a wire object stands: as a whole, or piece by piece where the rest was read."""
    if left == wire or left.__class__ is not dict or wire.__class__ is not dict:
        yield path
        return
    for key, value in left.items():
        if value is not None and value != [] and value != {}:
            yield from _left_in(value, wire.get(key), child_path(path, key))


class WirePlaces:
    """Turns notes about model objects into losses with the paths of the payload they were decoded from."""

    def __init__(
        self,
        trace: list[Any],
        paths: Mapping[int, str],
        api: str,
        payload: Any,
        replaced: list[tuple[Any, Any]],
        copies: Mapping[int, Any],
    ) -> None:
        self._originals = {id(new): old for old, new in replaced}
        """What the rows decoded, by what is in its place."""
        self._api = api
        self._payload = payload
        self._wire_paths = paths
        self._copies = copies
        self._moved: dict[str, str] = {}
        self._found: dict[int, tuple[str, Row | None]] = {}
        for table, objects, container, key, spread in trace:
            path = _locate(paths, container, key)
            try:
                wire = container if key is None else container[key]
            except (KeyError, IndexError):
                # What stands for something that is not there.
                wire = None
            for index, item in enumerate(objects):
                if spread:
                    self._place(item, f"{path}[{index}]", wire[index], table)
                else:
                    self._place(item, path, wire, table)

    def _place(self, item: Any, path: str, wire: Any, table: Any) -> None:
        while id(item) in self._originals:
            item = self._originals[id(item)]
        wire = self._copies.get(id(wire), wire)
        row = table(item) if callable(table) else table and table.row_of(item)
        self._found.setdefault(id(item), (path, row))
        if row is not None and wire.__class__ is dict:
            for inner in row.places(item, wire, path):
                self._place(*inner)

    def same(self, old: Any, new: Any) -> None:
        """`new` came from where `old` did."""
        if id(old) in self._found:
            self._found.setdefault(id(new), self._found[id(old)])

    def move(self, item: Any, field: str, origin: str) -> None:
        """Trace a field that was decoded from another place of the same wire object."""
        path = self._wire_paths.get(id(item), "$")
        self._moved[f"{path}.{field}"] = f"{path}.{origin}"

    def _true_path(self, path: str) -> str:
        """Return a path as the payload has it: of what was moved, and in its own spelling of names."""
        ends = [index for index, mark in enumerate(path) if mark in ".["] if self._moved else []
        for end in (*ends, len(path)):
            if path[:end] in self._moved:
                path = self._moved[path[:end]] + path[end:]
                break
        return spelled(self._payload, path)

    def found(self) -> Iterator[tuple[str, Row]]:
        """Yield the path of each wire object that a row decoded, with the row, once each."""
        yield from dict.fromkeys((path, row) for path, row in self._found.values() if row is not None)

    def losses(self, note: Note, places: ModelPlaces) -> Iterator[Loss]:
        """`note` with its path in the payload; the path in the model where the payload never had it.

        What the payload says in several places has a path for each.
        """
        found = self._find(note.owner, note.field, places)
        if found is None:
            yield places.loss(note)
            return
        path, row, field, has_place = found
        if not has_place and note.reason is reasons.EMPTY_MESSAGE:
            # The API has no such object: what was in the message is lost itself, each content at its path.
            return
        for where, inside, exact in self._paths(note, path, row, field):
            where, what = self._true_path(where + inside), what_of(note) + (inside if note.api else "")
            yield places.loss_at(where, note, what, exact=exact and has_place)

    def _paths(self, note: Note, path: str, row: Row | None, field: str | None) -> Iterator[tuple[str, str, bool]]:
        """The paths of what was lost, each in two parts (of the field, inside of it), and whether they are exact."""
        if note.api == self._api:
            path = _residue_path(path, note.field or "")
            left = (note.owner.extra or {}).get(note.api, {}).get(note.field)
            yield from ((path, inside, True) for inside in _left_in(left, self._at(path), ""))
        elif field is None or note.api is not None:
            # An object that is there as something less is there: what is gone of it is a loss of its own.
            exact = note.api is None and note.reason.kind != "degraded"
            pieces = getattr(row, "pieces", None)
            names = pieces(self._at(path)) if pieces is not None and exact else []
            yield from ((wire_path(path, name), "", exact) for name in names)
            if not names:
                yield path, "", exact and pieces is None
        else:
            attribute, _, inside = field.partition("$")
            wire = self._at(path)
            fields = row.fields_of(attribute, wire) if row is not None and wire.__class__ is dict else []
            places = [wire_path(path, name) for name in fields]
            said = [place for place in places if self._at(place) is not None]
            yield from ((place, inside, bool(places)) for place in said or places[:1] or [path])

    def _at(self, path: str) -> Any:
        return value_at(self._payload, self._true_path(path))

    def _find(
        self, owner: Any, field: str | None, places: ModelPlaces
    ) -> tuple[str, Row | None, str | None, bool] | None:
        """Return the place of an object, and the field there; False if it is only one of several in that field."""
        has_place = True
        for _ in range(8):
            place = self._found.get(id(owner))
            if place is not None:
                return (*self._deepest(place, owner, field), has_place)
            above = places.owners.get(id(owner))
            if above is None:
                return None
            has_place = has_place and not isinstance(getattr(above[0], above[1], None), list)
            owner, field = above[0], f"{above[1]}.{field}" if field else above[1]
        return None

    def _deepest(
        self, place: tuple[str, Row | None], owner: Any, field: str | None
    ) -> tuple[str, Row | None, str | None]:
        """Return the place of the innermost object that a dotted field leads through, and the rest of the field."""
        attribute, dollar, inside = (field or "").partition("$")
        found, value = (*place, field), owner
        while "." in attribute:
            name, _, attribute = attribute.partition(".")
            value = getattr(value, name, None)
            if isinstance(value, msgspec.Struct) and id(value) in self._found:
                found = (*self._found[id(value)], f"{attribute}{dollar}{inside}")
        return found


class EncodeContext:
    """Collects the losses of one encoding, and knows the target and the policies for what it has no place for."""

    __slots__ = (
        "api",
        "by_hand",
        "issuer",
        "kind",
        "known",
        "maps",
        "native",
        "notes",
        "policies",
        "reasoning_fields",
        "stand_ins",
        "status",
    )

    def __init__(
        self,
        api: str,
        issuer: str,
        kind: str,
        policies: Mapping[str, str] | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.api = api
        self.issuer = issuer
        self.kind = kind
        # A request that was decoded from nowhere is made to fit like one of another API; what it says in an API's own
        # words (a hosted tool's settings) can only be meant for this one.
        self.by_hand = origin is None
        self.native = origin.api == api if origin is not None else kind == "response"
        self.policies = policies or {}
        self.known = UNLIMITED
        """What the model takes that a request is for."""
        # What Note is made of: most notes are never read.
        self.notes: list[tuple[Any, str | None, Reason, str | None, dict[str, Any]]] = []
        self.stand_ins: list[tuple[Any, Any]] = []
        self.maps: Maps | None = None
        self.reasoning_fields: tuple[str, ...] = ()
        """The fields of a message that hold reasoning of any issuer, each the name of a policy."""
        self.status: int | None = None
        """The HTTP status of the error that was encoded."""

    def is_ours(self, tool: Any) -> bool:
        """Return whether the settings of a hosted tool are this API's: it came from it, or was made by hand for it."""
        return self.native or (self.by_hand and (tool.extra is None or self.api in tool.extra))

    def same(self, original: Any, stand_in: Any) -> Any:
        """`stand_in` is encoded in the place of `original`: what it loses, the original loses. Gives the stand-in."""
        self.stand_ins.append((original, stand_in))
        return stand_in

    def with_contents(self, message: ChatMessage, contents: list[Any]) -> ChatMessage:
        """The message with other contents, in its place; itself where they are the same ones."""
        same = len(contents) == len(message.contents)
        if same and all(new is old for new, old in zip(contents, message.contents, strict=True)):
            return message
        changed: ChatMessage = self.same(message, msgspec.structs.replace(message, contents=contents))
        return changed

    def lose(
        self,
        owner: Any,
        field: str | None,
        reason: Reason | str,
        *,
        kind: str = "dropped",
        api: str | None = None,
        **values: Any,
    ) -> None:
        """Report that `field` of `owner` (None: all of it) does not reach the target as it is.

        `reason` is an entry of `contentmodel.wire.reasons`, which has the code and the kind of the loss, and `values`
        are what its text names. A text in its place gives a loss of `kind` whose code is "unlisted": this is for
        adapters that have no table of reasons. `api` is set where the field is in the residue of that API.
        """
        if reason.__class__ is str:
            reason = unlisted(kind, reason)
        self.notes.append((owner, field, reason, api, values))  # type: ignore[arg-type]

    def degrade(self, content: Any, reason: Reason, *carried: str, **values: Any) -> None:
        """Report that `content` is sent as something less, and as lost what is in none of its `carried` attributes."""
        self.lose(content, None, reason, **values)
        self.lose_attributes(
            content, tuple(name for name in content.__struct_fields__ if name not in (*carried, *_APART))
        )
        self.leave_residue(content, own=True)

    def leave_residue(self, owner: Any, *, own: bool = False) -> None:
        """Fields of `owner` that only other APIs know are left behind (`own`: this API's as well)."""
        if owner.extra is not None:
            # Which fields those are is found out when somebody asks.
            self.notes.append((owner, None, RESIDUE, None if own else self.api, {}))

    def lose_other_word(self, owner: Any, name: str, word: Any) -> None:
        """The field `name` says something else than `word`, which is all that the target can say here."""
        if getattr(owner, name) not in (None, word):
            self.lose(owner, name, reasons.OTHER_WORD, word=word)

    def lose_attributes(self, owner: Any, names: tuple[str, ...]) -> None:
        """Those of the fields `names` that say something have no place in the target's wire object."""
        for name in names:
            value, default = owner, None
            for part in name.split("."):
                value, default = getattr(value, part, None), default_of(value, part)
            if value is not None and value != default and not (value is False and name == "is_error"):
                self.lose(owner, name, _reason_for(owner, name, value))


_APART = ("extra", "executor", "protected")
"""Attributes of a content whose loss is reported in other ways, or that no wire field holds."""
_USUAL = {"status": "completed", "strict": False, "options.parallel_tool_calls": True}
"""Values that mean the same as a missing field, by attribute."""


def _reason_for(owner: Any, name: str, value: Any) -> Reason:
    """Return why a target without a field for an attribute loses it: some values mean nothing to a reader."""
    if name == "message_id":
        return reasons.MESSAGE_ID
    if _USUAL.get(name) == value:
        return reasons.USUAL_VALUE
    if owner.__class__ is Usage:
        if value == 0:
            return reasons.ZERO_COUNT
        if name == "total_tokens" and value in (owner.all_input_tokens + owner.all_output_tokens, _sum_of(owner)):
            return reasons.TOKEN_SUM
    return reasons.NO_FIELD


def _sum_of(usage: Usage) -> int:
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def default_of(owner: Any, name: str) -> Any:
    """What a field of a Struct is when nobody says otherwise."""
    return defaults_of(type(owner)).get(name) if isinstance(owner, msgspec.Struct) else None


_DEFAULTS: dict[type[Any], dict[str, Any]] = {}


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    """What the fields of a Struct class are when nobody says otherwise."""
    if kind not in _DEFAULTS:
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        said = zip(names[len(names) - len(defaults) :], defaults, strict=True)
        _DEFAULTS[kind] = {name: _plain_default(default) for name, default in said}
    return _DEFAULTS[kind]


def _plain_default(default: Any) -> Any:
    if default is msgspec.NODEFAULT:
        return None
    return default.factory() if hasattr(default, "factory") else default


def spelled(payload: Any, path: str) -> str:
    """`path` with the names that the payload really has: `fileData` is `file_data` where the payload says so."""
    if "_" in path or path == "$":
        return path
    value, done = payload, "$"
    for step in steps_of(path):
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
            done += f"[{step}]"
            continue
        snake = snake_name(step)
        key = snake if isinstance(value, dict) and step not in value and snake in value else step
        value = value.get(key) if isinstance(value, dict) else None
        done = child_path(done, key)
    return done
