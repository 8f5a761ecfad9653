"""Conversations of the ShareGPT form, as LLaMA-Factory documents it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, reject

from contentmodel import (
    DecodeError,
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


def test_document_without_conversations_is_refused() -> None:
    with pytest.raises(DecodeError, match="conversations"):
        adapter.decode_request({"chosen": {"from": "gpt", "value": "x"}})
