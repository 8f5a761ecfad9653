"""The rows of tools that a provider runs: parts `builtin-tool-call` and `builtin-tool-return` of a response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import Codec, DecodeContext, EncodeContext, Filled, Required, Row, Silent, Spec, reasons
from contentmodel.content import hosted
from contentmodel.content.base import AIContent, content_tag
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel_adapters.pydantic_ai_messages.values import Recorded

CALL_KIND, RETURN_KIND = "builtin-tool-call", "builtin-tool-return"
_NAMES = {"code_interpreter": "code_execution", "url_context": "web_fetch"}
SERVER = "mcp_server:"


class _Server(Codec[str]):
    """The label of an MCP server, after a prefix."""

    classes = (str,)
    identity = False
    mandatory = True

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value.startswith(SERVER)

    def decode(self, value: str, context: DecodeContext, container: Any, key: str) -> str:
        return value.removeprefix(SERVER)

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return f"{SERVER}{value}"

    def describe(self) -> str:
        return f"{SERVER}*"


class _Tool(Codec[str]):
    """The name of a hosted tool that has a content class. Only this name selects the class."""

    classes = (str,)
    identity = False
    mandatory = True

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        if value != self._name:
            context.report_loss(owner, "name", reasons.OTHER_VALUE, value=self._name)
        return self._name


def _hosted_tools() -> dict[str, tuple[type[Any], type[Any]]]:
    """Return the classes of each hosted tool, by Pydantic AI's name for it, or by that of the content model."""
    tools: dict[str, tuple[type[Any], type[Any]]] = {}
    for name, kind in vars(hosted).items():
        if name.endswith("ToolCallContent") and kind.__module__ == hosted.__name__ and not name.startswith("Mcp"):
            own = content_tag(name).removesuffix("_tool_call")
            result = getattr(hosted, name.replace("CallContent", "ResultContent"))
            tools.setdefault(_NAMES.get(own, own), (kind, result))
    # The URL context of Gemini is the fetch tool of Pydantic AI, which decodes as a fetch.
    return tools


TOOLS = _hosted_tools()
NAMES: dict[type[AIContent], str] = {of_call: name for name, (of_call, _) in TOOLS.items()}
"""The name of the tool of each class of calls."""


def rows(call: Mapping[str, Spec], result: Mapping[str, Spec], signed: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of calls and results, from the fields that they have in common."""
    made = []
    for name, (of_call, of_result) in TOOLS.items():
        for kind, model, fields in ((CALL_KIND, of_call, call), (RETURN_KIND, of_result, result)):
            if kind == CALL_KIND:
                of_tool: dict[str, Spec] = {"tool_name": ("name", _Tool(name)), **fields}
                made.append(Row(f"{kind}.{name}", model, of_tool, constants={"part_kind": kind}))
            else:
                constants = {"part_kind": kind, "tool_name": name}
                fill = Recorded({"content": None})
                made.append(Row(f"{kind}.{name}", model, fields, fill, Silent("name"), constants=constants))
    server: dict[str, Spec] = {"tool_name": ("server", _Server()), "tool_call_id": "call_id", **signed}
    called: dict[str, Spec] = {"args.tool_name": "name", "args.tool_args": "arguments"}
    made += [
        Row(
            f"{CALL_KIND}.mcp",
            hosted.McpServerToolCallContent,
            {**server, **called},
            constants={"part_kind": CALL_KIND, "args.action": "call_tool"},
        ),
        Row(
            f"{CALL_KIND}.mcp.list",
            hosted.McpListToolsToolCallContent,
            server,
            Silent("name"),
            constants={"part_kind": CALL_KIND, "args.action": "list_tools"},
        ),
        Row(
            f"{RETURN_KIND}.mcp",
            hosted.McpServerToolResultContent,
            {**result, **server},
            Recorded({"content": None}),
            Silent("name"),
            constants={"part_kind": RETURN_KIND},
        ),
        Row(
            CALL_KIND,
            HostedToolCallContent,
            {"tool_name": ("name", Required()), **call},
            Filled({"tool_name": "unknown"}),
            constants={"part_kind": CALL_KIND},
        ),
        Row(
            RETURN_KIND,
            HostedToolResultContent,
            {"tool_name": ("name", Required()), **result},
            Recorded({"content": None, "tool_name": "unknown"}),
            constants={"part_kind": RETURN_KIND},
        ),
    ]
    return made


def name_of(wire: dict[str, Any], kind: str) -> str:
    """Return the name of the row of a part."""
    name: Any = wire.get("tool_name")
    args: Any = wire.get("args")
    if name.__class__ is not str:
        return kind
    if not name.startswith(SERVER):
        return f"{kind}.{name}" if name in TOOLS else kind
    if kind == RETURN_KIND:
        return f"{RETURN_KIND}.mcp"
    action = args.get("action") if args.__class__ is dict else None
    if action == "call_tool" and args.get("tool_name").__class__ is str:
        return f"{CALL_KIND}.mcp"
    return f"{CALL_KIND}.mcp.list" if action == "list_tools" else CALL_KIND
