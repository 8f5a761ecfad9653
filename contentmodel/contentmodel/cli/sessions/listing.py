"""Print the list of sessions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from contentmodel.cli.console import Terminal, safe_text
from contentmodel.cli.sessions.agents import Session
from contentmodel.cli.sessions.finding import short_ids

_PROMPT_CHARACTERS = 100
_PROJECT_CHARACTERS = 24
_KILO = 1000


def as_object(session: Session) -> dict[str, Any]:
    """Return a session as a JSON object."""
    return {
        "id": session.id,
        "agent": session.agent.name,
        "api": session.agent.api,
        "path": str(session.path),
        "directory": session.directory,
        "created": session.created,
        "changed": _time(session, "%Y-%m-%dT%H:%M:%SZ"),
        "size": session.size,
        "prompt": session.prompt,
        "is_sub_agent": session.is_sub_agent,
        "note": session.note or None,
    }


def print_sessions(shown: list[Session], every: Iterable[Session], console: Terminal) -> None:
    """Print one line for each session. On a terminal, lines are cut at the terminal's width."""
    ids = short_ids(shown, every)
    rows = [
        (_time(session, "%Y-%m-%d %H:%M"), session.agent.name, _size(session.size), ids[session.id], _project(session))
        for session in shown
    ]
    widths = [max(map(len, column)) for column in zip(_HEAD, *rows, strict=True)]
    _print(console, Text(_line(_HEAD, widths) + "first words", style="bold"))
    for session, row in zip(shown, rows, strict=True):
        _print(console, safe_text(_line(row, widths)).append_text(_prompt_or_note(session)))


_HEAD = ("changed (UTC)", "agent", "size", "id", "project")


def _line(row: Iterable[str], widths: Iterable[int]) -> str:
    cells = zip(_HEAD, row, widths, strict=True)
    return "".join(f"{cell:>{width}}  " if name == "size" else f"{cell:<{width}}  " for name, cell, width in cells)


def _print(console: Terminal, line: Text) -> None:
    if console.is_terminal:
        console.print(line, no_wrap=True, overflow="ellipsis")
    else:
        console.print(line, soft_wrap=True)


def _time(session: Session, form: str) -> str:
    return f"{datetime.fromtimestamp(session.changed, UTC):{form}}"


def _size(size: int) -> str:
    """Return a readable size: "512 B", "12 kB" or "3.4 MB"."""
    if size < _KILO:
        return f"{size} B"
    return f"{size / _KILO:.0f} kB" if size < _KILO**2 else f"{size / _KILO**2:.1f} MB"


def _project(session: Session) -> str:
    """Return the last folder of the project's path, shortened."""
    name = " ".join((session.directory or "").replace("\\", "/").rstrip("/").split("/")[-1].split())
    return name if len(name) <= _PROJECT_CHARACTERS else f"{name[: _PROJECT_CHARACTERS - 1]}…"


def _prompt_or_note(session: Session) -> Text:
    if session.note:
        return safe_text(session.note, "red")
    if session.prompt is None:
        return Text("no prompt in the first lines", style="dim")
    return safe_text(" ".join(session.prompt[:_PROMPT_CHARACTERS].split()))
