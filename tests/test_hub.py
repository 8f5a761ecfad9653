"""Clients of a running turn get the same events, even if they lag, disconnect and reconnect."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import APIS
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Citation,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    StreamError,
    StreamEvent,
    TextContent,
    UnknownContent,
    Usage,
    fold,
    unfold,
)
from contentmodel.content import ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel.events import (
    BlockCatchUp,
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationDelta,
    Fold,
    MediaDelta,
    Notice,
    TextDelta,
    TurnComplete,
    TurnError,
    TurnStart,
    UsageDelta,
    WireEvent,
)
from contentmodel.server import EncodedEvent, EventReader, Hub, Log, Reader
from contentmodel.server.hub import FAILED, INTERRUPTED
from contentmodel.server.log import encoded_event
from contentmodel.server.sse import HEARTBEAT, NAMES, frame, frames, name_of
from contentmodel.server.transcript import prepared, sendable
from contentmodel.tools.cancellation import Cancellation
from contentmodel_conformance.strategies.transcripts import answers

END = TurnComplete(response=ChatResponse(id="r"), layout=[[[0]]])
HELLO = [
    TurnStart(response=ChatResponse(id="r")),
    BlockStart(index=0, content=TextContent(text="")),
    TextDelta(index=0, text="Hel"),
    TextDelta(index=0, text="lo"),
    BlockStop(index=0, content=TextContent(text="Hello")),
    END,
]


def log_of(events: list[StreamEvent], kept: int = 10**9) -> Log:
    log = Log(kept)
    for event in events:
        log.add(event)
    return log


def rest(reader: Reader, size: int = 10**9) -> list[EncodedEvent]:
    """Return all events that a reader has now."""
    events: list[EncodedEvent] = []
    while batch := reader.take(size):
        events += batch
    return events


def events_of(encoded: list[EncodedEvent]) -> list[StreamEvent]:
    return [one.event for one in encoded]


class Client:
    """A client that behaves as a browser: it collects events, and keeps the last id."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.fold = Fold()
        self.last = 0
        self.reconnect()

    def reconnect(self) -> None:
        self.reader = Reader(self._log, self.last)

    def read(self, size: int, lost: int = 0) -> bool:
        """Read a batch. If `lost` is not 0, the last `lost` events do not arrive, and the client reconnects."""
        batch = self.reader.take(size)
        arrived = batch[: max(len(batch) - lost, 0)]
        for one in arrived:
            self.fold.feed(one.event)
            self.last = self.last if one.id is None else one.id
        if lost:
            self.reconnect()
        return bool(batch)


@st.composite
def turns(draw: st.DrawFn) -> list[StreamEvent]:
    """Draw the events of a turn: interleaved blocks, later events about them, and other events."""
    events: list[StreamEvent] = [TurnStart(response=ChatResponse(id="r", model="m"))]
    open_blocks: list[int] = []
    stopped: list[int] = []
    count = 0
    for number, step in enumerate(draw(st.lists(st.integers(0, 9), max_size=30))):
        words = f"{number} é\n" * draw(st.integers(0, 3))
        if step <= 1 or not count:
            call = FunctionCallContent(call_id=f"c{count}", name="f", arguments="")
            events.append(BlockStart(index=count, content=call if step else TextContent(text="")))
            open_blocks.append(count)
            count += 1
        elif step <= 5 and open_blocks:
            index = draw(st.sampled_from(open_blocks))
            events.append(TextDelta(index=index, text=words))
        elif step == 6 and open_blocks:
            index = open_blocks.pop(draw(st.integers(0, len(open_blocks) - 1)))
            events.append(BlockStop(index=index, content=fold_of(events).content(index)))
            stopped.append(index)
        elif step == 7 and stopped:
            cited = Citation(title=words)
            events.append(CitationDelta(index=draw(st.sampled_from(stopped)), citation=cited))
        elif step == 8 and stopped:
            events.append(BlockCatchUp(index=draw(st.sampled_from(stopped)), content=TextContent(text=words)))
        else:
            other = [UsageDelta(usage=Usage(output_tokens=number)), Notice(kind="tool_use", text=words)]
            events.append(
                draw(st.sampled_from([*other, WireEvent(api="a", name="ping"), MediaDelta(index=0, data="")]))
            )
    layout = [[list(range(count))]]
    envelope = ChatResponse(id="r", choices=[ChatChoice(messages=[ChatMessage(role="assistant")])])
    ends = [
        TurnComplete(response=envelope, layout=layout),
        TurnError(error=ErrorContent(message="no"), response=envelope, layout=layout),
        TurnError(error=ErrorContent(message="no"), response=ChatResponse(id="r")),
    ]
    return [*events, draw(st.sampled_from(ends))]


