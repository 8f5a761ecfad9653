"""Framing of bytes: server-sent events as the standard defines them, and concatenated JSON values."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contentmodel
from contentmodel.framing import (
    LINES,
    SSE,
    AnyFraming,
    Frame,
    JsonParser,
    LineParser,
    SseParser,
    write_sse,
)

BOM = b"\xef\xbb\xbf"


# -- server-sent events ------------------------------------------------------------------------------------------------


class Read:
    """The events, the last event id and the retry time that the reference parser read."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.last_event_id: str | None = None
        self.retry: int | None = None


def reference_parse(stream: bytes) -> Read:
    """Parse a complete stream rule by rule as in the standard (html.spec.whatwg.org, 9.2.6)."""
    read = Read()
    # "one leading U+FEFF BYTE ORDER MARK character must be ignored if any are present"
    stream = stream[3:] if stream[:3] == BOM else stream
    lines: list[bytes] = []
    line = bytearray()
    at = 0
    while at < len(stream):
        byte = stream[at : at + 1]
        at += 1
        if byte not in (b"\r", b"\n"):
            line += byte
            continue
        if byte == b"\r" and stream[at : at + 1] == b"\n":
            at += 1
        lines.append(bytes(line))
        line.clear()
    # `line` holds an unfinished line, which is discarded: "any pending data must be discarded".
    data, event = b"", ""
    last_id: str | None = None
    for each in lines:
        if each == b"":
            # "Set the last event ID string of the event source to the value of the last event ID buffer."
            read.last_event_id = last_id
            if data != b"":
                read.frames.append((event or None, data[:-1]))
            data, event = b"", ""
        elif each[:1] == b":":
            continue
        else:
            colon = each.find(b":")
            field, value = (each, b"") if colon < 0 else (each[:colon], each[colon + 1 :])
            if value[:1] == b" ":
                value = value[1:]
            if field == b"event":
                event = value.decode("utf-8", "replace")
            elif field == b"data":
                data += value + b"\n"
            elif field == b"id" and b"\x00" not in value:
                last_id = value.decode("utf-8", "replace")
            elif field == b"retry" and value != b"" and all(48 <= digit <= 57 for digit in value):
                read.retry = int(value)
    return read


def parsed(stream: bytes, cuts: Any = ()) -> tuple[list[Frame], SseParser]:
    parser = SseParser()
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[start:end] for start, end in pairwise(places)]
    return [frame for piece in pieces for frame in parser.feed(piece)], parser


