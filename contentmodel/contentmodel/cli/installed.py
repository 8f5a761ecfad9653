"""The installed adapters. An adapter that cannot be loaded is reported."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, overload

from contentmodel.adapter import GROUP, adapter
from contentmodel.cli.errors import Problem
from contentmodel.names import SHORT, api_and_model, api_of

STORED = "contentmodel"
"""The name of the stored format, accepted like the id of an API."""


@cache
def points() -> dict[str, EntryPoint]:
    """Return the entry points of the adapters, by API id."""
    return {point.name: point for point in sorted(entry_points(group=GROUP))}


def load(api: str) -> Any:
    """Return the adapter of an API. Raise Problem if it cannot be loaded."""
    try:
        return adapter(api)
    except Exception as error:  # The module of a third party can raise any exception on import.
        reason = f"{type(error).__name__}: {error}"
        hint = "update or remove the package that provides it, or name another API with --from and --kind"
        raise Problem(f"the adapter of {api} cannot be loaded: {reason}", hint=hint) from error


def load_all() -> None:
    """Load all adapters, as detection needs them. Raise Problem if one cannot be loaded."""
    for api in points():
        load(api)


def has_lines(api: str) -> bool:
    """Return whether a document of an API is JSON Lines. Raise Problem if its adapter cannot be loaded."""
    return api != STORED and getattr(load(api), "form", "json") == "lines"


@overload
def api_option(name: str, option: str, *, stored: bool = True) -> str: ...
@overload
def api_option(name: str | None, option: str, *, stored: bool = True) -> str | None: ...
def api_option(name: str | None, option: str, *, stored: bool = True) -> str | None:
    """Return the id of the API that an option names, also by a short name. Raise Problem if it is not installed."""
    installed = [*points(), *([STORED] if stored else [])]
    if name is None or api_of(name) in installed:
        return None if name is None else api_of(name)
    known = [*SHORT, *installed]
    matches = get_close_matches(name, known, n=1)
    hint = f"did you mean {matches[0]}? " if matches else ""
    raise Problem(f"{option}: unknown API {name!r}", hint=f"{hint}use one of: {', '.join(known)}")


@overload
def target_option(name: str, option: str, model: str | None, *, stored: bool = True) -> tuple[str, str | None]: ...
@overload
def target_option(
    name: str | None, option: str, model: str | None, *, stored: bool = True
) -> tuple[str | None, str | None]: ...
def target_option(
    name: str | None, option: str, model: str | None, *, stored: bool = True
) -> tuple[str | None, str | None]:
    """Return the id of the API and the model that an option names, as in "anthropic:claude-opus-5".

    `model` is the option --model. Raise Problem if the API is not installed, or both options name a model.
    """
    if name is None:
        return None, model
    try:
        api, model = api_and_model(name, model)
    except ValueError as error:
        raise Problem(f"{option}: {error}") from None
    return api_option(api, option, stored=stored), model