def fold_of(events: list[StreamEvent]) -> Fold:
    gathered = Fold()
    for event in events:
        gathered.feed(event)
    return gathered


# -- clients that lag --------------------------------------------------------------------------------------------------


def follow_with_random_batches(data: st.DataObject, events: list[StreamEvent]) -> None:
    """Check that three clients that read and lose random batches have all events in the end."""
    log = Log(data.draw(st.integers(0, 600), label="kept"))
    clients = [Client(log) for _ in range(3)]
    steps = st.tuples(st.integers(0, 2), st.integers(1, 300), st.integers(0, 3))
    for number, event in enumerate(events):
        log.add(event)
        for number_of_client, size, lost in data.draw(st.lists(steps, max_size=3)):
            client = clients[number_of_client]
            client.read(size, lost)
            if not lost and not client.reader.take(1):
                assert client.fold.response == fold(events[: number + 1])
            elif not lost:
                # The batch taken for the check above did not arrive.
                client.reconnect()
    for client in [*clients, Client(log)]:
        while client.read(data.draw(st.integers(1, 400)), data.draw(st.sampled_from([0, 0, 0, 1]))):
            pass
        client.reconnect()
        while client.read(1):
            pass
        assert client.reader.is_over
        assert client.fold.response == fold(events)


@given(st.data(), turns())
def test_clients_that_lag_and_reconnect_receive_the_whole_turn(data: st.DataObject, events: list[StreamEvent]) -> None:
    follow_with_random_batches(data, events)


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_clients_that_lag_and_reconnect_receive_whole_answers_of_every_api(api: str, data: st.DataObject) -> None:
    response = data.draw(answers(api))
    follow_with_random_batches(data, list(unfold(response, size=data.draw(st.integers(1, 20)))))


@given(turns(), st.integers(0, 600), st.data())
def test_reader_can_resume_after_any_event_id(events: list[StreamEvent], kept: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(events)))
    log = log_of(events[:count], kept)
    for number in range(count + 1):
        client = fold_of(events[:number])
        for event in events_of(rest(Reader(log, number), 50)):
            client.feed(event)
        assert client.response == fold(events[:count])


@given(turns(), st.integers(1, 50))
def test_event_reader_is_independent_of_chunk_boundaries(events: list[StreamEvent], size: int) -> None:
    sent = b"".join(frames([one]) + HEARTBEAT for one in rest(Reader(log_of(events[:-1]))))
    reader = EventReader()
    read = [event for at in range(0, len(sent), size) for event in reader.feed(sent[at : at + size])]
    assert read == events[:-1]
    assert reader.last_event_id == str(len(events) - 1)


@given(turns(), st.data())
def test_last_event_id_is_that_of_the_last_complete_event(events: list[StreamEvent], data: st.DataObject) -> None:
    encoded = rest(Reader(log_of(events[:-1])))
    sent = b"".join(map(frame, encoded))
    cut = data.draw(st.integers(0, len(sent)))
    reader = EventReader()
    read = reader.feed(sent[:cut])
    assert int(reader.last_event_id or 0) == len(read)


# -- the log -----------------------------------------------------------------------------------------------------------


def test_event_ids_increase_by_one() -> None:
    assert [one.id for one in rest(Reader(log_of(HELLO[:5])))] == [1, 2, 3, 4, 5]


def test_reader_sends_kept_events_unchanged() -> None:
    log = log_of(HELLO)
    for number in range(1, 6):
        assert events_of(rest(Reader(log, number))) == HELLO[number:]
    assert Reader(log, 6).is_over


