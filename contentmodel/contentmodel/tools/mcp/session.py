"""Sessions with an MCP server: open them over stdio or HTTP, list tools, and call tools.

The server's messages are kept as JSON. The classes of the package `mcp` drop unknown fields, refuse unknown blocks, and
refuse a whole list because of one invalid tool. So our own sessions pass the original answer in `_meta` of a simplified
one.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TextIO

from contentmodel.errors import Fault, MissingExtraError
from contentmodel.tools.config.clients import authorization, private_url, redact_log
from contentmodel.tools.mcp.blocks import json_of
from contentmodel.tools.mcp.bounds import TOO_DEEP, bounded_encoding, response_hook
from contentmodel.tools.mcp.errors import McpError, McpTimeoutError
from contentmodel.tools.mcp.session_loop import reason
from contentmodel.tools.schema import schema_faults
from contentmodel.tools.validation import InputLimits, limited

if TYPE_CHECKING:
    from mcp import Client, ClientSession

Open = Callable[[AsyncExitStack], Awaitable[Any]]

MAX_PAGES = 200
"""The maximum number of pages of a list of tools, in case it never ends."""
MAX_TOOLS = 1000
"""The maximum number of a server's tools."""
MAX_NAME = 128
"""The maximum number of characters of a tool's name."""
MAX_DESCRIPTION = 100_000
"""The maximum number of characters of a tool's description."""
LONGEST_CALL = 600.0
"""The time limit in seconds of a call without any other limit."""

# The key is random, so that no server can write to it.
_KEPT = f"contentmodel/{secrets.token_hex(8)}"
_TOO_MANY = f"the server has more than {MAX_TOOLS} tools"
_STAMP = "io.modelcontextprotocol/serverInfo"


def over_stdio(
    command: str,
    args: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    stderr: TextIO | None,
    max_bytes: int,
) -> Open:
    """Open a server as a process, and use its standard input and output."""

    async def open_session(stack: AsyncExitStack) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        environment = None if env is None else dict(env)
        encoding = bounded_encoding(max_bytes)
        server = StdioServerParameters(command=command, args=list(args), env=environment, cwd=cwd, encoding=encoding)
        streams = await stack.enter_async_context(stdio_client(server, stderr or sys.__stderr__ or sys.stderr))
        return await _session(stack, streams)

    return open_session


def over_http(url: str, headers: Mapping[str, str] | None, max_bytes: int) -> Open:
    """Open a server over streamable HTTP; `headers` are sent with every request.

    The name and password of `url` become an Authorization header, and its query is removed from the log.
    """

    async def open_session(stack: AsyncExitStack) -> Any:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        # An answer may be a stream that is silent for minutes. Each call has its own timeout.
        timeout = httpx2.Timeout(30.0, read=LONGEST_CALL)

        async def private(request: httpx2.Request) -> None:
            request.url = private_url(request.url)

        redact_log()
        address = httpx2.URL(url)
        all_headers = {
            **authorization(address.username, address.password),
            **_lower(headers),
            "accept-encoding": "identity",
        }
        hooks: dict[str, list[Any]] = {"request": [private], "response": [response_hook(max_bytes)]}
        client = httpx2.AsyncClient(headers=all_headers, timeout=timeout, event_hooks=hooks)
        await stack.enter_async_context(client)
        plain_url = str(address.copy_with(userinfo=b""))
        streams = streamable_http_client(plain_url, http_client=client, max_sse_event_size=max_bytes)
        return await _session(stack, await stack.enter_async_context(streams))

    return open_session


def _lower(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}


async def _session(stack: AsyncExitStack, streams: Any) -> Any:
    """Return a session over a transport, with the newest protocol version that the server supports."""
    from mcp import ClientSession, MCPError
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

    class Keeping(JSONRPCDispatcher):
        async def send_raw_request(self, method: str, *args: Any, **more: Any) -> dict[str, Any]:
            answer = await super().send_raw_request(method, *args, **more)
            if method != "tools/list":
                return _with_kept_result(method, answer)
            # Check schemas on a thread, so that the event loop can detect the timeout.
            return await asyncio.to_thread(_with_kept_tools, answer)

    session = await stack.enter_async_context(ClientSession(dispatcher=Keeping(*streams)))
    try:
        await session.discover()
    except (MCPError, RuntimeError, ValueError):
        await session.initialize()
    return session


