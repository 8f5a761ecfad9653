"""Conversations of LangChain, in the three forms of its library."""

from __future__ import annotations

from typing import Any

from conftest import payloads

CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
    "chat": "ChatMessage",
    "function": "FunctionMessage",
    "remove": "RemoveMessage",
    "AIMessageChunk": "AIMessageChunk",
}


def with_data(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as `messages_to_dict` writes them."""
    return [{"type": message["type"], "data": message} for message in messages]


def with_kwargs(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as `dumpd` writes them: without null and empty fields."""
    return [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", CLASSES[message["type"]]],
            "kwargs": {key: value for key, value in message.items() if value not in (None, {})},
        }
        for message in messages
    ]


STORED = payloads("langchain-messages")
CONVERSATIONS: list[list[dict[str, Any]]] = [*STORED.values()]
LANGCHAIN: list[Any] = [
    *CONVERSATIONS,
    *map(with_data, CONVERSATIONS),
    *map(with_kwargs, CONVERSATIONS),
    {"messages": STORED["plain"], "next": "agent"},
]
