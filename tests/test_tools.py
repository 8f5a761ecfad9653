"""Tools: their definitions for models, their arguments, and their results."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import subprocess
import sys
import typing
from datetime import date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from uuid import UUID

import jsonschema
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

import contentmodel
from conftest import APIS, records
from contentmodel import (
    ChatMessage,
    ChatOptions,
    ChatRequest,
    CustomTool,
    DataContent,
    ErrorContent,
    FunctionCallContent,
    FunctionTool,
    HostedFileContent,
    HostedTool,
    TextContent,
    ToolChoice,
    ToolGroup,
    UriContent,
)
from contentmodel.content import HostedVectorStoreContent
from contentmodel.runner import AsyncToolRunner, ToolRunner
from contentmodel.tools import (
    Tool,
    ToolContext,
    ToolDefinitionError,
    ToolInputError,
    ToolOutcome,
    ToolSet,
    UnknownToolError,
    bind,
    contents_of,
    error_of,
    result_of,
    tool,
    validate_input,
)
from contentmodel_conformance.oracles import judge
from scripted import AsyncScripted, Scripted, answer
from scripted import call as call_of


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


class Place(msgspec.Struct, forbid_unknown_fields=True):
    lat: float
    near: list[Place] = []


@dataclasses.dataclass
class Span:
    first: int
    last: int | None = None


class Page(TypedDict):
    number: int


class Person(pydantic.BaseModel):
    name: str
    born: date | None = None


# Parameter types, and JSON that is valid for each.
INTS = st.integers(-(2**53), 2**53)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
PLACES = st.fixed_dictionaries({"lat": st.floats(-90, 90)}, optional={"near": st.lists(st.just({"lat": 1.5}))})
FITTING: dict[Any, st.SearchStrategy[Any]] = {
    int: INTS,
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: TEXTS,
    bool: st.booleans(),
    int | None: st.none() | INTS,
    int | str: INTS | TEXTS,
    list[str]: st.lists(TEXTS, max_size=3),
    dict[str, int]: st.dictionaries(TEXTS, INTS, max_size=3),
    Literal["a", 1]: st.sampled_from(["a", 1]),
    Unit: st.sampled_from(["c", "f"]),
    datetime: st.datetimes().map(datetime.isoformat),
    date: st.dates().map(date.isoformat),
    UUID: st.uuids().map(str),
    Decimal: st.integers(-999, 999).map(str),
    bytes: TEXTS,
    tuple[int, str]: st.tuples(INTS, TEXTS).map(list),
    Annotated[int, pydantic.Field(ge=0, le=9, description="a digit")]: st.integers(0, 9),
    Place: PLACES,
    list[Place] | None: st.none() | st.lists(PLACES, max_size=2),
    Span: st.fixed_dictionaries({"first": INTS}, optional={"last": st.none() | INTS}),
    Page: st.fixed_dictionaries({"number": INTS}),
    Person: st.fixed_dictionaries({"name": TEXTS}, optional={"born": st.dates().map(date.isoformat)}),
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | INTS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
# Parameter names. Pydantic does not allow some of them as fields.
NAMES = ("city", "schema", "model_config", "_private", "json", "title", "properties", "default", "field_0", "type")


@st.composite
def functions(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """Draw a function that returns its arguments, and the type of each of its parameters."""
    kinds = {name: draw(st.sampled_from(list(FITTING))) for name in draw(st.lists(st.sampled_from(NAMES), unique=True))}
    required = draw(st.integers(0, len(kinds)))
    words = [f"{name}: types[{name!r}]{' = None' if i >= required else ''}" for i, name in enumerate(kinds)]
    first, second = sorted((draw(st.integers(0, len(kinds))), draw(st.integers(0, len(kinds)))))
    groups = [
        words[:first],
        ["/"] if first else [],
        words[first:second],
        ["*"] if words[second:] else [],
        words[second:],
    ]
    names: dict[str, Any] = {"types": kinds}
    exec(f"def made({', '.join(word for group in groups for word in group)}):\n    return dict(locals())", names)
    return names["made"], kinds


def call(arguments: Any, **rest: Any) -> FunctionCallContent:
    return FunctionCallContent(call_id="call_1", name="made", arguments=arguments, **rest)


def faults(made: Tool, arguments: Any) -> dict[str, tuple[str, str]]:
    """Return the faults of arguments: the expected and the actual value by path."""
    with pytest.raises(ToolInputError) as raised:
        validate_input(made, call(arguments))
    return {fault.path: (fault.expected, fault.got) for fault in raised.value.faults}


def request() -> ChatRequest:
    hello = ChatMessage(role="user", contents=[TextContent(text="hi")])
    return ChatRequest(messages=[hello], options=ChatOptions(max_output_tokens=100))


# Listed models that support forced tool calls.
MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-4-6",
    "google-generate-content": "gemini-3-pro-preview",
}


def encoded(api: str, bound: ChatRequest) -> contentmodel.Encoded:
    """Encode a request for an API. Assert that the SDK's types and the API's rules accept it."""
    made = contentmodel.adapter(api).encode_request(bound, model=MODELS[api])
    assert judge(api, "request").faults(made.payload) == []
    assert contentmodel.check(made.payload, api=api) == []
    return made


@tool
def weather(city: str, days: int = 1) -> str:
    """The weather of a city.

    Args:
        city: Its name.
        days: How many days ahead.
    """
    return f"sunny in {city} for {days} days"


@tool
def forget() -> None:
    """Forgets."""


SEARCH = HostedTool(kind="web_search")


# Definitions ----------------------------------------------------------------------------------------------------------


@given(functions())
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("strict", [None, True])
def test_every_api_accepts_definition_of_any_function_signature(
    api: str, strict: bool | None, made: tuple[Any, Any]
) -> None:
    encoded(api, bind(request(), [tool(strict=strict)(made[0])]))


@given(functions(), st.data())
def test_function_receives_arguments_that_match_its_schema(made: tuple[Any, Any], data: st.DataObject) -> None:
    function, kinds = made
    it = tool(function)
    needed = it.definition.parameters.get("required", [])
    fitting = data.draw(
        st.fixed_dictionaries(
            {name: FITTING[kinds[name]] for name in needed},
            optional={name: FITTING[kind] for name, kind in kinds.items() if name not in needed},
        )
    )
    got = it.invoke(validate_input(it, call(json.dumps(fitting))).args)
    assert set(got) == set(kinds)
    assert all(got[name] is None for name in kinds if name not in fitting)
    plain = [name for name in fitting if kinds[name] in (int, str, bool, int | str, list[str], dict[str, int])]
    assert all(got[name] == fitting[name] and type(got[name]) is type(fitting[name]) for name in plain)
    jsonschema.validate(fitting, it.definition.parameters)


@given(functions(), st.data())
def test_validate_input_accepts_only_arguments_that_the_schema_accepts(
    made: tuple[Any, Any], data: st.DataObject
) -> None:
    function, kinds = made
    it = tool(function)
    members = {name: FITTING[kind] | ANYTHING for name, kind in kinds.items()}
    sent = data.draw(st.fixed_dictionaries({}, optional={**members, "stranger": ANYTHING}))
    try:
        validate_input(it, call(sent))
    except ToolInputError as error:
        refused = error.faults
    else:
        refused = None
        jsonschema.validate(sent, it.definition.parameters)
    assert refused is None or (refused and all(fault.path.startswith("$") and fault.expected for fault in refused))


GOOGLE_STYLE = """Finds flights.

    Cheapest first.

    Args:
        origin (str): Where from:
            an airport.
        target: Where to.

    Returns:
        str: Flights.
    """
NUMPY_STYLE = """Finds flights.

    Cheapest first.

    Parameters
    ----------
    origin : str
        Where from:
        an airport.
    target
        Where to.

    Returns
    -------
    str
        Flights.
    """
REST_STYLE = """Finds flights.

    Cheapest first.

    :param origin: Where from:
        an airport.
    :param target: Where to.
    :returns: Flights.
    """


@pytest.mark.parametrize("text", [GOOGLE_STYLE, NUMPY_STYLE, REST_STYLE])
def test_tool_definition_uses_descriptions_from_docstring(text: str) -> None:
    def flights(origin: str, target: str) -> None: ...

    flights.__doc__ = text
    assert tool(flights).definition == FunctionTool(
        name="flights",
        description="Finds flights.\n\nCheapest first.",
        parameters={
            "type": "object",
            "properties": {
                "origin": {"type": "string", "description": "Where from: an airport."},
                "target": {"type": "string", "description": "Where to."},
            },
            "required": ["origin", "target"],
            "additionalProperties": False,
        },
    )


def test_field_description_overrides_docstring() -> None:
    @tool
    def find(
        text: Annotated[str, pydantic.Field(description="said here")], most: int = pydantic.Field(5, le=9)
    ) -> None:
        """Finds.

        Args:
            text: said there
            most: how many
        """

    parameters = find.definition.parameters
    assert parameters["properties"]["text"]["description"] == "said here"
    assert parameters["properties"]["most"] == {
        "type": "integer",
        "default": 5,
        "maximum": 9,
        "description": "how many",
    }
    assert validate_input(find, call({"text": "x"})).args == {"text": "x", "most": 5}


class CityModel(pydantic.BaseModel, extra="forbid"):
    """The weather of a city."""

    city: str = pydantic.Field(description="Its name.")
    days: int = pydantic.Field(1, description="How many days ahead.")


class CityStruct(msgspec.Struct, forbid_unknown_fields=True):
    city: Annotated[str, msgspec.Meta(description="Its name.")]
    days: Annotated[int, msgspec.Meta(description="How many days ahead.")] = 1


@dataclasses.dataclass
class CityData:
    __pydantic_config__ = pydantic.ConfigDict(extra="forbid")
    city: Annotated[str, pydantic.Field(description="Its name.")]
    days: Annotated[int, pydantic.Field(description="How many days ahead.")] = 1


def weather_class(schema: Any) -> Tool:
    class Weather(Tool):
        name = "weather"
        description = "The weather of a city."
        args_schema = schema

        def run(self, args: Any) -> Any:
            return args

    return Weather()


FORMS = [CityModel, CityStruct, CityData, weather.definition.parameters]


@pytest.mark.parametrize("schema", FORMS)
def test_class_tool_has_same_definition_as_function_tool(schema: Any) -> None:
    assert weather_class(schema).definition == weather.definition


def test_class_tool_without_description_uses_that_of_its_schema() -> None:
    class Weather(Tool):
        name = "weather"
        args_schema = CityModel

    assert Weather().definition == weather.definition


def frameworks_tool(schema: Any, **methods: Any) -> Tool:
    """Return a class tool with these methods."""
    own = {} if schema is None else {"args_schema": schema}
    made: Tool = type("Made", (Tool,), {"name": "made", "__doc__": "Made.", **own, **methods})()
    return made


def _run(self: Any, city: str, days: int = 1) -> Any:
    return ["sync", city, days]


async def _arun(self: Any, city: str, days: int = 1) -> Any:
    return ["async", city, days]


async def arun_with_context(self: Any, days: int, context: ToolContext, city: str = "") -> Any:
    return [context.state, city, days]


async def arun_of_any(self: Any, **given: Any) -> Any:
    return ["any", given["city"], given["days"]]


async def arun_of_all(self: Any, args: Any) -> Any:
    return ["all", *vars(args).values()] if not isinstance(args, dict) else ["all", *args.values()]


@pytest.mark.parametrize("schema", [None, CityModel, CityData, CityModel.model_json_schema()])
@pytest.mark.parametrize(
    ("methods", "sync", "with_tasks"),
    [
        ({"_run": _run}, "sync", "sync"),
        ({"_arun": _arun}, "async", "async"),
        ({"arun": _arun}, "async", "async"),
        ({"_run": _run, "_arun": _arun}, "sync", "async"),
        ({"arun": arun_with_context}, "state", "state"),
        ({"arun": arun_of_any}, "any", "any"),
        ({"_arun": arun_of_all}, "all", "all"),
    ],
)
def test_class_tool_supports_run_methods_of_agent_frameworks(
    schema: Any, methods: dict[str, Any], sync: str, with_tasks: str
) -> None:
    made = frameworks_tool(schema, **methods)
    if schema is None and set(methods.values()) & {arun_of_any, arun_of_all}:
        return
    script = [answer(call_of("made", "a", city="Oslo", days=2)), answer("Done.")]
    result = ToolRunner(Scripted(script), [made], state="state").run("Go.")
    assert result.messages[1].contents[0].text == f'["{sync}", "Oslo", 2]'  # type: ignore[union-attr]
    result = asyncio.run(AsyncToolRunner(AsyncScripted(script), [made], state="state").run("Go."))
    assert result.messages[1].contents[0].text == f'["{with_tasks}", "Oslo", 2]'  # type: ignore[union-attr]


def test_class_tool_without_schema_derives_it_from_run_method() -> None:
    parameters = frameworks_tool(None, _arun=_arun).definition.parameters
    assert parameters is not None
    assert (list(parameters["properties"]), parameters["required"]) == (["city", "days"], ["city"])
    assert frameworks_tool(None, arun=arun_of_all).definition.parameters == Tool.args_schema


def test_binding_rejects_class_tool_without_run_method() -> None:
    empty = frameworks_tool(CityModel)
    for binding in (ToolSet, lambda tools: bind(ChatRequest(), tools), lambda tools: ToolRunner(Scripted([]), tools)):
        with pytest.raises(ToolDefinitionError, match="made: the class has no method run, _run, arun or _arun"):
            binding([empty])
    assert ToolSet([empty.definition]).names == ("made",)


class Aliased(pydantic.BaseModel):
    city: str = pydantic.Field(alias="City")
    days: int = 1


def test_class_tool_passes_aliased_fields_by_field_name() -> None:
    made = frameworks_tool(Aliased, _run=_run)
    script = [answer(call_of("made", "a", City="Oslo", days=2)), answer("Done.")]
    result = ToolRunner(Scripted(script), [made]).run("Go.")
    assert result.messages[1].contents[0].text == '["sync", "Oslo", 2]'  # type: ignore[union-attr]


@pytest.mark.parametrize("schema", [CityModel, CityData, CityModel.model_json_schema()])
def test_binding_rejects_run_method_with_parameter_missing_from_schema(schema: Any) -> None:
    def _run(self: Any, city: str, country: str) -> str:
        return city + country

    with pytest.raises(ToolDefinitionError, match="no argument supplies the parameter country of _run"):
        ToolSet([frameworks_tool(schema, _run=_run)])


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (DataContent(media_type="image/png", data="A" * 16_000), "[image image/png, 12 KB]"),
        (["a map", DataContent(media_type="audio/wav", data="AAAA")], "a map\n[audio audio/wav, 3 bytes]"),
        (DataContent(media_type="text/plain", text="12345"), "[file text/plain, 5 bytes]"),
        (UriContent(uri="https://a.test/b.png", media_type="image/png"), "[image image/png, https://a.test/b.png]"),
        (HostedFileContent(file_id="f", name="a.pdf"), "[file, a.pdf]"),
        (HostedVectorStoreContent(vector_store_id="v"), "[hosted vector store]"),
        (ErrorContent(message="no map"), "no map"),
    ],
)
def test_call_record_display_describes_every_content_type(results: Any, expected: str) -> None:
    results = results if not isinstance(results, list) else [TextContent(text=results[0]), *results[1:]]

    @tool
    def draw() -> Any:
        """Draws."""
        return results

    (record,) = ToolRunner(Scripted([answer(call_of("draw", "a")), answer("Done.")]), [draw]).run("Go.").report.calls
    assert (record.display, record.result) == (expected, expected)


def test_tool_receives_context_and_definition_excludes_it() -> None:
    class Counter(Tool):
        """Counts."""

        name = "count"

        def __init__(self) -> None:
            self.runs = 0

        async def run(self, args: Any, context: ToolContext) -> Any:
            self.runs += 1
            return self.runs, context.state

    @tool
    def whose(context: ToolContext, what: str, /) -> str:
        return f"{what} of {context.state}"

    @tool
    def perhaps(context: ToolContext | None = None) -> Any:
        return context.state

    tool_context, counter = ToolContext(state="mine"), Counter()
    assert asyncio.run(counter.invoke({}, tool_context)) == (1, "mine")
    assert counter.definition.parameters["properties"] == {}
    assert list(whose.definition.parameters["properties"]) == ["what"]
    assert whose.invoke({"what": "cake"}, tool_context) == "cake of mine"
    assert perhaps.invoke({}, tool_context) == "mine"
    with pytest.raises(ToolInputError, match=r"\$\.context: expected no argument of this name"):
        validate_input(whose, call({"what": "cake", "context": {"state": "stolen"}}))


def test_decorated_method_is_bound_to_its_instance() -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        @tool
        def sell(self, what: str) -> str:
            return f"{what} from {self.name}"

    assert Shop("A").sell.invoke({"what": "tea"}) == "tea from A"
    assert Shop("B").sell("tea") == "tea from B"
    assert list(Shop.sell.definition.parameters["properties"]) == ["what"]


def test_tool_resolves_annotations_with_local_names() -> None:
    class Local(msgspec.Struct):
        x: int

    @tool
    def use(it: Local) -> int:
        return it.x

    assert use.invoke(validate_input(use, call({"it": {"x": 3}})).args) == 3


def test_tool_decorator_sets_name_and_run_settings() -> None:
    @tool(name="rm", strict=True, terminates=True, approval=lambda args: args["path"] == "/", timeout=3)
    def remove(path: str) -> None: ...

    assert (remove.name, remove.terminates, remove.timeout) == ("rm", True, 3)
    assert remove.definition.strict is True
    assert [remove.needs_approval({"path": path}) for path in ("/", "/tmp")] == [True, False]


def test_tool_accepts_default_value_that_is_not_json() -> None:
    missing = object()

    @tool
    def find(most: int = missing, words: list[str] = []) -> bool:  # noqa: B006
        words.append("mine")
        return most is missing

    for _ in range(2):
        args = validate_input(find, call({})).args
        assert args["words"] == []
        assert find.invoke(args) is True


def test_tool_is_async_reflects_its_function() -> None:
    @tool
    async def later() -> str:
        return "done"

    class Later(Tool):
        name = "later"

        async def run(self, args: Any) -> str:
            return "done"

    assert (later.is_async, Later().is_async, weather.is_async) == (True, True, False)
    assert [asyncio.run(it.invoke(validate_input(it, call("")).args)) for it in (later, Later())] == ["done", "done"]


def test_tool_decorator_reports_all_parameters_without_json_schema() -> None:
    class Opaque: ...

    def one(a: Opaque, b: int, c: typing.Callable[[], Opaque] | Opaque) -> None: ...

    def two(*args: int, **more: int) -> None: ...

    def three(a: Nowhere) -> None: ...  # noqa: F821

    for function, expected in ((one, ["parameter a", "parameter c"]), (two, ["parameter args", "parameter more"])):
        with pytest.raises(ToolDefinitionError) as raised:
            tool(function)
        assert [fault.partition(":")[0] for fault in raised.value.faults] == expected
    with pytest.raises(ToolDefinitionError, match="Nowhere"):
        tool(three)
    with pytest.raises(ToolDefinitionError, match="set name="):
        tool(lambda: None)
    with pytest.raises(ToolDefinitionError, match="no signature"):
        tool(max)


@pytest.mark.parametrize(
    "schema", [int, "text", list[int], {"type": "array"}, {"properties": {"a": {"type": "strin"}}}]
)
def test_class_tool_rejects_schema_that_is_not_an_object(schema: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        _ = weather_class(schema).definition


# Sets and binding -----------------------------------------------------------------------------------------------------


def test_tool_set_reports_all_duplicate_names() -> None:
    with pytest.raises(ToolDefinitionError) as raised:
        ToolSet([weather, forget, weather, FunctionTool(name="forget"), SEARCH])
    assert raised.value.faults == ("2 tools have the name weather", "2 tools have the name forget")
    with pytest.raises(ToolDefinitionError, match="decorate the function with @tool"):
        ToolSet([print])


def test_tool_set_keeps_order_and_finds_tools_by_name() -> None:
    apart = ToolGroup(name="space", tools=[FunctionTool(name="weather")])
    tools = ToolSet([SEARCH, weather, FunctionTool(name="elsewhere"), apart, forget])
    assert tools.definitions == [SEARCH, weather.definition, FunctionTool(name="elsewhere"), apart, forget.definition]
    assert tools["weather"] is weather
    assert tools.get("elsewhere") is None
    assert next(iter(tools)) is SEARCH
    assert (len(tools), "elsewhere" in tools, "nobody" in tools) == (5, True, False)
    with pytest.raises(UnknownToolError, match="nobody"):
        tools["nobody"]


def test_tool_set_choice_accepts_mode_tool_name_or_list_of_names() -> None:
    tools = ToolSet([weather, forget, SEARCH])
    assert tools.choice("auto") == ToolChoice(mode="auto")
    assert tools.choice("weather") == tools.choice(["weather"]) == ToolChoice(mode="required", tools=["weather"])
    assert tools.choice(["weather", "forget"]) == ToolChoice(mode="required", tools=["weather", "forget"])
    assert tools.choice("web_search") == ToolChoice(mode="required", hosted="web_search")
    with pytest.raises(UnknownToolError, match="one, two"):
        tools.choice(["one", "weather", "two"])
    with pytest.raises(UnknownToolError):
        tools.choice([])


SOME = ["weather", "forget"]
WIRE_CHOICES: dict[str, dict[Any, Any]] = {
    "openai-chat": {
        "auto": "auto",
        "none": "none",
        "required": "required",
        "weather": {"type": "function", "function": {"name": "weather"}},
    },
    "openai-responses": {
        "auto": "auto",
        "none": "none",
        "required": "required",
        "weather": {"type": "function", "name": "weather"},
    },
    "anthropic-messages": {
        "auto": {"type": "auto"},
        "none": {"type": "none"},
        "required": {"type": "any"},
        "weather": {"type": "tool", "name": "weather"},
    },
    "google-generate-content": {
        "auto": {"mode": "AUTO"},
        "none": {"mode": "NONE"},
        "required": {"mode": "ANY"},
        "weather": {"mode": "ANY", "allowedFunctionNames": ["weather"]},
    },
}


def wire_choice(payload: dict[str, Any]) -> Any:
    return payload["tool_choice"] if "tool_choice" in payload else payload["toolConfig"]["functionCallingConfig"]


@pytest.mark.parametrize("choice", ["auto", "none", "required", "weather"])
@pytest.mark.parametrize("api", APIS)
def test_tool_choice_is_encoded_for_each_api(api: str, choice: str) -> None:
    made = encoded(api, bind(request(), [weather, forget], choice=choice))
    assert wire_choice(made.payload) == WIRE_CHOICES[api][choice]
    assert [loss for loss in made.losses if "tool_choice" in loss.path] == []


@pytest.mark.parametrize("api", APIS)
def test_tool_choice_of_several_tools_is_encoded_or_reported_as_loss(api: str) -> None:
    made = encoded(api, bind(request(), [weather, forget, SEARCH], choice=SOME))
    encoded_choice = json.dumps(wire_choice(made.payload))
    lost = any("tool_choice" in loss.path for loss in made.losses)
    assert all(name in encoded_choice for name in SOME) is not lost
    # Only Anthropic cannot express this choice.
    assert lost is (api == "anthropic-messages")


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_parallel_tool_calls_setting_is_encoded_or_reported_as_loss(api: str, parallel: bool) -> None:
    made = encoded(api, bind(request(), [weather], parallel=parallel))
    choice = made.payload.get("tool_choice")
    if api == "anthropic-messages" and not parallel:
        assert choice == {"type": "auto", "disable_parallel_tool_use": True}
    elif api.startswith("openai"):
        assert made.payload["parallel_tool_calls"] is parallel
    else:
        assert parallel or made.losses


def test_bind_does_not_modify_the_request() -> None:
    before = request()
    kept = contentmodel.dumps(before)
    bound = bind(before, ToolSet([weather, SEARCH, CustomTool(name="patch")]), choice="weather", parallel=False)
    assert contentmodel.dumps(before) == kept
    assert bound.messages == before.messages
    assert (bound.options.max_output_tokens, bound.options.parallel_tool_calls) == (100, False)
    again = bind(bound, [forget])
    assert again.tools == [forget.definition]
    assert again.options == bound.options


# Input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "  ", "{}", None, {}])
def test_validate_input_reads_missing_arguments_as_empty_object(text: Any) -> None:
    assert validate_input(forget, call(text)).args == {}


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
def test_validate_input_rejects_incomplete_call(status: str) -> None:
    with pytest.raises(ToolInputError, match="cut short"):
        validate_input(weather, call({"city": "Oslo"}, status=status))
    assert validate_input(weather, call({"city": "Oslo"}, status="completed")).args == {"city": "Oslo", "days": 1}


@pytest.mark.parametrize("schema", FORMS)
def test_validate_input_reports_all_faults_together(schema: Any) -> None:
    found = faults(weather_class(schema), '{"days": "3", "more": {"a": 1}}')
    assert found["$.city"] == ("a value (it is required)", "nothing")
    assert found["$.more"] == ("no argument of this name", '{"a": 1}')
    assert "integer" in found["$.days"][0]
    assert found["$.days"][1] == '"3"'
    assert len(found) == 3


def test_tool_input_error_has_text_and_json_form() -> None:
    with pytest.raises(ToolInputError) as raised:
        validate_input(weather, call({"city": 3}))
    assert str(raised.value) == (
        "The arguments of weather are not valid; it did not run.\n- $.city: expected a valid string, got 3"
    )
    assert raised.value.to_json() == {
        "error": "invalid_arguments",
        "tool": "weather",
        "faults": [{"path": "$.city", "expected": "a valid string", "got": "3"}],
    }


def test_fault_path_includes_list_indexes_and_struct_fields() -> None:
    @tool
    def find(spans: list[Span | None], place: Place, key: int | str) -> None: ...

    sent = {"spans": [None, {"first": 1}, {"first": "1"}], "place": {"lat": 1, "near": [{"lat": "x"}]}, "key": []}
    found = faults(find, sent)
    assert set(found) == {"$.spans[2].first", "$.place.near[0].lat", "$.key"}
    assert found["$.key"] == ("a valid integer or a valid string", "[]")


def test_validate_input_accepts_unknown_arguments_if_model_ignores_extra_fields() -> None:
    made = weather_class(Person)
    assert "additionalProperties" not in made.definition.parameters
    assert validate_input(made, call({"name": "Ada", "more": 1})).args == Person(name="Ada")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        "3",
        "null",
        '"{}"',
        "NaN",
        '{"city": NaN}',
        "{" * 5000,
        "[" * 50_000,
        '{"a":' * 5000,
        "\x00",
        "\ud800",
    ],
    ids=lambda text: ascii(text)[:12],
)
@pytest.mark.parametrize("schema", FORMS)
def test_validate_input_rejects_text_that_is_not_a_json_object(schema: Any, text: str) -> None:
    assert list(faults(weather_class(schema), text)) == ["$"]


@pytest.mark.parametrize("value", [{"city": float("nan")}, {"city": object()}, {"city": "x", 3: 4}])
def test_validate_input_rejects_arguments_that_are_not_json(value: Any) -> None:
    assert faults(weather, value)


@pytest.mark.parametrize("value", ["3", True, 3.5, None, [3], {}])
@pytest.mark.parametrize("schema", FORMS)
def test_validate_input_does_not_coerce_types(schema: Any, value: Any) -> None:
    assert list(faults(weather_class(schema), {"city": "Oslo", "days": value})) == ["$.days"]


def additions(item: Any) -> list[Any]:
    """Return the tools that an input item of Responses adds."""
    is_addition = isinstance(item, dict) and item.get("type") == "additional_tools"
    return list(item["tools"]) if is_addition else []


@pytest.mark.parametrize("api", APIS)
def test_recorded_tool_definitions_round_trip(api: str, corpus: Any) -> None:
    adapter = contentmodel.adapter(api)
    kept = [record["body"] for record in records(api, "request") if record["body"].get("tools")]
    for payload in kept:
        decoded = adapter.decode_request(payload)
        assert decoded.tools
        # Another model may have another host, without the tools of this one.
        alone = contentmodel.ChatRequest(
            model=decoded.model, tools=decoded.tools, origin=decoded.origin, extra=decoded.extra
        )
        # Tools that a message adds are also tools of the request. Without that message, the request sends them.
        added = [tool for item in payload.get("input", ()) for tool in additions(item)]
        assert adapter.encode_request(alone).payload["tools"] == [*payload["tools"], *added]
    assert len(kept) > 10


def test_tool_input_error_limits_number_and_length_of_faults() -> None:
    with pytest.raises(ToolInputError) as raised:
        validate_input(weather, call({"city": "Oslo", **{f"x{i}": "y" * 5_000 for i in range(500)}}))
    assert (len(raised.value.faults), raised.value.more) == (20, 480)
    assert len(str(raised.value)) < 5000


def test_validate_input_rejects_arguments_if_validator_raises() -> None:
    class Broken(pydantic.BaseModel):
        city: str

        @pydantic.field_validator("city")
        @classmethod
        def check(cls, value: str) -> str:
            raise KeyError("internals")

    with pytest.raises(ToolInputError) as raised:
        validate_input(weather_class(Broken), call({"city": "x"}))
    assert "internals" not in str(raised.value)


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema that checks each value twice at every level."""
    names = [f"level{i}" for i in range(levels)]
    twice = {n: {"allOf": [{"$ref": f"#/$defs/{m}"}] * 2} for n, m in zip(names, [*names[1:], "end"], strict=True)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/level0"}}, "$defs": {**twice, "end": {}}}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


LINK = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (deep(5000), "nested deeper"),
        ({"type": "object", "enum": list(range(30_000))}, "more than 20000"),
        ({"type": "object", "$ref": "#"}, "circular"),
        (doubling(3000), "circular, or refers through more than 64"),
        ({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, **LINK}, "circular"),
        ({"type": "object", "properties": {"default": {"$ref": "http://localhost:1/x"}}}, "does not refer"),
        ({"type": "object", "properties": {"x": {"$ref": "#/$defs/none"}}}, "does not refer"),
        ({"type": "object", "properties": {"x": {"$ref": 3}}}, "does not refer"),
        ({"type": "object", "allOf": [{}], "properties": {"x": {"$ref": f"#/allOf/{'9' * 5_000}"}}}, "does not refer"),
    ],
)
def test_class_tool_rejects_schema_that_is_too_large_or_circular(schema: Any, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        _ = weather_class(schema).definition


def test_validate_input_raises_definition_error_for_invalid_tool() -> None:
    with pytest.raises(ToolDefinitionError):
        validate_input(weather_class({"type": "array"}), call({}))


@pytest.mark.slow
def test_validate_input_stops_if_schema_takes_exponential_time() -> None:
    assert "within the limits" in faults(weather_class(doubling(25)), {"a": 1})["$"][0]
    assert validate_input(weather_class(doubling(5)), call({"a": 1})).args == {"a": 1}


def test_validate_input_supports_recursive_schema() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "x": {"type": "integer"}}}
    sent: dict[str, Any] = {"next": {"next": {"x": "1"}}}
    assert list(faults(weather_class(node), sent)) == ["$.next.next.x"]
    for _ in range(3000):
        sent = {"next": sent}
    assert faults(weather_class(node), sent)


