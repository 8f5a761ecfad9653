"""The AI SDK of Vercel, in Node. One process answers all tasks, because it starts slowly."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

from conftest import NODE
from contentmodel_conformance.server import LoopbackServer

MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro",
}
_PATHS = {"anthropic-messages": "/v1", "google-generate-content": "/v1beta"}


def node(program: str, tasks: list[Any], *arguments: str) -> list[Any]:
    """Return the answers of a program in tests/node."""
    process = subprocess.run(
        ["node", program, *arguments], cwd=NODE, input=json.dumps(tasks), capture_output=True, text=True, timeout=120
    )
    assert process.returncode == 0, process.stderr
    answers: list[Any] = json.loads(process.stdout)
    return answers


def asked(package: str, tasks: list[Any]) -> list[Any]:
    """Return what the functions of the SDK answer about messages."""
    return node("messages.mjs", tasks, package)


def validated(package: str, documents: list[Any], name: str = "validate") -> list[str | None]:
    """Return the error of each document; None for a valid one."""
    return [
        answer["error"] for answer in asked(package, [{"name": name, "messages": document} for document in documents])
    ]


def _call(name: str, city: str) -> dict[str, Any]:
    return {"name": name, "arguments": {"city": city}}


@cache
def generated(api: str) -> Any:
    """Return the messages of a run of `streamText` against a local server: three steps, the last needs an approval."""
    script: list[Any] = [
        {"text": "Let me look.", "calls": [_call("weather", "Oslo"), _call("report", "Rome")]},
        {"calls": [_call("fail", "Paris")]},
        {"text": "Done.", "calls": [_call("book", "Oslo")]},
    ]
    with LoopbackServer(script) as server:
        url = server.base_url(api) + _PATHS.get(api, "")
        task = {"api": api, "url": url, "model": MODELS[api], "messages": [{"role": "user", "content": "Hello"}]}
        return node("generate.mjs", [task])[0]


def sent(
    api: str, documents: list[Any], *, store: bool = False, has_tools: bool = False, model: str | None = None
) -> list[Any]:
    """Return the body that the SDK sends to a provider for each list of model messages, or the error.

    `has_tools`: whether the request has the hosted tools whose calls the SDK sends only then.
    """
    options = {"openai": {"store": store}}
    common = {"api": api, "model": model or MODELS[api], "options": options, "has_tools": has_tools}
    return node("generate.mjs", [{**common, "messages": messages} for messages in documents])


OF_OPENAI: dict[str, Any] = {
    "model": "m",
    "input": [
        {"role": "user", "content": "Draw."},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "RUM="},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo="},
        {"type": "image_generation_call", "id": "ig_2", "status": "completed", "result": "AAAA"},
        {"type": "mcp_approval_request", "id": "r1", "server_label": "s", "name": "ask", "arguments": "{}"},
    ],
}
"""A request with contents that only some versions of the SDK accept."""
