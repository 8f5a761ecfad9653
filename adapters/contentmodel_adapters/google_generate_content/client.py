"""A client for generateContent that uses Google's SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from copy import deepcopy
from typing import Any

from contentmodel.client import AuthenticationError, ClientError
from contentmodel.extras import needs_extra
from contentmodel_adapters.google_generate_content.blocks import API
from contentmodel_adapters.shared import clients
from contentmodel_adapters.shared.calls import AsyncChunks, Call, Chunks

# Other packages of Google also install a package `google`, so an import of `google` can succeed without the SDK.
with needs_extra("google", "google.genai"):
    from google import genai
    from google.genai import errors


def api_client(sdk: genai.Client) -> Any:
    """Return the object that sends JSON inside the SDK.

    google-genai 3.4 has no public way to send a payload unchanged and to read raw bytes: `generate_content` takes only
    typed arguments, and refuses `should_return_http_response` for streams. This module uses nothing else that is not
    public.
    """
    return sdk._api_client


def url_of(sdk: genai.Client, model: str, verb: str) -> str:
    """Return the path of a model's method.

    A bare name is one of Google's models (transformers `t_model` of the SDK). Raise ValueError for any other text.
    """
    if sdk.vertexai and not model.startswith(("projects/", "models/", "publishers/")):
        publisher, _, name = model.rpartition("/")
        model = f"publishers/{publisher or 'google'}/models/{name}"
    elif not sdk.vertexai and not model.startswith(("models/", "tunedModels/")):
        model = f"models/{model}"
    if ".." in model or "?" in model or "&" in model:
        raise ValueError(f"{API}: {model!r} is not a model name")
    return f"{model}:{verb}"


def body_of(sdk: genai.Client, call: Call) -> dict[str, Any]:
    """Return the payload; a copy if the SDK has an `extra_body`, which it writes into the payload at any depth."""
    return deepcopy(call.payload) if api_client(sdk)._http_options.extra_body else call.payload


COMPLETE, STREAM = "generateContent", "streamGenerateContent?alt=sse"


def http_options_of(timeout: float | None) -> dict[str, Any] | None:
    """Return the SDK's options of one call. `timeout` is in seconds, the SDK's in milliseconds."""
    return None if timeout is None else {"timeout": max(1, round(timeout * 1000))}


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


class Client(clients.SyncClient):
    """A ChatClient over `google.genai.Client`, of the Developer API or of Vertex AI."""

    api = API
    has_stream_field = False
    sdk: genai.Client

    def make_sdk(self, options: dict[str, Any]) -> genai.Client:
        return make_sdk(options)

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    def send(self, call: Call, timeout: float | None) -> str:
        url = url_of(self.sdk, call.model, COMPLETE)
        body: str = api_client(self.sdk).request("post", url, body_of(self.sdk, call), http_options_of(timeout)).body
        return body

    def open(self, call: Call, timeout: float | None) -> Chunks:
        options = http_options_of(timeout)
        api = api_client(self.sdk)
        request = api._build_request("post", url_of(self.sdk, call.model, STREAM), body_of(self.sdk, call), options)
        response = api._request(request, options, stream=True).response_stream
        if hasattr(response, "iter_content"):
            # With device certificates the SDK uses requests.
            return response.iter_content(chunk_size=None), response.close
        return response.iter_bytes(), response.close


class AsyncClient(clients.AsyncClient):
    """An AsyncChatClient over `google.genai.Client`: its connections are those of `client.aio`."""

    api = API
    has_stream_field = False
    sdk: genai.Client

    def make_sdk(self, options: dict[str, Any]) -> genai.Client:
        return make_sdk(options)

    async def close_sdk(self) -> None:
        await self.sdk.aio.aclose()

    def failure_of(self, error: Exception) -> ClientError | None:
        return failure_of(self, error)

    async def send(self, call: Call, timeout: float | None) -> str:
        url = url_of(self.sdk, call.model, COMPLETE)
        answer = await api_client(self.sdk).async_request(
            "post", url, body_of(self.sdk, call), http_options_of(timeout)
        )
        body: str = answer.body
        return body

    async def open(self, call: Call, timeout: float | None) -> AsyncChunks:
        options = http_options_of(timeout)
        api = api_client(self.sdk)
        request = api._build_request("post", url_of(self.sdk, call.model, STREAM), body_of(self.sdk, call), options)
        response = (await api._async_request(request, options, stream=True)).response_stream
        if hasattr(response, "aiter_bytes"):
            return response.aiter_bytes(), response.aclose

        # With aiohttp installed the SDK prefers it.
        async def close() -> None:
            response.close()

        chunks: AsyncIterator[bytes] = response.content.iter_any()
        return chunks, close
