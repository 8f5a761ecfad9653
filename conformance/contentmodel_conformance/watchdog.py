"""The watchdog: ends a check that makes no progress, in any thread, and reports the call that hung and its input.

with watched() as watch:
    for value in values:
        watch.restart()
        try_it(value)

If a check hangs, `Hangs` is raised in the running code. In the main thread a signal raises it; this also interrupts a
sleep, a lock and a regular expression that backtracks. In other threads and on Windows, a second thread raises it
between two Python instructions. C code that never checks for signals cannot be ended.

The limit is processor time, so a busy machine causes no false hang. A check that only waits has a longer limit.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import msgspec

LIMIT = 20.0
"""The processor time, in seconds, that a check may take without progress."""
PATIENCE = 12
"""The limit of elapsed time, as a multiple of LIMIT, for a check that only waits."""
_TICKS = 20
"""The number of times that the watchdog looks within LIMIT."""


class Hangs(BaseException):
    """Raised if there is no progress within the limit. Not an Exception, so adapters and hypothesis do not catch it."""


class Call(NamedTuple):
    """The adapter call that hung: the function, its input, and the line that ran last."""

    name: str
    value: Any
    line: str


class Watch:
    """Measures the time since the last progress."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Reset the time: there was progress."""
        self._spent, self._begun = time.process_time(), time.monotonic()

    def is_over(self) -> bool:
        """Return whether the limit is reached. If so, restart, so that code that swallows one `Hangs` gets another."""
        spent, passed = time.process_time() - self._spent, time.monotonic() - self._begun
        if spent <= LIMIT and passed <= LIMIT * PATIENCE:
            return False
        self.restart()
        return True


@contextmanager
def watched() -> Iterator[Watch]:
    """Yield a watch. `Hangs` is raised in the body, repeatedly, each time the watch's limit is reached."""
    watch = Watch()
    is_main = threading.current_thread() is threading.main_thread()
    with (_by_signal if is_main and hasattr(signal, "setitimer") else _by_thread)(watch):
        yield watch


@contextmanager
def _by_signal(watch: Watch) -> Iterator[None]:
    def look(number: int, frame: FrameType | None) -> None:
        if watch.is_over():
            raise Hangs

    tick = LIMIT / _TICKS
    before = signal.signal(signal.SIGALRM, look)
    timer = signal.setitimer(signal.ITIMER_REAL, tick, tick)
    try:
        yield
    finally:
        watch.restart()  # Prevents a late `Hangs` in the lines below.
        # Restore the timer of other tools (pytest-timeout).
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


@contextmanager
def _by_thread(watch: Watch) -> Iterator[None]:
    done, lock = threading.Event(), threading.Lock()
    target = ctypes.c_ulong(threading.get_ident())
    throw: Callable[..., int] = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def look() -> None:
        while not done.wait(LIMIT / _TICKS):
            with lock:
                if not done.is_set() and watch.is_over():
                    throw(target, ctypes.py_object(Hangs))

    watcher = threading.Thread(target=look, name="conformance watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        with lock:
            throw(target, None)  # Cancel an exception that is still pending.
        watcher.join()


# -- where it hung -----------------------------------------------------------------------------------------------------


def hung_call(traceback: TracebackType | None) -> Call | None:
    """Return the call from the kit to other code that hung, from the traceback of `Hangs`; None if the kit hung."""
    frames = [frame for frame in _frames(traceback) if frame.f_code.co_filename != __file__]
    called = None
    for caller, frame in zip([None, *frames], frames, strict=False):
        if caller is not None and _is_kit(caller) and not _is_kit(frame) and not _is_hypothesis(frame):
            called = frame
    if called is None:
        return None
    last = frames[-1]
    place = f"{Path(last.f_code.co_filename).name}:{last.f_lineno} in {last.f_code.co_name}"
    return Call(called.f_code.co_qualname, _input(called), place)


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


_KIT = Path(__file__).parent


def _is_kit(frame: FrameType) -> bool:
    path = Path(frame.f_code.co_filename)
    return path.is_relative_to(_KIT) and "mutants" not in path.parts


def _is_hypothesis(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "hypothesis"


def _input(frame: FrameType) -> Any:
    """Return the first argument of a call that can be an input: a struct, dict, list or bytes."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments = [frame.f_locals[name] for name in names if name in frame.f_locals]
    return next((value for value in arguments if isinstance(value, msgspec.Struct | dict | list | bytes)), "(no input)")
