"""Templates: what the model's way made of a payload, with a place for each value that passes.

A template is a function that is generated from one conversion. It checks that another payload has the same keys and
constants, and values that are like those of the first one. Then it returns what the model's way would make of it.
A template is kept only if it makes that of three payloads: the first one, and two with other values.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import msgspec

from contentmodel.content.text import measure
from contentmodel.derived import Derivation, derivations
from contentmodel.json import Json, write
from contentmodel.lanes.passing import Leaf, items_of, kind_at, leaves, replaced
from contentmodel.lanes.values import (
    ARGUMENTS,
    CONSTANT,
    DATE,
    ENDS,
    ID,
    INPUT,
    NAME,
    NAME_OF_RESULT,
    OUTPUT,
    PROSE,
    START,
    STATE,
    TEXT,
    TEXT_OF_ARGUMENTS,
    TOKEN,
    TOTAL,
    Kind,
    read_arguments,
)
from contentmodel.losses import Loss


class Outcome(NamedTuple):
    """The payload, the losses and the status that the model's way makes of a payload, and its losses by code.

    `facts` are the model of an answer, and the path of its time: see `Lane.outcome`.
    """

    payload: Json
    losses: tuple[Loss, ...]
    status: int | None
    counts: Mapping[str, int] = {}
    facts: tuple[str | None, str] | None = None


class Template(msgspec.Struct, frozen=True, eq=False):
    """A function that converts payloads of one shape, and what is the same for all of them.

    `fill` returns the payload; None if its argument is of another shape.
    """

    fill: Callable[[Json], Json]
    losses: tuple[Loss, ...]
    status: int | None
    counts: Mapping[str, int]
    facts: tuple[str | None, str] | None


_SHORT = 40
"""Shorter constants are looked up in a set, others are compared."""
_NAMES = frozenset({NAME, NAME_OF_RESULT})
MOST_LEAVES = 400
"""A longer answer, such as one with log probabilities, never has the constants of another one."""


def template_of(
    wire: Json,
    kinds: Mapping[str, Kind],
    outcome: Outcome,
    convert: Callable[[Json], Outcome],
    outlined: Container[str] = (),
) -> Template | None:
    """Return the template of a converted payload; None if its conversion depends on the values that pass.

    It does not check the objects and lists at the paths in `outlined`: their keys and lengths are always the same.
    """
    values = [*leaves(wire, kinds)]
    passing = Passing(values)
    if len(values) > MOST_LEAVES or not passing.are_usual:
        return None
    first, second = passing.others("one"), passing.others("another", are_equal=True)
    changed, others = replaced(wire, first), replaced(wire, second)
    with derivations() as record:
        converted = convert(changed)
    code = Code(passing)
    try:
        output = code.output(converted.payload, first, record)
    except Unusual:
        return None
    template = Template(code.compiled(wire, kinds, output, outlined), *converted[1:])
    for payload, expected in ((wire, outcome), (changed, converted), (others, convert(others))):
        filled = template.fill(payload)
        if filled is None or write(filled) != write(expected.payload) or expected[1:] != converted[1:]:
            return None
    return template


class Unusual(Exception):
    """A value that passes is in the output in a way that no template has."""


class Passing:
    """The values of a payload that pass, and what they are to each other.

    Equal ids are one value, and so are the names of a call and of its result. A total is the sum of counters. The order
    of the counters of input, and of those of output, stays.
    """

    def __init__(self, values: Sequence[Leaf]) -> None:
        """Create the values from all leaves of a payload."""
        self.leaves = [leaf for leaf in values if leaf.kind is not CONSTANT]
        constants = {leaf.value for leaf in values if leaf.kind is CONSTANT and leaf.value.__class__ is str}
        self.words = frozenset(text for text in constants if len(text) < _SHORT)
        self.sentences = [text for text in constants if len(text) >= _SHORT]
        self.names = {leaf.path: f"v{at}" for at, leaf in enumerate(self.leaves)}
        """The variables of the values, by path."""
        self.firsts: dict[str, str] = {}
        """The path of the first of equal ids, by the path of each."""
        by_text: dict[str, str] = {}
        equal = {ID, TOKEN, STATE, DATE}
        if any(leaf.kind is NAME_OF_RESULT for leaf in self.leaves):
            equal |= _NAMES
        self._free = _NAMES - equal
        """The kinds of values that may be equal or not."""
        for leaf in self.leaves:
            if leaf.kind in equal:
                self.firsts[leaf.path] = by_text.setdefault(leaf.value, leaf.path)
        ends = [(leaf, unit) for unit, kind in ENDS.items() for leaf in self.leaves if leaf.kind is kind]
        self.within = [(text, end, unit) for text in self.leaves if text.kind is TEXT for end, unit in ends]
        """The texts, the offsets that are in all of them, and the units of these."""
        self.spans = [
            (start, end)
            for start in self.leaves
            for end, _ in ends
            if start.kind is START and start.path.rpartition(".")[0] == end.path.rpartition(".")[0]
        ]
        """The starts and ends of the same spans."""
        self.counters = [leaf for leaf in self.leaves if leaf.kind in (INPUT, OUTPUT)]
        self.sums = {leaf.path: self._terms(leaf.value) for leaf in self.leaves if leaf.kind is TOTAL}
        """The paths of the counters whose sum each total is."""

    def _terms(self, total: int) -> tuple[str, ...]:
        for size in (2, 3, 4):
            for group in combinations(self.counters, size):
                if sum(leaf.value for leaf in group) == total:
                    return tuple(leaf.path for leaf in group)
        return ()

    @property
    def are_usual(self) -> bool:
        """False if two counters are equal, a text is a constant, equal ids are of two kinds, or a total is no sum."""
        kinds = {leaf.path: leaf.kind for leaf in self.leaves}
        return (
            all(counter.value != other.value for counter, other in self.ordered())
            and not any(
                leaf.value in self.words or leaf.value in self.sentences
                for leaf in self.leaves
                if leaf.kind in (PROSE, TEXT)
            )
            and all(kinds[path] is kinds[first] or kinds[path] in _NAMES for path, first in self.firsts.items())
            and all(self.sums.values())
            and all(counter.value < other.value for counter, other in self.spans)
            and all(measure(text.value, unit) >= end.value for text, end, unit in self.within)
        )

    def ordered(self) -> list[tuple[Leaf, Leaf]]:
        """Return the pairs of counters whose order stays."""
        return [(counter, other) for counter, other in combinations(self.counters, 2) if counter.kind is other.kind]

    def others(self, salt: str, *, are_equal: bool = False) -> dict[str, Any]:
        """Return other values, by path, that are to each other as these are. Those that may be equal are, if asked."""
        ranks = {leaf.path: rank for rank, leaf in enumerate(sorted(self.counters, key=lambda leaf: leaf.value))}
        values: dict[str, Any] = {}
        for path, value, kind in self.leaves:
            first = self.firsts.get(path, path)
            place = "" if are_equal and kind in self._free else path
            values[path] = values[first] if first != path else kind.like(value, f"{salt} {place}")
            if path in ranks:
                values[path] += ranks[path] * 2_000_000
        for path, terms in self.sums.items():
            values[path] = sum(values[term] for term in terms)
        return values


class Code:
    """The code of a template: the checks of a payload, and the expression of what is made of it."""

    def __init__(self, passing: Passing) -> None:
        """Create the code for a payload with these values."""
        self._passing = passing
        self._lines = ["def fill(w0):"]
        self._objects: dict[str, Any] = {"write": write, "measure": measure}
        self._holes: dict[bytes, str] = {}
        """The expressions of values that pass, and of what is made of them, by JSON text."""
        self._counts: list[tuple[str, int]] = []
        self._texts: list[str] = []
        self._sums: list[str] = []
        self._variables = 0

    def _bound(self, value: object) -> str:
        """Bind an object to a new name in the code, and return the name."""
        name = f"o{len(self._objects)}"
        self._objects[name] = value
        return name

    # -- what is made ------------------------------------------------------------------------------------------------

    def output(self, payload: Json, values: Mapping[str, Any], record: Sequence[Derivation]) -> str:
        """Return the expression of a payload that was made of `values`, and of those that were derived from them.

        Raise Unusual if one of them is in it in another way.
        """
        for path, _, kind in self._passing.leaves:
            name, value = self._passing.names[path], values[path]
            self._holes.setdefault(write(value), name)
            if kind is ARGUMENTS:
                self._holes[write(write(value).decode())] = f"write({name}).decode()"
            elif kind is TEXT_OF_ARGUMENTS:
                read = read_arguments(value)
                self._holes[write(read)] = f"{name}_read"
                self._holes.setdefault(write(write(read).decode()), f"write({name}_read).decode()")
        self._counts = [(self._passing.names[leaf.path], values[leaf.path]) for leaf in self._passing.counters][:6]
        self._texts = [value for value in values.values() if value.__class__ is str]
        for function, args, result in record:
            self._add_derived(function, args, result)
        return self._expression(payload)

    def _add_derived(self, function: Callable[..., Any], args: tuple[Any, ...], result: object) -> None:
        try:
            arguments = ", ".join(map(self._expression, args))
        except Unusual:
            return
        if result.__class__ in (str, int) and arguments != ", ".join(map(repr, args)):
            self._holes.setdefault(write(result), f"{self._bound(function)}({arguments})")

    def _expression(self, value: Json) -> str:
        if value is None or value.__class__ is bool:
            return repr(value)
        hole = self._holes.get(write(value))
        if hole is not None:
            return hole
        if value.__class__ is dict:
            return f"{{{', '.join(f'{key!r}: {self._expression(item)}' for key, item in value.items())}}}"
        if value.__class__ is list:
            return f"[{', '.join(map(self._expression, value))}]"
        if value.__class__ is str and any(text in value for text in self._texts):
            raise Unusual
        return self._sum(value) if value.__class__ is int and value >= 1000 else repr(value)

    def _sum(self, value: int) -> str:
        """Return the expression of a number that is the sum of counters, some of them negative."""
        for signs in sorted(product((0, 1, -1), repeat=len(self._counts)), key=lambda signs: sum(map(abs, signs))):
            terms = [(sign, *count) for sign, count in zip(signs, self._counts, strict=True) if sign]
            if sum(sign * count for sign, _, count in terms) == value:
                signed = [f"{'-' if sign < 0 else '+'} {name}" for sign, name, _ in terms]
                expression = f"({' '.join(signed)})"
                self._sums.append(expression)
                return expression
        raise Unusual

    # -- what is checked ---------------------------------------------------------------------------------------------

    def compiled(
        self, wire: Json, kinds: Mapping[str, Kind], output: str, outlined: Container[str]
    ) -> Callable[[Json], Json]:
        """Return the function that checks a payload and returns what is made of it."""
        self._outlined = outlined
        self._check("w0", wire, kinds, "$")
        self._compare()
        source = "\n".join([*self._lines, f"    return {output}", ""])
        exec(compile(source, "<template>", "exec"), self._objects)
        fill: Callable[[Json], Json] = self._objects["fill"]
        return fill

    def _refuse(self, condition: str) -> None:
        self._lines.append(f"    if {condition}: return None")

    def _check(self, name: str, value: Json, kinds: Mapping[str, Kind], path: str) -> None:
        """Add the checks of one value, which has a name."""
        kind, of = kind_at(path, value, kinds), value.__class__
        if kind is not CONSTANT:
            first = self._passing.firsts.get(path, path)
            if first != path:
                self._refuse(f"{name} != {self._passing.names[first]}")
            else:
                self._check_kind(name, value, kind)
        elif of is dict or of is list:
            if path not in self._outlined:
                others = f"(*{name},) != {(*value,)!r}" if of is dict else f"len({name}) != {len(value)}"
                self._refuse(f"{name}.__class__ is not {of.__name__} or {others}")
            self._check_items(f"{name}.values()" if of is dict else name, items_of(value, path), kinds)
        elif of is str:
            self._refuse(f"{name} != {value!r}")
        else:
            is_other = f"{name} is not {value!r}" if value is None or of is bool else f"{name} != {value!r}"
            self._refuse(is_other if " is not " in is_other else f"{is_other} or {name}.__class__ is not {of.__name__}")

    def _check_kind(self, name: str, value: Json, kind: Kind) -> None:
        """Add the check that a value passes."""
        test, quick = f"{self._bound(kind.test_for(value))}({name})", kind.quick(value).format(name)
        if kind is TEXT_OF_ARGUMENTS:
            test = f"({name}_read := {test})"
        is_like = f"({quick} or {test})" if quick else test
        self._refuse(f"{name}.__class__ is not {value.__class__.__name__} or not {is_like}")
        if kind in (PROSE, TEXT):
            # Some fields repeat a text, which is then read once.
            self._refuse(f"len({name}) < {_SHORT} and {name} in {self._bound(self._passing.words)}")
            for sentence in self._passing.sentences:
                self._refuse(f"{name} == {self._bound(sentence)}")

    def _check_items(self, values: str, items: Sequence[tuple[str, Json]], kinds: Mapping[str, Kind]) -> None:
        names = []
        for path, _ in items:
            self._variables += 1
            names.append(self._passing.names.get(path, f"w{self._variables}"))
        if names:
            self._lines.append(f"    ({', '.join(names)},) = {values}")
        for name, (path, item) in zip(names, items, strict=True):
            self._check(name, item, kinds, path)

    def _compare(self) -> None:
        """Add the checks of what the values are to each other."""
        names, passing = self._passing.names, self._passing
        texts = [names[path] for path in dict.fromkeys(passing.firsts.values())]
        if len(texts) > 1:
            self._refuse(f"len({{{', '.join(texts)}}}) != {len(texts)}")
        for first, other in passing.ordered():
            self._refuse(f"not {names[first.path]} {'<' if first.value < other.value else '>'} {names[other.path]}")
        for first, other in passing.spans:
            self._refuse(f"{names[first.path]} >= {names[other.path]}")
        for text, end, unit in passing.within:
            self._refuse(f"measure({names[text.path]}, {unit!r}) < {names[end.path]}")
        for path, terms in passing.sums.items():
            self._refuse(f"{names[path]} != {' + '.join(names[term] for term in terms)}")
        for expression in self._sums:
            self._refuse(f"{expression} <= 1")
