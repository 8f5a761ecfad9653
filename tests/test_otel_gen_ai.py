"""OpenTelemetry's GenAI messages: the attributes of spans that others record, and those of our own observer."""

from __future__ import annotations

import dataclasses
import json
import typing
import warnings
from typing import Any

import anthropic
import msgspec
import pytest
from mistralai.client import Mistral
from mistralai.extra.observability import set_tracer_provider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.genai import types
from opentelemetry.util.genai.utils import gen_ai_json_dumps
from pydantic_ai import Agent, BinaryContent, DocumentUrl, ImageUrl
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

import otel_spans
from contentmodel import (
    ChatRequest,
    ChatResponse,
    DecodeError,
    FinishReason,
    ReasoningContent,
    TextContent,
    Usage,
    adapter,
    assistant,
    audit,
    chat_client,
    convert,
    detect,
    tool_result,
    user,
)
from contentmodel.content import hosted
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent, ErrorContent, UnknownContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent, HostedToolCallContent
from contentmodel.errors import DetectError, EncodeError
from contentmodel.message import contents_of
from contentmodel.request import FunctionTool, HostedTool
from contentmodel.response import ChatChoice
from contentmodel.runner import ToolRunner
from contentmodel.runner.telemetry import OPTIONS, OpenTelemetry
from contentmodel.tools import tool
from contentmodel_conformance.server import LoopbackServer

API = "otel-gen-ai"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
FINISH = "gen_ai.response.finish_reasons"
PAGE = UriContent(uri="https://example.org", title="A page", kind="document")
TEXT_PART = {"type": "text", "content": "x"}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def parts_of(*parts: dict[str, Any], role: str = "assistant") -> list[Any]:
    """Return the contents of a message with these parts."""
    return adapter(API).decode_request({INPUT: [{"role": role, "parts": list(parts)}]}).messages[0].contents


def written(*contents: Any) -> list[dict[str, Any]]:
    """Return the parts of an answer that was made by hand."""
    response = ChatResponse(choices=[ChatChoice(messages=[assistant(*contents)])])
    parts: list[dict[str, Any]] = adapter(API).encode_response(response).payload[OUTPUT][0]["parts"]
    return parts


# -- identity ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", otel_spans.SPANS, ids=["lists", "texts"])
def test_span_is_encoded_unchanged(span: dict[str, Any]) -> None:
    for decode, encode in (
        (adapter(API).decode_request, adapter(API).encode_request),
        (adapter(API).decode_response, adapter(API).encode_response),
    ):
        payload = encode(decode(span)).payload
        assert payload == span


def test_empty_list_is_encoded_unchanged() -> None:
    assert adapter(API).encode_request(adapter(API).decode_request([])).payload == []


def test_list_of_messages_is_a_request() -> None:
    messages = otel_spans.SPAN[INPUT]
    assert adapter(API).encode_request(adapter(API).decode_request(messages)).payload == messages
    assert detect(messages) == (API, "request")


@pytest.mark.parametrize("is_span", [True, False])
def test_span_object_or_its_attributes_are_a_payload(is_span: bool) -> None:
    provider = TracerProvider()
    span: Any = provider.get_tracer("test").start_span("chat", attributes=otel_spans.in_texts(otel_spans.SPAN))
    payload = span if is_span else span.attributes
    assert adapter(API).decode_request(payload).options.stop_sequences == ["END"]
    assert detect(payload) == (API, "request")
    assert detect(payload, kind="response") == (API, "response")
    assert audit(payload, convert(payload, source=API, target="openai-chat", kind="request")) == []


def test_object_without_attributes_is_refused() -> None:
    provider: Any = TracerProvider()
    with pytest.raises(DecodeError, match=r"TracerProvider is not a JSON value at \$"):
        adapter(API).decode_request(provider)


@pytest.mark.parametrize("target", ["openai-chat", "langchain-messages"])
@pytest.mark.parametrize("name", [INPUT, "pydantic_ai.all_messages"])
def test_audit_finds_the_values_of_attributes_that_are_texts(name: str, target: str) -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in ("Hi.", "Again.")]
    span = {"gen_ai.operation.name": "chat", name: json.dumps(messages)}
    encoded = convert(span, source=API, target=target, kind="request")
    assert audit(span, encoded) == []
    del (encoded.payload if target == "langchain-messages" else encoded.payload["messages"])[-1]
    assert [found.path for found in audit(span, encoded)] == [f"$['{name}'][1].parts[0].content"]


@pytest.mark.parametrize(
    "text", ["", "[", "{}", "3", '"x"', "<not recorded>", " [] ", '[{"role": "user", "parts": [],\n"a": 1.0}]']
)
def test_any_text_of_an_attribute_is_kept(text: str) -> None:
    for name in otel_spans.LISTS[1:]:
        payload = {name: text} if name != INPUT or "role" not in text else {name: text, "x": 1}
        if name == "gen_ai.tool.definitions" and "role" in text:
            continue
        assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload
        assert adapter(API).encode_response(adapter(API).decode_response(payload)).payload == payload


