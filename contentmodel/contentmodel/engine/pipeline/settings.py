"""Adapt the settings of another API's request to the target's model; every change is a loss.

The model's capabilities are `context.known`: a row of the adapter's capabilities, or the policy `capabilities`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from contentmodel import reasons
from contentmodel.capabilities import BUDGETS, Capabilities, Known, effort_of, nearest_effort
from contentmodel.capabilities import thinks as thinks
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline.steps import Fact, needs
from contentmodel.request import ChatOptions, ChatRequest, FunctionTool, ReasoningOptions, ToolGroup

SAMPLING = ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty")
_SETTING_NAMES = {name: name.replace("_", " ") for name in ("top_p", "top_k", "frequency_penalty", "presence_penalty")}
_THINKING = ("mode", "effort", "budget_tokens")
_HIDDEN, _USUAL = ("none", "omitted"), ("auto", "summarized")
"""Values of `summary`: those without a summary, and those that leave its form to the API. Other values name a form."""


class Shown(msgspec.Struct, frozen=True):
    """The field of ReasoningOptions with which an API is asked to return the reasoning.

    `yes` asks for the reasoning, `no` for an answer without it. `others` are further values that the API takes. With
    `only_beside_mode`, the API takes the field only beside a mode in which the model thinks.
    """

    field: str
    yes: Any
    no: Any = None
    others: tuple[str, ...] = ()
    only_beside_mode: bool = False


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The form in which an API expresses the amount of thinking, as fields of ReasoningOptions.

    `off` turns thinking off, `between_tools` nearly so; `auto` leaves it to the model, `within` gives it a budget. None
    means that the API cannot express it. `budget_below_limit`: a budget counts toward the limit of the answer.
    `efforts_as_budgets`: if a model takes no effort, it is sent as a budget; if it takes levels, they replace a
    budget. `switched_apart`: the APIs in which an effort does not turn thinking on; an effort of any other API means
    that the model thinks, so `auto` or a budget is sent beside it. None: an effort turns thinking on here, too.
    `shown`: None if a request cannot ask for the reasoning.
    """

    off: dict[str, Any] | None
    auto: dict[str, Any]
    within: dict[str, Any] | None = None
    between_tools: dict[str, Any] | None = None
    budget_below_limit: bool = False
    efforts_as_budgets: bool = False
    switched_apart: tuple[str, ...] | None = None
    shown: Shown | None = None


# platform.claude.com/docs/en/build-with-claude/thinking and /effort; types/thinking_config_adaptive_param.py of
# anthropic 2.12.0: some models return their thinking only if `display` asks for it. Seen 2026-11-27.
ANTHROPIC = Form(
    off={"mode": "disabled"},
    auto={"mode": "adaptive"},
    within={"mode": "enabled"},
    between_tools={"mode": "between_tools"},
    budget_below_limit=True,
    switched_apart=("anthropic-messages", "bedrock-converse"),
    shown=Shown("summary", "summarized", "omitted", ("updates",), only_beside_mode=True),
)
OPENAI = Form(off={"effort": "none"}, auto={})
RESPONSES = msgspec.structs.replace(OPENAI, shown=Shown("summary", "auto", None, ("concise", "detailed")))
GOOGLE = Form(
    off={"budget_tokens": 0},
    auto={"budget_tokens": -1},
    within={},
    efforts_as_budgets=True,
    shown=Shown("include", yes=True, no=False),
)

_FITTED = (*SAMPLING, "reasoning", "stop_sequences", "parallel_tool_calls", "response_format")
NEEDS = (Fact.STRICT_TOOL, *(("option", name) for name in _FITTED))
"""The facts of requests with settings that a model may not take."""


@needs(*NEEDS)
def with_fitting_settings(request: ChatRequest, context: EncodeContext, form: Form) -> ChatRequest:
    """Return a request of another API, or for another model, whose settings the target's model takes."""
    if context.native and not context.is_aimed:
        return request
    fitted = request.options
    for fit in (_fit_thinking, _fit_sampling, _fit_stops, _fit_calls, _fit_format):
        fitted = fit(fitted, request, context, form)
    tools = _loosened(request.tools, context)
    if fitted is request.options and tools is request.tools:
        return request
    return msgspec.structs.replace(request, options=fitted, tools=tools)


# -- thinking ----------------------------------------------------------------------------------------------------------


def _why(known: Known, statement: str) -> str:
    return known.why(statement, "efforts", "thinking", "budget", "efforts_without_thinking")


