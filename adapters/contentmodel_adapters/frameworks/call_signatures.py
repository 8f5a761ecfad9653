"""The signatures of Gemini's calls, for formats that store them outside of the calls, by call id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.authoring import DecodeContext, EncodeContext
from contentmodel.content.base import Protected
from contentmodel.content.tools import ToolCallContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.common import reasoning


def is_signed(content: Any) -> bool:
    """Return whether a content is a call with an id and a signature of Google."""
    return isinstance(content, ToolCallContent) and bool(content.call_id) and reasoning.is_signed(content)


def sign(
    message: ChatMessage, places: Mapping[str, tuple[dict[str, Any], str]], context: DecodeContext, issuer: str
) -> None:
    """Set the signatures of the first call with each id, in place. A place is a wire object and the key in it."""
    remaining = dict(places)
    call: Any
    for at, call in enumerate(message.contents if places else ()):
        is_unsigned = isinstance(call, ToolCallContent) and call.protected is None
        place = remaining.pop(call.call_id or "", None) if is_unsigned else None
        if place is not None:
            container, key = place
            signature = Protected(issuer=issuer, kind="signature", data=container[key])
            message.contents[at] = context.replace(call, protected=signature)
            context.trace(None, [signature], container, key, spread=False)


def without_signatures(
    message: ChatMessage, context: EncodeContext, holds: Callable[[Any], bool] = is_signed
) -> tuple[ChatMessage, dict[str, str]]:
    """Return a message without the signatures of calls for which `holds` is true, and these signatures by call id."""
    signatures: dict[str, str] = {}
    contents: list[Any] = []
    call: Any
    for call in message.contents:
        if holds(call) and call.call_id not in signatures:
            signatures[call.call_id] = call.protected.data
            call = context.replace(call, protected=None)
        contents.append(call)
    return context.with_contents(message, contents), signatures
