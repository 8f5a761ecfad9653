"""Errors of MCP servers."""

from __future__ import annotations

from functools import partial
from typing import Any

from contentmodel.errors import ContentModelError


class McpError(ContentModelError, RuntimeError):
    """An MCP server failed: it closed the connection, refused the request, or sent invalid MCP.

    `server` is its name, `tool` the tool that was called (None: no call), `code` the JSON-RPC code if the server sent
    one. A tool that runs and fails raises no McpError: its result is an outcome with an error.
    """

    def __init__(self, server: str, why: str, *, tool: str | None = None, code: int | None = None) -> None:
        self.server, self.tool, self.code = server, tool, code
        self._why = why
        super().__init__(f"{tool} of the MCP server {server}: {why}" if tool else f"MCP server {server}: {why}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), tool=self.tool, code=self.code), (self.server, self._why), self.__dict__


class McpTimeoutError(McpError, TimeoutError):
    """An MCP server did not answer in time. The request was also cancelled on the server."""
