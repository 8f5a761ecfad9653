"""Render the matrix for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from contentmodel.cli.console import safe_text
from contentmodel_conformance.matrix import KINDS, Matrix
from contentmodel_conformance.matrix.cases import ORIGINS
from contentmodel_conformance.matrix.views import LEGEND, MARKS, groups, pairs, short_type

__all__ = ["as_text"]

STYLES = {
    "exact": "green",
    "partly": "green",
    "degraded": "yellow",
    "dropped": "red",
    "silent": "bold magenta",
    "error": "bold red",
    "absent": "dim",
}


def as_text(matrix: Matrix, details: list[str]) -> Iterator[RenderableType]:
    """Yield the tables and the legend, and for the APIs in `details` the losses behind each sign."""
    yield _contents(matrix)
    yield Text(
        "The signs of each API: in requests, own and foreign; in answers (if it has any), own and foreign.", style="dim"
    )
    for verdict, meaning in LEGEND.items():
        yield Text.assemble((f"{MARKS[verdict]} {verdict}", STYLES[verdict]), f": {meaning}")
    for api in matrix.apis:
        if api.error:
            yield safe_text(f"{api.api} cannot be loaded: {api.error}", "red")
    yield Text()
    yield _crossings(matrix)
    yield Text(
        "The number of content families with each verdict, from the API of the row to the API of the column.", "dim"
    )
    for name in details:
        yield Text()
        yield _details(matrix, name)


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column(safe_text(heads[0]), no_wrap=True)
    for head in heads[1:]:
        table.add_column(safe_text(head), overflow="fold")
    return table


def _sign(verdict: str) -> Text:
    return Text(MARKS[verdict], style=STYLES[verdict])


def _contents(matrix: Matrix) -> Table:
    cells = {(cell.type, cell.api, cell.of, cell.origin): cell.verdict for cell in matrix.contents}
    table = _table("content", *(api.api for api in matrix.apis))
    for name in dict.fromkeys(cell.type for cell in matrix.contents):
        row = [Text(" ").join(_signs(cells, name, api.api)) for api in matrix.apis]
        table.add_row(short_type(name), *row)
    return table


def _signs(cells: dict[tuple[str, str, str, str], str], name: str, api: str) -> Iterator[Text]:
    for of in (of for of in KINDS if (name, api, of, ORIGINS[0]) in cells):
        yield Text().join(_sign(cells[name, api, of, origin]) for origin in ORIGINS)


def _crossings(matrix: Matrix) -> Table:
    counts = {(pair.source, pair.target): pair.verdicts for pair in pairs(matrix)}
    table = _table("from, to", *(api.api for api in matrix.apis))
    for source in matrix.apis:
        verdicts = (counts.get((source.api, target.api), {}) for target in matrix.apis)
        table.add_row(safe_text(source.api), *map(_counts, verdicts))
    return table


def _counts(verdicts: dict[str, int]) -> Text:
    counted = (Text(f"{count} {MARKS[name]}", style=STYLES[name]) for name, count in verdicts.items())
    return Text(" ").join(counted) or Text("-", style="dim")


def _details(matrix: Matrix, api: str) -> Table:
    table = _table(f"in {api}", "contents", "details")
    before = None
    for group in groups(matrix, api):
        kind = (group.of, group.origin)
        if kind != before:
            table.add_section()
        before = kind
        title = Text.assemble(_sign(group.verdict), f" {group.of}, {group.origin}")
        details = Text("\n").join(safe_text(str(line), STYLES[line.verdict]) for line in group.lines)
        table.add_row(title, ", ".join(map(short_type, group.types)), details)
    for crossing in matrix.crossings:
        if api == crossing.target and crossing.losses:
            title = Text.assemble(_sign(crossing.verdict), safe_text(f" {crossing.of} of {crossing.source}"))
            table.add_row(title, crossing.family, safe_text("\n".join(crossing.losses)))
    return table
