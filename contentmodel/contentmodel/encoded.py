"""The results of encoding: a payload and its losses. The paths of the losses are found when they are first read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.losses.model_paths import ModelPaths, with_distinct_parts
from contentmodel.errors import UnknownApiError
from contentmodel.hints import (
    AROUND,
    FAILURE,
    INSIDE,
    REPEATED,
    Hint,
    hints_with_fields,
    is_hint,
    wire_key,
)
from contentmodel.json import Json, JsonObject, child_path, is_empty, value_at, write
from contentmodel.lines import written_lines
from contentmodel.losses import RESIDUE, Loss, PendingLoss, may_hold_content, pruned
from contentmodel.reasons import (
    ARGUMENTS_SPELLING,
    FOREIGN_MODEL,
    IN_URL,
    MEANINGLESS_FIELD,
    OPAQUE_STATE,
    PROVIDER_FIELD,
    REPEATED_SETTING,
    REPEATED_VALUE,
    ZERO_COUNT,
    Reason,
    insignificant,
)
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.literals import DocumentForm
    from contentmodel.renames import Renames, SchemaMap


# Not reported: the loss only has the path of a value that the caller named instead.
_NAMED = insignificant("named", "the caller named it")


def time_of(value: object) -> float | int | str | None:
    """Return the time of an answer, else of the last message of an answer or a request that has one."""
    if not isinstance(value, ChatRequest | ChatResponse):
        return None
    created = value.created if isinstance(value, ChatResponse) else None
    times = (message.created for message in reversed(value.messages))
    return created if created is not None else next((time for time in times if time is not None), None)


class Encoded:
    """The result of an encoder: `payload` (plain JSON values) and `losses` (empty if nothing was lost).

    `payload` may share nested values with the encoded model value: treat it as read-only, or copy it.
    """

    __slots__ = ("_again", "_context", "_form", "_losses", "_root", "_source", "_source_api", "payload")

    def __init__(
        self,
        payload: Json,
        root: object,
        context: EncodeContext,
        again: Callable[[Any], Encoded] | None = None,
        form: DocumentForm | None = None,
    ) -> None:
        """Create the result. `again` encodes another root in the same way.

        `form` is the form of the payload; None stands for the form of the installed adapter.
        """
        self.payload = payload
        self._form = form
        self._again = again
        self._root = root
        self._context = context
        self._source: tuple[Json, DecodeContext] | None = None
        self._source_api: str | None = None
        self._losses: tuple[Loss, ...] | None = None

    def trace_to(self, payload: object, context: DecodeContext) -> Encoded:
        """Set the source payload that the model value was decoded from. The paths of the losses then refer to it."""
        self._source, self._source_api = (payload, context), context.api
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the result with its losses, without the source and the functions that find them."""
        context = self._context
        core = {name: getattr(context, name) for name in _CORE}
        return _unpickled, (self.payload, self._root, core, self.form, self._source_api, self.losses)

    @property
    def source(self) -> tuple[Json, DecodeContext] | None:
        """The source payload with the record of its decoding; None if the result was not traced to one."""
        return self._source

    @property
    def api(self) -> str:
        """The API of the payload."""
        return self._context.api

    @property
    def source_api(self) -> str | None:
        """The API of the source payload; None if the result was not traced to one."""
        return self._source_api

    @property
    def value(self) -> object:
        """The value of the model that was encoded: a ChatRequest or a ChatResponse."""
        return self._root

    @property
    def model(self) -> str | None:
        """The model that the source names."""
        return getattr(self._root, "model", None)

    @property
    def created(self) -> float | int | str | None:
        """The time of the source: of the answer, else of the last message that has one."""
        return time_of(self._root)

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names.

        Store them with the transcript: pass them to `convert` with the target's answer to restore the originals.
        """
        from contentmodel.engine.pipeline.names import with_used_ids

        return with_used_ids(self._context.maps, self._root, self._context)

    @property
    def format_map(self) -> SchemaMap | None:
        """The schema of the answer, if the target got another one; the argument of `adapter(api).restore_arguments`."""
        return self._context.format_map

    @property
    def status(self) -> int | None:
        """The HTTP status that the target API sends with this body; None for a request."""
        if self._context.kind == "request" or not isinstance(self._root, ChatResponse):
            return None
        if self._root.error is None or (self._root.choices and not self._context.is_error_body):
            return 200
        return self._context.status or 500

    def reports(self, reasons: Collection[Reason]) -> bool:
        """Return whether a loss for one of these reasons is pending."""
        return any(reason in reasons for _, _, reason, _, _ in self._context.pending_losses)

    def add_losses_to(self, context: EncodeContext, unneeded: Collection[Reason] = ()) -> None:
        """Add the losses and replacements to those of a container, which holds the payload as one of its parts.

        The residue of the container's own API is kept: its adapter writes it. A container has no settings and no URL,
        so that the settings that the payload requires, those in its URL, and its model are no losses. The
        `unneeded` reasons are of values that the payload requires and the container leaves out.
        """
        context.replacements += self._context.replacements
        context.placeholders += self._context.placeholders
        context.maps = self._context.maps or context.maps
        originals = context.originals()
        for owner, field, reason, api, values in self._context.pending_losses:
            if reason.kind == "synthesized" and field is not None and field.startswith("options."):
                continue
            if reason in (IN_URL, FOREIGN_MODEL) or reason in unneeded:
                continue
            if reason == RESIDUE:
                while id(owner) in originals:
                    owner = originals[id(owner)]
                values = {"kept": () if api is None else (api, context.api)}
            context.pending_losses.append((owner, field, reason, api, values))

    @property
    def may_lose(self) -> bool:
        """True if any loss is pending. Cheap. If False, nothing was lost."""
        return bool(self._context.pending_losses)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, in the order of the source."""
        if self._losses is None:
            self._losses = self._resolve()
        return self._losses

    def losses_of(self, value: object, lost: Iterable[tuple[object, str | None, Reason]]) -> tuple[Loss, ...]:
        """Return the losses of values that the caller left out of `value` before it encoded the rest.

        Each is a content, the name of its lost attribute (None: all of it), and the reason.
        """
        pending = [PendingLoss(owner, field, reason) for owner, field, reason in lost]
        model = ModelPaths([value], [], self._context.api)
        if self._source is None:
            return tuple(map(model.loss, pending))
        wire = self._source[1].paths(self._source[0])
        return tuple(loss for one in pending for loss in wire.losses(one, model))

    @property
    def named_by_caller(self) -> frozenset[str]:
        """The paths of the source's values that the caller named instead: the model. They are under no loss."""
        context, request = self._context, self._root
        if self._source is None or context.model is None or getattr(request, "model", None) is None:
            return frozenset()
        model = ModelPaths([request], context.replacements, context.api)
        pending = PendingLoss(request, "model", _NAMED, None, {})
        return frozenset(loss.path for loss in self._source[1].paths(self._source[0]).losses(pending, model))

    def count_losses(self) -> Counter[str]:
        """Return the number of lost values by code, without finding their paths.

        A value that occurs in several places of the source counts once. Parts of a value that was dropped as a whole
        also count, although `losses` does not list them.
        """
        return Counter(pending.reason.code for pending in _pending_losses(self._context))

    def untraced(self) -> list[object]:
        """Return the lost values without an origin in the source. An adapter without defects has none."""
        model = ModelPaths([self._root], self._context.replacements, self._context.api)
        return [pending.owner for pending in _pending_losses(self._context) if not model.leads_back(pending.owner)]

    @property
    def form(self) -> DocumentForm:
        """The form of the payload: one JSON value ("json"), or the values of JSON Lines ("lines")."""
        from contentmodel.adapter import form_of

        return self._form or form_of(self.api)

    def to_json(self) -> bytes:
        """Return the payload as compact UTF-8 JSON; as JSON Lines if this is its form."""
        return b"".join(self.json_pieces())

    def json_pieces(self) -> Iterator[bytes]:
        """Yield the same as `to_json` returns, in pieces: each line of JSON Lines; else one piece."""
        return written_lines(self.payload) if self.form == "lines" else iter((write(self.payload),))

    def __repr__(self) -> str:
        return f"Encoded(payload={self.payload!r}, losses={list(self.losses)!r})"

    def _resolve(self) -> tuple[Loss, ...]:
        if next(_pending_losses(self._context), None) is None:
            return ()
        distinct = self._root if self._source or self._again is None else with_distinct_parts(self._root)
        if distinct is not self._root:
            # An object that occurs twice causes two losses. Encode again with copies, so that each has its own path.
            return self._again(distinct).losses  # type: ignore[misc]
        model = ModelPaths([self._root], self._context.replacements, self._context.api)
        # A long document has many pending losses: each is made when it is read.
        pending_losses = _pending_losses(self._context)
        if self._source is None:
            return pruned([model.loss(pending) for pending in pending_losses])
        wire = self._source[1].paths(self._source[0])
        losses: list[Loss] = []
        as_text: list[tuple[Loss, Any]] = []
        for pending in pending_losses:
            model.above = None if pending.above is None else model.source(pending.above)
            if pending.reason is OPAQUE_STATE and wire.is_inside(pending.owner):
                continue
            wire_losses = wire.losses(pending, model)
            losses += wire_losses
            if pending.field is None and pending.reason.code in _AS_TEXT and _is_of_failure_field(pending.owner):
                as_text += zip(wire_losses, repeat(pending.owner))
        # The text of a flag is its name.
        paths = {loss.path for loss, error in as_text if _is_text_of(error, value_at(self._source[0], loss.path))}
        if paths:
            losses = [reduced for loss in losses for reduced in _beside_failure_fields(loss, paths, self._source[0])]
        return pruned(losses)


