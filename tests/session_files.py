"""Small session files of coding agents, made by hand: each has the cases that their readers must tell apart."""

from __future__ import annotations

from typing import Any

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

    def attach(self, attachment: Line, **more: Any) -> str:
        """Add an attachment without the messages that are made of it."""
        return self.add("attachment", {"attachment": attachment}, **more)

    def error(self, value: str) -> str:
        """Add an error of the API, as an answer of the program."""
        message = {"id": value, "model": "<synthetic>", "role": "assistant", "content": [text(value)]}
        return self.add("assistant", {"message": message, "isApiErrorMessage": True, "error": "unknown"})

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
    file = Claude()
    file.keep({"type": "queue-operation", "operation": "enqueue", "content": "List the files."})
    first = file.user("List the files.")
    file.add(
        "attachment",
        {"attachment": {"type": "date"}, "rendered": [{"content": "It is Monday."}]},
        renderedRole="system",
    )
    rendered = [{"content": "One file."}, {"content": "Another file."}]
    file.add("attachment", {"attachment": {"type": "file"}, "rendered": rendered, "renderedRole": "user"})
    file.answer(
        "msg_1", {"type": "thinking", "thinking": "Two commands.", "signature": "c2lnbmF0dXJl"}, text("I list them.")
    )
    one = file.answer("msg_1", call("toolu_1", command="ls"))
    two = file.answer("msg_1", call("toolu_2", command="pwd"))
    file.result("toolu_1", "a.txt", after=one)
    file.result("toolu_2", "/project", after=two)
    end = file.answer("msg_2", text("There is one file."))
    file.keep({"type": "last-prompt", "lastPrompt": "List the files.", "leafUuid": end})
    file.user("Delete it.", after=end)
    file.answer("msg_3", text("It is deleted."))
    agent = file.user("Count.", after=None, isSidechain=True, agentId="a1")
    file.answer("msg_4", text("One."), after=agent, isSidechain=True, agentId="a1")
    file.user("Keep it.", after=end)
    file.answer("msg_5", text("It stays."))
    file.keep({"type": "cost-state", "totalCostUSD": 0.1})
    file.keep('{"type": "assistant", "mess')
    assert first
    return file.lines


def interrupted_session() -> list[Any]:
    """Return a session with prompts typed during a turn, a file of the user, a command of the user, and API errors."""
    file = Claude()
    cost = "<local-command-stdout>Total cost: $1.20</local-command-stdout>"
    file.add("system", {"subtype": "local_command", "content": cost, "level": "info"}, after=None)
    file.user("What is in @notes.txt?")
    content = {"type": "text", "file": {"filePath": "/project/notes.txt", "content": "Three maps.", "numLines": 1}}
    file.attach({"type": "file", "filename": "/project/notes.txt", "content": content, "displayPath": "notes.txt"})
    file.attach({"type": "directory", "path": "/project/maps", "content": "one.txt"})
    file.attach({"type": "todo_reminder", "content": [], "itemCount": 0})
    file.answer("msg_1", call("toolu_1", command="ls"))
    file.result("toolu_1", "notes.txt")
    file.attach({"type": "queued_command", "prompt": "Count them.", "commandMode": "prompt"})
    file.answer("msg_2", text("There are three maps."))
    file.user("Draw another.")
    file.error("API Error: 529 overloaded")
    file.user("Try again.")
    file.answer("msg_3", text("It is drawn."))
    blocks = [text("Look, too."), {"type": "image", "source": {"type": "url", "url": "https://maps.example/1.png"}}]
    file.attach({"type": "queued_command", "prompt": blocks, "origin": {"kind": "human"}})
    file.error("API Error: 500")
    return file.lines


