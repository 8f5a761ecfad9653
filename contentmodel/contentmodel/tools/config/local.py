"""Executable tools of a file: calls of an API or of a registered function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from contentmodel.errors import Fault
from contentmodel.json import write
from contentmodel.tools.arguments import Arguments, VisibleArguments, arguments_of
from contentmodel.tools.config.executors import Executor
from contentmodel.tools.config.format import Function, Operation
from contentmodel.tools.config.schemas import shown_parameters
from contentmodel.tools.definition import CallableTool, Tool
from contentmodel.tools.faults import InvalidArguments, ToolInputError
from contentmodel.tools.foreign import as_tool
from contentmodel.tools.outcome import ToolOutcome


class _Configured(Tool):
    """A tool of a file. The caller's context overrides the values that a model sends."""

    def __init__(self, function: Function, context: Mapping[str, Any]) -> None:
        self.name = function.name
        self.description = function.description
        self.strict = function.strict
        self.args_schema = shown_parameters(function.parameters, context)
        self.supplied = frozenset(context)
        self._context = dict(context)

    @cached_property
    def arguments(self) -> Arguments:
        """The parameters that the model sees. Values that a model sends for the others are left out."""
        arguments_of(self.name, self.args_schema)
        return VisibleArguments(self.args_schema, self.supplied)

    def _all(self, args: Mapping[str, Any]) -> dict[str, Any]:
        return {**args, **self._context}

    @property
    def _documented(self) -> str | None:
        return None


class ApiCall(_Configured):
    """A tool that calls an API with an executor."""

    def __init__(
        self, function: Function, context: Mapping[str, Any], operation: Operation, executor: Executor
    ) -> None:
        super().__init__(function, context)
        self._operation, self._executor = operation, executor

    def run(self, args: Any, *context: Any) -> Any:
        """Make the call, and return the executor's result."""
        return self._executor.run(self._operation, self._all(args))


class LocalCall(_Configured):
    """A tool that calls a function. It has the settings of the function's own tool, such as approval and timeout."""

    def __init__(self, function: Function, context: Mapping[str, Any], inner: Tool) -> None:
        super().__init__(function, context)
        self._inner = inner
        self.strict = inner.strict if function.strict is None else function.strict
        self.terminates, self.approval = inner.terminates, inner.approval
        self.timeout, self.concurrent = inner.timeout, inner.concurrent

    def run(self, args: Any, *context: Any) -> Any:
        """Call the function. Raise ToolInputError if its types refuse arguments that the file's schema allows."""
        return self._inner.invoke(self._read(args), *context)

    @property
    def is_async(self) -> bool:
        """True if the function is async."""
        return self._inner.is_async

    def needs_approval(self, args: Any) -> bool:
        """Return the answer of the function's own tool."""
        return self._inner.needs_approval(self._read(args)) if callable(self.approval) else self.approval

    def format_result(self, outcome: ToolOutcome) -> str:
        """Return the text of the function's own tool."""
        return self._inner.format_result(outcome)

    def _read(self, args: Any) -> Any:
        value = self._all(args)
        try:
            return self._inner.arguments.read(write(value), value)
        except InvalidArguments as refused:
            raise ToolInputError(self.name, refused.faults) from None


def function_tool(name: str, function: Callable[..., Any] | Tool) -> Tool:
    """Return a registered function as a tool. Raise ToolDefinitionError if its signature is not usable."""
    registered = as_tool(function)
    return registered if isinstance(registered, Tool) else CallableTool(registered, name=name)


def function_faults(inner: Tool, names: Iterable[str]) -> Iterator[Fault]:
    """Yield the differences between the parameters of a file and those of its function."""
    declared, schema = list(names), inner.arguments.schema
    properties = schema.get("properties", {})
    for name in declared if schema.get("additionalProperties") is False else ():
        if name not in properties:
            path = f"function.parameters.properties.{name}"
            yield Fault(path, f"the function has no argument {name}; its arguments: {', '.join(properties) or 'none'}")
    for name in schema.get("required", ()):
        if name not in declared:
            yield Fault("function.parameters", f"the function requires the argument {name}: add this parameter")
