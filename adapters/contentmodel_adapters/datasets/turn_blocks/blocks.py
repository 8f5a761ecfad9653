"""Blocks: rows with a type, text and content, one for each content type of the model.

`text` and `thinking` keep their text in `text_content`. Calls and results of the application's tools, images and
references have keys that people write by hand. Every other content has the name of its type as block type, and the
model's JSON as `content`. A Shape defines both directions. What a block spells in another way than this adapter writes
it, and unknown keys, are in the content's residue (`spelling`).
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    Hint,
    Place,
    child_path,
    fields_of,
    kind_of,
)
from contentmodel.content import CONTENT_TYPES, Content
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import ErrorContent, ReferenceContent, UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.registering import REGISTERED
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, ToolResultContent
from contentmodel.errors import DecodeError, EncodeError, Fault
from contentmodel.interop import options_of
from contentmodel.serialize import convert_value, to_builtins
from contentmodel_adapters.datasets.turn_blocks.spelling import residue_of, respelled

API = "turn-blocks"
BARE = Hint[Literal["type"]](
    API,
    "bare",
    "a block is the model's JSON of its content, with a `type`",
    older={"form": lambda value: value},
)
ANY_IMAGE = "image/*"
"""The media type of an image whose block does not set one."""

Faults = list[Fault]


class Reading:
    """The state of reading: the list of faults, and the issuer of signatures without one."""

    def __init__(self, faults: Faults, issuer: str = "") -> None:
        self.faults, self.issuer = faults, issuer

    def fault(self, path: str, message: str) -> None:
        self.faults.append(Fault(path, message))

    def expected(self, path: str, wanted: str, value: Any) -> None:
        self.fault(path, f"expected {wanted}, got {kind_of(value)}")


# -- residue -----------------------------------------------------------------------------------------------------------


NOTHING = Hint[Literal[True]](API, "nothing", "`extra` is empty without this adapter's residue")


def own_residue(value: Any) -> dict[str, Any]:
    """Return this adapter's residue of a model value."""
    return {} if value.extra is None else value.extra.get(API) or {}


def with_residue(value: Any, residue: Mapping[str, Any]) -> Any:
    """Return the value with this adapter's residue; the value itself if the residue is empty."""
    if not residue:
        return value
    marker = NOTHING.entry(True) if value.extra == {} else {}
    return msgspec.structs.replace(value, extra={**(value.extra or {}), API: {**residue, **marker}})


def bare(value: Any) -> Any:
    """Return the value without this adapter's residue."""
    if value.extra is None or API not in value.extra:
        return value
    rest = {api: residue for api, residue in value.extra.items() if api != API}
    return msgspec.structs.replace(value, extra=rest if rest or NOTHING.is_in(own_residue(value)) else None)


# -- the model's JSON --------------------------------------------------------------------------------------------------


def json_of(value: Any) -> dict[str, Any]:
    """Return the model's JSON of a value, without this adapter's residue. Raise EncodeError if it is not JSON."""
    try:
        result: dict[str, Any] = to_builtins(bare(value))
    except TypeError as error:
        raise EncodeError(f"not representable in JSON: {error}") from None
    return result


def value_of(data: Any, kind: Any, path: str, reading: Reading) -> Any:
    """Return the model value of JSON; None and a fault if it is invalid.

    Keys that the model cannot hold are skipped; the residue keeps them.
    """
    try:
        try:
            return convert_value(data, kind, path)
        except DecodeError:
            return convert_value(_without_unknown_keys(data, kind), kind, path)
    except DecodeError as error:
        reading.faults += error.faults
        return None


def _without_unknown_keys(data: Any, kind: Any) -> Any:
    """Return JSON without unknown keys of Structs that have no `extra`."""
    options = options_of(kind)
    if isinstance(data, list):
        inner = next((typing.get_args(o)[0] for o in (kind, *options) if typing.get_origin(o) is list), Any)
        return [_without_unknown_keys(item, inner) for item in data]
    structs = [o for o in options if isinstance(o, type) and issubclass(o, msgspec.Struct)]
    if not isinstance(data, dict) or not structs:
        return data
    tags = {s.__struct_config__.tag: s for s in structs}
    tag = data.get("type")
    struct = structs[0] if None in tags else tags.get(tag) if isinstance(tag, str) else None
    if struct is None:
        return data
    fields = {f.name: f.type for f in fields_of(struct)}
    keeps_all = "extra" in fields
    known_fields = {
        k: v for k, v in data.items() if keeps_all or k in fields or k == struct.__struct_config__.tag_field
    }
    return {k: v if k == "extra" else _without_unknown_keys(v, fields.get(k, Any)) for k, v in known_fields.items()}


