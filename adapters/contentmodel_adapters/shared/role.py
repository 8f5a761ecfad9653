"""The role of a message as spelled on the wire, for roles that are missing or not spelled as usual."""

from __future__ import annotations

from typing import Any, TypedDict


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
