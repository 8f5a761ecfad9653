"""Answers: one message with its role, content, stop reason and model. Errors: those of JSON-RPC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Fields,
    Filled,
    FinishReasons,
    Hint,
    Silent,
    reasons,
    whole_number,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.failures import STATUSES
from contentmodel.message import ChatMessage, contents_of
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import OnlyChoice, decode_with_error, misfits
from contentmodel_adapters.frameworks.mcp.blocks import API, CONTENT, TABLE, OneOrBlocks

_OTHER_REASONS = ("refusal", "content_filter", "pause", "error", "compaction", "cancelled")
"""Finish reasons that MCP does not define. It allows any string, so they are written unchanged."""
FINISH = FinishReasons(
    {
        "endTurn": "stop",
        "stopSequence": "stop",
        "maxTokens": "length",
        "toolUse": "tool_calls",
        **{reason: reason for reason in _OTHER_REASONS},
    },
    {
        "stop": "endTurn",
        "length": "maxTokens",
        "tool_calls": "toolUse",
        **{reason: reason for reason in _OTHER_REASONS},
    },
    "endTurn",
)
TABLE.known_values("stopReason", "endTurn", "stopSequence", "maxTokens", "toolUse")
SPELLED = Hint[dict[str, Any]](
    API, "spelled", "the role and the stop reason of the answer, and its content if it has no blocks"
)
_ENDING = Fields({"finish_reason": "stopReason", "messages": "content"})
_CONTENT = OneOrBlocks(CONTENT)


# -- errors ------------------------------------------------------------------------------------------------------------

# The codes of JSON-RPC, and the code for a request that the user rejected (MCP, Sampling, "Error Handling").
KINDS = {
    -1: "permission",
    -32700: "invalid_request",
    -32600: "invalid_request",
    -32601: "not_found",
    -32602: "invalid_request",
    -32603: "server",
}
_CODES = {"permission": -1, "invalid_request": -32602, "not_found": -32601}


class Errors(ErrorTypes):
    """The kinds of errors. JSON-RPC has codes for few of them, so `data.type` has the kind of the ErrorContent."""

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        data, code = wire.get("data"), wire.get("code")
        kind = data.get("type") if isinstance(data, dict) else None
        if kind.__class__ is str and kind in STATUSES:
            return str(kind)
        return KINDS.get(code) if code.__class__ is int else None


class Code(Codec[str]):
    """The code of an error: a number."""

    classes = (int,)
    identity = False

    def decode(self, value: int, context: DecodeContext, container: Any, key: str) -> str:
        return str(value)

    def encode(self, value: str, context: EncodeContext, owner: object) -> int | None:
        number = whole_number(value.removeprefix("-"), 18)
        if number is not None and value in (str(number), str(-number)):
            return int(value)
        context.report_loss(owner, "code", reasons.NO_ERROR_TYPE)
        return None


ERRORS = Errors(("type",), {kind: {"code": _CODES.get(kind, -32603), "data": {"type": kind}} for kind in STATUSES}, {})
ERROR = TABLE.record(
    "error", ErrorContent, {"message": "message", "code": ("code", Code())}, Silent("kind"), Filled({"message": ""})
)
_ERROR = ErrorBody(ERROR, ERRORS)
_OF_ERRORS = ("code", "message", "data")


def with_error(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Decode a response. An error of JSON-RPC replaces the result, so its fields are decoded separately."""
    if wire.get("message") is None or any(wire.get(key) is not None for key in Answer.keys):
        return decode(wire)
    return decode_with_error(wire, context, decode, _ERROR, _OF_ERRORS)


# -- results -----------------------------------------------------------------------------------------------------------


class Answer(OnlyChoice):
    """The only choice: one message and its finish reason."""

    keys = ("role", "content", "stopReason")
    parts = {"role": "choices.messages.role", "stopReason": "choices.finish_reason"}

    def consumed(self, wire: Mapping[str, Any]) -> list[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        if not self.consumed(wire):
            return []
        content, stop = wire.get("content"), wire.get("stopReason")
        contents = _CONTENT.decode(content, context, wire, "content") if _CONTENT.holds(content) else []
        if contents:
            is_list = content.__class__ is list
            context.trace(CONTENT, contents, wire, "content", spread=is_list)
        spelled = {key: wire[key] for key in self.keys if key in wire and (key != "content" or not contents)}
        message = ChatMessage(role="assistant", contents=contents, origin=context.origin)
        finish = FINISH.decode(stop, context, wire, "stopReason") if stop.__class__ is str else None
        wrong = misfits(wire, role=str, stopReason=str)
        if not contents and content is not None and content.__class__ not in (list, dict):
            wrong["content"] = content
        extra = {API: {**SPELLED.entry(spelled), **wrong}}
        choice = ChatChoice(messages=[message], finish_reason=finish, extra=extra)
        context.trace(_ENDING, [choice, message], wire, None, spread=False)
        return [choice]

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        super().encode(value, wire, context, owner)
        if owner.error is not None:
            wire.update(_ERROR.encode(owner.error, context, owner))

    def write_choice(
        self, choice: ChatChoice, residue: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        spelled = SPELLED.read(residue)
        wire.update({"role": "assistant"} if spelled is None else spelled)
        content = encode_content(choice.messages, context)
        if content is not None:
            wire["content"] = content
        finish = choice.finish_reason
        if finish is not None:
            wire["stopReason"] = FINISH.encode(finish, context, choice)


def encode_content(messages: list[ChatMessage], context: EncodeContext) -> Any:
    """Encode the content of an answer. The texts of an answer of another API become one block."""
    for message in messages:
        context.report_lost_attributes(message, ("author_name",))
        context.leave_residue(message, own=True)
    content = _CONTENT.encode(list(contents_of(messages)), context, None)
    if context.completes and content.__class__ is list and all(block.keys() == {"type", "text"} for block in content):
        return {"type": "text", "text": "".join(block["text"] for block in content)}
    return content


RESPONSE = TABLE.record("response", ChatResponse, {"model": "model"}, Answer(), Silent("error"))
TABLE.keep("response", "_meta", "resultType")
