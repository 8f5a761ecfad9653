"""A client for the Chat API v2 that uses Cohere's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
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
    import httpx
    from cohere.core.api_error import ApiError

ASYNC = (cohere.AsyncClientV2, cohere.AsyncClient)


def sender_of(sdk: Any) -> Any:
    """Return the object that sends requests inside the SDK, with its keys, headers and retries.

    cohere 7.3 has no public way to send a payload unchanged and to read raw bytes. This module uses nothing else that
    is not public.
    """
    return sdk._client_wrapper.httpx_client


def check_status(response: httpx.Response, content: bytes) -> None:
    """Raise the SDK's error if a response is one."""
    if response.status_code >= 400:
        raise ApiError(status_code=response.status_code, headers=dict(response.headers), body=content)


class Common(clients.BaseClient):
    """The common part of sync and async clients: options, requests, and errors of the SDK."""

    api = API
    headers: Mapping[str, str] | None = None

    def options_of(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of the SDK's client. `default_headers` are sent with each request."""
        self.headers = options.pop("default_headers", None)
        given = {name: value for name, value in options.items() if value is not None}
        return {**given, "base_url": str(given["base_url"])} if "base_url" in given else given

    def arguments(self, call: Call, timeout: float | None) -> dict[str, Any]:
        """Return the arguments of a request. If `timeout` is None, the SDK's own timeout applies."""
        return {
            "path": HTTP.generate.path,
            "method": "POST",
            "content": write(call.payload),
            "headers": {"content-type": "application/json", **(self.headers or {})},
            "request_options": {} if timeout is None else {"timeout": timeout},
        }

    def failure_of(self, error: Exception) -> ClientError | None:
        if isinstance(error, ApiError) and error.status_code is not None:
            return self.refused(error.status_code, error.body, error.headers or {})
        return self.unanswered(error)


class Client(Common, clients.SyncClient):
    """A ChatClient over `cohere.ClientV2`."""

    def check_sdk(self) -> None:
        if isinstance(self.sdk, ASYNC):
            raise TypeError(f"{type(self.sdk).__name__} is asynchronous: use async_chat_client")

    def make_sdk(self, options: dict[str, Any]) -> cohere.ClientV2:
        return cohere.ClientV2(**self.options_of(options))

    def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx.Response = sender_of(self.sdk).request(**self.arguments(call, timeout))
        check_status(response, response.content)
        return response.content

    def open(self, call: Call, timeout: float | None) -> Chunks:
        opened = sender_of(self.sdk).stream(**self.arguments(call, timeout))
        response: httpx.Response = opened.__enter__()
        close = partial(opened.__exit__, None, None, None)
        if response.status_code >= 400:
            try:
                check_status(response, response.read())
            finally:
                close()
        return response.iter_bytes(), close

    def close_sdk(self) -> None:
        sender_of(self.sdk).httpx_client.close()


class AsyncClient(Common, clients.AsyncClient):
    """An AsyncChatClient over `cohere.AsyncClientV2`."""

    def check_sdk(self) -> None:
        if not isinstance(self.sdk, ASYNC):
            raise TypeError(f"{type(self.sdk).__name__} is not asynchronous: use chat_client")

    def make_sdk(self, options: dict[str, Any]) -> cohere.AsyncClientV2:
        return cohere.AsyncClientV2(**self.options_of(options))

    async def send(self, call: Call, timeout: float | None) -> bytes:
        response: httpx.Response = await sender_of(self.sdk).request(**self.arguments(call, timeout))
        check_status(response, response.content)
        return response.content

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        opened = sender_of(self.sdk).stream(**self.arguments(call, timeout))
        response: httpx.Response = await opened.__aenter__()
        close = partial(opened.__aexit__, None, None, None)
        if response.status_code >= 400:
            try:
                check_status(response, await response.aread())
            finally:
                await close()
        return response.aiter_bytes(), close

    async def close_sdk(self) -> None:
        await sender_of(self.sdk).httpx_client.aclose()
