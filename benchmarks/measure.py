"""Time several implementations side by side, in rounds, so that a drift of the machine's speed affects all of them.

Nothing is pinned, and the garbage collector has its default settings.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], object]

# A sample repeats quick work until it takes this long, so that the cost of the clock is negligible.
_SAMPLE_SECONDS = 0.004
# Work that takes longer than this runs only in every tenth round.
_SLOW_SECONDS = 0.05


@dataclass(frozen=True)
class Timing:
    """Seconds for one run of the work: the best of all samples, and their median."""

    best: float
    median: float
    samples: int


def measure(
    contenders: Mapping[str, Work], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Time all contenders for about `seconds` in total, in rounds with a shuffled order."""
    repeats = {name: _repeats(work, clock) for name, work in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    rng = random.Random(0)
    started = time.perf_counter()
    number = 0
    while number < 5 or time.perf_counter() - started < seconds:
        # Shuffle, so that garbage of one contender does not always burden the same next one.
        rng.shuffle(order)
        for name in order:
            if number % 10 and samples[name][0] > _SLOW_SECONDS and len(samples[name]) * 10 > number:
                continue
            samples[name].append(_sample(contenders[name], repeats[name], clock))
        number += 1
    return {name: Timing(min(taken), statistics.median(taken), len(taken)) for name, taken in samples.items()}


def _sample(work: Work, repeats: int, clock: Callable[[], float]) -> float:
    runs = range(repeats)
    started = clock()
    for _ in runs:
        work()
    return (clock() - started) / repeats


def _repeats(work: Work, clock: Callable[[], float]) -> int:
    # Warm up: compile rows, import modules.
    work()
    once = _sample(work, 1, clock)
    return max(1, round(_SAMPLE_SECONDS / once))
