"""Anchors: parts with the signature of a Gemini call. Inspect AI writes them as redacted reasoning with the call's id.

Decoding moves the signature to the call. A hint on the message keeps the anchors and their positions, and encoding
writes them there.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import DecodeContext, Hint, objects_of
from contentmodel.content.outcomes import UnknownContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.call_signatures import sign
from contentmodel_adapters.frameworks.inspect.values import API

ANCHORS = Hint[list[list[Any]]](
    API, "anchors", "the parts that have signatures of calls, each with its index in the content"
)
_ID = "gemini_function_call_id"


def is_anchor(part: Any) -> bool:
    """Return whether a part of a message is an anchor: it has the id of a call, and its signature or an empty text."""
    if part.__class__ is not dict or part.get("type") != "reasoning" or part.get("redacted") is not True:
        return False
    internal = part.get("internal")
    has_id = internal.__class__ is dict and internal.get(_ID).__class__ is str
    return has_id and part.get("reasoning").__class__ is str and "summary" not in part


def with_signatures(message: ChatMessage, wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    """Return a decoded message whose calls have the signatures of the anchors."""
    parts: Any = wire.get("content")
    anchors = [[at, part] for at, part in enumerate(parts) if is_anchor(part)] if parts.__class__ is list else []
    if not anchors:
        return message
    signatures = {part["internal"][_ID]: (part, "reasoning") for _, part in reversed(anchors) if part["reasoning"]}
    sign(message, signatures, context, "google")
    return context.replaced(message, ANCHORS.on(message, API, anchors))


def write_anchors(wire: dict[str, Any], message: ChatMessage, signatures: dict[str, str]) -> None:
    """Write the anchors that the hint of a message has, and new anchors for other signed calls."""
    calls = [*objects_of(wire, "tool_calls"), *objects_of(wire, "content")]
    ids = {call.get("id") for call in calls if call.get("id").__class__ is str}
    # Decoding gives no signature to a call of an unknown form: its anchor has it.
    unknown = [content.block for content in message.contents if isinstance(content, UnknownContent)]
    ids -= {block["id"] for block in unknown if block.__class__ is dict and block.get("id").__class__ is str}
    hinted = [item for item in ANCHORS.of(message, API) or () if [type(value) for value in item] == [int, dict]]
    anchors = [(at, part) for at, part in hinted if is_anchor(part)]
    if not anchors and not signatures:
        return
    content = wire.get("content") or []
    parts = [{"type": "text", "text": content}] if content.__class__ is str else [*content]
    for at, part in anchors:
        call_id = part["internal"][_ID]
        if call_id in ids:
            part = {**part, "reasoning": signatures.pop(call_id, "")}
        parts.insert(max(0, at), part)
    for call_id, data in signatures.items():
        parts.append({"type": "reasoning", "reasoning": data, "redacted": True, "internal": {_ID: call_id}})
    wire["content"] = parts
