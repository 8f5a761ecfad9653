"""Batch files of providers: each line keeps its key, and its payload passes the types of the target."""

from __future__ import annotations

import json
from typing import Any

import anthropic.types as anthropic_types
import pyarrow as pa
import pytest
from anthropic.types.messages import MessageBatchIndividualResponse
from anthropic.types.messages.batch_create_params import Request
from google.genai import types as google_types
from mistralai.client.models import BatchRequest, ChatCompletionResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import TypeAdapter

import contentmodel
from contentmodel import DecodeError, batches
from contentmodel.batches import FORMATS, check_line, check_lines, convert_line, match_results, read_line
from contentmodel.datasets import checker, converter

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
CHAT: dict[str, Any] = {
    "model": "gpt-5.2",
    "max_completion_tokens": 100,
    "messages": [
        {"role": "user", "name": "ann", "content": "Weather in Oslo?"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ],
}
REQUEST = {"custom_id": "r-1", "method": "POST", "url": "/v1/chat/completions", "body": CHAT}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-8",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 5},
}
FAILURE = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
RESULTS: dict[str, Any] = {
    "succeeded": {"custom_id": "r-1", "result": {"type": "succeeded", "message": MESSAGE}},
    "errored": {"custom_id": "r-1", "result": {"type": "errored", "error": FAILURE}},
    "canceled": {"custom_id": "r-1", "result": {"type": "canceled"}},
    "expired": {"custom_id": "r-1", "result": {"type": "expired"}},
}


def of_request(line: dict[str, Any], target: str) -> None:
    """Validate the payload of a request with the types of the target's SDK."""
    if target == "anthropic-batch":
        TypeAdapter(Request).validate_python(line)
    elif target in ("gemini-batch", "vertex-batch"):
        TypeAdapter(list[google_types.Content]).validate_python(line["request"]["contents"])
    elif target == "mistral-batch":
        BatchRequest.model_validate(line)
    elif target == "bedrock-batch":
        assert line["modelInput"]["anthropic_version"] == "bedrock-2023-05-31"
        assert "model" not in line["modelInput"]
    else:
        assert line["method"] == "POST"
        assert line["url"] == {"openai-batch": "/v1/chat/completions"}.get(target, "/v1/responses")


def of_answer(line: dict[str, Any], target: str) -> None:
    """Validate the answer of a result with the types of the target's SDK."""
    if target == "anthropic-batch":
        MessageBatchIndividualResponse.model_validate(line)
    elif target in ("gemini-batch", "vertex-batch"):
        google_types.GenerateContentResponse.model_validate(line["response"])
    elif target == "mistral-batch":
        ChatCompletionResponse.model_validate(line["response"]["body"])
    elif target == "bedrock-batch":
        anthropic_types.Message.model_validate(line["modelOutput"])
    else:
        model: Any = ChatCompletion if target == "openai-batch" else Response
        model.model_validate(line["response"]["body"])
        assert line["error"] is None


@pytest.mark.parametrize("target", FORMATS)
def test_requests_keep_their_keys_and_pass_the_types_of_the_target(target: str) -> None:
    line = convert_line(json.dumps(REQUEST), source="openai-batch", target=target).line
    item = read_line(line, target)
    assert (item.key, item.kind, item.api) == ("r-1", "request", FORMATS[target].api)
    of_request(line, target)


@pytest.mark.parametrize("target", FORMATS)
def test_answers_keep_their_keys_and_pass_the_types_of_the_target(target: str) -> None:
    converted = convert_line(RESULTS["succeeded"], source="anthropic-batch", target=target)
    item = read_line(converted.line, target)
    assert (item.key, item.kind, item.outcome) == ("r-1", "response", "succeeded")
    of_answer(converted.line, target)
    back = convert_line(converted.line, source=target, target="anthropic-batch").line
    assert back["result"]["message"]["content"] == MESSAGE["content"]


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("outcome", ["errored", "canceled", "expired"])
def test_failures_stay_failures(target: str, outcome: str) -> None:
    line = convert_line(RESULTS[outcome], source="anthropic-batch", target=target).line
    item = read_line(line, target)
    names_outcomes = target not in ("gemini-batch", "vertex-batch", "bedrock-batch")
    assert item.outcome == (outcome if names_outcomes else "errored")
    if target == "anthropic-batch":
        MessageBatchIndividualResponse.model_validate(line)
    if outcome == "errored":
        assert "too long" in json.dumps(line)


