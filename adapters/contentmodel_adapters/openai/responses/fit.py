"""The steps that adapt requests and answers of other APIs to the Responses API, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import compress, groupby, pairwise
from typing import Any

import msgspec

from contentmodel.authoring import (
    DecodeContext,
    EncodeContext,
    Kinds,
    Made,
    Reason,
    Turns,
    content_step,
    foreign,
    guests,
    hints,
    is_native,
    media,
    objects_of,
    payload_step,
    readable_reasoning,
    reasons,
    request_step,
    seconds_of,
    settings,
    transcript_step,
    turn_step,
    with_contents,
    with_fitting_calls,
    with_known_tools,
    with_messages,
    with_whole_guests,
)
from contentmodel.content.base import AIContent, Protected
from contentmodel.content.citations import Citation
from contentmodel.content.hosted import McpServerToolCallContent, ToolSearchToolResultContent
from contentmodel.content.outcomes import ReferenceContent, ToolChangeContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    Caller,
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest, FunctionTool
from contentmodel.response import ChatResponse
from contentmodel_adapters.common.approvals import APPROVALS
from contentmodel_adapters.common.hosted import with_sendable_tools
from contentmodel_adapters.common.media import GOOGLE_FILES
from contentmodel_adapters.common.reasoning import ITEM, sealer_of
from contentmodel_adapters.common.schema_adaptation import OPENAI, with_fitting_schemas
from contentmodel_adapters.openai.responses.items import API, ISSUER, TABLE, ItemIds
from contentmodel_adapters.openai.responses.rules import CALL_IDS, TOOL_NAMES
from contentmodel_adapters.openai.responses.table import ADDED, CURRENT, decode_items
from contentmodel_adapters.openai.rules import MEDIA_TYPES
from contentmodel_adapters.openai.table import ERRORS, with_settings_of

READS = media.MediaSupport(
    MEDIA_TYPES, ("image/*", "application/*", "text/*"), ("http", "https", "data"), GOOGLE_FILES, named=True
)
NO_TEXTS = reasons.dropped(
    "openai-responses-reasoning-text", "OpenAI's models take no text of reasoning: only a summary and encrypted content"
)


def with_separate_added_tools(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request without the copies of tools that its messages add."""
    return ADDED.leave_out(request)


def is_continued(request: ChatRequest, context: EncodeContext) -> bool:
    """Return whether the server holds the conversation that a request continues. Ids of other APIs are not sent."""
    is_sent = context.native or context.has_no_origin
    previous = request.options.previous_response_id if is_sent else None
    return (previous or request.options.conversation_id) is not None


