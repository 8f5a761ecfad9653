"""The table of conversations of the ShareGPT form: a list of objects with `from` and `value`.

A value is a text. Calls are the JSON text of an object with `name` and `arguments`, or of a list of them. Documents of
other programs have no call ids, and results follow their calls in order. Here, calls of other APIs keep their id in the
field `id`, and results in `tool_call_id`: readers of the form ignore other fields. Calls in the text of an answer
(`<tool_call>` of Hermes, ReAct) are texts, and so are their results.

Sources (seen 2026-11-23): data/README.md of hiyouga/LLaMA-Factory, with src/llamafactory/data/converter.py,
formatter.py and v1/plugins/data_plugins/converter.py; `standardize_sharegpt` of unsloth (`user`, `input`, `assistant`,
`output`); swift/llm/dataset/preprocessor/core.py of modelscope/ms-swift (`bot`, `function_response`, `observations`);
camel.messages.conversion of camel-ai/camel (`tool`); fastchat/data of lm-sys/FastChat (`chatgpt`, `bing`, `bard`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    DataUri,
    DecodeContext,
    EncodeContext,
    Filled,
    Hint,
    Implied,
    MessageList,
    NonEmptyText,
    Place,
    ResultMessage,
    Roles,
    Row,
    Silent,
    Table,
    Union,
    foreign,
    is_data_uri,
    reasons,
    with_error_mark,
    with_error_read,
    write,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.chat_rows import report_citations, tools_of, usual_row
from contentmodel_adapters.datasets.json_texts import CallsText, as_objects, calls_of, objects_of_text
from contentmodel_adapters.datasets.sharegpt.placeholders import (
    LISTS,
    Pieces,
    escaped_json,
    joined,
    listed_media,
    with_split_values,
)

API = "sharegpt"
TABLE = Table(API)
FROM = Hint[str](API, "from", "the role in the spelling of the message")
CALLS_TEXT = Hint[str](API, "calls", "the JSON text of the calls")

CALL, RESULT = "function_call", "observation"
SPEAKERS = {
    **dict.fromkeys(("human", "user", "input"), "user"),
    **dict.fromkeys(("gpt", "assistant", "output", "bot", "chatgpt", "bing", "bard"), "assistant"),
    "system": "system",
}
"""The spellings of roles, and the roles. The first spelling is the usual one."""
_USUAL = {"user": "human", "assistant": "gpt", "system": "system", "developer": "system"}
UNEVEN = reasons.degraded(
    "uneven-sides",
    "users and results do not alternate with answers and calls here: LLaMA-Factory skips the conversation",
)
RESULTS = (RESULT, "observations", "function_response", "tool")
"""The spellings of the role of results."""
ROLES = (*SPEAKERS, CALL, *RESULTS)


class From(Roles):
    """The role of a message that is no result, in the spelling of the hint."""

    def encode(self, value: str, context: EncodeContext, owner: Any) -> str:
        spelled = FROM.of(owner, API)
        return (
            spelled
            if spelled is not None and self.to_model.get(spelled) == value
            else super().encode(value, context, owner)
        )


class Value(Codec[list[AIContent]]):
    """The value of a message: a text, or parts if it has media."""

    classes = (str,)
    identity = False

    def __init__(self, parts: Union) -> None:
        super().__init__()
        self._parts = parts

    def holds(self, value: object) -> bool:
        return value.__class__ is str or value.__class__ is Pieces

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if value.__class__ is str:
            return [TextContent(text=value)]
        contents: list[AIContent] = self._parts.decode_list(value, context)
        for at, (media, index) in value.origins.items():
            context.trace(None, [contents[at]], media, index, spread=False)
        return contents

    def places(self, value: list[AIContent], wire: Any, path: str) -> Iterable[Place]:
        return [(content, path, wire, None) for content in value]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        pieces = Pieces(self._parts.encode_list(value, context))
        return pieces if any("text" not in piece for piece in pieces) else joined(pieces)


def text_of_calls(calls: list[dict[str, Any]]) -> str:
    """Return the usual JSON text of calls."""
    return escaped_json(write(calls[0] if len(calls) == 1 else calls).decode())


class Arguments(ArgumentsObject):
    """The arguments of a call: an object, or JSON text. Those of another API become an object."""

    classes: tuple[type, ...] = (dict, str)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        return value if context.native else super().encode(value, context, owner)


def _media(kind: str) -> list[Row]:
    """Return the rows of one kind of media: a path, a link, or a data URI."""
    return [
        Row(f"{kind}.data", DataContent, {kind: (("media_type", "data"), DataUri())}),
        Row(kind, UriContent, {kind: "uri"}, Implied({"kind": kind})),
    ]


def _form_of_part(wire: dict[str, Any]) -> str:
    kind = next(iter(wire))
    return f"{kind}.data" if is_data_uri(wire[kind]) and kind in LISTS else kind


PARTS = TABLE.union(
    "part of a value",
    [Row("text", TextContent, {"text": "text"}), *(part for kind in LISTS for part in _media(kind))],
    find=_form_of_part,
    prefer=usual_row("image"),
)
TEXTS = TABLE.union("text of a value", [Row("text", TextContent, {"text": "text"})], find=lambda wire: "text")
CALLS = TABLE.union(
    "call",
    [
        Row(
            "call",
            FunctionCallContent,
            {"id": "call_id", "name": "name", "arguments": ("arguments", Arguments())},
            Filled({"arguments": {}}),
        )
    ],
    find=lambda wire: "call",
)
RESULT_MESSAGES = TABLE.union(
    "result message",
    [
        Row(
            "result",
            FunctionResultContent,
            {"tool_call_id": "call_id", "value": ("outputs", Value(PARTS))},
            Silent("name"),
            Filled({"value": ""}),
        )
    ],
    find=lambda wire: "result",
)
_SPEAKER = From(API, {**SPEAKERS, CALL: "assistant", **dict.fromkeys(RESULTS, "user")}, _USUAL)
PLAIN, SYSTEM = (
    TABLE.record(
        name,
        ChatMessage,
        {"from": ("role", _SPEAKER), "value": ("contents", Value(parts))},
        Silent("message_id"),
        Filled({"value": ""}),
    )
    for name, parts in (("message", PARTS), ("system message", TEXTS))
)
CALLING = TABLE.record(
    "call message",
    ChatMessage,
    {"value": ("contents", CallsText(CALLS, text_of_calls, CALLS_TEXT))},
    Implied({"role": "assistant"}),
    Silent("message_id"),
    constants={"from": CALL},
)
TABLE.known_values("message.roles", *ROLES)


class Conversation(MessageList):
    """The messages of a conversation."""

    tag = "from"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        unanswered = 0
        for _, wire in self.objects(value, context):
            messages.append(_decoded(wire, context, has_call=unanswered > 0))
            unanswered += len(messages[-1].tool_calls) - (messages[-1].role == "tool")
        context.trace_messages(messages, value, _layout_of)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        written = [(message, wire) for message in self.kept(value, context) for wire in _encoded(message, context)]
        wires = [wire for _, wire in written]
        uneven = None if context.native else first_uneven([wire.get("from") for wire in wires])
        if uneven is not None:
            context.report_loss(written[uneven][0], None, UNEVEN)
        return wires


def first_uneven(names: list[Any]) -> int | None:
    """Return the index of the first message that is on the wrong side. A first system message is on none."""
    start = 1 if names[:1] == ["system"] else 0
    for at, name in enumerate(names[start:]):
        role = SPEAKERS.get(name) if isinstance(name, str) else None
        is_right = name == CALL or role == "assistant" if at % 2 else name in RESULTS or role == "user"
        if not is_right:
            return start + at
    return None


def _decoded(wire: dict[str, Any], context: DecodeContext, *, has_call: bool) -> ChatMessage:
    """Return the message of an object. A result without a call before it answers a text, and is a text of the user."""
    name = wire["from"]
    if name in RESULTS and (has_call or wire.get("tool_call_id") is not None):
        answer = _RESULT_MESSAGE.decode(wire, context, left_out=["from"])
        result = with_error_read(answer.contents[0])
        answer.contents[0] = result if name == RESULT else FROM.on(result, API, name)
        return answer
    if name == CALL and calls_of(wire.get("value")) is not None:
        calling: ChatMessage = CALLING.decode(wire, context)
        usual = text_of_calls(
            CALLS.encode_list(calling.contents, EncodeContext(API, "", "request", None, context.origin))
        )
        return calling if usual == wire["value"] else CALLS_TEXT.on(calling, API, wire["value"])
    message: ChatMessage = (SYSTEM if name == "system" else PLAIN).decode(wire, context)
    return message if _USUAL.get(message.role, name) == name else FROM.on(message, API, name)


def expanded(document: Any) -> Any:
    """Return a document with its calls and tools as objects, and its texts without placeholders of media."""
    conversation = document.get("conversations") if document.__class__ is dict else document
    if conversation.__class__ is not list:
        return document
    lists = listed_media(document) if document.__class__ is dict else {}
    messages = [_expanded(message) for message in with_split_values(conversation, lists)]
    if conversation is document:
        return messages
    tools = objects_of_text(document.get("tools"))
    return {**document, "conversations": messages} | ({} if tools is None else {"tools": tools})


def _expanded(message: Any) -> Any:
    value = message.get("value") if message.__class__ is dict else None
    if isinstance(value, Pieces):
        return {**message, "value": [piece["text"] for piece in value if "text" in piece]}
    calls = as_objects(value) if value is not None and message.get("from") == CALL else None
    return message if calls is None else {**message, "value": calls}


_RESULT_MESSAGE = ResultMessage(RESULT_MESSAGES)


def _layout_of(message: ChatMessage) -> Any:
    if message.role == "tool":
        return _RESULT_MESSAGE
    if any(isinstance(content, FunctionCallContent) for content in message.contents):
        return CALLING
    return SYSTEM if message.role == "system" else PLAIN


def _encoded(message: ChatMessage, context: EncodeContext) -> Iterator[dict[str, Any]]:
    """Yield the wire messages of one message: one for each result, and calls apart from texts."""
    if message.role == "tool":
        if message.message_id or message.author_name or message.extra:
            foreign.leave_empty(message, context)
        for result in message.contents:
            report_citations(getattr(result, "output_list", ()), context)
            name = FROM.of(result, API)
            for wire in RESULT_MESSAGES.encode_list([with_error_mark(result, context)], context):
                yield {"from": name if name in RESULTS else RESULT, **wire}
    elif not message.contents:
        yield PLAIN.encode(message, context)
    else:
        report_citations(message.contents, context)
        for at, (are_calls, contents) in enumerate(_runs(message.contents)):
            part = ChatMessage(role=message.role, contents=contents, origin=message.origin)
            part = part if at else context.with_contents(message, contents)
            yield (CALLING if are_calls else SYSTEM if message.role == "system" else PLAIN).encode(part, context)


def _runs(contents: Iterable[AIContent]) -> Iterator[tuple[bool, list[AIContent]]]:
    """Yield runs of calls, and runs of other contents. After a call, each of the others is a run.

    Until the call has a result, further texts may follow: they do not change the messages before them.
    """
    is_after_call = False
    for are_calls, run in groupby(contents, lambda content: isinstance(content, FunctionCallContent)):
        if is_after_call and not are_calls:
            yield from ((False, [content]) for content in run)
        else:
            yield are_calls, list(run)
        is_after_call = is_after_call or are_calls


REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "conversations": ("messages", Conversation()),
        "system": ("instructions", NonEmptyText(TextContent, "text", between="\n\n")),
        "tools": ("tools", Blocks(tools_of(TABLE))),
    },
)
TABLE.keep("request", *LISTS.values())
