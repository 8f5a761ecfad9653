"""Approvals of calls that the application runs: kept by formats that have them, and never lost without a report."""

from __future__ import annotations

from typing import Any

import pytest
from agent_framework import Content, Message

from contentmodel import FunctionResultContent, adapter, audit, convert
from contentmodel.content.tools import ToolApprovalRequestContent, ToolApprovalResponseContent

AF, MEAI, MODEL, UI = "agent-framework", "meai", "vercel-model-messages", "vercel-ui-messages"
HAVING = (AF, MEAI, MODEL, UI)
"""The formats that have approvals, and the approval's own id."""
STATES = ("pending", "approved", "denied")
FUNCTION = Content.from_function_call("c1", "pay", arguments={"eur": 5})


def of_agent_framework(state: str) -> list[Any]:
    asked = Message("assistant", [FUNCTION, Content.from_function_approval_request("a1", FUNCTION)])
    answer = Content.from_function_approval_response(state == "approved", "a1", FUNCTION)
    answers = [] if state == "pending" else [Message("user", [answer])]
    return [message.to_dict() for message in (Message("user", ["Pay."]), asked, *answers)]


def of_extensions_ai(state: str) -> list[Any]:
    function = {"$type": "functionCall", "callId": "c1", "name": "pay", "arguments": {"eur": 5}}
    request = {"$type": "toolApprovalRequest", "requestId": "a1", "toolCall": function}
    answer = {"$type": "toolApprovalResponse", "requestId": "a1", "approved": state == "approved", "toolCall": function}
    return [
        {"role": "user", "contents": [{"$type": "text", "text": "Pay."}]},
        {"role": "assistant", "contents": [function, request]},
        *([] if state == "pending" else [{"role": "user", "contents": [answer]}]),
    ]


def of_model_messages(state: str) -> list[Any]:
    made = {"type": "tool-call", "toolCallId": "c1", "toolName": "pay", "input": {"eur": 5}}
    request = {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}
    answer = {"type": "tool-approval-response", "approvalId": "a1", "approved": state == "approved"}
    return [
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": [made, request]},
        *([] if state == "pending" else [{"role": "tool", "content": [answer]}]),
    ]


def of_ui_messages(state: str) -> list[Any]:
    answer = {} if state == "pending" else {"approved": state == "approved"}
    part = {"type": "tool-pay", "toolCallId": "c1", "input": {"eur": 5}, "approval": {"id": "a1", **answer}}
    part["state"] = "approval-requested" if state == "pending" else "approval-responded"
    user = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Pay."}]}
    return [user, {"id": "m2", "role": "assistant", "parts": [part]}]


MADE = {AF: of_agent_framework, MEAI: of_extensions_ai, MODEL: of_model_messages, UI: of_ui_messages}


def contents_in(payload: Any, api: str, *kinds: type[Any]) -> list[Any]:
    messages = adapter(api).decode_request(payload).messages
    return [content for message in messages for content in message.contents if isinstance(content, kinds)]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("target", [*HAVING, "otel-gen-ai"])
@pytest.mark.parametrize("source", HAVING)
def test_format_with_approvals_keeps_their_ids_and_answers(source: str, target: str, state: str) -> None:
    payload = MADE[source](state)
    made = convert(payload, source=source, target=target)
    assert audit(payload, made) == []
    found = contents_in(made.payload, target, ToolApprovalRequestContent, ToolApprovalResponseContent)
    assert [content.request_id for content in found] == ["c1"] * (1 if state == "pending" else 2)
    assert [content.approved for content in found[1:]] == ([] if state == "pending" else [state == "approved"])
    # The own id is kept, or reported.
    assert ("'a1'" in str(made.payload)) is (target in HAVING)
    assert adapter(target).check_request(made.payload) == []


MODELS = {
    "anthropic-messages": "claude-opus-5",
    "openai-chat": "gpt-5.2",
    "google-generate-content": "gemini-3-pro-preview",
    "mistral-chat": "mistral-large-latest",
}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("source", HAVING)
def test_denial_becomes_the_result_of_the_call(source: str, target: str) -> None:
    payload = MADE[source]("denied")
    made = convert(payload, source=source, target=target, model=MODELS[target])
    assert audit(payload, made) == []
    (result,) = contents_in(made.payload, target, FunctionResultContent)
    assert result.error is not None
    assert "denied" in result.text
    assert {loss.code for loss in made.losses} & {"denial-as-result", "outcome"}
    assert adapter(target).check_request(made.payload) == []


def test_reason_of_an_answer_is_lost_for_agent_framework() -> None:
    request = {"type": "mcp_approval_request", "id": "r1", "server_label": "s", "name": "ask", "arguments": "{}"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": False, "reason": "too dear"}
    payload = {"model": "m", "input": [{"role": "user", "content": "Hi."}, request, answer]}
    made = convert(payload, source="openai-responses", target=AF)
    messages = [Message.from_dict(message) for message in made.payload]
    assert messages[-1].contents[0].approved is False
    assert ("no-field", "$.input[2].reason") in [(loss.code, loss.path) for loss in made.losses]
    assert "too dear" in str(convert(payload, source="openai-responses", target=MEAI).payload)
