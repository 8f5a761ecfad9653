"""Keep the requests and answers of both sides of a gateway in a folder, one JSON file for each request.

A file has the texts of conversations, so the folder is for its owner only. It has no headers and no keys.
"""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import httpx2
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contentmodel.gateway.front import without
from contentmodel.gateway.report import Report, logger
from contentmodel.json import JsonObject, write

CURRENT: ContextVar[Recording | None] = ContextVar("recording", default=None)
"""The recording of the request that is being answered."""


def private_folder(path: str | Path) -> Path:
    """Create a folder that only its owner can read. Raise OSError if it cannot be created."""
    folder = Path(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


class Body:
    """A body that arrives in pieces."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self.status: int | None = None
        self.media_type = ""
        self._data, self._secrets = bytearray(), secrets

    def add(self, data: bytes) -> None:
        """Add a piece."""
        self._data += data

    def shown(self) -> JsonObject:
        """Return the body for JSON: as a text, or in base64 if it is none."""
        data = without(bytes(self._data), self._secrets)
        head = {} if self.status is None else {"status": self.status, "media_type": self.media_type}
        try:
            return {**head, "text": data.decode("utf-8")}
        except UnicodeDecodeError:
            return {**head, "base64": base64.b64encode(data).decode()}


class Recording:
    """One request, and its answers."""

    def __init__(self) -> None:
        self.request, self.answer = Body(), Body()
        self._tries: list[tuple[JsonObject, Body]] = []

    def sent(self, sender: Any, path: str, body: bytes, response: httpx2.Response) -> None:
        """Take a request to an upstream, and its response while it is read."""
        answer, request = Body(sender.secrets), Body(sender.secrets)
        answer.status, answer.media_type = response.status_code, response.headers.get("content-type", "")
        request.add(body)
        self._tries.append(
            ({"upstream": sender.name, "api": sender.api, "path": path, "request": request.shown()}, answer)
        )
        response.stream = _Copied(response.stream, answer)

    def save(self, folder: Path, report: Report) -> None:
        """Write the file of the request."""
        client = {"request": self.request.shown(), "answer": self.answer.shown()}
        upstreams = [{**head, "answer": answer.shown()} for head, answer in self._tries]
        value = {"id": report.id, "client": client, "upstreams": upstreams, "report": report}
        path = folder / f"{report.started:.3f}-{report.id}.json"
        try:
            with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
                file.write(write(value))
        except OSError as error:
            logger.error("request %s was not recorded: %s", report.id, error.strerror)


class _Copied(httpx2.AsyncByteStream):
    """A stream whose chunks are also added to a body."""

    def __init__(self, stream: Any, body: Body) -> None:
        self._stream, self._body = stream, body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._body.add(chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class Recorder:
    """The ASGI middleware that records the requests of APIs. `key` is the key of the report in their scope."""

    def __init__(self, app: ASGIApp, folder: Path, key: str) -> None:
        self._app, self._folder, self._key = app, folder, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._key not in scope:
            await self._app(scope, receive, send)
            return
        recording = Recording()

        async def receive_body() -> Message:
            message = await receive()
            recording.request.add(message.get("body", b""))
            return message

        async def send_body(message: Message) -> None:
            if message["type"] == "http.response.start":
                recording.answer.status = message["status"]
                recording.answer.media_type = _media_type(message)
            recording.answer.add(message.get("body", b""))
            await send(message)

        token = CURRENT.set(recording)
        try:
            await self._app(scope, receive_body, send_body)
        finally:
            CURRENT.reset(token)
            recording.save(self._folder, scope[self._key])


def _media_type(message: Mapping[str, Any]) -> str:
    found = (value.decode("latin-1") for name, value in message.get("headers", ()) if name.lower() == b"content-type")
    return next(found, "")
