"""Capabilities of models on Bedrock: Claude (anthropic/models.py), Nova, gpt-oss, and those of other vendors."""

from __future__ import annotations

from msgspec.structs import replace

from contentmodel.authoring import Capabilities, CapabilityTable, ListedModel, Range, listing, makers
from contentmodel_adapters.anthropic import models
from contentmodel_adapters.anthropic.bedrock_converse.blocks import API

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
_TO_XHIGH = (*_EFFORTS, "xhigh")
_SWITCHED = ("disabled", "adaptive")
_SCHEMED = replace(_PLAIN, structured_output=True, strict_tools=True)
_NOVA = replace(_PLAIN, sampling={**_SAMPLED, "top_k": (0, 2**31)}, cache_points=True)
# These models accept no sampling settings.
_GPT = replace(_PLAIN, efforts=_TO_XHIGH, thinking=_SWITCHED, sampling={})
_REGION = r"(?:[a-z]{2,8}(?:-[a-z]+)?\.)?"


_NEVER_PARALLEL = ("Mythos Preview", "Opus 4.1", "Sonnet 4, Opus 4", "Sonnet 3.7", "Claude 3.5 and older")


def _of_claude(row: ListedModel) -> ListedModel:
    """Return the row of a Claude model for Converse, which has no hosted tools.

    Claude takes its own field for parallel calls from 4.5 on (`supports_parallel_tool_use_config` in
    model_prices_and_context_window.json of BerriAI/litellm, seen 2026-11-27).
    """
    limits = {"hosted_types": {}, "parallel_tool_calls": row.shown not in _NEVER_PARALLEL, "later_system": False}
    return replace(row, capabilities=replace(row.capabilities, **limits))


_row = listing(_SEEN, at=f"{_GUIDE}/", before=_REGION)


def _seen_by_others(shown: str, names: str, capabilities: Capabilities) -> ListedModel:
    """Return the row of models whose fields AWS does not document, but clients have tried."""
    at = "pydantic-ai-slim 2.68.0, "
    return listing("2026-11-27", at=at, before=_REGION)(shown, names, capabilities, "providers/bedrock.py")


CAPABILITIES = CapabilityTable(
    API,
    [
        *map(_of_claude, models.ROWS),
        _row(
            "Nova 2",
            r"amazon\.nova-2-.*",
            replace(_NOVA, efforts=_EFFORTS, thinking=("disabled", "adaptive")),
            "conversation-inference-supported-models-features.html",
        ),
        _row("Nova", r"amazon\.nova-.*", _NOVA, "prompt-caching.html"),
        _row(
            "gpt-oss",
            "gpt-oss.*",
            replace(_PLAIN, efforts=_EFFORTS, thinking=("adaptive",), structured_output=True),
            "model-parameters-openai.html",
        ),
        _seen_by_others("GPT-6 Astra, GPT-6.1", r"gpt-6(?:-astra|\.1).*", replace(_GPT, thinking=("adaptive",))),
        _seen_by_others("GPT-5.6, GPT-6", r"gpt-(?:5\.6|6).*", _GPT),
        _seen_by_others("Grok", r"xai\.grok.*", replace(_GPT, thinking=("adaptive",))),
        _seen_by_others("DeepSeek V3.2", r"deepseek\.v3\.2.*", replace(_PLAIN, efforts=("high",), thinking=_SWITCHED)),
        _seen_by_others(
            "GLM-5.3", r"zai\.glm-5\.3.*", replace(_PLAIN, efforts=(*_TO_XHIGH, "max"), thinking=("adaptive",))
        ),
        _seen_by_others("GLM", r"zai\.glm-.*", replace(_PLAIN, efforts=("high",), thinking=_SWITCHED)),
        _seen_by_others("Qwen 3", r"qwen\.qwen3.*", replace(_SCHEMED, efforts=("low", "high"), thinking=_SWITCHED)),
        _seen_by_others(
            "Models with schemas",
            r"(?:mistral\.(?:magistral-small|ministral-3|mistral-large-3|voxtral)|google\.gemma-3-(?:12|27)b"
            r"|minimax\.minimax-m2|nvidia\.nemotron-nano).*",
            _SCHEMED,
        ),
        _row(
            "Models of other vendors",
            r"(?:amazon|meta|mistral|cohere|ai21|deepseek|qwen|writer|moonshot|minimax|zai|nvidia|google)\..*",
            _PLAIN,
            "conversation-inference-supported-models-features.html",
        ),
    ],
    newest=replace(models.NEWEST, hosted_types={}, parallel_tool_calls=False, later_system=False),
    # The name of an inference profile need not tell its model: settings are sent as Claude takes them.
    others=Capabilities(parallel_tool_calls=False, later_system=False),
    own=makers.NAMES["anthropic"],
)
"""Models on Bedrock."""
