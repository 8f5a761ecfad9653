"""The hosts of Chat Completions: one row for each, with its differences from OpenAI's API.

The passes and codecs below read the rows. No code depends on the name of a host.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from contentmodel.authoring import (
    Broken,
    Codec,
    EncodeContext,
    Hint,
    Host,
    Rules,
    Severity,
    Spec,
    WholeNumber,
    object_of,
    objects,
    reasons,
)
from contentmodel.authoring import settings as forms
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared import restrictions
from contentmodel_adapters.shared.makers import EVERY, MAKERS, NAMES, OPEN, declare_models, maker_of
from contentmodel_adapters.shared.restrictions import Restriction, is_named

API = "openai-chat"
SEEN = "2026-11-23"


SIGNED_CALL = "function.fields"
"""The row of calls with a signature in the field of LiteLLM."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of Chat Completions, and its differences from OpenAI's API.

    - `models`: the names of models that only this host serves, as a regular expression. A request to such a model
      needs no policy.
    - `reasoning`: the field of assistant messages for reasoning of any issuer.
    - `thinks`: the names of models that think by default, as a regular expression. While they think, the host refuses
      messages that have calls but not the field `reasoning`. None if the host requires no such field.
    - `developer`: whether the host accepts the role developer.
    - `limit`: the field of requests for the limit of output tokens.
    - `state_field`: the field of assistant messages for reasoning with the opaque state of the model's maker.
    - `call_row`, `text_field`: the row of calls with a signature of Google, and the field of assistant messages for
      that of a text, if they are not the usual row and `state_field`.
    - `reads`: the issuers whose opaque state the host reads for any model.
    - `makers`: the makers whose opaque state the host reads for their own models. Each has the name of the format of
      the state at the host; None if the host names no format.
    - `signed`: the names of models that refuse calls without a signature of Google, as a regular expression.
    - `cache_control`: whether parts may have the field `cache_control`.
    - `top_k`: whether the host takes the option `top_k`.
    - `routes`: whether the host passes requests on to other makers' APIs. Else it serves its maker's models, and those
      with open weights.
    - `settings`: the fields of requests for settings of the reasoning, by attribute of ReasoningOptions. `form` is the
      form in which they express the amount of thinking.
    - `restrictions`: the fields of requests that the host documents as refused or ignored.
    - `source`: the documentation, seen on the date `SEEN`.
    """

    name: str
    models: str | None = None
    reasoning: str | None = None
    thinks: str | None = None
    developer: bool = True
    limit: str = "max_completion_tokens"
    state_field: str | None = None
    call_row: str | None = None
    text_field: str | None = None
    reads: frozenset[str] = frozenset()
    makers: Mapping[str, str | None] = {}
    signed: str | None = None
    cache_control: bool = False
    top_k: bool = False
    routes: bool = False
    settings: Mapping[str, str] = {}
    form: forms.Form = forms.OPENAI
    restrictions: tuple[Restriction, ...] = ()
    source: str


SWITCH = forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"})
"""The form of hosts that turn thinking on and off."""
BUDGETED = forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"}, within={"mode": "enabled"})
"""The form of hosts that also take a budget."""


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(name="openai", source="developers.openai.com/api/reference/resources/chat"),
        Dialect(
            name="deepseek",
            models=NAMES["deepseek"],
            reasoning="reasoning_content",
            thinks=r"deepseek-(?!chat$).*",
            developer=False,
            limit="max_tokens",
            settings={"mode": "thinking.type"},
            form=SWITCH,
            restrictions=restrictions.DEEPSEEK,
            source="api-docs.deepseek.com/guides/thinking_mode, Tool Calls",
        ),
        Dialect(
            name="moonshot",
            models=NAMES["moonshot"],
            reasoning="reasoning_content",
            thinks=r"kimi-k(?:2-thinking|2\.\d|[3-9]).*",
            settings={"mode": "thinking.type"},
            form=SWITCH,
            restrictions=restrictions.MOONSHOT,
            source="platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model; anomalyco/opencode#10996",
        ),
        Dialect(
            name="zai",
            models=NAMES["zai"],
            reasoning="reasoning_content",
            limit="max_tokens",
            settings={"mode": "thinking.type"},
            form=SWITCH,
            source="docs.z.ai/guides/capabilities/thinking-mode",
        ),
        Dialect(
            name="alibaba",
            reasoning="reasoning_content",
            top_k=True,
            settings={"mode": "enable_thinking", "budget_tokens": "thinking_budget"},
            form=BUDGETED,
            restrictions=restrictions.ALIBABA,
            source="alibabacloud.com/help/en/model-studio/deep-thinking",
        ),
        Dialect(
            name="minimax",
            models=NAMES["minimax"],
            reasoning="reasoning_details",
            restrictions=restrictions.MINIMAX,
            source="novita.ai/docs/guides/llm-interleaved-thinking",
        ),
        Dialect(
            name="groq",
            models=r"groq/.*",
            reasoning="reasoning",
            settings={"include": "reasoning_format"},
            restrictions=restrictions.GROQ,
            source="console.groq.com/docs/reasoning",
        ),
        Dialect(
            name="xai",
            models=NAMES["xai"],
            restrictions=restrictions.XAI,
            source="docs.x.ai/docs/guides/reasoning",
        ),
        Dialect(
            name="openrouter",
            reasoning="reasoning_details",
            state_field="reasoning_details",
            makers={"anthropic": "anthropic-claude-v1"},
            routes=True,
            cache_control=True,
            top_k=True,
            settings={
                "effort": "reasoning.effort",
                "budget_tokens": "reasoning.max_tokens",
                "mode": "reasoning.enabled",
                "include": "reasoning.exclude",
            },
            form=forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"}, within={}),
            source="openrouter.ai/docs/use-cases/reasoning-tokens",
        ),
        Dialect(
            name="litellm",
            reasoning="reasoning_content",
            state_field="thinking_blocks",
            # It ignores `extra_content` (litellm 1.110, seen 2026-11-27).
            call_row=SIGNED_CALL,
            text_field="provider_specific_fields",
            makers={"anthropic": None, "google": None},
            routes=True,
            cache_control=True,
            top_k=True,
            settings={"mode": "thinking.type", "budget_tokens": "thinking.budget_tokens"},
            form=forms.Form(off={"mode": "disabled"}, auto={}, within={"mode": "enabled"}, budget_below_limit=True),
            source="docs.litellm.ai/docs/reasoning_content",
        ),
        Dialect(
            name="google",
            models=rf"(?:models/)?{NAMES['google']}",
            reads=frozenset({"google"}),
            state_field="extra_content",
            signed=r"(?:models/)?gemini-[3-9].*",
            source="ai.google.dev/gemini-api/docs/thought-signatures, OpenAI compatibility",
        ),
    )
}


def is_of_another_maker(maker: str | None, request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the model of a request is known to be of another maker than this one of `MAKERS`.

    False for a request of this API whose model is unchanged: all of it is sent back.
    """
    model, origin = request.model, context.origin
    if maker not in MAKERS or model is None or (context.native and origin is not None and origin.model == model):
        return False
    makers_model = maker_of(model)
    if makers_model is not None:
        return makers_model != maker
    dialect: Dialect | None = context.host.dialect
    serves = dialect is None or maker in dialect.makers or maker in dialect.reads
    return not serves or context.known.status in ("listed", "newest")


