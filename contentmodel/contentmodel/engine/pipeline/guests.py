"""Guests in requests: a format writes them as its parts, and their provider keeps those that it accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.engine.pipeline.census import HOSTED
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.pipeline.steps import needs
from contentmodel.engine.table.hints import GUEST

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import EncodeContext
    from contentmodel.engine.json import JsonArray, JsonObject
    from contentmodel.engine.table.guests import Guest
    from contentmodel.message import ChatMessage
    from contentmodel.request import ChatRequest


@needs(*HOSTED, makes=lambda facts: {UnknownContent})
def with_guests(messages: list[ChatMessage], context: EncodeContext, guests: Sequence[Guest] = ()) -> list[ChatMessage]:
    """Return messages whose guests are the parts of the target's format: unknown contents, which no step changes.

    Guests are the contents of these providers: those that a part was decoded to, and calls and results of hosted tools
    in messages of their APIs. Those that no form has are unchanged, and so are those that become texts by the policy.
    """
    is_function = context.policies.get("hosted_tools", "function") == "function"
    by_api = {guest.api: guest for guest in guests}
    calls: dict[Any, JsonObject] = {}
    changed = []
    for message in messages:
        is_kept = message.role == "assistant" and (is_function or is_native(message, context))
        guest_contents = _by_guest(message, by_api) if is_kept else {}
        parts: dict[int, JsonArray] = {}
        for api, contents in guest_contents.items():
            for group in by_api[api].adapter.block_groups(contents):
                made = by_api[api].encode(group, calls, context)
                parts.update({id(content): own for content, own in zip(group, made or (), strict=made is not None)})
        if parts:
            contents = [one for content in message.contents for one in _as_parts(content, parts, context)]
            message = context.with_contents(message, contents)
        changed.append(message)
    return changed


def _by_guest(message: ChatMessage, guests: dict[str, Guest]) -> dict[str, list[AIContent]]:
    """Return the contents of guests by the API of their provider."""
    origin = message.origin.api if message.origin is not None else ""
    found: dict[str, list[AIContent]] = {}
    for content in message.contents:
        if not isinstance(content, ToolCallContent | ToolResultContent):
            continue
        named = next((api for api in content.extra or () if api in guests and GUEST.of(content, api)), None)
        api = named or (origin if origin in guests and content.executor == "provider" else None)
        if api is not None:
            found.setdefault(api, []).append(content)
    return found


def _as_parts(content: AIContent, parts: dict[int, JsonArray], context: EncodeContext) -> Iterable[AIContent]:
    if id(content) not in parts:
        return (content,)
    return [context.replaced(content, UnknownContent(api=context.api, block=part)) for part in parts[id(content)]]


@needs(*HOSTED)
def with_whole_guests(
    request: ChatRequest,
    context: EncodeContext,
    accepts: Callable[[Any, ChatRequest, EncodeContext], bool] | None = None,
) -> ChatRequest:
    """Return a request in which the target's guests in messages of other formats are such as the target accepts.

    Others are contents of their provider like those of any other API. A call or a result needs its other half; a call
    without a result may have made other calls. `accepts` is a further condition.
    """
    guests = [
        content
        for message in request.messages
        if not is_native(message, context)
        for content in message.contents
        if content.extra is not None and GUEST.of(content, context.api) is not None
    ]
    if not guests:
        return request
    ids: dict[bool, set[Any]] = {
        is_call: {getattr(guest, "call_id", None) for guest in guests if isinstance(guest, ToolCallContent) is is_call}
        for is_call in (True, False)
    }
    contents = [content for message in request.messages for content in message.contents]
    calls = [content for content in contents if isinstance(content, ToolCallContent)]
    callers = {call.caller.call_id for call in calls if call.caller is not None and call.caller.call_id is not None}
    whole = ids[True] & (ids[False] | callers)
    refused = {
        id(guest)
        for guest in guests
        if getattr(guest, "call_id", None) not in whole
        or (accepts is not None and not accepts(guest, request, context))
    }
    messages = [
        context.with_contents(message, [_if_accepted(content, refused, context) for content in message.contents])
        for message in request.messages
    ]
    return context.with_messages(request, messages)


def _if_accepted(content: AIContent, refused: set[int], context: EncodeContext) -> AIContent:
    return without_guest(content, context) if id(content) in refused else content


def without_guest(content: Any, context: EncodeContext) -> Any:
    """Return a content that is no guest of the target: it is handled like a content of another API."""
    if content.extra is None or GUEST.of(content, context.api) is None:
        return content
    own = {key: value for key, value in content.extra[context.api].items() if key != GUEST.key}
    return context.replace(content, extra={**content.extra, context.api: own})
