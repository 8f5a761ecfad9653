"""Signatures of the thoughts of Gemini, in its own APIs and those of other hosts, and pages that could not be read.

In generateContent, any part may have a signature, usually the first call or text after a thought. In Interactions, the
thought has it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Opaque, reasons
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage

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


KEEP_SIGNATURES = (ReasoningContent, HostedToolCallContent, HostedToolResultContent)
"""Contents whose signatures are not moved. If a hosted call or result is dropped, its signature is dropped with it."""


def with_signed_call(message: ChatMessage, context: EncodeContext) -> ChatMessage:
    """Return a message of another API or model with a placeholder signature on its first call."""
    contents: list[Any] = list(message.contents)
    at = next((at for at, content in enumerate(contents) if content.__class__ is FunctionCallContent), None)
    if at is None or contents[at].protected is not None:
        return message
    context.report_loss(contents[at], "protected", reasons.PLACEHOLDER_SIGNATURE)
    contents[at] = msgspec.structs.replace(contents[at], protected=PLACEHOLDER)
    return msgspec.structs.replace(message, contents=contents)
