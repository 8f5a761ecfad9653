"""Hosted tools, shared by the APIs: their definitions, and the output fields of tools that have no content class.

Sources of the settings of a web search: types/web_search_tool_20250305_param.py of anthropic 2.12,
types/responses/web_search_tool_param.py and types/chat/completion_create_params.py of openai 3.54,
types.GoogleSearch of google-genai 3.4; openrouter.ai/docs/guides/features/server-tools/web-search (seen 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    Capabilities,
    Codec,
    Column,
    DecodeContext,
    EncodeContext,
    Outputs,
    TextField,
    Union,
    hints,
    needs,
    reasons,
    snake_name,
)
from contentmodel.capabilities import UNLIMITED
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import TextContent
from contentmodel.request import ChatOptions, ChatRequest, HostedTool, ToolChoice, ToolGroup

_PLACE = frozenset({"type", "city", "country", "region", "timezone"})


def _domains(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(name, str) for name in value) else None


def _place(value: Any) -> dict[str, Any] | None:
    """Return an approximate location with its fields at the top; None if it is of another form."""
    if not isinstance(value, dict) or value.get("type") != "approximate":
        return None
    inner = value.get("approximate")
    flat = {"type": "approximate", **inner} if isinstance(inner, dict) and len(value) == 2 else value
    return flat if flat.keys() <= _PLACE else None


def _size(value: Any) -> str | None:
    return value if value in ("low", "medium", "high") else None


_READ: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "allowed_domains": ("allowed_domains", _domains),
    "filters.allowed_domains": ("allowed_domains", _domains),
    "blocked_domains": ("blocked_domains", _domains),
    "excluded_domains": ("blocked_domains", _domains),
    "excludeDomains": ("blocked_domains", _domains),
    "filters.blocked_domains": ("blocked_domains", _domains),
    "filters.excluded_domains": ("blocked_domains", _domains),
    "user_location": ("user_location", _place),
    "search_context_size": ("search_context_size", _size),
}
"""The neutral name and the check of each setting, by its path in the settings of any API."""


def _leaves(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each setting; those of `filters` one by one."""
    for name, value in settings.items():
        if name == "filters" and isinstance(value, dict):
            yield from ((f"filters.{inner}", item) for inner, item in value.items())
        else:
            yield name, value