# The examples of the standard (section 9.2.6), and one stream for each rule.
EXAMPLES: dict[str, tuple[bytes, list[tuple[str | None, bytes]]]] = {
    "the stock ticker": (b"data: YHOO\ndata: +2\ndata: 10\n\n", [(None, b"YHOO\n+2\n10")]),
    "four blocks, the last of them not ended": (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
        [(None, b"first event"), (None, b"second event")],
    ),
    "four blocks": (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        [(None, b"first event"), (None, b"second event"), (None, b" third event")],
    ),
    "empty data": (b"data\n\ndata\ndata\n\ndata:", [(None, b""), (None, b"\n")]),
    "with and without a space": (b"data:test\n\ndata: test\n\n", [(None, b"test"), (None, b"test")]),
    "names": (
        b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
        [("add", b"73857293"), ("remove", b"2153"), ("add", b"113411")],
    ),
    "a name belongs to one event": (b"event: a\ndata: 1\n\ndata: 2\n\n", [("a", b"1"), (None, b"2")]),
    "a name without data is forgotten": (b"event: a\n\ndata: 2\n\n", [(None, b"2")]),
    "an empty name is none": (b"event\ndata: 1\n\n", [(None, b"1")]),
    "the last name counts": (b"event: a\nevent: b\ndata: 1\n\n", [("b", b"1")]),
    "a name after the data": (b"data: 1\nevent: a\n\n", [("a", b"1")]),
    "CRLF": (b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", [("a", b"1"), (None, b"2")]),
    "CR": (b"event: a\rdata: 1\r\rdata: 2\r\r", [("a", b"1"), (None, b"2")]),
    "mixed": (b"data: 1\n\r\ndata: 2\r\n\ndata: 3\r\n\rdata: 4\r\r\n", [(None, b"%d" % n) for n in (1, 2, 3, 4)]),
    "a byte order mark": (BOM + b"data: 1\n\n", [(None, b"1")]),
    "two of them": (BOM + BOM + b"data: 1\n\ndata: 2\n\n", [(None, b"2")]),
    "comments": (b": hello\n:\ndata: 1\n: in between\n\n", [(None, b"1")]),
    "nothing but a colon in the data": (b"data: :\n\n", [(None, b":")]),
    "unknown fields": (b"datum: 0\ndata : 0\n data: 0\nDATA: 0\ndata: 1\n\n", [(None, b"1")]),
    "no blank line at the end": (b"data: 1\n\ndata: 2\n", [(None, b"1")]),
    "no line end at the end": (b"data: 1\n\ndata: 2", [(None, b"1")]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_sse_parser_reads_the_examples_of_the_standard_with_any_cuts(name: str) -> None:
    stream, frames = EXAMPLES[name]
    expected = list(frames)
    assert reference_parse(stream).frames == expected
    for cut in range(len(stream) + 1):
        assert parsed(stream, [cut])[0] == expected
    assert parsed(stream, range(len(stream)))[0] == expected


_LINES = st.sampled_from(
    [
        b"data: x",
        b"data:x",
        b"data",
        b"data:",
        b"data:  x ",
        b"data: a:b",
        b'data: {"a": "\xc3\xa9"}',
        b"event: e",
        b"event",
        b"id: 7",
        b"id",
        b"id: a\x00b",
        b"retry: 30",
        b"retry: 3s",
        b"retry:",
        b"retry: +3",
        "retry: ٣".encode(),
        b": comment",
        b":",
        b" data: x",
        b"dat: x",
        b"",
        b"",
        BOM,
        b"\xff",
    ]
)
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
_LINED = st.lists(st.tuples(_LINES, _ENDS), max_size=14).map(lambda pairs: b"".join(a + b for a, b in pairs))
_STREAMS = st.tuples(st.sampled_from([b"", BOM]), _LINED, st.sampled_from([b"", b"data: x", b"\r"])).map(b"".join)


@given(stream=_STREAMS | st.binary(max_size=40), cuts=st.sets(st.integers(1, 80)))
@example(stream=b"data: 1\r\n\r\ndata: 2\r\r", cuts={8, 9, 10, 11})
@example(stream=BOM + b"\ndata: 1\n\n", cuts={1, 2, 3})
def test_sse_parser_agrees_with_reference_parser_for_any_cuts(stream: bytes, cuts: set[int]) -> None:
    expected = reference_parse(stream)
    frames, parser = parsed(stream, cuts)
    assert frames == expected.frames
    assert parser.last_event_id == expected.last_event_id
    assert parser.retry == expected.retry


@given(stream=_STREAMS)
def test_sse_parser_reads_single_bytes_as_the_reference_parser_does(stream: bytes) -> None:
    assert parsed(stream, range(len(stream)))[0] == reference_parse(stream).frames


@given(data=st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), event=st.sampled_from([None, "e", "a:b"]))
def test_sse_parser_reads_what_write_sse_writes(data: str, event: str | None) -> None:
    frame = (event, data.encode())
    assert parsed(write_sse(data.encode(), event))[0] == [frame]


@pytest.mark.parametrize("stream", [b"data: 1\n", b"data: 1", b"data: 0\n\ndata: 1", b"event: e\ndata: 1\n"])
def test_sse_parser_close_returns_an_unfinished_event(stream: bytes) -> None:
    assert b"1" in parsed(stream)[1].close()


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        (b'event: e\ndata: {"a": 1}\n', [("e", b'{"a": 1}')]),
        (b'data: {"a": 1}', [(None, b'{"a": 1}')]),
        (b'data: {"a":\ndata: 1}', [(None, b'{"a":\n1}')]),
        (b'id: 7\r\ndata: {"a": 1}\r\n', [(None, b'{"a": 1}')]),
        (b'data: {"a": "\\ud83d"}', [(None, b'{"a": "\\ud83d"}')]),
        (b'data: {"a": 1}\n\ndata: [DONE]', [(None, b'{"a": 1}'), (None, b"[DONE]")]),
        (b'data: {"a": 1', []),
        (b'data: {"a":\ndata: 1', []),
        (b"data: 12", []),
        (b"event: e\n", []),
        (b'data: {"a": 1}\n\n', [(None, b'{"a": 1}')]),
        (b'{"a": 1}', [(None, b'{"a": 1}')]),
    ],
)
def test_end_completes_an_event_whose_data_are_whole(stream: bytes, frames: list[Frame]) -> None:
    for cut in range(len(stream) + 1):
        framing = AnyFraming()
        found = [*framing.feed(stream[:cut]), *framing.feed(stream[cut:]), *framing.end()]
        assert found == frames
        assert (framing.close() == b"") is (bool(frames) or not stream.strip().startswith(b"data"))


