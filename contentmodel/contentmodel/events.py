"""Events of a streamed turn, and their fold into a ChatResponse (`unfolding` does the reverse).

A block is one content. Blocks are numbered through the whole turn in the order in which they start. Several blocks may
be open at once. `BlockStop` contains the finished content and is authoritative; deltas are for incremental display. The
first and the last event contain the rest (ids, usage, finish reasons), as a ChatResponse whose messages have no
contents. `layout` maps blocks to these messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from contentmodel.content import CONTENT_TYPES, Content
from contentmodel.content.base import Protected, content_tag
from contentmodel.content.citations import Citation
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.errors import StreamError
from contentmodel.interop import Model
from contentmodel.literals import NoticeKind, Open
from contentmodel.message import ChatMessage
from contentmodel.partial import PartialJsonReader
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.usage import Usage

Layout = list[list[list[int]]]
"""The indices of the blocks of each message of each choice."""


class StreamEvent(Model, frozen=True, kw_only=True, tag_field="type", tag=content_tag):
    """The base class of the events of a turn."""


class TurnStart(StreamEvent, frozen=True, kw_only=True):
    """The turn has started."""

    response: ChatResponse
    """The id, model, origin and usage so far, if known. It has no choices."""


class BlockStart(StreamEvent, frozen=True, kw_only=True):
    """A block has started."""

    index: int
    """The number of the block in the turn, in the order in which blocks start."""
    content: Content
    """The content so far. The field that deltas extend is empty, unless the API sent it complete."""
    choice: int = 0
    """The number of the choice that the block belongs to."""


class BlockDelta(StreamEvent, frozen=True, kw_only=True):
    """The base class of deltas: an addition to a block."""

    index: int
    """The number of the block in the turn, in the order in which blocks start."""


class TextDelta(BlockDelta, frozen=True, kw_only=True):
    """More text of a text, a refusal, a transcript, a summary of earlier turns, or the outputs of a tool result."""

    text: str
    """The text to append. In a result, append it to the last output; if that is not a text, to a new output."""


class ReasoningDelta(BlockDelta, frozen=True, kw_only=True):
    """More text of a reasoning content."""

    text: str
    """The text to append."""


class SignatureDelta(BlockDelta, frozen=True, kw_only=True):
    """The opaque state (signature) of a block."""

    protected: Protected
    """The opaque state."""


class ArgumentsDelta(BlockDelta, frozen=True, kw_only=True):
    """More of the arguments of a call."""

    text: str = ""
    """More of the JSON text of the arguments, or of a free text. If `path` is set, append it to that argument."""
    path: str | None = None
    """The JSON path of the argument to extend or set; None for the text as a whole."""
    value: Any = None
    """The value to set at `path`, instead of a text to append."""


class CitationDelta(BlockDelta, frozen=True, kw_only=True):
    """A citation of the block. It may follow the BlockStop of the block."""

    citation: Citation
    """The citation."""


class MediaDelta(BlockDelta, frozen=True, kw_only=True):
    """More base64 of inline data."""

    data: str
    """The base64 to append. If `preview` is set, the complete preview."""
    preview: int | None = None
    """The number of the preview; None if `data` is not a preview."""


class OutputDelta(BlockDelta, frozen=True, kw_only=True):
    """More output of a hosted tool, before its result."""

    text: str
    """The text to append."""
    name: str | None = None
    """The name of the output stream: `stdout`, `stderr`."""


class UnknownDelta(BlockDelta, frozen=True, kw_only=True):
    """A delta that is unknown or does not change the content, exactly as the API sent it."""

    api: str
    """The API id."""
    delta: Any
    """The JSON of the delta."""


class BlockStop(StreamEvent, frozen=True, kw_only=True):
    """The block has ended."""

    index: int
    """The number of the block in the turn, in the order in which blocks start."""
    content: Content
    """The final content."""
    is_complete: bool = True
    """False if the stream ended inside the block. A call then has the status `incomplete`."""


class BlockCatchUp(StreamEvent, frozen=True, kw_only=True):
    """A snapshot that replaces the block, for late subscribers and for blocks that the API rewrites."""

    index: int
    """The number of the block in the turn, in the order in which blocks start."""
    content: Content
    """The content that replaces the block."""
    choice: int = 0
    """The number of the choice that the block belongs to."""
    is_complete: bool = True
    """False if the block is still growing: deltas and a BlockStop may follow."""


class UsageDelta(StreamEvent, frozen=True, kw_only=True):
    """The total usage so far. It replaces the earlier usage."""

    usage: Usage
    """The total so far."""


class Notice(StreamEvent, frozen=True, kw_only=True):
    """A text for the user that is never sent to the model, such as a line about the use of a tool."""

    kind: Open[NoticeKind]
    """`tool_use`, `tool_result`, or another value."""
    text: str
    """The text for the user."""
    call_id: str | None = None
    """The id of the call that the text refers to."""


class WireEvent(StreamEvent, frozen=True, kw_only=True):
    """An event of an API that is unknown or has no content (a ping, the progress of a search)."""

    api: str
    """The API id."""
    name: str | None = None
    """The name of the event, if it has one."""
    data: Any = None
    """The JSON of the event."""


class TurnComplete(StreamEvent, frozen=True, kw_only=True):
    """The turn is complete."""

    response: ChatResponse
    """Everything except the contents: ids, usage, finish reasons."""
    layout: Layout = []
    """The blocks of each message of each choice."""


class TurnError(StreamEvent, frozen=True, kw_only=True):
    """The turn failed or was interrupted. Content received before the error is kept."""

    error: ErrorContent
    """The cause.

    Its code is `stream_ended` if the bytes ended before the response was complete, `stream_malformed` if the bytes are
    not a valid stream of the API, `cancelled` if the turn was cancelled, else the provider's code.
    """
    response: ChatResponse
    """Everything that was received, except the contents."""
    layout: Layout = []
    """The blocks of each message of each choice."""


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
"""The codes of errors that this library, not the provider, sets: see `TurnError.error`."""


MOST_CHOICES = 1024
"""The maximum number of choices of a turn. The APIs return at most 128."""


def check_choice(event: BlockStart | BlockCatchUp) -> None:
    """Raise StreamError if the choice of a block is negative or not below MOST_CHOICES."""
    if not 0 <= event.choice < MOST_CHOICES:
        name = type(event).__name__
        raise StreamError(
            f"{name} for block {event.index}: its choice is {event.choice}, expected 0 to {MOST_CHOICES - 1}"
        )


# -- fold --------------------------------------------------------------------------------------------------------------


class _Block:
    """The state of a block: its content, and the deltas that are not merged into it yet."""

    __slots__ = ("choice", "content", "deltas", "read_count", "reader")

    def __init__(self, choice: int, content: Any) -> None:
        self.choice = choice
        self.content = content
        self.deltas: list[Any] = []
        self.reader: PartialJsonReader | None = None
        """The incremental reader of the arguments, created on first use."""
        self.read_count = 0
        """The number of deltas that the reader has received."""

    def merge(self) -> Any:
        """Merge the pending deltas into the content and return it."""
        if self.deltas:
            self._feed_reader()
            self.content = grown(self.content, self.deltas)
            self.deltas, self.read_count = [], 0
        return self.content

    def stop(self, content: Any) -> None:
        """Set the final content."""
        self.content, self.deltas, self.reader = content, [], None

    def partial_arguments(self) -> dict[str, Any]:
        """Return the arguments of a call so far; {} for other contents."""
        if not isinstance(self.content, ToolCallContent) or isinstance(self.content.arguments, dict):
            return getattr(self.content, "arguments", None) or {}
        if self.reader is None:
            self.reader, self.read_count = PartialJsonReader(), 0
            self.reader.feed(self.content.arguments or "")
        self._feed_reader()
        value = self.reader.value
        return value if isinstance(value, dict) else {}

    def _feed_reader(self) -> None:
        """Pass the new argument deltas to the reader, if it exists."""
        if self.reader is not None:
            for delta in self.deltas[self.read_count :]:
                if isinstance(delta, ArgumentsDelta) and delta.path is None:
                    self.reader.feed(delta.text)
            self.read_count = len(self.deltas)


class Fold:
    """Accumulate the events of a turn. `response` is the result so far, at any time."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._start = ChatResponse()
        self._end: TurnComplete | TurnError | None = None

    @property
    def is_over(self) -> bool:
        """True if the turn has ended, with or without an error."""
        return self._end is not None

    def feed(self, event: StreamEvent) -> None:
        """Add an event. Raise StreamError if its block has not started, or its choice is invalid."""
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
        """Return the content of the block `index` so far. Raise StreamError if the block has not started."""
        block = self._blocks.get(index)
        if block is None:
            raise StreamError(f"block {index} has not started")
        return block.merge()  # type: ignore[no-any-return]

    def partial_arguments(self, index: int) -> dict[str, Any]:
        """Return the arguments of the call `index` received so far. Use them for display only: they are incomplete.

        `content(index).partial_arguments` returns the same, but parses all arguments each time. This method parses each
        delta once, so it is cheap to call at every delta. The returned dict is live: it grows until the block stops.
        Raise StreamError if the block has not started.
        """
        block = self._blocks.get(index)
        if block is None:
            raise StreamError(f"block {index} has not started")
        return block.partial_arguments()

    @property
    def response(self) -> ChatResponse:
        """The response so far; the complete one if the turn has ended.

        Raise StreamError if the layout of the last event contains a block that has not started.
        """
        end = self._end
        envelope, layout = (self._start, []) if end is None else (end.response, end.layout)
        contents = {index: block.merge() for index, block in self._blocks.items()}
        response = with_contents(envelope, contents, layout or self._usual_layout(envelope))
        if isinstance(end, TurnError):
            return msgspec.structs.replace(response, error=end.error)
        return response

    @property
    def layout(self) -> Layout:
        """The indices of the blocks of each message of `response`."""
        end = self._end
        envelope, layout = (self._start, []) if end is None else (end.response, end.layout)
        full_layout = layout or self._usual_layout(envelope)
        return [
            [indices for indices in messages if _exists(envelope, number, indices)]
            for number, messages in enumerate(full_layout)
        ]

    @property
    def count(self) -> int:
        """The highest block index plus one: a free index for the next block."""
        return max(self._blocks, default=-1) + 1

    def _usual_layout(self, envelope: ChatResponse) -> Layout:
        """Return a layout with one message per choice and its blocks in order."""
        count = max([len(envelope.choices), *(block.choice + 1 for block in self._blocks.values())])
        layout: Layout = [[[]] for _ in range(count)]
        for index in sorted(self._blocks):
            layout[self._blocks[index].choice][0].append(index)
        return layout


