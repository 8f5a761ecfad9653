"""The contents that a web client may send: one strict class for each, with its conversion to a model content.

Content types and fields that are not declared here are refused. So a new content type of the model is refused until it
is declared here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import InputResponseContent, ToolApprovalResponseContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.server.limits import Limits

HERE = "request"
"""The `api` of a DecodeError about a client's request."""

Filled = Annotated[str, msgspec.Meta(min_length=1)]
MediaType = Annotated[
    str,
    msgspec.Meta(max_length=255, pattern=r"\A[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;[ -~]*)?\Z"),
]
MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]
"""The kinds that a client may set for a link or a file whose media type is missing."""
SHOWN = 200
"""The number of characters of client input that an error quotes."""
DEEPEST = 50
"""The maximum nesting of the value of an answer."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`\Z", re.DOTALL)


class Rules(msgspec.Struct, frozen=True):
    """Rules for client input. `schemes` are the allowed link schemes, in lower case."""

    limits: Limits = Limits()
    schemes: frozenset[str] = frozenset({"http", "https"})


class Sent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """A content as sent by a client."""

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        """Yield each invalid field with an error message."""
        yield from ()

    def content(self) -> AIContent:
        """Return the model content, made of the declared fields only."""
        raise TypeError(f"{type(self).__name__} does not implement content")


def _tag(kind: type[AIContent]) -> str:
    return str(kind.__struct_config__.tag)


class SentText(Sent, frozen=True, kw_only=True, tag=_tag(TextContent)):
    """A text."""

    text: Filled

    def content(self) -> AIContent:
        return TextContent(text=self.text)


class SentMedia(Sent, frozen=True, kw_only=True):
    """A media content with an optional name."""

    name: str | None = None

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        limit = rules.limits.id_length
        if self.name is not None and (len(self.name) > limit or _CONTROL.search(self.name)):
            yield "name", f"expected at most {limit} characters, and no control characters"


class SentData(SentMedia, frozen=True, kw_only=True, tag=_tag(DataContent)):
    """An inline medium."""

    data: Filled
    media_type: MediaType

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        yield from super().faults(rules)
        try:
            self.content().to_bytes()
        except ValueError as error:
            yield "data", f"expected base64: {error}"

    def content(self) -> DataContent:
        return DataContent(data=self.data, media_type=self.media_type, name=self.name)


class SentLink(SentMedia, frozen=True, kw_only=True, tag=_tag(UriContent)):
    """A link to a medium."""

    uri: Filled
    media_type: MediaType | None = None
    kind: MediaKind | None = None

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        yield from super().faults(rules)
        if len(self.uri) > rules.limits.link_length:
            yield "uri", f"expected at most {rules.limits.link_length} characters"
        elif not _is_link(self.uri, rules.schemes):
            yield "uri", f"expected a link of the schemes {', '.join(sorted(rules.schemes))}"

    def content(self) -> AIContent:
        return UriContent(uri=self.uri, media_type=self.media_type, name=self.name, kind=self.kind)


class SentFile(SentMedia, frozen=True, kw_only=True, tag=_tag(HostedFileContent)):
    """A file that the client uploaded to this conversation. `Access.check_files` checks this."""

    file_id: str
    media_type: MediaType | None = None
    kind: MediaKind | None = None

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        yield from super().faults(rules)
        limit = rules.limits.id_length
        if not is_id(self.file_id, limit):
            yield "file_id", f"expected 1 to {limit} printable characters without blanks"

    def content(self) -> AIContent:
        return HostedFileContent(file_id=self.file_id, media_type=self.media_type, name=self.name, kind=self.kind)


class SentAnswer(Sent, frozen=True, kw_only=True):
    """An answer to a question. `request_id` is the id of the question."""

    request_id: str

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        limit = rules.limits.id_length
        if not 0 < len(self.request_id) <= limit:
            yield "request_id", f"expected 1 to {limit} characters"


class SentApproval(SentAnswer, frozen=True, kw_only=True, tag=_tag(ToolApprovalResponseContent)):
    """An answer to a request for approval."""

    approved: bool
    reason: str | None = None

    def content(self) -> AIContent:
        return ToolApprovalResponseContent(request_id=self.request_id, approved=self.approved, reason=self.reason)


class SentInput(SentAnswer, frozen=True, kw_only=True, tag=_tag(InputResponseContent)):
    """An answer to a request for input."""

    value: msgspec.Raw

    def faults(self, rules: Rules) -> Iterator[tuple[str, str]]:
        yield from super().faults(rules)
        try:
            is_too_deep = _depth(msgspec.json.decode(self.value)) > DEEPEST
        except RecursionError:
            is_too_deep = True
        except (msgspec.MsgspecError, UnicodeError) as error:
            yield "value", f"not a JSON value: {error}"
            return
        if is_too_deep:
            yield "value", f"nested more than {DEEPEST} levels deep"

    def content(self) -> AIContent:
        return InputResponseContent(request_id=self.request_id, value=msgspec.json.decode(self.value))


ACCEPTED: tuple[type[Sent], ...] = (SentText, SentData, SentLink, SentFile, SentApproval, SentInput)
"""All content types that a client may send."""
ACCEPTED_TYPES = tuple(str(kind.__struct_config__.tag) for kind in ACCEPTED)
ANSWERS = (ToolApprovalResponseContent, InputResponseContent)

_decoder: msgspec.json.Decoder[Sent] = msgspec.json.Decoder(reduce(or_, ACCEPTED))


def content_of(data: msgspec.Raw, path: str, rules: Rules) -> AIContent:
    """Decode a content from a client. Raise DecodeError with the path of each fault."""
    try:
        sent = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DecodeError(HERE, [_type_fault(error, path)]) from None
    if isinstance(sent, SentAnswer):
        check_answer(data, path, rules)
    faults = [Fault(f"{path}.{field}", message) for field, message in sent.faults(rules)]
    if faults:
        raise DecodeError(HERE, faults)
    return sent.content()


def check_answer(data: msgspec.Raw | bytes, path: str, rules: Rules) -> None:
    """Raise DecodeError if an answer is too long, or if an object in it has a duplicate key.

    JSON parsers differ in which of two duplicate keys they use, so such an answer is ambiguous.
    """
    if len(memoryview(data)) > rules.limits.answer_bytes:
        raise DecodeError(HERE, [Fault(path, f"the answer has more than {rules.limits.answer_bytes} bytes")])
    try:
        json.loads(bytes(data), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise DecodeError(HERE, [Fault(path, str(error))]) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key[:100]!r} occurs twice in one object")
        result[key] = value
    return result


def _type_fault(error: Exception, path: str) -> Fault:
    fault = fault_of(error, path)
    if fault.path == f"{path}.type" or "missing required field `type`" in fault.message:
        types = ", ".join(ACCEPTED_TYPES)
        return Fault(f"{path}.type", f"{fault.message}; the types that clients may send: {types}")
    return fault


def fault_of(error: Exception, path: str) -> Fault:
    """Convert an error of msgspec to a fault, with the path of the invalid value."""
    if isinstance(error, RecursionError):
        return Fault(path, "nested too deeply")
    if not isinstance(error, msgspec.ValidationError):
        return Fault(path, f"not JSON: {error} (the text must be UTF-8, without unpaired surrogates)")
    # The message may quote client input of any length.
    message, mark, inner_path = str(error).rpartition(" - at `$")
    message, inner_path = (message, inner_path.removesuffix("`")) if mark else (inner_path, "")
    unknown = _UNKNOWN_FIELD.match(message)
    if unknown:
        return Fault(f"{path}{inner_path}.{unknown[1][:SHOWN]}", "clients may not send this field")
    return Fault(path + inner_path, message if len(message) <= SHOWN else f"{message[:SHOWN]}...")


def is_id(value: str, limit: int) -> bool:
    """Return whether a text can be an id: 1 to `limit` printable characters without blanks."""
    return 0 < len(value) <= limit and value.isprintable() and " " not in value


def _is_link(uri: str, schemes: frozenset[str]) -> bool:
    if not uri.isprintable() or " " in uri or "\\" in uri:
        return False
    try:
        parts = urlsplit(uri)
        has_host = bool(parts.hostname)
    except ValueError:
        return False
    return parts.scheme in schemes and (has_host or parts.scheme not in ("http", "https"))


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        depth += 1
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _inside(outer)]
    return depth


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value
