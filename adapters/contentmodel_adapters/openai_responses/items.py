"""The items of the Responses API. An item of a hosted tool is call and result in one: a pair makes two contents of it.

Read off openai 3.52 (types/responses), seen November 2026.
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import (
    LIST,
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    Column,
    Failure,
    Named,
    One,
    Record,
    Row,
    Sealed,
    Shape,
    Sign,
    Spec,
    TextOrBlocks,
    row,
)
from contentmodel.content.hosted import (
    ApplyPatchToolCallContent,
    ApplyPatchToolResultContent,
    CodeInterpreterToolCallContent,
    CodeInterpreterToolResultContent,
    ComputerUseToolCallContent,
    ComputerUseToolResultContent,
    FileSearchToolCallContent,
    FileSearchToolResultContent,
    ImageGenerationToolCallContent,
    ImageGenerationToolResultContent,
    McpListToolsToolCallContent,
    McpListToolsToolResultContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    ProgramToolCallContent,
    ProgramToolResultContent,
    ShellToolCallContent,
    ShellToolResultContent,
    ToolSearchToolCallContent,
    ToolSearchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.media import DataContent
from contentmodel.content.outcomes import (
    CompactionContent,
    ConfigurationContent,
    ErrorContent,
    ReferenceContent,
    ToolChangeContent,
)
from contentmodel.content.text import TextContent
from contentmodel.content.tools import (
    Caller,
    CustomToolCallContent,
    CustomToolResultContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
)
from contentmodel_adapters.openai_responses.blocks import (
    CODE_OUTPUTS,
    ENCRYPTED,
    FOUND,
    GIVEN_BACK,
    IMAGE_ERROR,
    INPUT,
    LIST_ERROR,
    MCP_ERROR,
    SCREENSHOT,
    SHELL_FAILURE,
    SHELL_OUTPUTS,
    SOURCES,
    TABLE,
    WORDS,
    MadeImage,
    ShellOutputs,
    named_row,
)
from contentmodel_adapters.shared.hosted import output_columns

# -- items ---------------------------------------------------------------------------------------------------------

CALLER = TABLE.record("caller", Caller, {"type": "kind", "caller_id": "call_id"})
CALL: dict[str, Spec] = {"call_id": "call_id", "status": "status", "caller": ("caller", Record(CALLER, home=True))}
HOSTED: dict[str, Spec] = {"id": "call_id", "status": "status"}
# What every item of an answer has, for values that do not have it (openai 3.54, types/responses; seen 2026-11-22).
ENDED: dict[str, Any] = {"status": "completed"}
ITEM: dict[str, Any] = {"id": "", **ENDED}
RESULT_OF = ("call_id", "name", "caller", "status", "is_error")
PARTS = TextOrBlocks(INPUT, "string")
# The status of an item is that of the call; a call that failed may have no other sign of it.
STATUS = Sign("status", ("failed",), failed="failed")
FAILED = Failure(STATUS)
FAILED_ALONE = Failure(STATUS, alone=True)
OUTPUTS = output_columns(GIVEN_BACK, "output")

PAIRS = [
    TABLE.pair(
        row(
            "web_search_call",
            WebSearchToolCallContent,
            {**HOSTED, "action": "arguments"},
            ignores=("name", "caller"),
            fill={**ENDED, "action": {"type": "search", "query": ""}},
        ),
        Row(
            "web_search_result",
            WebSearchToolResultContent,
            {"sources": ("outputs", Blocks(SOURCES))},
            ignores=RESULT_OF,
        ),
        ("sources",),
        FAILED_ALONE,
    ),
    TABLE.pair(
        row(
            "file_search_call",
            FileSearchToolCallContent,
            HOSTED,
            gather=("arguments", ("queries",)),
            ignores=("name", "caller"),
            fill={**ENDED, "queries": []},
        ),
        Row(
            "file_search_result",
            FileSearchToolResultContent,
            {"results": ("outputs", Blocks(FOUND))},
            ignores=RESULT_OF,
        ),
        ("results",),
        FAILED_ALONE,
    ),
    TABLE.pair(
        row(
            "code_interpreter_call",
            CodeInterpreterToolCallContent,
            HOSTED,
            gather=("arguments", ("code",)),
            ignores=("name", "caller"),
            fill={**ENDED, "container_id": ""},
        ),
        Row(
            "code_interpreter_result",
            CodeInterpreterToolResultContent,
            {"outputs": ("outputs", Blocks(CODE_OUTPUTS))},
            ignores=RESULT_OF,
        ),
        ("outputs",),
        FAILED_ALONE,
    ),
    TABLE.pair(
        row(
            "image_generation_call",
            ImageGenerationToolCallContent,
            HOSTED,
            gather=(
                "arguments",
                ("action", "background", "output_format", "prompt", "quality", "revised_prompt", "size"),
            ),
            ignores=("name", "caller"),
            fill=ENDED,
        ),
        Row(
            "image_generation_result",
            ImageGenerationToolResultContent,
            {},
            columns=(
                "outputs",
                {"result": Column(MadeImage(), DataContent), "error": Column(IMAGE_ERROR, ErrorContent)},
            ),
            ignores=RESULT_OF,
        ),
        ("result", "error"),
        FAILED,
    ),
    TABLE.pair(
        row(
            "mcp_call",
            McpServerToolCallContent,
            {**HOSTED, "name": "name", "server_label": "server", "arguments": ("arguments", ArgumentsText())},
            ignores=("caller",),
            fill={"name": "", "server_label": "", "arguments": "{}"},
        ),
        Row(
            "mcp_result",
            McpServerToolResultContent,
            {},
            columns=(
                "outputs",
                {"output": Column(WORDS, TextContent), "error": Column(MCP_ERROR, ErrorContent)},
            ),
            ignores=(*RESULT_OF, "server"),
        ),
        ("output", "error"),
        FAILED,
    ),
    TABLE.pair(
        row(
            "mcp_list_tools",
            McpListToolsToolCallContent,
            {**HOSTED, "server_label": "server"},
            ignores=("name", "caller"),
            fill={"server_label": "", "tools": []},
        ),
        Row(
            "mcp_list_tools_result",
            McpListToolsToolResultContent,
            {"tools": "tools"},
            columns=("outputs", {"error": Column(LIST_ERROR, ErrorContent)}),
            ignores=(*RESULT_OF, "server"),
        ),
        ("tools", "error"),
        FAILED,
    ),
]

CLIENT_CALLS = [
    row(
        "function_call",
        FunctionCallContent,
        {**CALL, "name": "name", "namespace": "namespace", "arguments": ("arguments", ArgumentsText())},
        fill={"arguments": "{}"},
    ),
    row(
        "custom_tool_call",
        CustomToolCallContent,
        {**CALL, "name": "name", "namespace": "namespace", "input": "arguments"},
        fill={"input": ""},
    ),
]


def _by_executor(tag: str, model: type[Any], fields: dict[str, Spec], **options: Any) -> list[Row]:
    """Return the rows of an item whose `execution` says who runs the tool.

    It is required (openai 3.54, types/responses/response_tool_search_call.py, seen 2026-11-22).
    """
    client = {"type": tag, "execution": "client"}
    fill = {**ITEM, **options.pop("fill", {})}
    return [
        row(tag, model, fields, fill={**fill, "execution": "server"}, **options),
        Row(f"{tag}.client", model, fields, constants=client, sets={"executor": "client"}, fill=fill, **options),
    ]


PROVIDER_CALLS = [
    row(
        "computer_call",
        ComputerUseToolCallContent,
        CALL,
        gather=("arguments", ("action", "actions", "pending_safety_checks")),
        ignores=("name",),
        fill={**ITEM, "pending_safety_checks": []},
    ),
    # A shell in a container is the provider's; without one the application runs the commands.
    named_row(
        "shell_call",
        "shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        ignores=("name",),
        sets={"executor": "client"},
        fill=ITEM,
    ),
    named_row(
        "shell_call.container",
        "shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        ignores=("name",),
        fill=ITEM,
    ),
    named_row(
        "local_shell_call",
        "local_shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        ignores=("name",),
        sets={"executor": "client"},
    ),
    row(
        "apply_patch_call",
        ApplyPatchToolCallContent,
        {**CALL, "operation": ("arguments", ArgumentsObject())},
        ignores=("name",),
        fill=ITEM,
    ),
    *_by_executor("tool_search_call", ToolSearchToolCallContent, {**CALL, "arguments": "arguments"}, ignores=("name",)),
    row(
        "program",
        ProgramToolCallContent,
        {"call_id": "call_id", "fingerprint": ("protected", Sealed("openai", "signature"))},
        gather=("arguments", ("code",)),
        ignores=("name", "status", "caller"),
        fill={"id": "", "code": "", "fingerprint": ""},
    ),
]
RESULTS = [
    row(
        "function_call_output",
        FunctionResultContent,
        {**CALL, "name": "name", "output": ("outputs", PARTS)},
        fill={"output": ""},
    ),
    row(
        "custom_tool_call_output",
        CustomToolResultContent,
        {**CALL, "output": ("outputs", PARTS)},
        fill={"output": ""},
        ignores=("name",),
    ),
    row(
        "computer_call_output",
        ComputerUseToolResultContent,
        {**CALL, "output": ("outputs", One(SCREENSHOT))},
        ignores=("name",),
        failure=FAILED,
    ),
    row(
        "shell_call_output",
        ShellToolResultContent,
        {**CALL, "output": ("outputs", ShellOutputs(SHELL_OUTPUTS))},
        ignores=("name",),
        fill={**ITEM, "output": []},
        failure=FAILED,
    ),
    row(
        "local_shell_call_output",
        ShellToolResultContent,
        {"id": "call_id", "status": "status", "output": ("outputs", WORDS)},
        ignores=("name", "caller"),
        failure=FAILED,
    ),
    row(
        "apply_patch_call_output",
        ApplyPatchToolResultContent,
        {**CALL, "output": ("outputs", WORDS)},
        ignores=("name",),
        failure=Failure(STATUS, worded=True, alone=True),
    ),
    *_by_executor(
        "tool_search_output",
        ToolSearchToolResultContent,
        {**CALL, "tools": "tools"},
        ignores=("name",),
        fill={"tools": []},
        failure=FAILED,
    ),
    row(
        "program_output",
        ProgramToolResultContent,
        {**CALL, "result": ("outputs", WORDS)},
        ignores=("name",),
        fill={**ITEM, "result": ""},
        # A program that did not come to its end has no other word for it (types/responses, ProgramOutput.status).
        failure=Failure(Sign("status", ("incomplete", "failed"), failed="incomplete"), alone=True),
    ),
]

# -- tools that no class names -------------------------------------------------------------------------------------

_INPUTS = ("action", "operation", "input", "query", "queries", "code", "prompt")
# What says the most comes first.
_FAILED_ANYHOW = Failure(Sign("error"), STATUS, Sign("is_error"), SHELL_FAILURE.signs[0], Sign("exit_code"))


def _other_calls(name: str, fields: dict[str, Spec], shape: Shape) -> list[Row]:
    """Return the rows of calls of an unknown tool: with `arguments`, or with inputs of other names."""
    named: dict[str, Spec] = {**fields, "type": ("name", Named("_call"))}
    tag, ignores = ("type", ("hosted_call",)), ("caller",)
    less = Shape(shape.endings, shape.fields, (*shape.without, "arguments"))
    return [
        Row(
            f"{name}.inputs",
            HostedToolCallContent,
            named,
            gather=("arguments", _INPUTS),
            shape=less,
            select=tag,
            ignores=ignores,
        ),
        Row(name, HostedToolCallContent, {**named, "arguments": "arguments"}, shape=shape, select=tag, ignores=ignores),
    ]


# An item without `call_id` is call and result in one, as all that OpenAI runs by itself; others have an item each.
OTHER_PAIRS = [
    TABLE.pair(
        call,
        Row(
            "other_result",
            HostedToolResultContent,
            {},
            columns=("outputs", OUTPUTS),
            ignores=RESULT_OF,
        ),
        tuple(OUTPUTS),
        _FAILED_ANYHOW,
    )
    for call in _other_calls("other_pair", HOSTED, Shape(("_call",), {"id": str}, without=("call_id",)))
]
OTHER_TOOLS = [
    *_other_calls("other_call", CALL, Shape(("_call",), {"call_id": str})),
    Row(
        "other_call_output",
        HostedToolResultContent,
        {**CALL, "type": ("name", Named("_call_output"))},
        columns=("outputs", OUTPUTS),
        shape=Shape(("_call_output",), {"call_id": str}),
        select=("type", ("hosted_call_output",)),
        failure=_FAILED_ANYHOW,
    ),
]
OTHERS = [
    row("compaction", CompactionContent, {"encrypted_content": ("protected", ENCRYPTED)}),
    row("compaction_trigger", ConfigurationContent, {}, sets={"kind": "compaction_trigger"}),
    row(
        "configuration_update",
        ConfigurationContent,
        {},
        gather=("settings", ("reasoning", "text")),
        sets={"kind": "configuration_update"},
    ),
    row("item_reference", ReferenceContent, {"id": "item_id"}),
    row("additional_tools", ToolChangeContent, {"tools": ("tools", LIST)}, sets={"action": "add"}),
    row(
        "mcp_approval_request",
        ToolApprovalRequestContent,
        {
            "id": "request_id",
            "name": "name",
            "server_label": "server",
            "arguments": ("arguments", ArgumentsText()),
        },
    ),
    row(
        "mcp_approval_response",
        ToolApprovalResponseContent,
        {"approval_request_id": "request_id", "approve": "approved", "reason": "reason"},
    ),
]


def _shell_row(wire: dict[str, Any]) -> str:
    environment = wire.get("environment")
    contained = environment.__class__ is dict and environment.get("type") == "container_reference"
    return "shell_call.container" if contained else "shell_call"


def _usual_item(content: Any, rows: list[Row]) -> Row:
    if content.__class__ in (ToolSearchToolCallContent, ToolSearchToolResultContent):
        return rows[content.executor == "client"]
    if content.__class__ is ShellToolCallContent and content.executor == "provider":
        return rows[1]
    if content.__class__ is ConfigurationContent:
        return next((r for r in rows if r.sets["kind"] == content.kind), rows[1])
    return rows[0]


ITEMS = TABLE.union(
    "item",
    [*CLIENT_CALLS, *PROVIDER_CALLS, *RESULTS, *OTHERS, *OTHER_TOOLS],
    choose={"shell_call": _shell_row},
    prefer=_usual_item,
)
