"""The loopback server: every official client reads the answers and the faults of the script."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import httpx2
import msgspec
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from typer.testing import CliRunner

import contentmodel
from conftest import APIS, records
from contentmodel import ChatRequest, ChatResponse, ErrorContent
from contentmodel.events import fold
from contentmodel_conformance.cli import app as command
from contentmodel_conformance.server import (
    Call,
    Fault,
    LoopbackServer,
    ScriptError,
    Turn,
    as_turn,
    read_script,
    say,
)
from contentmodel_conformance.server.answers import Cut, Stall, body_of, steps_of
from contentmodel_conformance.server.endpoints import ENDPOINTS

pytest_plugins = ["pytester"]

TEXT = "The weather in Paris is mild: 18 degrees. Ça va, 天気?"
CALLS = [("weather", {"city": "Paris", "days": 3}), ("time", {"zone": "Europe/Paris"})]
ANSWER = msgspec.structs.replace(
    say(TEXT, *(Call(name=name, arguments=arguments, id=f"call_{name}") for name, arguments in CALLS)), id="answer_1"
)
MESSAGES = [{"role": "user", "content": "How is the weather?"}]
SERVED = [*((api, False) for api in APIS), *((api, True) for api in APIS)]

Serve = Callable[..., LoopbackServer]


class Seen(NamedTuple):
    """The text and the calls that a client reads from an answer."""

    text: str
    calls: list[tuple[str | None, dict[str, Any]]]


def seen(api: str, *answers: Any) -> Seen:
    """Return the content of a client's objects; those of a stream are joined."""
    responses = [contentmodel.adapter(api).decode_response(answer) for answer in answers]
    messages = [message for response in responses for message in response.messages]
    calls = [(call.name, call.arguments_object) for message in messages for call in message.tool_calls]
    return Seen("".join(message.text for message in messages), calls)


WHOLE = Seen(TEXT, CALLS)


# -- the official clients ----------------------------------------------------------------------------------------------


GEMINI: dict[str, Any] = {"model": "gemini-3-pro", "contents": "How is the weather?"}
CLAUDE: dict[str, Any] = {"model": "claude-opus-5", "max_tokens": 99, "messages": MESSAGES}
CHAT: dict[str, Any] = {"model": "gpt-5.2", "messages": MESSAGES}
RESPONSES: dict[str, Any] = {"model": "gpt-5.2", "input": "How is the weather?"}


def ask(server: LoopbackServer, api: str, is_stream: bool = False, retries: int = 0) -> Seen:
    """Send one request with the official client of the API."""
    options: dict[str, Any] = {"base_url": server.base_url(api), "api_key": "none", "max_retries": retries}
    if api == "google-generate-content":
        with google_client(server.base_url(api), retries) as google:
            if is_stream:
                return seen(api, *google.models.generate_content_stream(**GEMINI))
            return seen(api, google.models.generate_content(**GEMINI))
    if api == "anthropic-messages":
        with anthropic.Anthropic(**options) as claude:
            if not is_stream:
                return seen(api, claude.messages.create(**CLAUDE))
            with claude.messages.stream(**CLAUDE) as stream:
                return seen(api, stream.get_final_message())
    with openai.OpenAI(**options) as client:
        if api == "openai-chat":
            if not is_stream:
                return seen(api, client.chat.completions.create(**CHAT))
            with client.chat.completions.stream(**CHAT) as chunks:
                return seen(api, chunks.get_final_completion())
        if not is_stream:
            return seen(api, client.responses.create(**RESPONSES))
        with client.responses.stream(**RESPONSES) as events:
            return seen(api, events.get_final_response())


async def ask_async(server: LoopbackServer, api: str, is_stream: bool = False) -> Seen:
    """Send one request with the official asynchronous client."""
    options: dict[str, Any] = {"base_url": server.base_url(api), "api_key": "none", "max_retries": 0}
    if api == "google-generate-content":
        async with google_client(server.base_url(api)).aio as google:
            if is_stream:
                return seen(api, *[chunk async for chunk in await google.models.generate_content_stream(**GEMINI)])
            return seen(api, await google.models.generate_content(**GEMINI))
    if api == "anthropic-messages":
        async with anthropic.AsyncAnthropic(**options) as claude:
            if not is_stream:
                return seen(api, await claude.messages.create(**CLAUDE))
            async with claude.messages.stream(**CLAUDE) as stream:
                return seen(api, await stream.get_final_message())
    async with openai.AsyncOpenAI(**options) as client:
        if api == "openai-chat":
            if not is_stream:
                return seen(api, await client.chat.completions.create(**CHAT))
            async with client.chat.completions.stream(**CHAT) as chunks:
                return seen(api, await chunks.get_final_completion())
        if not is_stream:
            return seen(api, await client.responses.create(**RESPONSES))
        async with client.responses.stream(**RESPONSES) as events:
            return seen(api, await events.get_final_response())


