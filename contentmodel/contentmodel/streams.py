"""Decode, encode and convert streams chunk by chunk. Sync and async.

The decoders and encoders do no I/O. These functions pass them chunks of bytes from any source.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from contentmodel.adapter import adapter
from contentmodel.events import Fold, StreamEvent, TurnComplete, TurnError
from contentmodel.literals import OnLoss, Policies
from contentmodel.losses import Loss, LossError, significant
from contentmodel.names import SHORT
from contentmodel.policies import check_choices, check_policies
from contentmodel.renames import Renames
from contentmodel.usage import Usage

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.reasons import Reason
    from contentmodel.response import ChatResponse


Bytes: TypeAlias = bytes | bytearray | memoryview | str
"""A chunk of a stream, or all of it. A str is encoded as UTF-8."""


def decode_stream(chunks: Iterable[bytes] | Bytes, api: str) -> Iterator[StreamEvent]:
    """Yield the events of a stream as they arrive. The last event is a TurnComplete or a TurnError.

    `chunks` is an iterable of bytes or texts, or the whole stream. Raise TypeError for other types.
    """
    decoder = adapter(api).stream_decoder()
    for chunk in _pieces(chunks):
        yield from decoder.feed(chunk)
    yield from decoder.close()


def _pieces(chunks: Iterable[bytes] | Bytes) -> Iterable[bytes]:
    if isinstance(chunks, Bytes):
        return (as_bytes(chunks),)
    if not isinstance(chunks, Iterable):
        raise TypeError(f"expected a stream: bytes, or an iterable of bytes, got {type(chunks).__name__}")
    return map(as_bytes, chunks)


def as_bytes(chunk: Any) -> bytes:
    """Return a chunk of a stream as bytes. Raise TypeError if it is neither bytes nor text."""
    if isinstance(chunk, str):
        return chunk.encode("utf-8", "surrogatepass")
    if isinstance(chunk, bytes | bytearray | memoryview):
        return bytes(chunk)
    raise TypeError(f"expected a piece of a stream (bytes or text), got {type(chunk).__name__}")


async def adecode_stream(chunks: AsyncIterable[bytes], api: str) -> AsyncIterator[StreamEvent]:
    """Do the same as `decode_stream`, for an async iterator of bytes."""
    decoder = adapter(api).stream_decoder()
    async for chunk in chunks:
        for event in decoder.feed(as_bytes(chunk)):
            yield event
    for event in decoder.close():
        yield event


def fold_stream(chunks: Iterable[bytes] | Bytes, api: str) -> ChatResponse:
    """Return the response of a stream. `error` is set if the stream failed or was interrupted."""
    decoder = adapter(api).stream_decoder(deltas=False)
    accumulated = Fold()
    for chunk in _pieces(chunks):
        for event in decoder.feed(chunk):
            accumulated.feed(event)
    for event in decoder.close():
        accumulated.feed(event)
    return accumulated.response


def encode_stream(events: Iterable[StreamEvent], api: str, policies: Policies | None = None) -> Iterator[bytes]:
    """Yield events encoded as a stream of `api`. If the events stop before the turn ends, the stream has an error."""
    encoder = adapter(api).stream_encoder(check_policies(policies))
    for event in events:
        data = encoder.feed(event)
        if data:
            yield data
    data = encoder.close()
    if data:
        yield data


class StreamConverter:
    """Convert one stream of `source` to a stream of `target`, chunk by chunk.

    `maps` are the `maps` of the converted request that the stream answers: the original ids and tool names are
    restored. `losses` are the losses so far, with paths in the folded response. If `on_loss` is "raise", `feed` and
    `close` raise LossError instead of returning bytes with a significant loss. `model` is the model of the request, for
    sources whose answers do not name it. `each` is called with each restored event, and returns the events to encode.
    """

    def __init__(
        self,
        source: str,
        target: str,
        *,
        maps: Renames | None = None,
        policies: Policies | None = None,
        on_loss: OnLoss = "report",
        model: str | None = None,
        each: Callable[[StreamEvent], Iterable[StreamEvent]] | None = None,
    ) -> None:
        chosen = check_choices(policies, on_loss)
        self.source, self.target = SHORT.get(source, source), SHORT.get(target, target)
        self._reader = adapter(source)
        self._decoder = self._reader.stream_decoder()
        # Encoders ignore UsageDelta, so the decoder need not emit it.
        self._decoder.counts = False
        if model is not None:
            self._decoder.assume_model(model)
        self._encoder = adapter(target).stream_encoder(chosen)
        self._restore = None if maps in (None, Renames()) else maps.restoring(self._reader.restore_arguments)
        self._raises = on_loss == "raise"
        self._each = each
        self.end: TurnComplete | TurnError | None = None
        """The last event of the stream, with the whole response; None before it."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far."""
        losses: tuple[Loss, ...] = self._encoder.losses
        return losses

    def report_left_out(self, choice: int, block: int, content: AIContent, field: str, reason: Reason) -> None:
        """Report that `each` left out a field of a block."""
        self._encoder.report_left_out((choice, block), content, field, reason)

    def feed(self, data: bytes) -> bytes:
        """Convert a chunk of the source. Return bytes of the target's stream, which may be empty."""
        return self._encoded(self._decoder.feed(data))

    def close(self) -> bytes:
        """End the stream and return its last bytes. If the source was interrupted, they contain the target's error.

        Always call this method at the end of the source.
        """
        last: bytes = self._encoded(self._decoder.close()) + self._encoder.close()
        if self._raises:
            self._check()
        return last

    def leave(self) -> Usage | None:
        """End a stream whose rest the client does not read. Return the usage that arrived."""
        if self.end is not None:
            return self.end.response.usage
        ends = [event for event in self._decoder.close() if isinstance(event, TurnComplete | TurnError)]
        return ends[-1].response.usage if ends else None

    def _encoded(self, events: list[StreamEvent]) -> bytes:
        if self._restore is not None:
            events = [restored for event in events for restored in self._restore(event)]
        if self._each is not None:
            events = [changed for event in events for changed in self._each(event)]
        if events and isinstance(events[-1], TurnComplete | TurnError):
            self.end = events[-1]
        feed = self._encoder.feed
        data = feed(events[0]) if len(events) == 1 else b"".join(map(feed, events))
        if self._raises:
            self._check()
        return data

    def _check(self) -> None:
        if serious := significant(self.losses):
            raise LossError(self.target, serious)


def convert_stream(
    chunks: Iterable[bytes] | Bytes,
    *,
    source: str,
    target: str,
    maps: Renames | None = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
) -> Iterator[bytes]:
    """Yield a stream of `source` converted to `target`, chunk by chunk. `StreamConverter` also reports the losses."""
    converter = StreamConverter(source, target, maps=maps, policies=policies, on_loss=on_loss)
    for chunk in _pieces(chunks):
        data = converter.feed(chunk)
        if data:
            yield data
    data = converter.close()
    if data:
        yield data


async def aconvert_stream(
    chunks: AsyncIterable[bytes],
    *,
    source: str,
    target: str,
    maps: Renames | None = None,
    policies: Policies | None = None,
    on_loss: OnLoss = "report",
) -> AsyncIterator[bytes]:
    """Do the same as `convert_stream`, for an async iterator of bytes."""
    converter = StreamConverter(source, target, maps=maps, policies=policies, on_loss=on_loss)
    async for chunk in chunks:
        data = converter.feed(as_bytes(chunk))
        if data:
            yield data
    data = converter.close()
    if data:
        yield data
