"""An MCP server for tests: `stdio`, `http` (prints its port), or `rogue` (sends invalid data)."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from typing import Any

PNG = "iVBORw0KGgo="
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
# Two to a page.
TOOLS: list[dict[str, Any]] = [
    {
        "name": "add",
        "title": "Addition",
        "description": "Adds.",
        "inputSchema": ADD,
        "annotations": {"readOnlyHint": True},
    },
    {"name": "picture", "description": "A picture.", "inputSchema": NOTHING, "annotations": {"destructiveHint": False}},
    {"name": "total", "description": "Adds, as data.", "inputSchema": ADD, "outputSchema": SUM},
    {"name": "fail", "description": "Fails.", "inputSchema": NOTHING, "annotations": {"destructiveHint": True}},
    {"name": "hang", "description": "Never ends.", "inputSchema": NOTHING},
    {"name": "exit", "description": "Ends the server.", "inputSchema": NOTHING},
    {"name": "cancelled", "description": "How many calls were cancelled.", "inputSchema": NOTHING},
    {"name": "refuse", "description": "Answers with a JSON-RPC error.", "inputSchema": NOTHING},
    {"name": "header", "description": "The header X-Test.", "inputSchema": NOTHING},
]
cancelled = 0


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def called(name: str, args: dict[str, Any], request: Any) -> dict[str, Any]:
    global cancelled
    if name == "add":
        return {"content": [text(str(args["a"] + args["b"]))], "_meta": {"cost": 1}}
    if name == "picture":
        link = {"type": "resource_link", "uri": "note://1", "name": "one", "description": "The first note."}
        resource = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "A."}}
        image = {"type": "image", "data": PNG, "mimeType": "image/png", "annotations": {"priority": 0.5}}
        return {"content": [image, resource, link]}
    if name == "total":
        return {"content": [], "structuredContent": {"sum": args["a"] + args["b"]}}
    if name == "fail":
        return {"content": [text("It did not work.")], "isError": True}
    if name == "hang":
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled += 1
            raise
    if name == "exit":
        os._exit(3)
    if name == "cancelled":
        return {"content": [text(str(cancelled))]}
    if name == "header":
        return {"content": [text(request.headers.get("x-test", "none"))]}
    from mcp import MCPError

    raise MCPError(-32602, f"no tool is named {name}")


def server() -> Any:
    from mcp import types
    from mcp.server import Server

    async def list_tools(context: Any, params: Any) -> Any:
        start = int((params and params.cursor) or 0)
        after = str(start + 2) if start + 2 < len(TOOLS) else None
        page = [types.Tool.model_validate(tool) for tool in TOOLS[start : start + 2]]
        return types.ListToolsResult(tools=page, next_cursor=after)

    async def call_tool(context: Any, params: Any) -> Any:
        answer = await called(params.name, params.arguments or {}, context.request)
        return types.CallToolResult.model_validate(answer)

    return Server("tests", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    from mcp.server.stdio import stdio_server

    made = server()
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())


def over_http() -> None:
    import uvicorn

    listening = socket.socket()
    # asyncio sets it only on sockets that it creates. Without it, each answer waits 40 ms for an acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.bind(("127.0.0.1", 0))
    # A client that reads the port may connect before the server listens.
    listening.listen()
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server().streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


# Invalid answers ------------------------------------------------------------------------------------------------------

# Each level refers to the next one twice: thirty levels take a billion steps.
BOMB = {
    "$ref": "#/$defs/a0",
    "$defs": {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(30)} | {"a30": {"type": "string"}},
}
ODD: list[Any] = [
    {"name": "good", "inputSchema": NOTHING},
    {"name": "text", "inputSchema": {"type": "string"}},
    {"name": "circle", "inputSchema": {"type": "object", "$ref": "#"}},
    {"name": "untyped", "inputSchema": {}, "outputSchema": {"$ref": "http://example.com/"}},
    {"name": "wrong", "inputSchema": {"type": "object", "required": 5}},
    {"name": 7, "inputSchema": NOTHING},
    {"name": "good", "description": "Again.", "inputSchema": NOTHING},
    {"name": "promise", "inputSchema": NOTHING, "outputSchema": SUM},
    {"name": "garbage", "inputSchema": NOTHING},
    {"name": "bomb", "inputSchema": NOTHING, "outputSchema": BOMB},
    {"name": "silence", "inputSchema": NOTHING},
    "no tool at all",
]


def rogue_answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "rogue", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": ODD, "nextCursor": "again"} if "endless" in sys.argv else {"tools": ODD}
    name = params.get("name")
    if name == "good":
        blocks = [{"type": "hologram", "data": [1, 2]}, {"type": "text", "text": "Hello.", "new": {"field": None}}]
        return {"content": blocks, "also": 1}
    if name == "bomb":
        return {"content": [], "structuredContent": {"a": 1}}
    if name == "promise":
        return {"content": [text("No sum.")], "structuredContent": {"sum": "many"}}
    return None if name == "silence" else {"content": "no list"}


def rogue() -> None:
    if "mute" in sys.argv:
        sys.stdin.read()
    print("this is no JSON", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        if request["method"] == "server/discover":
            reply: dict[str, Any] = {"error": {"code": -32601, "message": "unknown"}}
        else:
            answer = rogue_answer(request["method"], request.get("params") or {})
            if answer is None:
                continue
            reply = {"result": answer}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(over_stdio())
    elif sys.argv[1] == "http":
        over_http()
    else:
        rogue()
