"""Convert the events of a turn to the chunks of a front end's protocol.

A protocol sends each block once, from its start to its end, and cannot replace it. The events of a turn may repeat a
whole block (`BlockCatchUp`). If the block only grew, its new text is sent; if it changed, it is sent as another block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from contentmodel.adapter import adapter
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.errors import ToolArgumentsError
from contentmodel.events import (
    CANCELLED,
    ArgumentsDelta,
    BlockCatchUp,
    BlockStart,
    BlockStop,
    Notice,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
)
from contentmodel.json import Json, JsonObject
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins
from contentmodel.usage import Usage

Chunks: TypeAlias = Iterable[JsonObject]
STOPPED = frozenset({CANCELLED, "interrupted"})
"""The error codes of turns that a user stopped."""


class OpenBlock:
    """A block that has started: its name in the protocol, its latest content, and the text that was sent."""

    def __init__(self, name: str, content: Any) -> None:
        self.name, self.content = name, content
        self.sent = ""

    @property
    def call_id(self) -> str:
        """The id of a call. A call without one gets the name of its block."""
        return self.content.call_id or self.name


class BlockWriter(ABC):
    """The state of one stream. Subclasses write the chunks of a protocol.

    `turn` is the id of the turn. `step` is the number of the current model call, from 1; 0 before the first block.
    """

    def __init__(self, turn: str) -> None:
        self.turn, self.step = turn, 0
        self._has_started = self._has_results = False
        self._origin: Origin | None = None
        self._open: dict[int, OpenBlock] = {}
        self._done: dict[int, AIContent] = {}
        self._names = 0

    def chunks(self, event: StreamEvent) -> Iterator[JsonObject]:
        """Yield the chunks of an event."""
        if isinstance(event, TextDelta | ReasoningDelta):
            yield from self._grow(event.index, event.text)
        elif isinstance(event, ArgumentsDelta):
            # Deltas of arguments that are not text have no chunk: the whole call has their values.
            yield from self._grow(event.index, event.text if event.path is None else "")
        elif isinstance(event, BlockStart):
            yield from self._begin(event.index, event.content)
        elif isinstance(event, BlockStop):
            yield from self._begin(event.index, event.content)
            yield from self._end(event.index, event.content)
        elif isinstance(event, BlockCatchUp):
            yield from self._begin(event.index, event.content)
            if event.is_complete and not grows(event.content):
                yield from self._end(event.index, event.content)
        elif isinstance(event, TurnStart):
            self._origin = event.response.origin
            yield from self._start(event.response)
        elif isinstance(event, Notice):
            yield from self.noticed(event)
        elif isinstance(event, TurnComplete | TurnError):
            yield from self._start(event.response)
            yield from self._end_all()
            yield from self.completed(event) if isinstance(event, TurnComplete) else self.failed(event)

    def _start(self, response: ChatResponse) -> Chunks:
        if self._has_started:
            return ()
        self._has_started = True
        return self.started(response)

    def _begin(self, index: int, content: Any) -> Iterator[JsonObject]:
        block = self._open.get(index)
        if block is None:
            if self._done.get(index) == content:
                return
            yield from self._stepped(content)
            block = self._open[index] = OpenBlock(self._new_name(index), content)
            if grows(content):
                yield from self.opened(block)
        block.content = content
        text = text_of(content)
        if text is None:
            return
        if not text.startswith(block.sent):
            # The block was rewritten. The front end cannot replace it, so it shows both versions.
            yield from self._end(index, block.content)
            yield from self._begin(index, content)
        elif text != block.sent:
            yield from self._grow(index, text[len(block.sent) :])

    def _grow(self, index: int, text: str) -> Chunks:
        block = self._open.get(index)
        if block is None or not text or not grows(block.content):
            # A content that is sent whole may grow: its end has all of it.
            return ()
        block.sent += text
        return self.grown(block, text)

    def _end(self, index: int, content: Any) -> Iterator[JsonObject]:
        block = self._open.pop(index, None)
        if block is None:
            return
        block.content = content
        self._done[index] = content
        if isinstance(content, ErrorContent) and not block.sent:
            yield from self.grown(block, message_of(content))
        yield from self.ended(block) if grows(content) else self.whole(block)

    def _stepped(self, content: AIContent) -> Iterator[JsonObject]:
        """Begin a step at the model's first block, and at its first block after the results of its calls."""
        is_result = is_clients_result(content)
        if is_result:
            # If there are results, their calls are complete, even if the last events of the calls are missing.
            yield from self._end_all()
        elif not self.step or self._has_results:
            yield from self._end_all()
            self.step += 1
            yield from self.stepped()
        self._has_results = is_result

    def _end_all(self) -> Iterator[JsonObject]:
        for index, block in list(self._open.items()):
            yield from self._end(index, block.content)

    def _new_name(self, index: int) -> str:
        self._names += 1
        return f"{self.turn}-{index}" if index not in self._done else f"{self.turn}-{index}-{self._names}"

    def listed(self, api: str, contents: Sequence[AIContent], **policies: str) -> list[JsonObject]:
        """Return the messages that the adapter of a protocol writes for contents, so that both show the same."""
        message = ChatMessage(role="assistant", contents=contents, origin=self._origin)
        payload: Any = adapter(api).encode_request(ChatRequest(messages=[message]), policies).payload
        messages: list[JsonObject] = payload["messages"] if isinstance(payload, dict) else payload
        return messages

    # -- methods of a protocol -----------------------------------------------------------------------------------------

    @abstractmethod
    def started(self, response: ChatResponse) -> Chunks:
        """Return the chunks for the start of the turn."""

    @abstractmethod
    def stepped(self) -> Chunks:
        """Return the chunks for the start of a step. `self.step` is its number."""

    @abstractmethod
    def opened(self, block: OpenBlock) -> Chunks:
        """Return the chunks for the start of a text, an error, reasoning or a call."""

    @abstractmethod
    def grown(self, block: OpenBlock, text: str) -> Chunks:
        """Return the chunks for a piece of a text, of an error, of reasoning or of the arguments of a call."""

    @abstractmethod
    def ended(self, block: OpenBlock) -> Chunks:
        """Return the chunks for the end of a text, an error, reasoning or a call."""

    @abstractmethod
    def whole(self, block: OpenBlock) -> Chunks:
        """Return the chunks for a content that is sent whole."""

    @abstractmethod
    def noticed(self, notice: Notice) -> Chunks:
        """Return the chunks for a notice to the user."""

    @abstractmethod
    def completed(self, event: TurnComplete) -> Chunks:
        """Return the last chunks of a turn."""

    @abstractmethod
    def failed(self, event: TurnError) -> Chunks:
        """Return the last chunks of a turn that failed or was interrupted."""


