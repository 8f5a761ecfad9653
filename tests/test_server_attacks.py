"""A hostile web client against a running server: its payloads, its requests, and responses that it never reads."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import signal
import socket
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from starlette.exceptions import HTTPException

from conftest import DATABASES, slow
from contentmodel import DataContent, HostedFileContent, TextContent, UriContent
from contentmodel.client import AuthenticationError
from contentmodel.content import (
    CONTENT_TYPES,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
)
from contentmodel.events import TurnError
from contentmodel.history import HistoryError
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import Hub, Limits
from contentmodel.server.connections import Connections
from contentmodel.server.sent import ACCEPTED_TYPES
from contentmodel.tools import tool
from scripted import answer, call
from test_server_app import LONG, Client, Front, Paced, run, serving

TURNS = "/conversations/c/turns"
PNG = base64.b64encode(b"\x89PNG").decode()


@pytest.fixture(params=DATABASES)
def url(request: Any, tmp_path: Path) -> str:
    return str(tmp_path / "turns.db") if request.param == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "turns.db")


async def post(front: Front, url: str, body: Any, status: int, user: str | None = None) -> Any:
    """Post JSON or bytes with the media type of JSON. Check that the response is JSON of this status."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json"} | ({} if user is None else {"x-user": user})
    response = await front.http.post(url, content=content, headers=headers)
    assert response.status_code == status, (body if len(content) < 500 else len(content), response.text)
    return response.json()


async def refused(front: Front, body: Any, path: str, status: int = 400) -> str:
    """Post a turn, check that it is refused with a fault at `path` and not stored, and return the message."""
    before = [turn.id for turn in await turns_of(front, "c")]
    response = await post(front, TURNS, body, status)
    faults = {fault["path"]: fault["message"] for fault in response["error"]["faults"]}
    assert path in faults, (body, faults)
    assert [turn.id for turn in await turns_of(front, "c")] == before
    return faults[path]


async def turns_of(front: Front, conversation: str) -> list[Any]:
    return await front.store.turns(conversation, 1000)


async def stored_by(front: Front, content: Any) -> list[Any]:
    """Post a turn, and return the contents that are stored."""
    begun = await front.ask(content)
    await front.ended(begun["turn"])
    return [block.content for block in await front.store.blocks(begun["user_turn"])]


def echo(count: int = 100) -> Paced:
    return Paced([answer("Hi.")] * count)


# -- contents ----------------------------------------------------------------------------------------------------------

SAMPLES: dict[str, dict[str, Any]] = {
    "text": {"text": "Hi."},
    "data": {"data": PNG, "media_type": "image/png", "name": "a.png"},
    "uri": {"uri": "https://example.com/a?b#c", "media_type": "image/png", "name": "a", "kind": "image"},
    "hosted_file": {"file_id": "file_1", "media_type": "application/pdf", "name": "a.pdf", "kind": "document"},
    "tool_approval_response": {"request_id": "nobody", "approved": True},
    "input_response": {"request_id": "nobody", "value": 1},
}
"""A content of each type that a client may send."""
REQUIRED: dict[str, Any] = {
    "vector_store_id": "vs",
    "source": {"type": "text", "text": "x"},
    "api": "anthropic-messages",
    "block": {"type": "tool_use", "id": "c1", "name": "book", "input": {}},
    "usage": {"input_tokens": 1},
    "request_id": "c1",
}


@pytest.mark.slow
def test_server_refuses_every_content_type_that_is_not_accepted(path: str) -> None:
    """The test covers every type of the model that is not in the table, and so future types too."""

    async def go() -> None:
        async with serving(path, echo()) as front:
            for known in CONTENT_TYPES:
                if known.__struct_config__.tag not in SAMPLES:
                    await every_shape(front, known)
            assert await front.store.conversations() == []

    async def every_shape(front: Front, known: Any) -> None:
        kind = known.__struct_config__.tag
        fields = {f.name: REQUIRED.get(f.name, "x") for f in msgspec.structs.fields(known) if f.required}
        for content in ({"type": kind}, {"type": kind, **fields}, {"type": kind, "call_id": "c1", "outputs": []}):
            message = await refused(front, {"content": [{"type": "text", "text": "Hi."}, content]}, "$.content[1].type")
            assert all(accepted in message for accepted in ACCEPTED_TYPES)

    run(go())


def test_accepted_content_types_equal_the_types_of_the_samples() -> None:
    assert set(ACCEPTED_TYPES) == set(SAMPLES)


@pytest.mark.parametrize("kind", [kind if kind == "text" else slow(kind) for kind in sorted(SAMPLES)])
def test_server_refuses_undeclared_fields_of_contents(path: str, kind: str) -> None:
    """The test covers undeclared fields of the model's content, and fields that could set a role or an author."""

    async def go() -> None:
        known = next(c for c in CONTENT_TYPES if c.__struct_config__.tag == kind)
        sample = {"type": kind, **SAMPLES[kind]}
        fields = {f.name for f in msgspec.structs.fields(known)} - set(sample) - {"reason"}
        others = {"role", "origin", "author", "executor", "call_id", "name_", "api", "block", "arguments", "tool"}
        async with serving(path, echo()) as front:
            for name in fields | others:
                for value in ("x", None, {}, {"anthropic-messages": {"cache_control": {}}}):
                    fault_path = f"$.content[0].{name}"
                    await refused(front, {"content": [{**sample, name: value}]}, fault_path)
            assert await front.store.conversations() == []

    run(go())


