"""Define tools: a function with `@tool`, or a subclass of `Tool`. Both give the same `FunctionTool`."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, overload

from contentmodel.request import FunctionTool
from contentmodel.tools.arguments import Arguments, FunctionArguments, arguments_of
from contentmodel.tools.docstrings import read_docstring
from contentmodel.tools.faults import as_json_text
from contentmodel.tools.methods import NAMES, Method, field_names, methods_of
from contentmodel.tools.outcome import ToolOutcome
from contentmodel.tools.schema import ToolDefinitionError
from contentmodel.tools.signature import ToolContext, read_signature

P = ParamSpec("P")
R = TypeVar("R")
Approval = bool | Callable[[Any], bool]


class Tool:
    """A tool that the application runs. Subclass it for a tool with state, or use `@tool` on a function.

    A subclass sets `args_schema` (a pydantic model, msgspec Struct, dataclass, TypedDict, or a JSON Schema as a dict)
    and has a method `run(self, args)` or `run(self, args, context)`, sync or async. `args` is an instance of that type,
    or a dict, and always valid. If `description` is not set, the class's docstring is the description.

    Instead of `run` it may have `_run`, or an async `arun` or `_arun`, like the class tools of agent frameworks. These
    take the arguments by name. If the class has no `args_schema`, their parameters are the schema. An async method is
    preferred where tools run as tasks, a sync method on threads. A tool without any of these methods cannot be bound.
    """

    name: str = ""
    description: str | None = None
    args_schema: Any = {"type": "object", "properties": {}, "additionalProperties": False}
    strict: bool | None = None
    """True if the provider must enforce the schema; None leaves it to the provider."""
    terminates: bool = False
    """True if the loop ends after this tool has run."""
    approval: Approval = False
    """The approval that the tool needs before it runs: always, never, or depending on its arguments."""
    timeout: float | None = None
    """The time limit of one run in seconds; None leaves it to the runner."""
    concurrent: bool = True
    """True if the tool may run at the same time as other tools."""
    supplied: frozenset[str] = frozenset()
    """Names of arguments that the caller supplies, and not the model. Tools of a tool file set it."""

    def run(self, *args: Any, **named: Any) -> Any:
        """Do the tool's work, sync or async: `run(self, args)` or `run(self, args, context)`.

        It may return any value that `contents_of` accepts.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement run")

    def invoke(self, args: Any, context: ToolContext | None = None) -> Any:
        """Run the tool, with the context if the method takes one. The result is awaitable if `is_async`."""
        return self._method(is_async=True).call(self, args, context or ToolContext())

    def invoke_sync(self, args: Any, context: ToolContext | None = None) -> Any:
        """Run the tool on this thread. The result is awaitable only if all methods of the tool are async."""
        return self._method(is_async=False).call(self, args, context or ToolContext())

    @property
    def is_async(self) -> bool:
        """True if `invoke` returns an awaitable, so that the tool must not run on a thread."""
        return self._method(is_async=True).is_async

    def check(self) -> None:
        """Raise ToolDefinitionError if the tool has no method that runs it, or one that cannot be called."""
        faults = [
            f"no argument supplies the parameter {name} of {method.name}: add it to the schema, or give it a default"
            for method in self._methods
            for name in method.missing
        ]
        if not self._methods:
            missing = f"the class has no method {', '.join(NAMES[:-1])} or {NAMES[-1]}"
            faults = [f"{missing}: define one, or pass its `definition`, a FunctionTool"]
        if faults:
            raise ToolDefinitionError(self.name or type(self).__name__, faults)

    @cached_property
    def arguments(self) -> Arguments:
        """The schema and the reader of the arguments. Raise ToolDefinitionError if `args_schema` cannot be used."""
        name = self.name or type(self).__name__
        if self._has_schema:
            return arguments_of(name, self.args_schema)
        named = next((getattr(self, method.name) for method in self._methods if method.takes_names), None)
        if named is None:
            return arguments_of(name, self.args_schema)
        return FunctionArguments(read_signature(name, named, read_docstring(named)[1]))

    @cached_property
    def definition(self) -> FunctionTool:
        """The declaration of this tool for a model."""
        if not isinstance(self.name, str) or not self.name:
            raise ToolDefinitionError(type(self).__name__, ["the tool has no name: set `name`"])
        return FunctionTool(
            name=self.name,
            description=self.description or self._documented or self.arguments.description,
            parameters=self.arguments.schema,
            strict=self.strict,
        )

    def needs_approval(self, args: Any) -> bool:
        """Return whether the tool needs approval to run with these arguments."""
        if not callable(self.approval):
            return self.approval
        answer: Any = self.approval(args)
        if inspect.isawaitable(answer):
            raise TypeError(f"approval of {self.name} must be a sync function that returns True or False")
        return bool(answer)

    def format_use(self, args: Any) -> str:
        """Return the text that is shown to a user when the tool is used. Override it for a better text."""
        return f"{self.name}({as_json_text(args)})"

    def format_result(self, outcome: ToolOutcome) -> str:
        """Return the text of a result for a user: `display`, or else `shown`. Override it for a better text."""
        return outcome.shown if outcome.display is None else outcome.display

    @property
    def _documented(self) -> str | None:
        return None if type(self) is Tool else inspect.cleandoc(type(self).__doc__ or "") or None

    @property
    def _has_schema(self) -> bool:
        return self.args_schema is not Tool.args_schema

    @cached_property
    def _methods(self) -> list[Method]:
        if not self._has_schema:
            return methods_of(self, Tool.run, None)
        names = field_names(self.args_schema) or list(self.arguments.schema.get("properties", {}))
        return methods_of(self, Tool.run, names)

    def _method(self, *, is_async: bool) -> Method:
        """Return the method that runs the tool, preferably one of this kind."""
        self.check()
        return next((method for method in self._methods if method.is_async == is_async), self._methods[0])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class CallableTool(Tool, Generic[P, R]):
    """A function as a tool. It can still be called like the function. Made by `tool`."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        local_names: Mapping[str, Any] | None = None,
    ) -> None:
        summary, texts = read_docstring(function)
        self.function = function
        self.name = name or _function_name(function)
        self.description = description or summary
        self._signature = read_signature(self.name, function, texts, local_names)
        self._format_use: Callable[[Any], str] | None = None
        self._format_result: Callable[[ToolOutcome], str] | None = None
        update_wrapper(self, function, assigned=("__module__", "__qualname__", "__doc__"), updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> CallableTool[..., R]:
        """Bind a tool that is a method to its instance."""
        if instance is None:
            return self
        bound = copy.copy(self)
        bound.function = self.function.__get__(instance, owner)
        return bound

    def run(self, args: Any, *context: Any) -> Any:
        """Call the function; `args` are its arguments by name."""
        positional, named = self._signature.bound(args, *context or (ToolContext(),))
        return self.function(*positional, **named)

    @property
    def is_async(self) -> bool:
        """True if the function is async."""
        return inspect.iscoroutinefunction(self.function)

    @cached_property
    def arguments(self) -> Arguments:
        """The function's parameters."""
        return FunctionArguments(self._signature)

    def format_use(self, args: Any) -> str:
        """Return the text that is shown to a user when the tool is used."""
        return self._format_use(args) if self._format_use else super().format_use(args)

    def format_result(self, outcome: ToolOutcome) -> str:
        """Return the text of a result for a user."""
        return self._format_result(outcome) if self._format_result else super().format_result(outcome)

    @property
    def _documented(self) -> str | None:
        return None


