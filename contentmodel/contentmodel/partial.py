"""Read incomplete JSON, such as the arguments of a call while they stream."""

from __future__ import annotations

import re
from typing import Any

from contentmodel.errors import DecodeError
from contentmodel.json import parse

MAX_DEPTH = 500
"""The maximum depth of nested values. Deeper values are parsed and omitted."""
MAX_WORD = 4_300
"""The maximum length of a number in characters, the limit of Python's int parser."""

_BOM = "\ufeff"
_SPACES = re.compile(r"[ \t\r\n]+")
_SCALAR = re.compile(r'[^\s{}\[\]:,"]+')
# Complete characters and escapes. High surrogates are excluded, because a low surrogate may follow.
_WHOLE = re.compile(r'(?:[^"\\\x00-\x1f]+|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4})+')
_HALF_PAIR = re.compile(r"\\u[dD][89abAB]")
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_LITERALS = frozenset({"true", "false", "null"})
_TOO_LONG = re.compile(rf'[^\s{{}}\[\]:,"]{{{{{MAX_WORD + 1}}}}}')


def partial_json(text: str) -> Any:
    """Parse the beginning of a JSON text. Return None if it has no value yet, or if the text is not JSON.

    The value includes incomplete strings as far as they are received. It includes keys, and numbers inside an object or
    a list, only when they are complete. Values nested deeper than `MAX_DEPTH` are omitted. For a text that grows, use a
    `PartialJsonReader`, which reads each character once.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH and _TOO_LONG.search(text) is None:
        try:
            return parse(text) if text.strip() else None
        except DecodeError:
            pass
    reader = PartialJsonReader()
    reader.feed(text)
    return reader.value


_KEY, _COLON, _VALUE, _NEXT = "a key", "a colon", "a value", "a comma or the end"
_UNSET: Any = object()


class PartialJsonReader:
    """Read a JSON text that arrives in pieces. Pass each piece to `feed`, and read `value` at any time.

    `value` equals the result of `partial_json` for the text so far. It is live: the same dict or list grows with every
    `feed`, so copy it to keep a snapshot. `feed` takes time linear in the length of the piece; `value` takes constant
    time. (If the caller keeps a reference to an incomplete string, each piece copies that string.)
    """

    def __init__(self) -> None:
        self._root: Any = None
        self._has_begun = False
        self._is_broken = False
        """True if the text is not JSON."""
        self._is_flawed = False
        """True if the text stopped being JSON here. The value is kept until the next token is complete."""
        # -- position in the grammar
        self._open: list[Any] = []
        """The open objects and lists, outermost first."""
        self._expects = _VALUE
        self._may_close = False
        self._takes_key = False
        """True if a string here is a key, even if the grammar does not expect a key."""
        self._key = ""
        """The current key of the innermost object."""
        self._replaced: Any = _UNSET
        """The earlier value of that key, if the key is a duplicate."""
        # -- the incomplete token
        self._scalar: list[str] = []
        self._scalar_length = 0
        self._shows_literal = False
        """True if the incomplete token is a literal that is set as the value already."""
        self._hides_value = False
        """True if a literal is at an invalid position. `value` is None until the literal becomes another token."""
        self._in_string = False
        self._key_pieces: list[str] | None = None
        """The pieces of the string, if it is a key."""
        self._is_spoiled = False
        """True if the string is not JSON, or is at an invalid position."""
        self._escape = ""

    @property
    def value(self) -> Any:
        """The value so far; None if there is none yet, or if the text is not JSON."""
        if self._is_broken or self._hides_value:
            return None
        if self._scalar and not self._open and self._takes_value():
            # A top-level number may be complete.
            try:
                return self._parsed_scalar()
            except DecodeError:
                return None
        return self._root

    def feed(self, text: str) -> None:
        """Read the next piece of the text."""
        if not self._has_begun and text:
            self._has_begun = True
            text = text.removeprefix(_BOM)
        self._hide_literal()
        at = 0
        while at < len(text) and not self._is_broken:
            at = self._read_string(text, at) if self._in_string else self._read_token(text, at)
        self._show_literal()

    def _read_token(self, text: str, at: int) -> int:
        """Read a token, or a part of one, outside strings. Return its end position."""
        scalar = _SCALAR.match(text, at)
        if scalar is not None:
            self._scalar.append(scalar.group())
            self._scalar_length += scalar.end() - at
            return scalar.end()
        if self._scalar:
            self._end_scalar()
            return at
        spaces = _SPACES.match(text, at)
        if spaces is not None:
            return spaces.end()
        character = text[at]
        if character == '"':
            self._start_string()
        elif character in "{[":
            self._start_container({} if character == "{" else [])
        elif character in "}]":
            self._end_container(dict if character == "}" else list)
        else:
            self._read_separator(character)
        return at + 1

    def _read_separator(self, character: str) -> None:
        in_object = bool(self._open) and self._open[-1].__class__ is dict
        if character == ":" and self._expects is _COLON:
            self._expects = _VALUE
        elif character == "," and self._expects is _NEXT and self._open:
            self._expects = _KEY if in_object else _VALUE
        else:
            self._is_flawed = True
        self._may_close = False
        if not character.isspace():
            self._takes_key = character == "," and in_object

    # -- values ------------------------------------------------------------------------------------------------

    def _takes_value(self) -> bool:
        return self._expects is _VALUE and not self._is_flawed

    def _set(self, value: Any) -> None:
        """Set a value at the current position."""
        if not self._open:
            self._root = value
            return
        owner = self._open[-1]
        if owner.__class__ is list:
            owner.append(value)
        else:
            self._replaced = owner.get(self._key, _UNSET)
            owner[self._key] = value

    def _unset(self) -> None:
        """Remove the last value that was set."""
        if not self._open:
            self._root = None
            return
        owner = self._open[-1]
        if owner.__class__ is list:
            owner.pop()
        elif self._replaced is _UNSET:
            del owner[self._key]
        else:
            owner[self._key] = self._replaced

    def _end_value(self) -> None:
        self._expects, self._may_close, self._takes_key = _NEXT, True, False

    def _start_container(self, container: Any) -> None:
        if not self._takes_value():
            self._is_broken = True
            return
        if len(self._open) < MAX_DEPTH:
            self._set(container)
        self._open.append(container)
        self._takes_key = container.__class__ is dict
        self._expects, self._may_close = _KEY if self._takes_key else _VALUE, True

    def _end_container(self, kind: type) -> None:
        if not self._open or self._open[-1].__class__ is not kind or not self._may_close or self._is_flawed:
            self._is_broken = True
            return
        self._open.pop()
        self._end_value()

    # -- numbers and literals ----------------------------------------------------------------------------------

    def _parsed_scalar(self) -> Any:
        scalar = "".join(self._scalar)
        # The parser skips a byte order mark, but one is allowed only at the beginning of the whole text.
        return parse("" if len(scalar) > MAX_WORD or scalar.startswith(_BOM) else scalar)

    def _end_scalar(self) -> None:
        try:
            value = self._parsed_scalar()
        except DecodeError:
            self._is_broken = True
            return
        self._scalar, self._scalar_length = [], 0
        if not self._takes_value():
            self._is_broken = True
            return
        takes_key = self._takes_key
        self._set(value)
        self._end_value()
        self._takes_key = takes_key

    def _show_literal(self) -> None:
        """Set a complete literal as the value, although the next piece may extend it to another token."""
        if self._is_broken or not 0 < self._scalar_length <= 5 or "".join(self._scalar) not in _LITERALS:
            return
        if self._takes_value():
            self._set(self._parsed_scalar())
            self._shows_literal = True
        else:
            self._hides_value = True

    def _hide_literal(self) -> None:
        """Undo `_show_literal` before the next piece is read."""
        if self._shows_literal:
            self._unset()
        self._shows_literal = self._hides_value = False

    # -- strings -----------------------------------------------------------------------------------------------

    def _start_string(self) -> None:
        self._in_string = True
        if self._takes_key:
            self._key_pieces = []
            self._is_spoiled = self._expects is not _KEY or self._is_flawed
            return
        self._is_spoiled = not self._takes_value()
        if not self._is_spoiled:
            self._set("")

    def _read_string(self, text: str, at: int) -> int:
        """Read a part of a string. Return its end position."""
        if self._escape:
            return self._read_escape(text, at)
        whole = _WHOLE.match(text, at)
        if whole is not None:
            piece = whole.group()
            self._grow(parse(f'"{piece}"') if "\\" in piece else piece)
            return whole.end()
        if text[at] == '"':
            self._end_string()
        elif text[at] == "\\":
            self._escape = "\\"
        else:
            self._spoil()
        return at + 1

    def _read_escape(self, text: str, at: int) -> int:
        """Read one character of an escape or of a surrogate pair. Return the position of the next character."""
        escape, character = self._escape, text[at]
        size = len(escape) % 6
        if size == 0:
            # A high surrogate is complete. The low surrogate may follow.
            if character == "\\":
                self._escape += character
                return at + 1
            self._end_escape(escape)
            return at
        if size == 1 and character != "u":
            self._end_escape(escape[:-1])
            if character in '"\\/bfnrt':
                self._grow(parse(f'"\\{character}"'))
            else:
                self._spoil()
            return at + 1
        if size > 1 and character not in _HEX_DIGITS:
            self._spoil()
            self._escape = ""
            return at
        self._escape += character
        if size == 5:
            self._end_unit()
        return at + 1

    def _end_unit(self) -> None:
        """Decode an escape with four digits. Keep a high surrogate until the next escape is read."""
        first, last = self._escape[:-6], self._escape[-6:]
        if _HALF_PAIR.match(last) is None:
            self._end_escape(self._escape)
        else:
            self._end_escape(first)
            self._escape = last

    def _end_escape(self, escape: str) -> None:
        self._escape = ""
        if escape:
            self._grow(parse(f'"{escape}"'))

    def _grow(self, piece: str) -> None:
        """Append to the string. Remove it from its owner first: a string with a single reference grows in place."""
        if self._is_spoiled:
            return
        if self._key_pieces is not None:
            self._key_pieces.append(piece)
        elif not self._open:
            text, self._root = self._root, None
            text += piece
            self._root = text
        else:
            owner = self._open[-1]
            position = -1 if owner.__class__ is list else self._key
            text, owner[position] = owner[position], None
            text += piece
            owner[position] = text

    def _spoil(self) -> None:
        """Mark the string as invalid JSON and remove it from the value."""
        if not self._is_spoiled and self._key_pieces is None:
            self._unset()
        self._is_spoiled = True

    def _end_string(self) -> None:
        self._in_string = False
        pieces, self._key_pieces = self._key_pieces, None
        if pieces is None:
            self._is_broken = self._is_spoiled
            self._end_value()
        elif self._is_spoiled:
            self._is_flawed = True
        else:
            self._key = "".join(pieces)
            self._expects, self._may_close = _COLON, False
