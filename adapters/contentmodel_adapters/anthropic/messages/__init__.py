"""The adapter of Anthropic's Messages API, stable and beta types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    WITHOUT_BLANK_TEXTS,
    Blocks,
    CachePoints,
    DecodeContext,
    EncodeContext,
    Host,
    Kinds,
    OneOf,
    Row,
    TableAdapter,
    TextOrBlocks,
    content_step,
    enum_at,
    hoist_instructions,
    instructions_as_text,
    media,
    message_pass,
    objects_of,
    passes,
    payload_pass,
    reasons,
    request_pass,
    response_pass,
    settings,
    with_custom_calls,
    with_fitting_calls,
    with_known_tools,
    without_blank_instructions,
    without_user_messages,
)
from contentmodel.capabilities import Known
from contentmodel.content.citations import Citation
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.anthropic import cited_documents
from contentmodel_adapters.anthropic.aws_errors import OF_HOLDERS
from contentmodel_adapters.anthropic.cache_writes import with_cache_writes_of_kin
from contentmodel_adapters.anthropic.cited_documents import with_citations_of_kin, with_cited_documents
from contentmodel_adapters.anthropic.messages.blocks import API, CACHE_POINT, SYSTEM, TABLE
from contentmodel_adapters.anthropic.messages.dialects import (
    BETAS,
    DIALECTS,
    VERSION,
    host_of,
    limited,
    with_form_of_host,
    with_history_of_host,
    without_files_of_host,
)
from contentmodel_adapters.anthropic.messages.http import HOSTS, HTTP
from contentmodel_adapters.anthropic.messages.messages import Messages
from contentmodel_adapters.anthropic.messages.response import (
    ERRORS,
    FINISH,
    LIMIT_HEADERS,
    RESPONSE,
    encode_blocks,
    with_error,
    with_error_of_host,
)
from contentmodel_adapters.anthropic.messages.rules import CALL_IDS, MOST_BREAKPOINTS, RULES, TOOL_NAMES, cached_blocks
from contentmodel_adapters.anthropic.messages.stream import Decoder
from contentmodel_adapters.anthropic.messages.stream_encoder import METRICS, Encoder
from contentmodel_adapters.anthropic.messages.tools import ADDED, CURRENT, OUTPUT_FORMAT, TOOLS, ChoiceAndParallel
from contentmodel_adapters.common.hosted import fixed_names, with_sendable_tools
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.pairs.claude_results import with_hosted_of_claude
from contentmodel_adapters.common.pairs.kept_results import TYPES
from contentmodel_adapters.common.schema_adaptation import ANTHROPIC, restored_arguments, with_fitting_schemas

# The API requires a limit; if a request has none, this is enough for an answer and allowed for every model. The
# policy `output_limit` replaces it.
MAX_TOKENS = 4096

REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        "model": "model",
        "system": ("instructions", TextOrBlocks(SYSTEM, "string")),
        "messages": ("messages", Messages()),
        "tools": ("tools", Blocks(TOOLS)),
        "tool_choice": (("options.tool_choice", "options.parallel_tool_calls"), ChoiceAndParallel()),
        "max_tokens": "options.max_output_tokens",
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_k": "options.top_k",
        "stop_sequences": "options.stop_sequences",
        "stream": "options.stream",
        "service_tier": enum_at("options.service_tier", "auto", "standard_only"),
        "metadata.user_id": "options.user",
        "cache_control": ("options.cache_point", CachePoints(CACHE_POINT)),
        "thinking.type": enum_at("options.reasoning.mode", "enabled", "disabled", "adaptive", "between_tools"),
        "thinking.budget_tokens": "options.reasoning.budget_tokens",
        "thinking.display": enum_at("options.reasoning.summary", "summarized", "omitted", "updates"),
        "output_config.effort": enum_at("options.reasoning.effort", "low", "medium", "high", "xhigh", "max"),
        "output_config.format": ("options.response_format", OneOf(OUTPUT_FORMAT)),
    },
)


TABLE.known_values("thinking", "enabled", "disabled", "adaptive", "between_tools")
TABLE.keep(
    "request",
    *("billing_policy", "compaction", "container", "context_management", "diagnostics", "fallbacks"),
    *("fallback_credit_token", "inference_geo", "mcp_servers", "speed", "thread"),
    *(VERSION, BETAS),
)


# The media types that image and document blocks take inline (rules.py, media_types_supported).
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# A document by URL is a PDF (types/beta/beta_url_pdf_source_param.py of anthropic 2.11).
LINKS = ("image/*", "application/pdf")
READS = media.MediaSupport(
    (*IMAGES, "application/pdf", "text/plain"), LINKS, private=GOOGLE_FILES, texts=True, in_documents=True
)


def _reads(context: EncodeContext) -> media.MediaSupport:
    dialect = context.host.dialect
    return replace(READS, schemes=()) if dialect is not None and "url" in dialect.sources else READS


def _with_separate_added_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    return ADDED.leave_out(request)


def _with_fitting_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    reserved = fixed_names(request, CURRENT, context.known.capabilities)
    return with_fitting_calls(
        request, context, ids=CALL_IDS, names=TOOL_NAMES, detach_media="errors", reserved=reserved
    )


def _with_instructions_as_text(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    return instructions_as_text(messages, context, after_user=context.known.capabilities.later_system)


PREFILL_END = reasons.degraded(
    "anthropic-messages-prefill-end", "{target} refuses white space at the end of an answer to continue: it is removed"
)


def _with_trimmed_prefill(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose last one does not end with white space if the model continues it.

    Models that cannot continue an answer refuse it anyway, so it stays as it is.
    """
    is_prefill = bool(messages) and messages[-1].role == "assistant" and context.known.capabilities.prefill
    last = messages[-1] if is_prefill else None
    text = last.contents[-1] if last is not None and last.contents else None
    if last is None or not isinstance(text, TextContent) or text.text == text.text.rstrip():
        return messages
    context.report_loss(text, "text", PREFILL_END)
    trimmed = context.replace(text, text=text.text.rstrip())
    return [*messages[:-1], context.with_contents(last, [*last.contents[:-1], trimmed])]


