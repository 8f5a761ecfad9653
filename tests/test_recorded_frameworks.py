"""Recorded conversations, sent by frameworks and by this library: both requests have the same facts.

A recorded request becomes a document of a framework. The framework loads it and makes a request to the same provider;
our conversion makes another one of the same document. Each difference has a line here, or a loss reports it.

Calls and results of hosted tools are compared in neither request. Frameworks keep them as JSON of the provider and send
them back to it; our documents have neutral values, and our requests have calls of functions.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from langchain_core.messages import convert_to_openai_messages, messages_from_dict
from pydantic_ai import models
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from ai_sdk import sent
from conftest import APIS, needs_node
from contentmodel import convert
from contentmodel_conformance.readers.reading import ASSISTANT, FAILED, RESULT, USER, as_json, digest
from framework_requests import (
    MARKS,
    MODELS,
    OPAQUE,
    STATE,
    Comparison,
    Fact,
    Habit,
    recorded,
    rewritten,
    where,
)

CHAT, RESPONSES, ANTHROPIC, GOOGLE = APIS

# -- explained differences ---------------------------------------------------------------------------------------------


def plain(value: Any) -> str:
    """Return a value in an object for Gemini as the text that other APIs get."""
    return value if isinstance(value, str) else as_json(value)


def in_object(name: str) -> Callable[[str], str]:
    """Return a function that takes the value out of an object with only one field."""

    def change(text: str) -> str:
        value = json.loads(text) if text.startswith("{") else None
        return plain(value[name]) if isinstance(value, dict) and [*value] == [name] else text

    return change


def with_name(fact: Fact) -> Iterator[Fact]:
    """Yield the facts of a result that is an object with the name of the tool."""
    kind, text = fact
    value = json.loads(text) if kind == RESULT and text.startswith("{") else {}
    if {*value} == {"name", "content"}:
        yield kind, plain(value["content"])
    elif {*value} == {"name", "error"}:
        yield kind, plain(value["error"])
        yield FAILED, True
    else:
        yield fact


DUMMY = "skip_thought_signature_validator"
PLACEHOLDER = Habit(
    "a conversation without a message has a placeholder in ours",
    APIS,
    where(USER, lambda text: text == "[the conversation has no message yet]"),
    both=True,
)
DUMMIES = Habit(
    "Pydantic AI sends the documented dummy signature as bytes, others as text; any value is accepted",
    [GOOGLE],
    where(OPAQUE, lambda data: data in (digest(DUMMY), digest("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="))),
    both=True,
)
CUT = Habit(
    "some signatures of the recordings are cut, and are no base64: Pydantic AI sends other bytes",
    [GOOGLE],
    where(OPAQUE, lambda data: data.startswith("not base64") or data == "sha256:92a1054651ba43b3"),
    both=True,
)
PYDANTIC_AI = (
    PLACEHOLDER,
    DUMMIES,
    CUT,
    Habit(
        "Pydantic AI sends reasoning that the API has no field for as a text in tags; ours drops it with a loss",
        [CHAT, RESPONSES],
        rewritten(ASSISTANT, lambda text: re.sub(r"\A<think>\n.*?\n</think>(\n\n)?", "", text, flags=re.DOTALL)),
        both=True,
    ),
    Habit(
        "Gemini gets a result that is no object as `return_value` from Pydantic AI, and as `output` from ours",
        [GOOGLE],
        rewritten(RESULT, in_object("return_value")),
        both=True,
    ),
)
AI_SDK = (
    PLACEHOLDER,
    DUMMIES,
    Habit("Gemini gets a result with the name of its tool from the AI SDK", [GOOGLE], with_name),
    Habit(
        "Gemini gets a text with the files of a result from the AI SDK",
        [GOOGLE],
        where(RESULT, lambda text: text == "Tool executed successfully."),
    ),
    Habit(
        "the AI SDK sends code of Gemini without its id: what has no id is not known to be a hosted tool here",
        [GOOGLE],
        where(STATE, lambda kind: kind in ("executableCode", "codeExecutionResult")),
    ),
    Habit(
        "the AI SDK sends no approvals of MCP calls of responses that are not stored",
        [RESPONSES],
        where(STATE, lambda kind: kind.startswith("mcp_approval")),
        both=True,
    ),
    Habit(
        "the AI SDK sends a search for tools only if the request has the tool for it, and these have no tools",
        [RESPONSES],
        where(STATE, lambda kind: kind == "tool_search_output"),
        both=True,
    ),
)

LANGCHAIN = (
    Habit(
        "our requests have texts with marks for what Chat Completions has no field for",
        [CHAT],
        where(USER, MARKS.match),
        both=True,
    ),
    Habit(
        "Chat Completions has no field for the status of a result, and our request has a mark",
        [CHAT],
        where(FAILED, bool),
        both=True,
    ),
)

LOSSES = {("pydantic-ai-messages", ANTHROPIC): {("medium", "no-block")}}
"""The facts that only the framework sends, with the loss that reports each: files for code execution, which Pydantic AI
sends as documents."""

# -- Pydantic AI -------------------------------------------------------------------------------------------------------

CLASSES: dict[str, tuple[Any, Any]] = {
    CHAT: (OpenAIChatModel, OpenAIProvider),
    RESPONSES: (OpenAIResponsesModel, OpenAIProvider),
    ANTHROPIC: (AnthropicModel, AnthropicProvider),
    GOOGLE: (GoogleModel, GoogleProvider),
}


class Sender:
    """The requests that a model class of Pydantic AI sends."""

    def __init__(self, api: str) -> None:
        model, provider = CLASSES[api]
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer), timeout=600)
        self._model = model(MODELS[api], provider=provider(api_key="none", http_client=client))
        self._bodies: list[Any] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self._bodies.append(json.loads(request.content))
        return httpx2.Response(400, json={"error": {"message": "sent"}})

    async def sent(self, document: Any) -> Any:
        """Return the body of the request for a document. Raises the error of the library if it sends none."""
        messages = ModelMessagesTypeAdapter.validate_json(json.dumps(document))
        self._bodies.clear()
        try:
            await model_request(self._model, messages)
        except Exception:
            if not self._bodies:
                raise
        return self._bodies[0]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Pydantic AI download from no network: the bytes of a link are its address."""

    async def download(url: str, *, allow_local: bool) -> httpx2.Response:
        return httpx2.Response(200, content=url.encode(), request=httpx2.Request("GET", url))

    monkeypatch.setattr(models, "_download_within_request_budget", download)


