"""Tables: all declarations of one API's adapter.

    row("tool_use", FunctionCallContent, {"id": "call_id", "name": "name", "input": "arguments"})

One row declares both directions: encode is the inverse of decode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from contentmodel.content.outcomes import UnknownContent
from contentmodel.engine.context import DecodeContext
from contentmodel.engine.losses.provenance import Place, spelled
from contentmodel.engine.table.codecs import AnyCodec, EnumString
from contentmodel.engine.table.failure_fields import Failure
from contentmodel.engine.table.fields import Field
from contentmodel.engine.table.forms import Form
from contentmodel.engine.table.guests import Guest, Parts, Values
from contentmodel.engine.table.rows import PairRow, Row, Spec
from contentmodel.engine.table.unions import Union
from contentmodel.errors import Fault
from contentmodel.json import JsonObject, kind_of, name_of, value_at, wire_at, wire_path


def row(name: str, model: type[msgspec.Struct], fields: Mapping[str, Spec], *others: Field, **options: Any) -> Row:
    """Return a row for the block whose `type` is `name`. The option `form` names one of several rows of a type."""
    constants = {"type": name, **options.pop("constants", {})}
    form = options.pop("form", None)
    label = ".".join([name, *(str(v) for k, v in constants.items() if k != "type"), *([form] if form else [])])
    return Row(label, model, fields, *others, constants=constants, **options)


def same_options(*names: str, at: str = "") -> dict[str, Spec]:
    """Return the fields of settings whose names are those of `ChatOptions`. `at` is the path before their names."""
    return {f"{at}{name}": f"options.{name}" for name in names}


def enum_at(path: str, *values: str) -> Spec:
    """Return the attribute at `path` with the codec of its enum strings."""
    return path, EnumString(path, *values)


class Table:
    """All declarations of one API's adapter: a factory for its rows, records and unions."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.unions: dict[str, Union] = {}
        self.records: dict[str, Row] = {}
        self.pairs: list[PairRow] = []
        self.values: dict[str, tuple[str, ...]] = {}
        self.kept: dict[str, tuple[str, ...]] = {}
        self.guests: list[Guest] = []
        self.of_items: dict[str, Values] = {}
        """The values of items of other APIs that the format keeps with contents of its own."""

    def record(
        self, name: str, model: type[msgspec.Struct], fields: Mapping[str, Spec], *others: Field, **options: Any
    ) -> Row:
        """Add a row for an object that has one fixed position and no tag. Its class is the option `kind`, or Row."""
        kind: type[Row] = options.pop("kind", Row)
        row = self.records[name] = kind(name, model, fields, *others, **options).bind(self.api)
        return row

    def union(self, name: str, rows: Iterable[Row], **options: Any) -> Union:
        """Add a union: the alternative rows of one position."""
        union = self.unions[name] = Union(self.api, name, rows, **options)
        return union

    def pair(self, call: Row, result: Row, result_fields: Sequence[str], failure: Failure | None = None) -> PairRow:
        """Add a row for a wire object that contains both a call and its result."""
        pair = PairRow(call, result, result_fields, failure).bind(self.api)
        self.pairs.append(pair)
        return pair

    def guest(self, api: str, issuers: Sequence[str], forms: Sequence[Form], parts: Parts, **options: Any) -> Guest:
        """Add a guest: the blocks of a provider that the format has among its parts."""
        guest = Guest(api, issuers, forms, parts, **options)
        self.guests.append(guest)
        return guest

    def keep_of_items(self, api: str, *values: Any, **options: Any) -> None:
        """Declare the values of an API's items that the format keeps with contents of its own, as `Values` does."""
        self.of_items[api] = Values(self.api, *values, **options)

    def known_values(self, name: str, *values: object) -> None:
        """Declare the known values of one field. Other values pass through."""
        self.values[name] = tuple(str(value) for value in values)

    def keep(self, name: str, *fields: str) -> None:
        """Declare known fields of a record that have no neutral counterpart: they stay in the residue.

        Raise TypeError if the record maps one of them.
        """
        record = self.records.get(name)
        mapped = set(record.known_keys()) if record is not None else set()
        if stale := sorted(mapped.intersection(fields)):
            raise TypeError(f"record {name}: {', '.join(stale)} cannot be kept, because the record maps it")
        self.kept[name] = fields

    def describe(self) -> JsonObject:
        """Return the tables as data: every row with its fields, the known values, the kept fields and values."""
        return {
            "api": self.api,
            "pairs": [pair.describe() for pair in self.pairs],
            "values": {name: list(values) for name, values in self.values.items()},
            "kept": {name: list(fields) for name, fields in self.kept.items()},
            "records": {name: r.describe() for name, r in self.records.items()},
            "unions": {name: u.describe() for name, u in self.unions.items()},
            **({"guests": [guest.describe() for guest in self.guests]} if self.guests else {}),
            **(
                {"of_items": {api: kept_values.describe() for api, kept_values in self.of_items.items()}}
                if self.of_items
                else {}
            ),
        }


