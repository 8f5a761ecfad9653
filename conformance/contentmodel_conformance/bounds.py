"""The law of bounds: work grows linearly with the size of the input, not quadratically."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contentmodel import ChatResponse, ContentModelError
from contentmodel.auditing import audit
from contentmodel.display import count_of
from contentmodel.events import ArgumentsDelta, Fold
from contentmodel.unfolding import unfold
from contentmodel.vocabularies import vocabulary_of
from contentmodel_conformance.differences import Label
from contentmodel_conformance.laws import LawBroken, Refused, crossed, decode, encode
from contentmodel_conformance.streams import encode as encode_stream
from contentmodel_conformance.work import Work, superlinear

RATIO = 4
SMALL, LARGE = 2, 8
"""The smallest of the three sizes of a shape. The others are four and sixteen times as large."""
_PIECE, _DELTA = 64, 5


def bounds(works: Sequence[Work], *, copies: bool = False) -> None:
    """Four times the input costs about four times the work, counted for each line, for every shape of input.

    Each of `works` has an input that is four times as large as the one before. With `copies`, the bytes that each line
    allocates are counted as well.
    """
    growths = superlinear(works, RATIO, copies=copies)
    if growths:
        worst = growths[0]
        line = f"{worst.place[0].replace(chr(92), '/').rpartition('/')[2]}:{worst.place[1]}"
        detail = f"{worst}; {count_of(len(growths), 'line')} in all with a cost beyond what the input allows"
        raise LawBroken("bounds", line, detail, Label(f"at most {worst.limit} {worst.unit}"), worst.after)


def sizes(*, large: bool) -> tuple[int, int, int]:
    """Return the three sizes of a shape."""
    first = LARGE if large else SMALL
    return first, first * RATIO, first * RATIO**2


def payload_work(adapter: Any, other: Any, kind: str, value: Any) -> Work:
    """Return the work on one payload of `adapter`: decode and encode it, convert it to `other` and back, and check it.

    The losses of every step are read. The conversion is audited. If `other` is None, nothing is converted.
    """
    payload = encode(adapter, kind, value).to_json()
    vocabulary = vocabulary_of(adapter)

    def work() -> None:
        # Encode the value itself too: its payload may lack parts of it.
        _read_losses(encode(adapter, kind, value))
        encode(adapter, kind, decode(adapter, kind, payload)).to_json()
        if other is None:
            return
        converted = crossed(adapter, other, kind, payload)
        _read_losses(converted)
        audit(payload, converted, vocabulary)
        written = converted.to_json()
        if kind == "request":
            other.check_request(written)
        _read_losses(crossed(other, adapter, kind, written))

    return work


def _read_losses(encoded: Any) -> None:
    assert encoded.losses is not None


def stream_work(adapter: Any, other: Any, response: ChatResponse) -> Work:
    """Return the work on one stream of `adapter` in small pieces: fold it, and encode it as a stream of `other`.

    The partial arguments of a call are read at each delta. If `other` is None, nothing is encoded.
    """
    raw = encode_stream(adapter, unfold(response, size=_DELTA))[0]
    pieces = [*_pieces(raw)]

    def work() -> None:
        decoder, gathered = adapter.stream_decoder(), Fold()
        encoder = None if other is None else other.stream_encoder()

        def take(events: Sequence[Any]) -> None:
            for event in events:
                gathered.feed(event)
                if isinstance(event, ArgumentsDelta):
                    gathered.partial_arguments(event.index)
                if encoder is not None:
                    encoder.feed(event)

        for piece in pieces:
            take(decoder.feed(piece))
        take(decoder.close())
        assert gathered.response is not None
        if encoder is not None:
            encoder.close()
            _read_losses(encoder)

    return work


def _pieces(raw: bytes) -> Iterator[bytes]:
    """Yield a stream in pieces of different sizes: with one size, all frames of a length would be cut in one way."""
    sizes = random.Random(0)
    start = 0
    while start < len(raw):
        end = start + sizes.randint(1, 2 * _PIECE)
        yield raw[start:end]
        start = end


def works_of(make: Callable[[Any], Work], values: Sequence[Any]) -> list[Work]:
    """Return the work on each of the values. Raises Refused if the adapter cannot encode them."""
    try:
        works = [make(value) for value in values]
        works[0]()
    except ContentModelError as error:
        raise Refused(f"the API cannot represent the value: {error}") from None
    return works
