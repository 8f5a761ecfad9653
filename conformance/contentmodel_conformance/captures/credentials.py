"""The credentials in the headers, the cookies and the URL of an exchange: its payloads can repeat them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote

from contentmodel_conformance.captures.entries import Exchange
from contentmodel_conformance.captures.secret_names import (
    can_be_secret_header,
    is_random,
    is_secret_header,
    is_secret_parameter,
    pair_of,
)

SHORTEST = 8
"""The minimum length of a value of a header or a query parameter that is searched for in payloads."""
SHORTEST_COOKIE = 16
"""The minimum length of a cookie's value that does not look random: many cookies contain ordinary words."""
SHORTEST_PASSWORD = 5
"""The minimum length of a password that is not one word: a payload can contain the word by chance."""

_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite"})
_SIGNED = re.compile(r"(?:Credential|Signature)=([^/,\s]+)")
"""The secrets in a signature of AWS. The rest of the header contains names of regions and services."""
_BASIC = re.compile(r"(?i)\s*basic\s+(\S+)\s*")


def credentials_of(exchange: Exchange, *, cookies: bool) -> Iterator[str]:
    """Yield the credentials of an exchange; with `cookies`, also the values of its cookies."""
    for message in (exchange.request, exchange.answer):
        for name, value in message.headers:
            if "cookie" in name.lower():
                yield from _values_of_cookies(value) if cookies else ()
            elif is_secret_header(name):
                yield from _values_of_header(value)
            elif message is exchange.request and can_be_secret_header(name) and is_random(value.strip()):
                yield value.strip()
    yield from _values_of_url(exchange)


def _values_of_header(value: str) -> Iterator[str]:
    basic = _BASIC.fullmatch(value)
    if basic:
        yield from _values_of_basic(basic[1])
    signed = _SIGNED.findall(value)
    for text in signed or [value.strip(), value.split()[-1] if value.strip() else ""]:
        if len(text) >= SHORTEST:
            yield text


def _values_of_basic(encoded: str) -> Iterator[str]:
    """Yield the pair of user and password that a header has in base64, and the password."""
    text = pair_of(encoded)
    if text is None:
        return
    user, _, password = text.partition(":")
    if len(text) >= SHORTEST:
        yield text
    if _is_password(password):
        yield password
    elif is_random(user, SHORTEST):
        yield user  # A key with an empty password.


def _is_password(text: str) -> bool:
    return len(text) >= (SHORTEST if text.isalpha() else SHORTEST_PASSWORD)


def _values_of_cookies(value: str) -> Iterator[str]:
    for pair in re.split(r"[;\n]", value):
        name, _, text = (part.strip() for part in pair.partition("="))
        if name.lower() not in _COOKIE_ATTRIBUTES and (len(text) >= SHORTEST_COOKIE or is_random(text, SHORTEST)):
            yield text


def _values_of_url(exchange: Exchange) -> Iterator[str]:
    parts = exchange.parts
    try:
        password = parts.password or ""
    except ValueError:
        password = ""
    if _is_password(password):
        yield from {password, unquote(password)}
    for name, value in [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]:
        if (is_secret_parameter(name) or name.lower() == "code") and len(value) >= SHORTEST:
            yield value
