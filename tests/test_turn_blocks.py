"""Rows as a wire format: round trips, also of rows written by hand."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from conftest import APIS, FEW, records
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DataContent,
    DecodeError,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    ToolResultContent,
    UnknownContent,
    UriContent,
)
from contentmodel.auditing import unaccounted
from contentmodel.content import CONTENT_TYPES
from contentmodel.json import steps_of
from contentmodel.vocabularies import vocabulary_of
from contentmodel_conformance import laws
from contentmodel_conformance.differences import difference
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.transcripts import transcripts
from contentmodel_conformance.subject import limits_of
from history import values

ADAPTER = contentmodel.adapter("turn-blocks")
KINDS = ("request", "response")


def written(value: Any) -> Any:
    kind = "request" if isinstance(value, ChatRequest) else "response"
    encoded = laws.encode(ADAPTER, kind, value)
    assert encoded.losses == ()
    return encoded.payload


def read(payload: Any) -> Any:
    kind = "request" if "turns" in payload else "response"
    return laws.decode(ADAPTER, kind, payload)


# -- round trips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CONTENT_TYPES, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_every_content_survives_a_round_trip(kind: type[Any], data: st.DataObject) -> None:
    content = data.draw(model.structs(kind))
    request = ChatRequest(messages=[ChatMessage(role="assistant", contents=[content])])
    wire = written(request)
    assert read(wire) == request
    assert read(copy.deepcopy(wire)) == request
    block = ADAPTER.encode_block(content, 3)
    assert set(block) <= {"sequence", "block_type", "text_content", "content"} or isinstance(content, UnknownContent)
    assert block["sequence"] == 3


@pytest.mark.parametrize(
    "kind", [t for t in CONTENT_TYPES if issubclass(t, ToolResultContent)], ids=lambda t: t.__name__
)
@FEW
@given(data=st.data())
def test_rows_of_failed_results_have_the_text_of_the_failure_and_is_error(kind: Any, data: st.DataObject) -> None:
    error = ErrorContent(message=data.draw(st.text(min_size=1)), code=data.draw(st.none() | st.text()))
    text = TextContent(text=data.draw(st.text(min_size=1)))
    outputs, flag, failure = data.draw(
        st.sampled_from(
            [([error], None, error.message), ([text, error], True, error.message), ([text], True, text.text)]
        )
    )
    content = msgspec.structs.replace(data.draw(model.structs(kind)), outputs=outputs, is_error=flag)
    block = ADAPTER.encode_block(content, 0)
    assert (block["text_content"], block["content"]["is_error"]) == (failure, True)
    assert ADAPTER.decode_block(block) == content


@pytest.mark.parametrize(
    "block",
    [
        {"block_type": "tool_result", "content": {"tool_use_id": "t", "content": "boom", "is_error": True}},
        {"block_type": "tool_result", "text_content": "boom", "content": {"tool_use_id": "t", "is_error": True}},
        {
            "block_type": "tool_result",
            "content": {"content": [{"block_type": "error", "content": {"message": "boom"}}]},
        },
        {
            "block_type": "tool_result",
            "text_content": "boom",
            "content": {"content": [{"block_type": "error", "content": {"message": "boom"}}], "is_error": False},
        },
        {"block_type": "tool_result", "content": {"content": "boom", "is_error": True, "is_error_set": False}},
        {"block_type": "web_search_tool_result", "content": {"outputs": [{"type": "error", "message": "boom"}]}},
        {"block_type": "web_search_tool_result", "text_content": None, "content": {"is_error": True}},
    ],
)
def test_rows_of_failed_results_of_other_spellings_come_back_unchanged(block: dict[str, Any]) -> None:
    content = ADAPTER.decode_block({"sequence": 0, **block})
    assert content.error is not None
    assert ADAPTER.encode_block(content, 0) == {"sequence": 0, **block}
    laws.identity(ADAPTER, "request", {"turns": [turn(use("t"), block)]})


def test_decoder_reports_a_text_of_a_failed_result_that_is_not_its_failure() -> None:
    said = {
        "block_type": "tool_result",
        "text_content": "other",
        "content": {"tool_use_id": "t", "content": "boom", "is_error": True},
    }
    rows = {"turns": [turn(use("t"), said)]}
    laws.identity(ADAPTER, "request", rows)
    losses = contentmodel.convert(rows, target="openai-chat").losses
    assert [loss.path for loss in losses if loss.path.endswith("text_content")] == ["$.turns[0].blocks[1].text_content"]


@given(model.requests())
def test_every_request_survives_a_round_trip(request: ChatRequest) -> None:
    assert read(written(request)) == request


@given(model.responses())
def test_every_response_survives_a_round_trip(response: ChatResponse) -> None:
    assert read(written(response)) == response


@pytest.mark.slow
@pytest.mark.parametrize(("api", "kind"), [(api, kind) for api in APIS for kind in KINDS])
def test_recorded_traffic_survives_a_round_trip_through_rows(api: str, kind: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    for record in records(api, kind):
        if record["status"] in (200, None):
            value = laws.decode(adapter, kind, record["body"])
            rows = json.loads(
                contentmodel.convert(record["body"], source=api, target="turn-blocks", kind=kind).to_json()
            )
            assert read(rows) == value
            back = laws.encode(adapter, kind, read(rows))
            assert difference(record["body"], back.payload) is None


@pytest.mark.parametrize("api", APIS)
@given(data=st.data())
def test_generated_transcripts_survive_a_round_trip(api: str, data: st.DataObject) -> None:
    request = data.draw(transcripts(api))
    assert read(written(request)) == request


# -- totality ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [{"extra": {}}, {"extra": {"x": {}}}, {"extra": None}, {}])
def test_encoder_keeps_empty_content_objects(inside: Any) -> None:
    block = {"block_type": "text", "content": inside, "text_content": ""}
    laws.identity(ADAPTER, "response", {"role": "assistant", "blocks": [block, text_row("Hi.")]})


def test_encoder_keeps_null_and_missing_sequence_numbers() -> None:
    blocks = [{"sequence": None, **text_row("a")}, {"sequence": 1, **text_row("b")}]
    laws.identity(ADAPTER, "request", {"turns": [{"role": "user", "blocks": blocks}]})


def test_decoder_raises_decode_error_if_blocks_are_nested_too_deeply() -> None:
    deep: Any = {"block_type": "text", "text_content": "x"}
    for _ in range(3000):
        deep = {"block_type": "tool_result", "content": {"tool_use_id": "t", "content": [deep]}}
    wire = {"turns": [{"role": "tool", "blocks": [deep]}]}
    with pytest.raises(DecodeError, match="nested too deeply"):
        ADAPTER.decode_request(wire)


# -- meaning of rows ---------------------------------------------------------------------------------------------------


def turn(*blocks: dict[str, Any], role: str = "assistant", **more: Any) -> dict[str, Any]:
    return {"role": role, "blocks": list(blocks), **more}


def use(name: str) -> dict[str, Any]:
    return {"block_type": "tool_use", "content": {"tool_use_id": name, "tool_name": "f", "input": {"a": 1}}}


def result(name: str, content: Any) -> dict[str, Any]:
    return {"block_type": "tool_result", "content": {"tool_use_id": name, "content": content}}


def text_row(text: str) -> dict[str, Any]:
    return {"block_type": "text", "text_content": text}


RUN = turn(
    text_row("Let me see."),
    use("1"),
    use("2"),
    result("1", "one"),
    result("2", "two"),
    text_row("Done."),
    origin={"api": "anthropic-messages", "issuer": "anthropic"},
)


@pytest.mark.parametrize(
    ("block", "content"),
    [
        (text_row("Hi."), TextContent(text="Hi.")),
        (
            {"block_type": "thinking", "text_content": "Hm.", "content": {"signature": "c2ln"}},
            ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="c2ln")),
        ),
        (
            {"block_type": "thinking", "content": {"protected": {"issuer": "a", "kind": "redacted", "data": "x"}}},
            ReasoningContent(protected=Protected(issuer="a", kind="redacted", data="x")),
        ),
        (use("1"), FunctionCallContent(call_id="1", name="f", arguments={"a": 1})),
        (result("1", "one"), FunctionResultContent(call_id="1", outputs=[TextContent(text="one")])),
        (result("1", []), FunctionResultContent(call_id="1")),
        (
            result(
                "1", [text_row("a"), {"block_type": "image", "content": {"media_type": "image/png", "data": "AA=="}}]
            ),
            FunctionResultContent(
                call_id="1", outputs=[TextContent(text="a"), DataContent(media_type="image/png", data="AA==")]
            ),
        ),
        (
            result("1", [{"type": "text", "text": "as JSON of the model"}]),
            FunctionResultContent(call_id="1", outputs=[TextContent(text="as JSON of the model")]),
        ),
        (
            {"block_type": "image", "content": {"url": "https://a.example/a.png"}},
            UriContent(uri="https://a.example/a.png", media_type="image/*"),
        ),
        ({"block_type": "image", "content": {"file": "f"}}, HostedFileContent(file_id="f", media_type="image/*")),
        ({"block_type": "reference", "content": {"uri": "https://a.example"}}, UriContent(uri="https://a.example")),
        ({"block_type": "reference", "content": {"file": "f"}}, HostedFileContent(file_id="f")),
        (
            {"block_type": "data", "content": {"media_type": "audio/wav", "data": "AA=="}},
            DataContent(media_type="audio/wav", data="AA=="),
        ),
        (
            {"block_type": "hologram", "content": {"x": 1}},
            UnknownContent(api="turn-blocks", block={"block_type": "hologram", "content": {"x": 1}}),
        ),
    ],
)
def test_block_decodes_to_its_content_type(block: dict[str, Any], content: Any) -> None:
    wire = {"turns": [turn(block, origin=RUN["origin"])]}
    request = ADAPTER.decode_request(wire)
    assert plain(request.messages[0].contents[0]) == content
    assert written(request) == wire


def plain(value: Any) -> Any:
    """Return a content without the hints of the adapter."""
    changed = msgspec.structs.replace(value, extra=None)
    if isinstance(value, FunctionResultContent):
        return msgspec.structs.replace(changed, outputs=[plain(output) for output in value.outputs])
    return changed


def test_turn_with_calls_and_results_decodes_to_several_messages() -> None:
    request = ADAPTER.decode_request({"turns": [turn(text_row("Do it."), role="user"), RUN]})
    assert [(m.role, len(m.contents)) for m in request.messages] == [
        ("user", 1),
        ("assistant", 3),
        ("tool", 2),
        ("assistant", 1),
    ]
    # The application created the results, so they do not come from the API of the turn.
    origin = Origin(api="anthropic-messages", issuer="anthropic")
    assert [message.origin for message in request.messages[1:]] == [origin, None, origin]
    payload = contentmodel.adapter("anthropic-messages").encode_request(request, model="claude-opus-4-5").payload
    assert [m["role"] for m in payload["messages"]] == ["user", "assistant", "user", "assistant"]
    back = written(ChatRequest(messages=[bare(m) for m in request.messages], origin=request.origin))
    assert [t["role"] for t in back["turns"]] == ["user", "assistant"]
    assert [b["block_type"] for b in back["turns"][1]["blocks"]] == [b["block_type"] for b in RUN["blocks"]]


def bare(message: ChatMessage) -> ChatMessage:
    contents = [plain(content) for content in message.contents]
    return msgspec.structs.replace(message, contents=contents, extra=None)


def test_encoder_writes_edited_text_and_keeps_unknown_fields() -> None:
    block = {**text_row("Hi."), "sequence": 5, "lang": "en", "content": {"annotations": None, "tone": "warm"}}
    wire = {"turns": [{**turn(block, role="user"), "id": "t1", "mood": "calm"}], "note": 1}
    request = ADAPTER.decode_request(wire)
    (message,) = request.messages
    edited = msgspec.structs.replace(message.contents[0], text="Bye.")
    messages = [msgspec.structs.replace(message, contents=[edited, TextContent(text="More.")])]
    expected = copy.deepcopy(wire)
    expected["turns"][0]["blocks"][0]["text_content"] = "Bye."
    expected["turns"][0]["blocks"][0]["sequence"] = 0
    expected["turns"][0]["blocks"].append({"sequence": 1, **text_row("More.")})
    assert written(msgspec.structs.replace(request, messages=messages)) == expected


def test_encoder_writes_edit_of_field_that_was_null() -> None:
    wire = {"turns": [turn({"block_type": "thinking", "text_content": None, "content": None})]}
    request = ADAPTER.decode_request(wire)
    assert written(request) == wire
    (message,) = request.messages
    sealed = Protected(issuer="a", kind="signature", data="s")
    edited = msgspec.structs.replace(message.contents[0], text="Hm.", protected=sealed)
    changed = msgspec.structs.replace(request, messages=[msgspec.structs.replace(message, contents=[edited])])
    (block,) = written(changed)["turns"][0]["blocks"]
    assert block == {
        "block_type": "thinking",
        "text_content": "Hm.",
        "content": {"signature": "s", "issuer": "a"},
    }


def test_single_turn_decodes_to_response() -> None:
    row = turn(
        text_row("Hi."),
        id="t1",
        model="m",
        stop_reason="max_tokens",
        usage={"input_tokens": 3},
        error="Broke.",
        status="failed",
    )
    response = ADAPTER.decode_response(row)
    assert (response.id, response.model, response.text) == ("t1", "m", "Hi.")
    assert response.finish_reason == FinishReason(reason="length", raw="max_tokens")
    assert response.usage.input_tokens == 3
    assert response.error.message == "Broke."
    assert written(response) == row
    plain_one = ChatResponse(
        id="r", model="m", origin=response.origin, choices=[ChatChoice(messages=[ChatMessage(role="assistant")])]
    )
    assert written(plain_one) == {"id": "r", "role": "assistant", "model": "m", "blocks": []}


# -- faults and rules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "path", "message"),
    [
        ({}, "$.turns", "missing array of turns"),
        ({"turns": {}}, "$.turns", "expected an array of turns, got object"),
        ({"turns": [3]}, "$.turns[0]", "expected an object: a turn, got integer"),
        ({"turns": [{}]}, "$.turns[0].role", "missing string"),
        ({"turns": [turn(role=3)]}, "$.turns[0].role", "expected a string"),
        ({"turns": [{"role": "user", "blocks": {}}]}, "$.turns[0].blocks", "expected an array of blocks"),
        ({"turns": [turn("x")]}, "$.turns[0].blocks[0]", "expected an object: a block, got string"),
        ({"turns": [turn({})]}, "$.turns[0].blocks[0].block_type", "missing string"),
        ({"turns": [turn({"block_type": 1})]}, "$.turns[0].blocks[0].block_type", "expected a string"),
        (
            {"turns": [turn({**text_row("x"), "text_content": 3})]},
            "$.turns[0].blocks[0].text_content",
            "Expected `str`",
        ),
        ({"turns": [turn({**text_row("x"), "content": []})]}, "$.turns[0].blocks[0].content", "expected an object"),
        (
            {"turns": [turn({"block_type": "tool_use", "content": {"input": 3}})]},
            "$.turns[0].blocks[0].content.input",
            "Expected `str | object | null`",
        ),
        (
            {"turns": [turn(result("1", 3))]},
            "$.turns[0].blocks[0].content.content",
            "expected text or a list of blocks",
        ),
        (
            {"turns": [turn(result("1", [text_row("x"), {"block_type": "image"}]))]},
            "$.turns[0].blocks[0].content.content[1].content",
            "missing one of data, url, file",
        ),
        (
            {"turns": [turn({"block_type": "image", "content": {"data": "AA=="}})]},
            "$.turns[0].blocks[0].content.media_type",
            "missing string: the media type of the image",
        ),
        (
            {"turns": [turn({"sequence": 1, **text_row("b")}, {"sequence": 0, **text_row("a")})]},
            "$.turns[0].blocks[1].sequence",
            "0 comes after 1",
        ),
        ({"turns": [turn(usage="3")]}, "$.turns[0].usage", "expected an object, got string"),
        ({"turns": [turn(origin={"api": "x"})]}, "$.turns[0].origin", "missing required field `issuer`"),
        (
            {"turns": [turn(text_row("x"), envelope={"messages": [{"role": "user", "blocks": 2}]})]},
            "$.turns[0].envelope.messages",
            "these messages have 2 blocks, but the turn has 1",
        ),
        (
            {"turns": [{**turn(role="user"), "id": "a"}, {**turn(), "id": "b", "previous": "z"}]},
            "$.turns[1].previous",
            "the turn before it is 'a', not 'z'",
        ),
        ({"turns": [], "envelope": {"options": {"seed": "x"}}}, "$.envelope.options.seed", "Expected `int | null`"),
        ({"turns": [], "envelope": {"tools": [{"type": [], "new": 1}]}}, "$.envelope.tools[0].type", "Expected `str`"),
    ],
)
def test_decode_error_has_path_and_message(wire: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        ADAPTER.decode_request(wire)
    (fault,) = raised.value.faults
    assert fault.path == path
    assert message in fault.message
    assert [v.path for v in ADAPTER.check_request(wire) if v.rule == "shape"] == [path]


def test_decode_error_has_all_faults() -> None:
    with pytest.raises(DecodeError) as raised:
        ADAPTER.decode_request({"turns": [turn({}, "x"), {"role": 1}]})
    assert len(raised.value.faults) == 3


@pytest.mark.parametrize(
    ("turns", "rule", "path"),
    [
        ([turn(role="robot")], "roles-are-known", "$.turns[0].role"),
        ([turn(use("1"), role="user")], "reasoning-and-calls-in-assistant-turns", "$.turns[0].blocks[0].block_type"),
        (
            [turn({"block_type": "web_search_tool_result", "content": {}}, role="system")],
            "reasoning-and-calls-in-assistant-turns",
            "$.turns[0].blocks[0].block_type",
        ),
        (
            [turn(role="user"), turn(result("9", "x"))],
            "results-follow-their-calls",
            "$.turns[1].blocks[0].content.tool_use_id",
        ),
        ([turn(use("1"), use("1"))], "call-ids-are-unique", "$.turns[0].blocks[1].content.tool_use_id"),
        ([turn(role="user", id="a"), turn(id="a")], "turn-ids-are-unique", "$.turns[1].id"),
    ],
)
def test_rule_reports_path_of_violation(turns: list[Any], rule: str, path: str) -> None:
    found = ADAPTER.check_request({"turns": turns})
    assert [(v.rule, v.path) for v in found] == [(rule, path)]
    assert contentmodel.check({"turns": turns}, api="turn-blocks") == found


@given(values.transcripts_of_rows())
def test_check_of_any_rows_gives_violations_inside_turns(wire: dict[str, Any]) -> None:
    assert all(v.path.startswith("$.turns[") for v in ADAPTER.check_request(wire))


def test_turn_with_calls_and_results_breaks_no_rule() -> None:
    assert contentmodel.check({"turns": [turn(text_row("Do it."), role="user"), RUN]}) == []


# -- other APIs --------------------------------------------------------------------------------------------------------


def test_detect_recognises_only_rows() -> None:
    assert contentmodel.detect({"turns": [RUN]}) == ("turn-blocks", "request")
    assert contentmodel.detect(RUN) == ("turn-blocks", "response")
    for payload in ({"messages": []}, {"turns": 3}, {"turns": [3]}, {"role": "user", "blocks": [{}]}, {"blocks": []}):
        assert ADAPTER.recognises(payload) == {}


@pytest.mark.slow
@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_losses_of_rows_have_paths_that_exist(target: str, kind: str, data: st.DataObject) -> None:
    wire = data.draw(values.transcripts_of_rows() if kind == "request" else values.rows("assistant"))
    encoded = contentmodel.convert(wire, source="turn-blocks", target=target, kind=kind)
    for loss in encoded.losses:
        assert loss.kind == "synthesized" or loss.code == "unknown-time" or is_there(wire, loss.path), loss
    if wire.get("conversation") and kind == "request":
        assert "$.conversation" in {loss.path for loss in encoded.losses}


def is_there(wire: Any, path: str) -> bool:
    """Return whether the parent of the path exists. In it, a default counts as a value."""
    for step in steps_of(path)[:-1]:
        if isinstance(wire, dict) and step not in wire:
            return False
        wire = wire[step]
    return isinstance(wire, dict | list)


# Fields that only rows have: sequence numbers, origins, the issuer of a signature, the failure of a result (a text in
# Chat and Responses), and the form of a tool as a hint.
STORED = {"sequence", "origin", "issuer", "is_error", ":row"}


@pytest.mark.slow
@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("source", APIS)
@given(data=st.data())
def test_values_of_rows_are_in_output_or_reported(source: str, target: str, data: st.DataObject) -> None:
    rows = written(data.draw(transcripts(source, limits_of(contentmodel.adapter(source)))))
    target_adapter = contentmodel.adapter(target)
    encoded = laws.crossed(ADAPTER, target_adapter, "request", rows)
    known = vocabulary_of(ADAPTER)
    vocabulary = msgspec.structs.replace(known, structure=known.structure | STORED)
    found = unaccounted(rows, encoded.payload, encoded.losses, vocabulary, vocabulary_of(target_adapter))
    assert [one for one in found if not one.path.endswith(".content.name")] == []


def test_loss_has_path_in_rows() -> None:
    hidden = {"block_type": "thinking", "text_content": "Hm.", "content": {"signature": "s", "issuer": "anthropic"}}
    nested = [text_row("a"), {"block_type": "hologram"}]
    wire = {
        "turns": [turn(hidden, use("1"), result("1", nested)), turn({**text_row("x"), "lang": "en"}, role="user")],
        "envelope": {"options": {"top_k": 3, "max_output_tokens": 5}},
    }
    losses = contentmodel.convert(wire, target="openai-chat", model="gpt-4.1").losses
    assert {loss.path for loss in losses} >= {
        "$.turns[0].blocks[0]",
        "$.turns[0].blocks[2].content.content[1]",
        "$.turns[1].blocks[0].lang",
        "$.envelope.options.top_k",
    }


def test_streams_of_rows_are_rejected() -> None:
    with pytest.raises(DecodeError, match="rows have no stream"):
        list(contentmodel.decode_stream([b"data: {}\n\n"], "turn-blocks"))
    with pytest.raises(contentmodel.EncodeError, match="has no stream"):
        contentmodel.convert(b"data: {}\n\n", source="openai-chat", target="turn-blocks")


def test_describe_lists_every_content_type() -> None:
    described = ADAPTER.describe()
    rows = described["unions"]["block"]["rows"]
    assert {row["model"] for row in rows} == {kind.__name__ for kind in CONTENT_TYPES}
    assert all(set(row) == {"name", "model", "constants", "fields"} for row in rows)
    assert {"tool_use_id", "tool_name", "input"} <= {
        key.removeprefix("content.") for row in rows if row["name"] == "tool_use" for key in row["fields"]
    }


@pytest.mark.parametrize("name", ["$ref", "$.content", "$$ref", "$[0]"])
@pytest.mark.parametrize("value", ["system", 1, {"a": 1}])
def test_unknown_field_of_a_stored_block_may_begin_with_a_dollar_sign(name: str, value: Any) -> None:
    block = {"block_type": "tool_use", "content": {"tool_use_id": "c", "name": "f", "arguments": {}, name: value}}
    payload = {"turns": [{"role": "assistant", "blocks": [block]}]}
    assert contentmodel.convert(payload, source="turn-blocks", target="turn-blocks").payload == payload
    contentmodel.convert(payload, source="turn-blocks", target="openai-chat")
