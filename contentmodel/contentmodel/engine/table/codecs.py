"""Codecs: lossless conversions between one wire value and one field of the model.

A codec holds (accepts) values of certain JSON classes. Other values stay in the residue, unchanged. For each value `v`
that the codec holds, `encode(decode(v)) == v`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from math import isfinite
from typing import Any, Generic, TypeAlias, TypeVar

from contentmodel import reasons
from contentmodel.content.base import Protected
from contentmodel.content.tools import ToolCallContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses.provenance import RowFinder
from contentmodel.engine.table.introspect import classes_in, options_of
from contentmodel.errors import ToolArgumentsError
from contentmodel.hints import MINTED
from contentmodel.json import Json, JsonArray, JsonObject, object_or_text, write
from contentmodel.reasons import Reason

T = TypeVar("T")

Bind: TypeAlias = Callable[[str, object], str]
"""Bind an object to a name in a compiled function. Return the name."""
Place: TypeAlias = tuple[object, str, Json, RowFinder | None]
"""A model object, its JSON path, the wire value there, and the row or union that decoded it (None: no row)."""


def spread(values: Iterable[object], wires: Iterable[Json], path: str, row: RowFinder | None) -> list[Place]:
    """Return the paths of values, each decoded from its own element of a list at `path`."""
    pairs = zip(values, wires, strict=False)
    return [(value, f"{path}[{index}]", wire, row) for index, (value, wire) in enumerate(pairs)]


_INLINE = {"holds": "test", "decode": "quick_decode", "encode": "quick_encode"}
"""The methods of a codec, each with the method that returns its inline expression."""


class Codec(Generic[T]):
    """Base class: holds values of `classes`, unchanged. `T` is the type of the model's values."""

    classes: tuple[type, ...] = ()
    identity = True
    mandatory = False
    is_rare = False
    """True if most wire objects lack the field: it is read only from objects with values that no other field holds."""
    has_strays = False
    """True if the codec of a column also returns contents that are usual in another column, or in none."""
    known_values: frozenset[str] | None = None
    """The enum values that the API defines for this field; None if any text is valid, or the field is not a text."""
    tagged: tuple[str, frozenset[str]] | None = None
    """If the field is an object with a tag: the name of the tag field, and the tags that the API defines."""
    other_hosts_add_values = True
    """True if hosts of other vendors' models may add enum values."""
    makes_list: bool | None = None
    """True if `decode` returns a list of contents, False if it returns one value; None if this is not known."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Do not inherit the inline expression of a method that a subclass replaces."""
        super().__init_subclass__(**options)
        for method, inline in _INLINE.items():
            if method in cls.__dict__ and inline not in cls.__dict__:
                setattr(cls, inline, getattr(Codec, inline))

    def __init__(self, *classes: type) -> None:
        if classes:
            self.classes = classes

    def check(self, kind: object, place: str) -> None:
        """Raise TypeError if an attribute of this type cannot hold the values of the codec. `place` names the field."""
        classes = classes_in(kind)
        if self.makes_list is None or Any in classes or (list in classes) is self.makes_list:
            return
        wanted = (
            "a list: use Blocks(union), or One(union) for a single object"
            if list in classes
            else ("no list: use Record(row), or OneOf(union)")
        )
        raise TypeError(f"{place}: {type(self).__name__} does not fit, because the attribute is {wanted}")

    def holds(self, value: object) -> bool:
        """Return whether the model field can hold this wire value."""
        return value.__class__ in self.classes

    def test(self, name: str) -> str | None:
        """Return `holds` as an expression over the variable `name`; None if it is not a simple class check."""
        if type(self).holds is not Codec.holds:
            return None
        return " or ".join(f"{name}.__class__ is {c.__name__}" for c in self.classes)

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        """Return an expression that decodes usual values of the variable `name` inline, and others by the `call`."""
        return call

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        """Return an expression that encodes usual values of the variable `name` inline, and others by the `call`."""
        return call

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> T:
        """Return the model's value for `value`, which is `container[key]`. `holds(value)` is true."""
        unchanged: T = value
        return unchanged

    def count(self, wire: Json) -> int:
        """Return the number of contents that `decode` makes of a wire value, if it returns a list of them."""
        return 1

    def places(self, value: T, wire: Json, path: str) -> Iterable[Place]:
        """Return the origins of the model objects in `value`, which was decoded from `wire` at `path`."""
        return ()

    def unread(self, wire: Json) -> JsonArray | None:
        """Return what `decode` leaves of a held list: the other entries, and {} in place of each one that it reads.

        Return None if it reads the whole value.
        """
        return None

    def woven(self, entries: JsonArray, wire: Json) -> JsonArray:
        """Return the list that `encode` wrote, with the entries that `unread` returned in their places."""
        written = iter(wire if wire.__class__ is list else ())
        places = [[entry] if entry != {} else [*islice(written, 1)] for entry in entries]
        return [*chain.from_iterable(places), *written]

    def encode(self, value: T, context: EncodeContext, owner: object) -> Json:
        """Return the wire value for a field of `owner`; None to omit the field."""
        return value

    def describe(self) -> str:
        """Return the form of the wire value, for documentation and generators."""
        return "|".join(c.__name__ for c in self.classes) or "any"