def google_client(url: str, retries: int = 0) -> genai.Client:
    options: dict[str, Any] = {"base_url": url}
    if retries:
        options["retry_options"] = {"attempts": retries + 1, "initial_delay": 0.01, "max_delay": 0.02, "jitter": 0.01}
    return genai.Client(api_key="none", http_options=options)


@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_official_client_reads_the_answer_of_the_script(loopback: Serve, api: str, is_stream: bool) -> None:
    server = loopback([ANSWER])
    assert ask(server, api, is_stream) == WHOLE
    (record,) = server.requests
    assert (record.api, record.is_stream, record.status, record.turn) == (api, is_stream, 200, 1)
    assert record.losses == ()
    assert server.turns_left == 0


@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_official_async_client_reads_the_answer_of_the_script(loopback: Serve, api: str, is_stream: bool) -> None:
    assert asyncio.run(ask_async(loopback([ANSWER]), api, is_stream)) == WHOLE


@pytest.mark.parametrize("delta_size", [1, 7, None])
@pytest.mark.parametrize("api", APIS)
def test_delta_size_does_not_change_what_the_client_reads(loopback: Serve, api: str, delta_size: int | None) -> None:
    assert ask(loopback([ANSWER], delta_size=delta_size), api, is_stream=True) == WHOLE
    assert ask(loopback([Turn(ANSWER, delta_size=3)]), api, is_stream=True) == WHOLE


def test_one_script_answers_every_api_in_order(loopback: Serve) -> None:
    server = loopback([say(str(number)) for number in range(len(SERVED))])
    assert [ask(server, api, is_stream).text for api, is_stream in SERVED] == [str(n) for n in range(len(SERVED))]


def test_concurrent_clients_get_one_turn_each(loopback: Serve) -> None:
    server = loopback([say(str(number)) for number in range(24)])

    async def ask_all() -> list[Seen]:
        return await asyncio.gather(*(ask_async(server, api, is_stream) for api, is_stream in SERVED * 3))

    assert sorted(int(answer.text) for answer in asyncio.run(ask_all())) == list(range(24))


# -- requests by hand --------------------------------------------------------------------------------------------------

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages?beta=true",
    "google-generate-content": "/v1beta/models/gemini-3-pro:generateContent",
}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic-messages": CLAUDE,
    "google-generate-content": {"contents": [{"role": "user", "parts": [{"text": "How is the weather?"}]}]},
}


def request_of(api: str, is_stream: bool) -> tuple[str, dict[str, Any]]:
    path, body = PATHS[api], BODIES[api]
    if not is_stream:
        return path, body
    if api == "google-generate-content":
        return path.replace(":generateContent", ":streamGenerateContent?alt=sse"), body
    return path, {**body, "stream": True}


def post(server: LoopbackServer, api: str, is_stream: bool = False, read: float | None = None) -> httpx2.Response:
    """Send one request. `read` is the read timeout in seconds; if it is None, there is none."""
    path, body = request_of(api, is_stream)
    return httpx2.post(server.url + path, json=body, timeout=httpx2.Timeout(None, read=read))


def received(server: LoopbackServer, api: str, is_stream: bool) -> tuple[bytes, bool]:
    """Return the received bytes of a body, and whether it ended without a connection error."""
    path, body = request_of(api, is_stream)
    data = b""
    try:
        with httpx2.stream("POST", server.url + path, json=body, timeout=None) as response:
            for chunk in response.iter_raw():
                data += chunk
    except httpx2.RemoteProtocolError:
        return data, False
    return data, True


def folded(api: str, data: bytes) -> ChatResponse:
    decoder = contentmodel.adapter(api).stream_decoder()
    return fold([*decoder.feed(data), *decoder.close()])


