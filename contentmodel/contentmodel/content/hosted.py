"""Hosted tools with a dedicated class: one call type and one result type per purpose of a tool.

The fields are those of the base classes. `arguments` is the input in the provider's format.
"""

from __future__ import annotations

from typing import Any

from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.literals import Executor, Open


class WebSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A web search."""

    @property
    def queries(self) -> list[str]:
        """The search queries, from `arguments["queries"]` or `arguments["query"]`."""
        arguments = self.arguments if isinstance(self.arguments, dict) else {}
        queries = arguments.get("queries") or [arguments.get("query")]
        return [query for query in queries if isinstance(query, str)]


class WebSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The pages found, as `UriContent` outputs."""


class WebFetchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A fetch of a page or file by URL."""


class WebFetchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The fetched document."""


class UrlContextToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """The provider reads pages whose URLs are in the prompt."""


class UrlContextToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The pages that the provider did or did not retrieve."""


class CodeInterpreterToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Code that the provider runs."""


class CodeInterpreterToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The output of the code, and the files that it created."""


class ShellToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Shell commands to run."""


class ShellToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The output of the commands."""


class TextEditorToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A view or an edit of a file."""


class TextEditorToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The text of the file, or the change."""


class ApplyPatchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A patch of files. The application applies it."""

    executor: Open[Executor] = "client"


class ApplyPatchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The outcome of a patch."""

    executor: Open[Executor] = "client"


class ComputerUseToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A computer action (click, key press, screenshot). The application performs it."""

    executor: Open[Executor] = "client"


class ComputerUseToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The screen after the action."""

    executor: Open[Executor] = "client"


class BrowserToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A browser action. The application performs it."""

    executor: Open[Executor] = "client"


class BrowserToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The browser after the action."""

    executor: Open[Executor] = "client"


class FileSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search in files stored by the provider."""


class FileSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The passages found."""


class ImageGenerationToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A request to generate an image."""


class ImageGenerationToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The generated image, as a `DataContent` output."""


class McpServerToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A call of an MCP server's tool, made by the provider."""

    server: str | None = None
    """The label of the server."""


class McpServerToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The result of an MCP server's tool."""

    server: str | None = None
    """The label of the server."""


class McpListToolsToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A request of the provider for the tools of an MCP server."""

    server: str | None = None
    """The label of the server."""


class McpListToolsToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The tools of an MCP server."""

    server: str | None = None
    """The label of the server."""
    tools: list[dict[str, Any]] | None = None
    """The definitions, as the server describes them."""


class ToolSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search among tools whose definitions are loaded only when needed."""


class ToolSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The tools found."""

    tools: list[dict[str, Any]] | None = None
    """Names or definitions of the tools, in the provider's format."""


class MemoryToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A read or write of the model's memory files. The application stores the files."""

    executor: Open[Executor] = "client"


class MemoryToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The result of a memory operation."""

    executor: Open[Executor] = "client"


class MapsToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search for places or routes."""


class MapsToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The places or routes found."""


class AdvisorToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A request for advice from another model."""


class AdvisorToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The advice."""


class ProgramToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A program written by the model that can call tools."""


class ProgramToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The result of the program."""


class MediaProcessingToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A step of the provider's processing of media."""


class MediaProcessingToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The result of processing media."""