def _with_kept_result(method: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return a result that the classes of `mcp` can always read, with the original answer in `_meta`."""
    if method != "tools/call" or not isinstance(answer.get("content"), list):
        return answer
    simplified: dict[str, Any] = {key: answer[key] for key in ("resultType", "isError") if key in answer}
    return {**simplified, "content": [], "_meta": {_KEPT: answer}}


def _with_kept_tools(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a page of tools in a form that the classes of `mcp` can always read, with the faults of each tool."""
    tools = answer.get("tools")
    if not isinstance(tools, list):
        return answer
    faults = [_faults(tool) if index < MAX_TOOLS else [_TOO_MANY] for index, tool in enumerate(tools)]
    usable = [_bare(tool) for tool, wrong in zip(tools, faults, strict=True) if not wrong]
    return {**answer, "tools": usable, "_meta": {_KEPT: {"tools": tools, "faults": faults}}}


def _bare(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a tool that the session needs: it defines which arguments are sent as HTTP headers."""
    return {"name": tool["name"], "inputSchema": {**tool["inputSchema"], "type": "object"}}


def _faults(tool: Any) -> list[str]:
    """Return why a tool of a server's list cannot be used."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"]:
        return ["the name is missing"]
    if len(tool["name"]) > MAX_NAME or not tool["name"].isprintable():
        return [f"the name has more than {MAX_NAME} characters, or unprintable characters"]
    description = tool.get("description")
    if not isinstance(description, str | None):
        return ["the description is not a text"]
    if len(description or "") > MAX_DESCRIPTION:
        return [f"the description has more than {MAX_DESCRIPTION:,} characters"]
    if not isinstance(tool.get("inputSchema"), dict):
        return [f"the inputSchema is {TOO_DEEP if tool.get('inputSchema') == TOO_DEEP else 'not an object'}"]
    return [f"the inputSchema: {fault}" for fault in schema_faults(tool["inputSchema"])]


async def list_tools(
    session: Client | ClientSession, server: str, seconds: float
) -> tuple[list[dict[str, Any]], list[Fault]]:
    """Return every usable tool of the server, as JSON, and the faults of the others.

    Checking the schemas takes at most `seconds`.
    """
    with limited(InputLimits(seconds=seconds)):
        return await _listed(session, server)


async def _listed(session: Client | ClientSession, server: str) -> tuple[list[dict[str, Any]], list[Fault]]:
    tools: list[dict[str, Any]] = []
    faults: list[Fault] = []
    seen, cursor, count = set[str | None](), None, 0
    while cursor not in seen and len(seen) < MAX_PAGES and count < MAX_TOOLS:
        seen.add(cursor)
        page = await _page(session, server, cursor)
        original: Any = (page.meta or {}).get(_KEPT)
        received = original or await asyncio.to_thread(_checked, json_of(page))
        accepted = {tool.name for tool in page.tools}
        for tool, wrong in zip(received["tools"], received["faults"], strict=True):
            if not wrong and tool["name"] not in accepted:
                wrong = ["the package mcp refuses the tool: an x-mcp-header in its inputSchema is not valid"]
            if not wrong and count >= MAX_TOOLS:
                wrong = [_TOO_MANY]
            if wrong:
                faults.append(Fault(f"$.tools[{count}]", f"{_name(tool)}: {'; '.join(wrong)}"))
            else:
                tools.append(tool)
            count += 1
        cursor = page.next_cursor
        if cursor is None:
            return tools, faults[:MAX_TOOLS]
    faults.append(Fault("$.nextCursor", f"the list of tools has no end: reading stopped after {len(seen)} pages"))
    return tools, faults[-MAX_TOOLS:]


def _checked(page: dict[str, Any]) -> dict[str, Any]:
    return {"tools": page["tools"], "faults": [_faults(tool) for tool in page["tools"]]}


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name[:MAX_NAME] if isinstance(name, str) and name else "a tool"


async def _page(session: Any, server: str, cursor: str | None) -> Any:
    from mcp import Client
    from mcp.types import PaginatedRequestParams

    try:
        if isinstance(session, Client):
            return await session.list_tools(cursor=cursor)
        return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
    except Exception as error:
        raise as_mcp_error(error, server, None) from error


async def call_tool(session: Any, server: str, name: str, args: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Return the result of a call as JSON. Raise McpError if there is none."""
    try:
        result = await session.call_tool(name, args, read_timeout_seconds=timeout)
    except Exception as error:
        raise as_mcp_error(error, server, name) from error
    received = (result.meta or {}).get(_KEPT) or json_of(result)
    if received.get("resultType", "complete") != "complete":
        raise McpError(server, f"the result is not complete: {str(received['resultType'])[:MAX_NAME]}", tool=name)
    meta = received.get("_meta")
    if not isinstance(meta, dict) or _STAMP not in meta:
        return dict(received)
    # Every answer contains the server's info, which does not belong to the result.
    other_meta = {key: value for key, value in meta.items() if key != _STAMP}
    without = {key: value for key, value in received.items() if key != "_meta"}
    return {**without, "_meta": other_meta} if other_meta else without


def clean_name(name: Any) -> str:
    """Return the name of a server for errors, which a model may read: short and printable; "" if it has none."""
    text = name[:MAX_NAME] if isinstance(name, str) else ""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def has_lost_session(error: McpError) -> bool:
    """Return whether a server over HTTP no longer has the session, for example because it was restarted."""
    return error.code == _INVALID_REQUEST and _TERMINATED in str(error)


_INVALID_REQUEST, _TERMINATED = -32600, "Session terminated"
"""The error that the package `mcp` makes of the HTTP status 404."""


def as_mcp_error(error: Exception, server: str, tool: str | None) -> McpError:
    """Convert an exception of the package `mcp` to an McpError."""
    if isinstance(error, McpError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return McpError(server, str(MissingExtraError("mcp", error.name or "a package")), tool=tool)
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT
    from pydantic import ValidationError

    if isinstance(error, TimeoutError):
        return McpTimeoutError(server, "the server did not answer in time", tool=tool)
    if isinstance(error, MCPError):
        if error.code == REQUEST_TIMEOUT:
            return McpTimeoutError(server, "the server did not answer in time", tool=tool, code=error.code)
        if error.code == CONNECTION_CLOSED:
            return McpError(server, "the server closed the connection", tool=tool, code=error.code)
        return McpError(server, error.message or "the server refused the request", tool=tool, code=error.code)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        return McpError(server, f"the server sent invalid MCP: {first['msg']} at {path}", tool=tool)
    return McpError(server, reason(error), tool=tool)
