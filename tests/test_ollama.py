"""Ollama's own API, /api/chat: ids of calls, images, settings, streams in lines, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ollama
import pytest
from ollama._types import ChatRequest as SdkRequest
from typer.testing import CliRunner

import contentmodel
from contentmodel import (
    ChatMessage,
    FunctionCallContent,
    TextContent,
    convert,
)
from contentmodel.cli.app import app
from contentmodel.events import BlockStart, BlockStop, TextDelta, TurnComplete, TurnStart
from contentmodel.serialize import loads
from contentmodel_conformance.server import LoopbackServer
from ollama_payloads import ANSWER, REQUEST

API = "ollama-chat"
ADAPTER: Any = contentmodel.adapter(API)


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def line(content: str = "", **message: Any) -> dict[str, Any]:
    """Return a line of a stream."""
    head = {"model": "qwen3", "created_at": "2026-11-23T10:00:00Z"}
    return {**head, "message": {"role": "assistant", "content": content, **message}, "done": False}


END = {**line(), "done": True, "done_reason": "stop", "total_duration": 5, "prompt_eval_count": 3, "eval_count": 4}


# -- requests ----------------------------------------------------------------------------------------------------------


def test_sdk_accepts_converted_requests() -> None:
    chat = convert(REQUEST, source=API, target="openai-chat", kind="request").payload
    made = convert(chat, source="openai-chat", target=API, kind="request").payload
    read = SdkRequest(**made)
    assert read.messages is not None
    assert len(read.messages) == 7


# -- streams -----------------------------------------------------------------------------------------------------------


def test_block_that_becomes_a_call_is_written_after_its_text() -> None:
    call = FunctionCallContent(call_id="call_1", name="weather", arguments="")
    response = contentmodel.ChatResponse(choices=[contentmodel.ChatChoice(messages=[ChatMessage(role="assistant")])])
    events = [
        TurnStart(response=contentmodel.ChatResponse(id="i", model="m")),
        *(BlockStart(index=0, content=TextContent(text="")), TextDelta(index=0, text="Hi.")),
        *(BlockStop(index=0, content=call), TurnComplete(response=response, layout=[[[0]]])),
    ]
    encoder = ADAPTER.stream_encoder()
    made = b"".join(map(encoder.feed, events)) + encoder.close()
    messages = [json.loads(text)["message"] for text in made.splitlines()]
    assert messages[0]["content"] == "Hi."
    assert messages[1]["tool_calls"][0]["function"]["name"] == "weather"


def test_stream_is_detected_by_its_first_line() -> None:
    raw = lines(line("Hi"), END)
    assert contentmodel.detect(raw) == (API, "stream")
    assert contentmodel.detect(lines(ANSWER)) == (API, "response")
    assert contentmodel.detect(json.dumps(REQUEST, indent=1)) == (API, "request")


@pytest.mark.parametrize("name", ["answer.ndjson", "answer"])
def test_command_converts_lines_as_one_stream(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(lines(line("Hel"), line("lo"), END))
    made = CliRunner().invoke(app, ["convert", str(path), "--to", "contentmodel", "--quiet"])
    assert loads(made.stdout).text == "Hello"


# -- errors and the official client ------------------------------------------------------------------------------------


def test_official_client_reads_calls_and_images_of_answers() -> None:
    answer = ADAPTER.decode_response(ANSWER)
    with LoopbackServer([answer, answer]) as server:
        client = ollama.Client(host=server.base_url(API))
        whole = client.chat(model="m", messages=[{"role": "user", "content": "?"}])
        assert ADAPTER.decode_response(whole).messages == answer.messages
        chunks = list(client.chat(model="m", messages=[{"role": "user", "content": "?"}], stream=True))
    decoder = ADAPTER.stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed_event(chunk)]
    read = contentmodel.fold([*events, *decoder.close()])
    assert read.messages == answer.messages
    assert [record.is_stream for record in server.requests] == [False, True]
    assert {record.status for record in server.requests} == {200}
