"""UI message streams of Vercel's AI SDK, read. Its own reader, in Node, judges the messages."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import FEW, needs_node
from contentmodel import DecodeError, adapter, audit, convert, decode_stream, detect, fold_stream
from contentmodel.interop.vercel_ui import MessageReader, read_message, ui_chunks

UI = "vercel-ui-messages"
EXAMPLES = Path(__file__).parent.parent / "examples"


def text(name: str, *deltas: str, kind: str = "text", **fields: Any) -> list[dict[str, Any]]:
    pieces = [{"type": f"{kind}-delta", "id": name, "delta": delta} for delta in deltas]
    return [{"type": f"{kind}-start", "id": name}, *pieces, {"type": f"{kind}-end", "id": name, **fields}]


def called(name: str, *deltas: str, **fields: Any) -> list[dict[str, Any]]:
    own = {"toolCallId": name, "toolName": "weather", **fields}
    pieces = [{"type": "tool-input-delta", "toolCallId": name, "inputTextDelta": delta} for delta in deltas]
    end = {"type": "tool-input-available", **own, "input": json.loads("".join(deltas))}
    return [{"type": "tool-input-start", **own}, *pieces, end]


def message(*chunks: dict[str, Any]) -> list[dict[str, Any]]:
    start = {"type": "start", "messageId": "m1", "messageMetadata": {"model": "m", "usage": {"a": 1}}}
    return [start, *chunks, {"type": "finish", "messageMetadata": {"usage": {"b": 2}}}]


STEP, STEPPED = {"type": "start-step"}, {"type": "finish-step"}
SIGNED = {"anthropic": {"signature": "EqQB"}}
LOOP = message(
    STEP,
    *text("0", "Look", " it up.", kind="reasoning", providerMetadata=SIGNED),
    *text("1", "Let me ", "see."),
    *called("c1", '{"city"', ': "Oslo"}'),
    *called("c2", "{}", dynamic=True, title="Now"),
    {"type": "tool-output-available", "toolCallId": "c1", "output": "Sunny."},
    {"type": "tool-output-error", "toolCallId": "c2", "errorText": "It failed.", "dynamic": True},
    STEPPED,
    STEP,
    *text("1", "It is sunny."),
    {"type": "source-url", "sourceId": "s1", "url": "https://example.org", "title": "A page"},
    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"},
    {"type": "data-plan", "id": "p", "data": {"steps": 1}},
    {"type": "data-plan", "id": "p", "data": {"steps": 2}},
    {"type": "data-plan", "data": {"steps": 3}},
    STEPPED,
)
APPROVALS = message(
    STEP,
    *called("c1", "{}"),
    *called("c2", "{}", providerExecuted=True),
    *called("c3", "{}"),
    {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"},
    {"type": "tool-approval-request", "approvalId": "a2", "toolCallId": "c2"},
    {"type": "tool-output-denied", "toolCallId": "c2"},
    {
        "type": "tool-input-error",
        "toolCallId": "c4",
        "toolName": "weather",
        "input": {"city": 7},
        "errorText": "no city",
    },
    {"type": "tool-output-available", "toolCallId": "c3", "output": {"n": 1}, "preliminary": True},
    {"type": "tool-output-available", "toolCallId": "c3", "output": {"n": 2}},
)
HALF = message(STEP, *text("1", "Let me")[:-1], *called("c1", '{"city": "Os', '"}')[:-2])
STREAMS = [LOOP, APPROVALS, HALF, message()]
every_stream = pytest.mark.parametrize("chunks", STREAMS)


def sse(chunks: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"


@every_stream
def test_chunks_are_read_as_objects_and_as_bytes_cut_anywhere(chunks: list[Any]) -> None:
    original = copy.deepcopy(chunks)
    made = read_message(chunks)
    data = sse(chunks)
    assert read_message(data) == read_message([data[at : at + 7] for at in range(0, len(data), 7)]) == made
    assert chunks == original


@every_stream
@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat", UI])
def test_stream_converts_as_a_request_that_reports_every_loss(chunks: list[Any], target: str) -> None:
    data = sse(chunks)
    assert detect(data) == (UI, "stream")
    made = convert(data, target=target, model="gpt-5.2")
    document = {"messages": [read_message(chunks)]}
    assert audit(document, made) == []
    if target == UI:
        assert made.payload == document


def test_chunks_of_a_tool_loop_have_its_parts() -> None:
    made = read_message(LOOP)
    assert (made["id"], made["metadata"]) == ("m1", {"model": "m", "usage": {"a": 1, "b": 2}})
    call = {"type": "tool-weather", "toolCallId": "c1", "state": "output-available", "input": {"city": "Oslo"}}
    assert made["parts"][3] == {**call, "output": "Sunny."}
    contents = [content for one in adapter(UI).decode_request([made]).messages for content in one.contents]
    assert "".join(getattr(content, "text", None) or "" for content in contents[:2]) == "Look it up.Let me see."


def test_reader_returns_the_message_after_each_chunk() -> None:
    reader, states = MessageReader(), []
    for chunk in HALF[:-1]:
        reader.feed_chunk(chunk)
        states.append(reader.message["parts"][-1].get("input") if reader.message["parts"] else None)
    assert states[-1] == {"city": "Os"}
    assert reader.message["parts"][-1]["rawInput"] == '{"city": "Os'
    assert not reader.is_over


def test_chunks_without_a_part_are_kept() -> None:
    notice = {"type": "data-notice", "data": 1, "transient": True}
    assert read_message([notice, {"type": "abort"}])["chunks"] == [
        {"at": 0, "chunk": notice},
        {"at": 0, "chunk": {"type": "abort"}},
    ]
    assert read_message([{"type": "error", "errorText": "overloaded"}])["error"] == "overloaded"
    assert "ended before" in read_message(text("1", "Half"))["error"]


def test_step_that_is_reset_has_no_parts() -> None:
    chunks = message(*text("0", "Kept."), STEP, *called("c1", "{}"), {"type": "reset-step"}, *text("1", "New."))
    assert [part.get("text") for part in read_message(chunks)["parts"]] == ["Kept.", None, "New."]


@pytest.mark.parametrize(
    ("chunks", "path"),
    [
        ([7], "$[0]"),
        ([{}], "$[0].type"),
        (text("1", "A")[1:], "$[0].id"),
        ([{"type": "text-start"}], "$[0].id"),
        ([*text("1")[:1], {"type": "text-delta", "id": "1"}], "$[1].delta"),
        ([{"type": "tool-output-available", "toolCallId": "c1"}], "$[0].toolCallId"),
        ([{"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": ""}], "$[0].toolCallId"),
        ([{"type": "tool-approval-response", "approvalId": "a"}], "$[0].approvalId"),
    ],
)
def test_malformed_chunks_are_refused_with_their_path(chunks: list[Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_message(chunks)
    assert [fault.path for fault in caught.value.faults] == [path]


_KINDS = sorted({chunk["type"] for chunks in STREAMS for chunk in chunks} | {"reset-step", "tool-approval-response"})
_NAMES = st.sampled_from(["a", "b"])
_FIELDS = ("id", "messageId", "delta", "toolCallId", "toolName", "inputTextDelta", "approvalId", "errorText")
_JSON = st.recursive(st.none() | _NAMES, lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner))
_CHUNKS = st.fixed_dictionaries(
    {"type": st.sampled_from(_KINDS)},
    optional={
        **dict.fromkeys(_FIELDS, _NAMES),
        **dict.fromkeys(("messageMetadata", "input", "output", "dynamic", "providerMetadata", "data"), _JSON),
    },
)


@FEW
@given(st.lists(_CHUNKS, max_size=12))
def test_any_chunks_are_read_or_refused(chunks: list[Any]) -> None:
    try:
        made = read_message(chunks)
    except DecodeError:
        return
    assert made["role"] == "assistant"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sse")), ids=lambda path: path.stem)
def test_turn_that_is_written_for_a_front_end_is_read_back(path: Path) -> None:
    data = path.read_bytes()
    api, _ = detect(data)
    made = read_message(ui_chunks(decode_stream([data], api), message_id="m1"))
    response = fold_stream(data, api)
    assert "".join(part["text"] for part in made["parts"] if part["type"] == "text") == response.text
    names = [part["type"] for part in made["parts"] if "toolCallId" in part]
    assert names == [f"tool-{call.name}" for call in response.tool_calls]


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("package", ["ai5", "ai6", "ai"])
def test_official_reader_returns_the_same_message(package: str, tmp_path: Path) -> None:
    from test_front_end_clients import printed_by

    # Version 5 has no approvals.
    streams = [chunks for chunks in STREAMS if package != "ai5" or chunks is not APPROVALS]
    file = tmp_path / "streams.json"
    file.write_text(json.dumps(streams))
    for chunks, made in zip(streams, asyncio.run(printed_by("read.mjs", package, str(file))), strict=True):
        assert comparable(made, package) == comparable(read_message(chunks), package)


def comparable(made: Any, package: str) -> Any:
    """Return a message without the fields that versions before 7 spell differently."""
    if package == "ai":
        return made
    own = {"id", "resultProviderMetadata", "callProviderMetadata", "input", "rawInput", "title"}
    return {**made, "parts": [{key: value for key, value in p.items() if key not in own} for p in made["parts"]]}
