"""Convert patches of one file, for Codex's tool `apply_patch`, to the values of an action, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PATCH = re.compile(
    r"\*\*\* Begin Patch\n\*\*\* (?P<verb>Add|Update) File: (?P<path>[^\n]+)\n(?P<body>.*?)\*\*\* End Patch\n?",
    re.DOTALL,
)


def values_of(patch: str, action: str) -> dict[str, Any] | None:
    """Return the values of a patch that does the action "write" or "edit"; None if it does something else."""
    match = _PATCH.fullmatch(patch)
    if match is None:
        return None
    lines = match["body"].split("\n")[:-1]
    if action == "write":
        if match["verb"] != "Add" or not all(line.startswith("+") for line in lines):
            return None
        return {"path": match["path"], "text": "".join(f"{line[1:]}\n" for line in lines)}
    if match["verb"] != "Update":
        return None
    hunk = lines[1:] if lines[:1] == ["@@"] else lines
    if not hunk or not all(line[:1] in (" ", "-", "+") for line in hunk):
        return None
    old = "\n".join(line[1:] for line in hunk if line[0] in " -")
    new = "\n".join(line[1:] for line in hunk if line[0] in " +")
    return {"path": match["path"], "old": old, "new": new} if old else None


def patch_of(action: str, values: dict[str, Any], artifact: Any) -> str | None:
    """Return the patch that does an action; None if no patch does exactly the same.

    A patch replaces whole lines, but an edit of Claude Code replaces any text. The lines of an edit are therefore taken
    from `artifact`, the program's own form of the result.
    """
    path = values["path"]
    if "\n" in path:
        return None
    if action == "write":
        text = values["text"]
        if text and not text.endswith("\n"):
            return None
        body = "".join(f"+{line}\n" for line in text.split("\n")[:-1])
        return f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch\n"
    hunks = list(_hunks(artifact))
    if not hunks:
        return None
    body = "".join(f"@@\n{hunk}" for hunk in hunks)
    return f"*** Begin Patch\n*** Update File: {path}\n{body}*** End Patch\n"


def _hunks(artifact: Any) -> Iterator[str]:
    """Yield the text of each hunk of `structuredPatch`; nothing if a hunk is malformed."""
    hunks = artifact.get("structuredPatch") if isinstance(artifact, dict) else None
    lines_of_hunks = [
        hunk.get("lines") if isinstance(hunk, dict) else None for hunk in hunks or () if isinstance(hunks, list)
    ]
    if all(isinstance(lines, list) and lines and all(map(_is_line, lines)) for lines in lines_of_hunks):
        yield from ("".join(f"{line}\n" for line in lines) for lines in lines_of_hunks if lines)


def _is_line(line: object) -> bool:
    return isinstance(line, str) and line[:1] in (" ", "-", "+") and "\n" not in line
