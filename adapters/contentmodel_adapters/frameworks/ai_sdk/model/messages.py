"""Model messages: a codec of the list. Each message is one message of the model."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    MessageList,
    Pieces,
    guests,
    hints,
    is_native,
    reasons,
    with_error_mark,
    with_error_read,
)
from contentmodel.content.media import DataContent, HostedFileContent, MediaContent, UriContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel_adapters.common.approvals import APPROVAL_ID, approval_id, report_request
from contentmodel_adapters.common.media import typed_file
from contentmodel_adapters.frameworks.ai_sdk.model import older
from contentmodel_adapters.frameworks.ai_sdk.model.blocks import (
    API,
    ASSISTANT,
    CACHE_POINTS,
    DENIED,
    OPTIONS,
    STORES,
    SYSTEM,
    TOOL,
    USER,
    guests_in,
)
from contentmodel_adapters.frameworks.ai_sdk.parts import KIND_OF, report_kind, report_outcome

_MARKED = (".text", ".content")
"""The types of outputs without a failure: a failed result of such a type has a mark in its text."""


def _is_text(outputs: list[Any]) -> bool:
    return all(output.__class__ is TextContent for output in outputs)


_SYSTEM_TEXT = Pieces({"text": "content", "cache_point": f"{OPTIONS}.anthropic.cacheControl"})
_LAYOUTS = {"system": SYSTEM, "assistant": ASSISTANT, "tool": TOOL}


class Messages(MessageList):
    """The list of model messages."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        reading = _Reading(context)
        guests_in(value, context)
        messages = []
        for index, wire in self.objects(value, context):
            layout = _LAYOUTS.get(wire["role"], USER)
            message = reading.message(wire, layout)
            if message.role == "system" and message.contents and message.contents[0].cache_point is not None:
                context.trace(_SYSTEM_TEXT, [message.contents[0]], value, index, spread=False)
            context.trace(layout, [message], value, index, spread=False)
            messages.append(message)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        writing = _Writing(context)
        return [writing.message(message) for message in self.kept(value, context)]


class _Reading:
    """Decode messages one by one, with the calls and approvals before them."""

    def __init__(self, context: DecodeContext) -> None:
        self._context = context
        self._calls: dict[str, ToolCallContent] = {}
        self._approvals: dict[str, str] = {}
        """The id of the call for each approval of a call that the application runs."""

    def message(self, wire: dict[str, Any], layout: Any) -> ChatMessage:
        """Return the message of a wire object."""
        if layout is SYSTEM:
            message: ChatMessage = self._system(wire)
        else:
            message = layout.decode(wire, self._context)
        contents = message.contents
        for at, content in enumerate(contents):
            if isinstance(content, ToolCallContent) and content.call_id is not None:
                # The part of a guest may have another id.
                self._calls[(content.extra or {}).get(API, {}).get("toolCallId", content.call_id)] = content
            elif isinstance(content, ToolApprovalRequestContent):
                contents[at] = self._request(content)
            elif isinstance(content, ToolApprovalResponseContent) and content.request_id in self._approvals:
                contents[at] = self._with_id_of_call(content, self._approvals[content.request_id])
            elif isinstance(content, ToolResultContent) and guests.guest_api(content) is None:
                contents[at] = self._result(content)
        return _with_issuer(message)

    def _system(self, wire: dict[str, Any]) -> ChatMessage:
        """Decode a system message. Its content is a string, so a cache point is a field of the message."""
        options: Any = wire.get(OPTIONS)
        fields: Any = options.get("anthropic") if options.__class__ is dict else None
        mark: Any = fields.get("cacheControl") if fields.__class__ is dict else None
        content: Any = wire.get("content")
        if not CACHE_POINTS.holds(mark) or content.__class__ is not str:
            return SYSTEM.decode(wire, self._context)  # type: ignore[no-any-return]
        anthropic = {name: value for name, value in fields.items() if name != "cacheControl"}
        unmarked = {**wire, OPTIONS: {**options, "anthropic": anthropic}}
        if not anthropic:
            del unmarked[OPTIONS]["anthropic"]
            if not unmarked[OPTIONS]:
                del unmarked[OPTIONS]
        self._context.copied(unmarked, wire)
        message: ChatMessage = SYSTEM.decode(unmarked, self._context)
        point = CACHE_POINTS.row.decode(mark, self._context)
        self._context.trace(CACHE_POINTS.row, [point], fields, "cacheControl", spread=False)
        message.contents[0] = self._context.replace(message.contents[0], cache_point=point)
        return message

    def _result(self, result: ToolResultContent) -> Any:
        if older.is_result(result, API):
            return result
        if result.outcome == "denied" and not result.outputs:
            return self._context.replace(result, outputs=[TextContent(text=DENIED)])
        read: Any = with_error_read(result)
        if read is result:
            return result
        if read.is_error:
            form = "content" if any(isinstance(output, MediaContent) for output in result.output_list) else "text"
            read = hints.ROW.on(read, API, f"{KIND_OF.get(result.__class__, 'Function')}.{form}")
        return self._context.replaced(result, read)

    def _request(self, request: ToolApprovalRequestContent) -> Any:
        called: Any = (request.extra or {}).get(API, {}).get("toolCallId")
        call = self._calls.get(called) if called.__class__ is str else None
        if call is None:
            return request
        named = self._context.replace(request, name=call.name, arguments=call.arguments)
        if call.executor == "provider":
            return named
        # In the model, the approval of a call that the application runs has the id of the call.
        self._approvals[request.request_id] = called
        return self._with_id_of_call(named, called)

    def _with_id_of_call(self, content: Any, call_id: str) -> Any:
        marked = APPROVAL_ID.on(content, API, content.request_id)
        return self._context.replaced(content, msgspec.structs.replace(marked, request_id=call_id))


