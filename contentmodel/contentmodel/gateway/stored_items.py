"""The items of stored turns in the form of the Responses API, with ids that lead back to their turns.

The ids of answers, and of the items of a turn, contain the id of the turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from contentmodel.adapter import Adapter
from contentmodel.content.base import AIContent
from contentmodel.history import AsyncTurnStore, Turn
from contentmodel.json import JsonObject
from contentmodel.message import ChatMessage, FinishReason, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.serialize import convert_value

KEY = "contentmodel-gateway"
"""The key of the gateway's own values in `extra` of a stored answer.

`inputs` is the number of turns of its input, `fields` are the fields of the request that the answer repeats, and
`origin` is its origin.
"""

_ANSWER_ID = re.compile(r"resp_([0-9a-f]{32})")
_ITEM_ID = re.compile(r"[a-z]+_([0-9a-f]{32})[0-9a-f]{16}")


def answer_id(turn: Turn) -> str:
    """Return the id of an answer."""
    return f"resp_{turn.id}"


def turn_of_answer(name: str) -> str | None:
    """Return the id of the turn of an answer; None if it is not an id of this gateway."""
    match = _ANSWER_ID.fullmatch(name)
    return None if match is None else match[1]


def turn_of_item(name: str) -> str | None:
    """Return the id of the turn of an item; None if it is not an id of this gateway."""
    match = _ITEM_ID.fullmatch(name)
    return None if match is None else match[1]


def shown(response: ChatResponse, turn: Turn, api: str, fields: JsonObject) -> ChatResponse:
    """Return an answer as the client gets it: with the id of its turn, a time, and fields of its request."""
    extra = {key: value for key, value in (response.extra or {}).items() if key != KEY}
    created = response.created if response.created is not None else int(turn.started_at.timestamp())
    extra[api] = {**extra.get(api, {}), **fields}
    return msgspec.structs.replace(response, id=answer_id(turn), created=created, extra=extra)


class StoredItems:
    """The items of one turn."""

    def __init__(self, items: list[JsonObject], messages: list[ChatMessage], encode: Callable[..., list[Any]]) -> None:
        self.items, self.messages, self._encode = items, messages, encode

    def messages_of(self, names: Sequence[str]) -> list[ChatMessage] | None:
        """Return the messages of some items; None if one does not exist.

        All items together are the messages of the turn, with contents that the client was not sent.
        """
        known = [item["id"] for item in self.items]
        if list(names) == known:
            return self.messages
        if not set(names) <= set(known):
            return None
        parts = self._parts()
        return [part for name in names for part in _joined(parts[known.index(name)])]

    def _parts(self) -> list[list[tuple[ChatMessage, AIContent]]]:
        """Return the contents of each item, with their messages."""
        parts: list[list[tuple[ChatMessage, AIContent]]] = [[] for _ in self.items]
        for number, message in enumerate(self.messages):
            for end, content in enumerate(message.contents, 1):
                begun = msgspec.structs.replace(message, contents=message.contents[:end])
                count = len(self._encode([*self.messages[:number], begun]))
                parts[min(max(count, 1), len(parts)) - 1].append((message, content))
        return parts


def _joined(parts: Sequence[tuple[ChatMessage, AIContent]]) -> Iterator[ChatMessage]:
    for message in dict.fromkeys(id(message) for message, _ in parts):
        owner = next(owner for owner, _ in parts if id(owner) == message)
        yield msgspec.structs.replace(owner, contents=[content for owner, content in parts if id(owner) == message])


async def items_of(store: AsyncTurnStore, turn: Turn, adapter: Adapter) -> StoredItems:
    """Return the items of a turn. Those of an answer have the ids that the client was sent."""
    response = await store.response(turn) if turn.role == "assistant" else None
    if response is not None and KEY in (response.extra or {}):
        answer = answer_of(response, turn, adapter.api)

        def encode(messages: list[ChatMessage]) -> list[Any]:
            return _output(adapter, answer, messages)

        return StoredItems(encode(answer.messages), response.messages, encode)
    messages = await store.messages(turn)

    def encode_input(messages: list[ChatMessage]) -> list[Any]:
        return _input(adapter, messages)

    return StoredItems(list(_named(encode_input(messages), turn)), messages, encode_input)


def answer_of(response: ChatResponse, turn: Turn, api: str) -> ChatResponse:
    """Return a stored answer as the client gets it. An answer without an end is in progress or cancelled."""
    own = (response.extra or {}).get(KEY, {})
    origin = None if own.get("origin") is None else convert_value(own["origin"], Origin)
    answer = shown(response if origin is None else with_origin(response, origin), turn, api, own.get("fields", {}))
    word = {"open": "running", "interrupted": "cancelled"}.get(turn.status)
    if word is None:
        return answer
    choice = answer.choices[0] if answer.choices else ChatChoice()
    ended = msgspec.structs.replace(choice, finish_reason=FinishReason(reason=word))
    return msgspec.structs.replace(answer, choices=[ended], error=None)


def with_origin(response: ChatResponse, origin: Origin | None) -> ChatResponse:
    """Return a response whose messages, too, have this origin."""
    choices = [
        msgspec.structs.replace(choice, messages=[msgspec.structs.replace(m, origin=origin) for m in choice.messages])
        for choice in response.choices
    ]
    return msgspec.structs.replace(response, choices=choices, origin=origin)


def _output(adapter: Adapter, answer: ChatResponse, messages: list[ChatMessage]) -> list[Any]:
    messages = [msgspec.structs.replace(message, origin=answer.origin) for message in messages]
    choice = msgspec.structs.replace(answer.choices[0], messages=messages) if answer.choices else ChatChoice()
    output: list[Any] = adapter.encode_response(msgspec.structs.replace(answer, choices=[choice])).payload["output"]
    return output


def _input(adapter: Adapter, messages: list[ChatMessage]) -> list[Any]:
    value = adapter.encode_request(ChatRequest(messages=messages)).payload.get("input", [])
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


def _named(items: Sequence[JsonObject], turn: Turn) -> Iterator[JsonObject]:
    """Yield items of an input with an id and a status, and the contents of messages as lists, as SDKs want them."""
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        whole = {**item, "type": kind, "status": item.get("status") or "completed"}
        whole["id"] = f"{'msg' if kind == 'message' else 'item'}_{turn.id}{number:016x}"
        if kind == "message" and isinstance(item.get("content"), str):
            part = "output_text" if item.get("role") == "assistant" else "input_text"
            annotations: JsonObject = {"annotations": []} if part == "output_text" else {}
            whole["content"] = [{"type": part, "text": item["content"], **annotations}]
        yield whole


def listed(items: Sequence[JsonObject], after: str | None, limit: int, order: str) -> JsonObject:
    """Return a page of items as a list of the API."""
    ordered = list(items) if order == "asc" else list(reversed(items))
    names = [item["id"] for item in ordered]
    start = names.index(after) + 1 if after in names else 0
    return page_of(ordered[start : start + limit], has_more=start + limit < len(ordered))


def page_of(items: Sequence[JsonObject], *, has_more: bool) -> JsonObject:
    """Return items as a list of the API."""
    ends = {"first_id": items[0]["id"] if items else "", "last_id": items[-1]["id"] if items else ""}
    return {"object": "list", "data": list(items), **ends, "has_more": has_more}
