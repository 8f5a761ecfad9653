"""Model messages of Vercel's AI SDK. Its own functions, in Node, judge what the adapter writes, and what it sends."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_sdk import MODELS, OF_OPENAI, generated, sent, validated
from conftest import needs_node, payloads
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
    JsonContent,
    UnknownContent,
)
from contentmodel_conformance.strategies.transcripts import transcripts

API = "vercel-model-messages"
PROVIDERS = tuple(MODELS)
STORED = payloads("vercel-model-messages")
DOCUMENTS, LOOP = [*STORED.values()], STORED["loop"]
HELLO = STORED["wrapped"]["messages"][0]
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


def written(*contents: Any) -> tuple[list[Any], dict[str, str]]:
    """Return the contents of an assistant message after encoding and decoding, and the losses there."""
    message = ChatMessage(role="assistant", contents=list(contents))
    encoded = adapter(API).encode_request(ChatRequest(messages=[message], origin=Origin(api=API, issuer="")))
    losses = {loss.path: loss.code for loss in encoded.losses if loss.path.startswith("$.messages")}
    return decoded(encoded.payload).messages[0].contents, losses


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
    request = decoded(STORED["approvals"])
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
