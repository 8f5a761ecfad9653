"""Tools of LangChain in a runner: their schemas, injected arguments, results and errors."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel

from contentmodel import ChatRequest, DataContent, FunctionCallContent, FunctionResultContent, user
from contentmodel.langchain import to_langchain
from contentmodel.runner import AsyncToolRunner, RunResult, ToolRunner
from contentmodel.tools import ToolSet, bind, load_tools
from scripted import AsyncScripted, Scripted, answer

ways = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class InjectedState(InjectedToolArg):
    """A mark as that of LangGraph."""

    def __init__(self, field: str | None = None) -> None:
        self.field = field


@langchain_tool
def weather(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"{city} {days}"


@langchain_tool
async def later(city: str) -> dict[str, Any]:
    """The weather of a city, asynchronously."""
    await asyncio.sleep(0)
    return {"city": city}


@langchain_tool
def refuses(city: str) -> str:
    """Raises."""
    raise ToolException(f"no weather for {city}")


@langchain_tool(response_format="content_and_artifact")
def measured(city: str) -> tuple[Any, Any]:
    """A text for the model, and a value for the application."""
    return f"mild in {city}", {"celsius": 18}


@langchain_tool(response_format="content_and_artifact")
def drawn(city: str) -> tuple[Any, Any]:
    """A picture."""
    return [{"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}], None


@langchain_tool
def injected(
    word: str,
    user: Annotated[str, InjectedToolArg],
    call: Annotated[str, InjectedToolCallId],
    state: Annotated[Any, InjectedState()],
    part: Annotated[int, InjectedState("count")],
    config: RunnableConfig,
) -> str:
    """Has arguments that the model does not see."""
    return f"{word} {user} {call} {sorted(state)} {part}"


class Words(BaseModel):
    city: str


class Whole(BaseTool):
    name: str = "whole"
    description: str = "A tool as a class."
    args_schema: Any = Words

    def _run(self, city: str) -> str:
        return f"whole {city}"


handled = StructuredTool.from_function(refuses.func, name="handled", description="Raises.", handle_tool_error=True)
from_schema = StructuredTool.from_function(
    lambda **given: str(given),
    name="from_schema",
    description="Has a JSON Schema.",
    args_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def ran(made: Any, *, is_async: bool, application: Any = None, **arguments: Any) -> FunctionResultContent:
    call = FunctionCallContent(call_id="c1", name=getattr(made, "name", "weather"), arguments=arguments)
    script = [answer(call), answer("Done.")]
    result: RunResult = (
        asyncio.run(AsyncToolRunner(AsyncScripted(script), [made], state=application).run("Go."))
        if is_async
        else ToolRunner(Scripted(script), [made], state=application).run("Go.")
    )
    (found,) = [c for m in result.messages for c in m.contents if isinstance(c, FunctionResultContent)]
    return found


@ways
@pytest.mark.parametrize(
    ("made", "text"),
    [
        (weather, "Oslo 1"),
        (later, '{"city": "Oslo"}'),
        (Whole(), "whole Oslo"),
        (from_schema, "{'city': 'Oslo'}"),
        (measured, "mild in Oslo"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_runner_runs_a_tool_of_langchain(made: BaseTool, text: str, is_async: bool) -> None:
    result = ran(made, is_async=is_async, city="Oslo")
    assert (result.text, result.is_error) == (text, None)


@ways
@pytest.mark.parametrize("made", [refuses, handled], ids=lambda made: made.name)
def test_tool_exception_is_an_error_result(made: BaseTool, is_async: bool) -> None:
    result = ran(made, is_async=is_async, city="Oslo")
    assert result.error is not None
    assert (result.is_error, result.error.message) == (True, "no weather for Oslo")


@ways
def test_artifact_stays_beside_the_content(is_async: bool) -> None:
    assert ran(measured, is_async=is_async, city="Oslo").artifact == {"celsius": 18}
    (image,) = ran(drawn, is_async=is_async, city="Oslo").outputs
    assert isinstance(image, DataContent)
    assert image.media_type == "image/png"


@ways
def test_injected_arguments_come_from_the_application(is_async: bool) -> None:
    (definition,) = ToolSet([injected]).definitions
    assert definition.parameters["properties"].keys() == {"word"}  # type: ignore[index, union-attr]
    evil = {"user": "evil", "call": "evil", "state": {"evil": 1}, "part": 9, "config": {"tags": ["evil"]}}
    state = {"user": "me", "count": 3}
    result = ran(injected, is_async=is_async, application=state, word="a", **evil)
    assert result.text == "a me c1 ['count', 'user'] 3"


@ways
def test_missing_injected_argument_is_an_error_and_not_the_models_value(is_async: bool) -> None:
    result = ran(injected, is_async=is_async, application={"count": 3}, word="a", user="evil")
    assert result.error is not None
    assert "user" in result.error.message
    assert "evil" not in result.error.message


@ways
def test_invalid_arguments_do_not_run_a_tool_of_langchain(is_async: bool) -> None:
    result = ran(weather, is_async=is_async, city="Oslo", days="three")
    assert result.error is not None
    assert result.error.code == "invalid_arguments"


def test_bind_and_tool_files_take_tools_of_langchain() -> None:
    (definition,) = bind(ChatRequest(messages=[user("Go.")]), [weather], choice="weather").tools
    assert (definition.name, definition.description) == ("weather", "The weather of a city.")  # type: ignore[union-attr]
    entry = {
        "type": "local",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
        "context": ["city"],
    }
    (made,) = load_tools([entry], functions={"weather": weather}).tools({"city": "Rome"})
    assert ran(made, is_async=False).text == "Rome 1"


def test_calls_of_a_run_are_tool_calls_of_langchain() -> None:
    call = FunctionCallContent(call_id="c1", name="weather", arguments='{"city": "Oslo"}')
    result = ToolRunner(Scripted([answer(call), answer("Mild.")]), [weather]).run("Go.")
    made, message, _ = to_langchain(result.messages)
    assert made.tool_calls == [{"id": "c1", "name": "weather", "args": {"city": "Oslo"}, "type": "tool_call"}]  # type: ignore[attr-defined]
    assert (message.tool_call_id, message.text) == ("c1", "Oslo 1")  # type: ignore[attr-defined]
