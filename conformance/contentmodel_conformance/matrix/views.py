"""The matrix prepared for display as text, Markdown or HTML: signs, texts, and groups of equal outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from contentmodel_conformance.matrix import Case, Cell, Crossing, Matrix

__all__ = [
    "LEGEND",
    "MARKS",
    "Group",
    "Line",
    "Pair",
    "apis_with",
    "groups",
    "lines",
    "pairs",
    "sentence",
    "short_type",
]

MARKS = {
    "exact": "●",
    "partly": "◕",
    "degraded": "◐",
    "dropped": "○",
    "silent": "‼",
    "error": "✕",
    "absent": "·",
}
"""A sign for each verdict, from good to bad."""

LEGEND = {
    "exact": "the content round-trips, and no loss is reported",
    "partly": "some forms or places of the content are exact",
    "degraded": "a part is changed, moved, added or lost, and each loss is reported",
    "dropped": "the content is dropped, and a loss reports the reason",
    "silent": "the content changes, and no loss is reported: a defect of the adapter",
    "error": "the adapter raises an exception",
    "absent": "the API, or its answers, cannot have such content",
}
ABOUT = {
    "request": "In requests",
    "response": "In answers",
    "own": "own: created for this API, or decoded from it",
    "foreign": "foreign: decoded from an API of another issuer",
}
_FEW = 2


class Line(NamedTuple):
    """One outcome in a cell: the `verdict`, the `subject` (forms, places, fields), and the `details`."""

    verdict: str
    subject: str
    details: str
    of_fields: bool = False

    def __str__(self) -> str:
        return f"{self.subject}: {self.details}" if self.subject else self.details


class Group(NamedTuple):
    """Types with the same outcome at one API. `key` is its anchor on a page."""

    key: str
    of: str
    origin: str
    verdict: str
    types: tuple[str, ...]
    lines: tuple[Line, ...]


class Pair(NamedTuple):
    """All crossings from one API to another, with the number of families per verdict."""

    source: str
    target: str
    verdicts: dict[str, int]
    crossings: tuple[Crossing, ...]


def apis_with(matrix: Matrix, of: str) -> list[str]:
    """Return the APIs that have requests, or answers."""
    return list(dict.fromkeys(cell.api for cell in matrix.contents if cell.of == of))


def short_type(name: str) -> str:
    """Return the name of a content type without the suffix "Content"."""
    return name.removesuffix("Content")


def sentence(cell: Cell) -> str:
    """Return a cell as a sentence: its forms, then the fields that are always lost."""
    forms = [line for line in lines(cell) if line.verdict not in ("exact", "absent") and not line.of_fields]
    parts = [str(line) for line in forms[:_FEW]]
    if len(forms) > _FEW:
        parts.append(f"and {len(forms) - _FEW} more")
    text = "; ".join(parts)
    if not text.startswith(f"{cell.verdict}: "):
        text = f"{cell.verdict}: {text}" if text else cell.verdict
    return f"{text}; without its {', '.join(cell.lost)}." if cell.lost else f"{text}."


# -- the lines of a cell -----------------------------------------------------------------------------------------------


def lines(cell: Cell) -> list[Line]:
    """Return the outcomes in a cell, equal ones as one line: first the forms, then the fields."""
    plain = [case for case in cell.cases if case.field is None]
    fields = [case for case in cell.cases if case.field is not None]
    poor = [case for case in fields if case.verdict not in ("exact", "absent")]
    shown = [_form_line(key, cases, plain) for key, cases in _alike(plain).items()]
    shown += [_field_line(key, cases, fields) for key, cases in _alike(poor).items()]
    unknown = [name for name in dict.fromkeys(map(_base, fields)) if _is_absent(name, fields)]
    if unknown:
        shown.append(Line("absent", f"with {', '.join(unknown)}", "the API has no such field", True))
    return sorted(shown, key=lambda line: (line.of_fields, list(MARKS).index(line.verdict)))


_Key = tuple[str, tuple[str, ...], tuple[str, ...]]


def _alike(cases: Iterable[Case]) -> dict[_Key, list[Case]]:
    by_outcome: dict[_Key, list[Case]] = {}
    for case in cases:
        # The line names the field already, so remove it from the reason.
        why = tuple(text.removeprefix(f"{_base(case)} ") for text in case.why)
        by_outcome.setdefault((case.verdict, case.becomes, why), []).append(case)
    return by_outcome


def _form_line(key: _Key, cases: list[Case], every: list[Case]) -> Line:
    subject = "" if len(cases) == len(every) else _listed(cases)
    return Line(key[0], subject, _details(*key))


def _listed(cases: list[Case]) -> str:
    forms: dict[str, list[str]] = {}
    for case in cases:
        forms.setdefault(case.form, []).append(case.place)
    by_places: dict[tuple[str, ...], list[str]] = {}
    for form, places in forms.items():
        by_places.setdefault(tuple(places), []).append(form)
    return "; ".join(f"{', '.join(named)} in {', '.join(places)}" for places, named in by_places.items())


def _field_line(key: _Key, cases: list[Case], every: list[Case]) -> Line:
    subject = f"with {', '.join(_names(cases, every))}"
    places = list(dict.fromkeys(case.place for case in cases))
    if set(places) != {case.place for case in every}:
        subject += f" in {', '.join(places)}"
    return Line(key[0], subject, _details(*key), True)


def _base(case: Case) -> str:
    """Return the field of a case, without its variant."""
    return (case.field or "").partition(" (")[0]


def _is_absent(name: str, fields: list[Case]) -> bool:
    """Return whether a field is absent in all variants and at all places."""
    return all(case.verdict == "absent" for case in fields if _base(case) == name)


def _names(cases: list[Case], every: list[Case]) -> list[str]:
    """Return the names of fields; with the variant if not all variants have the same outcome."""
    named = list(dict.fromkeys((_base(case), str(case.field)) for case in cases))
    variants = {(_base(case), str(case.field)) for case in every}
    whole = {base for base, _ in named if {variant for variant in variants if variant[0] == base} <= set(named)}
    return list(dict.fromkeys(base if base in whole else variant for base, variant in named))


def _details(verdict: str, becomes: tuple[str, ...], why: tuple[str, ...]) -> str:
    """Return the texts of the losses, and the types that replace the content."""
    if verdict == "absent":
        return "the API has no such content"
    if verdict == "silent":
        after = f"becomes {_and(becomes)}" if becomes else "changes"
        return f"{after}, and no loss is reported"
    text = "; ".join(why) or verdict
    return f"{text}; becomes {_and(becomes)}" if becomes and verdict != "exact" else text


def _and(names: Iterable[str]) -> str:
    return " and ".join(map(short_type, names))


# -- equal outcomes ----------------------------------------------------------------------------------------------------


def groups(matrix: Matrix, api: str) -> list[Group]:
    """Return every outcome at one API, with the types that share it. Cells without cases are left out."""
    types_of: dict[tuple[str, str, str, tuple[Line, ...]], list[str]] = {}
    for cell in matrix.contents:
        if cell.api == api and cell.cases:
            key = (cell.of, cell.origin, cell.verdict, tuple(lines(cell)))
            types_of.setdefault(key, []).append(cell.type)
    ordered = sorted(types_of.items(), key=lambda item: _order(item[0]))
    # Anchors are numbers, since an API id may be any text.
    number = [entry.api for entry in matrix.apis].index(api) + 1
    return [Group(f"{number}-{n}", *key[:3], tuple(types), key[3]) for n, (key, types) in enumerate(ordered, 1)]


def _order(key: tuple[str, str, str, Any]) -> tuple[int, int, int]:
    return ("request", "response").index(key[0]), ("own", "foreign").index(key[1]), list(MARKS).index(key[2])


def pairs(matrix: Matrix) -> list[Pair]:
    """Return the crossings of every pair of APIs."""
    by_pair: dict[tuple[str, str], list[Crossing]] = {}
    for crossing in matrix.crossings:
        by_pair.setdefault((crossing.source, crossing.target), []).append(crossing)
    return [Pair(source, target, _counted(crossed), tuple(crossed)) for (source, target), crossed in by_pair.items()]


def _counted(crossed: Iterable[Crossing]) -> dict[str, int]:
    counts = Counter(crossing.verdict for crossing in crossed)
    return {verdict: counts[verdict] for verdict in MARKS if counts[verdict]}
