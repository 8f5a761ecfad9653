"""Outgoing blocks of a stream: the content received so far, the part that was written, and the ends of choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.hosted import McpServerToolCallContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.engine.pipeline.answers import end_for, finish_for_calls, finish_for_refusal, is_refusal
from contentmodel.engine.table.codecs import INVALID_JSON
from contentmodel.events import GROWING_FIELDS, ArgumentsDelta, grown
from contentmodel.framing import StreamFormat
from contentmodel.json import JsonObject, object_or_text, write
from contentmodel.losses import Loss, loss_of
from contentmodel.message import FinishReason

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent
    from contentmodel.response import ChatResponse


class OutgoingBlock:
    """A block that is being encoded."""

    __slots__ = (
        "choice",
        "cited",
        "content",
        "deltas",
        "grow",
        "index",
        "is_complete",
        "is_held",
        "is_stopped",
        "pieces",
        "place",
        "state",
        "typed",
    )

    def __init__(self, index: int, content: Any, choice: int) -> None:
        self.index = index
        self.content = content
        self.choice = choice
        self.deltas: list[Any] = []
        """The deltas that are not written yet."""
        self.is_stopped = False
        self.is_complete = True
        self.pieces: list[str] = []
        """The written pieces of the growing field."""
        self.cited = 0
        """The number of citations that were written."""
        self.place = 0
        """Its position in the API's list."""
        self.grow: Callable[[str], bytes] | None = None
        """Returns the event for more text of a live block; None if the block is not live, or not yet."""
        self.state: Any = None
        """Additional state of the API's encoder for a live block."""
        self.is_held = False
        """True if it is held until it is complete."""
        self.typed = ""
        """The arguments of a stopped call as the source sent them; "" if they are no text."""

    @property
    def sent(self) -> int:
        """The number of written characters of the growing field."""
        return sum(map(len, self.pieces))

    def unwritten(self, text: str) -> str:
        """Return the part of the text that is not written yet; "" if the text does not continue what was written."""
        written = "".join(self.pieces)
        return text[len(written) :] if text.startswith(written) else ""

    def stop(self, content: Any, *, is_complete: bool, as_text: bool = False) -> None:
        """Set the final content. If `as_text`, the arguments of a function are the text that the source sent."""
        if isinstance(content, ToolCallContent):
            self.typed = self._typed(content.arguments)
            if as_text and self.typed and isinstance(content, FunctionCallContent | McpServerToolCallContent):
                content = msgspec.structs.replace(content, arguments=self.typed)
        self.content, self.deltas = content, []
        self.is_stopped, self.is_complete = True, is_complete

    def _typed(self, arguments: Any) -> str:
        """Return the text of final arguments: if they became an object, the text that arrived for it."""
        if arguments.__class__ is str:
            return str(arguments)
        text = "".join(self.pieces)
        for delta in self.deltas:
            if delta.__class__ is ArgumentsDelta:
                if delta.path is not None:
                    return ""
                text += delta.text
        return text if text and object_or_text(text) == arguments else ""

    def merge_pieces(self) -> Any:
        """Return the content with everything received so far, written or not."""
        field = GROWING_FIELDS.get(self.content.__class__)
        if self.pieces and field is not None and not self.is_stopped:
            self.content = msgspec.structs.replace(self.content, **{field: "".join(self.pieces)})
        if self.deltas:
            self.content, self.deltas = grown(self.content, self.deltas), []
        return self.content


class Written:
    """The state that is kept of a written block: its position, and the size of its content."""

    __slots__ = ("_text", "call", "choice", "cited", "is_refusal", "place", "sent")

    def __init__(self, block: OutgoingBlock) -> None:
        self.choice, self.place, self.cited = block.choice, block.place, block.cited
        self.sent = sum(map(len, block.pieces))
        self.call = block.content if isinstance(block.content, ToolCallContent) else None
        self.is_refusal = block.content.__class__ is ErrorContent and is_refusal(block.content)
        text = getattr(block.content, GROWING_FIELDS.get(block.content.__class__) or "", None)
        if text.__class__ is str:
            # A held block was written whole.
            self.sent = max(self.sent, len(text))
        self._text = hash(text) if text.__class__ is str else None

    def is_continued_by(self, content: Any) -> bool:
        """Return whether the text of a changed content continues the text that was written, if there is one."""
        text = getattr(content, GROWING_FIELDS.get(content.__class__) or "", None)
        return self._text is None or text.__class__ is not str or hash(text[: self.sent]) == self._text

    def add(self, content: Any) -> None:
        """Record that the text of a changed content is written."""
        text = getattr(content, GROWING_FIELDS.get(content.__class__) or "", None)
        if text.__class__ is str:
            self.sent, self._text = len(text), hash(text)


