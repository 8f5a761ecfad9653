"""Lists of ChatMessage of Microsoft.Extensions.AI, as System.Text.Json reads and writes them."""

from __future__ import annotations

import copy
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentmodel import (
    ChatMessage,
    ChatRequest,
    Citation,
    DecodeError,
    FunctionCallContent,
    FunctionResultContent,
    ReasoningContent,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
    user,
)
from contentmodel.content import JsonContent, Protected, Span, UnknownContent
from contentmodel.content.hosted import McpServerToolCallContent, McpServerToolResultContent
from contentmodel.content.tools import ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel_conformance.strategies.transcripts import transcripts
from extensions_ai import CALL, CHAT, CONTENTS, FIELDS, RESPONSE, refusals

MEAI = "meai"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
ADAPTER = adapter(MEAI)


def one(content: dict[str, Any], role: str = "assistant") -> Any:
    """Return the decoded content of a message with one content."""
    return ADAPTER.decode_request([{"role": role, "contents": [content]}]).messages[0].contents[0]


def encoded(*messages: ChatMessage) -> Any:
    return ADAPTER.encode_request(ChatRequest(messages=list(messages))).payload


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content["$type"])
def test_content_of_each_type_is_read_and_written_unchanged(content: dict[str, Any]) -> None:
    message = [{"role": "assistant", "contents": [content]}]
    request = ADAPTER.decode_request(message)
    written: Any = ADAPTER.encode_request(request).payload
    assert written == message
    assert not isinstance(request.messages[0].contents[0], UnknownContent)
    assert next(iter(written[0]["contents"][0])) == "$type"
    if "toolCall" in content:
        assert next(iter(written[0]["contents"][0]["toolCall"])) == "$type"
    assert refusals(message) == []


def test_contents_have_every_type() -> None:
    assert {content["$type"] for content in CONTENTS} == set(FIELDS)


@pytest.mark.parametrize("payload", [CHAT, {"messages": CHAT}, [], {"messages": []}])
def test_conversation_is_read_and_written_unchanged(payload: Any) -> None:
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


def test_conversations_and_answers_are_detected() -> None:
    assert detect(CHAT) == (MEAI, "request")
    assert detect({"messages": CHAT}) == (MEAI, "request")
    assert detect(RESPONSE) == (MEAI, "response")
    assert detect({"messages": CHAT, "finishReason": "stop"}) == (MEAI, "response")


@pytest.mark.parametrize("messages", [RESPONSE["messages"], CHAT[2:5], []])
def test_answer_is_read_and_written_unchanged(messages: Any) -> None:
    payload = {**RESPONSE, "messages": messages}
    answer = ADAPTER.decode_response(payload)
    assert ADAPTER.encode_response(answer).payload == payload
    assert (answer.id, answer.model, answer.finish_reason.reason) == ("resp_1", "gpt-5.2", "stop")
    assert (answer.usage.input_tokens, answer.usage.total_tokens) == (11, 18)


