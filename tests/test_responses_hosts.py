"""Variants of the Responses API of different hosts, written by hand: streams, and opaque state."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel.content.base import Protected
from contentmodel.events import BlockCatchUp, StreamEvent, TextDelta, fold
from contentmodel.streams import encode_stream
from contentmodel_conformance import streams
from test_events import CREATED, last, lawful, sse, summary

API = "openai-responses"
RESPONSES = contentmodel.adapter(API)
CALL = {"type": "function_call", "call_id": "fc_a", "name": "f", "arguments": "", "status": "in_progress"}
CALLED = {**CALL, "arguments": '{"x":1}', "status": "completed"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
TEXT = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Return an event without an `output_index`."""
    return {"type": f"response.{kind}", **fields}


def message(text: str) -> dict[str, Any]:
    """Return a whole message item."""
    return {**MESSAGE, "status": "completed", "content": [{**TEXT, "text": text}]}


def reads_as(events: list[StreamEvent], target: str) -> list[Any]:
    """Return a summary of the turn as clients of the target API read it."""
    raw = b"".join(encode_stream(events, target))
    return summary(streams.decode(contentmodel.adapter(target), [raw]))


# -- items without an index --------------------------------------------------------------------------------------------

INDEX_FREE = [
    event("output_item.added", item=MESSAGE),
    event("content_part.added", item_id="msg_1", part=TEXT),
    event("output_text.delta", item_id="msg_1", delta="He"),
    event("output_text.delta", item_id="msg_1", delta="llo"),
    event("output_item.added", item=CALL),
    event("function_call_arguments.delta", item_id="fc_a", delta='{"x"'),
    event("function_call_arguments.delta", item_id="fc_a", delta=":1}"),
    event("output_text.done", item_id="msg_1", text="Hello"),
    event("output_item.done", item=message("Hello")),
    event("output_item.done", item=CALLED),
]


@pytest.mark.parametrize("end", [[], [last("completed", output=[message("Hello"), CALLED])]], ids=["cut", "whole"])
@pytest.mark.parametrize(
    ("target", "arguments"), [(API, '{"x":1}'), ("openai-chat", '{"x":1}'), ("anthropic-messages", {"x": 1})]
)
def test_decoder_finds_items_without_an_index_by_their_ids(target: str, arguments: Any, end: list[Any]) -> None:
    """llama.cpp sends no numbers, and its calls have the id `call_id` only."""
    events = lawful(API, sse(CREATED, *INDEX_FREE, *end))
    assert summary(events) == ["Hello", ("fc_a", "f", '{"x":1}')]
    assert reads_as(events, target) == ["Hello", ("fc_a", "f", arguments)]


def test_decoder_reads_items_without_an_index_and_an_id() -> None:
    item = {key: value for key, value in message("Hello").items() if key != "id"}
    events = lawful(API, sse(CREATED, event("output_item.done", item=item), last("completed", output=[])))
    assert summary(events) == ["Hello"]


def test_decoder_refuses_a_delta_without_an_index_of_an_unknown_item() -> None:
    raw = sse(CREATED, event("output_text.delta", item_id="msg_2", delta="He"))
    error = fold(lawful(API, raw)).error
    assert error is not None
    assert error.code == "stream_malformed"


# -- numbers that do not fit -------------------------------------------------------------------------------------------


def numbered(kind: str, place: int, number: int | None = None, **fields: Any) -> dict[str, Any]:
    """Return an event of an item, or of a part."""
    return event(kind, output_index=place, **({} if number is None else {"content_index": number}), **fields)


@pytest.mark.parametrize("first", [0, None], ids=["part added", "no part added"])
@pytest.mark.parametrize("numbers", [(1, 2, 3), (1, 1, 1), (0, 1, 1)])
@pytest.mark.parametrize("target", [API, "openai-chat", "anthropic-messages", "google-generate-content"])
def test_decoder_appends_deltas_with_new_numbers_to_the_open_part(
    target: str, numbers: tuple[int, ...], first: int | None
) -> None:
    """Some versions of vLLM number the deltas of a part."""
    deltas = [numbered("output_text.delta", 0, n, delta=t) for n, t in zip(numbers, ("He", "ll", "o"), strict=True)]
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=MESSAGE),
            *([] if first is None else [numbered("content_part.added", 0, first, part=TEXT)]),
            *deltas,
            numbered("output_text.done", 0, 4, text="Hello"),
            numbered("content_part.done", 0, 5, part={**TEXT, "text": "Hello"}),
            numbered("output_item.done", 0, item=message("Hello")),
            last("completed", output=[message("Hello")]),
        ),
    )
    assert summary(events) == ["Hello"]
    assert reads_as(events, target) == ["Hello"]


