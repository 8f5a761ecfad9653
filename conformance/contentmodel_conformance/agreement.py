"""The law of agreement: readers without the adapters' tables find the same facts in a payload and in its conversion.

Round trips cannot prove an adapter's table: if a row swaps two counters in both directions, every round trip is exact.
So each fact that the source's reader finds must be found by the target's reader, unless a loss names it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from contentmodel.auditing import leaves
from contentmodel.json import value_at
from contentmodel_conformance import laws
from contentmodel_conformance.differences import ABSENT, Label
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.readers import Reader
from contentmodel_conformance.readers.reading import (
    ASSISTANT,
    CALL,
    COUNTERS,
    ENDED,
    FAILED,
    FINISH,
    INPUT,
    MEDIUM,
    OUTPUT,
    RESULT,
    STOP,
    SYSTEM,
    TOOL_CALLS,
    TOTAL,
    USER,
    Fact,
    Reading,
)

ORDERED = (SYSTEM, USER, ASSISTANT, CALL, RESULT)


def agreement(readers: tuple[Reader, Reader], source: Any, target: Any, kind: str, payload: Any) -> None:
    """Independent readers find the same facts in a payload and in its conversion, except for reported losses.

    Facts are texts, calls, results, media, counters and the finish reason. The readers are written by hand.
    """
    encoded = laws.crossed(source, target, kind, payload)
    names = {target_name: source_name for source_name, target_name in encoded.maps.names.items()}
    after = readers[1](kind, encoded.payload)
    after.facts = [_renamed(fact, names) for fact in _unmarked(after.facts)]
    before = readers[0](kind, payload)
    before.facts = list(_unmarked(before.facts))
    compare(before, after, Excuses(payload, encoded.losses))


def compare(before: Reading, after: Reading, excuses: Excuses) -> None:
    """Raise LawBroken if two readings differ in a fact that no loss names."""
    for name in ORDERED:
        _sequence(before.of(name), after.of(name), excuses)
    for name in (MEDIUM, FAILED):
        _bag(before.of(name), after.of(name), excuses)
    _finish(before, after, excuses)
    for counter in COUNTERS:
        _counter(before.of(counter), after.of(counter), excuses)
    _total(before, after)


_ADDING = ("degraded", "moved", "synthesized")
"""The kinds of losses that add texts and calls to an output."""


class Excuses:
    """The losses of a conversion: which facts they cover, and how many texts they may have added."""

    def __init__(self, payload: Any, losses: Iterable[Any]) -> None:
        located = [loss for loss in losses if loss.path != "$"]
        self._paths = {loss.path for loss in located}
        adding = [value_at(payload, loss.path) for loss in located if loss.kind in _ADDING]
        # A converted block (results of a hosted tool, as texts) has at most as many texts as the block has values.
        self.added = sum(max(1, len(list(leaves(value)))) for value in adding)

    def cover(self, fact: Fact) -> bool:
        """Return whether a loss has one of the fact's paths, or the path of a parent or of a part of its value."""
        above = (path for place in fact.paths for path in _with_above(place))
        inside = tuple(f"{fact.paths[0]}{mark}" for mark in ".[")
        return not self._paths.isdisjoint(above) or any(path.startswith(inside) for path in self._paths)


def _with_above(path: str) -> list[str]:
    ends = [index for index, character in enumerate(path) if character in ".[" and index > 1]
    return [path, *(path[:end] for end in ends)]


def _renamed(fact: Fact, names: dict[str, str]) -> Fact:
    if fact.kind != CALL:
        return fact
    name, arguments = fact.value
    return Fact(CALL, (names.get(name, name), arguments), fact.paths)


_IS_ERROR = re.compile(r"\[is_error: (true|false) #[0-9a-f]{16}\](\n|\Z)")
_FOLLOWING = re.compile(r"(\n|\A)\[media of this result follow:( #[0-9a-f]{16})+\]\Z")


_PLACED = re.compile(r"\[output of tool call [^\n]*\]|\[the conversation began before this #[0-9a-f]{16}\]")


