"""The state of one decoding or one encoding: faults, losses, and which wire object each content came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from contentmodel.capabilities import UNLIMITED
from contentmodel.content.base import AIContent
from contentmodel.engine.json import Json, JsonArray, JsonObject, kind_of
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.loss import RESIDUE
from contentmodel.engine.losses.provenance import Layout, Table, Trace, WirePaths
from contentmodel.engine.losses.reasons import Reason, unlisted
from contentmodel.engine.table.hints import HasExtra
from contentmodel.errors import DecodeError, Fault
from contentmodel.literals import LossKind
from contentmodel.message import ChatMessage, Origin
from contentmodel.usage import Usage

if TYPE_CHECKING:
    from contentmodel.engine.pipeline.names import Renames


_T = TypeVar("_T", bound=msgspec.Struct)
_V = TypeVar("_V")


class DecodeContext:
    """Collects the faults of one payload, and remembers cheaply what was decoded from where.

    Nothing here knows a path while decoding: faults and traces name the wire object that holds the value, and
    paths are found by identity when they are needed.
    """

    __slots__ = (
        "_copies",
        "_faults",
        "_moved",
        "_replaced",
        "alone",
        "answer_id",
        "api",
        "decoded",
        "is_respelled",
        "origin",
        "traces",
    )

    def __init__(self, api: str, origin: Origin) -> None:
        self.api = api
        self.origin = origin
        self.answer_id: str | None = None
        """The id of the answer that is decoded, if its API may give calls no ids."""
        self.alone: JsonArray | None = None
        """The messages, if the payload is a list of them and no object."""
        self.decoded: Mapping[int, Any] = {}
        """What was made of objects of the payload before, by their identity: a stream decodes them as they come."""
        self.is_respelled = False
        """Whether the payload spells a name in another way than the rows."""
        self._copies: list[tuple[object, object]] = []
        self._moved: list[tuple[object, str, str]] = []
        self._replaced: list[tuple[object, object]] = []
        self._faults: dict[tuple[int, str | int | None], tuple[object, str | int | None, str]] = {}
        self.traces: list[Trace] = []

    def fault(self, container: object, key: str | int | None, message: str) -> None:
        """Something is wrong at `container[key]` (None: with the container itself)."""
        self._faults[(id(container), key)] = (container, key, message)

    def expected(self, container: object, key: str | int | None, wanted: str, value: object) -> None:
        """`container[key]` is `value`, which is not `wanted`."""
        self.fault(container, key, f"expected {wanted}, got {kind_of(value)}")

    def attempt(self, decode: Callable[[JsonObject, DecodeContext], _V], wire: JsonObject) -> _V | None:
        """Return what `decode` makes of a wire object; None, and no fault of the payload, if it finds faults in it."""
        before, self._faults = self._faults, {}
        value = decode(wire, self)
        found, self._faults = self._faults, before
        return None if found else value

    def trace(
        self, row: Table, objects: Sequence[object], container: Json, key: str | int | None, *, spread: bool
    ) -> None:
        """`objects` were decoded from `container[key]`: each from its own element of it where `spread`.

        What a row decodes is found without a trace; who groups wire objects in a way of his own leaves one.
        """
        self.traces.append((row, objects, container, key, spread))

    def trace_messages(
        self, messages: Sequence[ChatMessage], container: JsonArray, row_of: Callable[[ChatMessage], Layout]
    ) -> None:
        """Messages that were decoded each from its own element of a list."""
        self.traces.append((row_of, messages, container, None, True))

    def replaced(self, old: object, new: object) -> None:
        """`new` stands for `old`, and came from the same place."""
        self._replaced.append((old, new))

    def copied(self, copy: object, original: object, moved: tuple[str, str] | None = None) -> None:
        """Trace `copy`, which is decoded in place of `original`.

        `moved` is a field of the copy, and the dotted path in the original that it came from.
        """
        self._copies.append((copy, original))
        if moved is not None:
            self._moved.append((original, *moved))

    def finish(self, payload: object) -> None:
        """Raises every fault as one DecodeError."""
        if self._faults:
            raise DecodeError(self.api, self.faults(payload))

    def faults(self, payload: object) -> list[Fault]:
        """Return every fault with its path in `payload`."""
        paths = self.paths(payload) if self._faults else None
        return [Fault(paths.locate(container, key), what) for container, key, what in self._faults.values() if paths]

    def paths(self, payload: object) -> WirePaths:
        """Return what finds where in `payload` each decoded object came from."""
        root = payload if self.alone is None else self.alone
        return WirePaths(
            self.api,
            root,
            self.traces,
            self._replaced,
            self._copies,
            self._moved,
            is_respelled=self.is_respelled,
        )


class EncodeContext:
    """Collects the losses of one encoding, and knows the target and the policies for what it has no place for."""

    __slots__ = (
        "answer_id",
        "api",
        "completes",
        "has_no_origin",
        "is_open",
        "issuer",
        "kind",
        "known",
        "maps",
        "model",
        "native",
        "origin",
        "pending_losses",
        "policies",
        "reasoning_fields",
        "replacements",
        "status",
    )

    def __init__(
        self,
        api: str,
        issuer: str,
        kind: str,
        policies: Mapping[str, str] | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.api = api
        self.issuer = issuer
        self.kind = kind
        # A request that was decoded from nowhere is made to fit like one of another API; what it says in an API's own
        # words (a hosted tool's settings) can only be meant for this one.
        self.origin = origin
        self.has_no_origin = origin is None
        self.native = origin.api == api if origin is not None else kind == "response"
        self.completes = self.has_no_origin or not self.native
        """Whether what the API requires is filled in. What came from the API goes back as it was."""
        self.policies = policies or {}
        self.is_open = False
        """Whether the content has just begun and will grow: it is there, even if it is empty yet."""
        self.known = UNLIMITED
        """What the model takes that a request is for."""
        self.answer_id: str | None = None
        """The id of the answer that is encoded."""
        self.model: str | None = None
        """The model that the caller named for a request, if it did."""
        # What Note is made of: most notes are never read.
        self.pending_losses: list[tuple[object, str | None, Reason, str | None, JsonObject]] = []
        self.replacements: list[tuple[object, object]] = []
        self.maps: Renames | None = None
        self.reasoning_fields: tuple[str, ...] = ()
        """The fields of a message that hold reasoning of any issuer, each the name of a policy."""
        self.status: int | None = None
        """The HTTP status of the error that was encoded."""

    def is_ours(self, tool: object) -> bool:
        """Return whether the settings of a hosted tool are this API's: it came from it, or was made by hand for it."""
        extra: Mapping[str, JsonObject] | None = getattr(tool, "extra", None)
        return self.native or (self.has_no_origin and (extra is None or self.api in extra))

    def replaced(self, old: object, new: _V) -> _V:
        """Record that `new` is encoded in the place of `old`: what it loses, `old` loses. Return `new`."""
        self.replacements.append((old, new))
        return new

    def replace(self, old: _T, **fields: object) -> _T:
        """Return a Struct with other values of some fields, recorded as what is encoded in the place of `old`."""
        return self.replaced(old, msgspec.structs.replace(old, **fields))

    def with_contents(self, message: ChatMessage, contents: Sequence[object]) -> ChatMessage:
        """The message with other contents, in its place; itself where they are the same ones."""
        same = len(contents) == len(message.contents)
        if same and all(new is old for new, old in zip(contents, message.contents, strict=True)):
            return message
        changed: ChatMessage = self.replaced(message, msgspec.structs.replace(message, contents=contents))
        return changed

    def report_loss(
        self,
        owner: object,
        field: str | None,
        reason: Reason | str,
        *,
        kind: LossKind = "dropped",
        api: str | None = None,
        **values: object,
    ) -> None:
        """Report that `field` of `owner` (None: all of it) does not reach the target as it is.

        `reason` is an entry of `contentmodel.engine.losses.reasons`, which has the code and the kind of the loss, and
        `values` are what its text names. A text in its place gives a loss of `kind` whose code is "unlisted": this is
        for adapters that have no table of reasons. `api` is set where the field is in the residue of that API.
        """
        if reason.__class__ is str:
            reason = unlisted(kind, reason)
        self.pending_losses.append((owner, field, reason, api, values))  # type: ignore[arg-type]

    def degrade(self, content: AIContent, reason: Reason, *carried: str, **values: Any) -> None:
        """Report that `content` is sent as something less, and as lost what is in none of its `carried` attributes."""
        self.report_loss(content, None, reason, **values)
        self.lose_rest(content, *carried)

    def lose_rest(self, content: Any, *carried: str) -> None:
        """Report as lost what is in none of the `carried` attributes of `content`."""
        self.report_lost_attributes(
            content, tuple(name for name in content.__struct_fields__ if name not in (*carried, *_APART))
        )
        self.leave_residue(content, own=True)

    def leave_residue(self, owner: HasExtra, *, own: bool = False) -> None:
        """Fields of `owner` that only other APIs know are left behind (`own`: this API's as well)."""
        if owner.extra is not None:
            # Which fields those are is found out when somebody asks.
            self.pending_losses.append((owner, None, RESIDUE, None if own else self.api, {}))

    def report_other_word(self, owner: object, name: str, word: object) -> None:
        """The field `name` says something else than `word`, which is all that the target can say here."""
        if getattr(owner, name) not in (None, word):
            self.report_loss(owner, name, reasons.OTHER_WORD, word=word)

    def report_lost_attributes(self, owner: object, names: tuple[str, ...]) -> None:
        """Those of the fields `names` that say something have no place in the target's wire object."""
        for name in names:
            value, default = owner, None
            for part in name.split("."):
                value, default = getattr(value, part, None), default_of(value, part)
            if value is None or value == default or (value is False and name == "is_error"):
                continue
            reason = _reason_for(owner, name, value)
            if name == "annotations" and isinstance(value, list):
                # Citations have places of their own: some APIs keep them beside the texts.
                for citation in value:
                    self.report_loss(citation, None, reason)
            else:
                self.report_loss(owner, name, reason)


