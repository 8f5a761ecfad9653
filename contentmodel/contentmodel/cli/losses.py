"""The losses of a conversion: a summary for the terminal, and a JSON list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from contentmodel.cli.console import safe_text
from contentmodel.cli.output import Write, layout
from contentmodel.cli.read import Document
from contentmodel.display import count_of
from contentmodel.json import write
from contentmodel.losses import Loss
from contentmodel.reasons import UNLISTED

_GROUPS_SHOWN = 12
_NAMED = 3
"""The number of values and of paths that are named for a group."""
LOSS_STYLES = {
    "dropped": "red",
    "degraded": "yellow",
    "moved": "cyan",
    "synthesized": "blue",
    "insignificant": "dim",
}


@dataclass
class Group:
    """Losses of one code: their number, values, reasons, and first paths."""

    count: int = 0
    values: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    def add(self, loss: Loss, path: str) -> None:
        self.count += 1
        self.values[loss.what] = None
        self.reasons[loss.why] = None
        if len(self.paths) < _NAMED:
            self.paths.append(path)


def _code_of(loss: Loss) -> str:
    """Return the key that losses are grouped by: the code, or the text of a loss without a code."""
    return f"{loss.what}: {loss.why}" if loss.code == UNLISTED else loss.code


@dataclass
class Tally:
    """The losses of all documents, counted for the summary and written to `listing` as they are added."""

    listing: Write | None = None
    documents: int = 0
    converted: int = 0
    count: int = 0
    insignificant: int = 0
    groups: dict[tuple[str, str], Group] = field(default_factory=dict)

    def add(self, document: Document, losses: Sequence[Loss]) -> None:
        for loss in losses:
            if loss.is_significant:
                self.count += 1
                self.groups.setdefault((loss.kind, _code_of(loss)), Group()).add(loss, document.at(loss.path))
            else:
                self.insignificant += 1
        if self.listing is not None:
            self.listing(_listed(document, losses))


def _listed(document: Document, losses: Sequence[Loss]) -> bytes:
    if document.line is None:
        return layout(write([_with_line(document, loss) for loss in losses]), pretty=True)
    return layout(write({"line": document.line, "losses": list(losses)}), pretty=False)


def _with_line(document: Document, loss: Loss) -> Any:
    """Return a loss as JSON values, with its line number if the document is JSON Lines."""
    number = document.line_of(loss.path)
    return loss if number is None else {"line": number, **msgspec.to_builtins(loss)}


def print_tally(tally: Tally, console: Console, *, target: str, is_lines: bool) -> None:
    """Print one line, and a table of the losses."""
    if not is_lines and not tally.converted:
        print_groups(tally, console)
        return
    subject = f"{tally.converted:,} of {count_of(tally.documents, 'document')} converted" if is_lines else "converted"
    console.print(f"{subject} to {target}:", end=" ")
    if tally.count:
        console.print(count_of(tally.count, "loss"), style="yellow")
    else:
        console.print("nothing lost", style="green")
    print_groups(tally, console)


def print_groups(tally: Tally, console: Console) -> None:
    """Print the table, the most frequent losses first, and the number of insignificant losses."""
    most = sorted(tally.groups.items(), key=lambda item: -item[1].count)
    if most:
        console.print(_table(most[:_GROUPS_SHOWN]))
    if len(most) > _GROUPS_SHOWN:
        more = f"and {count_of(len(most) - _GROUPS_SHOWN, 'other kind')} of loss; --losses FILE lists all losses"
        console.print(more, style="dim")
    if tally.insignificant:
        is_one = tally.insignificant == 1
        subject = f"{count_of(tally.insignificant, 'insignificant value')} {'is' if is_one else 'are'}"
        console.print(f"{subject} not shown; --losses FILE lists {'it' if is_one else 'them'}", style="dim")


def _table(groups: Iterable[tuple[tuple[str, str], Group]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("values: reason, and first paths", overflow="fold")
    for (kind, _), group in groups:
        text = safe_text(f"{_named(group.values, ', ')}: {_named(group.reasons, '; ', most=1)}\n")
        text.append_text(safe_text(_paths(group), "dim"))
        table.add_row(f"{group.count:,}", safe_text(kind, LOSS_STYLES.get(kind, "")), text)
    return table


def _named(texts: Iterable[str], separator: str, *, most: int = _NAMED) -> str:
    first, others = (all_texts := list(texts))[:most], len(all_texts) - most
    return separator.join(first) + (f" and {others} more" if others > 0 else "")


def _paths(group: Group) -> str:
    return ", ".join(group.paths) + (", ..." if group.count > len(group.paths) else "")
