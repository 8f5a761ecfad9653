"""Answers: spelled roles, finish reasons, and the single choice of APIs that have no list of choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from msgspec.structs import replace

from contentmodel.authoring import (
    AnswerMessage,
    DecodeContext,
    EncodeContext,
    Group,
    Hint,
    Inlined,
    Row,
    finished_by_calls,
    reasons,
)
from contentmodel.message import ChatMessage
from contentmodel.response import ChatChoice, ChatResponse


class SpelledRole(TypedDict, total=False):
    """The `role` field of a wire message; empty if the message has no role."""

    role: Any


def role_of(wire: dict[str, Any]) -> SpelledRole:
    """Return the role that a wire message has."""
    return {"role": wire["role"]} if "role" in wire else {}


def restore_role(wire: dict[str, Any], spelled: SpelledRole) -> None:
    """Give a wire message the role that it had: the inverse of `role_of`."""
    wire.pop("role", None)
    if "role" in spelled:
        wire["role"] = spelled["role"]


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


class SpelledAnswer(AnswerMessage):
    """The message of an answer. If its role is not the usual one, a hint keeps it."""

    def __init__(self, assistant: Row, role: Hint[SpelledRole]) -> None:
        super().__init__(assistant)
        self._role = role

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.get("role") == "assistant":
            return super().decode(value, context, container, key)
        copy = {**value, "role": "assistant"}
        context.copied(copy, value)
        (message,) = super().decode(copy, context, container, key)
        own = {
            **(message.extra or {}).get(context.api, {}),
            **self._role.entry(role_of(value)),
            **misfits(value, role=str),
        }
        spelled = replace(message, extra={context.api: own})
        context.replaced(message, spelled)
        return [spelled]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        wire = super().encode(value, context, owner)
        spelled = self._role.of(value[0], context.api) if context.native else None
        if spelled is not None:
            restore_role(wire, spelled)
        return wire


class OnlyAnswer(Inlined):
    """The one choice of an envelope that has its fields. Some models end an answer with calls like any other one."""

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        return [_finished(choice, context) for choice in super().decode(wire, context)]


def _finished(choice: ChatChoice, context: DecodeContext) -> ChatChoice:
    finished = finished_by_calls(choice)
    if finished is not choice:
        context.replaced(choice, finished)
    return finished
