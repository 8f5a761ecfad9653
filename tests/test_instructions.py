"""System and developer messages in the middle of a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from contentmodel import check, convert

ANTHROPIC, CHAT, RESPONSES = "anthropic-messages", "openai-chat", "openai-responses"
CLAUDE = "claude-opus-5"


def message(role: str, text: str | None = None) -> dict[str, Any]:
    return {"role": role, "content": role if text is None else text}


def roles(messages: list[dict[str, Any]], model: str = CLAUDE, source: str = CHAT) -> list[str]:
    """Return the roles of a conversation in a request to Claude, after the rules have accepted it."""
    key = "messages" if source == CHAT else "input"
    made = convert({"model": model, key: messages}, source=source, target=ANTHROPIC, kind="request")
    assert [v for v in check(made.payload, api=ANTHROPIC) if v.rule.startswith("system")] == []
    result = [m["role"] for m in made.payload["messages"]]
    lost = [loss for loss in made.losses if loss.code == "instructions-as-user"]
    assert bool(lost) == ("system" not in result)
    return result


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("source", [CHAT, RESPONSES])
def test_instructions_after_a_user_turn_keep_their_role(role: str, source: str) -> None:
    before = [message("user"), message(role)]
    assert roles(before, source=source) == ["user", "system"]
    assert roles([*before, message("assistant"), message("user")], source=source) == [
        "user",
        "system",
        "assistant",
        "user",
    ]


def test_instructions_after_results_keep_their_role() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    assert roles([message("user"), turn, result, message("system")]) == ["user", "assistant", "user", "system"]


def test_consecutive_instructions_become_one_message() -> None:
    payload = {"model": CLAUDE, "messages": [message("user"), message("system", "A"), message("developer", "B")]}
    made = convert(payload, source=CHAT, target=ANTHROPIC, kind="request").payload["messages"]
    assert made[1:] == [{"role": "system", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}]


@pytest.mark.parametrize(
    "messages",
    [
        [message("user"), message("system"), message("user", "again")],
        [message("user"), message("assistant"), message("system"), message("user")],
        [message("user"), message("system"), message("assistant", ""), message("user")],
    ],
)
def test_instructions_in_invalid_position_become_user_messages(messages: list[dict[str, Any]]) -> None:
    assert "system" not in roles(messages)


def test_instructions_become_user_messages_for_older_models() -> None:
    assert roles([message("user"), message("system")], "claude-opus-4-7") == ["user", "user"]
    assert roles([message("user"), message("system")], "claude-3-5-sonnet-20241022") == ["user", "user"]


@pytest.mark.parametrize(
    ("model", "keeps_role"),
    [
        ("claude-opus-4-8", True),
        ("claude-sonnet-5", True),
        ("claude-opus-5-5-20260901", True),
        ("claude-haiku-4-5-20251001", False),
        ("claude-sonnet-4-20250514", False),
        ("claude-3-opus-20240229", False),
    ],
)
def test_model_version_decides_whether_instructions_keep_their_role(model: str, keeps_role: bool) -> None:
    assert ("system" in roles([message("user"), message("system")], model)) is keeps_role


@pytest.mark.parametrize("target", [CHAT, RESPONSES])
def test_instructions_in_conversation_survive_a_round_trip(target: str) -> None:
    messages = [message("user"), message("system", "From now on, in French."), message("assistant"), message("user")]
    payload = {"model": CLAUDE, "max_tokens": 9, "messages": messages}
    forward = convert(payload, source=ANTHROPIC, target=target, kind="request")
    turns = forward.payload["messages" if target == CHAT else "input"]
    assert [turn["role"] for turn in turns] == ["user", "system", "assistant", "user"]
    back = convert(forward.payload, source=target, target=ANTHROPIC, kind="request").payload["messages"]
    assert [turn["role"] for turn in back] == ["user", "system", "assistant", "user"]