@pytest.mark.parametrize("name", ["role", "origin", "author", "extra", "model", "instructions", "tools", "protected"])
def test_server_refuses_undeclared_fields_of_the_body(path: str, name: str) -> None:
    async def go() -> None:
        async with serving(path, echo()) as front:
            assert "unknown" in await refused(front, {"content": "Hi.", name: "assistant"}, f"$.{name}")

    run(go())


def test_server_stores_accepted_contents_unchanged(url: str) -> None:
    async def go() -> None:
        def uploads(request: Any, conversation: str, file_id: str) -> bool:
            return (conversation, file_id) == ("c", "file_1")

        async with serving(url, echo(), uploads=uploads) as front:
            kinds = ("text", "data", "uri", "hosted_file")
            assert await stored_by(front, [{"type": kind, **SAMPLES[kind]} for kind in kinds]) == [
                TextContent(text="Hi."),
                DataContent(data=PNG, media_type="image/png", name="a.png"),
                UriContent(uri="https://example.com/a?b#c", media_type="image/png", name="a", kind="image"),
                HostedFileContent(file_id="file_1", media_type="application/pdf", name="a.pdf", kind="document"),
            ]
            odd = "NUL \0, \U0001f600, \u202e, </script>"
            assert await stored_by(front, odd) == [TextContent(text=odd)]

    run(go())


NO_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"type": "text", "text": ""}, "text"),
    ({"type": "text", "text": None}, "text"),
    ({"type": "text", "text": ["x"]}, "text"),
    ({"type": "data", "data": "not base64!", "media_type": "image/png"}, "data"),
    ({"type": "data", "data": "", "media_type": "image/png"}, "data"),
    ({"type": "data", "data": PNG, "media_type": "png"}, "media_type"),
    ({"type": "data", "data": PNG, "media_type": "image/png\r\nX: y"}, "media_type"),
    ({"type": "data", "data": PNG, "media_type": "image/png\n"}, "media_type"),
    ({"type": "data", "data": PNG, "media_type": "image/png", "name": "a\nb"}, "name"),
    ({"type": "data", "data": PNG, "media_type": "image/png", "name": "a" * 501}, "name"),
    ({"type": "uri", "uri": "file:///etc/passwd"}, "uri"),
    ({"type": "uri", "uri": "javascript:alert(1)"}, "uri"),
    ({"type": "uri", "uri": "data:text/html,x"}, "uri"),
    ({"type": "uri", "uri": "gs://bucket/object"}, "uri"),
    ({"type": "uri", "uri": "https:"}, "uri"),
    ({"type": "uri", "uri": "https://"}, "uri"),
    ({"type": "uri", "uri": "https://["}, "uri"),
    ({"type": "uri", "uri": "//example.com"}, "uri"),
    ({"type": "uri", "uri": " https://example.com"}, "uri"),
    ({"type": "uri", "uri": "https://example.com/\nx"}, "uri"),
    ({"type": "uri", "uri": "https:\\\\example.com"}, "uri"),
    ({"type": "uri", "uri": "https://example.com/" + "x" * 8_000}, "uri"),
    ({"type": "uri", "uri": "https://example.com", "kind": "page"}, "kind"),
    ({"type": "uri", "uri": "https://example.com", "kind": ""}, "kind"),
    ({"type": "hosted_file", "file_id": "x", "kind": ["image"]}, "kind"),
    ({"type": "hosted_file", "file_id": "x" * 501}, "file_id"),
    ({"type": "hosted_file", "file_id": "a b"}, "file_id"),
    ({"type": "hosted_file", "file_id": ""}, "file_id"),
    ({"type": "tool_approval_response", "request_id": "", "approved": True}, "request_id"),
    ({"type": "tool_approval_response", "request_id": "x" * 501, "approved": True}, "request_id"),
    ({"type": "tool_approval_response", "request_id": "x", "approved": 1}, "approved"),
    ({"type": "tool_approval_response", "request_id": "x", "approved": "true"}, "approved"),
]


def test_server_refuses_invalid_values_of_contents(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo(), uploads=lambda *_: True) as front:
            for content, field in NO_VALUES:
                await refused(front, {"content": [content]}, f"$.content[0].{field}")

    run(go())


def test_server_accepts_only_the_given_link_schemes(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo(), link_schemes=["GS"]) as front:
            assert await stored_by(front, [{"type": "uri", "uri": "gs://b/o"}]) == [UriContent(uri="gs://b/o")]
            await refused(front, {"content": [{"type": "uri", "uri": "https://example.com"}]}, "$.content[0].uri")

    run(go())


@pytest.mark.parametrize("uploaded", [None, False, 1, "yes"])
def test_server_refuses_hosted_files_unless_uploads_returns_true(path: str, uploaded: Any) -> None:
    async def go() -> None:
        async def uploads(request: Any, conversation: str, file_id: str) -> Any:
            return uploaded

        async with serving(path, echo(), uploads=None if uploaded is None else uploads) as front:
            file = {"type": "hosted_file", "file_id": "file_1"}
            await refused(front, {"content": [{"type": "text", "text": "x"}, file]}, "$.content[1].file_id")

    run(go())


