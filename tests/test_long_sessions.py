"""`contentmodel sessions convert` of long files: the progress bar, and the memory."""

from __future__ import annotations

import tracemalloc
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import typer.testing
from rich.console import Console

from conftest import slow
from contentmodel.cli.app import app
from contentmodel.encoded import Encoded
from contentmodel.lines import parse_lines, write_lines
from session_files import Claude, call


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a session with large results: their texts are most of the file."""
    file = Claude()
    for number in range(60):
        file.user(f"Prompt {number}.")
        file.answer(f"msg_{number}", call(f"toolu_{number}", command="ls"))
        file.result(f"toolu_{number}", f"line of the output {number}\n" * 4_000)
    path = tmp_path / "session.jsonl"
    path.write_bytes(write_lines(file.lines))
    return path


def convert(path: Path, *options: str) -> Any:
    words = ["sessions", "convert", str(path), "--to", "codex", "--output", str(path.with_name("out.jsonl")), *options]
    result = typer.testing.CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("options", [[], slow(["--quiet"])])
def test_convert_shows_bar_on_terminal_unless_quiet(
    path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    terminal = StringIO()
    console = Console(file=terminal, force_terminal=True, width=80)
    monkeypatch.setattr("contentmodel.cli.progress.err", lambda: console)
    # Standard output is a terminal too: the session is written to a file.
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    result = convert(path, *options)
    assert ("converting" in terminal.getvalue()) == (not options)
    assert "converting" not in result.stdout


def test_convert_writes_output_line_by_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoded, "to_json", None)
    convert(path)
    lines = parse_lines(path.with_name("out.jsonl").read_bytes())
    assert lines[0]["type"] == "session_meta"
    assert len(lines) == 1 + 3 * 60


def test_convert_needs_little_more_memory_than_the_file(path: Path) -> None:
    """The parsed texts have the size of the file: its bytes, a copy, or the joined output would double it."""
    convert(path)  # Imports modules and compiles tables.
    path.with_name("out.jsonl").unlink()
    tracemalloc.start()
    convert(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * path.stat().st_size
