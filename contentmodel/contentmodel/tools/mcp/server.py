"""Serve tools over MCP: the reverse of `McpTools`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from contentmodel.content.tools import FunctionCallContent
from contentmodel.hints import wire_fields
from contentmodel.tools.definition import Tool
from contentmodel.tools.foreign import ForeignTool
from contentmodel.tools.input import is_slow, validate_input
from contentmodel.tools.mcp.results import McpResult, result_to_mcp, with_structured
from contentmodel.tools.outcome import result_of
from contentmodel.tools.sets import Definition, ToolSet
from contentmodel.tools.signature import ToolContext

if TYPE_CHECKING:
    from mcp.server import Server

log = logging.getLogger(__name__)


def serve(
    tools: ToolSet | Iterable[Tool | Definition | ForeignTool],
    *,
    name: str = "contentmodel",
    version: str = "",
    instructions: str | None = None,
    state: Any = None,
    timeout: float = 60.0,
    approve: Callable[[Tool, Any], bool] | None = None,
) -> Server[Any]:
    """Return a server of the package `mcp` that offers the tools that the application runs. Others are not offered.

    Arguments are validated before a tool runs. Faults and failures are results with `isError`. `state` is passed in the
    tools' context. `timeout` is in seconds, for tools without their own. A tool that needs approval is refused unless
    `approve(tool, args)` is true. Losses of an outcome are logged. Run the server over any transport of the package:
    `stdio_server`, `streamable_http_app`.
    """
    from mcp import MCPError, types
    from mcp.server import Server

    offered = tools if isinstance(tools, ToolSet) else ToolSet(tools)
    own_tools = {tool.name: tool for tool in offered if isinstance(tool, Tool)}

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in own_tools.values()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = own_tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name}")
        call = FunctionCallContent(call_id=str(context.request_id), name=tool.name, arguments=params.arguments or {})
        converted = await _run(
            tool, call, ToolContext(call_id=call.call_id, state=state), tool.timeout or timeout, approve
        )
        for loss in converted.losses:
            log.warning("the result of %s: %s at %s is %s: %s", tool.name, loss.what, loss.path, loss.kind, loss.why)
        result: types.CallToolResult = converted.result
        return result

    return Server(name, version=version, instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool)


async def _run(
    tool: Tool,
    call: FunctionCallContent,
    context: ToolContext,
    timeout: float,
    approve: Callable[[Tool, Any], bool] | None,
) -> McpResult:
    try:
        valid = validate_input
        # Slow validation runs off the event loop, so that other requests are not blocked.
        args = (await asyncio.to_thread(valid, tool, call) if is_slow(tool, call) else valid(tool, call)).args
        if tool.needs_approval(args) and not (approve and approve(tool, args)):
            raise PermissionError(f"{tool.name} was not approved: it did not run")
        outcome = await _outcome(tool, args, context, timeout)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        # Every exception of a tool is a result. Only a cancellation of the request is raised.
        return result_to_mcp(result_of(call, error))
    return result_to_mcp(outcome)


async def _outcome(tool: Tool, args: Any, context: ToolContext, timeout: float) -> Any:
    try:
        # Do not run the tool in a new task: an exception such as SystemExit would end the server.
        async with asyncio.timeout(timeout):
            if tool.is_async:
                outcome = await tool.invoke(args, context)
            else:
                # A thread cannot be stopped. After the timeout, the client gets an answer and the thread continues.
                outcome = await asyncio.to_thread(tool.invoke, args, context)
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"{tool.name} did not finish within {timeout:g} seconds") from error
    # If a tool declares an output schema, its result is sent as structured content too, besides the text.
    return with_structured(outcome) if tool.definition.returns else outcome


def _described(tool: Tool) -> Any:
    from mcp.types import Tool as McpToolType

    definition = tool.definition
    other_fields = wire_fields((definition.extra or {}).get("mcp", {}))
    schema = {"type": "object", **(definition.parameters or {})}
    fields = {**other_fields, "name": definition.name, "description": definition.description, "inputSchema": schema}
    if definition.returns is not None and definition.returns.get("type") == "object":
        fields["outputSchema"] = definition.returns
    return McpToolType.model_validate({key: value for key, value in fields.items() if value is not None})