_CORE = (
    *("api", "issuer", "kind", "maps", "format_map", "model", "status", "is_error_body"),
    *("pending_losses", "replacements", "placeholders"),
)
"""The attributes of a context that a finished result uses."""


def _unpickled(
    payload: Json,
    root: object,
    core: dict[str, Any],
    form: DocumentForm,
    source_api: str | None,
    losses: tuple[Loss, ...],
) -> Encoded:
    from contentmodel.engine.context import EncodeContext

    context = EncodeContext(core["api"], core["issuer"], core["kind"])
    for name, value in core.items():
        setattr(context, name, value)
    encoded = Encoded(payload, root, context, form=form)
    encoded._source_api, encoded._losses = source_api, losses
    return encoded


class EncodedContents:
    """The result of encoding contents without their answer: the wire values, and the losses of each content."""

    __slots__ = ("_again", "_context", "contents", "payload")

    def __init__(
        self,
        payload: Json,
        contents: list[AIContent],
        context: EncodeContext,
        again: Callable[[list[AIContent]], EncodedContents],
    ) -> None:
        """Create the result. `again` encodes other contents in the same way."""
        self.payload = payload
        self.contents = contents
        self._context = context
        self._again = again

    @property
    def may_lose(self) -> bool:
        """True if any loss is pending. Cheap. If False, nothing was lost."""
        return bool(self._context.pending_losses)

    def losses(self) -> list[tuple[Loss, ...]]:
        """Return the losses of each content. Their paths begin at the content, whose own path is empty."""
        distinct = with_distinct_parts(self.contents)
        if distinct is not self.contents:
            return self._again(distinct).losses()
        model = ModelPaths(self.contents, self._context.replacements, self._context.api, root="")
        by_content: list[list[Loss]] = [[] for _ in self.contents]
        for pending in _pending_losses(self._context):
            index = model.root_of(pending.owner)
            if index is not None:
                by_content[index].append(model.loss(pending))
        return [pruned(losses) for losses in by_content]