def dialect_for(name: str | None, model: str | None) -> Dialect | None:
    """Return the dialect with this name, or of the only host that serves a model; None if neither is known.

    Raise ValueError if there is no dialect of this name.
    """
    if name is not None:
        if name not in DIALECTS:
            raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
        return DIALECTS[name]
    if model is None:
        return None
    return next((d for d in DIALECTS.values() if d.models is not None and re.fullmatch(d.models, model)), None)


def host_of(model: str | None, policies: Mapping[str, str] | None) -> Host:
    """Return the differences of a host from OpenAI's API: the host that the policy `dialect` or the model names."""
    return _host_for((policies or {}).get("dialect"), model)


@lru_cache(maxsize=256)
def _host_for(name: str | None, model: str | None) -> Host:
    dialect = dialect_for(name, model)
    if dialect is None:
        return Host()
    maker = maker_of(model)
    form = dialect.makers.get(maker or "")
    return Host(
        issuers=dialect.reads | (dialect.makers.keys() & {maker or ""}),
        state_field=dialect.state_field,
        state_residue={} if form is None else {"format": form},
        fields=_fields_of(dialect),
        cache_points=dialect.cache_control,
        serves=EVERY if dialect.routes else OPEN | {dialect.name},
        dialect=dialect,
        policies={} if dialect.reasoning is None else {"reasoning": dialect.reasoning},
    )


