"""Answers that each grow in one dimension: `RESPONSES[name](size)`. Independent of APIs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel import ChatChoice, ChatMessage, ChatResponse, FinishReason, ReasoningContent, TextContent, UriContent
from contentmodel.content import WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel_conformance.shapes import Shape, assistant, call, cited, picture, searches, text


def _answer(*contents: Any) -> ChatResponse:
    return _answers([assistant(*contents)])


def _answers(*choices: list[ChatMessage]) -> ChatResponse:
    chat_choices = [
        ChatChoice(messages=messages, index=n, finish_reason=FinishReason(reason="stop"))
        for n, messages in enumerate(choices)
    ]
    return ChatResponse(id="i", model="m", choices=chat_choices)


def answer_choices(size: int) -> ChatResponse:
    """Return an answer with `size` choices."""
    return _answers(*([assistant(text(f"answer {n:04}"), call(n))] for n in range(size)))


def answer_messages(size: int) -> ChatResponse:
    """Return an answer with one choice of `size` messages."""
    return _answers([assistant(text(f"part {n:04}")) for n in range(size)])


def answer_texts(size: int) -> ChatResponse:
    """Return an answer with `size` texts."""
    return _answer(*(text(f"part {n:04}") for n in range(size)))


def answer_blanks(size: int) -> ChatResponse:
    """Return an answer with `size` blank texts."""
    return _answer(*(text(" " * (n % 3)) for n in range(size)), text("Yes."))


def answer_blocks(size: int) -> ChatResponse:
    """Return an answer with `size` groups of reasoning, text and call."""
    kinds = ((ReasoningContent(text=f"so {n:04}"), text(f"part {n:04}"), call(n)) for n in range(size))
    return _answer(*(content for kind in kinds for content in kind))


def answer_calls(size: int) -> ChatResponse:
    """Return an answer with `size` calls."""
    return _answer(*(call(n) for n in range(size)))


def answer_calls_without_ids(size: int) -> ChatResponse:
    """Return an answer with `size` calls without ids."""
    return _answer(*(call(None) for _ in range(size)))


def answer_calls_with_one_id(size: int) -> ChatResponse:
    """Return an answer with `size` calls with the same id."""
    return _answer(*(call(1) for _ in range(size)))


def answer_cited(size: int) -> ChatResponse:
    """Return an answer with a long text and `size` citations."""
    return _answer(cited(size))


def answer_search(size: int) -> ChatResponse:
    """Return an answer with `size` hosted searches, and a text that cites their results."""
    return _answer(*searches(size), cited(size))


def answer_sources(size: int) -> ChatResponse:
    """Return an answer with one hosted search of `size` results, and a text that cites them."""
    pages: list[Any] = [
        UriContent(uri=f"https://example.org/{n:04}", title=f"Page {n:04}", media_type="text/html") for n in range(size)
    ]
    call = WebSearchToolCallContent(call_id="srv", arguments={"queries": [f"query {n:04}" for n in range(size)]})
    return _answer(call, WebSearchToolResultContent(call_id="srv", outputs=pages), cited(size))


def answer_pictures(size: int) -> ChatResponse:
    """Return an answer with `size` images."""
    return _answer(text("Here."), *(picture(n) for n in range(size)))


def answer_long_text(size: int) -> ChatResponse:
    """Return an answer with one text of `size` words."""
    return _answer(text("word " * size))


def answer_long_arguments(size: int) -> ChatResponse:
    """Return an answer with one call whose arguments grow."""
    return _answer(
        call(0, arguments={"cities": [{"name": f"city {n:04}"} for n in range(size)], "said": "word " * size})
    )


def answer_long_thought(size: int) -> ChatResponse:
    """Return an answer with reasoning of `size` words."""
    return _answer(ReasoningContent(text="word " * size), text("Yes."))


def answer_unknown_fields(size: int) -> ChatResponse:
    """Return an answer with fields of another API, in itself and in each of its texts."""
    fields = {f"field_{n:04}": {"value": 1_000 + n} for n in range(size)}
    texts = [TextContent(text=f"part {n:04}", extra={"elsewhere": {"field": 1_000 + n}}) for n in range(size)]
    answer = _answer(*texts)
    return ChatResponse(id=answer.id, model=answer.model, choices=answer.choices, extra={"elsewhere": fields})


RESPONSES: Mapping[str, Shape] = {
    shape.__name__.replace("_", "-"): shape
    for shape in (
        answer_choices,
        answer_messages,
        answer_texts,
        answer_blanks,
        answer_blocks,
        answer_calls,
        answer_calls_without_ids,
        answer_calls_with_one_id,
        answer_cited,
        answer_search,
        answer_sources,
        answer_pictures,
        answer_long_text,
        answer_long_arguments,
        answer_long_thought,
        answer_unknown_fields,
    )
}
"""All shapes of answers, by name."""
