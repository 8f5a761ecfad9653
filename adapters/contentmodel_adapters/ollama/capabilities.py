"""Capabilities of models on Ollama. Any model can be installed, so only the limits of the API are known."""

from __future__ import annotations

from contentmodel.authoring import Capabilities, CapabilityTable, ListedModel
from contentmodel_adapters.ollama.blocks import API

_SOURCE = "docs.ollama.com/capabilities/thinking"
_ANY = Capabilities(
    efforts=("low", "medium", "high", "max"),
    thinking=("disabled", "adaptive"),
    forced_tools=False,
    parallel_tool_calls=False,
    cache_points=False,
)
# "GPT-OSS requires think to be set to low, medium or high. Passing true/false is ignored for that model."
_LEVELS = Capabilities(
    efforts=("low", "medium", "high"),
    thinking=("adaptive",),
    forced_tools=False,
    parallel_tool_calls=False,
    cache_points=False,
)

CAPABILITIES = CapabilityTable(
    API,
    [ListedModel(shown="GPT-OSS", names=r"gpt-oss.*", capabilities=_LEVELS, source=_SOURCE, seen="2026-11-23")],
    newest=_ANY,
    own=r"(?!)",
    others=_ANY,
)
"""The models that have other limits than the API."""
