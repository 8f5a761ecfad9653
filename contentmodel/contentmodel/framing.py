"""Split the bytes of a stream into frames: server-sent events, a sequence of JSON values, lines, or binary frames.

Sans-I/O, in time linear in the input. The content of frames is not interpreted. The formats of streams are at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from contentmodel.capabilities import NO_HOST, Host
from contentmodel.engine.streams.event_stream import (
    EventStreamParser,
    split_event_stream,
    write_event_stream,
    write_invoke_stream,
)
from contentmodel.errors import DecodeError
from contentmodel.json import parse, whole_number

Frame = tuple[str | None, bytes]
"""One event of a stream: its name or None, and its data, unparsed."""


class Framing(Protocol):
    """A splitter of bytes into frames."""

    fault: str | None = None
    """The damage that makes the rest of the stream unreadable; None if there is none."""

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that these bytes complete."""
        ...

    def end(self) -> list[Frame]:
        """Return the frames that the end of the input completes."""
        return []

    def close(self) -> bytes:
        """Return the bytes of an incomplete frame; empty if there are none."""
        ...

    @property
    def is_cut(self) -> bool:
        """True if the input ended inside of a frame whose length is known. Text may end without its last line break."""
        return False


BOM = b"\xef\xbb\xbf"
DONE = b"[DONE]"
"""The data of the marker that ends the streams of many APIs."""


