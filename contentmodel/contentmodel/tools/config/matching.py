"""Compare the arguments of a call with the parameters of its tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

from contentmodel.errors import Fault
from contentmodel.tools.config.format import Operation


def argument_faults(
    operation: Operation,
    where: str,
    asked: Iterable[str],
    places: Iterable[str],
    written: Callable[[str], str],
    no_place: Callable[[str], str],
) -> Iterator[Fault]:
    """Yield arguments of a call that have no value, and parameters that the call does not use.

    `asked` are the required arguments, `places` all arguments of the call. `written` returns an argument in the syntax
    of the call, and `no_place` the message for an unused parameter. A misspelt name is reported only once.
    """
    missing = [name for name in asked if name not in operation.supplied]
    spare = sorted(operation.parameters - set(places))
    known = ", ".join(sorted(operation.supplied)) or "none"
    for name in missing:
        close = get_close_matches(name, spare, n=1)
        spare = [other for other in spare if other not in close]
        hint = f"did you mean {written(close[0])}? " if close else ""
        said = f"no parameter and no context supplies {written(name)}: {hint}the tool's parameters are {known}"
        yield Fault(where, said)
    for name in spare:
        yield Fault(f"function.parameters.properties.{name}", no_place(name))
