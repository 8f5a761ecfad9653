"""Arguments that still grow are shown as far as they have come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contentmodel
from contentmodel import FunctionCallContent, partial_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def is_beginning(said: Any, whole: Any) -> bool:
    """Whether a value says nothing that the whole one does not say."""
    if isinstance(whole, dict):
        return isinstance(said, dict) and all(k in whole and is_beginning(v, whole[k]) for k, v in said.items())
    if isinstance(whole, list):
        pairs = zip(said, whole, strict=False)
        return isinstance(said, list) and len(said) <= len(whole) and all(is_beginning(*pair) for pair in pairs)
    return whole.startswith(said) if isinstance(whole, str) and isinstance(said, str) else said == whole


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
@example({"a": 10}, False)
@example({"a": 'x"y\\', "b": [1, 23, {"c": "\xe9\U0001f600z"}], "d": True, "e": None}, True)
@example({"\\": "\\\\"}, False)
def test_the_beginning_of_a_text_says_the_beginning_of_its_value(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert partial_json(text) == value
    for end in range(len(text)):
        said = partial_json(text[:end])
        assert said is None or is_beginning(said, value), (text[:end], said)


@given(st.text(alphabet='{}[]:,"\\u0d8 1tn'))
def test_any_text_is_taken(text: str) -> None:
    partial_json(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"city": "Par', {"city": "Par"}),
        ('{"city": "Paris", "da', {"city": "Paris"}),
        ('{"city": "Paris", "days": 3', {"city": "Paris"}),
        ('{"city": "Paris", "days": 3,', {"city": "Paris", "days": 3}),
        ('{"all": tru', {}),
        ('{"all": true', {"all": True}),
        ("", {}),
        ("not json", {}),
        ("[1, 2]", {}),
    ],
)
def test_a_growing_call_has_arguments_to_show(text: str, said: dict[str, Any]) -> None:
    assert FunctionCallContent(name="weather", arguments=text).partial_arguments == said


def test_a_stream_shows_arguments_as_they_grow() -> None:
    answer = contentmodel.ChatResponse(
        choices=[
            contentmodel.ChatChoice(
                messages=[
                    contentmodel.ChatMessage(
                        role="assistant",
                        contents=[FunctionCallContent(call_id="c", name="f", arguments='{"city": "Paris", "days": 3}')],
                    )
                ]
            )
        ]
    )
    gathered = contentmodel.Fold()
    seen = []
    for event in contentmodel.unfold(answer, size=8):
        gathered.feed(event)
        if isinstance(event, contentmodel.ArgumentsDelta):
            seen.append(gathered.content(event.index).partial_arguments)
    assert seen[0] == {}
    assert {"city": "Pa"} in seen or {"city": "Paris"} in seen
    assert seen[-1] == {"city": "Paris", "days": 3}
