"""Answers with other contents between their texts, many of which other APIs do not support, and their late events."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatResponse,
    Citation,
    FinishReason,
    FunctionCallContent,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    UnknownContent,
    UriContent,
)
from contentmodel.content import Span, WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.events import BlockCatchUp, StreamEvent
from contentmodel.unfolding import unfold

__all__ = ["late_events", "mixed_answers"]

_TEXT, _BLANK = "text", "blank"
_KINDS = ("thought", "opaque thought", "search", "call", "unknown")


@st.composite
def mixed_answers(draw: DrawFn, origin: Origin) -> ChatResponse:
    """Draw an answer from `origin` with texts, some of them cited, and other contents, in any order.

    No text is part of another, so that each can be found in any output.
    """
    kinds = draw(st.lists(st.sampled_from((_TEXT, _TEXT, *_KINDS, _BLANK)), min_size=2, max_size=7))
    contents: list[Any] = []
    for number, kind in enumerate(kinds):
        contents += _text(draw, number) if kind == _TEXT else _other(kind, number, origin)
    return _answer(contents, origin)


@st.composite
def late_events(draw: DrawFn, origin: Origin) -> list[StreamEvent]:
    """Draw the events of an answer from `origin` whose texts go on after their blocks.

    A text in Chat Completions goes on after a call, and may be cited at the end. Each citation has its own URL.
    """
    kinds = draw(st.lists(st.sampled_from((_TEXT, *_KINDS)), min_size=1, max_size=4))
    contents: list[Any] = []
    late: list[tuple[int, Any]] = []
    for number, kind in enumerate([_TEXT, *kinds]):
        if kind != _TEXT:
            contents += _other(kind, number, origin)
            continue
        whole, begun = draw(_late_texts(number))
        late += [] if whole == begun else [(len(contents), whole)]
        contents.append(begun)
    *events, end = unfold(_answer(contents, origin), size=draw(st.sampled_from((None, 3))))
    return [
        *events,
        *(BlockCatchUp(index=index, content=content) for index, content in draw(st.permutations(late))),
        end,
    ]


@st.composite
def _late_texts(draw: DrawFn, number: int) -> tuple[TextContent, TextContent]:
    """Draw a text with citations, and the part of it that is known when its block stops."""
    text = f"Text \U0001f600 {number}, and more of it {number}."
    points = st.integers(0, len(text))
    drawn = draw(st.lists(st.tuples(points, points).filter(lambda span: span[0] < span[1]), max_size=3))
    spans = sorted(drawn, key=lambda span: span[1])
    citations = [
        Citation(url=f"https://example.org/{number}/{at}", title="A", span=Span(start=start, end=end))
        for at, (start, end) in enumerate(spans)
    ]
    size = draw(st.just(len(text)) | points)
    early = citations[: draw(st.integers(0, sum(end <= size for _, end in spans)))]
    return (
        TextContent(text=text, annotations=citations or None),
        TextContent(text=text[:size], annotations=early or None),
    )


def _answer(contents: list[Any], origin: Origin) -> ChatResponse:
    message = ChatMessage(role="assistant", contents=contents, origin=origin)
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="stop"))
    return ChatResponse(id="answer_1", model="m", created=1_780_000_000, choices=[choice], origin=origin)


def _text(draw: DrawFn, number: int) -> list[Any]:
    text = f"Text \U0001f600 {number}.{draw(st.sampled_from(['', ' ']))}"
    span = draw(st.sampled_from((None, Span(start=0, end=4), Span(start=7, end=8))))
    citation = Citation(url="https://example.org/a", title="A", span=span)
    citations = [citation] if draw(st.booleans()) else None
    return [TextContent(text=text, annotations=citations)]


def _other(kind: str, number: int, origin: Origin) -> list[Any]:
    if kind == _BLANK:
        return [TextContent(text="")]
    if kind == "thought":
        return [ReasoningContent(text=f"Thought {number}")]
    if kind == "opaque thought":
        return [ReasoningContent(protected=Protected(issuer=origin.issuer, kind="encrypted", data="eA=="))]
    if kind == "call":
        return [FunctionCallContent(call_id=f"call_{number}", name="look", arguments='{"q": 1}')]
    if kind == "unknown":
        return [UnknownContent(api=origin.api, block={"type": "of_tomorrow"})]
    call_id = f"search_{number}"
    pages: list[Any] = [UriContent(uri="https://example.org/a", title="A page")]
    return [
        WebSearchToolCallContent(call_id=call_id, name="web_search", arguments={"query": "x"}),
        WebSearchToolResultContent(call_id=call_id, outputs=pages),
    ]
