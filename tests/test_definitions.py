"""Tool definitions and tool choice in the format of every API: functions, custom tools, and API-specific tools."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    FunctionCallContent,
    FunctionTool,
    TextContent,
    adapter,
    audit,
    check,
    convert,
    fold_stream,
)
from contentmodel.authoring import is_free_text
from contentmodel.content import CustomToolCallContent, WebSearchToolCallContent
from contentmodel.content.outcomes import ToolChangeContent
from contentmodel.encoded import Encoded

CHAT, RESPONSES = "openai-chat", "openai-responses"
ANTHROPIC, GEMINI = "anthropic-messages", "google-generate-content"
APIS = (CHAT, RESPONSES, ANTHROPIC, GEMINI)
EMPTY = {"type": "object", "properties": {}}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /a+/"}


OPENAIS = "gpt-5.2"
"""A model that takes custom tools."""
MODELS = {CHAT: OPENAIS, RESPONSES: OPENAIS, ANTHROPIC: "claude-opus-4-5", GEMINI: "gemini-2.5-pro"}
"""A model of each API that takes custom tools, or forced calls."""


def a_request(api: str, *tools: Any, **settings: Any) -> dict[str, Any]:
    """Return the minimal request of an API with these tools."""
    begin: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    if api == RESPONSES:
        begin = {"model": "m", "input": "Hi"}
    if api == ANTHROPIC:
        begin["max_tokens"] = 100
    if api == GEMINI:
        begin = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    return {**begin, **({"tools": list(tools)} if tools else {}), **settings}


def a_function(api: str, name: str = "now") -> dict[str, Any]:
    """Return a function in an API's format, with an empty parameter schema."""
    return {
        CHAT: {"type": "function", "function": {"name": name, "parameters": EMPTY}},
        RESPONSES: {"type": "function", "name": name, "parameters": EMPTY, "strict": False},
        ANTHROPIC: {"name": name, "input_schema": EMPTY},
        GEMINI: {"functionDeclarations": [{"name": name, "parametersJsonSchema": EMPTY}]},
    }[api]


CUSTOM = {
    CHAT: {
        "type": "custom",
        "custom": {
            "name": "edit",
            "description": "Edits.",
            "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a+/"}},
        },
    },
    RESPONSES: {"type": "custom", "name": "edit", "description": "Edits.", "format": GRAMMAR},
}


def crossed(payload: Any, source: str, target: str, **options: Any) -> Encoded:
    encoded = convert(payload, source=source, target=target, kind="request", **options)
    assert isinstance(encoded, Encoded)
    return encoded


def significant_codes(encoded: Encoded) -> set[str]:
    """Return the codes of significant losses, without those that occur for every target."""
    return {loss.code for loss in encoded.losses if loss.is_significant} - {"output-limit", "no-model", "in-url"}


# -- custom tools ------------------------------------------------------------------------------------------------------


def lost_grammar(target: str) -> set[str]:
    """Return the loss code of a grammar: two APIs have no grammars."""
    return {"grammar-as-text"} if target in (ANTHROPIC, GEMINI) else set()


@pytest.mark.parametrize("source", CUSTOM)
@pytest.mark.parametrize("target", APIS)
def test_custom_tool_and_its_grammar_survive_a_round_trip(source: str, target: str) -> None:
    encoded = crossed(a_request(source, CUSTOM[source], model=OPENAIS), source, target, model=MODELS[target])
    assert significant_codes(encoded) == lost_grammar(target)
    [tool] = adapter(target).decode_request(encoded.payload).tools
    assert (tool.name, tool.description, tool.format) == ("edit", "Edits.", GRAMMAR)
    assert crossed(encoded.payload, target, source, model=OPENAIS).payload["tools"] == [CUSTOM[source]]


