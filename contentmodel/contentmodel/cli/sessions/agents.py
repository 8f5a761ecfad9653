"""The coding agents: where their session files are, how to read the first lines, and how to resume a session."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from contentmodel.cli.errors import Problem
from contentmodel.cli.installed import points
from contentmodel.cli.opening import plain_name

_LONGEST_NAME = 200
"""The largest length of a project folder's name. Claude Code shortens a longer one, and appends a hash."""


@dataclass
class Session:
    """A session file, and the values of its first lines. `note` is the reason why it cannot be read."""

    agent: Agent
    path: Path
    size: int = 0
    changed: float = 0.0
    id: str = ""
    directory: str | None = None
    created: str | None = None
    prompt: str | None = None
    is_sub_agent: bool = False
    note: str = ""
    data: bytes | None = None
    """The bytes, if they come from standard input."""

    @property
    def is_complete(self) -> bool:
        """Return whether all values that a list shows are set."""
        return None not in (self.directory, self.created, self.prompt)


@dataclass(frozen=True)
class Agent:
    """A coding agent.

    `folder` is relative to the home folder; the environment variable `variable` replaces it. `sessions` and
    `sub_agents` are glob patterns of files below the folder.
    """

    name: str
    api: str
    folder: str
    variable: str | None
    sessions: tuple[str, ...]
    sub_agents: tuple[str, ...]
    id_of: Callable[[Path], str]
    """The id in the name of a file; "" if the name has none."""
    take: Callable[[Session, dict[str, Any]], None]
    """Set fields of a session from one of its first lines."""
    place: Callable[[Agent, str, str, list[Any]], Path] | None = None
    """Return the path of a new session from its id, its project folder and its lines. None: sessions are only read."""
    resume: Callable[[str], str] = str
    """Return the command that resumes a session, from its id."""
    roots: frozenset[str] = field(default=frozenset())
    """The names of the folders, below `folder`, that contain the sessions."""

    @property
    def home(self) -> Path:
        """The folder of the agent."""
        named = os.environ.get(self.variable) if self.variable is not None else None
        return Path(named) if named else Path.home() / self.folder

    def files(self, *, sub_agents: bool) -> Iterator[tuple[Path, bool]]:
        """Yield the session files, each with True if it is in a folder of sub-agents."""
        for pattern in self.sessions:
            yield from ((path, False) for path in self.home.glob(pattern))
        for pattern in self.sub_agents if sub_agents else ():
            yield from ((path, True) for path in self.home.glob(pattern))

    def resume_in(self, session: str, directory: str) -> str:
        """Return the command line that resumes a session in its project folder."""
        return f"cd {shlex.quote(directory)} && {self.resume(session)}"


def first_text(content: object) -> str:
    """Return a text, or the first text in a list of blocks; "" if there is none."""
    if isinstance(content, str):
        return content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str) and block["text"].strip():
            return str(block["text"])
    return ""


def _set(session: Session, name: str, value: object) -> None:
    """Set a field that has no value yet."""
    if getattr(session, name) is None and isinstance(value, str) and value:
        setattr(session, name, value)


def _set_directory(session: Session, value: object) -> None:
    """Set the project folder, unless it is relative: a file does not name the folder above it."""
    if isinstance(value, str) and (PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()):
        _set(session, "directory", value)


def _set_prompt(session: Session, content: object) -> None:
    """Set the prompt to the first text that the user wrote. Skip texts that the program adds to the user's messages."""
    texts = content if isinstance(content, list) else [content]
    prompts = (text for text in map(first_text, ([text] if isinstance(text, dict) else text for text in texts)) if text)
    _set(session, "prompt", next((text for text in prompts if not text.lstrip().startswith(_CONTEXT)), None))


_CONTEXT = ("<", "# AGENTS.md", "Caveat: ", "[Request interrupted", "[Image: source:")
"""The first words of texts that programs add to messages of the user: context, commands, and notices."""


# -- Claude Code -------------------------------------------------------------------------------------------------------


def _take_claude(session: Session, line: dict[str, Any]) -> None:
    _set(session, "created", line.get("timestamp"))
    _set_directory(session, line.get("cwd"))
    if not session.id:
        session.id = str(line.get("sessionId") or "")
    message = line.get("message")
    if line.get("type") == "user" and isinstance(message, dict) and not (line.get("isMeta") or _is_summary(line)):
        if session.prompt is None:
            session.is_sub_agent = session.is_sub_agent or line.get("isSidechain") is True
        _set_prompt(session, message.get("content"))


def _is_summary(line: dict[str, Any]) -> bool:
    return line.get("isCompactSummary") is True


def _place_claude(agent: Agent, session: str, directory: str, lines: list[Any]) -> Path:
    projects = agent.home / "projects"
    name = re.sub(r"[^a-zA-Z0-9]", "-", directory)
    if len(name) > _LONGEST_NAME:
        folders = sorted(projects.glob(f"{name[:_LONGEST_NAME]}-*"))
        if len(folders) != 1:
            hint = "start Claude Code once in this folder, or write to a file with --output"
            raise Problem(f"{directory}: too long a path: Claude Code's folder for it has an unknown hash", hint=hint)
        return folders[0] / f"{session}.jsonl"
    return projects / name / f"{session}.jsonl"


