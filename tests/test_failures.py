"""Conversion of errors: each API gets its own code, HTTP status, and rate limits in headers."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from anthropic.types.shared.error_object import ErrorObject

from conftest import APIS
from contentmodel import (
    ErrorContent,
    adapter,
    convert,
    detect,
    fold_stream,
)
from contentmodel.auditing import audit
from contentmodel.events import ENDED, TurnError
from contentmodel.failures import STATUSES, error_kind, error_status, kind_of_status
from contentmodel.json import parse
from contentmodel.limits import RateLimit, RateLimits, read_limits, write_limits
from contentmodel_adapters.anthropic import aws_errors

PROVIDERS = [api for api in APIS if getattr(adapter(api), "errors", None) is not None]
ANTHROPIC, CHAT, RESPONSES, GEMINI = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "google-generate-content",
)
every_provider = pytest.mark.parametrize("api", PROVIDERS)


def body_of(api: str, kind: str) -> dict[str, Any]:
    """Return the error body that an API sends for a kind of error."""
    error = {"message": "No.", **adapter(api).errors.fields_of(kind)}
    return {"type": "error", "error": error} if api == ANTHROPIC else {"error": error}


def test_all_providers_have_error_codes() -> None:
    assert {ANTHROPIC, CHAT, RESPONSES, GEMINI} <= set(PROVIDERS)


@every_provider
def test_unknown_error_converts_to_server_error(api: str) -> None:
    for source in set(PROVIDERS) - {api}:
        body = body_of(source, "server")
        body["error"].update({"code": "odd", "type": "odd", "status": "odd"})
        if source == ANTHROPIC:
            del body["error"]["code"], body["error"]["status"]
        encoded = convert(body, source=source, target=api, kind="response")
        assert encoded.status == 500
        both_openai = {source, api} == {CHAT, RESPONSES}
        assert both_openai or adapter(api).decode_response(encoded.payload).error.kind == "server"
        assert both_openai or any(loss.kind in ("degraded", "dropped") for loss in encoded.losses)


def test_error_code_table_equals_codes_of_the_sdks() -> None:
    documented = {"conflict_error", "request_too_large"}
    union = get_args(get_args(ErrorObject)[0])
    known = {get_args(member.model_fields["type"].annotation)[0] for member in union}
    assert set(adapter(ANTHROPIC).errors.types) - documented - aws_errors.KINDS.keys() == known
    for api in (CHAT, RESPONSES):
        for kind in STATUSES:
            assert adapter(api).errors.fields_of(kind).keys() == {"type", "param", "code"}


TOO_LONG = [
    (
        ANTHROPIC,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 9001 tokens > 9000 maximum"},
        },
    ),
    (
        GEMINI,
        {
            "error": {
                "code": 400,
                "message": "The input token count (9001) exceeds the maximum number of tokens allowed (9000).",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
    ("bedrock-converse", {"__type": "ValidationException", "message": "Input is too long for requested model."}),
    ("cohere-chat", {"message": "too many tokens: total number of tokens in the prompt cannot exceed 9000"}),
    ("cohere-chat", {"id": "a", "message": "too many tokens: size limit exceeded by 9 tokens."}),
    (
        CHAT,
        {
            "error": {
                "message": "This model's maximum context length is 9000 tokens. However, you requested 9001 tokens.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
        },
    ),
]
"""Errors of requests that are too long. Only the message shows it: the last one is vLLM's."""


@pytest.mark.parametrize(("api", "body"), TOO_LONG)
def test_message_shows_that_a_request_is_too_long(api: str, body: dict[str, Any]) -> None:
    response = adapter(api).decode_response(body)
    assert response.error is not None
    assert response.error.kind == "context_length"
    assert adapter(api).encode_response(response).payload == body
    for target in {CHAT, RESPONSES} - {api}:
        encoded = convert(body, source=api, target=target, kind="response")
        assert encoded.payload["error"]["code"] == "context_length_exceeded"
    # The message is enough for APIs without such a code.
    for target in {ANTHROPIC, GEMINI, "bedrock-converse"} - {api}:
        encoded = convert(body, source=api, target=target, kind="response")
        assert "no-error-type" not in {loss.code for loss in encoded.losses}
        assert error_kind(adapter(target).decode_response(encoded.payload).error or ErrorContent()) == "context_length"


