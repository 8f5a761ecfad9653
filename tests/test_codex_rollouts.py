"""Rollouts of Codex with several agents, and those of older versions."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from contentmodel import adapter, convert
from contentmodel.content.text import TextContent
from contentmodel.message import contents_of
from contentmodel.usage import Usage
from session_files import Line, codex_line, said

CODEX = "codex-rollout"
HEADER = codex_line("session_meta", {"id": "s", "cwd": "/project"}, 0)
TASK = "Message Type: NEW_TASK\nTask name: /root/tester\nSender: /root\nPayload:\nRun the tests."


def agent_message(value: str, author: str = "/root") -> Line:
    """Return the item with a message of another agent."""
    names = {"author": author, "recipient": "/root/tester"}
    return {"type": "agent_message", **names, "content": [{"type": "input_text", "text": value}]}


def communication(value: str, **more: Any) -> Line:
    """Return the line with a message of another agent, as versions before the item wrote it."""
    names = {"author": "/root", "recipient": "/root/tester", "other_recipients": []}
    return codex_line("inter_agent_communication", {**names, "content": value, "trigger_turn": True, **more}, 1)


def rollout(*items: Line) -> list[Line]:
    """Return a rollout with these items; a value with a payload is a line."""
    lines = (item if "payload" in item else codex_line("response_item", item, at) for at, item in enumerate(items, 1))
    return [HEADER, *lines]


def counts(tokens: int, total: int) -> Line:
    """Return the event with the token counts of an answer, and their sum."""
    info = {key: {"input_tokens": n, "output_tokens": 1} for key, n in (("last", tokens), ("total", total))}
    return codex_line(
        "event_msg", {"type": "token_count", "info": {f"{key}_token_usage": value for key, value in info.items()}}, 2
    )


# messages of agents


@pytest.mark.parametrize("task", [agent_message(TASK), communication(TASK, id="am_1")], ids=["item", "line"])
@pytest.mark.parametrize(
    "target", ["anthropic-messages", "openai-chat", "google-generate-content", "claude-code-session"]
)
def test_message_of_another_agent_reaches_other_formats_as_one_of_the_user(task: Line, target: str) -> None:
    lines = rollout(task, said("assistant", "All tests pass."))
    request = adapter(CODEX).decode_request(lines)
    assert [(message.role, message.text) for message in request.messages] == [
        ("user", TASK),
        ("assistant", "All tests pass."),
    ]
    assert adapter(CODEX).encode_request(request).payload == lines
    converted = convert(lines, source=CODEX, target=target, kind="request")
    assert next(message.text for message in adapter(target).decode_request(converted.payload).messages) == TASK
    paths = {loss.path for loss in converted.losses if loss.kind == "dropped"}
    assert paths == {"$[1].payload.author", "$[1].payload.recipient"}


def test_edited_message_of_another_agent_is_written_in_its_line() -> None:
    request = adapter(CODEX).decode_request(rollout(communication("One.", id="am_1"), agent_message("Two.")))
    edited = [
        replace(message, contents=[TextContent(text="New."), *more])
        for message, more in zip(request.messages, ([], [TextContent(text="More.")]), strict=True)
    ]
    lines = adapter(CODEX).encode_request(replace(request, messages=edited)).payload
    assert [line["type"] for line in lines] == ["session_meta", "inter_agent_communication", "response_item"]
    assert (lines[1]["payload"]["content"], lines[1]["payload"]["id"]) == ("New.", "am_1")
    assert [part["text"] for part in lines[2]["payload"]["content"]] == ["New.", "More."]
    both = replace(edited[0], contents=[TextContent(text="A."), TextContent(text="B.")])
    lines = adapter(CODEX).encode_request(replace(request, messages=[both])).payload
    assert (lines[1]["type"], lines[1]["payload"]["type"]) == ("response_item", "agent_message")
    assert len(adapter(CODEX).decode_request(lines).messages[0].contents) == 2


def test_encrypted_message_of_another_agent_is_reported() -> None:
    lines = rollout(communication("", encrypted_content="c2VhbGVk"), said("assistant", "Done."))
    request = adapter(CODEX).decode_request(lines)
    assert [message.role for message in request.messages] == ["assistant"]
    losses = convert(lines, source=CODEX, target="openai-chat", kind="request").losses
    assert "$[1]" in {loss.path for loss in losses if loss.kind == "dropped"}


@pytest.mark.parametrize("item", [{"content": "text"}, {"content": []}, {}, {"content": ["text"]}])
def test_message_of_another_agent_in_an_unknown_form_is_kept(item: Line) -> None:
    payload = {"model": "gpt-5.5", "input": [{"type": "agent_message", "author": "/root", **item}]}
    request = adapter("openai-responses").decode_request(payload)
    assert [content.__class__.__name__ for content in contents_of(request.messages)] == ["UnknownContent"]
    assert adapter("openai-responses").encode_request(request).payload == payload


def test_message_of_another_agent_in_an_answer_stays_in_the_answer() -> None:
    payload = {"id": "r", "object": "response", "status": "completed", "output": [agent_message("Go.")]}
    response = adapter("openai-responses").decode_response(payload)
    assert [message.role for message in response.choices[0].messages] == ["assistant"]
    assert adapter("openai-responses").encode_response(response).payload == payload


# rollbacks


SUMMARY = (
    "Another language model started to solve this problem and produced a summary of its thinking process. You also "
    "have access to the state of the tools.\nThe maps are sorted."
)
COMMUNICATED = '{"author": "/root", "recipient": "/root/tester", "content": "Go.", "trigger_turn": true}'


@pytest.mark.parametrize(
    ("items", "left"),
    [
        ([said("user", "one"), agent_message("two"), said("assistant", "2")], ["one"]),
        ([said("user", "one"), communication("two"), said("assistant", "2")], ["one"]),
        ([said("user", "one"), said("assistant", COMMUNICATED), said("assistant", "2")], ["one"]),
        ([said("user", "one"), said("user", SUMMARY), said("assistant", "2")], []),
        ([said("user", "one"), said("assistant", '{"content": "1"}'), said("assistant", "{")], []),
    ],
    ids=["agent", "communication", "older", "summary", "json"],
)
def test_rollback_takes_back_the_turns_of_agents_and_no_summary(items: list[Line], left: list[str]) -> None:
    back = codex_line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}, 9)
    lines = [*rollout(*items), back, codex_line("response_item", said("user", "three"), 10)]
    request = adapter(CODEX).decode_request(lines)
    assert [message.text for message in request.messages] == [*left, "three"]
    assert [branch.kind for branch in request.branches] == ["alternative"]
    assert adapter(CODEX).encode_request(request).payload == lines


def test_compaction_to_an_empty_history_removes_all_messages() -> None:
    compacted = codex_line("compacted", {"message": "", "replacement_history": []}, 3)
    lines = [*rollout(said("user", "one")), compacted, codex_line("response_item", said("user", "two"), 4)]
    request = adapter(CODEX).decode_request(lines)
    assert [message.text for message in request.messages] == ["two"]
    assert [(branch.kind, branch.messages[0].text) for branch in request.branches] == [("compacted", "one")]
    assert adapter(CODEX).encode_request(request).payload == lines


# token counts


def test_token_counts_of_events_are_the_usage_of_answers() -> None:
    lines = rollout(
        *(said("user", "Hi"), said("assistant", "One."), counts(5, 5), said("user", "And?"), counts(5, 5)),
        *(said("assistant", "Two."), codex_line("event_msg", {"type": "token_count", "info": None}, 7), counts(7, 12)),
    )
    request = adapter(CODEX).decode_request(lines)
    assert [message.usage for message in request.messages] == [
        None,
        Usage(input_tokens=5, output_tokens=1),
        None,
        Usage(input_tokens=7, output_tokens=1),
    ]
    assert adapter(CODEX).encode_request(request).payload == lines
    assert not [loss for loss in adapter(CODEX).encode_request(request).losses if loss.kind != "insignificant"]


def test_token_counts_of_a_record_are_not_replaced_by_those_of_an_event() -> None:
    record = codex_line("token_usage_record", {"response_id": "resp_1", "usage": {"input_tokens": 9}}, 3)
    lines = rollout(said("user", "Hi"), said("assistant", "One."), record, counts(5, 5))
    assert adapter(CODEX).decode_request(lines).messages[1].usage == Usage(input_tokens=9)