def test_edited_messages_are_written_as_text_if_they_were_text() -> None:
    request = adapter(API).decode_request(otel_spans.in_texts({INPUT: otel_spans.SPAN[INPUT][:1]}))
    request.messages[0].contents[:] = [TextContent(text="Edited.")]
    payload = adapter(API).encode_request(request).payload
    assert json.loads(payload[INPUT]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Edited."}], "name": "Ada"}
    ]


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({INPUT: [1]}, f"$['{INPUT}'][0]"),
        ({INPUT: [{"parts": []}]}, f"$['{INPUT}'][0].role"),
        ({INPUT: [{"role": "user", "parts": [1]}]}, f"$['{INPUT}'][0].parts[0]"),
        ({INPUT: '[{"role": "user", "parts": [1]}]'}, f"$['{INPUT}'][0].parts[0]"),
        ({OUTPUT: [{"parts": []}]}, f"$['{OUTPUT}'][0].role"),
    ],
)
def test_fault_has_a_path_with_the_attribute(payload: Any, path: str) -> None:
    decode = adapter(API).decode_request if INPUT in payload else adapter(API).decode_response
    with pytest.raises(DecodeError) as caught:
        decode(payload)
    assert caught.value.faults[0].path == path


@pytest.mark.parametrize("span", otel_spans.SPANS, ids=["lists", "texts"])
def test_loss_has_a_path_with_the_attribute(span: dict[str, Any]) -> None:
    losses = convert(span, source=API, target="openai-chat", kind="request").losses
    paths = [loss.path for loss in losses if loss.what == "UnknownContent"]
    assert f"$['{INPUT}'][0].parts[9]" in paths


def test_streams_are_refused() -> None:
    with pytest.raises(DecodeError, match="no stream"):
        adapter(API).stream_decoder()
    with pytest.raises(EncodeError, match="no stream"):
        adapter(API).stream_encoder()


# -- parts -------------------------------------------------------------------------------------------------------------


def test_each_part_decodes_to_its_content_type() -> None:
    classes = [type(content) for content in parts_of(*otel_spans.PARTS, *otel_spans.ANSWER)]
    assert classes == [
        *(TextContent, DataContent, DataContent, UnknownContent, HostedFileContent, UriContent, UriContent),
        *(UriContent, DataContent, UnknownContent),
        *(ReasoningContent, ReasoningContent, CompactionContent, CompactionContent),
        *(FunctionCallContent, FunctionCallContent),
        *(hosted.WebSearchToolCallContent, hosted.WebSearchToolResultContent),
        *(HostedToolCallContent, hosted.HostedToolResultContent),
        *(hosted.CodeInterpreterToolCallContent, hosted.CodeInterpreterToolResultContent),
    ]


def test_media_have_their_kinds() -> None:
    picture, sound = parts_of(*otel_spans.PARTS[1:3])
    assert (picture.media_type, picture.data, sound.transcript) == ("image/png", "iVBORw0KGgo=", "Hello.")
    file, link, other = parts_of(*otel_spans.PARTS[4:7])
    assert (file.kind, link.kind, other.kind) == ("document", "image", "hologram")


def test_response_of_a_tool_is_text_parts_or_json() -> None:
    outputs = [content.outputs for content in parts_of(*otel_spans.RESULTS, role="tool")]
    assert [[type(output) for output in each] for each in outputs] == [
        *([JsonContent], [TextContent], [TextContent], [TextContent], [], [JsonContent], [JsonContent])
    ]
    assert outputs[0][0].value == {"degrees": 18}
    assert outputs[3][0].text == "of MCP"
    assert outputs[6][0].value == [{"type": "text", "text": "of MCP"}, {"type": "image"}]


def test_server_tool_call_has_the_arguments_beside_its_type() -> None:
    search, found, gaze = parts_of(*otel_spans.ANSWER[6:9])
    assert search.arguments == {"query": "x"}
    assert found.outputs == [
        JsonContent(value={"type": "web_search_20250305", "results": [{"url": "https://example.org"}]})
    ]
    assert (gaze.name, gaze.arguments) == ("gaze", {"type": "crystal_ball", "question": "?"})


@pytest.mark.parametrize(
    "call",
    [
        hosted.WebSearchToolCallContent(call_id="s", name="search", arguments={"query": "x"}),
        hosted.WebSearchToolCallContent(call_id="s", name="search", arguments={"type": "search", "query": "x"}),
        hosted.WebSearchToolCallContent(call_id="s", name="search", arguments={"arguments": {}}),
        hosted.WebSearchToolCallContent(call_id="s", name="search", arguments="{"),
        hosted.WebSearchToolCallContent(call_id="s", name="search", arguments={}),
        hosted.McpServerToolCallContent(call_id="s", name="look", server="weather", arguments={"server": 1}),
        HostedToolCallContent(call_id="s", name="gaze", arguments={"question": "?"}),
    ],
)
def test_call_of_a_hosted_tool_survives_a_round_trip(call: Any) -> None:
    (part,) = written(call)
    assert part["type"] == "server_tool_call"
    (decoded,) = parts_of(part)
    assert (type(decoded), decoded.name, decoded.arguments) == (type(call), call.name, call.arguments)
    assert getattr(decoded, "server", None) == getattr(call, "server", None)


@pytest.mark.parametrize(
    "result",
    [
        hosted.WebSearchToolResultContent(
            call_id="s", outputs=[UriContent(uri="https://example.org", title="A", kind="document")]
        ),
        hosted.WebSearchToolResultContent(call_id="s", outputs=[JsonContent(value={"results": [1]})]),
        hosted.WebSearchToolResultContent(
            call_id="s", outputs=[JsonContent(value={"outputs": [{"type": "text", "content": ""}]})]
        ),
        hosted.WebSearchToolResultContent(call_id="s", outputs=[JsonContent(value=[1]), TextContent(text="x")]),
        hosted.WebSearchToolResultContent(call_id="s", outputs=[ErrorContent(message="no", code="unavailable")]),
        hosted.ToolSearchToolResultContent(call_id="s", outputs=[], tools=[{"name": "look"}]),
        hosted.HostedToolResultContent(call_id="s", outputs=[TextContent(text="mist")], is_error=True),
    ],
)
def test_result_of_a_hosted_tool_survives_a_round_trip(result: Any) -> None:
    (part,) = written(result)
    assert part["type"] == "server_tool_call_response"
    (decoded,) = parts_of(part)
    assert type(decoded) is type(result)
    assert (decoded.outputs, decoded.is_error) == (result.outputs, result.is_error)
    assert getattr(decoded, "tools", None) == getattr(result, "tools", None)


