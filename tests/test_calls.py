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
from contentmodel.engine.pipeline.sentinels import APART, LATE, NO_RESULT
from contentmodel.events import Fold
from contentmodel.rules import IdentifierRule
from contentmodel.streams import StreamConverter, convert_stream, encode_stream
from contentmodel.unfolding import unfold
from contentmodel_conformance import laws

ANTHROPIC, CHAT, RESPONSES, GOOGLE = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "google-generate-content",
)
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def use(call_id: str, name: str = "look") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"q": 1}}


def result(call_id: str, content: Any = "fine", **rest: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **rest}


def claude(*turns: list[dict[str, Any]] | str) -> dict[str, Any]:
    """Return a request with alternating user and assistant turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[index % 2], "content": turn} for index, turn in enumerate(turns)]
    return {"model": "claude-opus-4-8", "max_tokens": 100, "messages": messages}


def to_chat(payload: dict[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = convert(payload, source=ANTHROPIC, target=CHAT, kind="request").payload["messages"]
    return messages


def test_call_without_result_gets_placeholder_result() -> None:
    encoded = convert(claude("hi", [use("c1")], "never mind"), source=ANTHROPIC, target=CHAT, kind="request")
    assert [m["role"] for m in encoded.payload["messages"]] == ["user", "assistant", "tool", "user"]
    assert encoded.payload["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": NO_RESULT}
    assert [(loss.kind, loss.path) for loss in encoded.losses if loss.family == "tools"] == [
        ("synthesized", "$.messages[1].content[0]")
    ]


def test_calls_at_end_of_conversation_get_placeholder_result_only_if_one_of_them_has_a_result() -> None:
    messages = to_chat(claude("hi", [use("c1"), use("c2")]))
    assert [m["role"] for m in messages] == ["user", "assistant"]
    messages = to_chat(claude("hi", [use("c1"), use("c2")], [result("c1")]))
    assert [m.get("tool_call_id") for m in messages[2:]] == ["c1", "c2"]
    assert messages[-1]["content"] == NO_RESULT


def test_late_result_becomes_user_text() -> None:
    messages = to_chat(claude("hi", [use("c1")], "go on", "sure", [result("c1", "late")]))
    assert messages[-1] == {"role": "user", "content": f"{LATE.write('c1')}\nlate"}


def test_is_error_survives_a_round_trip_as_text_mark() -> None:
    payload = claude("hi", [use("c1")], [result("c1", "boom", is_error=True)])
    for target, key in ((CHAT, "messages"), (RESPONSES, "input")):
        forward = convert(payload, source=ANTHROPIC, target=target, kind="request").payload
        last = forward[key][-1]
        assert re.fullmatch(r"\[is_error: true #[0-9a-f]{16}\]\nboom", last.get("content") or last.get("output"))
        back = convert(forward, source=target, target=ANTHROPIC, kind="request").payload
        assert back["messages"][-1]["content"][0]["is_error"] is True
        assert back["messages"][-1]["content"][0]["content"] == "boom"


def test_image_in_result_moves_after_results_and_is_restored() -> None:
    words: dict[str, Any] = {"type": "text", "text": "seen"}
    payload = claude("hi", [use("c1"), use("c2")], [result("c1", [words, PNG]), result("c2")])
    forward = convert(payload, source=ANTHROPIC, target=CHAT, kind="request").payload
    assert [m["role"] for m in forward["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    assert forward["messages"][-1]["content"][0] == {"type": "text", "text": APART.write("c1")}
    assert re.fullmatch(r"seen\n\[media of this result follow: #[0-9a-f]{16}\]", forward["messages"][2]["content"])
    laws.identity(contentmodel.adapter(CHAT), "request", forward)
    back = convert(forward, source=CHAT, target=ANTHROPIC, kind="request").payload
    assert back["messages"][-1]["content"][0]["content"] == [words, PNG]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "[output of tool call c9]"}, {"type": "image_url", "image_url": {"url": "u"}}],
        [{"type": "text", "text": "[output of tool call c1]"}, {"type": "text", "text": "words"}],
        [{"type": "text", "text": "[output of tool call c1]"}],
    ],
)
def test_text_that_imitates_media_label_stays_unchanged(content: list[dict[str, Any]]) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    payload = {
        "model": "m",
        "messages": [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
            {"role": "user", "content": content},
        ],
    }
    adapter = contentmodel.adapter(CHAT)
    laws.identity(adapter, "request", payload)
    assert [m.role for m in adapter.decode_request(payload).messages] == ["assistant", "tool", "user"]


def test_conversation_that_starts_with_assistant_survives_a_round_trip_through_gemini() -> None:
    payload = {
        "model": "gpt-5.2",
        "messages": [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi."}],
    }
    forward = convert(payload, source=CHAT, target=GOOGLE, kind="request").payload
    assert [content["role"] for content in forward["contents"]] == ["user", "model", "user"]
    laws.identity(contentmodel.adapter(GOOGLE), "request", forward)
    back = convert(forward, source=GOOGLE, target=CHAT, kind="request").payload
    assert back["messages"] == payload["messages"]


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


def test_calls_of_one_turn_with_equal_ids_get_distinct_ids() -> None:
    payload = claude("hi", [use("c1", "a"), use("c1", "b")], [result("c1", "first"), result("c1", "second")], "so?")
    converted = convert(payload, source=ANTHROPIC, target=CHAT, kind="request").payload
    calls = [call["id"] for call in converted["messages"][1]["tool_calls"]]
    assert calls[0] == "c1" != calls[1]
    results = [(m["tool_call_id"], m["content"]) for m in converted["messages"] if m["role"] == "tool"]
    assert results == [(calls[0], "first"), (calls[1], "second")]
    assert contentmodel.check(converted, api=CHAT, model="gpt-5.2") == []


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


def test_native_signed_turn_stays_unchanged_beside_foreign_messages() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    turns = claude("hi", [thought, use("an id.with:letters" * 5, "a b")], [result("an id.with:letters" * 5)], "so?")
    payload = {**turns, "tools": [{"name": "a b", "input_schema": {"anyOf": [{"type": "object"}]}}]}
    adapter = contentmodel.adapter(ANTHROPIC)
    native = adapter.decode_request(payload)
    foreign = contentmodel.adapter(CHAT).decode_request(
        {"model": "m", "messages": [{"role": "user", "content": "And now?"}]}
    )
    mixed = msgspec.structs.replace(native, messages=[*native.messages, *foreign.messages])
    encoded = adapter.encode_request(mixed)
    assert encoded.payload["tools"] == payload["tools"]
    written = encoded.payload["messages"]
    assert written[: len(payload["messages"])] == payload["messages"]
    assert written[-1]["content"] == [{"type": "text", "text": "And now?"}]


def test_native_request_is_encoded_unchanged() -> None:
    payload = claude("hi", [use("c1", "a b")], "never mind")
    adapter = contentmodel.adapter(ANTHROPIC)
    request = adapter.decode_request(payload)
    assert adapter.encode_request(request).payload == payload


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


def test_only_arguments_that_were_an_object_are_written_as_an_object_to_chat() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"q": 1}}}
    text = {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call, text]}]
    chat = contentmodel.adapter(CHAT)
    request = chat.decode_request({"model": "m", "messages": messages})
    calls = [msgspec.structs.replace(content, arguments={"q": 2}) for content in request.messages[1].contents]
    request.messages[1] = msgspec.structs.replace(request.messages[1], contents=calls)
    written = chat.encode_request(request).payload["messages"][1]["tool_calls"]
    assert [call["function"]["arguments"] for call in written] == [{"q": 2}, '{"q":2}']


@pytest.mark.parametrize("arguments", ['{"q": 1}', {"q": 1}])
def test_call_of_chat_with_a_blank_type_is_a_function_call(arguments: Any) -> None:
    call = {"id": "c1", "type": "", "function": {"name": "look", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    converted = convert(answer, source=CHAT, target=ANTHROPIC, kind="response").payload
    assert converted["content"] == [use("c1")]
    response = contentmodel.adapter(CHAT).decode_response(answer)
    assert contentmodel.adapter(CHAT).encode_response(response).payload == answer


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


@pytest.mark.parametrize(
    "answer",
    [
        parts_of_answer({"content": "a"}, {"content": "b"}),
        parts_of_answer({"content": "a"}, LOOKING, index=0),
        parts_of_answer(LOOKING, LOOKING),
        parts_of_answer({"content": "a"}, LOOKING, finish_reason="stop"),
        parts_of_answer({"content": "a"}, {"tool_calls": "look"}, LOOKING),
    ],
)
def test_other_choices_of_chat_are_alternatives(answer: dict[str, Any]) -> None:
    chat = contentmodel.adapter(CHAT)
    response = chat.decode_response(answer)
    assert len(response.choices) == len(answer["choices"])
    assert chat.encode_response(response).payload == answer


def test_call_of_chat_without_a_list_is_kept() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
    message = {"role": "assistant", "content": None, "tool_calls": call}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    asked = {"role": "user", "content": "Look."}
    request = {"model": "m", "messages": [asked, message, {"role": "tool", "tool_call_id": "c1", "content": "fine"}]}
    converted = convert(answer, source=CHAT, target=ANTHROPIC, kind="response").payload
    assert converted["content"] == [use("c1")]
    chat = contentmodel.adapter(CHAT)
    assert chat.encode_response(chat.decode_response(answer)).payload == answer
    assert chat.encode_request(chat.decode_request(request)).payload == request
    assert convert(request, source=CHAT, target=ANTHROPIC).payload["messages"][1]["content"] == [use("c1")]


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


@pytest.mark.parametrize("content", [[], [{"type": "of_tomorrow"}]])
def test_gemini_gets_opening_turn_if_first_message_is_dropped(content: list[Any]) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    payload = {
        "model": "m",
        "messages": [
            {"role": "user", "content": content},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "fine"},
        ],
    }
    converted = convert(payload, source=CHAT, target=GOOGLE, kind="request").payload
    assert [content["role"] for content in converted["contents"]] == ["user", "model", "user"]
    assert "calls-are-not-first" not in [found.rule for found in contentmodel.check(converted, api=GOOGLE)]


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


def test_results_with_empty_ids_pair_with_calls_in_order() -> None:
    turn = calling(CHAT, "one", "")["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": "", "content": text} for text in ("first", "second")]
    payload = {"model": "m", "messages": [{"role": "user", "content": "hi"}, turn, *results]}
    messages = convert(payload, source=CHAT, target=ANTHROPIC, kind="request").payload["messages"]
    assert [block["id"] for block in messages[1]["content"]] == ["call_1", "call_2"]
    answered = [(block["tool_use_id"], block["content"]) for block in messages[2]["content"]]
    assert answered == [("call_1", "first"), ("call_2", "second")]


def test_media_of_result_precede_second_result_of_its_call() -> None:
    """The user message behind results grows at its end, so that a cached prefix stays valid."""
    payload = claude("hi", [use("c1")], [result("c1", [PNG]), result("c1", [PNG])])
    sent = [convert(claude("hi", [use("c1")], [result("c1", [PNG])]), target=CHAT), convert(payload, target=CHAT)]
    first, both = (encoded.payload["messages"][-1]["content"] for encoded in sent)
    assert len(first) == 2
    assert both[:2] == first
    assert both[2]["text"] == LATE.write("c1")
