"""Optional dependencies: a missing module is reported with the extra that installs it.

An import of an optional dependency is within `needs_extra`, or in code that runs only after it. tests/test_extras.py
has a row for each of these imports.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from contentmodel.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str | None, *modules: str) -> Iterator[None]:
    """Raise MissingExtraError with `extra` if one of `modules` is missing, or if the body imports a missing module.

    `modules` are searched for without importing them. `extra` is None if no extra installs them.
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
