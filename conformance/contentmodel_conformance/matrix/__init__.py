"""The matrix: the outcome of each content type at each API, and of each family of content between two APIs.

Computed by running the adapters. If an adapter fails, only its own cells are errors. A format without answers has no
cells of answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import msgspec

import contentmodel
from contentmodel.adapter import GROUP
from contentmodel.content import CONTENT_TYPES
from contentmodel_conformance.matrix.cases import ORIGINS, Bench, Case, short
from contentmodel_conformance.matrix.crossings import Crossing, crossings
from contentmodel_conformance.subject import KINDS, kinds_of

__all__ = ["KINDS", "Api", "Case", "Cell", "Crossing", "Matrix", "installed", "make_matrix", "matrix"]

VERSION = 1
"""The version of the matrix's JSON format."""


class Api(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An API of the matrix. If its adapter cannot be loaded, `error` has the reason."""

    api: str
    issuer: str = ""
    error: str = ""


class Cell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a content type (`type`) at `api` in requests or answers (`of`), own or foreign (`origin`).

    `verdict` summarizes the forms that the API has: "exact" (all round-trip), "partly" (some do), "degraded",
    "dropped", "silent" (some change without a loss), "error", or "absent" (the API or its answers have no such
    content). `lost` lists the optional fields that are always lost. `cases` has all cases tried.
    """

    type: str
    api: str
    of: str
    origin: str
    verdict: str
    lost: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """The whole matrix, in the order of API ids and of `contentmodel.content.CONTENT_TYPES`."""

    version: int = VERSION
    apis: tuple[Api, ...] = ()
    contents: tuple[Cell, ...] = ()
    crossings: tuple[Crossing, ...] = ()


def installed(names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the installed adapters by API id, all or those named. If one fails to load, its value is the exception."""
    points = {point.name for point in entry_points(group=GROUP)}
    adapters: dict[str, Any] = {}
    for name in sorted(points if names is None else set(names)):
        try:
            adapters[name] = contentmodel.adapter(name)
        except Exception as error:  # Third-party modules may raise anything on import.
            adapters[name] = error
    return adapters


def make_matrix(adapters: Mapping[str, Any] | None = None) -> Matrix:
    """Return the matrix of these adapters (by API id); by default of all installed ones."""
    if adapters is None:
        return matrix()
    benches = {
        (api, of, origin): Bench(adapter, of, origin)
        for api, adapter in adapters.items()
        for of in kinds_of(adapter)
        for origin in ORIGINS
    }
    cells = (_cell(kind, *key, bench) for kind in CONTENT_TYPES for key, bench in benches.items())
    return Matrix(
        apis=tuple(_api(name, adapter) for name, adapter in adapters.items()),
        contents=tuple(cells),
        crossings=tuple(crossings(adapters)),
    )


@cache
def matrix() -> Matrix:
    """Return the matrix of all installed adapters, computed once per process."""
    return make_matrix(installed())


def _api(name: str, adapter: Any) -> Api:
    if isinstance(adapter, Exception):
        return Api(api=name, error=short(adapter))
    return Api(api=name, issuer=str(getattr(adapter, "issuer", "")))


def _cell(kind: Any, api: str, of: str, origin: str, bench: Bench) -> Cell:
    cases = bench.cases(kind)
    verdict = _summed([case.verdict for case in cases if case.field is None])
    return Cell(type=kind.__name__, api=api, of=of, origin=origin, verdict=verdict, lost=_lost(cases), cases=cases)


def _lost(cases: Iterable[Case]) -> tuple[str, ...]:
    """Return the fields that are lost in all variants and at all places."""
    is_kept: dict[str, bool] = {}
    for case in cases:
        if case.field:
            through = case.verdict in ("exact", "absent")
            name = case.field.partition(" (")[0]
            is_kept[name] = is_kept.get(name, False) or through
    return tuple(name for name, through in is_kept.items() if not through)


def _summed(verdicts: list[str]) -> str:
    """Return one verdict for all forms of a type."""
    distinct = set(verdicts)
    for defect in ("error", "silent"):
        if defect in distinct:
            return defect
    distinct.discard("absent")
    if "exact" in distinct:
        return "exact" if distinct == {"exact"} else "partly"
    return "degraded" if "degraded" in distinct else "dropped" if distinct else "absent"
