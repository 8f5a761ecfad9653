"""The model in pydantic and FastAPI: round trips, and small schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any

import fastapi
import jsonschema
import pydantic
import pydantic_core
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from conftest import slow
from contentmodel import (
    AIContent,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Content,
    DataContent,
    FunctionCallContent,
    HostedToolResultContent,
    StreamEvent,
    TextContent,
    ToolCallContent,
    UnknownContent,
    Usage,
    user,
)
from contentmodel.content import CONTENT_TYPES, MediaContent, UsageContent, WebSearchToolResultContent
from contentmodel.events import EVENT_TYPES
from contentmodel.serialize import convert_value, to_builtins
from contentmodel_conformance.strategies import model as strategies


class Everything(pydantic.BaseModel):
    request: ChatRequest
    response: ChatResponse | None = None
    parts: list[Content] = []
    last: AIContent | None = None
    message: ChatMessage | None = None
    pair: dict[str, TextContent | DataContent] = {}


class Bases(pydantic.BaseModel):
    call: ToolCallContent | None = None
    result: HostedToolResultContent | None = None
    media: MediaContent | None = None
    event: StreamEvent | None = None


Body = Annotated[Everything, fastapi.Body()]


def app() -> TestClient:
    application = fastapi.FastAPI()

    @application.post("/everything")
    def everything(body: Body) -> Everything:
        return body

    @application.post("/contents")
    def contents(body: Annotated[list[Content], fastapi.Body()]) -> list[Content]:
        return body

    @application.post("/request")
    def request(body: Annotated[ChatRequest, fastapi.Body()]) -> ChatRequest:
        return body

    @application.post("/message")
    def message(body: Annotated[ChatMessage, fastapi.Body()]) -> ChatMessage:
        return body

    return TestClient(application)


CLIENT = app()
JSON = {"content-type": "application/json"}


def without_surrogates(value: Any) -> Any:
    """Return the value without unpaired surrogates: pydantic cannot encode them."""
    text = json.dumps(to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")
    return convert_value(json.loads(text), list[Content] if isinstance(value, list) else type(value))


EACH = st.sampled_from(CONTENT_TYPES).flatmap(strategies.contents)
ALL = st.tuples(*(strategies.contents(kind) for kind in CONTENT_TYPES)).map(list)
"""One content of each type."""


@pytest.mark.slow
@given(ALL, EACH)
def test_every_content_type_round_trips_through_pydantic_model(contents: list[Any], last: Any) -> None:
    stored = Everything(request=ChatRequest(), parts=contents, last=last)
    assert Everything.model_validate(stored.model_dump()) == stored
    for content in contents:
        assert pydantic.TypeAdapter(type(content)).validate_python(to_builtins(content)) == content


@pytest.mark.slow
@given(ALL.map(without_surrogates))
def test_every_content_type_round_trips_through_fastapi(contents: list[Any]) -> None:
    stored = Everything(request=ChatRequest(), parts=contents, last=contents[0])
    text = stored.model_dump_json()
    assert Everything.model_validate_json(text) == stored
    answer = CLIENT.post("/everything", content=text, headers=JSON)
    assert answer.status_code == 200, answer.text
    assert Everything.model_validate_json(answer.content) == stored


@given(strategies.requests().map(without_surrogates))
def test_requests_round_trip_through_fastapi(request: ChatRequest) -> None:
    answer = CLIENT.post("/request", content=pydantic.TypeAdapter(ChatRequest).dump_json(request), headers=JSON)
    assert pydantic.TypeAdapter(ChatRequest).validate_json(answer.content) == request


@given(st.sampled_from(EVENT_TYPES).flatmap(strategies.structs))
def test_pydantic_field_of_stream_event_accepts_every_event(event: Any) -> None:
    stored = Bases(event=event)
    assert Bases.model_validate(stored.model_dump()) == stored


def test_pydantic_field_of_base_class_accepts_its_subclasses_only() -> None:
    stored = Bases(
        call=FunctionCallContent(name="f"), result=WebSearchToolResultContent(), media=DataContent(data="AAAA")
    )
    assert Bases.model_validate_json(stored.model_dump_json()) == stored
    with pytest.raises(pydantic.ValidationError, match=r"text.*\$.type"):
        Bases.model_validate({"media": {"type": "text", "text": "Hello"}})


@pytest.mark.parametrize("value", [{"text": "Hello"}, {}, {"type": 5}, {"type": "text"}, "Hello", 5, None])
@pytest.mark.parametrize("field", ["parts", "pair", "last"])
def test_pydantic_field_of_content_rejects_invalid_values(field: str, value: Any) -> None:
    if (field, value) == ("last", None):
        return
    given = {"parts": [value], "pair": {"a": value}, "last": value}[field]
    with pytest.raises(pydantic.ValidationError):
        Everything.model_validate({"request": {}, field: given})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (TextContent(text=5), r"got `int` at \$.text"),  # type: ignore[arg-type]
        (UsageContent(usage=None), r"got `null` at \$.usage"),  # type: ignore[arg-type]
        (FunctionCallContent(arguments={"a": b"x"}), r"bytes is not a JSON type at \$.arguments.a"),
        (ToolCallContent(), "abstract class"),
    ],
)
def test_pydantic_dump_reports_path_of_value_with_wrong_type(value: Any, path: str) -> None:
    stored = Everything(request=ChatRequest(), parts=[value])
    for write in (stored.model_dump, stored.model_dump_json):
        with pytest.raises(pydantic_core.PydanticSerializationError, match=path):
            write()


def test_pydantic_model_keeps_content_of_unknown_type() -> None:
    newer = {"type": "smell", "strength": 3}
    read = Everything.model_validate({"request": {}, "parts": [newer]})
    assert read.parts == [UnknownContent(api="contentmodel", block=newer)]
    assert read.model_dump()["parts"] == [newer]
    with pytest.raises(pydantic.ValidationError):
        Everything.model_validate({"request": {}, "pair": {"a": newer}})


def test_fastapi_rejects_invalid_request_body() -> None:
    for body in ({"messages": 5}, {"messages": [{"role": "user", "contents": [{"text": "x"}]}]}, [], "Hello"):
        assert CLIENT.post("/request", json=body).status_code == 422


def test_pydantic_schemas_use_definitions_and_are_small() -> None:
    schema = Everything.model_json_schema()
    assert len(json.dumps(schema)) < 60_000
    assert schema["properties"]["request"] == {"$ref": "#/$defs/ChatRequest"}
    assert schema["properties"]["parts"]["items"] == {"$ref": "#/$defs/AIContent"}
    document = CLIENT.get("/openapi.json").json()
    assert len(json.dumps(document)) < 60_000
    names = {name.removesuffix("-Input").removesuffix("-Output") for name in document["components"]["schemas"]}
    assert {"ChatRequest", "ChatMessage", "AIContent", "TextContent"} <= names
    assert not [name for name in schema["$defs"] if "__" in name]


@given(strategies.requests(), strategies.responses())
def test_pydantic_dump_matches_schema(request: ChatRequest, response: ChatResponse) -> None:
    stored = Everything(request=request, response=response, message=user("Hello"), last=TextContent(text="a"))
    validator().validate(stored.model_dump())


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(Everything.model_json_schema())


@pytest.mark.parametrize(
    "kind", [TextContent, Usage, *map(slow, [WebSearchToolResultContent, MediaContent, StreamEvent, ChatMessage])]
)
def test_pydantic_schema_of_one_type_is_complete(kind: type[Any]) -> None:
    schema = pydantic.TypeAdapter(kind).json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert pydantic.TypeAdapter(kind).json_schema(mode="serialization") == schema
