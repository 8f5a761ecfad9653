"""Codecs of messages in formats like Chat Completions, in which each tool result is a separate message."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.pipeline import foreign
from contentmodel.engine.pipeline.detached_media import with_detached_media, with_media_back
from contentmodel.engine.pipeline.sentinels import with_error_mark, with_error_read
from contentmodel.engine.table.codecs import Codec, Place
from contentmodel.engine.table.message_lists import MessageList
from contentmodel.engine.table.tables import Fields, Row, Union
from contentmodel.message import ChatMessage


class ResultMessage(Fields):
    """The fields of a message that is one content, such as a result. The content has the path of the message.

    `results` decodes the content. `paths` are the fields of the message by attribute, such as its id.
    """

    def __init__(self, results: Union | Row, paths: Mapping[str, str] | None = None) -> None:
        super().__init__(paths or {})
        self._results, self._paths = results, dict(paths or {})

    def decode(
        self, wire: dict[str, Any], context: DecodeContext, *, role: str = "tool", left_out: Collection[str] = ()
    ) -> ChatMessage:
        """Return a message with the content of a wire object. Other code decodes the fields `left_out`."""
        own = {attribute: wire[key] for attribute, key in self._paths.items() if wire.get(key).__class__ is str}
        taken = {*left_out, *(self._paths[attribute] for attribute in own)}
        rest = context.without(wire, taken) if taken else wire
        return ChatMessage(role=role, contents=[self._results.decode(rest, context)], origin=context.origin, **own)

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        """Return a wire object for each content of a message, by a union. The first has the fields of the message."""
        lost = tuple(name for name in ("author_name", "message_id") if name not in self._paths)
        context.report_lost_attributes(message, lost)
        context.leave_residue(message)
        results: Any = self._results
        wires: list[dict[str, Any]] = results.encode_list(message.contents, context)
        for attribute, key in self._paths.items() if wires else ():
            if getattr(message, attribute) is not None:
                wires[0] = {**wires[0], key: getattr(message, attribute)}
        return wires

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        yield value.contents[0], path, wire, self._results


class ChatMessages(MessageList):
    """The messages of a request. A message of the role `tool` is one result.

    `assistant` is the row of messages of the role `assistant`, `plain` that of all other roles, and `results` decodes a
    result. The format has no field for failed results: their texts begin with a mark. If `detached`, results have only
    texts, and their media follow in a user message.
    """

    tag = "role"

    def __init__(self, assistant: Row, plain: Row, results: Union, *, detached: bool = False) -> None:
        super().__init__()
        self.assistant, self.plain, self.results, self.detached = assistant, plain, results, detached
        self._result_message = ResultMessage(results)

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = []
        for _, wire in self.objects(value, context):
            if wire["role"] == "tool":
                result = with_error_read(self.results.decode(wire, context))
                messages.append(ChatMessage(role="tool", contents=[result], origin=context.origin))
            else:
                messages.append((self.assistant if wire["role"] == "assistant" else self.plain).decode(wire, context))
        context.trace_messages(messages, value, self._row_of)
        return with_media_back(messages, context) if self.detached else messages

    def _row_of(self, message: ChatMessage) -> Row | Fields:
        if message.role == "tool":
            return self._result_message
        return self.assistant if message.role == "assistant" else self.plain

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> list[dict[str, Any]]:
        messages = with_detached_media(value, context.api) if self.detached else value
        return [wire for message in messages for wire in self.encode_message(message, context)]

    def encode_message(self, message: ChatMessage, context: EncodeContext) -> list[dict[str, Any]]:
        """Return the wire messages of one message: none, one, or one for each result."""
        if not context.native and not message.contents:
            # An empty message of another API is not written.
            foreign.leave_empty(message, context)
            return []
        if message.role != "tool":
            return [(self.assistant if message.role == "assistant" else self.plain).encode(message, context)]
        if message.message_id or message.author_name or message.extra:
            foreign.leave_empty(message, context)
        return self.results.encode_list([with_error_mark(content, context) for content in message.contents], context)


class AnswerMessage(Codec[list[ChatMessage]]):
    """The one message of an answer. An answer of several messages becomes one."""

    classes = (dict,)
    identity = False

    def __init__(self, assistant: Row) -> None:
        super().__init__()
        self.assistant = assistant

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [self.assistant.decode(value, context)]
        context.trace(self.assistant, messages, container, key, spread=False)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: object) -> dict[str, Any]:
        return self.assistant.encode(foreign.joined_messages(value, context), context)
