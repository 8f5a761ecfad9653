"""Rows: mappings between one wire object and one model type.

The fields of a row map wire paths ("source.data" is inside a nested object) to model attributes ("options.seed" is
inside a nested Struct), with a codec if the two sides differ. Unmapped values are the residue. A row is compiled to two
plain functions on first use (`engine/table/compile.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses.records import RECORDS
from contentmodel.engine.table.codecs import AnyCodec, Codec, Place, codec_for
from contentmodel.engine.table.compile import Decode, Encode, Functions, generated, plain
from contentmodel.engine.table.fields import (
    Aliases,
    Columns,
    Field,
    Filled,
    Gathered,
    Group,
    Implied,
    ProtobufJson,
    Rest,
    Silent,
)
from contentmodel.engine.table.introspect import attribute_of, fields_of, get_attribute, unmapped_attributes
from contentmodel.engine.table.nested import Blocks
from contentmodel.engine.table.respelling import decode_respelled, is_respelled
from contentmodel.engine.table.tree import Column, Nested, Plain
from contentmodel.hints import wire_fields
from contentmodel.json import Json, JsonObject, dotted_key, path_keys, snake_name, wire_at, wire_path

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolCallContent, ToolResultContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.failure_fields import Failure, Shape
    from contentmodel.engine.table.respelling import Verbatim


Spec = str | tuple[str | tuple[str, ...], AnyCodec]


class Row:
    """A mapping between one wire object and its model type, in both directions.

    - `constants`: wire values that distinguish the row from others.
    - `select`: a field, and its values that select this row. If neither `select` nor `constants` distinguish rows, the
      required fields do.
    - `certain`: a value that this row decoded is always encoded by this row, so it needs no hint.
    - `shape`: the row decodes blocks of that form whose tag has no row.
    - `failure`: the fields that report a failed tool.
    - `preferred_for`: returns whether a content of the row's class is usually encoded by this row.
    - `verbatim`: the fields whose exact wire value is kept.
    - `accepts`: a further condition for wire objects, if the required fields do not distinguish the row.
    - `is_generated`: whether code is generated for the row. A row that is made for one name in a payload needs none.
    """

    def __init__(
        self,
        name: str,
        model: type[msgspec.Struct],
        fields: Mapping[str, Spec],
        *others: Field,
        constants: Mapping[str, Json] | None = None,
        select: tuple[str, Collection[str | int]] | None = None,
        certain: bool = False,
        shape: Shape | None = None,
        failure: Failure | None = None,
        preferred_for: Callable[[Any], bool] | None = None,
        verbatim: Verbatim | None = None,
        accepts: Callable[[JsonObject], bool] | None = None,
        is_generated: bool = True,
    ) -> None:
        """Create a row of `fields`, by dotted wire path, and `others`, at most one of each kind but groups.

        Raise TypeError if two fields have the same path, or two of the others are of one kind.
        """
        self.name = name
        self.shape, self.failure, self.preferred_for, self.verbatim = shape, failure, preferred_for, verbatim
        self.reported_failure = failure
        """The fields that report a failure, including those of a wire object that is both a call and its result."""
        self.model = model
        self.select, self._accepts, self._is_generated = select, accepts, is_generated
        self.certain = certain
        self.constants = dict(constants or {})
        self.api = ""
        self.is_one_of = False
        all_fields = others if _find(Silent, others) else (*others, Silent())
        self.others = sorted(all_fields, key=_order)
        single = [_order(field) for field in all_fields if not isinstance(field, Group)]
        if len(set(single)) < len(single):
            raise TypeError(f"row {name}: two fields of the same class, expected at most one")
        self.columns = _find(Columns, all_fields)
        rest, implied, aliases = _find(Rest, all_fields), _find(Implied, all_fields), _find(Aliases, all_fields)
        self.rest = rest.attributes[0] if rest is not None else None
        """The attribute that holds all unmapped fields; None if they are residue."""
        self.implied: Mapping[str, Json] = implied.values if implied is not None else {}
        """The attributes whose value is implied by the row."""
        self.protobuf_json = _find(ProtobufJson, all_fields) is not None
        self.aliases: Mapping[str, str] = aliases.names if aliases is not None else {}
        self.root = Nested()
        self._add_fields(fields)
        for field in self.others:
            field.join(self)
        self.check_required()
        self._holds = self.root.holders()
        self._fields: dict[tuple[str, bool], list[str]] = {}
        """The wire fields of attributes that were looked up."""
        self._required = [leaf for leaf in self.root.leaves() if leaf.required]
        self._decode: Decode | None = None
        self._encode: Encode | None = None

    # -- building ----------------------------------------------------------------------------------------------

    def _add_fields(self, fields: Mapping[str, Spec]) -> None:
        for path, value in self.constants.items():
            *parents, key = path_keys(path)
            self.root.at(parents).constants[key] = value  # type: ignore[union-attr]
        for path, spec in fields.items():
            target, codec = self._spec_of(path, spec)
            attributes = (target,) if isinstance(target, str) else target
            (kind, required, _), *_ = infos = [self._attribute_of(path, attribute) for attribute in attributes]
            defaults = tuple(default for _, _, default in infos)
            if codec is not None:
                codec.check(kind, f"row {self.name}: field {path}, attribute {attributes[0]}")
            is_required = required or bool(codec and codec.mandatory)
            is_other = attributes[0] in self.attributes
            codec = codec or codec_for(kind, f"row {self.name}: field {path}, attribute {attributes[0]}")
            field = Plain(path, attributes, codec, is_required, defaults, is_alternative=is_other)
            self.put(path, field)

    def _spec_of(self, path: str, spec: Any) -> tuple[str | tuple[str, ...], AnyCodec | None]:
        """Return the attribute of a field, and its codec. Raise TypeError if it is neither of the two forms."""
        if isinstance(spec, str):
            return spec, None
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise TypeError(
                f'row {self.name}: field {path} is {spec!r:.60}: write "attribute", or ("attribute", codec)'
            )
        if not isinstance(spec[1], Codec):
            fix = f"write {spec[1].__name__}(...)" if isinstance(spec[1], type) else "pass a Codec"
            raise TypeError(f"row {self.name}: the codec of field {path} is {spec[1]!r:.60}: {fix}")
        return spec

    def _attribute_of(self, path: str, attribute: str) -> tuple[object, bool, object]:
        try:
            return attribute_of(self.model, attribute)
        except TypeError as error:
            raise TypeError(f"row {self.name}: field {path}: {error}") from None

    def check_required(self) -> None:
        """Raise TypeError if no field sets an attribute that a value of the row's class needs."""
        names = {name.partition(".")[0] for name in self.attributes} | set(self.implied)
        names |= {name for field in self.others for name in field.attributes}
        for info in fields_of(self.model):
            if info.required and info.name not in names:
                fix = f'map a field to "{info.name}", or add Implied({{"{info.name}": ...}})'
                raise TypeError(f"row {self.name}: {self.model.__name__} needs {info.name}, which no field sets: {fix}")

    def put(self, path: str, field: Plain | Column) -> None:
        """Add a field to the tree. Raise TypeError if its path is taken, or leads through another field."""
        if not self.root.put(path, field):
            raise TypeError(f"row {self.name}: {path} is mapped twice")

    def unmapped(self, silent: Sequence[str] = ()) -> Iterator[str]:
        """Yield the model attributes that the row does not map, except the `silent` ones."""
        mapped = self.attributes | {name for field in self.others for name in field.attributes}
        elsewhere = {"extra", "origin", *RECORDS.get(self.model, ()), *silent}
        if self.model is not FunctionCallContent:
            # Steps report the executor of all other calls: of those of hosted tools.
            elsewhere.add("executor")
        yield from unmapped_attributes(self.model, "", mapped | elsewhere)

    @property
    def attributes(self) -> set[str]:
        """The model attributes that plain fields map."""
        return {name for leaf in self.root.leaves() for name in leaf.attributes}

    def nested_leaves(self) -> list[Plain]:
        """Return the plain fields of nested objects."""
        return [leaf for node in self.root.children.values() if isinstance(node, Nested) for leaf in node.leaves()]

    @property
    def default_tag(self) -> tuple[str, str | int] | None:
        """The field that selects the row, and the value to write if it is unset; None if the row maps no such field."""
        if self.select is None or self.select[0] not in self.root.children:
            return None
        return self.select[0], next(iter(self.select[1]))

    @property
    def has_residue(self) -> bool:
        """True if the model has an attribute for unmapped fields."""
        return "extra" in self.model.__struct_fields__

    # -- use ---------------------------------------------------------------------------------------------------

    def bind(self, api: str) -> Row:
        """Set the API whose residue this row reads and writes."""
        if self.api and self.api != api:
            raise TypeError(f"row {self.name} belongs to {self.api}: it cannot be used for {api}")
        self.api = api
        return self

    def decode(self, wire: JsonObject, context: DecodeContext) -> Any:
        """Decode a wire object."""
        if self._decode is None:
            self._compile()
        return self._decode(wire, context)  # type: ignore[misc]

    def encode(self, value: Any, context: EncodeContext) -> JsonObject:
        """Encode a model value."""
        if self._encode is None:
            self._compile()
        return self._encode(value, context)  # type: ignore[misc]

    def _compile(self) -> None:
        pair = generated(self) if self._is_generated else plain(self)
        if self.verbatim is not None:
            pair = self.verbatim.around(*pair, self)
        self._decode, self._encode = pair if self.failure is None else self.failure.around(*pair, self.model)
        # From now on, these are the row's own methods, if no subclass has others.
        if type(self).decode is Row.decode:
            self.decode = self._decode  # type: ignore[method-assign, assignment]
        if type(self).encode is Row.encode:
            self.encode = self._encode  # type: ignore[method-assign, assignment]

    @property
    def functions(self) -> Functions:
        """The compiled functions: decode, encode."""
        if self._decode is None:
            self._compile()
        return self._decode, self._encode  # type: ignore[return-value]

    # -- slow paths of the compiled functions ----------------------------------------------------------------------

    def residue(self, wire: Mapping[str, Json]) -> JsonObject:
        """Return the parts of `wire` that no field, constant or column consumes."""
        holds = self._holds
        if holds is None:
            residue = self.root.residue(wire)
        else:
            residue = {key: value for key, value in wire.items() if key not in holds or not holds[key](value)}
        for field in self.others:
            for key in field.consumed(wire):
                residue.pop(key, None)
        return residue

    def known_keys(self) -> Iterator[str]:
        """Yield the top-level keys of the wire object that the row maps."""
        yield from self.root.constants
        yield from self.root.children
        for field in self.others:
            yield from field.keys

    def merge(self, residue: Mapping[str, Json], wire: JsonObject) -> None:
        """Fill `wire` with the fields of the residue. Fields that the model sets keep the model's value."""
        fields = wire_fields(residue)
        if fields:
            self.root.merge(fields, wire)

    @property
    def required_fields(self) -> frozenset[str]:
        """The dotted paths of the fields that the row requires."""
        return frozenset(leaf.wire for leaf in self._required)

    def conditions(self, tag: str) -> list[tuple[tuple[str, ...], Callable[[Any], bool]]]:
        """Return what a wire object must have beside its tag: the keys of each value, and a test of the value."""
        constants = [(path_keys(path), _is(value)) for path, value in self.constants.items() if path != tag]
        required = [(path_keys(leaf.wire), leaf.codec.holds) for leaf in self._required]
        others = () if self.select is None else self.select[1]
        chosen = [] if self.select is None else [(path_keys(self.select[0]), lambda value: value in others)]
        conditions: list[tuple[tuple[str, ...], Callable[[Any], bool]]] = [*constants, *chosen, *required]
        return conditions if self._accepts is None else [*conditions, ((), self._accepts)]

    @property
    def condition(self) -> Callable[[JsonObject], bool]:
        """The fastest function that returns whether a wire object fits."""
        is_alone = self.select is None and not self._required
        return self._accepts if is_alone and self._accepts else self.fits

    def fits(self, wire: JsonObject) -> bool:
        """Return whether a wire object has the required fields, and the value that selects this row."""
        if self.select is not None:
            value = wire_at(wire, self.select[0])
            if value.__class__ not in (str, int) or value not in self.select[1]:
                return False
        for leaf in self._required:
            if not leaf.codec.holds(wire_at(wire, leaf.wire)):
                return False
        return self._accepts is None or self._accepts(wire)

    def is_respelled(self, wire: JsonObject) -> bool:
        """Return whether a known field is not in its usual spelling."""
        return is_respelled(self, wire)

    def decode_respelled(self, wire: JsonObject, context: DecodeContext) -> msgspec.Struct:
        """Decode a copy in the usual spelling, and keep the original spelling in hints."""
        return decode_respelled(self, wire, context)

    def missing(self, wire: JsonObject, path: str, context: DecodeContext) -> msgspec.Struct:
        """Report a missing or invalid required field as a fault, and return a substitute for the object.

        In a union, the substitute is UnknownContent, and a null is no fault.
        """
        *parents, key = path_keys(path)
        container: JsonObject = wire
        wanted = _wanted(self.root, path)
        for parent in parents:
            inner = container.get(parent)
            if not isinstance(inner, dict):
                key, wanted = parent, "object"
                break
            container = inner
        value = container.get(key)
        if key in container and value is None and self.is_one_of:
            return UnknownContent(api=self.api, block=wire)
        if key in container:
            context.expected(container, key, wanted, value)
        else:
            context.fault(container, key, f"missing {wanted}")
        return UnknownContent(api=self.api, block=wire) if self.is_one_of else self._placeholder()

    def _placeholder(self) -> msgspec.Struct:
        """Return a placeholder of the row's class, so that decoding can continue and find all faults."""
        required = (f.name for f in fields_of(self.model) if f.required)
        return self.model(**dict.fromkeys(required, ""))

    # -- lookups by other modules ------------------------------------------------------------------------------

    def places(self, value: object, wire: JsonObject, path: str) -> Iterator[Place]:
        """Yield the origins of the model objects in `value`, which was decoded from `wire` at `path`."""
        for leaf in self._leaves_with_places:
            inner = wire_at(wire, leaf.wire)
            part = get_attribute(value, leaf.attribute)
            if part is not None and inner is not None and leaf.holds(inner):
                yield from leaf.codec.places(part, inner, wire_path(path, leaf.wire))
        if self.reported_failure is not None:
            yield from self.reported_failure.places(value, wire, path, self.api)
        if self.columns is not None:
            yield from self.columns.places(value, wire, path)

    def element_at(self, attribute: str, index: int, wire: JsonObject, path: str) -> tuple[str, Json, Any] | None:
        """Return the path, the wire value and the row finder of one element of a list; None if `places` has to tell.

        They are the same as those that `places` yields for this element.
        """
        codec, key, step = self._lists.get(attribute, (None, "", ""))
        wires = wire.get(key) if codec is not None else None
        if wires.__class__ is not list or index >= len(wires):
            return None
        return f"{path}{step}[{index}]", wires[index], codec.union

    @cached_property
    def _lists(self) -> dict[str, tuple[Any, str, str]]:
        """The only field of each attribute whose elements were decoded each from its own element of a list.

        It is a key of the wire object: the codec, the key, and the step to it in a path.
        """
        leaves = self._leaves_with_places
        attributes = [leaf.attribute for leaf in leaves]
        return {
            leaf.attribute: (leaf.codec, leaf.wire, wire_path("", leaf.wire))
            for leaf in leaves
            if isinstance(leaf.codec, Blocks) and type(leaf.codec).places is Blocks.places
            if not leaf.codec.holds_by_elements
            if attributes.count(leaf.attribute) == 1 and "." not in leaf.wire
        }

    @cached_property
    def _leaves_with_places(self) -> list[Plain]:
        """The plain fields that hold model objects."""
        return [leaf for leaf in self.root.leaves() if type(leaf.codec).places is not Codec.places]

    def counts(self, wire: JsonObject) -> Iterator[tuple[str, int]]:
        """Yield the columns that a wire object fills, in order, with the number of contents of each."""
        return iter(()) if self.columns is None else self.columns.counts(wire)

    def row_of(self, value: object) -> Row:
        """Return the row itself. A union has the same method."""
        return self

    def fields_of(self, attribute: str, wire: Mapping[str, Json], *, parts: bool = True) -> list[str]:
        """Return the wire fields of an attribute; [] if it has none.

        In order of preference: the fields of the whole attribute, the fields of its `parts`, the field of an attribute
        that contains it as a whole, or the key in it if it has one of that name.
        """
        only = _key_in(self.rest, attribute, wire)
        if only is not None:
            return [dotted_key(only)]
        fields = self._fields.get((attribute, parts))
        if fields is None:
            fields = self._fields[attribute, parts] = self._mapped_fields(attribute, parts=parts)
        if attribute == self.rest:
            fields = [*fields, *_paths_in(self.residue(wire), wire)]
        if fields or "." not in attribute:
            return fields
        above, _, name = attribute.rpartition(".")
        return [_inside(field, name, wire) for field in self.fields_of(above, wire, parts=False)]

    def _mapped_fields(self, attribute: str, *, parts: bool) -> list[str]:
        leaves = list(self.root.leaves())
        fields = [leaf.wire for leaf in leaves if attribute in leaf.attributes]
        inside = f"{attribute}."
        if parts and not fields:
            fields = [leaf.wire for leaf in leaves if any(name.startswith(inside) for name in leaf.attributes)]
        for field in self.others:
            fields += field.keys_of(attribute)
        fields += [alias for alias, usual in self.aliases.items() if _beside(alias, usual) in fields]
        return fields or (list(self.constants)[:1] if attribute in self.implied else [])

    def codecs(self) -> Iterator[tuple[str, AnyCodec]]:
        """Yield each field's path in the wire object with its codec."""
        yield from self.root.codecs()

    @cached_property
    def restricted(self) -> list[tuple[str, str, str, AnyCodec]]:
        """The fields that take certain JSON classes or values alone.

        Each has its path in the wire object, the first key of the path, the same in snake case, and its codec.
        """
        codecs = [(path, path_keys(path)[0], codec) for path, codec in self.codecs()]
        return [
            (path, key, snake_name(key), codec)
            for path, key, codec in codecs
            if codec.classes or codec.known_values is not None or codec.tagged is not None
        ]

    def leaf_at(self, path: str) -> Plain | None:
        """Return the field at a JSON path of the wire object; None if there is none."""
        return next((leaf for leaf in self.root.leaves() if path == wire_path("$", leaf.wire)), None)

    def attribute_at(self, path: str) -> tuple[str, str] | None:
        """Return the attribute at a JSON path of the wire object, and the rest of the path; None if there is none."""
        for leaf in self.root.leaves():
            field_path = wire_path("$", leaf.wire)
            if path == field_path or path.startswith((f"{field_path}.", f"{field_path}[")):
                return leaf.attribute, path[len(field_path) :]
        for key in self.columns.columns if self.columns is not None else ():
            field_path = wire_path("$", key)
            if path == field_path or path.startswith(f"{field_path}["):
                return self.columns.attributes[0], path[len(field_path) :]  # type: ignore[union-attr]
        return None

    def describe(self) -> JsonObject:
        """Return the row as data, for documentation, coverage and generators."""
        fields = {
            leaf.wire: {
                "attribute": ", ".join(leaf.attributes),
                "form": leaf.codec.describe(),
                "required": leaf.required,
            }
            for leaf in self.root.leaves()
        }
        for field in self.others:
            fields.update(field.describe())
        described: JsonObject = {
            "name": self.name,
            "model": self.model.__name__,
            "constants": self.constants,
            "fields": fields,
        }
        if self.protobuf_json:
            described["protobuf_json"] = True
        if self.aliases:
            described["aliases"] = self.aliases
        if self.shape is not None:
            described["shape"] = self.shape.describe()
        if self.failure is not None:
            described["failure"] = self.failure.describe()
        return described


