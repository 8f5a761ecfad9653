"""Convert the transcript of stored turns to a request for a run. Pure: messages in, messages out.

A store keeps all contents in the order of their arrival: approval requests, answers, and results after later contents.
The model gets only calls and results, each result after its call. These are the same messages that it got when the call
was resolved, so its prompt cache stays valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from contentmodel.message import ChatMessage
from contentmodel.pairs import TranscriptIndex, is_clients
from contentmodel.request import ChatOptions, ChatRequest
from contentmodel.runner.turns import with_every_id, without, without_resolved_approvals


def prepared(request: ChatRequest, defaults: ChatRequest) -> ChatRequest:
    """Return the request to send for a stored transcript. Unset fields are taken from `defaults`."""
    set_options = {
        name: value for name in ChatOptions.__struct_fields__ if (value := getattr(request.options, name)) is not None
    }
    return msgspec.structs.replace(
        request,
        model=request.model or defaults.model,
        instructions=request.instructions or defaults.instructions,
        options=msgspec.structs.replace(defaults.options, **set_options),
        messages=sendable(request.messages),
    )


def sendable(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Drop resolved questions and their answers, and put the results of calls in order."""
    # Keep an empty assistant message: its turn ended before the first block, but calls before it may have run in it.
    remaining_messages = without_resolved_approvals(with_every_id(messages))
    remaining = [message for message in remaining_messages if message.contents or _is_assistant(message)]
    return [message for section in _sections(remaining) for message in _in_order(section)]


def _is_assistant(message: ChatMessage) -> bool:
    return message.role == "assistant"


def _sections(messages: Sequence[ChatMessage]) -> Iterator[list[ChatMessage]]:
    """Split the messages before each assistant turn."""
    section: list[ChatMessage] = []
    for message in messages:
        if _is_assistant(message) and message.contents and section and not _is_assistant(section[-1]):
            yield section
            section = []
        section.append(message)
    yield section


def _in_order(section: list[ChatMessage]) -> list[ChatMessage]:
    """Return the assistant's messages, the results in the order of their calls, and the remaining messages."""
    begin = next((at for at, message in enumerate(section) if message.role != "assistant"), len(section))
    index = TranscriptIndex(section)
    result_places = (
        index.result_of[call] for call in index.calls if call in index.result_of and is_clients(section, call)
    )
    places = [place for place in result_places if place[0] >= begin]
    if not places:
        return section
    results: list[Any] = [section[number].contents[at] for number, at in places]
    shell = next((section[place[0]] for place in sorted(places) if section[place[0]].role == "tool"), None)
    others = [message for message in without(set(places), section[begin:], begin) if message.contents]
    return [*section[:begin], msgspec.structs.replace(shell or ChatMessage(role="tool"), contents=results), *others]
