"""The fields of answers that each API spells in its own way: finish reasons, errors and creation times."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.outcomes import ErrorContent
from contentmodel.derived import derives
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.codecs import Codec, Place
from contentmodel.engine.table.fields import Group
from contentmodel.engine.table.nested import Record
from contentmodel.errors import UnknownApiError
from contentmodel.failures import STATUSES, error_kind, is_too_long, kind_of_status
from contentmodel.hints import FORM
from contentmodel.json import Json, JsonObject, whole_number
from contentmodel.message import FinishReason, Origin
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel.times import date_of, seconds_of

if TYPE_CHECKING:
    from contentmodel.engine.table.rows import Row
    from contentmodel.message import Origin


_INSTEAD = {
    "error": ("content_filter", "refusal", "length"),
    "cancelled": ("error", "content_filter", "refusal", "length"),
    "content_filter": ("refusal", "error", "length"),
    "refusal": ("content_filter", "error", "length"),
    "length": ("error",),
}
"""The reasons that replace one for which an API has no value.

An answer that failed, that was cut off, blocked or refused never ends like a usual one.
"""
UNSUCCESSFUL = frozenset(_INSTEAD)
"""The reasons of answers that failed, or that were cut off, blocked or refused."""
SHOWN_BY_CONTENT = frozenset({"stop", "tool_calls", "refusal"})
"""The reasons of complete answers. Some APIs have one value for them: the content shows the calls and the refusal."""
RESUMABLE = frozenset({"pause", "compaction", "running"})


class FinishReasons(Codec[FinishReason]):
    """Decode and encode an API's finish reasons. `reasons` maps them to those of the model, `values` the reverse.

    The API's own value is kept and written again. A value of another API is mapped by its reason; if this API has only
    a coarser value, that is a loss. Values of `of_hosts` are read, and not written for other APIs. Those of `same` mean
    the same as the usual value of their reason.
    """

    classes = (str, int)
    identity = False

    def __init__(
        self,
        reasons: Mapping[str | int, str],
        values: Mapping[str, str | int],
        otherwise: str | None,
        *,
        has_stop_sequence: bool = False,
        implied: tuple[str, ...] = (),
        of_hosts: Mapping[str | int, str] = MappingProxyType({}),
        same: tuple[str | int, ...] = (),
    ) -> None:
        self.values, self.otherwise, self._own = values, otherwise, reasons
        self.reasons = {**reasons, **of_hosts}
        self._has_stop_sequence = has_stop_sequence
        # Reasons that the API has no value for because the answer itself shows them.
        self._implied, self._same = implied, same

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        reason = self.reasons.get(value, "other")
        return FinishReason(reason=reason, raw=value, resumable=reason in RESUMABLE)

    def encode(self, value: FinishReason, context: EncodeContext, owner: Any) -> str | int | None:
        if value.stop_sequence is not None and not self._has_stop_sequence:
            context.report_loss(value, "stop_sequence", reasons.STOP_SEQUENCE)
        if context.native and value.raw is not None:
            return value.raw
        same = None if value.raw is None else self.same_value(value.raw, value.reason)
        if same is not None:
            return same
        raw = self.values.get(value.reason)
        for word in _INSTEAD.get(value.reason, ()) if raw is None else ():
            raw = self.values.get(word) if raw is None else raw
        if value.reason not in self._implied and (raw is None or self.reasons.get(raw) != value.reason):
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.reason)
        else:
            self.report_if_exact(value, context, owner)
        return self.otherwise if raw is None else raw

    def report_if_exact(self, value: FinishReason, context: EncodeContext, owner: object) -> None:
        """Report that a value which says more than its reason is not sent."""
        if is_exact(value, context):
            context.report_loss(owner, "finish_reason.raw", reasons.NO_FINISH_REASON, value=value.raw)

    def same_value(self, raw: str | int, reason: str) -> str | int | None:
        """Return the value of this API that means the same as a value of another API, and no less; None without one."""
        return raw if self._own.get(raw) == reason else None

    def has(self, reason: str) -> bool:
        """Return whether the API has a value that means this reason, and no other."""
        return self.reasons.get(self.values.get(reason, "")) == reason

    def is_usual(self, raw: str | int, reason: str) -> bool:
        """Return whether a value says no more than its reason. The content may have made another one of "stop"."""
        meant = self.reasons.get(raw)
        is_meant = meant == reason or (meant == "stop" and reason in SHOWN_BY_CONTENT)
        return raw in self._same or not is_meant or raw == self.values.get(f"{meant}", meant)

    def describe(self) -> str:
        return "finish reason"


def source_of(origin: Origin | None) -> Any:
    """Return the adapter of an origin; None if there is none."""
    from contentmodel.adapter import adapter

    try:
        return None if origin is None else adapter(origin.api)
    except UnknownApiError:
        return None


def is_exact(finish: FinishReason, context: EncodeContext) -> bool:
    """Return whether the value that the source's API sent says more than its reason: "RECITATION", "stop_sequence".

    Of a source that is not installed, only a value that is spelled like its reason says no more.
    """
    if finish.raw is None or context.origin is None:
        return False
    source = source_of(context.origin)
    if source is None:
        return finish.raw != finish.reason
    finish_reasons: FinishReasons | None = getattr(source, "finish", None)
    return finish_reasons is not None and not finish_reasons.is_usual(finish.raw, finish.reason)


def finished_by_calls(choice: ChatChoice) -> ChatChoice:
    """Return a complete choice that has tool calls with the finish reason "tool_calls".

    Gemini has one value for both cases. Chat sends "stop" if the request named the function to call; some hosts and
    models always send "stop" or "". The API's own value is kept.
    """
    finish = choice.finish_reason
    if finish is None or (finish.reason != "stop" and finish.raw != ""):
        return choice
    if not any(message.tool_calls for message in choice.messages):
        return choice
    return msgspec.structs.replace(choice, finish_reason=msgspec.structs.replace(finish, reason="tool_calls"))


class ErrorTypes:
    """The error types of an API.

    - `keys`: the fields that contain error types, the most specific one first.
    - `writes`: the wire fields of each kind. A kind that is missing is written as "server".
    - `reads`: additional error types (texts, or numbers that are no HTTP status), mapped to kinds.
    - `statuses`: HTTP statuses that differ from the usual ones (`contentmodel.failures.STATUSES`).
    - `words`: for kinds without a type of their own, the words by which clients of the API recognize the message.

    Raise ValueError if `writes` lacks "server", or a kind is not one of `contentmodel.failures.STATUSES`.
    """

    def __init__(
        self,
        keys: Sequence[str],
        writes: Mapping[str, JsonObject],
        reads: Mapping[Any, str],
        statuses: Mapping[str, int] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.keys, self.writes, self.statuses = tuple(keys), writes, dict(statuses or {})
        self.words = dict(words or {})
        _check_types(writes, reads, self.statuses, self.words)
        self._kinds: dict[Any, str] = dict(reads)
        for key in self.keys:
            for kind, fields in writes.items():
                name = fields.get(key)
                if isinstance(name, str):
                    self._kinds.setdefault(name, kind)

    @property
    def types(self) -> tuple[str, ...]:
        """All known error types."""
        return tuple(name for name in self._kinds if isinstance(name, str))

    def kind_of(self, wire: Mapping[str, object]) -> str | None:
        """Return the kind of an error object. A number in one of the fields is read as an HTTP status.

        The message shows if a request is too long for the model.
        """
        kind = self._kind_of_type(wire)
        return "context_length" if kind in ("invalid_request", None) and is_too_long(wire.get("message")) else kind

    def _kind_of_type(self, wire: Mapping[str, object]) -> str | None:
        for key in self.keys:
            value = wire.get(key)
            if value.__class__ in (str, int) and value in self._kinds:
                return self._kinds[value]
            status = whole_number(value, 3) if isinstance(value, str) and len(value) == 3 else value
            kind = kind_of_status(status) if status.__class__ is int else None
            if kind is not None:
                return kind
        return None

    def fields_of(self, kind: str | None) -> JsonObject:
        """Return the wire fields of a kind."""
        return self.writes.get(kind or "server") or self.writes["server"]

    def status_of(self, kind: str | None) -> int:
        """Return the HTTP status that this API sends with an error of this kind."""
        return self.statuses.get(kind or "server", STATUSES.get(kind or "server", 500))


def _check_types(
    writes: Mapping[str, JsonObject], reads: Mapping[Any, str], statuses: Mapping[str, int], words: Mapping[str, str]
) -> None:
    """Raise ValueError if error types cannot be written, or name a kind of error that does not exist."""
    if "server" not in writes:
        raise ValueError(
            'error types have no fields for the kind "server", as which errors of every other kind are written: add '
            '"server": {"type": "server_error"} to `writes`, or "server": {} if errors of the API have no type'
        )
    kinds = {*writes, *reads.values(), *statuses, *words}
    if unknown := sorted(kinds - STATUSES.keys()):
        raise ValueError(f"error types have unknown kinds: {', '.join(unknown)}; known: {', '.join(STATUSES)}")


class ErrorBody(Record[ErrorContent]):
    """An error object. Values of the same API are kept. An error of another API gets the error type of its kind.

    If `or_text`, a text that is not empty is an error, too: its message, without a type.
    """

    def __init__(self, row: Row, types: ErrorTypes, *, or_text: bool = False) -> None:
        super().__init__(row)
        self.types = types
        self._or_text = or_text
        self.classes = (dict, str) if or_text else (dict,)

    def holds(self, value: object) -> bool:
        return value.__class__ is dict or (self._or_text and value.__class__ is str and bool(value))

    def places(self, value: ErrorContent, wire: Json, path: str) -> Iterable[Place]:
        return super().places(value, wire, path) if wire.__class__ is dict else [(value, path, wire, None)]

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> ErrorContent:
        if value.__class__ is str:
            return FORM.on(ErrorContent(message=value, kind=self._kind_of_text(value)), context.api, "string")
        error = super().decode(value, context, container, key)
        kind = self.types.kind_of(value)
        if kind is None or error.__class__ is not ErrorContent:
            return error
        return msgspec.structs.replace(error, kind=kind)

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> Json:
        return self.text_of(value, context) or self.encode_object(value, context, owner)

    def text_of(self, error: ErrorContent, context: EncodeContext) -> str | None:
        """Return the message if the error was a text and nothing was added; else None."""
        is_text = self._or_text and context.native and FORM.of(error, context.api) == "string"
        is_text = is_text and error.kind == self._kind_of_text(error.message)
        if not is_text or error.code is not None or error.details is not None:
            return None
        context.status = self.types.status_of(error.kind)
        return error.message

    def _kind_of_text(self, message: str | None) -> str | None:
        return self.types.kind_of({"message": message})

    def encode_object(self, value: ErrorContent, context: EncodeContext, owner: object) -> JsonObject:
        """Return the error object."""
        if not context.native:
            return self._encode_foreign(value, context, getattr(owner, "origin", None))
        wire = self.row.encode(value, context)
        kind = error_kind(value) if context.has_no_origin else value.kind
        if kind is not None and self.types.kind_of(wire) != kind:
            wire = {**wire, **self.types.fields_of(kind)}
        context.status = self.types.status_of(kind or self.types.kind_of(wire))
        return wire

    def _encode_foreign(self, error: ErrorContent, context: EncodeContext, origin: Origin | None) -> JsonObject:
        kind = error_kind(error) or self.types.kind_of(dict.fromkeys(self.types.keys[:1], error.code))
        message = self._worded(error, kind, context)
        context.status = self.types.status_of(kind)
        fields = self.types.fields_of(kind)
        residue = {} if origin is None else (error.extra or {}).get(origin.api, {})
        # A number was set by a host. It is not an error type of the issuer.
        sent_types = {key: residue[key] for key in fields if residue.get(key, 0).__class__ in (str, type(None))}
        # APIs of the same issuer may have the same error types.
        is_kin = origin is not None and context.issuer != "" and origin.issuer == context.issuer
        if is_kin and not any(value.__class__ is str for value in sent_types.values()):
            is_kin = error.code is None or self.types.kind_of(dict.fromkeys(self.types.keys, error.code)) == kind
        if is_kin:
            fields = {**fields, **sent_types}
        elif kind is None or self.types.kind_of({**fields, "message": message}) != kind:
            # A body without types has its kind in the HTTP status.
            lost = "code" if error.code is not None else "kind" if kind is not None and self.types.keys else None
            if lost is not None:
                context.report_loss(error, lost, reasons.NO_ERROR_TYPE)
        elif error.code is not None and error.code not in fields.values():
            context.report_loss(error, "code", reasons.ERROR_CONVERTED)
        context.leave_residue(_without_types(error, origin, kind, context, fields))
        code = error.code if is_kin else None
        plain = msgspec.structs.replace(error, message=message, code=code, kind=None, extra=None)
        return {**fields, **self.row.encode(context.replaced(error, plain), context)}

    def _worded(self, error: ErrorContent, kind: str | None, context: EncodeContext) -> str | None:
        """Return the message with the words for a kind."""
        words, message = self.types.words.get(kind or ""), error.message or ""
        if words is None or words in message.lower():
            return error.message
        context.report_loss(error, "message", reasons.ERROR_WORDS, words=words)
        return f"{words}: {message}" if message else words


class ErrorFields(Group):
    """An error whose `fields` are at the top of the body. The first one shows that the body is an error.

    An alias of the first one does, too. Null is the same as a missing field.
    """

    attribute = "error"

    def __init__(self, body: ErrorBody, *fields: str) -> None:
        aliases = body.row.aliases
        self.keys = (fields[0], *(alias for alias, usual in aliases.items() if usual == fields[0]))
        self._body, self._fields = body, (*fields, *aliases)

    def consumed(self, wire: Mapping[str, Json]) -> Collection[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def decode(self, wire: JsonObject, context: DecodeContext) -> ErrorContent | None:
        if not self.consumed(wire):
            return None
        error: JsonObject = {key: wire[key] for key in self._fields if key in wire}
        context.copied(error, wire)
        return self._body.decode(error, context, wire, self._fields[0])

    def encode(self, value: ErrorContent | None, wire: JsonObject, context: EncodeContext, owner: object) -> None:
        if value is not None:
            wire.update(self._body.encode_object(value, context, owner))


_TYPE_KEYS = ("type", "code")


def _without_types(
    error: ErrorContent, origin: Origin | None, kind: str | None, context: EncodeContext, fields: Mapping[str, object]
) -> ErrorContent:
    """Return an error without the residue fields that name its kind, or that the wire `fields` contain already."""
    if origin is None or kind is None or error.extra is None:
        return error
    source_fields = error.extra.get(origin.api, {})
    for key in _TYPE_KEYS:
        if source_fields.get(key) is not None and source_fields[key] not in fields.values():
            context.pending_losses.append((error, key, reasons.ERROR_CONVERTED, origin.api, {}))
    residue = {
        key: value
        for key, value in source_fields.items()
        if key not in _TYPE_KEYS and (value is None or fields.get(key) != value)
    }
    stripped: ErrorContent = context.replace(error, extra={**error.extra, origin.api: residue})
    return stripped


def whole_seconds(response: ChatResponse, context: EncodeContext) -> int:
    """Return the creation time of an answer in whole seconds since 1970, or 0; report what is lost."""
    created = response.created
    if created.__class__ is int:
        return created
    if created is None:
        context.report_loss(response, "created", reasons.UNKNOWN_TIME)
        return 0
    seconds = seconds_of(created)
    reason = reasons.TIME_ROUNDED if seconds and seconds % 1 else reasons.TIME_REWRITTEN
    lost = reasons.TIME_DROPPED if seconds is None else reason
    context.report_loss(response, "created", lost, form="in seconds since 1970")
    return _whole_seconds_of(created)


@derives
def _whole_seconds_of(created: Any) -> int:
    return int(seconds_of(created) or 0)


def with_date(payload: JsonObject, key: str, response: ChatResponse, context: EncodeContext) -> JsonObject:
    """Return an encoded answer with its creation time, the value at `key`, as a date in text; report what is lost."""
    created = payload.get(key)
    if created is None or isinstance(created, str):
        return payload
    date = date_of(created)
    lost = reasons.TIME_DROPPED if date is None else reasons.TIME_REWRITTEN
    context.report_loss(response, "created", lost, form="as a date in text")
    other_fields = {name: value for name, value in payload.items() if name != key}
    return other_fields if date is None else {**other_fields, key: date}
