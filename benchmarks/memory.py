"""Measure the memory that converting a long stream takes, in a separate process for each pair of APIs.

    python benchmarks/memory.py anthropic-messages openai-chat 100

Prints the bytes read and written, and the growth of the process, as JSON. The stream is generated while it is read, and
the output is discarded, so that all growth is the converter's.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streams import ANTHROPIC, CHAT, GOOGLE, RESPONSES, endless

from contentmodel.streams import StreamConverter

CHUNK = 65_536
_SETTLED = 500_000
CASES = (
    (ANTHROPIC, CHAT),
    (ANTHROPIC, GOOGLE),
    (GOOGLE, ANTHROPIC),
    (GOOGLE, CHAT),
    (CHAT, ANTHROPIC),
    (CHAT, GOOGLE),
    (ANTHROPIC, RESPONSES),
    (RESPONSES, ANTHROPIC),
)
"""In the last two, values occur twice: the last event of Responses has the whole answer."""


@dataclass(frozen=True)
class Growth:
    """Bytes read and written, and the growth of the process in bytes after the first half megabyte."""

    read: int
    written: int
    grown: int


def measured(source: str, target: str, megabytes: int) -> Growth:
    """Measure a stream of this length in a separate process."""
    command = [sys.executable, __file__, source, target, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return Growth(**json.loads(done.stdout))


def _pass_through(source: str, target: str, megabytes: int) -> Growth:
    converter = StreamConverter(source, target)
    read = written = 0
    before = None
    for chunk in _chunks(source, megabytes * 1_000_000):
        read += len(chunk)
        written += len(converter.feed(chunk))
        if before is None and read > _SETTLED:
            # By now, rows are compiled and the allocator has its first arenas.
            before = _peak()
    written += len(converter.close())
    return Growth(read, written, _peak() - (before or 0))


def _chunks(source: str, size: int) -> Iterator[bytes]:
    waiting: list[bytes] = []
    length = 0
    for frame in endless(source, size):
        waiting.append(frame)
        length += len(frame)
        if length >= CHUNK:
            data = b"".join(waiting)
            end = length - length % CHUNK
            for at in range(0, end, CHUNK):
                yield data[at : at + CHUNK]
            waiting, length = [data[end:]], length - end
    yield b"".join(waiting)


def _peak() -> int:
    """Return the peak memory of the process in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():
        # On Linux, getrusage includes the memory of the parent at the start of this process.
        line = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    print(json.dumps(_pass_through(sys.argv[1], sys.argv[2], int(sys.argv[3])).__dict__))
