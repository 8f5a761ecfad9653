"""Load a session: its lines, the earlier lines of a fork from other files, and large results from their own files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contentmodel.cli.errors import Problem, naming
from contentmodel.cli.opening import open_binary
from contentmodel.cli.progress import documents_of
from contentmodel.cli.read import Document, Source
from contentmodel.cli.sessions.agents import CODEX, Session
from contentmodel.lines import ParsedLines, parse_lines

_PERSISTED = "<persisted-output>"
_SAVED_TO = re.compile(r"saved to: (.+)")
_RESULTS = "tool-results"
_ID = re.compile(r"[0-9A-Za-z-]+")


@dataclass(frozen=True)
class Loaded:
    """The lines of a session, and the document for error messages and losses, which maps values to line numbers."""

    session: Session
    document: Document
    lines: ParsedLines


def load_session(
    session: Session,
    *,
    alone: bool = False,
    full_results: bool = False,
    doing: str = "reading",
    quiet: bool = False,
    prints: bool = True,
) -> Iterator[Loaded]:
    """Yield one loaded session. A progress bar is shown for a long file until the caller takes the next value.

    If the session is a fork or a revert of Codex, the lines before it come first, unless `alone`. With `full_results`,
    large results of Claude Code are read from their own files. `prints`: the caller writes to standard output.
    """
    name = str(session.path)
    document = Document(session.path if session.data is None else session.data, name, api=session.agent.api)
    for each in documents_of(Source(name, False, document.size, [document]), doing, quiet=quiet, prints=prints):
        lines = each.lines()
        if full_results:
            lines[:] = [_with_full_results(line, session.path) for line in lines]
        before = [] if alone else _lines_before(session, lines, [session.path])
        # Paths in joined files have no line number in one of the files.
        yield Loaded(session, Document(b"", name) if before else each, ParsedLines([*before, *lines]))


# -- forks and reverts of Codex ----------------------------------------------------------------------------------------


def _lines_before(session: Session, lines: list[Any], seen: list[Path]) -> list[Any]:
    """Return the lines before a forked or reverted session, from other files. Raise Problem if a file is missing."""
    base = _base_of(lines) if session.agent is CODEX else None
    if base is None:
        return []
    thread, end = base.get("thread_id"), base.get("end_ordinal_exclusive")
    path = _file_of(thread, session.path, seen) if isinstance(thread, str) and _ID.fullmatch(thread) else None
    if path is None:
        hint = "copy that file to the same folder, or use --alone to read only the lines after the fork"
        raise Problem(f"{session.path}: it continues the session {thread}, whose file is not found", hint=hint)
    if not isinstance(end, int):
        hint = "use --alone to read only the lines after the fork"
        raise Problem(f"{session.path}: `history_base` has no number `end_ordinal_exclusive`", hint=hint)
    with open_binary(path) as file, naming(str(path)):
        before = parse_lines(file)
    older = _lines_before(Session(CODEX, path), before, [*seen, path])
    return [line for line in (*older, *before) if _ordinal(line, -1) < end]


def _base_of(lines: list[Any]) -> dict[str, Any] | None:
    for line in lines[:1]:
        payload = line.get("payload") if isinstance(line, dict) else None
        base = payload.get("history_base") if isinstance(payload, dict) else None
        return base if isinstance(base, dict) else None
    return None


def _ordinal(line: Any, default: int) -> int:
    number = line.get("ordinal") if isinstance(line, dict) else None
    return number if isinstance(number, int) else default


def _file_of(thread: str, path: Path, seen: list[Path]) -> Path | None:
    """Return the newest file of a thread that is older than a session file and not in `seen`, or None.

    The names of the files begin with their times. If all files are newer, return the newest.
    """
    ends = (".jsonl", ".jsonl.zst")
    candidates = {
        file.resolve(): file for root in _roots(path) for end in ends for file in root.rglob(f"rollout-*{thread}*{end}")
    }
    used = {file.resolve() for file in seen}
    files = [file for real, file in candidates.items() if real not in used and CODEX.id_of(file) == thread]
    older = [file for file in files if file.name < path.name] or files
    return max(older, key=lambda file: file.name, default=None)


def _roots(path: Path) -> list[Path]:
    """Return the folders to search for other files of a session: around its own file, and in Codex's home folder."""
    above = next((folder for folder in path.absolute().parents if folder.name in CODEX.roots), None)
    homes = [CODEX.home] if above is None else [above.parent, CODEX.home]
    beside = [path.absolute().parent] if above is None else []
    return [*beside, *(home / name for home in homes for name in sorted(CODEX.roots, reverse=True))]


# -- large results of Claude Code --------------------------------------------------------------------------------------


def _with_full_results(line: Any, path: Path) -> Any:
    """Return a line with the previews of large results replaced by the texts of their files, if the files exist."""
    message = line.get("message") if isinstance(line, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, list):
        return line
    blocks = [_full_result(block, path) for block in content]
    same = all(new is old for new, old in zip(blocks, content, strict=True))
    return line if same else {**line, "message": {**message, "content": blocks}}


def _full_result(block: Any, path: Path) -> Any:
    text = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
    saved = _SAVED_TO.search(text) if isinstance(text, str) and text.startswith(_PERSISTED) else None
    if saved is None:
        return block
    # Use only the name of the file: a session from elsewhere must not make the command read any file of this machine.
    file = path.with_suffix("") / _RESULTS / re.split(r"[/\\]", saved[1].strip())[-1]
    if not file.is_file() or file.parent.name != _RESULTS:
        return block
    return {**block, "content": file.read_text(encoding="utf-8", errors="replace")}
