"""A typed content model for LLM conversations, and lossless adapters for the providers' wire formats.

Convert a payload of one API to another, and list the values that the target cannot represent:

    encoded = contentmodel.convert(payload, source="anthropic-messages", target="openai-chat")
    encoded.payload, encoded.losses

Decode it into the model, change it, and encode it again:

    chat = contentmodel.adapter("openai-chat")
    request = chat.decode_request(payload)
    chat.encode_request(request).payload

Call a model through the provider's official SDK:

    client = contentmodel.chat_client("anthropic-messages", model="claude-opus-5")
    client.complete(contentmodel.ChatRequest(messages=[contentmodel.user("What is a monad?")])).text

Further modules: `content` (all content types), `events`, `streams`, `client` (streams and errors of clients), `errors`,
`tools`, `runner` (the agent loop), `history`, `server`, `rules`, `capabilities`, and `authoring` (to write an adapter).
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from contentmodel.interop import Hooks, register_hooks

if TYPE_CHECKING:
    from contentmodel.adapter import Adapter, adapter, adapters
    from contentmodel.auditing import audit
    from contentmodel.client import AsyncChatClient, ChatClient, async_chat_client, chat_client
    from contentmodel.content import (
        AIContent,
        Citation,
        Content,
        DataContent,
        DocumentContent,
        ErrorContent,
        FunctionCallContent,
        FunctionResultContent,
        HostedFileContent,
        HostedToolCallContent,
        HostedToolResultContent,
        Protected,
        ReasoningContent,
        TextContent,
        ToolCallContent,
        ToolResultContent,
        UnknownContent,
        UriContent,
    )
    from contentmodel.convert import check, convert
    from contentmodel.detecting import detect
    from contentmodel.encoded import Encoded, EncodedStream
    from contentmodel.errors import ContentModelError, DecodeError, EncodeError, StreamError, UnknownApiError
    from contentmodel.events import StreamEvent, fold
    from contentmodel.losses import Loss, LossError
    from contentmodel.message import ChatMessage, FinishReason, Origin, assistant, system, tool_result, user
    from contentmodel.planning import plan
    from contentmodel.policies import POLICIES
    from contentmodel.renames import Renames
    from contentmodel.request import (
        ChatOptions,
        ChatRequest,
        CustomTool,
        FunctionTool,
        HostedTool,
        ReasoningOptions,
        ResponseFormat,
        ToolChoice,
        ToolGroup,
    )
    from contentmodel.response import ChatChoice, ChatResponse
    from contentmodel.rules import Violation
    from contentmodel.serialize import dumps, loads, schema
    from contentmodel.streams import convert_stream, decode_stream, fold_stream
    from contentmodel.unfolding import unfold
    from contentmodel.usage import Usage

__version__ = "0.1.0"


def _pydantic_hooks() -> Hooks:
    from contentmodel.interop import pydantic

    return pydantic


register_hooks(_pydantic_hooks)

_NAMES = {
    "contentmodel.adapter": ("Adapter", "adapter", "adapters"),
    "contentmodel.auditing": ("audit",),
    "contentmodel.client": ("AsyncChatClient", "ChatClient", "async_chat_client", "chat_client"),
    "contentmodel.content": (
        "AIContent",
        "Citation",
        "Content",
        "DataContent",
        "DocumentContent",
        "ErrorContent",
        "FunctionCallContent",
        "FunctionResultContent",
        "HostedFileContent",
        "HostedToolCallContent",
        "HostedToolResultContent",
        "Protected",
        "ReasoningContent",
        "TextContent",
        "ToolCallContent",
        "ToolResultContent",
        "UnknownContent",
        "UriContent",
    ),
    "contentmodel.convert": ("check", "convert"),
    "contentmodel.detecting": ("detect",),
    "contentmodel.encoded": ("Encoded", "EncodedStream"),
    "contentmodel.losses": ("Loss", "LossError"),
    "contentmodel.policies": ("POLICIES",),
    "contentmodel.renames": ("Renames",),
    "contentmodel.errors": ("ContentModelError", "DecodeError", "EncodeError", "StreamError", "UnknownApiError"),
    "contentmodel.events": ("StreamEvent", "fold"),
    "contentmodel.message": ("ChatMessage", "FinishReason", "Origin", "assistant", "system", "tool_result", "user"),
    "contentmodel.planning": ("plan",),
    "contentmodel.request": (
        "ChatOptions",
        "ChatRequest",
        "CustomTool",
        "FunctionTool",
        "HostedTool",
        "ReasoningOptions",
        "ResponseFormat",
        "ToolChoice",
        "ToolGroup",
    ),
    "contentmodel.response": ("ChatChoice", "ChatResponse"),
    "contentmodel.rules": ("Violation",),
    "contentmodel.serialize": ("dumps", "loads", "schema"),
    "contentmodel.streams": ("convert_stream", "decode_stream", "fold_stream"),
    "contentmodel.unfolding": ("unfold",),
    "contentmodel.usage": ("Usage",),
}
"""The public names by module. A module is imported when one of its names is first used."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a public name from its module, or a module of the package, on first use."""
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    module = f"{__name__}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


class _Package(ModuleType):
    """The package. `adapter` and `convert` are functions, although their modules have the same names."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute. When a submodule is imported, it becomes an attribute of its package."""
        is_module = isinstance(value, ModuleType) and name in _MODULES
        super().__setattr__(name, getattr(value, name) if is_module else value)


sys.modules[__name__].__class__ = _Package

__all__ = [
    "AIContent",
    "Adapter",
    "AsyncChatClient",
    "ChatChoice",
    "ChatClient",
    "ChatMessage",
    "ChatOptions",
    "ChatRequest",
    "ChatResponse",
    "Citation",
    "Content",
    "ContentModelError",
    "CustomTool",
    "DataContent",
    "DecodeError",
    "DocumentContent",
    "EncodeError",
    "Encoded",
    "EncodedStream",
    "ErrorContent",
    "FinishReason",
    "FunctionCallContent",
    "FunctionResultContent",
    "FunctionTool",
    "HostedFileContent",
    "HostedTool",
    "HostedToolCallContent",
    "HostedToolResultContent",
    "Loss",
    "LossError",
    "Origin",
    "POLICIES",
    "Protected",
    "ReasoningContent",
    "ReasoningOptions",
    "Renames",
    "ResponseFormat",
    "StreamError",
    "StreamEvent",
    "TextContent",
    "ToolCallContent",
    "ToolChoice",
    "ToolGroup",
    "ToolResultContent",
    "UnknownApiError",
    "UnknownContent",
    "UriContent",
    "Usage",
    "Violation",
    "adapter",
    "adapters",
    "assistant",
    "async_chat_client",
    "audit",
    "chat_client",
    "check",
    "convert",
    "convert_stream",
    "decode_stream",
    "detect",
    "dumps",
    "fold",
    "fold_stream",
    "loads",
    "plan",
    "schema",
    "system",
    "tool_result",
    "unfold",
    "user",
]
