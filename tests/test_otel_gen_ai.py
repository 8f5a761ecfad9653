"""OpenTelemetry's GenAI messages: the attributes of spans that others record, and those of our own observer."""

from __future__ import annotations

import dataclasses
import json
import typing
import warnings
from typing import Any

import anthropic
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

from conftest import payloads
from contentmodel import (
    ChatRequest,
    ChatResponse,
    DecodeError,
    FinishReason,
    ReasoningContent,
    adapter,
    assistant,
    audit,
    chat_client,
    convert,
    detect,
    user,
)
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import JsonContent
from contentmodel.content.tools import FunctionCallContent, FunctionResultContent
from contentmodel.errors import DetectError, EncodeError
from contentmodel.message import contents_of
from contentmodel.response import ChatChoice
from contentmodel.runner import ToolRunner
from contentmodel.runner.telemetry import OPTIONS, OpenTelemetry
from contentmodel.tools import tool
from contentmodel_conformance.server import LoopbackServer

API = "otel-gen-ai"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
FINISH = "gen_ai.response.finish_reasons"
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


@pytest.mark.parametrize("is_span", [True, False])
def test_span_object_or_its_attributes_are_a_payload(is_span: bool) -> None:
    provider = TracerProvider()
    span: Any = provider.get_tracer("test").start_span("chat", attributes=payloads(API)["span with texts"])
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
    for name in ("gen_ai.tool.definitions", INPUT, OUTPUT):
        payload = {name: text} if name != INPUT or "role" not in text else {name: text, "x": 1}
        if name == "gen_ai.tool.definitions" and "role" in text:
            continue
        assert adapter(API).encode_request(adapter(API).decode_request(payload)).payload == payload
        assert adapter(API).encode_response(adapter(API).decode_response(payload)).payload == payload


def test_streams_are_refused() -> None:
    with pytest.raises(DecodeError, match="no stream"):
        adapter(API).stream_decoder()
    with pytest.raises(EncodeError, match="no stream"):
        adapter(API).stream_encoder()


# -- detection ---------------------------------------------------------------------------------------------------------


def test_contents_of_gemini_and_parts_of_vercel_are_not_detected() -> None:
    assert detect([{"role": "user", "parts": [{"type": "text", "text": "Hi."}]}])[0] == "vercel-ui-messages"
    assert detect([{"role": "user", "parts": [{"text": "Hi."}]}])[0] == "google-generate-content"


# -- requests that instrumentations record in other forms --------------------------------------------------------------

LOOK = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}


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
