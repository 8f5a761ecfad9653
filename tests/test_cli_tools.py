"""`contentmodel tools` and `contentmodel schema tools`: output and exit codes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import typer.testing

from conftest import APIS
from contentmodel.cli.app import app
from contentmodel.tools.config import tool_file_schema
from services.graphql import RICKANDMORTY, graphql_server
from services.rest import Rest, rest_server

FILES = Path(__file__).parent / "tool_files"
SHOP, NOTES = FILES / "shop.tools.json", FILES / "notes.tools.json"


def run(*arguments: object, input: str | None = None) -> Any:
    return typer.testing.CliRunner().invoke(app, [str(a) for a in arguments], input=input, env={"COLUMNS": "200"})


@pytest.fixture
def shop_db(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("CREATE TABLE orders (id integer, customer integer, placed date, total real, status text)")
    connection.execute("INSERT INTO orders VALUES (1, 7, '2026-01-02', 12.5, 'open')")
    connection.commit()
    connection.close()
    return f"default=sqlite:///{tmp_path}/shop.db"


@pytest.fixture(scope="module")
def rest() -> Iterator[Rest]:
    with rest_server() as server:
        yield server


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.tools.json"
    parameters = {"type": "object", "properties": {"slid_id": {"type": "string"}}}
    api = {"path": "/advice/{slip_id}", "method": "get"}
    path.write_text(json.dumps([{"type": "api", "function": {"name": "a", "parameters": parameters}, "api": api}] * 2))
    return path


def test_schema_tools_prints_tool_file_schema() -> None:
    printed = json.loads(run("schema", "tools").stdout)
    assert printed == tool_file_schema()
    jsonschema.validate(json.loads(SHOP.read_text()), printed)
    assert json.loads(run("schema").stdout) != printed
    assert run("schema", "nothing").exit_code == 2


# check


def test_tools_check_reports_no_faults_for_valid_files() -> None:
    result = run("tools", "check", SHOP, NOTES)
    assert result.exit_code == 0
    assert result.stdout == f"{SHOP}: 4 tools, no faults\n{NOTES}: 3 tools, no faults\n"
    assert run("tools", "check", "-", input=SHOP.read_text()).exit_code == 0


def test_tools_check_reports_all_faults_of_all_files(faulty: Path) -> None:
    result = run("tools", "check", faulty, SHOP)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0] == (
        f"{faulty}: a: unknown method \"get\": did you mean 'GET'? use one of "
        "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT (at $[0].api.method)"
    )
    listed = [json.loads(line) for line in run("tools", "check", faulty, "--json").stdout.splitlines()]
    assert [fault["path"] for fault in listed] == ["$[0].api.method", "$[1].api.method", "$[1].function.name"]
    assert {fault["tool"] for fault in listed} == {"a"}


def test_tools_check_names_executor_with_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    result = run("tools", "check", SHOP, "--executor", "shop=mysql+pymysql://me:hunter2@localhost/shop")
    assert result.exit_code == 2
    assert "--executor shop: this needs pymysql, which is not installed" in result.stderr
    assert "hunter2" not in result.stderr


def test_tools_check_validates_given_executors(shop_db: str) -> None:
    assert run("tools", "check", SHOP, "--executor", shop_db).exit_code == 0
    result = run("tools", "check", SHOP, "--executor", "other=sqlite://")
    assert result.exit_code == 1
    assert "there is no executor default" in result.stdout
    result = run("tools", "check", NOTES, "--executor", "default=sqlite://")
    assert "a SQL executor cannot call a path" in result.stdout


def test_tools_check_continues_after_missing_file(tmp_path: Path, faulty: Path) -> None:
    result = run("tools", "check", tmp_path / "none.json", faulty)
    assert result.exit_code == 2
    assert "none.json: No such file or directory" in result.stderr
    assert "did you mean" in result.stdout


# show


@pytest.mark.parametrize("api", APIS)
def test_tools_show_prints_definitions_for_an_api(api: str) -> None:
    result = run("tools", "show", SHOP, "--for", api)
    assert result.exit_code == 0, result.stderr
    assert isinstance(json.loads(result.stdout), list)
    for name in ("orders", "cancel_order", "add_note", "show_order"):
        assert f'"{name}"' in result.stdout
    assert "customer" not in json.dumps(json.loads(result.stdout)).replace("of the customer", "").replace(
        "customer's", ""
    )
    assert "Internal" not in result.stdout


def test_tools_show_prints_readable_summary() -> None:
    result = run("tools", "show", NOTES)
    assert result.exit_code == 0
    for expected in (
        "note",
        "api default",
        "local",
        "- folder: string",
        "- exact: boolean, optional",
        "the caller supplies user",
    ):
        assert expected in result.stdout


@pytest.mark.parametrize("command", ["show", "call"])
def test_tools_commands_use_valid_tools_of_faulty_file_unless_strict(tmp_path: Path, rest: Rest, command: str) -> None:
    path = tmp_path / "half.tools.json"
    good = {"type": "api", "function": {"name": "good"}, "api": {"path": "/echo"}}
    path.write_text(json.dumps([good, {"type": "api", "function": {"name": "bad"}, "api": {"path": "/{nobody}"}}]))
    more = [] if command == "show" else ["good", "--executor", f"default={rest.url}"]
    result = run("tools", command, path, *more)
    assert result.exit_code == 0
    assert f"{path}: 1 fault" in result.stderr
    assert "$[1].api.path: bad:" in result.stderr
    assert "good" in result.stdout or command == "call"
    refused = run("tools", command, path, *more, "--strict")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "$[1].api.path: bad:" in refused.stderr


def test_tools_show_rejects_file_without_valid_tools(faulty: Path) -> None:
    result = run("tools", "show", faulty)
    assert result.exit_code == 2
    assert "3 faults" in result.stderr
    assert "$[0].api.method: a: unknown method" in result.stderr
    assert run("tools", "show", SHOP, "--for", "opnai").exit_code == 2


# call


def test_tools_call_runs_sql_tool(shop_db: str) -> None:
    asked = ("tools", "call", SHOP, "orders", '{"limit": 1}', "--executor", shop_db, "--context", "customer=7")
    result = run(*asked)
    assert result.exit_code == 0, result.stderr
    order = {"id": 1, "placed": "2026-01-02", "total": 12.5, "status": "open", "note": ":note"}
    assert json.loads(result.stdout) == [order]
    (content,) = json.loads(run(*asked, "--json").stdout)
    assert content["type"] == "text"
    without = run("tools", "call", SHOP, "orders", "--executor", shop_db, "--context", "customer=8")
    assert without.stdout == "[]\n"
    assert json.loads(run(*asked[:4], "-", *asked[5:], input='{"status": "open"}').stdout) == [order]


def test_tools_call_runs_rest_tool(rest: Rest) -> None:
    place = ("--executor", f"default={rest.url}")
    result = run(
        "tools", "call", NOTES, "note", '{"folder": "x"}', *place, "--context", "user=7", "--header", "X-Key: k=1"
    )
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["slip"]["id"] == 1
    # The parameter is a string, so 7 is sent as text.
    assert rest.last.raw_path == "/users/7/notes/x.json"
    assert rest.last.headers["x-key"] == "k=1"


def test_tools_call_uses_graphql_executor_for_graphql_tool(tmp_path: Path) -> None:
    parameters = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    query = "query ($name: String!) { characters(filter: {name: $name}) { results { name } } }"
    path = tmp_path / "rick.json"
    entry = {"type": "api", "function": {"name": "find", "parameters": parameters}, "api": {"query": query}}
    path.write_text(json.dumps([entry]))
    with graphql_server(RICKANDMORTY) as store:
        result = run("tools", "call", path, "find", '{"name": "Morty"}', "--executor", f"default={store.url}")
    assert json.loads(result.stdout) == {"characters": {"results": [{"name": "Morty Smith"}]}}


def test_tools_call_reports_tool_failure_with_exit_code_1(rest: Rest, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    paths = ("missing", "image", "flood")
    path.write_text(json.dumps([{"type": "api", "function": {"name": n}, "api": {"path": f"/{n}"}} for n in paths]))
    place = ("--executor", f"default={rest.url}")
    result = run("tools", "call", path, "missing", *place)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "404 Not Found" in result.stderr
    assert "more than" in run("tools", "call", path, "flood", *place).stderr
    image = run("tools", "call", path, "image", *place)
    assert (image.exit_code, image.stdout) == (0, "")
    assert "image/png, 8 bytes: --json prints them" in image.stderr
    assert json.loads(run("tools", "call", path, "image", *place, "--json").stdout)[0]["media_type"] == "image/png"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("orders", "{"), "invalid JSON"),
        (("orders", '{"limit": 0, "status": "lost"}'), "$.status: expected one of"),
        (("order",), "the tools of the file: orders, cancel_order, add_note, show_order"),
        (("InternalGetChatMessages",), "unknown tool"),
        (("show_order",), "is a local tool"),
    ],
)
def test_tools_call_reports_invalid_tool_or_arguments(shop_db: str, arguments: tuple[str, ...], message: str) -> None:
    result = run("tools", "call", SHOP, *arguments, "--executor", shop_db, "--context", "customer=7")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name its executor with --executor default=URL"),
        (("--context", "customer=7"), "name its executor with --executor default=URL"),
        (("--executor", "sqlite://"), "expected NAME=URL"),
        (("--executor", "default=ftp://me:hunter2@x"), "the database cannot be opened"),
        (("--executor", "default=https://me:hunter2@x/#y"), "have no fragment"),
        (("--executor", "default=sqlite://", "--executor", "default=sqlite://"), "is given twice"),
        (("--executor", "default=sqlite://", "--header", "hunter2"), "expected NAME:VALUE"),
        (("--executor", "default=sqlite://"), "customer is missing"),
        (("--executor", "default=sqlite://", "--context", "customer"), "expected NAME=VALUE"),
        (("--executor", "default=sqlite://", "--context", "custmer=7"), "its context values: customer"),
        (("--executor", "default=sqlite://", "--context", "customer=x"), "expects integer"),
    ],
)
def test_tools_call_reports_invalid_options_without_secrets(options: tuple[str, ...], message: str) -> None:
    result = run("tools", "call", SHOP, "orders", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "hunter2" not in result.stderr


def test_tools_commands_escape_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    function = {
        "name": "a\x1b[2J",
        "description": "\x1b]0;x\x07",
        "parameters": {"type": "object", "properties": {"\x1b": {}}},
    }
    path.write_text(json.dumps([{"type": "client", "function": function}, {"type": "apo", "function": function}]))
    assert "\x1b" not in run("tools", "check", path).stdout
    path.write_text(json.dumps([{"type": "client", "function": function}]))
    assert "\x1b" not in run("tools", "show", path).stdout


def test_tools_help_shows_usage_and_example() -> None:
    for command in ("check", "show", "call"):
        result = run("tools", command, "--help")
        assert result.exit_code == 0
        assert f"contentmodel tools {command} " in result.stdout
    assert run("tools").exit_code in (0, 2)
    assert "shop.tools.json" in run("tools").output


def test_tools_check_process_exits_with_code_1_for_faults() -> None:
    command = [sys.executable, "-m", "contentmodel.cli", "tools", "check", "-"]
    done = subprocess.run(command, input=b"[{}]", capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"the key 'type' is missing" in done.stdout
    assert done.stderr == b""


def test_tools_call_rejects_standard_input_for_both_file_and_arguments(shop_db: str) -> None:
    result = run("tools", "call", "-", "orders", "-", "--executor", shop_db, input=SHOP.read_text())
    assert result.exit_code == 2
    assert "cannot both be standard input" in result.stderr