def grows(content: AIContent) -> bool:
    """Return whether a content is sent in pieces."""
    return isinstance(content, TextContent | ErrorContent | ReasoningContent | ToolCallContent)


def text_of(content: AIContent) -> str | None:
    """Return the text that deltas extend: a text, a refusal, reasoning, or the arguments of a call as JSON text.

    Return None if the content has no such text. The arguments may be an object although their deltas are text.
    """
    if isinstance(content, ToolCallContent):
        return content.arguments if isinstance(content.arguments, str) else None
    if isinstance(content, ErrorContent):
        return content.message or ""
    return content.text or "" if isinstance(content, TextContent | ReasoningContent) else None


def is_of_hosted_tool(content: AIContent) -> bool:
    """Return whether a content is a call or a result of a tool that an API defines: protocols have names for these."""
    types = (FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent)
    return isinstance(content, ToolCallContent | ToolResultContent) and not isinstance(content, types)


def is_clients_result(content: AIContent) -> bool:
    """Return whether a content is the result of a tool that the application runs."""
    return isinstance(content, ToolResultContent) and content.executor == "client"


def call_of(request: ToolApprovalRequestContent) -> FunctionCallContent:
    """Return the call that a request for approval asks for, if the turn does not have it: a tool of an MCP server."""
    return FunctionCallContent(call_id=request.request_id, name=request.name, arguments=request.arguments or {})


def arguments_of(call: ToolCallContent) -> Json:
    """Return the arguments of a call as an object; as text if they are not an object, or the tool takes free text."""
    if isinstance(call, CustomToolCallContent):
        return call.arguments
    try:
        return call.arguments_object
    except ToolArgumentsError:
        return call.arguments


def output_of(result: ToolResultContent) -> Json:
    """Return a result in the form for front ends: its artifact, its only JSON value, its text, or all its outputs."""
    if result.artifact is not None or not result.outputs:
        return result.artifact
    if len(result.outputs) == 1 and isinstance(result.outputs[0], JsonContent):
        return result.outputs[0].value
    if all(isinstance(output, TextContent | JsonContent) for output in result.outputs):
        return result.text
    return [to_builtins(output) for output in result.outputs]


def message_of(error: ErrorContent) -> str:
    """Return the text of an error for users: its message, or its code if it has no message."""
    return error.message or error.code or "failed"


def counts_of(usage: Usage) -> JsonObject:
    """Return the token counts that are set, under the names that both protocols use."""
    counts = {
        "inputTokens": usage.all_input_tokens,
        "outputTokens": usage.all_output_tokens,
        "totalTokens": usage.total_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "cachedInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}
