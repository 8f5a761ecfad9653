"""Partial arguments: incomplete JSON is parsed as far as possible."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contentmodel
from contentmodel import FunctionCallContent
from contentmodel.events import ArgumentsDelta, BlockStart, Fold
from contentmodel.partial import MAX_DEPTH, MAX_WORD, PartialJsonReader, partial_json
from contentmodel_conformance.work import superlinear

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def is_beginning(part: Any, whole: Any) -> bool:
    """Return whether a partial value is a beginning of the whole value, at every level."""
    if isinstance(whole, dict):
        return isinstance(part, dict) and all(k in whole and is_beginning(v, whole[k]) for k, v in part.items())
    if isinstance(whole, list):
        pairs = zip(part, whole, strict=False)
        return isinstance(part, list) and len(part) <= len(whole) and all(is_beginning(*pair) for pair in pairs)
    return whole.startswith(part) if isinstance(whole, str) and isinstance(part, str) else part == whole


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
@example({"a": 10}, False)
@example({"a": 'x"y\\', "b": [1, 23, {"c": "\xe9\U0001f600z"}], "d": True, "e": None}, True)
@example({"\\": "\\\\"}, False)
def test_partial_json_of_prefix_is_prefix_of_value(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert partial_json(text) == value
    for end in range(len(text)):
        part = partial_json(text[:end])
        assert part is None or is_beginning(part, value), (text[:end], part)


@given(st.text(alphabet='{}[]:,"\\u0d8 1tn'))
def test_partial_json_accepts_any_text(text: str) -> None:
    partial_json(text)


@pytest.mark.parametrize(
    ("text", "expected"),
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
def test_partial_arguments_have_the_complete_part_of_incomplete_text(text: str, expected: dict[str, Any]) -> None:
    assert FunctionCallContent(name="weather", arguments=text).partial_arguments == expected


def test_fold_gives_partial_arguments_during_stream() -> None:
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
    gathered = Fold()
    seen = []
    for event in contentmodel.unfold(answer, size=8):
        gathered.feed(event)
        if isinstance(event, ArgumentsDelta):
            seen.append(gathered.content(event.index).partial_arguments)
    assert seen[0] == {}
    assert {"city": "Pa"} in seen or {"city": "Paris"} in seen
    assert seen[-1] == {"city": "Paris", "days": 3}


# -- read piece by piece -----------------------------------------------------------------------------------------------


@given(VALUES, st.booleans(), st.lists(st.integers(1, 5), max_size=200))
@example('\U0001f600\\"\n\ud83d', True, [])
@example({"a": 1, "b": [True, {"a": "\xe9"}]}, False, [1] * 60)
@example([1.5, -2, None], True, [2, 2, 2])
def test_reader_agrees_with_partial_json_for_any_chunks(value: Any, is_ascii: bool, sizes: list[int]) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    reader, at = PartialJsonReader(), 0
    for size in [*sizes, len(text)]:
        reader.feed(text[at : at + size])
        at += size
        assert reader.value == partial_json(text[:at])


@given(
    st.lists(st.sampled_from([*'{}[]:,"\\ 1\n\ufeff\xa0', '"a":', '"b"', "true", "tru", "\\u0041", "\\ud83d", "\\q"]))
)
@example(["[", "1", "\n", "true"])
@example(['{"a": 1, "a": "x', "\\q"])
@example(["[", "true", "x", ","])
@example(["\ufeff", "{", "\xa0", '"a":', "1", "}"])
@example(['"', "\\ud83d", "\\ud83d", "\\ude00", "\\", "u0041"])
@example(["\ufeff", "\ufeff", "1"])
def test_reader_agrees_with_partial_json_for_any_text(pieces: list[str]) -> None:
    reader, text = PartialJsonReader(), ""
    for piece in pieces:
        reader.feed(piece)
        text += piece
        assert reader.value == partial_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\\\u', "a\\u"),
        ('{"a": "x\\\\u', {"a": "x\\u"}),
        ('"\\ud83d\\\\', "\ud83d\\"),
        ('{"a": 1, "a": "x', {"a": "x"}),
        ('{"a": 1, "a": "\\q', {"a": 1}),
        ("[1, tru", [1]),
        ("[1, true", [1, True]),
        ("[1 true", None),
        ("[1 truex", [1]),
        ("12", 12),
        ("-", None),
        ("1 2", 1),
        ("1 2 ", None),
        ('{"a":, "b"', {}),
        ("[1}", None),
        ("[\ufeff1]", None),
    ],
)
def test_partial_json_gives_expected_value_for_edge_cases(text: str, value: Any) -> None:
    assert partial_json(text) == value


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_partial_json_drops_values_nested_too_deeply(opening: str) -> None:
    value, depth = partial_json(opening * 20_000), 0
    while value:
        value, depth = (value["a"] if isinstance(value, dict) else value[0]), depth + 1
    assert depth == MAX_DEPTH - 1


def test_partial_json_reads_members_after_value_nested_too_deeply() -> None:
    value = partial_json('{"deep": ' + "[" * 1_000 + "]" * 1_000 + ', "after": "wor')
    assert value["after"] == "wor"


def test_partial_json_rejects_too_long_number() -> None:
    assert partial_json("[1, " + "1" * (MAX_WORD + 1) + ", 2]") is None


def test_reader_updates_its_value_in_place() -> None:
    reader = PartialJsonReader()
    reader.feed('{"a": "x')
    value = reader.value
    reader.feed('y", "b": [1, 2')
    assert value is reader.value
    assert value == {"a": "xy", "b": [1]}


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        ('{"a": "', "word "),
        ('{"a": "', "\\u00e9"),
        ("[", "1, "),
        ("", "["),
        ("", '{"a":'),
        ("[", '{"a": 1}, '),
        ("{", '"a": 1, '),
        ("", "1"),
        ("", " "),
    ],
)
def test_reader_takes_linear_time(head: str, piece: str) -> None:
    def reading(size: int) -> Callable[[], None]:
        def work() -> None:
            reader = PartialJsonReader()
            reader.feed(head)
            for _ in range(size):
                reader.feed(piece)
                assert reader.value is None or reader.value is not reader

        return work

    # CPython makes a string longer in place, but not while it is traced: copies cannot be counted here.
    assert not superlinear([reading(size) for size in (20, 80, 320)], 4, copies=False)


@pytest.mark.parametrize("text", ["[", '{"a":', '{"a": "x', '["\\u00e9', "[1, 2, ", "1", '{"a": tru'])
def test_partial_json_takes_linear_time(text: str) -> None:
    works = [partial(partial_json, text * size) for size in (20, 80, 320)]
    assert not superlinear(works, 4, copies=False)


def test_fold_reads_each_delta_of_arguments_once() -> None:
    def folding(size: int) -> Callable[[], None]:
        text = json.dumps({"city": "Paris " * size, "days": list(range(size))})
        call = FunctionCallContent(call_id="c", name="f", arguments="")

        def work() -> None:
            gathered = Fold()
            gathered.feed(BlockStart(index=0, content=call))
            for at in range(0, len(text), 4):
                gathered.feed(ArgumentsDelta(index=0, text=text[at : at + 4]))
                assert gathered.partial_arguments(0) is not None
            assert gathered.partial_arguments(0) == gathered.content(0).partial_arguments == json.loads(text)
            gathered.feed(ArgumentsDelta(index=0, text=" "))
            assert gathered.partial_arguments(0) == json.loads(text)

        return work

    assert not superlinear([folding(size) for size in (10, 40, 160)], 4, copies=False)


def test_fold_partial_arguments_accept_any_block_and_reject_a_missing_block() -> None:
    gathered = Fold()
    gathered.feed(BlockStart(index=0, content=contentmodel.TextContent(text="Hi.")))
    assert gathered.partial_arguments(0) == {}
    gathered.feed(BlockStart(index=1, content=FunctionCallContent(call_id="c", name="f", arguments={"a": 1})))
    assert gathered.partial_arguments(1) == {"a": 1}
    with pytest.raises(contentmodel.StreamError, match="block 2 has not started"):
        gathered.partial_arguments(2)
