"""The table of data sets with a column `messages`, as chat templates read them.

Rows of ms-swift have calls in messages of the role `tool_call`, whose content is JSON text, and results in those of the
role `tool_response`. Some rows have tools without the type.

Sources: huggingface.co/docs/transformers/chat_templating, chat_extras and chat_templating_multimodal;
huggingface.co/docs/trl/dataset_formats; swift.readthedocs.io/en/latest/Instruction/Agent-support.html (seen
2026-11-27).
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    Codec,
    DataUri,
    DecodeContext,
    EncodeContext,
    Fields,
    Filled,
    Implied,
    Required,
    Row,
    Silent,
    Spec,
    chat,
    reasons,
    with_error_read,
    write,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.chat_rows import ChatRows, usual_row
from contentmodel_adapters.datasets.hf.padding import API, CALLS_TEXT, LITERALS, nulls_in, with_nulls, without_nulls
from contentmodel_adapters.datasets.json_texts import CallsText, as_objects, calls_of


class Arguments(Codec[Any]):
    """The arguments of a call: an object, or JSON text. Conversion from another API writes an object."""

    classes = (dict, str)
    identity = False
    _as_object = ArgumentsObject()

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        if context.native:
            return with_nulls(value, owner)
        arguments = self._as_object.encode(value, context, owner)
        for path in nulls_in(arguments):
            context.report_loss(owner, f"arguments${path}", reasons.NULL_MEMBERS)
        return without_nulls(arguments)


class Parameters(Codec[Any]):
    """The schema of a tool, which may contain nulls that Arrow added."""

    classes = (dict,)
    identity = False

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        if context.native:
            return with_nulls(value, owner)
        for path in nulls_in(value, LITERALS):
            context.report_loss(owner, f"parameters${path}", reasons.NULL_MEMBERS)
        return without_nulls(value, LITERALS)


def _media(kind: str) -> list[Row]:
    """Return the rows of parts with one kind of media, in `url`, `path`, `base64` or a field named as the kind."""
    constants, implied = {"type": kind}, Implied({"kind": kind})
    return [
        Row(f"{kind}.data", DataContent, {"url": (("media_type", "data"), DataUri())}, constants=constants),
        Row(f"{kind}.own.data", DataContent, {kind: (("media_type", "data"), DataUri())}, constants=constants),
        Row(f"{kind}.base64", DataContent, {"base64": ("data", Required())}, constants=constants),
        Row(kind, UriContent, {"url": "uri"}, implied, constants=constants),
        Row(f"{kind}.own", UriContent, {kind: "uri"}, implied, constants=constants),
        Row(f"{kind}.path", UriContent, {"path": "uri"}, implied, constants=constants),
    ]


KINDS_OF_MEDIA = ("image", "audio", "video")
OPENAI = {"type": "image_url"}
CALL, RESULT = "tool_call", "tool_response"
"""The roles of calls and of results in rows of ms-swift."""


class Messages(ChatRows):
    """The messages of a row. Calls may be messages of their own, whose text is JSON. Any other text is the model's."""

    def __init__(self, *rows: Any, **options: Any) -> None:
        super().__init__(*rows, **options)
        fields: dict[str, Spec] = {"id": "call_id", "name": "name", "arguments": ("arguments", Arguments())}
        empty = Filled({"arguments": {}})
        calls = self.table.union(
            "call in a text", [Row("call", FunctionCallContent, fields, empty)], find=lambda wire: "call"
        )
        fixed = (Implied({"role": "assistant"}), Silent("message_id"))
        role = {"role": CALL}
        text: dict[str, Spec] = {"content": ("contents", CallsText(calls, _text_of_calls, CALLS_TEXT))}
        self._calling = self.table.record("call message", ChatMessage, text, *fixed, constants=role)
        plain: dict[str, Spec] = {"content": ("contents", self.content)}
        self._unread = self.table.record("unread call message", ChatMessage, plain, *fixed, constants=role)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [self._decoded(wire, context) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, self._row_of)
        return messages

    def _decoded(self, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
        role, content = wire["role"], wire.get("content")
        if role in ("tool", RESULT):
            result = with_error_read(self.results.decode(wire, context))
            return ChatMessage(role="tool", contents=[result], origin=context.origin)
        if role == CALL:
            are_calls = calls_of(content) is not None
            calling: ChatMessage = (self._calling if are_calls else self._unread).decode(wire, context)
            return CALLS_TEXT.on(calling, API, str(content) if are_calls else "")
        message: ChatMessage = (self.assistant if role == "assistant" else self.plain).decode(wire, context)
        return message

    def _row_of(self, message: ChatMessage) -> Row | Fields:
        return self._row_of_call(message) or super()._row_of(message)

    def _row_of_call(self, message: ChatMessage) -> Row | None:
        """Return the row of a message of the role `tool_call`. An edit may have added contents that it cannot have."""
        text = CALLS_TEXT.of(message, API)
        if text is None or message.role != "assistant":
            return None
        are_calls = {isinstance(content, FunctionCallContent) for content in message.contents}
        return self._calling if are_calls == {True} else self._unread if not text and True not in are_calls else None

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        row = self._row_of_call(message) if context.native else None
        return super().encode_message(message, context) if row is None else [row.encode(message, context)]


def expanded(document: Any) -> Any:
    """Return a document with the calls of texts as objects."""
    messages = document.get("messages") if document.__class__ is dict else document
    if messages.__class__ is not list:
        return document
    changed = [_expanded(message) for message in messages]
    return changed if document is messages else {**document, "messages": changed}


def _expanded(message: Any) -> Any:
    if message.__class__ is not dict or message.get("role") != CALL:
        return message
    calls = as_objects(message.get("content"))
    return message if calls is None else {**message, "content": calls}


def _text_of_calls(calls: list[dict[str, Any]]) -> str:
    return write(calls[0] if len(calls) == 1 else calls).decode()


MESSAGES = Messages(
    API,
    [
        *(part for kind in KINDS_OF_MEDIA for part in _media(kind)),
        Row("image_url.data", DataContent, {"image_url.url": (("media_type", "data"), DataUri())}, constants=OPENAI),
        Row("image_url", UriContent, {"image_url.url": "uri"}, Implied({"kind": "image"}), constants=OPENAI),
    ],
    arguments=Arguments(),
    prefer=usual_row("image"),
    reasoning=("reasoning_content", "thinking", "reasoning"),
    function={**chat.FUNCTION, "function.parameters": ("parameters", Parameters())},
    bare_tools=True,
    results=("tool", RESULT),
)
TABLE = MESSAGES.table
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {"messages": ("messages", MESSAGES), "tools": ("tools", Blocks(MESSAGES.tools))},
)
TABLE.keep("request", "chat_template_kwargs")