_ORDER: tuple[type[Field], ...] = (Gathered, Group, Rest, Columns, ProtobufJson, Aliases, Filled, Silent, Implied)
_F = TypeVar("_F", bound=Field)


def _order(field: Field) -> int:
    return next(number for number, kind in enumerate(_ORDER) if isinstance(field, kind))


def _find(kind: type[_F], fields: Iterable[Field]) -> _F | None:
    return next((field for field in fields if isinstance(field, kind)), None)


def _is(wanted: Json) -> Callable[[object], bool]:
    # In Python, 1 == True.
    return lambda value: value == wanted and value.__class__ is wanted.__class__


class PairRow:
    """One wire object that is both a call and its result: two contents with one call id.

    `result_fields` are the wire fields of the result. Decoding puts the result right after its call, and encoding
    joins them. Either half may be missing. `failure` has the fields of the object that report a failed tool.
    """

    def __init__(self, call: Row, result: Row, result_fields: Sequence[str], failure: Failure | None = None) -> None:
        self.call, self.result, self.result_fields, self.failure = call, result, tuple(result_fields), failure
        result.reported_failure = failure
        self.name = call.name

    def bind(self, api: str) -> PairRow:
        """Set the API whose residue both rows read and write."""
        self.call.bind(api)
        self.result.bind(api)
        return self

    def decode(self, wire: JsonObject, context: DecodeContext) -> list[Any]:
        """Decode the call and its result."""
        result_part = {key: wire[key] for key in self.result_fields if key in wire}
        call_part = {key: value for key, value in wire.items() if key not in result_part} if result_part else wire
        context.copied(result_part, wire)
        context.copied(call_part, wire)
        call = self.call.decode(call_part, context)
        if call.__class__ is UnknownContent:
            return [UnknownContent(api=self.call.api, block=wire)]
        result = self.result.decode(result_part, context)
        if result.__class__ is UnknownContent:
            return [UnknownContent(api=self.call.api, block=wire)]
        result = msgspec.structs.replace(result, call_id=call.call_id)
        return [call, result if self.failure is None else self.failure.read(result, wire, context)]

    def row_of(self, value: object) -> Row:
        """Return the row of a call or of a result."""
        return self.result if value.__class__ is self.result.model else self.call

    def encode(
        self, call: ToolCallContent | None, result: ToolResultContent | None, context: EncodeContext
    ) -> JsonObject:
        """Encode a call, its result, or both as one wire object."""
        head: msgspec.Struct | None = call
        if call is None and result is not None and context.completes:
            head = self.call.model(call_id=result.call_id)
        wire = self.call.encode(head, context) if head is not None else dict(self.call.constants)
        if result is None:
            return wire
        plain = result if self.failure is None else self.failure.without(result, context)
        wire.update(self.result.encode(plain, context))
        if head is None and result.call_id is not None:
            wire.setdefault("id", result.call_id)
        if self.failure is not None:
            self.failure.write(result, wire, context)
        return wire

    def describe(self) -> JsonObject:
        """Return both rows as data. The result includes the fields that report a failure."""
        result = self.result.describe()
        if self.failure is not None:
            result["failure"] = self.failure.describe()
        return {"call": self.call.describe(), "result": result}


