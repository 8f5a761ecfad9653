"""The model's last turn in a transcript: its calls, and what follows them. Pure: transcripts in, transcripts out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatOptions, ChatRequest, ToolChoice
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.tools.sets import ToolSet
from contentmodel.usage import Usage
from contentmodel.wire.notes import with_call_id

UNFINISHED = ("content_filter", "refusal", "error", "cancelled")
"""Ends of an answer after which none of its calls is run."""


@dataclass(frozen=True)
class OpenTurn:
    """A turn of the model that has calls without results.

    `before` is the transcript up to and with it, `shell` the message that its results stand in. `rest` are the
    messages after it that are neither results nor answers about its calls.
    """

    before: list[ChatMessage]
    calls: list[ToolCallContent]
    results: dict[str | None, ToolResultContent]
    answers: dict[str | None, ToolApprovalResponseContent]
    shell: ChatMessage
    rest: list[ChatMessage]

    @property
    def unanswered(self) -> list[ToolCallContent]:
        """The calls without a result, in order."""
        return [call for call in self.calls if call.call_id not in self.results]

    def followed_by(self, message: ChatMessage) -> OpenTurn:
        """The turn with one more message of it."""
        return replace(self, before=[*self.before, message])

    def closed(self, results: Iterable[ToolResultContent]) -> list[ChatMessage]:
        """The transcript with these results: all results of the turn in the order of its calls."""
        every = {**self.results, **{result.call_id: result for result in results}}
        contents: list[Any] = [every[call.call_id] for call in self.calls if call.call_id in every]
        message = msgspec.structs.replace(self.shell, contents=contents)
        return [*self.before, *([message] if contents else []), *self.rest]


def open_turn(messages: Sequence[ChatMessage]) -> OpenTurn | None:
    """The last turn of the model, where it has calls of the application's tools without results."""
    end = next((at for at in range(len(messages), 0, -1) if messages[at - 1].role == "assistant"), 0)
    begin = next((at for at in range(end, 0, -1) if messages[at - 1].role != "assistant"), 0)
    turn, after = messages[begin:end], messages[end:]
    calls = [call for message in turn for call in message.tool_calls]
    asked = {call.call_id for call in calls}
    inside = {c.call_id for message in turn for c in message.contents if isinstance(c, ToolResultContent)}
    calls = [call for call in calls if call.call_id not in inside]
    results: dict[str | None, ToolResultContent] = {}
    answers: dict[str | None, ToolApprovalResponseContent] = {}
    shell = None
    rest: list[ChatMessage] = []
    for message in after:
        others: list[Any] = []
        for content in message.contents:
            if isinstance(content, ToolResultContent) and content.call_id in asked:
                shell = shell or message
                results.setdefault(content.call_id, content)
            elif isinstance(content, ToolApprovalResponseContent) and content.request_id in asked:
                answers[content.request_id] = content
            else:
                others.append(content)
        if others or not message.contents:
            rest.append(_with(message, others))
    if all(call.call_id in results for call in calls):
        return None
    if shell is None or shell.role != "tool":
        shell = ChatMessage(role="tool")
    before = [*messages[:begin], *without_requests(turn, asked)]
    return OpenTurn(before, calls, results, answers, shell, rest)


def without_requests(messages: Iterable[ChatMessage], call_ids: Collection[str | None]) -> list[ChatMessage]:
    """Messages without the questions that the loop asked about these calls: no model is told of them."""
    kept = []
    for message in messages:
        contents: list[Any] = [
            content
            for content in message.contents
            if not (isinstance(content, ToolApprovalRequestContent) and content.request_id in call_ids)
        ]
        if contents or not message.contents:
            kept.append(_with(message, contents))
    return kept


def open_requests(messages: Sequence[ChatMessage]) -> list[ToolApprovalRequestContent]:
    """The provider's own approval requests in a transcript that nobody has answered yet."""
    contents: list[Any] = [content for message in messages for content in message.contents]
    said = {content.request_id for content in contents if isinstance(content, ToolApprovalResponseContent)}
    requests = (content for content in contents if isinstance(content, ToolApprovalRequestContent))
    return [request for request in requests if request.request_id not in said]


