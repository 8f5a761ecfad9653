"""Find the path in the source of a loss that was recorded while encoding.

A conversion records three lists: the objects that a decoder made of wire objects, the values that an encoder replaced,
and the losses. Paths are resolved when the losses are read. Each lost value is then traced back from the encoded to the
decoded value. Its path follows from the place of its owner, by the row of the owner and the index of the value there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Protocol, TypeAlias

import msgspec

from contentmodel import reasons
from contentmodel.content.tools import ToolResultContent
from contentmodel.engine.losses.model_paths import Child, ModelPaths, names_of_structs, stepped
from contentmodel.hints import AROUND, INSIDE, wire_key
from contentmodel.json import (
    Json,
    JsonObject,
    camel_name,
    child_path,
    dotted_key,
    is_empty,
    path_keys,
    snake_name,
    steps_of,
    value_at,
    whole_number,
    wire_at,
    wire_path,
)
from contentmodel.losses import Loss, PendingLoss, what_of
from contentmodel.message import ChatMessage


class RowFinder(Protocol):
    """Find the row that made a value. A row returns itself; a union selects one of its rows."""

    def row_of(self, value: Any) -> Layout | None: ...


class Layout(RowFinder, Protocol):
    """Find the parts and fields of a value in the wire object that it was decoded from: a row, or `Fields`."""

    def places(self, value: Any, wire: Json, path: str) -> Iterable[tuple[object, str, Json, RowFinder | None]]: ...

    def fields_of(self, attribute: str, wire: JsonObject) -> list[str]: ...


Table: TypeAlias = RowFinder | Callable[[Any], Layout | None] | None
"""A finder of the row that made a value; None if no row made it."""
Trace: TypeAlias = tuple[Table, Sequence[object], Json, str | int | None, bool]
"""A row or a row finder, the objects that it made, and the container and key of their wire value.

If the last element is true, each object came from its own element of that value.
"""
Move: TypeAlias = tuple[object, object, str, str | tuple[Json, str | int]]
"""A copy of a wire object, the original, a field of the copy, and the place of its value.