class Accepts(Protocol):
    """Return whether an API accepts a value of a JSON class or an enum value that is not in the tables."""

    def __call__(self, name: str, value: object, codec: AnyCodec) -> bool: ...


def misfits(payload: JsonObject, context: DecodeContext, accepts: Accepts, *, is_own: bool) -> Iterator[Fault]:
    """Yield a fault for each field whose value has a wrong class or is an unknown enum value. Null is ignored.

    `is_own` is true if the model is the provider's own. Enum values and blocks that hosts may extend are checked only
    then.
    """
    paths = context.paths(payload)
    places = list(paths.places())
    for place in places if is_own else ():
        yield from _without_form(payload, place)
    wires: dict[tuple[str, Any], Any] = {}
    for place in places:
        wires.setdefault((place.path, place.row), place.wire)
    for (path, row), decoded in wires.items():
        wire = decoded if paths.are_plain else value_at(payload, path)
        if wire is not decoded and getattr(row, "api", context.api) != context.api:
            # The part spells the block of a provider. Its form has checked the values.
            continue
        # Some objects are found without a row. The rows of other objects cover their fields.
        for name, key, other_key, codec in row.restricted if wire.__class__ is dict and isinstance(row, Row) else ():
            if key not in wire and other_key not in wire:
                continue
            value = wire_at(wire, name)
            message = None if value is None else _misfit(value, codec, is_own)
            if message is not None and not accepts(name, value, codec):
                yield Fault(spelled(payload, wire_path(path, name)), message)
            if codec.tagged is not None and value.__class__ is dict and (is_own or not codec.other_hosts_add_values):
                tag, known_values = codec.tagged
                message = _strange(value.get(tag), known_values)
                if message is not None and not accepts(f"{name}.{tag}", value[tag], codec):
                    yield Fault(spelled(payload, wire_path(path, f"{name}.{tag}")), message)


def _without_form(payload: JsonObject, place: Place) -> Iterator[Fault]:
    """Yield a fault if the type of an unknown block has several forms, none of which fits its fields."""
    table, wire = place.table, place.wire
    if not isinstance(place.item, UnknownContent) or not isinstance(table, Union) or wire.__class__ is not dict:
        return
    if table.has_forms(wire.get(table.tag)):
        fields = ", ".join(key for key in wire if key != table.tag) or "no other field"
        yield Fault(spelled(payload, place.path), f"no form of {wire[table.tag]} has such fields: {fields}")


def _misfit(value: object, codec: AnyCodec, is_own: bool) -> str | None:
    if codec.classes and value.__class__ not in codec.classes:
        # Every API accepts an integer for a number.
        classes = [kind for kind in codec.classes if kind is not int or float not in codec.classes]
        wanted = " or ".join(dict.fromkeys(map(name_of, classes)))
        return f"expected {wanted}, got {kind_of(value)}"
    return _strange(value, codec.known_values) if is_own or not codec.other_hosts_add_values else None


def _strange(value: object, known_values: frozenset[str] | None) -> str | None:
    """Return a message if a text is not one of the known values."""
    if known_values is None or value.__class__ is not str or value in known_values:
        return None
    return f"{value!r:.60} is none of {', '.join(sorted(known_values))}"
