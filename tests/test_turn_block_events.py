"""The events of a turn as rows of `turn-blocks`: live, resumed after any event, and replayed from the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import contentmodel
from contentmodel import FunctionResultContent, TextContent, unfold
from contentmodel.events import BlockStop, TextDelta
from contentmodel.runner import AsyncToolRunner
from contentmodel.server.log import encoded_event
from contentmodel.server.turn_blocks import row_frames
from scripted import answer, call
from test_server_app import Front, Paced, run, serving, two_answers, weather

ROWS = contentmodel.adapter("turn-blocks")
Event = tuple[str, str, dict[str, Any]]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "turns.db")


def events_in(text: str) -> list[Event]:
    """Return the number, the name and the data of each event."""
    events = []
    for frame in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if line and not line.startswith(":"))
        if "data" in fields:
            events.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return events


class Rows:
    """The blocks of a turn as a client has them."""

    def __init__(self) -> None:
        self.blocks: dict[int, dict[str, Any]] = {}
        self.inputs: dict[int, str] = {}
        self.end: dict[str, Any] | None = None

    def feed(self, event: Event) -> None:
        _, name, data = event
        if "block" in data:
            self.blocks[data["block"]["sequence"]] = data["block"]
        elif data["type"] in ("text_delta", "thinking_delta"):
            block = self.blocks[data["sequence"]]
            inside = block if block["block_type"] != "tool_result" else block["content"]
            key = "content" if block["block_type"] == "tool_result" else "text_content"
            inside[key] = inside.get(key, "") + data["text"]
        elif data["type"] == "input_delta":
            self.inputs[data["sequence"]] = self.inputs.get(data["sequence"], "") + data["text"]
        elif name in ("turn_complete", "turn_error"):
            self.end = data["turn"]


async def read(front: Front, path: str, after: str = "") -> list[Event]:
    headers = {"last-event-id": after} if after else {}
    response = await front.http.get(path, headers=headers)
    assert response.status_code == 200, response.text
    return events_in(response.text)


def test_events_as_rows_are_the_stored_rows_wherever_a_client_resumes(path: str) -> None:
    async def go() -> None:
        async with serving(path, AsyncToolRunner(Paced(two_answers()), [weather])) as front:
            asked = await front.http.post(
                "/conversations/c/turns?vocabulary=turn-blocks", json={"content": "How is Oslo?"}
            )
            place = asked.json()["events"]
            assert place.endswith("/events?vocabulary=turn-blocks")
            turn = asked.json()["turn"]
            live = front.hub.find(turn)
            assert live is not None
            first = await read(front, f"{place}&after=0")
            await live.ended()
            stored = [ROWS.encode_block(block.content, block.sequence) for block in await front.store.blocks(turn)]
            assert [row["block_type"] for row in stored] == ["text", "tool_use", "tool_result", "text"]
            known = Rows()
            for event in first:
                known.feed(event)
            assert [known.blocks[n] for n in sorted(known.blocks)] == stored
            assert known.end is not None
            assert known.end["stop_reason"] == "stop"
            whole = await read(front, place, "1")
            assert {name for _, name, _ in whole} >= {"block_start", "block_delta", "block_stop", "turn_complete"}
            for cut in range(1, len(whole)):
                client = Rows()
                for event in [*whole[:cut], *await read(front, place, whole[cut - 1][0])]:
                    client.feed(event)
                assert [client.blocks[n] for n in sorted(client.blocks)] == stored
                assert client.inputs.get(1) in (None, '{"city":"Oslo"}')
        async with serving(path, Paced([])) as other:
            # The other process has it in the store alone.
            client = Rows()
            for event in await read(other, place):
                client.feed(event)
            assert [client.blocks[n] for n in sorted(client.blocks)] == stored
            assert client.end is not None
            assert client.end["stop_reason"] == "stop"

    run(go())


def test_events_as_rows_are_streamed_by_a_post_and_refused_under_other_names(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hello there.")])) as front:
            turns = "/conversations/c/turns?vocabulary="
            refused = await front.http.post(f"{turns}rows", json={"content": "Hi."})
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
            assert "expected one of content, turn-blocks" in refused.text
            sent = await front.http.post(
                f"{turns}turn-blocks", json={"content": "Hi."}, headers={"accept": "text/event-stream"}
            )
            names = [name for _, name, _ in events_in(sent.text)]
            assert (names[0], names[-1]) == ("turn_start", "turn_complete")
            client = Rows()
            for event in events_in(sent.text):
                client.feed(event)
            assert client.blocks == {0: {"sequence": 0, "block_type": "text", "text_content": "Hello there."}}

    run(go())


def test_growing_result_grows_as_a_row() -> None:
    result = FunctionResultContent(call_id="c1", outputs=[TextContent(text="Sunny in Oslo.")])
    events = list(unfold(answer(call("weather", "c1"), result), size=4))
    assert sum(isinstance(event, TextDelta) for event in events) == 4
    client = Rows()
    # Without the ends of blocks, the deltas alone have the whole text.
    for event in events_in(row_frames(encoded_event(e) for e in events if not isinstance(e, BlockStop)).decode()):
        client.feed(event)
    assert client.blocks[1] == ROWS.encode_block(result, 1)
