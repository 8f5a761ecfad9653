"""The values of fields: responses of calls, roles, finish reasons, output types, kinds of media."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import msgspec

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    FinishReasons,
    Group,
    Hint,
    Roles,
    TextOrBlocks,
    Union,
    reasons,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media_types import kind_of_media
from contentmodel.content.text import JsonContent
from contentmodel.message import FinishReason
from contentmodel.request import ResponseFormat
from contentmodel_adapters.common.answer import MORE_THAN_THEIR_REASON, OF_GEMINI, OF_PROVIDERS

API = "otel-gen-ai"
ROLE = Hint[str](API, "role", "on a message: the role of a provider that it had")
IsPart: TypeAlias = Callable[[dict[str, Any]], bool]
"""Return whether an object is a part that has a row."""


class Response(TextOrBlocks):
    """The response of a tool: a text, a list of parts, or any other JSON value."""

    classes: tuple[type, ...] = (str, list, dict, int, float, bool)

    def __init__(self, union: Union, is_part: IsPart) -> None:
        super().__init__(union, "string")
        self._is_part = is_part

    def holds(self, value: object) -> bool:
        return value is not None

    def is_json(self, value: Any) -> bool:
        """Return whether a response is neither a text nor a list of parts."""
        return value.__class__ is not str and not are_parts(value, self._is_part)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return [JsonContent(value=value)] if self.is_json(value) else super().decode(value, context, container, key)

    def count(self, wire: Any) -> int:
        return len(wire) if are_parts(wire, self._is_part) else 1

    def places(self, value: list[AIContent], wire: Any, path: str) -> Any:
        if are_parts(wire, self._is_part):
            return spread(value, wire, path, self.union)
        return [(value[0], path, wire, None)] if value else []

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        only = value[0]
        if len(value) == 1 and only.__class__ is JsonContent and self.holds(only.value) and self.is_json(only.value):
            return context.plain_value(only, "value")
        return super().encode(value, context, owner)

    def describe(self) -> str:
        return f"str, list of {self.union.name} or JSON"


def are_parts(value: Any, is_part: IsPart) -> bool:
    """Return whether a value is a list of parts that have rows."""
    return value.__class__ is list and bool(value) and all(item.__class__ is dict and is_part(item) for item in value)


ROLES = ("system", "developer", "user", "assistant", "tool")
OTHER_ROLES = {"model": "assistant"}
"""Roles of providers that instrumentations record unchanged, each with its role in the model."""


class RecordedRoles(Roles):
    """The role of a message. A message with a role of a provider has the hint `ROLE`."""

    def __init__(self) -> None:
        roles = {role: role for role in ROLES}
        super().__init__(API, {**roles, **OTHER_ROLES}, roles)

    def encode(self, value: str, context: EncodeContext, owner: Any) -> str:
        recorded = ROLE.of(owner, API)
        if recorded is not None and OTHER_ROLES.get(recorded) == value:
            return recorded
        return super().encode(value, context, owner)


class Finish(FinishReasons):
    """The reason why a choice ended. Values of providers are decoded too, and any other value is kept.

    Instrumentations write those of Gemini in lower case, too, or with the name of an enum: `FinishReason.MAX_TOKENS`.
    """

    def __init__(self, *tables: Any, same: tuple[str | int, ...]) -> None:
        super().__init__(*tables, same=same)
        self._in_lower_case = {str(value).lower(): value for value in OF_GEMINI}

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        reason = value
        if value.__class__ is str and value not in self.reasons:
            reason = self._in_lower_case.get(value.rpartition(".")[2].lower(), value)
        return msgspec.structs.replace(super().decode(reason, context, container, key), raw=value)

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        raw, usual = value.raw, self.values.get(value.reason)
        if value.reason == "other" and raw.__class__ is str and raw not in self.reasons:
            usual = raw
        elif value.reason == "other" and raw.__class__ is int and context.completes:
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        if not context.completes or usual is None:
            return super().encode(value, context, owner)
        context.report_lost_attributes(value, ("stop_sequence",))
        if usual != raw:
            self.report_if_exact(value, context, owner)
        return usual


_REASONS = (
    "stop",
    "length",
    "content_filter",
    "error",
    "compaction",
    "refusal",
    "pause",
    "cancelled",
    "running",
    "other",
)
FINISH = Finish(
    {
        **{reason: reason for reason in _REASONS},
        # Some instrumentations record the values of the provider.
        **OF_PROVIDERS,
        "tool_call": "tool_calls",
    },
    {**{reason: reason for reason in _REASONS}, "tool_calls": "tool_call"},
    "other",
    same=tuple(OF_PROVIDERS.keys() - MORE_THAN_THEIR_REASON),
)


class OutputType(Codec[ResponseFormat]):
    """The type of the output: `json`, with or without a schema, or `text` and others."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ResponseFormat:
        return ResponseFormat(kind=value)

    def encode(self, value: ResponseFormat, context: EncodeContext, owner: object) -> str:
        if value.kind == "json_schema":
            context.report_loss(value, "kind", reasons.OTHER_VALUE, value="json")
        context.report_lost_attributes(value, ("schema", "name", "description", "strict", "media_type"))
        context.leave_residue(value)
        return "json" if value.kind == "json_schema" else value.kind


class Modality(Group):
    """The kind of a medium. If the media type is of another kind, the media type is right.

    `@ai-sdk/otel` writes the modality `image` for each PDF (seen 2026-11-27). That modality stays in the residue.
    """

    attribute = "kind"
    keys = ("modality",)

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        return self.keys if _kind_of(wire) is not None else ()

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> str | None:
        return _kind_of(wire)

    def encode(self, value: str | None, wire: dict[str, Any], context: EncodeContext, owner: Any) -> None:
        if value is not None:
            wire["modality"] = value


def _kind_of(wire: Mapping[str, Any]) -> str | None:
    kind, media_type = wire.get("modality"), wire.get("mime_type")
    if kind.__class__ is not str:
        return None
    is_typed = media_type.__class__ is str and media_type not in ("", "application/octet-stream")
    return None if is_typed and kind in ("image", "audio", "video") and kind_of_media(media_type) != kind else kind


def modality() -> Filled:
    """Return the kind of a medium as a required field."""
    return Filled({}, lambda content, wire: wire.setdefault("modality", content.media_kind or "document"))


class Anything(Codec[Any]):
    """Any JSON value but null."""

    mandatory = True

    def holds(self, value: object) -> bool:
        return value is not None
