"""Convert requests, responses, messages and stored turns to articles of a page, with calls next to their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.display import count_of, flowing, tool_name
from contentmodel.html.contents import DEEPEST, Page, json_node, more_fields, outcome, status, usage_line
from contentmodel.html.nodes import Article, Box, Exchange, Line, Node, Nodes, Piece, fold, line, pieces, text_node
from contentmodel.json import write
from contentmodel.losses import Loss
from contentmodel.message import ChatMessage, FinishReason
from contentmodel.pairs import Place, TranscriptIndex
from contentmodel.request import ChatRequest
from contentmodel.response import ChatChoice, ChatResponse

TONES = ("user", "assistant", "system", "developer", "tool")
"""Roles with their own colour."""
_BRIEF = 80
_GOOD_ENDS = ("stop", "tool_calls", "pause", "running", "compaction")


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one article: those of a turn, or a single message without a turn."""

    messages: Sequence[ChatMessage]
    turn: Any = None


class Conversation:
    """Convert groups to articles, in order."""

    def __init__(
        self, groups: Sequence[Group], page: Page, log: Log | None = None, branches: Sequence[Any] = ()
    ) -> None:
        self._groups, self._page, self._log = groups, page, log
        self._turns = {turn.id: turn for turn in (*branches, *(group.turn for group in groups if group.turn))}
        self._shown = {group.turn.id for group in groups if group.turn is not None}
        self._following: dict[str | None, list[Any]] = {}
        for turn in self._turns.values():
            self._following.setdefault(turn.previous, []).append(turn)
        self._messages = [
            msgspec.structs.replace(message, contents=flowing(message.contents))
            for group in groups
            for message in group.messages
        ]
        self._pairs = TranscriptIndex(self._messages)
        self._turned = [group.turn is not None for group in groups for _ in group.messages]
        self._moved = {
            place
            for places in self._pairs.approvals_of.values()
            for place in places
            if not self._turned[place[0]] or isinstance(self._at(place), ToolApprovalRequestContent)
        }
        if log is not None:
            log.add_calls(self._messages)

    def nodes(self) -> Nodes:
        """Yield an article for each group. Skip messages whose contents are all shown next to their calls."""
        first, before = 0, None
        for group in self._groups:
            count = len(group.messages)
            hidden = all(self._is_shown_elsewhere(index) for index in range(first, first + count))
            if group.turn is not None:
                yield self._turn(group, first, before)
                before = group.turn.id
            elif not hidden:
                yield self._article(group.messages[0], first)
            first += count

    def _is_shown_elsewhere(self, index: int) -> bool:
        contents = self._messages[index].contents
        return bool(contents) and all(self._is_drawn_with_a_call((index, at)) for at in range(len(contents)))

    def _is_drawn_with_a_call(self, place: Place) -> bool:
        return place in self._pairs.call_of or place in self._moved

    def _at(self, place: Place) -> Any:
        return self._messages[place[0]].contents[place[1]]

    def _article(self, message: ChatMessage, index: int) -> Article:
        head = line(message.role, ("muted", message.author_name or ""), ("muted", _model(message)))
        return Article(head=head, parts=self._parts(message, index), tone=tone(message.role))

    def _parts(self, message: ChatMessage, index: int) -> list[Node]:
        parts = [node for at in range(len(self._messages[index].contents)) for node in self._part(index, at)]
        return [*(parts or [line("", ("muted", "(empty)"))]), *more_fields(message.extra)]

    def _part(self, index: int, at: int) -> Sequence[Node]:
        if self._is_drawn_with_a_call((index, at)):
            return ()
        self._page.reads_markup = self._messages[index].role == "assistant"
        drawn = self._page.draw(self._at((index, at)))
        self._page.reads_markup = False
        # Approval requests and responses precede the result of the call.
        places = self._pairs.approvals_of.get((index, at), ())
        drawn += [node for place in places for node in self._page.draw(self._at(place))]
        if (index, at) not in self._pairs.result_of:
            return drawn
        result = self._at(self._pairs.result_of[index, at])
        assert isinstance(result, ToolResultContent)
        beside: list[Node] = [outcome(result, self._page, "result"), *more_fields(result.extra)]
        return [Exchange(call=Box(parts=drawn), result=Box(parts=beside))]

    # -- turns ---------------------------------------------------------------------------------------------------------

    def _turn(self, group: Group, first: int, before: str | None) -> Article:
        turn, parts = group.turn, list(self._places(group.turn, before))
        role = turn.role
        for number, message in enumerate(group.messages, first):
            if self._is_shown_elsewhere(number):
                continue
            if message.role != role:
                role = message.role
                parts.append(line(role, ("muted", message.author_name or ""), style="role"))
            parts += self._parts(message, number)
        if turn.error is not None:
            parts += self._page.draw(turn.error)
        head = line(
            turn.role, ("muted", f"turn {turn.number}"), ("muted", turn.model or ""), status(turn.status), *_times(turn)
        )
        foot: list[Node] = []
        if turn.stop_reason and turn.stop_reason not in _GOOD_ENDS:
            foot.append(line("finished", ("muted", turn.stop_reason)))
        if turn.usage is not None:
            foot.append(usage_line(turn.usage))
        if self._log is not None:
            foot += self._log.of_turn(turn.id)
        return Article(head=head, parts=parts, foot=foot, tone=tone(turn.role), anchor=f"turn-{turn.number}")

    def _places(self, turn: Any, before: str | None) -> Nodes:
        """Yield links to the previous turn, if it is not the one above, and to the other branches."""
        if turn.previous != before and turn.previous is not None:
            yield Line(label=pieces("follows"), bits=[self._link(turn.previous)], style="branch")
        others = [other for other in self._following[turn.previous] if other.id != turn.id]
        if others:
            links = [self._link(other.id) for other in sorted(others, key=lambda other: other.number)]
            label = pieces(f"one of {len(others) + 1} branches")
            yield Line(label=label, bits=[("muted", pieces("also:"), ""), *links], style="branch")

    def _link(self, turn: str) -> tuple[str, list[Piece], str]:
        """Return a bit with the number of a turn, linked if the turn is on this page."""
        turn_shown = self._turns.get(turn)
        if turn_shown is None:
            return "", pieces("a turn that is not on this page"), ""
        return "", pieces(f"turn {turn_shown.number}"), f"#turn-{turn_shown.number}" if turn in self._shown else ""


