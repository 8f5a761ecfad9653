"""Which texts are part of others is found for all of them at once, and is what a search for each would find."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from contentmodel.containment import contained

TEXTS = st.text(alphabet="ab-. é\n", max_size=40) | st.text(alphabet="ab", min_size=14, max_size=60)


def is_contained(text: str, places: list[str]) -> bool:
    """Search for one text: a short word counts only where it is not inside of another word."""
    if len(text) >= 16 or not re.fullmatch(r"\w[\w.-]*", text):
        return any(text in place for place in places if place != text)
    whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return any(whole.search(place) for place in places if place != text)


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
@example((["a" * 8 + "b" * 8], ["a" * 8, "b" * 8]))
@example((["word."], ["a word. b", "word."]))
@example((["gpt-4.1"], ["gpt-4.1-mini"]))
@example((["b"], ["ab", "a b"]))
@example((["a b"], ["a b", "xa bx"]))
def test_contained_finds_what_single_searches_find(case: tuple[list[str], list[str]]) -> None:
    wanted, places = case
    assert contained(wanted, places) == {text for text in wanted if is_contained(text, places)}