@pytest.mark.parametrize("api", APIS)
def test_server_records_the_request(loopback: Serve, api: str) -> None:
    server = loopback([ANSWER])
    path, body = request_of(api, False)
    response = httpx2.post(server.url + path, json=body, headers={"X-Trace": "7"})
    (record,) = server.requests
    assert record.payload == body
    assert record.path == path.partition("?")[0]
    assert record.headers["x-trace"] == "7"
    assert record.query == ({"beta": "true"} if "?" in path else {})
    assert isinstance(record.request, ChatRequest)
    assert record.request.messages[0].text == "How is the weather?"
    assert record.request.model == record.model == body.get("model", "gemini-3-pro")
    assert server.check() == record.check() == []
    header = "request-id" if api == "anthropic-messages" else "x-request-id"
    assert response.headers[header] == "req_1"


def test_streams_and_plain_answers_have_their_media_types(loopback: Serve) -> None:
    server = loopback([ANSWER], repeat=True)
    assert {post(server, api, True).headers["content-type"].partition(";")[0] for api in APIS} == {"text/event-stream"}
    assert {post(server, api).headers["content-type"] for api in APIS} == {"application/json"}


@pytest.mark.parametrize(
    "parent",
    [
        "/v1beta",
        "/v1",
        "/v1beta1/publishers/google",
        "/v1beta1/projects/a-project/locations/europe-west4/publishers/google",
    ],
)
def test_server_accepts_gemini_paths_of_developer_api_and_vertex(loopback: Serve, parent: str) -> None:
    server = loopback([ANSWER], repeat=True)
    api = "google-generate-content"
    place = f"{server.url}{parent}/models/gemini-3-pro"
    assert seen(api, httpx2.post(f"{place}:generateContent", json=BODIES[api]).json()) == WHOLE
    chunks = httpx2.post(f"{place}:streamGenerateContent", json=BODIES[api]).json()
    assert isinstance(chunks, list)
    assert len(chunks) > 2
    assert seen(api, *chunks) == WHOLE
    assert [record.model for record in server.requests] == ["gemini-3-pro"] * 2


def test_turn_can_be_a_function_of_the_request(loopback: Serve) -> None:
    def echo(request: ChatRequest) -> ChatResponse:
        return say(f"You asked {request.model}: {request.messages[-1].text}")

    server = loopback([echo], repeat=True)
    assert ask(server, "openai-chat").text == "You asked gpt-5.2: How is the weather?"
    assert ask(server, "google-generate-content", True).text == "You asked gemini-3-pro: How is the weather?"


def test_function_that_returns_no_response_is_reported_to_the_client(loopback: Serve) -> None:
    with pytest.raises(openai.InternalServerError, match="expected a ChatResponse from the function, got str"):
        ask(loopback([lambda request: "hi"]), "openai-responses")


def test_error_of_a_function_is_reported_to_the_client(loopback: Serve) -> None:
    def broken(request: ChatRequest) -> ChatResponse:
        raise LookupError("no such city")

    with pytest.raises(openai.InternalServerError, match="turn 1 of the script: LookupError: no such city"):
        ask(loopback([broken, ANSWER]), "openai-chat", retries=3)


@pytest.mark.parametrize("api", APIS)
def test_exhausted_script_is_reported_as_an_error(loopback: Serve, api: str) -> None:
    server = loopback([ANSWER])
    post(server, api)
    response = post(server, api)
    assert response.status_code == 500
    error = contentmodel.adapter(api).decode_response(response.json()).error
    assert error.message == "the script is exhausted: it has 1 turn, all answered, and this is request 2"
    assert response.headers["x-should-retry"] == "false"
    assert server.requests[1].turn is None


def test_script_can_be_repeated(loopback: Serve) -> None:
    server = loopback(["one", "two"], repeat=True)
    assert [ask(server, "openai-chat").text for _ in range(5)] == ["one", "two", "one", "two", "one"]
    assert server.turns_left == 1


@pytest.mark.parametrize("api", APIS)
def test_invalid_request_is_refused_and_recorded(loopback: Serve, api: str) -> None:
    server = loopback([ANSWER])
    for body in (b"{", b"[]", b"", b"\xff"):
        response = httpx2.post(server.url + PATHS[api], content=body)
        assert response.status_code == 400
        assert contentmodel.adapter(api).decode_response(response.json()).error.message
    assert [record.request for record in server.requests] == [None] * 4
    assert server.requests[0].payload is None
    assert [violation.rule for violation in server.requests[0].check()] == ["shape"]
    assert len(server.check()) == 4
    assert ask(server, api) == WHOLE


