"""Reports: the rows, errors and counts of a shard, and their sums for a job."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from contentmodel.datasets.rows import Row

_GROUPS = 500
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


class Report(msgspec.Struct):
    """The result of a shard, or of a job: `total`, and the same by `models` and by `days`, where rows have them.

    `seconds` is the time of the workers.
    """

    total: Group = msgspec.field(default_factory=Group)
    models: dict[str, Group] = {}
    days: dict[str, Group] = {}
    seconds: float = 0

    def add_row(self, row: Row) -> None:
        """Add a row."""
        self.total.add_row(row)
        for groups, name in ((self.models, row.model), (self.days, row.day)):
            if name is not None:
                _group(groups, _text(name)).add_row(row)

    def add(self, other: Report) -> None:
        """Add the report of another shard."""
        self.total.add(other.total)
        self.seconds += other.seconds
        for groups, others in ((self.models, other.models), (self.days, other.days)):
            for name, group in others.items():
                _group(groups, name).add(group)


def _group(groups: dict[str, Group], name: str) -> Group:
    if name not in groups and len(groups) >= _GROUPS:
        name = REST
    return groups.setdefault(name, Group())


def _text(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()[:200]
