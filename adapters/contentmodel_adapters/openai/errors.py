"""The error codes and rate limit headers of OpenAI, for Chat Completions and Responses."""

from __future__ import annotations

from contentmodel.authoring import ErrorTypes, LimitHeaders

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