class SseParser(Framing):
    """Parse server-sent events as the HTML standard defines them (section 9.2.6, read November 2026).

    Lines end in LF, CR or CRLF. A byte order mark at the start, comments and unknown fields are skipped. The lines of
    `data` are joined. An event without data is dropped. So is the last one if the blank line at its end is missing,
    except if its data are complete, as google-genai reads it (3.4, _api_client.py: HttpResponse): some recordings and
    proxies trim the end. `last_event_id` is the id of the last complete event, `retry` (milliseconds) the latest of the
    stream.
    """

    def __init__(self) -> None:
        self.last_event_id: str | None = None
        self._id: str | None = None
        self.retry: int | None = None
        self._pieces: list[bytes] = []
        self._name: str | None = None
        self._head, self._head_size = b"data: ", 6
        self._event: str | None = None
        self._data: list[bytes] = []
        self._has_begun = False
        self._skips_lf = False

    def feed(self, data: bytes) -> list[Frame]:
        if not self._has_begun:
            data = self._begin(data)
        if self._skips_lf and data:
            self._skips_lf = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            # A CR at the end ends its line at once. If an LF comes next, it belongs to that CR.
            self._skips_lf = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            if data:
                self._pieces.append(data)
            return []
        if self._pieces:
            data = b"".join([*self._pieces, data])
        frames: list[Frame] = []
        *blocks, incomplete = data.split(b"\n\n")
        is_fresh = not self._data and self._event is None
        head, size, name = self._head, self._head_size, self._name
        for block in blocks:
            # The usual event: one line of data, with the same name as the last event, if any.
            if is_fresh and block.startswith(head):
                data = block[size:]
                if b"\n" not in data:
                    frames.append((name, data))
                    continue
            named, _, data = block.partition(b"\n")
            if is_fresh and named.startswith(b"event: ") and data.startswith(b"data: ") and b"\n" not in data:
                # The same with another name.
                self._name = named[7:].decode("utf-8", "replace") or None
                self._head, self._head_size = named + b"\ndata: ", len(named) + 7
                frames.append((self._name, data[6:]))
            else:
                self._read_lines(block, frames)
                self._dispatch(frames)
            is_fresh, head, size, name = True, self._head, self._head_size, self._name
        lines, newline, last = incomplete.rpartition(b"\n")
        if newline:
            self._read_lines(lines, frames)
        self._pieces = [last] if last else []
        return frames

    def end(self) -> list[Frame]:
        frames: list[Frame] = []
        field, _, value = b"".join(self._pieces).partition(b":")
        data = [*self._data, value.removeprefix(b" ")] if field == b"data" else self._data
        if _is_whole(b"\n".join(data)):
            self._data, self._pieces = data, []
            self._dispatch(frames)
        return frames

    def close(self) -> bytes:
        return b"\n".join([*self._data, *self._pieces])

    def _begin(self, data: bytes) -> bytes:
        data = b"".join([*self._pieces, data])
        self._pieces = []
        if len(data) < len(BOM) and BOM.startswith(data):
            self._pieces = [data] if data else []
            return b""
        self._has_begun = True
        return data.removeprefix(BOM)

    def _read_lines(self, lines: bytes, frames: list[Frame]) -> None:
        for line in lines.split(b"\n"):
            if line:
                self._read_line(line)
            else:
                self._dispatch(frames)

    def _read_line(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and (retry := whole_number(value.decode("latin-1"), 18)) is not None:
            self.retry = retry

    def _dispatch(self, frames: list[Frame]) -> None:
        # Set at the blank line only: an event that is cut off has not been received.
        self.last_event_id = self._id
        if self._data:
            self._name = self._event or None
            frames.append((self._name, b"\n".join(self._data)))
            self._data = []
            name = b"" if self._name is None else b"event: %b\n" % self._name.encode()
            self._head = name + b"data: "
            self._head_size = len(self._head)
        self._event = None


def _is_whole(data: bytes) -> bool:
    """Return whether the data of an event are complete: a JSON object, or the marker of the end."""
    return data == DONE or (data.startswith(b"{") and _is_json(data))


def _is_json(data: bytes) -> bool:
    try:
        parse(data)
    except DecodeError:
        return False
    return True


_STRUCTURE = re.compile(rb'["\\{}\[\]]')
_BLANK = b" \t\r\n,"


class JsonParser(Framing):
    """Split a sequence of JSON values into frames: lines (NDJSON), or the elements of one array, as they complete.

    Values are objects. Anything else between them is a separate frame, so that the consumer reports the fault.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._has_begun = False

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        start = at = 0
        while True:
            if self._depth == 0:
                start = at = self._skip(data, at, frames)
                if at >= len(data):
                    return frames
            end = self._scan(data, at)
            if end is None:
                self._pieces.append(data[start:])
                return frames
            self._pieces.append(data[start:end])
            frames.append((None, b"".join(self._pieces)))
            self._pieces = []
            start = at = end

    def close(self) -> bytes:
        return b"".join(self._pieces)

    def _skip(self, data: bytes, at: int, frames: list[Frame]) -> int:
        """Return the position of the next object. The brackets of an enclosing array are skipped."""
        while at < len(data):
            byte = data[at : at + 1]
            if byte == b"{":
                return at
            if byte in b"[]" or byte in _BLANK or (not self._has_begun and byte in BOM):
                at += 1
                continue
            end = at
            while end < len(data) and data[end : end + 1] not in (b"{", b"\n", b","):
                end += 1
            frames.append((None, data[at:end]))
            at = end
        return at

    def _scan(self, data: bytes, at: int) -> int | None:
        """Return the end of the open object, or None if it is incomplete."""
        self._has_begun = True
        if self._escaped and at < len(data):
            self._escaped = False
            at += 1
        while match := _STRUCTURE.search(data, at):
            byte, at = match.group(), match.end()
            if byte == b"\\":
                if self._in_string:
                    if at == len(data):
                        self._escaped = True
                    at += 1
            elif byte == b'"':
                self._in_string = not self._in_string
            elif self._in_string:
                continue
            elif byte in b"{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 0:
                    return at
        return None


class _EventsThenJson(SseParser):
    """Parse server-sent events, and JSON values from the first line on that begins with a brace.

    Google reports an error in the middle of a stream as a bare object, without `data:` and on several lines. Its SDKs
    read it so (google-genai 3.4, _api_client.py: HttpResponse).
    """

    _json: JsonParser | None = None

    def feed(self, data: bytes) -> list[Frame]:
        if self._json is not None:
            return self._json.feed(data)
        frames = super().feed(data)
        if self._pieces and (self._json is not None or self._pieces[0].startswith(b"{")):
            self._json = self._json or JsonParser()
            pieces, self._pieces = self._pieces, []
            frames += self._json.feed(b"".join(pieces))
        return frames

    def end(self) -> list[Frame]:
        return super().end() if self._json is None else []

    def close(self) -> bytes:
        return super().close() if self._json is None else self._json.close()

    def _read_lines(self, lines: bytes, frames: list[Frame]) -> None:
        if self._json is None:
            start = 0 if lines.startswith(b"{") else lines.find(b"\n{") + 1
            if start == 0 and not lines.startswith(b"{"):
                super()._read_lines(lines, frames)
                return
            if start:
                super()._read_lines(lines[: start - 1], frames)
            self._json = JsonParser()
            lines = lines[start:]
        frames += self._json.feed(lines + b"\n")


class AnyFraming(Framing):
    """Split server-sent events, JSON values or the frames of an event stream, depending on the first byte."""

    def __init__(self) -> None:
        self._framing: Framing | None = None
        self._first: list[bytes] = []

    def feed(self, data: bytes) -> list[Frame]:
        framing = self._framing
        if framing is not None:
            frames = framing.feed(data)
            self.fault = framing.fault
            return frames
        self._first.append(data)
        if not data.strip():
            return []
        begun = b"".join(self._first)
        text = begun.removeprefix(BOM).lstrip()
        if not text or BOM.startswith(begun):
            return []
        # A frame of an event stream begins with numbers: its prelude has control characters, which text does not begin
        # with, also if its length is damaged.
        binary = not 0x20 <= text[0] < 0x7F or b"\0" in begun[:12]
        self._framing = EventStreamParser() if binary else JsonParser() if text[:1] in b"{[" else _EventsThenJson()
        return self.feed(begun)

    def end(self) -> list[Frame]:
        return [] if self._framing is None else self._framing.end()

    def close(self) -> bytes:
        return self._framing.close() if self._framing is not None else b"".join(self._first).strip()

    @property
    def is_cut(self) -> bool:
        return self._framing is not None and self._framing.is_cut


class LineParser(Framing):
    """Split lines into frames, without blank lines. The last line needs no line break if it is JSON."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._has_begun = False

    def feed(self, data: bytes) -> list[Frame]:
        *lines, incomplete = data.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._pieces, lines[0]])
            self._pieces = []
        if incomplete:
            self._pieces.append(incomplete)
        return [(None, line) for line in map(self._stripped, lines) if line]

    def _stripped(self, line: bytes) -> bytes:
        if not self._has_begun:
            self._has_begun = True
            line = line.removeprefix(BOM)
        return line.strip()

    def end(self) -> list[Frame]:
        line = self.close()
        if not _is_json(line):
            return []
        self._pieces = []
        return [(None, line)]

    def close(self) -> bytes:
        line = b"".join(self._pieces)
        return (line if self._has_begun else line.removeprefix(BOM)).strip()


