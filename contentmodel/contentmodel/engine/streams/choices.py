"""The choices of a stream, in the order of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from contentmodel.engine.json import JsonObject

T = TypeVar("T")


class ChoiceOrder(Generic[T]):
    """The choices of a stream that have begun, and the chunks of choices that have to wait.

    The number of a choice is its position in the answer, but some hosts begin choice 1 before choice 0 (llama.cpp). Its
    chunks wait until every choice with a lower number has begun, or until the end of the stream. Chunks keep their
    order, so that a stream that breaks off has a prefix of the events of the whole one.
    """

    def __init__(self, make: Callable[[int], T]) -> None:
        """Create an empty answer. `make` returns the decoder's object for the choice at a position."""
        self._make = make
        self.choices: dict[Any, T] = {}
        """The choices by their numbers, in the order of the answer."""
        self._next = 0
        """The lowest number that has not begun."""
        self._waiting: list[tuple[int, JsonObject]] = []

    def begin(self, number: Any) -> T:
        """Return the choice with a number. If it is new, it follows the others."""
        if number not in self.choices:
            self.choices[number] = self._make(len(self.choices))
        return self.choices[number]

    def take(self, number: Any, wire: JsonObject) -> list[JsonObject]:
        """Return the chunks that can be read now: none, or this one after those that waited for it.

        A chunk whose number is not a position is returned at once.
        """
        if number.__class__ is not int or number < self._next:
            return [wire]
        self._waiting.append((number, wire))
        if number > self._next:
            return []
        numbers = {waiting for waiting, _ in self._waiting}
        while self._next in numbers:
            self.begin(self._next)
            self._next += 1
        ready = [delayed for waiting, delayed in self._waiting if waiting < self._next]
        self._waiting = [one for one in self._waiting if one[0] >= self._next]
        return ready

    def rest(self) -> list[JsonObject]:
        """Return the chunks that still wait: the stream has ended."""
        waiting, self._waiting = self._waiting, []
        for number in sorted({number for number, _ in waiting}):
            self.begin(number)
        return [wire for _, wire in waiting]
