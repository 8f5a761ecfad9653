"""The table of MCP sampling: content blocks, messages, tools, and the choice of a tool.

Source: mcp_types/_types.py of mcp-types 2.3.0 (seen 2026-11-23).
"""

from __future__ import annotations

from typing import Any, Literal

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    BlocksOrOne,
    Choice,
    DecodeContext,
    EncodeContext,
    Filled,
    MessageList,
    OnlyItem,
    Required,
    Roles,
    Row,
    Silent,
    Table,
    chat,
    hints,
    row,
)
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import ChatMessage
from contentmodel.request import FunctionTool, HostedTool, ToolChoice
from contentmodel_adapters.frameworks import mcp_blocks

API = "mcp-sampling"
TABLE = Table(API)

# -- blocks ------------------------------------------------------------------------------------------------------------


class OneOrBlocks(BlocksOrOne):
    """A block, or a list of blocks.

    A single text or medium is written as a block, which every revision of MCP accepts. Other contents are a list.
    """

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        form: Literal["list", "one"] = "list" if value.__class__ is list else "one"
        wires = value if form == "list" else [value]
        contents: list[AIContent] = self.union.decode_list(wires, context)
        if len(contents) == len(wires) == 1 and form != _usual_form(wires[0]):
            contents[0] = hints.FORM.on(contents[0], context.api, form)
        return contents

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        blocks = self.union.encode_list(value, context)
        if len(blocks) != 1:
            return blocks or None
        form = hints.FORM.of(value[0], context.api) if len(value) == 1 else None
        return blocks[0] if (form or _usual_form(blocks[0])) == "one" else blocks


def _usual_form(block: Any) -> str:
    is_tool = block.__class__ is dict and block.get("type") in ("tool_use", "tool_result")
    return "list" if is_tool else "one"


TEXT, IMAGE, AUDIO, LINK = mcp_blocks.rows({"mimeType": "application/octet-stream"})


def _usual_output(content: Any, rows: list[Row]) -> Row:
    """Return the usual row of a text or a medium. Images and audio have their own blocks; other files are resources."""
    if content.__class__ is TextContent:
        return rows[0]
    return next((one for one in rows if one.name == content.media_kind), rows[-1])


OUTPUTS = TABLE.union(
    "result block",
    [
        TEXT,
        IMAGE,
        AUDIO,
        LINK,
        Row(
            "resource.text",
            TextContent,
            {"resource.text": ("text", Required())},
            constants={"type": "resource"},
        ),
        Row(
            "resource.blob",
            DataContent,
            {
                "resource.blob": ("data", Required()),
                "resource.mimeType": "media_type",
                "resource.uri": "name",
            },
            Filled({"resource.uri": "attachment:"}),
            constants={"type": "resource"},
        ),
    ],
    prefer=_usual_output,
)


CONTENT = TABLE.union(
    "block",
    [
        TEXT,
        IMAGE,
        AUDIO,
        row(
            "tool_use",
            FunctionCallContent,
            {"id": "call_id", "name": "name", "input": ("arguments", ArgumentsObject())},
            Filled({"id": "", "name": "", "input": {}}),
        ),
        row(
            "tool_result",
            FunctionResultContent,
            {
                "toolUseId": "call_id",
                "content": ("outputs", Blocks(OUTPUTS)),
                "structuredContent": "artifact",
                "isError": "is_error",
            },
            Silent("name"),
            Filled({"toolUseId": "", "content": []}),
        ),
    ],
    # Messages accept only images and audio.
    prefer=lambda content, rows: content.media_kind,
)

# -- messages and tools ------------------------------------------------------------------------------------------------

_OWN_ROLES = {"user": "user", "assistant": "assistant"}
ROLES = Roles(API, _OWN_ROLES, {**_OWN_ROLES, "tool": "user"})
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", OneOrBlocks(CONTENT))},
    Silent("message_id"),
    Filled({"content": []}),
)
TABLE.keep("message", "_meta")


class Messages(MessageList):
    """The list of messages of a request. A user message that has only results has the role `tool`."""

    tag = "role"

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[ChatMessage]:
        messages = [_as_tool_message(MESSAGE.decode(wire, context)) for _, wire in self.objects(value, context)]
        context.trace_messages(messages, value, lambda message: MESSAGE)
        return messages

    def encode(self, value: list[ChatMessage], context: EncodeContext, owner: Any) -> list[dict[str, Any]]:
        return [MESSAGE.encode(message, context) for message in self.kept(value, context)]


def _as_tool_message(message: ChatMessage) -> ChatMessage:
    contents = message.contents
    if message.role != "user" or not contents or any(one.__class__ is not FunctionResultContent for one in contents):
        return message
    return ChatMessage(role="tool", contents=contents, origin=message.origin, extra=message.extra)


TOOLS = TABLE.union(
    "tool",
    [
        Row(
            "tool",
            FunctionTool,
            {"name": "name", "description": "description", "inputSchema": "parameters", "outputSchema": "returns"},
            Filled({"inputSchema": chat.NO_PARAMETERS}),
        )
    ],
    tag=None,
    other=Row("other", HostedTool, {}),
    foreign_types=[FunctionTool],
)
MODES = ("auto", "required", "none")


def _read_choice(value: dict[str, Any]) -> ToolChoice | None:
    mode = value.get("mode")
    return ToolChoice(mode=mode) if mode in MODES else None


def _write_choice(choice: ToolChoice, tools: list[Any]) -> Any:
    is_mode = choice.mode in MODES and not choice.tools and choice.hosted is None
    return {"mode": choice.mode} if is_mode else None


CHOICE = Choice(_read_choice, _write_choice, strings=False, tagged=("mode", MODES), fallback={"mode": "auto"})
PREFERRED = OnlyItem("name")
"""The model hints if they are one name. Other hints stay in the residue."""
