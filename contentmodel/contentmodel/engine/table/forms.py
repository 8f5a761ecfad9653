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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from contentmodel.content.tools import ToolCallContent
from contentmodel.json import Json, JsonArray, JsonObject, dotted_key, path_keys, wire_at

NOTHING: Final[Any] = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()
"""The value of a field that an object does not have."""
MISFIT: Final[Any] = type("Misfit", (), {"__repr__": lambda self: "MISFIT"})()
"""The result of a leaf for a value that it cannot translate."""


Moved: TypeAlias = "tuple[Any, Any, tuple[str, str] | None]"
"""An object of a block, the object of its part, and the paths of a value in both if they differ."""


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
    repeats: Sequence[int] = ()
    """The indexes of the paths of a part whose values the block has in another spelling, or from another path."""
    keeps = False
    """True if parts spell a value of the block in several ways. Their spelling is kept with the content."""

    def __init__(
        self,
        *classes: type,
        required: bool = False,
        nullable: bool = False,
        block_default: Json = NOTHING,
        repeats: bool = False,
    ) -> None:
        if classes:
            self.part_classes = self.block_classes = classes
        if repeats:
            self.repeats = (0,)
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

    def moves(self, block: Any, part: Any) -> Iterator[Moved]:
        """Yield the objects in the value of a block, as `Form.moves` does."""
        yield from ()

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

    def __init__(
        self, before: str, *, required: bool = False, examples: Sequence[str] = (), repeats: bool = False
    ) -> None:
        super().__init__(required=required, repeats=repeats)
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


class Words(Leaf):
    """One of some values, each of which is another one in the block."""

    def __init__(self, *words: tuple[Json, Json], part_default: Json = NOTHING) -> None:
        super().__init__()
        self._words, self.part_default = words, part_default
        self.examples = [word for word, _ in words]

    def to_block(self, value: Any) -> Any:
        return next((block_value for word, block_value in self._words if same(word, value)), MISFIT)

    def to_part(self, value: Any) -> Any:
        return next((word for word, block_value in self._words if same(block_value, value)), MISFIT)


class Either(Leaf):
    """A value that a part has at the first of some paths that it has. New parts have it at the first of all."""

    keeps = True

    def __init__(self, number: int, *classes: type, required: bool = False, repeats: bool = False) -> None:
        """Create the leaf. `number` is the number of the paths."""
        super().__init__(*classes, required=required)
        self.number, self.repeats = number, range(number) if repeats else ()

    def to_block(self, value: tuple[Any, ...]) -> Any:
        return next(item for item in value if item is not None)

    def to_part(self, value: Any) -> Any:
        return value, *(NOTHING for _ in range(self.number - 1))

    def description(self, at: int | None = None) -> JsonObject:
        return {**super().description(), "either": [at, self.number]}


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
        items = [item for item in value if item.__class__ is dict and self._constants.items() <= item.items()]
        return [{self._part_key: item.get(self._block_key)} for item in items]


class Each(Leaf):
    """A list of objects, each of which has one of some forms. The first one that fits exactly applies."""

    part_classes = block_classes = (list,)

    def __init__(self, *forms: Form, required: bool = False, examples: Sequence[Any] = ()) -> None:
        super().__init__(required=required)
        self._forms, self.examples = forms, examples

    def to_block(self, value: list[Any]) -> Any:
        matches = [spelled(self._forms, item) for item in value]
        blocks = [None if match is None or match[2] else match[1] for match in matches]
        return MISFIT if None in blocks else blocks

    def to_part(self, value: list[Any]) -> Any:
        parts = [part_of(self._forms, item) for item in value]
        return MISFIT if None in parts else parts

    def moves(self, block: list[Any], part: list[Any]) -> Iterator[Moved]:
        for inner_block, item in zip(block, part, strict=True):
            match = spelled(self._forms, item)
            if match is not None:
                yield from match[0].moves(inner_block, item)


