"""Optional dependencies: which extra of the distribution to install when one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from contentmodel.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str, *modules: str) -> Iterator[None]:
    """Raise MissingExtraError, which names `extra`, if a module that it installs is missing.

    `modules` are looked for without importing them; other modules are noticed when the body imports them.
    """
    try:
        for module in modules:
            if find_spec(module) is None:
                raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        yield
    except ModuleNotFoundError as error:
        if isinstance(error, MissingExtraError) or (error.name or "").partition(".")[0] == "contentmodel":
            raise
        raise MissingExtraError(extra, error.name or "a package") from error
