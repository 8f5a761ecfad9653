"""The transcript index: pairing of calls and results, and of questions and answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
    user,
)
from contentmodel.content import (
    FileSearchToolCallContent,
    FileSearchToolResultContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.engine.pipeline.sentinels import NO_RESULT
from contentmodel.pairs import Place, TranscriptIndex, missing_ids
from contentmodel.runner import ToolRunner
from contentmodel.runner.turns import without_resolved_approvals
from contentmodel.server.transcript import sendable
from contentmodel.split_points import split_points
from scripted import Scripted, answer

ROWS = contentmodel.adapter("turn-blocks")
TARGETS = ["anthropic-messages", "openai-chat", "openai-responses"]


def call_row(name: str, call_id: str | None = None) -> dict[str, Any]:
    """A row of a call."""
    content = {"tool_name": name, "input": {}} | ({} if call_id is None else {"tool_use_id": call_id})
    return {"block_type": "tool_use", "content": content}


def result_row(text: str, call_id: str | None = None, name: str | None = None) -> dict[str, Any]:
    """A row of a result."""
    content = {"tool_use_id": call_id, "tool_name": name, "content": text}
    return {"block_type": "tool_result", "content": {key: value for key, value in content.items() if value is not None}}


def text_row(text: str) -> dict[str, Any]:
    """A row of text."""
    return {"block_type": "text", "text_content": text}


def rows(*blocks: dict[str, Any]) -> dict[str, Any]:
    """A question and an answer of these blocks."""
    numbered = [{"sequence": number, **block} for number, block in enumerate(blocks)]
    return {"turns": [{"role": "user", "blocks": [text_row("?")]}, {"role": "assistant", "blocks": numbered}]}


CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str | None]]]] = {
    "one call": ([call_row("a"), result_row("1"), text_row(".")], [("a", "1")]),
    "several calls, then their results": (
        [call_row("a"), call_row("b"), call_row("a"), result_row("1"), result_row("2"), result_row("3"), text_row(".")],
        [("a", "1"), ("b", "2"), ("a", "3")],
    ),
    "calls and results in turns": (
        [call_row("a"), result_row("1"), call_row("a"), result_row("2"), text_row(".")],
        [("a", "1"), ("a", "2")],
    ),
    "fewer results than calls": (
        [call_row("a"), call_row("b"), result_row("1"), text_row(".")],
        [("a", "1"), ("b", None)],
    ),
    "results behind the next calls": (
        [call_row("a"), call_row("a"), result_row("1"), call_row("a"), result_row("2"), text_row(".")],
        [("a", "1"), ("a", None), ("a", "2")],
    ),
    "results by their ids, the others in order": (
        [
            call_row("a", "x"),
            call_row("a"),
            call_row("a"),
            result_row("2"),
            result_row("1", "x"),
            result_row("3"),
            text_row("."),
        ],
        [("a", "1"), ("a", "2"), ("a", "3")],
    ),
    "results without ids of calls with ids": (
        [call_row("a", "x"), call_row("b", "y"), result_row("1"), result_row("2"), text_row(".")],
        [("a", "1"), ("b", "2")],
    ),
    "results by their names": (
        [call_row("a"), call_row("b"), result_row("2", name="b"), result_row("1", name="a"), text_row(".")],
        [("a", "1"), ("b", "2")],
    ),
    "results of another name": (
        [call_row("a"), call_row("b"), result_row("2", name="b"), text_row(".")],
        [("a", None), ("b", "2")],
    ),
}
each_case = pytest.mark.parametrize("case", CASES)


def answered(messages: list[ChatMessage]) -> list[tuple[str, str | None]]:
    """Return each call's name, with the text of the result with its id."""
    contents: list[Any] = [content for message in messages for content in message.contents]
    results = {c.call_id: c.text for c in contents if isinstance(c, FunctionResultContent)}
    return [(c.name or "", results.get(c.call_id)) for c in contents if isinstance(c, FunctionCallContent)]


@each_case
@pytest.mark.parametrize("api", TARGETS)
def test_encoder_gives_paired_calls_and_results_equal_ids(case: str, api: str) -> None:
    blocks, expected = CASES[case]
    adapter = contentmodel.adapter(api)
    request = ROWS.decode_request(rows(*blocks))
    sent = adapter.encode_request(request, model="m").payload
    assert answered(adapter.decode_request(sent).messages) == [(name, text or NO_RESULT) for name, text in expected]
    assert adapter.encode_request(request, model="m").payload == sent


