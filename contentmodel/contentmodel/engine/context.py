"""The state of one decoding or encoding: faults, losses, and the wire object of each content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.capabilities import NO_HOST, UNLIMITED
from contentmodel.content.base import AIContent
from contentmodel.content.caching import CachePoint
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.engine.losses.provenance import Layout, Move, Table, Trace, WirePaths
from contentmodel.engine.losses.records import OF_MESSAGES, OF_RESULTS
from contentmodel.errors import DecodeError, Fault
from contentmodel.hints import GUEST, HasExtra, holds_fields
from contentmodel.json import Json, JsonArray, JsonObject, kind_of
from contentmodel.literals import LossKind
from contentmodel.losses import RESIDUE
from contentmodel.message import ChatMessage, Origin
from contentmodel.reasons import Reason, unlisted
from contentmodel.request import ResponseFormat
from contentmodel.usage import Usage

if TYPE_CHECKING:
    from contentmodel.renames import Renames, SchemaMap
    from contentmodel.request import ChatRequest


_T = TypeVar("_T", bound=msgspec.Struct)
_V = TypeVar("_V")


class DecodeContext:
    """Collect the faults of one payload, and record the origins of decoded objects.

    Paths are not built while decoding. Faults and traces refer to the wire object that contains the value. Paths are
    found by object identity when they are needed.
    """

    __slots__ = (
        "_copies",
        "_faults",
        "_moved",
        "_moved_parts",
        "_replaced",
        "answer_id",
        "api",
        "decoded",
        "is_respelled",
        "origin",
        "root",
        "traces",
    )

    def __init__(self, api: str, origin: Origin) -> None:
        self.api = api
        self.origin = origin
        self.answer_id: str | None = None
        """The id of the decoded answer, for APIs whose calls may have no ids."""
        self.root: JsonArray | None = None
        """The payload, if it is a list instead of an object: of messages, or of an error."""
        self.decoded: Mapping[int, Any] = {}
        """Objects that a stream decoded before, by the identity of their wire objects."""
        self.is_respelled = False
        """True if the payload spells a name differently from the rows."""
        self._copies: list[tuple[object, object]] = []
        self._moved: list[Move] = []
        self._replaced: list[tuple[object, object]] = []
        self._moved_parts: list[tuple[object, object]] = []
        self._faults: dict[tuple[int, str | int | None], tuple[object, str | int | None, str]] = {}
        self.traces: list[Trace] = []

    def fault(self, container: object, key: str | int | None, message: str) -> None:
        """Record a fault at `container[key]`. If `key` is None, the fault is in the container itself."""
        self._faults[(id(container), key)] = (container, key, message)

    def expected(self, container: object, key: str | int | None, wanted: str, value: object) -> None:
        """Record that `container[key]` is `value`, which is not `wanted`."""
        self.fault(container, key, f"expected {wanted}, got {kind_of(value)}")

    def attempt(self, decode: Callable[[JsonObject, DecodeContext], _V], wire: JsonObject) -> _V | None:
        """Return the result of `decode`; None if it finds faults. These faults are discarded."""
        before, self._faults = self._faults, {}
        value = decode(wire, self)
        faults, self._faults = self._faults, before
        return None if faults else value

    def trace(
        self, row: Table, objects: Sequence[object], container: Json, key: str | int | None, *, spread: bool
    ) -> None:
        """Record that `objects` were decoded from `container[key]`. If `spread`, each came from its own element.

        Objects that a row decodes are found without a trace. Record one only for wire objects that are grouped by other
        code.
        """
        self.traces.append((row, objects, container, key, spread))

    def trace_messages(
        self, messages: Sequence[ChatMessage], container: JsonArray, row_of: Callable[[ChatMessage], Layout]
    ) -> None:
        """Record messages, each decoded from its own element of a list."""
        self.traces.append((row_of, messages, container, None, True))

    def replaced(self, old: object, new: _V) -> _V:
        """Record that `new` replaced `old` and has the same origin. Return `new`."""
        if new is not old:
            self._replaced.append((old, new))
        return new

    def replace(self, old: _T, **fields: object) -> _T:
        """Return a Struct with other values of some fields, recorded as the replacement of `old`."""
        return self.replaced(old, msgspec.structs.replace(old, **fields))

    def moved_parts(self, owner: object, parts: Iterable[object]) -> None:
        """Record that parts of a decoded object are parts of another object now."""
        self._moved_parts += [(part, owner) for part in parts]

    def copied(
        self, copy: object, original: object, moved: tuple[str, str | tuple[Json, str | int]] | None = None
    ) -> None:
        """Trace `copy`, which is decoded in place of `original`.

        `moved` is a field of the copy, and the place of its value in the payload: the dotted path in the original, or a
        container and the key in it. A number in a dotted path is an index. An original may have several copies if their
        fields come from containers.
        """
        if copy is not original:
            # Else, the search for the path of the original would not end.
            self._copies.append((copy, original))
        if moved is not None:
            self._moved.append((copy, original, *moved))

    def only(self, wire: JsonObject, keys: Collection[str]) -> JsonObject:
        """Return a traced copy of a wire object that has only the fields `keys`."""
        copy = {key: value for key, value in wire.items() if key in keys}
        self.copied(copy, wire)
        return copy

    def without(self, wire: JsonObject, keys: Collection[str]) -> JsonObject:
        """Return a traced copy of a wire object without the fields `keys`, which other code decodes."""
        copy = {key: value for key, value in wire.items() if key not in keys}
        self.copied(copy, wire)
        return copy

    def add_traces(
        self, inner: DecodeContext, places: Mapping[tuple[int, str | int | None], tuple[Json, str | int]]
    ) -> list[tuple[object, tuple[Json, str | int]]]:
        """Add the traces of an inner payload, which another adapter decoded from values of this payload.

        A place is a container and a key. `places` maps places in containers that only the inner payload has, by the
        identity of the container, to places in this payload. Return the objects that were decoded there.
        """
        inner_containers = {container for container, _ in places}
        latest = {id(old): new for old, new in inner._replaced}
        adopted = []
        for table, objects, container, key, is_spread in inner.traces:
            element = container if key is None else container[key]
            for index, item in enumerate(objects):
                place = places.get((id(element), index) if is_spread else (id(container), key))
                if place is not None:
                    self.trace(table, [item], *place, spread=False)
                    while id(item) in latest:
                        item = latest[id(item)]
                    adopted.append((item, place))
                elif id(container) not in inner_containers and id(element) not in inner_containers:
                    self.traces.append((table, objects, container, key, is_spread))
                    break
        self._take_over(inner)
        return adopted

    def take_over(self, inner: DecodeContext) -> None:
        """Add the traces of blocks that another adapter decoded. The blocks are copies, traced in this context."""
        self.traces += inner.traces
        self._take_over(inner)

    def _take_over(self, inner: DecodeContext) -> None:
        self._replaced += inner._replaced
        self._moved_parts += inner._moved_parts
        self._copies += inner._copies
        self._moved += inner._moved

    @property
    def has_faults(self) -> bool:
        """True if the payload has faults."""
        return bool(self._faults)

    def finish(self, payload: object) -> None:
        """Raise DecodeError with all faults, if there are any."""
        if self._faults:
            raise DecodeError(self.api, self.faults(payload))

    def faults(self, payload: object) -> list[Fault]:
        """Return every fault with its path in `payload`."""
        paths = self.paths(payload) if self._faults else None
        return [
            Fault(paths.locate(container, key), message) for container, key, message in self._faults.values() if paths
        ]

    def paths(self, payload: object) -> WirePaths:
        """Return the paths of the decoded objects in `payload`."""
        root = payload if self.root is None else self.root
        return WirePaths(
            self.api,
            root,
            self.traces,
            self._replaced,
            self._moved_parts,
            self._copies,
            self._moved,
            is_respelled=self.is_respelled,
        )


class EncodeContext:
    """Collect the losses of one encoding. Hold the target API and the loss policies."""

    __slots__ = (
        "_indexed",
        "_originals",
        "_tools_by_name",
        "answer_id",
        "api",
        "cache_points",
        "completes",
        "format_map",
        "has_no_origin",
        "host",
        "index",
        "is_aimed",
        "is_error_body",
        "is_open",
        "is_unfinished",
        "issuer",
        "issuers",
        "keeps_approvals",
        "keeps_state",
        "kind",
        "known",
        "lacks_approvals",
        "maps",
        "message",
        "model",
        "native",
        "origin",
        "owners",
        "pending_losses",
        "placeholders",
        "policies",
        "reasoning_fields",
        "replacements",
        "sends_argument_text",
        "status",
        "target",
        "tools",
        "unfinished",
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
        self.issuers: frozenset[str] = frozenset({issuer})
        """The issuers whose opaque state the target reads: its own, and those that its host passes the state on to."""
        self.kind = kind
        # A request without an origin is adapted like one of another API. But its provider-specific values (such as
        # the settings of a hosted tool) are assumed to be for this API.
        self.origin = origin
        self.has_no_origin = origin is None
        self.native = origin.api == api if origin is not None else kind == "response"
        self.completes = self.has_no_origin or not self.native
        """True if fields that the API requires are filled in. A payload of the same API is sent back unchanged."""
        self.policies = policies or {}
        self.is_aimed = False
        """True if a request of this API goes to another model or host than the one that it was written for."""
        self.is_open = False
        """True if the content has just started and will grow. It is encoded even if it is still empty."""
        self.cache_points: list[tuple[CachePoint, JsonObject]] = []
        """The encoded cache points, with their wire objects."""
        self.known = UNLIMITED
        """The capabilities of the request's model."""
        self.answer_id: str | None = None
        """The id of the encoded answer."""
        self.model: str | None = None
        """The model that the caller passed for a request; None if unset."""
        self.target: Any = None
        """The target's model and policies, by which plans are kept; None if unknown."""
        self.message: ChatMessage = _NO_MESSAGE
        """The message whose contents a step looks at."""
        self.unfinished: tuple[ChatMessage, frozenset[int]] = _NO_MESSAGE, frozenset()
        """The last message with hosted calls, and the positions of those without a result."""
        self.index = 0
        """The index of the content in this message."""
        self.tools: Sequence[Any] = ()
        """The tools of the request whose messages a step looks at."""
        self._tools_by_name: tuple[Sequence[Any], dict[str, Any]] = (), {}
        # The fields of a PendingLoss. Tuples are cheaper, and most losses are never read.
        self.pending_losses: list[tuple[object, str | None, Reason, str | None, JsonObject]] = []
        self.owners: dict[int, object] = {}
        """The owners of lost parts, by the index of the loss, where they are known."""
        self.replacements: list[tuple[object, object]] = []
        self._originals: dict[int, object] = {}
        self._indexed = 0
        self.placeholders: list[object] = []
        """Values that no value of the source stands for. What the target does not take of them is no loss."""
        self.maps: Renames | None = None
        self.format_map: SchemaMap | None = None
        """The schema of the answer before it was changed for the target."""
        self.reasoning_fields: tuple[str, ...] = ()
        """The fields of a message that contain reasoning of any issuer. Each is the name of a policy."""
        self.host = NO_HOST
        """The host of the model, if the API has several."""
        self.keeps_approvals: bool = False
        """True if the target stores approvals of the application's own calls."""
        self.lacks_approvals = False
        """True if the target has no approvals at all."""
        self.keeps_state = False
        """True if the target stores the opaque state and the hosted tools of any provider, with its name."""
        self.status: int | None = None
        """The HTTP status of the encoded error."""
        self.is_unfinished = False
        """True if the answer is what came before the error of a stream."""
        self.sends_argument_text = False
        """True if the arguments of calls are sent as their own text, in pieces, although the target has objects."""
        self.is_error_body = False
        """True if a failed answer is encoded as the body of an error."""

    def next(self) -> EncodeContext:
        """Return a context for other contents of the same answer: this one, or one like it if this has recorded any."""
        if not (self.pending_losses or self.replacements or self.placeholders or self.cache_points):
            self.answer_id, self.is_unfinished = None, False
            return self
        following = EncodeContext(self.api, self.issuer, self.kind, self.policies, self.origin)
        for name in _AIM:
            setattr(following, name, getattr(self, name))
        return following

    def is_own(self, content: Any) -> bool:
        """Return whether a content in a message of another format is the target's own: a guest there."""
        return content.extra is not None and GUEST.of(content, self.api) is not None

    def is_ours(self, tool: object) -> bool:
        """Return whether a hosted tool has settings of this API: same origin, or built for it by hand or by a step."""
        extra: Mapping[str, JsonObject] | None = getattr(tool, "extra", None)
        return self.native or (self.has_no_origin if extra is None else self.api in extra)

    def tool_named(self, name: Any) -> Any:
        """Return the tool of the request with a name; None if there is none."""
        if self._tools_by_name[0] is not self.tools:
            self._tools_by_name = self.tools, {tool.name: tool for tool in self.tools}
        return self._tools_by_name[1].get(name)

    def replaced(self, old: object, new: _V) -> _V:
        """Record that `new` is encoded in place of `old`: losses of `new` are losses of `old`. Return `new`."""
        self.replacements.append((old, new))
        return new

    def is_changed(self, value: object) -> bool:
        """Return whether a step has changed a value."""
        return id(value) in self.originals()

    def originals(self) -> Mapping[int, object]:
        """Return the value that each replacement replaced, by the identity of the replacement."""
        for old, new in self.replacements[self._indexed :]:
            self._originals[id(new)] = old
        self._indexed = len(self.replacements)
        return self._originals

    def replace(self, old: _T, **fields: object) -> _T:
        """Return a Struct with other values of some fields, recorded as the replacement of `old`."""
        return self.replaced(old, msgspec.structs.replace(old, **fields))

    def placeholder(self, value: _V) -> _V:
        """Record a value that the target requires, and that the source does not have. Return it."""
        self.placeholders += [value, *getattr(value, "output_list", ())]
        return value

    def with_fields(self, owner: _T, fields: JsonObject) -> _T:
        """Return a Struct with further wire fields or hints in the target's residue, recorded as its replacement."""
        extra: Mapping[str, JsonObject] = owner.extra or {}  # type: ignore[attr-defined]
        return self.replace(owner, extra={**extra, self.api: {**extra.get(self.api, {}), **fields}})

    def with_contents(self, message: ChatMessage, contents: Sequence[object]) -> ChatMessage:
        """Return the message with other contents, recorded as its replacement; the same message if unchanged."""
        changed = with_contents(message, contents)
        return message if changed is message else self.replaced(message, changed)

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
        """Report that `field` of `owner` (None: the whole object) does not reach the target unchanged.

        `reason` is an entry of `contentmodel.reasons`, with the code and the kind of the loss. `values`
        fill its template. Adapters without a table of reasons may pass a text: the loss then has the given `kind` and
        the code "unlisted". `api` is set if the field is in the residue of that API.
        """
        if reason.__class__ is str:
            reason = unlisted(kind, reason)
        self.pending_losses.append((owner, field, reason, api, values))  # type: ignore[arg-type]

    def report_records(self, message: ChatMessage, held_fields: Collection[str] = ()) -> None:
        """Report the time, the ids, counts and finish reason of a message, except `held_fields`."""
        for name in OF_MESSAGES:
            if name not in held_fields and getattr(message, name) is not None:
                self.report_loss(message, name, reasons.MESSAGE_RECORD)

    def degrade(self, content: AIContent, reason: Reason, *carried: str, **values: Any) -> None:
        """Report that `content` is degraded, and that all attributes which are not `carried` are lost."""
        self.report_loss(content, None, reason, **values)
        self.report_rest(content, *carried)

    def report_rest(self, content: Any, *carried: str) -> None:
        """Report that all attributes of `content` which are not `carried` are lost."""
        self.report_lost_attributes(
            content, tuple(name for name in content.__struct_fields__ if name not in (*carried, *_REPORTED_ELSEWHERE))
        )
        self.leave_residue(content, own=True)

    def plain_value(self, content: Any, attribute: str) -> Any:
        """Return an attribute of a content that is written as this value alone. Report all other attributes as lost."""
        self.report_lost_attributes(content, ("annotations", "protected", "cache_point"))
        self.leave_residue(content)
        return getattr(content, attribute)

    def leave_residue(self, owner: HasExtra, *, own: bool = False) -> None:
        """Report the residue fields of other APIs as lost. If `own`, include those of this API."""
        for api, residue in (owner.extra or {}).items():
            if (own or api != self.api) and holds_fields(residue):
                # The fields are listed when the losses are read.
                self.pending_losses.append((owner, None, RESIDUE, None if own else self.api, {}))
                return

    def report_other_value(self, owner: object, name: str, value: object) -> None:
        """Report a loss if the field `name` is set to anything but `value`, the only value that the target has here."""
        if getattr(owner, name) not in (None, value):
            self.report_loss(owner, name, reasons.OTHER_VALUE, value=value)

    def report_lost_attributes(self, owner: object, names: tuple[str, ...]) -> None:
        """Report each of the attributes `names` that is set as lost: the target's wire object has no field for it."""
        for name in names:
            value, default = owner, None
            for part in name.split("."):
                value, default = getattr(value, part, None), default_of(value, part)
            if value is None or value == default or (value is False and name == "is_error"):
                continue
            reason = _reason_for(owner, name, value)
            # Some formats have cache points beside the contents.
            parts: Sequence[object] = (value,) if value.__class__ is CachePoint else ()
            if name in _APART and isinstance(value, list) and all(isinstance(i, msgspec.Struct) for i in value):
                parts = value
            elif not parts:
                self.report_loss(owner, name, reason)
            for lost in parts:
                self.owners[len(self.pending_losses)] = owner
                self.report_loss(lost, None, reason)