REQUEST_PASSES = (
    request_pass(settings.with_fitting_settings, native=True, form=settings.ANTHROPIC),
    request_pass(_with_separate_added_tools, native=True),
    request_pass(with_known_tools, native=True, kinds=Kinds()),
    request_pass(with_sendable_tools, current=CURRENT),
    request_pass(hoist_instructions),
    request_pass(without_blank_instructions),
    request_pass(with_hosted_of_claude, needs=TYPES),
    message_pass(with_citations_of_kin, needs=(Citation,)),
    *passes.NORMALIZE,
    message_pass(with_history_of_host, native=True),
    message_pass(with_cited_documents, needs=cited_documents.TYPES),
    message_pass(passes.join_results),
    message_pass(passes.join_assistant),
    WITHOUT_BLANK_TEXTS,
    message_pass(without_files_of_host, aimed=True, needs=media.TYPES),
    *media.with_readable_media(_reads, aimed=True),
    request_pass(passes.with_a_turn),
    request_pass(_with_fitting_calls),
    message_pass(_with_instructions_as_text, aimed=True),
    message_pass(_with_trimmed_prefill),
    request_pass(with_fitting_schemas, dialects=ANTHROPIC),
)


def with_limit(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the limit that the API requires. A missing or negative limit is replaced and reported."""
    limit = payload.get("max_tokens")
    if limit is None:
        context.report_loss(request, "options.max_output_tokens", reasons.OUTPUT_LIMIT)
    elif limit < 0:
        context.report_loss(request, "options.max_output_tokens", reasons.REFUSED_SETTING, rule=f"{limit} is negative")
    if limit is None or limit < 0:
        policy = context.policies.get("output_limit")
        payload["max_tokens"] = (MAX_TOKENS if policy is None else int(policy)) + budget_of(payload)
    return payload


def with_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the required fields. A missing model becomes "" and is reported."""
    is_in_path = context.host.dialect is not None and "model" in context.host.dialect.in_path
    if "model" not in payload and not is_in_path:
        context.report_loss(request, "model", reasons.NO_MODEL)
    return {"model": "", "messages": [], **payload}


def with_fitting_cache_points(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return the payload with at most as many cache points as the API accepts. Their lifetimes do not increase.

    The last ones are kept, because they end the longest prompts.
    """
    if not context.cache_points:
        return payload
    owners = {id(wire): point for point, wire in context.cache_points}
    blocks = [block for _, block in cached_blocks(payload)]
    excess = len(blocks) + ("cache_control" in payload) - MOST_BREAKPOINTS
    shorter = False
    for block in blocks:
        # The blocks of these cache points were just made, so they are changed in place.
        wire = block["cache_control"]
        owner = owners.get(id(wire))
        if owner is not None and excess > 0:
            context.report_loss(owner, None, reasons.CACHE_POINT_LIMIT, limit=MOST_BREAKPOINTS)
            del block["cache_control"]
            excess -= 1
            continue
        if owner is not None and shorter and wire.get("ttl") == "1h":
            context.report_loss(owner, "ttl", reasons.CACHE_LIFETIME)
            del wire["ttl"]
        shorter = shorter or wire.get("ttl", "5m") == "5m"
    return payload


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    if "error" in payload and "content" not in payload:
        context.report_lost_attributes(response, ("id", "model", "usage"))
        return {"type": "error", "error": payload["error"]}
    defaults = {"id": "", "type": "message", "role": "assistant", "model": "", "content": []}
    usage = {"input_tokens": 0, "output_tokens": 0, **payload.get("usage", {})}
    return {**defaults, "stop_reason": None, "stop_sequence": None, **payload, "usage": usage}


class AnthropicMessages(TableAdapter):
    """The adapter of the Messages API: messages, requests and answers."""

    api = API
    issuer = "anthropic"
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    errors = ERRORS
    finish = FINISH
    http = HTTP
    hosts = HOSTS
    dialects = tuple(DIALECTS)
    limit_headers = LIMIT_HEADERS
    meaningless = {"type": ("message", "error"), "anthropic_version": None, METRICS: None, **OF_HOLDERS}
    request_passes = REQUEST_PASSES
    request_payload_passes = (
        payload_pass(with_limit),
        payload_pass(with_model),
        payload_pass(with_fitting_cache_points),
    )
    host_payload_passes = (payload_pass(with_form_of_host, native=True),)
    answer_passes = (
        message_pass(without_user_messages),
        message_pass(with_citations_of_kin, needs=(Citation,)),
        message_pass(passes.normalize_answer),
        message_pass(passes.without_names_of_results, needs=(FunctionResultContent,)),
        content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
        # The next request contains this answer, and must not contain blank texts.
        WITHOUT_BLANK_TEXTS,
        message_pass(passes.without_broken_status, native=True, needs=passes.CALLS),
    )
    token_counts = {"cached_inside": False, "reasoning_inside": True}
    response_passes = (response_pass(with_cache_writes_of_kin),)
    response_payload_passes = (payload_pass(completed), payload_pass(with_error_of_host, native=True))

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        if row is self.response:
            return with_error(wire, context, partial(row.decode, context=context))
        value = super()._decode_row(row, wire, context)
        if not isinstance(value, ChatRequest):
            return value
        return with_custom_calls(ADDED.read(value, context), context)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        return host_of(policies)

    def look_up_model(self, model: str | None, policies: Mapping[str, str] | None = None) -> Known:
        known = super().look_up_model(model, policies)
        return replace(known, capabilities=limited(known.capabilities, policies, model))

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_blocks(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the messages are of this API: high only for typed blocks."""
        return 0.95 if any(map(_has_typed_blocks, items)) else 0.3 if self.have_roles(items) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence.

        Answers have a type. Requests have a system prompt beside the messages, or typed blocks. Fields that other APIs
        have, too, such as the limit, are evidence only for a model of Anthropic.
        """
        if payload.get("type") in ("message_start", "content_block_start", "content_block_delta", "message_delta"):
            return {"stream": 1.0}
        if payload.get("type") == "message" and "content" in payload:
            return {"response": 1.0}
        if payload.get("type") == "error" and isinstance(payload.get("error"), dict):
            return {"response": 0.8, "stream": 0.8}
        messages = payload.get("messages")
        if not isinstance(messages, list):
            return {}
        tools = objects_of(payload, "tools")
        if any("function" in tool for tool in tools):
            # Hosts of Chat take blocks of Claude, but no tool of this API has its definition in an object.
            return {}
        own = not OWN_FIELDS.isdisjoint(payload) or budget_of(payload) > 0
        own = own or any("input_schema" in tool for tool in tools)
        if own or any(map(_has_typed_blocks, messages)):
            return {"request": 0.95}
        model = payload.get("model")
        is_claude = not isinstance(model, str) or ("claude" in model and "/" not in model)
        if not SHARED_FIELDS.isdisjoint(payload):
            return {"request": 0.95 if is_claude else 0.4}
        return {"request": 0.6 if is_claude else 0.4} if "max_tokens" in payload else {}


OWN_FIELDS = frozenset(("system", "anthropic_version"))
"""Fields of requests that only this API has."""
SHARED_FIELDS = frozenset(("thinking", "stop_sequences", "top_k"))
"""Fields that Cohere's API or hosts of Chat have, too. They are evidence for a model of Anthropic."""


def budget_of(payload: dict[str, Any]) -> int:
    """Return the thinking budget of a request, which its limit includes; 0 if it has none."""
    thinking = payload.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return budget if isinstance(budget, int) else 0


BLOCK_TYPES = (
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "server_tool_use",
)
NEEDED = {"document": "source", "image": "source", "thinking": "signature"}
"""The field by which the blocks of this API differ from those of others with the same type."""


def _has_typed_blocks(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return False
    return any(isinstance(block, dict) and _is_typed(block) for block in content)


def _is_typed(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and (kind in BLOCK_TYPES or NEEDED.get(kind) in block)


adapter = AnthropicMessages()
