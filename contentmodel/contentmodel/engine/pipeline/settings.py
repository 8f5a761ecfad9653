"""Adapt the settings of another API's request to the target's model; every change is a loss.

The model's capabilities are `context.known`: a row of the adapter's capabilities.py, or the policy `capabilities`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from contentmodel.capabilities import BUDGETS, Capabilities, Known, effort_of, nearest_effort
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.losses import reasons
from contentmodel.request import ChatOptions, ChatRequest, FunctionTool, ReasoningOptions, ToolGroup

SAMPLING = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
_SETTING_NAMES = {name: name.replace("_", " ") for name in ("top_p", "top_k", "frequency_penalty", "presence_penalty")}
_THINKING = ("mode", "effort", "budget_tokens")


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The form in which an API expresses the amount of thinking, as fields of ReasoningOptions.

    `off` turns thinking off, `between_tools` nearly so; `auto` leaves it to the model, `within` gives it a budget. None
    means that the API cannot express it. `budget_below_limit`: a budget counts toward the limit of the answer.
    `efforts_as_budgets`: if a model takes no effort, it is sent as a budget; if it takes levels, they replace a
    budget.
    """

    off: dict[str, Any] | None
    auto: dict[str, Any]
    within: dict[str, Any] | None = None
    between_tools: dict[str, Any] | None = None
    budget_below_limit: bool = False
    efforts_as_budgets: bool = False


ANTHROPIC = Form(
    off={"mode": "disabled"},
    auto={"mode": "adaptive"},
    within={"mode": "enabled"},
    between_tools={"mode": "between_tools"},
    budget_below_limit=True,
)
OPENAI = Form(off={"effort": "none"}, auto={})
GOOGLE = Form(off={"budget_tokens": 0}, auto={"budget_tokens": -1}, within={}, efforts_as_budgets=True)


def with_fitting_settings(request: ChatRequest, context: EncodeContext, form: Form) -> ChatRequest:
    """Return a request of another API whose settings the target's model takes."""
    if context.native:
        return request
    fitted = request.options
    for fit in (_fit_thinking, _fit_sampling, _fit_stops, _fit_calls, _fit_format):
        fitted = fit(fitted, request, context, form)
    tools = _loosened(request.tools, context)
    if fitted is request.options and tools is request.tools:
        return request
    options = context.replaced(request.options, fitted)
    changed: ChatRequest = context.replace(request, options=options, tools=tools)
    return changed


# -- thinking ----------------------------------------------------------------------------------------------------------


def _why(known: Known, statement: str) -> str:
    return known.why(statement, "efforts", "thinking", "budget", "efforts_without_thinking")


class _Fitted(msgspec.Struct):
    """The fields of ReasoningOptions for the target. `why`: the reason if they differ in meaning from the source's."""

    fields: dict[str, Any]
    why: str = ""


