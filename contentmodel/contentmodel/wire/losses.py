"""What a conversion could not carry: recorded cheaply while encoding, given paths when somebody asks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.errors import ContentModelError, UnknownApiError
from contentmodel.wire.json import STEP, child_path, write
from contentmodel.wire.notes import is_note, wire_key
from contentmodel.wire.reasons import (
    MEANINGLESS_FIELD,
    OPAQUE_STATE,
    PROVIDER_FIELD,
    REPEATED_SETTING,
    SPELLING,
    UNLISTED,
    ZERO_COUNT,
    Reason,
)

if TYPE_CHECKING:
    from contentmodel.wire.context import DecodeContext, EncodeContext
    from contentmodel.wire.names import Maps


class Loss(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value that the target did not get as it was.

    `path` is the JSON path in the source payload where `convert` made the loss, else the path in the model value
    that was encoded. `kind` is "dropped" (gone), "degraded" (there, as something less), "moved" (there, at
    another place or in another order), "synthesized" (the target required a value that the source does not have) or
    "insignificant" (gone, and it meant nothing to any reader). `what` names the value and `why` the reason, for
    people. `code` is the reason for programs: it stays the same when the text changes (`reasons.REASONS` has all
    codes; a reason without one is "unlisted"). `family` is the family of content that it belongs to: "text",
    "reasoning", "media", "citations", "tools", "hosted tools", "tool definitions", "schemas", "messages", "settings",
    "usage", "provider fields" or "other". If the loss is not `exact`, what was lost has no place of its own: it is
    somewhere in the value at `path`.
    """

    path: str
    kind: str
    what: str
    why: str
    family: str = "other"
    exact: bool = True
    code: str = UNLISTED

    @property
    def is_significant(self) -> bool:
        """False where what was lost means nothing to any reader."""
        return self.kind != "insignificant"


