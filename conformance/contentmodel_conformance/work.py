"""Counting work, without a clock: how often each line of Python runs, and how many bytes it allocates.

Every line is compared with itself at several sizes of the input, so that one whose cost grows with the square of the
input is found while it is still a small part of the whole.

What this cannot see is work that is done in C and allocates nothing: `value in a_list`, `a_list.pop(0)`, `index`,
`count`, a pattern that fails to match, a comparison of two long equal texts. What C copies is seen (slices, joined
lists and texts, copies of objects), for a copy is allocated; but a text that CPython makes longer in place is counted
as a copy, for it does so only while it is not traced.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

Work = Callable[[], Any]
Place = tuple[str, int]
"""A file, and a line of it."""
Counts = Counter[Place]
"""What was counted at each place."""


class Growth(NamedTuple):
    """A place whose cost grows faster than the input: from how much to how much, where `limit` is allowed."""

    place: Place
    unit: str
    before: int
    after: int
    limit: int

    def __str__(self) -> str:
        name = "/".join(self.place[0].replace("\\", "/").rsplit("/", 2)[-2:])
        return f"{name}, line {self.place[1]}: {self.before} {self.unit} became {self.after}"


TOLERANCE = 1.6
"""How much faster than the input a cost may grow from one size to the next: `n log n` is allowed."""
RUNS, FREE_RUNS = "runs of the line", 50
BYTES, FREE_BYTES = "bytes allocated by the line", 6_000
"""Costs up to these limits are free: tables grow in steps."""
_SMALL = 512
"""What is allocated in less than so many bytes at a time is no copy of something large."""


def line_runs(work: Work) -> Counts:
    """Return how often each line runs while `work` does, in this thread."""
    runs: dict[CodeType, Counter[int]] = {}
    tracers: dict[CodeType, Any] = {}

    def tracer_of(code: CodeType) -> Any:
        lines = runs[code] = Counter()

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                lines[frame.f_lineno] += 1
            return trace

        return trace

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        tracer = tracers.get(code)
        if tracer is None:
            tracer = tracers[code] = tracer_of(code)
        return tracer

    with _undisturbed():
        sys.settrace(enter)
        work()
    counts: Counts = Counter()
    for code, lines in runs.items():
        for line, count in lines.items():
            counts[code.co_filename, line] += count
    return counts


def allocations(work: Work) -> Counts:
    """Return how many bytes each line allocates while `work` runs, in this thread.

    What a function written in C allocates belongs to the line that called it. Small allocations do not count: Python
    keeps small objects for later use, so whether one is allocated depends on what ran before.
    """
    allocated: Counter[tuple[CodeType, int]] = Counter()
    measured, reset = tracemalloc.get_traced_memory, tracemalloc.reset_peak
    place: tuple[CodeType, int] | None = None
    before = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal place, before
        grown = measured()[1] - before
        if place is not None and grown >= _SMALL:
            allocated[place] += grown
        # After a return, the caller goes on.
        after = frame.f_back if event == "return" else frame
        place = None if after is None else (after.f_code, after.f_lineno)
        before = measured()[0]
        reset()
        return trace

    with _undisturbed(), _tracing_memory():
        sys.settrace(trace)
        work()
    counts: Counts = Counter()
    for (code, line), count in allocated.items():
        counts[code.co_filename, line] += count
    return counts


def superlinear(works: Sequence[Work], ratio: int, *, copies: bool = True) -> list[Growth]:
    """Return the places whose cost grows faster than the input, the worst first. Without `copies`, only lines count.

    Each of `works` has an input that is `ratio` times as large as the one before. Each is run once without being
    counted, so that what is made once (compiled patterns, caches) is there.
    """
    for work in works:
        work()
    found = list(_growths([line_runs(work) for work in works], ratio, RUNS, FREE_RUNS))
    if copies:
        # The smallest input is no measure of bytes: most of its copies are too small to be counted.
        found += _growths([allocations(work) for work in works[1:]], ratio, BYTES, FREE_BYTES)
    return sorted(found, key=lambda growth: growth.limit / growth.after)


def _growths(counts: Sequence[Counts], ratio: int, unit: str, free: int) -> Iterator[Growth]:
    for small, large in pairwise(counts):
        for place, after in large.items():
            before = small[place]
            limit = int(ratio * TOLERANCE * before) + free
            if after > limit:
                yield Growth(place, unit, before, after, limit)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Run with the garbage collector off, and put back the tracer and the profiler that were set before."""
    collects, tracer, profiler = gc.isenabled(), sys.gettrace(), sys.getprofile()
    gc.disable()
    sys.settrace(None)
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
        if collects:
            gc.enable()


@contextmanager
def _tracing_memory() -> Iterator[None]:
    """Run with allocations traced."""
    if tracemalloc.is_tracing():
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