class _Fitted(msgspec.Struct):
    """The fields of ReasoningOptions for the target. `why`: the reason if they differ in meaning from the source's."""

    fields: dict[str, Any]
    why: str = ""


def _fit_thinking(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    if options.reasoning is None:
        return options
    fitted = _fit_amount(options.reasoning, request, context, form)
    fitted = _fit_shown(fitted, request, context, form)
    if fitted is options.reasoning:
        return options
    return msgspec.structs.replace(options, reasoning=fitted)


def _fit_amount(
    requested: ReasoningOptions, request: ChatRequest, context: EncodeContext, form: Form
) -> ReasoningOptions:
    switched = _switched_on(requested, request, context, form)
    if all(getattr(switched, name) is None for name in _THINKING):
        return requested
    fitting = _thinking(switched, request.options.max_output_tokens, context.known, form)
    if switched.budget_tokens is not None and requested.budget_tokens is None and fitting.why:
        fitting = _Fitted(fitting.fields, _why(context.known, "accepts a budget instead of an effort"))
    reason = reasons.THINKING_ADJUSTED if fitting.fields else reasons.THINKING_UNSUPPORTED
    # An effort says that the model thinks.
    implied = ("mode",) if requested.effort and fitting.fields == {"effort": requested.effort} else ()
    for name in _THINKING:
        value = getattr(requested, name)
        if value is None or value == fitting.fields.get(name):
            continue
        if fitting.why and name not in implied:
            context.report_loss(request, f"options.reasoning.{name}", reason, why=fitting.why)
        else:
            context.report_loss(request, f"options.reasoning.{name}", reasons.THINKING_CONVERTED)
    return msgspec.structs.replace(requested, **{name: fitting.fields.get(name) for name in _THINKING})


def _switched_on(
    requested: ReasoningOptions, request: ChatRequest, context: EncodeContext, form: Form
) -> ReasoningOptions:
    """Turn thinking on if the request implies it and the target needs a mode for it."""
    source = context.origin.api if context.origin is not None else None
    if form.switched_apart is None or source in form.switched_apart:
        return requested
    if requested.mode is not None or requested.budget_tokens is not None or requested.effort == "none":
        return requested
    capabilities, effort = context.known.capabilities, requested.effort
    if capabilities.thinking is None and form.auto.get("mode") == "enabled" and effort is not None:
        # A host with a switch, whose models are not listed.
        return msgspec.structs.replace(requested, mode="adaptive")
    modes = capabilities.thinking or ()
    asked = _is_shown(requested)
    if "adaptive" in modes and (effort is not None or asked or (asked is False and thinks(requested, capabilities))):
        return msgspec.structs.replace(requested, mode="adaptive")
    if "enabled" not in modes or effort not in BUDGETS or not _takes_budget(request):
        return requested
    # Leave half of the limit for the answer.
    most = (request.options.max_output_tokens or 2**31) // 2
    least = (capabilities.budget or (1, 0))[0]
    if most < least:
        return requested
    return msgspec.structs.replace(requested, mode="enabled", budget_tokens=min(max(BUDGETS[effort], least), most))


def _takes_budget(request: ChatRequest) -> bool:
    """Return whether a thinking budget may be added: not to an answer that has begun, nor to a call that is forced."""
    choice = request.options.tool_choice
    roles = [message.role for message in request.messages]
    has_begun = "assistant" in roles[len(roles) - roles[::-1].index("user") :] if "user" in roles else True
    return not has_begun and (choice is None or choice.mode in ("auto", "none"))


def _is_shown(requested: ReasoningOptions) -> bool | None:
    """Return whether a request asks for the reasoning; None if it leaves that to the API."""
    if requested.include is not None or requested.summary is None:
        return requested.include
    return requested.summary not in _HIDDEN


def _fit_shown(
    requested: ReasoningOptions, request: ChatRequest, context: EncodeContext, form: Form
) -> ReasoningOptions:
    """Ask for the reasoning in the field that the API has for it."""
    shown, asked = form.shown, _is_shown(requested)
    if shown is None or asked is None:
        return requested
    is_capable = context.known.capabilities.thinking != ()
    fields: dict[str, Any] = {"include": None, "summary": None}
    fields[shown.field] = _shown_as(requested, shown, asked=asked) if is_capable else None
    for name, value in fields.items():
        old = getattr(requested, name)
        if old is None or old == value:
            continue
        path = f"options.reasoning.{name}"
        if asked and fields[shown.field] is None:
            why = context.known.why("returns no thinking to this request", "thinking")
            context.report_loss(request, path, reasons.THINKING_UNSUPPORTED, why=why)
        elif name == "summary" and old not in (*_HIDDEN, *_USUAL):
            why = f"{context.api} has no {old} form of the thinking"
            context.report_loss(request, path, reasons.THINKING_ADJUSTED, why=why)
        else:
            context.report_loss(request, path, reasons.THINKING_CONVERTED)
    return msgspec.structs.replace(requested, **fields)


def _shown_as(requested: ReasoningOptions, shown: Shown, *, asked: bool) -> Any:
    if shown.only_beside_mode and requested.mode not in ("enabled", "adaptive"):
        return None
    value = getattr(requested, shown.field)
    is_taken = value is not None and value in (shown.yes, shown.no, *shown.others)
    return value if is_taken else shown.yes if asked else shown.no


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
    if not auto and requested.effort is None and capabilities.default_effort == "none":
        return _switched_by_effort(known)
    return _Fitted(
        dict(auto),
        "" if auto else _why(known, "has no setting for it and uses its default"),
    )


def _switched_by_effort(known: Known) -> _Fitted:
    """Turn thinking on with an effort: the only one, or the nearest to medium."""
    efforts = _efforts(known.capabilities)
    level = nearest_effort("medium", efforts)
    fields = {} if level is None else {"effort": level}
    return _Fitted(fields, "" if len(efforts) == 1 else _why(known, f"thinks only with an effort: {level} is sent"))


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


def _fit_sampling(options: ChatOptions, request: ChatRequest, context: EncodeContext, form: Form) -> ChatOptions:
    capabilities = context.known.capabilities
    ranges = capabilities.sampled(thinks=thinks(options.reasoning, capabilities))
    changes: dict[str, Any] = {}
    for name in SAMPLING if ranges is not None else ():
        accepted = (ranges or {}).get(name)
        value, fitted = getattr(options, name), _sampled(getattr(options, name), accepted)
        if fitted != value:
            usual = (capabilities.sampling or {}).get(name) == accepted
            why = context.known.why(
                _sampling_statement(name, accepted, usual=usual), "sampling", "sampling_while_thinking"
            )
            context.report_loss(request, f"options.{name}", _sampling_loss(value, fitted, accepted), why=why)
            changes[name] = fitted
    return msgspec.structs.replace(options, **changes) if changes else options


def _sampled(value: Any, accepted: tuple[float, float] | None) -> Any:
    """Return the nearest value that the model takes; None if it takes none, or only one."""
    if value is None or accepted is None or accepted[0] == accepted[1]:
        return None
    least, most = accepted
    return value if least <= value <= most else min(max(value, least), most)


def _sampling_loss(value: Any, fitted: Any, accepted: tuple[float, float] | None) -> reasons.Reason:
    if fitted is not None:
        return reasons.SAMPLING_CLIPPED
    return reasons.SAMPLING_DEFAULT if accepted == (value, value) else reasons.SAMPLING_UNSUPPORTED


def _sampling_statement(name: str, accepted: tuple[float, float] | None, *, usual: bool) -> str:
    setting = _SETTING_NAMES.get(name, name)
    when = "" if usual else " while it thinks"
    if accepted is None:
        return f"accepts no {setting}{when}"
    least, most = accepted
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
        return tool if inner is tool.tools else msgspec.structs.replace(tool, tools=inner)
    if not isinstance(tool, FunctionTool) or not tool.strict:
        return tool
    context.report_loss(
        tool,
        "strict",
        reasons.STRICT_UNSUPPORTED,
        why=context.known.why("does not support strict tools", "strict_tools"),
    )
    return msgspec.structs.replace(tool, strict=None)


# -- fields that two APIs have -----------------------------------------------------------------------------------------


def with_fields_of(request: ChatRequest, context: EncodeContext, other: str, names: Collection[str]) -> ChatRequest:
    """Return a request with fields of the API `other` that this API has, too, with the same names and values.

    If a host limits the fields of the target, they stay lost.
    """
    extra = request.extra or {}
    fields = extra.get(other)
    if not fields:
        return request
    same = {name: fields[name] for name in names if name in fields}
    if not same or context.host.dialect is not None:
        return request
    remaining = {name: value for name, value in fields.items() if name not in same}
    own_fields: dict[str, Any] = {**same, **extra.get(context.api, {})}
    return msgspec.structs.replace(request, extra={**extra, other: remaining, context.api: own_fields})
