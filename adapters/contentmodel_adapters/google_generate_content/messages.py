"""Contents of generateContent: one message each, with call ids where the wire has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, ToolCallContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.wire.codecs import Codec, Place, Words, spread
from contentmodel.wire.context import DecodeContext, EncodeContext
from contentmodel.wire.nested import Blocks
from contentmodel.wire.table import note_of, noted
from contentmodel_adapters.google_generate_content.blocks import API, PARTS, TABLE, WORDS, has


class Role(Words):
    """user and model; results of tools stand in the user's turns."""

    def __init__(self) -> None:
        super().__init__({"user": "user", "model": "assistant"}, {"user": "user", "assistant": "model", "tool": "user"})

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return f"{API}:{value}" if value in ("assistant", "tool") else value

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str:
        if value in ("system", "developer"):
            context.lose(owner, "role", f"{API} has no such message in a conversation", kind="degraded")
            return "user"
        return str(value).removeprefix(f"{API}:")


CONTENT = TABLE.record(
    "content",
    ChatMessage,
    {"role": ("role", Role()), "parts": ("contents", Blocks(PARTS))},
    ignores=("message_id",),
    snake_case=True,
)


def decode_content(wire: dict[str, Any], context: DecodeContext, role: str = "user") -> ChatMessage:
    """One Content. One that has no role is of `role`, and says so in a note."""
    if wire.get("role").__class__ is str:
        message: ChatMessage = CONTENT.decode(wire, context)
        return message
    copy = {**wire, "role": role}
    context.copied(copy, wire)
    message = CONTENT.decode(copy, context)
    rest = {"role": None} if "role" in wire else {}
    return noted(message, API, ":role", rest)  # type: ignore[no-any-return]


def encode_content(message: ChatMessage, context: EncodeContext) -> dict[str, Any]:
    """The Content of a message."""
    wire = CONTENT.encode(message, context)
    rest = note_of(message, API, ":role")
    if rest is not None:
        wire.pop("role", None)
        wire.update(rest)
    if not context.native:
        wire.setdefault("parts", [])
    return wire


class CallIds:
    """Gives calls and results without ids some, so that they pair: in order, results by name where they have one."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: list[tuple[str, str | None, str]] = []

    def settle(self, message: ChatMessage) -> ChatMessage:
        """The message with ids on every call and result, failures marked, the role "tool" where it is all results."""
        contents = message.contents
        if any(isinstance(c, ToolCallContent | ToolResultContent) for c in contents):
            contents = [self._settled(content) for content in contents]
        role = message.role
        if role == "user" and contents and all(c.__class__ is FunctionResultContent for c in contents):
            role = "tool"
        if contents is message.contents and role == message.role:
            return message
        return msgspec.structs.replace(message, contents=contents, role=role)

    def _settled(self, content: Any) -> Any:
        if content.__class__ is FunctionResultContent and _says_error(content):
            content = msgspec.structs.replace(content, is_error=True)
        if isinstance(content, ToolCallContent):
            return self._call(content)
        return self._result(content) if isinstance(content, ToolResultContent) else content

    def _call(self, content: Any) -> Any:
        if content.call_id is None:
            content = self._with_id(content, self._own_id(content))
        self._waiting.append((_family(content), content.name, content.call_id))
        return content

    def _own_id(self, content: Any) -> str:
        arguments = content.arguments
        inner = arguments.get("id") if arguments.__class__ is dict and content.name is None else None
        if inner.__class__ is str and content.__class__ is not FunctionCallContent:
            return str(inner)
        self._count += 1
        return f"call_{self._count}"

    def _result(self, content: Any) -> Any:
        family = _family(content)
        matches = [
            entry
            for entry in self._waiting
            if entry[0] == family
            and (entry[2] == content.call_id or (content.call_id is None and content.name in (None, entry[1])))
        ]
        if matches:
            self._waiting.remove(matches[0])
        if content.call_id is not None:
            return content
        if matches:
            return self._with_id(content, matches[0][2])
        self._count += 1
        return self._with_id(content, f"call_{self._count}")

    def _with_id(self, content: Any, call_id: str) -> Any:
        return noted(msgspec.structs.replace(content, call_id=call_id), API, ":minted", call_id)


def _family(content: Any) -> str:
    return type(content).__name__.removesuffix("Content").removesuffix("Call").removesuffix("Result")


def _says_error(content: FunctionResultContent) -> bool:
    return bool(content.outputs) and note_of(content.outputs[0], API, ":response") == "error"


class Contents(Codec):
    """The contents of a request."""

    classes = (list,)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        ids = CallIds()
        messages = []
        for index, wire in enumerate(value):
            if wire.__class__ is not dict:
                context.expected(value, index, "an object: a content", wire)
            else:
                messages.append(ids.settle(decode_content(wire, context)))
        return messages

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return spread(value, wire, path, CONTENT)

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [encode_content(message, context) for message in value]


class Answer(Codec):
    """The content of a candidate."""

    classes = (dict,)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        return [CallIds().settle(decode_content(value, context, "model"))]

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, CONTENT)]

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> dict[str, Any]:
        first, *others = value
        for other in others:
            context.lose_attributes(other, ("author_name", "message_id"))
            for api, residue in (other.extra or {}).items():
                context.lose_residue(other, api, residue)
        if others:
            contents = [content for message in value for content in message.contents]
            first = context.same(first, msgspec.structs.replace(first, contents=contents, role="assistant"))
        return encode_content(first, context)


class Instructions(Codec):
    """systemInstruction: a Content, or a string. What it says beside its parts is a note of the first part."""

    classes = (dict, str)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is str:
            return True
        return value.__class__ is dict and value.get("parts").__class__ is list and bool(value["parts"])

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        if value.__class__ is str:
            return [TextContent(text=value, extra={API: {":form": "string"}})]
        contents = PARTS.decode_list(value["parts"], context)
        if contents:
            rest = {name: item for name, item in value.items() if name != "parts"}
            contents[0] = noted(contents[0], API, ":instruction", rest)
        return contents

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        if wire.__class__ is str:
            return [(value[0], path, wire, None)]
        return spread(value, wire["parts"], f"{path}.parts", PARTS)

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        if len(value) == 1 and note_of(value[0], API, ":form") == "string":
            return WORDS.encode(value, context, owner)
        parts = PARTS.encode_list(value, context)
        return {**(note_of(value[0], API, ":instruction") or {}), "parts": parts} if parts else None


def names_of_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Results with the name of their call, which this API wants on both."""
    names: dict[str | None, str | None] = {}
    settled = []
    for message in messages:
        for content in message.contents:
            if isinstance(content, ToolCallContent):
                names[content.call_id] = content.name
        if any(isinstance(c, FunctionResultContent) and c.name is None for c in message.contents):
            contents = [_named(content, names, context) for content in message.contents]
            message = context.same(message, msgspec.structs.replace(message, contents=contents))
        settled.append(message)
    return settled


def _named(content: Any, names: dict[str | None, str | None], context: EncodeContext) -> Any:
    if not isinstance(content, FunctionResultContent) or content.name is not None:
        return content
    return context.same(content, msgspec.structs.replace(content, name=names.get(content.call_id) or "tool"))


__all__ = [
    "Answer",
    "CallIds",
    "Contents",
    "Instructions",
    "decode_content",
    "encode_content",
    "has",
    "names_of_results",
]
