"""Other spellings of one value that Gemini reads: numbers as texts, names with underscores, roles in any case."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

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