def spelled(forms: Iterable[Form], part: Any) -> tuple[Form, JsonObject, JsonObject] | None:
    """Return the first form with the same part as its inverse, the block, and the other fields of the part."""
    for form in forms if part.__class__ is dict else ():
        block = form.to_block(part)
        back = None if block is None else form.to_part(block)
        other_fields = MISFIT if back is None else remainder(part, back)
        if block is not None and other_fields is not MISFIT:
            return form, block, {} if other_fields is NOTHING else other_fields
    return None


def part_of(forms: Iterable[Form], block: Any) -> JsonObject | None:
    """Return the part of a block by the first form that has one; None if none has."""
    parts = (form.to_part(block) for form in forms) if block.__class__ is dict else ()
    return next((part for part in parts if part is not None), None)


ANY = Leaf()
Spec: TypeAlias = "str | tuple[str, Leaf]"
_Way: TypeAlias = Callable[[JsonObject], "JsonObject | None"]
_Keys: TypeAlias = tuple[str, ...]
_Path: TypeAlias = tuple[_Keys, Collection[str]]


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
    - `implied`: values of the block that follow from its others, which parts do not have: functions of the block.
    - `renamed`: the name of the tool in the part, if the block has another one.
    - `executor`: who runs the tool of a call, if its block does not show it.
    - `keys`: the keys of the parts that are contents of their own, if several parts are one block.
    - `rest`: the path of an object of the part with the fields of the block that no path maps; "" is the part itself.

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
        implied: Mapping[str, Callable[[JsonObject], Json]] | None = None,
        renamed: str | None = None,
        executor: str | None = None,
        keys: Sequence[str] = ("",),
        rest: str | None = None,
    ) -> None:
        self.keys, self.executor = tuple(keys), executor
        self.name, self.part, self.block = name, dict(part), dict(block)
        self.adds, self.of_call, self.renamed = dict(adds or {}), dict(of_call or {}), renamed
        self.fields: list[tuple[tuple[str, ...], str, Leaf]] = [
            (path if path.__class__ is tuple else (path,), *(spec if spec.__class__ is tuple else (spec, ANY)))  # type: ignore[misc]
            for path, spec in fields.items()
        ]
        part_keys = [*map(path_keys, (*part, *beside, *(path for paths, _, _ in self.fields for path in paths)))]
        block_keys = [*map(path_keys, (*block, *{path for _, path, _ in self.fields}))]
        if len(set(part_keys)) < len(part_keys) or len(set(block_keys)) < len(block_keys):
            raise TypeError(f"form {name}: a path is mapped twice")
        self.places: dict[str, list[str]] = {}
        """The paths in the part of the value at each path of the block."""
        there: list[_Move | _Rest] = []
        back: list[_Move | _Rest] = []
        for paths, path, leaf in self.fields:
            self.places.setdefault(path, []).extend(paths)
            inside, target = [*map(path_keys, paths)], path_keys(path)
            parts, blocks = [_path(keys, part_keys) for keys in inside], [_path(target, block_keys)]
            there.append(_Move(parts, [target], leaf, Leaf.to_block, leaf.part_classes, leaf.block_default))
            back.append(_Move(blocks, inside, leaf, Leaf.to_part, leaf.block_classes, leaf.part_default))
        self._rest, self._first_keys = rest, {keys[0] for keys in block_keys}
        if rest is not None:
            holder = path_keys(rest) if rest else ()
            there.append(_Rest(_path(holder, part_keys), (), self._first_keys))
            back.append(_Rest(((), self._first_keys), holder, () if rest else {keys[0] for keys in part_keys}))
        self._respelled = {path: leaf for _, path, leaf in self.fields if leaf.may_respell}
        # The fields of the call are read for their values only: a form fits if they do.
        calls = [(_path(path_keys(path), ()), leaf) for path, leaf in self.of_call.items()]
        needed = [_Move([path], [], leaf, Leaf.to_block, leaf.part_classes, leaf.block_default) for path, leaf in calls]
        self._keeping = [path for paths, _, leaf in self.fields if leaf.keeps for path in paths]
        self.repeats = any(leaf.repeats for _, _, leaf in self.fields)
        """True if parts may have a value of the block twice, or in another spelling."""
        self.respells = bool(self._keeping)
        """True if names in values of the block may have another spelling in the part."""
        self.to_block = _way(part, block, there, needed, implied or {})
        self.to_part = _way(block, part, back)

    def spellings(self, whole: JsonObject, back: JsonObject) -> dict[str, JsonArray]:
        """Return the values of a part whose spelling is kept, by path: those that differ from the usual ones, `back`.

        A value is a list of one value. The list is empty if the part has no value.
        """
        spellings = {}
        for path in self._keeping:
            value, usual = (_read(wire, path_keys(path)) for wire in (whole, back))
            if value is not usual and (value is NOTHING or usual is NOTHING or not same(value, usual)):
                spellings[path] = [] if value is NOTHING else [value]
        return spellings

    def repeated(self, whole: JsonObject, usual: Sequence[str]) -> list[str]:
        """Return the paths of values of a part that its block has elsewhere, and of fields `usual` that follow."""
        repeated_paths = []
        for paths, _, leaf in self.fields:
            values = [_read(whole, path_keys(path)) for path in paths] if leaf.repeats else []
            is_set = [value is not NOTHING and value is not None and value not in ({}, [], "") for value in values]
            # Of several paths, one must have the value.
            enough = sum(is_set) > 1 or len(values) == 1 or leaf.__class__ is Either
            repeated_paths += [path for at, path in enumerate(paths) if enough and at in leaf.repeats and is_set[at]]
        repeated_paths += [path for path in self.of_call if path in usual and path in whole]
        for path, value in self.adds.items():
            added_value = (value(whole) if callable(value) else value) if path_keys(path)[-1] in usual else None
            if added_value is not None and same(added_value, _read(whole, path_keys(path))):
                repeated_paths.append(path)
        return repeated_paths

    def add(self, whole: JsonObject, key: str) -> None:
        """Add to the part at a key what a part of another origin does not have. Files are added with the last part."""
        for path, value in self.adds.items():
            keys = path_keys(path)
            owner = keys[0] if keys[0] in self.keys else self.keys[-1]
            if owner == key and _read(whole, keys) is NOTHING:
                _put(whole, keys, value(whole) if callable(value) else value)

    def reads(self, key: str, name: str) -> bool:
        """Return whether the block has values of a field of the part at a key, beside constants."""
        start = ".".join(filter(None, (key, name)))
        return any(f"{path}.".startswith(f"{start}.") for paths, _, _ in self.fields for path in paths)

    def moves(self, block: JsonObject, part: JsonObject) -> Iterator[Moved]:
        """Yield a block and its part, with each path of the block whose value has another path in the part."""
        yield block, part, None
        for paths, target, leaf in self.fields:
            if paths[0] != target:
                yield block, part, (target, paths[0])
            block_value, value = wire_at(block, target), wire_at(part, paths[0])
            if block_value.__class__ is value.__class__ is list:
                yield from leaf.moves(block_value, value)
        for name in map(dotted_key, block.keys() - self._first_keys) if self._rest else ():
            yield block, part, (name, f"{self._rest}.{name}")

    def holds(self, contents: Sequence[Any]) -> bool:
        """Return whether the form may have these contents: those of all of its parts, or a call without its result."""
        is_alone = len(contents) == 1 and isinstance(contents[0], ToolCallContent) and self.executor is None
        fits = self.executor in (None, getattr(contents[0], "executor", None))
        return fits and (len(contents) == len(self.keys) or is_alone)

    def without_parts(self, block: JsonObject, keys: Sequence[str]) -> JsonObject:
        """Return a block without the values that only the parts at these keys have."""
        for paths, target, _ in self.fields:
            if all(path_keys(path)[0] in keys for path in paths):
                block = respelled(block, {target: []})
        return block

    def missing(self, block: JsonObject, again: JsonObject) -> Iterator[tuple[str, Json, Json]]:
        """Yield each value of a block that its parts do not spell: its path, and the value that they spell there.

        A value that is only spelled differently is not missing.
        """
        return missing(block, again, self._respelled)

    def describe(self) -> JsonObject:
        """Return the form as data, for documentation, coverage and generators."""
        fields = {
            path: {"block": target, **leaf.description(at if len(paths) > 1 else None)}
            for paths, target, leaf in self.fields
            for at, path in enumerate(paths)
        }
        of_call = {path: leaf.description() for path, leaf in self.of_call.items()}
        description = {"name": self.name, "keys": list(self.keys), "part": self.part, "block": self.block}
        description["adds"] = {path: value for path, value in self.adds.items() if not callable(value)}
        return {**description, "fields": fields, "of_call": of_call, "rest": self._rest}


