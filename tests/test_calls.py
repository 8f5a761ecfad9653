"""Conversion of calls, results, ids and names to another API, by example."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import Renames, convert, decode_stream, fold_stream
from contentmodel.auditing import audit
from contentmodel.engine.pipeline.names import Bijection, _call_id, _tool_name
from contentmodel.events import Fold
from contentmodel.rules import IdentifierRule
from contentmodel.streams import StreamConverter, convert_stream, encode_stream
from contentmodel.unfolding import unfold

ANTHROPIC, CHAT, RESPONSES, GOOGLE = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "google-generate-content",
)


def use(call_id: str, name: str = "look") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"q": 1}}


def result(call_id: str, content: Any = "fine", **rest: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **rest}


def claude(*turns: list[dict[str, Any]] | str) -> dict[str, Any]:
    """Return a request with alternating user and assistant turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[index % 2], "content": turn} for index, turn in enumerate(turns)]
    return {"model": "claude-opus-4-8", "max_tokens": 100, "messages": messages}


def test_names_and_ids_are_renamed_everywhere_and_restored() -> None:
    long_id, odd_name = "toolu_" + "x" * 60, "ns.search"
    payload = {
        **claude("hi", [use(long_id, odd_name)], [result(long_id)]),
        "tools": [{"name": odd_name, "input_schema": {"type": "object", "properties": {}}}],
        "tool_choice": {"type": "tool", "name": odd_name},
    }
    encoded = convert(payload, source=ANTHROPIC, target=CHAT, kind="request")
    maps = encoded.maps
    forward = encoded.payload
    call = forward["messages"][1]["tool_calls"][0]
    assert maps.names == {odd_name: call["function"]["name"]}
    assert maps.ids == {long_id: call["id"]}
    assert forward["messages"][2]["tool_call_id"] == call["id"]
    assert forward["tools"][0]["function"]["name"] == maps.names[odd_name]
    assert forward["tool_choice"]["function"]["name"] == maps.names[odd_name]

    message = {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "call_new"}]}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    answer["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    back = convert(answer, source=CHAT, target=ANTHROPIC, kind="response", maps=maps).payload
    assert back["content"][0]["name"] == odd_name
    assert back["content"][0]["id"] == "call_new"


def test_nulls_of_strict_tool_arguments_are_removed_on_conversion_back() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]}
    strict = {"name": "f", "strict": True, "input_schema": {**schema, "additionalProperties": False}}
    payload = {**claude("hi"), "tools": [strict]}
    encoded = convert(payload, source=ANTHROPIC, target=CHAT, kind="request")
    assert encoded.payload["tools"][0]["function"]["parameters"]["required"] == ["a", "b"]
    assert contentmodel.check(encoded.payload, api=CHAT, model="gpt-5.2") == []

    function = {"name": "f", "arguments": '{"a":"x","b":null}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    answer["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    back = convert(answer, source=CHAT, target=ANTHROPIC, kind="response", maps=encoded.maps).payload
    assert back["content"][0]["input"] == {"a": "x"}


def test_bijection_gives_distinct_stable_texts() -> None:
    ids = Bijection(IdentifierRule("[a-z_0-9]", 29), _call_id)
    texts = ["a:0", "a.0", "a_0", "A", "x" * 40, ""]
    given = [ids(text) for text in texts]
    assert len(set(given)) == len(texts)
    assert given == [ids(text) for text in texts]
    assert all(IdentifierRule("[a-z_0-9]", 29).accepts(text) for text in given)
    # An output for another text is in use, even as an input that fits the rule.
    assert ids(given[0]) != given[0]


@pytest.mark.parametrize("make", [_call_id, _tool_name])
@pytest.mark.parametrize("characters", ["[A-Za-z0-9]", "[A-Z]", "[-.:]", "(?=[a-zA-Z])[0-9A-Z]", "[a-z_0-9]", "[^c]"])
def test_bijection_fits_any_identifier_rule_with_enough_texts(characters: str, make: Any) -> None:
    takes = IdentifierRule(characters, 22 if characters == "[-.:]" else 9)
    names = Bijection(takes, make)
    texts = ["toolu_01ABC", "a b", "", "\udfff", *(f"call_{number:020}" for number in range(500))]
    made = [names(text) for text in texts]
    assert len(set(made)) == len(texts)
    assert all(takes.accepts(text) for text in made)


def test_bijection_keeps_minimum_length() -> None:
    takes = IdentifierRule("[a-zA-Z0-9]", 9, 9)
    ids = Bijection(takes, _call_id)
    made = [ids(text) for text in ("call_1", "c1", "toolu_01ABC", "123456789", "x" * 40)]
    assert made[3] == "123456789"
    assert all(takes.accepts(text) and len(text) == 9 for text in made)
    assert len(set(made)) == 5


@pytest.mark.parametrize(("characters", "longest"), [("[a-z]", 3), ("[0-9]", 9), ("[é]", 64), ("a", 64), ("[ab]", 20)])
def test_bijection_rejects_identifier_rule_with_too_few_texts(characters: str, longest: int) -> None:
    with pytest.raises(ValueError, match="too few for ids or names"):
        Bijection(IdentifierRule(characters, longest), _call_id)


@pytest.mark.parametrize("name", ["a.b", "ü", "9 lives", "x" * 200, " "])
def test_bijection_gives_readable_tool_names(name: str) -> None:
    names = Bijection(IdentifierRule("[a-zA-Z0-9_-]", 64), _tool_name)
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{8,63}", names(name))


def test_renames_survive_json_round_trip() -> None:
    maps = Renames(ids={"a": "b"}, names={"c": "d"})
    assert msgspec.json.decode(msgspec.json.encode(maps), type=Renames) == maps


def _gemini_calls(*names: str) -> dict[str, Any]:
    """Return an answer whose calls have no ids, as Gemini sends them."""
    parts = [{"functionCall": {"name": name, "args": {}}} for name in names]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


@pytest.mark.parametrize("answer_id", [None, "r1"])
@pytest.mark.parametrize("is_stream", [False, True])
def test_ids_for_calls_without_ids_are_unique_in_conversation(is_stream: bool, answer_id: str | None) -> None:
    messages: list[Any] = [{"role": "user", "content": "Look."}]
    given: list[str] = []
    for names in (("a",), ("b", "a"), ("a",)):
        request = convert({"model": "m", "messages": messages, "max_tokens": 9}, source=ANTHROPIC, target=GOOGLE)
        answer: Any = _gemini_calls(*names)
        if answer_id is not None:
            answer["responseId"] = answer_id
        if is_stream:
            converter = StreamConverter(GOOGLE, ANTHROPIC, maps=request.maps)
            data = b"data: " + msgspec.json.encode(answer) + b"\n\n"
            folded = Fold()
            for event in decode_stream([converter.feed(data) + converter.close()], api=ANTHROPIC):
                folded.feed(event)
            blocks = contentmodel.adapter(ANTHROPIC).encode_response(folded.response).payload["content"]
        else:
            made = convert(answer, source=GOOGLE, target=ANTHROPIC, kind="response", maps=request.maps)
            blocks = made.payload["content"]
        ids = [block["id"] for block in blocks]
        given += ids
        messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result(i) for i in ids]}]
    prefix = "call_" if answer_id is None else given[0].removesuffix("1")
    assert given == [f"{prefix}{number}" for number in range(1, 5)]