# Outcome --------------------------------------------------------------------------------------------------------------

PNG = DataContent(data="AAAA", media_type="image/png")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        (10**30, "1" + "0" * 30),
        ([], "[]"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ({1: (2, 3)}, '{"1": [2, 3]}'),
        (Span(1), '{"first": 1, "last": null}'),
        (Place(1.5), '{"lat": 1.5, "near": []}'),
        (Person(name="Ada", born=date(1815, 12, 10)), '{"name": "Ada", "born": "1815-12-10"}'),
        ([Unit.CELSIUS, UUID(int=1)], '["c", "00000000-0000-0000-0000-000000000001"]'),
        ({"at": datetime(2026, 1, 2), "cost": Decimal("1.10")}, '{"at": "2026-01-02T00:00:00", "cost": "1.10"}'),
        (PurePosixPath("/a"), '"/a"'),
    ],
)
def test_contents_of_encodes_python_values_as_text(value: Any, text: str) -> None:
    assert contents_of(value) == ToolOutcome([TextContent(text=text)])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (TextContent(text=None), "Expected"),  # type: ignore[arg-type]
        (ErrorContent(message=None), "Expected"),  # type: ignore[arg-type]
        (ErrorContent(message="x", details={"a": object()}), "object"),
        (contentmodel.UnknownContent(api="x", block=object()), "object"),
        (TextContent(text="x", extra={"x": {"y": {1, 2}, "z": object()}}), "object"),
    ],
)
def test_contents_of_reports_invalid_contents_as_error(made: Any, expected: str) -> None:
    outcome = contents_of([made, "and more"])
    assert outcome.error is not None
    assert (outcome.error.code, expected in outcome.error.message) == ("result_not_serialisable", True)
    assert outcome.results[1] == TextContent(text="and more")


