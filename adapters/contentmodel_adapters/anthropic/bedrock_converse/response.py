"""The table of answers and errors of Converse (botocore 1.43.117; November 2026).

A file of its own: table.py would be longer than 1,000 lines.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from contentmodel.authoring import (
    Aliases,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorFields,
    Filled,
    Hint,
    Implied,
    ProtobufJson,
    Record,
    Silent,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.anthropic import aws_errors
from contentmodel_adapters.anthropic.aws_errors import ERRORS, TYPE
from contentmodel_adapters.anthropic.bedrock_converse.table import API, BLOCKS, TABLE
from contentmodel_adapters.common.answer import MALFORMED, OnlyAnswer, PairedFinishReasons, SpelledAnswer, SpelledRole

FINISH = PairedFinishReasons(
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
    # The number is that of the name, in answers whose enums are integers.
    paired={**MALFORMED, 10: MALFORMED["MALFORMED_FUNCTION_CALL"]},
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
    "error", ErrorContent, {"message": "message", TYPE: "code"}, Silent("kind"), *aws_errors.NAMES_OF_ROW
)
TABLE.keep("error", "originalStatusCode", "originalMessage", "resourceName")
TABLE.known_values("error.__type", *ERRORS.types)


ERROR_IN = Hint[str](API, "error_in", "the object in the body that has the fields of the error")


class ErrorAtTop(ErrorFields):
    """An exception, whose fields are at the top of the body, or in an object there. An answer may have them, too."""

    def __init__(self) -> None:
        super().__init__(ErrorBody(ERROR, ERRORS), *aws_errors.FIELDS)
        self.keys, self._fields = (*aws_errors.FIELDS, *aws_errors.HOLDERS), aws_errors.FIELDS

    def consumed(self, wire: Mapping[str, Any]) -> Collection[str]:
        if "output" in wire:
            return ()
        holder = aws_errors.holder_of(wire)
        if holder is not None:
            return (holder,)
        return [key for key in self._fields if key in wire] if aws_errors.is_error(wire) else ()

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> ErrorContent | None:
        holder = None if "output" in wire else aws_errors.holder_of(wire)
        if holder is None:
            return super().decode(wire, context)
        error = aws_errors.nested_error(holder, wire, context, self._body)
        return context.replaced(error, ERROR_IN.on(error, API, holder))

    def encode(self, value: ErrorContent | None, wire: dict[str, Any], context: EncodeContext, owner: object) -> None:
        if value is not None:
            fields = self._body.encode_object(value, context, owner)
            holder = ERROR_IN.of(value, API) if context.native else None
            wire.update(fields if holder is None else {holder: fields})


# -- answers -------------------------------------------------------------------------------------------------------

ANSWER = TABLE.record(
    "answer",
    ChatMessage,
    {"content": ("contents", BLOCKS)},
    Implied({"role": "assistant"}),
    Silent("message_id"),
    Filled({"content": []}),
    constants={"role": "assistant"},
)
ROLE = Hint[SpelledRole](API, "role", "the role of the message of an answer, if it is not the usual one")
CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {"output.message": ("messages", SpelledAnswer(ANSWER, ROLE)), "stopReason": ("finish_reason", FINISH)},
    Silent("index"),
)
RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    # An answer of the API does not name its model. The client and the application may add it.
    {"modelId": "model", "usage": ("usage", Record(USAGE))},
    OnlyAnswer("choices", CHOICE, one_of_list=True),
    ErrorAtTop(),
)


def encode_blocks(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the blocks of an answer; report what its messages lose."""
    for message in messages:
        context.report_lost_attributes(message, ("author_name",))
        context.leave_residue(message, own=True)
    return BLOCKS.encode(list(contents_of(messages)), context, None) or []