@each_case
def test_runner_server_and_split_points_pair_calls_like_encoders(case: str) -> None:
    blocks, expected = CASES[case]
    messages = ROWS.decode_request(rows(*blocks)).messages
    client = Scripted([answer("Done.")])
    ToolRunner(client).run([*messages, ChatMessage(role="user", contents=[TextContent(text="!")])])
    sent = client.requests[0].messages
    assert [pair for pair in answered(sent) if pair[1] is not None] == [
        pair for pair in expected if pair[1] is not None
    ]
    assert answered(sendable(messages)) == expected
    found = TranscriptIndex(messages).result_of
    assert len(found) == sum(text is not None for _, text in expected)
    cuts = split_points(messages)
    assert all(cut <= call[0] or cut > result[0] for call, result in found.items() for cut in cuts)


GEMINI = contentmodel.adapter("google-generate-content")


def message(role: str, *contents: Any) -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents))


def call(call_id: str | None, name: str = "a") -> FunctionCallContent:
    return FunctionCallContent(call_id=call_id, name=name)


def result(call_id: str | None, text: str = "") -> FunctionResultContent:
    return FunctionResultContent(call_id=call_id, outputs=[TextContent(text=text)])


def request(request_id: str) -> ToolApprovalRequestContent:
    return ToolApprovalRequestContent(request_id=request_id, name="a")


def response(request_id: str, approved: bool = True) -> ToolApprovalResponseContent:
    return ToolApprovalResponseContent(request_id=request_id, approved=approved)


ids = st.sampled_from(["x", "y"])
contents = st.one_of(
    st.builds(FunctionCallContent, call_id=st.none() | ids, name=st.sampled_from(["a", "b"])),
    st.builds(FunctionResultContent, call_id=st.none() | ids, name=st.sampled_from([None, "a", "b"])),
    st.builds(WebSearchToolCallContent, call_id=st.none() | ids),
    st.builds(WebSearchToolResultContent, call_id=st.none() | ids),
    st.builds(ToolApprovalRequestContent, request_id=ids),
    st.builds(ToolApprovalResponseContent, request_id=ids, approved=st.just(True)),
    st.builds(InputRequestContent, request_id=ids),
    st.builds(InputResponseContent, request_id=ids),
    st.builds(TextContent, text=st.just(".")),
)
transcripts = st.lists(
    st.builds(
        ChatMessage, role=st.sampled_from(["user", "assistant", "tool"]), contents=st.lists(contents, max_size=4)
    ),
    max_size=6,
)
FAMILIES: dict[type, type] = {
    FunctionCallContent: FunctionResultContent,
    WebSearchToolCallContent: WebSearchToolResultContent,
}
QUESTIONS: dict[type, type] = {
    ToolApprovalRequestContent: ToolApprovalResponseContent,
    InputRequestContent: InputResponseContent,
}


def fits(first: Any, second: Any) -> bool:
    """Return whether a result can belong to a call, or an answer to a question, at any distance."""
    call, result = type(first), type(second)
    if call in QUESTIONS:
        return result is QUESTIONS[call] and bool(first.request_id == second.request_id)
    if call not in FAMILIES or result not in FAMILIES.values():
        return False
    if has_same_id(first, second):
        return (call, result) != (FunctionCallContent, WebSearchToolResultContent)
    if second.call_id is not None and first.call_id is not None:
        return False
    return result is FAMILIES[call] and (second.name is None or first.name in (None, second.name))


def has_same_id(first: Any, second: Any) -> bool:
    """Return whether the second is a result with the id of the first."""
    call_id = getattr(second, "call_id", None)
    return call_id is not None and call_id == getattr(first, "call_id", None)


def _rank(first: Any, second: Any) -> tuple[bool, bool]:
    """Return a key that sorts calls of the same kind first, and for a result without an id those without an id."""
    if type(first) in QUESTIONS:
        return False, False
    return type(second) is not FAMILIES[type(first)], second.call_id is None and first.call_id is not None


def naive_pairs(messages: list[ChatMessage]) -> dict[Place, Place]:
    """Pair calls and questions by the documented rule, in quadratic time."""
    places = [(index, at) for index, one in enumerate(messages) for at in range(len(one.contents))]

    def content(place: Place) -> Any:
        return messages[place[0]].contents[place[1]]

    def ends_group(end: Place, start: Place) -> bool:
        """Return whether a group ends between two places."""
        between = [place for place in places if end < place < start]
        others = {place[0] for place in (end, *between) if place[0] < start[0]}
        return any(type(content(place)) in FAMILIES.values() for place in between) or any(
            messages[index].role != "assistant" for index in others
        )

    found: dict[Place, Place] = {}
    for second in places:
        open_ = [p for p in places if p < second and p not in found and fits(content(p), content(second))]
        open_ = [p for p in open_ if has_same_id(content(p), content(second))] or open_
        last = [p for p in open_ if not ends_group(p, open_[-1])]
        if last:
            ranks = [(_rank(content(p), content(second)), p) for p in last]
            found[min(ranks)[1]] = second
    return found


