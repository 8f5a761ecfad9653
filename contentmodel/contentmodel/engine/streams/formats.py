"""The formats of streams: how the events of an API are written as bytes, and how bytes are split into events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from contentmodel.capabilities import NO_HOST, Host
from contentmodel.engine.streams.event_stream import split_event_stream, write_event_stream, write_invoke_stream
from contentmodel.engine.streams.framing import AnyFraming, Framing, LineParser, begins_like_sse, write_line, write_sse


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
    own: StreamFormat = getattr(adapter, "stream_format", SSE)
    return host.stream_format or own


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