def fold(events: Iterable[StreamEvent]) -> ChatResponse:
    """Return the response that the events of a turn result in. If they stop midway, return the partial response.

    Raise StreamError if the events contradict each other.
    """
    accumulated = Fold()
    for event in events:
        accumulated.feed(event)
    return accumulated.response


def with_contents(envelope: ChatResponse, contents: dict[int, Any], layout: Layout) -> ChatResponse:
    """Put contents into the messages of a response as `layout` maps them. Raise StreamError if a block is missing."""
    choices = []
    for number, messages in enumerate(layout):
        is_known = number < len(envelope.choices)
        choice = envelope.choices[number] if is_known else ChatChoice(index=number if len(layout) > 1 else None)
        completed = []
        for position, indices in enumerate(messages):
            missing = [index for index in indices if index not in contents]
            if missing:
                raise StreamError(f"the layout refers to block {missing[0]}, which has not started")
            if not _exists(envelope, number, indices):
                continue
            if position < len(choice.messages):
                message = choice.messages[position]
            else:
                message = ChatMessage(role="assistant", origin=envelope.origin)
            completed.append(msgspec.structs.replace(message, contents=[contents[index] for index in indices]))
        choices.append(msgspec.structs.replace(choice, messages=completed))
    return msgspec.structs.replace(envelope, choices=choices)


