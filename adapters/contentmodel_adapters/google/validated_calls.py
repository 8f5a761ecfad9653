"""The mode of Google's APIs in which calls adhere to the schemas of all functions: strict tools.

Google has no flag on a tool. In the mode "validated", the model answers in text, or with calls under constrained
decoding; the mode "any" constrains calls, too (`FunctionCallingConfigMode` in types.py of google-genai 3.4;
`FunctionCallingConfig.Mode` of google.ai.generativelanguage.v1beta; seen 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext, reasons, tool_choices
from contentmodel.request import ChatRequest, FunctionTool, ToolChoice

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


def with_mode_of_strict_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with a tool choice for its strict functions. Report what the mode cannot express."""
    functions = [tool for tool in tool_choices.leaves(request.tools) if isinstance(tool, FunctionTool)]
    choice, are_all = request.options.tool_choice, are_strict(functions)
    mode = "auto" if choice is None else choice.mode
    for tool in functions:
        if tool.strict is not None:
            is_said = not tool.strict or mode in ("required", "none") or (are_all and mode == "auto")
            if not is_said or not context.native:
                said = BY_CHOICE if tool.strict else reasons.USUAL_VALUE
                context.report_loss(tool, "strict", said if is_said else ALL_OR_NONE)
    if choice is None and are_all:
        return _with_choice(request, ToolChoice(mode="auto"), context)
    if choice is not None and not are_all and is_validated(tool_choices.RAW.of(choice, context.api)) and functions:
        # The functions were changed: the mode of the payload no longer applies.
        return _with_choice(request, context.replace(choice, extra=None), context)
    return request


def _with_choice(request: ChatRequest, choice: ToolChoice, context: EncodeContext) -> ChatRequest:
    changed: ChatRequest = context.replace(request, options=context.replace(request.options, tool_choice=choice))
    return changed
