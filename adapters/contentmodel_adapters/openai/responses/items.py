"""The items of the Responses API. The item of a hosted tool is both call and result: a pair makes two contents of it.

Read off openai 3.52 (types/responses), seen November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    LIST,
    ArgumentsObject,
    ArgumentsText,
    Blocks,
    Column,
    Columns,
    EncodeContext,
    Failure,
    Field,
    Filled,
    Gathered,
    Implied,
    MintedId,
    Named,
    One,
    Opaque,
    Record,
    Row,
    Shape,
    Sign,
    Silent,
    Spec,
    TextOrBlocks,
    row,
    text_of,
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
from contentmodel.message import ChatMessage
from contentmodel_adapters.common.hosted import output_columns
from contentmodel_adapters.openai.responses.blocks import (
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
    TEXT_FIELD,
    MadeImage,
    ShellOutputs,
    named_row,
)

# -- items ---------------------------------------------------------------------------------------------------------

CALLER = TABLE.record("caller", Caller, {"type": "kind", "caller_id": "call_id"})


class ProgramCaller(Record[Caller]):
    """The caller of a call. Of those that other formats keep, only a program that the API gets is sent."""

    def __init__(self, row: Row) -> None:
        super().__init__(row, provider_only=True)

    def encode(self, value: Caller, context: EncodeContext, owner: object) -> dict[str, Any] | None:
        is_kept = id(value) in context.own_contents
        return self.row.encode(value, context) if is_kept else super().encode(value, context, owner)


CALL: dict[str, Spec] = {
    "call_id": "call_id",
    "status": "status",
    "caller": ("caller", ProgramCaller(CALLER)),
}
SEARCH: dict[str, Spec] = {**CALL, "call_id": ("call_id", MintedId())}  # Null if the API runs the search.
HOSTED: dict[str, Spec] = {"id": "call_id", "status": "status"}
# The required fields of every item of an answer, with their defaults (openai 3.54, types/responses; seen 2026-11-22).
ENDED: dict[str, Any] = {"status": "completed"}
ITEM: dict[str, Any] = {"id": "", **ENDED}
RESULT_OF = ("call_id", "name", "caller", "status", "is_error")
PARTS = TextOrBlocks(INPUT, "string")
# The status of an item is that of the call; a failed call may have no other sign of its failure.
STATUS = Sign("status", ("failed",), failed="failed")
FAILED, ONLY_STATUS = Failure(STATUS), Failure(STATUS, only_signs=True)
OUTPUTS = output_columns(GIVEN_BACK, "output")

PAIRS = [
    TABLE.pair(
        row(
            "web_search_call",
            WebSearchToolCallContent,
            {**HOSTED, "action": "arguments"},
            Silent("name", "caller"),
            Filled({**ENDED, "action": {"type": "search", "query": ""}}),
        ),
        Row(
            "web_search_result",
            WebSearchToolResultContent,
            {"sources": ("outputs", Blocks(SOURCES))},
            Silent(*RESULT_OF),
        ),
        ("sources",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        row(
            "file_search_call",
            FileSearchToolCallContent,
            HOSTED,
            Gathered("arguments", "queries"),
            Silent("name", "caller"),
            Filled({**ENDED, "queries": []}),
        ),
        Row(
            "file_search_result",
            FileSearchToolResultContent,
            {"results": ("outputs", Blocks(FOUND))},
            Silent(*RESULT_OF),
        ),
        ("results",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        row(
            "code_interpreter_call",
            CodeInterpreterToolCallContent,
            HOSTED,
            Gathered("arguments", "code"),
            Silent("name", "caller"),
            Filled({**ENDED, "container_id": ""}),
        ),
        Row(
            "code_interpreter_result",
            CodeInterpreterToolResultContent,
            {"outputs": ("outputs", Blocks(CODE_OUTPUTS))},
            Silent(*RESULT_OF),
        ),
        ("outputs",),
        ONLY_STATUS,
    ),
    TABLE.pair(
        row(
            "image_generation_call",
            ImageGenerationToolCallContent,
            HOSTED,
            Gathered(
                "arguments", "action", "background", "output_format", "prompt", "quality", "revised_prompt", "size"
            ),
            Silent("name", "caller"),
            Filled(ENDED),
        ),
        Row(
            "image_generation_result",
            ImageGenerationToolResultContent,
            {},
            Columns(
                "outputs", {"result": Column(MadeImage(), DataContent), "error": Column(IMAGE_ERROR, ErrorContent)}
            ),
            Silent(*RESULT_OF),
        ),
        ("result", "error"),
        FAILED,
    ),
    TABLE.pair(
        row(
            "mcp_call",
            McpServerToolCallContent,
            {**HOSTED, "name": "name", "server_label": "server", "arguments": ("arguments", ArgumentsText())},
            Silent("caller"),
            Filled({"name": "", "server_label": "", "arguments": "{}"}),
        ),
        Row(
            "mcp_result",
            McpServerToolResultContent,
            {},
            Columns("outputs", {"output": Column(TEXT_FIELD, TextContent), "error": Column(MCP_ERROR, ErrorContent)}),
            Silent(*RESULT_OF, "server"),
        ),
        ("output", "error"),
        FAILED,
    ),
    TABLE.pair(
        row(
            "mcp_list_tools",
            McpListToolsToolCallContent,
            {**HOSTED, "server_label": "server"},
            Silent("name", "caller"),
            Filled({"server_label": "", "tools": []}),
        ),
        Row(
            "mcp_list_tools_result",
            McpListToolsToolResultContent,
            {"tools": "tools"},
            Columns("outputs", {"error": Column(LIST_ERROR, ErrorContent)}),
            Silent(*RESULT_OF, "server"),
        ),
        ("tools", "error"),
        FAILED,
    ),
]


def _function_call(name: str, arguments: ArgumentsText, **options: Any) -> Row:
    fields: dict[str, Spec] = {**CALL, "name": "name", "namespace": "namespace", "arguments": ("arguments", arguments)}
    return named_row(name, "function_call", FunctionCallContent, fields, Filled({"arguments": "{}"}), **options)


def _has_object(wire: Mapping[str, Any]) -> bool:
    return wire.get("arguments").__class__ is dict


CLIENT_CALLS = [
    # OpenAI refuses an object, but clients of other hosts send one, as in Chat.
    _function_call("function_call.object", ArgumentsText(objects=True), accepts=_has_object),
    _function_call("function_call", ArgumentsText()),
    row(
        "custom_tool_call",
        CustomToolCallContent,
        {**CALL, "name": "name", "namespace": "namespace", "input": "arguments"},
        Filled({"input": ""}),
    ),
]


def _by_executor(
    tag: str, model: type[Any], fields: dict[str, Spec], *others: Field, fill: dict[str, Any], **options: Any
) -> list[Row]:
    """Return the rows of an item whose `execution` names the party that runs the tool.

    It is required (openai 3.54, types/responses/response_tool_search_call.py, seen 2026-11-22).
    """
    client = {"type": tag, "execution": "client"}
    by_client = Row(
        f"{tag}.client",
        model,
        fields,
        *others,
        Implied({"executor": "client"}),
        Filled(fill),
        constants=client,
        **options,
    )
    return [row(tag, model, fields, *others, Filled({**fill, "execution": "server"}), **options), by_client]


PROVIDER_CALLS = [
    row(
        "computer_call",
        ComputerUseToolCallContent,
        CALL,
        Gathered("arguments", "action", "actions", "pending_safety_checks"),
        Silent("name"),
        Filled({**ITEM, "pending_safety_checks": []}),
    ),
    # A shell in a container is run by the provider; without one the application runs the commands.
    named_row(
        "shell_call",
        "shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        Silent("name"),
        Implied({"executor": "client"}),
        Filled(ENDED),
    ),
    named_row(
        "shell_call.container",
        "shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        Silent("name"),
        Filled(ENDED),
        select=("environment.type", ("container_reference",)),
    ),
    named_row(
        "local_shell_call",
        "local_shell_call",
        ShellToolCallContent,
        {**CALL, "action": ("arguments", ArgumentsObject())},
        Silent("name"),
        Implied({"executor": "client"}),
    ),
    row(
        "apply_patch_call",
        ApplyPatchToolCallContent,
        {**CALL, "operation": ("arguments", ArgumentsObject())},
        Silent("name"),
        Filled(ENDED),
    ),
    *_by_executor(
        "tool_search_call", ToolSearchToolCallContent, {**SEARCH, "arguments": "arguments"}, Silent("name"), fill=ITEM
    ),
    row(
        "program",
        ProgramToolCallContent,
        {"call_id": "call_id", "fingerprint": ("protected", Opaque("openai", "signature"))},
        Gathered("arguments", "code"),
        Silent("name", "status", "caller"),
        Filled({"id": "", "code": "", "fingerprint": ""}),
    ),
]
RESULTS = [
    row(
        "function_call_output",
        FunctionResultContent,
        {**CALL, "name": "name", "output": ("outputs", PARTS)},
        Filled({"output": ""}),
    ),
    row(
        "custom_tool_call_output",
        CustomToolResultContent,
        {**CALL, "output": ("outputs", PARTS)},
        Filled({"output": ""}),
        Silent("name"),
    ),
    row(
        "computer_call_output",
        ComputerUseToolResultContent,
        {**CALL, "output": ("outputs", One(SCREENSHOT))},
        Silent("name"),
        failure=FAILED,
    ),
    row(
        "shell_call_output",
        ShellToolResultContent,
        {**CALL, "output": ("outputs", ShellOutputs(SHELL_OUTPUTS))},
        Silent("name"),
        Filled({**ENDED, "output": []}),
        failure=FAILED,
    ),
    row(
        "local_shell_call_output",
        ShellToolResultContent,
        {"id": "call_id", "status": "status", "output": ("outputs", TEXT_FIELD)},
        Silent("name", "caller"),
        failure=FAILED,
    ),
    row(
        "apply_patch_call_output",
        ApplyPatchToolResultContent,
        {**CALL, "output": ("outputs", TEXT_FIELD)},
        Silent("name"),
        failure=Failure(STATUS, texts_are_errors=True, only_signs=True),
    ),
    *_by_executor(
        "tool_search_output",
        ToolSearchToolResultContent,
        {**SEARCH, "tools": "tools"},
        Silent("name"),
        fill={**ITEM, "tools": []},
        failure=FAILED,
    ),
    row(
        "program_output",
        ProgramToolResultContent,
        {**CALL, "result": ("outputs", TEXT_FIELD)},
        Silent("name"),
        Filled({**ITEM, "result": ""}),
        # The status is the only sign of an incomplete program (types/responses, ProgramOutput.status).
        failure=Failure(Sign("status", ("incomplete", "failed"), failed="incomplete"), only_signs=True),
    ),
]

# -- tools that no class names -------------------------------------------------------------------------------------

_INPUTS = ("action", "operation", "input", "query", "queries", "code", "prompt")
# In order of preference: the most informative sign first.
_ANY_FAILURE = Failure(Sign("error"), STATUS, Sign("is_error"), SHELL_FAILURE.signs[0], Sign("exit_code"))


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
            Gathered("arguments", *_INPUTS),
            Silent(*ignores),
            shape=less,
            select=tag,
        ),
        Row(
            name, HostedToolCallContent, {**named, "arguments": "arguments"}, Silent(*ignores), shape=shape, select=tag
        ),
    ]


def _is_search_of_x(wire: Mapping[str, Any]) -> bool:
    return wire.get("type") == "custom_tool_call" and text_of(wire, "call_id").startswith("xs_call")


# xAI runs searches of X, and sends them in the form of a call of a custom tool. Only the id differs
# (docs.x.ai/developers/tools/x-search; lidge-jun/opencodex#2190; justrach/codegraff#632; seen 2026-11-27).
SEARCH_OF_X = named_row(
    "x_search",
    "custom_tool_call",
    HostedToolCallContent,
    {**CALL, "name": "name", "input": "arguments"},
    Filled({"input": ""}),
    accepts=_is_search_of_x,
)
# An item without `call_id` is both call and result, like all tools that OpenAI runs; other tools have two items.
OTHER_PAIRS = [
    TABLE.pair(
        call,
        Row("other_result", HostedToolResultContent, {}, Columns("outputs", OUTPUTS), Silent(*RESULT_OF)),
        tuple(OUTPUTS),
        _ANY_FAILURE,
    )
    for call in (SEARCH_OF_X, *_other_calls("other_pair", HOSTED, Shape(("_call",), without=("call_id",))))
]


def _other_results(ending: str) -> list[Row]:
    """Return the rows of results of an unknown tool: with `call_id`, or else with the id of the call as its own."""
    name: dict[str, Spec] = {"type": ("name", Named(ending))}
    options: dict[str, Any] = {"select": ("type", (f"hosted{ending}",)), "failure": _ANY_FAILURE}
    return [
        Row(
            f"other{ending}",
            HostedToolResultContent,
            {**CALL, **name},
            Columns("outputs", OUTPUTS),
            shape=Shape((ending,), {"call_id": str}),
            **options,
        ),
        Row(
            f"other{ending}.id",
            HostedToolResultContent,
            {**HOSTED, **name},
            Columns("outputs", OUTPUTS),
            Silent("caller"),
            shape=Shape((ending,), without=("call_id",)),
            **options,
        ),
    ]


OTHER_TOOLS = [
    *_other_calls("other_call", CALL, Shape(("_call",), {"call_id": str})),
    *(made for ending in ("_call_output", "_output", "_result") for made in _other_results(ending)),
]
OTHERS = [
    row("compaction", CompactionContent, {"encrypted_content": ("protected", ENCRYPTED)}),
    row("compaction_trigger", ConfigurationContent, {}, Implied({"kind": "compaction_trigger"})),
    row(
        "configuration_update",
        ConfigurationContent,
        {},
        Gathered("settings", "reasoning", "text"),
        Implied({"kind": "configuration_update"}),
    ),
    row("item_reference", ReferenceContent, {"id": "item_id"}),
    row("additional_tools", ToolChangeContent, {"tools": ("tools", LIST)}, Implied({"action": "add"})),
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


def _usual_item(content: Any, rows: list[Row]) -> Row:
    if content.__class__ is FunctionCallContent:
        return rows[-1]
    if content.__class__ in (ToolSearchToolCallContent, ToolSearchToolResultContent):
        return rows[content.executor == "client"]
    if content.__class__ is ShellToolCallContent and content.executor == "provider":
        return rows[1]
    if content.__class__ is ConfigurationContent:
        return next((r for r in rows if r.implied["kind"] == content.kind), rows[1])
    return rows[0]


ITEMS = TABLE.union(
    "item",
    [*CLIENT_CALLS, *PROVIDER_CALLS, *RESULTS, *OTHERS, *OTHER_TOOLS],
    prefer=_usual_item,
)
AGENT_MESSAGE = TABLE.record(
    "agent_message",
    ChatMessage,
    {"content": ("contents", Blocks(INPUT))},
    Implied({"role": "user"}),
    Silent("message_id"),
    constants={"type": "agent_message"},
)
"""A message of another agent. The model must act on it as on one of the user.

Source: types/beta/beta_response_input_item_param.py of openai 3.54; `ResponseItem` in codex-rs/protocol of
openai/codex. Seen 2026-11-27.
"""


def is_agent_message(item: dict[str, Any]) -> bool:
    """Return whether an item is a message of another agent, with a content that is a list of objects."""
    parts = item.get("content") if item.get("type") == AGENT_MESSAGE.name else None
    return parts.__class__ is list and bool(parts) and all(part.__class__ is dict for part in parts)
