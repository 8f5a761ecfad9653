"""Codecs of nested objects, and of lists of blocks, messages and other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.content.base import AIContent
from contentmodel.content.caching import CachePoint
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.engine.context import DecodeContext, EncodeContext, defaults_of
from contentmodel.engine.losses.provenance import RowFinder
from contentmodel.engine.pipeline.foreign import leave_empty
from contentmodel.engine.table.codecs import Bind, Codec, Place, spread
from contentmodel.hints import FORM
from contentmodel.json import Json, JsonArray, JsonObject, without_nulls
from contentmodel.message import ChatMessage

if TYPE_CHECKING:
    from contentmodel.engine.table.rows import Row
    from contentmodel.engine.table.unions import Union


S = TypeVar("S", bound=msgspec.Struct)


class Record(Codec[S]):
    """A nested object with its own row. If `provider_only`, other APIs do not get it, with a loss."""

    classes: tuple[type, ...] = (dict,)
    identity = False

    makes_list = False

    def __init__(self, row: Row, *, provider_only: bool = False) -> None:
        if not hasattr(row, "model"):
            raise TypeError(f"{type(self).__name__} needs a row, got {row!r:.60}: use OneOf(union) for several types")
        self.row, self.provider_only = row, provider_only

    def decode(self, value: JsonObject, context: DecodeContext, container: JsonObject, key: str) -> S:
        decoded: S = self.row.decode(value, context)
        return decoded

    def places(self, value: S, wire: Json, path: str) -> Iterable[Place]:
        return [(value, path, wire, self.row)]

    def encode(self, value: S, context: EncodeContext, owner: object) -> JsonObject | None:
        if self.provider_only and not context.native:
            context.report_loss(value, None, reasons.PROVIDER_FORM)
            return None
        return self.row.encode(value, context)

    def describe(self) -> str:
        return self.row.name


class CachePoints(Record[CachePoint]):
    """A cache point: a nested object with one constant. An object without the constant stays in the residue.

    Those of other APIs are not sent to models without cache points, and not in answers.
    """

    is_rare = True

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        ((self._key, self._constant),) = row.constants.items()

    def holds(self, value: object) -> bool:
        return value.__class__ is dict and value.get(self._key) == self._constant

    def encode(self, value: CachePoint, context: EncodeContext, owner: object) -> JsonObject | None:
        if not accepts_cache_points(context):
            context.report_loss(value, None, reasons.CACHE_POINT)
            return None
        wire = self.row.encode(value, context)
        context.cache_points.append((value, wire))
        return wire


def accepts_cache_points(context: EncodeContext) -> bool:
    """Return whether the encoded document can have cache points, if the target's blocks have a field for them."""
    return not context.completes or (context.kind != "response" and context.known.capabilities.cache_points)


def checked_union(codec: Codec[Any], union: Union) -> Union:
    """Return the union of a codec. Raise TypeError if it is none."""
    if not hasattr(union, "encode_list"):
        name = f"the row {union.name}" if hasattr(union, "model") else f"{union!r:.60}"
        fix = "use Record(row) for a value of one type, or add a union of the row: table.union(name, [row])"
        raise TypeError(f"{type(codec).__name__} needs a union, got {name}: {fix}")
    return union


class OneOf(Codec[S]):
    """A nested object that is decoded by one of a union's rows."""

    classes: tuple[type, ...] = (dict,)
    identity = False
    makes_list = False

    def __init__(self, union: Union) -> None:
        self.union = checked_union(self, union)
        self.tagged = (union.tag, union.tags) if union.tags else None

    def decode(self, value: JsonObject, context: DecodeContext, container: JsonObject, key: str) -> S:
        decoded: S = self.union.decode(value, context)
        return decoded

    def places(self, value: S, wire: Json, path: str) -> Iterable[Place]:
        return [(value, path, wire, self.union)]

    def encode(self, value: S, context: EncodeContext, owner: object) -> JsonObject | None:
        wire: JsonObject | None = self.union.encode_one(value, context)
        return wire

    def describe(self) -> str:
        return f"one of {self.union.name}"


