"""A client for the Responses API that uses OpenAI's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel.extras import needs_extra
from contentmodel_adapters.common import clients
from contentmodel_adapters.openai.responses import HTTP
from contentmodel_adapters.openai.responses.items import API

with needs_extra("openai"):
    import openai


class StreamFields:
    """Drop the fields that only streams may have, for sync and async clients."""

    api = API
    path = HTTP.generate.path
    errors = openai
    plain: tuple[type[Any], ...] = (openai.OpenAI, openai.AsyncOpenAI)
    keeps_conversations = True

    def adapt_payload(self, payload: dict[str, Any], *, stream: bool) -> None:
        """Drop `stream_options` from non-streaming requests; the API rejects it."""
        if not stream:
            payload.pop("stream_options", None)


class Client(StreamFields, clients.PostingClient):
    """A ChatClient over `openai.OpenAI`, or another client of that SDK."""

    def make_sdk(self, options: dict[str, Any]) -> openai.OpenAI:
        return openai.OpenAI(**options)


class AsyncClient(StreamFields, clients.AsyncPostingClient):
    """An AsyncChatClient over `openai.AsyncOpenAI`."""

    def make_sdk(self, options: dict[str, Any]) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**options)
