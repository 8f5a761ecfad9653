"""The table of Chat Completions: tools, settings, requests, answers and errors (openai 3.52, types/chat; Nov. 2026).

The rows of parts are in parts.py, those of messages in messages.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    Aliases,
    Blocks,
    Choice,
    Codec,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    ErrorBody,
    ErrorTypes,
    Filled,
    FinishReasons,
    Hint,
    Implied,
    ObjectList,
    One,
    OneOf,
    ProtobufJson,
    Rest,
    Row,
    Silent,
    Spec,
    TextOrJson,
    Verbatim,
    WholeNumber,
    chat,
    custom_names,
    enum_at,
    finished_by_calls,
    hints,
    object_of,
    reasons,
    row,
    same_options,
)
from contentmodel.content.outcomes import ErrorContent
from contentmodel.message import FinishReason
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice, ToolGroup
from contentmodel.response import ChatChoice, ChatResponse
from contentmodel_adapters.common.answer import TokenLogprobs, decode_with_error
from contentmodel_adapters.common.media import Modalities
from contentmodel_adapters.common.reasoning import maker_of
from contentmodel_adapters.openai.chat.hosts import API, Dialect, is_of_another_maker, value_at
from contentmodel_adapters.openai.chat.messages import Message, Messages, encode_answer
from contentmodel_adapters.openai.chat.parts import CACHE_CONTROL, ERROR, TABLE, USAGE, CacheControlOfTool
from contentmodel_adapters.openai.table import EFFORTS, ERRORS, TIERS, read_choice, write_choice

# -- tools -------------------------------------------------------------------------------------------------------------


class GrammarObject(Codec[dict[str, Any]]):
    """The format of a custom tool. A grammar is a nested object here. In the model, its fields are next to `type`.

    openai 3.54, types/chat/chat_completion_custom_tool_param.py, against types/shared/custom_tool_input_format.py, seen
    2026-11-22.
    """

    classes = (dict,)
    identity = False

    def holds(self, value: Any) -> bool:
        if value.__class__ is not dict or value.keys() != {"type", "grammar"}:
            return bool(value == {"type": "text"})
        grammar = value["grammar"]
        return value["type"] == "grammar" and grammar.__class__ is dict and "type" not in grammar

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> Any:
        return {"type": "grammar", **value["grammar"]} if "grammar" in value else value

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        if value.get("type") == "grammar":
            return {"type": "grammar", "grammar": {name: item for name, item in value.items() if name != "type"}}
        if value != {"type": "text"}:
            context.report_loss(owner, "format", reasons.NO_TEXT_FORMAT)
            return None
        return value


TOOLS = TABLE.union(
    "tool",
    [
        row(
            "function",
            FunctionTool,
            # docs.litellm.ai/docs/completion/prompt_caching, seen 2026-11-23.
            {**chat.FUNCTION, "cache_control": ("cache_point", CacheControlOfTool(CACHE_CONTROL))},
        ),
        row(
            "custom",
            CustomTool,
            {
                "custom.name": "name",
                "custom.description": "description",
                "custom.format": ("format", GrammarObject()),
            },
        ),
        chat.free_text_function(),
        # Hosts prefix the names of tools that they run (openrouter:web_search, November 2026).
        Row(
            "openrouter:web_search",
            HostedTool,
            {"parameters": "settings"},
            Implied({"kind": "web_search"}),
            constants={"type": "openrouter:web_search"},
        ),
        Row(
            "openrouter:advisor",
            HostedTool,
            {"parameters": "settings"},
            Implied({"kind": "advisor"}),
            constants={"type": "openrouter:advisor"},
        ),
    ],
    default="function",
    other=Row("other", HostedTool, {"type": "kind"}),
    find=chat.row_of_function,
    # Chat has no hosted tools: those of another API cannot be sent.
    prefer=lambda tool, rows: "custom" if tool.__class__ is CustomTool else None,
)


# The settings of the search of a search model: here an option, elsewhere a tool (openai 3.54,
# types/chat/completion_create_params.py, `WebSearchOptions`, seen 2026-11-27).
SEARCH = TABLE.union(
    "web_search_options",
    [Row("web_search_options", HostedTool, {}, Implied({"kind": "web_search"}), Rest("settings"), Silent("name"))],
    find=lambda wire: "web_search_options",
)

# The old form of tools (types/chat/completion_create_params.py of openai 3.52, `functions`, deprecated): old clients
# still send it.
FUNCTIONS = TABLE.union(
    "function",
    [Row("function", FunctionTool, {"name": "name", "description": "description", "parameters": "parameters"})],
    find=lambda wire: "function",
)


def write_choice_of(choice: ToolChoice, tools: list[Any]) -> Any:
    """Encode a tool choice as a string or an object; None if Chat cannot express it."""
    customs = custom_names(tool for tool in tools if hints.ROW.of(tool, API) != FREE_TEXT_ROW)
    return None if choice.hosted is not None else write_choice(choice, customs, inside=True)


def read_old_choice(value: Any) -> ToolChoice | None:
    """Return the choice of `function_call`: "auto", "none" or the name of a function; None if it is anything else."""
    if value in ("auto", "none"):
        return ToolChoice(mode=value)
    if value.__class__ is dict and value.keys() == {"name"} and value["name"].__class__ is str:
        return ToolChoice(mode="required", tools=[value["name"]])
    return None


def old_choice(value: Any) -> Any:
    """Return a `tool_choice` in the form of `function_call`; None if that cannot express it."""
    if value in ("auto", "none"):
        return value
    return {"name": value["function"]["name"]} if isinstance(value, dict) and value["type"] == "function" else None


_TYPES_OF_CHOICE = ("function", "custom", "allowed_tools")
TABLE.known_values("tool_choice", "auto", "none", "required", *_TYPES_OF_CHOICE)
# Mistral's word for `required`, which some hosts take (docs.mistral.ai/capabilities/function_calling, seen 2026-11-27).
TOOL_CHOICE = Choice(
    partial(read_choice, inside=True),
    write_choice_of,
    tagged=("type", _TYPES_OF_CHOICE),
    synonyms={"any": "required"},
)

# Some hosts take the schema beside the type (README of the server of llama.cpp; "Guidance" of TGI; seen 2026-11-27).
RESPONSE_FORMAT = chat.response_formats(
    TABLE,
    "response_format",
    chat.named_schema_row(accepts=lambda wire: "json_schema" in wire or "schema" not in wire),
    chat.schema_row("json_schema", "schema", "schema"),
    chat.schema_row("json_object", "schema", "schema"),
    chat.schema_row("json", "value", "value"),
)


# -- settings of reasoning ---------------------------------------------------------------------------------------------

REASONING_FIELDS = Hint[dict[str, Any]](
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
        read_fields = REASONING_FIELDS.of(owner, API) or {}
        last = SETTINGS[fields[-1]]
        # If the setting was not edited, each of its fields keeps its value.
        if (
            last.holds(read_fields.get(last.path))
            and last.decode(read_fields[last.path], None, read_fields, "") == value
        ):
            return read_fields[self.path] if self.holds(read_fields[self.path]) else None
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
    read_fields = None if is_of_another_maker(maker_of(model), context) else REASONING_FIELDS.of(request, API)
    read_from = [path for path in _OF_ATTRIBUTE[attribute] if path in read_fields] if read_fields else []
    if read_from:
        return read_from
    dialect = context.host.dialect
    usual = _USUAL.get(attribute) if dialect is None else dialect.settings.get(attribute, _USUAL.get(attribute))
    return [] if usual is None else [usual]


def with_setting_fields(request: ChatRequest, wire: dict[str, Any]) -> ChatRequest:
    """Return a decoded request with a hint of its reasoning fields, if OpenAI does not have one of them."""
    if _KEYS_OF_HOSTS.isdisjoint(wire):
        return request
    fields = {}
    for path, setting in SETTINGS.items():
        value = value_at(wire, path)
        if setting.holds(value):
            fields[path] = value
    return REASONING_FIELDS.on(request, API, fields) if fields.keys() - set(_USUAL.values()) else request


# -- requests ----------------------------------------------------------------------------------------------------------

ALIASES = {"max_tokens": "max_completion_tokens", "function_call": "tool_choice"}
"""Old names of fields, which many hosts and clients still use."""


REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "messages": ("messages", Messages()),
        "tool_choice": ("options.tool_choice", TOOL_CHOICE),
        **same_options("parallel_tool_calls", "temperature", "top_p", "frequency_penalty", "presence_penalty", "seed"),
        **same_options("logprobs", "top_logprobs", "stream", "store", "user", "metadata", "verbosity"),
        "response_format": ("options.response_format", OneOf(RESPONSE_FORMAT)),
        "max_completion_tokens": "options.max_output_tokens",
        "stop": "options.stop_sequences",
        "top_k": ("options.top_k", TopK()),
        "n": "options.choices",
        "service_tier": enum_at("options.service_tier", *TIERS),
        "modalities": ("options.modalities", Modalities(str.lower, "text", "audio")),
        **SETTING_FIELDS,
    },
    Columns(
        "tools",
        {
            "tools": Column(Blocks(TOOLS), FunctionTool, CustomTool, HostedTool, ToolGroup),
            "functions": Column(Blocks(FUNCTIONS), FunctionTool, hinted=True),
            "web_search_options": Column(One(SEARCH), HostedTool, hinted=True),
        },
    ),
    Aliases(ALIASES),
)


TABLE.keep(
    "request",
    *("audio", "logit_bias", "moderation", "prediction", "prompt_cache_key"),
    *("prompt_cache_options", "prompt_cache_retention", "safety_identifier", "stream_options"),
)
TABLE.known_values("request.aliases", *ALIASES)
OLD_LIMIT, OLD_CHOICE = ALIASES
MAX_TOKENS = Hint[Literal[True]](API, "max_tokens", "the limit of tokens has its old name")
OLD_NAME_OF_CHOICE = Hint[Literal[True]](API, "function_call", "the tool choice has its old name")
STOP = Hint[Literal[True]](API, "stop", "the stop sequence is not a list")


def read_aliases(request: ChatRequest) -> ChatRequest:
    """Read fields with old names, and a stop sequence that is not a list. Hints record the original form."""
    residue = dict((request.extra or {}).get(API, {}))
    changed: dict[str, Any] = {}
    if (
        residue.get("max_completion_tokens") is None
        and request.options.max_output_tokens is None
        and residue.get(OLD_LIMIT).__class__ is int
    ):
        changed["max_output_tokens"] = residue.pop(OLD_LIMIT)
        residue |= MAX_TOKENS.entry(True)
    choice = read_old_choice(residue.get(OLD_CHOICE))
    if choice is not None and any(name in (choice.tools or ()) for name in custom_names(request.tools)):
        # Only `tool_choice` can name a custom tool. The API refuses this one, and it stays as it is.
        choice = None
    if choice is not None and request.options.tool_choice is None and residue.get("tool_choice") is None:
        changed["tool_choice"] = choice
        del residue[OLD_CHOICE]
        residue |= OLD_NAME_OF_CHOICE.entry(True)
    if residue.get("stop").__class__ is str:
        changed["stop_sequences"] = [residue.pop("stop")]
        residue |= STOP.entry(True)
    if not changed:
        return request
    options = msgspec.structs.replace(request.options, **changed)
    return msgspec.structs.replace(request, options=options, extra={**(request.extra or {}), API: residue})


def with_aliases(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the old names and forms that hints of the request recorded."""
    residue = (request.extra or {}).get(API)
    if not residue:
        return payload
    nulls = {name: None for name in ALIASES.values() if name in residue}
    if MAX_TOKENS.is_in(residue) and payload.get("max_completion_tokens") is not None:
        payload[OLD_LIMIT] = payload.pop("max_completion_tokens")
    if OLD_NAME_OF_CHOICE.is_in(residue) and old_choice(payload.get("tool_choice")) is not None:
        payload[OLD_CHOICE] = old_choice(payload.pop("tool_choice"))
    payload = {**nulls, **payload}
    if STOP.is_in(residue) and len(payload.get("stop", ())) == 1:
        payload["stop"] = payload["stop"][0]
    return payload


