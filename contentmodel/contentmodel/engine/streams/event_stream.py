"""Split and write the binary frames of Amazon's event streams (application/vnd.amazon.eventstream).

A frame has a prelude (its length, the length of its headers, and a checksum of both), headers, a payload, and a
checksum of all that precedes it. Numbers are big-endian, checksums are CRC-32 (Smithy, "Amazon Event Stream
Specification", seen 2026-11-23).
"""

from __future__ import annotations

import struct
from binascii import crc32

import msgspec

from contentmodel.json import write

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_SHORT = struct.Struct(">H")
SHORTEST = _PRELUDE.size + _CHECKSUM.size
LONGEST = 24 * 2**20
"""The maximum size of a frame in bytes, as in the SDKs of AWS."""
_TEXT, _BYTES = 7, 6
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""The size of a header's value, by its type: flags, numbers, a time and a UUID. Bytes and texts have a length."""


class _Damaged(Exception):
    """A frame is damaged. Its text says how."""


class EventStreamParser:
    """Parse the frames of an event stream. The name of a frame is its event type, exception type or error code.

    After a damaged frame, `fault` describes the damage, and all other bytes are ignored: the start of the next frame is
    unknown.
    """

    def __init__(self) -> None:
        self.fault: str | None = None
        self._bytes = bytearray()
        self._offset = 0
        """The position of the buffered bytes in the stream."""

    def feed(self, data: bytes) -> list[tuple[str | None, bytes]]:
        """Return the frames that these bytes complete."""
        frames: list[tuple[str | None, bytes]] = []
        if self.fault is not None:
            return frames
        self._bytes += data
        at = 0
        try:
            while (size := self._size_at(at)) and at + size <= len(self._bytes):
                frames.append(_read(memoryview(self._bytes)[at : at + size].tobytes()))
                at += size
        except _Damaged as damage:
            self.fault = f"the frame at byte {self._offset + at} of the stream is damaged: {damage}"
        del self._bytes[:at]
        self._offset += at
        return frames

    def end(self) -> list[tuple[str | None, bytes]]:
        """Return no frames: a frame states its length."""
        return []

    def close(self) -> bytes:
        """Return the bytes of an incomplete frame; empty if there are none."""
        return bytes(self._bytes)

    @property
    def is_cut(self) -> bool:
        """True if bytes of a frame are left."""
        return bool(self._bytes)

    def _size_at(self, at: int) -> int:
        """Return the size of the frame at a position of the buffer; 0 if its prelude is incomplete."""
        if len(self._bytes) - at < _PRELUDE.size:
            return 0
        size, headers, checksum = _PRELUDE.unpack_from(self._bytes, at)
        if crc32(self._bytes[at : at + 8]) != checksum:
            raise _Damaged("the checksum of its prelude does not match")
        if not SHORTEST + headers <= size <= LONGEST:
            raise _Damaged(f"it has {size} bytes, {headers} of them headers")
        return int(size)


def _read(frame: bytes) -> tuple[str | None, bytes]:
    """Return the name and the payload of one whole frame."""
    if crc32(frame[:-4]) != _CHECKSUM.unpack(frame[-4:])[0]:
        raise _Damaged("its checksum does not match")
    start = _PRELUDE.size + _PRELUDE.unpack_from(frame)[1]
    try:
        headers = _headers(frame[_PRELUDE.size : start])
    except (struct.error, IndexError, KeyError, UnicodeDecodeError):
        raise _Damaged("its headers are malformed") from None
    kind = headers.get(":message-type")
    if kind == "error":
        return _error(headers.get(":error-code", ""), headers.get(":error-message", ""))
    name = headers.get(":exception-type" if kind == "exception" else ":event-type")
    return _unwrapped(frame[start:-4]) if name == CHUNK else (name or None, frame[start:-4])


TYPE = "__type"
"""The field of an error that names it, as in the bodies of errors."""


def _error(code: str, message: str) -> tuple[str | None, bytes]:
    """Return an error that the service's model does not have: it has headers and no payload (botocore, parsers.py)."""
    return code or None, write({TYPE: code, "message": message})


CHUNK = "chunk"
"""The events of InvokeModelWithResponseStream: each has an event of the model's own API, in base64."""


def _unwrapped(data: bytes) -> tuple[str | None, bytes]:
    try:
        return None, msgspec.json.decode(data, type=_Chunk).event
    except (msgspec.MsgspecError, UnicodeError):
        return CHUNK, data


class _Chunk(msgspec.Struct):
    event: bytes = msgspec.field(name="bytes")


def _headers(data: bytes) -> dict[str, str]:
    """Return the headers that are texts."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]]
        at += 1 + data[at]
        kind, at = data[at], at + 1
        size = _SIZES[kind] if kind not in (_BYTES, _TEXT) else _SHORT.unpack_from(data, at)[0]
        at += 0 if kind in _SIZES else _SHORT.size
        if at + size > len(data):
            raise IndexError
        if kind == _TEXT:
            headers[name.decode()] = data[at : at + size].decode()
        at += size
    return headers


def write_event_stream(data: bytes, name: str | None) -> bytes:
    """Return one frame with a JSON payload. If its name ends in "Exception", it is an exception, else an event."""
    name = name or ""
    kind = "exception" if name.endswith("Exception") else "event"
    return framed(data, {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind})


def write_invoke_stream(data: bytes, name: str | None) -> bytes:
    """Return one frame of InvokeModelWithResponseStream: an event of the model's own API in base64, or an exception."""
    if name is not None and name.endswith("Exception"):
        return write_event_stream(data, name)
    return write_event_stream(write(_Chunk(data)), CHUNK)


def split_event_stream(data: bytes) -> list[bytes]:
    """Split the bytes of a whole stream after each frame."""
    frames: list[bytes] = []
    at = 0
    while len(data) - at >= SHORTEST:
        size = max(_PRELUDE.unpack_from(data, at)[0], SHORTEST)
        frames.append(data[at : at + size])
        at += size
    return [*frames, data[at:]] if at < len(data) else frames


def framed(data: bytes, headers: dict[str, str]) -> bytes:
    """Return one frame with these headers."""
    head = b"".join(_header(name.encode(), value.encode("utf-8", "replace")) for name, value in headers.items())
    lengths = struct.pack(">II", SHORTEST + len(head) + len(data), len(head))
    frame = lengths + _CHECKSUM.pack(crc32(lengths)) + head + data
    return frame + _CHECKSUM.pack(crc32(frame))


def _header(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + bytes([_TEXT]) + _SHORT.pack(len(value)) + value
