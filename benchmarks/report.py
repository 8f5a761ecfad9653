"""Write the figures as tables, to the terminal and to the documentation."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

from peers import Peer

COMMAND = "make bench BENCH_ARGS=--markdown"
BEGIN = "<!-- figures: written by `{command}` -->"
END = "<!-- /figures -->"


def milliseconds(seconds: float) -> str:
    """Format a time: µs below a millisecond, else ms."""
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.{2 if seconds < 0.1 else 0}f} ms"


def times(ratio: float) -> str:
    """Format a ratio, with two decimals below 10."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


class Table:
    """Rows of text under a title."""

    def __init__(self, title: str, columns: tuple[str, ...]) -> None:
        self.title = title
        self.columns = columns
        self.rows: list[tuple[str, ...]] = []

    def row(self, *cells: str) -> None:
        self.rows.append(cells)

    def text(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[index]) for line in lines) for index in range(len(self.columns))]
        rendered = [
            "  ".join(
                _aligned(index, cell, width) for index, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        return "\n".join(["", self.title, "-" * len(self.title), *(line.rstrip() for line in rendered)])

    def markdown(self) -> str:
        rule = [":--" if _is_left(index) else "--:" for index in range(len(self.columns))]
        lines = [self.columns, rule, *self.rows]
        return "\n".join([f"### {self.title}", "", *("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)])


class Report:
    """All tables of a run. Each is printed as soon as it is added."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self._unmeasured: dict[tuple[str, str], list[str]] = {}
        print("\n".join(_circumstances()))

    def add(self, table: Table) -> None:
        print(table.text(), flush=True)
        self.tables.append(table)

    def detail(self, table: Table) -> None:
        """Print a table only to the terminal."""
        print(table.text(), flush=True)

    def unmeasured(self, name: str, subject: str, reason: str) -> None:
        """Record what a library was not measured on, and why."""
        self._unmeasured.setdefault((name, reason), []).append(subject)

    def add_unmeasured(self) -> None:
        """Add the table of all that was not measured."""
        if self._unmeasured:
            table = Table("Not measured", ("", "why", "what"))
            for (name, reason), subject in self._unmeasured.items():
                table.row(name, reason, "; ".join(dict.fromkeys(subject)))
            self.add(table)

    def about_peers(self, peers: list[Peer]) -> None:
        if peers:
            table = Table("Peers", ("", "version", "measured through"))
            for peer in peers:
                table.row(peer.name, peer.version, peer.failure or peer.through)
            self.add(table)

    def write(self, path: Path, command: str = COMMAND) -> None:
        """Write the tables between the markers of a page. Raises SystemExit if it has none of this command."""
        page = path.read_text("utf-8")
        marker = BEGIN.format(command=command)
        before, begin, rest = page.partition(marker)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"{path.name} has no markers to write the figures between")
        facts = "\n".join(f"- {fact}" for fact in _circumstances())
        body = "\n\n".join(table.markdown() for table in self.tables)
        path.write_text(f"{before}{marker}\n\n{facts}\n\n{body}\n\n{END}{after}", "utf-8")


def _circumstances() -> list[str]:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [
        f"Date: {today}",
        f"Machine: {_processor()}, {os.cpu_count()} cores",
        f"{platform.python_implementation()} {platform.python_version()}, msgspec {version('msgspec')}, "
        f"contentmodel {version('contentmodel')}",
    ]


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _is_left(index: int) -> bool:
    return index == 0


def _aligned(index: int, cell: str, width: int) -> str:
    return cell.ljust(width) if _is_left(index) else cell.rjust(width)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
