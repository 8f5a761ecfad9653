"""The steps that adapt requests and answers to the Messages API and its hosts, in their order."""

from __future__ import annotations

from itertools import chain
from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import (
    NEEDS_OF_CALLS,
    WITHOUT_BLANK_TEXTS,
    EncodeContext,
    Kinds,
    Made,
    Turns,
    content_step,
    foreign,
    hoist_instructions,
    instructions_as_text,
    media,
    object_of,
    objects_of,
    payload_step,
    reasons,
    request_step,
    response_step,
    settings,
    transcript_step,
    turn_step,
    with_fitting_calls,
    with_known_tools,
    with_whole_guests,
    without_blank_instructions,
    without_guest,
    without_user_messages,
)
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import AdvisorToolCallContent, AdvisorToolResultContent
from contentmodel.content.media import HostedFileContent
from contentmodel.content.outcomes import ToolChangeContent
from contentmodel.content.tools import FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, HostedTool
from contentmodel.response import ChatResponse
from contentmodel_adapters.anthropic import aws_errors
from contentmodel_adapters.anthropic.messages.response import AT_TOP, ERROR_IN, ERRORS
from contentmodel_adapters.anthropic.messages.rules import (
    CACHE_CONTROL,
    CALL_IDS,
    DIALECTS,
    INLINE,
    MOST_BREAKPOINTS,
    OF_HOSTED_TOOLS,
    THINKING,
    TOOL_NAMES,
    Dialect,
    cached_blocks,
    lacking_contents,
    refused_tools,
    refuses_cache_point,
)
from contentmodel_adapters.anthropic.messages.table import ADDED, API, BETAS, CURRENT, VERSION
from contentmodel_adapters.anthropic.shared import (
    WITH_CITED_DOCUMENTS,
    continues_answers,
    with_cache_writes,
    with_citation_rows,
    with_fitting_prefill,
)
from contentmodel_adapters.common.hosted import fixed_names, with_sendable_tools
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.schema_adaptation import ANTHROPIC, with_fitting_schemas

# -- media ---------------------------------------------------------------------------------------------------------

# A document by URL is a PDF (types/beta/beta_url_pdf_source_param.py of anthropic 2.11).
LINKS = ("image/*", "application/pdf")
READS = media.MediaSupport(
    tuple(chain.from_iterable(INLINE.values())), LINKS, private=GOOGLE_FILES, texts=True, in_documents=True
)


def _reads(context: EncodeContext) -> media.MediaSupport:
    dialect = context.host.dialect
    return replace(READS, schemes=()) if dialect is not None and "url" in dialect.sources else READS


def refuses_files(context: EncodeContext) -> bool:
    """Return whether the host has no Files API."""
    dialect: Dialect | None = context.host.dialect
    return dialect is not None and "file" in dialect.sources


def without_file(content: AIContent, context: EncodeContext) -> Made:
    """Return nothing for a file of the Files API, which the host does not have."""
    context.report_loss(content, None, reasons.STORED_ELSEWHERE)
    return ()


# -- tools and calls -----------------------------------------------------------------------------------------------


def with_separate_added_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without the copies of the tools that its messages add."""
    return ADDED.leave_out(request)


def lacks_tools(context: EncodeContext) -> bool:
    """Return whether the host lacks some of the hosted tools of the API."""
    dialect: Dialect | None = context.host.dialect
    return dialect is not None and bool(dialect.hosted_types)


def with_history_of_host(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message whose calls and results of hosted tools that the host lacks are those of functions.

    The policy "hosted_tools" may name another form. All other contents are unchanged.
    """
    lacking = lacking_contents(context.host.dialect)
    refused = [isinstance(c, lacking) and getattr(c, "executor", None) != "client" for c in message.contents]
    if True not in refused:
        return message
    pairs = zip(message.contents, refused, strict=True)
    contents = [without_guest(content, context) if is_refused else content for content, is_refused in pairs]
    kept_indexes = [at for at, is_refused in enumerate(refused) if not is_refused]
    plain = foreign.normalized_message(context.with_contents(message, contents), context, kept=kept_indexes)
    if plain.contents:
        return foreign.results_apart(plain, context)
    foreign.leave_empty(message, context)
    return []