def test_check_reports_violations_of_recorded_requests(loopback: Serve) -> None:
    server = loopback([ANSWER])
    body = {"model": "gpt-5.2", "messages": [*MESSAGES, {"role": "tool", "tool_call_id": "call_1", "content": "mild"}]}
    httpx2.post(server.url + "/v1/chat/completions", json=body)
    assert server.check() == contentmodel.check(body, api="openai-chat")
    assert server.check()


def test_unknown_path_is_answered_with_the_known_paths(loopback: Serve) -> None:
    response = httpx2.post(loopback([ANSWER]).url + "/v1/embeddings", json={})
    assert response.status_code == 404
    message = response.json()["error"]["message"]
    assert "POST /v1/embeddings" in message
    assert "/v1/chat/completions" in message


@pytest.mark.parametrize("api", APIS)
def test_payload_of_the_same_api_is_sent_unchanged(loopback: Serve, api: str) -> None:
    payloads = [record["body"] for record in records(api, "response") if isinstance(record["body"], dict)]
    if not payloads:
        pytest.skip("CONTENTMODEL_CORPUS is not set")
    server = loopback([{"api": api, "payload": payload} for payload in payloads])
    with httpx2.Client() as client:
        for payload in payloads:
            assert client.post(server.url + PATHS[api], json=BODIES[api]).json() == payload


# -- faults ------------------------------------------------------------------------------------------------------------

STATUSES = {
    "openai-chat": {429: openai.RateLimitError, 500: openai.InternalServerError, 503: openai.InternalServerError},
    "openai-responses": {429: openai.RateLimitError, 500: openai.InternalServerError, 400: openai.BadRequestError},
    "anthropic-messages": {
        429: anthropic.RateLimitError,
        500: anthropic.InternalServerError,
        529: anthropic.APIStatusError,
        401: anthropic.AuthenticationError,
    },
    "google-generate-content": {
        429: google_errors.ClientError,
        500: google_errors.ServerError,
        503: google_errors.ServerError,
    },
}


@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_official_client_raises_its_own_error_for_a_status(loopback: Serve, api: str, is_stream: bool) -> None:
    expected = STATUSES[api]
    server = loopback([Turn(fault=Fault(status=status, message="not now")) for status in expected])
    for status, kind in expected.items():
        with pytest.raises(kind, match="not now") as raised:
            ask(server, api, is_stream)
        assert status in (getattr(raised.value, "status_code", None), getattr(raised.value, "code", None))
    assert server.turns_left == 0


@pytest.mark.parametrize("api", APIS)
def test_official_client_retries_after_a_status_fault(loopback: Serve, api: str) -> None:
    server = loopback([Turn(ANSWER, Fault(status=429, retry_after=0.01, times=2))])
    assert ask(server, api, retries=2) == WHOLE
    assert [record.status for record in server.requests] == [429, 429, 200]
    assert [record.turn for record in server.requests] == [1, 1, 1]
    assert server.requests[0].fault == Fault(status=429, retry_after=0.01, times=2)
    assert server.requests[2].fault is None


def test_status_fault_has_the_error_body_of_each_api(loopback: Serve) -> None:
    server = loopback([Turn(fault=Fault(status=429, retry_after=1.5))], repeat=True)
    bodies = {api: post(server, api) for api in APIS}
    assert {response.headers["retry-after"] for response in bodies.values()} == {"1.5"}
    errors = {api: response.json()["error"] for api, response in bodies.items()}
    assert errors["openai-chat"]["code"] == errors["openai-responses"]["code"] == "rate_limit_exceeded"
    assert errors["anthropic-messages"]["type"] == "rate_limit_error"
    assert errors["google-generate-content"]["status"] == "RESOURCE_EXHAUSTED"
    assert errors["google-generate-content"]["details"][0]["retryDelay"] == "1.5s"


@pytest.mark.parametrize("after", [0, 1, 40, 200])
@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_drop_after_cuts_the_connection_after_the_given_number_of_bytes(
    loopback: Serve, api: str, is_stream: bool, after: int
) -> None:
    server = loopback([Turn(ANSWER, Fault(drop_after=after))])
    begun, ended_well = received(server, api, is_stream)
    assert not ended_well
    assert len(begun) == after
    whole, ended_well = received(server, api, is_stream)
    assert ended_well
    assert whole.startswith(begun)


