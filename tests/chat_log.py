"""A small format whose documents are JSON Lines: a log of a chat, one message or result a line.

    {"role": "user", "content": "Hi.", "time": 1770000000}
    {"role": "assistant", "content": [{"type": "call", "id": "c1", "name": "clock", "arguments": {}}]}
    {"role": "tool", "id": "c1", "content": "12:00"}

A line that is no message is kept, also if it is not JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel import (
    ChatMessage,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
    UnknownContent,
)
from contentmodel.authoring import (
    ArgumentsObject,
    Codec,
    DecodeContext,
    EncodeContext,
    Fields,
    Filled,
    Hint,
    IdentifierRule,
    Kinds,
    RequestsOnly,
    Roles,
    Row,
    Rules,
    Table,
    TableAdapter,
    TextOrBlocks,
    foreign,
    place_instructions,
    request_step,
    row,
    with_error_mark,
    with_error_read,
    with_fitting_calls,
    with_known_tools,
)

API = "chat-log"
TABLE = Table(API)
ANYTHING = IdentifierRule(r"[\s\S]", 100_000)
"""Ids and names with any characters."""
ROLES = ("user", "assistant", "system")
OTHER = Hint[bool](API, "other", "the message holds a line that is no message")

CALL = {"id": "call_id", "name": "name", "arguments": ("arguments", ArgumentsObject())}
BLOCKS = TABLE.union(
    "block",
    [
        row("text", TextContent, {"text": "text"}),
        row("call", FunctionCallContent, CALL, Filled({"arguments": {}})),
    ],
    accepts_untyped=True,
    accepts_values=True,
)
CONTENT = TextOrBlocks(BLOCKS, "string")
RESULTS = TABLE.union(
    "result",
    [
        Row(
            "tool",
            FunctionResultContent,
            {"id": "call_id", "name": "name", "content": ("outputs", CONTENT)},
            Filled({"content": ""}),
            constants={"role": "tool"},
        )
    ],
    tag="role",
)
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {
        "role": ("role", Roles(API, {role: role for role in ROLES}, elsewhere=("tool",))),
        "content": ("contents", CONTENT),
    },
    Filled({"content": ""}),
)


class Single(Fields):
    """The fields of a line that is a single content: a result, or a line that is no message."""

    def places(self, value: Any, wire: Any, path: str) -> Any:
        yield value.contents[0], path, wire, RESULTS


SINGLE = Single({})


class Lines(Codec[list[ChatMessage]]):
    """The lines of a document. A line that is no message becomes an UnknownContent."""

    classes = (list,)
    identity = False

    def holds(self, value: object) -> bool:
        return isinstance(value, list)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = []
        for index, line in enumerate(value):
            message = decode_line(line, context)
            messages.append(message)
            if OTHER.of(message, API):
                context.trace(None, message.contents, value, index, spread=False)
        context.trace_messages(messages, value, row_of)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> Any:
        return [line for message in value for line in encode_message(message, context)]


def decode_line(line: Any, context: DecodeContext) -> ChatMessage:
    role = line.get("role") if isinstance(line, dict) else None
    if role in ROLES:
        return MESSAGE.decode(line, context)
    is_result = role == "tool" and isinstance(line.get("id"), str)
    if is_result:
        result = with_error_read(RESULTS.decode(line, context))
        return ChatMessage(role="tool", contents=[result], origin=context.origin)
    other = ChatMessage(role="user", contents=[UnknownContent(api=API, block=line)], origin=context.origin)
    return OTHER.on(other, API, True)


def row_of(message: ChatMessage) -> Row | Fields:
    return SINGLE if message.role == "tool" or OTHER.of(message, API) else MESSAGE


def encode_message(message: ChatMessage, context: EncodeContext) -> Iterator[Any]:
    first = message.contents[0] if message.contents else None
    if isinstance(first, UnknownContent) and OTHER.of(message, API):
        yield first.block
    elif message.role == "tool":
        if message.message_id or message.author_name or message.extra:
            foreign.leave_empty(message, context)
        for content in message.contents:
            marked = with_error_mark(content, context) if isinstance(content, FunctionResultContent) else content
            yield from RESULTS.encode_list([marked], context)
    elif context.native or message.contents:
        yield MESSAGE.encode(message, context)
    else:
        foreign.leave_empty(message, context)


class ChatLog(RequestsOnly, TableAdapter):
    """The adapter of the logs."""

    api = API
    issuer = ""
    form = "lines"
    conversation = "lines"
    table = TABLE
    request = TABLE.record("document", ChatRequest, {"lines": ("messages", Lines())})
    rules = Rules(API)
    request_steps = (
        request_step(with_known_tools, native=True, kinds=Kinds()),
        request_step(place_instructions, native=True),
        *foreign.NORMALIZE,
        request_step(with_fitting_calls, ids=ANYTHING, names=ANYTHING),
    )

    def recognises(self, payload: dict[str, Any]) -> dict[str, float]:
        """Return nothing: a document is a list of lines."""
        return {}

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the lines are a log: all messages, except for torn lines, have a time."""
        found = [item for item in items if isinstance(item, dict)]
        return 0.98 if found and all("role" in item and "time" in item for item in found) else 0.0


adapter = ChatLog()
