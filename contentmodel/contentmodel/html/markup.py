"""Convert the Markdown of a model's text to nodes of a page.

markdown-it-py (https://markdown-it-py.readthedocs.io, seen 2026-11-22) parses the text. Its HTML output is not used.
Its tokens become elements of a fixed list without attributes, links that `link_to` accepts, and pieces of text, which
the template escapes. HTML in the text stays text, and images are links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from contentmodel.extras import needs_extra
from contentmodel.html.images import link_to
from contentmodel.html.nodes import (
    LINES,
    SHOWN,
    Element,
    Marker,
    Markup,
    Node,
    Piece,
    Run,
    pieces,
)

LONGEST = 10_000
"""The maximum length of a text that is parsed as Markdown. The parser takes quadratic time for some texts."""
CELLS = 10_000
"""The maximum number of table cells of a text. The parser fills short rows with empty cells."""
MOST = 300_000
"""The maximum total length of the texts of one page that are parsed as Markdown."""
_BLOCKS = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "em": "em",
    "strong": "strong",
    "s": "s",
}
_HEADINGS = {f"h{level}": f"h{min(level + 2, 6)}" for level in range(1, 7)}
_PLAIN = {"paragraph_open", "paragraph_close", "inline", "text", "softbreak"}
_MARK = re.compile("\ue000([0-9]+)\ue001")


@cache
def _reader() -> Any:
    with needs_extra("html"):
        from markdown_it import MarkdownIt
    rules = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    # Indented text is not code, and entities are shown as written.
    return rules.disable(["code", "html_block", "html_inline", "entity", "image"])


def markup(text: str, markers: Sequence[Marker]) -> Markup | None:
    """Render a text as Markdown. Return None if it has no Markdown, is too long, or contains the marker characters."""
    if len(text) > LONGEST or _cells(text) > CELLS or "\ue000" in text or "\ue001" in text:
        return None
    tokens = _reader().parse(_marked(text, markers))
    if all(_is_plain(token) for token in tokens):
        return None
    numbers = [number for _, number in sorted(markers)]
    blocks = list(_blocks(tokens, numbers))
    count = _open_blocks(text, tokens)
    return Markup(parts=blocks[:count], rest=blocks[count:])


def _cells(text: str) -> int:
    """Return an upper bound for the number of table cells of the text, including the empty cells of short rows."""
    lines = text.split("\n")
    return len(lines) * max(line.count("|") for line in lines)


def _marked(text: str, markers: Sequence[Marker]) -> str:
    """Insert each marker into the text as characters that have no meaning in Markdown."""
    pieces, start = [], 0
    for index, (at, _) in enumerate(sorted(markers)):
        pieces += [text[start:at], f"\ue000{index}\ue001"]
        start = at
    return "".join([*pieces, text[start:]])


def _is_plain(token: Any) -> bool:
    return token.type in _PLAIN and all(child.type in _PLAIN for child in token.children or ())


def _open_blocks(text: str, tokens: Sequence[Any]) -> int:
    """Return the number of blocks to show unfolded: those within `SHOWN` characters and `LINES` lines."""
    ends: list[int] = [token.map[1] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    lines = text.split("\n")
    if len(text) <= SHOWN and len(lines) <= LINES:
        return len(ends)
    size = [0]
    for line in lines:
        size.append(size[-1] + len(line) + 1)
    return max(1, len([end for end in ends if end <= LINES and size[min(end, len(lines))] <= SHOWN]))


def _blocks(tokens: Sequence[Any], numbers: Sequence[str]) -> Iterator[Node]:
    """Yield the nested nodes of a list of tokens."""
    stack: list[tuple[Any, list[Node]]] = [(None, [])]
    for token in tokens:
        if token.nesting > 0:
            stack.append((token, []))
        elif token.nesting < 0:
            opened, parts = stack.pop()
            stack[-1][1].extend(_element(opened, parts))
        elif token.children is not None:
            stack[-1][1].extend(_blocks(token.children, numbers))
        else:
            stack[-1][1].append(_leaf(token, numbers))
    yield from stack[0][1]


def _element(token: Any, parts: list[Node]) -> Iterator[Node]:
    name = token.type.removesuffix("_open")
    if name == "link":
        yield from _link(str(token.attrs.get("href", "")), parts)
    elif name == "paragraph" and token.hidden:
        yield from parts
    else:
        start = token.attrs.get("start") if name == "ordered_list" else None
        tag = _HEADINGS.get(token.tag, "p") if name == "heading" else _BLOCKS.get(name, "p")
        yield Element(tag=tag, parts=parts, start=start if isinstance(start, int) and start >= 0 else None)


def _link(href: str, parts: list[Node]) -> Iterator[Node]:
    """Yield a link followed by its host, because the text of the link could show another host."""
    href = _MARK.sub("", href)
    link = link_to(href)
    if link:
        yield Element(tag="a", parts=parts, link=link)
        yield Run(pieces=pieces(f" [{urlsplit(link).hostname}]"))
    else:
        yield from parts
        yield Run(pieces=pieces(f" ({href})"))


def _leaf(token: Any, numbers: Sequence[str]) -> Node:
    if token.type in ("softbreak", "hardbreak"):
        return Element(tag="br")
    if token.type == "hr":
        return Element(tag="hr")
    run = Run(pieces=_pieces(token.content, numbers))
    if token.type == "code_inline":
        return Element(tag="code", parts=[run])
    return Element(tag="pre", parts=[run]) if token.type in ("fence", "code_block") else run


def _pieces(text: str, numbers: Sequence[str]) -> list[Piece]:
    result: list[Piece] = []
    for at, part in enumerate(_MARK.split(text)):
        result += [("note", numbers[int(part)])] if at % 2 else pieces(part)
    return result
