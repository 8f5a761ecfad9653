"""Odd input by example: what is JSON all the same is kept, and what is none is refused with every fault, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contentmodel
from contentmodel import DecodeError


def chat(text: str) -> bytes:
    return b'{"model":"m","messages":[{"role":"user","content":%s}]}' % text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "body",
    [
        chat('"\\ud83d"'),
        chat('"\\ude00 half of an emoji"'),
        b'\xef\xbb\xbf{"model":"m","messages":[]}',
        b'{"model":"m","messages":[],"seed":123456789012345678901234567890}',
        b'{"model":"m","messages":[],"seed":-9223372036854775809}',
    ],
)
def test_what_is_odd_but_json_is_kept(body: bytes) -> None:
    adapter = contentmodel.adapter("openai-chat")
    encoded = adapter.encode_request(adapter.decode_request(body)).to_json()
    assert json.loads(encoded) == json.loads(body.removeprefix(b"\xef\xbb\xbf"))


def test_the_last_of_duplicate_keys_counts() -> None:
    request = contentmodel.adapter("openai-chat").decode_request(b'{"model":"a","model":"b","messages":[]}')
    assert request.model == "b"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"messages": [], "temperature": float("nan")}, "$.temperature"),
        ({"messages": [{"role": "user", "content": object()}]}, "$.messages[0].content"),
        ({"messages": [], "logit_bias": {1: 2}}, "$.logit_bias"),
    ],
)
def test_what_is_no_json_in_a_dict_is_refused_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(DecodeError) as raised:
        contentmodel.adapter("openai-chat").decode_request(value)
    assert [fault.path for fault in raised.value.faults] == [path]


def test_all_faults_are_told_at_once() -> None:
    payload = {
        "model": "m",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": 5}, "text", {"text": "no type"}]},
            17,
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text"}]}]},
        ],
    }
    with pytest.raises(DecodeError) as raised:
        contentmodel.adapter("anthropic-messages").decode_request(payload)
    assert {str(fault) for fault in raised.value.faults} == {
        "expected string, got integer at $.messages[0].content[0].text",
        "expected an object: a content block, got string at $.messages[0].content[1]",
        "missing string: the type of this content block at $.messages[0].content[2].type",
        "expected an object: a message, got integer at $.messages[1]",
        "missing string at $.messages[2].content[0].content[0].text",
    }
    assert str(raised.value).startswith("anthropic-messages: ")
