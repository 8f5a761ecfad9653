"""The gateway in front of upstreams that fail: clients of each API get the status and the error of their own API."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai import errors as google_errors

from conftest import APIS, slow
from contentmodel_conformance.server import ENDPOINTS, say
from contentmodel_conformance.server.answers import body_of, dressed
from gateways import Gateways, config_for, gateway
from providers import PROVIDERS, OfficialClient, base_url
from raw_upstreams import CUT, HOLD, RawUpstream, Step, answer, head, stream, zipped

ENDPOINT = {endpoint.api: endpoint for endpoint in ENDPOINTS}
TEXT = "Hello there, how are you?"
QUICK = list(zip(APIS, APIS[2:] + APIS[:2], strict=True))
OTHER_PAIRS = QUICK + [slow(a, b) for a in APIS for b in APIS if a != b and (a, b) not in QUICK]
PAIRS = [*OTHER_PAIRS, *((api, api) for api in APIS)]

KINDS = {
    400: "invalid_request",
    401: "authentication",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "too_large",
    429: "rate_limit",
    500: "server",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
OPENAI = {
    "invalid_request": (400, openai.BadRequestError, "invalid_request_error"),
    "authentication": (401, openai.AuthenticationError, "invalid_api_key"),
    "permission": (403, openai.PermissionDeniedError, "invalid_request_error"),
    "not_found": (404, openai.NotFoundError, "model_not_found"),
    "too_large": (413, openai.APIStatusError, "invalid_request_error"),
    "rate_limit": (429, openai.RateLimitError, "rate_limit_exceeded"),
    "server": (500, openai.InternalServerError, "server_error"),
    "overloaded": (503, openai.InternalServerError, "server_is_overloaded"),
    "timeout": (504, openai.InternalServerError, "server_error"),
}
RAISED: dict[str, dict[str, tuple[int, type[Exception], str]]] = {
    "openai-chat": OPENAI,
    "openai-responses": OPENAI,
    "anthropic-messages": {
        "invalid_request": (400, anthropic.BadRequestError, "invalid_request_error"),
        "authentication": (401, anthropic.AuthenticationError, "authentication_error"),
        "permission": (403, anthropic.PermissionDeniedError, "permission_error"),
        "not_found": (404, anthropic.NotFoundError, "not_found_error"),
        "too_large": (413, anthropic.APIStatusError, "request_too_large"),
        "rate_limit": (429, anthropic.RateLimitError, "rate_limit_error"),
        "server": (500, anthropic.InternalServerError, "api_error"),
        "overloaded": (529, anthropic.APIStatusError, "overloaded_error"),
        "timeout": (504, anthropic.APIStatusError, "timeout_error"),
    },
    "google-generate-content": {
        "invalid_request": (400, google_errors.ClientError, "INVALID_ARGUMENT"),
        "authentication": (401, google_errors.ClientError, "UNAUTHENTICATED"),
        "permission": (403, google_errors.ClientError, "PERMISSION_DENIED"),
        "not_found": (404, google_errors.ClientError, "NOT_FOUND"),
        "too_large": (400, google_errors.ClientError, "INVALID_ARGUMENT"),
        "rate_limit": (429, google_errors.ClientError, "RESOURCE_EXHAUSTED"),
        "server": (500, google_errors.ServerError, "INTERNAL"),
        "overloaded": (503, google_errors.ServerError, "UNAVAILABLE"),
        "timeout": (504, google_errors.ServerError, "DEADLINE_EXCEEDED"),
    },
}


@pytest.fixture(scope="module")
def gateways(upstream: RawUpstream) -> Iterator[Gateways]:
    with Gateways(lambda api: config_for(api, upstream.base_url(api))) as running:
        yield running


def whole(api: str) -> bytes:
    response = dressed(say(TEXT), ENDPOINT[api], "m", 1)
    return b"".join(body_of(response, ENDPOINT[api]).frames)


def frames(api: str) -> list[bytes]:
    response = dressed(say(TEXT), ENDPOINT[api], "m", 1)
    return list(body_of(response, ENDPOINT[api], streams="events", size=8).frames)


def error_event(api: str, status: int = 500) -> bytes:
    """Return an event that reports an error inside of a stream."""
    body = ENDPOINT[api].error_body(status, "oops")
    if api == "openai-responses":
        body = {"type": "error", "code": "server_error", "message": "oops", "param": None, "sequence_number": 9}
    name = b"" if api in ("openai-chat", "google-generate-content") else b"event: error\n"
    return name + b"data: " + json.dumps(body).encode() + b"\n\n"


def other(api: str) -> str:
    return APIS[APIS.index(api) - 2]


def outcome(reader: OfficialClient, how: str = "plain") -> Any:
    """Return the exception that the official client raises; of a Responses stream, also its last event."""
    try:
        if how == "plain":
            return reader.plain()
        return reader.streamed_error()
    except Exception as error:
        return error


def check_error(
    api: str, error: Any, kind: str, message: str, *, has_code: bool = True, http: int | None = None
) -> None:
    """Assert that an exception is the one of this API and kind, with the HTTP status `http` if it is another one.

    With `has_code=False`, ignore the type and the code: between the two APIs of OpenAI, those of the upstream are kept.
    """
    status, expected, code = RAISED[api][kind]
    status = http or status
    assert isinstance(error, expected), f"{error!r} for {kind}"
    assert isinstance(error, anthropic.APIStatusError | openai.APIStatusError | google_errors.APIError)
    if isinstance(error, google_errors.APIError):
        assert (error.code, error.status) == (status, code)
    else:
        assert error.status_code == status
        found = error.response.json()["error"]
        assert not has_code or code in (found["type"], found.get("code"))
    assert message in str(error)


@pytest.mark.parametrize(("api", "target"), PAIRS)
def test_error_of_an_upstream_becomes_the_error_of_the_client_api(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    reader = gateways.reader(api, target)
    for status, kind in KINDS.items():
        body = ENDPOINT[target].error_body(status, "oops")
        upstream.set_answers(answer(body, status))
        for how in ("plain", "streamed") if status in (401, 429, 529) else ("plain",):
            error = outcome(reader, how)
            if status in (401, 403):
                # The client cannot fix the key of the gateway.
                check_error(api, error, "server", "the upstream up refused the credentials of the gateway", http=502)
                assert "oops" in str(error)
            elif api == target:
                assert getattr(error, "status_code", getattr(error, "code", None)) == status
            else:
                check_error(
                    api, error, kind, "oops", has_code=not (api.startswith("openai") and target.startswith("openai"))
                )
        assert gateways.report(target).attempts[0].status == status


@pytest.mark.parametrize("target", ["google-generate-content", "openai-chat"])
def test_error_in_a_list_of_one_is_read(target: str, upstream: RawUpstream, gateways: Gateways) -> None:
    """Gemini sends such bodies for streams, and at its endpoint for clients of OpenAI."""
    body = [{"error": {"code": 429, "message": "oops", "status": "RESOURCE_EXHAUSTED"}}]
    upstream.set_answers(answer(json.dumps(body), 429))
    error = outcome(gateways.reader("anthropic-messages", target))
    check_error("anthropic-messages", error, "rate_limit", "oops")
    assert "RESOURCE_EXHAUSTED" not in str(error)


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_answer_that_is_not_valid_becomes_a_server_error(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    reader = gateways.reader(api, target)
    good = whole(target)
    wrong: dict[str, list[Step]] = {
        "page with status 200": answer("<html>oops</html>", kind="text/html"),
        "page with status 502": answer("<html>oops</html>", 502, "text/html"),
        "empty body": answer(""),
        "empty object": answer("{}"),
        "array": answer("[]"),
        "other API": answer(whole(other(target))),
        "stream without events": stream(),
        "half of the body": answer(good[: len(good) // 2]),
        "body that breaks": [head(content_length=len(good)) + good[: len(good) // 2], CUT],
        "body that is not compressed": answer(good, content_encoding="gzip"),
        "no response": [CUT],
        "redirect": answer("", 307, location=f"{upstream.url}/other"),
    }
    for name, steps in wrong.items():
        upstream.set_answers(steps)
        for how in ("plain", "streamed"):
            error = outcome(reader, how)
            assert isinstance(error, RAISED[api]["server"][1]), f"{name}, {how}: {error!r}"
        assert len(upstream.requests) == 2, name
        report = gateways.report(target)
        assert (report.status, report.error) == (500, "server"), name


@pytest.mark.parametrize(("api", "target"), PAIRS)
def test_compressed_answers_and_errors_are_read(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    reader = gateways.reader(api, target)
    upstream.set_answers(zipped(whole(target)), zipped(b"".join(frames(target)), "text/event-stream"))
    assert TEXT in str(outcome(reader))
    assert not isinstance(outcome(reader, "streamed"), Exception)
    upstream.set_answers(zipped(json.dumps(ENDPOINT[target].error_body(404, "oops")).encode(), status=404))
    check_error(api, outcome(reader), "not_found", "oops", has_code=False)


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_whole_answer_to_a_client_that_streams_is_sent_as_a_stream(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(answer(whole(target)), answer(ENDPOINT[target].error_body(429, "oops")))
    reader = gateways.reader(api, target)
    assert reader.streamed()[1] == TEXT
    check_error(api, outcome(reader, "streamed"), "rate_limit", "oops")


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_stream_without_its_content_type_is_sent_as_a_stream(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    events = b"".join(frames(target))
    untyped = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(events)
    upstream.set_answers(
        stream(events[:2], events[2:], kind="text/plain"), stream(events, kind="application/json"), [untyped, events]
    )
    reader = gateways.reader(api, target)
    for _ in range(3):
        assert reader.streamed()[1] == TEXT


@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain"])
@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_stream_that_no_client_asked_for_is_sent_as_a_whole_answer(
    api: str, target: str, kind: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    sent = frames(target)
    upstream.set_answers(
        stream(*sent, kind=kind), stream(*sent[: len(sent) // 2], kind=kind), stream(error_event(target), kind=kind)
    )
    reader = gateways.reader(api, target)
    assert TEXT in str(outcome(reader))
    check_error(api, outcome(reader), "server", "")
    check_error(api, outcome(reader), "server", "oops")


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_stream_that_breaks_ends_with_an_error_of_the_client_api(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    reader = gateways.reader(api, target)
    sent = frames(target)
    half = len(sent) // 2
    cut_event = sent[half][: len(sent[half]) // 2]
    wrong = {
        "connection that closes": stream(*sent[:half], ends=False),
        "connection that closes in an event": stream(*sent[:half], cut_event, ends=False),
        "stream without its end": stream(*sent[:half]),
        "event that is not JSON": stream(*sent[:half], cut_event + b"\n\n", *sent[half + 1 :]),
        "error event": stream(*sent[:half], error_event(target)),
        "stream of another API": stream(b"".join(frames(other(target)))),
    }
    for name, steps in wrong.items():
        upstream.set_answers(steps)
        found = outcome(reader, "streamed")
        if api == "openai-responses" and not isinstance(found, Exception):
            assert found.type in ("error", "response.failed"), f"{name}: {found!r}"
        else:
            expected = (openai.APIError, anthropic.APIStatusError, google_errors.ServerError)
            assert isinstance(found, expected), f"{name}: {found!r}"
        report = gateways.report(target)
        assert report.ended == "failed" or report.status == 500, name


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_error_event_before_any_content_becomes_the_status_of_the_answer(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(stream(b": comment\n\n", error_event(target)))
    check_error(api, outcome(gateways.reader(api, target), "streamed"), "server", "oops")


@pytest.mark.parametrize("api", APIS)
def test_stream_of_the_same_api_that_breaks_closes_the_connection(
    api: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(stream(*frames(api)[:3], ends=False))
    found = outcome(gateways.reader(api, api), "streamed")
    assert isinstance(found, httpx2.HTTPError | openai.APIConnectionError)
    assert gateways.report(api).ended == "failed"


@pytest.mark.parametrize("api", APIS)
def test_whole_answer_of_the_same_api_that_breaks_becomes_an_error(
    api: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers([head(content_length=99) + b"{", CUT])
    check_error(api, outcome(gateways.reader(api, api)), "server", "the connection to the upstream up broke")


@pytest.mark.parametrize(("api", "target"), QUICK)
def test_upstream_that_does_not_answer_in_time_becomes_a_timeout(api: str, target: str, upstream: RawUpstream) -> None:
    config = config_for(target, upstream.base_url(target), upstream={"timeout": 0.1})
    with gateway(config) as (url, _):
        reader = PROVIDERS[api].official(base_url(api, url))
        for steps in ([HOLD], stream(HOLD)):
            upstream.set_answers(steps)
            check_error(api, outcome(reader, "streamed"), "timeout", "in time")
            assert upstream.client_left.wait(60)
        upstream.set_answers(stream(*frames(target)[:3], HOLD))
        found = outcome(reader, "streamed")
        assert isinstance(found, Exception) or found.type == "error"
        assert upstream.client_left.wait(60)


@pytest.mark.parametrize(("api", "target"), QUICK)
def test_upstream_that_cannot_be_reached_becomes_a_bad_gateway(api: str, target: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with gateway(config_for(target, f"http://127.0.0.1:{port}")) as (url, app):
        error = outcome(PROVIDERS[api].official(base_url(api, url)))
        check_error(api, error, "server", "the upstream up could not be reached", http=502)
        (report,) = app.state.reports._reports.values()
        assert (report.error, report.attempts[0].error, report.attempts[0].status) == (
            "unreachable",
            "unreachable",
            None,
        )


# -- rate limits -------------------------------------------------------------------------------------------------------

LIMITS: dict[str, dict[str, str]] = {
    "openai-chat": {"x_ratelimit_limit_requests": "60", "x_ratelimit_remaining_requests": "59"},
    "openai-responses": {"x_ratelimit_limit_requests": "60", "x_ratelimit_remaining_requests": "59"},
    "anthropic-messages": {
        "anthropic_ratelimit_requests_limit": "60",
        "anthropic_ratelimit_requests_remaining": "59",
    },
    "google-generate-content": {},
}


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_rate_limit_headers_are_converted_to_those_of_the_client_api(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    limits = {name.replace("_", "-"): value for name, value in LIMITS[api].items() if LIMITS[target]}
    refused = answer(ENDPOINT[target].error_body(429, "oops", 7), 429, retry_after=7, **LIMITS[target])
    if target == "google-generate-content":
        refused = answer(ENDPOINT[target].error_body(429, "oops", 7), 429)
    upstream.set_answers(refused, answer(whole(target), **LIMITS[target]))
    refusal, good = (gateways.post(api, target) for _ in range(2))
    assert refusal.status_code == 429
    assert refusal.headers["retry-after"] == "7"
    assert limits.items() <= dict(refusal.headers).items()
    assert limits.items() <= dict(good.headers).items()
    if api == "google-generate-content":
        delays = [detail.get("retryDelay") for detail in refusal.json()["error"]["details"]]
        assert delays == ["7s"]