def test_reader_that_lags_too_far_gets_the_state() -> None:
    log = log_of(HELLO[:2], kept=60)
    reader = Reader(log, 2)
    for event in HELLO[2:4]:
        log.add(event)
    state = rest(reader)
    assert events_of(state) == [HELLO[0], BlockCatchUp(index=0, content=TextContent(text="Hello"), is_complete=False)]
    # Only the last event of the state has an id: a client has the state when it has all its events.
    assert [one.id for one in state] == [None, 4]
    log.add(HELLO[4])
    assert events_of(rest(reader))[-1:] == [BlockCatchUp(index=0, content=TextContent(text="Hello"))]


def test_state_sent_in_several_batches_is_consistent() -> None:
    two = [BlockStart(index=1, content=TextContent(text="")), TextDelta(index=1, text="a")]
    log = log_of([*HELLO[:4], *two], kept=0)
    client = Client(log)
    client.read(1)
    log.add(TextDelta(index=1, text="b"))
    while client.read(1):
        pass
    assert client.fold.response == fold([*HELLO[:4], *two, TextDelta(index=1, text="b")])


def test_reader_that_lags_again_gets_only_changed_blocks() -> None:
    log = log_of(HELLO[:5], kept=0)
    reader = Reader(log, 1)
    rest(reader)
    log.add(BlockStart(index=1, content=TextContent(text="more")))
    caught_up = [event for event in events_of(rest(reader)) if isinstance(event, BlockCatchUp)]
    assert [event.index for event in caught_up] == [1]


def test_reader_that_lags_gets_the_notices() -> None:
    notice = Notice(kind="tool_use", text="counting")
    log = log_of([HELLO[0], notice, *HELLO[1:5]], kept=0)
    assert notice in events_of(rest(Reader(log, 1)))
    assert notice not in events_of(rest(Reader(log, 2)))


def test_reader_of_an_ended_turn_gets_its_final_state() -> None:
    state = rest(Reader(log_of(HELLO)))
    assert events_of(state) == [HELLO[0], BlockCatchUp(index=0, content=TextContent(text="Hello")), END]
    assert state[-1].id == 6


@pytest.mark.parametrize("number", [7, 99, 10**17])
def test_reader_with_an_unknown_event_id_gets_the_state(number: int) -> None:
    assert fold(events_of(rest(Reader(log_of(HELLO), number)))) == fold(HELLO)


def test_log_keeps_a_bounded_number_of_bytes() -> None:
    log = Log(kept_bytes=1000)
    log.add(HELLO[0])
    log.add(HELLO[1])
    for number in range(1000):
        log.add(TextDelta(index=0, text=str(number) * 100))
        assert log.size <= 1000
    log.add(BlockStop(index=0, content=TextContent(text="x" * 10_000)))
    assert log.size == 0
    assert len(events_of(rest(Reader(log)))) == 2


def test_log_refuses_events_after_the_end_and_deltas_without_a_start() -> None:
    log = log_of(HELLO)
    with pytest.raises(StreamError, match="after the end"):
        log.add(HELLO[0])
    with pytest.raises(StreamError, match="has not started"):
        Log().add(TextDelta(index=3, text="x"))


def test_every_event_has_an_sse_name() -> None:
    assert {name_of(event) for event in HELLO} | {"block_catchup", "usage", "notice", "wire", "turn_error"} == set(
        NAMES.values()
    )
    assert frame(encoded_event(HELLO[2], 3)) == (
        b'id: 3\nevent: block_delta\ndata: {"type":"text_delta","index":0,"text":"Hel"}\n\n'
    )
    assert frames([]) == HEARTBEAT


# -- the hub -----------------------------------------------------------------------------------------------------------


async def played(*events: Any) -> AsyncGenerator[StreamEvent, None]:
    for event in events:
        await asyncio.sleep(0)
        if isinstance(event, Exception):
            raise event
        yield event


async def followed(live: Any, after: int = 0) -> list[StreamEvent]:
    return [one.event async for batch in live.follow(after) for one in batch]


