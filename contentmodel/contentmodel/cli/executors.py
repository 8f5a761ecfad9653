"""--executor and --header: where the calls of a tool configuration file go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from contentmodel.cli.errors import Problem
from contentmodel.errors import Fault

if TYPE_CHECKING:
    from contentmodel.tools.config import Executor, GraphQLExecutor, Operation, RestExecutor

_EXAMPLE = "--executor default=https://api.example.com, or default=sqlite:///shop.db"


class HttpExecutor:
    """A URL that is a REST API's for tools with a path, and a GraphQL API's for tools with a query."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        from contentmodel.tools.config import GraphQLExecutor, RestExecutor

        self._rest, self._graphql = RestExecutor(url, headers=headers), GraphQLExecutor(url, headers=headers)

    def check(self, operation: Operation) -> Iterable[Fault]:
        """What is wrong with a call."""
        return self._of(operation).check(operation)

    def takes(self, operation: Operation) -> frozenset[str]:
        """The arguments that a call has a place for."""
        return self._of(operation).takes(operation)

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Makes a call."""
        return self._of(operation).run(operation, arguments)

    def _of(self, operation: Operation) -> RestExecutor | GraphQLExecutor:
        return self._rest if operation.path else self._graphql


def parse_executors(texts: list[str], headers: list[str]) -> dict[str, Executor]:
    """NAME=URL, by name. Problem where a URL cannot be used; it is not shown, for it may hold a password."""
    made: dict[str, Executor] = {}
    sent = dict(_header(text) for text in headers)
    for text in texts:
        name, _, url = text.partition("=")
        scheme, colon, _ = url.partition(":")
        if not name or not colon or "/" in name:
            raise Problem("--executor: expected NAME=URL", hint=_EXAMPLE)
        if name in made:
            raise Problem(f"--executor: {name} is there twice", hint="give each executor one URL")
        try:
            made[name] = HttpExecutor(url, sent) if scheme in ("http", "https") else _sql(url)
        except ValueError as error:
            raise Problem(f"--executor {name}: {error}", hint=_EXAMPLE) from None
    return made


def _sql(url: str) -> Executor:
    from contentmodel.tools.config import SqlExecutor

    return SqlExecutor(url)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Problem("--header: expected NAME:VALUE", hint='--header "Authorization: Bearer $TOKEN"')
    return name.strip(), value.strip()
