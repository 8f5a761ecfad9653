"""Hosted tools that a framework keeps, shared by the providers: their calls and results return as the provider's own.

Each provider has a module with its table: `claude_results`, `openai_results` and `gemini_results`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from contentmodel.adapter import adapter as installed
from contentmodel.authoring import EncodeContext, is_native, object_of, reasons
from contentmodel.content.base import AIContent
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel.errors import DecodeError
from contentmodel.interop.front_ends import arguments_of
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.hosted_tools import CALLS

ANTHROPIC, GOOGLE = "anthropic-messages", "google-generate-content"
PYDANTIC_AI, UI_MESSAGES, MODEL_MESSAGES = "pydantic-ai-messages", "vercel-ui-messages", "vercel-model-messages"
TYPES = tuple(CALLS.values())
"""The classes of the calls of hosted tools."""
Own = Callable[[Any, Any, Origin], list[Any]]
"""A function that returns a call and a result of the target, for those that a framework keeps; [] if it has none."""


def is_hosted(content: Any, kind: type[Any]) -> bool:
    """Return whether a content is a call or a result, with an id, of a tool that a provider runs."""
    return isinstance(content, kind) and content.executor == "provider" and content.call_id is not None


def has_failed(result: ToolResultContent) -> bool:
    """Return whether a result is a failure."""
    return result.is_error is True or result.error is not None


# -- from a framework --------------------------------------------------------------------------------------------------


SDK_FORMATS = (UI_MESSAGES, MODEL_MESSAGES)
"""The formats of the Vercel AI SDK."""


def is_kept(message: ChatMessage, formats: Collection[str], context: EncodeContext) -> bool:
    """Return whether a message came from one of these formats to another API."""
    return message.origin is not None and message.origin.api in formats and not is_native(message, context)


def with_own_contents(request: ChatRequest, context: EncodeContext, formats: Collection[str], own: Own) -> ChatRequest:
    """Return a request whose hosted calls and results in messages of frameworks are the target's own.

    They stay hosted. Those for which `own` returns [] are unchanged.
    """
    if context.policies.get("hosted_tools", "function") != "function":
        return request
    changed = [list(message.contents) for message in request.messages]
    calls: dict[Any, tuple[list[Any], int]] = {}
    for message, contents in zip(request.messages, changed, strict=True):
        if message.origin is not None and is_kept(message, formats, context):
            _change(contents, calls, message.origin, context, own)
    pairs = zip(request.messages, changed, strict=True)
    return context.with_messages(request, [context.with_contents(message, contents) for message, contents in pairs])


def _change(
    contents: list[Any], calls: dict[Any, tuple[list[Any], int]], origin: Origin, context: EncodeContext, own: Own
) -> None:
    """Change the contents of a message, and the calls of earlier ones: a result may follow those of other tools.

    `calls` has the place of each call, by its id.
    """
    calls.update({call.call_id: (contents, at) for at, call in enumerate(contents) if is_hosted(call, ToolCallContent)})
    for at, result in enumerate(contents):
        place = calls.get(getattr(result, "call_id", None))
        if place is None or not is_hosted(result, ToolResultContent):
            continue
        earlier, before = place
        if made := own(earlier[before], result, origin):
            earlier[before], contents[at] = _replaced((earlier[before], result), made, context)


def _replaced(kept: tuple[Any, Any], made: list[Any], context: EncodeContext) -> Iterator[Any]:
    """Yield the target's contents, recorded as replacements. The name of the tool may be another one, or missing."""
    name = made[0].name
    for old, new in zip(kept, made, strict=True):
        if name is None and old.name is not None:
            context.report_loss(old, "name", reasons.FIXED_NAME)
        elif name is not None and old.name not in (None, name):
            context.report_loss(old, "name", reasons.OTHER_VALUE, value=name)
            if isinstance(old, ToolCallContent) and "type" in arguments_of(old):
                context.report_loss(old, "arguments$.type", reasons.OTHER_VALUE, value=name)
        yield with_own(old, new, context)


def with_own(old: Any, new: Any, context: EncodeContext, residue: dict[str, Any] | None = None, **changes: Any) -> Any:
    """Return a content of the target in place of one that a framework keeps. It stays hosted.

    `residue` are the fields of the framework that are left, by API. `changes` are other values of attributes.
    """
    extra = {**(old.extra or {}), **(new.extra or {}), **(residue or {})}
    left = {api: fields for api, fields in extra.items() if fields}
    own = context.replaced(old, replace(new, cache_point=old.cache_point, extra=left or None, **changes))
    context.own_contents[id(own)] = own
    return own


