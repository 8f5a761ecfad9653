"""Tool configuration files: validation, and their tools with real APIs and stores."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from conftest import APIS, DATABASES
from contentmodel import (
    ChatMessage,
    ChatRequest,
    DataContent,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    LossError,
    ReasoningContent,
    TextContent,
    chat_client,
)
from contentmodel.errors import Fault
from contentmodel.runner import ToolRunner
from contentmodel.tools import (
    Tool,
    ToolContext,
    ToolInputError,
    ToolSet,
    bind,
    contents_of,
    result_of,
    tool,
    validate_input,
)
from contentmodel.tools.config import (
    Executor,
    ExecutorError,
    GraphQLExecutor,
    MessageStoreError,
    Operation,
    RestExecutor,
    SqlExecutor,
    ToolContextError,
    ToolFile,
    ToolFileError,
    ToolFileWarning,
    load_tools,
    tool_file_schema,
)
from contentmodel_conformance.server import LoopbackServer
from scripted import Scripted, answer
from scripted import call as call_of
from services.graphql import CREDITCARD, NUTSHOP, RICKANDMORTY, Store, graphql_server
from services.rest import PNG, Rest, rest_server

FILES = Path(__file__).parent / "tool_files"
FAULTY = "advice.tools.json"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# Values that have made servers misread a URL or a header.
HOSTILE = st.sampled_from(
    [
        *("..", ".", "../../admin", "..%2f..%2fadmin", "%2e%2e", "%252e%252e", "%25252525252525252f", "%c0%af", "%5c"),
        *("a/b", "a\\b", "//evil.example/", "http://evil.example", "@evil.example", ":80", "", "#", "a#b", "..;"),
        *("?admin=1", "&admin=1", "a&a=b", ";admin=1", "a=b", "+", " ", "%", "%00", "\x00", "\r\nX-Admin: 1"),
        *("💥", "\u2215", "\uff0f", "1,2", "a%2Cb"),
    ]
)


def api_tool(name: str, api: dict[str, Any], properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties or {}, "required": more.pop("required", [])}
    return {"type": "api", "function": {"name": name, "parameters": parameters}, "api": api, **more}


def faults(source: Any, **options: Any) -> list[tuple[str | None, str, str]]:
    with pytest.raises(ToolFileError) as caught:
        load_tools(source, strict=True, **options)
    assert str(caught.value).splitlines() == [str(fault) for fault in caught.value.faults]
    return [(fault.tool, fault.path, fault.message) for fault in caught.value.faults]


def only_fault(entry: dict[str, Any], **options: Any) -> tuple[str, str]:
    ((_, path, message),) = faults([entry], **options)
    return path, message


def run(made: Tool | FunctionTool, **args: Any) -> Any:
    """Return the result of a call: a text, or the contents if there are several."""
    assert isinstance(made, Tool)
    call = FunctionCallContent(call_id="c", name=made.name, arguments=args)
    outcome = contents_of(made.invoke(validate_input(made, call).args, ToolContext()))
    contents = outcome.contents
    return contents[0].text if len(contents) == 1 and isinstance(contents[0], TextContent) else contents


def named(tools: list[Tool | FunctionTool], name: str) -> Tool:
    found = next(made for made in tools if made.name == name)
    assert isinstance(found, Tool)
    return found


@pytest.fixture(scope="module")
def rest() -> Iterator[Rest]:
    with rest_server() as server:
        yield server


def rest_tool(rest: Rest, path: str, properties: dict[str, Any] | None = None, **options: Any) -> Tool:
    method = options.pop("method", "GET")
    file = load_tools(
        [api_tool("it", {"path": path, "method": method}, properties)],
        executors={"default": RestExecutor(rest.url, **options)},
    )
    return named(file.tools(), "it")


# Validation of files


def shipped() -> list[str]:
    return ["activity", "creditcard", "nutshop-c360", "nutshop-schema", "rickandmorty", "weather"]


@pytest.mark.parametrize("name", shipped())
def test_load_tools_reads_recorded_files_and_they_match_the_schema(corpus: Path, name: str) -> None:
    path = corpus / "tools-config" / f"{name}.tools.json"
    file = load_tools(path)
    value = json.loads(path.read_bytes())
    jsonschema.validate(value, tool_file_schema(), jsonschema.Draft202012Validator)
    assert len(file.entries) == len(value)
    assert len(file.definitions) == len([v for v in value if not v["function"]["name"].startswith("Internal")])
    for text in (path.read_bytes(), path.read_text(), value):
        assert load_tools(text).definitions == file.definitions


@pytest.mark.parametrize("source", [{"tools": []}, '{"tools": []}'])
def test_load_tools_rejects_file_that_is_not_a_list(source: Any) -> None:
    with pytest.raises(ToolFileError) as caught:
        load_tools(source)
    assert [fault.message for fault in caught.value.faults] == [
        "expected a list of tools: put the tools between [ and ]"
    ]


def test_strict_load_tools_reports_misspelled_path_placeholder(corpus: Path) -> None:
    ((tool, path, message),) = faults(corpus / "tools-config" / FAULTY)
    assert (tool, path) == ("advice_by_id", "$[2].api.path")
    assert "{slip_id}" in message
    assert "did you mean {slid_id}?" in message


@pytest.mark.parametrize("form", ["path", "text", "list"])
def test_load_tools_keeps_valid_tools_and_warns_of_invalid_tool(corpus: Path, form: str) -> None:
    path = corpus / "tools-config" / FAULTY
    source = {"path": path, "text": path.read_bytes(), "list": json.loads(path.read_bytes())}[form]
    with pytest.warns(ToolFileWarning, match=r"advice_by_id: .*slip_id.* \(at \$\[2\].api.path\)") as warned:
        file = load_tools(source)
    assert [definition.name for definition in file.definitions] == ["random_advice", "search_advice"]
    ((fault),) = file.faults
    assert (fault.tool, fault.path) == ("advice_by_id", "$[2].api.path")
    assert warned[0].message.faults == file.faults  # type: ignore[union-attr]


BAD_TOOLS: list[Any] = [
    5,
    {},
    {"type": "api"},
    {"type": "nonsense", "function": {"name": "bad"}},
    {"type": "client", "function": {"name": "bad"}, "contxt": []},
    {"type": "client", "function": {"name": "good"}},
    {"type": "client", "function": {"name": "bad", "parameters": {"type": 5}}},
    {"type": "client", "function": {"name": "bad"}, "context": ["nothing"]},
    {"type": "local", "function": {"name": "unregistered"}},
    {"type": "api", "function": {"name": "bad"}, "api": {"name": "unknown", "path": "/"}},
    {"type": "client", "function": {"name": "InternalSaveChatMessage"}},
]


@pytest.mark.parametrize("bad", BAD_TOOLS, ids=str)
def test_load_tools_loads_valid_tools_next_to_each_kind_of_invalid_tool(bad: Any) -> None:
    good = {"type": "client", "function": {"name": "good"}}
    other = {"type": "client", "function": {"name": "other"}}
    executors = {"default": RestExecutor("http://a.test")}
    with pytest.warns(ToolFileWarning):
        file = load_tools([good, bad, other], executors=executors)
    assert [definition.name for definition in file.definitions] == ["good", "other"]
    assert file.faults
    assert all(fault.path.startswith("$[1]") for fault in file.faults)
    assert {definition.name for definition in file.tools()} == {"good", "other"}  # type: ignore[union-attr]
    with pytest.raises(ToolFileError):
        load_tools([good, bad, other], executors=executors, strict=True)


def test_load_tools_rejects_file_without_valid_tools() -> None:
    with pytest.raises(ToolFileError, match="unknown type"):
        load_tools([{"type": "nonsense"}])


def test_load_tools_leaves_out_tool_with_duplicate_json_key() -> None:
    twice = '{"type": "client", "type": "local", "function": {"name": "a"}}'
    text = f'[{twice}, {{"type": "client", "function": {{"name": "b"}}}}]'
    with pytest.warns(ToolFileWarning, match="is duplicated"):
        assert [definition.name for definition in load_tools(text).definitions] == ["b"]


def test_tool_of_type_function_is_a_declaration() -> None:
    function = {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}
    (definition,) = load_tools([{"type": "function", "function": {**function, "strict": True}}]).tools()
    assert definition == FunctionTool(**function, strict=True)
    script = [answer(call_of("now", "a"))]
    result = ToolRunner(Scripted(script), load_tools([{"type": "function", "function": function}]).tools()).run("Go.")
    assert (result.stop, [made.name for made in result.handed_back]) == ("handed_back", ["now"])


def test_load_tools_reports_local_tool_without_run_method() -> None:
    class Empty(Tool):
        name = "empty"

    entry = {"type": "local", "function": {"name": "empty"}}
    path, message = only_fault(entry, functions={"empty": Empty()})
    assert path == "$[0].function.name"
    assert "the class has no method run" in message


def test_tool_of_type_function_can_have_context() -> None:
    parameters = {"type": "object", "properties": {"user": {"type": "string"}}}
    entry = {"type": "function", "function": {"name": "now", "parameters": parameters}, "context": ["user"]}
    (definition,) = load_tools([entry]).definitions
    assert definition.parameters == {"type": "object", "properties": {}}


def test_every_tool_file_matches_the_schema(corpus: Path) -> None:
    paths = sorted((corpus / "tools-config").glob("*.json"))
    assert len(paths) == 7
    for path in [*paths, *FILES.glob("*.json")]:
        jsonschema.validate(json.loads(path.read_bytes()), tool_file_schema(), jsonschema.Draft202012Validator)


def test_tool_file_schema_is_valid_and_rejects_invalid_files() -> None:
    jsonschema.Draft202012Validator.check_schema(tool_file_schema())
    checker = jsonschema.Draft202012Validator(tool_file_schema())
    good = api_tool("a", {"path": "/a"})
    assert checker.is_valid([good])
    both = api_tool("a", {"path": "/a", "query": "{ a }"})
    for bad in ({}, [{}], [{**good, "type": "apo"}], [both], [{**good, "more": 1}], [api_tool("a", {"path": ""})]):
        assert not checker.is_valid(bad)
        with pytest.raises(ToolFileError):
            load_tools(json.dumps(bad))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"[{", "not JSON"),
        ("", "not JSON"),
        ("tools.json", "pass Path('tools.json')"),
        ("{}", "expected a list of tools"),
        (b"\xff\xfe[]", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ([float("nan")], "not a JSON value"),
        ('[{"type": "client", "type": "client", "function": {"name": "a"}}]', "'type' is duplicated"),
        ([3], "expected an object (a tool), got an integer"),
        ([{"function": {}}], "the key 'type' is missing"),
    ],
)
def test_load_tools_rejects_invalid_sources(source: Any, message: str) -> None:
    assert message in faults(source)[0][2]


@pytest.mark.parametrize(
    ("entry", "path", "message"),
    [
        ({"type": "apo", "function": {"name": "a"}}, "$[0].type", "did you mean 'api'?"),
        ({"type": ["api"], "function": {"name": "a"}}, "$[0].type", "unknown type"),
        ({"type": "api", "function": {"name": "a"}}, "$[0]", "'api' is missing"),
        ({"type": "api", "function": {"name": "a"}, "api": None}, "$[0].api", "expected an object, got null"),
        ({"type": "client", "function": {"name": "a"}, "api": {}}, "$[0].api", "unknown key 'api'"),
        (api_tool("a", {}), "$[0].api", "path and query are both missing"),
        (api_tool("a", {"path": "/", "query": "{ a }"}), "$[0].api", "path and query are both set"),
        (api_tool("a", {"query": "{ a }", "method": "POST"}), "$[0].api", "method is only allowed with path"),
        (api_tool("a", {"path": "/", "metod": "GET"}), "$[0].api.metod", "did you mean 'method'?"),
        (api_tool("a", {"path": "/", "method": "get"}), "$[0].api.method", "did you mean 'GET'?"),
        (api_tool("a", {"path": "/", "method": "TRACE"}), "$[0].api.method", "unknown method"),
        (api_tool("a", {"path": "/"}, context="x"), "$[0].context", "expected an array, got a string"),
        (api_tool("a", {"path": "/"}, context=["x"]), "$[0].context[0]", "x is not a parameter"),
        (api_tool("", {"path": "/"}), "$[0].function.name", "empty"),
        (api_tool("a", {"path": "/{x}"}), "$[0].api.path", "no parameter or context value supplies {x}"),
        (api_tool("a", {"path": "/"}, {"x": {}}), "$[0].function.parameters.properties.x", "x is not used"),
        (
            api_tool("a", {"path": "/{x}"}, {"x": {"type": "strin"}}),
            "$[0].function.parameters.properties.x.type",
            "strin",
        ),
        (api_tool("a", {"path": "https://e.example/"}), "$[0].api.path", "begin with exactly one slash"),
        (api_tool("a", {"path": "//e.example/"}), "$[0].api.path", "begin with exactly one slash"),
        (api_tool("a", {"path": "{x}/"}, {"x": {}}), "$[0].api.path", "begin with exactly one slash"),
        (api_tool("a", {"path": "/../a"}), "$[0].api.path", "no segments . or .."),
        (api_tool("a", {"path": "/%2E%2e/a"}), "$[0].api.path", "no segments . or .."),
        (api_tool("a", {"path": "/a b"}), "$[0].api.path", "percent-encode"),
        (api_tool("a", {"path": "/a%b"}), "$[0].api.path", "percent-encode"),
        (api_tool("a", {"path": "/a\\b"}), "$[0].api.path", "percent-encode"),
        (api_tool("a", {"path": "/a#b"}), "$[0].api.path", "percent-encode"),
        (api_tool("a", {"path": "/a?b=1?c"}), "$[0].api.path", "two question marks"),
        (api_tool("a", {"path": "/{}"}), "$[0].api.path", "a placeholder must be {name}"),
        (api_tool("a", {"path": "/{x"}, {"x": {}}), "$[0].api.path", "a placeholder must be {name}"),
        (api_tool("a", {"path": "/a?{x}=1"}, {"x": {}}), "$[0].api.path", "in the value of a query parameter"),
        (api_tool("a", {"path": "/a?{x}"}, {"x": {}}), "$[0].api.path", "in the value of a query parameter"),
        (api_tool("a", {"query": "query { a("}), "$[0].api.query", "not valid GraphQL"),
        (api_tool("a", {"query": "query($x: Int!) { a(x: $x) }"}), "$[0].api.query", "supplies $x"),
        (api_tool("a", {"query": "query($x: Int) { a }"}), "$[0].api.query", "$x is declared but not used"),
        (api_tool("a", {"query": "{ a(x: $x) }"}), "$[0].api.query", "$x is used but not declared"),
        (api_tool("a", {"query": "query A { a } query B { b }"}), "$[0].api.query", "it has 2"),
        (api_tool("a", {"query": "subscription { a }"}), "$[0].api.query", "subscriptions are not supported"),
        (api_tool("a", {"query": "{ a }"}, {"x": {}}), "$[0].function.parameters.properties.x", "no variable $x"),
        (api_tool("a", {"query": "SELEC a FROM b"}), "$[0].api.query", "not valid SQL"),
        (api_tool("a", {"query": "hello world"}), "$[0].api.query", "not a SQL statement"),
        (api_tool("a", {"query": "SELECT 1; DROP TABLE a"}), "$[0].api.query", "it has 2"),
        (api_tool("a", {"query": "-- nothing"}), "$[0].api.query", "it has 0"),
        (api_tool("a", {"query": "SELECT :x"}), "$[0].api.query", "supplies :x"),
        (api_tool("a", {"query": "SELECT ?"}), "$[0].api.query", "placeholders as :name"),
        (api_tool("a", {"query": "SELECT %(x)s"}, {"x": {}}), "$[0].api.query", "not valid SQL"),
        (api_tool("a", {"query": "BEGIN"}), "$[0].api.query", "its own transaction"),
        (
            api_tool("a", {"query": "SELECT ':x'"}, {"x": {}}),
            "$[0].function.parameters.properties.x",
            "no placeholder :x",
        ),
        ({"type": "local", "function": {"name": "a"}}, "$[0].function.name", "no function is registered"),
    ],
)
def test_load_tools_reports_path_and_fix_of_a_fault(entry: dict[str, Any], path: str, message: str) -> None:
    found = only_fault(entry)
    assert found[0] == path
    assert message in found[1]


def test_load_tools_reports_all_faults_together() -> None:
    entries = [
        {"type": "api", "function": {"name": "a", "parameters": {"type": 3}, "extra": 1}, "api": {"path": "/"}},
        api_tool("b", {"path": "/{x}", "name": "other"}),
        api_tool("c", {"query": "SELECT :x", "unknown": 1}),
        api_tool("b", {"query": "SELEC"}, {"y": {"type": "no"}}),
        7,
    ]
    found = {path for _, path, _ in faults(entries, executors={"default": SqlExecutor("sqlite://")})}
    assert found == {
        "$[0].function.extra",
        "$[0].function.parameters",
        "$[0].api.path",
        "$[1].api.name",
        "$[2].api.query",
        "$[2].api.unknown",
        "$[3].api.query",
        "$[3].function.name",
        "$[3].function.parameters.properties.y.type",
        "$[4]",
    }


def test_load_tools_rejects_parameter_schemas_that_are_too_large_or_circular() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "array", "items": deep}
    circle = {"$ref": "#/properties/x"}
    far = {"$ref": "https://evil.example/schema.json"}
    for schema in (deep, circle, far, {"enum": list(range(30_000))}):
        assert only_fault(api_tool("a", {"path": "/{x}"}, {"x": schema}))[0].startswith("$[0].function.parameters")


def test_load_tools_checks_name_and_kind_of_executors() -> None:
    sql, rest, graphql = SqlExecutor("sqlite://"), RestExecutor("http://a.example"), GraphQLExecutor("http://a.example")
    path, query = api_tool("a", {"path": "/"}), api_tool("a", {"query": "{ a }"})
    assert "there is no executor default" in only_fault(path, executors={"other": rest})[1]
    assert "a SQL executor cannot call a path" in only_fault(path, executors={"default": sql})[1]
    assert "a GraphQL executor cannot call a path" in only_fault(path, executors={"default": graphql})[1]
    assert "a REST executor cannot run a query" in only_fault(query, executors={"default": rest})[1]
    assert "not a SQL statement" in only_fault(query, executors={"default": sql})[1]
    assert all(isinstance(executor, Executor) for executor in (sql, rest, graphql))


def test_file_without_executors_has_definitions_but_no_runnable_tools() -> None:
    file = load_tools([api_tool("a", {"path": "/"})])
    assert [definition.name for definition in file.definitions] == ["a"]
    with pytest.raises(ToolFileError, match="there is no executor default"):
        file.tools()


WORDS = ["type", "function", "name", "parameters", "context", "api", "path", "query", "properties"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.sampled_from(["api", "local", "client"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_load_tools_accepts_or_rejects_any_json_value(value: Any) -> None:
    for source in (json.dumps(value), json.dumps([value])):
        try:
            load_tools(source)
        except ToolFileError as error:
            assert error.faults  # noqa: PT017


@given(TEXTS | HOSTILE)
def test_load_tools_accepts_or_rejects_any_path_and_query(text: str) -> None:
    for api in ({"path": text}, {"path": f"/{text}"}, {"query": text}, {"query": f"SELECT {text}"}):
        try:
            load_tools([api_tool("a", api)])
        except ToolFileError as error:
            assert error.faults  # noqa: PT017


# Context


def notes(rest: Rest, **functions: Any) -> ToolFile:
    functions = functions or {"remind": lambda user, day, text="": f"{user} {day} {text}"}
    executors = {"default": RestExecutor(rest.url)}
    return load_tools(FILES / "notes.tools.json", executors=executors, functions=functions)


def test_definitions_exclude_context_parameters(rest: Rest) -> None:
    for definition in notes(rest).definitions:
        assert definition.parameters is not None
        assert "user" not in definition.parameters["properties"]
        assert "user" not in definition.parameters["required"]
        assert definition.parameters["properties"]
    tools = notes(rest).tools({"user": "me"})
    request = bind(ChatRequest(messages=[]), ToolSet(tools))
    assert [made.name for made in request.tools if isinstance(made, FunctionTool)] == ["note", "write_note", "remind"]
    assert notes(rest).context == {"user": ("note", "write_note", "remind")}


def test_context_value_overrides_argument_of_the_same_name(rest: Rest) -> None:
    tools = notes(rest).tools({"user": "me"})
    run(named(tools, "note"), folder="x", user="you")
    assert rest.last.raw_path == "/users/me/notes/x.json"
    run(named(tools, "write_note"), folder="x", text="t", user="you")
    assert rest.last.json == {"text": "t", "user": "me"}
    assert run(named(tools, "remind"), day="1", user="you") == "me 1 "


def test_closed_schema_rejects_argument_with_a_context_name(shop: ToolFile) -> None:
    cancel = named(shop.tools({"customer": 7}), "cancel_order")
    with pytest.raises(ToolInputError, match=r"\$.customer: expected no argument of this name"):
        run(cancel, id=1, customer=8)


def test_tools_reject_missing_and_invalid_context_values(shop: ToolFile) -> None:
    with pytest.raises(ToolContextError, match="customer is missing; the tool orders needs it") as caught:
        shop.tools()
    assert len(caught.value.faults) == 4
    with pytest.raises(ToolContextError, match='customer: orders expects integer, got "7"'):
        shop.tools({"customer": "7"})
    with pytest.raises(ToolContextError, match="is not a JSON value"):
        shop.tools({"customer": object()})
    with pytest.raises(ToolContextError, match="customer is missing"):
        shop.messages({})


def test_tools_copy_context_values_when_created(rest: Rest) -> None:
    context = {"user": "me", "unasked": 1}
    made = named(notes(rest).tools(context), "note")
    context["user"] = "you"
    run(made, folder="x")
    assert rest.last.raw_path == "/users/me/notes/x.json"


def test_load_tools_reports_context_field_that_cannot_be_removed_from_schema() -> None:
    entry = api_tool("a", {"path": "/{x}"}, {"x": {}}, context=["x"])
    entry["function"]["parameters"]["allOf"] = [{"required": ["x"]}]
    assert "cannot be removed" in only_fault(entry)[1]
    entry = api_tool("a", {"path": "/{x}"}, {"x": {}}, context=["x", "x"])
    assert "listed twice" in only_fault(entry)[1]


# Local and client tools


def test_local_tool_converts_arguments_to_the_types_of_its_function(rest: Rest) -> None:
    def remind(user: str, day: date, context: ToolContext, text: str = "-") -> str:
        return f"{user} {day.year} {text} {context.call_id}"

    made = named(notes(rest, remind=remind).tools({"user": "me"}), "remind")
    assert made.definition.description == "Reminds the user."
    call = FunctionCallContent(call_id="c9", name="remind", arguments={"day": "2026-01-02"})
    assert made.invoke(validate_input(made, call).args, ToolContext(call_id="c9")) == "me 2026 - c9"
    with pytest.raises(ToolInputError, match="date"):
        run(made, day="tomorrow")


def test_local_tool_keeps_settings_of_decorated_async_function(rest: Rest) -> None:
    @tool(approval=lambda args: args["user"] == "me", timeout=3, terminates=True, format_result=lambda _: "done")
    async def remind(user: str, day: str, text: str = "-") -> str:
        return f"{user} {day}"

    made = named(notes(rest, remind=remind).tools({"user": "me"}), "remind")
    assert (made.timeout, made.terminates, made.is_async) == (3, True, True)
    assert made.needs_approval({"day": "1"})
    assert asyncio.run(made.invoke({"day": "1"})) == "me 1"
    assert made.format_result(contents_of("x")) == "done"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda user, day: "", "the function has no argument text"),
        (lambda user, day, text, more: "", "the function requires the argument more"),
        (lambda *args: "", "are not supported"),
    ],
)
def test_load_tools_reports_function_with_mismatched_parameters(function: Any, expected: str) -> None:
    found = faults(FILES / "notes.tools.json", functions={"remind": function})
    assert any(expected in message for _, _, message in found)


def test_client_tools_are_declarations(shop: ToolFile) -> None:
    made = next(made for made in shop.tools({"customer": 7}) if made.name == "show_order")
    definition = made.definition if isinstance(made, Tool) else made
    assert definition.parameters == {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    assert {"InternalSaveChatMessage", "InternalGetChatMessages"}.isdisjoint(d.name for d in shop.definitions)


# REST


def test_tools_of_recorded_rest_files_call_the_api(corpus: Path, rest: Rest) -> None:
    def tools_of(name: str) -> list[Tool | FunctionTool]:
        return load_tools(corpus / "tools-config" / name, executors={"default": RestExecutor(rest.url)}).tools()

    activity, weather = tools_of("activity.tools.json"), tools_of("weather.tools.json")
    assert json.loads(run(named(activity, "generic_activity"))) == {"slip": {"id": 1, "advice": "Look up."}}
    assert (rest.last.method, rest.last.raw_path, rest.last.query) == ("GET", "/random", "")
    run(named(activity, "filter_activity"), participants=2)
    assert rest.last.query == "participants=2"
    run(named(activity, "filter_activity"))
    assert rest.last.query == ""
    run(named(weather, "weather_forecast"), latitude=59.9, longitude=-10, measurement="cloudcover")
    assert rest.last.raw_path == "/forecast"
    assert rest.last.query == "latitude=59.9&longitude=-10&hourly=cloudcover&past_hours=1&forecast_hours=12"


@given(folder=TEXTS | HOSTILE, tags=st.lists(TEXTS | HOSTILE, max_size=3), user=TEXTS | HOSTILE)
def test_rest_arguments_cannot_change_host_path_or_parameters(
    rest: Rest, folder: str, tags: list[str], user: str
) -> None:
    file = notes(rest)
    made = named(file.tools({"user": user}), "note")
    count = len(rest.seen)
    try:
        run(made, folder=folder, tags=tags, filter={"a": folder})
    except ExecutorError as error:
        assert "the argument" in str(error) or "an argument" in str(error)  # noqa: PT017
        assert len(rest.seen) == count
        assert any(
            set(text) & set("/\\%") or text in ("", ".", "..", "..;") or not text.isprintable()
            for text in (user, folder)
        )
        return
    seen = rest.last
    assert len(rest.seen) == count + 1
    assert len(seen.segments) == 5
    assert (seen.segments[1], seen.segments[3]) == ("users", "notes")
    assert [unquote(seen.segments[2]), unquote(seen.segments[4])] == [user, f"{folder}.json"]
    assert len(unquote(seen.raw_path).split("/")) == 5
    assert [name for name, _ in seen.pairs] == ["tags", "filter", "kind"]
    assert [unquote(item) for item in seen.query.split("&")[0].removeprefix("tags=").split(",")] == (tags or [""])
    assert seen.pairs[1:] == [
        ("filter", json.dumps({"a": folder}, ensure_ascii=False, separators=(",", ":"))),
        ("kind", "note"),
    ]
    assert seen.headers["host"] == rest.url.removeprefix("http://")
    assert "x-admin" not in seen.headers


def test_rest_executor_rejects_arguments_too_long_for_a_url(rest: Rest) -> None:
    with pytest.raises(ExecutorError, match="too long for a URL"):
        run(rest_tool(rest, "/{x}", {"x": {}}), x="x" * 100_000)
    run(rest_tool(rest, "/{x}", {"x": {}}), x="x" * 30_000)


def test_rest_executor_rejects_unpaired_surrogate(rest: Rest) -> None:
    with pytest.raises(ExecutorError, match="an unpaired surrogate"):
        run(rest_tool(rest, "/{x}", {"x": {}}), x="\ud83d")


def test_rest_executor_encodes_query_values_as_documented(rest: Rest) -> None:
    made = rest_tool(rest, "/a?x={x}", {"x": {}})
    for value, text in [
        (True, "true"),
        (1.5, "1.5"),
        ([1, "a,b", False], "1,a%2Cb,false"),
        ([[1]], "%5B%5B1%5D%5D"),
        ({"a": "é"}, "%7B%22a%22%3A%22%C3%A9%22%7D"),
        ("a b+c&d", "a%20b%2Bc%26d"),
        ("", ""),
    ]:
        run(made, x=value)
        assert rest.last.query == f"x={text}"
    run(made, x=None)
    assert rest.last.query == ""


def test_rest_executor_rejects_unset_path_argument(rest: Rest) -> None:
    with pytest.raises(ExecutorError, match="needs a value for the argument x"):
        run(rest_tool(rest, "/a/{x}", {"x": {}}))


def test_rest_executor_sends_arguments_without_placeholder_as_body_or_rejects_them(rest: Rest) -> None:
    run(rest_tool(rest, "/a/{x}?y={y}", {"x": {}, "y": {}, "z": {}}, method="PUT"), x=1, y=2, z=None)
    assert (rest.last.method, rest.last.query, rest.last.json) == ("PUT", "y=2", {"z": None})
    assert rest.last.headers["content-type"] == "application/json"
    run(rest_tool(rest, "/a/{x}", {"x": {}}, method="POST"), x=1)
    assert rest.last.body == b""
    run(rest_tool(rest, "/a", {"x": {}}, method="PATCH"))
    assert rest.last.json == {}
    for method in ("POST", "PUT", "PATCH", "GET", "DELETE"):
        with pytest.raises(ExecutorError, match="has no argument more"):
            run(rest_tool(rest, "/a/{x}", {"x": {}}, method=method), x=1, more=2)


def test_rest_executor_refuses_arguments_that_imitate_the_context(rest: Rest) -> None:
    entry = api_tool("a", {"path": "/a/{id}", "method": "PUT"}, {"id": {}, "owner": {}}, context=["owner"])
    (made,) = load_tools([entry], executors={"default": RestExecutor(rest.url)}).tools({"owner": "me"})
    with pytest.raises(ExecutorError, match="has no argument Owner, extra: remove it"):
        run(made, id="1", Owner="evil", extra=5)
    run(made, id="1")
    assert rest.last.json == {"owner": "me"}


def test_rest_executor_keeps_path_of_base_url(rest: Rest) -> None:
    file = load_tools([api_tool("a", {"path": "/b"})], executors={"default": RestExecutor(f"{rest.url}/v1/")})
    run(named(file.tools(), "a"))
    assert rest.last.raw_path == "/v1/b"


@pytest.mark.parametrize(
    "url", ["api.example.com", "file:///etc/passwd", "http://", "https://a.example/#x", "", "https://a/?k=1"]
)
def test_rest_executor_rejects_invalid_base_url(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        RestExecutor(url)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/packed", "unpacked"),
        ("/latin", "café"),
        ("/untyped", "plain"),
        ("/members", "one two"),
        ("/moved", '{"slip"'),
        ("/empty", "204 No Content"),
    ],
)
def test_rest_executor_returns_response_body_as_text(rest: Rest, path: str, text: str) -> None:
    assert run(rest_tool(rest, path)).startswith(text)


def test_rest_executor_returns_image_as_data_and_notes_undecodable_text(rest: Rest) -> None:
    (image,) = run(rest_tool(rest, "/image"))
    assert isinstance(image, DataContent)
    assert (image.media_type, image.to_bytes()) == ("image/png", PNG)
    text, note = run(rest_tool(rest, "/bytes"))
    assert text.text == "caf\ufffd"
    assert "not text" in note.text
    text, note = run(rest_tool(rest, "/puny"))
    assert len(text.text) == 300_002


def test_rest_executor_reports_error_status_with_body(rest: Rest) -> None:
    (error,) = run(rest_tool(rest, "/missing"))
    assert isinstance(error, ErrorContent)
    assert error.message == 'GET of it failed: 404 Not Found: {"why":"no such thing"}'
    assert error.details == {"status": 404, "body": '{"why":"no such thing"}'}
    (long,) = run(rest_tool(rest, "/error"))
    assert len(long.message) < 2200


def test_rest_executor_raises_timeout_error_if_response_is_late(rest: Rest) -> None:
    with pytest.raises(TimeoutError) as caught:
        run(rest_tool(rest, "/hang", timeout=0.1))
    assert result_of(FunctionCallContent(call_id="1", name="it"), caught.value).error.code == "timeout"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/flood", "more than 100,000 bytes"),
        ("/bomb", "more than 100,000 bytes"),
        ("/hang", "did not answer within 0.3 seconds"),
        ("/silent", "did not answer within 0.3 seconds"),
        ("/drip", "did not answer within 0.3 seconds"),
        ("/odd", "compressed"),
        ("/torn", "not valid compressed data"),
        ("/cut", "is incomplete"),
        ("/circle", "redirected more than 5 times"),
    ],
)
def test_rest_executor_limits_size_time_and_redirects_of_responses(rest: Rest, path: str, message: str) -> None:
    with pytest.raises(ExecutorError, match=message):
        run(rest_tool(rest, path, max_bytes=100_000, timeout=0.3 if "answer" in message else 30))


def test_rest_executor_does_not_follow_redirect_to_another_host(rest: Rest) -> None:
    with rest_server() as other:
        rest.elsewhere = f"{other.url}/secrets"
        with pytest.raises(ExecutorError, match="redirected to another host"):
            run(rest_tool(rest, "/away", headers={"Authorization": "Bearer secret"}))
        assert rest.last.headers["authorization"] == "Bearer secret"
        assert other.seen == []


def test_rest_executor_hides_headers_and_passwords_in_repr_and_errors() -> None:
    url = "http://me:hunter2@127.0.0.1:1/x"
    executor = RestExecutor(url, headers={"X-Key": "s3cret\r\nX-Admin: 1"}, timeout=5)
    plain = RestExecutor(url, timeout=5)
    for made, operation in [(executor, Operation("a", path="/")), (plain, Operation("a", path="/"))]:
        with pytest.raises(ExecutorError) as caught:
            made.run(operation, {})
        call = FunctionCallContent(call_id="1", name="a")
        shown = f"{made!r} {result_of(call, caught.value, details=True)}"
        assert "hunter2" not in shown
        assert "s3cret" not in shown


def test_rest_executor_stores_no_cookies_and_is_thread_safe(rest: Rest) -> None:
    made = rest_tool(rest, "/cookie")
    threads = [threading.Thread(target=run, args=(made,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("cookie" not in seen.headers for seen in rest.seen if seen.raw_path == "/cookie")
    assert sum(seen.raw_path == "/cookie" for seen in rest.seen) == 8


def test_rest_executor_does_not_close_a_client_passed_to_it(rest: Rest) -> None:
    import httpx2

    with httpx2.Client(headers={"x-client": "mine"}, follow_redirects=True) as client:
        executor = RestExecutor(rest.url, client=client)
        executor.run(Operation("a", path="/a"), {})
        assert rest.last.headers["x-client"] == "mine"
        executor.close()
        assert not client.is_closed
    own = RestExecutor(rest.url)
    own.close()
    with pytest.raises(ExecutorError):
        own.run(Operation("a", path="/a"), {})


# GraphQL


def graphql_file(corpus: Path, name: str, store: Store, **options: Any) -> ToolFile:
    executors = {"default": GraphQLExecutor(store.url, **options)}
    return load_tools(corpus / "tools-config" / f"{name}.tools.json", executors=executors)


def test_credit_card_tools_send_context_and_arguments_as_variables(corpus: Path) -> None:
    with graphql_server(CREDITCARD) as store:
        tools = graphql_file(corpus, "creditcard", store).tools({"customerid": 7})
        response = json.loads(run(named(tools, "spending_by_category")))
        assert response["SpendingByCategory"][0]["category"] == "Travel"
        assert store.last == ("SpendingByCategory", {"customerid": 7, "limit": 12})
        run(named(tools, "spending_by_category"), limit=24, customerid=8)
        assert store.last[1] == {"customerid": 7, "limit": 24}
        times = {"fromTime": "2024-01-01T00:00:00Z", "toTime": '"}) { x } #'}
        run(named(tools, "spending_by_day"), **times)
        assert store.last == ("SpendingByDay", {"customerid": 7, **times})


def test_tools_of_other_recorded_graphql_files_call_the_api(corpus: Path) -> None:
    with graphql_server(NUTSHOP) as store:
        tools = graphql_file(corpus, "nutshop-c360", store).tools({"customerid": 7})
        for name in ("ordered_products", "spending_by_week", "orders"):
            assert json.loads(run(named(tools, name)))
            assert store.last[1]["customerid"] == 7
        tools = graphql_file(corpus, "nutshop-schema", store).tools()
        for name in ("SpendingByWeek", "Orders", "OrderAgain"):
            assert json.loads(run(named(tools, name), customerid=9, offset=3))
            assert store.last[1] == {"customerid": 9, "limit": 10, "offset": 3}
        assert json.loads(run(named(tools, "Products")))["Products"][0]["name"] == "Almonds"
        assert json.loads(run(named(tools, "OrdersByTimeRange"), customerid=9, fromTime="a", toTime="b"))
    with graphql_server(RICKANDMORTY) as store:
        tools = graphql_file(corpus, "rickandmorty", store).tools()
        assert "Morty Smith" in run(named(tools, "character_by_name"), name="Morty")
        assert store.last == ("characters", {"filter": {"name": "Morty"}})
        assert "Total Rickall" in run(named(tools, "episode_by_id"), episodeid="S02E04")


@given(name=TEXTS | HOSTILE | st.sampled_from(['"}) { secrets } }', "$name", '\\"', "\u2028", "{name}"]))
def test_graphql_executor_sends_arguments_as_variables(rick: Store, name: str) -> None:
    query = "query ($name: String!) { characters(filter: {name: $name}) { results { name } } }"
    file = load_tools(
        [api_tool("a", {"query": query}, {"name": {"type": "string"}})],
        executors={"default": GraphQLExecutor(rick.url)},
    )
    run(named(file.tools(), "a"), name=name)
    assert rick.last == ("characters", {"filter": {"name": name}})


@pytest.fixture(scope="module")
def rick() -> Iterator[Store]:
    with graphql_server(RICKANDMORTY) as store:
        yield store


def test_graphql_executor_returns_data_and_errors_of_a_response(corpus: Path) -> None:
    with graphql_server(CREDITCARD) as store:
        tools = graphql_file(corpus, "creditcard", store).tools({"customerid": 7})
        data, error = run(named(tools, "transactions"), fromTime="a", toTime="b")
        assert json.loads(data.text) == {"Transactions": None}
        assert isinstance(error, ErrorContent)
        assert error.message == "transactions: the ledger is closed (at Transactions)"
        assert error.code == "graphql_errors"
        (refused,) = run(named(tools, "spending_by_category"), limit=2**40)
        assert "limit" in refused.message


def test_graphql_executor_rejects_unknown_and_missing_arguments(corpus: Path, rick: Store) -> None:
    tools = graphql_file(corpus, "rickandmorty", rick).tools()
    with pytest.raises(ExecutorError, match="has no argument more: remove it"):
        run(named(tools, "character_by_name"), name="x", more=1)
    file = load_tools(
        [api_tool("a", {"query": "query ($x: Int!) { a(x: $x) }"}, {"x": {}})],
        executors={"default": GraphQLExecutor(rick.url)},
    )
    with pytest.raises(ExecutorError, match="a needs a value for x"):
        run(named(file.tools(), "a"))


def test_graphql_executor_rejects_response_that_is_not_graphql(rest: Rest) -> None:
    def ask(path: str) -> Any:
        return GraphQLExecutor(rest.url + path).run(Operation("a", query="{ a }"), {})

    with pytest.raises(ExecutorError, match="the URL belongs to a GraphQL API"):
        ask("/advice")
    assert "404" in contents_of(ask("/missing")).error.message  # type: ignore[union-attr]
    assert (rest.last.method, rest.last.json) == ("POST", {"query": "{ a }", "variables": {}})


@pytest.mark.parametrize(
    "text", ["{ a }", "query { a }", "\ufeff # x\n,mutation A { a }", "fragment F on A { a } { ...F }"]
)
def test_load_tools_recognizes_graphql_by_first_token(text: str) -> None:
    load_tools([api_tool("a", {"query": text})])


@pytest.mark.parametrize(
    "text", ["SELECT 1", "WITH query AS (SELECT 1) SELECT * FROM query", "-- query\nSELECT 1", "(SELECT 1)"]
)
def test_load_tools_parses_other_queries_as_sql(text: str) -> None:
    load_tools([api_tool("a", {"query": text})])


# SQL

TABLES = """
CREATE TABLE orders (id integer, customer integer, placed date, total numeric(10, 2), status text);
CREATE TABLE notes (id integer PRIMARY KEY {auto}, customer integer, text text, tags text);
CREATE TABLE messages (id integer PRIMARY KEY {auto}, customer integer, role text NOT NULL, content text NOT NULL,
  name text, function_call text);
