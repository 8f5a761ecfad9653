"""The writers of streams for front ends, and the readers of these streams."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui.core import Event
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from conftest import FEW
from contentmodel import ErrorContent, ReasoningContent, TextContent, UriContent, adapter, unfold
from contentmodel.content.citations import Citation
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolResultContent,
)
from contentmodel.events import (
    BlockCatchUp,
    BlockStart,
    BlockStop,
    StreamEvent,
    TextDelta,
    TurnComplete,
    TurnStart,
)
from contentmodel.interop.ag_ui import RunWriter, read_run, run_events
from contentmodel.interop.vercel_ui import VercelWriter, read_message, ui_chunks
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.server.log import Log, Reader
from contentmodel_conformance.strategies.model import contents
from scripted import answer

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
Chunk = dict[str, Any]
UI = "vercel-ui-messages"

SOURCE = Citation(url="https://example.org", title="A page")
CONTENTS: list[Any] = [
    ReasoningContent(text="Hm."),
    HostedToolCallContent(call_id="h1", name="search", arguments={"q": "x"}),
    HostedToolResultContent(call_id="h1", name="search", outputs=[TextContent(text="found")]),
    TextContent(text="Yes.", annotations=[SOURCE]),
    UriContent(uri="https://example.org/a", title="A"),
]


def events_of(contents: list[Any], *, late: bool) -> list[StreamEvent]:
    """Return the events of blocks: as they come, or as one who joins late gets them."""
    events: list[StreamEvent] = [TurnStart(response=ChatResponse(model="m"))]
    for index, content in enumerate(contents):
        if late:
            events.append(BlockCatchUp(index=index, content=content))
        else:
            events += [BlockStart(index=index, content=content), BlockStop(index=index, content=content)]
    return [*events, TurnComplete(response=ChatResponse(model="m"))]


@pytest.mark.parametrize("late", [False, True])
def test_front_end_that_joins_late_gets_the_same_blocks(late: bool) -> None:
    writers = [VercelWriter("t", "m"), RunWriter("t", "c", "r")]
    for writer in writers:
        chunks = [chunk for event in events_of(CONTENTS, late=late) for chunk in writer.chunks(event)]
        kinds = sorted(chunk["type"] for chunk in chunks)
        fresh = type(writer)("t", *("m",) if isinstance(writer, VercelWriter) else ("c", "r"))
        whole = [chunk for event in events_of(CONTENTS, late=False) for chunk in fresh.chunks(event)]
        assert kinds == sorted(chunk["type"] for chunk in whole)
        if isinstance(writer, RunWriter):
            for chunk in chunks:
                EVENT.validate_python(chunk)


@pytest.mark.parametrize("cut", range(1, 12))
def test_growing_result_is_sent_once_and_whole(cut: int) -> None:
    result = FunctionResultContent(call_id="c1", outputs=[TextContent(text="Sunny in Oslo.")])
    made = answer(FunctionCallContent(call_id="c1", name="weather", arguments={}), result, "Done.")
    log = Log()
    events = list(unfold(made, size=4))
    for event in events[:cut]:
        log.add(event)
    snapshot = [piece.event for piece in Reader(log, after=10**6).take(10**6)]
    for sent in (events, [*snapshot, *events[cut:]]):
        vercel, ag_ui = VercelWriter("t", "m", "7"), RunWriter("t", "c", "r")
        outputs = [chunk["output"] for event in sent for chunk in vercel.chunks(event) if "output" in chunk]
        results = [chunk["content"] for event in sent for chunk in ag_ui.chunks(event) if "RESULT" in chunk["type"]]
        assert outputs == results == ["Sunny in Oslo."]


def test_hosted_tools_and_sources_are_marked() -> None:
    chunks = [chunk for event in events_of(CONTENTS, late=False) for chunk in VercelWriter("t", "m").chunks(event)]
    hosted = [chunk for chunk in chunks if chunk.get("toolCallId") == "h1"]
    assert all(chunk["providerExecuted"] for chunk in hosted)
    assert [chunk["url"] for chunk in chunks if chunk["type"] == "source-url"] == [
        "https://example.org",
        "https://example.org/a",
    ]


def test_block_that_is_repeated_grows_and_one_that_changed_is_sent_again() -> None:
    writer = VercelWriter("t", "m")
    text = TextContent
    events = [
        BlockStart(index=0, content=text(text="")),
        TextDelta(index=0, text="It is"),
        BlockCatchUp(index=0, content=text(text="It is sunny")),
        BlockStop(index=0, content=text(text="It is sunny.")),
        BlockCatchUp(index=0, content=text(text="It is sunny.")),
        BlockCatchUp(index=0, content=text(text="No.")),
    ]
    chunks = [chunk for event in events for chunk in writer.chunks(event)]
    deltas = [(chunk["id"], chunk["delta"]) for chunk in chunks if chunk["type"] == "text-delta"]
    assert [delta for _, delta in deltas] == ["It is", " sunny", ".", "No."]
    assert len({name for name, _ in deltas}) == 2


@pytest.mark.parametrize("size", [None, 1])
def test_refusal_is_sent_as_one_text_while_it_arrives(size: int | None) -> None:
    response = answer("Well.", ErrorContent(message="I cannot do that.", code="refusal"), ErrorContent(code="late"))
    shown = ["Well.", "I cannot do that.", "late"]
    chunks = list(ui_chunks(unfold(response, size=size), message_id="m"))
    assert [part["text"] for part in read_message(chunks)["parts"] if part["type"] == "text"] == shown
    assert sum(chunk["type"] == "text-delta" for chunk in chunks) == (
        3 if size is None else sum(map(len, shown[:2])) + 1
    )
    events = list(run_events(unfold(response, size=size), thread_id="t", run_id="r"))
    assert [message["content"] for message in read_run(events)["messages"]] == shown


NO_RESULTS = contents().filter(lambda content: not isinstance(content, ToolResultContent))


@FEW
@given(st.lists(NO_RESULTS, max_size=4), st.sampled_from([None, 1]))
def test_readers_accept_the_chunks_of_any_contents(contents: list[Any], size: int | None) -> None:
    response = answer(*contents)
    read_message(ui_chunks(unfold(response, size=size), message_id="m"))
    read_run(list(run_events(unfold(response, size=size), thread_id="t", run_id="r")))


def test_approval_that_a_provider_asks_for_comes_after_its_call() -> None:
    question = ToolApprovalRequestContent(request_id="r1", name="ask", server="s", arguments='{"a":1}')
    searched = HostedToolCallContent(call_id="h1", name="search", arguments={})
    response = answer(searched, question)
    part = read_message(ui_chunks(unfold(response), message_id="m"))["parts"][-1]
    assert (part["type"], part["state"], part["input"]) == ("tool-ask", "approval-requested", {"a": 1})
    (listed,) = adapter(UI).encode_request(ChatRequest(messages=response.choices[0].messages)).payload
    assert listed["parts"][-1] == part
    made = adapter("vercel-model-messages").encode_request(ChatRequest(messages=response.choices[0].messages))
    _, asked, approval = made.payload[0]["content"]
    assert (asked["toolCallId"], asked["toolName"], asked["input"]) == ("r1", "ask", {"a": 1})
    assert (approval["approvalId"], approval["toolCallId"]) == ("r1", "r1")
    codes = [loss.code for loss in made.losses if loss.path.endswith("contents[1]")]
    assert codes == ["call-of-approval", "tool-by-name"]


def test_approvals_are_no_empty_messages_in_version_5() -> None:
    question = ToolApprovalRequestContent(request_id="r1", name="ask", arguments={})
    given = ToolApprovalResponseContent(request_id="r1", approved=True)
    messages = [ChatMessage(role="assistant", contents=[question]), ChatMessage(role="user", contents=[given])]
    made = adapter("vercel-model-messages").encode_request(ChatRequest(messages=messages), {"ai_sdk": "5"})
    assert [[part["type"] for part in message["content"]] for message in made.payload] == [["tool-call"]]
    assert [loss.path for loss in made.losses if loss.code == "no-field"] == [
        "$.messages[0].contents[0]",
        "$.messages[1].contents[0]",
    ]


HOSTED = [
    {"type": "web_search_call", "id": "h1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "file_search_call", "id": "h1", "status": "completed", "queries": ["q"], "results": [{"text": "found"}]},
    {"type": "image_generation_call", "id": "h1", "status": "completed", "result": "iVBORw0KGgo="},
    {"type": "shell_call", "id": "h1", "call_id": "h2", "status": "completed", "action": {"commands": ["ls"]}},
    {"type": "mcp_call", "id": "h1", "server_label": "s", "name": "ask", "arguments": "{}", "output": "yes"},
]
CODE = {"executableCode": {"language": "PYTHON", "code": "1"}}
RAN = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
RUN = {"type": "server_tool_use", "id": "s1", "name": "bash_code_execution", "input": {"command": "ls"}}
RESULT = {"type": "bash_code_execution_tool_result", "tool_use_id": "s1"}
RESULT["content"] = {"type": "bash_code_execution_result", "stdout": "a", "stderr": "", "return_code": 0, "content": []}
ANSWERS = [
    *(("openai-responses", {"id": "r", "model": "m", "status": "completed", "output": [item]}) for item in HOSTED),
    ("google-generate-content", {"candidates": [{"content": {"role": "model", "parts": [CODE, RAN]}}]}),
    ("anthropic-messages", {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [RUN, RESULT]}),
]


@pytest.mark.parametrize(("api", "payload"), ANSWERS, ids=lambda value: value if isinstance(value, str) else "")
def test_hosted_tools_have_the_names_and_outputs_of_the_listing(api: str, payload: Chunk) -> None:
    response = adapter(api).decode_response(payload)
    request = ChatRequest(messages=response.choices[0].messages)
    (listed,) = adapter(UI).encode_request(request).payload
    parts = read_message(ui_chunks(unfold(response), message_id="m"))["parts"]
    assert parts == listed["parts"]
    assert parts[1]["type"] not in ("tool-", "tool-unknown")
    events = list(run_events(unfold(response), thread_id="t", run_id="r"))
    for event in events:
        EVENT.validate_python(event)
    messages = adapter("ag-ui").encode_request(request).payload
    assert without_ids(read_run(events)["messages"]) == without_ids(messages)


def without_ids(messages: list[Chunk]) -> list[Chunk]:
    return [{key: value for key, value in message.items() if key != "id"} for message in messages]
