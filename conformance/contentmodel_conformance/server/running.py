"""Run the loopback server: in a thread for tests, in the foreground for the command."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FrameType, TracebackType
from typing import Any, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from contentmodel.rules import Violation
from contentmodel_conformance.server.app import DELTA_SIZE, Loopback
from contentmodel_conformance.server.endpoints import ENDPOINTS, Endpoint
from contentmodel_conformance.server.records import Recorded
from contentmodel_conformance.server.script import TurnLike
from contentmodel_conformance.server.serving import Server

_GRACE = 1
"""The time in seconds that running functions of a script have when the server stops."""


class _Protocol(H11Protocol):
    """Steps its transport to the app, so that the app can close the connection."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # asyncio sets it only on sockets that it created. Without it, every answer waits 40 ms for an acknowledgement.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.app_state = {**self.app_state, "transport": transport}


class _Uvicorn(Server):
    """A server that does not wait for slow clients when it stops."""

    def __init__(self, loopback: Loopback) -> None:
        config = uvicorn.Config(
            loopback.app,
            loop="asyncio",
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
        )
        super().__init__(config, stopping=loopback.stopping)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Abort open connections.
        while accepting := asyncio.all_tasks() - self.server_state.tasks - {asyncio.current_task()}:
            await asyncio.wait(accepting)
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        if tasks := set(self.server_state.tasks):
            _, late = await asyncio.wait(tasks, timeout=_GRACE)
            for task in late:
                task.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Unlike uvicorn, do not raise the signal again: a signal is a normal way to stop.
        self.force_exit = self.stopping.is_set()
        self.stop()


class LoopbackServer:
    """A server on this machine that answers every API from a script, and records what clients send.

    As a context manager, it listens while the block runs. `script` is a list of turns: responses, `Turn`s, functions
    from a request to a response, texts, or dicts in the format of script files. They are answered in order, for all
    APIs. When no turn is left, the answer is an error; with `repeat`, the script begins again. `delta_size` is the
    number of characters per text delta in a stream (None: all). `on_request` is called in the server's thread with each
    record, when its answer is ready and before it is sent.

    Raises ScriptError if an item of the script is no turn.
    """

    def __init__(
        self,
        script: Iterable[TurnLike],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        repeat: bool = False,
        delta_size: int | None = DELTA_SIZE,
        endpoints: Sequence[Endpoint] = ENDPOINTS,
        on_request: Callable[[Recorded], object] | None = None,
    ) -> None:
        self._loopback = Loopback(
            script, repeat=repeat, delta_size=delta_size, endpoints=endpoints, on_request=on_request
        )
        self._place = (host, port)
        self._socket: socket.socket | None = None
        self._server: _Uvicorn | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._url: str | None = None

    # -- the address and the recorded requests -----------------------------------------------------------------

    @property
    def url(self) -> str:
        """The root of the server, without a slash at its end."""
        if self._url is None:
            raise RuntimeError("the server has not started: use it in a with statement, or call start()")
        return self._url

    def base_url(self, api: str, dialect: str | None = None) -> str:
        """Return the base URL for the official client of an API, or of a host that has paths of its own.

        Raises LookupError if the server lacks the API or the host.
        """
        for endpoint in (one for every in self._loopback.endpoints for one in (every, *every.hosts)):
            if (endpoint.api, endpoint.dialect) == (api, dialect):
                return self.url + endpoint.base
        apis = ", ".join(endpoint.api for endpoint in self._loopback.endpoints)
        raise LookupError(f"the server has no endpoint of {api!r}: it has those of {apis}")

    @property
    def requests(self) -> list[Recorded]:
        """Every request so far, in the order in which they arrived."""
        return self._loopback.requests

    @property
    def turns_left(self) -> int:
        """The number of turns of the script that are not done; with `repeat`, in this round."""
        script = self._loopback.script
        return len(script.turns) - (script.done % len(script.turns) if script.repeat else script.done)

    def check(self) -> list[Violation]:
        """Return what the APIs would refuse, ignore or answer badly in the requests so far."""
        return [violation for record in self.requests for violation in record.check()]

    # -- lifetime ----------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Bind the port. Clients can connect now, and are answered once the server runs. Raises OSError."""
        if self._server is not None:
            raise RuntimeError("the server has already started: create another LoopbackServer for a second one")
        host, port = self._place
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        name = f"[{host}]" if ":" in host else host
        self._url = f"http://{name}:{self._socket.getsockname()[1]}"
        self._server = _Uvicorn(self._loopback)

    def run(self) -> None:
        """Answer until interrupted (Ctrl-C, SIGTERM), or until `stop` is called from another thread."""
        if self._server is None:
            self.listen()
        assert self._server is not None
        assert self._socket is not None
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def start(self) -> Self:
        """Listen, and answer in a new thread until `stop`."""
        self.listen()
        assert self._server is not None
        self._thread = threading.Thread(target=self._run_in_thread, name="contentmodel-loopback", daemon=True)
        self._thread.start()
        self._server.has_begun.wait()
        if self._failure is not None:
            raise RuntimeError("the server did not start") from self._failure
        return self

    def _run_in_thread(self) -> None:
        assert self._server is not None
        try:
            self.run()
        except BaseException as error:
            self._failure = error
        finally:
            self._server.has_begun.set()

    def stop(self) -> None:
        """Stop the server, and abort answers in progress. A second call does nothing."""
        if self._server is not None:
            self._server.stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
