"""Pairs of calls and results: by id, and where there is none in order, for every API and in every place that pairs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    TextContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    safe_cuts,
)
from contentmodel.pairs import missing_ids, pair
from contentmodel.runner import ToolRunner
from contentmodel.server.transcript import sendable
from contentmodel.wire.marks import NO_RESULT
from scripted import Scripted, answer

ROWS = contentmodel.adapter("turn-blocks")
TARGETS = ["anthropic-messages", "openai-chat", "openai-responses"]


def use(name: str, call_id: str | None = None) -> dict[str, Any]:
    """A row of a call."""
    said = {"tool_name": name, "input": {}} | ({} if call_id is None else {"tool_use_id": call_id})
    return {"block_type": "tool_use", "content": said}


def got(text: str, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """A row of a result."""
    said = {"tool_use_id": call_id, "tool_name": name, "content": text}
    return {"block_type": "tool_result", "content": {key: value for key, value in said.items() if value is not None}}


def said(text: str) -> dict[str, Any]:
    """A row of text."""
    return {"block_type": "text", "text_content": text}


def rows(*blocks: dict[str, Any]) -> dict[str, Any]:
    """A question and an answer of these blocks."""
    numbered = [{"sequence": number, **block} for number, block in enumerate(blocks)]
    return {"turns": [{"role": "user", "blocks": [said("?")]}, {"role": "assistant", "blocks": numbered}]}


CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str | None]]]] = {
    "one call": ([use("a"), got("1"), said(".")], [("a", "1")]),
    "several calls, then their results": (
        [use("a"), use("b"), use("a"), got("1"), got("2"), got("3"), said(".")],
        [("a", "1"), ("b", "2"), ("a", "3")],
    ),
    "calls and results in turns": ([use("a"), got("1"), use("a"), got("2"), said(".")], [("a", "1"), ("a", "2")]),
    "fewer results than calls": ([use("a"), use("b"), got("1"), said(".")], [("a", "1"), ("b", None)]),
    "results behind the next calls": (
        [use("a"), use("a"), got("1"), use("a"), got("2"), said(".")],
        [("a", "1"), ("a", None), ("a", "2")],
    ),
    "results by their ids, the others in order": (
        [use("a", "x"), use("a"), use("a"), got("2"), got("1", "x"), got("3"), said(".")],
        [("a", "1"), ("a", "2"), ("a", "3")],
    ),
    "results without ids of calls with ids": (
        [use("a", "x"), use("b", "y"), got("1"), got("2"), said(".")],
        [("a", "1"), ("b", "2")],
    ),
    "results by their names": (
        [use("a"), use("b"), got("2", name="b"), got("1", name="a"), said(".")],
        [("a", "1"), ("b", "2")],
    ),
    "results of another name": ([use("a"), use("b"), got("2", name="b"), said(".")], [("a", None), ("b", "2")]),
}
each_case = pytest.mark.parametrize("case", CASES)


def answered(messages: list[ChatMessage]) -> list[tuple[str, str | None]]:
    """Each call's name and the text of the result of its id."""
    contents: list[Any] = [content for message in messages for content in message.contents]
    results = {c.call_id: c.text for c in contents if isinstance(c, FunctionResultContent)}
    return [(c.name, results.get(c.call_id)) for c in contents if isinstance(c, FunctionCallContent)]


@each_case
@pytest.mark.parametrize("api", TARGETS)
def test_encoder_gives_ids_by_which_calls_and_results_pair(case: str, api: str) -> None:
    blocks, expected = CASES[case]
    adapter = contentmodel.adapter(api)
    request = ROWS.decode_request(rows(*blocks))
    sent = adapter.encode_request(request, model="m").payload
    assert answered(adapter.decode_request(sent).messages) == [(name, text or NO_RESULT) for name, text in expected]
    assert adapter.encode_request(request, model="m").payload == sent


