"""Execute REST calls: paths with arguments, always sent to the same host.

An argument is only a value. It cannot change the host, the segments of the path or the names of query parameters, even
if a server decodes a path before it splits it. Arguments that would do so are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from contentmodel.errors import Fault
from contentmodel.json import kind_of, write
from contentmodel.tools.config.faults import ExecutorError
from contentmodel.tools.config.format import Operation
from contentmodel.tools.config.http import MAX_BYTES, Endpoint, contents_of_answer
from contentmodel.tools.config.matching import argument_faults
from contentmodel.tools.outcome import ToolOutcome

if TYPE_CHECKING:
    import httpx2

WITH_BODY = ("POST", "PUT", "PATCH")
"""The methods that send arguments which are not in the path as a JSON body."""

MAX_TARGET = 32_000
"""The maximum number of characters of a path with its query. Many servers accept less."""
MAX_DECODINGS = 8
"""The maximum number of times that a path is decoded to check it, as a server may do."""

_ARGUMENT = re.compile(r"\{([^{}]*)\}")
_STATIC = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class RestExecutor:
    """Call a REST API.

    `base_url` is put before every path ("https://api.example.com/v1"). `headers` are sent with every request. `client`
    is an httpx2 client to use instead of a new one; it is not closed. `timeout` is in seconds, for one whole call. An
    answer of more than `max_bytes` is an error. Redirects are followed only on the same host.

    In a URL, a string is written as it is, a number and a boolean as in JSON, and the items of an array separated by
    commas. An object, and an array with other items than strings, numbers and booleans, is written as JSON. Null means
    no argument. Arguments of POST, PUT and PATCH that are not in the path are sent as a JSON object in the body.

    Raise ValueError if `base_url` is not an http or https URL, or has a query.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        client: httpx2.Client | None = None,
        timeout: float = 30,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._endpoint = Endpoint(base_url, headers=headers, client=client, timeout=timeout, max_bytes=max_bytes)
        if self._endpoint.url.query:
            raise ValueError("the base URL must have no query: send common values as headers")

    def check(self, operation: Operation) -> Iterator[Fault]:
        """Yield the faults of a call of this API."""
        if operation.query:
            yield Fault("api.query", "a REST executor cannot run a query: use a GraphQL or SQL executor, or set path")
        else:
            yield from check_path(operation)

    def arguments_of(self, operation: Operation) -> frozenset[str]:
        """Return the arguments that a call accepts."""
        return places_of(operation)

    def run(self, operation: Operation, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Return the answer as contents: text, data (an image for example), or an error. Raise ExecutorError."""
        target, body = request_of(operation, arguments)
        if len(target) > MAX_TARGET:
            raise ExecutorError(
                f"the arguments are too long for a URL: {len(target):,} characters, the limit is {MAX_TARGET:,}"
            )
        base = self._endpoint.url.raw_path.decode("ascii").rstrip("/")
        url = self._endpoint.url.copy_with(raw_path=(base + target).encode("ascii"))
        answer = self._endpoint.exchange(operation.method, url, body)
        return contents_of_answer(answer, f"{operation.method} of {operation.tool}")

    def close(self) -> None:
        """Close the connections, unless the client was given."""
        self._endpoint.close()

    def __repr__(self) -> str:
        return f"RestExecutor({self._endpoint.shown!r})"


# Paths ----------------------------------------------------------------------------------------------------------------


def check_path(operation: Operation) -> Iterator[Fault]:
    """Yield the faults of a path: its form, arguments without a value, and parameters that it does not use."""
    form = _form_fault(operation.path)
    if form:
        yield Fault("api.path", form)
        return
    yield from argument_faults(
        operation,
        "api.path",
        dict.fromkeys(_ARGUMENT.findall(operation.path)),
        places_of(operation),
        lambda name: f"{{{name}}}",
        lambda name: f"{name} is not used: a {operation.method} has no body, so put {{{name}}} into the path",
    )


def places_of(operation: Operation) -> frozenset[str]:
    """Return the arguments that a call accepts."""
    named = frozenset(_ARGUMENT.findall(operation.path))
    return named | operation.body if operation.method in WITH_BODY else named


def _form_fault(path: str) -> str | None:
    """Return why the host, the segments or the parameter names of a path are not fixed, or None."""
    if not path.startswith("/") or path.startswith("//"):
        return "the path must begin with exactly one slash; the executor sets the host"
    static = _ARGUMENT.sub("", path)
    if "{" in static or "}" in static or not all(_ARGUMENT.findall(path)):
        return "a placeholder must be {name}, but a brace is unmatched or a name is missing"
    plain_path, _, query = path.partition("?")
    if "?" in _ARGUMENT.sub("", query):
        return "the path has two question marks: write the second one as %3F"
    bad = _STATIC.sub("", static.replace("?", "", 1))
    if bad:
        return f"the character {bad[0]!r} is not allowed in a path: percent-encode it"
    if any(_is_dots(unquote(segment)) for segment in plain_path.split("/")):
        return "the path must have no segments . or .."
    for pair in query.split("&") if query else ():
        if "{" in pair.partition("=")[0]:
            return f"a placeholder must be in the value of a query parameter, not in its name: {pair}"
    return None


# A call as path and body ----------------------------------------------------------------------------------------------


def request_of(operation: Operation, arguments: Mapping[str, Any]) -> tuple[str, bytes | None]:
    """Return the path with its query, in ASCII, and the body. Raise ExecutorError for unsuitable arguments."""
    plain_path, _, query = operation.path.partition("?")
    set_arguments = {name: value for name, value in arguments.items() if value is not None}
    target = "/".join(_segment(part, set_arguments) for part in plain_path.split("/"))
    pairs = [text for pair in query.split("&") if (text := _pair(pair, set_arguments))] if query else []
    body_arguments = {name: arguments[name] for name in arguments if name not in _ARGUMENT.findall(operation.path)}
    return target + ("?" + "&".join(pairs) if pairs else ""), _body(operation, body_arguments)


def _segment(template: str, arguments: Mapping[str, Any]) -> str:
    """Return one segment of the path with its arguments. It stays one segment however often a server decodes it."""
    missing = [name for name in _ARGUMENT.findall(template) if name not in arguments]
    if missing:
        raise ExecutorError(f"the call needs a value for the argument {', '.join(missing)}")
    segment = _ARGUMENT.sub(lambda match: _encoded(match[1], arguments[match[1]]), template)
    if segment == template:
        return segment
    names = ", ".join(_ARGUMENT.findall(template))
    for text in _decodings(segment):
        if not text or _is_dots(text) or "/" in text or "\\" in text or _CONTROL.search(text):
            rule = "must not be empty, . or .., or contain slashes, backslashes or control characters"
            raise ExecutorError(f"the argument {names} is part of the path: it {rule}")
    return segment


def _pair(template: str, arguments: Mapping[str, Any]) -> str | None:
    """Return one parameter of the query; None if one of its arguments is not set."""
    if any(name not in arguments for name in _ARGUMENT.findall(template)):
        return None
    return _ARGUMENT.sub(lambda match: _encoded(match[1], arguments[match[1]]), template)


def _body(operation: Operation, arguments: Mapping[str, Any]) -> bytes | None:
    if operation.method in WITH_BODY:
        # Servers that match names in any case could take an undeclared argument for a declared one, or for the context.
        undeclared = [name for name in arguments if name not in operation.supplied | operation.parameters]
        if undeclared:
            raise ExecutorError(f"{operation.tool} has no argument {', '.join(undeclared)}: remove it")
        named = _ARGUMENT.findall(operation.path)
        return write(arguments) if arguments or any(name not in named for name in operation.body) else None
    if any(value is not None or name not in operation.parameters for name, value in arguments.items()):
        raise ExecutorError(f"{operation.tool} has no argument {', '.join(arguments)}: remove it")
    return None


def _encoded(name: str, value: Any) -> str:
    """Percent-encode a value, except letters, digits and -._~. Items of an array are separated by commas."""
    items = value if isinstance(value, list) and all(_is_plain(item) for item in value) else [value]
    try:
        return ",".join(quote(_text(item), safe="") for item in items)
    except UnicodeEncodeError:
        raise ExecutorError(f"the argument {name} contains an unpaired surrogate, which a URL cannot contain") from None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list | bool | int | float):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    raise ExecutorError(f"a URL cannot contain a value of type {kind_of(value)}")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | int | float)


def _decodings(text: str) -> Iterator[str]:
    """Yield `text` as servers may read it: unchanged, decoded, decoded again, and so on."""
    for _ in range(MAX_DECODINGS):
        yield text
        if (plain := unquote(text)) == text:
            return
        text = plain
    raise ExecutorError("an argument in the path is percent-encoded too many times: give it as plain text")


def _is_dots(segment: str) -> bool:
    """Return whether a segment is "." or "..". Some servers ignore the text after a semicolon."""
    return segment.partition(";")[0] in (".", "..")
