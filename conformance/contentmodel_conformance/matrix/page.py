"""Render the matrix as one self-contained HTML page: no scripts, no fonts, no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contentmodel_conformance.matrix import KINDS, Cell, Crossing, Matrix
from contentmodel_conformance.matrix.cases import ORIGINS
from contentmodel_conformance.matrix.views import (
    ABOUT,
    LEGEND,
    MARKS,
    Group,
    apis_with,
    groups,
    pairs,
    sentence,
    short_type,
)

__all__ = ["as_html"]


def as_html(matrix: Matrix) -> str:
    """Return the page. Texts of adapters are escaped. Raises ImportError without jinja2."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("contentmodel_conformance.matrix"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    groups_of = {api.api: groups(matrix, api.api) for api in matrix.apis}
    return environment.get_template("matrix.html").render(
        about=ABOUT,
        apis=matrix.apis,
        crossings=list(_sources(matrix)),
        groups=groups_of,
        kinds=KINDS,
        legend=LEGEND,
        marks=MARKS,
        origins=ORIGINS,
        overview={(pair.source, pair.target): pair.verdicts for pair in pairs(matrix)},
        parts=_parts,
        short_type=short_type,
        tables=[(of, apis_with(matrix, of), list(_rows(matrix, of, groups_of))) for of in KINDS],
        # A line break opportunity in long names on narrow screens.
        wbr=Markup("<wbr>"),
    )


def _parts(name: str) -> list[str]:
    """Split a type's name into words."""
    return re.findall("[A-Z][a-z]*|.+", short_type(name))


class Sign:
    """One sign of a table: its verdict, its tooltip, and the anchor that it links to."""

    def __init__(self, verdict: str, text: str, key: str, label: str = "") -> None:
        self.verdict, self.text, self.key, self.label = verdict, text, key, label


def _rows(matrix: Matrix, of: str, groups_of: dict[str, list[Group]]) -> Iterator[tuple[str, list[list[Sign]]]]:
    """Yield each type with its signs for each API, own and foreign."""
    keys = _keys(groups_of)
    cells = {(cell.type, cell.api, cell.origin): cell for cell in matrix.contents if cell.of == of}
    for name in dict.fromkeys(cell.type for cell in matrix.contents):
        signs_of_apis = [[_sign(cells[name, api, origin], keys) for origin in ORIGINS] for api in apis_with(matrix, of)]
        if any(sign.verdict != "absent" for signs in signs_of_apis for sign in signs):
            yield name, signs_of_apis


def _keys(groups_of: dict[str, list[Group]]) -> dict[tuple[str, str, str, str], str]:
    return {
        (api, group.of, group.origin, name): group.key
        for api, api_groups in groups_of.items()
        for group in api_groups
        for name in group.types
    }


def _sign(cell: Cell, keys: dict[tuple[str, str, str, str], str]) -> Sign:
    subject = f"{short_type(cell.type)} at {cell.api}, {cell.of}, {cell.origin}"
    return Sign(cell.verdict, f"{subject}: {sentence(cell)}", keys.get((cell.api, cell.of, cell.origin, cell.type), ""))


def _sources(matrix: Matrix) -> Iterator[dict[str, Any]]:
    """Yield for each source its families with a sign for each target, and the crossings with losses."""
    for number, api in enumerate(matrix.apis, 1):
        crossed = [crossing for crossing in matrix.crossings if crossing.source == api.api]
        rows: dict[tuple[str, str], dict[str, Sign]] = {}
        details: dict[tuple[str, str], list[Crossing]] = {}
        keys: dict[tuple[str, str], str] = {}
        for crossing in crossed:
            family = crossing.of, crossing.family
            key = keys.setdefault(family, f"x{number}-{len(keys) + 1}")
            rows.setdefault(family, {})[crossing.target] = _crossed(crossing, key)
            if crossing.losses:
                details.setdefault(family, []).append(crossing)
        targets = list(dict.fromkeys(crossing.target for crossing in crossed))
        if rows:
            yield {"source": api.api, "targets": targets, "rows": rows, "told": details, "anchors": keys}


def _crossed(crossing: Crossing, key: str) -> Sign:
    subject = f"{crossing.family} ({crossing.of}) from {crossing.source} to {crossing.target}: {crossing.verdict}"
    losses = "; ".join(crossing.losses)
    back = ". Converting the result back restores all content" if crossing.returns else ""
    return Sign(
        crossing.verdict,
        f"{subject}{f'. {losses}' if losses else ''}{back}.",
        key if losses else "",
        "↩" if back else "",
    )
