"""The ids of approvals of calls that the application runs: in the model, such an approval has the id of its call.

The formats of the AI SDK, Microsoft.Extensions.AI and Agent Framework also have the approval's own id.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import EncodeContext, Hint, content_step, is_native, object_or_text, reasons, with_contents
from contentmodel.content.hosted import McpServerToolCallContent
from contentmodel.content.tools import (
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
)
from contentmodel.interop.front_ends import call_of
from contentmodel.message import ChatMessage

APPROVALS = (ToolApprovalRequestContent, ToolApprovalResponseContent)
APPROVAL_ID = Hint[str](
    None, "approval", "the id of the approval of a client call: in the model, such an approval has the id of the call"
)
ID_FIELDS = {"meai": "requestId", "agent-framework": "id"}
"""The fields that hold the id of such an approval in the residue, by API."""


def approval_id(content: Any) -> str | None:
    """Return the id that an approval had in a format of the AI SDK; None if it had none."""
    return next((own_id for api in content.extra or () if (own_id := APPROVAL_ID.of(content, api)) is not None), None)


def _with_own_id(content: Any, context: EncodeContext) -> Any:
    """Return an approval of another API with its own id as this API stores it."""
    extra = dict(content.extra or {})
    own_id = approval_id(content)
    for api, field in ID_FIELDS.items():
        if api != context.api and isinstance((extra.get(api) or {}).get(field), str):
            own_id = extra[api][field]
            extra[api] = {key: value for key, value in extra[api].items() if key != field}
    residue = extra.get(context.api) or {}
    field = ID_FIELDS.get(context.api, APPROVAL_ID.key)
    return content if own_id is None else replace(content, extra={**extra, context.api: {field: own_id, **residue}})


WITH_OWN_IDS = content_step(_with_own_id, *APPROVALS, own="always", needs=APPROVALS)
"""The step of formats that store the ids of approvals."""


def _without_own_id(content: Any, context: EncodeContext) -> Any:
    """Report the own id of an approval of the AI SDK."""
    if approval_id(content) is not None:
        context.report_loss(content, "request_id", reasons.NO_FIELD)
    return content


WITHOUT_OWN_IDS = content_step(_without_own_id, *APPROVALS, own="always", needs=APPROVALS)
"""The step of formats in which an approval has only the id of its call."""


def report_request(request: ToolApprovalRequestContent, call: ToolCallContent | None, context: EncodeContext) -> None:
    """Report what a request has that its call does not have, for formats that write only the call."""
    if call is None or request.name != call.name:
        context.report_lost_attributes(request, ("name",))
    if call is None or _value_of(request.arguments) != _value_of(call.arguments):
        context.report_lost_attributes(request, ("arguments",))
    elif request.arguments is not None and not ID_FIELDS.keys().isdisjoint(request.extra or ()):
        context.report_loss(request, "arguments", reasons.REPEATED_CALL)


def _value_of(arguments: Any) -> Any:
    """Return arguments as an object, if they are its JSON text."""
    return object_or_text(arguments) if isinstance(arguments, str) else arguments


def _asked_call(request: ToolApprovalRequestContent) -> ToolCallContent:
    """Return the call that a request asks for. The AI SDK requires a result of each call but those of the provider."""
    if request.server is None:
        return call_of(request)
    return McpServerToolCallContent(
        call_id=request.request_id, name=request.name, server=request.server, arguments=request.arguments or {}
    )


def with_asked_calls(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with a call before each request for approval without one: the AI SDK finds it by its id."""
    calls: set[str | None] = set()
    hosted: Any = None
    completed = []
    for message in messages:
        contents: list[Any] = []
        for content in message.contents:
            if isinstance(content, ToolCallContent):
                calls.add(content.call_id)
                hosted = content if content.executor == "provider" else hosted
            elif isinstance(content, ToolApprovalRequestContent) and not is_native(message, context):
                is_asked = content.request_id in calls or (hosted is not None and hosted.name == content.name)
                contents += [] if is_asked else [context.replaced(content, _asked_call(content))]
                calls.add(content.request_id)
                if not is_asked:
                    context.report_loss(content, None, reasons.CALL_OF_APPROVAL)
            contents.append(content)
        completed.append(with_contents(message, contents))
    return completed


def without_approval(content: Any, context: EncodeContext) -> Any:
    """Leave out an approval."""
    context.report_loss(content, None, reasons.NO_FIELD)
    return []


def _is_version_5(context: EncodeContext) -> bool:
    return context.policies.get("ai_sdk") == "5"


WITHOUT_APPROVALS = content_step(without_approval, *APPROVALS, own="always", needs=APPROVALS, on=_is_version_5)
"""The step of version 5 of the AI SDK, which has no approvals."""
