"""The order in which the choices of a stream begin."""

from __future__ import annotations

from typing import Any, TypeVar

from contentmodel.engine.json import JsonObject

Choice = TypeVar("Choice")


class ChoiceOrder:
    """Delay the chunks of a choice until every choice with a lower number has begun.

    The number of a choice is its position in the answer, but some hosts begin choice 1 before choice 0 (llama.cpp). If
    a lower number never comes, the chunks are read at the end of the stream. Chunks keep their order, so that a stream
    that breaks off has a prefix of the events of the whole one.
    """

    def __init__(self) -> None:
        self._next = 0
        """The lowest number that has not begun."""
        self._positions: dict[Any, int] = {}
        self._waiting: list[tuple[int, JsonObject]] = []

    def take(self, number: Any, wire: JsonObject) -> list[JsonObject]:
        """Return the chunks that can be read now: none, or this one after those that waited for it.

        A chunk whose number is not a position is returned at once.
        """
        if number.__class__ is not int or number < self._next:
            return [wire]
        self._waiting.append((number, wire))
        if number > self._next:
            return []
        waiting = {waiting_number for waiting_number, _ in self._waiting}
        while self._next in waiting:
            self.position(self._next)
            self._next += 1
        ready = [delayed for waiting_number, delayed in self._waiting if waiting_number < self._next]
        self._waiting = [one for one in self._waiting if one[0] >= self._next]
        return ready

    def rest(self) -> list[JsonObject]:
        """Return the chunks that still wait: the stream has ended."""
        waiting, self._waiting = self._waiting, []
        for number in sorted({number for number, _ in waiting}):
            self.position(number)
        return [wire for _, wire in waiting]

    def position(self, number: Any) -> int:
        """Return the position of a choice in the answer; the next free one if it has none yet."""
        return self._positions.setdefault(number, len(self._positions))

    def arrange(self, choices: dict[int, Choice]) -> dict[int, Choice]:
        """Return choices in the order of their positions."""
        return dict(sorted(choices.items(), key=lambda item: self.position(item[0])))
