"""Compare the arguments of a call with the parameters of its tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

from contentmodel.errors import Fault
from contentmodel.tools.config.format import Operation


def argument_faults(
    operation: Operation,
    path: str,
    required: Iterable[str],
    accepted: Iterable[str],
    written: Callable[[str], str],
    no_place: Callable[[str], str],
) -> Iterator[Fault]:
    """Yield arguments of a call that have no value, and parameters that the call does not use.

    `required` are the required arguments, `accepted` all arguments. `written` returns an argument in the syntax of the
    call, and `no_place` the message for an unused parameter. A misspelt name is reported only once.
    """
    missing = [name for name in required if name not in operation.supplied]
    spare = sorted(operation.parameters - set(accepted))
    supplied = ", ".join(sorted(operation.supplied)) or "none"
    for name in missing:
        close = get_close_matches(name, spare, n=1)
        spare = [other for other in spare if other not in close]
        hint = f"did you mean {written(close[0])}? " if close else ""
        message = f"no parameter or context value supplies {written(name)}: {hint}the available names: {supplied}"
        yield Fault(path, message)
    for name in spare:
        yield Fault(f"function.parameters.properties.{name}", no_place(name))
