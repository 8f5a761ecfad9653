"""UI messages: an assistant message has all steps of a tool loop.

Decoding splits it at each step: an assistant message with the parts of the step, and a tool message with the results
of its calls, as `convertToModelMessages` does. Encoding joins them again.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    NO_RESULT,
    DecodeContext,
    EncodeContext,
    Hint,
    MessageList,
    Pieces,
    foreign,
    hints,
    reasons,
)
from contentmodel.content.citations import Citation
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.ai_sdk.ui import older
from contentmodel_adapters.frameworks.ai_sdk.ui.blocks import API, ASSISTANT, PARTS, PLAIN, SOURCES, STEERING
from contentmodel_adapters.frameworks.ai_sdk.ui.tools import (
    ToolPart,
    attach,
    decode_tool,
    encode_tool,
    guests_in,
    halves_of,
    is_half,
    is_result,
    is_tool_part,
)
from contentmodel_adapters.frameworks.ai_sdk.ui.turns import Turns

TURNS = Turns(API)
STEPS = Hint[int](API, "steps", "the number of step starts before a message, if it is not the usual one")
BESIDE = Hint[Literal[True]](API, "beside", "an empty text has sources that follow no text")
BEFORE = Hint[Literal[True]](API, "before", "on a source: it was before the text that it belongs to")
STEP_START = {"type": "step-start"}
_SOURCES = ("source-url", "source-document", "source")
_PART = Pieces({})


class Messages(MessageList):
    """The list of UI messages."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        turns: list[list[ChatMessage]] = []
        for index, wire in self.objects(value, context):
            if wire.get("parts").__class__ is not list and not older.is_flat(wire):
                context.fault(wire, "parts", "missing list: the parts of this message")
            elif wire["role"] == "assistant":
                turns.append(_Cutting(wire, context, value, index).messages())
            else:
                turns.append([_decode_plain(wire, context, value, index)])
        marked = TURNS.marked(turns)
        for old, new in zip((message for turn in turns for message in turn), marked, strict=True):
            context.replaced(old, new)
        return marked

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        written = []
        for turn in TURNS.of([*self.kept(value, context)]):
            if turn[0].role == "assistant" or len(turn) > 1 or turn[0].role == "tool":
                written.append(_Joining(context).join(turn))
            else:
                written.append(_encode_plain(turn[0], context))
        return written


def _decode_plain(wire: dict[str, Any], context: DecodeContext, messages: list[Any], index: int) -> ChatMessage:
    """Return a message of the user or the system."""
    is_flat, attachments = older.is_flat(wire), older.attachments_of(wire)
    apart = [*(["content", "parts"] if is_flat else []), *([attachments] if attachments else [])]
    message: ChatMessage = PLAIN.decode(context.without(wire, apart) if apart else wire, context)
    context.trace(PLAIN, [message], messages, index, spread=False)
    if is_flat and wire["content"]:
        message.contents.append(_decode_text(wire, context))
    if attachments:
        message.contents.extend(older.decode_attachments(wire, attachments, context))
    return context.replaced(message, older.marked_as_flat(message, wire)) if is_flat else message


def _decode_text(wire: dict[str, Any], context: DecodeContext) -> Any:
    """Return the text of a message without parts."""
    part = older.text_part(wire, context)
    text = PARTS.decode(part, context)
    context.trace(PARTS, [text], part, None, spread=False)
    return text


