"""The gateway as a process of the system: signals, a new configuration while it runs, and several workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from providers import PROVIDERS
from raw_upstreams import HOLD, LIMIT, RawUpstream, answer, raw_upstream, stream
from test_gateway_errors import frames, whole
from test_gateway_operation import samples

pytestmark = pytest.mark.slow

CHAT = "openai-chat"
ASKED = {**PROVIDERS[CHAT].request, "model": "m"}


@pytest.fixture(scope="module")
def up() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


class Running:
    """A gateway in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines = process, list[str]()
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self.wait_for("listening on").removeprefix("listening on ")
        self.client = httpx2.Client(base_url=self.url, trust_env=False, timeout=LIMIT)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line.strip())
                self._changed.notify_all()

    def wait_for(self, text: str, number: int = 1) -> str:
        """Wait until so many lines of the log have a text. Return the last of them."""
        with self._changed:
            found = self._changed.wait_for(lambda: len(self._having(text)) >= number, LIMIT)
            assert found, self.lines
            return self._having(text)[number - 1]

    def _having(self, text: str) -> list[str]:
        return [line for line in self.lines if text in line]

    def ask(self, **fields: Any) -> httpx2.Response:
        return self.client.post("/v1/chat/completions", json={**ASKED, **fields})

    def send(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)


@contextmanager
def running(path: Path, *options: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "contentmodel.cli", "gateway", str(path), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        gateway = Running(process)
        for _ in range(LIMIT * 20):
            # With several workers, the socket listens before one of them has started.
            if gateway.client.get("/health/ready").status_code == 200:
                break
        yield gateway
        gateway.client.close()
    finally:
        process.terminate()
        process.wait(LIMIT)


def written(path: Path, up: RawUpstream, *, model: str = "m", **top: Any) -> Path:
    lines = [f"{key} = {json.dumps(value)}" for key, value in top.items()]
    lines += ["[upstreams.up]", f'api = "{CHAT}"', f'base_url = "{up.base_url(CHAT)}"', 'key = "none"', "retries = 0"]
    path.write_text("\n".join([*lines, "[[routes]]", 'to = "up"', f'model = "{model}"']))
    return path


def test_stop_refuses_new_requests_and_waits_for_streams(up: RawUpstream, tmp_path: Path) -> None:
    sent = frames(CHAT)
    up.set_answers(stream(*sent[:2], HOLD, *sent[2:]))
    with running(written(tmp_path / "g.toml", up)) as gateway:
        with gateway.client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}) as response:
            chunks = response.iter_raw()
            received = next(chunks)
            gateway.send(signal.SIGTERM)
            gateway.wait_for("stopping: 1 running requests")
            refused = gateway.ask()
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert "shutting down" in refused.json()["error"]["message"]
            ready = gateway.client.get("/health/ready")
            assert (ready.status_code, ready.json()["reason"]) == (503, "the gateway is shutting down")
            assert gateway.client.get("/health/live").status_code == 200
            up.release()
            received += b"".join(chunks)
        assert received.endswith(sent[-1])
        assert gateway.process.wait(LIMIT) == 0


def test_stop_cuts_streams_when_their_time_is_over(up: RawUpstream, tmp_path: Path) -> None:
    up.set_answers(stream(*frames(CHAT)[:2], HOLD))
    with running(written(tmp_path / "g.toml", up, drain_seconds=0)) as gateway:
        with gateway.client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}) as response:
            chunks = response.iter_raw()
            next(chunks)
            gateway.send(signal.SIGTERM)
            with pytest.raises(httpx2.RemoteProtocolError):
                list(chunks)
        assert gateway.process.wait(LIMIT) == 0
        gateway.wait_for("1 requests were still running after 0 seconds (drain_seconds)")


def test_second_interrupt_ends_the_gateway_at_once(up: RawUpstream, tmp_path: Path) -> None:
    up.set_answers(stream(*frames(CHAT)[:2], HOLD))
    with (
        running(written(tmp_path / "g.toml", up)) as gateway,
        gateway.client.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}) as response,
    ):
        chunks = response.iter_raw()
        next(chunks)
        gateway.send(signal.SIGINT)
        gateway.wait_for("stopping: 1 running")
        gateway.send(signal.SIGINT)
        assert gateway.process.wait(LIMIT) == 0


