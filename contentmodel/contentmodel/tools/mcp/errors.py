"""What goes wrong between us and an MCP server."""

from __future__ import annotations

from contentmodel.errors import ContentModelError


class McpError(ContentModelError, RuntimeError):
    """An MCP server did not do what was asked: it is gone, refuses, or says what is not MCP.

    `server` names it, `tool` the tool that was called (None: nothing was), `code` is the JSON-RPC code where the
    server sent one. A tool that runs and fails is no McpError: its result is an outcome with an error.
    """

    def __init__(self, server: str, why: str, *, tool: str | None = None, code: int | None = None) -> None:
        self.server, self.tool, self.code = server, tool, code
        super().__init__(f"{tool} of the MCP server {server}: {why}" if tool else f"MCP server {server}: {why}")


class McpTimeoutError(McpError, TimeoutError):
    """An MCP server did not answer in time. The request was cancelled there as well."""
