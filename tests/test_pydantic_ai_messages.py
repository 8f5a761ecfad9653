"""Messages of Pydantic AI. Its type adapter judges what the adapter writes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, UserPromptPart

import pydantic_ai_documents as documents
from contentmodel import ChatMessage, ChatRequest, DecodeError, TextContent, adapter, audit, check, convert, detect
from contentmodel.content import hosted
from contentmodel.content.base import Protected
from contentmodel.content.citations import Citation, Span
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.message import Origin, contents_of
from contentmodel_adapters.frameworks.pydantic_ai.values import digest_of
from contentmodel_conformance import laws
from contentmodel_conformance.strategies.damage import with_one_replaced
from contentmodel_conformance.strategies.transcripts import transcripts

API = "pydantic-ai-messages"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")


def decoded(*parts: dict[str, Any], kind: str = "request", **fields: Any) -> ChatRequest:
    return adapter(API).decode_request([{"kind": kind, "parts": list(parts), **fields}])


def written(*messages: ChatMessage, **fields: Any) -> Any:
    return adapter(API).encode_request(ChatRequest(messages=list(messages), **fields)).payload


# -- identity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [documents.document(), documents.short(documents.document())], ids=["all", "short"])
def test_document_is_encoded_unchanged(payload: Any) -> None:
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


@pytest.mark.slow
def test_document_with_any_value_replaced_is_refused_or_kept() -> None:
    payloads = [documents.document(), documents.short(documents.document()), documents.OLDER]
    for payload in with_one_replaced(payloads):
        with suppress(laws.Refused):
            laws.disturbance(adapter(API), "request", payload)


def test_older_names_of_fields_are_read_as_the_library_reads_them_and_kept() -> None:
    request = adapter(API).decode_request(documents.OLDER)
    answer, library = request.messages[2], ModelMessagesTypeAdapter.validate_python(documents.OLDER)[1]
    assert isinstance(library, ModelResponse)
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (5, 2)
    assert (library.usage.input_tokens, library.usage.output_tokens) == (5, 2)
    assert answer.response_id == library.provider_response_id == "resp_1"
    assert getattr(request.messages[1].contents[0], "tools", None) == ["forecast"]
    assert adapter(API).encode_request(request).payload == documents.OLDER


def test_older_name_beside_the_usual_one_stays_in_the_residue() -> None:
    payload = [{**documents.OLDER[1], "provider_response_id": "resp_2"}]
    request = adapter(API).decode_request(payload)
    assert request.messages[0].response_id == "resp_2"
    assert adapter(API).encode_request(request).payload == payload


@pytest.mark.parametrize("digests", [[{"a": 1}], {"a": 1}, ["x", 3, None], "x", None])
def test_result_with_a_link_and_invalid_digests_is_encoded_unchanged(digests: Any) -> None:
    found = {"type": "web_search_result", "title": "T", "url": "https://e.org/x", "page_age": None}
    call = {"tool_name": "web_search", "tool_call_id": "c", "provider_name": "anthropic"}
    parts = [
        {"part_kind": "builtin-tool-call", **call, "args": {"query": "q"}},
        {"part_kind": "builtin-tool-return", **call, "content": [found], "content_file_digests": digests},
    ]
    payload = [{"kind": "response", "parts": parts}]
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


@pytest.mark.parametrize("index", range(len(documents.document())))
def test_each_single_message_is_encoded_unchanged(index: int) -> None:
    payload = documents.document()[index : index + 1]
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


def test_objects_of_the_library_are_a_payload() -> None:
    assert adapter(API).decode_request(documents.messages()).messages
    objects = [ModelRequest(parts=[UserPromptPart("Hi.")])]
    assert convert(objects, source=API, target=API).payload == ModelMessagesTypeAdapter.dump_python(
        objects, mode="json"
    )


def test_object_around_the_list_is_kept() -> None:
    payload = {"messages": documents.document(), "thread": "t1"}
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


def test_every_type_of_part_has_a_row() -> None:
    request = adapter(API).decode_request(documents.document())
    assert not [content for content in contents_of(request.messages) if isinstance(content, UnknownContent)]


def test_unknown_messages_and_parts_are_kept() -> None:
    payload = [
        {"kind": "note", "text": "x"},
        {"kind": "request", "parts": [{"part_kind": "wave", "content": "o/"}]},
        {"kind": "response", "parts": [{"part_kind": "wave", "content": "o/"}]},
    ]
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload


def test_list_is_detected() -> None:
    assert detect(documents.document()) == (API, "request")
    assert detect(documents.messages()) == (API, "request")


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ([1], "$[0]"),
        ([{"parts": []}], "$[0].kind"),
        ([{"kind": "request"}], "$[0].parts"),
        ([{"kind": "request", "parts": [1]}], "$[0].parts[0]"),
        ([{"kind": "request", "parts": [{}]}], "$[0].parts[0].part_kind"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": [1]}]}], "$[0].parts[0].content[0]"),
    ],
)
def test_fault_has_a_path(payload: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        adapter(API).decode_request(payload)
    assert caught.value.faults[0].path == path


# -- decoding ----------------------------------------------------------------------------------------------------------


def test_request_decodes_to_one_message_for_each_part() -> None:
    request = decoded(
        {"part_kind": "system-prompt", "content": "Be brief.", "timestamp": "2026-01-01T00:00:00Z"},
        {"part_kind": "user-prompt", "content": "Hi."},
        {"part_kind": "tool-return", "tool_name": "f", "content": {"a": 1}, "tool_call_id": "c1", "metadata": [1]},
    )
    assert [message.role for message in request.messages] == ["system", "user", "tool"]
    assert request.messages[0].created == "2026-01-01T00:00:00Z"
    result = request.messages[2].contents[0]
    assert isinstance(result, FunctionResultContent)
    assert (result.name, result.call_id, result.artifact) == ("f", "c1", [1])
    assert result.outputs == [JsonContent(value={"a": 1})]


def test_response_has_the_fields_of_its_message() -> None:
    response = adapter(API).decode_request(documents.document()).messages[2]
    assert (response.response_id, response.created is None) == ("msg_1", False)
    assert response.finish_reason is not None
    assert response.finish_reason.reason == "tool_calls"
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.reasoning_tokens) == (20, 3)
    assert response.origin == Origin(api=API, issuer="anthropic", model="claude-opus-4-8")


def test_signatures_have_the_issuer_of_their_provider() -> None:
    contents = adapter(API).decode_request(documents.document()).messages[2].contents
    assert [content.protected for content in contents if isinstance(content, ReasoningContent)] == [
        Protected(issuer="anthropic", kind="signature", data="c2ln"),
        Protected(issuer="anthropic", kind="redacted", data="cmVk"),
        Protected(issuer="openai", kind="encrypted", data="ZW5j"),
        Protected(issuer="google", kind="signature", data="Z29v"),
    ]


@pytest.mark.parametrize("issuer", ["anthropic", "openai", "google"])
def test_signature_is_sent_only_to_its_issuer(issuer: str) -> None:
    data = {"anthropic": ("c2ln", "cmVk"), "openai": ("ZW5j",), "google": ("Z29v",)}
    targets = {"anthropic": "anthropic-messages", "openai": "openai-responses", "google": "google-generate-content"}
    text = json.dumps(convert(documents.document(), source=API, target=targets[issuer]).payload)
    for owner, values in data.items():
        assert all((value in text) == (owner == issuer) for value in values)


def test_hosted_tools_have_their_classes() -> None:
    contents = adapter(API).decode_request(documents.document()).messages[2].contents
    mcp = next(content for content in contents if isinstance(content, hosted.McpServerToolCallContent))
    assert (mcp.server, mcp.name, mcp.arguments_object) == ("deep", "ask", {"q": "?"})
    assert any(isinstance(content, hosted.WebSearchToolResultContent) for content in contents)


def test_encrypted_search_results_are_links_and_go_to_no_other_provider() -> None:
    found = {"type": "web_search_result", "url": "https://a.org", "title": "A", "encrypted_content": "EqQB"}
    search = {"tool_name": "web_search", "tool_call_id": "s", "provider_name": "anthropic"}
    parts = [
        {"part_kind": "builtin-tool-call", **search, "args": {"query": "q"}},
        {"part_kind": "builtin-tool-return", **search, "content": [found]},
    ]
    request = decoded(*parts, kind="response")
    result = request.messages[0].contents[1]
    assert isinstance(result, hosted.WebSearchToolResultContent)
    assert [type(link) for link in result.outputs] == [UriContent]
    assert adapter(API).encode_request(request).payload[0]["parts"] == parts
    converted = convert([{"kind": "response", "parts": parts}], source=API, target="openai-chat")
    assert "EqQB" not in str(converted.payload)
    assert "$[0].parts[1].content[0].encrypted_content" in [loss.path for loss in converted.losses]


@pytest.mark.parametrize("arguments", ['{"q": 1}', '{"q":"\u00e9', "", "{}"])
def test_call_of_a_server_as_text_has_its_name_and_the_text_of_its_arguments(arguments: str) -> None:
    text = f'{{"action":"call_tool","tool_name":"ask","tool_args":{arguments}}}'
    call = {"part_kind": "builtin-tool-call", "tool_name": "mcp_server:deep", "args": text, "tool_call_id": "c"}
    request = decoded(call, kind="response")
    content = request.messages[0].contents[0]
    assert isinstance(content, hosted.McpServerToolCallContent)
    assert (content.server, content.name, content.arguments) == ("deep", "ask", arguments)
    assert adapter(API).encode_request(request).payload[0]["parts"] == [call]


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("web_search", '{"action":"call_tool","tool_name":"ask","tool_args":{}}'),
        ("mcp_server:deep", '{"action":"call_tool","tool_name":"\\u0061","tool_args":{}}'),
        ("mcp_server:deep", '{"action": "call_tool", "tool_name": "ask", "tool_args": {}}'),
        ("mcp_server:deep", '{"action":"list_tools"}'),
    ],
)
def test_other_call_as_text_is_encoded_unchanged(tool: str, text: str) -> None:
    call = {"part_kind": "builtin-tool-call", "tool_name": tool, "args": text, "tool_call_id": "c"}
    request = decoded(call, kind="response")
    assert not isinstance(request.messages[0].contents[0], hosted.McpServerToolCallContent)
    assert adapter(API).encode_request(request).payload[0]["parts"] == [call]


def test_outcomes_say_whether_the_model_sees_an_error() -> None:
    words = ("success", "failed", "denied", "interrupted", "retried")
    parts = [{"part_kind": "tool-return", "tool_name": "f", "content": "", "outcome": word} for word in words]
    results = [message.contents[0] for message in decoded(*parts).messages]
    found = [(result.outcome, result.is_error) for result in results if isinstance(result, FunctionResultContent)]
    assert found == [
        ("succeeded", None),
        ("failed", True),
        ("denied", None),
        ("interrupted", None),
        ("retried", True),
    ]


def test_denied_result_of_another_api_is_denied_and_its_flag_is_a_loss() -> None:
    call = FunctionCallContent(call_id="c1", name="f", arguments={})
    result = FunctionResultContent(call_id="c1", outputs=["No."], is_error=True, outcome="denied")
    messages = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[result])]
    encoded = adapter(API).encode_request(ChatRequest(messages=messages))
    assert encoded.payload[1]["parts"][0]["outcome"] == "denied"
    assert [loss.path for loss in encoded.losses] == ["$.messages[1].contents[0].is_error"]


def test_stored_file_is_sent_only_to_its_own_provider() -> None:
    payload = [
        {
            "kind": "request",
            "parts": [
                {
                    "part_kind": "user-prompt",
                    "content": ["Read.", {"kind": "uploaded-file", "file_id": "file-1", "provider_name": "openai"}],
                }
            ],
        }
    ]
    assert "file-1" in json.dumps(convert(payload, source=API, target="openai-responses").payload)
    made = convert(payload, source=API, target="anthropic-messages")
    assert "file-1" not in json.dumps(made.payload)
    assert "$[0].parts[0].content[1]" in {loss.path for loss in made.losses}


def test_json_that_imitates_a_file_stays_json() -> None:
    """A tool returned the object: without a digest in the record, Pydantic AI does not read it as a link either."""
    link = {"kind": "image-url", "url": "https://example.org/a.png", "media_type": "image/png"}
    part = {"part_kind": "tool-return", "tool_name": "f", "tool_call_id": "c1", "content": link}
    result = decoded({**part, "content_file_digests": []}).messages[0].contents[0]
    assert isinstance(result, FunctionResultContent)
    assert result.outputs == [JsonContent(value=link)]
    result = decoded(part).messages[0].contents[0]
    assert isinstance(result, FunctionResultContent)
    assert isinstance(result.outputs[0], UriContent)


# -- instructions ------------------------------------------------------------------------------------------------------


def _asked(text: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}], **fields}


def _answered(text: str) -> dict[str, Any]:
    return {"kind": "response", "parts": [{"part_kind": "text", "content": text}]}


def test_instructions_are_those_of_the_last_request() -> None:
    payload = [_asked("a", instructions="Old."), _answered("b"), _asked("c", instructions="New.")]
    request = adapter(API).decode_request(payload)
    assert request.instructions == [TextContent(text="New.")]
    made = convert(payload, source=API, target="openai-responses")
    assert made.payload["instructions"] == "New."
    assert "$[0].instructions" in {loss.path for loss in made.losses}


def test_results_have_the_instructions_of_the_request_before() -> None:
    result = {"part_kind": "tool-return", "tool_name": "f", "content": "", "tool_call_id": "c"}
    payload = [_asked("a", instructions="Old."), _answered("b"), {"kind": "request", "parts": [result]}]
    assert adapter(API).decode_request(payload).instructions == [TextContent(text="Old.")]
    payload[2] = _asked("c")
    assert adapter(API).decode_request(payload).instructions == []


def test_edited_instructions_are_written_to_their_request() -> None:
    payload = [_asked("a", instructions="Old."), _answered("b"), _asked("c", instructions="New.")]
    request = adapter(API).decode_request(payload)
    request.instructions[:] = [TextContent(text="Newer.")]
    assert adapter(API).encode_request(request).payload == [*payload[:2], {**payload[2], "instructions": "Newer."}]


def test_instructions_of_another_api_are_written_to_every_request() -> None:
    chat = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "a"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
            {"role": "user", "content": "c"},
        ],
    }
    made = convert(chat, source="openai-responses", target=API).payload
    assert [wire.get("instructions") for wire in made] == ["Be brief.", None, "Be brief."]


# -- encoding ----------------------------------------------------------------------------------------------------------


def test_omitted_thinking_of_claude_reaches_anthropic_with_its_required_field() -> None:
    thinking = {"part_kind": "thinking", "content": "", "signature": "c2ln", "provider_name": "anthropic"}
    document = [{"kind": "response", "parts": [thinking, {"part_kind": "text", "content": "Sun."}]}]
    (message,) = convert(document, source=API, target="anthropic-messages").payload["messages"]
    assert message["content"][0] == {"type": "thinking", "thinking": "", "signature": "c2ln"}


@pytest.mark.parametrize("text", ["", "Hm."])
def test_empty_signature_is_none(text: str) -> None:
    thinking = {"part_kind": "thinking", "content": text, "signature": "", "provider_name": "anthropic"}
    document = [{"kind": "response", "parts": [thinking, {"part_kind": "text", "content": "Sun."}]}]
    request = adapter(API).decode_request(document)
    assert request.messages[0].contents[0].protected is None
    assert adapter(API).encode_request(request).payload == document
    sent = convert(document, source=API, target="anthropic-messages")
    assert sent.payload["messages"][0]["content"] == [{"type": "text", "text": "Sun."}]
    assert audit(document, sent) == []


def test_state_of_claude_on_bedrock_is_that_of_anthropic() -> None:
    of_bedrock = {"part_kind": "thinking", "provider_name": "bedrock"}
    redacted = {**of_bedrock, "content": "", "id": "redacted_content", "signature": "Zg=="}
    signed = {**of_bedrock, "content": "Hm.", "signature": "c2ln"}
    model = "us.anthropic.claude-opus-4-8"
    answer = {"kind": "response", "parts": [redacted, signed], "provider_name": "bedrock", "model_name": model}
    prompt = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Weather?"}]}
    document = [prompt, answer, prompt]
    assert adapter(API).encode_request(adapter(API).decode_request(document)).payload == document
    sent = convert(document, source=API, target="bedrock-converse", model=model).payload["messages"][1]["content"]
    assert sent == [
        {"reasoningContent": {"redactedContent": "Wmc9PQ=="}},
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
    ]
    sent = convert(document, source=API, target="anthropic-messages").payload["messages"][1]["content"]
    assert sent == [
        {"type": "redacted_thinking", "data": "Zg=="},
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    ]


def test_conversation_of_anthropic_is_joined_to_requests() -> None:
    payload = {
        "model": "claude-opus-4-8",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "rain", "is_error": True},
                    {"type": "text", "text": "And now?"},
                ],
            },
        ],
    }
    assert convert(payload, source="anthropic-messages", target=API).payload == [
        {
            "parts": [{"part_kind": "user-prompt", "content": "Weather?"}],
            "kind": "request",
            "instructions": "Be brief.",
        },
        {
            "kind": "response",
            "parts": [
                {"part_kind": "thinking", "content": "Hm.", "signature": "c2ln", "provider_name": "anthropic"},
                {"part_kind": "tool-call", "tool_name": "weather", "args": {"city": "Oslo"}, "tool_call_id": "t1"},
            ],
        },
        {
            "parts": [
                {
                    "part_kind": "tool-return",
                    "tool_name": "weather",
                    "content": "rain",
                    "tool_call_id": "t1",
                    "outcome": "failed",
                },
                {"part_kind": "user-prompt", "content": "And now?"},
            ],
            "kind": "request",
            "instructions": "Be brief.",
        },
    ]


def test_answer_of_another_api_is_appended_with_its_provider() -> None:
    """An application loads a history, asks another provider, and stores the answer in the history."""
    request = adapter(API).decode_request([_asked("Hi.")])
    answer = ChatMessage(
        role="assistant",
        contents=[
            ReasoningContent(text="Hm.", protected=Protected(issuer="anthropic", kind="signature", data="c2ln")),
            TextContent(text="Hello."),
        ],
        origin=Origin(api="anthropic-messages", issuer="anthropic", model="claude-opus-4-8", is_answer=True),
    )
    request.messages.append(answer)
    made = adapter(API).encode_request(request).payload
    assert made[1]["parts"][0]["provider_name"] == "anthropic"
    assert (made[1]["model_name"], made[1]["provider_name"]) == ("claude-opus-4-8", "anthropic")
    ModelMessagesTypeAdapter.validate_python(made)


def test_signature_of_gemini_is_standard_base64() -> None:
    """Pydantic AI decodes signatures without the characters that the standard alphabet lacks."""
    payload = {"contents": [{"role": "model", "parts": [{"text": "Sun.", "thoughtSignature": "-_-_-w"}]}]}
    made = convert(payload, source="google-generate-content", target=API)
    assert made.payload[0]["parts"][0]["provider_details"] == {"thought_signature": "+/+/+w=="}
    assert [(loss.code, loss.kind) for loss in made.losses] == [("base64-spelling", "insignificant")]


def test_reasoning_has_the_id_of_its_item_and_the_first_part_its_state() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"}
    unsigned = {"type": "reasoning", "id": "rs_2", "summary": summary[:1]}
    payload = {"input": [item, {"type": "message", "role": "assistant", "content": "Sun."}, unsigned]}
    made = convert(payload, source="openai-responses", target=API, kind="request").payload
    of_item = {"part_kind": "thinking", "provider_name": "openai", "id": "rs_1"}
    assert made[0]["parts"] == [
        {**of_item, "content": "One.", "signature": "ZW5j"},
        {**of_item, "content": "Two."},
        {"part_kind": "text", "content": "Sun."},
        {**of_item, "content": "One.", "id": "rs_2"},
    ]


def test_stored_reasoning_returns_to_openai_as_its_item() -> None:
    """Pydantic AI sends the id of the item, too. Chat has no items: the id is the name of the field there."""
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    payload = {"input": [{"type": "reasoning", "id": "rs_1", "summary": summary}]}
    kept = convert(payload, source="openai-responses", target=API, kind="request").payload
    back = convert(kept, source=API, target="openai-responses", kind="request", model="gpt-5.2")
    assert back.payload["input"] == payload["input"]
    for changes in ({"id": "reasoning"}, {"provider_name": "groq"}):
        others = [{**kept[0], "parts": [{**part, **changes} for part in kept[0]["parts"]]}]
        assert "rs_1" not in str(convert(others, source=API, target="openai-responses", kind="request").payload)


def test_call_without_a_name_is_one_of_a_tool() -> None:
    call = FunctionCallContent(call_id="c1", arguments={})
    payload = written(ChatMessage(role="assistant", contents=[call, FunctionResultContent(call_id="c1")]))
    assert [part["tool_name"] for message in payload for part in message["parts"]] == ["tool", "tool"]
    ModelMessagesTypeAdapter.validate_python(payload)


def test_result_without_outputs_is_an_empty_text() -> None:
    """Pydantic AI sends null as the text "null" to Anthropic, and an empty list is a JSON value."""
    for outputs in ([], [UnknownContent(api="other", block={})]):
        call = ChatMessage(role="assistant", contents=[FunctionCallContent(call_id="c", name="f", arguments={})])
        result = ChatMessage(role="tool", contents=[FunctionResultContent(call_id="c", name="f", outputs=outputs)])
        assert written(call, result)[1]["parts"][0]["content"] == ""


@pytest.mark.parametrize("span", [Span(start=3), Span(start=3, end=3), Span(end=0)])
def test_citation_of_no_characters_has_no_anchor(span: Span) -> None:
    """Pydantic AI refuses a document with such an anchor."""
    cited = TextContent(text="Sun.", annotations=[Citation(url="https://example.org", span=span)])
    encoded = adapter(API).encode_request(ChatRequest(messages=[ChatMessage(role="assistant", contents=[cited])]))
    assert "anchor" not in encoded.payload[0]["parts"][0]["citations"][0]
    assert "$.messages[0].contents[0].annotations[0].span" in {loss.path for loss in encoded.losses}
    ModelMessagesTypeAdapter.validate_python(encoded.payload)


def test_stored_file_without_a_media_type_has_that_of_its_kind() -> None:
    """Pydantic AI sends a stored file as an image if its media type is one, else as a document."""
    message = ChatMessage(
        role="user",
        contents=[HostedFileContent(file_id="file-1", kind="image")],
        origin=Origin(api="openai-responses", issuer="openai"),
    )
    made = written(message, origin=message.origin)
    assert made[0]["parts"][0]["content"][0]["media_type"] == "image/jpeg"


def test_stored_file_in_a_result_is_sent_to_its_provider() -> None:
    file = {"kind": "uploaded-file", "file_id": "file-1", "media_type": "application/pdf", "provider_name": "openai"}
    part = {"part_kind": "tool-return", "tool_name": "f", "tool_call_id": "c", "content": file}
    call = {"part_kind": "tool-call", "tool_name": "f", "args": {}, "tool_call_id": "c"}
    digests = {"content_file_digests": [digest_of(file)]}
    document = [{"kind": "response", "parts": [call]}, {"kind": "request", "parts": [{**part, **digests}]}]
    made = convert(document, source=API, target="openai-responses", model="gpt-5.2").payload
    assert made["input"][-1]["output"] == [{"type": "input_file", "file_id": "file-1"}]
    assert "file-1" not in json.dumps(convert(document, source=API, target="anthropic-messages").payload)


@pytest.mark.parametrize(
    ("provider", "link"),
    [
        ("google", "https://generativelanguage.googleapis.com/v1beta/files/abc"),
        ("google-cloud", "gs://bucket/tide.pdf"),
    ],
)
def test_uploaded_file_whose_id_is_a_link_is_a_link(provider: str, link: str) -> None:
    file = {"kind": "uploaded-file", "file_id": link, "media_type": "application/pdf", "provider_name": provider}
    call = {"part_kind": "tool-call", "tool_name": "f", "args": {}, "tool_call_id": "c"}
    result = {"part_kind": "tool-return", "tool_name": "f", "tool_call_id": "c", "content": file}
    document = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ["Read.", file]}]},
        {"kind": "response", "parts": [call]},
        {"kind": "request", "parts": [{**result, "content_file_digests": [digest_of(file)]}]},
    ]
    assert adapter(API).encode_request(adapter(API).decode_request(document)).payload == document
    sent = convert(document, source=API, target="google-generate-content")
    assert sent.payload["contents"][0]["parts"][1] == {"fileData": {"fileUri": link, "mimeType": "application/pdf"}}
    assert audit(document, sent) == []


def test_stored_file_has_its_provider() -> None:
    message = ChatMessage(
        role="user",
        contents=[HostedFileContent(file_id="file-1", media_type="application/pdf")],
        origin=Origin(api="openai-chat", issuer="openai"),
    )
    made = written(message, origin=message.origin)
    assert made[0]["parts"][0]["content"] == [
        {"file_id": "file-1", "media_type": "application/pdf", "kind": "uploaded-file", "provider_name": "openai"}
    ]
    ModelMessagesTypeAdapter.validate_python(made)


def test_link_in_a_result_is_loaded_as_a_link() -> None:
    messages = [
        ChatMessage(role="assistant", contents=[FunctionCallContent(call_id="c", name="f", arguments={})]),
        ChatMessage(
            role="tool",
            contents=[
                FunctionResultContent(
                    call_id="c",
                    name="f",
                    outputs=[
                        "See",
                        UriContent(uri="https://example.org/a", kind="image"),
                        DataContent(data="AAAA", media_type="image/png"),
                    ],
                )
            ],
        ),
    ]
    loaded = ModelMessagesTypeAdapter.validate_python(written(*messages))
    assert [type(item).__name__ for item in loaded[1].parts[0].content] == ["str", "ImageUrl", "BinaryImage"]


@given(transcripts("anthropic-messages"))
def test_pydantic_ai_loads_every_conversation_of_anthropic(request: ChatRequest) -> None:
    _load(adapter("anthropic-messages").encode_request(request).payload, "anthropic-messages")


def test_lifetime_of_a_cache_point_that_pydantic_ai_lacks_is_a_loss() -> None:
    cached = {"type": "input_text", "text": "Hi.", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    payload = {"model": "gpt-6.1", "input": [{"role": "user", "content": [cached]}]}
    made = convert(payload, source="openai-responses", target=API)
    _load(payload, "openai-responses")
    lost = [(loss.code, loss.path) for loss in made.losses if loss.code == "cache-lifetime"]
    assert lost == [("cache-lifetime", "$.input[0].content[0].prompt_cache_breakpoint.ttl")]


@given(transcripts("openai-responses"))
def test_pydantic_ai_loads_every_conversation_of_responses(request: ChatRequest) -> None:
    _load(adapter("openai-responses").encode_request(request).payload, "openai-responses")


@given(transcripts("google-generate-content"))
def test_pydantic_ai_loads_every_conversation_of_gemini(request: ChatRequest) -> None:
    _load(adapter("google-generate-content").encode_request(request).payload, "google-generate-content")


def _load(payload: Any, source: str) -> None:
    made = convert(payload, source=source, target=API)
    try:
        text = made.to_json().decode()
        text.encode()
    except UnicodeEncodeError:
        return
    if "\\ud" not in text:
        loaded = ModelMessagesTypeAdapter.validate_json(text)
        assert all(isinstance(message, ModelRequest | ModelResponse) for message in loaded)
    assert check(made.payload, api=API) == []