@pytest.mark.parametrize("stream", [b"", b"data: 1\n\n", b"data: 1\r\n\r\n", b": comment\n\n"])
def test_sse_parser_close_returns_nothing_after_a_complete_stream(stream: bytes) -> None:
    assert parsed(stream)[1].close() == b""


# -- JSON values -------------------------------------------------------------------------------------------------------

_TEXTS = st.text(st.sampled_from('a{}[]",\\:\n é✅'), max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.lists(st.dictionaries(_TEXTS, _VALUES, max_size=4), max_size=5)
_INDENTS = st.sampled_from([None, 0, 2])


def cut(data: bytes, places: Any) -> list[bytes]:
    marks = sorted({0, len(data), *(place for place in places if place < len(data))})
    return [data[start:end] for start, end in pairwise(marks)]


def values(framing: Any, pieces: list[bytes]) -> list[Any]:
    return [json.loads(data) for piece in pieces for _, data in framing.feed(piece)]


@given(objects=_OBJECTS, cuts=st.sets(st.integers(1, 300)), end=st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_json_parser_reads_lines_of_json(objects: list[Any], cuts: set[int], end: str) -> None:
    data = "".join(json.dumps(value, ensure_ascii=False) + end for value in objects).encode()
    for framing in (JsonParser(), AnyFraming()):
        assert values(framing, cut(data, cuts)) == objects
        assert framing.close() == b""


@given(objects=_OBJECTS, cuts=st.sets(st.integers(1, 300)), indent=_INDENTS, mark=st.sampled_from([b"", BOM, b" \n"]))
def test_json_parser_reads_elements_of_an_array(
    objects: list[Any], cuts: set[int], indent: int | None, mark: bytes
) -> None:
    data = mark + json.dumps(objects, ensure_ascii=False, indent=indent).encode()
    for pieces in (cut(data, cuts), cut(data, range(len(data)))):
        for framing in (JsonParser(), AnyFraming()):
            assert values(framing, pieces) == objects
            assert framing.close() == b""


@given(objects=_OBJECTS.filter(bool), length=st.integers(1, 300))
def test_json_parser_returns_an_element_when_it_is_complete(objects: list[Any], length: int) -> None:
    data = json.dumps(objects).encode()
    framing = JsonParser()
    elements = values(framing, [data[:length]])
    assert elements == objects[: len(elements)]
    ends = [len(json.dumps(objects[: count + 1])) - 1 for count in range(len(objects))]
    assert len(elements) == sum(end <= length for end in ends)
    assert values(framing, [data[length:]]) == objects[len(elements) :]


def test_json_parser_ignores_brackets_and_quotes_in_strings() -> None:
    value = {"a": '}{][\\"', "b\\": ["\\\\", "\\\\\\"], "c": {"d": '"}'}}
    data = json.dumps([value, value]).encode()
    for place in range(1, len(data)):
        assert values(JsonParser(), [data[:place], data[place:]]) == [value, value]


@pytest.mark.parametrize("junk", [b"null", b"17", b'"text"', b"oops", b"}"])
def test_json_parser_returns_values_that_are_not_objects_as_frames(junk: bytes) -> None:
    framing = JsonParser()
    frames = [data for piece in (b'{"a":1}\n', junk, b"\n", b'{"b":2}\n') for _, data in framing.feed(piece)]
    assert frames == [b'{"a":1}', junk, b'{"b":2}']


@given(data=st.binary(max_size=60), cuts=st.sets(st.integers(1, 60)))
def test_parsers_accept_any_bytes(data: bytes, cuts: set[int]) -> None:
    for framing in (SseParser(), JsonParser(), AnyFraming()):
        for piece in cut(data, cuts):
            framing.feed(piece)
        framing.close()


# -- detection ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        (b'data: {"a":1}\n\n', [b'{"a":1}']),
        (b': comment\n\ndata: {"a":1}\n\n', [b'{"a":1}']),
        (BOM + b'\r\n\r\ndata: {"a":1}\r\n\r\n', [b'{"a":1}']),
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'[{"a":1},\r\n{"b":2}]', [b'{"a":1}', b'{"b":2}']),
        (BOM + b'\n [ {"a":1} ] ', [b'{"a":1}']),
        (b'{"error":{"message":"no"}}', [b'{"error":{"message":"no"}}']),
        # An error of Google in the middle of a stream is a bare object, on one line or several.
        (b'data: {"a":1}\n\n{"error":{}}', [b'{"a":1}', b'{"error":{}}']),
        (b'data: {"a":1}\n\n{"error":{}}\n\n', [b'{"a":1}', b'{"error":{}}']),
        (b'data: {"a":1}\n\n{\n  "error": {\n  }\n}\n', [b'{"a":1}', b'{\n  "error": {\n  }\n}']),
        (b'data: {"a":1}\r\n\r\n{"error":1}\r\n', [b'{"a":1}', b'{"error":1}']),
        (b'data: {"a":1}\n{"error":1}\n', [b'{"error":1}']),
    ],
)
def test_any_framing_detects_the_framing_of_a_stream(stream: bytes, frames: list[bytes]) -> None:
    for pieces in ([stream], cut(stream, range(len(stream)))):
        framing = AnyFraming()
        assert [data for piece in pieces for _, data in framing.feed(piece)] == frames


