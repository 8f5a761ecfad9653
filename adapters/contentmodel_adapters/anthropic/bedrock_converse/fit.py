"""The steps that adapt requests and answers to Converse, in their order, and the places of settings in requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import repeat
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from contentmodel.authoring import (
    WITHOUT_BLANK_TEXTS,
    DecodeContext,
    EncodeContext,
    Hint,
    Kinds,
    as_text_content,
    content_step,
    each_output,
    foreign,
    hoist_instructions,
    instructions_as_text,
    is_native,
    media,
    object_of,
    objects_of,
    payload_step,
    readable_reasoning,
    reasons,
    request_step,
    response_step,
    settings,
    transcript_step,
    turn_step,
    with_contents,
    with_fitting_calls,
    with_known_tools,
    without_blank_instructions,
    without_user_messages,
)
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice, ToolGroup
from contentmodel.response import ChatResponse
from contentmodel_adapters.anthropic.bedrock_converse.rules import (
    CALL_IDS,
    DOCUMENT_NAME,
    LONGEST_NAME,
    MOST_CACHE_POINTS,
    TOOL_NAMES,
    blocks,
    cache_points,
)
from contentmodel_adapters.anthropic.bedrock_converse.table import (
    API,
    CLAUDE,
    CURRENT,
    FORMATS,
    JOINED,
    OF_MODEL,
    is_of_prompt,
    maker_of,
)
from contentmodel_adapters.anthropic.shared import (
    WITH_CITED_DOCUMENTS,
    continues_answers,
    with_cache_writes,
    with_citation_rows,
    with_fitting_prefill,
)
from contentmodel_adapters.common.first_turn import with_begun
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.objects import at, is_free, put, without
from contentmodel_adapters.common.schema_adaptation import ANTHROPIC, with_fitting_schemas

# -- settings -------------------------------------------------------------------------------------------------------


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


ANY_TOOL = tuple(("tool", kind) for kind in (FunctionTool, CustomTool, HostedTool, ToolGroup))


def without_empty_descriptions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without empty descriptions of tools, which the service refuses."""
    tools = [_with_description(tool, context) for tool in request.tools]
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tools)


def _with_description(tool: Any, context: EncodeContext) -> Any:
    if getattr(tool, "description", None) != "":
        return tool
    context.report_loss(tool, "description", reasons.BLANK_TEXT)
    return replace(tool, description=None)


_FORCED = "Claude on Bedrock takes the setting for parallel calls only if no tool is forced"


