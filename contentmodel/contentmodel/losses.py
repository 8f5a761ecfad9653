"""Losses: values that a conversion could not carry, each with its path, kind, code and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from contentmodel.errors import ContentModelError
from contentmodel.hints import AROUND, INSIDE, wire_key
from contentmodel.json import Json, JsonObject
from contentmodel.literals import LossFamily, LossKind
from contentmodel.reasons import UNLISTED, Reason


class Loss(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source value that the target could not represent exactly.

    `path` is the JSON path in the source payload if `convert` made the loss, else the path in the model value that was
    encoded.

    `kind` is one of:

    - "dropped": the value is missing in the target.
    - "degraded": the target has a less specific value.
    - "moved": the target has the value at another place or in another order.
    - "synthesized": the target requires a value that the source does not have.
    - "insignificant": the value is missing, and it has no meaning to any reader.

    `what` names the value and `why` gives the reason, for people. `code` is the reason for programs. It stays the same
    when the text changes. `reasons.REASONS` has all codes; a reason without an entry there is "unlisted".

    `family` is the content family of the value: "text", "reasoning", "media", "citations", "tools", "hosted tools",
    "tool definitions", "schemas", "messages", "settings", "usage", "provider fields" or "other".

    If the loss is not `exact`, the lost value has no exact path: it is somewhere in the value at `path`.
    """

    path: str
    kind: LossKind
    what: str
    why: str
    family: LossFamily = "other"
    exact: bool = True
    code: str = UNLISTED

    @property
    def is_significant(self) -> bool:
        """True if the lost value has a meaning to some reader."""
        return self.kind != "insignificant"


