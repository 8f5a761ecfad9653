"""The JSON of the model and its schema, and values of the wrong type."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given

import contentmodel
from conftest import APIS
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    DataContent,
    DecodeError,
    DocumentContent,
    EncodeError,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    HostedToolResultContent,
    TextContent,
    UnknownContent,
    UriContent,
    dumps,
    loads,
    schema,
)
from contentmodel.content import MediaContent, WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.errors import ToolArgumentsError
from contentmodel.pairs import TranscriptIndex
from contentmodel.serialize import to_builtins
from contentmodel_conformance.strategies import model as strategies

VALIDATOR = jsonschema.Draft202012Validator(schema())
DOCUMENTS = Path(__file__).parent / "stored" / "documents" / "version_1.jsonl"
"""Documents that version 1 of the format wrote, one of each kind. Do not write them again."""


@pytest.mark.slow
def test_schema_is_valid_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({"contentmodel": 1, "kind": "message", "value": {"contents": []}})


MESSAGE = ChatMessage(
    role="assistant",
    contents=[
        TextContent(text="hi"),
        WebSearchToolCallContent(call_id="1", arguments={"query": "x"}),
        WebSearchToolResultContent(call_id="1", outputs=[UriContent(uri="https://a.example", title="A")]),
    ],
)


@pytest.mark.parametrize(
    "value",
    [
        MESSAGE,
        [MESSAGE, MESSAGE],
        ChatRequest(model="m", messages=[MESSAGE]),
        MESSAGE.contents[1],
        MESSAGE.contents,
        contentmodel.Usage(input_tokens=3),
        contentmodel.ChatResponse(choices=[contentmodel.ChatChoice(messages=[MESSAGE])]),
    ],
)
def test_values_survive_json_round_trip_and_fit_schema(value: Any) -> None:
    assert loads(dumps(value)) == value
    VALIDATOR.validate(json.loads(dumps(value)))


@pytest.mark.parametrize("line", DOCUMENTS.read_text().splitlines(), ids=lambda line: json.loads(line)["kind"])
def test_documents_of_version_1_are_read_and_fit_the_schema(line: str) -> None:
    document = json.loads(line)
    VALIDATOR.validate(document)
    assert json.loads(dumps(loads(line))) == {**document, "contentmodel": 2}


def test_stored_documents_of_version_1_have_every_kind() -> None:
    kinds = {json.loads(line)["kind"] for line in DOCUMENTS.read_text().splitlines()}
    assert kinds == set(schema()["properties"]["kind"]["enum"])


def test_newer_content_types_and_fields_survive_a_round_trip() -> None:
    newer = {
        "contentmodel": 2,
        "kind": "message",
        "value": {
            "role": "assistant",
            "mood": "calm",
            "contents": [
                {"type": "hologram", "shape": [1, 2]},
                {"type": "text", "text": "hi", "tone": {"warm": True}},
                {"type": "hosted_tool_result", "outputs": [{"type": "hologram"}], "cost": 3},
            ],
        },
    }
    message = loads(json.dumps(newer))
    assert isinstance(message.contents[0], UnknownContent)
    assert message.contents[0].block == {"type": "hologram", "shape": [1, 2]}
    assert message.contents[1].text == "hi"
    assert json.loads(dumps(message)) == newer


NESTED: list[tuple[str, dict[str, Any]]] = [
    ("request", {"options": {"mood": 1}}),
    (
        "request",
        {"options": {"top_k": 3, "reasoning": {"effort": "low", "mood": {"a": [1]}}, "mood": 1}},
    ),
    ("request", {"options": {"tool_choice": {"mode": "auto", "mood": 1}}}),
    ("message", {"role": "user", "origin": {"api": "a", "issuer": "i", "mood": None}}),
    (
        "content",
        {
            "type": "text",
            "text": "a",
            "protected": {"issuer": "i", "kind": "k", "data": "d", "mood": 2},
            "annotations": [{"title": "t", "span": {"start": 1, "end": 2, "mood": 1}}],
            "mood": 3,
        },
    ),
    ("response", {"choices": [{"finish_reason": {"reason": "stop", "mood": 1}}]}),
    ("event", {"type": "turn_start", "response": {"origin": {"api": "a", "issuer": "i", "mood": 1}}}),
]


@pytest.mark.parametrize(("kind", "value"), NESTED)
def test_newer_fields_of_types_without_extra_are_kept_in_the_type_around_them(kind: str, value: dict[str, Any]) -> None:
    document = {"contentmodel": 2, "kind": kind, "value": value}
    read = loads(json.dumps(document))
    assert json.loads(dumps(read)) == document
    assert to_builtins(read) == value


def test_newer_fields_are_dropped_with_the_object_that_had_them() -> None:
    value = {"type": "text", "text": "a", "protected": {"issuer": "i", "kind": "k", "data": "d", "mood": 2}}
    content = loads(json.dumps({"contentmodel": 1, "kind": "content", "value": value}))
    bare = msgspec.structs.replace(content, protected=None)
    assert json.loads(dumps(bare))["value"] == {"type": "text", "text": "a"}


def test_forged_tag_of_a_newer_type_is_not_written() -> None:
    tool = FunctionTool(name="f", extra={"contentmodel": {"type": "newer"}})
    request = ChatRequest(tools=[tool])
    assert loads(dumps(request)).tools == [msgspec.structs.replace(tool, extra=None)]


def test_newer_fields_at_a_path_that_does_not_exist_leave_no_trace() -> None:
    request = ChatRequest(extra={"contentmodel": {"$.tools[9]": {"mood": 1}, "$.options.reasoning": {}}})
    assert json.loads(dumps(request))["value"] == to_builtins(ChatRequest())


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"type": "text_delta", "index": 0, "text": "a", "mood": 1}, "$.value.mood"),
        (
            {"type": "signature_delta", "index": 0, "protected": {"issuer": "i", "kind": "k", "data": "d", "mood": 1}},
            "$.value.protected.mood",
        ),
    ],
)
def test_loads_rejects_newer_field_of_event_with_its_path(value: dict[str, Any], path: str) -> None:
    with pytest.raises(DecodeError, match="has no such field in this version") as raised:
        loads(json.dumps({"contentmodel": 1, "kind": "event", "value": value}))
    assert [fault.path for fault in raised.value.faults] == [path]


@pytest.mark.parametrize("extra", [5, "text", [1], {"contentmodel": 5}])
def test_loads_rejects_extra_of_wrong_type_beside_newer_field(extra: Any) -> None:
    value = {"role": "user", "contents": [], "mood": 1, "extra": extra}
    with pytest.raises(DecodeError):
        loads(json.dumps({"contentmodel": 1, "kind": "message", "value": value}))


@pytest.mark.parametrize(
    "arguments",
    [
        {"extra": {"contentmodel": {"a": 1}}},
        {"deep": [{"type": "unknown", "api": "contentmodel", "block": {"type": "newer"}}]},
    ],
)
def test_arguments_that_look_like_newer_fields_stay_unchanged(arguments: dict[str, Any]) -> None:
    call = FunctionCallContent(call_id="1", name="f", arguments=arguments)
    assert loads(dumps(call)) == call
    assert to_builtins(call)["arguments"] == arguments


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (b"[]", "$"),
        (b'{"contentmodel": "one"}', "$.contentmodel"),
        (b'{"contentmodel": 1, "kind": "poem"}', "$.kind"),
        (b'{"contentmodel": 1, "kind": "message", "value": {"role": 5}}', "$.value.role"),
        (b'{"contentmodel": 1, "kind": "message", "value": {"role": "a", "contents": [3]}}', "$.value.contents[0]"),
    ],
)
def test_loads_reports_path_of_invalid_document(document: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as raised:
        loads(document)
    assert raised.value.faults[0].path == path


def test_base_classes_give_error_arguments_and_tool_calls() -> None:
    failed = HostedToolResultContent(outputs=[ErrorContent(message="too many", code="max_uses_exceeded")])
    assert failed.error is not None
    assert failed.error.code == "max_uses_exceeded"
    call = FunctionCallContent(call_id="1", name="f", arguments='{"a": 1}')
    assert (call.arguments_object, call.arguments_text, call.executor) == ({"a": 1}, '{"a": 1}', "client")
    assert [c.name for c in ChatMessage(role="assistant", contents=[call, *MESSAGE.contents]).tool_calls] == ["f"]


@pytest.mark.parametrize("text", ["{", "[1]", "nonsense", '"{}"'])
def test_arguments_object_raises_if_text_is_not_a_json_object(text: str) -> None:
    with pytest.raises(ToolArgumentsError, match="not a JSON object"):
        _ = FunctionCallContent(name="f", arguments=text).arguments_object


def test_media_type_comparison_ignores_case_and_data_stays_unchanged() -> None:
    data = DataContent(data="_-8", media_type="Image/PNG; charset=binary")
    assert data.is_media_type("image/png")
    assert data.is_media_type("IMAGE/*")
    assert not data.is_media_type("image/jpeg")
    assert data.to_bytes() == b"\xff\xef"
    assert data.data == "_-8"
    with pytest.raises(ValueError, match="not base64"):
        DataContent(data="***").to_bytes()
    assert DataContent.from_bytes(b"\xff\xef", "image/png").data == "/+8="


# Values of the wrong type ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ChatMessage(role="user", contents=5), "contents: expected a list of contents or a text, got int"),
        (lambda: ChatMessage(role="user", contents=["a", 5]), r"contents\[1\]: expected a content or a text, got int"),
        (lambda: ChatRequest(instructions=None), "instructions: expected a list of contents or a text, got NoneType"),
        (lambda: FunctionResultContent(call_id="1", outputs=5), "outputs: expected a list of contents or a text"),
        (lambda: DocumentContent(parts={"a": 1}), "parts: expected a list of contents or a text, got dict"),
    ],
)
def test_constructors_reject_contents_of_wrong_type(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_constructors_convert_text_to_text_content() -> None:
    hello = [TextContent(text="Hello")]
    assert ChatMessage(role="user", contents="Hello").contents == hello
    assert ChatMessage(role="user", contents=("Hello",)).contents == hello
    assert ChatMessage(role="user", contents=["Hello", ErrorContent()]).contents == [*hello, ErrorContent()]
    assert ChatRequest(instructions="Hello").instructions == hello
    assert FunctionResultContent(outputs="Hello").outputs == hello
    assert DocumentContent(parts="Hello").parts == hello


WRONG = [
    (TextContent(text=5), r"\$.text"),
    (ErrorContent(details={"a": {1, 2}}), r"\$.details.a"),
    (FunctionCallContent(arguments={"a": [b"x"]}), r"\$.arguments.a\[0\]"),
    (FunctionCallContent(arguments={"a": date(2026, 1, 1)}), r"date is not a JSON type at \$.arguments.a"),
    (FunctionCallContent(arguments={"a": float("nan")}), r"nan is not a JSON number at \$.arguments.a"),
    (FunctionCallContent(arguments={"a": object()}), "object"),
    (TextContent(text="a", extra={"x": {5: 1}}), r"\$.extra"),
    (contentmodel.AIContent(), r"AIContent is an abstract class: use one of its subclasses at \$"),
    (MediaContent(), r"MediaContent is an abstract class"),
    (contentmodel.ToolCallContent(call_id="1"), r"ToolCallContent is an abstract class"),
    (contentmodel.ToolResultContent(call_id="1"), r"ToolResultContent is an abstract class"),
]
ANSWERING = (*APIS, "turn-blocks")
REQUESTS = [
    (ChatRequest(messages=[ChatMessage(role=5)]), r"\$.messages\[0\].role"),
    (ChatRequest(messages="Hello"), r"\$.messages"),
    (ChatRequest(messages=["Hello"]), r"\$.messages\[0\]"),
    (ChatRequest(tools=[{"name": "now"}]), r"\$.tools\[0\]"),
    (ChatRequest(options={"temperature": 1}), r"expected ChatOptions, got dict at \$.options"),
    (ChatRequest(options=ChatOptions(temperature="hot")), r"\$.options.temperature"),
]


@pytest.mark.parametrize(("value", "path"), [*WRONG, *REQUESTS])
def test_dumps_rejects_value_that_loads_would_not_restore(value: Any, path: str) -> None:
    with pytest.raises(EncodeError, match=path):
        dumps(value)


@pytest.mark.parametrize("api", sorted(contentmodel.adapters()))
@pytest.mark.parametrize(("value", "path"), [*WRONG, *REQUESTS])
def test_encoders_reject_value_of_wrong_type(api: str, value: Any, path: str) -> None:
    if not isinstance(value, ChatRequest):
        value = ChatRequest(model="m", messages=[contentmodel.user("Hello"), contentmodel.assistant(value)])
    with pytest.raises(EncodeError, match=path.replace(r"\$", r"\$\S*")):
        contentmodel.adapter(api).encode_request(value)


@pytest.mark.parametrize("api", ANSWERING)
@pytest.mark.parametrize(("value", "path"), WRONG)
def test_encoders_reject_value_of_wrong_type_in_answers(api: str, value: Any, path: str) -> None:
    response = ChatResponse(choices=[ChatChoice(messages=[contentmodel.assistant(value)])])
    with pytest.raises(EncodeError, match=path.replace(r"\$", r"\$\S*")):
        contentmodel.adapter(api).encode_response(response)


def test_encoder_rejects_invalid_message_among_decoded_ones() -> None:
    chat = contentmodel.adapter("openai-chat")
    request = chat.decode_request({"model": "m", "messages": [{"role": "user", "content": "Hello"}]})
    messages = [*request.messages, contentmodel.user(TextContent(text=5))]
    with pytest.raises(EncodeError, match=r"\$.messages\[1\].contents\[0\].text"):
        chat.encode_request(msgspec.structs.replace(request, messages=messages))


@pytest.mark.parametrize("api", sorted(contentmodel.adapters()))
def test_encoders_reject_values_that_are_not_requests_or_responses(api: str) -> None:
    adapter: Any = contentmodel.adapter(api)
    for value in ([contentmodel.user("Hello")], contentmodel.user("Hello"), "Hello", {}, None, ChatResponse()):
        with pytest.raises(EncodeError, match=f"expected a ChatRequest, got {type(value).__name__}"):
            adapter.encode_request(value)


@pytest.mark.parametrize("api", ANSWERING)
def test_encoders_reject_request_in_place_of_response(api: str) -> None:
    adapter: Any = contentmodel.adapter(api)
    with pytest.raises(EncodeError, match="expected a ChatResponse, got ChatRequest"):
        adapter.encode_response(ChatRequest())


def test_content_class_of_application_loads_as_unknown_content() -> None:
    class NoteContent(contentmodel.AIContent, frozen=True, kw_only=True):
        words: str

    request = ChatRequest(messages=[contentmodel.user(NoteContent(words="Hello"))])
    known = contentmodel.user(UnknownContent(api="contentmodel", block={"type": "note", "words": "Hello"}))
    assert loads(dumps(request)).messages == [known]
    rows = contentmodel.adapter("turn-blocks")
    assert rows.decode_request(rows.encode_request(request).payload).messages == [known]


def test_message_helpers_set_roles_and_contents() -> None:
    call = WebSearchToolCallContent(call_id="1", name="web_search")
    assert contentmodel.system("Be brief.") == ChatMessage(role="system", contents="Be brief.")
    assert contentmodel.user("What is it?", UriContent(uri="https://a.example/b.png")).role == "user"
    assert contentmodel.assistant(call).contents == [call]
    made = contentmodel.tool_result(call, "found", is_error=True)
    result = WebSearchToolResultContent(call_id="1", name="web_search", outputs="found", is_error=True)
    assert made == ChatMessage(role="tool", contents=[result])
    result = FunctionResultContent(call_id="1", outputs=["a", "b"])
    assert contentmodel.tool_result("1", "a", "b") == ChatMessage(role="tool", contents=[result])
    named = FunctionResultContent(call_id="1", name="weather", outputs=["a"])
    assert contentmodel.tool_result("1", "a", name="weather") == ChatMessage(role="tool", contents=[named])
    with pytest.raises(TypeError, match="pass name="):
        contentmodel.tool_result()


@pytest.mark.parametrize("call_ids", [("a", "b", "c"), (None, None, None)])
def test_tool_result_of_a_name_pairs_with_the_calls_of_that_name_in_order(call_ids: tuple[str | None, ...]) -> None:
    names = ("weather", "time", "weather")
    calls = [FunctionCallContent(call_id=i, name=n, arguments={}) for i, n in zip(call_ids, names, strict=True)]
    texts = [("time", "9:00"), ("weather", "rain"), ("weather", "sun")]
    messages = [contentmodel.assistant(*calls), *(contentmodel.tool_result(None, t, name=n) for n, t in texts)]
    assert TranscriptIndex(messages).call_of == {(1, 0): (0, 1), (2, 0): (0, 0), (3, 0): (0, 2)}
    chat = contentmodel.adapter("openai-chat")
    sent: Any = chat.encode_request(ChatRequest(messages=[contentmodel.user("Go."), *messages])).payload["messages"]
    answered = dict(zip([call["id"] for call in sent[1]["tool_calls"]], names, strict=True))
    assert [(answered[m["tool_call_id"]], m["content"]) for m in sent[2:]] == texts


@given(strategies.contents())
def test_unknown_content_survives_a_round_trip_with_any_block(content: Any) -> None:
    for block in (msgspec.to_builtins(content), {"text": "no type"}, {"type": 5}, {"type": "newer"}, 7, None):
        unknown = UnknownContent(api="contentmodel", block=block)
        assert loads(dumps(unknown)) == unknown


@pytest.mark.parametrize("value", [{"text": "Hello"}, {}, {"type": 5}, "Hello", 5, None])
def test_loads_rejects_content_without_type(value: Any) -> None:
    document = {"contentmodel": 1, "kind": "contents", "value": [value]}
    with pytest.raises(DecodeError, match=r"\$.value\[0\]"):
        loads(json.dumps(document))


@pytest.mark.parametrize("version", [3, 0, -1, True, 1.0, "1", None])
def test_loads_rejects_unknown_version_of_format(version: Any) -> None:
    document = {"contentmodel": version, "kind": "message", "value": {"role": "user", "contents": []}}
    with pytest.raises(DecodeError, match=r"version .* at \$\.contentmodel$"):
        loads(json.dumps(document))
    if version == 2:
        with pytest.raises(DecodeError, match="update contentmodel"):
            loads(json.dumps(document))


def test_import_of_contentmodel_does_not_import_pydantic_or_sdks() -> None:
    script = (
        "import sys, contentmodel\n"
        "heavy = {'pydantic', 'anthropic', 'openai', 'google.genai', 'typer', 'rich', 'hypothesis'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
