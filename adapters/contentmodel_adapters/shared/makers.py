"""The makers of models whose opaque state others pass on, by the names of their models."""

from __future__ import annotations

import re

MAKERS = {"anthropic": r"(?:^|[/.@:])claude-", "google": r"(?:^|[/.@:])gemini-"}
"""The makers of models whose opaque state proxies pass on, with the pattern of the names of their models."""


def maker_of(model: str | None) -> str | None:
    """Return the maker of a model if proxies pass on its opaque state; else None."""
    return next((maker for maker, names in MAKERS.items() if model and re.search(names, model)), None)
