"""`contentmodel show` of a stream: as it comes on a terminal, else the transcript that it amounts to."""

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
    """Shows one stream. Gives the exit code."""
    try:
        turn = read_turn(stream, api)
        console.print(Rule(safe_text(f"{turn.api} {STREAM}", "bold")))
        gathered = Fold()
        for part in _live(turn, gathered, console, page) if _is_live(console) else _whole(turn, gathered, page):
            console.print(part)
    except BAD_DOCUMENT as fault:
        problem = problem_of(fault, stream.name, NAMED_BY_API)
        print_problem(problem)
        return problem.code
    error = gathered.response.error
    if error is not None and is_broken(turn, error):
        return report_broken(turn, error, "what came before it is shown")
    return 0


def _is_live(console: Terminal) -> bool:
    # Not `console.is_terminal`: colours may be forced where nothing can be written twice.
    return sys.stdout is not None and sys.stdout.isatty() and not console.is_dumb_terminal


def _whole(turn: Turn, gathered: Fold, page: Page) -> Parts:
    for batch in turn.batches:
        for event in batch:
            gathered.feed(event)
    yield from transcript(gathered.response, page)


def _live(turn: Turn, gathered: Fold, console: Terminal, page: Page) -> Parts:
    """Each block when it is complete. What is open stands below, and is written anew as it grows."""
    following = Following(gathered, page)
    with Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:
        for batch in turn.batches:
            parts = [part for event in batch for part in following.feed(event)]
            # What is finished leaves the open ones before it is printed above them.
            live.update(Group(*following.open_blocks()), refresh=True)
            yield from parts
    yield from following.close()


class Following:
    """A turn as it is shown while it comes."""

    def __init__(self, gathered: Fold, page: Page) -> None:
        self._gathered = gathered
        self._page = page
        self._open: set[int] = set()
        self._choices: dict[int, int] = {}
        self._shown: dict[int, AIContent] = {}
        self._choice = -1

    def feed(self, event: StreamEvent) -> Parts:
        """What is to be shown for good."""
        self._gathered.feed(event)
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
        """The ends of what is not complete."""
        for index in sorted(self._open):
            yield from _end_of(self._gathered.content(index), self._page)

    def close(self) -> Parts:
        """Blocks that changed after they were shown, as they are now; then how it ended, and what it cost."""
        for index in sorted(self._choices):
            content = self._gathered.content(index)
            if self._shown.get(index) != content:
                if index in self._shown:
                    yield Text("(changed since it was shown:)", style="dim")
                yield from self._show(index)
        yield from ending(self._gathered.response, self._page)

    def _show(self, index: int) -> Parts:
        choice, content = self._choices[index], self._gathered.content(index)
        if choice != self._choice:
            self._choice = choice
            yield Text()
            yield heading("assistant", "blue", f"answer {choice + 1}" if choice else None)
        self._shown[index] = content
        yield from draw(content, self._page)


def _end_of(content: Any, page: Page) -> Iterator[RenderableType]:
    """The last lines of a content that grows."""
    if isinstance(content, ToolCallContent):
        yield from draw(msgspec.structs.replace(content, arguments=None), page)
        yield from indented([safe_text(_tail(content.arguments_text), "dim")], 4)
    elif isinstance(content, TextContent | ReasoningContent):
        yield from draw(msgspec.structs.replace(content, text=_tail(content.text), annotations=None), page)
    else:
        yield from draw(content, page)


def _tail(text: str) -> str:
    return "\n".join(text[-_TAIL:].splitlines()[-_TAIL_LINES:])
