"""Messages of version 4 of the AI SDK, which stored chats have. They are read, and written back in the same form.

A call and its result are a "tool invocation": a part of the message, or an item of its field `toolInvocations`. Before
version 4.2, a message had no parts: its text is the field `content`. Source: `packages/ui-utils/src/types.ts` and
`convert-to-core-messages.ts` of ai 4.3 (seen 2026-11-26).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    DataUri,
    DecodeContext,
    EncodeContext,
    Hint,
    Opaque,
    Required,
    Row,
    Silent,
    Spec,
    hints,
    text_of,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel_adapters.frameworks.ai_sdk.parts import STATES, AnyResult, DataUrl, has_type
from contentmodel_adapters.frameworks.ai_sdk.ui.blocks import API, TABLE
from contentmodel_adapters.frameworks.ai_sdk.ui.tools import ToolPart

FLAT = Hint[Literal[True, "null", "empty"]](
    API,
    "flat",
    "the message had no parts (the field was missing, null or an empty list), but `content` and `toolInvocations`",
)
INVOCATIONS = "toolInvocations"
INVOCATION = "tool-invocation"
"""The type of a part with a tool invocation, which is in the field WRAPPED."""
WRAPPED = "toolInvocation"
_STATES = ("partial-call", "call", "result")
_IN_PARTS, _IN_FIELD = "invocation.part", "invocation.field"


CALL = TABLE.record(
    "tool invocation",
    FunctionCallContent,
    {"toolCallId": "call_id", "toolName": "name", "args": ("arguments", ArgumentsObjectOrText())},
    Silent("status"),
)
RESULT = TABLE.record(
    "result of tool invocation",
    FunctionResultContent,
    {"result": ("outputs", AnyResult())},
    Silent("call_id"),
    constants={"state": "result"},
)
TABLE.keep("tool invocation", "step")
TABLE.known_values("part.type", INVOCATION)


ATTACHED = Hint[Literal[True, "row"]](
    API,
    "attached",
    "the medium was in the field `experimental_attachments` of a message, or `attachments` of a row of a database",
)
ATTACHMENTS, OF_ROWS = "experimental_attachments", "attachments"
"""The field with the attachments of a message, and the column of the rows of Vercel's chatbot (`Message_v2`)."""
_ATTACHED: dict[str, Spec] = {"name": "name"}
_ATTACHMENT = TABLE.union(
    "attachment",
    [
        Row(
            "attachment.data",
            DataContent,
            {"url": ("data", DataUrl()), "contentType": "media_type", **_ATTACHED},
            accepts=has_type("url", "contentType"),
        ),
        Row("attachment.typed", DataContent, {"url": (("media_type", "data"), DataUri()), **_ATTACHED}),
        Row(
            "attachment.link",
            UriContent,
            {"url": ("uri", Required()), "contentType": "media_type", **_ATTACHED},
            Silent("kind"),
        ),
    ],
    tag=None,
)


def attachments_of(message: Mapping[str, Any]) -> str | None:
    """Return the field of a message of a user with attachments; None if it has none, or not all have a URL."""
    if message.get("role") != "user":
        return None
    if _are_attachments(message.get(ATTACHMENTS), "url"):
        return ATTACHMENTS
    return OF_ROWS if _are_attachments(message.get(OF_ROWS), "url", "contentType") else None


def _are_attachments(items: Any, *fields: str) -> bool:
    if items.__class__ is not list or not items:
        return False
    return all(item.__class__ is dict and all(item.get(name).__class__ is str for name in fields) for item in items)


def decode_attachments(message: Mapping[str, Any], field: str, context: DecodeContext) -> list[Any]:
    """Return the media of the attachments of a message, which `convertToCoreMessages` adds to its parts."""
    items = message[field]
    mark: Literal[True, "row"] = "row" if field == OF_ROWS else True
    media = [ATTACHED.on(content, API, mark) for content in _ATTACHMENT.decode_list(items, context)]
    for index, content in enumerate(media):
        context.trace(_ATTACHMENT, [content], items, index, spread=False)
    return media