def test_decoder_starts_a_part_after_the_end_of_the_part_before() -> None:
    parts = [{**TEXT, "text": "One."}, {**TEXT, "text": "Two."}]
    whole = {**message(""), "content": parts}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=MESSAGE),
            numbered("output_text.delta", 0, 0, delta="One."),
            numbered("output_text.done", 0, 0, text="One."),
            numbered("output_text.delta", 0, 1, delta="Two."),
            numbered("output_item.done", 0, item=whole),
            last("completed", output=[whole]),
        ),
    )
    assert summary(events) == ["One.", "Two."]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["One.", "Two."]
    assert not any(isinstance(e, BlockCatchUp) for e in events)


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed"}
THOUGHTS = {**THOUGHT, "content": [{"type": "reasoning_text", "text": "Hm."}]}


@pytest.mark.parametrize(
    ("begun_as", "number", "item_id"),
    [("msg_1", 1, "msg_9"), ("rs_1", 1, "msg_9"), ("msg_1", 0, "msg_1")],
    ids=["another number", "another number and id", "the same number"],
)
def test_decoder_starts_an_item_with_the_number_of_a_finished_one(begun_as: str, number: int, item_id: str) -> None:
    """Some versions of vLLM start the message with the number and the id of the reasoning before it."""
    whole = {**message("Hello"), "id": item_id}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=THOUGHT),
            numbered("reasoning_text.delta", 0, 1, item_id="rs_1", delta="H"),
            numbered("reasoning_text.delta", 0, 2, item_id="rs_1", delta="m."),
            numbered("output_item.done", 0, item=THOUGHTS),
            numbered("output_item.added", 0, item={**MESSAGE, "id": begun_as}),
            numbered("output_text.delta", number, 1, item_id=item_id, delta="Hel"),
            numbered("output_text.delta", number, 2, item_id=item_id, delta="lo"),
            numbered("output_item.done", number, item=whole),
            last("completed", output=[THOUGHTS, whole]),
        ),
    )
    assert summary(events) == ["Hm.", "Hello"]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["Hel", "lo"]
    assert not any(isinstance(e, BlockCatchUp) for e in events)
    assert reads_as(events, "openai-chat") == ["Hello"]


# -- opaque state ------------------------------------------------------------------------------------------------------

SUMMARY = [{"type": "summary_text", "text": "Look it up."}, {"type": "summary_text", "text": "Then answer."}]
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": SUMMARY,
    "encrypted_content": "c2VhbGVk",
    "status": "completed",
}
ANSWER = message("Hello")


def request(model: str, **reasoning: Any) -> dict[str, Any]:
    """Return a request with an item of reasoning."""
    items = [{"role": "user", "content": "Hi."}, {**REASONING, **reasoning}, ANSWER, {"role": "user", "content": "Go."}]
    return {"model": model, "input": items}


def state_of(value: Any) -> Any:
    """Return the only opaque state in the messages of a value."""
    (state,) = [c.protected for message in value.messages for c in message.contents if c.protected is not None]
    return state


@pytest.mark.parametrize(
    ("model", "form", "issuer"),
    [
        ("gpt-5.2", None, "openai"),
        ("my-alias", None, "openai"),
        ("grok-4", None, "xai"),
        ("x-ai/grok-4.1-fast", None, "xai"),
        ("anthropic/claude-sonnet-4.5", None, API),
        ("my-alias", "google-gemini-v1", API),
        ("my-alias", "xai-responses-v1", "xai"),
        ("x-ai/grok-4", "azure-openai-responses-v1", "openai"),
        ("my-alias", "unknown", "openai"),
    ],
)
def test_issuer_of_encrypted_reasoning_is_its_maker(model: str, form: str | None, issuer: str) -> None:
    payload = request(model, **({} if form is None else {"format": form}))
    decoded = RESPONSES.decode_request(payload)
    assert state_of(decoded) == Protected(issuer=issuer, kind="encrypted", data="c2VhbGVk")
    encoded = RESPONSES.encode_request(decoded)
    assert (encoded.payload, encoded.losses) == (payload, ())