BROKEN: list[tuple[bytes, str]] = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"\xef\xbb\xbf{}", "not JSON"),
    (b"\xff\xfe{\0}\0", "not JSON"),
    (b"null", "Expected `object`"),
    (b'{"content": "\xff"}', "not JSON"),
    (b'{"content": "\\ud800"}', "not JSON"),
    (b'{"content": [{"type": "text", "text": "\\udfff"}]}', "not JSON"),
    (b'{"\\ud800": 1, "content": "x"}', "not JSON"),
    (b'{"content": "x", "idempotency_key": "\\ud800"}', "not JSON"),
    (b'{"content": NaN}', "not JSON"),
    (b'{"content": 1e999}', "content"),
    (b'{"content": "x"} {}', "not JSON"),
    (b"[" * 100_000, "Expected `object`"),
    (b'{"content": ' + b"[" * 100_000, "nested too deeply"),
    (b'{"content": [' + b'{"a": ' * 100_000, "nested too deeply"),
    (b'{"content": "x", "previous": "start of the conversation"}', "id of a turn"),
    (b'{"content": "x", "previous": "\\u0000"}', "id of a turn"),
    (b'{"content": "x", "previous": "' + b"x" * 501 + b'"}', "id of a turn"),
    (b'{"content": "x", "previous": ""}', "id of a turn"),
    (b'{"content": "x", "idempotency_key": "' + b"x" * 201 + b'"}', "1 to 200"),
    (b'{"content": [' + b",".join([b"{}"] * 101) + b"]}", "at most length 100"),
]


def test_server_refuses_invalid_bodies(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo()) as front:
            for body, message in BROKEN:
                error = (await post(front, TURNS, body, 400))["error"]
                assert message in json.dumps(error, ensure_ascii=False), body[:100]
            assert await front.store.conversations() == []
            # The server still works.
            await front.ended((await front.ask())["turn"])

    run(go())


# -- approvals and inputs ----------------------------------------------------------------------------------------------


class Booking:
    """A tool that waits for approval, under a name and a request id that differ from each other."""

    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool(approval=True)
        def book(city: str) -> str:
            """Books a hotel."""
            self.ran.append(city)
            return f"Booked {city}."

        script = [answer(call("book", f"call_{n}", city=f"city_{n}")) for n in range(2)]
        self.runner = AsyncToolRunner(Paced([*script, *[answer("Done.")] * 10]), [book])


@asynccontextmanager
async def booking(url: str, **settings: Any) -> AsyncIterator[tuple[Front, Booking, dict[str, Any]]]:
    """Yield a conversation "c" whose last turn asks for approval of the call call_0."""
    booked = Booking()
    async with serving(url, booked.runner, **settings) as front:
        response = await front.http.post(TURNS, json={"content": "Book a hotel."}, headers={"x-user": "c"})
        await front.ended(response.json()["turn"])
        yield front, booked, response.json()


