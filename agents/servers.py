"""The processes and servers of a run: the agent, the gateway, a recorder, and a proxy that refuses all other hosts."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from contentmodel_conformance.server.serving import serving

KEY = "dummy-key"
"""The key of all agents. No provider gets it."""


# -- processes ---------------------------------------------------------------------------------------------------------


@dataclass
class EndedProcess:
    """A process that has ended, with its output. `code` is None if it reached its time limit."""

    code: int | None
    out: str
    err: str
    seconds: float


def run(
    command: list[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    log: Path,
    attend: Callable[[subprocess.Popen[bytes]], None] | None = None,
    reads: bool = False,
) -> EndedProcess:
    """Run a command in a session of its own, with a time limit. All processes of the session are killed at the end.

    `attend` is called while the command runs. If `reads` is set, it can write to the command's standard input.
    """
    began = time.monotonic()
    out, err = log.with_suffix(".out"), log.with_suffix(".err")
    with out.open("wb") as standard, err.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
            stdout=standard,
            stderr=errors,
            start_new_session=True,
        )
        try:
            if attend is not None:
                attend(process)
            if process.stdin is not None:
                process.stdin.close()
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end_session(process)
    return EndedProcess(code, _text(out), _text(err), time.monotonic() - began)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children: those of its group, and those that created their own group."""
    _kill(os.killpg, process.pid)
    for child in _session(process.pid):
        _kill(os.kill, child)
    process.wait()


def _kill(kill: Any, number: int) -> None:
    try:
        kill(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _session(number: int) -> Iterator[int]:
    """Yield the processes of a session, where the system lists them in /proc."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == number:
            yield int(stat.parent.name)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


# -- the gateway -------------------------------------------------------------------------------------------------------


@contextmanager
def gateway(config: Path, log: Path) -> Iterator[str]:
    """Run `contentmodel gateway` with a configuration file, and yield its URL."""
    port = free_port()
    command = [sys.executable, "-m", "contentmodel.cli", "gateway", str(config), "--port", str(port)]
    with log.open("wb") as lines:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _await(url, process, log)
            yield url
        finally:
            end_session(process)


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"the gateway ended with code {process.returncode}: {_text(log)[-2000:]}")
        try:
            httpx2.get(url, trust_env=False)
        except httpx2.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the gateway did not start in 30 seconds")


def reports_of(log: Path) -> list[dict[str, Any]]:
    """Return the summaries that the gateway logged, one for each request."""
    return [json.loads(line) for line in _text(log).splitlines() if line.startswith("{")]


def free_port() -> int:
    """Return the number of a port that no process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        port: int = made.getsockname()[1]
        return port


# -- the recorder ------------------------------------------------------------------------------------------------------


@dataclass
class Exchange:
    """A request of an agent and its answer. `name` is the gateway's id of the request."""

    method: str
    path: str
    body: bytes
    status: int | None = None
    name: str | None = None
    upstream_id: str | None = None
    answer: bytearray = field(default_factory=bytearray)
    broke: bool = False

    @property
    def payload(self) -> Any:
        """The body as JSON; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Recorder:
    """An ASGI app that passes requests to the gateway, and records them with their answers."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self._client = httpx2.AsyncClient(trust_env=False, timeout=300)
        self.exchanges: list[Exchange] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        path = scope["raw_path"].decode() + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
        record = Exchange(scope["method"], path, body)
        self.exchanges.append(record)
        await self._pass(record, [(name, value) for name, value in scope["headers"] if name != b"host"], send)

    async def _pass(self, record: Exchange, headers: list[tuple[bytes, bytes]], send: Any) -> None:
        request = self._client.build_request(
            record.method, self._gateway + record.path, headers=headers, content=record.body
        )
        response = await self._client.send(request, stream=True)
        record.status, record.name = response.status_code, response.headers.get("contentmodel-request-id")
        # The loopback server numbers its answers. The gateway passes the number on, in the header of the client's API.
        ids = (response.headers.get(name) for name in ("x-request-id", "request-id"))
        record.upstream_id = next((name for name in ids if name), None)
        try:
            await send({"type": "http.response.start", "status": response.status_code, "headers": response.headers.raw})
            async for chunk in response.aiter_raw():
                record.answer += chunk
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except httpx2.HTTPError:
            record.broke = True
            raise
        finally:
            await response.aclose()


@contextmanager
def recorder(gateway: str) -> Iterator[tuple[str, list[Exchange]]]:
    """Run a recorder in front of a gateway, and yield its URL and its exchanges."""
    app = Recorder(gateway)
    with serving(app, lifespan="off") as url:
        yield url, app.exchanges


# -- other hosts -------------------------------------------------------------------------------------------------------


@contextmanager
def refusing_proxy() -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that refuses every request, and yield its URL and the hosts of the refused requests."""
    hosts: list[str] = []
    listening = socket.create_server(("127.0.0.1", 0))
    loop = asyncio.new_event_loop()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode("latin-1", "replace")
        found = re.match(r"[A-Z]+ (?:https?://)?([^/ ]+)", line)
        hosts.append(found[1] if found else line.strip())
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def serve() -> None:
        await asyncio.start_server(refuse, sock=listening)

    loop.run_until_complete(serve())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", hosts
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        listening.close()
