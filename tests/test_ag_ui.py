"""AG-UI: inputs of runs and their messages. The types of ag-ui-protocol judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import ag_ui.core as library
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ag_ui_documents import (
    DOCUMENTS,
    EMPTY,
    HELLO,
    LOOP,
    OLDER,
    PIXEL,
    RESULTS,
    RUN,
    SEALED,
    SUBAGENTS,
    assistant,
    call,
    reasoning,
    tool,
)
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    DecodeError,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    ReasoningContent,
    TextContent,
    UriContent,
    adapter,
    audit,
    check,
    convert,
    detect,
    user,
)
from contentmodel.content import ConfigurationContent, UnknownContent, WebSearchToolCallContent
from contentmodel.content.base import Protected
from contentmodel.content.hosted import WebSearchToolResultContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.tools import InputResponseContent, ToolApprovalResponseContent
from contentmodel_conformance.strategies.transcripts import transcripts

API = "ag-ui"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
MESSAGES = TypeAdapter[Any](list[library.Message])
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def refused(payload: Any) -> list[str]:
    """Return what ag-ui-protocol does not read of a payload as it is: faults, and fields that its types do not have."""
    as_model = library.RunAgentInput.model_validate if isinstance(payload, dict) else MESSAGES.validate_python
    try:
        return _unknown(as_model(payload))
    except ValueError as error:
        return [str(error)]


def _unknown(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _unknown(item)]
    if not hasattr(value, "model_fields_set"):
        return []
    inner = [name for item in dict(value).values() for name in _unknown(item)]
    return [*inner, *(value.model_extra or {})]


def decoded(document: Any) -> ChatRequest:
    return adapter(API).decode_request(document)


def encoded(*messages: ChatMessage) -> tuple[Any, dict[str, str]]:
    """Return the payload of messages that were made by hand, and the losses in them."""
    made = adapter(API).encode_request(ChatRequest(messages=list(messages)))
    assert refused(made.payload) == []
    return made.payload, {loss.path: loss.code for loss in made.losses}


@every_document
def test_document_is_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    made = adapter(API).encode_request(decoded(document))
    assert (made.payload, made.losses) == (original, ())
    assert document is OLDER or refused(original) == []
    assert check(document, api=API) == []


@pytest.mark.parametrize("document", DOCUMENTS[:-1])
def test_document_is_detected(document: Any) -> None:
    assert detect(document) == (API, "request")


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "vercel-ui-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


@every_document
def test_every_message_has_a_type_of_the_model(document: Any) -> None:
    contents: list[Any] = [content for message in decoded(document).messages for content in message.contents]
    contents += [output for content in contents for output in getattr(content, "outputs", ())]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


def test_objects_of_the_library_are_payloads() -> None:
    run = library.RunAgentInput.model_validate(RUN)
    messages = MESSAGES.validate_python(LOOP)
    assert adapter(API).encode_request(decoded(run)).payload == RUN
    assert adapter(API).encode_request(decoded(messages)).payload == LOOP
    made = [library.UserMessage(id="u1", content="Hello")]
    assert adapter(API).encode_request(decoded(made)).payload == [HELLO]


def test_parts_have_the_types_of_media() -> None:
    parts: list[Any] = decoded(LOOP).messages[2].contents
    assert [type(part) for part in parts] == [TextContent, DataContent, UriContent, HostedFileContent]
    assert (parts[1].data, parts[1].media_type) == (PIXEL, "image/png")
    assert (parts[2].kind, parts[2].name, parts[3].kind) == ("document", "a.pdf", "audio")
    older: list[Any] = decoded(OLDER).messages[0].contents
    assert [type(part) for part in older[1:]] == [DataContent, UriContent, HostedFileContent, UriContent]


def test_decoder_joins_reasoning_with_the_assistant_message_after_it() -> None:
    message = decoded(LOOP).messages[3]
    kinds = [type(content) for content in message.contents]
    assert kinds == [ReasoningContent, ReasoningContent, TextContent, FunctionCallContent, FunctionCallContent]
    assert message.message_id == "a1"
    assert message.contents[0].protected == Protected(issuer="anthropic", kind="signature", data="EqQB")
    assert message.contents[1].protected == Protected(issuer=API, kind="encrypted", data="a value of another agent")


def test_reasoning_without_an_assistant_message_becomes_a_message() -> None:
    messages = decoded(EMPTY).messages
    assert [message.role for message in messages] == [
        *("user", "assistant", "user", "assistant", "tool", "assistant", "assistant", "assistant")
    ]
    assert [type(content) for content in messages[1].contents] == [ReasoningContent]
    assert messages[1].message_id is None


def test_opaque_state_is_sent_only_to_its_provider() -> None:
    signed = convert(LOOP, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    assert signed["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Look it up.", "signature": "EqQB"}
    for target in PROVIDERS:
        made = convert(LOOP, source=API, target=target, model="gpt-5.2").payload
        assert "a value of another agent" not in str(made)
        assert ("EqQB" in str(made)) is (target == "anthropic-messages")


def test_opaque_state_of_a_provider_is_written_with_its_issuer() -> None:
    source = {
        "model": "claude-opus-4-8",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "Hello"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
                    {"type": "text", "text": "One moment."},
                    {"type": "thinking", "thinking": "And then?", "signature": "EqQC"},
                    {"type": "tool_use", "id": "c1", "name": "weather", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "warm"}]},
        ],
    }
    there = convert(source, source="anthropic-messages", target=API)
    assert [message["role"] for message in there.payload] == [
        *("user", "reasoning", "assistant", "reasoning", "assistant", "tool")
    ]
    assert there.payload[1]["encryptedValue"] == SEALED
    assert refused(there.payload) == []
    back = convert(there.payload, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    assert back["messages"][1:] == source["messages"][1:]


@pytest.mark.parametrize(
    "text",
    [
        '{"issuer":"ag-ui","kind":"signature","data":"a"}',
        '{"issuer": "anthropic","kind":"signature","data":"a"}',
        '{"issuer":"anthropic","kind":1,"data":"a"}',
        '{"issuer":"anthropic"',
        "",
    ],
)
def test_encrypted_value_of_unknown_issuer_is_kept_unchanged(text: str) -> None:
    document = [reasoning("a", encryptedValue=text), assistant("b")]
    contents = decoded(document).messages[0].contents
    assert contents[0].protected == Protected(issuer=API, kind="encrypted", data=text)
    assert adapter(API).encode_request(decoded(document)).payload == document


def test_error_that_repeats_the_text_becomes_a_flag_and_any_other_an_output() -> None:
    results: list[Any] = [message.contents[0] for message in decoded(RESULTS).messages if message.role == "tool"]
    assert [result.is_error for result in results] == [True, None, None, True]
    assert results[1].error == results[1].outputs[1]
    assert [type(output) for output in results[1].outputs] == [TextContent, ErrorContent]
    made = convert(RESULTS, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    blocks = made["messages"][2]["content"]
    assert [block.get("is_error", False) for block in blocks] == [True, True, False, True]
    assert "it failed" in str(blocks[1])


@pytest.mark.parametrize("content", [{"content": ""}, {"content": []}, {}])
def test_error_beside_an_empty_text_is_the_only_output(content: dict[str, Any]) -> None:
    result = {"id": "t1", "role": "tool", "toolCallId": "c1", **content, "error": "boom"}
    document = [HELLO, assistant(toolCalls=[call("c1")]), result]
    (output,) = decoded(document).messages[-1].contents[0].outputs  # type: ignore[attr-defined]
    assert output.message == "boom"
    assert adapter(API).encode_request(decoded(document)).payload == document
    made = convert(document, source=API, target="anthropic-messages", model="claude-opus-4-8")
    assert made.payload["messages"][2]["content"][0]["content"] == "boom"
    assert audit(document, made) == []


def test_failed_result_has_an_error() -> None:
    called = ChatMessage(role="assistant", contents=[FunctionCallContent(call_id="c1", name="f", arguments={})])
    failed = FunctionResultContent(call_id="c1", outputs=[TextContent(text="boom")], is_error=True)
    payload, _ = encoded(user("Hello"), called, ChatMessage(role="tool", contents=[failed]))
    assert payload[2] == {
        "id": "message-3",
        "role": "tool",
        "toolCallId": "c1",
        "content": "boom",
        "error": "boom",
    }
    empty, _ = encoded(
        user("Hello"), called, ChatMessage(role="tool", contents=[FunctionResultContent(call_id="c1", is_error=True)])
    )
    assert (empty[2]["content"], empty[2]["error"]) == ("", "The tool failed.")


def test_activity_is_kept_and_reported() -> None:
    message = decoded(LOOP).messages[6]
    assert message.contents == [ConfigurationContent(kind="PLAN", settings={"steps": [{"done": True}]})]
    assert (message.role, message.message_id) == ("assistant", "v1")
    for target in PROVIDERS:
        made = convert(LOOP, source=API, target=target, model="gpt-5.2")
        assert "PLAN" not in str(made.payload)
        assert "$[8]" in [loss.path for loss in made.losses]


def test_encoder_writes_a_message_for_each_text_and_reasoning() -> None:
    contents = [
        TextContent(text="First."),
        TextContent(text="Second."),
        FunctionCallContent(call_id="c1", name="f", arguments={"a": 1}),
        FunctionCallContent(call_id="c2", name="g", arguments="{}"),
        ReasoningContent(text="Hm."),
        TextContent(text="Third."),
    ]
    payload, losses = encoded(user("Hello"), ChatMessage(role="assistant", contents=contents, message_id="m1"))
    assert losses == {}
    assert payload[1:] == [
        {"role": "assistant", "content": "First.", "id": "m1"},
        {
            "role": "assistant",
            "content": "Second.",
            "toolCalls": [
                {"type": "function", "id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"type": "function", "id": "c2", "function": {"name": "g", "arguments": "{}"}},
            ],
            "id": "message-3",
        },
        {"role": "reasoning", "content": "Hm.", "id": "message-4"},
        {"role": "assistant", "content": "Third.", "id": "message-5"},
    ]


def test_hosted_call_and_result_become_those_of_a_function() -> None:
    searched = [
        WebSearchToolCallContent(call_id="w1", name="web_search", arguments={"query": "Oslo"}),
        WebSearchToolResultContent(call_id="w1", outputs=[TextContent(text="Sunny.")]),
        TextContent(text="It is sunny."),
    ]
    payload, losses = encoded(user("Hello"), ChatMessage(role="assistant", contents=searched))
    assert [message["role"] for message in payload] == ["user", "assistant", "tool", "assistant"]
    assert (payload[1]["toolCalls"][0]["id"], payload[2]["toolCallId"]) == ("w1", "w1")
    assert set(losses.values()) == {"as-function-call", "as-function-result"}


@pytest.mark.parametrize("entry", [{"status": "expired", "payload": {"approved": True}}, {"status": None}, {}])
@pytest.mark.parametrize("others", [[], [{"interruptId": "i0", "status": "resolved", "payload": 7}]])
def test_answers_with_an_unknown_status_stay_in_resume(entry: Any, others: list[Any]) -> None:
    payload = {**RUN, "messages": [HELLO], "resume": [{"interruptId": "i1", **entry}, *others]}
    request = adapter(API).decode_request(payload)
    kinds = [content.__class__ for message in request.messages[1:] for content in message.contents]
    assert kinds == ([UnknownContent, InputResponseContent] if others else [])
    encoded = adapter(API).encode_request(request)
    assert (encoded.payload, encoded.losses) == (payload, ())
    made = convert(payload, source=API, target="openai-chat", model="gpt-5.2")
    assert audit(payload, made) == []


def test_resume_decodes_to_the_last_message() -> None:
    answers = decoded(RUN).messages[-1]
    assert answers.role == "user"
    assert answers.contents[:3] == [
        ToolApprovalResponseContent(request_id="call_1", approved=True, reason="yes"),
        answers.contents[1],
        ToolApprovalResponseContent(request_id="i3", approved=False, extra=answers.contents[2].extra),
    ]
    assert isinstance(answers.contents[1], ToolApprovalResponseContent)
    assert answers.contents[1].approved is False
    assert [c.value for c in answers.contents if isinstance(c, InputResponseContent)] == [{"city": "Oslo"}, None]
    payload, losses = encoded(user("Hello"), user(InputResponseContent(request_id="i1", value=7)))
    assert payload["resume"] == [{"status": "resolved", "interruptId": "i1", "payload": 7}]
    assert losses == {}


def test_request_with_tools_is_the_input_of_a_run() -> None:
    source = {
        "model": "gpt-5.2",
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }
    payload = convert(source, source="openai-chat", target=API).payload
    assert payload == {
        "threadId": "",
        "runId": "",
        "messages": [{"role": "user", "content": "Hello", "id": "message-1"}],
        "tools": [{"name": "f", "description": ""}],
    }
    assert refused(payload) == []
    assert decoded(RUN).tools[0].name == "weather"


def test_tool_without_a_name_is_kept() -> None:
    document = {**RUN, "tools": [{"name": None, "description": "a"}]}
    assert adapter(API).encode_request(decoded(document)).payload == document
    assert "tools" not in convert(document, source=API, target="google-generate-content").payload


def test_messages_of_subagents_keep_their_run() -> None:
    messages = decoded(SUBAGENTS).messages
    helper = [message for message in messages if "run_2" in str(message.extra) + str(message.contents)]
    assert [[type(content) for content in message.contents] for message in helper] == [
        [ReasoningContent, TextContent, FunctionCallContent],
        [FunctionResultContent],
        [ReasoningContent],
    ]


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ([{"role": "user", "content": "a"}], "messages_have_ids"),
        ([{"id": "1", "role": "critic", "content": "a"}], "roles_are_known"),
        ([{"id": "1", "role": "system", "content": []}], "contents_are_strings"),
        ([tool("a")], "results_follow_their_calls"),
        ({"messages": [], "threadId": "t"}, "runs_have_ids"),
    ],
)
def test_check_reports_violation(document: Any, rule: str) -> None:
    assert [found.rule.replace("-", "_") for found in check(document, api=API)] == [rule]


@pytest.mark.parametrize("document", ["[1]", '[{"id": "1"}]', '[{"role": "activity"}]', '{"messages": {}}'])
def test_faulty_document_is_refused(document: str) -> None:
    with pytest.raises(DecodeError):
        decoded(document)


@given(st.sampled_from(PROVIDERS).flatmap(transcripts))
def test_library_reads_every_converted_conversation(request: ChatRequest) -> None:
    made = adapter(API).encode_request(request)
    assert refused(made.payload) == []
    assert [found for found in check(made.payload, api=API) if found.severity == "refused"] == []


def test_call_is_read_with_its_arguments() -> None:
    called: Any = decoded([assistant(toolCalls=[call()])]).messages[0].contents[0]
    assert called == FunctionCallContent(call_id="call_1", name="weather", arguments='{"city": "Oslo"}')


def test_reasoning_that_only_its_provider_can_read_has_an_empty_content() -> None:
    item = {"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VhbGVk", "summary": []}
    request = {"model": "m", "input": [{"role": "user", "content": "Hi"}, item]}
    encoded = convert(request, source="openai-responses", target=API)
    assert [(message["role"], message["content"]) for message in encoded.payload] == [("user", "Hi"), ("reasoning", "")]
    TypeAdapter(list[library.Message]).validate_python(encoded.payload)