def test_all_followers_receive_the_same_events() -> None:
    async def go() -> None:
        hub = Hub()
        live = hub.begin("t", "c", lambda cancellation: played(*HELLO))
        assert hub.running == 1
        received = await asyncio.gather(*(followed(live) for _ in range(5)))
        assert all(events == HELLO for events in received)
        await live.ended()
        assert (hub.running, live.followers, hub.find("t")) == (0, 0, live)
        assert await followed(live, 6) == []
        assert live.has_sent_all(6)

    asyncio.run(go())


def test_slow_or_leaving_follower_does_not_delay_the_turn() -> None:
    async def go() -> None:
        hub = Hub(kept_bytes=100)
        many = [TextDelta(index=0, text="x" * 50)] * 500
        events = [*HELLO[:2], *many, BlockStop(index=0, content=TextContent(text="x" * 25_000)), END]
        live = hub.begin("t", "c", lambda cancellation: played(*events))
        slow, leaves = live.follow(), live.follow()
        first = [one.event for one in await anext(slow)]
        await anext(leaves)
        await leaves.aclose()
        await live.ended()
        assert live.followers == 1
        assert live.log.size <= 100
        later = [one.event async for batch in slow for one in batch]
        assert len(later) < 10
        assert fold([*first, *later]) == fold(events)

    asyncio.run(go())


