"""Hosted tools: unknown ones, failures, and how both cross to other APIs."""

from __future__ import annotations

from typing import Any

import pytest

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatRequest,
    ErrorContent,
    HostedTool,
    HostedToolCallContent,
    HostedToolResultContent,
    UnknownContent,
    audit,
    convert,
    dumps,
    loads,
)
from contentmodel.engine.context import EncodeContext
from contentmodel_adapters.openai.responses.items import MCP_ERROR
from contentmodel_conformance.oracles.hosted import FAILURES, SUCCESSES, payload_of

ANTHROPIC, RESPONSES, GOOGLE, INTERACTIONS, CHAT, BEDROCK = (
    "anthropic-messages",
    "openai-responses",
    "google-generate-content",
    "google-interactions",
    "openai-chat",
    "bedrock-converse",
)
KINDS = ("request", "response")


def decoded(api: str, kind: str, payload: Any) -> Any:
    """Return the decoded payload. Check that it is encoded to the same payload, without a loss."""
    adapter = contentmodel.adapter(api)
    value = getattr(adapter, f"decode_{kind}")(payload)
    encoded = getattr(adapter, f"encode_{kind}")(value)
    assert (encoded.payload, encoded.losses) == (payload, ())
    return value


def contents_of(value: Any) -> list[Any]:
    return [content for message in value.messages for content in message.contents]


def hosted_of(value: Any) -> list[Any]:
    return [c for c in contents_of(value) if isinstance(c, HostedToolCallContent | HostedToolResultContent)]


UNKNOWN: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "Anthropic, a list": (
        ANTHROPIC,
        [
            {"type": "server_tool_use", "id": "t1", "name": "quantum", "input": {"a": 1}},
            {"type": "quantum_tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "done"}]},
        ],
    ),
    "Anthropic, an object of an unknown type": (
        ANTHROPIC,
        [
            {"type": "quantum_tool_use", "id": "t1", "name": "quantum", "input": {"a": 1}},
            {"type": "quantum_tool_result", "tool_use_id": "t1", "content": {"type": "qubits", "text": "done", "n": 1}},
        ],
    ),
    "Anthropic, a string": (
        ANTHROPIC,
        [
            {"type": "server_tool_use", "id": "t1", "name": "quantum", "input": {"a": 1}},
            {"type": "quantum_tool_result", "tool_use_id": "t1", "output": "done"},
        ],
    ),
    "Responses, one item": (
        RESPONSES,
        [{"type": "quantum_call", "id": "t1", "arguments": '{"a":1}', "outputs": [{"type": "logs", "logs": "done"}]}],
    ),
    "Responses, two items": (
        RESPONSES,
        [
            {"type": "quantum_call", "id": "i1", "call_id": "t1", "status": "completed", "arguments": '{"a":1}'},
            {"type": "quantum_call_output", "id": "o1", "call_id": "t1", "output": [{"type": "x", "text": "done"}]},
        ],
    ),
    "Gemini": (
        GOOGLE,
        [
            {"toolCall": {"id": "t1", "toolType": "quantum", "args": {"a": 1}}},
            {"toolResponse": {"id": "t1", "toolType": "quantum", "response": {"output": "done"}}},
        ],
    ),
    "Responses, a result": (
        RESPONSES,
        [
            {"type": "quantum_call", "id": "i1", "call_id": "t1", "arguments": '{"a":1}'},
            {"type": "quantum_result", "id": "o1", "call_id": "t1", "output": "done", "score": 2},
        ],
    ),
    "Responses, an output": (
        RESPONSES,
        [
            {"type": "quantum_call", "id": "i1", "call_id": "t1", "arguments": '{"a":1}'},
            {"type": "quantum_output", "call_id": "t1", "content": [{"type": "output_text", "text": "done"}]},
        ],
    ),
    "Gemini, parts with keys of their own": (
        GOOGLE,
        [
            {"quantumCall": {"id": "t1", "args": {"a": 1}}, "thoughtSignature": "c2lnbg=="},
            {"quantumResult": {"id": "t1", "output": "done", "score": 2}},
        ],
    ),
    "Gemini, parts with keys in snake case": (
        GOOGLE,
        [
            {"quantum_call": {"id": "t1", "args": {"a": 1}}},
            {"quantum_response": {"id": "t1", "response": {"output": "done"}}, "thought_signature": "c2lnbg=="},
        ],
    ),
    "Interactions": (
        INTERACTIONS,
        [
            {"type": "quantum_call", "id": "t1", "arguments": {"a": 1}, "signature": "AAAA"},
            {"type": "quantum_result", "call_id": "t1", "result": "done"},
        ],
    ),
    "Interactions, an output": (
        INTERACTIONS,
        [
            {"type": "quantum_call", "id": "t1", "arguments": {"a": 1}},
            {"type": "quantum_output", "id": "t1", "output": [{"type": "text", "text": "done"}]},
        ],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", sorted(UNKNOWN))
def test_unknown_hosted_tool_decodes_to_base_classes(case: str, kind: str) -> None:
    api, blocks = UNKNOWN[case]
    call, result = hosted_of(decoded(api, kind, payload_of(api, kind, blocks)))
    assert (call.__class__, result.__class__) == (HostedToolCallContent, HostedToolResultContent)
    assert (call.call_id, call.name, call.arguments_object) == ("t1", "quantum", {"a": 1})
    assert (result.call_id, result.name, result.text, result.error) == ("t1", "quantum", "done", None)


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES, GOOGLE, CHAT])
@pytest.mark.parametrize("case", sorted(UNKNOWN))
def test_unknown_hosted_tool_converts_to_function_call(case: str, target: str) -> None:
    api, blocks = UNKNOWN[case]
    if api == target:
        return
    payload = payload_of(api, "request", blocks)
    encoded = convert(payload, source=api, target=target, model="gemini-2.5-pro" if target == GOOGLE else "m")
    contents = contents_of(contentmodel.adapter(target).decode_request(encoded.payload))
    call = next(c for c in contents if isinstance(c, contentmodel.FunctionCallContent))
    result = next(c for c in contents if isinstance(c, contentmodel.FunctionResultContent))
    assert (call.name, call.arguments_object) == ("quantum", {"a": 1})
    assert (result.call_id, result.text, result.error) == (call.call_id, "done", None)
    assert not audit(payload, encoded)


