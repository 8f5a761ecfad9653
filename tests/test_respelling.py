"""Other spellings of one value that Gemini reads: numbers as texts, names with underscores, roles in any case."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from google.genai import types

import contentmodel
from contentmodel import adapter, audit, check, convert
from contentmodel_conformance.differences import difference

GEMINI, CHAT = "google-generate-content", "openai-chat"
LIMITS = {CHAT: "max_completion_tokens", "openai-responses": "max_output_tokens", "anthropic-messages": "max_tokens"}
NUMBERS = {"maxOutputTokens": "100", "temperature": "0.5", "topK": "4e1", "seed": 3.0}


def a_request(**settings: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], **settings}


@pytest.mark.parametrize(("target", "limit"), LIMITS.items())
@pytest.mark.parametrize("key", ["generationConfig", "generation_config"])
def test_gemini_numbers_as_strings_convert_to_numbers(target: str, limit: str, key: str) -> None:
    payload = a_request(**{key: NUMBERS})
    assert check(payload, api=GEMINI) == []
    request = adapter(GEMINI).decode_request(payload)
    options = request.options
    assert (options.max_output_tokens, options.temperature, options.top_k, options.seed) == (100, 0.5, 40, 3)
    assert contentmodel.loads(contentmodel.dumps(request)) == request
    encoded = convert(payload, source=GEMINI, target=target)
    assert encoded.payload[limit] == 100
    assert audit(payload, encoded) == []
    assert f"$.{key}" not in {loss.path for loss in encoded.losses}
    del encoded.payload[limit]
    assert [one.path for one in audit(payload, encoded)] == [f"$.{key}.maxOutputTokens"]


def test_gemini_keeps_spelling_of_numbers_unless_edited() -> None:
    payload = a_request(generation_config={**NUMBERS, "thinkingConfig": {"thinking_budget": "7"}})
    request = adapter(GEMINI).decode_request(payload)
    assert difference(payload, adapter(GEMINI).encode_request(request).payload) is None
    options = msgspec.structs.replace(request.options, max_output_tokens=7)
    edited = adapter(GEMINI).encode_request(msgspec.structs.replace(request, options=options)).payload
    assert edited["generation_config"]["maxOutputTokens"] == 7
    assert edited["generation_config"]["temperature"] == "0.5"


@pytest.mark.parametrize("number", ["many", "", " 1", "1_0", "1.5", "NaN", "Infinity", "1e400", 1.5, "9" * 30])
def test_invalid_integer_is_reported_alone(number: Any) -> None:
    payload = a_request(generationConfig={"maxOutputTokens": number, "temperature": "1"})
    encoded = convert(payload, source=GEMINI, target=CHAT)
    assert encoded.payload["temperature"] == 1
    assert [loss.path for loss in encoded.losses if loss.code == "provider-field"] == (
        ["$.generationConfig.maxOutputTokens"]
    )
    assert [found.path for found in check(payload, api=GEMINI)] == ["$.generationConfig.maxOutputTokens"]
    assert difference(payload, convert(payload, source=GEMINI, target=GEMINI).payload) is None


@pytest.mark.parametrize("name", ["responseSchema", "response_schema", "_responseJsonSchema", "response_json_schema"])
def test_response_schema_is_decoded_under_every_name(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    config = {"responseMimeType": "application/json", name: schema}
    payload = a_request(generationConfig=config)
    encoded = convert(payload, source=GEMINI, target=CHAT)
    assert encoded.payload["response_format"]["json_schema"]["schema"] == schema
    assert difference(payload, convert(payload, source=GEMINI, target=GEMINI).payload) is None


def test_field_with_two_names_keeps_both() -> None:
    config = {"responseSchema": {"type": "OBJECT"}, "_responseJsonSchema": {"type": "object", "title": "A"}}
    payload = a_request(generationConfig=config)
    assert difference(payload, convert(payload, source=GEMINI, target=GEMINI).payload) is None


ROLES = ["USER", "Model", "FUNCTION"]


@pytest.mark.parametrize("target", LIMITS)
def test_gemini_roles_are_decoded_in_any_case(target: str) -> None:
    parts: list[dict[str, Any]] = [
        {"text": "Hi."},
        {"functionCall": {"name": "now", "args": {}}},
        {"functionResponse": {"name": "now", "response": {"output": "Noon."}}},
    ]
    contents = [{"role": role, "parts": [part]} for role, part in zip(ROLES, parts, strict=True)]
    payload = {"contents": contents}
    request = adapter(GEMINI).decode_request(payload)
    assert [message.role for message in request.messages] == ["user", "assistant", "tool"]
    assert adapter(GEMINI).encode_request(request).payload == payload
    assert "no-role" not in {loss.code for loss in convert(payload, source=GEMINI, target=target).losses}
    edited = msgspec.structs.replace(request.messages[0], role="assistant")
    changed = msgspec.structs.replace(request, messages=[edited, *request.messages[1:]])
    assert adapter(GEMINI).encode_request(changed).payload["contents"][0]["role"] == "model"


@pytest.mark.parametrize(
    ("number", "word"),
    [(1, "STOP"), (5, "OTHER"), (6, "LANGUAGE"), (9, "SPII"), (10, "MALFORMED_FUNCTION_CALL"), (11, "IMAGE_SAFETY")],
)
def test_gemini_finish_reason_is_decoded_from_enum_number(number: int, word: str) -> None:
    reasons = []
    for value in (number, word):
        answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": value}]}
        response = adapter(GEMINI).decode_response(answer)
        assert adapter(GEMINI).encode_response(response).payload == answer
        finish = response.choices[0].finish_reason
        assert finish is not None
        reasons.append(finish.reason)
    assert reasons[0] == reasons[1]


ANSWER = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finish_reason": "STOP", "index": 0}],
    "usage_metadata": {"prompt_token_count": 3, "total_token_count": 5},
    "model_version": "g",
    "response_id": "r",
}
"""An answer as the Python SDK dumps it: model_dump(mode="json", exclude_none=True)."""


def test_gemini_answer_with_underscores_is_read_and_kept() -> None:
    assert contentmodel.detect(ANSWER) == (GEMINI, "response")
    response = adapter(GEMINI).decode_response(ANSWER)
    assert (response.id, response.model, response.finish_reason.reason) == ("r", "g", "stop")
    assert response.origin.model == "g"
    assert (response.usage.input_tokens, response.usage.total_tokens) == (3, 5)
    assert adapter(GEMINI).encode_response(response).payload == ANSWER
    encoded = convert(ANSWER, source=GEMINI, target=CHAT, kind="response")
    assert audit(ANSWER, encoded) == []
    assert encoded.payload["usage"]["prompt_tokens"] == 3


GROUNDED: dict[str, Any] = {
    "candidates": [
        {
            "index": 0,
            "content": {"role": "model", "parts": [{"text": "It rains."}]},
            "finishReason": "STOP",
            "groundingMetadata": {
                "webSearchQueries": ["weather"],
                "searchEntryPoint": {"renderedContent": "<p>"},
                "groundingChunks": [{"web": {"uri": "https://example.org", "title": "Weather"}}],
                "groundingSupports": [
                    {"segment": {"startIndex": 0, "endIndex": 9, "text": "It rains."}, "groundingChunkIndices": [0]}
                ],
            },
            "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://example.org"}]},
        }
    ]
}


@pytest.mark.parametrize("unset", [True, False])
def test_metadata_of_an_answer_that_the_sdk_dumped_is_read(unset: bool) -> None:
    """The SDK's `model_dump` writes names with underscores, and null for each field that is not set."""
    answer = types.GenerateContentResponse.model_validate(GROUNDED)
    dumped = answer.model_dump(mode="json", exclude_unset=unset)
    decoded = adapter(GEMINI).decode_response(dumped)
    assert adapter(GEMINI).encode_response(decoded).payload == dumped
    usual = adapter(GEMINI).decode_response(GROUNDED)
    [message], [expected] = decoded.choices[0].messages, usual.choices[0].messages
    assert [type(content) for content in message.contents] == [type(content) for content in expected.contents]
    assert [c.url for c in message.contents[0].annotations or ()] == ["https://example.org"]
    converted = contentmodel.convert(dumped, source=GEMINI, target="openai-responses")
    assert contentmodel.audit(dumped, converted) == []
    paths = {loss.path for loss in converted.losses}
    assert any(path.startswith("$.candidates[0].grounding_metadata.search_entry_point") for path in paths)