The place is a dotted path in the original, or a container and a key."""


# -- trees -------------------------------------------------------------------------------------------------------------


class Positions:
    """The parent and the path of each object in one or more trees, found level by level on demand.

    `root` is the path of every root.
    """

    def __init__(self, roots: Sequence[object], children: Callable[[Any], Iterable[Child]], root: str = "$") -> None:
        self._children = children
        self._level: Sequence[object] = roots
        self._parents: dict[int, tuple[object, str | int]] = {
            id(item): (None, index) for index, item in enumerate(roots)
        }
        self._paths: dict[int, str] = {id(item): root for item in roots}

    def parent(self, item: object) -> tuple[object, str | int] | None:
        """Return the object that contains `item`, and the step to it; None if `item` is not in a tree."""
        key = id(item)
        while key not in self._parents:
            if not self._level:
                return None
            self._descend()
        return self._parents[key]

    def tree(self, item: object) -> int | None:
        """Return the index of the root of an object; None if it is in no tree."""
        above = self.parent(item)
        while above is not None and above[0] is not None:
            above = self.parent(above[0])
        return None if above is None else above[1]  # type: ignore[return-value]

    def path(self, item: object) -> str | None:
        """Return the JSON path of an object in its tree; None if it is in no tree."""
        path = self._paths.get(id(item))
        if path is None:
            parent = self.parent(item)
            if parent is None:
                return None
            above = self.path(parent[0])
            assert above is not None
            self._paths[id(item)] = path = stepped(above, parent[1])
        return path

    def _descend(self) -> None:
        parents, children = self._parents, self._children
        below: list[object] = []
        for parent in self._level:
            for step, child in children(parent):
                if id(child) not in parents:
                    parents[id(child)] = parent, step
                    below.append(child)
        self._level = below


def containers_of(value: Json) -> list[Child]:
    """Return the objects and arrays in a JSON object or array."""
    steps: Iterable[Child] = value.items() if value.__class__ is dict else enumerate(value)
    return [(step, inner) for step, inner in steps if inner.__class__ is dict or inner.__class__ is list]


# -- payloads ----------------------------------------------------------------------------------------------------------


_UNKNOWN: Any = object()


class Place(msgspec.Struct, eq=False):
    """The origin of a decoded object: its path, the wire value there, and a finder of its row."""

    path: str
    wire: Json
    item: object
    table: Table
    found_row: Layout | None = _UNKNOWN

    @property
    def row(self) -> Layout | None:
        """The row that made the object, found once; None if no row made it."""
        if self.found_row is _UNKNOWN:
            table = self.table
            self.found_row = table(self.item) if callable(table) else None if table is None else table.row_of(self.item)
        return self.found_row

    @property
    def pieces(self) -> Callable[[JsonObject], list[str]] | None:
        """A function that returns the fields of the object, if its wire object has others, too; else None."""
        return getattr(self.row if callable(self.table) else self.table, "pieces", None)


class WirePaths:
    """The origin of each decoded object in its payload, and the losses with paths in that payload."""

    def __init__(
        self,
        api: str,
        payload: Json,
        traces: list[Trace],
        replaced: Iterable[tuple[object, object]],
        owned: Iterable[tuple[object, object]],
        copies: Sequence[tuple[object, object]],
        moved: Sequence[Move],
        *,
        is_respelled: bool,
    ) -> None:
        self._api = api
        self._is_respelled = is_respelled
        self._payload = payload
        self._positions = Positions([payload], containers_of)
        self._replaced = {id(new): old for old, new in replaced}
        """The values that rows decoded, by the identity of their replacements."""
        self._owners = {id(part): owner for part, owner in owned}
        """The objects that had a part when it was decoded, by the identity of the part."""
        self._copied = {id(copy): original for copy, original in copies}
        self._roots = [copy for copy, _ in copies]
        self._inside = Positions(self._roots, containers_of)
        copy_of = {id(original): copy for copy, original in copies}
        within = [(original, field, origin) for _, original, field, origin in moved if isinstance(origin, str)]
        self._copies = {id(original): copy_of[id(original)] for original, _, _ in within if id(original) in copy_of}
        self._moved: dict[str, str] = {}
        for original, field, origin in within:
            path = self.path(original)
            self._moved[path_inside(path, field)] = path_inside(path, origin)
        self._elsewhere: dict[int, dict[str, list[tuple[Json, str | int]]]] = {}
        """The containers and keys of moved fields, by the identity of the copy, then by the dotted path of the field.

        A value may have several places.
        """
        for copy, _, field, place in moved:
            if isinstance(place, tuple):
                self._elsewhere.setdefault(id(copy), {}).setdefault(field, []).append(place)
        self._traces: dict[int, tuple[Trace, int]] = {}
        for trace in reversed(traces):
            # The first trace of an object counts.
            decoded = trace[1]
            if self._replaced:
                decoded = [self._decoded(item) if id(item) in self._replaced else item for item in decoded]
            last = len(decoded) - 1
            if last:
                places = zip(repeat(trace), range(last, -1, -1), strict=False)
                self._traces.update(zip(map(id, reversed(decoded)), places, strict=False))
            else:
                self._traces[id(decoded[0])] = trace, 0
        self._all = traces
        self._has_other_paths = bool(self._elsewhere or self._moved or is_respelled)
        """True if paths in decoded objects may differ from those in the payload."""
        self._places: dict[int, Place] = {}
        self._located: dict[tuple[int, str | int | None], tuple[str, Json]] = {}
        """The path and the wire value of each trace, by its container and key."""
        self._expanded: set[int] = set()
        self._inner: set[int] = set()
        """The opaque states inside of wire objects that are lost as a whole, by identity."""

    @property
    def are_plain(self) -> bool:
        """True if each object was decoded from the value at its path itself, and not from a copy of it."""
        return not (self._copied or self._copies or self._has_other_paths)

    def _decoded(self, item: object) -> object:
        while id(item) in self._replaced:
            item = self._replaced[id(item)]
        return item

    def path(self, container: object) -> str:
        """Return the path of an object or array of the payload. A copy has the path of its original.

        An object that only a copy contains, such as one that was parsed from a text, has its path in the copy.
        """
        while id(container) in self._copied:
            container = self._copied[id(container)]
        path = self._positions.path(container)
        if path is None and (root := self._inside.tree(container)) is not None:
            path = self.path(self._roots[root]) + (self._inside.path(container) or "$")[1:]
        return path or "$"

    def locate(self, container: object, key: str | int | None) -> str:
        """Return the path of `container[key]`. If `key` is None, return the path of the container."""
        if self._elsewhere and (moved := self._elsewhere.get(id(container), {}).get(str(key))) is not None:
            return self.locate(*moved[0])
        path = self.path(container)
        return path if key is None else stepped(path, key)

    # -- places of objects -------------------------------------------------------------------------------------

    def place(self, item: object, model: ModelPaths, near: object = None) -> Place | None:
        """Return the origin of an object of the decoded value; None if no row and no trace leads to it.

        `near` may be an object that contains it.
        """
        decoded = self._decoded(item) if id(item) in self._replaced else item
        traced = self._places.get(id(decoded))
        if traced is None and id(decoded) in self._traces:
            traced = self._traced(decoded)
        if traced is not None:
            return traced
        former = self._owners.get(id(decoded))
        owned = (former, "", None) if former is not None else model.owners.of(item, near or model.above)
        above = None if owned is None else self.place(owned[0], model)
        if owned is None or above is None:
            return None
        place = None if owned[2] is None else self._element(decoded, above, owned[1], owned[2])
        if place is None:
            self._expand(self._decoded(owned[0]), above)
            place = self._places.get(id(decoded))
        return place

    def _element(self, item: object, above: Place, attribute: str, index: int) -> Place | None:
        """Return the origin of an element of a list whose elements were decoded each from its own element."""
        element_at = getattr(above.row, "element_at", None)
        elements = getattr(above.item, attribute) or ()
        if element_at is None or above.wire.__class__ is not dict or index >= len(elements):
            return None
        # The decoder may have moved the element later.
        element = element_at(attribute, index, above.wire, above.path) if elements[index] is item else None
        if element is None:
            return None
        path, wire, table = element
        return self._put(item, self._actual(path, above)[0] if id(above.wire) in self._elsewhere else path, wire, table)

    def _traced(self, item: object) -> Place | None:
        traced = self._traces.get(id(item))
        if traced is None:
            return None
        (table, _, container, key, is_spread), index = traced
        located = self._located.get((id(container), key))
        if located is None:
            located = self._located[id(container), key] = self.locate(container, key), _element(container, key)
        path, wire = located
        if is_spread:
            path, wire = f"{path}[{index}]", wire[index]
        return self._put(item, path, wire, table)

    def _put(self, item: object, path: str, wire: object, table: Table) -> Place:
        wire = self._copies.get(id(wire), wire)
        place = self._places[id(item)] = Place(path, wire, item, table)
        return place

    def _expand(self, item: object, place: Place) -> list[object]:
        """Record the origins of the objects that the row of `item` made inside of it. Return these objects."""
        if id(item) in self._expanded or place.wire.__class__ is not dict or (row := place.row) is None:
            return []
        self._expanded.add(id(item))
        inside = []
        for inner, path, wire, table in row.places(item, place.wire, place.path):
            decoded = self._decoded(inner)
            path = self._actual(path, place)[0] if id(place.wire) in self._elsewhere else path
            if id(decoded) not in self._places and self._traced(decoded) is None:
                self._put(decoded, path, wire, table)
            inside.append(decoded)
        return inside

    def knows(self, owner: object, model: ModelPaths) -> bool:
        """Return whether an object, or one that contains it, was decoded from this payload."""
        return self._find(model.source(owner), None, model) is not None

    def places(self) -> Iterator[Place]:
        """Yield the origin of each decoded object. An object that other objects contain may come twice."""
        stack = [self._decoded(item) for trace in self._all for item in trace[1]]
        while stack:
            item = stack.pop()
            place = self._places.get(id(item)) or self._traced(item)
            if place is not None:
                yield place
                stack += self._expand(item, place) if place.row is not None else ()

    # -- paths of losses ---------------------------------------------------------------------------------------

    def losses(self, pending: PendingLoss, model: ModelPaths) -> list[Loss]:
        """Return a loss for each path of a pending loss in the payload.

        If the payload does not have the value, the path is in the model.
        """
        owner = pending.owner
        if id(owner) in model.originals or owner.__class__ is ChatMessage:
            owner = model.source(owner)
        place = self.place(owner, model) if pending.field is None or pending.api is not None else None
        if place is not None and pending.api is None:
            return self._losses_of_whole(pending, owner, place, model)
        if place is not None and self._has_residue_of(pending.api, pending.field, place):
            return self._losses_of_residue(pending, place, model)
        origin = self._find(owner, pending.field, model)
        if origin is None:
            return [model.loss(pending)]
        place, field, has_place = origin
        if not has_place and pending.reason in (reasons.EMPTY_MESSAGE, reasons.NO_ROLE_IN_ANSWER):
            # The API has no message object. The lost contents of the message have their own losses.
            return []
        name, losses = what_of(pending), []
        if pending.api is not None and self._has_residue_of(pending.api, pending.field, place):
            return self._losses_of_residue(pending, place, model, exact=has_place)
        for path, exact in self._paths(pending, place, field):
            for actual in self._actual(path, place) if self._has_other_paths else (path,):
                losses.append(pending.at(actual, model.target, name, exact=exact and has_place))
        if has_place and pending.field is None and pending.reason.kind == "dropped":
            beside = self._beside(owner, pending.owner, place, model, has_state=False)
            losses += [pending.at(path, model.target, name) for path in beside]
        return losses

    def _losses_of_whole(self, pending: PendingLoss, owner: object, place: Place, model: ModelPaths) -> list[Loss]:
        """Return the losses of an object: of its wire object, and of the values that are beside it."""
        kind, pieces = pending.reason.kind, place.pieces
        name, target = pending.owner.__class__.__name__, model.target
        # A degraded object is still in the target. Its lost parts have their own losses.
        exact = kind != "degraded"
        if pieces is None and not self._has_other_paths:
            losses = [pending.at(place.path, target, name, exact=exact)]
        else:
            names = pieces(place.wire) if pieces is not None and exact else []
            paths = [wire_path(place.path, inner) for inner in names] or [place.path]
            exact = exact and (pieces is None or bool(names))
            losses = [pending.at(a, target, name, exact=exact) for path in paths for a in self._actual(path, place)]
        if kind == "dropped":
            has_state = pieces is None and not self._elsewhere
            beside = self._beside(owner, pending.owner, place, model, has_state=has_state)
            losses += [pending.at(path, target, name) for path in beside] if beside else ()
        return losses

    def _losses_of_residue(
        self, pending: PendingLoss, place: Place, model: ModelPaths, *, exact: bool = True
    ) -> list[Loss]:
        """Return the losses of a residue field: of the whole value, or of fields in it if others were decoded."""
        api, field, name = pending.api or "", pending.field or "", what_of(pending)
        path = residue_path(place.path, field, None if api == self._api else place.wire)
        residue = ((getattr(pending.owner, "extra", None) or {}).get(api) or {}).get(field)
        inside: Iterable[str] = ("",)
        if residue and residue.__class__ in (dict, list):
            inside = residue_places(residue, value_at(self._payload, self._actual(path, place)[0]), "")
        # The residue of a format around a guest is in the part, and not in the block that the part spells.
        if not self._has_other_paths or self._is_around(api, place):
            return [pending.at(path + end, model.target, name + end, exact=exact) for end in inside]
        return [
            pending.at(actual, model.target, name + end, exact=exact)
            for end in inside
            for actual in self._actual(path + end, place)
        ]

    def is_inside(self, state: object) -> bool:
        """Return whether an opaque state is inside of a wire object that is lost as a whole."""
        return id(state) in self._inner

    def _beside(self, owner: Any, lost: object, place: Place, model: ModelPaths, *, has_state: bool) -> list[str]:
        """Return the paths of what a lost object holds, but its wire object does not: attributes, and outputs.

        `owner` is the object in the source. With `has_state`, record the opaque state that is inside.
        """
        paths: list[str] = []
        if self._elsewhere:
            moved = self._elsewhere.get(id(place.wire), {})
            paths = [self.locate(*origin) for origins in moved.values() for origin in origins]
        names = names_of_structs(owner.__class__)
        parts = [*zip(names, map(getattr, repeat(owner), names), strict=True)]
        if isinstance(lost, ToolResultContent):
            # Steps may have moved some outputs of the source out of the result.
            parts += [("", model.source(output)) for output in lost.output_list]
        for name, part in parts:
            if not isinstance(part, msgspec.Struct):
                continue
            key = id(self._decoded(part) if id(part) in self._replaced else part)
            # Only these may be outside: the row of an object makes its parts of values inside of the wire object.
            if key in self._places or key in self._traces or key in self._owners:
                inner = self.place(part, model)
                paths += [] if inner is None else [inner.path]
            elif has_state and name == "protected":
                self._inner.add(id(part))
        return [path for path in paths if not path.startswith(place.path)] if paths else paths

    def _find(self, owner: object, field: str | None, model: ModelPaths) -> tuple[Place, str | None, bool] | None:
        """Return the origin of an object or its closest owner with one, the field in it, and whether the path is exact.

        It is not exact if the field is a list, and the object is only one of its elements.
        """
        has_place = True
        for _ in range(8):
            place = self.place(owner, model)
            if place is not None:
                deepest, inner_field = (place, None) if field is None else self._deepest(place, owner, field, model)
                return deepest, inner_field, has_place
            above = model.owners.of(owner, model.above)
            if above is None:
                return None
            owner, attribute, index = above
            has_place = has_place and index is None
            field = f"{attribute}.{field}" if field else attribute
        return None

    def _deepest(self, place: Place, owner: object, field: str, model: ModelPaths) -> tuple[Place, str | None]:
        """Return the origin of the innermost object on a dotted field path, and the rest of the field path."""
        if "$" in field and "." not in field.partition("$")[0]:
            return place, field
        if "." not in field:
            return self._own_place(place, owner, field, model) or (place, field)
        attribute, dollar, inside = field.partition("$")
        deepest, value = (place, field), owner
        while "." in attribute:
            name, _, attribute = attribute.partition(".")
            above, value = value, getattr(value, name, None)
            inner = self.place(value, model, above) if isinstance(value, msgspec.Struct) else None
            if inner is not None:
                deepest = inner, f"{attribute}{dollar}{inside}"
        return deepest

    def _own_place(self, place: Place, owner: object, field: str, model: ModelPaths) -> tuple[Place, None] | None:
        """Return the origin of a value that has one of its own, because the object's row has no field for it."""
        value = getattr(owner, field, None)
        if not isinstance(value, msgspec.Struct):
            return None
        is_object = place.row is not None and place.wire.__class__ is dict
        has_field = is_object and place.row.fields_of(field, place.wire)  # type: ignore[union-attr]
        inner = None if has_field else self.place(value, model, owner)
        return None if inner is None else (inner, None)

    def _paths(self, pending: PendingLoss, place: Place, field: str | None) -> Iterable[tuple[str, bool]]:
        """Return the paths of a lost value, and whether each is exact."""
        if field is not None and pending.api is None:
            return _field_paths(place, field)
        exact, pieces = pending.api is None and pending.reason.kind != "degraded", place.pieces
        names = pieces(place.wire) if pieces is not None and exact else []
        if names:
            return [(wire_path(place.path, name), exact) for name in names]
        return [(place.path, exact and pieces is None)]

    def _has_residue_of(self, api: str | None, field: str | None, place: Place) -> bool:
        """Return whether a wire object has a residue field. A format may have fields of another API beside its own."""
        if api == self._api or (place.wire.__class__ is dict and field in place.wire):
            return True
        return bool(api == getattr(place.row, "api", None))

    def _is_around(self, api: str | None, place: Place) -> bool:
        """Return whether residue is that of the format, and the wire object a block of a provider that it has."""
        return api == self._api and bool(self._elsewhere) and getattr(place.row, "api", api) != api

    def _actual(self, path: str, place: Place) -> list[str]:
        """Return the paths in the payload for a path in an object, which may be a copy with fields from elsewhere."""
        moved = self._elsewhere.get(id(place.wire), {}) if self._elsewhere else {}
        steps = steps_of(path[len(place.path) :]) if moved else []
        for end in range(len(steps), 0, -1):
            origins = moved.get(".".join(dotted_key(str(step)) for step in steps[:end]))
            if origins is None and end == 1:
                origins = moved.get(str(steps[0]))
            if origins is not None:
                above = place.path
                for step in steps[:end]:
                    above = stepped(above, step)
                paths = [self.locate(*origin) + path[len(above) :] for origin in origins]
                return [spelled(self._payload, actual) for actual in paths] if self._is_respelled else paths
        return [self._spelled(path)]

    def _spelled(self, path: str) -> str:
        """Return a path as the payload has it: moved fields at their origin, names in the payload's spelling."""
        start = 0
        while self._moved and start < len(path):
            ends = [index for index, mark in enumerate(path) if mark in ".[" and index > start]
            length = next((end for end in (*ends, len(path)) if path[:end] in self._moved), 0)
            origin = self._moved.get(path[:length], path)
            start, path = len(origin), origin + path[length:] if length else path
        return spelled(self._payload, path) if self._is_respelled else path