def _with_issuer(message: ChatMessage) -> ChatMessage:
    """Return a message with the provider of its stored files as issuer: their ids are valid for it only."""
    for content in message.contents:
        for file in (content, *getattr(content, "output_list", ())):
            issuer = (hints.ROW.of(file, API) or "").rpartition(".")[2] if isinstance(file, HostedFileContent) else ""
            if issuer in STORES:
                return msgspec.structs.replace(message, origin=Origin(api=API, issuer=issuer))
    return message


class _Writing:
    """Encode messages one by one, with the calls before them."""

    def __init__(self, context: EncodeContext) -> None:
        self._context = context
        self._version = context.policies.get("ai_sdk", "7")
        self._calls: dict[str, ToolCallContent] = {}
        self._hosted = ""
        """The id of the last call of a hosted tool."""
        self._asked: dict[str, str] = {}
        """The id of the approval for each id of a request."""

    def message(self, message: ChatMessage) -> dict[str, Any]:
        """Return the wire object of a message."""
        context = self._context
        layout = _LAYOUTS.get(message.role, USER)
        contents = [readable for content in message.contents for readable in self._readable(content, message)]
        points = [content.cache_point for content in contents if content.cache_point] if layout is SYSTEM else []
        if points:
            contents = [
                context.replace(content, cache_point=None) if content.cache_point is points[-1] else content
                for content in contents
            ]
        wire: dict[str, Any] = layout.encode(context.with_contents(message, contents), context)
        if message.contents:
            # A message of this API may have lost all its contents. The schema requires the field.
            wire.setdefault("content", "" if layout is SYSTEM else [])
        mark = CACHE_POINTS.encode(points[-1], context, message) if points else None
        if mark is not None:
            options = wire.get(OPTIONS, {})
            wire[OPTIONS] = {**options, "anthropic": {**options.get("anthropic", {}), "cacheControl": mark}}
        for content, part in self._approvals_in(contents, wire):
            self._write_approval(content, part, message)
        return wire

    def _readable(self, content: Any, message: ChatMessage) -> list[Any]:
        if isinstance(content, ToolCallContent):
            self._calls[content.call_id or ""] = content
            self._hosted = (content.call_id or "") if content.executor == "provider" else self._hosted
            self._report_kind(content, message)
        elif isinstance(content, ToolResultContent):
            return [self._readable_result(content, message)]
        elif isinstance(content, HostedFileContent):
            return self._stored(content, message, "file.")
        elif isinstance(content, UnknownContent) and content.block.__class__ is dict:
            call_id = str(content.block.get("toolCallId"))
            if content.block.get("type") == "tool-call":
                self._calls[call_id] = self._context.originals().get(id(content), content)  # type: ignore[assignment]
                self._hosted = call_id if content.block.get("providerExecuted") is True else self._hosted
        return [content]

    def _report_kind(self, content: Any, message: ChatMessage) -> None:
        """Report a call or result of a hosted tool that another class of content has after decoding its name."""
        if content.__class__ in KIND_OF and message.role == "assistant":
            report_kind(content, content.name, self._context)

    def _readable_result(self, result: Any, message: ChatMessage) -> Any:
        result = self._named(result)
        self._report_kind(result, message)
        context = self._context
        if not context.completes and older.is_result(result, API):
            return result if older.fits(result, API) else hints.ROW.on(result, API, "Function.content")
        if not context.completes:
            row = hints.ROW.of(result, API) or ""
            return with_error_mark(result, context) if not result.is_error or row.endswith(_MARKED) else result
        outputs = [readable for output in result.outputs for readable in self._readable_output(output, message)]
        if len(outputs) != len(result.outputs) or any(
            a is not b for a, b in zip(outputs, result.outputs, strict=False)
        ):
            result = context.replace(result, outputs=outputs)
        if result.outcome == "denied" and self._version == "5":
            context.report_loss(result, "outcome", reasons.OUTCOME, value="denied")
            result = context.replace(result, outcome=None, is_error=True)
        elif result.outcome is not None and (result.outcome != "denied" or not _is_text(outputs)):
            report_outcome(result, context)
        if result.is_error or result.outcome == "denied":
            context.report_loss(result, "is_error" if result.is_error else "outcome", reasons.IN_STATE)
        if any(isinstance(output, MediaContent) for output in outputs) or not result.is_error:
            # The output of a failed call is a text or JSON: other outputs have a mark. A text may imitate it.
            result = with_error_mark(result, context)
        return result

    def _named(self, result: Any) -> Any:
        """Return a result with the name of its call. A decoded result without a name has the base class."""
        call = self._calls.get(result.call_id or "")
        if result.name is not None or call is None or call.name is None:
            return result
        if not self._context.completes and KIND_OF.get(result.__class__, "Hosted") == "Hosted":
            return result
        return self._context.replace(result, name=call.name)

    def _readable_output(self, output: Any, message: ChatMessage) -> list[Any]:
        """Return an output in the form that the version of the AI SDK reads."""
        if isinstance(output, HostedFileContent):
            return self._stored(output, message, "file.reference.")
        if isinstance(output, UriContent) and output.media_type is None and output.kind not in (None, "image"):
            self._context.report_loss(output, "kind", reasons.NO_FIELD)
        if self._version == "7" or not isinstance(output, DataContent | UriContent):
            return [output]
        is_image = output.media_kind == "image"
        if isinstance(output, DataContent):
            row = "media" if self._version == "5" else "image-data" if is_image else "file-data"
            return [self._context.replaced(output, hints.ROW.on(output, API, row))]
        if self._version == "6":
            return [output]
        self._context.report_loss(output, None, reasons.LINK_AS_TEXT)
        return [self._context.replaced(output, TextContent(text=output.uri))]

    def _stored(self, content: HostedFileContent, message: ChatMessage, row: str) -> list[Any]:
        """Return a stored file with the provider that stores it."""
        if hints.ROW.of(content, API) is not None:
            return [content]
        issuer = None if message.origin is None else message.origin.issuer
        if issuer not in STORES or self._version != "7":
            self._context.report_loss(content, None, reasons.STORED_ELSEWHERE)
            return []
        typed = typed_file(content, self._context)
        return [self._context.replaced(typed, hints.ROW.on(typed, API, f"{row}{issuer}"))]

    def _approvals_in(self, contents: list[Any], wire: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
        """Return the approvals of a message with their parts, in order."""
        kinds = (ToolApprovalRequestContent, ToolApprovalResponseContent)
        approvals = [content for content in contents if isinstance(content, kinds)]
        written: Any = wire.get("content")
        types = ("tool-approval-request", "tool-approval-response")
        parts = [part for part in written if part.get("type") in types] if approvals and written else []
        return list(zip(approvals, parts, strict=False))

    def _write_approval(self, content: Any, part: dict[str, Any], message: ChatMessage) -> None:
        """Write the ids of an approval: its own, and for a request that of its call."""
        original = approval_id(content)
        if isinstance(content, ToolApprovalRequestContent):
            is_own = content.request_id in self._calls
            if original is not None and is_own:
                part["approvalId"] = original
            self._asked[content.request_id] = part["approvalId"]
            if not is_native(message, self._context):
                part.setdefault("toolCallId", content.request_id if is_own else self._hosted)
            called = part.get("toolCallId")
            report_request(content, self._calls.get(called) if called.__class__ is str else None, self._context)
            self._context.report_lost_attributes(content, ("server",))
        elif content.request_id in self._asked:
            part["approvalId"] = self._asked[content.request_id]
