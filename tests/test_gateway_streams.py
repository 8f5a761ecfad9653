"""Streams of the gateway: keep-alives, clients that leave, and Gemini's streams without server-sent events."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import APIS
from gateways import Gateways, config_for, gateway
from providers import PROVIDERS, OfficialClient, path_of
from raw_upstreams import CUT, HOLD, LIMIT, RawUpstream, Step, head, stream
from test_gateway_errors import OTHER_PAIRS, QUICK, TEXT, frames
from test_official_clients import decoded, text_of

ARRAY = "/v1beta/models/m:streamGenerateContent"


@pytest.fixture(scope="module")
def gateways(upstream: RawUpstream) -> Iterator[Gateways]:
    limits = {"heartbeat": 0.02}
    with Gateways(lambda api: config_for(api, upstream.base_url(api), limits=limits)) as running:
        yield running


def paused(api: str) -> list[Step]:
    """Return a stream that waits for `release` in its middle."""
    sent = frames(api)
    return stream(*sent[: len(sent) // 2], HOLD, *sent[len(sent) // 2 :])


async def _streamed_later(reader: OfficialClient) -> Any:
    """Read a stream with the async client, and close the client in the same event loop."""
    try:
        return await reader.streamed_later()
    finally:
        await (reader.later.close if hasattr(reader.later, "close") else reader.later.aclose)()


@pytest.mark.parametrize(("api", "target"), OTHER_PAIRS)
def test_official_client_reads_through_keep_alives(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    reader = gateways.reader(api, target)
    for read in (lambda: reader.streamed()[0], lambda: asyncio.run(_streamed_later(gateways.new_reader(api, target)))):
        upstream.set_answers(paused(target))

        def release() -> None:
            assert upstream.held.wait(LIMIT)
            threading.Event().wait(0.2)
            upstream.release()

        releasing = threading.Thread(target=release)
        releasing.start()
        assert text_of(decoded(api, read())) == TEXT
        releasing.join()


@pytest.mark.parametrize(("api", "target"), QUICK)
def test_stream_that_waits_has_keep_alives_and_ends_with_the_counts_of_losses(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(paused(target))
    read = b""
    with gateways.stream(api, target) as response:
        for chunk in response.iter_bytes():
            read += chunk
            if read.endswith((b'ping"}\n\n', b": keep-alive\n", b"\n\n\n\n")):
                upstream.release()
    last = b": contentmodel-losses"
    assert (last in read) is (api != "google-generate-content")
    assert last not in read or read.rsplit(last, 1)[1].count(b"\n") == 1


def test_stream_of_the_same_api_has_no_keep_alives(upstream: RawUpstream, gateways: Gateways) -> None:
    for api in APIS:
        upstream.set_answers(stream(*frames(api), b": a comment\r\n\r\n"))
        with gateways.stream(api, api) as response:
            assert response.read() == b"".join(frames(api)) + b": a comment\r\n\r\n"


@pytest.mark.parametrize("target", APIS)
def test_gemini_stream_without_alt_sse_is_an_array(target: str, upstream: RawUpstream, gateways: Gateways) -> None:
    sent = frames(target)
    if target == "google-generate-content":
        upstream.set_answers(stream(b"[" + b",\n".join(f[6:].strip() for f in sent) + b"]", kind="application/json"))
    else:
        upstream.set_answers(paused(target))
        threading.Timer(0.1, upstream.release).start()
    response = gateways.post("google-generate-content", target, path=ARRAY)
    assert response.headers["content-type"] == "application/json"
    elements = response.json()
    assert "".join(p["text"] for e in elements for p in e["candidates"][0]["content"].get("parts", ())) == TEXT
    assert "alt=sse" not in upstream.requests[0].target
    upstream.set_answers(stream(*sent[: len(sent) // 2], ends=False))
    if target != "google-generate-content":
        assert gateways.post("google-generate-content", target, path=ARRAY).json()[-1]["error"]["code"] == 500


# -- clients that leave ------------------------------------------------------------------------------------------------


def steps_of(where: str, target: str) -> list[Step]:
    """Return an answer that waits before its head, before its body, or in the middle of it."""
    return {
        "before the head": [HOLD],
        "before the body": stream(HOLD),
        "in the stream": paused(target),
        "in the body": [head(content_length=99) + b"{", HOLD],
    }[where]


@pytest.mark.parametrize("where", ["before the head", "before the body", "in the stream", "in the body"])
@pytest.mark.parametrize(("api", "target"), [*QUICK, ("openai-chat", "openai-chat")])
def test_client_that_leaves_ends_the_request_of_the_upstream(
    api: str, target: str, where: str, upstream: RawUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    loops: list[asyncio.AbstractEventLoop] = []
    made = config_for(target, upstream.base_url(target))
    with gateway(made, wrap=lambda app: _recording_loops(app, loops)) as (url, app):
        logger = logging.getLogger("uvicorn")
        logger.addHandler(caplog.handler)
        logging.getLogger("uvicorn.error").setLevel(logging.INFO)
        upstream.set_answers(steps_of(where, target))
        streams = where != "in the body"
        with _asked(api, url, streams=streams) as asked:
            assert upstream.held.wait(LIMIT)
            if where == "in the stream":
                assert asked.recv(1)
            before = len(loops)
        assert upstream.client_left.wait(LIMIT)
        report = _completed(app)
        assert (report.ended, before) == ("left", 1)
        assert _tasks(loops[0]) == 0
        logger.removeHandler(caplog.handler)
    assert _warnings(caplog) == []


def test_client_that_leaves_while_it_sends_causes_no_error(
    upstream: RawUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    with gateway(config_for("openai-chat", upstream.base_url("openai-chat"))) as (url, app):
        logger = logging.getLogger("uvicorn")
        logger.addHandler(caplog.handler)
        logging.getLogger("uvicorn.error").setLevel(logging.INFO)
        upstream.set_answers([CUT])
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as asked:
            asked.sendall(
                f"POST /v1/chat/completions HTTP/1.1\r\nhost: [::1]:{port}\r\ncontent-length: 99\r\n\r\n{{".encode()
            )
            _wait_for(lambda: len(app.state.reports._reports) == 1)
        _wait_for(lambda: next(iter(app.state.reports._reports.values())).ended == "left")
        logger.removeHandler(caplog.handler)
    assert _warnings(caplog) == []
    assert upstream.requests == []


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings and errors, except those of async clients that earlier tests left open."""
    messages = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    return [message for message in messages if "AsyncClient.aclose" not in message]


