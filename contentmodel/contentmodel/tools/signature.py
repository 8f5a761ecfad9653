"""A function's signature as a schema of arguments: what the model may give, and how it is handed over."""

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
    """What a runner tells a tool about its run. A parameter of this type is filled in, and no model sees it.

    `call_id` is the call's; `state` is whatever the caller gave the runner; `cancellation` says when nobody waits for
    the result any more: the time is up, or the run was cancelled. Applications may subclass it.
    """

    call_id: str | None = None
    state: Any = None
    cancellation: Cancellation = field(default_factory=Cancellation, compare=False, repr=False)


@dataclass(frozen=True)
class Signature:
    """The parameters of a function: `model` reads those the model gives, under the names of the function."""

    parameters: tuple[inspect.Parameter, ...]
    fields: Mapping[str, str]
    context: str | None
    model: type[Any]

    def values(self, read: Any) -> dict[str, Any]:
        """The arguments by parameter name, of an instance of `model`."""
        return {parameter: getattr(read, field) for field, parameter in self.fields.items()}

    def bound(self, values: Mapping[str, Any], context: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as a function is called: by position where it accepts no name."""
        given = {**values, **({self.context: context} if self.context else {})}
        by_position = [p.name for p in self.parameters if p.kind is p.POSITIONAL_ONLY]
        return [given.pop(name) for name in by_position], given


def read_signature(
    name: str,
    function: Callable[..., Any],
    texts: Mapping[str, str],
    local_names: Mapping[str, Any] | None = None,
) -> Signature:
    """The signature of a tool's function; `texts` are its parameters' descriptions.

    `local_names` are names that annotations may use beside those of the function's module. ToolDefinitionError names
    every parameter that no JSON can fill.
    """
    hints = _hints(name, function, local_names)
    parameters = _parameters(name, function)
    variable = [p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if variable:
        raise ToolDefinitionError(name, [f"parameter {p}: a model cannot fill *args or **kwargs" for p in variable])
    contexts = [p.name for p in parameters if is_context(hints.get(p.name))]
    if len(contexts) > 1:
        raise ToolDefinitionError(name, [f"more than one parameter is a ToolContext: {', '.join(contexts)}"])
    shown = [p for p in parameters if p.name not in contexts]
    fields = {f"field_{number}": parameter for number, parameter in enumerate(shown)}
    return Signature(
        parameters=parameters,
        fields={field: parameter.name for field, parameter in fields.items()},
        context=contexts[0] if contexts else None,
        model=_model(name, {f: _field(p, hints, texts) for f, p in fields.items()}, [p.name for p in shown]),
    )


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the parameter that is a ToolContext; None if there is none, or the types cannot be read."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError):
        return None
    return next((name for name, hint in hints.items() if name != "return" and is_context(hint)), None)


def is_context(annotation: Any) -> bool:
    """Whether an annotation is a ToolContext, a subclass of it, or one of these or None."""
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
    """The parameters, without the instance that a method is bound to later."""
    try:
        found = tuple(inspect.signature(function).parameters.values())
    except ValueError as error:
        raise ToolDefinitionError(name, [str(error)]) from error
    unbound = found and found[0].name in ("self", "cls") and found[0].annotation is inspect.Parameter.empty
    return found[1:] if unbound else found


def _field(parameter: inspect.Parameter, hints: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[Any, Any]:
    """A parameter as pydantic's pair of annotation and field. Names are aliases, so that any name will do."""
    from pydantic import Field
    from pydantic.fields import FieldInfo

    annotation, default = adapted(hints.get(parameter.name, Any)), parameter.default
    said: dict[str, Any] = {"alias": parameter.name, "validation_alias": parameter.name}
    if parameter.name in texts and not _described(annotation, default):
        said["description"] = texts[parameter.name]
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default], Field(**said)
    if default is not parameter.empty:
        said["default"] = default
    return annotation, Field(**said)


def _described(annotation: Any, default: Any) -> bool:
    """Whether a Field, as metadata or as default, says what the parameter is."""
    return any(getattr(found, "description", None) for found in (*getattr(annotation, "__metadata__", ()), default))


def adapted(annotation: Any) -> Any:
    """`annotation` with every msgspec Struct in it made readable to pydantic."""
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
    """Why this parameter, by itself, has no schema."""
    try:
        pydantic_schema(field[0])
    except Exception as error:
        return f"parameter {parameter}: {str(error).partition(chr(10))[0]}"
    return None
