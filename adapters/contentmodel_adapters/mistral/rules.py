"""The rules of Mistral's API, most of which come from the validator that Mistral publishes, and its models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    IdentifierRule,
    Rules,
    chat,
    listing,
    makers,
    objects,
    objects_of,
)
from contentmodel_adapters.mistral.table import API

# -- models ------------------------------------------------------------------------------------------------------------

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


# -- rules -------------------------------------------------------------------------------------------------------------

RULES = Rules(API, CAPABILITIES)
CALL_IDS = IdentifierRule("[a-zA-Z0-9]", 9, 9)
TOOL_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
FOLLOW = {
    "system": ("system", "user", "assistant"),
    "user": ("system", "user", "assistant"),
    "assistant": ("user", "assistant", "tool"),
    "tool": ("assistant", "tool"),
}
"""The roles that may follow each role."""
VALIDATOR = "mistral-common, protocol/instruct/validator.py; seen 2026-11-23"


makers.declare_models(RULES, "docs.mistral.ai/getting-started/models; seen 2026-11-29", serves={"mistral"})


@RULES.rule(
    "refused",
    fix="name the model",
    source="ChatCompletionRequest and AgentsCompletionRequest of mistralai 3.7.0; seen 2026-11-27",
)
def model_required(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must name its model, or its agent."""
    if request.get("model") is None and request.get("agent_id") is None:
        yield "$", "no model"


@RULES.rule("refused", fix="put an assistant message between them", source=f"{VALIDATOR}; BerriAI/litellm#17761")
def roles_in_order(request: dict[str, Any]) -> Iterator[Broken]:
    """No user message may follow a tool message, and no system message an assistant message (see `FOLLOW`)."""
    before = ""
    for at, message in objects(request, "messages"):
        role = str(message.get("role"))
        if before in FOLLOW and role not in FOLLOW[before]:
            yield f"{at}.role", f"{role!r:.60} after {before!r}"
        before = role


@RULES.rule("refused", fix="use nine letters and digits", source=f"{VALIDATOR}; nearai/ironclaw#1241")
def call_ids_have_nine_characters(request: dict[str, Any]) -> Iterator[Broken]:
    """The id of a call must have exactly nine letters and digits."""
    for at, message in objects(request, "messages"):
        ids = [(f"{where}.id", call.get("id")) for where, call in objects(message, "tool_calls", at)]
        ids += [(f"{at}.tool_call_id", message.get("tool_call_id"))] if message.get("role") == "tool" else []
        yield from ((where, f"{name!r:.60}") for where, name in ids if not CALL_IDS.accepts(name))


@RULES.rule("refused", fix="use letters, digits, _ and -, at most 64", source=VALIDATOR)
def tool_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """The name of a tool must have at most 64 letters, digits, underscores and hyphens."""
    for at, function in chat.functions_of(request):
        if not TOOL_NAMES.accepts(function.get("name")):
            yield f"{at}.name", f"{function.get('name')!r:.60}"


@RULES.rule("refused", fix="send one tool message for each call", source=f"{VALIDATOR}; mistralai/client-ts#106")
def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
    """Before the next assistant message, there must be as many tool messages as calls."""
    pending, last = 0, "$.messages"
    for at, message in [*objects(request, "messages"), ("", {"role": "assistant"})]:
        if message.get("role") == "assistant":
            if pending:
                yield last, f"{pending} more calls than results"
            pending, last = len(objects_of(message, "tool_calls")), at
        elif message.get("role") == "tool":
            pending -= 1


@RULES.rule("refused", fix="add content, or remove the message", source=f"{VALIDATOR}; OpenHands/OpenHands#8685")
def answers_have_content(request: dict[str, Any]) -> Iterator[Broken]:
    """An assistant message must have content or calls. An empty text is no content."""
    for at, message in objects(request, "messages"):
        if message.get("role") == "assistant" and not message.get("content") and not message.get("tool_calls"):
            yield at, "neither content nor calls"


@RULES.rule("refused", fix="set prefix in the last message only", source=f"{VALIDATOR}; huggingface/smolagents#757")
def prefix_is_last(request: dict[str, Any]) -> Iterator[Broken]:
    """Only the last message may have the field `prefix`. If it is an answer, it must: the model continues it."""
    messages = list(objects(request, "messages"))
    for at, message in messages[:-1]:
        if message.get("prefix") is True:
            yield f"{at}.prefix", "not the last message"
    for at, message in messages[-1:]:
        if message.get("role") == "assistant" and not message.get("tool_calls") and message.get("prefix") is not True:
            yield at, "an answer without prefix"
