"""Load `contentmodel gateway` as a command: processes with one store, a stop under load, an upstream in cooldown.

    python benchmarks/gateway_operation.py                     500 streams of 6 seconds
    python benchmarks/gateway_operation.py --seconds 600       the long form: 10 minutes

A stream that is cut ends the run. Memory is that of all processes of the gateway: at a tenth of the time (so a minute
of the long form), and near the end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gateway as load
from report import Report, Table, milliseconds

RATE = 2.0
"""The events of a stream in a second."""
ASKED = 80
"""The requests of the measurement of the cooldown."""


@contextmanager
def serving(
    folder: Path, upstream: int, *, workers: int = 1, to: str = '"up"'
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the command with an upstream of Anthropic's API and a dead one. Yield its process and its port."""
    port = load._free_port()
    path = folder / "gateway.toml"
    path.write_text(
        f"""
        store = "{folder / "gateway.sqlite"}"
        drain_seconds = 3600
        cooldown = {{ failures = 1, seconds = 3600 }}
        limits = {{ requests = 4096 }}
        upstreams.up = {{ api = "{load.ANTHROPIC}", base_url = "http://127.0.0.1:{upstream}", key = "none" }}
        upstreams.dead = {{ api = "{load.ANTHROPIC}", base_url = "http://127.0.0.1:{load._free_port()}", key = "none" }}
        routes = [{{ to = {to} }}]
        """
    )
    command = [sys.executable, "-m", "contentmodel.cli", "gateway", str(path), "--port", str(port), "--quiet"]
    process = subprocess.Popen([*command, "--workers", str(workers)], stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(port)
        yield process, port
    finally:
        process.terminate()
        process.wait()


def _wait_until_ready(port: int) -> None:
    for _ in range(1200):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready").close()
            return
        time.sleep(0.05)
    raise SystemExit("the gateway did not start")


@contextmanager
def upstream_of(events: int) -> Iterator[int]:
    """Run the upstream, and yield its port."""
    port = load._free_port()
    process = subprocess.Popen([sys.executable, load.__file__, "--upstream", str(port), str(RATE), str(events)])
    try:
        load._wait_for(port)
        yield port
    finally:
        process.kill()
        process.wait()


def _memory(pid: int) -> float:
    """Return the memory of a process and of those that it started, in MB."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = 0.0
    with contextlib.suppress(OSError, StopIteration):
        own = load._status(pid, "VmRSS") / 1024
    return own + sum(_memory(int(child)) for child in children)


def measure_workers(workers: int, streams: int, seconds: float) -> tuple[str, ...]:
    """Measure streams through so many processes, which are stopped when half of the time is over."""
    seen, memory = load.Seen(), list[float]()

    async def main(process: subprocess.Popen[bytes], port: int) -> None:
        reading = [load.Client(port, load.CHAT, number, seen).read() for number in range(streams)]
        task = asyncio.create_task(load._all(reading))
        for part in range(10):
            await asyncio.sleep(seconds / 10)
            if part == 0:
                memory.append(_memory(process.pid))
            if part == 4:
                # A request that arrives later is refused.
                while len(seen.first) < streams and not task.done():
                    await asyncio.sleep(0.05)
                process.send_signal(signal.SIGTERM)
            if part == 8 and process.poll() is None:
                memory.append(_memory(process.pid))
        await task

    with (
        tempfile.TemporaryDirectory() as folder,
        upstream_of(round(seconds * RATE)) as upstream,
        serving(Path(folder), upstream, workers=workers) as (process, port),
    ):
        asyncio.run(main(process, port))
        code = process.wait()
    if code != 0 or seen.ended != streams:
        raise SystemExit(f"{streams - seen.ended} streams were cut, exit code {code}")
    return (
        f"{workers}",
        f"{streams}",
        milliseconds(statistics.median(seen.first)),
        milliseconds(statistics.median(seen.each)),
        milliseconds(load._high(seen.each)),
        f"{memory[0]:.0f} MB",
        f"{memory[-1]:.0f} MB",
    )


def measure_cooldown() -> list[tuple[str, ...]]:
    """Measure a request without and with an upstream in cooldown before the one that answers."""
    rows, medians = [], []
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    for name, to in (("no upstream in cooldown", '"up"'), ("one upstream in cooldown", '["dead", "up"]')):
        with (
            tempfile.TemporaryDirectory() as folder,
            upstream_of(1) as upstream,
            serving(Path(folder), upstream, to=to) as (_, port),
        ):
            times = []
            for _ in range(ASKED):
                request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body)
                began = time.monotonic()
                urllib.request.urlopen(request).read()
                times.append(time.monotonic() - began)
        medians.append(statistics.median(times[20:]))
        rows.append((name, milliseconds(medians[-1]), milliseconds(medians[-1] - medians[0])))
    return rows


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=load.SECONDS)
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    report = Report()
    columns = ("processes", "streams", "first event", "each event", "99%", "memory at 10%", "memory at 90%")
    table = Table(f"Streams of {given.seconds:g} seconds, one store; SIGTERM at half of the time cut none", columns)
    for workers in (1, 2, 4):
        table.row(*measure_workers(workers, given.streams, given.seconds))
    report.add(table)
    table = Table("An answer of 50 ms", ("", "time", "more"))
    for row in measure_cooldown():
        table.row(*row)
    report.add(table)


if __name__ == "__main__":
    main()
