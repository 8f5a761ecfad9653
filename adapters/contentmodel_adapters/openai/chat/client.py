"""A client for Chat Completions that uses OpenAI's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel.extras import needs_extra
from contentmodel_adapters.common import clients
from contentmodel_adapters.openai.chat import HTTP
from contentmodel_adapters.openai.chat.hosts import API

with needs_extra("openai"):
    import openai


class StreamFields:
    """Set the fields that depend on streaming, for sync and async clients."""

    api = API
    path = HTTP.generate.path
    errors = openai
    plain: tuple[type[Any], ...] = (openai.OpenAI, openai.AsyncOpenAI)

    def adapt_payload(self, payload: dict[str, Any], *, stream: bool) -> None:
        """Request usage when streaming; drop `stream_options` otherwise (the API rejects it)."""
        if stream:
            payload.setdefault("stream_options", {"include_usage": True})
        else:
            payload.pop("stream_options", None)


class Client(StreamFields, clients.PostingClient):
    """A ChatClient over `openai.OpenAI`, or another client of that SDK."""

    def make_sdk(self, options: dict[str, Any]) -> openai.OpenAI:
        return openai.OpenAI(**options)


class AsyncClient(StreamFields, clients.AsyncPostingClient):
    """An AsyncChatClient over `openai.AsyncOpenAI`."""

    def make_sdk(self, options: dict[str, Any]) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**options)
