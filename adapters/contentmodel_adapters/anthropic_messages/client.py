"""A client for Messages that uses Anthropic's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import Capabilities
from contentmodel.extras import needs_extra
from contentmodel_adapters.anthropic_messages.blocks import API
from contentmodel_adapters.anthropic_messages.http import HTTP
from contentmodel_adapters.shared import clients

with needs_extra("anthropic"):
    import anthropic

UNSAMPLED = "2026-10-21"
"""The first version of the API that refuses temperature, top_p and top_k for every model, whatever their values
(platform.claude.com/docs/en/api/versioning, seen 2026-11-22). The SDK sends it since 2.0 (_constants.py).
"""


def choices(sdk: Any, plain: tuple[type, ...], policies: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Return the policies of a client.

    They limit sampling if the API version that the SDK sends refuses it. The caller's policies take precedence.
    """
    version = sdk.default_headers.get("anthropic-version") if type(sdk) in plain else None
    if not isinstance(version, str) or version < UNSAMPLED:
        return policies
    limits = Capabilities(sampling={}, limited_by=f"version {version} of the API")
    return {"capabilities": limits.policy(), **(policies or {})}


class Client(clients.PostingClient):
    """A ChatClient over `anthropic.Anthropic`, or another client of that SDK."""

    api = API
    path = HTTP.generate.path
    errors = anthropic
    plain = (anthropic.Anthropic, anthropic.AsyncAnthropic)

    def choices(self) -> Mapping[str, str] | None:
        return choices(self.sdk, self.plain, self.policies)

    def make_sdk(self, options: dict[str, Any]) -> anthropic.Anthropic:
        return anthropic.Anthropic(**options)


class AsyncClient(clients.AsyncPostingClient):
    """An AsyncChatClient over `anthropic.AsyncAnthropic`."""

    api = API
    path = HTTP.generate.path
    errors = anthropic
    plain = (anthropic.Anthropic, anthropic.AsyncAnthropic)

    def choices(self) -> Mapping[str, str] | None:
        return choices(self.sdk, self.plain, self.policies)

    def make_sdk(self, options: dict[str, Any]) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)