class One(Codec[list[S]]):
    """A list of contents that the wire has as a single block (a fetched document, an error object)."""

    classes = (dict,)
    identity = False
    makes_list = True

    def __init__(self, union: Union) -> None:
        self.union = checked_union(self, union)

    def decode(self, value: JsonObject, context: DecodeContext, container: JsonObject, key: str) -> list[S]:
        return [self.union.decode(value, context)]

    def places(self, value: list[S], wire: Json, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, self.union)]

    def encode(self, value: list[S], context: EncodeContext, owner: object) -> JsonObject | None:
        blocks = self.union.encode_list(value, context)
        for content in value[1:]:
            context.report_loss(content, None, reasons.ONE_OUTPUT)
        return blocks[0] if blocks else None

    def describe(self) -> str:
        return f"one of {self.union.name}"


class Blocks(Codec[list[S]]):
    """A list of blocks."""

    classes: tuple[type, ...] = (list,)
    identity = False
    has_strays = True
    holds_by_elements = False
    """True if `holds` looks at each element of a list."""
    makes_list = True

    def __init__(self, union: Union) -> None:
        self.union = checked_union(self, union)

    def holds(self, value: object) -> bool:
        return value.__class__ is list and bool(value)

    def test(self, name: str) -> str | None:
        return f"{name}.__class__ is list and {name}"

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return f"{bind('decode_list', self.union.decode_list)}({name}, context)"

    def decode(self, value: JsonArray, context: DecodeContext, container: JsonObject, key: str) -> list[S]:
        return self.union.decode_list(value, context)

    def count(self, wire: Json) -> int:
        return len(wire) if wire.__class__ is list else 1

    def places(self, value: list[S], wire: Json, path: str) -> Iterable[Place]:
        if wire.__class__ is not list:
            # A message with a fault is decoded without its contents.
            return [(value[0], path, wire, self.union if wire.__class__ is dict else None)] if value else []
        return spread(value, wire, path, self.union)

    def encode(self, value: list[S], context: EncodeContext, owner: object) -> Json:
        return self.union.encode_list(value, context) or None

    def describe(self) -> str:
        return f"list of {self.union.name}"


