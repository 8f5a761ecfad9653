"""The adapter of Amazon Bedrock's Converse and ConverseStream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from operator import is_
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    EVENT_STREAM,
    WITHOUT_BLANK_TEXTS,
    DecodeContext,
    EncodeContext,
    Host,
    Kinds,
    OneOf,
    Row,
    Silent,
    TableAdapter,
    content_step,
    enum_at,
    hoist_instructions,
    instructions_as_text,
    is_native,
    media,
    message_pass,
    object_of,
    object_or_text,
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
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel_adapters.anthropic import cited_documents
from contentmodel_adapters.anthropic.aws_errors import ERRORS, OF_HOLDERS, holder_of, is_error
from contentmodel_adapters.anthropic.bedrock_converse.blocks import (
    API,
    CLAUDE,
    FORMATS,
    ISSUER,
    POINTS,
    SYSTEM,
    TABLE,
    maker_of,
)
from contentmodel_adapters.anthropic.bedrock_converse.cached_blocks import CachedBlocks
from contentmodel_adapters.anthropic.bedrock_converse.dialects import (
    OF_MODEL,
    is_claude,
    with_fields_of_model,
    with_no_tool_of_claude,
    with_parallel_calls,
    without_fields_of_model,
)
from contentmodel_adapters.anthropic.bedrock_converse.http import HTTP
from contentmodel_adapters.anthropic.bedrock_converse.messages import (
    Messages,
    with_fitting_results,
    with_readable_reasoning,
)
from contentmodel_adapters.anthropic.bedrock_converse.response import FINISH, RESPONSE, encode_blocks
from contentmodel_adapters.anthropic.bedrock_converse.rules import (
    CALL_IDS,
    DOCUMENT_NAME,
    LONGEST_NAME,
    MOST_CACHE_POINTS,
    RULES,
    TOOL_NAMES,
    blocks,
    cache_points,
)
from contentmodel_adapters.anthropic.bedrock_converse.stream import EVENTS, Decoder
from contentmodel_adapters.anthropic.bedrock_converse.stream_encoder import Encoder
from contentmodel_adapters.anthropic.bedrock_converse.tools import CHOICE, CURRENT, DEFINITIONS, OUTPUT_FORMAT, PARALLEL
from contentmodel_adapters.anthropic.cache_writes import counts_of, with_cache_writes_of_kin
from contentmodel_adapters.anthropic.cited_documents import with_citations_of_kin, with_cited_documents
from contentmodel_adapters.common.first_turn import with_begun
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.schema_adaptation import ANTHROPIC, restored_arguments, with_fitting_schemas

_TIERS = ("priority", "default", "flex", "reserved")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {
        # In HTTP, the model is in the path; in the parameters of the SDKs it is a field.
        "modelId": "model",
        "system": ("instructions", CachedBlocks(SYSTEM, POINTS, "cachePoint")),
        "messages": ("messages", Messages()),
        "toolConfig.tools": ("tools", DEFINITIONS),
        "toolConfig.toolChoice": ("options.tool_choice", CHOICE),
        "inferenceConfig.maxTokens": "options.max_output_tokens",
        "inferenceConfig.temperature": "options.temperature",
        "inferenceConfig.topP": "options.top_p",
        "inferenceConfig.stopSequences": "options.stop_sequences",
        f"{OF_MODEL}.tool_choice": ("options.parallel_tool_calls", PARALLEL),
        f"{OF_MODEL}.top_k": "options.top_k",
        f"{OF_MODEL}.thinking.type": enum_at(
            "options.reasoning.mode", "enabled", "disabled", "adaptive", "between_tools"
        ),
        f"{OF_MODEL}.thinking.budget_tokens": "options.reasoning.budget_tokens",
        f"{OF_MODEL}.thinking.display": enum_at("options.reasoning.summary", "summarized", "omitted", "updates"),
        "outputConfig.effort": enum_at("options.reasoning.effort", *_EFFORTS),
        "outputConfig.textFormat": ("options.response_format", OneOf(OUTPUT_FORMAT)),
        "requestMetadata": "options.metadata",
        "serviceTier.type": enum_at("options.service_tier", *_TIERS),
    },
    Silent("options.stream"),
)
TABLE.known_values("serviceTier.type", *_TIERS)
TABLE.keep(
    "request",
    *("guardrailConfig", "promptVariables", "additionalModelResponseFieldPaths"),
    "performanceConfig",
)

_TYPES = tuple(media_type for formats in FORMATS.values() for media_type in formats.values())
# The service reads no other links than those of S3.
_LINKS = ("image/*", "application/*", "text/*", "video/*", "audio/*")
# A document may be plain text (DocumentSource of botocore 1.43, seen 2026-11-29).
READS = media.MediaSupport(_TYPES, links=_LINKS, schemes=("s3",), texts=True)


def _reads(context: EncodeContext) -> media.MediaSupport:
    kinds = context.known.capabilities.media
    types = _TYPES if kinds is None else tuple(media_type for kind in kinds for media_type in FORMATS[kind].values())
    return replace(READS, media_types=types, schemes=() if CLAUDE in context.host.issuers else READS.schemes)


# -- documents -----------------------------------------------------------------------------------------------------

NO_NAME = reasons.synthesized("bedrock-document-name", "{target} requires a name for each document: one is generated")
OTHER_NAME = reasons.degraded(
    "bedrock-document-characters", "{target} accepts few characters in the name of a document"
)
NO_TEXT = reasons.synthesized("bedrock-document-text", "{target} requires a text beside a document: one is added")
_DOCUMENTS = (DataContent, UriContent, DocumentContent)


class _Names:
    """The names of the documents of one request. No two are equal."""

    def __init__(self, context: EncodeContext) -> None:
        self._context = context
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        """The latest number of each name that several documents share."""

    def named(self, content: Any) -> Any:
        """Return a content with a name that the service accepts, if it is a document; and so for those in a result."""
        if isinstance(content, FunctionResultContent):
            outputs = [self.named(output) for output in content.output_list]
            is_same = all(new is old for new, old in zip(outputs, content.output_list, strict=True))
            return content if is_same else self._context.replace(content, outputs=outputs)
        field = "title" if isinstance(content, DocumentContent) else "name"
        if not _is_document(content):
            return content
        name = getattr(content, field)
        fitting = self._fitting(name)
        if fitting == name:
            return content
        self._context.report_loss(content, field, NO_NAME if name is None else OTHER_NAME)
        return self._context.replace(content, **{field: fitting})

    def _fitting(self, name: str | None) -> str:
        plain = " ".join(re.sub(r"[^\w()\[\]-]+", " ", name or "", flags=re.ASCII).split())[: LONGEST_NAME - 8].strip()
        known = name if name and DOCUMENT_NAME.fullmatch(name) and len(name) <= LONGEST_NAME else plain or "Document"
        fitting, short = known, known[: LONGEST_NAME - 8]
        while fitting in self._taken:
            self._numbers[short] = self._numbers.get(short, 1) + 1
            fitting = f"{short} {self._numbers[short]}"
        self._taken.add(fitting)
        return fitting


def _is_document(content: Any) -> bool:
    if isinstance(content, DocumentContent):
        return content.uri is None or content.title is None
    return isinstance(content, DataContent | UriContent) and content.media_kind not in ("image", "video", "audio")


def with_documents(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose documents have names that the service accepts, and texts beside them."""
    names = _Names(context)
    result = []
    for message in messages:
        if not is_native(message, context):
            message = context.with_contents(message, [names.named(content) for content in message.contents])
            if any(map(_is_document, message.contents)) and not any(
                isinstance(c, TextContent) for c in message.contents
            ):
                context.report_loss(message.contents[0], None, NO_TEXT)
                message = context.with_contents(message, [*message.contents, TextContent(text="Document")])
        result.append(message)
    return result