def test_schema_that_differs_from_a_free_text_schema_decodes_to_function_tool() -> None:
    [tool] = crossed(a_request(CHAT, CUSTOM[CHAT], model=OPENAIS), CHAT, ANTHROPIC).payload["tools"]
    schema = tool["input_schema"]
    assert is_free_text(schema)
    for changed in (
        {**schema, "title": "x"},
        {**schema, "properties": {"input": {"type": "integer"}}},
        {**schema, "properties": {**schema["properties"], "b": {}}},
        {**schema, "properties": {"input": {"type": "string", "description": "Any text."}}},
        {"type": "object", "properties": {"input": {"type": "string"}}},
    ):
        payload = a_request(ANTHROPIC, {"name": "edit", "input_schema": changed})
        request = adapter(ANTHROPIC).decode_request(payload)
        assert isinstance(request.tools[0], FunctionTool)
        assert adapter(ANTHROPIC).encode_request(request).payload == payload


# -- Gemini's list of tools --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["functionDeclarations", "function_declarations"])
@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_gemini_function_declarations_as_single_object_are_decoded(key: str, target: str) -> None:
    payload = a_request(GEMINI, tools=[{key: {"name": "a"}}])
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload
    more = msgspec.structs.replace(request, tools=[*request.tools, FunctionTool(name="b")])
    [entry] = adapter(GEMINI).encode_request(more).payload["tools"]
    assert [tool["name"] for tools in entry.values() for tool in tools] == ["a", "b"]
    encoded = crossed(payload, GEMINI, target)
    assert [tool.name for tool in adapter(target).decode_request(encoded.payload).tools] == ["a"]
    assert not any(loss.path.startswith("$.tools") for loss in encoded.losses)


# -- Gemini's two spellings of schemas ---------------------------------------------------------------------------------

OPENAPI = {
    "type": "OBJECT",
    "properties": {
        "at": {"type": "STRING", "format": "date-time", "nullable": True},
        "size": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
    },
    "propertyOrdering": ["at", "size"],
    "required": ["at"],
}


def test_gemini_function_response_schema_converts_to_json_schema() -> None:
    payload = a_request(GEMINI, {"functionDeclarations": [{"name": "f", "parameters": OPENAPI, "response": OPENAPI}]})
    [tool] = crossed(payload, GEMINI, RESPONSES).payload["tools"]
    assert tool["output_schema"]["properties"]["at"]["type"] == ["string", "null"]
    assert tool["parameters"]["properties"]["at"]["type"] == ["string", "null"]


# -- calls of custom tools ---------------------------------------------------------------------------------------------

PATCH = "*** Begin\n\x1b[0m ünïcödé"


def with_a_custom_call(api: str) -> dict[str, Any]:
    """Return a request with a custom tool, a call of it, and its result."""
    if api == RESPONSES:
        items = [
            {"type": "message", "role": "user", "content": "Hi"},
            {"type": "custom_tool_call", "call_id": "c1", "name": "edit", "input": PATCH},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
            {"type": "message", "role": "user", "content": "Go on"},
        ]
        return {"model": OPENAIS, "input": items, "tools": [CUSTOM[api]]}
    call = {"id": "c1", "type": "custom", "custom": {"name": "edit", "input": PATCH}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": "Go on"},
    ]
    return {"model": OPENAIS, "messages": messages, "tools": [CUSTOM[api]]}


@pytest.mark.parametrize("source", CUSTOM)
@pytest.mark.parametrize("target", APIS)
def test_custom_call_and_its_result_survive_a_round_trip(source: str, target: str) -> None:
    payload = with_a_custom_call(source)
    encoded = crossed(payload, source, target, model=MODELS[target])
    assert check(encoded.payload, api=target, model=MODELS[target]) == []
    assert significant_codes(encoded) - {"placeholder-signature"} == lost_grammar(target)
    request = adapter(target).decode_request(encoded.payload)
    calls = [call for message in request.messages for call in message.tool_calls]
    assert [(type(call), call.name, call.arguments) for call in calls] == [(CustomToolCallContent, "edit", PATCH)]
    assert adapter(target).encode_request(request).payload == encoded.payload
    back = crossed(encoded.payload, target, source, model=OPENAIS).payload
    key = "input" if source == RESPONSES else "messages"
    assert back[key] == payload[key]