def test_answer_that_failed_has_the_error_of_its_last_message() -> None:
    error = {"$type": "error", "message": "no", "errorCode": "server_error"}
    payload = {"messages": [{"role": "assistant", "contents": [{"$type": "text", "text": "I"}, error]}]}
    answer = ADAPTER.decode_response({**payload, "responseId": "r"})
    assert (answer.text, answer.error.message, answer.error.code) == ("I", "no", "server_error")
    assert ADAPTER.encode_response(answer).payload == {**payload, "responseId": "r"}
    lost = convert({**payload, "finishReason": "weird"}, source=MEAI, target="cohere-chat", kind="response").losses
    assert "$.messages[0].contents[1]" in {loss.path for loss in lost}
    refused = {"messages": [{"role": "assistant", "contents": [{**error, "errorCode": "Refusal"}]}]}
    assert ADAPTER.decode_response({**refused, "responseId": "r"}).error is None
    made: Any = convert({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, target=MEAI).payload
    assert made["messages"] == [
        {"role": "assistant", "contents": [{"$type": "error", "message": "no", "errorCode": "overloaded_error"}]}
    ]


def test_fields_of_messages_decode_to_fields_of_the_model() -> None:
    message = ADAPTER.decode_request(CHAT).messages[1]
    assert (message.author_name, message.message_id) == ("Ann", "msg_1")
    assert message.created == "2026-11-23T10:00:00+00:00"
    assert message.extra == {MEAI: {"additionalProperties": {"thread": 7}}}


def test_time_in_seconds_is_written_as_date() -> None:
    message = ChatMessage(role="user", contents=[TextContent(text="hi")], created=1780000123)
    made = ADAPTER.encode_request(ChatRequest(messages=[message]))
    payload: Any = made.payload
    assert payload[0]["createdAt"] == "2026-05-28T20:28:43Z"
    assert [(loss.path, loss.code) for loss in made.losses] == [("$.messages[0].created", "time-rewritten")]


def test_result_decodes_to_a_json_value() -> None:
    result = one({"$type": "functionResult", "callId": "c1", "result": {"degrees": 18}}, "tool")
    assert result.outputs == [JsonContent(value={"degrees": 18})]
    assert convert(CHAT, target="google-generate-content").payload["contents"][2]["parts"][0]["functionResponse"][
        "response"
    ] == {"degrees": 18}


def test_span_of_citation_counts_utf16() -> None:
    citation = one(CONTENTS[0]).annotations[0]
    assert citation.span == Span(start=3, end=7, unit="utf16")
    text = TextContent(text="\U0001f30d Oslo", annotations=[Citation(url="u", span=Span(start=2, end=6))])
    regions = encoded(ChatMessage(role="assistant", contents=[text]))[0]["contents"][0]["annotations"][0]
    assert regions["annotatedRegions"] == [{"$type": "textSpan", "start": 3, "end": 7}]


def test_protected_data_without_a_provider_is_sent_to_no_other_api() -> None:
    reasoning = one(CONTENTS[2])
    assert reasoning.protected == Protected(issuer=MEAI, kind="encrypted", data="c2VjcmV0")
    for target in PROVIDERS:
        assert "c2VjcmV0" not in str(convert(CHAT, target=target, model="gpt-5.2").payload)
    signed = ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="sig"))
    made = ADAPTER.encode_request(ChatRequest(messages=[ChatMessage(role="assistant", contents=[signed])]))
    payload: Any = made.payload
    assert payload[0]["contents"] == [{"$type": "reasoning", "text": "Hm."}]
    assert [loss.code for loss in made.losses] == ["opaque-state"]


def test_informational_call_decodes_to_a_call_of_the_provider() -> None:
    call = one({**CALL, "informationalOnly": True})
    assert call.executor == "provider"
    assert encoded(ChatMessage(role="assistant", contents=[call]))[0]["contents"][0]["informationalOnly"] is True


@pytest.mark.parametrize("target", PROVIDERS)
def test_flag_of_informational_call_is_reported_as_lost(target: str) -> None:
    messages = [
        {"role": "assistant", "contents": [{**CALL, "informationalOnly": True}]},
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": CALL["callId"], "result": "noon"}]},
    ]
    made = convert(messages, source=MEAI, target=target, kind="request")
    assert "$[0].contents[0].informationalOnly" in {loss.path for loss in made.losses}
    assert audit(messages, made) == []


def test_failure_of_function_is_marked_in_its_text() -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    failed = FunctionResultContent(call_id="c1", outputs=[TextContent(text="no")], is_error=True)
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload = encoded(*messages)
    assert payload[1]["contents"][0]["result"].endswith("]\nno")
    result = ADAPTER.decode_request(payload).messages[1].contents[0]
    assert isinstance(result, FunctionResultContent)
    assert (result.is_error, result.text) == (True, "no")


@pytest.mark.parametrize("value", [{"code": "e"}, [1], "x", 5])
def test_json_of_a_failed_result_is_marked_as_text(value: Any) -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    failed = FunctionResultContent(call_id="c1", outputs=[JsonContent(value=value)], is_error=True)
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload = encoded(*messages)
    request = ADAPTER.decode_request(payload)
    result: Any = request.messages[1].contents[0]
    assert (result.text, result.is_error) == (failed.text, True)
    assert ADAPTER.encode_request(request).payload == payload


def test_mark_of_a_failure_is_alone_only_without_a_text() -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    failed = FunctionResultContent(call_id="c1", is_error=True)
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[failed])]
    payload = encoded(*messages)
    result = payload[1]["contents"][0]
    result["result"] = [{"$type": "text", "text": text} for text in (result["result"], "no")]
    assert ADAPTER.encode_request(ADAPTER.decode_request(payload)).payload == payload


