"""What a JSON text that has not come to its end says so far, for who shows the arguments of a call as they grow."""

from __future__ import annotations

import re
from typing import Any

from contentmodel.errors import DecodeError
from contentmodel.wire.json import parse

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r'[^\s{}\[\]:,"]+')
# An escape that is not complete, or the first half of a pair.
_CUT = re.compile(r"\\(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?))?$")
_ESCAPED = re.compile(r"(?:\\\\)+$")
_CLOSES = {"{": "}", "[": "]"}


def partial_json(text: str) -> Any:
    """The value of the beginning of a JSON text; None where it says nothing yet, or is no JSON.

    Texts that are not complete are there as far as they go; numbers inside of an object or a list, and keys, only when
    they are complete.
    """
    try:
        return parse(text) if text.strip() else None
    except DecodeError:
        pass
    for candidate in _completed(text):
        try:
            return parse(candidate)
        except DecodeError:
            continue
    return None


def _completed(text: str) -> list[str]:
    """The text as JSON that ends where it ends, then as one that leaves out what is not complete."""
    open_: list[str] = []
    keyed, at, safe, ends = False, 0, 0, ""
    while at < len(text):
        character = text[at]
        if character == '"':
            match = _STRING.match(text, at)
            if match is None:
                return [*([] if keyed else [_closed(text, open_)]), text[:safe] + ends]
            at = match.end()
            if not keyed:
                safe, ends = at, _ends(open_)
            continue
        word = _WORD.match(text, at)
        if word is not None:
            at = word.end()
            # A number at the very end may go on.
            if at < len(text) or word.group() in ("true", "false", "null"):
                safe, ends = at, _ends(open_)
            continue
        at += 1
        if character in "{[":
            open_.append(character)
        elif character in "}]" and open_:
            open_.pop()
        if character in "{[}]":
            safe, ends = at, _ends(open_)
        keyed = (character in "{," and bool(open_) and open_[-1] == "{") or (keyed and character.isspace())
    return [text[:safe] + ends]


def _ends(open_: list[str]) -> str:
    return "".join(_CLOSES[bracket] for bracket in reversed(open_))


def _closed(text: str, open_: list[str]) -> str:
    """A text that stops inside of a string, with the string closed."""
    escaped = _ESCAPED.search(text)
    end = escaped.start() if escaped is not None else len(text)
    return _CUT.sub("", text[:end]) + text[end:] + '"' + _ends(open_)
