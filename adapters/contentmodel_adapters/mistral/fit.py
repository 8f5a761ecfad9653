"""The steps that adapt requests and answers of other APIs to Mistral, in their order."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatMessage, ChatRequest, ChatResponse, TextContent
from contentmodel.authoring import (
    EncodeContext,
    Fact,
    Kinds,
    Turns,
    dotted_key,
    foreign,
    hints,
    is_native,
    media,
    object_of,
    objects_of,
    payload_step,
    place_instructions,
    reasons,
    request_step,
    settings,
    text_of,
    transcript_step,
    turn_step,
    whole_seconds,
    with_fields_of,
    with_fitting_calls,
    with_json_schemas,
    with_known_tools,
    with_normalized_texts,
    without_settings_of_tools,
    without_user_messages,
)
from contentmodel_adapters.mistral.rules import CALL_IDS, FOLLOW, TOOL_NAMES

TYPES = ("image/*", "application/*", "text/*")
READS = media.MediaSupport(media_types=TYPES, links=TYPES)
READS_WITH_AUDIO = media.MediaSupport(media_types=(*TYPES, "audio/*"), links=TYPES)
OF_CHAT = ("prediction", "prompt_cache_key")
"""Fields of requests that Chat Completions has, too (ChatCompletionRequest of mistralai 3.7.0, seen 2026-11-27)."""
NO_SYSTEM_HERE = reasons.degraded("mistral-chat-system", "{target} accepts no system message here: it is sent as user")
AS_SYSTEM = reasons.degraded("mistral-chat-developer", "{target} has no developer role: the message is sent as system")
BRIDGE = reasons.synthesized("mistral-chat-bridge", "{target} requires an assistant message before it: one is added")


def reads(context: EncodeContext) -> media.MediaSupport:
    """Return the media that the model reads. Only some models read audio."""
    return READS_WITH_AUDIO if "audio" in (context.known.capabilities.media or ()) else READS


def without_empty_answer(message: ChatMessage, context: EncodeContext) -> Turns:
    """Leave out a message of the assistant that has only empty texts."""
    is_text = (content.__class__ is TextContent and not content.text for content in message.contents)
    if message.role != "assistant" or not all(is_text):
        return message
    for content in message.contents:
        context.report_loss(content, None, reasons.BLANK_TEXT)
    foreign.leave_empty(message, context)
    return []


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


CONTINUED = ("prefix", "partial")
"""The fields of DeepSeek and Moonshot for a last message that the model continues.

api-docs.deepseek.com/guides/chat_prefix_completion, platform.kimi.ai/docs/api/partial; seen 2026-11-27.
"""


def with_prefix(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with the field `prefix` in the last one if it is an answer, which the model is to continue."""
    last = messages[-1] if messages else None
    if last is None or last.role != "assistant" or not last.contents or last.tool_calls or is_native(last, context):
        return messages
    extra = dict(last.extra or {})
    if "openai-chat" in extra:
        fields = extra["openai-chat"].items()
        extra["openai-chat"] = {k: v for k, v in fields if k not in CONTINUED or v is not True}
    extra[context.api] = {**extra.get(context.api, {}), "prefix": True}
    return [*messages[:-1], context.replace(last, extra=extra)]


REQUEST_STEPS = (
    request_step(with_fields_of, other="openai-chat", names=OF_CHAT, needs=(("extra", "openai-chat"),)),
    request_step(settings.with_fitting_settings, native=True, form=settings.OPENAI),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(place_instructions, native=True),
    *foreign.NORMALIZE,
    *media.with_readable_media(reads),
    turn_step(without_empty_answer, TextContent, needs=(Fact.BLANK_TEXT,)),
    request_step(foreign.with_a_turn),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
    transcript_step(with_known_order, needs=("system", "developer", "tool")),
    transcript_step(with_prefix, needs=("assistant",)),
    request_step(with_json_schemas),
)


def with_text_of_prediction(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose prediction is one text. In Chat Completions, it may be a list of texts."""
    prediction = object_of(payload, "prediction")
    if prediction.get("content").__class__ is not list:
        return payload
    for at, part in enumerate(prediction["content"]):
        for key in part.keys() - {"type", "text"} if part.__class__ is dict else ():
            lost = f"{hints.INSIDE}prediction.content.{at}.{dotted_key(key)}"
            context.report_loss(request, lost, reasons.PROVIDER_FIELD, api="openai-chat", source="openai-chat")
    text = "".join(text_of(part, "text") or "" for part in objects_of(prediction, "content"))
    return {**payload, "prediction": {**prediction, "content": text}}


REQUEST_PAYLOAD_STEPS = (
    payload_step(foreign.with_model),
    payload_step(without_settings_of_tools, keys=("tool_choice", "parallel_tool_calls")),
    payload_step(with_text_of_prediction, keys=("prediction",)),
)
ANSWER_STEPS = (transcript_step(without_user_messages), transcript_step(with_normalized_texts, native=True))


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return an answer with the required fields, or the body of an error."""
    if response.error is not None and not response.choices:
        return {"object": "error", **payload}
    payload["created"] = whole_seconds(response, context)
    for index, choice in enumerate(payload.get("choices", ())):
        choice.setdefault("index", index)
    usage = {"prompt_tokens": 0, "completion_tokens": 0, **payload.pop("usage", {})}
    usage.setdefault("total_tokens", usage["prompt_tokens"] + usage["completion_tokens"])
    return {"id": "", "object": "chat.completion", "model": "", "choices": [], "usage": usage, **payload}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
