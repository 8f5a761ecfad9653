"""Reports: the rows, errors and counts of a shard, and their sums for a job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from contentmodel.datasets.rows import Detail, Row

_GROUPS, _PATHS = 500, 50
SAMPLED_ROWS = 20
"""The number of rows of a shard whose fields are listed for each code."""
_INDEX = re.compile(r"\[\d+\]")
REST = "(others)"
"""The name of the group for further models and days, if a report has more than its limit."""


class Group(msgspec.Struct):
    """The numbers of rows, of errors, and of each code that the rows count: losses, violations, contents."""

    rows: int = 0
    errors: int = 0
    counts: dict[str, int] = {}

    def add_row(self, row: Row) -> None:
        """Add a row."""
        self.rows += 1
        self.errors += row.error is not None
        self._count(row.counts)

    def add(self, other: Group) -> None:
        """Add the numbers of another group."""
        self.rows += other.rows
        self.errors += other.errors
        self._count(other.counts)

    def _count(self, counts: Mapping[str, int]) -> None:
        for code, number in counts.items():
            self.counts[code] = self.counts.get(code, 0) + number


class Fields(msgspec.Struct):
    """The fields behind a code, from the first rows of each shard that have it: their number is `rows`.

    `kinds` counts the kinds of the losses, or the severities of the violations. `paths` counts their paths, with `*` in
    place of each index. `example` is the first of them, with its path and its reason.
    """

    rows: int = 0
    kinds: dict[str, int] = {}
    paths: dict[str, int] = {}
    example: Detail | None = None

    def add_details(self, details: Iterable[Detail]) -> None:
        """Add the losses or violations of one row."""
        self.rows += 1
        for detail in details:
            self.example = self.example or detail
            self.kinds[detail.kind] = self.kinds.get(detail.kind, 0) + 1
            self._add_path(_INDEX.sub("[*]", detail.path), 1)

    def add(self, other: Fields) -> None:
        """Add the fields of another shard."""
        self.rows += other.rows
        self.example = self.example or other.example
        for kind, number in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + number
        for path, number in other.paths.items():
            self._add_path(path, number)

    def _add_path(self, path: str, number: int) -> None:
        path = path if path in self.paths or len(self.paths) < _PATHS else REST
        self.paths[path] = self.paths.get(path, 0) + number


class Report(msgspec.Struct):
    """The result of a shard, or of a job: `total`, and the same by `models` and by `days`, where rows have them.

    `fields` has the fields of each code of losses and violations. `seconds` is the time of the workers, `data_bytes`
    the size of the results.
    """

    total: Group = msgspec.field(default_factory=Group)
    models: dict[str, Group] = {}
    days: dict[str, Group] = {}
    fields: dict[str, Fields] = {}
    seconds: float = 0
    data_bytes: int = 0

    def add_row(self, row: Row) -> None:
        """Add a row."""
        self.total.add_row(row)
        self._sample(row)
        for groups, name in ((self.models, row.model), (self.days, row.day)):
            if name is not None:
                _group(groups, _text(name)).add_row(row)

    def add(self, other: Report) -> None:
        """Add the report of another shard."""
        self.total.add(other.total)
        self.seconds += other.seconds
        self.data_bytes += other.data_bytes
        for code, fields in other.fields.items():
            self.fields.setdefault(code, Fields()).add(fields)
        for groups, others in ((self.models, other.models), (self.days, other.days)):
            for name, group in others.items():
                _group(groups, name).add(group)

    def _sample(self, row: Row) -> None:
        """Add the fields of a row whose codes are still rare: to find the paths of losses takes time."""
        rare = [code for code in row.counts if code not in self.fields or self.fields[code].rows < SAMPLED_ROWS]
        if row.details is None or not rare:
            return
        details = row.details()
        for code in rare:
            self.fields.setdefault(code, Fields()).add_details(detail for detail in details if detail.code == code)


def _group(groups: dict[str, Group], name: str) -> Group:
    if name not in groups and len(groups) >= _GROUPS:
        name = REST
    return groups.setdefault(name, Group())


def _text(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()[:200]