def test_drop_after_beyond_the_body_cuts_the_connection_at_its_end(loopback: Serve) -> None:
    server = loopback([Turn(ANSWER, Fault(drop_after=1_000_000))])
    begun, ended_well = received(server, "openai-chat", False)
    assert not ended_well
    assert (begun, True) == received(server, "openai-chat", False)


def test_turn_that_drops_at_once_needs_no_response(loopback: Serve) -> None:
    server = loopback([Turn(fault=Fault(drop_after=0, times=2)), ANSWER])
    assert [received(server, "openai-chat", False) for _ in range(2)] == [(b"", False)] * 2
    assert [record.status for record in server.requests] == [None, None]
    assert ask(server, "openai-chat") == WHOLE


@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages"])
def test_official_client_retries_after_a_cut(loopback: Serve, api: str) -> None:
    assert ask(loopback([Turn(ANSWER, Fault(drop_after=0))]), api, retries=1) == WHOLE


@pytest.mark.parametrize(("stall_after", "is_stream"), [(0, False), (0, True), (50, False), (50, True)])
def test_turn_is_served_again_if_the_client_timed_out(loopback: Serve, stall_after: int, is_stream: bool) -> None:
    server = loopback([Turn(ANSWER, Fault(stall=3600, stall_after=stall_after)), "next"])
    with pytest.raises(httpx2.ReadTimeout):
        post(server, "anthropic-messages", is_stream, read=0.2)
    assert ask(server, "anthropic-messages") == WHOLE
    assert ask(server, "anthropic-messages").text == "next"


@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_stall_delays_the_answer(loopback: Serve, api: str, is_stream: bool) -> None:
    server = loopback([Turn(ANSWER, Fault(stall=0.01)), Turn(ANSWER, Fault(stall=0.01, stall_after=30)), "next"])
    assert [ask(server, api, is_stream) for _ in range(3)] == [WHOLE, WHOLE, Seen("next", [])]


@pytest.mark.parametrize("api", APIS)
def test_malformed_event_is_reported_by_the_stream_decoder(loopback: Serve, api: str) -> None:
    server = loopback([Turn(ANSWER, Fault(malformed_at=2))])
    begun, ended_well = received(server, api, True)
    assert ended_well
    error = folded(api, begun).error
    assert error is not None
    assert error.code == "stream_malformed"
    assert ask(server, api, True) == WHOLE


def test_malformed_at_beyond_the_stream_changes_the_last_event(loopback: Serve) -> None:
    server = loopback([Turn(ANSWER, Fault(malformed_at=1_000))])
    begun, _ = received(server, "openai-chat", True)
    assert not begun.endswith(b"data: [DONE]\n\n")
    whole, _ = received(server, "openai-chat", True)
    assert whole.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("fault", [Fault(malformed_at=0), Fault(truncate=True)])
@pytest.mark.parametrize("api", APIS)
def test_malformed_plain_answer_ends_without_a_connection_error(loopback: Serve, api: str, fault: Fault) -> None:
    server = loopback([Turn(ANSWER, fault)])
    body, ended_well = received(server, api, False)
    assert ended_well
    with pytest.raises(contentmodel.DecodeError, match="not JSON"):
        contentmodel.adapter(api).decode_response(body)
    assert ask(server, api) == WHOLE


@pytest.mark.parametrize("api", APIS)
def test_truncated_stream_ends_without_a_connection_error(loopback: Serve, api: str) -> None:
    server = loopback([Turn(ANSWER, Fault(truncate=True))])
    begun, ended_well = received(server, api, True)
    assert ended_well
    response = folded(api, begun)
    assert response.error is not None
    assert response.error.code == "stream_ended"
    assert response.text == TEXT
    whole, _ = received(server, api, True)
    assert whole.startswith(begun)
    assert folded(api, whole).error is None


def test_several_faults_of_a_turn_are_combined() -> None:
    endpoint = ENDPOINTS[0]
    body = body_of(ANSWER, endpoint, streams="events", size=4)
    steps = list(steps_of(body, Fault(stall=9, stall_after=10, drop_after=10, malformed_at=0)))
    assert [type(step) for step in steps] == [bytes, Stall, Cut, bytes, *[bytes] * (len(body.frames) - 1)]
    assert isinstance(steps[0], bytes)
    assert len(steps[0]) == 10
    assert list(steps_of(body, None)) == list(body.frames)