_APART = ("extra", "executor", "protected")
"""Attributes of a content whose loss is reported in other ways, or that no wire field holds."""
_USUAL = {"status": "completed", "strict": False, "options.parallel_tool_calls": True}
"""Values that mean the same as a missing field, by attribute."""


def _reason_for(owner: object, name: str, value: object) -> Reason:
    """Return why a target without a field for an attribute loses it: some values mean nothing to a reader."""
    if name == "message_id":
        return reasons.MESSAGE_ID
    if _USUAL.get(name) == value:
        return reasons.USUAL_VALUE
    if owner.__class__ is Usage:
        if value == 0:
            return reasons.ZERO_COUNT
        if name == "total_tokens" and value in (owner.all_input_tokens + owner.all_output_tokens, _sum_of(owner)):
            return reasons.TOKEN_SUM
    return reasons.NO_FIELD


def _sum_of(usage: Usage) -> int:
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def default_of(owner: object, name: str) -> object:
    """What a field of a Struct is when nobody says otherwise."""
    return defaults_of(type(owner)).get(name) if isinstance(owner, msgspec.Struct) else None


_DEFAULTS: dict[type, dict[str, object]] = {}


def defaults_of(kind: type[msgspec.Struct]) -> dict[str, object]:
    """What the fields of a Struct class are when nobody says otherwise."""
    if kind not in _DEFAULTS:
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        said = zip(names[len(names) - len(defaults) :], defaults, strict=True)
        _DEFAULTS[kind] = {name: _plain_default(default) for name, default in said}
    return _DEFAULTS[kind]


def _plain_default(default: object) -> object:
    if default is msgspec.NODEFAULT:
        return None
    return default.factory() if hasattr(default, "factory") else default
