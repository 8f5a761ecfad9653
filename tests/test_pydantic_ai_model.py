"""Agents of Pydantic AI over our clients, on the loopback server: whole, streamed, with tools, outputs and errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pydantic
import pytest
from pydantic_ai import Agent, ModelHTTPError, NativeOutput, ToolOutput
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles import ModelProfile, merge_profile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ToolOrOutput

from contentmodel import ChatChoice, ChatMessage, ChatResponse, Usage, adapter
from contentmodel.client import async_chat_client
from contentmodel.content.base import Protected
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.interop.pydantic_ai import ClientModel
from contentmodel.message import FinishReason
from contentmodel_conformance.server import Fault, LoopbackServer, Turn

APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
MODELS = {"anthropic-messages": "claude-opus-4-8", "google-generate-content": "gemini-3-pro"}
Start = Callable[..., LoopbackServer]
WEATHER: list[Any] = [{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}, {"text": "It rains in Oslo."}]


class City(pydantic.BaseModel):
    name: str


def agent(server: LoopbackServer, api: str, **options: Any) -> Agent[None, Any]:
    client = async_chat_client(
        api, model=MODELS.get(api, "gpt-5.2"), base_url=server.base_url(api), api_key="none", max_retries=0
    )
    made: Agent[None, Any] = Agent(ClientModel(client), instructions="Be brief.", **options)
    return made


def with_weather(made: Agent[None, Any]) -> Agent[None, Any]:
    @made.tool_plain
    def weather(city: str) -> dict[str, Any]:
        """Return the weather."""
        return {"city": city, "rain": True}

    return made


def is_written_as_read(document: bytes) -> None:
    formats = adapter("pydantic-ai-messages")
    assert formats.encode_request(formats.decode_request(document)).payload == json.loads(document)


@pytest.mark.parametrize("api", APIS)
def test_agent_calls_its_tools(api: str, loopback: Start) -> None:
    server = loopback(WEATHER)
    result = with_weather(agent(server, api)).run_sync("Weather?")
    assert result.output == "It rains in Oslo."
    first, second = (exchange.request for exchange in server.requests)
    assert first is not None
    assert second is not None
    assert [tool.name for tool in first.tools if hasattr(tool, "name")] == ["weather"]
    answered = [content for message in second.messages for content in message.contents][-1]
    assert isinstance(answered, FunctionResultContent)
    assert answered.text == '{"city":"Oslo","rain":true}'
    assert server.check() == []
    is_written_as_read(result.all_messages_json())


@pytest.mark.parametrize("api", APIS)
def test_stream_has_the_same_messages_as_the_answer(api: str, loopback: Start) -> None:
    whole = with_weather(agent(loopback(WEATHER), api)).run_sync("Weather?")

    async def streamed() -> tuple[list[str], Any]:
        async with with_weather(agent(loopback(WEATHER), api)).run_stream("Weather?") as result:
            texts = [text async for text in result.stream_text(delta=True, debounce_by=None)]
            return texts, result.all_messages()

    texts, messages = asyncio.run(streamed())
    assert "".join(texts) == "It rains in Oslo."
    assert _plain(messages) == _plain(whole.all_messages())


def _plain(messages: Any) -> Any:
    """Return messages as JSON without ids and times, which differ between two runs."""
    return _without(ModelMessagesTypeAdapter.dump_python(messages, mode="json"))


_DIFFERS = (
    "timestamp",
    "run_id",
    "conversation_id",
    "tool_call_id",
    "provider_response_id",
    "args",
    "id",
    "history_digest",
)


def _without(value: Any) -> Any:
    if isinstance(value, list):
        return [_without(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _without(item) for key, item in value.items() if key not in _DIFFERS}


def _thinking(issuer: str, kind: str) -> ChatResponse:
    protected = Protected(issuer=issuer, kind=kind, data="c2ln")
    contents = [
        ReasoningContent(text="Hm.", protected=protected),
        FunctionCallContent(call_id="c1", name="weather", arguments={"city": "Oslo"}),
    ]
    return ChatResponse(
        id="msg_1",
        choices=[
            ChatChoice(
                messages=[ChatMessage(role="assistant", contents=contents)],
                finish_reason=FinishReason(reason="tool_calls"),
            )
        ],
        usage=Usage(input_tokens=10, output_tokens=5, cache_read_tokens=2, cached_inside=False),
    )


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_signature_is_sent_back_to_its_provider(streams: bool, loopback: Start) -> None:
    server = loopback([_thinking("anthropic", "signature"), "It rains."])
    made = with_weather(agent(server, "anthropic-messages"))

    async def run() -> Any:
        if not streams:
            return (await made.run("Weather?")).all_messages()
        async with made.run_stream("Weather?") as result:
            await result.get_output()
            return result.all_messages()

    messages = asyncio.run(run())
    thought = next(part for part in messages[1].parts if isinstance(part, ThinkingPart))
    assert (thought.content, thought.signature, thought.provider_name) == ("Hm.", "c2ln", "anthropic")
    assert messages[1].usage.input_tokens == 12
    sent = server.requests[1].request
    assert sent is not None
    reasoning = [content for message in sent.messages for content in message.contents if content.protected is not None]
    assert [content.protected for content in reasoning] == [
        Protected(issuer="anthropic", kind="signature", data="c2ln")
    ]


@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages"])
def test_structured_output_is_validated(api: str, loopback: Start) -> None:
    server = loopback(
        [
            {"calls": [{"name": "final_result", "arguments": {"nam": "Oslo"}}]},
            {"calls": [{"name": "final_result", "arguments": {"name": "Oslo"}}]},
        ]
    )
    result = agent(server, api, output_type=City).run_sync("Which city?")
    assert result.output == City(name="Oslo")
    first, second = (exchange.request for exchange in server.requests)
    assert first is not None
    assert first.options.tool_choice is not None
    assert first.options.tool_choice.mode == "required"
    assert second is not None
    is_written_as_read(result.all_messages_json())
    retried = second.messages[-1].contents[0]
    assert isinstance(retried, FunctionResultContent)
    assert "name" in retried.text


@pytest.mark.parametrize("api", APIS)
def test_native_output_is_a_schema_of_the_response(api: str, loopback: Start) -> None:
    server = loopback(['{"name": "Oslo"}'])
    result = agent(server, api, output_type=NativeOutput(City)).run_sync("Which city?")
    assert result.output == City(name="Oslo")
    sent = server.requests[0].request
    assert sent is not None
    assert sent.options.response_format is not None
    assert sent.options.response_format.kind == "json_schema"


@pytest.mark.parametrize("api", APIS)
def test_level_of_thinking_is_sent(api: str, loopback: Start) -> None:
    server = loopback(["Hi."])
    agent(server, api, model_settings={"thinking": "high"}).run_sync("Hi.")
    sent = server.requests[0].request
    assert sent is not None
    assert sent.options.reasoning is not None
    assert sent.options.reasoning.effort == "high"


@pytest.mark.parametrize(
    "profile", [ModelProfile(supports_thinking=False), lambda base: merge_profile(base, {"supports_thinking": False})]
)
def test_given_profile_replaces_defaults(profile: Any) -> None:
    client = async_chat_client("openai-chat", model="gpt-5.2", api_key="none")
    made = ClientModel(client, profile=profile).profile
    assert (made.get("supports_thinking"), made.get("supports_json_schema_output")) == (False, True)


def test_profile_has_the_limits_of_the_model() -> None:
    client = async_chat_client("openai-chat", model="gpt-4o", api_key="none")
    assert ClientModel(client).profile.get("supports_thinking") is False


@pytest.mark.parametrize(
    ("choice", "tools"),
    [(ToolOrOutput(function_tools=["weather"]), ["final_result", "weather"]), ("none", ["final_result"])],
)
def test_choice_of_functions_keeps_the_output_tools(choice: Any, tools: list[str], loopback: Start) -> None:
    server = loopback([{"calls": [{"name": "final_result", "arguments": {"name": "Oslo"}}]}])
    made = with_weather(agent(server, "openai-chat", output_type=ToolOutput(City)))

    @made.tool_plain
    def other() -> str:
        return ""

    made.run_sync("Which city?", model_settings={"tool_choice": choice})
    sent = server.requests[0].request
    assert sent is not None
    assert sent.options.tool_choice is not None
    assert (sent.options.tool_choice.mode, sent.options.tool_choice.tools) == ("required", tools)


def test_history_moves_between_providers(loopback: Start) -> None:
    first = with_weather(agent(loopback(WEATHER), "openai-chat")).run_sync("Weather?")
    server = loopback(["Still rain."])
    second = agent(server, "anthropic-messages").run_sync("And now?", message_history=first.all_messages())
    assert second.output == "Still rain."
    sent = server.requests[0].request
    assert sent is not None
    assert [message.role for message in sent.messages] == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages"])
def test_error_of_the_provider_has_its_status(api: str, loopback: Start) -> None:
    server = loopback([Turn(fault=Fault(status=429))])
    with pytest.raises(ModelHTTPError) as caught:
        agent(server, api).run_sync("Hi.")
    assert caught.value.status_code == 429


def test_settings_become_options_of_the_request(loopback: Start) -> None:
    server = loopback(["Hi."])
    agent(server, "openai-chat", model_settings={"max_tokens": 5, "temperature": 0.5}).run_sync("Hi.")
    sent = server.requests[0].request
    assert sent is not None
    assert (sent.options.max_output_tokens, sent.options.temperature) == (5, 0.5)


def own_model(server: LoopbackServer, api: str) -> Model:
    """Return the model class of Pydantic AI for an API."""
    url = server.base_url(api)
    if api == "anthropic-messages":
        return AnthropicModel("claude-opus-4-8", provider=AnthropicProvider(api_key="none", base_url=url))
    if api == "google-generate-content":
        return GoogleModel("gemini-3-pro-preview", provider=GoogleProvider(api_key="none", base_url=url))
    provider = OpenAIProvider(api_key="none", base_url=url)
    return (
        OpenAIChatModel("gpt-5.2", provider=provider)
        if api == "openai-chat"
        else OpenAIResponsesModel("gpt-5.2", provider=provider)
    )


@pytest.mark.parametrize("api", APIS)
def test_history_of_its_own_model_is_encoded_unchanged(api: str, loopback: Start) -> None:
    issuer, kind = {
        "anthropic-messages": ("anthropic", "signature"),
        "google-generate-content": ("google", "signature"),
    }.get(api, ("openai", "encrypted"))
    server = loopback([_thinking(issuer, kind), "It rains."])
    made: Agent[None, Any] = with_weather(Agent(own_model(server, api), instructions="Be brief."))
    picture = BinaryContent(b"\x89PNG\r\n\x1a\n\xff", media_type="image/png")
    result = made.run_sync(["Weather here?", picture])
    assert result.output == "It rains."
    is_written_as_read(result.all_messages_json())


def test_history_with_retries_is_encoded_unchanged() -> None:
    calls = iter(
        [
            ModelResponse(parts=[ToolCallPart("weather", {"town": "Oslo"}), ToolCallPart("none", {})]),
            ModelResponse(parts=[]),
            ModelResponse(parts=[TextPart("It rains.")]),
        ]
    )
    made: Agent[None, Any] = Agent(FunctionModel(lambda messages, info: next(calls)), retries=3)
    result = with_weather(made).run_sync("Weather?")
    assert result.output == "It rains."
    is_written_as_read(result.all_messages_json())
    request = adapter("pydantic-ai-messages").decode_request(result.all_messages())
    results = [content for message in request.messages for content in message.contents]
    assert [r.is_error for r in results if isinstance(r, FunctionResultContent)] == [True, True]
