"""Work grows linearly with its input: functions on transcripts, and the counts. The kit tests conversions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import contentmodel
from contentmodel import Citation, TextContent
from contentmodel.cli.pieces import Page
from contentmodel.cli.transcript import transcript
from contentmodel.content import Span, convert_span, join_texts, splice_text
from contentmodel.content.text import SpanConverter
from contentmodel.html import page
from contentmodel.split_points import split_points
from contentmodel_conformance.answer_shapes import RESPONSES
from contentmodel_conformance.bounds import RATIO, sizes
from contentmodel_conformance.shapes import REQUESTS
from contentmodel_conformance.work import allocations, line_runs, superlinear
from session_files import codex_line, said

SHAPES = {**REQUESTS, **RESPONSES}
each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))


def grows_evenly(work: Callable[[Any], Any], shape: Callable[[int], Any], first: int = sizes(large=False)[0]) -> None:
    works = [partial(work, shape(first * RATIO**power)) for power in range(3)]
    assert [str(growth) for growth in superlinear(works, RATIO, copies=False)] == []


def messages_of(value: Any) -> list[Any]:
    choices = getattr(value, "choices", None)
    return list(value.messages) if choices is None else [m for choice in choices for m in choice.messages]


def all_parts(value: Any) -> list[Any]:
    return list(transcript(value, Page()))


@each_shape
def test_transcript_view_takes_linear_time(shape: Callable[[int], Any]) -> None:
    grows_evenly(all_parts, shape)


@pytest.mark.slow
@each_shape
def test_html_page_takes_linear_time(shape: Callable[[int], Any]) -> None:
    grows_evenly(page, shape)


@each_shape
def test_split_points_take_linear_time(shape: Callable[[int], Any]) -> None:
    grows_evenly(lambda value: split_points(messages_of(value)), shape)


@pytest.mark.parametrize("name", ["agent-turns", "unanswered-turns", "orphan-results", "ids-of-other-letters"])
def test_plan_takes_linear_time(name: str) -> None:
    grows_evenly(contentmodel.plan, REQUESTS[name])


def rolled_back(turns: int) -> list[Any]:
    """Return a rollout of Codex in which each turn and its compaction are taken back, one by one or all at the end."""
    lines = [codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0)]
    for number in range(turns):
        lines.append(codex_line("response_item", said("user", f"prompt {number}"), 1))
        lines.append(codex_line("compacted", {"message": f"summary {number}"}, 2))
        if number % 2:
            lines.append(codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}, 3))
    lines.append(codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": turns}, 4))
    return [*lines, codex_line("response_item", said("user", "go on"), 5)]


def test_compactions_taken_back_take_linear_time() -> None:
    grows_evenly(contentmodel.adapter("codex-rollout").decode_request, rolled_back)


# -- spans -------------------------------------------------------------------------------------------------------------

TEXTS = ["plain", "Ünïcödé \U0001f600" * 80, "\U0001f600" * 256, "é" * 511 + "x", ""]


@pytest.mark.parametrize("text", TEXTS)
def test_span_converter_counts_like_the_encoded_text(text: str) -> None:
    converter = SpanConverter(text)
    for point in range(len(text) + 1):
        size = len(text[:point].encode())
        wide = len(text[:point].encode("utf-16-le")) // 2
        in_bytes = converter.convert(Span(start=point, end=None), "byte")
        assert in_bytes == Span(start=size, end=None, unit="byte") == convert_span(text, Span(start=point), "byte")
        assert converter.convert(in_bytes, "utf16") == Span(start=wide, end=None, unit="utf16")
        assert converter.convert(Span(start=wide, unit="utf16"), "codepoint") == Span(start=point)


def test_span_converter_moves_a_cut_inside_a_character_to_its_start() -> None:
    converter = SpanConverter("é" * 300 + "\U0001f600x")
    assert converter.convert(Span(start=602, end=9_999, unit="byte"), "codepoint") == Span(start=300, end=302)


def test_span_converter_takes_a_span_in_an_unknown_unit_for_the_whole_text() -> None:
    assert SpanConverter("éx").convert(Span(start=1, end=1, unit="word"), "byte") == Span(start=0, end=3, unit="byte")


def cited(size: int) -> TextContent:
    spans = (Span(start=3 * n, end=3 * n + 2, unit="byte") for n in range(size))
    return TextContent(text="éx" * size, annotations=[Citation(url="u", span=span) for span in spans])


def test_edit_of_text_with_many_citations_takes_linear_time() -> None:
    grows_evenly(lambda text: splice_text(text, 1, 2, "a"), cited, 20)
    grows_evenly(lambda text: join_texts(text, text), cited, 20)


# -- the counting ------------------------------------------------------------------------------------------------------


def _copies(size: int) -> None:
    items: list[int] = []
    for number in range(size):
        items = [*items, number]


def _loops(size: int) -> int:
    return sum(1 for one in range(size) for other in range(size) if one < other)


def _is_linear(size: int) -> int:
    items = [str(number) for number in range(size)]
    return len({item: [item] for item in sorted(items)})


def _grows(size: int) -> int:
    items: list[int] = []
    for number in range(size):
        items.append(number)
    by_number: dict[int, int] = {}
    for number in range(size):
        by_number[number] = number
    return len(items) + len(by_number)


def growths(work: Callable[[int], Any], *, copies: bool) -> list[Any]:
    return superlinear([partial(work, size) for size in (8, 32, 128)], 4, copies=copies)


def test_superlinear_finds_nested_loop() -> None:
    (growth, *_) = growths(_loops, copies=False)
    assert growth.place[0].endswith("test_bounds.py")
    assert growth.after > growth.limit


def test_superlinear_finds_copies_only_if_copies_are_counted() -> None:
    assert growths(_copies, copies=False) == []
    assert [growth.unit for growth in growths(_copies, copies=True)] == ["bytes allocated by the line"]


@pytest.mark.parametrize("work", [_is_linear, _grows])
def test_superlinear_accepts_linear_work(work: Callable[[int], int]) -> None:
    assert growths(work, copies=True) == []


def test_work_counts_are_deterministic() -> None:
    for count in (line_runs, allocations):
        assert count(partial(_loops, 20)) == count(partial(_loops, 20))
