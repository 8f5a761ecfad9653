"""Split points of transcripts, planned losses, and audits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS
from contentmodel import (
    ChatMessage,
    FunctionCallContent,
    FunctionResultContent,
    Protected,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
    audit,
    convert,
    plan,
)
from contentmodel.content import CustomToolCallContent, ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel.split_points import split_points
from contentmodel_conformance.strategies.transcripts import transcripts
from providers import PROVIDERS


def message(role: str, *contents: Any) -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents))


HELLO = message("user", TextContent(text="hi"))
CALL = message("assistant", FunctionCallContent(call_id="1", name="f"))
CUSTOM_CALL = message("assistant", CustomToolCallContent(call_id="1", name="f", arguments=""))
RESULT = message("tool", FunctionResultContent(call_id="1"))
ANSWER = message("assistant", TextContent(text="done"))


def thought(issuer: str) -> ReasoningContent:
    return ReasoningContent(text="hm", protected=Protected(issuer=issuer, kind="signature", data="s"))


@pytest.mark.parametrize(
    ("messages", "cuts"),
    [
        ([], [0]),
        ([HELLO, ANSWER], [0, 1, 2]),
        ([HELLO, CALL, RESULT, ANSWER], [0, 1, 3, 4]),
        # The call has no result.
        ([HELLO, CALL, HELLO, ANSWER], [0, 1, 2, 3, 4]),
        # Messages between a call and its result stay with them.
        ([HELLO, CALL, HELLO, RESULT, ANSWER], [0, 1, 4, 5]),
        # Calls of two kinds of tool with the same id: each result belongs to the first call without one.
        ([HELLO, CALL, RESULT, HELLO, CUSTOM_CALL, RESULT, ANSWER], [0, 1, 3, 4, 6, 7]),
        # Reasoning stays with the call in the next message.
        ([HELLO, message("assistant", thought("openai")), CALL, RESULT], [0, 1, 4]),
        # Claude's signature depends on everything before it.
        ([HELLO, ANSWER, HELLO, message("assistant", thought("anthropic"), TextContent(text="x")), HELLO], [0, 4, 5]),
        (
            [
                HELLO,
                message("assistant", ToolApprovalRequestContent(request_id="a")),
                message("user", ToolApprovalResponseContent(request_id="a", approved=True)),
            ],
            [0, 1, 3],
        ),
    ],
)
def test_split_points_keep_related_messages_together(messages: list[ChatMessage], cuts: list[int]) -> None:
    assert split_points(messages) == cuts


def test_split_points_ignore_signatures_if_not_prefix_bound() -> None:
    messages = [HELLO, ANSWER, HELLO, message("assistant", thought("anthropic"), TextContent(text="x"))]
    assert split_points(messages, prefix_bound=False) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_split_points_do_not_separate_calls_from_results(api: str, data: st.DataObject) -> None:
    messages = data.draw(transcripts(api)).messages
    ids = [c.call_id for m in messages for c in m.contents if isinstance(c, ToolCallContent)]
    once = {call_id for call_id in ids if ids.count(call_id) == 1}
    for cut in split_points(messages):
        calls = {c.call_id for m in messages[:cut] for c in m.contents if isinstance(c, ToolCallContent)}
        results = {c.call_id for m in messages[cut:] for c in m.contents if isinstance(c, ToolResultContent)}
        assert once.isdisjoint(calls & results)


ASKED = {
    "model": "claude-opus-4-8",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "What is it?"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "It."}],
        },
        {"role": "user", "content": "Sure?"},
    ],
}


def test_plan_counts_losses_by_family_and_sorts_by_cost() -> None:
    plans = plan(ASKED, targets=["openai-chat", "anthropic-messages"], models={"openai-chat": "gpt-5.2"})
    assert [made.target for made in plans] == ["anthropic-messages", "openai-chat"]
    assert plans[0].cost == 0
    assert plans[1].families == {"reasoning": {"dropped": 1}}
    assert plans[1].cost == 10


def test_plan_accepts_model_value() -> None:
    request = contentmodel.adapter("anthropic-messages").decode_request(ASKED)
    assert {made.target for made in plan(request)} == set(PROVIDERS) - {"anthropic-messages"}


def test_plan_lists_violations_of_output() -> None:
    request = contentmodel.adapter("openai-chat").decode_request(
        {"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    )
    models = {"anthropic-messages": "claude-opus-4-8"}
    (made,) = plan(request, targets=["anthropic-messages"], models=models, policies={"prefill": "keep"})
    assert [violation.rule for violation in made.violations] == ["prefill-supported"]
    assert made.cost >= 100


def test_audit_reports_deleted_message() -> None:
    encoded = convert(ASKED, target="openai-chat")
    assert audit(ASKED, encoded) == []
    encoded.payload["messages"].pop(0)
    assert [found.path for found in audit(ASKED, encoded)] == ["$.messages[0].content"]


def test_audit_counts_equal_values() -> None:
    twice = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "same"}] * 2}
    encoded = convert(twice, source="anthropic-messages", target="openai-chat", kind="request")
    assert audit(twice, encoded) == []
    encoded.payload["messages"].pop()
    assert [found.value for found in audit(twice, encoded)] == ["same"]


def test_audit_reports_deleted_flag() -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": True}
    call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    payload = {
        "model": "m",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
    }
    encoded = convert(payload, source="anthropic-messages", target="anthropic-messages", kind="request")
    assert audit(payload, encoded) == []
    del encoded.payload["messages"][2]["content"][0]["is_error"]
    assert [found.path for found in audit(payload, encoded)] == ["$.messages[2].content[0].is_error"]