def tone(role: str) -> str:
    """Return the CSS class of a role."""
    return role if role in TONES else "other"


def _model(message: ChatMessage) -> str:
    """Return the name of the model of an assistant message, else ""."""
    if message.origin is None or message.role != "assistant":
        return ""
    return message.origin.model or ""


def _times(turn: Any) -> list[Piece]:
    if turn.started_at is None:
        return []
    times = [("time", moment(turn.started_at))]
    if turn.ended_at is not None and (seconds := (turn.ended_at - turn.started_at).total_seconds()) > 0:
        times.append(("muted", f"{seconds:,.1f} s"))
    return times


def moment(when: datetime) -> str:
    """Return a time as readable text, in UTC."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


# -- log entries -------------------------------------------------------------------------------------------------------


class Log:
    """The entries of a conversation's log. Those of a turn are shown at its end, the others after the conversation."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = list(entries)
        self._names: dict[str | None, str] = {}
        self._inside: dict[str, list[Any]] = {}
        self._tops: dict[str | None, list[Any]] = {}
        places: dict[str, tuple[int, list[Any]]] = {}
        for entry in self._entries:
            depth, siblings = places.get(entry.parent, (-1, []))
            if depth < 0:
                siblings = self._tops.setdefault(entry.turn, [])
            elif depth < DEEPEST:
                siblings = self._inside.setdefault(entry.parent, [])
            # An entry below the maximum depth is shown next to its parent.
            places[entry.id] = (min(depth + 1, DEEPEST), siblings)
            siblings.append(entry)

    def add_calls(self, messages: Sequence[ChatMessage]) -> None:
        """Add the messages of the page, so that entries show the name of a call's tool instead of its id."""
        calls = (c for message in messages for c in message.contents if isinstance(c, ToolCallContent))
        self._names.update((call.call_id, call.name or "") for call in calls)

    @property
    def title(self) -> str:
        """The last title in the log; "" if there is none."""
        titles = [entry.text for entry in self._entries if entry.kind == "title" and entry.text]
        return titles[-1] if titles else ""

    def of_turn(self, turn: str | None) -> list[Node]:
        """Return the nodes for the entries of a turn."""
        return self._box(self._tops.pop(turn, []), "shown to the user")

    def rest(self) -> list[Node]:
        """Return the nodes for the entries without a turn on the page."""
        entries_left = sorted(
            (entry for entries in self._tops.values() for entry in entries), key=lambda entry: entry.number
        )
        self._tops = {}
        return self._box(entries_left, "shown to the user outside of these turns")

    def _box(self, entries: Sequence[Any], name: str) -> list[Node]:
        if not entries:
            return []
        return [Box(head=line(name), parts=[node for entry in entries for node in self._entry(entry)], style="seen")]

    def _entry(self, entry: Any) -> Nodes:
        call_id = _call_of(entry.content)
        brief = _brief(entry.content) if call_id is None else self._names.get(call_id, "")
        yield line(entry.kind, ("time", moment(entry.created_at)), ("muted", brief), style="entry")
        if entry.text:
            yield text_node(entry.text)
        if entry.content is not None and not brief and call_id is None:
            yield fold("content", _logged(entry.content))
        inner = [node for child in self._inside.pop(entry.id, []) for node in self._entry(child)]
        if inner:
            yield Box(parts=inner, style="inside")


