"""What an executor is, and the checks of a call that no executor is there for."""

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
    """Makes the calls of a file's `api` tools. It is used from many threads at once.

    An executor may also have a method `takes(operation)` that gives the names of the arguments that a call has a
    place for; where there is none, a message log gives it every field of a message.
    """

    def check(self, operation: Operation) -> Iterable[Fault]:
        """What is wrong with a call, before it is ever made.

        A fault's path is that in the tool: "api.query", "function.parameters.properties.city".
        """
        ...

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Makes a call, and gives whatever `contents_of` takes. What it raises becomes an error for the model."""
        ...


def check_operation(operation: Operation, executor: Executor | None) -> Iterable[Fault]:
    """What is wrong with a call. Without an executor its text says what it is for: see `is_graphql`."""
    if executor is not None:
        return executor.check(operation)
    if operation.path:
        return check_path(operation)
    return check_graphql(operation) if is_graphql(operation.query) else check_sql(operation)


def taken_by(executor: Executor | None, operation: Operation) -> frozenset[str] | None:
    """The arguments that a call has a place for; None where its executor does not say."""
    if executor is not None:
        takes = getattr(executor, "takes", None)
        return None if takes is None else frozenset(takes(operation))
    if operation.path:
        return places_of(operation)
    return frozenset(variables_of(operation.query) if is_graphql(operation.query) else placeholders_of(operation.query))
