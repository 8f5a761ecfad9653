"""The rows, tool choices, settings, errors and headers that Chat Completions and Responses have in common."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from contentmodel.authoring import (
    EncodeContext,
    EnumString,
    ErrorTypes,
    Filled,
    Implied,
    LimitHeaders,
    Row,
    Silent,
    Table,
    object_of,
    reasons,
    row,
    text_of,
)
from contentmodel.content.caching import CachePoint
from contentmodel.content.outcomes import ErrorContent
from contentmodel.request import ChatRequest, ToolChoice

_INVALID = "invalid_request_error"

# platform.openai.com/docs/guides/error-codes, types/shared/error_object.py of openai 3.54, and the types that
# compatible hosts take from Anthropic. Seen 2026-11-22. OpenAI has no codes for 409, 413, 499 and 504.
ERRORS = ErrorTypes(
    ("code", "type"),
    {
        "invalid_request": {"type": _INVALID, "param": None, "code": None},
        "context_length": {"type": _INVALID, "param": None, "code": "context_length_exceeded"},
        "authentication": {"type": _INVALID, "param": None, "code": "invalid_api_key"},
        "billing": {"type": "insufficient_quota", "param": None, "code": "insufficient_quota"},
        "permission": {"type": _INVALID, "param": None, "code": "insufficient_permissions"},
        "not_found": {"type": _INVALID, "param": None, "code": "model_not_found"},
        "conflict": {"type": _INVALID, "param": None, "code": None},
        "too_large": {"type": _INVALID, "param": None, "code": None},
        "rate_limit": {"type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"},
        "server": {"type": "server_error", "param": None, "code": "server_error"},
        "overloaded": {"type": "service_unavailable_error", "param": None, "code": "server_is_overloaded"},
    },
    {
        _INVALID: "invalid_request",
        "invalid_prompt": "invalid_request",
        # Azure: learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter, and its reference of the REST API
        # (seen 2026-11-27).
        "content_filter": "invalid_request",
        "OperationNotSupported": "invalid_request",
        "DeploymentNotFound": "not_found",
        "ResourceNotFound": "not_found",
        "invalid_authentication": "authentication",
        "authentication_error": "authentication",
        "credit_balance_exhausted": "billing",
        "billing_error": "billing",
        "missing_scope": "permission",
        "permission_error": "permission",
        "request_forbidden": "permission",
        "unsupported_country_region_territory": "permission",
        "not_found_error": "not_found",
        "requests": "rate_limit",
        "tokens": "rate_limit",
        "slow_down": "rate_limit",
        "api_error": "server",
        "overloaded_error": "overloaded",
        "timeout_error": "timeout",
        # Moonshot (platform.kimi.ai/docs/api/errors) and Cerebras (seen 2026-11-27).
        "invalid_authentication_error": "authentication",
        "incorrect_api_key_error": "authentication",
        "permission_denied_error": "permission",
        "resource_not_found_error": "not_found",
        "exceeded_current_quota_error": "billing",
        "rate_limit_reached_error": "rate_limit",
        "too_many_requests_error": "rate_limit",
        "queue_exceeded": "rate_limit",
        "engine_overloaded_error": "overloaded",
    },
    # An account without credit is refused with the status of a rate limit.
    {"billing": 429},
)

# platform.openai.com/docs/guides/rate-limits, "Rate limits in headers" (seen 2026-11-22).
LIMIT_HEADERS = LimitHeaders("x-ratelimit-{field}-{what}", writes=("requests", "tokens"))

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
TIERS = ("auto", "default", "flex", "scale", "priority", "fast")


def refusal_row() -> Row:
    """Return the row of the part of an answer that is a refusal."""
    return row("refusal", ErrorContent, {"refusal": "message"}, Implied({"code": "refusal"}), Filled({"refusal": ""}))


def error_record(table: Table) -> Row:
    """Return the row of the error of an answer."""
    fields = {"message": "message", "code": "code"}
    return table.record("error", ErrorContent, fields, Silent("kind"), Filled({"message": ""}))


def cache_point_record(table: Table) -> Row:
    """Return the row of the end of a prompt to cache.

    types/chat/chat_completion_content_part_text_param.py and types/responses/response_input_text_param.py of openai
    3.54, seen 2026-11-23.
    """
    ttl = ("ttl", EnumString("ttl", "30m", "12h", reason=reasons.CACHE_LIFETIME))
    return table.record("prompt_cache_breakpoint", CachePoint, {"ttl": ttl}, constants={"mode": "explicit"})


def read_choice(value: dict[str, Any], *, inside: bool) -> ToolChoice | None:
    """Return the choice of functions or custom tools that an object means; None if it has another form.

    `inside`: whether the fields of a choice, and of a tool in its list, are in an object under its type.
    """
    kind = text_of(value, "type")
    fields = object_of(value, kind) if inside else value
    if kind in ("function", "custom") and fields.get("name").__class__ is str:
        return ToolChoice(mode="required", tools=[fields["name"]])
    if kind == "allowed_tools" and fields.get("mode").__class__ is str and fields.get("tools").__class__ is list:
        tools = [tool for tool in fields["tools"] if isinstance(tool, dict)]
        names = [(object_of(tool, text_of(tool, "type")) if inside else tool).get("name") for tool in tools]
        texts = [name for name in names if isinstance(name, str)]
        if texts and len(texts) == len(fields["tools"]):
            return ToolChoice(mode=fields["mode"], tools=texts)
    return None


def write_choice(choice: ToolChoice, customs: Collection[str], *, inside: bool) -> Any:
    """Return the string or object of a choice of functions and `customs`; None if the APIs cannot express it."""
    if not choice.tools:
        return choice.mode if choice.mode in ("auto", "none", "required") else None
    named = [
        _typed("custom" if name in customs else "function", {"name": name}, inside=inside) for name in choice.tools
    ]
    if choice.mode == "required" and len(named) == 1:
        return named[0]
    # The APIs can list allowed tools, not forbidden ones.
    is_listed = choice.mode != "none"
    return _typed("allowed_tools", {"mode": choice.mode, "tools": named}, inside=inside) if is_listed else None


def _typed(kind: str, fields: dict[str, Any], *, inside: bool) -> dict[str, Any]:
    return {"type": kind, kind: fields} if inside else {"type": kind, **fields}


# types/chat/completion_create_params.py and types/responses/response_create_params.py of openai 3.54 (seen 2026-11-27).
_SAME = ("moderation", "prompt_cache_key", "prompt_cache_retention", "safety_identifier")
_MEMBERS = {"prompt_cache_options": ("mode", "ttl"), "stream_options": ("include_obfuscation",)}
"""Settings that are objects, with the members that both APIs have."""


def with_settings_of(
    request: ChatRequest, context: EncodeContext, other: str, takes: Collection[str] | None = None
) -> ChatRequest:
    """Return a request with the settings that the API `other` has too, if the target's host takes them.

    `takes`: the settings that the host takes; None if all.
    """
    extra = request.extra or {}
    settings = extra.get(other)
    if not settings:
        return request
    same = {name: settings[name] for name in _SAME if name in settings and (takes is None or name in takes)}
    remaining = {name: value for name, value in settings.items() if name not in same}
    for name, members in _MEMBERS.items() if takes is None else ():
        options = {key: value for key, value in object_of(settings, name).items() if value is not None}
        if options.keys() & set(members):
            same[name] = {key: value for key, value in options.items() if key in members}
            others = {key: value for key, value in options.items() if key not in members}
            remaining = (
                {**remaining, name: others} if others else {key: remaining[key] for key in remaining if key != name}
            )
    if not same:
        return request
    residue: dict[str, Any] = {**extra.get(context.api, {}), **same}
    return msgspec.structs.replace(request, extra={**extra, other: remaining, context.api: residue})
