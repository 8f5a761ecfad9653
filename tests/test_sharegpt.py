"""Conversations of the ShareGPT form, as LLaMA-Factory documents it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, reject

from contentmodel import (
    DataContent,
    DecodeError,
    FunctionCallContent,
    FunctionTool,
    TextContent,
    UriContent,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.errors import EncodeError
from contentmodel_adapters.datasets.sharegpt import adapter
from contentmodel_conformance.readers import READERS
from data_sets import values

API = "sharegpt"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
TARGETS = (*PROVIDERS, "openai-finetune", "hf-messages", "atif")
TOOL = {"name": "weather", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
CALL = '{"name": "weather", "arguments": {"city": "Oslo"}}'


def turns(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"from": name, "value": value} for name, value in pairs]


DOCUMENTS: list[dict[str, Any]] = [
    {
        "conversations": turns(
            ("human", "Weather in Oslo?"),
            ("function_call", CALL),
            ("observation", "18 degrees"),
            ("gpt", "18 degrees."),
        ),
        "system": "Be brief.",
        "tools": json.dumps([TOOL]),
        "id": "c-1",
    },
    {
        "conversations": [
            *turns(("system", "Be brief."), ("human", "<image>What is this? <image> And that?")),
            {"from": "gpt", "value": "A cat.", "weight": 0},
        ],
        "images": ["a.png", "data:image/png;base64,iVBORw0KGgo="],
        "videos": None,
    },
    {
        "conversations": turns(
            ("user", "Both."),
            ("function_call", f"[{CALL}, {CALL}]"),
            ("tool", "18"),
            ("function_response", "19"),
            ("assistant", "18 and 19."),
        ),
        "tools": [{"type": "function", "function": TOOL}],
    },
    {"conversations": turns(("human", "<image>"), ("function_call", "not JSON"), ("critic", "Hm."))},
    {"conversations": turns(("human", "<image>"), ("gpt", "A cat.")), "images": ["a.png", "b.png"]},
    {"conversations": [{"from": "human"}, {"from": "gpt", "value": None}], "tools": "not JSON"},
]
every_document = pytest.mark.parametrize("document", DOCUMENTS)


@every_document
def test_document_is_encoded_unchanged(document: dict[str, Any]) -> None:
    original = copy.deepcopy(document)
    encoded = adapter.encode_request(adapter.decode_request(document))
    assert encoded.payload == original
    assert encoded.losses == ()
    assert document == original


@every_document
@pytest.mark.parametrize("target", TARGETS)
def test_conversion_of_document_reports_every_loss(document: dict[str, Any], target: str) -> None:
    encoded = convert(document, source=API, target=target, model="gpt-4.1" if target in PROVIDERS else None)
    assert audit(document, encoded) == []


@pytest.mark.parametrize("target", TARGETS)
@given(document=values.SHAREGPT)
def test_conversion_of_generated_document_reports_every_loss(target: str, document: dict[str, Any]) -> None:
    try:
        encoded = convert(document, source=API, target=target, model="gpt-4.1" if target in PROVIDERS else None)
    except (DecodeError, EncodeError):
        reject()
    assert audit(document, encoded) == []


@given(document=values.SHAREGPT)
def test_generated_document_is_encoded_unchanged(document: dict[str, Any]) -> None:
    try:
        request = adapter.decode_request(document)
    except DecodeError:
        reject()
    assert adapter.encode_request(request).payload == document


def test_decoder_reads_calls_results_instructions_and_tools() -> None:
    request = adapter.decode_request(DOCUMENTS[0])
    call = request.messages[1].contents[0]
    assert isinstance(call, FunctionCallContent)
    assert (call.name, call.arguments) == ("weather", {"city": "Oslo"})
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "assistant"]
    assert request.instructions == [TextContent(text="Be brief.")]
    assert isinstance(request.tools[0], FunctionTool)


def test_decoder_puts_media_at_their_placeholders() -> None:
    contents = adapter.decode_request(DOCUMENTS[1]).messages[1].contents
    assert [type(content) for content in contents] == [UriContent, TextContent, DataContent, TextContent]
    assert contents[0] == UriContent(uri="a.png", kind="image")


def test_decoder_keeps_media_in_residue_if_their_number_is_not_that_of_placeholders() -> None:
    request = adapter.decode_request(DOCUMENTS[4])
    assert request.messages[0].contents == [TextContent(text="<image>")]
    assert (request.extra or {})[API]["images"] == ["a.png", "b.png"]


def test_edit_of_call_is_encoded_as_new_text() -> None:
    request = adapter.decode_request(DOCUMENTS[0])
    call: Any = request.messages[1].contents[0]
    call.arguments["city"] = "Bergen"
    encoded: Any = adapter.encode_request(request).payload
    assert json.loads(encoded["conversations"][1]["value"]) == {"name": "weather", "arguments": {"city": "Bergen"}}


def test_result_without_a_call_is_a_text_of_the_user() -> None:
    call = f"<tool_call>\n{CALL}\n</tool_call>"
    result = '<tool_response>\n{"name": "weather", "content": 18}\n</tool_response>'
    document = {"conversations": turns(("human", "Weather?"), ("gpt", call), ("tool", result), ("gpt", "18 degrees."))}
    request = adapter.decode_request(document)
    assert [(message.role, message.text) for message in request.messages][1:3] == [
        ("assistant", call),
        ("user", result),
    ]
    assert adapter.encode_request(request).payload == document
    encoded = convert(document, target="openai-chat", model="gpt-4.1")
    assert [message["content"] for message in encoded.payload["messages"]][1:3] == [call, result]
    assert audit(document, encoded) == []


def test_second_result_of_one_call_is_a_text_of_the_user() -> None:
    pairs = [
        ("human", "Weather?"),
        ("function_call", CALL),
        ("observation", "18"),
        ("observation", "19"),
        ("gpt", "18."),
    ]
    document = {"conversations": turns(*pairs)}
    request = adapter.decode_request(document)
    assert [message.role for message in request.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert adapter.encode_request(request).payload == document


@pytest.mark.parametrize(("text", "calls", "uneven"), [("Let me look.", "ab", 1), (None, "ab", 3), (None, "a", None)])
def test_conversation_whose_sides_do_not_alternate_is_reported(
    text: str | None, calls: str, uneven: int | None
) -> None:
    made = [{"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}} for i in calls]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "content": text, "tool_calls": made},
        *({"role": "tool", "tool_call_id": i, "content": i} for i in calls),
        {"role": "assistant", "content": "Done."},
    ]
    payload = {"model": "gpt-5", "messages": messages}
    encoded = convert(payload, source="openai-chat", target=API)
    paths = [loss.path for loss in encoded.losses if loss.code == "uneven-sides"]
    assert paths == ([] if uneven is None else [f"$.messages[{uneven + 1}]"])
    harmful = [violation.rule for violation in check(encoded.payload, api=API)]
    assert harmful == ["sides-alternate"] * len(paths)
    assert audit(payload, encoded) == []


def test_placeholder_in_text_of_another_api_is_not_a_medium() -> None:
    payload = {
        "model": "gpt-4.1",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Write <image>."},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                ],
            },
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "draw", "arguments": '{"a":"<image>"}'}}
                ],
            },
        ],
    }
    encoded = convert(payload, source="openai-chat", target=API)
    document: Any = encoded.payload
    assert document["conversations"][0]["value"] == "Write < image >.<image>"
    assert document["images"] == ["https://example.org/a.png"]
    assert "<image>" not in document["conversations"][1]["value"]
    assert json.loads(document["conversations"][1]["value"])["arguments"] == {"a": "<image>"}
    assert "$.messages[0].content[0].text" in {loss.path for loss in encoded.losses}
    assert audit(payload, encoded) == []


@pytest.mark.parametrize("document", DOCUMENTS[:3])
def test_detect_finds_the_form(document: dict[str, Any]) -> None:
    assert detect(document) == (API, "request")
    assert detect(document["conversations"]) == (API, "request")


@pytest.mark.parametrize(
    ("document", "rule", "path"),
    [
        ({"conversations": turns(("critic", "x"))}, "roles-are-known", "$.conversations[0].from"),
        ({"conversations": []}, "messages-required", "$.conversations"),
        (
            {"conversations": turns(("human", "x"), ("function_call", "look"))},
            "calls-are-json",
            "$.conversations[1].value",
        ),
        (DOCUMENTS[4], "placeholders-match-media", "$.images"),
        ({"conversations": turns(("human", "x"), ("gpt", "y")), "tools": [TOOL]}, "tools-are-json-text", "$.tools"),
        ({"conversations": turns(("human", "x"), ("human", "y"))}, "sides-alternate", "$.conversations[1].from"),
        ({"conversations": turns(("human", "x"))}, "sides-alternate", "$.conversations"),
    ],
)
def test_check_reports_violation(document: Any, rule: str, path: str) -> None:
    assert (rule, path) in {(violation.rule, violation.path) for violation in check(document, api=API)}


@pytest.mark.parametrize("document", DOCUMENTS[:2])
def test_valid_document_has_no_violations(document: dict[str, Any]) -> None:
    assert check(document, api=API) == []


def test_reader_agrees_with_the_adapter() -> None:
    facts = [fact.value for fact in READERS[API]("request", DOCUMENTS[2]).of("call")]
    assert facts == [("weather", '{"city":"Oslo"}')] * 2


@pytest.mark.parametrize("role", [{"a": 1}, [], 1, None])
def test_role_of_wrong_type_is_refused(role: Any) -> None:
    document = {"conversations": [{"from": role, "value": "<image>"}], "images": ["a.png"]}
    with pytest.raises(DecodeError) as caught:
        adapter.decode_request(document)
    assert [fault.path for fault in caught.value.faults] == ["$.conversations[0].from"]
    assert check(document, api=API) != []


def test_document_without_conversations_is_refused() -> None:
    with pytest.raises(DecodeError, match="conversations"):
        adapter.decode_request({"chosen": {"from": "gpt", "value": "x"}})
