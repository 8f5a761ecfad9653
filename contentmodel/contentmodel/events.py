"""A turn as it happens: events, and their fold into a ChatResponse (`unfolding` makes events of one).

A block is one content. Blocks are numbered through the whole turn in the order in which they start; several may be
open at once. `BlockStop` has the finished content and is the authority on it; deltas are for who cannot wait. What
belongs to no block (ids, usage, why the answer ended) comes with the first and the last event, as a ChatResponse whose
messages have no contents: `layout` says which blocks stand in which message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.content import Content
from contentmodel.content.base import Protected, content_tag
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.errors import StreamError
from contentmodel.interop import Model
from contentmodel.literals import NoticeKind, Open
from contentmodel.message import ChatMessage
from contentmodel.partial import PartialJsonReader
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage

Layout = list[list[list[int]]]
"""The blocks of each message of each choice."""


class StreamEvent(Model, frozen=True, kw_only=True, tag_field="type", tag=content_tag):
    """One step of a turn."""


class TurnStart(StreamEvent, frozen=True, kw_only=True):
    """The turn begins. `response` is what is known of it: id, model, origin, usage so far; it has no choices yet."""

    response: ChatResponse


class BlockStart(StreamEvent, frozen=True, kw_only=True):
    """A block begins. `content` is what is known of it; what grows is empty, unless it came whole."""

    index: int
    content: Content
    choice: int = 0


class BlockDelta(StreamEvent, frozen=True, kw_only=True):
    """More of the block `index`. The classes say what it is that grows."""

    index: int


class TextDelta(BlockDelta, frozen=True, kw_only=True):
    """More text: of a text, a refusal, a transcript, a summary of earlier turns."""

    text: str


class ReasoningDelta(BlockDelta, frozen=True, kw_only=True):
    """More thoughts."""

    text: str


class SignatureDelta(BlockDelta, frozen=True, kw_only=True):
    """The opaque state that proves a block."""

    protected: Protected


class ArgumentsDelta(BlockDelta, frozen=True, kw_only=True):
    """More of a call's arguments.

    Without a `path`, `text` is more of their JSON text (of the free text, for a tool that takes that). With one, the
    argument at this JSON path grows by `text`, or is `value`.
    """

    text: str = ""
    path: str | None = None
    value: Any = None


class CitationDelta(BlockDelta, frozen=True, kw_only=True):
    """A citation of the block. It may come after the block has stopped."""

    citation: Citation


class MediaDelta(BlockDelta, frozen=True, kw_only=True):
    """More base64 of inline data; with `preview`, a first version of the whole that a later one replaces."""

    data: str
    preview: int | None = None


class OutputDelta(BlockDelta, frozen=True, kw_only=True):
    """More of what a hosted tool gives out, before its result is there. `name` is the stream's: stdout, stderr."""

    text: str
    name: str | None = None


class UnknownDelta(BlockDelta, frozen=True, kw_only=True):
    """A delta that nobody here knows, or that says nothing of the content, as `api` wrote it."""

    api: str
    delta: Any


class BlockStop(StreamEvent, frozen=True, kw_only=True):
    """The block is complete: `content` is all of it.

    `is_complete` is False where the stream ended inside of it; a call then has the status "incomplete".
    """

    index: int
    content: Content
    is_complete: bool = True


class BlockCatchUp(StreamEvent, frozen=True, kw_only=True):
    """A whole block in place of everything said of it: for who joins late, and where the API changed its mind."""

    index: int
    content: Content
    choice: int = 0


class UsageDelta(StreamEvent, frozen=True, kw_only=True):
    """The tokens so far, all of them: it replaces the ones before."""

    usage: Usage


class Notice(StreamEvent, frozen=True, kw_only=True):
    """Words for the user, which no model is told: that a tool is used ("tool_use"), what it came to ("tool_result").

    `kind` is an open set; `call_id` is the call's that it is about.
    """

    kind: Open[NoticeKind]
    text: str
    call_id: str | None = None


class WireEvent(StreamEvent, frozen=True, kw_only=True):
    """An event of `api` that says nothing of the content (a ping, the progress of a search) or that nobody knows."""

    api: str
    name: str | None = None
    data: Any = None


class TurnComplete(StreamEvent, frozen=True, kw_only=True):
    """The turn is over. `response` is all of it but the contents; `layout` says which blocks stand where."""

    response: ChatResponse
    layout: Layout = []


class TurnError(StreamEvent, frozen=True, kw_only=True):
    """The turn failed, or broke off: `error` says how. What was received until then counts.

    The error's code is "stream_ended" where the bytes stopped before the answer was complete, "stream_malformed"
    where they are not what the API sends, "cancelled" where somebody stopped it, else the provider's own.
    """

    error: ErrorContent
    response: ChatResponse
    layout: Layout = []


