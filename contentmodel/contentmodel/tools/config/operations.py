"""From a tool of a file to what its executor is asked to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contentmodel.tools.config.format import LOAD, SAVE, ApiTool, Entry, Operation
from contentmodel.tools.config.schemas import property_names

MESSAGE_FIELDS: Final = ("role", "content", "name", "function_call", "functionCall")
"""What is saved of a message; the call has two names, of which a query takes one."""

# What the library itself gives to the two calls that no model makes.
_SUPPLIED = {SAVE: (*MESSAGE_FIELDS, "context"), LOAD: ("limit", "context")}
_SENT = {SAVE: ("role", "content", "name", "function_call"), LOAD: ("limit",)}


def operation_of(entry: ApiTool) -> Operation:
    """What the executor of a tool is asked to do."""
    names = property_names(entry.function.parameters)
    own = _SUPPLIED.get(entry.function.name, ())
    fields = (*_SENT.get(entry.function.name, ()), *(entry.context if own else ()))
    return Operation(
        tool=entry.function.name,
        method=entry.api.method,
        path=entry.api.path,
        query=entry.api.query,
        parameters=frozenset(names),
        supplied=frozenset((*names, *own, *fields)),
        # A body that declares no fields gets those of a message, each by one name.
        body=frozenset(names or fields),
    )


def context_needed(entry: Entry) -> list[str]:
    """What the caller has to supply: the context, and what an internal tool requires beside the message's fields."""
    own = _SUPPLIED.get(entry.function.name)
    if own is None:
        return list(entry.context)
    required = (name for name in entry.function.parameters.get("required", ()) if name not in own)
    return list(dict.fromkeys((*entry.context, *required)))


def unknown_executor(name: str, known: Iterable[str]) -> str:
    """What is said of an executor that nobody gave."""
    there = ", ".join(known) or "none"
    return f"there is no executor {name}: give it with executors={{{name!r}: ...}}; there are {there}"
