"""The adapter of OpenAI's Chat Completions and of compatible hosts, many of which have fields of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from contentmodel.authoring import (
    FREE_TEXT_ROW,
    Aliases,
    Blocks,
    Column,
    Columns,
    DecodeContext,
    EncodeContext,
    Fact,
    Hint,
    Host,
    Made,
    One,
    OneOf,
    Row,
    TableAdapter,
    content_step,
    enum_at,
    hints,
    is_native,
    media,
    message_pass,
    objects_of,
    passes,
    payload_pass,
    place_instructions,
    readable_reasoning,
    reasons,
    request_pass,
    same_options,
    settings,
    turn_step,
    whole_seconds,
    with_custom_calls,
    with_custom_results,
    with_fields_of,
    with_fitting_calls,
    with_normalized_texts,
    without_settings_of_tools,
    without_user_messages,
)
from contentmodel.content.base import AIContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent
from contentmodel.message import ChatMessage, contents_of
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice, ToolGroup
from contentmodel.response import ChatResponse
from contentmodel_adapters.common import google
from contentmodel_adapters.common.google import SKIP, with_signed_call
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.modalities import Modalities
from contentmodel_adapters.common.schema_adaptation import OPENAI, restored_arguments, with_fitting_schemas
from contentmodel_adapters.openai.chat.blocks import API, TABLE
from contentmodel_adapters.openai.chat.dialects import (
    SETTING_FIELDS,
    TopK,
    form_of,
    host_of,
    is_of_another_maker,
    lacks_developers,
    refuses_names,
    requires_signed_calls,
    row_of,
    with_reported_settings,
    with_role_of_host,
    with_rules_of_host,
    with_setting_fields,
    with_tools_of_host,
)
from contentmodel_adapters.openai.chat.hosts import DIALECTS, Dialect
from contentmodel_adapters.openai.chat.http import HTTP
from contentmodel_adapters.openai.chat.messages import (
    REASONING_FIELDS,
    Messages,
    encode_answer,
)
from contentmodel_adapters.openai.chat.response import (
    ERROR_AT_TOP,
    ERROR_BESIDE,
    FINISH,
    RESPONSE,
    is_error_beside,
    with_error_at_top,
)
from contentmodel_adapters.openai.chat.rules import AUTHORS, CALL_IDS, REFUSED_IN_AUTHORS, RULES, TOOL_NAMES
from contentmodel_adapters.openai.chat.sources import with_listed, with_sources
from contentmodel_adapters.openai.chat.stream import Decoder
from contentmodel_adapters.openai.chat.stream_encoder import Encoder
from contentmodel_adapters.openai.chat.thoughts import FLAG, expanded
from contentmodel_adapters.openai.chat.tools import (
    FUNCTIONS,
    RESPONSE_FORMAT,
    SEARCH,
    TOOL_CHOICE,
    TOOLS,
    old_choice,
    read_old_choice,
)
from contentmodel_adapters.openai.errors import ERRORS, LIMIT_HEADERS
from contentmodel_adapters.openai.settings import with_settings_of

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
        "service_tier": enum_at("options.service_tier", "auto", "default", "flex", "scale", "priority", "fast"),
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
FUNCTION_CALL = Hint[Literal[True]](API, "function_call", "the tool choice has its old name")
STOP = Hint[Literal[True]](API, "stop", "the stop sequence is not a list")


def read_aliases(request: ChatRequest) -> ChatRequest:
    """Read fields with old names, and a stop sequence that is not a list. Hints record the original form."""
    own = dict((request.extra or {}).get(API, {}))
    changed: dict[str, Any] = {}
    if (
        own.get("max_completion_tokens") is None
        and request.options.max_output_tokens is None
        and own.get(OLD_LIMIT).__class__ is int
    ):
        changed["max_output_tokens"] = own.pop(OLD_LIMIT)
        own |= MAX_TOKENS.entry(True)
    choice = read_old_choice(own.get(OLD_CHOICE))
    if choice is not None and _names_custom_tool(choice, request):
        # Only `tool_choice` can name a custom tool. The API refuses this one, and it stays as it is.
        choice = None
    if choice is not None and request.options.tool_choice is None and own.get("tool_choice") is None:
        changed["tool_choice"] = choice
        del own[OLD_CHOICE]
        own |= FUNCTION_CALL.entry(True)
    if own.get("stop").__class__ is str:
        changed["stop_sequences"] = [own.pop("stop")]
        own |= STOP.entry(True)
    if not changed:
        return request
    options = msgspec.structs.replace(request.options, **changed)
    return msgspec.structs.replace(request, options=options, extra={**(request.extra or {}), API: own})


def _names_custom_tool(choice: ToolChoice, request: ChatRequest) -> bool:
    return any(isinstance(tool, CustomTool) and tool.name in (choice.tools or ()) for tool in request.tools)


def with_aliases(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the old names and forms that hints of the request recorded."""
    own = (request.extra or {}).get(API)
    if not own:
        return payload
    nulls = {name: None for name in ALIASES.values() if name in own}
    if MAX_TOKENS.is_in(own) and payload.get("max_completion_tokens") is not None:
        payload[OLD_LIMIT] = payload.pop("max_completion_tokens")
    if FUNCTION_CALL.is_in(own) and old_choice(payload.get("tool_choice")) is not None:
        payload[OLD_CHOICE] = old_choice(payload.pop("tool_choice"))
    payload = {**nulls, **payload}
    if STOP.is_in(own) and len(payload.get("stop", ())) == 1:
        payload["stop"] = payload["stop"][0]
    return payload