class Fields:
    """The wire fields of a model value's attributes, for values that no row decodes.

    The attribute `rest` has all other fields.
    """

    def __init__(self, paths: Mapping[str, str], rest: str | None = None) -> None:
        self._paths, self._rest = paths, rest

    def row_of(self, value: object) -> Fields:
        return self

    def places(self, value: object, wire: JsonObject, path: str) -> Iterator[Place]:
        """Return no places: the code that decodes such a value traces its parts."""
        return iter(())

    def fields_of(self, attribute: str, wire: Mapping[str, Json]) -> list[str]:
        """Return the wire fields of an attribute: of itself or its parts, else of an attribute that contains it."""
        only = _key_in(self._rest, attribute, wire)
        if only is not None:
            return [only]
        if attribute == self._rest:
            return [key for key in wire if key not in self._paths.values()]
        fields = [key for name, key in self._paths.items() if name == attribute or name.startswith(f"{attribute}.")]
        return fields or (self.fields_of(attribute.rpartition(".")[0], wire) if "." in attribute else [])


class Pieces(Fields):
    """The fields of a value that was decoded from a part of a wire object: the fields of `paths`, or all but `others`.

    If the value is lost as a whole, each of these fields is a loss, not the object.
    """

    def __init__(self, paths: Mapping[str, str], others: Collection[str] | None = None) -> None:
        super().__init__(paths)
        self._own, self._others = tuple(paths.values()), others

    def pieces(self, wire: Mapping[str, Json]) -> list[str]:
        """Return the fields of the value that a wire object has."""
        if self._others is not None:
            return [name for name in wire if name not in self._others]
        return [name for name in self._own if wire_at(wire, name) is not None]


