"""The model's last turn in a transcript: its calls, and the messages after it. Pure functions of transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

import msgspec

from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import (
    FunctionCallContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.hints import with_call_id
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import Place, TranscriptIndex, is_clients, missing_ids
from contentmodel.request import ChatOptions, ChatRequest, HostedTool, ToolChoice, ToolGroup
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.tools.sets import ToolSet
from contentmodel.usage import Usage

UNFINISHED = ("content_filter", "refusal", "error", "cancelled")
"""Finish reasons after which no call of the answer is run."""


@dataclass(frozen=True)
class Turn:
    """The last turn of the model in a transcript, and the messages after it.

    `before` is the transcript up to the end of the turn, without the loop's own approval requests. `calls` are the
    calls that the application runs. `results` and `answers` are their existing results and approvals.
    `open_requests` are the provider's approval requests without an answer. `shell` is the message for the results.
    `rest` are the messages after the turn without the results and answers; `has_later_contents` is true if other
    contents follow the turn.
    """

    before: list[ChatMessage]
    calls: list[ToolCallContent]
    results: dict[str | None, ToolResultContent]
    answers: dict[str | None, ToolApprovalResponseContent]
    open_requests: list[ToolApprovalRequestContent]
    shell: ChatMessage
    rest: list[ChatMessage]
    has_later_contents: bool
    has_asked: bool
    """True if the loop asked for approval of calls of the turn, so that none of them ran before an answer."""
    is_tidy: bool
    """True if the results directly follow the turn in the order of the calls, with no approvals left."""

    @property
    def unanswered(self) -> list[ToolCallContent]:
        """The calls without a result, in order."""
        return [call for call in self.calls if call.call_id not in self.results]

    def closed(
        self, results: Iterable[ToolResultContent] = (), requests: Iterable[ToolApprovalRequestContent] = ()
    ) -> list[ChatMessage]:
        """Return the transcript with these results added, all results in the order of the calls.

        `requests` are pending approval requests. If there are any, they are added too, together with the existing
        answers to other requests.
        """
        all_results = {**self.results, **{result.call_id: result for result in results}}
        results_in_order: list[Any] = [all_results[call.call_id] for call in self.calls if call.call_id in all_results]
        open_requests: list[Any] = list(requests)
        answers: list[Any] = list(self.answers.values()) if open_requests else []
        parts = [
            ChatMessage(role="assistant", contents=open_requests),
            msgspec.structs.replace(self.shell, contents=results_in_order),
            ChatMessage(role="user", contents=answers),
        ]
        return [*self.before, *(part for part in parts if part.contents), *self.rest]


def last_turn(messages: Sequence[ChatMessage]) -> Turn:
    """Return the last turn of the model in a transcript. If there is none, it has no calls."""
    begin, end = _place_of_last(messages)
    since, size = messages[begin:], end - begin
    turn, after = since[:size], since[size:]
    index = TranscriptIndex(since)

    def at(place: Place) -> Any:
        return since[place[0]].contents[place[1]]

    calls = _open_calls(turn, index)
    results = [index.result_of[call] for call in calls if call in index.result_of]
    approvals = [place for call in calls for place in index.approvals_of.get(call, ())]
    answers = [p for p in approvals if p[0] >= size and isinstance(at(p), ToolApprovalResponseContent)]
    requests = [p for p in index.requests if p[0] < size and isinstance(at(p), ToolApprovalRequestContent)]
    # The loop's own approval requests for these calls: they are not sent to the model.
    own_requests = set(requests).intersection(approvals)
    before = [*messages[:begin], *without(own_requests, turn)]
    ids = {at(call).call_id for call in calls}
    # Keep a second result of a call after the turn: the encoder reports it as a loss if the API does not accept it.
    repeated = [place for place in index.unmatched if at(place).call_id in ids]
    known_places = {*results, *repeated, *answers}
    places_after = (
        (number, place) for number, message in enumerate(after, size) for place in range(len(message.contents))
    )
    others = [p for p in places_after if p not in known_places and not isinstance(at(p), ToolApprovalResponseContent)]
    is_in_order = results == sorted(results) and not (results and others and others[0] < results[-1])
    return Turn(
        before=before,
        calls=[at(call) for call in calls],
        results={at(result).call_id: at(result) for result in results},
        answers={at(answer).request_id: at(answer) for answer in answers},
        open_requests=[at(p) for p in requests if p not in own_requests and p not in index.response_of],
        shell=next((since[p[0]] for p in sorted(results) if since[p[0]].role == "tool"), ChatMessage(role="tool")),
        rest=without({*results, *answers}, after, size),
        has_later_contents=bool(others),
        has_asked=bool(own_requests),
        is_tidy=is_in_order and not answers and len(before) == end,
    )


def _place_of_last(messages: Sequence[ChatMessage]) -> tuple[int, int]:
    """Return the start and end index of the model's last messages."""
    end = len(messages)
    while end and messages[end - 1].role != "assistant":
        end -= 1
    begin = end
    while begin and messages[begin - 1].role == "assistant":
        begin -= 1
    return begin, end


