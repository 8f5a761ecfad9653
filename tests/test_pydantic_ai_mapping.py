"""The same messages, mapped to each API by Pydantic AI's own model classes and by our conversion.

Both send the same texts, calls, results, media and opaque state. The differences that remain are explained where a test
removes them:

- Pydantic AI sends a failed result as `{"error": ...}` to APIs without an error flag; ours has a sealed mark.
- Pydantic AI frames the media of a result in tags, where a result takes only text; ours has a sealed announcement.
- Pydantic AI sends native tools back to their provider only. Ours does so too (`test_claude_results.py` and
  `test_provider_results.py`); those of other providers are calls of functions, which every API accepts.
- Gemini's signature of a thinking part is of the next part for Pydantic AI; for ours it is of the part that has it.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from contentmodel import convert

API = "pydantic-ai-messages"
PNG = b"\x89PNG\r\n\x1a\n\xff\xfe\xfd"
IMAGE = BinaryContent(PNG, media_type="image/png")
PARAMETERS = ModelRequestParameters()


async def theirs(api: str, messages: list[ModelMessage]) -> Any:
    """Return the messages as the model class of Pydantic AI for an API sends them."""
    if api == "openai-chat":
        chat = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(api_key="none"))
        return {"messages": await chat._map_messages(messages, PARAMETERS)}
    if api == "openai-responses":
        responses = OpenAIResponsesModel("gpt-5.2", provider=OpenAIProvider(api_key="none"))
        instructions, items = await responses._map_messages(messages, {}, PARAMETERS)
        return {"instructions": instructions, "input": items}
    if api == "anthropic-messages":
        claude = AnthropicModel("claude-opus-4-8", provider=AnthropicProvider(api_key="none"))
        system, sent = await claude._map_message(messages, PARAMETERS, {})
        return {"system": system, "messages": sent}
    gemini = GoogleModel("gemini-3-pro-preview", provider=GoogleProvider(api_key="none"))
    instruction, contents = await gemini._map_messages(messages, PARAMETERS)
    return {"system": instruction, "contents": contents}


MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-8",
    "google-generate-content": "gemini-3-pro-preview",
}
ISSUERS = {"openai-responses": "openai", "anthropic-messages": "anthropic", "google-generate-content": "google"}


def facts(value: Any) -> list[str]:
    """Return the strings of a payload that users, models and tools wrote, sorted."""
    found: list[str] = []
    _collect(value, "", found)
    return sorted(found)


_WRITTEN = (
    *("content", "text", "output", "arguments", "url", "image_url", "data", "uri", "file_uri", "thinking", "signature"),
    *("name", "city", "rain", "encrypted_content", "instructions", "system", "error", "return_value", "fileUri"),
    *("thought_signature", "thoughtSignature"),
)


def _collect(value: Any, key: str, found: list[str]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if (name, value.get("type")) == ("name", "function_call_output"):
                # Responses takes the name of the tool with a result, too. Pydantic AI does not send it.
                continue
            _collect(inner, name, found)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, key, found)
    elif isinstance(value, bytes):
        found.append(f"bytes {value.hex()}")
    elif isinstance(value, str | bool) and key in _WRITTEN:
        found += _texts(value)


def _texts(value: Any) -> list[str]:
    """Return the strings in a value, which may be JSON text or a data URI."""
    text = value if isinstance(value, str) else json.dumps(value)
    if text.startswith("{"):
        inner: list[str] = []
        _collect(json.loads(text), "content", inner)
        return [item for name in json.loads(text).values() for item in _texts(name)] or inner
    return [text] if text else []


def same(api: str, messages: list[ModelMessage]) -> tuple[list[str], list[str]]:
    """Return the facts of both payloads, with media as hexadecimal digits."""
    made = convert(messages, source=API, target=api, model=MODELS[api]).payload

    def plain(found: list[str]) -> list[str]:
        bare = []
        for text in found:
            data = text.partition("base64,")[2] if text.startswith("data:") else text
            try:
                bare.append(f"bytes {base64.b64decode(data, validate=True).hex()}" if len(data) > 8 else text)
            except ValueError:
                bare.append(text)
        return sorted(bare)

    return plain(facts(asyncio.run(theirs(api, messages)))), plain(facts(made))


@pytest.mark.parametrize("api", MODELS)
def test_texts_calls_and_results_are_the_same(api: str) -> None:
    messages: list[ModelMessage] = [
        ModelRequest(
            parts=[SystemPromptPart("You are a clerk."), UserPromptPart("Weather in Oslo?")], instructions="Be brief."
        ),
        ModelResponse(
            parts=[
                TextPart("I look."),
                ToolCallPart("weather", {"city": "Oslo"}, "c1"),
                ToolCallPart("weather", '{"city":"Bergen"}', "c2"),
            ]
        ),
        ModelRequest(
            parts=[ToolReturnPart("weather", "sun", "c1"), ToolReturnPart("weather", {"rain": True}, "c2")],
            instructions="Be brief.",
        ),
        ModelResponse(parts=[TextPart("Sun and rain.")]),
        ModelRequest(parts=[UserPromptPart(["Thanks.", "Bye."])], instructions="Be very brief."),
    ]
    expected, found = same(api, messages)
    if api == "google-generate-content":
        # A text of a result is under the key "return_value" there, and under "output" here. Both are read as the text.
        found = [text for text in found if text != "skip_thought_signature_validator"]
        expected = [text for text in expected if text != f"bytes {b'skip_thought_signature_validator'.hex()}"]
    assert found == expected


@pytest.mark.parametrize("api", MODELS)
def test_media_are_the_same(api: str) -> None:
    # GoogleModel downloads links to other hosts than Google's, and the tests have no network.
    link = ImageUrl("https://example.org/a.png", media_type="image/png")
    parts = [UserPromptPart(["Look.", IMAGE, *([] if api == "google-generate-content" else [link])])]
    expected, found = same(api, [ModelRequest(parts=parts)])
    assert found == expected


@pytest.mark.parametrize("api", ISSUERS)
def test_opaque_state_of_the_issuer_is_the_same(api: str) -> None:
    own = ISSUERS[api]
    thought = ThinkingPart("Hm.", signature="c2lnbmF0dXJl", provider_name=own, id="rs_1" if own == "openai" else None)
    foreign = ThinkingPart("Other.", signature="Zm9yZWlnbg==", provider_name="bedrock")
    answer = ModelResponse(parts=[thought, TextPart("Rain.")], provider_name=own)
    messages = [
        ModelRequest(parts=[UserPromptPart("a")]),
        answer,
        ModelRequest(parts=[UserPromptPart("b")]),
        ModelResponse(parts=[foreign, TextPart("Sun.")], provider_name="bedrock"),
        ModelRequest(parts=[UserPromptPart("c")]),
    ]
    expected, found = same(api, messages)
    signature = f"bytes {b'signature'.hex()}"
    assert signature in expected
    assert signature in found
    assert f"bytes {b'foreign'.hex()}" not in found
    assert f"bytes {b'foreign'.hex()}" not in expected
    # Thoughts of other providers are texts in tags for Pydantic AI. Ours are dropped with a loss.
    assert [text for text in found if text != "Other."] == [text for text in expected if "Other." not in text]
