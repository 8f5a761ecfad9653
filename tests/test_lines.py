"""JSON Lines as the document of a format: reading, writing and detecting them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentmodel.adapter import as_json
from contentmodel.engine.json import write
from contentmodel.engine.lines import line_number, parse_lines, probe_lines, write_lines
from contentmodel.errors import DecodeError, EncodeError

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PIECES = st.sampled_from(
    [
        '{"a":1}',
        '"text"',
        "[1",
        "nul",
        "NaN",
        "1e999",
        " ",
        "\t",
        "\r",
        "\n",
        "\r\n",
        "\ufeff",
        "\u2028",
        "\x85",
        "\x0b",
    ]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(PIECES).map("".join)


# -- reading and writing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("\n \t\r\n\ufeff\n", []),
        ('{"a": 1}\n[2]\n', [{"a": 1}, [2]]),
        ('{"a": 1}\n[2]', [{"a": 1}, [2]]),
        ('\ufeff{"a": 1}\r\n\r\nnull\r\n', [{"a": 1}, None]),
        ('{"a": 1}\n{"b": "to', [{"a": 1}, '{"b": "to']),
        ('{"a": \n1}\n', ['{"a": ', "1}"]),
        ('"text"\n', ['"text"']),
        ("not JSON\n", ["not JSON"]),
        ('["\u2028", "\x85"]\n', [["\u2028", "\x85"]]),
        ("NaN\n1e999\n", ["NaN", "1e999"]),
        ('"\\ud83d"\n["\\ud83d"]\n', ['"\\ud83d"', ["\ud83d"]]),
    ],
)
def test_parse_lines_returns_values_and_texts_of_lines(text: str, values: list[Any]) -> None:
    assert parse_lines(text) == values
    assert parse_lines(text.encode()) == values
    assert parse_lines(bytearray(text.encode())) == parse_lines(memoryview(text.encode())) == values


def test_line_cut_inside_of_a_character_is_written_as_the_same_bytes() -> None:
    data = '{"a":1}\n{"b":"é'.encode()[:-1]
    assert write_lines(parse_lines(data)) == data + b"\n"


def test_parse_lines_keeps_text_of_line_that_is_nested_too_deeply() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert parse_lines(f'{{"a":1}}\n{deep}\n') == [{"a": 1}, deep]


@given(TEXTS)
def test_written_lines_are_read_as_the_same_values(text: str) -> None:
    values = parse_lines(text.encode())
    written = write_lines(values)
    assert parse_lines(text) == values
    assert parse_lines(written) == values
    assert write_lines(parse_lines(written)) == written


@given(st.lists(JSON_VALUES.filter(lambda value: not isinstance(value, str))))
def test_parse_lines_inverts_write_lines(values: list[Any]) -> None:
    assert parse_lines(write_lines(values)) == values


@given(st.binary() | st.lists(st.binary(max_size=4) | PIECES.map(str.encode)).map(b"".join))
def test_parse_lines_reads_any_bytes(data: bytes) -> None:
    values = parse_lines(data)
    written = write_lines(values)
    assert parse_lines(written) == values
    if all(isinstance(value, str) for value in values) and b"\r" not in data and b"\xef\xbb\xbf" not in data:
        assert written == b"".join(line + b"\n" for line in data.split(b"\n") if line.strip(b" \t"))


@given(TEXTS)
def test_line_number_counts_blank_lines(text: str) -> None:
    lines = text.split("\n")
    for index in range(len(parse_lines(text))):
        number = line_number(text, index)
        assert number is not None
        assert parse_lines(lines[number - 1]) == parse_lines(text)[index : index + 1]
    assert line_number(text, len(parse_lines(text))) is None


def test_probe_lines_reads_only_first_lines() -> None:
    assert probe_lines("1\n\n2\n3\n", 2) == [1, 2]


@pytest.mark.parametrize("values", [["a\nb"], [{"a": object()}], ["\ud83d"]])
def test_write_lines_refuses_values_that_are_no_line(values: list[Any]) -> None:
    with pytest.raises(EncodeError):
        write_lines(values)


# -- payloads ----------------------------------------------------------------------------------------------------------


def test_as_json_reads_lines_of_bytes_text_and_values() -> None:
    values = [{"a": 1}, "torn", [2]]
    data = write_lines(values)
    assert as_json(data, "log", "lines") == as_json(data.decode(), "log", "lines") == as_json(values, "log", "lines")
    assert as_json(write(values), "json") == values


def test_as_json_copies_values_of_lines() -> None:
    line = {"a": [1]}
    copy = as_json([line], "log", "lines")
    copy[0]["a"].append(2)
    assert line == {"a": [1]}


@pytest.mark.parametrize("payload", [{"a": 1}, 3, None])
def test_as_json_refuses_payload_that_is_not_lines(payload: Any) -> None:
    with pytest.raises(DecodeError, match=r"log: expected JSON Lines or an array of their values, got \w+ at \$"):
        as_json(payload, "log", "lines")


def test_as_json_reads_one_json_value_by_default() -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        as_json(b'{"a":1}\n{"a":2}\n', "openai-chat")
    assert as_json(json.dumps([1]), "openai-chat") == [1]
