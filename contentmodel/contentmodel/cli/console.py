"""Where text meets a terminal: consoles, and text that cannot harm one.

What a payload says is never markup, and its control characters are shown, not obeyed.
"""

from __future__ import annotations

import re
import sys
import unicodedata

from rich.console import Console
from rich.text import Text


def _hostile() -> re.Pattern[str]:
    """Controls, bidirectional overrides, invisible format and tag characters, lone surrogates, line separators.

    Tab and newline are harmless, and the joiners hold emoji and scripts together.
    """
    codes = (code for code in range(0xE0080) if chr(code) not in "\t\n\u200c\u200d")
    bad = [chr(code) for code in codes if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    return re.compile("[" + "".join(map(re.escape, bad)) + "]")


HOSTILE = _hostile()


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey, or hide, written as an escape."""
    return HOSTILE.sub(lambda match: _escape(match.group()), text.replace("\r\n", "\n"))


def safe_text(text: str, style: str = "") -> Text:
    """`visible(text)` for rich, the escapes marked so that nobody takes them for what was said."""
    text = text.replace("\r\n", "\n")
    result, end = Text(style=style), 0
    for match in HOSTILE.finditer(text):
        result.append(text[end : match.start()])
        result.append(_escape(match.group()), style="reverse")
        end = match.end()
    result.append(text[end:])
    return result


def safe_json(body: bytes) -> bytes:
    """The same JSON value, with what a terminal would obey as JSON escapes."""
    text = body.decode("utf-8", "surrogatepass")
    return HOSTILE.sub(lambda match: _json_escape(match.group()), text).encode()


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def out(width: int | None = None) -> Console:
    """Standard output. A character that its encoding does not have is written as an escape."""
    _tolerate(sys.stdout)
    return Console(width=width, highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Standard error: progress, summaries, what went wrong."""
    _tolerate(sys.stderr)
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def _tolerate(stream: object) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
