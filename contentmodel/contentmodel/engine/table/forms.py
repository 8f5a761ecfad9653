"""Forms: how a framework spells a block of a provider in its own parts, read in both directions.

    Form("search", {"part_kind": "call", "tool_name": "web_search"}, {"type": "server_tool_use", "name": "web_search"},
         {"tool_call_id": "id", "args": "input"})

Parts and blocks are JSON objects. A form has the constants of both, and the fields that both have, by dotted path. A
field of an object leaves out the keys that other fields or constants of the form map. Several parts that are one block
are one object, with a key for each part.

Both directions return a new object for any JSON, or None if the form does not fit. They may lose values: `remainder`
and `missing` tell which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from contentmodel.engine.json import Json, JsonObject, dotted_key, path_keys

NOTHING: Final[Any] = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()
"""The value of a field that an object does not have."""
MISFIT: Final[Any] = type("Misfit", (), {"__repr__": lambda self: "MISFIT"})()
"""The result of a leaf for a value that it cannot translate."""


class Leaf:
    """A value that part and block have alike. Subclasses translate it.

    `part_classes` and `block_classes` are the JSON classes that `to_block` and `to_part` take. Other values do not fit.
    If several paths of a part are one value of the block, the part's value is a tuple, with None for missing values.
    A null is a missing value unless the leaf is `nullable`. `part_default` and `block_default` are written if the other
    side has no value. If the leaf is `required`, the form fits only with a value.
    """

    part_classes: tuple[type, ...] = ()
    block_classes: tuple[type, ...] = ()
    part_default: Json = NOTHING
    block_default: Json = NOTHING
    examples: Sequence[Any] = ()
    """Some values of parts, if their form does not describe them. Each is a tuple if there are several paths."""
    may_respell = False
    """True if the value that a part spells may differ from that of the block, and mean the same: see `is_alike`."""

    def __init__(
        self, *classes: type, required: bool = False, nullable: bool = False, block_default: Json = NOTHING
    ) -> None:
        if classes:
            self.part_classes = self.block_classes = classes
        self.required, self.nullable = required, nullable
        if block_default is not NOTHING:
            self.block_default = block_default

    def to_block(self, value: Any) -> Any:
        """Return the block's value for that of a part; NOTHING if the block has none, MISFIT if it cannot have it."""
        return value

    def to_part(self, value: Any) -> Any:
        """Return the part's value for that of a block, in the same way."""
        return value

    def is_alike(self, value: Any, again: Any) -> bool:
        """Return whether a value of a block, and the value that the part spells, differ only in their spelling."""
        return False

    def description(self, at: int | None = None) -> JsonObject:
        """Return the leaf as data. `at` is the index of one of several paths of a part."""
        examples = [example if at is None else example[at] for example in self.examples]
        return {"form": self.describe(), "required": self.required, "examples": examples}

    def describe(self) -> str:
        """Return the form of the part's value, for documentation and generators."""
        return "|".join(c.__name__ for c in self.part_classes) or "any"


class Enum(Leaf):
    """A value of a set of values that the provider defines, such as a status."""

    part_classes = block_classes = (str,)
    examples = ("completed", "failed")

    def describe(self) -> str:
        return "enum"


class Affix(Leaf):
    """A text of a part that begins with a constant text, which the block does not have."""

    part_classes = block_classes = (str,)

    def __init__(self, before: str, *, required: bool = False, examples: Sequence[str] = ()) -> None:
        super().__init__(required=required)
        self._before, self.examples = before, examples

    def to_block(self, value: str) -> Any:
        return value.removeprefix(self._before) if value.startswith(self._before) else MISFIT

    def to_part(self, value: str) -> str:
        return self._before + value

    def describe(self) -> str:
        return f"{self._before}*"


class Always(Leaf):
    """A value that is one constant in parts. Blocks may have other values."""

    part_classes = block_classes = (str,)

    def __init__(self, value: str) -> None:
        super().__init__()
        self._value = value
        self.examples = (value,)

    def to_block(self, value: str) -> Any:
        return value if value == self._value else MISFIT

    def to_part(self, value: str) -> str:
        return self._value


