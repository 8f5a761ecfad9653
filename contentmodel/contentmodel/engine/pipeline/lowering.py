"""Lower contents to what the target has: types of the model, texts and functions, by the policies of the caller.

Normalizing comes first, so that steps see types of the model, lists of outputs, and JSON where it fits: a content of an
application's own class is encoded as its nearest type, a result without outputs (None) as one with an empty list, and a
JSON value as compact JSON text, for APIs without a place for JSON. Then a content of another API, or one that the
target has no block for, is replaced by a less specific content, or reported as lost. These functions take one content
and return its replacements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

import msgspec

from contentmodel import reasons
from contentmodel.content import CONTENT_TYPES
from contentmodel.content.base import content_tag
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
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.context import with_contents
from contentmodel.engine.losses.inner import token_of
from contentmodel.engine.pipeline.steps import compared, each_output, recorded
from contentmodel.hints import COLUMN, FAILURE
from contentmodel.json import write
from contentmodel.message import ChatMessage, contents_of
from contentmodel.pairs import TranscriptIndex, is_clients

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.pipeline.steps import Made
    from contentmodel.engine.table.unions import Union
    from contentmodel.message import Branch
    from contentmodel.request import ChatRequest
    from contentmodel.response import ChatResponse

    Source = tuple[str | None, str | None]
    """The address and the title of a page."""


# -- normalizing -------------------------------------------------------------------------------------------------------


_RESULTS = frozenset(kind for kind in CONTENT_TYPES if issubclass(kind, ToolResultContent))
_PLAIN = frozenset(CONTENT_TYPES) - _RESULTS - {DocumentContent}
"""The types of the model that hold no contents."""
UNCHANGED = _PLAIN - {JsonContent}
"""The types of the model that normalizing never changes."""
_NEAREST: dict[type, type[AIContent]] = {
    **{kind: kind for kind in CONTENT_TYPES},
    ToolCallContent: HostedToolCallContent,
    ToolResultContent: HostedToolResultContent,
}
"""The type of the model for each class that an application can derive from."""


def normalized_request(request: ChatRequest, context: EncodeContext, *, takes_json: bool = False) -> ChatRequest:
    """Return a request with normalized contents. If `takes_json`, results keep JSON values."""
    messages = normalized(request.messages, context, takes_json=takes_json)
    instructions = normalized_contents(request.instructions, context, takes_json=takes_json)
    branches = [_normalized_branch(branch, context) for branch in request.branches]
    is_same = messages is request.messages and instructions is request.instructions
    if is_same and all(map(is_, branches, request.branches)):
        return request
    changed = msgspec.structs.replace(request, messages=messages, instructions=instructions, branches=branches)
    return compared(request, changed, context)


def normalized_response(response: ChatResponse, context: EncodeContext, *, takes_json: bool = False) -> ChatResponse:
    """Return an answer with normalized contents. If `takes_json`, results keep JSON values."""
    choices = []
    for choice in response.choices:
        if not UNCHANGED.issuperset(map(type, contents_of(choice.messages))):
            messages = normalized(choice.messages, context, takes_json=takes_json)
            choice = choice if messages is choice.messages else msgspec.structs.replace(choice, messages=messages)
        choices.append(choice)
    if all(map(is_, choices, response.choices)):
        return response
    return compared(response, msgspec.structs.replace(response, choices=choices), context)


def _normalized_branch(branch: Branch, context: EncodeContext) -> Branch:
    messages = normalized(branch.messages, context, takes_json=True)
    return branch if messages is branch.messages else msgspec.structs.replace(branch, messages=messages)


def normalized(messages: list[ChatMessage], context: EncodeContext, *, takes_json: bool = False) -> list[ChatMessage]:
    """Return messages with normalized contents. If `takes_json`, results keep JSON values."""
    if not need_changes(contents_of(messages)):
        return messages
    return [
        with_contents(message, normalized_contents(message.contents, context, takes_json=takes_json))
        for message in messages
    ]


def normalized_contents(
    contents: list[AIContent], context: EncodeContext, *, takes_json: bool = False
) -> list[AIContent]:
    """Return normalized contents. If `takes_json`, results keep JSON values."""
    if not need_changes(contents):
        return contents
    return [_with_json_as_text(with_known_types(content, context), context, takes_json) for content in contents]


def need_changes(contents: Iterable[Any]) -> bool:
    """Return whether contents may have to change. Every encoding runs this loop."""
    for content in contents:
        kind = content.__class__
        if kind in _RESULTS:
            if content.outputs is None or any(map(_may_change, content.outputs)):
                return True
        elif kind not in UNCHANGED and _may_change(content):
            return True
    return False


def _may_change(content: Any) -> bool:
    kind = content.__class__
    return kind not in UNCHANGED and (kind is not DocumentContent or _are_odd(content.parts))


def _are_odd(contents: Iterable[Any]) -> bool:
    return any(content.__class__ not in _PLAIN for content in contents)


def with_known_types(content: Any, context: EncodeContext) -> AIContent:
    """Return a content as its nearest type of the model, with a list of outputs. The same holds for contents inside.

    Report the fields that the type of the model does not have as lost. A content without a nearest type is returned
    unchanged.
    """
    kind = content.__class__
    if kind in _PLAIN:
        return content  # type: ignore[no-any-return]
    nearest = next((_NEAREST[base] for base in kind.__mro__ if base in _NEAREST), kind)
    if nearest is not kind:
        fields = nearest.__struct_fields__
        plain = nearest(**{name: getattr(content, name) for name in fields})
        context.report_lost_attributes(content, tuple(name for name in content.__struct_fields__ if name not in fields))
        content = context.replaced(content, plain)
    if nearest in _RESULTS:
        if content.outputs is None:
            return context.replace(content, outputs=[])  # type: ignore[no-any-return]
        return _with_contents(content, "outputs", context)
    return _with_contents(content, "parts", context) if nearest is DocumentContent else content


def _with_contents(content: Any, field: str, context: EncodeContext) -> AIContent:
    inner = getattr(content, field)
    if not _are_odd(inner):
        return content  # type: ignore[no-any-return]
    changed = [with_known_types(item, context) for item in inner]
    is_same = all(new is old for new, old in zip(changed, inner, strict=True))
    return content if is_same else context.replace(content, **{field: changed})  # type: ignore[no-any-return]


def _with_json_as_text(content: Any, context: EncodeContext, takes_json: bool) -> AIContent:
    kind = content.__class__
    if kind is JsonContent:
        return as_text_content(content, context)
    if takes_json or kind not in _RESULTS or not any(output.__class__ is JsonContent for output in content.outputs):
        return content  # type: ignore[no-any-return]
    outputs: Sequence[AIContent] = [
        as_text_content(output, context) if output.__class__ is JsonContent else output for output in content.outputs
    ]
    changed: AIContent = context.replace(content, outputs=outputs)
    return changed


def as_text_content(content: JsonContent, context: EncodeContext) -> TextContent:
    """Return a JSON value as its compact text, with the other attributes of the content."""
    attributes = {name: getattr(content, name) for name in content.__struct_fields__ if name != "value"}
    return context.replaced(content, TextContent(text=content.text, **attributes))


# -- less specific contents --------------------------------------------------------------------------------------------


def lower(content: object, union: Union, context: EncodeContext) -> list[AIContent]:
    """Return replacements of a content that `union` has rows for. If there are none, report a loss and return []."""
    for kind, function in _LOWERINGS:
        if isinstance(content, kind):
            candidates = [c for c in function(content, context) if type(c) is not type(content)]
            lowered = [c for c in candidates if union.has(type(c), native=context.native)]
            if lowered:
                return list(recorded(content, lowered, context))
    context.report_loss(content, None, reasons.NO_BLOCK, place=union.name)
    return []


def as_text(content: object) -> str:
    """Return the text of a content that is not a text."""
    if isinstance(content, UriContent | HostedFileContent):
        uri = content.uri if isinstance(content, UriContent) else None
        return _lines(content.title, content.name, uri, content.text)
    if isinstance(content, ErrorContent):
        return content.message or content.code or ""
    if isinstance(content, ReferenceContent):
        return content.item_id
    if isinstance(content, DocumentContent):
        return _lines(content.title, content.uri, *(as_text(part) for part in content.parts))
    text = getattr(content, "text", None) or ""
    return _lines(content.name, text) if text and isinstance(content, DataContent) else text


def reported_text(content: object, context: EncodeContext) -> str:
    """Return the text of a content. Report all other attributes as lost, or the whole content if it has no text."""
    text = as_text(content)
    if text or isinstance(content, TextContent):
        context.report_rest(content, *spelled(content))
        context.report_lost_attributes(content, ("protected",))
        report_parts(content, context)
    else:
        context.report_loss(content, None, reasons.UNSUPPORTED_CONTENT)
    return text


def report_parts(content: object, context: EncodeContext) -> None:
    """Report the attributes of a document's parts that its text does not contain."""
    for part in content.parts if isinstance(content, DocumentContent) else ():
        reported_text(part, context)


