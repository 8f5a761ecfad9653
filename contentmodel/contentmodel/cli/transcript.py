"""A request, response or stored document as a transcript: headings, messages, and calls beside their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import msgspec
from rich.rule import Rule
from rich.text import Text

from contentmodel.cli.console import safe_text
from contentmodel.cli.pieces import Page, Parts, draw, draw_outcome, indented, joined, usage_line
from contentmodel.content.base import AIContent
from contentmodel.content.tools import ToolResultContent
from contentmodel.display import flowing, tool_name
from contentmodel.json import write
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.pairs import TranscriptIndex
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage

_ROLES = {"user": "green", "assistant": "blue", "system": "magenta", "developer": "magenta", "tool": "cyan"}
_GOOD_ENDS = ("stop", "tool_calls", "pause", "running", "compaction")
_OPTION = 40


def heading(name: str, style: str, note: str | None = None) -> Rule:
    """Return a heading: a line across the page."""
    return Rule(
        joined(safe_text(name, f"bold {style}"), safe_text(note or "", "dim")), style=f"dim {style}", align="left"
    )


@singledispatch
def transcript(value: Any, page: Page) -> Parts:
    """Yield the parts of any value of the model."""
    raise TypeError(type(value).__name__)


@transcript.register
def _of_content(value: AIContent, page: Page) -> Parts:
    yield from draw(value, page)


@transcript.register
def _of_usage(value: Usage, page: Page) -> Parts:
    yield usage_line(value)


@transcript.register
def _of_message(value: ChatMessage, page: Page) -> Parts:
    yield from conversation([value], page)


@transcript.register
def _of_list(value: list, page: Page) -> Parts:  # type: ignore[type-arg]
    if all(isinstance(item, ChatMessage) for item in value):
        yield from conversation(value, page)
    else:
        yield from contents(value, page)


@transcript.register
def _of_request(value: ChatRequest, page: Page) -> Parts:
    yield from _labelled("model", value.model)
    yield from _labelled("options", _options(value.options))
    yield from _labelled("tools", ", ".join(map(tool_name, value.tools)))
    if value.instructions:
        yield Text()
        yield heading("instructions", "magenta")
        yield from contents(value.instructions, page)
    yield from conversation(value.messages, page)


@transcript.register
def _of_response(value: ChatResponse, page: Page) -> Parts:
    yield from beginning(value)
    if value.error is not None:
        yield from draw(value.error, page)
    for number, choice in enumerate(value.choices, 1):
        if len(value.choices) > 1:
            yield heading(f"answer {number} of {len(value.choices)}", "bright_white")
        yield from conversation(choice.messages, page)
        yield from _finished(choice)
    if value.usage is not None:
        yield usage_line(value.usage)


def beginning(value: ChatResponse) -> Parts:
    """Yield the fields of a response that are known before its first block."""
    yield from _labelled("model", value.model)


def ending(value: ChatResponse, page: Page) -> Parts:
    """Yield the parts below the messages of a response that was shown live."""
    for choice in value.choices:
        yield from _finished(choice)
    if value.error is not None:
        yield from draw(value.error, page)
    if value.usage is not None:
        yield usage_line(value.usage)


def _finished(choice: ChatChoice) -> Parts:
    if choice.finish_reason is not None:
        yield Text()
        yield _finish(choice.finish_reason)


def _finish(finish: FinishReason) -> Text:
    style = "dim" if finish.reason in _GOOD_ENDS else "red"
    raw = f"({finish.raw})" if finish.raw not in (None, finish.reason) else None
    stop = f"at {finish.stop_sequence!r}" if finish.stop_sequence else None
    more = "- send the conversation again to continue" if finish.resumable else None
    line = joined(f"finished: {finish.reason}", raw, stop, more)
    line.stylize(style)
    return line


def _labelled(name: str, value: str | None) -> Iterator[Text]:
    if value:
        yield joined(safe_text(f"{name}:", "dim"), value)


def _options(options: ChatOptions) -> str:
    return ", ".join(f"{name}={_brief(value)}" for name, value in _flat(msgspec.to_builtins(options)))


def _flat(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the options, nested ones by dotted names. Deeper values stay whole."""
    for name, item in value.items():
        if isinstance(item, dict):
            yield from ((f"{name}.{inner}", value) for inner, value in item.items())
        else:
            yield name, item


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else write(value).decode()
    return text if len(text) <= _OPTION else text[:_OPTION] + "…"


def conversation(messages: Sequence[ChatMessage], page: Page) -> Parts:
    """Yield messages with role headings. Results follow their calls; a message with only such results is skipped."""
    messages = [msgspec.structs.replace(message, contents=flowing(message.contents)) for message in messages]
    pairs = TranscriptIndex(messages)
    for index, message in enumerate(messages):
        positions = [(index, at) for at in range(len(message.contents))]
        if positions and all(position in pairs.call_of for position in positions):
            continue
        yield Text()
        yield heading(message.role, _ROLES.get(message.role, "yellow"), message.author_name)
        yield from contents_of(messages, index, page, pairs)
        if not positions:
            yield Text("(empty)", style="dim")


def contents(value: list[AIContent], page: Page) -> Parts:
    """Yield contents without a message."""
    messages = [ChatMessage(role="", contents=flowing(value))]
    yield from contents_of(messages, 0, page, TranscriptIndex(messages))


def contents_of(messages: Sequence[ChatMessage], index: int, page: Page, pairs: TranscriptIndex) -> Parts:
    """Yield the contents of one message, each call followed by its result."""
    for at, content in enumerate(messages[index].contents):
        if (index, at) in pairs.call_of:
            continue
        yield from draw(content, page)
        if (index, at) in pairs.result_of:
            message, position = pairs.result_of[index, at]
            yield from indented(_result(messages[message].contents[position], page))


def _result(content: AIContent, page: Page) -> Parts:
    assert isinstance(content, ToolResultContent)
    yield from draw_outcome(content, page, "result")
