"""A client for Interactions that uses Google's SDK."""

from __future__ import annotations

from contentmodel_adapters.google_interactions.blocks import API
from contentmodel_adapters.google_interactions.http import HTTP
from contentmodel_adapters.shared import google_clients
from contentmodel_adapters.shared.calls import Call


class Interactions(google_clients.Paths):
    """The path of Interactions. The SDK's `client.interactions.create` is not used: it takes only typed arguments."""

    api = API
    headers = HTTP.headers
    model_fields: tuple[str, ...] = ("model", "agent")

    def path_of(self, call: Call, *, stream: bool) -> str:
        return "interactions"


class Client(Interactions, google_clients.SyncClient):
    """A ChatClient for Interactions over `google.genai.Client`."""


class AsyncClient(Interactions, google_clients.AsyncClient):
    """An AsyncChatClient for Interactions over `google.genai.Client`."""
