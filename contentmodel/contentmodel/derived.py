"""Functions that make a value of others: an id of the id of the answer, a date of seconds, an offset of a text.

While a template is made (`lanes`), their calls are recorded, so that it can call them with other values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
Derivation: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], Any]
"""A function, the arguments that it was called with, and its result."""

_RECORD: ContextVar[list[Derivation] | None] = ContextVar("derivations", default=None)


def derives(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Declare that a function is pure: its result depends on its positional arguments alone, which are JSON values."""

    @wraps(function)
    def recorded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        result = function(*args, **kwargs)
        record = _RECORD.get()
        if record is not None:
            record.append((function, args, result))
        return result

    return recorded


def derived(result: _R, function: Callable[..., _R], *args: Any) -> _R:
    """Return `result`, which is what such a function returns for these arguments."""
    record = _RECORD.get()
    if record is not None:
        record.append((function, args, result))
    return result


@contextmanager
def derivations() -> Iterator[list[Derivation]]:
    """Record the calls of such functions in the block."""
    record: list[Derivation] = []
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)