_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":", b"\0")


def begins_like_sse(data: bytes) -> bool | None:
    """Return whether this is the start of a stream of events; None if it is too short to decide.

    Server-sent events and event streams begin in ways in which JSON does not.
    """
    text = data[:64].removeprefix(BOM).lstrip(b" \t\r\n")
    if text.startswith(_STARTS):
        return True
    may_be = BOM.startswith(data) or any(start.startswith(text) for start in _STARTS)
    return None if may_be and len(data) < 64 else False


def write_sse(data: bytes, event: str | None = None) -> bytes:
    """Return one server-sent event. `data` must have no line breaks.

    An event name that does not fit on a line (line breaks, lone surrogates) is dropped.
    """
    if event is None or not event.isprintable():
        return b"data: %b\n\n" % data
    return b"event: %b\ndata: %b\n\n" % (event.encode(), data)


def write_line(data: bytes, event: str | None = None) -> bytes:
    """Return one line. `data` must have no line breaks. Lines have no event names."""
    return data + b"\n"


class StreamFormat(msgspec.Struct, frozen=True):
    """The byte format of a stream.

    - `media_type`: the content type of a body with such events.
    - `framing`: returns an object that splits the bytes of one stream into frames.
    - `write`: returns the bytes of one event, given its data and its name (or None).
    - `split`: splits the bytes of a whole stream after each event.
    - `begins`: returns whether bytes are the start of a stream in this format; None if they are too few to decide.
    - `is_text`: whether the bytes of an event are its data with other bytes around them that do not depend on the data.
    """

    media_type: str
    framing: Callable[[], Framing]
    write: Callable[[bytes, str | None], bytes]
    split: Callable[[bytes], list[bytes]]
    begins: Callable[[bytes], bool | None]
    is_text: bool = True

    def is_type(self, content_type: str) -> bool:
        """Return whether the content type of a body is that of this format. Parameters are ignored."""
        return _essence(content_type) == _essence(self.media_type)


def stream_format_of(adapter: Any, policies: Mapping[str, str] | None = None) -> StreamFormat:
    """Return the stream format of an adapter, at the host that the policies name.

    An adapter without the attribute `stream_format` has server-sent events.
    """
    host: Host = adapter.host(None, policies) if policies and hasattr(adapter, "host") else NO_HOST
    usual: StreamFormat = getattr(adapter, "stream_format", SSE)
    return host.stream_format or usual


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _split_after(end: bytes) -> Callable[[bytes], list[bytes]]:
    after = re.compile(b"(?<=%b)" % re.escape(end))
    return lambda data: [part for part in after.split(data) if part]


def _never(data: bytes) -> bool:
    # Lines of JSON are a stream only if an adapter recognizes the first one: see `detecting.is_stream`.
    return False


def _begins_with_length(data: bytes) -> bool | None:
    """Return whether this is the start of a binary frame: the high byte of its length, which no text begins with."""
    return data.startswith(b"\0") if data else None


SSE = StreamFormat("text/event-stream; charset=utf-8", AnyFraming, write_sse, _split_after(b"\n\n"), begins_like_sse)
"""Server-sent events. JSON values are read as well: Gemini streams an array, and reports errors as bare objects."""

LINES = StreamFormat("application/x-ndjson", LineParser, write_line, _split_after(b"\n"), _never)
"""JSON Lines: one event per line, without names."""

EVENT_STREAM = StreamFormat(
    "application/vnd.amazon.eventstream",
    AnyFraming,
    write_event_stream,
    split_event_stream,
    _begins_with_length,
    is_text=False,
)
"""Binary frames with names and checksums."""

INVOKE_STREAM = StreamFormat(
    EVENT_STREAM.media_type, AnyFraming, write_invoke_stream, split_event_stream, _begins_with_length, is_text=False
)
"""The binary frames of InvokeModelWithResponseStream: each contains an event of the model's own API."""
