"""The content types: the parts of messages.

`Content` is the tagged union of all content types. `CONTENT_TYPES` lists them. `AIContent` is their base class. The
package root exports the most common ones.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from contentmodel.content import documents, hosted, media, outcomes, reasoning, text, tools
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.caching import CachePoint
from contentmodel.content.citations import Citation, Span
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import (
    AdvisorToolCallContent,
    AdvisorToolResultContent,
    ApplyPatchToolCallContent,
    ApplyPatchToolResultContent,
    BrowserToolCallContent,
    BrowserToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    FileSearchToolCallContent,
    FileSearchToolResultContent,
    ImageGenerationToolCallContent,
    ImageGenerationToolResultContent,
    MapsToolCallContent,
    MapsToolResultContent,
    McpListToolsToolCallContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    MediaProcessingToolCallContent,
    MediaProcessingToolResultContent,
    MemoryToolCallContent,
    MemoryToolResultContent,
    ProgramToolCallContent,
    ProgramToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    TextEditorToolCallContent,
    TextEditorToolResultContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
    UrlContextToolCallContent,
    UrlContextToolResultContent,
    WebFetchToolCallContent,
    WebFetchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import (
    DataContent,
    HostedFileContent,
    HostedVectorStoreContent,
    MediaContent,
    UriContent,
    media_type_matches,
)
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
    UnknownContent,
    UsageContent,
)
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.registering import REGISTERED, register
from contentmodel.content.text import JsonContent, TextContent, convert_span, join_texts, splice_text
from contentmodel.content.tools import (
    Caller,
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.interop import Discriminated

_ABSTRACT = {"AIContent", "MediaContent", "ToolCallContent", "ToolResultContent"}


def _concrete(module: Any) -> list[type[AIContent]]:
    return [
        value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, AIContent) and name not in _ABSTRACT
    ]


CONTENT_TYPES: tuple[type[AIContent], ...] = tuple(
    dict.fromkeys(c for m in (text, reasoning, media, documents, outcomes, tools, hosted) for c in _concrete(m))
)
"""Every concrete content type."""

_RESULTS = {kind.__name__: kind for kind in CONTENT_TYPES if issubclass(kind, tools.ToolResultContent)}


def result_type(call: tools.ToolCallContent) -> type[tools.ToolResultContent]:
    """Return the type of the result of a call: `WebSearchToolResultContent` for a `WebSearchToolCallContent`.

    For a type of an application, return the registered type with the matching name, or the type for its nearest base
    class. Return `FunctionResultContent` if there is no such type.
    """
    registered = {kind.__name__: kind for kind in REGISTERED.values() if issubclass(kind, tools.ToolResultContent)}
    for base in type(call).__mro__:
        name = base.__name__.replace("CallContent", "ResultContent")
        kind = _RESULTS.get(name) or registered.get(name)
        if kind is not None:
            return kind
    return tools.FunctionResultContent


if TYPE_CHECKING:
    from contentmodel.content.given import Contents

    Content = AIContent
else:
    Content = Annotated[reduce(or_, CONTENT_TYPES), Discriminated(AIContent)]
    Contents = list[Content]
    # msgspec resolves an annotation in the module that contains it.
    tools.Content, documents.Contents = Content, Contents

__all__ = [
    "AIContent",
    "AdvisorToolCallContent",
    "AdvisorToolResultContent",
    "ApplyPatchToolCallContent",
    "ApplyPatchToolResultContent",
    "BrowserToolCallContent",
    "BrowserToolResultContent",
    "CONTENT_TYPES",
    "CachePoint",
    "Caller",
    "Citation",
    "CodeInterpreterToolCallContent",
    "CodeInterpreterToolResultContent",
    "CompactionContent",
    "ComputerUseToolCallContent",
    "ComputerUseToolResultContent",
    "ConfigurationContent",
    "Content",
    "Contents",
    "CustomToolCallContent",
    "CustomToolResultContent",
    "DataContent",
    "DocumentContent",
    "ErrorContent",
    "FileSearchToolCallContent",
    "FileSearchToolResultContent",
    "FunctionCallContent",
    "FunctionResultContent",
    "HostedFileContent",
    "HostedToolCallContent",
    "HostedToolResultContent",
    "HostedVectorStoreContent",
    "ImageGenerationToolCallContent",
    "ImageGenerationToolResultContent",
    "InputRequestContent",
    "InputResponseContent",
    "JsonContent",
    "MapsToolCallContent",
    "MapsToolResultContent",
    "McpListToolsToolCallContent",
    "McpListToolsToolResultContent",
    "McpServerToolCallContent",
    "McpServerToolResultContent",
    "MediaContent",
    "MediaProcessingToolCallContent",
    "MediaProcessingToolResultContent",
    "MemoryToolCallContent",
    "MemoryToolResultContent",
    "ProgramToolCallContent",
    "ProgramToolResultContent",
    "Protected",
    "ReasoningContent",
    "ReferenceContent",
    "ShellToolCallContent",
    "ShellToolResultContent",
    "Span",
    "TextContent",
    "TextEditorToolCallContent",
    "TextEditorToolResultContent",
    "ToolApprovalRequestContent",
    "ToolApprovalResponseContent",
    "ToolCallContent",
    "ToolChangeContent",
    "ToolResultContent",
    "ToolSearchToolCallContent",
    "ToolSearchToolResultContent",
    "UnknownContent",
    "UriContent",
    "UrlContextToolCallContent",
    "UrlContextToolResultContent",
    "UsageContent",
    "WebFetchToolCallContent",
    "WebFetchToolResultContent",
    "WebSearchToolCallContent",
    "WebSearchToolResultContent",
    "convert_span",
    "join_texts",
    "media_type_matches",
    "register",
    "result_type",
    "splice_text",
]
