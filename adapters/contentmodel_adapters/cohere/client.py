"""A client for the Chat API v2 that uses Cohere's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from contentmodel.authoring import write
from contentmodel.extras import needs_extra
from contentmodel_adapters.cohere import HTTP
from contentmodel_adapters.cohere.table import API
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import AsyncChunks, Call, Chunks

with needs_extra("cohere"):
    import cohere
    import httpx
    from cohere.core.api_error import ApiError


def sender_of(sdk: Any) -> Any:
    """Return the object that sends requests inside the SDK, with its keys, headers and retries.

    cohere 7.3 has no public way to send a payload unchanged and to read raw bytes. This module uses nothing else that
    is not public.
    """
    return sdk._client_wrapper.httpx_client


class Common(clients.BaseClient):
    """The common part of sync and async clients: options, requests, and errors of the SDK."""

    api = API
    async_types = (cohere.AsyncClientV2, cohere.AsyncClient)
    headers: Mapping[str, str] | None = None

    def options_of(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of the SDK's client. `default_headers` are sent with each request."""
        self.headers = options.pop("default_headers", None)
        client_options = {name: value for name, value in options.items() if value is not None}
        return (
            {**client_options, "base_url": str(client_options["base_url"])}
            if "base_url" in client_options
            else client_options
        )

    def arguments(self, call: Call, timeout: float | None) -> dict[str, Any]:
        """Return the arguments of a request. If `timeout` is None, the SDK's own timeout applies."""
        return {
            "path": HTTP.generate.path,
            "method": "POST",
            "content": write(call.payload),
            "headers": {"content-type": "application/json", **(self.headers or {})},
            "request_options": {} if timeout is None else {"timeout": timeout},
        }

    def error_of(self, response: httpx.Response) -> ApiError:
        return ApiError(status_code=response.status_code, headers=dict(response.headers), body=response.content)


class Client(Common, clients.ResponseClient):
    """A ChatClient over `cohere.ClientV2`."""

    def make_sdk(self, options: dict[str, Any]) -> cohere.ClientV2:
        return cohere.ClientV2(**self.options_of(options))

    def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        return sender_of(self.sdk).request(**self.arguments(call, timeout))

    def open(self, call: Call, timeout: float | None) -> Chunks:
        response = sender_of(self.sdk).stream(**self.arguments(call, timeout))
        return self.opened(response.__enter__(), partial(response.__exit__, None, None, None))

    def close_sdk(self) -> None:
        sender_of(self.sdk).httpx_client.close()


class AsyncClient(Common, clients.AsyncResponseClient):
    """An AsyncChatClient over `cohere.AsyncClientV2`."""

    def make_sdk(self, options: dict[str, Any]) -> cohere.AsyncClientV2:
        return cohere.AsyncClientV2(**self.options_of(options))

    async def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        return await sender_of(self.sdk).request(**self.arguments(call, timeout))

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        response = sender_of(self.sdk).stream(**self.arguments(call, timeout))
        return await self.opened(await response.__aenter__(), partial(response.__aexit__, None, None, None))

    async def close_sdk(self) -> None:
        await sender_of(self.sdk).httpx_client.aclose()
