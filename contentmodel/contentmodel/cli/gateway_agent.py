"""`contentmodel gateway --run`: run a coding agent, or another program, with a gateway of its own."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.cli.console import err, visible
from contentmodel.cli.errors import Problem
from contentmodel.display import count_of

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette

KEY_VARIABLE = "CONTENTMODEL_GATEWAY_KEY"
"""The variable in which Codex finds the key that it sends to the gateway."""
PROVIDER = "model_providers.contentmodel"
STARTING = 30
"""The seconds that the gateway has to start."""


class Agent(msgspec.Struct, frozen=True):
    """An agent: its variables, its arguments before those of the user, and the variables that it must not have.

    `{url}` and `{key}` stand for the URL of the gateway, and for the key that it requires.
    """

    variables: dict[str, str]
    arguments: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


AGENTS = {
    "claude": Agent(
        {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "{key}"},
        without=("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
    ),
    "codex": Agent(
        {KEY_VARIABLE: "{key}"},
        (
            *("-c", 'model_provider="contentmodel"'),
            *("-c", f'{PROVIDER}.name="contentmodel"'),
            *("-c", f'{PROVIDER}.base_url="{{url}}/v1"'),
            *("-c", f'{PROVIDER}.env_key="{KEY_VARIABLE}"'),
            *("-c", f'{PROVIDER}.wire_api="responses"'),
        ),
    ),
    "gemini": Agent(
        {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "{key}"}, without=("GOOGLE_GENAI_USE_VERTEXAI",)
    ),
}
"""The agents with known settings. (Claude Code 2.1, Codex CLI 0.169, Gemini CLI 0.61; seen 2026-11-23.)"""


def agent_of(program: str, texts: Sequence[str]) -> Agent:
    """Return the agent of a program, with further variables. Raise Problem if the program is unknown and has none."""
    agent = AGENTS.get(Path(program).name)
    if agent is None and not texts:
        known = ", ".join(AGENTS)
        hint = "set the variables that it reads: --env OPENAI_BASE_URL={url}/v1 --env OPENAI_API_KEY={key}"
        raise Problem(f"--run {program}: known agents are {known}", hint=hint)
    pairs = dict(text.partition("=")[::2] for text in texts)
    if not all(name and "=" in text for name, text in zip(pairs, texts, strict=False)):
        raise Problem("--env: expected NAME=VALUE", hint="--env OPENAI_BASE_URL={url}/v1")
    agent = agent or Agent({})
    return msgspec.structs.replace(agent, variables={**agent.variables, **pairs})


def run_agent(
    app: Starlette, sockets: list[socket.socket], program: str, arguments: Sequence[str], agent: Agent, key: str
) -> int:
    """Run a program with a gateway, and print a summary. Return the exit code of the program.

    Raise Problem if the program or the gateway cannot be started.
    """
    found = shutil.which(program)
    if found is None:
        raise Problem(f"--run {program}: no such program", hint="install it, or give its path")
    log = Path(tempfile.mkdtemp(prefix="contentmodel-gateway-")) / "requests.jsonl"
    url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"

    def filled(text: str) -> str:
        return text.replace("{url}", url).replace("{key}", key)

    variables = {name: value for name, value in os.environ.items() if name not in agent.without}
    variables |= {name: filled(value) for name, value in agent.variables.items()}
    with _logging_to(log), _serving(app, sockets):
        command = [found, *map(filled, agent.arguments), *arguments]
        code = _run(command, variables)
    for line in summary(app.state.gateway.metrics.snapshot({})):
        err().print(visible(line), soft_wrap=True)
    err().print(visible(f"log: {log}"), soft_wrap=True)
    return code


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """Write the log of the gateway to a file: the terminal is the agent's."""
    logger = logging.getLogger("contentmodel.gateway")
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
        logger.propagate = before[1]
        logger.setLevel(before[0])


@contextmanager
def _serving(app: Starlette, sockets: list[socket.socket]) -> Iterator[None]:
    """Run the gateway in a thread."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=(sockets,), daemon=True)
    thread.start()
    waiting = threading.Event()
    for _ in range(STARTING * 20):
        if server.started or not thread.is_alive():
            break
        waiting.wait(0.05)
    if not server.started:
        raise Problem("the gateway did not start", hint="its log has the cause")
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(STARTING)


def _run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command, and pass the signals on to it. Return its exit code, as a shell does."""
    process = subprocess.Popen(command, env=dict(variables))
    # The terminal sends an interrupt to the agent as well: the agent decides what it means.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    before[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def summary(snapshot: Sequence[Any]) -> Iterator[str]:
    """Yield the lines of a summary: requests, tokens, and losses by code."""
    requests, tokens, losses = Counter[str](), Counter[str](), Counter[str]()
    for family, labels, value in snapshot:
        if family == "requests":
            requests["failed" if int(labels[-1]) >= 400 else "answered"] += int(value)
        elif family == "tokens":
            tokens[labels[0]] += int(value)
        elif family == "losses":
            losses[labels[0]] += int(value)
    failed = f" ({requests['failed']:,} failed)" if requests["failed"] else ""
    shown = ", ".join(f"{tokens[kind]:,} {kind.replace('_', ' ')}" for kind in tokens) or "none"
    yield f"{count_of(requests.total(), 'request')}{failed}"
    yield f"tokens: {shown}"
    yield f"losses: {', '.join(f'{code} {count:,}' for code, count in losses.most_common()) or 'none'}"