def approval(request_id: str = "call_0", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_approval_response", "request_id": request_id, "approved": True, **fields}


def test_server_refuses_results_of_calls_from_clients(path: str) -> None:
    async def go() -> None:
        async with booking(path) as (front, booked, _):
            result = {"type": "function_result", "call_id": "call_0", "outputs": [{"type": "text", "text": "Booked."}]}
            for content in (
                result,
                {**result, "type": "custom_tool_result"},
                {**result, "type": "hosted_tool_result", "executor": "client"},
                {**result, "type": "unknown", "api": "anthropic-messages", "block": {"type": "tool_result"}},
                {**result, "type": "text", "text": "x"},
                {"type": "text", "text": "x", "extra": {"turn-blocks": {":row": result}}},
            ):
                await post(front, TURNS, {"content": [content]}, 400)
            await post(front, TURNS, {"content": [approval(outputs=result["outputs"])]}, 400)
            assert len(await turns_of(front, "c")) == 2
            assert booked.ran == []

    run(go())


def test_approval_in_a_turn_is_matched_with_its_request(url: str) -> None:
    async def go() -> None:
        async with booking(url) as (front, booked, begun):
            assert await stored_by(front, [approval(reason="go")]) == [
                ToolApprovalResponseContent(request_id="call_0", approved=True, reason="go")
            ]
            assert booked.ran == ["city_0"]
            turns = await turns_of(front, "c")
            assert turns[2].previous == begun["turn"]

    run(go())


@pytest.mark.parametrize(
    "request_id", ["book", "city_0", "call_1", "CALL_0", "call_0 ", "call_0\0", "*", "$.call_0", "0"]
)
def test_approval_with_another_request_id_is_refused(path: str, request_id: str) -> None:
    async def go() -> None:
        async with booking(path) as (front, booked, begun):
            await post(front, TURNS, {"content": [approval(request_id)]}, 404)
            await post(front, f"/turns/{begun['turn']}/approvals", {request_id: True}, 404)
            # One wrong answer makes the server refuse all answers of the request.
            await post(front, f"/turns/{begun['turn']}/approvals", {"call_0": True, request_id: True}, 404)
            assert len(await turns_of(front, "c")) == 2
            assert booked.ran == []

    run(go())


@pytest.mark.parametrize(
    "fields",
    [
        {"arguments": {"city": "Rome"}},
        {"name": "transfer_money"},
        {"call_id": "call_0"},
        {"call": {"type": "function_call", "name": "book"}},
        {"server": "x"},
        {"executor": "provider"},
    ],
)
def test_approval_with_fields_beside_the_decision_is_refused(path: str, fields: dict[str, Any]) -> None:
    async def go() -> None:
        async with booking(path) as (front, booked, begun):
            await refused(front, {"content": [approval(**fields)]}, f"$.content[0].{next(iter(fields))}")
            url = f"/turns/{begun['turn']}/approvals"
            for decision in ({"approved": True, **fields}, [True], None, 1):
                await post(front, url, {"call_0": decision}, 400)
            assert booked.ran == []

    run(go())


def test_server_refuses_contradictory_approvals(path: str) -> None:
    async def go() -> None:
        async with booking(path) as (front, booked, begun):
            url = f"/turns/{begun['turn']}/approvals"
            twice = b'{"call_0": false, "call_0": true}'
            assert "twice" in (await post(front, url, twice, 400))["error"]["message"]
            one = b'{"type": "tool_approval_response", "request_id": "call_0", "approved": false, "approved": true}'
            assert "twice" in await refused(front, b'{"content": [' + one + b"]}", "$.content[0]")
            both = [approval(), approval(approved=False)]
            assert "two answers" in await refused(front, {"content": both}, "$.content")
            assert booked.ran == []

    run(go())


def test_approval_request_can_be_answered_only_once(url: str) -> None:
    async def go() -> None:
        async with booking(url) as (front, booked, begun):
            endpoint = f"/turns/{begun['turn']}/approvals"
            asking = [front.http.post(endpoint, json={"call_0": True}) for _ in range(4)]
            asking += [front.http.post(TURNS, json={"content": [approval()]}) for _ in range(4)]
            responses = await asyncio.gather(*asking)
            assert {response.status_code for response in responses} <= {201, 404, 409}
            assert sum(response.status_code == 201 for response in responses) == 1
            more = next(response.json() for response in responses if response.status_code == 201)
            await front.ended(more["turn"])
            assert booked.ran == ["city_0"]
            # After the same turn, in a branch, and after the turn that answered it.
            await post(front, endpoint, {"call_0": True}, 409)
            await post(front, TURNS, {"content": [approval()], "previous": begun["turn"]}, 409)
            await refused(front, {"content": [approval()], "previous": begun["turn"], "branch": True}, "$.branch")
            for previous in (None, more["turn"], more["user_turn"], begun["user_turn"]):
                await post(front, TURNS, {"content": [approval()], "previous": previous}, 404)
            await post(front, TURNS, {"content": [approval()]}, 404)
            for turn in (more["turn"], more["user_turn"], begun["user_turn"]):
                await post(front, f"/turns/{turn}/approvals", {"call_0": True}, 404)
            assert booked.ran == ["city_0"]

    run(go())


def test_approval_of_an_open_turn_is_refused(path: str) -> None:
    async def go() -> None:
        model = Paced([answer(call("book", "c1", city="Oslo"))], free=False)
        async with serving(path, model) as front:
            begun = await front.ask()
            await post(front, f"/turns/{begun['turn']}/approvals", {"c1": True}, 409)
            await post(front, TURNS, {"content": [approval("c1")]}, 409)
            model.let_all()

    run(go())


def owners(request: Any, conversation: str | None) -> bool:
    """Return whether the name of the conversation begins with the name of the user."""
    user = request.headers.get("x-user")
    return user is not None and (conversation is None or conversation.startswith(user))


def test_approval_by_another_user_or_in_another_conversation_is_refused(path: str) -> None:
    async def go() -> None:
        async with booking(path, authorize=owners) as (front, booked, begun):
            url = f"/turns/{begun['turn']}/approvals"
            await post(front, url, {"call_0": True}, 404, user="mallory")
            await post(front, TURNS, {"content": [approval()]}, 404, user="mallory")
            other = "/conversations/mallory/turns"
            await post(front, other, {"content": [approval()]}, 404, user="mallory")
            await post(front, other, {"content": [approval()], "previous": begun["turn"]}, 404, user="mallory")
            # This conversation has a request with another id.
            other_turn = await post(front, other, {"content": "Book."}, 201, user="mallory")
            await front.ended(other_turn["turn"])
            await post(front, f"/turns/{other_turn['turn']}/approvals", {"call_0": True}, 404, user="mallory")
            await post(front, other, {"content": [approval()]}, 404, user="mallory")
            assert booked.ran == []
            await post(front, url, {"call_0": "too dear"}, 201, user="c")

    run(go())


def test_input_response_is_matched_by_request_id_and_bounded(url: str) -> None:
    async def go() -> None:
        question = InputRequestContent(request_id="q1", message="How many?")
        ask = ToolApprovalRequestContent(request_id="q2", name="book")
        async with serving(url, Paced([answer(question, ask), *[answer("Fine.")] * 5])) as front:
            await front.ended((await front.ask())["turn"])
            reply = {"type": "input_response", "request_id": "q1", "value": {"extra": [1, "x", None, 2.5]}}
            await post(front, TURNS, {"content": [{**reply, "request_id": "q2"}]}, 404)
            await post(front, TURNS, {"content": [approval("q1")]}, 404)
            deep = b'{"type": "input_response", "request_id": "q1", "value": ' + b"[" * 60 + b"]" * 60 + b"}"
            assert "deep" in await refused(front, b'{"content": [' + deep + b"]}", "$.content[0].value")
            deeper = deep.replace(b"[", b"[" * 200).replace(b"]", b"]" * 200)
            assert "deep" in (await post(front, TURNS, b'{"content": [' + deeper + b"]}", 400))["error"]["message"]
            for value in (b"1e999", b"1" * 5000, b'{"a": 1, "a": 2}', b'"\xff"'):
                odd = b'{"type": "input_response", "request_id": "q1", "value": ' + value + b"}"
                await post(front, TURNS, b'{"content": [' + odd + b"]}", 400)
            long = {**reply, "value": "x" * 100_000}
            assert "100000 bytes" in await refused(front, {"content": [long]}, "$.content[0]")
            assert await stored_by(front, [reply]) == [InputResponseContent(request_id="q1", value=reply["value"])]
            await post(front, TURNS, {"content": [reply]}, 404)

    run(go())


# -- foreign and missing -----------------------------------------------------------------------------------------------

ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "/conversations/{conversation}/turns", None),
    ("GET", "/conversations/{conversation}/turns?blocks=true&limit=1", None),
    ("GET", "/conversations/{conversation}/turns?limit=x", None),
    ("HEAD", "/conversations/{conversation}/turns", None),
    ("GET", "/conversations/{conversation}/log", None),
    ("GET", "/conversations/{conversation}/log?turn={turn}", None),
    ("GET", "/conversations/{conversation}/log?limit=x", None),
    ("GET", "/conversations/mallory/log?turn={turn}", None),
    ("POST", "/conversations/{conversation}/turns", {"content": "Hi."}),
    ("POST", "/conversations/{conversation}/turns", {"content": 7}),
    ("POST", "/conversations/{conversation}/turns", {"content": "Hi.", "idempotency_key": "k"}),
    ("POST", "/conversations/{conversation}/turns", {"content": "Hi.", "previous": None}),
    ("POST", "/conversations/mallory/turns", {"content": "Hi.", "previous": "{turn}"}),
    ("POST", "/conversations/mallory/turns", {"content": [approval()], "previous": "{turn}"}),
    ("GET", "/conversations/mallory/turns?after={turn}", None),
    ("DELETE", "/conversations/{conversation}", None),
    ("GET", "/turns/{turn}", None),
    ("HEAD", "/turns/{turn}", None),
    ("GET", "/turns/{turn}/blocks", None),
    ("GET", "/turns/{turn}/events", None),
    ("GET", "/turns/{turn}/events?after=1000", None),
    ("GET", "/turns/{turn}/events?after=x", None),
    ("POST", "/turns/{turn}/interrupt", None),
    ("POST", "/turns/{turn}/approvals", {"call_0": True}),
    ("POST", "/turns/{turn}/approvals", {}),
    ("PUT", "/turns/{turn}", None),
]


