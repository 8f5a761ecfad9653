"""Tools of a conversation, in the kinds that its API supports, with calls and tool choices.

The kinds: functions without parameters ("bare"), free-text tools ("custom"), tools in namespaces ("namespaces"),
schemas in OpenAPI's format ("openapi"), hosted tools between functions ("hosted"), and choices among several tools
("choices").
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import CustomTool, FunctionCallContent, FunctionTool, HostedTool, ToolChoice, ToolGroup
from contentmodel.content.tools import CustomToolCallContent
from contentmodel.hints import ROW

__all__ = ["NAMES", "Toolset"]

NAMES = st.sampled_from(["search", "read_file", "ns.tool:v2", "a b", "n" * 70, "-x", "9lives"])
_ARGUMENTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"q": "x"}, {"q": "\udfff"}, {"path": "/tmp", "deep": {"list": [1, 2.5, None, True]}}]
)
_INPUTS = st.sampled_from(["", "*** Begin\n+ a", "{}", '{"input": "x"}', "Ünïcödé ✅"])
_FORMATS: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        {"type": "grammar", "syntax": "lark", "definition": "start: /a+/\n"},
        {"type": "grammar", "syntax": "regex", "definition": "^a+$"},
    ]
)
_OPENAPI = {
    "type": "OBJECT",
    "properties": {
        "at": {"type": "STRING", "format": "date-time", "nullable": True},
        "size": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER", "format": "int32"}]},
    },
    "propertyOrdering": ["at", "size"],
    "required": ["at"],
}
_NAMESPACES = st.sampled_from([None, "agents", "mcp__files__"])
_Key = tuple[str | None, str]


class Toolset:
    """Draws calls, and keeps the tools that they refer to."""

    def __init__(self, draw: DrawFn, api: str, kinds: frozenset[str]) -> None:
        self._draw = draw
        self._api = api
        self._kinds = kinds
        self._tools: dict[_Key, Any] = {}

    def call(self, call_id: str) -> Any:
        """Return a call of an existing or a new tool."""
        name = self._draw(NAMES)
        namespace = self._draw(_NAMESPACES) if "namespaces" in self._kinds else None
        key = (namespace, name)
        if key not in self._tools:
            self._tools[key] = self._tool(name)
        if isinstance(self._tools[key], CustomTool):
            text = self._draw(_INPUTS)
            return CustomToolCallContent(call_id=call_id, name=name, namespace=namespace, arguments=text)
        arguments = self._draw(_ARGUMENTS)
        return FunctionCallContent(call_id=call_id, name=name, namespace=namespace, arguments=arguments)

    def _tool(self, name: str) -> Any:
        kind = self._draw(
            st.sampled_from(["function", "function", *sorted(self._kinds & {"bare", "custom", "openapi"})])
        )
        if kind == "custom":
            return CustomTool(name=name, description="Takes text.", format=self._draw(_FORMATS))
        if kind == "openapi":
            return FunctionTool(name=name, parameters=_OPENAPI, extra=ROW.extra(self._api, "openapi"))
        return FunctionTool(name=name, parameters=None if kind == "bare" else {"type": "object"})

    def tools(self) -> list[Any]:
        """Return the definitions of all tools that were called."""
        members: dict[str | None, list[Any]] = {}
        for (namespace, _), tool in sorted(self._tools.items(), key=lambda item: (item[0][0] or "", item[0][1])):
            members.setdefault(namespace, []).append(tool)
        tools: list[Any] = members.pop(None, [])
        has_hosted: bool = "hosted" in self._kinds and self._draw(st.booleans())
        if has_hosted and tools:
            tools.insert(self._draw(st.integers(0, len(tools))), HostedTool(kind="web_search", name="web_search"))
        return tools + [
            ToolGroup(name=namespace, description="Tools of one kind.", tools=inner)
            for namespace, inner in members.items()
        ]

    def choice(self) -> ToolChoice | None:
        """Return a choice among the tools outside of namespaces, or None."""
        names = sorted(name for namespace, name in self._tools if namespace is None)
        if "choices" not in self._kinds or not names or self._draw(st.integers(0, 3)):
            return None
        chosen = self._draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        return ToolChoice(mode=self._draw(st.sampled_from(["auto", "required"])), tools=chosen)