def is_attachment(content: Any) -> bool:
    """Return whether a content was an attachment."""
    return ATTACHED.of(content, API) is not None and content.__class__ in (DataContent, UriContent)


def encode_attachments(contents: list[Any], context: EncodeContext) -> dict[str, Any]:
    """Return the fields with attachments for contents that were attachments."""
    if not contents:
        return {}
    field = OF_ROWS if ATTACHED.of(contents[0], API) == "row" else ATTACHMENTS
    return {field: _ATTACHMENT.encode_list(contents, context)}


DETAIL = Hint[dict[str, Any]](
    API,
    "detail",
    "the fields beside `details`, on the first of these parts of reasoning; {} on the others",
    fields=True,
)
_DETAIL = TABLE.union(
    "reasoning detail",
    [
        Row(
            "text",
            ReasoningContent,
            {"text": ("text", Required()), "signature": ("protected", Opaque("anthropic", "signature"))},
            constants={"type": "text"},
        ),
        Row(
            "redacted",
            ReasoningContent,
            {"data": ("protected", STATES["anthropic.redactedData"])},
            constants={"type": "redacted"},
        ),
    ],
    prefer=lambda content, rows: rows[content.protected is not None and content.protected.kind == "redacted"],
)
_FIELDS_OF_DETAILS = {"text": "text", "redacted": "data"}


def has_details(part: Mapping[str, Any]) -> bool:
    """Return whether a part is reasoning with details, and its text is that of the details."""
    details: Any = part.get("details")
    if part.keys() != {"type", "reasoning", "details"} or part["type"] != "reasoning" or details.__class__ is not list:
        return False
    if not details or not all(map(_is_detail, details)):
        return False
    return bool(part["reasoning"] == "".join(detail["text"] for detail in details if detail["type"] == "text"))


def _is_detail(detail: Any) -> bool:
    kind = detail.get("type") if detail.__class__ is dict else None
    field = _FIELDS_OF_DETAILS.get(kind) if kind.__class__ is str else None
    return field is not None and detail.get(field).__class__ is str


def decode_details(part: Mapping[str, Any], context: DecodeContext) -> list[Any]:
    """Return the details of reasoning, each with its opaque state, as `convertToCoreMessages` does."""
    details = part["details"]
    first, *others = _DETAIL.decode_list(details, context)
    around = {"reasoning": part["reasoning"]}
    contents = [DETAIL.on(first, API, around), *(DETAIL.on(detail, API, {}) for detail in others)]
    for index, content in enumerate(contents):
        context.trace(_DETAIL, [content], details, index, spread=False)
    return contents


def is_detail(content: Any) -> bool:
    """Return whether a content was one of the details of reasoning."""
    return content.__class__ is ReasoningContent and DETAIL.of(content, API) is not None


def encode_detail(content: ReasoningContent, parts: list[Any], context: EncodeContext) -> None:
    """Add a detail to the last of the parts if it was in the same part, else to a new part."""
    detail: Any = _DETAIL.encode_one(content, context)
    last = parts[-1] if parts and not DETAIL.of(content, API) else None
    if last.__class__ is not dict or "details" not in last:
        last = {"type": "reasoning", "reasoning": "", "details": []}
        parts.append(last)
    last["reasoning"] += detail.get("text", "")
    last["details"].append(detail)


def is_invocation(part: Mapping[str, Any]) -> bool:
    """Return whether a part has a tool invocation, and nothing else."""
    return part.get("type") == INVOCATION and part.keys() == {"type", WRAPPED} and is_call(part[WRAPPED])


def is_call(value: Any) -> bool:
    """Return whether a value is a tool invocation."""
    if value.__class__ is not dict or text_of(value, "state") not in _STATES:
        return False
    return value.get("toolCallId").__class__ is str and value.get("toolName").__class__ is str


def is_flat(message: Mapping[str, Any]) -> bool:
    """Return whether a message has no parts, but a text. All items of its field INVOCATIONS are tool invocations."""
    calls = message.get(INVOCATIONS, [])
    has_none = message.get("parts") is None or message["parts"] == []
    return has_none and message.get("content").__class__ is str and _are_calls(calls)


