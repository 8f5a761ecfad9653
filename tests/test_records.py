"""Fields of stored conversations: encoders of APIs report each."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    TextContent,
    Usage,
    user,
)
from contentmodel.content import WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.encoded import Encoded
from contentmodel.message import Branch
from contentmodel.unfolding import unfold

PROVIDERS = ("anthropic-messages", "google-generate-content", "openai-chat", "openai-responses")
STORED = ChatMessage(
    role="assistant",
    created=5,
    response_id="r1",
    usage=Usage(input_tokens=3),
    finish_reason=FinishReason(reason="tool_calls"),
    contents=[TextContent(text="I look."), FunctionCallContent(call_id="c1", name="look", arguments={})],
)
RECORDED = dict.fromkeys(("created", "response_id", "usage", "finish_reason"), "message-record")


def losses_of(encoded: Encoded) -> dict[str, tuple[str, str]]:
    return {loss.path: (loss.code, loss.kind) for loss in encoded.losses}


def result_of(**fields: Any) -> ChatMessage:
    return ChatMessage(role="tool", contents=[FunctionResultContent(call_id="c1", outputs=["fog"], **fields)])


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize("is_own", [False, True])
def test_encoder_reports_the_records_of_each_message(api: str, is_own: bool) -> None:
    origin = Origin(api=api, issuer=contentmodel.adapter(api).issuer) if is_own else None
    messages = [
        msgspec.structs.replace(message, origin=origin)
        for message in (user("Look."), STORED, msgspec.structs.replace(result_of(), created="2026"))
    ]
    request = ChatRequest(model="m", messages=messages, origin=origin)
    found = losses_of(contentmodel.adapter(api).encode_request(request))
    wanted = {f"$.messages[1].{name}": (code, "insignificant") for name, code in RECORDED.items()}
    assert {path: loss for path, loss in found.items() if loss[0] == "message-record"} == {
        **wanted,
        "$.messages[2].created": ("message-record", "insignificant"),
    }


@pytest.mark.parametrize("api", PROVIDERS)
def test_encoder_of_answers_reports_the_records_of_each_message(api: str) -> None:
    found = losses_of(contentmodel.adapter(api).encode_response(ChatResponse(choices=[ChatChoice(messages=[STORED])])))
    wanted = {f"$.choices[0].messages[0].{name}": (code, "insignificant") for name, code in RECORDED.items()}
    assert {path: loss for path, loss in found.items() if loss[0] == "message-record"} == wanted


@pytest.mark.parametrize("api", PROVIDERS)
@pytest.mark.parametrize(
    ("fields", "loss"),
    [
        ({"outcome": "succeeded"}, ("usual-outcome", "insignificant")),
        ({"outcome": "failed", "is_error": True}, ("usual-outcome", "insignificant")),
        ({"outcome": "denied", "is_error": True}, ("outcome", "degraded")),
        ({"outcome": "timed_out", "is_error": True}, ("outcome", "degraded")),
        ({"outcome": "failed"}, ("no-field", "dropped")),
        ({"outcome": "interrupted"}, ("no-field", "dropped")),
        ({"outcome": "preliminary"}, ("no-field", "dropped")),
    ],
)
def test_encoder_reports_outcomes_that_say_more_than_the_error_flag(
    api: str, fields: dict[str, Any], loss: tuple[str, str]
) -> None:
    request = ChatRequest(model="m", messages=[user("Look."), STORED, result_of(**fields)])
    assert losses_of(contentmodel.adapter(api).encode_request(request))["$.messages[2].contents[0].outcome"] == loss


@pytest.mark.parametrize("api", PROVIDERS)
def test_encoder_reports_artifacts_of_every_kind_of_result(api: str) -> None:
    search = WebSearchToolResultContent(call_id="s1", outputs=["found"], artifact=[1])
    call = WebSearchToolCallContent(call_id="s1", arguments={"query": "fog"})
    answer = ChatMessage(role="assistant", contents=[call, search, *STORED.contents])
    request = ChatRequest(model="m", messages=[user("Look."), answer, result_of(artifact={"a": 0})])
    found = losses_of(contentmodel.adapter(api).encode_request(request))
    assert {path for path, loss in found.items() if loss == ("artifact", "insignificant")} == {
        "$.messages[1].contents[1].artifact",
        "$.messages[2].contents[0].artifact",
    }


@pytest.mark.parametrize("api", PROVIDERS)
def test_encoder_reports_branches(api: str) -> None:
    request = ChatRequest(model="m", messages=[user("Look.")], branches=[Branch(messages=[user("Wait.")])])
    assert losses_of(contentmodel.adapter(api).encode_request(request))["$.branches"] == ("no-branches", "dropped")


@pytest.mark.parametrize("api", PROVIDERS)
def test_stream_encoder_reports_artifacts(api: str) -> None:
    call = WebSearchToolCallContent(call_id="s1", arguments={"query": "fog"})
    result = WebSearchToolResultContent(call_id="s1", outputs=["found"], artifact=[1], outcome="timed_out")
    answer = ChatMessage(role="assistant", contents=[call, result, TextContent(text="Fog.")])
    encoder = contentmodel.adapter(api).stream_encoder()
    for event in unfold(ChatResponse(choices=[ChatChoice(messages=[answer])])):
        encoder.feed(event)
    place = "$.choices[0].messages[0].contents[1]"
    found = {loss.path: loss.kind for loss in encoder.losses}
    # Chat Completions drops the whole result.
    assert found.get(place) == "dropped" or {f"{place}.artifact", f"{place}.outcome"} <= found.keys()


def test_adapter_that_holds_a_field_of_stored_conversations_does_not_lose_it() -> None:
    own = contentmodel.adapter("openai-chat")
    holder = type("Holder", (type(own),), {"records": frozenset({"created", "branches", "artifact"})})()
    request = ChatRequest(model="m", messages=[user("Look."), STORED, result_of(artifact=1)], branches=[Branch()])
    assert {loss.path.rpartition(".")[2] for loss in holder.encode_request(request).losses} == RECORDED.keys() - {
        "created"
    }
