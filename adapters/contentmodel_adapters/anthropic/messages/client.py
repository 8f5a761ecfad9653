"""A client for Messages that uses Anthropic's SDK.

The SDK's clients of Bedrock and Vertex AI take a request of Anthropic's own API, and move the model into the path. They
set the version of Anthropic's own API in the body if it has none, which Bedrock refuses for some models
(anthropics/anthropic-sdk-python#2031, seen 2026-11-24). So the body already has the form of the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import Capabilities
from contentmodel.extras import needs_extra
from contentmodel.request import ChatRequest
from contentmodel_adapters.anthropic.messages import HTTP
from contentmodel_adapters.anthropic.messages.rules import dialect_of
from contentmodel_adapters.anthropic.messages.table import API, BETAS
from contentmodel_adapters.common import clients
from contentmodel_adapters.common.calls import Call

with needs_extra("anthropic"):
    import anthropic

UNSAMPLED = "2026-10-21"
"""The first version of the API that refuses temperature, top_p and top_k for every model, whatever their values
(platform.claude.com/docs/en/api/versioning, seen 2026-11-22). The SDK sends it since 2.0 (_constants.py).
"""
_HOSTS: dict[str, tuple[type, ...]] = {
    "bedrock": (anthropic.AnthropicBedrock, anthropic.AsyncAnthropicBedrock),
    "vertex": (anthropic.AnthropicVertex, anthropic.AsyncAnthropicVertex),
}


class OfMessages(clients.BaseClient):
    """The policies and the body of a call, for sync and async clients."""

    api = API
    path = HTTP.generate.path
    errors = anthropic
    plain: tuple[type[Any], ...] = (anthropic.Anthropic, anthropic.AsyncAnthropic)

    def choices(self) -> Mapping[str, str] | None:
        """Return the policies of a client. The caller's policies take precedence.

        They name the host of the SDK's client. Without one, they limit sampling if the API version that the SDK sends
        refuses it.
        """
        host = next((name for name, kinds in _HOSTS.items() if isinstance(self.sdk, kinds)), None)
        if host is not None:
            return {"dialect": host, **(self.policies or {})}
        version = self.sdk.default_headers.get("anthropic-version") if type(self.sdk) in self.plain else None
        if not isinstance(version, str) or version < UNSAMPLED:
            return self.policies
        limits = Capabilities(sampling={}, limited_by=f"version {version} of the API")
        return {"capabilities": limits.policy(), **(self.policies or {})}

    def prepare(self, request: ChatRequest, *, stream: bool) -> Call:
        """Return a call with the fields that the SDK moves into the path, and the beta features of its client."""
        call = super().prepare(request, stream=stream)
        dialect = dialect_of(self.choices())
        if dialect is None or dialect.version is None:
            return call
        call.payload["model"] = call.model
        if stream:
            call.payload["stream"] = True
        betas = self.sdk.default_headers.get("anthropic-beta") if dialect.betas_in_body else None
        if isinstance(betas, str):
            call.payload.setdefault(BETAS, [name.strip() for name in betas.split(",")])
        return call


class Client(OfMessages, clients.PostingClient):
    """A ChatClient over `anthropic.Anthropic`, or another client of that SDK."""

    def make_sdk(self, options: dict[str, Any]) -> anthropic.Anthropic:
        return anthropic.Anthropic(**options)


class AsyncClient(OfMessages, clients.AsyncPostingClient):
    """An AsyncChatClient over `anthropic.AsyncAnthropic`."""

    def make_sdk(self, options: dict[str, Any]) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)
