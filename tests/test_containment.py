"""Occurrences of texts in other texts: one pass for all texts counts as many as a search for each text."""

from __future__ import annotations

import re
import tracemalloc
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contentmodel.containment import occurrences
from contentmodel_conformance.work import superlinear

TEXTS = st.text(alphabet="ab-. é=/\n", max_size=40) | st.text(alphabet="ab", min_size=14, max_size=60)


def count(text: str, place: str) -> int:
    """Search for one text: a short word counts only where it is not inside of another word."""
    if text == place:
        return 0
    pattern = re.escape(text)
    if len(text) < 16 and re.fullmatch(r"\w[\w.-]*={0,2}", text):
        pattern = rf"(?<![\w+/]){pattern}(?!=)" if text.endswith("=") else rf"(?<!\w){pattern}(?!\w)"
    return len(re.findall(f"(?={pattern})", place))


@st.composite
def searches(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    places = draw(st.lists(TEXTS, max_size=5))
    wanted = draw(st.lists(TEXTS, max_size=5))
    for place in places:
        start = draw(st.integers(0, len(place)))
        wanted.append(place[start : start + draw(st.integers(1, 30))])
    return [text for text in wanted if text], places


@given(searches())
@example((["a" * 16], ["a" * 16, "a" * 17]))
@example((["a" * 16], ["a" * 16]))
@example((["a" * 16, "a" * 17], ["a" * 16, "a" * 17, "a" * 17]))
@example((["a" * 8 + "b" * 8], ["a" * 8, "b" * 8]))
@example((["word."], ["a word. b", "word."]))
@example((["gpt-4.1"], ["gpt-4.1-mini"]))
@example((["b"], ["ab", "a b"]))
@example((["AAA="], ["iVBORw0KGgoAAAAAAAAAAA==", "iVBORw0KGg+AAA=", "data:;base64,AAA=", "a AAA="]))
@example((["a b"], ["a b", "xa bx"]))
@example((["a b c", "b c", "b d", " "], ["a b c d", "b c"]))
def test_occurrences_agree_with_single_searches(case: tuple[list[str], list[str]]) -> None:
    wanted, places = case
    counts = {text: sum(count(text, place) for place in places) for text in wanted}
    assert occurrences(wanted, Counter(places)) == Counter({text: found for text, found in counts.items() if found})


Case = tuple[list[str], dict[str, int]]


def with_a_common_beginning(size: int) -> Case:
    addresses = [f"https://example.org/{at:04}" for at in range(size)]
    return addresses, {f"See {address} now.": 1 for address in addresses}


def with_a_common_ending(size: int) -> Case:
    addresses = [f"{at:04}.example.org/index.html" for at in range(size)]
    return addresses, {f"See {address} now.": 1 for address in addresses}


def of_one_letter(size: int) -> Case:
    return ["a" * 40 + str(at) for at in range(size)], {"a" * 40 * size: 1}


@pytest.mark.parametrize("case", [with_a_common_beginning, with_a_common_ending, of_one_letter])
def test_occurrences_take_linear_time_and_memory(case: Callable[[int], Case]) -> None:
    cases = [case(size) for size in (16, 64, 256)]
    assert superlinear([partial(occurrences, *case) for case in cases], 4, copies=False) == []
    peaks = [peak(*case) for case in cases]
    assert all(large < 6 * small for small, large in pairwise(peaks))


def peak(wanted: list[str], texts: dict[str, int]) -> int:
    tracemalloc.start()
    try:
        occurrences(wanted, texts)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
