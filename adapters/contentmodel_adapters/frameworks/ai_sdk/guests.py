"""The blocks of providers that the AI SDK keeps: calls and results of the tools that a provider runs.

Parts have no name of the provider, and applications may rename tools: the values of results, the ids of items and the
values of providers tell them apart. The SDK sends these parts back to their provider.
"""

from __future__ import annotations

from contentmodel.authoring import Guest, Table
from contentmodel_adapters.frameworks.ai_sdk.anthropic_forms import anthropic, claude_parts
from contentmodel_adapters.frameworks.ai_sdk.google_forms import gemini_parts, google
from contentmodel_adapters.frameworks.ai_sdk.openai_forms import openai, openai_items
from contentmodel_adapters.frameworks.ai_sdk.spelling import PARTS, Spelling


def guests_of(table: Table, spelling: Spelling) -> list[Guest]:
    """Return the guests of a format."""
    parts = PARTS._replace(is_joined=not spelling.is_split)
    return [
        table.guest("anthropic-messages", (), anthropic(spelling), parts, groups=claude_parts(spelling)),
        table.guest("openai-responses", (), openai(spelling), parts, groups=openai_items(spelling)),
        table.guest("google-generate-content", (), google(spelling), parts, groups=gemini_parts(spelling)),
    ]
