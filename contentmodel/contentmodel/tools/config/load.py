"""Load a tool configuration file, and check it before any of its tools is offered."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.errors import Fault
from contentmodel.tools.config.executors import Executor, check_operation, taken_by
from contentmodel.tools.config.faults import ToolFileError, ToolFileFault, ToolFileWarning
from contentmodel.tools.config.file import ToolFile
from contentmodel.tools.config.format import INTERNAL, SAVE, ApiTool, Entry, LocalTool
from contentmodel.tools.config.local import function_faults, function_tool
from contentmodel.tools.config.operations import operation_of, unknown_executor
from contentmodel.tools.config.schemas import context_faults, property_names
from contentmodel.tools.config.source import Source, name_of_source, shape_faults, value_of_source, without_unknown_keys
from contentmodel.tools.definition import Tool
from contentmodel.tools.schema import ToolDefinitionError, schema_faults

Functions = Mapping[str, Callable[..., Any] | Tool]


def load_tools(
    source: Source,
    *,
    executors: Mapping[str, Executor] | None = None,
    functions: Functions | None = None,
    strict: bool = False,
) -> ToolFile:
    """Load the tools of a configuration file.

    `source` is a path (`Path("shop.tools.json")`; a str is never a path), the JSON text as str or bytes, or the list
    that the text contains. `executors` maps names to executors; an `api` without a name uses "default". Without
    executors, only the text is checked, and the tools cannot run: a `path` is REST; a `query` is GraphQL if it starts
    with query, mutation, subscription, fragment or a brace, else SQL. `functions` maps names of `local` tools to
    functions: a function that `@tool` accepts, or a `Tool`.

    A tool with a fault is left out. `faults` of the result has every fault, and a ToolFileWarning reports them. With
    `strict`, or if no tool is left, raise ToolFileError instead. Raise OSError if a path cannot be read.
    """
    result = read_tools(source, executors, functions or {}, strict=strict)
    if result.faults:
        warnings.warn(ToolFileWarning(result.faults), stacklevel=2)
    return result


def read_tools(
    source: Source, executors: Mapping[str, Executor] | None, functions: Functions | None, *, strict: bool
) -> ToolFile:
    """Do the same without a warning. If `functions` is None, `local` tools are only declared."""
    name = name_of_source(source)
    value, faults = value_of_source(source)
    file_faults = [ToolFileFault(name, None, fault.path, fault.message) for fault in faults]
    if not isinstance(value, list):
        if not file_faults:
            file_faults = [ToolFileFault(name, None, "$", "expected a list of tools: put the tools between [ and ]")]
        raise ToolFileError(file_faults)
    entries: dict[int, Entry] = {}
    for index, raw in enumerate(value):
        faults = shape_faults(raw)
        without_unknown = without_unknown_keys(raw)
        if shape_faults(without_unknown):
            faults += _raw_schema_faults(raw)
        else:
            # An unknown key is a fault, but the other checks still run.
            entries[index] = entry = msgspec.convert(without_unknown, Entry)
            faults += _entry_faults(entry, executors, functions)
        file_faults += [_file_fault(name, raw, index, fault) for fault in faults]
    file_faults += [_file_fault(name, value[index], index, fault) for index, fault in _doubled_names(value)]
    good = [entry for index, entry in entries.items() if not any(_is_in(fault, index) for fault in file_faults)]
    if file_faults and (strict or not good):
        raise ToolFileError(dict.fromkeys(file_faults))
    local = [entry.function.name for entry in good if isinstance(entry, LocalTool)]
    tools = {name: function_tool(name, functions[name]) for name in local} if functions is not None else {}
    return ToolFile(name, good, executors or {}, tools, dict.fromkeys(file_faults))


def _is_in(fault: ToolFileFault, index: int) -> bool:
    """Return whether a fault belongs to the tool with this index."""
    head = f"$[{index}]"
    return fault.path == head or fault.path.startswith((f"{head}.", f"{head}["))


def _file_fault(file: str, raw: Any, index: int, fault: Fault) -> ToolFileFault:
    joint = "" if not fault.path or fault.path.startswith("[") else "."
    return ToolFileFault(file, _name(raw), f"$[{index}]{joint}{fault.path}", fault.message)


def _name(raw: Any) -> str | None:
    function = raw.get("function") if isinstance(raw, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _doubled_names(value: list[Any]) -> Iterator[tuple[int, Fault]]:
    counts = Counter(name for raw in value if (name := _name(raw)) is not None)
    seen: set[str] = set()
    for index, raw in enumerate(value):
        name = _name(raw)
        if name in seen:
            message = f"{counts[name]} tools have the name {name}: give each tool a unique name"
            yield index, Fault("function.name", message)
        seen.update([name] if name is not None else [])


# The checks of one tool -----------------------------------------------------------------------------------------------


def _entry_faults(
    entry: Entry, executors: Mapping[str, Executor] | None, functions: Functions | None
) -> Iterator[Fault]:
    unusable = [_in_schema(fault) for fault in schema_faults(entry.function.parameters)]
    yield from unusable
    internal = entry.function.name in INTERNAL
    if not unusable:
        yield from context_faults(entry, only_parameters=not internal)
    if internal and not isinstance(entry, ApiTool):
        yield Fault("type", f"{entry.function.name} must have the type api: the library calls it with an executor")
    elif isinstance(entry, ApiTool):
        yield from _api_faults(entry, executors)
    elif isinstance(entry, LocalTool) and functions is not None:
        yield from _local_faults(entry, functions)


def _raw_schema_faults(raw: Any) -> list[Fault]:
    """Return the schema faults of a tool that has other faults of its shape."""
    function = raw.get("function") if isinstance(raw, dict) else None
    parameters = function.get("parameters") if isinstance(function, dict) else None
    return [_in_schema(fault) for fault in schema_faults(parameters)] if isinstance(parameters, dict) else []


def _in_schema(fault: Fault) -> Fault:
    return Fault(f"function.parameters{fault.path.removeprefix('$')}", fault.message)


def _api_faults(entry: ApiTool, executors: Mapping[str, Executor] | None) -> Iterator[Fault]:
    executor = None if executors is None else executors.get(entry.api.name)
    if executors is not None and executor is None:
        yield Fault("api.name", unknown_executor(entry.api.name, executors))
        return
    operation = operation_of(entry)
    yield from check_operation(operation, executor)
    if entry.function.name in INTERNAL:
        yield from _internal_faults(entry, taken_by(executor, operation))


def _internal_faults(entry: ApiTool, arguments: frozenset[str] | None) -> Iterator[Fault]:
    """Yield faults that would lose fields of a message, or mix the messages of different callers."""
    if arguments is None:
        return
    needed = ("role", "content") if entry.function.name == SAVE else ()
    for name in (name for name in needed if name not in arguments):
        yield Fault("api", f"the call has no argument {name}, which every message needs: add it to the call")
    for index, name in enumerate(entry.context):
        if name not in arguments and "context" not in arguments:
            message = (
                f"the call has no argument {name} or context, so the messages of all callers would be mixed: add one"
            )
            yield Fault(f"context[{index}]", message)


def _local_faults(entry: LocalTool, functions: Functions) -> Iterator[Fault]:
    name = entry.function.name
    if name not in functions:
        registered = f"; registered functions: {', '.join(functions)}" if functions else ""
        yield Fault(
            "function.name", f"no function is registered for this tool: pass functions={{{name!r}: ...}}{registered}"
        )
        return
    try:
        inner = function_tool(name, functions[name])
        inner.check()
        yield from function_faults(inner, property_names(entry.function.parameters))
    except ToolDefinitionError as error:
        yield from (
            Fault("function.name", f"the registered function cannot be a tool: {fault}") for fault in error.faults
        )
