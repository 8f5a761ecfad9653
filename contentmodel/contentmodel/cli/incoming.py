"""Incremental input: the bytes of a file or of standard input, and the events of a stream."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

from contentmodel.adapter import FoldsStreams
from contentmodel.cli.errors import BAD_INPUT, Problem, naming, print_problem
from contentmodel.cli.installed import STORED, load, load_all
from contentmodel.cli.opening import open_binary
from contentmodel.content.outcomes import ErrorContent
from contentmodel.detecting import begins_stream, detect
from contentmodel.errors import DecodeError, DetectError
from contentmodel.events import ENDED, MALFORMED, StreamEvent
from contentmodel.framing import AnyFraming, Frame
from contentmodel.json import parse, write
from contentmodel.response import ChatResponse
from contentmodel.serialize import loads
from contentmodel.unfolding import unfold

if TYPE_CHECKING:
    from contentmodel.authoring import StreamDecoder

STREAM: Final = "stream"
NAMED_BY_API = "--from API"
"""The option that names the API of a stream."""

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Stream:
    """The bytes of one stream, in chunks."""

    name: str
    chunks: Iterator[bytes]


@dataclass(frozen=True)
class Turn:
    """A stream that is being read: the events of each chunk."""

    name: str
    api: str
    batches: Iterable[list[StreamEvent]]


# -- bytes -------------------------------------------------------------------------------------------------------------


def chunks_of(path: str | None) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input (None, "-"), as soon as they are available."""
    if path is None or path == "-":
        with naming("standard input"):
            if sys.stdin is not None:
                buffer = cast(BufferedReader, sys.stdin.buffer)
                while chunk := buffer.read1(_CHUNK):
                    yield chunk
        return
    with open_binary(path, buffered=False) as file, naming(path):
        while chunk := file.read(_CHUNK):
            yield chunk


def peek(chunks: Iterator[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Return whether the bytes begin like a stream, and an iterator over all bytes."""
    head: list[bytes] = []
    for chunk in chunks:
        head.append(chunk)
        is_stream = begins_stream(b"".join(head))
        if is_stream is not None:
            return is_stream, chain(head, chunks)
    return False, iter(head)


def lines_in(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each line with its end, as soon as it is complete."""
    begun: list[bytes] = []
    for chunk in chunks:
        *ends, incomplete = chunk.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end, b"\n"))
            begun.clear()
        begun.append(incomplete)
    if last := b"".join(begun):
        yield last


def request_in(stream: Stream, api: str | None) -> tuple[bytes | None, Iterator[bytes]]:
    """Return the request that a stream makes, and an iterator over all bytes.

    The request is None unless streams of the API are conversations. If `api` is None, the first event identifies it.
    """
    chunks: Iterator[bytes] = stream.chunks
    if api is None:
        framing, seen = AnyFraming(), []
        frames: list[Frame] = []
        for chunk in stream.chunks:
            seen.append(chunk)
            frames = framing.feed(chunk)
            if frames:
                break
        load_all()
        api = next((_api_of(data) for _, data in frames), None)
        chunks = chain(seen, stream.chunks)
    reader = None if api in (None, STORED) else load(api)
    if not isinstance(reader, FoldsStreams):
        return None, chunks
    with naming(stream.name):
        return write(reader.request_of_stream(b"".join(chunks))), iter(())


# -- events ------------------------------------------------------------------------------------------------------------


def read_turn(stream: Stream, api: str | None) -> Turn:
    """Return the events of a stream, or of a stored response.

    If `api` is None, read up to the first event that identifies the API. Raise DetectError if no event does, Problem
    if the input is empty or a stored document that is not a response, and DecodeError if it is malformed.
    """
    name, chunks = (api, stream.chunks) if api is not None else find_api(stream)
    if name == STORED:
        return Turn(stream.name, STORED, [list(unfold(_stored_response(b"".join(chunks))))])
    return Turn(stream.name, name, _batches(load(name).stream_decoder(), chunks))


def _batches(decoder: StreamDecoder, chunks: Iterable[bytes]) -> Iterator[list[StreamEvent]]:
    # Read all bytes even after the end of the answer, so that the writer does not get a broken pipe.
    for chunk in chunks:
        yield decoder.feed(chunk)
    yield decoder.close()


def find_api(stream: Stream) -> tuple[str, Iterator[bytes]]:
    """Return the API of the first event that identifies one, and an iterator over all bytes."""
    load_all()
    framing, seen = AnyFraming(), []
    for chunk in stream.chunks:
        seen.append(chunk)
        for _, data in framing.feed(chunk):
            api = _api_of(data)
            if api is not None:
                return api, chain(seen, stream.chunks)
    data = b"".join(seen)
    if not data.strip():
        raise Problem("the input is empty")
    return detect(data, kind=STREAM)[0], iter(seen)


def _api_of(data: bytes) -> str | None:
    """Return the API of one event, or None if the event does not identify one."""
    try:
        value = parse(data)
        return STORED if isinstance(value, dict) and STORED in value else detect(data, kind=STREAM)[0]
    except (DecodeError, DetectError):
        return None


def _stored_response(data: bytes) -> ChatResponse:
    value = loads(data)
    if not isinstance(value, ChatResponse):
        raise Problem("only a stored response can become a stream", hint="use the response, or remove --kind stream")
    return value


# -- how it ended ------------------------------------------------------------------------------------------------------


def is_broken(turn: Turn, error: ErrorContent | None) -> bool:
    """Return whether the stream is truncated or malformed. An error event of the provider does not break it."""
    return error is not None and error.code in (ENDED, MALFORMED) and turn.api != STORED


def report_broken(turn: Turn, error: ErrorContent, hint: str) -> int:
    """Print the fault of a stream. Return the exit code."""
    print_problem(Problem(f"{turn.name}: {error.message}", hint=hint))
    return BAD_INPUT
