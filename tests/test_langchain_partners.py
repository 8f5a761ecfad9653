"""The requests that LangChain's provider packages make of messages that the adapter wrote.

These packages pin other SDKs than `dev`: `make partners` runs the tests in an environment of their own. Elsewhere, the
tests are skipped.
"""

from __future__ import annotations

import http.server
import json
import threading
from itertools import product
from typing import Any

import pytest

import contentmodel
from contentmodel import ChatRequest

anthropic = pytest.importorskip("langchain_anthropic")
openai = pytest.importorskip("langchain_openai")
google = pytest.importorskip("langchain_google_genai")

from langchain_core.messages import messages_from_dict  # noqa: E402

from conftest import APIS  # noqa: E402
from contentmodel.langchain import from_langchain, to_langchain  # noqa: E402
from contentmodel_conformance.readers.reading import FAILED, RESULT, USER, as_json  # noqa: E402
from framework_requests import (  # noqa: E402
    CALL_ID,
    MARKS,
    MODELS,
    OPAQUE,
    RESULT_ID,
    STATE,
    Comparison,
    Habit,
    recorded,
    rewritten,
    where,
)

ANTHROPIC: list[Any] = [
    {"role": "user", "content": [{"type": "text", "text": "Look."}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "cmVk"},
            {
                "type": "text",
                "text": "Yes.",
                "citations": [
                    {
                        "type": "web_search_result_location",
                        "url": "https://example.org",
                        "title": "E",
                        "cited_text": "q",
                        "encrypted_index": "aQ==",
                    }
                ],
            },
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srv_1",
                "content": [
                    {
                        "type": "web_search_result",
                        "url": "https://example.org",
                        "title": "E",
                        "encrypted_content": "eA",
                        "page_age": None,
                    }
                ],
            },
            {"type": "tool_use", "id": "tu_1", "name": "look", "input": {"at": "Oslo"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "is_error": True, "content": "Fog."}]},
]
RESPONSES: list[Any] = [
    {"type": "message", "role": "user", "content": "Look."},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I do.", "annotations": []}]},
    {"type": "function_call", "call_id": "c2", "name": "g", "arguments": '{"b": 2}'},
    {"type": "function_call_output", "call_id": "c2", "output": "r"},
]
CHAT: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "d", "type": "function", "function": {"name": "f", "arguments": "{oops"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c", "content": "1"},
    {"role": "tool", "tool_call_id": "d", "content": "2"},
    {"role": "assistant", "content": "done"},
]
GOOGLE: list[Any] = [
    {"role": "user", "parts": [{"text": "q"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "U0lH"}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "sunny"}}}]},
]


def written(api: str, **payload: Any) -> list[Any]:
    return to_langchain(contentmodel.adapter(api).decode_request(payload).messages)


def test_anthropic_gets_the_messages_of_the_source() -> None:
    chat = anthropic.ChatAnthropic(model="claude-opus-4-8", api_key="x", max_tokens=9)
    assert chat._get_request_payload(written("anthropic-messages", messages=ANTHROPIC))["messages"] == [
        {"role": "user", "content": "Look."},
        *ANTHROPIC[1:],
    ]


def test_responses_gets_the_items_of_the_source() -> None:
    chat = openai.ChatOpenAI(model="gpt-5", api_key="x", use_responses_api=True)
    assert chat._get_request_payload(written("openai-responses", input=RESPONSES))["input"] == RESPONSES


def test_chat_completions_gets_the_messages_of_the_source() -> None:
    chat = openai.ChatOpenAI(model="gpt-4.1", api_key="x")
    assert chat._get_request_payload(written("openai-chat", messages=CHAT))["messages"] == CHAT


def test_generate_content_gets_the_contents_of_the_source() -> None:
    chat = google.ChatGoogleGenerativeAI(model="gemini-3-pro", api_key="x")
    made = chat._prepare_request(written("google-generate-content", contents=GOOGLE))["contents"]
    dumped = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in made]
    assert dumped == GOOGLE


ITEMS: list[Any] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "ZW5j",
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c2",
        "name": "g",
        "arguments": '{"b": 2}',
        "status": "completed",
    },
]
ANSWERS: dict[str, tuple[Any, Any]] = {
    "anthropic": (
        lambda url, version: anthropic.ChatAnthropic(
            model="claude-opus-4-8", api_key="x", base_url=url, output_version=version
        ),
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "content": ANTHROPIC[1]["content"],
            "usage": {"input_tokens": 3, "output_tokens": 4},
        },
    ),
    "responses": (
        lambda url, version: openai.ChatOpenAI(
            model="gpt-5", api_key="x", base_url=url, use_responses_api=True, output_version=version
        ),
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "gpt-5",
            "status": "completed",
            "output": ITEMS,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 4,
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 7,
            },
        },
    ),
    "chat": (
        lambda url, version: openai.ChatOpenAI(model="gpt-4.1", api_key="x", base_url=url, output_version=version),
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4.1",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": CHAT[2]}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        },
    ),
}