# -- linear time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("framing", "first", "more"),
    [
        (SseParser, b"data: x", b"y"),
        (SseParser, b"data: x\n", b"data: y\n"),
        (JsonParser, b'{"a":"', b"y"),
        (JsonParser, b'{"a":[', b"[0],"),
        (AnyFraming, b"\n", b" "),
    ],
)
def test_parsers_keep_pieces_without_joining_them(framing: Any, first: bytes, more: bytes) -> None:
    parser = framing()
    parser.feed(first)
    for _ in range(2_000):
        parser.feed(more)
    assert 2_000 <= len(held(parser)) <= 2_003
    assert max(map(len, held(parser))) < 20


def held(parser: Any) -> list[bytes]:
    """Return the pieces that a parser keeps. If it joined them on arrival, they would be few and long."""
    return [piece for name in ("_pieces", "_data", "_first") for piece in getattr(parser, name, ())]


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"])
@pytest.mark.parametrize("begin", [b'data: {"a": "', b'{"a": "', b"event: ", b"data: x\n"])
def test_stream_decoder_ends_turn_if_event_exceeds_max_event_bytes(api: str, begin: bytes) -> None:
    decoder = contentmodel.adapter(api).stream_decoder()
    decoder.max_event_bytes = 10_000
    events = list(decoder.feed(begin))
    piece = b"data: x\n" * 10 if begin.endswith(b"\n") else b"x" * 80
    for _ in range(126):
        events += decoder.feed(piece)
    assert [type(event).__name__ for event in events[-1:]] == ["TurnError"]
    assert events[-1].error.code == "stream_malformed"
    assert "it has more than 10,000 bytes" in events[-1].error.message
    assert decoder.feed(b"x" * 100_000) == []


def test_stream_decoder_ignores_any_number_of_comments() -> None:
    decoder = contentmodel.adapter("anthropic-messages").stream_decoder()
    decoder.max_event_bytes = 1_000
    for _ in range(1_000):
        assert decoder.feed(b": still here\n\n") == []
    assert not decoder.is_over


# -- lines -------------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from([b"{}", b'{"a": "\\n"}', b"[1]", b'{"oops', b"", b" ", b"\xff"]), max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_line_parser_returns_each_line_wherever_bytes_are_cut(lines: list[bytes], end: bytes, cuts: list[int]) -> None:
    raw = b"".join(line + end for line in lines)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    parser = LineParser()
    frames = [frame for start, stop in pairwise(places) for frame in parser.feed(raw[start:stop])]
    assert frames == [(None, line) for line in lines if line.strip()]
    assert parser.end() == []
    assert parser.close() == b""


@pytest.mark.parametrize(
    ("raw", "frames", "rest"),
    [
        (BOM + b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}'], b""),
        (BOM + b'{"a":1}', [b'{"a":1}'], b""),
        (b'{"a":1}\n{"b":{}', [b'{"a":1}'], b'{"b":{}'),
        (b'{"a":"\\ud83d"}', [b'{"a":"\\ud83d"}'], b""),
        (b"[" * 10_000, [], b"[" * 10_000),
        (b"", [], b""),
    ],
)
def test_line_parser_ends_last_line_if_it_is_json(raw: bytes, frames: list[bytes], rest: bytes) -> None:
    parser = LineParser()
    assert [data for _, data in [*parser.feed(raw), *parser.end()]] == frames
    assert parser.close() == rest


@pytest.mark.parametrize("form", [SSE, LINES], ids=["events", "lines"])
def test_stream_format_splits_what_it_writes(form: Any) -> None:
    frames = [form.write(b"{}", None), form.write(b"[1]", "named")]
    assert form.split(b"".join(frames)) == frames
    assert [data for _, data in form.framing().feed(b"".join(frames))] == [b"{}", b"[1]"]


def test_stream_format_ignores_parameters_of_content_type() -> None:
    assert SSE.is_type("Text/Event-Stream; charset=latin-1")
    assert not SSE.is_type("text/event-streams")
    assert LINES.is_type("application/x-ndjson")
    assert not LINES.is_type("")
