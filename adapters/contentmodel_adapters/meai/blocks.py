"""The table of lists of ChatMessage of Microsoft.Extensions.AI, as System.Text.Json writes them.

Source: src/Libraries/Microsoft.Extensions.AI.Abstractions of dotnet/extensions, serialized with
AIJsonUtilities.DefaultOptions (seen 2026-11-23). The names are in camel case, and nulls are left out. The type of a
content, `$type`, is its first field: the reader refuses any other order by default.
"""

from __future__ import annotations

from contentmodel.authoring import (
    ArgumentsObject,
    Blocks,
    DataUri,
    Filled,
    Gathered,
    Roles,
    Silent,
    Table,
    camel_name,
    with_error_mark,
    with_error_read,
)
from contentmodel.content.hosted import WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    InputRequestContent,
    InputResponseContent,
)
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel_adapters.shared import extensions_ai
from contentmodel_adapters.shared.times import DateText

API = "meai"
TABLE = Table(API)
NAMES = extensions_ai.Names(tag="$type", spell=camel_name, unit="utf16")
ROWS = extensions_ai.Rows(TABLE, NAMES, {})


DETAIL = {"additional_properties.detail": "detail"}
OUTPUTS = ROWS.outputs(
    ROWS.row("data", DataContent, {"uri": (("media_type", "data"), DataUri()), "name": "name", **DETAIL}),
    # A data URI without base64.
    ROWS.row("data", UriContent, {"uri": "uri", "name": "name", **DETAIL}, label=".link"),
)
VALUE = extensions_ai.Value(OUTPUTS)
CONTENTS = TABLE.union(
    "content",
    [
        *OUTPUTS.rows,
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
        *ROWS.hosted(Blocks(OUTPUTS), id="call_id", mcp_name="name", mcp_output="outputs"),
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
        ROWS.row("input_request", InputRequestContent, {"request_id": "request_id"}),
        ROWS.row("input_response", InputResponseContent, {"request_id": "request_id"}),
    ],
    tag=NAMES.tag,
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


REQUEST = TABLE.record(
    "request",
    ChatRequest,
    {"messages": ("messages", extensions_ai.Messages(MESSAGE, NAMES, mark=with_error_mark, read=with_error_read))},
)
TABLE.keep("message", "additionalProperties")
TABLE.keep(
    "request",
    *("responseId", "conversationId", "modelId", "createdAt", "finishReason", "usage", "continuationToken"),
    "additionalProperties",
)
