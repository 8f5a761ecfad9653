"""Tools and settings: functions, the format of the answer, and thinking."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Silent, chat, reasons
from contentmodel.request import ReasoningOptions, ResponseFormat
from contentmodel_adapters.ollama.blocks import TABLE

FUNCTION = {f"function.{key}": key for key in ("name", "description", "parameters")}
TOOLS = chat.function_tools(TABLE, FUNCTION, [chat.free_text_function()], default="function", find=chat.row_of_function)
LEVELS = ("low", "medium", "high", "max")
"""The levels of thinking that the server accepts (api/types.go, ThinkValue)."""
# The attributes of a response format that the API has no field for.
_FORMAT = TABLE.record("response format", ResponseFormat, {"schema": "schema"}, Silent("kind", "media_type"))


class Format(Codec[ResponseFormat]):
    """The format of the answer: "json", or a JSON Schema."""

    classes = (str, dict)
    identity = False
    known_values = frozenset({"json", ""})

    def holds(self, value: object) -> bool:
        return value == "json" or (value.__class__ is dict and bool(value))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ResponseFormat:
        return ResponseFormat(kind="json") if value == "json" else ResponseFormat(kind="json_schema", schema=value)

    def encode(self, value: ResponseFormat, context: EncodeContext, owner: object) -> Any:
        wire = _FORMAT.encode(value, context)
        if value.schema is None and value.kind not in ("json", "json_schema"):
            if value.kind != "text":
                context.report_loss(value, "kind", reasons.UNSUPPORTED_VALUE, value=value.kind)
            return None
        return wire.get("schema", "json")

    def describe(self) -> str:
        return "str or dict"


class Think(Codec[ReasoningOptions]):
    """Thinking: on, off, or a level."""

    classes = (bool, str)
    identity = False
    known_values = frozenset(LEVELS)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ReasoningOptions:
        if value.__class__ is str:
            return ReasoningOptions(effort=value)
        return ReasoningOptions(mode="adaptive" if value else "disabled")

    def encode(self, value: ReasoningOptions, context: EncodeContext, owner: object) -> Any:
        context.report_lost_attributes(value, ("budget_tokens", "include", "summary"))
        if value.effort is None or value.mode == "disabled":
            context.report_lost_attributes(value, ("effort",))
            return None if value.mode is None else value.mode != "disabled"
        if value.mode is not None:
            # A level turns thinking on.
            context.report_loss(value, "mode", reasons.THINKING_CONVERTED)
        return value.effort


class Limit(Codec[int]):
    """The maximum number of tokens. -1 (no limit) and -2 (fill the context) are not limits, and stay in the residue.

    Source: `num_predict` in docs.ollama.com/modelfile, seen 2026-11-26.
    """

    classes = (int,)

    def holds(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
