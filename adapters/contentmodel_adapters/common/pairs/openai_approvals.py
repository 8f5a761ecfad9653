"""Approvals of the tools of MCP servers that the AI SDK keeps. They become approvals of the Responses API again.

The SDK keeps the request for an approval with a call that has an id of its own, and without the label of the server. It
sends the answer after a reference to the request, which the API stores. It sends no request without an answer.
Source: `convert-to-openai-responses-input.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Any

from contentmodel.authoring import EncodeContext, Reason, hints, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import McpServerToolCallContent
from contentmodel.content.outcomes import ReferenceContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.approvals import APPROVALS
from contentmodel_adapters.common.pairs.kept_results import SDK_FORMATS, is_hosted, is_kept


def with_approvals_of_openai(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose approvals of tools of MCP servers, kept by the AI SDK, are those of the Responses API.

    Each answer follows a reference to its request. A denied call has no result in this API.
    """
    are_kept = [is_kept(message, SDK_FORMATS, context) for message in request.messages]
    kept = list(compress(request.messages, are_kept))
    approvals = _Approvals(kept, context, is_stored=request.options.store is not False)
    messages = [
        context.with_contents(message, approvals.changed(message.contents)) if is_changed else message
        for message, is_changed in zip(request.messages, are_kept, strict=True)
    ]
    return context.with_messages(request, messages)


class _Approvals:
    """The requests for approvals of a conversation, with their calls and answers."""

    def __init__(self, messages: list[ChatMessage], context: EncodeContext, *, is_stored: bool) -> None:
        self._context, self._is_stored = context, is_stored
        self._requests: dict[str, ToolApprovalRequestContent] = {}
        self._calls: dict[str | None, str] = {}
        """The ids of the requests for calls that have no other result than a denial, by the ids of the calls."""
        self._answered: set[str] = set()
        self._referred: set[str] = set()
        results: set[str | None] = set()
        for message in messages:
            called: ToolCallContent | None = None
            for content in message.contents:
                if isinstance(content, ToolCallContent):
                    called = content if _is_of_server(content) else None
                elif isinstance(content, ToolApprovalRequestContent) and called is not None:
                    self._requests[content.request_id] = content
                    self._calls[called.call_id] = content.request_id
                elif isinstance(content, ToolApprovalResponseContent):
                    self._answered.add(content.request_id)
                elif isinstance(content, ToolResultContent) and content.outcome != "denied":
                    results.add(content.call_id)
        self._calls = {call: request for call, request in self._calls.items() if call not in results}

    def changed(self, contents: Iterable[AIContent]) -> list[AIContent]:
        """Return contents with the approvals of the API."""
        return [made for content in contents for made in self._made_of(content)]

    def _made_of(self, content: Any) -> list[AIContent]:
        context = self._context
        if isinstance(content, ToolCallContent) and content.call_id in self._calls:
            context.report_loss(content, None, self._reason_for(self._calls[content.call_id]))
            return []
        if isinstance(content, ToolResultContent) and content.call_id in self._calls:
            context.report_loss(content, None, reasons.REPEATED_REASON)
            return []
        request_id = content.request_id if isinstance(content, APPROVALS) else None
        if request_id not in self._requests:
            return [content]
        if isinstance(content, ToolApprovalResponseContent):
            return [*self._reference(request_id), content]
        if self._reason_for(request_id) is reasons.STORED_WITH_ITEM:
            # The rest of the request is in its call.
            context.leave_residue(content, own=True)
        else:
            context.report_loss(content, None, reasons.PENDING_HOSTED_CALL)
        return []

    def _reason_for(self, request_id: str) -> Reason:
        is_sent = self._is_stored and request_id in self._answered
        return reasons.STORED_WITH_ITEM if is_sent else reasons.PENDING_HOSTED_CALL

    def _reference(self, request_id: str) -> list[AIContent]:
        """Return the reference to a request, if the API stores it. Each request has one."""
        request = self._requests[request_id]
        if not self._is_stored or request_id in self._referred:
            return []
        self._referred.add(request_id)
        made = ReferenceContent(item_id=request_id, extra=hints.GUEST.extra(self._context.api, "reference"))
        return [self._context.replaced(request, made)]


def _is_of_server(call: ToolCallContent) -> bool:
    is_named = (call.name or "").startswith("mcp.")
    return is_hosted(call, ToolCallContent) and (is_named or isinstance(call, McpServerToolCallContent))
