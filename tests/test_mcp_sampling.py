"""MCP sampling: requests of a server for a model, and their results. `mcp.types` judge what the adapter writes."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPDeprecationWarning, MCPError, types
from mcp.server import Server

from conftest import payloads
from contentmodel import (
    ChatRequest,
    ChatResponse,
    DecodeError,
    EncodeError,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.client import RateLimitError
from contentmodel.content import ErrorContent, UnknownContent
from contentmodel.message import FinishReason
from contentmodel.tools.mcp import sampling_callback
from contentmodel_conformance.strategies.transcripts import answers, transcripts
from scripted import AsyncScripted, answer
from scripted import call as scripted_call

API = "mcp-sampling"
REQUESTS, RESULTS = payloads(API), payloads(API, "response")
PLAIN, TOOLS, HINTS = REQUESTS["plain"], REQUESTS["tools"], REQUESTS["hints"]
TEXT = {"type": "text", "text": "a"}
RESULT = {"type": "tool_result", "toolUseId": "c1", "content": []}
HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}
CALL = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
every_request = pytest.mark.parametrize("document", REQUESTS.values(), ids=REQUESTS)
every_result = pytest.mark.parametrize("document", RESULTS.values(), ids=RESULTS)


def refused(payload: Any, kind: Any = types.CreateMessageRequestParams) -> str:
    """Return why `mcp.types` do not read a payload as it is; "" if they do."""
    try:
        read = kind.model_validate(payload, by_name=False)
    except ValueError as error:
        return str(error)
    dumped = read.model_dump(mode="json", by_alias=True, exclude_none=True)
    return "" if not _lost(payload, dumped) else f"lost: {_lost(payload, dumped)}"


def _lost(value: Any, read: Any, path: str = "$") -> list[str]:
    """Return the paths of values that the types do not have."""
    if isinstance(value, dict) and isinstance(read, dict):
        return [lost for key, item in value.items() for lost in _lost(item, read.get(key), f"{path}.{key}")]
    if isinstance(value, list) and isinstance(read, list) and len(value) == len(read):
        return [
            lost for at, (a, b) in enumerate(zip(value, read, strict=True)) for lost in _lost(a, b, f"{path}[{at}]")
        ]
    return [] if value == read else [path]


def decoded(document: Any) -> ChatRequest:
    return adapter(API).decode_request(document)


@every_request
def test_request_is_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    made = adapter(API).encode_request(decoded(document))
    assert (made.payload, made.losses) == (original, ())
    assert document is HINTS or refused(original) == ""
    assert check(document, api=API) == []
    assert detect(document) == (API, "request")


@every_result
def test_result_is_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    made = adapter(API).encode_response(adapter(API).decode_response(document))
    assert (made.payload, made.losses) == (original, ())
    assert detect(document) == (API, "response")


@every_request
def test_objects_of_mcp_are_payloads(document: Any) -> None:
    params = types.CreateMessageRequestParams.model_validate(document, by_name=False)
    assert adapter(API).encode_request(decoded(params)).payload == document
    block = types.TextContent(text="Hello")
    built = types.CreateMessageRequestParams(messages=[types.SamplingMessage(role="user", content=block)], max_tokens=1)
    assert decoded(built).messages[0].contents == [TextContent(text="Hello")]
    answered = types.CreateMessageResult(role="assistant", content=block, model="m", stop_reason="maxTokens")
    response = adapter(API).decode_response(answered)
    assert (response.text, response.model) == ("Hello", "m")
    assert response.finish_reason == FinishReason(reason="length", raw="maxTokens")


@every_request
@pytest.mark.parametrize("target", PROVIDERS)
def test_conversion_of_a_request_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


@every_result
@pytest.mark.parametrize("target", PROVIDERS)
def test_conversion_of_a_result_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, kind="response")) == []


def test_every_block_has_a_type_of_the_model() -> None:
    contents: list[Any] = [
        content for document in REQUESTS.values() for m in decoded(document).messages for content in m.contents
    ]
    contents += [output for content in contents for output in getattr(content, "outputs", ())]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ({"messages": []}, "limit-required"),
        (
            {"messages": [{"role": "system", "content": TEXT}], "maxTokens": 1},
            "roles-are-known",
        ),
        ({"messages": [{"role": "assistant", "content": CALL}, HELLO], "maxTokens": 1}, "calls-have-results"),
        (
            {
                "messages": [
                    {"role": "assistant", "content": CALL},
                    {
                        "role": "user",
                        "content": [
                            RESULT,
                            TEXT,
                        ],
                    },
                ],
                "maxTokens": 1,
            },
            "results-are-alone",
        ),
    ],
)
def test_check_reports_violation(document: Any, rule: str) -> None:
    assert [found.rule for found in check(document, api=API)] == [rule]


def test_streams_are_refused() -> None:
    with pytest.raises(DecodeError):
        adapter(API).stream_decoder()
    with pytest.raises(EncodeError):
        adapter(API).stream_encoder()


@given(st.sampled_from(PROVIDERS).flatmap(transcripts))
def test_types_read_every_converted_request(request: ChatRequest) -> None:
    made = adapter(API).encode_request(request)
    assert refused(made.payload) == ""
    assert check(made.payload, api=API) == []


@given(st.sampled_from(PROVIDERS).flatmap(answers))
def test_types_read_every_converted_answer(response: ChatResponse) -> None:
    made = adapter(API).encode_response(response)
    assert refused(made.payload, types.CreateMessageResultWithTools) == ""


# -- the callback ------------------------------------------------------------------------------------------------------


class Asking:
    """A server with one tool, which asks the model of its client. `answers` has the results, or the errors.

    Since revision 2026-07-28, the request is part of the result of the tool, and the client calls the tool again.
    """

    def __init__(self, params: Any, mode: str) -> None:
        self.mode = mode
        self.params = types.CreateMessageRequestParams.model_validate(params, by_name=False)
        self.answers: list[Any] = []
        self.server = Server("asking", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="ask", input_schema={"type": "object"})])

    async def _call(self, context: Any, params: Any) -> types.CallToolResult | types.InputRequiredResult:
        if self.mode != "legacy":
            if params.input_responses is None:
                return types.InputRequiredResult(input_requests={"q": types.CreateMessageRequest(params=self.params)})
            self.answers.append(params.input_responses["q"])
            return types.CallToolResult(content=[])
        fields = {name: getattr(self.params, name) for name in self.params.model_fields_set if name != "metadata"}
        try:
            self.answers.append(await context.session.create_message(**fields))
        except MCPError as error:
            self.answers.append(error)
        return types.CallToolResult(content=[])


@pytest.fixture(autouse=True)
def _warnings(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    """The package `mcp` warns that sampling is deprecated."""
    yield
    recwarn.clear()


def asked(params: Any, client: AsyncScripted, mode: Any = "legacy", **options: Any) -> Any:
    """Return what a server gets that asks the model of its client."""
    asking = Asking(params, mode)

    async def main() -> None:
        capabilities = types.SamplingCapability(tools=types.SamplingToolsCapability())
        callback = sampling_callback(client, **options)
        connected = Client(asking.server, sampling_callback=callback, sampling_capabilities=capabilities, mode=mode)
        async with connected as session:
            await session.call_tool("ask", {})

    asyncio.run(main())
    return asking.answers[0]


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", f"ignore::{MCPDeprecationWarning.__module__}.MCPDeprecationWarning"
)
class TestCallback:
    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    def test_server_gets_the_answer_of_the_client(self, mode: str) -> None:
        client = AsyncScripted([answer("Hi", " there.", model="claude-opus-4-8")])
        got = asked(PLAIN, client, mode, model="claude-opus-4-8")
        assert got.model_dump(by_alias=True, exclude_none=True) == {
            "role": "assistant",
            "content": {"type": "text", "text": "Hi there."},
            "model": "claude-opus-4-8",
            "stopReason": "endTurn",
        }
        request = client.requests[0]
        assert (request.model, request.options.max_output_tokens) == ("claude-opus-4-8", 100)
        assert [message.role for message in request.messages] == ["user", "assistant", "user", "assistant", "user"]

    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    def test_server_gets_calls_of_its_tools(self, mode: str) -> None:
        client = AsyncScripted([answer("One moment.", scripted_call("weather", "c9", city="Oslo"))])
        got = asked(TOOLS, client, mode)
        assert (got.stop_reason, got.content[1].name, got.content[1].input) == ("toolUse", "weather", {"city": "Oslo"})
        assert client.requests[0].tools[0].name == "weather"

    def test_model_that_the_server_names_is_the_default(self) -> None:
        client = AsyncScripted([answer("Hi.")])
        assert asked(PLAIN, client).model == "claude-3-sonnet"
        assert client.requests[0].model == "claude-3-sonnet"

    @pytest.mark.parametrize(
        "line", [RateLimitError("key sk-1 is limited"), ChatResponse(error=ErrorContent(message="sk-1"))]
    )
    def test_failure_of_the_client_is_an_error_without_details(self, line: Any) -> None:
        error = asked(PLAIN, AsyncScripted([line]))
        assert isinstance(error, MCPError)
        assert "did not answer" in str(error)
        assert "sk-1" not in str(error)

    def test_unrequested_calls_become_an_error(self) -> None:
        error = asked(PLAIN, AsyncScripted([answer(scripted_call("weather", "c9"))]))
        assert "did not request" in str(error)

    def test_user_reviews_the_request(self) -> None:
        async def refuse(request: ChatRequest) -> None:
            return None

        async def shorten(request: ChatRequest) -> ChatRequest:
            return ChatRequest(messages=request.messages[:1])

        error = asked(PLAIN, AsyncScripted([]), review=refuse)
        assert (error.error.code, "rejected" in str(error)) == (-1, True)
        client = AsyncScripted([answer("Hi.")])
        asked(PLAIN, client, review=shorten)
        assert [message.text for message in client.requests[0].messages] == ["Hello"]


def test_answer_and_calling_are_different_kinds() -> None:
    assert refused(RESULTS["answer"], types.CreateMessageResult) == ""
    assert refused(RESULTS["calling"], types.CreateMessageResultWithTools) == ""
    assert refused(RESULTS["calling"], types.CreateMessageResult) != ""