def test_failed_result_has_a_flag() -> None:
    call = assistant(FunctionCallContent(call_id="c", name="look", arguments={}))
    request = ChatRequest(messages=[call, tool_result("c", "No.", is_error=True)])
    encoded = adapter(API).encode_request(request)
    assert encoded.payload[INPUT][1] == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c", "is_error": True, "response": "No."}],
    }
    assert encoded.losses == ()


def test_arguments_are_written_as_an_object_if_they_are_json() -> None:
    calls = [FunctionCallContent(call_id="c", name="f", arguments=text) for text in ('{"a":1}', "{", "[1]", "")]
    assert [part["arguments"] for part in written(*calls)] == [{"a": 1}, "{", "[1]", {}]


def test_reasoning_is_recorded_without_its_signature() -> None:
    source = {
        "model": "claude-opus-5",
        "max_tokens": 2000,
        "messages": [
            {"role": "user", "content": "Hi."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "A greeting.", "signature": "AAAA"},
                    {"type": "text", "text": "Hello."},
                ],
            },
        ],
    }
    encoded = convert(source, source="anthropic-messages", target=API)
    assert encoded.payload[INPUT][1]["parts"] == [
        {"type": "reasoning", "content": "A greeting."},
        {"type": "text", "content": "Hello."},
    ]
    assert [loss.path for loss in encoded.losses if loss.kind == "dropped"] == ["$.messages[1].content[0].signature"]


# -- responses ---------------------------------------------------------------------------------------------------------


def test_response_has_choices_usage_and_finish_reasons() -> None:
    response = adapter(API).decode_response(otel_spans.SPAN)
    assert (response.id, response.model, response.text) == ("msg_1", "claude-opus-5-20260101", "A cat.")
    assert response.finish_reason == FinishReason(reason="stop", raw="stop")
    assert response.usage == Usage(input_tokens=120, output_tokens=30, cache_read_tokens=100)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("tool_call", "tool_calls"),
        ("tool_calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("end_turn", "stop"),
        ("MAX_TOKENS", "length"),
        ("safety", "content_filter"),
        ("FinishReason.MAX_TOKENS", "length"),
        ("solar_flare", "other"),
        ("", "other"),
    ],
)
@pytest.mark.parametrize("form", ["in the message", "in the list", "null"])
def test_finish_reason_is_read_from_the_message_or_the_list(value: str, reason: str, form: str) -> None:
    message: dict[str, Any] = {"role": "assistant", "parts": [{"type": "text", "content": "x"}]}
    own = {"in the message": {"finish_reason": value}, "in the list": {}, "null": {"finish_reason": None}}[form]
    payload: dict[str, Any] = {OUTPUT: [{**message, **own}], FINISH: [value]}
    response = adapter(API).decode_response(payload)
    assert response.finish_reason == FinishReason(reason=reason, raw=value)
    assert adapter(API).encode_response(response).payload == payload
    response.choices[0] = ChatChoice(
        messages=response.messages, finish_reason=FinishReason(reason="error"), extra=response.choices[0].extra
    )
    assert adapter(API).encode_response(response).payload[FINISH] == ["error"]


def test_list_of_finish_reasons_may_be_text() -> None:
    payload = {OUTPUT: [{"role": "assistant", "parts": []}], FINISH: '["length"]'}
    response = adapter(API).decode_response(payload)
    assert response.finish_reason == FinishReason(reason="length", raw="length")
    assert adapter(API).encode_response(response).payload == payload
    assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload
    assert audit(payload, convert(payload, source=API, target="openai-chat", kind="response")) == []


def test_list_of_finish_reasons_that_disagrees_is_kept() -> None:
    message = {"role": "assistant", "parts": [], "finish_reason": "stop"}
    for reasons in (["length"], ["stop", "stop"], [], [1], "stop", '["length"]', "[", "{}"):
        payload = {OUTPUT: [message], FINISH: reasons}
        assert adapter(API).encode_response(adapter(API).decode_response(payload)).payload == payload


@pytest.mark.parametrize(
    ("reason", "value"),
    [
        (FinishReason(reason="tool_calls", raw="tool_use"), "tool_call"),
        (FinishReason(reason="stop", raw="end_turn"), "stop"),
        (FinishReason(reason="refusal", raw="refusal"), "refusal"),
        (FinishReason(reason="other", raw="solar_flare"), "solar_flare"),
    ],
)
def test_finish_reason_of_another_api_is_that_of_the_conventions(reason: FinishReason, value: str) -> None:
    response = ChatResponse(choices=[ChatChoice(messages=[assistant("Hi.")], finish_reason=reason)])
    payload = adapter(API).encode_response(response).payload
    assert (payload[OUTPUT][0]["finish_reason"], payload[FINISH]) == (value, [value])


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("gen_ai.usage.cache_write.input_tokens", "cache_write_tokens"),
        ("gen_ai.usage.cache_creation.input_tokens", "cache_write_tokens"),
        ("gen_ai.usage.prompt_tokens", "input_tokens"),
        ("gen_ai.usage.completion_tokens", "output_tokens"),
    ],
)
def test_counters_are_read_under_all_their_names(name: str, attribute: str) -> None:
    payload = {name: 7, "gen_ai.response.id": "r"}
    response = adapter(API).decode_response(payload)
    assert getattr(response.usage, attribute) == 7
    assert adapter(API).encode_response(response).payload == payload


