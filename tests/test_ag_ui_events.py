"""The events of runs of AG-UI, read and written. The types of ag-ui-protocol judge what is written."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import ag_ui.core as library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from conftest import FEW, needs_node, payloads
from contentmodel import DecodeError, adapter, audit, convert, decode_stream, detect, fold_stream
from contentmodel.interop.ag_ui import EVENT_TYPES, RunReader, read_run, run_events, write_run
from contentmodel.interop.json_patch import PatchError, patched
from contentmodel.interop.vercel_ui import ui_chunks

API = "ag-ui"
RUN, DOCUMENTS = payloads(API)["run"], [*payloads(API).values()]
HELLO = {"id": "u1", "role": "user", "content": "Hello"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
FINAL = [
    {"id": "a1", "role": "assistant", "content": "Final.", "toolCalls": [CALL]},
    {"id": "t-call_1", "role": "tool", "toolCallId": "call_1", "content": "warm"},
]
EXAMPLES = Path(__file__).parent.parent / "examples"
EVENT: TypeAdapter[Any] = TypeAdapter(library.Event)
STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
ENDED = {**FINISHED, "outcome": {"type": "success"}}


def text(name: str, /, *deltas: str, **fields: Any) -> list[dict[str, Any]]:
    pieces = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": delta} for delta in deltas]
    start = {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant", **fields}
    return [start, *pieces, {"type": "TEXT_MESSAGE_END", "messageId": name}]


def called(name: str, /, *deltas: str, **fields: Any) -> list[dict[str, Any]]:
    pieces = [{"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": delta} for delta in deltas]
    start = {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "weather", **fields}
    return [start, *pieces, {"type": "TOOL_CALL_END", "toolCallId": name}]


def result(name: str, content: Any = "Sunny.") -> dict[str, Any]:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"t-{name}", "toolCallId": name, "content": content}


def thought(name: str, *deltas: str) -> list[dict[str, Any]]:
    pieces = [{"type": "REASONING_MESSAGE_CONTENT", "messageId": name, "delta": delta} for delta in deltas]
    return [
        {"type": "REASONING_START", "messageId": name},
        {"type": "REASONING_MESSAGE_START", "messageId": name, "role": "reasoning"},
        *pieces,
        {"type": "REASONING_MESSAGE_END", "messageId": name},
        {"type": "REASONING_END", "messageId": name},
    ]


def run(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [STARTED, *events, ENDED]


LOOP = [
    {**STARTED, "input": {**RUN, "threadId": "t", "runId": "r", "messages": [HELLO], "resume": []}},
    {"type": "STEP_STARTED", "stepName": "a"},
    *thought("r1", "Look", " it up."),
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "r1", "encryptedValue": "eA=="},
    *text("a1", "Let me ", "see.", name="agent", metadata={"a": 1}, timestamp=7),
    *called("c1", '{"city"', ': "Oslo"}', parentMessageId="a1"),
    *called("c2", "{}", parentMessageId="a1"),
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c2", "encryptedValue": "eQ=="},
    result("c2", "Cold."),
    result("c1", [{"type": "text", "text": "Sunny."}]),
    {"type": "STEP_FINISHED", "stepName": "a"},
    {"type": "STATE_SNAPSHOT", "snapshot": {"seen": []}},
    {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/seen/-", "value": "Oslo"}]},
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "v1", "activityType": "PLAN", "content": {"steps": [1]}},
    {
        "type": "ACTIVITY_DELTA",
        "messageId": "v1",
        "activityType": "PLAN",
        "patch": [{"op": "replace", "path": "/steps/0", "value": 2}],
    },
    {"type": "CUSTOM", "name": "note", "value": {"a": 1}},
    {"type": "RAW", "event": {"b": 2}, "source": "model"},
    *text("a2", "It is sunny."),
    {**ENDED, "usage": [{"model": "m", "inputTokens": 3}]},
]
CHUNKS = run(
    {"type": "REASONING_MESSAGE_CHUNK", "messageId": "r1", "delta": "H"},
    {"type": "REASONING_MESSAGE_CHUNK", "delta": "m."},
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a1", "delta": "One "},
    {"type": "TEXT_MESSAGE_CHUNK", "delta": "moment."},
    {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": "weather", "delta": "{"},
    {"type": "TOOL_CALL_CHUNK", "delta": "}"},
    result("c1"),
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a2", "delta": "Sunny."},
)
OLDER = run(
    {"type": "THINKING_START", "title": "Weather"},
    {"type": "THINKING_TEXT_MESSAGE_START"},
    {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "Look it up."},
    {"type": "THINKING_TEXT_MESSAGE_END"},
    {"type": "THINKING_END"},
    *text("a1", "Sunny."),
)
AT_ONCE = run(*(event for pair in zip(text("a1", "A", "B"), text("a2", "1", "2"), strict=True) for event in pair))
SUBAGENTS = run(
    *called("c1", "{}"),
    {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "helper", "parentToolCallId": "c1"},
    *({**event, "subagentRunId": "s1"} for event in text("b1", "Looking.")),
    *({**event, "subagentRunId": "s1"} for event in called("c2", "{}")),
    {**result("c2"), "subagentRunId": "s1"},
    {"type": "SUBAGENT_FINISHED", "subagentRunId": "s1"},
    result("c1"),
)
SNAPSHOT = [
    {**STARTED, "input": {"threadId": "t", "runId": "r", "messages": [HELLO]}},
    *thought("r1", "Hm."),
    *text("a1", "Draft."),
    {"type": "MESSAGES_SNAPSHOT", "messages": [HELLO, *FINAL]},
    *called("c2", "{}", parentMessageId="a1"),
    result("c2"),
    ENDED,
]
RUNS = [LOOP, CHUNKS, AT_ONCE, SUBAGENTS, SNAPSHOT, run()]
every_run = pytest.mark.parametrize("events", [*RUNS, OLDER])


def sse(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def told(events: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """Return the role and the content of each message."""
    return [(message["role"], message.get("content")) for message in read_run(events)["messages"]]


@every_run
def test_events_are_read_as_objects_and_as_bytes_cut_anywhere(events: list[Any]) -> None:
    original = copy.deepcopy(events)
    made = read_run(events)
    data = sse(events)
    assert read_run(data) == read_run([data[at : at + 7] for at in range(0, len(data), 7)]) == made
    assert read_run(data.decode()) == made
    assert events == original


@every_run
def test_written_events_are_read_as_the_same_run(events: list[Any]) -> None:
    made = read_run(events)
    written = write_run(made)
    assert read_run(written) == made
    for event in written:
        EVENT.validate_python(event)
    assert write_run(read_run(written)) == written


@pytest.mark.parametrize("document", DOCUMENTS)
def test_messages_written_as_events_are_read_back(document: Any) -> None:
    events = write_run(document)
    messages = document if isinstance(document, list) else document["messages"]
    assert read_run(events)["messages"] == messages


@every_run
@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat", "openai-responses", API])
def test_run_converts_as_a_request_that_reports_every_loss(events: list[Any], target: str) -> None:
    made = convert(sse(events), target=target, model="gpt-5.2")
    document = {"threadId": "", "runId": "", **read_run(events)}
    assert audit(document, made) == []
    if target == API:
        assert made.payload == document


def test_objects_of_the_library_are_events() -> None:
    assert read_run([EVENT.validate_python(event) for event in LOOP[:-1]]) == read_run(LOOP[:-1])


def test_run_is_detected_by_its_events() -> None:
    assert detect(sse(LOOP)) == (API, "stream")
    assert {kind.value for kind in library.EventType} <= EVENT_TYPES


def test_list_of_events_is_detected_and_refused_with_the_function_that_reads_it() -> None:
    assert detect(LOOP) == (API, "request")
    with pytest.raises(DecodeError, match=r"ag_ui\.read_run") as caught:
        adapter(API).decode_request(LOOP)
    assert [fault.path for fault in caught.value.faults] == ["$"]


def test_events_of_a_tool_loop_have_its_messages() -> None:
    made = read_run(LOOP)
    assert told(LOOP) == [
        ("user", "Hello"),
        ("reasoning", "Look it up."),
        ("assistant", "Let me see."),
        ("tool", "Cold."),
        ("tool", [{"type": "text", "text": "Sunny."}]),
        ("activity", {"steps": [2]}),
        ("assistant", "It is sunny."),
    ]
    _, thinking, first, *_ = made["messages"]
    assert thinking["encryptedValue"] == "eA=="
    assert (first["name"], first["metadata"], first["timestamp"]) == ("agent", {"a": 1}, 7)
    assert [one["id"] for one in first["toolCalls"]] == ["c1", "c2"]
    assert first["toolCalls"][0]["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert first["toolCalls"][1]["encryptedValue"] == "eQ=="
    assert made["state"] == {"seen": ["Oslo"]}
    assert made["finished"] == {"outcome": {"type": "success"}, "usage": [{"model": "m", "inputTokens": 3}]}
    assert [(entry["at"], entry["event"]["type"]) for entry in made["events"]] == [
        *((1, "STEP_STARTED"), (5, "STEP_FINISHED")),
        *((6, "CUSTOM"), (6, "RAW")),
    ]
    messages = adapter(API).decode_request(made).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "assistant", "assistant"]


def test_chunk_events_become_messages_and_calls() -> None:
    assert [content for _, content in told(CHUNKS)] == ["Hm.", "One moment.", None, "Sunny.", "Sunny."]
    assert read_run(CHUNKS)["messages"][2] == {
        "id": "c1",
        "role": "assistant",
        "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    }


def test_thinking_events_of_older_versions_become_reasoning() -> None:
    thinking = read_run(OLDER)["messages"][0]
    assert thinking == {"id": "reasoning-1", "role": "reasoning", "content": "Look it up.", "title": "Weather"}


def test_snapshot_replaces_messages_and_keeps_reasoning() -> None:
    assert told(SNAPSHOT) == [
        ("user", "Hello"),
        ("reasoning", "Hm."),
        ("assistant", "Final."),
        ("tool", "warm"),
        ("tool", "Sunny."),
    ]


def test_result_follows_its_call() -> None:
    events = run(*called("c1", "{}"), *called("c2", "{}"), result("c1", "1"), result("c2", "2"), result("c3", "3"))
    assert [content for _, content in told(events)] == [None, "1", None, "2", "3"]


def test_reader_returns_the_run_after_each_event() -> None:
    reader, seen = RunReader(), []
    for event in LOOP:
        reader.feed_event(event)
        seen.append(len(json.dumps(reader.run["messages"])))
    assert reader.is_over
    assert reader.run == read_run(LOOP)
    assert len(set(seen)) > 10


def test_run_without_an_end_has_an_error() -> None:
    assert read_run(LOOP[:-1])["error"]["code"] == "stream_ended"
    failed = [STARTED, *text("a1", "Half"), {"type": "RUN_ERROR", "message": "overloaded", "code": "529"}]
    made = read_run(failed)
    assert (made["error"], "finished" in made) == ({"message": "overloaded", "code": "529"}, False)
    assert write_run(made)[-1] == failed[-1]


@pytest.mark.parametrize(
    ("events", "path"),
    [
        ([7], "$[0]"),
        ([{}], "$[0].type"),
        ([STARTED, STARTED], "$[1].type"),
        ([STARTED, ENDED, *text("a1")], "$[2].type"),
        (text("a1", "A")[1:], "$[0].messageId"),
        ([{"type": "TEXT_MESSAGE_CHUNK", "delta": "A"}], "$[0].messageId"),
        ([*text("a1"), {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a1"}], "$[2].delta"),
        ([{"type": "TOOL_CALL_START", "toolCallId": "c1"}], "$[0].toolCallName"),
        ([{"type": "MESSAGES_SNAPSHOT", "messages": [{"id": 7}]}], "$[0].messages"),
        ([{"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a"}]}], "$[0].delta"),
        ([{"type": "ACTIVITY_DELTA", "messageId": "v", "patch": []}], "$[0].messageId"),
        ([{"type": "RUN_STARTED", "input": {"messages": 7}}], "$[0].messages"),
    ],
)
def test_malformed_events_are_refused_with_their_path(events: list[Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_run(events)
    assert [fault.path for fault in caught.value.faults] == [path]


def test_text_that_is_not_events_is_refused() -> None:
    with pytest.raises(DecodeError):
        read_run(b"data: {\n\n")
    with pytest.raises(DecodeError, match="a conversation, not one answer"):
        adapter(API).stream_decoder()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sse")), ids=lambda path: path.stem)
def test_stream_of_a_provider_is_written_as_a_run(path: Path) -> None:
    data = path.read_bytes()
    api, _ = detect(data)
    response = fold_stream(data, api)
    events = list(run_events(decode_stream([data], api), thread_id="t", run_id="r"))
    for event in events:
        EVENT.validate_python(event)
    made = read_run(events)
    assert (made["threadId"], made["runId"], "error" in made) == ("t", "r", False)
    messages = adapter(API).decode_request(made).messages
    assert "".join(message.text for message in messages) == response.text
    calls = [call for message in messages for call in message.tool_calls]
    assert [(call.call_id, call.name) for call in calls] == [(c.call_id, c.name) for c in response.tool_calls]
    chunks = list(ui_chunks(decode_stream([data], api), message_id="m1"))
    assert (chunks[0], chunks[-1]["type"]) == ({"type": "start", "messageId": "m1"}, "finish")
    assert "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta") == response.text


_NAMES = st.sampled_from(["a", "b"])
_ATOMS = st.none() | st.booleans() | st.integers() | _NAMES
_JSON = st.recursive(_ATOMS, lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner))
_OPERATION = st.fixed_dictionaries({"op": st.sampled_from(["add", "copy"]), "path": _JSON, "from": _JSON})
_EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(EVENT_TYPES))},
    optional={
        **dict.fromkeys(("messageId", "toolCallId", "toolCallName", "delta", "entityId", "encryptedValue"), _NAMES),
        **dict.fromkeys(("parentMessageId", "subagentRunId", "role", "content", "metadata", "snapshot"), _JSON),
        "patch": st.lists(_OPERATION),
        "messages": st.lists(st.fixed_dictionaries({"id": _NAMES, "role": _NAMES}, optional={"toolCalls": _JSON})),
        "input": st.fixed_dictionaries({}, optional={"messages": _JSON, "state": _JSON}),
    },
)


@FEW
@given(st.lists(_EVENTS, max_size=12))
def test_any_events_are_read_or_refused(events: list[Any]) -> None:
    try:
        made = read_run(events)
    except DecodeError:
        return
    assert read_run(write_run(made))["messages"] == made["messages"]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/a/1", "value": 7}, {"a": [1, 7, 2], "b/~": {"c": 1}}),
        ({"op": "add", "path": "/a/-", "value": 7}, {"a": [1, 2, 7], "b/~": {"c": 1}}),
        ({"op": "add", "path": "", "value": 7}, 7),
        ({"op": "remove", "path": "/b~1~0/c"}, {"a": [1, 2], "b/~": {}}),
        ({"op": "replace", "path": "/a/0", "value": {}}, {"a": [{}, 2], "b/~": {"c": 1}}),
        ({"op": "move", "from": "/a/0", "path": "/b~1~0/d"}, {"a": [2], "b/~": {"c": 1, "d": 1}}),
        ({"op": "copy", "from": "/a", "path": "/d"}, {"a": [1, 2], "b/~": {"c": 1}, "d": [1, 2]}),
        ({"op": "test", "path": "/a/0", "value": 1}, {"a": [1, 2], "b/~": {"c": 1}}),
        ({"op": "test", "path": "/a/0", "value": True}, None),
        ({"op": "add", "path": "/a/9", "value": 1}, None),
        ({"op": "add", "path": "/a/01", "value": 1}, None),
        ({"op": "remove", "path": "/a/-"}, None),
        ({"op": "replace", "path": "/e", "value": 1}, None),
        ({"op": "move", "from": "/b~1~0", "path": "/b~1~0/c"}, None),
        ({"op": "add", "path": "a", "value": 1}, None),
        ({"op": "add", "path": "/a"}, None),
        ({"op": "spell", "path": "/a"}, None),
    ],
)
def test_patch_follows_the_standard(operation: Any, expected: Any) -> None:
    document = {"a": [1, 2], "b/~": {"c": 1}}
    if expected is None:
        with pytest.raises(PatchError):
            patched(document, [operation])
    else:
        assert patched(document, [operation]) == expected


def test_copies_of_a_patch_are_limited() -> None:
    double = [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(40)]
    with pytest.raises(PatchError, match="bytes"):
        patched({"a": "x" * 1000}, double)


@pytest.mark.slow
@needs_node
def test_official_client_reads_the_same_messages(tmp_path: Path) -> None:
    from test_front_end_clients import printed_by

    runs = [*RUNS, *(write_run(read_run(events)) for events in RUNS)]
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(runs))
    for events, made in zip(runs, asyncio.run(printed_by("apply.mjs", str(file))), strict=True):
        expected = read_run(events)
        messages = [{key: value for key, value in one.items() if key != "timestamp"} for one in expected["messages"]]
        assert made["messages"] == messages
        assert "state" not in expected or made["state"] == expected["state"]