def growing(head: bytes, tail: bytes) -> Callable[[str], bytes]:
    """Return a function that writes more text of a block. `head` and `tail` surround the text, a JSON string."""

    def grow(text: str) -> bytes:
        return head + write(text) + tail

    return grow


TEXT_HERE = "\x02text\x03"
"""The place of the text in an event for `growing_event`. It is ASCII, which JSON with and without escapes has alike."""
_HERE = write(TEXT_HERE)


def growing_event(stream_format: StreamFormat, event: JsonObject, name: str | None = None) -> Callable[[str], bytes]:
    """Return a function that writes an event with more text of a block, where the event has `TEXT_HERE`.

    Put no value of the caller after `TEXT_HERE`.
    """
    data = write(event)
    if not stream_format.is_text:
        head, _, tail = data.rpartition(_HERE)
        return lambda text: stream_format.write(head + write(text) + tail, name)
    head, _, tail = stream_format.write(data, name).rpartition(_HERE)
    return growing(head, tail)


def spelled(text: str, typed: str) -> str:
    """Return the text of arguments as the source typed it, if `text` is the same arguments in another spelling."""
    value = object_or_text(text) if text else {}
    typed_value = object_or_text(typed) if typed.strip() not in ("", "null") else {}
    is_same = value in (typed_value, {INVALID_JSON: typed})
    return typed if is_same else text


def is_incomplete_call(block: OutgoingBlock) -> bool:
    """Return whether a call broke off. It must not look complete."""
    return not block.is_complete and isinstance(block.content, ToolCallContent)


Report = Callable[[list[Loss]], None]
"""Records losses of the envelope."""


def with_ends(
    response: ChatResponse, written: Iterable[Written], api: str, report: Report, *, shows_refusals: bool
) -> ChatResponse:
    """Return a complete answer with a finish reason in each choice. Clients run its calls by it, and see a refusal.

    `shows_refusals`: whether the API has a finish reason for refusals. Finish reasons that are replaced or missing are
    reported.
    """
    calls: dict[int, list[ToolCallContent]] = {}
    refused: set[int] = set()
    for block in written:
        if block.is_refusal and shows_refusals:
            refused.add(block.choice)
        if block.call is not None and block.call.executor == "client":
            calls.setdefault(block.choice, []).append(block.call)
    choices = []
    for number, choice in enumerate(response.choices):
        ended = choice.finish_reason
        if ended is None or ended.raw == "":
            ended = end_for(ended, has_calls=bool(calls.get(number)))
            path = f"$.choices[{number}].finish_reason"
            report([loss_of(reasons.FINISH_REASON, path, "finish_reason", api, family="settings")])
        finish = finish_for_calls(ended, calls[number]) if number in calls else ended
        finish = finish_for_refusal(finish, is_refused=True) if number in refused else finish
        if finish is not None and finish is not ended:
            report([_replaced(number, finish, api)])
        choices.append(msgspec.structs.replace(choice, finish_reason=finish))
    return msgspec.structs.replace(response, choices=choices)


def without_ends(response: ChatResponse, api: str, report: Report) -> ChatResponse:
    """Return a failed answer without finish reasons, because its error follows. Report those that are no failure."""
    choices = []
    for number, choice in enumerate(response.choices):
        finish = choice.finish_reason
        if finish is not None and finish.reason not in ("error", "cancelled", "running"):
            report([_replaced(number, finish, api)])
        choices.append(msgspec.structs.replace(choice, finish_reason=None))
    return msgspec.structs.replace(response, choices=choices)


def _replaced(number: int, finish: FinishReason, api: str) -> Loss:
    path, name = f"$.choices[{number}].finish_reason.raw", "finish_reason.raw of ChatChoice"
    value = finish.raw or finish.reason
    return loss_of(reasons.NO_FINISH_REASON, path, name, api, family="settings", value=value)
