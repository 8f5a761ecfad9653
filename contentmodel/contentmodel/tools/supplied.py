"""Parameters that the caller supplies: a model's values for them are removed from its calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.errors import ToolArgumentsError
from contentmodel.json import write
from contentmodel.request import FunctionTool
from contentmodel.tools.definition import Tool

Call = TypeVar("Call", bound=ToolCallContent)


class HandedBackTool(Tool):
    """A tool that the application runs itself, with values that the model must not choose.

    A runner hands its calls back. `supplied` are the values of the parameters that the definition does not declare.
    """

    def __init__(self, definition: FunctionTool, supplied: Mapping[str, Any]) -> None:
        self.name = definition.name
        self.description = definition.description
        self.strict = definition.strict
        self.args_schema = definition.parameters
        self.supplied = frozenset(supplied)
        self._values = dict(supplied)

    def check(self) -> None:
        """Do nothing: the application runs the tool."""

    def with_values(self, call: Call) -> Call:
        """Return the call with the supplied values. Raise ToolArgumentsError if its arguments are not an object."""
        arguments = {**call.arguments_object, **self._values}
        return msgspec.structs.replace(call, arguments=_like(call, arguments))

    @property
    def _documented(self) -> str | None:
        return None


def without_supplied(call: Call, names: Collection[str]) -> Call:
    """Return the call without the model's values for these parameters.

    Arguments that are not an object have no such values: they are unchanged.
    """
    if not names or not isinstance(call, FunctionCallContent):
        return call
    try:
        arguments = call.arguments_object
    except ToolArgumentsError:
        return call
    remaining = {name: value for name, value in arguments.items() if name not in names}
    return call if len(remaining) == len(arguments) else msgspec.structs.replace(call, arguments=_like(call, remaining))


def _like(call: ToolCallContent, arguments: dict[str, Any]) -> dict[str, Any] | str:
    """Return arguments as a text if those of the call are a text."""
    if not isinstance(call.arguments, str):
        return arguments
    return write(arguments).decode("utf-8", "surrogatepass")