class Unlike(Leaf):
    """A value of blocks that parts do not have if it is the usual one."""

    def __init__(self, usual: Json) -> None:
        super().__init__()
        self._usual = usual

    def to_part(self, value: Any) -> Any:
        return NOTHING if value == self._usual else value


class OnlyText(Leaf):
    """The only text of a list of a part. An empty list is no text."""

    part_classes = (list,)
    block_classes = (str,)
    part_default: Json = ()
    examples = (["a"], [])

    def to_block(self, value: list[Any]) -> Any:
        if not value:
            return NOTHING
        return value[0] if len(value) == 1 and value[0].__class__ is str else MISFIT

    def to_part(self, value: str) -> list[str]:
        return [value]


class Items(Leaf):
    """A list of objects of one field each, under another name in the block, which has constants beside it.

    The block's objects with other constants are left out of the part, and other fields of its objects, too.
    """

    part_classes = block_classes = (list,)

    def __init__(self, part_key: str, block_key: str, constants: Mapping[str, Json]) -> None:
        super().__init__()
        self._part_key, self._block_key, self._constants = part_key, block_key, dict(constants)
        self.examples = ([{part_key: "a"}], [])

    def to_block(self, value: list[Any]) -> Any:
        key = self._part_key
        if not all(item.__class__ is dict and item.keys() == {key} and item[key].__class__ is str for item in value):
            return MISFIT
        return [{**self._constants, self._block_key: item[key]} for item in value]

    def to_part(self, value: list[Any]) -> Any:
        found = [item for item in value if item.__class__ is dict and self._constants.items() <= item.items()]
        return [{self._part_key: item.get(self._block_key)} for item in found]


ANY = Leaf()
Spec: TypeAlias = "str | tuple[str, Leaf]"
_Way: TypeAlias = Callable[[JsonObject], "JsonObject | None"]
_Move: TypeAlias = Callable[[JsonObject, JsonObject], bool]
_Keys: TypeAlias = tuple[str, ...]