class EncodedStream(msgspec.Struct, frozen=True):
    """A converted stream: its bytes (`payload`), and its losses, with paths in the folded response."""

    payload: bytes
    losses: tuple[Loss, ...]

    @property
    def maps(self) -> Renames:
        """Empty: ids and names of an answer are not replaced."""
        from contentmodel.renames import Renames

        return Renames()

    def to_json(self) -> bytes:
        """Return the bytes of the stream."""
        return self.payload

    def json_pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the stream."""
        yield self.payload


# -- pending losses that expand to several ---------------------------------------------------------------------------


def _is_spelled(call: object) -> bool:
    """Return whether the text of a call's arguments is not compact JSON already: then its spelling is lost."""
    if not isinstance(call, ToolCallContent):
        return True
    text = call.arguments if isinstance(call.arguments, str) else ""
    return bool(text) and write(call.arguments_object) != text.encode("utf-8", "surrogatepass")


_AS_TEXT = ("as-text", "error-as-text")


def _is_of_failure_field(owner: object) -> bool:
    """Return whether a value was made of a field that reports a failure."""
    return any(FAILURE.read(residue) == "sign" for residue in (getattr(owner, "extra", None) or {}).values())


def _is_text_of(error: Any, value: object) -> bool:
    """Return whether the text of an error says the value of its field: a code, a message, or the code of an exit."""
    details = error.details if isinstance(error.details, dict) else {}
    return value in (error.code, error.message) or (value.__class__ is int and value in details.values())


