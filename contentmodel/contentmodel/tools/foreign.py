"""Tools of other frameworks."""

from __future__ import annotations

import sys
from typing import Any, Protocol


class ForeignTool(Protocol):
    """A tool of another framework: a `BaseTool` of LangChain."""

    name: str
    description: str
    return_direct: bool

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Run the tool."""
        ...


def as_tool(value: Any) -> Any:
    """Return a `BaseTool` of LangChain as a `Tool`, and any other value unchanged.

    LangChain is not imported: a process that has such a tool has imported it.
    """
    base = getattr(sys.modules.get("langchain_core.tools.base"), "BaseTool", None)
    if base is None or not isinstance(value, base):
        return value
    from contentmodel.interop.langchain_tools import LangChainTool

    return LangChainTool(value)
