"""Answers: the one message, its finish reason, the token counts, and errors."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    FinishReasons,
    Inlined,
    Silent,
    reasons,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.failures import STATUSES, error_kind, is_too_long
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage
from contentmodel_adapters.common.answer import OnlyAnswer
from contentmodel_adapters.common.logprobs import TokenLogprobs
from contentmodel_adapters.ollama.blocks import TABLE
from contentmodel_adapters.ollama.messages import ANSWER

# "stop" also ends an answer with calls. "load" and "unload" answer requests without messages (server/routes.go).
FINISH = FinishReasons(
    {"stop": "stop", "length": "length", "load": "other", "unload": "other"},
    {"stop": "stop", "length": "length", "tool_calls": "stop"},
    "stop",
    implied=("tool_calls",),
)
TABLE.known_values("done_reason", *FINISH.reasons)
CHOICE = TABLE.record(
    "answer",
    ChatChoice,
    {
        "message": ("messages", ANSWER),
        "done_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", TokenLogprobs(list)),
    },
    Silent("index"),
)
USAGE = TABLE.record(
    "usage",
    Usage,
    {"prompt_eval_count": "input_tokens", "eval_count": "output_tokens"},
    Silent("cached_inside", "reasoning_inside"),
)


def id_of_answer(wire: dict[str, Any]) -> str | None:
    """Return the time of an answer, from which ids are derived: an answer has no id."""
    created = wire.get("created_at")
    return created if isinstance(created, str) else None


class ErrorText(Codec[ErrorContent]):
    """An error, which is only a text. The kind of the error is in the HTTP status, unless the text shows it."""

    classes = (str,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ErrorContent:
        return ErrorContent(message=value, kind="context_length" if is_too_long(value) else None)

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> str:
        kind = error_kind(value)
        context.status = STATUSES.get(kind or "server", 500)
        context.report_lost_attributes(value, ("details",))
        if value.code is not None:
            context.report_loss(value, "code", reasons.NO_ERROR_TYPE)
        context.leave_residue(value)
        return value.message or value.code or ""


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {"model": "model", "created_at": "created", "error": ("error", ErrorText())},
    OnlyAnswer("choices", CHOICE, one_of_list=True),
    Inlined("usage", USAGE),
)
TABLE.keep(
    "response",
    *("done", "total_duration", "load_duration", "prompt_eval_duration", "eval_duration"),
    *("remote_model", "remote_host"),
)
