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
from contentmodel.engine.losses.encoded import Encoded, EncodedStream
from contentmodel.engine.losses.loss import Loss, LossError
from contentmodel.engine.pipeline.lowering import POLICIES
from contentmodel.engine.pipeline.names import Renames
from contentmodel.errors import ContentModelError, DecodeError, EncodeError, StreamError, UnknownApiError
from contentmodel.events import StreamEvent, fold
from contentmodel.interop import Hooks, register_hooks
from contentmodel.message import ChatMessage, FinishReason, Origin, assistant, system, tool_result, user
from contentmodel.planning import plan
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