# -- answers -----------------------------------------------------------------------------------------------------------

_CALL_FILTER = "function_call_filter"
"""The start of a finish reason of Google's endpoint for OpenAI clients: the rest is Gemini's value.

Envoyproxy/ai-gateway#2118, seen 2026-11-29.
"""


class Finish(FinishReasons):
    """The finish reasons of Chat Completions and its hosts."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> FinishReason:
        if isinstance(value, str) and value.startswith(_CALL_FILTER):
            return FinishReason(reason="error", raw=value)
        return super().decode(value, context, container, key)


FINISH = Finish(
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
        "error": "error",
    },
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "refusal": "content_filter",
        "pause": "stop",
    },
    "stop",
    of_hosts={
        # Z.ai (docs.z.ai/api-reference/llm/chat-completion; anomalyco/opencode#18814, seen 2026-11-27).
        "model_context_window_exceeded": "length",
        "sensitive": "content_filter",
        "network_error": "error",
        # Together (together-py, types/chat_completions.py), DeepSeek (api-docs.deepseek.com, "Create Chat Completion"),
        # and older versions of TGI (litellm 1.110, litellm_core_utils/core_helpers.py); seen 2026-11-27.
        "eos": "stop",
        "insufficient_system_resource": "error",
        "eos_token": "stop",
        "stop_sequence": "stop",
    },
    same=("function_call", "eos", "eos_token"),
)

TABLE.known_values("finish_reason", *FINISH.reasons)
TABLE.known_values("error.code", *ERRORS.types)
TABLE.keep("response", "object", "metadata", "moderation", "service_tier", "system_fingerprint")

CHOICE = TABLE.record(
    "choice",
    ChatChoice,
    {
        "index": "index",
        "message": ("messages", Message()),
        "finish_reason": ("finish_reason", FINISH),
        "logprobs": ("logprobs", TokenLogprobs()),
    },
    Filled({"message": {"role": "assistant", "content": None, "refusal": None}}),
)


class Choices(ObjectList[ChatChoice]):
    """The list of choices."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatChoice]:
        wires = self.objects(value)
        choices = [finished_by_calls(CHOICE.decode(wire, context)) for wire in wires]
        is_one = _is_one_answer(wires) and all(choice.messages and choice.messages[0].contents for choice in choices)
        return [_joined(choices, wires, context)] if is_one else choices

    def encode(self, value: list[ChatChoice], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        wires: list[dict[str, Any]] = []
        for choice in value:
            wires += _encode_choice(choice, context)
        if context.completes:
            for index, wire in enumerate(wires):
                wire.setdefault("index", index)
                has_calls = bool(wire.get("message", {}).get("tool_calls"))
                wire.setdefault("finish_reason", "tool_calls" if has_calls else "stop")
                wire.setdefault("logprobs", None)
        return wires


PART = Hint[dict[str, Any]](API, "choice", "the other fields of a choice that continues the first one", fields=True)


def _is_one_answer(wires: list[dict[str, Any]]) -> bool:
    """Return whether choices are the parts of one answer.

    GitHub Copilot has the text and the calls of Claude in choices without `index`, which all end for calls
    (HKUDS/nanobot#1555, seen 2026-11-27).
    """
    if len(wires) < 2 or any(wire.get("finish_reason") != "tool_calls" for wire in wires):
        return False
    if any(wire.get("index") is not None for wire in wires):
        return False
    messages = [object_of(wire, "message") for wire in wires]
    has_calls = [bool(message.get("tool_calls")) for message in messages]
    return all(messages) and any(has_calls) and not all(has_calls)


def _joined(choices: list[ChatChoice], wires: list[dict[str, Any]], context: DecodeContext) -> ChatChoice:
    """Return the choice whose messages are those of all choices."""
    messages = list(choices[0].messages)
    for choice, wire in zip(choices[1:], wires[1:], strict=True):
        fields = {key: value for key, value in wire.items() if key != "message"}
        messages += [context.replaced(message, PART.on(message, API, fields)) for message in choice.messages]
    return context.replace(choices[0], messages=messages)


def _encode_choice(choice: ChatChoice, context: EncodeContext) -> list[dict[str, Any]]:
    """Return a choice, and the choices that continue it. Messages without contents have no choice of their own."""
    if len(choice.messages) < 2 or not context.native:
        return [CHOICE.encode(choice, context)]
    parts = [message for message in choice.messages[1:] if PART.of(message, API) is not None and message.contents]
    own_messages = [message for message in choice.messages if all(message is not part for part in parts)]
    wires = [{**(PART.of(part, API) or {}), "message": encode_answer([part], context)} for part in parts]
    return [CHOICE.encode(context.replace(choice, messages=own_messages), context), *wires]


class ErrorElsewhere(ErrorBody):
    """An error whose fields are not in `error`. A hint keeps its form."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ErrorContent:
        return hints.ROW.on(super().decode(value, context, container, key), API, self.row.name)


# Bodies without `error`: of vLLM before 0.10.1 (github.com/vllm-project/vllm/pull/22099), of FastAPI, with `detail`
# (fastapi.tiangolo.com/tutorial/handling-errors), and of Azure's API Management, with `statusCode` (seen 2026-11-27).
ERROR_AT_TOP = TABLE.record(
    "error at top",
    ErrorContent,
    {"message": ("message", TextOrJson()), "code": "code"},
    *(Silent("kind"), ProtobufJson(), Aliases({"detail": "message"})),
    verbatim=Verbatim("message"),
)
TABLE.keep("error at top", "type", "param", "statusCode")
_KINDS = {name: ERRORS.kind_of({"code": name}) or "server" for name in ERRORS.types}
_AT_TOP = ErrorElsewhere(ERROR_AT_TOP, ErrorTypes(("code", "type", "statusCode"), ERRORS.writes, _KINDS))
_FIELDS = ("message", "detail", "code", "type", "param", "statusCode")


# MiniMax reports errors beside the choices, with the status 200 (platform.minimax.io/docs, "Error Codes", seen
# 2026-11-27).
ERROR_BESIDE = TABLE.record("base_resp", ErrorContent, {"status_msg": "message"}, Silent("kind", "code"))
TABLE.keep("base_resp", "status_code")
_CODES = {
    1000: "server",
    1001: "timeout",
    1002: "rate_limit",
    1004: "authentication",
    1008: "billing",
    1026: "invalid_request",
    1027: "invalid_request",
    1041: "rate_limit",
    2013: "invalid_request",
    2049: "authentication",
    2056: "rate_limit",
}
_BESIDE = ErrorElsewhere(
    ERROR_BESIDE,
    ErrorTypes(("status_code",), {kind: {"status_code": code} for code, kind in reversed(_CODES.items())}, _CODES),
)
_FORMS = {ERROR_AT_TOP.name: _AT_TOP, ERROR_BESIDE.name: _BESIDE}


class Error(ErrorBody):
    """The error of an answer. One whose fields were elsewhere keeps its form."""

    def encode(self, value: ErrorContent, context: EncodeContext, owner: object) -> Any:
        form = _FORMS.get(hints.ROW.of(value, API) or "") if context.native else None
        return super().encode(value, context, owner) if form is None else form.encode(value, context, owner)


def with_error_at_top(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded answer, or the error of a body without `error`."""
    if is_error_beside(wire):
        error = _BESIDE.decode(wire["base_resp"], context, wire, "base_resp")
        context.trace(ERROR_BESIDE, [error], wire, "base_resp", spread=False)
        return msgspec.structs.replace(decode(context.without(wire, ("base_resp",))), error=error)
    if not _is_error_at_top(wire):
        return _with_error_of_choice(wire, context, decode)
    return decode_with_error(wire, context, decode, _AT_TOP, _FIELDS)


def _is_error_at_top(wire: dict[str, Any]) -> bool:
    message = wire.get("message", wire.get("detail"))
    return bool(message) and message.__class__ in (str, dict, list) and not wire.keys() & {"choices", "error"}


def error_body(name: str | None, event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the body of the error that an event without choices is; None if it is not an error.

    An event with a message may also be information of a host. The fields of an error show that it is one.
    """
    is_at_top = event.keys() <= {*_FIELDS} and _is_error_at_top(event)
    kind = event.get("type", "error")
    is_named = "code" in event or "statusCode" in event or (kind.__class__ is str and "error" in kind.lower())
    if event.get("error").__class__ in (dict, str) or (is_at_top and is_named) or is_error_beside(event):
        return event
    return {"error": event} if "error" in event or "error" in (name, event.get("object")) else None


def is_error_beside(wire: dict[str, Any]) -> bool:
    """Return whether a body or an event has an error of MiniMax. The code 0 is success."""
    code = object_of(wire, "base_resp").get("status_code")
    return code.__class__ is int and code != 0 and "error" not in wire


def _with_error_of_choice(wire: dict[str, Any], context: DecodeContext, decode: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a decoded answer. Its error may be in its only choice, at OpenRouter.

    openrouter.ai/docs/api-reference/overview (`NonStreamingChoice`), seen 2026-11-27.
    """
    choices = wire.get("choices")
    only = choices[0] if choices.__class__ is list and len(choices) == 1 else None
    if only.__class__ is not dict or only.get("error").__class__ is not dict or "error" in wire:
        return decode(wire)
    moved = {**wire, "choices": [context.without(only, ("error",))], "error": only["error"]}
    context.copied(moved, wire)
    response = decode(moved)
    error = hints.COLUMN.on(response.error, API, "choices")
    context.trace(ERROR, [error], only, "error", spread=False)
    return msgspec.structs.replace(response, error=error)


RESPONSE = TABLE.record(
    "response",
    ChatResponse,
    {
        "id": "id",
        "model": "model",
        "created": "created",
        "choices": ("choices", Choices(CHOICE)),
        "usage": ("usage", OneOf(USAGE)),
        "error": ("error", Error(ERROR, ERRORS, or_text=True)),
    },
)
