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
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DecodeError,
    ErrorContent,
    TextContent,
    ToolResultContent,
    UnknownContent,
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


# -- faults and rules --------------------------------------------------------------------------------------------------


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