_NO_MESSAGE = ChatMessage(role="")
_AIM = (
    *("host", "issuers", "keeps_approvals", "keeps_state", "known", "lacks_approvals", "reasoning_fields", "target"),
    "sends_argument_text",
)
"""The attributes that `aim` of an adapter sets, or that an encoder of streams sets for all blocks."""
_REPORTED_ELSEWHERE = ("extra", "executor", "protected", *OF_RESULTS)
"""Attributes of a content whose loss is reported elsewhere, or that no wire field contains."""
_APART = ("annotations", "tools")
"""Lists whose elements have their own paths: some APIs keep citations beside the texts, or tools in messages."""
_OF_SCHEMAS = {
    "options.response_format.name": reasons.SCHEMA_NAME,
    "options.response_format.strict": reasons.ALWAYS_STRICT,
}
"""The reasons for attributes of the schema of an answer that a target with such schemas has no field for."""
_USUAL = {"status": "completed", "strict": False, "options.parallel_tool_calls": True}
"""Values that mean the same as a missing field, by attribute."""


def _reason_for(owner: object, name: str, value: object) -> Reason:
    """Return the reason why an attribute without a field in the target is lost. Some values carry no information."""
    if name == "message_id":
        return reasons.MESSAGE_ID
    if name == "kind" and owner.__class__ is ReasoningContent:
        return reasons.REASONING_KIND
    if name in ("cache_point", "options.cache_point"):
        return reasons.CACHE_POINT
    setting = f"options.response_format.{name}" if owner.__class__ is ResponseFormat else name
    if setting in _OF_SCHEMAS:
        return _OF_SCHEMAS[setting]
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
    """Return the default of a Struct field; None if there is none."""
    return defaults_of(type(owner)).get(name) if isinstance(owner, msgspec.Struct) else None


