"""Small session files of coding agents, made by hand: each has the cases that their readers must tell apart."""

from __future__ import annotations

from typing import Any

from conftest import payloads

Line = dict[str, Any]


class Claude:
    """A session of Claude Code, line by line. Each line follows the one before, unless `after` names another."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self._last: str | None = None

    def add(self, kind: str, fields: Line, after: str | None = "", **more: Any) -> str:
        """Add a line with an id, and return the id."""
        uuid = f"00000000-0000-4000-8000-{len(self.lines):012d}"
        line = {
            "parentUuid": self._last if after == "" else after,
            "isSidechain": False,
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": f"2026-11-23T10:00:{len(self.lines):02d}.000Z",
            "cwd": "/project",
            "sessionId": "5e551011-0000-4000-8000-000000000000",
            "version": "2.1.330",
            **more,
        }
        self.lines.append(line)
        self._last = uuid
        return uuid

    def user(self, content: Any, **more: Any) -> str:
        """Add a message of the user."""
        return self.add("user", {"message": {"role": "user", "content": content}}, **more)

    def answer(self, answer_id: str, *blocks: Line, **more: Any) -> str:
        """Add one line for each block of an answer, and return the id of the last one."""
        uuid = ""
        for block in blocks:
            message = {
                "id": answer_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-8",
                "content": [block],
                "stop_reason": "tool_use",
                "stop_sequence": None,
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
            uuid = self.add("assistant", {"message": message, "requestId": "req_1"}, **more)
        return uuid

    def result(self, call: str, content: Any, **more: Any) -> str:
        """Add the result of a call, with the program's own form of it."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block], toolUseResult={"stdout": content, "interrupted": False}, **more)

    def keep(self, line: Any) -> None:
        """Add a line without an id."""
        self.lines.append(line)


def text(value: str) -> Line:
    """Return a text block."""
    return {"type": "text", "text": value}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> Line:
    """Return a block with a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def claude_session() -> list[Any]:
    """Return a session with parallel calls, a prompt that was taken back, a sub-agent, attachments and other lines."""
    lines: list[Any] = payloads("claude-code-session")["session"]
    return lines


def interrupted_session() -> list[Any]:
    """Return a session with prompts typed during a turn, a file of the user, a command of the user, and API errors."""
    lines: list[Any] = payloads("claude-code-session")["interrupted"]
    return lines


def compacted_session() -> list[Any]:
    """Return a session that was compacted. The compaction preserved the last answer."""
    lines: list[Any] = payloads("claude-code-session")["compacted"]
    return lines


def codex_line(kind: str, payload: Line, second: int, **more: Any) -> Line:
    """Return a line of a rollout."""
    return {"timestamp": f"2026-11-23T10:00:{second:02d}.000Z", "type": kind, "payload": payload, **more}


def said(role: str, value: str) -> Line:
    """Return a message item."""
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": value}
    item = {"type": "message", "role": role, "content": [part]}
    return {**item, "id": "msg_1", "status": "completed"} if role == "assistant" else item


def codex_session() -> list[Any]:
    """Return a rollout with a compaction, and with turns that were taken back."""
    lines: list[Any] = payloads("codex-rollout")["session"]
    return lines


class Gemini:
    """A session of Gemini CLI, line by line."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def start(self) -> None:
        """Add the first line of a session, or of a resumed one."""
        names = {"sessionId": "5e551011", "projectHash": "6202fc3e"}
        self.lines.append({**names, "startTime": "2026-11-23T10:00:00.000Z", "kind": "main"})

    def record(self, number: str, kind: str, content: Any, **more: Any) -> Line:
        """Add a record and return it."""
        record = {
            "id": number,
            "timestamp": f"2026-11-23T10:00:{len(self.lines):02d}.000Z",
            "type": kind,
            "content": content,
            **more,
        }
        self.lines.append(record)
        return record


CONTEXT: Line = {"id": "c", "timestamp": "2026", "type": "user", "content": [{"text": "<session_context>\nLinux"}]}


def gemini_session() -> list[Any]:
    """Return a session that was resumed, with a prompt that was taken back and a call whose result is in the call."""
    lines: list[Any] = payloads("gemini-cli-session")["session"]
    return lines


def compressed_session() -> list[Any]:
    """Return a session whose history was compressed."""
    lines: list[Any] = payloads("gemini-cli-session")["compressed"]
    return lines
