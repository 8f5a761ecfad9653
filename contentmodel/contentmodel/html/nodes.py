"""The nodes of a page: a few shapes that the template renders, and text in safe pieces.

The template escapes the text of each piece. This module writes out characters that a browser would interpret or hide
(controls, bidirectional overrides, invisible tags, lone surrogates), as the command does for terminals.
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
    "\ud800-\udfff"  # surrogates
    "\ufdd0-\ufdef\ufffe\uffff"  # noncharacters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # invisible; tags can hide text
    "]+"
)
"""Characters that a browser would interpret, hide or replace."""

SHOWN = 3_000
"""The number of characters up to which a text is shown unfolded."""
LINES = 50
_OPEN, _OPEN_LINES = 1_500, 25

Piece = tuple[str, str]
"""The kind ("" for plain text, "escape", "note") and the text."""
Marker = tuple[int, str]
"""The position of a note's number in a text, in code points, and the number."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of nodes. `shape` is the name of the shape in the template."""

    shape: ClassVar[str]


class TextNode(Node, frozen=True, kw_only=True):
    """A text. If it is long, its `rest`, of `count` characters, is folded. `style` is a CSS class."""

    shape: ClassVar[str] = "words"
    pieces: list[Piece]
    rest: list[Piece] = []
    count: int = 0
    style: str = ""


class Line(Node, frozen=True, kw_only=True):
    """A label followed by bits: each a CSS class, pieces, and a link target ("" for none)."""

    shape: ClassVar[str] = "line"
    label: list[Piece]
    bits: list[tuple[str, list[Piece], str]] = []
    style: str = ""


class Fold(Node, frozen=True, kw_only=True):
    """Nodes that are folded below a line."""

    shape: ClassVar[str] = "fold"
    head: Line
    parts: list[Node]


class Box(Node, frozen=True, kw_only=True):
    """A group of nodes below a line. `style` is a CSS class."""

    shape: ClassVar[str] = "box"
    head: Line | None = None
    parts: list[Node] = []
    style: str = ""


class Exchange(Node, frozen=True, kw_only=True):
    """A call with its result next to it."""

    shape: ClassVar[str] = "exchange"
    call: Node
    result: Node


class Image(Node, frozen=True, kw_only=True):
    """An image whose bytes were validated. `source` is a data URI."""

    shape: ClassVar[str] = "image"
    source: str
    name: str


class Rows(Node, frozen=True, kw_only=True):
    """Rows of a name and nodes."""

    shape: ClassVar[str] = "rows"
    rows: list[tuple[list[Piece], list[Node]]]


class Run(Node, frozen=True, kw_only=True):
    """An inline part of a text."""

    shape: ClassVar[str] = "run"
    pieces: list[Piece]


class Element(Node, frozen=True, kw_only=True):
    """An element of Markdown: a `tag` of a fixed list, and its parts. `link` is a URL, `start` the start of a list."""

    shape: ClassVar[str] = "element"
    tag: str
    parts: list[Node] = []
    link: str = ""
    start: int | None = None


class Markup(Node, frozen=True, kw_only=True):
    """A text rendered as Markdown. If it is long, `rest` is folded."""

    shape: ClassVar[str] = "markup"
    parts: list[Node]
    rest: list[Node] = []


class Article(Node, frozen=True, kw_only=True):
    """A message or a turn. `tone` is a CSS class, `anchor` the target name of links."""

    shape: ClassVar[str] = "article"
    head: Line
    parts: list[Node]
    foot: list[Node] = []
    tone: str = "other"
    anchor: str = ""


Nodes = Iterator[Node]

# -- text --------------------------------------------------------------------------------------------------------------


def pieces(text: str) -> list[Piece]:
    """Split a text into pieces, with hostile characters written out. Convert Windows line ends."""
    text = text.replace("\r\n", "\n")
    result, end = [], 0
    for match in HOSTILE.finditer(text):
        if match.start() > end:
            result.append(("", text[end : match.start()]))
        result.append(("escape", "".join(map(_escape, match.group()))))
        end = match.end()
    if end < len(text):
        result.append(("", text[end:]))
    return result


def visible(text: str) -> str:
    """Return the text with hostile characters written out, for attributes and titles."""
    return "".join(text for _, text in pieces(text))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def text_node(text: str, style: str = "", markers: Sequence[Marker] = ()) -> TextNode:
    """Return a node for a text, folded if it is long, with the numbers of notes inserted."""
    size = _open_size(text)
    shown = _marked(text, 0, size, [marker for marker in markers if marker[0] <= size])
    folded = _marked(text, size, len(text), [marker for marker in markers if marker[0] > size])
    return TextNode(pieces=shown, rest=folded, count=len(text) - size, style=style)


def _open_size(text: str) -> int:
    """Return the number of characters of a text to show unfolded."""
    lines = text.count("\n", 0, SHOWN + 1)
    if len(text) <= SHOWN and lines <= LINES:
        return len(text)
    size = min(_OPEN, sum(map(len, text[: _OPEN + 1].splitlines(keepends=True)[:_OPEN_LINES])))
    # Do not split a Windows line end.
    return size - 1 if text[size - 1 : size + 1] == "\r\n" else size


def _marked(text: str, start: int, end: int, markers: Sequence[Marker]) -> list[Piece]:
    result: list[Piece] = []
    for at, number in sorted(markers):
        result += pieces(text[start:at])
        result.append(("note", number))
        start = at
    return result + pieces(text[start:end])


def line(label: str, *bits: Piece | None, style: str = "") -> Line:
    """Return a line with a label and the non-empty bits: each a CSS class and a text."""
    shown = [(name, pieces(text), "") for name, text in filter(None, bits) if text]
    return Line(label=pieces(label), bits=shown, style=style)


def fold(label: str, parts: list[Node], *bits: Piece | None) -> Fold:
    """Return nodes that are folded below a line."""
    return Fold(head=line(label, *bits), parts=parts)
