"""Encode the messages of a session with the inner adapter, and find the line that each wire object was read from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from contentmodel.authoring import BEHIND, SPELLINGS, TOKEN, EncodeContext, Reason, reasons, wire_fields
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, MediaContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent, ToolResultContent
from contentmodel.message import Branch, ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.sessions.lines import made_id, session_id
from contentmodel_adapters.sessions.reading import (
    INDEX,
    INSIDE,
    IS_ERROR,
    LINE,
    NULLS,
    RECORDS,
    Record,
    Source,
    check_value,
    is_odd,
    without_odd,
)

if TYPE_CHECKING:
    from contentmodel_adapters.sessions.adapter import SessionAdapter


class Written(NamedTuple):
    """A wire object to write: its message, and its source if the session was read from a file of the same format."""

    wire: dict[str, Any]
    message: ChatMessage | None
    source: Source | None


class Writer:
    """Encode the messages of a session with the inner adapter, and find the source of each wire object."""

    def __init__(self, format_: SessionAdapter, request: ChatRequest, context: EncodeContext) -> None:
        self._format, self._request, self._context = format_, request, context
        self._ids = 0
        self._has_hosted = False
        """True if results of hosted tools have tokens. They have media in many fields."""
        self._tokens: list[tuple[ChatMessage, Source | None, object]] = []

    def part(self, branch: Branch | None, messages: list[ChatMessage]) -> tuple[Branch | None, list[Written]]:
        """Return a branch (None: the conversation), and the wire objects of its messages."""
        whole, context, format_ = self._request, self._context, self._format
        packed = [self._packed(message) for message in self._sent(messages)]
        if not packed:
            return branch, []
        request = ChatRequest(model=whole.model, messages=packed, origin=whole.origin)
        entries = format_.inner.encode_messages(context.replaced(whole, request), context, format_.placeholders)
        written: list[Written] = []
        for packed_wire in (packed_wire for entry in entries for packed_wire in format_.line_objects(entry, self)):
            wire, tokens = without_tokens(packed_wire)
            wire = _without_inner_tokens(wire) if self._has_hosted else wire
            message, source, _ = self._tokens[tokens[0]] if tokens else (None, None, None)
            if message is None and written:
                message = written[-1].message
            written.append(Written(wire, message, source))
        self._report_unwritten(messages, written)
        return branch, written

    def _report_unwritten(self, messages: list[ChatMessage], written: list[Written]) -> None:
        """Report the records of messages (`created`, `usage`, ...) to which no wire object can be assigned."""
        seen = {id(item.message) for item in written}
        inner = self._format.inner.api
        for message in messages:
            if id(message) in seen:
                continue
            self._context.report_records(message)
            if not message.contents and wire_fields((message.extra or {}).get(inner) or {}):
                self._context.report_loss(message, None, reasons.EMPTY_MESSAGE)

    def line_of(self, wire: dict[str, Any]) -> int | None:
        """Return the line that a wire object was read from; None if it is new."""
        source = self._tokens[wire[TOKEN]][1] if TOKEN in wire else None
        return None if source is None else source.line

    @cached_property
    def _session(self) -> str:
        return session_id(self._request, self._context)

    def new_id(self, prefix: str) -> str:
        """Return an id for a new wire object. Encoding the same conversation again gives the same ids."""
        self._ids += 1
        return f"{prefix}_{made_id(self._session, self._ids).replace('-', '')}"

    def report_loss(self, wire: dict[str, Any], reason: Reason) -> None:
        """Report that a new wire object, or a part of one, is lost or degraded."""
        owner = self._tokens[wire[TOKEN]][2] if TOKEN in wire else self._request
        self._context.report_loss(owner, None, reason)

    def report_field(self, wire: dict[str, Any], field: str) -> None:
        """Report that a field of the wire object of a new message is lost."""
        tokens = without_tokens(wire)[1]
        owner = self._tokens[tokens[0]][0] if tokens else self._request
        inner = self._format.inner.api
        self._context.report_loss(owner, field, reasons.PROVIDER_FIELD, api=inner, source=inner)

    def _sent(self, messages: list[ChatMessage]) -> Iterator[ChatMessage]:
        """Yield the messages to write. Report instructions of another agent or application as lost."""
        for message in messages:
            if self._context.native or message.role not in ("system", "developer"):
                yield message
                continue
            for owner in (message, *message.contents):
                self._context.report_loss(owner, None, reasons.AGENT_INSTRUCTIONS)

    def _packed(self, message: ChatMessage) -> ChatMessage:
        """Return a message for the inner adapter: with tokens in place of the fields of lines, and without records."""
        context, format_ = self._context, self._format
        owners: tuple[ChatMessage | AIContent, ...] = (message, *message.contents)
        new = [owner for owner in owners if self._own(owner) is None]
        is_new = len(new) == len(owners)
        for owner in new:
            # No line can hold the fields of values that were not read from one.
            for key in wire_fields((owner.extra or {}).get(format_.api) or {}):
                context.report_loss(owner, f"extra.{key}", reasons.NO_FIELD)
        if is_new:
            # Only answers have ids and counts.
            written_records = format_.records if message.role == "assistant" else format_.records & {"created"}
            context.report_records(message, written_records)
            if message.message_id is not None:
                context.report_loss(message, "message_id", reasons.MESSAGE_ID)
        elif context.native and not format_.writes_records:
            # Other lines have the response id, the usage and the finish reason of a read answer.
            read = RECORDS.of(message, format_.api)
            if read is not None and read != check_value(message):
                for name in [name for name in _RECORDS if getattr(message, name) is not None] or ("usage",):
                    context.report_loss(message, name, reasons.EDITED_RECORD)
        extra = self._with_token(message, message, is_new=is_new and not message.contents)
        contents = [self._packed_content(content, message, is_new=is_new) for content in message.contents]
        records = dict.fromkeys(("message_id", "created", *_RECORDS))
        return context.replace(message, contents=contents, extra=extra, **records)

    def _packed_content(self, content: AIContent, message: ChatMessage, *, is_new: bool) -> AIContent:
        residue = self._own(content)
        content = self._with_odd_inside(content)
        is_block = is_new if residue is None else INSIDE.read(residue) == "block"
        if is_block and isinstance(content, UnknownContent) and isinstance(content.block, dict):
            token = self._token(message, None if residue is None else _source_of(residue), content)
            changes: dict[str, Any] = {"extra": without_api(content.extra, self._format.api)}
            packed: AIContent = replace(content, block={**content.block, TOKEN: token}, **changes)
        else:
            packed = replace(content, extra=self._with_token(content, message, is_new=is_new))
        if isinstance(packed, ToolResultContent) and self._context.native and not is_new:
            if not self._format.writes_records:
                self._context.report_lost_attributes(packed, ("artifact", "outcome"))
            packed = self._without_flag(replace(packed, artifact=None, outcome=None), content)
        if isinstance(packed, ToolResultContent) and is_new:
            packed = self._packed_result(packed, message)
        return self._context.replaced(content, packed)

    def _with_odd_inside(self, content: AIContent) -> AIContent:
        """Return a content in which values marked as odd are of the inner API, which writes them as they are."""
        changed = content
        if isinstance(content, UnknownContent) and content.api == self._format.api and is_odd(content.block):
            changed = replace(content, api=self._format.inner.api)
        elif isinstance(content, ToolResultContent):
            outputs = [self._with_odd_inside(output) for output in content.output_list]
            if any(new is not old for new, old in zip(outputs, content.output_list, strict=True)):
                changed = replace(content, outputs=outputs)
        return content if changed is content else self._context.replaced(content, changed)

    def _without_flag(self, packed: ToolResultContent, read: AIContent) -> ToolResultContent:
        """Return a result without the flag of a failure that its line has. Report an edit of the flag as lost."""
        flag = IS_ERROR.of(read, self._format.api) if read.extra else None
        if flag is None:
            return packed
        if packed.is_error != flag:
            self._context.report_loss(read, "is_error", reasons.EDITED_RECORD)
        return replace(packed, is_error=None)

    def _packed_result(self, result: ToolResultContent, message: ChatMessage) -> ToolResultContent:
        """Return a new result whose media have tokens, so that their losses have paths of their own.

        If the inner API has no such hosted tool, the result becomes one of a function. Only data stay media in it.
        """
        is_hosted = not isinstance(result, _OF_APPLICATION)
        outputs = list(result.output_list)
        for at, output in enumerate(outputs):
            if isinstance(output, DataContent if is_hosted else MediaContent):
                if output.extra and BEHIND.of(output, self._format.inner.api):
                    self._context.report_loss(output, None, reasons.MEDIA_AFTER_RESULT)
                extra = self._with_token(output, message, is_new=True)
                outputs[at] = self._context.replaced(output, replace(output, extra=extra))
                self._has_hosted |= is_hosted
        return replace(result, outputs=outputs)

    def _with_token(
        self, owner: ChatMessage | AIContent, message: ChatMessage, *, is_new: bool
    ) -> dict[str, Any] | None:
        """Return the residue with a token in place of the fields of a line. Values of new messages get tokens, too.

        In a message that was read, a content without a line gets none: it may be in the wire object of another content.
        """
        extra: dict[str, Any] | None = owner.extra
        line_fields = self._own(owner)
        if line_fields is None and not is_new:
            return extra
        inner = self._format.inner.api
        source = None if line_fields is None else _source_of(line_fields)
        inside = None if line_fields is None else INSIDE.read(line_fields)
        other_extra = without_api(extra, self._format.api) or {}
        residue = other_extra.get(inner, {})
        if line_fields is None:
            # The agent reads the usual spelling only.
            residue = {key: value for key, value in residue.items() if key not in SPELLINGS}
        token = self._token(message, source, owner)
        if inside is not None and inside in residue:
            residue = {**residue, inside: {**residue[inside], TOKEN: token}}
        else:
            residue = {**residue, TOKEN: token}
        return {**other_extra, inner: residue}

    def _own(self, owner: ChatMessage | AIContent) -> dict[str, Any] | None:
        """Return the residue of this format in a value that was read from a line; None if it was not."""
        residue: dict[str, Any] | None = (owner.extra or {}).get(self._format.api)
        return residue if residue is not None and LINE.is_in(residue) else None

    def _token(self, message: ChatMessage, source: Source | None, owner: object) -> int:
        self._tokens.append((message, source, owner))
        return len(self._tokens) - 1


def without_tokens(entry: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """Return a wire object without its tokens and those of its parts, and the tokens."""
    tokens = [entry[TOKEN]] if TOKEN in entry else []
    if is_odd(entry):
        return without_odd(entry), tokens
    wire = {key: value for key, value in entry.items() if key != TOKEN}
    for key in _PARTS & wire.keys():
        if wire[key].__class__ is list:
            cleaned = [without_tokens(part) if part.__class__ is dict else (part, []) for part in wire[key]]
            wire[key] = [part for part, _ in cleaned]
            tokens += [token for _, inside in cleaned for token in inside]
    response = wire.get("functionResponse")
    if response.__class__ is dict:
        wire["functionResponse"], inside = without_tokens(response)
        tokens += inside
    return wire, tokens


def _without_inner_tokens(value: Any) -> Any:
    """Return a part of a wire object without tokens at any depth."""
    if value.__class__ is list:
        return [_without_inner_tokens(item) for item in value]
    if value.__class__ is not dict:
        return value
    return {
        key: item if key in _APPLICATION else _without_inner_tokens(item) for key, item in value.items() if key != TOKEN
    }


_RECORDS = ("response_id", "usage", "finish_reason")
_APPLICATION = frozenset({"input", "args", "response"})
"""The fields of wire objects with JSON of the application, which has no tokens."""
_OF_APPLICATION = (FunctionResultContent, CustomToolResultContent)
_PARTS = frozenset({"content", "output", "summary", "parts"})
"""The fields of wire objects with parts that can have tokens."""


def _source_of(residue: dict[str, Any]) -> Source:
    return Source(LINE.read(residue) or 0, residue, Record(), INDEX.read(residue))


def nulls_of(request: ChatRequest, api: str, index: int) -> set[int]:
    """Return the indexes of the nulls of the file in the list of a line."""
    return {at for line, at in NULLS.of(request, api) or () if line == index}


def with_current(items: list[Any], values: Mapping[int, Any], nulls: Collection[int]) -> list[Any]:
    """Return a kept list with the current values where reading has set None, and without removed ones."""
    current = ((at, values.get(at) if value is None else value) for at, value in enumerate(items))
    return [value for at, value in current if value is not None or at in nulls]


def without_api(extra: dict[str, Any] | None, api: str) -> dict[str, Any] | None:
    """Return the residue without that of one API; None if nothing is left."""
    return {key: value for key, value in (extra or {}).items() if key != api} or None
