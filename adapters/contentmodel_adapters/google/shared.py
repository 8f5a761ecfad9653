"""The common part of both APIs of Gemini: names of functions, hosted tools, fields of requests, and strict tools."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import attrgetter, is_
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    IdentifierRule,
    camel_name,
    needs,
    reasons,
    snake_name,
    tool_choices,
)
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice, ToolGroup

# -- ids, names, signatures and JSON ---------------------------------------------------------------------------------

CALL_IDS = IdentifierRule(".", 64)
"""The APIs document neither an alphabet nor a limit; 64 is the smallest limit of the other APIs."""
TOOL_NAMES = IdentifierRule("(?=[a-zA-Z_])[a-zA-Z0-9_.:-]", 64)
FUNCTION_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
"""Error messages name a limit of 64, the SDK 128: generated names follow the first, the rule the second."""


def requires_signed_calls(context: EncodeContext) -> bool:
    """Return whether the model refuses calls without a signature, or without a signed thought."""
    return context.known.capabilities.signed_calls


def json_as_text(content: Any, context: EncodeContext) -> Any:
    """Return a JSON value as a text, and any other content unchanged."""
    if content.__class__ is not JsonContent:
        return content
    context.degrade(content, reasons.AS_TEXT, "value")
    return context.replaced(content, TextContent(text=content.text))


# -- hosted tools --------------------------------------------------------------------------------------------------

APIS = frozenset({"google-generate-content", "google-interactions"})
SAME_SETTINGS = {
    "maps": ("enableWidget",),
    "file_search": ("fileSearchStoreNames", "topK", "metadataFilter"),
    "computer": ("environment", "excludedPredefinedFunctions", "enablePromptInjectionDetection"),
}
"""The settings that the tools of both APIs have (google-genai 3.4, types.py and _gaos, seen 2026-11-27).

generateContent spells them in camel case and environments in capitals, Interactions in snake case and in small letters.
"""
_PREFIX = "ENVIRONMENT_"
SPELLING = reasons.insignificant("google-environment", "{target} spells the environment of a computer in another way")


@needs(("tool", HostedTool), ("tool", ToolGroup))
def with_respelled_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose hosted tools of the other API have their settings in the spelling of this one."""
    origin = context.origin
    if origin is None or origin.api not in APIS or context.native:
        return request
    tools = [_respelled(tool, context) for tool in request.tools]
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tools)


def _respelled(tool: Any, context: EncodeContext) -> Any:
    names = SAME_SETTINGS.get(tool.kind, ()) if tool.__class__ is HostedTool else ()
    shared = {name: value for name, value in tool.settings.items() if camel_name(name) in names} if names else {}
    if not names or (tool.settings and not shared):
        return tool
    for name in tool.settings.keys() - shared.keys():
        context.report_loss(tool, f"settings.{name}", reasons.TOOL_SETTING, tag=tool.kind)
    is_snake = context.api == "google-interactions"
    settings = {snake_name(name) if is_snake else camel_name(name): value for name, value in shared.items()}
    where = settings.get("environment")
    if where.__class__ is str:
        settings["environment"] = where.removeprefix(_PREFIX).lower() if is_snake else f"{_PREFIX}{where.upper()}"
        context.report_loss(tool, "settings.environment", SPELLING)
    return replace(tool, settings=settings, extra={**(tool.extra or {}), context.api: {}})


# -- fields of requests --------------------------------------------------------------------------------------------

_CATEGORY = "HARM_CATEGORY_"
SAFETY = reasons.insignificant("google-safety-settings", "{target} spells safety settings in another way")