def _unmarked(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts with the encoders' sentinel texts resolved: a failure, or media that follow the result.

    Leave out texts that only give a place: to media of a result, or to a first message.
    """
    for fact in facts:
        if fact.kind != RESULT:
            if fact.kind != USER or not _PLACED.fullmatch(fact.value):
                yield fact
            continue
        mark = _IS_ERROR.match(fact.value)
        if mark and mark[1] == "true":
            yield Fact(FAILED, True, fact.paths)
        text = _FOLLOWING.sub("", fact.value[mark.end() :] if mark else fact.value)
        if text:
            yield replace(fact, value=text)


def _sequence(before: Sequence[Fact], after: Sequence[Fact], excuses: Excuses) -> None:
    """Compare facts in order. All must be found unless excused, and new facts must be covered by losses."""
    remaining, excused = _Rest(after, excuses), 0
    for fact in before:
        if excuses.cover(fact):
            excused += 1
        elif not remaining.take(fact):
            raise _broken(fact, remaining.next)
    new = remaining.left()
    if len(new) > excused + excuses.added:
        raise LawBroken(
            "agreement", "$", f"the output has a new {new[0].kind}, but no loss reports it", ABSENT, new[0].value
        )


class _Rest:
    """The facts of an output, taken in order. A fact that is `alone` may be taken in parts."""

    def __init__(self, facts: Sequence[Fact], excuses: Excuses) -> None:
        self._facts, self._excuses = facts, excuses
        self._index = self._offset = 0
        self._left: list[Fact] = []

    @property
    def next(self) -> Fact | None:
        """The next fact that is not taken; None at the end."""
        return self._facts[self._index] if self._index < len(self._facts) else None

    def take(self, fact: Fact) -> bool:
        """Take the next fact with this value, also with a sentinel before or after it. Return False if none matches."""
        for index in range(self._index, len(self._facts)):
            candidate = self._facts[index]
            offset = self._offset if index == self._index else 0
            at = candidate.value.find(fact.value, offset) if candidate.alone else -1
            if at >= 0:
                self._skip(index, candidate.value[offset:at])
                self._offset = at + len(fact.value)
                return True
            if offset == 0 and (candidate.value == fact.value or self._is_marked(candidate, fact)):
                self._skip(index)
                self._index += 1
                return True
        return False

    def left(self) -> list[Fact]:
        """Return the facts that were not taken, and the remainders of those taken in parts."""
        self._skip(len(self._facts))
        return self._left

    def _skip(self, index: int, before: str = "") -> None:
        """Move to a fact. The facts before it, and the text `before` in it, count as not taken."""
        if index > self._index:
            first = self.next
            if first is not None and self._offset:
                text = first.value[self._offset :]
                self._leave(replace(first, value=text))
                self._index += 1
            for fact in self._facts[self._index : index]:
                self._leave(fact)
            self._index, self._offset = index, 0
        if before:
            self._leave(replace(self._facts[index], value=before))

    def _leave(self, fact: Fact) -> None:
        """Add a fact that was not taken, unless it is blank: blanks only separate texts."""
        if not isinstance(fact.value, str) or fact.value.strip():
            self._left.append(fact)

    def _is_marked(self, candidate: Fact, fact: Fact) -> bool:
        if not self._excuses.added or not isinstance(fact.value, str):
            return False
        text: str = candidate.value
        return text.startswith(f"{fact.value}\n[") or text.endswith(f"]\n{fact.value}")


def _bag(before: Sequence[Fact], after: Sequence[Fact], excuses: Excuses) -> None:
    """Compare facts in any order: media may be in another message than their result."""
    counts = Counter(fact.value for fact in after)
    for fact in before:
        if excuses.cover(fact):
            continue
        if not counts[fact.value]:
            raise _broken(fact, next((other for other in after if counts[other.value]), None))
        counts[fact.value] -= 1


def _finish(before: Reading, after: Reading, excuses: Excuses) -> None:
    for fact, candidate in zip(before.of(FINISH), [*after.of(FINISH), None], strict=False):
        if (candidate is None or not _is_same_end(fact.value, candidate.value)) and not excuses.cover(fact):
            raise _broken(fact, candidate)


def _is_same_end(one: str, other: str) -> bool:
    return one == other or (ENDED in (one, other) and {one, other} <= {ENDED, STOP, TOOL_CALLS})


def _counter(before: Sequence[Fact], after: Sequence[Fact], excuses: Excuses) -> None:
    value = sum(fact.value for fact in before)
    total = sum(fact.value for fact in after)
    # A counter that the source does not have is ignored.
    if not before or value == total or any(excuses.cover(fact) for fact in before):
        return
    raise _broken(before[0], after[0] if after else None)


def _broken(fact: Fact, other: Fact | None) -> LawBroken:
    target_value = Label(f"no {fact.kind}") if other is None else other.value
    detail = f"the {fact.kind} differs in the output, but no loss reports it"
    if other is not None and other.paths:
        detail += f" (in the output at {other.paths[0]})"
    return LawBroken("agreement", fact.paths[0], detail, fact.value, target_value)


def _total(before: Reading, after: Reading) -> None:
    """Check that the output has a total if its API has totals. It must be a sum if it is one in the source."""
    counted, total = _sum(after), after.of(TOTAL)
    if counted is None or not after.counts_total:
        return
    if not total:
        raise LawBroken("agreement", "$", "the output counts tokens, but has no total", counted, ABSENT)
    source_total = before.of(TOTAL)
    if total[0].value != counted and (not source_total or source_total[0].value == _sum(before)):
        raise LawBroken(
            "agreement", total[0].paths[0], "the total is not the sum of the counters", counted, total[0].value
        )


def _sum(reading: Reading) -> int | None:
    counts = [fact.value for name in (INPUT, OUTPUT) for fact in reading.of(name)]
    return sum(counts) if counts else None