def _element(container: Json, key: str | int | None) -> Json:
    try:
        return container if key is None else container[key]
    except (KeyError, IndexError):
        # The payload does not have the value.
        return None


def _field_paths(place: Place, field: str) -> list[tuple[str, bool]]:
    """Return the path of each wire field that holds a model field; the path of the object if there is no such field."""
    attribute, _, inside = field.partition("$")
    wire = place.wire
    names = place.row.fields_of(attribute, wire) if wire.__class__ is dict and place.row is not None else []
    if not names:
        # A string is the text of its content.
        return [(place.path + inside, wire.__class__ is str and attribute == "text")]
    present = names if len(names) == 1 else [name for name in names if wire_at(wire, name) is not None]
    return [(wire_path(place.path, name) + inside, True) for name in present or names[:1]]


def residue_path(path: str, field: str, wire: object = None) -> str:
    """Return the path of a residue field.

    `:around.x` is the field x of the object that contains the list of parts, unless the part itself has it: a container
    may have the part and the fields around it in one object.
    """
    if field.startswith(INSIDE):
        return path_inside(path, field.removeprefix(INSIDE))
    if not field.startswith(AROUND):
        return child_path(path, wire_key(field))
    around = wire_key(field.removeprefix(AROUND))
    if wire.__class__ is dict and around in wire:
        return child_path(path, around)
    list_at = _LAST_STEP.search(path)
    return child_path("$" if list_at is None else path[: list_at.start()], around)


