"""Skip an upstream that fails several times in a row, or that limits the rate, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from contentmodel.gateway.config import Cooldown


class Circuit:
    """The state of one upstream: closed, or open after failures until a time. Then one request tries it.

    `last_error` is the kind of the latest failure, and `last_failed` its time in seconds since 1970. Both are kept when
    the upstream works again.
    """

    def __init__(self, cooldown: Cooldown, clock: Callable[[], float] = time.monotonic) -> None:
        self.cooldown, self._clock = cooldown, clock
        self.failures = 0
        self.last_error: str | None = None
        self.last_failed: float | None = None
        self._until: float | None = None

    @property
    def is_open(self) -> bool:
        """True if requests skip the upstream."""
        return self.wait > 0

    @property
    def wait(self) -> float:
        """The seconds until the next request tries the upstream; 0 if it is not skipped."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock())

    @property
    def was_open(self) -> bool:
        """True if the upstream was skipped, and did not work since."""
        return self._until is not None

    def tried(self) -> None:
        """Note that a request tries the upstream: if it was open, others skip it until there is a result."""
        if self._until is not None:
            self._open(self.cooldown.seconds)

    def succeeded(self) -> None:
        """Note that the upstream answered, or refused a request for its content."""
        self.failures, self._until = 0, None

    def failed(self, kind: str) -> None:
        """Note that the upstream failed."""
        self.failures += 1
        self._record(kind)
        if self.failures >= self.cooldown.failures:
            self._open(self.cooldown.seconds)

    def limited(self, retry_after: float | None) -> None:
        """Note that the upstream limits the rate. Without `retry_after`, the next request may have more luck."""
        self.failures = 0
        self._record("rate_limit")
        self._until = None
        if retry_after is not None and retry_after > 0:
            self._open(min(retry_after, self.cooldown.seconds))

    def _record(self, kind: str) -> None:
        self.last_error, self.last_failed = kind, round(time.time(), 3)

    def _open(self, seconds: float) -> None:
        self._until = self._clock() + seconds