class JsonPlaces:
    """The fields of a value that is written as the model's JSON, for source traces."""

    def row_of(self, value: Any) -> JsonPlaces:
        return self

    def fields_of(self, attribute: str, wire: Any) -> list[str]:
        """Return the fields of a wire object that an attribute comes from."""
        return [attribute]

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        """Yield the sources of the model objects inside `value`."""
        for name in value.__struct_fields__:
            yield from json_places(getattr(value, name), wire.get(name), child_path(path, name))


PLAIN = JsonPlaces()


def json_places(value: Any, wire: Any, path: str) -> Iterator[Place]:
    """Yield the source of a Struct, or of each Struct of a list, that was read from its JSON."""
    if isinstance(value, msgspec.Struct) and isinstance(wire, dict):
        yield value, path, wire, PLAIN
    elif isinstance(value, list) and isinstance(wire, list):
        for index, (item, inner) in enumerate(zip(value, wire, strict=False)):
            if isinstance(item, msgspec.Struct) and isinstance(inner, dict):
                yield item, f"{path}[{index}]", inner, PLAIN


# -- shapes ------------------------------------------------------------------------------------------------------------


class Shape:
    """One block type and its content type, in both directions.

    `text` is the attribute that `text_content` holds. `names` are the keys in `content` that differ from their
    attributes. All other attributes are in `content` as in the model's JSON.
    """

    def __init__(
        self, block_type: str, model: type[Any], names: Mapping[str, str] | None = None, *, text: str | None = None
    ) -> None:
        self.block_type, self.model, self.text = block_type, model, text
        self.names = dict(names or {})
        self.attributes = {key: attribute for attribute, key in self.names.items()}
        self.tag = model.__struct_config__.tag

    def write(self, content: Any) -> dict[str, Any]:
        """Return the block, without a sequence and without residue."""
        data = json_of(content)
        data.pop("type", None)
        block: dict[str, Any] = {"block_type": self.block_type}
        if self.text is not None:
            block["text_content"] = data.pop(self.text, "")
        inside = self.write_inside({self.names.get(name, name): value for name, value in data.items()}, content)
        if inside:
            block["content"] = inside
        return block

    def read(self, block: dict[str, Any], path: str, reading: Reading) -> Any:
        """Return the content; None and faults if the block is not of this shape."""
        inside = block.get("content")
        if inside is not None and not isinstance(inside, dict):
            reading.expected(child_path(path, "content"), "an object", inside)
            return None
        values = {key: value for key, value in (inside or {}).items() if key not in self.attributes.values()}
        data = {self.attributes.get(key, key): value for key, value in values.items()}
        data = self.read_inside(data, block, path, reading)
        if isinstance(data.get("extra"), dict) and API in data["extra"]:
            data["extra"] = {api: residue for api, residue in data["extra"].items() if api != API} or None
        if self.text is not None and block.get("text_content") is not None:
            data[self.text] = block["text_content"]
        faults: Faults = []
        content = value_of({**data, "type": self.tag}, self.model, "$", Reading(faults))
        reading.faults += [Fault(path + self.wire_path(fault.path), fault.message) for fault in faults]
        return content

    def write_inside(self, inside: dict[str, Any], content: Any) -> dict[str, Any]:
        """Convert the model's JSON of a content to the block's `content`. Subclasses override it."""
        return inside

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        """Convert a block's `content` to attributes of the model's JSON. Subclasses override it."""
        return data

    def wire_path(self, path: str) -> str:
        """Return the path in the block of a path in the model's JSON: `$.arguments.x` is `.content.input.x`."""
        name = path[2:].partition(".")[0].partition("[")[0]
        subpath = path[2 + len(name) :]
        if not name:
            return ""
        return f".text_content{subpath}" if name == self.text else f".content.{self.names.get(name, name)}{subpath}"

    def unread(self, written: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a block that no attribute holds, although the block of its content has them."""
        return {}

    # The methods of a source trace's row.

    def row_of(self, value: Any) -> Shape:
        return self

    def fields_of(self, attribute: str, wire: Any) -> list[str]:
        """Return the fields of a block that an attribute comes from."""
        return [self.wire_path(f"$.{attribute}")[1:]]

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        """Yield the sources of the model objects inside the content."""
        inside = wire.get("content")
        for name in value.__struct_fields__ if isinstance(inside, dict) else ():
            key = self.names.get(name, name)
            if key == "content":
                # A list of blocks is not the model's JSON.
                continue
            yield from json_places(getattr(value, name), inside.get(key), f"{path}.content.{key}")

    def describe(self) -> dict[str, Any]:
        """Return the shape as data, for documentation and generators."""
        fields = {
            self.wire_path(f"$.{f.name}")[1:]: {
                "attribute": f.name,
                "form": "str" if f.name == self.text else "the model's JSON",
                "required": f.required,
            }
            for f in fields_of(self.model)
        }
        return {
            "name": self.block_type,
            "model": self.model.__name__,
            "constants": {"block_type": self.block_type},
            "fields": fields,
        }


class Thinking(Shape):
    """Reasoning. A signature is beside its issuer, which defaults to the turn's."""

    def write_inside(self, inside: dict[str, Any], content: Any) -> dict[str, Any]:
        protected = content.protected
        if protected is None or protected.kind != "signature":
            return inside
        other_fields = {key: value for key, value in inside.items() if key != "protected"}
        return {"signature": protected.data, "issuer": protected.issuer, **other_fields}

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        if "protected" in data or not isinstance(data.get("signature"), str):
            return data
        other_fields = {key: value for key, value in data.items() if key not in ("signature", "issuer")}
        issuer = data.get("issuer", reading.issuer)
        return {**other_fields, "protected": {"issuer": issuer, "kind": "signature", "data": data["signature"]}}

    def wire_path(self, path: str) -> str:
        special = {"$.protected.data": ".content.signature", "$.protected.issuer": ".content.issuer"}
        return special.get(path) or super().wire_path(path)

    def fields_of(self, attribute: str, wire: Any) -> list[str]:
        signature = ["content.signature", "content.issuer"] if attribute == "protected" else []
        return [*signature, *super().fields_of(attribute, wire)]


UNSET = "is_error_set"
"""False in the `content` of a failed result whose own `is_error` is unset: the row's one follows from the outputs."""


class Result(Shape):
    """A result of a tool. If it failed, `text_content` is the text of the failure, and `is_error` is true.

    So one query finds the failures of all tools, also those that only an ErrorContent among the outputs shows.
    """

    def write(self, content: Any) -> dict[str, Any]:
        block = super().write(content)
        if content.error is None or content.is_error is False:
            return block
        inside = {**block.pop("content", {}), "is_error": True}
        text = {"text_content": text} if (text := failure_text(content)) else {}
        unset = {UNSET: False} if content.is_error is None else {}
        return {**block, **text, "content": {**inside, **unset}}

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        return {key: value for key, value in data.items() if key != UNSET}

    def read(self, block: dict[str, Any], path: str, reading: Reading) -> Any:
        result = self.read_outputs(super().read(block, path, reading), block, path, reading)
        if result is None or not result.is_error or (block.get("content") or {}).get(UNSET) is not False:
            return result
        has_error = any(isinstance(output, ErrorContent) for output in result.output_list)
        return msgspec.structs.replace(result, is_error=None) if has_error else result

    def read_outputs(self, result: Any, block: dict[str, Any], path: str, reading: Reading) -> Any:
        """Return the result with its outputs. Subclasses with outputs that are not the model's JSON override it."""
        return result

    def unread(self, written: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
        text = block.get("text_content")
        return {"text_content": text} if text and text != written.get("text_content") else {}


def failure_text(result: ToolResultContent) -> str:
    """Return the text of a failed result: the message of its error, its other text, or the code of its error."""
    error = result.error
    return "" if error is None else error.message or result.text or error.code or ""


def without_repeated_text(block: Any) -> Any:
    """Return a block without the text of a failure that the rest of the block has, too."""
    if not isinstance(block, dict) or "text_content" not in block:
        return block
    other_fields = {key: value for key, value in block.items() if key != "text_content"}
    result = read_block(other_fields, "$", Reading([]))
    is_repeated = isinstance(result, ToolResultContent) and failure_text(result) == block["text_content"]
    return other_fields if is_repeated else block


class ToolResult(Result):
    """A result of the application's tool: `content` is text, a list of blocks, or null if the outputs are None."""

    def write_inside(self, inside: dict[str, Any], content: Any) -> dict[str, Any]:
        if not content.outputs:
            return inside if content.outputs is not None else {**inside, "content": None}
        only = content.outputs[0]
        if len(content.outputs) == 1 and only == TextContent(text=getattr(only, "text", None) or ""):
            return {**inside, "content": only.text}
        return {**inside, "content": [write_block(output) for output in content.outputs]}

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        data = super().read_inside(data, block, path, reading)
        outputs = data.pop("outputs", None)
        if outputs is None and isinstance(block.get("text_content"), str):
            outputs = block["text_content"]
        return data if outputs is None else {**data, "outputs": []}

    def read_outputs(self, result: Any, block: dict[str, Any], path: str, reading: Reading) -> Any:
        if result is None:
            return None
        inside = block.get("content") or {}
        values = inside.get("content", block.get("text_content"))
        outputs_path = f"{path}.content.content"
        if isinstance(values, str):
            return msgspec.structs.replace(result, outputs=[TextContent(text=values)])
        if values is not None and not isinstance(values, list):
            reading.expected(outputs_path, "text or a list of blocks", values)
            return None
        if values is None and "content" in inside:
            return msgspec.structs.replace(result, outputs=None)
        outputs = [read_block(item, f"{outputs_path}[{index}]", reading) for index, item in enumerate(values or [])]
        return msgspec.structs.replace(result, outputs=[output for output in outputs if output is not None])

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        inside = wire.get("content")
        items = inside.get("content") if isinstance(inside, dict) else None
        for index, (output, inner) in enumerate(
            zip(value.output_list, items if isinstance(items, list) else (), strict=False)
        ):
            yield output, f"{path}.content.content[{index}]", inner, shape_of(output)
        yield from super().places(value, wire, path)


class Linked(Shape):
    """An image by reference. Its media type may be missing."""

    def write_inside(self, inside: dict[str, Any], content: Any) -> dict[str, Any]:
        if content.media_type != ANY_IMAGE:
            return inside
        return {key: value for key, value in inside.items() if key != "media_type"}

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        return data if data.get("media_type") is not None else {**data, "media_type": ANY_IMAGE}


class Inline(Shape):
    """An image with its data. Its media type is required."""

    def read_inside(self, data: dict[str, Any], block: dict[str, Any], path: str, reading: Reading) -> dict[str, Any]:
        if data.get("media_type") is None:
            reading.fault(f"{path}.content.media_type", "missing string: the media type of the image")
        return data


TEXT = Shape("text", TextContent, text="text")
THINKING = Thinking("thinking", ReasoningContent, text="text")
TOOL_USE = Shape("tool_use", FunctionCallContent, {"call_id": "tool_use_id", "name": "tool_name", "arguments": "input"})
TOOL_RESULT = ToolResult(
    "tool_result", FunctionResultContent, {"call_id": "tool_use_id", "name": "tool_name", "outputs": "content"}
)
IMAGES = {
    "data": Inline("image", DataContent),
    "url": Linked("image", UriContent, {"uri": "url"}),
    "file": Linked("image", HostedFileContent, {"file_id": "file"}),
}
REFERENCES = {
    "uri": Shape("reference", UriContent),
    "file": Shape("reference", HostedFileContent, {"file_id": "file"}),
    "item_id": Shape("reference", ReferenceContent),
}
PLAIN_SHAPES = {
    kind: (Result if issubclass(kind, ToolResultContent) else Shape)(str(kind.__struct_config__.tag), kind)
    for kind in CONTENT_TYPES
}
WRITERS: dict[type[Any], Shape] = {
    **PLAIN_SHAPES,
    **{shape.model: shape for shape in (TEXT, THINKING, TOOL_USE, TOOL_RESULT)},
    ReferenceContent: REFERENCES["item_id"],
}
READERS: dict[str, Shape] = {
    **{shape.block_type: shape for shape in PLAIN_SHAPES.values()},
    **{shape.block_type: shape for shape in (TEXT, THINKING, TOOL_USE, TOOL_RESULT)},
}
CHOSEN = {"image": IMAGES, "reference": REFERENCES}
"""Block types with several content types: a key of the block's `content` decides."""


def model_of(kind: Any) -> type[Any] | None:
    """Return the content type of a block type, or of a `type` of the model; None if it is unknown or ambiguous."""
    if not isinstance(kind, str):
        return None
    shape = READERS.get(kind)
    return REGISTERED.get(kind) if shape is None else shape.model


def _shape_of_type(kind: type[Any]) -> Shape | None:
    """Return the shape of a type of the model, or of a type that the application registered; None for other types."""
    tag = str(kind.__struct_config__.tag)
    return WRITERS.get(kind) or (Shape(tag, kind) if REGISTERED.get(tag) is kind else None)


def shape_of(content: Any) -> Shape:
    """Return the shape that a content is written in."""
    kind = content.__class__
    if kind is DataContent:
        return IMAGES["data"] if content.is_media_type(ANY_IMAGE) else PLAIN_SHAPES[kind]
    if kind is UriContent:
        return IMAGES["url"] if content.is_media_type(ANY_IMAGE) else REFERENCES["uri"]
    if kind is HostedFileContent:
        return IMAGES["file"] if content.is_media_type(ANY_IMAGE) else REFERENCES["file"]
    shape = _shape_of_type(kind)
    assert shape is not None
    return shape


def made_by(content: Any) -> Any:
    """Return the row that a content was read with, for source traces; None for an unknown block."""
    if BARE.is_in(own_residue(content)):
        return PLAIN
    return None if content.__class__ is UnknownContent else shape_of(content)


# -- blocks ------------------------------------------------------------------------------------------------------------


def write_block(content: Any, sequence: int | None = None) -> dict[str, Any]:
    """Return the block of a content, spelled as it was read."""
    kind = content.__class__
    if kind not in WRITERS and not _shape_of_type(kind):
        # A type of the application may not be registered.
        content = convert_value(json_of(content), Content)
    residue = own_residue(content)
    written = _written(content, residue)
    if sequence is not None:
        written = {"sequence": sequence, **written}
    return respelled(written, residue) if residue else written


def _written(content: Any, residue: Mapping[str, Any]) -> dict[str, Any]:
    if BARE.is_in(residue):
        return json_of(content)
    if content.__class__ is not UnknownContent:
        return shape_of(content).write(content)
    block = content.block
    if content.api == API and isinstance(block, dict) and "sequence" not in block and _is_unknown(block):
        return dict(block)
    data = json_of(msgspec.structs.replace(content, api="", block=None))
    others = {key: value for key, value in data.items() if key not in ("type", "api", "block")}
    inside = {"api": content.api, "block": block, **others}
    return {"block_type": "unknown", "content": {key: value for key, value in inside.items() if value is not None}}


def _is_unknown(block: dict[str, Any]) -> bool:
    kind = block.get("block_type")
    return isinstance(kind, str) and kind not in READERS and kind not in CHOSEN and kind not in REGISTERED


def read_block(block: Any, path: str, reading: Reading, sequence: int | None = None) -> Any:
    """Return the content of a block; None and faults if it is invalid. An unknown type is an UnknownContent."""
    if not isinstance(block, dict):
        reading.expected(path, "an object: a block", block)
        return None
    content, form = _read_content(block, path, reading)
    if content is None:
        return None
    written = _written(content, form)
    if sequence is not None:
        written = {"sequence": sequence, **written}
    shape = made_by(with_residue(content, form))
    unread = shape.unread(written, block) if isinstance(shape, Shape) else {}
    return with_residue(content, {**form, **residue_of(written, block), **unread})


def _read_content(block: dict[str, Any], path: str, reading: Reading) -> tuple[Any, dict[str, Any]]:
    """Return the content without residue, and the hint of its form."""
    kind = block.get("block_type")
    if "block_type" not in block and isinstance(block.get("type"), str):
        plain = {key: value for key, value in block.items() if key != "sequence"}
        content = value_of(plain, Content, path, reading)
        return None if content is None else bare(content), BARE.entry("type")
    if not isinstance(kind, str):
        if "block_type" in block:
            reading.expected(f"{path}.block_type", "a string: the type of this block", kind)
        else:
            reading.fault(f"{path}.block_type", "missing string: the type of this block")
        return None, {}
    if _is_unknown(block):
        other_fields = {key: value for key, value in block.items() if key != "sequence"}
        return UnknownContent(api=API, block=other_fields), {}
    if kind in CHOSEN:
        shape = _chosen(block, CHOSEN[kind], path, reading)
    else:
        shape = READERS.get(kind) or Shape(kind, REGISTERED[kind])
    return (None if shape is None else shape.read(block, path, reading)), {}


def _chosen(block: dict[str, Any], shapes: Mapping[str, Shape], path: str, reading: Reading) -> Shape | None:
    inside = block.get("content")
    keys = inside if isinstance(inside, dict) else {}
    for key, shape in shapes.items():
        if keys.get(key) is not None:
            return shape
    reading.fault(f"{path}.content", f"missing one of {', '.join(shapes)}: the source of this {block['block_type']}")
    return None


def describe() -> list[dict[str, Any]]:
    """Return every block type as data."""
    shapes = [TEXT, THINKING, TOOL_USE, TOOL_RESULT, *IMAGES.values(), *REFERENCES.values()]
    models = {shape.model for shape in shapes} - {DataContent}
    return [shape.describe() for shape in [*shapes, *(s for kind, s in PLAIN_SHAPES.items() if kind not in models)]]
