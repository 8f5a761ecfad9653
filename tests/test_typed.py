"""Typed answers: nine APIs and three modes, from real SDK clients over loopback."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import pickle
from itertools import pairwise
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest
from typing_extensions import TypedDict

import contentmodel
from contentmodel import ChatOptions, ChatRequest, ChatResponse, ErrorContent, FunctionTool, user
from contentmodel.client import TypedChatClient, async_chat_client, chat_client
from contentmodel.message import FinishReason
from contentmodel.runner import AsyncToolRunner, ToolRunner
from contentmodel.tools import tool
from contentmodel.typed import Asking, OutputError, OutputMode, OutputType, Schema, Typed
from contentmodel_conformance.server import Call, LoopbackServer, Turn, say

MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-5",
    "google-generate-content": "gemini-3-pro",
    "google-interactions": "gemini-3-pro",
    "mistral-chat": "mistral-large-latest",
    "cohere-chat": "command-a-03-2025",
    "ollama-chat": "qwen3",
    "bedrock-converse": "us.anthropic.claude-opus-4-8",
}
WITHOUT_FORMAT = {
    "openai-chat": "gpt-3.5-turbo",
    "anthropic-messages": "claude-3-5-haiku-20241022",
    "bedrock-converse": "us.amazon.nova-2-lite-v1:0",
}
MODES: tuple[OutputMode, ...] = ("native", "tool", "prompt")
each_api = pytest.mark.parametrize("api", MODELS)
each_mode = pytest.mark.parametrize("mode", MODES)


class City(msgspec.Struct):
    """A city."""

    name: str
    population: Annotated[int, msgspec.Meta(ge=0)]
    river: str | None = None
    founded: int = 0


class Pair(TypedDict):
    a: int


OSLO = {"name": "Oslo", "population": 709037}


def answer(value: Any, mode: OutputMode, tool: str = "final_answer") -> ChatResponse:
    """Return the answer of a model that got the schema in this mode."""
    if mode == "tool":
        return say(None, Call(name=tool, arguments=value, id="callOslo1"))
    return say(value if isinstance(value, str) else json.dumps(value))


class Scripted:
    """A server with a script, a client of it, and the payloads that the server got."""

    def __init__(self, api: str, *turns: Any, model: str | None = None, **options: Any) -> None:
        self.api, self.model = api, model or MODELS[api]
        self.server = LoopbackServer(list(turns)).start()
        keys = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
        secret = keys if api == "bedrock-converse" else {} if api == "ollama-chat" else {"api_key": "secret"}
        url = {"endpoint_url" if api == "bedrock-converse" else "base_url": self.server.base_url(api)}
        self.options = {"model": self.model, **secret, **url, **options}
        self.client: TypedChatClient = chat_client(api, **self.options)

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.server.stop()


@each_mode
@each_api
def test_value_of_type_is_the_same_from_every_api(api: str, mode: OutputMode) -> None:
    with Scripted(api, answer(OSLO, mode)) as scripted:
        typed = scripted.client.complete("The capital of Norway?", output=City, mode=mode)
        assert typed.output == City(name="Oslo", population=709037)
        assert (typed.mode, len(typed.tries)) == (mode, 1)


@each_api
def test_mode_is_native_where_the_model_takes_a_schema(api: str) -> None:
    with Scripted(api, answer(OSLO, "native")) as scripted:
        assert scripted.client.complete("The capital of Norway?", output=City).mode == "native"


@pytest.mark.parametrize(("api", "model"), WITHOUT_FORMAT.items())
def test_model_without_schemas_is_asked_for_a_call(api: str, model: str) -> None:
    with Scripted(api, answer(OSLO, "tool"), model=model) as scripted:
        typed = scripted.client.complete("The capital of Norway?", output=City)
        assert (typed.mode, typed.output.name) == ("tool", "Oslo")


@each_mode
@each_api
def test_request_is_accepted_and_loses_nothing(api: str, mode: OutputMode) -> None:
    """The name of a schema and `strict` are set only where the API has them. So `on_loss="raise"` refuses no type."""
    asking: Asking[Any] = Asking(
        ChatRequest(messages=[user("hi")], options=ChatOptions(max_output_tokens=100)),
        Pair,
        adapter=contentmodel.adapter(api),
        model=MODELS[api],
        mode=mode,
    )
    encoded = contentmodel.adapter(api).encode_request(asking.request, None, MODELS[api])
    assert [loss for loss in encoded.losses if loss.is_significant] == []
    found = contentmodel.check(encoded.payload, api=api, model=MODELS[api])
    assert [violation for violation in found if violation.severity == "refused"] == []


# -- what can go wrong -------------------------------------------------------------------------------------------------


def ended(response: ChatResponse, reason: Any, *contents: Any) -> ChatResponse:
    (choice,) = response.choices
    (message,) = choice.messages
    message = msgspec.structs.replace(message, contents=[*message.contents, *contents])
    choice = msgspec.structs.replace(choice, messages=[message], finish_reason=FinishReason(reason=reason))
    return msgspec.structs.replace(response, choices=[choice])


@each_mode
@each_api
def test_answer_that_does_not_fit_is_asked_for_again(api: str, mode: OutputMode) -> None:
    wrong = {"name": "Oslo", "population": -1}
    with Scripted(api, answer(wrong, mode), answer(OSLO, mode)) as scripted:
        typed = scripted.client.complete("The capital of Norway?", output=City, mode=mode, retries=1)
        assert (typed.output.population, len(typed.tries)) == (709037, 2)
        assert typed.tries[0].error == "Expected `int` >= 0 at $.population"
        assert typed.tries[1].error is None
        first, second = scripted.server.requests
        assert "$.population" not in json.dumps(first.payload)
        assert "$.population" in json.dumps(second.payload)
        assert scripted.server.check() == []


@each_mode
@each_api
def test_refusal_and_cut_answer_are_never_repeated_or_parsed(api: str, mode: OutputMode) -> None:
    cut = ended(say('{"name": "Oslo", "population": 70'), "length")
    with Scripted(api, cut, answer(OSLO, mode)) as scripted:
        with pytest.raises(OutputError) as caught:
            scripted.client.complete("The capital of Norway?", output=City, mode=mode, retries=3)
        assert (caught.value.reason, len(caught.value.tries)) == ("cut_short", 1)
        assert scripted.server.turns_left == 1


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_refusal_is_an_error_with_its_text(api: str) -> None:
    refused = ended(say("I cannot."), "refusal")
    with Scripted(api, refused, answer(OSLO, "native")) as scripted, pytest.raises(OutputError) as caught:
        scripted.client.complete("How?", output=City, retries=2)
    assert (caught.value.reason, len(caught.value.tries)) == ("refused", 1)


WRONG: list[tuple[str, OutputMode, ChatResponse, str]] = [
    ("invalid", "native", answer({"name": "Oslo"}, "native"), "$"),
    ("invalid", "tool", answer({"name": 1, "population": 1}, "tool"), "$.name"),
    ("not_json", "native", answer("Oslo", "native"), "$"),
    ("empty", "tool", say("Oslo."), "$"),
    ("empty", "native", say(None, Call(name="look", arguments={}, id="c")), "$"),
    ("failed", "native", ended(say("{}"), "error"), "$"),
    ("failed", "native", ChatResponse(error=ErrorContent(message="no", code="x")), "$"),
    ("refused", "native", ended(say(None), "stop", ErrorContent(message="I cannot.", code="refusal")), "$"),
]


@pytest.mark.parametrize(("reason", "mode", "response", "path"), WRONG)
def test_error_has_reason_path_and_tries(reason: str, mode: OutputMode, response: ChatResponse, path: str) -> None:
    with pytest.raises(OutputError) as caught:
        asking(City, mode=mode).answered(response)
    error = caught.value
    assert (error.reason, error.path, error.response) == (reason, path, response)
    assert str(error).startswith("no City: ")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.reason, copied.path, copied.text, copied.tries) == (
        error.reason,
        error.path,
        error.text,
        error.tries,
    )


def asking(output: Any, api: str = "openai-chat", **options: Any) -> Asking[Any]:
    request = options.pop("request", ChatRequest(messages=[user("hi")]))
    return Asking(request, output, adapter=contentmodel.adapter(api), model=MODELS[api], **options)


def test_each_call_of_a_wrong_answer_gets_one_result() -> None:
    again = asking(City, mode="tool", retries=1)
    calls = [Call(name="look", arguments={}, id="c1"), Call(name="final_answer", arguments={}, id="c2")]
    assert again.answered(say(None, *calls)) is None
    results: list[Any] = [content for message in again.request.messages[2:] for content in message.contents]
    assert [result.call_id for result in results] == ["c1", "c2"]
    assert [result.text[:16] for result in results] == ["This call did no", "The answer is no"]


def test_tool_of_the_answer_has_a_name_of_its_own() -> None:
    request = ChatRequest(messages=[user("hi")], tools=[FunctionTool(name="final_answer")])
    assert asking(City, mode="tool", request=request).tool == "final_answer_"


def test_fence_around_a_prompted_answer_is_no_part_of_it() -> None:
    response = say(f"```json\n{json.dumps(OSLO)}\n```")
    typed = asking(City, mode="prompt").answered(response)
    assert typed is not None
    assert typed.output.name == "Oslo"


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "cohere-chat"])
def test_null_that_strict_mode_asks_for_is_removed(api: str) -> None:
    """OpenAI's strict mode requires every property, so an optional one is null."""
    typed = asking(City, api).answered(say(json.dumps({**OSLO, "river": None, "founded": None})))
    assert typed is not None
    assert typed.output == City(name="Oslo", population=709037)


