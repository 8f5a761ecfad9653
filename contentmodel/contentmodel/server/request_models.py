"""Decode and validate the request bodies of web clients."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from contentmodel.content.base import AIContent
from contentmodel.content.media import HostedFileContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import ToolApprovalResponseContent
from contentmodel.errors import DecodeError, Fault
from contentmodel.history import START
from contentmodel.json import child_path
from contentmodel.server.sent import ANSWERS, HERE, Rules, check_answer, content_of, fault_of, is_id

T = TypeVar("T")
SMALL = 50_000
"""Bodies up to this many bytes are decoded in the event loop; longer ones in a thread."""
MOST_FAULTS = 20
"""The number of faults of one body that are reported."""


class _Body(msgspec.Struct):
    """The fields of a turn's body as raw JSON. Unknown fields are skipped without creating objects."""

    content: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    previous: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    branch: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    idempotency_key: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _StrictBody(_Body, forbid_unknown_fields=True):
    """The same fields; unknown fields are refused."""


class TurnRequest(msgspec.Struct, frozen=True):
    """A user's turn. `previous` is a turn id or START; None means after the turn that began last.

    Requests with the same `digest` are equal except for their `key`. If `again` is the id of a user's turn, that turn
    gets another answer, and the request has no contents.
    """

    contents: list[AIContent]
    previous: str | None = None
    branch: bool = False
    again: str | None = None
    key: str | None = None
    digest: bytes = b""

    @property
    def has_answers(self) -> bool:
        """True if the contents include answers to questions."""
        return any(isinstance(content, ANSWERS) for content in self.contents)

    @property
    def files(self) -> list[tuple[str, str]]:
        """The path and the id of each uploaded file."""
        contents = enumerate(self.contents)
        return [(f"$.content[{i}].file_id", c.file_id) for i, c in contents if isinstance(c, HostedFileContent)]


async def short_body_of(request: Request, limit: int) -> bytes:
    """Return the body of a request. Raise HTTPException if it is longer than `limit` bytes."""
    data = await request.body()
    if len(data) > limit:
        raise HTTPException(413, f"the body is longer than {limit} bytes (limits.answer_bytes)")
    return data


async def decoded(decode: Callable[[bytes, Rules], T], data: bytes, rules: Rules) -> T:
    """Decode a body with `decode`. A long body is decoded in a thread, so that it does not block other clients."""
    if len(data) <= SMALL:
        return decode(data, rules)
    return await asyncio.to_thread(decode, data, rules)


# -- a user's turn -----------------------------------------------------------------------------------------------------


def turn_request_of(data: bytes, rules: Rules) -> TurnRequest:
    """Decode a user's turn. Raise DecodeError with all faults of the body."""
    body, faults = _body_of(data, _Body), _Faults()
    faults.unknown(data)
    contents = _contents_of(body, rules, faults)
    previous = _previous_of(body, rules, faults)
    branch = faults.value(body.branch, "branch", bool, False)
    key = faults.value(body.idempotency_key, "idempotency_key", str | None, None)
    if isinstance(key, str) and not 0 < len(key) <= rules.limits.key_length:
        faults.add("$.idempotency_key", f"expected text of 1 to {rules.limits.key_length} characters")
    turn_request = TurnRequest(contents, previous, branch, key=key)
    if branch and turn_request.has_answers:
        faults.add("$.branch", "an answer cannot begin a branch: a question can be answered only once")
    faults.refuse()
    return msgspec.structs.replace(turn_request, digest=digest_of(contents, previous, branch))


class _Faults:
    """The faults found in one body."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def unknown(self, data: bytes) -> None:
        """Add a fault for the first unknown field of the body."""
        try:
            _body_of(data, _StrictBody)
        except DecodeError as error:
            path, expected = error.faults[0].path, ", ".join(_Body.__struct_fields__)
            self.add(path, f"unknown field {path.removeprefix('$.')!r}: the fields are {expected}")

    def value(self, data: msgspec.Raw | msgspec.UnsetType, name: str, kind: Any, otherwise: Any) -> Any:
        """Return a field's value, decoded as `kind`. Return `otherwise` if it is missing, or invalid (adds a fault)."""
        if data is msgspec.UNSET:
            return otherwise
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            self.faults.append(fault_of(error, child_path("$", name[:100])))
        return otherwise

    def refuse(self) -> None:
        """Raise DecodeError if there are faults."""
        if self.faults:
            raise DecodeError(HERE, self.faults[:MOST_FAULTS])


def _body_of(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DecodeError(HERE, [fault_of(error, "$")]) from None


def _contents_of(body: _Body, rules: Rules, faults: _Faults) -> list[AIContent]:
    sent = faults.value(body.content, "content", str | _list_of(rules.limits.contents), None)
    if isinstance(sent, str) and sent:
        return [TextContent(text=sent)]
    pieces = [piece for piece in msgspec.structs.astuple(sent) if piece is not msgspec.UNSET] if sent else []
    if not pieces and (sent is not None or body.content is msgspec.UNSET):
        faults.add("$.content", "expected a text or a list of contents that is not empty")
    contents = []
    for index, piece in enumerate(pieces):
        try:
            contents.append(content_of(piece, f"$.content[{index}]", rules))
        except DecodeError as error:
            faults.faults += error.faults
    _check_questions(contents, faults)
    return contents


@cache
def _list_of(limit: int) -> Any:
    """Return a list type of at most `limit` items. Its decoder stops at the first excess item."""
    fields = [(f"item{index}", msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for index in range(limit)]
    return msgspec.defstruct("Contents", fields, array_like=True, forbid_unknown_fields=True)


def _check_questions(contents: list[AIContent], faults: _Faults) -> None:
    questions: set[tuple[type, str]] = set()
    for content in contents:
        if isinstance(content, ANSWERS):
            question = type(content), content.request_id
            if question in questions:
                faults.add("$.content", f"two answers to the question {content.request_id[:100]!r}")
            questions.add(question)


def _previous_of(body: _Body, rules: Rules, faults: _Faults) -> str | None:
    if body.previous is msgspec.UNSET:
        return None
    previous = faults.value(body.previous, "previous", str | None, None)
    if previous is None:
        return START
    if not is_id(previous, rules.limits.id_length):
        faults.add("$.previous", "expected the id of a turn, or null for none")
    return str(previous)


def digest_of(*values: Any) -> bytes:
    """Return the digest of a request: requests with equal values have the same."""
    return hashlib.sha256(msgspec.json.encode(values)).digest()


# -- answers to questions ----------------------------------------------------------------------------------------------


def answers_of(data: bytes, rules: Rules) -> list[AIContent]:
    """Decode a body of answers to approval requests. Raise DecodeError with all of its faults."""
    check_answer(data, "$", rules)
    body, faults = _body_of(data, dict[str, msgspec.Raw]), _Faults()
    limit = rules.limits.contents
    if not 0 < len(body) <= limit:
        faults.add("$", f"expected 1 to {limit} answers, by the ids of their requests, got {len(body)}")
    contents: list[AIContent] = []
    for request_id in list(body)[:limit]:
        answer = faults.value(body[request_id], request_id, bool | str, None)
        reason = answer if isinstance(answer, str) else None
        contents.append(ToolApprovalResponseContent(request_id=request_id, approved=answer is True, reason=reason))
    faults.refuse()
    return contents