INSERT INTO orders VALUES
  (1, 7, '2026-01-02', 12.50, 'open'), (2, 7, '2026-02-03', 3, 'sent'), (3, 8, '2026-02-04', 1, 'open')
"""


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    from sqlalchemy import create_engine, text

    is_lite = request.param == "sqlite"
    url: str = f"sqlite:///{tmp_path}/shop.db" if is_lite else request.getfixturevalue("database")
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in TABLES.format(auto="" if is_lite else "GENERATED ALWAYS AS IDENTITY").split(";"):
            connection.execute(text(statement))
    engine.dispose()
    return url


@pytest.fixture
def shop(database_url: str) -> Iterator[ToolFile]:
    executor = SqlExecutor(database_url, timeout=20)
    yield load_tools(FILES / "shop.tools.json", executors={"default": executor})
    executor.close()


def sql_tool(executor: SqlExecutor, query: str, properties: dict[str, Any] | None = None) -> Tool:
    file = load_tools([api_tool("a", {"query": query}, properties)], executors={"default": executor})
    return named(file.tools(), "a")


def test_sql_executor_returns_rows_as_objects(shop: ToolFile, database_url: str) -> None:
    orders = named(shop.tools({"customer": 7}), "orders")
    total = 12.5 if database_url.startswith("sqlite") else "12.50"
    first = {"id": 1, "placed": "2026-01-02", "total": total, "status": "open", "note": ":note"}
    assert json.loads(run(orders))[1] == first
    assert json.loads(run(orders, status="open", limit=1)) == [first]
    assert json.loads(run(orders, customer=8)) == json.loads(run(orders))


def test_sql_executor_commits_changes_and_returns_row_count(shop: ToolFile, database_url: str) -> None:
    tools = shop.tools({"customer": 7})
    assert json.loads(run(named(tools, "cancel_order"), id=3)) == {"row_count": 0}
    assert json.loads(run(named(tools, "cancel_order"), id=1)) == {"row_count": 1}
    note = {"id": 1, "text": "x'); DROP TABLE notes; --", "tags": '["a"]'}
    assert json.loads(run(named(tools, "add_note"), text=note["text"], tags=["a"])) == [note]
    fresh = SqlExecutor(database_url)
    assert json.loads(run(sql_tool(fresh, "SELECT id, text, tags FROM notes"))) == [note]
    assert json.loads(run(sql_tool(fresh, "SELECT count(*) AS n FROM orders"))) == [{"n": 2}]
    fresh.close()


@given(
    text=TEXTS
    | HOSTILE
    | st.sampled_from(["' OR 1=1 --", "'; DROP TABLE orders; --", ":customer", "%s", "%(x)s", "\\'", "\\:a", "?"])
)
def test_sql_executor_binds_arguments_as_parameters(memory: SqlExecutor, text: str) -> None:
    made = sql_tool(memory, r"SELECT :x AS x, 'a\:b :x %s \\:x' AS fixed -- :x", {"x": {}})
    assert json.loads(run(made, x=text)) == [{"x": text, "fixed": r"a\:b :x %s \\:x"}]


def test_sql_executor_supports_casts_of_placeholders(database_url: str) -> None:
    executor = SqlExecutor(database_url)
    made = sql_tool(executor, 'SELECT CAST(:x AS integer) + 1 AS "a.b"', {"x": {}})
    assert json.loads(run(made, x="1")) == [{"a.b": 2}]
    if database_url.startswith("postgresql"):
        made = sql_tool(
            executor,
            "SELECT :x::integer + :y ::integer AS z, 'a:x::b' AS a, (ARRAY[1,2,3])[1:2] AS l",
            {"x": {}, "y": {}},
        )
        assert json.loads(run(made, x="1", y=2)) == [{"z": 3, "a": "a:x::b", "l": [1, 2]}]
        with pytest.raises(ExecutorError, match="the database refused the statement"):
            run(sql_tool(executor, "SELECT 1 / :x AS d", {"x": {}}), x=0)
    executor.close()


TIMES = {
    "date 'infinity'": "infinity",
    "timestamp '-infinity'": "-infinity",
    "timestamptz 'infinity'": "infinity",
    "date '0044-03-15 BC'": "0044-03-15 BC",
    "timestamp '12026-01-02 03:04:05'": "12026-01-02 03:04:05",
    "time '24:00:00'": "24:00:00",
    "ARRAY[date 'infinity', date '2026-01-02']": ["infinity", "2026-01-02"],
    "interval '1 year 3 mons'": "P1Y3M",
    "interval '-1 mons +2 days -03:04:05.5'": "P-1M2DT-3H-4M-05.5S",
    "interval '2 days'": "P2D",
    "date '2026-01-02'": "2026-01-02",
    "timestamp '2026-01-02 03:04:05'": "2026-01-02T03:04:05",
}


def test_sql_executor_returns_times_of_postgresql_that_python_cannot_represent(database_url: str) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has no such types")
    executor = SqlExecutor(database_url)
    columns = ", ".join(f"{value} AS c{index}" for index, value in enumerate(TIMES))
    (row,) = json.loads(run(sql_tool(executor, f"SELECT {columns}")))
    assert dict(zip(TIMES, row.values(), strict=True)) == TIMES
    with executor._engine.connect() as connection, pytest.raises(sqlalchemy.exc.DataError):
        connection.exec_driver_sql("SELECT date 'infinity'").all()
    executor.close()


@pytest.mark.parametrize(
    "query", ["COPY o TO STDOUT", "COPY (SELECT 1) TO STDOUT", "copy o FROM STDIN", "COPY o TO '/o'"]
)
def test_sql_statement_that_copies_is_refused(query: str) -> None:
    tool, path, message = faults([api_tool("a", {"query": query})])[0]
    assert (tool, path) == ("a", "$[0].api.query")
    assert message == "COPY transfers data outside of a result: use SELECT or INSERT"


def test_sql_executor_commits_select_that_inserts_rows(database_url: str) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has no INSERT in WITH")
    executor = SqlExecutor(database_url)
    query = "WITH made AS (INSERT INTO notes (customer, text) VALUES (1, :x) RETURNING text) SELECT text FROM made"
    assert json.loads(run(sql_tool(executor, query, {"x": {}}), x="a")) == [{"text": "a"}]
    assert json.loads(run(sql_tool(executor, "SELECT text FROM notes FOR UPDATE"))) == [{"text": "a"}]
    executor.close()


def test_sql_executor_ignores_placeholders_in_literals_and_comments(database_url: str) -> None:
    executor = SqlExecutor(database_url)
    made = sql_tool(
        executor, r"SELECT CAST(:x AS text) AS x, 'a\:b :x 100% %s %% \\:x ::y' AS " '"q:x" /* :z */', {"x": {}}
    )
    assert json.loads(run(made, x="1")) == [{"x": "1", "q:x": r"a\:b :x 100% %s %% \\:x ::y"}]
    executor.close()


@pytest.fixture(scope="module")
def memory() -> Iterator[SqlExecutor]:
    executor = SqlExecutor("sqlite://")
    yield executor
    executor.close()


def test_sql_executor_shares_in_memory_database_between_threads() -> None:
    executor = SqlExecutor("sqlite://")
    run(sql_tool(executor, "CREATE TABLE t (n integer)"))
    insert = sql_tool(executor, "INSERT INTO t VALUES (:n)", {"n": {}})
    threads = [threading.Thread(target=run, args=(insert,), kwargs={"n": n}) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row["n"] for row in json.loads(run(sql_tool(executor, "SELECT n FROM t")))) == list(range(8))


def test_sql_executor_returns_values_without_json_type_as_text(database_url: str) -> None:
    executor = SqlExecutor(database_url)
    assert json.loads(run(sql_tool(executor, "SELECT 1 AS a, 2 AS a, NULL AS b"))) == [{"a": 1, "a_2": 2, "b": None}]
    if database_url.startswith("sqlite"):
        assert json.loads(run(sql_tool(executor, "SELECT x'00ff' AS b, 9e999 AS i"))) == [{"b": "AP8=", "i": "inf"}]
    else:
        query = """SELECT timestamptz '2026-01-02 03:04:05Z' AT TIME ZONE 'UTC' AS t, interval '90 s' AS d,
            'NaN'::float AS f, 1.10::numeric AS n, '\\x00ff'::bytea AS b, '{"a": [1]}'::jsonb AS j,
            ARRAY[1, 2] AS l, int4range(1, 3) AS r,
            '0e37df36-f698-11e6-8dd4-cb9ced3df976'::uuid AS u, date 'infinity' IS NOT NULL AS y"""
        (row,) = json.loads(run(sql_tool(executor, query)))
        assert row == {
            "t": "2026-01-02T03:04:05",
            "d": "PT90S",
            "f": "nan",
            "n": "1.10",
            "b": "AP8=",
            "j": {"a": [1]},
            "l": [1, 2],
            "r": "[1, 3)",
            "u": "0e37df36-f698-11e6-8dd4-cb9ced3df976",
            "y": True,
        }
    executor.close()


SERIES = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100000000) SELECT n, 'x' AS x FROM s"


def test_sql_executor_truncates_rows_at_limits_and_adds_a_note(database_url: str) -> None:
    executor = SqlExecutor(database_url, max_rows=3, timeout=60)
    rows, note = run(sql_tool(executor, SERIES + " LIMIT 1000"))
    assert [row["n"] for row in json.loads(rows.text)] == [1, 2, 3]
    assert note.text == "Only the first 3 rows can be included; the result has more rows."
    assert len(json.loads(run(sql_tool(executor, SERIES + " LIMIT 3")))) == 3
    small = SqlExecutor(database_url, max_bytes=50)
    rows, note = run(sql_tool(small, SERIES + " LIMIT 1000"))
    assert len(rows.text) <= 60
    executor.close()
    small.close()


def test_sql_executor_cancels_statement_at_timeout(database_url: str) -> None:
    executor = SqlExecutor(database_url, timeout=0.3)
    with pytest.raises(ExecutorError, match=r"did not answer within 0.3 seconds"):
        run(sql_tool(executor, SERIES.replace("n, 'x' AS x", "count(*)")))
    assert json.loads(run(sql_tool(executor, "SELECT 1 AS a"))) == [{"a": 1}]
    executor.close()


def test_sql_executor_reports_database_errors_as_executor_errors(database_url: str) -> None:
    executor = SqlExecutor(database_url)
    with pytest.raises(ExecutorError, match=r"the database refused the statement: .*nothing"):
        run(sql_tool(executor, "SELECT * FROM nothing"))
    for value in (10**30, "\ud83d", {"a": 1}):
        made = sql_tool(executor, "INSERT INTO orders (id) VALUES (:x)", {"x": {}})
        if not (isinstance(value, dict) and database_url.startswith("sqlite")):
            with pytest.raises(ExecutorError, match="the database refused the statement"):
                run(made, x=value)
    with pytest.raises(ExecutorError, match="has no argument more"):
        run(sql_tool(executor, "SELECT :x AS x", {"x": {}}), x=1, more=2)
    executor.close()


def test_sql_executor_hides_database_url_in_repr_and_errors() -> None:
    lost = SqlExecutor("postgresql://me:hunter2@127.0.0.1:1/shop", timeout=3)
    missing = SqlExecutor("sqlite:////nonexistent/hunter2.db")
    for executor in (lost, missing):
        with pytest.raises(ExecutorError, match="could not be reached") as caught:
            run(sql_tool(executor, "SELECT 1 AS a"))
        call = FunctionCallContent(call_id="1", name="a")
        assert "hunter2" not in f"{executor!r} {result_of(call, caught.value, details=True)}"
    with pytest.raises(ImportError) as absent:
        SqlExecutor("sqlite+pysqlcipher://me:hunter2@/x")
    assert "hunter2" not in str(absent.value)
    for url in ("hunter2", "nosuch://me:hunter2@x/y", "", "postgresql://me:hunter2@x:port/y"):
        with pytest.raises(ValueError, match="the database cannot be opened") as refused:
            SqlExecutor(url)
        assert "hunter2" not in str(refused.value)


def test_sql_executor_does_not_close_an_engine_passed_to_it(tmp_path: Path) -> None:
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{tmp_path}/a.db")
    executor = SqlExecutor(engine)
    assert json.loads(run(sql_tool(executor, "SELECT 1 AS a"))) == [{"a": 1}]
    executor.close()
    assert engine.pool.checkedin() == 1
    engine.dispose()


# Custom executors


class Echo:
    def check(self, operation: Operation) -> list[Fault]:
        return [Fault("api.query", "too short")] if operation.query == "?" else []

    def run(self, operation: Operation, arguments: Any) -> Any:
        return {"query": operation.query, "arguments": dict(arguments)}


def test_custom_executor_checks_and_runs_its_own_query_language() -> None:
    executor = Echo()
    assert isinstance(executor, Executor)
    entry = api_tool("a", {"query": "MATCH (n)", "name": "graph"}, {"x": {}, "who": {}}, context=["who"])
    made = named(load_tools([entry], executors={"graph": executor}).tools({"who": 1}), "a")
    assert json.loads(run(made, x=[2])) == {"query": "MATCH (n)", "arguments": {"x": [2], "who": 1}}
    assert only_fault(api_tool("a", {"query": "?"}), executors={"default": executor}) == ("$[0].api.query", "too short")


# Tool runner


@pytest.mark.parametrize("api", APIS)
def test_tool_runner_runs_tools_of_a_file_with_every_api(api: str) -> None:
    file = shop_in_memory()
    order = {"name": "orders", "arguments": {"customer": 8, "limit": 1}}
    script = [
        {
            "calls": [
                order,
                {"name": "orders", "arguments": {"limit": 0}},
                {"name": "cancel_order", "arguments": {"id": 1}},
            ]
        },
        {"calls": [{"name": "show_order", "arguments": {"id": 2}}]},
    ]
    with (
        LoopbackServer(script) as server,
        chat_client(api, model="m", api_key="none", base_url=server.base_url(api)) as client,
    ):
        result = ToolRunner(client, file.tools({"customer": 7})).run("Cancel my first order.")
        assert server.check() == []
        assert "customer" not in json.dumps(server.requests[0].payload["tools"]).replace("the customer", "")
    results = [
        content
        for message in result.messages
        for content in message.contents
        if isinstance(content, FunctionResultContent)
    ]
    assert [found.is_error for found in results] == [None, True, None]
    assert [row["id"] for row in json.loads(results[0].text)] == [2]
    assert json.loads(results[2].text) == {"row_count": 1}
    # The call of a client tool is handed back.
    assert result.messages[-1].tool_calls[0].name == "show_order"
    log = file.messages({"customer": 7}, newest_first=True)
    assert log is not None
    for message in result.messages:
        log.save(message)
    kept = [(type(c), getattr(c, "name", None), getattr(c, "text", None)) for m in log.load() for c in m.contents]
    assert [name for _, name, _ in kept].count("orders") == 4


# Messages

CALL = FunctionCallContent(call_id="call_a", name="orders", arguments={"limit": 1})
CONVERSATION = [
    ChatMessage(role="user", contents=[TextContent(text="What did I order?")], author_name="Ann"),
    ChatMessage(role="assistant", contents=[TextContent(text="I look."), CALL]),
    ChatMessage(
        role="tool", contents=[FunctionResultContent(call_id="call_a", name="orders", outputs=[TextContent(text="[]")])]
    ),
    ChatMessage(role="assistant", contents=[TextContent(text="Nothing.")]),
]
KEPT: dict[str, tuple[str, bool]] = {
    "creditcard": (CREDITCARD, False),
    "nutshop-c360": (NUTSHOP, True),
    "nutshop-schema": (NUTSHOP, False),
}


@pytest.mark.parametrize("name", KEPT)
def test_message_log_of_recorded_files_saves_and_loads_messages(corpus: Path, name: str) -> None:
    schema, keeps_calls = KEPT[name]
    with graphql_server(schema) as store:
        log = graphql_file(corpus, name, store).messages({"customerid": 7}, newest_first=True)
        assert log is not None
        losses = [log.save(message) for message in CONVERSATION]
        assert store.messages[0]["role"] == "user"
        assert store.messages[0].get("context", store.messages[0])["customerid"] == 7
        found = log.load()
        if keeps_calls:
            assert losses == [(), (), (), ()]
            assert found == CONVERSATION
        else:
            assert [(loss.kind, loss.path) for found in losses for loss in found] == [("dropped", "$.contents[1]")]
            assert [message.text for message in found] == [message.text for message in CONVERSATION]
            assert found[2].contents[0].name == "orders"
        assert [message.text for message in log.load(1)] == ["Nothing."]
        other = graphql_file(corpus, name, store).messages({"customerid": 8})
        assert other is not None
        assert other.load() == []


def test_message_log_in_database_saves_and_loads_messages(shop: ToolFile) -> None:
    log = shop.messages({"customer": 7}, newest_first=True)
    assert log is not None
    assert [log.save(message) for message in CONVERSATION] == [(), (), (), ()]
    fresh = shop.messages({"customer": 7}, newest_first=True)
    assert fresh is not None
    assert fresh.load() == CONVERSATION
    result, answer = fresh.load(2)
    assert answer == CONVERSATION[3]
    # Its call is not among the last two rows.
    assert (result.role, result.contents[0].call_id, result.text) == ("tool", "call_1", "")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8)
ARGUMENTS = st.none() | st.dictionaries(TEXT, st.integers(-9, 9) | TEXT, max_size=2) | st.just('{"a": ')


@st.composite
def conversations(draw: st.DrawFn) -> list[ChatMessage]:
    messages, number = [], 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(
            ChatMessage(role="user", contents=[TextContent(text=draw(TEXT))], author_name=draw(st.none() | TEXT))
        )
        calls = []
        for name in draw(st.lists(TEXT, max_size=3)):
            number += 1
            arguments = draw(ARGUMENTS)
            calls.append(
                FunctionCallContent(call_id=f"c{number}", name=name, arguments={} if arguments is None else arguments)
            )
        text = [TextContent(text=draw(TEXT))] if draw(st.booleans()) or not calls else []
        messages.append(ChatMessage(role="assistant", contents=[*text, *calls]))
        for call in calls:
            outputs = [TextContent(text=draw(TEXT))]
            result = FunctionResultContent(call_id=call.call_id, name=call.name, outputs=list(outputs))
            messages.append(ChatMessage(role="tool", contents=[result]))
    return messages


@given(conversations())
def test_message_log_round_trips_texts_calls_and_results(messages: list[ChatMessage]) -> None:
    log = shop_in_memory().messages({"customer": 7}, newest_first=True)
    assert log is not None
    assert all(log.save(message) == () for message in messages)
    assert log.load() == messages


def shop_in_memory() -> ToolFile:
    executor = SqlExecutor("sqlite://")
    for statement in TABLES.format(auto="").split(";"):
        executor.run(Operation("setup", query=statement.strip()), {})
    return load_tools(FILES / "shop.tools.json", executors={"default": executor})


def test_message_log_in_rest_api_sends_message_fields(rest: Rest) -> None:
    save = api_tool("InternalSaveChatMessage", {"path": "/chats/{user}", "method": "POST"}, context=["user"])
    load = api_tool("InternalGetChatMessages", {"path": "/chats/{user}?limit={limit}"}, context=["user"])
    log = load_tools([save, load], executors={"default": RestExecutor(rest.url)}).messages({"user": "me"})
    assert log is not None
    assert log.save(CONVERSATION[1]) == ()
    call = '{"name":"orders","arguments":{"limit":1},"id":"call_a"}'
    assert rest.last.raw_path == "/chats/me"
    assert rest.last.json == {"role": "assistant", "content": "I look.", "function_call": call}
    with pytest.raises(MessageStoreError, match="expected a list of messages"):
        log.load(5)
    assert (rest.last.raw_path, rest.last.query) == ("/chats/me", "limit=5")
    save["function"]["parameters"]["properties"] = {"role": {}, "content": {}, "functionCall": {}}
    log = load_tools([save], executors={"default": RestExecutor(rest.url)}).messages({"user": "me"})
    assert log is not None
    assert [loss.what for loss in log.save(CONVERSATION[0])] == ["the name"]
    assert log.save(CONVERSATION[1]) == ()
    assert rest.last.json == {"role": "assistant", "content": "I look.", "functionCall": call}


def test_message_log_reports_or_raises_losses_of_unsupported_content() -> None:
    image = DataContent(data="AAAA", media_type="image/png")
    result = FunctionResultContent(call_id="b", outputs=[TextContent(text="no"), image, ErrorContent(message="broken")])
    message = ChatMessage(
        role="assistant",
        message_id="m1",
        contents=[ReasoningContent(text="hm"), CALL, TextContent(text="late"), result],
    )
    file = shop_in_memory()
    log = file.messages({"customer": 7}, newest_first=True)
    strict = file.messages({"customer": 7}, on_loss="raise")
    assert log is not None
    assert strict is not None
    with pytest.raises(LossError):
        strict.save(message)
    assert log.load() == []
    assert {(loss.kind, loss.path) for loss in log.save(message)} == {
        ("dropped", "$.message_id"),
        ("dropped", "$.contents[0]"),
        ("moved", "$.contents[2]"),
        ("dropped", "$.contents[3].outputs[1]"),
        ("degraded", "$.contents[3].outputs[2]"),
    }
    saved = log.load()
    assert [found.text for found in saved] == ["", "late"]
    assert saved[0].contents[0].outputs == [TextContent(text="no\nbroken")]
    assert log.save(ChatMessage(role="user", contents=[image]))
    assert len(log.load()) == 2


def test_message_log_reports_loss_for_result_that_follows_another_call() -> None:
    log = shop_in_memory().messages({"customer": 7})
    assert log is not None
    calls = [FunctionCallContent(call_id=name, name="orders") for name in ("a", "b")]
    assert log.save(ChatMessage(role="assistant", contents=[*calls])) == ()
    late = FunctionResultContent(call_id="b", outputs=[TextContent(text="B")])
    (loss,) = log.save(ChatMessage(role="tool", contents=[late]))
    assert (loss.kind, loss.what) == ("degraded", "which call this answers")
    assert log.save(ChatMessage(role="tool", contents=[FunctionResultContent(call_id="a", outputs=[])])) == ()


class Rows:
    """A store that returns these rows, or raises."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def check(self, operation: Operation) -> list[Fault]:
        return []

    def run(self, operation: Operation, arguments: Any) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def load_rows(value: Any) -> list[ChatMessage]:
    entry = {"type": "api", "function": {"name": "InternalGetChatMessages"}, "api": {"query": "all"}}
    log = load_tools([entry], executors={"default": Rows(value)}).messages()
    assert log is not None
    return log.load()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("no JSON", "not JSON"),
        ({"a": 1, "b": 2}, "expected a list of messages, got object"),
        ([1], "expected a list of messages"),
        ([{"content": "x"}], "message 1 has no role"),
        ([{"role": "user", "content": 3}], "the content of message 1 is not a text"),
        ([{"role": "assistant", "functionCall": "{"}], "the function call of message 1"),
        ([{"role": "assistant", "functionCall": "[]"}], "the function call of message 1"),
        (
            [{"role": "assistant", "functionCall": {"name": "a", "arguments": 3}}],
            "the arguments of the function call of message 1 are not an object",
        ),
        (ErrorContent(message="down"), "down"),
        (ExecutorError("gone"), "gone"),
    ],
)
def test_message_log_rejects_rows_that_are_not_messages(rows: Any, expected: str) -> None:
    with pytest.raises(MessageStoreError, match=expected):
        load_rows(rows)