def raises_forbidden(request: Any, conversation: str | None) -> bool:
    if not owners(request, conversation):
        raise HTTPException(403, f"{conversation} is not yours")
    return True


@pytest.mark.parametrize("authorize", [owners, slow(raises_forbidden)])
def test_responses_for_foreign_and_missing_resources_are_equal(path: str, authorize: Any) -> None:
    async def go() -> None:
        async with booking(path, authorize=authorize) as (front, _, begun):
            await post(front, "/conversations/mallory/turns", {"content": "Hi."}, 201, user="mallory")
            body = {"content": "Hi.", "idempotency_key": "k", "previous": begun["turn"]}
            await front.ended((await post(front, TURNS, body, 201, user="c"))["turn"])

            async def answered(method: str, url: str, body: Any, turn: str, conversation: str) -> tuple[Any, ...]:
                url = url.replace("{turn}", turn).replace("{conversation}", conversation)
                content = None if body is None else json.dumps(body).replace("{turn}", turn)
                headers = {"x-user": "mallory"} | ({} if body is None else {"content-type": "application/json"})
                response = await front.http.request(method, url, content=content, headers=headers)
                text = response.text.replace(turn, "{turn}").replace(f"'{conversation}'", "{conversation}")
                kept = {name: value for name, value in response.headers.items() if name != "date"}
                return response.status_code, kept, text

            missing = "0" * len(begun["turn"])
            for method, url, body in ROUTES:
                for turn in (begun["turn"], begun["user_turn"]):
                    foreign = await answered(method, url, body, turn, "c")
                    assert foreign == await answered(method, url, body, missing, "d"), (method, url)
                    assert foreign[0] == (405 if method == "PUT" else 404), (method, url)
            assert len(await turns_of(front, "c")) == 4

    run(go())


async def listed(front: Front, user: str, limit: int, **query: str) -> tuple[list[str], list[str]]:
    """Return the conversations of all pages, and the cursors between them."""
    names, cursors, cursor = [], [], {}
    while True:
        response = await front.http.get(
            "/conversations", params={"limit": limit, **query, **cursor}, headers={"x-user": user}
        )
        page = response.json()
        assert len(page["conversations"]) <= limit
        names += [conversation["id"] for conversation in page["conversations"]]
        if page["next"] is None:
            return names, cursors
        cursors.append(page["next"])
        cursor = {"after": page["next"]}


