"""The transcript of stored turns as a run goes on with it. Pure: messages in, messages out.

A store keeps what happened, in the order in which it happened: questions about calls, what somebody answered, results
that came after other words. A model is told of calls and results alone, each result behind its call: the very messages
that it was told when the call was settled, so that what it has cached of them stays good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from contentmodel.content.tools import ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.runner.turns import with_every_id, without_settled_questions


def prepared(request: ChatRequest, defaults: ChatRequest) -> ChatRequest:
    """A stored transcript as it is sent; what it does not say itself it takes from `defaults`."""
    said = {
        name: value for name in ChatOptions.__struct_fields__ if (value := getattr(request.options, name)) is not None
    }
    return msgspec.structs.replace(
        request,
        model=request.model or defaults.model,
        instructions=request.instructions or defaults.instructions,
        options=msgspec.structs.replace(defaults.options, **said),
        messages=sendable(request.messages),
    )


def sendable(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages without what the application and its user had to settle among themselves, and in order."""
    # A turn of the assistant that broke off before its first block is kept: the calls before it may have run in it.
    settled = without_settled_questions(with_every_id(messages))
    kept = [message for message in settled if message.contents or _is_assistant(message)]
    return [message for section in _sections(kept) for message in _in_order(section)]


def _is_assistant(message: ChatMessage) -> bool:
    return message.role == "assistant"


def _is_result(content: Any) -> bool:
    return isinstance(content, ToolResultContent) and content.executor == "client"


def _sections(messages: Sequence[ChatMessage]) -> Iterator[list[ChatMessage]]:
    """The messages, cut before each turn of the assistant."""
    section: list[ChatMessage] = []
    for message in messages:
        if _is_assistant(message) and message.contents and section and not _is_assistant(section[-1]):
            yield section
            section = []
        section.append(message)
    yield section


def _in_order(section: list[ChatMessage]) -> list[ChatMessage]:
    """The assistant's messages, the results of their calls in the order of the calls, and the rest."""
    calls = [call.call_id for message in section for call in message.tool_calls]
    begin = next((at for at, message in enumerate(section) if message.role != "assistant"), len(section))
    turn, after = section[:begin], section[begin:]
    results: dict[str | None, Any] = {}
    shell: ChatMessage | None = None
    rest: list[ChatMessage] = []
    for message in after:
        said: list[Any] = list(message.contents)
        mine = [c for c in said if _is_result(c) and c.call_id in calls and c.call_id not in results]
        results.update((result.call_id, result) for result in mine)
        shell = shell or (message if mine and message.role == "tool" else None)
        others: list[Any] = [content for content in said if not any(content is result for result in mine)]
        if others:
            rest.append(message if not mine else msgspec.structs.replace(message, contents=others))
    if not results:
        return section
    told: list[Any] = [results[call_id] for call_id in calls if call_id in results]
    return [*turn, msgspec.structs.replace(shell or ChatMessage(role="tool"), contents=told), *rest]