class Form:
    """One spelling of a block: the constants of the part and of the block, and the fields that both have.

    The names of the forms of a call and of its results have the same text before a dot.

    - `part`, `block`: the constants by path. A block may lack a constant that is null.
    - `fields`: the path in the block of each path in the part, with a leaf if the values differ. A tuple of paths is
      one value of the block.
    - `adds`: values of parts of other origins, which the provider's block does not have: constants, or functions of
      the part.
    - `of_call`: fields of the part of a result that are those of its call, with a leaf. The block does not have them.
    - `beside`: further values of a part that its block does not have.
    - `renamed`: the name of the tool in the part, if the block has another one.
    - `keys`: the keys of the parts that are contents of their own, if several parts are one block.

    Raise TypeError if a field and a constant have the same path.
    """

    def __init__(
        self,
        name: str,
        part: Mapping[str, Json],
        block: Mapping[str, Json],
        fields: Mapping[Any, Spec],
        *,
        adds: Mapping[str, Any] | None = None,
        of_call: Mapping[str, Leaf] | None = None,
        beside: Iterable[str] = (),
        renamed: str | None = None,
        keys: Sequence[str] = ("",),
    ) -> None:
        self.keys = tuple(keys)
        self.name, self.part, self.block = name, dict(part), dict(block)
        self.adds, self.of_call, self.renamed = dict(adds or {}), dict(of_call or {}), renamed
        self.fields: list[tuple[tuple[str, ...], str, Leaf]] = [
            (path if path.__class__ is tuple else (path,), *(spec if spec.__class__ is tuple else (spec, ANY)))  # type: ignore[misc]
            for path, spec in fields.items()
        ]
        part_keys = [
            *map(path_keys, (*part, *beside)),
            *(path_keys(path) for paths, _, _ in self.fields for path in paths),
        ]
        block_keys = [*map(path_keys, block), *{path_keys(path) for _, path, _ in self.fields}]
        if len(set(part_keys)) < len(part_keys) or len(set(block_keys)) < len(block_keys):
            raise TypeError(f"form {name}: a path is mapped twice")
        there: list[tuple[_Keys, _Move]] = []
        back: list[tuple[_Keys, _Move]] = []
        for paths, path, leaf in self.fields:
            inside, target = [path_keys(one) for one in paths], path_keys(path)
            reads = [_reader(keys, part_keys) for keys in inside]
            there.append((target, _mover(reads, [target], _to_block(leaf), leaf)))
            back.append((max(inside, key=len), _mover([_reader(target, block_keys)], inside, _to_part(leaf), leaf)))
        self._respelled = [(path_keys(path), leaf) for _, path, leaf in self.fields if leaf.may_respell]
        self.to_block = self._with_calls(_way(part, block, there))
        self.to_part = _way(block, part, back)

    def _with_calls(self, way: _Way) -> _Way:
        """Return a way to the block that fits only if the fields of the call do."""
        if not self.of_call:
            return way
        moves = [
            _mover([_reader(path_keys(path), ())], [path_keys(path)], _to_block(leaf), leaf)
            for path, leaf in self.of_call.items()
        ]
        return lambda part: way(part) if all(move(part, {}) for move in moves) else None

    def add(self, whole: JsonObject, key: str) -> None:
        """Add to the part at a key what a part of another origin does not have. Files are added with the last part."""
        for path, value in self.adds.items():
            keys = path_keys(path)
            owner = keys[0] if keys[0] in self.keys else self.keys[-1]
            if owner == key and _reader(keys, ())(whole) is NOTHING:
                _put(whole, keys, value(whole) if callable(value) else value)

    def reads(self, key: str, name: str) -> bool:
        """Return whether the block has values of a field of the part at a key, beside constants."""
        start = ".".join(filter(None, (key, name)))
        return any(f"{path}.".startswith(f"{start}.") for paths, _, _ in self.fields for path in paths)

    def places(self, block_path: str) -> Iterator[str]:
        """Yield the paths in the part of the value at a path of the block."""
        yield from (path for paths, target, _ in self.fields if target == block_path for path in paths)

    def missing(self, block: JsonObject, again: JsonObject) -> Iterator[tuple[str, Json, Json]]:
        """Yield each value of a block that its parts do not spell: its path, and the value that they spell there.

        A value that is only spelled differently is not missing.
        """
        for keys, leaf in self._respelled:
            value, spelled = _reader(keys, ())(block), _reader(keys, ())(again)
            if value is not NOTHING and spelled is not NOTHING and leaf.is_alike(value, spelled):
                again = _replaced(again, keys, value)
        return missing(block, again)

    def describe(self) -> JsonObject:
        """Return the form as data, for documentation, coverage and generators."""
        fields = {
            path: {"block": target, **leaf.description(at if len(paths) > 1 else None)}
            for paths, target, leaf in self.fields
            for at, path in enumerate(paths)
        }
        of_call = {path: leaf.description() for path, leaf in self.of_call.items()}
        own = {"name": self.name, "keys": list(self.keys), "part": self.part, "block": self.block}
        return {**own, "fields": fields, "of_call": of_call}


# -- compiling ---------------------------------------------------------------------------------------------------------


class _Change:
    """A translation that takes any JSON: one direction of a leaf. Several values are one tuple."""

    __slots__ = ("default", "run")

    def __init__(self, translate: Callable[[Any], Any], classes: tuple[type, ...], default: Json) -> None:
        def run(values: list[Any]) -> Any:
            held = [None if value is NOTHING else value for value in values]
            if classes and any(value is not None and value.__class__ not in classes for value in held):
                return MISFIT
            return translate(tuple(held) if len(held) > 1 else held[0])

        self.run, self.default = run, default


def _to_block(leaf: Leaf) -> _Change:
    return _Change(leaf.to_block, leaf.part_classes, leaf.block_default)


def _to_part(leaf: Leaf) -> _Change:
    default = list(leaf.part_default) if leaf.part_default.__class__ is tuple else leaf.part_default
    return _Change(leaf.to_part, leaf.block_classes, default)


def _way(checked: Mapping[str, Json], written: Mapping[str, Json], moves: list[tuple[_Keys, _Move]]) -> _Way:
    """Return a function that makes one object of the other. Deep fields are written first, before those around them."""
    checks = [(_reader(path_keys(path), ()), value) for path, value in checked.items()]
    constants = [(path_keys(path), value) for path, value in written.items()]
    ordered = [move for _, move in sorted(moves, key=lambda pair: -len(pair[0]))]

    def run(wire: JsonObject) -> JsonObject | None:
        for read, value in checks:
            found = read(wire)
            if not (found is NOTHING and value is None) and not same(found, value):
                return None
        made: JsonObject = {}
        for keys, value in constants:
            _put(made, keys, [*value] if value.__class__ is list else value)
        return made if all(move(wire, made) for move in ordered) else None

    return run