@pytest.mark.parametrize("most", [slow(1), 3, slow(7), slow(1000)])
@pytest.mark.parametrize("limit", [slow(1), 2, slow(50)])
def test_list_of_conversations_reveals_nothing_about_other_users(path: str, limit: int, most: int) -> None:
    async def go() -> None:
        async with serving(path, echo(), authorize=owners, limits=Limits(listed=most)) as front:
            names = [f"{user}-{n}" for n in range(4) for user in ("victim", "victim2", "ann", "bob")]
            for name in names:
                await front.store.add_turn(name, "user", [TextContent(text="x")])
            for user in ("ann", "bob", "nobody"):
                own_names = [name for name in names if name.startswith(user)]
                own, cursors = await listed(front, user, limit)
                assert own == own_names
                newest, more = await listed(front, user, limit, newest_first="true")
                assert newest == own_names[::-1]
                for cursor in cursors + more:
                    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
                    assert not any(name in cursor or name.encode() in raw for name in names)
            if most == 1000 and limit == 1:
                # The last page has no cursor, although conversations of other users follow.
                assert len((await listed(front, "ann", 1))[1]) == 3

    run(go())


def test_list_checks_a_bounded_number_of_conversations(path: str) -> None:
    asked: list[str | None] = []

    def authorize(request: Any, conversation: str | None) -> bool:
        asked.append(conversation)
        return conversation is None

    async def go() -> None:
        async with serving(path, echo(), authorize=authorize, limits=Limits(listed=20)) as front:
            for number in range(50):
                await front.store.add_turn(f"c{number}", "user", [TextContent(text="x")])
            page = await front.get("/conversations", limit=5)
            assert page["conversations"] == []
            assert page["next"] is not None
            assert len(asked) == 21

    run(go())


def test_list_refuses_cursors_of_another_server(path: str) -> None:
    async def go() -> None:
        cursors = []
        for secret in (b"a" * 32, b"b" * 32, b"a" * 32):
            async with serving(path, echo(), secret=secret) as front:
                for name in ("c1", "c2"):
                    if not cursors:
                        await front.store.add_turn(name, "user", [TextContent(text="x")])
                for cursor in cursors:
                    status = 200 if secret == b"a" * 32 and cursor is cursors[0] else 400
                    response = await front.http.get("/conversations", params={"after": cursor})
                    assert response.status_code in (status, 200 if secret == b"a" * 32 else 400)
                for odd in ("", "x", "\0", "\u00b2" * 10, "A" * 6000, cursors[0][:-2] if cursors else "~"):
                    await front.get("/conversations", 400, after=odd)
                cursors.append((await front.get("/conversations", limit=1))["next"])

    run(go())


ODD_NAMES = [
    "%00",
    "a%00b",
    "a%0Ab",
    "%FF",
    "%ED%A0%80",
    "x" * 501,
    "%E2%80%AE",
    "%7F",
    "..",
    "%2E%2E",
    "a%2Fb",
    "'",
    "%25s",
]


def test_server_refuses_or_does_not_find_unusual_names_in_paths(url: str) -> None:
    async def go() -> None:
        async with serving(url, echo()) as front:
            for name in ODD_NAMES:
                await everywhere(front, name)

    async def everywhere(front: Front, name: str) -> None:
        for method, endpoint in (
            ("GET", f"/conversations/{name}/turns"),
            ("GET", f"/conversations/{name}/log"),
            ("GET", f"/conversations/c/log?turn={name}"),
            ("DELETE", f"/conversations/{name}"),
            ("GET", f"/turns/{name}"),
            ("GET", f"/turns/{name}/events"),
            ("GET", f"/turns/{name}/blocks"),
            ("POST", f"/turns/{name}/interrupt"),
            ("GET", f"/conversations/c/turns?after={name}"),
        ):
            response = await front.http.request(method, endpoint)
            assert response.status_code in (400, 404, 405), (method, endpoint, response.text)
        response = await front.http.post(f"/conversations/{name}/turns", json={"content": "x"})
        assert response.status_code in (201, 400, 404, 405)

    run(go())


def test_server_refuses_invalid_event_ids(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo()) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            for number in ("x", "-1", "1.5", "1e3", "\u00b2", "9" * 19, "0x1", "1,2", "null"):
                response = await front.http.get(begun["events"], headers={b"last-event-id": number.encode()})
                assert response.status_code == 400, number

    run(go())


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_server_refuses_too_many_contents_with_a_bounded_number_of_faults(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo()) as front:
            for content in (b'{"type":"text","text":"x"}', b"{}", b"[]", b"0"):
                many = b'{"content": [' + b",".join([content] * 150_000) + b"]}"
                assert "at most length 100" in await refused(front, many, "$.content")
            several = {"content": [{"type": "text", "text": "x", "extra": {}}] * 100, "x": 1}
            faults = (await post(front, TURNS, several, 400))["error"]["faults"]
            assert len(faults) == 20
            names = b'{"content": "x"' + b"".join(b', "%d": 1' % n for n in range(300_000)) + b"}"
            assert len((await post(front, TURNS, names, 400))["error"]["faults"]) == 1

    run(go())


def test_errors_quote_a_bounded_part_of_the_request(path: str) -> None:
    async def go() -> None:
        long = "x" * 900_000
        async with serving(path, echo()) as front:
            for body in (
                {"content": "x", long: 1},
                {"content": "x", "previous": long},
                {"content": [{"type": long}]},
                {"content": [{"type": "text", "text": "x", long: 1}]},
                {"content": [{"type": "data", "data": PNG, "media_type": f"image/png;{long}"}]},
                {"content": [{"type": "data", "data": long + "!", "media_type": "image/png", "name": long}]},
                {"content": [{"type": "uri", "uri": long}]},
                {"content": [{"type": "hosted_file", "file_id": long}] * 5},
            ):
                assert len(json.dumps(await post(front, TURNS, body, 400))) < 8000
            name = "x" * 9000
            for url in (f"/turns/{name}", f"/conversations/{name}/turns", f"/conversations?limit={name}"):
                response = await front.http.get(url)
                assert response.status_code == 400
                assert len(response.content) < 1000

    run(go())