# -- types -------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Person(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(ge=0)


TYPES: list[tuple[Any, Any, Any]] = [
    (City, OSLO, City(name="Oslo", population=709037)),
    (Point, {"x": 1}, Point(1)),
    (Pair, {"a": 1}, {"a": 1}),
    (Person, {"name": "A", "age": 1}, Person(name="A", age=1)),
    (pydantic.TypeAdapter(list[Person]), {"value": [{"name": "A", "age": 1}]}, [Person(name="A", age=1)]),
    (list[City], {"value": [OSLO]}, [City(name="Oslo", population=709037)]),
    (int, {"value": 3}, 3),
    (Literal["a", "b"], {"value": "b"}, "b"),
    (int | None, {"value": None}, None),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Schema({"type": "object", "properties": {"a": {"type": "integer"}}}), {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("output", "value", "expected"), TYPES)
def test_type_is_described_and_read(output: Any, value: Any, expected: Any) -> None:
    described: OutputType[Any] = OutputType(output)
    assert described.schema["type"] == "object"
    assert described.read(value) == expected


@pytest.mark.parametrize(
    ("output", "value", "path"),
    [
        (City, {"name": "Oslo", "population": "many"}, "$.population"),
        (Person, {"name": "A", "age": -1}, "$.age"),
        (pydantic.TypeAdapter(list[Person]), {"value": [{"name": "A"}]}, "$[0].age"),
        (list[City], {"value": [OSLO, {"name": 1, "population": 1}]}, "$[1].name"),
        (int, {"value": "3"}, "$"),
        (int, {}, "$"),
        (Schema({"type": "object", "properties": {"a": {"type": "integer"}}}), {"a": "x"}, "$.a"),
    ],
)
def test_value_that_does_not_fit_is_refused_with_its_path(output: Any, value: Any, path: str) -> None:
    with pytest.raises(OutputError) as caught:
        asking(output).answered(say(json.dumps(value)))
    assert (caught.value.reason, caught.value.path) == ("invalid", path)


@pytest.mark.parametrize("output", [object, list[Person], 3])
def test_type_without_schema_is_refused(output: Any) -> None:
    with pytest.raises(TypeError, match="has no JSON Schema"):
        OutputType(output)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="retries is -1"):
        asking(City, retries=-1)
    with pytest.raises(ValueError, match="mode is 'json'"):
        asking(City, mode="json")


