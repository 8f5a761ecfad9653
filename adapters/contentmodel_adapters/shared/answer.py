"""Answers of APIs that give exactly one, without a list of choices."""

from __future__ import annotations

from typing import Any

from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.wire.context import EncodeContext
from contentmodel.wire.table import Group


class OnlyChoice(Group):
    """The fields of an envelope that make its one choice."""

    attribute = "choices"

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        for choice in value[1:]:
            context.lose(choice, None, f"{context.api} has one answer")
        for choice in value[:1]:
            context.lose_attributes(choice, ("logprobs",))
            context.leave_residue(choice)
            self.write(choice, (choice.extra or {}).get(context.api, {}), wire, context)

    def write(self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext) -> None:
        """Writes the choice into `wire`; `own` is its residue of this API."""
        raise TypeError(f"{type(self).__name__} does not encode")