@pytest.mark.parametrize(("api", "is_stream"), SERVED)
def test_error_response_has_the_status_of_its_code(loopback: Serve, api: str, is_stream: bool) -> None:
    codes = {"rate_limit_error": 429, "RESOURCE_EXHAUSTED": 429, "overloaded_error": 529, "who knows": 500}
    server = loopback([ChatResponse(error=ErrorContent(message="not now", code=code)) for code in codes])
    for status in codes.values():
        response = post(server, api, is_stream)
        assert response.status_code == status
        assert contentmodel.adapter(api).decode_response(response.json()).error.message == "not now"


def test_error_payload_of_the_same_api_is_sent_unchanged(loopback: Serve) -> None:
    body = {"error": {"code": 404, "message": "no such model", "status": "NOT_FOUND", "details": []}}
    response = post(loopback([body]), "google-generate-content")
    assert (response.status_code, response.json()) == (404, body)


# -- start and stop ----------------------------------------------------------------------------------------------------


def is_open(url: str) -> bool:
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_server_listens_while_its_context_is_open() -> None:
    server = LoopbackServer([ANSWER])
    with pytest.raises(RuntimeError, match="not started"):
        _ = server.url
    with server:
        assert is_open(server.url)
        with pytest.raises(LookupError, match="it has those of openai-chat"):
            server.base_url("smoke-signals")
        with pytest.raises(RuntimeError, match="has already started"):
            server.start()
    assert not is_open(server.url)
    server.stop()


def test_stop_disconnects_stalled_clients() -> None:
    arrived = threading.Event()
    failures: list[BaseException] = []
    server = LoopbackServer([Turn(ANSWER, Fault(stall=3600))], on_request=lambda record: arrived.set())

    def wait() -> None:
        try:
            post(server, "openai-chat")
        except httpx2.HTTPError as error:
            failures.append(error)

    with server:
        waiting = threading.Thread(target=wait)
        waiting.start()
        arrived.wait()
    waiting.join()
    assert isinstance(failures[0], httpx2.RemoteProtocolError | httpx2.ReadError)


def test_stop_does_not_wait_for_functions_of_the_script() -> None:
    arrived, released = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def never(request: ChatRequest) -> ChatResponse:
        arrived.set()
        released.wait()
        return ANSWER

    def wait() -> None:
        try:
            post(server, "openai-chat")
        except httpx2.HTTPError as error:
            failures.append(error)

    with LoopbackServer([never]) as server:
        waiting = threading.Thread(target=wait)
        waiting.start()
        arrived.wait()
    released.set()
    waiting.join()
    assert isinstance(failures[0], httpx2.RemoteProtocolError | httpx2.ReadError)


def test_stop_disconnects_clients_that_do_not_read() -> None:
    body = json.dumps(BODIES["openai-chat"]).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {len(body)}\r\n\r\n"
    with LoopbackServer(["x" * 20_000_000]) as server:
        place = server.url.removeprefix("http://").rpartition(":")
        lazy = socket.create_connection((place[0], int(place[2])))
        lazy.sendall(head.encode() + body)
        assert lazy.recv(8) == b"HTTP/1.1"
    with lazy:
        left = 0
        # How a closed connection appears depends on the operating system.
        with suppress(ConnectionResetError):
            while data := lazy.recv(1_000_000):
                left += len(data)
    assert left < 20_000_000


