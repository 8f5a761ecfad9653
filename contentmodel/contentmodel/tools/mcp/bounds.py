"""Limit the size of a message from an MCP server: a larger message is never held in memory.

A message of a process that the package `mcp` cannot parse would leave its request without an answer, so it is replaced.

The package `mcp` limits server-sent events. Lines of a process and HTTP bodies are limited here, with the means that
the package offers: the codec of the lines, and a hook of the HTTP client.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 16 * 2**20
"""The maximum bytes of one message, such as a page of tools or a result."""

_CODEC = re.compile(r"contentmodel_utf8_(\d{1,15})")
_ID = re.compile(rb'"id"\s{0,9}:\s{0,9}(\d{1,18}|"[^"\\]{0,100}")')
_HEAD = 1000
_INVALID = -32600
UNPARSABLE = "the message of the server is not a valid answer, or is nested too deeply, or has a too large number"
TOO_DEEP = "nested too deeply, or with a too large number"
"""Replaces the schema of a tool that cannot be parsed."""


# Lines of a process ---------------------------------------------------------------------------------------------------


def bounded_encoding(max_bytes: int) -> str:
    """Return the name of a codec: UTF-8 with lines of at most `max_bytes` that the package `mcp` can parse.

    Half of a surrogate pair becomes U+FFFD. Any other line is replaced by a JSON-RPC error response with the line's id.
    If a longer line does not begin with the id, it is replaced by an empty object, which is not a message.
    """
    _register()
    return f"contentmodel_utf8_{max_bytes}"


@cache
def _register() -> None:
    codecs.register(_codec)


def _codec(name: str) -> codecs.CodecInfo | None:
    match = _CODEC.fullmatch(name)
    if match is None:
        return None
    utf8, max_bytes = codecs.lookup("utf-8"), int(match[1])

    class Decoder(_BoundedLines):
        limit = max_bytes

    return codecs.CodecInfo(utf8.encode, utf8.decode, name=name, incrementaldecoder=Decoder)


class _BoundedLines(codecs.IncrementalDecoder):
    limit: int

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[bytes] = []
        self._size = 0

    def decode(self, data: Any, final: bool = False) -> str:
        """Return the text of the complete lines."""
        *ends, incomplete = bytes(data).split(b"\n")
        text = b"".join(self._finished(end) + b"\n" for end in ends)
        self._add(incomplete)
        return self._utf8.decode(text + (self._finished(b"") if final else b""), final)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self.limit:
            self._line.append(piece)
        else:
            # Only the id is needed of a line that is too long.
            self._line = [b"".join([*self._line, piece])[:_HEAD]]

    def _finished(self, end: bytes) -> bytes:
        self._add(end)
        line, is_whole = b"".join(self._line), self._size <= self.limit
        self._line, self._size = [], 0
        if is_whole:
            return _parsable(line)
        match = _ID.search(line[:_HEAD])
        return b"{}" if match is None else _refusal(json.loads(match[1]), too_large(self.limit))


def _refusal(request: Any, why: str) -> bytes:
    """Return an error response to a request."""
    return json.dumps({"jsonrpc": "2.0", "id": request, "error": {"code": _INVALID, "message": why}}).encode()


def _parsable(line: bytes) -> bytes:
    """Return a line that the package `mcp` can parse: the same, or an equal one, or an error response.

    A line that is no response is returned unchanged.
    """
    if not line.lstrip().startswith(b"{") or _is_parsable(line):
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _refused_by_ends(line)
    if not isinstance(message, dict) or "method" in message or not isinstance(message.get("id"), str | int):
        return line
    try:
        equal = _without_deep_tools(message)
        text = json.dumps(equal, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except RecursionError:
        return _refusal(message["id"], UNPARSABLE)
    return text.encode() if _is_parsable(text.encode()) else _refusal(message["id"], UNPARSABLE)


def _refused_by_ends(line: bytes) -> bytes:
    """Return an error response to the id at the beginning or at the end of a line that is no JSON we can read."""
    head, tail = line[:_HEAD], line[-_HEAD:]
    match = _ID.search(head.partition(b'"result"')[0]) or _ID.search(tail)
    if match is None or b'"jsonrpc"' not in head + tail or b'"method"' in head:
        return line
    return _refusal(json.loads(match[1]), UNPARSABLE)


def _is_parsable(line: bytes) -> bool:
    from mcp.types import jsonrpc_message_adapter

    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return True


def _without_deep_tools(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the schemas of tools that are nested too deeply, so that the list can be read."""
    from pydantic_core import from_json

    def kept(tool: Any) -> Any:
        try:
            # The tool is two levels deeper in the message.
            from_json(json.dumps({"result": {"tools": [tool]}}, ensure_ascii=True))
        except ValueError:
            return {"name": tool.get("name"), "inputSchema": TOO_DEEP} if isinstance(tool, dict) else None
        return tool

    result = message.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(tools, list):
        return message
    return {**message, "result": {**result, "tools": [kept(tool) for tool in tools]}}


def too_large(limit: int) -> str:
    """Return the reason why a message was not read."""
    return f"the message of the server has more than {limit:,} bytes"


# Bodies of HTTP -------------------------------------------------------------------------------------------------------


def response_hook(max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return a hook for a client's responses that limits their bodies, but not streams of events.

    The client must request the encoding "identity": a few compressed bytes may expand to fill all memory.
    """
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, response: httpx2.Response) -> None:
            self._inner: Any = response.stream
            self._request = response.request

        async def __aiter__(self) -> AsyncIterator[bytes]:
            remaining = max_bytes
            async for piece in self._inner:
                remaining -= len(piece)
                if remaining < 0:
                    raise httpx2.ReadError(too_large(max_bytes), request=self._request)
                yield piece

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise httpx2.ReadError(
                "the server compressed its answer, which was not requested", request=response.request
            )
        if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = Body(response)

    return bound