ANSWERS = {
    ANTHROPIC: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "c2", "name": "edit", "input": {"input": PATCH}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    GEMINI: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"id": "c2", "name": "edit", "args": {"input": PATCH}}}],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ]
    },
}


def a_stream(api: str) -> bytes:
    """Return the same answer as a stream. Anthropic's has the arguments in pieces."""
    if api == GEMINI:
        return b"data: " + json.dumps(ANSWERS[api]).encode() + b"\r\n\r\n"
    text = json.dumps({"input": PATCH})
    events = [
        {"type": "message_start", "message": {**ANSWERS[api], "content": [], "stop_reason": None}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c2", "name": "edit", "input": {}},
        },
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in (text[:9], text[9:20], text[20:])
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("source", CUSTOM)
@pytest.mark.parametrize("target", ANSWERS)
def test_call_in_response_is_restored_to_custom_call(source: str, target: str, stream: bool) -> None:
    maps = crossed(with_a_custom_call(source), source, target).maps
    if stream:
        made = convert(a_stream(target), source=target, target=source, kind="stream", maps=maps).payload
        answer = fold_stream([made], source)
    else:
        made = convert(ANSWERS[target], source=target, target=source, kind="response", maps=maps).payload
        answer = adapter(source).decode_response(made)
    [call] = answer.messages[0].tool_calls
    assert isinstance(call, CustomToolCallContent)
    assert (call.name, call.arguments) == ("edit", PATCH)


# -- namespaces --------------------------------------------------------------------------------------------------------

NAMESPACE = {
    "type": "namespace",
    "name": "agents",
    "description": "Other agents.",
    "tools": [
        {"type": "function", "name": "wait", "parameters": EMPTY, "strict": False},
        {"type": "custom", "name": "tell"},
    ],
}


def with_a_namespace(*names: str) -> dict[str, Any]:
    """A request of Responses with two namespaces that have tools of one name, a plain one too, and their calls."""
    items: list[Any] = [{"type": "message", "role": "user", "content": "Hi"}]
    for number, name in enumerate(names):
        namespace = {} if name == "" else {"namespace": name}
        items += [
            {"type": "function_call", "call_id": f"c{number}", "name": "wait", "arguments": "{}", **namespace},
            {"type": "function_call_output", "call_id": f"c{number}", "output": "done"},
        ]
    tools = [NAMESPACE, {**NAMESPACE, "name": "mcp__x__"}, a_function(RESPONSES, "wait")]
    return {"model": "m", "input": [*items, {"type": "message", "role": "user", "content": "Go on"}], "tools": tools}


def names_in(request: Any) -> tuple[list[str], list[str]]:
    """Return the names of the tools and of the calls."""
    calls = [c for message in request.messages for c in message.tool_calls]
    return [tool.name for tool in request.tools], [call.name for call in calls]


@pytest.mark.parametrize("target", [CHAT, ANTHROPIC, GEMINI])
def test_call_in_response_is_restored_to_its_namespace(target: str) -> None:
    encoded = crossed(with_a_namespace("agents"), RESPONSES, target)
    for name, kind, namespace, source in (
        ("agents__wait", FunctionCallContent, "agents", "wait"),
        ("mcp__x__tell", CustomToolCallContent, "mcp__x__", "tell"),
        ("wait", FunctionCallContent, None, "wait"),
    ):
        if target == CHAT and kind is CustomToolCallContent:
            content: Any = CustomToolCallContent(call_id="c", name=name, arguments="a")
        else:
            content = FunctionCallContent(call_id="c", name=name, arguments={"input": "a"})
        response = ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=[content])])])
        undone = encoded.maps.restored_names(response, adapter(target).restore_arguments)
        made: Any = undone.messages[0].tool_calls[0]
        assert (type(made), made.namespace, made.name) == (kind, namespace, source)


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
def test_names_of_tools_in_namespaces_fit_name_rules_of_target(target: str) -> None:
    payload = with_a_namespace("agents")
    payload["tools"] = [{**NAMESPACE, "name": "a b" * 50}]
    encoded = crossed(payload, RESPONSES, target)
    assert check(encoded.payload, api=target, model="m") == []
    [name, _] = names_in(adapter(target).decode_request(encoded.payload))[0]
    content = FunctionCallContent(call_id="c", name=name, arguments={})
    response = ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=[content])])])
    [call] = encoded.maps.restored_names(response, adapter(target).restore_arguments).messages[0].tool_calls
    assert isinstance(call, FunctionCallContent)
    assert (call.namespace, call.name) == ("a b" * 50, "wait")