def _open_calls(turn: Sequence[ChatMessage], index: TranscriptIndex) -> list[Place]:
    """Return the calls of a turn that the application runs and that have no result within the turn."""
    return [
        place
        for place in index.calls
        if place[0] < len(turn)
        and is_clients(turn, place)
        and index.result_of.get(place, (len(turn), 0))[0] >= len(turn)
    ]


def without_resolved_approvals(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a transcript without the approval requests for resolved client calls and the answers to these requests.

    A call is resolved if it has a result, or if the model has a later turn, because then no result is added any more.
    Requests of the provider are kept.
    """
    index = TranscriptIndex(messages)
    begin, _ = _place_of_last(messages)
    resolved = {
        place
        for call, places in index.approvals_of.items()
        if is_clients(messages, call) and (call in index.result_of or call[0] < begin)
        for place in places
    }
    return without(resolved, messages)


def without(places: Container[Place], messages: Sequence[ChatMessage], first: int = 0) -> list[ChatMessage]:
    """Return the messages without the contents at these places; `first` is the number of the first message.

    A message that loses all of its contents is dropped.
    """
    remaining = []
    for index, message in enumerate(messages, first):
        contents = [content for at, content in enumerate(message.contents) if (index, at) not in places]
        if contents or not message.contents:
            remaining.append(_with(message, contents))
    return remaining


# -- ids ---------------------------------------------------------------------------------------------------------------


class Ids:
    """Make the call ids of a run unique: a call whose id was used before gets a new one.

    If a server keeps the conversation, it identifies calls by its own ids. So ids are then unique only within one
    answer. An answer also loses the model's values for the parameters of `tools` that the caller supplies, if the
    application runs the tool itself: what its code, its clients and its store get has none of them.
    """

    def __init__(
        self, messages: Iterable[ChatMessage], *, server_keeps: bool = False, tools: ToolSet | None = None
    ) -> None:
        self.tools = tools or ToolSet()
        self._taken: set[str | None] = set()
        self._counts: Counter[str] = Counter()
        self._server_keeps = server_keeps
        contents: Iterable[Any] = contents_of(messages)
        self._taken.update(content.call_id for content in contents if isinstance(content, ToolCallContent))

    def next_answer(self) -> AnswerIds:
        """Return the ids for the contents of one answer."""
        if self._server_keeps:
            self._taken.clear()
        return AnswerIds(self)

    def distinct(self, call: ToolCallContent) -> str:
        """Return a unique id for a new call."""
        call_id = call.call_id or "call"
        unique = call_id if call.call_id else f"{call_id}_1"
        while unique in self._taken:
            self._counts[call_id] += 1
            unique = f"{call_id}_{self._counts[call_id] + 1}"
        self._taken.add(unique)
        return unique

    def take(self, call: ToolCallContent) -> None:
        """Mark the id of a provider's own call as used. It is not changed, because its result refers to it."""
        self._taken.add(call.call_id)

    def of_answer(self, response: ChatResponse) -> ChatResponse:
        """Return an answer whose calls have unique ids."""
        if not response.choices:
            return response
        ids, first_choice = self.next_answer(), response.choices[0]
        messages = [ids.of_message(message) for message in first_choice.messages]
        if all(map(is_, messages, first_choice.messages)):
            return response
        first_choice = msgspec.structs.replace(first_choice, messages=messages)
        return msgspec.structs.replace(response, choices=[first_choice, *response.choices[1:]])


class AnswerIds:
    """Assign ids to the calls of one answer, and the same ids to their results."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._index = TranscriptIndex()
        self._count = 0
        self._new_ids: dict[Place, str] = {}

    def of_message(self, message: ChatMessage) -> ChatMessage:
        """Return a message of the answer with its new ids."""
        return _with(message, [self.of_content(content) for content in message.contents])

    def of_content(self, content: Any) -> Any:
        """Return a content of the answer. A client call or its result gets the new id; other contents are unchanged."""
        if isinstance(content, FunctionCallContent) and self._ids.tools.hides_arguments(content.name):
            content = self._ids.tools.without_supplied(content)
        place, self._count = (self._count, 0), self._count + 1
        self._index.add([content], "assistant")
        if isinstance(content, ToolCallContent):
            if content.executor != "client":
                self._ids.take(content)
                return content
            self._new_ids[place] = self._ids.distinct(content)
        elif not (isinstance(content, ToolResultContent) and content.executor == "client"):
            return content
        return renamed(content, self._new_ids.get(self._index.call_of.get(place, place), content.call_id))


def renamed(content: Any, call_id: str | None) -> Any:
    """Return a call or a result with this id. None keeps its id."""
    return content if call_id is None or content.call_id == call_id else with_call_id(content, call_id)


def with_every_id(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a transcript in which every call and its result have an id."""
    ids = missing_ids(messages)
    return [
        _with(message, [renamed(content, ids.get((index, at))) for at, content in enumerate(message.contents)])
        for index, message in enumerate(messages)
    ]


def with_distinct_calls(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return a transcript in which each call of the last turn has a unique id, and its result the same id."""
    begin, end = _place_of_last(messages)
    ids_in_turn = [call.call_id for message in messages[begin:end] for call in message.tool_calls]
    if len(set(ids_in_turn)) == len(ids_in_turn):
        return list(messages)
    ids = Ids(messages[:begin]).next_answer()
    return [*messages[:begin], *map(ids.of_message, messages[begin:])]


# -- requests and answers ----------------------------------------------------------------------------------------------


def calls_cut_short(answer: ChatResponse) -> list[ToolCallContent]:
    """Return the calls of an answer that may be incomplete.

    With the finish reason "length" only the last block may be; with those in UNFINISHED every call may be.
    """
    reason = answer.finish_reason.reason if answer.finish_reason is not None else None
    contents: list[Any] = list(contents_of(answer.messages))
    cut_short = contents[-1:] if reason == "length" else contents if reason in UNFINISHED else []
    return [content for content in cut_short if isinstance(content, ToolCallContent)]


def after_first(options: ChatOptions) -> ChatOptions:
    """Return the options for requests after the first. A forced tool choice is relaxed, or the loop would never end."""
    choice = options.tool_choice
    if choice is None or (choice.mode != "required" and choice.hosted is None):
        return options
    # A choice of several tools still limits which tools may be called. A choice of one tool only forced its call.
    tools = choice.tools if choice.tools and len(choice.tools) > 1 else None
    relaxed = ToolChoice(mode="auto", tools=tools, extra=choice.extra)
    return msgspec.structs.replace(options, tool_choice=relaxed)


def offered(request: ChatRequest, tools: ToolSet) -> ToolSet:
    """Return the tools of a run: those that only the request declares, then those of the runner."""
    others = [
        tool
        for tool in request.tools
        if tool not in tools.definitions and (isinstance(tool, HostedTool | ToolGroup) or tool.name not in tools)
    ]
    return ToolSet([*others, *tools])


def unsent(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that a server which keeps the conversation does not have: those after its last answer."""
    end = len(messages)
    while end and not (messages[end - 1].role == "assistant" and messages[end - 1].origin is not None):
        end -= 1
    return list(messages[end:])


def whole_response(
    answers: Sequence[ChatResponse], messages: list[ChatMessage], usage: Usage | None, error: ErrorContent | None
) -> ChatResponse:
    """Return all messages of a run as one answer: the last answer, with all messages and the total usage."""
    last = answers[-1] if answers else ChatResponse()
    first = last.choices[0] if last.choices else ChatChoice()
    choices = (
        [msgspec.structs.replace(first, messages=list(messages)), *last.choices[1:]] if messages or last.choices else []
    )
    return msgspec.structs.replace(last, choices=choices, usage=usage, error=error or last.error)


def _with(message: ChatMessage, contents: list[Any]) -> ChatMessage:
    same = len(contents) == len(message.contents) and all(map(is_, contents, message.contents))
    return message if same else msgspec.structs.replace(message, contents=contents)
