"""The executor protocol, and the checks of calls that have no executor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from contentmodel.errors import Fault
from contentmodel.tools.config.format import Operation
from contentmodel.tools.config.graphql import check_graphql, is_graphql, variables_of
from contentmodel.tools.config.rest import check_path, places_of
from contentmodel.tools.config.statements import check_sql, placeholders_of


@runtime_checkable
class Executor(Protocol):
    """An executor of the calls of a file's `api` tools. It is used from many threads at once.

    An executor may also have a method `arguments_of(operation)`, which returns the names of the arguments that a call
    accepts. Without it, a message log passes every field of a message.
    """

    def check(self, operation: Operation) -> Iterable[Fault]:
        """Return the faults of a call before it is made.

        The path of a fault is relative to the tool: "api.query", "function.parameters.properties.city".
        """
        ...

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Execute a call. Return any value that `contents_of` accepts. An exception becomes an error for the model."""
        ...


def check_operation(operation: Operation, executor: Executor | None) -> Iterable[Fault]:
    """Return the faults of a call. Without an executor, its text determines the kind: see `is_graphql`."""
    if executor is not None:
        return executor.check(operation)
    if operation.path:
        return check_path(operation)
    return check_graphql(operation) if is_graphql(operation.query) else check_sql(operation)


def taken_by(executor: Executor | None, operation: Operation) -> frozenset[str] | None:
    """Return the arguments that a call accepts; None if its executor has no `arguments_of`."""
    if executor is not None:
        arguments_of = getattr(executor, "arguments_of", None)
        return None if arguments_of is None else frozenset(arguments_of(operation))
    if operation.path:
        return places_of(operation)
    return frozenset(variables_of(operation.query) if is_graphql(operation.query) else placeholders_of(operation.query))
