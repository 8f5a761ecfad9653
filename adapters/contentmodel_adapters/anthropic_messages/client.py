"""A client of Messages over Anthropic's SDK."""

from __future__ import annotations

from typing import Any

from contentmodel_adapters.anthropic_messages.blocks import API
from contentmodel_adapters.shared import clients

try:
    import anthropic
except ImportError as error:
    raise ImportError(f"the client of {API} needs its SDK: pip install 'contentmodel[anthropic]'") from error

PATH = "/v1/messages"


class Client(clients.PostingClient):
    """A ChatClient over `anthropic.Anthropic`, or another client of that SDK."""

    api = API
    path = PATH
    errors = anthropic
    plain = (anthropic.Anthropic, anthropic.AsyncAnthropic)

    def make_sdk(self, options: dict[str, Any]) -> anthropic.Anthropic:
        return anthropic.Anthropic(**options)


class AsyncClient(clients.AsyncPostingClient):
    """An AsyncChatClient over `anthropic.AsyncAnthropic`."""

    api = API
    path = PATH
    errors = anthropic
    plain = (anthropic.Anthropic, anthropic.AsyncAnthropic)

    def make_sdk(self, options: dict[str, Any]) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)
