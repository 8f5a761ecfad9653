"""`contentmodel apis`: the installed adapters and their mapping tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from contentmodel.cli.console import out, safe_text
from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import api_option, load, points

Api = Annotated[str | None, typer.Argument(metavar="API", help="List the wire types of this API.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def apis(api: Api = None, as_json: AsJson = False) -> None:
    """List the installed APIs. With API, list the wire types of that API, and the content type of each.

    The columns of the list: the [bold]issuer[/bold] is the provider that can read the opaque values of this API
    (signatures, encrypted reasoning). [bold]rows[/bold] and [bold]unions[/bold] are the size of the mapping table. The
    [bold]SDK extra[/bold] installs the provider's SDK, which the client of the API needs; conversions do not need it.

    Exit codes: 0 listed; 2 unknown API, or a bad command line.

    \b
    [bold]Examples[/bold]
    contentmodel apis
    contentmodel apis anthropic-messages
    contentmodel apis openai-responses --json
    """
    api = api_option(api, "API", stored=False)
    if as_json:
        value = load(api).describe() if api else list(overview())
        typer.echo(json.dumps(value, indent=2, default=str))
        return
    out().print(_rows_table(api) if api else _overview_table())


def overview() -> Iterator[dict[str, Any]]:
    """Yield one entry per installed adapter."""
    for name, point in points().items():
        try:
            yield _entry(name, point)
        except Problem as problem:
            yield {"api": name, "error": problem.message}


def _entry(name: str, point: EntryPoint) -> dict[str, Any]:
    instance = load(name)
    described = instance.describe()
    unions = described.get("unions", {})
    return {
        "api": name,
        "issuer": instance.issuer,
        "rows": len(described.get("records", {})) + sum(len(union["rows"]) for union in unions.values()),
        "unions": len(unions),
        "extras": sdk_extras(point, instance.issuer),
    }


def sdk_extras(point: EntryPoint, issuer: str) -> dict[str, bool]:
    """Return the extra that installs the issuer's SDK, and whether the SDK is installed."""
    distribution = point.dist
    if distribution is None or issuer not in (distribution.metadata.get_all("Provides-Extra") or ()):
        return {}
    marker = re.compile(rf"extra\s*==\s*['\"]{re.escape(issuer)}['\"]")
    needed = [text for text in distribution.requires or () if marker.search(text)]
    return {issuer: all(_is_installed(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in needed)}


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def wire_types(api: str) -> Iterator[tuple[str, str, str]]:
    """Yield the union of each wire type (or `(record)`), its name, and its content type in the model."""
    described = load(api).describe()
    for name, record in described.get("records", {}).items():
        yield "(record)", name, record["model"]
    for name, union in described.get("unions", {}).items():
        for row in union["rows"]:
            yield name, row["name"], row["model"]


def _overview_table() -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("API", "issuer"):
        table.add_column(heading, no_wrap=True)
    table.add_column("rows", justify="right")
    table.add_column("unions", justify="right")
    table.add_column("SDK extra")
    for entry in overview():
        table.add_row(*map(safe_text, _cells(entry)))
    return table


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    if "error" in entry:
        return entry["api"], "-", "-", "-", entry["error"]
    extras = (f"{name} ({'installed' if present else 'not installed'})" for name, present in entry["extras"].items())
    return entry["api"], entry["issuer"], str(entry["rows"]), str(entry["unions"]), ", ".join(extras) or "-"


def _rows_table(api: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("union")
    table.add_column("wire type", overflow="fold")
    table.add_column("content type", overflow="fold")
    previous = None
    for union, name, model in wire_types(api):
        table.add_row(*map(safe_text, ("" if union == previous else union, name, model)))
        previous = union
    return table
