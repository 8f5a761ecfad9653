"""Count the occurrences of many texts in other texts in one pass. Return the forms of a value in texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from contentmodel.json import write

_SHORT = 16
"""A word shorter than this only counts as a whole word, not inside another word. Padded base64 is a word."""

_WORD = re.compile(r"\w[\w.-]*={0,2}")
_WORD_START = re.compile(rf"(?<!\w)(?=(\w[\w.=-]{{0,{_SHORT - 2}}}))")
_WORD_CHARACTER = re.compile(r"\w")


def occurrences(wanted: Iterable[str], texts: Mapping[str, int]) -> Counter[str]:
    """Count the occurrences of each of `wanted` in `texts`, a mapping of texts to their number of copies.

    A text is not an occurrence of itself. Occurrences may overlap. Time and memory are linear in the lengths of
    `wanted` and `texts`.
    """
    longest = max(map(len, texts), default=0)
    looked_for = {text for text in wanted if text and len(text) <= longest}
    words = {text for text in looked_for if len(text) < _SHORT and _WORD.fullmatch(text)}
    counts = _whole_words_in(words, texts)
    counts.update(_parts_in(looked_for - words, texts))
    return counts


def pieces(leaves: Iterable[tuple[tuple[str, ...], str, str]], texts: Mapping[str, int]) -> set[str]:
    """Return the paths of texts that are pieces of one of `texts`: "wor" and "ld" of "world".

    A leaf has the paths of its ancestors and its own, its key, and its text. The pieces are all leaves of one key below
    an ancestor, in order. White space may differ.
    """
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for above, key, text in leaves:
        for ancestor in above[:-1]:
            groups.setdefault((ancestor, key), []).append((above[-1], _without_spaces(text)))
    left: Counter[str] = Counter()
    for text, copies in texts.items():
        left[_without_spaces(text)] += max(copies, 0)
    paths: set[str] = set()
    for group in groups.values():
        whole = "".join(text for _, text in group)
        if len(group) > 1 and left[whole] > 0:
            left[whole] -= 1
            paths.update(path for path, _ in group)
    return paths


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _whole_words_in(words: Collection[str], texts: Mapping[str, int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, copies in texts.items() if words else ():
        for start in _WORD_START.finditer(text):
            run = start[1]
            for size in range(1, len(run) + 1):
                word = run[:size]
                if word in words and word != text and _is_whole(text, start.start(), start.start() + size):
                    counts[word] += copies
    return counts


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]`, which begins at the start of a word, is a whole word."""
    if text[end - 1] == "=":
        # The end of longer base64 is not a word.
        return text[end : end + 1] != "=" and text[max(start - 1, 0) : start] not in ("+", "/")
    return _WORD_CHARACTER.match(text, end) is None


def _parts_in(wanted: Collection[str], texts: Mapping[str, int]) -> Counter[str]:
    if not wanted:
        return Counter()
    search = _Search(wanted)
    for text, copies in texts.items():
        search.read(text, copies)
    return search.counts()


class _Search:
    """The Aho-Corasick algorithm: a trie of the wanted texts that reads a text once for all of them.

    A node represents a prefix of wanted texts; 0 is the empty prefix. Most nodes have one child, whose number is the
    next one; `_letters` has the letter of that child. `_branches` has further children. The `_rest` of a node is the
    node of its longest proper suffix.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        self._letters = [""]
        self._branches: dict[int, dict[str, int]] = {}
        self._ends = {text: self._add(text) for text in wanted}
        self._order = self._by_depth()
        self._rest = [0] * len(self._letters)
        self._link()
        self._visits = [0] * len(self._letters)

    def _add(self, text: str) -> int:
        """Add a text, and return its node."""
        node = 0
        for at, letter in enumerate(text):
            child = self._child(node, letter)
            if not child:
                self._branches.setdefault(node, {})[letter] = len(self._letters)
                self._letters += text[at + 1 :]
                self._letters.append("")
                return len(self._letters) - 1
            node = child
        return node

    def _child(self, node: int, letter: str) -> int:
        """Return the node of a text with one more letter; 0 if there is none."""
        if self._letters[node] == letter:
            return node + 1
        branches = self._branches.get(node)
        return branches.get(letter, 0) if branches else 0

    def _children(self, node: int) -> list[tuple[str, int]]:
        letter = self._letters[node]
        return [*([(letter, node + 1)] if letter else ()), *self._branches.get(node, {}).items()]

    def _by_depth(self) -> list[int]:
        """Return all nodes, those of shorter texts first."""
        order = [0]
        for node in order:
            order += [child for _, child in self._children(node)]
        return order

    def _link(self) -> None:
        for node in self._order:
            for letter, child in self._children(node):
                self._rest[child] = self._next(self._rest[node], letter) if node else 0

    def _next(self, node: int, letter: str) -> int:
        """Return the node of the longest suffix of a node's text followed by a letter."""
        child = self._child(node, letter)
        while not child and node:
            node = self._rest[node]
            child = self._child(node, letter)
        return child

    def read(self, text: str, copies: int) -> None:
        """Search a text for the wanted texts. Each occurrence counts `copies` times."""
        node, visits = 0, self._visits
        for letter in text:
            node = self._next(node, letter)
            visits[node] += copies
        if self._ends.get(text) == node:
            # The whole text does not count as its own occurrence, but its suffixes do.
            visits[node] -= copies
            visits[self._rest[node]] += copies

    def counts(self) -> Counter[str]:
        """Return the number of occurrences of each wanted text."""
        visits = self._visits.copy()
        for node in reversed(self._order):
            visits[self._rest[node]] += visits[node]
        return Counter({text: visits[node] for text, node in self._ends.items() if visits[node]})


def escaped(text: str) -> tuple[str, str]:
    """Return a text as it is in JSON, without quotes, and in JSON of ASCII: a longer text may contain JSON.

    JSON with half of a surrogate pair is written in ASCII.
    """
    return write(text).decode()[1:-1], json.dumps(text)[1:-1]


def spellings(value: Any) -> Collection[str]:
    """Return the texts of a scalar: Python and this library write large numbers differently (1e+16, 1e16)."""
    return (value,) if isinstance(value, str) else dict.fromkeys((json.dumps(value), write(value).decode()))
