"""Results of hosted tools of Anthropic and Google as the Vercel AI SDK keeps them: JSON of the provider.

The SDK sends such results back to their provider only in this form, and with the names and the metadata that its
providers write. Source: `convert-to-anthropic-prompt.ts` of @ai-sdk/anthropic and `convert-to-google-messages.ts` of
@ai-sdk/google, as in ai 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, camel_name, is_native
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import McpServerToolCallContent, McpServerToolResultContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest

ANTHROPIC, GOOGLE = "anthropic-messages", "google-generate-content"
_IN_CODE = ("bash_code_execution", "text_editor_code_execution")
"""The tools of Anthropic that are kinds of code execution in the SDK: the input has the kind."""
_AS_IT_IS = (*(f"{name}_tool_result" for name in ("code_execution", *_IN_CODE)), "mcp_tool_result")
"""The results whose fields keep their names."""


def with_provider_results(
    messages: list[ChatMessage], context: EncodeContext, *, at: str, errors: bool
) -> list[ChatMessage]:
    """Return messages of other APIs with the hosted tools of Anthropic and Google as the SDK keeps them.

    `at` is the field of parts with the values of providers. If not `errors`, failed results stay as they are.
    """
    return [
        message
        if is_native(message, context) or message.origin is None or message.origin.api not in (ANTHROPIC, GOOGLE)
        else context.with_contents(message, list(_provided(message, message.origin.api, context, at, errors)))
        for message in messages
    ]


def _provided(message: ChatMessage, api: str, context: EncodeContext, at: str, errors: bool) -> Iterator[AIContent]:
    servers: dict[str | None, str] = {}
    for content in message.contents:
        made: Any = content
        if isinstance(content, HostedToolResultContent):
            failed = content.is_error is True or content.error is not None
            made = content if failed and not errors else _with_json(content, api, context, failed=failed)
        elif isinstance(content, HostedToolCallContent) and content.name in _IN_CODE:
            arguments = {"type": content.name, **content.arguments_object}
            made = context.replace(content, name="code_execution", arguments=arguments)
        if isinstance(made, McpServerToolCallContent) and made.server is not None:
            servers[made.call_id] = made.server
            made = context.replace(made, server=None, extra=_of_server(made, made.server, context, at))
        elif isinstance(made, McpServerToolResultContent) and made.call_id in servers:
            made = context.replace(made, extra=_of_server(made, servers[made.call_id], context, at))
        yield made


def _of_server(content: Any, server: str, context: EncodeContext, at: str) -> dict[str, dict[str, Any]]:
    """Return the residue of a call or a result of an MCP server with the metadata of @ai-sdk/anthropic."""
    fields = {"anthropic": {"type": "mcp-tool-use", "serverName": server}}
    return {**(content.extra or {}), context.api: {at: fields}}


def _with_json(content: Any, api: str, context: EncodeContext, *, failed: bool) -> Any:
    value = _anthropic_json(_block(content, api)) if api == ANTHROPIC else _google_json(_block(content, api))
    if value is None:
        return content
    extra = {name: residue for name, residue in (content.extra or {}).items() if name != api}
    # The outcome of code of Google is in the JSON.
    status = {"status": None} if hasattr(content, "status") else {}
    fields = {"outputs": [JsonContent(value=value)], "is_error": True if failed else None, **status}
    return context.replace(content, extra=extra or None, **fields)


def _block(content: Any, api: str) -> dict[str, Any]:
    """Return the block of a result in the format of its provider; {} if it has no block there."""
    origin = Origin(api=api, issuer=installed(api).issuer)
    message = ChatMessage(role="assistant", contents=[content], origin=origin)
    payload = installed(api).encode_request(ChatRequest(messages=[message], origin=origin)).payload
    messages = payload["contents" if api == GOOGLE else "messages"] or [{}]
    blocks = messages[0].get("parts" if api == GOOGLE else "content")
    block = blocks[0] if blocks.__class__ is list and len(blocks) == 1 else None
    return block if block.__class__ is dict else {}


def _google_json(part: dict[str, Any]) -> Any:
    result = part.get("codeExecutionResult")
    return {key: value for key, value in result.items() if key != "id"} if result.__class__ is dict else None


def _anthropic_json(block: dict[str, Any]) -> Any:
    content = block.get("content")
    if not str(block.get("type")).endswith("_tool_result") or content.__class__ not in (dict, list):
        return None
    if block["type"] in _AS_IT_IS:
        return content
    found = content.get("tool_references") if content.__class__ is dict else None
    return _in_camel_case(content if found is None else found)


def _in_camel_case(value: Any) -> Any:
    if value.__class__ is list:
        return [_in_camel_case(item) for item in value]
    if value.__class__ is not dict:
        return value
    return {camel_name(key): _in_camel_case(item) for key, item in value.items()}
