"""Read the flow files of mitmproxy: typed netstrings, one value for each flow.

The mitmproxy package has 30 dependencies and pins their versions, and the format is small. So this module reads it: a
value is its length, a colon, its bytes, and a character for its type (mitmproxy 11.0, mitmproxy/io/tnetstring.py). The
fields that it reads have the same names in every version since 0.14 (mitmproxy/io/compat.py, seen 2026-11-24).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.json import whole_number
from contentmodel_conformance.captures.entries import CaptureError, Damaged, Entry, Exchange, Message

_LONGEST_LENGTH = 12
_DEEPEST = 100


def read_flows(data: bytes) -> Iterator[Entry]:
    """Yield the entries of a flow file. If the file is cut off or damaged, the last one is Damaged."""
    at = number = 0
    while at < len(data):
        number += 1
        try:
            flow, end = _value(data, at, len(data), _DEEPEST)
        except CaptureError as error:
            yield Damaged(place=f"flow {number}", reason=f"{error}; the flows after it cannot be read")
            return
        at = end
        yield _entry(flow, f"flow {number}")


def _entry(flow: Any, place: str) -> Entry:
    if not isinstance(flow, dict):
        return Damaged(place=place, reason="expected the fields of a flow")
    request, response = flow.get("request"), flow.get("response")
    if not isinstance(request, dict):
        # TCP, UDP and DNS have flows, too.
        return Exchange(place=place, method="", url="", request=Message())
    try:
        message = _message(request)
        return Exchange(
            place=place,
            method=_text(request.get("method")),
            url=_url(request, message),
            request=message,
            status=response.get("status_code") if isinstance(response, dict) else None,
            answer=_message(response) if isinstance(response, dict) else Message(),
            is_websocket=flow.get("websocket") is not None,
        )
    except (TypeError, ValueError) as error:
        return Damaged(place=place, reason=f"the fields of the flow are malformed: {error}")


def _message(fields: dict[str, Any]) -> Message:
    body = fields.get("content", fields.get("body"))
    if body is not None and not isinstance(body, bytes):
        raise TypeError("content is not bytes")
    return Message(headers=[(_text(name), _text(value)) for name, value in fields.get("headers") or []], body=body)


def _url(request: dict[str, Any], message: Message) -> str:
    # In the transparent mode, `host` is an IP address.
    host = message.header("host") or _text(request.get("authority")) or _text(request.get("host"))
    return f"{_text(request.get('scheme'))}://{host}{_text(request.get('path'))}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return value
    raise TypeError(f"expected a text, got {value!r}")


# -- typed netstrings --------------------------------------------------------------------------------------------------


def _value(data: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
    """Return the value at an offset, and the offset after it. Raise CaptureError with the offset of the damage."""
    colon = data.find(b":", at, min(end, at + _LONGEST_LENGTH + 1))
    length = whole_number(data[at:colon].decode("latin-1"), _LONGEST_LENGTH) if colon > at else None
    if length is None:
        raise CaptureError(f"byte {at}: expected the length of a value")
    start, stop = colon + 1, colon + 1 + length
    if stop >= end:
        raise CaptureError(f"byte {at}: the value is cut off: it has {length:,} bytes, and the file ends before")
    kind = data[stop : stop + 1]
    if kind in (b"]", b"}"):
        return _items(data, start, stop, kind, depth), stop + 1
    scalar = _SCALARS.get(kind)
    try:
        if scalar is None:
            raise ValueError(f"unknown type {kind!r}")
        return scalar(data[start:stop]), stop + 1
    except ValueError as error:
        raise CaptureError(f"byte {at}: {error}") from None


def _items(data: bytes, at: int, end: int, kind: bytes, depth: int) -> Any:
    if not depth:
        raise CaptureError(f"byte {at}: nested too deeply")
    items = []
    while at < end:
        item, at = _value(data, at, end, depth - 1)
        items.append(item)
    if kind == b"]":
        return items
    if len(items) % 2:
        raise CaptureError(f"byte {at}: a name without a value")
    return {_name(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _name(key: Any) -> str:
    if not isinstance(key, str | bytes):
        raise CaptureError(f"expected the name of a field, got {key!r}")
    return _text(key)


def _boolean(text: bytes) -> bool:
    if text not in (b"true", b"false"):
        raise ValueError(f"expected true or false, got {text[:20]!r}")
    return text == b"true"


def _number(text: bytes) -> int:
    sign, digits = (-1, text[1:]) if text.startswith(b"-") else (1, text)
    number = whole_number(digits.decode("latin-1"), 30)
    if number is None:
        raise ValueError(f"expected a number, got {text[:20]!r}")
    return sign * number


_SCALARS: dict[bytes, Any] = {
    b",": bytes,
    b";": lambda text: text.decode("utf-8", "surrogateescape"),
    b"#": _number,
    b"^": float,
    b"!": _boolean,
    b"~": lambda text: None,
}
