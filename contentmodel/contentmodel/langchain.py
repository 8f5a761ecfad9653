"""Messages of LangChain as messages of the content model, and LangChain's chat history in a turn store.

    messages = from_langchain(chat.messages)
    chat_messages = to_langchain(messages)

Install it with the extra `langchain`. The adapter `langchain-messages` converts the messages.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from contentmodel.adapter import adapter
from contentmodel.extras import needs_extra
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest

with needs_extra("langchain"):
    from langchain_core.messages import BaseMessage, messages_from_dict

    with warnings.catch_warnings():
        # The class is deprecated for new designs. Chains with message histories still need it.
        warnings.simplefilter("ignore")
        from langchain_core.chat_history import BaseChatMessageHistory

if TYPE_CHECKING:
    from contentmodel.history import AsyncTurnStore, TurnStore
    from contentmodel.losses import Loss

__all__ = ["AsyncTurnStoreHistory", "TurnStoreHistory", "from_langchain", "to_langchain"]

API = "langchain-messages"


def from_langchain(messages: Sequence[BaseMessage | dict[str, Any]]) -> list[ChatMessage]:
    """Return messages of LangChain, as objects or as JSON, as messages of the content model.

    Raise DecodeError with the path of each value that is not JSON, or is not part of a message.
    """
    return adapter(API).decode_request(list(messages)).messages


def to_langchain(messages: Sequence[ChatMessage], *, losses: list[Loss] | None = None) -> list[BaseMessage]:
    """Return messages as objects of LangChain, with standard content blocks.

    Messages that came from LangChain become equal objects again. The losses of the others are appended to `losses`.
    """
    encoded = adapter(API).encode_request(ChatRequest(messages=list(messages))) if messages else None
    if encoded is None:
        return []
    if losses is not None:
        losses += encoded.losses
    return messages_from_dict([_as_dict(message) for message in encoded.payload])


def _as_dict(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message in any spelling as `messages_to_dict` writes it."""
    body = message.get("data") or message.get("kwargs") or message
    return {"type": body.get("type") or message["type"], "data": body}


class TurnStoreHistory(BaseChatMessageHistory):
    """The messages of one conversation of a `TurnStore`, as LangChain's chat history.

    A store has the roles of the model only. It refuses a `ChatMessage` with another role, and a `RemoveMessage`.
    """

    def __init__(self, store: TurnStore, conversation: str) -> None:
        self.store, self.conversation = store, conversation

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages; an empty list if the conversation does not exist."""
        from contentmodel.history import NotFoundError

        try:
            return to_langchain(self.store.load(self.conversation).messages)
        except NotFoundError:
            return []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in one transaction."""
        if messages:
            self.store.add_messages(self.conversation, from_langchain(messages))

    def clear(self) -> None:
        """Delete the conversation, if it exists."""
        from contentmodel.history import NotFoundError

        try:
            self.store.delete(self.conversation)
        except NotFoundError:
            return


class AsyncTurnStoreHistory(BaseChatMessageHistory):
    """The messages of one conversation of an `AsyncTurnStore`. Only the async methods work."""

    def __init__(self, store: AsyncTurnStore, conversation: str) -> None:
        self.store, self.conversation = store, conversation

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Raise TypeError: use `aget_messages`."""
        raise _only_async("aget_messages")

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages; an empty list if the conversation does not exist."""
        from contentmodel.history import NotFoundError

        try:
            return to_langchain((await self.store.load(self.conversation)).messages)
        except NotFoundError:
            return []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Raise TypeError: use `aadd_messages`."""
        raise _only_async("aadd_messages")

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages in one transaction."""
        if messages:
            await self.store.add_messages(self.conversation, from_langchain(messages))

    def clear(self) -> None:
        """Raise TypeError: use `aclear`."""
        raise _only_async("aclear")

    async def aclear(self) -> None:
        """Delete the conversation, if it exists."""
        from contentmodel.history import NotFoundError

        try:
            await self.store.delete(self.conversation)
        except NotFoundError:
            return


def _only_async(method: str) -> TypeError:
    return TypeError(f"the store of this history is an AsyncTurnStore: await {method}, or use TurnStoreHistory")