def _fit_thinking(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    requested = options.reasoning
    if requested is None or all(getattr(requested, name) is None for name in _THINKING):
        return options
    fitting = _thinking(requested, options.max_output_tokens, context.known, form)
    reason = reasons.THINKING_ADJUSTED if fitting.fields else reasons.THINKING_UNSUPPORTED
    for name in _THINKING:
        value = getattr(requested, name)
        if value is None or value == fitting.fields.get(name):
            continue
        if fitting.why:
            context.report_loss(request, f"options.reasoning.{name}", reason, why=fitting.why)
        else:
            context.report_loss(request, f"options.reasoning.{name}", reasons.THINKING_CONVERTED)
    fitted = msgspec.structs.replace(requested, **{name: fitting.fields.get(name) for name in _THINKING})
    return msgspec.structs.replace(options, reasoning=context.replaced(requested, fitted))


def _thinking(requested: ReasoningOptions, limit: int | None, known: Known, form: Form) -> _Fitted:
    capabilities = known.capabilities
    off = requested.mode in ("disabled", "between_tools") or requested.effort == "none" or requested.budget_tokens == 0
    if capabilities.thinking == () and not capabilities.efforts:
        return _Fitted({}, "" if off else _why(known, "does not support thinking"))
    if off:
        return _off(requested, known, form)
    fitting = _budget(requested, limit, known, form)
    if requested.effort is None:
        return fitting
    effort = _effort(requested.effort, known, form)
    return _Fitted({**fitting.fields, **effort.fields}, fitting.why or effort.why)


def _off(requested: ReasoningOptions, known: Known, form: Form) -> _Fitted:
    """Turn thinking off, or return the least that the model can do."""
    capabilities = known.capabilities
    efforts = _efforts(capabilities)
    between = (
        form.between_tools is not None
        and capabilities.thinking is not None
        and "between_tools" in capabilities.thinking
    )
    if requested.mode == "between_tools" and form.between_tools is not None and capabilities.thinks_by("between_tools"):
        return _beside(requested, form.between_tools, known)
    if form.off is not None and capabilities.thinks_by("disabled"):
        return _beside(requested, form.off, known)
    why = _why(known, "cannot turn thinking off")
    if between:
        return _Fitted(dict(form.between_tools or {}), f"{why}: thinking between tools is the minimum")
    if efforts:
        return _Fitted({"effort": efforts[0]}, f"{why}: {efforts[0]} is the lowest effort")
    return _Fitted({}, why)


def _beside(requested: ReasoningOptions, off: Mapping[str, Any], known: Known) -> _Fitted:
    """Turn thinking off. Keep the effort, which also controls how much the model writes, if the API allows both."""
    if requested.effort in (None, "none") or "effort" in off:
        return _Fitted(dict(off))
    allowed = known.capabilities.efforts_without_thinking or known.capabilities.efforts or ()
    if "mode" in off and requested.effort in allowed:
        return _Fitted({"effort": requested.effort, **off})
    return _Fitted(dict(off), _why(known, f"accepts no effort {requested.effort!r:.40} while thinking is off"))


def _efforts(capabilities: Capabilities) -> tuple[str, ...]:
    """Return the levels of effort at which a model thinks, in rising order; () if none are known."""
    return tuple(effort for effort in capabilities.efforts or () if effort != "none")


def _budget(requested: ReasoningOptions, limit: int | None, known: Known, form: Form) -> _Fitted:
    """Convert a mode and a budget, without the effort."""
    capabilities, budget = known.capabilities, requested.budget_tokens
    if budget is None and requested.mode == "enabled" and not capabilities.thinks_by("adaptive"):
        budget = BUDGETS["medium"]
    # If a model takes levels, use them: its budgets exist for older requests.
    budgeted = (
        form.within is not None
        and capabilities.thinks_by("enabled")
        and not (form.efforts_as_budgets and capabilities.efforts)
    )
    if budget is not None and budget > 0 and budgeted:
        return _within(budget, limit, known, form)
    if budget is None and requested.mode is None:
        return _Fitted({})
    if budget is not None and budget > 0:
        return _without_budget(requested, budget, known, form)
    if not capabilities.thinks_by("adaptive"):
        return _Fitted({}, _why(known, "supports thinking only with a budget"))
    # If the model takes levels, thinking is its default and needs no setting.
    auto = {} if form.efforts_as_budgets and (requested.effort or capabilities.efforts) else form.auto
    return _Fitted(
        dict(auto),
        "" if auto else _why(known, "has no setting for it and uses its default"),
    )


def _within(budget: int, limit: int | None, known: Known, form: Form) -> _Fitted:
    """Clip a budget to the range that the model takes, and below the limit of the answer."""
    least, most = known.capabilities.budget or (1, budget)
    if form.budget_below_limit and limit is not None:
        most = min(most, limit - 1)
    if most < least:
        return _Fitted(
            {}, f"{_why(known, f'requires a budget of at least {least}')}: max_output_tokens leaves no room for it"
        )
    fitted = min(max(budget, least), most)
    why = _why(known, f"accepts a budget from {least} to {most}") if fitted != budget else ""
    return _Fitted({**(form.within or {}), "budget_tokens": fitted}, why)


def _without_budget(requested: ReasoningOptions, budget: int, known: Known, form: Form) -> _Fitted:
    """Return the effort nearest to a budget, if the model takes efforts."""
    capabilities = known.capabilities
    fields = dict(form.auto) if capabilities.thinks_by("adaptive") and not form.efforts_as_budgets else {}
    efforts = capabilities.efforts if capabilities.efforts is not None else tuple(BUDGETS)
    level = nearest_effort(effort_of(budget), efforts) if requested.effort is None else None
    why = _why(known, "accepts no thinking budget") if form.within is not None else "the API has no thinking budget"
    if level is not None:
        return _Fitted({**fields, "effort": level}, f"{why}: {level} is the nearest effort")
    return _Fitted(fields, why)


def _effort(effort: str, known: Known, form: Form) -> _Fitted:
    capabilities = known.capabilities
    if capabilities.efforts is None:
        return _Fitted({"effort": effort})
    level = nearest_effort(effort, capabilities.efforts)
    if level is not None:
        return _Fitted({"effort": level}, _why(known, f"accepts the efforts {', '.join(capabilities.efforts)}"))
    if not capabilities.efforts and form.efforts_as_budgets and capabilities.thinks_by("enabled") and effort in BUDGETS:
        fitting = _within(BUDGETS[effort], None, known, form)
        return _Fitted(fitting.fields, _why(known, "accepts a budget instead of an effort"))
    if not capabilities.efforts:
        return _Fitted({}, _why(known, "accepts no effort"))
    return _Fitted({}, _why(known, f"accepts the efforts {', '.join(capabilities.efforts)}, not {effort!r:.40}"))


# -- sampling ----------------------------------------------------------------------------------------------------------


def thinks(requested: ReasoningOptions | None, capabilities: Capabilities) -> bool:
    """Return whether a model thinks: as requested, or by default."""
    if capabilities.thinking == ():
        return False
    mode, effort = (requested.mode, requested.effort) if requested is not None else (None, None)
    budget = None if requested is None else requested.budget_tokens
    if mode in ("disabled", "between_tools") or budget == 0:
        return False
    if mode is not None or budget is not None:
        return True
    # A level of effort alone does not turn thinking on if it is off by default.
    chosen = effort or capabilities.default_effort
    return chosen is not None and chosen != "none" and "enabled" not in (capabilities.thinking or ())


def _fit_sampling(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    capabilities = context.known.capabilities
    ranges = capabilities.sampled(thinks=thinks(options.reasoning, capabilities))
    changes: dict[str, Any] = {}
    for name in SAMPLING if ranges is not None else ():
        taken = (ranges or {}).get(name)
        value, fitted = getattr(options, name), _sampled(getattr(options, name), taken)
        if fitted != value:
            usual = (capabilities.sampling or {}).get(name) == taken
            why = context.known.why(_taken(name, taken, usual=usual), "sampling", "sampling_while_thinking")
            context.report_loss(request, f"options.{name}", _sampling_loss(value, fitted, taken), why=why)
            changes[name] = fitted
    return msgspec.structs.replace(options, **changes) if changes else options


def _sampled(value: Any, taken: tuple[float, float] | None) -> Any:
    """Return the nearest value that the model takes; None if it takes none, or only one."""
    if value is None or taken is None or taken[0] == taken[1]:
        return None
    least, most = taken
    return value if least <= value <= most else min(max(value, least), most)


def _sampling_loss(value: Any, fitted: Any, taken: tuple[float, float] | None) -> reasons.Reason:
    if fitted is not None:
        return reasons.SAMPLING_CLIPPED
    return reasons.SAMPLING_DEFAULT if taken == (value, value) else reasons.SAMPLING_UNSUPPORTED


def _taken(name: str, taken: tuple[float, float] | None, *, usual: bool) -> str:
    setting = _SETTING_NAMES.get(name, name)
    when = "" if usual else " while it thinks"
    if taken is None:
        return f"accepts no {setting}{when}"
    least, most = taken
    return (
        f"accepts no {setting} other than {least:g}{when}"
        if least == most
        else f"accepts {setting} from {least:g} to {most:g}{when}"
    )


# -- the rest ----------------------------------------------------------------------------------------------------------


def _fit_stops(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    most, requested = context.known.capabilities.stop_sequences, options.stop_sequences
    if most is None or requested is None or len(requested) <= most:
        return options
    if most == 0:
        why = context.known.why("accepts no stop sequences", "stop_sequences")
        context.report_loss(request, "options.stop_sequences", reasons.STOP_SEQUENCE_LIMIT, why=why)
        return msgspec.structs.replace(options, stop_sequences=None)
    why = context.known.why(f"accepts at most {most} stop sequences", "stop_sequences")
    for index in range(most, len(requested)):
        context.report_loss(request, f"options.stop_sequences$[{index}]", reasons.STOP_SEQUENCE_LIMIT, why=why)
    return msgspec.structs.replace(options, stop_sequences=requested[:most])


def _fit_calls(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    if options.parallel_tool_calls is None or context.known.capabilities.parallel_tool_calls:
        return options
    why = context.known.why("has no setting for parallel calls", "parallel_tool_calls")
    context.report_loss(request, "options.parallel_tool_calls", reasons.PARALLEL_UNSUPPORTED, why=why)
    return msgspec.structs.replace(options, parallel_tool_calls=None)


def _fit_format(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    response_format = options.response_format
    if response_format is None or response_format.schema is None or context.known.capabilities.structured_output:
        return options
    why = context.known.why("accepts no response schema", "structured_output")
    context.report_loss(request, "options.response_format", reasons.ANSWER_SCHEMA_UNSUPPORTED, why=why)
    return msgspec.structs.replace(options, response_format=None)


def _loosened(tools: list[Any], context: EncodeContext) -> list[Any]:
    """Return tools that are not strict if the model has no strict tools; the same list if nothing changes."""
    if context.known.capabilities.strict_tools:
        return tools
    loose = [_loose(tool, context) for tool in tools]
    return loose if any(new is not old for new, old in zip(loose, tools, strict=True)) else tools


def _loose(tool: Any, context: EncodeContext) -> Any:
    if isinstance(tool, ToolGroup):
        inner = _loosened(tool.tools, context)
        return tool if inner is tool.tools else context.replace(tool, tools=inner)
    if not isinstance(tool, FunctionTool) or not tool.strict:
        return tool
    context.report_loss(
        tool,
        "strict",
        reasons.STRICT_UNSUPPORTED,
        why=context.known.why("does not support strict tools", "strict_tools"),
    )
    return context.replace(tool, strict=None)