def compacted_session() -> list[Any]:
    """Return a session that was compacted. The compaction preserved the last answer."""
    file = Claude()
    file.user("Write the notes.")
    preserved = file.answer("msg_1", text("The notes are written."))
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    summary = f"00000000-0000-4000-8000-{3:012d}"
    kept = {"anchorUuid": summary, "uuids": [preserved]}
    file.add(
        "system",
        {
            **boundary,
            "logicalParentUuid": preserved,
            "compactMetadata": {"trigger": "manual", "preservedMessages": kept},
        },
        after=None,
    )
    file.user("Summary: notes were written.", isCompactSummary=True)
    file.user("Go on.")
    file.answer("msg_2", text("I go on."))
    return file.lines


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
    meta = {
        "id": "5e551011",
        "timestamp": "2026-11-23T10:00:00.000Z",
        "cwd": "/project",
        "originator": "codex_exec",
        "cli_version": "0.169.0",
        "base_instructions": {"text": "You are an agent."},
    }
    usage = {"input_tokens": 100, "cached_input_tokens": 80, "output_tokens": 7, "total_tokens": 107}
    history = [said("user", "List the files."), said("user", "Summary: files were listed.")]
    lines = [
        codex_line("session_meta", meta, 0),
        codex_line("turn_context", {"model": "gpt-5.5", "cwd": "/project"}, 1),
        codex_line("response_item", said("user", "List the files."), 2),
        codex_line(
            "response_item",
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "One command."}],
                "encrypted_content": "c2VhbGVk",
            },
            3,
        ),
        codex_line(
            "response_item",
            {
                "type": "function_call",
                "id": "fc_1",
                "name": "exec_command",
                "arguments": '{"cmd": "ls"}',
                "call_id": "call_1",
            },
            4,
            metadata={"n": 1},
        ),
        codex_line("token_usage_record", {"response_id": "resp_1", "usage": usage}, 5),
        codex_line("event_msg", {"type": "item_completed"}, 6),
        codex_line("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"}, 7),
        codex_line("response_item", said("assistant", "There is one file."), 8),
        codex_line("compacted", {"message": "Files were listed.", "replacement_history": history}, 9),
        codex_line("turn_context", {"model": "gpt-5.5", "cwd": "/project"}, 10),
        codex_line("response_item", said("user", "Delete it."), 11),
        codex_line("response_item", said("assistant", "It is deleted."), 12),
        codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}, 13),
        codex_line("response_item", said("user", "Keep it."), 14),
        codex_line("response_item", said("assistant", "It stays."), 15),
        codex_line("world_state", {"full": True}, 16),
    ]
    return [*lines, '{"timestamp": "2026']


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

    def answer(self, number: str, content: Any, **more: Any) -> Line:
        """Add the record of an answer with its token counts."""
        tokens = {"input": 100, "output": 7, "cached": 80, "thoughts": 3, "tool": 0, "total": 110}
        return self.record(number, "gemini", content, tokens=tokens, model="gemini-3.1-pro-preview", **more)

    def set(self, *messages: Line) -> None:
        """Add a line that replaces the history."""
        self.lines.append({"$set": {"messages": [*messages], "lastUpdated": "2026-11-23T10:00:00.000Z"}})


CONTEXT: Line = {"id": "c", "timestamp": "2026", "type": "user", "content": [{"text": "<session_context>\nLinux"}]}


def response(call_id: str, output: str) -> Line:
    """Return the part with the result of a call."""
    return {"functionResponse": {"id": call_id, "name": "ls", "response": {"output": output}}}


def gemini_session() -> list[Any]:
    """Return a session that was resumed, with a prompt that was taken back and a call whose result is in the call."""
    file = Gemini()
    file.start()
    file.set(CONTEXT)
    prompt = file.record("u1", "user", [{"text": "List the files."}], displayContent="List")
    thoughts = [{"subject": "Plan", "description": "One command.", "timestamp": "2026"}]
    file.answer("g1", "I list them.", thoughts=thoughts)
    called = {
        "id": "ls_1",
        "name": "ls",
        "args": {"path": "."},
        "result": [response("ls_1", "a.txt")],
        "status": "success",
    }
    file.answer("g1", "I list them.", thoughts=thoughts, toolCalls=[called])
    result = file.record("u2", "user", [response("ls_1", "a.txt")])
    file.answer("g2", "There is one file.")
    file.record("i1", "info", "A new version is available.")
    file.start()
    file.set(CONTEXT)
    parts = [
        {"text": "**Plan** One command.", "thought": True},
        {"text": "I list them."},
        {"functionCall": {key: called[key] for key in ("id", "name", "args")}},
    ]
    first = {"id": "g1", "timestamp": "2027", "type": "gemini", "content": parts}
    repeated = {"id": "g1_response", "timestamp": "2027", "type": "user", "content": [response("ls_1", "a.txt")]}
    second = {"id": "g2", "timestamp": "2027", "type": "gemini", "content": [{"text": "There is one file."}]}
    file.set(CONTEXT, prompt, first, repeated, result, second)
    file.record("u3", "user", "Delete it.")
    file.answer("g3", "It is deleted.")
    file.lines.append({"$rewindTo": "u3"})
    file.record("u4", "user", {"text": "Keep it."})
    lone = {
        "id": "ls_2",
        "name": "ls",
        "args": {},
        "result": [response("ls_2", "still a.txt")],
        "resultDisplay": "a.txt",
    }
    file.answer("g4", "", toolCalls=[lone])
    file.answer("g5", "It stays.")
    return [*file.lines, '{"id": "u5", "timest']


def compressed_session() -> list[Any]:
    """Return a session whose history was compressed."""
    file = Gemini()
    file.start()
    file.set(CONTEXT)
    file.record("u1", "user", [{"text": "Write the notes."}])
    file.answer("g1", "The notes are written.")
    summary = {"id": "s", "timestamp": "2026", "type": "user", "content": [{"text": "Summary: notes were written."}]}
    file.set(CONTEXT, summary, {"id": "k", "timestamp": "2026", "type": "gemini", "content": [{"text": "Got it."}]})
    file.record("i1", "info", "")
    file.record("u2", "user", [{"text": "Go on."}])
    return file.lines
