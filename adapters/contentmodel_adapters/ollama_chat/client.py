"""A client for /api/chat that uses Ollama's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import write
from contentmodel.client import ClientError
from contentmodel.extras import needs_extra
from contentmodel_adapters.ollama_chat.blocks import API
from contentmodel_adapters.ollama_chat.http import HTTP
from contentmodel_adapters.shared import clients
from contentmodel_adapters.shared.calls import AsyncChunks, Call, Chunks

with needs_extra("ollama"):
    import httpx
    import ollama


def request_of(sdk: Any, call: Call, timeout: float | None) -> httpx.Request:
    """Return the request of a call.

    ollama 0.6.3 has no public way to send a payload unchanged and to read raw bytes: `chat` takes only typed arguments.
    This module uses its `httpx` client, and nothing else that is not public.
    """
    options = {} if timeout is None else {"timeout": timeout}
    request: httpx.Request = sdk._client.build_request(
        "POST", HTTP.generate.path, content=write(call.payload), **options
    )
    return request


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the SDK's options. Those named as in other SDKs are translated (`base_url`, `api_key`, ...).

    Raise ValueError if `max_retries` is set: the SDK does not retry.
    """
    if options.pop("max_retries", None):
        raise ValueError(f"{API}: Ollama's SDK does not retry: remove max_retries")
    headers = {**(options.pop("default_headers", None) or {}), **(options.pop("headers", None) or {})}
    key = options.pop("api_key", None)
    if key is not None:
        headers |= HTTP.key_headers(key)
    if "base_url" in options:
        options["host"] = str(options.pop("base_url"))
    return {**options, "headers": headers}


def failure_of(client: clients.BaseClient, error: Exception) -> ClientError | None:
    """Return the ClientError for an error of the transport; None if it is not about a request."""
    if isinstance(error, httpx.HTTPStatusError):
        response = error.response
        return client.refused(response.status_code, response.content, response.headers)
    return client.unanswered(error)


class Client(clients.SyncClient):
    """A ChatClient over `ollama.Client`."""

    api = API

    def make_sdk(self, options: dict[str, Any]) -> ollama.Client:
        return ollama.Client(**options_of(options))

    def check_sdk(self) -> None:
        if isinstance(self.sdk, ollama.AsyncClient):
            raise TypeError(f"{type(self.sdk).__name__} is asynchronous: use async_chat_client")

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx.Response = self.sdk._client.send(request_of(self.sdk, call, timeout))
        return response.raise_for_status().content

    def open(self, call: Call, timeout: float | None) -> Chunks:
        response: httpx.Response = self.sdk._client.send(request_of(self.sdk, call, timeout), stream=True)
        if response.is_error:
            response.read()
            response.raise_for_status()
        return response.iter_bytes(), response.close


class AsyncClient(clients.AsyncClient):
    """An AsyncChatClient over `ollama.AsyncClient`."""

    api = API

    def make_sdk(self, options: dict[str, Any]) -> ollama.AsyncClient:
        return ollama.AsyncClient(**options_of(options))

    def check_sdk(self) -> None:
        if isinstance(self.sdk, ollama.Client):
            raise TypeError(f"{type(self.sdk).__name__} is not asynchronous: use chat_client")

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    async def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx.Response = await self.sdk._client.send(request_of(self.sdk, call, timeout))
        return response.raise_for_status().content

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        response: httpx.Response = await self.sdk._client.send(request_of(self.sdk, call, timeout), stream=True)
        if response.is_error:
            await response.aread()
            response.raise_for_status()
        return response.aiter_bytes(), response.aclose
