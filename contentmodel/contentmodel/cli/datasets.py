"""The subcommands of `contentmodel datasets`."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from contentmodel.batches import FORMATS, batch_format, check_lines
from contentmodel.cli.check import VIOLATIONS_FOUND, AsJson, For, print_count, print_violation
from contentmodel.cli.console import err, out, safe_text, visible
from contentmodel.cli.convert import Policies, Raising
from contentmodel.cli.errors import INTERRUPTED, Problem
from contentmodel.cli.installed import api_option, target_option
from contentmodel.cli.losses import LOSS_STYLES
from contentmodel.cli.options import Kind, Model, OnLoss, parse_policies
from contentmodel.cli.output import print_json
from contentmodel.display import count_of
from contentmodel.reasons import REASONS

if TYPE_CHECKING:
    from contentmodel.datasets import Progress as JobProgress
    from contentmodel.datasets import Report, Settings
    from contentmodel.rules import Violation

ROWS_FAILED = 1
_CODES_SHOWN = 12


class Engines(StrEnum):
    """The engines of jobs."""

    local = "local"
    ray = "ray"


class Formats(StrEnum):
    """The formats of results."""

    parquet = "parquet"
    jsonl = "jsonl"


class LossLists(StrEnum):
    """The forms of the column of losses."""

    counts = "counts"
    all = "all"


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="IN...",
        help="Files, folders or glob patterns: Parquet, and JSON Lines (also .gz, .zst, .bz2, .lz4).",
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT_DIR",
        help="The folder of the results. If it has a stopped job with the same settings, the job continues.",
    ),
]
To = Annotated[str, typer.Option("--to", metavar="API", help="The target API, or a format of batch files.")]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="API", help="The API of the rows, or a format of batch files. Default: detected."),
]
Column = Annotated[
    str | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="The column of the payloads, or the field of each line. Default: the only column, if it has text or "
        "structs; else the whole row or line.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="NAME",
        help="The column or field that identifies a row. The results keep no other column of the input.",
    ),
]
EngineName = Annotated[
    Engines,
    typer.Option("--engine", help="local: processes of this machine. ray: Ray Data, which needs the extra `ray`."),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="ADDRESS", help="The address of a Ray cluster. Default: this machine."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="The number of workers. Default: one for each core.")
]
ShardRows = Annotated[int, typer.Option("--shard-rows", metavar="N", min=1, help="The number of rows of a shard.")]
Format = Annotated[
    Formats | None,
    typer.Option("--format", help="The format of the results. Default: parquet if an input is Parquet, else jsonl."),
]
LossList = Annotated[
    LossLists, typer.Option("--losses", help="The losses of each row of Parquet: counts by code, or all with paths.")
]
UndoMaps = Annotated[
    str | None,
    typer.Option(
        "--undo-maps",
        metavar="OUT_DIR",
        help="The output folder of the job that converted the requests. Restores their ids and tool names in answers.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the progress bar and the report.")]


def datasets_command() -> None:
    """Convert, check and measure millions of payloads, in shards. Needs the extra `arrow`.

    Each row has one payload. A bad row becomes an error in its result; it never stops the job. The results are in
    OUT_DIR/data, the rows that failed in OUT_DIR/errors, and the sums in OUT_DIR/report.json.

    A job that was stopped or killed continues with the same command: no row is missing or repeated.
    """


def convert(
    inputs: Inputs,
    *,
    target: To,
    output: Output,
    api: From = None,
    kind: Kind = None,
    column: Column = None,
    key: Key = None,
    losses: LossList = LossLists.counts,
    on_loss: Raising = OnLoss.report,
    policy: Policies = None,
    model: Model = None,
    undo_maps: UndoMaps = None,
    engine: EngineName = Engines.local,
    address: Address = None,
    workers: Workers = None,
    shard_rows: ShardRows = 10_000,
    format: Format = None,
    quiet: Quiet = False,
) -> None:
    """Convert each row of files from one API to another. Report the losses by code, model and day.

    Results in Parquet have the columns of the input (or --key), payload (JSON text), losses, error and api. Results in
    JSON Lines are the payloads of the rows that did not fail; with --key, objects with the key and the payload.

    --from and --to may both be formats of batch files: openai-batch, openai-responses-batch, anthropic-batch,
    gemini-batch, vertex-batch, bedrock-batch, mistral-batch. The keys of the requests and results are kept. If only
    --to is one, each row is a request: its key is that of --key, or the numbers of its file and row (f0-r1).

    Replaced ids and tool names of requests are kept in OUT_DIR/maps: --undo-maps restores them in the answers.

    Exit codes: 0 all rows converted; 1 some rows failed; 2 bad command line, or the job stopped.

    \b
    [bold]Examples[/bold]
    contentmodel datasets convert logs/ --to anthropic-messages -o out
    contentmodel datasets convert 'logs/*.jsonl.gz' --to openai-chat -o out --format parquet
    contentmodel datasets convert rows.parquet --column request --key id --to openai-responses -o out
    contentmodel datasets convert logs/ --to mistral-chat -o out --engine ray --address auto
    contentmodel datasets convert in.jsonl --from openai-batch --to anthropic-batch --model claude-opus-5 -o out
    contentmodel datasets convert results.jsonl --from anthropic-batch --to openai-batch --undo-maps out -o answers
    """
    if target not in FORMATS:
        target, model = target_option(target, "--to", model, stored=False)
    if api not in FORMATS:
        api = api_option(api, "--from", stored=False)
    options = {
        "target": target,
        "source": api,
        "kind": None if kind is None else kind.value,
        "losses": losses.value,
        "on_loss": on_loss.value,
        "model": model,
        "policies": parse_policies(policy or []) or None,
        "maps": None if undo_maps is None else os.path.abspath(undo_maps),
    }
    settings = _settings("convert", options, inputs, column, key, shard_rows, format)
    _run(inputs, output, settings, engine, workers, address, quiet=quiet, doing=f"converted to {target}")


def check(
    inputs: Inputs,
    *,
    output: Output,
    api: For = None,
    column: Column = None,
    key: Key = None,
    policy: Policies = None,
    model: Model = None,
    engine: EngineName = Engines.local,
    address: Address = None,
    workers: Workers = None,
    shard_rows: ShardRows = 10_000,
    format: Format = None,
    quiet: Quiet = False,
) -> None:
    """Check each request of files against the rules of an API.

    The results have the columns of the input (or --key), violations, error and api. --for may be a format of batch
    files: the requests in the lines are checked.

    Exit codes: 0 no violations; 1 violations, or some rows failed; 2 bad command line, or the job stopped.

    \b
    [bold]Examples[/bold]
    contentmodel datasets check logs/ --for openai-chat -o checked
    """
    if api not in FORMATS:
        api, model = target_option(api, "--for", model, stored=False)
    options = {"source": api, "model": model, "policies": parse_policies(policy or []) or None}
    settings = _settings("check", options, inputs, column, key, shard_rows, format)
    _run(inputs, output, settings, engine, workers, address, quiet=quiet, doing="checked", counts_fail=True)


def stats(
    inputs: Inputs,
    *,
    output: Output,
    api: From = None,
    kind: Kind = None,
    column: Column = None,
    key: Key = None,
    engine: EngineName = Engines.local,
    address: Address = None,
    workers: Workers = None,
    shard_rows: ShardRows = 10_000,
    format: Format = None,
    quiet: Quiet = False,
) -> None:
    """Count messages, turns, tools, calls, tokens and types of contents of each row.

    The results have the columns of the input (or --key), the counts, error and api.

    Exit codes: 0 all rows counted; 1 some rows failed; 2 bad command line, or the job stopped.

    \b
    [bold]Examples[/bold]
    contentmodel datasets stats logs/ -o stats --format parquet
    """
    api = api_option(api, "--from", stored=False)
    options = {"source": api, "kind": None if kind is None else kind.value}
    settings = _settings("stats", options, inputs, column, key, shard_rows, format)
    _run(inputs, output, settings, engine, workers, address, quiet=quiet, doing="counted")


def limits(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Batch files of requests, folders, or glob patterns. - is standard input."
        ),
    ],
    *,
    format: Annotated[str, typer.Option("--for", metavar="FORMAT", help="The format of batch files.")],
    as_json: AsJson = False,
) -> None:
    """Check batch files against the limits of a provider: lines, bytes, keys, and models.

    Each line must be a request of the format. `datasets check` checks the requests themselves.

    Exit codes: 0 no violations; 1 violations; 2 bad command line, or a file cannot be read.

    \b
    [bold]Examples[/bold]
    contentmodel datasets limits requests.jsonl --for openai-batch
    contentmodel datasets limits out/data --for anthropic-batch
    """
    with _reported():
        batch_format(format)
        names = [name for file in files for name in _batch_files(file)]
    console, count = out(), 0
    for name in names:
        for violation in _violations_in(name, format):
            count += 1
            if as_json:
                print_json({"file": name, **msgspec.structs.asdict(violation)})
            else:
                print_violation(violation, f"{name}: {violation.path}", console)
    if not as_json:
        print_count(count, console)
    raise typer.Exit(VIOLATIONS_FOUND if count else 0)


def _batch_files(name: str) -> list[str]:
    """Return a file, or the files of JSON Lines of a folder or a pattern."""
    if not os.path.isdir(name) and not glob.has_magic(name):
        return [name]
    from contentmodel.datasets.inputs import LINES, find_files

    paths = [file.path for file in find_files([name]) if file.path.lower().endswith(LINES)]
    if not paths:
        raise Problem(f"{name}: no files that end in {', '.join(LINES)}")
    return [os.path.relpath(path) for path in paths]


def _violations_in(name: str, format: str) -> Iterator[Violation]:
    try:
        with open(0 if name == "-" else name, "rb", closefd=name != "-") as lines:
            yield from check_lines(lines, format)
    except OSError as error:
        raise Problem(f"cannot read {name}: {error.strerror}") from None


COMMANDS: tuple[Callable[..., None], ...] = (convert, check, stats, limits)


def _settings(
    command: Any,
    options: dict[str, Any],
    inputs: list[str],
    column: str | None,
    key: str | None,
    shard_rows: int,
    format: Formats | None,
) -> Settings:
    with _reported():
        from contentmodel.datasets import Settings
        from contentmodel.datasets.inputs import find_files

        has_parquet = any(file.is_parquet for file in find_files(inputs))
    chosen: Any = format.value if format is not None else "parquet" if has_parquet else "jsonl"
    return Settings(command, options, column=column, key=key, format=chosen, shard_rows=shard_rows)


def _run(
    inputs: list[str],
    output: str,
    settings: Settings,
    engine: Engines,
    workers: int | None,
    address: str | None,
    *,
    quiet: bool,
    doing: str,
    counts_fail: bool = False,
) -> None:
    from contentmodel.datasets import run_job

    if address is not None and engine is not Engines.ray:
        raise Problem("--address needs --engine ray", hint="remove --address, or add --engine ray")
    began = time.perf_counter()
    latest: list[JobProgress] = []
    with _reported(), _progress(quiet=quiet) as update:

        def progress(now: JobProgress) -> None:
            latest.append(now)
            del latest[1:-1]
            if now is latest[0] and now.rows and not quiet:
                of = "" if now.of_rows is None else f" of {now.of_rows:,}"
                err().print(f"continued: {now.rows:,}{of} rows were already done", soft_wrap=True)
            update(now)

        try:
            report = run_job(
                inputs, output, settings, engine=engine.value, workers=workers, address=address, on_progress=progress
            )
        except KeyboardInterrupt:
            raise Problem(_stopped(latest), hint="the same command continues the job", code=INTERRUPTED) from None
    seconds = time.perf_counter() - began
    if not quiet:
        _print_report(report, doing, output, (report.total.rows - latest[0].rows) / seconds)
    failed = report.total.errors or (counts_fail and report.total.counts)
    raise typer.Exit(ROWS_FAILED if failed else 0)


def _stopped(latest: list[JobProgress]) -> str:
    """Return what a stopped job has done."""
    if not latest:
        return "stopped before the first shard"
    now = latest[-1]
    return f"stopped: {now.shards:,} of {count_of(now.of_shards, 'shard')} are done"


@contextmanager
def _reported() -> Iterator[None]:
    """Convert the errors of a job and of its settings to messages."""
    try:
        yield
    except ValueError as error:
        raise Problem(str(error)) from None


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[JobProgress], object]]:
    """Yield a function that updates a bar on standard error, if it is a terminal."""
    console = err()
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting")

        def update(now: JobProgress) -> None:
            text = f"{now.rows:,} rows, {now.shards:,} of {count_of(now.of_shards, 'shard')}"
            completed, total = (now.size, now.of_size) if now.of_rows is None else (now.rows, now.of_rows)
            bar.update(task, completed=completed, total=total, description=text)

        yield update


def _print_report(report: Report, doing: str, output: str, speed: float) -> None:
    console, total = err(), report.total
    console.print(
        f"{total.rows - total.errors:,} of {count_of(total.rows, 'row')} {doing}: {speed:,.0f} rows per second"
    )
    if total.errors:
        text = f"{count_of(total.errors, 'row')} failed: {visible(output)}/errors has them with the reasons"
        console.print(text, style="red", soft_wrap=True)
    _print_counts(report, console)
    console.print(f"{visible(output)}/report.json has all numbers, by model and day", style="dim", soft_wrap=True)


def _paths_of(report: Report, code: str) -> str:
    """Return the most frequent path of a code, and the number of others."""
    paths = report.fields[code].paths if code in report.fields else {}
    most = sorted(paths, key=lambda path: (-paths[path], path))
    more = f" and {count_of(len(most) - 1, 'other path')}" if len(most) > 1 else ""
    return f"{most[0]}{more}" if most else ""


def _print_counts(report: Report, console: Console) -> None:
    """Print the most frequent codes, or counters. Losses have a kind and paths; insignificant ones are only counted."""
    counts = report.total.counts
    kinds = {code: REASONS[code].kind if code in REASONS else "" for code in counts}
    shown = sorted((code for code in counts if kinds[code] != "insignificant"), key=lambda code: (-counts[code], code))
    if shown:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("count", justify="right", no_wrap=True)
        have_kinds = any(kinds.values())
        for header in ("code", "kind", "path") if have_kinds else ("name",):
            table.add_column(header, overflow="fold")
        for code in shown[:_CODES_SHOWN]:
            kind = [safe_text(kinds[code], LOSS_STYLES.get(kinds[code], ""))] if have_kinds else []
            path = [safe_text(_paths_of(report, code), "cyan")] if have_kinds else []
            table.add_row(f"{counts[code]:,}", safe_text(code), *kind, *path)
        console.print(table)
    insignificant = sum(counts[code] for code in counts if kinds[code] == "insignificant")
    if insignificant:
        console.print(f"{count_of(insignificant, 'insignificant value')} not shown", style="dim")
