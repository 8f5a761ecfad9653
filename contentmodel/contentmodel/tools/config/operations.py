"""Convert a tool of a file to the operation for its executor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from contentmodel.tools.config.format import LOAD, SAVE, ApiTool, Entry, Operation
from contentmodel.tools.config.schemas import property_names

MESSAGE_FIELDS: Final = ("role", "content", "name", "function_call", "functionCall")
"""The fields of a message that are saved. The call has two names, of which a query uses one."""

# Arguments of the two internal calls that the library supplies.
_SUPPLIED = {SAVE: (*MESSAGE_FIELDS, "context"), LOAD: ("limit", "context")}
_SENT = {SAVE: ("role", "content", "name", "function_call"), LOAD: ("limit",)}


def operation_of(entry: ApiTool) -> Operation:
    """Return the operation of a tool."""
    names = property_names(entry.function.parameters)
    supplied_names = _SUPPLIED.get(entry.function.name, ())
    fields = (*_SENT.get(entry.function.name, ()), *(entry.context if supplied_names else ()))
    return Operation(
        tool=entry.function.name,
        method=entry.api.method,
        path=entry.api.path,
        query=entry.api.query,
        parameters=frozenset(names),
        supplied=frozenset((*names, *supplied_names, *fields)),
        # A body without declared fields gets the fields of a message, each under one name.
        body=frozenset(names or fields),
    )


def context_needed(entry: Entry) -> list[str]:
    """Return the names that the caller must supply: the context, and other required parameters of an internal tool."""
    supplied = _SUPPLIED.get(entry.function.name)
    if supplied is None:
        return list(entry.context)
    required = (name for name in entry.function.parameters.get("required", ()) if name not in supplied)
    return list(dict.fromkeys((*entry.context, *required)))


def unknown_executor(name: str, executors: Iterable[str]) -> str:
    """Return the message about a missing executor."""
    names = ", ".join(executors) or "none"
    return f"there is no executor {name}: pass executors={{{name!r}: ...}}; registered executors: {names}"