@given(transcripts)
def test_index_agrees_with_naive_pairing(messages: list[ChatMessage]) -> None:
    index = TranscriptIndex(messages)
    found = naive_pairs(messages)
    assert {**index.result_of, **index.response_of} == found
    assert {**index.call_of, **index.request_of} == {second: first for first, second in found.items()}
    kinds = [(index.calls, (*FAMILIES,)), (index.results, (*FAMILIES.values(),)), (index.requests, (*QUESTIONS,))]
    every = [((i, at), c) for i, one in enumerate(messages) for at, c in enumerate(one.contents)]
    for places, types in kinds:
        assert places == [place for place, c in every if isinstance(c, types)]
    assert index.unanswered == [place for place in index.calls if place not in found]
    assert index.unmatched == [place for place in index.results if place not in found.values()]
    about: dict[Place, list[Place]] = {}
    for place, c in every:
        if isinstance(c, ToolApprovalRequestContent | ToolApprovalResponseContent):
            before = [p for p, o in every if p < place and getattr(o, "call_id", None) == c.request_id]
            calls = [p for p in before if p in index.calls]
            if calls:
                about.setdefault(calls[-1], []).append(place)
    assert index.approvals_of == about


@given(transcripts)
def test_index_keeps_pairs_if_messages_follow(messages: list[ChatMessage]) -> None:
    whole = TranscriptIndex(messages)
    for size in range(len(messages)):
        part = TranscriptIndex(messages[:size])
        assert part.result_of == {call: place for call, place in whole.result_of.items() if place[0] < size}
        assert part.response_of == {asked: place for asked, place in whole.response_of.items() if place[0] < size}


@given(transcripts)
def test_missing_ids_gives_paired_calls_and_results_equal_ids(messages: list[ChatMessage]) -> None:
    index = TranscriptIndex(messages)
    given = missing_ids(messages)

    def own(place: Place) -> Any:
        content: Any = messages[place[0]].contents[place[1]]
        return content.call_id

    empty = {place for place in [*index.calls, *index.results] if own(place) is None}
    assert set(given) == empty | {result for call, result in index.result_of.items() if call in empty}
    assert all(given.get(c, own(c)) == given.get(r, own(r)) for c, r in index.result_of.items())


# -- ids that repeat ---------------------------------------------------------------------------------------------------


REPEATED = [
    message("user", TextContent(text="?")),
    message("assistant", call("x")),
    message("user", TextContent(text="Again.")),
    message("assistant", call("x")),
    message("tool", result("x", "2")),
    message("assistant", call("x")),
    message("tool", result("x", "3")),
]
"""An id that each turn uses, and a call without a result."""


def test_result_pairs_with_later_call_if_id_is_used_again() -> None:
    index = TranscriptIndex(REPEATED)
    assert index.result_of == {(3, 0): (4, 0), (5, 0): (6, 0)}
    assert index.unanswered == [(1, 0)]
    assert split_points(REPEATED) == [0, 1, 2, 3, 5, 7]
    assert sendable(REPEATED) == REPEATED


@pytest.mark.parametrize("api", TARGETS)
def test_encoder_and_index_pair_repeated_ids_alike(api: str) -> None:
    adapter = contentmodel.adapter(api)
    sent = adapter.encode_request(ChatRequest(messages=REPEATED), model="m").payload
    messages = adapter.decode_request(sent).messages
    index = TranscriptIndex(messages)
    assert not index.unanswered
    texts = [messages[i].contents[at].text for i, at in index.result_of.values()]  # type: ignore[attr-defined]
    assert texts == [NO_RESULT, "2", "3"]


@pytest.mark.parametrize("api", TARGETS)
def test_results_with_equal_ids_pair_with_calls_by_name(api: str) -> None:
    calls = [FunctionCallContent(call_id="x", name=name, arguments={}) for name in ("a", "b", "a")]
    results = [
        FunctionResultContent(call_id="x", name=name, outputs=[TextContent(text=name)]) for name in ("b", "a", "c")
    ]
    messages = [user("?"), ChatMessage(role="assistant", contents=calls), ChatMessage(role="tool", contents=results)]
    # No call has the name of the last result, so it belongs to the remaining call.
    assert TranscriptIndex(messages).result_of == {(1, 1): (2, 0), (1, 0): (2, 1), (1, 2): (2, 2)}
    adapter = contentmodel.adapter(api)
    encoded = adapter.encode_request(ChatRequest(messages=messages), model="m")
    assert answered(adapter.decode_request(encoded.payload).messages) == [("a", "a"), ("b", "b"), ("a", "c")]
    assert [loss.path for loss in encoded.losses if loss.code == "name-of-call"] == ["$.messages[2].contents[2].name"]