# -- compiling ---------------------------------------------------------------------------------------------------------


class _Move:
    """One direction of a field: the paths where a value is read and written, and its translation."""

    __slots__ = ("_classes", "_default", "_leaf", "_reads", "_translate", "_writes", "depth")

    def __init__(
        self,
        reads: list[_Path],
        writes: list[_Keys],
        leaf: Leaf,
        translate: Callable[[Leaf, Any], Any],
        classes: tuple[type, ...],
        default: Json,
    ) -> None:
        """Create the move. `translate` is the method of `Leaf` that a class of leaves may replace."""
        method = getattr(leaf, translate.__name__)
        self._translate = None if method.__func__ is translate else method
        self._reads, self._writes, self._leaf = reads, writes, leaf
        self._classes, self._default = classes, default
        self.depth = max(map(len, writes), default=0)

    def run(self, wire: JsonObject, target: JsonObject) -> bool:
        """Write the translated value of one object into the other one. Return False if it does not fit."""
        reads = self._reads
        values = [_read(wire, *reads[0])] if len(reads) == 1 else [_read(wire, *path) for path in reads]
        leaf, classes, first, is_missing = self._leaf, self._classes, values[0], True
        translated: Any
        for at, value in enumerate(values):
            if value is not NOTHING and value is not None:
                is_missing = False
                if classes and value.__class__ not in classes:
                    return False
            else:
                values[at] = None
        if is_missing:
            if leaf.required:
                return False
            default = list(self._default) if self._default.__class__ is tuple else self._default
            translated = None if leaf.nullable and first is None else default
        else:
            translated = first if len(values) == 1 else (*values,)
            translated = translated if self._translate is None else self._translate(translated)
        if translated is MISFIT:
            return False
        for at, keys in enumerate(self._writes):
            value = translated[at] if len(self._writes) > 1 and translated is not NOTHING else translated
            if value is not NOTHING and not _put(target, keys, value):
                return False
        return True


