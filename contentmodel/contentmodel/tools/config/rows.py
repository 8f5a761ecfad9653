"""Convert a message to rows of a store, and back. Rows do not contain which call a result answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from contentmodel import reasons
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.errors import DecodeError
from contentmodel.json import parse, write
from contentmodel.losses import Loss, loss_of
from contentmodel.message import ChatMessage
from contentmodel.tools.config.faults import MessageStoreError
from contentmodel.tools.config.format import LOAD

RESULT_ROLE = "function"
"""The role of a row with the result of a function."""


@dataclass(frozen=True)
class Row:
    """One row: a text, a call, or a result. `path` is its path in the message."""

    role: str
    content: str
    path: str
    name: str | None = None
    call: FunctionCallContent | None = None
    answers: str | None = None


@dataclass
class Pairing:
    """The calls that have no result yet, in order. The row of a result has only the name of its call."""

    open: list[FunctionCallContent] = field(default_factory=list)

    def name_of(self, call_id: str | None) -> str | None:
        """Return the name of an open call."""
        return next((call.name for call in self.open if call.call_id == call_id), None)

    def first(self, name: str | None) -> FunctionCallContent | None:
        """Return the call that a result with this name is assumed to answer."""
        return next((call for call in self.open if call.name == name or name is None), None)

    def close(self, call_id: str | None) -> None:
        """Remove the call of a result."""
        self.open = [call for call in self.open if call.call_id != call_id]

    def remember(self, rows: Iterable[Row]) -> None:
        """Update the open calls after these rows were saved."""
        for row in rows:
            if row.call is not None:
                self.open.append(row.call)
            if row.role == RESULT_ROLE:
                self.close(row.answers)


# From a message to rows -----------------------------------------------------------------------------------------------


def rows_of(message: ChatMessage, pairing: Pairing, losses: list[Loss]) -> Iterator[Row]:
    """Yield the rows of a message. Values that rows cannot hold are added to `losses`."""
    losses += _unheld(message, "$", ("role", "contents", "author_name"))
    texts: list[str] = []
    calls: list[tuple[str, FunctionCallContent]] = []
    results: list[tuple[str, FunctionResultContent]] = []
    for index, content in enumerate(message.contents):
        path = f"$.contents[{index}]"
        if isinstance(content, TextContent):
            texts.append(content.text)
            losses += _unheld(content, path, ("text",))
            if calls or results:
                losses.append(loss_of(reasons.ROW_TEXT_FIRST, path, "a text", family="text"))
        elif isinstance(content, FunctionCallContent):
            calls.append((path, content))
            losses += _unheld(content, path, ("call_id", "name", "arguments", "executor"))
        elif isinstance(content, FunctionResultContent):
            results.append((path, content))
            losses += _unheld(content, path, ("call_id", "name", "outputs", "executor", "is_error"))
        else:
            kind = type(content).__name__
            losses.append(loss_of(reasons.ROW_NO_CONTENT, path, f"a {kind}"))
    yield from _result_rows(results, pairing, losses)
    yield from _text_rows(message, "".join(texts), bool(texts) or not message.contents, calls)


def _text_rows(
    message: ChatMessage, text: str, has_text: bool, calls: list[tuple[str, FunctionCallContent]]
) -> Iterator[Row]:
    if not calls:
        if has_text:
            yield Row(message.role, text, "$", message.author_name)
        return
    for number, (path, call) in enumerate(calls):
        yield Row(message.role, "" if number else text, path, message.author_name, call)


def _result_rows(
    results: list[tuple[str, FunctionResultContent]], pairing: Pairing, losses: list[Loss]
) -> Iterator[Row]:
    waiting = Pairing(list(pairing.open))
    for path, result in results:
        name = result.name or waiting.name_of(result.call_id)
        taken_for = waiting.first(name)
        if taken_for is not None and taken_for.call_id != result.call_id:
            losses.append(loss_of(reasons.ROW_RESULT_BY_NAME, path, "which call this answers", family="tools"))
        waiting.close(result.call_id)
        yield Row(RESULT_ROLE, _result_text(path, result, losses), path, name, answers=result.call_id)


def _result_text(path: str, result: FunctionResultContent, losses: list[Loss]) -> str:
    texts = []
    for index, output in enumerate(result.output_list):
        output_path = f"{path}.outputs[{index}]"
        if isinstance(output, TextContent | JsonContent):
            texts.append(output.text)
            losses += _unheld(output, output_path, ("text", "value"))
        elif isinstance(output, ErrorContent):
            texts.append(output.message)
            losses.append(loss_of(reasons.ROW_ERROR_AS_TEXT, output_path, "an error", family="tools"))
        else:
            losses.append(loss_of(reasons.ROW_NO_OUTPUT, output_path, f"a {type(output).__name__}"))
    if result.is_error and not any(isinstance(output, ErrorContent) for output in result.output_list):
        losses.append(loss_of(reasons.ROW_ERROR_AS_TEXT, path, "an error", family="tools"))
    return "\n".join(texts)


def _unheld(value: Any, path: str, written: tuple[str, ...]) -> Iterator[Loss]:
    """Yield losses for the set fields of a message or content that are not in `written`."""
    for name in type(value).__struct_fields__:
        field_value = getattr(value, name)
        if name not in written and field_value not in (None, [], {}):
            yield loss_of(reasons.ROW_NO_FIELD, f"{path}.{name}", f"the {name.replace('_', ' ')}")


def call_text(call: FunctionCallContent) -> str:
    """Return a call as JSON text: its name, its arguments (an object, or the original text), and its id."""
    fields = {"name": call.name, "arguments": {} if call.arguments is None else call.arguments}
    return write({**fields, **({"id": call.call_id} if call.call_id else {})}).decode()


# From rows to messages ------------------------------------------------------------------------------------------------


def messages_of(rows: list[dict[str, Any]]) -> list[ChatMessage]:
    """Return the messages of rows, the oldest first. Raise MessageStoreError for an invalid row."""
    messages: list[ChatMessage] = []
    pairing = Pairing()
    for number, row in enumerate(rows, 1):
        message = _message(row, number, pairing)
        before = messages[-1] if messages else None
        if before is not None and _continues(before, message):
            messages[-1] = ChatMessage(
                role=before.role, contents=[*before.contents, *message.contents], author_name=before.author_name
            )
        else:
            messages.append(message)
    return messages


def _continues(before: ChatMessage, message: ChatMessage) -> bool:
    """Return whether a row is another call of the message before it."""
    calls = [isinstance(each.contents[-1:] and each.contents[-1], FunctionCallContent) for each in (before, message)]
    same = (before.role, before.author_name) == (message.role, message.author_name)
    return all(calls) and same and len(message.contents) == 1


def _message(row: dict[str, Any], number: int, pairing: Pairing) -> ChatMessage:
    role, content, name = (_text(row, key, number) for key in ("role", "content", "name"))
    if not role:
        raise MessageStoreError(f"{LOAD}: message {number} has no role")
    call = _call(row, number)
    if role in (RESULT_ROLE, "tool"):
        answered = pairing.first(name)
        call_id = answered.call_id if answered is not None else f"call_{number}"
        pairing.close(call_id)
        outputs: list[Any] = [TextContent(text=content or "")]
        return ChatMessage(role="tool", contents=[FunctionResultContent(call_id=call_id, name=name, outputs=outputs)])
    contents: list[Any] = [TextContent(text=content)] if content else []
    if call is not None:
        contents.append(call)
        pairing.open.append(call)
    return ChatMessage(role=role, contents=contents, author_name=name)


def _text(row: dict[str, Any], key: str, number: int) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise MessageStoreError(f"{LOAD}: the {key} of message {number} is not a text")
    return value or None


def _call(row: dict[str, Any], number: int) -> FunctionCallContent | None:
    stored = row.get("function_call") or row.get("functionCall")
    if not stored:
        return None
    try:
        value = parse(stored) if isinstance(stored, str) else stored
    except DecodeError:
        value = None
    arguments = value.get("arguments") if isinstance(value, dict) else None
    if value is None or not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise MessageStoreError(f"{LOAD}: the function call of message {number} is not a JSON object with a name")
    if arguments is not None and not isinstance(arguments, dict | str):
        raise MessageStoreError(f"{LOAD}: the arguments of the function call of message {number} are not an object")
    call_id = value.get("id") if isinstance(value.get("id"), str) else f"call_{number}"
    return FunctionCallContent(call_id=call_id, name=value["name"], arguments=arguments)
