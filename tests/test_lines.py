"""JSON Lines as the document of a format: reading, writing and detecting them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel import adapter, audit, check, convert, detect
from contentmodel.adapter import as_json, form_of
from contentmodel.detecting import identify
from contentmodel.errors import DecodeError, DetectError, EncodeError
from contentmodel.json import write
from contentmodel.lines import PROBED, line_numbers, parse_lines, probe_lines, write_lines
from contentmodel.planning import plan

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
def test_line_numbers_count_blank_lines(text: str) -> None:
    lines = text.split("\n")
    numbers = line_numbers(text)
    assert [value for number in numbers for value in parse_lines(lines[number - 1])] == parse_lines(text)
    assert line_numbers(text.encode()) == numbers


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


def test_as_json_reads_an_object_as_the_only_line() -> None:
    assert as_json({"a": 1}, "log", "lines") == as_json('{"a": 1}', "log", "lines") == [{"a": 1}]


@pytest.mark.parametrize("payload", [3, None, True])
def test_as_json_refuses_payload_that_is_not_lines(payload: Any) -> None:
    with pytest.raises(DecodeError, match=r"log: expected JSON Lines or an array of their values, got \w+ at \$"):
        as_json(payload, "log", "lines")


def test_as_json_reads_one_json_value_by_default() -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        as_json(b'{"a":1}\n{"a":2}\n', "openai-chat")
    assert as_json(json.dumps([1]), "openai-chat") == [1]


# -- a format of lines -------------------------------------------------------------------------------------------------

LOG: list[Any] = [
    {"role": "system", "content": "Be brief.", "time": 1},
    {"role": "user", "content": "What time is it?", "time": 2},
    {
        "role": "assistant",
        "content": [{"type": "call", "id": "c1", "name": "clock", "arguments": {"zone": "utc"}, "mark": 7}],
        "time": 3,
    },
    {"role": "tool", "id": "c1", "content": "12:00", "time": 4},
    {"role": "note", "text": "resumed", "time": 5},
    '{"role": "assistant", "content": "It is no',
]
TEXT = write_lines(LOG)
formed = pytest.mark.parametrize("payload", [TEXT, TEXT.decode(), LOG], ids=["bytes", "text", "values"])


def test_form_of_api_is_that_of_its_adapter(chat_log: Any) -> None:
    assert form_of("chat-log") == "lines"
    assert form_of("openai-chat") == form_of("json") == "json"


@formed
def test_lines_are_detected_as_one_document(chat_log: Any, payload: Any) -> None:
    assert detect(payload) == ("chat-log", "request")
    assert detect(payload, kind="request") == ("chat-log", "request")
    assert identify(payload) == (LOG, "chat-log", "request")
    assert detect(payload, api="chat-log") == ("chat-log", "request")


@formed
def test_conversion_within_a_format_of_lines_keeps_every_line(chat_log: Any, payload: Any) -> None:
    for options in ({}, {"source": "chat-log"}, {"source": "chat-log", "kind": "request"}):
        encoded = convert(payload, target="chat-log", **options)
        assert encoded.form == "lines"
        assert encoded.payload == LOG
        assert encoded.losses == ()
        assert encoded.to_json() == TEXT


@formed
def test_losses_of_lines_have_paths_in_the_list_of_lines(chat_log: Any, payload: Any) -> None:
    encoded = convert(payload, target="openai-chat")
    assert {"$[0].time", "$[2].content[0].mark", "$[4]", "$[5]"} <= {loss.path for loss in encoded.losses}
    assert audit(payload, encoded) == []
    assert encoded.form == "json"
    assert json.loads(encoded.to_json())["messages"][0] == {"role": "system", "content": "Be brief."}


def test_request_is_converted_to_a_format_of_lines(chat_log: Any) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"}]}
    encoded = convert(request, target="chat-log")
    assert encoded.to_json() == b'{"role":"user","content":"Hi."}\n{"role":"assistant","content":"Yes?"}\n'
    assert [loss.path for loss in encoded.losses] == ["$.model"]
    assert audit(request, encoded) == []


def test_request_without_messages_is_an_empty_document(chat_log: Any) -> None:
    assert chat_log.encode_request(contentmodel.ChatRequest()).to_json() == b""
    assert chat_log.decode_request(b"").messages == []


def test_response_is_not_converted_to_a_format_without_responses(chat_log: Any) -> None:
    answer = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Hi."}}]}
    with pytest.raises(EncodeError, match="chat-log has no responses"):
        convert(answer, target="chat-log")
    with pytest.raises(EncodeError, match="chat-log has no streams"):
        convert(b"data: {}\n\n", source="openai-chat", target="chat-log")
    with pytest.raises(DecodeError, match="chat-log has no responses"):
        convert(TEXT, source="chat-log", kind="response", target="openai-chat")
    with pytest.raises(DecodeError, match="chat-log has no streams"):
        convert(b"data: {}\n\n", source="chat-log", target="openai-chat")


@formed
def test_check_and_plan_take_lines(chat_log: Any, payload: Any) -> None:
    assert check(payload) == check(payload, api="chat-log") == []
    plans = plan(payload, targets=["openai-chat", "chat-log"])
    assert [one.target for one in plans] == ["chat-log", "openai-chat"]
    assert plans[0].losses == ()


def test_violations_of_lines_have_paths_in_the_list_of_lines(chat_log: Any) -> None:
    lines = [*LOG[:2], {"role": "user", "content": [{"type": "text", "text": 5}], "time": 3}]
    assert [one.path for one in check(lines)] == ["$[2].content[0].text"]


def test_text_of_one_line_is_a_document(chat_log: Any) -> None:
    line = write_lines(LOG[1:2])
    assert detect(line) == ("chat-log", "request")
    assert convert(line, target="chat-log").to_json() == line
    with pytest.raises(DetectError, match="no API recognizes"):
        detect(LOG[1])


def test_array_in_a_text_is_not_a_document_of_lines(chat_log: Any) -> None:
    array = json.dumps(LOG[:2])
    assert detect(array) == ("openai-chat", "request")
    with pytest.raises(DecodeError, match="not JSON"):
        detect(TEXT, api="openai-chat")


def test_detect_reads_only_first_lines(chat_log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    recognise = type(chat_log).recognises_list
    monkeypatch.setattr(
        type(chat_log), "recognises_list", lambda self, items: seen.append(len(items)) or recognise(self, items)
    )
    many = LOG[1:2] * 5000
    assert detect(write_lines(many)) == detect(many) == ("chat-log", "request")
    assert seen == [PROBED, PROBED]


def test_lines_that_are_payloads_are_not_one_document(chat_log: Any) -> None:
    payloads = [{"model": "m", "messages": [{"role": "user", "content": "Hi."}]}] * 3
    formats = sorted(name for name, one in contentmodel.adapters().items() if getattr(one, "form", "json") == "lines")
    assert "chat-log" in formats
    expected = rf"looked at 3 lines\): pass each line by itself, or .*, one of {', '.join(formats)}$"
    with pytest.raises(DetectError, match=expected):
        detect(write_lines(payloads))
    with pytest.raises(DetectError, match=f"looked at the first {PROBED} lines"):
        convert(write_lines(payloads * 100), target="openai-chat")


@pytest.mark.parametrize("text", ["", "{", "not JSON", '{"a": 1,\n "b": }\n', "[1,\n2"])
def test_text_that_is_not_lines_is_reported_as_invalid_json(chat_log: Any, text: str) -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        detect(text)


def test_adapters_recognise_no_messages_in_texts_of_lines() -> None:
    for name, reader in contentmodel.adapters().items():
        if hasattr(reader, "recognises_list"):
            assert reader.recognises_list(["torn", {"a": 1}, 3, None]) == 0, name


def test_model_of_lines_is_stored_with_its_losses(chat_log: Any) -> None:
    request = adapter("chat-log").decode_request(TEXT)
    stored = contentmodel.loads(contentmodel.dumps(request))
    assert adapter("chat-log").encode_request(stored).to_json() == TEXT
