"""Find the paths of lost values in the model value that was encoded.

Steps replace values while encoding. Each lost value is traced back to the value that it replaced, and the object that
contains that one is looked up: all objects of a class are found together, with their owners, when the first is needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, compress
from operator import attrgetter
from typing import Annotated, Any, TypeAlias, get_args, get_origin

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.engine.json import child_path, wire_path
from contentmodel.engine.losses.loss import Loss, PendingLoss, what_of
from contentmodel.engine.table.introspect import classes_in, fields_of, options_of
from contentmodel.message import ChatMessage

Child: TypeAlias = tuple[str | int, object]

_PLAIN = frozenset({str, int, float, bool, type(None), dict})


def parts_of(value: Any) -> list[Child]:
    """Return the Structs and lists in a model value. Residue and JSON values are not parts."""
    if value.__class__ is list:
        return [(index, item) for index, item in enumerate(value) if item.__class__ not in _PLAIN]
    names = _names_of_parts(value.__class__)
    return [(name, part) for name in names if (part := getattr(value, name)) and part.__class__ not in _PLAIN]


def _is_struct(kind: type) -> bool:
    return issubclass(kind, msgspec.Struct)


@cache
def _names_of_parts(kind: type) -> tuple[str, ...]:
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
    return tuple(name for name in _names_of_parts(kind) if name not in lists)


def with_distinct_parts(value: Any) -> Any:
    """Return a model value in which no object occurs twice: each further occurrence is a copy."""
    return _with_distinct_parts(value, set()) if _has_repeated_parts(value) else value


def _has_repeated_parts(value: Any) -> bool:
    """Return whether an object occurs twice in a model value."""
    seen: set[int] = set()
    rest = [value]
    while rest:
        value = rest.pop()
        if value.__class__ in _PLAIN:
            continue
        if id(value) in seen:
            return True
        seen.add(id(value))
        if value.__class__ is list:
            rest += value
            continue
        for name in _names_of_parts(value.__class__):
            part = getattr(value, name)
            if part and part.__class__ not in _PLAIN:
                rest.append(part)
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


class _Parts(msgspec.Struct, frozen=True):
    """The parts that several owners have in one attribute, numbered in order."""

    owners: Sequence[Any]
    name: str
    numbers: dict[int, int]
    """The number of each part, by identity."""
    starts: list[int] | None = None
    """The number of the first part of each owner, if the attribute is a list."""

    def without(self, earlier: _Parts) -> _Parts:
        """Return the parts that are not among earlier ones."""
        numbers = {key: number for key, number in self.numbers.items() if key not in earlier.numbers}
        return msgspec.structs.replace(self, numbers=numbers)

    def owner_of(self, part: object) -> Owned | None:
        """Return the owner of a part; None if it is none of these."""
        number = self.numbers.get(id(part))
        if number is None:
            return None
        if self.starts is None:
            return self.owners[number], self.name, None
        at = bisect_right(self.starts, number) - 1
        return self.owners[at], self.name, number - self.starts[at]


class Owners:
    """The owner of each part of model values. The parts of all owners are numbered together, level by level, on demand.

    Contents and what contains them are the levels. Other parts are searched for by their class, beside the contents. A
    part that occurs twice has its first and shallowest owner. `root` is the path of every root. A root may be a list.
    """

    def __init__(self, roots: Sequence[object], root: str = "$") -> None:
        self._roots = {id(value): index for index, value in enumerate(roots)}
        self._paths: dict[int, str] = {id(value): root for value in roots}
        level: list[object] = []
        for index, value in enumerate(roots):
            if value.__class__ is not list:
                level.append(value)
                continue
            for at, item in enumerate(value):
                self._roots.setdefault(id(item), index)
                self._paths.setdefault(id(item), f"{root}[{at}]")
            level += value
        self._levels: list[Sequence[object]] = [level]
        self._below: list[list[_Parts]] = []
        """The parts of each level that are the next one."""
        self._known: dict[type, list[_Parts]] = {}
        self._rest: dict[type, Iterator[_Parts]] = {}

    def of(self, part: Any) -> Owned | None:
        """Return the owner of a part; None if it has none."""
        if id(part) in self._roots:
            return None
        kind = _kind_of(part.__class__)
        known = self._known.get(kind)
        if known is None:
            known, self._rest[kind] = self._known.setdefault(kind, []), self._search(kind)
        for parts in reversed(known):
            if (owned := parts.owner_of(part)) is not None:
                return owned
        for parts in self._rest[kind]:
            for earlier in known:
                if not earlier.numbers.keys().isdisjoint(parts.numbers):
                    parts = parts.without(earlier)
            known.append(parts)
            if (owned := parts.owner_of(part)) is not None:
                return owned
        return None

    def _search(self, kind: type) -> Iterator[_Parts]:
        """Yield the parts that are objects of a class, or contain such objects."""
        number = 0
        while level := self._levels[number]:
            inner = () if kind is AIContent else level
            while inner:
                parts, inner = _parts_below(inner, kind)
                yield from parts
            if number == len(self._below):
                parts, below = _parts_below(level, AIContent)
                self._below.append(parts)
                self._levels.append(below)
            yield from self._below[number]
            number += 1

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


def _parts_below(level: Sequence[Any], kind: type) -> tuple[list[_Parts], Sequence[Any]]:
    """Return the parts of a level that lead to parts of a class, and the same parts as the next level."""
    kinds: list[Any] = [*dict.fromkeys(map(type, level))]
    names_of = {owner: _names_towards(owner, kind) for owner in kinds}
    made: list[_Parts] = []
    below: list[Any] = []
    for name in dict.fromkeys(chain.from_iterable(names_of.values())):
        having = {owner for owner, names in names_of.items() if name in names}
        owners = level if len(having) == len(names_of) else [owner for owner in level if owner.__class__ in having]
        values = list(map(attrgetter(name), owners))
        if not all(values):
            owners = list(compress(owners, values))
            values = list(filter(None, values))
        classes = set(map(type, values))
        if not _NO_PART.issuperset(classes):
            single = [pair for pair in zip(owners, values, strict=True) if pair[1].__class__ not in _NO_PART]
            parts = [part for _, part in single]
            made.append(_Parts([owner for owner, _ in single], name, _numbered(parts)))
            below += parts
        if list in classes:
            lists = values if len(classes) == 1 else [value if value.__class__ is list else () for value in values]
            parts = list(chain.from_iterable(lists))
            made.append(_Parts(owners, name, _numbered(parts), [0, *accumulate(map(len, lists))]))
            below += parts
    if len(made) == 1 and len(made[0].numbers) == len(below):
        return made, below
    numbers = _numbered(below)
    return made, below if len(numbers) == len(below) else [below[number] for number in numbers.values()]


_NO_PART = frozenset({list, *_PLAIN})


def _numbered(parts: list[object]) -> dict[int, int]:
    """Return the number of each part, by identity. A part that occurs twice has its first number."""
    last = len(parts) - 1
    return dict(zip(map(id, reversed(parts)), range(last, -1, -1), strict=True))


@cache
def _kind_of(part: Any) -> type:
    """Return AIContent for contents and for what contains them; the class of any other part."""
    kind: type = AIContent if issubclass(part, AIContent) or _names_towards(part, AIContent) else part
    return kind


@cache
def _names_towards(owner: Any, kind: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold objects of the class `kind`, at any depth.

    If `kind` is no content, leave out the fields that hold contents: these are searched anyway.
    """
    if not _is_struct(owner):
        return ()
    contents = () if kind is AIContent else _names_towards(owner, AIContent)
    names = {*_names_of_parts(owner)}.difference(contents)
    return tuple(f.name for f in fields_of(owner) if f.name in names and _leads(f.type, kind, frozenset()))


def _leads(hint: object, kind: type, above: frozenset[object]) -> bool:
    """Return whether a value of a type may be, or contain, an object of the class `kind`."""
    for held in _held_by(hint) - _PLAIN - above:
        if not isinstance(held, type) or not issubclass(held, msgspec.Struct) or issubclass(held, AIContent):
            # Anything, a list of a list, or a content: an application may add classes of contents.
            return True
        if issubclass(kind, held) or any(_leads(f.type, kind, above | {held}) for f in fields_of(held)):
            return True
    return False


def _held_by(hint: object) -> set[object]:
    """Return the classes of a type, and those of the elements of its lists."""
    held: set[object] = set()
    for option in options_of(hint):
        is_nested = get_origin(option) in (list, Annotated)
        held |= _held_by(get_args(option)[0]) if is_nested else classes_in(option)
    return held


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
