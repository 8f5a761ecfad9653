"""Replace secrets in recorded payloads by placeholders.

Three kinds of texts are secrets: the values of headers, cookies and query parameters that carry credentials, wherever a
payload repeats them; texts that look like keys; and the values of fields such as `api_key`. A secret that the deltas of
a stream split is replaced, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from contentmodel.engine.json import Json, write
from contentmodel_conformance.captures.entries import Exchange

PLACEHOLDER = "SCRUBBED-"
"""The start of a placeholder. A number follows: equal secrets of one exchange have the same number."""

_NUMBERED = re.compile(rf"{PLACEHOLDER}([0-9]{{1,6}})")
SHORTEST = 8
"""The minimum length of a value of a header or a query parameter that is searched for in payloads."""
SHORTEST_COOKIE = 16
"""The minimum length of a cookie's value. It is larger, because many cookies contain ordinary words."""

_SECRET_HEADER = re.compile(
    r"(?i)authoriz|(^|[-_])auth($|[-_])|api-?key|(^|[-_])key$|token|secret|credential|password|cookie"
    r"|organi[sz]ation|project"
)
_HARMLESS_HEADER = re.compile(r"(?i)rate-?limit|token-count|sec-websocket|access-control|-policy$")
_SECRET_PARAMETER = re.compile(r"(?i)(^|[-_])(key|token|sig|signature|secret|credential|password|auth|code)$|api-?key")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite"})
_SIGNED = re.compile(r"(?:Credential|Signature)=([^/,\s]+)")
"""The secrets in a signature of AWS. The rest of the header contains names of regions and services."""


class Pattern(NamedTuple):
    """A text that looks like a secret. If the expression has the group `secret`, only this group is replaced.

    `hint` is a text that each match contains; "" if there is none.
    """

    name: str
    expression: re.Pattern[str]
    hint: str = ""


def _key(hint: str, rest: str) -> Pattern:
    """Return the pattern of keys that begin with `hint`."""
    return Pattern("key-like text", re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(hint)}{rest}"), hint)


_FIELD = (
    r"(?:[a-z0-9]+[-_.])*(?:api[-_]?key|(?:access|refresh|auth|id|bearer|session|security|authorization)[-_]?token"
    r"|authorization|client[-_]?secret|secret(?:[-_]?(?:access[-_]?)?key)?|private[-_]?key|password|passwd|passphrase"
    r"|cookie|set-cookie)"
)
FIELD = re.compile(_FIELD, re.IGNORECASE)
"""The names of fields whose value is a secret. `token` is not one of them: log probabilities have this field."""

