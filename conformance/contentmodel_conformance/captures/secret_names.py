"""Decide by its name whether a value is a secret, and by its characters whether a text can be one.

Names of fields, headers, variables and options follow the same rules. They are compared by words: `apiKey`, `API_KEY`
and `x-api-key` end with the same ones.
"""

from __future__ import annotations

import re
from base64 import b64decode
from itertools import pairwise
from string import digits

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SUFFIX = re.compile(r"_(?:[0-9]{1,2}|prod|production|dev|test|live|staging|old|new|value)$")
_KEY = (
    r"(?:[a-z0-9]*api|[a-z0-9]*access|account|[a-z0-9]*secret|private|auth|service|signing|encryption|master|shared"
    r"|storage|subscription|app|admin|license|client|functions)"
)
_TOKEN = (
    r"(?:[a-z0-9]*access|refresh|[a-z0-9]*auth2?|id|bearer|session|security|authorization|user|bot|api|personal|secret"
    r"|app|admin|service|client|login|jwt|device|git|github|gitlab|slack|hf|vault)"
)
_SECRET = re.compile(
    rf"(?:.*_)?(?:{_KEY}_?keys?|{_TOKEN}_?tokens?|[a-z0-9]*secrets?|[a-z0-9]*passwords?|passwd|passphrase|passwort"
    r"|pwd|(?:db|user|my|smtp|root|admin)?pass|authorization|(?:set_)?cookie|credentials?|jwt)"
)
_PASSWORD = re.compile(r"(?:.*_)?(?:[a-z0-9]*password|passwd|passphrase|passwort|pwd|[a-z]*pass)")
_DOUBTFUL = re.compile(r"(?:.*_)?(?:[a-z0-9]*keys?|[a-z0-9]*tokens?|sig|sas|session|sid|auth|webhook)")
_HARMLESS = re.compile(
    r"(?:.*_)?(?:page|next|prev|previous|continuation|sync|start|end|stop|eos|bos|pad|unk|sep|mask|cls|max|cache|primary"
    r"|foreign|sort|partition|public|idempotency|row|group|lookup|index|object|count|input|output|prompt|completion)"
    r"_?(?:keys?|tokens?)"
)

_SECRET_HEADER = re.compile(
    r"(?i)authoriz|(^|[-_])auth($|[-_])|api-?key|(^|[-_])key$|token|secret|credential|passw|cookie|jwt|vault"
    r"|(^|[-_])(?:session|sid|sas|pass|pwd)$|organi[sz]ation|project"
)
_HARMLESS_HEADER = re.compile(r"(?i)rate-?limit|token-count|sec-websocket|access-control|-policy$")
_IDENTIFYING = re.compile(
    r"(?i)(^|[-_])(?:id|ids|requestid|ray|trace|traceparent|tracestate|baggage|etag|match|digest|hash|md5|sha256|date"
    r"|version|agent|type|length|encoding|ua)$|trace|^sec-|^cf-|^b3$|request-?id"
)
"""Headers whose values look random and are no secrets."""