@overload
def tool(function: Callable[P, R], /) -> CallableTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    strict: bool | None = None,
    terminates: bool = False,
    approval: Approval = False,
    timeout: float | None = None,
    concurrent: bool = True,
    format_use: Callable[[Any], str] | None = None,
    format_result: Callable[[ToolOutcome], str] | None = None,
) -> Callable[[Callable[P, R]], CallableTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    strict: bool | None = None,
    terminates: bool = False,
    approval: Approval = False,
    timeout: float | None = None,
    concurrent: bool = True,
    format_use: Callable[[Any], str] | None = None,
    format_result: Callable[[ToolOutcome], str] | None = None,
) -> Any:
    """Make a `Tool` of a function, sync or async: `@tool`, or `@tool(name=..., terminates=True, ...)`.

    Name, description and the text of each parameter come from the signature and the docstring (Google, NumPy or
    reST), the schema from the type hints. A parameter of type `ToolContext` is filled in by the runner. The settings
    are the attributes of `Tool`. Raise ToolDefinitionError with every parameter that has no JSON form.
    """
    # Annotations in text form may refer to local names of the caller.
    local_names = dict(sys._getframe(1).f_locals)

    def decorate(function: Callable[..., Any]) -> CallableTool[..., Any]:
        if inspect.iscoroutinefunction(approval):
            raise ToolDefinitionError(
                name or _function_name(function), ["approval must be a sync function that returns True or False"]
            )
        new_tool = CallableTool(function, name=name, description=description, local_names=local_names)
        new_tool.strict, new_tool.terminates, new_tool.approval = strict, terminates, approval
        new_tool.timeout, new_tool.concurrent = timeout, concurrent
        new_tool._format_use, new_tool._format_result = format_use, format_result
        return new_tool

    return decorate if function is None else decorate(function)


def _function_name(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise ToolDefinitionError(repr(function), ["the function has no name: set name="])
    return name
