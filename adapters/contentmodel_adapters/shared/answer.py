"""Answers: their finish reasons, and the single choice of APIs that have no list of choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import EncodeContext, Group, reasons
from contentmodel.response import ChatChoice, ChatResponse


def misfits(wire: Mapping[str, Any], **kinds: type) -> dict[str, Any]:
    """Return the fields of a wire object whose values have another class than in `kinds`, for the residue.

    A hint restores such a field. In the residue it is reported if the target is another API.
    """
    return {
        name: wire[name]
        for name, kind in kinds.items()
        if wire.get(name) is not None and wire[name].__class__ is not kind
    }


class OnlyChoice(Group):
    """Decode and encode the one choice of an envelope that has no list of choices."""

    attribute = "choices"
    lost: tuple[str, ...] = ("logprobs",)
    """The attributes of the choice that the envelope has no field for."""

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        for choice in value[1:]:
            context.report_loss(choice, None, reasons.ONE_CHOICE)
        for choice in value[:1]:
            context.report_lost_attributes(choice, self.lost)
            context.leave_residue(choice)
            self.write_choice(choice, (choice.extra or {}).get(context.api, {}), wire, context)

    def write_choice(
        self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        """Write the choice into `wire`. `own` is its residue of this API."""
        raise TypeError(f"{type(self).__name__} does not encode")