def _encode_plain(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    attached = [content for content in message.contents if older.is_attachment(content)] if context.native else []
    if attached:
        other_contents = [content for content in message.contents if not older.is_attachment(content)]
        message = context.with_contents(message, other_contents)
    wire: dict[str, Any] = PLAIN.encode(message, context)
    # A message whose contents were all dropped has no parts, which the format requires.
    wire = {"parts": [], **wire}
    flattened = _flattened(wire, message, context) or wire
    return {**flattened, **older.encode_attachments(attached, context)}


def _flattened(wire: dict[str, Any], message: ChatMessage, context: EncodeContext) -> dict[str, Any] | None:
    """Return a message with a text in place of its parts, if it was read from this form and fits in it; else None."""
    texts = [older.text_of_part(part) for part in wire["parts"]]
    if not (context.native and older.FLAT.of(message, API)) or len(texts) > 1 or None in texts:
        return None
    others = {key: value for key, value in wire.items() if key != "parts"}
    return {**others, **older.parts_of_flat(message), "content": texts[0] if texts else ""}


def _is_tool(part: Any) -> bool:
    """Return whether a part is of a tool, and not one of an older version."""
    return part.__class__ is dict and not older.is_invocation(part) and is_tool_part(part)


class _Cutting:
    """Split one assistant message into messages."""

    def __init__(self, wire: dict[str, Any], context: DecodeContext, container: Any, key: int) -> None:
        self._context, self._place = context, (container, key)
        self._wire, self._parts = wire, wire.get("parts") or []
        self._is_flat = older.is_flat(wire)
        apart = ["parts"]
        if self._is_flat:
            apart += ["content", older.INVOCATIONS] if wire.get(older.INVOCATIONS) else ["content"]
        self._head = ASSISTANT.decode(context.without(wire, apart), context)
        self._messages: list[ChatMessage] = []
        self._contents: list[Any] = []
        self._results: list[Any] = []
        self._steps = 0
        self._invoked: Any = None
        """The number of the step that the tool invocations of this step have; None without one."""
        self._start: UnknownContent | None = None
        """A step start with other fields. It is the last content of its step, and is written first."""
        self._sources = 0
        """1 directly after a text or its sources, else 0."""
        self._pending: list[Citation] = []
        """The sources after another part. They belong to the text that follows."""
        self._pending_at = 0

    def messages(self) -> list[ChatMessage]:
        """Return the messages, at least one."""
        if self._is_flat:
            self._add_flat()
        self._halves = {
            index: halves_of(part, self._context) for index, part in enumerate(self._parts) if _is_tool(part)
        }
        self._guests = guests_in(self._parts, self._halves, self._context)
        for index, part in enumerate(self._parts):
            if part.__class__ is not dict:
                self._context.expected(self._parts, index, "an object: a part", part)
            else:
                self._add(part, index)
        self._finish_step()
        if self._steps or not self._messages:
            self._emit("assistant", [])
        if self._is_flat:
            self._messages[0] = older.marked_as_flat(self._messages[0], self._wire)
        first, *others = self._messages
        head = msgspec.structs.replace(self._head, role=first.role, contents=first.contents)
        extra = {**(head.extra or {})}
        for api, residue in (first.extra or {}).items():
            extra[api] = {**extra.get(api, {}), **residue}
        if first.role == "assistant":
            first = msgspec.structs.replace(head, extra=extra or None)
            all_messages = [first, *others]
        else:
            # Steering before the first step: the fields of the message are on an empty message.
            all_messages = [
                msgspec.structs.replace(self._head, extra=_with_steps(self._head.extra, 0)),
                *self._messages,
            ]
        container, key = self._place
        self._context.trace(ASSISTANT, [all_messages[0]], container, key, spread=False)
        for message in all_messages[1:]:
            if not message.message_id:
                self._context.trace(_PART, [message], container, key, spread=False)
        return all_messages

    def _add_flat(self) -> None:
        """Add the tool invocations of a message without parts, then its text, as `convertToCoreMessages` does."""
        calls = self._wire.get(older.INVOCATIONS, [])
        for index in range(len(calls)):
            self._add_invocation(calls, index)
        if self._wire["content"]:
            self._finish_step()
            self._contents.append(_decode_text(self._wire, self._context))

    def _add(self, part: dict[str, Any], index: int) -> None:
        kind = part.get("type")
        if kind in _SOURCES:
            self._add_source(part, index)
            return
        if kind != "text":
            self._finish_sources()
        if kind == "step-start":
            self._finish_step()
            if part == STEP_START:
                self._steps += 1
            else:
                self._start = UnknownContent(api=API, block=part)
                self._context.trace(PARTS, [self._start], self._parts, index, spread=False)
            return
        if kind == "steering-message" and part.get("parts").__class__ is list:
            self._finish_step()
            message = STEERING.decode(part, self._context)
            self._context.trace(STEERING, [message], self._parts, index, spread=False)
            self._emit("user", message.contents, message)
        elif older.is_invocation(part):
            self._add_invocation(part, older.WRAPPED)
        elif older.has_details(part):
            self._contents += older.decode_details(part, self._context)
        elif index in self._halves:
            guest = self._guests.get(index, {})
            self._add_tool(decode_tool(self._halves[index], self._context, self._parts, index, guest))
        else:
            self._add_part(part, index)
            return
        self._sources = 0

    def _add_part(self, part: dict[str, Any], index: int) -> None:
        content = PARTS.decode(part, self._context)
        self._context.trace(PARTS, [content], self._parts, index, spread=False)
        self._sources = int(content.__class__ is TextContent)
        if not self._sources:
            self._finish_sources()
        pending, self._pending = self._pending, []
        if self._sources and self._invoked is not None:
            self._finish_step()
            self._sources = 1
        if pending:
            content = self._context.replace(content, annotations=[*pending, *(content.annotations or ())])
        self._contents.append(content)

    def _add_invocation(self, container: Any, key: Any) -> None:
        """Add a tool invocation. One of another step begins a new step, as a text after invocations does."""
        step = container[key].get("step") or 0
        if self._invoked not in (None, step):
            self._finish_step()
        self._add_tool(older.decode_invocation(self._context, container, key))
        self._invoked = step

    def _add_tool(self, part: ToolPart) -> None:
        self._contents.append(part.call)
        if part.request is not None:
            self._contents.append(part.request)
        if part.response is not None:
            self._results.append(part.response)
        if part.result is not None:
            (self._contents if part.is_hosted else self._results).append(part.result)

    def _add_source(self, part: dict[str, Any], index: int) -> None:
        citation = SOURCES.decode(part, self._context)
        self._context.trace(SOURCES, [citation], self._parts, index, spread=False)
        if citation.__class__ is not Citation:
            self._finish_sources()
            self._contents.append(citation)
            self._sources = 0
            return
        if hints.ROW.of(citation, API) is None:
            citation = self._context.replaced(citation, hints.ROW.on(citation, API, part["type"]))
        if self._sources:
            text = self._contents[-1]
            self._contents[-1] = self._context.replace(text, annotations=[*(text.annotations or ()), citation])
            return
        self._pending_at = self._pending_at if self._pending else index
        self._pending.append(self._context.replaced(citation, BEFORE.on(citation, API, True)))

    def _finish_sources(self) -> None:
        """Add an empty text with the pending sources: no text follows them."""
        if self._pending:
            text = TextContent(text="", annotations=self._pending, extra=BESIDE.extra(API, True))
            self._contents.append(text)
            self._context.trace(_PART, [text], self._parts, self._pending_at, spread=False)
            self._pending = []

    def _finish_step(self) -> None:
        self._finish_sources()
        if self._start is not None:
            self._contents.append(self._start)
            self._start = None
        if self._contents or self._results:
            self._emit("assistant", self._contents)
        if self._results:
            self._messages.append(ChatMessage(role="tool", contents=self._results, origin=self._context.origin))
        self._contents, self._results, self._sources, self._invoked = [], [], 0, None

    def _emit(self, role: str, contents: list[Any], message: ChatMessage | None = None) -> None:
        usual = 1 if role == "assistant" else 0
        emitted = message or ChatMessage(role=role, contents=contents, origin=self._context.origin)
        if self._steps != usual:
            marked = STEPS.on(emitted, API, self._steps)
            emitted = marked if message is None else self._context.replaced(message, marked)
        self._messages.append(emitted)
        self._steps = 0


def _with_steps(extra: Any, steps: int) -> dict[str, dict[str, Any]]:
    return {**(extra or {}), API: {**(extra or {}).get(API, {}), **STEPS.entry(steps)}}


def _is_no_start(content: Any) -> bool:
    """Return whether a content is anything but the start of a step. It sorts starts first."""
    block = content.block if content.__class__ is UnknownContent and content.api == API else None
    return not (block.__class__ is dict and block.get("type") == "step-start")


class _Joining:
    """Join the messages of one turn into an assistant message."""

    def __init__(self, context: EncodeContext) -> None:
        self._context = context
        self._parts: list[dict[str, Any] | ToolPart] = []
        self._calls: dict[str | None, list[ToolPart]] = {}
        self._requests: dict[str, ToolPart] = {}
        self._latest = -1
        """The index of the part with the latest result."""

    def join(self, turn: list[ChatMessage]) -> dict[str, Any]:
        """Return the message."""
        context, head = self._context, turn[0]
        for message in turn[1:]:
            if message.role != "user":
                foreign.leave_empty(message, context)
        for message in turn:
            if message.role == "user":
                self._add_steps(message, 0)
                self._parts.append(STEERING.encode(message, context))
                continue
            self._add_steps(message, 0 if message.role == "tool" else 1)
            for content in sorted(message.contents, key=_is_no_start):
                self._add(content)
        wire = ASSISTANT.encode(head if head.role == "assistant" else context.replace(head, role="assistant"), context)
        if context.native and older.FLAT.of(head, API):
            return self._flat(wire, head)
        wire["parts"] = [self._encode_part(part) for part in self._parts]
        return wire

    def _flat(self, wire: dict[str, Any], head: ChatMessage) -> dict[str, Any]:
        """Return a message without parts. If its contents do not fit, return one with parts."""
        calls = [part for part in self._parts if isinstance(part, ToolPart) and older.is_in_field(part, self._context)]
        other_parts = self._parts[len(calls) :]
        if other_parts == [part for part in self._parts if part not in calls]:
            flat = _flattened({**wire, "parts": other_parts}, head, self._context)
            if flat is not None:
                encoded = [older.encode_invocation(call, self._context) for call in calls]
                return {**flat, older.INVOCATIONS: encoded} if encoded else flat
        return {**wire, "parts": [self._encode_part(part) for part in self._parts]}

    def _encode_part(self, part: dict[str, Any] | ToolPart) -> dict[str, Any]:
        if not isinstance(part, ToolPart):
            return part
        if older.was_invocation(part, self._context) is None:
            return encode_tool(part, self._context)
        return older.wrapped(older.encode_invocation(part, self._context))

    def _add_steps(self, message: ChatMessage, usual: int) -> None:
        if message.role == "assistant":
            # A provider may answer its own call after those of other tools.
            hosted = {key: [p for p in parts if p.is_hosted and p.result is None] for key, parts in self._calls.items()}
            self._calls = {key: parts for key, parts in hosted.items() if parts}
        steps = STEPS.of(message, API)
        # A stored document may have any number.
        count = usual if steps is None else max(0, min(steps, 1000))
        self._parts += [dict(STEP_START) for _ in range(count)]

    def _add(self, content: Any) -> None:
        if is_half(content, self._context):
            self._add_half(content)
        elif isinstance(content, ToolCallContent):
            part = ToolPart(call=content, index=len(self._parts))
            self._calls.setdefault(content.call_id, []).append(part)
            self._parts.append(part)
        elif isinstance(content, ToolApprovalRequestContent | ToolApprovalResponseContent | ToolResultContent):
            part = self._part_for(content)
            if isinstance(content, ToolResultContent) and not self._context.native:
                self._report_order(part, content)
            attach(part, content)
        elif content.__class__ is TextContent and content.annotations:
            self._add_cited(content)
        elif older.is_detail(content):
            older.encode_detail(content, self._parts, self._context)
        else:
            self._parts += PARTS.encode_list([content], self._context)

    def _add_half(self, half: UnknownContent) -> None:
        """Add the call or the result of a block of a provider."""
        block: Any = half.block
        open_parts = [part for part in self._calls.get(block["toolCallId"], []) if part.result is None]
        is_orphan = is_result(half)
        if is_orphan and open_parts:
            attach(open_parts[0], half)
            return
        if is_orphan:
            half = self._context.replace(
                half, block={"type": "dynamic-tool", "toolName": "", "providerExecuted": True, **block}
            )
        part = ToolPart(call=half, index=len(self._parts))
        if not is_orphan:
            self._calls.setdefault(block["toolCallId"], []).append(part)
        self._parts.append(part)

    def _report_order(self, part: ToolPart, result: ToolResultContent) -> None:
        """Report a result that is in another order than its call."""
        if part.index < self._latest and result.outputs != [TextContent(text=NO_RESULT)]:
            self._context.report_loss(result, None, reasons.RESULT_WITH_CALL)
        self._latest = max(self._latest, part.index)

    def _part_for(self, content: Any) -> ToolPart:
        """Return the part that an approval or a result belongs to; a new one if its call is missing."""
        if isinstance(content, ToolResultContent):
            parts = self._calls.get(content.call_id, [])
            for part in parts:
                if part.result is None:
                    if len(parts) > 1:
                        # Several calls have this id: each has one result.
                        parts.remove(part)
                    return part
        elif isinstance(content, ToolApprovalResponseContent):
            asked = self._requests.get(content.request_id)
            if asked is not None and asked.response is None:
                return asked
            for part in self._calls.get(content.request_id, []):
                if part.response is None:
                    return part
        else:
            open_calls = (part for part in self._calls.get(content.request_id, []) if part.request is None)
            called = next(open_calls, None) or self._last(content)
            if called is not None:
                self._requests[content.request_id] = called
                return called
        orphan = ToolPart(index=len(self._parts))
        self._parts.append(orphan)
        if isinstance(content, ToolApprovalRequestContent):
            self._requests[content.request_id] = orphan
        return orphan

    def _last(self, request: ToolApprovalRequestContent) -> ToolPart | None:
        """Return the last part if it is the hosted call that a request asks for."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, ToolPart) or last.request is not None or not last.is_hosted:
            return None
        # The name of a block of a provider may have a beginning.
        return last if str(last.name).endswith(str(request.name)) else None

    def _add_cited(self, content: TextContent) -> None:
        citations: list[Citation] = []
        sources: list[Citation] = []
        for citation in content.annotations or ():
            (sources if self._is_source(citation) else citations).append(citation)
        text: Any = content
        if sources:
            text = self._context.replace(content, annotations=citations or None)
        before = [source for source in sources if BEFORE.of(source, API)]
        self._parts += SOURCES.encode_list(before, self._context)
        if content.text or citations or not (BESIDE.of(content, API) or self._context.completes):
            self._parts += PARTS.encode_list([text], self._context)
        after = [source for source in sources if not BEFORE.of(source, API)]
        self._parts += SOURCES.encode_list(after, self._context)

    def _is_source(self, citation: Citation) -> bool:
        """Return whether a citation is a part beside its text."""
        row = hints.ROW.of(citation, API)
        if row in _SOURCES or not self._context.completes:
            return row in _SOURCES
        if self._context.policies.get("ai_sdk", "7") != "7":
            return True
        return row is None and citation.span is None and citation.cited_text is None
