"""Passes that adapt messages to the target, and apply the policies. Most change only messages of other APIs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel.content.media import HostedFileContent, HostedVectorStoreContent, UriContent
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
from contentmodel.engine.pipeline.approvals import OwnApprovals, own_approvals, without_own_approvals
from contentmodel.engine.pipeline.call_ids import with_answer_ids, with_call_ids
from contentmodel.engine.pipeline.cited_before import leaves_out_citations, with_citations_of_texts
from contentmodel.engine.pipeline.instructions import INSTRUCTION_ROLES, is_only_of_models
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.pipeline.sentinels import LEFT_OUT, NO_TURN
from contentmodel.engine.pipeline.steps import has_annotations
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import TranscriptIndex, is_clients

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.json import JsonObject
    from contentmodel.message import FinishReason
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatChoice

    Source = tuple[str | None, str | None]
    """The address and the title of a page."""


def normalize_foreign(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages without provider-specific values of other APIs, and with tool results in separate messages.

    Hosted calls and their results become function calls and results (policy "hosted_tools"). Reasoning is dropped
    (policy "reasoning"). Values that the target's issuer can read are kept.
    """
    if all(is_native(message, context) for message in messages):
        return messages
    normalized: list[ChatMessage] = []
    messages = with_call_ids(with_citations_of_texts(messages, context), context)
    approvals: OwnApprovals = {} if context.keeps_approvals else own_approvals(messages)
    for number, message in enumerate(messages):
        plain = _PLAIN.get(message.role, _NONE)
        for content in message.contents:
            if content.__class__ not in plain or (plain is _RESULTS and not is_one_text(content)):
                normalized += _normalized_messages(message, number, approvals, context)
                break
        else:
            normalized.append(message)
    return normalized


def _normalized_messages(
    message: ChatMessage, number: int, approvals: OwnApprovals, context: EncodeContext
) -> list[ChatMessage]:
    if is_native(message, context):
        return [message]
    original = message
    if approvals:
        message = without_own_approvals(message, number, approvals, context)
    if original.contents and not message.contents:
        leave_empty(message, context)
        return []
    normalized = normalized_message(_with_known_role(message, context), context)
    if normalized.contents:
        return split_results(normalized, context)
    # A message of approvals has no text for the model.
    is_spoken = any(not isinstance(content, APPROVALS) for content in message.contents)
    if is_spoken and normalized.role == "user":
        return [left_out(normalized, context)]
    context.report_loss(message, None, reasons.EMPTY_MESSAGE)
    return []


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


