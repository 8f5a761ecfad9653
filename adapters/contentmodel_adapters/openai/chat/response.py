"""The envelope of Chat answers and errors: choices, finish reasons, usage (openai 3.52; November 2026)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel.authoring import (
    Aliases,
    AsSent,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Filled,
    FinishReasons,
    Hint,
    ObjectList,
    OneOf,
    ProtobufJson,
    Silent,
    TextOrJson,
    finished_by_calls,
    hints,
    object_of,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import FinishReason
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.errors_at_top import decode_with_error
from contentmodel_adapters.common.logprobs import TokenLogprobs
from contentmodel_adapters.openai.chat.blocks import API, ERROR, TABLE, USAGE
from contentmodel_adapters.openai.chat.messages import Message, encode_answer
from contentmodel_adapters.openai.errors import ERRORS

_CALL_FILTER = "function_call_filter"
"""The start of a finish reason of Google's endpoint for OpenAI clients: the rest is Gemini's value.

Envoyproxy/ai-gateway#2118, seen 2026-11-29.
"""


class Finish(FinishReasons):
    """The finish reasons of Chat Completions and its hosts."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        if isinstance(value, str) and value.startswith(_CALL_FILTER):
            return FinishReason(reason="error", raw=value)
        return super().decode(value, context, container, key)


FINISH = Finish(
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
        "error": "error",
    },
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "refusal": "content_filter",
        "pause": "stop",
    },
    "stop",
    of_hosts={
        # Z.ai (docs.z.ai/api-reference/llm/chat-completion; anomalyco/opencode#18814, seen 2026-11-27).
        "model_context_window_exceeded": "length",
        "sensitive": "content_filter",
        "network_error": "error",
        # Together (together-py, types/chat_completions.py), DeepSeek (api-docs.deepseek.com, "Create Chat Completion"),
        # and older versions of TGI (litellm 1.110, litellm_core_utils/core_helpers.py); seen 2026-11-27.
        "eos": "stop",
        "insufficient_system_resource": "error",
        "eos_token": "stop",
        "stop_sequence": "stop",
    },
    same=("function_call", "eos", "eos_token"),
)

TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.known_values("error.code", *ERRORS.types)
TABLE.keep("response", "object", "metadata", "moderation", "service_tier", "system_fingerprint")

CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {
        "index": "index",
        "message": ("messages", Message()),
        "finish_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", TokenLogprobs()),
    },
    Filled({"message": {"role": "assistant", "content": None, "refusal": None}}),
)