def since_compaction(document: list[Any]) -> list[Any]:
    """Return a document without what is before its last compaction: Pydantic AI does not send it."""
    found = [
        (n, at)
        for n, message in enumerate(document)
        for at, part in enumerate(message["parts"])
        if part["part_kind"] == "compaction"
    ]
    if not found:
        return document
    index, at = found[-1]
    return [{**document[index], "parts": document[index]["parts"][at:]}, *document[index + 1 :]]


def compared(api: str, documents: dict[str, Any], comparison: Comparison) -> tuple[dict[str, Any], Counter[str]]:
    """Return the differences of each document, and how many of them Pydantic AI refuses for each reason."""
    refused: Counter[str] = Counter()

    async def run() -> dict[str, Any]:
        sender, found = Sender(api), {}
        for name, document in documents.items():
            try:
                theirs = await sender.sent(document)
            except Exception as error:
                refused[f"{type(error).__name__}: {error}"] += 1
                continue
            differences = comparison.differences(api, document, theirs)
            if differences:
                found[name] = differences
        return found

    return asyncio.run(run()), refused


def unused(comparison: Comparison, api: str) -> set[str]:
    """Return the habits that explained nothing."""
    return {habit.why for habit in comparison.habits if api in habit.apis and len(habit.apis) == 1} - comparison.used


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_pydantic_ai_sends_the_facts_of_recorded_requests(api: str, corpus: Any, no_network: None) -> None:
    comparison = Comparison("pydantic-ai-messages", PYDANTIC_AI)
    documents = {name: since_compaction(document) for name, document in recorded(api, comparison.source).items()}
    differences, refused = compared(api, documents, comparison)
    assert differences == {}
    assert {reason.partition(" is not")[0] for reason in refused} <= {"NotImplementedError: VideoUrl"}
    assert unused(comparison, api) == set()
    assert comparison.excused == LOSSES.get((comparison.source, api), set())