def crossing_settings(settings: Mapping[str, Any], written: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of a search that another API has too, as it writes them, and the paths of the others.

    `written` gives the path of each setting in the other API by its neutral name: a key, or two with a dot between.
    One value is taken for each name.
    """
    crossed: dict[str, Any] = {}
    lost: list[str] = []
    for path, value in _leaves(settings):
        name, check = _READ.get(path, (None, None))
        checked = None if check is None or name not in written or name in crossed else check(value)
        if checked is None:
            lost.append(path)
        else:
            crossed[str(name)] = checked
    wire: dict[str, Any] = {}
    for name, value in crossed.items():
        above, _, key = written[name].rpartition(".")
        (wire.setdefault(above, {}) if above else wire)[key] = value
    return wire, lost


def output_columns(union: Union, usual: str) -> dict[str, Column]:
    """Return the columns of the fields that hold outputs of hosted tools. `usual` is that of the API's own tools."""
    models: list[type[Any]] = [*{row.model for row in union.rows}, UnknownContent]
    others = (name for name in ("content", "output", "outputs", "results", "result") if name != usual)
    return {
        usual: Column(Outputs(union), *models),
        **{name: Column(Outputs(union), *models, hinted=True) for name in others},
    }


class Hosted(msgspec.Struct, frozen=True):
    """The declaration of a hosted tool in an API.

    - `tag`: the type or the key of the definition.
    - `name`: the name that the API fixes for the tool.
    - `needs`: the settings that the API requires.
    - `crosses`: whether the declaration is also used for tools of other APIs.
    - `only_settings`: all settings of the declaration; None if any setting is accepted.
    - `searches`: the dotted paths of its settings of a search that other APIs have too, by neutral name.
    """

    tag: str
    name: str | None = None
    needs: tuple[str, ...] = ()
    crosses: bool = False
    only_settings: tuple[str, ...] | None = None
    searches: Mapping[str, str] = {}

    def has_needs(self, tool: HostedTool) -> bool:
        """Return whether the settings of a tool have what the API requires."""
        return all(name in tool.settings or snake_name(name) in tool.settings for name in self.needs)


_KINDRED = {"url_context": "web_fetch", "web_fetch": "url_context"}
"""Kinds of tools that do the same: Gemini and Claude read the pages whose links are in the conversation."""

Current = Mapping[str, tuple[Hosted, ...]]
"""The current declarations of each kind of tool. The first one whose required settings are present is used."""


def declared_as(kind: str, current: Current, capabilities: Capabilities = UNLIMITED.capabilities) -> tuple[Hosted, ...]:
    """Return the declarations of a kind of tool that a model supports."""
    types = (capabilities.hosted_types or {}).get(kind)
    return tuple(hosted for hosted in current.get(kind, ()) if types is None or hosted.tag in types)


def declaration(
    tool: HostedTool, current: Current, capabilities: Capabilities = UNLIMITED.capabilities
) -> Hosted | None:
    """Return the declaration for a tool; None if the API has none that fits its settings and the model."""
    return next((hosted for hosted in declared_as(tool.kind, current, capabilities) if hosted.has_needs(tool)), None)


@needs(("tool", HostedTool), ("tool", ToolGroup))
def with_sendable_tools(request: ChatRequest, context: EncodeContext, current: Current) -> ChatRequest:
    """Return a request without the hosted tools that the API does not have, or whose required settings are missing.

    Tools without a type of this API get the type that the model supports.
    """
    if context.native or not any(tool.__class__ is HostedTool for tool in request.tools):
        return request
    tools: list[Any] = []
    for original in request.tools:
        tool = _as_kindred(original, context, current) if original.__class__ is HostedTool else original
        if tool.__class__ is not HostedTool:
            tools.append(tool)
        elif _is_sendable(tool, context, current):
            tools.append(_of_the_model(tool, context, current))
    return msgspec.structs.replace(request, tools=tools, options=_with_fitting_choice(request, tools, context))


def _as_kindred(tool: Any, context: EncodeContext, current: Current) -> Any:
    """Return a tool of another API as the tool of this API that does the same; the tool itself if there is none."""
    kindred = _KINDRED.get(tool.kind, "")
    if (
        tool.kind in current
        or context.is_ours(tool)
        or not any(declared.crosses for declared in current.get(kindred, ()))
    ):
        return tool
    context.report_loss(tool, None, reasons.KINDRED_TOOL, tool=kindred)
    return context.replace(tool, kind=kindred)


def _with_fitting_choice(request: ChatRequest, sent: list[Any], context: EncodeContext) -> ChatOptions:
    """Return the options of a request with a tool choice that forces no tool that is left out of the `sent` ones."""
    options = request.options
    if len(sent) == len(request.tools):
        return options
    choice = None if options.tool_choice is None else _fitting_choice(options.tool_choice, request, sent)
    if choice is not options.tool_choice:
        reason = reasons.NO_TOOL_CHOICE if choice is not None else reasons.CHOICE_WITHOUT_TOOLS
        context.report_loss(request, "options.tool_choice", reason)
        options = msgspec.structs.replace(options, tool_choice=choice)
    if not sent and options.parallel_tool_calls is not None:
        context.report_loss(request, "options.parallel_tool_calls", reasons.PARALLEL_WITHOUT_TOOLS)
        options = msgspec.structs.replace(options, parallel_tool_calls=None)
    return options


def _fitting_choice(choice: ToolChoice, request: ChatRequest, sent: list[Any]) -> ToolChoice | None:
    """Return a choice without the tools that are left out: `auto` if it forces only these, None if no tool is sent."""
    members = [member for tool in sent for member in getattr(tool, "tools", (tool,))]
    kinds, names = ({getattr(tool, field, None) for tool in members} for field in ("kind", "name"))
    left_out = {tool.name for tool in request.tools if isinstance(tool, HostedTool)} - names
    allowed = [name for name in choice.tools or () if name not in left_out]
    is_gone = choice.hosted not in kinds if choice.hosted is not None else bool(choice.tools) and not allowed
    if is_gone or (choice.mode == "required" and not sent):
        return ToolChoice(mode="auto" if choice.mode == "required" else choice.mode) if sent else None
    return choice if allowed == (choice.tools or []) else msgspec.structs.replace(choice, tools=allowed)


def _of_the_model(tool: HostedTool, context: EncodeContext, current: Current) -> HostedTool:
    """Return a tool with the declaration that the model supports, and without what this declaration lacks."""
    declared = None if context.api in (tool.extra or {}) else declaration(tool, current, context.known.capabilities)
    if declared is None:
        return tool
    named = _with_fixed_name(tool, declared, context, current)
    if not context.is_ours(tool):
        return _with_crossing_settings(named, declared, context)
    fitting = _without_other_settings(named, declared, context)
    if declared == declaration(tool, current):
        return fitting
    return context.replaced(fitting, hints.ROW.on(fitting, context.api, declared.tag))


def _with_fixed_name(tool: HostedTool, declared: Hosted, context: EncodeContext, current: Current) -> HostedTool:
    """Return a tool with the name that the API fixes for it. The name may be of another API, or of the application."""
    if tool.name is None or tool.name == declared.name:
        return tool
    if all(tool.name != other.name for other in current[tool.kind]):
        context.report_loss(tool, "name", reasons.FIXED_NAME)
    if declared.name is None and not context.is_ours(tool):
        # A choice of the tool finds it by its name, which is not written.
        return tool
    return context.replace(tool, name=declared.name)


def _with_crossing_settings(tool: HostedTool, declared: Hosted, context: EncodeContext) -> HostedTool:
    """Return a tool of another API with the settings that this API has too, as this API writes them."""
    settings, lost = crossing_settings(tool.settings, declared.searches)
    if not settings:
        return tool
    for path in lost:
        context.report_loss(tool, f"settings.{path}", reasons.FOREIGN_SETTINGS)
    return context.replace(tool, settings=settings, extra={**(tool.extra or {}), context.api: {}})


def _without_other_settings(tool: HostedTool, declared: Hosted, context: EncodeContext) -> HostedTool:
    """Return a tool without the settings that its declaration does not have."""
    allowed = declared.only_settings
    others = [] if allowed is None else [name for name in tool.settings if name not in allowed]
    if not others:
        return tool
    for name in others:
        context.report_loss(tool, f"settings.{name}", reasons.TOOL_SETTING, tag=declared.tag)
    settings = {name: value for name, value in tool.settings.items() if name not in others}
    return context.replace(tool, settings=settings)


def _is_sendable(tool: Any, context: EncodeContext, current: Current) -> bool:
    declared = declared_as(tool.kind, current, context.known.capabilities)
    if context.api in (tool.extra or {}):
        return True
    if context.is_ours(tool):
        if any(hosted.has_needs(tool) for hosted in declared):
            return True
    elif any(hosted.crosses for hosted in declared):
        return True
    if declared and declared[-1].needs:
        context.report_loss(tool, None, reasons.NEEDS_SETTINGS, needs=" and ".join(declared[-1].needs))
    else:
        context.report_loss(tool, None, reasons.NO_HOSTED_TOOL)
    return False


def fixed_names(request: ChatRequest, current: Current, capabilities: Capabilities) -> list[str]:
    """Return the names that the API fixes for the hosted tools of a request: no function may have one of them."""
    tools = [tool for tool in request.tools if isinstance(tool, HostedTool)]
    names = (
        tool.name or (declared.name if (declared := declaration(tool, current, capabilities)) else None)
        for tool in tools
    )
    return [name for name in names if name is not None]


_TEXT = TextField(TextContent, "text")


class Lines(Codec[list[AIContent]]):
    """Text as a list of lines. A list in which a line contains a line break is not accepted."""

    classes = (list,)
    identity = False

    def holds(self, value: Any) -> bool:
        return (
            value.__class__ is list
            and bool(value)
            and all(line.__class__ is str and "\n" not in line for line in value)
        )

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        return _TEXT.decode("\n".join(value), context, container, key)

    def encode(self, value: list[Any], context: EncodeContext, owner: Any) -> Any:
        text = _TEXT.encode(value, context, owner)
        return None if text is None else text.split("\n")

    def describe(self) -> str:
        return "list[str]"
