"""Requests that Ollama's server refuses or answers badly, and the capabilities of models on it.

Any model can be installed, so only the limits of the API are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    IdentifierRule,
    ListedModel,
    Rules,
    chat,
    list_of,
    makers,
    objects,
    objects_along,
)
from contentmodel.content.media import standard_base64
from contentmodel_adapters.ollama.table import API, LEVELS

# -- models ------------------------------------------------------------------------------------------------------------

_SOURCE = "docs.ollama.com/capabilities/thinking"
_ANY = Capabilities(
    efforts=LEVELS,
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


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(".", 256)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_.-]", 128)
_TYPES = "api/types.go of ollama/ollama; seen 2026-11-23"


# A tag is part of a name of Ollama: gemini-3-flash-preview:cloud.
makers.declare_models(RULES, "docs.ollama.com/api/chat; seen 2026-11-29", serves=makers.OPEN, own_names=".*:.*")
chat.declare_model(RULES, f"ChatRequest in {_TYPES}", missing=(None, ""))


@RULES.rule("refused", fix="send the content as text, and images in `images`", source=f"Message in {_TYPES}")
def content_is_text(request: dict[str, Any]) -> Iterator[Broken]:
    """The content of a message must be a string, not a list of parts."""
    for at, message in objects(request, "messages"):
        if isinstance(message.get("content"), list | dict):
            yield f"{at}.content", "not a text"


@RULES.rule("refused", fix="send standard base64 with padding", source=f"ImageData, a []byte of Go, in {_TYPES}")
def images_are_base64(request: dict[str, Any]) -> Iterator[Broken]:
    """Images must be standard base64, without the prefix of a data URI."""
    for at, message in objects(request, "messages"):
        for number, data in enumerate(list_of(message, "images")):
            if isinstance(data, str) and standard_base64(data) != data:
                yield f"{at}.images[{number}]", f"{data[:20]!r}"


@RULES.rule("refused", fix="send an object", source=f"ToolCallFunctionArguments in {_TYPES}")
def arguments_are_objects(request: dict[str, Any]) -> Iterator[Broken]:
    """The arguments of a call must be an object, not JSON text."""
    for at, function in objects_along(request, "messages", "tool_calls", "function"):
        if not isinstance(function.get("arguments"), dict):
            yield f"{at}.arguments", f"{function.get('arguments')!r:.60}"


@RULES.rule("refused", fix=f"use true, false, {', '.join(LEVELS)}", source=f"ThinkValue in {_TYPES}")
def thinking_is_known(request: dict[str, Any]) -> Iterator[Broken]:
    """`think` must be true, false or one of the levels."""
    level = request.get("think")
    if level is not None and not isinstance(level, bool) and level not in LEVELS:
        yield "$.think", f"{level!r:.60}"


chat.declare_results(RULES, f"Message in {_TYPES}")