# -- streams, async, plain input ---------------------------------------------------------------------------------------


@each_mode
@each_api
def test_partial_values_only_grow(api: str, mode: OutputMode) -> None:
    value: dict[str, Any] = {"name": "Oslo, the capital", "population": 709037, "river": "Akerselva"}
    turn = Turn(response=answer(value, mode), delta_size=3)
    with Scripted(api, turn) as scripted, scripted.client.stream("Capital?", output=City, mode=mode) as stream:
        parts = [copy.deepcopy(part) for part in stream.partial]
        assert stream.output == City(**value)
        assert stream.response.choices
    assert parts
    assert parts[-1] == value
    for before, after in pairwise(parts):
        assert before.keys() <= after.keys()
        assert all(str(after[key]).startswith(str(item)) for key, item in before.items())


def test_stream_without_a_value_ends_in_an_error() -> None:
    with Scripted("openai-chat", say("Oslo")) as scripted, scripted.client.stream("Capital?", output=City) as stream:
        assert list(stream.partial) == []
        with pytest.raises(OutputError, match="no City"):
            _ = stream.output


@pytest.mark.parametrize("api", [api for api in MODELS if api != "bedrock-converse"])
def test_async_client_returns_typed_answers(api: str) -> None:
    with Scripted(api, answer(OSLO, "native"), answer(OSLO, "native")) as scripted:

        async def ask() -> tuple[Typed[City], Typed[City], list[Any]]:
            async with async_chat_client(api, **scripted.options) as client:
                typed = await client.complete("Capital?", output=City)
                async with client.stream("Capital?", output=City) as stream:
                    parts = [part async for part in stream.partial]
                    return typed, await stream.read(), parts

        typed, streamed, parts = asyncio.run(ask())
    assert typed.output == streamed.output == City(name="Oslo", population=709037)
    assert parts[-1] == OSLO