def test_contents_of_replaces_unpaired_surrogates() -> None:
    surrogate = "caf\udce9"
    image = contentmodel.DataContent(data="cG5n", media_type="image/png", name=surrogate)
    outcome = contents_of(ToolOutcome([surrogate, image, {"name": surrogate}], note=5, display=surrogate))  # type: ignore[arg-type]
    text, data, value = outcome.results
    assert (text.text, data.name, data.data, outcome.note, outcome.display) == ("caf?", "caf?", "cG5n", "5", "caf?")
    assert value.text == '{"name": "caf?"}'
    assert error_of(OSError(surrogate)).message == "caf?"
    result_of(contentmodel.FunctionCallContent(call_id="a", name="f"), outcome)


def test_contents_of_keeps_content_and_outcome_objects() -> None:
    assert contents_of(PNG).results == [PNG]
    assert contents_of(["Look:", PNG]).results == [TextContent(text="Look:"), PNG]
    outcome = contents_of(ToolOutcome({"a": 1}, note="from the cache", display="Found one."))
    assert outcome == ToolOutcome([TextContent(text='{"a": 1}')], "from the cache", "Found one.")
    assert contents_of(outcome) == outcome
    assert result_of(call({}), outcome).outputs == [TextContent(text='{"a": 1}'), TextContent(text="from the cache")]


