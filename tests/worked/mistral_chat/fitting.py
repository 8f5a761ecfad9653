"""Passes: changes of requests and answers of other APIs, before and after the table encodes them."""

from __future__ import annotations

from typing import Any

from contentmodel import ChatMessage, ChatRequest, ChatResponse, FunctionTool, TextContent
from contentmodel.authoring import EncodeContext, is_native, media, reasons
from mistral_chat.rules import FOLLOW

EMPTY_LINE = "\n\n"
READS = media.MediaSupport(
    media_types=("image/*", "application/*", "text/*"), links=("image/*", "application/*", "text/*")
)
NO_SYSTEM_HERE = reasons.degraded("mistral-chat-system", "{target} does not accept a system message here: sent as user")
AS_SYSTEM = reasons.degraded("mistral-chat-developer", "{target} has no role developer: sent as system")
BRIDGE = reasons.synthesized("mistral-chat-bridge", "{target} requires an answer between tool and user: a text is sent")


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


def with_json_schemas(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose schemas have the types of JSON Schema: Gemini has them in upper case."""
    tools = []
    for tool in request.tools:
        if isinstance(tool, FunctionTool) and (tool.parameters or {}).get("type") == "OBJECT":
            tool = context.replace(tool, parameters=lowered(tool.parameters))
        tools.append(tool)
    return context.replace(request, tools=tools)


def lowered(schema: Any) -> Any:
    """Return a schema with its types in lower case."""
    if isinstance(schema, list):
        return [lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: v.lower() if k == "type" and isinstance(v, str) else lowered(v) for k, v in schema.items()}


def with_separated_texts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer with an empty line between texts that have other contents between them."""
    is_parted: bool | None = None
    separated = []
    for message in messages:
        contents: list[Any] = []
        for content in message.contents:
            if not isinstance(content, TextContent):
                is_parted = None if is_parted is None else True
            elif content.text:
                contents += [context.replaced(content, TextContent(text=EMPTY_LINE))] if is_parted else []
                is_parted = False
            contents.append(content)
        separated.append(context.with_contents(message, contents))
    return separated


def with_counted_usage(response: ChatResponse, context: EncodeContext) -> ChatResponse:
    """Return a response whose counters of tokens include cached tokens and reasoning, as Mistral's do."""
    usage = response.usage
    if usage is None:
        return response
    totals = {"input_tokens": usage.all_input_tokens, "output_tokens": usage.all_output_tokens}
    changed = {name: total for name, total in totals.items() if total != (getattr(usage, name) or 0)}
    for name in changed:
        context.report_loss(usage, name, reasons.TOKEN_COUNTER_DIFFERS)
    return context.replace(response, usage=context.replace(usage, **changed)) if changed else response


def with_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a request with the required fields."""
    if "model" not in payload:
        context.report_loss(request, "model", reasons.NO_MODEL)
    return {"model": "", "messages": [], **payload}


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return an answer with the required fields, or the body of an error."""
    if response.error is not None and not response.choices:
        return {"object": "error", **payload}
    created = response.created
    if created is None:
        context.report_loss(response, "created", reasons.UNKNOWN_TIME)
        payload["created"] = 0
    elif isinstance(created, str):
        context.report_loss(response, "created", reasons.TIME_DROPPED, form="in whole seconds since 1970")
        payload["created"] = 0
    elif isinstance(created, float):
        context.report_loss(response, "created", reasons.TIME_ROUNDED)
        payload["created"] = int(created)
    for index, choice in enumerate(payload.get("choices", ())):
        choice.setdefault("index", index)
    return {"id": "", "object": "chat.completion", "model": "", "choices": [], "usage": {}, **payload}
