"""Limits of the gateway: sizes of requests and answers, and requests at the same time."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator

import pytest
import zstandard

from conftest import APIS
from gateways import Gateways, config_for
from providers import PROVIDERS, path_of
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


def _raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


def _two_frames(data: bytes) -> bytes:
    return zstandard.compress(data[:9]) + zstandard.compress(data[9:])


COMPRESS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("GZIP", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    ("deflate", zlib.compress),
    ("deflate", _raw_deflate),
    ("zstd", zstandard.compress),
    ("zstd", _two_frames),
    ("identity", bytes),
]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages"])
@pytest.mark.parametrize(("coding", "compress"), COMPRESS)
def test_compressed_request_is_read(
    coding: str, compress: Callable[[bytes], bytes], target: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(answer(whole(target)))
    body = json.dumps(PROVIDERS["openai-chat"].request).encode()
    headers = {"content-encoding": coding, "content-type": "application/json"}
    assert gateways.post("openai-chat", target, content=compress(body), headers=headers).status_code == 200
    sent = upstream.requests[0]
    assert "content-encoding" not in sent.headers
    assert sent.payload["messages"]


@pytest.mark.parametrize(
    ("coding", "body", "status", "message"),
    [
        ("gzip", gzip.compress(b"x" * 3_000_000), 413, f"{MAX_BYTES:,} bytes"),
        ("deflate", _raw_deflate(b"x" * 3_000_000), 413, f"{MAX_BYTES:,} bytes"),
        ("zstd", zstandard.compress(b"x" * 300_000_000), 413, f"{MAX_BYTES:,} bytes"),
        ("gzip", gzip.compress(b"{}")[:-3], 400, "not complete gzip data"),
        ("zstd", b"{}", 400, "not complete zstd data"),
        ("deflate", b"{}", 400, "not complete deflate data"),
        ("zstd", zstandard.compress(b"{}")[:-3], 400, "not JSON"),
        ("br", b"{}", 400, "use one of gzip, x-gzip, deflate, zstd, or none"),
        ("gzip, zstd", b"{}", 400, "content-encoding 'gzip, zstd'"),
    ],
)
def test_compressed_request_that_is_too_large_or_damaged_is_refused(
    coding: str, body: bytes, status: int, message: str, upstream: RawUpstream, gateways: Gateways
) -> None:
    upstream.set_answers(answer(whole("openai-chat")))
    response = gateways.post("openai-chat", "openai-chat", content=body, headers={"content-encoding": coding})
    assert response.status_code == status
    assert message in response.json()["error"]["message"]
    assert upstream.requests == []


def test_bytes_after_the_content_length_are_refused(gateways: Gateways) -> None:
    port = gateways.port("openai-chat")
    with socket.create_connection(("127.0.0.1", port), LIMIT) as asked:
        head = f"POST {path_of('openai-chat')} HTTP/1.1\r\nhost: localhost:{port}\r\ncontent-length: 2\r\n\r\n"
        asked.sendall(head.encode() + b"{}{}\r\n\r\n")
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
