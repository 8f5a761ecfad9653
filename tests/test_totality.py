"""Law 8: any input gives a value or an error of the library that names the place."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS
from contentmodel import ContentModelError, DecodeError
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.sdk import json_values, sdk_payloads

KINDS = ("request", "response")
CASES = [(api, kind) for api in APIS for kind in KINDS]
DEEP = 10_000


@pytest.mark.parametrize(("api", "kind"), CASES)
@given(data=st.binary(max_size=200))
def test_any_bytes(api: str, kind: str, data: bytes) -> None:
    laws.totality(contentmodel.adapter(api), kind, data)


@pytest.mark.parametrize(("api", "kind"), CASES)
@given(value=json_values)
def test_any_json(api: str, kind: str, value: Any) -> None:
    laws.totality(contentmodel.adapter(api), kind, json.dumps(value))
    laws.totality(contentmodel.adapter(api), kind, value)


@pytest.mark.parametrize(("api", "kind"), CASES)
@given(data=st.data())
def test_a_payload_with_one_value_replaced_by_anything(api: str, kind: str, data: st.DataObject) -> None:
    # A copy: what strategies give may be shared between examples.
    payload = copy.deepcopy(data.draw(sdk_payloads(api, kind)))
    places = list(containers(payload))
    container, key = data.draw(st.sampled_from(places)) if places else (payload, "model")
    container[key] = data.draw(json_values)
    fault: ContentModelError | None = None
    try:
        laws.identity(contentmodel.adapter(api), kind, payload)
    except ContentModelError as error:
        fault = error
    assert fault is None or isinstance(fault, DecodeError)
    assert fault is None or all(f.path.startswith("$") for f in fault.faults)


def containers(value: Any) -> Any:
    """Every place of a JSON value that something else could stand in."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from containers(item)


HARD = {
    "deep arrays": b'{"messages":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"input":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "not a number": b'{"messages": [], "temperature": NaN}',
    "infinity": b'{"messages": [], "temperature": -Infinity}',
    "beyond a double": b'{"messages": [], "temperature": 1e999}',
    "cut short": b'{"messages": [{"role": "us',
    "not utf-8": b'{"model": "\xff\xfe"}',
    "nothing": b"",
    "a number": b"17",
}


@pytest.mark.parametrize(("api", "kind"), CASES)
@pytest.mark.parametrize("name", sorted(HARD))
def test_what_is_no_payload_is_refused_with_a_path(api: str, kind: str, name: str) -> None:
    with pytest.raises(DecodeError) as raised:
        laws.decode(contentmodel.adapter(api), kind, HARD[name])
    assert raised.value.faults[0].path.startswith("$")


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
