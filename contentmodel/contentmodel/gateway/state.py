"""Envelopes: opaque state of one issuer in the opaque fields of clients of another API. Pure functions, no I/O.

An envelope is `cm1.`, a body in base64url, `.`, and 16 bytes of its HMAC-SHA256. A client sends it back like the state
of its own API. Only gateways with the same key make and read it, and no provider gets one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.errors import ToolArgumentsError
from contentmodel.hints import MINTED
from contentmodel.json import parse, write

MARK = "cm1."
BYTES_MARK = base64.b64encode(MARK.encode() + b"\0\0")[:5].decode()
"""The start of the base64 of an envelope, whatever follows `MARK`."""

TOTAL = 16
"""The number of largest envelopes that one request may have. More smaller ones are accepted."""

MOST_OPENED = 64 * 2**20
"""The size in bytes of the body of an envelope. It is only decompressed if the gateway signed it."""

_KEY, _MAC, _DIGEST = 4, 16, 12


class State(msgspec.Struct, frozen=True, array_like=True):
    """The part of one content that a client's API cannot carry.

    - `role`: "reasoning", "call" or "text": the type of the content.
    - `issuer`, `kind`, `data`: its opaque state; `data` is None if it has none.
    - `text`: the text of reasoning, if the client does not get it beside the envelope.
    - `back`: the number of other contents between the reasoning and its envelope.
    - `reasoning`: the kind of reasoning. `extra`: the fields of the content that only its own API has.
    """

    role: str
    issuer: str = ""
    kind: str = ""
    data: str | None = None
    text: str | None = None
    back: int = 0
    reasoning: str | None = None
    extra: dict[str, Any] = {}


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """Opened state: where it came from, what it belongs to, and the state itself.

    - `api`, `issuer`, `model`: the origin. `account`: the boundary of the account that it is valid for.
    - `call_id`: the id of the call that it belongs to; None if it belongs to none.
    - `digest`: the digest of the text beside it, or of the call that has it.
    """

    api: str
    issuer: str
    model: str | None
    account: bytes
    call_id: str | None
    digest: bytes
    states: list[State]


def digest_of(text: str) -> bytes:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_DIGEST]


def digest_of_call(call: ToolCallContent) -> bytes:
    """Return a short digest of the name and the arguments of a call, whatever the spelling of its JSON."""
    try:
        arguments = _plain(call.arguments_object)
    except (ToolArgumentsError, RecursionError):
        arguments = call.arguments if isinstance(call.arguments, str) else None
    return digest_of(write([call.name, arguments]).decode())


def _plain(value: Any) -> Any:
    """Return a JSON value with sorted keys, and whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def has_own_id(call: ToolCallContent) -> bool:
    """Return whether a call has an id that the client sent, and not one that an adapter gave it."""
    return bool(call.call_id) and not any(MINTED.is_in(own) for own in (call.extra or {}).values())


class StateKeys:
    """The keys of envelopes. The first one signs; all of them verify, so that a key can be replaced."""

    def __init__(self, secrets: Sequence[bytes], most: int) -> None:
        """`most` is the number of characters of the largest envelope."""
        self.most = most
        keys = [hmac.digest(secret, b"contentmodel state", "sha256") for secret in secrets]
        self._keys = {hashlib.sha256(key).digest()[:_KEY]: key for key in reversed(keys)}
        self._first = keys[0]

    def account(self, key: bytes | None, *parts: str | None) -> bytes:
        """Return the boundary of an account: the base URL and the key of an upstream, which it does not reveal.

        `key` is the number of the key of an envelope; None is the one that signs.
        """
        secret = self._first if key is None else self._keys[key]
        return hmac.digest(secret, write(["account", *parts]), "sha256")[:_MAC]

    def seal(self, envelope: Envelope, *, in_bytes: bool = False) -> str | None:
        """Return the text of an envelope, in base64 if its field has bytes; None if it is too large."""
        number = hashlib.sha256(self._first).digest()[:_KEY]
        body = MARK + _base64(number + zlib.compress(write(msgspec.to_builtins(envelope))))
        text = f"{body}.{_signature(self._first, body)}"
        if in_bytes:
            text = base64.b64encode(text.encode()).decode()
        return text if len(text) <= self.most else None

    def open(self, text: str) -> tuple[bytes, Envelope] | None:
        """Return the number of the key and the content of an envelope; None unless it is one, signed and unchanged."""
        if len(text) > self.most:
            return None
        found = _ENVELOPE.fullmatch(text if text.startswith(MARK) else _of_bytes(text))
        if found is None:
            return None
        try:
            body = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
        except (binascii.Error, ValueError):
            return None
        number, key = body[:_KEY], self._keys.get(body[:_KEY])
        if key is None or not hmac.compare_digest(_signature(key, found[1]), found[3]):
            return None
        opened = zlib.decompressobj().decompress(body[_KEY:], MOST_OPENED)
        return number, msgspec.convert(parse(opened), Envelope)


_ENVELOPE = re.compile(rf"({re.escape(MARK)}([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{{22}})")


def _signature(key: bytes, body: str) -> str:
    return _base64(hmac.digest(key, body.encode(), "sha256")[:_MAC])


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _of_bytes(text: str) -> str:
    """Return the text whose base64 this is; "" if it is none, or not in the usual spelling."""
    bare = text.rstrip("=")
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        return data.decode("ascii") if base64.b64encode(data).decode().rstrip("=") == bare else ""
    except (binascii.Error, ValueError):
        return ""


def is_envelope(data: str | None) -> bool:
    """Return whether opaque data claims to be an envelope."""
    return data is not None and data.startswith((MARK, BYTES_MARK))


def may_have_envelopes(body: bytes, payload: Any) -> bool:
    """Return whether the body of a request, whose JSON is `payload`, may have an envelope."""
    if any(mark in body for mark in _MARKS):
        return True
    # A character of the mark may be escaped.
    return b"\\u00" in body and any(mark in write(payload) for mark in _MARKS)


_MARKS = (MARK.encode(), BYTES_MARK.encode())