def test_error_of_a_span_decodes_to_an_error() -> None:
    payload = {OUTPUT: [], "error.type": "429", "error.message": "slowly"}
    response = adapter(API).decode_response(payload)
    assert response.error == ErrorContent(message="slowly", code="429", kind="rate_limit")
    assert adapter(API).encode_response(response).payload == payload


# -- detection ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({INPUT: "[]", OUTPUT: "[]"}, "request"),
        ({OUTPUT: "[]"}, "response"),
        ({"gen_ai.request.model": "m"}, "request"),
        ({"gen_ai.request.model": "m", "gen_ai.response.id": "r"}, "response"),
    ],
)
def test_span_is_detected(payload: Any, kind: str) -> None:
    assert detect(payload) == (API, kind)


def test_contents_of_gemini_and_parts_of_vercel_are_not_detected() -> None:
    assert detect([{"role": "user", "parts": [{"type": "text", "text": "Hi."}]}])[0] == "vercel-ui-messages"
    assert detect([{"role": "user", "parts": [{"text": "Hi."}]}])[0] == "google-generate-content"


# -- requests that instrumentations record in other forms --------------------------------------------------------------

LOOK = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
SCHEMA = LOOK["parameters"]


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": LOOK},
        LOOK,
        {"name": "look", "description": "Look.", "input_schema": SCHEMA},
        {"toolSpec": {"name": "look", "description": "Look.", "inputSchema": {"json": SCHEMA}}},
    ],
    ids=["of Chat Completions", "without a type", "of Messages", "of Converse"],
)
def test_definition_in_the_form_of_a_provider_is_a_function(definition: dict[str, Any]) -> None:
    span = {INPUT: [{"role": "user", "parts": [TEXT_PART]}], "gen_ai.tool.definitions": json.dumps([definition])}
    request = adapter(API).decode_request(span)
    (function,) = request.tools
    assert isinstance(function, FunctionTool)
    assert (function.name, function.description, function.parameters) == ("look", "Look.", SCHEMA)
    assert adapter(API).encode_request(request).payload == span
    encoded = convert(span, source=API, target="openai-chat", kind="request")
    assert encoded.payload["tools"] == [{"type": "function", "function": LOOK}]
    assert audit(span, encoded) == []
    request.tools[0] = msgspec.structs.replace(function, name="gaze")
    assert "gaze" in adapter(API).encode_request(request).payload["gen_ai.tool.definitions"]


@pytest.mark.parametrize("definition", [{"name": "look"}, {"type": "search", "parameters": {}}, {"parameters": {}}])
def test_definition_without_the_fields_of_a_function_is_another_tool(definition: dict[str, Any]) -> None:
    span = {"gen_ai.tool.definitions": [definition]}
    request = adapter(API).decode_request(span)
    assert isinstance(request.tools[0], HostedTool)
    assert adapter(API).encode_request(request).payload == span


def test_tool_of_a_provider_is_written_with_a_name() -> None:
    request = {"model": "gpt-5.2", "input": "Hi.", "tools": [{"type": "web_search"}]}
    payload = convert(request, source="openai-responses", target=API).payload
    assert payload["gen_ai.tool.definitions"] == [{"type": "web_search", "name": "web_search"}]


MESSAGES = [
    {"parts": [{"type": "text", "content": "Be brief."}, {"type": "gesture"}], "origin": "app"},
    {"parts": [{"type": "text", "content": "Be kind."}]},
]


def test_instructions_may_be_messages() -> None:
    span = {"gen_ai.system_instructions": json.dumps(MESSAGES), INPUT: [{"role": "user", "parts": [TEXT_PART]}]}
    request = adapter(API).decode_request(span)
    first, unknown, second = request.instructions
    assert (getattr(first, "text", None), getattr(second, "text", None)) == ("Be brief.", "Be kind.")
    assert isinstance(unknown, UnknownContent)
    assert adapter(API).encode_request(request).payload == span
    encoded = convert(span, source=API, target="openai-chat", kind="request")
    assert [part["text"] for part in encoded.payload["messages"][0]["content"]] == ["Be brief.", "Be kind."]
    assert audit(span, encoded) == []
    path = "$['gen_ai.system_instructions'][0]"
    assert {loss.path for loss in encoded.losses} >= {f"{path}.origin", f"{path}.parts[1]"}


def test_edited_instructions_stay_in_their_messages() -> None:
    request = adapter(API).decode_request({"gen_ai.system_instructions": MESSAGES})
    del request.instructions[1]
    request.instructions.append(TextContent(text="Be quick."))
    first, second = adapter(API).encode_request(request).payload["gen_ai.system_instructions"]
    assert first == {"origin": "app", "parts": [{"type": "text", "content": "Be brief."}]}
    assert [part["content"] for part in second["parts"]] == ["Be kind.", "Be quick."]
    request.instructions.insert(0, TextContent(text="Be first."))
    parts = adapter(API).encode_request(request).payload["gen_ai.system_instructions"]
    assert [part["content"] for part in parts] == ["Be first.", "Be brief.", "Be kind.", "Be quick."]