_LAST_STEP = re.compile(r"(?:\.\w+|\['(?:[^'\\]|\\.)*'\])(?:\[\d+\])*$")
"""The last step to a key, and the indexes after it."""


def path_inside(path: str, dotted: str) -> str:
    """Return a path with the steps of a dotted path: keys, and indexes of lists."""
    for key in path_keys(dotted):
        at = whole_number(key)
        path = stepped(path, key if at is None else at)
    return path


def residue_places(residue: object, wire: object, path: str) -> Iterator[str]:
    """Yield the paths of residue in a wire value: of the whole value, or of fields if other fields were decoded."""
    if residue.__class__ is list and wire.__class__ is list and len(residue) == len(wire) and residue != wire:
        for index, (value, whole) in enumerate(zip(residue, wire, strict=True)):
            if not is_empty(value):
                yield from residue_places(value, whole, f"{path}[{index}]")
        return
    if residue == wire or residue.__class__ is not dict or wire.__class__ is not dict:
        yield path
        return
    for key, value in residue.items():
        if not is_empty(value):
            yield from residue_places(value, wire.get(key), child_path(path, key))


def spelled(payload: object, path: str) -> str:
    """Return `path` in the payload's spelling: `fileData` becomes `file_data` if the payload has that, or back."""
    value, result = payload, "$"
    for step in steps_of(path):
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
            result += f"[{step}]"
            continue
        snake = snake_name(step)
        key = step
        if isinstance(value, dict) and step not in value:
            key = next((name for name in (snake, camel_name(step)) if name in value), step)
        value = value.get(key) if isinstance(value, dict) else None
        result = child_path(result, key)
    return result
