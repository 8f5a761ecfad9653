"""The table of lists of ChatMessage of Microsoft.Extensions.AI, as System.Text.Json writes them.

Source: src/Libraries/Microsoft.Extensions.AI.Abstractions of dotnet/extensions, serialized with
AIJsonUtilities.DefaultOptions (seen 2026-11-23). The names are in camel case, and nulls are left out. The type of a
content, `$type`, is its first field: the reader refuses any other order by default.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    DataUri,
    Filled,
    Gathered,
    Roles,
    Row,
    Silent,
    Table,
    camel_name,
    with_error_read,
)
from contentmodel.content.hosted import (
    McpServerToolCallContent,
    McpServerToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    InputRequestContent,
    InputResponseContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.common.documents import DateText
from contentmodel_adapters.frameworks.extensions_ai import contents as extensions_ai
from contentmodel_adapters.frameworks.extensions_ai.answers import answer_row

API = "meai"
TABLE = Table(API)
NAMES = extensions_ai.Names(tag="$type", spell=camel_name, unit="utf16")
COUNTERS = {"inputAudioTokenCount": "input_audio_tokens", "outputAudioTokenCount": "output_audio_tokens"}
ROWS = extensions_ai.Rows(TABLE, NAMES, COUNTERS)


DETAIL = {"additional_properties.detail": "detail"}
OUTPUTS = ROWS.outputs(
    ROWS.row("data", DataContent, {"uri": (("media_type", "data"), DataUri()), "name": "name", **DETAIL}),
    # A data URI without base64.
    ROWS.row("data", UriContent, {"uri": "uri", "name": "name", **DETAIL}, label=".link"),
)
VALUE = extensions_ai.Value(OUTPUTS)
_CODE = "data:text/x-python;base64,"
"""The beginning of code, as the client of OpenAI's Responses in Microsoft.Extensions.AI.OpenAI writes it."""


def _input_of(code: str) -> dict[str, Any]:
    return {NAMES.tag: "data", "uri": _CODE + b64encode(code.encode("utf-8", "surrogatepass")).decode()}


def _code_of(content: dict[str, Any]) -> str | None:
    uri = content.get("uri")
    if uri.__class__ is not str or not uri.startswith(_CODE):
        return None
    try:
        return b64decode(uri.removeprefix(_CODE)).decode()
    except ValueError:
        return None


CODE = extensions_ai.Code(_input_of, _code_of)


def _older_approvals() -> list[Row]:
    """Return the rows of approvals before version 10.4, which had one type for each kind of call.

    The call of a function has no `$type`. The field of the request's id was `id` first, and then `requestId`.
    """
    function = {
        "function_call.call_id": "request_id",
        "function_call.name": "name",
        "function_call.arguments": "arguments",
    }
    call = {"tool_call.tool_name": "name", "tool_call.server_name": "server", "tool_call.arguments": "arguments"}
    answer = {"approved": "approved", "reason": "reason"}
    rows = [
        ROWS.row("function_approval_request", ToolApprovalRequestContent, function),
        ROWS.row(
            "function_approval_response",
            ToolApprovalResponseContent,
            {"function_call.call_id": "request_id", **answer},
        ),
    ]
    for key in ("id", "request_id"):
        id_field, label = {key: "request_id"}, f".{key}"
        rows += [
            ROWS.row("mcp_server_tool_approval_request", ToolApprovalRequestContent, {**id_field, **call}, label=label),
            ROWS.row(
                "mcp_server_tool_approval_response", ToolApprovalResponseContent, {**id_field, **answer}, label=label
            ),
        ]
    return rows


def _has_older(name: str, usual: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda wire: name in wire and usual not in wire


OLDER = _older_approvals()
OF_OLDER_SERVERS = [
    ROWS.row(
        "mcp_server_tool_call",
        McpServerToolCallContent,
        {"call_id": "call_id", "server_name": "server", "tool_name": "name", "arguments": "arguments"},
        label=".older",
        accepts=_has_older("toolName", "name"),
    ),
    ROWS.row(
        "mcp_server_tool_result",
        McpServerToolResultContent,
        {"call_id": "call_id", "output": ("outputs", Blocks(OUTPUTS))},
        label=".older",
        accepts=_has_older("output", "outputs"),
    ),
]
"""The calls and results of MCP servers of older versions, whose fields have other names."""
CONTENTS = TABLE.union(
    "content",
    [
        *OUTPUTS.rows,
        *OF_OLDER_SERVERS,
        ROWS.row(
            "function_call",
            FunctionCallContent,
            {
                "call_id": "call_id",
                "name": "name",
                "arguments": ("arguments", ArgumentsObject()),
                "informational_only": ("executor", extensions_ai.InformationalOnly()),
            },
        ),
        ROWS.row(
            "function_result",
            FunctionResultContent,
            {"call_id": "call_id", "result": ("outputs", VALUE)},
            Silent("name"),
        ),
        *ROWS.hosted(
            Blocks(OUTPUTS),
            code=CODE,
            id="call_id",
            mcp_name="name",
            mcp_output="outputs",
        ),
        ROWS.row(
            "web_search_tool_call", WebSearchToolCallContent, {"call_id": "call_id"}, Gathered("arguments", "queries")
        ),
        ROWS.row(
            "web_search_tool_result",
            WebSearchToolResultContent,
            {"call_id": "call_id", "outputs": ("outputs", Blocks(OUTPUTS))},
        ),
        ROWS.row("tool_call", HostedToolCallContent, {"call_id": "call_id"}),
        ROWS.row("tool_result", HostedToolResultContent, {"call_id": "call_id"}),
        *ROWS.approvals("name", reason="reason"),
        *OLDER,
        ROWS.row("input_request", InputRequestContent, {"request_id": "request_id"}),
        ROWS.row("input_response", InputResponseContent, {"request_id": "request_id"}),
    ],
    tag=NAMES.tag,
    prefer=lambda content, rows: next(one for one in rows if one not in OF_OLDER_SERVERS),
    accepts_untyped=True,
)
MESSAGE = TABLE.record(
    "message",
    ChatMessage,
    {
        "authorName": "author_name",
        "createdAt": ("created", DateText()),
        "role": ("role", Roles(API, {role: role for role in extensions_ai.ROLES})),
        "contents": ("contents", Blocks(CONTENTS)),
        "messageId": "message_id",
    },
    Filled({"contents": []}),
)
TABLE.known_values("message.role", *extensions_ai.ROLES)


MESSAGES = extensions_ai.Messages(MESSAGE, NAMES, read=with_error_read)
REQUEST = TABLE.record("request", ChatRequest, {"messages": ("messages", MESSAGES)})
TABLE.keep("message", "additionalProperties")
TABLE.keep("request", "additionalProperties")
RESPONSE = answer_row(
    ROWS,
    MESSAGES,
    {"id": "responseId", "model": "modelId", "created": "createdAt", "usage": "usage", "finish": "finishReason"},
)
TABLE.keep("response", "conversationId", "continuationToken", "additionalProperties")
