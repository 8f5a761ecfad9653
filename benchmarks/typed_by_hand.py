"""Hand-written conversion of the messages of Chat's transcript, to compare generated code with.

It makes the checks of the engine: no field is unknown, and each value has its class. Other input raises Misfit, where
the engine would continue.
"""

from __future__ import annotations

from typing import Any

from typed_forms import Misfit

from contentmodel.authoring import DecodeContext, with_error_read
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage


def decode(objects: list[dict[str, Any]], context: DecodeContext) -> list[ChatMessage]:
    """Return the messages of wire objects."""
    return [_DECODERS[wire["role"]](wire, context) for wire in objects]


def encode(messages: list[ChatMessage]) -> list[dict[str, Any]]:
    """Return the wire objects of messages."""
    objects: list[dict[str, Any]] = []
    for message in messages:
        if message.extra is not None or message.author_name is not None or message.message_id is not None:
            raise Misfit
        if message.role == "tool":
            objects += [_encode_result(content) for content in message.contents]
        elif message.role == "assistant":
            objects.append(_encode_assistant(message))
        else:
            objects.append({"role": message.role, "content": _text_of(message.contents)})
    return objects


def _decode_plain(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    text = wire.get("content")
    if len(wire) != 2 or text.__class__ is not str:
        raise Misfit
    return ChatMessage(role=wire["role"], contents=[TextContent(text=text)], origin=context.origin)


def _decode_assistant(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    contents: list[Any] = []
    count = 1
    text, calls = wire.get("content"), wire.get("tool_calls")
    if text.__class__ is str:
        count += 1
        contents.append(TextContent(text=text))
    if calls.__class__ is list and calls:
        count += 1
        contents += [_decode_call(call) for call in calls]
    if count != len(wire):
        raise Misfit
    return ChatMessage(role="assistant", contents=contents, origin=context.origin)


def _decode_call(wire: dict[str, Any]) -> FunctionCallContent:
    call_id, function = wire.get("id"), wire.get("function")
    if wire["type"] != "function" or len(wire) != 3 or call_id.__class__ is not str or function.__class__ is not dict:
        raise Misfit
    name, arguments = function.get("name"), function.get("arguments")
    if len(function) != 2 or name.__class__ is not str or arguments.__class__ is not str:
        raise Misfit
    return FunctionCallContent(call_id=call_id, name=name, arguments=arguments)


def _decode_result(wire: dict[str, Any], context: DecodeContext) -> ChatMessage:
    call_id, text = wire.get("tool_call_id"), wire.get("content")
    if len(wire) != 3 or call_id.__class__ is not str or text.__class__ is not str:
        raise Misfit
    result = with_error_read(FunctionResultContent(call_id=call_id, outputs=[TextContent(text=text)]))
    return ChatMessage(role="tool", contents=[result], origin=context.origin)


_DECODERS: dict[str, Any] = {
    "system": _decode_plain,
    "user": _decode_plain,
    "assistant": _decode_assistant,
    "tool": _decode_result,
}


def _encode_assistant(message: ChatMessage) -> dict[str, Any]:
    texts: list[Any] = []
    calls: list[Any] = []
    for content in message.contents:
        (calls if content.__class__ is FunctionCallContent else texts).append(content)
    wire: dict[str, Any] = {"role": "assistant"}
    if texts:
        wire["content"] = _text_of(texts)
    if calls:
        wire["tool_calls"] = [_encode_call(call) for call in calls]
    return wire


def _encode_call(call: Any) -> dict[str, Any]:
    if call.extra is not None or call.protected is not None or call.annotations is not None or call.status is not None:
        raise Misfit
    if call.caller is not None or call.namespace is not None or call.arguments.__class__ is not str:
        raise Misfit
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _encode_result(result: Any) -> dict[str, Any]:
    if result.extra is not None or result.protected is not None or result.annotations is not None or result.is_error:
        raise Misfit
    if result.caller is not None or result.status is not None:
        raise Misfit
    return {"role": "tool", "tool_call_id": result.call_id, "content": _text_of(result.outputs)}


def _text_of(contents: list[Any]) -> str:
    (only,) = contents
    if only.__class__ is not TextContent or only.extra is not None or only.annotations or only.protected is not None:
        raise Misfit
    return str(only.text)
