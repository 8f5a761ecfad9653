"""Every failure that is no defect of this library, as a message: where, what, and what to do next."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer
from rich.text import Text

from contentmodel.cli.console import err, visible
from contentmodel.engine.losses.loss import LossError
from contentmodel.errors import ContentModelError, DecodeError, DetectError, UnknownApiError

BAD_INPUT = 2
LOSSES_REFUSED = 1
INTERRUPTED = 130
BROKEN_PIPE = 141

NAMED_BY = "--from API and --kind request or --kind response"
"""How most commands are told what a document is of."""

_FAULTS_SHOWN = 50


class Problem(Exception):
    """A message for people: one line, `details` below it, and a `hint` at what to do next."""

    def __init__(self, message: str, details: tuple[str, ...] = (), hint: str = "", code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.message, self.details, self.hint, self.code = message, details, hint, code


BAD_DOCUMENT = (Problem, ContentModelError, UnicodeError, RecursionError)
"""What one bad document can raise. The others of its file can be read all the same."""


def problem_of(error: Exception, where: str = "", way: str = NAMED_BY) -> Problem:
    """The message for an error; `where` names the file and the line, `way` how to say what is in it, where one can."""
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, DecodeError):
        problem = _decode_problem(error, way)
    elif isinstance(error, DetectError):
        problem = Problem(str(error), hint=way and f"name it with {way}")
    elif isinstance(error, LossError):
        problem = _loss_problem(error)
    elif isinstance(error, UnknownApiError):
        problem = Problem(str(error), hint="`contentmodel apis` lists what is installed")
    elif isinstance(error, OSError):
        return Problem(f"{error.filename or where or 'output'}: {error.strerror or error}")
    elif isinstance(error, RecursionError):
        problem = Problem("nested too deeply")
    else:
        problem = Problem(str(error))
    message = f"{where}: {problem.message}" if where else problem.message
    return Problem(message, problem.details, problem.hint, problem.code)


def _decode_problem(error: DecodeError, way: str) -> Problem:
    details = tuple(f"{fault.path}: {fault.message}" for fault in error.faults[:_FAULTS_SHOWN])
    if len(error.faults) > _FAULTS_SHOWN:
        details += (f"and {len(error.faults) - _FAULTS_SHOWN} more",)
    first = error.faults[0]
    if first.message.startswith("not JSON"):
        hint = "the text must be UTF-8" if "codec can't decode" in first.message else ""
        return Problem(first.message, hint=hint)
    if error.api == "json":
        return Problem(first.message)
    faults = "1 fault" if len(error.faults) == 1 else f"{len(error.faults)} faults"
    if error.api == "contentmodel":
        return Problem(f"not a contentmodel document: {faults}", details)
    hint = way and f"if it is something else, name it with {way}"
    return Problem(f"cannot be read as {error.api}: {faults}", details, hint)


def _loss_problem(error: LossError) -> Problem:
    count = "1 loss" if len(error.losses) == 1 else f"{len(error.losses)} losses"
    message = f"not converted: it would cost {count}"
    hint = "--on-loss report converts all the same, and says what was lost"
    return Problem(message, hint=hint, code=LOSSES_REFUSED)


def print_problem(problem: Problem, *, hint: bool = True) -> None:
    """On standard error, in lines that are not broken up."""
    console = err()
    console.print(Text.assemble(("error:", "bold red"), " ", visible(problem.message)), soft_wrap=True)
    for detail in problem.details:
        console.print("  " + visible(detail), soft_wrap=True)
    if problem.hint and hint:
        console.print("  " + visible(problem.hint), style="dim", soft_wrap=True)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """An error of the system that names no file names this one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


@contextmanager
def reported() -> Iterator[None]:
    """The one place where errors become messages and exit codes."""
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
        with suppress(OSError):  # Standard error may be what is full.
            print_problem(problem)
        _silence_failing_stdout()
        raise typer.Exit(problem.code) from None


def _silence_failing_stdout() -> None:
    """What could not be written stays in the buffer: the interpreter would fail at it again, with a code of its own."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        _silence_stdout()


def _silence_stdout() -> None:
    # The interpreter flushes once more at its end; it must find somebody who listens.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