_SECRET_PARAMETER = re.compile(r"(?i)(^|[-_])(key|token|sig|signature|secret|credential|password|auth)$|api-?key")

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,512}={0,2}")
_LONGEST = 256
"""The number of characters of a text that are looked at."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ORDINARY = re.compile(
    r"(?i)str|string|text|int|integer|number|float|double|bool|boolean|bytes|object|array|list|dict|map|any|none|null"
    r"|nil|undefined|true|false|yes|no|ok|required|optional|default|password|token|hidden|redacted|masked|empty"
    r"|missing|unset|basic|bearer|(?:u?int|float|sha|md|utf|varchar)-?[0-9]+|(.)\1*|\.+"
)
_SCHEME = re.compile(r"(?i)(?:basic|bearer|token)\s+")
_REFERENCE = re.compile(r"\$?[{(].*[})]|<[^<>]*>|\$(?:[a-z_]+|[A-Z_][A-Z0-9_]*)|%\(?\w*\)?[s%]|[*]+|\[.*\]", re.DOTALL)
"""The name of a value that is somewhere else: `${KEY}`, `{{ key }}`, `<your key>`, `$KEY`."""
_EXPRESSION = re.compile(r"\$[({]|[<{\[(),;:]|%[({A-Z]|//|[*]{3}|@[{(]")
_CALL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*[\[({].*", re.DOTALL)
_PATH_OF_NAMES = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_PATH = re.compile(r"(?:~|\.{0,2}/|[A-Za-z]:\\)")


def words_of(name: str) -> str:
    """Return the words of a name, in lower case, joined by underscores and without a number at its end."""
    return _SUFFIX.sub("", "_".join(_WORD.findall(name)).lower())


def is_secret(name: str) -> bool:
    """Return whether a value of this name is a secret: `api_key`, `clientSecret`, `DB_PASSWORD`."""
    words = words_of(name)
    return bool(_SECRET.fullmatch(words)) and not _HARMLESS.fullmatch(words)


def is_password(name: str) -> bool:
    """Return whether a value of this name is a password, which can be an ordinary word."""
    return bool(_PASSWORD.fullmatch(words_of(name)))


def can_be_secret(name: str) -> bool:
    """Return whether a value of this name is a secret if it looks random: `token`, `mistral_key`.

    Log probabilities have a field `token`, and objects a `key`.
    """
    words = words_of(name)
    return bool(_DOUBTFUL.fullmatch(words)) and not _HARMLESS.fullmatch(words)


def is_secret_header(name: str) -> bool:
    """Return whether a header carries credentials, or the id of an organization or a project."""
    return bool(_SECRET_HEADER.search(name)) and not _HARMLESS_HEADER.search(name)


def can_be_secret_header(name: str) -> bool:
    """Return whether a header carries credentials if its value looks random."""
    return not _HARMLESS_HEADER.search(name) and not _IDENTIFYING.search(name)


def is_secret_parameter(name: str) -> bool:
    """Return whether a query parameter carries credentials. `code` does so in the address of an OAuth callback."""
    return bool(_SECRET_PARAMETER.search(name)) or is_secret(name)


# -- values ------------------------------------------------------------------------------------------------------------


def is_random(text: str, shortest: int = 16) -> bool:
    """Return whether a text looks random: digits are scattered over its letters. An UUID, which is an id, does not."""
    if len(text) < shortest or _UUID.fullmatch(text):
        return False
    text = text[:_LONGEST]
    changes = sum(
        (first in digits) != (second in digits)
        for first, second in pairwise(text)
        if first.isalnum() and second.isalnum()
    )
    needed = max(2 if len(text) < 16 else 3, len(text) // 8)
    return changes >= needed and len(set(text)) > len(text) // 5


def looks_secret(text: str) -> bool:
    """Return whether a text looks random, or is a pair of user and password in base64."""
    return is_random(text) or pair_of(text) is not None


def pair_of(text: str) -> str | None:
    """Return the pair of user and password that a text has in base64, None if it has none."""
    if not _BASE64.fullmatch(text):
        return None
    try:
        pair = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if set(text) & set("-_") else None).decode()
    except ValueError:
        return None
    return pair if ":" in pair and pair.isprintable() else None


def is_literal(value: str, name: str) -> bool:
    """Return whether a quoted value of a secret is the secret: no reference, no type, and no path of a folder."""
    text = _SCHEME.sub("", value.strip(), count=1)
    if not text or _REFERENCE.fullmatch(text) or _ORDINARY.fullmatch(text):
        return False
    return not (_PATH.match(value) and words_of(name).endswith("pwd"))


def is_bare_literal(value: str, name: str, *, has_own_line: bool) -> bool:
    """Return whether a value without quotes is a secret, and not an expression or a word of a sentence.

    `has_own_line`: the name and the value are a whole line, as in YAML, in an ini file and in an env file.
    """
    if len(value) < 4 or _EXPRESSION.match(value) or not is_literal(value, name):
        return False
    if _CALL.fullmatch(value) and not is_random(value.split("(")[0], 24):
        return False
    if is_random(value):
        return True
    if _PATH_OF_NAMES.fullmatch(value) or _PATH.match(value):
        return False
    if re.search(r"[0-9!@#$^&*+?~]", value):
        return any(map(str.isalpha, value)) or (is_password(name) and len(value) >= 6)
    if name.isupper() and has_own_line:
        return len(value) >= 8
    words = r"[a-z]+(?:-[a-z]+)*" if is_password(name) else r"[a-z]+(?:-[a-z]+){2,}"
    return has_own_line and len(value) >= 6 and bool(re.fullmatch(words, value))