AnyCodec: TypeAlias = Codec[Any]
"""A codec whose value type is not known here."""


class _List(Codec[JsonArray]):
    """A list of any values, unchanged."""

    classes = (list,)

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value)


class _Strings(Codec[list[str]]):
    """A list of strings."""

    classes = (list,)

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(item.__class__ is str for item in value)

    def describe(self) -> str:
        return "list[str]"


class _Objects(Codec[list[JsonObject]]):
    """A list of JSON objects, unchanged."""

    classes = (list,)

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(item.__class__ is dict for item in value)

    def describe(self) -> str:
        return "list[dict]"


class _Integers(Codec[list[int]]):
    """A list of integers."""

    classes = (list,)

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value) and all(item.__class__ is int for item in value)

    def describe(self) -> str:
        return "list[int]"


class _Anything(Codec[Json]):
    """Any JSON value but null."""

    def holds(self, value: object) -> bool:
        return value is not None


STR: Codec[str] = Codec(str)
INT: Codec[int] = Codec(int)
NUMBER: Codec[int | float] = Codec(int, float)
BOOL: Codec[bool] = Codec(bool)
OBJECT: Codec[JsonObject] = Codec(dict)
ARGUMENTS: Codec[JsonObject | str] = Codec(dict, str)
LIST = _List()
STRINGS = _Strings()
OBJECTS = _Objects()
INTEGERS = _Integers()
ANYTHING = _Anything()


class Pair(Codec[T]):
    """A codec made of two functions, for values with different forms. `encode` may return None to omit the field."""

    identity = False

    def __init__(
        self, classes: Iterable[type], decode: Callable[[Json], T], encode: Callable[[T], Json], form: str
    ) -> None:
        self.classes = tuple(classes)
        self._decode, self._encode, self._form = decode, encode, form

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> T:
        return self._decode(value)

    def encode(self, value: T, context: EncodeContext, owner: object) -> Json:
        return self._encode(value)

    def describe(self) -> str:
        return self._form


class MappedEnum(Codec[str]):
    """Enum strings with other names in the model. Unknown values pass through, prefixed if they would be ambiguous."""

    classes = (str,)
    identity = False

    def __init__(self, names: Mapping[str, str]) -> None:
        self._to_model = dict(names)
        self._to_wire = {v: k for k, v in reversed(list(names.items()))}
        self._ambiguous = {w: m for w, m in names.items() if self._to_wire[m] != w}

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> str:
        if value in self._to_model and value not in self._ambiguous:
            return self._to_model[value]
        prefix = f"{context.api}:"
        is_taken = value in self._to_wire or value in self._ambiguous or value.startswith(prefix)
        return f"{prefix}{value}" if is_taken else value

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return self._to_wire.get(value) or value.removeprefix(f"{context.api}:")


class Opaque(Codec[Protected]):
    """Opaque state of one issuer: text on the wire, `Protected` in the model. Never sent to other issuers.

    An API that serves the models of several makers sets `maker`. It returns the issuer of a model's state; None if it
    is unknown, and then the state is that of `issuer`. The target reads the state of `Host.issuers` and its own. An
    object without `mandatory` state has another row.
    """

    classes: tuple[type, ...] = (str,)
    identity = False

    def __init__(
        self,
        issuer: str,
        kind: str,
        maker: Callable[[str | None], str | None] | None = None,
        *,
        mandatory: bool = False,
    ) -> None:
        self.issuer, self.kind, self.maker, self.mandatory = issuer, kind, maker, mandatory

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        if self.maker is not None:
            return call
        return f"{bind('Protected', Protected)}(issuer={self.issuer!r}, kind={self.kind!r}, data={name})"

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        if self.maker is not None:
            return call
        is_own = f"{name}.issuer == {self.issuer!r} and {name}.kind == {self.kind!r}"
        return f"{name}.data if {is_own} else {call}"

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> Protected:
        maker = None if self.maker is None else self.maker(context.origin.model)
        return Protected(issuer=maker or self.issuer, kind=self.kind, data=value)

    def encode(self, value: Protected, context: EncodeContext, owner: object) -> str | None:
        if value.kind == self.kind and self.is_read(value.issuer, context):
            return value.data
        context.report_loss(owner, "protected", reasons.OPAQUE_STATE, issuer=value.issuer)
        return None

    def is_read(self, issuer: str, context: EncodeContext) -> bool:
        """Return whether the target reads the state of an issuer."""
        return issuer == self.issuer if self.maker is None else issuer in context.issuers

    def describe(self) -> str:
        return "opaque"


