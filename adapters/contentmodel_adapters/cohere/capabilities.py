"""Capabilities of Cohere's models on the Chat API v2."""

from __future__ import annotations

from msgspec.structs import replace

from contentmodel.authoring import Capabilities, CapabilityTable, Range, listing, makers
from contentmodel_adapters.cohere.blocks import API

_SEEN = "2026-11-23"
_REASONING = "docs.cohere.com/docs/reasoning"
_SDK = "v2/raw_client.py of cohere 7.3.1"
_MODELS = f"docs.cohere.com/docs/models; {_SDK}"

_SAMPLED: dict[str, Range] = {
    "temperature": (0, 2**31),
    "top_p": (0.01, 0.99),
    "top_k": (0, 500),
    "frequency_penalty": (0, 1),
    "presence_penalty": (0, 1),
}
# The API has no setting for parallel calls. It accepts system messages at any position.
_CHAT = Capabilities(
    efforts=(),
    thinking=(),
    sampling=_SAMPLED,
    stop_sequences=5,
    parallel_tool_calls=False,
    media=(),
    media_in_results=False,
)
# With "enabled", the model chooses how much it thinks.
_THINKS = replace(_CHAT, thinking=("disabled", "adaptive", "enabled"), budget=(1, 2**31))
_SEES = replace(_CHAT, media=("image",))
_OLD = replace(_CHAT, forced_tools=False)

_row = listing(_SEEN)

CAPABILITIES = CapabilityTable(
    API,
    [
        _row("Command A Reasoning", r"command-a-reasoning.*", _THINKS, f"{_REASONING}; {_SDK}"),
        _row("Command A Vision, Aya Vision", r"command-a-vision.*|c4ai-aya-vision.*", _SEES, _MODELS),
        _row("Command A, Command R7B, Aya Expanse", r"command-a(?:-.*)?|command-r7b.*|c4ai-.*", _CHAT, _MODELS),
        _row("Command R, Command R+ and older", r"command(?:-r.*|-light.*|-nightly)?", _OLD, _MODELS),
    ],
    newest=replace(_THINKS, media=("image",)),
    own=makers.NAMES["cohere"],
)
"""Cohere's models, the newest first."""
