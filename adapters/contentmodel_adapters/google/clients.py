"""Clients for the APIs of Gemini. They use Google's SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from copy import deepcopy
from typing import Any

from contentmodel.client import AuthenticationError, ClientError
from contentmodel.extras import needs_extra
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import AsyncChunks, Call, Chunks

# Other packages of Google also install a package `google`, so an import of `google` can succeed without the SDK.
with needs_extra("google", "google.genai"):
    from google import genai
    from google.genai import errors


def api_client(sdk: genai.Client) -> Any:
    """Return the object that sends JSON inside the SDK.

    google-genai 3.4 has no public way to send a payload unchanged and to read raw bytes: `generate_content` takes only
    typed arguments, and refuses `should_return_http_response` for streams. This is the only private object of the SDK
    that this module uses.
    """
    return sdk._api_client


def body_of(sdk: genai.Client, call: Call) -> dict[str, Any]:
    """Return the payload; a copy if the SDK has an `extra_body`, which it writes into the payload at any depth."""
    return deepcopy(call.payload) if api_client(sdk)._http_options.extra_body else call.payload


def make_sdk(options: dict[str, Any]) -> genai.Client:
    """Return the SDK's client.

    Options named as in other SDKs are translated (`timeout` in seconds, `base_url`, `default_headers`, `max_retries`).
    """
    http_options: dict[str, Any] = {}
    http_settings = options.pop("http_options", None) or {}
    for name, value in http_settings.items() if isinstance(http_settings, dict) else http_settings:
        if value is not None:
            http_options[name] = value
    if options.get("timeout") is not None:
        http_options["timeout"] = max(1, round(options["timeout"] * 1000))
    if options.get("base_url") is not None:
        http_options["base_url"] = str(options["base_url"])
    if options.get("default_headers") is not None:
        http_options["headers"] = {**http_options.get("headers", {}), **options["default_headers"]}
    if options.get("max_retries") is not None:
        http_options["retry_options"] = {"attempts": options["max_retries"] + 1}
    sdk_options = {
        k: v for k, v in options.items() if k not in ("timeout", "base_url", "default_headers", "max_retries")
    }
    return genai.Client(**sdk_options, http_options=http_options or None)  # type: ignore[arg-type]


def failure_of(client: clients.BaseClient, error: Exception) -> ClientError | None:
    """Return the ClientError for an error of the SDK; None if it is not about a request.

    The details of the body show whether the API key was invalid.
    """
    if not isinstance(error, errors.APIError):
        return client.unanswered(error)
    details = details_of(error.details)
    wrong_key = any(detail.get("reason") == "API_KEY_INVALID" for detail in details)
    headers: Mapping[str, str] = getattr(error.response, "headers", None) or {}
    return client.refused(
        error.code,
        error.details,
        headers,
        kind=AuthenticationError if wrong_key else None,
    )


def details_of(body: Any) -> list[dict[str, Any]]:
    """Return the details of an error body (google.rpc.Status)."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


class Paths:
    """The path of a request, and its headers."""

    headers: Mapping[str, str] = {}
    sdk: genai.Client

    def path_of(self, call: Call, *, stream: bool) -> str:
        """Return the path after the version of the API, and after the project on Vertex AI."""
        raise NotImplementedError

    def options(self, timeout: float | None) -> dict[str, Any] | None:
        """Return the SDK's options of one call. `timeout` is in seconds, the SDK's in milliseconds."""
        options: dict[str, Any] = {"headers": dict(self.headers)} if self.headers else {}
        if timeout is not None:
            options["timeout"] = max(1, round(timeout * 1000))
        return options or None


class SyncClient(Paths, clients.SyncClient):
    """A ChatClient over `google.genai.Client`, of the Developer API or of Vertex AI."""

    def make_sdk(self, options: dict[str, Any]) -> genai.Client:
        return make_sdk(options)

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    def send(self, call: Call, timeout: float | None) -> str:
        path = self.path_of(call, stream=False)
        body: str = api_client(self.sdk).request("post", path, body_of(self.sdk, call), self.options(timeout)).body
        return body

    def open(self, call: Call, timeout: float | None) -> Chunks:
        api, options = api_client(self.sdk), self.options(timeout)
        request = api._build_request("post", self.path_of(call, stream=True), body_of(self.sdk, call), options)
        response = api._request(request, options, stream=True).response_stream
        if hasattr(response, "iter_content"):
            # With device certificates, the SDK uses the package `requests`.
            return response.iter_content(chunk_size=None), response.close
        return response.iter_bytes(), response.close


class AsyncClient(Paths, clients.AsyncClient):
    """An AsyncChatClient over `google.genai.Client`: its connections are those of `client.aio`."""

    def make_sdk(self, options: dict[str, Any]) -> genai.Client:
        return make_sdk(options)

    async def close_sdk(self) -> None:
        await self.sdk.aio.aclose()

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    async def send(self, call: Call, timeout: float | None) -> str:
        path = self.path_of(call, stream=False)
        answer = await api_client(self.sdk).async_request("post", path, body_of(self.sdk, call), self.options(timeout))
        body: str = answer.body
        return body

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        api, options = api_client(self.sdk), self.options(timeout)
        request = api._build_request("post", self.path_of(call, stream=True), body_of(self.sdk, call), options)
        response = (await api._async_request(request, options, stream=True)).response_stream
        if hasattr(response, "aiter_bytes"):
            return response.aiter_bytes(), response.aclose

        # If aiohttp is installed, the SDK uses it.
        async def close() -> None:
            response.close()

        chunks: AsyncIterator[bytes] = response.content.iter_any()
        return chunks, close