def _reader(keys: _Keys, mapped: Iterable[_Keys]) -> Callable[[Any], Any]:
    """Return a function that returns the value at a path, without the keys that other paths, `mapped`, lead through."""
    inside = frozenset(other[len(keys)] for other in mapped if len(other) > len(keys) and other[: len(keys)] == keys)

    def read(wire: Any) -> Any:
        for key in keys:
            if wire.__class__ is not dict or key not in wire:
                return NOTHING
            wire = wire[key]
        if inside and wire.__class__ is dict:
            return {key: value for key, value in wire.items() if key not in inside}
        return wire

    return read


def _mover(reads: Sequence[Callable[[Any], Any]], writes: Sequence[_Keys], change: _Change, leaf: Leaf) -> _Move:
    """Return a function that writes a translated value. It returns False if the value does not fit."""

    def move(wire: JsonObject, made: JsonObject) -> bool:
        values = [read(wire) for read in reads]
        if all(value is NOTHING or value is None for value in values):
            if leaf.required:
                return False
            found = values[0] if leaf.nullable and values[0] is None else change.default
        else:
            found = change.run(values)
        if found is MISFIT:
            return False
        results: Sequence[Any] = found if len(writes) > 1 and found is not NOTHING else (found,) * len(writes)  # type: ignore[assignment]
        return all(_put(made, keys, value) for keys, value in zip(writes, results, strict=True) if value is not NOTHING)

    return move


def _replaced(wire: JsonObject, keys: _Keys, value: Json) -> JsonObject:
    """Return a copy of an object with another value at a path that it has."""
    first, *rest = keys
    return {**wire, first: _replaced(wire[first], (*rest,), value) if rest else value}


def _put(made: JsonObject, keys: _Keys, value: Json) -> bool:
    """Write a value at a path. Objects with different keys are merged; return False if there is another value."""
    *above, last = keys
    for key in above:
        inner = made.setdefault(key, {})
        if inner.__class__ is not dict:
            return False
        made = inner
    if last not in made:
        made[last] = value
        return True
    before = made[last]
    if before.__class__ is dict and value.__class__ is dict:
        made[last] = {**before, **value}
        return before.keys().isdisjoint(value)
    return same(before, value)


# -- comparing ---------------------------------------------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal. In JSON, 1 is neither true nor 1.0."""
    if one is other:
        return True
    if one.__class__ is not other.__class__:
        return False
    if one.__class__ is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if one.__class__ is list:
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def remainder(whole: Any, made: Any) -> Any:
    """Return the values of `whole` that `made` lacks, NOTHING if it lacks none, MISFIT if it has others."""
    if same(whole, made):
        return NOTHING
    if whole.__class__ is not dict or made.__class__ is not dict or not made.keys() <= whole.keys():
        return MISFIT
    rest: JsonObject = {}
    for key, value in whole.items():
        left = remainder(value, made[key]) if key in made else value
        if left is MISFIT:
            return MISFIT
        if left is not NOTHING:
            rest[key] = left
    return rest


def merged(part: Any, rest: Any) -> Any:
    """Return a part with the remaining values of `rest`: the inverse of `remainder`. The part's own values win."""
    if part.__class__ is not dict or rest.__class__ is not dict:
        return part
    return {**rest, **{key: merged(value, rest[key]) if key in rest else value for key, value in part.items()}}


def missing(whole: Any, made: Any, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield the dotted paths of values of `whole` that `made` does not have, with both. Null is no value, nor is []."""
    if whole is None or whole in ([], {}) or same(whole, made):
        return
    if whole.__class__ is dict and made.__class__ is dict:
        for key, value in whole.items():
            yield from missing(value, made.get(key), f"{path}.{dotted_key(key)}" if path else dotted_key(key))
    else:
        yield path, whole, made
