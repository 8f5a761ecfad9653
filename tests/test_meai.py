"""Lists of ChatMessage of Microsoft.Extensions.AI, as System.Text.Json reads and writes them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import payloads
from contentmodel import (
    ChatMessage,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.content import Protected, UnknownContent
from contentmodel_conformance.strategies.transcripts import transcripts
from extensions_ai import FIELDS, refusals

MEAI = "meai"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
ADAPTER = adapter(MEAI)
CHAT, CONTENTS = payloads(MEAI)["chat"], payloads(MEAI)["every"][0]["contents"]
RESPONSE = payloads(MEAI, "response")["response"]


def one(content: dict[str, Any], role: str = "assistant") -> Any:
    """Return the decoded content of a message with one content."""
    return ADAPTER.decode_request([{"role": role, "contents": [content]}]).messages[0].contents[0]


def encoded(*messages: ChatMessage) -> Any:
    return ADAPTER.encode_request(ChatRequest(messages=list(messages))).payload


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content["$type"])
def test_content_of_each_type_is_read_and_written_unchanged(content: dict[str, Any]) -> None:
    message = [{"role": "assistant", "contents": [content]}]
    request = ADAPTER.decode_request(message)
    written: Any = ADAPTER.encode_request(request).payload
    assert written == message
    assert not isinstance(request.messages[0].contents[0], UnknownContent)
    assert next(iter(written[0]["contents"][0])) == "$type"
    if "toolCall" in content:
        assert next(iter(written[0]["contents"][0]["toolCall"])) == "$type"
    assert refusals(message) == []


def test_contents_have_every_type() -> None:
    assert {content["$type"] for content in CONTENTS} == set(FIELDS)


@pytest.mark.parametrize("payload", [CHAT, {"messages": CHAT}, [], {"messages": []}])
def test_conversation_is_read_and_written_unchanged(payload: Any) -> None:
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


def test_conversations_and_answers_are_detected() -> None:
    assert detect(CHAT) == (MEAI, "request")
    assert detect({"messages": CHAT}) == (MEAI, "request")
    assert detect(RESPONSE) == (MEAI, "response")
    assert detect({"messages": CHAT, "finishReason": "stop"}) == (MEAI, "response")


def test_protected_data_without_a_provider_is_sent_to_no_other_api() -> None:
    reasoning = one(CONTENTS[2])
    assert reasoning.protected == Protected(issuer=MEAI, kind="encrypted", data="c2VjcmV0")
    for target in PROVIDERS:
        assert "c2VjcmV0" not in str(convert(CHAT, target=target, model="gpt-5.2").payload)
    signed = ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="sig"))
    made = ADAPTER.encode_request(ChatRequest(messages=[ChatMessage(role="assistant", contents=[signed])]))
    payload: Any = made.payload
    assert payload[0]["contents"] == [{"$type": "reasoning", "text": "Hm."}]
    assert [loss.code for loss in made.losses] == ["opaque-state"]


def test_mark_of_a_failure_is_alone_only_without_a_text() -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    failed = FunctionResultContent(call_id="c1", is_error=True)
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload = encoded(*messages)
    result = payload[1]["contents"][0]
    result["result"] = [{"$type": "text", "text": text} for text in (result["result"], "no")]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


@pytest.mark.parametrize("target", PROVIDERS)
def test_conversion_reports_every_loss(target: str) -> None:
    made = convert(CHAT, target=target, model="gpt-5.2")
    assert audit(CHAT, made) == []
    assert "$[1].additionalProperties" in {loss.path for loss in made.losses}


@pytest.mark.parametrize("source", PROVIDERS)
@given(data=st.data())
def test_converted_conversation_is_accepted(source: str, data: st.DataObject) -> None:
    payload = adapter(source).encode_request(data.draw(transcripts(source))).payload
    made = convert(payload, source=source, target=MEAI)
    assert refusals(made.payload) == []
    assert [violation for violation in check(made.payload, api=MEAI) if violation.severity == "refused"] == []


@pytest.mark.parametrize(
    ("path", "change", "rule"),
    [
        ("$[4].contents[0].$type", lambda c: c.update({"$type": c.pop("$type")}), "type-comes-first"),
        ("$[4].contents[0].$type", lambda c: c.update({"$type": "hologram"}), "types-are-known"),
        ("$[4].contents[0].mediaType", lambda c: c.update({"$type": "uri", "uri": "https://a.b/c"}), "required-fields"),
    ],
)
def test_check_reports_what_the_reader_refuses(path: str, change: Any, rule: str) -> None:
    messages = copy.deepcopy(CHAT)
    change(messages[4]["contents"][0])
    assert refusals(messages)
    assert (rule, path) in {(violation.rule, violation.path) for violation in check(messages, api=MEAI)}
