"""A process that writes to a store until it is killed, and prints what the store has confirmed.

    python writer.py run URL SEED        turns of the tool loop, one after the other, through `record`
    python writer.py hold URL NAME       one open turn with one block, and then nothing
    python writer.py append URL NAME N   N turns, each after the last one that this process saw; prints conflicts
    python writer.py session URL NAME N  N entries of a session that other processes add too, and N of its own

Each line of output is JSON. A block is printed after the store has returned, so every printed block must be stored.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from contentmodel import ChatResponse, FunctionCallContent, FunctionResultContent, Origin, ReasoningContent, TextContent
from contentmodel.content.base import Protected
from contentmodel.events import BlockStart, BlockStop, TextDelta, TurnComplete, TurnStart
from contentmodel.history import AsyncTurnStore, ClaudeSessionStore, ConflictError, TurnStore, record

CONVERSATION = "crash"
ORIGIN = Origin(api="anthropic-messages", issuer="anthropic", model="claude-opus-4-8")


def block(seed: int, number: int, index: int) -> Any:
    """Return the content of a block, deterministic by its numbers."""
    if index % 4 == 0:
        sealed = Protected(issuer="anthropic", kind="signature", data=f"c2ln{seed}{number}{index}")
        return ReasoningContent(text=f"thought {seed}.{number}.{index}", protected=sealed)
    if index % 4 == 1:
        return FunctionCallContent(call_id=f"call_{number}_{index}", name="f", arguments={"n": [seed, number, index]})
    if index % 4 == 2:
        text = f"result {seed}.{number}.{index}"
        return FunctionResultContent(call_id=f"call_{number}_{index - 1}", outputs=[TextContent(text=text)])
    return TextContent(text=f"text {seed}.{number}.{index} " + "x" * (seed % 5000))


def events(seed: int, number: int, count: int) -> Iterator[Any]:
    """Yield the events of one turn."""
    response = ChatResponse(model=ORIGIN.model, origin=ORIGIN)
    yield TurnStart(response=response)
    for index in range(count):
        content = block(seed, number, index)
        if isinstance(content, TextContent):
            yield BlockStart(index=index, content=TextContent(text=""))
            yield TextDelta(index=index, text=content.text)
        else:
            yield BlockStart(index=index, content=content)
        yield BlockStop(index=index, content=content)
    yield TurnComplete(response=response)


def report(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def run(url: str, seed: int) -> None:
    choose = random.Random(seed)
    with TurnStore.open(url) as store:
        number = len(store.turns(CONVERSATION, limit=100_000))
        while True:
            number += 1
            store.add_turn(CONVERSATION, "user", [TextContent(text=f"question {seed}.{number}")])
            turn = store.begin_turn(CONVERSATION, "assistant")
            report(turn=turn.id, number=number)
            for event in record(events(seed, number, choose.randrange(1, 9)), store, turn):
                if isinstance(event, BlockStop):
                    report(turn=turn.id, number=number, block=event.index)
            report(turn=turn.id, number=number, ended=True)


def hold(url: str, name: str) -> None:
    store = TurnStore.open(url)
    turn = store.begin_turn(name, "assistant")
    store.put_block(turn, 0, TextContent(text="first"))
    report(turn=turn.id)
    sys.stdin.readline()
    store.put_block(turn, 1, TextContent(text="second"))
    store.end_turn(turn)
    report(turn=turn.id, ended=True)
    store.close()


def append(url: str, name: str, count: int) -> None:
    with TurnStore.open(url) as store:
        done = 0
        while done < count:
            head = store.conversation(name).head
            try:
                turn = store.begin_turn(name, "user", previous=head)
                for index in range(3):
                    store.put_block(turn, index, TextContent(text=f"{store.writer}.{done}.{index}"))
                    time.sleep(0)
                store.end_turn(turn)
            except ConflictError as error:
                report(conflict=str(error))
                time.sleep(0.001)
                continue
            report(turn=turn.id, previous=turn.previous)
            done += 1


async def session(url: str, name: str, count: int) -> None:
    key = {"project_key": "project", "session_id": "session"}
    async with await AsyncTurnStore.open(url) as store:
        for number in range(count):
            shared = {"type": "shared", "uuid": f"shared-{number}"}
            await ClaudeSessionStore(store).append(key, [shared, {"type": name, "number": number}])


if __name__ == "__main__":
    command, database, *rest = sys.argv[1:]
    if command == "run":
        run(database, int(rest[0]))
    elif command == "hold":
        hold(database, rest[0])
    elif command == "session":
        asyncio.run(session(database, rest[0], int(rest[1])))
    else:
        append(database, rest[0], int(rest[1]))
