"""What a docstring says of a function and of each of its parameters, in Google, NumPy or reST style."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def read_docstring(function: Callable[..., Any]) -> tuple[str | None, dict[str, str]]:
    """The description, without its sections, and the text of each parameter that has one.

    A docstring of no known style is a description as it stands.
    """
    text = inspect.getdoc(function)
    if not text:
        return None, {}
    from docstring_parser import ParseError, parse

    try:
        found = parse(text)
    except ParseError:
        return text, {}
    said = {param.arg_name.lstrip("*"): _one_line(param.description) for param in found.params if param.description}
    return (found.description or "").strip() or None, said


def _one_line(text: str) -> str:
    """A text that was broken only to fit the source; paragraphs stay apart."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n")).strip()