@pytest.mark.slow
def test_loopback_fixture_stops_its_servers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import socket
        started = []

        def test_one(loopback):
            started.append(loopback(["one"]).url)
            started.append(loopback(["two"], repeat=True).url)

        def test_two():
            for url in started:
                with socket.socket() as probe:
                    assert probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) != 0
            assert len(set(started)) == 2
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_import_of_the_plugin_loads_no_server() -> None:
    code = (
        "import sys, contentmodel_conformance.plugin\n"
        "print(sorted({'starlette', 'uvicorn', 'typer', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- scripts -----------------------------------------------------------------------------------------------------------


def turn_texts(turns: list[Turn]) -> list[str]:
    return [turn.response.text for turn in turns if isinstance(turn.response, ChatResponse)]


def test_as_turn_accepts_every_form_of_a_turn() -> None:
    chat = {"id": "1", "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}
    stored = json.loads(contentmodel.dumps(say("hi")))
    payload = contentmodel.adapter("anthropic-messages").encode_response(say("hi")).payload
    forms = [
        "hi",
        say("hi"),
        Turn(say("hi")),
        {"text": "hi"},
        {"text": "hi", "calls": [], "fault": {"truncate": True}},
        stored,
        {**stored, "delta_size": 3},
        chat,
        {**chat, "fault": {"status": 500}},
        {"payload": chat},
        {"api": "anthropic-messages", "payload": payload},
    ]
    assert turn_texts([as_turn(form) for form in forms]) == ["hi"] * len(forms)
    assert as_turn({**stored, "delta_size": 3}).delta_size == 3
    assert as_turn({**chat, "fault": {"status": 500}}).fault == Fault(status=500)
    assert as_turn({"fault": {"status": 500}}) == Turn(fault=Fault(status=500))


WRONG: list[tuple[Any, str]] = [
    (3, "expected an object, got integer at $"),
    ({}, "a turn has a response, or a fault, or both"),
    ({"text": 3}, "Expected `str | null`, got `int` at $.text"),
    ({"calls": [{"name": "f"}, {"arguments": {}}]}, "Object missing required field `name` at $.calls[1]"),
    ({"text": "a", "colour": "red"}, "no API recognizes an object with the keys text, colour"),
    ({"text": "a", "fault": {"status": 200}}, "status 200 is not an error status: expected 400 to 599 at $.fault"),
    ({"text": "a", "fault": {"retry": 3}}, "Object contains unknown field `retry` at $.fault"),
    ({"text": "a", "fault": {"times": 3}}, "the fault is empty"),
    ({"text": "a", "fault": {"drop_after": -1}}, "drop_after is negative at $.fault"),
    ({"text": "a", "fault": {"truncate": True, "times": 0}}, "times is less than 1"),
    ({"text": "a", "fault": {"truncate": True, "retry_after": 3}}, "retry_after require a status"),
    ({"text": "a", "fault": {"truncate": True, "stall_after": 3}}, "stall_after requires stall"),
    ({"text": "a", "delta_size": 0}, "delta_size is less than 1 at $"),
    ({"fault": {"truncate": True}}, "this fault requires a response"),
    ({"contentmodel": 1, "kind": "request", "value": {}}, "expected 'response', got 'request' at $.kind"),
    ({"contentmodel": 1, "kind": "response", "value": {"choices": 3}}, "got `int` at $.value.choices"),
    ({"api": "anthropic-messages", "payload": {"content": 3}}, "expected array, got integer at $.payload.content"),
    ({"api": 3, "payload": {}}, "expected str, got integer at $.api"),
    ({"api": "openai-chat", "payload": {}, "text": "a"}, "expected only api and payload at $.text"),
    ({"api": "openai-chats", "payload": {}}, "no adapter for 'openai-chats'"),
]


@pytest.mark.parametrize(("value", "message"), WRONG)
def test_invalid_turn_is_reported_with_its_position(value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScriptError) as raised:
        LoopbackServer([ANSWER, value])
    assert str(raised.value).startswith("turn 2: ")
    assert message in str(raised.value)
    if value != 3:
        path = tmp_path / "script.jsonl"
        path.write_text(json.dumps({"text": "fine"}) + "\n\n" + json.dumps(value) + "\n")
        with pytest.raises(ScriptError) as raised:
            read_script(str(path))
        assert str(raised.value).startswith(f"{path}, line 3: ")
        assert message in str(raised.value)


def test_server_refuses_a_turn_instead_of_a_script() -> None:
    for value in ("hi", say("hi"), {"text": "hi"}):
        with pytest.raises(ScriptError, match="put it into a list"):
            LoopbackServer(value)  # type: ignore[arg-type]


def test_script_file_has_a_list_or_lines_or_one_turn(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('[{"text": "one"}, "two"]')
    assert turn_texts(read_script(str(path))) == ["one", "two"]
    path.write_text('{"text":\n "one"}')
    assert turn_texts(read_script(str(path))) == ["one"]
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    assert turn_texts(read_script(str(path))) == ["one", "two"]
    path.write_text('[{"text": "one"}, {"text": 2}]')
    with pytest.raises(ScriptError, match=r"script.json, turn 2: .* at \$\[1\]\.text"):
        read_script(str(path))
    for empty in ("[]", "", "\n"):
        path.write_text(empty)
        with pytest.raises(ScriptError, match=r"script\.json: "):
            read_script(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "one"}\n\n{"text":\n', r"script.json, line 3: not JSON"),
        ('[{"text": "one"},\n{"text":', r"script.json: not JSON"),
        ('["one", 2]', r"script.json, turn 2: expected an object or a string, got integer at \$\[1\]"),
        ('"one"\n2', r"script.json, line 2: expected an object or a string, got integer at \$"),
        ("[]", "the script has no turns"),
    ],
)
def test_invalid_script_file_is_reported_with_its_position(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(ScriptError, match=message):
        read_script(str(path))


@pytest.mark.parametrize("api", APIS)
def test_server_adds_ids_that_the_script_lacks(loopback: Serve, api: str) -> None:
    server = loopback([say(None, Call(name="a"), Call(name="b"))], repeat=True)
    answers = [contentmodel.adapter(api).decode_response(post(server, api).json()) for _ in range(2)]
    ids = [call.call_id for answer in answers for call in answer.messages[0].tool_calls]
    assert len(set(ids)) == 4
    assert None not in ids
    assert answers[0].id != answers[1].id
    assert answers[0].model == server.requests[0].model
    assert answers[0].finish_reason is not None
    assert answers[0].finish_reason.reason == "tool_calls"


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def serving() -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """Start commands at a free port with a script on standard input; each call returns the process and its URL."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *options: str) -> tuple[subprocess.Popen[str], str]:
        arguments = [sys.executable, "-m", "contentmodel_conformance", "serve", "-", "--port", "0", *options]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(arguments, text=True, **pipes)
        started.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(script)
        process.stdin.close()
        line = process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line
        return process, line.split()[2]

    yield start
    for process in started:
        process.kill()
        with process:
            process.wait()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a console there interrupts whole groups of processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_serves_until_a_signal(serving: Any, tmp_path: Path, number: int) -> None:
    log = tmp_path / "requests.jsonl"
    process, url = serving('{"text": "one"}\n{"text": "two", "fault": {"status": 503}}\n', "--log", str(log))
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-secret", max_retries=0)
    answer = client.chat.completions.create(model="gpt-5.2", messages=MESSAGES)
    assert answer.choices[0].message.content == "one"
    with pytest.raises(openai.InternalServerError):
        client.responses.create(model="gpt-5.2", input="hi")
    process.send_signal(number)
    assert process.wait() == 0
    output, log_lines = process.stdout.read(), process.stderr.read()
    assert f'OpenAI(base_url="{url}/v1"' in output
    assert log_lines.splitlines() == [
        "1 openai-chat gpt-5.2 plain -> turn 1, HTTP 200",
        "2 openai-responses gpt-5.2 plain -> turn 2, HTTP 503, with its fault",
    ]
    first, second = map(json.loads, log.read_text().splitlines())
    assert first["payload"] == {"model": "gpt-5.2", "messages": MESSAGES}
    assert (second["api"], second["status"], second["fault"]) == ("openai-responses", 503, {"status": 503})
    assert "sk-secret" not in log.read_text()


def test_command_reports_errors_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"text": "fine"}\n{"text": "a", "calls": [{"name": 3}]}\n')
    done = CliRunner().invoke(command, ["serve", str(path)])
    assert done.exit_code == 2
    assert done.stderr == f"error: {path}, line 2: turn: Expected `str`, got `int` at $.calls[0].name\n"
    done = CliRunner().invoke(command, ["serve", str(tmp_path / "none.json")])
    assert done.exit_code == 2
    assert "No such file" in done.stderr


def test_command_reports_a_port_in_use(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('"hi"')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = CliRunner().invoke(command, ["serve", str(path), "--port", str(taken.getsockname()[1])])
    assert done.exit_code == 2
    assert "cannot listen on 127.0.0.1 port" in done.stderr
    assert "--port 0" in done.stderr


def test_command_help_describes_scripts_and_faults() -> None:
    done = CliRunner().invoke(command, ["serve", "--help"])
    assert done.exit_code == 0
    for word in ("SCRIPT", "--repeat", "drop_after", "malformed_at", "serve script.json"):
        assert word in done.stdout


@pytest.mark.slow
def test_example_test_of_the_documentation_passes(pytester: pytest.Pytester) -> None:
    page = (Path(__file__).parent.parent / "docs" / "loopback.md").read_text()
    (example,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def test_" in block]
    pytester.makepyfile(example)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_example_script_of_the_documentation_is_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "loopback.md").read_text()
    (script,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "script.jsonl"
    path.write_text(script)
    turns = read_script(str(path))
    assert [turn.fault is not None for turn in turns] == [False, True, True]