def with_parallel_calls(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose setting for parallel calls is sent only if it forbids them and the model may choose.

    Beside a forced tool, the service refuses the field that has it (BerriAI/litellm#36536, seen 2026-11-27).
    """
    options, choice = request.options, request.options.tool_choice
    if options.parallel_tool_calls is None:
        return request
    if options.parallel_tool_calls or not request.tools or (choice is not None and choice.mode != "auto"):
        if not options.parallel_tool_calls:
            reason = reasons.PARALLEL_UNSUPPORTED if request.tools else reasons.PARALLEL_WITHOUT_TOOLS
            context.report_loss(request, "options.parallel_tool_calls", reason, why=_FORCED)
        return replace(request, options=replace(options, parallel_tool_calls=None))
    is_plain = choice is not None and not choice.tools and choice.hosted is None
    return replace(request, options=replace(options, tool_choice=None)) if is_plain else request


def with_no_tool_of_claude(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with the choice of no tool in the field of Claude's own API. Converse has no such choice."""
    choice = request.options.tool_choice
    is_none = choice is not None and choice.mode == "none" and not choice.tools and choice.hosted is None
    if not is_none or not request.tools or not is_claude(request.model if context.native else context.known.model):
        return request
    model_fields = object_of((request.extra or {}).get(API, {}), OF_MODEL)
    changed = context.with_fields(request, {OF_MODEL: {**model_fields, "tool_choice": dict(NO_TOOL)}})
    return replace(changed, options=replace(request.options, tool_choice=None))


# -- reasoning ------------------------------------------------------------------------------------------------------


def with_readable_reasoning(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without the reasoning of models of other makers (policy `reasoning`).

    Only the maker of a model can read the state of its reasoning, and Claude refuses reasoning without a signature. A
    message that has no other contents is not sent.
    """
    readable: list[ChatMessage] = []
    is_after_gap = False
    for message in messages:
        changed = _with_readable_reasoning(message, context) if is_native(message, context) else message
        if message.contents and not changed.contents:
            context.report_loss(message, None, reasons.EMPTY_MESSAGE)
            is_after_gap = True
            continue
        if is_after_gap and readable and _sender(readable[-1]) == _sender(changed):
            changed = context.replaced(changed, JOINED.on(changed, API, True))
        is_after_gap = False
        readable.append(changed)
    return readable


def _sender(message: ChatMessage) -> str:
    return "user" if message.role == "tool" else message.role


def _with_readable_reasoning(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    maker = None if message.origin is None else maker_of(message.origin.model)
    contents: list[Any] = []
    for content in message.contents:
        if isinstance(content, ReasoningContent) and _is_unread(content, maker, context):
            contents += readable_reasoning(content, context)
        else:
            contents.append(content)
    return context.with_contents(message, contents)


def _is_unread(content: ReasoningContent, maker: str | None, context: EncodeContext) -> bool:
    if content.protected is not None:
        return content.protected.issuer not in context.issuers
    return maker not in (None, CLAUDE) and CLAUDE in context.issuers


def continues_answers_of_claude(context: EncodeContext) -> bool:
    """Return whether the model is a Claude that continues an answer at the end."""
    return is_claude(context.known.model) and continues_answers(context)


# -- media and documents --------------------------------------------------------------------------------------------

# The service reads no other links than those of S3.
_LINKS = ("image/*", "application/*", "text/*", "video/*", "audio/*")
# A document may be plain text (DocumentSource of botocore 1.43, seen 2026-11-29).
READS = media.MediaSupport(links=_LINKS, schemes=("s3",), texts=True)


def _reads(context: EncodeContext) -> media.MediaSupport:
    return _support(context.known.capabilities.media, CLAUDE in context.host.issuers)


@cache
def _support(kinds: tuple[str, ...] | None, is_claude: bool) -> media.MediaSupport:
    types = tuple(
        media_type for kind in FORMATS if kinds is None or kind in kinds for media_type in FORMATS[kind].values()
    )
    return replace(READS, media_types=types, schemes=() if is_claude else READS.schemes)


NO_NAME = reasons.synthesized("bedrock-document-name", "{target} requires a name for each document: one is generated")
OTHER_NAME = reasons.degraded(
    "bedrock-document-characters", "{target} accepts few characters in the name of a document"
)
NO_TEXT = reasons.synthesized("bedrock-document-text", "{target} requires a text beside a document: one is added")
_DOCUMENTS = (DataContent, UriContent, DocumentContent)
_NAMED = frozenset({*_DOCUMENTS, FunctionResultContent})


def _is_document(content: Any) -> bool:
    if isinstance(content, DocumentContent):
        return content.uri is None or content.title is None
    return isinstance(content, DataContent | UriContent) and content.media_kind not in ("image", "video", "audio")


class _Names:
    """The names of the documents of one request. No two are equal."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        """The latest number of each name that several documents share."""

    def fitting(self, content: Any, context: EncodeContext) -> Any:
        """Return a content with a name that the service accepts, if it is a document; and so for those in a result."""
        if content.__class__ is FunctionResultContent:
            return each_output(content, self.fitting, context)
        if not _is_document(content):
            return content
        field = "title" if isinstance(content, DocumentContent) else "name"
        name = getattr(content, field)
        fitting = self._fitting(name)
        if fitting == name:
            return content
        context.report_loss(content, field, NO_NAME if name is None else OTHER_NAME)
        return replace(content, **{field: fitting})

    def _fitting(self, name: str | None) -> str:
        plain = " ".join(re.sub(r"[^\w()\[\]-]+", " ", name or "", flags=re.ASCII).split())[: LONGEST_NAME - 8].strip()
        base = name if name and DOCUMENT_NAME.fullmatch(name) and len(name) <= LONGEST_NAME else plain or "Document"
        fitting, short = base, base[: LONGEST_NAME - 8]
        while fitting in self._taken:
            self._numbers[short] = self._numbers.get(short, 1) + 1
            fitting = f"{short} {self._numbers[short]}"
        self._taken.add(fitting)
        return fitting


def with_named_documents(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose documents have names that the service accepts. No two in a request are equal."""
    names, changed = _Names(), []
    for message in messages:
        if not is_native(message, context) and not _NAMED.isdisjoint(map(type, message.contents)):
            contents = [names.fitting(content, context) for content in message.contents]
            message = with_contents(message, contents)
        changed.append(message)
    return changed


def with_text_beside_documents(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message whose documents have a text beside them, which the service requires."""
    contents = message.contents
    if not any(map(_is_document, contents)) or any(isinstance(content, TextContent) for content in contents):
        return message
    context.report_loss(contents[0], None, NO_TEXT)
    return replace(message, contents=[*contents, TextContent(text="Document")])


# -- results --------------------------------------------------------------------------------------------------------

EMPTY_RESULT = reasons.synthesized(
    "bedrock-empty-result", "{target} refuses a failed result without content: a placeholder is sent"
)
NO_CONTENT = "[the result has no content]"
"""The placeholder content of a failed result. It is not reversed."""


def with_fitting_outputs(result: Any, context: EncodeContext) -> Any:
    """Return a result of another API without JSON values but objects, and with a content if it failed."""
    if result.is_error and not result.outputs:
        context.report_loss(result, "outputs", EMPTY_RESULT)
        return replace(result, outputs=[TextContent(text=NO_CONTENT)])
    return each_output(result, _fitting_output, context)


def _fitting_output(output: Any, context: EncodeContext) -> Any:
    is_refused = output.__class__ is JsonContent and output.value.__class__ is not dict
    return as_text_content(output, context) if is_refused else output


_RESULTS = (FunctionResultContent, CustomToolResultContent)
FITTING_OUTPUTS = content_step(with_fitting_outputs, *_RESULTS, needs=_RESULTS)
REQUEST_STEPS = (
    request_step(report_stream, native=True, needs=(("option", "stream"),)),
    request_step(with_fitting_settings, aimed=True, needs=settings.NEEDS),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(hoist_instructions),
    request_step(without_blank_instructions),
    request_step(without_empty_descriptions, needs=ANY_TOOL),
    transcript_step(with_readable_reasoning, native=True, needs=(ReasoningContent,)),
    # While all documents are there, and again after the steps that add citations.
    transcript_step(with_citation_rows),
    *foreign.NORMALIZE,
    transcript_step(with_citation_rows),
    WITHOUT_BLANK_TEXTS,
    *media.with_readable_media(_reads),
    request_step(foreign.with_a_turn),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES),
    # After all steps that leave a document out, or send it as text.
    WITH_CITED_DOCUMENTS,
    transcript_step(instructions_as_text),
    transcript_step(with_fitting_prefill, needs=("assistant",), on=continues_answers_of_claude),
    FITTING_OUTPUTS,
    turn_step(with_text_beside_documents, *_DOCUMENTS, needs=_DOCUMENTS),
    transcript_step(with_named_documents, needs=_DOCUMENTS),
    transcript_step(with_begun),
    request_step(with_fitting_schemas, dialects=ANTHROPIC),
    request_step(with_parallel_calls, needs=(("option", "parallel_tool_calls"),)),
    request_step(with_no_tool_of_claude, native=True, needs=(("option", "tool_choice"),)),
)

# -- settings in other places ----------------------------------------------------------------------------------------

# Requests have settings in the fields of makers, and in those of older versions. In `additionalModelRequestFields`,
# Claude has the fields of its own API, which are the usual places here. Other models have fields for the effort of
# reasoning, for reasoning that is off, and for top_k. The service refuses a field that the model does not have.
# Sources: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html,
# docs.aws.amazon.com/nova/latest/nova2-userguide, and the requests that pydantic-ai-slim 2.68.0 sends
# (providers/bedrock.py and models/bedrock.py); seen 2026-11-27.
EFFORT, THINKING, TOP_K = "outputConfig.effort", f"{OF_MODEL}.thinking", f"{OF_MODEL}.top_k"
TOP_K_OF_NOVA = f"{OF_MODEL}.inferenceConfig.topK"
NO_TOOL = {"type": "none"}


class Form(Struct, frozen=True, kw_only=True):
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
            field = path.partition(".")[0]
            if field not in self.wire or (has_thinking and usual.startswith(THINKING)):
                continue
            value = at(self.wire, path)
            is_here = value is not None and (is_claude(model) if field == OF_MODEL else model is None)
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


def with_fields_of_model(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with the settings where the model has them, or where the request had them."""
    for path in (PLACES.of(request, API) or ()) if context.native else ():
        value = at(payload, OTHER_PLACES.get(path, ""))
        if value is not None:
            payload = put(without(payload, OTHER_PLACES[path]), path, value)
    form, options = form_of(request.model if context.native else context.known.model), request.options
    top_k = at(payload, TOP_K) if form is not None and form.top_k and options.top_k is not None else None
    if form is not None and form.top_k and top_k is not None:
        payload = put(without(payload, TOP_K), form.top_k, top_k)
    reasoning = options.reasoning
    if form is None or form.effort is None or reasoning is None:
        return payload
    effort = at(payload, EFFORT) if reasoning.effort is not None else None
    payload = payload if effort is None else without(payload, EFFORT)
    if reasoning.mode is not None:
        payload = without(payload, THINKING)
        if effort is None and reasoning.mode != "disabled":
            context.report_loss(request, "options.reasoning.mode", reasons.THINKING_CONVERTED)
            effort = form.on
    if effort is not None:
        return put(payload, *effort_around(form, effort))
    return put(payload, *form.off) if reasoning.mode == "disabled" and form.off is not None else payload


# -- payloads of requests -------------------------------------------------------------------------------------------

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
    other_fields = {key: value for key, value in payload.items() if key != "toolConfig"}
    if not called:
        if "toolChoice" in config:
            context.report_loss(request, "options.tool_choice", reasons.NO_TOOL_CHOICE)
        return other_fields
    context.report_loss(request, "tools", UNDEFINED)
    tools = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in called]
    return {**other_fields, "toolConfig": {**config, "tools": tools}}


def with_metadata(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload whose metadata are texts. Others are lost."""
    metadata = payload.get("requestMetadata")
    if metadata.__class__ is not dict:
        return payload
    texts = {key: value for key, value in metadata.items() if value.__class__ is str}
    for key in metadata.keys() - texts.keys():
        context.report_loss(request, f"options.metadata.{key}", reasons.UNSUPPORTED_VALUE, value=metadata[key])
    other_fields = {key: value for key, value in payload.items() if key != "requestMetadata"}
    return {**other_fields, "requestMetadata": texts} if texts else other_fields


def with_fitting_cache_points(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with at most as many cache points as the service accepts: the last ones."""
    excess = len([*cache_points(payload)]) - MOST_CACHE_POINTS if context.cache_points else 0
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


def with_required_messages(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload with a list of messages, which only the request for a prompt may lack."""
    return payload if "messages" in payload or is_of_prompt(payload) else {**payload, "messages": []}


PAYLOAD_STEPS = (
    payload_step(with_tool_config),
    payload_step(with_fields_of_model, native=True),
    payload_step(with_metadata, keys=("requestMetadata",)),
    payload_step(with_fitting_cache_points),
    payload_step(with_required_messages, native=True),
)

# -- answers --------------------------------------------------------------------------------------------------------

ANSWER_STEPS = (
    transcript_step(without_user_messages),
    transcript_step(foreign.normalize_answer),
    transcript_step(with_citation_rows),
    transcript_step(foreign.without_names_of_results, needs=(FunctionResultContent,)),
    content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
    FITTING_OUTPUTS,
    # The next request contains this answer, and must not contain blank texts.
    WITHOUT_BLANK_TEXTS,
    transcript_step(foreign.without_broken_status, native=True, needs=foreign.CALLS),
)
RESPONSE_STEPS = (response_step(with_cache_writes),)


COUNTED = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
"""The counters whose sum is the total."""


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the service always sends."""
    if response.error is not None and not response.choices:
        return payload
    if payload.pop("modelId", None) is not None:
        context.report_loss(response, "model", reasons.IN_URL)
    usage = {"inputTokens": 0, "outputTokens": 0, **object_of(payload, "usage")}
    usage = {"totalTokens": sum(map(usage.get, COUNTED, repeat(0))), **usage}
    output = {"message": {"role": "assistant", "content": []}}
    return {"output": output, "stopReason": "end_turn", "metrics": {"latencyMs": 0}, **payload, "usage": usage}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