def test_runner_keeps_each_result_of_calls_with_one_id() -> None:
    client = Scripted([answer("Done.")])
    ToolRunner(client).run(
        [
            message("user", TextContent(text="?")),
            message("assistant", call("x"), call("x", "b")),
            message("tool", result("x", "1"), result("x", "2")),
        ]
    )
    assert answered(client.requests[0].messages) == [("a", "1"), ("b", "2")]


def test_server_keeps_each_result_of_calls_with_one_id() -> None:
    messages = [
        message("user", TextContent(text="?")),
        message("assistant", call("x"), call("x", "b")),
        message("tool", result("x", "1")),
        message("tool", result("x", "2")),
    ]
    assert sendable(messages) == [*messages[:2], message("tool", result("x", "1"), result("x", "2"))]


def test_open_approval_request_is_kept_if_its_id_had_a_result_before() -> None:
    messages = [
        message("assistant", call("x")),
        message("tool", result("x", "1")),
        message("assistant", call("x")),
        message("assistant", request("x")),
        message("user", response("x")),
    ]
    assert without_resolved_approvals(messages) == messages


def test_split_points_keep_call_together_with_its_approval() -> None:
    messages = [
        message("user", TextContent(text="?")),
        message("assistant", call("x")),
        message("assistant", request("x")),
        message("user", response("x")),
    ]
    assert split_points(messages) == [0, 1, 4]


def test_gemini_result_without_id_pairs_with_call_without_id_first() -> None:
    calls = [{"functionCall": {"id": "x", "name": "a", "args": {}}}, {"functionCall": {"name": "a", "args": {}}}]
    result = {"functionResponse": {"name": "a", "response": {"output": "1"}}}
    wire = {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": [result]}]}
    index = TranscriptIndex(GEMINI.decode_request(wire).messages)
    assert index.result_of == {(0, 1): (1, 0)}


@pytest.mark.parametrize("is_custom_first", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_result_of_custom_tool_pairs_with_custom_call_if_ids_are_equal(target: str, is_custom_first: bool) -> None:
    custom = {"type": "custom_tool_call", "call_id": "x", "name": "edit", "input": "1"}
    function = {"type": "function_call", "call_id": "x", "name": "look", "arguments": "{}"}
    output = {"type": "custom_tool_call_output", "call_id": "x", "output": "edited"}
    calls = [custom, function][:: 1 if is_custom_first else -1]
    payload = {"model": "m", "input": [{"role": "user", "content": "?"}, *calls, output]}
    encoded = contentmodel.convert(payload, source="openai-responses", target=target)
    messages = contentmodel.adapter(target).decode_request(encoded.payload).messages
    index = TranscriptIndex(messages)
    calls_of = {
        messages[place[0]].contents[place[1]].name: index.result_of.get(place)  # type: ignore[attr-defined]
        for place in index.calls
    }
    result_place = calls_of["edit"]
    assert result_place is not None
    assert messages[result_place[0]].contents[result_place[1]].text == "edited"  # type: ignore[attr-defined]


def test_hosted_result_pairs_with_call_of_its_tool_if_ids_are_equal() -> None:
    calls = [WebSearchToolCallContent(call_id=""), FileSearchToolCallContent(call_id="")]
    index = TranscriptIndex([message("assistant", *calls, FileSearchToolResultContent(call_id=""))])
    assert index.result_of == {(0, 1): (0, 2)}


# Messages between a call and its result -------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["google-generate-content", "openai-chat", "anthropic-messages"])
def test_calls_and_results_with_empty_ids_convert_without_unreported_losses(target: str) -> None:
    call = {"type": "function_call", "call_id": "", "name": "", "arguments": ""}
    strange = {"type": "custom_tool_call_output", "call_id": "0", "output": "", "id": ""}
    result = {"type": "function_call_output", "id": "", "output": ""}
    answer = {"id": "", "object": "response", "created_at": 0, "model": "m", "output": [call, strange, result]}
    encoded = contentmodel.convert(answer, source="openai-responses", target=target, kind="response")
    assert contentmodel.audit(answer, encoded) == []
