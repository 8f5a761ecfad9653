"""The passes, rules and codecs of Chat Completions that depend on the host. They read the rows of `hosts`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    OTHER_KINDS,
    Broken,
    Codec,
    EncodeContext,
    Hint,
    Host,
    Kinds,
    Rules,
    Severity,
    Spec,
    WholeNumber,
    hints,
    makers,
    needs,
    object_of,
    objects,
    objects_of,
    reasons,
    types_after_fitting,
    with_known_tools,
    without_settings_of_tools,
)
from contentmodel.authoring import settings as forms
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, CustomTool
from contentmodel_adapters.common.makers import MAKERS, maker_of
from contentmodel_adapters.openai.chat import restrictions
from contentmodel_adapters.openai.chat.hosts import DIALECTS, PLATFORM, SEEN, Dialect
from contentmodel_adapters.openai.chat.restrictions import is_named

API = "openai-chat"


def is_of_another_maker(maker: str | None, context: EncodeContext) -> bool:
    """Return whether the target's model is known to be of another maker than this one of `MAKERS`.

    False for a request of this API whose model is unchanged: all of it is sent back.
    """
    model, origin = context.target.model, context.origin
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
        serves=makers.EVERY if dialect.routes else makers.OPEN | {dialect.name},
        dialect=dialect,
        policies={} if dialect.reasoning is None else {"reasoning": dialect.reasoning},
    )


def row_of(context: EncodeContext) -> Dialect:
    """Return the row of the target's host. If it is unknown, that depends on whether the model is one of OpenAI's."""
    dialect: Dialect | None = context.host.dialect
    if dialect is not None:
        return dialect
    # A request without a model is for the API's own host.
    is_others = context.known.status == "other" and context.known.model is not None
    return DIALECTS["compatible" if is_others else "openai"]


def _fields_of(dialect: Dialect) -> frozenset[str]:
    """Return the fields of a host that OpenAI does not have."""
    fields = {dialect.reasoning, dialect.state_field, *(path.partition(".")[0] for path in dialect.settings.values())}
    if "google" in dialect.reads or "google" in dialect.makers:
        fields.add("extra_content" if dialect.call_row is None else "provider_specific_fields")
    if dialect.cache_control:
        fields.add("cache_control")
    return frozenset(field for field in fields if field is not None)


def requires_signed_calls(context: EncodeContext) -> bool:
    """Return whether the host refuses calls of the model without a signature of Google."""
    model: str | None = context.target.model
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


# -- tools -------------------------------------------------------------------------------------------------------------


@needs(*OTHER_KINDS, makes=types_after_fitting)
def with_tools_of_host(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose tools and calls the model and its host accept: custom tools may become functions.

    A request of this API keeps them, if its model and host are unchanged.
    """
    is_unchanged = context.native and not context.is_aimed
    is_of_host = _matcher(row_of(context).tools)("custom") is not None
    is_of_model = context.known.model is None or context.known.capabilities.custom_tools
    is_custom = is_unchanged or (is_of_host and is_of_model)
    for tool in request.tools if context.native and not is_custom else ():
        if not isinstance(tool, CustomTool) or hints.ROW.of(tool, API) == FREE_TEXT_ROW:
            continue
        if tool.format is not None and tool.format.get("type") == "grammar":
            context.report_loss(tool, "format$.type", reasons.GRAMMAR_AS_TEXT)
    return with_known_tools(request, context, Kinds(custom=is_custom))


