"""Run a gateway in front of an upstream on this machine, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

import httpx2
import pytest
from starlette.applications import Starlette

from contentmodel import adapter
from contentmodel.gateway import GatewayConfig, Report, create_app, read_config
from contentmodel_conformance.server.serving import serving
from providers import PROVIDERS, OfficialClient, base_url, path_of


def config_for(
    api: str,
    base_url: str,
    /,
    *,
    upstream: dict[str, Any] | None = None,
    limits: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    **route: Any,
) -> GatewayConfig:
    """Return a configuration with one upstream without a key."""
    upstreams = {"up": {"api": api, "base_url": base_url, "key": "none", "retries": 0, **(upstream or {})}}
    routes = [{"to": "up", "model": PROVIDERS[api].model, **route}]
    return read_config({"upstreams": upstreams, "routes": routes, "limits": limits or {}}, environment=environment)


@contextmanager
def gateway(
    config: GatewayConfig, *, wrap: Callable[[Any], Any] = lambda app: app, **options: Any
) -> Iterator[tuple[str, Starlette]]:
    """Run a gateway, inside of another ASGI app if `wrap` returns one, and yield its URL and its app."""
    app = create_app(config, **options)
    with serving(wrap(app)) as url:
        yield url, app


class Gateways:
    """Gateways in front of one upstream, one for each API of the upstream. Each is started when it is first used."""

    def __init__(self, config_of: Callable[[str], GatewayConfig]) -> None:
        self._config_of = config_of
        self._stack = ExitStack()
        self._running: dict[str, tuple[str, Starlette]] = {}
        self._readers: dict[tuple[str, str], OfficialClient] = {}
        self._client = self._stack.enter_context(httpx2.Client(trust_env=False))

    @classmethod
    def of(cls, url: str, app: Starlette) -> Self:
        """Return an object with one running gateway. Its upstream has the name ""."""
        made = cls(lambda _: pytest.fail("the gateway is running"))
        made._running[""] = url, app
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _gateway(self, upstream: str) -> tuple[str, Starlette]:
        if upstream not in self._running:
            self._running[upstream] = self._stack.enter_context(gateway(self._config_of(upstream)))
        return self._running[upstream]

    def reader(self, api: str, upstream: str) -> OfficialClient:
        """Return the official client of an API, for the gateway in front of an upstream."""
        if (api, upstream) not in self._readers:
            self._readers[api, upstream] = PROVIDERS[api].official(base_url(api, self._gateway(upstream)[0]))
        return self._readers[api, upstream]

    def new_reader(self, api: str, upstream: str) -> OfficialClient:
        """Return a new official client: an async one belongs to one event loop."""
        return PROVIDERS[api].official(base_url(api, self._gateway(upstream)[0]))

    def stream(self, api: str, upstream: str) -> Any:
        """Send a small request for a stream, and return the context of its response."""
        payload = PROVIDERS[api].request
        if adapter(api).http.stream is None:
            payload = {**payload, "stream": True}
        return self._client.stream("POST", self._gateway(upstream)[0] + path_of(api, streams=True), json=payload)

    def post(self, api: str, upstream: str, **options: Any) -> httpx2.Response:
        """Send a small request of an API. `options` replace its `path` and `json` or `content`, or add `headers`."""
        url = self._gateway(upstream)[0] + options.pop("path", path_of(api))
        body = options if {"content", "json"} & options.keys() else {"json": PROVIDERS[api].request, **options}
        return self._client.post(url, **body)

    def get(self, path: str, upstream: str = "") -> httpx2.Response:
        """Send a GET request."""
        return self._client.get(self._gateway(upstream)[0] + path)

    def stream_of(self, path: str, payload: Any = None) -> Any:
        """Send a GET request, or a POST request with a payload, and return the context of its response."""
        method, body = ("GET", {}) if payload is None else ("POST", {"json": payload})
        return self._client.stream(method, self._gateway("")[0] + path, **body)

    def port(self, upstream: str) -> int:
        """Return the port of the gateway in front of an upstream."""
        return int(self._gateway(upstream)[0].rpartition(":")[2])

    def report(self, upstream: str) -> Report:
        """Wait until the report of the latest request is complete, and return it."""
        reports = self._gateway(upstream)[1].state.reports
        report: Report = next(reversed(reports._reports.values()))
        for _ in range(6000):
            if report.seconds is not None:
                break
            threading.Event().wait(0.01)
        return report
