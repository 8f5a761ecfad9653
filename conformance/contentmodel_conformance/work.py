"""Measure work without a clock: how often each line of Python runs, and how many bytes it allocates.

The cost of each line is compared at several sizes of the input. So a line with quadratic cost is found even if it is a
small part of the total.

Work in C that allocates nothing is not measured: `value in a_list`, `a_list.pop(0)`, `index`, `count`, a regular
expression that does not match, a comparison of two long equal strings. Copies made in C are measured (slices, joined
lists and strings, copies of objects), because they allocate. A string that CPython extends in place counts as a copy,
because CPython does not do so while it is traced.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import median_low
from types import CodeType, FrameType
from typing import Any, NamedTuple

Work = Callable[[], Any]
Place = tuple[str, int]
"""A file and a line number."""
Counts = Counter[Place]
"""The count of each place."""


class Growth(NamedTuple):
    """A place whose cost grows faster than the input: from `before` to `after`, where up to `limit` is allowed."""

    place: Place
    unit: str
    before: int
    after: int
    limit: int

    def __str__(self) -> str:
        name = "/".join(self.place[0].replace("\\", "/").rsplit("/", 2)[-2:])
        return f"{name}, line {self.place[1]}: {self.before} {self.unit} became {self.after}"


TOLERANCE = 1.6
"""The factor by which a cost may grow faster than the input between two sizes. Allows `n log n`."""
RUNS, FREE_RUNS = "runs of the line", 50
BYTES, FREE_BYTES = "bytes allocated by the line", 16_000
"""Costs up to these limits are free: tables grow in steps, and msgspec keeps short keys of objects."""
_FREE_DICTS, _HELD = 80, 10_000
"""The dicts that Python keeps for later use (Objects/dictobject.c of CPython 3.11), and those that are held from it."""
_SMALL = 512
"""Allocations below this many bytes are ignored in the largest input: they are not copies of large values."""


def line_runs(work: Work) -> Counts:
    """Return how often each line runs while `work` does, in this thread."""
    runs: dict[CodeType, list[int]] = {}
    tracers: dict[CodeType, Any] = {}

    def tracer_of(code: CodeType) -> Any:
        lines = runs[code] = []
        # A list is faster than a counter, and this function takes most of the time.
        append = lines.append

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                append(frame.f_lineno)
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
        for line, count in Counter(lines).items():
            counts[code.co_filename, line] += count
    return counts


def allocations(work: Work, least: int = _SMALL, *, exact: bool = False) -> Counts:
    """Return how many bytes each line allocates while `work` runs, in this thread.

    Allocations of a C function count for the line that calls it. Allocations below `least` bytes are ignored: Python
    caches small objects, so their count depends on what ran before. If `exact`, dicts are not taken from Python's list
    of free ones, which takes twice the time.
    """
    allocated: Counter[tuple[CodeType, int]] = Counter()
    measured, reset = tracemalloc.get_traced_memory, tracemalloc.reset_peak
    place: tuple[CodeType, int] | None = None
    before = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal place, before
        grown = measured()[1] - before
        if place is not None and grown >= least:
            allocated[place] += grown
        # After a return, allocations belong to the caller.
        after = frame.f_back if event == "return" else frame
        place = None if after is None else (after.f_code, after.f_lineno)
        empty()
        before = measured()[0]
        reset()
        return trace

    with _undisturbed(), _tracing_memory():
        empty = _free_list() if exact else _nothing
        sys.settrace(trace)
        work()
    counts: Counts = Counter()
    for (code, line), count in allocated.items():
        counts[code.co_filename, line] += count
    return counts


def _nothing() -> None:
    pass


def _free_list() -> Callable[[], None]:
    """Return a function that empties Python's list of free dicts, so that each new dict is an allocation.

    With that list, a line that makes 32 dicts allocates nothing, and one that makes 128 does.
    """
    dicts: list[Any] = [None] * _HELD
    measured = tracemalloc.get_traced_memory
    at = 0

    def take() -> int:
        nonlocal at
        at += 1
        if at == _HELD:
            dicts[:], at = [None] * _HELD, 0
        before = measured()[0]
        dicts[at] = {"": 0}
        return measured()[0] - before

    new = median_low([take() for _ in range(4 * _FREE_DICTS)])

    def empty() -> None:
        nonlocal at
        count = 0
        while take() < new and count < _FREE_DICTS:
            count += 1
        dicts[at], at = None, at - 1

    return empty


def superlinear(works: Sequence[Work], ratio: int, *, copies: bool = True) -> list[Growth]:
    """Return the places whose cost grows faster than the input, the worst first. Without `copies`, ignore allocations.

    Each of `works` has an input that is `ratio` times as large as the previous one. Each runs once before it is
    measured, to fill caches.
    """
    for work in works:
        work()
    growths = list(_growths([line_runs(work) for work in works], ratio, RUNS, FREE_RUNS))
    if copies:
        # The exact measurement takes longer: it only confirms.
        growths += _copies(works, ratio, exact=False) and _copies(works, ratio, exact=True)
    return sorted(growths, key=lambda growth: growth.limit / growth.after)


def _copies(works: Sequence[Work], ratio: int, *, exact: bool) -> list[Growth]:
    """Return the places whose allocations grow faster than the input.

    Skip the smallest input: most of its copies are too small. The smaller the input, the smaller are the copies that
    count: a list may reach the limit in the largest input only.
    """
    last = len(works) - 1
    least = [_SMALL // ratio ** (last - at) for at in range(len(works))]
    counts = [allocations(work, least[at], exact=exact) for at, work in enumerate(works) if at]
    return list(_growths(counts, ratio, BYTES, FREE_BYTES))


def _growths(counts: Sequence[Counts], ratio: int, unit: str, free: int) -> Iterator[Growth]:
    for small, large in pairwise(counts):
        for place, after in large.items():
            before = small[place]
            limit = int(ratio * TOLERANCE * before) + free
            if after > limit:
                yield Growth(place, unit, before, after, limit)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Run with the garbage collector, tracer and profiler off. Restores them afterwards."""
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
    """Run with tracemalloc on."""
    if tracemalloc.is_tracing():
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
