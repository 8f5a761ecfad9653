"""The tool loop with the official clients, against a server of the four APIs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

import contentmodel as cm
from conftest import APIS, records, slow
from contentmodel import ChatMessage, ChatOptions, ChatRequest, DataContent, TextContent, ToolChoice
from contentmodel.client import ServerError
from contentmodel.runner import AsyncToolRunner, RunInterrupted, RunResult, ToolRunner
from contentmodel.tools import Tool, ToolContext, ToolOutcome, bind, result_of, tool
from contentmodel_conformance.server import Call, Fault, LoopbackServer, Turn, say

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@tool
def weather(city: str) -> str:
    """Returns the weather of a city.

    Args:
        city: The name of a city.
    """
    return f"18 degrees in {city}"


@tool
async def clock(zone: str = "UTC") -> dict[str, str]:
    """Returns the time."""
    return {"zone": zone, "time": "12:00"}


@tool
def draw(what: str) -> ToolOutcome:
    """Draws a picture."""
    return ToolOutcome([f"a {what}", DataContent(media_type="image/png", data=DOT)], note="drawn", display="a picture")


@tool
def fail(reason: str) -> str:
    """Does not work."""
    raise OSError(reason)


@tool(timeout=0.05)
def hang(context: ToolContext) -> str:
    """Takes too long."""
    context.cancellation.wait(30)
    return "late"


@tool(approval=True)
def delete(path: str) -> str:
    """Deletes a file."""
    return f"{path} is gone"


@tool(terminates=True)
def finish(text: str) -> str:
    """Reports that the work is done."""
    return text


TOOLS = [weather, clock, draw, fail, hang, delete, finish]
Made = tuple[RunResult, LoopbackServer]
Way = Callable[..., RunResult]


def plain(api: str, server: LoopbackServer, asked: Any, tools: Any = TOOLS, **settings: Any) -> RunResult:
    with cm.chat_client(api, **options(api, server)) as client:
        return ToolRunner(client, tools, **settings).run(asked)


def streamed(api: str, server: LoopbackServer, asked: Any, tools: Any = TOOLS, **settings: Any) -> RunResult:
    with (
        cm.chat_client(api, **options(api, server)) as client,
        ToolRunner(client, tools, **settings).stream(asked) as stream,
    ):
        events = list(stream)
    assert cm.fold(events) == stream.result.response
    return stream.result


def plain_async(api: str, server: LoopbackServer, asked: Any, tools: Any = TOOLS, **settings: Any) -> RunResult:
    async def made() -> RunResult:
        async with cm.async_chat_client(api, **options(api, server)) as client:
            return await AsyncToolRunner(client, tools, **settings).run(asked)

    return asyncio.run(made())


def streamed_async(api: str, server: LoopbackServer, asked: Any, tools: Any = TOOLS, **settings: Any) -> RunResult:
    async def made() -> RunResult:
        async with (
            cm.async_chat_client(api, **options(api, server)) as client,
            AsyncToolRunner(client, tools, **settings).stream(asked) as stream,
        ):
            events = [event async for event in stream]
        assert cm.fold(events) == stream.result.response
        return stream.result

    return asyncio.run(made())


def options(api: str, server: LoopbackServer) -> dict[str, Any]:
    # Claude without a known name takes no forced tool.
    model = "claude-opus-5" if api == "anthropic-messages" else "model-1"
    return {"model": model, "api_key": "none", "base_url": server.base_url(api), "max_retries": 0}


everywhere = pytest.mark.parametrize("api", APIS)
# The fast tests cover both loops and both kinds of answers.
every_way = pytest.mark.parametrize(
    "way", [plain, slow(streamed), slow(plain_async), streamed_async], ids=lambda way: way.__name__
)


def results_of(result: RunResult) -> list[str]:
    """Return the text of each result of the run."""
    results = (c for message in result.messages if message.role == "tool" for c in message.contents)
    return [made.error.message if made.error else made.text for made in results]


def seen(server: LoopbackServer, number: int) -> list[str]:
    """Return the text of each result in a request to the provider."""
    messages = server.requests[number].request.messages
    results = (c for message in messages for c in message.contents if isinstance(c, cm.FunctionResultContent))
    return [made.text or (made.error.message if made.error else "") for made in results]


# -- successful runs ---------------------------------------------------------------------------------------------------


@everywhere
@every_way
def test_run_answers_calls_of_successive_turns(api: str, way: Way, loopback: Any) -> None:
    server = loopback(
        [
            say("Let me see.", Call(name="weather", arguments={"city": "Paris"})),
            {"calls": [{"name": "clock", "arguments": {}}]},
            "It is mild, and noon.",
        ]
    )
    result = way(api, server, "How is it in Paris?")
    assert (result.stop, result.text) == ("completed", "It is mild, and noon.")
    assert results_of(result) == ["18 degrees in Paris", '{"zone": "UTC", "time": "12:00"}']
    assert len(server.requests) == 3
    assert server.requests[2].request.messages[0].text == "How is it in Paris?"
    assert server.check() == []


@everywhere
@every_way
def test_run_answers_several_calls_of_one_turn(api: str, way: Way, loopback: Any) -> None:
    cities = ["Paris", "Oslo", "Rome"]
    calls = [{"name": "weather", "arguments": {"city": city}} for city in cities]
    server = loopback([{"text": "", "calls": calls}, "Mild, all of them."])
    result = way(api, server, "Where is it mild?", max_concurrency=2)
    assert results_of(result) == [f"18 degrees in {city}" for city in cities]
    assert seen(server, 1) == results_of(result)
    assert server.check() == []


@everywhere
@every_way
def test_run_sends_images_of_a_tool_to_the_model(api: str, way: Way, loopback: Any) -> None:
    server = loopback([{"calls": [{"name": "draw", "arguments": {"what": "dot"}}]}, "Nice."])
    result = way(api, server, "Draw a dot.")
    assert result.report.calls[0].display == "a picture"
    contents: list[Any] = [c for message in server.requests[1].request.messages for c in message.contents]
    inside = [output for c in contents for output in getattr(c, "outputs", [])]
    assert any(isinstance(content, DataContent) and content.data == DOT for content in [*contents, *inside])
    assert server.check() == []


# -- failures ----------------------------------------------------------------------------------------------------------


@everywhere
@every_way
def test_run_sends_every_failure_of_a_call_to_the_model(api: str, way: Way, loopback: Any) -> None:
    calls = [
        {"name": "fail", "arguments": {"reason": "disk full"}},
        {"name": "hang", "arguments": {}},
        {"name": "nobody", "arguments": {"x": 1}},
        {"name": "weather", "arguments": {"town": "Paris"}},
        {"name": "weather", "arguments": {"city": "Paris"}},
    ]
    server = loopback([{"calls": calls}, "I see."])
    result = way(api, server, "Try.")
    assert result.report.outcomes == {"failed": 1, "timeout": 1, "unknown": 1, "invalid": 1, "ok": 1}
    results = seen(server, 1)
    assert len(results) == 5
    for result_text, part in zip(
        results, ["disk full", "took longer than", "no tool named nobody", "$.town", "18 deg"], strict=True
    ):
        assert part in result_text
    assert "Traceback" not in json.dumps(server.requests[1].payload)
    assert server.check() == []


@everywhere
@every_way
def test_incomplete_calls_do_not_run(api: str, way: Way, loopback: Any) -> None:
    cut = cm.ChatResponse(
        choices=[
            cm.ChatChoice(
                messages=[
                    ChatMessage(
                        role="assistant",
                        contents=[cm.FunctionCallContent(call_id="call_1", name="weather", arguments={"city": "Pa"})],
                    )
                ],
                finish_reason=cm.FinishReason(reason="length"),
            )
        ]
    )
    server = loopback([cut, "Sorry."])
    result = way(api, server, "Go.")
    assert result.report.outcomes == {"cut_short": 1}
    assert server.check() == []


@everywhere
@every_way
def test_run_can_be_continued_after_an_error_of_the_provider(api: str, way: Way, loopback: Any) -> None:
    server = loopback(
        [{"calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}, Turn(fault=Fault(status=500)), "At last."]
    )
    if way in (plain, plain_async):
        with pytest.raises(RunInterrupted) as interrupted:
            way(api, server, "Go.")
        result = interrupted.value.result
        assert isinstance(interrupted.value.__cause__, ServerError)
    else:
        result = way(api, server, "Go.")
    assert result.stop == "error"
    assert results_of(result) == ["18 degrees in Paris"]
    again = way(api, server, cm.loads(cm.dumps(result.request)))
    assert again.text == "At last."
    assert seen(server, 2) == ["18 degrees in Paris"]
    assert server.check() == []


@everywhere
@pytest.mark.parametrize("way", [streamed, streamed_async], ids=lambda way: way.__name__)
def test_run_can_be_repeated_after_a_truncated_stream(api: str, way: Way, loopback: Any) -> None:
    broken = Turn(say("A story.", Call(name="weather", arguments={"city": "Paris"})), Fault(truncate=True))
    server = loopback([broken, "It is mild."])
    result = way(api, server, "Go.")
    assert result.stop == "error"
    assert {record.outcome for record in result.report.calls} <= {"not_run"}
    assert len(result.request.messages) == 1
    assert way(api, server, result.request).text == "It is mild."
    assert server.check() == []


@everywhere
@every_way
def test_run_can_be_continued_after_max_iterations(api: str, way: Way, loopback: Any) -> None:
    calls = [{"calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}] * 2
    server = loopback([*calls, "Mild."])
    asked = bind(request("Go."), TOOLS, choice="required")
    result = way(api, server, asked, max_iterations=2)
    assert result.stop == "max_iterations"
    assert way(api, server, result.request).text == "Mild."
    modes = [record.request.options.tool_choice for record in server.requests]
    assert modes[0] is not None
    assert modes[0].mode == "required"
    assert all(choice is None or choice.mode == "auto" for choice in modes[1:])
    assert all(record.request.tools for record in server.requests)
    assert server.check() == []


@everywhere
@every_way
def test_run_with_answer_on_limit_forbids_tools_in_the_last_request(api: str, way: Way, loopback: Any) -> None:
    server = loopback([{"calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}, "Mild."])
    way(api, server, "Go.", max_iterations=2, answer_on_limit=True)
    choice = server.requests[1].request.options.tool_choice
    assert choice is not None
    assert choice.mode == "none"
    assert server.check() == []


@everywhere
@every_way
def test_terminating_tool_ends_the_run(api: str, way: Way, loopback: Any) -> None:
    server = loopback([{"calls": [{"name": "finish", "arguments": {"text": "done"}}]}])
    assert way(api, server, "Go.").stop == "terminated"


# -- pending calls -----------------------------------------------------------------------------------------------------


@everywhere
@every_way
def test_run_resumes_after_approval(api: str, way: Way, loopback: Any) -> None:
    calls = [
        {"name": "delete", "arguments": {"path": "/tmp/a"}},
        {"name": "weather", "arguments": {"city": "Paris"}},
        {"name": "delete", "arguments": {"path": "/"}},
    ]
    server = loopback([{"text": "I have to delete.", "calls": calls}, "Done."])
    result = way(api, server, "Clean up.")
    assert (result.stop, len(server.requests)) == ("approval", 1)
    first, second = (request.request_id for request in result.approvals)
    stored = cm.dumps(result.answer({first: True, second: "that is everything"}))
    more = way(api, server, cm.loads(stored))
    assert more.text == "Done."
    assert seen(server, 1) == [
        "/tmp/a is gone",
        "18 degrees in Paris",
        "the user did not allow this call: that is everything",
    ]
    assert server.check() == []


@everywhere
@every_way
def test_run_hands_back_calls_of_declared_tools(api: str, way: Way, loopback: Any) -> None:
    shown = cm.FunctionTool(
        name="show", description="Shows it to the user.", parameters={"type": "object", "properties": {}}
    )
    calls = [{"name": "show", "arguments": {}}, {"name": "weather", "arguments": {"city": "Paris"}}]
    server = loopback([{"calls": calls}, "Done."])
    result = way(api, server, "Go.", [*TOOLS, shown])
    assert (result.stop, len(result.handed_back)) == ("handed_back", 1)
    answer = ChatMessage(role="tool", contents=[result_of(result.handed_back[0], "shown")])
    asked = msgspec.structs.replace(result.request, messages=[*result.request.messages, answer])
    assert way(api, server, asked, [*TOOLS, shown]).text == "Done."
    assert sorted(seen(server, 1)) == ["18 degrees in Paris", "shown"]
    assert server.check() == []


@every_way
def test_run_sends_only_results_if_the_server_keeps_the_conversation(way: Way, loopback: Any) -> None:
    server = loopback([{"calls": [{"name": "weather", "arguments": {"city": "Paris"}}]}, "Mild."])
    asked = request("And in Paris?", previous_response_id="resp_before")
    result = way("openai-responses", server, asked)
    assert result.text == "Mild."
    sent = [record.payload for record in server.requests]
    assert [item["type"] for item in sent[1]["input"]] == ["function_call_output"]
    assert sent[1]["previous_response_id"] == result.responses[0].id
    assert server.check() == []


# -- recorded answers --------------------------------------------------------------------------------------------------


class Anything(Tool):
    """Accepts any arguments of a recorded answer."""

    args_schema = {"type": "object"}

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, args: Any, *context: Any) -> str:
        return "done"


def recorded_calls(api: str) -> Iterator[tuple[str, Any, list[str]]]:
    for record in records(api, "response"):
        response = cm.adapter(api).decode_response(record["body"])
        names = {made.name for message in response.messages for made in message.tool_calls if made.name}
        if names and response.error is None:
            yield record["id"], record["body"], sorted(names)


@pytest.mark.slow
@everywhere
@pytest.mark.parametrize("way", [plain, streamed], ids=lambda way: way.__name__)
def test_run_answers_recorded_calls(api: str, way: Way, corpus: Any) -> None:
    """The next request has the recorded calls unchanged, with their results."""
    count = 0
    for name, payload, names in recorded_calls(api):
        with LoopbackServer([{"api": api, "payload": payload}, "Done."]) as server:
            result = way(api, server, "Go.", [Anything(tool_name) for tool_name in names])
            if result.stop == "handed_back":
                continue
            assert server.check() == [], name
            assert result.stop == "completed", name
            assert len(server.requests) == 2
            count += 1
    assert count > 3


def request(text: str, **fields: Any) -> ChatRequest:
    return ChatRequest(
        messages=[ChatMessage(role="user", contents=[TextContent(text=text)])], options=ChatOptions(**fields)
    )


def test_bind_requires_a_chosen_tool() -> None:
    assert bind(request("Go."), TOOLS, choice="weather").options.tool_choice == ToolChoice(
        mode="required", tools=["weather"]
    )
