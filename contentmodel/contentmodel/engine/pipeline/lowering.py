"""Replace content that the target has no block for by a less specific content, or report it as lost.

Each function takes one content and returns its replacements. Policies select between alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from contentmodel.capabilities import check_choice
from contentmodel.content.base import content_tag
from contentmodel.content.documents import DocumentContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ConfigurationContent, ErrorContent, ReferenceContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.engine.json import whole_number, write
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.inner import token_of
from contentmodel.engine.table.hints import COLUMN, FAILURE
from contentmodel.literals import OnLoss, Policies

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.table.tables import Union

POLICIES = {
    "reasoning": ("drop", "text", "reasoning_content", "reasoning", "reasoning_details"),
    "hosted_tools": ("function", "text", "drop"),
    "compaction": ("text", "drop"),
    "prefill": ("continue", "keep"),
    "stream_usage": ("last", "chunk"),
    "ai_sdk": ("7", "6", "5"),
}
"""The policies for foreign targets, with their values. The first value is the default.

`reasoning_content`, `reasoning` and `reasoning_details` are fields of assistant messages that some hosts of Chat
Completions support. An API without them gets no reasoning. `prefill` is for models that refuse to continue an answer:
if the conversation ends with one, "continue" adds a message of the user, and "keep" does not. `stream_usage` is for
streams of Chat Completions: "last" puts the usage in the last chunk with a choice, "chunk" in a separate chunk without
choices, as `stream_options.include_usage` does. `ai_sdk` is the version of Vercel's AI SDK that reads the messages.

The additional policy `capabilities` sets the capabilities of the target's model: the name of a listed model, "any", or
a JSON object with fields of `contentmodel.capabilities.Capabilities`. The policy `output_limit` is a number: the limit
of output tokens for an API that requires one, if the request has none. The policies of TEXT_POLICIES are texts: the id
and the working directory of a session of a coding agent, and the name of the host of an API that has several
(`dialects` of its adapter): Chat Completions, Anthropic Messages and generateContent.
"""
TEXT_POLICIES = ("session", "directory", "dialect")


def check_choices(policies: Policies | None, on_loss: OnLoss) -> Mapping[str, str] | None:
    """Return the policies of a caller. Raise ValueError with the valid choices if `on_loss` or a policy is invalid."""
    if on_loss not in ("report", "raise"):
        raise ValueError(f"on_loss is {on_loss!r}: expected 'report' or 'raise'")
    return check_policies(policies)


def check_policies(policies: Policies | None) -> Mapping[str, str] | None:
    """Return the policies of a caller. Raise ValueError with the valid choices if a policy is invalid."""
    chosen = cast("Mapping[str, str] | None", policies)
    for family, policy in (chosen or {}).items():
        if family == "capabilities":
            check_choice(policy)
        elif family == "output_limit":
            output_limit_of(policy)
        elif family not in TEXT_POLICIES and policy not in POLICIES.get(family, ()):
            choices = "; ".join(f"{name}: {' | '.join(options)}" for name, options in POLICIES.items())
            more = "capabilities: MODEL | any | JSON; output_limit: N; session: ID; directory: PATH; dialect: HOST"
            raise ValueError(f"unknown policy {family}={policy}: expected {choices}; {more}")
    return chosen


def output_limit_of(policy: str) -> int:
    """Return the number of the policy `output_limit`. Raise ValueError if it is not a positive number."""
    limit = whole_number(policy)
    if not limit:
        raise ValueError(f"unknown policy output_limit={policy}: expected a number of tokens")
    return limit


def lower(content: object, union: Union, context: EncodeContext) -> list[AIContent]:
    """Return replacements of a content that `union` has rows for. If there are none, report a loss and return []."""
    for kind, function in _LOWERINGS:
        if isinstance(content, kind):
            made = [c for c in function(content, context) if type(c) is not type(content)]
            lowered = [c for c in made if union.has(type(c), native=context.native)]
            if lowered:
                return lowered
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


def text_of(content: object, context: EncodeContext) -> str:
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
        text_of(part, context)


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
        kept = ReasoningContent(text=content.text, extra=COLUMN.extra(context.api, policy))
        return [context.replaced(content, kept)]
    if policy != "text":
        return []
    context.degrade(content, reasons.REASONING_AS_TEXT, "text", "kind")
    between = "" if content.text.endswith("\n\n") or (is_last and context.kind == "request") else "\n\n"
    return [context.replaced(content, TextContent(text=content.text + between))]


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
    changed: ReasoningContent = context.replace(content, extra={**extra, api: residue})
    return changed


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
    made = FunctionCallContent(call_id=content.call_id, name=name, arguments=arguments or {}, extra=extra)
    return [context.replaced(content, made)]


def as_function_result(content: ToolResultContent, context: EncodeContext) -> list[AIContent]:
    """Convert a result of another kind to a function result; [] if it cannot be one."""
    if not crosses_as_function(content, context):
        return []
    context.degrade(content, reasons.AS_FUNCTION_RESULT, "call_id", "name", "outputs", "is_error", "tools")
    is_error = content.is_error or (True if content.error is not None else None)
    outputs = [_output(output, context) for output in without_settings(content.output_list, context)] + _listed(content)
    extra = token_of(content.extra, context.api)
    made = FunctionResultContent(
        call_id=content.call_id, name=content.name, outputs=outputs, is_error=is_error, extra=extra
    )
    return [context.replaced(content, made)]


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

FUNCTION_PAIR = (FunctionCallContent, FunctionResultContent, CustomToolCallContent, CustomToolResultContent)
