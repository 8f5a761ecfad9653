"""Names of OpenTelemetry's conventions for generative AI that the runner and the gateway share.

They are those of opentelemetry-semantic-conventions 0.66b2 (seen in November 2026).
"""

from __future__ import annotations

from typing import Any

from contentmodel.usage import Usage

SCOPE = "contentmodel"
"""The name of the tracer and of the meter."""

PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
    # The API does not show which of Google's two services answers.
    "google-generate-content": "gcp.gen_ai",
    "google-interactions": "gcp.gen_ai",
    "bedrock-converse": "aws.bedrock",
    "mistral-chat": "mistral_ai",
    "cohere-chat": "cohere",
}
"""The conventions' name of the provider, by API id. Other APIs use their id."""


def usage_attributes(usage: Usage | None) -> dict[str, Any]:
    """Return usage as the conventions count it: input includes cached tokens, output includes reasoning tokens."""
    if usage is None:
        return {}
    totals = token_totals(usage)
    return present(
        {
            "gen_ai.usage.input_tokens": totals.get("input"),
            "gen_ai.usage.output_tokens": totals.get("output"),
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        }
    )


def token_totals(usage: Usage | None) -> dict[str, int]:
    """Return the total input and output tokens that the provider counted."""
    if usage is None:
        return {}
    totals = {"input": usage.all_input_tokens, "output": usage.all_output_tokens}
    counted = {"input": usage.input_tokens, "output": usage.output_tokens}
    return {kind: tokens for kind, tokens in totals.items() if counted[kind] is not None}


def present(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that have a value, with texts that every exporter can write."""
    return {name: exportable(value) for name, value in attributes.items() if value is not None}


def exportable(value: Any) -> Any:
    """Return a value whose texts every exporter can write."""
    if isinstance(value, str):
        # Lone surrogates, which no exporter accepts.
        return value.encode("utf-8", "replace").decode()
    return [exportable(item) for item in value] if isinstance(value, list) else value
