"""Input as it arrives: the bytes of a file or of standard input, and streams, whose events are read while they come."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

from contentmodel.cli.errors import BAD_INPUT, Problem, naming, print_problem
from contentmodel.cli.installed import STORED, load, load_all
from contentmodel.content.outcomes import ErrorContent
from contentmodel.convert import detect
from contentmodel.engine.json import parse
from contentmodel.engine.streams.framing import AnyFraming, begins_like_sse
from contentmodel.errors import DecodeError, DetectError
from contentmodel.events import ENDED, MALFORMED, StreamEvent
from contentmodel.response import ChatResponse
from contentmodel.serialize import loads
from contentmodel.unfolding import unfold

if TYPE_CHECKING:
    from contentmodel.engine.streams.decoder import StreamDecoder

STREAM: Final = "stream"
NAMED_BY_API = "--from API"
"""How a command is told what a stream is of."""

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Stream:
    """The bytes of one stream, as they arrive."""

    name: str
    chunks: Iterator[bytes]


@dataclass(frozen=True)
class Turn:
    """A stream that is being read: the events of each piece of it, as it arrives."""

    name: str
    api: str
    batches: Iterable[list[StreamEvent]]


# -- bytes -------------------------------------------------------------------------------------------------------------


def chunks_of(path: str | None) -> Iterator[bytes]:
    """The bytes of a file, or of standard input (None, "-"): what is there, and no waiting for more."""
    if path is None or path == "-":
        with naming("standard input"):
            if sys.stdin is not None:
                buffer = cast(BufferedReader, sys.stdin.buffer)
                while chunk := buffer.read1(_CHUNK):
                    yield chunk
        return
    with open(path, "rb", buffering=0) as file, naming(path):
        while chunk := file.read(_CHUNK):
            yield chunk


def peek(chunks: Iterator[bytes]) -> tuple[bool, Iterator[bytes]]:
    """Whether these bytes begin as server-sent events do, and all of them."""
    head: list[bytes] = []
    for chunk in chunks:
        head.append(chunk)
        is_stream = begins_like_sse(b"".join(head))
        if is_stream is not None:
            return is_stream, chain(head, chunks)
    return False, iter(head)


# -- events ------------------------------------------------------------------------------------------------------------


def read_turn(stream: Stream, api: str | None) -> Turn:
    """The events of a stream, or of the stored response that is to become one.

    Without an `api` it waits for the first event that says whose it is. DetectError where none does; Problem where
    there is nothing at all, or something stored that is no response; DecodeError.
    """
    found, chunks = (api, stream.chunks) if api is not None else _find_api(stream)
    if found == STORED:
        return Turn(stream.name, STORED, [list(unfold(_stored_response(b"".join(chunks))))])
    return Turn(stream.name, found, _batches(load(found).stream_decoder(), chunks))


def _batches(decoder: StreamDecoder, chunks: Iterable[bytes]) -> Iterator[list[StreamEvent]]:
    # To the end of the bytes, though the answer may be over: whoever writes them is not to find a broken pipe.
    for chunk in chunks:
        yield decoder.feed(chunk)
    yield decoder.close()


def _find_api(stream: Stream) -> tuple[str, Iterator[bytes]]:
    """The API that the first telling event names, and the bytes with none missing."""
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
        raise Problem("empty")
    return detect(data, kind=STREAM)[0], iter(seen)


def _api_of(data: bytes) -> str | None:
    """The API of one event; None where it could be anybody's."""
    try:
        value = parse(data)
        return STORED if isinstance(value, dict) and STORED in value else detect(data, kind=STREAM)[0]
    except (DecodeError, DetectError):
        return None


def _stored_response(data: bytes) -> ChatResponse:
    value = loads(data)
    if not isinstance(value, ChatResponse):
        raise Problem("only a stored response becomes a stream", hint="a stream is what an API answers")
    return value


# -- how it ended ------------------------------------------------------------------------------------------------------


def is_broken(turn: Turn, error: ErrorContent | None) -> bool:
    """Whether the bytes were at fault. An error of the provider's is content, and what is stored is whole."""
    return error is not None and error.code in (ENDED, MALFORMED) and turn.api != STORED


def report_broken(turn: Turn, error: ErrorContent, hint: str) -> int:
    """Says what is wrong with a stream, and where. Gives the exit code."""
    print_problem(Problem(f"{turn.name}: {error.message}", hint=hint))
    return BAD_INPUT
