"""Messages of the role `tool` whose content is the item of a custom tool or of the computer tool of OpenAI.

They are decoded as the result in the item. Source: langchain-openai 1.7.4 (chat_models/base.py,
`_make_computer_call_output_from_message` and `_make_custom_tool_output_from_message`), seen 2026-11-27.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from contentmodel.authoring import DecodeContext, EncodeContext, Hint, object_of
from contentmodel.content.hosted import ComputerUseToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.tools import CustomToolResultContent, FunctionResultContent, ToolResultContent
from contentmodel.message import ChatMessage, Origin
from contentmodel_adapters.frameworks.langchain.blocks import API
from contentmodel_adapters.frameworks.langchain.dialects import BY_API, INNER, RESPONSES
from contentmodel_adapters.frameworks.langchain.rows import own_extra

ITEM = Hint[dict[str, Any]](
    API, "item", "the own `call_id` and `hints` of the item that is the content of a result; empty without an item"
)
ITEMS = (CustomToolResultContent, ComputerUseToolResultContent)
_SCREENSHOT = "computer_call_output"
_OF_MESSAGE = ("name", "is_error", "artifact")
"""The fields of a result that only the message has, not its item."""


def with_item(message: ChatMessage, context: DecodeContext) -> ChatMessage:
    """Return a message with the result in its item, if its content is one. OpenAI's adapter then sends it unchanged."""
    result: Any = message.contents[0]
    extra = result.extra or {}
    made = _screenshot(result, extra.get(API, {})) or _only_item(result, extra.get(API, {}))
    if made is None:
        return message
    origin = Origin(api=RESPONSES, issuer="openai")
    contents = [context.replaced(result, made)]
    return context.replace(message, contents=contents, origin=origin, extra=own_extra(message))


def _screenshot(result: Any, own: dict[str, Any]) -> ToolResultContent | None:
    """Return the result of a message that is a screenshot as in version 0. `own`: its fields of this format."""
    beside = object_of(own, "additional_kwargs")
    is_one = len(result.outputs) == 1 and isinstance(result.outputs[0], DataContent | UriContent | HostedFileContent)
    if beside.get("type") != _SCREENSHOT or not is_one:
        return None
    _, rest = _parted(beside, "type")
    extra = {API: {**own, "additional_kwargs": rest, **ITEM.entry({})}}
    fields = {name: getattr(result, name) for name in (*_OF_MESSAGE, "call_id", "outputs")}
    return ComputerUseToolResultContent(extra=extra, **fields)


def _only_item(result: Any, own: dict[str, Any]) -> ToolResultContent | None:
    """Return the result in the only block of a message. `own`: the fields of the message of this format."""
    item: Any = result.outputs[0] if len(result.outputs) == 1 else None
    if item.__class__ not in ITEMS or INNER.of(item, API) != RESPONSES or "tool_call_id" in own:
        return None
    if any(getattr(item, name) is not None for name in _OF_MESSAGE):
        return None
    extra = item.extra or {}
    # The id of the item is that of the call. The message has it too.
    again = {"tool_call_id": result.call_id} if None not in (item.call_id, result.call_id) else {}
    hint = ITEM.entry({"call_id": item.call_id, "hints": extra[API]})
    new: ToolResultContent = replace(
        item,
        call_id=result.call_id if item.call_id is None else item.call_id,
        extra={**extra, API: {**own, **again, **hint}},
        **{name: getattr(result, name) for name in _OF_MESSAGE},
    )
    return new


def _parted(fields: dict[str, Any], *keys: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields with these keys, and the others."""
    taken = {key: value for key, value in fields.items() if key in keys}
    return taken, {key: value for key, value in fields.items() if key not in keys}


def as_function_result(result: Any, context: EncodeContext) -> Any:
    """Return a result as that of a function. The item that it had is its output."""
    if result.__class__ is FunctionResultContent:
        return result
    said = ITEM.of(result, API)
    _, own = _parted((result.extra or {}).get(API, {}), ITEM.key)
    extra = {api: fields for api, fields in (result.extra or {}).items() if api != API}
    fields = {name: getattr(result, name) for name in (*_OF_MESSAGE, "call_id", "outputs")}
    if said == {}:
        own["additional_kwargs"] = {**object_of(own, "additional_kwargs"), "type": _SCREENSHOT}
    elif said is not None:
        again, own = _parted(own, "tool_call_id")
        inner = said.get("call_id")
        item = replace(
            result,
            call_id=None if inner is None else result.call_id,
            extra={**extra, API: {**object_of(said, "hints"), **BY_API[RESPONSES].mark()}},
            **dict.fromkeys(_OF_MESSAGE),
        )
        extra, fields["outputs"] = {}, [item]
        if inner is not None and again != {"tool_call_id": inner}:
            fields["call_id"] = again.get("tool_call_id")
    if own:
        extra[API] = own
    return context.replaced(result, FunctionResultContent(extra=extra or None, **fields))
