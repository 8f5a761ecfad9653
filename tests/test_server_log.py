"""The log of a conversation of a server: it has the notices of each turn, and an endpoint returns it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import DATABASES
from contentmodel import ChatMessage, DataContent, TextContent
from contentmodel.events import Notice
from contentmodel.history.log_async import AsyncConversationLog
from contentmodel.history.log_entries import notice_entry
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import Limits
from contentmodel.tools import ToolOutcome, tool
from scripted import answer, call
from test_server_app import Paced, run, serving

LOG = "/conversations/c/log"


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "turns.db")


@tool(format_use=lambda args: f"Looking up {args['city']}", format_result=lambda outcome: f"Found: {outcome.text}")
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


@tool
def photo(city: str) -> Any:
    """A photo of a city."""
    return DataContent(media_type="image/png", data="A" * 16_000)


@tool
def odd(city: str) -> ToolOutcome:
    """Displays a text that databases cannot represent."""
    return ToolOutcome("ok", display=f"a\x00b{chr(0xD800)}{city}")


@tool(approval=True)
def book(city: str) -> str:
    """Books a hotel."""
    return f"Booked {city}."


SHOWN = [
    ("tool_use", "Looking up Oslo", "c1"),
    ("tool_use", 'photo({"city": "Oslo"})', "c2"),
    ("tool_result", "Found: Sunny in Oslo.", "c1"),
    ("tool_result", "[image image/png, 12 KB]", "c2"),
]


def shown(page: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(e["kind"], e["text"], (e["content"] or {}).get("call_id")) for e in page["entries"]]


def test_log_has_the_notices_of_a_turn_after_a_restart(url: str) -> None:
    async def go() -> None:
        script = [answer(call("weather", "c1", city="Oslo"), call("photo", "c2", city="Oslo")), answer("Sunny.")]
        runner = AsyncToolRunner(Paced(script), [weather, photo], max_concurrency=1)
        async with serving(url, runner) as front:
            begun = await front.ask("How is Oslo?")
            await front.ended(begun["turn"])
            before = await front.get(LOG)
        async with serving(url, AsyncToolRunner(Paced([]))) as front:
            page = await front.get(LOG)
            assert page == before
            assert sorted(shown(page)) == sorted(SHOWN)
            assert page["next"] is None
            assert [entry["number"] for entry in page["entries"]] == [1, 2, 3, 4]
            assert {entry["turn"] for entry in page["entries"]} == {begun["turn"]}
            assert [message.role for message in (await front.store.load("c")).messages] == [
                *("user", "assistant", "tool", "assistant")
            ]

    run(go())


@tool(format_result=lambda outcome: f"Result: {outcome.text}")
def both(city: str) -> ToolOutcome:
    """Displays another text than its result."""
    return ToolOutcome(f"{city}: 21", display=f"Looked up {city}.")


@tool
def usual(city: str) -> ToolOutcome:
    """Displays a text, and formats its result as usual."""
    return ToolOutcome(f"{city}: 21", display=f"Looked up {city}.")


@pytest.mark.parametrize(("made", "result"), [(both, "Result: Oslo: 21"), (usual, "Oslo: 21")])
def test_log_has_what_a_tool_displays_and_its_result(path: str, made: Any, result: str) -> None:
    async def go() -> None:
        script = [answer(call(made.name, "c1", city="Oslo")), answer("Mild.")]
        async with serving(path, AsyncToolRunner(Paced(script), [made])) as front:
            begun = await front.ask("How is Oslo?")
            await front.ended(begun["turn"])
            assert shown(await front.get(LOG))[1:] == [
                ("tool_result", result, "c1"),
                ("display", "Looked up Oslo.", "c1"),
            ]

    run(go())


def test_log_has_the_reason_why_a_turn_waits(path: str) -> None:
    async def go() -> None:
        model = Paced([answer(call("book", "c1", city="Oslo")), answer("Done.")])
        async with serving(path, AsyncToolRunner(model, [book])) as front:
            begun = await front.ask("Book a hotel.")
            await front.ended(begun["turn"])
            assert [kind for kind, _, _ in shown(await front.get(LOG))] == ["approval"]
            more = await front.post(f"/turns/{begun['turn']}/approvals", {"c1": True})
            await front.ended(more["turn"])
            assert [kind for kind, _, _ in shown(await front.get(LOG))] == ["approval", "tool_use", "tool_result"]
            assert shown(await front.get(LOG, turn=more["turn"]))[1] == ("tool_result", "Booked Oslo.", "c1")

    run(go())


def test_log_is_read_in_pages_of_kinds_and_of_a_turn(url: str) -> None:
    async def go() -> None:
        async with serving(url, Paced([answer("Hi.")])) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            log = AsyncConversationLog(front.store)
            for number in range(7):
                await log.add("c", "odd" if number % 2 else "even", str(number), turn=begun["turn"] if number else None)
            seen: list[str] = []
            query: dict[str, Any] = {"limit": 3}
            while (page := await front.get(LOG, **query))["next"] is not None:
                assert len(page["entries"]) == 3
                seen += [entry["text"] for entry in page["entries"]]
                query["after"] = page["next"]
            seen += [entry["text"] for entry in page["entries"]]
            assert seen == list("0123456")
            assert [e["text"] for e in (await front.get(LOG, kind="odd"))["entries"]] == list("135")
            assert len((await front.get(LOG, kind=["odd", "even"]))["entries"]) == 7
            assert [e["text"] for e in (await front.get(LOG, turn=begun["turn"]))["entries"]] == list("123456")
            assert (await front.get(LOG, turn=begun["user_turn"]))["entries"] == []
            assert (await front.get(LOG, after=100)) == {"entries": [], "next": None}

    run(go())


def test_page_of_a_log_is_bounded_in_bytes(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hi.")]), limits=Limits(page_bytes=25_000)) as front:
            await front.ended((await front.ask())["turn"])
            for _ in range(10):
                await AsyncConversationLog(front.store).add("c", "note", "x" * 10_000)
            seen, query = [], {}
            while True:
                page = await front.get(LOG, **query)
                assert 1 <= len(page["entries"]) <= 2
                seen += [entry["number"] for entry in page["entries"]]
                if page["next"] is None:
                    break
                query = {"after": page["next"]}
            assert seen == list(range(1, 11))

    run(go())


def test_log_hides_requests_of_the_application_and_their_errors(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hi.")])) as front:
            await front.ended((await front.ask())["turn"])
            log = AsyncConversationLog(front.store)
            await log.add("c", "question", "secret", {"instructions": "secret"})
            await log.add("c", "error", "secret: the key is wrong")
            messages = [ChatMessage(role="assistant", contents=[TextContent(text="The Bristol.")])]
            await log.add_task("c", "Find a hotel", messages)
            page = await front.get(LOG)
            assert "secret" not in json.dumps(page)
            assert page["entries"][0]["content"][0]["contents"] == [{"type": "text", "text": "The Bristol."}]
            assert (await front.get(LOG, limit=1))["entries"] == []
            assert (await front.get(LOG, limit=1))["next"] == 1
            assert (await front.get(LOG, kind="question"))["entries"] == []

    run(go())


@pytest.mark.parametrize(
    ("query", "status"),
    [("limit=0", 400), ("after=x", 400), ("kind=", 400), ("kind=%00", 400), ("turn=%00", 400), ("turn=nowhere", 404)],
)
def test_server_refuses_an_invalid_query_of_a_log(path: str, query: str, status: int) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer("Hi.")])) as front:
            await front.ended((await front.ask())["turn"])
            assert (await front.http.get(f"{LOG}?{query}")).status_code == status
            assert (await front.http.get("/conversations/nowhere/log")).status_code == 404

    run(go())


@pytest.mark.parametrize("kind", ["", "x" * 1000, "\n", "a\x00b"])
def test_notice_entry_has_a_valid_kind_for_any_notice(kind: str) -> None:
    entry = notice_entry(Notice(kind=kind, text="said"))
    assert 0 < len(entry["kind"]) <= 100
    assert entry["kind"].isprintable()


def test_turn_completes_if_a_notice_has_text_that_databases_cannot_represent(url: str) -> None:
    async def go() -> None:
        script = [answer(call("odd", "c1", city="Oslo")), answer("Done.")]
        async with serving(url, AsyncToolRunner(Paced(script), [odd])) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            assert (await front.get(f"/turns/{begun['turn']}"))["status"] == "complete"
            assert shown(await front.get(LOG))[-1][1].endswith("Oslo")

    run(go())
