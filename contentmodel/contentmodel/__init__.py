"""A typed content model for LLM conversations, and lossless adapters for the providers' wire formats."""

from contentmodel.adapter import Adapter, adapter, adapters
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.citations import Citation, Span
from contentmodel.content.documents import DocumentContent
from contentmodel.content.hosted import AdvisorToolCallContent, AdvisorToolResultContent, ApplyPatchToolCallContent, ApplyPatchToolResultContent, BrowserToolCallContent, BrowserToolResultContent, CodeInterpreterToolCallContent, CodeInterpreterToolResultContent, ComputerUseToolCallContent, ComputerUseToolResultContent, FileSearchToolCallContent, FileSearchToolResultContent, ImageGenerationToolCallContent, ImageGenerationToolResultContent, MapsToolCallContent, MapsToolResultContent, McpListToolsToolCallContent, McpListToolsToolResultContent, McpServerToolCallContent, McpServerToolResultContent, MediaProcessingToolCallContent, MediaProcessingToolResultContent, MemoryToolCallContent, MemoryToolResultContent, ProgramToolCallContent, ProgramToolResultContent, ShellToolCallContent, ShellToolResultContent, TextEditorToolCallContent, TextEditorToolResultContent, ToolSearchToolCallContent, ToolSearchToolResultContent, UrlContextToolCallContent, UrlContextToolResultContent, WebFetchToolCallContent, WebFetchToolResultContent, WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, HostedVectorStoreContent, MediaContent, UriContent, media_type_matches
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent, ErrorContent, ReferenceContent, ToolChangeContent, UnknownContent, UsageContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent, convert_span, join_texts, splice_text
from contentmodel.content.tools import Caller, CustomToolCallContent, CustomToolResultContent, FunctionCallContent, FunctionResultContent, HostedToolCallContent, HostedToolResultContent, InputRequestContent, InputResponseContent, ToolApprovalRequestContent, ToolApprovalResponseContent, ToolCallContent, ToolResultContent
from contentmodel.content import CONTENT_TYPES, Content
from contentmodel.convert import convert, detect
from contentmodel.errors import ContentModelError, DecodeError, DetectError, EncodeError, Fault, ToolArgumentsError, UnknownApiError
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatOptions, ChatRequest, CustomTool, FunctionTool, HostedTool, ReasoningOptions, ResponseFormat, ToolChoice, ToolGroup
from contentmodel.response import ChatChoice, ChatResponse, FinishReason
from contentmodel.serialize import dumps, loads, schema
from contentmodel.usage import Usage
from contentmodel.wire.losses import Encoded, Loss, LossError
from contentmodel.wire.lowering import POLICIES

__version__ = "0.1.0"

__all__ = [
    "AIContent",
    "Adapter",
    "AdvisorToolCallContent",
    "AdvisorToolResultContent",
    "ApplyPatchToolCallContent",
    "ApplyPatchToolResultContent",
    "BrowserToolCallContent",
    "BrowserToolResultContent",
    "CONTENT_TYPES",
    "Caller",
    "ChatChoice",
    "ChatMessage",
    "ChatOptions",
    "ChatRequest",
    "ChatResponse",
    "Citation",
    "CodeInterpreterToolCallContent",
    "CodeInterpreterToolResultContent",
    "CompactionContent",
    "ComputerUseToolCallContent",
    "ComputerUseToolResultContent",
    "ConfigurationContent",
    "Content",
    "ContentModelError",
    "CustomTool",
    "CustomToolCallContent",
    "CustomToolResultContent",
    "DataContent",
    "DecodeError",
    "DetectError",
    "DocumentContent",
    "EncodeError",
    "Encoded",
    "ErrorContent",
    "Fault",
    "FileSearchToolCallContent",
    "FileSearchToolResultContent",
    "FinishReason",
    "FunctionCallContent",
    "FunctionResultContent",
    "FunctionTool",
    "HostedFileContent",
    "HostedTool",
    "HostedToolCallContent",
    "HostedToolResultContent",
    "HostedVectorStoreContent",
    "ImageGenerationToolCallContent",
    "ImageGenerationToolResultContent",
    "InputRequestContent",
    "InputResponseContent",
    "Loss",
    "LossError",
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
    "Origin",
    "POLICIES",
    "ProgramToolCallContent",
    "ProgramToolResultContent",
    "Protected",
    "ReasoningContent",
    "ReasoningOptions",
    "ReferenceContent",
    "ResponseFormat",
    "ShellToolCallContent",
    "ShellToolResultContent",
    "Span",
    "TextContent",
    "TextEditorToolCallContent",
    "TextEditorToolResultContent",
    "ToolApprovalRequestContent",
    "ToolApprovalResponseContent",
    "ToolArgumentsError",
    "ToolCallContent",
    "ToolChangeContent",
    "ToolChoice",
    "ToolGroup",
    "ToolResultContent",
    "ToolSearchToolCallContent",
    "ToolSearchToolResultContent",
    "UnknownApiError",
    "UnknownContent",
    "UriContent",
    "UrlContextToolCallContent",
    "UrlContextToolResultContent",
    "Usage",
    "UsageContent",
    "WebFetchToolCallContent",
    "WebFetchToolResultContent",
    "WebSearchToolCallContent",
    "WebSearchToolResultContent",
    "adapter",
    "adapters",
    "convert",
    "convert_span",
    "detect",
    "dumps",
    "join_texts",
    "loads",
    "media_type_matches",
    "schema",
    "splice_text",
]