LINK = {"url": "https://example.org/a.png"}
CALL = {"name": "look", "arguments": '{"at": "Oslo"}'}
SUMMARY = [{"type": "summary_text", "text": "One."}]
CITATION = {"type": "file_citation", "file_id": "file-1", "filename": "a.txt", "index": 4}
FILE = {"type": "file", "file_id": "file_1"}
DOCUMENT = {"type": "document", "source": {"type": "file", "file_id": "file_2"}}
TALKS: dict[str, dict[str, Any]] = {
    CHAT: {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": LINK}]},
            {
                "role": "assistant",
                "content": "I do.",
                "tool_calls": [{"id": "c1", "type": "function", "function": CALL}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": ""},
        ]
    },
    RESPONSES: {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Read the file."},
            {"type": "reasoning", "id": "rs_1", "summary": SUMMARY, "encrypted_content": "ZW5jcnlwdGVk"},
            {"type": "function_call", "call_id": "c1", **CALL},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_file", "file_id": "file-1"}]},
            {
                "role": "assistant",
                "id": "msg_1",
                "type": "message",
                "content": [{"type": "output_text", "text": "Done.", "annotations": [CITATION]}],
            },
            {"role": "user", "content": "Thanks."},
        ],
    },
    ANTHROPIC: {
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image", "source": FILE}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "cmVk"},
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "Oslo"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [DOCUMENT]}]},
        ],
    },
    GOOGLE: {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Look."}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    # The alphabet of URLs, without padding.
                    {"functionCall": {"name": "look", "args": {"at": "Oslo"}}, "thoughtSignature": "-_-_-w"},
                ],
            },
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "sun"}}}]},
        ],
    },
}


@pytest.mark.parametrize("api", APIS)
def test_pydantic_ai_sends_the_facts_of_requests(api: str, no_network: None) -> None:
    comparison = Comparison("pydantic-ai-messages", PYDANTIC_AI)
    document = convert(TALKS[api], source=api, target=comparison.source, kind="request").payload
    assert compared(api, {"talk": document}, comparison) == ({}, {})


# -- the AI SDK --------------------------------------------------------------------------------------------------------

NO_FILE = re.compile(r"'file (part media type|of media type) .*' functionality not supported\.")


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_ai_sdk_sends_the_facts_of_recorded_requests(api: str, corpus: Any) -> None:
    comparison = Comparison("vercel-model-messages", AI_SDK, stores=False)
    documents = recorded(api, comparison.source)
    found = {}
    for (name, document), answer in zip(documents.items(), sent(api, [*documents.values()]), strict=True):
        if "error" in answer:
            assert NO_FILE.fullmatch(answer["error"]), (name, answer["error"])
        elif differences := comparison.differences(api, document, answer["body"]):
            found[name] = differences
    assert found == {}
    assert unused(comparison, api) == set()
    assert comparison.excused == LOSSES.get((comparison.source, api), set())


# -- LangChain ---------------------------------------------------------------------------------------------------------

NO_BLOCK = re.compile(
    r"(Block of type (video|text-plain) is not supported|OpenAI Chat Completions does not support file URLs"
    r"|Unsupported source type|Key base64 is required for audio blocks).*"
)


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_langchain_writes_the_facts_of_recorded_requests_for_chat_completions(api: str, corpus: Any) -> None:
    comparison = Comparison("langchain-messages", LANGCHAIN)
    found, refused = {}, set()
    for name, document in recorded(api, comparison.source).items():
        try:
            theirs = convert_to_openai_messages(messages_from_dict(document), text_format="block")
        except ValueError as error:
            refused.add(str(error))
            continue
        if differences := comparison.differences(CHAT, document, {"messages": theirs}):
            found[name] = differences
    assert found == {}
    assert [message for message in refused if not NO_BLOCK.fullmatch(message)] == []
