"""The routes of each API: paths, headers, base URL of the official client, and error bodies.

The error codes are those that the providers' pages on errors list: platform.openai.com/docs/guides/error-codes,
platform.claude.com/docs/en/api/errors, cloud.google.com/apis/design/errors, ai.google.dev/gemini-api/docs/api-errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from contentmodel.adapter import adapter
from contentmodel.errors import UnknownApiError
from contentmodel.http_api import HttpApi

ErrorBody = dict[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """The routes of one API at the loopback server.

    `paths` and `stream_paths` are Starlette paths. A request at `paths` is streamed if the payload asks for a stream,
    and the API has no `stream_paths`. `codes` maps HTTP statuses to the API's error codes. `describe` returns an error
    body from a status, its code, a message and the seconds until a retry. `error_fields` are the fields that an answer
    has if it is only an error. `hosts` are the routes of hosts that have paths of their own, each with the name of its
    `dialect`. `call_id` is the form of the ids of calls: a template with the number of the request and of the call.
    `signs` is where the API puts the signature of a turn with calls: on the first "call", or on a "thought" before it;
    None if it has no such signatures. The base URL of the official client is the server's URL with `base` appended.
    """

    api: str
    http: HttpApi
    paths: tuple[str, ...]
    codes: Mapping[int, str]
    describe: Callable[[int, str, str, float | None], ErrorBody]
    stream_paths: tuple[str, ...] = ()
    base: str = ""
    id_header: str = "x-request-id"
    id_prefix: str = "resp_"
    call_id: str = "call_{0}_{1}"
    signs: str | None = None
    error_fields: frozenset[str] = frozenset({"error", "type", "request_id"})
    dialect: str | None = None
    hosts: tuple[Endpoint, ...] = ()

    @property
    def policies(self) -> dict[str, str]:
        """The policies of answers: the host."""
        return {} if self.dialect is None else {"dialect": self.dialect}

    def error_body(self, status: int, message: str, retry_after: float | None = None) -> ErrorBody:
        """Return the body of an error."""
        code = self.codes.get(status) or self.codes[400 if status < 500 else 500]
        return self.describe(status, code, message, retry_after)


def _openai_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    own_code = None if code == kind else code
    return {
        "error": {"message": message, "type": "requests" if status == 429 else kind, "param": None, "code": own_code}
    }


def _anthropic_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    return {"type": "error", "error": {"type": code, "message": message}}


def _google_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    error: dict[str, Any] = {"code": status, "message": message, "status": code}
    if retry_after is not None:
        delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_after:g}s"}
        error["details"] = [delay]
    return {"error": error}


def _interactions_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    return {"error": {"code": code, "message": message}}


def _mistral_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    return {"object": "error", "message": message, "type": code, "param": None, "code": None}


def _ollama_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    return {"error": message}


def _cohere_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    return {"message": message}


def _bedrock_error(status: int, code: str, message: str, retry_after: float | None) -> ErrorBody:
    # The SDKs read the name from a header or from the body.
    return {"message": message, "__type": code}


OPENAI_CODES = {
    400: "invalid_request_error",
    401: "invalid_api_key",
    404: "model_not_found",
    429: "rate_limit_exceeded",
    500: "server_error",
}
ANTHROPIC_CODES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
GOOGLE_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
INTERACTIONS_CODES = {
    400: "invalid_request",
    401: "authentication",
    402: "payment_required",
    403: "permission_denied",
    404: "not_found",
    429: "rate_limit_exceeded",
    499: "cancelled",
    500: "api_error",
    503: "service_unavailable",
    504: "gateway_timeout",
    529: "service_unavailable",
}
MISTRAL_CODES = {
    400: "invalid_request_error",
    401: "unauthorized",
    404: "invalid_model",
    429: "rate_limited",
    500: "internal_server_error",
    503: "service_unavailable",
}
COHERE_CODES = {400: "bad_request", 500: "internal_server_error"}
BEDROCK_CODES = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
_ALSO = {"insufficient_quota": 429, "server_is_overloaded": 503, "overloaded": 529, "rate_limit": 429, "timeout": 504}
STATUSES: dict[str, int] = {
    **_ALSO,
    **{
        name: status
        for codes in (MISTRAL_CODES, ANTHROPIC_CODES, OPENAI_CODES, BEDROCK_CODES)
        for status, name in codes.items()
    },
    **{name: status for status, name in GOOGLE_CODES.items() if status != 529},
}
"""The HTTP status of an error, by any API's code for it."""


def _endpoint(
    api: str,
    codes: Mapping[int, str],
    describe: Callable[[int, str, str, float | None], ErrorBody],
    dialect: str | None = None,
    **others: Any,
) -> Iterator[Endpoint]:
    """Yield the routes that the adapter of an API describes, if it is installed.

    The entry points of an editable installation may be older than this table.
    """
    try:
        loaded: Any = adapter(api)
    except UnknownApiError:
        return
    http = loaded.http if dialect is None else loaded.hosts[dialect]
    assert isinstance(http, HttpApi)
    values = {
        "stream_paths": () if http.stream is None else http.stream.routes,
        "base": http.mount + urlsplit(http.base_url).path,
        "id_header": http.request_id,
    }
    yield Endpoint(api, http, http.generate.routes, codes, describe, dialect=dialect, **{**values, **others})


_CLAUDE, _OF_AWS = "anthropic-messages", frozenset({"message", "__type"})
ENDPOINTS: tuple[Endpoint, ...] = (
    *_endpoint("openai-chat", OPENAI_CODES, _openai_error, id_prefix="chatcmpl-"),
    *_endpoint("openai-responses", OPENAI_CODES, _openai_error),
    *_endpoint(
        _CLAUDE,
        ANTHROPIC_CODES,
        _anthropic_error,
        id_prefix="msg_",
        hosts=(
            *_endpoint(_CLAUDE, BEDROCK_CODES, _bedrock_error, "bedrock", id_prefix="msg_bdrk_", error_fields=_OF_AWS),
            *_endpoint(_CLAUDE, ANTHROPIC_CODES, _anthropic_error, "vertex", id_prefix="msg_vrtx_", base="/v1"),
        ),
    ),
    *_endpoint("google-generate-content", GOOGLE_CODES, _google_error, signs="call"),
    *_endpoint(
        "google-interactions",
        INTERACTIONS_CODES,
        _interactions_error,
        error_fields=frozenset({"error"}),
        signs="thought",
    ),
    *_endpoint(
        "mistral-chat",
        MISTRAL_CODES,
        _mistral_error,
        call_id="{0:05d}{1:04d}",
        error_fields=frozenset({"object", "message", "type", "param", "code", "raw_status_code"}),
    ),
    *_endpoint("ollama-chat", dict.fromkeys((400, 500), ""), _ollama_error),
    *_endpoint("cohere-chat", COHERE_CODES, _cohere_error, id_prefix="", error_fields=frozenset({"id", "message"})),
    *_endpoint("bedrock-converse", BEDROCK_CODES, _bedrock_error, error_fields=_OF_AWS),
)
"""The default APIs of a server."""
