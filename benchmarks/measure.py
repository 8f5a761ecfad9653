"""Times several ways of doing one thing side by side: all of them in every round, so that a machine's drift hits all.

Nothing is pinned, and the garbage collector is left as users have it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], object]

# A sample repeats quick work until it takes this long: the clock's own cost vanishes in it.
_SAMPLE_SECONDS = 0.004
# Work that takes longer than this joins only every tenth round.
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
    """Times every contender for about `seconds` in all, in rounds of all contenders in a shuffled order."""
    repeats = {name: _repeats(work, clock) for name, work in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    rng = random.Random(0)
    started = time.perf_counter()
    number = 0
    while number < 5 or time.perf_counter() - started < seconds:
        # Who leaves garbage to the next one is another one in every round.
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
    # The first run warms up: rows are compiled, modules imported.
    work()
    once = _sample(work, 1, clock)
    return max(1, round(_SAMPLE_SECONDS / once))