_SPELLED = ("title", "name", "uri", "text", "message", "parts", "item_id")


def spelled(content: object) -> tuple[str, ...]:
    """Return the attributes of a content that its text contains, or whose loss is reported elsewhere."""
    if content.__class__ is UriContent:
        return (*_SPELLED, "kind")
    if content.__class__ is not ErrorContent:
        return _SPELLED
    if any(FAILURE.read(residue) == "sign" for residue in (content.extra or {}).values()):
        # The field that this error was made from is reported as lost by itself.
        return (*_SPELLED, "code", "details")
    # The text of a refusal shows that it is one.
    return _SPELLED if content.message and content.code != "refusal" else (*_SPELLED, "code")


def _lines(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


def reasoning_by_policy(content: ReasoningContent, context: EncodeContext, *, is_last: bool = False) -> list[AIContent]:
    """Return reasoning as text, or as a field of this API; [] if the policy selects neither.

    A text ends with an empty line to separate it from the answer, unless it is the last content of a message in a
    request.
    """
    policy = context.policies.get("reasoning")
    if not content.text and not context.is_open:
        return []
    if policy in context.reasoning_fields:
        if content.protected is not None:
            context.report_loss(content.protected, None, reasons.OPAQUE_STATE, issuer=content.protected.issuer)
        context.report_lost_attributes(content, ("kind", "annotations", "cache_point"))
        context.leave_residue(content, own=True)
        reasoning = ReasoningContent(text=content.text, extra=COLUMN.extra(context.api, policy))
        return [reasoning]
    if policy != "text":
        return []
    context.degrade(content, reasons.REASONING_AS_TEXT, "text", "kind")
    between = "" if content.text.endswith("\n\n") or (is_last and context.kind == "request") else "\n\n"
    return [TextContent(text=content.text + between)]


def readable_reasoning(content: ReasoningContent, context: EncodeContext, *, is_last: bool = False) -> list[AIContent]:
    """Return reasoning as the target has it: unchanged, with its state in a field of the host, or by the policy."""
    is_readable = content.protected is not None and content.protected.issuer in context.issuers
    is_own = context.is_own(content)
    if context.keeps_state or is_own or (is_readable and not context.reasoning_fields):
        return [content]
    if is_readable and context.host.state_field is not None:
        return [_with_state(content, context, context.host.state_field)]
    if context.policies:
        lowered = reasoning_by_policy(content, context, is_last=is_last)
        if lowered:
            return lowered
    if is_readable:
        return [content]
    context.report_loss(content, None, reasons.FOREIGN_REASONING)
    for citation in content.annotations or ():
        # Citations have their own paths: some APIs keep them beside the reasoning.
        context.report_loss(citation, None, reasons.FOREIGN_REASONING)
    return []


def _with_state(content: ReasoningContent, context: EncodeContext, field: str) -> ReasoningContent:
    """Return reasoning for the field that holds it with its opaque state."""
    api, extra = context.api, content.extra or {}
    residue = {**extra.get(api, {}), **context.host.state_residue, **COLUMN.entry(field)}
    return msgspec.structs.replace(content, extra={**extra, api: residue})


def crosses_as_function(content: ToolCallContent | ToolResultContent, context: EncodeContext) -> bool:
    """Return whether a hosted call or result is sent as one of a function. In answers: only calls for the client."""
    return context.kind == "request" or (isinstance(content, ToolCallContent) and content.executor == "client")


def as_function_call(content: ToolCallContent, context: EncodeContext) -> list[AIContent]:
    """Convert a call of another kind to a function call; [] if it cannot be one."""
    if not crosses_as_function(content, context):
        return []
    arguments = content.arguments
    if isinstance(content, CustomToolCallContent):
        arguments = content.arguments_object
    context.degrade(content, reasons.AS_FUNCTION_CALL, "call_id", "name", "arguments")
    name = content.name or content_tag(type(content).__name__).removesuffix("_tool_call")
    extra = token_of(content.extra, context.api)
    return [FunctionCallContent(call_id=content.call_id, name=name, arguments=arguments or {}, extra=extra)]


def as_function_result(content: ToolResultContent, context: EncodeContext) -> list[AIContent]:
    """Convert a result of another kind to a function result; [] if it cannot be one."""
    if not crosses_as_function(content, context):
        return []
    context.degrade(content, reasons.AS_FUNCTION_RESULT, "call_id", "name", "outputs", "is_error", "tools")
    is_error = content.is_error or (True if content.error is not None else None)
    outputs = [_output(output, context) for output in without_settings(content.output_list, context)] + _listed(content)
    extra = token_of(content.extra, context.api)
    return [
        FunctionResultContent(
            call_id=content.call_id, name=content.name, outputs=outputs, is_error=is_error, extra=extra
        )
    ]


def without_settings(outputs: Sequence[AIContent], context: EncodeContext) -> list[AIContent]:
    """Return the outputs of a result from another API without settings, which only their own API has."""
    for output in outputs:
        if output.__class__ is ConfigurationContent:
            context.report_loss(output, None, reasons.UNSUPPORTED_CONTENT)
    return [output for output in outputs if output.__class__ is not ConfigurationContent]


def _listed(content: ToolResultContent) -> list[AIContent]:
    """Return the tools that a search or a server listed, which are not in the outputs, as JSON text."""
    tools = getattr(content, "tools", None)
    return [TextContent(text=write(tools).decode())] if tools else []


def _output(content: AIContent, context: EncodeContext) -> AIContent:
    """Return an output as a function result can hold it: text or media without provider-specific attributes."""
    if isinstance(content, UriContent | HostedFileContent | ErrorContent | DocumentContent | ReferenceContent):
        context.degrade(content, reasons.AS_TEXT, *spelled(content))
        report_parts(content, context)
        return context.replaced(content, TextContent(text=as_text(content)))
    if isinstance(content, TextContent | DataContent):
        context.report_lost_attributes(content, ("annotations", "protected"))
        context.leave_residue(content, own=True)
        extra = token_of(content.extra, context.api)
        plain = msgspec.structs.replace(content, extra=extra, annotations=None, protected=None)
        return context.replaced(content, plain)
    return content


def as_texts(content: AIContent, context: EncodeContext) -> list[AIContent]:
    """Return a content that is not a text as a text; [] if it has none, of which only its cache point is reported."""
    text = as_text(content)
    if not text:
        context.report_lost_attributes(content, ("cache_point",))
        return []
    context.degrade(content, reasons.AS_TEXT, *spelled(content))
    report_parts(content, context)
    return [context.replaced(content, TextContent(text=text))]


def compaction_as_text(content: CompactionContent, context: EncodeContext) -> list[AIContent]:
    """Convert a compaction to text, or drop it as the policy requires."""
    return [] if context.policies.get("compaction") == "drop" else as_texts(content, context)


_LOWERINGS: tuple[tuple[Any, Callable[[Any, EncodeContext], list[AIContent]]], ...] = (
    (ReasoningContent, reasoning_by_policy),
    (ToolCallContent, as_function_call),
    (ToolResultContent, as_function_result),
    (CompactionContent, compaction_as_text),
    ((ErrorContent, UriContent, DataContent, DocumentContent, ReferenceContent), as_texts),
)


def is_only_of_models(content: AIContent) -> bool:
    """Return whether only a model, or a tool that the provider runs, can produce such a content."""
    if isinstance(content, ReasoningContent | ToolCallContent | ToolApprovalRequestContent):
        return True
    return isinstance(content, ToolResultContent) and content.executor != "client"


def leaves_out_citations(text: TextContent, context: EncodeContext) -> bool:
    """Report the citations of an empty text that has nothing else, and return True; False for other texts.

    UI messages of the AI SDK have sources beside tools. Requests to providers have no citations of other APIs.
    """
    if text.text or not text.annotations or context.keeps_state or context.kind != "request":
        return False
    if text.protected is not None or text.cache_point is not None:
        return False
    for citation in text.annotations:
        context.report_loss(citation, None, reasons.NO_FIELD)
    context.leave_residue(text, own=True)
    return True


# -- contents of other APIs --------------------------------------------------------------------------------------------


APPROVALS = (ToolApprovalRequestContent, ToolApprovalResponseContent)


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
        return readable_reasoning(content, context, is_last=content is message.contents[-1])
    if kind is FunctionResultContent or kind is CustomToolResultContent:
        return content if is_one_text(content) else _with_texts_of_errors(_without_state(content, context), context)
    if _is_elsewhere(content, _STORED, message, context):
        context.report_loss(content, None, reasons.STORED_ELSEWHERE)
        return ()
    if kind is ErrorContent and message.role != "assistant" and context.issuer and as_text(content):
        # Providers have errors in answers only: refusals.
        return as_texts(content, context)
    if isinstance(content, ToolCallContent) and context.index in _unfinished(message, context):
        context.report_loss(content, None, reasons.PENDING_HOSTED_CALL)
        return ()
    return _normalized_content(content, context, cited)


def _with_texts_of_errors(result: FunctionResultContent, context: EncodeContext) -> FunctionResultContent:
    """Return a result with its errors as texts and the error flag set. No API has another field for them."""
    if not any(isinstance(output, ErrorContent) for output in result.output_list):
        return result
    changed = each_output(result, _error_as_text, context)
    return msgspec.structs.replace(changed, is_error=True if result.is_error is None else result.is_error)


def _error_as_text(output: AIContent, context: EncodeContext) -> AIContent:
    if not isinstance(output, ErrorContent):
        return output
    context.degrade(output, reasons.ERROR_AS_TEXT, *spelled(output))
    return TextContent(text=as_text(output))


def _unfinished(message: ChatMessage, context: EncodeContext) -> frozenset[int]:
    """Return the positions of hosted calls without a result in a request's message. A store keeps them."""
    if context.kind != "request" or context.keeps_state:
        return frozenset()
    last_message, positions = context.unfinished
    if last_message is not message:
        places = {place[1] for place in TranscriptIndex([message]).unanswered if not is_clients([message], place)}
        # A call that stays hosted may have its result in a later message.
        positions = frozenset(at for at in places if not context.is_own(message.contents[at]))
        context.unfinished = message, positions
    return positions


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
        return as_texts(output, context)
    return output


_CLIENT = (FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent)
_SERVER_ONLY = (ConfigurationContent, ToolChangeContent, ReferenceContent)


def _normalized_content(content: AIContent, context: EncodeContext, cited: frozenset[Source]) -> Made:
    if isinstance(content, _CLIENT):
        return content
    if isinstance(content, ToolCallContent | ToolResultContent):
        return _hosted(content, context, cited)
    if isinstance(content, CompactionContent) and not _readable(content, context) and not context.keeps_state:
        texts = compaction_as_text(content, context)
        if not texts:
            context.report_loss(content, None, reasons.UNREADABLE_COMPACTION)
        return texts
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
    if policy == "function" and crosses_as_function(content, context):
        if isinstance(content, ToolCallContent):
            return as_function_call(content, context)
        return as_function_result(content, context)
    if policy == "text" and isinstance(content, ToolResultContent):
        text = "\n".join(as_text(output) for output in content.output_list)
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