def _call_of(content: Any) -> str | None:
    """Return the call id of an entry for a notice; None for other contents."""
    call_id = content.get("call_id") if isinstance(content, dict) and len(content) == 1 else None
    return call_id if isinstance(call_id, str) else None


def _brief(content: Any) -> str:
    """Return a JSON value as text if it fits in a line, else ""."""
    items = content if isinstance(content, list) else [content]
    if content is None or any(isinstance(item, msgspec.Struct) for item in items):
        return ""
    text = write(content).decode("utf-8")
    return text if len(text) <= _BRIEF else ""


def _logged(content: Any) -> list[Node]:
    """Return the nodes for the content of an entry: a request, a response or messages as such, other values as JSON."""
    if isinstance(content, ChatRequest):
        return request(content, Page())
    if isinstance(content, ChatResponse):
        return response(content, Page())
    if isinstance(content, ChatMessage) or (content and _are_messages(content)):
        return messages([content] if isinstance(content, ChatMessage) else content, Page())
    return [json_node(content)]


def _are_messages(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(item, ChatMessage) for item in content)


# -- requests and answers ----------------------------------------------------------------------------------------------


def messages(value: Sequence[ChatMessage], page: Page) -> list[Node]:
    """Return the nodes of messages without turns."""
    return list(Conversation([Group(messages=[message]) for message in value], page).nodes())


def request(value: ChatRequest, page: Page, turns: Iterable[Node] | None = None) -> list[Node]:
    """Return the nodes of a request. If `turns` are given, they replace its messages."""
    nodes = list(_settings(value))
    if value.instructions:
        parts = [node for content in flowing(value.instructions) for node in page.draw(content)]
        nodes.append(Article(head=line("instructions"), parts=parts, tone="system"))
    nodes += messages(value.messages, page) if turns is None else turns
    return nodes


def _settings(value: ChatRequest) -> Nodes:
    all_options = msgspec.to_builtins(value.options)
    options = {name: item for name, item in all_options.items() if item is not None}
    if value.model:
        yield line("model", ("", value.model), style="fact")
    if options:
        yield fold("options", [json_node(options)], ("muted", ", ".join(options)))
    if value.tools:
        parts: list[Node] = [node for tool in value.tools for node in (line(tool_name(tool)), json_node(tool))]
        yield fold("tools", parts, ("muted", ", ".join(map(tool_name, value.tools))))
    yield from more_fields(value.extra)


def response(value: ChatResponse, page: Page) -> list[Node]:
    """Return the nodes of a response."""
    nodes: list[Node] = []
    if value.model:
        nodes.append(line("model", ("", value.model), style="fact"))
    if when := _created(value.created):
        nodes.append(line("created", when, style="fact"))
    for number, choice in enumerate(value.choices, 1):
        if len(value.choices) > 1:
            nodes.append(line(f"answer {number} of {len(value.choices)}", style="role"))
        nodes += messages(choice.messages, page)
        nodes += _ending(choice)
    if value.error is not None:
        nodes += page.draw(value.error)
    if value.usage is not None:
        nodes.append(usage_line(value.usage))
    return [*nodes, *more_fields(value.extra)]


def _created(when: float | str | None) -> Piece | None:
    if when is None or isinstance(when, str):
        return ("time", when) if when else None
    try:
        return ("time", moment(datetime.fromtimestamp(when, UTC)))
    except (ValueError, OverflowError, OSError):
        return ("time", str(when))


def _ending(choice: ChatChoice) -> Nodes:
    if choice.finish_reason is not None:
        yield _finish(choice.finish_reason)
    if choice.logprobs is not None:
        yield fold("logprobs", [json_node(choice.logprobs)])
    yield from more_fields(choice.extra)


def _finish(finish: FinishReason) -> Line:
    return line(
        "finished",
        ("muted" if finish.reason in _GOOD_ENDS else "bad", finish.reason),
        ("muted", str(finish.raw) if finish.raw not in (None, finish.reason) else ""),
        ("muted", f"at {finish.stop_sequence!r}" if finish.stop_sequence else ""),
        ("muted", "send the conversation again to continue" if finish.resumable else ""),
    )


def lost(losses: Sequence[Loss]) -> list[Node]:
    """Return a fold with the losses of a conversion; [] if there are none."""
    rows = [line(loss.what, ("loss", loss.kind), ("", loss.why), ("address", loss.path)) for loss in losses]
    return [fold(count_of(len(rows), "loss"), list(rows))] if rows else []