def test_message_log_loads_rows_with_function_call_columns() -> None:
    rows = [
        {"role": "system", "content": "Be brief.", "uuid": "u1"},
        {"role": "assistant", "content": None, "functionCall": '{"name": "a", "arguments": {"x": 1}}'},
        {"role": "function", "content": "3", "name": "a"},
        {"role": "function", "content": "4", "name": "b"},
    ]
    for value in (rows, {"messages": rows}):
        system, call, result, orphan = load_rows(value)
        assert system.text == "Be brief."
        assert call.contents == [FunctionCallContent(call_id="call_2", name="a", arguments={"x": 1})]
        assert (result.role, result.contents[0].call_id, orphan.contents[0].call_id) == ("tool", "call_2", "call_4")
    assert load_rows({"messages": None}) == []


def test_message_log_raises_if_history_is_truncated() -> None:
    executor = SqlExecutor("sqlite://", max_rows=1)
    query = "SELECT 'user' AS role, 'a' AS content UNION ALL SELECT 'user', 'b'"
    entry = {"type": "api", "function": {"name": "InternalGetChatMessages"}, "api": {"query": query}}
    log = load_tools([entry], executors={"default": executor}).messages()
    assert log is not None
    with pytest.raises(MessageStoreError, match="Only the first 1 row can be included"):
        log.load()


def test_message_log_requires_internal_tools_of_the_file() -> None:
    assert load_tools([api_tool("a", {"path": "/"})]).messages() is None
    entry = {"type": "api", "function": {"name": "InternalGetChatMessages"}, "api": {"query": "all"}}
    log = load_tools([entry], executors={"default": Rows([])}).messages()
    assert log is not None
    with pytest.raises(MessageStoreError, match="the file has no tool InternalSaveChatMessage"):
        log.save(CONVERSATION[0])
    with pytest.raises(ValueError, match="at least 1"):
        log.load(0)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "client", "function": {"name": "InternalSaveChatMessage"}}, "must have the type api"),
        (api_tool("InternalSaveChatMessage", {"query": "INSERT INTO m VALUES (:role)"}), "has no argument content"),
        (
            api_tool("InternalSaveChatMessage", {"query": "INSERT INTO m VALUES (:role, :content)"}, context=["who"]),
            "the messages of all callers would be mixed",
        ),
        (api_tool("InternalGetChatMessages", {"query": "SELECT * FROM m WHERE who = :who"}), "supplies :who"),
    ],
)
def test_load_tools_reports_internal_tool_that_would_lose_data(entry: dict[str, Any], message: str) -> None:
    assert message in only_fault(entry)[1]
