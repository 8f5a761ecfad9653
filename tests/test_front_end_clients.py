"""The clients of front ends, in Node: the Chat of three versions of the AI SDK, and the agent of AG-UI."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from conftest import NODE, needs_node
from contentmodel import ReasoningContent, TextContent
from contentmodel.content.citations import Citation
from contentmodel.history import Turn
from contentmodel.runner import AsyncToolRunner
from scripted import Line, answer, call
from test_front_ends import book
from test_server_app import LONG, Front, Paced, run, serving, weather

pytestmark = [pytest.mark.slow, needs_node]
SUNNY = "It is sunny in Oslo."
CITED = TextContent(text=SUNNY, annotations=[Citation(url="https://example.org", title="A page")])


def script() -> list[Line]:
    return [
        answer("Let me see.", call("weather", "c1", city="Oslo")),
        answer(ReasoningContent(text="Hm."), CITED),
        answer(call("book", "b1", city="Oslo")),
        answer("Done."),
    ]


async def printed_by(command: str, *arguments: str) -> Any:
    """Return what a program in tests/node prints, as JSON."""
    process = await asyncio.create_subprocess_exec(
        *("node", command, *arguments), cwd=NODE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await asyncio.wait_for(process.communicate(), 2 * LONG)
    assert process.returncode == 0, errors.decode()
    return json.loads(output)


def outline(message: Any) -> list[Any]:
    """Return the parts of a message: the type, and the text, the output or the state."""
    keys = ("text", "output", "url", "state")
    return [(part["type"], next((part[key] for key in keys if key in part), None)) for part in message["parts"]]


def kinds(message: Any) -> tuple[str, list[str]]:
    """Return the role of a message, and the types of its parts without notices and questions of version 5."""
    own = ("step-start", "data-approval-request", "data-notice")
    return message["role"], [part["type"] for part in message["parts"] if part["type"] not in own]


@pytest.mark.parametrize(("package", "version"), [("ai5", "5"), ("ai6", "6"), ("ai", "7")])
def test_chat_of_the_ai_sdk_shows_tools_sources_and_approvals(tmp_path: Path, package: str, version: str) -> None:
    async def go() -> None:
        # Version 5 does not answer the question, so the model is not called again before the last message.
        model = Paced([*script()[: 3 if version == "5" else 4], answer("Bye.")])
        async with serving(str(tmp_path / "turns.db"), AsyncToolRunner(model, [weather, book])) as front:
            result = await printed_by("chat.mjs", package, f"http://127.0.0.1:{front.port}", version)
            assert result["errors"] == []
            first, asked = result["messages"][1], result["messages"][3]
            assert outline(first) == [
                ("step-start", None),
                ("text", "Let me see."),
                ("tool-weather", "Sunny in Oslo."),
                ("step-start", None),
                ("reasoning", "Hm."),
                ("text", SUNNY),
                ("source-url", "https://example.org"),
            ]
            assert first["metadata"]["usage"]["outputTokens"] > 0
            # Version 5 has no approvals: the application shows the question, and answers it in its own way.
            booked = [("step-start", None), ("tool-book", "input-available"), ("data-approval-request", None)]
            if version != "5":
                booked = [("step-start", None), ("tool-book", "Booked Oslo."), ("step-start", None), ("text", "Done.")]
            assert outline(asked) == booked
            # The server lists the same messages, and the conversation goes on in Python.
            assert [kinds(message) for message in result["stored"]] == [kinds(m) for m in result["messages"]]
            begun = await front.ask("Thanks.", conversation=f"chat-{version}")
            await front.ended(begun["turn"])
            listed = await front.get(f"/vercel/chat/chat-{version}", version=version)
            assert [part["text"] for message in listed[-2:] for part in message["parts"] if "text" in part] == [
                "Thanks.",
                "Bye.",
            ]

    run(go())


PAGE = """<!DOCTYPE html><meta charset="utf-8"><body><script src="/chat.js"></script><script>
setTimeout(() => {
  document.querySelector("input").value = "How is Oslo?";
  document.querySelector("form").requestSubmit();
  fetch("/ended");
}, 500);
</script>"""
EXAMPLE = Path(__file__).parent.parent / "examples" / "front-end" / "chat.jsx"


def test_documentation_has_the_example() -> None:
    page = (EXAMPLE.parents[2] / "docs" / "front-ends.md").read_text()
    assert EXAMPLE.read_text() in page


def test_page_of_the_documentation_shows_a_turn_in_the_browser(tmp_path: Path, browser: Any) -> None:
    built = tmp_path / "chat.js"
    options = ("--bundle", "--jsx=automatic", "--log-level=error", f"--outfile={built}")
    environment = {**os.environ, "NODE_PATH": str(NODE / "node_modules")}
    subprocess.run([NODE / "node_modules" / ".bin" / "esbuild", EXAMPLE, *options], check=True, env=environment)

    async def files(request: Request, call_next: Any) -> Response:
        if request.url.path == "/":
            return HTMLResponse(PAGE)
        if request.url.path == "/chat.js":
            return Response(built.read_bytes(), media_type="text/javascript")
        if request.url.path == "/ended":
            # The browser's clock stands still while it waits for this response, but not while it reads a stream.
            await ended()
            return Response()
        return await call_next(request)

    fronts: list[Front] = []

    async def ended() -> None:
        store = fronts[0].store
        async with asyncio.timeout(LONG):
            turns: list[Turn] = []
            while not any(turn.role == "assistant" and not turn.is_open for turn in turns):
                await asyncio.sleep(0.02)
                turns = [turn for one in await store.conversations() for turn in await store.turns(one.id)]
        await asyncio.sleep(0.5)

    async def go() -> None:
        runner = AsyncToolRunner(Paced(script()), [weather])
        async with serving(str(tmp_path / "turns.db"), runner, files) as front:
            fronts.append(front)
            options = ("--dump-dom", "--virtual-time-budget=20000")
            dom = await asyncio.to_thread(browser, f"http://127.0.0.1:{front.port}/", *options)
            shown = re.sub(r"<[^>]*>", "", dom.partition("<form")[2])
            assert "user: How is Oslo?" in shown
            assert "assistant: Let me see.[Sunny in Oslo.] Hm.It is sunny in Oslo." in shown
            assert [
                message.role for message in (await front.store.load((await front.store.conversations())[0].id)).messages
            ] == ["user", "assistant", "tool", "assistant"]

    run(go())


def test_agent_of_ag_ui_verifies_the_events_and_answers_the_interrupt(tmp_path: Path) -> None:
    async def go() -> None:
        async with serving(str(tmp_path / "turns.db"), AsyncToolRunner(Paced(script()), [weather, book])) as front:
            result = await printed_by("run.mjs", f"http://127.0.0.1:{front.port}")
            assert result["types"][0] == "RUN_STARTED"
            assert result["types"][-1] == "RUN_FINISHED"
            assert [interrupt["toolCallId"] for interrupt in result["interrupts"]] == ["b1"]
            shown = [(message["role"], message.get("content")) for message in result["messages"]]
            assert [text for _, text in shown if text in (SUNNY, "Sunny in Oslo.", "Booked Oslo.", "Done.")] == [
                "Sunny in Oslo.",
                SUNNY,
                "Booked Oslo.",
                "Done.",
            ]

    run(go())
