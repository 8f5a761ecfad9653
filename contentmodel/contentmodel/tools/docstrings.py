"""Read the descriptions of a function and its parameters from a docstring in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def read_docstring(function: Callable[..., Any]) -> tuple[str | None, dict[str, str]]:
    """Return the description without its sections, and the text of each parameter that has one.

    If the style is unknown, the whole docstring is the description.
    """
    text = inspect.getdoc(function)
    if not text:
        return None, {}
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(text)
    except ParseError:
        return text, {}
    texts = {param.arg_name.lstrip("*"): _one_line(param.description) for param in parsed.params if param.description}
    return (parsed.description or "").strip() or None, texts


def _one_line(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n")).strip()
