"""`contentmodel-conformance record`: convert captures of HTTP traffic to recorded traffic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from contentmodel.cli.console import err, safe_text, visible
from contentmodel.cli.errors import Problem, print_problem, problem_of
from contentmodel.display import count_of
from contentmodel.errors import ContentModelError
from contentmodel_conformance.captures.entries import Damaged, NotACapture, OwnRecord
from contentmodel_conformance.captures.reading import STDIN, files_of, read_capture
from contentmodel_conformance.captures.recorder import LARGEST_BODY, Recorder, Summary, records_in, write_records
from contentmodel_conformance.cli import command
from contentmodel_conformance.cli_review import reviewed
from contentmodel_conformance.recordings import folder_of_files

NOTHING_RECORDED = 1
BAD_CAPTURE = 2
UNREVIEWED = 3
_LONG = 10
"""The minimum number of files for which a progress bar is shown."""

Captures = Annotated[
    list[str],
    typer.Argument(
        metavar="CAPTURE...",
        help="HAR files, VCR cassettes, flow files of mitmproxy, recorded traffic, or folders of them; - is standard "
        "input.",
        show_default=False,
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to. Records in it are kept.")
]
Scrub = Annotated[
    list[str] | None,
    typer.Option("--scrub", metavar="REGEX", help="Also replace each match in a text. Can be repeated."),
]
MaxBody = Annotated[
    int, typer.Option("--max-body", metavar="BYTES", min=1, help="Skip requests and answers that have more bytes.")
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Keep unknown values that look random. Do not ask, and list them.")
]
ScrubUnknown = Annotated[
    bool, typer.Option("--scrub-unknown", help="Replace unknown values that look random. Do not ask, and list them.")
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="List each skipped entry with its reason, and each replaced secret's place."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.")]


@command
def record(
    captures: Captures,
    *,
    output: Output,
    scrub: Scrub = None,
    yes: Yes = False,
    scrub_unknown: ScrubUnknown = False,
    max_body: MaxBody = LARGEST_BODY,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Convert your own captures to recorded traffic: a corpus for `run --corpus`.

    Each request to an LLM API in a capture becomes a record, and so does its answer. The URL shows the API, else the
    payload does. Records are written to DIR/API.KIND.jsonl, without duplicates; those that are already there are
    kept. The same captures give the same files.

    No header and no URL is written. In payloads, these texts are replaced by SCRUBBED-1, SCRUBBED-2, ...: the values of
    headers, cookies and query parameters that carry credentials; texts that look like keys (sk-..., AIza..., AKIA...,
    Bearer ...); values with the name of a secret (api_key, password, DB_TOKEN), as fields and in texts: configurations,
    code, commands, XML, JSON in JSON; the matches of --scrub. Media in base64 are not searched. The summary counts the
    replacements, and --verbose lists their places.

    Other values that look random can be secrets, or ids and hashes. Before records are written, they are listed without
    their middle, with their places, and you decide which to replace. Without a terminal, nothing is written until you
    pass --yes (keep all) or --scrub-unknown (replace all). Values that were kept once in DIR are not listed again.
    A password that is an ordinary word in a sentence is not found: read the records before you publish them.

    \b
    [bold]Captures[/bold]
    HAR 1.2          of browsers, Charles and Proxyman, and of mitmdump --set hardump=FILE
    VCR cassettes    YAML or JSON, of vcrpy, VCR and betamax
    flow files       of mitmdump -w FILE
    JSON Lines       recorded traffic

    Exit codes: 0 there are records; 1 there are none; 2 a capture or an entry cannot be read (the others are recorded),
    or invalid command line; 3 nothing is written, because unknown values were not reviewed.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance record traffic.har -o corpus
    contentmodel-conformance record tests/cassettes -o corpus --scrub 'acme-\\w+'
    contentmodel-conformance record traffic.har -o corpus --scrub-unknown --verbose
    mitmdump -nr flows.mitm --set hardump=- | contentmodel-conformance record - -o corpus --yes
    contentmodel-conformance run openai-chat --corpus corpus
    """
    recorder = Recorder(_expressions(scrub or []), max_body)
    if yes and scrub_unknown:
        raise Problem("--yes and --scrub-unknown exclude each other", hint="pass one of them")
    target = Path(output)
    _check_output(target)
    files = files_of(captures)
    output_files = {path.resolve() for path in _kept(target, recorder)}
    codes = [0]
    with _progress(len(files)) as advance:
        for path, is_named in files:
            advance(path)
            if path == STDIN or Path(path).resolve() not in output_files:
                codes.append(_add(path, recorder, is_named=is_named, verbose=verbose))
    records = reviewed(recorder, recorder.finish(), yes=yes, scrub=scrub_unknown, quiet=quiet)
    if records is None:
        raise typer.Exit(UNREVIEWED)
    changed = write_records(records, target)
    if not quiet:
        _print_summary(recorder.summary, changed, target, verbose=verbose)
    raise typer.Exit(max(codes) or (0 if records else NOTHING_RECORDED))


