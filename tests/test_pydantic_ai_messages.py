"""Messages of Pydantic AI. Its type adapter judges what the adapter writes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, UserPromptPart

from conftest import payloads
from contentmodel import ChatRequest, adapter, check, convert, detect
from contentmodel.content.outcomes import UnknownContent
from contentmodel.message import contents_of
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.damage import with_one_replaced
from contentmodel_conformance.strategies.transcripts import transcripts

API = "pydantic-ai-messages"
STORED = payloads(API)
DOCUMENT, OLDER = STORED["every part"], STORED["older"]


# -- identity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", STORED.values(), ids=STORED)
def test_document_is_encoded_unchanged(payload: Any) -> None:
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


@pytest.mark.slow
def test_document_with_any_value_replaced_is_refused_or_kept() -> None:
    for payload in with_one_replaced([*STORED.values()]):
        with suppress(laws.Refused):
            laws.disturbance(adapter(API), "request", payload)


def test_older_names_of_fields_are_read_as_the_library_reads_them_and_kept() -> None:
    request = adapter(API).decode_request(OLDER)
    answer, library = request.messages[2], ModelMessagesTypeAdapter.validate_python(OLDER)[1]
    assert isinstance(library, ModelResponse)
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (5, 2)
    assert (library.usage.input_tokens, library.usage.output_tokens) == (5, 2)
    assert answer.response_id == library.provider_response_id == "resp_1"
    assert getattr(request.messages[1].contents[0], "tools", None) == ["forecast"]
    assert adapter(API).encode_request(request).payload == OLDER


@pytest.mark.parametrize("message", DOCUMENT)
def test_each_single_message_is_encoded_unchanged(message: Any) -> None:
    assert adapter(API).encode_request(adapter(API).decode_request([message])).payload == [message]


def test_objects_of_the_library_are_a_payload() -> None:
    assert adapter(API).decode_request(ModelMessagesTypeAdapter.validate_python(DOCUMENT)).messages
    objects = [ModelRequest(parts=[UserPromptPart("Hi.")])]
    assert convert(objects, source=API, target=API).payload == ModelMessagesTypeAdapter.dump_python(
        objects, mode="json"
    )


def test_object_around_the_list_is_kept() -> None:
    payload = {"messages": DOCUMENT, "thread": "t1"}
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


def test_every_type_of_part_has_a_row() -> None:
    request = adapter(API).decode_request(DOCUMENT)
    assert not [content for content in contents_of(request.messages) if isinstance(content, UnknownContent)]


def test_list_is_detected() -> None:
    assert detect(DOCUMENT) == (API, "request")
    assert detect(ModelMessagesTypeAdapter.validate_python(DOCUMENT)) == (API, "request")


# -- decoding ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("issuer", ["anthropic", "openai", "google"])
def test_signature_is_sent_only_to_its_issuer(issuer: str) -> None:
    data = {"anthropic": ("c2ln", "cmVk"), "openai": ("ZW5j",), "google": ("Z29v",)}
    targets = {"anthropic": "anthropic-messages", "openai": "openai-responses", "google": "google-generate-content"}
    text = json.dumps(convert(DOCUMENT, source=API, target=targets[issuer]).payload)
    for owner, values in data.items():
        assert all((value in text) == (owner == issuer) for value in values)


# -- encoding ----------------------------------------------------------------------------------------------------------


@given(transcripts("anthropic-messages"))
def test_pydantic_ai_loads_every_conversation_of_anthropic(request: ChatRequest) -> None:
    _load(adapter("anthropic-messages").encode_request(request).payload, "anthropic-messages")


@given(transcripts("openai-responses"))
def test_pydantic_ai_loads_every_conversation_of_responses(request: ChatRequest) -> None:
    _load(adapter("openai-responses").encode_request(request).payload, "openai-responses")


@given(transcripts("google-generate-content"))
def test_pydantic_ai_loads_every_conversation_of_gemini(request: ChatRequest) -> None:
    _load(adapter("google-generate-content").encode_request(request).payload, "google-generate-content")


def _load(payload: Any, source: str) -> None:
    made = convert(payload, source=source, target=API)
    try:
        text = made.to_json().decode()
        text.encode()
    except UnicodeEncodeError:
        return
    if "\\ud" not in text:
        loaded = ModelMessagesTypeAdapter.validate_json(text)
        assert all(isinstance(message, ModelRequest | ModelResponse) for message in loaded)
    assert check(made.payload, api=API) == []