def test_approvals_of_other_apis_get_a_call() -> None:
    asked = ToolApprovalRequestContent(request_id="r1", name="search", server="docs", arguments={"q": "a"})
    messages = [
        ChatMessage(role="assistant", contents=[asked]),
        user(ToolApprovalResponseContent(request_id="r1", approved=True)),
        user(ToolApprovalResponseContent(request_id="r9", approved=False)),
    ]
    payload = encoded(*messages)
    assert refusals(payload) == []
    call = {
        "$type": "mcpServerToolCall",
        "name": "search",
        "serverName": "docs",
        "arguments": {"q": "a"},
        "callId": "r1",
    }
    assert payload[0]["contents"][0]["toolCall"] == payload[1]["contents"][0]["toolCall"] == call


def test_conversation_of_chat_becomes_a_list() -> None:
    chat = {
        "model": "gpt-5.2",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
        "temperature": 0.5,
    }
    made = convert(chat, target=MEAI)
    assert made.payload == [
        {"role": "developer", "contents": [{"$type": "text", "text": "Be brief."}]},
        {
            "role": "user",
            "contents": [{"$type": "uri", "uri": "https://example.org/a.png", "mediaType": "image/png"}],
        },
        {
            "role": "assistant",
            "contents": [{"$type": "functionCall", "callId": "c1", "name": "f", "arguments": {"a": 1}}],
        },
        {"role": "tool", "contents": [{"$type": "functionResult", "callId": "c1", "result": "ok"}]},
    ]
    assert {"$.model", "$.temperature"} <= {loss.path for loss in made.losses}


@pytest.mark.parametrize("target", PROVIDERS)
def test_conversion_reports_every_loss(target: str) -> None:
    made = convert(CHAT, target=target, model="gpt-5.2")
    assert audit(CHAT, made) == []
    assert "$[1].additionalProperties" in {loss.path for loss in made.losses}


@pytest.mark.parametrize("source", PROVIDERS)
@given(data=st.data())
def test_converted_conversation_is_accepted(source: str, data: st.DataObject) -> None:
    payload = adapter(source).encode_request(data.draw(transcripts(source))).payload
    made = convert(payload, source=source, target=MEAI)
    assert refusals(made.payload) == []
    assert [violation for violation in check(made.payload, api=MEAI) if violation.severity == "refused"] == []


@pytest.mark.parametrize(
    ("path", "change", "rule"),
    [
        ("$[4].contents[0].$type", lambda c: c.update({"$type": c.pop("$type")}), "type-comes-first"),
        ("$[4].contents[0].$type", lambda c: c.update({"$type": "hologram"}), "types-are-known"),
        ("$[4].contents[0].mediaType", lambda c: c.update({"$type": "uri", "uri": "https://a.b/c"}), "required-fields"),
    ],
)
def test_check_reports_what_the_reader_refuses(path: str, change: Any, rule: str) -> None:
    messages = copy.deepcopy(CHAT)
    change(messages[4]["contents"][0])
    assert refusals(messages)
    assert (rule, path) in {(violation.rule, violation.path) for violation in check(messages, api=MEAI)}


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        ([7], r"expected an object: a message, got integer at \$\[0\]"),
        ([{"contents": []}], r"missing string at \$\[0\].role"),
    ],
)
def test_other_values_are_refused(payload: Any, fault: str) -> None:
    with pytest.raises(DecodeError, match=fault):
        ADAPTER.decode_request(payload)


def test_edited_call_is_written() -> None:
    request = ADAPTER.decode_request([{"role": "assistant", "contents": [CALL]}])
    request.messages[0].contents[0] = FunctionCallContent(call_id="c1", name="now", arguments={})
    written: Any = ADAPTER.encode_request(request).payload
    assert written[0]["contents"] == [{"$type": "functionCall", "callId": "c1", "name": "now", "arguments": {}}]


# -- older versions, and code ------------------------------------------------------------------------------------------


def _asked(kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "contents": [{"$type": kind, **fields}]}]


FUNCTION_CALL = {"callId": "c1", "name": "look", "arguments": {"at": 1}}
SERVER_CALL = {"callId": "m1", "toolName": "look", "serverName": "docs", "arguments": {"at": 1}}