@pytest.mark.parametrize(
    ("source", "target", "is_kept"),
    [
        ("grok-4", "gpt-5.2", False),
        ("grok-4", "grok-4.1-fast", True),
        ("grok-4", "my-alias", True),
        ("grok-4", "anthropic/claude-sonnet-4.5", False),
        ("anthropic/claude-sonnet-4.5", "openai/gpt-5.2", False),
        ("anthropic/claude-sonnet-4.5", "anthropic/claude-opus-4.5", True),
        ("anthropic/claude-sonnet-4.5", "google/gemini-3-pro-preview", False),
        ("gpt-5.2", "grok-4", False),
        ("gpt-5.2", "gpt-5.2-codex", True),
        ("gpt-5.2", "my-alias", True),
        ("my-alias", "gpt-5.2", True),
    ],
)
def test_encrypted_reasoning_is_sent_to_models_of_its_maker(source: str, target: str, is_kept: bool) -> None:
    payload = request(source)
    encoded = contentmodel.convert(payload, source=API, target=API, kind="request", model=target)
    kept = [item for item in encoded.payload["input"] if item.get("type") == "reasoning"]
    assert kept == ([REASONING] if is_kept else [])
    lost = {loss.path for loss in encoded.losses if loss.code == "foreign-reasoning"}
    parts = {f"$.input[1].{part}" for part in ("summary[0]", "summary[1]", "encrypted_content")}
    assert lost == (set() if is_kept else parts)
    assert contentmodel.audit(payload, encoded) == []


def test_encrypted_reasoning_of_an_answer_is_not_sent_to_a_model_of_another_maker() -> None:
    answer = {"id": "r", "object": "response", "created_at": 1, "model": "grok-4", "status": "completed"}
    response = RESPONSES.decode_response({**answer, "output": [REASONING, ANSWER]})
    sent = RESPONSES.decode_request({"model": "gpt-5.2", "input": "Hi."})
    sent = msgspec.structs.replace(sent, messages=[*sent.messages, *response.messages])
    encoded = RESPONSES.encode_request(sent)
    assert [item["type"] for item in encoded.payload["input"][1:]] == ["message"]
    assert {loss.code for loss in encoded.losses} >= {"foreign-reasoning"}
    sent = msgspec.structs.replace(sent, model="grok-4")
    assert REASONING in RESPONSES.encode_request(sent).payload["input"]


@pytest.mark.parametrize(
    ("source", "api", "model"),
    [
        ("anthropic/claude-sonnet-4.5", "anthropic-messages", "claude-sonnet-4-5"),
        ("google/gemini-3-pro-preview", "google-generate-content", "gemini-3-pro-preview"),
        ("grok-4", "openai-chat", "grok-4"),
    ],
)
def test_encrypted_reasoning_of_a_host_is_not_sent_to_other_apis_of_the_maker(
    source: str, api: str, model: str
) -> None:
    encoded = contentmodel.convert(request(source), source=API, target=api, kind="request", model=model)
    (answer,) = [m for m in contentmodel.adapter(api).decode_request(encoded.payload).messages if m.role == "assistant"]
    assert [content.__class__ for content in answer.contents] == [contentmodel.TextContent]
    assert [loss.code for loss in encoded.losses].count("foreign-reasoning") == 3


def test_encrypted_reasoning_of_another_maker_is_text_by_policy() -> None:
    encoded = contentmodel.convert(
        request("grok-4"), source=API, target=API, kind="request", model="gpt-5.2", policies={"reasoning": "text"}
    )
    assert [item["content"] for item in encoded.payload["input"][1:3]] == ["Look it up.\n\n", "Then answer.\n\n"]
    assert {loss.code for loss in encoded.losses} >= {"opaque-state", "reasoning-as-text"}


def test_message_with_only_encrypted_reasoning_of_another_maker_is_left_out() -> None:
    payload = request("grok-4")
    del payload["input"][2]
    encoded = contentmodel.convert(payload, source=API, target=API, kind="request", model="gpt-5.2")
    assert [item.get("role") for item in encoded.payload["input"]] == ["user", "user"]
    assert contentmodel.audit(payload, encoded) == []


def test_older_document_without_the_maker_of_state_is_sent_to_its_maker_only() -> None:
    stored = msgspec.to_builtins(RESPONSES.decode_request(request("grok-4")))
    for content in stored["messages"][1]["contents"]:
        if "protected" in content:
            content["protected"]["issuer"] = "openai"
    older = msgspec.convert(stored, contentmodel.ChatRequest)
    for model, is_kept in (("grok-4", True), ("grok-4.1-fast", True), ("gpt-5.2", False)):
        sent = msgspec.structs.replace(older, model=model)
        assert (REASONING in RESPONSES.encode_request(sent).payload["input"]) is is_kept