def takes_guest(guest: AIContent, request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the API accepts a guest: the advisor's only if the request has this tool."""
    is_of_advisor = isinstance(guest, AdvisorToolCallContent | AdvisorToolResultContent)
    return not is_of_advisor or any(isinstance(tool, HostedTool) and tool.kind == "advisor" for tool in request.tools)


def with_fitting_names(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with paired calls, and with ids and names that the API accepts for functions."""
    reserved = fixed_names(request, CURRENT, context.known.capabilities)
    return with_fitting_calls(
        request, context, ids=CALL_IDS, names=TOOL_NAMES, detach_media="errors", reserved=reserved
    )


# -- the order of messages -----------------------------------------------------------------------------------------


def with_placed_instructions(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with later instructions only where the model accepts them. The others are a user's."""
    return instructions_as_text(messages, context, after_user=context.known.capabilities.later_system)


REQUEST_STEPS = (
    request_step(settings.with_fitting_settings, aimed=True, form=settings.ANTHROPIC),
    request_step(with_separate_added_tools, native=True, needs=(ToolChangeContent,)),
    request_step(with_known_tools, native=True, kinds=Kinds()),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(hoist_instructions),
    request_step(without_blank_instructions),
    request_step(with_whole_guests, accepts=takes_guest),
    transcript_step(with_citation_rows),
    *foreign.NORMALIZE,
    turn_step(with_history_of_host, *OF_HOSTED_TOOLS, native=True, needs=OF_HOSTED_TOOLS, on=lacks_tools),
    transcript_step(foreign.join_results),
    transcript_step(foreign.join_assistant),
    request_step(with_fitting_names, needs=NEEDS_OF_CALLS),
    WITHOUT_BLANK_TEXTS,
    content_step(
        without_file,
        HostedFileContent,
        aimed=True,
        own="always",
        needs=(HostedFileContent,),
        on=refuses_files,
        emptied=foreign.left_out,
    ),
    *media.with_readable_media(_reads, aimed=True),
    # After all steps that leave a document out, or send it as text.
    WITH_CITED_DOCUMENTS,
    request_step(foreign.with_a_turn),
    transcript_step(with_placed_instructions, aimed=True, needs=("system", "developer")),
    transcript_step(with_fitting_prefill, needs=("assistant",), on=continues_answers),
    request_step(with_fitting_schemas, dialects=ANTHROPIC),
)


# -- payloads of requests ------------------------------------------------------------------------------------------

# The API requires a limit; if a request has none, this is enough for an answer and allowed for every model. The
# policy `output_limit` replaces it.
MAX_TOKENS = 4096


def budget_of(payload: dict[str, Any]) -> int:
    """Return the thinking budget of a request, which its limit includes; 0 if it has none."""
    thinking = payload.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return budget if isinstance(budget, int) else 0


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


NO_FIELD = reasons.dropped("anthropic-host-field", "the host {host} does not accept it")
OTHER_VERSION = reasons.insignificant(
    "anthropic-host-version", "it is the version of another host: {host} gets its own, in the body or in a header"
)
CACHE_POINT_OF_BLOCK = reasons.moved(
    "anthropic-cache-point-of-block",
    "{host} has no cache point of a whole request for this model: the last block gets it",
)


def with_form_of_host(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Return a payload in the form of its host: the model may be in the path, and the version in the body."""
    dialect: Dialect | None = context.host.dialect
    if dialect is None:
        return _without_added_model(payload, context)
    body = _without_refused(payload, request, context, dialect)
    if CACHE_CONTROL in body and refuses_cache_point(dialect, body.get("model") or context.model):
        body = _with_cached_block(body, request, context, dialect)
    for name, attribute in (("model", "model"), ("stream", "options.stream")):
        if name in dialect.in_path and body.pop(name, None) not in (None, ""):
            context.report_loss(request, attribute, reasons.IN_URL)
    if not dialect.betas_in_body and body.pop(BETAS, None) is not None:
        context.report_loss(request, BETAS, reasons.IN_HEADER, api=API)
    version = body.pop(VERSION, None)
    if _is_version_of(version, dialect):
        return {VERSION: version, **body}
    if version is not None:
        context.report_loss(request, VERSION, OTHER_VERSION, api=API, host=dialect.name)
    return body if dialect.version is None else {VERSION: dialect.version, **body}


def _with_cached_block(
    payload: dict[str, Any], request: ChatRequest, context: EncodeContext, dialect: Dialect
) -> dict[str, Any]:
    """Return a payload whose last block has the cache point of the request. A block with one keeps its own."""
    body = {name: value for name, value in payload.items() if name != CACHE_CONTROL}
    is_read = request.options.cache_point is not None
    field, api = ("options.cache_point", None) if is_read else (CACHE_CONTROL, API)
    context.report_loss(request, field, CACHE_POINT_OF_BLOCK, api=api, host=dialect.name)
    messages = objects_of(body, "messages")
    content = messages[-1].get("content") if messages else None
    blocks: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
    last = blocks[-1] if isinstance(blocks, list) and blocks else None
    if isinstance(last, dict) and last.get("type") not in THINKING:
        last = {CACHE_CONTROL: payload[CACHE_CONTROL], **last}
        body["messages"] = [*body["messages"][:-1], {**messages[-1], "content": [*blocks[:-1], last]}]
    return body


def _is_version_of(version: Any, dialect: Dialect) -> bool:
    return dialect.version is not None and isinstance(version, str) and version.startswith(f"{dialect.name}-")


def _without_added_model(payload: dict[str, Any], context: EncodeContext) -> dict[str, Any]:
    """Return the body for a host with the model in the path without the model that the caller passed."""
    if not context.native or context.model is None or context.origin is None or context.origin.model is not None:
        return payload
    is_in_path = any(
        _is_version_of(payload.get(VERSION), host) and "model" in host.in_path for host in DIALECTS.values()
    )
    return {name: value for name, value in payload.items() if name != "model" or not is_in_path}


def _without_refused(
    payload: dict[str, Any], request: ChatRequest, context: EncodeContext, dialect: Dialect
) -> dict[str, Any]:
    """Return a copy of a payload without the fields and tools that its host refuses."""
    body = {name: value for name, value in payload.items() if name not in dialect.refused}
    for name in payload.keys() - body.keys():
        context.report_loss(request, name, NO_FIELD, api=API, host=dialect.name)
    refused = {id(tool) for _, tool in refused_tools(payload, dialect)}
    if not refused:
        return body
    tools = [tool for entry in request.tools for tool in getattr(entry, "tools", (entry,))]
    for tool, wire in zip(tools, payload["tools"], strict=False):
        if id(wire) in refused:
            context.report_loss(tool, None, NO_FIELD, host=dialect.name)
    body["tools"] = [wire for wire in payload["tools"] if id(wire) not in refused]
    names = {wire.get("name") for wire in objects_of(body, "tools")}
    if not names or object_of(body, "tool_choice").get("name", next(iter(names))) not in names:
        del body["tools" if not names else "tool_choice"]
        if body.pop("tool_choice", None) is not None or names:
            context.report_loss(request, "options.tool_choice", reasons.NO_TOOL_CHOICE)
    return body


PAYLOAD_STEPS = (
    payload_step(with_limit),
    payload_step(with_model),
    payload_step(with_fitting_cache_points),
)
HOST_STEPS = (payload_step(with_form_of_host, native=True),)

# -- answers -------------------------------------------------------------------------------------------------------

ANSWER_STEPS = (
    transcript_step(without_user_messages),
    transcript_step(with_citation_rows),
    transcript_step(foreign.normalize_answer),
    transcript_step(foreign.without_names_of_results, needs=(FunctionResultContent,)),
    content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
    # The next request contains this answer, and must not contain blank texts.
    WITHOUT_BLANK_TEXTS,
    transcript_step(foreign.without_broken_status, native=True, needs=foreign.CALLS),
)


RESPONSE_STEPS = (response_step(with_cache_writes),)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    if "error" in payload and "content" not in payload:
        context.report_lost_attributes(response, ("id", "model", "usage"))
        return {"type": "error", "error": payload["error"]}
    defaults = {"id": "", "type": "message", "role": "assistant", "model": "", "content": []}
    usage = {"input_tokens": 0, "output_tokens": 0, **payload.get("usage", {})}
    return {**defaults, "stop_reason": None, "stop_sequence": None, **payload, "usage": usage}


def with_error_of_host(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the body of an error in the form of its host, or in the form that it was read from."""
    dialect: Dialect | None = context.host.dialect
    at_top = AT_TOP.of(response, API) is True if dialect is None else dialect.errors_of_aws
    if payload.get("error").__class__ is not dict or "content" in payload or (dialect is None and not at_top):
        return payload
    error = dict(payload["error"])
    kind, name = ERRORS.kind_of(error), error.pop("type", None)
    types, key = (aws_errors.ERRORS, aws_errors.TYPE) if at_top else (ERRORS, "type")
    holder = ERROR_IN.of(response, API) if dialect is None else None
    key = aws_errors.HOLDERS.get(holder or "", key)
    if dialect is not None:
        context.status = types.status_of(kind)
        is_own = kind is None or (name in aws_errors.KINDS) is at_top
        name = name if is_own else types.fields_of(kind)[key]
        if types.kind_of({key: name}) != kind and response.error is not None and response.error.code is not None:
            context.report_loss(response.error, "code", reasons.NO_ERROR_TYPE)
    error = error if name is None else {key: name, **error}
    if not at_top:
        return {"type": "error", **payload, "error": aws_errors.with_usual_names(error)}
    other_fields = {field: value for field, value in payload.items() if field not in ("type", "error")}
    return {**other_fields, **error} if holder is None else {**other_fields, holder: error}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed), payload_step(with_error_of_host, native=True, keys=("error",)))