# -- payloads ------------------------------------------------------------------------------------------------------

UNDEFINED = reasons.synthesized(
    "bedrock-tool-config",
    "{target} requires definitions of the tools that messages call: they are added without schemas",
)


def with_tool_config(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose toolConfig has tools: those that its messages call, if it defines none."""
    config = object_of(payload, "toolConfig")
    if objects_of(config, "tools"):
        return payload
    called = dict.fromkeys(call["name"] for _, call in blocks(payload, "toolUse") if isinstance(call.get("name"), str))
    rest = {key: value for key, value in payload.items() if key != "toolConfig"}
    if not called:
        if "toolChoice" in config:
            context.report_loss(request, "options.tool_choice", reasons.NO_TOOL_CHOICE)
        return rest
    context.report_loss(request, "tools", UNDEFINED)
    tools = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in called]
    return {**rest, "toolConfig": {**config, "tools": tools}}


def with_metadata(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose metadata are texts. Others are lost."""
    metadata = payload.get("requestMetadata")
    if metadata.__class__ is not dict:
        return payload
    kept = {key: value for key, value in metadata.items() if value.__class__ is str}
    for key in metadata.keys() - kept.keys():
        context.report_loss(request, f"options.metadata.{key}", reasons.UNSUPPORTED_VALUE, value=metadata[key])
    rest = {key: value for key, value in payload.items() if key != "requestMetadata"}
    return {**rest, "requestMetadata": kept} if kept else rest


def with_fitting_cache_points(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with at most as many cache points as the service accepts: the last ones."""
    excess = len([*cache_points(payload)]) - MOST_CACHE_POINTS
    dropped = {id(wire) for _, wire in context.cache_points[: max(excess, 0)]}
    for point, wire in context.cache_points:
        if id(wire) in dropped:
            context.report_loss(point, None, reasons.CACHE_POINT_LIMIT, limit=MOST_CACHE_POINTS)
    if not dropped:
        return payload

    def kept(items: Any) -> Any:
        return [item for item in items if not (isinstance(item, dict) and id(item.get("cachePoint")) in dropped)]

    config = object_of(payload, "toolConfig")
    changed = {**payload, "messages": [{**m, "content": kept(m["content"])} for m in payload["messages"]]}
    if "system" in payload:
        changed["system"] = kept(payload["system"])
    if "tools" in config:
        changed["toolConfig"] = {**config, "tools": kept(config["tools"])}
    return changed


_PROMPT = re.compile(r"^arn:aws(-[^:]+)?:bedrock:[^:]*:[^:]*:prompt/")


def is_of_prompt(payload: Mapping[str, Any]) -> bool:
    """Return whether a request is for a prompt of Prompt management, which may have messages of its own.

    The ARN of the prompt takes the place of the model. In HTTP it is in the path (botocore 1.43.117, ConverseRequest,
    which requires only `modelId`; seen 2026-11-27).
    """
    model = payload.get("modelId")
    return bool(_PROMPT.match(model)) if isinstance(model, str) else isinstance(payload.get("promptVariables"), dict)


def require_messages(wire: dict[str, Any], context: DecodeContext) -> None:
    """Add a fault if a request has no list of messages. The request for a prompt may have none."""
    if wire.get("messages") is None:
        if not is_of_prompt(wire):
            context.fault(wire, "messages", "missing array")
    elif wire["messages"].__class__ is not list:
        context.expected(wire, "messages", "array", wire["messages"])


def with_required_messages(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with a list of messages, which only the request for a prompt may lack."""
    return payload if "messages" in payload or is_of_prompt(payload) else {**payload, "messages": []}


COUNTED = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
"""The counters whose sum is the total."""


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the service always sends."""
    if response.error is not None and not response.choices:
        return payload
    if payload.pop("modelId", None) is not None:
        context.report_loss(response, "model", reasons.IN_URL)
    usage = {"inputTokens": 0, "outputTokens": 0, **object_of(payload, "usage")}
    usage = {"totalTokens": sum(usage.get(name, 0) for name in COUNTED), **usage}
    output = {"message": {"role": "assistant", "content": []}}
    return {"output": output, "stopReason": "end_turn", "metrics": {"latencyMs": 0}, **payload, "usage": usage}


# -- the adapter ---------------------------------------------------------------------------------------------------


def report_stream(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Report the choice of a stream, which is in the URL of a request."""
    if request.options.stream is not None:
        context.report_loss(request, "options.stream", reasons.IN_URL)
    return request


# In the models of other makers, an effort is enough, and no request asks for the reasoning.
_OF_OTHERS = replace(settings.ANTHROPIC, switched_apart=None, shown=settings.Shown("summary", None))


def with_fitting_settings(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API whose settings the target's model takes."""
    form = settings.ANTHROPIC if is_claude(context.known.model) else _OF_OTHERS
    return settings.with_fitting_settings(request, context, form)


def without_empty_texts(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without blank instructions and empty descriptions of tools, which the service refuses."""
    request = without_blank_instructions(request, context)
    tools = [_with_description(tool, context) for tool in request.tools]
    return request if all(map(is_, tools, request.tools)) else context.replace(request, tools=tools)


def _with_description(tool: Any, context: EncodeContext) -> Any:
    if getattr(tool, "description", None) != "":
        return tool
    context.report_loss(tool, "description", reasons.BLANK_TEXT)
    return context.replace(tool, description=None)


REQUEST_PASSES = (
    request_pass(report_stream, native=True),
    request_pass(with_fitting_settings, native=True),
    request_pass(with_known_tools, native=True, kinds=Kinds()),
    request_pass(with_sendable_tools, current=CURRENT),
    request_pass(hoist_instructions),
    request_pass(without_empty_texts),
    message_pass(with_readable_reasoning, native=True, needs=(ReasoningContent,)),
    # While all documents are there, and again after the passes that add citations.
    message_pass(with_citations_of_kin, needs=(Citation,)),
    *passes.NORMALIZE,
    message_pass(with_cited_documents, needs=cited_documents.TYPES),
    message_pass(passes.join_results),
    message_pass(passes.join_assistant),
    message_pass(with_citations_of_kin, needs=(Citation,)),
    WITHOUT_BLANK_TEXTS,
    *media.with_readable_media(_reads),
    request_pass(passes.with_a_turn),
    request_pass(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
    message_pass(instructions_as_text),
    message_pass(with_fitting_results),
    message_pass(with_documents, needs=_DOCUMENTS),
    message_pass(with_begun),
    request_pass(with_fitting_schemas, dialects=ANTHROPIC),
    request_pass(with_parallel_calls),
    request_pass(with_no_tool_of_claude, native=True),
)


class BedrockConverse(TableAdapter):
    """The adapter of Converse: requests, answers and streams. The issuer of signatures is the maker of the model."""

    api = API
    issuer = ISSUER
    model_field = "modelId"
    table = TABLE
    rules = RULES
    request = REQUEST
    response = RESPONSE
    decoder = Decoder
    encoder = Encoder
    restore_arguments = staticmethod(restored_arguments)
    conversation = "messages"
    takes_json = True
    errors = ERRORS
    finish = FINISH
    http = HTTP
    stream_format = EVENT_STREAM
    meaningless = {
        "type": ("tool_use", "text"),
        "toolUse": {"type": "tool_use"},
        "toolResult": {"content": []},
        "inferenceConfig": {},
        OF_MODEL: {},
        # Two of the counters have two names.
        **dict.fromkeys(("cacheReadInputTokenCount", "cacheWriteInputTokenCount")),
        **dict.fromkeys(("metrics", "p")),
        **OF_HOLDERS,
    }
    structure = frozenset({"maxReasoningEffort"})
    request_passes = REQUEST_PASSES
    request_payload_passes = (
        payload_pass(with_tool_config),
        payload_pass(with_fields_of_model, native=True),
        payload_pass(with_metadata),
        payload_pass(with_fitting_cache_points),
        payload_pass(with_required_messages, native=True),
    )
    answer_passes = (
        message_pass(without_user_messages),
        message_pass(passes.normalize_answer),
        message_pass(with_citations_of_kin, needs=(Citation,)),
        message_pass(passes.without_names_of_results, needs=(FunctionResultContent,)),
        content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
        message_pass(with_fitting_results, needs=passes.RESULTS),
        # The next request contains this answer, and must not contain blank texts.
        WITHOUT_BLANK_TEXTS,
        message_pass(passes.without_broken_status, native=True, needs=passes.CALLS),
    )
    token_counts = {"cached_inside": False, "reasoning_inside": True}
    response_passes = (response_pass(with_cache_writes_of_kin),)
    response_payload_passes = (payload_pass(completed),)

    def host(self, model: str | None, policies: Mapping[str, str] | None = None) -> Host:
        """Return the issuer of the model's state: a host of models of several makers."""
        maker = maker_of(model)
        return Host(issuers=frozenset({maker} if maker else ()))

    def origin_of(self, payload: Mapping[str, object]) -> Origin:
        origin = super().origin_of(payload)
        if origin.model is not None:
            return origin
        router = object_of(object_of(payload, "trace"), "promptRouter")
        invoked = router.get("invokedModelId")
        return Origin(api=API, issuer=ISSUER, model=invoked if isinstance(invoked, str) else None)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        if row is REQUEST:
            require_messages(wire, context)
        decode = partial(super()._decode_row, row, context=context)
        value = without_fields_of_model(wire, context, decode) if row is REQUEST else decode(wire)
        return with_custom_calls(value, context) if isinstance(value, ChatRequest) else value

    def expanded(self, payload: Any) -> Any:
        """Return a payload with media types in place of formats, flags of failed results, and counters, for audits."""
        if isinstance(payload, list):
            return [self.expanded(item) for item in payload]
        if not isinstance(payload, dict):
            return payload
        changed: dict[str, Any] = (
            {"status": True} if "toolUseId" in payload and payload.get("status") == "error" else {}
        )
        tier = object_of(payload, "serviceTier")
        if tier.keys() == {"type"}:
            # Audits count neither a `type` nor its members: the value is inside one of them.
            changed["serviceTier"] = {"type": {"tier": {"name": tier["type"]}}}
        if "cacheDetails" in payload:
            changed["cacheDetails"] = counts_of(payload["cacheDetails"]) or payload["cacheDetails"]
        if isinstance(payload.get("schema"), str):
            # The schema of an answer is a JSON text: a loss has the path of a keyword in it.
            changed["schema"] = object_or_text(payload["schema"])
        return {k: _with_media_type(k, v) or self.expanded(v) for k, v in payload.items()} | changed

    def encode_messages(self, messages: list[ChatMessage], context: EncodeContext) -> list[dict[str, Any]]:
        return encode_blocks(messages, context)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that the messages are of this API: high if their blocks have no type.

        A message has a role and blocks, and nothing else. Newer versions may have more fields or more blocks. Messages
        with other fields and other blocks are of another format.
        """
        if not self.have_roles(items) or not {"user", "assistant", "system"}.issuperset(i["role"] for i in items):
            return 0.0
        has_other_fields = any(item.keys() - {"role", "content"} for item in items)
        own, other = sum(map(_has_own_blocks, items)), any(map(_has_only_other_blocks, items))
        return 0.95 if own and not (other and has_other_fields) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the kinds of payload that it may be, each with a confidence."""
        if "contentBlockIndex" in payload or _is_event(payload):
            return {"stream": 1.0}
        if isinstance(payload.get("output"), dict) and ("stopReason" in payload or "message" in payload["output"]):
            return {"response": 1.0}
        kind = payload.get("__type")
        if (isinstance(kind, str) and kind.endswith("Exception")) or holder_of(payload) is not None:
            return {"response": 0.9}
        if is_of_prompt(payload) and "messages" not in payload:
            return {"request": 1.0}
        messages = payload.get("messages")
        if isinstance(messages, list):
            named = "modelId" in payload and all(isinstance(item, dict) and "content" in item for item in messages)
            has_untyped = any("type" not in block for block in objects_of(payload, "system"))
            if named or has_untyped or not OWN_FIELDS.isdisjoint(payload):
                return {"request": 1.0}
            if self.recognises_list(messages):
                return {"request": 0.95}
        return {"response": 0.1} if len(payload) == 1 and is_error(payload) else {}


OWN_FIELDS = frozenset(
    (
        *("additionalModelRequestFields", "guardrailConfig", "inferenceConfig", "outputConfig", "performanceConfig"),
        *("promptVariables", "requestMetadata", "toolConfig"),
    )
)
"""Fields of requests that other APIs with messages do not have."""


def _is_event(payload: dict[str, Any]) -> bool:
    """Return whether a payload is the end of a stream, or an event as the SDKs have it: its name is the only key."""
    if len(payload) == 1 and payload.keys() <= EVENTS:
        return isinstance(payload.get("metadata", {}), dict) and payload.get("metadata") != {}
    return "stopReason" in payload and payload.keys() <= {"stopReason", "additionalModelResponseFields", "p"}


def _with_media_type(key: str, medium: Any) -> dict[str, Any] | None:
    """Return an image, a document, a video or audio with its media type; None for any other value.

    The format of a document of parts stays as it is: it is residue.
    """
    is_medium = key in FORMATS and isinstance(medium, dict) and "content" not in object_of(medium, "source")
    value = medium.get("format") if is_medium else None
    media_type = FORMATS[key].get(value) if isinstance(value, str) else None
    return None if media_type is None else {**medium, "format": media_type}


def _has_own_blocks(message: Any) -> bool:
    """Return whether a message has blocks without a type, with a key of this API."""
    content = message.get("content") if isinstance(message, dict) else None
    items = content if isinstance(content, list) else []
    return any(isinstance(item, dict) and "type" not in item and item.keys() & _KEYS for item in items)


def _has_only_other_blocks(message: Any) -> bool:
    """Return whether a message has blocks, and none is of this API."""
    return bool(objects_of(message, "content")) and not _has_own_blocks(message)


_KEYS = frozenset(
    {*FORMATS, "text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint"}
)
adapter = BedrockConverse()
