"""Clients with the real SDKs, against a local server that answers with bytes from the test."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from typing import Any

import anthropic
import botocore.exceptions
import httpx
import msgspec
import openai
import pytest
from cohere.core.api_error import ApiError
from google import genai
from google.auth.credentials import Credentials
from google.auth.exceptions import RefreshError
from mistralai.client import errors as mistral_errors

import contentmodel
from conftest import records
from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    EncodeError,
    FunctionTool,
    HostedTool,
    LossError,
    TextContent,
    adapter,
    async_chat_client,
    chat_client,
)
from contentmodel.client import (
    AsyncChatStream,
    AuthenticationError,
    ChatStream,
    ClientError,
    ConnectionFailed,
    InvalidRequestError,
    RateLimitError,
    ServerError,
    TimeoutExceeded,
)
from contentmodel.events import BlockStart, BlockStop, TextDelta, TurnComplete, TurnError, fold
from contentmodel.failures import kind_of_status
from contentmodel.message import Origin
from contentmodel_conformance.subject import kinds_of
from providers import PROVIDERS, base_url, frames, path_of

PATIENCE = 20.0
"""Seconds that a test waits for the other side before it fails."""

UNTIL_DISCONNECT = object()
"""A piece of an answer: the server sends nothing more until the client closes the connection."""

CUT = object()
"""A piece of an answer: the server closes the connection in the middle of it."""


class Answer:
    """An answer of the server. `pieces` are sent in order. The server waits for an Event among them."""

    def __init__(self, *pieces: Any, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.pieces = pieces
        self.status = status
        self.headers = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}


class Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore disconnected clients: some tests disconnect."""


class Loopback:
    """A server that answers with the result of `answers` for a path and a payload. `asked` has every request."""

    def __init__(self) -> None:
        self.answers: Callable[[str, Any], Answer] = lambda path, payload: Answer(b"{}")
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.gone = threading.Event()
        self.server = Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def reset(self) -> Loopback:
        self.asked.clear()
        self.gone.clear()
        return self

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                loopback.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                try:
                    loopback.send(self, loopback.answers(self.path, body))
                except ConnectionError:
                    # The client disconnected before the end of the answer.
                    loopback.gone.set()
                except OSError:
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        for name, value in {**answer.headers, "transfer-encoding": "chunked"}.items():
            handler.send_header(name, value)
        handler.end_headers()
        for piece in answer.pieces:
            if isinstance(piece, bytes):
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                handler.wfile.flush()
            elif isinstance(piece, threading.Event):
                assert piece.wait(PATIENCE)
            else:
                if piece is UNTIL_DISCONNECT and self._is_gone(handler.connection):
                    self.gone.set()
                handler.close_connection = True
                handler.connection.shutdown(socket.SHUT_RDWR)
                return
        handler.wfile.write(b"0\r\n\r\n")

    def _is_gone(self, connection: socket.socket) -> bool:
        readable, _, _ = select.select([connection], [], [], PATIENCE)
        try:
            return bool(readable) and connection.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture(scope="module")