USER = {"role": "user", "content": "Hi."}
PART = {"role": "user", "content": [{"text": "Hi."}]}
CLAUDE = {"anthropic_version": "vertex-2023-10-16", "max_tokens": 5, "messages": [USER]}
CONVERSE = {"output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}}, "stopReason": "end_turn"}
COMPLETION = {
    "id": "c",
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
}
LINES_OF_HOSTS: list[tuple[str, dict[str, Any], str]] = [
    ("openai-batch", {"custom_id": "r-1", "url": "/chat/completions", "body": {"messages": [USER]}}, "Hi."),
    ("openai-batch", {"custom_id": "r-1", "url": "/v4/chat/completions", "body": {"messages": [USER]}}, "Hi."),
    ("openai-batch", {"custom_id": "r-1", "body": {"messages": [USER]}}, "Hi."),
    ("openai-batch", {"custom_id": "r-1", "body": {"input": "Hi."}}, "Hi."),
    ("bedrock-batch", {"recordId": "r-1", "modelInput": {"messages": [PART]}}, "Hi."),
    ("bedrock-batch", {"recordId": "r-1", "modelInput": {"schemaVersion": "messages-v1", "messages": [PART]}}, "Hi."),
    ("bedrock-batch", {"recordId": "r-1", "modelInput": {"messages": [USER], "max_completion_tokens": 5}}, "Hi."),
    ("bedrock-batch", {"recordId": "r-1", "modelInput": {}, "modelOutput": CONVERSE}, "Hello."),
    ("bedrock-batch", {"recordId": "r-1", "modelInput": {}, "modelOutput": COMPLETION}, "Hello."),
    ("vertex-batch", {"custom_id": "r-1", "request": CLAUDE}, "Hi."),
    ("vertex-batch", {"custom_id": "r-1", "request": CLAUDE, "status": "", "response": MESSAGE}, "Hello."),
]


@pytest.mark.parametrize("target", [*FORMATS])
@pytest.mark.parametrize(("source", "line", "text"), LINES_OF_HOSTS)
def test_lines_of_hosts_and_models_are_read(source: str, line: dict[str, Any], text: str, target: str) -> None:
    converted = convert_line(line, source=source, target=target)
    if source == target:
        assert converted.line == line
        return
    item = read_line(converted.line, target)
    assert (item.key, item.kind) == ("r-1", "response" if text == "Hello." else "request")
    assert text in json.dumps(item.payload)
    assert not [loss for loss in converted.losses if loss.path.endswith("custom_id")]


def test_error_of_claude_at_vertex_is_an_error() -> None:
    line = {"custom_id": "r-1", "request": CLAUDE, "status": "Bad Request: no", "response": {}}
    result = convert_line(line, source="vertex-batch", target="anthropic-batch").line["result"]
    assert result["error"]["error"]["type"] == "invalid_request_error"


def test_url_is_required_of_the_lines_of_openai() -> None:
    line = json.dumps({"custom_id": "r-1", "body": CHAT}).encode()
    assert [v.path for v in check_lines([line], "openai-batch")] == ["$[0].method", "$[0].url"]


REFUSED: dict[str, dict[str, Any]] = {
    "openai-batch": {
        "custom_id": "r-1",
        "response": {"status_code": 400, "body": {"error": {"message": "too long", "type": "invalid_request_error"}}},
    },
    "anthropic-batch": RESULTS["errored"],
    "gemini-batch": {"key": "r-1", "error": {"code": 3, "message": "too long"}},
    "vertex-batch": {
        "key": "r-1",
        "status": 'Bad Request: {"error": {"code": 400, "message": "too long", "status": "INVALID_ARGUMENT"}}',
        "request": {},
        "response": {},
    },
    "bedrock-batch": {"recordId": "r-1", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "too long"}},
    "mistral-batch": {"custom_id": "r-1", "response": {"status_code": 422, "body": {"detail": "too long"}}},
}


@pytest.mark.parametrize("target", [*REFUSED, "openai-responses-batch"])
@pytest.mark.parametrize("source", REFUSED)
def test_kind_of_a_failure_is_kept(source: str, target: str) -> None:
    line = convert_line(REFUSED[source], source=source, target=target).line
    back = convert_line(line, source=target, target="anthropic-batch").line
    result = REFUSED[source]["result"] if source == target == "anthropic-batch" else back["result"]
    assert result["error"]["error"]["type"] == "invalid_request_error"
    assert "too long" in result["error"]["error"]["message"]
    if target == "openai-batch":
        status = line["response"]["status_code"]
        assert status == (REFUSED[source]["response"]["status_code"] if source == target else 400)