@pytest.mark.parametrize("key", ["id", "requestId"])
def test_older_approvals_are_read(key: str) -> None:
    document = [
        {
            "role": "assistant",
            "contents": [
                {key: "r1", "$type": "functionApprovalRequest", "functionCall": FUNCTION_CALL},
                {key: "m1", "$type": "mcpServerToolApprovalRequest", "toolCall": SERVER_CALL},
            ],
        },
        {
            "role": "user",
            "contents": [
                {key: "r1", "$type": "functionApprovalResponse", "approved": True, "functionCall": FUNCTION_CALL},
                {key: "m1", "$type": "mcpServerToolApprovalResponse", "approved": False},
            ],
        },
    ]
    request = ADAPTER.decode_request(document)
    assert ADAPTER.encode_request(request).payload == document
    asked, answered = (message.contents for message in request.messages)
    assert [(one.request_id, one.name, one.server, one.arguments) for one in asked] == [  # type: ignore[attr-defined]
        ("c1", "look", None, {"at": 1}),
        ("m1", "look", "docs", {"at": 1}),
    ]
    assert [(one.request_id, one.approved) for one in answered] == [  # type: ignore[attr-defined]
        ("c1", True),
        ("m1", False),
    ]
    made = convert(document, source=MEAI, target="openai-responses", model="gpt-5.2")
    assert [item["type"] for item in made.payload["input"]] == [
        *("mcp_approval_request", "mcp_approval_request", "mcp_approval_response", "mcp_approval_response")
    ]
    assert audit(document, made) == []
    assert "types-are-known" in {violation.rule for violation in check(document, api=MEAI)}


def test_older_calls_of_servers_are_read() -> None:
    texts = [{"$type": "text", "text": text} for text in ("Here.", "There.")]
    contents = [
        {"$type": "mcpServerToolCall", **SERVER_CALL},
        {"$type": "mcpServerToolResult", "callId": "m1", "output": texts},
    ]
    document = [{"role": "assistant", "contents": contents}]
    request = ADAPTER.decode_request(document)
    assert ADAPTER.encode_request(request).payload == document
    call, result = request.messages[0].contents
    assert isinstance(call, McpServerToolCallContent)
    assert isinstance(result, McpServerToolResultContent)
    assert (call.name, call.server, call.arguments) == ("look", "docs", {"at": 1})
    assert result.outputs == [TextContent(text="Here."), TextContent(text="There.")]
    assert audit(document, convert(document, source=MEAI, target="openai-responses", model="gpt-5.2")) == []


@pytest.mark.parametrize("code", ["print(1)", "print('\u00e9')"])
def test_code_of_the_interpreter_is_an_argument(code: str) -> None:
    uri = "data:text/x-python;base64," + b64encode(code.encode()).decode()
    document = [
        {"role": "user", "contents": [{"$type": "text", "text": "Run."}]},
        *_asked("codeInterpreterToolCall", callId="p", inputs=[{"$type": "data", "uri": uri}]),
        {"role": "user", "contents": [{"$type": "text", "text": "And?"}]},
    ]
    request = ADAPTER.decode_request(document)
    call = request.messages[1].contents[0]
    assert call.arguments == {"code": code}  # type: ignore[attr-defined]
    assert ADAPTER.encode_request(request).payload == document
    made = convert(document, source=MEAI, target="vercel-ui-messages")
    assert made.payload[1]["parts"][1]["input"] == {"code": code}
    assert audit(document, made) == []


@pytest.mark.parametrize(
    "inputs",
    [
        None,
        [],
        "x",
        [{"$type": "data", "uri": "data:text/x-python;base64,/w=="}],
        [{"$type": "data", "uri": "data:text/x-python;base64,%"}],
        [{"$type": "data", "uri": "data:text/x-python;base64,cHJpbnQoMSk"}],
        [{"$type": "data", "uri": "data:text/plain;base64,cHJpbnQoMSk="}],
        [{"$type": "data", "uri": "data:text/x-python;base64,cHJpbnQoMSk=", "name": "a.py"}],
        [{"$type": "text", "text": "print(1)"}] * 2,
    ],
)
def test_other_inputs_of_the_interpreter_are_kept(inputs: Any) -> None:
    document = _asked("codeInterpreterToolCall", callId="p", inputs=inputs)
    request = ADAPTER.decode_request(document)
    assert request.messages[0].contents[0].arguments == {"inputs": inputs}  # type: ignore[attr-defined]
    assert ADAPTER.encode_request(request).payload == document


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "mistral-chat", "inspect-eval-log"])
def test_answer_to_an_unknown_approval_is_left_out(target: str) -> None:
    answer = {"$type": "toolApprovalResponse", "requestId": "r", "approved": True, "toolCall": FUNCTION_CALL}
    hello = {"role": "user", "contents": [{"$type": "text", "text": "Hello"}]}
    document = [{"role": "user", "contents": [answer]}, hello]
    made = convert(document, source=MEAI, target=target)
    assert made.payload == convert([hello], source=MEAI, target=target).payload
    assert [loss.path for loss in made.losses if loss.kind == "dropped"][:1] == ["$[0]"]
    assert audit(document, made) == []