def _fields_of(dialect: Dialect) -> frozenset[str]:
    """Return the fields of a host that OpenAI does not have."""
    fields = {dialect.reasoning, dialect.state_field, *(path.partition(".")[0] for path in dialect.settings.values())}
    if "google" in dialect.reads or "google" in dialect.makers:
        fields.add("extra_content" if dialect.call_row is None else "provider_specific_fields")
    if dialect.cache_control:
        fields.add("cache_control")
    return frozenset(field for field in fields if field is not None)


def requires_signed_calls(context: EncodeContext, model: str | None) -> bool:
    """Return whether the host refuses calls of the model without a signature of Google."""
    dialect: Dialect | None = context.host.dialect
    signed = None if dialect is None else dialect.signed
    return signed is not None and model is not None and re.fullmatch(signed, model) is not None


def form_of(context: EncodeContext) -> forms.Form:
    """Return the form in which the host expresses the amount of thinking."""
    dialect = context.host.dialect
    return forms.OPENAI if dialect is None else dialect.form


def required_reasoning(request: Mapping[str, Any], host: Host) -> str | None:
    """Return the reasoning field that a host requires in each message with calls; None if it requires none."""
    dialect: Dialect | None = host.dialect
    if dialect is None or dialect.thinks is None:
        return None
    return dialect.reasoning if _thinks(request, dialect) else None


def _thinks(request: Mapping[str, Any], dialect: Dialect) -> bool:
    """Return whether the model of a request thinks: what the request sets, else what the model does by default."""
    switch = _value_at(request, dialect.settings.get("mode", ""))
    if switch in ("disabled", False) or request.get("reasoning_effort") == "none":
        return False
    return switch in ("enabled", True) or (dialect.thinks is not None and is_named(request, dialect.thinks))


def _value_at(wire: Mapping[str, Any], path: str) -> Any:
    """Return the value of a field, or of a field in an object: `thinking.type`."""
    outer, _, inner = path.partition(".")
    return object_of(wire, outer).get(inner) if inner else wire.get(outer)


