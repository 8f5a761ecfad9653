"""Hosted tools of Claude that a framework keeps. Their calls and results become blocks of Claude again.

The frameworks themselves send them so: `_native_tools.py` of Pydantic AI 2.68, and `convert-to-anthropic-prompt.ts` of
@ai-sdk/anthropic 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from contentmodel.authoring import EncodeContext, Record, Row, object_of, reasons
from contentmodel.content.tools import Caller, ToolCallContent, ToolResultContent
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import Origin
from contentmodel.request import ChatRequest, HostedTool
from contentmodel_adapters.common.objects import in_snake_case
from contentmodel_adapters.common.pairs.ai_sdk_results import OF_PROGRAM, completed_form
from contentmodel_adapters.common.pairs.kept_results import (
    ANTHROPIC,
    MODEL_MESSAGES,
    UI_MESSAGES,
    decoded,
    has_failed,
    is_hosted,
    kept_parts,
    sdk_pair,
    with_own_contents,
)


class ClaudeCaller(Record[Caller]):
    """The caller of a call. Of those that other formats keep, only a program of Claude is sent.

    langchain-anthropic 1.7.10 and @ai-sdk/anthropic 4.0 send it too (seen 2026-11-27).
    """

    def __init__(self, row: Row) -> None:
        super().__init__(row, provider_only=True)

    def encode(self, value: Caller, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        is_own = value.kind.startswith("code_execution_")
        return self.row.encode(value, context) if is_own else super().encode(value, context, owner)


_TOOLS = ("web_search", "web_fetch", "bash_code_execution", "text_editor_code_execution", "code_execution", "advisor")
Blocks = tuple[dict[str, Any], dict[str, Any]]


def with_hosted_of_claude(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose calls and results of Claude's hosted tools, kept by a framework, stay hosted.

    The advisor's are sent only if the request has the advisor: the API refuses them otherwise.
    """
    has_advisor = any(isinstance(tool, HostedTool) and tool.kind == "advisor" for tool in request.tools or ())

    def own(call: Any, result: Any, origin: Origin) -> list[Any]:
        blocks = _blocks_of(call, result, origin)
        if blocks is None or (blocks[0]["name"] == "advisor" and not has_advisor):
            return []
        made = _decoded(blocks)
        if made and origin.api == UI_MESSAGES and has_failed(result) and blocks[0]["type"] != "mcp_tool_use":
            # The text is JSON of the block.
            context.report_loss(result, "outputs", reasons.IN_STATE)
        if made and call.name == blocks[0]["name"] and arguments_of(call).get("type") == OF_PROGRAM:
            context.report_loss(call, "arguments$.type", reasons.FIXED_NAME)
        return made

    return _with_programs(with_own_contents(request, context, _READERS, own), context)