@pytest.mark.parametrize(
    ("line", "source", "kind"),
    [
        ({"recordId": "r", "error": {"errorCode": 429, "errorMessage": "slow"}}, "bedrock-batch", "rate_limit_error"),
        ({"recordId": "r", "error": {}}, "bedrock-batch", "api_error"),
        ({"key": "r", "error": {"code": 8, "message": "slow"}}, "gemini-batch", "rate_limit_error"),
        ({"key": "r", "error": {"code": 403, "message": "no"}}, "gemini-batch", "permission_error"),
        ({"key": "r", "error": {"code": 99, "message": "odd"}}, "gemini-batch", "api_error"),
        ({"status": "Too Many Requests: slow", "response": {}}, "vertex-batch", "rate_limit_error"),
        ({"status": "odd", "response": {}}, "vertex-batch", "api_error"),
        (
            {"custom_id": "r", "response": {"status_code": 503, "body": {"error": {"message": "slow"}}}},
            "openai-batch",
            "overloaded_error",
        ),
    ],
)
def test_failure_without_a_type_has_the_kind_of_its_status(line: Any, source: str, kind: str) -> None:
    converted = convert_line(line, source=source, target="anthropic-batch").line
    assert converted["result"]["error"]["error"]["type"] == kind


def test_status_of_a_failure_is_that_of_the_target() -> None:
    failure = {"type": "error", "error": {"type": "overloaded_error", "message": "slow"}}
    line = {"custom_id": "r-1", "result": {"type": "errored", "error": failure}}
    assert convert_line(line, source="anthropic-batch", target="openai-batch").line["response"]["status_code"] == 503
    error = convert_line(line, source="anthropic-batch", target="gemini-batch").line["error"]
    assert (error["code"], error["status"]) == (14, "UNAVAILABLE")