class _Rest:
    """One direction of all fields of an object that no field of the form maps. It comes last."""

    __slots__ = ("_keys", "_read", "_reserved", "depth")

    def __init__(self, read: _Path, keys: _Keys, reserved: Collection[str]) -> None:
        """Create the move. An object with a field that is `reserved` does not fit."""
        self._read, self._keys, self._reserved, self.depth = read, keys, reserved, 0

    def run(self, wire: JsonObject, target: JsonObject) -> bool:
        """Write the fields of one object to the other one. Return False if they do not fit."""
        fields = _read(wire, *self._read)
        if fields is NOTHING or fields == {}:
            return True
        if fields.__class__ is not dict or not fields.keys().isdisjoint(self._reserved):
            return False
        if self._keys:
            return _put(target, self._keys, fields)
        target.update(fields)
        return True


def _path(keys: _Keys, mapped: Iterable[_Keys]) -> _Path:
    """Return a path with the keys of its object that other paths, `mapped`, lead through."""
    return keys, {other[len(keys)] for other in mapped if len(other) > len(keys) and other[: len(keys)] == keys}


def _read(wire: Any, keys: _Keys, others: Collection[str] = ()) -> Any:
    """Return the value at a path, without the keys `others`; NOTHING if there is none."""
    for key in keys:
        if wire.__class__ is not dict or key not in wire:
            return NOTHING
        wire = wire[key]
    return {key: wire[key] for key in wire if key not in others} if others and wire.__class__ is dict else wire


