"""The results of encoding: a payload and its losses. The paths of the losses are found when they are first read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.json import Json, JsonObject, child_path, value_at, write
from contentmodel.engine.losses.loss import RESIDUE, Loss, PendingLoss, pruned
from contentmodel.engine.losses.provenance import ModelPaths, with_distinct_parts
from contentmodel.engine.losses.reasons import (
    MEANINGLESS_FIELD,
    OPAQUE_STATE,
    PROVIDER_FIELD,
    REPEATED_SETTING,
    SPELLING,
    ZERO_COUNT,
    Reason,
)
from contentmodel.engine.table.hints import AROUND, FAILURE, Hint, hints_with_fields, is_hint
from contentmodel.errors import UnknownApiError
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent, Protected
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.pipeline.names import Renames


class Encoded:
    """The result of an encoder: `payload` (plain JSON values) and `losses` (empty if nothing was lost).

    `payload` may share nested values with the encoded model value: treat it as read-only, or copy it.
    """

    __slots__ = ("_again", "_context", "_losses", "_root", "_source", "payload")

    def __init__(
        self,
        payload: Json,
        root: object,
        context: EncodeContext,
        again: Callable[[Any], Encoded] | None = None,
    ) -> None:
        """Create the result. `again` encodes another root in the same way."""
        self.payload = payload
        self._again = again
        self._root = root
        self._context = context
        self._source: tuple[Json, DecodeContext] | None = None
        self._losses: tuple[Loss, ...] | None = None

    def trace_to(self, payload: object, context: DecodeContext) -> Encoded:
        """Give the losses the paths of the source payload that the model value was decoded from."""
        self._source = (payload, context)
        return self

    @property
    def api(self) -> str:
        """The API of the payload."""
        return self._context.api

    @property
    def source_api(self) -> str | None:
        """The API of the source payload; None if the result was not traced to one."""
        return None if self._source is None else self._source[1].api

    @property
    def maps(self) -> Renames:
        """The replaced ids and tool names.

        Keep them with the transcript: they restore the originals in the target's answer.
        """
        from contentmodel.engine.pipeline.names import Renames

        return self._context.maps or Renames()

    @property
    def status(self) -> int | None:
        """The HTTP status that the target API sends with this body; None for a request."""
        if self._context.kind == "request" or not isinstance(self._root, ChatResponse):
            return None
        if self._root.error is None or self._root.choices:
            return 200
        return self._context.status or 500

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

    def count_losses(self) -> Counter[str]:
        """Return the number of lost values by code, without finding their paths.

        A value that occurs in several places of the source counts once. Parts of a value that was dropped as a whole
        also count, although `losses` does not list them.
        """
        return Counter(note.reason.code for note in _notes(self._context) if holds(note))

    def untraced(self) -> list[object]:
        """Return the lost values without an origin in the source. An adapter without defects has none."""
        model = ModelPaths([self._root], self._context.replacements, self._context.api)
        return [note.owner for note in _notes(self._context) if not model.leads_back(note.owner)]

    def to_json(self) -> bytes:
        """Return the payload as compact UTF-8 JSON."""
        return write(self.payload)

    def __repr__(self) -> str:
        return f"Encoded(payload={self.payload!r}, losses={list(self.losses)!r})"

    def _resolve(self) -> tuple[Loss, ...]:
        pending_losses = [note for note in _notes(self._context) if holds(note)]
        if not pending_losses:
            return ()
        distinct = self._root if self._source or self._again is None else with_distinct_parts(self._root)
        if distinct is not self._root:
            # An object that occurs twice causes two losses. Copies give each occurrence its own path.
            return self._again(distinct).losses  # type: ignore[misc]
        model = ModelPaths([self._root], self._context.replacements, self._context.api)
        if self._source is None:
            return pruned([model.loss(note) for note in pending_losses])
        wire = self._source[1].paths(self._source[0])
        losses = [loss for note in pending_losses for loss in wire.losses(note, model)]
        signs = {loss.path for note in pending_losses if _is_worded_sign(note) for loss in wire.losses(note, model)}
        return pruned([left for loss in losses for left in _beside_signs(loss, signs, self._source[0])])


class EncodedContents:
    """The result of encoding contents without their answer: the wire values, and the losses of each content."""

    __slots__ = ("_again", "_contents", "_context", "payload")

    def __init__(
        self,
        payload: Json,
        contents: list[AIContent],
        context: EncodeContext,
        again: Callable[[list[AIContent]], EncodedContents],
    ) -> None:
        """Create the result. `again` encodes other contents in the same way."""
        self.payload = payload
        self._contents = contents
        self._context = context
        self._again = again

    @property
    def may_lose(self) -> bool:
        """True if any loss is pending. Cheap. If False, nothing was lost."""
        return bool(self._context.pending_losses)

    def losses(self) -> list[tuple[Loss, ...]]:
        """Return the losses of each content. Their paths begin at the content, whose own path is empty."""
        distinct = with_distinct_parts(self._contents)
        if distinct is not self._contents:
            return self._again(distinct).losses()
        model = ModelPaths(self._contents, self._context.replacements, self._context.api, root="")
        by_content: list[list[Loss]] = [[] for _ in self._contents]
        for note in _notes(self._context):
            index = model.root_of(note.owner) if holds(note) else None
            if index is not None:
                by_content[index].append(model.loss(note))
        return [pruned(losses) for losses in by_content]


class EncodedStream(msgspec.Struct, frozen=True):
    """A converted stream: its bytes (`payload`), and its losses, with paths in the folded response."""

    payload: bytes
    losses: tuple[Loss, ...]

    @property
    def maps(self) -> Renames:
        """Empty: ids and names of an answer are not replaced."""
        from contentmodel.engine.pipeline.names import Renames

        return Renames()

    def to_json(self) -> bytes:
        """Return the bytes of the stream."""
        return self.payload


# -- pending losses that expand to several ---------------------------------------------------------------------------


def holds(note: PendingLoss) -> bool:
    """Return whether a pending loss is a loss. If the text was compact JSON already, its spelling is not lost."""
    call = note.owner
    if note.reason is not SPELLING or not isinstance(call, ToolCallContent):
        return True
    text = call.arguments if isinstance(call.arguments, str) else ""
    return bool(text) and write(call.arguments_object) != text.encode("utf-8", "surrogatepass")


def _is_worded_sign(note: PendingLoss) -> bool:
    """Return whether a field that reports a failure became a text."""
    if note.field is not None or note.reason.code not in ("as-text", "error-as-text"):
        return False
    return any(FAILURE.read(own) == "sign" for own in (getattr(note.owner, "extra", None) or {}).values())


def _repeats(loss: Loss, signs: Collection[str]) -> bool:
    """Return whether a loss drops a field that became a text, or an object that contains such a field."""
    if not signs or loss.code not in ("no-field", "provider-field"):
        return False
    return any(sign == loss.path or sign.startswith(f"{loss.path}.") for sign in signs)


def _beside_signs(loss: Loss, signs: Collection[str], payload: Any) -> Iterator[Loss]:
    """Yield the loss. If it contains a field that became a text, yield losses of the fields beside that one instead."""
    if not _repeats(loss, signs):
        yield loss
    elif loss.path not in signs and loss.exact:
        around = value_at(payload, loss.path)
        for key, value in around.items() if around.__class__ is dict else ():
            if not _is_empty(value) and not _is_tag(key, value):
                path, name = child_path(loss.path, key), child_path(loss.what, key)
                yield from _beside_signs(msgspec.structs.replace(loss, path=path, what=name), signs, payload)


def _notes(context: EncodeContext) -> Iterator[PendingLoss]:
    """Yield every pending loss. For a content that is lost as a whole, include its values elsewhere on the wire."""
    for owner, field, reason, api, values in context.pending_losses:
        if reason is RESIDUE:
            yield from _left_behind(owner, api)
            continue
        yield PendingLoss(owner, field, reason, api, values)
        if field is None and reason.kind in ("dropped", "degraded") and isinstance(owner, msgspec.Struct):
            yield from _apart(owner)


def _left_behind(owner: Any, kept: str | None) -> Iterator[PendingLoss]:
    """Yield losses for the residue fields of every API but `kept`, without null and empty ones."""
    for api, residue in owner.extra.items():
        for key, value in residue.items() if api != kept else ():
            if not is_hint(key) and (not _is_empty(value) or _turns_on(owner, value)):
                yield PendingLoss(owner, key, _reason_for(owner, api, key, value), api, {"source": api})
        if api != kept and not _keys_with_fields(api).isdisjoint(residue):
            yield from _around(owner, api, residue)


def _around(owner: object, api: str, residue: JsonObject) -> Iterator[PendingLoss]:
    """Yield losses for the fields of the wire object that contained `owner` as one of its parts."""
    for hint in _hints_with_fields(api):
        for name, value in (hint.read(residue) or {}).items():
            if not is_hint(name) and not _is_tag(name, value) and not _is_empty(value):
                yield PendingLoss(owner, f"{AROUND}{name}", _reason_for(owner, api, name, value), api, {"source": api})


def _turns_on(owner: object, value: object) -> bool:
    """Return whether a field is an empty object of a request. In Chat, it enables web search with defaults."""
    return value == {} and type(owner).__name__ == "ChatRequest"


def _is_empty(value: object) -> bool:
    return value is None or value == [] or value == {}


def _reason_for(owner: object, api: str, name: str, value: object) -> Reason:
    """Return why a field of another API is lost. Its adapter declares the fields that have no meaning elsewhere."""
    meaningless, repeated = _declared(api)
    if name in meaningless:
        known = meaningless[name]
        if known is None or value in (known if known.__class__ is tuple else (known,)):
            return MEANINGLESS_FIELD
    kind = type(owner).__name__
    if name in repeated and kind == "ChatResponse":
        return REPEATED_SETTING
    return ZERO_COUNT if kind == "Usage" and value.__class__ is int and value == 0 else PROVIDER_FIELD


@cache
def _declared(api: str) -> tuple[Mapping[str, Json], Collection[str]]:
    from contentmodel.adapter import adapter

    try:
        declaring = adapter(api)
    except UnknownApiError:
        return {}, ()
    return getattr(declaring, "meaningless", {}), getattr(declaring, "repeated", ())


@cache
def _hints_with_fields(api: str) -> list[Hint[JsonObject]]:
    # The adapter declares its hints when it is imported.
    _declared(api)
    return hints_with_fields(api)


@cache
def _keys_with_fields(api: str) -> frozenset[str]:
    return frozenset(key for hint in _hints_with_fields(api) for key in (hint.key, *hint.older))


def _is_tag(name: str, value: object) -> bool:
    """Return whether a field is the type or the role of an object, which every API has in its own terms."""
    return name in ("type", "role") and value.__class__ is str


def _apart(owner: msgspec.Struct) -> Iterator[PendingLoss]:
    protected: Protected | None = getattr(owner, "protected", None)
    if protected is not None:
        yield PendingLoss(protected, None, OPAQUE_STATE, None, {"issuer": protected.issuer})
    for api, residue in (getattr(owner, "extra", None) or {}).items():
        yield from _around(owner, api, residue)
