"""Facts of wire objects beside their fields: the fields that report a failed tool, and the shapes of unknown blocks.

A failure field is one beside the outputs of a tool that reports its failure: a status, an exit code or a flag. A row
declares these fields as data. Decoding adds an `ErrorContent` to the outputs of a failed tool. So `result.error` is
right for every API, and an API without such a field gets the error as text.

Providers often add hosted tools, and name their blocks alike: `<tool>_tool_result` with the id of its call. A row with
a shape decodes every block of that form whose tag has no row of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.codecs import Codec
from contentmodel.hints import FAILURE
from contentmodel.json import Json, JsonObject, container_of, wire_at, wire_path

if TYPE_CHECKING:
    from contentmodel.content.tools import ToolResultContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.table.codecs import Place
    from contentmodel.engine.table.compile import Decode, Encode, Functions


class FailureField(msgspec.Struct, frozen=True):
    """A field of a wire object that may report a failure.

    `values` are those at the dotted `path` that report one. If it is None, any value except null, false, zero and
    empty ones does. `failed` is the value that an encoder writes there.
    """

    path: str
    values: Collection[str | int] | None = None
    failed: Json = None

    def error(self, wire: Mapping[str, object]) -> ErrorContent | None:
        """Return the failure that the field reports; None if it reports none."""
        value = wire_at(wire, self.path)
        reports = bool(value) if self.values is None else value.__class__ in (str, int) and value in self.values
        return _error(self.path.rpartition(".")[2], value, is_code=self.values is not None) if reports else None

    def describe(self) -> JsonObject:
        """Return the field as data."""
        values = None if self.values is None else list(self.values)
        return {"path": self.path, "values": values, "failed": self.failed}


def _error(name: str, value: object, *, is_code: bool) -> ErrorContent:
    if value.__class__ is dict:
        message, code = value.get("message"), value.get("code") or value.get("type")
        text = message if message.__class__ is str else ""
        return ErrorContent(message=text, code=code if code.__class__ is str else name, details=value)
    if value.__class__ is str:
        return ErrorContent(code=value) if is_code else ErrorContent(message=value, code=name)
    if value.__class__ is int:
        return ErrorContent(message=f"{name.replace('_', ' ')} {value}", code=name, details={name: value})
    return ErrorContent(code=name)


class Failure:
    """The fields of one kind of result that report a failure.

    If `texts_are_errors`, the texts of a failed result are its error. If `only_fields`, the API has no other field for
    a failure: an encoder writes the first field for an error of any origin.
    """

    def __init__(self, *fields: FailureField, texts_are_errors: bool = False, only_fields: bool = False) -> None:
        self.fields, self._texts_are_errors, self._only_fields = fields, texts_are_errors, only_fields

    def describe(self) -> list[JsonObject]:
        """Return the fields as data."""
        return [field.describe() for field in self.fields]

    def errors(self, wire: Mapping[str, object], api: str) -> list[ErrorContent]:
        """Return the error that the first matching field reports, with the hint that it came from a field; else []."""
        errors = (error for field in self.fields if (error := field.error(wire)) is not None)
        return [FAILURE.on(error, api, "sign") for error in islice(errors, 1)]

    def read(self, result: ToolResultContent, wire: JsonObject, context: DecodeContext) -> ToolResultContent:
        """Return a decoded result. If its wire object reports a failure, add the error to the outputs."""
        errors = self.errors(wire, context.api)
        if not errors or any(output.__class__ is ErrorContent for output in result.output_list):
            return result
        outputs = result.output_list
        if self._texts_are_errors:
            outputs = [context.replaced(output, _as_error(output, context.api)) for output in outputs]
        if outputs and any(output.__class__ is ErrorContent for output in outputs):
            errors = []
        return msgspec.structs.replace(result, outputs=[*outputs, *errors])

    def place_of(self, error: AIContent, wire: Mapping[str, object], path: str, api: str) -> tuple[str, Json] | None:
        """Return the path and value of the field that an error was made from; None if it was not made from a field."""
        if FAILURE.of(error, api) != "sign":
            return None
        fields = (field for field in self.fields if field.error(wire) is not None)
        return next(((wire_path(path, field.path), wire_at(wire, field.path)) for field in fields), None)

    def places(self, result: object, wire: Mapping[str, object], path: str, api: str) -> Iterator[Place]:
        """Yield each error of a decoded result that was made from a field, with the origin in that field."""
        for output in getattr(result, "output_list", ()):
            place = self.place_of(output, wire, path, api)
            if place is not None:
                yield output, *place, None

    def without(self, result: ToolResultContent, context: EncodeContext) -> ToolResultContent:
        """Return a result without errors that were made from fields. Errors that were texts become texts again."""
        if not any(output.__class__ is ErrorContent for output in result.output_list):
            return result
        outputs = [original for output in result.output_list for original in self._before(output, context)]
        plain = msgspec.structs.replace(result, outputs=outputs)
        return context.replaced(result, plain)

    def _before(self, output: AIContent, context: EncodeContext) -> list[AIContent]:
        if output.__class__ is not ErrorContent:
            return [output]
        origin = FAILURE.of(output, context.api)
        if origin == "sign":
            return []
        return [_as_text(output, context)] if origin == "text" else [output]

    def write(self, result: ToolResultContent, wire: JsonObject, context: EncodeContext) -> None:
        """Write the missing failure field of a failed result.

        If a successful result has such a field, report the effect on decoding: an added error, or texts as errors.
        """
        is_reported = bool(self.errors(wire, context.api))
        if any(output.__class__ is ErrorContent for output in result.output_list):
            if self._only_fields and not is_reported:
                container, key = container_of(wire, self.fields[0].path)
                container[key] = self.fields[0].failed
        elif is_reported:
            self._report(result, context)

    def _report(self, result: ToolResultContent, context: EncodeContext) -> None:
        texts = (
            [output for output in result.output_list if output.__class__ is TextContent]
            if self._texts_are_errors
            else []
        )
        for text in texts:
            context.report_loss(text, None, reasons.TEXT_AS_ERROR)
        if not texts:
            context.report_loss(result, "outputs", reasons.ERROR_ADDED)

    def around(self, decode: Decode, encode: Encode, model: type) -> Functions:
        """Return `decode` and `encode` of a row, wrapped to read and write these fields."""

        def decode_failing(wire: JsonObject, context: DecodeContext) -> Any:
            result: Any = decode(wire, context)
            is_whole = result.__class__ is model
            return self.read(result, wire, context) if is_whole else result

        def encode_failing(result: ToolResultContent, context: EncodeContext) -> JsonObject:
            wire = encode(self.without(result, context), context)
            self.write(result, wire, context)
            return wire

        return decode_failing, encode_failing


def has_explicit_error(result: ToolResultContent) -> bool:
    """Return whether a result has an error that no decoder made from a field or a text."""
    errors = (output for output in result.output_list if output.__class__ is ErrorContent)
    return any(all(not FAILURE.is_in(residue) for residue in (error.extra or {}).values()) for error in errors)


def _as_error(output: AIContent, api: str) -> AIContent:
    if output.__class__ is not TextContent:
        return output
    return FAILURE.on(ErrorContent(**_of_any_content(output), message=output.text), api, "text")


def _as_text(error: ErrorContent, context: EncodeContext) -> TextContent:
    context.report_lost_attributes(error, ("details", "code") if error.message else ("details",))
    fields = {key: value for key, value in ((error.extra or {}).get(context.api) or {}).items() if key != FAILURE.key}
    extra = {**(error.extra or {}), context.api: fields}
    remaining = {api: residue for api, residue in extra.items() if residue} or None
    text = TextContent(**{**_of_any_content(error), "extra": remaining}, text=error.message or error.code or "")
    replaced: TextContent = context.replaced(error, text)
    return replaced


def _of_any_content(content: AIContent) -> dict[str, Any]:
    """Return the fields that contents of every type have."""
    return {name: getattr(content, name) for name in AIContent.__struct_fields__}


class Shape(msgspec.Struct, frozen=True):
    """A form of wire objects: a tag with one of the `endings`, and `fields` with a JSON class each.

    `tag` names the tag field. In a wire object of this form, the fields `without` are missing or null.
    """

    endings: tuple[str, ...]
    fields: Mapping[str, type] = {}
    without: tuple[str, ...] = ()
    tag: str = "type"

    def fits(self, wire: Mapping[str, object]) -> bool:
        """Return whether a wire object has this form."""
        tag = wire.get(self.tag)
        if tag.__class__ is not str or not tag or not tag.endswith(self.endings) or tag in self.endings:
            return False
        has_fields = all(wire.get(name).__class__ is kind for name, kind in self.fields.items())
        return has_fields and all(wire.get(name) is None for name in self.without)

    def describe(self) -> JsonObject:
        """Return the shape as data, which generators need to make such an object."""
        fields = {name: kind.__name__ for name, kind in self.fields.items()}
        return {"tag": self.tag, "endings": list(self.endings), "fields": fields, "without": list(self.without)}


class Named(Codec[str]):
    """A tag that consists of a tool name and an ending: `quantum_tool_result` is the tool `quantum`."""

    classes = (str,)
    identity = False

    def __init__(self, ending: str) -> None:
        super().__init__()
        self.ending = ending

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value.endswith(self.ending)

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> str:
        return value.removesuffix(self.ending)

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return f"{value}{self.ending}"