class Ids:
    """Keeps the calls of a run apart: a call whose id was there before gets another."""

    def __init__(self, messages: Iterable[ChatMessage]) -> None:
        contents: Iterable[Any] = (content for message in messages for content in message.contents)
        self._taken = {content.call_id for content in contents if isinstance(content, ToolCallContent)}

    def distinct(self, call: ToolCallContent) -> str:
        """The id of a new call."""
        call_id, count = call.call_id or "call", 1
        made = call_id if call.call_id else f"{call_id}_{count}"
        while made in self._taken:
            count += 1
            made = f"{call_id}_{count}"
        self._taken.add(made)
        return made

    def of_answer(self, response: ChatResponse) -> ChatResponse:
        """An answer whose calls have ids of their own."""
        choices = list(response.choices[:1])
        if not choices:
            return response
        messages = [self.of_message(message) for message in choices[0].messages]
        if all(map(is_, messages, choices[0].messages)):
            return response
        first = msgspec.structs.replace(choices[0], messages=messages)
        return msgspec.structs.replace(response, choices=[first, *response.choices[1:]])

    def of_message(self, message: ChatMessage) -> ChatMessage:
        """A message of the model whose calls have ids of their own."""
        return _with(message, [self.of_content(content) for content in message.contents])

    def of_content(self, content: Any) -> Any:
        """A content of an answer: a call of the application's tools gets an id of its own, all else stays."""
        if not isinstance(content, ToolCallContent):
            return content
        if content.executor != "client":
            # The provider's own pairs of call and result are not ours to rename.
            self._taken.add(content.call_id)
            return content
        return renamed(content, self.distinct(content))


def with_distinct_calls(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """A transcript at whose end calls wait, each under an id of its own."""
    begin = len(messages)
    while begin and messages[begin - 1].role == "assistant":
        begin -= 1
    turn = messages[begin:]
    given = [call.call_id for message in turn for call in message.tool_calls]
    if len(set(given)) == len(given) and None not in given:
        return list(messages)
    ids = Ids(messages[:begin])
    return [*messages[:begin], *map(ids.of_message, turn)]


def calls_cut_short(answer: ChatResponse) -> list[ToolCallContent]:
    """The calls of an answer that may not be whole.

    An answer that ended for want of tokens ended in its last block; after other ends nothing is certain.
    """
    reason = answer.finish_reason.reason if answer.finish_reason is not None else None
    contents: list[Any] = [content for message in answer.messages for content in message.contents]
    doubtful = contents[-1:] if reason == "length" else contents if reason in UNFINISHED else []
    return [content for content in doubtful if isinstance(content, ToolCallContent)]


def offered(request: ChatRequest, tools: ToolSet) -> ToolSet:
    """The tools of a run: those of the runner, after those that the request declares and the runner does not have."""
    others = [tool for tool in request.tools if not tool.name or tool.name not in tools]
    return ToolSet([*others, *tools])


def unsent(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages that a server does not have which holds the conversation: those after its last answer."""
    end = len(messages)
    while end and not (messages[end - 1].role == "assistant" and messages[end - 1].origin is not None):
        end -= 1
    return list(messages[end:])


def whole_response(
    answers: Sequence[ChatResponse], said: list[ChatMessage], usage: Usage | None, error: ErrorContent | None
) -> ChatResponse:
    """Everything that was said in a run as one answer: the last one, with all messages and all tokens."""
    last = answers[-1] if answers else ChatResponse()
    first = last.choices[0] if last.choices else ChatChoice()
    choices = [msgspec.structs.replace(first, messages=list(said)), *last.choices[1:]] if said or last.choices else []
    return msgspec.structs.replace(last, choices=choices, usage=usage, error=error or last.error)


def renamed(call: ToolCallContent, call_id: str) -> ToolCallContent:
    """A call under this id."""
    if call.call_id == call_id:
        return call
    changed: ToolCallContent = with_call_id(call, call_id)
    return changed


def after_first(options: ChatOptions) -> ChatOptions:
    """The options once the model was asked: what it had to call it has called, or the loop would never end."""
    choice = options.tool_choice
    if choice is None or (choice.mode != "required" and choice.hosted is None):
        return options
    # Of several tools that it could choose from it may still call no others; a single one was an order.
    tools = choice.tools if choice.tools and len(choice.tools) > 1 else None
    relaxed = ToolChoice(mode="auto", tools=tools, extra=choice.extra)
    return msgspec.structs.replace(options, tool_choice=relaxed)


def _with(message: ChatMessage, contents: list[Any]) -> ChatMessage:
    same = len(contents) == len(message.contents) and all(map(is_, contents, message.contents))
    return message if same else msgspec.structs.replace(message, contents=contents)