def _with_programs(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request in which programs without a result stay hosted if they made other calls of the request.

    Such a program waits for the results of its calls, and the API refuses calls of a program that it does not get.
    """
    contents = [content for message in request.messages for content in message.contents]
    callers = {
        call.caller.call_id for call in contents if isinstance(call, ToolCallContent) and call.caller is not None
    }
    answered = {getattr(content, "call_id", None) for content in contents if is_hosted(content, ToolResultContent)}
    waiting = callers - answered - {None}
    if not waiting or context.policies.get("hosted_tools", "function") != "function":
        return request
    messages = [
        context.with_contents(message, [_program(content, waiting, context) for content in message.contents])
        if message.origin is not None and message.origin.api in (UI_MESSAGES, MODEL_MESSAGES)
        else message
        for message in request.messages
    ]
    return context.with_messages(request, messages)


def _program(content: Any, waiting: Collection[Any], context: EncodeContext) -> Any:
    if not is_hosted(content, ToolCallContent) or content.call_id not in waiting or content.name != "code_execution":
        return content
    arguments = arguments_of(content)
    if not isinstance(arguments, dict):
        return content
    given = {name: value for name, value in arguments.items() if name != "type"}
    block = {"type": "server_tool_use", "id": content.call_id, "name": content.name, "input": given}
    made = context.replaced(content, decoded(ANTHROPIC, {"messages": [{"role": "assistant", "content": [block]}]})[0])
    if "type" in arguments:
        context.report_loss(content, "arguments$.type", reasons.FIXED_NAME)
    context.own_contents[id(made)] = made
    return made


def _blocks_of(call: Any, result: Any, origin: Origin) -> Blocks | None:
    """Return the blocks of a call and its result in a framework's format; None if they are not Claude's."""
    arguments = arguments_of(call)
    parts = kept_parts(call, result, origin)
    if not parts or arguments.__class__ is not dict:
        return None
    blocks = _READERS[origin.api](call, arguments, parts, origin.issuer)
    if blocks is None or (has_failed(result) and not _is_failure(blocks[1])):
        return None
    return blocks


def _is_failure(block: dict[str, Any]) -> bool:
    return block.get("is_error") is True or str(object_of(block, "content").get("type")).endswith("_error")


def _decoded(blocks: Blocks) -> list[Any]:
    """Return the contents of a call and its result; [] if the API has no such blocks."""
    contents = decoded(ANTHROPIC, {"messages": [{"role": "assistant", "content": list(blocks)}]})
    return contents if all(map(is_hosted, contents, (ToolCallContent, ToolResultContent))) else []


# -- what frameworks keep ----------------------------------------------------------------------------------------------


def _of_sdk(call: Any, arguments: dict[str, Any], parts: list[dict[str, Any]], issuer: str) -> Blocks | None:
    pair = sdk_pair(parts)
    if pair is None:
        return None
    called = object_of(pair.of_call, "anthropic")
    used: dict[str, Any] = {"name": call.name, "input": arguments, **_caller_of(call)}
    if called.get("type") == "mcp-tool-use":
        content = [{"type": "text", "text": pair.value}] if isinstance(pair.value, str) else pair.value
        fields = {"content": content, **({"is_error": True} if pair.failed else {})}
        is_own = isinstance(content, list)
        return _blocks("mcp", call, {**used, "server_name": called.get("serverName")}, fields) if is_own else None
    value = completed_form(pair.value)
    if value is None:
        return None
    if value.__class__ is list and value[0]["type"] == "tool_reference":
        return _blocks("tool_search", call, used, {"content": _found([match["toolName"] for match in value])})
    tool = _tool_of(value)
    if tool is None:
        return None
    if tool == "tool_search":
        return _blocks(tool, call, used, {"content": in_snake_case(value)})
    if tool.endswith("code_execution"):
        arguments = {key: item for key, item in arguments.items() if key != "type"}
    return _blocks(tool, call, {**used, "name": tool, "input": arguments}, {"content": in_snake_case(value)})


def _caller_of(call: ToolCallContent) -> dict[str, Any]:
    """Return the field of a block for the program that makes a call; {} if the model itself makes it."""
    caller = call.caller
    if caller is None or caller.kind == "direct":
        return {}
    return {"caller": {"type": caller.kind, **({} if caller.call_id is None else {"tool_id": caller.call_id})}}


_READERS = {UI_MESSAGES: _of_sdk, MODEL_MESSAGES: _of_sdk}


def _blocks(tool: str, call: Any, used: Mapping[str, Any], fields: Mapping[str, Any]) -> Blocks:
    kind = "mcp_tool_use" if tool == "mcp" else "server_tool_use"
    result = {"type": f"{tool}_tool_result", "tool_use_id": call.call_id, **fields}
    return {"type": kind, "id": call.call_id, **used}, result


def _found(names: list[Any]) -> dict[str, Any]:
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    return {"type": "tool_search_tool_search_result", "tool_references": references}


def _tool_of(value: Any) -> str | None:
    """Return the tool that made a result, by the type of the result or of its first block."""
    block = value[0] if value.__class__ is list and value else value
    kind = str(block.get("type")).removeprefix("encrypted_") if block.__class__ is dict else ""
    return next((tool for tool in (*_TOOLS, "tool_search") if kind.startswith(f"{tool}_")), None)
