"""The agents: how each is started with a gateway, without telemetry and updates, and the calls of its tools."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from servers import KEY

Arguments = dict[str, Any] | str
"""The arguments of a call. A string is the input of a tool that takes free text."""


@dataclass(frozen=True)
class Place:
    """The folders of one run, and the URL that the agent uses instead of its provider's."""

    home: Path
    project: Path
    url: str


@dataclass(frozen=True)
class Program:
    """An agent.

    `start` writes the files of the agent's home, and returns its command and its variables. `write`, `command`, `read`
    and `image` return the names of tools that do the work, each with the arguments of a call: the first that the
    request offers is called. `calls_at_once` is false if the agent allows only one call in an answer.
    """

    name: str
    api: str
    package: str
    start: Callable[[Place, str], tuple[list[str], dict[str, str]]]
    write: Callable[[Path, str], Iterable[tuple[str, Arguments]]]
    command: Callable[[str], Iterable[tuple[str, Arguments]]]
    read: Callable[[Path], Iterable[tuple[str, Arguments]]]
    image: Callable[[Path], Iterable[tuple[str, Arguments]]]
    calls_at_once: bool = True


def environment(place: Place, proxy: str, **own: str) -> dict[str, str]:
    """Return the variables of an agent: of the user's only PATH, and a proxy that refuses all other hosts."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), proxy)
    own_host = "127.0.0.1,localhost"
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "1",
        "HOME": str(place.home),
        "TMPDIR": str(place.home.parent / "tmp"),
        "NO_PROXY": own_host,
        "no_proxy": own_host,
        **proxies,
        **own,
    }


# -- Claude Code -------------------------------------------------------------------------------------------------------


def _start_claude(place: Place, prompt: str) -> tuple[list[str], dict[str, str]]:
    command = ["claude", "--print", prompt, "--dangerously-skip-permissions", "--model", "claude-opus-4-8"]
    return command, {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CONFIG_DIR": str(place.home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        # Lets the agent run its tools without questions also as root, as in a container.
        "IS_SANDBOX": "1",
    }


CLAUDE = Program(
    "claude-code",
    "anthropic-messages",
    "@anthropic-ai/claude-code",
    _start_claude,
    write=lambda path, text: [("Write", {"file_path": str(path), "content": text})],
    command=lambda line: [("Bash", {"command": line, "description": "Run a command"})],
    read=lambda path: [("Read", {"file_path": str(path)})],
    image=lambda path: [("Read", {"file_path": str(path)})],
)


# -- Codex -------------------------------------------------------------------------------------------------------------

CODEX_CONFIG = """
model = "{model}"
model_provider = "gateway"
check_for_update_on_startup = false

[model_providers.gateway]
name = "gateway"
base_url = "{url}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"

[analytics]
enabled = false

[feedback]
enabled = false

# Both fetch lists of plugins and apps at the start.
[features]
plugins = false
apps = false
"""


def _start_codex(place: Place, prompt: str, model: str = "gpt-5.5") -> tuple[list[str], dict[str, str]]:
    folder = place.home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(CODEX_CONFIG.format(url=place.url, model=model))
    command = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt]
    return command, {"CODEX_HOME": str(folder), "GATEWAY_KEY": KEY}


def _patch(path: Path, text: str) -> str:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def _shell(line: str) -> list[tuple[str, Arguments]]:
    return [
        ("exec_command", {"cmd": line}),
        ("shell_command", {"command": line}),
        ("shell", {"command": ["bash", "-lc", line]}),
    ]


CODEX = Program(
    "codex",
    "openai-responses",
    "@openai/codex",
    _start_codex,
    write=lambda path, text: [("apply_patch", _patch(path, text)), *_shell(f"printf %s '{text}' > '{path}'")],
    command=_shell,
    read=lambda path: _shell(f"cat '{path}'"),
    image=lambda path: [("view_image", {"path": str(path)})],
)


def _script(code: str) -> list[tuple[str, Arguments]]:
    return [("functions__exec", code), ("exec", code)]


def _tool(name: str, arguments: Arguments) -> str:
    return f"const result = await tools.{name}({json.dumps(arguments)});"


# Newer models call all tools from JavaScript, with one tool that takes free text.
CODEX_SCRIPTS = Program(
    "codex-scripts",
    "openai-responses",
    "@openai/codex",
    partial(_start_codex, model="gpt-6-sol"),
    write=lambda path, text: _script(_tool("apply_patch", _patch(path, text)) + " text(result);"),
    command=lambda line: _script(_tool("exec_command", {"cmd": line}) + " text(result.output);"),
    read=lambda path: _script(_tool("exec_command", {"cmd": f"cat '{path}'"}) + " text(result.output);"),
    image=lambda path: _script(_tool("view_image", {"path": str(path)}) + " image(result);"),
    calls_at_once=False,
)


# -- Gemini CLI --------------------------------------------------------------------------------------------------------

GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "ide": {"enabled": False},
}


def _start_gemini(place: Place, prompt: str) -> tuple[list[str], dict[str, str]]:
    folder = place.home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(GEMINI_SETTINGS))
    command = ["gemini", "--prompt", prompt, "--approval-mode", "yolo", "--model", "gemini-3-pro-preview"]
    return command, {
        "GOOGLE_GEMINI_BASE_URL": place.url,
        "GEMINI_API_KEY": KEY,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }


GEMINI = Program(
    "gemini-cli",
    "google-generate-content",
    "@google/gemini-cli",
    _start_gemini,
    write=lambda path, text: [("write_file", {"file_path": str(path), "content": text})],
    command=lambda line: [("run_shell_command", {"command": line, "description": "Run a command"})],
    read=lambda path: [("read_file", {"file_path": str(path)})],
    image=lambda path: [("read_file", {"file_path": str(path)})],
)

PROGRAMS = {program.name: program for program in (CLAUDE, CODEX, CODEX_SCRIPTS, GEMINI)}