def _expressions(texts: Iterable[str]) -> list[re.Pattern[str]]:
    expressions = []
    for text in texts:
        try:
            expressions.append(re.compile(text))
        except re.error as error:
            raise Problem(f"--scrub {text}: {error}", hint="pass a regular expression of Python's re") from None
    return expressions


def _check_output(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise Problem(f"-o: {folder} is a file", hint="name the folder of the records")


def _kept(folder: Path, recorder: Recorder) -> set[Path]:
    """Add the records of the output folder. Return its files. Raise Problem if a line is not a record."""
    paths = set()
    for path, entry in records_in(folder):
        if isinstance(entry, Damaged):
            hint = "correct or remove the line, or write to another folder"
            raise Problem(f"{path}, {entry.place}: {entry.reason}", hint=hint)
        if isinstance(entry, OwnRecord):
            recorder.keep_written(entry)
        paths.add(path)
    return paths


def _add(path: str, recorder: Recorder, *, is_named: bool, verbose: bool) -> int:
    """Add the entries of a file. Report those that are damaged, and continue. Return the exit code."""
    name = "standard input" if path == STDIN else path
    code = 0
    try:
        for entry in read_capture(path):
            location = f"{name}, {entry.place}"
            try:
                reason = recorder.add(entry)
            except ContentModelError as error:
                print_problem(problem_of(error, location, ""))
                code = BAD_CAPTURE
            else:
                if reason is not None and verbose:
                    err().print(safe_text(f"skipped {location}: {reason}", "dim"), soft_wrap=True)
    except NotACapture as error:
        if not is_named:
            recorder.summary.skipped["a file in a folder, but not a capture"] += 1
            return 0
        hint = "pass HAR files, VCR cassettes, flow files of mitmproxy, or recorded traffic"
        print_problem(Problem(f"{name}: {error}", hint=hint))
        code = BAD_CAPTURE
    except (ContentModelError, OSError) as error:
        print_problem(problem_of(error, name, ""))
        code = BAD_CAPTURE
    return code


# -- the summary -------------------------------------------------------------------------------------------------------


def _print_summary(summary: Summary, changed: list[Path], folder: Path, *, verbose: bool) -> None:
    console = err()
    counts: dict[str, list[str]] = {}
    for (api, kind), count in summary.records.items():
        counts.setdefault(api, []).append(count_of(count, kind))
    width = max(map(len, counts), default=0)
    console.print(f"read {count_of(summary.exchanges, 'exchange')}", soft_wrap=True)
    for api, parts in counts.items():
        console.print(Text.assemble("  ", (api.ljust(width), "bold"), "  ", ", ".join(parts)), soft_wrap=True)
    _print_counts("skipped", summary.skipped)
    _print_counts("left out", summary.left_out)
    _print_counts("scrubbed", summary.scrubbed)
    for (record, path, kind), count in summary.places.items() if verbose else ():
        times = f" ({count} times)" if count > 1 else ""
        console.print(safe_text(f"    {record} {path}: {kind}{times}", "dim"), soft_wrap=True)
    files = f"wrote {count_of(len(changed), 'file')} in {visible(str(folder_of_files(folder)))}"
    console.print(files, style="green", soft_wrap=True)


def _print_counts(title: str, counts: Counter[str]) -> None:
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        err().print(f"  {title} {count:,}: {visible(name)}", style="dim", soft_wrap=True)


@contextmanager
def _progress(count: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the next file in a bar on standard error, if that is a terminal."""
    console = err()
    if not console.is_terminal or count < _LONG:
        yield lambda path: None
        return
    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=count)
        yield lambda path: bar.update(task, description=visible(Path(path).name), advance=1)
