"""MCP: the tools of an MCP server in our loop, our tools on an MCP server, and what both say as contents.

Needs the extra `mcp`. The package `mcp` is loaded when a server is opened or made, or a block is written.
"""

from contentmodel.extras import needs_extra

with needs_extra("mcp", "mcp"):
    from contentmodel.tools.mcp.blocks import McpBlocks, contents_from_mcp, contents_to_mcp
    from contentmodel.tools.mcp.client import McpOptions, McpTool, McpTools
    from contentmodel.tools.mcp.errors import McpError, McpTimeoutError
    from contentmodel.tools.mcp.results import McpResult, outcome_from_mcp, result_from_mcp, result_to_mcp
    from contentmodel.tools.mcp.server import serve

__all__ = [
    "McpBlocks",
    "McpError",
    "McpOptions",
    "McpResult",
    "McpTimeoutError",
    "McpTool",
    "McpTools",
    "contents_from_mcp",
    "contents_to_mcp",
    "outcome_from_mcp",
    "result_from_mcp",
    "result_to_mcp",
    "serve",
]