class EnumString(Codec[str]):
    """An enum string. Any value round-trips in its API; a value from another API must be one of `values`."""

    classes = (str,)
    identity = False

    def __init__(self, field: str, *values: str, reason: Reason = reasons.UNSUPPORTED_VALUE) -> None:
        """Create the codec. `reason` is the reason of the loss of another value."""
        self.field, self._reason = field, reason
        self.known_values = self._values = frozenset(values)

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return name

    def encode(self, value: str, context: EncodeContext, owner: object) -> str | None:
        if context.native or value in self._values:
            return value
        reason = self._reason
        context.report_loss(owner, self.field, reason, value=value)
        return None


class WholeNumber(Codec[int | float]):
    """A number that the API takes only if it is whole. A number of another API is rounded."""

    classes = (int, float)
    identity = False

    def __init__(self, path: str) -> None:
        self.path = path

    def encode(self, value: int | float, context: EncodeContext, owner: object) -> int | float:
        if not context.completes or not isinstance(value, float) or not isfinite(value):
            return value
        if not value.is_integer():
            context.report_loss(owner, self.path, reasons.WHOLE_NUMBER)
        return round(value)


class ProviderOnly(Codec[Json]):
    """A provider-specific value. It round-trips within its API and is dropped with a loss elsewhere."""

    identity = False

    def __init__(self, field: str, *classes: type, silent: bool = False) -> None:
        """Create the codec. If `silent`, no loss is reported: the target has the value in another field."""
        super().__init__(*classes)
        self.field, self.silent = field, silent

    def holds(self, value: object) -> bool:
        return value is not None and (not self.classes or value.__class__ in self.classes)

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> Json:
        return value

    def encode(self, value: Json, context: EncodeContext, owner: object) -> Json:
        if context.native or context.has_no_origin:
            return value
        if not self.silent:
            context.report_loss(owner, self.field, reasons.PROVIDER_FORM)
        return None


class MintedId(Codec[str]):
    """An id of a call or result. If the wire had none, the id that an adapter made for pairing is not written."""

    classes = (str,)
    identity = False

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return name

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        return f"{name} if value.extra is None else {call}"

    def encode(self, value: str, context: EncodeContext, owner: Any) -> str | None:
        return None if MINTED.of(owner, context.api) == value else value


class ArgumentsText(Codec[JsonObject | str]):
    """Arguments as JSON text, kept exactly. An object of another API is written as compact text.

    An empty text of another API becomes an empty object: hosts of Chat send one for a call without arguments. With
    `objects`, the API also has objects, and only its own arguments are written as objects.
    """

    classes: tuple[type, ...] = (str,)
    identity = False

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return name

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        return f"{name} if {name} and {name}.__class__ is str else {call}"

    def __init__(self, *, objects: bool = False) -> None:
        super().__init__(*((str, dict) if objects else ()))

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> JsonObject | str:
        arguments: JsonObject | str = value
        return arguments

    def encode(self, value: JsonObject | str, context: EncodeContext, owner: object) -> JsonObject | str:
        if context.native and value.__class__ is dict and dict in self.classes:
            return value
        if value == "" and context.completes:
            context.report_loss(owner, "arguments", reasons.EMPTY_ARGUMENTS)
            return "{}"
        return value if value.__class__ is str else write(value).decode()


INVALID_JSON = "INVALID_JSON"
"""The only key of an object that holds arguments which are no JSON object, such as those of a call that was cut off.

Anthropic recommends this key (platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming), and
pydantic-ai writes it (pydantic_ai/messages.py, INVALID_JSON_KEY). Seen 2026-11-29.
"""


def unparsed_arguments(arguments: JsonObject) -> str | None:
    """Return the text that `ArgumentsObject` wrote under `INVALID_JSON`; None if these are other arguments."""
    text = arguments.get(INVALID_JSON) if len(arguments) == 1 else None
    if text.__class__ is not str or text.strip() in ("", "null") or object_or_text(text) is not text:
        return None
    return str(text)


