"""The base class of codecs of lists of messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.pipeline.foreign import leave_empty
from contentmodel.engine.table.codecs import Codec
from contentmodel.message import ChatMessage


class MessageList(Codec[list[ChatMessage]]):
    """A codec of a list that is not empty. Subclasses decode and encode the messages.

    - `item`: what an item of the list is.
    - `tag`: the field that each item must have, a string. If it is empty, there is no such field.
    - `meaning`: what `tag` is for.
    """

    classes: tuple[type, ...] = (list,)
    identity = False
    item = "message"
    tag = ""
    meaning = "role"

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value)

    def kept(self, messages: list[ChatMessage], context: EncodeContext) -> Iterator[ChatMessage]:
        """Yield the messages to encode. An empty message of another API is not written, and its fields are lost."""
        for message in messages:
            if message.contents or context.native:
                yield message
            else:
                leave_empty(message, context)

    def objects(self, value: list[Any], context: DecodeContext) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the items that are objects with the tag, with their indexes. Report a fault for each of the others."""
        for index, wire in enumerate(value):
            if wire.__class__ is not dict:
                context.expected(value, index, f"an object: a {self.item}", wire)
            elif self.tag and wire.get(self.tag).__class__ is not str:
                context.fault(wire, self.tag, f"missing string: the {self.meaning} of this {self.item}")
            else:
                yield index, wire