def _repeats(loss: Loss, paths: Collection[str]) -> bool:
    """Return whether a loss drops a field that became a text, or an object with such a field."""
    if loss.code not in ("no-field", "provider-field"):
        return False
    return any(path == loss.path or path.startswith(f"{loss.path}.") for path in paths)


def _beside_failure_fields(loss: Loss, paths: Collection[str], payload: Any) -> Iterator[Loss]:
    """Yield the loss. If it covers a field that became a text, yield a loss for each of the other fields instead."""
    if not _repeats(loss, paths):
        yield loss
    elif loss.path not in paths and loss.exact:
        container = value_at(payload, loss.path)
        for key, value in container.items() if container.__class__ is dict else ():
            if not is_empty(value) and not _is_tag(key, value):
                inner = msgspec.structs.replace(loss, path=child_path(loss.path, key), what=child_path(loss.what, key))
                yield from _beside_failure_fields(inner, paths, payload)


_NEW = itemgetter(1)


def _pending_losses(context: EncodeContext) -> Iterator[PendingLoss]:
    """Yield every pending loss. If a content is lost as a whole, add losses for its values in other wire objects."""
    placeholders, owners = _made_by_steps(context), context.owners
    originals: dict[int, tuple[object, object]] = {}
    for at, (owner, field, reason, api, values) in enumerate(context.pending_losses):
        if id(owner) in placeholders:
            continue
        if reason == RESIDUE:
            yield from _left_behind(owner, values.get("kept", (api,)), values.get("only"))
            continue
        if field == "model" and context.model is not None and isinstance(owner, ChatRequest):
            continue  # The caller named it.
        if reason == ARGUMENTS_SPELLING and not _is_spelled(owner):
            continue
        yield PendingLoss(owner, field, reason, api, values, owners.get(at))
        if field is None and reason.kind in ("dropped", "degraded"):
            protected, extra = getattr(owner, "protected", None), getattr(owner, "extra", None)
            if protected is not None:
                # A step may have respelled the state: the path is that of the source's.
                originals = originals or dict(
                    zip(map(id, map(_NEW, context.replacements)), context.replacements, strict=True)
                )
                source = owner
                while id(source) in originals:
                    source = originals[id(source)][0]
                protected = getattr(source, "protected", None) or protected
                yield PendingLoss(protected, None, OPAQUE_STATE, None, {"issuer": protected.issuer})
            if extra:
                yield from _beside(owner, extra)


def _made_by_steps(context: EncodeContext) -> set[int]:
    """Return the identities of the placeholders and of what replaced them. They have no value of the source."""
    identities = set(map(id, context.placeholders))
    for old, new in context.replacements if identities else ():
        if id(old) in identities:
            identities.add(id(new))
    return identities


def _left_behind(
    owner: Any, kept_apis: Collection[str | None], only: tuple[str, Collection[str]] | None = None
) -> Iterator[PendingLoss]:
    """Yield losses for the residue fields of every API that is not in `kept_apis`, without null and empty ones.

    `only` is an API, and the fields of it that are lost.
    """
    for api, residue in (owner.extra or {}).items():
        if only is not None and api == only[0]:
            residue = {key: value for key, value in residue.items() if wire_key(key) in only[1]}
        repeated = (REPEATED.read(residue) or ()) if REPEATED.key in residue else ()
        for path in repeated if api not in kept_apis else ():
            if path not in residue:
                yield PendingLoss(owner, f"{INSIDE}{path}", REPEATED_VALUE, api, {"source": api})
        for key, value in residue.items() if api not in kept_apis else ():
            if key in repeated:
                yield PendingLoss(owner, key, REPEATED_VALUE, api, {"source": api})
            elif not is_hint(key) and (not is_empty(value) or _turns_on(owner, api, key, value)):
                yield PendingLoss(owner, key, _reason_for(owner, api, key, value), api, {"source": api})
                for index in _odd_entries(api, key, value):
                    yield PendingLoss(owner, f"{INSIDE}{key}.{index}", PROVIDER_FIELD, api, {"source": api})
        if api not in kept_apis and not _keys_with_fields(api).isdisjoint(residue):
            yield from _around(owner, api, residue)


