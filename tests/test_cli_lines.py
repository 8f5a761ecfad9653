"""Documents of JSON Lines on the command line: detected, converted, checked and shown, with the lines of the file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import contentmodel
from contentmodel.cli.console import err
from test_cli import run

LINES = [
    '{"role": "system", "content": "Be brief.", "time": 1}',
    "",
    '{"role": "user", "content": "What time is it?", "time": 2}',
    '{"role": "assistant", "content": [{"type": "call", "id": "c1", "name": "clock", "arguments": {}}], "time": 3}',
    '{"role": "tool", "id": "c1", "content": "12:00", "time": 4}',
]
TORN = '{"role": "assistant", "content": "It is no'
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
PAYLOADS = [json.dumps(CHAT)] * 2
WRONG = '{"role": "user", "content": [{"type": "text", "text": 5}], "time": 5}'


@pytest.fixture(autouse=True)
def installed(chat_log: Any) -> None:
    """Install the format of `chat_log` for every test."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return written(tmp_path / "log.jsonl", [*LINES, TORN], end="")


def written(path: Path, lines: list[str], end: str = "\n") -> Path:
    path.write_text("\n".join(lines) + end)
    return path


def messages_of(output: str) -> list[Any]:
    found: list[Any] = json.loads(output)["messages"]
    return found


# -- input -------------------------------------------------------------------------------------------------------------


def test_detect_prints_document_of_lines_once(log: Path) -> None:
    assert run("detect", log).stdout == "chat-log request\n"
    payloads = written(log.with_name("payloads.jsonl"), PAYLOADS)
    assert run("detect", log, payloads).stdout.splitlines() == [
        f"{log} chat-log request",
        f"{payloads}:1 openai-chat request",
        f"{payloads}:2 openai-chat request",
    ]


@pytest.mark.parametrize("options", [(), ("--from", "chat-log"), ("--kind", "request")])
@pytest.mark.parametrize("place", ["file", "file of another suffix", "standard input"])
def test_convert_reads_lines_as_one_document(log: Path, options: tuple[str, ...], place: str) -> None:
    named = log if place == "file" else log.rename(log.with_suffix(".log"))
    given = ("-",) if place == "standard input" else (named,)
    result = run("convert", *given, "--to", "openai-chat", "-q", *options, input=named.read_bytes())
    assert result.exit_code == 0, result.stderr
    assert messages_of(result.stdout)[3] == {"role": "tool", "tool_call_id": "c1", "content": "12:00"}


@pytest.mark.parametrize("given", [LINES[:1], [*LINES[:1], ""]])
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_text_of_one_line_is_a_document_of_lines(tmp_path: Path, given: list[str], suffix: str) -> None:
    path = written(tmp_path / f"log{suffix}", given, end="")
    assert run("detect", path).stdout == run("detect", input="\n".join(given)).stdout == "chat-log request\n"


def test_named_api_of_lines_reads_any_line(tmp_path: Path) -> None:
    torn = written(tmp_path / "torn.jsonl", [TORN])
    assert run("convert", torn, "--to", "chat-log", "--from", "chat-log").stdout == f"{TORN}\n"
    assert run("detect", torn).exit_code == 2


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_empty_input_is_an_empty_document_if_its_api_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(text)
    for result in (
        run("convert", path, "--to", "chat-log", "--from", "chat-log"),
        run("convert", "-", "--to", "chat-log", "--from", "chat-log", input=text),
    ):
        assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert "the input is empty" in run("convert", "-", "--to", "chat-log", input=text).stderr


def test_named_api_of_other_form_reads_each_line(log: Path) -> None:
    path = written(log, PAYLOADS)
    assert run("convert", path, "--to", "anthropic-messages", "--from", "openai-chat").stdout.count("\n") == 2
    assert "line 1" in run("convert", log, "--to", "openai-chat", "--kind", "response").stderr