def test_plain_input_is_a_request() -> None:
    with Scripted("anthropic-messages", "one", "two", "three") as scripted:
        client = scripted.client
        tool = FunctionTool(name="look", parameters={"type": "object"})
        options = ChatOptions(max_output_tokens=9)
        assert client.complete("hi").text == "one"
        assert client.complete([user("hi")], instructions="Be brief.", tools=[tool], options=options).text == "two"
        with client.stream("hi", instructions="Be brief.") as stream:
            assert stream.read().text == "three"
        sent = scripted.server.requests[1].payload
        assert (sent["system"], sent["max_tokens"], sent["tools"][0]["name"]) == ("Be brief.", 9, "look")
        with pytest.raises(TypeError, match="instructions cannot be combined with a ChatRequest"):
            client.complete(ChatRequest(messages=[user("hi")]), instructions="Be brief.")
        with pytest.raises(TypeError, match="expected a ChatRequest, a list of messages or a text, got int"):
            client.complete(3)  # type: ignore[call-overload]


# -- names of models ---------------------------------------------------------------------------------------------------


def test_client_takes_a_provider_and_a_model() -> None:
    client = chat_client("anthropic:claude-opus-5", api_key="secret")
    assert (client.api, client.model) == ("anthropic-messages", "claude-opus-5")
    client = chat_client("ollama:qwen3:8b")
    assert (client.api, client.model) == ("ollama-chat", "qwen3:8b")
    with pytest.raises(ValueError, match="names a model, and model is 'b'"):
        chat_client("openai:a", model="b")
    with pytest.raises(ValueError, match="names no model"):
        chat_client("openai:")
    with pytest.raises(contentmodel.UnknownApiError, match="did you mean 'anthropic'"):
        chat_client("antropic:claude-opus-5")


# -- runs --------------------------------------------------------------------------------------------------------------


def look(name: str) -> int:
    """Count the people of a city.

    Args:
        name: The city.
    """
    return {"Oslo": 709037}[name]


LOOK = say(None, Call(name="look", arguments={"name": "Oslo"}, id="callLook1"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("api", ["openai-chat", "anthropic-messages", "google-generate-content"])
def test_run_ends_with_a_typed_answer(api: str, mode: OutputMode) -> None:
    with Scripted(api, LOOK, answer({**OSLO, "population": -1}, mode), answer(OSLO, mode)) as scripted:
        runner = ToolRunner(scripted.client, [tool(look)])
        result = runner.run("The capital of Norway?", output=City, mode=mode, retries=1)
        assert (result.output, result.stop) == (City(name="Oslo", population=709037), "completed")
        assert [call.outcome for call in result.report.calls if call.name == "look"] == ["ok"]
        assert (len(result.responses), result.report.iterations, result.handed_back) == (3, 3, [])
        assert scripted.server.check() == []
        # The transcript can be continued: no call is left without a result.
        encoded = contentmodel.adapter(api).encode_request(result.request, None, scripted.model)
        assert contentmodel.check(encoded.payload, api=api, model=scripted.model) == []


def test_run_without_a_value_raises_after_its_retries() -> None:
    with Scripted("openai-chat", LOOK, "Oslo", "Bergen") as scripted, pytest.raises(OutputError) as caught:
        ToolRunner(scripted.client, [tool(look)]).run("Capital?", output=City, retries=1)
    assert (caught.value.reason, len(caught.value.tries)) == ("not_json", 2)


def test_run_that_ends_at_a_limit_has_no_output() -> None:
    with Scripted("openai-chat", LOOK) as scripted:
        result = ToolRunner(scripted.client, [tool(look)], max_iterations=1).run("Capital?", output=City)
    assert (result.stop, result.output) == ("max_iterations", None)


def test_async_run_ends_with_a_typed_answer() -> None:
    with Scripted("openai-responses", LOOK, "Oslo", answer(OSLO, "native")) as scripted:

        async def run() -> Any:
            async with async_chat_client("openai-responses", **scripted.options) as client:
                return await AsyncToolRunner(client, [tool(look)]).run("Capital?", output=City, retries=1)

        assert asyncio.run(run()).output == City(name="Oslo", population=709037)
