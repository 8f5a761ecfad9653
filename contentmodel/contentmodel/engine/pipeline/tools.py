"""Convert tools, calls and results to the kinds of the target: custom tools, and tools in namespaces.

If an API has no namespaces, the tools of each namespace are listed one by one, under names that include the namespace.
If an API or its host has no custom tools, they become functions with one text argument, `input`. `Renames.tools` has
the source of each converted tool, so that an answer can be restored. `with_custom_calls` restores custom calls of
decoded requests.
The tools of a request include those that its messages add.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, TypeVar

import msgspec

from contentmodel import reasons
from contentmodel.content.outcomes import ToolChangeContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
)
from contentmodel.engine.context import DecodeContext, EncodeContext, is_all_native, is_native, with_contents
from contentmodel.engine.pipeline.names import with_distinct_ids
from contentmodel.engine.pipeline.steps import Fact, compared, needs
from contentmodel.hints import ROW, Hint
from contentmodel.json import JsonObject, child_path, write
from contentmodel.message import Origin, contents_of
from contentmodel.pairs import Place, TranscriptIndex
from contentmodel.renames import Renames, SourceTool, as_custom_call, is_text_alone
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, ToolGroup

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.content.tools import ToolResultContent
    from contentmodel.engine.pipeline.steps import Facts
    from contentmodel.engine.table.unions import Union
    from contentmodel.json import Json
    from contentmodel.message import ChatMessage
    from contentmodel.request import Tool, ToolChoice


Call: TypeAlias = FunctionCallContent | CustomToolCallContent
_M = TypeVar("_M", bound="AIContent")

_CALLS = (FunctionCallContent, CustomToolCallContent)
OTHER_KINDS = (
    *(CustomToolCallContent, CustomToolResultContent, ToolChangeContent, Fact.NAMESPACE),
    *(("tool", CustomTool), ("tool", ToolGroup)),
)
"""The facts of requests with tools or calls that not every target has."""
_RESULTS = frozenset({FunctionResultContent, CustomToolResultContent})
FREE_TEXT_ROW = "free text"
"""The name of the row of a custom tool that is written as a function, in tables that also have custom tools."""


def types_after_fitting(facts: Facts) -> Collection[Any]:
    """Return the types of contents that calls and results of custom tools may become, and the other way around."""
    return (FunctionCallContent, FunctionResultContent, CustomToolResultContent)


class Kinds(msgspec.Struct, frozen=True, kw_only=True):
    """The kinds of tools that an API has.

    - `custom`: custom tools and their calls. `custom_results`: a separate type for their results.
    - `namespaces`: tools in namespaces.
    - `changes`: messages that change the list of tools.
    - `listed`: a list of tools in each request.
    """

    custom: bool = False
    custom_results: bool = False
    namespaces: bool = False
    changes: bool = False
    listed: bool = True


@needs(*OTHER_KINDS, makes=types_after_fitting)
def with_known_tools(request: ChatRequest, context: EncodeContext, kinds: Kinds) -> ChatRequest:
    """Return a request whose tools, calls and results are of kinds that the target has."""
    if not _has_other_kinds(request):
        return request
    fitter = _Fitter(request, context, kinds)
    # Custom results become function results. If calls share an id, these do not show which call they answer.
    is_of_target = is_all_native(request, context)
    messages = request.messages if is_of_target else with_distinct_ids(request.messages, fitter.index, context)
    compared(request.messages, messages, context)
    changed = msgspec.structs.replace(
        request,
        tools=list(fitter.tools(request.tools)),
        messages=[fitted for number, message in enumerate(messages) for fitted in fitter.message(number, message)],
    )
    choice = request.options.tool_choice
    if choice is not None and (fitted := fitter.choice(choice)) is not choice:
        options = msgspec.structs.replace(request.options, tool_choice=fitted)
        changed = msgspec.structs.replace(changed, options=options)
    if fitter.sources:
        context.maps = msgspec.structs.replace(context.maps or Renames(), tools=fitter.sources)
    return changed


def _has_other_kinds(request: ChatRequest) -> bool:
    """Return whether one of `OTHER_KINDS` holds: without any, also repeated ids stay as they are."""
    if any(("tool", tool.__class__) in OTHER_KINDS for tool in request.tools):
        return True
    contents: list[Any] = list(contents_of(request.messages))
    if any(content.__class__ in OTHER_KINDS for content in contents):
        return True
    return any(content.__class__ is FunctionCallContent and content.namespace is not None for content in contents)


class _Fitter:
    """Convert the tools, calls and results of one request. Hold the assigned names, and the places of custom calls."""

    def __init__(self, request: ChatRequest, context: EncodeContext, kinds: Kinds) -> None:
        self._context = context
        self._kinds = kinds
        groups = [tool for tool in request.tools if isinstance(tool, ToolGroup)]
        self._used = {getattr(tool, "name", None) for tool in request.tools}
        self._assigned: dict[tuple[str, str], str] = {}
        self._members = {
            (group.name, name): isinstance(tool, CustomTool)
            for group in groups
            for tool in group.tools
            if (name := tool.name) is not None
        }
        every: list[Tool] = [tool for entry in request.tools for tool in getattr(entry, "tools", (entry,))]
        self._as_functions = {tool.name for tool in every if self._is_function(tool)}
        """The names of custom tools that are sent as functions."""
        self._namespaces = {group.name for group in groups}
        self._defined: set[str] = set()
        self.index = TranscriptIndex(request.messages)
        contents = contents_of(request.messages)
        nameless = [name for content in contents for name in _added_names(content) if name is None]
        copied = [tool.name for tool in request.tools if is_added(tool)]
        self._copied = set(copied)
        """The names of tools that messages define."""
        self._has_nameless = len(nameless) <= copied.count(None)
        """True if the request lists every nameless tool that messages add. References to tools are not listed."""
        self._custom_calls: set[Place | None] = set()
        self._renamed: dict[Place | None, tuple[str | None, str | None]] = {}
        """The old and new names of calls, by place."""
        self.sources: dict[str, SourceTool] = {}

    # -- definitions -------------------------------------------------------------------------------------------

    def _is_function(self, tool: Tool) -> TypeGuard[CustomTool]:
        """Return whether a tool is a custom one that is sent as a function."""
        api = self._context.api
        return isinstance(tool, CustomTool) and (not self._kinds.custom or ROW.of(tool, api) == FREE_TEXT_ROW)

    def tools(self, tools: Sequence[Tool]) -> Iterator[Tool]:
        for tool in tools:
            if isinstance(tool, ToolGroup) and not self._kinds.namespaces:
                yield from self._spread(tool)
            elif not self._repeats(tool):
                self._keep_source(getattr(tool, "name", None), None, tool)
                yield self._as_function(tool)

    def _repeats(self, tool: object) -> bool:
        """Return whether the list already has a tool of this name, and report it. A message may add a tool again."""
        if self._context.native or not isinstance(tool, FunctionTool | CustomTool):
            return False
        if tool.name in self._defined:
            self._context.report_loss(tool, None, reasons.REPEATED_TOOL)
            return True
        self._defined.add(tool.name)
        return False

    def _spread(self, group: ToolGroup) -> Iterator[Tool]:
        self._context.report_lost_attributes(group, ("description",))
        if group.name is not None:
            self._context.report_loss(group, "name", reasons.NAMESPACE_IN_NAME)
        self._context.leave_residue(group, own=True)
        for tool in group.tools:
            if group.name is None or tool.name is None:
                yield self._as_function(tool)
                continue
            name = self._name(group.name, tool.name)
            self._keep_source(name, group.name, tool)
            self._context.report_loss(tool, "name", reasons.NAMESPACE_IN_NAME)
            yield self._as_function(self._context.replace(tool, name=name))

    def _as_function(self, tool: Tool) -> Tool:
        """Return a tool in the row of functions if it is a custom one that is sent as a function."""
        if not self._is_function(tool) or ROW.of(tool, self._context.api) == FREE_TEXT_ROW:
            return tool
        return self._context.replaced(tool, ROW.on(tool, self._context.api, FREE_TEXT_ROW))

    def _keep_source(self, name: str | None, namespace: str | None, tool: Tool) -> None:
        is_custom = self._is_function(tool)
        if name is not None and tool.name is not None and (namespace is not None or is_custom):
            self.sources[name] = SourceTool(name=tool.name, namespace=namespace, is_custom=is_custom)

    def _name(self, namespace: str, name: str) -> str:
        """Return a unique, stable name for a tool in a namespace, for an API without namespaces."""
        unique = self._assigned.get((namespace, name))
        if unique is None:
            unique = f"{namespace}{'' if namespace.endswith('_') else '__'}{name}"
            while unique in self._used:
                unique += "_"
            self._assigned[namespace, name] = unique
            self._used.add(unique)
        return unique

    def choice(self, choice: ToolChoice) -> ToolChoice:
        if not choice.tools or self._kinds.namespaces:
            return choice
        owners = {name: namespace for namespace, name in self._members if namespace is not None}
        names = [
            self._name(owners[name], name) if name in owners and name not in self._used else name
            for name in choice.tools
        ]
        if names == choice.tools:
            return choice
        return msgspec.structs.replace(choice, tools=names)

    # -- calls and results -------------------------------------------------------------------------------------

    def message(self, number: int, message: ChatMessage) -> list[ChatMessage]:
        contents = [
            converted
            for at, content in enumerate(message.contents)
            for converted in self._content(content, (number, at), message)
        ]
        return [with_contents(message, contents)] if contents or not message.contents else []

    def _content(self, content: AIContent, place: Place, message: ChatMessage) -> list[AIContent]:
        if isinstance(content, _CALLS):
            return [self._call(content, place)]
        if content.__class__ in _RESULTS:
            return [self._result(content, self.index.call_of.get(place), message)]
        if isinstance(content, ToolChangeContent) and self._has_added(content, message):
            carried = ("action",) if self._refers_by_more(content) else ("action", "tools")
            self._context.degrade(content, reasons.TOOLS_IN_ONE_LIST, *carried)
            return []
        return [content]

    def _refers_by_more(self, change: ToolChangeContent) -> bool:
        """Return whether a reference to a listed tool has more than its name, such as its server."""
        references = [tool for tool in change.tools if isinstance(tool, dict) and _name_of(tool) not in self._copied]
        return any(reference.keys() - {"name", "type"} for reference in references)

    def _has_added(self, change: ToolChangeContent, message: ChatMessage) -> bool:
        """Return whether the tools that a message of another API adds are in the list of the request."""
        if self._kinds.changes or not self._kinds.listed or change.action != "add" or is_native(message, self._context):
            return False
        names = _names_of(change)
        # If a name is not a text, the list cannot have the tool.
        return bool(names) and all(
            self._has_nameless if name is None else isinstance(name, str) and name in self._used for name in names
        )

    def _call(self, call: Call, place: Place) -> AIContent:
        is_custom = call.__class__ is CustomToolCallContent
        if is_custom:
            self._custom_calls.add(place)
        plain: Call = self._without_namespace(call)
        self._renamed[place] = call.name, plain.name
        if isinstance(plain, CustomToolCallContent) and self._is_function_call(call):
            return self._context.replaced(plain, self._as_function_call(plain))
        return plain

    def _is_function_call(self, call: Call) -> bool:
        """Return whether a custom call is sent as a function call."""
        return not self._kinds.custom or call.name in self._as_functions

    def _without_namespace(self, call: Call) -> Call:
        namespace = call.namespace
        if namespace is None or self._kinds.namespaces:
            return call
        self._context.report_loss(call, "namespace", reasons.NAMESPACE_IN_NAME)
        if call.name is None or (namespace not in self._namespaces and call.name in self._used):
            # Calls of a tool that a tool search loaded have its name as namespace (recorded traffic, seen 2026-11-22).
            return self._context.replace(call, namespace=None)
        name = self._name(namespace, call.name)
        is_custom = call.__class__ is CustomToolCallContent and self._is_function_call(call)
        self.sources.setdefault(name, SourceTool(name=call.name, namespace=namespace, is_custom=is_custom))
        self._context.report_loss(call, "name", reasons.NAMESPACE_IN_NAME)
        return self._context.replace(call, name=name, namespace=None)

    def _as_function_call(self, call: CustomToolCallContent) -> FunctionCallContent:
        is_defined = call.name in self.sources
        if not is_defined and (not self._context.native or self._context.is_aimed):
            self._context.report_loss(call, None, reasons.AS_FUNCTION_CALL)
        function_call: FunctionCallContent = _as(FunctionCallContent, call, arguments=call.arguments_object)
        return function_call

    def _result(self, result: ToolResultContent, call: Place | None, message: ChatMessage) -> AIContent:
        result = self._named(result, call)
        is_custom = call in self._custom_calls if self._kinds.custom_results else False
        model = CustomToolResultContent if is_custom else FunctionResultContent
        if result.__class__ is model or (self._kinds.custom_results and is_native(message, self._context)):
            return result
        if model is CustomToolResultContent or not self._kinds.custom_results:
            return self._context.replaced(result, _as(model, result))
        return result

    def _named(self, result: ToolResultContent, call: Place | None) -> ToolResultContent:
        """Return the result with the new name of its call."""
        old, name = self._renamed.get(call, (None, None))
        if result.name is None or result.name != old or name == old:
            return result
        self._context.report_loss(result, "name", reasons.NAMESPACE_IN_NAME)
        return self._context.replace(result, name=name)


def _names_of(change: ToolChangeContent) -> list[Json]:
    """Return the names of the tools of a change. A tool may be a name instead of an object."""
    return [_name_of(tool) if isinstance(tool, dict) else tool for tool in change.tools]


def _name_of(tool: JsonObject) -> Json:
    """Return the name of a tool that a message adds, or of the definition in it."""
    holders = (tool, *(inner for inner in tool.values() if isinstance(inner, dict)))
    return next((holder["name"] for holder in holders if holder.get("name") is not None), None)


def _added_names(content: object) -> list[Json]:
    return _names_of(content) if isinstance(content, ToolChangeContent) and content.action == "add" else []


def _as(model: type[_M], content: AIContent, **changed: object) -> _M:
    """Return a content of class `model` with the fields of another content."""
    fields = {name: getattr(content, name) for name in model.__struct_fields__}
    return model(**{**fields, **changed})


# -- decoding ----------------------------------------------------------------------------------------------------------


def with_custom_calls(request: ChatRequest, context: DecodeContext, row: str | None = None) -> ChatRequest:
    """Restore custom calls, for APIs whose requests have functions instead of custom tools.

    If the only argument of a call of such a function is a text, the call becomes a custom call, and its result a custom
    result. `row` is the row of these functions, if the API also has custom tools.
    """
    names = {
        tool.name
        for tool in request.tools
        if isinstance(tool, CustomTool) and (row is None or ROW.of(tool, context.api) == row)
    }
    if not names:
        return request
    for message in request.messages:
        contents = message.contents
        for index, content in enumerate(contents):
            if content.__class__ is FunctionCallContent and content.name in names and _is_restorable(content):
                contents[index] = as_custom_call(content)
                context.replaced(content, contents[index])
    return with_custom_results(request, context)


def _is_restorable(call: FunctionCallContent) -> bool:
    """Return whether a call has one text argument, and gets the same arguments when it is encoded again."""
    if not is_text_alone(call):
        return False
    return call.arguments.__class__ is not str or call.arguments == write(call.arguments_object).decode()


def with_custom_results(request: ChatRequest, context: DecodeContext) -> ChatRequest:
    """Convert results of custom calls to custom results, for APIs with one kind of result."""
    messages = request.messages
    if not any(content.__class__ is CustomToolCallContent for message in messages for content in message.contents):
        return request
    for (number, at), call in TranscriptIndex(messages).call_of.items():
        contents = messages[number].contents
        is_custom = messages[call[0]].contents[call[1]].__class__ is CustomToolCallContent
        if is_custom and contents[at].__class__ is FunctionResultContent:
            result, contents[at] = contents[at], _as(CustomToolResultContent, contents[at])
            context.replaced(result, contents[at])
    return request


_OF_TOOLS = {"tool_choice": reasons.CHOICE_WITHOUT_TOOLS, "parallel_tool_calls": reasons.PARALLEL_WITHOUT_TOOLS}


def without_settings_of_tools(payload: JsonObject, request: ChatRequest, context: EncodeContext) -> JsonObject:
    """Return the payload of a request without the settings that require tools, if none of its tools can be sent."""
    if payload.get("tools") or not request.tools:
        return payload
    for key, reason in _OF_TOOLS.items():
        if key in payload:
            context.report_loss(request, f"options.{key}", reason)
    return {key: value for key, value in payload.items() if key not in _OF_TOOLS}


# -- tools that a message adds -----------------------------------------------------------------------------------------


ADDED = Hint[Literal[True]](None, "added", "a tool is a copy of one that a message adds")


def is_added(tool: Tool) -> bool:
    """Return whether a tool of a request is a copy of one that a message adds."""
    return any(ADDED.is_in(residue) for residue in (tool.extra or {}).values())


class AddedTools:
    """Add and remove the copies of added tools for one API.

    `definition_of` returns the definition in an element of `ToolChangeContent.tools`; None if the element is only a
    reference.
    """

    def __init__(self, union: Union, definition_of: Callable[[JsonObject], JsonObject | None]) -> None:
        self._union = union
        self._definition_of = definition_of

    def read(self, request: ChatRequest, context: DecodeContext) -> ChatRequest:
        """Return the request with copies of the added tools in its tools."""
        added = list(self._tools(request, context))
        return msgspec.structs.replace(request, tools=[*request.tools, *added]) if added else request

    def leave_out(self, request: ChatRequest) -> ChatRequest:
        """Return the request without copies of tools that its messages add unchanged: the inverse of `read`."""
        api = self._union.api
        if not any(ADDED.of(tool, api) for tool in request.tools):
            return request
        added: dict[str | None, list[Tool]] = {}
        for tool in self._tools(request, DecodeContext(api, request.origin or Origin(api=api, issuer=""))):
            added.setdefault(tool.name, []).append(tool)
        tools = [tool for tool in request.tools if not ADDED.of(tool, api) or tool not in added.get(tool.name, ())]
        return msgspec.structs.replace(request, tools=tools)

    def _tools(self, request: ChatRequest, context: DecodeContext) -> Iterator[Tool]:
        for definition in self._definitions(request):
            for tool in self._union.decode_list([definition], context):
                marked = ADDED.on(tool, self._union.api, True)
                context.trace(self._union, [marked], definition, None, spread=False)
                yield marked

    def _definitions(self, request: ChatRequest) -> Iterator[JsonObject]:
        if ToolChangeContent not in map(type, contents_of(request.messages)):
            return
        for content in contents_of(request.messages):
            if not isinstance(content, ToolChangeContent) or content.action != "add":
                continue
            for tool in content.tools:
                definition = self._definition_of(tool) if tool.__class__ is dict else None
                if definition.__class__ is dict:
                    yield definition


# -- the names of types in schemas -------------------------------------------------------------------------------------


NAMES = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""The types of OpenAPI by their numbers in Gemini's API (google-genai sends its enumerations as integers)."""