def test_array_in_a_line_is_a_list_of_messages(tmp_path: Path) -> None:
    path = written(tmp_path / "arrays.jsonl", [f"[{LINES[0]}]"] * 2)
    assert run("detect", path).stdout == "1 openai-chat request\n2 openai-chat request\n"


def test_long_line_is_read(tmp_path: Path) -> None:
    long = json.dumps({"role": "user", "content": "x" * 3_000_000, "time": 1})
    path = written(tmp_path / "long.jsonl", [long, LINES[0]])
    assert len(messages_of(run("convert", path, "--to", "openai-chat", "-q").stdout)[0]["content"]) == 3_000_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are needed")
def test_pipe_named_like_a_file_of_lines_is_read_once(tmp_path: Path, log: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    data = log.read_bytes()
    writer = threading.Thread(target=lambda: pipe.write_bytes(data), daemon=True)
    writer.start()
    assert run("detect", pipe).stdout == "chat-log request\n"
    writer.join(timeout=10)


# -- paths -------------------------------------------------------------------------------------------------------------


def test_losses_of_lines_are_reported_with_lines_of_the_file(log: Path, tmp_path: Path) -> None:
    listing = tmp_path / "losses.json"
    result = run("convert", log, "--to", "openai-chat", "--losses", listing)
    assert "line 1: $[0].time, line 3: $[1].time, line 4: $[2].time, ..." in result.stderr
    assert "line 6: $[4]" in result.stderr
    lines = {(loss.get("line"), loss["path"]) for loss in json.loads(listing.read_text())}
    assert {(1, "$[0].time"), (5, "$[3].time"), (6, "$[4]"), (None, "$.model")} <= lines


def test_width_of_errors_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert err().width == 30
    monkeypatch.setenv("COLUMNS", "200")
    assert err().width == 200


def test_losses_of_other_documents_have_no_line_number(tmp_path: Path) -> None:
    listing = tmp_path / "losses.json"
    path = written(tmp_path / "list.json", [json.dumps([{"role": "user", "content": "Hi.", "name": "x"}])])
    result = run("convert", path, "--to", "anthropic-messages", "--losses", listing)
    assert "  $[0].name" in result.stderr
    assert not any("line" in loss for loss in json.loads(listing.read_text()))
    run("convert", written(tmp_path / "many.jsonl", PAYLOADS), "--to", "anthropic-messages", "--losses", listing)
    (first, _) = map(json.loads, listing.read_text().splitlines())
    assert first["line"] == 1
    assert not any("line" in loss for loss in first["losses"])


@pytest.mark.parametrize("command", [("convert", "--to", "openai-chat"), ("show",), ("export", "--to", "json")])
def test_faults_of_lines_are_reported_with_lines_of_the_file(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = written(tmp_path / "wrong.jsonl", [*LINES, WRONG])
    result = run(command[0], path, *command[1:])
    assert result.exit_code == 2
    assert f"error: {path}: cannot be read as chat-log: 1 fault\n" in result.stderr
    assert "  line 6: $[4].content[0].text: expected string, got integer\n" in result.stderr


def test_faults_of_payloads_in_lines_name_the_line_once(tmp_path: Path) -> None:
    path = written(tmp_path / "many.jsonl", [json.dumps({"model": "m", "messages": [{"role": 5}]})])
    stderr = run("convert", path, "--to", "anthropic-messages", "--from", "openai-chat").stderr
    assert f"error: {path}, line 1: cannot be read" in stderr
    assert "  $.messages[0].role: " in stderr


def test_check_reports_violations_with_lines_of_the_file(tmp_path: Path, log: Path) -> None:
    assert run("check", log).stdout == "no violations\n"
    assert run("check", log, "--for", "chat-log").exit_code == 0
    path = written(tmp_path / "wrong.jsonl", [*LINES, WRONG])
    assert "refused shape at line 6: $[4].content[0].text\n" in run("check", path).stdout
    violation = json.loads(run("check", path, "--json").stdout)
    assert (violation["line"], violation["path"]) == (6, "$[4].content[0].text")


# -- output ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--compact",)])
def test_convert_writes_lines(log: Path, options: tuple[str, ...]) -> None:
    result = run("convert", log, "--to", "chat-log", *options)
    values = [json.loads(line) for line in result.stdout.splitlines()[:4]]
    assert values == [json.loads(line) for line in LINES if line]
    assert result.stdout.endswith(f"\n{TORN}\n")
    assert result.stderr == "converted to chat-log: nothing lost\n"


def test_convert_writes_lines_of_other_documents_to_a_file(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    chat = written(tmp_path / "chat.json", [json.dumps(CHAT)])
    assert run("convert", chat, "--to", "chat-log", "-o", output).exit_code == 0
    assert output.read_text() == '{"role":"user","content":"Hi."}\n'
    one = written(tmp_path / "one.jsonl", PAYLOADS[:1])
    assert run("export", one, "--to", "chat-log").stdout == output.read_text()


def test_stored_lines_are_written_as_the_same_lines(log: Path, tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", log, "--to", "contentmodel", "-o", stored).exit_code == 0
    assert run("convert", stored, "--to", "chat-log").stdout == run("convert", log, "--to", "chat-log").stdout


@pytest.mark.parametrize("command", ["convert", "export"])
def test_several_documents_are_not_written_as_one_document_of_lines(tmp_path: Path, command: str) -> None:
    path, output = written(tmp_path / "many.jsonl", PAYLOADS), tmp_path / "out.jsonl"
    result = run(command, path, "--to", "chat-log", "-o", output)
    assert (result.exit_code, output.exists()) == (2, False)
    assert f"error: {path} has several documents, but chat-log holds only one\n" in result.stderr
    assert "sed -n 1p FILE" in result.stderr


def test_pretty_is_refused_for_lines(log: Path) -> None:
    result = run("convert", log, "--to", "chat-log", "--pretty")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: --pretty cannot be used with --to chat-log: it is JSON Lines\n" in result.stderr
    assert run("convert", log, "--to", "openai-chat", "--pretty", "-q").stdout.startswith("{\n")


def test_stream_is_not_converted_to_a_format_without_streams(tmp_path: Path) -> None:
    chunk = {"object": "chat.completion.chunk", "id": "c", "choices": [{"index": 0, "delta": {"content": "Hi."}}]}
    path = written(tmp_path / "answer.sse", [f"data: {json.dumps(chunk)}", "", "data: [DONE]", ""])
    result = run("convert", path, "--to", "chat-log")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "chat-log has no streams" in result.stderr


# -- other commands ----------------------------------------------------------------------------------------------------


def test_show_prints_lines_as_one_transcript(log: Path) -> None:
    shown = run("show", log).stdout
    assert shown.count("chat-log request") == 1
    assert "What time is it?" in shown
    assert "12:00" in shown
    assert "It is no" in shown


def test_plan_reads_lines_as_one_document(log: Path) -> None:
    plans = json.loads(run("plan", log, "--json", "--to", "openai-chat").stdout)
    assert {"$[0].time", "$[4]"} <= {loss["path"] for loss in plans[0]["losses"]}
    assert run("plan", input=log.read_text()).stdout.count("\ncost: ") == 1


def test_export_writes_lines_as_one_document(log: Path, tmp_path: Path) -> None:
    request = contentmodel.adapter("chat-log").decode_request(log.read_bytes())
    assert contentmodel.loads(run("export", log, "--to", "jsonl").stdout) == request
    page = tmp_path / "log.html"
    assert run("export", log, "-o", page).exit_code == 0
    assert "What time is it?" in page.read_text()
    assert run("export", log, "--to", "chat-log").stdout == run("convert", log, "--to", "chat-log").stdout
