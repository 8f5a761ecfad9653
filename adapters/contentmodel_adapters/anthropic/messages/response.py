"""The table of answers and errors of the Messages API (anthropic 2.11; November 2026).

A file of its own: table.py would be longer than 1,000 lines.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    ErrorBody,
    Fields,
    Filled,
    FinishReasons,
    Hint,
    Implied,
    LimitHeaders,
    Record,
    Silent,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import ChatMessage, FinishReason, contents_of
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.anthropic import aws_errors
from contentmodel_adapters.anthropic.messages.table import API, CONTENT, TABLE
from contentmodel_adapters.common.answer import OnlyChoice, misfits

FINISH = FinishReasons(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "refusal": "refusal",
        "pause_turn": "pause",
        "compaction": "compaction",
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "refusal": "refusal",
        "content_filter": "refusal",
        "pause": "pause_turn",
    },
    "end_turn",
    has_stop_sequence=True,
)

# docs.claude.com/en/api/errors, and _exceptions.py of anthropic 2.12 for 529. Seen 2026-11-22.
ERRORS = aws_errors.Errors(
    # Vertex has Google's errors: their code is an HTTP status.
    ("type", "code"),
    {
        "invalid_request": {"type": "invalid_request_error"},
        "context_length": {"type": "invalid_request_error"},
        "authentication": {"type": "authentication_error"},
        "billing": {"type": "billing_error"},
        "permission": {"type": "permission_error"},
        "not_found": {"type": "not_found_error"},
        "conflict": {"type": "conflict_error"},
        "too_large": {"type": "request_too_large"},
        "rate_limit": {"type": "rate_limit_error"},
        "server": {"type": "api_error"},
        "overloaded": {"type": "overloaded_error"},
        "timeout": {"type": "timeout_error"},
    },
    # Bedrock has the names of exceptions.
    aws_errors.KINDS,
    {"overloaded": 529},
    # Claude Code shortens its conversation after an error with these words (anthropics/claude-code#57296 and
    # Menci/Floway#166, seen 2026-11-27).
    {"context_length": "prompt is too long"},
)
TABLE.known_values("error.type", *dict.fromkeys(fields["type"] for fields in ERRORS.writes.values()))

# docs.claude.com/en/api/rate-limits, "Response headers" (seen 2026-11-22).
LIMIT_HEADERS = LimitHeaders("anthropic-ratelimit-{what}-{field}", as_dates=True)

USAGE = TABLE.record(
    "usage",
    Usage,
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_input_tokens": "cache_read_tokens",
        "cache_creation_input_tokens": "cache_write_tokens",
        "output_tokens_details.thinking_tokens": "reasoning_tokens",
    },
    # input_tokens leaves cached tokens out (docs.claude.com, "Prompt caching", seen November 2026).
    Implied({"cached_inside": False}),
    Silent("reasoning_inside"),
)
ERROR = TABLE.record(
    "error",
    ErrorContent,
    {"type": "code", "message": "message"},
    Silent("kind"),
    Filled({"message": ""}),
    *aws_errors.OTHER_NAMES,
)

_AWS_ERROR = TABLE.record(
    "error of Bedrock",
    ErrorContent,
    {"message": "message", aws_errors.TYPE: "code"},
    Silent("kind"),
    *aws_errors.NAMES_OF_ROW,
)
AT_TOP = Hint[Literal[True]](
    API, "error_at_top", "an error whose fields are at the top of the body, as Bedrock sends it"
)
ERROR_IN = Hint[str](API, "error_in", "the object in the body that has the fields of the error, as Bedrock may send it")
ENDED = Hint[dict[str, Any]](API, "ending", "the role and the stop fields of the answer")
NO_CONTENT = Hint[list[Any] | None](API, "content", "the content of an answer that has no blocks: null or empty")
ENDING = Fields({"finish_reason": "stop_reason", "finish_reason.stop_sequence": "stop_sequence", "messages": "content"})

TABLE.known_values("stop_reason", *FINISH.reasons)
TABLE.keep(
    "response",
    *("type", "container", "context_management", "diagnostics", "input_transformations", "stop_details"),
)
TABLE.keep(
    "usage",
    *("cache_creation", "fallback_credit", "inference_geo", "iterations", "server_tool_use", "service_tier", "speed"),
)
TABLE.known_values("usage.iterations", "message", "compaction", "advisor_message", "fallback_message")
TABLE.known_values("caller", "direct", "code_execution_20250825", "code_execution_20260120")


class Answer(OnlyChoice):
    """The role, the blocks and the stop fields: the one message of the only choice, and its finish reason."""

    keys = ("role", "content", "stop_reason", "stop_sequence")
    parts = {"role": "choices.messages.role", "stop_reason": "choices.finish_reason"}

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> list[ChatChoice]:
        blocks = wire.get("content")
        if wire.keys().isdisjoint(self.keys):
            return []
        if blocks is not None and blocks.__class__ is not list:
            context.expected(wire, "content", "array", blocks)
            blocks = None
        contents = CONTENT.decode_list(blocks, context) if blocks else []
        if len(contents) == len(blocks or ()):
            context.trace(CONTENT, contents, wire, "content", spread=True)
        # Hints, so that these fields are not reported as lost.
        fields = {key: wire[key] for key in self.keys if key in wire and key != "content"}
        hint_fields = ENDED.entry(fields)
        if "content" in wire and not blocks:
            hint_fields |= NO_CONTENT.entry(blocks)
        message = ChatMessage(role="assistant", contents=contents, origin=context.origin)
        is_usual = wire.get("role").__class__ is str and wire.get("stop_reason").__class__ in (str, NoneType)
        wrong = {} if is_usual else misfits(wire, role=str, stop_reason=str)
        if wire.get("stop_reason").__class__ is not str and wire.get("stop_sequence") is not None:
            # FinishReason cannot hold a stop sequence without a reason.
            wrong["stop_sequence"] = wire["stop_sequence"]
        extra = {API: {**hint_fields, **wrong}}
        choice = ChatChoice(messages=[message], finish_reason=self._finish(wire, context), extra=extra)
        context.trace(ENDING, [choice, message], wire, None, spread=False)
        return [choice]

    def _finish(self, wire: dict[str, Any], context: DecodeContext) -> FinishReason | None:
        reason, sequence = wire.get("stop_reason"), wire.get("stop_sequence")
        if not isinstance(reason, str):
            return None
        finish = FINISH.decode(reason, context, wire, "stop_reason")
        if sequence is not None and not isinstance(sequence, str):
            context.expected(wire, "stop_sequence", "string", sequence)
        stop_sequence = sequence if isinstance(sequence, str) else None
        return msgspec.structs.replace(finish, stop_sequence=stop_sequence)

    def write_choice(
        self, choice: ChatChoice, residue: dict[str, Any], wire: dict[str, Any], context: EncodeContext
    ) -> None:
        blocks = encode_blocks(choice.messages, context)
        ended = ENDED.read(residue)
        wire.update({"role": "assistant", "stop_sequence": None} if ended is None else ended)
        if blocks or ended is None or NO_CONTENT.is_in(residue):
            wire["content"] = blocks or (NO_CONTENT.read(residue) if NO_CONTENT.is_in(residue) else [])
        self._encode_finish(choice, wire, context)

    def _encode_finish(self, choice: ChatChoice, wire: dict[str, Any], context: EncodeContext) -> None:
        finish = choice.finish_reason
        if finish is None:
            return
        wire["stop_reason"] = FINISH.encode(finish, context, choice)
        if finish.stop_sequence is not None:
            wire["stop_sequence"] = finish.stop_sequence


def encode_blocks(messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
    """Return the blocks of an answer; report what its messages lose."""
    for message in messages:
        context.report_lost_attributes(message, ("author_name",))
        context.leave_residue(message, own=True)
    return CONTENT.encode_list(list(contents_of(messages)), context)


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "usage": ("usage", Record(USAGE)),
        "error": ("error", ErrorBody(ERROR, ERRORS)),
    },
    Answer(),
)


def with_error(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded response. In the bodies of Bedrock, the fields of an error are at the top, or in an object."""
    holder = aws_errors.holder_of(wire)
    if wire.keys() & {"type", "content", "error"} or (holder is None and not aws_errors.is_error(wire)):
        return decode(wire)
    body = ErrorBody(_AWS_ERROR, aws_errors.ERRORS)
    response = AT_TOP.on(aws_errors.with_error(wire, context, decode, body), API, True)
    return response if holder is None else ERROR_IN.on(response, API, holder)
