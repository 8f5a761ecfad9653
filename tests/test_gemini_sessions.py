"""Session files of Gemini CLI: events, repeated and removed records, and checkpoints."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from contentmodel import ChatMessage, adapter, assistant, audit, convert, detect, user
from contentmodel.content import TextContent, ToolCallContent, ToolResultContent
from contentmodel.lines import parse_lines, write_lines
from contentmodel.message import contents_of
from session_files import CONTEXT, Gemini, compressed_session, gemini_session, response

API = "gemini-cli-session"
FILES = {"resumed": gemini_session, "compressed": compressed_session}
TARGETS = ["anthropic-messages", "openai-chat", "openai-responses", "google-generate-content"]
SESSIONS = [API, "claude-code-session", "codex-rollout"]


def texts(messages: list[ChatMessage]) -> list[str]:
    return [content.text for content in contents_of(messages) if isinstance(content, TextContent) and content.text]


@pytest.mark.parametrize("name", FILES)
def test_a_session_is_written_as_the_same_lines(name: str) -> None:
    lines = FILES[name]()
    reader = adapter(API)
    assert detect(write_lines(lines)) == (API, "request")
    encoded = reader.encode_request(reader.decode_request(write_lines(lines)))
    assert encoded.payload == lines
    assert encoded.losses == ()
    assert parse_lines(encoded.to_json()) == lines


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("target", [*TARGETS, *SESSIONS])
def test_each_value_of_a_session_reaches_the_target_or_is_reported(name: str, target: str) -> None:
    lines = FILES[name]()
    assert audit(lines, convert(lines, source=API, target=target, kind="request")) == []


def test_a_resumed_session_has_each_message_once() -> None:
    request = adapter(API).decode_request(gemini_session())
    assert texts(request.messages) == [
        "<session_context>\nLinux",
        "List the files.",
        "I list them.",
        "There is one file.",
        "Keep it.",
        "It stays.",
    ]
    contents = [*contents_of(request.messages)]
    assert [content.call_id for content in contents if isinstance(content, ToolCallContent)] == ["ls_1", "ls_2"]
    assert [content.call_id for content in contents if isinstance(content, ToolResultContent)] == ["ls_1", "ls_2"]


def test_a_repeated_answer_has_the_usage_and_the_model_of_its_first_record() -> None:
    answer = adapter(API).decode_request(gemini_session()).messages[2]
    assert answer.usage is not None
    assert (answer.usage.output_tokens, answer.usage.reasoning_tokens, answer.usage.cache_read_tokens) == (7, 3, 80)
    assert answer.origin is not None
    assert (answer.origin.model, answer.message_id, answer.created) == ("gemini-3.1-pro-preview", "g1", "2027")


def test_removed_records_are_branches() -> None:
    rewound = adapter(API).decode_request(gemini_session()).branches
    assert [(branch.kind, branch.parent_id, texts(branch.messages)) for branch in rewound] == [
        ("alternative", "g2", ["Delete it.", "It is deleted."])
    ]
    compressed = adapter(API).decode_request(compressed_session())
    assert texts(compressed.messages)[1:] == ["Summary: notes were written.", "Got it.", "Go on."]
    assert [(branch.kind, texts(branch.messages)) for branch in compressed.branches] == [
        ("compacted", ["Write the notes.", "The notes are written."])
    ]


def test_losses_have_paths_in_the_lines() -> None:
    losses = convert(gemini_session(), source=API, target="openai-chat", kind="request").losses
    significant = {(loss.code, loss.path) for loss in losses if loss.kind == "dropped"}
    assert significant == {
        ("foreign-reasoning", "$[10]['$set'].messages[2].content[0]"),
        ("no-branches", "$[11]"),
        ("no-branches", "$[12]"),
        ("provider-field", "$[17]"),
    }
    minor = {loss.path for loss in losses if loss.kind == "insignificant"}
    assert {"$[3]", "$[7]", "$[10]['$set'].messages[3]", "$[15].toolCalls[0].resultDisplay"} <= minor


def test_new_messages_are_lines_after_those_of_the_file() -> None:
    reader = adapter(API)
    lines = compressed_session()
    request = reader.decode_request(lines)
    more = msgspec.structs.replace(request, messages=[*request.messages, assistant("I go on."), user("Good.")])
    written = reader.encode_request(more).payload
    assert written[: len(lines)] == lines
    assert [(line["type"], line["content"]) for line in written[len(lines) :]] == [
        ("gemini", [{"text": "I go on."}]),
        ("user", [{"text": "Good."}]),
    ]
    assert texts(reader.decode_request(written).messages)[-2:] == ["I go on.", "Good."]


def test_a_session_without_one_of_its_messages_is_a_new_file() -> None:
    reader = adapter(API)
    request = reader.decode_request(gemini_session())
    rest = [message for message in request.messages if message.text != "I list them."]
    encoded = reader.encode_request(msgspec.structs.replace(request, messages=rest))
    again = reader.decode_request(encoded.payload)
    assert texts(again.messages) == texts(rest)
    assert again.branches == []
    assert "no-branches" in {loss.code for loss in encoded.losses}


def test_a_conversation_of_another_api_is_a_new_session() -> None:
    payload = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."},
        ]
    }
    encoded = convert(payload, source="openai-chat", target=API, kind="request")
    assert [line.get("type") for line in encoded.payload] == [None, "user", "gemini"]
    assert {loss.code for loss in encoded.losses} == {"agent-instructions", "unknown-time"}
    assert adapter(API).check_request(encoded.payload) == []


@pytest.mark.parametrize("form", ["history", "messages"])
def test_a_document_of_one_object_is_read(form: str) -> None:
    contents = [{"role": "user", "parts": [{"text": "Hi."}]}, {"role": "model", "parts": [{"text": "Hello."}]}]
    records: list[Any] = [CONTEXT, {"id": "g", "timestamp": "2026", "type": "gemini", "content": "Hello."}]
    checkpoint = {"history": contents, "authType": "gemini-api-key"}
    session = {"sessionId": "s", "projectHash": "p", "messages": records}
    document = checkpoint if form == "history" else session
    text = json.dumps(document, indent=2)
    assert detect(text) == detect(document) == (API, "request")
    reader = adapter(API)
    request = reader.decode_request(text)
    assert texts(request.messages)[-1] == "Hello."
    assert reader.encode_request(request).payload == [document]
    encoded = convert(text, source=API, target="openai-chat", kind="request")
    assert audit([document], encoded) == []
    assert encoded.payload["messages"][-1] == {"role": "assistant", "content": "Hello."}


@pytest.mark.parametrize(
    "line",
    [
        {"id": "x", "type": "gemini", "content": 7},
        {"id": "x", "type": "user", "content": ["a text"]},
        {"id": "x", "type": "user", "content": [{"text": 3}]},
        {"id": "x", "type": "gemini", "content": "", "thoughts": [7]},
        {"id": "x", "type": "gemini", "content": "", "toolCalls": [{"name": "ls"}]},
        {"id": "x", "type": "gemini", "content": "", "toolCalls": [{"id": "1", "name": "ls", "result": "text"}]},
        {"id": "x", "type": "user"},
        {"id": "x", "type": "something-new", "content": "x"},
        {"id": "x", "type": "user", "content": "x", "contentmodel:line": 3},
        {"$set": {"messages": [{"id": "x", "type": "user", "content": [{"text": 3}]}]}},
        {"$set": {"messages": 7}},
        {"$set": 7},
        {"$rewindTo": 7},
        {"$rewindTo": "unknown"},
        {"history": [{"role": "user", "parts": [3]}]},
        [1, 2],
        None,
        "not JSON",
    ],
)
def test_a_line_of_another_form_is_kept_and_reported(line: Any) -> None:
    lines = [*gemini_session(), line]
    reader = adapter(API)
    assert reader.encode_request(reader.decode_request(lines)).payload == lines
    assert audit(lines, convert(lines, source=API, target="openai-chat", kind="request")) == []


def test_a_record_of_another_form_is_a_significant_loss() -> None:
    lines = [*gemini_session(), {"id": "x", "type": "user", "content": 7}]
    losses = convert(lines, source=API, target="openai-chat", kind="request").losses
    assert ("$[18]", "dropped") in {(loss.path, loss.kind) for loss in losses}


def test_results_with_media_are_not_doubled() -> None:
    file = Gemini()
    file.start()
    parts = [response("ls_1", "an image"), {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]
    file.answer("g1", "", toolCalls=[{"id": "ls_1", "name": "ls", "args": {}, "result": parts}])
    file.record("u1", "user", parts)
    assert len(adapter(API).decode_request(file.lines).messages) == 2


def test_a_file_without_the_names_of_its_session_is_reported() -> None:
    file = Gemini()
    file.record("u1", "user", "Hi.")
    assert [violation.rule for violation in adapter(API).check_request(file.lines)] == ["session-is-named"]


@pytest.mark.parametrize(
    "content",
    [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://example.org/a"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    ],
)
def test_a_first_message_that_becomes_a_text_is_kept(content: dict[str, Any]) -> None:
    payload = {"model": "m", "messages": [content]}
    encoded = convert(payload, source="openai-chat", target=API, kind="request")
    assert [record["type"] for record in encoded.payload[1:]] == ["user"]
    assert audit(payload, encoded) == []


def test_a_session_that_begins_with_an_answer_has_no_placeholder() -> None:
    answer = {"role": "assistant", "content": "Hi."}
    api = "google-generate-content"
    contents = convert({"model": "m", "messages": [answer]}, source="openai-chat", target=api).payload["contents"]
    placeholder = {"role": "user", "content": contents[0]["parts"][0]["text"]}
    for messages in ([answer], [placeholder, answer]):
        encoded = convert({"model": "m", "messages": messages}, source="openai-chat", target=API, kind="request")
        assert [record["content"][0]["text"] for record in encoded.payload[1:]] == [one["content"] for one in messages]
        assert {loss.code for loss in encoded.losses} == {"unknown-time"}