@pytest.mark.parametrize("framework", ["vercel-model-messages", "vercel-ui-messages", "pydantic-ai-messages"])
def test_encrypted_reasoning_of_xai_survives_frameworks(framework: str) -> None:
    payload = request("grok-4")
    there = contentmodel.convert(payload, source=API, target=framework, kind="request")
    back = contentmodel.convert(there.payload, source=framework, target=API, kind="request", model="grok-4")
    (item,) = [item for item in back.payload["input"] if item.get("type") == "reasoning"]
    assert item["encrypted_content"] == "c2VhbGVk"
    openai = contentmodel.convert(there.payload, source=framework, target=API, kind="request", model="gpt-5.2")
    assert "rs_1" not in str(openai.payload)


@pytest.mark.parametrize("target", ["anthropic-messages", "openai-chat"])
def test_empty_encrypted_content_is_no_state(target: str) -> None:
    """A server of llama.cpp sends it."""
    payload = request("qwen3", encrypted_content="")
    decoded = RESPONSES.decode_request(payload)
    assert [c.protected for m in decoded.messages for c in m.contents] == [None] * 5
    encoded = RESPONSES.encode_request(decoded)
    assert (encoded.payload, encoded.losses) == (payload, ())
    crossed = contentmodel.convert(payload, source=API, target=target, kind="request")
    assert contentmodel.audit(payload, crossed) == []
    assert {loss.path for loss in crossed.losses if loss.kind != "insignificant"} >= {"$.input[1].summary[0]"}
    assert not any("encrypted_content" in loss.path for loss in crossed.losses if loss.kind != "insignificant")


# -- arguments that are objects ----------------------------------------------------------------------------------------

OBJECT = {**CALLED, "arguments": {"x": 1}}


@pytest.mark.parametrize("arguments", [{"x": 1}, {}, "", "{}", "{", None, [1]])
def test_arguments_of_a_call_are_written_back(arguments: Any) -> None:
    payload = {**CREATED["response"], "status": "completed", "output": [{**CALLED, "arguments": arguments}]}  # type: ignore[dict-item]
    encoded = RESPONSES.encode_response(RESPONSES.decode_response(payload))
    assert (encoded.payload, encoded.losses) == (payload, ())


@pytest.mark.parametrize(("target", "path"), [("anthropic-messages", "content"), ("openai-chat", "tool_calls")])
def test_arguments_that_are_an_object_reach_other_apis(target: str, path: str) -> None:
    output = {"type": "function_call_output", "call_id": "fc_a", "output": "Done."}
    payload = {"model": "m", "input": [{"role": "user", "content": "Hi."}, OBJECT, output]}
    encoded = contentmodel.convert(payload, source=API, target=target, kind="request")
    decoded = contentmodel.adapter(target).decode_request(encoded.payload)
    (call,) = decoded.messages[1].tool_calls
    assert call.arguments_object == {"x": 1}
    assert encoded.payload["messages"][1][path]
    assert contentmodel.audit(payload, encoded) == []


def test_arguments_that_become_an_object_are_written_as_text() -> None:
    decoded = RESPONSES.decode_request({"model": "m", "input": [CALLED]})
    (call,) = decoded.messages[0].contents
    edited = msgspec.structs.replace(call, arguments={"x": 2})  # type: ignore[call-arg]
    message = msgspec.structs.replace(decoded.messages[0], contents=[edited])
    encoded = RESPONSES.encode_request(msgspec.structs.replace(decoded, messages=[message]))
    assert encoded.payload["input"][0]["arguments"] == '{"x":2}'


@pytest.mark.parametrize("target", [API, "openai-chat", "anthropic-messages"])
def test_stream_with_arguments_that_are_an_object_reaches_other_apis(target: str) -> None:
    begun = {**CALL, "arguments": {}}
    events = lawful(
        API,
        sse(
            CREATED,
            numbered("output_item.added", 0, item=begun),
            numbered("output_item.done", 0, item=OBJECT),
            last("completed", output=[OBJECT]),
        ),
    )
    assert summary(events) == [("fc_a", "f", {"x": 1})]
    ((call_id, name, arguments),) = reads_as(events, target)
    assert (call_id, name) == ("fc_a", "f")
    assert arguments in ({"x": 1}, '{"x":1}')


# -- signatures of OpenRouter ------------------------------------------------------------------------------------------

SIGNED_REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "Look."}],
    "signature": "EqRf",
    "format": "anthropic-claude-v1",
}


