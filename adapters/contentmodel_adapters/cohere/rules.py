"""Requests that the Chat API v2 refuses, ignores or answers badly, and the capabilities of Cohere's models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    IdentifierRule,
    Range,
    Rules,
    chat,
    listing,
    makers,
    objects,
    objects_along,
    one_object,
    settings,
)
from contentmodel.request import ReasoningOptions
from contentmodel_adapters.cohere.table import API
from contentmodel_adapters.common.rules import (
    declare_pairs,
    declare_roles,
    declares,
    declares_by_model,
    out_of_range,
    unsampled,
)

# -- models ------------------------------------------------------------------------------------------------------------

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
_STOPS = 5
# The API has no setting for parallel calls. It accepts system messages at any position.
_CHAT = Capabilities(
    efforts=(),
    thinking=(),
    sampling=_SAMPLED,
    stop_sequences=_STOPS,
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


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule(r"[\x21-\x7e]", 128)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_]", 64)

_TYPES = "types of cohere 7.3.1"
_rule = declares(RULES, seen="2026-11-23")
_by_model = declares_by_model(RULES, seen="2026-11-23")


makers.declare_models(RULES, "docs.cohere.com/docs/models; seen 2026-11-29", serves={"cohere"})
chat.declare_model(RULES, f"{_SDK}; seen 2026-11-23")


declare_roles(RULES, ("system", "user", "assistant", "tool"), f"{_TYPES}; {_SDK}; seen 2026-11-23")


@_rule("refused", fix="set content", source=f"kwaroran/Risuai#504; {_TYPES}")
def messages_have_content(request: dict[str, Any]) -> Iterator[Broken]:
    """Each message must have content, except those of the assistant."""
    for at, message in objects(request, "messages"):
        if message.get("content") is None and message.get("role") != "assistant":
            yield f"{at}.content", "no content"


_PARTS = {
    "user": ("text", "image_url"),
    "system": ("text",),
    "assistant": ("text", "thinking"),
    "tool": ("text", "document"),
}


@_rule("refused", fix="move it to a message that accepts it, or remove it", source=_TYPES)
def parts_in_their_roles(request: dict[str, Any]) -> Iterator[Broken]:
    """Only user messages accept images, only tool messages documents, and only assistant messages thinking."""
    for at, message in objects(request, "messages"):
        allowed = _PARTS.get(str(message.get("role")), ())
        for path, part in objects(message, "content", at) if allowed else ():
            if part.get("type") not in allowed:
                yield f"{path}.type", f"{part.get('type')!r:.60} in a message with the role {message['role']}"


declare_pairs(_rule, calls="oracle/langchain-oracle#10", results="oracle/langchain-oracle#10")


@_rule("refused", fix="use letters, digits and _", source="lobehub/lobehub#4216; types/tool.py of cohere 7.3.1")
def tool_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """The name of a tool must have only letters, digits and underscores."""
    for at, function in chat.functions_of(request):
        if isinstance(function.get("name"), str) and not TOOL_NAMES.accepts(function["name"]):
            yield f"{at}.name", f"{function['name']!r:.80}"


@_rule("refused", fix="set strict_tools in the request", source="OpenRouterTeam/openrouter-examples#71")
def strict_is_a_setting_of_the_request(request: dict[str, Any]) -> Iterator[Broken]:
    """A tool must not have the field `strict`: the request's `strict_tools` applies to all tools."""
    for at, tool in objects(request, "tools"):
        for path, owner in [(at, tool), *one_object(tool, "function", at)]:
            if "strict" in owner:
                yield f"{path}.strict", "unknown field"


_SAMPLING = {"p": "top_p", "k": "top_k"} | {
    name: name for name in ("temperature", "frequency_penalty", "presence_penalty")
}
_RANGES: dict[str, tuple[float, float]] = {
    **{key: _SAMPLED[name] for key, name in _SAMPLING.items()},
    "temperature": (0, float("inf")),
    "max_tokens": (1, float("inf")),
}


@_rule("refused", fix="use a value within the limits", source=_SDK)
def numbers_are_in_range(request: dict[str, Any]) -> Iterator[Broken]:
    """p must be 0.01 to 0.99, k 0 to 500, the penalties 0 to 1; temperature 0 or more, max_tokens 1 or more."""
    yield from out_of_range(request, _RANGES)


@_rule("refused", fix="remove some", source=_SDK)
def few_stop_sequences(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must have at most 5 stop sequences."""
    stops = request.get("stop_sequences")
    if isinstance(stops, list) and len(stops) > _STOPS:
        yield "$.stop_sequences", f"{len(stops)} items"


@_rule("refused", fix="send tools, or remove it", source=_SDK)
def choices_need_tools(request: dict[str, Any]) -> Iterator[Broken]:
    """A request that requires a call must have tools."""
    if request.get("tool_choice") == "REQUIRED" and not request.get("tools"):
        yield "$.tool_choice", "REQUIRED without tools"


@_rule("refused", fix="remove one of them", source=f"docs.cohere.com/docs/structured-outputs; {_SDK}")
def no_conflicting_fields(request: dict[str, Any]) -> Iterator[Broken]:
    """With tools or documents, the response format must not be JSON, and the safety mode must be CONTEXTUAL."""
    present = [key for key in ("tools", "documents") if request.get(key)]
    for at, response_format in one_object(request, "response_format"):
        if response_format.get("type") == "json_object" and present:
            yield at, f"with {' and '.join(present)}"
    if request.get("safety_mode") not in (None, "CONTEXTUAL") and present:
        yield "$.safety_mode", f"with {' and '.join(present)}"


@_by_model("refused", fix="remove it", source=f"docs.cohere.com/docs/reasoning; {_SDK}")
def settings_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """Only reasoning models accept `thinking`. Models before Command R7B accept no tool choice."""
    for at, thinking in one_object(request, "thinking"):
        mode = thinking.get("type")
        if capabilities.thinking == () and mode != "disabled":
            yield at, f"thinking for {request.get('model')}"
    if not capabilities.forced_tools and request.get("tool_choice") is not None:
        yield "$.tool_choice", f"{request['tool_choice']!r:.60} for {request.get('model')}"
    requested = ReasoningOptions(mode="enabled" if request.get("thinking") else None)
    for key, value in unsampled(
        request, _SAMPLING, capabilities.sampled(thinks=settings.thinks(requested, capabilities))
    ):
        yield f"$.{key}", f"{value} for {request.get('model')}"


@_by_model("refused", fix="describe the image in a text", source="docs.cohere.com/docs/image-inputs")
def images_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
    """Only vision models accept images."""
    for at, part in objects_along(request, "messages", "content") if capabilities.media == () else ():
        if part.get("type") == "image_url":
            yield at, f"an image for {request.get('model')}"


RULES.leave_out("settings-supported", "numbers-are-in-range", "choices-need-tools", "no-conflicting-fields")
