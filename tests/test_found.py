"""Regressions: minimal payloads that broke a law in deep runs of the property tests."""

from __future__ import annotations

from typing import Any

import pytest

import contentmodel
from contentmodel import Citation, TextContent
from contentmodel.content import Span, splice_text
from contentmodel_conformance import fairness, laws, streams, voices
from contentmodel_conformance.checks.crossing import accounted, precise


def chat(*messages: dict[str, Any], **rest: Any) -> tuple[str, str, dict[str, Any]]:
    return "openai-chat", "request", {"model": "m", "messages": list(messages), **rest}


def responses(*items: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    return "openai-responses", "request", {"model": "m", "input": list(items)}


def claude(*blocks: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    body = {"id": "", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    return "anthropic-messages", "response", {**body, "stop_reason": "end_turn", "usage": {"input_tokens": 0}}


def gemini(**request: Any) -> tuple[str, str, dict[str, Any]]:
    return "google-generate-content", "request", {"contents": [], **request}


def document(api: str, *items: Any) -> tuple[str, str, Any]:
    """Return a document that is a list: lines of a session file, or messages of a framework."""
    return api, "request", list(items)


def claude_line(**fields: Any) -> dict[str, Any]:
    """Return the line of a prompt in a session of Claude Code."""
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "x"}}
    return {**line, **fields}


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": kind, "payload": payload}


def gemini_answer(*results: Any, **fields: Any) -> dict[str, Any]:
    """Return a record of Gemini CLI with a call for each result."""
    calls = [{"id": f"c{at}", "name": "f", "args": {}, "result": result} for at, result in enumerate(results)]
    return {"id": "a", "type": "gemini", "content": "", "toolCalls": calls, **fields}


PART = {"type": "output_text", "text": "x", "annotations": []}
CITED = {"type": "file_citation", "file_id": "f", "filename": "a", "index": 0}
MESSAGE = {"id": "", "type": "message", "role": "assistant", "status": "completed", "content": [PART]}
SEARCH = {"id": "", "type": "file_search_call", "queries": [""], "status": "completed"}

FOUND = {
    "a refusal among Chat's content parts": chat(
        {"role": "assistant", "content": [{"type": "refusal", "refusal": ""}]}
    ),
    "two refusals in different places": chat(
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "a"}], "refusal": "b"}
    ),
    "both names of the limit": chat(max_completion_tokens=None, max_tokens=0),
    "blank audio is no audio": chat({"role": "assistant", "content": "x", "audio": {"id": "", "data": ""}}),
    "redacted thinking without data": claude({"type": "redacted_thinking", "data": None}),
    "a tool without a name": (
        "anthropic-messages",
        "request",
        {"model": "m", "max_tokens": 1, "messages": [], "tools": [{"name": None, "input_schema": {}}]},
    ),
    "a tool definition without a name": gemini(tools=[{"functionDeclarations": [{"description": "no name"}]}]),
    "an unknown member before the functions": gemini(
        tools=[{"unknown": 5, "functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}, "unknown": None}]
    ),
    "a citation in the second part of a message": responses(
        {**MESSAGE, "content": [PART, {**PART, "annotations": [CITED]}]}
    ),
    "an unknown item behind a message": responses(MESSAGE, {"type": "unknown_item", "x": 1}),
    "an unknown part behind a part": responses({**MESSAGE, "content": [PART, {"type": "unknown_part"}]}),
    "an item whose type is null": responses({"id": "", "type": None}),
    "a message whose type is null": responses({"type": None, "role": "user", "content": "x"}),
    "two hosted calls with one id": responses(MESSAGE, SEARCH, {**SEARCH, "results": [{"text": "found"}]}),
    "a screenshot that is nowhere": responses(
        {"type": "computer_call_output", "call_id": "1", "output": {"type": "computer_screenshot"}}
    ),
    "an image that is nowhere": responses(
        {"type": "message", "role": "user", "content": [{"type": "input_image", "detail": "auto"}]}
    ),
    "no additional tools": responses({"type": "additional_tools", "role": "developer", "tools": []}),
    "a choice of a tool whose type is a list": (
        "openai-responses",
        "request",
        {"model": "m", "input": "x", "tool_choice": {"type": ["function"]}},
    ),
    "a role that is the model's own word": gemini(contents=[{"role": "system", "parts": [{"text": "x"}]}]),
    "an empty key": gemini(**{"": "x"}),
    "an empty key beside a message": responses({"role": "assistant", "content": "x", "": 1}),
    "a lone surrogate that nobody knows": gemini(unknown="\ud800"),
    "a role that is no text": gemini(contents=[{"parts": [{"text": "x"}], "role": {}}]),
    "a hosted tool with null settings": (
        "openai-chat",
        "request",
        {"model": "m", "messages": [], "tools": [{"type": "openrouter:web_search", "parameters": None}]},
    ),
    "a hosted tool with empty settings": chat(tools=[{"type": "openrouter:web_search", "parameters": {}}]),
    "an image that is null": chat({"role": "user", "content": [{"type": "image_url", "image_url": None}]}),
    "an update of nothing": responses({"type": "configuration_update"}),
    "a file of two spellings": gemini(contents=[{"parts": [{"fileData": {"file_uri": "u", "mimeType": "a/b"}}]}]),
    "a tool response under an empty key": gemini(contents=[{"parts": [{"toolResponse": {"response": {"": ""}}}]}]),
    "a function response under an empty key": gemini(
        contents=[{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"": ""}}}]}]
    ),
    "a tool type of two spellings": gemini(
        contents=[{"role": "model", "parts": [{"toolCall": {"id": "1", "tool_type": "FILE_SEARCH"}}]}]
    ),
    "a schema that is null, under another name": gemini(generationConfig={"responseSchema": None}),
    "sources that are null": (
        "google-generate-content",
        "response",
        {"candidates": [{"content": {}, "groundingMetadata": {"groundingChunks": None, "webSearchQueries": ["a"]}}]},
    ),
    "a choice of a function with the name of a custom tool": chat(
        tools=[{"type": "custom", "custom": {"name": "x"}}],
        tool_choice={"type": "function", "function": {"name": "x"}},
    ),
    "a choice of a function with the name of a custom tool in a namespace": (
        "openai-responses",
        "request",
        {
            "model": "m",
            "input": [],
            "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "custom", "name": "x"}]}],
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "x"}]},
        },
    ),
    **{
        f"a result with the exception {exception!r}": document(
            "agent-framework",
            {"role": "tool", "contents": [{"type": "function_result", "call_id": "c", "exception": exception}]},
        )
        for exception in (None, "", [])
    },
    "a preserved message whose id is an object": document(
        "claude-code-session",
        claude_line(),
        claude_line(
            type="system",
            subtype="compact_boundary",
            uuid="b1",
            compactMetadata={"preservedMessages": {"anchorUuid": "u2", "uuids": [{"a": 1}, ["u1"], "u1"]}},
        ),
        claude_line(uuid="u2", parentUuid="b1"),
    ),
    "a prompt with a null of attachments": document("claude-code-session", claude_line(rendered=None)),
    "the shape of a request with a null": document(
        "claude-code-session",
        claude_line(),
        {"type": "api-request-shape", "shapeHash": "h", "shape": {"system": "x", "tools": None}},
    ),
    "the shape of a request with tools that are no list": document(
        "claude-code-session",
        claude_line(),
        {"type": "api-request-shape", "shapeHash": "h", "shape": {"system": None, "tools": {"a": 1}}},
    ),
    "null instructions before those of a session": document(
        "codex-rollout",
        codex("session_meta", base_instructions={"text": None}),
        codex("session_meta", base_instructions={"text": "x"}),
    ),
    "a null model after the one of a session": document(
        "codex-rollout", codex("turn_context", model="m"), codex("turn_context", model=None)
    ),
    "a null history of a compaction": document("codex-rollout", codex("compacted", replacement_history=None)),
    "a turn without a payload": document("codex-rollout", {"type": "turn_context"}, codex("turn_context", model="m")),
    **{
        f"a record of an answer with {value!r} as {field}": document(
            "gemini-cli-session", {"id": "a", "type": "gemini", "content": content, field: value}
        )
        for field in ("thoughts", "toolCalls")
        for value in (None, 5, [None], ["x"])
        for content in ("x", [{"functionCall": {"name": "f"}}])
    },
    **{
        f"a call with the result {result!r} beside another": document(
            "gemini-cli-session", gemini_answer(result, "x", [{"functionResponse": {"name": "f"}}])
        )
        for result in (None, {}, [None], "")
    },
    **{
        f"a null in the list of records of {[*line]}": document("gemini-cli-session", line)
        for line in (
            {"$set": {"messages": [None]}},
            {"$set": {"messages": [{"id": "u", "type": "user", "content": 5}], "history": [None]}},
            {"sessionId": "s", "projectHash": "p", "messages": [None]},
            {"history": [{"role": "user", "parts": [{"text": "x"}]}], "messages": [None]},
            {"id": "n", "type": "info", "content": "x", "messages": [None]},
        )
    },
    **{
        f"a request for approval of {called!r}": document(
            "vercel-model-messages",
            {"role": "assistant", "content": [{"type": "tool-approval-request", "approvalId": "a", **called}]},
        )
        for called in ({}, {"toolCallId": None}, {"toolCallId": {"a": 1}}, {"toolCallId": ["c"]})
    },
    **{
        f"an approval in a part without {missing}": document(
            "vercel-ui-messages", {"id": "m", "role": "assistant", "parts": [{"type": "tool-f", "input": {}, **part}]}
        )
        for missing, part in {
            "the id of its call": {"state": "approval-requested", "approval": {"id": "a"}},
            "the text of its error": {
                "state": "output-error",
                "toolCallId": "c",
                "approval": {"id": "a", "approved": True},
            },
        }.items()
    },
    "a cache point after one of an unknown form": (
        "bedrock-converse",
        "request",
        {
            "modelId": "m",
            "messages": [{"role": "user", "content": [{"cachePoint": {"a": 1}}, {"cachePoint": {"type": "default"}}]}],
            "toolConfig": {"tools": [{"a": 1}, {"cachePoint": {"type": "default"}}]},
        },
    ),
    "the signature of a call of an unknown type": document(
        "inspect-eval-log",
        {
            "role": "assistant",
            "content": [
                {
                    "type": "reasoning",
                    "reasoning": "c2ln",
                    "redacted": True,
                    "internal": {"gemini_function_call_id": "c1"},
                }
            ],
            "tool_calls": [{"id": "c1", "function": "f", "arguments": {}, "type": {"a": 1}}],
        },
    ),
    "the signature of an unnamed provider beside a result of Anthropic": document(
        "langchain-messages",
        {
            "type": "ai",
            "content": [
                {"type": "reasoning", "reasoning": "x", "extras": {"signature": "c2ln"}},
                {"type": "non_standard", "value": {"type": "redacted_thinking", "data": "cmVk"}},
            ],
        },
    ),
    "a search with sources outside of its action": responses(
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search"}, "sources": None}
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_regression_payload_keeps_identity_and_purity(name: str) -> None:
    api, kind, payload = FOUND[name]
    adapter = contentmodel.adapter(api)
    laws.identity(adapter, kind, payload)
    laws.purity(adapter, kind, payload)
    laws.model_json(laws.decode(adapter, kind, payload))


MCP_TOOLS = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "docs", "tools": [{"name": "ask"}]}
LINKED = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 41, "end_index": 57}
IMAGE_CALL = {"type": "image_generation_call", "id": "", "result": "", "status": "in_progress"}
APPROVED = {"type": "mcp_approval_response", "approval_request_id": "", "approve": False}
TOOL_WITH_NULL = {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}, "b": None}}}