@pytest.mark.parametrize("is_stream", [False, True])
def test_arguments_that_are_an_object_in_chat_are_kept(is_stream: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"q": 1}}}
    message = {"role": "assistant", "tool_calls": [{"index": 0, **call} if is_stream else call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "delta" if is_stream else "message": message}
    payload: Any = {"id": "x", "model": "m", "choices": [choice]}
    if is_stream:
        payload = f"data: {json.dumps(payload)}\n\ndata: [DONE]\n\n".encode()
        response = fold_stream(payload, api=CHAT)
    else:
        response = contentmodel.adapter(CHAT).decode_response(payload)
        assert contentmodel.adapter(CHAT).encode_response(response).payload == payload
    encoded = contentmodel.adapter(ANTHROPIC).encode_response(response)
    assert encoded.payload["content"] == [use("c1", "f")]


def parts_of_answer(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an answer whose choices have one message each, and end for calls."""
    choices = [{"finish_reason": "tool_calls", "message": {"role": "assistant", **one}, **fields} for one in messages]
    return {"id": "x", "model": "m", "choices": choices}


LOOKING = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}]}


def test_choices_of_chat_without_index_that_all_end_for_calls_are_one_answer() -> None:
    answer = parts_of_answer({"content": "Let me look.", "pad": 1}, {"content": None, **LOOKING, "pad": 2}, filter={})
    encoded = convert(answer, source=CHAT, target=ANTHROPIC, kind="response")
    assert encoded.payload["content"] == [{"type": "text", "text": "Let me look."}, use("c1")]
    assert audit(answer, encoded) == []
    assert "$.choices[1].message.pad" in [loss.path for loss in encoded.losses]
    chat = contentmodel.adapter(CHAT)
    response = chat.decode_response(answer)
    assert len(response.choices) == 1
    assert chat.encode_response(response).payload == answer
    choice = response.choices[0]
    added = msgspec.structs.replace(choice, messages=[*choice.messages, choice.messages[0]])
    written = chat.encode_response(msgspec.structs.replace(response, choices=[added])).payload["choices"]
    assert [one["message"]["content"] for one in written] == [[TEXT, TEXT], None]
    again = Fold()
    for event in decode_stream(encode_stream(unfold(response), CHAT), CHAT):
        again.feed(event)
    assert [len(choice.messages[0].contents) for choice in again.response.choices] == [2]


TEXT = {"type": "text", "text": "Let me look."}


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES, GOOGLE])
def test_call_and_result_without_name_get_a_valid_name(target: str) -> None:
    call = {"id": "", "type": "function", "function": {"name": "", "arguments": "{}"}}
    payload = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "", "content": "fine"},
        ],
    }
    encoded = convert(payload, source=CHAT, target=target, kind="request")
    refused = [found.rule for found in contentmodel.check(encoded.payload, api=target) if found.severity == "refused"]
    assert [rule for rule in refused if "name" in rule or "id" in rule.split("-")] == []
    assert encoded.maps.names[""]


# -- calls without ids -------------------------------------------------------------------------------------------------


def calling(api: str, answer_id: str | None, call_id: str | None = None) -> dict[str, Any]:
    """Return an answer with two calls without an id, or with this id."""
    if api == GOOGLE:
        part = {"functionCall": {"name": "look", "args": {}}}
        candidate = {"content": {"role": "model", "parts": [part, part]}, "finishReason": "STOP"}
        head = {} if answer_id is None else {"responseId": answer_id}
        return {**head, "modelVersion": "m", "candidates": [candidate]}
    call: dict[str, Any] = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    call |= {} if call_id is None else {"id": call_id}
    message = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": answer_id or "", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def ids_there(payload: dict[str, Any], source: str, target: str) -> list[str | None]:
    """Return the ids of the calls of a converted answer, after a check that its converted stream has the same."""
    whole = contentmodel.adapter(target).decode_response(
        convert(payload, source=source, target=target, kind="response").payload
    )
    stream = encode_stream(unfold(contentmodel.adapter(source).decode_response(payload)), source)
    streamed = fold_stream(convert_stream(stream, source=source, target=target), target)
    ids = [call.call_id for call in whole.tool_calls]
    assert ids == [call.call_id for call in streamed.tool_calls]
    return ids


@pytest.mark.parametrize(("source", "call_id"), [(GOOGLE, None), (CHAT, None), (CHAT, "")])
@pytest.mark.parametrize("target", [ANTHROPIC, CHAT, RESPONSES, GOOGLE])
def test_ids_for_calls_without_ids_differ_between_responses(source: str, call_id: str | None, target: str) -> None:
    if source == target:
        payload = calling(source, "one", call_id)
        assert convert(payload, source=source, target=target, kind="response").payload == payload
        return
    one, other = (ids_there(calling(source, answer_id, call_id), source, target) for answer_id in ("one", "other"))
    assert len({*one, *other}) == 4
    assert all(re.fullmatch("call_[0-9a-f]{12}_[12]", given or "") for given in (*one, *other))
    assert ids_there(calling(source, None, call_id), source, target) == ["call_1", "call_2"]