class EachBlock(Blocks[AIContent]):
    """A list of blocks, each decoded by itself: an entry that is no object becomes an unknown content at its place."""

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return call

    def decode(self, value: JsonArray, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        decode = self.union.decode
        return [
            decode(wire, context) if wire.__class__ is dict else UnknownContent(api=context.api, block=wire)
            for wire in value
        ]


class BlocksOrOne(Blocks[AIContent]):
    """A list of blocks, or a single block in its place. The content of a single block gets the hint `FORM`."""

    classes = (list, dict)

    def holds(self, value: object) -> bool:
        return value.__class__ in (list, dict) and bool(value)

    def test(self, name: str) -> str | None:
        return f"({name}.__class__ is list or {name}.__class__ is dict) and {name}"

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return f"{super().quick_decode(name, call, bind)} if {name}.__class__ is list else {call}"

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        if value.__class__ is list:
            return super().decode(value, context, container, key)
        return [FORM.on(self.union.decode(value, context), context.api, "one")]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Json:
        blocks = self.union.encode_list(value, context)
        is_one = context.native and len(blocks) == 1 and FORM.of(value[0], context.api) == "one"
        return blocks[0] if is_one else blocks or None


class TextOrBlocks(Blocks[AIContent]):
    """A string, or a list of blocks.

    A single text without other attributes is written in the `plain` form ("string" or "list"). If the wire had the
    other form, the text has the hint `FORM`.
    """

    classes: tuple[type, ...] = (str, list)

    def __init__(self, union: Union, plain: str, *, annotated: bool = False) -> None:
        super().__init__(union)
        self._attributes = ("protected",) if annotated else ("annotations", "protected")
        self._has_cache_points = any(r.model is TextContent and "cache_point" in r.attributes for r in union.rows)
        self._form = FORM.entry("list" if plain == "string" else "string")
        self._plain_is_string = plain == "string"
        text = next((r for r in union.rows if r.model is TextContent and "text" in r.attributes), None)
        self._text = ({}, "") if text is None else (text.constants, text.fields_of("text", {})[0])
        """The constants of a block that is a text, and its field with the text."""

    def holds(self, value: object) -> bool:
        return value.__class__ is str or (value.__class__ is list and bool(value))

    def test(self, name: str) -> str | None:
        return f"{name}.__class__ is str or ({name}.__class__ is list and {name})"

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        if self._plain_is_string:
            return f"[{bind('Text', TextContent)}(text={name})] if {name}.__class__ is str else {call}"
        several = f"{bind('decode_list', self.union.decode_list)}({name}, context)"
        return f"{several} if {name}.__class__ is list else {call}"

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        if self._plain_is_string:
            plain = bind("plain_text", _plain_text)
            return f"({plain}({name}[0]) if len({name}) == 1 else None) or {call}"
        usual = f"len({name}) != 1 or {name}[0].extra is None"
        return f"{bind('encode_list', self.union.encode_list)}({name}, context) if {usual} else {call}"

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        if value.__class__ is str:
            extra = None if self._plain_is_string else {context.api: self._form}
            return [TextContent(text=value, extra=extra)]
        contents = self.union.decode_list(value, context)
        if len(contents) == 1 and self._plain_is_string:
            self._mark_list(contents, context)
        return contents

    def _mark_list(self, contents: list[AIContent], context: DecodeContext) -> None:
        only = contents[0]
        if only.__class__ is TextContent and only.extra is None and only.cache_point is None:
            contents[0] = msgspec.structs.replace(only, extra={context.api: self._form})
            # The list is traced already, so it is changed in place.

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Json:
        if len(value) == 1 and value[0].__class__ is TextContent:
            only = value[0]
            if self._is_string(only, context):
                if only.extra is not None:
                    context.leave_residue(only)
                if only.protected is not None or only.annotations is not None:
                    context.report_lost_attributes(only, self._attributes)
                if only.cache_point is not None:
                    context.report_loss(only.cache_point, None, reasons.CACHE_POINT)
                return only.text
        blocks = self.union.encode_list(value, context)
        if len(blocks) == 1 and len(value) > 1 and self._plain_is_string and not context.native:
            # The other contents have no block here.
            return self._text_of(blocks[0]) or blocks
        return blocks or None

    def _text_of(self, block: Any) -> Json:
        """Return the text of a block that has no other fields; else None."""
        constants, field = self._text
        is_text = block.__class__ is dict and {**constants, field: block.get(field)} == block
        return block[field] if is_text and field else None

    def _is_string(self, only: TextContent, context: EncodeContext) -> bool:
        if only.cache_point is not None and self._has_cache_points and accepts_cache_points(context):
            return False
        residue = None if only.extra is None else only.extra.get(context.api)
        if self._plain_is_string:
            return not residue
        return residue is not None and len(residue) == 1 and FORM.read(residue) == "string"

    def describe(self) -> str:
        return f"str or list of {self.union.name}"


class NonEmptyTextOrBlocks(TextOrBlocks):
    """A string or a list of blocks, in a field that is required: an empty string means no content."""

    def __init__(self, union: Union) -> None:
        super().__init__(union, "string")

    def holds(self, value: object) -> bool:
        return value.__class__ in (str, list) and bool(value)

    def test(self, name: str) -> str | None:
        return f"({name}.__class__ is str or {name}.__class__ is list) and {name}"

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Json:
        return super().encode(value, context, owner) or self.union.encode_list(value, context) or None


class Outputs(Blocks[AIContent]):
    """The outputs of a hosted tool: a list of blocks, a single block, or a string.

    A single content of a class in `single` is written as one block, anything else as a list. If the wire had another
    form, the content has the hint `FORM`.
    """

    classes = (list, dict, str)

    def __init__(self, union: Union, *single: type[AIContent]) -> None:
        super().__init__(union)
        self._single = single

    def holds(self, value: object) -> bool:
        if value.__class__ is list:
            return bool(value) and all(item.__class__ is dict for item in value)
        return value.__class__ in (dict, str)

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        if value.__class__ is str:
            return [TextContent(text=value, extra=FORM.extra(context.api, "string"))]
        is_list = value.__class__ is list
        contents = self.union.decode_list(value, context) if is_list else [self.union.decode(value, context)]
        if contents and self._is_usually_list(contents) is not is_list:
            contents[0] = FORM.on(contents[0], context.api, "list" if is_list else "one")
        return contents

    def _is_usually_list(self, contents: list[AIContent]) -> bool:
        return len(contents) != 1 or not isinstance(contents[0], self._single)

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Json:
        form = FORM.of(value[0], context.api) if len(value) == 1 else None
        if form == "string" and value[0].__class__ is TextContent and value[0].annotations is None:
            # Before the blocks: the union may have no block for a text.
            return value[0].text
        blocks = self.union.encode_list(value, context)
        is_list = self._is_usually_list(value) if form in (None, "string") else form == "list"
        return blocks or None if is_list or len(blocks) != 1 else blocks[0]

    def describe(self) -> str:
        return f"list of {self.union.name} or one"


def _plain_text(content: AIContent) -> str | None:
    """Return the string of a text that has no other attributes; else None."""
    if content.__class__ is not TextContent or content.extra is not None or content.cache_point is not None:
        return None
    return content.text if content.annotations is None and content.protected is None else None


class TextField(Codec[list[AIContent]]):
    """A string that is one attribute of a content of class `model`; `sets` are its other attributes.

    If there are several contents (of another API, or after an edit), they are joined by `between`.
    """

    classes: tuple[type, ...] = (str,)
    identity = False

    def __init__(self, model: type[AIContent], field: str, *, between: str = "", **sets: object) -> None:
        self._make: Callable[..., AIContent] = model
        self.model, self.field, self.sets, self.between = model, field, sets, between
        self._others = tuple(f for f in model.__struct_fields__ if f not in (field, "extra", "executor", *sets))
        self._other_values = attrgetter(*self._others, "extra")
        self._unset_values = (*(defaults_of(model).get(name) for name in self._others), None)

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        return [self._make(**{self.field: value}, **self.sets)]

    def places(self, value: list[AIContent], wire: Json, path: str) -> Iterable[Place]:
        return [(value[0], path, wire, None)]

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> str | None:
        texts = []
        for content in value:
            if content.__class__ is not self.model:
                texts += self._text_of_other(content, context)
                continue
            if self._other_values(content) != self._unset_values:
                self._report_others(content, context)
            if texts and content.__class__ is ReasoningContent and content.text == texts[-1]:
                # Some models summarize a reasoning by its text.
                context.report_loss(content, None, reasons.REPEATED_TEXT)
                continue
            for name, implied in self.sets.items():
                context.report_other_value(content, name, implied)
            texts.append(getattr(content, self.field))
        return self.between.join(texts) if texts else None

    def _report_others(self, content: AIContent, context: EncodeContext) -> None:
        context.report_lost_attributes(content, self._others)
        context.leave_residue(content)

    def _text_of_other(self, content: AIContent, context: EncodeContext) -> list[str]:
        if content.__class__ is TextContent or content.__class__ is JsonContent:
            return [content.text]
        context.report_loss(content, None, reasons.TEXT_ONLY)
        return []


class TextParts(Codec[str]):
    """A text that is a list of parts with only a text. `constants` are the other fields of a part.

    Several parts are joined: a row with them has the option `verbatim`. Entries of another form stay in the residue, at
    their places.
    """

    classes = (list,)
    identity = False

    def __init__(self, constants: Mapping[str, str] = MappingProxyType({}), *, mandatory: bool = True) -> None:
        super().__init__()
        self._constants, self.mandatory = constants, mandatory

    def holds(self, value: object) -> bool:
        return isinstance(value, list) and any(map(self.is_part, value))

    def holds_all(self, value: object) -> bool:
        """Return whether a value is a list whose entries are all parts with only a text, and has one."""
        return isinstance(value, list) and bool(value) and all(map(self.is_part, value))

    def is_part(self, value: object) -> bool:
        """Return whether a value is a part with only a text. Other fields may be null."""
        if not isinstance(value, dict) or value.get("text").__class__ is not str:
            return False
        part = {**self._constants, "text": value["text"]}
        return value == part or without_nulls(value) == part

    def decode(self, value: JsonArray, context: DecodeContext, container: JsonObject, key: str) -> str:
        return self.text_of(value)

    def text_of(self, parts: JsonArray) -> str:
        """Return the joined texts of the parts that have only a text."""
        return "".join(part["text"] for part in parts if self.is_part(part))

    def unread(self, wire: Json) -> JsonArray | None:
        if self.holds_all(wire):
            return None
        return [{} if self.is_part(part) else part for part in wire]

    def woven(self, entries: JsonArray, wire: Json) -> JsonArray:
        # Without a text, the list was not held: an empty object is an entry of it.
        return entries if wire is None else super().woven(entries, wire)

    def encode(self, value: str, context: EncodeContext, owner: object) -> JsonArray:
        return [{**self._constants, "text": value}]

    def describe(self) -> str:
        return "list of texts"


class NonEmptyText(TextField):
    """Non-empty text. Empty text is not content."""

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != ""


class MessageList(Codec[list[ChatMessage]]):
    """A codec of a list that is not empty. Subclasses decode and encode the messages.

    - `item`: what an item of the list is.
    - `tag`: the field that each item must have, a string. If it is empty, there is no such field.
    - `meaning`: what `tag` is for.
    """

    classes: tuple[type, ...] = (list,)
    identity = False
    item = "message"
    tag = ""
    meaning = "role"

    def holds(self, value: Any) -> bool:
        return value.__class__ is list and bool(value)

    def kept(self, messages: list[ChatMessage], context: EncodeContext) -> Iterator[ChatMessage]:
        """Yield the messages to encode. An empty message of another API is not written, and its fields are lost."""
        for message in messages:
            if message.contents or context.native:
                yield message
            else:
                leave_empty(message, context)

    def objects(self, value: list[Any], context: DecodeContext) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the items that are objects with the tag, with their indexes. Report a fault for each of the others."""
        for index, wire in enumerate(value):
            if wire.__class__ is not dict:
                context.expected(value, index, f"an object: a {self.item}", wire)
            elif self.tag and wire.get(self.tag).__class__ is not str:
                context.fault(wire, self.tag, f"missing string: the {self.meaning} of this {self.item}")
            else:
                yield index, wire


T = TypeVar("T")


class ObjectList(Codec[list[T]]):
    """A list of objects, each decoded by itself. An entry of another class stays in the residue, at its place.

    Subclasses decode the `objects` of a list, and encode them.
    """

    classes = (list,)
    identity = False

    def __init__(self, row: RowFinder) -> None:
        super().__init__()
        self.row = row

    def holds(self, value: object) -> bool:
        return value.__class__ is list and any(item.__class__ is dict for item in value)

    def objects(self, wire: JsonArray) -> list[JsonObject]:
        """Return the entries that are objects."""
        return [item for item in wire if item.__class__ is dict]

    def unread(self, wire: Json) -> JsonArray | None:
        if all(item.__class__ is dict for item in wire):
            return None
        return [{} if item.__class__ is dict else item for item in wire]

    def places(self, value: list[T], wire: Json, path: str) -> Iterable[Place]:
        places = [(f"{path}[{index}]", item) for index, item in enumerate(wire) if item.__class__ is dict]
        return [(element, place, item, self.row) for element, (place, item) in zip(value, places, strict=False)]