class Hostile:
    def model_dump(self, **options: Any) -> Any:
        raise SystemError("internals")


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"bytes", r"bytes \(return a DataContent.* at \$ "),
        ({"a": [1, b"x"]}, r"bytes.* at \$\.a\[1\] "),
        (object(), r"type object at \$ "),
        ({"a": {"b": object}}, r"type type at \$\.a\.b "),
        ((i for i in range(3)), "type generator"),
        ([Span(complex(1))], r"type complex at \$\[0\]\.first "),
        ([1.0, float("inf")], r"number inf at \$\[1\] "),
        ({(1, 2): 3}, "key of type tuple"),
        (LOOP, "nesting of more than"),
        (Hostile(), "type Hostile"),
        ([10**5000], "ValueError when read"),
    ],
)
def test_result_of_reports_type_and_path_of_value_that_is_not_json(value: Any, expected: str) -> None:
    result = result_of(call({}), value)
    assert result.is_error is True
    assert result.error.code == "result_not_serialisable"
    assert contents_of(value).error == result.error
    with pytest.raises(AssertionError, match=expected):
        raise AssertionError(result.error.message)
    assert "internals" not in result.error.message
    contentmodel.dumps(result)


def test_result_of_exception_has_only_its_message_unless_details_is_set() -> None:
    try:
        raise ValueError("no such city")
    except ValueError as error:
        brief, detailed = result_of(call({}), error), result_of(call({}), error, details=True)
    assert brief.outputs == [ErrorContent(message="no such city", code="tool_failed")]
    assert (brief.call_id, brief.name, brief.is_error) == ("call_1", "made", True)
    assert detailed.error.details["type"] == "ValueError"
    assert "test_tools.py" in detailed.error.details["traceback"]
    assert result_of(call({}), TimeoutError("30 s")).error.code == "timeout"
    assert result_of(call({}), KeyboardInterrupt()).error.message == "the tool failed: KeyboardInterrupt"


