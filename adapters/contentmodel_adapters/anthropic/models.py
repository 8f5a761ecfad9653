"""Capabilities of Claude models, and conditions of their rules, on the APIs that serve them.

Sampling settings are those of the API version 2023-06-01. Version 2026-10-21, which the SDK sends since 2.0, refuses
them for every model: the client of this adapter leaves them out (platform.claude.com/docs/en/api/versioning and
_constants.py of anthropic 2.12.0, seen 2026-11-22).
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from contentmodel.authoring import Capabilities, Range, listing
from contentmodel.capabilities import canonical

_SEEN = "2026-11-22"
_DOCS = "platform.claude.com/docs/en"
_THINKING = f"{_DOCS}/build-with-claude/thinking and /effort"
_SYSTEM = f"{_DOCS}/build-with-claude/mid-conversation-system-messages"
_FORMATS = f"{_DOCS}/build-with-claude/structured-outputs"

SAMPLED: dict[str, Range] = {"temperature": (0, 1), "top_p": (0, 1), "top_k": (0, 2**31)}
_WHILE_THINKING: dict[str, Range] = {"temperature": (1, 1), "top_p": (0.95, 1)}
_FIXED: dict[str, Range] = {"temperature": (1, 1), "top_p": (1, 1)}
_TO_HIGH = ("low", "medium", "high")
EFFORTS = (*_TO_HIGH, "xhigh", "max")
MODES = ("enabled", "disabled", "adaptive", "between_tools")
DISPLAYS = ("summarized", "omitted", "updates")
"""The values of effort, of thinking and of its display (anthropic 2.12, types/beta; seen 2026-11-22)."""
BUDGET = (1024, 10**6)
_Types = dict[str, tuple[str, ...]]
# The type of each client tool that a model takes (agents-and-tools/tool-use/computer-use-tool, /text-editor-tool and
# /bash-tool, seen 2026-11-22). Opus 4.8 and the models of the generation 5 take the toolset and computer_20251124.
_TOOLSET: _Types = {"computer": ("computer_toolset_20260801",)}
_COMPUTER_2025_11: _Types = {"computer": ("computer_20251124",)}
_COMPUTER_2025_01: _Types = {"computer": ("computer_20250124",)}
_TOOLS_2025_01: _Types = {**_COMPUTER_2025_01, "text_editor": ("text_editor_20250124",)}
_TOOLS_2024_10: _Types = {
    "computer": ("computer_20241022",),
    "text_editor": ("text_editor_20241022",),
    "shell": ("bash_20241022",),
}
_DOCUMENTS = ("image", "document")

# 3.5 and older: no thinking, no effort, no schemas.
_OLD = Capabilities(
    efforts=(),
    thinking=(),
    sampling=SAMPLED,
    structured_output=False,
    strict_tools=False,
    hosted_types=_TOOLS_2024_10,
    later_system=False,
)
# Opus 4.1, Sonnet 4.5, Haiku 4.5: a budget.
_SCHEMED = Capabilities(
    efforts=(),
    thinking=("disabled", "enabled"),
    budget=BUDGET,
    sampling=SAMPLED,
    sampling_while_thinking=_WHILE_THINKING,
    hosted_types=_COMPUTER_2025_01,
    media=_DOCUMENTS,
    later_system=False,
)
# Sonnet 4, Opus 4 and, with older tools, Sonnet 3.7: no schemas.
_BUDGETED = replace(_SCHEMED, structured_output=False, strict_tools=False)
_SONNET_3_7 = replace(_BUDGETED, hosted_types=_TOOLS_2025_01)
_OPUS_4_5 = replace(_SCHEMED, efforts=_TO_HIGH, default_effort="high", hosted_types=_COMPUTER_2025_11)
_4_6 = replace(_OPUS_4_5, efforts=(*_TO_HIGH, "max"), thinking=("disabled", "adaptive", "enabled"), prefill=False)
_MYTHOS_PREVIEW = replace(
    _4_6, thinking=("adaptive", "enabled"), sampling=_FIXED, sampling_while_thinking=None, later_system=True
)


def _adaptive(
    *thinking: str,
    forced: bool = True,
    default: str = "high",
    without: tuple[str, ...] | None = None,
    bound: tuple[str, ...] = (),
    later_system: bool = True,
    hosted: _Types | None = None,
) -> Capabilities:
    """Return the capabilities of a model from 4.7 on: every effort, adaptive thinking, no sampling."""
    return Capabilities(
        efforts=EFFORTS,
        default_effort=default,
        thinking=(*thinking, "adaptive"),
        efforts_without_thinking=without,
        sampling=_FIXED,
        forced_tools=forced,
        hosted_types=hosted,
        media=_DOCUMENTS,
        later_system=later_system,
        prefill=False,
        signatures=bound,
    )


_CONVERSATION = ("model", "conversation")
_ACCOUNT = ("model", "conversation", "account")

_row = listing(_SEEN)

ROWS = [
    _row(
        "Haiku 5.5",
        "claude-haiku-5-5",
        _adaptive("disabled", default="medium", without=_TO_HIGH, bound=_ACCOUNT, hosted=_TOOLSET),
        f"{_DOCS}/models/haiku-5-5/migration-guide; @ai-sdk/anthropic 2.0.109",
    ),
    _row(
        "Sonnet 5.5",
        "claude-sonnet-5-5",
        _adaptive("between_tools", forced=False, without=_TO_HIGH, bound=_ACCOUNT, hosted=_TOOLSET),
        f"{_DOCS}/models/sonnet-5-5/whats-new-sonnet-5-5 and /migration-guide",
    ),
    _row(
        "Opus 5.5",
        "claude-opus-5-5",
        _adaptive(forced=False, default="medium", bound=_CONVERSATION, hosted=_TOOLSET),
        f"{_DOCS}/models/opus-5-5/overview",
    ),
    _row(
        "Fable 5.1, Fable 5.2, Mythos 5.1, Mythos 5.2",
        "claude-(?:fable|mythos)-5-[12]",
        _adaptive(forced=False, bound=_CONVERSATION, hosted=_TOOLSET),
        f"{_DOCS}/models/opus-5-5/overview; types/model_param.py of anthropic 2.12.0",
    ),
    _row("Fable 5, Mythos 5", "claude-(?:fable|mythos)-5", _adaptive(), _THINKING),
    _row("Mythos Preview", "claude-mythos-preview", _MYTHOS_PREVIEW, f"{_THINKING}; messages.py of anthropic 2.12"),
    _row(
        "Opus 5",
        "claude-opus-5",
        _adaptive("disabled", without=_TO_HIGH),
        f"{_DOCS}/about-claude/models/whats-new-opus-5",
    ),
    _row(
        "Sonnet 5",
        "claude-sonnet-5",
        _adaptive("disabled"),
        f"{_DOCS}/models/sonnet-5-5/migration-guide",
    ),
    _row("Opus 4.8", "claude-opus-4-8", _adaptive("disabled"), f"{_THINKING}; {_SYSTEM}"),
    # Its error is "role 'system' is not supported on this model".
    _row(
        "Opus 4.7",
        "claude-opus-4-7",
        _adaptive("disabled", later_system=False, hosted=_COMPUTER_2025_11),
        f"{_THINKING}; {_SYSTEM}",
    ),
    _row("Opus 4.6, Sonnet 4.6", "claude-(?:opus|sonnet)-4-6", _4_6, _THINKING),
    _row("Opus 4.5", "claude-opus-4-5", _OPUS_4_5, f"{_THINKING}; {_FORMATS}"),
    _row("Sonnet 4.5, Haiku 4.5", "claude-(?:sonnet|haiku)-4-5", _SCHEMED, _FORMATS),
    _row("Opus 4.1", "claude-opus-4-1", _SCHEMED, _FORMATS),
    _row(
        "Sonnet 4, Opus 4",
        "claude-(?:(?:sonnet|opus)-4(?:-0)?|4-(?:sonnet|opus))",
        _BUDGETED,
        f"{_DOCS}/build-with-claude/extended-thinking; {_FORMATS}",
    ),
    _row(
        "Sonnet 3.7",
        "claude-3-7-sonnet",
        _SONNET_3_7,
        f"{_DOCS}/build-with-claude/extended-thinking; {_FORMATS}",
    ),
    _row(
        "Claude 3.5 and older",
        "claude-(?:instant.*|v?[12](?:-\\d)?|3(?:-5)?-(?:opus|sonnet|haiku))",
        _OLD,
        f"{_DOCS}/about-claude/models/overview",
    ),
]
"""Claude models, the newest first."""

# Common to all models of the 5.5 generation.
NEWEST = _adaptive(forced=False, bound=_ACCOUNT, hosted=_TOOLSET)


# -- conditions of rules -----------------------------------------------------------------------------------------------


def excludes_top_p(model: object) -> bool:
    """Return whether a model accepts only one of temperature and top_p: Claude 4.5 and 4.6."""
    return isinstance(model, str) and bool(re.fullmatch("claude-(?:opus|sonnet|haiku)-4-[56]", canonical(model)))


def refuses_forced_tool(capabilities: Capabilities, thinking: object) -> bool:
    """Return whether a model refuses a forced tool, always or with this mode of thinking: a budget."""
    return not capabilities.forced_tools or thinking == "enabled"
