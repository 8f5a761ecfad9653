"""A loaded tool configuration file: its tools, for one caller and context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from contentmodel.errors import DecodeError
from contentmodel.json import plain
from contentmodel.request import FunctionTool
from contentmodel.tools.config.executors import Executor
from contentmodel.tools.config.faults import ToolContextError, ToolFileError, ToolFileFault
from contentmodel.tools.config.format import INTERNAL, LOAD, SAVE, ApiTool, Entry, LocalTool
from contentmodel.tools.config.local import ApiCall, LocalCall
from contentmodel.tools.config.messages import Internal, MessageLog
from contentmodel.tools.config.operations import context_needed, operation_of, unknown_executor
from contentmodel.tools.config.schemas import context_parameters, shown_parameters
from contentmodel.tools.definition import Tool
from contentmodel.tools.faults import InputFault, InvalidArguments
from contentmodel.tools.supplied import HandedBackTool
from contentmodel.tools.validation import SchemaValidator


class ToolFile:
    """The checked tools of one file. Made by `load_tools`.

    `name` is the file's name. `entries` are its tools, including the two internal ones. `faults` are the reasons why
    tools were left out.
    """

    def __init__(
        self,
        name: str,
        entries: Sequence[Entry],
        executors: Mapping[str, Executor],
        functions: Mapping[str, Tool],
        faults: Iterable[ToolFileFault] = (),
    ) -> None:
        self.name = name
        self.entries = tuple(entries)
        self.faults = tuple(faults)
        self._executors, self._functions = dict(executors), dict(functions)

    @property
    def definitions(self) -> list[FunctionTool]:
        """The declarations of the tools for a model, without internal tools and parameters that the caller supplies."""
        return [_definition(entry) for entry in self._offered]

    @property
    def context(self) -> dict[str, tuple[str, ...]]:
        """The fields that the caller supplies, and the tools that need each."""
        result: dict[str, tuple[str, ...]] = {}
        for entry in self._offered:
            for name in entry.context:
                result[name] = (*result.get(name, ()), entry.function.name)
        return result

    def tools(self, context: Mapping[str, Any] | None = None) -> list[Tool | FunctionTool]:
        """Return the tools for one caller, for `ToolSet` and `bind`. `client` and `function` tools are only declared.

        `context` has JSON values for the fields that the caller supplies; other fields are ignored. The model does not
        see these fields, and values that it sends for them are ignored. A runner hands calls of `client` and `function`
        tools back with the caller's values; `ToolSet.handed_back` does the same without a runner.

        Raise ToolContextError for missing or invalid values, and ToolFileError for missing executors or functions.
        """
        self._check_runnable()
        values = self._context_values(self._offered, context or {})
        return [self._tool(entry, {name: values[name] for name in entry.context}) for entry in self._offered]

    def messages(
        self, context: Mapping[str, Any] | None = None, *, newest_first: bool = False, on_loss: str = "report"
    ) -> MessageLog | None:
        """Return the log of one caller's conversation, stored by the file's two internal tools; None if it has none.

        Set `newest_first` if the query returns the newest message first, as queries with a limit often do. `on_loss` is
        "report" or "raise": see `MessageLog.save`. Raises the same errors as `tools`.
        """
        internal = {entry.function.name: entry for entry in self.entries if entry.function.name in INTERNAL}
        if not internal:
            return None
        self._check_runnable()
        values = self._context_values(list(internal.values()), context or {})
        calls = {name: self._internal(entry, values) for name, entry in internal.items() if isinstance(entry, ApiTool)}
        return MessageLog(calls.get(SAVE), calls.get(LOAD), newest_first=newest_first, on_loss=on_loss)

    def __len__(self) -> int:
        return len(self._offered)

    def __repr__(self) -> str:
        return f"ToolFile({self.name!r}: {', '.join(entry.function.name for entry in self.entries)})"

    @property
    def _offered(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.function.name not in INTERNAL]

    def _tool(self, entry: Entry, context: Mapping[str, Any]) -> Tool | FunctionTool:
        if isinstance(entry, ApiTool):
            return ApiCall(entry.function, context, operation_of(entry), self._executors[entry.api.name])
        if isinstance(entry, LocalTool):
            return LocalCall(entry.function, context, self._functions[entry.function.name])
        definition = _definition(entry)
        return HandedBackTool(definition, context) if context else definition

    def _internal(self, entry: ApiTool, values: Mapping[str, Any]) -> Internal:
        fields = entry.context or list(values)
        return Internal(operation_of(entry), self._executors[entry.api.name], values, {n: values[n] for n in fields})

    def _check_runnable(self) -> None:
        """Raise ToolFileError if a tool has no executor or function, because the file was only read to inspect it."""
        faults = [
            ToolFileFault(self.name, entry.function.name, f"$[{index}]", message)
            for index, entry in enumerate(self.entries)
            if (message := self._missing(entry)) is not None
        ]
        if faults:
            raise ToolFileError(faults)

    def _missing(self, entry: Entry) -> str | None:
        if isinstance(entry, ApiTool) and entry.api.name not in self._executors:
            return unknown_executor(entry.api.name, self._executors)
        if isinstance(entry, LocalTool) and entry.function.name not in self._functions:
            return f"no function is registered for this tool: pass functions={{{entry.function.name!r}: ...}}"
        return None

    def _context_values(self, entries: Sequence[Entry], context: Mapping[str, Any]) -> dict[str, Any]:
        """Return the context as JSON values. Raise ToolContextError with all missing or invalid values."""
        try:
            values: dict[str, Any] = plain(context, "context")
        except DecodeError as error:
            raise ToolContextError(self.name, [f"{fault.message} at {fault.path}" for fault in error.faults]) from None
        faults = list(dict.fromkeys(fault for entry in entries for fault in _context_faults(entry, values)))
        if faults:
            raise ToolContextError(self.name, faults)
        return values


def _definition(entry: Entry) -> FunctionTool:
    declared = entry.function
    parameters = shown_parameters(declared.parameters, entry.context)
    return FunctionTool(
        name=declared.name, description=declared.description, parameters=parameters, strict=declared.strict
    )


def _context_faults(entry: Entry, values: Mapping[str, Any]) -> Iterator[str]:
    for name in context_needed(entry):
        if name not in values:
            yield f"{name} is missing; the tool {entry.function.name} needs it"
            continue
        schema = context_parameters(entry.function.parameters, name)
        for fault in _value_faults(schema, {name: values[name]}) if schema is not None else ():
            yield f"{fault.path.removeprefix('$.')}: {entry.function.name} expects {fault.expected}, got {fault.got}"


def _value_faults(schema: dict[str, Any], value: dict[str, Any]) -> list[InputFault]:
    try:
        return SchemaValidator(schema).faults(value)
    except InvalidArguments as refused:
        return refused.faults
