"""Approvals of the tools of MCP servers, and the programs that make calls, in the form of the AI SDK.

The SDK has a call for each request for an approval, and the answer with the flag of a tool that the provider runs.
Source: `openai-responses-language-model.ts` and `convert-to-openai-responses-input.ts` of @ai-sdk/openai 4.0 (seen
2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import is_
from typing import Any

from contentmodel.authoring import EncodeContext, is_native, reasons, with_contents
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import (
    Caller,
    FunctionResultContent,
    HostedToolCallContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
)
from contentmodel.message import ChatMessage

OPENAI, ISSUER, OF_SERVER = "openai-responses", "openai", "mcp."
"""The API with such approvals, its name in parts, and the beginning of the names of the tools of MCP servers."""


def with_server_approvals(messages: list[ChatMessage], context: EncodeContext, options: str = "") -> list[ChatMessage]:
    """Return messages with approvals of the tools of MCP servers in the SDK's form.

    `options` is the field of model messages with the values of providers.
    """
    contents = [content for message in messages for content in message.contents]
    called = {content.call_id for content in contents if isinstance(content, ToolCallContent)}
    return [
        with_contents(
            message,
            [changed for content in message.contents for changed in _in_sdk_form(content, called, context, options)],
        )
        if message.origin is not None and message.origin.api == OPENAI and not is_native(message, context)
        else message
        for message in messages
    ]


def _in_sdk_form(
    content: AIContent, called: Collection[str | None], context: EncodeContext, options: str
) -> Iterator[AIContent]:
    if isinstance(content, ToolApprovalRequestContent):
        yield from _request(content, context)
    elif isinstance(content, ToolApprovalResponseContent) and options:
        # Without the flag, the SDK does not send the answer.
        yield context.with_fields(content, {"providerExecuted": True})
    elif isinstance(content, FunctionResultContent) and content.caller and options and content.call_id in called:
        yield _of_program(content, content.caller, context, options)
    else:
        yield content


Decoder = Callable[[dict[str, Any]], AIContent]


def with_functions(messages: list[ChatMessage], context: EncodeContext, decode: Decoder) -> list[ChatMessage]:
    """Return messages of other APIs whose blocks of providers that the application runs are functions of the format.

    `decode` decodes a part.
    """
    clients: set[Any] = set()
    changed = []
    for message in messages:
        contents: list[AIContent] = []
        for content in message.contents if not is_native(message, context) else ():
            block: Any = content.block if isinstance(content, UnknownContent) and content.api == context.api else {}
            call_id = block.get("toolCallId") if block.__class__ is dict else None
            if call_id is not None and "input" in block and not block.get("providerExecuted"):
                clients.add(call_id)
            contents.append(context.replaced(content, decode(block)) if call_id in clients else content)
        is_same = not contents or all(map(is_, contents, message.contents))
        changed.append(message if is_same else with_contents(message, contents))
    return changed


def _request(request: ToolApprovalRequestContent, context: EncodeContext) -> Iterator[AIContent]:
    """Yield the call that the SDK makes of a request, and the request."""
    name = f"{OF_SERVER}{request.name}"
    context.report_loss(request, None, reasons.CALL_OF_APPROVAL)
    context.report_loss(request, "name", reasons.OTHER_VALUE, value=name)
    call = HostedToolCallContent(call_id=request.request_id, name=name, arguments=request.arguments or {})
    yield context.replaced(request, call)
    yield context.replace(request, name=name)


def _of_program(result: FunctionResultContent, caller: Caller, context: EncodeContext, options: str) -> AIContent:
    """Return a result with the program that made the call in the values of the provider."""
    fields = {"type": caller.kind, **({} if caller.call_id is None else {"callerId": caller.call_id})}
    return context.with_fields(context.replace(result, caller=None), {options: {ISSUER: {"caller": fields}}})
