"""Content types of an application: registered, read back as their classes, and encoded as their nearest base."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

import contentmodel
from contentmodel import ChatMessage, ChatRequest, ChatResponse, TextContent
from contentmodel.content import (
    AIContent,
    DocumentContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    ToolResultContent,
    UnknownContent,
    register,
    result_type,
)
from contentmodel.errors import DecodeError
from contentmodel.events import BlockStart, BlockStop, TextDelta, TurnComplete, TurnStart
from contentmodel.message import Origin
from contentmodel.response import ChatChoice
from contentmodel.serialize import dumps, loads, schema

APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content", "bedrock-converse")


class QuantumToolCallContent(HostedToolCallContent, frozen=True, kw_only=True):
    """A call of a hosted tool."""

    qubits: int = 0


class QuantumToolResultContent(HostedToolResultContent, frozen=True, kw_only=True):
    """A result of the tool."""

    shots: int = 0


class NoteContent(TextContent, frozen=True, kw_only=True):
    """A text with an author."""

    author: str | None = None


@pytest.fixture
def registered() -> None:
    for kind in (QuantumToolCallContent, QuantumToolResultContent, NoteContent):
        register(kind)


CALL = QuantumToolCallContent(call_id="q1", name="quantum", arguments={"a": 1}, qubits=3)
NOTE = NoteContent(text="Measured.", author="Ada")
RESULT = QuantumToolResultContent(call_id="q1", name="quantum", outputs=[NOTE], shots=7)
MESSAGES = [
    ChatMessage(role="user", contents=[NOTE, DocumentContent(parts=[NOTE])]),
    ChatMessage(role="assistant", contents=[CALL, RESULT]),
]
REQUEST = ChatRequest(model="m", messages=MESSAGES)


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [REQUEST, MESSAGES, RESULT, [CALL, NOTE], BlockStart(index=0, content=RESULT)])
def test_loads_returns_registered_classes(registered: None, value: Any) -> None:
    loaded = loads(dumps(value))
    assert loaded == value
    assert loads(dumps(RESULT), QuantumToolResultContent).output_list[0].__class__ is NoteContent


def test_loads_keeps_newer_fields_of_registered_class(registered: None) -> None:
    document = json.loads(dumps(RESULT))
    document["value"]["colour"] = "blue"
    loaded = loads(json.dumps(document))
    assert loaded.__class__ is QuantumToolResultContent
    assert json.loads(dumps(loaded)) == document


def test_loads_reports_path_of_wrong_field_of_registered_class(registered: None) -> None:
    document = json.loads(dumps(REQUEST))
    document["value"]["messages"][1]["contents"][1]["shots"] = "many"
    with pytest.raises(DecodeError, match=r"\$\.value\.messages\[1\]\.contents\[1\]\.shots"):
        loads(json.dumps(document))


def test_unregistered_class_loads_as_newer_type() -> None:
    assert loads(dumps(CALL)).__class__ is HostedToolCallContent
    assert loads(dumps(NOTE)).__class__ is UnknownContent
    assert dumps(loads(dumps(REQUEST))) == dumps(REQUEST)


def test_pydantic_returns_registered_classes(registered: None) -> None:
    class Note(BaseModel):
        content: contentmodel.Content
        text: TextContent

    note = Note.model_validate({"content": {"type": "note", "text": "a", "author": "b"}, "text": NOTE})
    assert note.content == NoteContent(text="a", author="b")
    assert Note.model_validate_json(note.model_dump_json()) == note
    assert TypeAdapter(ToolResultContent).validate_python(contentmodel.serialize.to_builtins(RESULT)) == RESULT
    assert '"author"' in json.dumps(TypeAdapter(AIContent).json_schema())


def test_stored_rows_return_registered_classes(registered: None) -> None:
    rows = contentmodel.adapter("turn-blocks")
    encoded = rows.encode_request(REQUEST)
    assert encoded.losses == ()
    decoded = rows.decode_request(encoded.payload)
    assert [message.contents for message in decoded.messages] == [message.contents for message in MESSAGES]


def test_schema_lists_registered_types(registered: None) -> None:
    described = schema()
    assert "author" in described["$defs"]["NoteContent"]["properties"]
    items = described["$defs"]["ChatMessage"]["properties"]["contents"]["items"]
    assert {"$ref": "#/$defs/NoteContent"} in items["anyOf"]
    assert items["discriminator"]["mapping"]["quantum_tool_result"] == "#/$defs/QuantumToolResultContent"


def test_result_type_of_registered_call_is_registered_result(registered: None) -> None:
    assert result_type(CALL) is QuantumToolResultContent


def test_result_type_of_unregistered_call_is_that_of_its_base() -> None:
    assert result_type(CALL) is HostedToolResultContent


# -- registering -------------------------------------------------------------------------------------------------------


def test_register_returns_class_and_accepts_it_again(registered: None) -> None:
    assert register(NoteContent) is NoteContent


def test_register_rejects_other_classes() -> None:
    wrong: Any = dict
    with pytest.raises(TypeError, match="not a subclass of a content type"):
        register(wrong)
    with pytest.raises(TypeError, match="not a subclass of a content type"):
        register(AIContent)


def test_register_rejects_tag_of_another_type(registered: None) -> None:
    class Second(TextContent, frozen=True, kw_only=True, tag="note"):
        pass

    class Third(TextContent, frozen=True, kw_only=True, tag="text"):
        pass

    with pytest.raises(ValueError, match=r'has the tag "note", which is the tag of .*NoteContent'):
        register(Second)
    with pytest.raises(ValueError, match='has the tag "text"'):
        register(Third)


def test_register_rejects_mutable_class_and_numeric_tag() -> None:
    class Numbered(TextContent, frozen=True, kw_only=True, tag=5):
        pass

    with pytest.raises(TypeError, match="the tag of a content is a text"):
        register(Numbered)


def test_register_rejects_field_that_json_cannot_represent() -> None:
    class Sets(TextContent, frozen=True, kw_only=True):
        zone: datetime.tzinfo | None = None

    with pytest.raises(TypeError, match="JSON cannot represent"):
        register(Sets)


# -- encoding ----------------------------------------------------------------------------------------------------------


TEXT = TextContent(text="Measured.")
BASES = [
    ChatMessage(role="user", contents=[TEXT, DocumentContent(parts=[TEXT])]),
    ChatMessage(
        role="assistant",
        contents=[
            HostedToolCallContent(call_id="q1", name="quantum", arguments={"a": 1}),
            HostedToolResultContent(call_id="q1", name="quantum", outputs=[TEXT]),
        ],
    ),
]
LOST = {
    "$.messages[0].contents[0].author",
    "$.messages[0].contents[1].parts[0].author",
    "$.messages[1].contents[0].qubits",
    "$.messages[1].contents[1].shots",
    "$.messages[1].contents[1].outputs[0].author",
}


def losses_of(encoded: Any) -> set[tuple[str, str]]:
    return {(loss.path, loss.code) for loss in encoded.losses}


@pytest.mark.parametrize("api", [api for api in sorted(contentmodel.adapters()) if api != "turn-blocks"])
def test_encoders_send_derived_contents_as_their_bases(api: str) -> None:
    adapter = contentmodel.adapter(api)
    own = adapter.encode_request(REQUEST)
    base = adapter.encode_request(ChatRequest(model="m", messages=BASES))
    assert own.payload == base.payload
    assert losses_of(base) <= losses_of(own)
    # A content that is lost as a whole has one loss.
    covered = [path for path, _ in losses_of(base)]
    expected = {path for path in LOST if not any(path.startswith(f"{whole}.") for whole in covered)}
    assert {path for path, _ in losses_of(own) - losses_of(base)} >= expected


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("is_native", [True, False])
def test_answers_and_streams_send_derived_contents_as_their_bases(api: str, is_native: bool) -> None:
    adapter = contentmodel.adapter(api)
    origin = Origin(api=api if is_native else "other", issuer="x")

    def answer(*contents: AIContent) -> ChatResponse:
        message = ChatMessage(role="assistant", contents=list(contents))
        return ChatResponse(id="r", model="m", choices=[ChatChoice(messages=[message])], origin=origin)

    def events(*contents: AIContent) -> list[Any]:
        started = [BlockStart(index=at, content=content) for at, content in enumerate(contents)]
        stopped = [BlockStop(index=at, content=content) for at, content in enumerate(contents)]
        blocks = [event for pair in zip(started, stopped, strict=True) for event in pair]
        layout = [[list(range(len(contents)))]]
        return [TurnStart(response=answer()), *blocks, TurnComplete(response=answer(*contents), layout=layout)]

    bases = [TEXT, *BASES[1].contents]
    own, base = adapter.encode_response(answer(NOTE, CALL, RESULT)), adapter.encode_response(answer(*bases))
    assert own.payload == base.payload
    assert "$.choices[0].messages[0].contents[0].author" in {loss.path for loss in own.losses}
    encoder, base_encoder = adapter.stream_encoder(), adapter.stream_encoder()
    written = b"".join([encoder.feed(event) for event in events(NOTE, CALL, RESULT)])
    assert written == b"".join([base_encoder.feed(event) for event in events(*bases)])
    assert "$.choices[0].messages[0].contents[0].author" in {loss.path for loss in encoder.losses}


def test_stream_grows_text_of_derived_class() -> None:
    start = NoteContent(text="", author="Ada")
    encoder = contentmodel.adapter("anthropic-messages").stream_encoder()
    data = encoder.feed(BlockStart(index=0, content=start)) + encoder.feed(TextDelta(index=0, text="Measured."))
    assert b"Measured." in data


def test_missing_fields_of_derived_class_are_no_loss() -> None:
    request = ChatRequest(model="gpt-5.2", messages=[contentmodel.user(NoteContent(text="a"))])
    assert contentmodel.adapter("openai-chat").encode_request(request).losses == ()


# -- results without outputs -------------------------------------------------------------------------------------------

RESULTS = [kind for kind in contentmodel.content.CONTENT_TYPES if issubclass(kind, ToolResultContent)]


@pytest.mark.parametrize("kind", RESULTS)
def test_outputs_may_be_none(kind: type[ToolResultContent]) -> None:
    result = kind(call_id="c1", outputs=None)
    assert (result.outputs, result.output_list, result.text, result.error) == (None, [], "", None)
    assert loads(dumps(result)) == result
    assert loads(dumps(result)) != kind(call_id="c1")
    adapter: TypeAdapter[Any] = TypeAdapter(AIContent)
    assert adapter.validate_json(adapter.dump_json(result)) == result
    rows = contentmodel.adapter("turn-blocks")
    request = ChatRequest(messages=[ChatMessage(role="tool", contents=[result])])
    assert rows.decode_request(rows.encode_request(request).payload).messages[0].contents == [result]


@pytest.mark.parametrize("api", [api for api in sorted(contentmodel.adapters()) if api != "turn-blocks"])
@pytest.mark.parametrize("is_error", [None, True])
def test_encoders_send_none_outputs_as_no_outputs(api: str, is_error: bool | None) -> None:
    def asking(outputs: Any) -> ChatRequest:
        results = [
            FunctionResultContent(call_id="c1", outputs=outputs, is_error=is_error),
            HostedToolResultContent(call_id="c2", name="quantum", outputs=outputs, is_error=is_error),
        ]
        calls = [
            contentmodel.content.FunctionCallContent(call_id="c1", name="f", arguments={}),
            HostedToolCallContent(call_id="c2", name="quantum", arguments={}),
        ]
        messages = [
            contentmodel.user("Go."),
            ChatMessage(role="assistant", contents=[calls[1], results[1], calls[0]]),
            ChatMessage(role="tool", contents=[results[0]]),
        ]
        return ChatRequest(model="m", messages=messages)

    adapter = contentmodel.adapter(api)
    none, empty = adapter.encode_request(asking(None)), adapter.encode_request(asking([]))
    assert (none.payload, none.losses) == (empty.payload, empty.losses)