class Choices(ObjectList[ChatChoice]):
    """The list of choices."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        wires = self.objects(value)
        choices = [finished_by_calls(CHOICE.decode(wire, context)) for wire in wires]
        is_one = _is_one_answer(wires) and all(choice.messages and choice.messages[0].contents for choice in choices)
        return [_joined(choices, wires, context)] if is_one else choices

    def encode(self, value: list[ChatChoice], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires: list[dict[str, Any]] = []
        for choice in value:
            wires += _encode_choice(choice, context)
        if context.completes:
            for index, wire in enumerate(wires):
                wire.setdefault("index", index)
                has_calls = bool(wire.get("message", {}).get("tool_calls"))
                wire.setdefault("finish_reason", "tool_calls" if has_calls else "stop")
                wire.setdefault("logprobs", None)
        return wires


PART = Hint[dict[str, Any]](API, "choice", "the other fields of a choice that continues the first one", fields=True)


def _is_one_answer(wires: list[dict[str, Any]]) -> bool:
    """Return whether choices are the parts of one answer.

    GitHub Copilot has the text and the calls of Claude in choices without `index`, which all end for calls
    (HKUDS/nanobot#1555, seen 2026-11-27).
    """
    if len(wires) < 2 or any("index" in wire or wire.get("finish_reason") != "tool_calls" for wire in wires):
        return False
    messages = [object_of(wire, "message") for wire in wires]
    has_calls = [bool(message.get("tool_calls")) for message in messages]
    return all(messages) and any(has_calls) and not all(has_calls)


def _joined(choices: list[ChatChoice], wires: list[dict[str, Any]], context: DecodeContext) -> ChatChoice:
    """Return the choice whose messages are those of all choices."""
    messages = list(choices[0].messages)
    for choice, wire in zip(choices[1:], wires[1:], strict=True):
        fields = {key: value for key, value in wire.items() if key != "message"}
        messages += [context.replaced(message, PART.on(message, API, fields)) for message in choice.messages]
    return context.replace(choices[0], messages=messages)


def _encode_choice(choice: ChatChoice, context: EncodeContext) -> list[dict[str, Any]]:
    """Return a choice, and the choices that continue it. Messages without contents have no choice of their own."""
    if len(choice.messages) < 2 or not context.native:
        return [CHOICE.encode(choice, context)]
    parts = [message for message in choice.messages[1:] if PART.of(message, API) is not None and message.contents]
    own = [message for message in choice.messages if all(message is not part for part in parts)]
    wires = [{**(PART.of(part, API) or {}), "message": encode_answer([part], context)} for part in parts]
    return [CHOICE.encode(context.replace(choice, messages=own), context), *wires]


# Bodies without `error`: of vLLM before 0.10.1 (github.com/vllm-project/vllm/pull/22099), of FastAPI, with `detail`
# (fastapi.tiangolo.com/tutorial/handling-errors), and of Azure's API Management, with `statusCode` (seen 2026-11-27).
ERROR_AT_TOP = TABLE.record(
    "error at top",
    ErrorContent,
    {"message": ("message", TextOrJson()), "code": "code"},
    *(Silent("kind"), ProtobufJson(), Aliases({"detail": "message"})),
    as_sent=AsSent("message"),
)
TABLE.keep("error at top", "type", "param", "statusCode")
_KINDS = {name: ERRORS.kind_of({"code": name}) or "server" for name in ERRORS.types}
_AT_TOP = ErrorBody(ERROR_AT_TOP, ErrorTypes(("code", "type", "statusCode"), ERRORS.writes, _KINDS))
_FIELDS = ("message", "detail", "code", "type", "param", "statusCode")


# MiniMax reports errors beside the choices, with the status 200 (platform.minimax.io/docs, "Error Codes", seen
# 2026-11-27).
ERROR_BESIDE = TABLE.record("base_resp", ErrorContent, {"status_msg": "message"}, Silent("kind", "code"))
TABLE.keep("base_resp", "status_code")
_CODES = {
    1000: "server",
    1001: "timeout",
    1002: "rate_limit",
    1004: "authentication",
    1008: "billing",
    1026: "invalid_request",
    1027: "invalid_request",
    1041: "rate_limit",
    2013: "invalid_request",
    2049: "authentication",
    2056: "rate_limit",
}
_BESIDE = ErrorBody(
    ERROR_BESIDE,
    ErrorTypes(("status_code",), {kind: {"status_code": code} for code, kind in reversed(_CODES.items())}, _CODES),
)
_FORMS = {ERROR_AT_TOP.name: _AT_TOP, ERROR_BESIDE.name: _BESIDE}


class Error(ErrorBody):
    """The error of an answer. One whose fields were elsewhere keeps its form."""

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> Any:
        form = _FORMS.get(hints.ROW.of(value, API) or "") if context.native else None
        return super().encode(value, context, owner) if form is None else form.encode(value, context, owner)


def with_error_at_top(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded answer, or the error of a body without `error`."""
    if is_error_beside(wire):
        return _with_error_beside(wire, context, decode)
    if not _is_error_at_top(wire):
        return _with_error_of_choice(wire, context, decode)
    response = decode_with_error(wire, context, decode, _AT_TOP, _FIELDS)
    error = context.replaced(response.error, hints.ROW.on(response.error, API, ERROR_AT_TOP.name))
    return context.replace(response, error=error)


def _is_error_at_top(wire: dict[str, Any]) -> bool:
    message = wire.get("message", wire.get("detail"))
    return bool(message) and message.__class__ in (str, dict, list) and not wire.keys() & {"choices", "error"}


def error_body(name: str | None, event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the body of the error that an event without choices is; None if it is not an error.

    An event with a message may also be information of a host. The fields of an error show that it is one.
    """
    is_at_top = event.keys() <= {*_FIELDS} and _is_error_at_top(event)
    kind = event.get("type", "error")
    is_named = "code" in event or "statusCode" in event or (kind.__class__ is str and "error" in kind.lower())
    if event.get("error").__class__ in (dict, str) or (is_at_top and is_named) or is_error_beside(event):
        return event
    return {"error": event} if "error" in event or "error" in (name, event.get("object")) else None


def is_error_beside(wire: dict[str, Any]) -> bool:
    """Return whether a body or an event has an error of MiniMax. The code 0 is success."""
    code = object_of(wire, "base_resp").get("status_code")
    return code.__class__ is int and code != 0 and "error" not in wire


def _with_error_beside(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    error = _BESIDE.decode(wire["base_resp"], context, wire, "base_resp")
    context.trace(ERROR_BESIDE, [error], wire, "base_resp", spread=False)
    error = context.replaced(error, hints.ROW.on(error, API, ERROR_BESIDE.name))
    return context.replace(decode(context.without(wire, ("base_resp",))), error=error)


def _with_error_of_choice(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded answer. Its error may be in its only choice, at OpenRouter.

    openrouter.ai/docs/api-reference/overview (`NonStreamingChoice`), seen 2026-11-27.
    """
    choices = wire.get("choices")
    only = choices[0] if choices.__class__ is list and len(choices) == 1 else None
    if only.__class__ is not dict or only.get("error").__class__ is not dict or "error" in wire:
        return decode(wire)
    moved = {**wire, "choices": [context.without(only, ("error",))], "error": only["error"]}
    context.copied(moved, wire)
    response = decode(moved)
    context.trace(ERROR, [response.error], only, "error", spread=False)
    error = context.replaced(response.error, hints.COLUMN.on(response.error, API, "choices"))
    return context.replace(response, error=error)


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Choices(CHOICE)),
        "usage": ("usage", OneOf(USAGE)),
        "error": ("error", Error(ERROR, ERRORS, or_text=True)),
    },
)
