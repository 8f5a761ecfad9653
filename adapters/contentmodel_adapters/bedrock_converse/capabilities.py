"""Capabilities of models on Bedrock: Claude (shared/claude_models.py), Nova, gpt-oss, and those of other vendors."""

from __future__ import annotations

from msgspec.structs import replace

from contentmodel.authoring import Capabilities, CapabilityTable, ListedModel, Range, listing
from contentmodel_adapters.bedrock_converse.blocks import API
from contentmodel_adapters.shared import claude_models

_SEEN = "2026-11-23"
_GUIDE = "docs.aws.amazon.com/bedrock/latest/userguide"
_SAMPLED: dict[str, Range] = {"temperature": (0, 1), "top_p": (0, 1)}
_PLAIN = Capabilities(
    efforts=(),
    thinking=(),
    sampling=_SAMPLED,
    structured_output=False,
    strict_tools=False,
    parallel_tool_calls=False,
    later_system=False,
    cache_points=False,
)
_EFFORTS = ("low", "medium", "high")
_REGION = r"(?:[a-z]{2,8}(?:-[a-z]+)?\.)?"


def _of_claude(row: ListedModel) -> ListedModel:
    """Return the row of a Claude model for Converse, which has no setting for parallel calls and no hosted tools."""
    limits = {"hosted_types": {}, "parallel_tool_calls": False, "later_system": False}
    return replace(row, capabilities=replace(row.capabilities, **limits))


_row = listing(_SEEN, at=f"{_GUIDE}/", before=_REGION)

CAPABILITIES = CapabilityTable(
    API,
    [
        *map(_of_claude, claude_models.ROWS),
        _row(
            "Nova 2",
            r"amazon\.nova-2-.*",
            replace(_PLAIN, efforts=_EFFORTS, thinking=("disabled", "adaptive"), cache_points=True),
            "conversation-inference-supported-models-features.html",
        ),
        _row("Nova", r"amazon\.nova-.*", replace(_PLAIN, cache_points=True), "prompt-caching.html"),
        _row(
            "gpt-oss",
            "gpt-oss.*",
            replace(_PLAIN, efforts=_EFFORTS, thinking=("adaptive",), structured_output=True),
            "model-parameters-openai.html",
        ),
        _row(
            "Models of other vendors",
            r"(?:amazon|meta|mistral|cohere|ai21|deepseek|qwen|writer|moonshot|minimax|zai|nvidia|google)\..*",
            _PLAIN,
            "conversation-inference-supported-models-features.html",
        ),
    ],
    newest=replace(claude_models.NEWEST, hosted_types={}, parallel_tool_calls=False, later_system=False),
    # The name of an inference profile need not tell its model: settings are sent as Claude takes them.
    guess=Capabilities(parallel_tool_calls=False, later_system=False),
    own="claude-.*",
)
"""Models on Bedrock."""
