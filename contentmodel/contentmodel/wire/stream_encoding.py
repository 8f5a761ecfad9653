"""What the stream encoders of all APIs share: events in, bytes out."""

from __future__ import annotations

from contentmodel.events import StreamEvent
from contentmodel.wire.losses import Loss


class StreamEncoder:
    """Events of one answer in, bytes of the API's stream out. State belongs to one stream."""

    losses: tuple[Loss, ...]

    def feed(self, event: StreamEvent) -> bytes:
        """The bytes that this event makes; they may be none."""
        raise NotImplementedError

    def close(self) -> bytes:
        """The bytes of what is still held back; of an error where the turn never ended."""
        raise NotImplementedError
