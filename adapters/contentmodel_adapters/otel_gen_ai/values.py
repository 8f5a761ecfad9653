"""The values of fields: arguments and responses of calls, finish reasons, output types, kinds of media."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from contentmodel.authoring import (
    Blocks,
    Codec,
    DecodeContext,
    EncodeContext,
    Filled,
    FinishReasons,
    Hint,
    MessageList,
    Place,
    Row,
    TextOrBlocks,
    Union,
    reasons,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.text import JsonContent
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.request import ResponseFormat
from contentmodel_adapters.shared.finish_reasons import OF_GEMINI, OF_PROVIDERS

API = "otel-gen-ai"
MESSAGE = Hint[dict[str, Any]](
    API, "message", "on the first part of a message in the instructions: the other fields of the message", fields=True
)
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


class Instructions(Blocks[AIContent]):
    """The parts of the instructions. Some instrumentations record messages, which have lists of parts, in their place.

    The first part of such a message has the hint `MESSAGE`.
    """

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if not _are_messages(value):
            return super().decode(value, context, container, key)
        contents: list[AIContent] = []
        for message in value:
            first, *others = self.union.decode_list(message["parts"], context)
            rest = {name: field for name, field in message.items() if name != "parts"}
            contents += [MESSAGE.on(first, API, rest), *others]
        return contents

    def count(self, wire: Any) -> int:
        return sum(len(message["parts"]) for message in wire) if _are_messages(wire) else super().count(wire)

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        if not _are_messages(wire):
            yield from super().places(value, wire, path)
            return
        contents = iter(value)
        for index, message in enumerate(wire):
            own = list(islice(contents, len(message["parts"])))
            yield from spread(own, message["parts"], f"{path}[{index}].parts", self.union)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        if not value or MESSAGE.of(value[0], API) is None:
            return super().encode(value, context, owner)
        messages: list[dict[str, Any]] = []
        for content in value:
            rest = MESSAGE.of(content, API)
            if rest is not None:
                messages.append({**rest, "parts": []})
            messages[-1]["parts"] += self.union.encode_list([content], context)
        return messages


def _are_messages(value: Any) -> bool:
    """Return whether a list has messages with parts instead of parts."""
    return value.__class__ is list and all(
        one.__class__ is dict
        and "type" not in one
        and one.get("parts").__class__ is list
        and one["parts"]
        and all(part.__class__ is dict for part in one["parts"])
        for one in value
    )


class Finish(FinishReasons):
    """The reason why a choice ended. Values of providers are decoded too, and any other value is kept.

    Instrumentations write those of Gemini in lower case, too, or with the name of an enum: `FinishReason.MAX_TOKENS`.
    """

    def __init__(self, *tables: Any) -> None:
        super().__init__(*tables)
        self._in_lower_case = {str(value).lower(): value for value in OF_GEMINI}

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        known = value
        if value.__class__ is str and value not in self.reasons:
            known = self._in_lower_case.get(value.rpartition(".")[2].lower(), value)
        return msgspec.structs.replace(super().decode(known, context, container, key), raw=value)

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        raw, usual = value.raw, self.values.get(value.reason)
        if value.reason == "other" and raw.__class__ is str and raw not in self.reasons:
            usual = raw
        elif value.reason == "other" and raw.__class__ is int and context.completes:
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        if not context.completes or usual is None:
            return super().encode(value, context, owner)
        context.report_lost_attributes(value, ("stop_sequence",))
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


def modality() -> Filled:
    """Return the kind of a medium as a required field."""
    return Filled({}, lambda content, wire: wire.setdefault("modality", content.media_kind or "document"))


class Anything(Codec[Any]):
    """Any JSON value but null."""

    mandatory = True

    def holds(self, value: object) -> bool:
        return value is not None


class Messages(MessageList):
    """The messages of a request. Each wire object is one message."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [self._row.decode(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, lambda message: self._row)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> Any:
        return [self._row.encode(message, context) for message in value]

    def describe(self) -> str:
        return "list of message"