@needs(*(("extra", api) for api in APIS))
def with_shared_fields(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with the cached content, the labels and the safety settings of the other API."""
    origin = context.origin
    if origin is None or origin.api not in APIS or context.native:
        return request
    extra, is_snake = request.extra or {}, context.api == "google-interactions"
    remaining, same = dict(extra.get(origin.api, {})), {}
    for key, value in extra.get(origin.api, {}).items():
        name = camel_name(key)
        if name == "safetySettings" and _are_settings(value, is_snake=is_snake):
            context.report_loss(request, key, SAFETY, api=origin.api)
            value = [_respelled_setting(setting, is_snake=is_snake) for setting in value]
        elif name not in ("cachedContent", "labels"):
            continue
        same[snake_name(name) if is_snake else name] = value
        del remaining[key]
    if not same:
        return request
    residue = {**same, **extra.get(context.api, {})}
    return replace(request, extra={**extra, origin.api: remaining, context.api: residue})


def _are_settings(value: Any, *, is_snake: bool) -> bool:
    """Return whether these are safety settings of the other API, with no other fields."""
    members = {"category" if is_snake else "type", "threshold", "method"}
    return value.__class__ is list and all(
        item.__class__ is dict
        and all((key in members and text.__class__ is str) or text is None for key, text in item.items())
        for item in value
    )


def _respelled_setting(setting: dict[str, str | None], *, is_snake: bool) -> dict[str, str]:
    """Return a safety setting of the other API in the spelling of this one."""
    said = {key: text for key, text in setting.items() if text is not None}
    if is_snake:
        names = {"category": "type"}
        return {names.get(key, key): text.removeprefix(_CATEGORY).lower() for key, text in said.items()}
    texts = {key: text.upper() for key, text in said.items()}
    category = {"category": f"{_CATEGORY}{texts.pop('type')}"} if "type" in texts else {}
    return {**category, **texts}


# -- strict tools ---------------------------------------------------------------------------------------------------

# Google has no flag on a tool. In the mode "validated", the model answers in text, or with calls under constrained
# decoding; the mode "any" constrains calls, too (`FunctionCallingConfigMode` in types.py of google-genai 3.4;
# `FunctionCallingConfig.Mode` of google.ai.generativelanguage.v1beta; seen 2026-11-29).
ALL_OR_NONE = reasons.dropped("strict-of-some-tools", "{target} enforces the schemas of all functions, or of none")
BY_CHOICE = reasons.insignificant("strict-by-choice", "the tool choice of {target} has the same effect on its calls")


def are_strict(tools: Iterable[Any]) -> bool:
    """Return whether there are functions, and all of them are strict."""
    functions = [tool for tool in tool_choices.leaves(tools) if isinstance(tool, FunctionTool)]
    return bool(functions) and all(tool.strict for tool in functions)


def is_validated(raw: Any) -> bool:
    """Return whether a tool choice of Google is only the mode "validated"."""
    mode = raw.get("mode") if raw.__class__ is dict and "allowedFunctionNames" not in raw else raw
    return mode.__class__ is str and mode.lower() == "validated"


def with_strict_tools(request: ChatRequest, context: DecodeContext) -> ChatRequest:
    """Return a decoded request whose functions are strict if its tool choice is only the mode "validated"."""
    choice = request.options.tool_choice
    raw = None if choice is None else tool_choices.RAW.of(choice, context.api)
    has_functions = any(isinstance(tool, FunctionTool) for tool in request.tools)
    if choice is None or raw is None or not has_functions or not is_validated(raw):
        return request
    tools = [context.replace(tool, strict=True) if isinstance(tool, FunctionTool) else tool for tool in request.tools]
    is_whole = isinstance(raw, str) or raw == {"mode": raw["mode"]}
    whole = context.replaced(choice, tool_choices.WHOLE.on(choice, context.api, True)) if is_whole else choice
    options = context.replace(request.options, tool_choice=whole)
    return context.replace(request, tools=tools, options=options)


@needs(*(("tool", kind) for kind in (FunctionTool, CustomTool, ToolGroup)))
def with_mode_of_strict_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with a tool choice for its strict functions. Report what the mode cannot express."""
    functions = [tool for tool in tool_choices.leaves(request.tools) if isinstance(tool, FunctionTool)]
    choice = request.options.tool_choice
    if choice is None and {None}.issuperset(map(attrgetter("strict"), functions)):
        return request
    are_all = are_strict(functions)
    mode = "auto" if choice is None else choice.mode
    for tool in functions:
        if tool.strict is not None:
            is_said = not tool.strict or mode in ("required", "none") or (are_all and mode == "auto")
            if not is_said or not context.native:
                said = BY_CHOICE if tool.strict else reasons.USUAL_VALUE
                context.report_loss(tool, "strict", said if is_said else ALL_OR_NONE)
    if choice is None and are_all:
        return _with_choice(request, ToolChoice(mode="auto"))
    if choice is not None and not are_all and is_validated(tool_choices.RAW.of(choice, context.api)) and functions:
        # The functions were changed: the mode of the payload no longer applies.
        return _with_choice(request, replace(choice, extra=None))
    return request


def _with_choice(request: ChatRequest, choice: ToolChoice) -> ChatRequest:
    return replace(request, options=replace(request.options, tool_choice=choice))