def _exists(envelope: ChatResponse, choice: int, indices: list[int]) -> bool:
    """Return whether a message of the layout exists: it has blocks, or the envelope contains its choice."""
    return bool(indices) or choice < len(envelope.choices)


def grown(content: Any, deltas: Iterable[BlockDelta]) -> Any:
    """Return a content with deltas merged into it."""
    texts: list[str] = []
    changes: dict[str, Any] = {}
    for delta in deltas:
        if isinstance(delta, TextDelta | ReasoningDelta) or (isinstance(delta, ArgumentsDelta) and delta.path is None):
            texts.append(delta.text)
        elif isinstance(delta, MediaDelta) and delta.preview is None:
            texts.append(delta.data)
        elif isinstance(delta, SignatureDelta):
            changes["protected"] = delta.protected
        elif isinstance(delta, CitationDelta):
            changes.setdefault("annotations", list(content.annotations or ())).append(delta.citation)
    field = growing_field(content)
    if texts and isinstance(content, ToolResultContent):
        changes["outputs"] = _more_output(content.output_list, "".join(texts))
    elif texts and field is not None:
        existing = getattr(content, field)
        changes[field] = "".join([existing if isinstance(existing, str) else "", *texts])
    return msgspec.structs.replace(content, **changes) if changes else content


def _more_output(outputs: list[Content], text: str) -> list[Content]:
    """Return the outputs of a tool result with more text in the last one, or in a new one if that is not a text."""
    if not outputs or not isinstance(outputs[-1], TextContent | ErrorContent):
        return [*outputs, TextContent(text=text)]
    return [*outputs[:-1], grown(outputs[-1], [TextDelta(index=0, text=text)])]


def growing_field(content: Any) -> str | None:
    """Return the text field of a content that deltas extend; None if there is none, as in a tool result."""
    return next((field for kind, field in _FIELDS.items() if isinstance(content, kind)), None)


_FIELDS: dict[type, str] = {
    TextContent: "text",
    ReasoningContent: "text",
    ToolCallContent: "arguments",
    DataContent: "data",
    ErrorContent: "message",
}
GROWING_FIELDS: dict[type, str] = {
    kind: field for kind in CONTENT_TYPES for base, field in _FIELDS.items() if issubclass(kind, base)
}
"""The field of `growing_field` for each type of the model that has one."""


def without_contents(response: ChatResponse) -> ChatResponse:
    """Return the response with the contents removed from its messages."""
    replace = msgspec.structs.replace
    choices = []
    for choice in response.choices:
        messages = list(choice.messages)
        for at, message in enumerate(messages):
            if message.contents:
                messages[at] = replace(message, contents=[])
        choices.append(replace(choice, messages=messages))
    return replace(response, choices=choices)
