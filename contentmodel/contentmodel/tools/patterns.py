"""Run the patterns of JSON Schemas with RE2. Its time is linear in the text, so no pattern can block the process.

JSON Schema uses the syntax of ECMA-262. RE2 has no lookaround and no back-references, which need a backtracking engine.
A pattern that uses these, or that is too large, is not enforced; `unenforced_patterns` reports it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from contentmodel.json import whole_number

MAX_PATTERN = 5_000
"""The maximum number of characters of a pattern. A longer one is not enforced."""
MAX_REPEAT = 1000
"""The largest count that RE2 accepts in {m,n}."""
MAX_MEMORY = 4 * 2**20
"""The maximum memory of RE2 for one pattern, in bytes."""

_SPACE = r"\t\n\v\f\r \x{a0}\x{feff}\x{2028}\x{2029}\p{Zs}"
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_TOKEN = re.compile(
    r"\\u\{(?P<point>[0-9a-fA-F]+)\}"
    r"|\\u(?P<unit>[0-9a-fA-F]{4})"
    r"|\\c(?P<control>[A-Za-z])"
    r"|\\(?P<sign>[pP])\{(?:Script|sc|General_Category|gc)=(?P<property>\w+)\}"
    r"|\\(?P<escaped>.)"
    r"|(?P<plain>[^\\\[\]]+|.)",
    re.DOTALL,
)
_REPEAT = re.compile(
    r"(?P<atom>\\[pP]\{\w+\}|\\x\{\w+\}|\\[^\d]|\[\^?\]?(?:\\.|[^\]\\]){0,200}\]|[^\\()\[\]{}|*+?^$])"
    r"\{(?P<least>\d+)(?P<comma>,(?P<most>\d*))?\}",
    re.DOTALL,
)


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. `size` is the number of steps of RE2's program; None if the pattern is not enforced.

    `problem` is the reason why it is not enforced.
    """

    size: int | None
    problem: str = ""
    _program: Any = None

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in `text`. A pattern that is not enforced matches everything."""
        if self._program is None:
            return True
        # RE2 reads UTF-8, which cannot encode lone surrogates.
        return self._program.search(text.encode("utf-8", "replace")) is not None


@lru_cache(maxsize=128)
def compiled(pattern: str) -> Pattern:
    """Compile a pattern of ECMA-262."""
    import re2  # type: ignore[import-untyped]

    if len(pattern) > MAX_PATTERN:
        return Pattern(None, f"it has more than {MAX_PATTERN:,} characters")
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        program = re2.compile(translated(pattern).encode("utf-8", "replace"), options)
    except re2.error as error:
        message = error.args[0] if error.args else b""
        return Pattern(None, f"RE2 refuses it: {_text(message)}")
    return Pattern(program.programsize, "", program)


def _text(message: Any) -> str:
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


def translated(pattern: str) -> str:
    """Translate a pattern of ECMA-262 to the syntax of RE2."""
    pieces: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(_PAIR.sub(_joined, pattern)):
        if token["plain"] == "[" or token["plain"] == "]":
            in_class = token["plain"] == "["
        pieces.append(_token(token, in_class))
    return _REPEAT.sub(_split, "".join(pieces))


def _joined(pair: re.Match[str]) -> str:
    high, low = (int(half, 16) for half in pair.groups())
    return f"\\u{{{0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF):x}}}"


def _token(token: re.Match[str], in_class: bool) -> str:
    hexadecimal = token["point"] or token["unit"]
    if hexadecimal:
        return f"\\x{{{hexadecimal}}}"
    if token["control"]:
        return f"\\x{{{ord(token['control']) % 32:x}}}"
    if token["property"]:
        return f"\\{token['sign']}{{{token['property']}}}"
    if token["escaped"] == "s":
        return _SPACE if in_class else f"[{_SPACE}]"
    if token["escaped"] == "S" and not in_class:
        return f"[^{_SPACE}]"
    return token[0]


def _split(repeat: re.Match[str]) -> str:
    """Split a repeat with large counts: x{1,1500} becomes x{1}x{0,1000}x{0,499}."""
    atom, least, most = repeat["atom"], whole_number(repeat["least"]), whole_number(repeat["most"] or "")
    if least is None or (most is None and repeat["most"]):
        return repeat[0]
    if not repeat["comma"]:
        most = least
    if max(least, most or 0) <= MAX_REPEAT or max(least, most or 0) > MAX_PATTERN:
        return repeat[0]
    needed = "".join(f"{atom}{{{count}}}" for count in _parts(least))
    if most is None:
        return f"{needed}{atom}*"
    return needed + "".join(f"{atom}{{0,{count}}}" for count in _parts(most - least))


def _parts(count: int) -> list[int]:
    return [MAX_REPEAT] * (count // MAX_REPEAT) + ([count % MAX_REPEAT] if count % MAX_REPEAT else [])
