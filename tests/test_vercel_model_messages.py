"""Model messages of Vercel's AI SDK. Its own functions, in Node, judge what the adapter writes, and what it sends."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_sdk import MODELS, OF_OPENAI, generated, sent, validated
from conftest import needs_node
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    DecodeError,
    FunctionCallContent,
    FunctionResultContent,
    HostedFileContent,
    HostedToolCallContent,
    HostedToolResultContent,
    Origin,
    ReasoningContent,
    TextContent,
    UriContent,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.content import (
    CompactionContent,
    ConfigurationContent,
    JsonContent,
    McpServerToolCallContent,
    McpServerToolResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    UnknownContent,
    WebFetchToolCallContent,
    WebFetchToolResultContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
)
from contentmodel.content.base import Protected
from contentmodel_conformance.strategies.transcripts import transcripts
from framework_model_messages import (
    APPROVALS,
    DOCUMENTS,
    HELLO,
    LOOP,
    OF_VERSION_4,
    OLDER,
    OUTPUTS,
    PARTS,
    PIXEL,
    TEXT,
    assistant,
    call,
    result,
)

API = "vercel-model-messages"
UI = "vercel-ui-messages"
PROVIDERS = tuple(MODELS)
HELLO_UI = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "a"}]}
every_document = pytest.mark.parametrize("document", DOCUMENTS)


def decoded(document: Any) -> ChatRequest:
    return adapter(API).decode_request(document)


@every_document
def test_document_is_valid_and_encoded_unchanged(document: Any) -> None:
    original = copy.deepcopy(document)
    assert check(document, api=API) == []
    encoded = adapter(API).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (original, ())


@pytest.mark.parametrize("document", DOCUMENTS[:4])
def test_document_is_detected(document: Any) -> None:
    assert detect(document) == (API, "request")


@every_document
@pytest.mark.parametrize("target", [*PROVIDERS, "hf-messages", "vercel-ui-messages"])
def test_conversion_reports_every_loss(document: Any, target: str) -> None:
    assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


@every_document
def test_every_part_has_a_type_of_the_model(document: Any) -> None:
    contents: list[Any] = [content for message in decoded(document).messages for content in message.contents]
    contents += [output for content in contents for output in getattr(content, "outputs", ())]
    assert not [content for content in contents if isinstance(content, UnknownContent)]


def test_messages_decode_to_messages_with_cache_points() -> None:
    messages = decoded(LOOP).messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    cached = [content.cache_point for message in messages for content in message.contents if content.cache_point]
    assert [point.ttl for point in cached] == ["1h", "1h", "1h"]
    assert messages[0].contents[0].cache_point is not None
    link = messages[1].contents[3]
    assert isinstance(link, UriContent)
    assert link.kind == "image"
    call = messages[2].contents[2]
    assert isinstance(call, FunctionCallContent)
    assert call.protected is not None
    assert call.protected.issuer == "google"


def test_outputs_have_the_types_of_the_model() -> None:
    results: list[Any] = decoded(OUTPUTS).messages[2].contents
    assert results[0].outputs == [TextContent(text="Sunny.")]
    assert (results[2].is_error, results[2].outputs) == (True, [JsonContent(value={"code": 3})])
    assert [(result.outcome, result.text) for result in results[3:5]] == [
        ("denied", "no"),
        ("denied", "Tool call execution denied."),
    ]
    stored = [output.file_id for output in results[5].outputs if isinstance(output, HostedFileContent)]
    assert stored == ["file_1", "file_1", "file_2"]
    media = decoded(OLDER).messages[2].contents[0]
    assert isinstance(media, FunctionResultContent)
    assert isinstance(media.outputs[0], DataContent)


def test_parts_of_version_4_have_the_types_of_the_model() -> None:
    assert detect(OF_VERSION_4[1:]) == (API, "request")
    user, answer, results, _ = decoded(OF_VERSION_4).messages
    media: list[Any] = user.contents
    types = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"]
    assert [content.media_type for content in media] == types
    assert [type(content) for content in media[:3]] == [DataContent, DataContent, UriContent]
    assert [content.protected and content.protected.kind for content in answer.contents[:2]] == [
        "signature",
        "redacted",
    ]
    assert [getattr(content, "arguments", None) for content in answer.contents[2:]] == [{"n": n} for n in range(4)]
    failed, empty, shown, told = results.contents
    assert isinstance(failed, FunctionResultContent)
    assert isinstance(shown, FunctionResultContent)
    assert (failed.is_error, failed.outputs) == (True, [JsonContent(value={"sky": "clear"})])
    assert (getattr(empty, "outputs", None), getattr(told, "text", None)) == ([], "Sunny.")
    assert (shown.text, type(shown.outputs[1])) == ("the map", DataContent)


def test_edited_result_of_version_4_that_does_not_fit_has_the_current_form() -> None:
    request = decoded(OF_VERSION_4)
    results: list[Any] = request.messages[2].contents
    outputs = [TextContent(text="a"), DataContent(data=PIXEL, media_type="image/png")]
    results[3] = msgspec.structs.replace(results[3], outputs=outputs)
    written = adapter(API).encode_request(request).payload[2]["content"]
    assert [part["type"] for part in written[3]["output"]["value"]] == ["text", "file"]
    assert written[:3] == OF_VERSION_4[2]["content"][:3]


def test_approval_of_a_client_call_has_the_id_of_the_call_and_others_their_own() -> None:
    messages = decoded(APPROVALS).messages
    requests = [c for m in messages for c in m.contents if isinstance(c, ToolApprovalRequestContent)]
    responses = [c for m in messages for c in m.contents if isinstance(c, ToolApprovalResponseContent)]
    assert [request.request_id for request in requests] == ["call_1", "a2"]
    assert [response.request_id for response in responses] == ["call_1", "a2"]


def test_calls_of_providers_have_their_types() -> None:
    kinds = [type(content) for content in decoded(PARTS).messages[1].contents]
    assert WebSearchToolCallContent in kinds
    assert WebSearchToolResultContent in kinds


def test_encrypted_search_results_are_links_and_go_to_no_other_provider() -> None:
    found = [
        {
            "type": "web_search_result",
            "url": f"https://{n}.org",
            "title": n,
            "pageAge": None,
            "encryptedContent": "EqQB",
        }
        for n in ("a", "b")
    ]
    search = call("s1", toolName="web_search", providerExecuted=True)
    document = [
        HELLO,
        assistant(search, result({"type": "json", "value": found}, "s1", toolName="web_search"), TEXT),
    ]
    ui = convert(document, source=API, target=UI).payload
    assert ui[1]["parts"][1]["state"] == "output-available"
    shown = [HELLO_UI, {**ui[1], "parts": [{**ui[1]["parts"][1], "output": found}]}]
    for api, payload in ((API, document), (UI, shown)):
        request = adapter(api).decode_request(payload)
        outputs = next(c for c in request.messages[1].contents if isinstance(c, WebSearchToolResultContent)).outputs
        assert [(type(link), getattr(link, "uri", None)) for link in outputs] == [
            (UriContent, "https://a.org"),
            (UriContent, "https://b.org"),
        ]
        assert adapter(api).encode_request(request).payload == payload
        converted = convert(payload, source=api, target="openai-chat")
        assert "EqQB" not in str(converted.payload)
        assert "https://b.org" in str(converted.payload)
        assert len([loss for loss in converted.losses if loss.path.endswith("encryptedContent")]) == 2
        assert audit(payload, converted) == []


def written(*contents: Any) -> tuple[list[Any], dict[str, str]]:
    """Return the contents of an assistant message after encoding and decoding, and the losses there."""
    message = ChatMessage(role="assistant", contents=list(contents))
    encoded = adapter(API).encode_request(ChatRequest(messages=[message], origin=Origin(api=API, issuer="")))
    losses = {loss.path: loss.code for loss in encoded.losses if loss.path.startswith("$.messages")}
    return decoded(encoded.payload).messages[0].contents, losses


def test_result_without_a_name_has_that_of_its_call() -> None:
    call = WebFetchToolCallContent(call_id="w1", name="web_fetch", arguments={})
    contents, losses = written(call, WebFetchToolResultContent(call_id="w1", outputs=[TextContent(text="a")]))
    assert [type(content) for content in contents] == [WebFetchToolCallContent, WebFetchToolResultContent]
    assert losses == {}


def test_hosted_tool_is_a_loss_if_its_name_does_not_imply_its_class() -> None:
    call = McpServerToolCallContent(call_id="m1", name="lookup", server="weather", arguments={})
    _, losses = written(call, McpServerToolResultContent(call_id="m1", outputs=[TextContent(text="a")]))
    path = "$.messages[0].contents"
    assert losses == {f"{path}[0]": "tool-by-name", f"{path}[0].server": "no-field", f"{path}[1]": "tool-by-name"}


@pytest.mark.parametrize(("issuer", "is_kept"), [("openai", True), ("anthropic", False)])
def test_opaque_compaction_has_the_issuer_openai(issuer: str, is_kept: bool) -> None:
    state = CompactionContent(protected=Protected(issuer=issuer, kind="encrypted", data="x"))
    contents, losses = written(state, TextContent(text="a"))
    assert [type(content) for content in contents] == [CompactionContent, TextContent][not is_kept :]
    assert losses == ({} if is_kept else {"$.messages[0].contents[0]": "no-block"})


def test_reasoning_and_compactions_have_the_ids_of_their_items() -> None:
    """The provider of OpenAI drops a compaction without an id, and the other parts of a reasoning item."""
    items = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": text} for text in ("One.", "Two.")],
            "encrypted_content": "ZW5j",
        },
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "Y21w"},
    ]
    for target, parts, field in ((API, "content", "providerOptions"), (UI, "parts", "providerMetadata")):
        made = convert({"input": items}, source="openai-responses", target=target, kind="request").payload
        fields = [part[field]["openai"] for message in made for part in message[parts] if field in part]
        assert [one["itemId"] for one in fields] == ["rs_1", "rs_1", "cmp_1"]
        assert fields[2]["encryptedContent"] == "Y21w"


@pytest.mark.parametrize("with_state", [(True, True), (True, False), (False, True)])
def test_parts_of_a_reasoning_item_are_one_item_for_openai(with_state: tuple[bool, bool]) -> None:
    state = {"reasoningEncryptedContent": "gA"}
    parts = [
        {
            "type": "reasoning",
            "text": text,
            "providerOptions": {"openai": {"itemId": "rs_1", **(state if has_state else {})}},
        }
        for text, has_state in zip(("One.", "Two."), with_state, strict=True)
    ]
    other = {
        "type": "reasoning",
        "text": "Three.",
        "providerOptions": {"openai": {"itemId": "rs_2", "reasoningEncryptedContent": "hB"}},
    }
    document = [HELLO, assistant(*parts, other)]
    converted = convert(document, source=API, target="openai-responses")
    items = [item for item in converted.payload["input"] if item["type"] == "reasoning"]
    assert [[part["text"] for part in item["summary"]] for item in items] == [["One.", "Two."], ["Three."]]
    assert [item["encrypted_content"] for item in items] == ["gA", "hB"]
    assert audit(document, converted) == []


@pytest.mark.parametrize("through", [API, UI, "pydantic-ai-messages"])
def test_summaries_of_a_reasoning_item_come_back(through: str) -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"}
    there = convert({"input": [item]}, source="openai-responses", target=through, kind="request").payload
    back = convert(there, source=through, target="openai-responses").payload["input"]
    assert [one for one in back if one["type"] == "reasoning"] == [{k: v for k, v in item.items() if k != "id"}]


def test_id_of_reasoning_without_a_text_is_reported() -> None:
    state = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "ZW5j"}}
    document = [{"role": "assistant", "content": [{"type": "reasoning", "text": "", "providerOptions": state}]}]
    encoded = convert(document, source=API, target="openai-responses", model="gpt-5.2")
    assert "$[0].content[0].providerOptions.openai.itemId" in {loss.path for loss in encoded.losses}
    assert audit(document, encoded) == []


def test_stored_file_is_sent_back_with_the_media_type_of_its_kind() -> None:
    image = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    payload = {"max_tokens": 9, "messages": [{"role": "user", "content": [image]}]}
    document = convert(payload, source="anthropic-messages", target=API).payload
    assert document[0]["content"][0]["mediaType"] == "image/jpeg"
    back = convert(document, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    assert back["messages"][0]["content"] == [image]
    assert "file_1" not in str(convert(document, source=API, target="openai-chat", model="gpt-5.2").payload)


def test_message_without_remaining_contents_gets_a_content() -> None:
    message = ChatMessage(role="user", contents=[HostedFileContent(file_id="file_1")])
    request = ChatRequest(messages=[message], origin=Origin(api=API, issuer=""))
    encoded = adapter(API).encode_request(request)
    assert encoded.payload == {"messages": [{"role": "user", "content": []}]}
    assert "stored-elsewhere" in {loss.code for loss in encoded.losses}


def test_compaction_without_state_is_readable() -> None:
    document = [assistant({"type": "custom", "kind": "openai.compaction"})]
    assert isinstance(decoded(document).messages[0].contents[0], ConfigurationContent)
    assert adapter(API).encode_request(decoded(document)).payload == document


def test_request_for_approval_has_only_the_id_of_its_call() -> None:
    request = ToolApprovalRequestContent(request_id="r1", name="lookup", server="weather", arguments={"city": "Oslo"})
    _, losses = written(request)
    assert losses == {"$.messages[0].contents[0]": "call-of-approval", "$.messages[0].contents[0].server": "no-field"}
    _, losses = written(FunctionCallContent(call_id="r1", name="other", arguments={}), request)
    assert losses == {f"$.messages[0].contents[1].{name}": "no-field" for name in ("name", "arguments", "server")}
    call = FunctionCallContent(call_id="r1", name="lookup", arguments={"city": "Oslo"})
    asked = ToolApprovalRequestContent(request_id="r1", name="lookup", arguments='{"city":"Oslo"}')
    assert written(call, asked)[1] == {}


@pytest.mark.parametrize(
    ("document", "path"), [([{"content": "a"}], "$[0].role"), ([HELLO, 3], "$[1]"), ([assistant(3)], "$[0].content[0]")]
)
def test_invalid_document_has_a_fault_with_its_path(document: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decoded(document)
    assert [fault.path for fault in caught.value.faults] == [path]


# -- from and to other APIs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", [API, "vercel-ui-messages"])
def test_omitted_thinking_of_claude_reaches_anthropic_with_its_required_field(api: str) -> None:
    signed = {"anthropic": {"signature": "c2ln"}}
    text = {"type": "text", "text": "Sun."}
    reasoning = {"type": "reasoning", "text": ""}
    if api == API:
        messages = [{"role": "assistant", "content": [{**reasoning, "providerOptions": signed}, text]}]
    else:
        parts = [{**reasoning, "providerMetadata": signed}, text]
        messages = [{"id": "1", "role": "assistant", "parts": parts}]
    encoded = convert(messages, source=api, target="anthropic-messages")
    thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    assert encoded.payload["messages"] == [{"role": "assistant", "content": [thinking, text]}]
    assert not [loss for loss in encoded.losses if loss.kind == "dropped"]


def test_conversion_from_anthropic_keeps_signatures_and_cache_points() -> None:
    payload = {
        "model": "claude-opus-4-8",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "How is Oslo?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look.", "signature": "EqQB"},
                    {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": [
                            {"type": "text", "text": "18 degrees"},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                        ],
                    }
                ],
            },
        ],
    }
    encoded = convert(payload, target=API)
    assert encoded.payload == [
        {
            "role": "system",
            "content": "Be brief.",
            "providerOptions": {"anthropic": {"cacheControl": {"type": "ephemeral"}}},
        },
        {"role": "user", "content": "How is Oslo?"},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "Look.", "providerOptions": {"anthropic": {"signature": "EqQB"}}},
                {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "weather",
                    "output": {
                        "type": "content",
                        "value": [
                            {"type": "text", "text": "18 degrees"},
                            {"type": "file", "data": {"type": "data", "data": PIXEL}, "mediaType": "image/png"},
                        ],
                    },
                }
            ],
        },
    ]
    assert {loss.path for loss in encoded.losses} == {"$.model", "$.max_tokens"}
    back = convert(encoded.payload, source=API, target="anthropic-messages", model="claude-opus-4-8").payload
    assert (back["system"], back["messages"][1:]) == (payload["system"], payload["messages"][1:])


@pytest.mark.parametrize("api", [API, "vercel-ui-messages"])
@pytest.mark.parametrize("version", ["5", "6", "7"])
def test_custom_parts_are_dropped_for_versions_that_refuse_them(api: str, version: Any) -> None:
    made = convert(OF_OPENAI, target=api, policies={"ai_sdk": version})
    assert ("custom" in str(made.payload)) is (version == "7")
    assert (("no-field", "$.input[1]") in [(loss.code, loss.path) for loss in made.losses]) is (version != "7")
    assert audit(OF_OPENAI, made) == []


@pytest.mark.parametrize(("version", "kinds"), [("5", ["media"] * 2), ("6", ["image-data", "file-data"])])
def test_outputs_of_hosted_tools_have_a_media_type(version: Any, kinds: list[str]) -> None:
    contents: list[Any] = []
    for call_id, data in (("1", "iVBORw0KGgo="), ("2", "AAAA")):
        contents.append(HostedToolCallContent(call_id=call_id, name="draw"))
        contents.append(HostedToolResultContent(call_id=call_id, name="draw", outputs=[DataContent(data=data)]))
    request = ChatRequest(messages=[ChatMessage(role="assistant", contents=contents)])
    payload: Any = adapter(API).encode_request(request, {"ai_sdk": version}).payload
    parts = [part["output"]["value"][0] for part in payload[-1]["content"] if part["type"] == "tool-result"]
    assert [part["type"] for part in parts] == kinds
    assert [part["mediaType"] for part in parts] == ["image/png", "application/octet-stream"]


# -- the AI SDK --------------------------------------------------------------------------------------------------------


@needs_node
@pytest.mark.slow
def test_schema_of_the_sdk_accepts_the_documents() -> None:
    assert validated("ai", DOCUMENTS[:4], "model") == [None] * 4


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize(("package", "version"), [("ai", "7"), ("ai6", "6"), ("ai5", "5")])
def test_schema_of_each_version_accepts_conversations_of_every_api(package: str, version: Any) -> None:
    written: list[Any] = []

    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(PROVIDERS).flatmap(transcripts))
    def write(request: ChatRequest) -> None:
        written.append(adapter(API).encode_request(request, {"ai_sdk": version}).payload)

    write()
    denied = FunctionResultContent(call_id="call_1", outcome="denied", outputs=[TextContent(text="no")])
    request = decoded(APPROVALS)
    request.messages[2].contents[1] = denied
    written.append(adapter(API).encode_request(ChatRequest(messages=request.messages), {"ai_sdk": version}).payload)
    written.append(convert(OF_OPENAI, target=API, policies={"ai_sdk": version}).payload)
    errors = [
        (error, document)
        for error, document in zip(validated(package, written, "model"), written, strict=True)
        if error
    ]
    assert errors == []


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_messages_of_a_run_are_encoded_unchanged(api: str) -> None:
    document = [HELLO, *generated(api)["model"]]
    assert [message["role"] for message in document] == ["user", *("assistant", "tool") * 2, "assistant"]
    encoded = adapter(API).encode_request(decoded(document))
    assert (encoded.payload, encoded.losses) == (document, ())
    for target in PROVIDERS:
        assert audit(document, convert(document, source=API, target=target, model="gpt-5.2")) == []


FIELDS = {
    "openai-chat": ("messages",),
    "openai-responses": ("input",),
    "anthropic-messages": ("system", "messages"),
    "google-generate-content": ("systemInstruction", "contents"),
}
TALK: list[Any] = [
    {"role": "user", "content": [{"type": "text", "text": "How is Oslo?"}]},
    *LOOP[2:3],
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": f"call_{number}",
                "toolName": "weather",
                "output": {"type": "text", "value": "18 degrees"},
            }
            for number in (1, 2)
        ],
    },
    *LOOP[4:],
]


def facts_of(api: str, body: Any) -> list[Any]:
    """Return the contents that an adapter finds in the messages of a request, without the fields of providers.

    The SDK sends reasoning of other providers to Google as a thought without a signature. Ours drops it with a loss.
    """
    fields = {name: body[name] for name in FIELDS[api] if name in body}
    request = adapter(api).decode_request({"model": MODELS[api], "max_tokens": 1, **fields})
    return [
        (m.role, [_fact(c) for c in m.contents if not isinstance(c, ReasoningContent) or c.protected is not None])
        for m in request.messages
    ]


def _fact(content: Any) -> Any:
    if isinstance(content, FunctionCallContent):
        return content.call_id, content.name, content.arguments_object, content.protected
    if isinstance(content, FunctionResultContent):
        return content.call_id, [_fact(output) for output in content.outputs], bool(content.is_error)
    if isinstance(content, JsonContent):
        # The SDK sends a text to Google in an object with the name of the tool.
        return TextContent, content.value["content"], None
    return type(content), getattr(content, "text", None), content.protected


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("api", PROVIDERS)
def test_request_is_the_one_that_the_sdk_sends(api: str) -> None:
    (answer,) = sent(api, [TALK])
    # The SDK sends the begun answer at the end also to a model that refuses it.
    ours = convert(TALK, source=API, target=api, model=MODELS[api], policies={"prefill": "keep"}).payload
    assert facts_of(api, ours) == facts_of(api, answer["body"])


# -- hosted tools ------------------------------------------------------------------------------------------------------


def of_anthropic() -> list[dict[str, Any]]:
    found = {"type": "web_search_result", "url": "https://a.b", "title": "T", "page_age": "1d"}
    ran = {"type": "bash_code_execution_result", "stdout": "x", "stderr": "", "return_code": 0, "content": []}
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    calls = (("web_search", {"query": "q"}), ("bash_code_execution", {"command": "ls"}), ("web_search", {"query": "r"}))
    outputs = ([{**found, "encrypted_content": "sealed"}], ran, failed)
    blocks: list[dict[str, Any]] = []
    for number, ((name, given_input), output) in enumerate(zip(calls, outputs, strict=True)):
        call_id = f"srvtoolu_{number}"
        blocks.append({"type": "server_tool_use", "id": call_id, "name": name, "input": given_input})
        blocks.append({"type": f"{name}_tool_result", "tool_use_id": call_id, "content": output})
    server = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "s", "input": {"a": 1}}
    echoed = [{"type": "text", "text": "1"}]
    answer = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": echoed}
    return [*blocks, server, answer, {"type": "text", "text": "Done."}]


def asked_of(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": blocks}]
    return {"model": "m", "max_tokens": 9, "messages": [*messages, {"role": "user", "content": "go on"}]}


@needs_node
def test_sdk_sends_results_of_hosted_tools_back_to_anthropic() -> None:
    document = convert(asked_of(of_anthropic()), source="anthropic-messages", target=API, kind="request").payload
    (answer,) = sent("anthropic-messages", [document])
    (written,) = [message["content"] for message in answer["body"]["messages"] if message["role"] == "assistant"]
    assert written == of_anthropic()


@pytest.mark.parametrize("target", [API, "vercel-ui-messages"])
def test_every_value_of_hosted_tools_of_anthropic_is_written_or_a_loss(target: str) -> None:
    payload = asked_of(of_anthropic())
    assert audit(payload, convert(payload, source="anthropic-messages", target=target, kind="request")) == []


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"type": "web_search_call", "action": {"type": "search", "query": "q"}}, "web_search"),
        ({"type": "code_interpreter_call", "code": "1", "container_id": "c", "outputs": []}, "code_interpreter"),
        ({"type": "file_search_call", "queries": ["q"]}, "file_search"),
    ],
)
def test_calls_of_hosted_tools_without_a_name_get_one(item: dict[str, Any], name: str) -> None:
    payload = {"input": [{**item, "id": "ws_1", "status": "completed"}]}
    encoded = convert(payload, source="openai-responses", target=API, kind="request")
    (call, result) = encoded.payload[-1]["content"]
    assert call["toolName"] == result["toolName"] == name
    assert "tool-by-name" not in {loss.code for loss in encoded.losses}


def test_code_execution_of_google_is_written_in_the_form_of_its_provider() -> None:
    code = {"language": "PYTHON", "code": "1+1"}
    parts = [{"executableCode": code}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}]
    payload = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": parts}]}
    encoded = convert(payload, source="google-generate-content", target=API, kind="request")
    (call, result) = encoded.payload[-1]["content"]
    assert (call["toolName"], call["input"]) == ("code_execution", code)
    assert result["output"] == {"type": "json", "value": {"outcome": "OUTCOME_OK", "output": "2"}}
    assert encoded.losses == () or {loss.kind for loss in encoded.losses} <= {"synthesized", "insignificant"}


def fetched(**fields: Any) -> list[dict[str, Any]]:
    source = {"type": "text", "media_type": "text/plain", "data": "x"}
    page = {"type": "document", "title": "T", "source": source, "citations": None}
    output = {"type": "web_fetch_result", "url": "https://a.b", "content": page, "retrieved_at": "2026"}
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {"url": "https://a.b"}}
    return [call, {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": output, **fields}]


@needs_node
def test_sdk_accepts_a_fetched_page_without_citations() -> None:
    document = convert(asked_of(fetched()), source="anthropic-messages", target=API, kind="request").payload
    (answer,) = sent("anthropic-messages", [document])
    (written,) = [message["content"] for message in answer["body"]["messages"] if message["role"] == "assistant"]
    page = fetched()[1]["content"]
    del page["content"]["citations"]
    assert written[1]["content"] == page


def test_result_that_the_sdk_would_refuse_is_not_written_as_provider_json() -> None:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_result", "url": "https://a.b", "title": "T"}
    blocks = [call, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]}]
    encoded = convert(asked_of(blocks), source="anthropic-messages", target=API, kind="request")
    assert "web_search_result" not in str(encoded.payload)


@pytest.mark.parametrize("target", [API, "vercel-ui-messages"])
def test_unknown_fields_of_results_of_anthropic_are_a_loss(target: str) -> None:
    payload = asked_of(fetched(unknown=[7]))
    encoded = convert(payload, source="anthropic-messages", target=target, kind="request")
    assert audit(payload, encoded) == []
