"""The pytest plugin: the fixture `loopback`, and the options of `AdapterConformance`.

Importing it loads neither Starlette nor uvicorn, and none of the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contentmodel_conformance.server import LoopbackServer


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of subclasses of `contentmodel_conformance.AdapterConformance`."""
    group = parser.getgroup("contentmodel")
    group.addoption(
        "--conformance-deep", action="store_true", help="try twenty times as many examples of each law of adapters"
    )
    group.addoption(
        "--conformance-seed", type=int, metavar="N", help="which examples of each law of adapters are tried"
    )


@pytest.fixture
def loopback() -> Iterator[Callable[..., LoopbackServer]]:
    """Start loopback servers: `loopback(script, **options)` returns one that listens until the test ends.

    The arguments are those of `contentmodel_conformance.server.LoopbackServer`.
    """
    from contentmodel_conformance.server import LoopbackServer

    with ExitStack() as servers:

        def start(script: Iterable[Any], **options: Any) -> LoopbackServer:
            return servers.enter_context(LoopbackServer(script, **options))

        yield start
