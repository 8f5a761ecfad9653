"""Requests that Mistral refuses. Most rules come from the validator that Mistral publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, IdentifierRule, Rules, objects, objects_of, one_object
from mistral_chat.table import API

RULES = Rules(API)
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


@RULES.rule("refused", fix="name the model", source="ChatCompletionRequest of mistralai 3.7.0; seen 2026-11-23")
def model_required(request: dict[str, Any]) -> Iterator[Broken]:
    """A request must name its model."""
    if request.get("model") is None:
        yield "$", "no model"


@RULES.rule("refused", fix="put an answer between them", source=f"{VALIDATOR}; BerriAI/litellm#17761")
def roles_in_order(request: dict[str, Any]) -> Iterator[Broken]:
    """After a tool message there must be no user message, and after an answer no system message (see `FOLLOW`)."""
    before: Any = None
    for at, message in objects(request, "messages"):
        role = message.get("role")
        if before in FOLLOW and role not in FOLLOW[before]:
            yield f"{at}.role", f"{role!r:.60} after {before!r}"
        before = role


@RULES.rule("refused", fix="give it nine letters and digits", source=f"{VALIDATOR}; nearai/ironclaw#1241")
def call_ids_have_nine_characters(request: dict[str, Any]) -> Iterator[Broken]:
    """The id of a call must have exactly nine letters and digits."""
    for at, message in objects(request, "messages"):
        ids = [(f"{where}.id", call.get("id")) for where, call in objects(message, "tool_calls", at)]
        ids += [(f"{at}.tool_call_id", message.get("tool_call_id"))] if message.get("role") == "tool" else []
        yield from ((where, f"{name!r:.60}") for where, name in ids if not CALL_IDS.accepts(name))


@RULES.rule("refused", fix="use letters, digits, _ and -, at most 64", source=VALIDATOR)
def tool_names_match_pattern(request: dict[str, Any]) -> Iterator[Broken]:
    """The name of a tool must have at most 64 letters, digits, underscores and hyphens."""
    calls = [call for at, message in objects(request, "messages") for call in objects(message, "tool_calls", at)]
    for at, tool in [*objects(request, "tools"), *calls]:
        for where, function in one_object(tool, "function", at):
            if not TOOL_NAMES.accepts(function.get("name")):
                yield f"{where}.name", f"{function.get('name')!r:.60}"


@RULES.rule("refused", fix="send one tool message for each call", source=f"{VALIDATOR}; mistralai/client-ts#106")
def calls_have_results(request: dict[str, Any]) -> Iterator[Broken]:
    """Before the next answer, there must be as many tool messages as calls."""
    pending, last = 0, "$.messages"
    for at, message in [*objects(request, "messages"), ("", {"role": "assistant"})]:
        if message.get("role") == "assistant":
            if pending:
                yield last, f"{pending} more calls than results"
            pending, last = len(objects_of(message, "tool_calls")), at
        elif message.get("role") == "tool":
            pending -= 1
