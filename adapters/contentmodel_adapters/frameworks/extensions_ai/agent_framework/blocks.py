"""The table of lists of messages of Microsoft Agent Framework for Python, as `Message.to_dict` writes them.

Source: `_types.py` and `_serialization.py` of agent-framework-core 1.23.0 (seen 2026-11-23). One class holds the
contents of all types. Its names are in snake case, and nulls are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from contentmodel.authoring import (
    Blocks,
    DataUri,
    DecodeContext,
    EncodeContext,
    Failure,
    FailureField,
    Filled,
    Gathered,
    Implied,
    One,
    Place,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    is_data_uri,
    list_of,
    reasons,
)
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import (
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    FileSearchToolCallContent,
    FileSearchToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import UsageContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, ToolResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.command_outputs import CommandOutputs
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai
from contentmodel_adapters.frameworks.extensions_ai.answers import answer_row

API = "agent-framework"
TABLE = Table(API)
NAMES = extensions_ai.Names(
    tag="type",
    spell=str,
    others={
        "reasoning": "text_reasoning",
        "details": "usage_details",
        "cached_input_token_count": "cache_read_input_token_count",
        "reasoning_token_count": "reasoning_output_token_count",
        "start": "start_index",
        "end": "end_index",
        "tool_approval_request": "function_approval_request",
        "tool_approval_response": "function_approval_response",
        "tool_call": "function_call",
        "request_id": "id",
    },
    defaults={"additional_properties": {}},
)
ROWS = extensions_ai.Rows(TABLE, NAMES, {"cache_creation_input_token_count": "cache_write_tokens"})
FAILED = "FunctionInvocationError"
"""The value of `exception` for failures of other APIs. The original text of an exception is not stored."""
DETAIL = {"additional_properties.detail": "detail"}


DATA: dict[str, Any] = {"uri": (("media_type", "data"), DataUri()), "name": "name", **DETAIL}


def _has_own_media_type(wire: Mapping[str, Any]) -> bool:
    """Return whether the media type of a data URI is that of the field `media_type`."""
    return is_data_uri(wire["uri"]) and wire["uri"].partition(";base64,")[0] == f"data:{wire.get('media_type')}"


def _repeat_media_type(wire: dict[str, Any]) -> None:
    """Write the media type of a data URI to its own field, too."""
    wire["media_type"] = wire["uri"].partition(";base64,")[0].removeprefix("data:")


OUTPUTS = ROWS.outputs(
    ROWS.row("data", DataContent, DATA, accepts=_has_own_media_type, repeat=_repeat_media_type),
    ROWS.row("data", DataContent, DATA, label=".other"),
    # A data URI without base64.
    ROWS.row("data", UriContent, {"uri": "uri", "name": "name", **DETAIL}, label=".link"),
    # The output of one command. Its stderr and its failure are separate contents that follow.
    ROWS.row("shell_command_output", TextContent, {"stdout": "text"}),
    ROWS.row("shell_command_output", TextContent, {"stderr": "text"}, label=".stderr"),
    ROWS.row("shell_command_output", TextContent, {}, Implied({"text": ""}), label=".silent"),
    # The field of versions before 1.0.
    Row("usage.older", UsageContent, {"details": ("usage", ROWS.usage)}, constants={"type": "usage"}),
    ROWS.row("oauth_consent_request", UriContent, {"consent_link": "uri"}, filled={"user_input_request": True}),
)
VALUE, VALUES = extensions_ai.Value(OUTPUTS), extensions_ai.Value(OUTPUTS, is_list=True)
COMMANDS = CommandOutputs(API, Failure(FailureField("exit_code"), FailureField("timed_out")))


class ShellOutputs(extensions_ai.Value):
    """The outputs of shell commands, or any other value of a result."""

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[Any]:
        contents = super().decode(value, context, container, key)
        wires = self._commands(value)
        return COMMANDS.split(contents, wires) if wires else contents

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        wires = self._commands(wire)
        return COMMANDS.places(value, wires, path, self.union) if wires else super().places(value, wire, path)

    def encode(self, value: Any, context: EncodeContext, owner: Any) -> Any:
        return super().encode(COMMANDS.join(value, context), context, owner)

    def _commands(self, value: Any) -> list[Any]:
        """Return the entries of a list with commands; an empty list for any other value."""
        if self._form(value) != "list":
            return []
        return (
            value
            if any(item.__class__ is dict and item.get("type") == "shell_command_output" for item in value)
            else []
        )


class Items(Blocks[AIContent]):
    """The contents of a result."""

    def encode(self, value: list[AIContent], context: EncodeContext, owner: Any) -> Any:
        return OUTPUTS.encode_list([extensions_ai.as_text(content, context) for content in value], context)


def _text_of(items: list[dict[str, Any]]) -> str:
    """Return the text that the library derives from the items of a result."""
    return "\n".join(item["text"] for item in items if item.get("type") == "text" and item.get("text"))


def _has_items(wire: Mapping[str, Any]) -> bool:
    """Return whether the items of a result are contents from which its text is derived."""
    items = list_of(wire, "items")
    if not items or not all(item.__class__ is dict and item.get("type").__class__ is str for item in items):
        return False
    texts = [item.get("text") for item in items if item["type"] == "text"]
    return all(text is None or text.__class__ is str for text in texts) and wire.get("result") == _text_of(items)


def _repeat_text(wire: dict[str, Any]) -> None:
    """Write the texts of the items to `result`, too. A result has an item."""
    wire["items"] = wire.get("items") or [{"type": "text", "text": "", **NAMES.defaults}]
    wire["result"] = _text_of(wire["items"])


class Exceptions(Failure):
    """The flag of a failed function. Its outputs keep the texts that the model gets."""

    def __init__(self) -> None:
        super().__init__(FailureField("exception", failed=FAILED))

    def read(self, result: ToolResultContent, wire: Any, context: DecodeContext) -> ToolResultContent:
        return msgspec.structs.replace(result, is_error=True) if wire.get("exception") else result

    def without(self, result: ToolResultContent, context: EncodeContext) -> ToolResultContent:
        return result

    def write(self, result: ToolResultContent, wire: Any, context: EncodeContext) -> None:
        if not result.is_error:
            if wire.get("exception"):
                del wire["exception"]
        elif not wire.get("exception"):
            wire["exception"] = FAILED
            context.report_loss(result, "is_error", reasons.FAILURE_MARK)


CODE = extensions_ai.Code(
    lambda code: {"type": "text", "text": code, **NAMES.defaults},
    lambda content: content["text"] if content.get("text").__class__ is str else None,
)
CALL: dict[str, Any] = {"call_id": "call_id", "status": "status"}
SEARCH = {**CALL, "tool_name": "name"}
STORED = ("tool_name", ("file_search",))
CONTENTS = TABLE.union(
    "content",
    [
        *OUTPUTS.rows,
        ROWS.row(
            "function_call",
            FunctionCallContent,
            {
                **CALL,
                "name": "name",
                "arguments": "arguments",
                "informational_only": ("executor", extensions_ai.InformationalOnly()),
            },
            filled={"hosted": False},
        ),
        ROWS.row(
            "function_result",
            FunctionResultContent,
            {**CALL, "items": ("outputs", Items(OUTPUTS))},
            Silent("name", "is_error"),
            accepts=_has_items,
            repeat=_repeat_text,
            failure=Exceptions(),
        ),
        # Values that the library does not write.
        ROWS.row(
            "function_result",
            FunctionResultContent,
            {**CALL, "result": ("outputs", VALUE)},
            Silent("name", "is_error"),
            label=".value",
            failure=Exceptions(),
        ),
        *ROWS.hosted(VALUES, code=CODE, id="image_id", mcp_name="tool_name", mcp_output="output"),
        ROWS.row("search_tool_call", WebSearchToolCallContent, {**SEARCH, "arguments": "arguments"}),
        ROWS.row(
            "search_tool_call",
            FileSearchToolCallContent,
            {**SEARCH, "arguments": "arguments"},
            label=".files",
            select=STORED,
        ),
        ROWS.row("search_tool_result", WebSearchToolResultContent, {**SEARCH, "result": ("outputs", VALUE)}),
        ROWS.row(
            "search_tool_result",
            FileSearchToolResultContent,
            {**SEARCH, "result": ("outputs", VALUE)},
            label=".files",
            select=STORED,
        ),
        ROWS.row(
            "shell_tool_call",
            ShellToolCallContent,
            CALL,
            Gathered("arguments", "commands", "timeout_ms", "max_output_length"),
        ),
        ROWS.row(
            "shell_tool_result",
            ShellToolResultContent,
            {**CALL, "outputs": ("outputs", ShellOutputs(OUTPUTS, is_list=True))},
        ),
        ROWS.row(
            "computer_tool_call",
            ComputerUseToolCallContent,
            CALL,
            Gathered("arguments", "actions"),
            filled={"user_input_request": True},
        ),
        ROWS.row(
            "computer_tool_result", ComputerUseToolResultContent, {**CALL, "screenshot": ("outputs", One(OUTPUTS))}
        ),
        *ROWS.approvals("tool_name", user_input_request=True),
    ],
    tag=NAMES.tag,
)
_ROLES = Roles(API, {role: role for role in extensions_ai.ROLES})
_OF_MESSAGE: dict[str, Spec] = {
    "contents": ("contents", Blocks(CONTENTS)),
    "author_name": "author_name",
    "message_id": "message_id",
}
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", _ROLES), **_OF_MESSAGE},
    Filled({"contents": [], "additional_properties": {}}),
)
_OF_OLDER: dict[str, Spec] = {"role.value": ("role", _ROLES), **_OF_MESSAGE}
OLDER = TABLE.record("older message", ChatMessage, _OF_OLDER, Filled({"contents": []}), constants={"role.type": "role"})
OLDEST = TABLE.record("oldest message", ChatMessage, _OF_OLDER, Filled({"contents": []}))
"""Messages of versions before 1.0, in which roles were objects, with or without a type (seen 2026-11-26)."""
TABLE.known_values("message.role", *extensions_ai.ROLES)
MESSAGES = extensions_ai.Messages(MESSAGE, NAMES, defaults={"type": "message"}, older=(OLDER, OLDEST))
REQUEST = TABLE.record("request", ChatRequest, {"messages": ("messages", MESSAGES)})
TABLE.keep("message", "type", "additional_properties")
TABLE.keep("older message", "type", "additional_properties")
TABLE.keep("oldest message", "type", "additional_properties")
RESPONSE = answer_row(
    ROWS,
    MESSAGES,
    {
        "id": "response_id",
        "model": "model",
        "created": "created_at",
        "usage": "usage_details",
        "finish": "finish_reason",
    },
    Filled({"type": "chat_response"}),
)
TABLE.keep("response", "type", "conversation_id", "continuation_token", "value", "agent_id", "additional_properties")