@pytest.mark.parametrize(
    "message",
    [
        "Requested token count exceeds the model's maximum context length of 262144 tokens.",
        "Please reduce the length of the messages or completion.",
        "The input (150000 tokens) is longer than the model's context length (131072 tokens).",
        "Input length 300000 exceeds the maximum allowed input length of 262144 tokens.",
        "prompt token count of 130000 exceeds the limit of 128000",
        "the number of tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        "Range of input length should be [1, 129024]",
        "the model is loaded with context length of only 4096 tokens, which is not enough.",
        "Prompt exceeds max length",
        "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193",
    ],
)
def test_claude_code_recognizes_requests_that_are_too_long_for_a_model_of_a_host(message: str) -> None:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
    encoded = convert(body, source=CHAT, target=ANTHROPIC, kind="response")
    assert encoded.payload["error"] == {"type": "invalid_request_error", "message": f"prompt is too long: {message}"}
    assert ("$.error.message", "error-words") in {(loss.path, loss.code) for loss in encoded.losses}
    assert error_kind(adapter(ANTHROPIC).decode_response(encoded.payload).error or ErrorContent()) == "context_length"


@pytest.mark.parametrize("stream", [False, True])
def test_numeric_code_of_chat_error_converts_to_responses_error_code(stream: bool) -> None:
    error = {"error": {"message": "Busy.", "code": 429}}
    if stream:
        data = b"data: " + json.dumps(error).encode() + b"\n\n"
        made = convert(data, source="openai-chat", target="openai-responses", kind="stream").payload
        assert b'"code":"rate_limit_exceeded"' in made
    else:
        written = convert(error, source="openai-chat", target="openai-responses", kind="response")
        assert written.payload["error"]["code"] == "rate_limit_exceeded"


def fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


@every_provider
def test_every_status_has_a_kind_and_every_kind_a_status(api: str) -> None:
    for kind in STATUSES:
        error = ErrorContent(message="No.", kind=kind)
        assert error_kind(error) == kind
        assert kind_of_status(error_status(error, api)) is not None
        assert error_status(error) == STATUSES[kind]
    assert error_status(ErrorContent(kind="overloaded"), ANTHROPIC) == 529
    assert error_status(ErrorContent(code=ENDED), api) == error_status(ErrorContent(), api) == 500
    assert kind_of_status(418) == "invalid_request"
    assert kind_of_status(599) == "server"
    assert kind_of_status(200) is None


# -- streams -----------------------------------------------------------------------------------------------------------

STREAMED = {
    ANTHROPIC: b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n',
    CHAT: b'data: {"error":{"message":"Busy.","type":"service_unavailable_error","param":null,'
    b'"code":"server_is_overloaded"}}\n\n',
    RESPONSES: b'event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"Busy.","param":null,'
    b'"sequence_number":0}\n\n',
    # A bare object: the JavaScript SDK ignores an error in an event (@google/genai, _api_client.ts).
    GEMINI: b'{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}\n\n',
}


@pytest.mark.parametrize("source", STREAMED)
@pytest.mark.parametrize("target", STREAMED)
def test_error_in_stream_keeps_its_kind(source: str, target: str) -> None:
    encoded = convert(STREAMED[source], source=source, target=target, kind="stream")
    decoder = adapter(target).stream_decoder()
    events = [*decoder.feed(encoded.payload), *decoder.close()]
    assert isinstance(events[-1], TurnError)
    assert (events[-1].error.kind, events[-1].error.message) == ("overloaded", "Busy.")
    (head, ours), (wanted_head, theirs) = (stream.split(b"{", 1) for stream in (encoded.payload, STREAMED[target]))
    assert head == wanted_head
    ours, theirs = (parse(b"{" + text.split(b"\n")[0]) for text in (ours, theirs))
    assert json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def test_error_of_gemini_in_an_event_is_an_error() -> None:
    events = adapter(GEMINI).stream_decoder().feed(b"data: " + STREAMED[GEMINI])
    assert isinstance(events[-1], TurnError)
    assert (events[-1].error.kind, events[-1].error.message) == ("overloaded", "Busy.")


# -- limits ------------------------------------------------------------------------------------------------------------

NOW = 1_795_000_000.0
LIMITS = RateLimits(
    retry_after=7.0,
    limits={
        "requests": RateLimit(limit=50, remaining=0, reset_after=360.0),
        "tokens": RateLimit(limit=30000, remaining=1200, reset_after=12.0),
    },
)


