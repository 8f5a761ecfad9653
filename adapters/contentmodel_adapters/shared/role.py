"""The role of a message as the wire spelled it, for roles that are missing or spelled in another way than usual."""

from __future__ import annotations

from typing import Any, TypedDict


class SpelledRole(TypedDict, total=False):
    """The field of a wire message; nothing if the message has no role."""

    role: Any


def role_of(wire: dict[str, Any]) -> SpelledRole:
    """Return the role that a wire message has."""
    return {"role": wire["role"]} if "role" in wire else {}


def restore_role(wire: dict[str, Any], spelled: SpelledRole) -> None:
    """Give a wire message the role that it had: the inverse of `role_of`."""
    wire.pop("role", None)
    if "role" in spelled:
        wire["role"] = spelled["role"]