def _around(owner: object, api: str, residue: JsonObject) -> Iterator[PendingLoss]:
    """Yield losses for the fields of the wire object that contained `owner` as one of its parts."""
    for hint in _hints_with_fields(api):
        for name, value in (hint.read(residue) or {}).items():
            if not is_hint(name) and not _is_tag(name, value) and not is_empty(value):
                yield PendingLoss(owner, f"{AROUND}{name}", _reason_for(owner, api, name, value), api, {"source": api})


def _turns_on(owner: object, api: str, key: str, value: object) -> bool:
    """Return whether an empty object of a request may enable a feature, as `web_search_options` of Chat does.

    An object that groups settings of the model enables none.
    """
    return isinstance(value, dict) and type(owner).__name__ == "ChatRequest" and key not in _declared(api)[3]


def _reason_for(owner: object, api: str, name: str, value: object) -> Reason:
    """Return the reason why a field of another API is lost. Its adapter declares fields without meaning elsewhere."""
    meaningless, repeated, answered, _ = _declared(api)
    if name in meaningless:
        values = meaningless[name]
        if values is None:
            return PROVIDER_FIELD if may_hold_content(value) else MEANINGLESS_FIELD
        if _judges_entries(values):
            is_known = value.__class__ is list and any(map(values[0], value))
        else:
            is_known = (
                values(value) if callable(values) else value in (values if values.__class__ is tuple else (values,))
            )
        if is_known:
            return MEANINGLESS_FIELD
    kind = type(owner).__name__
    if kind == "CachePoint":
        return MEANINGLESS_FIELD
    if name in answered and kind == "ChatRequest":
        return PROVIDER_FIELD if may_hold_content(value) else MEANINGLESS_FIELD
    if name in repeated and kind == "ChatResponse":
        return REPEATED_SETTING
    return ZERO_COUNT if kind == "Usage" and value.__class__ is int and value == 0 else PROVIDER_FIELD


def _judges_entries(values: Any) -> bool:
    """Return whether the entry of `meaningless` is a list of a function, for each entry of a list."""
    return values.__class__ is list and len(values) == 1 and callable(values[0])


def _odd_entries(api: str, name: str, value: Any) -> Iterator[int]:
    """Yield the indexes of the entries that have a meaning, in a list whose other entries have none elsewhere."""
    values: Any = _declared(api)[0].get(name)
    if _judges_entries(values) and value.__class__ is list and any(map(values[0], value)):
        yield from (index for index, entry in enumerate(value) if not is_empty(entry) and not values[0](entry))


@cache
def _declared(api: str) -> tuple[Mapping[str, Json], Collection[str], Collection[str], Collection[str]]:
    from contentmodel.adapter import adapter

    try:
        source_adapter = adapter(api)
    except UnknownApiError:
        return {}, (), (), ()
    return (
        getattr(source_adapter, "meaningless", {}),
        getattr(source_adapter, "repeated", ()),
        getattr(source_adapter, "answered", ()),
        getattr(source_adapter, "groups", ()),
    )


@cache
def _is_container(api: str) -> bool:
    """Return whether the payloads of an API hold values of another API: their residue is around those values."""
    from contentmodel.adapter import adapter

    try:
        return hasattr(adapter(api), "inner")
    except UnknownApiError:
        return False


@cache
def _hints_with_fields(api: str) -> list[Hint[JsonObject]]:
    # The adapter declares its hints when it is imported.
    _declared(api)
    return hints_with_fields(api)


@cache
def _keys_with_fields(api: str) -> frozenset[str]:
    return frozenset(key for hint in _hints_with_fields(api) for key in (hint.key, *hint.older))


def _is_tag(name: str, value: object) -> bool:
    """Return whether a field is the type or the role of an object. Each API has its own values for these."""
    return name in ("type", "role") and value.__class__ is str


def _beside(owner: object, extra: Mapping[str, JsonObject]) -> Iterator[PendingLoss]:
    """Yield losses for the fields around a content that is lost as a whole."""
    for api, residue in extra.items():
        yield from _around(owner, api, residue)
        if _is_container(api):
            yield from _left_behind(owner, [other for other in extra if other != api])