def test_follower_gets_empty_batches_while_no_event_arrives() -> None:
    async def go() -> None:
        gate = asyncio.Event()

        async def events(cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
            yield HELLO[0]
            await gate.wait()
            for event in HELLO[1:]:
                yield event

        following = Hub().begin("t", "c", events).follow(patience=0.001)
        seen: list[Any] = []
        while [] not in seen[1:]:
            seen.append(await anext(following))
        gate.set()
        seen += [batch async for batch in following]
        assert [one.event for batch in seen for one in batch] == HELLO

    asyncio.run(go())


def test_followers_get_an_internal_error_without_its_message(caplog: Any) -> None:
    async def go() -> list[StreamEvent]:
        live = Hub().begin("t", "c", lambda cancellation: played(HELLO[0], HELLO[1], ValueError("the password is x")))
        return await followed(live)

    with caplog.at_level(logging.ERROR):
        events = asyncio.run(go())
    assert events[-1] == TurnError(error=FAILED, response=ChatResponse(id="r"))
    assert "the password" in caplog.text


def test_hub_interrupts_the_turn_if_its_events_have_no_end() -> None:
    async def go(*events: StreamEvent) -> list[StreamEvent]:
        return await followed(Hub().begin("t", "c", lambda cancellation: played(*events)))

    assert asyncio.run(go(*HELLO[:3]))[-1] == TurnError(error=INTERRUPTED, response=ChatResponse(id="r"))
    assert [type(event) for event in asyncio.run(go())] == [TurnStart, TurnError]


async def until_cancelled(cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
    cancelled = asyncio.Event()
    with cancellation.watched(cancelled.set):
        yield HELLO[0]
        await cancelled.wait()


async def uncancellable(cancellation: Cancellation) -> AsyncGenerator[StreamEvent, None]:
    yield HELLO[0]
    await asyncio.Event().wait()


@pytest.mark.parametrize("events", [until_cancelled, uncancellable])
def test_hub_close_ends_every_turn_and_notifies_followers(events: Any) -> None:
    async def go() -> None:
        hub = Hub()
        lives = [hub.begin(f"t{number}", "c", events) for number in range(3)]
        following = [asyncio.create_task(followed(live)) for live in lives]
        await asyncio.sleep(0)
        await hub.close(grace=0.01)
        for task in following:
            assert (await task)[-1].error == INTERRUPTED
        late = hub.begin("late", "c", until_cancelled)
        assert (await followed(late))[-1].error == INTERRUPTED
        assert hub.running == 0

    asyncio.run(go())


def test_hub_forgets_ended_turns_beyond_its_limit() -> None:
    async def go() -> None:
        hub = Hub(kept_turns=2)
        for number in range(4):
            await hub.begin(f"t{number}", f"c{number}", lambda cancellation: played(*HELLO)).ended()
        assert [hub.find(f"t{number}") is None for number in range(4)] == [True, True, False, False]
        hub.forget("c3")
        assert [hub.find(f"t{number}") is None for number in range(4)] == [True, True, False, True]

    asyncio.run(go())


# -- transcripts -------------------------------------------------------------------------------------------------------

CALL = FunctionCallContent(call_id="c1", name="book", arguments={})
OTHER = FunctionCallContent(call_id="c2", name="book", arguments={})
ASKED = ToolApprovalRequestContent(request_id="c1", name="book")
APPROVED = ToolApprovalResponseContent(request_id="c1", approved=True)
RESULT = FunctionResultContent(call_id="c1", outputs=[TextContent(text="ok")])
SECOND = FunctionResultContent(call_id="c2", outputs=[TextContent(text="ok")])


def message(role: str, *contents: Any) -> ChatMessage:
    return ChatMessage(
        role=role, contents=[TextContent(text=content) if isinstance(content, str) else content for content in contents]
    )


def test_sendable_removes_resolved_approvals() -> None:
    stored = [
        message("user", "q"),
        message("assistant", CALL, ASKED),
        message("tool", APPROVED, RESULT),
        message("assistant", "done"),
    ]
    assert sendable(stored) == [
        message("user", "q"),
        message("assistant", CALL),
        message("tool", RESULT),
        message("assistant", "done"),
    ]


def test_sendable_removes_approval_requests_of_calls_before_a_later_turn() -> None:
    mcp = ToolApprovalRequestContent(request_id="mcp_1", server="s")
    stored = [
        message("user", "q"),
        message("assistant", CALL, ASKED, mcp),
        message("user", APPROVED),
        message("assistant"),
        message("user", "q"),
    ]
    assert sendable(stored) == [
        message("user", "q"),
        message("assistant", CALL, mcp),
        message("assistant"),
        message("user", "q"),
    ]


def test_sendable_keeps_approvals_of_pending_calls() -> None:
    mcp = ToolApprovalRequestContent(request_id="mcp_1", server="s")
    stored = [message("assistant", CALL, ASKED, mcp), message("tool", APPROVED)]
    assert sendable(stored) == stored


def test_sendable_moves_results_behind_their_calls() -> None:
    stored = [
        message("assistant", OTHER, CALL),
        message("tool", SECOND),
        message("user", "words"),
        message("assistant"),
        message("user", "more"),
        message("tool", RESULT),
        message("assistant", "done"),
    ]
    assert sendable(stored) == [
        message("assistant", OTHER, CALL),
        message("tool", SECOND, RESULT),
        message("user", "words"),
        message("user", "more"),
        message("assistant", "done"),
    ]


@given(st.lists(st.sampled_from([CALL, OTHER, ASKED, APPROVED, RESULT, SECOND, TextContent(text="x")]), max_size=8))
def test_sendable_keeps_all_other_contents_and_is_idempotent(contents: list[Any]) -> None:
    stored = [message("assistant" if i % 2 else "user", content) for i, content in enumerate(contents)]
    sent = sendable(stored)
    assert sendable(sent) == sent
    of = [content for one in sent for content in one.contents]
    assert all(content in of for content in contents if content not in (ASKED, APPROVED))


def test_prepared_prefers_values_of_the_conversation_to_defaults() -> None:
    from contentmodel import ChatOptions

    defaults = ChatRequest(
        model="d", instructions=[TextContent(text="Be brief.")], options=ChatOptions(temperature=1, seed=4)
    )
    own = ChatRequest(model="m", options=ChatOptions(seed=0))
    made = prepared(own, defaults)
    assert (made.model, made.instructions) == ("m", defaults.instructions)
    assert made.options == ChatOptions(temperature=1, seed=0)
    assert prepared(ChatRequest(), defaults) == defaults


def test_event_reader_keeps_contents_of_an_unknown_type() -> None:
    unknown = UnknownContent(api="contentmodel", block={"type": "hologram", "x": 1})
    event = BlockCatchUp(index=0, content=unknown)
    encoded = frame(encoded_event(event, 1))
    assert b'"content":{"type":"hologram","x":1}' in encoded
    assert EventReader().feed(encoded) == [event]
    assert not isinstance(event, BlockDelta)