def significant(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """Return the losses without the insignificant ones."""
    return tuple(loss for loss in losses if loss.is_significant)


class LossError(ContentModelError, ValueError):
    """Raised with `on_loss="raise"` if a significant value would be lost. `losses` has every such loss."""

    def __init__(self, api: str, losses: tuple[Loss, ...]) -> None:
        self.losses = losses
        first = losses[0]
        more = f" (and {len(losses) - 1} more)" if len(losses) > 1 else ""
        super().__init__(f"{api} cannot carry {first.what} at {first.path}: {first.why}{more}")


# -- losses without a path ---------------------------------------------------------------------------------------------


class PendingLoss(msgspec.Struct, frozen=True):
    """A loss without a path yet: the model object, its lost field (None: the whole object), and the reason.

    If the field is a JSON value, the path inside of it follows: `parameters$.properties.age.minimum`. `api` is set if
    the field is in the residue of that API. `values` fill the template of the reason.
    """

    owner: object
    field: str | None
    reason: Reason
    api: str | None = None
    values: JsonObject = {}
    above: object = None
    """The owner of a lost part; None if it is not known."""

    def at(self, path: str, target: str, what: str, *, exact: bool = True) -> Loss:
        """Return the loss with its path."""
        reason = self.reason
        family = _family_of(self.owner.__class__.__name__, self.field, self.api is not None)
        return Loss(path, reason.kind, what, reason.text(target, self.values), family, exact, reason.code)


RESIDUE = Reason("residue", "dropped", "")
"""A placeholder for all fields of other APIs in the residue of an object. They are expanded when losses are read."""


_FAMILIES: dict[str, LossFamily] = {
    "TextContent": "text",
    "JsonContent": "tools",
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


def family_of(note: PendingLoss) -> LossFamily:
    """Return the family of content that a loss belongs to."""
    return _family_of(note.owner.__class__.__name__, note.field, note.api is not None)


@lru_cache(4096)
def _family_of(name: str, field: str | None, is_residue: bool) -> LossFamily:
    if field == "annotations":
        return "citations"
    if is_residue:
        return "provider fields"
    if field is not None and "$" in field and not field.startswith("options."):
        return "schemas"
    if name in _FAMILIES:
        return _FAMILIES[name]
    if name.endswith(("ToolCallContent", "ToolResultContent")):
        return "hosted tools"
    return "other" if name.endswith("Content") else "settings"


def what_of(note: PendingLoss) -> str:
    """Return the name of the lost value, for people."""
    name, field = note.owner.__class__.__name__, note.field
    if field is None:
        return name
    if note.api is not None:
        return field if field[:1] != ":" else wire_key(field.removeprefix(AROUND).removeprefix(INSIDE))
    return f"{field.replace('$', '')} of {name}"


# -- losses with a path ------------------------------------------------------------------------------------------------


def loss_of(
    reason: Reason, path: str, what: str, target: str = "", *, family: LossFamily = "other", **values: object
) -> Loss:
    """Return the loss of `what` at `path`, for code that is outside of an encoding."""
    return Loss(path, reason.kind, what, reason.text(target, values), family, code=reason.code)


def pruned(losses: list[Loss]) -> tuple[Loss, ...]:
    """Return the losses without duplicates, and without parts of a value that was dropped as a whole.

    Of several losses that drop the same value, one is kept. An insignificant loss of the whole does not replace a
    significant one of a part.
    """
    gone = [loss for loss in losses if loss.exact and loss.kind in ("dropped", "insignificant")]
    paths = [loss.path for loss in losses]
    distinct = set(paths)
    remaining = losses
    if gone:
        dropped, all_gone = {loss.path for loss in gone if loss.kind == "dropped"}, {loss.path for loss in gone}
        in_order = sorted(distinct)
        inside_dropped = set(_inside(in_order, dropped))
        inside_gone = inside_dropped if len(dropped) == len(all_gone) else set(_inside(in_order, all_gone))
        if inside_gone:
            inside = {"dropped": inside_dropped, "degraded": inside_dropped}
            remaining = [loss for loss in losses if loss.path not in inside.get(loss.kind, inside_gone)]
    if len(distinct) == len(losses):
        return tuple(remaining)
    counts = Counter(paths)
    wholes: dict[str, Loss] = {}
    for loss in sorted((loss for loss in gone if counts[loss.path] > 1), key=_rank):
        wholes.setdefault(loss.path, loss)
    return tuple(
        dict.fromkeys([loss for loss in remaining if loss.path not in wholes or not _is_part_of(loss, wholes)])
    )


def _rank(loss: Loss) -> tuple[bool, bool]:
    """Return the sort key of losses at one path: whole objects before fields, dropped before insignificant ones."""
    return loss.family == "provider fields", loss.kind != "dropped"


def _is_part_of(loss: Loss, wholes: Mapping[str, Loss]) -> bool:
    """Return whether another loss at the same path covers the whole value."""
    whole = wholes[loss.path]
    # Losses without an exact path share the path "$", although they are of different values.
    if whole == loss or loss.path == "$":
        return False
    return whole.kind == "dropped" or loss.family == "provider fields"


def _inside(paths: list[str], dropped: set[str]) -> Iterator[str]:
    """Yield each of the sorted `paths` that is below a path in `dropped`."""
    above: list[str] = []
    for path in paths:
        while above and not path.startswith(above[-1]):
            above.pop()
        if above and any(path[len(whole)] in ".[" for whole in above):
            yield path
        if path in dropped and path != "$":
            above.append(path)


# -- content in values without a place in a target ---------------------------------------------------------------------


_HOLDERS = frozenset(
    {
        *("text", "texts", "content", "contents", "parts", "message", "messages", "prompt", "summary", "transcript"),
        *("thinking", "reasoning", "refusal", "input", "inputs", "args", "arguments", "parameters", "command"),
        *("output", "outputs", "result", "results", "response", "items", "delta", "body", "history"),
        *("data", "url", "uri", "image_url", "imageUrl", "file_data", "fileData", "inlineData", "inline_data"),
        *("functionCall", "functionResponse", "function", "tool_calls", "toolCalls"),
    }
)
"""The names of fields that hold content in the formats of this library, and in those that resemble them."""

_TAGS = frozenset(
    {
        *("type", "kind", "role", "name", "status", "id", "uuid", "mimeType", "mime_type", "media_type", "timestamp"),
        *("model", "version", "sessionId", "encoding", "format", "level", "subtype", "signature"),
    }
)
"""The names of fields whose texts are no content, also inside of fields that hold content."""


def texts_in(value: Json) -> Iterator[str]:
    """Yield the texts that are not blank, at any depth: in fields that hold content, and among objects of a list."""
    pending: list[tuple[Json, bool]] = [(value, False)]
    while pending:
        inner, is_held = pending.pop()
        if inner.__class__ is dict:
            for key, item in inner.items():
                is_tag = key in _TAGS or key.endswith(("_id", "Id", "_at", "UUID"))
                if not is_tag or item.__class__ in (dict, list):
                    pending.append((item, is_held or key in _HOLDERS or key.endswith(("_text", "Text"))))
        elif inner.__class__ is list:
            has_objects = any(item.__class__ is dict for item in inner)
            pending.extend((item, is_held or (has_objects and item.__class__ is not dict)) for item in inner)
        elif is_held and inner.__class__ is str and inner.strip():
            yield inner


def strings_in(value: Json) -> Iterator[str]:
    """Yield all texts of a value without blanks around them, at any depth."""
    pending: list[Json] = [value]
    while pending:
        inner = pending.pop()
        if inner.__class__ is dict:
            pending.extend(inner.values())
        elif inner.__class__ in (list, tuple):
            pending.extend(inner)
        elif inner.__class__ is str:
            yield inner.strip()


def weighed(value: Json) -> bool:
    """Return True, as an entry of `meaningless`: decoding keeps values that may hold content in other fields."""
    return True


def may_hold_content(value: Json) -> bool:
    """Return whether an object or an array may hold a text, a call, a result or a medium."""
    return next(texts_in(value), None) is not None
