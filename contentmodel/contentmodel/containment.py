"""Count how often texts are part of other texts, without a search through all of them for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

_SHORT = 16
"""A word shorter than this is part of a text only where it stands by itself, and not inside of another word."""

_WORD = re.compile(r"\w[\w.-]*")
_WORD_START = re.compile(rf"(?<!\w)(?=(\w[\w.-]{{0,{_SHORT - 2}}}))")
_WORD_CHARACTER = re.compile(r"\w")


def occurrences(wanted: Iterable[str], texts: Mapping[str, int]) -> Counter[str]:
    """Return how often each of `wanted` is a part of `texts`, which have as many copies as the mapping says.

    A text is no part of itself. Parts may overlap. Time and memory grow with the lengths of `wanted` and `texts`, and
    not with their product.
    """
    longest = max(map(len, texts), default=0)
    looked_for = {text for text in wanted if text and len(text) <= longest}
    words = {text for text in looked_for if len(text) < _SHORT and _WORD.fullmatch(text)}
    found = _words_in(words, texts)
    found.update(_parts_in(looked_for - words, texts))
    return found


def _words_in(words: Collection[str], texts: Mapping[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text, copies in texts.items() if words else ():
        for start in _WORD_START.finditer(text):
            run = start[1]
            for size in range(1, len(run) + 1):
                word = run[:size]
                if word in words and word != text and not _WORD_CHARACTER.match(text, start.start() + size):
                    found[word] += copies
    return found


def _parts_in(wanted: Collection[str], texts: Mapping[str, int]) -> Counter[str]:
    if not wanted:
        return Counter()
    search = _Search(wanted)
    for text, copies in texts.items():
        search.read(text, copies)
    return search.found()


class _Search:
    """The Aho-Corasick algorithm: a trie of the wanted texts, in which a text is read once, for all of them.

    A node stands for a beginning of wanted texts: 0 for the empty one. Most nodes have one child, whose number is the
    next: `_letters` has the letter that leads there. Further children are in `_branches`. The `_rest` of a node is the
    longest of its proper endings that has a node.
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
        """Return the node of the longest ending of a node's text and a letter."""
        child = self._child(node, letter)
        while not child and node:
            node = self._rest[node]
            child = self._child(node, letter)
        return child

    def read(self, text: str, copies: int) -> None:
        """Look for the wanted texts in a text that is there as often as `copies`."""
        node, visits = 0, self._visits
        for letter in text:
            node = self._next(node, letter)
            visits[node] += copies
        if self._ends.get(text) == node:
            # All of a text is no part of it, but the endings of it are.
            visits[node] -= copies
            visits[self._rest[node]] += copies

    def found(self) -> Counter[str]:
        """Return how often each wanted text is a part of those that were read."""
        visits = self._visits.copy()
        for node in reversed(self._order):
            visits[self._rest[node]] += visits[node]
        return Counter({text: visits[node] for text, node in self._ends.items() if visits[node]})
