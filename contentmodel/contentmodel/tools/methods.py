"""Find the method that does a class tool's work, and pass the arguments to it.

`run` takes the arguments as one value. `_run`, `arun` and `_arun` are the names that agent frameworks use. Their
parameters are the arguments by name, as in LangChain's BaseTool (langchain_core/tools/base.py, seen 2026-11-22). If the
only parameter is not the name of an argument, it takes all of them, as in `run`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from contentmodel.tools.signature import ToolContext, context_parameter

NAMES = ("run", "_run", "arun", "_arun")
WHOLE = ("args", "arguments")
"""Names of a parameter that takes all arguments, if the class has no schema."""


class Method(msgspec.Struct, frozen=True):
    """A method that does a tool's work.

    If `takes_names`, the method takes the arguments in `names` by name (None: all arguments). `missing` are required
    parameters that no argument supplies. `context` is the parameter of the ToolContext: its name, "" for the second
    position, or None if there is none.
    """

    name: str
    is_async: bool
    takes_names: bool = False
    names: frozenset[str] | None = None
    context: str | None = None
    missing: tuple[str, ...] = ()

    def call(self, tool: Any, args: Any, context: ToolContext) -> Any:
        """Call the method of `tool`."""
        function = getattr(tool, self.name)
        if not self.takes_names:
            if not self.context:
                return function(args) if self.context is None else function(args, context)
            return function(args, **{self.context: context})
        named = {name: value for name, value in values_of(args).items() if self.names is None or name in self.names}
        named.pop(self.context or "", None)
        return function(**named, **({self.context: context} if self.context else {}))


def methods_of(tool: Any, base: Callable[..., Any], arguments: Sequence[str] | None) -> list[Method]:
    """Return the methods that do a tool's work. The list is empty if there is only the `base` method, which raises.

    `arguments` are the names in the tool's schema; None if its class has no schema.
    """
    methods = []
    for name in NAMES:
        function = getattr(tool, name, None)
        if callable(function) and getattr(function, "__func__", function) is not base:
            methods.append(_method(name, function, arguments))
    return methods


def _method(name: str, function: Callable[..., Any], arguments: Sequence[str] | None) -> Method:
    is_async = inspect.iscoroutinefunction(function)
    parameters = inspect.signature(function).parameters
    if name == "run":
        return Method(name, is_async, context="" if len(parameters) > 1 else None)
    context = context_parameter(function)
    others = {key: parameter for key, parameter in parameters.items() if key != context}
    if _takes_all(others, arguments):
        return Method(name, is_async, context=context)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in others.values())
    missing = (
        [] if arguments is None else [key for key, p in others.items() if _is_required(p) and key not in arguments]
    )
    return Method(name, is_async, True, None if takes_any else frozenset(others), context, tuple(missing))


def _is_required(parameter: inspect.Parameter) -> bool:
    variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    return parameter.default is parameter.empty and not variable


def _takes_all(parameters: Mapping[str, inspect.Parameter], arguments: Sequence[str] | None) -> bool:
    if len(parameters) != 1:
        return False
    ((name, parameter),) = parameters.items()
    if parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
        return False
    if arguments is None:
        return name in WHOLE
    return name not in arguments


def values_of(args: Any) -> dict[str, Any]:
    """Return the arguments of a mapping, a Struct, a dataclass or a pydantic model, by name."""
    if isinstance(args, Mapping):
        return dict(args)
    return {name: getattr(args, name) for name in field_names(type(args))}


def field_names(kind: Any) -> list[str]:
    """Return the field names of a class of arguments; an empty list for a schema or a TypedDict."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return list(getattr(kind, "__struct_fields__", None) or getattr(kind, "model_fields", None) or ())
