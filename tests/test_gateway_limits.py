"""Limits of the gateway: sizes of requests and answers, and requests at the same time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from conftest import APIS
from gateways import Gateways, config_for
from providers import path_of
from raw_upstreams import HOLD, LIMIT, RawUpstream, answer
from test_gateway_errors import check_error, outcome, whole

MAX_BYTES = 20_000


@pytest.fixture(scope="module")
def gateways(upstream: RawUpstream) -> Iterator[Gateways]:
    limits = {"body_bytes": MAX_BYTES, "answer_bytes": MAX_BYTES, "requests": 1}
    with Gateways(lambda api: config_for(api, upstream.base_url(api), limits=limits)) as running:
        yield running


@pytest.mark.parametrize("size", [MAX_BYTES + 1, 3_000_000])
@pytest.mark.parametrize("api", APIS)
def test_request_that_is_too_large_is_refused(api: str, size: int, upstream: RawUpstream, gateways: Gateways) -> None:
    upstream.set_answers(answer(whole("openai-chat")))
    response = gateways.post(api, "openai-chat", content=b"x" * size)
    assert response.status_code == (400 if api == "google-generate-content" else 413)
    assert f"{MAX_BYTES:,} bytes" in response.json()["error"]["message"]
    chunked = gateways.post(api, "openai-chat", content=(b"x" * 4096 for _ in range(size // 4096 + 1)))
    assert chunked.status_code == response.status_code
    assert upstream.requests == []
    assert gateways.report("openai-chat").error == "too_large"


def test_bytes_after_the_content_length_are_refused(gateways: Gateways) -> None:
    with socket.create_connection(("127.0.0.1", gateways.port("openai-chat")), LIMIT) as asked:
        asked.sendall(
            f"POST {path_of('openai-chat')} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{{}}{{}}\r\n\r\n".encode()
        )
        read = b""
        while chunk := asked.recv(65536):
            read += chunk
    assert b"names no model" in read
    assert b"400 Bad Request" in read


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize("api", APIS)
def test_answer_that_is_too_large_becomes_a_server_error(
    api: str, target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(answer(whole(target)[:-1] + b" " * MAX_BYTES + b"}"))
    check_error(api, outcome(gateways.reader(api, target)), "server", "answer_bytes")


@pytest.mark.parametrize("api", APIS)
def test_request_above_the_limit_of_requests_gets_an_overloaded_error(
    api: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers([HOLD, *answer(whole("openai-chat"))])
    first = threading.Thread(target=gateways.post, args=("openai-chat", "openai-chat"))
    first.start()
    assert upstream.held.wait(LIMIT)
    response = gateways.post(api, "openai-chat")
    check_error(api, outcome(gateways.reader(api, "openai-chat")), "overloaded", "too many requests")
    assert response.headers["retry-after"] == "1"
    upstream.release()
    first.join()
    upstream.set_answers(answer(whole("openai-chat")))
    assert gateways.post(api, "openai-chat").status_code == 200