def test_server_applies_the_given_limits(path: str) -> None:
    async def go() -> None:
        limits = Limits(body_bytes=2000, answer_bytes=100, contents=2, key_length=3, id_length=40, running=1)
        model = Paced([answer("Hi.")] * 3, free=False)
        async with serving(path, model, limits=limits) as front:
            text = {"type": "text", "text": "x"}
            await refused(front, {"content": [text] * 3}, "$.content")
            await refused(front, {"content": "x", "idempotency_key": "long"}, "$.idempotency_key")
            await refused(front, {"content": "x", "previous": "x" * 41}, "$.previous")
            assert (await post(front, TURNS, b" " * 2001, 413))["error"]["code"] == "too_large"
            begun = await front.ask([text] * 2, idempotency_key="key")
            # Bodies of answers have a lower limit.
            await post(front, f"/turns/{begun['turn']}/approvals", {"x" * 100: True}, 413)
            assert (await post(front, "/conversations/d/turns", {"content": "x"}, 503))["error"][
                "code"
            ] == "unavailable"
            model.let_all()
            await front.ended(begun["turn"])
            await front.ended((await front.ask(conversation="d"))["turn"])

    run(go())


def test_limits_class_refuses_zero() -> None:
    with pytest.raises(ValueError, match="contents=0"):
        Limits(contents=0)


@pytest.mark.slow
def test_server_keeps_a_bounded_number_of_keys_without_bodies(path: str) -> None:
    async def go() -> None:
        model = echo()
        async with serving(path, model, limits=Limits(keys=20), hub=Hub(kept_turns=0)) as front:
            begun = {}
            tracemalloc.start()
            try:
                for number in range(25):
                    body = {"content": f"{number}" * 200_000, "conversation": f"c{number}", "idempotency_key": "k"}
                    begun[number] = await front.ask(**body)
                    await front.ended(begun[number]["turn"])
                model.requests.clear()
                gc.collect()
                held = tracemalloc.get_traced_memory()[0]
            finally:
                tracemalloc.stop()
            assert held < 2_000_000
            body = {"content": "24" * 200_000, "idempotency_key": "k"}
            assert (await post(front, "/conversations/c24/turns", body, 200))["turn"] == begun[24]["turn"]
            for other in ({"content": "x"}, {"previous": None}, {"branch": True}):
                await post(front, "/conversations/c24/turns", {**body, **other}, 409)
            # The first key is dropped: it begins a new turn.
            body = {"content": "x", "idempotency_key": "k"}
            await front.ended((await post(front, "/conversations/c0/turns", body, 201))["turn"])

    run(go())


def test_page_of_turns_with_blocks_is_bounded_in_bytes(path: str) -> None:
    async def go() -> None:
        async with serving(path, echo(), limits=Limits(page_bytes=25_000)) as front:
            for _ in range(10):
                await front.store.add_turn("c", "user", [TextContent(text="x" * 10_000)])
            seen: list[str] = []
            query: dict[str, Any] = {"blocks": "true"}
            while True:
                page = await front.get(TURNS, **query)
                assert 1 <= len(page["turns"]) <= 2
                seen += [turn["id"] for turn in page["turns"]]
                if page["next"] is None:
                    break
                query["after"] = page["next"]
            assert seen == [turn.id for turn in await turns_of(front, "c")]

    run(go())


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("wrong key sk-secret", status=401),
        HistoryError("the database at secret:5432 failed"),
        RuntimeError("secret"),
    ],
)
def test_clients_do_not_see_messages_of_internal_errors(path: str, error: Exception) -> None:
    async def go() -> None:
        async with serving(path, Paced([error])) as front:
            begun = await front.ask()
            client = Client(front, begun["turn"])
            await client.listen()
            assert isinstance(client.end, TurnError)
            assert "secret" not in client.end.error.message
            stored = await front.get(f"/turns/{begun['turn']}")
            assert "secret" not in json.dumps(stored)

    run(go())


# -- clients that keep connections open -------------------------------------------------------------------------------


class Stalled:
    """A raw client that sends given bytes, and reads only to check whether it is still connected."""

    def __init__(self, port: int, request: bytes) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(LONG)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall(request)

    def is_dropped(self) -> bool:
        """Return whether the received data has an end. An open connection has none."""
        try:
            while self.socket.recv(1 << 20):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        finally:
            self.socket.close()
        return True


def head(method: str, url: str, *more: str) -> bytes:
    return "\r\n".join([f"{method} {url} HTTP/1.1", "Host: x", *more, "", ""]).encode()


BIG = "x" * 3_000_000


def waits(method: str) -> Callable[[str], bytes]:
    return lambda turn: head(method, "/conversations/c/turns", "Content-Type: application/json", "Content-Length: 100")


STALLS: dict[str, Callable[[str], bytes]] = {
    "events": lambda turn: head("GET", f"/turns/{turn}/events"),
    "blocks": lambda turn: head("GET", f"/turns/{turn}/blocks"),
    "pages": lambda turn: head("GET", "/conversations/c/turns?blocks=true"),
    "pipelined": lambda turn: head("GET", f"/turns/{turn}/blocks") * 20,
    "body": waits("POST"),
    "body of a stream": lambda turn: head("GET", f"/turns/{turn}/events", "Content-Length: 100"),
}


