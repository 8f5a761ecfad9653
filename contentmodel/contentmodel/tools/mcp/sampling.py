"""Answer the sampling requests of an MCP server with a chat client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from contentmodel.adapter import adapter
from contentmodel.client import AsyncChatClient
from contentmodel.errors import ContentModelError, DecodeError
from contentmodel.request import ChatRequest

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, SamplingFnT
    from mcp.types import CreateMessageRequestParams, CreateMessageResult, CreateMessageResultWithTools, ErrorData

Review = Callable[[ChatRequest], Awaitable[ChatRequest | None]]
"""Receives a request and returns the request to send, changed or unchanged; None if the user rejects it."""

REFUSED = -1
"""The JSON-RPC code that the specification defines for a request that the user rejected."""


def sampling_callback(
    client: AsyncChatClient, *, model: str | None = None, review: Review | None = None, timeout: float | None = None
) -> SamplingFnT:
    """Return a callback for `ClientSession` and `Client` of the package `mcp` that answers sampling requests.

    The model is `model`, else the client's model, else the one in the server's hints. A server may send requests at any
    time: pass `review` to show them to the user first, or to limit them. If the client fails, the server gets an
    error without details.
    """
    reader = adapter("mcp-sampling")

    async def answer(
        context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | CreateMessageResultWithTools | ErrorData:
        from mcp import types

        def failed(code: int, message: str) -> types.ErrorData:
            return types.ErrorData(code=code, message=message)

        try:
            request = reader.decode_request(params)
        except DecodeError as error:
            return failed(types.INVALID_PARAMS, str(error))
        request = replace(request, model=model or client.model or request.model)
        reviewed = request if review is None else await review(request)
        if reviewed is None:
            return failed(REFUSED, "the user rejected the sampling request")
        try:
            response = await client.complete(reviewed, timeout=timeout)
        except ContentModelError as error:
            return failed(types.INTERNAL_ERROR, f"the model did not answer: {type(error).__name__}")
        if response.error is not None:
            return failed(types.INTERNAL_ERROR, "the model did not answer")
        kind: Any = types.CreateMessageResultWithTools if params.tools else types.CreateMessageResult
        answered = replace(response, model=response.model or reviewed.model)
        try:
            result: CreateMessageResult = kind.model_validate(reader.encode_response(answered).payload, by_name=False)
        except ValueError:
            return failed(types.INTERNAL_ERROR, "the model answered with content that the server did not request")
        return result

    return answer
