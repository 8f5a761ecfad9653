"""Find the paths of lost values in the model value that was encoded.

Steps replace values while encoding. Each lost value is traced back to the value that it replaced, and the object that
contains that one is looked up in an index of all parts of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec

from contentmodel.engine.table.introspect import classes_in, fields_of
from contentmodel.json import child_path, wire_path
from contentmodel.losses import Loss, PendingLoss, what_of
from contentmodel.message import ChatMessage

Child: TypeAlias = tuple[str | int, object]

_PLAIN = frozenset({str, int, float, bool, type(None), dict})


def parts_of(value: Any) -> list[Child]:
    """Return the Structs and lists in a model value. Residue and JSON values are not parts."""
    if value.__class__ is list:
        return [(index, item) for index, item in enumerate(value) if item.__class__ not in _PLAIN]
    names = names_of_parts(value.__class__)
    return [(name, part) for name in names if (part := getattr(value, name)) and part.__class__ not in _PLAIN]


def _is_struct(kind: type) -> bool:
    return issubclass(kind, msgspec.Struct)


@cache
def names_of_parts(kind: type) -> tuple[str, ...]:
    """Return the fields of a class whose types allow a Struct or a list; none if it is not a Struct.

    An origin is no part: decoders share one among all messages, and nothing in it is lost.
    """
    fields = fields_of(kind) if _is_struct(kind) else ()
    return tuple(
        field.name for field in fields if field.name != "origin" and not _PLAIN.issuperset(classes_in(field.type))
    )


@cache
def names_of_structs(kind: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold a Struct itself, not only in a list."""
    lists = {f.name for f in fields_of(kind) if classes_in(f.type) <= {list, *_PLAIN}} if _is_struct(kind) else ()
    return tuple(name for name in names_of_parts(kind) if name not in lists)


def with_distinct_parts(value: Any) -> Any:
    """Return a model value in which no object occurs twice: each further occurrence is a copy."""
    return _with_distinct_parts(value, set()) if _has_repeated_parts(value) else value


