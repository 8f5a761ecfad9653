"""The pytest plugin: the fixture `loopback`. Importing it loads neither Starlette nor uvicorn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contentmodel_conformance.server import LoopbackServer


@pytest.fixture
def loopback() -> Iterator[Callable[..., LoopbackServer]]:
    """Starts loopback servers: `loopback(script, **options)` gives one that listens until the test is over.

    The arguments are those of `contentmodel_conformance.server.LoopbackServer`.
    """
    from contentmodel_conformance.server import LoopbackServer

    with ExitStack() as servers:

        def start(script: Iterable[Any], **options: Any) -> LoopbackServer:
            return servers.enter_context(LoopbackServer(script, **options))

        yield start
