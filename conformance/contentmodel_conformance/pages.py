"""Pages of the documentation, made from the adapters' tables: `python -m contentmodel_conformance.pages docs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contentmodel

HEAD = """# What each adapter maps

Made from the tables by `python -m contentmodel_conformance.pages docs`. A wire field that stands in no row is kept in
the residue and comes back unchanged; so are blocks whose type stands nowhere here, as `UnknownContent`.
"""


def coverage_page() -> str:
    """The tables of every installed adapter as Markdown."""
    lines = [HEAD]
    for api, adapter in contentmodel.adapters().items():
        lines += [f"## {api}", "", *_tables(adapter.describe())]
    return "\n".join(lines).rstrip() + "\n"


def _tables(described: dict[str, Any]) -> Iterator[str]:
    if described["pairs"]:
        yield from _table("call and result in one", _pair_rows(described["pairs"]))
    for name, union in described["unions"].items():
        yield from _table(name, union["rows"])
    yield from _table("records", list(described["records"].values()))
    for title, words in (("words that are known", described["words"]), ("kept in the residue", described["kept"])):
        if words:
            yield from (f"### {title}", "", *(f"- {name}: {_code(values)}" for name, values in words.items()), "")


def _pair_rows(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for pair in pairs for row in (pair["call"], pair["result"])]


def _table(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from (f"### {title}", "", "| on the wire | in the model | fields |", "|---|---|---|")
    for row in rows:
        fields = ", ".join(f"`{wire}` → `{field['attribute']}`" for wire, field in row["fields"].items())
        yield f"| `{row['name']}` | `{row['model']}` | {fields or 'none'} |"
    yield ""


def _code(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def main(arguments: list[str]) -> int:
    """Writes the pages into the folder that is given."""
    if len(arguments) != 1:
        print("usage: python -m contentmodel_conformance.pages FOLDER", file=sys.stderr)
        return 2
    Path(arguments[0], "coverage.md").write_text(coverage_page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
