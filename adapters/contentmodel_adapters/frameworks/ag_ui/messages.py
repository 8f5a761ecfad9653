"""Messages of AG-UI. One ChatMessage may be several messages here: each reasoning and each result is a message.

Reasoning precedes the assistant message that it belongs to. Decoding joins them, and encoding splits them again. Calls
are in a field of the assistant message.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Hint,
    MessageList,
    Pieces,
    ResultMessage,
    foreign,
    hints,
    is_native,
    object_of,
    objects_of,
    text_of,
)
from contentmodel.content.outcomes import ConfigurationContent, ErrorContent, UnknownContent
from contentmodel.content.tools import (
    InputResponseContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.interop.ag_ui import is_event
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.ag_ui.blocks import (
    ACTIVITY,
    API,
    CALLS,
    FAILED,
    HEAD,
    MESSAGES,
    SYSTEM,
    UNFOLLOWED,
    USER,
    read_state,
)

_T = TypeVar("_T")
_TEXT = Pieces({"text": "content", "protected": "encryptedValue"})
_REASONING = Pieces({})


_RESULT = ResultMessage(MESSAGES, {"message_id": "id"})
_ACTIVITY = ResultMessage(ACTIVITY, {"message_id": "id"})

BLANK = Hint[Literal[True]](API, "blank", "on the error of a result: the content of the result was an empty text")
FIX_OF_EVENTS = "read them with contentmodel.interop.ag_ui.read_run, and decode the request"


class Messages(MessageList):
    """The list of messages."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if all(map(is_event, value)):
            context.fault(value, None, f"these are the events of a run, not its messages: {FIX_OF_EVENTS}")
            return []
        reading = _Reading(value, context)
        for index, wire in self.objects(value, context):
            reading.add(wire, index)
        return reading.finished()

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        written: list[dict[str, Any]] = []
        answers = answers_of(value)
        for message in value:
            is_own = is_native(message, context)
            wires = [] if message is answers else _written(message, context, is_own=is_own)
            head = _head_of(wires) if is_own else None
            for wire in wires:
                written.append(wire)
                # The first message that is not reasoning has the fields that were decoded.
                if not is_own or not (wire is head or wire["role"] == "reasoning"):
                    wire.setdefault("id", f"message-{len(written)}")
        return written


# -- decoding ----------------------------------------------------------------------------------------------------------


class _Reading:
    """Read messages one by one. Reasoning is pending until its assistant message follows."""

    def __init__(self, wires: list[Any], context: DecodeContext) -> None:
        self._wires, self._context = wires, context
        self._messages: list[ChatMessage] = []
        self._reasoning: list[Any] = []
        self._start = 0
        """The index of the first pending reasoning."""
        self._run: Any = None
        """The run of the sub-agent whose message was read last; None for the agent itself."""

    def add(self, wire: dict[str, Any], index: int) -> None:
        """Add the next message."""
        role, run = wire["role"], wire.get("subagentRunId")
        if run != self._run:
            self._end_reasoning()
            self._run = run
        if role == "reasoning":
            self._start = self._start if self._reasoning else index
            self._reasoning.append(self._traced(MESSAGES, MESSAGES.decode(wire, self._context), index))
        elif role == "assistant":
            self._add_assistant(wire, index)
        else:
            self._end_reasoning()
            self._messages.append(self._other(wire, role, index))

    def finished(self) -> list[ChatMessage]:
        """Return all messages."""
        self._end_reasoning()
        return self._messages

    def _traced(self, table: Any, value: _T, index: int) -> _T:
        self._context.trace(table, [value], self._wires, index, spread=False)
        return value

    def _end_reasoning(self) -> None:
        if self._reasoning:
            alone = ChatMessage(role="assistant", contents=self._reasoning, origin=self._context.origin)
            self._messages.append(self._traced(_REASONING, UNFOLLOWED.on(alone, API, True), self._start))
            self._reasoning = []

    def _other(self, wire: dict[str, Any], role: str, index: int) -> ChatMessage:
        if role not in ("tool", "activity"):
            layout = SYSTEM if role in ("system", "developer") else USER
            message: ChatMessage = layout.decode(wire, self._context)
            return self._traced(layout, message, index)
        if role == "activity":
            return self._traced(_ACTIVITY, _ACTIVITY.decode(wire, self._context, role="assistant"), index)
        sign = self._sign(wire)
        message = _RESULT.decode(wire, self._context, left_out=[] if sign is None else ["error"])
        if sign is not None:
            result: Any = message.contents[0]
            outputs = [] if wire.get("content") == "" else result.outputs
            message.contents[0] = self._context.replace(result, outputs=[*outputs, sign])
        return self._traced(_RESULT, message, index)

    def _sign(self, wire: dict[str, Any]) -> ErrorContent | None:
        """Return the error of a result as an output; None if there is no error, or the error repeats the text."""
        error: Any = wire.get("error")
        if error.__class__ is not str or not error or error == (_text_of(wire.get("content")) or FAILED):
            return None
        sign = ErrorContent(message=error, extra=hints.FAILURE.extra(API, "sign"))
        sign = BLANK.on(sign, API, True) if wire.get("content") == "" else sign
        self._context.trace(None, [sign], wire, "error", spread=False)
        return sign

    def _add_assistant(self, wire: dict[str, Any], index: int) -> None:
        context, contents = self._context, self._reasoning
        used_fields: list[str] = []
        self._reasoning = []
        text, state, calls = wire.get("content"), wire.get("encryptedValue"), wire.get("toolCalls")
        if text.__class__ is str and (text or state.__class__ is str):
            used_fields += ["content", *(["encryptedValue"] if state.__class__ is str else [])]
            text_fields = context.only(wire, ["role", *used_fields])
            contents.append(self._traced(_TEXT, MESSAGES.decode(text_fields, context), index))
        if calls.__class__ is list and calls:
            used_fields.append("toolCalls")
            decoded = CALLS.decode_list(calls, context)
            context.trace(CALLS, decoded, wire, "toolCalls", spread=True)
            contents += decoded
        message = context.replace(HEAD.decode(context.without(wire, used_fields), context), contents=contents)
        self._messages.append(self._traced(HEAD, message, index))


