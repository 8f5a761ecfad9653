"""The kinds of answer that a request asks for: every API has the same values, in capitals or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import Codec, EncodeContext, reasons


class Modalities(Codec[list[str]]):
    """A list of modalities.

    Values of the same API stay as they are. Values of another API are respelled; unknown ones are lost.
    """

    classes = (list,)
    identity = False

    def __init__(self, spell: Callable[[str], str], *names: str) -> None:
        self._spell, self._names = spell, frozenset(names)

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value) and all(name.__class__ is str for name in value)

    def decode(self, value: Any, context: Any, container: Any, key: str) -> Any:
        return value

    def encode(self, value: list[str], context: EncodeContext, owner: Any) -> Any:
        if context.native:
            return value
        spelled = [self._spell(name) for name in value]
        known = [name for name in spelled if name in self._names]
        if len(known) < len(spelled):
            context.report_loss(owner, "options.modalities", reasons.NO_MODALITY)
        return known or None

    def describe(self) -> str:
        return "list[str]"
