"""JSON values as outputs of tools: exact for Gemini, compact text for other APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contentmodel
from contentmodel import (
    AIContent,
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
    user,
)
from contentmodel.content import JsonContent
from contentmodel.pairs import TranscriptIndex

GEMINI = contentmodel.adapter("google-generate-content")
TEXT_APIS = ("anthropic-messages", "openai-chat", "openai-responses")
CALL = FunctionCallContent(call_id="c1", name="look", arguments={})


def payload(response: dict[str, Any]) -> dict[str, Any]:
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Look."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": response}}]},
        ]
    }


def outputs_of(request: ChatRequest) -> list[AIContent]:
    index = TranscriptIndex(request.messages)
    [(message, at)] = index.results
    result = request.messages[message].contents[at]
    assert isinstance(result, FunctionResultContent)
    return result.outputs


def request_of(*outputs: AIContent, **fields: Any) -> ChatRequest:
    result = FunctionResultContent(call_id="c1", name="look", outputs=list(outputs), **fields)
    messages = [
        user("Look."),
        ChatMessage(role="assistant", contents=[CALL]),
        ChatMessage(role="tool", contents=[result]),
    ]
    return ChatRequest(model="m", messages=messages)


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ({"a": 1}, {"a": 1}),
        ({"a": None}, {"a": None}),
        ({"output": "x", "error": "y"}, {"output": "x", "error": "y"}),
        ({"output": 5}, {"output": 5}),
        ({"error": {"a": 1}}, {"error": {"a": 1}}),
        ({"result": {"a": 1}}, {"result": {"a": 1}}),
        ({"result": ["a", "b"]}, ["a", "b"]),
        ({"result": None}, None),
    ],
)
def test_gemini_decodes_objects_to_json_and_encodes_them_exactly(response: dict[str, Any], value: Any) -> None:
    request = GEMINI.decode_request(payload(response))
    assert outputs_of(request) == [JsonContent(value=value)]
    assert GEMINI.encode_request(request).payload == payload(response)


@pytest.mark.parametrize("response", [{"output": "x"}, {"result": "x"}, {"error": "x"}, {"output": ["x", "y"]}])
def test_gemini_decodes_texts_to_texts(response: dict[str, Any]) -> None:
    outputs = outputs_of(GEMINI.decode_request(payload(response)))
    assert [type(output) for output in outputs] == [TextContent] * len(outputs)


@pytest.mark.parametrize("value", [{"a": [1]}, [1, "x"], 5, None, False])
def test_gemini_gets_json_of_an_application_exactly(value: Any) -> None:
    encoded = GEMINI.encode_request(request_of(JsonContent(value=value)))
    assert not [loss for loss in encoded.losses if "outputs" in loss.path]
    assert outputs_of(GEMINI.decode_request(encoded.payload)) == [JsonContent(value=value)]


@pytest.mark.parametrize("value", ["x", {}, {"result": [1]}, {"output": "x"}])
def test_gemini_reports_json_that_it_has_another_form_for(value: Any) -> None:
    losses = GEMINI.encode_request(request_of(JsonContent(value=value))).losses
    place = "$.messages[2].contents[0].outputs[0].value"
    assert [loss.code for loss in losses if loss.path == place] == ["json-form"]


def test_gemini_gets_several_outputs_as_texts() -> None:
    encoded = GEMINI.encode_request(request_of(TextContent(text="x"), JsonContent(value=[1])))
    part = encoded.payload["contents"][2]["parts"][0]
    assert part["functionResponse"]["response"] == {"output": ["x", "[1]"]}
    assert "as-text" in {loss.code for loss in encoded.losses}


@pytest.mark.parametrize("api", TEXT_APIS)
def test_other_apis_get_compact_json_without_a_loss(api: str) -> None:
    value = {"a": [1, None], "ü": "\ud83d"}
    encoded = contentmodel.adapter(api).encode_request(request_of(JsonContent(value=value)))
    assert not [loss for loss in encoded.losses if loss.path.startswith("$.messages")]
    [output] = outputs_of(contentmodel.adapter(api).decode_request(encoded.payload))
    assert isinstance(output, TextContent)
    assert output.text == JsonContent(value=value).text
    assert json.loads(output.text) == value


@pytest.mark.parametrize("api", [*TEXT_APIS, "google-generate-content"])
def test_json_outside_of_a_result_is_sent_as_text(api: str) -> None:
    adapter = contentmodel.adapter(api)
    message = ChatMessage(role="assistant", contents=[JsonContent(value={"a": 1})])
    request = adapter.encode_request(ChatRequest(model="m", messages=[user("Look."), message]))
    assert adapter.decode_request(request.payload).messages[1].text == '{"a":1}'
    answer = adapter.encode_response(ChatResponse(choices=[ChatChoice(messages=[message])]))
    assert adapter.decode_response(answer.payload).text == '{"a":1}'


def test_text_of_a_result_has_its_json() -> None:
    assert FunctionResultContent(call_id="c", outputs=["x", JsonContent(value={"a": 1})]).text == 'x{"a":1}'
