"""Validate against a JSON Schema (Draft 2020-12): find all faults, with bounded work and no network access."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from contentmodel.tools.faults import InputFault, InvalidArguments, shown
from contentmodel.tools.keywords import MAX_STEPS, Budget, OverBudget, budget, is_known, validator_class
from contentmodel.tools.keywords import format_checker as formats

Fault = TypeVar("Fault")

MAX_ERRORS = 1000
"""The maximum number of errors of one validation; later errors are not searched."""


@dataclass(frozen=True, kw_only=True)
class InputLimits:
    """Limits on the validation of one call's arguments.

    `max_bytes` limits the size of the arguments as JSON text, `max_depth` their nesting. `max_steps` limits the work of
    a given JSON Schema, and `seconds` its time. Python types are validated by pydantic and msgspec, whose time is
    linear in the size. Raise ValueError if a limit is not above 0.
    """

    max_bytes: int = 4 * 2**20
    max_depth: int = 100
    max_steps: int = MAX_STEPS
    seconds: float | None = None

    def __post_init__(self) -> None:
        wrong = [f"{name}={value}" for name, value in vars(self).items() if value is not None and not value > 0]
        if wrong:
            raise ValueError(f"limits must be above 0: {', '.join(wrong)}")


_deadline: ContextVar[float | None] = ContextVar("deadline of validations", default=None)
_steps: ContextVar[int] = ContextVar("steps of a validation", default=MAX_STEPS)


@contextmanager
def limited(limits: InputLimits, deadline: float | None = None) -> Iterator[None]:
    """Apply limits to every validation in the block; `deadline` is a time of `time.monotonic`."""
    ends = [] if deadline is None else [deadline]
    ends += [] if limits.seconds is None else [time.monotonic() + limits.seconds]
    until, steps = _deadline.set(min(ends, default=None)), _steps.set(limits.max_steps)
    try:
        yield
    finally:
        _deadline.reset(until)
        _steps.reset(steps)


class SchemaValidator:
    """Validate JSON values against one schema.

    The schema is read as Draft 2020-12, even if it names another dialect. References can only point into the schema.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        from referencing import Registry

        self._validator: Any = validator_class()(schema, registry=Registry(), format_checker=formats())

    def faults(self, value: Any) -> list[InputFault]:
        """Return the faults of `value`, ordered by path.

        Raise InvalidArguments if the validation exceeds its steps or its time.
        """
        try:
            return self.read(value, _faults)
        except OverBudget as over:
            fault = InputFault("$", "arguments that can be checked within the limits", f"arguments that take {over}")
            raise InvalidArguments([fault]) from None

    def read(self, value: Any, reader: Callable[[Any], Iterable[Fault]]) -> list[Fault]:
        """Return the results of `reader` for each error of `value`, without duplicates. Raise OverBudget."""
        with counted():
            unsorted = list(islice(self._validator.iter_errors(value), MAX_ERRORS))
            errors = sorted(unsorted, key=lambda error: str(error.json_path))
            return list(dict.fromkeys(fault for error in errors for fault in reader(error)))


@contextmanager
def counted() -> Iterator[Budget]:
    """Count the work in the block against the limits that apply."""
    counter = Budget(_steps.get(), _deadline.get())
    token = budget.set(counter)
    try:
        yield counter
    finally:
        budget.reset(token)


def _faults(error: Any) -> Iterator[InputFault]:
    path, limit, got = error.json_path, error.validator_value, error.instance
    if error.validator == "required":
        for name in (name for name in limit if name not in got):
            yield InputFault(f"{path}.{name}", "a value (it is required)", "nothing")
    elif error.validator == "additionalProperties" and limit is False:
        for name in (name for name in got if not is_known(name, error.schema)):
            yield InputFault(f"{path}.{name}", "no argument of this name", shown(got[name]))
    elif error.validator in ("anyOf", "oneOf") and error.context:
        members = islice(error.context, MAX_ERRORS)
        yield InputFault(path, " or ".join(dict.fromkeys(map(_expected, members))), shown(got))
    else:
        yield InputFault(path, _expected(error), shown(got))


def _expected(error: Any) -> str:
    limit = error.validator_value
    if error.validator is None:
        return "no value here"
    if error.validator == "type":
        return " or ".join(limit) if isinstance(limit, list) else str(limit)
    if error.validator == "enum":
        return f"one of {shown(limit)}"
    return f"{error.validator} {shown(limit)}"
