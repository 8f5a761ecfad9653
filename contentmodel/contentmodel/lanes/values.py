"""The values of a payload that a conversion passes on, by kind.

A conversion looks at the structure of a payload, at its constants and at few of its values. The others pass as they
are: prose, ids, names of functions, arguments, opaque state, dates and numbers. A kind says which values of it pass,
and which other values are like one, so that a conversion cannot tell them apart. All other values are constants.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from contentmodel.content.text import UNITS
from contentmodel.engine.pipeline.sentinels import is_marked
from contentmodel.json import JsonObject, write
from contentmodel.pairs import is_minted_id

Test: TypeAlias = Callable[[Any], object]
"""Return a true value if a value is like the first one."""


class Kind(msgspec.Struct, frozen=True, eq=False):
    """A kind of values that pass.

    - `test`: returns the test for values that are like a value; None if that value does not pass.
    - `like`: returns another value that is like a value. It follows from the value and a text.
    - `classes`: the JSON classes of the values. The test is called for these alone.
    - `quick`: returns an expression for the usual case of the test, in which `{0}` is the value; "" without one.
    """

    name: str
    classes: tuple[type, ...]
    test: Callable[[Any], Test | None]
    like: Callable[[Any, str], Any]
    quick: Callable[[Any], str] = lambda value: ""

    def test_for(self, value: Any) -> Test | None:
        """Return the test for values that are like a value; None if the value does not pass."""
        return self.test(value) if value.__class__ in self.classes else None


def _digits(salt: str, length: int) -> str:
    """Return hexadecimal digits that follow from a text."""
    digits = ""
    while len(digits) < length:
        digits += sha256(f"{salt} {len(digits)}".encode()).hexdigest()
    return digits[:length]


# -- texts -------------------------------------------------------------------------------------------------------------

_TAGS = ("<think", "<thought")


def is_prose(text: str) -> bool:
    """Return whether a text is not blank, no sentinel, and does not begin with a tag of thoughts."""
    return bool(text) and not text.isspace() and not text.startswith(_TAGS) and not is_marked(text)


PROSE = Kind(
    "prose",
    (str,),
    lambda text: is_prose if is_prose(text) else None,
    lambda text, salt: f"Prose {_digits(salt, 8 + len(salt) % 16)}.",
    # No mark, tag or blank text begins with a letter or digit.
    lambda text: "{0}[:1].isalnum() and {0}[-1] != ']'",
)


def _like_text_of_content(text: str, salt: str) -> str:
    # Few texts have the same length, since lengths are offsets, too.
    return f"Prose {_digits(salt, 300 + int(_digits(salt, 3), 16))}."


TEXT = Kind("text", PROSE.classes, PROSE.test, _like_text_of_content, PROSE.quick)
"""The text of a content, in which citations have offsets."""

_LETTERS = re.compile(r"[A-Za-z0-9]+").fullmatch
_WITH_DASHES = re.compile(r"[A-Za-z0-9_-]+").fullmatch


def _prefix_of(text: str) -> str:
    """Return the beginning of an id up to its first underscore; "" without one."""
    return text[: text.find("_") + 1]


@lru_cache(maxsize=256)
def _test_of_id(prefix: str, length: int, *, has_dashes: bool) -> Test:
    letters = "(?=.*[_-])[A-Za-z0-9_-]" if has_dashes else "[A-Za-z0-9]"
    matches = re.compile(f"{re.escape(prefix)}{letters}{{{length}}}").fullmatch
    return (lambda text: matches(text) and not is_minted_id(text)) if prefix == "call_" else matches


def _id_test(text: str) -> Test | None:
    prefix = _prefix_of(text)
    letters = text[len(prefix) :]
    if not _WITH_DASHES(letters) or is_minted_id(text):
        return None
    return _test_of_id(prefix, len(letters), has_dashes=_LETTERS(letters) is None)


def _like_id(text: str, salt: str) -> str:
    prefix = _prefix_of(text)
    digits = _digits(salt, len(text) - len(prefix))
    return prefix + (digits if _LETTERS(text[len(prefix) :]) else f"{digits[:-1]}-")


def _quick_id(text: str) -> str:
    prefix = _prefix_of(text)
    length = len(text) - len(prefix)
    # A minted id has at most nine digits after its prefix.
    if length <= 9 or not _LETTERS(text[len(prefix) :]):
        return ""
    letters = f"{{0}}.isascii() and {{0}}[{len(prefix)}:].encode().isalnum()"
    return f"len({{0}}) == {len(text)} and {{0}}.startswith({prefix!r}) and {letters}"


ID = Kind("id", (str,), _id_test, _like_id, _quick_id)
"""An id: its prefix, its length and its letters stay."""

_URL = re.compile(r"https?://[^\s]+").fullmatch
URL = Kind(
    "url", (str,), lambda text: _URL if _URL(text) else None, lambda text, salt: f"https://a.example/{_digits(salt, 9)}"
)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}").fullmatch
NAME = Kind(
    "name",
    (str,),
    lambda text: _NAME if _NAME(text) else None,
    lambda text, salt: f"f{_digits(salt, 9)}",
    lambda text: "{0}.isidentifier() and {0}.isascii() and {0}[0] != '_' and len({0}) < 65",
)
NAME_OF_RESULT = Kind("name of a result", NAME.classes, NAME.test, NAME.like, NAME.quick)
"""The name that a result repeats of its call."""


def _is_base64(text: str) -> bool:
    letters = text.rstrip("=")
    is_padded = len(text) % 4 == 0 and len(text) - len(letters) < 3
    # Only the letters and digits of bytes are found fast. A text of signs alone is none.
    return is_padded and text.isascii() and letters.encode().translate(None, b"+/").isalnum()


_URL_SAFE = re.compile(r"[A-Za-z0-9_-]+={0,2}").fullmatch


def _is_url_safe(text: str) -> bool:
    return _URL_SAFE(text) is not None and not _is_base64(text)


STATE = Kind(
    "state",
    (str,),
    lambda text: _is_base64 if _is_base64(text) else _is_url_safe if _is_url_safe(text) else None,
    lambda text, salt: _digits(salt, 24) + ("" if _is_base64(text) else "-_a"),
)
"""Opaque state: base64, or the same with the letters of URLs."""

_RANDOM = re.compile(r"(?:[^_-]*[_-])*(?=[^_-]{8})(?=[^_-]*[A-Za-z])[^_-]*[0-9][^_-]*(?:[_-].*)?").fullmatch
"""Matches an id with a part of eight letters and digits or more, in which both occur. Words and dates have none."""


def _token_test(text: str) -> Test | None:
    is_like = (_id_test(text) or STATE.test(text)) if _RANDOM(text) else None
    return None if is_like is None else lambda other: is_like(other) and _RANDOM(other)


def _like_token(text: str, salt: str) -> str:
    token = _like_id(text, salt) if _id_test(text) else STATE.like(text, salt)
    return token if _RANDOM(token) else _like_token(text, f"{salt} again")


def _quick_token(text: str) -> str:
    quick, letters = _quick_id(text), f"{{0}}[{len(_prefix_of(text))}:]"
    # Only letters differ in their case.
    return quick and f"{quick} and not {letters}.isalpha() and {letters}.lower() != {letters}.upper()"


TOKEN = Kind("token", (str,), _token_test, _like_token, _quick_token)
"""A value that looks random, of which the model has no attribute: an id of something."""

_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.]\d+)?(Z|[+-]\d\d:\d\d)?").fullmatch


def _form_of_date(text: str) -> object:
    match = _DATE(text)
    return None if match is None else (len(text), match[2], bool((match[1] or "").strip(".0")))


def _date_test(text: str) -> Test | None:
    form = _form_of_date(text)
    return None if form is None else lambda other: _form_of_date(other) == form


def _like_date(text: str, salt: str) -> str:
    day, hour, *others = (int(digit, 16) for digit in _digits(salt, 6))
    return f"2024-03-{day + 10}T{hour:02d}:{others[0] % 6}{others[1] % 10}:{others[2] % 6}{others[3] % 10}{text[19:]}"


DATE = Kind("date", (str,), _date_test, _like_date)


# -- arguments ---------------------------------------------------------------------------------------------------------

_read = msgspec.json.Decoder(dict[str, Any]).decode


def read_arguments(text: str) -> JsonObject | None:
    """Return the object that a text of arguments is; None if it is none."""
    try:
        return _read(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _are_arguments(value: JsonObject) -> bool:
    # A call with the one argument `input` may be one of a custom tool.
    return bool(value) and value.keys() != {"input"}


def _arguments_in(text: str, *, is_compact: bool) -> JsonObject | None:
    value = read_arguments(text)
    if value is None or not _are_arguments(value):
        return None
    return value if (write(value) == text.encode(errors="surrogatepass")) is is_compact else None


def _of_compact(text: str) -> JsonObject | None:
    return _arguments_in(text, is_compact=True)


def _of_spelled(text: str) -> JsonObject | None:
    return _arguments_in(text, is_compact=False)


def _like_text(text: str, salt: str) -> str:
    digits = _digits(salt, 12)
    return f'{{"made":"{digits}"}}' if _of_compact(text) else f'{{"made":  "{digits}"}}'


ARGUMENTS = Kind(
    "arguments",
    (dict,),
    lambda value: _are_arguments if _are_arguments(value) else None,
    lambda value, salt: {"made": _digits(salt, 12)},
    lambda value: "len({0}) > 1",
)
TEXT_OF_ARGUMENTS = Kind(
    "text of arguments",
    (str,),
    lambda text: _of_compact if _of_compact(text) else _of_spelled if _of_spelled(text) else None,
    _like_text,
)
"""Arguments as JSON text: the text that this library would write, or another spelling. The test returns the object."""


# -- numbers -----------------------------------------------------------------------------------------------------------

MOST = 200_000_000_000
"""Whole numbers from 2 to this one are counts, or seconds that are a date."""


def _is_count(number: int) -> bool:
    return 1 < number < MOST


def _is_fraction(number: float) -> bool:
    return 0 < number < MOST and number % 1 != 0


def _is_negative(number: float) -> bool:
    return _is_fraction(-number)


def _number_test(number: float) -> Test | None:
    tests = (_is_count,) if number.__class__ is int else (_is_fraction, _is_negative)
    return next((test for test in tests if test(number)), None)


def _like_number(number: float, salt: str) -> float:
    other = 1000 + int(_digits(salt, 5), 16)
    return other if number.__class__ is int else other + 0.5 if number > 0 else -other - 0.5


def _quick_number(number: float) -> str:
    return f"1 < {{0}} < {MOST}" if number.__class__ is int else ""


NUMBER = Kind("number", (int, float), _number_test, _like_number, _quick_number)
INPUT = Kind("input tokens", (int,), _number_test, _like_number, _quick_number)
OUTPUT = Kind("output tokens", (int,), _number_test, _like_number, _quick_number)
"""Numbers of tokens. Those of other APIs may be sums or differences of them."""
TOTAL = Kind("total", (int,), _number_test, _like_number, _quick_number)
"""The number that is the sum of others."""


def _like_start(number: int, salt: str) -> int:
    return 10 + int(_digits(salt, 2), 16) % 90


def _like_end(number: int, salt: str) -> int:
    return 100 + _like_start(number, salt)


START = Kind("start", (int,), _number_test, _like_start, _quick_number)
ENDS = {unit: Kind(f"end, {unit}", (int,), _number_test, _like_end, _quick_number) for unit in UNITS}
"""The offsets of a citation in a text, by their unit."""

CONSTANT = Kind("constant", (), lambda value: None, lambda value, salt: value)
"""A value that decides about a conversion."""


def kind_of_other(value: object) -> Kind:
    """Return the kind of a value that the model has no attribute for."""
    if value.__class__ is not str:
        return NUMBER
    return DATE if _DATE(value) else TOKEN