# The media types that parts take inline (rules.py, media_types_supported). Only some models take audio.
MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/*", "text/*")
# A file has data or an id, and no URL (types/chat/chat_completion_content_part_param.py of openai 3.52).
LINKS = ("image/*",)
READS = media.MediaSupport(MEDIA_TYPES, LINKS, ("http", "https", "data"), GOOGLE_FILES, named=True)
READS_AUDIO = msgspec.structs.replace(READS, media_types=(*MEDIA_TYPES, "audio/wav", "audio/mpeg"))


def _reads(context: EncodeContext) -> media.MediaSupport:
    kinds = context.known.capabilities.media
    return READS_AUDIO if kinds is None or "audio" in kinds else READS


def with_settings_of_platform(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of the Responses API with the settings of OpenAI's platform that the host takes, too."""
    return with_settings_of(request, context, "openai-responses", row_of(context).takes)


def with_fitting_settings(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API whose settings the target's model and its host take."""
    if context.native:
        # The fields of this API say which of its hosts they are for: those that the model refuses are left out.
        return request
    return settings.with_fitting_settings(request, context, form_of(context))


def without_unread_state(content: AIContent, context: EncodeContext) -> Made:
    """Return a content without the opaque state that the model cannot read.

    That is the state of another maker, if the model is known to be of one, and of calls of other APIs, if the host does
    not read it. Reasoning of another maker is lowered like that of another API.
    """
    state, message = content.protected, context.message
    if state is None:
        return content
    if is_native(message, context):
        is_unread = is_of_another_maker(state.issuer, context)
    else:
        is_unread = content.__class__ is FunctionCallContent and state.issuer not in context.issuers
    if not is_unread:
        return content
    if isinstance(content, ReasoningContent):
        return readable_reasoning(content, context, is_last=content is message.contents[-1])
    context.report_loss(content, "protected", reasons.OPAQUE_STATE, issuer=state.issuer)
    return msgspec.structs.replace(content, protected=None)


def has_fields_of_state(context: EncodeContext) -> bool:
    """Return whether a conversation of another API goes to a host that has fields for opaque state."""
    return context.host.state_field is not None and context.host.dialect is not None and not context.native


def with_state_of_host(content: AIContent, context: EncodeContext) -> Made:
    """Return a call or a text with its signature in the field of the host.

    The signature of a text is a content before it. Without a field for it, the text keeps it.
    """
    dialect: Dialect = context.host.dialect
    state = content.protected
    if state is None or state.issuer not in context.issuers:
        return content
    if content.__class__ is FunctionCallContent and dialect.call_row is not None and google.is_signed(content):
        return hints.ROW.on(content, context.api, dialect.call_row)
    if content.__class__ is not TextContent:
        return content
    field = dialect.text_field if dialect.text_field and google.is_signed(content) else dialect.state_field
    signature = ReasoningContent(text="", protected=state, extra=hints.COLUMN.extra(context.api, field or ""))
    return [signature, msgspec.structs.replace(content, protected=None)]


def with_accepted_author(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message with a name of its author that the API accepts: without one if the host refuses all names."""
    name = message.author_name
    accepts = not refuses_names(context)
    if name is None or message.role == "tool" or (accepts and AUTHORS.accepts(name)):
        return message
    accepted = _REFUSED.sub("_", name)[: AUTHORS.longest] if accepts and name else None
    if accepted is None:
        context.report_lost_attributes(message, ("author_name",))
    else:
        context.report_loss(message, "author_name", reasons.AUTHOR_NAME)
    return msgspec.structs.replace(message, author_name=accepted)


_REFUSED = re.compile(f"[{REFUSED_IN_AUTHORS}]+")


def with_fields_of_mistral(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of Mistral with the fields that this API has, too: a prediction only if nothing excludes it."""
    options = request.options
    excludes = (request.tools, options.logprobs, options.max_output_tokens, (options.choices or 1) > 1)
    names = ("prompt_cache_key", *(() if any(excludes) else ("prediction",)))
    return with_fields_of(request, context, "mistral-chat", names)


REQUEST_PASSES = (
    request_pass(with_settings_of_platform, needs=(("extra", "openai-responses"),)),
    request_pass(with_fields_of_mistral, needs=(("extra", "mistral-chat"),)),
    request_pass(with_fitting_settings, native=True, needs=settings.NEEDS),
    request_pass(with_tools_of_host, native=True),
    request_pass(place_instructions, native=True),
    *passes.NORMALIZE,
    content_step(without_unread_state, attribute="protected", native=True, needs=(Fact.STATE,)),
    content_step(with_state_of_host, attribute="protected", needs=(Fact.STATE,), on=has_fields_of_state),
    turn_step(with_signed_call, FunctionCallContent, own="aimed", on=requires_signed_calls),
    turn_step(with_role_of_host, aimed=True, own="always", needs=("developer",), on=lacks_developers),
    turn_step(with_accepted_author, attribute="author_name", aimed=True, own="always", needs=(Fact.AUTHOR,)),
    *media.with_readable_media(_reads),
    request_pass(passes.with_a_turn),
    request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, detach_media="always"),
    request_pass(with_fitting_schemas, dialects=OPENAI),
)


VOICE = "alloy"


def with_voice(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Add a voice and a format to a request for audio. If the model has no audio output, remove audio from the request.

    The API requires both (types/chat/chat_completion_audio_param.py of openai 3.52, seen 2026-11-22).
    """
    modalities = payload.get("modalities", ())
    if "audio" not in modalities or "audio" in payload:
        return payload
    kinds = context.known.capabilities.media
    if kinds is not None and "audio" in kinds:
        context.report_loss(request, "options.modalities", reasons.VOICE)
        return {**payload, "audio": {"voice": VOICE, "format": "pcm16" if payload.get("stream") else "wav"}}
    context.report_loss(request, "options.modalities", reasons.NO_AUDIO_OUTPUT, model=payload["model"])
    rest = [modality for modality in modalities if modality != "audio"]
    without = {key: value for key, value in payload.items() if key != "modalities"}
    return {**without, "modalities": rest} if rest else without


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    if "error" in payload and not response.choices:
        context.report_lost_attributes(response, ("id", "model", "created", "usage"))
        return {"error": payload["error"]}
    filled = {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": [], **payload}
    filled["created"] = whole_seconds(response, context)
    if "usage" in filled:
        filled["usage"] = complete_usage(filled["usage"])
    return filled


def with_error_of_host(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with its error in the place that the host gave it."""
    error = response.error
    if error is None or not context.native:
        return payload
    rest = {key: value for key, value in payload.items() if key != "error"}
    if hints.ROW.of(error, API) == ERROR_AT_TOP.name:
        return {**payload["error"], **rest}
    if hints.ROW.of(error, API) == ERROR_BESIDE.name:
        return {**rest, ERROR_BESIDE.name: payload["error"]}
    if hints.COLUMN.of(error, API) == "choices" and len(payload.get("choices", ())) == 1:
        return {**rest, "choices": [{**payload["choices"][0], "error": payload["error"]}]}
    return payload


def with_listed_sources(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the sources that its host lists beside the choices."""
    return with_listed(payload, contents_of(response.messages), context) if context.native else payload


class OpenAIChat(TableAdapter):
    """The adapter of Chat Completions, requests and responses."""

    api = API
    issuer = "openai"
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    also_takes = {"stop": (str,)}
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    errors = ERRORS
    finish = FINISH
    has_errors_in_lists = True
    http = HTTP
    limit_headers = LIMIT_HEADERS
    meaningless = {"object": "chat.completion", "extra_content": ({"google": {"thought_signature": SKIP}}, FLAG)}
    reasoning_fields = REASONING_FIELDS
    dialects = tuple(DIALECTS)
    request_passes = REQUEST_PASSES
    request_payload_passes = (
        payload_pass(passes.with_model),
        payload_pass(without_settings_of_tools, aimed=True, keys=("tool_choice", "parallel_tool_calls")),
        payload_pass(with_voice, keys=("modalities",)),
        payload_pass(with_rules_of_host, aimed=True),
        payload_pass(with_aliases, native=True),
        payload_pass(with_reported_settings, native=True),
    )
    answer_passes = (
        message_pass(without_user_messages),
        content_step(with_state_of_host, attribute="protected", own="always", on=has_fields_of_state),
        message_pass(with_normalized_texts, native=True, cites=True),
    )
    token_counts = {"cached_inside": True, "reasoning_inside": True}
    response_payload_passes = (
        payload_pass(completed),
        payload_pass(with_error_of_host, native=True),
        payload_pass(with_listed_sources, native=True),
    )

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        decode = partial(super()._decode_row, row, context=context)
        value = with_error_at_top(wire, context, decode) if row is RESPONSE else decode(wire)
        if not isinstance(value, ChatRequest):
            has_fields = isinstance(value, ChatResponse) and value.extra is not None
            return with_sources(value, wire, context) if has_fields else value
        request = with_setting_fields(value if value.extra is None else read_aliases(value), wire)
        return with_custom_results(with_custom_calls(request, context, FREE_TEXT_ROW), context)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(model, policies)

    expanded = staticmethod(expanded)

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> dict[str, Any]:
        return encode_answer(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of Chat. Messages with a role may be of any API."""
        return recognise_messages({"messages": items}).get("request", 0.0) if self.have_roles(items) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload of this API that it may be, each with a confidence.

        Keys that only Chat has give a high confidence. Messages without them may be of any API. Providers with a format
        of their own also send these values of `object`.
        """
        if payload.get("object") == "chat.completion":
            return {"response": 0.95}
        if payload.get("object") == "chat.completion.chunk":
            return {"stream": 0.95}
        choices = payload.get("choices")
        if isinstance(choices, list):
            grows = any(isinstance(choice, dict) and "delta" in choice for choice in choices)
            return {"stream": 0.9} if grows else {"response": 0.9}
        error = payload.get("error")
        # The status of Google's errors is a name, that of Azure's a number.
        if isinstance(error, dict) and "type" not in payload and not isinstance(error.get("status"), str):
            return {"response": 0.5, "stream": 0.5}
        if payload.get("object") == "error" and "message" in payload:
            # Such a body may also be Mistral's.
            return {"response": 0.5, "stream": 0.5}
        # The errors of xAI are texts beside a code (nocmt/LLMSearchPlus#2, seen 2026-11-27).
        if is_error_beside(payload) or (isinstance(error, str) and isinstance(payload.get("code"), str)):
            return {"response": 0.5, "stream": 0.5}
        return recognise_messages(payload)


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters that the API always has; a missing counter is zero."""
    tokens = {"prompt_tokens": 0, "completion_tokens": 0, **usage}
    return {"total_tokens": tokens["prompt_tokens"] + tokens["completion_tokens"], **tokens}


ONLY_FIELDS = frozenset(
    (
        *("audio", "function_call", "functions", "logit_bias", "max_completion_tokens", "modalities"),
        *("reasoning_effort", "stream_options", "verbosity", "web_search_options"),
    )
)
"""Fields of requests that only Chat and formats like it have."""
FIELDS = frozenset(
    (
        *("frequency_penalty", "logprobs", "n", "parallel_tool_calls", "plugins", "presence_penalty", "provider"),
        *("reasoning", "response_format", "seed", "stop", "top_logprobs"),
    )
)
"""Fields of requests to OpenAI or another host that Anthropic Messages does not have; Cohere's API has some."""
PARTS = frozenset(("file", "image_url", "input_audio", "refusal", "video_url"))
"""The types of the parts that Anthropic Messages does not have."""


def _is_own(message: Any) -> bool:
    """Return whether a message has a role, calls, images or parts that Anthropic Messages does not have."""
    if not isinstance(message, dict):
        return False
    if message.get("role") in ("tool", "developer") or "tool_calls" in message or objects_of(message, "images"):
        return True
    return any(
        part.get("type") in PARTS for part in objects_of(message, "content") if isinstance(part.get("type"), str)
    )


def recognise_messages(payload: dict[str, Any]) -> Mapping[str, float]:
    """Return the confidence that a payload with `messages` is a Chat request."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return {}
    if not ONLY_FIELDS.isdisjoint(payload):
        return {"request": 0.94}
    tools = payload.get("tools")
    has_functions = isinstance(tools, list) and any(isinstance(tool, dict) and "function" in tool for tool in tools)
    if has_functions or not FIELDS.isdisjoint(payload) or any(map(_is_own, messages)):
        return {"request": 0.9}
    first = messages[0] if messages else None
    score = 0.7 if isinstance(first, dict) and first.get("role") == "system" else 0.5
    return {"request": score}


adapter = OpenAIChat()
