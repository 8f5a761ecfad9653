"""The review of `record`: the user decides about unknown values that look random, before records are written."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import typer

from contentmodel.cli.console import err, safe_text
from contentmodel.cli.errors import Problem, print_problem
from contentmodel.display import count_of
from contentmodel_conformance.captures.recorder import Files, Recorder
from contentmodel_conformance.captures.review import Unknown

_PLACES = 3
"""The number of places that are listed of each value."""


def reviewed(recorder: Recorder, files: Files, *, yes: bool, scrub: bool, quiet: bool) -> Files | None:
    """Return the records after the review of their unknown values, None if they must not be written.

    `yes` keeps all values and `scrub` replaces them. Otherwise the user decides, if there is a terminal.
    """
    unknown = recorder.unknown(files)
    if not unknown:
        return files
    decided = yes or scrub
    if not (decided and quiet):
        _print_unknown(unknown)
    if decided:
        secrets: list[Unknown] | None = unknown if scrub else []
    elif has_terminal():
        secrets = _asked(unknown)
    else:
        hint = "replace them with --scrub-unknown, some of them with --scrub REGEX, or keep them with --yes"
        print_problem(Problem("nothing was written: unknown values were not reviewed", hint=hint))
        return None
    if secrets:
        recorder.scrub_values(value.value for value in secrets)
        files = recorder.finish()
    return None if secrets is None else files


def has_terminal() -> bool:
    """Return whether the user can see a question and answer it."""
    return sys.stdin.isatty() and err().is_terminal


def _print_unknown(unknown: Iterable[Unknown]) -> None:
    values = list(unknown)
    title = f"{count_of(len(values), 'unknown value')}, possibly a secret, an id or a hash:"
    err().print(safe_text(title, "yellow"), soft_wrap=True)
    for value in values:
        err().print(safe_text(f"  {value.masked}"), soft_wrap=True)
        for record, path in value.places[:_PLACES]:
            err().print(safe_text(f"    {record} {path}", "dim"), soft_wrap=True)
        if len(value.places) > _PLACES:
            err().print(safe_text(f"    and {len(value.places) - _PLACES} more", "dim"), soft_wrap=True)


def _asked(unknown: list[Unknown]) -> list[Unknown] | None:
    """Return the values that the user wants to replace, None if nothing is to be written."""
    answer = _answer("Replace all, keep all, decide on each, or quit? [r/k/d/q]", "rkdq")
    if answer == "d":
        return [value for value in unknown if _answer(f"{value.masked}: replace or keep? [r/k]", "rk") == "r"]
    if answer == "q":
        return None
    return unknown if answer == "r" else []


def _answer(question: str, letters: str) -> str:
    """Return the first letter of the answer, which is one of `letters`. The end of input is the last one."""
    while True:
        answer = str(typer.prompt(question, err=True)).strip().lower()[:1]
        if answer and answer in letters:
            return answer
