"""One content at one place of one API: encoded, decoded, and judged.

A case is exact if the content round-trips and no loss is reported. If an adapter raises, the verdict is "error", so
that one adapter cannot break the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import ConfigurationContent, ReferenceContent, ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.context import defaults_of
from contentmodel.hints import COLUMN, ROW
from contentmodel.losses import Loss
from contentmodel.message import Origin
from contentmodel_conformance.matrix.places import Staged, places, remains, staged
from contentmodel_conformance.matrix.samples import Form, fields_of, forms, with_field

__all__ = ["FOREIGN", "ORIGINS", "VERDICTS", "Bench", "Case", "Outcome", "covers", "round_trip", "short"]

VERDICTS = ("exact", "degraded", "dropped", "silent", "error")
"""From good to bad. "silent" is a change without a loss; it is a defect of the adapter, like "error".

Own contents may also be "absent": the API has no such content or field.
"""

ORIGINS = ("own", "foreign")
"""The origins of a conversation: created for the target API ("own"), or decoded from another one ("foreign")."""

FOREIGN = Origin(api="another-api", issuer="another-issuer")
"""The origin of foreign conversations: an API without an adapter."""


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one content: its `form` and `place`, the optional `field` that is tried, and the `verdict`.

    `becomes` lists the content types that replace it. `why` has the texts of the losses, or of the error.
    """

    form: str
    place: str
    verdict: str
    field: str | None = None
    becomes: tuple[str, ...] = ()
    why: tuple[str, ...] = ()


