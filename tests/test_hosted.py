"""Hosted tools: unknown ones, failures, and how both cross to other APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ErrorContent,
    HostedTool,
    HostedToolCallContent,
    HostedToolResultContent,
    UnknownContent,
    audit,
    convert,
    dumps,
    fold_stream,
    loads,
    unfold,
)
from contentmodel.content import ToolSearchToolCallContent, ToolSearchToolResultContent
from contentmodel.engine.context import EncodeContext
from contentmodel_adapters.openai.responses.items import MCP_ERROR
from contentmodel_conformance import laws, streams
from contentmodel_conformance.oracles import judge
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


@pytest.mark.parametrize("case", sorted(UNKNOWN))
def test_stream_with_unknown_hosted_tool_folds_to_base_classes(case: str) -> None:
    api, blocks = UNKNOWN[case]
    response = decoded(api, "response", payload_of(api, "response", blocks))
    raw, losses = streams.encode(contentmodel.adapter(api), list(unfold(response)))
    assert not losses
    call, result = hosted_of(fold_stream([raw], api))
    assert (call.name, result.name, result.text) == ("quantum", "quantum", "done")


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


INVALID_BLOCKS = {
    "a text that is a number": (
        ANTHROPIC,
        {"type": "quantum_tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": 5}]},
    ),
    "a number as the id of a call": (RESPONSES, {"type": "quantum_result", "call_id": 5, "output": "x"}),
    "a part whose text is a number": (
        RESPONSES,
        {"type": "quantum_call", "id": "i", "output": [{"type": "input_text", "text": 5}]},
    ),
    "a call without an id": (CHAT, {"type": "quantum", "quantum": {}}),
    "a type that is only an ending": (RESPONSES, {"type": "_result", "id": "i", "output": "x"}),
    "a key that is only an ending": (GOOGLE, {"Result": {"id": "i", "output": "x"}}),
    "a part that is no object": (GOOGLE, {"quantumResult": "x"}),
    "two unknown keys": (GOOGLE, {"quantumResult": {"output": "x"}, "other": {}}),
    "a known part that is no object": (GOOGLE, {"codeExecutionResult": "x"}),
    "the second spelling of a known part": (GOOGLE, {"toolCall": 5, "tool_call": {"id": "i"}}),
}


@pytest.mark.parametrize("case", sorted(INVALID_BLOCKS))
def test_unknown_block_with_fields_of_wrong_types_decodes_to_unknown_content(case: str) -> None:
    api, block = INVALID_BLOCKS[case]
    for kind in KINDS:
        value = decoded(api, kind, payload_of(api, kind, [block]))
        assert [c.block for c in contents_of(value) if isinstance(c, UnknownContent)] == [block]


WITHOUT_IDS = {
    "Anthropic, a call": (ANTHROPIC, {"type": "quantum_tool_use", "name": "quantum", "input": {}}),
    "Anthropic, a result": (ANTHROPIC, {"type": "quantum_tool_result", "content": "x"}),
    "Anthropic, a number": (ANTHROPIC, {"type": "quantum_tool_result", "tool_use_id": 5, "content": []}),
    "Responses, a call": (RESPONSES, {"type": "quantum_call", "query": "x"}),
    "Responses, a null": (RESPONSES, {"type": "quantum_call", "id": None, "call_id": None, "query": "x"}),
    "Responses, a number": (RESPONSES, {"type": "quantum_call", "id": 5, "output": "x"}),
    "Responses, a result": (RESPONSES, {"type": "quantum_result", "output": "x"}),
    "Gemini, a call": (GOOGLE, {"quantumCall": {"query": "x"}}),
    "Gemini, a result": (GOOGLE, {"quantumResult": {"score": 2}, "videoMetadata": {"fps": 1}}),
    "Interactions, a call": (INTERACTIONS, {"type": "quantum_call"}),
    "Interactions, a result": (INTERACTIONS, {"type": "quantum_result", "result": {"score": 2}}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", sorted(WITHOUT_IDS))
def test_block_of_unknown_tool_without_an_id_is_hosted(case: str, kind: str) -> None:
    api, block = WITHOUT_IDS[case]
    payload = payload_of(api, kind, [block])
    hosted = hosted_of(decoded(api, kind, payload))
    assert {content.name for content in hosted} == {"quantum"}
    for target in {ANTHROPIC, RESPONSES, GOOGLE, INTERACTIONS, CHAT} - {api}:
        assert not audit(payload, convert(payload, source=api, target=target, kind=kind))


def test_edited_outputs_of_unknown_part_are_encoded() -> None:
    adapter = contentmodel.adapter(GOOGLE)
    block = {"quantumResult": {"id": "t1", "output": "old", "score": 2}}
    response = adapter.decode_response(payload_of(GOOGLE, "response", [block]))
    (result,) = hosted_of(response)
    result.outputs[0] = contentmodel.TextContent(text="new", extra=result.outputs[0].extra)
    (part,) = adapter.encode_response(response).payload["candidates"][0]["content"]["parts"]
    assert part == {"quantumResult": {"id": "t1", "output": "new", "score": 2}}


def test_hint_of_unknown_part_does_not_change_the_kind_of_a_content() -> None:
    """Stored documents can have any hint."""
    adapter = contentmodel.adapter(GOOGLE)
    response = adapter.decode_response(payload_of(GOOGLE, "response", [{"quantumCall": {"id": "t1"}}]))
    (call,) = hosted_of(response)
    response.messages[0].contents[:] = [HostedToolResultContent(call_id="t1", name="quantum", extra=call.extra)]
    (part,) = adapter.encode_response(response).payload["candidates"][0]["content"]["parts"]
    assert list(part) == ["toolResponse"]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "web_search_tool_result_error", "error_code": "unavailable"},
        [{"type": "web_search_tool_result_error", "error_code": "unavailable"}],
        {"type": "other_error", "error_code": "unavailable"},
        [{"type": "other_error", "error_code": "unavailable"}],
        {"type": "web_search_result", "url": "https://example.com", "title": "a"},
        {"type": "nothing_known"},
        [{"type": "nothing_known"}],
        "words",
        [],
        None,
    ],
)
def test_anthropic_keeps_form_of_web_search_content(content: Any) -> None:
    block = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": content}
    for kind in KINDS:
        decoded(ANTHROPIC, kind, payload_of(ANTHROPIC, kind, [block]))


def test_chat_decodes_builtin_function_as_hosted_call() -> None:
    call = {"id": "c1", "type": "builtin_function", "function": {"name": "$web_search", "arguments": "{}"}}
    for kind in KINDS:
        (hosted,) = hosted_of(decoded(CHAT, kind, payload_of(CHAT, kind, [call])))
        assert (hosted.call_id, hosted.name, hosted.executor) == ("c1", "$web_search", "client")


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


def test_edited_stderr_of_shell_is_encoded() -> None:
    adapter = contentmodel.adapter(RESPONSES)
    payload = payload_of(RESPONSES, "request", FAILURES[RESPONSES]["an exit code"])
    request = adapter.decode_request(payload)
    result = hosted_of(request)[-1]
    result.outputs[1] = contentmodel.TextContent(text="edited", extra=result.outputs[1].extra)
    output = adapter.encode_request(request).payload["input"][-1]["output"]
    assert output == [{"stdout": "half", "stderr": "edited", "outcome": {"type": "exit", "exit_code": 2}}]


def test_gemini_url_context_failures_decode_to_error_contents() -> None:
    payload = payload_of(GOOGLE, "response", [{"text": "So."}])
    statuses = {"https://a.example": "ERROR", "https://b.example": "SUCCESS", "https://c.example": "PAYWALL"}
    payload["candidates"][0]["urlContextMetadata"] = {
        "urlMetadata": [
            {"retrievedUrl": url, "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{word}"}
            for url, word in statuses.items()
        ]
    }
    result = hosted_of(decoded(GOOGLE, "response", payload))[-1]
    assert [output.__class__.__name__ for output in result.outputs] == ["ErrorContent", "UriContent", "ErrorContent"]
    assert result.error.code == "URL_RETRIEVAL_STATUS_ERROR"
    assert "https://a.example" in result.error.message


# -- calls for the client, and tools that were found -------------------------------------------------------------------

CLIENT_CALLS = {
    "shell": {"type": "shell_call", "id": "i1", "call_id": "c1", "action": {"commands": ["ls"]}},
    "apply_patch": {
        "type": "apply_patch_call",
        "id": "i1",
        "call_id": "c1",
        "operation": {"type": "delete_file", "path": "a"},
    },
}


@pytest.mark.parametrize("target", [ANTHROPIC, GOOGLE, CHAT])
@pytest.mark.parametrize("name", sorted(CLIENT_CALLS))
def test_hosted_call_for_client_converts_to_function_call_in_response(name: str, target: str) -> None:
    payload = payload_of(RESPONSES, "response", [{**CLIENT_CALLS[name], "status": "completed"}])
    encoded = convert(payload, source=RESPONSES, target=target)
    response = contentmodel.adapter(target).decode_response(encoded.payload)
    (call,) = [c for c in contents_of(response) if isinstance(c, contentmodel.FunctionCallContent)]
    assert (call.call_id, call.name) == ("c1", name)
    assert response.choices[0].finish_reason.reason == "tool_calls"
    assert not audit(payload, encoded)


@pytest.mark.parametrize(
    ("api", "blocks"),
    [
        (
            ANTHROPIC,
            [
                {"type": "server_tool_use", "id": "t1", "name": "tool_search_tool_bm25", "input": {"query": "rain"}},
                {
                    "type": "tool_search_tool_result",
                    "tool_use_id": "t1",
                    "content": {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": "get_weather"}],
                    },
                },
            ],
        ),
        (
            RESPONSES,
            [
                {"type": "tool_search_call", "call_id": "t1", "arguments": {"query": "rain"}, "execution": "server"},
                {
                    "type": "tool_search_output",
                    "call_id": "t1",
                    "execution": "server",
                    "tools": [{"type": "function", "name": "get_weather", "parameters": None, "strict": None}],
                },
            ],
        ),
    ],
)
def test_tools_found_by_tool_search_are_in_converted_result(api: str, blocks: list[dict[str, Any]]) -> None:
    payload = payload_of(api, "request", blocks)
    encoded = convert(payload, source=api, target=CHAT)
    (result,) = [message for message in encoded.payload["messages"] if message["role"] == "tool"]
    assert "get_weather" in result["content"]


@pytest.mark.parametrize(
    ("execution", "executor"), [("client", "client"), ("server", "provider"), (None, "provider"), ([], "provider")]
)
def test_executor_of_tool_search_follows_its_execution_field(execution: Any, executor: str) -> None:
    call = {"type": "tool_search_call", "id": "ts_1", "call_id": "t1", "arguments": {}, "execution": execution}
    output = {"type": "tool_search_output", "call_id": "t1", "tools": [], "execution": execution}
    request = contentmodel.adapter(RESPONSES).decode_request({"model": "m", "input": [call, output]})
    assert [c.executor for message in request.messages for c in message.contents] == [executor, executor]
    assert contentmodel.adapter(RESPONSES).encode_request(request).payload["input"] == [call, output]
    begun = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress", "output": []}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
        {"type": "response.completed", "response": {**begun, "status": "completed", "output": [call]}},
    ]
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    folded = fold_stream(stream, RESPONSES)
    assert [c.executor for c in folded.messages[0].contents] == [executor]


@pytest.mark.parametrize(
    ("executor", "execution"), [("client", "client"), ("provider", "server"), ("somebody", "server")]
)
def test_tool_search_built_in_code_gets_execution_field_from_executor(executor: str, execution: str) -> None:
    contents: list[Any] = [
        ToolSearchToolCallContent(call_id="t1", arguments={}, executor=executor),
        ToolSearchToolResultContent(call_id="t1", tools=[], executor=executor),
    ]
    message = ChatMessage(role="assistant", contents=contents)
    made = ChatResponse(model="m", choices=[ChatChoice(messages=[message])])
    items = contentmodel.adapter(RESPONSES).encode_response(made).payload["output"]
    assert [item.get("execution") for item in items] == [execution, execution]


SCREEN_SIZE = {"display_width_px": 800, "display_height_px": 600}
TYPES = {
    "claude-opus-5-5": ("computer_toolset_20260801", "text_editor_20250728", "bash_20250124"),
    "claude-opus-99": ("computer_toolset_20260801", "text_editor_20250728", "bash_20250124"),
    "claude-opus-5": ("computer_20251124", "text_editor_20250728", "bash_20250124"),
    "claude-opus-4-6": ("computer_20251124", "text_editor_20250728", "bash_20250124"),
    "claude-sonnet-4-5": ("computer_20250124", "text_editor_20250728", "bash_20250124"),
    "claude-3-7-sonnet-latest": ("computer_20250124", "text_editor_20250124", "bash_20250124"),
    "claude-3-5-sonnet-20241022": ("computer_20241022", "text_editor_20241022", "bash_20241022"),
}


@pytest.mark.parametrize("model", TYPES)
def test_hosted_tool_built_in_code_gets_type_for_model(model: str) -> None:
    tools: list[Any] = [
        HostedTool(kind="computer", name="computer", settings=SCREEN_SIZE),
        HostedTool(kind="text_editor", name="str_replace_based_edit_tool"),
        HostedTool(kind="shell"),
    ]
    request = ChatRequest(model=model, messages=[contentmodel.user("Hi.")], tools=tools)
    encoded = contentmodel.adapter(ANTHROPIC).encode_request(request)
    assert tuple(tool["type"] for tool in encoded.payload["tools"]) == TYPES[model]
    assert judge(ANTHROPIC, "request").faults(encoded.payload) == []


NAMES = {
    ANTHROPIC: {"type": "web_search_20250305", "name": "web_search"},
    RESPONSES: {"type": "web_search"},
    GOOGLE: {"googleSearch": {}},
}


@pytest.mark.parametrize("api", NAMES)
def test_hosted_tool_of_another_api_gets_fixed_name_of_target(api: str) -> None:
    tools = [{"systemTool": {"name": "nova_grounding"}}]
    payload = {"messages": [{"role": "user", "content": [{"text": "Hi."}]}], "toolConfig": {"tools": tools}}
    encoded = convert(payload, source=BEDROCK, target=api)
    assert encoded.payload["tools"] == [NAMES[api]]
    lost = [loss.code for loss in encoded.losses if loss.path == "$.toolConfig.tools[0].systemTool.name"]
    assert lost == ["no-field" if api == GOOGLE else "fixed-name"]
    assert audit(payload, encoded) == []


@pytest.mark.parametrize(
    ("api", "wire"), [*NAMES.items(), (BEDROCK, {"systemTool": {"name": "nova_grounding"}})], ids=[*NAMES, BEDROCK]
)
def test_hosted_tool_built_in_code_gets_fixed_name(api: str, wire: Any) -> None:
    encoded = contentmodel.adapter(api).encode_request(asking(HostedTool(kind="web_search", name="search")))
    assert encoded.payload.get("toolConfig", encoded.payload)["tools"] == [wire]
    assert [loss.path for loss in encoded.losses if loss.code == "fixed-name"] == ["$.tools[0].name"]


def test_settings_that_tool_type_does_not_have_are_reported() -> None:
    tool = HostedTool(kind="computer", settings={**SCREEN_SIZE, "configs": {"zoom": {"enabled": False}}})
    request = ChatRequest(model="claude-opus-5-5", messages=[contentmodel.user("Hi.")], tools=[tool])
    encoded = contentmodel.adapter(ANTHROPIC).encode_request(request)
    assert encoded.payload["tools"] == [
        {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}},
    ]
    lost = [(loss.code, loss.path) for loss in encoded.losses if loss.path.startswith("$.tools")]
    assert lost == [("tool-setting", f"$.tools[0].settings.{name}") for name in SCREEN_SIZE]


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

MCP = {"server_label": "docs", "server_url": "https://mcp.example"}
SCREEN = {"display_width_px": 800, "display_height_px": 600}
SENT: dict[str, list[tuple[HostedTool, Any]]] = {
    ANTHROPIC: [
        (
            HostedTool(kind="web_search", settings={"max_uses": 3}),
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        ),
        (HostedTool(kind="web_fetch"), {"type": "web_fetch_20250910", "name": "web_fetch"}),
        (HostedTool(kind="code_interpreter"), {"type": "code_execution_20250825", "name": "code_execution"}),
        (HostedTool(kind="shell"), {"type": "bash_20250124", "name": "bash"}),
        (HostedTool(kind="computer"), {"type": "computer_toolset_20260801"}),
        (
            HostedTool(kind="computer", settings=SCREEN),
            {"type": "computer_20251124", "name": "computer", **SCREEN},
        ),
        (
            HostedTool(kind="mcp", settings={"mcp_server_name": "docs"}),
            {"type": "mcp_toolset", "mcp_server_name": "docs"},
        ),
    ],
    RESPONSES: [
        (HostedTool(kind="mcp", settings=MCP), {"type": "mcp", **MCP}),
        (HostedTool(kind="code_interpreter"), {"type": "code_interpreter", "container": {"type": "auto"}}),
        (
            HostedTool(kind="code_interpreter", settings={"container": "cntr_1"}),
            {"type": "code_interpreter", "container": "cntr_1"},
        ),
        (
            HostedTool(kind="file_search", settings={"vector_store_ids": ["vs_1"]}),
            {"type": "file_search", "vector_store_ids": ["vs_1"]},
        ),
        (HostedTool(kind="shell"), {"type": "shell"}),
        (HostedTool(kind="computer"), {"type": "computer"}),
    ],
    GOOGLE: [
        (HostedTool(kind="web_search"), {"googleSearch": {}}),
        (HostedTool(kind="maps", settings={"enableWidget": True}), {"googleMaps": {"enableWidget": True}}),
        (
            HostedTool(kind="file_search", settings={"fileSearchStoreNames": ["fileSearchStores/a"]}),
            {"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/a"]}},
        ),
        (HostedTool(kind="mcp", settings={"name": "docs"}), {"mcpServers": [{"name": "docs"}]}),
    ],
}
NOT_SENT = {
    ANTHROPIC: {"image_generation": "no-hosted-tool", "mcp": "needs-settings"},
    RESPONSES: {"web_fetch": "no-hosted-tool", "mcp": "needs-settings", "file_search": "needs-settings"},
    GOOGLE: {"memory": "no-hosted-tool", "file_search": "needs-settings"},
    CHAT: {"web_search": "no-block", "mcp": "no-block"},
}


def asking(*tools: Any, **fields: Any) -> ChatRequest:
    """Return a request with these tools, made by hand."""
    messages = [ChatMessage(role="user", contents=[contentmodel.TextContent(text="Go on.")])]
    return ChatRequest(model="m", messages=messages, tools=list(tools), **fields)


@pytest.mark.parametrize(("api", "tool", "wire"), [(api, *case) for api, cases in SENT.items() for case in cases])
def test_hosted_tool_built_in_code_is_encoded(api: str, tool: HostedTool, wire: Any) -> None:
    # The newest models have a set of tools without settings.
    model = "claude-opus-5" if tool.settings == SCREEN else None
    encoded = contentmodel.adapter(api).encode_request(asking(tool), model=model)
    assert encoded.payload["tools"] == [wire]
    assert not [loss for loss in encoded.losses if "Tool" in loss.what]
    laws.acceptance(judge(api, "request"), encoded)


@pytest.mark.parametrize(("api", "tool"), [(api, tool) for api, cases in SENT.items() for tool, _ in cases])
def test_hosted_tool_given_twice_is_encoded_twice_or_reported(api: str, tool: HostedTool) -> None:
    encoded = contentmodel.adapter(api).encode_request(asking(tool, tool))
    repeated = [loss for loss in encoded.losses if loss.code == "repeated-tool"]
    lists = [tool.get("mcpServers", [tool]) for tool in encoded.payload["tools"]]
    assert sum(map(len, lists)) + len(repeated) == 2
    assert [loss.path for loss in repeated] in ([], ["$.tools[1]"])


@pytest.mark.parametrize(("api", "kind"), [(api, kind) for api, kinds in NOT_SENT.items() for kind in kinds])
def test_hosted_tool_is_dropped_and_reported_if_api_cannot_represent_it(api: str, kind: str) -> None:
    encoded = contentmodel.adapter(api).encode_request(asking(HostedTool(kind=kind)))
    assert "tools" not in encoded.payload
    assert [loss.code for loss in encoded.losses if "HostedTool" in loss.what] == [NOT_SENT[api][kind]]


def test_hosted_tool_settings_of_another_api_are_dropped_and_reported() -> None:
    payload = {"model": "m", "input": "Hi.", "tools": [{"type": "mcp", **MCP}, {"type": "code_interpreter"}]}
    encoded = convert(payload, source=RESPONSES, target=GOOGLE)
    assert encoded.payload["tools"] == [{"codeExecution": {}}]
    assert [loss.code for loss in encoded.losses if loss.path == "$.tools[0]"] == ["needs-settings"]


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


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "google-generate-content"])
@pytest.mark.parametrize(
    ("items", "sign"),
    [
        (
            [{"type": "web_search_call", "id": "w", "status": "failed", "action": {"type": "search"}}],
            "$.input[1].status",
        ),
        (
            [
                {
                    "type": "code_interpreter_call",
                    "id": "i",
                    "code": "1/0",
                    "status": "failed",
                    "outputs": [{"type": "logs", "logs": "Zero."}],
                }
            ],
            "$.input[1].status",
        ),
        (
            [
                {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}, "status": "completed"},
                {
                    "type": "shell_call_output",
                    "call_id": "s",
                    "output": [{"stdout": "out", "stderr": "err", "outcome": {"type": "exit", "exit_code": 2}}],
                },
            ],
            "$.input[2].output[0].outcome.exit_code",
        ),
    ],
)
def test_loss_of_failure_that_became_text_has_only_the_path_of_its_sign(
    items: list[dict[str, Any]], sign: str, target: str
) -> None:
    payload = {"model": "gpt-5.2", "input": [{"role": "user", "content": "Hi."}, *items]}
    encoded = convert(payload, source="openai-responses", target=target)
    codes = {"as-text", "error-as-text", "no-field", "provider-field"}
    lost = [(loss.kind, loss.path) for loss in encoded.losses if loss.code in codes]
    assert lost == [("degraded", sign)]
    assert audit(payload, encoded) == []


def test_failed_call_of_unknown_tool_has_message_of_its_error() -> None:
    call = {"type": "quantum_call", "id": "q", "status": "failed", "query": "z", "result": "part", "error": "boom"}
    payload = {"model": "m", "input": [{"role": "user", "content": "Hi."}, call]}
    request = contentmodel.adapter("openai-responses").decode_request(payload)
    result = request.messages[-1].contents[-1]
    assert isinstance(result, HostedToolResultContent)
    assert result.error is not None
    assert result.error.message == "boom"
    assert contentmodel.adapter("openai-responses").encode_request(request).payload == payload
    encoded = convert(payload, source="openai-responses", target="anthropic-messages")
    [block] = encoded.payload["messages"][-1]["content"]
    assert block["is_error"] is True
    assert [part["text"] for part in block["content"]] == ["part", "boom"]
    assert audit(payload, encoded) == []


BASH = {"type": "bash_20250124", "name": "bash"}
FORCED = {"type": "tool", "name": "bash"}
FUNCTION = {"name": "f", "input_schema": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("api", "tools", "expected"),
    [
        (GOOGLE, [BASH, FUNCTION], {"functionCallingConfig": {"mode": "AUTO"}}),
        (GOOGLE, [BASH], None),
        (RESPONSES, [BASH, FUNCTION], "auto"),
        (RESPONSES, [BASH], None),
        (CHAT, [BASH, FUNCTION], "auto"),
        (CHAT, [BASH], None),
    ],
)
def test_choice_of_hosted_tool_that_is_left_out_forces_no_other_tool(api: str, tools: list[Any], expected: Any) -> None:
    messages = [{"role": "user", "content": "q"}]
    wire = {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools, "tool_choice": FORCED}
    encoded = convert(wire, source=ANTHROPIC, target=api, kind="request")
    assert encoded.payload.get("toolConfig" if api == GOOGLE else "tool_choice") == expected
    assert audit(wire, encoded) == []
    assert any(loss.path.startswith("$.tool_choice") for loss in encoded.losses)


def test_required_call_is_not_sent_without_tools() -> None:
    messages = [{"role": "user", "content": "q"}]
    wire = {"model": "m", "max_tokens": 9, "messages": messages, "tools": [BASH], "tool_choice": {"type": "any"}}
    assert "toolConfig" not in convert(wire, source=ANTHROPIC, target=GOOGLE, kind="request").payload


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES, GOOGLE, BEDROCK])
def test_function_without_a_name_converts(target: str) -> None:
    wire = {"model": "m", "messages": [{"role": "user", "content": "q"}], "functions": [{"name": None}]}
    assert audit(wire, convert(wire, source=CHAT, target=target, kind="request")) == []


@pytest.mark.parametrize("text", ["city not found", ""])
def test_mcp_error_has_the_texts_of_its_list(text: str) -> None:
    content = [{"type": "text", "text": text, "annotations": None}]
    error = {"type": "mcp_tool_execution_error", "content": content}
    item = {"type": "mcp_call", "id": "i", "server_label": "s", "name": "n", "arguments": "{}", "error": error}
    wire = {"object": "response", "status": "completed", "output": [item]}
    adapter = contentmodel.adapter(RESPONSES)
    response = adapter.decode_response(wire)
    [failure] = response.messages[0].contents[-1].outputs
    assert failure.message == text
    assert adapter.encode_response(response).payload == wire


@pytest.mark.parametrize(("message", "expected"), [("", None), ("new", "new")])
def test_message_of_mcp_error_in_a_list_of_texts_can_change(message: str, expected: str | None) -> None:
    content = [{"type": "text", "text": "old"}]
    details = {"type": "mcp_tool_execution_error", "content": content}
    codec = MCP_ERROR
    context = EncodeContext(RESPONSES, "openai", "response")
    written = codec.encode([ErrorContent(message=message, details=details)], context, None)
    assert written["content"] == (expected or content)


@pytest.mark.parametrize("indices", [[0, 1], [1, 0, 9], [2, 1, 0, 0], [0], []])
def test_grounding_support_has_a_citation_for_each_source(indices: list[int]) -> None:
    web = [{"web": {"uri": f"https://{name}", "title": name}} for name in "ab"]
    chunks = [*web, {"retrievedContext": {"text": "x"}}]
    support = {"segment": {"endIndex": 4}, "groundingChunkIndices": indices, "confidenceScores": [0.5] * len(indices)}
    grounding = {"webSearchQueries": ["q"], "groundingChunks": chunks, "groundingSupports": [support, support]}
    content = {"role": "model", "parts": [{"text": "text and more"}]}
    wire = {"candidates": [{"content": content, "finishReason": "STOP", "groundingMetadata": grounding}]}
    response = contentmodel.adapter(GOOGLE).decode_response(wire)
    assert contentmodel.adapter(GOOGLE).encode_response(response).payload == wire
    stream = b"data: " + json.dumps(wire).encode() + b"\n\n"
    assert fold_stream(stream, GOOGLE) == response
    assert fold_stream(convert(stream, source=GOOGLE, target=GOOGLE, kind="stream").payload, GOOGLE) == response
    expected = 2 * [f"https://{'ab'[index]}" for index in dict.fromkeys(indices) if index < 2]
    encoded = convert(wire, source=GOOGLE, target=CHAT, kind="response")
    folded = fold_stream(convert(stream, source=GOOGLE, target=CHAT, kind="stream").payload, CHAT)
    for answer in (contentmodel.adapter(CHAT).decode_response(encoded.payload), folded):
        assert [citation.url for citation in answer.messages[0].contents[0].annotations or ()] == expected
    assert audit(wire, encoded) == []


PLACE = {"type": "approximate", "city": "Berlin", "country": "DE"}
SEARCH_SETTINGS = [
    (
        "anthropic-messages",
        {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"], "user_location": PLACE},
        "openai-responses",
        {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}, "user_location": PLACE},
        ["name"],
    ),
    (
        "openai-responses",
        {"type": "web_search", "filters": {"allowed_domains": ["a.org"], "later": 1}, "search_context_size": "low"},
        "anthropic-messages",
        {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"]},
        ["filters.later", "search_context_size"],
    ),
    (
        "google-generate-content",
        {"googleSearch": {"excludeDomains": ["a.org"], "searchTypes": {"webSearch": {}}}},
        "anthropic-messages",
        {"type": "web_search_20250305", "name": "web_search", "blocked_domains": ["a.org"]},
        ["googleSearch.searchTypes"],
    ),
    (
        "openai-chat",
        {"type": "openrouter:web_search", "parameters": {"excluded_domains": ["a.org"], "max_results": 3}},
        "anthropic-messages",
        {"type": "web_search_20250305", "name": "web_search", "blocked_domains": ["a.org"]},
        ["parameters.max_results"],
    ),
    (
        "openai-responses",
        {"type": "web_search", "user_location": {"type": "exact", "city": "Berlin"}},
        "anthropic-messages",
        {"type": "web_search_20250305", "name": "web_search"},
        ["user_location"],
    ),
]


@pytest.mark.parametrize(("source", "tool", "target", "written", "lost"), SEARCH_SETTINGS)
def test_settings_of_a_search_that_both_apis_have_cross(
    source: str, tool: Any, target: str, written: Any, lost: list[str]
) -> None:
    turn = {"contents" if "google" in source else "input" if "responses" in source else "messages": []}
    payload = {"model": "m", **turn, "tools": [tool]}
    encoded = contentmodel.convert(payload, source=source, target=target, kind="request")
    assert encoded.payload["tools"] == [written]
    paths = {loss.path for loss in encoded.losses if loss.path.startswith("$.tools")}
    assert paths == {f"$.tools[0].{path}" for path in lost}
    assert contentmodel.audit(payload, encoded) == []


def test_search_options_of_chat_are_the_search_tool_of_other_apis() -> None:
    place = {"type": "approximate", "approximate": {"city": "Berlin", "country": "DE"}}
    options = {"search_context_size": "low", "user_location": place}
    payload = {"model": "gpt-5-search-api", "messages": [{"role": "user", "content": "Hi."}]}
    payload |= {"web_search_options": options}
    encoded = contentmodel.convert(payload, source="openai-chat", target="openai-responses", kind="request")
    assert encoded.payload["tools"] == [{"type": "web_search", "search_context_size": "low", "user_location": PLACE}]
    assert not encoded.losses
    same = contentmodel.convert(payload, source="openai-chat", target="openai-chat", kind="request")
    assert same.payload == payload


@pytest.mark.parametrize(("choice", "mode"), [("required", "ANY"), ("auto", "VALIDATED")])
def test_gemini_gets_a_tool_choice_only_with_functions(choice: str, mode: str) -> None:
    """Models up to Gemini 2.5 refuse it if the request defines no function."""
    search = {"type": "web_search"}
    payload: dict[str, Any] = {"model": "m", "input": "Hi.", "tools": [search], "tool_choice": choice}
    alone = contentmodel.convert(payload, source=RESPONSES, target=GOOGLE, model="gemini-2.5-flash")
    assert "toolConfig" not in alone.payload
    assert "$.tool_choice" in {loss.path for loss in alone.losses}
    function = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    both = contentmodel.convert({**payload, "tools": [search, function]}, source=RESPONSES, target=GOOGLE)
    assert both.payload["toolConfig"]["functionCallingConfig"] == {"mode": mode}


@pytest.mark.parametrize("hosted", ["web_search_20250305", "code_execution_20250825"])
def test_gemini_3_reports_the_calls_of_hosted_tools_beside_functions(hosted: str) -> None:
    """The Developer API refuses the request without it, Vertex AI with it (ag2ai/ag2#3145, vercel/ai#14655)."""
    function = {"name": "f", "input_schema": {"type": "object", "properties": {}}}
    tool = {"type": hosted, "name": hosted.rpartition("_")[0]}
    user = [{"role": "user", "content": "Hi."}]
    payload: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": user, "tools": [tool, function]}

    def settings(payload: dict[str, Any], model: str, **policies: str) -> Any:
        encoded = contentmodel.convert(payload, source=ANTHROPIC, target=GOOGLE, model=model, policies=policies)  # type: ignore[arg-type]
        return encoded.payload.get("toolConfig")

    asks = {"includeServerSideToolInvocations": True}
    assert settings(payload, "gemini-3.6-flash") == settings(payload, "gemini-3.6-flash", dialect="gemini") == asks
    assert settings(payload, "gemini-3.6-flash", dialect="vertex") is None
    assert settings({**payload, "tools": [tool]}, "gemini-3.6-flash") is None
    assert settings({**payload, "tools": [function]}, "gemini-3.6-flash") is None
    assert settings(payload, "gemini-2.5-flash") is None


def test_reported_calls_of_hosted_tools_are_no_setting_of_other_apis() -> None:
    payload = {
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
        "toolConfig": {"includeServerSideToolInvocations": True},
    }
    encoded = contentmodel.convert(payload, source=GOOGLE, target=ANTHROPIC, model="claude-opus-5")
    assert ("$.toolConfig", "insignificant") in {(loss.path, loss.kind) for loss in encoded.losses}


def test_gemini_gets_no_mode_that_it_does_not_have() -> None:
    function = {"type": "function", "function": {"name": "f"}}
    payload = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "tools": [function]}
    made = contentmodel.convert({**payload, "tool_choice": "later"}, source=CHAT, target=GOOGLE)
    assert made.payload["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert ("$.tool_choice", "no-tool-choice") in {(loss.path, loss.code) for loss in made.losses}


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


def test_custom_call_with_the_name_of_a_search_of_x_is_for_the_client() -> None:
    payload = {**OF_GROK, "output": [{**SEARCH_OF_X, "call_id": "call_1"}]}
    (message,) = decoded(RESPONSES, "response", payload).messages
    assert [call.executor for call in message.tool_calls] == ["client"]


@pytest.mark.parametrize(("target", "ended"), [(ANTHROPIC, "end_turn"), (CHAT, "stop")])
def test_answer_with_search_of_x_does_not_end_with_a_call(target: str, ended: str) -> None:
    payload = {**OF_GROK, "output": [SEARCH_OF_X, MESSAGE]}
    encoded = convert(payload, source=RESPONSES, target=target, kind="response")
    assert audit(payload, encoded) == []
    answer = contentmodel.adapter(target).decode_response(encoded.payload)
    assert (answer.text, answer.choices[0].finish_reason.raw) == ("Found.", ended)
    assert not answer.messages[0].tool_calls


def test_stream_with_search_of_x_folds_to_a_hosted_call() -> None:
    started = {**SEARCH_OF_X, "input": "", "status": "in_progress"}
    wires = [
        {"type": "response.created", "response": {**OF_GROK, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": started},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": SEARCH_OF_X["input"]},
        {"type": "response.output_item.done", "output_index": 0, "item": SEARCH_OF_X},
        {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE},
        {"type": "response.completed", "response": {**OF_GROK, "output": [SEARCH_OF_X, MESSAGE]}},
    ]
    raw = b"".join(b"data: " + json.dumps(wire).encode() + b"\n\n" for wire in wires)
    response = fold_stream([raw], RESPONSES)
    assert response == contentmodel.adapter(RESPONSES).decode_response({**OF_GROK, "output": [SEARCH_OF_X, MESSAGE]})
    ended = fold_stream([convert(raw, source=RESPONSES, target=ANTHROPIC, kind="stream").payload], ANTHROPIC)
    assert ended.choices[0].finish_reason.reason == "stop"


@pytest.mark.parametrize("google", [GOOGLE, "google-interactions"])
def test_tools_that_read_pages_are_those_of_the_target(google: str) -> None:
    fetch = {"type": "web_fetch_20250910", "name": "web_fetch", "max_uses": 3}
    asked = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    encoded = convert({**asked, "tools": [fetch]}, source=ANTHROPIC, target=google, model="gemini-3-pro-preview")
    assert encoded.payload["tools"] == [{"urlContext": {}} if google == GOOGLE else {"type": "url_context"}]
    losses = {loss.path: loss.code for loss in encoded.losses if loss.family == "tool definitions"}
    assert losses["$.tools[0]"] == "kindred-tool"
    assert "$.tools[0].max_uses" in losses
    back = convert(encoded.payload, source=google, target=ANTHROPIC, model="claude-opus-4-8")
    assert back.payload["tools"] == [{"type": "web_fetch_20250910", "name": "web_fetch"}]
    assert contentmodel.check(back.payload, api=ANTHROPIC) == []


def test_tool_that_reads_pages_is_dropped_if_the_target_has_none() -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": [{"urlContext": {}}]}
    encoded = convert(asked, source=GOOGLE, target=RESPONSES, model="gpt-5.2")
    assert "tools" not in encoded.payload
    assert "no-hosted-tool" in {loss.code for loss in encoded.losses}


def test_name_of_a_tool_that_reads_pages_is_reported() -> None:
    """Found by the law of accounting on recorded requests."""
    fetch = {"type": "web_fetch_20250910", "name": "web_fetch"}
    asked = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    encoded = convert({**asked, "tools": [fetch]}, source=ANTHROPIC, target=GOOGLE, model="gemini-3-pro-preview")
    assert audit({**asked, "tools": [fetch]}, encoded) == []
    assert "$.tools[0].name" in {loss.path for loss in encoded.losses}
