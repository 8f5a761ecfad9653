"""A client for the Chat API v2 that uses Cohere's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import write
from contentmodel.client import ClientError
from contentmodel.extras import needs_extra
from contentmodel_adapters.cohere_chat.blocks import API
from contentmodel_adapters.cohere_chat.http import HTTP
from contentmodel_adapters.shared import clients
from contentmodel_adapters.shared.calls import AsyncChunks, Call, Chunks

with needs_extra("cohere"):
    import cohere

ASYNC = (cohere.AsyncClientV2, cohere.AsyncClient)


def sender_of(sdk: Any) -> Any:
    """Return the object that sends requests inside the SDK, with its keys, headers and retries.

    cohere 7.3 has no public way to send a payload unchanged and to read raw bytes. This module uses nothing else that
    is not public.
    """
    return sdk._client_wrapper.httpx_client


def arguments(call: Call, timeout: float | None) -> dict[str, Any]:
    """Return the arguments of a request. If `timeout` is None, the SDK's own timeout applies."""
    return {
        "method": "POST",
        "content": write(call.payload),
        "headers": {"content-type": "application/json"},
        "request_options": {} if timeout is None else {"timeout": timeout},
    }


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the SDK's client."""
    return {name: str(value) if name == "base_url" else value for name, value in options.items() if value is not None}


class Client(clients.SyncClient):
    """A ChatClient over `cohere.ClientV2`."""

    api = API

    def check_sdk(self) -> None:
        if isinstance(self.sdk, ASYNC):
            raise TypeError(f"{type(self.sdk).__name__} is asynchronous: use async_chat_client")

    def make_sdk(self, options: dict[str, Any]) -> cohere.ClientV2:
        return cohere.ClientV2(**options_of(options))

    def failure_of(self, error: Exception) -> ClientError | None:
        return self.unanswered(error)

    def send(self, call: Call, timeout: float | None) -> bytes:
        response = sender_of(self.sdk).request(HTTP.generate.path, **arguments(call, timeout))
        content: bytes = response.content
        if response.status_code >= 400:
            raise self.refused(response.status_code, content, response.headers)
        return content

    def open(self, call: Call, timeout: float | None) -> Chunks:
        opened = sender_of(self.sdk).stream(HTTP.generate.path, **arguments(call, timeout))
        response = opened.__enter__()
        if response.status_code >= 400:
            with opened:
                raise self.refused(response.status_code, response.read(), response.headers)
        return response.iter_bytes(), response.close

    def close_sdk(self) -> None:
        sender_of(self.sdk).httpx_client.close()


class AsyncClient(clients.AsyncClient):
    """An AsyncChatClient over `cohere.AsyncClientV2`."""

    api = API

    def check_sdk(self) -> None:
        if not isinstance(self.sdk, ASYNC):
            raise TypeError(f"{type(self.sdk).__name__} is not asynchronous: use chat_client")

    def make_sdk(self, options: dict[str, Any]) -> cohere.AsyncClientV2:
        return cohere.AsyncClientV2(**options_of(options))

    def failure_of(self, error: Exception) -> ClientError | None:
        return self.unanswered(error)

    async def send(self, call: Call, timeout: float | None) -> bytes:
        response = await sender_of(self.sdk).request(HTTP.generate.path, **arguments(call, timeout))
        content: bytes = response.content
        if response.status_code >= 400:
            raise self.refused(response.status_code, content, response.headers)
        return content

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        opened = sender_of(self.sdk).stream(HTTP.generate.path, **arguments(call, timeout))
        response = await opened.__aenter__()
        if response.status_code >= 400:
            async with opened:
                raise self.refused(response.status_code, await response.aread(), response.headers)
        return response.aiter_bytes(), response.aclose

    async def close_sdk(self) -> None:
        await sender_of(self.sdk).httpx_client.aclose()