@each_case
def test_rows_without_ids_come_back_as_they_were(case: str) -> None:
    wire = rows(*CASES[case][0])
    assert ROWS.encode_request(ROWS.decode_request(wire)).payload == wire


@each_case
def test_runner_server_and_pages_pair_as_the_encoders_do(case: str) -> None:
    blocks, expected = CASES[case]
    messages = ROWS.decode_request(rows(*blocks)).messages
    client = Scripted([answer("Done.")])
    ToolRunner(client).run([*messages, ChatMessage(role="user", contents=[TextContent(text="!")])])
    sent = client.requests[0].messages
    assert [pair for pair in answered(sent) if pair[1] is not None] == [
        pair for pair in expected if pair[1] is not None
    ]
    assert answered(sendable(messages)) == expected
    found = pair([message.contents for message in messages], [message.role for message in messages])
    assert len(found) == sum(text is not None for _, text in expected)
    cuts = safe_cuts(messages)
    assert all(cut <= call[0] or cut > result[0] for call, result in found.items() for cut in cuts)


@pytest.mark.parametrize("is_answered", [True, False])
def test_runner_runs_the_calls_without_id_that_have_no_result(is_answered: bool) -> None:
    from contentmodel.tools import tool

    @tool
    def a() -> str:
        """Works."""
        return "ran"

    blocks = [use("a"), use("a"), *([got("1"), got("2")] if is_answered else [got("1")])]
    result = ToolRunner(Scripted([answer("Done.")]), [a]).run(ROWS.decode_request(rows(*blocks)))
    assert answered(result.request.messages) == [("a", "1"), ("a", "2" if is_answered else "ran")]


GEMINI = contentmodel.adapter("google-generate-content")


def test_gemini_result_belongs_to_the_last_call_of_its_name() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"output": "1"}}}]}
    wire = {"contents": [call, {"role": "user", "parts": [{"text": "Again."}]}, call, result]}
    request = GEMINI.decode_request(wire)
    assert answered(request.messages) == [("a", None), ("a", "1")]
    assert GEMINI.encode_request(request).payload == wire


def test_gemini_result_without_id_belongs_to_a_call_that_has_one() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"id": "x", "name": "a", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"output": "1"}}}]}
    request = GEMINI.decode_request({"contents": [call, result]})
    assert answered(request.messages) == [("a", "1")]
    assert GEMINI.encode_request(request).payload == {"contents": [call, result]}


contents = st.one_of(
    st.builds(FunctionCallContent, call_id=st.sampled_from([None, "x", "y"]), name=st.sampled_from(["a", "b"])),
    st.builds(FunctionResultContent, call_id=st.sampled_from([None, "x", "y"]), name=st.sampled_from([None, "a", "b"])),
    st.builds(TextContent, text=st.just(".")),
)
transcripts = st.lists(
    st.builds(
        ChatMessage, role=st.sampled_from(["user", "assistant", "tool"]), contents=st.lists(contents, max_size=4)
    ),
    max_size=6,
)


@given(transcripts)
def test_pairs_fit_and_do_not_change_when_messages_follow(messages: list[ChatMessage]) -> None:
    lists: list[list[Any]] = [message.contents for message in messages]
    of = [message.role for message in messages]
    found = pair(lists, of)
    assert len(set(found.values())) == len(found)
    for (index, at), (place, position) in found.items():
        call, result = lists[index][at], lists[place][position]
        assert (index, at) < (place, position)
        assert result.call_id in (None, call.call_id)
        assert result.call_id is not None or result.name in (None, call.name)
    for size in range(len(messages)):
        before = {call: result for call, result in found.items() if result[0] < size}
        assert pair(lists[:size], of[:size]) == before