def significant(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Return the losses without those of values that mean nothing to any reader."""
    return tuple(loss for loss in losses if loss.is_significant)


class LossError(ContentModelError, ValueError):
    """Raised with `on_loss="raise"` if anything significant would be lost. `losses` has every such loss."""

    def __init__(self, api: str, losses: tuple[Loss, ...]) -> None:
        self.losses = losses
        first = losses[0]
        more = f" (and {len(losses) - 1} more)" if len(losses) > 1 else ""
        super().__init__(f"{api} cannot carry {first.what} at {first.path}: {first.why}{more}")


RESIDUE = Reason("residue", "dropped", "")
"""Not a loss itself: all fields of other APIs in the residue of an object. Reading the losses finds each of them."""


class Note(msgspec.Struct, frozen=True):
    """A loss before it has a path: the model object, which of its fields (None: all of it), and why.

    A field that is a JSON value is followed by the path inside of it: `parameters$.properties.age.minimum`.
    `api` is set where the field is in the residue of that API. `values` are what the reason's text names.
    """

    owner: Any
    field: str | None
    reason: Reason
    api: str | None = None
    values: dict[str, Any] = {}


def holds(note: Note) -> bool:
    """Whether a note is a loss after all: text that was compact JSON is the same text again."""
    if note.reason is not SPELLING:
        return True
    text = note.owner.arguments
    return bool(text) and write(note.owner.arguments_object) != text.encode("utf-8", "surrogatepass")


def _notes(context: EncodeContext) -> Iterator[Note]:
    """Every note, and with a content that is lost as a whole what belongs to it and stands elsewhere on the wire."""
    for owner, field, reason, api, values in context.notes:
        if reason is RESIDUE:
            yield from _left_behind(owner, api)
            continue
        yield Note(owner, field, reason, api, values)
        if field is None and reason.kind in ("dropped", "degraded") and isinstance(owner, msgspec.Struct):
            yield from _apart(owner)


def _left_behind(owner: Any, kept: str | None) -> Iterator[Note]:
    """The fields in the residue of every API but `kept`. Null and empty ones said nothing."""
    for api, residue in owner.extra.items():
        for key, value in residue.items() if api != kept else ():
            if key in (":item", ":instruction"):
                yield from _of_item(owner, api, value)
            elif not is_note(key) and not _is_empty(value):
                yield Note(owner, key, _reason_for(owner, api, key, value), api, {"source": api})


def _of_item(owner: Any, api: str, item: dict[str, Any]) -> Iterator[Note]:
    """The fields of the wire object that held `owner` as one of its parts."""
    for name, value in item.items():
        if not is_note(name) and not _is_word(name, value) and not _is_empty(value):
            yield Note(owner, f":item.{name}", _reason_for(owner, api, name, value), api, {"source": api})


def _is_empty(value: Any) -> bool:
    return value is None or value == [] or value == {}


def _reason_for(owner: Any, api: str, name: str, value: Any) -> Reason:
    """Return why a field of another API is lost: its adapter declares which fields mean nothing elsewhere."""
    meaningless, repeated = _declared(api)
    if name in meaningless and meaningless[name] in (None, value):
        return MEANINGLESS_FIELD
    kind = type(owner).__name__
    if name in repeated and kind == "ChatResponse":
        return REPEATED_SETTING
    return ZERO_COUNT if kind == "Usage" and value.__class__ is int and value == 0 else PROVIDER_FIELD


@cache
def _declared(api: str) -> tuple[Mapping[str, Any], Collection[str]]:
    from contentmodel.adapter import adapter

    try:
        declaring = adapter(api)
    except UnknownApiError:
        return {}, ()
    return getattr(declaring, "meaningless", {}), getattr(declaring, "repeated", ())


def _is_word(name: str, value: Any) -> bool:
    """Return whether a field says what an object is, in words of its API that every API has words for."""
    return name in ("type", "role") and value.__class__ is str


def _apart(owner: Any) -> Iterator[Note]:
    if getattr(owner, "protected", None) is not None:
        yield Note(owner.protected, None, OPAQUE_STATE, None, {"issuer": owner.protected.issuer})
    for api, residue in (getattr(owner, "extra", None) or {}).items():
        yield from _of_item(owner, api, residue.get(":item", {}))


class Encoded:
    """What an encoder gives: `payload` (plain JSON values) and `losses` (empty: nothing was lost).

    `payload` may share nested values with the model it was made from: treat it as read-only, or copy it.
    """

    __slots__ = ("_context", "_losses", "_root", "_source", "payload")

    def __init__(self, payload: Any, root: Any, context: EncodeContext) -> None:
        self.payload = payload
        self._root = root
        self._context = context
        self._source: tuple[Any, DecodeContext] | None = None
        self._losses: tuple[Loss, ...] | None = None

    def trace_to(self, payload: Any, context: DecodeContext) -> Encoded:
        """Gives the losses the paths of the source payload that the model was decoded from."""
        self._source = (payload, context)
        return self

    @property
    def api(self) -> str:
        """The API of the payload."""
        return self._context.api

    @property
    def source_api(self) -> str | None:
        """The API of the source payload, where it was traced."""
        return None if self._source is None else self._source[1].api

    @property
    def maps(self) -> Maps:
        """What stands for which id and tool name: kept with the transcript, it undoes them in the target's answer."""
        from contentmodel.wire.names import Maps

        return self._context.maps or Maps()

    @property
    def status(self) -> int | None:
        """The HTTP status that the target's API sends with this body: 200 for an answer, None for a request."""
        if self._context.kind == "request":
            return None
        if self._root.error is None or self._root.choices:
            return 200
        return self._context.status or 500

    @property
    def may_lose(self) -> bool:
        """Whether anything was noted: False is sure that nothing was lost, and costs nothing."""
        return bool(self._context.notes)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Every loss, in the order of the source."""
        if self._losses is None:
            self._losses = self._resolve()
        return self._losses

    def to_json(self) -> bytes:
        """The payload as compact UTF-8 JSON."""
        return write(self.payload)

    def __repr__(self) -> str:
        return f"Encoded(payload={self.payload!r}, losses={list(self.losses)!r})"

    def _resolve(self) -> tuple[Loss, ...]:
        notes = [note for note in _notes(self._context) if holds(note)]
        if not notes:
            return ()
        places = ModelPlaces(self._root, self._context.stand_ins, self._context.api)
        if self._source is None:
            return pruned([places.loss(note) for note in notes])
        wires = self._source[1].places(self._source[0])
        for original, stand_in in self._context.stand_ins:
            wires.same(original, stand_in)
        return pruned([loss for note in notes for loss in wires.losses(note, places)])


def loss_of(reason: Reason, path: str, what: str, target: str = "", *, family: str = "other", **values: Any) -> Loss:
    """Return the loss of `what` at `path`, where no encoding is under way that could find the path."""
    return Loss(path, reason.kind, what, reason.text(target, values), family, code=reason.code)


class EncodedStream(msgspec.Struct, frozen=True):
    """A converted stream: `payload`, its bytes, and `losses`, with paths in the response that it folds to."""

    payload: bytes
    losses: tuple[Loss, ...]

    @property
    def maps(self) -> Maps:
        """Nothing: an answer's ids and names stay."""
        from contentmodel.wire.names import Maps

        return Maps()

    def to_json(self) -> bytes:
        """The bytes of the stream."""
        return self.payload


def pruned(losses: list[Loss]) -> tuple[Loss, ...]:
    """Each loss once; parts of what was dropped as a whole are not named again."""
    dropped = {loss.path for loss in losses if loss.kind in ("dropped", "insignificant") and loss.exact}
    kept = (loss for loss in losses if not any(path in dropped for path in _above(loss.path)))
    return tuple(dict.fromkeys(kept))


def _above(path: str) -> list[str]:
    return [path[: match.start()] for match in STEP.finditer(path)][1:] if path != "$" else []


class ModelPlaces:
    """Where each Struct stands in a model value."""

    def __init__(self, root: Any, stand_ins: list[tuple[Any, Any]], target: str) -> None:
        self.target = target
        self.paths: dict[int, str] = {}
        self.owners: dict[int, tuple[Any, str]] = {}
        self._walk(root, "$")
        for original, stand_in in stand_ins:
            if id(original) in self.paths:
                self.paths.setdefault(id(stand_in), self.paths[id(original)])
            if id(original) in self.owners:
                self.owners.setdefault(id(stand_in), self.owners[id(original)])

    def _walk(self, value: Any, path: str) -> None:
        if isinstance(value, msgspec.Struct):
            self.paths.setdefault(id(value), path)
            for name in value.__struct_fields__:
                if name != "extra":
                    self._child(value, getattr(value, name), child_path(path, name))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._walk(item, f"{path}[{index}]")

    def _child(self, owner: Any, value: Any, path: str) -> None:
        if isinstance(value, msgspec.Struct):
            self.owners.setdefault(id(value), (owner, path.rpartition(".")[2]))
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, msgspec.Struct):
                    self.owners.setdefault(id(item), (owner, path.rpartition(".")[2]))
        self._walk(value, path)

    def loss(self, note: Note) -> Loss:
        path = self.paths.get(id(note.owner), "$")
        if note.api is not None:
            path = child_path(child_path(child_path(path, "extra"), note.api), note.field or "")
        elif note.field is not None:
            attribute, _, inside = note.field.partition("$")
            for part in attribute.split("."):
                path = child_path(path, part)
            path += inside
        return self.loss_at(path, note, what_of(note))

    def loss_at(self, path: str, note: Note, what: str, *, exact: bool = True) -> Loss:
        """Return the loss of a note whose path is known."""
        why = note.reason.text(self.target, note.values)
        return Loss(path, note.reason.kind, what, why, family_of(note), exact, note.reason.code)


