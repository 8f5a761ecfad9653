"""Mistral's chat completions: requests, answers and streams, and the models of its SDK."""

from __future__ import annotations

from typing import Any

import pytest
from mistralai.client import models

import contentmodel
from contentmodel import HostedToolResultContent, ReasoningContent, TextContent, convert, fold_stream
from contentmodel.events import BlockStart
from contentmodel.streams import StreamConverter, decode_stream
from providers import frames

API = "mistral-chat"
MISTRAL = contentmodel.adapter(API)
MODEL = "mistral-medium-latest"
REFERENCE = {"type": "reference", "reference_ids": [1, 2]}
THINKING = {
    "type": "thinking",
    "thinking": [{"type": "text", "text": "One "}, REFERENCE, {"type": "text", "text": "is enough."}],
    "closed": True,
}
PARTS = [
    {"type": "text", "text": "Look."},
    REFERENCE,
    {"type": "reference", "reference_ids": ["a"]},
    {"type": "image_url", "image_url": "https://example.org/cat.png"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
    {"type": "document_url", "document_url": "https://example.org/paper.pdf", "document_name": "paper.pdf"},
    {"type": "file", "file_id": "f1"},
    {"type": "input_audio", "input_audio": "SUQzBAA="},
    {"type": "resource", "uri": "notes://1", "content": {"type": "text", "text": "A note."}},
    {"type": "resource_link", "uri": "https://example.org/a.txt", "metadata": {"size": 1}},
]


def call(call_id: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look_up", "arguments": arguments}}


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": list(messages), **fields}


def foreign(*after: dict[str, Any]) -> dict[str, Any]:
    """Return a request of Chat Completions with a call, its result, and the messages after it."""
    return {
        "model": "gpt-5.2",
        "messages": [
            {"role": "user", "content": "What is a cat?"},
            {"role": "assistant", "content": None, "tool_calls": [call("call_of_openai")]},
            {"role": "tool", "tool_call_id": "call_of_openai", "content": "A small animal."},
            *after,
        ],
        "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}],
    }


def sent(payload: dict[str, Any], **options: Any) -> contentmodel.Encoded:
    """Convert a request to Mistral. The models of the SDK accept it, and it breaks no rule."""
    encoded = convert(payload, target=API, model=options.pop("model", MODEL), **options)
    models.ChatCompletionRequest.model_validate(encoded.payload)
    assert MISTRAL.check_request(encoded.payload) == []
    return encoded


# -- requests ----------------------------------------------------------------------------------------------------------


def test_decoder_supports_every_part_and_tool_of_the_sdk() -> None:
    tools = [{"type": "image_generation"}, {"type": "document_library", "library_ids": ["l"]}]
    payload = request(
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": [THINKING, *PARTS], "tool_calls": [call("Kx8sP2mQ1")], "prefix": False},
        {"role": "tool", "tool_call_id": "Kx8sP2mQ1", "name": "look_up", "content": PARTS},
        tools=[*tools, {"type": "connector", "connector_id": "c"}],
    )
    models.ChatCompletionRequest.model_validate(payload)
    decoded = MISTRAL.decode_request(payload)
    assert MISTRAL.encode_request(decoded).payload == payload
    assert b'"unknown"' not in contentmodel.dumps(decoded)
    assert [tool.kind for tool in decoded.tools] == ["image_generation", "file_search", "connector"]


# -- requests of other APIs --------------------------------------------------------------------------------------------


def test_ids_of_other_apis_become_nine_characters_and_are_restored() -> None:
    encoded = sent(foreign())
    (made,) = encoded.payload["messages"][1]["tool_calls"]
    assert len(made["id"]) == 9
    assert made["id"].isalnum()
    assert encoded.payload["messages"][2]["tool_call_id"] == made["id"]
    message = {"role": "assistant", "content": "", "tool_calls": [call(made["id"])]}
    answer = {"id": "a", "object": "chat.completion", "created": 1, "model": MODEL, "usage": {}}
    answer["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    back = convert(answer, source=API, target="openai-chat", maps=encoded.maps).payload
    assert back["choices"][0]["message"]["tool_calls"][0]["id"] == "call_of_openai"


# -- answers and streams -----------------------------------------------------------------------------------------------


def chunk(*content: Any, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    inner = {**({"content": content[0]} if content else {}), **delta}
    choice = {"index": 0, "delta": inner, "finish_reason": finish}
    return {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}


def test_decoder_merges_parts_texts_and_pieces_of_calls() -> None:
    thinking = [{"type": "text", "text": "I look "}]
    first = {**call("Kx8sP2mQ1", '{"a"'), "index": 0}
    stream = frames(
        chunk([{"type": "thinking", "thinking": thinking}], role="assistant"),
        chunk([{"type": "thinking", "thinking": [{"type": "text", "text": "it up."}]}]),
        chunk("Wait"),
        chunk("."),
        chunk("", tool_calls=[first]),
        chunk("", tool_calls=[{"id": "null", "function": {"name": "", "arguments": ": 1}"}, "index": 0}]),
        chunk("", finish="tool_calls"),
        "[DONE]",
    )
    answer = fold_stream(stream, API)
    reasoning, text, made = answer.messages[0].contents
    assert isinstance(reasoning, ReasoningContent)
    assert isinstance(text, TextContent)
    assert (reasoning.text, text.text) == ("I look it up.", "Wait.")
    assert (made.call_id, made.arguments_object) == ("Kx8sP2mQ1", {"a": 1})
    payload = MISTRAL.encode_response(answer).payload
    assert MISTRAL.decode_response(payload).messages[0].contents == answer.messages[0].contents


def relayed(*deltas: dict[str, Any]) -> tuple[bytes, bytes, Any]:
    """Return a stream of these deltas, the stream that it converts to for its own API, and the losses."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    ends = [*([None] * (len(deltas) - 1)), "stop"]
    choices = [{"index": 0, "delta": d, "finish_reason": end} for d, end in zip(deltas, ends, strict=True)]
    stream = b"".join(frames(*({**head, "choices": [choice]} for choice in choices)))
    converter = StreamConverter(API, API)
    return stream, converter.feed(stream) + converter.close(), converter.losses


TOOL_REFERENCE = {"type": "tool_reference", "tool": "web_search", "title": "A page"}


@pytest.mark.parametrize(
    "parts",
    [
        THINKING["thinking"],
        [REFERENCE, {"type": "text", "text": "a"}, TOOL_REFERENCE],
        [TOOL_REFERENCE],
    ],
)
def test_relayed_stream_keeps_references_between_thoughts(parts: list[dict[str, Any]]) -> None:
    pieces = [{"content": [{"type": "thinking", "thinking": [part]}]} for part in parts]
    for deltas in ([{"content": [{**THINKING, "thinking": parts}]}], pieces):
        stream, made, losses = relayed(*deltas, {"content": "Done."})
        assert fold_stream(made, API) == fold_stream(stream, API)
        assert not losses
        (thought, _) = fold_stream(made, API).messages[0].contents
        assert thought.extra[API]["thinking"] == parts


# -- answers of several messages -----------------------------------------------------------------------------------


def hosted_call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "web_search", "arguments": '{"query": "cats"}'}}


# The form of docs.mistral.ai/cookbooks/mistral-connectors-05-connectors-in-completions and of the SDK (DeltaMessage).
SEVERAL = [
    {"role": "assistant", "index": 0, "content": "Let me see.", "tool_calls": [hosted_call("abcdefghi")]},
    {"role": "tool", "index": 1, "tool_call_id": "abcdefghi", "content": "A cat is small."},
    {"role": "assistant", "index": 2, "content": "It is small.", "tool_calls": [call("bbcdefghi")]},
]


def deltas_of(messages: list[dict[str, Any]]) -> bytes:
    """Return the stream of an answer, with one chunk for each field of a message."""
    chunks = []
    for message in messages:
        for key in ("content", "tool_calls"):
            if key in message:
                delta = {**{k: v for k, v in message.items() if k not in ("content", "tool_calls")}, key: message[key]}
                chunks.append({"index": 0, "delta": delta, "finish_reason": None})
    chunks[-1] = {**chunks[-1], "finish_reason": "stop"}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return b"".join(frames(*({**head, "choices": [chunk]} for chunk in chunks), "[DONE]"))


@pytest.mark.parametrize(
    "pieces",
    [
        ("A cat ", "is small."),
        ([{"type": "text", "text": "A cat "}], [{"type": "text", "text": "is small."}]),
        ("A cat ", [{"type": "text", "text": "is small."}]),
    ],
)
def test_pieces_of_a_result_in_a_stream_are_joined(pieces: tuple[Any, Any]) -> None:
    calling, result, text = SEVERAL
    results = [{**result, "content": piece} for piece in pieces]
    folded = fold_stream(deltas_of([calling, *results, text]), API)
    (found,) = (c for message in folded.messages for c in message.contents if isinstance(c, HostedToolResultContent))
    assert found.text == "A cat is small."


def test_stream_emits_a_call_of_the_service_as_hosted() -> None:
    events = [event for event in decode_stream(deltas_of(SEVERAL), API) if isinstance(event, BlockStart)]
    kinds = [event.content.__class__.__name__ for event in events]
    hosted = ["HostedToolCallContent", "HostedToolResultContent"]
    assert kinds == ["TextContent", *hosted, "TextContent", "FunctionCallContent"]
    converted = convert(deltas_of(SEVERAL), source=API, target="openai-chat", kind="stream")
    assert b"A cat is small." not in converted.payload
    assert b"abcdefghi" not in converted.payload