_DEFAULTS: dict[type, dict[str, object]] = {}


def defaults_of(kind: type[msgspec.Struct]) -> dict[str, object]:
    """Return the defaults of the fields of a Struct class; None for required fields."""
    if kind not in _DEFAULTS:
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        pairs = zip(names[len(names) - len(defaults) :], defaults, strict=True)
        _DEFAULTS[kind] = {name: _plain_default(default) for name, default in pairs}
    return _DEFAULTS[kind]


def _plain_default(default: object) -> object:
    if default is msgspec.NODEFAULT:
        return None
    return default.factory() if hasattr(default, "factory") else default


def with_contents(message: ChatMessage, contents: Sequence[Any]) -> ChatMessage:
    """Return the message with other contents; the same message if they are the same."""
    if len(contents) == len(message.contents) and all(map(is_, contents, message.contents)):
        return message
    return msgspec.structs.replace(message, contents=contents)


def with_messages(request: ChatRequest, messages: list[ChatMessage]) -> ChatRequest:
    """Return the request with other messages; the same request if they are the same."""
    if len(messages) == len(request.messages) and all(map(is_, messages, request.messages)):
        return request
    return msgspec.structs.replace(request, messages=messages)


def is_native(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the message came from the target's API."""
    return message.origin is not None and message.origin.api == context.api


def stays(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether a message came from the target's API and goes back to its model and host."""
    return is_native(message, context) and not context.is_aimed


def is_all_native(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the whole request came from the target's API: then it is encoded unchanged."""
    return context.native and all(is_native(message, context) for message in request.messages)