_FAMILIES = {
    "TextContent": "text",
    "DocumentContent": "media",
    "DataContent": "media",
    "UriContent": "media",
    "HostedFileContent": "media",
    "ReasoningContent": "reasoning",
    "Protected": "reasoning",
    "Citation": "citations",
    "FunctionCallContent": "tools",
    "FunctionResultContent": "tools",
    "CustomToolCallContent": "tools",
    "CustomToolResultContent": "tools",
    "Caller": "tools",
    "FunctionTool": "tool definitions",
    "CustomTool": "tool definitions",
    "HostedTool": "tool definitions",
    "ToolGroup": "tool definitions",
    "ChatMessage": "messages",
    "Usage": "usage",
}


def family_of(note: Note) -> str:
    """The family of content that a loss belongs to."""
    name = type(note.owner).__name__
    if note.field == "annotations":
        return "citations"
    if note.api is not None:
        return "provider fields"
    if note.field is not None and "$" in note.field and not note.field.startswith("options."):
        return "schemas"
    if name in _FAMILIES:
        return _FAMILIES[name]
    if name.endswith(("ToolCallContent", "ToolResultContent")):
        return "hosted tools"
    return "other" if name.endswith("Content") else "settings"


def what_of(note: Note) -> str:
    """The name of what was lost, for people."""
    name = type(note.owner).__name__
    if note.field is None:
        return name
    return (
        f"{note.field.replace('$', '')} of {name}" if note.api is None else wire_key(note.field.removeprefix(":item."))
    )
