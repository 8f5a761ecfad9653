"""`contentmodel-conformance matrix` and `contentmodel-conformance coverage`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from io import StringIO
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from contentmodel.cli.console import out, safe_text
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import api_option
from contentmodel.cli.output import layout, open_output
from contentmodel.extras import needs_extra
from contentmodel.json import write
from contentmodel_conformance.cli import command
from contentmodel_conformance.coverage import Coverage
from contentmodel_conformance.coverage import coverage as coverage_of
from contentmodel_conformance.matrix import Matrix, installed, make_matrix

_FILE_WIDTH = 160


class Format(StrEnum):
    """The output formats of the matrix."""

    text = "text"
    json = "json"
    md = "md"
    html = "html"


class ListFormat(StrEnum):
    """The output formats of the coverage."""

    text = "text"
    json = "json"
    md = "md"


Apis = Annotated[
    list[str] | None,
    typer.Option("--api", metavar="API", help="Include only this API. Can be repeated. Default: all installed APIs."),
]
MatrixFormat = Annotated[Format, typer.Option("--format", help="The output format.")]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")]
CoverageFormat = Annotated[ListFormat, typer.Option("--format", help="The output format.")]


@command
def matrix(api: Apis = None, *, form: MatrixFormat = Format.text, output: Output = None) -> None:
    """Show what is kept of each content type in each API, and of each content family between two APIs.

    Every installed adapter encodes and decodes sample contents. A content that is equal afterwards is exact. Others are
    degraded or dropped, with the reasons of the losses. The text format shows the losses of the APIs that --api names.
    JSON, Markdown and HTML contain all of them. The HTML page is self-contained.

    Exit codes: 0 done; 2 invalid command line, or no adapter is installed.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance matrix
    contentmodel-conformance matrix --api anthropic-messages --api openai-chat
    contentmodel-conformance matrix --format html -o matrix.html
    contentmodel-conformance matrix --format json | jq '.contents[] | select(.verdict == "silent")'
    """
    _show(_WRITERS[form], make_matrix(_adapters(api)), api or [], output)


@command
def coverage(api: Apis = None, *, form: CoverageFormat = ListFormat.text) -> None:
    """Compare the types of the installed SDKs with the adapters' tables, and list the missing types.

    Content of a missing type is not lost: unknown fields and unknown blocks round-trip unchanged. They only have no
    name in the model.

    Exit codes: 0 no type is missing; 1 types are missing from a table; 2 invalid command line, or no SDK is installed.

    \b
    [bold]Examples[/bold]
    contentmodel-conformance coverage
    contentmodel-conformance coverage --api openai-responses
    contentmodel-conformance coverage --format json | jq '.[] | {api, version, missing}'
    """
    results = [coverage_of(name, adapter) for name, adapter in _adapters(api).items()]
    if form is ListFormat.text:
        out().print(*_coverage_text(results), sep="\n")
    else:
        body = layout(write(results), pretty=True).decode() if form is ListFormat.json else _coverage_markdown(results)
        typer.echo(body, nl=False)
    if any(each.missing for each in results):
        raise typer.Exit(1)
    if all(each.note for each in results):
        raise Problem("nothing could be compared", hint='install the SDKs: pip install "contentmodel[all]"')


def _adapters(names: Sequence[str] | None) -> dict[str, Any]:
    for name in names or ():
        api_option(name, "--api", stored=False)
    adapters = installed(names or None)
    if not adapters:
        raise Problem("no adapter is installed", hint="install contentmodel with its adapters")
    return adapters


# -- the matrix --------------------------------------------------------------------------------------------------------


def _show(writer: Callable[[Matrix, list[str]], str], matrix: Matrix, details: list[str], output: str | None) -> None:
    if output in (None, "-") and writer is _text:
        for part in _parts(matrix, details):
            out().print(part)
        return
    with open_output(output) as take:
        take(writer(matrix, details).encode("utf-8", "backslashreplace"))


def _parts(matrix: Matrix, details: list[str]) -> Iterable[RenderableType]:
    from contentmodel_conformance.matrix.text import as_text

    return as_text(matrix, details)


def _text(matrix: Matrix, details: list[str]) -> str:
    console = Console(width=_FILE_WIDTH, file=StringIO(), highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        for part in _parts(matrix, details):
            console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _json(matrix: Matrix, details: list[str]) -> str:
    return layout(write(matrix), pretty=True).decode()


def _markdown(matrix: Matrix, details: list[str]) -> str:
    from contentmodel_conformance.matrix.markdown import as_markdown

    return as_markdown(matrix)


def _html(matrix: Matrix, details: list[str]) -> str:
    from contentmodel_conformance.matrix.page import as_html

    with needs_extra("conformance"):
        return as_html(matrix)


_WRITERS = {Format.text: _text, Format.json: _json, Format.md: _markdown, Format.html: _html}


# -- the coverage ------------------------------------------------------------------------------------------------------


def _coverage_text(results: list[Coverage]) -> Iterator[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("API", "SDK", "types"):
        table.add_column(heading, no_wrap=True)
    table.add_column("missing from the table", overflow="fold")
    for each in results:
        table.add_row(*map(safe_text, (each.api, _sdk(each), str(sum(each.known.values())))), _missing_text(each))
    yield table


def _missing_text(each: Coverage) -> Text:
    if each.note:
        return safe_text(each.note, "yellow")
    return safe_text(_missing(each), "red") if each.missing else Text("-", style="green")


def _sdk(each: Coverage) -> str:
    return f"{each.sdk} {each.version}".strip() or "-"


def _missing(each: Coverage) -> str:
    return "\n".join(f"{position}: {', '.join(tags)}" for position, tags in each.missing.items())


def _coverage_markdown(results: list[Coverage]) -> str:
    lines = ["| API | SDK | position | in the table | missing |", "|---|---|---|---|---|"]
    for each in results:
        if each.note:
            lines.append(f"| `{each.api}` | {_sdk(each)} | - | - | {each.note} |")
        for position, count in each.known.items():
            missing = ", ".join(f"`{tag}`" for tag in each.missing.get(position, ())) or "-"
            lines.append(f"| `{each.api}` | {_sdk(each)} | {position} | {count} | {missing} |")
    return "\n".join(lines) + "\n"
