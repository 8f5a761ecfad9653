"""Render a report as one self-contained HTML page, readable on a phone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from contentmodel.cli.console import visible
from contentmodel_conformance import rendering
from contentmodel_conformance.report import Change, Report


def as_page(report: Report, changes: Iterable[Change] = ()) -> str:
    """Return the report as HTML."""
    apis = list(report.adapters)
    rows = [
        (law, promise, [rendering.cell(report.of(api, law)) for api in apis]) for law, promise in report.laws.items()
    ]
    page: str = _template().render(
        report=report,
        apis=apis,
        rows=rows,
        figures=rendering.figures(report),
        headline=rendering.headline(report),
        changes=list(rendering.change_lines(changes)),
        reasons=rendering.reasons(report),
        notes=rendering.notes(report),
        shown=rendering.SHOWN,
    )
    return page


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("contentmodel_conformance"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Text from payloads may contain invisible or bidirectional control characters.
    environment.filters["visible"] = visible
    return environment.get_template("report.html")