def test_signal_and_watch_use_a_changed_file_for_new_requests(up: RawUpstream, tmp_path: Path) -> None:
    """A file with faults changes nothing, and the gateway names what needs a restart."""
    up.set_answers(answer(whole(CHAT)))
    path = written(tmp_path / "g.toml", up, model="first")
    with running(path) as gateway:
        assert gateway.ask().status_code == 200
        path.write_text(path.read_text() + "\nto = 1")
        gateway.send(signal.SIGHUP)
        gateway.wait_for("the configuration stays as it is")
        gateway.ask()
        written(path, up, model="second", store=str(tmp_path / "new.sqlite"))
        gateway.send(signal.SIGHUP)
        assert "a restart is needed for store" in gateway.wait_for("as it is now")
        gateway.ask()
    assert [request.payload["model"] for request in up.requests] == ["first", "first", "second"]
    with running(path, "--watch") as gateway:
        written(path, up, model="third")
        gateway.wait_for("as it is now")
        gateway.ask()
    assert up.requests[-1].payload["model"] == "third"


def test_workers_share_reports_metrics_and_signals(up: RawUpstream, tmp_path: Path) -> None:
    up.set_answers(answer(whole(CHAT)))
    path = written(tmp_path / "g.toml", up, store=str(tmp_path / "g.sqlite"))
    asked = 24
    with running(path, "--workers", "2") as gateway:
        ids = []
        for _ in range(asked):
            # Each request has a connection of its own, so both processes get some.
            response = httpx2.post(f"{gateway.url}/v1/chat/completions", json=ASKED)
            ids.append(response.headers["contentmodel-request-id"])
        for _ in range(LIMIT * 20):
            listed = httpx2.get(f"{gateway.url}/contentmodel/requests?limit=99").json()
            if len(listed["requests"]) == asked:
                break
        assert listed["scope"] == "store"
        assert {one["id"] for one in listed["requests"]} == set(ids)
        for name in ids[:6]:
            assert httpx2.get(f"{gateway.url}/contentmodel/losses/{name}").json()["id"] == name
        key = ("contentmodel_requests_total", CHAT, "*", "up", "m", "200")
        for _ in range(LIMIT * 20):
            found = samples(httpx2.get(f"{gateway.url}/metrics").text)
            if found.get(key) == asked:
                break
        assert found[key] == asked
        written(path, up, model="second", store=str(tmp_path / "g.sqlite"))
        gateway.send(signal.SIGHUP)
        gateway.wait_for("as it is now", 2)
        httpx2.post(f"{gateway.url}/v1/chat/completions", json=ASKED)
        assert up.requests[-1].payload["model"] == "second"
        gateway.send(signal.SIGTERM)
        assert gateway.process.wait(LIMIT) == 0


def test_workers_lose_no_stream_when_they_are_stopped(up: RawUpstream, tmp_path: Path) -> None:
    sent = frames(CHAT)
    up.set_answers(stream(*sent[:2], HOLD, *sent[2:]))
    streams = 8
    ended: list[bytes] = []
    begun = threading.Semaphore(0)

    def read(url: str) -> None:
        body = {**ASKED, "stream": True}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=LIMIT) as response:
            received = b""
            for chunk in response.iter_raw():
                begun.release() if not received else None
                received += chunk
        ended.append(received)

    with running(written(tmp_path / "g.toml", up), "--workers", "2") as gateway:
        readers = [threading.Thread(target=read, args=(gateway.url,)) for _ in range(streams)]
        for reader in readers:
            reader.start()
        for _ in readers:
            assert begun.acquire(timeout=LIMIT)
        gateway.send(signal.SIGTERM)
        gateway.wait_for("stopping: ")
        up.release()
        for reader in readers:
            reader.join(LIMIT)
        assert gateway.process.wait(LIMIT) == 0
    assert len(ended) == streams
    assert all(received.endswith(sent[-1]) for received in ended)
