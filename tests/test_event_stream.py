"""The binary frames of event streams: cut anywhere, damaged anywhere."""

from __future__ import annotations

import struct
from binascii import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel.engine.streams.event_stream import (
    EventStreamParser,
    framed,
    split_event_stream,
    write_event_stream,
    write_invoke_stream,
)
from contentmodel.framing import AnyFraming

FRAMES = [(b'{"role":"assistant"}', "messageStart"), (b"{}", "contentBlockStop"), (b'{"message":"No."}', "aException")]
STREAM = b"".join(write_event_stream(data, name) for data, name in FRAMES)


def parsed(pieces: list[bytes]) -> list[tuple[str | None, bytes]]:
    parser = EventStreamParser()
    return [frame for piece in pieces for frame in parser.feed(piece)]


def test_parser_reads_frames_cut_at_any_byte() -> None:
    expected = [(name, data) for data, name in FRAMES]
    for at in range(len(STREAM)):
        assert parsed([STREAM[:at], STREAM[at:]]) == expected
    assert parsed([STREAM[at : at + 1] for at in range(len(STREAM))]) == expected


@given(st.binary(max_size=50), st.text("abc:-", min_size=1, max_size=20))
def test_sdk_reads_what_the_writer_writes(data: bytes, name: str) -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(write_event_stream(data, name))
    (event,) = list(buffer)
    assert event.payload == data
    assert event.headers[":event-type"] == name
    assert parsed([write_event_stream(data, name)]) == [(name, data)]


@pytest.mark.parametrize("at", range(0, len(STREAM), 7))
def test_flipped_bit_is_a_fault_that_names_the_frame(at: int) -> None:
    damaged = bytearray(STREAM)
    damaged[at] ^= 1
    parser = EventStreamParser()
    frames = parser.feed(bytes(damaged))
    start = sum(map(len, split_event_stream(STREAM)[: len(frames)]))
    assert parser.fault is not None
    assert parser.fault.startswith(f"the frame at byte {start} of the stream is damaged: ")
    assert parser.feed(STREAM) == []


def test_damaged_frame_ends_the_turn_with_an_error() -> None:
    whole = write_event_stream(b'{"contentBlockIndex":0,"delta":{"text":"Hel"}}', "contentBlockDelta")
    broken = whole[:-1] + bytes([whole[-1] ^ 1])
    response = contentmodel.fold_stream([whole, broken, whole], "bedrock-converse")
    assert response.text == "Hel"
    assert response.error is not None
    assert (
        response.error.message
        == f"the frame at byte {len(whole)} of the stream is damaged: its checksum does not match"
    )


def test_parser_skips_headers_of_every_type() -> None:
    other = b"".join(
        bytes([1]) + b"h" + bytes([kind]) + value
        for kind, value in [
            *((0, b""), (1, b""), (2, b"x"), (3, b"xx"), (4, b"xxxx"), (5, b"x" * 8)),
            *((6, b"\0\2xx"), (8, b"x" * 8), (9, b"x" * 16)),
        ]
    )
    head = other + framed(b"", {":event-type": "e"})[12:-4]
    lengths = struct.pack(">II", 16 + len(head), len(head))
    frame = lengths + struct.pack(">I", crc32(lengths)) + head
    assert parsed([frame + struct.pack(">I", crc32(frame))]) == [("e", b"")]


def test_malformed_headers_are_a_fault() -> None:
    lengths = struct.pack(">II", 16 + 4, 4)
    frame = lengths + struct.pack(">I", crc32(lengths)) + b"\x01h\x07\xff"
    parser = EventStreamParser()
    assert parser.feed(frame + struct.pack(">I", crc32(frame))) == []
    assert parser.fault is not None
    assert "headers are malformed" in parser.fault


def test_error_frame_has_its_code_and_message() -> None:
    frame = framed(b"", {":message-type": "error", ":error-code": "InternalError", ":error-message": "Oops."})
    assert parsed([frame]) == [("InternalError", b'{"__type":"InternalError","message":"Oops."}')]


@pytest.mark.parametrize(
    ("code", "kind"), [("InternalError", "server"), ("ThrottlingException", "rate_limit"), ("NewFailure", None)]
)
@pytest.mark.parametrize("api", ["bedrock-converse", "anthropic-messages"])
def test_error_frame_in_a_stream_is_an_error(api: str, code: str, kind: str | None) -> None:
    error = framed(b"", {":message-type": "error", ":error-code": code, ":error-message": "Oops."})
    start = write_invoke_stream(b'{"type":"message_start","message":{"role":"assistant","content":[]}}', None)
    begin = start if api == "anthropic-messages" else write_event_stream(b'{"role":"assistant"}', "messageStart")
    response = contentmodel.fold_stream([begin, error], api)
    assert response.error is not None
    assert (response.error.code, response.error.message, response.error.kind) == (code, "Oops.", kind)


def test_error_frame_without_headers_is_an_error() -> None:
    response = contentmodel.fold_stream([framed(b"", {":message-type": "error"})], "bedrock-converse")
    assert response.error is not None


def test_any_framing_recognizes_binary_frames() -> None:
    framing = AnyFraming()
    assert [name for name, _ in framing.feed(STREAM)] == ["messageStart", "contentBlockStop", "aException"]
    assert framing.fault is None