def _inside(field: str, name: str, wire: Mapping[str, Json]) -> str:
    """Return the path of a key in the object at a dotted path; the path itself if the object does not have the key."""
    value = wire_at(wire, field)
    return f"{field}.{dotted_key(name)}" if isinstance(value, dict) and name in value else field


def _paths_in(residue: Mapping[str, Json], wire: Mapping[str, Json]) -> Iterator[str]:
    """Yield the dotted path of each field of the residue. Of an object with other fields, yield those of its parts."""
    for key, value in residue.items():
        whole = wire.get(key)
        if value == whole or value.__class__ is not dict or whole.__class__ is not dict:
            yield dotted_key(key)
        else:
            yield from (f"{dotted_key(key)}.{path}" for path in _paths_in(value, whole))


def _key_in(rest: str | None, attribute: str, wire: Mapping[str, Json]) -> str | None:
    """Return the key that `attribute` names in the attribute `rest`, which has all other fields; else None."""
    key = attribute.removeprefix(f"{rest}.") if rest is not None else attribute
    return key if key != attribute and key in wire else None


def _wanted(root: Nested, path: str) -> str:
    for leaf in root.leaves():
        if leaf.wire == path:
            return leaf.codec.describe().replace("str", "string").replace("dict", "object")
    return "value"