def with_rules_of_host(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the host's roles, field names and required fields."""
    dialect: Dialect | None = context.host.dialect
    if dialect is None:
        return payload
    if dialect.limit != "max_completion_tokens" and "max_completion_tokens" in payload:
        payload[dialect.limit] = payload.pop("max_completion_tokens")
    field = required_reasoning(payload, context.host)
    for message in payload.get("messages", ()):
        if message.get("role") == "developer" and not dialect.developer:
            context.report_loss(request, "messages", NO_DEVELOPER)
            message["role"] = "system"
        if field is not None and message.get("tool_calls") and not isinstance(message.get(field), str):
            context.report_loss(request, "messages", EMPTY_REASONING, name=field)
            message[field] = ""
    return payload


NO_DEVELOPER = reasons.degraded(
    "openai-chat-no-developer", "the host has no developer role: the message is sent as system"
)
EMPTY_REASONING = reasons.synthesized(
    "openai-chat-empty-reasoning", "the host requires {name} in a message with calls: an empty one is sent"
)


def calls_have_reasoning(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """At DeepSeek and Moonshot, a message with calls must have its reasoning while the model thinks."""
    field = required_reasoning(request, host)
    for at, message in objects(request, "messages") if field is not None else ():
        if message.get("tool_calls") and not isinstance(message.get(field or ""), str):
            yield f"{at}.{field}", f"no {field} beside the calls"


def roles_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must support the role of each message: DeepSeek has no role developer."""
    for at, message in objects(request, "messages") if host.dialect and not host.dialect.developer else ():
        if message.get("role") == "developer":
            yield f"{at}.role", f"developer at {host.dialect.name}"


def limit_has_name_of_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The limit of output tokens must be in the host's field: max_tokens at DeepSeek and Z.ai."""
    if host.dialect and host.dialect.limit == "max_tokens" and request.get("max_completion_tokens") is not None:
        yield "$.max_completion_tokens", f"max_completion_tokens at {host.dialect.name}"


def fields_accepted_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Groq refuses logprobs, logit_bias, names and n > 1; xAI stop and penalties; thinking models a forced call.

    Kimi K2.5 and K2.6 refuse other values of their fixed sampling settings. The models of DeepSeek, Moonshot and
    Alibaba refuse a forced call while they think.
    """
    return _restricted("refused", request, host)


def fields_read_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """DeepSeek ignores temperature and penalties while it thinks, MiniMax penalties, and Grok 4.20 logprobs."""
    return _restricted("ignored", request, host)


def _restricted(severity: Severity, request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Yield the fields with values that restrictions of the host exclude."""
    dialect: Dialect | None = host.dialect
    rows = () if dialect is None else dialect.restrictions
    if dialect is not None and rows:
        for path, value in restrictions.excluded(rows, severity, request, thinks=_thinks(request, dialect)):
            yield path, f"{value!r:.60} at {dialect.name}"


def refuses_names(context: EncodeContext) -> bool:
    """Return whether the host refuses the names of messages."""
    dialect: Dialect | None = context.host.dialect
    rows = () if dialect is None else dialect.restrictions
    return any(row.severity == "refused" and "messages.name" in row.fields for row in rows)


def declare_rules(rules: Rules) -> None:
    """Add the rules of hosts to those of the API."""
    source = "developers.openai.com/api/docs/models; the sources of the hosts; seen 2026-11-29"
    declare_models(rules, source, serves=(frozenset(DIALECTS) & EVERY) | {"openai"})
    rules.by_host(
        "refused",
        fix="send the reasoning of the answer back, or an empty text",
        source="api-docs.deepseek.com/guides/thinking_mode; anomalyco/opencode#16318, Lapis0x0/obsidian-yolo#243; "
        "seen 2026-11-23",
    )(calls_have_reasoning)
    rules.by_host(
        "refused", fix="use system", source="earendil-works/pi#1048, eclipse-theia/theia#15144; seen 2026-11-23"
    )(roles_known_to_host)
    rules.by_host("ignored", fix="rename it", source="the documentation of the host; seen 2026-11-23")(
        limit_has_name_of_host
    )
    rules.by_host(
        "refused", fix="remove it, or use a value that the host accepts", source=restrictions.sources("refused")
    )(fields_accepted_by_host)
    rules.by_host("ignored", fix="remove it", source=restrictions.sources("ignored"))(fields_read_by_host)


# -- reasoning settings ------------------------------------------------------------------------------------------------

FIELDS = Hint[dict[str, Any]](
    API, "reasoning_fields", "the fields of the reasoning settings, if OpenAI does not have one of them"
)


class Setting(Codec[Any]):
    """A field for a reasoning setting. `names` maps values of the wire to values of the model.

    The fields of one attribute are alternatives: `fields_to_write` chooses among them.
    """

    identity = False

    def __init__(
        self,
        path: str,
        attribute: str,
        *classes: type,
        names: Mapping[Any, Any] | None = None,
        known: Collection[str] | None = None,
    ) -> None:
        super().__init__(*classes)
        self.path, self.attribute, self._names = path, attribute, names
        self._wires = None if names is None else {value: wire for wire, value in names.items()}
        self.known_values = None if known is None else frozenset(known)

    def holds(self, value: Any) -> bool:
        return value.__class__ in self.classes and (self._names is None or value in self._names)

    def decode(self, value: Any, context: Any, container: Any, key: str) -> Any:
        return value if self._names is None else self._names[value]

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        fields = fields_to_write(self.attribute, owner, context)
        if self.path not in fields:
            return None
        own = FIELDS.of(owner, API) or {}
        last = SETTINGS[fields[-1]]
        # If the setting was not edited, each of its fields keeps its value.
        if last.holds(own.get(last.path)) and last.decode(own[last.path], None, own, "") == value:
            return own[self.path] if self.holds(own[self.path]) else None
        wire = value if self._wires is None else self._wires.get(value)
        is_known = self.known_values is None or context.native or wire in self.known_values
        if wire is None or not is_known:
            context.report_loss(owner, f"options.reasoning.{self.attribute}", reasons.UNSUPPORTED_VALUE, value=value)
            return None
        return wire


class TopK(Codec[int | float | None]):
    """The option `top_k`, which only hosts take. A number below 1 means no limit at some of them, and is residue."""

    classes = (int, float)
    identity = False
    _number = WholeNumber("options.top_k")

    def holds(self, value: Any) -> bool:
        return value.__class__ in self.classes and value >= 1

    def encode(self, value: int | float | None, context: EncodeContext, owner: Any) -> int | float | None:
        dialect: Dialect | None = context.host.dialect
        is_taken = context.native or (dialect is not None and dialect.top_k)
        if value is not None and is_taken:
            return self._number.encode(value, context, owner)
        context.report_lost_attributes(owner, ("options.top_k",))
        return None


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_MODES = {name: name for name in ("enabled", "disabled", "adaptive")}
_SWITCH = {True: "enabled", False: "disabled"}
SETTINGS: dict[str, Setting] = {
    setting.path: setting
    for setting in (
        Setting("reasoning_effort", "effort", str, known=EFFORTS),
        Setting("reasoning.effort", "effort", str, known=EFFORTS),
        Setting("reasoning.max_tokens", "budget_tokens", int),
        Setting("reasoning.enabled", "mode", bool, names=_SWITCH),
        Setting("reasoning.exclude", "include", bool, names={True: False, False: True}),
        Setting("thinking.type", "mode", str, names=_MODES),
        Setting("thinking.budget_tokens", "budget_tokens", int),
        Setting("enable_thinking", "mode", bool, names=_SWITCH),
        # The argument of the templates of Qwen's models at vLLM and SGLang (qwen.readthedocs.io, "vLLM", seen
        # 2026-11-27).
        Setting("chat_template_kwargs.enable_thinking", "mode", bool, names=_SWITCH),
        Setting("thinking_budget", "budget_tokens", int),
        Setting("include_reasoning", "include", bool),
        Setting("reasoning_format", "include", str, names={"parsed": True, "hidden": False}),
    )
}
"""The fields of requests for reasoning settings. The first is OpenAI's; the others are those of `DIALECTS`."""
ATTRIBUTES = tuple(dict.fromkeys(setting.attribute for setting in SETTINGS.values()))
_OF_ATTRIBUTE = {
    attribute: [path for path, setting in SETTINGS.items() if setting.attribute == attribute]
    for attribute in ATTRIBUTES
}
_USUAL = {"effort": "reasoning_effort"}
"""The fields of OpenAI, by attribute."""
_KEYS_OF_HOSTS = frozenset(path.partition(".")[0] for path in SETTINGS) - set(_USUAL.values())

SETTING_FIELDS: dict[str, Spec] = {
    path: (f"options.reasoning.{setting.attribute}", setting) for path, setting in SETTINGS.items()
}
"""The fields of the settings in the table of requests."""


def fields_to_write(attribute: str, request: ChatRequest, context: EncodeContext) -> list[str]:
    """Return the fields for a setting: those it was read from; else the host's field; else OpenAI's.

    If the model of the target is of another maker, the fields it was read from are those of another host.
    """
    model = None if context.origin is None else context.origin.model
    own = None if is_of_another_maker(maker_of(model), request, context) else FIELDS.of(request, API)
    read_from = [path for path in _OF_ATTRIBUTE[attribute] if path in own] if own else []
    if read_from:
        return read_from
    dialect = context.host.dialect
    usual = _USUAL.get(attribute) if dialect is None else dialect.settings.get(attribute, _USUAL.get(attribute))
    return [] if usual is None else [usual]


def with_setting_fields(request: ChatRequest, wire: dict[str, Any]) -> ChatRequest:
    """Return a decoded request with a hint of its reasoning fields, if OpenAI does not have one of them."""
    if _KEYS_OF_HOSTS.isdisjoint(wire):
        return request
    found = {}
    for path, setting in SETTINGS.items():
        value = _value_at(wire, path)
        if setting.holds(value):
            found[path] = value
    return FIELDS.on(request, API, found) if found.keys() - set(_USUAL.values()) else request


def with_reported_settings(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Report the reasoning settings for which the host has no field. Return the payload unchanged."""
    for attribute in ATTRIBUTES if request.options.reasoning is not None else ():
        if not fields_to_write(attribute, request, context):
            context.report_lost_attributes(request, (f"options.reasoning.{attribute}",))
    return payload
