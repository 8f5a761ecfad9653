"""The common part of both APIs of Gemini: signatures of thoughts, and pages that could not be read.

In generateContent, any part may have a signature, usually the first call or text after a thought. In Interactions, the
thought has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

import msgspec

from contentmodel.authoring import (
    Codec,
    DecodeContext,
    EncodeContext,
    Opaque,
    camel_name,
    is_native,
    reasons,
    snake_name,
    stays,
)
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest, HostedTool

ISSUER = "google"
SKIP = "skip_thought_signature_validator"
"""The placeholder signature of a call that no model of Google made (ai.google.dev/gemini-api/docs/thought-signatures,
seen 2026-11-21).
"""


PLACEHOLDER = Protected(issuer=ISSUER, kind="signature", data=SKIP)


class Signature(Opaque):
    """A signature. The placeholder and an empty text are none: they stay in the residue.

    A thought with a summary may have an empty one, which the API then refuses (googleapis/js-genai#1735).
    """

    def __init__(self) -> None:
        super().__init__(ISSUER, "signature")

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value not in ("", SKIP)


class Unread(Codec[str]):
    """The address of a page that could not be read, as an error message."""

    classes = (str,)
    identity = False
    prefix = "could not read "

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> str:
        return f"{self.prefix}{value}"

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> str:
        return str(value).removeprefix(self.prefix)

    def describe(self) -> str:
        return "str"


def is_signed(content: Any) -> bool:
    """Return whether a content has a signature of Google."""
    protected = getattr(content, "protected", None)
    return protected is not None and protected.issuer == ISSUER and protected.kind == "signature"


# The signatures of these are not moved. If a hosted call or result is dropped, its signature is dropped with it.
_KEEP_SIGNATURES = (ReasoningContent, HostedToolCallContent, HostedToolResultContent)


def with_signed_thoughts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose signatures are on the thought before a text or call, as in Interactions."""
    return [
        message if is_native(message, context) else context.with_contents(message, _divided(message.contents, context))
        for message in messages
    ]


def _divided(contents: Sequence[Any], context: EncodeContext) -> list[Any]:
    divided: list[Any] = []
    for content in contents:
        if is_signed(content) and not isinstance(content, _KEEP_SIGNATURES):
            last = divided[-1] if divided else None
            if isinstance(last, ReasoningContent) and last.protected is None:
                divided[-1] = context.replace(last, protected=content.protected)
            else:
                divided.append(context.replaced(content, ReasoningContent(protected=content.protected)))
            content = context.replace(content, protected=None)
        divided.append(content)
    return divided


MOVED_SIGNATURE = reasons.moved(
    "google-moved-signature",
    "{target} has the signature of a thought on the text or call after it: the signature is moved there",
)


def with_signed_parts(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages whose signatures are on the text or call after a thought, as in generateContent."""
    return [
        message if is_native(message, context) else context.with_contents(message, _joined(message.contents, context))
        for message in messages
    ]


def _joined(contents: Sequence[Any], context: EncodeContext) -> list[Any]:
    joined: list[Any] = []
    pending: Any = None
    for content in contents:
        if pending is not None and content.protected is None and not isinstance(content, _KEEP_SIGNATURES):
            signed = context.replace(content, protected=pending.protected)
            if pending.text:
                context.report_loss(pending, "protected", MOVED_SIGNATURE)
                joined[-1] = context.replace(pending, protected=None)
            else:
                context.report_lost_attributes(pending, ("annotations", "cache_point"))
                context.leave_residue(pending, own=True)
                joined[-1:] = []
            content = signed
        joined.append(content)
        pending = content if isinstance(content, ReasoningContent) and is_signed(content) else None
    return joined


def with_signed_call(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API or model with a placeholder signature on its first call."""
    contents: list[Any] = list(message.contents)
    at = next((at for at, content in enumerate(contents) if content.__class__ is FunctionCallContent), None)
    if at is None or contents[at].protected is not None:
        return message
    context.report_loss(contents[at], "protected", reasons.PLACEHOLDER_SIGNATURE)
    contents[at] = msgspec.structs.replace(contents[at], protected=PLACEHOLDER)
    return msgspec.structs.replace(message, contents=contents)


def with_signed_turns(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with a thought with the placeholder before each turn of another API with calls, if it has none.

    Interactions refuses calls of Gemini 3 without a signed thought (earendil-works/pi#2172, seen 2026-11-28).
    """
    signed = []
    for message in messages:
        call = next((content for content in message.contents if content.__class__ is FunctionCallContent), None)
        if call is not None and not stays(message, context) and not any(map(is_signed, message.contents)):
            context.report_loss(call, "protected", reasons.PLACEHOLDER_SIGNATURE)
            message = context.with_contents(message, [ReasoningContent(protected=PLACEHOLDER), *message.contents])
        signed.append(message)
    return signed


# -- hosted tools --------------------------------------------------------------------------------------------------

APIS = frozenset({"google-generate-content", "google-interactions"})
SAME_SETTINGS = {
    "maps": ("enableWidget",),
    "file_search": ("fileSearchStoreNames", "topK", "metadataFilter"),
    "computer": ("environment", "excludedPredefinedFunctions", "enablePromptInjectionDetection"),
}
"""The settings that the tools of both APIs have (google-genai 3.4, types.py and _gaos, seen 2026-11-27).

generateContent spells them in camel case and environments in capitals, Interactions in snake case and in small letters.
"""
_PREFIX = "ENVIRONMENT_"
SPELLING = reasons.insignificant("google-environment", "{target} spells the environment of a computer in another way")


def with_tools_of_kin(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request whose hosted tools of the other API have their settings in the spelling of this one."""
    origin = context.origin
    if origin is None or origin.api not in APIS or context.native:
        return request
    tools = [_respelled(tool, context) for tool in request.tools]
    return request if all(map(is_, tools, request.tools)) else context.replace(request, tools=tools)


def _respelled(tool: Any, context: EncodeContext) -> Any:
    names = SAME_SETTINGS.get(tool.kind, ()) if tool.__class__ is HostedTool else ()
    known = {name: value for name, value in tool.settings.items() if camel_name(name) in names} if names else {}
    if not names or (tool.settings and not known):
        return tool
    for name in tool.settings.keys() - known.keys():
        context.report_loss(tool, f"settings.{name}", reasons.TOOL_SETTING, tag=tool.kind)
    is_snake = context.api == "google-interactions"
    settings = {snake_name(name) if is_snake else camel_name(name): value for name, value in known.items()}
    where = settings.get("environment")
    if where.__class__ is str:
        settings["environment"] = where.removeprefix(_PREFIX).lower() if is_snake else f"{_PREFIX}{where.upper()}"
        context.report_loss(tool, "settings.environment", SPELLING)
    return context.replace(tool, settings=settings, extra={**(tool.extra or {}), context.api: {}})


# -- fields of requests --------------------------------------------------------------------------------------------

_CATEGORY = "HARM_CATEGORY_"
SAFETY = reasons.insignificant("google-safety-settings", "{target} spells safety settings in another way")


def with_fields_of_kin(request: ChatRequest, context: EncodeContext) -> ChatRequest:
    """Return a request with the cached content, the labels and the safety settings of the other API."""
    origin = context.origin
    if origin is None or origin.api not in APIS or context.native:
        return request
    extra, is_snake = request.extra or {}, context.api == "google-interactions"
    left, same = dict(extra.get(origin.api, {})), {}
    for key, value in extra.get(origin.api, {}).items():
        name = camel_name(key)
        if name == "safetySettings" and _are_settings(value, is_snake=is_snake):
            context.report_loss(request, key, SAFETY, api=origin.api)
            value = [_respelled_setting(setting, is_snake=is_snake) for setting in value]
        elif name not in ("cachedContent", "labels"):
            continue
        same[snake_name(name) if is_snake else name] = value
        del left[key]
    if not same:
        return request
    own = {**same, **extra.get(context.api, {})}
    return context.replace(request, extra={**extra, origin.api: left, context.api: own})


def _are_settings(value: Any, *, is_snake: bool) -> bool:
    """Return whether these are safety settings of the other API, with no other fields."""
    known = {"category" if is_snake else "type", "threshold", "method"}
    return value.__class__ is list and all(
        item.__class__ is dict and item.keys() <= known and all(text.__class__ is str for text in item.values())
        for item in value
    )


def _respelled_setting(setting: dict[str, str], *, is_snake: bool) -> dict[str, str]:
    """Return a safety setting of the other API in the spelling of this one."""
    if is_snake:
        names = {"category": "type"}
        return {names.get(key, key): text.removeprefix(_CATEGORY).lower() for key, text in setting.items()}
    texts = {key: text.upper() for key, text in setting.items()}
    category = {"category": f"{_CATEGORY}{texts.pop('type')}"} if "type" in texts else {}
    return {**category, **texts}
