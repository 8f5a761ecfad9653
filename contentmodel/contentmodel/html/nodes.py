"""What a page is made of: a few shapes that the template knows, and text in pieces that cannot harm a reader.

The template escapes whatever stands in a piece. What a browser would obey or hide without being markup (controls,
bidirectional overrides, invisible tags, halves of characters) is written out here, as the command does for terminals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

HOSTILE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls; tab and newline are harmless
    "\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible; the joiners make emoji
    "\u2028-\u202e"  # line separators, bidirectional embeddings and overrides
    "\ud800-\udfff"  # halves of characters
    "\ufdd0-\ufdef\ufffe\uffff"  # no characters at all
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # invisible; tags smuggle text
    "]+"
)
"""What a browser would obey, hide or replace."""

SHOWN = 3_000
"""Characters of a text that stand open; more are folded."""
LINES = 50
_OPEN, _OPEN_LINES = 1_500, 25

Piece = tuple[str, str]
"""The kind ("" for words, "escape", "note") and the text."""
Marker = tuple[int, str]
"""Where a note's number stands in a text, in code points, and the number."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of the page. `shape` is the name that the template has for it."""

    shape: ClassVar[str]


class Words(Node, frozen=True, kw_only=True):
    """A text; where it is long, its start, and the `rest` of `count` characters folded. `style` is a class of ours."""

    shape: ClassVar[str] = "words"
    pieces: list[Piece]
    rest: list[Piece] = []
    count: int = 0
    style: str = ""


class Line(Node, frozen=True, kw_only=True):
    """A label and bits behind it: each a style of ours, pieces, and where it leads to ("" is nowhere)."""

    shape: ClassVar[str] = "line"
    label: list[Piece]
    bits: list[tuple[str, list[Piece], str]] = []
    style: str = ""


class Fold(Node, frozen=True, kw_only=True):
    """Nodes that are folded away below a line."""

    shape: ClassVar[str] = "fold"
    head: Line
    parts: list[Node]


class Box(Node, frozen=True, kw_only=True):
    """Nodes that belong together, below a line. `style` is a class of ours."""

    shape: ClassVar[str] = "box"
    head: Line | None = None
    parts: list[Node] = []
    style: str = ""


class Exchange(Node, frozen=True, kw_only=True):
    """A call, and its result beside it."""

    shape: ClassVar[str] = "exchange"
    call: Node
    result: Node


class Image(Node, frozen=True, kw_only=True):
    """An image whose bytes are known to be one. `source` is a data URI."""

    shape: ClassVar[str] = "image"
    source: str
    name: str


class Rows(Node, frozen=True, kw_only=True):
    """Names with nodes beside them."""

    shape: ClassVar[str] = "rows"
    rows: list[tuple[list[Piece], list[Node]]]


class Run(Node, frozen=True, kw_only=True):
    """A part of a text, in the middle of others."""

    shape: ClassVar[str] = "run"
    pieces: list[Piece]


class Element(Node, frozen=True, kw_only=True):
    """An element of Markdown: a `tag` of a fixed list, and what is in it. `link` is an address, `start` a list's."""

    shape: ClassVar[str] = "element"
    tag: str
    parts: list[Node] = []
    link: str = ""
    start: int | None = None


class Markup(Node, frozen=True, kw_only=True):
    """A text as its Markdown means it; where it is long, the `rest` is folded."""

    shape: ClassVar[str] = "markup"
    parts: list[Node]
    rest: list[Node] = []


class Article(Node, frozen=True, kw_only=True):
    """A message or a turn. `tone` is a class of ours, `anchor` the name that links lead to."""

    shape: ClassVar[str] = "article"
    head: Line
    parts: list[Node]
    foot: list[Node] = []
    tone: str = "other"
    anchor: str = ""


Nodes = Iterator[Node]

# -- text --------------------------------------------------------------------------------------------------------------


def pieces(text: str) -> list[Piece]:
    """A text with what is hostile in it written out. Line ends of Windows are line ends."""
    text = text.replace("\r\n", "\n")
    made, end = [], 0
    for match in HOSTILE.finditer(text):
        if match.start() > end:
            made.append(("", text[end : match.start()]))
        made.append(("escape", "".join(map(_escape, match.group()))))
        end = match.end()
    if end < len(text):
        made.append(("", text[end:]))
    return made


def visible(text: str) -> str:
    """The same as one text, for places that hold no markup."""
    return "".join(text for _, text in pieces(text))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def words(text: str, style: str = "", markers: Sequence[Marker] = ()) -> Words:
    """A text, folded where it is long, with the numbers of notes in it."""
    size = _open_size(text)
    shown = _marked(text, 0, size, [marker for marker in markers if marker[0] <= size])
    rest = _marked(text, size, len(text), [marker for marker in markers if marker[0] > size])
    return Words(pieces=shown, rest=rest, count=len(text) - size, style=style)


def _open_size(text: str) -> int:
    """How much of a text stands open."""
    lines = text.count("\n", 0, SHOWN + 1)
    if len(text) <= SHOWN and lines <= LINES:
        return len(text)
    size = min(_OPEN, sum(map(len, text[: _OPEN + 1].splitlines(keepends=True)[:_OPEN_LINES])))
    # The two halves of a line end stay together.
    return size - 1 if text[size - 1 : size + 1] == "\r\n" else size


def _marked(text: str, start: int, end: int, markers: Sequence[Marker]) -> list[Piece]:
    made: list[Piece] = []
    for at, number in sorted(markers):
        made += pieces(text[start:at])
        made.append(("note", number))
        start = at
    return made + pieces(text[start:end])


def line(label: str, *bits: Piece | None, style: str = "") -> Line:
    """A label, and the bits that are something: each a style of ours and a text."""
    made = [(name, pieces(text), "") for name, text in filter(None, bits) if text]
    return Line(label=pieces(label), bits=made, style=style)


def fold(label: str, parts: list[Node], *bits: Piece | None) -> Fold:
    """Nodes below a line, folded away."""
    return Fold(head=line(label, *bits), parts=parts)
