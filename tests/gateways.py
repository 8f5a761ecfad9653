"""Run a gateway in front of an upstream on this machine, for tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette

from contentmodel.gateway import GatewayConfig, create_app, read_config

MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro-preview",
}


class _Server(uvicorn.Server):
    """Tells when it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_begun = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.has_begun.set()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Run an ASGI app on a free port in a thread, and yield its URL."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert server.has_begun.wait(30)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


def config_for(api: str, base_url: str, /, *, upstream: dict[str, Any] | None = None, **route: Any) -> GatewayConfig:
    """Return a configuration with one upstream without a key."""
    upstreams = {"up": {"api": api, "base_url": base_url, "key": "none", "retries": 0, **(upstream or {})}}
    return read_config({"upstreams": upstreams, "routes": [{"to": "up", "model": MODELS[api], **route}]})


@contextmanager
def gateway(config: GatewayConfig, **options: Any) -> Iterator[tuple[str, Starlette]]:
    """Run a gateway, and yield its URL and its app."""
    app = create_app(config, **options)
    with served(app) as url:
        yield url, app


def base_url(api: str, url: str) -> str:
    """Return the base URL of the official client of an API."""
    return f"{url}/v1" if api.startswith("openai") else url