def marked_as_flat(message: ChatMessage, wire: Mapping[str, Any]) -> ChatMessage:
    """Return a message with the hint that its wire object had no parts. Databases store null or an empty list."""
    form: Literal[True, "null", "empty"] = True
    if "parts" in wire:
        form = "null" if wire["parts"] is None else "empty"
    return FLAT.on(message, API, form)


def parts_of_flat(message: ChatMessage) -> dict[str, Any]:
    """Return the field `parts` of a message that had no parts: missing, null or an empty list."""
    form = FLAT.of(message, API)
    return {"parts": None} if form == "null" else {"parts": []} if form == "empty" else {}


def _are_calls(value: Any) -> bool:
    return value.__class__ is list and all(map(is_call, value))


def is_older(message: Mapping[str, Any]) -> bool:
    """Return whether a message has what only messages of version 4 have."""
    parts: Any = message.get("parts")
    if "parts" in message and is_flat(message):
        return True
    if parts.__class__ is list:
        return any(part.__class__ is dict and (is_invocation(part) or part.get("type") == "source") for part in parts)
    attached = message.get(ATTACHMENTS).__class__ is list
    return is_flat(message) and (message.get(INVOCATIONS).__class__ is list or attached)


def decode_invocation(context: DecodeContext, container: Any, key: str | int) -> ToolPart:
    """Return the contents of the tool invocation at `container[key]`."""
    wire, state = container[key], container[key]["state"]
    has_result = state == "result"
    result_fields = ("state", "result") if has_result else ("state",)
    call: Any = CALL.decode(context.without(wire, result_fields), context)
    context.trace(CALL, [call], container, key, spread=False)
    call = context.replaced(call, hints.ROW.on(call, API, _IN_PARTS if key == WRAPPED else _IN_FIELD))
    if state == "partial-call":
        call = context.replace(call, status="incomplete")
    part = ToolPart(call=call)
    if has_result:
        result: Any = RESULT.decode(context.only(wire, result_fields), context)
        context.trace(RESULT, [result], container, key, spread=False)
        part.result = context.replace(result, call_id=call.call_id)
    return part


def was_invocation(part: ToolPart, context: EncodeContext) -> str | None:
    """Return the row of a tool invocation that a part was read from; None if it cannot be one."""
    row = hints.ROW.of(part.call, API) if context.native and part.call is not None else None
    if row not in (_IN_PARTS, _IN_FIELD) or part.request is not None or part.response is not None:
        return None
    result = part.result
    if result is None:
        return row
    fits = result.__class__ is FunctionResultContent and len(result.output_list) < 2 and not result.is_error
    outputs_fit = all(output.__class__ in (TextContent, JsonContent) for output in result.outputs)
    return row if fits and outputs_fit and result.outcome is None else None


def encode_invocation(part: ToolPart, context: EncodeContext) -> dict[str, Any]:
    """Return the tool invocation of a call and its result."""
    wire: dict[str, Any] = CALL.encode(part.call, context)
    if part.result is not None:
        return {**wire, **RESULT.encode(part.result, context)}
    return {**wire, "state": "partial-call" if part.call.status == "incomplete" else "call"}


def wrapped(invocation: dict[str, Any]) -> dict[str, Any]:
    """Return the part with a tool invocation."""
    return {"type": INVOCATION, WRAPPED: invocation}


def is_in_field(part: Any, context: EncodeContext) -> bool:
    """Return whether a part was an item of the field INVOCATIONS."""
    return isinstance(part, ToolPart) and was_invocation(part, context) == _IN_FIELD


def text_part(message: Mapping[str, Any], context: DecodeContext) -> dict[str, Any]:
    """Return the text of a message without parts as a part."""
    part = {"type": "text", "text": message["content"]}
    context.copied(part, message, ("text", "content"))
    return part


def text_of_part(part: Any) -> str | None:
    """Return the text of a part that is written in the field `content`; None if it has anything else."""
    return part["text"] if part.__class__ is dict and part.keys() == {"type", "text"} else None