# -- failures ----------------------------------------------------------------------------------------------------------

FAILING = [(api, name) for api, cases in FAILURES.items() for name in cases]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("api", "case"), FAILING)
def test_failed_hosted_tool_has_error_content_in_outputs(api: str, case: str, kind: str) -> None:
    value = decoded(api, kind, payload_of(api, kind, FAILURES[api][case]))
    result = hosted_of(value)[-1]
    assert result.error is not None
    assert any(isinstance(output, ErrorContent) for output in result.outputs)
    assert loads(dumps(value)) == value


@pytest.mark.parametrize(("api", "case"), [(api, name) for api, cases in SUCCESSES.items() for name in cases])
def test_successful_hosted_tool_has_no_error(api: str, case: str) -> None:
    for kind in KINDS:
        assert hosted_of(decoded(api, kind, payload_of(api, kind, SUCCESSES[api][case])))[-1].error is None


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES, GOOGLE, CHAT])
@pytest.mark.parametrize(("api", "case"), FAILING)
def test_failed_hosted_tool_converts_to_failed_function_result(api: str, case: str, target: str) -> None:
    if api == target:
        return
    payload = payload_of(api, "request", FAILURES[api][case])
    encoded = convert(payload, source=api, target=target)
    results = contents_of(contentmodel.adapter(target).decode_request(encoded.payload))
    failed = [c for c in results if isinstance(c, contentmodel.FunctionResultContent)][-1]
    assert failed.error is not None
    assert not audit(payload, encoded)


def test_stderr_and_exit_code_of_shell_are_decoded_and_converted() -> None:
    blocks = FAILURES[RESPONSES]["an exit code"]
    payload = payload_of(RESPONSES, "request", blocks)
    result = hosted_of(decoded(RESPONSES, "request", payload))[-1]
    assert result.text == "halfno such file"
    assert (result.error.message, result.error.details) == ("exit code 2", {"exit_code": 2})
    messages = convert(payload, source=RESPONSES, target=ANTHROPIC).payload["messages"]
    (given,) = [block for message in messages for block in message["content"] if block["type"] == "tool_result"]
    assert [part["text"] for part in given["content"]] == ["half", "no such file", "exit code 2"]
    assert given["is_error"] is True


# -- calls for the client, and tools that were found -------------------------------------------------------------------


NAMES = {
    ANTHROPIC: {"type": "web_search_20250305", "name": "web_search"},
    RESPONSES: {"type": "web_search"},
    GOOGLE: {"googleSearch": {}},
}


@pytest.mark.parametrize(
    ("api", "wire"), [*NAMES.items(), (BEDROCK, {"systemTool": {"name": "nova_grounding"}})], ids=[*NAMES, BEDROCK]
)
def test_hosted_tool_built_in_code_gets_fixed_name(api: str, wire: Any) -> None:
    encoded = contentmodel.adapter(api).encode_request(asking(HostedTool(kind="web_search", name="search")))
    assert encoded.payload.get("toolConfig", encoded.payload)["tools"] == [wire]
    assert [loss.path for loss in encoded.losses if loss.code == "fixed-name"] == ["$.tools[0].name"]


