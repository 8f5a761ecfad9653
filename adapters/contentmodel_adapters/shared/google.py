"""The common part of both APIs of Gemini: signatures of thoughts, and pages that could not be read.

In generateContent, any part may have a signature, usually the first call or text after a thought. In Interactions, the
thought has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Opaque, is_native, reasons
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage

ISSUER = "google"
SKIP = "skip_thought_signature_validator"
"""The placeholder signature of a call that no model of Google made (ai.google.dev/gemini-api/docs/thought-signatures,
seen 2026-11-21).
"""


class Signature(Opaque):
    """A signature. The placeholder is not a signature: it stays in the residue, and is not sent to other APIs."""

    def __init__(self) -> None:
        super().__init__(ISSUER, "signature")

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != SKIP


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
    protected = content.protected
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


def with_signed_calls(messages: list[ChatMessage], context: EncodeContext) -> list[ChatMessage]:
    """Return messages with a placeholder signature on the first call of each turn of another API."""
    signed = []
    for message in messages:
        place = next((i for i, c in enumerate(message.contents) if c.__class__ is FunctionCallContent), None)
        if place is not None and message.contents[place].protected is None and not is_native(message, context):
            contents = list(message.contents)
            contents[place] = _signed(contents[place], context)
            message = context.replace(message, contents=contents)
        signed.append(message)
    return signed


def _signed(call: Any, context: EncodeContext) -> Any:
    context.report_loss(call, "protected", reasons.PLACEHOLDER_SIGNATURE)
    sealed = Protected(issuer=ISSUER, kind="signature", data=SKIP)
    return context.replace(call, protected=sealed)
