"""The adapter of data sets with a column `messages`: a row is one conversation, as chat templates read it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from contentmodel.authoring import (
    DecodeContext,
    Hint,
    Row,
    media,
    objects_of,
    payload_step,
    text_of,
)
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.datasets.hf.blocks import CALL, KINDS_OF_MEDIA, REQUEST, RESULT, TABLE, expanded
from contentmodel_adapters.datasets.hf.padding import API, without_padding
from contentmodel_adapters.datasets.hf.rules import RULES
from contentmodel_adapters.datasets.json_texts import ToolsText

ANY_MEDIA = ("image/*", "audio/*", "video/*")
READS = media.MediaSupport(ANY_MEDIA, ANY_MEDIA, ("http", "https", "data", "file", ""), in_answers=True)
TOOLS = ToolsText(Hint[str](API, "tools", "the JSON text of the tools, if they are not a list"), usual=False)
PAIRS = "a row without `messages` is not a conversation: join its lists of messages into one, `messages`"


class HFMessages(documents.DocumentAdapter):
    """The adapter of rows with `messages` and `tools`. Other columns stay in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"messages": list}
    conversation = "messages"
    refused = {"prompt": PAIRS, "chosen": PAIRS, "completion": PAIRS}
    request_steps = documents.usual_steps(READS)
    request_payload_steps = (payload_step(TOOLS.write, native=True),)

    def _decode_row(self, row: Row, wire: dict[str, Any], context: DecodeContext) -> Any:
        request = TOOLS.decode(wire, context, partial(super()._decode_row, row))
        if isinstance(request, ChatRequest):
            without_padding(request)
        return request

    def expanded(self, payload: Any) -> Any:
        """Return a payload with each value of a text apart, for audits: calls as objects."""
        return expanded(payload)

    def recognises_list(self, items: list[Any]) -> float:
        """Return the confidence that a list has messages of a data set."""
        return self.recognises({"messages": items}).get("request", 0.0) if self.have_roles(items) else 0.0

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that it is a row: only data sets have calls with objects as arguments."""
        messages = payload.get("messages")
        if not isinstance(messages, list) or not self.have_roles(messages):
            return {}
        if "model" in payload:
            return {"request": 0.05}
        is_own = any(map(_is_own, messages)) or "chat_template_kwargs" in payload or has_bare_tools(payload)
        return {"request": 0.97 if is_own else 0.2}


def has_bare_tools(payload: dict[str, Any]) -> bool:
    """Return whether the tools are JSON text, or a tool is a function without a type around it."""
    if payload.get("tools").__class__ is str:
        return True
    return any("type" not in tool and isinstance(tool.get("parameters"), dict) for tool in objects_of(payload, "tools"))


def _is_own(message: Any) -> bool:
    """Return whether only data sets have such a message: with Arrow's nulls, or their own roles, arguments or media."""
    if not isinstance(message, dict):
        return False
    padded = message.get("role") == "user" and "tool_calls" in message
    media = [part for part in objects_of(message, "content") if text_of(part, "type") in KINDS_OF_MEDIA]
    functions = [call.get("function", call) for call in objects_of(message, "tool_calls")]
    return (
        padded
        or message.get("role") in (CALL, RESULT)
        or any("source" not in part for part in media)
        or any(isinstance(function, dict) and isinstance(function.get("arguments"), dict) for function in functions)
    )


adapter = HFMessages()