ANSWER = {"candidates": [{"content": {"parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}


@pytest.mark.parametrize("target", [name for name in FORMATS if name != "vertex-batch"])
def test_line_without_a_key_gets_the_same_key_as_the_result_of_its_request(target: str) -> None:
    request = {"request": {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}}
    other = {"request": {"contents": [{"role": "user", "parts": [{"text": "Ho."}]}]}}
    lines: list[dict[str, Any]] = [request, {**request, "status": "", "response": ANSWER}, other]
    sent, answer, more = (convert_line(line, source="vertex-batch", target=target).line for line in lines)
    assert [match.result is None for match in match_results([sent, more], [answer], target)] == [False, True]
    assert list(check_lines([json.dumps(sent).encode(), json.dumps(more).encode()], target)) == []


def test_losses_have_the_path_in_the_line() -> None:
    line = {**REQUEST, "tenant": 7}
    converted = convert_line(line, source="openai-batch", target="anthropic-batch", model="claude-opus-5")
    assert [(loss.code, loss.path) for loss in converted.losses] == [
        ("no-field", "$.body.messages[0].name"),
        ("provider-field", "$.tenant"),
    ]
    assert converted.count_losses() == {"no-field": 1, "provider-field": 1}


def test_line_of_the_same_format_is_unchanged() -> None:
    line = {**REQUEST, "url": "/v1/responses", "body": {"input": "Hi.", "new_field": None}, "tenant": 7}
    assert convert_line(json.dumps(line), source="openai-batch", target="openai-batch").line == line


@pytest.mark.parametrize(
    ("line", "source", "fault"),
    [
        ("[", "openai-batch", "not JSON"),
        ("[]", "openai-batch", "expected an object, got array at $"),
        ({"custom_id": 7, "body": {}}, "openai-batch", "expected string, got integer at $.custom_id"),
        ({"custom_id": "a", "url": "/v1/embeddings", "body": {}}, "openai-batch", "got '/v1/embeddings' at $.url"),
        ({"custom_id": "a"}, "anthropic-batch", "expected an object result, got null at $"),
        ({"custom_id": "a", "result": {"type": "lost"}}, "anthropic-batch", "at $.result.type"),
        ({"params": {"messages": []}}, "anthropic-batch", "expected string, got null at $.custom_id"),
        ({"custom_id": "a", "result": {"type": "succeeded"}}, "anthropic-batch", "got null at $.result.message"),
        ({"custom_id": "a", "result": {"type": "errored"}}, "anthropic-batch", "got null at $.result.error"),
        ({"recordId": "a", "modelOutput": None}, "bedrock-batch", "got null at $.modelOutput"),
        ({"recordId": "a", "modelInput": {"prompt": ""}}, "bedrock-batch", "at $.modelInput"),
        ({"recordId": "a", "modelInput": {}, "modelOutput": {"generation": "x"}}, "bedrock-batch", "at $.modelOutput"),
        (
            {**REQUEST, "body": {"messages": 3}},
            "openai-batch",
            "openai-chat: expected array, got integer at $.body.messages",
        ),
    ],
)
def test_malformed_lines_are_reported_with_paths(line: Any, source: str, fault: str) -> None:
    with pytest.raises(DecodeError) as caught:
        convert_line(line, source=source, target="mistral-batch")
    assert fault in str(caught.value)


def test_results_are_matched_to_requests_by_key() -> None:
    requests: list[dict[str, Any]] = [{"custom_id": key, "params": {}} for key in ("a", "b", "c")]
    results = [{"custom_id": key, "result": {"type": "expired"}} for key in ("c", "a")]
    matches = list(match_results(requests, results, "anthropic-batch"))
    assert [(match.key, match.result is None) for match in matches] == [("a", False), ("b", True), ("c", False)]
    with pytest.raises(ValueError, match="no request has the key of the result 'c'"):
        list(match_results(requests[:2], results, "anthropic-batch"))
    with pytest.raises(ValueError, match="two requests have the key 'a'"):
        list(match_results([requests[0]] * 2, [], "anthropic-batch"))


def test_names_are_restored_in_the_answers_of_a_converted_batch() -> None:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    request = {**REQUEST, "body": {**CHAT, "tools": [tool]}}
    sent = convert_line(request, source="openai-batch", target="anthropic-batch")
    assert sent.encoded is not None
    result = convert_line(RESULTS["succeeded"], source="anthropic-batch", target="openai-batch", maps=sent.encoded.maps)
    assert result.line["custom_id"] == request["custom_id"]
    assert result.line["response"]["body"]["choices"][0]["message"]["content"] == "Hello."


def test_limits_are_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps({**REQUEST, "custom_id": key}).encode() for key in ("a b", "c", "c")]
    lines.append(json.dumps({**REQUEST, "custom_id": "d", "body": {**CHAT, "model": "gpt-5-mini"}}).encode())
    assert [(v.rule, v.path) for v in check_lines(lines, "openai-batch")] == [
        ("batch-key", "$[2].custom_id"),
        ("one-model", "$[3].body.model"),
    ]
    spaced = [json.dumps({"custom_id": "a b", "params": {}}).encode(), b'{"params": {}}']
    assert [v.path for v in check_lines(spaced, "anthropic-batch")] == ["$[0].custom_id", "$[1].custom_id"]
    assert (FORMATS["openai-batch"].max_lines, FORMATS["openai-batch"].max_bytes) == (50_000, 200_000_000)
    monkeypatch.setattr(batches, "FORMATS", {"a": FORMATS["gemini-batch"]._replace(max_lines=2, max_bytes=60)})
    many = [json.dumps({"key": key, "request": {}}).encode() for key in "abc"]
    assert [v.message for v in check_lines(many, "a")] == ["3 lines: a takes 2", "84 bytes: a takes 60"]


def test_lines_that_are_no_requests_are_violations() -> None:
    result = json.dumps({"custom_id": "b", "result": {"type": "expired"}}).encode()
    lines = [b"{", b"7", b'{"custom_id": 7}', result, json.dumps({"custom_id": "a", "params": {}}).encode()]
    found = [*check_lines(lines, "anthropic-batch")]
    assert [(v.rule, v.path) for v in found] == [
        ("batch-line", "$[0]"),
        ("batch-line", "$[1]"),
        ("batch-line", "$[2].custom_id"),
        ("batch-line", "$[3]"),
    ]
    assert found[3].message == "expected a request, got a result"


def test_requests_of_batch_files_are_checked() -> None:
    line = {**REQUEST, "body": {**CHAT, "temperature": 9}}
    assert [v.path for v in check_line(line, "openai-batch") if v.severity == "refused"] == ["$.body.temperature"]
    with pytest.raises(DecodeError, match="expected a request, got a result at"):
        check_line(RESULTS["succeeded"], "anthropic-batch")
    rows = pa.RecordBatch.from_pydict({"line": [json.dumps(line)]})
    (row,) = checker(source="openai-batch")(rows).to_pylist()
    assert "$.body.temperature" in [violation["path"] for violation in row["violations"]]


def test_functions_of_batches_convert_lines() -> None:
    rows = pa.RecordBatch.from_pydict({"line": [json.dumps(REQUEST), "{"]})
    good, bad = converter(source="openai-batch", target="anthropic-batch", model="claude-opus-5", losses="all")(
        rows
    ).to_pylist()
    assert json.loads(good["payload"])["custom_id"] == "r-1"
    assert (good["api"], [loss["path"] for loss in good["losses"]]) == ("openai-chat", ["$.body.messages[0].name"])
    assert "not JSON" in bad["error"]
    (unkeyed, _) = converter(source="openai-chat", target="anthropic-batch")(rows).to_pylist()
    assert "needs a key" in unkeyed["error"]
    assert contentmodel.detect(json.loads(good["payload"])["params"])[0] == "anthropic-messages"
