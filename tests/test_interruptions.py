"""A turn that is interrupted at any event can be continued on every API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing, suppress
from itertools import product
from typing import Any

import msgspec
import pytest

import contentmodel
from conftest import PROFILE, slow
from contentmodel import (
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.events import BlockStart, BlockStop, TurnComplete, TurnStart
from contentmodel.history import AsyncTurnStore, TurnStore, record
from contentmodel.runner import AsyncToolRunner
from contentmodel.server.runs import TurnRun
from contentmodel.tools import tool
from contentmodel.tools.cancellation import Cancellation
from scripted import AsyncScripted, answer, call

MODELS = {
    "anthropic-messages": "claude-opus-4-8",
    "bedrock-converse": "anthropic.claude-opus-4-8",
    "cohere-chat": "command-a-03-2025",
    "google-generate-content": "gemini-3-pro",
    "google-interactions": "gemini-3-pro",
    "mistral-chat": "mistral-large-latest",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.2",
}


FIRST = ("openai-chat", "cancel")
SOME = MODELS if PROFILE == "deep" else ("openai-chat", "anthropic-messages", "mistral-chat")


def origin_of(api: str) -> Origin:
    return Origin(api=api, issuer=contentmodel.adapter(api).issuer, model=MODELS[api], is_answer=True)


def assert_can_be_sent(request: ChatRequest, apis: Iterable[str] = MODELS) -> None:
    for api in apis:
        model = MODELS[api]
        adapter = contentmodel.adapter(api)
        payload = adapter.encode_request(request, model=model).payload
        violations = adapter.check_request(payload, model)
        assert [v for v in violations if v.severity in ("refused", "harmful")] == []


@pytest.mark.parametrize("api", MODELS)
def test_result_without_a_call_in_an_interrupted_turn_does_not_come_from_its_api(api: str) -> None:
    origin = origin_of(api)
    with TurnStore.open(":memory:") as store:
        store.add_turn("c", "user", [TextContent(text="Do it.")])
        turn = store.begin_turn("c", "assistant")
        store.put_block(turn, 0, FunctionCallContent(call_id="callcall0", name="f", arguments={}))
        for index, call_id in enumerate(("callcall0", "callcall9"), 1):
            result = FunctionResultContent(call_id=call_id, name="f", outputs=[TextContent(text="1")])
            store.put_block(turn, index, result)
        store.end_turn(turn, status="interrupted", origin=origin)
        store.add_turn("c", "user", [TextContent(text="Go on.")])
        request = store.load("c")
    assert [(message.role, message.origin) for message in request.messages[1:3]] == [
        ("assistant", origin),
        ("tool", None),
    ]
    assert_can_be_sent(request)


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def script(api: str) -> list[ChatResponse]:
    """Return the answers of a run: two with two calls each, and a text."""
    answers = [
        answer("Hm.", call("add", "call1call", a=1, b=20000), call("add", "call2call", a=3, b=4)),
        answer(call("add", "call3call", a=1, b=20000), call("add", "call4call", a=3, b=4)),
        answer("Done."),
    ]
    origin = origin_of(api)
    return [
        msgspec.structs.replace(
            made,
            origin=origin,
            model=origin.model,
            choices=[
                msgspec.structs.replace(
                    choice, messages=[msgspec.structs.replace(each, origin=origin) for each in choice.messages]
                )
                for choice in made.choices
            ],
        )
        for made in answers
    ]


async def interrupted(store: AsyncTurnStore, name: str, api: str, at: int, how: str) -> bool:
    """Run a turn and interrupt it after the event number `at`. Return whether it ended before."""
    await store.add_turn(name, "user", [TextContent(text="Add.")])
    turn = await store.begin_turn(name, "assistant")
    cancellation = Cancellation()
    runner = AsyncToolRunner(AsyncScripted(script(api)), [add])
    run = TurnRun(store, turn, runner, lambda request: msgspec.structs.replace(request, model=MODELS[api]))

    async def read() -> bool:
        events = run.events(cancellation)
        number = 0
        async with aclosing(events):
            async for event in events:
                number += 1
                if number == at and how == "cancel":
                    cancellation.cancel()
                elif number == at and how == "close":
                    return False
                elif number == at:
                    asyncio.current_task().cancel()  # type: ignore[union-attr]
                if isinstance(event, TurnComplete):
                    return True
        return False

    with suppress(asyncio.CancelledError):
        return await asyncio.create_task(read())
    return False


@pytest.mark.parametrize(
    ("api", "how"),
    [
        FIRST,
        *(slow(api, how) for api, how in product(SOME, ("cancel", "close", "task")) if (api, how) != FIRST),
    ],
)
def test_run_that_is_interrupted_at_any_event_can_be_continued(api: str, how: str) -> None:
    async def run() -> None:
        async with await AsyncTurnStore.open(":memory:") as store:
            step = 1 if PROFILE == "deep" else 3
            at, is_over = list(MODELS).index(api) % step, False
            while not is_over:
                at += step
                name = f"c{at}"
                is_over = await interrupted(store, name, api, at, how)
                await store.add_turn(name, "user", [TextContent(text="Go on.")])
                request = await store.load(name)
                contents = [content for message in request.messages for content in message.contents]
                calls = {content.call_id for content in contents if isinstance(content, ToolCallContent)}
                results = [content.call_id for content in contents if isinstance(content, ToolResultContent)]
                assert set(results) <= calls
                assert len(results) == len(set(results))
                assert_can_be_sent(request, MODELS if PROFILE == "deep" else [api])
            assert at > 20

    asyncio.run(run())


@pytest.mark.parametrize("api", MODELS)
def test_answer_that_broke_off_before_its_first_block_is_not_sent(api: str) -> None:
    cut = ChatMessage(role="assistant", origin=origin_of(api))
    asked, going_on = (ChatMessage(role="user", contents=[TextContent(text=text)]) for text in ("Add.", "Go on."))
    assert_can_be_sent(ChatRequest(messages=[asked, cut, going_on]))


def test_record_stores_a_result_after_its_call_even_if_it_was_complete_before() -> None:
    made = FunctionCallContent(call_id="1", name="f", arguments="")
    result = FunctionResultContent(call_id="1", outputs=[TextContent(text="x")])

    def events(*, is_complete: bool) -> Any:
        yield TurnStart(response=ChatResponse())
        yield BlockStart(index=0, content=made)
        yield BlockStart(index=1, content=result)
        yield BlockStop(index=1, content=result)
        if is_complete:
            yield BlockStop(index=0, content=made)
            yield TurnComplete(response=ChatResponse())

    with TurnStore.open(":memory:") as store:
        for is_complete in (True, False):
            turn = store.begin_turn(f"c{is_complete}", "assistant")
            for _ in record(events(is_complete=is_complete), store, turn):
                pass
            assert [block.sequence for block in store.blocks(turn)] == ([0, 1] if is_complete else [])