@given(transcripts)
def test_missing_ids_are_those_of_the_pairs(messages: list[ChatMessage]) -> None:
    given = missing_ids(messages)
    ids = {
        (index, at): given.get((index, at)) or content.call_id
        for index, message in enumerate(messages)
        for at, content in enumerate(message.contents)
        if not isinstance(content, TextContent)
    }
    found = pair([message.contents for message in messages], [message.role for message in messages])
    assert all(ids[call] == ids[result] for call, result in found.items())
    empty = {
        (index, at)
        for index, message in enumerate(messages)
        for at, content in enumerate(message.contents)
        if getattr(content, "call_id", "") is None
    }
    assert set(given) == empty


# What stands between a call and its result ----------------------------------------------------------------------------

CALL = FunctionCallContent(call_id="c1", name="pay", arguments={})
RESULT = ChatMessage(role="tool", contents=[FunctionResultContent(call_id="c1", name="pay", outputs="18")])
EMPTY = [ChatMessage(role="assistant")], [ChatMessage(role="user")], [ChatMessage(role="assistant")] * 2
APPROVAL = [
    ChatMessage(role="assistant", contents=[ToolApprovalRequestContent(request_id="c1", name="pay", arguments={})]),
    ChatMessage(role="user", contents=[ToolApprovalResponseContent(request_id="c1", approved=True)]),
]


def calling(api: str, *, is_native: bool) -> ChatMessage:
    """An assistant's message with a call, of the API itself or made by hand."""
    origin = contentmodel.adapter(api).decode_request(b'{"messages": []}').origin if is_native else None
    return ChatMessage(role="assistant", contents=[CALL], origin=origin)


@pytest.mark.parametrize("between", [*EMPTY, APPROVAL, [*APPROVAL, *EMPTY[0]]])
@pytest.mark.parametrize("is_native", [False, True])
@pytest.mark.parametrize("api", ["anthropic-messages", "openai-chat"])
def test_result_belongs_to_its_call_behind_empty_messages_and_approvals(
    api: str, is_native: bool, between: list[ChatMessage]
) -> None:
    messages = [contentmodel.user("Pay."), calling(api, is_native=is_native), *between, RESULT]
    adapter = contentmodel.adapter(api)
    plain = adapter.encode_request(ChatRequest(messages=[m for m in messages if m not in between]))
    encoded = adapter.encode_request(ChatRequest(messages=messages))
    assert encoded.payload == plain.payload
    assert {loss.code for loss in encoded.losses} - {loss.code for loss in plain.losses} <= {"own-approval"}


@pytest.mark.parametrize("api", sorted(set(contentmodel.adapters()) - {"turn-blocks"}))
def test_approvals_of_calls_that_the_application_runs_are_not_sent(api: str) -> None:
    messages = [contentmodel.user("Pay."), ChatMessage(role="assistant", contents=[CALL]), *APPROVAL, RESULT]
    encoded = contentmodel.adapter(api).encode_request(ChatRequest(messages=messages))
    assert NO_RESULT not in str(encoded.payload)
    assert "approval" not in str(encoded.payload)
    assert [loss.path for loss in encoded.losses if loss.code == "own-approval"] == [
        "$.messages[2].contents[0]",
        "$.messages[3].contents[0]",
    ]
    asked = ChatMessage(role="assistant", contents=[CALL, *APPROVAL[0].contents])
    response = ChatResponse(choices=[ChatChoice(messages=[asked])], origin=Origin(api="other", issuer="other"))
    assert "approval" not in str(contentmodel.adapter(api).encode_response(response).payload)


def test_approvals_that_the_provider_asked_for_are_sent() -> None:
    asked = ToolApprovalRequestContent(request_id="m1", name="pay", server="bank", arguments={})
    given = ToolApprovalResponseContent(request_id="m1", approved=True)
    messages = [ChatMessage(role="assistant", contents=[asked]), ChatMessage(role="user", contents=[given])]
    payload = contentmodel.adapter("openai-responses").encode_request(ChatRequest(messages=messages)).payload
    assert [item["type"] for item in payload["input"]] == ["mcp_approval_request", "mcp_approval_response"]
