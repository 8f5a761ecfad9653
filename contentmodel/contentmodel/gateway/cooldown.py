"""Skip an upstream that could not be reached several times in a row, for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

from contentmodel.gateway.config import Cooldown


class Circuit:
    """The state of one upstream: closed, or open after failures until a time. Then one request tries it."""

    def __init__(self, cooldown: Cooldown, clock: Callable[[], float] = time.monotonic) -> None:
        self._cooldown, self._clock = cooldown, clock
        self._failures = 0
        self._until: float | None = None

    @property
    def is_open(self) -> bool:
        """True if requests skip the upstream."""
        return self._until is not None and self._clock() < self._until

    @property
    def was_open(self) -> bool:
        """True if the upstream was skipped, and was not reached since."""
        return self._until is not None

    def tried(self) -> None:
        """Note that a request tries the upstream: if it was open, others skip it until there is a result."""
        if self._until is not None:
            self._until = self._clock() + self._cooldown.seconds

    def succeeded(self) -> None:
        """Note that the upstream was reached."""
        self._failures, self._until = 0, None

    def failed(self) -> None:
        """Note that the upstream could not be reached."""
        self._failures += 1
        if self._failures >= self._cooldown.failures:
            self._until = self._clock() + self._cooldown.seconds