class ArgumentsObject(Codec[JsonObject | str]):
    """Arguments as an object. JSON text of another API is parsed.

    Text that is not an object is put under `key` if it is a valid argument there, such as code. Otherwise it is put
    under `INVALID_JSON`, and decoding restores it: the call must not look complete.
    """

    classes: tuple[type, ...] = (dict,)
    identity = False

    def __init__(self, key: str = INVALID_JSON) -> None:
        super().__init__()
        self.key = key

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return f"{call} if {INVALID_JSON!r} in {name} else {name}"

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        return f"{name} if {name}.__class__ is dict else {call}"

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> JsonObject | str:
        text = unparsed_arguments(value) if value.__class__ is dict and self.key == INVALID_JSON else None
        arguments: JsonObject | str = value if text is None else text
        return arguments

    def encode(self, value: JsonObject | str, context: EncodeContext, owner: object) -> JsonObject:
        if value.__class__ is dict:
            return value
        try:
            arguments = owner.arguments_object if isinstance(owner, ToolCallContent) else {}
        except ToolArgumentsError:
            if not context.native and not context.sends_argument_text:
                context.report_loss(owner, "arguments", reasons.ARGUMENTS_AS_OBJECT)
            return {self.key: value}
        if not context.sends_argument_text:
            # If the text was compact JSON, this loss is removed when the losses are read (`losses.encoded`).
            is_empty = isinstance(value, str) and bool(value) and value.strip() in ("", "null")
            reason = reasons.EMPTY_ARGUMENTS if is_empty else reasons.ARGUMENTS_SPELLING
            context.report_loss(owner, "arguments", reason)
        return arguments


class ArgumentsObjectOrText(Codec[JsonObject | str]):
    """Arguments as an object, or a text that is not an object. JSON text of another API is parsed."""

    classes: tuple[type, ...] = (dict, str)
    identity = False

    def encode(self, value: JsonObject | str, context: EncodeContext, owner: object) -> JsonObject | str:
        if value.__class__ is dict or not context.completes or not isinstance(owner, ToolCallContent):
            return value
        try:
            arguments = owner.arguments_object
        except ToolArgumentsError:
            return value
        # If the text was compact JSON, this loss is removed when the losses are read (`losses.encoded`).
        context.report_loss(owner, "arguments", reasons.ARGUMENTS_SPELLING)
        return arguments


class Required(Codec[Any]):
    """A value, a text by default, without which an object has another row, or none."""

    classes = (str,)
    mandatory = True


class Constant(Codec[str]):
    """A field with one value. The field of an object with another value stays in the residue."""

    classes = (str,)
    identity = False

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value
        self.known_values = frozenset({value})

    def holds(self, value: object) -> bool:
        return value == self.value

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return self.value

    def describe(self) -> str:
        return repr(self.value)


class DataUri(Codec[tuple[str | None, str]]):
    """A data URI (`data:image/png;base64,AAAA`) on the wire, media type and base64 in the model. No other URIs."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return is_data_uri(value)

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> tuple[str | None, str]:
        head, _, data = value.partition(";base64,")
        return head[5:], data

    def encode(self, value: tuple[str | None, str], context: EncodeContext, owner: object) -> str:
        media_type, data = value
        return f"data:{media_type or ''};base64,{data}"

    def describe(self) -> str:
        return "data uri"


def is_data_uri(value: object) -> bool:
    """Return whether a value is a base64 data URI."""
    return value.__class__ is str and value.startswith("data:") and ";base64," in value[:200]


def codec_for(hint: object, name: str) -> AnyCodec:
    """Return the default codec for the type of an attribute. Raise TypeError with its `name` if there is none."""
    options = set(options_of(hint)) - {type(None)}
    simple: list[tuple[set[type], AnyCodec]] = [
        ({str}, STR),
        ({bool}, BOOL),
        ({int}, INT),
        ({int, float}, NUMBER),
        ({int, str}, Codec(int, str)),
        ({int, float, str}, Codec(int, float, str)),
    ]
    for types, codec in simple:
        if options == types:
            return codec
    names = {str(option) for option in options}
    if names == {"list[str]"}:
        return STRINGS
    if names == {"list[int]"}:
        return INTEGERS
    if all(name.startswith("list[dict") for name in names):
        return OBJECTS
    if any(name.startswith("dict") for name in names):
        return ARGUMENTS if str in options else OBJECT
    if Any in options:
        return ANYTHING
    fix = "JSON writes 1.0 as 1: declare float | int" if options == {float} else "pass a codec for this field"
    raise TypeError(f"{name}: there is no default codec for the type {hint}: {fix}")
