"""The endpoints for `useChat` of the Vercel AI SDK and for AG-UI, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Event
from pydantic import TypeAdapter

from contentmodel import ReasoningContent
from contentmodel.client import RateLimitError
from contentmodel.content.base import Protected
from contentmodel.events import (
    TurnError,
)
from contentmodel.interop.ag_ui import RunWriter
from contentmodel.interop.vercel_ui import VercelWriter
from contentmodel.response import ChatResponse
from contentmodel.runner import AsyncToolRunner
from contentmodel.server.hub import INTERRUPTED
from contentmodel.tools import tool
from scripted import answer, call
from test_server_app import Front, Paced, run, serving, two_answers, weather

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
Chunk = dict[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "turns.db")


@tool(approval=True)
def book(city: str) -> str:
    """Books a hotel."""
    return f"Booked {city}."


def user(text: str, name: str = "m1") -> Chunk:
    return {"id": name, "role": "user", "parts": [{"type": "text", "text": text}]}


def chat(*messages: Chunk, **fields: Any) -> Chunk:
    return {"id": "c", "messages": list(messages), "trigger": "submit-message", **fields}


async def streamed(front: Front, body: Any, endpoint: str = "/vercel/chat") -> list[Chunk]:
    """Return the chunks of a POST."""
    response = await front.http.post(endpoint, json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return chunks_in(response.text)


def chunks_in(text: str) -> list[Chunk]:
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def joined(chunks: list[Chunk]) -> list[Chunk]:
    """Return chunks with the deltas that follow each other joined, and without ids of blocks."""
    result: list[Chunk] = []
    for chunk in chunks:
        chunk = {key: value for key, value in chunk.items() if key not in ("id", "messageId", "messageMetadata")}
        grown = next((key for key in ("delta", "inputTextDelta") if key in chunk), None)
        if grown and result and result[-1]["type"] == chunk["type"]:
            result[-1][grown] += chunk[grown]
        else:
            result.append(chunk)
    return result


LOOP = [
    {"type": "start"},
    {"type": "start-step"},
    {"type": "text-start"},
    {"type": "text-delta", "delta": "Let me see."},
    {"type": "text-end"},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "weather"},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "weather", "input": {"city": "Oslo"}},
    {"type": "tool-output-available", "toolCallId": "c1", "output": "Sunny in Oslo."},
    {"type": "finish-step"},
    {"type": "start-step"},
    {"type": "text-start"},
    {"type": "text-delta", "delta": "It is sunny in Oslo."},
    {"type": "text-end"},
    {"type": "finish-step"},
    {"type": "finish", "finishReason": "stop"},
]


def test_chat_streams_a_turn_with_a_tool(path: str) -> None:
    async def go() -> None:
        async with serving(path, AsyncToolRunner(Paced(two_answers()), [weather])) as front:
            response = await front.http.post("/vercel/chat", json=chat(user("How is Oslo?")))
            assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
            assert response.text.endswith("data: [DONE]\n\n")
            chunks = chunks_in(response.text)
            loop = [chunk for chunk in joined(chunks) if chunk["type"] not in ("data-notice", "tool-input-delta")]
            assert loop == LOOP
            stored = await front.store.load("c")
            assert [message.role for message in stored.messages] == ["user", "assistant", "tool", "assistant"]
            # The id of the message is that of the turn.
            assert (await front.store.turn(chunks[0]["messageId"])).role == "assistant"

    run(go())


def test_chat_accepts_files_and_links(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("A dot.")])
        parts = [
            {"type": "text", "text": ""},
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"},
            {"type": "file", "mediaType": "image", "url": "https://example.org/b"},
        ]
        async with serving(path, model) as front:
            await streamed(front, chat({"id": "m", "role": "user", "parts": parts}))
        data, link = model.requests[0].messages[0].contents
        assert (data.media_type, data.data, data.name) == ("image/png", "AAAA", "a.png")
        assert (link.uri, link.media_kind, link.media_type) == ("https://example.org/b", "image", None)

    run(go())


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"id": "c"}, "$"),
        (chat(), "$.messages"),
        (chat(user("Hi."), id="a b"), "$.id"),
        (chat(user("")), "$.messages[0].parts"),
        (chat(user("Hi."), trigger="other"), "$.trigger"),
        (chat({"id": "m", "role": "user", "parts": [{"type": "data-x", "data": 1}]}), "$.messages[0].parts[0].type"),
        (
            chat({"id": "m", "role": "user", "parts": [{"type": "file", "url": "data:,x"}]}),
            "$.messages[0].parts[0].url",
        ),
        (chat({"id": "m", "role": "user", "parts": [{"type": "text", "text": 7}]}), "$.messages[0].parts[0].text"),
        (
            chat({"id": "m", "role": "user", "parts": [{"type": "file", "url": "ftp://x", "mediaType": "a/b"}]}),
            "$.messages[0].parts[0].url",
        ),
        (chat({"id": "m", "role": "system", "parts": []}), "$.messages[0].role"),
        (chat({"id": "m", "role": "assistant", "parts": []}), "$.messages[0].parts"),
        (chat({"id": "m", "role": "user", "parts": "text"}), "$.messages[0].parts"),
    ],
)
def test_chat_refuses_other_bodies_with_the_path(path: str, body: Any, where: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("No.")])) as front:
            response = await front.http.post("/vercel/chat", json=body)
            assert response.status_code == 400
            assert [fault["path"] for fault in response.json()["error"]["faults"]] == [where]
            assert await front.store.conversations() == []

    run(go())


def test_run_continues_in_the_same_message_after_approval(path: str) -> None:
    async def go() -> None:
        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Done.")])
        async with serving(path, AsyncToolRunner(model, [book])) as front:
            asked = await streamed(front, chat(user("Book.")))
            request = next(chunk for chunk in asked if chunk["type"] == "tool-approval-request")
            assert request["toolCallId"] == "c1"
            approval = {"id": request["approvalId"], "approved": True}
            part = {"type": "tool-book", "toolCallId": "c1", "state": "approval-responded", "approval": approval}
            message = {"id": asked[0]["messageId"], "role": "assistant", "parts": [part]}
            chunks = await streamed(front, chat(user("Book."), message))
            assert chunks[0] == {"type": "start", "messageId": asked[0]["messageId"]}
            kinds = [chunk["type"] for chunk in chunks if chunk["type"] != "data-notice"]
            assert kinds[:3] == ["start", "tool-output-available", "start-step"]
            assert kinds[-1] == "finish"
            again = await front.http.post("/vercel/chat", json=chat(user("Book."), message))
            assert again.status_code in (404, 409)

    run(go())


def test_denied_call_has_a_separate_chunk(path: str) -> None:
    async def go(version: str, expected: list[str]) -> None:
        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Sorry.")])
        async with serving(f"{path}{version}", AsyncToolRunner(model, [book])) as front:
            endpoint = f"/vercel/chat?version={version}"
            asked = await streamed(front, chat(user("Book.")), endpoint)
            approval = {"id": "c1", "approved": False, "reason": "too dear"}
            part = {"type": "tool-book", "toolCallId": "c1", "state": "approval-responded", "approval": approval}
            message = {"id": asked[0]["messageId"], "role": "assistant", "parts": [part]}
            chunks = await streamed(front, chat(user("Book."), message), endpoint)
            kinds = {chunk["type"] for chunk in [*asked, *chunks]}
            assert set(expected) <= kinds
            assert not {"tool-approval-request", "tool-output-denied"} - set(expected) & kinds

    run(go("7", ["tool-approval-request", "tool-output-denied"]))
    run(go("5", ["data-approval-request", "tool-output-error"]))


def test_unknown_version_is_refused(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([])) as front:
            response = await front.http.post("/vercel/chat?version=4", json=chat(user("Hi.")))
            assert response.status_code == 400
            assert "5, 6, 7" in response.json()["error"]["message"]

    run(go())


def test_regenerate_answers_the_same_message_again(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("One."), answer("Two."), answer("Three."), answer("Four.")])
        async with serving(path, model) as front:
            first = await streamed(front, chat(user("Hi.")))
            body = chat(user("Hi."), trigger="regenerate-message", messageId=first[0]["messageId"])
            second = await streamed(front, body)
            assert second[0]["messageId"] != first[0]["messageId"]
            await streamed(front, chat(user("Hi."), trigger="regenerate-message"))
            assert [m.text for m in (await front.store.load("c")).messages] == ["Hi.", "Three."]
            turns = await front.store.turns("c")
            assert [turn.role for turn in turns] == ["user", "assistant", "assistant", "assistant"]
            missing = await front.http.post("/vercel/chat", json=chat(trigger="regenerate-message"))
            assert missing.status_code == 400

    run(go())


def test_edited_message_begins_a_branch(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("One."), answer("Two."), answer("Three.")])
        async with serving(path, model) as front:
            first = await streamed(front, chat(user("A.", "u1")))
            assistant = {"id": first[0]["messageId"], "role": "assistant", "parts": []}
            await streamed(front, chat(user("A.", "u1"), assistant, user("B.", "u2")))
            await streamed(front, chat(user("A.", "u1"), assistant, user("C.", "u2"), messageId="u2"))
            assert [m.text for m in (await front.store.load("c")).messages] == ["A.", "One.", "C.", "Three."]
            far = chat(*(user("x", f"u{n}") for n in range(5)), messageId="u4")
            assert (await front.http.post("/vercel/chat", json=far)).status_code == 404

    run(go())


def test_stream_of_a_running_turn_can_be_resumed(path: str) -> None:
    async def go() -> None:
        model = Paced(two_answers(), free=False)
        async with serving(path, AsyncToolRunner(model, [weather])) as front:
            assert (await front.http.get("/vercel/chat/c/stream")).status_code == 204
            begun = await front.ask("How is Oslo?")
            model.let(4)
            async with front.http.stream("GET", "/vercel/chat/c/stream") as response:
                assert response.status_code == 200
                model.let_all()
                text = "".join([piece async for piece in response.aiter_text()])
            assert chunks_in(text)[0] == {"type": "start", "messageId": begun["turn"]}
            assert [c for c in joined(chunks_in(text)) if c["type"] not in ("data-notice", "tool-input-delta")] == LOOP
            assert (await front.http.get("/vercel/chat/c/stream")).status_code == 204

    run(go())


def test_messages_of_a_conversation_equal_those_of_the_stream(path: str) -> None:
    async def go() -> None:
        reasoning = ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="c2ln"))
        model = Paced([answer(reasoning, call("book", "c1", city="Oslo")), answer("Done."), answer("Bye.")], free=True)
        async with serving(path, AsyncToolRunner(model, [book])) as front:
            assert await front.get("/vercel/chat/c") == []
            asked = await streamed(front, chat(user("Book.")))
            name = asked[0]["messageId"]
            (_, waiting) = await front.get("/vercel/chat/c")
            assert waiting["parts"][-1]["state"] == "approval-requested"
            part = {"type": "tool-book", "toolCallId": "c1", "state": "approval-responded"}
            part["approval"] = {"id": "c1", "approved": True}
            await streamed(front, chat(user("Book."), {"id": name, "role": "assistant", "parts": [part]}))
            messages = await front.get("/vercel/chat/c")
            assert [message["role"] for message in messages] == ["user", "assistant"]
            assert messages[1]["id"] == name
            parts = [(part["type"], part.get("text", part.get("output"))) for part in messages[1]["parts"]]
            shown = [part for part in parts if part[0] != "step-start"]
            assert shown == [("reasoning", "Hm."), ("tool-book", "Booked Oslo."), ("text", "Done.")]
            assert "c2ln" not in json.dumps(messages)

    run(go())


def test_front_end_endpoints_require_authorization(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hi.")]), authorize=lambda request, name: name == "mine") as front:
            for body, endpoint in [(chat(user("Hi.")), "/vercel/chat"), (run_input(), "/ag-ui")]:
                assert (await front.http.post(endpoint, json=body)).status_code == 404
            assert (await front.http.get("/vercel/chat/c/stream")).status_code == 404
            assert (await front.http.get("/vercel/chat/c")).status_code == 404
            await streamed(front, chat(user("Hi."), id="mine"))

    run(go())


def test_failure_and_interruption_end_the_stream(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([RateLimitError("too many requests")])) as front:
            assert (await streamed(front, chat(user("Hi."))))[-1]["type"] == "error"
        async with serving(f"{path}2", Paced([RateLimitError("too many requests")])) as front:
            assert (await streamed(front, run_input(), "/ag-ui"))[-1]["type"] == "RUN_ERROR"

    run(go())
    interrupted = TurnError(error=INTERRUPTED, response=ChatResponse())
    assert list(VercelWriter("t", "m").chunks(interrupted))[-1] == {"type": "abort"}
    assert list(RunWriter("t", "c", "r").chunks(interrupted))[-1]["outcome"] == {"type": "cancelled"}


# -- AG-UI -------------------------------------------------------------------------------------------------------------


def run_input(text: Any = "How is Oslo?", **fields: Any) -> Chunk:
    message = {"id": "m1", "role": "user", "content": text}
    given = {"threadId": "c", "runId": "r1", "state": {}, "messages": [message], "tools": [], "context": []}
    return {**given, "forwardedProps": {}, **fields}


def test_run_streams_events_that_the_types_of_ag_ui_accept(path: str) -> None:
    async def go() -> None:
        async with serving(path, AsyncToolRunner(Paced(two_answers()), [weather])) as front:
            events = await streamed(front, run_input(), "/ag-ui")
            for event in events:
                EVENT.validate_python(event)
            kinds = [event["type"] for event in joined(events) if event["type"] != "CUSTOM"]
            assert kinds == [
                "RUN_STARTED",
                "STEP_STARTED",
                *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
                *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"),
                *("STEP_FINISHED", "STEP_STARTED"),
                *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
                *("STEP_FINISHED", "RUN_FINISHED"),
            ]
            arguments = "".join(event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS")
            assert json.loads(arguments) == {"city": "Oslo"}
            assert events[-1]["outcome"] == {"type": "success"}

    run(go())


@pytest.mark.parametrize(("payload", "output"), [(True, "Booked Oslo."), ({"approved": False, "reason": "no"}, "no")])
def test_interrupt_of_a_run_is_answered_by_resume(path: str, payload: Any, output: str) -> None:
    async def go() -> None:
        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Done.")])
        async with serving(path, AsyncToolRunner(model, [book])) as front:
            last = (await streamed(front, run_input("Book."), "/ag-ui"))[-1]
            assert last["outcome"]["type"] == "interrupt"
            (interrupt,) = last["outcome"]["interrupts"]
            assert (interrupt["toolCallId"], interrupt["message"]) == ("c1", "Allow book?")
            entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}
            events = await streamed(front, run_input(runId="r2", resume=[entry]), "/ag-ui")
            for event in events:
                EVENT.validate_python(event)
            result = next(event for event in events if event["type"] == "TOOL_CALL_RESULT")
            assert output in result["content"]
            assert events[-1]["type"] == "RUN_FINISHED"

    run(go())


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"tools": [{"name": "t", "description": "", "parameters": {}}]}, "$.tools"),
        ({"context": [{"description": "d", "value": "v"}]}, "$.context"),
        ({"messages": []}, "$.messages"),
        ({"messages": [{"id": "m", "role": "assistant", "content": "x"}]}, "$.messages[0].role"),
        ({"resume": [{"interruptId": 7, "status": "resolved", "payload": True}]}, "$.resume[0].interruptId"),
        ({"threadId": ""}, "$.threadId"),
    ],
)
def test_run_refuses_other_inputs_with_the_path(path: str, fields: Chunk, where: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("No.")])) as front:
            response = await front.http.post("/ag-ui", json=run_input(**fields))
            assert response.status_code == 400, response.text
            assert [fault["path"] for fault in response.json()["error"]["faults"]] == [where]

    run(go())


def test_run_accepts_media(path: str) -> None:
    async def go() -> None:
        model = Paced([answer("A dot.")])
        source = {"type": "data", "value": "AAAA", "mimeType": "image/png"}
        link = {"type": "url", "value": "https://example.org/a.pdf"}
        parts = [
            {"type": "text", "text": "Look."},
            {"type": "image", "source": source},
            {"type": "document", "source": link},
        ]
        async with serving(path, model) as front:
            await streamed(front, run_input(parts), "/ag-ui")
        text, data, uri = model.requests[0].messages[0].contents
        assert (text.text, data.media_type, uri.media_kind) == ("Look.", "image/png", "document")

    run(go())
