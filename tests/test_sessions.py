"""Session files of coding agents: reading, writing, and conversion between them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from contentmodel import ChatMessage, ChatRequest, Origin, adapter, assistant, audit, convert, detect, user
from contentmodel.content import (
    FunctionResultContent,
    TextContent,
    ToolCallContent,
)
from contentmodel.lines import parse_lines, write_lines
from contentmodel.message import contents_of
from session_files import (
    Claude,
    call,
    claude_session,
    codex_line,
    codex_session,
    compacted_session,
    gemini_session,
    interrupted_session,
    text,
)

CLAUDE, CODEX = "claude-code-session", "codex-rollout"
FILES = {
    "claude": (CLAUDE, claude_session),
    "compacted": (CLAUDE, compacted_session),
    "interrupted": (CLAUDE, interrupted_session),
    "codex": (CODEX, codex_session),
}


def uuid_of(value: str, lines: list[Any]) -> str:
    """Return the id of the line with a text."""
    return next(line["uuid"] for line in lines if isinstance(line, dict) and value in str(line.get("message")))


def texts(messages: list[ChatMessage]) -> list[str]:
    return [content.text for content in contents_of(messages) if isinstance(content, TextContent) and content.text]


@pytest.mark.parametrize("name", FILES)
def test_a_session_is_written_as_the_same_lines(name: str) -> None:
    api, lines = FILES[name][0], FILES[name][1]()
    reader = adapter(api)
    encoded = reader.encode_request(reader.decode_request(write_lines(lines)))
    assert encoded.payload == lines
    assert encoded.losses == ()
    assert parse_lines(encoded.to_json()) == lines


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat", "google-generate-content", CLAUDE, CODEX])
def test_each_value_of_a_session_reaches_the_target_or_is_reported(name: str, target: str) -> None:
    api, lines = FILES[name][0], FILES[name][1]()
    encoded = convert(lines, source=api, target=target, kind="request")
    assert audit(lines, encoded) == []


def test_edited_prompts_files_and_commands_keep_their_lines() -> None:
    lines = interrupted_session()
    request = adapter(CLAUDE).decode_request(lines)
    edited = [
        msgspec.structs.replace(
            message,
            contents=[
                msgspec.structs.replace(content, text="New.") if isinstance(content, TextContent) else content
                for content in message.contents
            ],
        )
        for message in request.messages
    ]
    written = adapter(CLAUDE).encode_request(msgspec.structs.replace(request, messages=edited)).payload
    assert written[0] == {**lines[0], "content": "New."}
    file = {**lines[2]["attachment"]["content"]["file"], "content": "New."}
    assert written[2]["attachment"] == {**lines[2]["attachment"], "content": {"type": "text", "file": file}}
    assert written[7]["attachment"] == {**lines[7]["attachment"], "prompt": "New."}
    assert written[13]["attachment"]["prompt"][0] == text("New.")


def test_errors_of_the_api_are_no_answers_of_the_model() -> None:
    lines = interrupted_session()
    request = adapter(CLAUDE).decode_request(lines)
    assert request.model == "claude-opus-4-8"
    assert adapter(CLAUDE).check_request(lines) == []
    encoded = convert(lines, source=CLAUDE, target="openai-chat", kind="request")
    assert {loss.path for loss in encoded.losses} >= {"$[10]", "$[14]"}


@pytest.mark.parametrize(
    ("source", "lines", "target"), [(CLAUDE, claude_session, CODEX), (CODEX, codex_session, CLAUDE)]
)
def test_a_session_converted_and_back_has_the_same_texts_calls_and_results(
    source: str, lines: Any, target: str
) -> None:
    first = adapter(source).decode_request(lines())
    there = convert(lines(), source=source, target=target, kind="request").payload
    back = adapter(source).decode_request(convert(there, source=target, target=source, kind="request").payload)
    spoken = [message for message in first.messages if message.role != "system"]
    assert texts(back.messages) == texts(spoken)

    def calls(messages: list[ChatMessage]) -> list[Any]:
        return [(c.call_id, c.name) for c in contents_of(messages) if isinstance(c, ToolCallContent)]

    assert calls(back.messages) == calls(spoken)
    times = [message.created for message in spoken if message.text]
    pairs = zip(times, [message.created for message in back.messages if message.text], strict=True)
    assert all(time in (None, written) for time, written in pairs)


def test_a_message_added_to_a_session_is_the_new_end_of_its_chain() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    more = msgspec.structs.replace(request, messages=[*request.messages, user("And now?"), assistant("Now as before.")])
    lines = reader.encode_request(more).payload
    added = [line for line in lines if line not in claude_session() and line["type"] != "last-prompt"]
    assert [line["parentUuid"] for line in added] == [uuid_of("It stays.", lines), added[0]["uuid"]]
    prompt = next(line for line in lines if isinstance(line, dict) and line["type"] == "last-prompt")
    assert prompt["leafUuid"] == added[1]["uuid"]
    assert texts(reader.decode_request(lines).messages)[-2:] == ["And now?", "Now as before."]


def test_answers_added_one_after_another_have_different_ids() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    for number in range(3):
        more = [*request.messages, user("Again."), assistant(f"Answer {number}.")]
        request = reader.decode_request(reader.encode_request(msgspec.structs.replace(request, messages=more)).payload)
    assert texts(request.messages)[-6:] == ["Again.", "Answer 0.", "Again.", "Answer 1.", "Again.", "Answer 2."]
    ids = [message.response_id for message in request.messages if message.response_id is not None]
    assert len(ids) == len(set(ids))


def test_lines_after_a_removed_message_follow_the_one_before_it() -> None:
    reader = adapter(CLAUDE)
    request = reader.decode_request(claude_session())
    kept = [message for message in request.messages if message.text != "Keep it."]
    lines = reader.encode_request(msgspec.structs.replace(request, messages=kept)).payload
    parent = next(line["parentUuid"] for line in lines if isinstance(line, dict) and "It stays." in str(line))
    assert parent == uuid_of("There is one file.", lines)


def test_an_edited_text_keeps_its_line() -> None:
    reader = adapter(CODEX)
    request = reader.decode_request(codex_session())
    *before, last = request.messages
    edited = msgspec.structs.replace(
        last,
        contents=[msgspec.structs.replace(last.contents[0], text="It is kept.")],  # type: ignore[call-arg]
    )
    lines = reader.encode_request(msgspec.structs.replace(request, messages=[*before, edited])).payload
    assert lines[15]["payload"]["content"] == [{"type": "output_text", "text": "It is kept."}]
    assert lines[:15] == codex_session()[:15]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "text", "text": 3}]},
        {"role": "assistant"},
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [{"type": "text", "text": "x", "contentmodel:line": 3}]},
        3,
    ],
)
def test_a_message_that_is_not_part_of_the_conversation_is_a_violation(message: Any) -> None:
    lines = [*compacted_session(), {"type": "assistant", "uuid": "u", "message": message}]
    violation = adapter(CLAUDE).check_request(lines)[-1]
    path = "$[6].message.content[0]" if message != 3 and message.get("content") not in (None, "x") else "$[6]"
    assert (violation.path, violation.rule) == (path, "shape")


@pytest.mark.parametrize("parent", ["missing", 2, ["u"]])
def test_a_parent_that_no_line_is_is_a_violation(parent: Any) -> None:
    file = Claude()
    file.user("a", after=parent)
    assert [v.path for v in adapter(CLAUDE).check_request(file.lines)] == ["$[0].parentUuid"]


@pytest.mark.parametrize("file", [claude_session, codex_session, gemini_session])
def test_lines_that_are_no_json_objects_are_violations(file: Any) -> None:
    lines = [line for line in file() if isinstance(line, dict)]
    reader = adapter(detect(write_lines(lines))[0])
    before = reader.check_request(lines)
    damaged = [*lines[:1], "{broken", *lines[1:], 7, '{"type":"assist']
    violations = [v for v in reader.check_request(write_lines(damaged)) if v.rule == "shape"]
    assert [v.path for v in violations] == ["$[1]", f"$[{len(damaged) - 2}]", f"$[{len(damaged) - 1}]"]
    assert {v.severity for v in violations} == {"ignored"}
    assert all(v.rule != "shape" for v in before)


def test_tools_that_a_rollout_adds_are_reported() -> None:
    tools = [{"type": "function", "name": "wait", "parameters": {"type": "object"}}]
    item = {"type": "additional_tools", "role": "developer", "tools": tools}
    lines = [*codex_session()[:3], codex_line("response_item", item, 17)]
    assert audit(lines, convert(lines, source=CODEX, target=CLAUDE, kind="request")) == []


@pytest.mark.parametrize("target", [CLAUDE, CODEX])
@pytest.mark.parametrize("media_type", ["image/png", "application/pdf"])
def test_media_in_results_are_written_or_reported(target: str, media_type: str) -> None:
    kind = "image" if media_type == "image/png" else "document"
    source = {"type": "base64", "media_type": media_type, "data": "aW1hZ2U="}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [text("a"), {"type": kind, "source": source}]}
    payload = {
        "model": "claude-opus-4-8",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [call("toolu_1")]},
            {"role": "user", "content": [result]},
        ],
    }
    encoded = convert(payload, source="anthropic-messages", target=target, kind="request")
    assert audit(payload, encoded) == []
    assert b"contentmodel:line" not in encoded.to_json()


def test_two_answers_with_one_id_stay_two_answers() -> None:
    request = ChatRequest(
        messages=[
            user("a"),
            msgspec.structs.replace(assistant("b"), response_id="r"),
            user("c"),
            msgspec.structs.replace(assistant("d"), response_id="r"),
        ]
    )
    reader = adapter(CLAUDE)
    assert texts(reader.decode_request(reader.encode_request(request).payload).messages) == ["a", "b", "c", "d"]


def test_a_file_without_its_parent_is_reported_by_its_rules() -> None:
    file = Claude()
    file.user("Go on.", after="missing")
    assert [v.rule for v in adapter(CLAUDE).check_request(file.lines)] == ["parents-are-in-the-file"]
    base = {"id": "x", "history_base": {"thread_id": "y", "end_ordinal_exclusive": 3}}
    rollout = [{"timestamp": "2026", "type": "session_meta", "payload": base}]
    assert [v.path for v in adapter(CODEX).check_request(rollout)] == ["$[0].payload.history_base"]


@pytest.mark.parametrize(("name", "target"), [("codex", CLAUDE), ("claude", CODEX)])
def test_convert_takes_the_id_and_the_folder_of_a_session(name: str, target: str) -> None:
    lines = convert(
        FILES[name][1](), source=FILES[name][0], target=target, policies={"session": "5e55", "directory": "/elsewhere"}
    ).payload
    if target == CLAUDE:
        assert {(line["sessionId"], line["cwd"]) for line in lines} == {("5e55", "/elsewhere")}
    else:
        assert (lines[0]["payload"]["id"], lines[0]["payload"]["cwd"]) == ("5e55", "/elsewhere")


@pytest.mark.parametrize("api", [CLAUDE, CODEX])
def test_residue_without_a_line_does_not_replace_the_fields_of_a_new_line(api: str) -> None:
    reader = adapter(api)
    origin = Origin(api=api, issuer=reader.issuer)
    message = ChatMessage(role="user", contents=[TextContent(text="Hi.", extra={api: {"mine": 1}})], origin=origin)
    encoded = reader.encode_request(ChatRequest(messages=[message], origin=origin))
    assert "mine" not in encoded.payload[-1]
    assert encoded.payload[-1].keys() >= {"timestamp", "type"}
    assert [loss.path for loss in encoded.losses if "mine" in loss.what] == ["$.messages[0].contents[0].extra.mine"]


@pytest.mark.parametrize("target", [CLAUDE, CODEX, "gemini-cli-session"])
@pytest.mark.parametrize(
    ("source", "result"),
    [
        (
            "openai-responses",
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {
                    "type": "search",
                    "query": "a",
                    "sources": [{"type": "url", "url": "https://example.org/a"}],
                },
            },
        ),
        (
            "anthropic-messages",
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "web_fetch_result",
                    "url": "https://example.org/a",
                    "content": {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "A page."},
                    },
                },
            },
        ),
    ],
)
def test_media_of_a_hosted_result_reach_a_session_without_tokens(
    source: str, result: dict[str, Any], target: str
) -> None:
    call = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_fetch",
        "input": {"url": "https://example.org/a"},
    }
    if source == "openai-responses":
        payload: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": "Search."}, result]}
    else:
        messages = [{"role": "user", "content": "Fetch."}, {"role": "assistant", "content": [call, result]}]
        payload = {"model": "m", "max_tokens": 9, "messages": messages}
    encoded = convert(payload, source=source, target=target, kind="request")
    assert b"contentmodel:line" not in encoded.to_json()
    assert audit(payload, encoded) == []


def printed(kind: str, uuid: str, content: Any, call_id: str | None = None) -> dict[str, Any]:
    """Return a line that `claude -p --output-format stream-json` prints."""
    answer = {"id": f"msg_{uuid}", "type": "message", "model": "claude-opus-4-5", "usage": {"input_tokens": 3}}
    message = {**(answer if kind == "assistant" else {}), "role": kind, "content": content}
    return {"type": kind, "message": message, "parent_tool_use_id": call_id, "session_id": "s1", "uuid": uuid}


def test_printed_lines_are_one_conversation_with_branches_for_subagents() -> None:
    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "Count the boats."}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Four boats."}
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s1", "uuid": "l0", "tools": ["Task"]},
        printed("assistant", "l1", [{"type": "text", "text": "I ask another agent."}]),
        printed("assistant", "l2", [task]),
        printed("user", "l3", [{"type": "text", "text": "Count the boats."}], "toolu_1"),
        printed("assistant", "l4", [{"type": "text", "text": "I see four."}], "toolu_1"),
        printed("user", "l5", [result]),
        printed("assistant", "l6", [{"type": "text", "text": "There are four."}]),
        {"type": "result", "subtype": "success", "result": "There are four.", "session_id": "s1", "uuid": "l7"},
    ]
    assert detect(write_lines(lines)) == (CLAUDE, "request")
    request = adapter(CLAUDE).decode_request(lines)
    roles = [(message.role, message.text) for message in request.messages]
    assert roles[0] == ("assistant", "I ask another agent.")
    assert roles[-1] == ("assistant", "There are four.")
    (result_read,) = request.messages[-2].contents
    assert isinstance(result_read, FunctionResultContent)
    assert result_read.call_id == "toolu_1"
    assert [(branch.kind, [message.text for message in branch.messages]) for branch in request.branches] == [
        ("agent", ["Count the boats.", "I see four."])
    ]
    assert adapter(CLAUDE).encode_request(request).payload == lines
    made = convert(lines, source=CLAUDE, target="openai-chat", kind="request")
    assert audit(lines, made) == []
