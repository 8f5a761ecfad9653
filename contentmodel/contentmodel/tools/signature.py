"""Convert a function's signature to a schema of arguments, and pass validated arguments to the function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from contentmodel.tools.cancellation import Cancellation
from contentmodel.tools.schema import StructSchema, ToolDefinitionError, pydantic_schema


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Information about a run for a tool. A parameter of this type is filled in, and is not part of the schema.

    `call_id` is the id of the call. `state` is the value that the caller gave to the runner. `cancellation` is set when
    the result is no longer needed, after a timeout or a cancelled run. Applications may subclass it.
    """

    call_id: str | None = None
    state: Any = None
    cancellation: Cancellation = field(default_factory=Cancellation, compare=False, repr=False)


@dataclass(frozen=True)
class Signature:
    """The parameters of a function. `model` is a pydantic model of those that the model fills."""

    parameters: tuple[inspect.Parameter, ...]
    fields: Mapping[str, str]
    context: str | None
    model: type[Any]

    def values(self, read: Any) -> dict[str, Any]:
        """Return the arguments by parameter name, from an instance of `model`."""
        return {parameter: getattr(read, field) for field, parameter in self.fields.items()}

    def bound(self, values: Mapping[str, Any], context: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return positional and named arguments for a call. Only positional-only parameters are passed by position."""
        arguments = {**values, **({self.context: context} if self.context else {})}
        by_position = [p.name for p in self.parameters if p.kind is p.POSITIONAL_ONLY]
        return [arguments.pop(name) for name in by_position], arguments


def read_signature(
    name: str,
    function: Callable[..., Any],
    texts: Mapping[str, str],
    local_names: Mapping[str, Any] | None = None,
) -> Signature:
    """Return the signature of a tool's function; `texts` are its parameters' descriptions.

    `local_names` are additional names that annotations may use. Raise ToolDefinitionError with every parameter that has
    no JSON form.
    """
    hints = _hints(name, function, local_names)
    parameters = _parameters(name, function)
    variable = [p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if variable:
        raise ToolDefinitionError(name, [f"parameter {p}: *args and **kwargs are not supported" for p in variable])
    contexts = [p.name for p in parameters if is_context(hints.get(p.name))]
    if len(contexts) > 1:
        raise ToolDefinitionError(
            name, [f"only one parameter can be a ToolContext, but there are several: {', '.join(contexts)}"]
        )
    shown = [p for p in parameters if p.name not in contexts]
    fields = {f"field_{number}": parameter for number, parameter in enumerate(shown)}
    return Signature(
        parameters=parameters,
        fields={field: parameter.name for field, parameter in fields.items()},
        context=contexts[0] if contexts else None,
        model=_model(name, {f: _field(p, hints, texts) for f, p in fields.items()}, [p.name for p in shown]),
    )


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the ToolContext parameter; None if there is none, or if the types cannot be read."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError):
        return None
    return next((name for name, hint in hints.items() if name != "return" and is_context(hint)), None)


def is_context(annotation: Any) -> bool:
    """Return whether an annotation is ToolContext, a subclass of it, or a union with one of these."""
    if get_origin(annotation) is Annotated:
        return is_context(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return any(is_context(member) for member in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, ToolContext)


def _hints(name: str, function: Callable[..., Any], local_names: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, localns=dict(local_names or {}), include_extras=True)
    except (NameError, TypeError, SyntaxError) as error:
        raise ToolDefinitionError(name, [f"an annotation cannot be read: {error}"]) from error


def _parameters(name: str, function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters without an unannotated `self` or `cls`."""
    try:
        parameters = tuple(inspect.signature(function).parameters.values())
    except ValueError as error:
        raise ToolDefinitionError(name, [str(error)]) from error
    unbound = (
        parameters and parameters[0].name in ("self", "cls") and parameters[0].annotation is inspect.Parameter.empty
    )
    return parameters[1:] if unbound else parameters


def _field(parameter: inspect.Parameter, hints: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[Any, Any]:
    """Return pydantic's annotation and field of a parameter. The name is an alias, so that any name is allowed."""
    from pydantic import Field
    from pydantic.fields import FieldInfo

    annotation, default = adapted(hints.get(parameter.name, Any)), parameter.default
    settings: dict[str, Any] = {"alias": parameter.name, "validation_alias": parameter.name}
    if parameter.name in texts and not _described(annotation, default):
        settings["description"] = texts[parameter.name]
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default], Field(**settings)
    if default is not parameter.empty:
        settings["default"] = default
    return annotation, Field(**settings)


def _described(annotation: Any, default: Any) -> bool:
    """Return whether a Field, in the metadata or as the default, has a description."""
    return any(getattr(each, "description", None) for each in (*getattr(annotation, "__metadata__", ()), default))


def adapted(annotation: Any) -> Any:
    """Return `annotation` with each msgspec Struct in it made readable to pydantic."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return Annotated[annotation, StructSchema(annotation)]
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal:
        return annotation
    if origin is Annotated:
        return Annotated[(adapted(members[0]), *members[1:])]
    inner = tuple(list(map(adapted, m)) if isinstance(m, list) else adapted(m) for m in members)
    if inner == members:
        return annotation
    return reduce(or_, inner) if origin in (Union, UnionType) else origin[inner]


def _model(name: str, fields: dict[str, tuple[Any, Any]], names: list[str]) -> type[Any]:
    from pydantic import ConfigDict, create_model

    try:
        model: type[Any] = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload]
        pydantic_schema(model)
    except Exception as error:
        faults = [_fault(parameter, pair) for parameter, pair in zip(names, fields.values(), strict=True)]
        raise ToolDefinitionError(name, [f for f in faults if f] or [str(error).partition("\n")[0]]) from error
    return model


def _fault(parameter: str, field: tuple[Any, Any]) -> str | None:
    """Return why this parameter alone has no schema, or None."""
    try:
        pydantic_schema(field[0])
    except Exception as error:
        return f"parameter {parameter}: {str(error).partition(chr(10))[0]}"
    return None
