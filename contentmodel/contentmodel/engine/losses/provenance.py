"""Find the path in the source of a loss that was recorded while encoding.

A conversion records three lists: the objects that a decoder made of wire objects, the values that an encoder replaced,
and the losses. Paths are resolved when the losses are read. Each lost value is then traced back from the encoded to the
decoded value. Its path is searched from the top of the payload, level by level, and no deeper than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias

import msgspec

from contentmodel.engine.json import Json, JsonObject, child_path, snake_name, steps_of, value_at, wire_at, wire_path
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.loss import Loss, PendingLoss, what_of
from contentmodel.engine.table.hints import AROUND, wire_key
from contentmodel.engine.table.introspect import classes_in, fields_of
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
Child: TypeAlias = tuple[str | int, object]
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


_PLAIN = frozenset({str, int, float, bool, type(None), dict})


def parts_of(value: Any) -> list[Child]:
    """Return the Structs and lists in a model value. Residue and JSON values are not parts."""
    if value.__class__ is list:
        return [(index, item) for index, item in enumerate(value) if item.__class__ not in _PLAIN]
    names = _names_of_parts(value.__class__)
    return [(name, part) for name in names if (part := getattr(value, name)) and part.__class__ not in _PLAIN]


@cache
def _names_of_parts(kind: type) -> tuple[str, ...]:
    """Return the fields of a class whose types allow a Struct or a list; none if it is not a Struct.

    An origin is no part: decoders share one among all messages, and nothing in it is lost.
    """
    fields = fields_of(kind) if issubclass(kind, msgspec.Struct) else ()
    return tuple(
        field.name for field in fields if field.name != "origin" and not _PLAIN.issuperset(classes_in(field.type))
    )


def with_distinct_parts(value: Any, seen: set[int] | None = None) -> Any:
    """Return a model value in which no object occurs twice: each further occurrence is a copy."""
    seen = set() if seen is None else seen
    is_repeated = id(value) in seen
    seen.add(id(value))
    changed: dict[Any, object] = {}
    for step, part in parts_of(value):
        distinct = with_distinct_parts(part, seen)
        if distinct is not part:
            changed[step] = distinct
    if not changed and not is_repeated:
        return value
    if value.__class__ is list:
        return [changed.get(index, item) for index, item in enumerate(value)]
    return msgspec.structs.replace(value, **changed) if isinstance(value, msgspec.Struct) else value


def containers_of(value: Json) -> list[Child]:
    """Return the objects and arrays in a JSON object or array."""
    steps: Iterable[Child] = value.items() if value.__class__ is dict else enumerate(value)
    return [(step, inner) for step, inner in steps if inner.__class__ is dict or inner.__class__ is list]


def stepped(path: str, step: str | int) -> str:
    """Return `path` with one more step: a key or an index."""
    return f"{path}[{step}]" if step.__class__ is int else child_path(path, step)  # type: ignore[arg-type]


class ModelPaths:
    """Paths in model values, also of the values that an encoder put in place of their parts.

    `root` is the path of each of the values themselves.
    """

    def __init__(
        self, roots: Sequence[object], replaced: Iterable[tuple[object, object]], target: str, root: str = "$"
    ) -> None:
        self.target = target
        self._positions = Positions(roots, parts_of, root)
        self._originals: dict[int, object] = {}
        root_ids = {id(value) for value in roots}
        for old, new in replaced:
            if id(old) in root_ids and new is not old:
                self._originals[id(new)] = old
            elif new is not old:
                self._originals.setdefault(id(new), old)

    def source(self, item: object) -> object:
        """Return the source value that `item` replaced, or `item` itself.

        A message that a pass made stands for the first of its contents.
        """
        while id(item) in self._originals:
            item = self._originals[id(item)]
        if isinstance(item, ChatMessage) and item.contents and self._positions.path(item) is None:
            return self.source(item.contents[0])
        return item

    def leads_back(self, item: object) -> bool:
        """Return whether a value is in the model or replaced a value that is."""
        return self._positions.path(self.source(item)) is not None

    def owner(self, item: object) -> tuple[object, str, bool] | None:
        """Return the object that contains a value, its attribute there, and whether that attribute is a list."""
        position = self._positions.parent(item)
        if position is None or position[0] is None:
            return None
        parent, step = position
        if parent.__class__ is not list:
            return parent, str(step), False
        above = self._positions.parent(parent)
        assert above is not None
        return above[0], str(above[1]), True

    def root_of(self, item: object) -> int | None:
        """Return the index of the root that contains an object or the value that it replaced; None if there is none."""
        return self._positions.tree(self.source(item))

    def loss(self, pending: PendingLoss) -> Loss:
        """Return a pending loss with its path in the model."""
        path = self._positions.path(self.source(pending.owner))
        path = "$" if path is None else path
        if pending.api is not None:
            path = child_path(child_path(child_path(path, "extra"), pending.api), pending.field or "")
        elif pending.field is not None:
            attribute, _, inside = pending.field.partition("$")
            path = wire_path(path, attribute) + inside
        return pending.at(path, self.target, what_of(pending))


# -- payloads ----------------------------------------------------------------------------------------------------------


class Place(msgspec.Struct, frozen=True):
    """The origin of a decoded object: its path, the wire value there, and a finder of its row."""

    path: str
    wire: Json
    item: object
    table: Table

    @property
    def row(self) -> Layout | None:
        """The row that made the object; None if no row made it."""
        table = self.table
        return table(self.item) if callable(table) else None if table is None else table.row_of(self.item)


class WirePaths:
    """The origin of each decoded object in its payload, and the losses with paths in that payload."""

    def __init__(
        self,
        api: str,
        payload: Json,
        traces: list[Trace],
        replaced: Iterable[tuple[object, object]],
        taken: Iterable[tuple[object, object]],
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
        self._owners = {id(part): owner for part, owner in taken}
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
            self._moved[wire_path(path, field)] = wire_path(path, origin)
        self._elsewhere: dict[int, dict[str, tuple[Json, str | int]]] = {}
        """The containers and keys of moved fields, by the identity of the copy, then by the field."""
        for copy, _, field, place in moved:
            if isinstance(place, tuple):
                self._elsewhere.setdefault(id(copy), {})[field] = place
        self._traces: dict[int, tuple[Trace, int]] = {}
        for trace in traces:
            for index, item in enumerate(trace[1]):
                self._traces.setdefault(id(self._decoded(item)), (trace, index))
        self._all = traces
        self._places: dict[int, Place] = {}
        self._expanded: set[int] = set()

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
        found = self._positions.path(container)
        if found is None and (root := self._inside.tree(container)) is not None:
            found = self.path(self._roots[root]) + (self._inside.path(container) or "$")[1:]
        return found or "$"

    def locate(self, container: object, key: str | int | None) -> str:
        """Return the path of `container[key]`. If `key` is None, return the path of the container."""
        path = self.path(container)
        return path if key is None else stepped(path, key)

    # -- places of objects -------------------------------------------------------------------------------------

    def place(self, item: object, model: ModelPaths) -> Place | None:
        """Return the origin of an object of the decoded value; None if no row and no trace leads to it."""
        decoded = self._decoded(item)
        known = self._places.get(id(decoded)) or self._traced(decoded)
        if known is not None:
            return known
        owner = self._owner(item, decoded, model)
        if owner is None:
            return None
        owner_place = self.place(owner, model)
        if owner_place is not None:
            self._expand(self._decoded(owner), owner_place)
        return self._places.get(id(decoded))

    def _owner(self, item: object, decoded: object, model: ModelPaths) -> object | None:
        """Return the object that an object was decoded in."""
        former = self._owners.get(id(decoded))
        if former is not None:
            return former
        above = model.owner(item)
        return None if above is None else above[0]

    def _traced(self, item: object) -> Place | None:
        known = self._traces.get(id(item))
        if known is None:
            return None
        (table, _, container, key, is_spread), index = known
        path, wire = self.locate(container, key), _element(container, key)
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

    def losses(self, pending: PendingLoss, model: ModelPaths) -> Iterator[Loss]:
        """Yield a loss for each path of a pending loss in the payload.

        If the payload does not have the value, the path is in the model.
        """
        origin = self._find(model.source(pending.owner), pending.field, model)
        if origin is None:
            yield model.loss(pending)
            return
        place, field, has_place = origin
        if not has_place and pending.reason in (reasons.EMPTY_MESSAGE, reasons.NO_ROLE_IN_ANSWER):
            # The API has no message object. The lost contents of the message have their own losses.
            return
        name = what_of(pending)
        for path, inside, exact in self._paths(pending, place, field):
            named = name + inside if pending.api else name
            yield pending.at(self._actual(path + inside, place), model.target, named, exact=exact and has_place)
        if has_place and pending.field is None and pending.reason.kind == "dropped":
            for path in self._beside(model.source(pending.owner), place, model):
                yield pending.at(path, model.target, name, exact=True)

    def _beside(self, owner: object, place: Place, model: ModelPaths) -> Iterator[str]:
        """Yield the paths of the attributes of an object whose wire values are not inside that of the object."""
        for origin in self._elsewhere.get(id(place.wire), {}).values():
            path = self.locate(*origin)
            if not path.startswith(place.path):
                yield path
        for _, part in parts_of(owner):
            inner = self.place(part, model) if isinstance(part, msgspec.Struct) else None
            if inner is not None and not inner.path.startswith(place.path):
                yield inner.path

    def _find(self, owner: object, field: str | None, model: ModelPaths) -> tuple[Place, str | None, bool] | None:
        """Return the origin of an object or its closest owner with one, the field in it, and whether the path is exact.

        It is not exact if the field is a list, and the object is only one of its elements.
        """
        has_place = True
        for _ in range(8):
            place = self.place(owner, model)
            if place is not None:
                return (*self._deepest(place, owner, field, model), has_place)
            above = model.owner(owner)
            if above is None:
                return None
            owner, attribute, is_list = above
            has_place = has_place and not is_list
            field = f"{attribute}.{field}" if field else attribute
        return None

    def _deepest(self, place: Place, owner: object, field: str | None, model: ModelPaths) -> tuple[Place, str | None]:
        """Return the origin of the innermost object on a dotted field path, and the rest of the field path."""
        if field is None or ("$" in field and "." not in field.partition("$")[0]):
            return place, field
        if "." not in field:
            return self._own_place(place, owner, field, model) or (place, field)
        attribute, dollar, inside = field.partition("$")
        deepest, value = (place, field), owner
        while "." in attribute:
            name, _, attribute = attribute.partition(".")
            value = getattr(value, name, None)
            inner = self.place(value, model) if isinstance(value, msgspec.Struct) else None
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
        inner = None if has_field else self.place(value, model)
        return None if inner is None else (inner, None)

    def _paths(self, pending: PendingLoss, place: Place, field: str | None) -> Iterator[tuple[str, str, bool]]:
        """Yield the paths of a lost value: the path of the field, the path inside of it, and whether they are exact."""
        # A format may have fields of another API beside its own.
        is_beside = place.wire.__class__ is dict and pending.field in place.wire
        if pending.api is not None and (is_beside or pending.api in (self._api, getattr(place.row, "api", None))):
            field = pending.field or ""
            path = residue_path(place.path, field, None if pending.api == self._api else place.wire)
            extra: Mapping[str, JsonObject] = getattr(pending.owner, "extra", None) or {}
            residue = extra.get(pending.api, {}).get(field)
            if residue.__class__ not in (dict, list) or not residue:
                yield path, "", True
                return
            for inside in residue_places(residue, value_at(self._payload, self._actual(path, place)), ""):
                yield path, inside, True
        elif field is None or pending.api is not None:
            # A degraded object is still in the target. Its lost parts have their own losses.
            exact = pending.api is None and pending.reason.kind != "degraded"
            pieces = getattr(place.row, "pieces", None)
            names = pieces(place.wire) if pieces is not None and exact else []
            for name in names:
                yield wire_path(place.path, name), "", exact
            if not names:
                yield place.path, "", exact and pieces is None
        else:
            yield from _field_paths(place, field)

    def _actual(self, path: str, place: Place) -> str:
        """Return a path in the payload for a path in an object, which may be a copy with fields from elsewhere."""
        field = steps_of(path[len(place.path) :])[:1] if self._elsewhere else []
        origin = self._elsewhere.get(id(place.wire), {}).get(str(field[0])) if field else None
        if origin is None:
            return self._spelled(path)
        return self.locate(*origin) + path[len(child_path(place.path, str(field[0]))) :]

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


def _field_paths(place: Place, field: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the path of each wire field that holds a model field; the path of the object if there is no such field."""
    attribute, _, inside = field.partition("$")
    wire = place.wire
    names = place.row.fields_of(attribute, wire) if place.row is not None and wire.__class__ is dict else []
    present = [name for name in names if wire_at(wire, name) is not None]
    for name in present or names[:1]:
        yield wire_path(place.path, name), inside, True
    if not names:
        yield place.path, inside, False