@pytest.mark.parametrize("items", [[{"parts": []}], [{"parts": [1]}], [{"parts": "x"}], [MESSAGES[0], TEXT_PART]])
def test_other_instructions_without_a_type_are_kept(items: list[Any]) -> None:
    span = {"gen_ai.system_instructions": items}
    assert adapter(API).encode_request(adapter(API).decode_request(span)).payload == span


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What is it?"}], "name": "Ada"},
    {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/b.png"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Look.",
        "tool_calls": [{"id": "c_1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "c_1", "content": "A cat."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Again."},
            {"type": "tool_use", "id": "c_2", "name": "look", "input": {"at": 2}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c_2", "content": "A dog."}]},
    {"role": "model", "content": "Both."},
    {"role": "model", "parts": [{"type": "text", "content": "Really."}]},
    {"role": "user", "content": ""},
]


@pytest.mark.parametrize("spelled", [list, json.dumps])
def test_messages_of_chat_completions_and_messages_are_read(spelled: Any) -> None:
    span = {INPUT: spelled(CHAT)}
    request = adapter(API).decode_request(span)
    assert adapter(API).encode_request(request).payload == span
    assert [message.role for message in request.messages] == [
        *("system", "user", "user", "assistant", "tool", "assistant", "user", "assistant", "assistant", "user")
    ]
    assert [type(content) for content in request.messages[2].contents] == [
        *(DataContent, UriContent, UriContent, DataContent)
    ]
    assert request.messages[3].contents[1:] == [FunctionCallContent(call_id="c_1", name="look", arguments='{"at": 1}')]
    encoded = convert(span, source=API, target="openai-chat", kind="request", model="gpt-5.2")
    assert [message["role"] for message in encoded.payload["messages"]] == [
        *("system", "user", "user", "assistant", "tool", "assistant", "tool", "assistant", "assistant", "user")
    ]
    assert encoded.payload["messages"][4] == {"role": "tool", "tool_call_id": "c_1", "content": "A cat."}
    assert audit(span, encoded) == []


def test_edited_message_keeps_its_form() -> None:
    request = adapter(API).decode_request({INPUT: CHAT})
    for at, text in ((0, "Be kind."), (1, "Why?"), (7, "None.")):
        request.messages[at].contents[:] = [TextContent(text=text)]
    request.messages[3].contents.insert(1, TextContent(text="I look."))
    messages = adapter(API).encode_request(request).payload[INPUT]
    assert [messages[at]["content"] for at in (0, 1, 3, 7)] == ["Be kind.", "Why?", "I look.", "None."]
    assert [messages[at]["role"] for at in (7, 8)] == ["model", "model"]
    request.messages[4].contents.append(TextContent(text="It is grey."))
    message = adapter(API).encode_request(request).payload[INPUT][4]
    assert [part["type"] for part in message["parts"]] == ["tool_call_response", "text"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Hi."},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "finish_reason": "stop"},
        {"role": "model", "parts": [{"type": "text", "content": "Hi."}], "finish_reason": "STOP"},
    ],
)
def test_answer_of_chat_completions_or_gemini_is_read(message: dict[str, Any]) -> None:
    span = {OUTPUT: json.dumps([message])}
    response = adapter(API).decode_response(span)
    assert (response.text, response.choices[0].messages[0].role) == ("Hi.", "assistant")
    assert adapter(API).encode_response(response).payload == span
    encoded = convert(span, source=API, target="openai-chat", kind="response")
    assert encoded.payload["choices"][0]["message"]["content"] == "Hi."
    assert audit(span, encoded) == []


def test_call_of_the_role_model_is_sent() -> None:
    call = {"type": "tool_call", "id": "c", "name": "look", "arguments": {"at": 1}}
    span = {OUTPUT: [{"role": "model", "parts": [call], "finish_reason": "STOP"}]}
    encoded = convert(span, source=API, target="openai-chat", kind="response")
    assert encoded.payload["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "look"
    assert [loss for loss in encoded.losses if loss.kind != "insignificant"] == []


def test_plain_texts_are_messages_and_instructions() -> None:
    span = {INPUT: "What is it?", "gen_ai.system_instructions": "Be brief.", OUTPUT: "A cat.", FINISH: ["stop"]}
    request, response = adapter(API).decode_request(span), adapter(API).decode_response(span)
    assert adapter(API).encode_request(request).payload == span
    assert adapter(API).encode_response(response).payload == span
    assert [message.contents for message in request.messages] == [[TextContent(text="What is it?")]]
    assert request.instructions == [TextContent(text="Be brief.")]
    assert response.text == "A cat."
    encoded = convert(span, source=API, target="openai-chat", kind="request")
    assert [message["content"] for message in encoded.payload["messages"]] == ["Be brief.", "What is it?"]
    assert audit(span, encoded) == []
    request.messages[0].contents[:] = [TextContent(text="Why?")]
    edited = json.loads(adapter(API).encode_request(request).payload[INPUT])
    assert edited == [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]


def test_text_that_is_cut_off_is_no_message() -> None:
    span = {INPUT: '[{"role": "user", "content": "What', "gen_ai.request.model": "m"}
    assert adapter(API).decode_request(span).messages == []
    losses = convert(span, source=API, target="openai-chat", kind="request").losses
    assert f"$['{INPUT}']" in [loss.path for loss in losses if loss.kind == "dropped"]


def test_instructions_may_be_messages_with_content() -> None:
    items = [{"role": "system", "content": "Be brief."}, {"content": [{"type": "text", "text": "Be kind."}]}]
    span = {"gen_ai.system_instructions": items, INPUT: CHAT[1:2]}
    request = adapter(API).decode_request(span)
    assert [content.text for content in request.instructions] == ["Be brief.", "Be kind."]  # type: ignore[attr-defined]
    assert adapter(API).encode_request(request).payload == span
    assert audit(span, convert(span, source=API, target="openai-chat", kind="request")) == []
    request.instructions.insert(1, TextContent(text="Be quick."))
    first, second = adapter(API).encode_request(request).payload["gen_ai.system_instructions"]
    assert [part["text"] for part in first["content"]] == ["Be brief.", "Be quick."]
    assert second == items[1]


# Backends that store attributes as texts.
TEXTS = {
    "gen_ai.request.max_tokens": "300",
    "gen_ai.request.temperature": "0.70",
    "gen_ai.request.stream": "true",
    "gen_ai.request.seed": "five",
    "gen_ai.request.stop_sequences": '["END"]',
    "gen_ai.usage.input_tokens": "313",
    "gen_ai.usage.completion_tokens": "9",
    "gen_ai.usage.reasoning.output_tokens": "unknown",
}


def test_numbers_may_be_texts() -> None:
    request, response = adapter(API).decode_request(TEXTS), adapter(API).decode_response(TEXTS)
    options, usage = request.options, response.usage
    assert (options.max_output_tokens, options.temperature, options.stream) == (300, 0.7, True)
    assert (options.stop_sequences, options.seed) == (["END"], None)
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (313, 9)
    assert adapter(API).encode_request(request).payload == TEXTS
    assert adapter(API).encode_response(response).payload == TEXTS
    edited = msgspec.structs.replace(response, usage=msgspec.structs.replace(usage, input_tokens=5))
    payload = adapter(API).encode_response(edited).payload
    assert payload == {**TEXTS, "gen_ai.usage.input_tokens": "5"}


def test_count_that_is_no_number_is_a_significant_loss() -> None:
    encoded = convert(TEXTS, source=API, target="openai-chat", kind="response")
    assert [loss.path for loss in encoded.losses if loss.kind == "dropped"] == [
        "$['gen_ai.usage.reasoning.output_tokens']"
    ]
    assert audit(TEXTS, encoded) == []
    encoded = convert(TEXTS, source=API, target="openai-chat", kind="request", model="gpt-4.1")
    assert [loss.path for loss in encoded.losses if loss.kind == "dropped"] == ["$['gen_ai.request.seed']"]


def test_parts_of_google_genai_are_media() -> None:
    data, file = parts_of(
        {"type": "blob", "mime_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "file_data", "mime_type": "application/pdf", "uri": "gs://bucket/a.pdf"},
        role="user",
    )
    assert (data.media_type, data.data) == ("image/png", "iVBORw0KGgo=")
    assert (file.media_type, file.uri) == ("application/pdf", "gs://bucket/a.pdf")


@pytest.mark.parametrize(
    ("modality", "media_type", "kind"),
    [
        ("image", "application/pdf", "document"),
        ("image", "audio/wav", "audio"),
        ("image", "image/png", "image"),
        ("image", "application/octet-stream", "image"),
        ("hologram", "image/png", "hologram"),
    ],
)
def test_media_type_decides_about_the_kind(modality: str, media_type: str, kind: str) -> None:
    part = {"type": "uri", "modality": modality, "mime_type": media_type, "uri": "https://example.org/a"}
    span = {INPUT: [{"role": "user", "parts": [part]}]}
    request = adapter(API).decode_request(span)
    assert request.messages[0].contents[0].media_kind == kind  # type: ignore[attr-defined]
    assert adapter(API).encode_request(request).payload == span


def test_functions_of_gemini_are_tools() -> None:
    functions: list[dict[str, Any]] = [LOOK, {"name": "gaze", "parameters_json_schema": SCHEMA}]
    search: dict[str, Any] = {"function_declarations": [LOOK], "google_search": {}}
    definitions = [{"function_declarations": functions, "retrieval": None}, search, {"type": "function", **LOOK}]
    span = {INPUT: CHAT[1:2], "gen_ai.tool.definitions": json.dumps(definitions)}
    request = adapter(API).decode_request(span)
    assert [type(one) for one in request.tools] == [FunctionTool, FunctionTool, HostedTool, FunctionTool]
    assert adapter(API).encode_request(request).payload == span
    encoded = convert(span, source=API, target="openai-chat", kind="request")
    assert [one["function"]["name"] for one in encoded.payload["tools"]] == ["look", "gaze", "look"]
    assert [loss.path for loss in encoded.losses if loss.what == "HostedTool"] == ["$['gen_ai.tool.definitions'][1]"]
    assert audit(span, encoded) == []
    request.tools[1:1] = [FunctionTool(name="nod")]
    payload = json.loads(adapter(API).encode_request(request).payload["gen_ai.tool.definitions"])
    assert payload[:2] == [{"function_declarations": [LOOK], "retrieval": None}, {"type": "function", "name": "nod"}]
    assert payload[2]["name"] == "gaze"


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages", "mcp-sampling"])
def test_error_without_a_message_gets_an_empty_one(target: str) -> None:
    payload = convert({"error.type": "429"}, source=API, target=target, kind="response").payload
    assert payload.get("error", payload)["message"] == ""


@pytest.mark.parametrize(
    "messages", ["gen_ai.prompt.0.content", "gen_ai.request.messages", "request_data", "ai.prompt.messages", "events"]
)
def test_span_of_other_conventions_is_not_detected(messages: str) -> None:
    counts = {"gen_ai.usage.input_tokens": 8, "gen_ai.response.model": "m"}
    assert detect(counts) == (API, "response")
    with pytest.raises(DetectError):
        detect({messages: "Hi.", **counts})
    assert detect({messages: "Hi.", OUTPUT: "[]", **counts}) == (API, "response")


# -- the types of opentelemetry-util-genai -----------------------------------------------------------------------------

VALUES: dict[str, Any] = {
    "arguments": {"where": "out"},
    "name": "look",
    "id": "c_1",
    "response": {"degrees": 18},
    "server_tool_call": {"type": "web_search", "query": "x"},
    "server_tool_call_response": {"type": "web_search", "results": []},
    "content": "Some text.",
    "mime_type": "image/png",
    "modality": types.Modality.IMAGE,
    "file_id": "file_1",
    "uri": "https://example.org/a.png",
    "description": "Look.",
    "parameters": {"type": "object"},
}
PART_TYPES = [one for one in typing.get_args(types.MessagePart) if one is not types.GenericPart]


def made(kind: Any) -> Any:
    """Return an object of a type of the library with every field set."""
    fields = {field.name: VALUES[field.name] for field in dataclasses.fields(kind) if field.name != "type"}
    return kind(**({**fields, "content": b"\x89PNG"} if kind is types.BlobPart else fields))


def as_recorded(value: Any) -> Any:
    return json.loads(gen_ai_json_dumps(value))


@pytest.mark.parametrize("kind", PART_TYPES, ids=lambda kind: kind.__name__)
def test_every_type_of_part_has_a_row_and_all_its_fields(kind: Any) -> None:
    part = as_recorded(made(kind))
    (content,) = parts_of(part)
    assert not isinstance(content, UnknownContent)
    # The modality of data follows from its media type, and a compaction has no id in the model.
    residue = (content.extra or {}).get(API, {})
    assert residue.keys() <= {"modality", "id"}
    assert written(content)[0] == part | ({} if "id" not in residue else {"id": "c_1"})


@pytest.mark.parametrize("kind", PART_TYPES, ids=lambda kind: kind.__name__)
def test_part_that_is_written_is_of_the_type(kind: Any) -> None:
    (content,) = parts_of(as_recorded(made(kind)))
    (part,) = written(
        type(content)(**{name: getattr(content, name) for name in content.__struct_fields__ if name != "extra"})
    )
    names = {field.name for field in dataclasses.fields(kind)}
    required = {f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING and f.name != "mime_type"}
    assert required <= part.keys() <= names | {"name", "is_error"}


def test_messages_and_tools_of_the_library_are_read() -> None:
    attributes = {
        INPUT: gen_ai_json_dumps([types.InputMessage("user", [types.TextPart("Hi.")], name="Ada")]),
        OUTPUT: gen_ai_json_dumps([types.OutputMessage("assistant", [types.TextPart("Hello.")])]),
        FINISH: ("stop",),
        "gen_ai.tool.definitions": gen_ai_json_dumps(
            [made(types.FunctionToolDefinition), types.GenericToolDefinition("search", "web_search")]
        ),
    }
    request = adapter(API).decode_request(attributes)
    assert (request.messages[0].text, request.messages[0].author_name) == ("Hi.", "Ada")
    function, search = request.tools
    assert (function.name, function.description, function.parameters) == ("look", "Look.", {"type": "object"})  # type: ignore[union-attr]
    assert (search.kind, search.name) == ("web_search", "search")  # type: ignore[union-attr]
    response = adapter(API).decode_response(attributes)
    assert (response.text, response.finish_reason) == ("Hello.", FinishReason(reason="stop", raw="stop"))


def test_every_finish_reason_and_role_of_the_library_is_supported() -> None:
    for value in typing.get_args(types.FinishReason):
        message = {"role": "assistant", "parts": [], "finish_reason": value}
        finish = adapter(API).decode_response({OUTPUT: [message]}).finish_reason
        assert finish is not None
        assert finish.reason != "other"
    for role in types.Role:
        assert adapter(API).decode_request([{"role": role.value, "parts": []}]).messages[0].role == role.value


# -- spans of Pydantic AI ----------------------------------------------------------------------------------------------


def exporting() -> tuple[InMemorySpanExporter, TracerProvider]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, provider


def pydantic_ai_spans(version: Any) -> list[dict[str, Any]]:
    """Return the attributes of the spans of the model's answers, and of the run of the agent."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart("It is mild.")], finish_reason="stop")
        call = ToolCallPart("look", {"where": "out"}, tool_call_id="c_1")
        return ModelResponse([ThinkingPart("Look."), call], finish_reason="tool_call")

    exporter, provider = exporting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = InstrumentationSettings(tracer_provider=provider, version=version)
    agent = Agent(FunctionModel(answer), instructions="Be brief.", capabilities=[Instrumentation(settings=settings)])

    @agent.tool_plain
    def look(where: str) -> dict[str, int]:
        """Look."""
        return {"degrees": 18}

    image, page = ImageUrl(url="https://example.org/a.png"), DocumentUrl(url="https://example.org/a.pdf")
    agent.run_sync(["How is it?", image, page, BinaryContent(b"\x89PNG", media_type="image/png")])
    spans = [span for span in exporter.get_finished_spans() if not span.name.startswith(("running", "execute"))]
    return [json.loads(json.dumps(dict(span.attributes or {}))) for span in spans]


@pytest.mark.parametrize("version", [2, 5, 6])
def test_span_of_pydantic_ai_means_the_same_as_its_messages(version: int) -> None:
    first, last, run = pydantic_ai_spans(version)
    for span in (first, last, run):
        assert adapter(API).encode_request(adapter(API).decode_request(span)).payload == span
        assert adapter(API).encode_response(adapter(API).decode_response(span)).payload == span
    request = adapter(API).decode_request(last)
    assert [content.text for content in request.instructions] == ["Be brief."]  # type: ignore[attr-defined]
    assert [tool.name for tool in request.tools] == ["look"]
    question, call, result = request.messages
    text, image, page, data = question.contents
    assert (text.text, image.uri, page.uri) == ("How is it?", "https://example.org/a.png", "https://example.org/a.pdf")  # type: ignore[attr-defined]
    assert (image.media_kind, page.media_kind, data.to_bytes()) == ("image", "document", b"\x89PNG")  # type: ignore[attr-defined]
    assert isinstance(call.contents[0], ReasoningContent)
    assert call.contents[1] == FunctionCallContent(call_id="c_1", name="look", arguments={"where": "out"})
    assert isinstance(result.contents[0], FunctionResultContent)
    assert (result.contents[0].call_id, result.contents[0].outputs) == ("c_1", [JsonContent(value={"degrees": 18})])
    response = adapter(API).decode_response(last)
    assert (response.text, response.finish_reason) == ("It is mild.", FinishReason(reason="stop", raw="stop"))
    messages = adapter(API).decode_request(run).messages
    assert [message.contents for message in messages[:3]] == [message.contents for message in request.messages]
    assert messages[3].text == "It is mild."
    chat = convert(last, source=API, target="openai-chat", kind="request").payload["messages"]
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "tool"]


# -- spans of providers' SDKs ------------------------------------------------------------------------------------------


def test_span_of_the_anthropic_sdk_means_the_same_as_its_request() -> None:
    exporter, provider = exporting()
    traced: Any = {"tracer_provider": provider, "traces": {"content_mode": "content"}}
    messages: Any = [
        {"role": "user", "content": "How is it?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c_1", "name": "look", "input": {"where": "out"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c_1", "content": "Mild."}]},
    ]
    with LoopbackServer(["It is mild."]) as server:
        client = anthropic.Anthropic(
            base_url=server.base_url("anthropic-messages"), api_key="none", open_telemetry=traced
        )
        client.messages.create(model="claude-opus-5", max_tokens=9, system="Be brief.", messages=messages)
    (span,) = exporter.get_finished_spans()
    chat = convert(dict(span.attributes or {}), source=API, target="openai-chat", kind="request").payload["messages"]
    call = {"name": "look", "arguments": '{"where":"out"}'}
    assert chat == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is it?"},
        {"role": "assistant", "tool_calls": [{"type": "function", "id": "c_1", "function": call}]},
        {"role": "tool", "tool_call_id": "c_1", "content": "Mild."},
    ]
    assert adapter(API).decode_response(span.attributes or {}).text == "It is mild."


def test_span_of_the_mistral_sdk_means_the_same_as_its_request() -> None:
    exporter, provider = exporting()
    messages: Any = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "How is it?"}, {"type": "image_url", "image_url": PIXEL}],
        },
        {"role": "assistant", "tool_calls": [{"id": "call_0001", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_0001", "content": [{"type": "text", "text": "Mild."}]},
    ]
    with LoopbackServer(["It is mild."]) as server:
        client = Mistral(api_key="none", server_url=server.base_url("mistral-chat"))
        set_tracer_provider(client, provider)
        tools: Any = [{"type": "function", "function": LOOK}]
        client.chat.complete(model="mistral-large-latest", messages=messages, tools=tools)
    (span,) = exporter.get_finished_spans()
    payload = convert(dict(span.attributes or {}), source=API, target="openai-chat", kind="request").payload
    question, asked, result = payload["messages"]
    assert [part["type"] for part in question["content"]] == ["text", "image_url"]
    assert asked["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert result == {"role": "tool", "tool_call_id": "call_0001", "content": "Mild."}
    assert payload["tools"] == tools
    response = adapter(API).decode_response(span.attributes or {})
    assert (response.text, response.finish_reason) == ("It is mild.", FinishReason(reason="stop", raw="stop"))


# -- spans of our observer ---------------------------------------------------------------------------------------------


def test_conversation_of_our_observer_can_be_sent_to_another_provider() -> None:
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"Sunny in {city}."

    exporter, provider = exporting()
    observer = OpenTelemetry(contents=True, tracer_provider=provider)
    script: list[Any] = [{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}, "It is sunny in Oslo."]
    with LoopbackServer(script) as server:
        url = server.base_url("anthropic-messages")
        client = chat_client("anthropic-messages", model="claude-opus-5", api_key="none", base_url=url)
        question = ChatRequest(instructions="Be brief.", messages=[user("Is it sunny in Oslo?")])
        result = ToolRunner(client, [weather], observer=observer).run(question)
    span = [span for span in exporter.get_finished_spans() if span.name.startswith("chat")][-1]
    request = adapter(API).decode_request(span.attributes or {})
    assert not [content for content in contents_of(request.messages) if isinstance(content, UnknownContent)]
    replayed = convert(dict(span.attributes or {}), source=API, target="openai-chat", kind="request")
    call_id = result.report.calls[0].call_id
    call = {"name": "weather", "arguments": '{"city":"Oslo"}'}
    assert replayed.payload["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it sunny in Oslo?"},
        {"role": "assistant", "tool_calls": [{"type": "function", "id": call_id, "function": call}]},
        {"role": "tool", "tool_call_id": call_id, "content": "Sunny in Oslo."},
    ]
    assert replayed.payload["tools"][0]["function"]["name"] == "weather"
    assert adapter(API).decode_response(span.attributes or {}).text == "It is sunny in Oslo."


def test_every_option_of_the_observer_is_read() -> None:
    rows = adapter(API).describe()["records"]["request"]["fields"]
    read = {name.replace("\\.", "."): field["attribute"] for name, field in rows.items()}
    # The id of a stored conversation would continue it, so a replay must not send it.
    recorded = {name: f"options.{option}" for option, name in OPTIONS.items() if option != "conversation_id"}
    assert recorded.items() <= read.items()
