"""The makers of models whose opaque state hosts pass on, by the names of their models."""

from __future__ import annotations

import re
from collections.abc import Mapping

from contentmodel.authoring import makers

_BEFORE = "(?:^|[/.@:]|^databricks-)"
MAKERS = {maker: rf"{_BEFORE}(?:{makers.NAMES[maker]})" for maker in ("anthropic", "google")}
"""The makers of models whose opaque state proxies pass on, with the pattern of the names of their models."""
OF_SEALED = {**MAKERS, "xai": rf"(?:^|[/.@:])(?:{makers.NAMES['xai']})"}
"""The makers, besides OpenAI, of models whose encrypted reasoning hosts of the Responses API send."""


def maker_of(model: str | None) -> str | None:
    """Return the maker of a model if proxies pass on its opaque state; else None."""
    return _maker_in(MAKERS, model)


def sealer_of(model: str | None) -> str | None:
    """Return the maker of a model if its encrypted reasoning is not OpenAI's; None if it is, or is unknown."""
    return _maker_in(OF_SEALED, model)


def _maker_in(patterns: Mapping[str, str], model: str | None) -> str | None:
    return next((maker for maker, names in patterns.items() if model and re.search(names, model)), None)