def _text_of(content: Any) -> str:
    """Return the text of the content of a message: a string, or parts."""
    parts = objects_of({"content": content}, "content")
    return content if content.__class__ is str else "".join(text_of(part, "text") for part in parts)


def expanded(messages: list[Any]) -> list[Any]:
    """Return messages for audits: opaque state without its wrapper, and no error that repeats a text."""
    return [_expanded(wire) if wire.__class__ is dict else wire for wire in messages]


def _expanded(wire: dict[str, Any]) -> dict[str, Any]:
    changed = dict(wire)
    state, error = wire.get("encryptedValue"), wire.get("error")
    protected = read_state(state) if state.__class__ is str else None
    if protected is not None:
        changed["encryptedValue"] = protected.data
    if wire.get("role") == "tool" and error and error == (_text_of(wire.get("content")) or FAILED):
        del changed["error"]
    for key, change in (("toolCalls", _expanded), ("content", _with_data)):
        if wire.get(key).__class__ is list:
            changed[key] = [change(item) if item.__class__ is dict else item for item in wire[key]]
    return changed


def _with_data(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part for audits. Its data are at another path than links and file ids, which share the field `value`."""
    source = object_of(part, "source")
    return (
        {**part, "source": {**source, "value": {"data": source.get("value")}}} if source.get("type") == "data" else part
    )


# -- encoding ----------------------------------------------------------------------------------------------------------


ANSWERS = (InputResponseContent, ToolApprovalResponseContent)


def answers_of(messages: list[ChatMessage]) -> ChatMessage | None:
    """Return the last message if it has only answers to interrupts, which AG-UI has in `resume`; else None.

    Unknown contents beside answers are entries of `resume` of an unknown form.
    """
    contents = messages[-1].contents if messages else []
    is_own = any(isinstance(content, ANSWERS) for content in contents)
    return messages[-1] if is_own and all(isinstance(c, (*ANSWERS, UnknownContent)) for c in contents) else None


def _head_of(wires: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next((wire for wire in wires if wire["role"] != "reasoning"), None)


def _written(message: ChatMessage, context: EncodeContext, *, is_own: bool) -> list[dict[str, Any]]:
    """Return the messages of AG-UI for one message."""
    if not is_own and not message.contents:
        foreign.leave_empty(message, context)
        return []
    if message.role not in ("assistant", "tool"):
        layout = SYSTEM if message.role in ("system", "developer") else USER
        wire = layout.encode(message, context)
        if not is_own:
            wire.setdefault("content", "")
        return [wire]
    wires = _split(message, context)
    head = _head_of(wires)
    if head is None and is_own and not UNFOLLOWED.of(message, API):
        head = {}
        wires.append(head)
    if head is None:
        foreign.leave_empty(message, context)
    else:
        fields = {**HEAD.encode(message, context), **head}
        head.clear()
        head.update(fields)
    return wires


def _split(message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
    """Return a message for each content, in order. A call is added to the assistant message directly before it."""
    wires: list[dict[str, Any]] = []
    for content in message.contents:
        if isinstance(content, ToolCallContent | UnknownContent):
            calls = CALLS.encode_list([content], context)
            if calls and (not wires or wires[-1]["role"] != "assistant"):
                wires.append({"role": "assistant"})
            if calls:
                wires[-1]["toolCalls"] = [*wires[-1].get("toolCalls", ()), *calls]
        elif isinstance(content, ConfigurationContent):
            wires.append(ACTIVITY.encode(content, context))
        elif isinstance(content, ToolResultContent):
            wires += _results(content, context)
        else:
            wires += MESSAGES.encode_list([content], context)
    return wires


def _results(result: ToolResultContent, context: EncodeContext) -> list[dict[str, Any]]:
    """Return the message of a result. An output that was decoded from the field `error` is written there."""
    signs = [output for output in result.output_list if hints.FAILURE.of(output, API) == "sign"]
    outputs = [output for output in result.output_list if not any(output is sign for sign in signs)]
    if signs:
        result = context.replace(result, outputs=outputs)
    elif result.error is not None and not result.is_error:
        result = context.replace(result, is_error=True)
    wires = MESSAGES.encode_list([result], context)
    for sign, wire in zip(signs, wires, strict=False):
        wire["error"] = getattr(sign, "message", "")
        if BLANK.of(sign, API):
            wire.setdefault("content", "")
    return wires
