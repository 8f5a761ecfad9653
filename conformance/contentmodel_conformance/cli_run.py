"""`contentmodel-conformance run`: run the checks of an adapter; show progress, a table, reports and changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

import contentmodel
from contentmodel.cli.console import err, out
from contentmodel.cli.errors import Problem, naming
from contentmodel_conformance import page, rendering, suite
from contentmodel_conformance.recordings import Recordings
from contentmodel_conformance.report import Change, Report

TARGET_HELP = "An API id, a module or module:attribute with the adapter (or with its test class), or `all`."
PARTNERS = ("openai-chat", "anthropic-messages", "google-generate-content")
"""The APIs that a quick run of one adapter converts from and to: three forms of messages that differ the most."""
TRIES = 12
"""The number of examples of each check in a quick run without a test class, so that it takes less than a minute."""
Target = Annotated[str, typer.Argument(metavar="ADAPTER", help=TARGET_HELP, show_default=False)]
Deep = Annotated[bool, typer.Option("--deep", help="Try twenty times as many examples; takes hours for `all`.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="The seed of the examples. The same seed gives the same examples.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="LAW", help="Run only this law (identity) or check (identity/table). Can be repeated."
    ),
]
Corpus = Annotated[
    Path | None, typer.Option("--corpus", metavar="DIR", help="Also try recorded traffic: a folder of JSON Lines.")
]
Reports = Annotated[
    list[Path] | None,
    typer.Option("--report", metavar="FILE", help="Write the report to FILE: .html, .json or .md. Can be repeated."),
]
Since = Annotated[
    Path | None, typer.Option("--since", metavar="FILE", help="Show the changes since an earlier JSON report.")
]


def run(
    target: Target,
    *,
    deep: Deep = False,
    seed: Seed = 0,
    only: Only = None,
    corpus: Corpus = None,
    report: Reports = None,
    since: Since = None,
) -> None:
    """Check an adapter against every law, and report each violation.

    Laws are tried on payloads generated from the adapter's table and from its SDK's types, on conversations, on streams
    (whole, cut and truncated), on random input, and on recorded traffic. A violation is shown with its JSON path, the
    expected value, the value found, the smallest input that shows it, and the command that repeats the check. A check
    that does not apply to the adapter (without streams, SDK or rules) is skipped, and never counted as passed.

    A run of one adapter converts from and to three other APIs, if its test class has no others. Without a test class,
    it tries few examples and takes less than a minute. With `--deep`, and in a run of `all`, it converts from and to
    every installed API.

    \b
    [bold]Adapters[/bold]
    openai-chat                 an installed adapter, by its API id
    my_package.my_api           a module with the attribute `adapter`
    my_package.my_api:mine      an attribute of a module: an adapter, or a class derived from AdapterConformance
    all                         every installed adapter

    Exit codes: 0 every law holds; 1 a law is violated, or nothing was tried; 2 invalid input or command line.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance run openai-chat
    contentmodel-conformance run my_package.my_api:adapter --report report.html
    contentmodel-conformance run my-api --only identity --only stream-cuts --seed 7
    contentmodel-conformance run all --corpus recordings --report now.json --since before.json
    """
    earlier = None if since is None else _read_report(since)
    for path in report or ():
        _writer(path)
    _check_selection(only)
    recordings = None if corpus is None else Recordings(corpus)
    with _progress() as on_progress:
        result = _run(target, deep=deep, seed=seed, only=only or None, recordings=recordings, on_progress=on_progress)
    changes = [] if earlier is None else result.since(earlier)
    for part in rendering.as_text(result, changes):
        out().print(part, soft_wrap=isinstance(part, Text))
    for path in report or ():
        with naming(str(path)):
            path.write_bytes(_writer(path)(result, changes))
    raise typer.Exit(result.exit_code)


def _run(
    target: str,
    *,
    deep: bool,
    seed: int,
    only: list[str] | None,
    recordings: Recordings | None,
    on_progress: suite.OnProgress,
) -> Report:
    arguments: dict[str, Any] = {
        "deep": deep,
        "seed": seed,
        "only": only,
        "corpus": recordings,
        "progress": on_progress,
    }
    if target == "all":
        return suite.check_adapters(**arguments)
    loaded = _load(target)
    if not deep:
        arguments["others"] = [contentmodel.adapter(api) for api in PARTNERS]
    if not hasattr(loaded, "adapter"):
        arguments["tries"] = None if deep else TRIES
        return suite.check_adapter(loaded, target=target, **arguments)
    adapter = contentmodel.adapter(loaded.adapter) if isinstance(loaded.adapter, str) else loaded.adapter
    if getattr(loaded, "others", None) is not None:
        arguments["others"] = loaded.others
    for name in ("payloads", "limits", "reader"):
        arguments[name] = getattr(loaded, name, None)
    arguments["examples"] = getattr(loaded, "examples", ())
    arguments["partners"] = getattr(loaded, "partners", None)
    return suite.check_adapter(adapter, target=target, **arguments)


def _load(target: str) -> Any:
    """Return what the command line names: an adapter, or an object with the attribute `adapter`."""
    if target in contentmodel.adapters():
        return contentmodel.adapter(target)
    module, _, attribute = target.partition(":")
    # A console script does not have the working directory on its path.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value: Any = import_module(module)
    except ImportError as error:
        apis = ", ".join(sorted(contentmodel.adapters()))
        hint = f"pass an installed API id ({apis}), a module, module:attribute, or all"
        raise Problem(f"no adapter is named {target}: {error}", hint=hint) from None
    if not attribute:
        return _checked(
            getattr(value, "adapter", None), target, "pass a module with the attribute `adapter`, or module:attribute"
        )
    for name in attribute.split("."):
        value = getattr(value, name, None)
    return _checked(value, target, "pass module:attribute, where the attribute is an adapter")


def _checked(value: Any, target: str, hint: str) -> Any:
    if value is None:
        raise Problem(f"{target} has no adapter", hint=hint)
    return value


def _check_selection(only: list[str] | None) -> None:
    try:
        suite.selected(only or None)
    except ValueError as error:
        raise Problem(str(error), hint="pass a law, or law/check as in a report") from None


# -- reports -----------------------------------------------------------------------------------------------------------

_WRITERS: dict[str, Callable[[Report, list[Change]], bytes]] = {
    ".json": lambda report, changes: report.to_json(),
    ".md": lambda report, changes: rendering.as_markdown(report, changes).encode(),
    ".html": lambda report, changes: page.as_page(report, changes).encode(),
}


def _writer(path: Path) -> Callable[[Report, list[Change]], bytes]:
    if path.suffix not in _WRITERS:
        raise Problem(f"a report cannot be written as {path.name}", hint="use a name that ends in .html, .json or .md")
    return _WRITERS[path.suffix]


def _read_report(path: Path) -> Report:
    with naming(str(path)):
        data = path.read_bytes()
    try:
        return Report.from_json(data)
    except ValueError as error:
        raise Problem(f"{path}: {error}", hint="pass a file that --report FILE.json wrote") from None


# -- progress ----------------------------------------------------------------------------------------------------------


@contextmanager
def _progress() -> Iterator[suite.OnProgress]:
    """Show the progress on standard error: a bar if it is a terminal, otherwise a line every few seconds."""
    console = err()
    if not console.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.fields[api]}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", api="", total=None)

        def update(step: suite.Progress) -> None:
            bar.update(task, api=step.api, description=step.check, completed=step.done, total=step.count)
            if step.outcome is not None and step.outcome.status == "failed":
                bar.console.print(f"{step.api} breaks {step.check}", style="red", highlight=False)

        yield update


_PAUSE = 5.0
"""The least time between two lines of progress, in seconds."""


def _lines() -> suite.OnProgress:
    """Return a function that prints a line for a check that fails, and for one that begins long after the last line."""
    shown = time.monotonic()

    def update(step: suite.Progress) -> None:
        nonlocal shown
        now = time.monotonic()
        if step.outcome is not None and step.outcome.status == "failed":
            err().print(f"{step.api} breaks {step.check}", highlight=False)
        elif step.outcome is None and now - shown >= _PAUSE:
            shown = now
            err().print(f"{step.api}: {step.done} of {step.count} checks, now {step.check}", highlight=False)

    return update