@every_provider
@pytest.mark.parametrize("target", PROVIDERS)
def test_rate_limits_convert_between_providers(api: str, target: str) -> None:
    read = read_limits(write_limits(LIMITS, api, now=NOW), api, now=NOW)
    again = read_limits(write_limits(read, target, now=NOW), target, now=NOW)
    has_headers = GEMINI not in (api, target)
    assert again == (LIMITS if has_headers else RateLimits(retry_after=7.0))


def test_read_limits_reads_headers_of_each_provider() -> None:
    openai = {
        "x-ratelimit-limit-requests": "5000",
        "x-ratelimit-remaining-requests": "4999",
        "X-RateLimit-Reset-Requests": "12ms",
        "x-ratelimit-reset-tokens": "6m0s",
        "x-ratelimit-limit-tokens": "-1",
        "x-request-id": "req_1",
    }
    read = read_limits(openai, CHAT, now=NOW)
    assert read.limits["requests"] == RateLimit(limit=5000, remaining=4999, reset_after=0.012)
    assert read.limits["tokens"] == RateLimit(reset_after=360.0)
    anthropic = {
        "anthropic-ratelimit-input-tokens-limit": "80000",
        "anthropic-ratelimit-input-tokens-remaining": "79000",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-18T11:06:50Z",
        "anthropic-ratelimit-requests-reset": "soon",
        "retry-after": "3",
    }
    read = read_limits(anthropic, ANTHROPIC, now=NOW)
    assert read.retry_after == 3.0
    assert read.limits == {"input_tokens": RateLimit(limit=80000, remaining=79000, reset_after=10.0)}
    assert write_limits(read, CHAT, now=NOW) == {"retry-after": "3"}
    assert write_limits(read, ANTHROPIC, now=NOW) == {
        name: value for name, value in anthropic.items() if value != "soon"
    }
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "", "details": [5, retry]}}
    assert read_limits({}, GEMINI, body=body).retry_after == 34.4
    assert write_limits(RateLimits(retry_after=34.4), GEMINI) == {"retry-after": "35"}


@pytest.mark.parametrize("value", ["inf", "nan", "1e999", "Mon, 01 Jan 0001 00:00:00 -0000", "9" * 5_000, "soon"])
def test_read_limits_ignores_invalid_values(value: str) -> None:
    headers = {"retry-after": value, "x-ratelimit-limit-requests": value, "x-ratelimit-reset-requests": value}
    read = read_limits(headers, CHAT, now=NOW)
    assert read.retry_after in (None, 0.0)
    assert read.limits == {}
    assert write_limits(read, ANTHROPIC, now=NOW).keys() <= {"retry-after"}


@pytest.mark.parametrize(
    ("api", "body", "status"),
    [
        ("bedrock-converse", {"Message": "No access."}, 500),
        ("bedrock-converse", {"Message": "No access.", "__type": "AccessDeniedException"}, 403),
        ("anthropic-messages", {"Message": "No access."}, 500),
        ("anthropic-messages", {"error": {"code": 429, "message": "No access.", "status": "RESOURCE_EXHAUSTED"}}, 429),
        ("mistral-chat", {"detail": "No access."}, 500),
        (CHAT, {"object": "error", "message": "No access.", "type": "BadRequestError", "code": 400}, 400),
        (CHAT, {"detail": "No access."}, 500),
        (CHAT, {"statusCode": 429, "message": "No access."}, 429),
        ("openai-chat", {"code": "Not allowed", "error": "No access."}, 500),
        (CHAT, {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "No access."}}, 401),
        (CHAT, {"choices": [], "base_resp": {"status_code": 1002, "status_msg": "No access."}}, 429),
    ],
)
@pytest.mark.parametrize("target", PROVIDERS)
def test_error_body_of_another_form_is_an_error(api: str, body: dict[str, Any], status: int, target: str) -> None:
    response = adapter(api).decode_response(body)
    assert response.error is not None
    assert response.error.message == "No access."
    encoded = convert(body, source=api, target=target, kind="response")
    assert (encoded.status or 0) >= 400
    assert "No access." in str(encoded.payload)
    assert audit(body, encoded) == []
    own = adapter(api).encode_response(response)
    assert (own.payload, own.status) == (body, status)


def test_error_of_bedrock_gets_the_usual_names_at_another_host() -> None:
    claude = adapter("anthropic-messages")
    response = claude.decode_response({"Message": "No access.", "__type": "AccessDeniedException"})
    encoded = claude.encode_response(response, policies={"dialect": "anthropic"})
    error = {"type": "permission_error", "message": "No access."}
    assert encoded.payload == {"type": "error", "error": error}


