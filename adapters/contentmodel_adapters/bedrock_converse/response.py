"""The envelope of answers and errors of Converse (botocore 1.43.117; November 2026)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    Aliases,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    Fields,
    FinishReasons,
    Hint,
    Implied,
    ProtobufJson,
    Record,
    Row,
    Silent,
    finished_by_calls,
    object_of,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.bedrock_converse.blocks import API, TABLE
from contentmodel_adapters.bedrock_converse.messages import BLOCKS
from contentmodel_adapters.shared import aws_errors
from contentmodel_adapters.shared.answer import OnlyChoice, misfits
from contentmodel_adapters.shared.aws_errors import ERRORS, TYPE

FINISH = FinishReasons(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
        "malformed_model_output": "error",
        "malformed_tool_use": "error",
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered",
        "refusal": "content_filtered",
        "error": "malformed_model_output",
    },
    "end_turn",
)
TABLE.known_values("stopReason", *FINISH.reasons)
TABLE.keep(
    "response",
    *("metrics", "trace", "additionalModelResponseFields", "performanceConfig", "serviceTier", "ResponseMetadata"),
)
TABLE.keep("usage", "cacheDetails", "serverToolUsage", "cacheReadInputTokenCount", "cacheWriteInputTokenCount")

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "inputTokens": "input_tokens",
        "outputTokens": "output_tokens",
        "totalTokens": "total_tokens",
        "cacheReadInputTokens": "cache_read_tokens",
        "cacheWriteInputTokens": "cache_write_tokens",
    },
    # inputTokens leaves cached tokens out (docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, 2026-11).
    Implied({"cached_inside": False}),
    Silent("reasoning_inside"),
    ProtobufJson(),
    # Converse has both names, Nova's InvokeModel only these (nova2-userguide/request-response-schema.html, 2026-11-27).
    Aliases({"cacheReadInputTokenCount": "cacheReadInputTokens", "cacheWriteInputTokenCount": "cacheWriteInputTokens"}),
)

# -- errors --------------------------------------------------------------------------------------------------------


ERROR = TABLE.record(
    "error", ErrorContent, {"message": "message", TYPE: "code"}, Silent("kind"), *aws_errors.OTHER_NAMES
)
TABLE.keep("error", "originalStatusCode", "originalMessage", "resourceName")
TABLE.known_values("error.__type", *ERRORS.types)


_ERROR = ErrorBody(ERROR, ERRORS)


def with_error(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded response. The fields of an error are at the top of the body."""
    if "output" in wire or not aws_errors.is_error(wire):
        return decode(wire)
    return aws_errors.with_error(wire, context, decode, _ERROR)


# -- answers -------------------------------------------------------------------------------------------------------

ENDED = Hint[dict[str, Any]](API, "ending", "the stop reason of the answer, and its output without blocks")
ENDING = Fields({"finish_reason": "stopReason", "messages": "output.message"})


class Answer(OnlyChoice):
    """The message and the stop reason: the one message of the only choice, and its finish reason."""

    keys = ("output", "stopReason")
    parts = {"output": "choices.messages", "stopReason": "choices.finish_reason"}

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        if not any(key in wire for key in self.keys):
            return []
        output, stop = wire.get("output"), wire.get("stopReason")
        outer = _objects_at(wire, "output", context)
        inner = _objects_at(outer, "message", context)
        blocks = inner.get("content")
        if blocks is not None and blocks.__class__ is not list:
            context.expected(inner, "content", "array", blocks)
        contents = BLOCKS.decode(blocks, context, inner, "content") if blocks and blocks.__class__ is list else []
        message = ChatMessage(role="assistant", contents=contents, origin=context.origin)
        context.trace(_BLOCKS, [message], outer, "message", spread=False)
        finish = FINISH.decode(stop, context, wire, "stopReason") if stop.__class__ is str else None
        # Known fields are in a hint, so that they are not reported as lost.
        kept = {"stopReason": stop} if "stopReason" in wire else {}
        if "output" in wire:
            kept["output"] = output if output.__class__ is not dict else _known(output, has_blocks=bool(contents))
        rest = _rest(outer, inner)
        extra = {API: {**ENDED.entry(kept), **misfits(wire, stopReason=str), **({"output": rest} if rest else {})}}
        # gpt-oss and Claude end some answers with calls with "end_turn".
        choice = finished_by_calls(ChatChoice(messages=[message], finish_reason=finish, extra=extra))
        context.trace(ENDING, [choice], wire, None, spread=False)
        return [choice]

    def encode(
        self, value: list[ChatChoice], wire: dict[str, Any], context: EncodeContext, owner: ChatResponse
    ) -> None:
        super().encode(value, wire, context, owner)
        if owner.error is not None:
            wire.update(_ERROR.encode_object(owner.error, context, owner))

    def write_choice(
        self, choice: ChatChoice, own: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        blocks = encode_blocks(choice.messages, context)
        ended = ENDED.read(own)
        wire.update({"output": {"message": {"role": "assistant", "content": []}}} if ended is None else ended)
        output, rest = object_of(wire, "output"), object_of(own, "output")
        message = {
            **object_of(rest, "message"),
            **object_of(output, "message"),
            **({"content": blocks} if blocks else {}),
        }
        if blocks or rest:
            wire["output"] = {**rest, **output, **({"message": message} if message else {})}
        if choice.finish_reason is not None:
            wire["stopReason"] = FINISH.encode(choice.finish_reason, context, choice)


_BLOCKS = Row("message", ChatMessage, {"content": ("contents", BLOCKS)}, Silent("role", "message_id", "author_name"))


def _objects_at(wire: dict[str, Any], key: str, context: DecodeContext) -> dict[str, Any]:
    """Return the object at a key; an empty one if there is none. Any other value is a fault."""
    value = wire.get(key)
    if value is not None and value.__class__ is not dict:
        context.expected(wire, key, "object", value)
    return object_of(wire, key)


def _known(output: dict[str, Any], *, has_blocks: bool) -> dict[str, Any]:
    """Return the fields of the output that every answer has, without the blocks."""
    message = output.get("message")
    if message.__class__ is dict:
        names = ("role",) if has_blocks else ("role", "content")
        message = {name: message[name] for name in names if name in message}
    return {"message": message} if "message" in output else {}


def _rest(output: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """Return the other fields of the output, as residue."""
    inner = {name: value for name, value in message.items() if name not in ("role", "content")} | misfits(
        message, role=str
    )
    outer = {name: value for name, value in output.items() if name != "message"}
    return {**outer, "message": inner} if inner else outer


def encode_blocks(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the blocks of an answer; report what its messages lose."""
    for message in messages:
        context.report_lost_attributes(message, ("author_name", "message_id"))
        context.leave_residue(message, own=True)
    return BLOCKS.encode(list(contents_of(messages)), context, None) or []


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    # An answer of the API does not name its model. The client and the application may add it.
    {"modelId": "model", "usage": ("usage", Record(USAGE))},
    Answer(),
    Silent("error"),
)
