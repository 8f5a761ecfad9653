"""Tools of LangChain as tools of this package.

Needs the extra `langchain`. `ToolSet` makes them itself: see `as_tool`. The interface is that of langchain-core 1.7.2
(langchain_core/tools/base.py, seen 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from contentmodel.content.outcomes import ErrorContent
from contentmodel.extras import needs_extra
from contentmodel.tools.arguments import Arguments, VisibleArguments, arguments_of
from contentmodel.tools.definition import Tool
from contentmodel.tools.outcome import ToolOutcome
from contentmodel.tools.signature import ToolContext

with needs_extra("langchain"):
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.tools import Tool as TextTool

    from contentmodel.langchain import from_langchain

OWN = ("config", "run_manager", "callbacks")
"""Parameters that LangChain sets itself."""


class LangChainTool(Tool):
    """A `BaseTool` of LangChain, run by its own `invoke` or `ainvoke`.

    The model does not see injected arguments. The call id is that of the call. The others come from the runner's
    `state`: an argument marked `InjectedState` gets the whole state or a field of it, and any other one the value of
    its name.
    """

    def __init__(self, inner: BaseTool) -> None:
        self.inner = inner
        self.name = inner.name
        self.description = inner.description
        self.terminates = inner.return_direct
        shown: Any = inner.tool_call_schema
        # A model of pydantic 1 has the older method.
        schema = shown if isinstance(shown, dict) else getattr(shown, "model_json_schema", shown.schema)()
        self.args_schema = dict(schema)
        self.args_schema.pop("description", None)
        self.args_schema.pop("title", None)
        declared = self.args_schema.get("properties", {})
        fields = {} if isinstance(shown, dict) else _fields(inner)
        signature: frozenset[str] = getattr(inner, "_injected_args_keys", frozenset())
        self._injected = {name: fields.get(name) for name in {*fields, *signature} if name not in declared}
        self.supplied = frozenset({*self._injected, *(name for name in OWN if name not in declared)})

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments that the model sees."""
        arguments_of(self.name, self.args_schema)
        return VisibleArguments(self.args_schema, self.supplied)

    def check(self) -> None:
        """Do nothing: every BaseTool can run."""

    @property
    def is_async(self) -> bool:
        """True if the tool has an async function of its own."""
        if isinstance(self.inner, StructuredTool | TextTool):
            return self.inner.coroutine is not None
        return type(self.inner)._arun is not BaseTool._arun

    def invoke(self, args: Any, context: ToolContext | None = None) -> Any:
        """Run the tool. The result is awaitable if `is_async`."""
        call = self._call(args, context or ToolContext())
        return self._awaited(call) if self.is_async else _outcome(self.inner.invoke(call))

    def invoke_sync(self, args: Any, context: ToolContext | None = None) -> Any:
        """Run the tool on this thread. The result is awaitable if the tool has only an async function."""
        call = self._call(args, context or ToolContext())
        has_only_async = isinstance(self.inner, StructuredTool | TextTool) and self.inner.func is None
        return self._awaited(call) if has_only_async else _outcome(self.inner.invoke(call))

    async def _awaited(self, call: Any) -> Any:
        return _outcome(await self.inner.ainvoke(call))

    def _call(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        call_id = context.call_id or "call"
        supplied: dict[str, Any] = {}
        for name, field in self._injected.items():
            marks = getattr(field, "metadata", ())
            if not any(_is_mark(mark, "InjectedToolCallId") for mark in marks) and name != "tool_call_id":
                supplied |= _from_state(name, marks, context.state)
        return {"name": self.name, "args": {**args, **supplied}, "id": call_id, "type": "tool_call"}

    @property
    def _documented(self) -> str | None:
        return None


def _fields(inner: BaseTool) -> dict[str, Any]:
    return dict(getattr(inner.get_input_schema(), "model_fields", {}))


def _is_mark(mark: Any, name: str) -> bool:
    kind = mark if isinstance(mark, type) else type(mark)
    return any(base.__name__ == name for base in kind.__mro__)


def _from_state(name: str, marks: Any, state: Any) -> dict[str, Any]:
    """Return the argument from the state of the runner; an empty dict if the state has none.

    `InjectedState` is a class of LangGraph (langgraph.prebuilt). Its `field` is the key in the state, or None.
    """
    mark = next((mark for mark in marks if _is_mark(mark, "InjectedState")), None)
    if mark is not None and getattr(mark, "field", None) is None:
        return {name: state}
    key = name if mark is None else mark.field
    if isinstance(state, Mapping):
        return {name: state[key]} if key in state else {}
    return {name: getattr(state, key)} if hasattr(state, key) else {}


def _outcome(result: Any) -> Any:
    """Return the message of a tool as an outcome. Other values are converted as any result is."""
    if not isinstance(result, ToolMessage):
        return result
    # The artifact may be any object. The outcome reports one that is not JSON.
    (message,) = from_langchain([result.model_copy(update={"artifact": None})])
    (content,) = message.contents
    outputs: list[Any] = list(content.outputs)  # type: ignore[attr-defined]
    if result.status == "error" and not any(isinstance(output, ErrorContent) for output in outputs):
        outputs = [ErrorContent(message=str(result.text), code="tool_failed")]
    return ToolOutcome(outputs, artifact=result.artifact)
