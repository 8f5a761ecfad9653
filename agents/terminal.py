"""Run an agent in a terminal of its own, and type into it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from servers import EndedProcess, end_session

ENTER, ESCAPE, DOWN, UP = "\r", "\x1b", "\x1b[B", "\x1b[A"
QUIET = 1.5
"""The time without output after which an agent waits for input, in seconds."""
_CONTROL = re.compile(r"\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])")


class Terminal:
    """A terminal with an agent in it."""

    def __init__(self, process: subprocess.Popen[bytes], handle: int, limit: float) -> None:
        self.process, self._handle = process, handle
        self._end = time.monotonic() + limit
        self.output = ""

    def read(self, seconds: float) -> bool:
        """Read what the agent writes within some seconds. Return False if it writes nothing."""
        ready, _, _ = select.select([self._handle], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._handle, 65536)
        except OSError:
            return False
        self.output += _CONTROL.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def wait(self, text: str) -> None:
        """Wait until the agent writes a text. Raises TimeoutError."""
        while text not in self.output:
            self.read(0.2)
            if time.monotonic() > self._end or self.process.poll() is not None:
                raise TimeoutError(f"the agent did not write {text!r}, but {self.output[-500:]!r}")

    def wait_until_quiet(self) -> None:
        """Wait until the agent writes nothing for QUIET seconds, but for 10 seconds at most."""
        until = time.monotonic() + 10
        while self.read(QUIET) and time.monotonic() < until:
            pass

    def type(self, text: str, *keys: str) -> None:
        """Type a text and then keys, with a pause before each."""
        for part in (text, *keys):
            os.write(self._handle, part.encode())
            self.read(0.3)
            time.sleep(0.4)


def run_in_terminal(
    command: list[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    log: Path,
    attend: Callable[[Terminal], None],
) -> EndedProcess:
    """Run a command in a terminal, as `servers.run` does. `attend` types into it, and ends it."""
    began = time.monotonic()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    own = {**environment, "TERM": "xterm-256color"}
    own.pop("CI", None)
    process = subprocess.Popen(
        command, cwd=folder, env=own, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    terminal = Terminal(process, ours, limit)
    try:
        attend(terminal)
        for _ in range(20):
            terminal.read(0.2)
            if process.poll() is not None:
                break
        code = process.poll()
    finally:
        end_session(process)
        os.close(ours)
        log.write_text(terminal.output)
    return EndedProcess(0 if code is None else code, terminal.output, "", time.monotonic() - began)
