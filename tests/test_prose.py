"""The English of docstrings, comments and texts: patterns that are banned, with the term to use instead."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("adapters", "agents", "benchmarks", "conformance", "contentmodel", "tests")

ANYWHERE = {
    r"\b(nobody|somebody|anybody|whoever|no one)\b": "name the actor (the caller, the model, the user)",
    r"\b(is|are|was|were|be|been) (told|said to)\b": "sent to, reported to, passed to",
    r"\btold\b": "sent, reported, emitted",
    r"\babroad\b|\bat home\b|\b(go|goes|went|come|comes) home\b": "another API; the same API",
    r"\bin the place of\b": "instead of",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\banew\b": "again",
    r"\bstands? (in|at|on|behind|beside|before|below|above|under|there|no)\b": "is in, is at, follows",
    r"\bas it (came|stands)\b": "unchanged",
    r"\bcomes? back\b|\bcame back\b": "round-trips, is restored",
    r"\bwords? alone\b|\btexts? alone\b": "text only",
    r"\bof tomorrow\b": "unknown",
    r"\b(speaks?|heard|hears?)\b": "sends, supports, receives",
    r"\bsays? so\b": "reports it",
    r"\bknows?\b": "has, supports, recognizes",
    r"\bsettle[sd]?\b": "resolve, normalize",
    r"\bdo(es)? without\b": "does not require",
    r"\bshall\b": "must",
    r"\bin (the )?words of\b": "as text of",
}
"""Patterns that are banned in every text, with what to write instead."""

OPENINGS = ("What", "Whatever", "Wherever", "Whether", "Which", "Who", "Whoever", "Whose", "How", "However")
"""Words that a docstring does not begin with."""

SORTS = ("docstring", "comment", "string")
NO_DATA = ("docstring", "comment")
"""The sorts of texts that the check reads in tests, where strings are test data."""

Text = tuple[int, str, str]
"""The line of a text, its sort (one of `SORTS`), and the text."""


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of modules, classes and functions, and those that follow an attribute."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def texts(source: str) -> Iterator[Text]:
    """Yield the docstrings, comments and string literals of a module. Strings without a blank are no text."""
    tree = ast.parse(source)
    documented = {id(node) for node in docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in documented:
                yield node.lineno, "docstring", node.value
            elif " " in node.value.strip():
                yield node.lineno, "string", node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], "comment", token.string


def faults(source: str, sorts: Collection[str] = SORTS) -> Iterator[tuple[int, str]]:
    """Yield the line and the description of each banned pattern in the texts of these sorts of a module."""
    for line, sort, text in texts(source):
        if sort not in sorts:
            continue
        first = text.split(maxsplit=1)[0] if text.strip() else ""
        if sort == "docstring" and first in OPENINGS:
            yield line, f"a docstring begins with {first!r}: begin with a verb or a noun, such as 'Return' or 'True if'"
        # Names in code may be older than the rules of the texts.
        plain = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)
        for pattern, advice in ANYWHERE.items():
            for match in re.finditer(pattern, plain, re.IGNORECASE):
                lines = text[: match.start()].count("\n") if sort == "docstring" else 0
                yield line + lines, f"{match[0]!r} in a {sort}; instead: {advice}"


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_texts_have_no_banned_pattern(folder: str) -> None:
    sorts = NO_DATA if folder == "tests" else SORTS
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, fault in faults(path.read_text("utf-8"), sorts)
    ]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""What a module is."""', 1),
        ('x = 1\n"""Nobody sets it."""', 2),
        ("x = 1  # what the model is told", 1),
        ('def f() -> str:\n    """Return a text."""\n    return "a\\nit is told in words"', 3),
    ],
)
def test_banned_patterns_are_found(source: str, line: int) -> None:
    assert [at for at, _ in faults(source)][:1] == [line]


def test_strings_are_not_checked_in_tests() -> None:
    source = 'def test_f() -> None:\n    # Nobody reads it.\n    assert f() == "nobody reads it"\n'
    assert [line for line, _ in faults(source)] == [3, 2]
    assert [line for line, _ in faults(source, NO_DATA)] == [2]
