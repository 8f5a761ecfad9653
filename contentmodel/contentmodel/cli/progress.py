"""A progress bar, for input that takes a while."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from contentmodel.cli.read import Document, Source

LONG_BYTES = 1_000_000
LONG_LINES = 200


def tracked(source: Source, console: Console) -> Iterator[Document]:
    """The documents of a source, with a bar on `console` once the input turns out to be long."""
    bar: Progress | None = None
    done = 0
    try:
        for count, document in enumerate(source.documents):
            if bar is None and (source.size > LONG_BYTES or count >= LONG_LINES):
                bar = _start(source, console)
            yield document
            done += len(document.data) + 1
            if bar is not None:
                bar.update(bar.task_ids[0], completed=min(done, source.size))
    finally:
        if bar is not None:
            bar.stop()


def _start(source: Source, console: Console) -> Progress:
    columns = (TextColumn("converting"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    bar.add_task("converting", total=source.size)
    bar.start()
    return bar