EVENT_TYPES: tuple[type[StreamEvent], ...] = (
    TurnStart,
    BlockStart,
    TextDelta,
    ReasoningDelta,
    SignatureDelta,
    ArgumentsDelta,
    CitationDelta,
    MediaDelta,
    OutputDelta,
    UnknownDelta,
    BlockStop,
    BlockCatchUp,
    UsageDelta,
    Notice,
    WireEvent,
    TurnComplete,
    TurnError,
)
"""Every concrete event type."""

ENDED, MALFORMED, CANCELLED = "stream_ended", "stream_malformed", "cancelled"
"""The codes of errors that end a turn which nobody else ended: what the bytes did, or that somebody stopped it."""


MOST_CHOICES = 1024
"""How many answers a turn may have. The APIs give 128 at most."""


def check_choice(event: BlockStart | BlockCatchUp) -> None:
    """Raise StreamError if a block names a choice that no turn has."""
    if not 0 <= event.choice < MOST_CHOICES:
        name = type(event).__name__
        raise StreamError(f"{name} for block {event.index}: its choice is {event.choice}, not 0 to {MOST_CHOICES - 1}")


# -- fold --------------------------------------------------------------------------------------------------------------


class _Block:
    """A block as far as it is known: a content, and the pieces that belong to it and are not in it yet."""

    __slots__ = ("choice", "content", "deltas", "read", "reader")

    def __init__(self, choice: int, content: Any) -> None:
        self.choice = choice
        self.content = content
        self.deltas: list[Any] = []
        self.reader: PartialJsonReader | None = None
        """What reads the arguments as they grow, once somebody has asked for them."""
        self.read = 0
        """How many of the deltas the reader has read."""

    def settle(self) -> Any:
        """The content with everything said so far."""
        if self.deltas:
            self._read_on()
            self.content = grown(self.content, self.deltas)
            self.deltas, self.read = [], 0
        return self.content

    def stop(self, content: Any) -> None:
        """The block is complete."""
        self.content, self.deltas, self.reader = content, [], None

    def partial_arguments(self) -> dict[str, Any]:
        """The arguments of a call so far."""
        if not isinstance(self.content, ToolCallContent) or isinstance(self.content.arguments, dict):
            return getattr(self.content, "arguments", None) or {}
        if self.reader is None:
            self.reader, self.read = PartialJsonReader(), 0
            self.reader.feed(self.content.arguments or "")
        self._read_on()
        value = self.reader.value
        return value if isinstance(value, dict) else {}

    def _read_on(self) -> None:
        if self.reader is not None:
            for delta in self.deltas[self.read :]:
                if isinstance(delta, ArgumentsDelta) and delta.path is None:
                    self.reader.feed(delta.text)
            self.read = len(self.deltas)


class Fold:
    """Gathers events: `response` is what they amount to so far, at any time."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._start = ChatResponse()
        self._end: TurnComplete | TurnError | None = None

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended, well or not."""
        return self._end is not None

    def feed(self, event: StreamEvent) -> None:
        """StreamError where the event belongs to a block that has not started."""
        kind = event.__class__
        if kind is TextDelta or kind is ReasoningDelta or isinstance(event, BlockDelta):
            try:
                self._blocks[event.index].deltas.append(event)  # type: ignore[attr-defined]
            except KeyError:
                raise StreamError(f"{kind.__name__} for block {event.index}, which has not started") from None  # type: ignore[attr-defined]
        elif isinstance(event, BlockStart | BlockCatchUp):
            check_choice(event)
            self._blocks[event.index] = _Block(event.choice, event.content)
        elif isinstance(event, BlockStop):
            self._stop(event)
        elif isinstance(event, TurnStart):
            self._start = event.response
        elif isinstance(event, UsageDelta):
            self._start = msgspec.structs.replace(self._start, usage=event.usage)
        elif isinstance(event, TurnComplete | TurnError):
            self._end = event

    def _stop(self, event: BlockStop) -> None:
        block = self._blocks.get(event.index)
        if block is None:
            raise StreamError(f"BlockStop for block {event.index}, which has not started")
        block.stop(event.content)

    def content(self, index: int) -> Content:
        """The block `index` as far as it is known. StreamError where it has not started."""
        block = self._blocks.get(index)
        if block is None:
            raise StreamError(f"block {index} has not started")
        return block.settle()  # type: ignore[no-any-return]

    def partial_arguments(self, index: int) -> dict[str, Any]:
        """The arguments of the call `index` as far as they have come: to show, and never to run.

        `content(index).partial_arguments` says the same, and reads all of the arguments each time. This reads each
        delta once, so it may be asked at every delta. The value is live: it grows with the call until the call stops.
        StreamError if the block has not started.
        """
        block = self._blocks.get(index)
        if block is None:
            raise StreamError(f"block {index} has not started")
        return block.partial_arguments()

    @property
    def response(self) -> ChatResponse:
        """The response: the whole one where the turn is over, else all that there is of it."""
        end = self._end
        envelope, layout = (self._start, []) if end is None else (end.response, end.layout)
        contents = {index: block.settle() for index, block in self._blocks.items()}
        response = with_contents(envelope, contents, layout or self._usual_layout(envelope))
        if isinstance(end, TurnError):
            return msgspec.structs.replace(response, error=end.error)
        return response

    @property
    def layout(self) -> Layout:
        """The blocks of each message that `response` has."""
        end = self._end
        envelope, layout = (self._start, []) if end is None else (end.response, end.layout)
        every = layout or self._usual_layout(envelope)
        return [
            [indices for place, indices in enumerate(messages) if _is_there(envelope, number, place, indices)]
            for number, messages in enumerate(every)
        ]

    @property
    def count(self) -> int:
        """How many blocks there are: the next one may have this number."""
        return max(self._blocks, default=-1) + 1

    def _usual_layout(self, envelope: ChatResponse) -> Layout:
        """One message a choice, its blocks in their order."""
        count = max([len(envelope.choices), *(block.choice + 1 for block in self._blocks.values())])
        layout: Layout = [[[]] for _ in range(count)]
        for index in sorted(self._blocks):
            layout[self._blocks[index].choice][0].append(index)
        return layout