def _without_refused_tools(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload without the hosted tools that the host does not have."""
    wires = objects_of(payload, "tools")
    pattern = row_of(context).tools
    refused = [wire for wire in wires if wire.get("type") != "function" and _is_refused(wire, pattern)]
    if not refused:
        return payload
    sent = [tool for entry in request.tools for tool in getattr(entry, "tools", (entry,))]
    for tool, wire in zip(sent, wires, strict=False):
        if wire in refused:
            context.report_loss(tool, None, NO_TOOL_AT_HOST, type=wire.get("type"))
    return without_settings_of_tools(
        {**payload, "tools": [wire for wire in wires if wire not in refused]}, request, context
    )


def _is_refused(tool: dict[str, Any], pattern: str) -> bool:
    kind = tool.get("type")
    return isinstance(kind, str) and _matcher(pattern)(kind) is None


@cache
def _matcher(pattern: str) -> Callable[[str], object]:
    """Return the function that matches whole words with the pattern of a row."""
    return re.compile(pattern).fullmatch


# -- requests ----------------------------------------------------------------------------------------------------------


def lacks_developers(context: EncodeContext) -> bool:
    """Return whether the host has no role developer."""
    return "developer" not in row_of(context).roles


def with_role_of_host(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a developer message as a system message, for hosts without the role developer."""
    if message.role != "developer":
        return message
    context.report_loss(message, "role", NO_DEVELOPER)
    return msgspec.structs.replace(message, role="system")


def with_rules_of_host(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the host's tools, field names and required fields."""
    row = row_of(context)
    payload = _without_refused_tools(payload, request, context)
    if row.limit != "max_completion_tokens" and "max_completion_tokens" in payload:
        payload[row.limit] = payload.pop("max_completion_tokens")
    field = required_reasoning(payload, context.host)
    for message in payload.get("messages", ()):
        if message.get("role") == "assistant" and not message.keys() & _ALTERNATIVES:
            # A message may have reasoning only, in a field of the host.
            message["content"] = ""
        if field is not None and message.get("tool_calls") and not isinstance(message.get(field), str):
            context.report_loss(request, "messages", EMPTY_REASONING, name=field)
            message[field] = ""
    return payload


_ALTERNATIVES = frozenset(("content", "tool_calls", "function_call", "refusal", "audio"))
"""The fields of an assistant message: it has one of them, or its content is empty."""
NO_DEVELOPER = reasons.degraded(
    "openai-chat-no-developer", "the host has no developer role: the message is sent as system"
)
NO_TOOL_AT_HOST = reasons.dropped("openai-chat-host-tool", "the host has no tools of the type {type}")
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
    """The host must accept the role of each message: most hosts do not accept the role developer."""
    for at, message in objects(request, "messages") if host.dialect else ():
        role = message.get("role")
        if isinstance(role, str) and role not in host.dialect.roles:
            yield f"{at}.role", f"{role:.60} at {host.dialect.name}"


def tools_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The host must have the type of each tool and call: most hosts have functions only, and no custom tools."""
    if not host.dialect:
        return
    calls = [call for at, message in objects(request, "messages") for call in objects(message, "tool_calls", at)]
    for at, typed in [*objects(request, "tools"), *calls]:
        if _is_refused(typed, host.dialect.tools):
            yield f"{at}.type", f"{typed['type']:.60} at {host.dialect.name}"


def fields_known_to_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Other hosts do not document the fields for features of OpenAI's platform, such as `store` and `metadata`."""
    dialect: Dialect | None = host.dialect
    if dialect is not None and dialect.fields is None and dialect.takes is not None:
        for path, value in restrictions.unknown(None, PLATFORM - dialect.takes, request):
            yield path, f"{value!r:.60} at {dialect.name}"


def limit_has_name_of_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """The limit of output tokens must be in the host's field: max_tokens at DeepSeek and Z.ai."""
    if host.dialect and host.dialect.limit == "max_tokens" and request.get("max_completion_tokens") is not None:
        yield "$.max_completion_tokens", f"max_completion_tokens at {host.dialect.name}"


def fields_accepted_by_host(request: dict[str, Any], host: Host) -> Iterator[Broken]:
    """Groq refuses logprobs, logit_bias, names and n > 1; xAI stop and penalties; thinking models a forced call.

    Google, Groq and Mistral refuse unknown fields. Kimi K2.5 and K2.6 refuse other values of their
    fixed sampling settings. The models of DeepSeek, Moonshot and Alibaba refuse a forced call while they think.
    """
    yield from _restricted("refused", request, host)
    dialect: Dialect | None = host.dialect
    if dialect is not None and dialect.fields is not None:
        own = _fields_of(dialect)
        for path, value in restrictions.unknown(dialect.fields | own, (), request):
            yield path, f"{value!r:.60} at {dialect.name}"


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


def _sources() -> str:
    """Return the sources of the rows of all hosts."""
    return f"{'; '.join(dialect.source for dialect in DIALECTS.values())}; seen {SEEN}"


def declare_rules(rules: Rules) -> None:
    """Add the rules of hosts to those of the API."""
    source = "developers.openai.com/api/docs/models; the sources of the hosts; seen 2026-11-29"
    # Many hosts of this API, Anthropic's own among them, serve Claude and others under their makers' names. So a name
    # alone proves no mistake.
    serves = (frozenset(DIALECTS) & makers.EVERY) | {"openai"}
    makers.declare_models(rules, source, serves=serves, severity="unchecked")
    rules.by_host(
        "refused",
        fix="send the reasoning of the answer back, or an empty text",
        source="api-docs.deepseek.com/guides/thinking_mode; anomalyco/opencode#16318, Lapis0x0/obsidian-yolo#243; "
        "seen 2026-11-23",
    )(calls_have_reasoning)
    rules.by_host("refused", fix="use system", source=_sources())(roles_known_to_host)
    rules.by_host("refused", fix="use a function with one text parameter", source=_sources())(tools_known_to_host)
    rules.by_host("ignored", fix="remove it", source=_sources())(fields_known_to_host)
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
    own = None if is_of_another_maker(maker_of(model), context) else FIELDS.of(request, API)
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
