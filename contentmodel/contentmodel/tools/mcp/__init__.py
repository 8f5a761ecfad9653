"""Use the tools of an MCP server, serve tools over MCP, answer sampling requests, and convert blocks and results.

Needs the extra `mcp`. The package `mcp` is imported when a server is opened or made, or a block is written.
"""

from contentmodel.extras import needs_extra

with needs_extra("mcp", "mcp", "httpx2"):
    from contentmodel.tools.mcp.blocks import McpBlocks, contents_from_mcp, contents_to_mcp
    from contentmodel.tools.mcp.client import McpOptions, McpTool, McpTools
    from contentmodel.tools.mcp.errors import McpError, McpTimeoutError
    from contentmodel.tools.mcp.results import McpResult, outcome_from_mcp, result_from_mcp, result_to_mcp
    from contentmodel.tools.mcp.sampling import sampling_callback
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
    "sampling_callback",
    "serve",
]