# -- Codex -------------------------------------------------------------------------------------------------------------

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_NO_TIME = "1970-01-01T00:00:00"
_ROLLOUT = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<id>.+?)(?:_[0-9a-f-]+)?$")


def _codex_id(path: Path) -> str:
    """Return the id of the thread. A revert adds a file to the thread: its name ends with a second id."""
    match = _ROLLOUT.match(plain_name(path).removesuffix(".jsonl"))
    return match["id"] if match else ""


def _take_codex(session: Session, line: dict[str, Any]) -> None:
    payload = line.get("payload")
    if not isinstance(payload, dict):
        payload = line  # Old versions write the item itself as the line.
    _set(session, "created", line.get("timestamp"))
    if line.get("type") == "session_meta":
        session.id = session.id or str(payload.get("id") or "")
        source = payload.get("source")
        is_started = isinstance(source, dict) and "subagent" in source
        session.is_sub_agent = is_started or payload.get("thread_source") == "subagent"
    _set_directory(session, payload.get("cwd"))
    if payload.get("type", "message") == "message" and payload.get("role") == "user":
        _set_prompt(session, payload.get("content"))


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _place_codex(agent: Agent, session: str, directory: str, lines: list[Any]) -> Path:
    time = _TIME.match(str(lines[0]["timestamp"]))
    text = time[0] if time and _is_time(time[0]) else _NO_TIME
    year, month, day = text[:10].split("-")
    return agent.home / "sessions" / year / month / day / f"rollout-{text.replace(':', '-')}-{session}.jsonl"


# -- Gemini CLI --------------------------------------------------------------------------------------------------------


def _take_gemini(session: Session, line: dict[str, Any]) -> None:
    _set(session, "created", line.get("startTime"))
    if "sessionId" in line:
        session.id = session.id or str(line["sessionId"])
        session.is_sub_agent = line.get("kind") == "subagent"
        # A session file does not contain the path of its project. Newer versions write it to a file in the folder.
        roots = (folder / ".project_root" for folder in session.path.parents[1:3])
        for root in filter(Path.is_file, roots):
            _set(session, "directory", root.read_text(errors="replace").strip())
    records = line.get("messages")
    for record in (line, *(records if isinstance(records, list) else ())):
        if isinstance(record, dict) and record.get("type") == "user":
            _set_prompt(session, record.get("content"))


# -- all ---------------------------------------------------------------------------------------------------------------

CLAUDE = Agent(
    name="claude-code",
    api="claude-code-session",
    folder=".claude",
    variable="CLAUDE_CONFIG_DIR",
    sessions=("projects/*/*.jsonl",),
    sub_agents=("projects/*/*/subagents/*.jsonl",),
    id_of=lambda path: plain_name(path).removesuffix(".jsonl"),
    take=_take_claude,
    place=_place_claude,
    resume=lambda session: f"claude --resume {session}",
    roots=frozenset({"projects"}),
)
CODEX = Agent(
    name="codex",
    api="codex-rollout",
    folder=".codex",
    variable="CODEX_HOME",
    # Codex compresses the files of older sessions (codex-rs/rollout/src/compression.rs of openai/codex, 2026-11).
    sessions=tuple(
        f"{root}/**/rollout-*.jsonl{end}" for root in ("sessions", "archived_sessions") for end in ("", ".zst")
    ),
    sub_agents=(),
    id_of=_codex_id,
    take=_take_codex,
    place=_place_codex,
    resume=lambda session: f"codex resume {session}",
    roots=frozenset({"sessions", "archived_sessions"}),
)
GEMINI = Agent(
    name="gemini-cli",
    api="gemini-cli-session",
    folder=".gemini",
    variable=None,
    # Older versions wrote one JSON object (sessionUtils.ts of google-gemini/gemini-cli lists both, 2026-11).
    sessions=("tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"),
    sub_agents=("tmp/*/chats/*/*.jsonl",),
    id_of=lambda path: "",
    take=_take_gemini,
    resume=lambda session: f"gemini --resume {session}",
    roots=frozenset({"tmp"}),
)


def agents() -> list[Agent]:
    """Return the agents whose adapters are installed."""
    return [agent for agent in (CLAUDE, CODEX, GEMINI) if agent.api in points()]


def agent_named(name: str | None, option: str) -> Agent | None:
    """Return the agent with a name or an API id; None if there is none.

    If `option` is not empty, raise Problem for an unknown name: this option of the command line has it as its value.
    """
    all_agents = agents()
    match = next((agent for agent in all_agents if name in (agent.name, agent.api)), None)
    if match is None and option and name is not None:
        raise Problem(f"{option}: unknown agent {name!r}", hint=f"use one of: {', '.join(a.name for a in all_agents)}")
    return match
