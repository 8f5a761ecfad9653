"""Instructions and tools of the requests that Claude Code records in its sessions, and edits of read sessions."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import contentmodel
from contentmodel import TextContent, adapter
from session_files import Claude, text

CLAUDE = adapter("claude-code-session")


# -- recorded requests -------------------------------------------------------------------------------------------------


def recorded_session() -> list[Any]:
    """Return a session with the instructions and tools of its requests, and a sub-agent with its own."""
    file = Claude()
    shape = {
        "system": [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "Be brief."}],
        "tools": [{"name": "Bash", "description": "Run a command.", "input_schema": {"type": "object"}}],
    }
    other = {"system": [{"type": "text", "text": "You are a sub-agent."}], "tools": []}
    file.user("List the files.")
    file.keep({"type": "api-request-shape", "shapeHash": "a", "shape": shape, "version": "2.1.330"})
    file.keep({"type": "api-request", "id": "1", "shapeHash": "a", "keep": 0, "tail": []})
    file.keep({"type": "api-request-shape", "shapeHash": "b", "shape": other})
    file.keep({"type": "api-request", "id": "2", "shapeHash": "b", "agentId": "a1", "keep": 0, "tail": []})
    file.answer("msg_1", text("There is one file."), requestRef="1")
    return file.lines


def test_recorded_request_gives_instructions_and_tools() -> None:
    lines = recorded_session()
    request = CLAUDE.decode_request(lines)
    assert [content.text for content in request.instructions] == ["You are an agent.", "Be brief."]
    assert [tool.name for tool in request.tools] == ["Bash"]
    encoded = CLAUDE.encode_request(request)
    assert encoded.payload == lines
    assert encoded.losses == ()


def test_recorded_request_is_carried_or_reported() -> None:
    chat = contentmodel.convert(recorded_session(), target="openai-chat", kind="request").payload
    assert chat["messages"][0]["role"] == "system"
    assert chat["tools"][0]["function"]["name"] == "Bash"
    rollout = contentmodel.convert(recorded_session(), target="codex-rollout", kind="request")
    lost = {loss.path: loss.code for loss in rollout.losses if loss.path.startswith("$[1].shape.")}
    assert lost == {
        "$[1].shape.system[0]": "agent-instructions",
        "$[1].shape.system[1]": "agent-instructions",
        "$[1].shape.tools[0]": "no-field",
    }


def test_edited_instructions_and_tools_are_written() -> None:
    request = CLAUDE.decode_request(recorded_session())
    edited = replace(request, instructions=[TextContent(text="Be polite.")], tools=[])
    lines = CLAUDE.encode_request(edited).payload
    assert "tools" not in lines[1]["shape"]
    assert CLAUDE.decode_request(lines).instructions[0].text == "Be polite."


def test_recorded_request_that_is_not_valid_is_kept() -> None:
    lines = recorded_session()
    lines[1]["shape"]["tools"] = [{"name": 5}]
    request = CLAUDE.decode_request(lines)
    assert (request.instructions, request.tools) == ([], [])
    assert len(request.messages) == 2
    assert CLAUDE.encode_request(request).payload == lines
