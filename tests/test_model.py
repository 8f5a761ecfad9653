"""Law 7: the model's own JSON, its schema, and its place inside pydantic and FastAPI."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any

import fastapi
import jsonschema
import pydantic
import pytest
from fastapi.testclient import TestClient

import contentmodel
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    DecodeError,
    ErrorContent,
    FunctionCallContent,
    HostedToolResultContent,
    TextContent,
    ToolArgumentsError,
    UnknownContent,
    UriContent,
    WebSearchToolCallContent,
    WebSearchToolResultContent,
    dumps,
    loads,
    schema,
)

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema() -> None:
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
def test_what_is_written_is_read(value: Any) -> None:
    assert loads(dumps(value)) == value
    VALIDATOR.validate(json.loads(dumps(value)))


def test_what_is_newer_than_this_reader_survives() -> None:
    newer = {
        "contentmodel": 1,
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
def test_a_document_that_is_none_says_where(document: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as raised:
        loads(document)
    assert raised.value.faults[0].path == path


def test_any_tool_is_handled_through_the_bases() -> None:
    failed = HostedToolResultContent(outputs=[ErrorContent(message="too many", code="max_uses_exceeded")])
    assert failed.error is not None
    assert failed.error.code == "max_uses_exceeded"
    call = FunctionCallContent(call_id="1", name="f", arguments='{"a": 1}')
    assert (call.arguments_object, call.arguments_text, call.executor) == ({"a": 1}, '{"a": 1}', "client")
    assert [c.name for c in ChatMessage(role="assistant", contents=[call, *MESSAGE.contents]).tool_calls] == ["f"]


@pytest.mark.parametrize("text", ["{", "[1]", "nonsense", '"{}"'])
def test_arguments_that_are_no_object_are_never_taken_for_one(text: str) -> None:
    with pytest.raises(ToolArgumentsError, match="not a JSON object"):
        _ = FunctionCallContent(name="f", arguments=text).arguments_object


def test_media_types_compare_whatever_their_case_and_bytes_stay_as_they_came() -> None:
    data = DataContent(data="_-8", media_type="Image/PNG; charset=binary")
    assert data.is_media_type("image/png")
    assert data.is_media_type("IMAGE/*")
    assert not data.is_media_type("image/jpeg")
    assert data.to_bytes() == b"\xff\xef"
    assert data.data == "_-8"
    with pytest.raises(ValueError, match="not base64"):
        DataContent(data="***").to_bytes()
    assert DataContent.from_bytes(b"\xff\xef", "image/png").data == "/+8="


# FastAPI takes only its own kinds of classes for bodies unless it is told.
Body = Annotated[ChatRequest, fastapi.Body()]


class Stored(pydantic.BaseModel):
    request: ChatRequest
    last: ChatMessage | None = None


def test_the_model_is_a_field_of_pydantic_models() -> None:
    stored = Stored(request=ChatRequest(model="m", messages=[MESSAGE]), last=MESSAGE)
    assert Stored.model_validate_json(stored.model_dump_json()) == stored
    assert Stored.model_validate(stored.model_dump()) == stored
    assert "properties" in Stored.model_json_schema()
    with pytest.raises(pydantic.ValidationError):
        Stored.model_validate({"request": {"messages": 5}})


def test_the_model_is_a_body_of_fastapi() -> None:
    app = fastapi.FastAPI()

    @app.post("/last")
    def last(request: Body) -> ChatMessage:
        return request.messages[-1]

    client = TestClient(app)
    answer = client.post("/last", json={"model": "m", "messages": [{"role": "user"}]})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"role": "user"}
    assert client.post("/last", json={"messages": 5}).status_code == 422
    assert client.get("/openapi.json").status_code == 200


def test_importing_it_loads_neither_pydantic_nor_an_sdk() -> None:
    script = (
        "import sys, contentmodel\n"
        "heavy = {'pydantic', 'anthropic', 'openai', 'google.genai', 'typer', 'rich', 'hypothesis'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