def _beside(alias: str, name: str) -> str:
    """Return the dotted path of the field `name` beside the field `alias`."""
    parent, dot, _ = alias.rpartition(".")
    return f"{parent}{dot}{name}"


class Inlined(Group):
    """One attribute with its own row, whose fields are in the outer wire object.

    If `one_of_list`, the attribute is a list of one value, such as the only choice of an answer.
    """

    def __init__(self, attribute: str, row: Row, *, one_of_list: bool = False) -> None:
        self.attribute, self._row, self._one_of_list = attribute, row, one_of_list
        self.keys = tuple(row.known_keys())
        fields = {field["attribute"]: path for path, field in row.describe()["fields"].items()}
        self.parts = {path: f"{attribute}.{name}" for name, path in fields.items()}
        self._pieces = Pieces(fields)

    def consumed(self, wire: Mapping[str, Json]) -> Collection[str]:
        return [key for key in self.keys if wire.get(key) is not None]

    def decode(self, wire: JsonObject, context: DecodeContext) -> Any:
        part = {key: wire[key] for key in self.consumed(wire)}
        if not part:
            return [] if self._one_of_list else None
        context.copied(part, wire)
        value = self._row.decode(part, context)
        context.trace(self._pieces, [value], wire, None, spread=False)
        return [value] if self._one_of_list else value

    def encode(self, value: Any, wire: JsonObject, context: EncodeContext, owner: Any) -> None:
        values = value if self._one_of_list else [] if value is None else [value]
        for other in values[1:]:
            context.report_loss(other, None, reasons.ONE_CHOICE)
        for first in values[:1]:
            wire.update(self._row.encode(first, context))
