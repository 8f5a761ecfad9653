"""Read a JSON object as the arguments of a tool, with pydantic, msgspec, or a given JSON Schema."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Protocol

import msgspec

from contentmodel.tools.faults import InputFault, InvalidArguments, shown
from contentmodel.tools.schema import (
    ToolDefinitionError,
    UnenforcedPattern,
    is_schema_type,
    schema_faults,
    type_schema,
    unenforced_patterns,
)
from contentmodel.tools.signature import Signature
from contentmodel.tools.validation import SchemaValidator


class Arguments(Protocol):
    """The arguments of a tool: the schema for the model, and a reader for JSON objects.

    `description` is the type's own description. It is None if the type has none, or if the schema contains it.
    """

    @property
    def schema(self) -> dict[str, Any]: ...

    @property
    def description(self) -> str | None: ...

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        """Return the arguments for the tool. `text` and `value` are the same object, as JSON text and as a value."""
        ...


def arguments_of(tool: str, kind: Any) -> Arguments:
    """Return the arguments that a tool declares: a pydantic model, Struct, dataclass, TypedDict, or a JSON Schema.

    Raise ToolDefinitionError if `kind` is none of these, or does not describe an object. Issue an UnenforcedPattern
    warning for each pattern of a JSON Schema that is not enforced.
    """
    if isinstance(kind, dict):
        faults = schema_faults(kind)
        if faults:
            raise ToolDefinitionError(tool, [str(fault) for fault in faults])
        for fault in unenforced_patterns(kind):
            warnings.warn(f"{tool}: {fault}", UnenforcedPattern, stacklevel=2)
        return SchemaArguments(kind)
    if not is_schema_type(kind):
        kinds = "a pydantic model, msgspec Struct, dataclass, TypedDict or JSON Schema"
        raise ToolDefinitionError(tool, [f"args_schema must be {kinds}, not {kind!r}"])
    try:
        arguments = StructArguments(kind) if issubclass(kind, msgspec.Struct) else PydanticArguments(kind)
    except TypeError as error:
        raise ToolDefinitionError(tool, [f"args_schema {kind.__name__}: {error}"]) from error
    if arguments.schema.get("type") != "object":
        raise ToolDefinitionError(tool, [f"args_schema {kind.__name__} does not describe an object"])
    return arguments


class PydanticArguments:
    """Arguments that pydantic reads: a model, a dataclass, or a TypedDict."""

    def __init__(self, kind: Any) -> None:
        from pydantic import TypeAdapter

        self.schema = type_schema(kind)
        self.description: str | None = self.schema.pop("description", None)
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(text, strict=True)
        except ValidationError as error:
            details: list[Any] = error.errors(include_url=False, include_context=False)
            raise InvalidArguments(_merged(_pydantic_fault(detail, value) for detail in details)) from None


class FunctionArguments(PydanticArguments):
    """The parameters of a function, read as a dict by parameter name."""

    def __init__(self, signature: Signature) -> None:
        super().__init__(signature.model)
        self._signature = signature

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        return self._signature.values(super().read(text, value))


class StructArguments:
    """Arguments that msgspec reads."""

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self.schema = type_schema(kind)
        self.description: str | None = self.schema.pop("description", None)
        self._kind = kind

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        try:
            return msgspec.json.decode(text, type=self._kind)
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeError) as error:
            # msgspec stops at the first fault. Validate against its schema to find the others.
            raise InvalidArguments(self._validator.faults(value) or [_struct_fault(str(error))]) from None

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(self.schema)


class SchemaArguments:
    """Arguments described by a given JSON Schema (Draft 2020-12), read as a dict."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.description: str | None = None

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        faults = self._validator.faults(value)
        if faults:
            raise InvalidArguments(faults)
        return value

    @cached_property
    def _validator(self) -> SchemaValidator:
        return SchemaValidator(self.schema)


class VisibleArguments(SchemaArguments):
    """Arguments without those in `supplied`: a schema that allows further arguments allows these, too."""

    def __init__(self, schema: dict[str, Any], supplied: frozenset[str]) -> None:
        super().__init__(schema)
        self._supplied = supplied

    def read(self, text: bytes, value: dict[str, Any]) -> Any:
        read = super().read(text, value)
        return {name: value for name, value in read.items() if name not in self._supplied}


# pydantic's faults ----------------------------------------------------------------------------------------------------


def _pydantic_fault(detail: dict[str, Any], value: Any) -> InputFault:
    kind, message = detail["type"], detail["msg"]
    path = _path(detail["loc"], value, kind == "missing")
    if kind == "missing":
        return InputFault(path, "a value (it is required)", "nothing")
    if kind == "struct":
        inner = _struct_fault(message)
        return InputFault(path + inner.path.removeprefix("$"), inner.expected, inner.got)
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return InputFault(path, "no argument of this name", shown(detail["input"]))
    expected = message.removeprefix("Input should be ").removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return InputFault(path, expected, shown(detail["input"]))


def _path(steps: Iterable[Any], value: Any, missing: bool) -> str:
    """Return the JSON path of pydantic's location. Names of union members in the location are skipped."""
    path = "$"
    *most, last = steps or ("",)
    for step in (*most, last):
        if isinstance(value, dict) and step in value:
            path, value = f"{path}.{step}", value[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            path, value = f"{path}[{step}]", value[step]
    return f"{path}.{last}" if missing else path


def _merged(faults: Iterable[InputFault]) -> Iterator[InputFault]:
    """Yield one fault for each path: faults of union members are merged, because the members are alternatives."""
    by_path: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        expected = by_path.setdefault((fault.path, fault.got), [])
        if fault.expected not in expected:
            expected.append(fault.expected)
    for (path, got), expected in by_path.items():
        yield InputFault(path, " or ".join(expected), got)


def _struct_fault(message: str) -> InputFault:
    text, _, path = message.partition(" - at `")
    expected, _, got = text.removeprefix("Expected ").partition(", got ")
    return InputFault(path.rstrip("`") or "$", expected, got or "something else")
