"""Readers of payloads, written by hand from each API's documentation, without the adapters' tables.

reading = READERS["openai-chat"]("response", payload)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contentmodel_conformance.readers import (
    ag_ui,
    ai_sdk,
    anthropic,
    bedrock,
    chat,
    cohere,
    data_sets,
    frameworks,
    gemini,
    inspect_ai,
    interactions,
    langchain,
    mcp_sampling,
    mistral,
    ollama,
    otel,
    pydantic_ai,
    responses,
    trajectories,
)
from contentmodel_conformance.readers.reading import Fact, Reading

__all__ = ["READERS", "Fact", "Reader", "Reading"]

Reader = Callable[[str, dict[str, Any]], Reading]
"""A function that reads a payload of a kind ("request", "response")."""

READERS: dict[str, Reader] = {
    "anthropic-messages": anthropic.read,
    "bedrock-converse": bedrock.read,
    "openai-chat": chat.read,
    "cohere-chat": cohere.read,
    "openai-responses": responses.read,
    "google-generate-content": gemini.read,
    "google-interactions": interactions.read,
    "mistral-chat": mistral.read,
    "ollama-chat": ollama.read,
    # A line of a fine-tuning file has the messages of a request.
    "openai-finetune": chat.read,
    "hf-messages": data_sets.read_messages,
    "sharegpt": data_sets.read_conversations,
    "langchain-messages": langchain.read,
    "atif": trajectories.read,
    "meai": frameworks.read_extensions_ai,
    "agent-framework": frameworks.read_agent_framework,
    "otel-gen-ai": otel.read,
    "pydantic-ai-messages": pydantic_ai.read,
    "inspect-eval-log": inspect_ai.read,
    "vercel-model-messages": ai_sdk.read_model,
    "vercel-ui-messages": ai_sdk.read_ui,
    "ag-ui": ag_ui.read,
    "mcp-sampling": mcp_sampling.read,
}
"""The readers of this project, by API."""
