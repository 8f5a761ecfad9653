"""UI messages of Vercel's AI SDK. Its own functions, in Node, judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_sdk import OF_OPENAI, asked, generated, validated
from conftest import needs_node
from contentmodel import (
    ChatMessage,
    ChatRequest,
    FunctionCallContent,
    FunctionResultContent,
    Origin,
    ReasoningContent,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.content import (
    Citation,
    CodeInterpreterToolResultContent,
    CompactionContent,
    ConfigurationContent,
    DataContent,
    JsonContent,
    Protected,
    ShellToolCallContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    UnknownContent,
    UriContent,
    WebSearchToolCallContent,
)
from contentmodel.errors import DecodeError
from contentmodel_conformance.strategies.transcripts import transcripts
from framework_ui_messages import (
    APPROVALS,
    DOCUMENTS,
    HELLO,
    LOOP,
    PARTS,
    STATES,
    STEP,
    TEXT,
    WRAPPED,
    approval,
    assistant,
    tool,
    user,
)

UI = "vercel-ui-messages"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def decoded(document: Any) -> ChatRequest:
    return adapter(UI).decode_request(document)


@every_document
def test_document_is_valid_detected_and_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    assert check(document, api=UI) == []
    assert detect(document) == (UI, "request")
    encoded = adapter(UI).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (original, ())


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "hf-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, target=target, model="gpt-5.2")) == []


@every_document
def test_every_part_has_a_type_of_the_model(document: Any) -> None:
    contents = [content for message in decoded(document).messages for content in message.contents]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


def test_decoder_splits_message_at_steps_and_results_follow_their_step() -> None:
    messages = decoded(LOOP).messages
    assert [message.role for message in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant")
    ]
    first, results = messages[2].contents, messages[3].contents
    assert isinstance(first[0], ReasoningContent)
    assert first[0].protected is not None
    assert (first[0].protected.issuer, first[0].protected.data) == ("anthropic", "EqQB")
    assert [call.name for call in first if isinstance(call, FunctionCallContent)] == ["weather", "search"]
    assert results == [
        FunctionResultContent(call_id="call_1", outputs=[JsonContent(value={"degrees": 18})]),
        FunctionResultContent(call_id="call_2", outputs=[TextContent(text="Sunny.")]),
    ]
    failed = messages[5].contents[0]
    assert isinstance(failed, FunctionResultContent)
    assert (failed.is_error, failed.text) == (True, "no such city")
    (text,) = messages[6].contents
    assert text.annotations is not None
    assert [(c.url, c.title, c.span) for c in text.annotations] == [("https://example.org", "Weather", None)]
    assert messages[2].message_id == "a1"


def test_approval_has_the_id_of_its_call() -> None:
    denied = [HELLO, assistant(tool("output-denied", approval=approval(approved=False, reason="no")))]
    _, called, answered = decoded(denied).messages
    call, request = called.contents
    response, result = answered.contents
    assert isinstance(request, ToolApprovalRequestContent)
    assert isinstance(response, ToolApprovalResponseContent)
    assert isinstance(call, FunctionCallContent)
    assert isinstance(result, FunctionResultContent)
    assert (request.request_id, request.name, response.request_id) == (call.call_id, "weather", call.call_id)
    assert (response.approved, response.reason) == (False, "no")
    assert (result.outcome, result.is_error, result.text) == ("denied", True, "no")


def test_tools_of_the_provider_stay_in_the_message() -> None:
    message = decoded(STATES).messages[-1]
    kinds = [type(content) for content in message.contents]
    assert kinds[0] is WebSearchToolCallContent
    assert CodeInterpreterToolResultContent in kinds


def test_parts_of_providers_have_their_types() -> None:
    contents = decoded(PARTS).messages[1].contents
    protected = [(c.protected.issuer, c.protected.kind) for c in contents[:2] if c.protected is not None]
    assert protected == [("openai", "encrypted"), ("anthropic", "redacted")]
    assert isinstance(contents[3], CompactionContent)
    text = contents[-1]
    assert isinstance(text, TextContent)
    assert text.annotations is not None
    assert text.protected is not None
    assert text.annotations[0].span is not None
    assert text.annotations[0].span.unit == "utf16"


@pytest.mark.parametrize(
    ("content", "loss"),
    [
        (ShellToolCallContent(call_id="1", name="container", arguments={}), "tool-by-name"),
        (ToolApprovalRequestContent(request_id="1", name="pay", arguments={"amount": 5}), "call-of-approval"),
        (DataContent(media_type="text/plain", text="18 degrees"), "document-as-base64"),
        (CompactionContent(protected=Protected(issuer="anthropic", kind="encrypted", data="b3BhcXVl")), "no-block"),
    ],
)
@pytest.mark.parametrize("origin", [None, Origin(api=UI, issuer="")])
def test_content_without_a_place_is_reported_and_the_payload_is_read(content: Any, loss: str, origin: Any) -> None:
    said = ChatMessage(role="assistant", contents=[TextContent(text="Hello"), content], origin=origin)
    encoded = adapter(UI).encode_request(ChatRequest(messages=[user_message(origin), said], origin=origin))
    assert loss in [one.code for one in encoded.losses if one.path.startswith("$.messages[1].contents[1]")]
    _, back = decoded(encoded.payload).messages
    if isinstance(content, DataContent):
        assert [part.to_bytes() for part in back.contents[1:]] == [b"18 degrees"]
    if isinstance(content, ToolApprovalRequestContent):
        assert [part.arguments for part in back.contents[1:]] == [{"amount": 5}] * 2


def user_message(origin: Any) -> ChatMessage:
    return ChatMessage(role="user", contents=[TextContent(text="Hello")], origin=origin)


def test_link_without_a_name_is_an_output() -> None:
    output = {"content": [{"type": "resource_link", "uri": "https://example.org/sky.png"}]}
    document = [HELLO, assistant(tool("output-available", output=output))]
    encoded = adapter(UI).encode_request(decoded(document))
    assert encoded.payload == document
    assert decoded(document).messages[-1].contents[0].outputs == [UriContent(uri="https://example.org/sky.png")]


def test_steering_message_is_a_user_message() -> None:
    roles = [(message.role, message.text) for message in decoded(PARTS).messages]
    assert ("user", "In Celsius.") in roles


def test_object_around_the_list_is_kept() -> None:
    encoded = convert(WRAPPED, target="openai-chat", model="gpt-5.2")
    assert encoded.payload["messages"] == [{"role": "user", "content": "Hello"}]
    assert {loss.path for loss in encoded.losses} >= {"$.id", "$.trigger", "$.messageId"}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([{"id": "1", "role": "user"}], "$[0].parts"),
        ([{"id": "1", "parts": []}], "$[0].role"),
        ([HELLO, 3], "$[1]"),
        ([user(3)], "$[0].parts[0]"),  # type: ignore[arg-type]
    ],
)
def test_invalid_document_has_a_fault_with_its_path(document: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decoded(document)
    assert [fault.path for fault in caught.value.faults] == [path]


# -- from and to other APIs --------------------------------------------------------------------------------------------

LOOP_OF_ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-4-8",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "How is Oslo?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look.", "signature": "EqQB"},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "c2", "name": "weather", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "18 degrees"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no city", "is_error": True},
            ],
        },
        {"role": "assistant", "content": "Warm."},
    ],
}
LOOP_OF_UI = [
    {"id": "message-1", "role": "user", "parts": [{"type": "text", "text": "How is Oslo?"}]},
    {
        "id": "message-2",
        "role": "assistant",
        "parts": [
            STEP,
            {"type": "reasoning", "text": "Look.", "providerMetadata": {"anthropic": {"signature": "EqQB"}}},
            {
                "type": "tool-weather",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"city": "Oslo"},
                "output": "18 degrees",
            },
            {"type": "tool-weather", "toolCallId": "c2", "state": "output-error", "input": {}, "errorText": "no city"},
            STEP,
            {"type": "text", "text": "Warm."},
        ],
    },
]


def test_loop_of_anthropic_becomes_one_message_and_is_restored() -> None:
    encoded = convert(LOOP_OF_ANTHROPIC, target=UI)
    assert encoded.payload == LOOP_OF_UI
    assert {loss.path for loss in encoded.losses if loss.kind != "insignificant"} == {"$.model", "$.max_tokens"}
    back = convert(LOOP_OF_UI, target="anthropic-messages", model="claude-opus-4-5")
    asked, called, results, answer = LOOP_OF_ANTHROPIC["messages"]
    assert back.payload["messages"] == [
        {**asked, "content": [{"type": "text", "text": asked["content"]}]},
        called,
        results,
        {**answer, "content": [{"type": "text", "text": answer["content"]}]},
    ]


def test_calls_of_chat_get_objects_as_input() -> None:
    chat = {
        "model": "gpt-5.2",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "A moment.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
        ],
    }
    payload = convert(chat, target=UI).payload
    assert [message["role"] for message in payload] == ["system", "user", "assistant"]
    assert payload[2]["parts"][2] == {
        "type": "tool-f",
        "toolCallId": "c1",
        "state": "output-available",
        "input": {"a": 1},
        "output": "one",
    }


def approved() -> ChatRequest:
    """Return a conversation with an approval and citations, without an origin."""
    cited = TextContent(text="Warm.", annotations=[Citation(url="https://a.org", cited_text="warm")])
    request = decoded([HELLO, assistant(tool("output-available", output=1, approval=approval(approved=True)))])
    last = adapter("anthropic-messages").decode_request(LOOP_OF_ANTHROPIC).messages[0]
    messages = [*request.messages, type(last)(role="assistant", contents=[cited])]
    return ChatRequest(messages=messages)


@pytest.mark.parametrize(
    ("version", "has_approval", "cites"),
    [("7", True, "citations"), ("6", True, "source-url"), ("5", False, "source-url")],
)
def test_version_of_the_sdk_limits_what_is_written(version: Any, has_approval: bool, cites: str) -> None:
    policies = {"ai_sdk": version}
    encoded = adapter(UI).encode_request(approved(), policies)
    call, *rest = encoded.payload[1]["parts"][1:]
    assert ("approval" in call) is has_approval
    assert any(cites in part or part["type"] == cites for part in rest)
    lost = {loss.what for loss in encoded.losses}
    assert ("ToolApprovalRequestContent" in lost) is not has_approval


@pytest.mark.parametrize("role", ["user", "system", "assistant"])
@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "data-note", "id": "n1", "data": {"a": 1}}, "data-note"),
        ({"type": "custom", "kind": "x.y", "providerMetadata": {"x": {"a": 1}}}, "x.y"),
    ],
)
def test_data_and_custom_parts_are_configuration_in_messages_of_every_role(
    role: str, part: dict[str, Any], kind: str
) -> None:
    document = [{"id": "m1", "role": role, "parts": [{"type": "text", "text": "Hi."}, part]}]
    request = decoded(document)
    found = request.messages[0].contents[1]
    assert (found.__class__, found.kind) == (ConfigurationContent, kind)
    assert adapter(UI).encode_request(request).payload == document
    made = convert(document, source=UI, target="openai-chat", model="gpt-5.2")
    assert audit(document, made) == []


# -- the AI SDK --------------------------------------------------------------------------------------------------------


@needs_node
@pytest.mark.slow
def test_validation_of_the_sdk_accepts_the_documents() -> None:
    assert validated("ai", [d["messages"] if isinstance(d, dict) else d for d in DOCUMENTS]) == [None] * len(DOCUMENTS)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("package", "version"), [("ai", "7"), ("ai6", "6"), ("ai5", "5")])
def test_validation_of_each_version_accepts_conversations_of_every_api(package: str, version: Any) -> None:
    written: list[Any] = []

    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(PROVIDERS).flatmap(transcripts))
    def write(request: ChatRequest) -> None:
        written.append(adapter(UI).encode_request(request, {"ai_sdk": version}).payload)

    write()
    written.append(adapter(UI).encode_request(approved(), {"ai_sdk": version}).payload)
    written.append(convert(OF_OPENAI, target=UI, policies={"ai_sdk": version}).payload)
    errors = [(error, document) for error, document in zip(validated(package, written), written, strict=True) if error]
    assert errors == []


def without_details(messages: list[Any]) -> list[Any]:
    """Return model messages in one of the forms that mean the same."""
    return [{"role": message["role"], "content": _plain(message["content"])} for message in messages]


def _plain(content: Any) -> Any:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [
        {key: _address(value) if key == "data" else value for key, value in part.items() if key not in _DETAILS}
        for part in content
    ]


_DETAILS = ("providerOptions", "isAutomatic", "reason")
"""Fields that the two formats of the SDK hold in different places: our conversion reports each that it drops."""


def _address(value: Any) -> Any:
    url = value["url"] if isinstance(value, dict) else value
    return url.rpartition(";base64,")[2]


CONVERTED = [
    LOOP,
    [HELLO, *APPROVALS[1:2]],
    [HELLO, *APPROVALS[2:3]],
    [HELLO, *APPROVALS[3:4]],
    [HELLO, *APPROVALS[6:7]],
    [HELLO, *APPROVALS[7:8]],
    [HELLO, *STATES[2:3]],
    [HELLO, *STATES[4:5]],
    [HELLO, *STATES[5:6]],
    [HELLO, assistant(TEXT, STEP, STEP, tool("output-available", output="a"), STEP)],
]


@needs_node
@pytest.mark.slow
def test_conversion_to_model_messages_equals_that_of_the_sdk() -> None:
    tasks = [{"name": "convert", "messages": document} for document in CONVERTED]
    for document, answer in zip(CONVERTED, asked("ai", tasks), strict=True):
        ours = convert(document, source=UI, target="vercel-model-messages").payload
        assert without_details(ours) == without_details(answer["messages"])


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_messages_of_a_run_are_encoded_unchanged(api: str) -> None:
    run = generated(api)
    parts = [part["type"] for part in run["ui"]["parts"]]
    assert {"step-start", "text", "tool-weather", "tool-fail", "tool-book"} <= set(parts)
    document = [HELLO, run["ui"]]
    encoded = adapter(UI).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (document, ())
    for target in PROVIDERS:
        assert audit(document, convert(document, source=UI, target=target, model="gpt-5.2")) == []


def test_answer_inside_message_of_model_is_sent_before_its_other_contents() -> None:
    answer = ToolApprovalResponseContent(request_id="call_1", approved=False)
    call = FunctionCallContent(call_id="call_2", name="weather", arguments={})
    spoken = ChatMessage(role="assistant", contents=[answer, TextContent(text="a pixel"), call])
    encoded = adapter("vercel-ui-messages").encode_request(ChatRequest(messages=[spoken]))
    kinds = [[part["type"] for part in message["parts"]] for message in encoded.payload]
    assert kinds == [["dynamic-tool"], ["step-start", "text", "tool-weather"]]
    assert [loss.path for loss in encoded.losses] == ["$.messages[0].contents[0]"]


def test_message_of_a_stored_file_alone_gets_a_placeholder_text() -> None:
    file = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    encoded = convert(
        {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [file]}]},
        source="anthropic-messages",
        target=UI,
    )
    assert [part["type"] for part in encoded.payload[0]["parts"]] == ["text"]
    assert {loss.code for loss in encoded.losses} >= {"unsupported-content", "placeholder-message"}
    assert not check(encoded.payload, api=UI)


@pytest.mark.parametrize(
    ("failed", "output"), [(None, ""), (True, {"content": [{"type": "text", "text": ""}], "isError": True})]
)
def test_result_whose_outputs_are_all_lost_has_an_empty_text(failed: bool | None, output: Any) -> None:
    call = FunctionCallContent(call_id="c", name="find", arguments={})
    result = FunctionResultContent(call_id="c", outputs=[UnknownContent(api="other", block={})], is_error=failed)
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[result])]
    encoded = adapter(UI).encode_request(ChatRequest(messages=messages))
    part = next(part for message in encoded.payload for part in message["parts"] if part["type"] == "tool-find")
    assert part.get("output") == output
    assert [loss.kind for loss in encoded.losses if loss.what == "UnknownContent"] == ["dropped"]


@pytest.mark.parametrize("api", [UI, "vercel-model-messages"])
def test_tools_that_a_message_adds_are_reported_because_the_format_lists_no_tools(api: str) -> None:
    request = {
        "model": "m",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "system", "content": [{"type": "tool_addition", "tool": {"type": "tool_reference", "name": "f"}}]},
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    }
    encoded = convert(request, source="anthropic-messages", target=api)
    assert ("$.messages[1]", "dropped") in {(loss.path, loss.kind) for loss in encoded.losses}
    assert "tools-in-one-list" not in {loss.code for loss in encoded.losses}


# -- messages of version 4 ---------------------------------------------------------------------------------------------


def invocation(state: str = "result", call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"state": state, "toolCallId": call_id, "toolName": "tide", "args": {"port": "Bergen"}, **fields}


def flat(role: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"{role}-1", "role": role, "content": content, **fields}


FLAT = [
    flat("user", "When is the tide?", createdAt="2025-02-01T10:00:00Z"),
    flat(
        "assistant",
        "At noon.",
        toolInvocations=[
            invocation(result={"hour": 12}, step=0),
            invocation(call_id="c2", result="low", step=1),
            invocation(call_id="c3", result=None, step=1),
            invocation(call_id="c4", step=1),
        ],
    ),
    flat("user", ""),
    flat(
        "assistant", "", toolInvocations=[invocation("call", "c5"), invocation("partial-call", "c6")], annotations=[1]
    ),
    flat("assistant", "Done.", toolInvocations=[]),
]
OLDER_PARTS = [
    {
        "id": "u1",
        "role": "user",
        "content": "See.",
        "parts": [{"type": "text", "text": "See."}, {"type": "file", "mimeType": "image/png", "data": "aGk="}],
    },
    {
        "id": "a1",
        "role": "assistant",
        "content": "At noon.",
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "reasoning": "Look it up.", "details": [{"type": "text", "text": "Look it up."}]},
            {"type": "tool-invocation", "toolInvocation": invocation(result=[12], step=0)},
            {"type": "step-start"},
            {"type": "text", "text": "At noon."},
            {"type": "source", "source": {"sourceType": "url", "id": "s1", "url": "https://example.org/tide"}},
        ],
    },
]


ROWS = [
    flat("user", "When is the tide?", parts=None),
    flat("assistant", "At noon.", parts=[], toolInvocations=[invocation(result=[12])]),
    flat("assistant", "At one.", parts=None, toolInvocations=[]),
    flat("system", "Be brief.", parts=[]),
]
"""The rows of a database with a column of parts that older messages do not have."""
UNMARKED = [
    flat("user", "When is the tide?", parts=[{"type": "text", "text": "When is the tide?"}]),
    flat(
        "assistant",
        "At noon. At one.",
        parts=[
            {"type": "tool-invocation", "toolInvocation": invocation(result=[12], step=0)},
            {"type": "tool-invocation", "toolInvocation": invocation(call_id="c2", result=[13], step=1)},
            {"type": "tool-invocation", "toolInvocation": invocation("call", "c3", step=1)},
            {"type": "text", "text": "At noon."},
            {"type": "text", "text": "At one."},
        ],
    ),
]
"""Parts of version 4 without the starts of steps."""


@pytest.mark.parametrize(
    "document", [FLAT, OLDER_PARTS, UNMARKED, ROWS, ROWS[:1], {"id": "c", "messages": [*FLAT, *OLDER_PARTS]}]
)
def test_messages_of_version_4_are_read_and_written_unchanged(document: Any) -> None:
    assert detect(document) == (UI, "request")
    request = decoded(document)
    assert not any(isinstance(content, UnknownContent) for message in request.messages for content in message.contents)
    assert adapter(UI).encode_request(request).payload == document


@pytest.mark.parametrize("target", PROVIDERS)
@pytest.mark.parametrize("document", [FLAT, OLDER_PARTS, UNMARKED, ROWS])
def test_conversion_of_messages_of_version_4_reports_each_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=UI, target=target, kind="request")) == []


def test_tool_invocations_of_version_4_decode_to_calls_and_results_of_each_step() -> None:
    made: Any = decoded(FLAT[1:2]).messages
    assert [(message.role, len(message.contents)) for message in made] == [
        ("assistant", 1),
        ("tool", 1),
        ("assistant", 3),
        ("tool", 3),
        ("assistant", 1),
    ]
    assert made[0].contents[0].name == "tide"
    assert made[1].contents[0].outputs == [JsonContent(value={"hour": 12})]
    assert [result.call_id for result in made[3].contents] == ["c2", "c3", "c4"]
    assert made[4].text == "At noon."


def test_message_of_version_4_with_empty_parts_has_its_text() -> None:
    made = decoded(ROWS).messages
    assert [message.text for message in made] == ["When is the tide?", "", "", "At noon.", "At one.", "Be brief."]


def test_text_after_tool_invocations_and_another_step_number_begin_a_step() -> None:
    made = decoded(UNMARKED).messages[1:]
    assert [[getattr(content, "call_id", content) for content in message.contents] for message in made] == [
        ["c1"],
        ["c1"],
        ["c2", "c3"],
        ["c2"],
        [TextContent(text="At noon."), TextContent(text="At one.")],
    ]


def test_parts_of_version_4_have_the_same_contents_as_those_of_later_versions() -> None:
    made: Any = decoded(OLDER_PARTS).messages
    user_message, answer, results, text = made
    image = user_message.contents[1]
    assert image == DataContent(data="aGk=", media_type="image/png", extra=image.extra)
    assert [content.__class__ for content in answer.contents] == [ReasoningContent, FunctionCallContent]
    assert answer.contents[0].text == "Look it up."
    assert results.contents[0].call_id == "c1"
    assert [citation.url for citation in text.contents[0].annotations] == ["https://example.org/tide"]


def test_edited_message_of_version_4_gets_parts_if_it_does_not_fit() -> None:
    request = decoded(FLAT[:1])
    (message,) = request.messages
    message.contents.append(DataContent(data="aGk=", media_type="image/png"))
    (written,) = adapter(UI).encode_request(request).payload
    assert "content" not in written
    assert [part["type"] for part in written["parts"]] == ["text", "file"]


@pytest.mark.parametrize("flag", [True, False])
def test_result_of_mcp_with_a_flag_has_contents(flag: bool) -> None:
    blocks = [{"type": "text", "text": "map"}, {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]
    document = [HELLO, assistant(tool("output-available", output={"content": blocks, "isError": flag}))]
    request = decoded(document)
    result = next(c for m in request.messages for c in m.contents if isinstance(c, FunctionResultContent))
    assert [type(output) for output in result.outputs] == [TextContent, DataContent]
    assert result.is_error is flag
    assert adapter(UI).encode_request(request).payload == document
    converted = convert(document, source=UI, target="anthropic-messages")
    assert "'type': 'image'" in str(converted.payload)
    assert audit(document, converted) == []


def test_stored_json_with_the_flag_of_a_success_is_encoded_unchanged() -> None:
    """Before, such a result was decoded as JSON."""
    value = {"content": [{"type": "text", "text": "a"}], "isError": False}
    document = [HELLO, assistant(tool(state="output-available", output={"a": 1}))]
    request = decoded(document)
    result = next(m for m in request.messages if m.role == "tool")
    stored: Any = result.contents[0]
    result.contents[0] = msgspec.structs.replace(stored, outputs=[JsonContent(value=value)])
    assert adapter(UI).encode_request(request).payload[1]["parts"][1]["output"] == value


@pytest.mark.parametrize("raw", ['{"city": "Os', {"city": 3}])
@pytest.mark.parametrize("empty", [{"input": None}, {}])
def test_raw_input_of_a_failed_call_is_its_arguments(raw: Any, empty: dict[str, Any]) -> None:
    part = {**tool(state="output-error", errorText="Invalid input"), "rawInput": raw}
    document = [HELLO, assistant({**{key: value for key, value in part.items() if key != "input"}, **empty})]
    request = decoded(document)
    call = next(c for m in request.messages for c in m.contents if isinstance(c, FunctionCallContent))
    assert call.arguments == raw
    assert adapter(UI).encode_request(request).payload == document
    assert audit(document, convert(document, source=UI, target="openai-chat")) == []


SEARCHED = {"type": "tool-web_search", "toolCallId": "s1", "state": "output-available", "providerExecuted": True}


@pytest.mark.parametrize("before", [[], [{**SEARCHED, "input": {"query": "x"}, "output": "none"}], [TEXT]])
@pytest.mark.parametrize("target", PROVIDERS)
def test_sources_before_a_text_belong_to_it(before: list[Any], target: str) -> None:
    sources = [{"type": "source-url", "sourceId": f"s{n}", "url": f"https://example.org/{n}"} for n in (1, 2)]
    text = {"type": "text", "text": "At noon."}
    document = [HELLO, assistant(*before, STEP, *sources, text, {**sources[1], "sourceId": "s3"}), HELLO]
    request = decoded(document)
    (answer,) = [message for message in request.messages if message.text == "At noon."]
    content: Any = answer.contents[0]
    assert [citation.url[-1] for citation in content.annotations] == ["1", "2", "2"]
    assert adapter(UI).encode_request(request).payload == document
    converted = convert(document, source=UI, target=target, kind="request", model="gpt-5.2")
    assert audit(document, converted) == []
    assert '""' not in str(converted.payload).replace("'", '"').replace('"model": ""', "")


def test_sources_without_a_text_are_written_back_in_their_place() -> None:
    source = {"type": "source-url", "sourceId": "s1", "url": "https://example.org/1"}
    file = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aGk="}
    document = [HELLO, assistant(source, file, source, STEP, source)]
    assert adapter(UI).encode_request(decoded(document)).payload == document


@pytest.mark.parametrize("source", [{"sourceType": "document", "id": "d", "title": "T"}, {"id": "d"}, None, ""])
def test_source_of_another_type_is_encoded_unchanged(source: Any) -> None:
    document = [HELLO, assistant({"type": "source", "source": source}, {"type": "text", "text": "ok"})]
    assert adapter(UI).encode_request(decoded(document)).payload == document
    assert audit(document, convert(document, source=UI, target="openai-chat")) == []


@pytest.mark.parametrize("state", ["output-denied", "approval-responded"])
def test_denied_call_without_an_id_is_encoded_unchanged(state: str) -> None:
    part = {"type": "tool-weather", "state": state, "input": {}, "approval": {"id": "1", "approved": False}}
    document = [HELLO, assistant(part)]
    assert adapter(UI).encode_request(decoded(document)).payload == document


@pytest.mark.parametrize(
    ("provider", "field", "issuer"),
    [
        ("bedrock", "signature", "anthropic"),
        ("bedrock", "redactedData", "anthropic"),
        ("azure", "reasoningEncryptedContent", "openai"),
        ("xai", "reasoningEncryptedContent", "xai"),
    ],
)
def test_state_of_reasoning_at_a_host_has_the_issuer_of_the_model(provider: str, field: str, issuer: str) -> None:
    part = {"type": "reasoning", "text": "so", "providerMetadata": {provider: {field: "EqQB"}}}
    document = [HELLO, assistant(part, TEXT)]
    request = decoded(document)
    state = request.messages[1].contents[0].protected
    assert state is not None
    assert (state.issuer, state.data) == (issuer, "EqQB")
    assert adapter(UI).encode_request(request).payload == document


ATTACHMENTS = [
    {"name": "a.png", "contentType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="},
    {"url": "https://example.org/a.pdf", "contentType": "application/pdf", "size": 3},
    {"url": "data:image/png;base64,iVBORw0KGgo=", "contentType": "image/x"},
]


@pytest.mark.parametrize("field", ["experimental_attachments", "attachments"])
@pytest.mark.parametrize("body", [{"content": "Look."}, {"parts": [{"type": "text", "text": "Look."}]}])
def test_attachments_of_version_4_are_media_of_the_message(body: dict[str, Any], field: str) -> None:
    document = [{"id": "u1", "role": "user", **body, field: ATTACHMENTS}]
    request = decoded(document)
    types = [type(content) for content in request.messages[0].contents]
    assert types == [TextContent, DataContent, UriContent, DataContent]
    assert adapter(UI).encode_request(request).payload == document
    for target in ("openai-chat", "anthropic-messages", "vercel-model-messages"):
        assert audit(document, convert(document, source=UI, target=target)) == []


@pytest.mark.parametrize("field", ["experimental_attachments", "attachments"])
@pytest.mark.parametrize("attachments", [[], [{"name": "a"}], [None], None, "x"])
def test_attachments_without_urls_stay_in_the_residue(attachments: Any, field: str) -> None:
    document = [{"id": "u1", "role": "user", "content": "Look.", field: attachments}]
    request = decoded(document)
    assert [type(content) for content in request.messages[0].contents] == [TextContent]
    assert adapter(UI).encode_request(request).payload == document


def test_details_of_reasoning_of_version_4_are_reasoning_with_their_state() -> None:
    details = [
        {"type": "text", "text": "r", "signature": "EuYB"},
        {"type": "redacted", "data": "Em"},
        {"type": "text", "text": "s"},
    ]
    parts = [
        {"type": "reasoning", "reasoning": "rs", "details": details},
        {"type": "reasoning", "reasoning": "t", "details": [{"type": "text", "text": "t", "signature": "EvYB"}]},
        TEXT,
    ]
    document = [HELLO, assistant(*parts)]
    request = decoded(document)
    contents = request.messages[1].contents[:4]
    assert [content.protected and content.protected.kind for content in contents] == [
        "signature",
        "redacted",
        None,
        "signature",
    ]
    assert adapter(UI).encode_request(request).payload == document
    converted = convert(document, source=UI, target="anthropic-messages")
    blocks = converted.payload["messages"][1]["content"]
    assert blocks[:2] == [
        {"type": "thinking", "thinking": "r", "signature": "EuYB"},
        {"type": "redacted_thinking", "data": "Em"},
    ]
    assert audit(document, converted) == []


@pytest.mark.parametrize("reasoning", ["other", None, 3])
def test_details_that_do_not_fit_the_text_of_reasoning_are_encoded_unchanged(reasoning: Any) -> None:
    part = {"type": "reasoning", "reasoning": reasoning, "details": [{"type": "text", "text": "r"}]}
    document = [HELLO, assistant({**part, "reasoning": "other"}, TEXT)]
    assert adapter(UI).encode_request(decoded(document)).payload == document