def is_sent_back(message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether a message of this API goes back to its model: its reasoning is unchanged."""
    origin = message.origin
    return origin is not None and is_native(message, context) and origin.model == context.target.model


def without_unread_state(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message without the reasoning whose encrypted content the model cannot read.

    OpenAI refuses that of other makers, whose models other hosts of the API serve (openai/codex#8119, seen 2026-11-27).
    Such reasoning is lowered like that of another API.
    """
    if is_sent_back(message, context):
        return message
    contents: list[AIContent] = []
    for item in reasoning_items(message.contents):
        parts = [part for part in item if isinstance(part, ReasoningContent)]
        state = next((part.protected for part in parts if part.protected is not None), None)
        if state is None or not is_unread(state, message, context):
            contents += item
            continue
        for part in parts:
            # Without its state, reasoning is lowered even if the API reads the state of other models.
            bare = context.replace(part, protected=None)
            readable = readable_reasoning(bare, context, is_last=part is message.contents[-1])
            if readable and part.protected is not None:
                context.report_loss(part, "protected", reasons.OPAQUE_STATE, issuer=state.issuer)
            contents += readable
    if contents == message.contents:
        return message
    return msgspec.structs.replace(message, contents=contents) if contents else []


def is_unread(state: Protected, message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether the target's model is known to be of another maker than the state."""
    issuer, maker = state.issuer, sealer_of(context.target.model)
    if message.origin is not None and is_native(message, context) and issuer in (ISSUER, API):
        # Older documents name OpenAI as the issuer of each state.
        issuer = sealer_of(message.origin.model) or issuer
    if maker is None:
        return issuer != ISSUER and is_for_openai(context)
    return issuer not in (maker, API)


def is_for_openai(context: EncodeContext) -> bool:
    """Return whether the target's model is known to be one of OpenAI's."""
    return context.known.status in ("listed", "newest")


def without_text(content: ReasoningContent, context: EncodeContext) -> Made:
    """Return reasoning without its text, for OpenAI's own models."""
    if content.kind != "text" or is_sent_back(context.message, context):
        return content
    context.report_loss(content, "text", NO_TEXTS)
    return () if content.protected is None else msgspec.structs.replace(content, text="", kind=None)


def left_out(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return no message for one without contents."""
    return ()


# -- items that other formats keep -------------------------------------------------------------------------------------


def reasoning_items(contents: Iterable[AIContent]) -> Iterator[list[AIContent]]:
    """Yield the parts of each reasoning item, and each other content alone.

    The state is that of the whole item, and its last part has it.
    """
    item: list[AIContent] = []
    for content in contents:
        if item and not _continues(content, item[-1]):
            yield item
            item = []
        item.append(content)
    if item:
        yield item


def _continues(content: AIContent, last: AIContent) -> bool:
    """Return whether a content is a further part of the reasoning item of the content before it."""
    are_parts = isinstance(content, ReasoningContent) and isinstance(last, ReasoningContent)
    return are_parts and last.protected is None and ITEM.of(content, API) is None


def _id_in(values: guests.Values | None, content: AIContent) -> str | None:
    """Return the id of the item that a format keeps with reasoning; None if it keeps none."""
    item_id = values.read(content).get("id") if values is not None and isinstance(content, ReasoningContent) else None
    return item_id if isinstance(item_id, str) else None


def _with_id(content: AIContent, values: guests.Values) -> AIContent:
    """Return reasoning with the id of its item where the API has it. It is taken from the residue of the format."""
    item: dict[str, Any] = {"type": "reasoning", "id": _id_in(values, content), "summary": []}
    extra = values.without(content, ("id",))
    return msgspec.structs.replace(content, extra={**extra, API: {**extra.get(API, {}), **ITEM.entry(item)}})


def with_stored_reasoning(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose reasoning of OpenAI without encrypted content is an item that the API stores.

    The frameworks send the id of the item, unless the request sets `store` to false. Other such reasoning is left out.
    """
    if request.options.store is False:
        return request
    return with_messages(request, [_with_stored(message) for message in request.messages])


def _with_stored(message: ChatMessage) -> ChatMessage:
    values, origin = guests.values_in(message, API), message.origin
    if values is None or origin is None or message.role != "assistant":
        return message
    contents: list[AIContent] = []
    for item_id, group in groupby(message.contents, partial(_id_in, values)):
        parts = list(group)
        is_stored = item_id is not None and values.are_made(parts[0], origin)
        if is_stored and all(part.protected is None for part in parts):
            parts = [_with_id(parts[0], values), *parts[1:]]
            parts = [hints.GUEST.on(part, API, "stored") for part in parts]
        contents += parts
    return with_contents(message, contents)


def with_state_of_items(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message in which all parts of an item of OpenAI have its encrypted content.

    A framework may have it on one part only. The parts follow each other, and have the same id.
    """
    id_of = partial(_id_in, guests.values_in(message, API))
    contents: list[AIContent] = []
    for content, after in pairwise(message.contents):
        if id_of(content) is not None and _are_of_one_item(content, after, id_of):
            context.report_loss(content, "protected", reasons.REPEATED_STATE)
    for item_id, group in groupby(message.contents, id_of):
        parts = list(group)
        states = [part.protected for part in parts if part.protected is not None]
        is_one = item_id is not None and len({(state.issuer, state.kind, state.data) for state in states}) == 1
        if is_one and states[0].kind == "encrypted":
            parts = [part if part.protected else msgspec.structs.replace(part, protected=states[0]) for part in parts]
        contents += parts
    return with_contents(message, contents)


def with_state_at_end(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message in which only the last of several parts with the same encrypted content has it.

    This API has it once for each item.
    """
    id_of = partial(_id_in, guests.values_in(message, API))
    contents: list[AIContent] = []
    for content, after in zip(message.contents, [*message.contents[1:], None], strict=True):
        is_repeated = _are_of_one_item(content, after, id_of)
        if is_repeated and id_of(content) is None:
            # With an id, the loss is reported before: the part may have got the state from another one.
            context.report_loss(content, "protected", reasons.REPEATED_STATE)
        contents.append(msgspec.structs.replace(content, protected=None) if is_repeated else content)
    return with_contents(message, contents)


def _are_of_one_item(content: AIContent, after: AIContent | None, id_of: Callable[[AIContent], str | None]) -> bool:
    """Return whether reasoning, and the reasoning after it, have the same encrypted content and the same id."""
    if not isinstance(content, ReasoningContent) or not isinstance(after, ReasoningContent):
        return False
    is_same = content.protected is not None and content.protected == after.protected
    return is_same and id_of(content) == id_of(after)


def with_kept_texts(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose texts are items again, with their annotations, if another format keeps these.

    The AI SDK keeps the id of the item, the annotations and the phase of a text. It sends a text as a reference to the
    stored item, which has the annotations. It sends only the text and the phase if nothing is stored, or if a model
    that reasons would get the item without the reasoning before it. Source: `convert-to-openai-responses-input.ts` and
    `map-openai-responses-annotation.ts` of @ai-sdk/openai 4.0 (seen 2026-11-27).
    """
    is_stored = request.options.store is not False
    kept_values = [guests.values_in(message, API) for message in request.messages]
    messages = [
        message
        if values is None or message.role != "assistant"
        else with_contents(message, _Texts(values, context, is_stored=is_stored).changed(message))
        for message, values in zip(request.messages, kept_values, strict=True)
    ]
    return with_messages(request, messages)


class _Texts:
    """The texts and the reasoning of messages of one format."""

    def __init__(self, values: guests.Values, context: EncodeContext, *, is_stored: bool) -> None:
        self._values, self._context, self._is_stored = values, context, is_stored

    def changed(self, message: ChatMessage) -> list[AIContent]:
        """Return the contents of a message as the API has them."""
        # A model that does not reason needs no reasoning before a stored item.
        is_complete = self._context.known.capabilities.thinking == ()
        has_items = self._is_stored and any(self._key(content)[0] is TextContent for content in message.contents)
        contents: list[AIContent] = []
        # If the last content is part of the item of a text, another text would become a part of it, too.
        is_open = False
        for (kind, _), group in groupby(message.contents, self._key):
            parts: list[Any] = list(group)
            text_items = self._texts(parts) if kind is TextContent and self._is_stored and is_complete else None
            if text_items is not None:
                contents += text_items
            elif kind is ReasoningContent and any(_is_encrypted(part) for part in parts):
                is_complete = True
                # The item of a text after it requires the id.
                contents += [_with_id(parts[0], self._values), *parts[1:]] if has_items else parts
            else:
                reasoned = [isinstance(part, ReasoningContent) and self._context.is_own(part) for part in parts]
                is_complete = is_complete or any(reasoned)
                contents += [self._alone(part, is_open=is_open) for part in parts]
            is_open = text_items is not None
        return contents

    def _key(self, content: AIContent) -> tuple[type[AIContent] | None, str | None]:
        """Return the class of a part of an item, and the id of the item; (None, None) for other contents."""
        item_id = self._values.read(content).get("id")
        return (content.__class__, item_id) if isinstance(item_id, str) else (None, None)

    def _texts(self, parts: list[Any]) -> list[AIContent] | None:
        """Return the parts of the item of a text; None if their annotations are malformed."""
        items: list[tuple[TextContent, dict[str, Any], list[Any]]] = []
        for text in parts:
            values = self._values.read(text)
            annotations, phase = objects_of(values, "annotations"), _phase_of(values)
            part = {"type": "output_text", "text": text.text, "annotations": values.get("annotations", [])}
            decoded = _decoded({"id": values["id"], "status": "completed", **phase, "content": [part]})
            if decoded is None or len(decoded.annotations or ()) != len(annotations):
                return None
            # The first part has the values of the item.
            names = {"annotations": None} if items else {"annotations": None, "id": None, **phase}
            items.append((msgspec.structs.replace(decoded, extra=None) if items else decoded, names, annotations))
        for text, (decoded, _, annotations) in zip(parts, items, strict=True):
            self._report_citations(text, decoded.annotations or [], annotations)
        return [self._replaced(text, decoded, names) for text, (decoded, names, _) in zip(parts, items, strict=True)]

    def _report_citations(
        self, content: TextContent, new_citations: list[Citation], annotations: list[dict[str, Any]]
    ) -> None:
        """Report the citations that the annotations replace. The SDK has most of them in several places."""
        cited = {_source_of(citation) for citation in new_citations}
        for citation in content.annotations or ():
            is_repeated = _source_of(citation) in cited or any(
                _source_of(citation) == (None, annotation.get("filename") or annotation.get("file_id"))
                for annotation in annotations
            )
            reason = reasons.REPEATED_CITATION if is_repeated else reasons.NO_CITATION_IN_REQUEST
            self._context.report_loss(citation, None, reason)

    def _alone(self, content: Any, *, is_open: bool) -> AIContent:
        """Return a text as a message with its phase, and without an id; other contents unchanged."""
        phase = _phase_of(self._values.read(content)) if isinstance(content, TextContent) else {}
        if not phase and not (is_open and isinstance(content, TextContent)):
            return content  # type: ignore[no-any-return]
        decoded = _decoded({**phase, "content": content.text})
        if decoded is None:
            return content  # type: ignore[no-any-return]
        self._report_citations(content, [], [])
        return self._replaced(content, decoded, phase)

    def _replaced(self, old: TextContent, new: TextContent, names: Iterable[str]) -> AIContent:
        """Return the text of the API in place of one of the format, without the values that the item has."""
        fields = {**(new.extra or {}).get(API, {}), **hints.GUEST.entry("item")}
        extra = {**self._values.without(old, names), API: fields}
        carried = {"cache_point": old.cache_point, "protected": old.protected, "extra": extra}
        return self._context.replaced(old, msgspec.structs.replace(new, **carried))


def _decoded(item: dict[str, Any]) -> TextContent | None:
    """Return the text of a message item; None if the item has a fault."""
    context = DecodeContext(API, Origin(api=API, issuer=ISSUER))
    messages = decode_items([{"type": "message", "role": "assistant", **item}], context)
    contents = [content for message in messages for content in message.contents]
    is_text = len(contents) == 1 and isinstance(contents[0], TextContent) and not context.has_faults
    return contents[0] if is_text else None  # type: ignore[return-value]


def _phase_of(values: dict[str, Any]) -> dict[str, Any]:
    return {"phase": values["phase"]} if isinstance(values.get("phase"), str) else {}


def _is_encrypted(content: ReasoningContent) -> bool:
    return content.protected is not None and content.protected.kind == "encrypted"


def _source_of(citation: Citation) -> tuple[str | None, str | None]:
    return (citation.url, None if citation.url is not None else citation.filename)


# -- approvals and programs that other formats keep --------------------------------------------------------------------


def with_kept_approvals(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose approvals of tools of MCP servers, kept by another format, are those of this API.

    The AI SDK keeps the request for an approval with a call that has an id of its own, and without the label of the
    server. It sends the answer after a reference to the request, which the API stores, and no request without an
    answer. A denied call has no result in this API. Source: `convert-to-openai-responses-input.ts` of @ai-sdk/openai
    4.0 (seen 2026-11-27).
    """
    are_kept = [guests.values_in(message, API) is not None for message in request.messages]
    guest_messages = list(compress(request.messages, are_kept))
    approvals = _Approvals(guest_messages, context, is_stored=request.options.store is not False)
    messages = [
        with_contents(message, approvals.changed(message.contents)) if is_changed else message
        for message, is_changed in zip(request.messages, are_kept, strict=True)
    ]
    return with_messages(request, messages)


class _Approvals:
    """The requests for approvals of a conversation, with their calls and answers."""

    def __init__(self, messages: list[ChatMessage], context: EncodeContext, *, is_stored: bool) -> None:
        self._context, self._is_stored = context, is_stored
        self._requests: dict[str, ToolApprovalRequestContent] = {}
        self._calls: dict[str | None, str] = {}
        """The ids of the requests for calls that have no other result than a denial, by the ids of the calls."""
        self._answered: set[str] = set()
        self._referred: set[str] = set()
        results: set[str | None] = set()
        for message in messages:
            called: ToolCallContent | None = None
            for content in message.contents:
                if isinstance(content, ToolCallContent):
                    called = content if _is_of_server(content) else None
                elif isinstance(content, ToolApprovalRequestContent) and called is not None:
                    self._requests[content.request_id] = content
                    self._calls[called.call_id] = content.request_id
                elif isinstance(content, ToolApprovalResponseContent):
                    self._answered.add(content.request_id)
                elif isinstance(content, ToolResultContent) and content.outcome != "denied":
                    results.add(content.call_id)
        self._calls = {call: request for call, request in self._calls.items() if call not in results}

    def changed(self, contents: Iterable[AIContent]) -> list[AIContent]:
        """Return contents with the approvals of the API."""
        return [approval for content in contents for approval in self._changed_content(content)]

    def _changed_content(self, content: Any) -> list[AIContent]:
        context = self._context
        if isinstance(content, ToolCallContent) and content.call_id in self._calls:
            context.report_loss(content, None, self._reason_for(self._calls[content.call_id]))
            return []
        if isinstance(content, ToolResultContent) and content.call_id in self._calls:
            context.report_loss(content, None, reasons.REPEATED_REASON)
            return []
        request_id = content.request_id if isinstance(content, APPROVALS) else None
        if request_id not in self._requests:
            return [content]
        if isinstance(content, ToolApprovalResponseContent):
            return [*self._reference(request_id), content]
        if self._reason_for(request_id) is reasons.STORED_WITH_ITEM:
            # The rest of the request is in its call.
            context.leave_residue(content, own=True)
        else:
            context.report_loss(content, None, reasons.PENDING_HOSTED_CALL)
        return []

    def _reason_for(self, request_id: str) -> Reason:
        is_sent = self._is_stored and request_id in self._answered
        return reasons.STORED_WITH_ITEM if is_sent else reasons.PENDING_HOSTED_CALL

    def _reference(self, request_id: str) -> list[AIContent]:
        """Return the reference to a request, if the API stores it. Each request has one."""
        request = self._requests[request_id]
        if not self._is_stored or request_id in self._referred:
            return []
        self._referred.add(request_id)
        reference = ReferenceContent(item_id=request_id, extra=hints.GUEST.extra(self._context.api, "reference"))
        return [self._context.replaced(request, reference)]


def _is_of_server(call: ToolCallContent) -> bool:
    is_of_server = (call.name or "").startswith("mcp.") or isinstance(call, McpServerToolCallContent)
    return is_of_server and call.executor == "provider" and call.call_id is not None


def with_programs(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request in which calls of guests that are programs, and their results, keep the program as caller."""
    contents = [content for message in request.messages for content in message.contents]
    programs = {
        content.call_id for content in contents if isinstance(content, ToolCallContent) and context.is_own(content)
    }
    callers = {
        call.call_id: context.with_fields(call.caller, hints.GUEST.entry("program"))
        for call in contents
        if isinstance(call, FunctionCallContent) and call.caller is not None and call.caller.call_id in programs
    }
    messages = [
        with_contents(message, [_of_program(content, callers, context) for content in message.contents])
        if callers and not is_native(message, context)
        else message
        for message in request.messages
    ]
    return with_messages(request, messages)


def _of_program(content: AIContent, callers: Mapping[str | None, Caller], context: EncodeContext) -> AIContent:
    is_known = isinstance(content, FunctionCallContent | FunctionResultContent) and content.call_id in callers
    if not is_known or (isinstance(content, FunctionResultContent) and content.caller is not None):
        return content
    return context.replace(content, caller=callers[content.call_id])  # type: ignore[attr-defined]


def with_definitions(content: ToolSearchToolResultContent, context: EncodeContext) -> ToolSearchToolResultContent:
    """Return found tools with their definitions, if the result is a guest of another format."""
    if not context.is_own(content):
        return content
    tools = content.tools or []
    bare = [tool for tool in tools if tool.keys() <= {"type", "name"}]
    declared = {
        tool["name"]: definition
        for tool in bare
        if isinstance(definition := context.tool_named(tool.get("name")), FunctionTool)
    }
    if len(declared) < len(bare):
        context.report_loss(content, "tools", reasons.STORED_WITH_ITEM)
    defined = {name: TABLE.unions["tool"].encode_list([tool], context)[0] for name, tool in declared.items()}
    changed = [defined.get(tool.get("name"), tool) if tool in bare else tool for tool in tools]
    changed = [tool for tool in changed if tool not in bare]
    return content if changed == tools else msgspec.structs.replace(content, tools=changed)


REQUEST_STEPS = (
    request_step(with_settings_of, other="openai-chat", needs=(("extra", "openai-chat"),)),
    request_step(settings.with_fitting_settings, native=True, form=settings.RESPONSES),
    request_step(with_separate_added_tools, native=True, needs=(ToolChangeContent,)),
    request_step(with_known_tools, native=True, kinds=Kinds(custom=True, custom_results=True, namespaces=True)),
    request_step(with_sendable_tools, current=CURRENT),
    request_step(with_kept_approvals, needs=(ToolApprovalRequestContent,)),
    request_step(with_whole_guests),
    request_step(with_programs, needs=(FunctionCallContent,)),
    content_step(with_definitions, ToolSearchToolResultContent, needs=(ToolSearchToolResultContent,)),
    turn_step(with_state_of_items, ReasoningContent, needs=(ReasoningContent,)),
    request_step(with_stored_reasoning, needs=(ReasoningContent,)),
    *foreign.NORMALIZE,
    turn_step(without_unread_state, ReasoningContent, native=True, needs=(ReasoningContent,)),
    content_step(
        without_text,
        ReasoningContent,
        native=True,
        needs=(ReasoningContent,),
        on=is_for_openai,
        emptied=left_out,
    ),
    turn_step(with_state_at_end, ReasoningContent, needs=(ReasoningContent,)),
    request_step(with_kept_texts, needs=(TextContent,)),
    *media.with_readable_media(READS),
    request_step(foreign.with_a_turn, continues=is_continued),
    request_step(with_fitting_calls, ids=CALL_IDS, names=TOOL_NAMES, continues=is_continued),
    request_step(with_fitting_schemas, dialects=OPENAI),
)


ANSWER_STEPS = (
    transcript_step(foreign.normalize_answer, cites=True),
    content_step(media.without_media, own="always", needs=media.ALL_MEDIA),
)


def completed(payload: dict[str, Any], response: ChatResponse, context: EncodeContext) -> dict[str, Any]:
    """Return the payload of an answer with the fields that the API requires."""
    defaults = {
        "object": "response",
        "id": "",
        "created_at": 0,
        "model": "",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    error = payload.get("error")
    if error is not None:
        if not response.choices:
            # A refused request has the error body of every endpoint.
            context.report_lost_attributes(response, ("id", "model", "created", "usage"))
            return {"error": error}
        payload = {**payload, "error": in_response(error)}
        _set_failure(payload, error, response, context)
    filled = {**defaults, **payload}
    if response.created is None:
        context.report_loss(response, "created", reasons.UNKNOWN_TIME)
    if not isinstance(filled["created_at"], int | float):
        seconds = seconds_of(filled["created_at"])
        lost = reasons.TIME_DROPPED if seconds is None else reasons.TIME_REWRITTEN
        context.report_loss(response, "created", lost, form="in seconds since 1970")
        filled["created_at"] = seconds or 0
    usage = filled.get("usage")
    if usage is not None:
        filled["usage"] = complete_usage(usage)
    ids = ItemIds(filled)
    filled["output"] = [ids.named(item) for item in filled["output"] or []]
    return filled


def _set_failure(
    payload: dict[str, Any], error: dict[str, Any], response: ChatResponse, context: EncodeContext
) -> None:
    """Set the status of a response with an error. Report the error code and the finish reason if they do not fit."""
    if response.error is not None and ERRORS.kind_of(payload["error"]) != ERRORS.kind_of(error):
        field = "kind" if response.error.code is None else "code"
        context.report_loss(response.error, field, reasons.NO_ERROR_TYPE)
    finish = response.choices[0].finish_reason
    if payload.get("status", "completed") == "completed":
        payload["status"] = "failed"
        if finish is not None and finish.reason != "error":
            reason = finish.raw or finish.reason
            context.report_loss(response.choices[0], "finish_reason.raw", reasons.NO_FINISH_REASON, value=reason)


def in_response(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error as the field of a failed response, which has few codes (types/responses/response_error.py)."""
    kind = ERRORS.kind_of(error)
    codes = {
        "rate_limit": "rate_limit_exceeded",
        "invalid_request": "invalid_prompt",
        "context_length": "invalid_prompt",
    }
    return {"code": codes.get(kind or "", "server_error"), "message": error.get("message", "")}


def complete_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the counters that the API always has; a missing counter is zero."""
    inside = {"cached_tokens": 0, "cache_write_tokens": 0, **usage.get("input_tokens_details", {})}
    outside = {"reasoning_tokens": 0, **usage.get("output_tokens_details", {})}
    tokens = {"input_tokens": 0, "output_tokens": 0, **usage}
    total = {"total_tokens": tokens["input_tokens"] + tokens["output_tokens"], **tokens}
    return {**total, "input_tokens_details": inside, "output_tokens_details": outside}


RESPONSE_PAYLOAD_STEPS = (payload_step(completed),)
