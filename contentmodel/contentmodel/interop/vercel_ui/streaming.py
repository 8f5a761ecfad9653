"""Write the chunks of a UI message for the events of a turn.

Source: `uiMessageChunkSchema`, `processUIMessageStream` and `DefaultChatTransport` of the npm package `ai`, versions
5.0.277, 6.0.326 and 7.0.173 (seen 2026-11-23).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import McpServerToolCallContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.events import Notice, StreamEvent, TurnComplete, TurnError
from contentmodel.interop.front_ends import (
    STOPPED,
    BlockWriter,
    Chunks,
    OpenBlock,
    arguments_of,
    call_of,
    counts_of,
    is_of_hosted_tool,
    message_of,
    output_of,
)
from contentmodel.json import JsonObject
from contentmodel.response import ChatResponse
from contentmodel.serialize import to_builtins

API = "vercel-ui-messages"
VERSIONS = ("5", "6", "7")
"""The major versions of the AI SDK whose streams can be written. Version 5 has no approvals."""
HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
END = b"data: [DONE]\n\n"
REFUSED = "refused"
"""The error code in the result of a call that the user rejected."""
_REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "content_filter": "content-filter",
    "refusal": "content-filter",
    "error": "error",
}


def ui_chunks(events: Iterable[StreamEvent], *, message_id: str, version: str = VERSIONS[-1]) -> Iterator[JsonObject]:
    """Convert the events of one turn to the chunks of a UI message, as they arrive.

    Send each as a server-sent event (`data: ` with its JSON), then `END`, with the headers `HEADERS`. `version` is the
    major version of the AI SDK that reads them. Opaque state of providers is not sent.
    """
    writer = VercelWriter(message_id, message_id, version)
    for event in events:
        yield from writer.chunks(event)


class VercelWriter(BlockWriter):
    """Write the chunks of the UI message with the id `message`. A run after approvals continues an existing message."""

    def __init__(self, turn: str, message: str, version: str = VERSIONS[-1]) -> None:
        super().__init__(turn)
        self._message, self._version, self._has_approvals = message, version, version != "5"
        self._sources: set[str] = set()
        self._calls: dict[str, ToolCallContent] = {}
        """The calls that were sent, by id."""

    def started(self, response: ChatResponse) -> Chunks:
        return [{"type": "start", "messageId": self._message}]

    def stepped(self) -> Chunks:
        return [*([{"type": "finish-step"}] if self.step > 1 else []), {"type": "start-step"}]

    def opened(self, block: OpenBlock) -> Chunks:
        content = block.content
        if isinstance(content, ToolCallContent):
            self._calls[block.call_id] = content
            return [{"type": "tool-input-start", **self._call(block)}]
        return [{"type": f"{_kind(content)}-start", "id": block.name}]

    def grown(self, block: OpenBlock, text: str) -> Chunks:
        content = block.content
        if isinstance(content, ToolCallContent):
            return [{"type": "tool-input-delta", "toolCallId": block.call_id, "inputTextDelta": text}]
        return [{"type": f"{_kind(content)}-delta", "id": block.name, "delta": text}]

    def ended(self, block: OpenBlock) -> Chunks:
        content = block.content
        if isinstance(content, ToolCallContent):
            self._calls[block.call_id] = content
            part = self._part(content) if is_of_hosted_tool(content) else {"input": arguments_of(content)}
            metadata = _readable(part, "callProviderMetadata")
            return [{"type": "tool-input-available", **self._call(block), "input": part.get("input"), **metadata}]
        end: JsonObject = {"type": f"{_kind(content)}-end", "id": block.name, **self._of_text(content)}
        return [end, *self._cited(content)]

    def whole(self, block: OpenBlock) -> Chunks:
        content = block.content
        if isinstance(content, ToolResultContent):
            return [self._result(content)]
        if isinstance(content, ToolApprovalRequestContent):
            return self._question(content, block)
        if isinstance(content, DataContent) and content.media_type and (url := _data_uri(content)) is not None:
            return [{"type": "file", "mediaType": content.media_type, "url": url}]
        if isinstance(content, UriContent):
            return [self._link(content, block)]
        # Other contents are sent as data parts. Front ends skip the types of data that they do not support.
        return [{"type": "data-content", "id": block.name, "data": to_builtins(content)}]

    def noticed(self, notice: Notice) -> Chunks:
        return [{"type": "data-notice", "data": to_builtins(notice), "transient": True}]

    def completed(self, event: TurnComplete) -> Chunks:
        response = event.response
        finish = next((choice.finish_reason for choice in response.choices if choice.finish_reason), None)
        usage = None if response.usage is None else counts_of(response.usage)
        metadata = {"model": response.model, "usage": usage}
        end: JsonObject = {"type": "finish", "messageMetadata": {k: v for k, v in metadata.items() if v is not None}}
        if finish is not None:
            end["finishReason"] = _REASONS.get(finish.reason, "other")
        return [*([{"type": "finish-step"}] if self.step else []), end]

    def failed(self, event: TurnError) -> Chunks:
        if event.error.code in STOPPED:
            return [{"type": "abort"}]
        return [{"type": "error", "errorText": message_of(event.error)}]

    def _call(self, block: OpenBlock) -> JsonObject:
        call = block.content
        part = self._part(call) if is_of_hosted_tool(call) else {}
        is_dynamic = part.get("type") == "dynamic-tool"
        name = part.get("toolName") if is_dynamic else part.get("type", "")[len("tool-") :]
        chunk: JsonObject = {"toolCallId": block.call_id, "toolName": name or call.name or "unknown"}
        if is_dynamic and name:
            chunk["dynamic"] = True
        return chunk if call.executor == "client" else {**chunk, "providerExecuted": True}

    def _result(self, result: ToolResultContent) -> JsonObject:
        chunk: JsonObject = {"toolCallId": result.call_id or ""}
        if result.executor != "client":
            chunk["providerExecuted"] = True
        error = result.error
        if error is not None and error.code == REFUSED and self._has_approvals:
            return {"type": "tool-output-denied", "toolCallId": result.call_id or ""}
        part = self._hosted_result(result) if is_of_hosted_tool(result) else {}
        chunk |= _readable(part, "resultProviderMetadata")
        if part.get("state", "output-error") == "output-error" and error is not None:
            text = part.get("errorText") or result.text or message_of(error)
            return {"type": "tool-output-error", **chunk, "errorText": text}
        output = part.get("output") if is_of_hosted_tool(result) else output_of(result)
        return {"type": "tool-output-available", **chunk, "output": output}

    def _of_text(self, content: AIContent) -> JsonObject:
        """Return the values of a provider beside a text: the id of its item, the phase and the annotations at OpenAI.

        Reasoning has none: the AI SDK would send the id of an item without the opaque state that it requires.
        """
        if not isinstance(content, TextContent) or not content.extra:
            return {}
        return _readable(self._first("text", content), "providerMetadata")

    def _part(self, *contents: AIContent) -> JsonObject:
        """Return the tool part of a call, and of its result if there is one, that the adapter writes."""
        return self._first("toolCallId", *contents)

    def _first(self, key: str, *contents: AIContent) -> JsonObject:
        """Return the first part with a key that the adapter writes for contents; {} if there is none."""
        (message,) = self.listed(API, contents, ai_sdk=self._version) or [{"parts": []}]
        return next((part for part in message["parts"] if key in part), {})

    def _hosted_result(self, result: ToolResultContent) -> JsonObject:
        call = self._calls.get(result.call_id or "")
        return self._part(result) if call is None else self._part(call, result)

    def _question(self, question: ToolApprovalRequestContent, block: OpenBlock) -> Chunks:
        name = question.request_id
        if not self._has_approvals:
            return [{"type": "data-approval-request", "id": name, "data": to_builtins(question)}]
        # Front ends find the call by its id. If a provider asks, its request is the only content of the call.
        call = OpenBlock(block.name, self._asked_call(question))
        asked = [] if call.call_id in self._calls else [*self.opened(call), *self.ended(call)]
        return [*asked, {"type": "tool-approval-request", "approvalId": name, "toolCallId": call.call_id}]

    def _asked_call(self, question: ToolApprovalRequestContent) -> ToolCallContent:
        """Return the call that a request asks for. OpenAI runs the tools of an MCP server."""
        if not self._part(question).get("providerExecuted"):
            return call_of(question)
        name, arguments = question.name, question.arguments or {}
        return McpServerToolCallContent(
            call_id=question.request_id, name=name, server=question.server, arguments=arguments
        )

    def _link(self, link: UriContent, block: OpenBlock) -> JsonObject:
        if link.media_type:
            return {"type": "file", "mediaType": link.media_type, "url": link.uri}
        titled = {"title": link.title} if link.title else {}
        return {"type": "source-url", "sourceId": block.name, "url": link.uri, **titled}

    def _cited(self, content: Any) -> Iterator[JsonObject]:
        """Yield the sources of a text. Each source is sent once in a message."""
        for citation in getattr(content, "annotations", None) or ():
            if isinstance(citation, Citation) and citation.url and citation.url not in self._sources:
                self._sources.add(citation.url)
                titled = {"title": citation.title} if citation.title else {}
                yield {"type": "source-url", "sourceId": citation.url, "url": citation.url, **titled}


def _readable(part: JsonObject, field: str) -> JsonObject:
    """Return the values of providers in a field of a part, as those of a chunk; {} if some are opaque state."""
    metadata: Any = part.get(field)
    providers = [fields for fields in metadata.values() if isinstance(fields, dict)] if metadata else []
    is_opaque = any("thoughtSignature" in fields for fields in providers)
    return {"providerMetadata": metadata} if providers and not is_opaque else {}


def _kind(content: Any) -> str:
    return "reasoning" if isinstance(content, ReasoningContent) else "text"


def _data_uri(content: DataContent) -> str | None:
    """Return the data URI of a content; None if its data is not base64."""
    try:
        return content.data_uri
    except ValueError:
        return None