@pytest.mark.parametrize(
    "event",
    [
        {"error": "No access.", "code": "Not allowed"},
        {"object": "error", "message": "No access.", "type": "BadRequestError", "code": 400},
        {"error": {"message": "No access."}, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
        {"message": "No access.", "type": "too_many_requests_error", "param": "queue", "code": "queue_exceeded"},
        {"detail": "No access."},
        {"statusCode": 429, "message": "No access."},
        {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "No access."}},
        {"id": "c", "choices": [], "base_resp": {"status_code": 2049, "status_msg": "No access."}},
        [{"error": {"message": "No access.", "code": 403}}],
    ],
)
@pytest.mark.parametrize("text", ["", "Half"])
def test_error_of_another_form_in_a_stream_of_chat_is_an_error(event: Any, text: str) -> None:
    before = [{"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}] if text else []
    stream = "".join(f"data: {json.dumps(wire)}\n\n" for wire in [*before, event]).encode()
    response = fold_stream([stream], CHAT)
    assert response.error is not None
    assert (response.error.message, response.text) == ("No access.", text)
    assert b"No access." in convert(stream, source=CHAT, target=ANTHROPIC, kind="stream").payload
    again = fold_stream([convert(stream, source=CHAT, target=CHAT, kind="stream").payload], CHAT)
    assert again.error == response.error


@pytest.mark.parametrize("event", [{"type": "status", "message": "Searching"}, {"message": "No.", "step": 1}])
def test_event_of_chat_with_a_message_is_no_error_without_the_fields_of_one(event: dict[str, Any]) -> None:
    end = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    stream = f"data: {json.dumps(event)}\n\ndata: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode()
    response = fold_stream([stream], CHAT)
    assert (response.error, response.text) == (None, "Hi")
    assert (
        json.dumps(event, separators=(",", ":")).encode()
        in convert(stream, source=CHAT, target=CHAT, kind="stream").payload
    )


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "No.", "type": "NotFoundError", "code": 404},
        {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "No."}},
    ],
)
def test_stream_that_begins_with_an_error_of_another_form_is_detected(body: dict[str, Any]) -> None:
    assert detect(f"data: {json.dumps(body)}\n\n".encode()) == (CHAT, "stream")


BLOCKED = {
    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
    "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3},
    "modelVersion": "g",
}


@pytest.mark.parametrize(
    ("target", "end"), [(ANTHROPIC, '"refusal"'), (CHAT, '"content_filter"'), (GEMINI, "blockReason")]
)
def test_stream_of_blocked_prompt_has_a_finish_reason(target: str, end: str) -> None:
    stream = b"data: " + json.dumps(BLOCKED).encode() + b"\n\n"
    converted = convert(stream, source=GEMINI, target=target, kind="stream").payload
    assert end in converted.decode()
    assert fold_stream(stream, GEMINI) == adapter(GEMINI).decode_response(BLOCKED)


def test_param_of_error_is_kept_within_openai_apis() -> None:
    fields = b'"sequence_number":0,"code":"invalid_prompt","message":"m","param":"input"'
    event = b'event: error\ndata: {"type":"error",' + fields + b"}\n\n"
    assert convert(event, source=RESPONSES, target=RESPONSES, kind="stream").payload == event
    converted = convert(event, source=RESPONSES, target=CHAT, kind="stream")
    assert b'"param":"input"' in converted.payload
    assert not converted.losses


QUOTA = {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "7s"}]}


@pytest.mark.parametrize("api", [GEMINI, CHAT])
def test_error_in_a_list_is_an_error(api: str) -> None:
    body = [{"error": QUOTA}]
    response = adapter(api).decode_response(body)
    assert response.error is not None
    assert (response.error.kind, response.error.message) == ("rate_limit", "Quota exceeded.")
    again = adapter(api).encode_response(response)
    assert (again.payload, again.losses) == (body, ())
    made = convert(body, source=api, target=ANTHROPIC, kind="response")
    assert made.payload["error"] == {"type": "rate_limit_error", "message": "Quota exceeded."}
    assert made.status == 429
    assert all(loss.path.startswith("$[0].error") for loss in made.losses)
    assert audit(body, made) == []
    assert read_limits({}, api, body=body).retry_after == 7
