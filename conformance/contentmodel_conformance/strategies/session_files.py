"""Small session files of coding agents, in the forms that their adapters read but do not write."""

from __future__ import annotations

from typing import Any

_GEMINI = {"sessionId": "5e551011", "projectHash": "6202fc3e", "startTime": "2026-11-23T10:00:00.000Z"}
_PROMPT = {"id": "u1", "timestamp": "2026", "type": "user", "content": [{"text": "List the files of the project."}]}
_CALLING = {
    "id": "g1",
    "timestamp": "2026",
    "type": "gemini",
    "content": "I list all of the files.",
    "thoughts": [{"subject": "Plan", "description": "One command is enough.", "timestamp": "2026"}],
    "toolCalls": [
        {
            "id": "ls_1",
            "name": "ls",
            "args": {"path": "."},
            "result": [{"functionResponse": {"id": "ls_1", "name": "ls", "response": {"output": "a.txt"}}}],
            "status": "success",
            "resultDisplay": "Listed one item in the folder.",
        }
    ],
}
_ANSWER = {"id": "g2", "timestamp": "2026", "type": "gemini", "content": [{"text": "There is one file here."}]}
_NOTICE = {"id": "i1", "timestamp": "2026", "type": "info", "content": "A new version is available now."}


def _claude(number: int, kind: str, fields: dict[str, Any], *, parent: int | None = -1) -> dict[str, Any]:
    above = number - 1 if parent == -1 else parent
    return {
        "parentUuid": None if above is None or number == 0 else f"uuid-{above}",
        "isSidechain": False,
        "type": kind,
        **fields,
        "uuid": f"uuid-{number}",
        "timestamp": f"2026-11-23T10:00:{number:02d}.000Z",
        "sessionId": "5e551011-0000-4000-8000-000000000000",
    }


def _block(number: int, block: dict[str, Any]) -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-8", "content": [block]}
    return _claude(number, "assistant", {"message": message})


def _codex(number: int, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": f"2026-11-23T10:00:{number:02d}.000Z", "type": kind, "payload": payload}


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


SESSION_FILES: dict[str, list[Any]] = {
    "gemini-cli-session": [
        [{**_GEMINI, "messages": [_PROMPT, _CALLING, _NOTICE, _ANSWER]}],
        [_GEMINI, {**_ANSWER, "content": "A text that the next record replaces."}, _ANSWER],
        [_GEMINI, _PROMPT, _CALLING, _NOTICE, {"$set": {"messages": [_PROMPT, _ANSWER]}}],
        [
            _GEMINI,
            _PROMPT,
            {**_PROMPT, "id": "u2", "content": "Delete the files."},
            {"$rewindTo": "u2"},
            _ANSWER,
        ],
        [{"history": [{"role": "user", "parts": [{"text": "Hi."}]}, {"role": "model", "parts": [{"text": "Hello."}]}]}],
    ],
    "claude-code-session": [
        [
            _claude(0, "user", {"message": {"role": "user", "content": "List the files of the project."}}),
            _claude(
                1,
                "attachment",
                {
                    "attachment": {"type": "date"},
                    "rendered": [{"content": "It is Monday today."}, {"content": "It is sunny outside."}],
                    "renderedRole": "user",
                },
            ),
            _block(2, {"type": "text", "text": "I list all of the files."}),
            _block(3, {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}),
            _claude(
                4,
                "user",
                {
                    "message": {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "toolu_1",
                                "content": [{"type": "text", "text": "a.txt"}],
                            }
                        ],
                    }
                },
            ),
            {"type": "queue-operation", "operation": "enqueue", "content": "List the files of the project."},
            {"type": "queue-operation", "operation": "enqueue", "content": "Count them, too, before you go on."},
            {
                "type": "attachment",
                "uuid": "uuid-9",
                "attachment": {"type": "new_kind", "content": "A note of the user."},
            },
            _claude(5, "assistant", {"message": {"role": "assistant", "id": "msg_2", "content": "There is one file."}}),
        ]
    ],
    "codex-rollout": [
        [
            _codex(0, "session_meta", {"id": "5e551011", "base_instructions": {"text": "You are an agent of tests."}}),
            _codex(1, "response_item", _message("user", "List the files of the project.")),
            _codex(1, "event_msg", {"type": "user_message", "message": "List the files of the project."}),
            _codex(1, "event_msg", {"type": "agent_message", "message": "A text that no item of the history has."}),
            _codex(2, "response_item", _message("assistant", "I list all of the files.")),
            _codex(
                3,
                "compacted",
                {
                    "message": "",
                    "replacement_history": [_message("user", "Files were listed."), _message("user", "Go on.")],
                },
            ),
            _codex(
                4,
                "response_item",
                {"type": "function_call", "name": "exec", "arguments": '{"cmd":"ls"}', "call_id": "call_1"},
            ),
            _codex(
                5,
                "response_item",
                {
                    "type": "function_call_output",
                    "call_id": "call_1",
                    "output": [{"type": "input_text", "text": "a.txt"}],
                },
            ),
        ]
    ],
}
"""Documents of each session format."""
