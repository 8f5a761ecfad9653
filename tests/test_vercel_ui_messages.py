"""UI messages of Vercel's AI SDK. Its own functions, in Node, judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_sdk import OF_OPENAI, asked, generated, validated
from conftest import needs_node, payloads
from contentmodel import (
    ChatMessage,
    ChatRequest,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.content import (
    Citation,
    UnknownContent,
)
from contentmodel_conformance.strategies.transcripts import transcripts

UI = "vercel-ui-messages"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
STORED = payloads("vercel-ui-messages")
DOCUMENTS = [*STORED.values()]
HELLO = STORED["wrapped"]["messages"][0]
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def decoded(document: Any) -> ChatRequest:
    return adapter(UI).decode_request(document)


@every_document
def test_document_is_valid_detected_and_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    assert check(document, api=UI) == []
    assert detect(document) == (UI, "request")
    encoded = adapter(UI).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (original, ())


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "hf-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, target=target, model="gpt-5.2")) == []


@every_document
def test_every_part_has_a_type_of_the_model(document: Any) -> None:
    contents = [content for message in decoded(document).messages for content in message.contents]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


# -- from and to other APIs --------------------------------------------------------------------------------------------


def approved() -> ChatRequest:
    """Return a conversation with an approval and citations, without an origin."""
    cited = TextContent(text="Warm.", annotations=[Citation(url="https://a.org", cited_text="warm")])
    request = decoded(STORED["approved"])
    return ChatRequest(messages=[*request.messages, ChatMessage(role="assistant", contents=[cited])])


# -- the AI SDK --------------------------------------------------------------------------------------------------------


@needs_node
@pytest.mark.slow
def test_validation_of_the_sdk_accepts_the_documents() -> None:
    assert validated("ai", [d["messages"] if isinstance(d, dict) else d for d in DOCUMENTS]) == [None] * len(DOCUMENTS)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("package", "version"), [("ai", "7"), ("ai6", "6"), ("ai5", "5")])
def test_validation_of_each_version_accepts_conversations_of_every_api(package: str, version: Any) -> None:
    written: list[Any] = []

    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(PROVIDERS).flatmap(transcripts))
    def write(request: ChatRequest) -> None:
        written.append(adapter(UI).encode_request(request, {"ai_sdk": version}).payload)

    write()
    written.append(adapter(UI).encode_request(approved(), {"ai_sdk": version}).payload)
    written.append(convert(OF_OPENAI, target=UI, policies={"ai_sdk": version}).payload)
    errors = [(error, document) for error, document in zip(validated(package, written), written, strict=True) if error]
    assert errors == []


def without_details(messages: list[Any]) -> list[Any]:
    """Return model messages in one of the forms that mean the same."""
    return [{"role": message["role"], "content": _plain(message["content"])} for message in messages]


def _plain(content: Any) -> Any:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [
        {key: _address(value) if key == "data" else value for key, value in part.items() if key not in _DETAILS}
        for part in content
    ]


_DETAILS = ("providerOptions", "isAutomatic", "reason")
"""Fields that the two formats of the SDK hold in different places: our conversion reports each that it drops."""


def _address(value: Any) -> Any:
    url = value["url"] if isinstance(value, dict) else value
    return url.rpartition(";base64,")[2]


CONVERTED = [
    *(STORED["loop"], STORED["steps"]),
    *([HELLO, STORED["approvals"][at]] for at in (1, 2, 3, 6, 7)),
    *([HELLO, STORED["states"][at]] for at in (2, 4, 5)),
]


@needs_node
@pytest.mark.slow
def test_conversion_to_model_messages_equals_that_of_the_sdk() -> None:
    tasks = [{"name": "convert", "messages": document} for document in CONVERTED]
    for document, answer in zip(CONVERTED, asked("ai", tasks), strict=True):
        ours = convert(document, source=UI, target="vercel-model-messages").payload
        assert without_details(ours) == without_details(answer["messages"])


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_messages_of_a_run_are_encoded_unchanged(api: str) -> None:
    run = generated(api)
    parts = [part["type"] for part in run["ui"]["parts"]]
    assert {"step-start", "text", "tool-weather", "tool-fail", "tool-book"} <= set(parts)
    document = [HELLO, run["ui"]]
    encoded = adapter(UI).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (document, ())
    for target in PROVIDERS:
        assert audit(document, convert(document, source=UI, target=target, model="gpt-5.2")) == []