def signed_request(model: str) -> dict[str, Any]:
    """Return a request after an answer of Claude at OpenRouter."""
    question = {"role": "user", "content": "Which?"}
    return {"model": model, "input": [question, SIGNED_REASONING, {"role": "assistant", "content": "A cat."}, question]}


def test_signature_of_openrouter_reaches_anthropic() -> None:
    payload = signed_request("anthropic/claude-sonnet-4")
    decoded = RESPONSES.decode_request(payload)
    assert decoded.messages[1].contents[0].protected == Protected(issuer="anthropic", kind="signature", data="EqRf")
    assert RESPONSES.encode_request(decoded).payload == payload
    there = contentmodel.convert(payload, source=API, target="anthropic-messages").payload
    assert there["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Look.", "signature": "EqRf"}


def test_signature_of_openrouter_is_not_sent_to_a_model_of_another_maker() -> None:
    decoded = RESPONSES.decode_request(signed_request("anthropic/claude-sonnet-4"))
    lossy = RESPONSES.encode_request(msgspec.structs.replace(decoded, model="openai/gpt-5.2"))
    assert b"EqRf" not in lossy.to_json()
    assert lossy.losses


@pytest.mark.parametrize("form", [None, "unknown", "openai-responses-v1"])
def test_signature_of_an_unknown_maker_is_residue(form: str | None) -> None:
    item = {**SIGNED_REASONING, "format": form}
    payload = {"model": "m", "input": [item]}
    decoded = RESPONSES.decode_request(payload)
    assert decoded.messages[0].contents[0].protected is None
    assert RESPONSES.encode_request(decoded).payload == payload


def test_streamed_signature_of_openrouter_reaches_anthropic() -> None:
    begun = {**SIGNED_REASONING, "content": [], "signature": None}
    part = {"type": "reasoning_text", "text": "Look."}
    raw = sse(
        CREATED,
        event("output_item.added", output_index=0, item=begun),
        event("reasoning_text.delta", output_index=0, content_index=0, item_id="rs_1", delta="Look."),
        event("reasoning_text.done", output_index=0, content_index=0, item_id="rs_1", text=part["text"]),
        event("output_item.done", output_index=0, item=SIGNED_REASONING),
        event("output_item.added", output_index=1, item=MESSAGE),
        event("output_item.done", output_index=1, item=message("A cat.")),
        last("completed", output=[SIGNED_REASONING, message("A cat.")]),
    )
    events = lawful(API, raw)
    assert b"EqRf" in b"".join(encode_stream(events, "anthropic-messages"))


def test_text_of_reasoning_is_not_sent_to_a_model_of_openai() -> None:
    """openai/codex#36551: an array of maximum length 0."""
    reasoning = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]}
    items = [{"role": "user", "content": "Hi"}, reasoning, {"role": "assistant", "content": "x"}]
    payload = {"model": "openai/gpt-oss-20b", "input": [*items, {"role": "user", "content": "y"}]}
    there = contentmodel.convert(payload, source="openai-responses", target="openai-responses", model="gpt-5")
    assert there.payload["input"] == [payload["input"][0], *payload["input"][2:]]
    assert ("openai-responses-reasoning-text", "$.input[1].content[0].text") in {(x.code, x.path) for x in there.losses}
    assert contentmodel.check(there.payload, api="openai-responses", model="gpt-5") == []
    elsewhere = contentmodel.convert(
        payload, source="openai-responses", target="openai-responses", model="openai/gpt-oss-120b"
    )
    assert elsewhere.payload["input"] == payload["input"]


def test_responses_api_takes_functions_beside_an_effort() -> None:
    for model in ("gpt-5.6", "gpt-9"):
        assert contentmodel.adapter("openai-responses").look_up_model(model).capabilities.functions_with_effort
        assert not contentmodel.adapter("openai-chat").look_up_model(model).capabilities.functions_with_effort


def test_changed_strict_of_a_function_without_it_is_written() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tool = {"type": "function", "name": "f", "parameters": schema}
    responses = contentmodel.adapter("openai-responses")
    request = responses.decode_request({"model": "gpt-5.2", "input": "x", "tools": [tool]})
    loose = msgspec.structs.replace(request, tools=[msgspec.structs.replace(request.tools[0], strict=False)])
    assert responses.encode_request(loose).payload["tools"] == [{**tool, "strict": False}]
    moved = contentmodel.ChatRequest(messages=request.messages, tools=request.tools)
    assert responses.encode_request(moved).payload["tools"] == [{**tool, "strict": True}]