def _way(
    checked: Mapping[str, Json],
    written: Mapping[str, Json],
    moves: list[_Move | _Rest],
    needed: Sequence[_Move] = (),
    implied: Mapping[str, Callable[[JsonObject], Json]] | None = None,
) -> _Way:
    """Return a function that makes one object of the other. Deep fields are written first, before those around them."""
    # Many forms have the same first constant.
    checks = [(path_keys(path), value) for path, value in reversed([*checked.items()])]
    constants = [(path_keys(path), value) for path, value in written.items()]
    followers = [(path_keys(path), value) for path, value in (implied or {}).items()]
    ordered = [*needed, *sorted(moves, key=lambda move: -move.depth)]

    def run(wire: JsonObject) -> JsonObject | None:
        for keys, value in checks:
            actual = _read(wire, keys)
            if not (actual is NOTHING and value is None) and not same(actual, value):
                return None
        target: JsonObject = {}
        for keys, value in constants:
            _put(target, keys, [*value] if value.__class__ is list else value)
        for move in ordered:
            if not move.run(wire, target):
                return None
        for keys, follows in followers:
            value = follows(target)
            if value is not NOTHING:
                _put(target, keys, value)
        return target

    return run


def respelled(whole: JsonObject, spellings: Mapping[str, JsonArray]) -> JsonObject:
    """Return a copy of a part with the values of `Form.spellings`."""
    for path, values in spellings.items():
        whole = _with_value(whole, path_keys(path), values)
    return whole


def _with_value(wire: Any, keys: _Keys, values: JsonArray) -> Any:
    first, *inner_keys = keys
    fields = wire if wire.__class__ is dict else {}
    if inner_keys and (values or first in fields):
        inner = _with_value(fields.get(first), (*inner_keys,), values)
        if inner or not fields.get(first):
            return {**fields, first: inner}
        # The object had only the value.
        values = []
    others = {key: value for key, value in fields.items() if key != first}
    return {**others, first: values[0]} if values else others


def _put(target: JsonObject, keys: _Keys, value: Json) -> bool:
    """Write a value at a path. Objects with different keys are merged; return False if there is another value."""
    *above, last = keys
    for key in above:
        inner = target.setdefault(key, {})
        if inner.__class__ is not dict:
            return False
        target = inner
    if last not in target:
        target[last] = value
        return True
    before = target[last]
    if before.__class__ is dict and value.__class__ is dict:
        target[last] = {**before, **value}
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


def remainder(whole: Any, covered: Any) -> Any:
    """Return the values of `whole` that `covered` lacks, NOTHING if it lacks none, MISFIT if it has others."""
    if whole.__class__ is not dict or covered.__class__ is not dict:
        return NOTHING if same(whole, covered) else MISFIT
    if not covered.keys() <= whole.keys():
        return MISFIT
    remaining: JsonObject = {}
    for key, value in whole.items():
        if key not in covered:
            remaining[key] = value
        elif value is not covered[key]:
            inner = remainder(value, covered[key])
            if inner is MISFIT:
                return MISFIT
            if inner is not NOTHING:
                remaining[key] = inner
    return remaining or NOTHING


def merged(part: Any, remaining: Any) -> Any:
    """Return a part with the `remaining` values: the inverse of `remainder`. The part's own values win."""
    if part.__class__ is not dict or remaining.__class__ is not dict:
        return part
    return {
        **remaining,
        **{key: merged(value, remaining[key]) if key in remaining else value for key, value in part.items()},
    }


def missing(
    whole: Any, covered: Any, respelled: Mapping[str, Leaf], path: str = ""
) -> Iterator[tuple[str, Json, Json]]:
    """Yield the dotted paths of values of `whole` that `covered` lacks, with both. Null is no value, nor is []."""
    if whole is None or whole in ([], {}):
        return
    if path in respelled and covered is not None and respelled[path].is_alike(whole, covered):
        return
    if whole.__class__ is dict and covered.__class__ is dict:
        for key, value in whole.items():
            if (other := covered.get(key)) is not value:
                inner = f"{path}.{dotted_key(key)}" if path else dotted_key(key)
                yield from missing(value, other, respelled, inner)
    elif not same(whole, covered):
        yield path, whole, covered
