"""Session files of Gemini CLI: events, repeated and removed records, and checkpoints."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from contentmodel import ChatMessage, adapter, assistant, audit, convert, detect, user
from contentmodel.content import TextContent
from contentmodel.lines import parse_lines, write_lines
from contentmodel.message import contents_of
from session_files import CONTEXT, Gemini, compressed_session, gemini_session

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


def test_a_file_without_the_names_of_its_session_is_reported() -> None:
    file = Gemini()
    file.record("u1", "user", "Hi.")
    assert [violation.rule for violation in adapter(API).check_request(file.lines)] == ["session-is-named"]


def test_results_with_media_are_not_doubled() -> None:
    file = Gemini()
    file.start()
    result = {"functionResponse": {"id": "ls_1", "name": "ls", "response": {"output": "an image"}}}
    parts = [result, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]
    file.record("g1", "gemini", "", toolCalls=[{"id": "ls_1", "name": "ls", "args": {}, "result": parts}])
    file.record("u1", "user", parts)
    assert len(adapter(API).decode_request(file.lines).messages) == 2
