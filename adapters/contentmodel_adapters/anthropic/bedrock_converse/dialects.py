"""Settings that requests have in other places: in the fields of makers, and in those of older versions.

In `additionalModelRequestFields`, Claude has the fields of its own API, which are the usual places here. Other models
have fields for the effort of reasoning, for reasoning that is off, and for top_k. The service refuses a field that the
model does not have. Sources: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html,
docs.aws.amazon.com/nova/latest/nova2-userguide, and the requests that pydantic-ai-slim 2.68.0 sends
(providers/bedrock.py and models/bedrock.py); seen 2026-11-27.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from contentmodel.authoring import DecodeContext, Hint
from contentmodel.request import ChatRequest, ToolChoice
from contentmodel_adapters.anthropic.bedrock_converse.table import API, CLAUDE, OF_MODEL, maker_of
from contentmodel_adapters.common.objects import at, is_free, put, without

EFFORT, THINKING, TOP_K = "outputConfig.effort", f"{OF_MODEL}.thinking", f"{OF_MODEL}.top_k"
TOP_K_OF_NOVA = f"{OF_MODEL}.inferenceConfig.topK"
NO_TOOL = {"type": "none"}


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """The places of the settings of one maker's models, as dotted paths.

    `beside`: the constants beside an effort. `off`: the place and the value that turn reasoning off. `on`: the effort
    to send if reasoning is on and the request has none; None if it is on anyway.
    """

    effort: str | None = None
    beside: dict[str, Any] = {}
    off: tuple[str, Any] | None = None
    on: str | None = None
    top_k: str | None = None


_NOVA_2 = Form(
    effort=f"{OF_MODEL}.reasoningConfig.maxReasoningEffort",
    beside={"type": "enabled"},
    off=(f"{OF_MODEL}.reasoningConfig", {"type": "disabled"}),
    on="medium",
    top_k=TOP_K_OF_NOVA,
)
_FLAT, _NESTED, _CONFIG = (
    f"{OF_MODEL}.{path}" for path in ("reasoning_effort", "reasoning.effort", "reasoning_config")
)
_FORMS = [
    (re.compile(r"nova-2"), _NOVA_2),
    (re.compile(r"amazon\.nova"), Form(top_k=TOP_K_OF_NOVA)),
    (re.compile(r"gpt-oss"), Form(effort=_FLAT)),
    (re.compile(r"openai\.gpt-\d|xai\.grok"), Form(effort=_NESTED, off=(_NESTED, "none"))),
    (re.compile(r"zai\.glm-5\.3"), Form(effort=_FLAT)),
    (re.compile(r"deepseek\.v3|zai\.glm"), Form(effort=_FLAT, off=(_FLAT, "none"), on="high")),
    (re.compile(r"qwen\.qwen3"), Form(effort=_CONFIG, off=(_CONFIG, "none"), on="high")),
]
"""By a pattern of model names. Models of other names have the fields of Claude, or none."""

# Claude had its effort among the fields of its own API before `outputConfig` had it. `reasoning_config` is another name
# of `thinking` (JetBrains/koog#1188, examples/ai-core of vercel/ai; seen 2026-11-27). The last two are those
# of Nova's InvokeModel, whose body is nearly that of Converse (nova2-userguide/request-response-schema.html).
OTHER_PLACES = {
    f"{OF_MODEL}.output_config.effort": EFFORT,
    **{f"{_CONFIG}.{name}": f"{THINKING}.{name}" for name in ("type", "budget_tokens", "display")},
    "inferenceConfig.max_new_tokens": "inferenceConfig.maxTokens",
    "inferenceConfig.topK": TOP_K,
}
PLACES = Hint[list[str]](API, "places", "the paths of settings that were not in their usual places")


def form_of(model: object) -> Form | None:
    """Return the places of the settings of a model; None if it has those of Claude, or none."""
    name = model.lower() if isinstance(model, str) else ""
    return next((form for pattern, form in _FORMS if pattern.search(name)), None)


def is_claude(model: object) -> bool:
    """Return whether a name is that of a Claude model."""
    return isinstance(model, str) and maker_of(model) == CLAUDE


def effort_around(form: Form, effort: str) -> tuple[str, Any]:
    """Return the place of an effort and the value there: the effort, or an object with the constants beside it."""
    path = form.effort or ""
    outer, _, name = path.rpartition(".")
    return (outer, {**form.beside, name: effort}) if form.beside else (path, effort)


# -- decoding ------------------------------------------------------------------------------------------------------


class _Reader:
    """Move the settings of a request to their usual places."""

    def __init__(self, wire: dict[str, Any]) -> None:
        self.wire = wire
        self.moved: list[tuple[str, str]] = []
        self.unread: list[tuple[str, Any]] = []
        self.places: list[str] = []

    def leave(self, path: str) -> bool:
        """Take out a setting that the model does not have in its usual place. Return whether the place is taken."""
        if is_free(self.wire, path):
            return False
        value = at(self.wire, path)
        if value is not None:
            self.unread.append((path, value))
            self.wire = without(self.wire, path)
        return True

    def move(self, path: str, usual: str, value: Any, *, inner: str | None = None) -> None:
        """Move a value from a path to its usual place. `inner`: the path that has the value, if it is inside of it."""
        self.wire = put(without(self.wire, path), usual, value)
        self.moved.append((usual, inner or path))

    def read_other_places(self, model: object) -> None:
        """Read the settings of older versions. A model in the body is that of a request of Converse."""
        has_thinking = not is_free(self.wire, THINKING)
        for path, usual in OTHER_PLACES.items():
            is_here = is_claude(model) if path.startswith(OF_MODEL) else model is None
            if has_thinking and usual.startswith(THINKING):
                continue
            value = at(self.wire, path)
            if is_here and value.__class__ in (str, int) and is_free(self.wire, usual):
                self.move(path, usual, value)
                self.places.append(path)

    def read_fields_of(self, form: Form) -> None:
        top_k = None if form.top_k is None or self.leave(TOP_K) else at(self.wire, form.top_k)
        if form.top_k is not None and isinstance(top_k, int | float) and not isinstance(top_k, bool):
            self.move(form.top_k, TOP_K, top_k)
        if form.effort is None:
            return
        has_effort, has_thinking = self.leave(EFFORT), self.leave(THINKING)
        effort = at(self.wire, form.effort)
        place, value = effort_around(form, effort)
        if isinstance(effort, str) and at(self.wire, place) == value:
            if not has_effort:
                self.move(place, EFFORT, effort, inner=form.effort)
        elif form.off is not None and at(self.wire, form.off[0]) == form.off[1] and not has_thinking:
            self.move(form.off[0], f"{THINKING}.type", "disabled", inner=f"{form.off[0]}.type")


def without_fields_of_model(
    wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], ChatRequest]
) -> ChatRequest:
    """Decode a request with the settings from the places where the model, or an older version, has them."""
    model, reader = wire.get("modelId"), _Reader(wire)
    form = form_of(model)
    reader.read_other_places(model)
    if form is not None:
        reader.read_fields_of(form)
    has_no_tool = at(wire, f"{OF_MODEL}.tool_choice") == NO_TOOL and at(wire, "toolConfig.toolChoice") is None
    has_no_tool = has_no_tool and is_claude(model)
    if has_no_tool:
        reader.wire = without(reader.wire, f"{OF_MODEL}.tool_choice")
    if reader.wire is wire:
        return decode(wire)
    context.copied(reader.wire, wire)
    for moved in reader.moved:
        context.copied(reader.wire, wire, moved)
    request = _with_rest(decode(reader.wire), reader, context)
    if not has_no_tool:
        return request
    choice = ToolChoice(mode="none")
    context.trace(None, [choice], wire[OF_MODEL], "tool_choice", spread=False)
    return context.replace(request, options=context.replace(request.options, tool_choice=choice))


def _with_rest(request: ChatRequest, reader: _Reader, context: DecodeContext) -> ChatRequest:
    """Return a request whose residue has the settings that are unread, and the paths of those that were moved."""
    extra = request.extra or {}
    residue = extra.get(API, {})
    for path, value in reader.unread:
        residue = put(residue, path, value)
    residue = {**residue, **(PLACES.entry(reader.places) if reader.places else {})}
    return context.replace(request, extra={**extra, API: residue}) if residue else request
