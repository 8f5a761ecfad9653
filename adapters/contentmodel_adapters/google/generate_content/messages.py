"""Contents of generateContent: one message each, with generated call ids where the wire has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.authoring import (
    BlocksOrOne,
    Codec,
    DecodeContext,
    EncodeContext,
    Hint,
    Place,
    ProtobufJson,
    Roles,
    Silent,
    escaped,
    hints,
    wire_fields,
    with_detached_media,
    with_media_back,
)
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    FunctionResultContent,
    HostedToolCallContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import TranscriptIndex, new_ids
from contentmodel_adapters.common.answer import SpelledRole, misfits, restore_role, role_of
from contentmodel_adapters.common.first_turn import BEGUN_BEFORE, without_begun
from contentmodel_adapters.google.generate_content.blocks import (
    API,
    GROUNDING,
    KEY_OF_RESPONSE,
    PARTS,
    TABLE,
    TEXT_FIELD,
)

ROLE = Hint[SpelledRole](API, "role", "the role of a content, if it is missing or spelled in another way than usual")
BEFORE = Hint[str](API, *BEGUN_BEFORE)
INSTRUCTION = Hint[dict[str, Any]](
    API, "instruction", "the fields of the system instruction beside its parts, on its first part", fields=True
)
ROLES = Roles(API, {"user": "user", "model": "assistant"}, {"user": "user", "assistant": "model", "tool": "user"})
_OF_TOOLS = (ToolCallContent, ToolResultContent)
_TAKES_ID = (ToolCallContent, FunctionResultContent)
_OF_NO_TOOL = frozenset({TextContent, ReasoningContent})
_RESULT_ROLES = ("user", f"{API}:tool", f"{API}:function")
"""Roles of messages that hold results. Clients of the SDKs also send "tool" and "function"
(ai.google.dev/gemini-api/docs/function-calling, seen 2026-11-22).
"""
_ROLES = frozenset({*ROLES.to_model, "tool", "function"})

INNER = BlocksOrOne(PARTS)
CONTENT = TABLE.record(
    "content",
    ChatMessage,
    {"role": ("role", ROLES), "parts": ("contents", INNER)},
    Silent("message_id"),
    ProtobufJson(),
)


def decode_content(wire: dict[str, Any], context: DecodeContext, role: str = "user") -> ChatMessage:
    """Decode one Content. If it has no role, it gets `role`. A hint keeps a role that is spelled in an unusual way."""
    value = wire.get("role")
    if value.__class__ is str and (value in ROLES.to_model or not _is_respelled(value)):
        message: ChatMessage = CONTENT.decode(wire, context)
        return message
    copy = {**wire, "role": value.lower() if value.__class__ is str else role}
    context.copied(copy, wire)
    message = CONTENT.decode(copy, context)
    own = {**(message.extra or {}).get(API, {}), **ROLE.entry(role_of(wire))}
    own |= misfits(wire, role=str)
    return msgspec.structs.replace(message, extra={**(message.extra or {}), API: own})


def _is_respelled(role: str) -> bool:
    """Return whether a role is one of the API's in other letters: the API ignores case."""
    return role != role.lower() and role.lower() in _ROLES


def _is_spelling(spelled: Any, role: str | None, message: ChatMessage) -> bool:
    """Return whether the hint of a role still applies to a message: its role may have been edited."""
    return spelled.__class__ is not str or message.role == "tool" or spelled.lower() == role