def served() -> Iterator[Loopback]:
    loopback = Loopback()
    thread = threading.Thread(target=loopback.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield loopback
    loopback.server.shutdown()
    loopback.server.server_close()


@pytest.fixture
def loop(served: Loopback) -> Loopback:
    return served.reset()


def options(api: str, url: str) -> dict[str, Any]:
    return {"api_key": "secret", "base_url": base_url(api, url), "max_retries": 0}


_CLIENTS: dict[tuple[str, str], Any] = {}


def client_of(api: str, loop: Loopback, **more: Any) -> Any:
    """Return a client of the server. Clients without settings are cached, since an SDK's client is slow to create."""
    if more:
        return chat_client(api, **{"model": "m", **options(api, loop.url), **more})
    key = (api, loop.url)
    if key not in _CLIENTS:
        _CLIENTS[key] = chat_client(api, model="m", **options(api, loop.url))
    return _CLIENTS[key]


def waited(api: str, loop: Loopback, work: Callable[[Any], Any], seconds: float | None = None, **more: Any) -> Any:
    """Run an asynchronous client in a new event loop, and return its result."""

    async def run() -> Any:
        async with async_chat_client(api, **{"model": "m", **options(api, loop.url), **more}) as client:
            return await asyncio.wait_for(work(client), seconds or PATIENCE)

    return asyncio.run(run())


def completed(how: str, api: str, loop: Loopback, request: ChatRequest, **more: Any) -> ChatResponse:
    if how == "sync":
        answer: ChatResponse = client_of(api, loop).complete(request, **more)
        return answer
    return waited(api, loop, lambda client: client.complete(request, **more))


def streamed(how: str, api: str, loop: Loopback, request: ChatRequest, **more: Any) -> tuple[list[Any], Any]:
    """Return every event, and the stream."""
    if how == "sync":
        with client_of(api, loop).stream(request, **more) as stream:
            return list(stream.events), stream

    async def work(client: Any) -> tuple[list[Any], Any]:
        async with client.stream(request, **more) as stream:
            return [event async for event in stream.events], stream

    return waited(api, loop, work)


def end_of_path(api: str, *, streams: bool = False) -> str:
    """Return the path of a request without the version of Google's API, which depends on its SDK."""
    return path_of(api, streams=streams).removeprefix("/v1beta")


WAYS = pytest.mark.parametrize("how", ["sync", "async"])
EVERY = pytest.mark.parametrize("api", PROVIDERS)
HELLO = ChatRequest(messages=[ChatMessage(role="user", contents=[TextContent(text="Hello")])])

HALF = "half \ud83d of it"


@WAYS
@EVERY
def test_client_sends_lone_surrogates_escaped_and_reads_them(api: str, how: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of(api, HALF))
    request = ChatRequest(messages=[ChatMessage(role="user", contents=[TextContent(text=HALF)])])
    assert completed(how, api, loop, request).text == HALF
    loop.answers = lambda path, payload: Answer(*stream_of(api, HALF), kind="text/event-stream")
    assert fold(streamed(how, api, loop, request)[0]).text == HALF
    assert all(json.dumps(HALF) in json.dumps(body) for _, _, body in loop.asked)
    assert len(loop.asked) == 2


@WAYS
def test_client_of_an_sdk_that_rewrites_payloads_refuses_lone_surrogates(how: str, loop: Loopback) -> None:
    request = ChatRequest(messages=[ChatMessage(role="user", contents=[TextContent(text=HALF)])])
    options = {"api_key": "k", "api_version": "1", "azure_endpoint": loop.url}

    def ask() -> None:
        if how == "sync":
            chat_client("openai-chat", sdk=openai.AzureOpenAI(**options), model="m").complete(request)
        else:
            client = async_chat_client("openai-chat", sdk=openai.AsyncAzureOpenAI(**options), model="m")
            asyncio.run(client.complete(request))

    with pytest.raises(EncodeError, match=r"a lone surrogate, which (Async)?AzureOpenAI cannot send"):
        ask()
    assert loop.asked == []


# -- answers written by hand -------------------------------------------------------------------------------------------


def answer_of(api: str, text: str) -> bytes:
    """Return an answer of one text."""
    return json.dumps(PROVIDERS[api].answer(text)).encode()


def stream_of(api: str, *texts: str) -> list[bytes]:
    """Return the frames of a streamed answer: the first, one for each of `texts`, and the last."""
    return PROVIDERS[api].stream(*texts)


def cut_after(api: str, word: str, rest: str) -> tuple[list[bytes], list[bytes]]:
    """Return the frames of a stream up to `word`, and those from `rest` on."""
    whole = stream_of(api, word, rest)
    place = next(n for n, frame in enumerate(whole) if rest.encode() in frame)
    return whole[:place], whole[place:]


def sse(*pieces: Any, **more: Any) -> Answer:
    return Answer(*pieces, kind="text/event-stream", **more)


# -- creating clients --------------------------------------------------------------------------------------------------


def test_every_adapter_has_a_sync_and_an_async_client(loop: Loopback) -> None:
    for api in (one.api for one in contentmodel.adapters().values() if one.issuer and "response" in kinds_of(one)):
        client = client_of(api, loop)
        assert isinstance(client, contentmodel.ChatClient)
        assert (client.api, client.model) == (api, "m")
        waiting = async_chat_client(api, model="m", **options(api, loop.url))
        assert isinstance(waiting, contentmodel.AsyncChatClient)
        assert isinstance(client.stream(HELLO), ChatStream)
        assert isinstance(waiting.stream(HELLO), AsyncChatStream)


@EVERY
@pytest.mark.parametrize("wrong", [None, ["Hi"], contentmodel.user("Hi")])
def test_client_refuses_a_value_that_is_no_input(api: str, wrong: Any, loop: Loopback) -> None:
    client = contentmodel.chat_client(api, model="m", api_key="none", base_url=loop.url)
    with pytest.raises(TypeError, match="expected a Chat"):
        client.complete(wrong)
    with pytest.raises(TypeError, match="expected a Chat"):
        client.stream(wrong)


def test_chat_client_reports_an_unknown_api() -> None:
    with pytest.raises(contentmodel.UnknownApiError, match=r"smoke-signals.*openai-chat"):
        chat_client("smoke-signals")
    with pytest.raises(contentmodel.UnknownApiError, match="did you mean 'anthropic' or"):
        chat_client("antropic")


def test_import_of_the_library_loads_no_sdk() -> None:
    code = (
        "import sys, contentmodel; contentmodel.adapters();"
        "sdks = ['openai', 'anthropic', 'google.genai', 'mistralai', 'httpx2', 'pydantic'];"
        "print([m for m in sdks if m in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


@EVERY
def test_client_module_reports_a_missing_sdk_with_its_extra(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (point,) = entry_points(group="contentmodel.clients", name=api)
    name = point.value
    for sdk in ("openai", "anthropic", "google.genai", "google", "mistralai", "ollama", "cohere", "boto3"):
        monkeypatch.setitem(sys.modules, sdk, None)
    # The clients of Google share a module, which imports the SDK.
    monkeypatch.delattr("contentmodel_adapters.google.clients", raising=False)
    for module in (name, "contentmodel_adapters.google.clients"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ImportError, match=r'pip install "contentmodel\[\w+\]"'):
        __import__(name)


@pytest.mark.parametrize("wrong", [{"on_loss": "shrug"}, {"policies": {"reasoning": "shout"}}])
@EVERY
def test_client_refuses_unknown_values_of_settings(api: str, wrong: dict[str, Any], loop: Loopback) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown policy"):
        client_of(api, loop, **wrong)


def test_chat_client_refuses_options_beside_an_sdk_client(loop: Loopback) -> None:
    with pytest.raises(TypeError, match="api_key"):
        chat_client("openai-chat", sdk=openai.OpenAI(api_key="k"), api_key="other")


@EVERY
def test_client_requires_a_model_of_the_client_or_the_request(api: str, loop: Loopback) -> None:
    client = client_of(api, loop, model=None)
    with pytest.raises(contentmodel.EncodeError, match="no model is set"):
        client.complete(HELLO)
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    client.complete(msgspec.structs.replace(HELLO, model="m"))
    path, _, payload = loop.asked[-1]
    assert path.endswith(end_of_path(api))
    assert payload.get("model") == (None if adapter(api).http.names_model_in_path else "m")


# -- recorded traffic --------------------------------------------------------------------------------------------------


def sample(api: str, kind: str, count: int) -> list[dict[str, Any]]:
    """Return an evenly spread sample of the records."""
    every = [r for r in records(api, kind) if kind != "request" or r["status"] in (None, 200)]
    if kind == "response" and api == "bedrock-converse":
        # Recorded mocks have blocks with a type, which boto3 refuses.
        every = [record for record in every if '"type": "text"' not in json.dumps(record["body"])]
    return every[:: max(1, len(every) // count)]


@pytest.mark.slow
@pytest.mark.usefixtures("corpus")
@WAYS
@EVERY
def test_client_reads_recorded_answers_as_the_codec_does(api: str, how: str, loop: Loopback) -> None:
    bodies = [json.dumps(r["body"], ensure_ascii=False).encode() for r in sample(api, "response", 25)]
    loop.answers = lambda path, payload: Answer(bodies[len(loop.asked) - 1])
    named = adapter(api).http.with_path_model
    expected = [adapter(api).decode_response(named(json.loads(body), "m")) for body in bodies]
    if how == "sync":
        assert [client_of(api, loop).complete(HELLO) for _ in bodies] == expected
    else:

        async def work(client: Any) -> list[Any]:
            return [await client.complete(HELLO) for _ in bodies]

        assert waited(api, loop, work) == expected
    assert all(path.endswith(end_of_path(api)) for path, _, _ in loop.asked)


@pytest.mark.slow
@pytest.mark.usefixtures("corpus")
@WAYS
@EVERY
def test_client_reads_recorded_streams_as_the_codec_does(api: str, how: str, loop: Loopback) -> None:
    streams = [bytes_of(record["body"]) for record in sample(api, "stream", 12)]
    loop.answers = lambda path, payload: sse(*halves(streams[len(loop.asked) - 1]))
    expected = [events_of(api, raw) for raw in streams]
    if how == "sync":
        results = [streamed("sync", api, loop, HELLO) for _ in streams]
    else:

        async def work(client: Any) -> list[Any]:
            results = []
            for _ in streams:
                async with client.stream(HELLO) as stream:
                    results.append(([event async for event in stream], stream))
            return results

        results = waited(api, loop, work)
    assert [events for events, _ in results] == expected
    assert [stream.response for _, stream in results] == [fold(events) for events in expected]
    assert all(path.endswith(end_of_path(api, streams=True)) for path, _, _ in loop.asked)


def bytes_of(body: list[dict[str, Any]]) -> bytes:
    lines = []
    for event in body:
        lines += [b"event: %b\n" % event["event"].encode()] if event.get("event") else []
        lines += frames(event["data"])
    return b"".join(lines)


def halves(raw: bytes) -> list[bytes]:
    """Split bytes in two within a frame."""
    return [raw[: len(raw) // 2 - 1], raw[len(raw) // 2 - 1 :]]


def events_of(api: str, raw: bytes) -> list[Any]:
    decoder = adapter(api).stream_decoder()
    decoder.assume_model("m")
    return [*(event for piece in halves(raw) for event in decoder.feed(piece)), *decoder.close()]


@pytest.mark.slow
@pytest.mark.usefixtures("corpus")
@EVERY
def test_client_sends_the_encoded_payload_unchanged(api: str, loop: Loopback) -> None:
    """The payload includes fields that no SDK has, and API-specific values."""
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    for record in sample(api, "request", 40):
        payload = {**record["body"], "field_of_tomorrow": [{"deep": None, "text": "é\u2028"}]}
        request = adapter(api).decode_request(payload)
        before = contentmodel.dumps(request)
        client_of(api, loop, model=None).complete(request) if request.model else client_of(api, loop).complete(request)
        sent = loop.asked[-1][2]
        encoded = adapter(api).encode_request(request, None, request.model or "m").payload
        expected = adapter(api).http.body_of(encoded)
        for wire in (sent, expected):
            for key in ("stream", "stream_options"):
                wire.pop(key, None)
        assert sent == expected, record["id"]
        assert sent["field_of_tomorrow"] == payload["field_of_tomorrow"]
        assert contentmodel.dumps(request) == before


# -- requests ----------------------------------------------------------------------------------------------------------


@WAYS
@EVERY
def test_client_sends_the_api_key_and_returns_the_answer(api: str, how: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    assert completed(how, api, loop, HELLO).text == "Hi."
    headers = loop.asked[-1][1]
    assert "secret" in headers.get("x-goog-api-key", headers.get("x-api-key", headers.get("authorization", "")))


@EVERY
def test_client_sets_the_stream_field_if_the_api_has_one(api: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: (
        sse(*stream_of(api, "Hi.")) if "stream" in path or payload.get("stream") else Answer(answer_of(api, "Hi."))
    )
    client = client_of(api, loop)
    for is_stream in (None, True, False):
        request = msgspec.structs.replace(HELLO, options=ChatOptions(stream=is_stream))
        with client.stream(request) as stream:
            assert stream.read().text == "Hi."
            assert stream.losses == () or api == "anthropic-messages"
        assert client.complete(request).text == "Hi."
        assert request.options.stream is is_stream
        (_, _, asked), (_, _, complete) = loop.asked[-2:]
        assert asked.get("stream") is (None if adapter(api).http.stream else True)
        # Ollama streams by default.
        is_off = api == "ollama-chat" or (is_stream is False and adapter(api).http.stream is None)
        assert complete.get("stream") is (False if is_off else None)


def test_chat_client_requests_usage_of_a_stream_unless_stream_options_are_set(loop: Loopback) -> None:
    loop.answers = lambda path, payload: (
        sse(*stream_of("openai-chat", "Hi.")) if payload.get("stream") else Answer(answer_of("openai-chat", "Hi."))
    )
    client = client_of("openai-chat", loop)
    client.stream(HELLO).read()
    assert loop.asked[-1][2]["stream_options"] == {"include_usage": True}
    asked = adapter("openai-chat").decode_request(
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True, "stream_options": {"x": 1}}
    )
    client.stream(asked).read()
    assert loop.asked[-1][2]["stream_options"] == {"x": 1}
    client.complete(asked)
    assert "stream_options" not in loop.asked[-1][2]


def test_client_adds_the_max_tokens_that_anthropic_requires(loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of("anthropic-messages", "Hi."))
    client_of("anthropic-messages", loop).complete(HELLO)
    assert loop.asked[-1][2]["max_tokens"] > 0
    assert contentmodel.check(loop.asked[-1][2], api="anthropic-messages") == []


@EVERY
def test_client_reports_losses_or_raises_and_ignores_the_model_of_another_api(api: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    other = Origin(api="smoke-signals", issuer="fire")
    plain = msgspec.structs.replace(HELLO, model="command", origin=other, options=ChatOptions(max_output_tokens=9))
    lossy = msgspec.structs.replace(plain, extra={"smoke-signals": {"k": 3}})
    reported: list[Any] = []
    client = client_of(api, loop, on_losses=reported.append)
    client.complete(plain)
    assert reported == []
    client.complete(lossy)
    assert [[loss.path for loss in losses] for losses in reported] == [["$.extra['smoke-signals'].k"]]
    assert [loss.path for loss in client.stream(lossy).losses] == ["$.extra['smoke-signals'].k"]
    strict = client_of(api, loop, on_loss="raise")
    strict.complete(plain)
    asked = len(loop.asked)
    for refused in (strict.complete, strict.stream):
        with pytest.raises(LossError):
            refused(lossy)
    assert len(loop.asked) == asked


# -- ids, names and arguments ------------------------------------------------------------------------------------------

WEATHER = FunctionTool(
    name="weather.of the day",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    strict=True,
)


def called(api: str, name: str, arguments: str) -> tuple[bytes, list[bytes]]:
    """Return a tool call as an answer, and as a stream."""
    if api == "openai-chat":
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
        shell = {"id": "c1", "created": 1, "model": "m"}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        whole = {
            **shell,
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        }
        deltas = [
            {"role": "assistant", "tool_calls": [{"index": 0, **call, "function": {"name": name, "arguments": ""}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": arguments[:5]}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": arguments[5:]}}]},
        ]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
        chunks = [{**shell, "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
        return json.dumps(whole).encode(), frames(*chunks, "[DONE]")
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(arguments)}
    whole = {**json.loads(answer_of(api, "")), "content": [block], "stop_reason": "tool_use"}
    start = {**whole, "content": [], "stop_reason": None}
    delta = {"type": "content_block_delta", "index": 0}
    return json.dumps(whole).encode(), frames(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}},
        {**delta, "delta": {"type": "input_json_delta", "partial_json": arguments[:5]}},
        {**delta, "delta": {"type": "input_json_delta", "partial_json": arguments[5:]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


@WAYS
@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages"])
def test_client_restores_tool_names_and_optional_arguments(api: str, how: str, loop: Loopback) -> None:
    """The name has characters that no API accepts. A strict schema of OpenAI requires every property."""
    request = msgspec.structs.replace(HELLO, tools=[WEATHER])
    arguments = '{"city": "Paris", "unit": null}' if api == "openai-chat" else '{"city": "Paris"}'

    def answers(path: str, payload: Any) -> Answer:
        tool = payload["tools"][0]
        name = tool.get("name") or tool["function"]["name"]
        assert name != WEATHER.name
        body, stream = called(api, name, arguments)
        return sse(*stream) if payload.get("stream") else Answer(body)

    loop.answers = answers
    (call,) = completed(how, api, loop, request).messages[0].tool_calls
    assert (call.name, call.arguments_object) == (WEATHER.name, {"city": "Paris"})
    events, stream = streamed(how, api, loop, request)
    (start,) = [event for event in events if isinstance(event, BlockStart)]
    (stop,) = [event for event in events if isinstance(event, BlockStop)]
    assert (start.content.name, stop.content.name) == (WEATHER.name, WEATHER.name)
    assert stop.content.arguments_object == {"city": "Paris"}
    assert stream.response.messages[0].tool_calls == [stop.content]
    assert stream.maps.names[WEATHER.name] != WEATHER.name


# -- errors ------------------------------------------------------------------------------------------------------------

KINDS = {
    400: (InvalidRequestError, False),
    401: (AuthenticationError, False),
    403: (AuthenticationError, False),
    404: (InvalidRequestError, False),
    429: (RateLimitError, True),
    500: (ServerError, True),
    503: (ServerError, True),
    529: (ServerError, True),
}
SDK_ERRORS = (
    openai.APIStatusError,
    anthropic.APIStatusError,
    genai.errors.APIError,
    mistral_errors.MistralError,
    httpx.HTTPStatusError,
    ApiError,
    botocore.exceptions.ClientError,
)


@pytest.mark.slow
@WAYS
@EVERY
def test_error_status_raises_a_typed_error_with_all_details(api: str, how: str, loop: Loopback) -> None:
    code = PROVIDERS[api].error_code
    for status, (kind, retryable) in KINDS.items():
        headers = {"retry_after": "7"} if status == 429 else {}
        body = json.dumps(PROVIDERS[api].error).encode()
        answer = Answer(body, status=status, request_id="req_1", x_request_id="req_1", **headers)
        loop.answers = lambda path, payload, answer=answer: answer
        for send in (completed, streamed):
            with pytest.raises(kind) as caught:
                send(how, api, loop, HELLO)
            error = caught.value
            assert type(error) is kind
            assert (error.api, error.status, error.code, error.retryable) == (api, status, code, retryable)
            decoded = adapter(api).decode_response(body).error
            assert error.error == msgspec.structs.replace(decoded, kind=decoded.kind or kind_of_status(status))
            assert error.retry_after == (7.0 if status == 429 else None)
            assert error.request_id == "req_1"
            assert isinstance(error.__cause__, SDK_ERRORS)
            assert str(error) == " ".join(filter(None, (f"{api}: {status}", code, "No.")))


@EVERY
def test_error_body_of_another_format_is_quoted_in_the_message(api: str, loop: Loopback) -> None:
    page = b"<html>" + b"Bad gateway. " * 100 + b"</html>"
    loop.answers = lambda path, payload: Answer(page, status=502, kind="text/html")
    with pytest.raises(ServerError) as caught:
        client_of(api, loop).complete(HELLO)
    assert caught.value.error is not None
    assert "Bad gateway." in caught.value.error.message
    assert len(str(caught.value)) < 600
    loop.answers = lambda path, payload: Answer(b'{"detail": "No such token."}', status=401)
    with pytest.raises(AuthenticationError, match="No such token"):
        client_of(api, loop).complete(HELLO)


def test_google_error_details_give_retry_after_and_authentication_errors(loop: Loopback) -> None:
    api = "google-generate-content"
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    wrong = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    for status, detail in ((429, retry), (400, wrong)):
        body = {"error": {"code": status, "message": "No.", "status": "NO", "details": [detail]}}
        answer = Answer(json.dumps(body).encode(), status=status)
        loop.answers = lambda path, payload, answer=answer: answer
        with pytest.raises(ClientError) as caught:
            client_of(api, loop).complete(HELLO)
        if status == 429:
            assert caught.value.retry_after == 34.5
        else:
            assert isinstance(caught.value, AuthenticationError)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "2.5"}, 2.5),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
    ],
)
def test_error_reads_every_form_of_the_retry_after_header(
    headers: dict[str, str], seconds: float, loop: Loopback
) -> None:
    loop.answers = lambda path, payload: Answer(b"{}", status=429, **headers)
    with pytest.raises(RateLimitError) as caught:
        client_of("openai-chat", loop).complete(HELLO)
    assert caught.value.retry_after == seconds


def test_error_is_not_retryable_without_quota_and_obeys_x_should_retry(loop: Loopback) -> None:
    broke = json.dumps({"error": {"message": "Pay.", "code": "insufficient_quota"}}).encode()
    for answer, retryable in (
        (Answer(broke, status=429), False),
        (Answer(b"{}", status=400, x_should_retry="true"), True),
        (Answer(b"{}", status=500, x_should_retry="false"), False),
    ):
        loop.answers = lambda path, payload, answer=answer: answer
        with pytest.raises(ClientError) as caught:
            client_of("openai-chat", loop).complete(HELLO)
        assert caught.value.retryable is retryable


@EVERY
def test_client_errors_can_be_pickled(api: str, loop: Loopback) -> None:
    import pickle

    loop.answers = lambda path, payload: Answer(json.dumps(PROVIDERS[api].error).encode(), status=429, retry_after="7")
    with pytest.raises(RateLimitError) as caught:
        client_of(api, loop).complete(HELLO)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status, again.retry_after) == (str(caught.value), 429, 7.0)
    assert again.error == caught.value.error


@WAYS
@EVERY
def test_answer_that_is_not_json_raises_decode_error(api: str, how: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(b"[1, 2")
    with pytest.raises(contentmodel.DecodeError):
        completed(how, api, loop, HELLO)


@pytest.mark.parametrize("api", [api for api in PROVIDERS if api != "ollama-chat"])
def test_client_retries_with_the_retries_of_the_sdk(api: str, loop: Loopback) -> None:
    def answers(path: str, payload: Any) -> Answer:
        if len(loop.asked) < 2:
            return Answer(b"{}", status=500, retry_after_ms="1")
        return Answer(answer_of(api, "Hi."))

    loop.answers = answers
    more: dict[str, Any] = {"max_retries": 2}
    if api.startswith("google"):
        more = {"http_options": {"retry_options": {"attempts": 2, "initial_delay": 0.0, "jitter": 0.0}}}
        more["max_retries"] = None
    assert client_of(api, loop, **more).complete(HELLO).text == "Hi."
    assert len(loop.asked) == 2


@WAYS
@EVERY
def test_client_raises_timeout_exceeded_if_no_answer_arrives(api: str, how: str, loop: Loopback) -> None:
    """The timeout applies before the status, and before the first byte of a stream."""
    never = threading.Event()
    loop.answers = lambda path, payload: Answer(str(never.wait(PATIENCE)).encode())
    for send in (completed, streamed):
        with pytest.raises(TimeoutExceeded) as caught:
            send(how, api, loop, HELLO, timeout=0.2)
        assert caught.value.retryable
        assert caught.value.status is None
        assert caught.value.__cause__ is not None
    loop.answers = lambda path, payload: sse(never)
    with pytest.raises(TimeoutExceeded):
        streamed(how, api, loop, HELLO, timeout=0.2)
    never.set()


@WAYS
@EVERY
def test_client_raises_connection_failed_if_no_server_listens(api: str, how: str) -> None:
    with socket.socket() as taken:
        # Bound, but not listening: the port is reserved, and connections are refused.
        taken.bind(("127.0.0.1", 0))
        closed = Loopback.__new__(Loopback)
        closed.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for send in (completed, streamed):
            with pytest.raises(ConnectionFailed, match=f"{api}: the connection failed") as caught:
                send(how, api, closed, HELLO)
            assert caught.value.retryable
            assert caught.value.__cause__ is not None


@WAYS
@EVERY
def test_stream_whose_connection_is_cut_keeps_the_received_part(api: str, how: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first, CUT)
    events, stream = streamed(how, api, loop, HELLO)
    assert any(isinstance(event, TextDelta) and event.text == "Hello" for event in events) or api.startswith("google")
    assert isinstance(events[-1], TurnError)
    assert events[-1].error.code == "stream_ended"
    assert events[-1].error.details == {"kind": "ConnectionFailed"}
    assert isinstance(stream.failure, ConnectionFailed)
    assert stream.failure.__cause__ is not None
    assert stream.response.text == "Hello"
    assert stream.response.error == events[-1].error


@WAYS
@EVERY
def test_stream_that_times_out_keeps_the_received_part(api: str, how: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first, UNTIL_DISCONNECT)
    events, stream = streamed(how, api, loop, HELLO, timeout=0.5)
    assert isinstance(events[-1], TurnError)
    assert isinstance(stream.failure, TimeoutExceeded)
    assert stream.response.text == "Hello"
    assert loop.gone.wait(PATIENCE)


@WAYS
@EVERY
def test_stream_that_ends_early_keeps_the_received_part(api: str, how: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first)
    events, stream = streamed(how, api, loop, HELLO)
    assert isinstance(events[-1], TurnError)
    assert events[-1].error.code == "stream_ended"
    assert stream.failure is None
    assert stream.response.text == "Hello"


@WAYS
@pytest.mark.parametrize("api", [api for api in PROVIDERS if not api.startswith("google")])
def test_stream_ends_after_its_last_event_if_the_connection_stays_open(api: str, how: str, loop: Loopback) -> None:
    """The client closes the connection. A stream of Google has no last event: it ends with the connection."""
    loop.answers = lambda path, payload: sse(*stream_of(api, "Hi."), UNTIL_DISCONNECT)

    async def work(client: Any) -> tuple[list[Any], Any]:
        stream = client.stream(HELLO)
        events = [event async for event in stream]
        assert await asyncio.to_thread(loop.gone.wait, PATIENCE)
        return events, stream

    if how == "sync":
        stream = client_of(api, loop).stream(HELLO)
        events = list(stream)
        assert loop.gone.wait(PATIENCE)
    else:
        events, stream = waited(api, loop, work)
    assert isinstance(events[-1], TurnComplete)
    assert stream.response.text == "Hi."


# -- closing -----------------------------------------------------------------------------------------------------------


@EVERY
def test_exit_of_a_stream_closes_its_connection(api: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first, UNTIL_DISCONNECT)
    with client_of(api, loop).stream(HELLO) as stream:
        for _ in stream:
            if stream.response.text == "Hello":
                break
    assert loop.gone.wait(PATIENCE)
    assert list(stream) == []
    assert stream.response.text == "Hello"


@EVERY
def test_exit_of_an_async_stream_closes_its_connection(api: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first, UNTIL_DISCONNECT)

    async def work(client: Any) -> None:
        async with client.stream(HELLO) as stream:
            async for _ in stream:
                if stream.response.text == "Hello":
                    break
        assert await asyncio.to_thread(loop.gone.wait, PATIENCE)

    waited(api, loop, work)


@pytest.mark.parametrize("what", ["complete", "stream"])
# Calls of boto3 are made in threads, which cannot be cancelled.
@pytest.mark.parametrize("api", [api for api in PROVIDERS if api != "bedrock-converse"])
def test_cancelled_task_closes_its_connection(api: str, what: str, loop: Loopback) -> None:
    first, _ = cut_after(api, "Hello", " there")
    loop.answers = lambda path, payload: sse(*first, UNTIL_DISCONNECT)

    async def work(client: Any) -> None:
        reached = asyncio.Event()

        async def ask() -> None:
            if what == "complete":
                await client.complete(HELLO)
            # The stream is not entered as a context manager: the cancellation closes it.
            stream = client.stream(HELLO)
            async for _ in stream:
                if stream.response.text == "Hello":
                    reached.set()

        task = asyncio.create_task(ask())
        if what == "stream":
            await reached.wait()
        while not loop.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(loop.gone.wait, PATIENCE)

    waited(api, loop, work)


@EVERY
def test_stream_that_is_closed_before_it_is_read_sends_no_request(api: str, loop: Loopback) -> None:
    stream = client_of(api, loop).stream(HELLO)
    assert stream.response == ChatResponse()
    stream.close()
    assert list(stream) == []
    assert loop.asked == []


@WAYS
@EVERY
def test_stream_of_a_refused_request_does_not_send_it_again(api: str, how: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(b"{}", status=400)

    async def work(client: Any) -> list[Any]:
        stream = client.stream(HELLO)
        with pytest.raises(InvalidRequestError):
            await anext(stream)
        return [event async for event in stream]

    if how == "sync":
        stream = client_of(api, loop).stream(HELLO)
        with pytest.raises(InvalidRequestError):
            next(stream)
        assert list(stream) == []
    else:
        assert waited(api, loop, work) == []
    assert len(loop.asked) == 1


@EVERY
def test_concurrent_streams_of_one_client_are_separate(api: str, loop: Loopback) -> None:
    turns = {word: threading.Event() for word in ("one", "two")}

    def answers(path: str, payload: Any) -> Answer:
        word = next(word for word in turns if word in json.dumps(payload))
        first, rest = cut_after(api, word, f" and {word} again")
        return sse(*first, turns[word], *rest)

    loop.answers = answers
    client = client_of(api, loop)

    def asking(word: str) -> ChatRequest:
        return msgspec.structs.replace(
            HELLO, messages=[ChatMessage(role="user", contents=[TextContent(text=f"Say {word}.")])]
        )

    with client.stream(asking("one")) as one, client.stream(asking("two")) as two:
        for stream, word in ((one, "one"), (two, "two")):
            while stream.response.text != word:
                next(stream)
        turns["two"].set()
        assert two.read().text == "two and two again"
        turns["one"].set()
        assert one.read().text == "one and one again"


@EVERY
def test_concurrent_async_streams_of_one_client_are_separate(api: str, loop: Loopback) -> None:
    def answers(path: str, payload: Any) -> Answer:
        number = json.dumps(payload).split("Say ")[1].split(".")[0]
        return sse(*stream_of(api, f"{number} ", "is ", number))

    loop.answers = answers

    async def work(client: Any) -> list[str]:
        async def ask(number: int) -> str:
            message = ChatMessage(role="user", contents=[TextContent(text=f"Say {number}.")])
            async with client.stream(msgspec.structs.replace(HELLO, messages=[message])) as stream:
                return (await stream.read()).text

        return await asyncio.gather(*(ask(number) for number in range(20)))

    assert waited(api, loop, work) == [f"{number} is {number}" for number in range(20)]


# -- given clients of the SDKs -----------------------------------------------------------------------------------------


def test_close_leaves_a_given_sdk_client_open(loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of("openai-chat", "Hi."))
    sdk = openai.OpenAI(**options("openai-chat", loop.url))
    with chat_client("openai-chat", model="m", sdk=sdk) as client:
        assert client.complete(HELLO).text == "Hi."
    assert not sdk.is_closed()
    with client_of("openai-chat", loop, max_retries=1) as own:
        pass
    assert own.sdk.is_closed()
    sdk.close()


def test_chat_client_refuses_an_async_sdk_client_and_the_reverse() -> None:
    with pytest.raises(TypeError, match="async_chat_client"):
        chat_client("openai-chat", sdk=openai.AsyncOpenAI(api_key="k"))
    with pytest.raises(TypeError, match="not asynchronous"):
        async_chat_client("anthropic-messages", sdk=anthropic.Anthropic(api_key="k"))


@WAYS
def test_credentials_that_cannot_be_refreshed_raise_authentication_error(how: str, loop: Loopback) -> None:
    class Expired(Credentials):
        def refresh(self, request: Any) -> None:
            raise RefreshError("no such account")

    sdk = genai.Client(
        vertexai=True, credentials=Expired(), project="p", location="l", http_options={"base_url": loop.url}
    )
    api = "google-generate-content"

    def ask() -> ChatResponse:
        if how == "sync":
            return chat_client(api, model="m", sdk=sdk).complete(HELLO)
        return asyncio.run(async_chat_client(api, model="m", sdk=sdk).complete(HELLO))

    with pytest.raises(AuthenticationError, match="no such account") as caught:
        ask()
    assert isinstance(caught.value.__cause__, RefreshError)
    assert loop.asked == []


def test_fields_that_the_sdk_adds_to_a_body_do_not_change_the_request(loop: Loopback) -> None:
    """Google's SDK writes into the payload, which shares its values with the request."""
    api = "google-generate-content"
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    request = adapter(api).decode_request(
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "labels": {"team": "blue"}}
    )
    before = contentmodel.dumps(request)
    client = client_of(api, loop, http_options={"extra_body": {"labels": {"cost": "high"}}})
    client.complete(request)
    assert loop.asked[-1][2]["labels"] == {"team": "blue", "cost": "high"}
    assert contentmodel.dumps(request) == before


def test_azure_and_vertex_clients_put_the_model_into_the_path(loop: Loopback) -> None:
    """These SDK clients read the payload, since the path contains the model's name."""
    azure = openai.AzureOpenAI(azure_endpoint=loop.url, api_key="secret", api_version="2026-01-01", max_retries=0)
    loop.answers = lambda path, payload: Answer(answer_of("openai-chat", "Hi."))
    assert chat_client("openai-chat", model="m", sdk=azure).complete(HELLO).text == "Hi."
    assert loop.asked[-1][0] == "/openai/deployments/m/chat/completions?api-version=2026-01-01"
    vertex = anthropic.AnthropicVertex(
        region="r", project_id="p", access_token="secret", base_url=loop.url, max_retries=0
    )
    loop.answers = lambda path, payload: Answer(answer_of("anthropic-messages", "Hi."))
    assert chat_client("anthropic-messages", model="m", sdk=vertex).complete(HELLO).text == "Hi."
    path, _, payload = loop.asked[-1]
    assert path == "/projects/p/locations/r/publishers/anthropic/models/m:rawPredict"
    assert "model" not in payload


def test_gemini_on_vertex_has_the_publisher_in_the_path(loop: Loopback) -> None:
    api = "google-generate-content"
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    client = client_of(api, loop, vertexai=True)
    for model, path in (
        ("m", "publishers/google/models/m"),
        ("meta/m", "publishers/meta/models/m"),
        ("publishers/google/models/m", "publishers/google/models/m"),
    ):
        client.model = model
        assert client.complete(HELLO).text == "Hi."
        assert loop.asked[-1][0] == f"/v1beta1/{path}:generateContent"
    client.model = "../secrets"
    with pytest.raises(ValueError, match="is not a model name"):
        client.complete(HELLO)


@pytest.mark.parametrize("vertex", [False, True])
def test_gemini_client_names_the_host_of_its_sdk(vertex: bool, loop: Loopback) -> None:
    api = "google-generate-content"
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    client = client_of(api, loop, vertexai=vertex)
    client.complete(msgspec.structs.replace(HELLO, tools=[HostedTool(kind="web_search"), FunctionTool(name="f")]))
    assert ("toolConfig" in loop.asked[-1][2]) is not vertex


def test_google_client_converts_timeouts_in_seconds(loop: Loopback) -> None:
    api = "google-generate-content"
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    client_of(api, loop).complete(HELLO, timeout=7.2)
    client_of(api, loop, timeout=8.2).complete(HELLO)
    assert [headers["x-server-timeout"] for _, headers, _ in loop.asked] == ["8", "9"]


@EVERY
def test_default_headers_and_timeout_have_the_same_name_for_every_sdk(api: str, loop: Loopback) -> None:
    loop.answers = lambda path, payload: Answer(answer_of(api, "Hi."))
    client = client_of(api, loop, default_headers={"x-team": "blue"}, timeout=PATIENCE)
    assert client.complete(HELLO).text == "Hi."
    assert loop.asked[-1][1]["x-team"] == "blue"
    never = threading.Event()
    loop.answers = lambda path, payload: sse(never)
    with pytest.raises(TimeoutExceeded):
        client_of(api, loop, timeout=0.2).complete(HELLO)
    never.set()
