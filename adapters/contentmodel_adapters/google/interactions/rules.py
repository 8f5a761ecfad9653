"""Requests that Interactions refuses or answers badly, and the capabilities of Gemini models (google/models.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Capabilities, CapabilityTable, Rules, makers, objects
from contentmodel.content.media import standard_base64
from contentmodel_adapters.common.rules import declares, declares_by_model, table
from contentmodel_adapters.google import models
from contentmodel_adapters.google.interactions.table import API, KINDS
from contentmodel_adapters.google.shared import FUNCTION_NAME

CAPABILITIES = CapabilityTable(API, models.ROWS, newest=models.NEWEST, own=makers.NAMES["google"])


RULES = Rules(API, CAPABILITIES)
Request = dict[str, Any]
_SDK = "Interactions.create of google-genai 3.4.0, _gaos/interactions.py"
_STEPS = "types of steps in google-genai 3.4.0, _gaos/types/interactions"
_OF_MODELS = ("cached_content", "generation_config")

_rule = declares(RULES, seen="2026-11-26")
_by_model = declares_by_model(RULES, seen="2026-11-28")


makers.declare_models(RULES, "ai.google.dev/gemini-api/docs/models; seen 2026-11-29", serves={"google"})


@_rule("refused", fix="name a model or an agent", source=_SDK)
def model_or_agent(request: Request) -> Iterator[Broken]:
    """A request must name a model or an agent, not both. With an agent, settings of models are refused."""
    model, agent = request.get("model"), request.get("agent")
    if model is None and agent is None:
        yield "$", "no model and no agent"
    if model is not None and agent is not None:
        yield "$.agent", "with a model"
    for name in _OF_MODELS if agent is not None else ():
        if request.get(name) is not None:
            yield f"$.{name}", "with an agent"
    if model is not None and request.get("agent_config") is not None:
        yield "$.agent_config", "with a model"


@_rule("refused", fix="send a result after each call", source=f"call_id in the {_STEPS}")
def results_have_calls(request: Request) -> Iterator[Broken]:
    """A function_result must have the id of a call before it, unless a stored interaction has the call."""
    call_ids: set[Any] = set()
    for at, step in objects(request, "input") if request.get("previous_interaction_id") is None else ():
        if step.get("type") == "function_call" and isinstance(step.get("id"), str):
            call_ids.add(step["id"])
        elif step.get("type") == "function_result" and step.get("call_id") not in [*call_ids]:
            yield f"{at}.call_id", "no call before it has this id"


@_rule("refused", fix="send a result after each call", source="ai.google.dev/gemini-api/docs/function-calling")
def calls_have_results(request: Request) -> Iterator[Broken]:
    """Each function_call must have a result before the next input of the user."""
    pending: dict[str, str] = {}
    for at, step in [*objects(request, "input"), ("", {"type": "user_input"})]:
        if step.get("type") == "function_call" and isinstance(step.get("id"), str):
            pending[step["id"]] = at
        elif step.get("type") == "function_result" and isinstance(step.get("call_id"), str):
            pending.pop(step["call_id"], None)
        elif step.get("type") == "user_input":
            yield from ((path, "no result") for path in pending.values())
            pending = {}


def _contents(request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, item in objects(request, "input"):
        yield at, item
        for key in ("content", "result"):
            yield from objects(item, key, at)


@_rule("refused", fix="send base64", source=f"the {_STEPS}")
def data_is_base64(request: Request) -> Iterator[Broken]:
    """The data of a medium must be base64, in either alphabet."""
    for at, item in _contents(request):
        data = item.get("data") if item.get("type") in KINDS else None
        if isinstance(data, str) and standard_base64(data) is None:
            yield f"{at}.data", f"{data[:30]!r}"


@_rule("refused", fix="send a uri or data", source=f"the {_STEPS}")
def media_have_one_source(request: Request) -> Iterator[Broken]:
    """A medium must have a uri or data."""
    for at, item in _contents(request):
        if item.get("type") in KINDS and (item.get("uri") is None) is (item.get("data") is None):
            yield at, "neither a uri nor data" if item.get("uri") is None else "a uri and data"


@_rule("refused", fix="rename the function", source="the same models in generateContent")
def tool_names_match_pattern(request: Request) -> Iterator[Broken]:
    """A function name must have up to 128 letters, digits and _ . : - and start with a letter or underscore."""
    for at, tool in objects(request, "tools"):
        name = tool.get("name")
        fits = isinstance(name, str) and FUNCTION_NAME.fullmatch(name)
        if tool.get("type") == "function" and not fits:
            yield f"{at}.name", f"{name!r:.60}"


@_rule("refused", fix="name defined functions", source=f"AllowedTools in the {_STEPS}")
def allowed_functions_are_defined(request: Request) -> Iterator[Broken]:
    """The allowed tools of a tool choice must be defined functions."""
    defined = {tool.get("name") for _, tool in objects(request, "tools") if isinstance(tool.get("name"), str)}
    choice = table(table(request, "generation_config"), "tool_choice")
    names = table(choice, "allowed_tools").get("tools")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in defined:
            yield f"$.generation_config.tool_choice.allowed_tools.tools[{index}]", f"{name!r:.60} is not defined"


@_by_model(
    "refused", fix="end with an input of the user", source="the same models in generateContent: LibreChat-AI/agents#323"
)
def inputs_end_with_user(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """Gemini 3.5 Flash-Lite, 3.6 and later refuse to continue an output of the model."""
    for at, step in [*objects(request, "input")][-1:] if not capabilities.prefill else ():
        if step.get("type") in ("model_output", "thought"):
            yield at, "the last step is of the model"


@_by_model(
    "refused",
    fix='send its thought, or one with the signature "skip_thought_signature_validator"',
    source="earendil-works/pi#2172, googleapis/js-genai#1735",
)
def calls_are_signed(request: Request, capabilities: Capabilities) -> Iterator[Broken]:
    """For Gemini 3, a thought with a signature must precede the function calls of each step since the last input."""
    steps = [*objects(request, "input")] if capabilities.signed_calls else []
    starts = [number for number, (_, step) in enumerate(steps) if step.get("type") == "user_input"]
    is_signed = False
    for at, step in steps[starts[-1] if starts else len(steps) :]:
        kind = step.get("type")
        if kind == "function_call" and not is_signed:
            yield at, "no signature before it"
        is_signed = kind == "function_call" or (is_signed and kind != "function_result") or bool(step.get("signature"))
