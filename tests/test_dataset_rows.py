"""Functions of Arrow record batches: columns of payloads, columns of results, and rows that fail."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

import contentmodel
from contentmodel import UnknownApiError
from contentmodel.datasets import BatchFunction, auditor, checker, converter, planner, shower, statistics
from contentmodel.lanes import lane as lanes
from contentmodel.lanes.lane import Lane
from test_lanes import answer, request, turns

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
CHAT: dict[str, Any] = {
    "model": "gpt-5.2",
    "max_completion_tokens": 100,
    "messages": [
        {"role": "user", "name": "ann", "content": "Weather in Oslo?"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "Thanks."},
    ],
}
ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-8",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 5},
}


def texts(*payloads: Any) -> list[str]:
    return [json.dumps(payload) for payload in payloads]


def batch(**columns: Any) -> Any:
    return pa.RecordBatch.from_pydict(columns)


def only(result: Any) -> dict[str, Any]:
    assert len(result) == 1
    row: dict[str, Any] = result.to_pylist()[0]
    return row


@pytest.mark.parametrize(
    "column",
    [
        pa.array(texts(CHAT)),
        pa.array(texts(CHAT), pa.large_string()),
        pa.array(texts(CHAT), pa.string_view()),
        pa.array([json.dumps(CHAT).encode()], pa.binary()),
        pa.array([json.dumps(CHAT).encode()], pa.large_binary()),
        pa.array(texts(CHAT)).dictionary_encode(),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts(CHAT))),
        pa.array([CHAT]),
    ],
    ids=lambda array: str(array.type)[:14],
)
def test_converter_reads_columns_of_text_and_structs(column: Any) -> None:
    expected = contentmodel.convert(CHAT, source="openai-chat", target="anthropic-messages")
    result = converter(target="anthropic-messages", column="request")(batch(id=[7], request=column))
    row = only(result)
    assert result.schema.names == ["id", "request", "payload", "losses", "error", "api"]
    assert (row["id"], row["error"], row["api"]) == (7, None, "openai-chat")
    assert json.loads(row["payload"]) == expected.payload
    assert {loss["code"]: loss["count"] for loss in row["losses"]} == dict(expected.count_losses())


def test_converter_lists_losses_with_paths_on_request() -> None:
    convert = converter(target="anthropic-messages", model="claude-opus-5", losses="all")
    why = "anthropic-messages has no field for it here"
    loss = {"code": "no-field", "kind": "dropped", "path": "$.messages[0].name", "what": "author_name of ChatMessage"}
    assert only(convert(batch(request=texts(CHAT))))["losses"] == [{**loss, "why": why}]


@pytest.mark.parametrize("losses", ["counts", "all"])
def test_refused_losses_are_the_error_of_the_row(losses: Any) -> None:
    convert = converter(target="anthropic-messages", model="claude-opus-5", losses=losses, on_loss="raise")
    row = only(convert(batch(request=texts(CHAT))))
    assert row["payload"] is None
    assert "$.messages[0].name" in row["error"]
    assert [loss["code"] for loss in row["losses"]] == ["no-field"]


BAD: list[tuple[Any, str]] = [
    ('{"messages": [', "not JSON"),
    ("", "not JSON"),
    (None, "expected JSON text, an object or an array, got null at $"),
    ("17", "expected an object, got integer at $"),
    ('{"messages": 3, "model": "gpt-5.2"}', "$.messages: expected array"),
    ('{"model": "gpt-5.2", "messages": [7]}', "$.messages[0]"),
    ("[" * 100_000, "nested too deeply at $"),
    (json.dumps({"messages": [{"role": "user", "content": "x" * 3000}]}), "bytes, and the limit is 2,000"),
    (b"\xff\xfe{}", "not JSON"),
    ('{"\\ud83d": 1}', "$"),
]


def test_each_bad_row_has_an_error_in_its_place() -> None:
    good = json.dumps({"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi."}]}).encode()
    values = [good, *(bad.encode() if isinstance(bad, str) else bad for bad, _ in BAD), good]
    convert = converter(target="anthropic-messages", max_bytes=200_000)
    small = converter(target="anthropic-messages", max_bytes=2000)
    rows = convert(batch(request=pa.array(values, pa.binary()))).to_pylist()
    rows[8] = small(batch(request=pa.array(values, pa.binary()))).to_pylist()[8]
    assert [row["error"] is None for row in rows] == [True, *[False] * len(BAD), True]
    assert [row["payload"] is None for row in rows] == [False, *[True] * len(BAD), False]
    for row, (bad, text) in zip(rows[1:], BAD, strict=False):
        assert text in row["error"], (bad, row["error"])
        assert "$" in row["error"]


def test_wrong_api_is_an_error_with_the_path_of_the_fault() -> None:
    row = only(converter(source="openai-chat", kind="request", target="mistral-chat")(batch(a=texts(ANSWER))))
    assert row["error"] == "openai-chat: missing array at $.messages"
    assert row["api"] == "openai-chat"


def test_column_of_another_type_is_an_error_of_each_row() -> None:
    rows = converter(target="openai-chat", column="n")(batch(n=[1, 2], m=["a", "b"])).to_pylist()
    assert [row["error"] for row in rows] == ["expected JSON text, an object or an array, got integer at $"] * 2


def test_values_that_are_not_json_are_errors_of_their_rows() -> None:
    times = pa.array([{"messages": [], "at": 2**62}, {"messages": [], "at": 0}], None)
    column = times.cast(pa.struct([("messages", pa.list_(pa.null())), ("at", pa.timestamp("s"))]))
    rows = converter(source="openai-chat", kind="request", target="mistral-chat")(batch(r=column))["error"].to_pylist()
    assert rows[0].endswith("at $")
    assert rows[1].endswith("datetime is not a JSON value at $.at")


def test_padding_of_structs_is_left_out() -> None:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in (("a", {"x": {"type": "string"}}), ("b", {"y": {"type": "integer"}}))
    ]
    values = [{"messages": [{"role": "user", "content": "Hi."}], "tools": [tool]} for tool in tools]
    rows = converter(source="openai-chat", kind="request", target="anthropic-messages")(batch(request=pa.array(values)))
    schemas = [json.loads(row["payload"])["tools"][0]["input_schema"] for row in rows.to_pylist()]
    assert schemas == [tool["function"]["parameters"] for tool in tools]


def test_whole_row_is_the_payload_if_no_column_is_named() -> None:
    rows = batch(id=["r1"], messages=[CHAT["messages"]], model=["gpt-5.2"])
    result = converter(target="anthropic-messages", key="id")(rows)
    assert result.schema.names == ["id", "payload", "losses", "error", "api"]
    assert json.loads(only(result)["payload"])["model"] == "gpt-5.2"


def test_rows_of_training_data_are_payloads_without_padding() -> None:
    calls = [{"function": {"name": "f", "arguments": arguments}} for arguments in ({"a": 1}, {"b": "x"})]
    column = [[{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": [call]}] for call in calls]
    assert '"b": null' in json.dumps(batch(messages=column).to_pylist()[0])
    rows = converter(source="hf-messages", kind="request", target="openai-chat")(batch(id=[1, 2], messages=column))
    made = [json.loads(row["payload"])["messages"][1]["tool_calls"][0] for row in rows.to_pylist()]
    assert [call["function"]["arguments"] for call in made] == ['{"a":1}', '{"b":"x"}']


def test_missing_column_is_an_error_of_the_call() -> None:
    with pytest.raises(ValueError, match="no column 'b': the input has a"):
        converter(target="openai-chat", column="b")(batch(a=["{}"]))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"target": "no-such-api"}, UnknownApiError),
        ({"target": "openai-chat", "source": "no-such-api"}, UnknownApiError),
        ({"target": "openai-chat", "kind": "answer"}, ValueError),
        ({"target": "openai-chat", "on_loss": "ignore"}, ValueError),
        ({"target": "openai-chat", "losses": "some"}, ValueError),
        ({"target": "openai-chat", "policies": {"reasoning": "keep"}}, ValueError),
    ],
)
def test_wrong_options_are_errors_of_the_maker(options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        converter(**options)


@pytest.mark.parametrize("key", [None, "id", ("id", "request")])
def test_schema_is_that_of_the_output(key: Any) -> None:
    rows = batch(id=[7], request=texts(CHAT), payload=["a column that the results replace"])
    function = converter(target="anthropic-messages", column="request", key=key)
    assert function.schema(rows.schema).equals(function(rows).schema)


def test_tables_and_empty_batches_have_the_same_columns() -> None:
    convert = converter(target="anthropic-messages", column="request")
    rows = batch(request=texts(CHAT))
    table = pa.Table.from_batches([rows, rows])
    assert convert(table).num_rows == 2
    assert convert(rows.slice(0, 0)).schema == convert(rows).schema
    assert convert(table.slice(0, 0)).schema == convert(table).schema


def test_stream_is_converted_as_a_whole() -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5.2"}
    delta = {"index": 0, "delta": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}
    stream = f"data: {json.dumps({**chunk, 'choices': [delta]})}\n\ndata: [DONE]\n\n"
    row = only(converter(target="anthropic-messages")(batch(stream=[stream])))
    assert row["error"] is None
    assert "event: message_start" in row["payload"]
    assert only(statistics()(batch(stream=[stream])))["kind"] == "stream"


def test_checker_lists_violations() -> None:
    refused = {**CHAT, "temperature": 9}
    rows = checker(source="openai-chat")(batch(request=texts(CHAT, refused))).to_pylist()
    assert [[v["path"] for v in row["violations"] if v["severity"] == "refused"] for row in rows] == [
        [],
        ["$.temperature"],
    ]


def test_auditor_finds_nothing_in_correct_conversions() -> None:
    rows = auditor(target="google-generate-content")(batch(payload=texts(CHAT, ANSWER))).to_pylist()
    assert [(row["unaccounted"], row["error"]) for row in rows] == [([], None), ([], None)]


def test_planner_lists_targets_by_cost() -> None:
    row = only(planner(targets=["anthropic-messages", "openai-responses"])(batch(request=texts(CHAT))))
    assert {plan["target"] for plan in row["plans"]} == {"anthropic-messages", "openai-responses"}
    assert row["plans"] == sorted(row["plans"], key=lambda plan: plan["cost"])
    assert row["plans"][0]["losses"] == [{"code": "no-field", "count": 1}]


def test_shower_draws_text() -> None:
    text = only(shower()(batch(request=texts(CHAT))))["text"]
    assert "Weather in Oslo?" in text
    assert "\x1b" not in text


def test_statistics_count_turns_tokens_and_contents() -> None:
    rows = statistics()(batch(payload=texts(CHAT, ANSWER))).to_pylist()
    assert [row["kind"] for row in rows] == ["request", "response"]
    assert [row["model"] for row in rows] == ["gpt-5.2", "claude-opus-4-8"]
    assert [(row["messages"], row["turns"], row["tool_calls"]) for row in rows] == [(5, 5, 1), (1, 1, 0)]
    assert [(row["input_tokens"], row["output_tokens"]) for row in rows] == [(None, None), (10, 5)]
    assert rows[0]["contents"] == [
        {"type": "function_call", "count": 1},
        {"type": "function_result", "count": 1},
        {"type": "text", "count": 3},
    ]


def test_halves_of_characters_and_large_numbers_do_not_stop_a_batch() -> None:
    odd = {**ANSWER, "model": "\ud83d", "usage": {"input_tokens": 10**30, "output_tokens": 1}}
    rows = statistics()(batch(payload=texts(odd, ANSWER))).to_pylist()
    assert [row["model"] for row in rows] == ["\\ud83d", "claude-opus-4-8"]
    assert [row["input_tokens"] for row in rows] == [None, 10]


MAKERS: list[Callable[[], BatchFunction]] = [
    lambda: converter(target="anthropic-messages", key=["id"], column="request", policies={"reasoning": "text"}),
    lambda: checker(column="request"),
    lambda: auditor(target="anthropic-messages", column="request"),
    lambda: planner(column="request"),
    lambda: shower(column="request"),
    lambda: statistics(column="request"),
]


@pytest.mark.parametrize("make", MAKERS)
def test_functions_can_be_pickled(make: Callable[[], BatchFunction]) -> None:
    rows = batch(id=[1], request=texts(CHAT))
    assert pickle.loads(pickle.dumps(make()))(rows) == make()(rows)


@pytest.mark.parametrize("source", ["anthropic-messages", None])
def test_rows_of_answers_of_one_shape_take_a_template(source: str | None) -> None:
    convert_batch = converter(target="openai-chat", source=source, kind="response", column="text")
    rows = batch(text=texts(*(answer(number) for number in range(20))))
    with mock.patch.object(lanes, "_LANES", {}), mock.patch.object(lanes, "IS_ON", True):
        with mock.patch.object(Lane, "answer_by_model", autospec=True, side_effect=Lane.answer_by_model) as by_model:
            made = convert_batch(rows)
        assert made["error"].null_count == len(rows)
        # Two answers, and the changed ones that the template is made of.
        assert by_model.call_count == 4
    with mock.patch.object(lanes, "_LANES", {}), mock.patch.object(lanes, "IS_ON", False):
        assert made == convert_batch(rows)


def test_rows_of_long_requests_take_templates_of_their_turns() -> None:
    convert_batch = converter(target="openai-chat", source="anthropic-messages", kind="request", column="text")
    rows = batch(text=texts(*(request(*turns(30 + number)) for number in range(4))))
    reader: Any = contentmodel.adapter("anthropic-messages")
    with mock.patch.object(lanes, "_LANES", {}), mock.patch.object(lanes, "IS_ON", True):
        made = convert_batch(rows)
        assert made["error"].null_count == len(rows)
        with mock.patch.object(reader, "trace_request", wraps=reader.trace_request) as decoded:
            convert_batch(rows[-1:])
        (call,) = decoded.call_args_list
        assert len(call.args[0]["messages"]) < 20
    with mock.patch.object(lanes, "_LANES", {}), mock.patch.object(lanes, "IS_ON", False):
        assert made == convert_batch(rows)
