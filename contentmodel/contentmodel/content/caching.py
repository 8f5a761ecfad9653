"""Cache points: places up to which a provider may cache the prompt."""

from __future__ import annotations

from typing import Any

from contentmodel.interop import Model


class CachePoint(Model, frozen=True, kw_only=True):
    """A mark on a content or a tool: the provider may cache the prompt up to and including it.

    Cache points change the cost and the latency of a request, not its meaning.
    """

    ttl: str | None = None
    """The lifetime, the provider's value (`5m`, `1h`); None for the provider's default."""
    extra: dict[str, dict[str, Any]] | None = None
    """Unmapped wire fields and hints, by API id."""
