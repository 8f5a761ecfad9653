"""Limits of the gateway: sizes of requests and answers, and requests at the same time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from conftest import APIS
from gateways import ASKED, Gateways, config_for
from raw_upstreams import HOLD, LIMIT, RawUpstream, answer
from test_gateway_errors import check_error, outcome, whole

MOST = 20_000


@pytest.fixture(scope="module")
def gateways(upstream: RawUpstream) -> Iterator[Gateways]:
    limits = {"body_bytes": MOST, "answer_bytes": MOST, "requests": 1}
    with Gateways(lambda api: config_for(api, upstream.base_url(api), limits=limits)) as running:
        yield running


@pytest.mark.parametrize("size", [MOST + 1, 3_000_000])
@pytest.mark.parametrize("api", APIS)
def test_request_that_is_too_large_is_refused(api: str, size: int, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.will(answer(whole("openai-chat")))
    response = gateways.post(api, "openai-chat", content=b"x" * size)
    assert response.status_code == (400 if api == "google-generate-content" else 413)
    assert f"{MOST:,} bytes" in response.json()["error"]["message"]
    chunked = gateways.post(api, "openai-chat", content=(b"x" * 4096 for _ in range(size // 4096 + 1)))
    assert chunked.status_code == response.status_code
    assert upstream.requests == []
    assert gateways.report("openai-chat").error == "too_large"


def test_length_that_is_not_the_size_of_the_body_is_refused_by_the_server(gateways: Gateways) -> None:
    path, _ = ASKED["openai-chat"]
    with socket.create_connection(("127.0.0.1", gateways.port("openai-chat")), LIMIT) as asked:
        asked.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{{}}{{}}\r\n\r\n".encode())
        read = b""
        while chunk := asked.recv(65536):
            read += chunk
    assert b"names no model" in read
    assert b"400 Bad Request" in read


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize("api", APIS)
def test_answer_that_is_too_large_is_an_error(api: str, target: str, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.will(answer(whole(target)[:-1] + b" " * MOST + b"}"))
    check_error(api, outcome(gateways.reader(api, target)), "server", "answer_bytes")


@pytest.mark.parametrize("api", APIS)
def test_too_many_requests_are_an_overload(api: str, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.will([HOLD, *answer(whole("openai-chat"))])
    first = threading.Thread(target=gateways.post, args=("openai-chat", "openai-chat"))
    first.start()
    assert upstream.held.wait(LIMIT)
    response = gateways.post(api, "openai-chat")
    check_error(api, outcome(gateways.reader(api, "openai-chat")), "overloaded", "too many requests")
    assert response.headers["retry-after"] == "1"
    upstream.release()
    first.join()
    upstream.will(answer(whole("openai-chat")))
    assert gateways.post(api, "openai-chat").status_code == 200
