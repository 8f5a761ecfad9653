"""Find which of many texts are part of other texts, without a search through all of them for each."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable

_SHORT = 16
"""A word shorter than this is part of a text only where it stands by itself, and not inside of another word."""
_BLOCK = 8
"""The size of the pieces that long texts are looked up by. A text of `2 * _BLOCK - 1` characters holds a whole one."""

_WORD = re.compile(r"\w[\w.-]*")
_WORD_START = re.compile(rf"(?<!\w)(?=(\w[\w.-]{{0,{_SHORT - 2}}}))")
_WORD_CHARACTER = re.compile(r"\w")


def contained(wanted: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Return those of `wanted` that are part of one of `texts`, but not all of it.

    The time grows with the lengths of `wanted` and of `texts`, and not with their product.
    """
    words: set[str] = set()
    short: dict[int, set[str]] = {}
    long: set[str] = set()
    for text in wanted:
        if len(text) >= _SHORT:
            long.add(text)
        elif _WORD.fullmatch(text):
            words.add(text)
        else:
            short.setdefault(len(text), set()).add(text)
    places = list(dict.fromkeys(texts))
    return _words_in(words, places) | _short_in(short, places) | _long_in(long, places)


def _words_in(words: Collection[str], texts: list[str]) -> set[str]:
    found: set[str] = set()
    for text in texts if words else ():
        for start in _WORD_START.finditer(text):
            run = start[1]
            for size in range(1, len(run) + 1):
                word = run[:size]
                if word in words and word != text and not _WORD_CHARACTER.match(text, start.start() + size):
                    found.add(word)
    return found


def _short_in(short: dict[int, set[str]], texts: list[str]) -> set[str]:
    found: set[str] = set()
    for size, wanted in short.items():
        for text in texts:
            if len(text) > size:
                found |= wanted.intersection(map("".join, zip(*(text[at:] for at in range(size)), strict=False)))
    return found


def _long_in(wanted: Collection[str], texts: list[str]) -> set[str]:
    if not wanted:
        return set()
    joined = "".join(texts)
    blocks: dict[str, list[int]] = {}
    for at in range(0, len(joined) - _BLOCK + 1, _BLOCK):
        blocks.setdefault(joined[at : at + _BLOCK], []).append(at)
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text))
    return {text for text in wanted if _is_in(text, joined, blocks, starts)}


def _is_in(text: str, joined: str, blocks: dict[str, list[int]], starts: list[int]) -> bool:
    """Return whether a text is part of one of the joined texts, which begin at `starts`, but not all of it.

    Wherever it stands, a block begins at one of its first characters. The rarest of the blocks from there on leaves
    the fewest places to look at.
    """
    for offset in range(_BLOCK):
        found = [(blocks.get(text[at : at + _BLOCK], ()), at) for at in range(offset, len(text) - _BLOCK + 1, _BLOCK)]
        places, inside = min(found, key=lambda one: len(one[0]))
        for place in places:
            start = place - inside
            if start >= 0 and joined.startswith(text, start) and _is_part(start, start + len(text), starts):
                return True
    return False


def _is_part(start: int, end: int, starts: list[int]) -> bool:
    """Return whether a place in the joined texts is a part of one of them, but not all of it."""
    owner = bisect_right(starts, start) - 1
    return end <= starts[owner + 1] and (starts[owner], starts[owner + 1]) != (start, end)
