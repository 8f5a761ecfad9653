"""A client for /api/chat that uses Ollama's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import write
from contentmodel.extras import needs_extra
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import Call
from contentmodel_adapters.ollama import HTTP
from contentmodel_adapters.ollama.table import API

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


class Common(clients.BaseClient):
    """The common part of sync and async clients."""

    api = API
    async_types = (ollama.AsyncClient,)

    def error_of(self, response: httpx.Response) -> httpx.HTTPStatusError:
        message = f"{response.status_code} {response.reason_phrase}"
        return httpx.HTTPStatusError(message, request=response.request, response=response)


class Client(Common, clients.ResponseClient):
    """A ChatClient over `ollama.Client`."""

    def make_sdk(self, options: dict[str, Any]) -> ollama.Client:
        return ollama.Client(**options_of(options))

    def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        return self.sdk._client.send(request_of(self.sdk, call, timeout), stream=stream)


class AsyncClient(Common, clients.AsyncResponseClient):
    """An AsyncChatClient over `ollama.AsyncClient`."""

    def make_sdk(self, options: dict[str, Any]) -> ollama.AsyncClient:
        return ollama.AsyncClient(**options_of(options))

    async def respond(self, call: Call, timeout: float | None, *, stream: bool) -> Any:
        return await self.sdk._client.send(request_of(self.sdk, call, timeout), stream=stream)
