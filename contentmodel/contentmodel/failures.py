"""The normalized kinds of errors, and their HTTP statuses.

An adapter translates between these kinds and the error codes of its API (`engine/table/answers.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from contentmodel.events import CANCELLED, ENDED, MALFORMED

if TYPE_CHECKING:
    from contentmodel.content.outcomes import ErrorContent

STATUSES: dict[str, int] = {
    "invalid_request": 400,
    "context_length": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "rate_limit": 429,
    "cancelled": 499,
    "server": 500,
    "overloaded": 503,
    "timeout": 504,
}
"""The usual HTTP status of each kind of error. An API may use another one: see `error_status`."""

# Other statuses that providers use: 402 and 529 of Anthropic (docs.claude.com/en/api/errors), 408 and 422 of hosts of
# Chat Completions, 501 of Google (google/rpc/code.proto). Seen 2026-11-22.
_MORE_STATUSES = {408: "timeout", 422: "invalid_request", 501: "invalid_request", 529: "overloaded"}
_KINDS = {**{status: kind for kind, status in reversed(STATUSES.items())}, **_MORE_STATUSES}

# The codes of errors that this library creates.
_LIBRARY_CODES = {ENDED: "server", MALFORMED: "server", CANCELLED: "cancelled"}


def kind_of_status(status: int) -> str | None:
    """Return the kind of error of an HTTP status; None below 400."""
    if status in _KINDS:
        return _KINDS[status]
    return "server" if status >= 500 else "invalid_request" if status >= 400 else None


# Only OpenAI has a code for this. Agents need it to shorten a conversation: Codex looks for OpenAI's code, Claude Code
# for Anthropic's words. The messages of Anthropic, Gemini (google-gemini/gemini-cli#4118), Bedrock, OpenAI, Mistral,
# llama.cpp and xAI; of Groq, OpenRouter, Together, Copilot, LM Studio, MiniMax, Kimi, Ollama and DashScope as agents
# have recorded them (earendil-works/pi, packages/ai; musistudio/claude-code-router#1799 for vLLM); of Cohere
# (docs.cohere.com/reference/errors), Z.ai and text-generation-inference. Seen 2026-11-28.
_TOO_LONG = re.compile(
    r"prompt is too long"
    r"|prompt too long; exceeded"
    r"|exceed context limit"
    r"|input token count .{0,40}exceeds the maximum number of tokens"
    r"|input is too long for requested model"
    r"|maximum context length (?:is|of) "
    r"|too large for model with .{0,20}maximum context length"
    r"|is longer than the model's context length"
    r"|exceeds the maximum allowed input length of "
    r"|prompt token count of .{0,20}exceeds the limit of "
    r"|greater than the context length"
    r"|exceeds the context window"
    r"|context window exceeds limit"
    r"|exceeds the available context size"
    r"|exceeded model token limit"
    r"|maximum prompt length is"
    r"|reduce the length of the messages"
    r"|range of input length should be"
    r"|number of tokens in the prompt cannot exceed"
    r"|too many tokens: size limit exceeded by"
    r"|model is loaded with context length of only"
    r"|prompt exceeds max length"
    r"|`inputs` must have less than"
    r"|`inputs` tokens \+ `max_new_tokens` must be",
    re.IGNORECASE,
)


def is_too_long(message: object) -> bool:
    """Return whether the message of an error says that the request is longer than the context of the model."""
    return isinstance(message, str) and _TOO_LONG.search(message) is not None


def error_kind(error: ErrorContent) -> str | None:
    """Return the kind of an error: its `kind`, or the kind of its code; None if neither is known."""
    if error.kind is not None:
        return error.kind
    return error.code if error.code in STATUSES else _LIBRARY_CODES.get(error.code or "")


def error_status(error: ErrorContent, api: str | None = None) -> int:
    """Return the HTTP status of an error: the one that `api` uses, or the usual one.

    Return 500 for an error of an unknown kind. Raise UnknownApiError.
    """
    kind = error_kind(error) or "server"
    if api is not None:
        from contentmodel.adapter import adapter

        errors = getattr(adapter(api), "errors", None)
        if errors is not None:
            return int(errors.status_of(kind))
    return STATUSES.get(kind, 500)
