"""The hosted tools that have a class of their own: a call and a result each, told apart by what the tool does.

The fields are those of the bases; `arguments` is the input in the provider's own words.
"""

from __future__ import annotations

from typing import Any

from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel.literals import Executor, Open


class WebSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A web search."""

    @property
    def queries(self) -> list[str]:
        """What was searched for, however the API spells it."""
        arguments = self.arguments if isinstance(self.arguments, dict) else {}
        queries = arguments.get("queries") or [arguments.get("query")]
        return [query for query in queries if isinstance(query, str)]


class WebSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """Pages found: `UriContent` outputs."""


class WebFetchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """The fetch of a page or file by its address."""


class WebFetchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The fetched document."""


class UrlContextToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Pages named in the prompt, read by the provider."""


class UrlContextToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The pages that were read, or not."""


class CodeInterpreterToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Code that the provider runs."""


class CodeInterpreterToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What the code printed, and the files it made."""


class ShellToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Shell commands."""


class ShellToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What the commands printed."""


class TextEditorToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A view or an edit of a file."""


class TextEditorToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The file's text, or what changed."""


class ApplyPatchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A patch of files; the application applies it."""

    executor: Open[Executor] = "client"


class ApplyPatchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """How the patch went."""

    executor: Open[Executor] = "client"


class ComputerUseToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Clicks, keys and screenshots; the application carries them out."""

    executor: Open[Executor] = "client"


class ComputerUseToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The screen afterwards."""

    executor: Open[Executor] = "client"


class BrowserToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """An action in a browser; the application carries it out."""

    executor: Open[Executor] = "client"


class BrowserToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The browser afterwards."""

    executor: Open[Executor] = "client"


class FileSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search in files that the provider keeps."""


class FileSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """Passages found."""


class ImageGenerationToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """An image to make."""


class ImageGenerationToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The image that was made: a `DataContent` output."""


class McpServerToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A call of an MCP server's tool, made by the provider. `server` is its label."""

    server: str | None = None


class McpServerToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What the MCP server's tool gave back."""

    server: str | None = None


class McpListToolsToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """The provider asks an MCP server for its tools."""

    server: str | None = None


class McpListToolsToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The tools that an MCP server offers, as it describes them."""

    server: str | None = None
    tools: list[dict[str, Any]] | None = None


class ToolSearchToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search among tools whose definitions are loaded only when needed."""


class ToolSearchToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The tools found: names, or definitions as the provider writes them in `tools`."""

    tools: list[dict[str, Any]] | None = None


class MemoryToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A read or write of the model's memory files; the application keeps them."""

    executor: Open[Executor] = "client"


class MemoryToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What the memory holds."""

    executor: Open[Executor] = "client"


class MapsToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A search for places or routes."""


class MapsToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """Places found."""


class AdvisorToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """Advice asked of another model."""


class AdvisorToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """The advice."""


class ProgramToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A program of the model that calls tools itself."""


class ProgramToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What the program gave back."""


class MediaProcessingToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A look into media that the provider takes step by step."""


class MediaProcessingToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """What was seen."""
