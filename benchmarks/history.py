"""Measure the cost of a turn in conversations of 0 to 10,000 turns, and the cost of loading one.

    python benchmarks/history.py                      SQLite, in a temporary folder
    python benchmarks/history.py postgresql://...     PostgreSQL as well; leaves new conversations in the database

A turn is begun, gets three blocks, each in its own transaction, and is ended. The conversations are measured in rounds,
so that a drift of the machine's speed affects all of them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import tracemalloc
import uuid
from collections.abc import Callable
from pathlib import Path

from contentmodel import ChatMessage, FunctionCallContent, FunctionResultContent, TextContent
from contentmodel.history import TurnStore

SIZES = (0, 100, 1_000, 10_000)
ROUNDS = 60
BLOCKS = (
    FunctionCallContent(call_id="call_1", name="search", arguments={"query": "weather in Oslo"}),
    FunctionResultContent(call_id="call_1", outputs=[TextContent(text="Sunny. " * 50)]),
    TextContent(text="It is sunny. " * 50),
)


def main(arguments: list[str]) -> None:
    """Measure SQLite, and the PostgreSQL databases of `arguments`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, location in [("SQLite", str(Path(folder, "turns.db"))), *(("PostgreSQL", url) for url in arguments)]:
            with TurnStore.open(location) as store:
                report(name, store)


def report(name: str, store: TurnStore) -> None:
    """Print a table for one database."""
    conversations = {size: filled(store, size) for size in SIZES}
    taken: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS):
        for size, conversation in conversations.items():
            taken[size].append(seconds(lambda c=conversation: one_turn(store, c)))
    print(f"\n{name}: milliseconds\n")
    print("| turns before | a turn, median | a turn, 95 of 100 | load | stream, MB at most |")
    print("|---|---|---|---|---|")
    for size, conversation in conversations.items():
        median, slow = statistics.median(taken[size]), statistics.quantiles(taken[size], n=20)[-1]
        load = seconds(lambda c=conversation: store.load(c))
        held = peak(lambda c=conversation: sum(1 for _ in store.stream(c)))
        print(f"| {size:,} | {median * 1e3:.1f} | {slow * 1e3:.1f} | {load * 1e3:.0f} | {held / 1e6:.1f} |")


def filled(store: TurnStore, size: int) -> str:
    """Add a conversation of `size` turns. Return its id."""
    conversation = f"{size} turns {uuid.uuid4().hex}"
    for at in range(0, size, 1_000):
        count = min(1_000, size - at)
        roles = ["user" if index % 2 == 0 else "assistant" for index in range(count)]
        store.add_messages(
            conversation, [ChatMessage(role=role, contents=[TextContent(text="words " * 40)]) for role in roles]
        )
    return conversation


def one_turn(store: TurnStore, conversation: str) -> None:
    """Begin a turn, write its blocks, and end it."""
    turn = store.begin_turn(conversation, "assistant")
    for sequence, content in enumerate(BLOCKS):
        store.put_block(turn, sequence, content)
    store.end_turn(turn, stop_reason="stop")


def seconds(work: Callable[[], object]) -> float:
    """Return the time that the work takes, in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak(work: Callable[[], object]) -> int:
    """Return the peak of memory that Python allocates during the work, in bytes."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


if __name__ == "__main__":
    main(sys.argv[1:])