# -- responses with calls ----------------------------------------------------------------------------------------------


def test_tool_calls_of_response_excludes_hosted_calls() -> None:
    contents: list[Any] = [
        TextContent(text="Hi"),
        FunctionCallContent(call_id="a", name="now"),
        WebSearchToolCallContent(call_id="b", arguments={"query": "x"}),
        CustomToolCallContent(call_id="c", name="edit", arguments="x"),
    ]
    messages = [
        ChatMessage(role="assistant", contents=contents[:2]),
        ChatMessage(role="assistant", contents=contents[2:]),
    ]
    response = ChatResponse(choices=[ChatChoice(messages=messages), ChatChoice(messages=messages)])
    assert [call.call_id for call in response.tool_calls] == ["a", "c"]
    assert ChatResponse().tool_calls == []


# -- placeholder signatures of Gemini ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [["x"], {"a": 1}, 5])
@pytest.mark.parametrize("api", sorted(contentmodel.adapters()))
def test_added_tool_with_name_of_wrong_type_is_kept_or_reported(api: str, name: Any) -> None:
    change = ToolChangeContent(action="add", tools=[{"name": name}])
    messages = [ChatMessage(role="user", contents="Hi."), ChatMessage(role="system", contents=[change])]
    encoded = contentmodel.adapter(api).encode_request(ChatRequest(model="m", messages=messages))
    assert encoded.losses or str(name) in str(encoded.payload)


# -- deprecated functions of Chat --------------------------------------------------------------------------------------


OLD_FUNCTIONS = [{"name": "now", "description": "The time.", "parameters": EMPTY}, {"name": "here"}]


@pytest.mark.parametrize("target", [RESPONSES, ANTHROPIC, GEMINI])
def test_deprecated_chat_functions_convert_to_tools(target: str) -> None:
    payload = a_request(CHAT, functions=OLD_FUNCTIONS, function_call={"name": "now"})
    encoded = convert(payload, source=CHAT, target=target, model=MODELS.get(target))
    assert not {loss.path for loss in encoded.losses} & {"$.functions", "$.function_call"}
    assert audit(payload, encoded) == []
    request = adapter(target).decode_request(encoded.payload)
    assert [tool.name for tool in request.tools] == ["now", "here"]
    assert request.options.tool_choice is not None
    assert request.options.tool_choice.tools == ["now"]
    del encoded.payload["tools"]
    missed = {one.path for one in audit(payload, encoded)}
    assert missed >= {"$.functions[0].name", "$.functions[0].description", "$.functions[1].name"}


# -- names that hosted tools have --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, CHAT])
@pytest.mark.parametrize("name", [None, "edit"])
def test_losses_of_custom_call_in_namespace_are_traced_to_the_call(name: str | None, target: str) -> None:
    call = CustomToolCallContent(call_id="c", name=name, namespace="", arguments="x")
    for role in ("assistant", "user"):
        request = ChatRequest(messages=[ChatMessage(role=role, contents=[call])])
        encoded = contentmodel.adapter(target).encode_request(request)
        assert encoded.losses
        assert encoded.untraced() == []
