"""The adapters that are installed; one that cannot be loaded is named, and is no crash."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from contentmodel.adapter import GROUP, adapter
from contentmodel.cli.errors import Problem

STORED = "contentmodel"
"""The model's own format, beside the ids of the APIs."""


@cache
def points() -> dict[str, EntryPoint]:
    """The entry points of the adapters, by API id."""
    return {point.name: point for point in sorted(entry_points(group=GROUP))}


def load(api: str) -> Any:
    """The adapter of an API. Problem where its code fails."""
    try:
        return adapter(api)
    except Exception as error:  # Whatever a stranger's module raises when it is imported.
        why = f"{type(error).__name__}: {error}"
        hint = "update or remove the package that brings it, or name other APIs with --from and --kind"
        raise Problem(f"the adapter of {api} cannot be loaded: {why}", hint=hint) from error


def load_all() -> None:
    """Problem where one of them fails: nothing can be detected without it."""
    for api in points():
        load(api)


def check_api(name: str | None, option: str, *, stored: bool = True) -> None:
    """Problem where an option names no API that is installed."""
    known = [*points(), *([STORED] if stored else [])]
    if name is None or name in known:
        return
    matches = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {matches[0]}? " if matches else ""
    raise Problem(f"{option}: there is no API {name!r}", hint=f"{hint}there are: {', '.join(known)}")
