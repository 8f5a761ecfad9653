"""Convert expected errors to messages: the location, the problem, and the fix."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer
from rich.text import Text

from contentmodel.cli.console import err, visible
from contentmodel.display import count_of
from contentmodel.errors import ContentModelError, DecodeError, DetectError, UnknownApiError
from contentmodel.losses import LossError

BAD_INPUT = 2
LOSSES_REFUSED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141

NAMED_BY = "--from API and --kind request or --kind response"
"""The options of most commands that name the API and the kind of the input."""

_FAULTS_SHOWN = 50


class Problem(Exception):
    """An error message for the user: one line, `details` below it, and a `hint` with the fix."""

    def __init__(self, message: str, details: tuple[str, ...] = (), hint: str = "", code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.message, self.details, self.hint, self.code = message, details, hint, code


BAD_DOCUMENT = (Problem, ContentModelError, UnicodeError, RecursionError)
"""The errors of one bad document. The other documents of the file can still be read."""


def problem_of(
    error: Exception, location: str = "", options: str = NAMED_BY, named: Callable[[str], str] = str
) -> Problem:
    """Return the message for an error.

    `location` is the file and the line; `options` are the options that name the API and the kind of the input, if any;
    `named` returns the path of a fault with its line.
    """
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, DecodeError):
        problem = _decode_problem(error, options, named)
    elif isinstance(error, DetectError):
        problem = Problem(str(error), hint=options and f"name the API with {options}")
    elif isinstance(error, LossError):
        problem = _loss_problem(error)
    elif isinstance(error, UnknownApiError):
        problem = Problem(str(error), hint="`contentmodel apis` lists the installed APIs")
    elif isinstance(error, OSError):
        return Problem(f"{error.filename or location or 'output'}: {error.strerror or error}", hint=_path_hint(error))
    elif isinstance(error, RecursionError):
        problem = Problem("the JSON is nested too deeply")
    else:
        problem = Problem(str(error))
    message = f"{location}: {problem.message}" if location else problem.message
    return Problem(message, problem.details, problem.hint, problem.code)


def _path_hint(error: OSError) -> str:
    """Return the first step of a path that does not exist, or what to pass instead of the path."""
    if isinstance(error, IsADirectoryError):
        return "name a file, not a folder"
    if isinstance(error, PermissionError):
        return "check the permissions of the file and its folder"
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return ""
    path = Path(error.filename).absolute()
    missing = next((step for step in [*reversed(path.parents), path] if not step.exists()), path)
    return f"check the path: the folder {missing.parent} has no {missing.name}"


def _decode_problem(error: DecodeError, options: str, named: Callable[[str], str]) -> Problem:
    details = tuple(f"{named(fault.path)}: {fault.message}" for fault in error.faults[:_FAULTS_SHOWN])
    if len(error.faults) > _FAULTS_SHOWN:
        details += (f"and {len(error.faults) - _FAULTS_SHOWN} more",)
    first = error.faults[0]
    if first.message.startswith("not JSON"):
        hint = "the text must be UTF-8" if "codec can't decode" in first.message else ""
        return Problem(first.message, hint=hint)
    if error.api == "json":
        return Problem(first.message)
    faults = count_of(len(error.faults), "fault")
    if error.api == "contentmodel":
        return Problem(f"not a contentmodel document: {faults}", details)
    hint = options and f"if it is a payload of another API, name it with {options}"
    return Problem(f"cannot be read as {error.api}: {faults}", details, hint)


def _loss_problem(error: LossError) -> Problem:
    message = f"not converted: the conversion would cost {count_of(len(error.losses), 'loss')}"
    hint = "use --on-loss report to convert it anyway and report the losses"
    return Problem(message, hint=hint, code=LOSSES_REFUSED)


def print_problem(problem: Problem, *, hint: bool = True) -> None:
    """Print a problem on standard error, without breaking its lines."""
    console = err()
    console.print(Text.assemble(("error:", "bold red"), " ", visible(problem.message)), soft_wrap=True)
    for detail in problem.details:
        console.print("  " + visible(detail), soft_wrap=True)
    if problem.hint and hint:
        console.print("  " + visible(problem.hint), style="dim", soft_wrap=True)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Add this name to an OSError that has no file name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


@contextmanager
def reported() -> Iterator[None]:
    """Print expected errors as messages, and exit with their codes."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        raise typer.Exit(BROKEN_PIPE) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (OSError, *BAD_DOCUMENT) as error:
        problem = problem_of(error)
        with suppress(OSError):  # Standard error may be the full device.
            print_problem(problem)
        _silence_failing_stdout()
        raise typer.Exit(problem.code) from None


def _silence_failing_stdout() -> None:
    """Discard unwritten output: otherwise the interpreter fails to flush it at exit, with another exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        _silence_stdout()


def _silence_stdout() -> None:
    # The interpreter flushes standard output again at exit; redirect it so that this succeeds.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