# -- classes of an application -----------------------------------------------------------------------------------------


class QuantumToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A call of a hosted tool, as a class of an application."""

    qubits: int = 0


class QuantumToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """A result of the tool."""


def test_classes_derived_from_the_hosted_bases_load_as_their_bases() -> None:
    call = QuantumToolCallContent(call_id="t1", name="quantum", arguments={"a": 1}, qubits=3)
    result = QuantumToolResultContent(call_id="t1", outputs=[ErrorContent(message="no")])
    written = dumps([ChatMessage(role="assistant", contents=[call, result])])
    loaded = loads(written)
    base_call, base_result = loaded[0].contents
    assert (base_call.__class__, base_result.__class__) == (HostedToolCallContent, HostedToolResultContent)
    assert (base_call.call_id, base_call.arguments, base_result.error.message) == ("t1", {"a": 1}, "no")
    assert dumps(loaded) == written


def test_newer_hosted_type_with_fields_of_wrong_types_loads_as_unknown_content() -> None:
    written = b'{"contentmodel":2,"kind":"content","value":{"type":"quantum_tool_call","call_id":5}}'
    loaded = loads(written)
    assert isinstance(loaded, UnknownContent)
    assert dumps(loaded) == written


# -- definitions made by hand ------------------------------------------------------------------------------------------


def asking(*tools: Any, **fields: Any) -> ChatRequest:
    """Return a request with these tools, made by hand."""
    messages = [ChatMessage(role="user", contents=[contentmodel.TextContent(text="Go on.")])]
    return ChatRequest(model="m", messages=messages, tools=list(tools), **fields)


def test_function_with_name_of_hosted_tool_is_renamed() -> None:
    function = contentmodel.FunctionTool(name="web_search", parameters={"type": "object"})
    call = contentmodel.FunctionCallContent(call_id="c1", name="web_search", arguments={})
    result = contentmodel.FunctionResultContent(call_id="c1", outputs=[contentmodel.TextContent(text="Done.")])
    request = asking(HostedTool(kind="web_search"), function)
    turns = [ChatMessage(role="assistant", contents=[call]), ChatMessage(role="tool", contents=[result])]
    encoded = contentmodel.adapter(ANTHROPIC).encode_request(
        ChatRequest(model="m", messages=[*request.messages, *turns], tools=request.tools)
    )
    names = [tool["name"] for tool in encoded.payload["tools"]]
    assert names[0] == "web_search"
    assert len(set(names)) == 2
    assert encoded.maps.names == {"web_search": names[1]}
    assert encoded.payload["messages"][1]["content"][0]["name"] == names[1]


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES, GOOGLE, BEDROCK])
def test_function_without_a_name_converts(target: str) -> None:
    wire = {"model": "m", "messages": [{"role": "user", "content": "q"}], "functions": [{"name": None}]}
    assert audit(wire, convert(wire, source=CHAT, target=target, kind="request")) == []


@pytest.mark.parametrize(("message", "expected"), [("", None), ("new", "new")])
def test_message_of_mcp_error_in_a_list_of_texts_can_change(message: str, expected: str | None) -> None:
    content = [{"type": "text", "text": "old"}]
    details = {"type": "mcp_tool_execution_error", "content": content}
    codec = MCP_ERROR
    context = EncodeContext(RESPONSES, "openai", "response")
    written = codec.encode([ErrorContent(message=message, details=details)], context, None)
    assert written["content"] == (expected or content)


SEARCH_OF_X = {
    "type": "custom_tool_call",
    "id": "ctc_1",
    "call_id": "xs_call-1",
    "name": "x_keyword_search",
    "input": '{"query":"q"}',
    "status": "completed",
}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Found.", "annotations": []}],
}
OF_GROK = {"id": "r", "object": "response", "created_at": 1, "model": "grok-4-1-fast", "status": "completed"}


@pytest.mark.parametrize("kind", KINDS)
def test_search_of_x_is_a_hosted_call_of_responses(kind: str) -> None:
    items = [SEARCH_OF_X, MESSAGE]
    payload = {"model": "grok-4-1-fast", "input": items} if kind == "request" else {**OF_GROK, "output": items}
    value = decoded(RESPONSES, kind, payload)
    call, result = hosted_of(value)
    assert (call.call_id, call.name, call.arguments_object) == ("xs_call-1", "x_keyword_search", {"query": "q"})
    assert (call.executor, result.outputs, result.error) == ("provider", [], None)
    assert not value.messages[0].tool_calls
    assert loads(dumps(value)) == value
