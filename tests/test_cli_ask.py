"""`contentmodel ask`, over a loopback server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from contentmodel.cli.app import app
from contentmodel.history import TurnStore
from contentmodel.message import FinishReason
from contentmodel.serialize import loads
from contentmodel_conformance.server import Fault, LoopbackServer, Turn, say
from test_typed import ended

API = "openai-responses"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("CONTENTMODEL_MODEL", raising=False)


def run(server: LoopbackServer | None, *arguments: Any, stdin: str = "") -> Any:
    url = ["--base-url", server.base_url(API)] if server is not None else []
    return CliRunner().invoke(app, ["ask", "-m", "openai:gpt-5.2", *url, *map(str, arguments)], input=stdin)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(["Rayleigh scattering.", "Rome."]) as running:
        yield running


def sent(server: LoopbackServer, number: int = -1) -> Any:
    return server.requests[number].payload


def test_answer_is_plain_text_in_a_pipe(server: LoopbackServer) -> None:
    result = run(server, "-s", "Be brief.", "Why is the sky blue?")
    assert (result.exit_code, result.stdout) == (0, "Rayleigh scattering.\n")
    assert sent(server)["instructions"] == "Be brief."
    assert sent(server)["stream"] is True


def test_pipe_is_added_to_the_question(server: LoopbackServer) -> None:
    assert run(server, "Review this.", stdin="- a\n+ b\n").exit_code == 0
    assert "Review this.\\n\\n- a\\n+ b" in json.dumps(sent(server)["input"])


def test_model_may_come_from_the_environment(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTMODEL_MODEL", "openai:gpt-5.2-mini")
    arguments = ["ask", "--base-url", server.base_url(API), "Why?"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert sent(server)["model"] == "gpt-5.2-mini"


def test_file_is_sent_before_the_question(server: LoopbackServer, tmp_path: Path) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(b"\x89PNG\r\n\x1a\n")
    assert run(server, "--file", image, "What is it?").exit_code == 0
    assert [part["type"] for part in sent(server)["input"][0]["content"]] == ["input_image", "input_text"]


def test_json_prints_the_whole_response(server: LoopbackServer) -> None:
    result = run(server, "--json", "Why?")
    assert loads(result.stdout).text == "Rayleigh scattering."


def test_to_request_prints_the_payload_and_sends_nothing(server: LoopbackServer) -> None:
    result = run(server, "--to-request", "Why?")
    assert json.loads(result.stdout)["model"] == "gpt-5.2"
    assert server.requests == []


SCHEMA = {"type": "object", "title": "City", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(("text", "code", "printed"), [('{"name": "Oslo"}', 0, '{"name":"Oslo"}\n'), ("Oslo", 1, "")])
def test_schema_prints_one_checked_value(text: str, code: int, printed: str, tmp_path: Path) -> None:
    file = tmp_path / "city.json"
    file.write_text(json.dumps(SCHEMA))
    with LoopbackServer([text]) as server:
        result = run(server, "--schema", file, "The capital?")
    assert (result.exit_code, result.stdout) == (code, printed)
    assert code == 0 or "error: no City: " in result.stderr


def test_conversation_is_kept_and_continued(server: LoopbackServer, tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    assert run(server, "--store", history, "Why is the sky blue?").exit_code == 0
    result = run(server, "--continue", history, "The capital of Italy?")
    assert (result.exit_code, result.stdout) == (0, "Rome.\n")
    assert "kept as conversation ask-1" in result.stderr
    assert [item["role"] for item in sent(server)["input"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Why?", "--store", "a.db", "--continue", "b.db"], "--store and --continue cannot be combined"),
        (["Why?", "-c", "trip"], "--conversation needs --store or --continue"),
        (["Why?", "--continue", "missing.db"], "missing.db: no such history"),
        ([], "no question"),
        (["Why?", "--schema", "missing.json"], "missing.json: No such file"),
        (["Why?", "-m", "openai"], "names a provider and no model"),
        (["Why?", "-m", "opnai:gpt-5.2"], "did you mean openai?"),
        (["Why?", "-m", "openai:"], "names no model"),
    ],
)
def test_wrong_command_line_is_explained(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(None, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_no_model_is_explained() -> None:
    result = CliRunner().invoke(app, ["ask", "Why?"])
    assert result.exit_code == 2
    assert "CONTENTMODEL_MODEL" in result.stderr


@pytest.mark.parametrize(
    ("fault", "message"),
    [(Fault(status=401, times=9), "set the key of the provider"), (Fault(status=400, message="too long"), "too long")],
)
def test_error_of_the_provider_is_an_exit_code(fault: Fault, message: str) -> None:
    with LoopbackServer([Turn(fault=fault)]) as server:
        result = run(server, "Why?")
    assert result.exit_code == 1
    assert message in result.stderr


def test_answer_that_ends_early_says_so() -> None:
    with LoopbackServer([ended(say("The sky"), FinishReason(reason="length").reason)]) as server:
        result = run(server, "Why?")
    assert (result.exit_code, result.stdout) == (0, "The sky\n")
    assert "the answer ended early: length" in result.stderr


def test_new_conversation_has_a_name_of_its_own_after_a_deletion(tmp_path: Path) -> None:
    history = tmp_path / "history.db"
    with LoopbackServer(["one", "two", "three"]) as server:
        for _ in range(2):
            assert run(server, "--store", history, "Why?").exit_code == 0
        with closing(TurnStore.open(history)) as store:
            store.delete("ask-1")
        result = run(server, "--store", history, "Why?")
    assert (result.exit_code, result.stdout) == (0, "three\n")
    assert "kept as conversation ask-1" in result.stderr