def _has_repeated_parts(value: Any) -> bool:
    """Return whether an object occurs twice in a model value."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value.__class__ in _PLAIN:
            continue
        if id(value) in seen:
            return True
        seen.add(id(value))
        if value.__class__ is list:
            pending += value
            continue
        for name in names_of_parts(value.__class__):
            part = getattr(value, name)
            if part and part.__class__ not in _PLAIN:
                pending.append(part)
    return False


def _with_distinct_parts(value: Any, seen: set[int]) -> Any:
    is_repeated = id(value) in seen
    seen.add(id(value))
    changed: dict[Any, object] = {}
    for step, part in parts_of(value):
        distinct = _with_distinct_parts(part, seen)
        if distinct is not part:
            changed[step] = distinct
    if not changed and not is_repeated:
        return value
    if value.__class__ is list:
        return [changed.get(index, item) for index, item in enumerate(value)]
    return msgspec.structs.replace(value, **changed) if isinstance(value, msgspec.Struct) else value


Owned: TypeAlias = tuple[Any, str, int | None]
"""The owner of a part, its attribute there, and the index of the part if the attribute is a list."""


_MOST = 2
"""The depth of the deepest messages: those of a branch of a request, or of a choice of an answer."""


class Owners:
    """The owner of each part of model values, found level by level, on demand.

    A part that occurs twice has its first and shallowest owner. `root` is the path of every root. A root may be a list.
    """

    def __init__(self, roots: Sequence[object], root: str = "$") -> None:
        self._roots = {id(value): index for index, value in enumerate(roots)}
        self._paths: dict[int, str] = {id(value): root for value in roots}
        self._owned: dict[int, Owned] = {}
        self._level: list[Any] = []
        self._depth = 0
        self._near: dict[int, Owned] = {}
        self._seen: set[int] = set()
        for index, value in enumerate(roots):
            if value.__class__ is not list:
                self._level.append(value)
                continue
            for at, item in enumerate(value):
                self._roots.setdefault(id(item), index)
                self._paths.setdefault(id(item), f"{root}[{at}]")
            self._level += value

    def of(self, part: object, near: object = None) -> Owned | None:
        """Return the owner of a part; None if it has none. A value `near` may be its owner."""
        if id(part) in self._roots:
            return None
        owned = self._owned.get(id(part))
        if owned is None and near is not None:
            if id(near) not in self._seen:
                self._seen.add(id(near))
                _add_owners([near], self._near)
            owned = self._near.get(id(part))
        while owned is None and self._level and not (part.__class__ is ChatMessage and self._depth >= _MOST):
            self._level, self._depth = _add_owners(self._level, self._owned), self._depth + 1
            owned = self._owned.get(id(part))
        return owned

    def root_of(self, part: object) -> int | None:
        """Return the index of the root that contains a part, or that it is; None if it is in none."""
        while (owned := self.of(part)) is not None:
            part = owned[0]
        return self._roots.get(id(part))

    def path(self, part: object) -> str | None:
        """Return the JSON path of a part; None if it is in no root."""
        path = self._paths.get(id(part))
        if path is None and (owned := self.of(part)) is not None:
            owner, name, index = owned
            above = self.path(owner)
            if above is not None:
                path = f"{above}.{name}" if index is None else stepped(f"{above}.{name}", index)
                self._paths[id(part)] = path
        return path


def _add_owners(level: Iterable[Any], owned: dict[int, Owned]) -> list[Any]:
    """Add the owner of each part that is right below a level. Return these parts."""
    below: list[Any] = []
    for owner in level:
        names, values_of = _parts(owner.__class__)
        values = values_of(owner)
        if not any(values):
            continue
        for name, value in zip(names, values, strict=True):
            if value.__class__ is list:
                for index, item in enumerate(value):
                    if id(item) not in owned and item.__class__ not in _PLAIN:
                        owned[id(item)] = owner, name, index
                        below.append(item)
            elif value and value.__class__ not in _PLAIN and id(value) not in owned:
                owned[id(value)] = owner, name, None
                below.append(value)
    return below


@cache
def _parts(kind: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Return the fields of a class that may hold parts, and a function that returns their values."""
    names = names_of_parts(kind)
    # With one name, `attrgetter` returns no tuple.
    return names, attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)


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
        self.owners = Owners(roots, root)
        self.above: object = None
        """The owner of the lost value whose place is looked for; None if it is not known."""
        self.originals: dict[int, object] = {}
        """The values that others replaced, by the identity of these."""
        root_ids = {id(value) for value in roots}
        for old, new in replaced:
            if id(old) in root_ids and new is not old:
                self.originals[id(new)] = old
            elif new is not old:
                self.originals.setdefault(id(new), old)

    def source(self, item: object) -> object:
        """Return the source value that `item` replaced, or `item` itself.

        A message that a step made stands for the first of its contents.
        """
        originals = self.originals
        while id(item) in originals:
            item = originals[id(item)]
        if item.__class__ is ChatMessage and item.contents and self.owners.path(item) is None:
            return self.source(item.contents[0])
        return item

    def leads_back(self, item: object) -> bool:
        """Return whether a value is in the model or replaced a value that is."""
        return self.owners.path(self.source(item)) is not None

    def root_of(self, item: object) -> int | None:
        """Return the index of the root that contains an object or the value that it replaced; None if there is none."""
        return self.owners.root_of(self.source(item))

    def loss(self, pending: PendingLoss) -> Loss:
        """Return a pending loss with its path in the model."""
        path = self.owners.path(self.source(pending.owner))
        path = "$" if path is None else path
        if pending.api is not None:
            path = child_path(child_path(child_path(path, "extra"), pending.api), pending.field or "")
        elif pending.field is not None:
            attribute, _, inside = pending.field.partition("$")
            path = wire_path(path, attribute) + inside
        return pending.at(path, self.target, what_of(pending))