def residue_path(path: str, field: str, wire: object = None) -> str:
    """Return the path of a residue field.

    `:around.x` is the field x of the object that contains the list of parts, unless the part itself has it: a container
    may have the part and the fields around it in one object.
    """
    around = wire_key(field.removeprefix(AROUND))
    if field.startswith(AROUND) and wire.__class__ is dict and around in wire:
        return child_path(path, around)
    if not field.startswith(AROUND):
        return child_path(path, wire_key(field))
    steps = steps_of(path)
    while steps and steps[-1].__class__ is int:
        steps.pop()
    parent = "$"
    for step in steps[:-1]:
        parent = stepped(parent, step)
    return child_path(parent, around)


def residue_places(residue: object, wire: object, path: str) -> Iterator[str]:
    """Yield the paths of residue in a wire value: of the whole value, or of fields if other fields were decoded."""
    if residue.__class__ is list and wire.__class__ is list and len(residue) == len(wire) and residue != wire:
        for index, (value, whole) in enumerate(zip(residue, wire, strict=True)):
            if value is not None and value != [] and value != {}:
                yield from residue_places(value, whole, f"{path}[{index}]")
        return
    if residue == wire or residue.__class__ is not dict or wire.__class__ is not dict:
        yield path
        return
    for key, value in residue.items():
        if value is not None and value != [] and value != {}:
            yield from residue_places(value, wire.get(key), child_path(path, key))


def spelled(payload: object, path: str) -> str:
    """Return `path` in the payload's spelling of names: `fileData` becomes `file_data` if the payload has that key."""
    value, result = payload, "$"
    for step in steps_of(path):
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
            result += f"[{step}]"
            continue
        snake = snake_name(step)
        key = snake if isinstance(value, dict) and step not in value and snake in value else step
        value = value.get(key) if isinstance(value, dict) else None
        result = child_path(result, key)
    return result
