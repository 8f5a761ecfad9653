"""Find session files on this machine, and read their first lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from contentmodel.cli.errors import Problem, naming
from contentmodel.cli.incoming import chunks_of
from contentmodel.cli.installed import load
from contentmodel.cli.opening import open_binary, plain_name
from contentmodel.cli.sessions.agents import Agent, Session, agents
from contentmodel.errors import DecodeError
from contentmodel.json import parse, write
from contentmodel.lines import probe_lines

_LINES = 300
_BYTES = 4_000_000
"""The number of lines and bytes of a file that are read to list it."""
_MATCHES_SHOWN = 8
SHORTEST_ID = 8
"""The smallest length of a shortened id."""


def sessions_of(chosen: Iterable[Agent], *, sub_agents: bool) -> list[Session]:
    """Return the session files of agents, with the last changed file first. Their lines are not read."""
    sessions: list[Session] = []
    for agent in chosen:
        for path, is_sub_agent in agent.files(sub_agents=sub_agents):
            session = Session(agent, path, id=agent.id_of(path), is_sub_agent=is_sub_agent)
            try:
                status = path.stat()
            except OSError as error:
                session.note = error.strerror or str(error)
            else:
                session.size, session.changed = status.st_size, status.st_mtime
            sessions.append(session)
    return sorted(sessions, key=lambda session: (session.changed, session.path.name), reverse=True)


def read_head(session: Session) -> Session:
    """Add the values of the first lines of a file to its session, or the reason why they cannot be read."""
    try:
        with open_binary(session.path) as file:
            _read(session, file)
    except OSError as error:
        session.note = error.strerror or str(error)
    return session


def _read(session: Session, file: BinaryIO) -> None:
    objects = 0
    for value in probe_lines(_head(file, session.path), _LINES):
        if isinstance(value, dict):
            objects += 1
            session.agent.take(session, value)
            if session.is_complete:
                return
    if not objects:
        session.note = "no line is a JSON object" if session.size else "the file is empty"


def _head(file: BinaryIO, path: Path) -> bytes:
    """Return the first lines of a file; all of it if it is one JSON object, which may be on several lines."""
    lines = [*_first_lines(file)]
    is_object = plain_name(path).endswith(".json") or (lines and lines[0].strip() == b"{")
    if not is_object:
        return b"".join(lines)
    file.seek(0)
    data = file.read()
    try:
        return write(parse(data))
    except DecodeError:
        return data


def _first_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the first lines of a file that are not blank, up to the limits. Drop a line that the limit cuts off."""
    room = _BYTES
    for _ in range(_LINES):
        line = file.readline(room)
        room -= len(line)
        if not line or (room <= 0 and not line.endswith(b"\n")):
            return
        if line.strip():
            yield line


def listed(sessions: Iterable[Session], *, everything: bool) -> Iterator[Session]:
    """Read the first lines of sessions, and yield the sessions to list.

    Unless `everything`, omit sub-agents, and all but the newest file of each id.
    """
    seen: set[tuple[str, str]] = set()
    for session in sessions:
        read_head(session)
        key = session.agent.name, session.id
        if not everything and (session.is_sub_agent or (session.id and key in seen)):
            continue
        seen.add(key)
        yield session


def find_session(text: str) -> Session:
    """Return the session that a text names: an id, the beginning of one, a path, or "-" for standard input.

    Raise Problem if there is none, or if several ids begin with the text.
    """
    if not text:
        raise Problem("SESSION is empty", hint="pass an id from `contentmodel sessions list`, or the path of a file")
    if text == "-":
        return _in_standard_input()
    if os.path.exists(text) or "/" in text or os.sep in text or plain_name(text).endswith((".jsonl", ".json")):
        return _in_file(Path(text))
    every = sessions_of(agents(), sub_agents=True)
    matches = [session for session in every if _id_of(session).startswith(text)]
    ids = list(dict.fromkeys(session.id for session in matches))
    if not ids:
        hint = "pass an id from `contentmodel sessions list`, or the path of a session file"
        raise Problem(f"no session has an id that begins with {text!r}", hint=hint)
    if len(ids) > 1 and text not in ids:
        names = tuple(f"{session.id}  {session.agent.name}  {session.path}" for session in matches[:_MATCHES_SHOWN])
        more = ("...",) if len(matches) > _MATCHES_SHOWN else ()
        raise Problem(f"several sessions have an id that begins with {text!r}", (*names, *more), "use more of the id")
    return read_head(next(session for session in matches if session.id == (text if text in ids else ids[0])))


def _id_of(session: Session) -> str:
    """Return the id in the name of a session file, or else the one in its first lines."""
    if not session.id:
        read_head(session)
    return session.id


def _in_file(path: Path) -> Session:
    with open_binary(path) as file, naming(str(path)):
        head = _head(file, path)
    status = path.stat()
    agent = _agent_of(head, str(path))
    return read_head(Session(agent, path, status.st_size, status.st_mtime, id=_id_in_name(agent, path)))


def _id_in_name(agent: Agent, path: Path) -> str:
    """Return the id in the name of a file; "" if the name does not have the form of the agent's names."""
    name = agent.id_of(path)
    return name if name.startswith("agent-") or _UUID.fullmatch(name) else ""


_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _in_standard_input() -> Session:
    data = b"".join(chunks_of("-"))
    name = "standard input"
    session = Session(_agent_of(_head(BytesIO(data), Path(name)), name), Path(name), len(data), data=data)
    _read(session, BytesIO(data))
    return session


def _agent_of(head: bytes, name: str) -> Agent:
    """Return the agent whose format the first lines of a file have. Raise Problem if there is none."""
    lines = probe_lines(head)
    scores = [(load(agent.api).recognises_list(lines), agent) for agent in agents()]
    best, agent_of_best = max(scores, key=lambda score: score[0], default=(0, None))
    if not best or agent_of_best is None:
        names = ", ".join(agent.name for agent in agents())
        hint = f"the known agents are {names}; `contentmodel show` and `contentmodel convert` read other formats"
        raise Problem(f"{name}: not a session of a coding agent: {_reason(head, lines)}", hint=hint)
    return agent_of_best


def _reason(head: bytes, lines: list[Any]) -> str:
    """Return why lines are not the first lines of a session."""
    if not head.strip():
        return "it is empty"
    if not any(isinstance(line, dict) for line in lines):
        return "no line is a JSON object"
    return "the format of its first lines is unknown"


def short_ids(shown: Iterable[Session], every: Iterable[Session]) -> dict[str, str]:
    """Return shortened ids: the shortest beginning of each id that is unique, but at least SHORTEST_ID characters."""
    ids = sorted({session.id for session in every} | {session.id for session in shown})
    return {
        id_: id_[: max(SHORTEST_ID, _shared(id_, ids[at - 1 : at] + ids[at + 1 : at + 2]) + 1)]
        for at, id_ in enumerate(ids)
    }


def _shared(text: str, others: Iterable[str]) -> int:
    """Return the length of the longest common prefix of a text with one of the others."""
    return max((sum(1 for _ in takewhile(_is_pair, zip(text, other, strict=False))) for other in others), default=0)


def _is_pair(characters: tuple[str, str]) -> bool:
    return characters[0] == characters[1]
