"""The order in which the choices of a stream begin."""

from __future__ import annotations

from contentmodel.engine.json import JsonObject


class ChoiceOrder:
    """Delay the chunks of a choice until every choice with a lower number has begun.

    The number of a choice is its position in the answer, but some hosts begin choice 1 before choice 0 (llama.cpp).
    """

    def __init__(self) -> None:
        self._begun = 0
        """The number of choices that have begun. Their numbers have no gaps."""
        self._waiting: dict[int, list[JsonObject]] = {}

    def take(self, number: object, wire: JsonObject) -> list[JsonObject]:
        """Return the chunks that can be read now: none, or this one and those that waited for it.

        A chunk whose number is not a position is returned at once.
        """
        if number.__class__ is not int or number < self._begun:  # type: ignore[operator]
            return [wire]
        self._waiting.setdefault(number, []).append(wire)  # type: ignore[arg-type]
        ready: list[JsonObject] = []
        while self._begun in self._waiting:
            ready += self._waiting.pop(self._begun)
            self._begun += 1
        return ready

    def rest(self) -> list[JsonObject]:
        """Return the chunks that still wait, in the order of their choices: the stream has ended."""
        waiting, self._waiting = self._waiting, {}
        return [wire for number in sorted(waiting) for wire in waiting[number]]
