"""Names of providers and models: "openai", "anthropic:claude-opus-5"."""

from __future__ import annotations

from collections.abc import Mapping

SHORT: Mapping[str, str] = {
    "openai": "openai-responses",
    "anthropic": "anthropic-messages",
    "google": "google-generate-content",
    "bedrock": "bedrock-converse",
    "mistral": "mistral-chat",
    "cohere": "cohere-chat",
    "ollama": "ollama-chat",
}
"""The short names of APIs: the API of each provider that has the most of its features."""


def api_of(name: str) -> str:
    """Return the API id of a short name; any other name as it is."""
    return SHORT.get(name, name)


def api_and_model(name: str, model: str | None = None) -> tuple[str, str | None]:
    """Return the API id and the model of a name such as "anthropic:claude-opus-5", "openai" or "openai-chat".

    Everything after the first colon is the model. A name without a model has `model`. Raise ValueError if both name
    one, or if there is nothing after the colon.
    """
    provider, colon, named = name.partition(":")
    if not colon:
        return api_of(name), model
    if not named:
        raise ValueError(f"{name!r} names no model: write {provider!r}, or a model after the colon")
    if model is not None and model != named:
        raise ValueError(f"{name!r} names a model, and model is {model!r}: leave one of them out")
    return api_of(provider), named
