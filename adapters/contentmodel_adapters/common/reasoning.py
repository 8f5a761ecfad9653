"""Reasoning: the makers whose opaque state hosts pass on, the signatures of Gemini, and the parts of thoughts.

In generateContent, any part may have a signature, usually the first call or text after a thought. In Interactions, the
thought has it. In the Responses API, the parts of an item have the fields of the item in common.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Hint, Opaque, Union, hints, makers, reasons
from contentmodel.content.base import Protected
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, HostedToolCallContent, HostedToolResultContent
from contentmodel.message import ChatMessage

_BEFORE = "(?:^|[/.@:]|^databricks-)"
MAKERS = {maker: rf"{_BEFORE}(?:{makers.NAMES[maker]})" for maker in ("anthropic", "google")}
"""The makers of models whose opaque state proxies pass on, with the pattern of the names of their models."""
OF_SEALED = {**MAKERS, "xai": rf"(?:^|[/.@:])(?:{makers.NAMES['xai']})"}
"""The makers, besides OpenAI, of models whose encrypted reasoning hosts of the Responses API send."""


def maker_of(model: str | None) -> str | None:
    """Return the maker of a model if proxies pass on its opaque state; else None."""
    return _maker_in(MAKERS, model)


def sealer_of(model: str | None) -> str | None:
    """Return the maker of a model if its encrypted reasoning is not OpenAI's; None if it is, or is unknown."""
    return _maker_in(OF_SEALED, model)


def _maker_in(patterns: Mapping[str, str], model: str | None) -> str | None:
    return next((maker for maker, names in patterns.items() if model and re.search(names, model)), None)


# -- items of the Responses API ----------------------------------------------------------------------------------------

RESPONSES = "openai-responses"
ITEM = Hint[dict[str, Any]](
    RESPONSES, "item", "the fields of the item that the content was a part of, on its first part", fields=True
)

# -- signatures of Gemini ----------------------------------------------------------------------------------------------


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


# -- parts of thoughts -------------------------------------------------------------------------------------------------


def decode_parts(
    wires: list[Any], field: str, union: Union, is_known: Callable[[Any], bool], context: DecodeContext
) -> list[Any]:
    """Decode each part in `field` of a thought by itself. One that is not known becomes an unknown content."""
    return [
        union.decode(wire, context)
        if is_known(wire)
        else hints.COLUMN.on(UnknownContent(api=context.api, block=wire), context.api, field)
        for wire in wires
    ]


def with_last_thought(parts: list[Any], owner: Any, field: str, context: DecodeContext) -> list[Any]:
    """Return parts whose last one can have the state of the thought. An empty one is added if the last is unknown."""
    if parts and isinstance(parts[-1], ReasoningContent):
        return parts
    last = ReasoningContent()
    context.trace(None, [last], owner, field, spread=False)
    return [*parts, last]


def unknown_part_of(content: Any, api: str) -> str | None:
    """Return the field of a thought that an unknown content is a part of; None if it is no such content."""
    return hints.COLUMN.of(content, api) if content.__class__ is UnknownContent else None
