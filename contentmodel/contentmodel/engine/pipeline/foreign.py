"""Steps that adapt messages of other APIs: their roles, results, instructions, approvals, texts and citations.

Most change only messages of other APIs. `normalize_answer` does the same for answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import AIContent
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.context import EncodeContext, is_native, stays, with_contents
from contentmodel.engine.pipeline.lowering import APPROVALS, is_only_of_models, lowered
from contentmodel.engine.pipeline.names import with_answer_ids, with_call_ids
from contentmodel.engine.pipeline.sentinels import DENIED, LEFT_OUT, NO_TURN
from contentmodel.engine.pipeline.steps import (
    HOSTED,
    Fact,
    Made,
    Plan,
    compared,
    content_step,
    each_output,
    is_alone,
    needs,
    needs_alone,
    recorded,
    transcript_step,
    turn_step,
    walked,
)
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import Place, TranscriptIndex, is_clients
from contentmodel.reasons import Reason
from contentmodel.request import ChatRequest

if TYPE_CHECKING:
    from contentmodel.engine.pipeline.lowering import Source
    from contentmodel.engine.pipeline.steps import Facts, Turns
    from contentmodel.json import JsonObject


# -- instructions ------------------------------------------------------------------------------------------------------


INSTRUCTION_ROLES = ("system", "developer")


@needs(Fact.INSTRUCTIONS, makes=lambda facts: ("system",))
def place_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Put instructions into a first message of role system, for APIs without another field for them."""
    if not request.instructions:
        return request
    first = ChatMessage(role="system", contents=request.instructions, origin=request.origin)
    return msgspec.structs.replace(request, instructions=[], messages=[first, *request.messages])


@needs(*INSTRUCTION_ROLES, makes=lambda facts: (Fact.INSTRUCTIONS,))
def hoist_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Move leading system and developer messages of other APIs into the instructions. Later ones are not moved.

    A message with a result is no instruction.
    """
    hoisted: list[ChatMessage] = []
    for message in request.messages:
        if message.role not in INSTRUCTION_ROLES or is_native(message, context):
            break
        types = map(type, message.contents)
        if not _OF_CLIENTS.isdisjoint(types) and any(_is_result(content, context) for content in message.contents):
            break
        hoisted.append(message)
    if not hoisted:
        return request
    for message in hoisted:
        context.report_loss(message, "role", reasons.SEPARATE_INSTRUCTIONS)
        context.report_lost_attributes(message, ("author_name", "message_id"))
        context.leave_residue(message, own=True)
    contents = [content for message in hoisted for content in _without_calls(message, context)]
    instructions, messages = [*request.instructions, *contents], request.messages[len(hoisted) :]
    return msgspec.structs.replace(request, instructions=instructions, messages=messages)


def _without_calls(message: ChatMessage, context: EncodeContext) -> list[AIContent]:
    """Return the contents of instructions that are not a model's."""
    contents = []
    for content in message.contents:
        if is_only_of_models(content):
            context.report_loss(content, None, reasons.WRONG_ROLE, role=message.role)
        else:
            contents.append(content)
    return contents


@needs(*INSTRUCTION_ROLES, makes=lambda facts: ("user",))
def instructions_as_text(
    messages: list[ChatMessage], context: EncodeContext, *, after_user: bool = False
) -> list[ChatMessage]:
    """Convert later system and developer messages of other APIs or models to user messages, if the target refuses them.

    With `after_user`, the target accepts one such message if it follows a user message or tool results, and precedes an
    assistant message or the end. Successive ones are joined.
    """
    if not any(message.role in INSTRUCTION_ROLES for message in messages):
        return messages
    placed: list[ChatMessage] = []
    # An empty message of another API is not a turn. It stays in the list for the losses of its fields.
    empty = [message for message in messages if not message.contents and not stays(message, context)]
    runs = _runs([message for message in messages if message.contents or stays(message, context)], context)
    for run, after in zip(runs, [*runs, None][1:], strict=True):
        if run[0].role not in INSTRUCTION_ROLES or stays(run[0], context):
            placed += run
        elif after_user and _fits(run, placed, after):
            placed.append(_joined(run, context))
        else:
            placed += [_as_user(message, context) for message in run]
    return placed + empty


