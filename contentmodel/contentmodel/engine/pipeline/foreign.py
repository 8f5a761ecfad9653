"""Steps that adapt messages to the target, and apply the policies. Most change only messages of other APIs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content import CONTENT_TYPES
from contentmodel.content.citations import Citation
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, HostedFileContent, HostedVectorStoreContent, UriContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
    UnknownContent,
)
from contentmodel.content.reasoning import ReasoningContent
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
from contentmodel.engine.losses import reasons
from contentmodel.engine.pipeline import lowering
from contentmodel.engine.pipeline.approvals import own_approvals, without_own_approvals
from contentmodel.engine.pipeline.call_ids import with_answer_ids, with_call_ids
from contentmodel.engine.pipeline.census import HOSTED, Fact
from contentmodel.engine.pipeline.cited_before import (
    leaves_out_citations,
    with_citations_of_texts,
    with_citations_on_texts,
)
from contentmodel.engine.pipeline.instructions import INSTRUCTION_ROLES, is_only_of_models
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.pipeline.sentinels import LEFT_OUT, NO_TURN
from contentmodel.engine.pipeline.steps import (
    Plan,
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
from contentmodel.pairs import TranscriptIndex, is_clients

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.json import JsonObject
    from contentmodel.engine.pipeline.census import Facts
    from contentmodel.engine.pipeline.steps import Made, Turns
    from contentmodel.message import FinishReason
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatChoice

    Source = tuple[str | None, str | None]
    """The address and the title of a page."""


APPROVALS = (ToolApprovalRequestContent, ToolApprovalResponseContent)


def with_known_role(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message as a user message if only its own API defines its role."""
    if message.role in KNOWN_ROLES:
        return message
    context.report_loss(message, "role", reasons.NO_ROLE, role=message.role)
    return msgspec.structs.replace(message, role="user")


def lowered(content: Any, context: EncodeContext, cited: frozenset[Source] = frozenset()) -> Made:
    """Return what the target has for a content of another API, without provider-specific values.

    Hosted calls and their results become function calls and results (policy "hosted_tools"). Reasoning is dropped
    (policy "reasoning"). Values that the target's issuer can read are kept. `cited` has the sources that the citations
    of an answer refer to.
    """
    message, kind = context.message, content.__class__
    if message.role != "assistant" and is_only_of_models(content):
        context.report_loss(content, None, reasons.WRONG_ROLE, role=message.role)
        return ()
    if kind is FunctionCallContent:
        return content  # type: ignore[no-any-return]
    if kind is TextContent:
        return () if leaves_out_citations(content, context) else content
    if kind is ReasoningContent:
        return lowering.readable_reasoning(content, context, is_last=content is message.contents[-1])
    if kind is FunctionResultContent or kind is CustomToolResultContent:
        return content if is_one_text(content) else _with_texts_of_errors(_without_state(content, context), context)
    if _is_elsewhere(content, _STORED, message, context):
        context.report_loss(content, None, reasons.STORED_ELSEWHERE)
        return ()
    if kind is ErrorContent and message.role != "assistant" and context.issuer and lowering.as_text(content):
        # Providers have errors in answers only: refusals.
        return lowering.as_texts(content, context)
    if isinstance(content, ToolCallContent) and context.index in _unfinished(message, context):
        context.report_loss(content, None, reasons.PENDING_HOSTED_CALL)
        return ()
    return _normalized_content(content, context, cited)


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
        rest = [c for c in message.contents if not _is_result(c, context)]
        return [_part(message, "tool", results), msgspec.structs.replace(message, contents=rest)]
    return _cut(message, context)


def with_denials_as_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages of other APIs without the approvals of the application's own calls. A denial becomes a result."""
    if all(is_native(message, context) for message in messages) or not (approvals := own_approvals(messages)):
        return messages
    kept: list[ChatMessage] = []
    for number, message in enumerate(messages):
        without = message
        if not is_native(message, context):
            without = without_own_approvals(message, number, approvals, context)
        if message.contents and not without.contents:
            leave_empty(without, context)
        else:
            kept.append(without)
    return kept


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