@pytest.mark.parametrize(("name", "output_version"), [*product(ANSWERS, ["v0", "v1"]), ("responses", "responses/v1")])
def test_answers_of_the_packages_are_encoded_unchanged(name: str, output_version: str) -> None:
    make, body = ANSWERS[name]
    with http.server.HTTPServer(("127.0.0.1", 0), handler(body)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        message = make(f"http://127.0.0.1:{server.server_port}", output_version).invoke("hi")
        server.shutdown()
    messages = from_langchain([message])
    assert to_langchain(messages) == [message]
    assert contentmodel.adapter("langchain-messages").encode_request(ChatRequest(messages=messages)).losses == ()
    if name == "anthropic":
        sent = contentmodel.adapter("anthropic-messages").encode_request(ChatRequest(messages=messages))
        assert without_nulls(sent.payload["messages"][0]["content"]) == without_nulls(ANTHROPIC[1]["content"])
    if output_version == "responses/v1":
        sent = contentmodel.adapter("openai-responses").encode_request(ChatRequest(messages=messages))
        assert [item for item in sent.payload["input"] if item["type"] != "message"] == [ITEMS[0], ITEMS[2]]


def without_nulls(value: Any) -> Any:
    """Return JSON without null members: the packages add those of the SDK's types."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def handler(body: Any) -> type[http.server.BaseHTTPRequestHandler]:
    """Return a handler that answers each request with `body`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Write no log."""

    return Handler


def in_blocks(text: str) -> str:
    """Return the text of a result that is an object with blocks of text."""
    value = json.loads(text) if text.startswith("{") else None
    blocks = value.get("output") if isinstance(value, dict) else None
    if not isinstance(blocks, list) or not all(isinstance(one, dict) and one.get("type") == "text" for one in blocks):
        return text
    return as_json("".join(block["text"] for block in blocks))


GEMINI = ["google-generate-content"]
HABITS = (
    Habit("our requests have texts with marks", APIS, where(USER, MARKS.match), both=True),
    Habit("Chat Completions and Gemini get no status of a result", APIS, where(FAILED, bool), both=True),
    Habit("Gemini gets no ids", GEMINI, lambda fact: () if fact[0] in (CALL_ID, RESULT_ID) else (fact,), both=True),
    Habit("Gemini gets the text of a result with media in blocks", GEMINI, rewritten(RESULT, in_blocks), both=True),
    Habit(
        "Gemini gets code that it ran, and its result, without an id",
        GEMINI,
        where(STATE, ("executableCode", "codeExecutionResult").__contains__),
    ),
    Habit(
        "some signatures of the recordings are cut, and are no base64",
        GEMINI,
        where(OPAQUE, lambda data: data.startswith("not base64") or data == "sha256:92a1054651ba43b3"),
        both=True,
    ),
)
REFUSED = ("ValueError", "UnboundLocalError", "ConnectionError")
"""Errors of the packages: blocks that an API has no part for, a hosted tool that they cannot write, and downloads."""


def request_of(api: str, document: Any) -> Any:
    """Return the request that a package makes of a document."""
    messages = messages_from_dict(document)
    if api == "anthropic-messages":
        return anthropic.ChatAnthropic(model=MODELS[api], api_key="x", max_tokens=9)._get_request_payload(messages)
    if api == "google-generate-content":
        made = google.ChatGoogleGenerativeAI(model=MODELS[api], api_key="x")._prepare_request(messages)
        parts = {"contents": made["contents"], "systemInstruction": [made["config"].system_instruction]}
        dumped = {
            name: [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in values if one is not None]
            for name, values in parts.items()
        }
        return {name: values for name, values in dumped.items() if values}
    chat = openai.ChatOpenAI(model=MODELS[api], api_key="x", use_responses_api=api == "openai-responses")
    return json.loads(json.dumps(chat._get_request_payload(messages), default=str))


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_packages_send_the_facts_of_recorded_requests(api: str, corpus: Any) -> None:
    comparison, found, refused = Comparison("langchain-messages", HABITS), {}, []
    for name, document in recorded(api, comparison.source).items():
        try:
            theirs = request_of(api, document)
        except Exception as error:
            refused.append(type(error).__name__)
            continue
        if differences := comparison.differences(api, document, theirs):
            found[name] = differences
    assert found == {}
    assert set(refused) <= set(REFUSED)