def short(error: Exception) -> str:
    """Return an error as one line of at most 200 characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:197] + "..."


class Outcome(NamedTuple):
    """The outcome of a round trip: the `verdict`, the contents that are `left`, and the texts of the losses."""

    verdict: str
    left: tuple[Any, ...]
    why: tuple[str, ...]


def round_trip(adapter: Any, content: AIContent, place: str, of: str, origin: Origin) -> Outcome:
    """Encode and decode a content. Raises what the adapter raises."""
    stage = staged(content, place, of, origin)
    encode, decode = _verbs(adapter, of)
    encoded = encode(stage.value)
    remaining = remains(content, decode(encoded.payload))
    same = len(remaining) == 1 and _same_role(content, remaining[0][0], stage.role) and covers(content, remaining[0][1])
    losses = [loss for loss in encoded.losses if _concerns(loss, stage)]
    if not same and not losses:
        losses = [loss for loss in encoded.losses if _is_of_pair(loss, stage)]
    return Outcome(
        _verdict(same, remaining, losses), tuple(other for _, other in remaining), tuple(_texts(losses, content))
    )


def _verbs(adapter: Any, of: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    if of == "request":
        return adapter.encode_request, adapter.decode_request
    return adapter.encode_response, adapter.decode_response


def _verdict(same: bool, remaining: list[Any], losses: list[Loss]) -> str:
    if same:
        return "degraded" if losses else "exact"
    if not losses:
        return "silent"
    return "degraded" if remaining else "dropped"


class Bench:
    """One adapter, tried in requests or answers (`of`), with own or foreign contents (`origin`)."""

    def __init__(self, adapter: Any, of: str, origin: str) -> None:
        self.adapter, self.of, self.is_own = adapter, of, origin == "own"

    def cases(self, kind: type[AIContent]) -> tuple[Case, ...]:
        """Return every case of a content type: its forms, and for each that is not lost, every optional field."""
        try:
            if isinstance(self.adapter, Exception):
                raise self.adapter
            return tuple(self._cases(kind))
        except Exception as error:  # Third-party adapters may raise anything, also in `describe`.
            return (Case(form="any", place="anywhere", verdict="error", why=(short(error),)),)

    @cached_property
    def origin(self) -> Origin:
        """The origin of the contents."""
        return Origin(api=self.adapter.api, issuer=self.adapter.issuer) if self.is_own else FOREIGN

    @cached_property
    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of the adapter's table, by the name of their content type."""
        described = self.adapter.describe()
        rows = [row for union in described.get("unions", {}).values() for row in union["rows"]]
        rows += [row for pair in described.get("pairs", ()) for row in pair.values()]
        rows += described.get("records", {}).values()
        by_type: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            by_type.setdefault(row["model"], []).append(row)
        return by_type

    def _cases(self, kind: type[AIContent]) -> Iterator[Case]:
        for form in forms(kind, self.origin.api, self.origin.issuer):
            for place in places(form.content, self.of):
                content, plain = self._plain(form, place)
                yield plain
                if plain.verdict not in ("dropped", "error"):
                    yield from self._fields(Form(form.name, content), plain)

    def _plain(self, form: Form, place: str) -> tuple[AIContent, Case]:
        """Try a form at a place. Own contents are tried in the form that the API would send."""
        case, remaining = self._try(form, place, None)
        if case.verdict == "exact" or not self.is_own:
            return form.content, case
        for variant in (form.content, *self._api_forms(form.content)):
            again, remaining = self._try(Form(form.name, variant), place, None)
            sendable = next((decoded for decoded in remaining if _is_equivalent(variant, decoded)), variant)
            if again.verdict == "silent" and sendable is not variant:
                again, _ = self._try(Form(form.name, sendable), place, None)
            if again.verdict == "exact":
                return sendable, again
        return form.content, self._absent(case, form.content)

    def _absent(self, case: Case, content: AIContent) -> Case:
        """Return the case as "absent" if the API never sends this: a type without a row, or unknown opaque state."""
        named_loss = case.verdict in ("degraded", "dropped")
        unknown = case.verdict == "silent" and type(content).__name__ not in self._rows
        if unknown or (named_loss and content.protected is not None):
            return msgspec.structs.replace(case, verdict="absent")
        return case

    def _api_forms(self, content: AIContent) -> Iterator[AIContent]:
        """Yield the content as each row of the table has it: calls and settings get the API's names.

        If an API has several forms of a content, a hint selects the form.
        """
        for row in self._rows.get(type(content).__name__, ()):
            if isinstance(content, ConfigurationContent):
                settings = {key: {"effort": "low"} for key in list(row["fields"])[:1]}
                yield msgspec.structs.replace(content, kind=row["name"], settings=settings)
            elif isinstance(content, ToolCallContent):
                yield msgspec.structs.replace(content, name=row["name"].rpartition(".")[2])
            elif not isinstance(content, DataContent):
                # The row of data follows from its media type: another row would be wrong.
                yield ROW.on(content, self.adapter.api, row["name"])
        if isinstance(content, ReasoningContent):
            columns = (row["fields"] for row in self._rows.get("ChatMessage", ()))
            for column in dict.fromkeys(name for fields in columns for name in fields if "reason" in name):
                yield COLUMN.on(content, self.adapter.api, column)

    def _try(self, form: Form, place: str, field: str | None) -> tuple[Case, tuple[Any, ...]]:
        try:
            verdict, remaining, why = round_trip(self.adapter, form.content, place, self.of, self.origin)
        except Exception as error:  # Third-party adapters may raise anything.
            verdict, remaining, why = "error", (), (short(error),)
        names = dict.fromkeys(type(decoded).__name__ for decoded in remaining)
        same = tuple(names) == (type(form.content).__name__,)
        case = Case(
            form=form.name, place=place, field=field, verdict=verdict, becomes=() if same else tuple(names), why=why
        )
        return case, remaining

    def _fields(self, form: Form, plain: Case) -> Iterator[Case]:
        """Yield a case for each field. It has only the losses that the form without the field does not have."""
        variants = [
            variant for name in fields_of(type(form.content)) for variant in with_field(form, name, self.origin.issuer)
        ]
        for variant in variants:
            case = self._field(form, variant, plain.place)
            why = tuple(reason for reason in case.why if reason not in plain.why)
            if case.verdict == plain.verdict and not why:
                yield msgspec.structs.replace(case, verdict="exact", why=())
            elif self.is_own and case.verdict != "error" and not self._has(type(form.content), variant.name):
                # The API has no such field, so it never sends it.
                yield msgspec.structs.replace(case, verdict="absent", why=why)
            else:
                yield msgspec.structs.replace(case, why=why)

    def _field(self, form: Form, variant: Form, place: str) -> Case:
        """Try a form with one more field. Own citations are tried in the form of each row."""
        case, _ = self._try(Form(form.name, variant.content), place, variant.name)
        if case.verdict == "exact" or not self.is_own or not variant.content.annotations:
            return case
        for row in self._rows.get("Citation", ()):
            cited = [ROW.on(citation, self.adapter.api, row["name"]) for citation in variant.content.annotations]
            content = msgspec.structs.replace(variant.content, annotations=cited)
            again, _ = self._try(Form(form.name, content), place, variant.name)
            if again.verdict == "exact":
                return again
        return case

    def _has(self, kind: type[AIContent], field_name: str) -> bool:
        """Return whether a row of the table has the field for this type."""
        name = field_name.partition(" ")[0]
        fields = (field for row in self._rows.get(kind.__name__, ()) for field in row["fields"].values())
        return any(name in (part.partition(".")[0] for part in field["attribute"].split(", ")) for field in fields)


