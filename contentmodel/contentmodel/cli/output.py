"""Output: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

import msgspec

from contentmodel.cli.console import safe_json
from contentmodel.cli.errors import Problem, naming
from contentmodel.engine.json import write

Write = Callable[[bytes], object]


@contextmanager
def open_output(path: str | None, *, at_once: bool = False) -> Iterator[Write]:
    """Takes bytes to a file, or to standard output (None, "-"). A file appears when the block ends well.

    `at_once` lets nothing wait: a reader at the other end has everything that was written.
    """
    if path is None or path == "-":
        yield _write_to_stdout(at_once=at_once)
        sys.stdout.flush()
        return
    place = Path(os.path.realpath(path))
    if is_replaced(path):
        with _atomic(place, path) as taking:
            yield taking
        return
    # A device or a pipe: there is nothing to rename over.
    with _opened(place, "wb", path, at_once=at_once) as taking:
        yield taking


def open_optional(path: str | None) -> AbstractContextManager[Write | None]:
    """The same for what is only written where somebody names a place for it."""
    return nullcontext() if path is None else open_output(path)


def is_replaced(path: str | None) -> bool:
    """Whether an output is a file, which is there whole or not at all."""
    if path is None or path == "-":
        return False
    place = Path(os.path.realpath(path))
    return not place.exists() or place.is_file()


@contextmanager
def _atomic(place: Path, name: str) -> Iterator[Write]:
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    draft = place.with_name(f".{place.name}.{uuid4().hex[:8]}.part")
    try:
        with _opened(draft, "xb", name) as taking:
            yield taking
        with suppress(FileNotFoundError):
            draft.chmod(place.stat().st_mode & 0o7777)
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _opened(place: Path, mode: str, name: str, *, at_once: bool = False) -> Iterator[Write]:
    """Takes bytes to an open file. What fails there bears the name that the caller gave."""
    try:
        file: IO[bytes] = open(place, mode)  # noqa: SIM115
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None

    def write_named(body: bytes) -> None:
        with naming(name):
            file.write(body)
            if at_once:
                file.flush()

    try:
        yield write_named
    finally:
        with naming(name):
            file.close()


def _write_to_stdout(*, at_once: bool = False) -> Write:
    if sys.stdout is None:
        raise Problem("standard output is closed", hint="write to a file with -o OUT")
    sys.stdout.flush()
    buffer = sys.stdout.buffer
    written = safe_json if sys.stdout.isatty() else bytes
    if not at_once:
        return lambda body: buffer.write(written(body))

    def write_at_once(body: bytes) -> None:
        buffer.write(written(body))
        buffer.flush()

    return write_at_once


def print_json(value: object) -> None:
    """A value as a line of JSON on standard output."""
    _write_to_stdout()(layout(write(value), pretty=False))


def check_output(path: str | None, inputs: list[str | None], option: str) -> None:
    """Problem where an output would take the place of an input, or of another output."""
    if path is None or path == "-":
        return
    for other in inputs:
        if other is not None and other != "-" and _is_same(path, other):
            raise Problem(f"{option}: {path} is read or written by this command already", hint="name another file")


def _is_same(path: str, other: str) -> bool:
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    return os.path.realpath(path) == os.path.realpath(other) or (
        os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
    )


def layout(body: bytes, *, pretty: bool) -> bytes:
    """A JSON text and a newline, in lines for people or compact."""
    if not pretty:
        return body + b"\n"
    try:
        return msgspec.json.format(body, indent=2) + b"\n"
    except (msgspec.MsgspecError, RecursionError):
        return body + b"\n"
