"""Render the matrix as a Markdown page for the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from contentmodel_conformance.matrix import KINDS, Matrix
from contentmodel_conformance.matrix.cases import ORIGINS
from contentmodel_conformance.matrix.views import ABOUT, LEGEND, MARKS, groups, pairs, short_type

__all__ = ["as_markdown"]

HEAD = """# The matrix

What becomes of each type of content at each API, and of each family of content on the way from one API to another.
Made by running the installed adapters, by `python -m contentmodel_conformance.pages docs`; nothing here is written by
hand. `contentmodel-conformance matrix` makes it of the adapters that you have, your own ones too, as text, JSON,
Markdown or a page of HTML.
"""

CONTENTS = """Each cell has two signs: for a content that was made for this API or came from it, and for one that came
from an API of another issuer (all of it with the default [policies](losses.md#policies)). What is behind a sign stands
[below](#what-becomes-of-it), and on [a page where each sign can be touched](matrix.html).
"""

BECOMES = """Types with the same outcome stand together. Words after "with" are of optional fields: of each, what it
adds to the losses of the content without it.
"""

CROSSINGS = """A conversation of each family of content is written as the one API and converted to the other. The
numbers count the families with each outcome.
"""

FAMILIES = """`↩`: all of it is there again after the way back.
"""


def as_markdown(matrix: Matrix) -> str:
    """Return the page, with a final newline."""
    return "\n".join(_page(matrix)).rstrip() + "\n"


def _page(matrix: Matrix) -> Iterator[str]:
    yield HEAD
    yield from _table(("sign", "verdict", "it says"), ((MARKS[v], v, says) for v, says in LEGEND.items()))
    yield from (f"- `{api.api}` cannot be used: {_plain(api.error)}" for api in matrix.apis if api.error)
    yield from ("", "## Types of content", "", CONTENTS)
    for of in KINDS:
        yield from (f"### {ABOUT[of]}", "")
        yield from _contents(matrix, of)
    yield from ("## From one API to another", "", CROSSINGS)
    yield from _overview(matrix)
    yield from ("### By family of content", "", FAMILIES)
    for api in matrix.apis:
        yield from _families(matrix, api.api)
    yield from ("## What becomes of it", "", BECOMES)
    for api in matrix.apis:
        yield from _outcomes(matrix, api.api)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    titles = list(head)
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _contents(matrix: Matrix, of: str) -> Iterator[str]:
    signs: dict[str, dict[tuple[str, str], str]] = {}
    for cell in matrix.contents:
        if cell.of == of:
            signs.setdefault(cell.type, {})[cell.api, cell.origin] = MARKS[cell.verdict]
    apis = [api.api for api in matrix.apis]
    rows = (
        (f"`{short_type(name)}`", *(" ".join(found[api, origin] for origin in ORIGINS) for api in apis))
        for name, found in signs.items()
        if set(found.values()) != {MARKS["absent"]}
    )
    yield from _table(("content", *(f"`{api}`" for api in apis)), rows)


def _overview(matrix: Matrix) -> Iterator[str]:
    counts = {(pair.source, pair.target): pair.verdicts for pair in pairs(matrix)}
    apis = [api.api for api in matrix.apis]
    rows = ((f"`{source}`", *(_counts(counts.get((source, target), {})) for target in apis)) for source in apis)
    yield from _table(("from, to", *(f"`{api}`" for api in apis)), rows)


def _counts(verdicts: dict[str, int]) -> str:
    return " ".join(f"{count} {MARKS[verdict]}" for verdict, count in verdicts.items()) or "-"


def _families(matrix: Matrix, source: str) -> Iterator[str]:
    crossed = [crossing for crossing in matrix.crossings if crossing.source == source]
    targets = list(dict.fromkeys(crossing.target for crossing in crossed))
    signs: dict[tuple[str, str], dict[str, str]] = {}
    why: dict[tuple[str, str, str], list[str]] = {}
    for crossing in crossed:
        key = crossing.of, crossing.family
        signs.setdefault(key, {})[crossing.target] = MARKS[crossing.verdict] + (" ↩" if crossing.returns else "")
        for words in crossing.losses:
            why.setdefault((*key, words.replace(crossing.target, "the target")), []).append(crossing.target)
    if not signs:
        return
    yield from (f"#### From {source}", "")
    rows = ((f"{family} ({of})", *(found[target] for target in targets)) for (of, family), found in signs.items())
    yield from _table(("family", *(f"`{target}`" for target in targets)), rows)
    for (of, family, words), to in why.items():
        yield f"- {family} ({of}), to {', '.join(f'`{target}`' for target in to)}: {_plain(words)}"
    yield ""


def _outcomes(matrix: Matrix, api: str) -> Iterator[str]:
    yield from (f"### At {api}", "")
    found = groups(matrix, api)
    for of in KINDS:
        for origin in ORIGINS:
            rows = [
                (
                    f"{MARKS[group.verdict]} {group.verdict}",
                    ", ".join(f"`{short_type(name)}`" for name in group.types),
                    "<br>".join(_plain(str(line)) for line in group.lines),
                )
                for group in found
                if (group.of, group.origin) == (of, origin)
            ]
            if rows:
                yield from (f"**{ABOUT[of]}, {origin}**", "")
                yield from _table(("verdict", "contents", "in words"), rows)


def _plain(text: str) -> str:
    """Escape text for Markdown."""
    return re.sub(r"([\\`*_|\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