def without_citations(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return the messages without the citations of other APIs, for requests to APIs that accept none."""
    return [
        message
        if is_native(message, context)
        else context.with_contents(message, [_uncited(content, context) for content in message.contents])
        for message in messages
    ]


def _uncited(content: AIContent, context: EncodeContext) -> AIContent:
    if content.annotations is None:
        return content
    context.report_lost_attributes(content, ("annotations",))
    return context.replace(content, annotations=None)


_RESULTS: frozenset[type] = frozenset({FunctionResultContent})
_NONE: frozenset[type] = frozenset()
_PLAIN: dict[str, frozenset[type]] = {
    **dict.fromkeys(("user", *INSTRUCTION_ROLES), frozenset({TextContent})),
    "assistant": frozenset({TextContent, FunctionCallContent}),
    "tool": _RESULTS,
}
"""The content types that need no change, by the role of their message."""


def _with_known_role(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message as a user message if only its own API defines its role."""
    if message.role in _PLAIN:
        return message
    context.report_loss(message, "role", reasons.NO_ROLE, role=message.role)
    known: ChatMessage = context.replace(message, role="user")
    return known


def normalize_answer(messages: list[ChatMessage], context: EncodeContext, *, cites: bool = False) -> list[ChatMessage]:
    """Return the messages of another API's answer without provider-specific values.

    `cites`: whether answers of the target contain citations with URLs.
    """
    if context.native:
        return messages
    messages = without_empty_texts(with_answer_ids(with_citations_of_texts(messages, context), context), context)
    approvals = own_approvals(messages, has_results=False)
    if approvals:
        messages = [without_own_approvals(message, at, approvals, context) for at, message in enumerate(messages)]
    return [
        normalized_message(message, context, _cited_sources(message) if cites else _NONE_CITED) for message in messages
    ]


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


_NONE_CITED: frozenset[Source] = frozenset()


def _cited_sources(message: ChatMessage) -> frozenset[Source]:
    """Return the address and title of each listed source that citations of a message refer to."""
    if not has_annotations(message.contents):
        return _NONE_CITED
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


def join_results(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Join successive messages of tool results, because parallel results belong in one turn."""
    return joined_runs(messages, context, lambda last, message: message.role == last.role == "tool")


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
    message: ChatMessage, context: EncodeContext, cited: frozenset[Source] = _NONE_CITED
) -> ChatMessage:
    """Return a message of another API without provider-specific values. Contents of the target's own are kept."""
    normalized: list[AIContent] = []
    unfinished: set[int] | None = None
    content: Any
    for at, content in enumerate(message.contents):
        kind = content.__class__
        if message.role != "assistant" and is_only_of_models(content):
            context.report_loss(content, None, reasons.WRONG_ROLE, role=message.role)
        elif kind is TextContent or kind is FunctionCallContent:
            if kind is FunctionCallContent or not leaves_out_citations(content, context):
                normalized.append(content)
        elif kind is ReasoningContent:
            normalized += lowering.readable_reasoning(content, context, is_last=content is message.contents[-1])
        elif kind is FunctionResultContent or kind is CustomToolResultContent:
            normalized.append(_with_texts_of_errors(_without_state(content, message, context), context))
        elif _is_elsewhere(content, _STORED, message, context):
            context.report_loss(content, None, reasons.STORED_ELSEWHERE)
        elif kind is ErrorContent and message.role != "assistant" and context.issuer and lowering.as_text(content):
            # Providers have errors in answers only: refusals.
            normalized += lowering.as_texts(content, context)
        else:
            unfinished = _unfinished(message, context) if unfinished is None else unfinished
            if at in unfinished:
                context.report_loss(content, None, reasons.PENDING_HOSTED_CALL)
            else:
                normalized.extend(_normalized_content(content, context, cited))
    return context.with_contents(message, normalized)


def _with_texts_of_errors(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a result with its errors as texts and the error flag set. No API has another field for them."""
    errors = [output for output in result.output_list if isinstance(output, ErrorContent)]
    if not errors:
        return result
    outputs: list[AIContent] = []
    for output in result.output_list:
        if isinstance(output, ErrorContent):
            context.degrade(output, reasons.ERROR_AS_TEXT, *lowering.spelled(output))
            output = context.replaced(output, TextContent(text=lowering.as_text(output)))
        outputs.append(output)
    failed = True if result.is_error is None else result.is_error
    changed = msgspec.structs.replace(result, outputs=outputs, is_error=failed)
    with_texts: FunctionResultContent = context.replaced(result, changed)
    return with_texts


def _unfinished(message: ChatMessage, context: EncodeContext) -> set[int]:
    """Return the positions of hosted calls without a result in a request's message. A store keeps them."""
    if context.kind != "request" or context.keeps_state:
        return set()
    places = {place[1] for place in TranscriptIndex([message]).unanswered if not is_clients([message], place)}
    # A call that stays hosted may have its result in a later message.
    return {at for at in places if id(message.contents[at]) not in context.own_contents}


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


def _without_state(
    result: FunctionResultContent, message: ChatMessage, context: EncodeContext
) -> FunctionResultContent:
    """Return a result of another API without settings, stored files and references, which only that API has."""
    if is_one_text(result):
        return result
    outputs: list[AIContent] = []
    for output in lowering.without_settings(result.output_list, context):
        if _is_elsewhere(output, _STORED, message, context):
            context.report_loss(output, None, reasons.STORED_ELSEWHERE)
        elif _is_elsewhere(output, (ReferenceContent,), message, context):
            # The name of a tool that the application found: Claude Code searches its tools by a function.
            outputs += lowering.as_texts(output, context)
        else:
            outputs.append(output)
    is_same = len(outputs) == len(result.output_list) and all(map(is_, outputs, result.output_list))
    return result if is_same else context.replace(result, outputs=outputs)


_CLIENT = (FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent)
APPROVALS = (ToolApprovalRequestContent, ToolApprovalResponseContent)
_SERVER_ONLY = (ConfigurationContent, ToolChangeContent, ReferenceContent)


def _normalized_content(content: AIContent, context: EncodeContext, cited: frozenset[Source]) -> Iterable[AIContent]:
    if content.__class__ is TextContent or isinstance(content, _CLIENT):
        return (content,)
    if isinstance(content, ToolCallContent | ToolResultContent):
        return _hosted(content, context, cited)
    if isinstance(content, ReasoningContent):
        return lowering.readable_reasoning(content, context)
    if isinstance(content, CompactionContent) and not _readable(content, context) and not context.keeps_state:
        lowered = lowering.compaction_as_text(content, context)
        if not lowered:
            context.report_loss(content, None, reasons.UNREADABLE_COMPACTION)
        return lowered
    if _is_unsupported(content, context):
        context.report_loss(content, None, reasons.UNSUPPORTED_CONTENT)
        return ()
    return (content,)


def _is_unsupported(content: AIContent, context: EncodeContext) -> bool:
    if isinstance(content, UnknownContent):
        return content.api != context.api
    if isinstance(content, _SERVER_ONLY):
        return id(content) not in context.own_contents
    return context.lacks_approvals and isinstance(content, APPROVALS)


def _readable(content: AIContent, context: EncodeContext) -> bool:
    return content.protected is not None and content.protected.issuer == context.issuer


def _hosted(
    content: ToolCallContent | ToolResultContent, context: EncodeContext, cited: frozenset[Source]
) -> Iterable[AIContent]:
    policy = context.policies.get("hosted_tools", "function")
    is_kept = (context.keeps_state and content.executor == "provider") or id(content) in context.own_contents
    if is_kept and policy == "function":
        return (content,)
    if policy == "function" and lowering.crosses_as_function(content, context):
        if isinstance(content, ToolCallContent):
            return lowering.as_function_call(content, context)
        return lowering.as_function_result(content, context)
    if policy == "text" and isinstance(content, ToolResultContent):
        text = "\n".join(lowering.as_text(output) for output in content.output_list)
        if text:
            context.degrade(content, reasons.HOSTED_AS_TEXT, "outputs")
            return (TextContent(text=text),)
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


def split_results(message: ChatMessage, context: EncodeContext) -> list[ChatMessage]:
    """Move results of the client to messages of the role "tool". Those from a user message are placed before it."""
    results = [] if message.role == "tool" else [c for c in message.contents if _is_result(c, context)]
    if not results:
        return [message]
    if len(results) == len(message.contents):
        return [context.replace(message, role="tool")]
    if message.role != "assistant":
        rest = [c for c in message.contents if not _is_result(c, context)]
        return [_part(message, "tool", results), context.with_contents(message, rest)]
    return _cut(message, context)


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
        context.with_contents(message, contents) if at == first else _part(message, role, contents)
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
