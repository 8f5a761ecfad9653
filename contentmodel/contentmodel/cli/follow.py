"""`contentmodel show` of a stream: live on a terminal, else the transcript of the complete stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.text import Text

from contentmodel.cli.console import Terminal, safe_text
from contentmodel.cli.errors import BAD_DOCUMENT, print_problem, problem_of
from contentmodel.cli.incoming import NAMED_BY_API, STREAM, Stream, Turn, is_broken, read_turn, report_broken
from contentmodel.cli.pieces import Page, Parts, draw, indented
from contentmodel.cli.transcript import beginning, ending, heading, transcript
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.events import BlockCatchUp, BlockStart, BlockStop, Fold, StreamEvent, TurnStart

_TAIL = 800
_TAIL_LINES = 8


def show_stream(stream: Stream, api: str | None, console: Terminal, page: Page) -> int:
    """Show one stream. Return the exit code."""
    try:
        turn = read_turn(stream, api)
        console.print(Rule(safe_text(f"{turn.api} {STREAM}", "bold")))
        fold = Fold()
        for part in _live(turn, fold, console, page) if _is_live(console) else _whole(turn, fold, page):
            console.print(part)
    except BAD_DOCUMENT as fault:
        problem = problem_of(fault, stream.name, NAMED_BY_API)
        print_problem(problem)
        return problem.code
    error = fold.response.error
    if error is not None and is_broken(turn, error):
        return report_broken(turn, error, "the part before the fault is shown")
    return 0


def _is_live(console: Terminal) -> bool:
    # Not `console.is_terminal`: it is also true if colours are forced for output that cannot be rewritten.
    return sys.stdout is not None and sys.stdout.isatty() and not console.is_dumb_terminal


def _whole(turn: Turn, fold: Fold, page: Page) -> Parts:
    for batch in turn.batches:
        for event in batch:
            fold.feed(event)
    yield from transcript(fold.response, page)


def _live(turn: Turn, fold: Fold, console: Terminal, page: Page) -> Parts:
    """Yield each block when it is complete. Open blocks are drawn below, and redrawn as they grow."""
    following = Following(fold, page)
    with Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:
        for batch in turn.batches:
            parts = [part for event in batch for part in following.feed(event)]
            # Remove finished blocks from the open blocks before they are printed above them.
            live.update(Group(*following.open_blocks()), refresh=True)
            yield from parts
    yield from following.close()


class Following:
    """The display of a turn that is still arriving."""

    def __init__(self, fold: Fold, page: Page) -> None:
        self._fold = fold
        self._page = page
        self._open: set[int] = set()
        self._choices: dict[int, int] = {}
        self._shown: dict[int, AIContent] = {}
        self._choice = -1

    def feed(self, event: StreamEvent) -> Parts:
        """Yield the parts that are final."""
        self._fold.feed(event)
        if isinstance(event, TurnStart):
            yield from beginning(event.response)
        elif isinstance(event, BlockStart | BlockCatchUp):
            self._choices.setdefault(event.index, event.choice)
            if isinstance(event, BlockStart):
                self._open.add(event.index)
        elif isinstance(event, BlockStop):
            self._open.discard(event.index)
            yield from self._show(event.index)

    def open_blocks(self) -> Parts:
        """Yield the last lines of the open blocks."""
        for index in sorted(self._open):
            yield from _end_of(self._fold.content(index), self._page)

    def close(self) -> Parts:
        """Yield the blocks that changed after they were shown, then the finish reason and the usage."""
        for index in sorted(self._choices):
            content = self._fold.content(index)
            if self._shown.get(index) != content:
                if index in self._shown:
                    yield Text("(changed after it was shown:)", style="dim")
                yield from self._show(index)
        yield from ending(self._fold.response, self._page)

    def _show(self, index: int) -> Parts:
        choice, content = self._choices[index], self._fold.content(index)
        if choice != self._choice:
            self._choice = choice
            yield Text()
            yield heading("assistant", "blue", f"answer {choice + 1}" if choice else None)
        self._shown[index] = content
        yield from draw(content, self._page)


def _end_of(content: Any, page: Page) -> Iterator[RenderableType]:
    """Yield the last lines of an incomplete content."""
    if isinstance(content, ToolCallContent):
        yield from draw(msgspec.structs.replace(content, arguments=None), page)
        yield from indented([safe_text(_tail(content.arguments_text), "dim")], 4)
    elif isinstance(content, TextContent | ReasoningContent):
        yield from draw(msgspec.structs.replace(content, text=_tail(content.text), annotations=None), page)
    else:
        yield from draw(content, page)


def _tail(text: str) -> str:
    return "\n".join(text[-_TAIL:].splitlines()[-_TAIL_LINES:])
