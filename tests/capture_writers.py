"""Write exchanges as captures: HAR, VCR cassettes in YAML and JSON, and flows of mitmproxy."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable
from typing import Any

import yaml

from contentmodel.json import write
from contentmodel_conformance.captures.entries import Exchange, Message

JSON_HEADERS = [("Content-Type", "application/json")]


def exchange(
    url: str,
    request: Any,
    answer: Any,
    *,
    status: int | None = 200,
    method: str = "POST",
    headers: Iterable[tuple[str, str]] = (),
    answer_headers: Iterable[tuple[str, str]] = JSON_HEADERS,
) -> Exchange:
    """Return an exchange. Bodies are bytes, or JSON values."""
    return Exchange(
        place="",
        method=method,
        url=url,
        request=Message(headers=[*JSON_HEADERS, *headers], body=as_bytes(request)),
        status=status,
        answer=Message(headers=[*answer_headers], body=as_bytes(answer)),
    )


def as_bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else write(body)


def har(exchanges: Iterable[Exchange]) -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": [_entry(one) for one in exchanges]}}).encode()


def _entry(one: Exchange) -> dict[str, Any]:
    request = {"method": one.method, "url": one.url, "headers": _pairs(one.request)}
    text = (one.request.body or b"").decode()
    return {
        "startedDateTime": "2026-11-24T10:00:00Z",
        "request": {**request, "postData": {"mimeType": "application/json", "text": text}},
        "response": {"status": one.status or 0, "headers": _pairs(one.answer), "content": _content(one.answer)},
    }


def _pairs(message: Message) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in message.headers]


def _content(message: Message) -> dict[str, Any]:
    body = message.body or b""
    try:
        return {"size": len(body), "text": body.decode()}
    except UnicodeDecodeError:
        return {"size": len(body), "text": base64.b64encode(body).decode(), "encoding": "base64"}


def cassette(exchanges: Iterable[Exchange]) -> dict[str, Any]:
    """Return a cassette of vcrpy, with bytes where vcrpy has them."""
    return {"version": 1, "interactions": [_interaction(one) for one in exchanges]}


def _interaction(one: Exchange) -> dict[str, Any]:
    return {
        "request": {
            "method": one.method,
            "uri": one.url,
            "headers": {name: [value] for name, value in one.request.headers},
            "body": _text_or_bytes(one.request.body),
        },
        "response": {
            "status": {"code": one.status, "message": "OK"},
            "headers": {name: [value] for name, value in one.answer.headers},
            "body": {"string": _text_or_bytes(one.answer.body)},
        },
    }


def _text_or_bytes(body: bytes | None) -> Any:
    try:
        return (body or b"").decode()
    except UnicodeDecodeError:
        return body


def vcr_yaml(exchanges: Iterable[Exchange]) -> bytes:
    return yaml.safe_dump(cassette(exchanges)).encode()


def ruby_json(exchanges: Iterable[Exchange]) -> bytes:
    """Return a cassette of Ruby's VCR, in JSON with base64."""
    made = cassette(exchanges)
    for one in made["interactions"]:
        one["request"]["method"] = f":{one['request']['method'].lower()}"
        for body, side in ((one["request"]["body"], "request"), (one["response"]["body"]["string"], "response")):
            raw = body if isinstance(body, bytes) else body.encode()
            one[side]["body"] = {"encoding": "ASCII-8BIT", "base64_string": base64.encodebytes(raw).decode()}
    return json.dumps({"http_interactions": made["interactions"], "recorded_with": "VCR 6.3.1"}).encode()


def flows(exchanges: Iterable[Exchange]) -> bytes:
    return b"".join(netstring(_flow(one)) for one in exchanges)


def _flow(one: Exchange) -> dict[str, Any]:
    parts = one.parts
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    request = {
        "http_version": b"HTTP/1.1",
        "headers": [(name.encode(), value.encode()) for name, value in one.request.headers],
        "content": one.request.body,
        "method": one.method.encode(),
        "scheme": parts.scheme.encode(),
        "host": parts.hostname or "",
        "port": parts.port or 443,
        "authority": b"",
        "path": path.encode(),
    }
    answer = {
        "status_code": one.status,
        "headers": [(name.encode(), value.encode()) for name, value in one.answer.headers],
        "content": one.answer.body,
    }
    return {
        "version": 21,
        "type": "http",
        "request": request,
        "response": answer if one.status is not None else None,
        "websocket": None,
        "marked": False,
        "timestamp_created": 1.5,
    }


def netstring(value: Any) -> bytes:
    """Return a value as a typed netstring."""
    text, kind = _typed(value)
    return b"%d:%b%b" % (len(text), text, kind)


def _typed(value: Any) -> tuple[bytes, bytes]:
    if value is None:
        return b"", b"~"
    if isinstance(value, bool):
        return str(value).lower().encode(), b"!"
    if isinstance(value, dict):
        return b"".join(netstring(item) for pair in value.items() for item in pair), b"}"
    if isinstance(value, list | tuple):
        return b"".join(map(netstring, value)), b"]"
    text = value if isinstance(value, bytes) else str(value).encode()
    return text, {bytes: b",", str: b";", int: b"#", float: b"^"}[type(value)]


def zipped(write: Callable[[Iterable[Exchange]], bytes]) -> Callable[[Iterable[Exchange]], bytes]:
    return lambda exchanges: gzip.compress(write(exchanges))


FORMATS: dict[str, Callable[[Iterable[Exchange]], bytes]] = {
    "a.har": har,
    "a.yaml": vcr_yaml,
    "a.json": ruby_json,
    "a.mitm": flows,
    "a.yaml.gz": zipped(vcr_yaml),
}
"""The writers of each format, by a file name."""
