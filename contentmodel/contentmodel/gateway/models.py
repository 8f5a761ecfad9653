"""The list of models of a gateway, in the form of each API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contentmodel.gateway.config import GatewayConfig

EPOCH = "1970-01-01T00:00:00Z"
"""The time of an unknown release in Anthropic's list (types/model_info.py of anthropic 2.12)."""


def model_list(config: GatewayConfig, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the models that clients can name.

    Two APIs have the same path for their list: a client of Anthropic sends the version of its API.
    """
    names = list(models_of(config))
    if path.startswith("/v1beta"):
        methods = ["generateContent", "streamGenerateContent", "countTokens"]
        models = [{"name": f"models/{n}", "displayName": n, "supportedGenerationMethods": methods} for n in names]
        return {"models": models}
    if "anthropic-version" in headers:
        data = [
            {"type": "model", "id": n, "display_name": n, "created_at": EPOCH, "lifecycle": "active"} for n in names
        ]
        ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
        return {"data": data, "has_more": False, **ends}
    return {
        "object": "list",
        "data": [{"id": n, "object": "model", "created": 0, "owned_by": "gateway"} for n in names],
    }


def models_of(config: GatewayConfig) -> Iterator[str]:
    """Yield the models of the routes: the names among their patterns, and the model of a route that takes any."""
    seen = set()
    for route in config.routes:
        names = [pattern for pattern in route.models if not any(mark in pattern for mark in "*?[")]
        for name in [*names, *([route.model] if route.model is not None and route.matches(route.model) else [])]:
            if name not in seen:
                seen.add(name)
                yield name
