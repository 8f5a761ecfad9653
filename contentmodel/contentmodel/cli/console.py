"""Consoles, and text that is safe to print on a terminal.

Text of a payload is never parsed as markup, and its control characters are printed as escapes.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from typing import Any

from rich.console import Console
from rich.text import Text

HOSTILE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; tab and newline are harmless
    "\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible; the joiners make emoji
    "\u2028-\u202e"  # line separators, bidirectional embeddings and overrides
    "\ud800-\udfff"  # halves of characters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # invisible; tags smuggle text
    "]"
)
"""Characters that a terminal would interpret or hide."""


_DEFAULT_WIDTH = 80
"""The width that rich takes if the terminal reports none."""


def visible(text: str) -> str:
    """Return `text` with every hostile character written as an escape."""
    return HOSTILE.sub(lambda match: _escape(match.group()), text.replace("\r\n", "\n"))


def safe_text(text: str, style: str = "") -> Text:
    """Return `visible(text)` for rich, with the escapes highlighted to tell them from the original text."""
    text = text.replace("\r\n", "\n")
    result, end = Text(style=style), 0
    for match in HOSTILE.finditer(text):
        result.append(text[end : match.start()])
        result.append(_escape(match.group()), style="reverse")
        end = match.end()
    result.append(text[end:])
    return result


def safe_json(body: bytes) -> bytes:
    """Return the same JSON value with every hostile character written as a JSON escape."""
    text = body.decode("utf-8", "surrogatepass")
    return HOSTILE.sub(lambda match: _json_escape(match.group()), text).encode()


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


class Terminal(Console):
    """A console that raises BrokenPipeError; rich would exit. If COLUMNS is 0, it has the default width."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.width < 1:
            self.width = _DEFAULT_WIDTH

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out(width: int | None = None) -> Terminal:
    """Return standard output. Characters outside its encoding are written as escapes."""
    _tolerate(sys.stdout)
    return Terminal(width=width, highlight=False, markup=False, emoji=False)


def err() -> Terminal:
    """Return standard error, for progress, summaries and errors."""
    _tolerate(sys.stderr)
    return _err(os.environ.get("COLUMNS"))


@cache
def _err(columns: str | None) -> Terminal:
    # One shared console: text is printed above a progress bar, not inside its line. It keeps the width of its start.
    return Terminal(stderr=True, highlight=False, markup=False, emoji=False)


def _tolerate(stream: object) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
