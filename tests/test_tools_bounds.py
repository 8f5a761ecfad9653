"""Tools limit the time, memory and log output that models, schemas and servers can cause."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bounded import dripping, no_hang
from contentmodel import FunctionCallContent
from contentmodel.tools import (
    InputLimits,
    Tool,
    ToolDefinitionError,
    ToolInputError,
    UnenforcedPattern,
    load_tools,
    result_of,
    tool,
    validate_input,
)
from contentmodel.tools.config import GraphQLExecutor, Operation, RestExecutor, SqlExecutor
from contentmodel.tools.config.faults import ExecutorError, ExecutorTimeoutError
from contentmodel.tools.patterns import compiled
from contentmodel.tools.schema import schema_faults, unenforced_patterns

EVIL = "^(a+)+$"
LETTERS = "a" * 40 + "!"


def tool_of(schema: dict[str, Any]) -> Tool:
    """Return a tool with one argument `a` of this schema."""

    class Made(Tool):
        name = "made"
        args_schema = {"type": "object", "properties": {"a": schema}}

    return Made()


def faults(schema: dict[str, Any], value: Any, **limits: Any) -> list[str]:
    call = FunctionCallContent(call_id="1", name="made", arguments={"a": value})
    try:
        validate_input(tool_of(schema), call, limits=InputLimits(**limits))
    except ToolInputError as error:
        return [f"{fault.path}: {fault.expected}" for fault in error.faults]
    return []


# Patterns -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": EVIL}, LETTERS),
        ({"patternProperties": {EVIL: {"type": "null"}}}, {LETTERS: 1}),
        ({"patternProperties": {EVIL: {}}, "additionalProperties": False}, {LETTERS: 1}),
        ({"patternProperties": {EVIL: {}}, "unevaluatedProperties": False}, {LETTERS: 1}),
        ({"propertyNames": {"pattern": EVIL}}, {LETTERS: 1}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": EVIL}, LETTERS),
        ({"items": {"$schema": "http://json-schema.org/draft-04/schema#", "pattern": EVIL}}, [LETTERS]),
    ],
)
def test_validation_with_backtracking_patterns_terminates(schema: dict[str, Any], value: Any) -> None:
    with no_hang():
        found = faults(schema, value)
    assert bool(found) == (schema != {"patternProperties": {EVIL: {"type": "null"}}})


@pytest.mark.parametrize(
    ("pattern", "text", "does_match"),
    [
        (r"^\u0041\x42$", "AB", True),
        (r"^\u{1F600}$", "\N{GRINNING FACE}", True),
        (r"^\uD83D\uDE00$", "\N{GRINNING FACE}", True),
        (r"^\cA$", "\x01", True),
        (r"^\p{Script=Greek}+$", "αβγ", True),
        (r"^\s$", "\u00a0", True),
        (r"^\S+$", "a\u00a0b", False),
        (r"^[\s\S]*$", "a\n\u00a0b", True),
        (r"^a$", "a\n", False),
        (r"^\d+$", "٣", False),
        (r"^[a-z]{1,2048}$", "a" * 2048, True),
        (r"^[a-z]{1,2048}$", "a" * 2049, False),
        (r"^x{3000,}$", "x" * 2999, False),
        (r"^x{1500}$", "x" * 1500, True),
        (f"^x{{{'9' * 4500}}}$", "x", False),
        ("^.$", "\ud800", True),
        ("b", "abc", True),
    ],
)
def test_compiled_pattern_matches_as_in_ecma_262(pattern: str, text: str, does_match: bool) -> None:
    assert compiled(pattern).problem == ""
    assert compiled(pattern).matches(text) is does_match


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(?<!a)b", r"(a)\1", "x" * 6000, r"(\p{L}{1,500}x){1,2}" * 20])
def test_pattern_unsupported_by_re2_is_reported_and_not_enforced(pattern: str) -> None:
    made = tool_of({"pattern": pattern})
    call = FunctionCallContent(call_id="1", name="made", arguments={"a": "zzz"})
    with pytest.warns(UnenforcedPattern, match="is not enforced"):
        assert validate_input(made, call).args == {"a": "zzz"}
    assert [fault.path for fault in unenforced_patterns(made.args_schema)] == ["$.properties.a.pattern"]


def test_pattern_translation_takes_linear_time() -> None:
    with no_hang():
        for piece in ("[", "[^", "a{", "(", "\\p{", "[]", "[\\a", "x{1,2000}"):
            compiled(piece * (5000 // len(piece)))


def test_tool_file_warns_of_unenforced_patterns() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}
    entry = {"type": "local", "function": {"name": "it", "parameters": parameters}}
    (made,) = load_tools([entry], functions={"it": lambda a: a}).tools()
    assert isinstance(made, Tool)
    with pytest.warns(UnenforcedPattern, match=r"it: .*properties.a.pattern"):
        assert made.definition


# Work -----------------------------------------------------------------------------------------------------------------

TOWER: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(25)} | {"d25": False}
TWICE: dict[str, Any] = {"properties": {"n": {"allOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}}}


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"n": value}
    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/d0", "$defs": TOWER}, 1),
        ({"$ref": "#/$defs/t", "$defs": {"t": TWICE}}, nested(60)),
        ({"anyOf": [{"type": "string"}] * 900}, {"x": "y" * 4_000_000}),
        ({"items": {"anyOf": [{"type": "string"}] * 900}}, [1] * 10_000),
        ({"allOf": [{"contains": {"type": "string"}}] * 500}, [1] * 10_000),
        ({"items": {"enum": [[n] for n in range(9000)]}}, [[1, 2]] * 5000),
        ({"items": {"dependentRequired": {f"k{n}": ["a"] for n in range(9000)}}}, [{}] * 10_000),
        ({"items": {"pattern": "[ab]*a[ab]{900}c"}}, ["ab" * 5000] * 200),
    ],
)
def test_validation_stops_at_limits_if_schema_multiplies_work(schema: dict[str, Any], value: Any) -> None:
    class Made(Tool):
        name = "made"
        args_schema = {"type": "object", "properties": {"a": schema}, "$defs": schema.pop("$defs", {})}

    call = FunctionCallContent(call_id="1", name="made", arguments={"a": value})
    with no_hang(), pytest.raises(ToolInputError) as raised:
        validate_input(Made(), call)
    assert "within the limits" in raised.value.faults[0].expected


@pytest.mark.slow
def test_validation_reports_one_fault_for_many_false_schemas() -> None:
    with no_hang():
        assert faults({"anyOf": [False] * 9000}, {"x": "y" * 1_000_000}) == ["$.a: no value here"]


def test_unique_items_are_checked_in_linear_time() -> None:
    rows = [{"x": n, "y": [n]} for n in range(20_000)]
    with no_hang():
        assert faults({"uniqueItems": True}, rows) == []
        assert faults({"uniqueItems": True}, [*rows, {"y": [7.0], "x": 7}]) == ["$.a: uniqueItems true"]
    assert faults({"uniqueItems": True}, [1, True, [1], [True], "1", None, {}]) == []


def test_enum_and_const_compare_json_values() -> None:
    assert faults({"enum": [1, {"b": [1]}]}, {"b": [1.0]}) == []
    assert faults({"enum": [1]}, True) == ["$.a: one of [1]"]
    assert faults({"const": [0]}, [False]) == ["$.a: const [0]"]


def test_unevaluated_keywords_apply_to_members_that_no_subschema_evaluates() -> None:
    schema = {
        "properties": {"b": {}},
        "allOf": [{"properties": {"c": {}}}, {"if": {"required": ["d"]}, "then": {"properties": {"d": {}}}}],
        "anyOf": [{"required": ["x"], "properties": {"x": {}}}, {}],
        "unevaluatedProperties": False,
    }
    assert faults(schema, {"b": 1, "c": 1, "d": 1}) == []
    assert faults(schema, {"b": 1, "e": 1}) == ["$.a.e: no value here"]
    items = {"prefixItems": [{}], "contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}
    assert faults(items, [None, "a", 2]) == []
    assert faults(items, [None, "a", None]) == ["$.a[2]: integer"]


def test_tool_definition_rejects_schema_that_is_too_large() -> None:
    many = {f"p{n}": {"pattern": f"\\p{{L}}{{1,{n + 1}}}"} for n in range(900)}
    for properties, message in [
        (many, "patterns"),
        ({"x" * 2000: {}}, "name"),
        ({"a": {"title": "x" * 3_000_000}}, "char"),
    ]:
        with no_hang(), pytest.raises(ToolDefinitionError, match=message):
            tool_of({"properties": properties, "type": "object"}).definition  # noqa: B018


def test_schema_faults_have_bounded_length() -> None:
    with no_hang():
        found = schema_faults({"type": "object", "properties": {f"p{n}": {"minLength": "x"} for n in range(5000)}})
    assert found
    assert all(len(fault.message) <= 200 for fault in found)


# Arguments ------------------------------------------------------------------------------------------------------------


@tool
def note(text: Any) -> str:
    """Takes a note."""
    return "noted"


def refused(arguments: Any, **limits: Any) -> str:
    call = FunctionCallContent(call_id="1", name="note", arguments=arguments)
    with pytest.raises(ToolInputError) as raised:
        validate_input(note, call, limits=InputLimits(**limits))
    return str(raised.value.faults[0])


def test_validate_input_limits_size_and_depth_of_arguments() -> None:
    assert refused({"text": "x" * 5_000_000}) == "$: expected at most 4,194,304 bytes of JSON, got 5,000,011"
    assert refused(json.dumps({"text": "x" * 100}), max_bytes=50).startswith("$: expected at most 50 bytes")
    assert refused({"text": nested(100)}) == "$: expected at most 100 levels of nesting, got more"
    assert refused(json.dumps({"text": nested(9)}), max_depth=9).startswith("$: expected at most 9 levels")
    call = FunctionCallContent(call_id="1", name="note", arguments={"text": nested(98)})
    assert validate_input(note, call).args == {"text": nested(98)}


def test_input_limits_set_steps_and_seconds_of_validation() -> None:
    numbers = list(range(1000))
    assert faults({"items": {"type": "integer"}}, numbers) == []
    assert faults({"items": {"type": "integer"}}, numbers, max_steps=100)[0].startswith(
        "$: arguments that can be checked"
    )
    with no_hang():
        found = faults({"items": {"anyOf": [{"type": "string"}] * 900}}, [1] * 10_000, max_steps=10**9, seconds=0.2)
    assert "within the limits" in found[0]
    with pytest.raises(ValueError, match="max_depth=0"):
        InputLimits(max_depth=0)


# HTTP -----------------------------------------------------------------------------------------------------------------

GET = Operation("it", path="/it")
HEADERS = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "drip"),
    [
        (HEADERS + b"content-length: 1000000\r\n\r\n", b"x"),
        (HEADERS, b"x-more: 1\r\n"),
        (HEADERS + b"x: ", b"y"),
        (HEADERS + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"H"),
    ],
    ids=["body", "headers", "one header", "chunks", "status"],
)
@pytest.mark.parametrize("is_given", [False, True], ids=["own client", "given client"])
def test_rest_executor_stops_reading_dripping_response_at_timeout(head: bytes, drip: bytes, is_given: bool) -> None:
    with dripping(head, drip) as (port, gone):
        client = httpx2.Client() if is_given else None
        executor = RestExecutor(f"http://127.0.0.1:{port}", client=client, timeout=0.5)
        with no_hang(), pytest.raises(ExecutorTimeoutError, match=r"within 0\.5 seconds"):
            executor.run(GET, {})
        if not is_given:
            assert gone.wait(10), "the connection that was left behind is still open"
            with pytest.raises(ExecutorTimeoutError):
                executor.run(GET, {})
        executor.close()


@pytest.fixture
def httpx_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


def test_executor_log_and_repr_contain_no_credentials(httpx_log: pytest.LogCaptureFixture) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={"data": {}})

    def client() -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(answer))

    rest = RestExecutor("http://me:hunter2@shop.test/v1", client=client())
    rest.run(Operation("it", path="/it?key={key}", parameters=frozenset(["key"])), {"key": "s3cret"})
    graph = GraphQLExecutor("http://me:hunter2@shop.test/graphql?key=s3cret", client=client())
    graph.run(Operation("it", query="{a}"), {})
    assert [str(request.url) for request in seen] == [
        "http://shop.test/v1/it?key=s3cret",
        "http://shop.test/graphql?key=s3cret",
    ]
    assert {request.headers["authorization"] for request in seen} == {"Basic bWU6aHVudGVyMg=="}
    assert "http://shop.test/v1/it " in httpx_log.text
    assert not any(secret in httpx_log.text + repr([rest, graph]) for secret in ("hunter2", "s3cret", "bWU6"))


def test_executor_log_of_redirects_contains_no_credentials(httpx_log: pytest.LogCaptureFixture) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/it":
            return httpx2.Response(307, headers={"location": "/there?token=s3cret"})
        return httpx2.Response(200, text="done")

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    outcome = RestExecutor("http://shop.test", client=client).run(GET, {})
    assert outcome.text == "done"
    assert "s3cret" not in httpx_log.text
    assert "/there" in httpx_log.text


# SQL ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> SqlExecutor:
    made = SqlExecutor(f"sqlite:///{tmp_path}/it.db", timeout=20)
    made.run(Operation("it", query="CREATE TABLE t (id integer, small, large)"), {})
    made.run(Operation("it", query="INSERT INTO t VALUES (1, 'x', zeroblob(30000000))"), {})
    return made


@pytest.mark.parametrize(
    "query",
    [
        "SELECT large FROM t",
        "SELECT * FROM t",
        "SELECT zeroblob(900000000) AS large",
        "UPDATE t SET id = 2 RETURNING large",
    ],
)
def test_sqlite_executor_rejects_value_above_max_bytes_before_reading_it(database: SqlExecutor, query: str) -> None:
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(
            ExecutorError, match="a value of the result has more than 1,048,576 bytes: select a part of it"
        ):
            database.run(Operation("it", query=query), {})
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_sqlite_value_limit_applies_only_to_values_that_are_read(database: SqlExecutor) -> None:
    rows = database.run(Operation("it", query="SELECT id, small, length(large) AS size FROM t"), {})
    assert rows.results == [{"id": 1, "small": "x", "size": 30_000_000}]
    update = "UPDATE t SET small = :text"
    written = database.run(Operation("it", query=update), {"text": "x" * 2_000_000})
    assert written.results == {"row_count": 1}


def test_sql_timeout_includes_time_for_reading_rows(tmp_path: Path) -> None:
    executor = SqlExecutor(f"sqlite:///{tmp_path}/it.db", timeout=0.5, max_rows=10**9, max_bytes=10**9)
    forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    with no_hang(), pytest.raises(ExecutorTimeoutError) as caught:
        executor.run(Operation("it", query=forever), {})
    error = result_of(FunctionCallContent(call_id="1", name="it"), caught.value).error
    assert error is not None
    assert error.code == "timeout"
