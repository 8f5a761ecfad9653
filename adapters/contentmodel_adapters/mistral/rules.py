"""Requests that Mistral refuses. Most rules come from the validator that Mistral publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import ChatMessage, TextContent
from contentmodel.authoring import (
    Broken,
    EncodeContext,
    IdentifierRule,
    Rules,
    chat,
    is_native,
    makers,
    objects,
    objects_of,
    passes,
    reasons,
)
from contentmodel_adapters.mistral.blocks import API
from contentmodel_adapters.mistral.capabilities import CAPABILITIES

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


NO_SYSTEM_HERE = reasons.degraded("mistral-chat-system", "{target} accepts no system message here: it is sent as user")
AS_SYSTEM = reasons.degraded("mistral-chat-developer", "{target} has no developer role: the message is sent as system")
BRIDGE = reasons.synthesized("mistral-chat-bridge", "{target} requires an assistant message before it: one is added")


def without_empty_answers(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without those of the assistant that have only empty texts."""
    kept: list[ChatMessage] = []
    for message in messages:
        if not _is_empty_answer(message) or is_native(message, context):
            kept.append(message)
            continue
        for content in message.contents:
            context.report_loss(content, None, reasons.BLANK_TEXT)
        passes.leave_empty(message, context)
    return kept


def _is_empty_answer(message: ChatMessage) -> bool:
    is_answer = message.role == "assistant" and bool(message.contents)
    return is_answer and all(isinstance(content, TextContent) and not content.text for content in message.contents)


CONTINUED = ("prefix", "partial")
"""The fields of DeepSeek and Moonshot for a last message that the model continues.

api-docs.deepseek.com/guides/chat_prefix_completion, platform.kimi.ai/docs/api/partial; seen 2026-11-27.
"""


def with_prefix(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with the field `prefix` in the last one if it is an answer, which the model is to continue."""
    last = messages[-1] if messages else None
    if last is None or last.role != "assistant" or not last.contents or last.tool_calls or is_native(last, context):
        return messages
    extra = last.extra or {}
    own = {**extra.get(context.api, {}), "prefix": True}
    others = {api: _without_prefix(fields) if api == "openai-chat" else fields for api, fields in extra.items()}
    return [*messages[:-1], context.replace(last, extra={**others, context.api: own})]


def _without_prefix(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in CONTINUED or value is not True}


def with_known_order(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose roles follow each other as the API requires."""
    ordered: list[ChatMessage] = []
    before = "system"
    for message in messages:
        if not message.contents and not is_native(message, context):
            ordered.append(message)
            continue
        role = message.role
        if role == "developer":
            context.report_loss(message, "role", AS_SYSTEM)
            role = "system"
        if role == "system" and "system" not in FOLLOW.get(before, ()):
            context.report_loss(message, "role", NO_SYSTEM_HERE)
            role = "user"
        if role == "user" and before == "tool":
            context.report_loss(message.contents[0] if message.contents else message, None, BRIDGE)
            ordered.append(ChatMessage(role="assistant", contents=[TextContent(text="OK")], origin=message.origin))
        ordered.append(message if role == message.role else context.replace(message, role=role))
        before = role
    return ordered