def _runs(messages: list[ChatMessage], context: EncodeContext) -> list[list[ChatMessage]]:
    """Return runs of messages: successive instructions of other APIs are one run, any other message is its own."""
    runs: list[list[ChatMessage]] = []
    for message in messages:
        is_more = message.role in INSTRUCTION_ROLES and not stays(message, context)
        if is_more and runs and runs[-1][0].role in INSTRUCTION_ROLES and not stays(runs[-1][0], context):
            runs[-1].append(message)
        else:
            runs.append([message])
    return runs


def _fits(run: list[ChatMessage], before: list[ChatMessage], after: list[ChatMessage] | None) -> bool:
    """Return whether instructions are texts, after the user or results, and before the assistant or the end."""
    if not before or before[-1].role not in ("user", "tool") or (after is not None and after[0].role != "assistant"):
        return False
    return all(content.__class__ is TextContent for message in run for content in message.contents)


def _joined(run: list[ChatMessage], context: EncodeContext) -> ChatMessage:
    contents: list[AIContent] = list(contents_of(run))
    for message in run[1:]:
        context.report_lost_attributes(message, ("author_name", "message_id"))
        context.leave_residue(message, own=True)
    return with_contents(run[0], contents)


def _as_user(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    context.report_loss(message, "role", reasons.INSTRUCTIONS_AS_USER)
    return msgspec.structs.replace(message, role="user")


# -- approvals of the application's own calls --------------------------------------------------------------------------


OwnApprovals = Mapping[Place, tuple[Reason, ToolResultContent | None]]
"""The places of approvals, each with the reason of its loss, and the result that replaces a denial."""
_APPROVALS: frozenset[type] = frozenset({ToolApprovalRequestContent, ToolApprovalResponseContent})


def own_approvals(messages: Sequence[ChatMessage], *, has_results: bool = True) -> OwnApprovals:
    """Return the approvals of calls that the application runs: no API asked for them.

    If `has_results`, the denial of a call without a result becomes its result.
    """
    if _APPROVALS.isdisjoint(map(type, contents_of(messages))):
        return {}
    return dict(_own_approvals(messages, has_results))


def _own_approvals(
    messages: Sequence[ChatMessage], has_results: bool
) -> Iterator[tuple[Place, tuple[Reason, ToolResultContent | None]]]:
    index = TranscriptIndex(messages)
    for call, places in index.approvals_of.items():
        if not is_clients(messages, call):
            continue
        result = index.result_of.get(call)
        sent = None if result is None else _at(messages, result)
        for place in places:
            approval = _at(messages, place)
            if isinstance(approval, ToolApprovalRequestContent):
                is_pending = sent is None and place not in index.response_of
                yield place, (reasons.PENDING_APPROVAL if is_pending else reasons.OWN_APPROVAL, None)
            elif has_results and sent is None and not approval.approved:
                sent = _denied(_at(messages, call), approval)
                yield place, (reasons.DENIAL_AS_RESULT, sent)
            else:
                yield place, (_reason_for(approval, sent), None)


def _at(messages: Sequence[ChatMessage], place: Place) -> Any:
    return messages[place[0]].contents[place[1]]


def _denied(call: ToolCallContent, answer: ToolApprovalResponseContent) -> ToolResultContent:
    model = CustomToolResultContent if isinstance(call, CustomToolCallContent) else FunctionResultContent
    outputs: list[AIContent] = [TextContent(text=answer.reason or DENIED)]
    return model(call_id=call.call_id, name=call.name, outputs=outputs, is_error=True, outcome="denied")


def _reason_for(answer: ToolApprovalResponseContent, sent: ToolResultContent | None) -> Reason:
    """Return the reason why an answer is lost. The result of a denied call shows the denial, maybe with its reason."""
    is_shown = answer.approved or sent is not None
    has_reason = not answer.reason or (sent is not None and answer.reason in sent.text)
    return reasons.OWN_APPROVAL if is_shown and has_reason else reasons.APPROVAL_ANSWER


def without_own_approvals(
    message: ChatMessage, number: int, approvals: OwnApprovals, context: EncodeContext
) -> ChatMessage:
    """Return message `number` without the approvals that were found. A denial is replaced by its result."""
    contents: list[Any] = []
    for at, content in enumerate(message.contents):
        reason, result = approvals.get((number, at), (None, None))
        if reason is None:
            contents.append(content)
        elif result is None:
            context.report_loss(content, None, reason)
        else:
            context.degrade(content, reason, "approved", "reason")
            contents.append(context.replaced(content, result))
    return with_contents(message, contents)


# -- texts and citations -----------------------------------------------------------------------------------------------


def with_citations_of_texts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs with each citation on the text that it belongs to."""
    return [m if is_native(m, context) else with_citations_on_texts(m, context) for m in messages]


def with_citations_on_texts(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API with each citation on the text that it belongs to."""
    if not any(map(_is_citation_alone, message.contents)):
        return message
    contents: list[AIContent] = []
    for content in message.contents:
        last = contents[-1] if contents else None
        if isinstance(last, TextContent) and last.text and _is_citation_alone(content):
            context.report_lost_attributes(content, ("protected", "cache_point"))
            context.leave_residue(content, own=True)
            cited = [*(last.annotations or ()), *(content.annotations or ())]
            contents[-1] = context.replace(last, annotations=cited)
        else:
            contents.append(content)
    return context.with_contents(message, contents)


def _is_citation_alone(content: AIContent) -> bool:
    if not content.annotations or not isinstance(content, TextContent) or content.text:
        return False
    return all(citation.span is None for citation in content.annotations)


def without_blank_text(content: AIContent, context: EncodeContext) -> Made:
    """Return nothing for a blank text, and a result without its blank texts, for APIs that refuse them.

    A text that has just started, in a stream, may grow.
    """
    if context.is_open:
        return content
    if isinstance(content, FunctionResultContent | CustomToolResultContent):
        return each_output(content, without_blank_text, context)
    return () if _drop_blank(content, context) else content


WITHOUT_BLANK_TEXTS = content_step(
    without_blank_text, TextContent, FunctionResultContent, CustomToolResultContent, needs=(Fact.BLANK_TEXT,)
)


@needs(Fact.INSTRUCTIONS)
def without_blank_instructions(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request of another API without blank instructions, for APIs that refuse them."""
    if not any(map(_is_blank, request.instructions)):
        return request
    instructions = [content for content in request.instructions if not _drop_blank(content, context)]
    return msgspec.structs.replace(request, instructions=instructions)


def _is_blank(content: AIContent) -> bool:
    return content.__class__ is TextContent and (not content.text or content.text.isspace())


def _drop_blank(content: AIContent, context: EncodeContext) -> bool:
    if not isinstance(content, TextContent) or not _is_blank(content):
        return False
    if content.text or content.annotations is not None:
        context.report_loss(content, None, reasons.BLANK_TEXT)
    else:
        leave_empty_text(content, context)
    for citation in content.annotations or ():
        # Citations have their own paths: some APIs keep them beside the texts.
        context.report_loss(citation, None, reasons.BLANK_TEXT)
    context.report_lost_attributes(content, ("cache_point",))
    return True


# -- messages ----------------------------------------------------------------------------------------------------------


def with_known_role(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message as a user message if only its own API defines its role."""
    if message.role in KNOWN_ROLES:
        return message
    context.report_loss(message, "role", reasons.NO_ROLE, role=message.role)
    return msgspec.structs.replace(message, role="user")


def not_empty(message: ChatMessage, context: EncodeContext) -> Turns:
    """Return a message none of whose contents is sent with a placeholder text, if it is a user's; else leave it out.

    A message of approvals has no text for the model.
    """
    if message.contents:
        return message
    is_spoken = any(not isinstance(content, APPROVALS) for content in context.message.contents)
    if is_spoken and message.role == "user":
        return left_out(message, context)
    context.report_loss(message, None, reasons.EMPTY_MESSAGE)
    return []


def results_apart(message: ChatMessage, context: EncodeContext) -> Turns:
    """Move results of the client to messages of the role "tool". Those from a user message are placed before it."""
    results = [] if message.role == "tool" else [c for c in message.contents if _is_result(c, context)]
    if not results:
        return message
    if len(results) == len(message.contents):
        return msgspec.structs.replace(message, role="tool")
    if message.role != "assistant":
        others = [c for c in message.contents if not _is_result(c, context)]
        return [_part(message, "tool", results), msgspec.structs.replace(message, contents=others)]
    return _cut(message, context)


def with_denials_as_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs without the approvals of the application's own calls. A denial becomes a result."""
    if all(is_native(message, context) for message in messages) or not (approvals := own_approvals(messages)):
        return messages
    changed: list[ChatMessage] = []
    for number, message in enumerate(messages):
        without = message
        if not is_native(message, context):
            without = without_own_approvals(message, number, approvals, context)
        if message.contents and not without.contents:
            leave_empty(without, context)
        else:
            changed.append(without)
    return changed


def plain_types(facts: Facts) -> Mapping[str, frozenset[type]]:
    """Return the content types that are the same in all APIs, by the role of their message."""
    # An empty text with citations may be left out if its message is looked at.
    media = _NO_TYPES if Fact.CITED_ALONE in facts else _MEDIA
    plain = dict.fromkeys(("user", *INSTRUCTION_ROLES), media | {TextContent})
    results = _NO_TYPES if Fact.RICH_RESULT in facts else frozenset({FunctionResultContent})
    return {**plain, "assistant": media | {TextContent, FunctionCallContent}, "tool": results}


def types_after_lowering(facts: Facts) -> Collection[Any]:
    """Return the facts that may hold of contents that were lowered."""
    if facts.isdisjoint(_LOWERED):
        return ("user",)
    functions = () if facts.isdisjoint(_AS_FUNCTIONS) else (FunctionCallContent, FunctionResultContent)
    return (TextContent, Fact.BLANK_TEXT, "user", *functions)


def roles_of_results(facts: Facts) -> Collection[Any]:
    """Return the role "tool" if there may be results of the client."""
    return () if facts.isdisjoint(_OF_CLIENTS) else ("tool",)


_NO_TYPES: frozenset[type] = frozenset()
_MEDIA = frozenset({DataContent, UriContent, DocumentContent})
_CALLED = {FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent}
_LOWERED = frozenset(CONTENT_TYPES) - _MEDIA - _CALLED - {TextContent}
"""The types of contents in place of which other contents may be sent."""
_AS_FUNCTIONS = HOSTED.union(APPROVALS)
_OF_CLIENTS = HOSTED.union(APPROVALS, _CALLED)
KNOWN_ROLES = frozenset(("user", "assistant", "tool", *INSTRUCTION_ROLES))
NORMALIZE = (
    turn_step(with_citations_on_texts, needs=(Fact.CITED_ALONE,)),
    transcript_step(with_call_ids, needs=(Fact.NO_CALL_ID,)),
    transcript_step(with_denials_as_results, needs=APPROVALS, on=lambda context: not context.keeps_approvals),
    turn_step(with_known_role, plain=plain_types),
    content_step(lowered, plain=plain_types, makes=types_after_lowering),
    turn_step(not_empty, plain=plain_types),
    turn_step(results_apart, plain=plain_types, makes=roles_of_results),
)
"""The steps that take the provider-specific values of other APIs out of messages, and tool results apart."""
_NORMALIZED = Plan(NORMALIZE)


def normalize_foreign(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without provider-specific values of other APIs, and with tool results in separate messages."""
    return walked(messages, _NORMALIZED, context)


def left_out(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a user message with a placeholder text instead of its contents. No API accepts an empty message."""
    context.report_loss(message, None, reasons.PLACEHOLDER_MESSAGE)
    placeholder = context.replaced(message, TextContent(text=LEFT_OUT))
    return context.with_contents(message, [placeholder])


Continues = Callable[[ChatRequest, EncodeContext], bool]
"""Return whether a request continues a conversation that the server stores."""


def with_a_turn(request: ChatRequest, context: EncodeContext, continues: Continues | None = None) -> ChatRequest:
    """Return a request with a placeholder user message if none has contents. Instructions keep their authority.

    A request that `continues` a conversation needs no contents.
    """
    if context.native or next(contents_of(request.messages), None) is not None:
        return request
    if continues is not None and continues(request, context):
        return request
    context.report_loss(request, "messages", reasons.NO_USER_MESSAGE)
    placeholder = ChatMessage(role="user", contents=[TextContent(text=NO_TURN)], origin=request.origin)
    return msgspec.structs.replace(request, messages=[*request.messages, placeholder])


def with_model(payload: JsonObject, request: ChatRequest, context: EncodeContext) -> JsonObject:
    """Return a payload with its required fields. A missing model becomes "" and is reported."""
    if "model" not in payload:
        context.report_loss(request, "model", reasons.NO_MODEL)
    return {"model": "", "messages": [], **payload}


def without_broken_status(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages unchanged. Report the status of interrupted calls as lost, for APIs without such a status."""
    for message in messages:
        for content in message.contents:
            if isinstance(content, ToolCallContent) and content.status == "incomplete":
                context.report_loss(content, "status", reasons.INTERRUPTED_STATUS)
    return messages


def without_names_of_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer unchanged. Report names of results that no call repeats as lost.

    For APIs whose results have no name. In requests, each result has a call, and its name.
    """
    calls = {(c.call_id, c.name) for c in contents_of(messages) if isinstance(c, ToolCallContent)}
    for content in contents_of(messages):
        if content.__class__ is FunctionResultContent and (content.call_id, content.name) not in calls:
            context.report_lost_attributes(content, ("name",))
    return messages


@needs(FunctionResultContent)
def with_names_of_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose results have the name of their call, for APIs that have it on both."""
    names: dict[str | None, str | None] = {}
    named_messages = []
    for message in messages:
        nameless = False
        for content in message.contents:
            if isinstance(content, ToolCallContent):
                names[content.call_id] = content.name
            elif isinstance(content, FunctionResultContent) and content.name is None:
                nameless = True
        if nameless:
            contents = [_with_name(content, names) for content in message.contents]
            message = msgspec.structs.replace(message, contents=contents)
        named_messages.append(message)
    return named_messages


def _with_name(content: AIContent, names: dict[str | None, str | None]) -> AIContent:
    if not isinstance(content, FunctionResultContent) or content.name is not None:
        return content
    return msgspec.structs.replace(content, name=names.get(content.call_id) or "tool")


def _uncited(content: AIContent, context: EncodeContext) -> AIContent:
    context.report_lost_attributes(content, ("annotations",))
    return msgspec.structs.replace(content, annotations=None)


WITHOUT_CITATIONS = content_step(_uncited, attribute="annotations", needs=(Citation,))
"""The step that leaves the citations of other APIs out of requests, for APIs that accept none."""

NORMALIZED = frozenset(CONTENT_TYPES) - {TextContent, FunctionCallContent, CustomToolCallContent}
"""The types of contents that `normalize_answer` may change even if there is only one content."""
CALLS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolCallContent))
RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent))


@needs_alone(*NORMALIZED)
def normalize_answer(messages: list[ChatMessage], context: EncodeContext, *, cites: bool = False) -> list[ChatMessage]:
    """Return the messages of another API's answer without provider-specific values.

    `cites`: whether answers of the target contain citations with URLs.
    """
    if context.native:
        return messages
    if not is_alone(messages):
        messages = _compared(messages, context)
    normalized = []
    for message in messages:
        cited = _cited_sources(message) if cites else frozenset()
        normalized.append(normalized_message(message, context, cited))
    return normalized


def _compared(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of another API's answer after the steps that compare contents with each other."""
    for step in (with_citations_of_texts, with_answer_ids, without_empty_texts):
        messages = compared(messages, step(messages, context), context)
    approvals = own_approvals(messages, has_results=False)
    if approvals:
        messages = [without_own_approvals(message, at, approvals, context) for at, message in enumerate(messages)]
    return messages


def without_empty_texts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer without its empty texts, unless there is nothing else in it.

    Chat Completions sends an empty text beside calls, Gemini one for a signature: elsewhere it would be an extra block.
    """
    empty = [is_empty_text(content) for content in contents_of(messages)]
    if context.is_open or True not in empty or all(empty):
        return messages
    changed = []
    for message in messages:
        for content in filter(is_empty_text, message.contents):
            leave_empty_text(content, context)
        changed.append(with_contents(message, [c for c in message.contents if not is_empty_text(c)]))
    return changed


def is_empty_text(content: AIContent) -> bool:
    """Return whether a content is an empty text without citations."""
    return content.__class__ is TextContent and not content.text and not content.annotations


def leave_empty_text(content: AIContent, context: EncodeContext) -> None:
    """Report the other attributes of an empty text as lost, because the text is not sent."""
    context.report_lost_attributes(content, ("protected",))
    if content.cache_point is not None:
        context.report_loss(content.cache_point, None, reasons.CACHE_POINT)
    context.leave_residue(content, own=True)


def _cited_sources(message: ChatMessage) -> frozenset[Source]:
    """Return the address and title of each listed source that citations of a message refer to."""
    citations = (citation for content in message.contents for citation in content.annotations or ())
    return frozenset((citation.url, citation.title) for citation in citations if citation.source_indices is not None)


@needs("tool")
def join_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Join successive messages of tool results, because parallel results belong in one turn."""
    return joined_runs(messages, context, lambda last, message: message.role == last.role == "tool")


@needs("assistant")
def join_assistant(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Join successive assistant messages of other APIs into one turn."""
    return joined_runs(
        messages,
        context,
        lambda last, message: message.role == last.role == "assistant" and not is_native(last, context),
    )


def joined_runs(
    messages: list[ChatMessage], context: EncodeContext, joins: Callable[[ChatMessage, ChatMessage], bool]
) -> list[ChatMessage]:
    """Join each run of messages. `joins(first, message)` returns whether a message belongs to the run of `first`."""
    runs: list[list[ChatMessage]] = []
    for message in messages:
        if runs and joins(runs[-1][0], message) and not is_native(message, context):
            runs[-1].append(message)
        else:
            runs.append([message])
    return [joined_messages(run, context) if len(run) > 1 else run[0] for run in runs]


def joined_messages(run: list[ChatMessage], context: EncodeContext) -> ChatMessage:
    """Return the first message with the contents of all messages."""
    for message in run[1:]:
        leave_empty(message, context)
    return context.with_contents(run[0], list(contents_of(run)))


def leave_empty(message: ChatMessage, context: EncodeContext) -> None:
    """Report the other attributes of a message as lost, because the message itself is not sent."""
    context.report_lost_attributes(message, ("author_name", "message_id"))
    context.report_records(message)
    context.leave_residue(message, own=True)


def normalized_message(
    message: ChatMessage,
    context: EncodeContext,
    cited: frozenset[Source] = frozenset(),
    kept: Collection[int] = (),
) -> ChatMessage:
    """Return a message of an answer of another API without provider-specific values.

    `kept` are the indexes of the contents that are unchanged.
    """
    context.message = message
    contents: list[AIContent] = []
    for context.index, content in enumerate(message.contents):
        normalized = content if context.index in kept else lowered(content, context, cited)
        contents += (content,) if normalized is content else recorded(content, normalized, context)
    return context.with_contents(message, contents)


def _is_result(content: AIContent, context: EncodeContext) -> bool:
    """Return whether the application sends a content for a call: a result, or the user's answer to a question.

    The result of a hosted tool that stays hosted is no such content.
    """
    if isinstance(content, ToolApprovalResponseContent):
        return context.keeps_approvals
    return isinstance(content, ToolResultContent) and content.executor == "client"


def _cut(message: ChatMessage, context: EncodeContext) -> list[ChatMessage]:
    runs: list[tuple[str, list[AIContent]]] = []
    for content in _open_calls_last(message, context):
        role = "tool" if _is_result(content, context) else message.role
        if not runs or runs[-1][0] != role:
            runs.append((role, []))
        runs[-1][1].append(content)
    first = next((at for at, (role, _) in enumerate(runs) if role == message.role), None)
    return [
        msgspec.structs.replace(message, contents=contents) if at == first else _part(message, role, contents)
        for at, (role, contents) in enumerate(runs)
    ]


def _open_calls_last(message: ChatMessage, context: EncodeContext) -> list[AIContent]:
    """Return the contents of a message, with calls that have no result in it moved after the last result or answer."""
    unanswered = set(TranscriptIndex([message]).unanswered)
    last = max(at for at, content in enumerate(message.contents) if _is_result(content, context))
    first: list[AIContent] = []
    moved: list[AIContent] = []
    for at, content in enumerate(message.contents[:last]):
        (moved if (0, at) in unanswered else first).append(content)
    for call in moved:
        context.report_loss(call, None, reasons.CALL_AFTER_RESULTS)
    return [*first, message.contents[last], *moved, *message.contents[last + 1 :]]


def _part(message: ChatMessage, role: str, contents: Sequence[AIContent]) -> ChatMessage:
    return ChatMessage(role=role, contents=contents, origin=message.origin)


@needs_alone()
def without_user_messages(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages of an answer of another API without those of users, and report them as lost.

    A compacted conversation of OpenAI contains such messages. In another API's answer they would become the model's
    text.
    """
    if context.native or not any(message.role in _OTHERS for message in messages):
        return messages
    for message in messages:
        if message.role in _OTHERS:
            for lost in (message, *message.contents):
                context.report_loss(lost, None, reasons.NO_ROLE_IN_ANSWER, role=message.role)
    return [message for message in messages if message.role not in _OTHERS]


_OTHERS = frozenset({"user", "system", "developer"})
