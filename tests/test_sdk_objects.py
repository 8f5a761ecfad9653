"""Payloads as objects of the official SDKs: they decode like the payloads from which they were parsed."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import records
from contentmodel.json import _plain, plain


def parse(api: str, body: dict[str, Any]) -> Any:
    """Return a response as an object of its SDK."""
    if api == "anthropic-messages":
        from anthropic.types.beta import BetaMessage

        return BetaMessage.model_validate(body)
    if api == "openai-chat":
        from openai.types.chat import ChatCompletion

        return ChatCompletion.model_validate(body)
    if api == "openai-responses":
        from openai.types.responses import Response

        return Response.model_validate(body)
    from google.genai.types import GenerateContentResponse

    return GenerateContentResponse.model_validate(body)


CHAT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "logprobs": None, "message": {"role": "assistant", "content": "hi"}}
    ],
}
CLAUDE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hi", "tomorrow": 1}, {"type": "thinking", "thinking": "t", "signature": "s"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
GEMINI = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
            "finishReason": "STOP",
        }
    ],
    "modelVersion": "m",
}


@pytest.mark.parametrize(
    ("api", "body"), [("openai-chat", CHAT), ("anthropic-messages", CLAUDE), ("google-generate-content", GEMINI)]
)
def test_decoder_accepts_sdk_object(api: str, body: dict[str, Any]) -> None:
    adapter = contentmodel.adapter(api)
    assert adapter.decode_response(parse(api, body)) == adapter.decode_response(body)


def test_decoder_accepts_sdk_objects_inside_request() -> None:
    answer = parse("anthropic-messages", CLAUDE)
    request = {"model": "m", "max_tokens": 5, "messages": ({"role": "assistant", "content": answer.content},)}
    plain = {**request, "messages": [{"role": "assistant", "content": CLAUDE["content"]}]}
    adapter = contentmodel.adapter("anthropic-messages")
    assert adapter.decode_request(request) == adapter.decode_request(plain)


@pytest.mark.parametrize("api", ["anthropic-messages", "openai-responses"])
def test_recorded_responses_decode_to_same_text_from_sdk_objects(api: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    compared = 0
    for record in records(api, "response"):
        try:
            parsed = parse(api, record["body"])
        except ValueError:
            continue
        compared += 1
        texts = [adapter.decode_response(p).text for p in (parsed, record["body"])]
        assert texts[0] == texts[1], record["id"]
    assert compared > 20


class Raising:
    def model_dump(self, **options: Any) -> Any:
        raise KeyError("boom")


class RaisingMapping(dict[str, Any]):
    def items(self) -> Any:
        raise OSError("boom")


class RaisingIterator:
    def __iter__(self) -> Any:
        raise ValueError("boom")


class Model:
    """A class with the method of pydantic's models, which the SDK's `parse` takes."""

    def model_dump(self, **options: Any) -> Any:
        return {}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "response_format",
            Model,
            r"the class Model is not a JSON value: pass its JSON Schema .* at \$\.response_format$",
        ),
        ("tools", [Model], r"the class Model is not a JSON value: .* at \$\.tools\[0\]$"),
        ("messages", [{"role": "user", "content": str}], r"the class str .* at \$\.messages\[0\]\.content$"),
        ("metadata", Raising(), r"Raising cannot be converted to JSON: KeyError: 'boom' at \$\.metadata$"),
        (
            "metadata",
            RaisingMapping(a=1),
            r"RaisingMapping cannot be converted to JSON: OSError: boom at \$\.metadata$",
        ),
        ("stop", RaisingIterator(), r"RaisingIterator cannot be converted to JSON: ValueError: boom at \$\.stop$"),
    ],
)
def test_decoder_reports_the_path_of_a_class_and_of_an_object_that_raises(field: str, value: Any, message: str) -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], field: value}
    with pytest.raises(contentmodel.DecodeError, match=message):
        contentmodel.adapter("openai-chat").decode_request(payload)


class Text(str):
    """A text of a class of its own."""


class Word(StrEnum):
    A = "a"


class Number(IntEnum):
    A = 1


ODD = [
    *(Text("a"), Word.A, Number.A, (1, [2.5]), (), b"a", {1: 1}, {Text("a"): 1}, OrderedDict(a=1), {1}, object),
    *(Decimal("1.5"), float("nan"), float("inf"), -float("inf"), -0.0, 2**64, "\ud83d", object(), CHAT.items()),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(ODD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def known(value: Any) -> Any:
    """Return a value with the class of each of its parts. A number is shown as its text, in which NaN is equal."""
    if isinstance(value, dict):
        return {key: known(item) for key, item in value.items()}
    return [known(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


@given(value=JSON)
def test_quick_copy_of_a_payload_is_equal_to_the_exact_one(value: Any) -> None:
    faults: list[Any] = []
    exact = _plain(value, "$", faults)
    if faults:
        with pytest.raises(contentmodel.DecodeError) as raised:
            plain(value, "an-api")
        assert raised.value.faults == tuple(faults)
    else:
        assert known(plain(value, "an-api")) == known(exact)


def test_copy_shares_no_list_and_no_object_with_the_payload() -> None:
    payload = {"a": [{"b": []}]}
    copy = plain(payload, "an-api")
    payload["a"][0]["b"].append(1)
    assert copy == {"a": [{"b": []}]}