def provider_in(metadata: dict[str, Any], providers: Collection[str]) -> str:
    """Return the first of some providers that has values; "" if none has."""
    return next((name for name in providers if object_of(metadata, name)), "")


def without_values(residue: dict[str, Any], at: str, names: Collection[str], only: str = "") -> dict[str, Any]:
    """Return the fields of a part without the values `names` of providers in its field `at`.

    Objects that become empty are left out. If `only` is the name of a provider, the values of others stay.
    """
    left: dict[str, Any] = {}
    for provider, values in object_of(residue, at).items():
        is_kept_whole = values.__class__ is not dict or provider != (only or provider)
        rest = values if is_kept_whole else {name: value for name, value in values.items() if name not in names}
        if rest or not values:
            left[provider] = rest
    return {**{name: value for name, value in residue.items() if name != at}, **({at: left} if left else {})}


def kept_parts(call: AIContent, result: AIContent, origin: Origin) -> list[dict[str, Any]]:
    """Return the parts that the framework keeps of a call and its result."""
    message = ChatMessage(role="assistant", contents=[call, result], origin=origin)
    payload: Any = installed(origin.api).encode_request(ChatRequest(messages=[message], origin=origin)).payload
    written = payload["messages"] if isinstance(payload, dict) else payload
    parts = written[0].get("content" if origin.api == MODEL_MESSAGES else "parts") if written else None
    found = parts if isinstance(parts, list) else []
    return [part for part in found if isinstance(part, dict) and part.keys() & {"toolCallId", "tool_call_id"}]


class SdkPair(NamedTuple):
    """A call and its result, as the AI SDK keeps them."""

    name: str
    call_id: str
    arguments: Any
    value: Any
    """The output of the tool. The text of a failure may be JSON."""
    failed: bool
    of_call: dict[str, Any]
    of_result: dict[str, Any]
    """The values of providers, by the name of the provider."""


def at_result(at: str) -> str:
    """Return the field of results with the values of providers, from that of calls: UI messages have both in a part."""
    return "resultProviderMetadata" if at == "callProviderMetadata" else at


def sdk_pair(parts: list[dict[str, Any]]) -> SdkPair | None:
    """Return the call and the result that parts of the AI SDK have: one of UI messages, or two of model messages."""
    call, result = parts[0], parts[-1]
    name = call.get("toolName", str(call.get("type")).removeprefix("tool-"))
    arguments = json_of(call.get("input"))
    if not isinstance(name, str) or not isinstance(call.get("toolCallId"), str):
        return None
    if len(parts) == 1:
        failed = result.get("state") == "output-error"
        value, of_call = result.get("errorText" if failed else "output"), object_of(call, "callProviderMetadata")
        of_result = object_of(result, "resultProviderMetadata") or of_call
    else:
        output = object_of(result, "output")
        failed, value = str(output.get("type")).startswith("error-"), output.get("value")
        of_call, of_result = (object_of(part, "providerOptions") for part in parts)
    return SdkPair(name, call["toolCallId"], arguments, json_of(value), failed, of_call, of_result)


def decoded(api: str, payload: dict[str, Any]) -> list[Any]:
    """Return the contents of a payload with one message; [] if the API has no such message."""
    try:
        return installed(api).decode_request(payload).messages[0].contents
    except DecodeError:
        return []


def block_of(content: Any, api: str) -> dict[str, Any]:
    """Return the block of a result in the format of its provider; {} if it has no block there."""
    origin = Origin(api=api, issuer=installed(api).issuer)
    message = ChatMessage(role="assistant", contents=[content], origin=origin)
    payload = installed(api).encode_request(ChatRequest(messages=[message], origin=origin)).payload
    messages = payload["contents" if api == GOOGLE else "messages"] or [{}]
    blocks = messages[0].get("parts" if api == GOOGLE else "content")
    block = blocks[0] if blocks.__class__ is list and len(blocks) == 1 else None
    return block if block.__class__ is dict else {}


def json_of(value: Any) -> Any:
    """Return the JSON value of a result. Requests have JSON as texts before the steps."""
    try:
        return json.loads(value) if value.__class__ is str and value[:1] in ("{", "[") else value
    except (ValueError, RecursionError):
        return value
