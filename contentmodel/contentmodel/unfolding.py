"""Unfold a ChatResponse into the events of a turn, the reverse of `fold`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.events import (
    ArgumentsDelta,
    BlockStart,
    BlockStop,
    CitationDelta,
    Layout,
    MediaDelta,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    growing_field,
    without_contents,
)
from contentmodel.response import ChatResponse
from contentmodel.serialize import require_valid_parts


def unfold(response: ChatResponse, *, size: int | None = None) -> Iterator[StreamEvent]:
    """Yield the events of a complete response. `fold` of these events returns an equal response.

    `size` is the maximum number of characters of a delta; None means one delta per text. Raise EncodeError immediately,
    as the encoders do, if `response` is not a ChatResponse, or if it has no origin and a value of a wrong type.
    """
    require_valid_parts(response, ChatResponse)
    return _events(response, size)


def _events(response: ChatResponse, size: int | None) -> Iterator[StreamEvent]:
    yield TurnStart(response=msgspec.structs.replace(response, choices=[], error=None))
    layout: Layout = []
    index = 0
    for number, choice in enumerate(response.choices):
        layout.append([])
        for message in choice.messages:
            layout[-1].append(list(range(index, index + len(message.contents))))
            for content in message.contents:
                yield from _unfold_block(index, content, number, size)
                index += 1
    envelope = without_contents(response)
    if response.error is not None:
        yield TurnError(error=response.error, response=envelope, layout=layout)
    else:
        yield TurnComplete(response=envelope, layout=layout)


def _unfold_block(index: int, content: Any, choice: int, size: int | None) -> Iterator[StreamEvent]:
    start, deltas = blank(content)
    yield BlockStart(index=index, content=start, choice=choice)
    for kind, text in deltas:
        step = size or len(text) or 1
        for at in range(0, len(text), step):
            piece = text[at : at + step]
            yield MediaDelta(index=index, data=piece) if kind is MediaDelta else kind(index=index, text=piece)
    for citation in content.annotations or () if start is not content else ():
        yield CitationDelta(index=index, citation=citation)
    yield BlockStop(index=index, content=content)


_KINDS: tuple[tuple[Any, Any], ...] = (
    (ReasoningContent, ReasoningDelta),
    (ToolCallContent, ArgumentsDelta),
    (TextContent, TextDelta),
    (ErrorContent, TextDelta),
)


def blank(content: Any) -> tuple[Any, list[tuple[Any, str]]]:
    """Return the initial content of a block, and the classes and texts of the deltas that complete it."""
    field = growing_field(content)
    if isinstance(content, ToolResultContent) and content.outputs:
        output, deltas = blank(content.outputs[-1])
        if deltas and deltas[0][0] is TextDelta:
            outputs = [
                *content.outputs[:-1],
                msgspec.structs.replace(output, annotations=content.outputs[-1].annotations),
            ]
            return msgspec.structs.replace(content, outputs=outputs, annotations=content.annotations and None), deltas
    if field is None or isinstance(content, DataContent):
        return content, []
    text = content.arguments_text if field == "arguments" and content.arguments else getattr(content, field)
    if field == "arguments" and content.arguments is None:
        return content, []
    start = msgspec.structs.replace(content, **{field: "", "annotations": content.annotations and None})
    return start, [(next(delta for kind, delta in _KINDS if isinstance(content, kind)), text or "")]
