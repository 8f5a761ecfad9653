"""What a content leaves behind where another stands for it: each part is in the output or under a loss."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import audit, convert

ANTHROPIC, CHAT, RESPONSES, GEMINI = "anthropic-messages", "openai-chat", "openai-responses", "google-generate-content"

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo=", "media_type": "image/png"}}
CITED = {
    "type": "char_location",
    "cited_text": "quoted",
    "document_index": 0,
    "document_title": "of it",
    "start_char_index": 3,
    "end_char_index": 9,
}
DOCUMENT = {"type": "document", "source": {"type": "content", "content": [TEXT, IMAGE]}}
FOUND = {"type": "search_result", "source": "s", "title": "t", "content": [TEXT, {**TEXT, "citations": [CITED]}]}
AUDIO = {"id": "audio_1", "data": "AAAA", "expires_at": 5, "transcript": "Hm."}
ADDED = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [{"type": "function", "name": "f"}]}


def late(output: dict[str, Any]) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [output]}
    return {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [result]}]}


def spoken() -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "audio": AUDIO}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "the image of a document of a late result": (ANTHROPIC, late(DOCUMENT), "request"),
    "the citations of a late result": (ANTHROPIC, late(FOUND), "request"),
    "the audio of a transcript": (CHAT, spoken(), "response"),
    "the id of added tools": (RESPONSES, {"model": "m", "input": [ADDED]}, "request"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES, GEMINI])
def test_what_another_content_does_not_hold_is_reported(name: str, target: str) -> None:
    source, payload, kind = CASES[name]
    assert audit(payload, convert(payload, source=source, target=target, kind=kind)) == []


@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES])
def test_a_tool_that_is_lost_is_one_loss(target: str) -> None:
    """Also where its one member is no object."""
    said = [{"role": "user", "parts": [{"text": "hi"}]}]
    payload = {"contents": said, "tools": [{"newTool": 5}, {"googleMaps": {}, "more": "text"}]}
    paths = [loss.path for loss in convert(payload, source=GEMINI, target=target).losses if ".tools" in loss.path]
    assert sorted(paths) == ["$.tools[0].newTool", "$.tools[1].googleMaps", "$.tools[1].more"]


def test_the_role_of_added_tools_means_nothing_elsewhere() -> None:
    losses = convert({"model": "m", "input": [ADDED]}, source=RESPONSES, target=CHAT, kind="request").losses
    assert {loss.path: loss.kind for loss in losses}["$.input[0].role"] == "insignificant"
