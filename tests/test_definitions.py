"""Tool definitions and tool choice in the format of every API: functions, custom tools, and API-specific tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    CustomTool,
    FinishReason,
    FunctionCallContent,
    FunctionTool,
    Origin,
    TextContent,
    ToolChoice,
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
from contentmodel_adapters.anthropic.shared import NO_PARAMETERS

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


WITHOUT_PARAMETERS = {
    CHAT: {"type": "function", "function": {"name": "now"}},
    RESPONSES: {"type": "function", "name": "now", "parameters": None, "strict": False},
    GEMINI: {"functionDeclarations": [{"name": "now"}]},
}
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


def other_apis(api: str) -> list[str]:
    return [other for other in APIS if other != api]


# -- functions without parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", WITHOUT_PARAMETERS)
@pytest.mark.parametrize("target", APIS)
def test_function_without_parameters_is_accepted_and_restored(source: str, target: str) -> None:
    tool = WITHOUT_PARAMETERS[source]
    encoded = crossed(a_request(source, tool), source, target, model="m")
    if target == ANTHROPIC:
        assert encoded.payload["tools"][0]["input_schema"] == NO_PARAMETERS
    assert check(encoded.payload, api=target, model="m") == []
    [back] = crossed(encoded.payload, target, source, model="m").payload["tools"]
    decoded = adapter(source).decode_request(a_request(source, back)).tools
    assert [(tool.name, tool.parameters) for tool in decoded] == [("now", None)]


@pytest.mark.parametrize("source", APIS)
@pytest.mark.parametrize("target", APIS)
def test_convert_distinguishes_empty_parameter_schema_from_none(source: str, target: str) -> None:
    out = crossed(a_request(source, a_function(source)), source, target)
    [tool] = adapter(target).decode_request(out.payload).tools
    assert tool.parameters == EMPTY


def test_anthropic_tool_without_parameters_keeps_its_schema_if_encoded_for_anthropic() -> None:
    payload = a_request(ANTHROPIC, {"name": "now", "input_schema": NO_PARAMETERS}, {"name": "bare"})
    request = adapter(ANTHROPIC).decode_request(payload)
    assert [tool.parameters for tool in request.tools] == [None, None]
    assert adapter(ANTHROPIC).encode_request(request).payload == payload


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


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
def test_custom_tool_becomes_function_with_one_string_if_target_has_no_custom_tools(target: str) -> None:
    [tool] = crossed(a_request(RESPONSES, CUSTOM[RESPONSES], model=OPENAIS), RESPONSES, target).payload["tools"]
    schema = tool["input_schema"] if target == ANTHROPIC else tool["functionDeclarations"][0]["parametersJsonSchema"]
    assert schema["required"] == ["input"]
    assert schema["properties"]["input"]["type"] == "string"
    assert "start: /a+/" in schema["properties"]["input"]["description"]


@pytest.mark.parametrize("target", [CHAT, ANTHROPIC, GEMINI])
def test_unknown_format_of_custom_tool_is_reported_as_loss(target: str) -> None:
    tool = {"type": "custom", "name": "edit", "format": {"type": "regex9", "definition": "a"}}
    encoded = crossed(a_request(RESPONSES, tool), RESPONSES, target)
    assert "$.tools[0].format" in {loss.path for loss in encoded.losses}
    assert "regex9" not in str(encoded.payload)


@pytest.mark.parametrize("form", [{"type": "grammar", "syntax": "lark"}, {"type": "grammar", "grammar": 1}, "x", {}])
def test_chat_keeps_malformed_grammar_unchanged(form: Any) -> None:
    payload = a_request(CHAT, {"type": "custom", "custom": {"name": "edit", "format": form}})
    request = adapter(CHAT).decode_request(payload)
    assert adapter(CHAT).encode_request(request).payload == payload


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


@pytest.mark.parametrize("source", [CHAT, RESPONSES, ANTHROPIC])
def test_functions_of_other_apis_are_merged_into_one_gemini_tool(source: str) -> None:
    search = {RESPONSES: {"type": "web_search"}, ANTHROPIC: {"type": "web_search_20250305", "name": "web_search"}}
    between = [search[source]] if source in search else []
    payload = a_request(source, a_function(source, "a"), *between, a_function(source, "b"))
    tools = crossed(payload, source, GEMINI).payload["tools"]
    declared = [[f["name"] for f in tool["functionDeclarations"]] for tool in tools if "functionDeclarations" in tool]
    assert declared == [["a", "b"]]
    assert len(tools) == 1 + len(between)


def test_functions_in_several_gemini_tools_break_a_rule() -> None:
    payload = a_request(GEMINI, a_function(GEMINI, "a"), a_function(GEMINI, "b"))
    assert [found.rule for found in check(payload, api=GEMINI)] == ["functions-in-one-tool"]


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_gemini_tools_as_single_object_are_decoded(target: str) -> None:
    payload = a_request(GEMINI, tools={"functionDeclarations": [{"name": "a"}, {"name": "b"}], "googleSearch": {}})
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload
    encoded = crossed(payload, GEMINI, target)
    names = [tool.name for tool in adapter(target).decode_request(encoded.payload).tools]
    assert names[:2] == ["a", "b"]
    assert "$.tools" not in {loss.path for loss in encoded.losses}


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


@pytest.mark.parametrize("field", ["responseSchema", "response_schema", "responseJsonSchema"])
@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_gemini_response_schema_converts_to_json_schema(field: str, target: str) -> None:
    settings = {"responseMimeType": "application/json", field: OPENAPI}
    payload = a_request(GEMINI, generationConfig=settings)
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload
    encoded = crossed(payload, GEMINI, target)
    made = adapter(target).decode_request(encoded.payload).options.response_format
    assert made is not None
    assert made.kind == "json_schema"
    assert made.schema is not None
    properties = made.schema["properties"]
    assert made.schema["type"] == "object"
    assert properties["at"]["type"] == ["string", "null"]
    assert properties["size"]["anyOf"] == [{"type": "string"}, {"type": "number"}]
    assert {loss.path for loss in encoded.losses} >= {f"$.generationConfig.{field}.properties.at.nullable"}


def test_gemini_request_with_both_response_schemas_keeps_both() -> None:
    settings = {"responseSchema": {"type": "STRING"}, "responseJsonSchema": {"type": "string"}}
    payload = a_request(GEMINI, generationConfig=settings)
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload


def test_gemini_response_schema_of_wrong_type_stays_unchanged() -> None:
    payload = a_request(GEMINI, generationConfig={"responseSchema": "STRING"})
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload


def test_gemini_function_response_schema_converts_to_json_schema() -> None:
    payload = a_request(GEMINI, {"functionDeclarations": [{"name": "f", "parameters": OPENAPI, "response": OPENAPI}]})
    [tool] = crossed(payload, GEMINI, RESPONSES).payload["tools"]
    assert tool["output_schema"]["properties"]["at"]["type"] == ["string", "null"]
    assert tool["parameters"]["properties"]["at"]["type"] == ["string", "null"]


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_invalid_type_of_root_schema_is_reported_as_loss(target: str) -> None:
    parameters = {"type": {"a": "misfit"}, "properties": {"at": {"type": "STRING"}}}
    payload = a_request(GEMINI, {"functionDeclarations": [{"name": "f", "parameters": parameters}]})
    encoded = crossed(payload, GEMINI, target)
    assert "$.tools[0].functionDeclarations[0].parameters.type" in {loss.path for loss in encoded.losses}


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
def test_loss_in_result_of_custom_call_has_path_of_lost_part(target: str) -> None:
    call = {"type": "custom", "id": "c1", "custom": {"name": "edit", "input": ""}}
    parts = [{"type": 7, "text": "x"}, {"type": "text", "text": "y"}]
    result = {"role": "tool", "tool_call_id": "c1", "content": parts}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [call]}, result]
    payload = {"model": "m", "messages": messages, "tools": [{"type": "custom", "custom": {"name": "edit"}}]}
    paths = {loss.path for loss in crossed(payload, CHAT, target).losses}
    assert "$.messages[2].content[0]" in paths
    assert "$.messages[2]" not in paths


# -- tool choice -------------------------------------------------------------------------------------------------------


def a_choice(api: str, mode: str, *names: str) -> dict[str, Any]:
    """Return the settings of a choice among some functions."""
    if api == GEMINI:
        word = {"required": "ANY", "auto": "VALIDATED"}[mode]
        return {"toolConfig": {"functionCallingConfig": {"mode": word, "allowedFunctionNames": list(names)}}}
    if api == RESPONSES:
        tools = [{"type": "function", "name": name} for name in names]
        return {"tool_choice": {"type": "allowed_tools", "mode": mode, "tools": tools}}
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}}


@pytest.mark.parametrize("mode", ["auto", "required"])
@pytest.mark.parametrize("source", [CHAT, RESPONSES, GEMINI])
@pytest.mark.parametrize("target", [CHAT, RESPONSES, GEMINI])
def test_choice_among_several_tools_survives_a_round_trip(mode: str, source: str, target: str) -> None:
    functions = [a_function(source, name) for name in "abc"]
    payload = a_request(source, *functions, **a_choice(source, mode, "a", "b"))
    encoded = crossed(payload, source, target)
    choice = adapter(target).decode_request(encoded.payload).options.tool_choice
    assert choice is not None
    assert (choice.mode, choice.tools) == (mode, ["a", "b"])
    assert crossed(encoded.payload, target, source).payload.items() >= a_choice(source, mode, "a", "b").items()


@pytest.mark.parametrize("source", [CHAT, RESPONSES])
@pytest.mark.parametrize("kind", [{}, [], None, 0])
def test_choice_among_tools_of_wrong_type_is_kept_by_its_api_and_reported_for_others(kind: Any, source: str) -> None:
    settings = a_choice(source, "auto", "a", "b")
    holder = settings["tool_choice"].get("allowed_tools", settings["tool_choice"])
    holder["tools"][1]["type"] = kind
    payload = a_request(source, *(a_function(source, name) for name in "ab"), **settings)
    assert crossed(payload, source, source).payload == payload
    for target in {CHAT, RESPONSES, ANTHROPIC, GEMINI} - {source}:
        encoded = crossed(payload, source, target)
        assert "$.tool_choice" in {loss.path[:13] for loss in encoded.losses}


@pytest.mark.parametrize(("mode", "kind"), [("auto", "auto"), ("required", "any")])
@pytest.mark.parametrize("source", [CHAT, RESPONSES, GEMINI])
def test_choice_among_several_tools_becomes_its_mode_for_anthropic(mode: str, kind: str, source: str) -> None:
    functions = [a_function(source, name) for name in "abc"]
    encoded = crossed(
        a_request(source, *functions, **a_choice(source, mode, "a", "b")), source, ANTHROPIC, model=MODELS[ANTHROPIC]
    )
    assert encoded.payload["tool_choice"] == {"type": kind}
    assert [tool["name"] for tool in encoded.payload["tools"]] == ["a", "b", "c"]
    assert "no-tool-choice" in significant_codes(encoded)


CUSTOM_CHOICE = {
    CHAT: {"type": "custom", "custom": {"name": "edit"}},
    RESPONSES: {"type": "custom", "name": "edit"},
    ANTHROPIC: {"type": "tool", "name": "edit"},
}


@pytest.mark.parametrize("source", CUSTOM)
@pytest.mark.parametrize("target", CUSTOM_CHOICE)
def test_choice_of_custom_tool_keeps_custom_type(source: str, target: str) -> None:
    payload = a_request(source, CUSTOM[source], tool_choice=CUSTOM_CHOICE[source], model=OPENAIS)
    encoded = crossed(payload, source, target, model=MODELS[target])
    assert encoded.payload["tool_choice"] == CUSTOM_CHOICE[target]
    assert significant_codes(encoded) == lost_grammar(target)


def test_choice_of_hosted_tool_uses_name_for_anthropic_and_type_for_responses() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    ours = a_request(ANTHROPIC, search, tool_choice={"type": "tool", "name": "web_search"})
    responses_request = a_request(RESPONSES, {"type": "web_search"}, tool_choice={"type": "web_search"})
    assert crossed(ours, ANTHROPIC, RESPONSES).payload["tool_choice"] == {"type": "web_search"}
    forced = crossed(responses_request, RESPONSES, ANTHROPIC, model=MODELS[ANTHROPIC]).payload["tool_choice"]
    assert forced == {"type": "tool", "name": "web_search"}


@pytest.mark.parametrize("word", ["VALIDATED", "any", "MODE_UNSPECIFIED", "NEW"])
def test_gemini_mode_is_kept_unchanged_and_mapped_for_chat(word: str) -> None:
    payload = a_request(GEMINI, a_function(GEMINI), toolConfig={"functionCallingConfig": {"mode": word}})
    request = adapter(GEMINI).decode_request(payload)
    assert adapter(GEMINI).encode_request(request).payload == payload
    expected = "required" if word == "any" else "auto"
    encoded = crossed(payload, GEMINI, CHAT)
    assert encoded.payload["tool_choice"] == expected
    codes = {loss.code for loss in encoded.losses}
    assert codes.isdisjoint({"tool-choice-parts", "no-tool-choice"}) == (word in ("any", "VALIDATED"))


# -- calls without arguments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_call_without_arguments_gets_empty_object_in_responses(target: str, stream: bool) -> None:
    answer = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"functionCall": {"name": "now"}}]}, "finishReason": "STOP"}
        ]
    }
    if stream:
        data = b"data: " + json.dumps(answer).encode() + b"\r\n\r\n"
        made = convert(data, source=GEMINI, target=target, kind="stream").payload
        response = fold_stream([made], target)
    else:
        made = convert(answer, source=GEMINI, target=target, kind="response").payload
        response = adapter(target).decode_response(made)
    [call] = response.messages[0].tool_calls
    assert call.arguments in ({}, "{}")


def test_custom_tool_built_in_code_is_encoded_for_every_api() -> None:
    message = ChatMessage(role="user", contents=[TextContent(text="Hi")])
    request = ChatRequest(model="m", messages=[message], tools=[CustomTool(name="edit", format=GRAMMAR)])
    for api in APIS:
        encoded = adapter(api).encode_request(request)
        [tool] = adapter(api).decode_request(encoded.payload).tools
        assert (tool.name, tool.format) == ("edit", GRAMMAR)


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


def test_gemini_function_response_has_name_of_custom_call() -> None:
    payload = crossed(with_a_custom_call(RESPONSES), RESPONSES, GEMINI).payload
    parts = [part for content in payload["contents"] for part in content["parts"]]
    assert [part["functionResponse"]["name"] for part in parts if "functionResponse" in part] == ["edit"]


@pytest.mark.parametrize("arguments", [{"input": 1}, {"input": "a", "b": 2}, {}, {"text": "a"}])
def test_call_of_a_free_text_function_with_other_arguments_stays_a_function_call(arguments: Any) -> None:
    payload = crossed(with_a_custom_call(CHAT), CHAT, ANTHROPIC).payload
    payload["messages"][1]["content"][0]["input"] = arguments
    request = adapter(ANTHROPIC).decode_request(payload)
    assert adapter(ANTHROPIC).encode_request(request).payload == payload
    assert [type(call) for call in request.messages[1].tool_calls] == [FunctionCallContent]


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
def test_tools_in_namespaces_become_tools_with_distinct_names(target: str) -> None:
    payload = with_a_namespace("agents", "mcp__x__", "")
    encoded = crossed(payload, RESPONSES, target, model="m")
    assert check(encoded.payload, api=target, model="m") == []
    tools, calls = names_in(adapter(target).decode_request(encoded.payload))
    assert tools == ["agents__wait", "agents__tell", "mcp__x__wait", "mcp__x__tell", "wait"]
    assert calls == ["agents__wait", "mcp__x__wait", "wait"]


def test_gemini_function_response_has_mapped_name_of_call_in_namespace() -> None:
    payload = with_a_namespace("agents")
    payload["input"][2]["name"] = "wait"
    contents = crossed(payload, RESPONSES, GEMINI).payload["contents"]
    parts = [part for content in contents for part in content["parts"]]
    assert [part["functionResponse"]["name"] for part in parts if "functionResponse" in part] == ["agents__wait"]


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


def test_name_of_tool_in_namespace_does_not_collide_with_other_tools() -> None:
    payload = with_a_namespace("agents")
    payload["tools"] = [a_function(RESPONSES, "agents__wait"), *payload["tools"]]
    tools, calls = names_in(adapter(CHAT).decode_request(crossed(payload, RESPONSES, CHAT).payload))
    assert len(set(tools)) == len(tools)
    assert calls == ["agents__wait_"]


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


@pytest.mark.parametrize("target", [CHAT, ANTHROPIC, GEMINI])
def test_choice_of_tool_in_namespace_has_mapped_name(target: str) -> None:
    payload = {**with_a_namespace(), "tools": [NAMESPACE], "tool_choice": {"type": "function", "name": "wait"}}
    choice = (
        adapter(target)
        .decode_request(crossed(payload, RESPONSES, target, model=MODELS.get(target)).payload)
        .options.tool_choice
    )
    assert choice is not None
    assert choice.tools == ["agents__wait"]


# -- tools that an item adds -------------------------------------------------------------------------------------------


def with_added_tools(*tools: Any) -> dict[str, Any]:
    items = [
        {"type": "message", "role": "user", "content": "Hi"},
        {"type": "additional_tools", "role": "developer", "tools": list(tools)},
        {"type": "function_call", "call_id": "c1", "name": "later", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ]
    return {"model": "m", "input": items, "tools": [a_function(RESPONSES, "first")]}


@pytest.mark.parametrize("target", [CHAT, ANTHROPIC, GEMINI])
def test_tools_added_by_an_item_become_tools_of_target_request(target: str) -> None:
    payload = with_added_tools(a_function(RESPONSES, "later"), CUSTOM[RESPONSES])
    encoded = crossed(payload, RESPONSES, target)
    assert names_in(adapter(target).decode_request(encoded.payload)) == (["first", "later", "edit"], ["later"])
    paths = {loss.path: loss.kind for loss in encoded.losses}
    assert paths["$.input[1]"] == "moved"
    assert "$.input" not in paths
    assert audit(payload, encoded) == []


def test_responses_encodes_added_tools_only_in_their_item() -> None:
    payload = with_added_tools(a_function(RESPONSES, "later"), {"type": "web_search"}, NAMESPACE)
    request = adapter(RESPONSES).decode_request(payload)
    assert [tool.name for tool in request.tools] == ["first", "later", None, "agents"]
    assert adapter(RESPONSES).encode_request(request).payload == payload


def test_added_tool_becomes_request_tool_if_its_item_was_removed() -> None:
    request = adapter(RESPONSES).decode_request(with_added_tools(a_function(RESPONSES, "later")))
    messages = [m for m in request.messages if m.role != "developer"]
    payload = adapter(RESPONSES).encode_request(msgspec.structs.replace(request, messages=messages)).payload
    assert payload["tools"] == [a_function(RESPONSES, "first"), a_function(RESPONSES, "later")]


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(item)


# -- responses with calls ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "path"), [(ANTHROPIC, "stop_reason"), (RESPONSES, "status")])
def test_empty_finish_reason_of_response_with_calls_reads_as_tool_calls(target: str, path: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "", "message": message}]}
    response = adapter(CHAT).decode_response(answer)
    assert response.finish_reason is not None
    assert response.finish_reason.reason == "tool_calls"
    assert adapter(CHAT).encode_response(response).payload == answer
    made = convert(answer, source=CHAT, target=target, kind="response").payload
    assert made[path] == {"stop_reason": "tool_use", "status": "completed"}[path]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("target", "word"), [(ANTHROPIC, "tool_use"), (GEMINI, "STOP"), (RESPONSES, "completed")])
def test_unknown_finish_reason_of_response_with_calls_converts_to_tool_calls(
    target: str, word: str, *, streamed: bool
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [{**call, **({"index": 0} if streamed else {})}]}
    choice = {"index": 0, "finish_reason": "weird", "delta" if streamed else "message": message}
    answer = {"object": "chat.completion.chunk" if streamed else "chat.completion", "choices": [choice]}
    if streamed:
        body = b"data: " + json.dumps(answer).encode() + b"\n\ndata: [DONE]\n\n"
        converted: Any = convert(body, source=CHAT, target=target, kind="stream")
    else:
        converted = convert(answer, source=CHAT, target=target, kind="response")
    assert f'"{word}"' in converted.to_json().decode()
    assert "no-finish-reason" in {loss.code for loss in converted.losses}


def test_unknown_finish_reason_with_incomplete_call_does_not_convert_to_tool_calls() -> None:
    call = FunctionCallContent(call_id="c1", name="now", arguments='{"a', status="incomplete")
    message = ChatMessage(role="assistant", contents=[call])
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="other", raw="weird"))
    response = ChatResponse(choices=[choice], origin=Origin(api=CHAT, issuer="openai"))
    assert adapter(ANTHROPIC).encode_response(response).payload["stop_reason"] == "end_turn"


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


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
@pytest.mark.parametrize("target", [t for t in APIS if t != GEMINI])
def test_placeholder_signature_means_nothing_to_another_api(target: str, key: str) -> None:
    call = {"functionCall": {"name": "f", "args": {}}, key: "skip_thought_signature_validator"}
    payload = {"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [call]}]}
    request = adapter(GEMINI).decode_request(payload)
    assert request.messages[1].contents[0].protected is None
    assert adapter(GEMINI).encode_request(request).payload == payload
    encoded = convert(payload, source=GEMINI, target=target, model="m")
    lost = {loss.path: loss for loss in encoded.losses}[f"$.contents[1].parts[0].{key}"]
    assert not lost.is_significant
    assert audit(payload, encoded) == []


@pytest.mark.parametrize(
    ("model", "is_signed"),
    [(None, True), ("gpt-5.2", True), ("gemini-3-pro", True), ("gemini-3.5-flash", True), ("gemini-2.5-flash", False)],
)
def test_first_call_of_each_foreign_turn_has_the_placeholder_signature(model: str | None, is_signed: bool) -> None:
    payload = with_a_custom_call(RESPONSES)
    payload["input"][2:2] = [{**payload["input"][1], "call_id": "c2"}]
    payload["input"][4:4] = [{"type": "custom_tool_call_output", "call_id": "c2", "output": "done"}]
    if model is None:
        del payload["model"]
    contents = crossed(payload, RESPONSES, GEMINI, model=model).payload["contents"]
    calls = [part for content in contents for part in content["parts"] if "functionCall" in part]
    assert ["thoughtSignature" in call for call in calls] == [is_signed, False]


def test_chat_decodes_result_of_custom_call_as_custom_result() -> None:
    call = {"type": "custom", "id": "c1", "custom": {"name": "run", "input": "a"}}
    payload = a_request(CHAT)
    payload["messages"] += [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "fine"},
        {
            "role": "assistant",
            "tool_calls": [{**call, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "fine"},
    ]
    del payload["messages"][3]["tool_calls"][0]["custom"]
    request = adapter(CHAT).decode_request(payload)
    results = [type(message.contents[0]).__name__ for message in request.messages if message.role == "tool"]
    assert results == ["CustomToolResultContent", "FunctionResultContent"]
    assert adapter(CHAT).encode_request(request).payload == payload
    del payload["messages"][3:]
    encoded = convert(payload, source=CHAT, target=RESPONSES)
    types = [item["type"] for item in encoded.payload["input"] if item["type"].endswith("_output")]
    assert types == ["custom_tool_call_output"]


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_call_without_arguments_from_another_api_gets_empty_object_in_native_request(target: str) -> None:
    request = adapter(target).decode_request(a_request(target))
    source = RESPONSES if target == CHAT else CHAT
    call = ChatMessage(
        role="assistant",
        contents=[FunctionCallContent(call_id="c1", name="now")],
        origin=Origin(api=source, issuer="openai"),
    )
    request = msgspec.structs.replace(request, messages=[*request.messages, call])
    written = adapter(target).encode_request(request)
    (again,) = adapter(target).decode_request(written.payload).messages[-1].contents
    assert isinstance(again, FunctionCallContent)
    assert again.arguments in ({}, "{}")


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC, GEMINI])
def test_empty_arguments_text_converts_to_empty_object(target: str, kind: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": ""}}
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "logprobs": None, "message": message}
    payload: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    if kind == "request":
        payload = a_request(CHAT, messages=[{"role": "user", "content": "Hi."}, message])
    encoded = convert(payload, source=CHAT, target=target, kind=kind)
    if target == CHAT:
        assert encoded.payload == payload
        return
    [made] = [part for part in objects_in(encoded.payload) if "now" in part.values()]
    assert [made[key] for key in ("arguments", "input", "args") if key in made] in ([{}], ["{}"])
    assert audit(payload, encoded) == []


def test_empty_arguments_text_of_response_built_in_code_is_encoded_as_empty_object() -> None:
    message = ChatMessage(role="assistant", contents=[FunctionCallContent(call_id="c1", name="now", arguments="")])
    [item] = (
        adapter(RESPONSES).encode_response(ChatResponse(choices=[ChatChoice(messages=[message])])).payload["output"]
    )
    assert item["arguments"] == "{}"


@pytest.mark.parametrize("name", [["x"], {"a": 1}, 5])
@pytest.mark.parametrize("api", sorted(contentmodel.adapters()))
def test_added_tool_with_name_of_wrong_type_is_kept_or_reported(api: str, name: Any) -> None:
    change = ToolChangeContent(action="add", tools=[{"name": name}])
    messages = [ChatMessage(role="user", contents="Hi."), ChatMessage(role="system", contents=[change])]
    encoded = contentmodel.adapter(api).encode_request(ChatRequest(model="m", messages=messages))
    assert encoded.losses or str(name) in str(encoded.payload)


@pytest.mark.parametrize("tools", [[], ["now"], [None], [{"name": "then"}, "now"]])
@pytest.mark.parametrize("api", APIS)
def test_added_tool_that_is_not_in_the_list_is_not_reported_as_moved_to_it(api: str, tools: list[Any]) -> None:
    change = ToolChangeContent(action="add", tools=tools)
    messages = [ChatMessage(role="user", contents="Hi."), ChatMessage(role="user", contents=[change])]
    request = ChatRequest(model="m", messages=messages, tools=[FunctionTool(name="then")])
    kinds = {loss.path: loss.kind for loss in adapter(api).encode_request(request).losses}
    assert kinds["$.messages[1].contents[0]"] == "dropped"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", [["function"], {}, 5, None, "", "tomorrow"])
def test_choice_among_tools_of_any_type_stays_unchanged(api: str, kind: Any) -> None:
    allowed = {"mode": "auto", "tools": [{"type": kind, "function": {"name": "now"}}]}
    choice = {"type": "allowed_tools", **({"allowed_tools": allowed} if api == CHAT else allowed)}
    payload = a_request(api, a_function(api), tool_choice=choice)
    assert adapter(api).encode_request(adapter(api).decode_request(payload)).payload == payload


@pytest.mark.parametrize("target", [CHAT, RESPONSES])
def test_choice_of_no_tool_drops_allowed_names(target: str) -> None:
    mode = {"functionCallingConfig": {"mode": "NONE", "allowedFunctionNames": ["a"]}}
    payload = a_request(GEMINI, a_function(GEMINI, "a"), toolConfig=mode)
    assert crossed(payload, GEMINI, target).payload["tool_choice"] == "none"


@pytest.mark.parametrize("target", [CHAT, RESPONSES, ANTHROPIC])
def test_gemini_schema_counts_as_strings_convert_to_numbers(target: str) -> None:
    schema = {"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": "1"}}}
    payload = a_request(GEMINI, tools=[{"functionDeclarations": [{"name": "f", "parameters": schema}]}])
    encoded = crossed(payload, GEMINI, target)
    [tool] = adapter(target).decode_request(encoded.payload).tools
    assert isinstance(tool, FunctionTool)
    assert tool.parameters is not None
    assert tool.parameters["properties"]["a"]["minItems"] == 1
    assert audit(payload, encoded) == []


def test_response_with_calls_and_no_finish_reason_gets_tool_calls_reason_in_chat() -> None:
    call = {"functionCall": {"name": "now", "args": {}}}
    answer = {"candidates": [{"content": {"role": "model", "parts": [call]}}]}
    made = convert(answer, source=GEMINI, target=CHAT, kind="response").payload
    assert made["choices"][0]["finish_reason"] == "tool_calls"


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


@pytest.mark.parametrize("choice", ["auto", "none", {"name": "now"}, {"name": "now", "more": 1}, {}, "other", 5, None])
@pytest.mark.parametrize("tools", [[], [a_function(CHAT, "other")]])
def test_deprecated_chat_functions_stay_unchanged_within_chat(choice: Any, tools: list[Any]) -> None:
    payload = a_request(CHAT, *tools, functions=OLD_FUNCTIONS, function_call=choice)
    assert adapter(CHAT).encode_request(adapter(CHAT).decode_request(payload)).payload == payload
    beside = {**payload, "tool_choice": "none"}
    assert adapter(CHAT).encode_request(adapter(CHAT).decode_request(beside)).payload == beside


def test_function_call_that_names_a_custom_tool_is_unchanged() -> None:
    """Found by the deep law of identity: `function_call` was written as a `tool_choice` of a custom tool."""
    custom = {"type": "custom", "custom": {"name": "now"}}
    payload = a_request(CHAT, custom, function_call={"name": "now"})
    request = adapter(CHAT).decode_request(payload)
    assert adapter(CHAT).encode_request(request).payload == payload


def test_edited_tool_choice_moves_from_function_call_to_tool_choice() -> None:
    request = adapter(CHAT).decode_request(a_request(CHAT, functions=OLD_FUNCTIONS, function_call="auto"))
    options = msgspec.structs.replace(request.options, tool_choice=ToolChoice(mode="required"))
    payload = adapter(CHAT).encode_request(msgspec.structs.replace(request, options=options)).payload
    assert payload["tool_choice"] == "required"
    assert "function_call" not in payload


def test_loss_of_deprecated_chat_setting_has_its_own_path() -> None:
    payload = a_request(CHAT, functions=[{"name": "web search"}], function_call={"name": "web search"})
    encoded = convert(payload, source=CHAT, target=ANTHROPIC, model=MODELS[ANTHROPIC])
    paths = [loss.path for loss in encoded.losses if loss.code == "mapped-name"]
    assert paths == ["$.functions[0].name", "$.function_call"]


# -- names that hosted tools have --------------------------------------------------------------------------------------


def test_function_with_name_of_hosted_tool_is_reported_as_reserved_name() -> None:
    mode = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["web_search"]}}
    payload = a_request(GEMINI, tools=[{"functionDeclarations": [{"name": "web_search"}]}, {"googleSearch": {}}])
    encoded = crossed({**payload, "toolConfig": mode}, GEMINI, ANTHROPIC)
    assert {loss.code for loss in encoded.losses} >= {"reserved-name"}
    assert "mapped-name" not in {loss.code for loss in encoded.losses}


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, CHAT])
@pytest.mark.parametrize("name", [None, "edit"])
def test_losses_of_custom_call_in_namespace_are_traced_to_the_call(name: str | None, target: str) -> None:
    call = CustomToolCallContent(call_id="c", name=name, namespace="", arguments="x")
    for role in ("assistant", "user"):
        request = ChatRequest(messages=[ChatMessage(role=role, contents=[call])])
        encoded = contentmodel.adapter(target).encode_request(request)
        assert encoded.losses
        assert encoded.untraced() == []