def fold(events: Iterable[StreamEvent]) -> ChatResponse:
    """What events amount to; where they stop midway, what there is. StreamError where they contradict each other."""
    gathered = Fold()
    for event in events:
        gathered.feed(event)
    return gathered.response


def with_contents(envelope: ChatResponse, contents: dict[int, Any], layout: Layout) -> ChatResponse:
    """The response whose messages have the blocks that `layout` gives them. StreamError where one is not there."""
    choices = []
    for number, messages in enumerate(layout):
        said = number < len(envelope.choices)
        choice = envelope.choices[number] if said else ChatChoice(index=number if len(layout) > 1 else None)
        filled = []
        for place, indices in enumerate(messages):
            missing = [index for index in indices if index not in contents]
            if missing:
                raise StreamError(f"the layout names block {missing[0]}, which has not started")
            if not _is_there(envelope, number, place, indices):
                continue
            if place < len(choice.messages):
                shell = choice.messages[place]
            else:
                shell = ChatMessage(role="assistant", origin=envelope.origin)
            filled.append(msgspec.structs.replace(shell, contents=[contents[index] for index in indices]))
        choices.append(msgspec.structs.replace(choice, messages=filled))
    return msgspec.structs.replace(envelope, choices=choices)


def _is_there(envelope: ChatResponse, number: int, place: int, indices: list[int]) -> bool:
    """Whether there is such a message: something is said of it, or of the choice that it stands in."""
    return bool(indices) or number < len(envelope.choices)


def grown(content: Any, deltas: Iterable[BlockDelta]) -> Any:
    """A content with what deltas add to it."""
    words: list[str] = []
    changes: dict[str, Any] = {}
    for delta in deltas:
        if isinstance(delta, TextDelta | ReasoningDelta) or (isinstance(delta, ArgumentsDelta) and delta.path is None):
            words.append(delta.text)
        elif isinstance(delta, MediaDelta) and delta.preview is None:
            words.append(delta.data)
        elif isinstance(delta, SignatureDelta):
            changes["protected"] = delta.protected
        elif isinstance(delta, CitationDelta):
            changes.setdefault("annotations", list(content.annotations or ())).append(delta.citation)
    field = growing_field(content)
    if words and field is not None:
        said = getattr(content, field)
        changes[field] = "".join([said if isinstance(said, str) else "", *words])
    return msgspec.structs.replace(content, **changes) if changes else content


def growing_field(content: Any) -> str | None:
    """The field of a content that deltas make longer."""
    if isinstance(content, TextContent | ReasoningContent):
        return "text"
    if isinstance(content, ToolCallContent):
        return "arguments"
    if isinstance(content, DataContent):
        return "data"
    return "message" if isinstance(content, ErrorContent) else None


def without_contents(response: ChatResponse) -> ChatResponse:
    """The response, its choices and its messages, with no contents in them."""
    replace = msgspec.structs.replace
    choices = [
        replace(choice, messages=[replace(message, contents=[]) for message in choice.messages])
        for choice in response.choices
    ]
    return replace(response, choices=choices)
