"""Where the agents keep their sessions, and how each resumes or forks one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Command = list[str]


@dataclass(frozen=True)
class Storage:
    """The session files of an agent.

    `sessions` is the pattern of the session files below the home, and `kept` are the files and folders that a recording
    keeps. `session_of` returns the id of a session. `resumed` and `forked` change a command for a new session to one
    that continues a session. `put` copies a session file into a home, to the place where the agent looks for it.
    """

    sessions: str
    kept: tuple[str, ...]
    session_of: Callable[[Path], str]
    resumed: Callable[[Command, str], Command]
    forked: Callable[[Command, str], Command] | None
    put: Callable[[Path, Path, Path], Path]

    def files(self, home: Path) -> list[Path]:
        """Return the session files of a home, the newest last."""
        return sorted(home.glob(self.sessions), key=lambda path: path.stat().st_mtime_ns)

    def newest(self, home: Path) -> str:
        """Return the id of the newest session of a home, except those of sub-agents. Raises LookupError if none."""
        found = [path for path in self.files(home) if not is_sub_agent(path)]
        if not found:
            raise LookupError(f"the agent wrote no session: {home} has no {self.sessions}")
        return self.session_of(found[-1])


def is_sub_agent(path: Path) -> bool:
    """Return whether a file is the session of a sub-agent of Codex. Other agents keep these in separate folders."""
    with path.open() as lines:
        payload = json.loads(lines.readline()).get("payload")
    return isinstance(payload, dict) and payload.get("thread_source") == "subagent"


def _copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    return target


def _first(path: Path, *names: str) -> str:
    """Return a field of the first line of a file that has it. `names` is its path in the line."""
    with path.open() as lines:
        for line in lines:
            value = json.loads(line)
            for name in names:
                value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, str):
                return value
    raise LookupError(f"{path} has no {'.'.join(names)}")


# -- Claude Code -------------------------------------------------------------------------------------------------------


def _put_claude(source: Path, home: Path, project: Path) -> Path:
    folder = home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    beside = source.with_suffix("")  # The agent keeps large results and sub-agents in a folder beside the file.
    name = _first(source, "sessionId")
    if beside.is_dir():
        shutil.copytree(beside, folder / name, dirs_exist_ok=True)
    return _copy(source, folder / f"{name}.jsonl")


CLAUDE = Storage(
    sessions=".claude/projects/*/*.jsonl",
    kept=(".claude/projects", ".claude/file-history", ".claude/tasks", ".claude/todos", ".claude/history.jsonl"),
    session_of=lambda path: path.stem,
    resumed=lambda command, session: [*command, "--resume", session],
    forked=lambda command, session: [*command, "--resume", session, "--fork-session"],
    put=_put_claude,
)


# -- Codex -------------------------------------------------------------------------------------------------------------


def _put_codex(source: Path, home: Path, project: Path) -> Path:
    session, time = _first(source, "payload", "id"), _first(source, "timestamp")
    year, month, day = time[:10].split("-")
    # After a revert, a thread has several files: their names have the id of the thread, and then one of their own.
    own = re.search(f"-{session}(_[0-9a-f-]+)?$", source.stem)
    name = f"rollout-{time[:19].replace(':', '-')}-{session}{own[1] or '' if own else ''}.jsonl"
    return _copy(source, home / ".codex" / "sessions" / year / month / day / name)


CODEX = Storage(
    sessions=".codex/sessions/*/*/*/rollout-*.jsonl",
    kept=(".codex/sessions", ".codex/archived_sessions", ".codex/history.jsonl", ".codex/session_index.jsonl"),
    session_of=lambda path: _first(path, "payload", "id"),
    resumed=lambda command, session: [*command[:-1], "resume", session, command[-1]],
    forked=lambda command, session: [*command[:-1], "fork", session, command[-1]],
    put=_put_codex,
)


# -- Gemini CLI --------------------------------------------------------------------------------------------------------


def _put_gemini(source: Path, home: Path, project: Path) -> Path:
    folder = home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "projects.json").write_text(json.dumps({"projects": {str(project): project.name}}))
    for kind in ("tmp", "history"):
        (folder / kind / project.name).mkdir(parents=True, exist_ok=True)
        (folder / kind / project.name / ".project_root").write_text(str(project))
    session, time = _first(source, "sessionId"), _first(source, "startTime")
    name = f"session-{time[:16].replace(':', '-')}-{session[:8]}{source.suffix}"
    return _copy(source, folder / "tmp" / project.name / "chats" / name)


GEMINI = Storage(
    sessions=".gemini/tmp/*/chats/session-*",
    kept=(".gemini/tmp", ".gemini/projects.json"),
    session_of=lambda path: _first(path, "sessionId"),
    resumed=lambda command, session: [*command, "--resume", session],
    forked=None,
    put=_put_gemini,
)

STORAGES = {"claude-code": CLAUDE, "codex": CODEX, "codex-scripts": CODEX, "gemini-cli": GEMINI}
"""The storage of each agent, by the agent's name."""