def with_a_turn(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with a placeholder user message if none has contents. Instructions keep their authority."""
    if context.native or next(contents_of(request.messages), None) is not None:
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
            contents = [_with_name(content, names, context) for content in message.contents]
            message = context.replace(message, contents=contents)
        named_messages.append(message)
    return named_messages


def _with_name(content: AIContent, names: dict[str | None, str | None], context: EncodeContext) -> AIContent:
    if not isinstance(content, FunctionResultContent) or content.name is not None:
        return content
    return context.replace(content, name=names.get(content.call_id) or "tool")


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
    messages = without_empty_texts(with_answer_ids(with_citations_of_texts(messages, context), context), context)
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
    kept = []
    for message in messages:
        for content in filter(is_empty_text, message.contents):
            leave_empty_text(content, context)
        kept.append(context.with_contents(message, [c for c in message.contents if not is_empty_text(c)]))
    return kept


def is_empty_text(content: AIContent) -> bool:
    """Return whether a content is an empty text without citations."""
    return content.__class__ is TextContent and not content.text and not content.annotations


def leave_empty_text(content: AIContent, context: EncodeContext) -> None:
    """Report the other attributes of an empty text as lost, because the text is not sent."""
    context.report_lost_attributes(content, ("protected",))
    context.leave_residue(content, own=True)


def _cited_sources(message: ChatMessage) -> frozenset[Source]:
    """Return the address and title of each listed source that citations of a message refer to."""
    citations = (citation for content in message.contents for citation in content.annotations or ())
    return frozenset((citation.url, citation.title) for citation in citations if citation.source_indices is not None)


def finish_for_calls(finish: FinishReason | None, calls: list[ToolCallContent]) -> FinishReason | None:
    """Replace a finish reason that only its own API defines by "tool_calls", if the answer has complete calls.

    With any other finish reason, clients do not run the calls.
    """
    if finish is None or finish.reason != "other" or not calls or any(call.status == "incomplete" for call in calls):
        return finish
    return msgspec.structs.replace(finish, reason="tool_calls")


def finish_for_refusal(finish: FinishReason | None, *, is_refused: bool) -> FinishReason | None:
    """Replace a usual finish reason of an answer that refuses by "refusal", for APIs that have this reason.

    OpenAI's answers end with "stop", and their content shows the refusal, which is a text elsewhere.
    """
    if finish is None or finish.reason != "stop" or not is_refused:
        return finish
    return msgspec.structs.replace(finish, reason="refusal")


def is_refusal(content: object) -> bool:
    """Return whether a content is a refusal of the model."""
    return isinstance(content, ErrorContent) and content.code == "refusal"


def with_fitting_finish(choice: ChatChoice, context: EncodeContext, *, shows_refusals: bool) -> ChatChoice:
    """Return a choice. If it is of another API, clients run its calls, and take no refusal for a usual answer.

    `shows_refusals`: whether the target has a finish reason for refusals.
    """
    finish = choice.finish_reason
    if context.native or finish is None or finish.reason not in ("other", "stop"):
        return choice
    normalized = finish_for_calls(finish, [call for message in choice.messages for call in message.tool_calls])
    if shows_refusals:
        normalized = finish_for_refusal(normalized, is_refused=any(map(is_refusal, contents_of(choice.messages))))
    if normalized is finish:
        return choice
    context.report_loss(choice, "finish_reason.raw", reasons.NO_FINISH_REASON, value=finish.raw or finish.reason)
    changed: ChatChoice = context.replace(choice, finish_reason=normalized)
    return changed


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
    message: ChatMessage, context: EncodeContext, cited: frozenset[Source] = frozenset()
) -> ChatMessage:
    """Return a message of an answer of another API without provider-specific values."""
    context.message = message
    contents: list[AIContent] = []
    for context.index, content in enumerate(message.contents):
        made = lowered(content, context, cited)
        contents += (content,) if made is content else recorded(content, made, context)
    return context.with_contents(message, contents)


def _with_texts_of_errors(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a result with its errors as texts and the error flag set. No API has another field for them."""
    if not any(isinstance(output, ErrorContent) for output in result.output_list):
        return result
    changed = each_output(result, _error_as_text, context)
    return msgspec.structs.replace(changed, is_error=True if result.is_error is None else result.is_error)


def _error_as_text(output: AIContent, context: EncodeContext) -> AIContent:
    if not isinstance(output, ErrorContent):
        return output
    context.degrade(output, reasons.ERROR_AS_TEXT, *lowering.spelled(output))
    return TextContent(text=lowering.as_text(output))


def _unfinished(message: ChatMessage, context: EncodeContext) -> frozenset[int]:
    """Return the positions of hosted calls without a result in a request's message. A store keeps them."""
    if context.kind != "request" or context.keeps_state:
        return frozenset()
    known, found = context.unfinished
    if known is not message:
        places = {place[1] for place in TranscriptIndex([message]).unanswered if not is_clients([message], place)}
        # A call that stays hosted may have its result in a later message.
        found = frozenset(at for at in places if not context.is_own(message.contents[at]))
        context.unfinished = message, found
    return found


def is_one_text(result: Any) -> bool:
    """Return whether a result is one text."""
    outputs = result.outputs
    return len(outputs) == 1 and outputs[0].__class__ is TextContent


_STORED = (HostedFileContent, HostedVectorStoreContent)


def _is_elsewhere(content: AIContent, kinds: tuple[type, ...], message: ChatMessage, context: EncodeContext) -> bool:
    """Return whether a content of these kinds refers to something that only another issuer's APIs have."""
    if context.keeps_state or not isinstance(content, kinds):
        return False
    return message.origin is not None and message.origin.issuer != context.issuer


def _without_state(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a result of another API without settings, stored files and references, which only that API has."""
    return each_output(result, _without_stored, context)


def _without_stored(output: AIContent, context: EncodeContext) -> Made:
    if output.__class__ is ConfigurationContent:
        context.report_loss(output, None, reasons.UNSUPPORTED_CONTENT)
        return ()
    if _is_elsewhere(output, _STORED, context.message, context):
        context.report_loss(output, None, reasons.STORED_ELSEWHERE)
        return ()
    if _is_elsewhere(output, (ReferenceContent,), context.message, context):
        # The name of a tool that the application found: Claude Code searches its tools by a function.
        return lowering.as_texts(output, context)
    return output


_CLIENT = (FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent)
_SERVER_ONLY = (ConfigurationContent, ToolChangeContent, ReferenceContent)


def _normalized_content(content: AIContent, context: EncodeContext, cited: frozenset[Source]) -> Made:
    if isinstance(content, _CLIENT):
        return content
    if isinstance(content, ToolCallContent | ToolResultContent):
        return _hosted(content, context, cited)
    if isinstance(content, CompactionContent) and not _readable(content, context) and not context.keeps_state:
        made = lowering.compaction_as_text(content, context)
        if not made:
            context.report_loss(content, None, reasons.UNREADABLE_COMPACTION)
        return made
    if _is_unsupported(content, context):
        context.report_loss(content, None, reasons.UNSUPPORTED_CONTENT)
        return ()
    return content


def _is_unsupported(content: AIContent, context: EncodeContext) -> bool:
    if isinstance(content, UnknownContent):
        return content.api != context.api
    if isinstance(content, _SERVER_ONLY):
        return not context.is_own(content)
    return context.lacks_approvals and isinstance(content, APPROVALS)


def _readable(content: AIContent, context: EncodeContext) -> bool:
    return content.protected is not None and content.protected.issuer == context.issuer


def _hosted(content: ToolCallContent | ToolResultContent, context: EncodeContext, cited: frozenset[Source]) -> Made:
    policy = context.policies.get("hosted_tools", "function")
    is_kept = (context.keeps_state and content.executor == "provider") or context.is_own(content)
    if is_kept and policy == "function":
        return content
    if policy == "function" and lowering.crosses_as_function(content, context):
        if isinstance(content, ToolCallContent):
            return lowering.as_function_call(content, context)
        return lowering.as_function_result(content, context)
    if policy == "text" and isinstance(content, ToolResultContent):
        text = "\n".join(lowering.as_text(output) for output in content.output_list)
        if text:
            context.degrade(content, reasons.HOSTED_AS_TEXT, "outputs")
            return TextContent(text=text)
    outputs = content.output_list if isinstance(content, ToolResultContent) else []
    if not cited or not any(_source_of(output) in cited for output in outputs):
        context.report_loss(content, None, reasons.FOREIGN_HOSTED_TOOL)
        return ()
    context.leave_residue(content, own=True)
    for output in outputs:
        if _source_of(output) in cited:
            context.degrade(output, reasons.CITED_SOURCE, "uri", "title")
        else:
            context.report_loss(output, None, reasons.FOREIGN_HOSTED_TOOL)
    return ()


def _source_of(output: AIContent) -> Source | None:
    return (output.uri, output.title) if isinstance(output, UriContent) else None


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
