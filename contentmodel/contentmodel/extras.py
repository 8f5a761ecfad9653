"""Optional dependencies: report the extra of the distribution that installs a missing module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from contentmodel.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str, *modules: str) -> Iterator[None]:
    """Raise MissingExtraError with `extra` if one of `modules` is missing, or if an import in the body fails.

    `modules` are searched for without importing them.
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