async def transports(front: Front, count: int) -> list[Any]:
    """Wait for `count` connections of the server, and return their transports."""
    connections = front.server.server_state.connections
    await front.until(lambda: len(connections) >= count)
    return [connection.transport for connection in connections]


@pytest.mark.slow
@pytest.mark.parametrize("stall", [stall if stall == "events" else slow(stall) for stall in sorted(STALLS)])
def test_clients_that_never_read_are_disconnected(path: str, stall: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer(BIG)], size=100_000), patience=2.0) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            await front.http.aclose()
            connections = front.server.server_state.connections
            await front.until(lambda: not connections)
            stalled = [Stalled(front.port, STALLS[stall](begun["turn"])) for _ in range(20)]
            await transports(front, 20)
            # The sockets are closed on both sides, and the server has no tasks for them.
            await front.until(lambda: not connections)
            await front.until(lambda: not front.server.server_state.tasks)
            assert front.hub.find(begun["turn"]).followers == 0
            assert all([await asyncio.to_thread(client.is_dropped) for client in stalled])

    run(go())


@pytest.mark.slow
def test_clients_behind_middleware_are_disconnected(path: str) -> None:
    async def go() -> None:
        async def through(request: Any, call_next: Any) -> Any:
            return await call_next(request)

        async with serving(path, Paced([answer(BIG)], size=100_000), patience=2.0, middleware=through) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            await front.http.aclose()
            connections = front.server.server_state.connections
            await front.until(lambda: not connections)
            stalled = [Stalled(front.port, STALLS["events"](begun["turn"])) for _ in range(3)]
            await transports(front, 3)
            await front.until(lambda: not connections)
            assert all([await asyncio.to_thread(client.is_dropped) for client in stalled])

    run(go())


@pytest.mark.slow
def test_slow_client_that_reads_is_not_disconnected(path: str) -> None:
    async def go() -> None:
        async with serving(path, Paced([answer(BIG[:600_000])], size=100_000), patience=4.0) as front:
            begun = await front.ask()
            await front.ended(begun["turn"])
            slow = Stalled(front.port, head("GET", f"/turns/{begun['turn']}/blocks", "Connection: close"))

            def read() -> int:
                size = 0
                while data := slow.socket.recv(4096):
                    size += len(data)
                    # The whole takes longer than `patience`, which applies to each 64 kB.
                    threading.Event().wait(0.04)
                return size

            assert await asyncio.to_thread(read) > 600_000
            slow.socket.close()

    run(go())


SERVER = """
import sys
sys.path.insert(0, sys.argv[3])
import uvicorn
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import create_app
from scripted import answer
from test_server_app import Paced

app = create_app(sys.argv[1], AsyncToolRunner(Paced([answer("x" * 3_000_000)], size=100_000)), patience=3600, grace=0.5)
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""


@pytest.mark.slow
def test_clients_that_never_read_do_not_keep_a_server_from_stopping(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = str(Path(__file__).parent)
    server = subprocess.Popen([sys.executable, "-c", SERVER, path, str(port), here], stderr=subprocess.PIPE, text=True)
    stalled = []
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=LONG) as http:
            while server.poll() is None:
                with suppress(httpx2.ConnectError):
                    http.get("/conversations")
                    break
            begun = http.post(TURNS, json={"content": "x"}).json()
            while http.get(f"/turns/{begun['turn']}").json()["status"] == "open":
                pass
        for request in STALLS.values():
            stalled += [Stalled(port, request(begun["turn"])) for _ in range(3)]
        server.send_signal(signal.SIGTERM)
        errors = server.communicate(timeout=LONG)[1]
        assert "Traceback" not in errors
        assert server.returncode == -signal.SIGTERM
    finally:
        for client in stalled:
            client.socket.close()
        server.kill()
        server.wait()


@pytest.mark.parametrize("is_stopped", [True, False])
def test_request_ends_if_its_connection_cannot_be_aborted(is_stopped: bool) -> None:
    """If the transport of the server is not found, the application is cancelled and the server is notified."""

    async def go() -> None:
        left: list[str] = []
        connections = Connections(patience=3600 if is_stopped else 0.05, grace=0.05)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            try:
                await (receive() if is_stopped else send({"type": "http.response.body", "body": b"x"}))
            finally:
                left.append("app")

        async def never(*_: Any) -> Any:
            await asyncio.Event().wait()

        serving = asyncio.create_task(connections.serve(app, {"type": "http"}, never, never))
        await asyncio.sleep(0)
        if is_stopped:
            connections.stop()
        await asyncio.wait({serving}, timeout=LONG)
        assert isinstance(serving.exception(), TimeoutError)
        assert left == ["app"]

    run(go())


@pytest.mark.slow
def test_hub_close_returns_if_a_turn_ignores_its_cancellation(path: str, caplog: Any) -> None:
    async def go() -> None:
        hub, released = Hub(), asyncio.Event()

        async def events(cancellation: Any) -> AsyncIterator[Any]:
            while not released.is_set():
                with suppress(asyncio.CancelledError):
                    await released.wait()
            for never in ():
                yield never

        hub.begin("t", "c", events)
        await asyncio.sleep(0)
        await asyncio.wait_for(hub.close(0.05), LONG)
        assert "ignores its cancellation" in caplog.text
        released.set()

    run(go())
