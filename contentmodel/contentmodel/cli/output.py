"""Output: standard output, or a file that is written atomically."""

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
from contentmodel.json import write

Write = Callable[[bytes], object]


@contextmanager
def open_output(path: str | None, *, at_once: bool = False, source: str | None = None) -> Iterator[Write]:
    """Open a file, or standard output (None, "-"), for writing. A file is created when the block succeeds.

    `at_once` flushes after each write, for a reader of a pipe. A new file has at most the permissions of the
    file `source`.
    """
    if path is None or path == "-":
        yield _write_to_stdout(at_once=at_once)
        sys.stdout.flush()
        return
    target = Path(os.path.realpath(path))
    if is_replaced(path):
        with _atomic(target, path, source) as write_named:
            yield write_named
        return
    # A device or a pipe cannot be replaced by renaming.
    with _opened(target, "wb", path, at_once=at_once) as write_named:
        yield write_named


def open_optional(path: str | None) -> AbstractContextManager[Write | None]:
    """Open an optional output. Yield None if `path` is None."""
    return nullcontext() if path is None else open_output(path)


def is_replaced(path: str | None) -> bool:
    """Return whether an output is a file, which is written atomically."""
    if path is None or path == "-":
        return False
    target = Path(os.path.realpath(path))
    return not target.exists() or target.is_file()


@contextmanager
def _atomic(target: Path, name: str, source: str | None) -> Iterator[Write]:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    draft = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        with _opened(draft, "xb", name) as write_named:
            if source is not None:
                draft.chmod(draft.stat().st_mode & os.stat(source).st_mode | 0o600)
            yield write_named
        with suppress(FileNotFoundError):
            draft.chmod(target.stat().st_mode & 0o7777)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path, mode: str, name: str, *, at_once: bool = False) -> Iterator[Write]:
    """Open a file for writing. Its errors carry `name`, the name that the user gave."""
    try:
        file: IO[bytes] = open(path, mode)  # noqa: SIM115
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
    escape = safe_json if sys.stdout.isatty() else bytes
    if not at_once:
        return lambda body: buffer.write(escape(body))

    def write_at_once(body: bytes) -> None:
        buffer.write(escape(body))
        buffer.flush()

    return write_at_once


def print_json(value: object) -> None:
    """Print a value as one line of JSON on standard output."""
    _write_to_stdout()(layout(write(value), pretty=False))


def check_output(path: str | None, inputs: list[str | None], option: str) -> None:
    """Raise Problem if an output would overwrite an input or another output."""
    if path is None or path == "-":
        return
    for other in inputs:
        if other is not None and other != "-" and _is_same(path, other):
            raise Problem(f"{option}: {path} is already an input or output of this command", hint="name another file")


def _is_same(path: str, other: str) -> bool:
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    return os.path.realpath(path) == os.path.realpath(other) or (
        os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
    )


def layout(body: bytes, *, pretty: bool) -> bytes:
    """Return a JSON text and a newline, indented if `pretty`, else unchanged."""
    if not pretty:
        return body + b"\n"
    try:
        return msgspec.json.format(body, indent=2) + b"\n"
    except (msgspec.MsgspecError, RecursionError):
        return body + b"\n"
