"""Types of answers: the JSON Schema that a model gets, and the check of the value that it returns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from contentmodel.json import Json, JsonObject, kind_of, write
from contentmodel.schemas import tidied

T = TypeVar("T")

VALUE = "value"
"""The property that has the value, if the value is no object: every API wants an object."""


class Schema(msgspec.Struct, frozen=True):
    """A JSON Schema as the type of an answer. The answer is a plain JSON value that fits it.

    The check needs `contentmodel[tools]`.
    """

    schema: JsonObject
    name: str = "answer"


class InvalidValue(ValueError):
    """A value that does not fit the type. `path` is the JSON path in the value."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.path = path


class OutputType(Generic[T]):
    """The type of an answer: its `schema`, whose root is an object, its `name`, and `read`, which checks a value.

    Take a msgspec Struct, a dataclass, a TypedDict, a union, a literal, a list or a plain type, a pydantic model, a
    pydantic `TypeAdapter`, or a `Schema`. Raise TypeError for a type that has no JSON Schema.
    """

    def __init__(self, output: Any) -> None:
        schema, self._check, name = _described(output)
        self.name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "answer"
        self.description: str | None = schema.get("description") if isinstance(schema.get("description"), str) else None
        self.is_wrapped = schema.get("type") != "object"
        self.schema: JsonObject = _wrapped(schema) if self.is_wrapped else schema

    def read(self, value: Json) -> T:
        """Return the checked value of the type. Raise InvalidValue."""
        if self.is_wrapped:
            if not isinstance(value, dict) or VALUE not in value:
                raise InvalidValue(f'expected an object with the key "{VALUE}", got {kind_of(value)}')
            value = value[VALUE]
        read: T = self._check(value)
        return read


def _wrapped(schema: JsonObject) -> JsonObject:
    root = {key: item for key, item in schema.items() if key != "$defs"}
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    properties = {VALUE: root}
    return {
        "type": "object",
        "properties": properties,
        "required": [VALUE],
        "additionalProperties": False,
        **definitions,
    }


def _described(output: Any) -> tuple[JsonObject, Callable[[Json], Any], str]:
    """Return the schema of a type, the function that checks a value, and the name of the type."""
    name = getattr(output, "__name__", None) or "answer"
    if isinstance(output, Schema):
        return output.schema, _check_of_schema(output.schema), output.name
    # Pydantic's models and adapters are found by their methods, so that pydantic is not imported.
    if hasattr(output, "model_json_schema") and hasattr(output, "model_validate_json"):
        return tidied(output.model_json_schema()), _check_of_pydantic(output.model_validate_json), name
    if hasattr(output, "json_schema") and hasattr(output, "validate_json"):
        return tidied(output.json_schema()), _check_of_pydantic(output.validate_json), "answer"
    try:
        schema = tidied(msgspec.json.schema(output))
    except (TypeError, NameError) as error:
        fix = "use a msgspec Struct, a dataclass, a TypedDict, a pydantic model or TypeAdapter, or a Schema"
        raise TypeError(f"output={output!r} has no JSON Schema: {error}: {fix}") from error
    return schema, _check_of_msgspec(output), name


def _check_of_msgspec(output: Any) -> Callable[[Json], Any]:
    decoder = msgspec.json.Decoder(output)

    def check(value: Json) -> Any:
        try:
            return decoder.decode(write(value))
        except msgspec.ValidationError as error:
            message, at, path = str(error).rpartition(" - at `")
            raise InvalidValue(message if at else str(error), path.rstrip("`") if at else "$") from None

    return check


def _check_of_pydantic(validate: Callable[[bytes], Any]) -> Callable[[Json], Any]:
    def check(value: Json) -> Any:
        try:
            return validate(write(value))
        except ValueError as error:
            faults: Any = getattr(error, "errors", list)()
            if not faults:
                raise InvalidValue(str(error)) from None
            raise InvalidValue(faults[0]["msg"], _path_of(faults[0]["loc"])) from None

    return check


def _path_of(steps: tuple[Any, ...]) -> str:
    """Return the JSON path of pydantic's steps."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _check_of_schema(schema: JsonObject) -> Callable[[Json], Any]:
    from contentmodel.tools.validation import SchemaValidator

    validator = SchemaValidator(schema)

    def check(value: Json) -> Any:
        for fault in validator.faults(value):
            raise InvalidValue(f"expected {fault.expected}, got {fault.got}", fault.path)
        return value

    return check
