"""The list of models of a gateway, in the form of each API."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from contentmodel.gateway.config import GatewayConfig

EPOCH = "1970-01-01T00:00:00Z"
"""The time of an unknown release in Anthropic's list (types/model_info.py of anthropic 2.12)."""

STARTED = int(time.time())
"""The time of a model in OpenAI's list: the start of the gateway."""


def model_list(
    config: GatewayConfig, path: str, headers: Mapping[str, str], may_use: Callable[[str], bool]
) -> dict[str, Any]:
    """Return the models that clients can name, and that this one may use.

    Several APIs have the same path for their list: a client of Anthropic sends the version of its API, and one of
    Google has its own header for the key.
    """
    models = [_model(name, path, headers) for name in models_of(config) if may_use(name)]
    if _is_google(path, headers):
        return {"models": models}
    if _is_anthropic(headers):
        first, last = (models[0]["id"], models[-1]["id"]) if models else (None, None)
        return {"data": models, "has_more": False, "first_id": first, "last_id": last}
    return {"object": "list", "data": models}


def find_model(config: GatewayConfig, name: str, path: str, headers: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the entry of a model that a route has, also by a pattern; None if no route has it."""
    return _model(name, path, headers) if any(route.matches(name) for route in config.routes) else None


def _model(name: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    if _is_google(path, headers):
        methods = ["generateContent", "streamGenerateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
    if _is_anthropic(headers):
        return {"type": "model", "id": name, "display_name": name, "created_at": EPOCH, "lifecycle": "active"}
    return {"id": name, "object": "model", "created": STARTED, "owned_by": "gateway"}


def _is_google(path: str, headers: Mapping[str, str]) -> bool:
    return path.startswith("/v1beta") or "x-goog-api-key" in headers


def _is_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


def models_of(config: GatewayConfig) -> Iterator[str]:
    """Yield the models of the routes: the names among their patterns, and the model of a route that takes any."""
    seen = set()
    for route in config.routes:
        names = [pattern for pattern in route.models if not any(mark in pattern for mark in "*?[")]
        for name in [*names, *([route.model] if route.model is not None and route.matches(route.model) else [])]:
            if name not in seen:
                seen.add(name)
                yield name