def payload_text(api: str, outcome: Any) -> str:
    """Return the JSON text of a request that sends an outcome to an API."""
    tool_call = call({"city": "Oslo"})
    turns = [
        ChatMessage(role="assistant", contents=[tool_call]),
        ChatMessage(role="tool", contents=[result_of(tool_call, outcome)]),
    ]
    before = request()
    made = tool(name="made")(weather.function)
    return json.dumps(
        encoded(api, bind(msgspec.structs.replace(before, messages=[*before.messages, *turns]), [made])).payload
    )


@pytest.mark.parametrize("outcome", ["sunny today", None, ToolOutcome([1, 2], note="noted")])
@pytest.mark.parametrize("api", APIS)
def test_every_api_receives_the_texts_of_a_result(api: str, outcome: Any) -> None:
    text = payload_text(api, outcome)
    assert all(content.text in text for content in contents_of(outcome).contents)


@pytest.mark.parametrize("error", [ToolInputError("made", []), RuntimeError("no such city")])
@pytest.mark.parametrize(
    "api",
    [
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "google-generate-content",
    ],
)
def test_every_api_receives_the_message_of_an_error(api: str, error: Exception) -> None:
    assert str(error) in payload_text(api, error)


def test_tool_formats_its_use_and_result_for_display() -> None:
    @tool(format_use=lambda args: f"Looking at {args['city']}", format_result=lambda outcome: outcome.text.upper())
    def look(city: str) -> str:
        return city

    class Plain(Tool):
        name = "plain"
        args_schema = Place

    assert look.format_use({"city": "Oslo"}) == "Looking at Oslo"
    assert look.format_result(contents_of("sunny")) == "SUNNY"
    assert Plain().format_use(Place(1.5)) == 'plain({"lat": 1.5, "near": []})'
    assert Plain().format_result(ToolOutcome("sunny", note="cached")) == "sunny"
    assert Plain().format_result(ToolOutcome("sunny", display="It is sunny.")) == "It is sunny."


def test_import_of_contentmodel_loads_no_tool_dependencies() -> None:
    code = """
import sys, contentmodel
unwanted = ("pydantic", "jsonschema", "docstring_parser", "contentmodel.tools")
print([name for name in sys.modules if name.startswith(unwanted)])
"""
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