@needs(("tool", FunctionTool), ("tool", ToolGroup))
def with_json_schemas(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose schemas have the types of JSON Schema: Gemini has them in upper case."""
    tools = [_with_json_schema(tool, context) for tool in request.tools]
    is_same = all(new is old for new, old in zip(tools, request.tools, strict=True))
    return request if is_same else msgspec.structs.replace(request, tools=tools)


def _with_json_schema(tool: Any, context: EncodeContext) -> Any:
    schema = with_named_types(tool.parameters) if isinstance(tool, FunctionTool) else None
    if not isinstance(schema, dict) or schema.get("type") != "OBJECT":
        return tool
    for path in _numbers(tool.parameters, "parameters"):
        context.report_loss(tool, path, reasons.SCHEMA_CONVERTED, keyword="type", why="types have names")
    return msgspec.structs.replace(tool, parameters=_lowered(schema))


def _numbers(schema: object, path: str) -> Iterator[str]:
    """Yield the paths of types that are numbers."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from _numbers(item, f"{path}[{index}]")
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key == "type" and value.__class__ is int:
                yield child_path(path, key)
            yield from _numbers(value, child_path(path, key))


def with_named_types(schema: Any) -> Any:
    """Return a schema with the names of its types if they are numbers."""
    return _with_names(schema) if isinstance(schema, dict) and schema.get("type").__class__ is int else schema


def _with_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _with_names(item) for key, item in value.items()}
    kind = result.get("type")
    if kind.__class__ is int and 0 <= kind < len(NAMES):
        result["type"] = NAMES[kind]
    return result


def _lowered(schema: Any) -> Any:
    """Return a schema with its types in lower case."""
    if isinstance(schema, list):
        return [_lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: v.lower() if k == "type" and isinstance(v, str) else _lowered(v) for k, v in schema.items()}