def _recording_loops(app: Any, loops: list[asyncio.AbstractEventLoop]) -> Any:
    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            loops.append(asyncio.get_running_loop())
        await app(scope, receive, send)

    return noting


def _asked(api: str, url: str, *, streams: bool) -> socket.socket:
    """Send a request, and return the socket."""
    path, payload = path_of(api, streams=streams), PROVIDERS[api].request
    if streams and path == path_of(api):
        payload = {**payload, "stream": True}
    body = json.dumps(payload).encode()
    host = url.removeprefix("http://")
    asked = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    asked.sendall(f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    return asked


def _wait_for(condition: Any) -> None:
    for _ in range(LIMIT * 100):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("the condition did not become true")


def _completed(app: Any) -> Any:
    report = next(reversed(app.state.reports._reports.values()))
    _wait_for(lambda: report.seconds is not None)
    return report


def _tasks(loop: asyncio.AbstractEventLoop) -> int:
    """Return the number of tasks of requests that are still running."""

    async def count() -> int:
        for _ in range(LIMIT * 100):
            names = [repr(task.get_coro()) for task in asyncio.all_tasks()]
            running = [name for name in names if "Endpoint" in name or "anext" in name or "_left" in name]
            if not running:
                break
            await asyncio.sleep(0.01)
        return len(running)

    return asyncio.run_coroutine_threadsafe(count(), loop).result(LIMIT)


def test_streams_of_one_upstream_use_one_connection(upstream: RawUpstream, gateways: Gateways) -> None:
    for api in APIS:
        upstream.set_answers(stream(*frames(api)))
        gateways.reader(APIS[APIS.index(api) - 2], api).streamed()
        before = upstream.connections
        for _ in range(3):
            gateways.reader(APIS[APIS.index(api) - 2], api).streamed()
        assert upstream.connections == before, api
