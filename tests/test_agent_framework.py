"""Messages of Microsoft Agent Framework for Python. The library writes the payloads, and reads what is written."""

from __future__ import annotations

import asyncio
import copy
import warnings
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentResponse,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)
from hypothesis import given
from hypothesis import strategies as st

from contentmodel import (
    ChatMessage,
    ChatRequest,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
    user,
)
from contentmodel.content import JsonContent, Protected, UnknownContent
from contentmodel_adapters.frameworks.extensions_ai.agent_framework.blocks import CONTENTS
from contentmodel_conformance.strategies.transcripts import answers, transcripts

AF = "agent-framework"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
ADAPTER = adapter(AF)
PIXEL = Content.from_data(b"abc", "image/png")
CALL = Content.from_function_call("c1", "weather", arguments='{"city": "Oslo"}')
MCP_CALL = Content.from_mcp_server_tool_call("m1", "search", server_name="docs", arguments={"q": "a"})
CITATION: Any = {
    "type": "citation",
    "title": "Oslo",
    "url": "https://example.org/oslo",
    "file_id": "f1",
    "tool_name": "search",
    "snippet": "a city",
    "annotated_regions": [{"type": "text_span", "start_index": 2, "end_index": 6}],
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ALL = [
        Content.from_text("\U0001f30d Oslo", annotations=[CITATION]),
        Content.from_text_reasoning(text="Look it up.", protected_data="c2VjcmV0"),
        Content.from_text_reasoning(protected_data="c2VjcmV0"),
        PIXEL,
        Content("data", uri="data:image/png;base64,YWJj", media_type="image/jpeg"),
        Content("data", uri="data:text/plain,hello"),
        Content.from_uri("https://example.org/a.png", media_type="image/png"),
        Content.from_error(message="no", error_code="refusal", error_details="more"),
        CALL,
        Content.from_function_call("c2", "now", arguments={"zone": 1}, informational_only=True),
        Content.from_function_call("c3", "now"),
        Content.from_function_result("c1", result={"degrees": 18}),
        Content.from_function_result("c1", result="Error: Function failed.", exception="no"),
        Content.from_function_result("c1", result=[Content.from_text("a"), PIXEL, Content.from_text("b")]),
        Content.from_function_result("c1"),
        Content("function_result", call_id="c1", result={"degrees": 18}),
        Content("function_result", call_id="c1", result="other", items=[Content.from_text("a")]),
        Content.from_usage({"input_token_count": 11, "cache_read_input_token_count": 3, "other": 2}),  # type: ignore[typeddict-unknown-key]
        Content.from_hosted_file("f1", media_type="text/csv", name="a.csv"),
        Content.from_hosted_vector_store("v1"),
        Content.from_code_interpreter_tool_call(call_id="p1", inputs=[Content.from_text("print(1)")]),
        Content.from_code_interpreter_tool_result(call_id="p1", outputs=[Content.from_text("1")]),
        Content.from_image_generation_tool_call(image_id="i1"),
        Content.from_image_generation_tool_result(image_id="i1", outputs=PIXEL),
        MCP_CALL,
        Content.from_mcp_server_tool_result("m1", output=[Content.from_text("found")]),
        Content.from_mcp_server_tool_result("m1", output={"found": [1]}),
        Content.from_mcp_server_tool_result("m1", output="found"),
        Content.from_search_tool_call("s1", tool_name="web_search", arguments={"query": "Oslo"}, status="completed"),
        Content.from_search_tool_result("s1", tool_name="web_search", result={"pages": 1}, items=[CALL]),
        Content.from_search_tool_call("s2", tool_name="file_search", arguments='{"query": "Oslo"}'),
        Content.from_search_tool_result("s2", tool_name="file_search", result="found"),
        Content.from_shell_tool_call(call_id="h1", commands=["ls"], timeout_ms=9, status="completed"),
        Content.from_shell_tool_result(
            call_id="h1",
            outputs=[
                Content.from_shell_command_output(stdout="a", stderr="b", exit_code=1),
                Content.from_shell_command_output(stderr="b"),
                Content.from_shell_command_output(timed_out=True),
                Content.from_shell_command_output(exit_code=0),
                Content.from_text("more"),
            ],
        ),
        Content.from_shell_tool_result(call_id="h1", outputs=[Content.from_shell_command_output(exit_code=2)]),
        Content.from_shell_tool_result(call_id="h1", outputs=[Content.from_text("a")]),
        Content.from_shell_command_output(stdout="a"),
        Content.from_computer_tool_call(id="x", call_id="y", actions=[{"type": "click"}]),
        Content.from_computer_tool_result(call_id="y", screenshot=PIXEL),
        Content.from_function_approval_request("a1", CALL),
        Content.from_function_approval_request(
            "a2", Content.from_mcp_server_tool_call("m1", "search", server_name="docs")
        ),
        Content.from_function_approval_response(True, "a1", CALL),
        Content.from_oauth_consent_request("https://example.org/consent"),
    ]
"""Contents as the library makes them."""


def read_back(payload: Any) -> Any:
    """Return the payload as the library writes it after it has read it."""
    return [Message.from_dict(message).to_dict() for message in payload]


@pytest.mark.parametrize("content", ALL, ids=lambda content: content.type)
def test_content_of_library_is_read_and_written_unchanged(content: Content) -> None:
    message = Message("assistant", [content])
    request = ADAPTER.decode_request([message])  # type: ignore[list-item]
    assert ADAPTER.encode_request(request).payload == [message.to_dict()]
    assert not isinstance(request.messages[0].contents[0], UnknownContent)


def test_every_type_of_library_has_a_row() -> None:
    from agent_framework._types import _CONTENT_TYPES

    assert CONTENTS.tags == _CONTENT_TYPES == {content.type for content in ALL}


# -- conversations of agents -------------------------------------------------------------------------------------------


class Scripted(FunctionInvocationLayer, BaseChatClient):  # type: ignore[type-arg, misc]
    """A chat client with given answers."""

    def __init__(self, *answers: Message) -> None:
        super().__init__()
        self.answers = list(answers)

    def _inner_get_response(self, **given: Any) -> Any:
        async def answer() -> ChatResponse:
            return ChatResponse(messages=[self.answers.pop(0)], response_id="r1")

        return answer()


@tool(approval_mode="never_require")
def weather(city: str) -> dict[str, Any]:
    return {"degrees": 18, "city": city}


@tool(approval_mode="never_require")
def broken() -> str:
    raise ValueError("no")


@tool(approval_mode="always_require")
def pay(amount: int) -> str:
    return f"paid {amount}"


async def run() -> list[Message]:
    """Return the messages of an agent with tools, as its session stores them."""
    calls = [CALL, Content.from_function_call("c2", "broken", arguments={})]
    client = Scripted(
        Message("assistant", ["Look it up.", *calls]),
        Message("assistant", ["18 degrees."], message_id="msg_1"),
        Message("assistant", [Content.from_function_call("c3", "pay", arguments={"amount": 3})]),
        Message("assistant", ["Paid."]),
    )
    agent = Agent(client, instructions="Be brief.", tools=[weather, broken, pay], name="clerk")
    session = agent.create_session()
    await agent.run("Weather?", session=session)
    asked = await agent.run("Pay.", session=session)
    answers = [request.to_function_approval_response(True) for request in asked.user_input_requests]
    await agent.run(Message("user", answers), session=session)
    stored: list[Message] = session.state["in_memory"]["messages"]
    return stored


def test_conversation_of_an_agent_is_read_and_written_unchanged() -> None:
    messages: Any = asyncio.run(run())
    request = ADAPTER.decode_request(messages)
    written: Any = ADAPTER.encode_request(request).payload
    assert written == [message.to_dict() for message in messages] == read_back(written)
    assert detect(messages) == (AF, "request")
    assert [message.role for message in request.messages[:4]] == ["user", "assistant", "tool", "assistant"]
    results = request.messages[2].contents
    assert [getattr(result, "is_error", None) for result in results] == [None, True]
    for target in PROVIDERS:
        made = convert(messages, target=target, model="gpt-5.2")
        assert audit(messages, made) == []
        assert "approval" not in str(made.payload)


def test_response_object_is_a_conversation() -> None:
    response: Any = ChatResponse(messages=[Message("assistant", ["Hi."])], response_id="r1")
    request = ADAPTER.decode_request(response)
    assert request.messages[0].text == "Hi."
    assert ADAPTER.encode_request(request).payload == response.to_dict()


def test_result_of_function_has_its_items() -> None:
    results: Any = [
        ADAPTER.decode_request([Message("tool", [content])]).messages[0].contents[0]  # type: ignore[list-item]
        for content in ALL
        if content.type == "function_result"
    ]
    assert [type(output).__name__ for output in results[2].outputs] == ["TextContent", "DataContent", "TextContent"]
    assert results[4].outputs == [JsonContent(value={"degrees": 18})]


def test_edited_result_changes_its_text() -> None:
    request = ADAPTER.decode_request([Message("tool", [Content.from_function_result("c1", result="a")])])  # type: ignore[list-item]
    request.messages[0].contents[0] = FunctionResultContent(
        call_id="c1", outputs=[TextContent(text="b"), TextContent(text="c")], is_error=True
    )
    content = ADAPTER.encode_request(request).payload[0]["contents"][0]  # type: ignore[index, call-overload]
    assert (content["result"], content["exception"]) == ("b\nc", "FunctionInvocationError")


def test_protected_data_without_a_provider_is_sent_to_no_other_api() -> None:
    message: Any = Message("assistant", [ALL[1]])
    reasoning: Any = ADAPTER.decode_request([message]).messages[0].contents[0]
    assert reasoning.protected == Protected(issuer=AF, kind="encrypted", data="c2VjcmV0")
    for target in (*PROVIDERS, "meai"):
        payload = convert([Message("user", ["hi"]), message], source=AF, target=target, model="gpt-5.2").payload
        assert "c2VjcmV0" not in str(payload)


def test_contents_built_by_hand_are_read_by_library() -> None:
    call = FunctionCallContent(call_id="c1", name="weather", arguments={"city": "Oslo"})
    failed = FunctionResultContent(call_id="c1", outputs=[ErrorContent(message="no")], is_error=True)
    messages = [user("hi"), ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload: Any = ADAPTER.encode_request(ChatRequest(messages=messages)).payload
    assert read_back(payload) == payload
    assert payload[2]["contents"][0]["exception"] == "FunctionInvocationError"


@pytest.mark.parametrize("source", PROVIDERS)
@given(data=st.data())
def test_converted_conversation_is_read_by_library(source: str, data: st.DataObject) -> None:
    payload = adapter(source).encode_request(data.draw(transcripts(source))).payload
    made = convert(payload, source=source, target=AF)
    assert read_back(made.payload) == made.payload
    assert [violation for violation in check(made.payload, api=AF) if violation.rule == "types-are-known"] == []


@pytest.mark.parametrize("kind", ["chat_response", "agent_response"])
def test_answer_of_the_library_is_read_and_written_unchanged(kind: str) -> None:
    made = {"chat_response": ChatResponse, "agent_response": AgentResponse}[kind]
    model = {"model": "gpt-5.2", "finish_reason": "stop"} if kind == "chat_response" else {}
    answer = made(
        messages=[Message("assistant", [Content.from_text("Hi.")])],
        response_id="resp_1",
        created_at="2026-11-23T10:00:00Z",
        usage_details={"input_token_count": 11, "output_token_count": 7, "cache_read_input_token_count": 2},
        **model,
    )
    payload = answer.to_dict()
    assert detect(payload) == detect(answer) == (AF, "response")
    decoded = ADAPTER.decode_response(payload)
    assert (decoded.text, decoded.usage.cache_read_tokens, decoded.model) == ("Hi.", 2, model.get("model"))
    assert ADAPTER.encode_response(decoded).payload == payload


@pytest.mark.parametrize("source", PROVIDERS)
@given(data=st.data())
def test_converted_answer_is_read_by_library(source: str, data: st.DataObject) -> None:
    payload = adapter(source).encode_response(data.draw(answers(source))).payload
    made: Any = convert(payload, source=source, target=AF, kind="response").payload
    read = ChatResponse.from_dict(copy.deepcopy(made))
    assert read.to_dict() == made
