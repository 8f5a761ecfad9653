"""A progress bar for long inputs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from contentmodel.cli.console import err
from contentmodel.cli.read import Document, Source

LONG_BYTES = 1_000_000
LONG_LINES = 200


def documents_of(source: Source, doing: str, *, quiet: bool = False, prints: bool = True) -> Iterable[Document]:
    """Return the documents of a source, with a progress bar if standard error is a terminal that shows nothing else.

    `prints`: the caller writes to standard output before it takes the next document.
    """
    console = err()
    to_terminal = prints and sys.stdout is not None and sys.stdout.isatty()
    if quiet or to_terminal or not console.is_terminal:
        return source.documents
    return tracked(source, doing, console)


def tracked(source: Source, doing: str, console: Console) -> Iterator[Document]:
    """Yield the documents of a source, with a bar on `console` once the input is known to be long."""
    bar: Progress | None = None
    bytes_read = 0
    try:
        for count, document in enumerate(source.documents):
            if bar is None and (count >= LONG_LINES or (source.size or 0) > LONG_BYTES):
                bar = _start(source, doing, console)
            yield document
            bytes_read += document.size + 1
            if bar is not None:
                bar.update(
                    bar.task_ids[0], completed=bytes_read if source.size is None else min(bytes_read, source.size)
                )
    finally:
        if bar is not None:
            bar.stop()


def _start(source: Source, doing: str, console: Console) -> Progress:
    """Start a bar. One document is converted as a whole: its bar moves without an end."""
    size: tuple[ProgressColumn, ...] = (DownloadColumn(), TimeRemainingColumn())
    columns = (TextColumn(doing), BarColumn(), *(size if source.is_lines else (TimeElapsedColumn(),)))
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    bar.add_task(doing, total=source.size if source.is_lines else None)
    bar.start()
    return bar