def answered(part: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of Chat Completions with one part."""
    message = {"role": "assistant", "content": [part]}
    return {"id": "", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


CROSSED = {
    "results that are all dropped": ("atif", responses(IMAGE_CALL, APPROVED)),
    "half of a surrogate pair among the tools of a server": (
        "sharegpt",
        responses({**MCP_TOOLS, "tools": [{"name": "\x7f", "description": "\ud83d"}], "error": "no"}),
    ),
    "a phase of a message whose parts are all dropped": (
        "codex-rollout",
        responses({"type": "message", "role": "user", "content": [{"type": "input_file"}], "phase": "commentary"}),
    ),
    "the tools of an MCP server": ("pydantic-ai-messages", responses(MCP_TOOLS)),
    "a citation that a request of Responses cannot have": (
        "pydantic-ai-messages",
        responses({**MESSAGE, "content": [{**PART, "text": "x" * 60, "annotations": [LINKED]}]}),
    ),
    "blank text after text that is JSON": (
        "sharegpt",
        responses(
            {**MESSAGE, "content": [{**PART, "text": "[1, 2]"}]}, {**MESSAGE, "content": [{**PART, "text": "\n\n"}]}
        ),
    ),
    "a null in the schema of a tool": (
        "hf-messages",
        ("anthropic-messages", "request", {"model": "m", "max_tokens": 1, "messages": [], "tools": [TOOL_WITH_NULL]}),
    ),
    "a format of audio beside a media type": (
        "inspect-eval-log",
        chat(
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}]},
        ),
    ),
    "an empty object beside the function of a tool": (
        "anthropic-messages",
        ("mistral-chat", "request", {"model": "m", "messages": [], "tools": [{"function": {"name": "f"}, "x": {}}]}),
    ),
    "the link of a document without a title in an answer": (
        "bedrock-converse",
        (
            "mistral-chat",
            "response",
            answered({"type": "resource", "uri": "https://a.example", "content": {"type": "text", "text": "A."}}),
        ),
    ),
    "a finish reason that is a number": (
        "otel-gen-ai",
        ("ollama-chat", "response", {"model": "m", "message": {"role": "assistant", "content": ""}, "done_reason": 7}),
    ),
    "a result without a call, whose id has a line feed": (
        "openai-chat",
        responses({"type": "local_shell_call_output", "id": "]\n", "output": ""}),
    ),
}


@pytest.mark.parametrize("name", CROSSED)
def test_regression_payload_is_converted_without_an_unreported_loss(name: str) -> None:
    target, (source, kind, payload) = CROSSED[name]
    reader, writer = contentmodel.adapter(source), contentmodel.adapter(target)
    accounted(reader, writer, kind, payload)
    precise(reader, writer, kind, payload, most=1000)
    laws.restoration(reader, writer, kind, payload)


BAD = {
    "a message whose role is null": responses({"type": "message", "role": None, "content": "x"}),
    "a message of Claude whose role is null": (
        "anthropic-messages",
        "request",
        {"model": "m", "max_tokens": 1, "messages": [{"role": None, "content": "x"}]},
    ),
    "a tool without a function": ("openai-chat", "request", {"messages": [], "tools": [{"type": "function"}]}),
    "a caller without a type": claude(
        {"type": "tool_use", "id": "1", "name": "f", "input": {}, "caller": {"type": None}}
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_regression_payload_raises_decode_error(name: str) -> None:
    api, kind, payload = BAD[name]
    with pytest.raises(contentmodel.DecodeError):
        laws.decode(contentmodel.adapter(api), kind, payload)


def test_loads_rejects_kind_of_wrong_type() -> None:
    with pytest.raises(contentmodel.DecodeError, match="expected one of"):
        contentmodel.loads(b'{"contentmodel":1,"kind":["x"],"value":{}}')


def test_splice_before_citation_does_not_extend_citation() -> None:
    content = TextContent(text="a", annotations=[Citation(url="u", span=Span(start=0, end=1))])
    edited = splice_text(content, 0, 0, "new ")
    assert edited.annotations == [Citation(url="u", span=Span(start=4, end=5))]


def called(*ids: str) -> dict[str, Any]:
    function = {"name": "f", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": one, "type": "function", "function": function} for one in ids]}


def answered(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": f"result {call_id}"}


def chunk(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    fields = {"content": {"role": "model", "parts": list(parts)}, **candidate}
    return {"data": {"candidates": [fields], "modelVersion": "m", "responseId": "i"}}


@pytest.mark.parametrize("first", [-1, False, None, True])
def test_stream_decoder_merges_reasoning_only_if_thought_is_true(first: Any) -> None:
    """Regression: the fast reader treated any truthy value as the mark of a thought."""
    parts = [{"text": "a", "thought": first}, {"text": "b", "thought": True}, {"text": "c", "thought": True}]
    body = [*map(chunk, parts), chunk({"text": "d"}), chunk({"text": "e"}), chunk(finishReason="STOP")]
    streams.readings(contentmodel.adapter("google-generate-content"), body)


def test_tool_response_does_not_depend_on_key_order() -> None:
    _, _, payload = gemini(contents=[{"parts": [{"toolResponse": {"id": "", "response": {"a": None, "b": None}}}]}])
    fairness.key_order(contentmodel.adapter("google-generate-content"), "request", payload)


def test_law_of_key_order_accepts_json_text_with_a_lone_surrogate() -> None:
    document = {"data": {"_": {"a": None, "b": "\ud83d"}}}
    payload = {"model": "m", "messages": [{"role": "user", "content": "?"}], "documents": [document]}
    fairness.key_order(contentmodel.adapter("cohere-chat"), "request", payload)


def test_key_like_a_note_beside_a_cache_point_changes_no_content() -> None:
    """The content of the block before it stays, although the block is no cache point any more."""
    texts = [{"text": "Look."}, {"cachePoint": {"type": "default"}}, {"text": "Now."}]
    marked = [texts[0], {**texts[1], ":": {"role": "model"}}, texts[2]]
    payloads = tuple({"messages": [{"role": "user", "content": content}]} for content in (texts, marked))
    voices.notes(contentmodel.adapter("bedrock-converse"), payloads)


def test_cache_point_of_a_reference_without_a_name_is_reported() -> None:
    part = {"type": "tool_reference", "tool_name": "", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [part]}
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    payload = {"model": "m", "max_tokens": 9, "messages": messages}
    made = contentmodel.convert(payload, source="anthropic-messages", target="openai-chat")
    assert contentmodel.audit(payload, made) == []