PATTERNS: tuple[Pattern, ...] = (
    _key("sk-", r"[A-Za-z0-9_*-]{16,}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    _key("AIza", r"[A-Za-z0-9_-]{30,}"),  # Google
    _key("AQ.", r"[A-Za-z0-9_-]{30,}"),
    _key("ya29.", r"[A-Za-z0-9_.-]{20,}"),
    _key("AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    _key("ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("ABSK", r"[A-Za-z0-9+/=]{40,}"),  # Amazon Bedrock
    _key("gsk_", r"[A-Za-z0-9]{20,}"),  # Groq
    _key("xai-", r"[A-Za-z0-9]{20,}"),
    _key("csk-", r"[A-Za-z0-9]{20,}"),  # Cerebras
    _key("pplx-", r"[A-Za-z0-9]{20,}"),  # Perplexity
    _key("nvapi-", r"[A-Za-z0-9_-]{20,}"),
    _key("hf_", r"[A-Za-z0-9]{20,}"),
    _key("r8_", r"[A-Za-z0-9]{20,}"),  # Replicate
    Pattern("key-like text", re.compile(r"(?<![A-Za-z0-9_])gh[opsur]_[A-Za-z0-9]{20,}"), "gh"),
    _key("github_pat_", r"[A-Za-z0-9_]{20,}"),
    _key("glpat-", r"[A-Za-z0-9_-]{16,}"),
    Pattern("key-like text", re.compile(r"(?<![A-Za-z0-9_])xox[a-z]-[A-Za-z0-9-]{10,}"), "xox"),  # Slack
    Pattern("key-like text", re.compile(r"(?<![A-Za-z0-9_])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"), "k_"),  # Stripe
    _key("npm_", r"[A-Za-z0-9]{30,}"),
    _key("pypi-", r"[A-Za-z0-9_-]{30,}"),
    _key("eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # JSON Web Tokens
    Pattern(
        "key-like text",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        "-----BEGIN ",
    ),
    Pattern("account id", re.compile(r"(?<![A-Za-z0-9_-])(?:org|proj)[-_][A-Za-z0-9]{20,}")),
    Pattern(
        "account id", re.compile(r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(?P<secret>[0-9]{12})(?![0-9])"), "arn:aws"
    ),
    Pattern(
        "key-like text",
        re.compile(r"(?i)\bbearer\s+(?P<secret>(?=[^\s\"']*[0-9]|[^\s\"']{20})[A-Za-z0-9._~+/=-]{8,})"),
    ),
    Pattern(
        "key-like text",
        re.compile(r"(?i)authorization[\"'\\]*\s*[:=]\s*[\"'\\]*basic\s+(?P<secret>[A-Za-z0-9+/=]{8,})"),
    ),
    Pattern("key-like text", re.compile(r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@"), "://"),
    Pattern(
        "key-like text",
        re.compile(
            r"(?i)[?&](?:key|api[-_]?key|(?:access[-_]?)?token|sig(?:nature)?|x-(?:amz|goog)-"
            r"(?:signature|credential|security-token))=(?P<secret>[^&\s\"'<>#]+)"
        ),
        "=",
    ),
    Pattern(
        "key-like text",
        re.compile(
            r"\b[A-Z][A-Z0-9_]*(?:API_KEY|SECRET|TOKEN|PASSWORD|ACCESS_KEY)\s*[=:]\s*[\"']?(?P<secret>[^\s\"']{8,})"
        ),
    ),
    # JSON in a text, and JSON in a text of JSON.
    Pattern("field", re.compile(rf"(?i)\"{_FIELD}\"\s*:\s*\"(?P<secret>(?:[^\"\\]|\\.)+)"), '"'),
    Pattern("field", re.compile(rf"(?i)\\\"{_FIELD}\\+\"\s*:\s*\\+\"(?P<secret>[^\"\\]+)"), '\\"'),
)
"""The patterns that are always searched for."""


class Scrubber:
    """Replace secrets. `own` are the user's regular expressions: each match is a secret.

    `counts` has the number of replaced secrets, by kind. It never contains a secret.
    """

    def __init__(self, own: Iterable[re.Pattern[str]] = ()) -> None:
        names = (Pattern(f"--scrub {number}", expression) for number, expression in enumerate(own, 1))
        self._patterns = (*PATTERNS, *names)
        self._known: set[str] = set()
        self.counts: Counter[str] = Counter()

    def learn(self, exchange: Exchange, *, cookies: bool) -> None:
        """Store the credentials in the headers and the URL of an exchange; with `cookies`, also its cookies."""
        for message in (exchange.request, exchange.answer):
            for name, value in message.headers:
                if "cookie" in name.lower():
                    self._know(_values_of_cookies(value) if cookies else ())
                elif is_secret_header(name):
                    self._know(_values_of_header(value))
        self._know(_values_of_query(exchange))

    def _know(self, secrets: Iterable[str]) -> None:
        for secret in secrets:
            if PLACEHOLDER not in secret:
                # The secret itself, and as it is written in JSON and in a URL.
                self._known.update((secret, write(secret)[1:-1].decode(), quote(secret, safe="")))

    def scrub(self, values: Sequence[Json]) -> list[Json]:
        """Return the JSON values of one exchange without secrets. A value that is a list of events is a stream."""
        return _Scrubbing(self._patterns, sorted(self._known), self.counts).scrub(values)


def is_secret_header(name: str) -> bool:
    """Return whether a header carries credentials, or the id of an organization or a project."""
    return bool(_SECRET_HEADER.search(name)) and not _HARMLESS_HEADER.search(name)


def _values_of_header(value: str) -> Iterator[str]:
    """Yield the credentials in the value of a header."""
    signed = _SIGNED.findall(value)
    for text in signed or [value.strip(), value.split()[-1] if value.strip() else ""]:
        if len(text) >= SHORTEST:
            yield text


def _values_of_cookies(value: str) -> Iterator[str]:
    for pair in re.split(r"[;\n]", value):
        name, _, text = pair.partition("=")
        if len(text.strip()) >= SHORTEST_COOKIE and name.strip().lower() not in _COOKIE_ATTRIBUTES:
            yield text.strip()


def _values_of_query(exchange: Exchange) -> Iterator[str]:
    parts = exchange.parts
    try:
        password = parts.password
    except ValueError:
        password = None
    for name, value in [*parse_qsl(parts.query), ("password", password or "")]:
        if _SECRET_PARAMETER.search(name) and len(value) >= SHORTEST:
            yield value


# -- the values of one exchange ----------------------------------------------------------------------------------------


class _Match(NamedTuple):
    start: int
    end: int
    kind: str


class _Piece:
    """A text in an event that may be a part of a longer text: its container, its key there, and the text.

    `start` is its offset in the longer text. `length` is its length before replacements.
    """

    def __init__(self, container: Any, key: str | int, text: str) -> None:
        self.container, self.key, self.text = container, key, text
        self.length = len(text)
        self.start = 0


class _Scrubbing:
    """The secrets of one exchange, with their numbers."""

    def __init__(self, patterns: Sequence[Pattern], known: Sequence[str], counts: Counter[str]) -> None:
        self._patterns, self._known, self._counts = patterns, known, counts
        self._numbers: dict[str, int] = {}
        self._first = 1

    def scrub(self, values: Sequence[Json]) -> list[Json]:
        texts = (text for value in values for text in _texts(value))
        # A record that was scrubbed before contains placeholders.
        numbers = (int(number) for text in texts for number in _NUMBERED.findall(text))
        self._first = 1 + max(numbers, default=0)
        return [self._whole(value) for value in values]

    def _whole(self, value: Json) -> Json:
        if isinstance(value, list):
            self._join(value)
        return self._scrubbed(value)

    def _scrubbed(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._scrubbed(item) for item in value]
        if isinstance(value, dict):
            return {self._text(key): self._field(key, item) for key, item in value.items()}
        return value

    def _field(self, name: str, value: Json) -> Json:
        if isinstance(value, str) and value and FIELD.fullmatch(name) and not _NUMBERED.search(value):
            self._counts["field"] += 1
            return self._placeholder(value)
        return self._scrubbed(value)

    def _text(self, text: str) -> str:
        pieces, end = [], 0
        for match in self._matches(text):
            pieces += [text[end : match.start], self._replaced(text, match)]
            end = match.end
        return "".join([*pieces, text[end:]]) if pieces else text

    def _replaced(self, text: str, match: _Match) -> str:
        self._counts[match.kind] += 1
        return self._placeholder(text[match.start : match.end])

    def _placeholder(self, secret: str) -> str:
        number = self._numbers.setdefault(secret, self._first + len(self._numbers))
        return f"{PLACEHOLDER}{number}"

    def _matches(self, text: str) -> list[_Match]:
        """Return the secrets in a text, in order. Overlapping matches are merged."""
        merged: list[_Match] = []
        for match in sorted(self._all_matches(text)):
            if merged and match.start < merged[-1].end:
                first = merged[-1]
                merged[-1] = _Match(first.start, max(first.end, match.end), first.kind)
            else:
                merged.append(match)
        return merged

    def _all_matches(self, text: str) -> Iterator[_Match]:
        for secret in self._known:
            if secret in text:
                for match in re.finditer(re.escape(secret), text):
                    yield _Match(match.start(), match.end(), "known credential")
        for name, expression, hint in self._patterns:
            if hint in text:
                group = "secret" if "secret" in expression.groupindex else 0
                for match in expression.finditer(text):
                    start, end = match.span(group)
                    if start < end and not _NUMBERED.fullmatch(text, start, end):
                        yield _Match(start, end, name)

    # -- streams -------------------------------------------------------------------------------------------------------

    def _join(self, events: list[Json]) -> None:
        """Replace the secrets that are split over several events of a stream, in place."""
        slots: dict[Any, list[_Piece]] = {}
        for event in events:
            for slot, piece in _pieces(event):
                slots.setdefault(slot, []).append(piece)
        for pieces in slots.values():
            # A field with the same value in each event, such as an id, is not a text that was split.
            if len({piece.text for piece in pieces}) > 1:
                self._replace_across(pieces)

    def _replace_across(self, pieces: list[_Piece]) -> None:
        for before, piece in pairwise(pieces):
            piece.start = before.start + before.length
        text = "".join(piece.text for piece in pieces)
        replaced = [(match, self._replaced(text, match)) for match in self._matches(text)]
        # From the last to the first: the offsets of the others stay valid.
        for match, placeholder in reversed(replaced):
            _put(pieces, match, placeholder)
        for piece in pieces:
            piece.container[piece.key] = piece.text


def _put(pieces: Iterable[_Piece], match: _Match, placeholder: str) -> None:
    """Put a placeholder into the piece where a secret begins, and remove the rest of it from the next pieces."""
    for piece in pieces:
        first, last = match.start - piece.start, match.end - piece.start
        if first < piece.length and last > 0:
            piece.text = piece.text[: max(first, 0)] + (placeholder if first >= 0 else "") + piece.text[last:]


def _pieces(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], _Piece]]:
    """Yield the texts of an event, each with its path and indexes. Texts with the same path form one longer text."""
    if isinstance(value, dict):
        path = (*path, *_indexes(value))
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, str):
            yield (*path, key), _Piece(value, key, item)
        elif isinstance(item, dict | list):
            # The index identifies a choice; its position in the list does not.
            has_index = isinstance(key, int) and isinstance(item, dict) and bool(_indexes(item))
            yield from _pieces(item, path if has_index else (*path, key))


def _indexes(value: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the fields of an object that number a block or a choice: `index`, `output_index`, `contentBlockIndex`."""
    return [(key, item) for key, item in value.items() if key.lower().endswith("index") and item.__class__ is int]


def _texts(value: Json) -> Iterator[str]:
    """Yield every text and every key of a JSON value."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            stack += item.values()
        elif isinstance(item, list):
            stack += item