_API_FIELDS = frozenset({"arguments", "call_id", "executor", "extra", "kind", "name", "settings"})
"""Fields of calls and settings that APIs represent differently: the executor, names and arguments."""


def _is_equivalent(content: AIContent, decoded: Any) -> bool:
    """Return whether a decoded content equals the original, except for API-specific fields (`_API_FIELDS`)."""
    names = (name for name in content.__struct_fields__ if name not in _API_FIELDS)
    return type(decoded) is type(content) and all(covers(getattr(content, n), getattr(decoded, n)) for n in names)


def _concerns(loss: Loss, stage: Staged) -> bool:
    """Return whether a loss concerns the content or its whole turn, and not the scaffold."""
    whole, inner = stage.paths[0], stage.paths[-1]
    below = loss.path.startswith((f"{inner}.", f"{inner}[")) or loss.path == inner
    return below or loss.path in (whole, f"{whole}.role", f"{whole}.contents")


def _is_of_pair(loss: Loss, stage: Staged) -> bool:
    """Return whether a loss concerns the call of a result: both are lost together."""
    return stage.pair is not None and loss.path == stage.pair


def _texts(losses: Iterable[Loss], content: AIContent) -> dict[str, None]:
    return dict.fromkeys(_text(loss, type(content).__name__) for loss in losses)


def _text(loss: Loss, name: str) -> str:
    subject = "" if loss.what == name else f"{loss.what.removesuffix(f' of {name}')} "
    return f"{subject}{loss.kind}: {loss.why}"


_ROLES = {"developer": "system", "tool": "user", "model": "assistant"}


def _same_role(content: AIContent, one: str, other: str) -> bool:
    """Return whether the role is equivalent. Some types (a change of tools) have no relevant role."""
    if isinstance(content, ToolChangeContent | ConfigurationContent | ReferenceContent):
        return True
    return _ROLES.get(one, one) == _ROLES.get(other, other)


def covers(original: Any, decoded: Any) -> bool:
    """Return whether `decoded` has all values that are set in `original`. It may have more, such as ids or a status.

    A JSON value and its compact text are equal.
    """
    if isinstance(original, JsonContent) and isinstance(decoded, TextContent):
        fields = {name: getattr(original, name) for name in ("annotations", "protected", "cache_point")}
        original = TextContent(text=original.text, **fields)
    if isinstance(original, msgspec.Struct):
        if type(original) is not type(decoded):
            return False
        defaults = defaults_of(type(original))
        names = (name for name in original.__struct_fields__ if name != "extra")
        set_names = (name for name in names if getattr(original, name) != defaults.get(name))
        return all(_same_field(name, getattr(original, name), getattr(decoded, name)) for name in set_names)
    if isinstance(original, list):
        return isinstance(decoded, list) and len(original) == len(decoded) and all(map(covers, original, decoded))
    return bool(original == decoded)


def _same_field(name: str, original: Any, decoded: Any) -> bool:
    """Compare one field. Arguments as an object and as its JSON text are equal."""
    return covers(original, decoded) or (name == "arguments" and _as_object(original) == _as_object(decoded))


def _as_object(arguments: Any) -> Any:
    try:
        return msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
    except msgspec.DecodeError:
        return arguments