def encode_content(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    """Return the Content of a message. In a request, drop the contents of an answer's grounding."""
    if context.kind == "request" and any(c.extra is not None and GROUNDING.of(c, API) for c in message.contents):
        message = without_grounding(message, context)
    wire = CONTENT.encode(message, context)
    begun = BEFORE.of(message, API)
    if begun is not None:
        wire["parts"] = [{"text": begun}]
    spelled = ROLE.of(message, API)
    if spelled is not None and _is_spelling(spelled.get("role"), wire.get("role"), message):
        restore_role(wire, spelled)
    if context.completes:
        wire.setdefault("parts", [])
    return wire


def without_grounding(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return the message without contents of grounding, which are beside the parts."""
    contents = [content for content in message.contents if not GROUNDING.of(content, API)]
    kept: ChatMessage = context.replace(message, contents=contents)
    return kept


def id_of_answer(wire: dict[str, Any]) -> str | None:
    """Return the id of an answer, under either of its names."""
    value = wire.get("responseId", wire.get("response_id"))
    return value if isinstance(value, str) else None


class CallIds:
    """Generate ids for calls and results without one, so that each result refers to its call.

    A generated id differs from the id of every call and function result in `messages`, and from those of answers with
    another `answer_id`.
    """

    def __init__(self, messages: Iterable[ChatMessage] = (), answer_id: str | None = None) -> None:
        contents: Iterable[Any] = contents_of(messages)
        taken = {c.call_id for c in contents if c.__class__ not in _OF_NO_TOOL and isinstance(c, _TAKES_ID)}
        self._new = new_ids(taken, answer_id)
        self._index = TranscriptIndex()
        self._messages = 0
        self._ids: dict[tuple[int, int], Any] = {}

    def identify(self, message: ChatMessage) -> ChatMessage:
        """Return the message with ids on every call and result, and failures marked.

        If it has only results, its role becomes "tool".
        """
        contents = message.contents
        number, self._messages = self._messages, self._messages + 1
        if _OF_NO_TOOL.issuperset(map(type, contents)):
            self._index.add(contents, message.role)
            return message
        for index, content in enumerate(contents):
            if isinstance(content, HostedToolCallContent) and (inner := _inner_id(content)) is not None:
                contents[index] = with_id(content, inner)
        self._index.add(contents, message.role)
        functions = 0
        for index, content in enumerate(contents):
            if not isinstance(content, _OF_TOOLS):
                continue
            if content.call_id is None:
                call = self._index.call_of.get((number, index))
                content = with_id(content, next(self._new) if call is None else self._ids[call])
            self._ids[number, index] = content.call_id
            functions += content.__class__ is FunctionResultContent
            contents[index] = _marked(content)
        if contents and functions == len(contents) and message.role in _RESULT_ROLES:
            return _as_results(message)
        return message


def _inner_id(content: HostedToolCallContent) -> str | None:
    """Return the id in the arguments of a hosted call, if the call has no id."""
    if content.call_id is not None or content.name is not None:
        return None
    inner = content.arguments.get("id") if content.arguments.__class__ is dict else None
    return inner if inner.__class__ is str else None


def _as_results(message: ChatMessage) -> ChatMessage:
    """Return a message of results with the role "tool", and a hint if its role was not the usual "user"."""
    result = ChatMessage(role="tool", contents=message.contents, origin=message.origin, extra=message.extra)
    role = message.role.removeprefix(f"{API}:")
    return result if role == "user" or ROLE.of(result, API) else ROLE.on(result, API, {"role": role})


def with_id(content: Any, call_id: str) -> Any:
    """Return the content with an id, and a hint that this API's encoder drops it. An existing id is kept."""
    if content.call_id is not None:
        return content
    extra = content.extra
    if extra is not None:
        return hints.MINTED.on(msgspec.structs.replace(content, call_id=call_id), API, call_id)
    return msgspec.structs.replace(content, call_id=call_id, extra=hints.MINTED.extra(API, call_id))


def _marked(content: Any) -> Any:
    """Mark a function's result as a failure if its response has the key "error"."""
    if content.__class__ is not FunctionResultContent or not content.outputs:
        return content
    first = content.outputs[0]
    if first.extra is None or KEY_OF_RESPONSE.of(first, API) != "error":
        return content
    return msgspec.structs.replace(content, is_error=True)


class Contents(Codec[list[ChatMessage]]):
    """The contents of a request. One content instead of the list is kept by a hint on its message."""

    classes = (list, dict)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ in (list, dict) and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        if value.__class__ is dict:
            only = hints.FORM.on(CallIds().identify(decode_content(value, context)), API, "one")
            context.trace(CONTENT, [only], container, key, spread=False)
            return [only]
        messages = []
        for index, wire in enumerate(value):
            if wire.__class__ is not dict:
                context.expected(value, index, "an object: a content", wire)
            else:
                messages.append(decode_content(wire, context))
        ids = CallIds(messages)
        messages = [ids.identify(message) for message in messages]
        context.trace_messages(messages, value, lambda message: CONTENT)
        return without_begun(with_media_back(messages, context), context, BEFORE)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> Any:
        wires = [encode_content(message, context) for message in with_detached_media(value, API)]
        if context.native and len(wires) == 1 and hints.FORM.of(value[0], API) == "one":
            return wires[0]
        # Skip foreign messages with nothing to send.
        return wires if context.native else [wire for wire in wires if wire["parts"]]


class Answer(Codec[list[ChatMessage]]):
    """The content of a candidate."""

    classes = (dict,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return [CallIds(answer_id=context.answer_id).identify(decode_content(value, context, "model"))]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, CONTENT)]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> dict[str, Any]:
        first, *others = value
        for other in others:
            context.report_lost_attributes(other, ("author_name",))
            context.leave_residue(other, own=True)
        if others:
            contents = list(contents_of(value))
            first = context.replace(first, contents=contents, role="assistant")
        return encode_content(first, context)


class Instructions(Codec[list[AIContent]]):
    """systemInstruction: a Content, or a string. Its other fields are in a hint of the first part."""

    classes = (dict, str)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is str:
            return True
        return value.__class__ is dict and INNER.holds(value.get("parts"))

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is str:
            return [TextContent(text=value, extra=hints.FORM.extra(API, "string"))]
        contents: list[Any] = INNER.decode(value["parts"], context, value, "parts")
        if contents:
            rest = escaped({name: item for name, item in value.items() if name != "parts"})
            contents[0] = INSTRUCTION.on(contents[0], API, rest)
        return contents

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is str:
            return [(value[0], path, wire, None)]
        return INNER.places(value, wire["parts"], f"{path}.parts")

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        if len(value) == 1 and hints.FORM.of(value[0], API) == "string":
            return TEXT_FIELD.encode(value, context, owner)
        parts = INNER.encode(value, context, owner)
        return {**wire_fields(INSTRUCTION.of(value[0], API) or {}), "parts": parts} if parts else None
