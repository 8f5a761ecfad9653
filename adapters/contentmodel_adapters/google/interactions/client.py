"""A client for Interactions that uses Google's SDK."""

from __future__ import annotations

from contentmodel_adapters.common.calls import Call
from contentmodel_adapters.google import clients
from contentmodel_adapters.google.interactions import HTTP
from contentmodel_adapters.google.interactions.table import API


class Interactions(clients.Paths):
    """The path of Interactions. The SDK's `client.interactions.create` is not used: it takes only typed arguments."""

    api = API
    headers = HTTP.headers
    model_fields: tuple[str, ...] = ("model", "agent")

    def path_of(self, call: Call, *, stream: bool) -> str:
        return "interactions"


class Client(Interactions, clients.SyncClient):
    """A ChatClient for Interactions over `google.genai.Client`."""


class AsyncClient(Interactions, clients.AsyncClient):
    """An AsyncChatClient for Interactions over `google.genai.Client`."""
