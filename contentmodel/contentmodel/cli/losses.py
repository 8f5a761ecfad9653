"""What was lost, summed up for people and listed for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table

from contentmodel.cli.console import safe_text
from contentmodel.cli.output import Write, layout
from contentmodel.cli.read import Document
from contentmodel.wire.json import write
from contentmodel.wire.losses import Loss

_GROUPS_SHOWN = 12
LOSS_STYLES = {"dropped": "red", "degraded": "yellow", "moved": "cyan", "synthesized": "blue"}


@dataclass
class Group:
    """Losses of one kind, of one thing, for one reason."""

    count: int = 0
    first: str = ""


@dataclass
class Tally:
    """The losses of all documents: counted for the summary, and written to a list as they come."""

    listing: Write | None = None
    documents: int = 0
    converted: int = 0
    count: int = 0
    groups: dict[tuple[str, str, str], Group] = field(default_factory=dict)

    def add(self, document: Document, losses: Sequence[Loss]) -> None:
        self.count += len(losses)
        for loss in losses:
            group = self.groups.setdefault((loss.kind, loss.what, loss.why), Group())
            group.count += 1
            group.first = group.first or document.at(loss.path)
        if self.listing is not None:
            self.listing(_listed(document, losses))


def _listed(document: Document, losses: Sequence[Loss]) -> bytes:
    if document.line is None:
        return layout(write(list(losses)), pretty=True)
    return layout(write({"line": document.line, "losses": list(losses)}), pretty=False)


def print_tally(tally: Tally, console: Console, *, target: str, is_lines: bool) -> None:
    """One line, and a table of what was lost."""
    if not is_lines and not tally.converted:
        print_groups(tally, console)
        return
    subject = f"{tally.converted:,} of {tally.documents:,} documents converted" if is_lines else "converted"
    console.print(f"{subject} to {target}:", end=" ")
    if not tally.count:
        console.print("nothing lost", style="green")
        return
    console.print("1 loss" if tally.count == 1 else f"{tally.count:,} losses", style="yellow")
    print_groups(tally, console)


def print_groups(tally: Tally, console: Console) -> None:
    """The table alone: the most frequent losses first."""
    most = sorted(tally.groups.items(), key=lambda item: -item[1].count)
    console.print(_table(most[:_GROUPS_SHOWN]))
    if len(most) > _GROUPS_SHOWN:
        more = f"and {len(most) - _GROUPS_SHOWN} more kinds of loss: --losses FILE lists them all"
        console.print(more, style="dim")


def _table(groups: Iterable[tuple[tuple[str, str, str], Group]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("what, why, and where first", overflow="fold")
    for (kind, what, why), group in groups:
        said = safe_text(f"{what}: {why}\n").append_text(safe_text(group.first, "dim"))
        table.add_row(f"{group.count:,}", safe_text(kind, LOSS_STYLES.get(kind, "")), said)
    return table
