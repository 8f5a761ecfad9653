"""--executor and --header: the executors of a tool configuration file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from contentmodel.cli.errors import Problem
from contentmodel.errors import Fault, MissingExtraError

if TYPE_CHECKING:
    from contentmodel.tools.config import Executor, GraphQLExecutor, Operation, RestExecutor

_EXAMPLE = "--executor default=https://api.example.com, or default=sqlite:///shop.db"


class HttpExecutor:
    """An executor for a URL: REST for tools with a path, GraphQL for tools with a query."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        from contentmodel.tools.config import GraphQLExecutor, RestExecutor

        self._rest, self._graphql = RestExecutor(url, headers=headers), GraphQLExecutor(url, headers=headers)

    def check(self, operation: Operation) -> Iterable[Fault]:
        """Yield the faults of an operation."""
        return self._of(operation).check(operation)

    def arguments_of(self, operation: Operation) -> frozenset[str]:
        """Return the names of the arguments that the operation uses."""
        return self._of(operation).arguments_of(operation)

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Run a call."""
        return self._of(operation).run(operation, arguments)

    def _of(self, operation: Operation) -> RestExecutor | GraphQLExecutor:
        return self._rest if operation.path else self._graphql


def parse_executors(texts: list[str], headers: list[str]) -> dict[str, Executor]:
    """Parse NAME=URL texts. Raise Problem if a URL is invalid; the URL is not printed, it may contain a password."""
    executors: dict[str, Executor] = {}
    header_map = dict(_header(text) for text in headers)
    for text in texts:
        name, _, url = text.partition("=")
        scheme, colon, _ = url.partition(":")
        if not name or not colon or "/" in name:
            raise Problem("--executor: expected NAME=URL", hint=_EXAMPLE)
        if name in executors:
            raise Problem(f"--executor: {name} is given twice", hint="give each executor one URL")
        try:
            executors[name] = HttpExecutor(url, header_map) if scheme in ("http", "https") else _sql(url)
        except ValueError as error:
            raise Problem(f"--executor {name}: {error}", hint=_EXAMPLE) from None
        except MissingExtraError as error:
            raise Problem(f"--executor {name}: {error}") from None
    return executors


def _sql(url: str) -> Executor:
    from contentmodel.tools.config import SqlExecutor

    return SqlExecutor(url)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Problem("--header: expected NAME:VALUE", hint='--header "Authorization: Bearer $TOKEN"')
    return name.strip(), value.strip()
