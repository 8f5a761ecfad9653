"""A client for Mistral's chat completions that uses Mistral's SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contentmodel.authoring import write
from contentmodel.extras import needs_extra
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import Call
from contentmodel_adapters.mistral import HTTP
from contentmodel_adapters.mistral.table import API

with needs_extra("mistral", "mistralai"):
    from mistralai.client import Mistral, errors, utils
    from mistralai.client._hooks import HookContext
    from mistralai.client.utils.requestbodies import SerializedRequestBody

if TYPE_CHECKING:
    import httpx2

RETRIED = ["429", "500", "502", "503", "504"]
BACKOFF = utils.BackoffStrategy(500, 8_000, 2, 60_000)
"""The pauses between retries, and the limit of their total time, in milliseconds. Their number has no limit."""


def arguments_of(sdk: Mistral, call: Call, timeout: float | None, *, stream: bool) -> dict[str, Any]:
    """Return the arguments for the two methods of the SDK that build a request and send it.

    mistralai 3.7 has no public way to send a payload unchanged and to read raw bytes: `complete` takes only typed
    arguments. These two methods are the only private part of the SDK that this module uses.
    """
    settings = sdk.sdk_configuration
    built = {
        "method": "POST",
        "path": HTTP.generate.path,
        "base_url": None,
        "url_variables": None,
        "request": None,
        "request_body_required": True,
        "request_has_path_params": False,
        "request_has_query_params": False,
        "user_agent_header": "user-agent",
        "accept_header_value": "text/event-stream" if stream else "application/json",
        "security": settings.security,
        "get_serialized_body": lambda: SerializedRequestBody("application/json", write(call.payload)),
        "timeout_ms": settings.timeout_ms if timeout is None else max(1, round(timeout * 1000)),
    }
    context = HookContext(
        config=settings,
        base_url="",
        operation_id="chat_completion_v1_chat_completions_post",
        oauth2_scopes=None,
        security_source=settings.security,
        tags=["chat"],
        extensions=None,
    )
    retries = settings.retry_config
    sent = {
        "hook_ctx": context,
        "is_error_status_code": lambda status: False,
        "stream": stream,
        "retry_config": (retries, RETRIED) if isinstance(retries, utils.RetryConfig) else None,
    }
    return {"built": built, "sent": sent}


class Common(clients.BaseClient):
    """The common part of sync and async clients: the SDK has one class for both."""

    api = API
    sdk: Mistral

    def make_sdk(self, options: dict[str, Any]) -> Mistral:
        """Return the SDK's client. Options with the names of other SDKs are translated (`timeout` is in seconds)."""
        import httpx2

        named = dict(options)
        headers, retries = named.pop("default_headers", None), named.pop("max_retries", None)
        timeout, base_url = named.pop("timeout", None), named.pop("base_url", None)
        if base_url is not None:
            named["server_url"] = str(base_url)
        if timeout is not None:
            named["timeout_ms"] = max(1, round(timeout * 1000))
        if retries:
            named["retry_config"] = utils.RetryConfig("backoff", BACKOFF, True)
        if headers is not None:
            named["client"] = httpx2.Client(headers=headers, follow_redirects=True)
            named["async_client"] = httpx2.AsyncClient(headers=headers, follow_redirects=True)
        return Mistral(**named)

    def error_of(self, response: httpx2.Response) -> errors.SDKError:
        return errors.SDKError("API error occurred", response)


class Client(Common, clients.ResponseClient):
    """A ChatClient over `mistralai.client.Mistral`."""

    def close_sdk(self) -> None:
        self.sdk.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def respond(self, call: Call, timeout: float | None, *, stream: bool) -> httpx2.Response:
        arguments = arguments_of(self.sdk, call, timeout, stream=stream)
        request = self.sdk._build_request(**arguments["built"])
        return self.sdk.do_request(request=request, **arguments["sent"])


class AsyncClient(Common, clients.AsyncResponseClient):
    """An AsyncChatClient over `mistralai.client.Mistral`."""

    async def close_sdk(self) -> None:
        await self.sdk.__aexit__(None, None, None)  # type: ignore[no-untyped-call]

    async def respond(self, call: Call, timeout: float | None, *, stream: bool) -> httpx2.Response:
        arguments = arguments_of(self.sdk, call, timeout, stream=stream)
        request = self.sdk._build_request_async(**arguments["built"])
        return await self.sdk.do_request_async(request=request, **arguments["sent"])
