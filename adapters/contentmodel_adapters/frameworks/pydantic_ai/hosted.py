"""The rows of tools that a provider runs: parts `builtin-tool-call` and `builtin-tool-return` of a response."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from contentmodel.authoring import (
    Affixed,
    Codec,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    FixedName,
    NonEmptyText,
    Required,
    Row,
    Silent,
    Spec,
)
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import HostedToolCallContent, HostedToolResultContent
from contentmodel_adapters.frameworks import hosted_tools
from contentmodel_adapters.frameworks.pydantic_ai.values import Recorded

CALL_KIND, RETURN_KIND = "builtin-tool-call", "builtin-tool-return"
_NAMES = {"code_interpreter": "code_execution", "url_context": "web_fetch"}
TOOLS = {
    _NAMES.get(kind, kind): kind
    for kind in hosted_tools.CALLS
    # The URL context of Gemini is the fetch tool of Pydantic AI, which decodes as a fetch.
    if kind not in (hosted_tools.OTHER, "mcp_server", "mcp_list_tools", "url_context")
}
"""The kind of each hosted tool, by Pydantic AI's name for it, or by that of the content model."""
NAMES: dict[type[AIContent], str] = {hosted_tools.CALLS[kind]: name for name, kind in TOOLS.items()}
"""The name of the tool of each class of calls."""
RESULTS: dict[type[AIContent], str] = {hosted_tools.RESULTS[kind]: name for name, kind in TOOLS.items()}
"""The name of the tool of each class of results."""


def part(
    kind: str,
    model: type[Any],
    fields: Mapping[str, Spec],
    *others: Field,
    form: str | None = None,
    constants: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Row:
    """Return the row of a part. The field `part_kind` names it; `form` is the name of one of several rows of a kind."""
    name = kind if form is None else f"{kind}.{form}"
    return Row(name, model, fields, *others, constants={"part_kind": kind, **constants}, **options)


class _Tools(Required):
    """The tools of an MCP server. A list with other values than objects is an output."""

    def holds(self, value: object) -> bool:
        return value.__class__ is list and all(item.__class__ is dict for item in value)


_LISTED: dict[str, Spec] = {
    "content.tools": ("tools", _Tools(list)),
    "content.error": ("outputs", NonEmptyText(ErrorContent, "message")),
}
"""The fields of a list of the tools of an MCP server, as Pydantic AI writes it."""


def rows(
    call: Mapping[str, Spec], result: Mapping[str, Spec], signed: Mapping[str, Spec], results_spec: Spec
) -> list[Row]:
    """Return the rows of calls and results, from the fields that they have in common.

    `results_spec` is the field `content` of the result of a web search.
    """
    calls = [
        part(CALL_KIND, hosted_tools.CALLS[kind], {"tool_name": ("name", FixedName(name)), **call}, form=name)
        for name, kind in TOOLS.items()
    ]
    results = [
        part(
            RETURN_KIND,
            hosted_tools.RESULTS[kind],
            {**result, "content": results_spec} if kind == "web_search" else result,
            Recorded({"content": None}),
            Silent("name"),
            form=name,
            constants={"tool_name": name},
        )
        for name, kind in TOOLS.items()
    ]
    named: dict[str, Spec] = {"tool_name": ("name", Required())}
    return [
        *calls,
        *results,
        *_rows_of_servers(result, signed),
        part(CALL_KIND, HostedToolCallContent, {**named, **call}, Filled({"tool_name": "unknown"})),
        part(
            RETURN_KIND,
            HostedToolResultContent,
            {**named, **result},
            Recorded({"content": None, "tool_name": "unknown"}),
        ),
    ]


class _CallAsText(Codec[tuple[str | None, Any]]):
    """The name and the arguments of a call, as the JSON text that Pydantic AI makes of a stream.

    The text of the arguments is kept.
    """

    classes = (str,)
    identity = False
    mandatory = True
    _form = re.compile(r'\{"action":"call_tool","tool_name":("(?:[^"\\]|\\.)*"),"tool_args":(.*)\}', re.DOTALL)

    def holds(self, value: object) -> bool:
        return isinstance(value, str) and self._read(value) is not None

    def _read(self, text: str) -> tuple[str, str] | None:
        match = self._form.fullmatch(text)
        if match is None:
            return None
        try:
            name = json.loads(match[1])
        except ValueError:
            return None
        return (name, match[2]) if _as_text(name) == match[1] else None

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> tuple[str | None, Any]:
        return self._read(value) or (None, None)

    def encode(self, value: tuple[str | None, Any], context: EncodeContext, owner: object) -> str:
        name, arguments = value
        text = arguments if isinstance(arguments, str) else _as_text(arguments or {})
        return f'{{"action":"call_tool","tool_name":{_as_text(name or "")},"tool_args":{text}}}'

    def describe(self) -> str:
        return "JSON text"


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _rows_of_servers(result: Mapping[str, Spec], signed: Mapping[str, Spec]) -> list[Row]:
    """Return the rows of tools of MCP servers: calls, lists of the tools, and their results."""
    server: dict[str, Spec] = {"tool_name": ("server", Affixed("mcp_server:")), "tool_call_id": "call_id", **signed}
    called: dict[str, Spec] = {"args.tool_name": ("name", Required()), "args.tool_args": "arguments"}
    return [
        part(
            CALL_KIND,
            hosted_tools.CALLS["mcp_server"],
            {**server, **called},
            form="mcp",
            constants={"args.action": "call_tool"},
        ),
        part(
            CALL_KIND,
            hosted_tools.CALLS["mcp_server"],
            {**server, "args": (("name", "arguments"), _CallAsText())},
            form="mcp.text",
        ),
        part(
            CALL_KIND,
            hosted_tools.CALLS["mcp_list_tools"],
            server,
            form="mcp.list",
            constants={"args.action": "list_tools"},
        ),
        part(
            RETURN_KIND,
            hosted_tools.RESULTS["mcp_list_tools"],
            {**{key: spec for key, spec in result.items() if key != "content"}, **server, **_LISTED},
            Filled({"content.tools": []}),
            Silent("name"),
            form="mcp.list",
        ),
        part(
            RETURN_KIND,
            hosted_tools.RESULTS["mcp_server"],
            {**result, **server},
            Recorded({"content": None}),
            Silent("name"),
            form="mcp",
        ),
    ]
