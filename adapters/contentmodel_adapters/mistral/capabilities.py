"""Capabilities of Mistral's models on this API."""

from __future__ import annotations

from contentmodel.authoring import Capabilities, CapabilityTable, listing, makers
from contentmodel_adapters.mistral.blocks import API

_VISUAL = ("image", "document")
_PLAIN = Capabilities(efforts=(), thinking=(), media=_VISUAL, cache_points=False)
_TEXT = Capabilities(efforts=(), thinking=(), media=("document",), cache_points=False)
_SPEECH = Capabilities(efforts=(), thinking=(), media=("audio", "document"), cache_points=False)
_THINKS = Capabilities(efforts=(), thinking=("adaptive",), media=_VISUAL, cache_points=False)
# The API accepts more levels, and treats each of them as one of these two.
_EFFORTS = ("none", "high")
_MODES = ("disabled", "adaptive")
# These models think only if a request asks for it (pydantic/pydantic-ai#5285, seen 2026-11-27).
_SWITCHED = Capabilities(efforts=_EFFORTS, default_effort="none", thinking=_MODES, media=_VISUAL, cache_points=False)
# Mistral Large 4 takes more levels (docs.mistral.ai/inference/conversations/reasoning, seen 2026-11-24).
_LEVELS = ("none", "low", "medium", "high")
_NEWEST = Capabilities(efforts=_LEVELS, thinking=_MODES, media=_VISUAL, cache_points=False)

_row = listing("2026-11-23", at="docs.mistral.ai/")

CAPABILITIES = CapabilityTable(
    API,
    [
        _row("Mistral Medium 3.5", r"mistral-medium(?:-3[.-]5|-2604)?", _SWITCHED, "capabilities/reasoning"),
        _row("Mistral Small 4", r"mistral-small(?:-4|-2603)?", _SWITCHED, "capabilities/reasoning"),
        _row("Magistral", r"magistral-.*", _THINKS, "capabilities/reasoning"),
        _row("Voxtral", r"voxtral-.*", _SPEECH, "capabilities/audio"),
        _row("Codestral, Devstral", r"(?:code|dev)stral.*", _TEXT, "getting-started/models"),
        _row("Mistral Large 3", r"mistral-large(?:-3|-2512)?", _PLAIN, "capabilities/vision"),
        _row("Ministral, Pixtral", r"(?:ministral|pixtral)-.*", _PLAIN, "capabilities/vision"),
    ],
    newest=_NEWEST,
    own=makers.NAMES["mistral"],
)
"""Mistral's models."""
