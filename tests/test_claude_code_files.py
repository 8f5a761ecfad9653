"""Session files of Claude Code: the end of the conversation after the user went back, and texts that it adds."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from contentmodel import adapter, convert
from contentmodel.message import ChatMessage, user
from contentmodel.request import ChatRequest
from session_files import Claude, Line, text

CLAUDE = "claude-code-session"


def turns() -> tuple[Claude, str]:
    """Return a session of two turns, and the id of the end of the first."""
    file = Claude()
    file.user("one")
    end = file.answer("msg_1", text("1"))
    file.user("two")
    file.answer("msg_2", text("2"))
    return file, end


def mark(leaf: str | None, **more: Any) -> Line:
    """Return the line that marks the end of the conversation."""
    return {"type": "last-prompt", "leafUuid": leaf, "sessionId": "s", **more}


def read(lines: list[Any]) -> ChatRequest:
    """Return a session that is written as it was read."""
    request = adapter(CLAUDE).decode_request(lines)
    assert adapter(CLAUDE).encode_request(request).payload == lines
    return request


def texts(messages: list[ChatMessage]) -> list[str]:
    return [message.text for message in messages]


# the end of the conversation


@pytest.mark.parametrize("more", [{"explicit": True, "rewound": True}, {"explicit": True}, {"rewound": True}])
def test_conversation_ends_where_the_user_went_back_to(more: dict[str, bool]) -> None:
    file, end = turns()
    file.keep(mark(end, **more))
    request = read(file.lines)
    assert texts(request.messages) == ["one", "1"]
    assert [(branch.kind, texts(branch.messages)) for branch in request.branches] == [("alternative", ["two", "2"])]
    file.keep(mark(end, lastPrompt="two"))
    assert texts(read(file.lines).messages) == ["one", "1"]
    losses = convert(file.lines, source=CLAUDE, target="openai-chat", kind="request").losses
    assert {"$[2]", "$[3]"} <= {loss.path for loss in losses if loss.kind == "dropped"}


def test_conversation_is_empty_after_the_user_took_all_back() -> None:
    file, _ = turns()
    file.keep(mark(None, explicit=True))
    request = read(file.lines)
    assert (texts(request.messages), len(request.branches)) == ([], 1)


@pytest.mark.parametrize("more", [{}, {"explicit": False}])
def test_a_last_prompt_without_a_mark_does_not_end_the_conversation(more: dict[str, bool]) -> None:
    file, end = turns()
    file.keep(mark(end, **more))
    assert texts(read(file.lines).messages) == ["one", "1", "two", "2"]


@pytest.mark.parametrize("leaf", ["", None])
def test_a_mark_ends_with_the_next_message(leaf: str | None) -> None:
    file, end = turns()
    file.keep(mark(leaf if leaf is None else end, explicit=True))
    file.user("three", after=None if leaf is None else end)
    assert texts(read(file.lines).messages) == [*([] if leaf is None else ["one", "1"]), "three"]


@pytest.mark.parametrize("leaf", ["elsewhere", 5, ["a"]])
def test_a_mark_of_an_unknown_line_is_ignored(leaf: Any) -> None:
    file, _ = turns()
    file.keep(mark(leaf, explicit=True))
    assert texts(read(file.lines).messages) == ["one", "1", "two", "2"]


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_message_added_after_a_mark_is_the_new_end(is_empty: bool) -> None:
    file, end = turns()
    file.keep(mark(None if is_empty else end, explicit=True))
    request = read(file.lines)
    added = replace(request, messages=[*request.messages, user("three")])
    lines = adapter(CLAUDE).encode_request(added).payload
    assert texts(read(lines).messages) == [*texts(request.messages), "three"]


# texts that the program adds


def test_attachments_after_the_last_message_are_read() -> None:
    file = Claude()
    file.user("Look.")
    file.add("attachment", {"attachment": {"type": "date"}, "rendered": [{"content": "Monday."}]})
    file.add("attachment", {"attachment": {"type": "file"}, "rendered": [{"content": "A file."}]})
    assert texts(read(file.lines).messages) == ["Look.", "Monday.", "A file."]


@pytest.mark.parametrize(
    ("attachment", "is_reported"),
    [
        ({"type": "hook_success", "hookEvent": "SessionStart", "content": "Rules."}, True),
        ({"type": "hook_success", "hookEvent": "PostToolUse", "content": "Done."}, False),
        ({"type": "hook_success", "hookEvent": "UserPromptSubmit", "content": ""}, False),
        ({"type": "async_hook_response", "response": {"systemMessage": "Rules."}}, True),
        ({"type": "selected_lines_in_diff", "content": "x = 1", "lineCount": 1}, True),
        ({"type": "todo_reminder", "content": [{"content": "Test.", "status": "pending"}]}, False),
        ({"type": "date", "date": "2026-11-23"}, False),
        ({"type": "thinking_drop"}, False),
    ],
)
def test_attachments_of_older_versions_are_reported_if_the_model_got_their_values(
    attachment: Line, is_reported: bool
) -> None:
    file = Claude()
    file.user("Look.")
    file.attach(attachment)
    file.answer("msg_1", text("Done."))
    read(file.lines)
    losses = convert(file.lines, source=CLAUDE, target="openai-chat", kind="request").losses
    assert ("$[1]" in {loss.path for loss in losses if loss.kind == "dropped"}) == is_reported
