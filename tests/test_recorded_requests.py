"""Instructions and tools of the requests that Claude Code records in its sessions, and edits of read sessions."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import contentmodel
from contentmodel import FunctionResultContent, TextContent, adapter
from contentmodel.message import FinishReason
from contentmodel.usage import Usage
from session_files import Claude, call, codex_session, gemini_session, text

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


def test_recorded_request_is_converted_or_reported() -> None:
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


# -- edits of answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("response_id", "msg_new"),
        ("usage", Usage(input_tokens=7, output_tokens=8)),
        ("finish_reason", FinishReason(reason="length")),
    ],
)
@pytest.mark.parametrize("has_field", [True, False])
def test_edited_record_of_answer_is_written_or_reported(field: str, value: Any, has_field: bool) -> None:
    file = Claude()
    file.user("List the files.")
    file.answer("msg_1", text("I list them."), call("toolu_1", command="ls"))
    name = {"response_id": "id", "usage": "usage", "finish_reason": "stop_reason"}[field]
    for line in file.lines[1:] if not has_field else ():
        del line["message"][name]
    request = CLAUDE.decode_request(file.lines)
    assert CLAUDE.encode_request(request).payload == file.lines
    messages = [*request.messages]
    messages[1] = replace(messages[1], **{field: value})
    encoded = CLAUDE.encode_request(replace(request, messages=messages))
    read = [getattr(message, field) for message in CLAUDE.decode_request(encoded.payload).messages]
    reported = any(loss.path.endswith(field) for loss in encoded.losses)
    if has_field:
        assert len(read) == 2
        found = read[1].reason if field == "finish_reason" else read[1].input_tokens if field == "usage" else read[1]
        assert found == {"finish_reason": "length", "usage": 7, "response_id": "msg_new"}[field]
    assert reported == (not has_field)


@pytest.mark.parametrize("before", [None, "user-rejected"])
@pytest.mark.parametrize("outcome", [None, "denied", "interrupted", "timed_out"])
def test_edited_outcome_of_result_is_written_or_reported(before: str | None, outcome: str | None) -> None:
    file = Claude()
    file.user("List the files.")
    file.answer("msg_1", call("toolu_1", command="ls"))
    file.result("toolu_1", "refused", **({} if before is None else {"toolDenialKind": before}))
    request = CLAUDE.decode_request(file.lines)
    assert CLAUDE.encode_request(request).payload == file.lines
    message = request.messages[-1]
    result: Any = message.contents[0]
    edited = replace(message, contents=[replace(result, outcome=outcome)])
    encoded = CLAUDE.encode_request(replace(request, messages=[*request.messages[:-1], edited]))
    written: Any = CLAUDE.decode_request(encoded.payload).messages[-1].contents[0]
    reported = any(loss.path.endswith("outcome") for loss in encoded.losses)
    assert reported == (outcome == "timed_out")
    assert reported or written.outcome == outcome


def test_edited_artifact_of_result_is_reported_if_its_line_has_none() -> None:
    file = Claude()
    file.user("List the files.")
    file.answer("msg_1", call("toolu_1", command="ls"))
    file.result("toolu_1", "a.py")
    del file.lines[-1]["toolUseResult"]
    request = CLAUDE.decode_request(file.lines)
    message = request.messages[-1]
    edited = replace(message, contents=[replace(message.contents[0], artifact={"files": 1})])
    encoded = CLAUDE.encode_request(replace(request, messages=[*request.messages[:-1], edited]))
    assert [loss.path for loss in encoded.losses if "artifact" in loss.path]


def read_session(api: str) -> list[Any]:
    """Return a session whose answers have counts in other lines or fields."""
    return codex_session()[:9] if api == "codex-rollout" else gemini_session()


@pytest.mark.parametrize("api", ["codex-rollout", "gemini-cli-session"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("response_id", "resp_new"),
        ("usage", Usage(input_tokens=7, output_tokens=8)),
        ("usage", None),
        ("finish_reason", FinishReason(reason="length")),
    ],
)
def test_edited_record_that_other_lines_have_is_reported(api: str, field: str, value: Any) -> None:
    reader, lines = adapter(api), read_session(api)
    request = reader.decode_request(lines)
    assert reader.encode_request(request).losses == ()
    at = next(at for at, message in enumerate(request.messages) if message.usage is not None)
    messages = [*request.messages]
    messages[at] = replace(messages[at], **{field: value})
    encoded = reader.encode_request(replace(request, messages=messages))
    assert encoded.payload == lines
    assert {loss.code for loss in encoded.losses} == {"edited-record"}


@pytest.mark.parametrize("api", ["codex-rollout", "gemini-cli-session"])
def test_edited_outcome_and_artifact_without_a_field_are_reported(api: str) -> None:
    reader, lines = adapter(api), read_session(api)
    request = reader.decode_request(lines)
    at, message = next((at, m) for at, m in enumerate(request.messages) if m.role == "tool")
    edited = [
        replace(c, outcome="denied", artifact=1) if isinstance(c, FunctionResultContent) else c
        for c in message.contents
    ]
    messages = [*request.messages[:at], replace(message, contents=edited), *request.messages[at + 1 :]]
    encoded = reader.encode_request(replace(request, messages=messages))
    assert encoded.payload == lines
    assert len(encoded.losses) == 2 * sum(isinstance(c, FunctionResultContent) for c in message.contents)
