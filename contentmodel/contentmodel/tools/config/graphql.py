"""Execute GraphQL queries. Arguments are passed as variables, never as a part of the query's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.extras import needs_extra
from contentmodel.json import parse, write
from contentmodel.tools.config.faults import ExecutorError
from contentmodel.tools.config.format import Operation
from contentmodel.tools.config.http import MAX_BYTES, Answer, Endpoint, failure
from contentmodel.tools.config.matching import argument_faults
from contentmodel.tools.outcome import ToolOutcome

if TYPE_CHECKING:
    import httpx2

_GRAPHQL = re.compile(r"(?:[\s,\ufeff]|#[^\n\r]*+)*+(?:[{\"]|(?:query|mutation|subscription|fragment)\b)")
ACCEPT = "application/graphql-response+json, application/json;q=0.9"


class GraphQLExecutor:
    """Call a GraphQL API over HTTP.

    `url` is the URL of the API; the other parameters are those of `RestExecutor`. A missing argument is left out, so
    that the query's default applies. Raise ValueError if `url` is not an http or https URL.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        client: httpx2.Client | None = None,
        timeout: float = 30,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._endpoint = Endpoint(url, headers=headers, client=client, timeout=timeout, max_bytes=max_bytes)

    def check(self, operation: Operation) -> Iterator[Fault]:
        """Yield the faults of a call of this API."""
        if not operation.query:
            yield Fault("api.path", "a GraphQL executor cannot call a path: use a REST executor, or set query")
        else:
            yield from check_graphql(operation)

    def arguments_of(self, operation: Operation) -> frozenset[str]:
        """Return the variables of the query."""
        return frozenset(variables_of(operation.query))

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Return the data as JSON text, followed by an error if the answer has errors. Raise ExecutorError."""
        variables = _read(operation.query).variables
        unknown = [name for name in arguments if name not in variables]
        if unknown:
            raise ExecutorError(f"{operation.tool} has no argument {', '.join(unknown)}: remove it")
        missing = [name for name, needed in variables.items() if needed and arguments.get(name) is None]
        if missing:
            raise ExecutorError(f"{operation.tool} needs a value for {', '.join(missing)}")
        try:
            body = write({"query": operation.query, "variables": dict(arguments)})
        except EncodeError as error:
            raise ExecutorError(f"the arguments cannot be sent: {error}") from None
        answer = self._endpoint.exchange("POST", self._endpoint.url, body, ACCEPT)
        return ToolOutcome(_contents(answer, operation.tool))

    def close(self) -> None:
        """Close the connections, unless the client was given."""
        self._endpoint.close()

    def __repr__(self) -> str:
        return f"GraphQLExecutor({self._endpoint.shown!r})"


# Queries --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A parsed GraphQL document: its variables, whether each is required, and its faults."""

    variables: Mapping[str, bool]
    faults: tuple[str, ...] = ()


def check_graphql(operation: Operation) -> Iterator[Fault]:
    """Yield the faults of a query: its syntax, variables without a value, and parameters that it does not use."""
    query = _read(operation.query)
    yield from (Fault("api.query", fault) for fault in query.faults)
    if query.faults:
        return
    variables = ", ".join(f"${name}" for name in query.variables) or "none"
    yield from argument_faults(
        operation,
        "api.query",
        [name for name, needed in query.variables.items() if needed],
        query.variables,
        lambda name: f"${name}",
        lambda name: f"the query has no variable ${name} for this parameter; its variables: {variables}",
    )


def is_graphql(text: str) -> bool:
    """Return whether a query is GraphQL: it starts with query, mutation, subscription, fragment, a brace or a quote.

    No SQL statement starts like this; all other text is SQL. Space, commas and comments with # before it are skipped.
    """
    return _GRAPHQL.match(text) is not None


def variables_of(text: str) -> tuple[str, ...]:
    """Return the names of the query's variables."""
    return tuple(_read(text).variables)


@lru_cache(maxsize=512)
def _read(text: str) -> Query:
    with needs_extra("tools"):
        from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse

    try:
        document = parse(text, no_location=True)
    except GraphQLError as error:
        position = f" (line {error.locations[0].line}, column {error.locations[0].column})" if error.locations else ""
        return Query({}, (f"the query is not valid GraphQL: {error.message}{position}",))
    except RecursionError:
        return Query({}, ("the query is nested too deeply",))
    operations = [part for part in document.definitions if isinstance(part, OperationDefinitionNode)]
    if len(operations) != 1:
        return Query({}, (f"the query must have exactly one operation, but it has {len(operations)}",))
    if operations[0].operation is OperationType.SUBSCRIPTION:
        return Query({}, ("the operation must be a query or a mutation; subscriptions are not supported",))
    return _variables(document, operations[0])


def _variables(document: Any, operation: Any) -> Query:
    from graphql import NonNullTypeNode, VariableNode, Visitor, visit

    declared = {
        part.variable.name.value: isinstance(part.type, NonNullTypeNode) and part.default_value is None
        for part in operation.variable_definitions or ()
    }
    used: set[str] = set()

    class Uses(Visitor):
        def enter_variable_definition(self, node: Any, *_: Any) -> Any:
            return self.SKIP

        def enter_variable(self, node: VariableNode, *_: Any) -> None:
            used.add(node.name.value)

    visit(document, Uses())
    faults = [
        f"${name} is used but not declared: declare it after the name of the operation"
        for name in sorted(used - set(declared))
    ]
    faults += [
        f"${name} is declared but not used, which servers refuse: remove it or use it"
        for name in declared
        if name not in used
    ]
    return Query(declared, tuple(faults))


# Answers --------------------------------------------------------------------------------------------------------------


def _contents(answer: Answer, tool: str) -> list[AIContent]:
    response = _response(answer)
    if response is None:
        if 200 <= answer.status < 300:
            raise ExecutorError("the answer is not GraphQL: check that the URL belongs to a GraphQL API")
        return failure(answer, tool)
    data, errors = response.get("data"), response.get("errors") or []
    contents: list[AIContent] = []
    if data is not None or not errors:
        contents.append(TextContent(text=write(data).decode("utf-8", "surrogatepass")))
    if errors:
        contents.append(_error(tool, errors))
    return contents


def _response(answer: Answer) -> dict[str, Any] | None:
    """Return the answer if it is a GraphQL response, else None."""
    try:
        value = parse(answer.body)
    except DecodeError:
        return None
    is_response = isinstance(value, dict) and ("data" in value or isinstance(value.get("errors"), list))
    return value if is_response else None


def _error(tool: str, errors: Any) -> ErrorContent:
    messages = [_message(error) for error in errors] if isinstance(errors, list) else [str(errors)]
    return ErrorContent(message=f"{tool}: {'; '.join(messages)}", code="graphql_errors", details={"errors": errors})


def _message(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    path = ".".join(map(str, error["path"])) if isinstance(error.get("path"), list) else ""
    return f"{error.get('message', 'an error without a message')}{f' (at {path})' if path else ''}"
