"""Sets of tools, and their use in a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice, ToolGroup
from contentmodel.tools.definition import Tool
from contentmodel.tools.foreign import ForeignTool, as_tool
from contentmodel.tools.schema import ToolDefinitionError
from contentmodel.tools.supplied import Call, HandedBackTool, without_supplied

Definition = FunctionTool | CustomTool | HostedTool | ToolGroup
MODES = ("auto", "none", "required")


class UnknownToolError(LookupError):
    """The set has no tool with this name."""


class ToolSet:
    """Tools with unique names, in order.

    Besides `Tool`s it takes tools that are only declared to the model: hosted tools, groups, and functions that run
    elsewhere. A `BaseTool` of LangChain becomes a `Tool`.

    Raise ToolDefinitionError for duplicate names, and for a Tool that cannot run.
    """

    def __init__(self, tools: Iterable[Tool | Definition | ForeignTool] = ()) -> None:
        self._entries: tuple[Tool | Definition, ...] = tuple(map(as_tool, tools))
        strange = [repr(entry) for entry in self._entries if not isinstance(entry, Tool | Definition)]
        if strange:
            raise ToolDefinitionError(
                "tools", [f"{entry} is not a tool: decorate the function with @tool" for entry in strange]
            )
        for entry in self._entries:
            if isinstance(entry, Tool):
                entry.check()
        self.definitions: list[Definition] = [
            entry.definition if isinstance(entry, Tool) else entry for entry in self._entries
        ]
        counts = Counter(name for definition in self.definitions for name in _names(definition))
        duplicates = [f"{count} tools have the name {name}" for name, count in counts.items() if count > 1]
        if duplicates:
            raise ToolDefinitionError("tools", duplicates)
        self._names = tuple(counts)
        app_tools = [entry for entry in self._entries if isinstance(entry, Tool)]
        self._tools = {entry.name: entry for entry in app_tools if not isinstance(entry, HandedBackTool)}
        self._handed_back = {entry.name: entry for entry in app_tools if isinstance(entry, HandedBackTool)}
        self._hosted = [definition for definition in self.definitions if isinstance(definition, HostedTool)]

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a model can call, in order."""
        return self._names

    def get(self, name: str | None) -> Tool | None:
        """Return the tool with this name if the application runs it, else None."""
        return self._tools.get(name or "")

    def handed_back(self, call: Call) -> Call:
        """Return a call of a tool that the application runs itself, with the values that the caller supplies.

        They replace the model's values. Raise ToolArgumentsError if the arguments are not an object.
        """
        tool = self._handed_back.get(call.name or "")
        return call if tool is None else tool.with_values(call)

    def hides_arguments(self, name: str | None) -> bool:
        """Return whether the application runs the tool itself, and supplies some of its arguments."""
        return (name or "") in self._handed_back

    def without_supplied(self, call: Call) -> Call:
        """Return a call without the model's values for the parameters that the caller supplies."""
        tool = self._tools.get(call.name or "") or self._handed_back.get(call.name or "")
        return call if tool is None else without_supplied(call, tool.supplied)

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            raise UnknownToolError(f"unknown tool {name}; the tools: {', '.join(self._tools) or 'none'}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Tool | Definition]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"ToolSet({', '.join(self._names)})"

    def choice(self, choice: str | Iterable[str]) -> ToolChoice:
        """Return the ToolChoice for "auto", "none", "required", a tool name, or several names (one must be called).

        A hosted tool has its name or its kind as name. Raise UnknownToolError with all names that are not in the set.
        """
        if isinstance(choice, str):
            return ToolChoice(mode=choice) if choice in MODES else self._one(choice)
        names = list(choice)
        self._check(names)
        return self._one(names[0]) if len(names) == 1 else ToolChoice(mode="required", tools=names)

    def _one(self, name: str) -> ToolChoice:
        hosted = next((tool for tool in self._hosted if name in (tool.name, tool.kind)), None)
        if hosted is not None and name not in self._tools:
            return ToolChoice(mode="required", hosted=hosted.kind)
        self._check([name])
        return ToolChoice(mode="required", tools=[name])

    def _check(self, names: list[str]) -> None:
        unknown = [name for name in names if name not in self._names]
        if unknown or not names:
            names_text = ", ".join(unknown) or "an empty list"
            raise UnknownToolError(f"cannot choose {names_text}; the tools: {', '.join(self._names) or 'none'}")


def bind(
    request: ChatRequest,
    tools: ToolSet | Iterable[Tool | Definition | ForeignTool],
    choice: str | Iterable[str] | ToolChoice | None = None,
    parallel: bool | None = None,
) -> ChatRequest:
    """Return a new request that offers these tools instead of its own.

    `choice` is a ToolChoice, or any value that `ToolSet.choice` takes. `parallel` sets whether the model may call
    several tools at once. If an argument is None, the request's value is kept.
    """
    offered = tools if isinstance(tools, ToolSet) else ToolSet(tools)
    options = request.options
    if choice is not None:
        chosen = choice if isinstance(choice, ToolChoice) else offered.choice(choice)
        options = msgspec.structs.replace(options, tool_choice=chosen)
    if parallel is not None:
        options = msgspec.structs.replace(options, parallel_tool_calls=parallel)
    return msgspec.structs.replace(request, tools=list(offered.definitions), options=options)


def _names(definition: Definition) -> list[str]:
    if not isinstance(definition, ToolGroup):
        return [definition.name] if definition.name else []
    # The names in a namespace are separate from those outside.
    return [] if definition.name else [tool.name for tool in definition.tools if tool.name]
