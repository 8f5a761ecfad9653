"""Choose the formats that the slow tests try whole, from the files that a change touches.

A family is a group of formats that share code. The formats of a family that a change touches are tried whole: with all
their partners, all their examples, and all checks. Every other format is tried with one representative of each family.
A change of anything else, such as the engine or the kit, touches no family, so every format is tried with the
representatives. A change of many families is one of what they share.

CONTENTMODEL_WHOLE names the families instead ("openai,aws", or "all", as in `make nightly`). CONTENTMODEL_BASE is the
commit that a change is compared with; by default, where the branch left origin/main. Without git, no family is touched.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import NamedTuple

FAMILIES: dict[str, tuple[str, ...]] = {
    "openai": ("openai-responses", "openai-chat"),
    "anthropic": ("anthropic-messages",),
    "google": ("google-generate-content", "google-interactions"),
    "aws": ("bedrock-converse",),
    "chat": ("mistral-chat", "cohere-chat", "ollama-chat"),
    "frameworks": (
        *("pydantic-ai-messages", "langchain-messages", "meai", "agent-framework", "vercel-ui-messages"),
        *("vercel-model-messages", "ag-ui", "mcp-sampling"),
    ),
    "sessions": ("claude-code-session", "codex-rollout", "gemini-cli-session"),
    "datasets": ("atif", "turn-blocks", "openai-finetune", "hf-messages", "sharegpt"),
    "telemetry": ("otel-gen-ai", "inspect-eval-log"),
}
"""The formats of each family. The first one represents it."""
REPRESENTATIVES = tuple(formats[0] for formats in FAMILIES.values())
FAMILY_OF = {api: family for family, formats in FAMILIES.items() for api in formats}
MOST = 2
"""The largest number of families that are tried whole. A change of more is one of what they share."""
ROOT = Path(__file__).parent.parent
PACKAGE = PurePosixPath("adapters/contentmodel_adapters")


class Choice(NamedTuple):
    """The families whose formats are tried whole, and why."""

    families: frozenset[str]
    reason: str

    def is_whole(self, api: str) -> bool:
        """Return whether a format is tried with all its partners."""
        return FAMILY_OF.get(api) in self.families

    def __str__(self) -> str:
        whole = ", ".join(sorted(self.families)) or "no family"
        return f"formats: {whole} whole, the others with one partner of each family ({self.reason})"


@cache
def chosen() -> Choice:
    """Return the choice of this run."""
    return choice(os.environ, ROOT)


def choice(environment: Mapping[str, str], root: Path) -> Choice:
    """Return the choice for an environment and a working tree. Raises ValueError for the name of no family."""
    given = environment.get("CONTENTMODEL_WHOLE")
    if given is not None:
        named = frozenset(FAMILIES if given == "all" else filter(None, given.split(",")))
        if unknown := named - FAMILIES.keys():
            raise ValueError(f"CONTENTMODEL_WHOLE: {', '.join(sorted(unknown))}: pass all, or {', '.join(FAMILIES)}")
        return Choice(named, "CONTENTMODEL_WHOLE")
    try:
        base = environment.get("CONTENTMODEL_BASE") or _git(root, "merge-base", "HEAD", "origin/main").strip()
        changed = _git(root, "diff", "--name-only", base, "--").splitlines()
        changed += _git(root, "ls-files", "--others", "--exclude-standard").splitlines()
    except (OSError, subprocess.SubprocessError):
        return Choice(frozenset(), "what changed is unknown: set CONTENTMODEL_BASE to a commit")
    touched = families_of(changed)
    since = f"changed since {base[:12]}: {', '.join(sorted(touched)) or 'no family'}"
    return Choice(touched, since) if len(touched) <= MOST else Choice(frozenset(), since)


def families_of(files: Iterable[str]) -> frozenset[str]:
    """Return the families that have one of these files: in the folder of a format, or in one that several share."""
    folders = folders_of_formats()
    touched = set()
    for file in map(PurePosixPath, files):
        for api, folder in folders.items():
            shared = [parent for parent in folder.parents if parent.is_relative_to(PACKAGE) and parent != PACKAGE]
            if file.is_relative_to(folder) or file.parent in shared:
                touched.add(FAMILY_OF[api])
    return frozenset(touched)


@cache
def folders_of_formats() -> dict[str, PurePosixPath]:
    """Return the folder of each format, in the repository."""
    points = entry_points(group="contentmodel.adapters")
    own = {point.name: point.module for point in points if point.name in FAMILY_OF}
    return {api: PACKAGE.parent.joinpath(*module.split(".")) for api, module in own.items()}


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=60).stdout
