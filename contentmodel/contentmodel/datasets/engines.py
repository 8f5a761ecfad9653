"""Engines: they call a function with each shard, in processes of this machine or in a Ray cluster."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.connection import wait as wait_for
from typing import Any, Literal, TypeAlias

import msgspec

from contentmodel.datasets.errors import JobError
from contentmodel.datasets.inputs import Shard
from contentmodel.datasets.reports import Report
from contentmodel.extras import needs_extra

Work: TypeAlias = Callable[[Shard], Report]
Engine: TypeAlias = Literal["local", "ray"]
Done: TypeAlias = tuple[Shard, Report]

_TICK = 0.5
"""The seconds between two counts of rows."""
_ATTEMPTS = 3
"""The number of times that workers may be killed before the job stops, if no shard is finished meanwhile."""


_counter: Any = None
"""The number of rows that all workers of this machine have read; None if they are not counted."""


def count_rows(number: int) -> None:
    """Add to the number of rows that the workers have read."""
    if _counter is not None:
        with _counter.get_lock():
            _counter.value += number


def run_shards(
    work: Work,
    shards: Sequence[Shard],
    engine: Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    on_rows: Callable[[int], object] | None = None,
) -> Iterator[Done]:
    """Yield each shard with its report when it is finished. Raise JobError if a shard cannot be finished.

    While processes of this machine work, `on_rows` is called twice a second with the number of rows that they have
    read. `workers` is the number of workers; default: one for each core. With 0, this process does the work, for tests.
    """
    if engine == "ray":
        return run_with_ray(work, shards, workers, address)
    if workers == 0:
        return ((shard, work(shard)) for shard in shards)
    return run_in_processes(work, shards, min(workers or _cores(), len(shards)), on_rows)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# -- processes of this machine -----------------------------------------------------------------------------------------


def run_in_processes(
    work: Work, shards: Sequence[Shard], workers: int, on_rows: Callable[[int], object] | None = None
) -> Iterator[Done]:
    """Run shards in processes. If a process is killed, start the processes again, with the shards that they had."""
    pending = dict.fromkeys(shards)
    attempts = _ATTEMPTS
    while pending:
        try:
            for shard, report in _run_in_pool(work, list(pending), workers, on_rows):
                del pending[shard]
                attempts = _ATTEMPTS
                yield shard, report
        except BrokenProcessPool:
            attempts -= 1
            if not attempts:
                names = ", ".join(shard.name for shard in islice(pending, workers))
                raise JobError(
                    f"a worker was killed {_ATTEMPTS} times (is there enough memory?) with these shards: {names}; "
                    "run the same command with fewer workers"
                ) from None


def _run_in_pool(
    work: Work, shards: Sequence[Shard], workers: int, on_rows: Callable[[int], object] | None
) -> Iterator[Done]:
    waiting = iter(shards)
    running: dict[Future[Report], Shard] = {}
    # Forked processes would inherit locks that threads of the parent hold.
    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    pool = ProcessPoolExecutor(workers, context, _begin_worker, (counter,))
    try:
        while True:
            while len(running) < 2 * workers and (shard := next(waiting, None)) is not None:
                running[pool.submit(work, shard)] = shard
            if not running:
                return
            finished, _ = wait(running, None if on_rows is None else _TICK, FIRST_COMPLETED)
            if on_rows is not None:
                on_rows(counter.value)
            for future in finished:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin_worker(counter: Any) -> None:
    """End this process when its parent ends, or when the terminal interrupts both."""
    global _counter
    _counter = counter
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


# -- Ray ---------------------------------------------------------------------------------------------------------------


def run_with_ray(work: Work, shards: Sequence[Shard], workers: int | None, address: str | None) -> Iterator[Done]:
    """Run shards as tasks of Ray Data, in the cluster at `address`, or on this machine.

    All nodes must reach the inputs and the output folder under the same paths.
    """
    with needs_extra("ray"):
        import ray
        import ray.data

    is_started = not ray.is_initialized()
    if is_started:
        options: dict[str, Any] = {} if address is not None else {"num_cpus": workers, "include_dashboard": False}
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        items = ray.data.from_items([{"index": index} for index in range(len(shards))], override_num_blocks=len(shards))
        tasks = items.map(_Task(work, shards), num_cpus=1, compute=ray.data.TaskPoolStrategy(size=workers))
        for row in tasks.iter_rows():
            if row["error"]:
                raise JobError(row["error"])
            yield shards[row["index"]], msgspec.json.decode(row["report"], type=Report)
    finally:
        if is_started:
            ray.shutdown()


class _Task:
    """The work on the shard of an index, as a function of rows of Ray Data. Ray repeats it if its worker is killed."""

    def __init__(self, work: Work, shards: Sequence[Shard]) -> None:
        self._work = work
        self._shards = shards

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        report, error = Report(), ""
        try:
            report = self._work(self._shards[row["index"]])
        except JobError as raised:
            error = str(raised)
        return {"index": row["index"], "report": msgspec.json.encode(report), "error": error}
