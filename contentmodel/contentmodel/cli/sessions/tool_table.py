"""A table of the tools of coding agents that correspond to each other.

The arguments are those of Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0 (observed on 2026-11-23), and of
the shell tools of older versions of Codex.
"""

from __future__ import annotations

import msgspec

from contentmodel.cli.sessions.agents import CLAUDE, CODEX, GEMINI


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of an agent. Tools with the same action correspond to each other."""

    api: str
    name: str
    action: str
    arguments: dict[str, str] = {}
    """The name of the action's value for each argument. A call with any other argument is not converted."""
    ignored: frozenset[str] = frozenset()
    """Arguments without meaning for the history: they are dropped, and reported as losses."""
    takes_patch: bool = False
    """True if the input of the tool is the text of a patch."""
    only_images: bool = False
    """True if the tool only reads images."""
    absolute_paths: bool = False
    """True if the tool refuses relative paths."""


MINOR = frozenset({"timeout"})
"""Values that are dropped, and reported as losses, if the target's tool has no argument for them."""

_SHELL = frozenset({"justification", "login", "prefix_rule", "sandbox_permissions", "with_escalated_permissions"})
_EXEC = _SHELL | {"max_output_tokens", "shell", "tty", "yield_time_ms"}
_OLD = {"command": "command", "timeout_ms": "timeout", "workdir": "directory"}

TOOLS = (
    Tool(
        api=CLAUDE.api,
        name="Bash",
        action="shell",
        arguments={"command": "command", "timeout": "timeout"},
        ignored=frozenset({"description", "dangerouslyDisableSandbox"}),
    ),
    Tool(
        api=CODEX.api,
        name="exec_command",
        action="shell",
        arguments={"cmd": "command", "workdir": "directory"},
        ignored=_EXEC,
    ),
    Tool(api=CODEX.api, name="shell_command", action="shell", arguments=_OLD, ignored=_SHELL),
    Tool(api=CODEX.api, name="shell", action="shell", arguments=_OLD, ignored=_SHELL),
    Tool(
        api=GEMINI.api,
        name="run_shell_command",
        action="shell",
        arguments={"command": "command", "dir_path": "directory"},
        ignored=frozenset({"description"}),
    ),
    Tool(
        api=CLAUDE.api,
        name="Write",
        action="write",
        arguments={"file_path": "path", "content": "text"},
        absolute_paths=True,
    ),
    Tool(api=CODEX.api, name="apply_patch", action="write", takes_patch=True),
    Tool(api=GEMINI.api, name="write_file", action="write", arguments={"file_path": "path", "content": "text"}),
    Tool(
        api=CLAUDE.api,
        name="Edit",
        action="edit",
        arguments={"file_path": "path", "old_string": "old", "new_string": "new", "replace_all": "all"},
        absolute_paths=True,
    ),
    Tool(api=CODEX.api, name="apply_patch", action="edit", takes_patch=True),
    Tool(
        api=GEMINI.api,
        name="replace",
        action="edit",
        arguments={"file_path": "path", "old_string": "old", "new_string": "new", "allow_multiple": "all"},
        ignored=frozenset({"instruction"}),
    ),
    Tool(api=CLAUDE.api, name="Read", action="read", arguments={"file_path": "path"}, absolute_paths=True),
    Tool(api=CODEX.api, name="view_image", action="read", arguments={"path": "path"}, only_images=True),
    Tool(api=GEMINI.api, name="read_file", action="read", arguments={"file_path": "path"}),
)
"""All tools. If an agent has several for one action, calls of other agents are converted to the first that fits."""
