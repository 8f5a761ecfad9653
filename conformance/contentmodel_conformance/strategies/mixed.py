"""Answers with other contents between their texts, many of which other APIs do not support."""

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

__all__ = ["mixed_answers"]

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
