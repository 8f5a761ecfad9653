"""The `contentmodel` command: its inputs, outputs and error messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

pytest.importorskip("typer")
pytest.importorskip("rich")

import typer.testing

import contentmodel
from conftest import slow
from contentmodel.cli.app import app
from contentmodel.cli.console import HOSTILE, safe_json, visible
from contentmodel.cli.pieces import Page, wrapped
from contentmodel.content import CONTENT_TYPES, Span
from contentmodel.pairs import TranscriptIndex

EXAMPLES = Path(__file__).parent.parent / "examples"
APIS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")

CHAT: dict[str, Any] = {
    "model": "gpt-5",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}},
                {"id": "c2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "noon"},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ],
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Hello."},
    ],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 5},
}


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    return typer.testing.CliRunner().invoke(app, [str(a) for a in arguments], input=input, env={"COLUMNS": "200"})


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "contentmodel.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return put(tmp_path / "chat.json", CHAT)


def put(path: Path, *documents: Any) -> Path:
    path.write_text("\n".join(d if isinstance(d, str) else json.dumps(d) for d in documents))
    return path


# convert


@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.glob("*.json")))
@pytest.mark.parametrize("target", APIS)
def test_convert_output_of_examples_matches_library(name: str, target: str) -> None:
    data = (EXAMPLES / name).read_bytes()
    result = run("convert", EXAMPLES / name, "--to", target)
    assert result.exit_code == 0, result.stderr
    encoded = contentmodel.convert(data, target=target)
    assert json.loads(result.stdout) == encoded.payload
    count = sum(loss.is_significant for loss in encoded.losses)
    assert (f"{count} loss" if count else "nothing lost") in result.stderr


def test_convert_to_same_api_returns_same_payload(chat: Path) -> None:
    result = run("convert", chat, "--to", "openai-chat")
    assert json.loads(result.stdout) == CHAT
    assert "nothing lost" in result.stderr


def test_convert_reads_standard_input() -> None:
    assert json.loads(run("convert", "--to", "openai-chat", input=json.dumps(CHAT)).stdout) == CHAT
    assert json.loads(run("convert", "-", "--to", "openai-chat", input=json.dumps(CHAT, indent=2)).stdout) == CHAT


def test_convert_output_is_pretty_unless_compact(chat: Path) -> None:
    assert len(run("convert", chat, "--to", "openai-chat").stdout.splitlines()) > 10
    assert len(run("convert", chat, "--to", "openai-chat", "--compact").stdout.splitlines()) == 1


def test_convert_keeps_lone_surrogates_and_large_numbers() -> None:
    text = '{"messages":[{"role":"user","content":"a\\ud83d"}],"seed":123456789012345678901234567890}'
    result = run("convert", "--to", "openai-chat", "--from", "openai-chat", "--kind", "request", input=text)
    assert json.loads(result.stdout) == json.loads(text)


def test_convert_writes_and_reads_stored_document(chat: Path, tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", chat, "--to", "contentmodel", "-o", stored).exit_code == 0
    request = contentmodel.adapter("openai-chat").decode_request(CHAT)
    assert contentmodel.loads(stored.read_bytes()) == request
    assert json.loads(run("convert", stored, "--to", "openai-chat").stdout) == CHAT
    again = run("convert", stored, "--to", "contentmodel", "--compact")
    assert again.stdout.encode() == contentmodel.dumps(request) + b"\n"


def test_convert_reports_losses_with_paths_of_stored_document(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    response = contentmodel.adapter("anthropic-messages").decode_response(MESSAGE)
    stored.write_bytes(contentmodel.dumps(response))
    lost = tmp_path / "lost.json"
    assert run("convert", stored, "--to", "openai-chat", "--losses", lost).exit_code == 0
    losses = json.loads(lost.read_text())
    assert losses
    assert all(loss["path"].startswith("$.value.") for loss in losses)


def test_convert_rejects_stored_document_that_is_not_a_request_or_response(tmp_path: Path) -> None:
    stored = put(tmp_path / "m.json", {"contentmodel": 1, "kind": "messages", "value": []})
    result = run("convert", stored, "--to", "openai-chat")
    assert result.exit_code == 2
    assert "only stored requests and responses" in result.stderr
    assert run("convert", stored, "--to", "contentmodel").exit_code == 0


def test_convert_passes_policy_to_encoder(tmp_path: Path) -> None:
    message = put(tmp_path / "m.json", MESSAGE)
    assert "Hm." not in run("convert", message, "--to", "openai-chat").stdout
    assert "Hm." in run("convert", message, "--to", "openai-chat", "--policy", "reasoning=text").stdout


def test_convert_passes_the_id_of_a_session_to_the_encoder(tmp_path: Path) -> None:
    message = tmp_path / "message.json"
    message.write_text('{"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello."}]}')
    policies = ("--policy", "session=5e55", "--policy", "directory=/elsewhere")
    line = json.loads(run("convert", message, "--to", "claude-code-session", *policies).stdout)
    assert (line["sessionId"], line["cwd"]) == ("5e55", "/elsewhere")


# losses


def test_convert_losses_option_writes_json(chat: Path, tmp_path: Path) -> None:
    lost = tmp_path / "lost.json"
    run("convert", chat, "--to", "anthropic-messages", "--losses", lost)
    expected = contentmodel.convert(CHAT, target="anthropic-messages").losses
    assert [contentmodel.Loss(**loss) for loss in json.loads(lost.read_text())] == list(expected)


def test_convert_groups_losses_by_code_and_counts_insignificant_ones(tmp_path: Path) -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "minProperties": 1}
    functions = [{"name": f"f{number}", "parameters": schema, "strict": False} for number in range(24)]
    tools = [{"type": "function", "function": function} for function in functions]
    source, lost = tmp_path / "tools.json", tmp_path / "l.json"
    source.write_text(json.dumps({**CHAT, "tools": tools}))
    result = run("convert", source, "--to", "google-generate-content", "--losses", lost)
    losses = [contentmodel.Loss(**loss) for loss in json.loads(lost.read_text())]
    hidden = [loss for loss in losses if not loss.is_significant]
    assert len(hidden) >= len(functions)
    assert f"{len(hidden)} insignificant values" in result.stderr
    assert "strict" not in result.stderr
    codes = {(loss.kind, loss.code) for loss in losses if loss.is_significant}
    assert sum(line.lstrip()[:1].isdigit() for line in result.stderr.splitlines()) == len(codes) + 1


def test_convert_losses_of_json_lines_include_line_numbers(tmp_path: Path) -> None:
    source = put(tmp_path / "in.jsonl", CHAT, "{bad", MESSAGE)
    result = run("convert", source, "--to", "openai-chat", "-o", tmp_path / "o.jsonl", "--losses", "-")
    listed = [json.loads(line) for line in result.stdout.splitlines()]
    assert [entry["line"] for entry in listed] == [1, 3]
    assert listed[0]["losses"] == []
    assert listed[1]["losses"]


@pytest.mark.parametrize("option", ["--losses", "--maps"])
def test_convert_rejects_two_outputs_to_standard_output(chat: Path, option: str) -> None:
    result = run("convert", chat, "--to", "openai-chat", option, "-")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "-o OUT" in result.stderr


def test_convert_on_loss_raise_writes_no_payload(tmp_path: Path) -> None:
    message, output, lost = put(tmp_path / "m.json", MESSAGE), tmp_path / "o.json", tmp_path / "lost.json"
    arguments = ("convert", message, "--to", "openai-chat", "--on-loss", "raise", "--losses", lost)
    result = run(*arguments, "-o", output)
    assert result.exit_code == 1
    assert not output.exists()
    assert json.loads(lost.read_text())
    assert "the conversion would cost" in result.stderr
    assert "ReasoningContent" in result.stderr
    assert run(*arguments).stdout == ""


def test_convert_on_loss_raise_keeps_existing_maps_file(tmp_path: Path) -> None:
    source, maps = put(tmp_path / "in.json", MESSAGE), put(tmp_path / "maps.json", "old")
    result = run("convert", source, "--to", "openai-chat", "--on-loss", "raise", "--maps", maps)
    assert result.exit_code == 1
    assert maps.read_text() == "old"


def test_convert_on_loss_raise_continues_with_other_lines(tmp_path: Path) -> None:
    source = put(tmp_path / "in.jsonl", MESSAGE, CHAT)
    result = run("convert", source, "--to", "openai-chat", "--on-loss", "raise")
    assert result.exit_code == 1
    assert [json.loads(line) for line in result.stdout.splitlines()] == [CHAT]


def test_convert_quiet_prints_nothing_to_standard_error(chat: Path) -> None:
    assert run("convert", chat, "--to", "anthropic-messages", "--quiet").stderr == ""


# JSON Lines


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_convert_continues_after_invalid_line(tmp_path: Path, end: str) -> None:
    faulty = {"messages": [{"role": 5}, 7, *CHAT["messages"], *CHAT["messages"], *CHAT["messages"]]}
    lines = [json.dumps(d) for d in (CHAT, MESSAGE, faulty)]
    source = tmp_path / "in.txt"
    source.write_bytes(end.join(["{bad", "", *lines, ""]).encode())
    result = run("convert", source, "--to", "openai-chat")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 2
    assert "in.txt, line 1: not JSON" in result.stderr
    assert "in.txt, line 5: cannot be read as openai-chat: 2 faults" in result.stderr
    assert "$.messages[0].role: " in result.stderr
    assert "$.messages[1]: " in result.stderr
    assert "2 of 4 documents" in result.stderr


def test_convert_reads_jsonl_suffix_as_lines(tmp_path: Path) -> None:
    result = run("convert", put(tmp_path / "one.jsonl", CHAT), "--to", "openai-chat")
    assert len(result.stdout.splitlines()) == 1
    assert "1 of 1 document converted" in result.stderr


def test_convert_reports_one_error_for_invalid_multiline_document(tmp_path: Path) -> None:
    text = json.dumps(CHAT, indent=2)
    result = run("convert", put(tmp_path / "in.json", text[:-3]), "--to", "openai-chat")
    assert result.exit_code == 2
    assert result.stderr.count("error:") == 1


def test_convert_rejects_pretty_for_json_lines(tmp_path: Path) -> None:
    result = run("convert", put(tmp_path / "in.jsonl", CHAT), "--to", "openai-chat", "--pretty")
    assert result.exit_code == 2
    assert "each document is one line" in result.stderr


# files


def test_convert_rejects_output_that_is_the_input(chat: Path, tmp_path: Path) -> None:
    before = chat.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(chat)
    for output in (chat, link, tmp_path / "." / "chat.json"):
        result = run("convert", chat, "--to", "anthropic-messages", "-o", output)
        assert result.exit_code == 2
        assert chat.read_bytes() == before
    assert run("convert", chat, "--to", "openai-chat", "--losses", chat).exit_code == 2


def test_convert_keeps_existing_output_on_failure(tmp_path: Path) -> None:
    source, output = put(tmp_path / "in.json", '{"messages":'), put(tmp_path / "out.json", "old")
    assert run("convert", source, "--to", "openai-chat", "-o", output).exit_code == 2
    assert output.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.json", "out.json"]


def test_convert_keeps_mode_and_symlink_of_output_file(chat: Path, tmp_path: Path) -> None:
    output, link = put(tmp_path / "out.json", "old"), tmp_path / "link"
    output.chmod(0o600)
    link.symlink_to(output)
    assert run("convert", chat, "--to", "openai-chat", "-o", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(output.read_text()) == CHAT
    assert output.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="no /dev/null here")
def test_convert_writes_to_device_without_replacing_it(chat: Path) -> None:
    assert run("convert", chat, "--to", "openai-chat", "-o", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("option", ["--output", "--losses", "--maps"])
def test_convert_reports_which_output_failed(chat: Path, tmp_path: Path, option: str) -> None:
    files = [word for name in ("--output", "--losses", "--maps") for word in (name, tmp_path / name)]
    files[files.index(option) + 1] = "/dev/full"
    result = run("convert", chat, "--to", "openai-responses", *files)
    assert result.exit_code == 2
    assert "/dev/full: No space left" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("stream", "message"),
    [("<&-", b"no input"), (">&- </dev/null", b"empty"), (">/dev/full <FILE", b"output: No space")],
)
def test_convert_reports_closed_or_full_standard_stream(chat: Path, stream: str, message: bytes) -> None:
    command = f"{sys.executable} -m contentmodel.cli convert --to openai-chat {stream}".replace("FILE", str(chat))
    # Use a buffered stream, as users do: after a failed write it fails again when it is closed.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    result = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False, env=buffered)
    assert result.returncode == 2
    assert message in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b"[1, 2]", "jq -c"),
        (b"3", "expected an object"),
        (b'"{\\"messages\\": []}"', "expected an object"),
        (b'{"a": NaN}', "not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"x\\u001b[31m": 1}', "no API recognizes"),
        (b'{"contentmodel": 1, "kind": "nothing", "value": 1}', "$.kind"),
        (b'{"contentmodel": "1"}', "$.contentmodel"),
    ],
)
@pytest.mark.parametrize("command", [("convert", "--to", "openai-chat"), ("show",), ("detect",)])
def test_commands_report_invalid_input(tmp_path: Path, command: tuple[str, ...], content: bytes, message: str) -> None:
    source = tmp_path / "bad.json"
    source.write_bytes(content)
    result = run(*command, source)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "bad.json" in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", "FILE", "--to", "openai-respones"), "did you mean openai-responses?"),
        (("convert", "FILE", "--to", "openai-chat", "--from", "antropic-message"), "did you mean anthropic-messages?"),
        (("show", "FILE", "--from", "chat"), "unknown API"),
        (("show", "FILE", "--from", "smoke"), "\n  use one of: "),
        (("apis", "antropic"), "did you mean anthropic?"),
        (("convert", "FILE", "--to", "openai-chat", "--policy", "reasoning=sing"), "reasoning=drop|text"),
        (("convert", "FILE", "--to", "openai-chat", "--from", "openai-responses"), "--kind"),
        (("convert", "missing.json", "--to", "openai-chat"), "missing.json: No such file"),
        (("convert", ".", "--to", "openai-chat"), "directory"),
        (("convert", "FILE", "--to", "openai-chat", "-o", "no/such/folder/x.json"), "no/such/folder/x.json"),
        (("convert", "FILE"), "--to"),
        (("convert", "FILE", "--to", "openai-chat", "--kind", "stream"), "stream"),
        (("convert", "FILE", "--to", "contentmodel", "--model", "m"), "--model"),
        (("convert", "FILE", "--to", "contentmodel", "--policy", "reasoning=text"), "--policy"),
    ],
)
def test_commands_report_invalid_arguments(chat: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(*(chat if a == "FILE" else a for a in arguments))
    assert result.exit_code == 2
    assert message in result.stderr


# show


def shown(document: Any, *options: object) -> str:
    result = run("show", *options, input=json.dumps(document))
    assert result.exit_code == 0, result.stderr
    return str(result.stdout)


@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.glob("*.json")))
@pytest.mark.parametrize("width", [20, 80, 120])
def test_show_output_of_examples_fits_the_width(name: str, width: int) -> None:
    result = run("show", EXAMPLES / name, "--width", width)
    assert result.exit_code == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= width


def test_show_prints_results_below_their_calls() -> None:
    lines = [line.strip() for line in shown(CHAT).splitlines() if line.strip()]
    weather = next(i for i, line in enumerate(lines) if line.startswith("→ weather"))
    assert lines[weather : weather + 4] == ["→ weather c1", "city: Oslo", "← result", "rain"]
    assert lines[weather + 4 : weather + 7] == ["→ clock c2", "← result", "noon"]
    assert not any(line.startswith("tool ") for line in lines)


def test_show_prints_result_without_call() -> None:
    request = {"messages": [{"role": "tool", "tool_call_id": "c9", "content": "late"}]}
    assert "result of c9" in shown(request)


def test_transcript_index_pairs_each_call_once_for_repeated_call_id() -> None:
    call, result = contentmodel.FunctionCallContent, contentmodel.FunctionResultContent
    contents = [call(call_id="a"), result(call_id="a"), call(call_id="a"), result(call_id="a"), result(call_id="a")]
    message = contentmodel.assistant(*contents)
    assert TranscriptIndex([message]).result_of == {(0, 0): (0, 1), (0, 2): (0, 3)}


def test_show_marks_failed_results() -> None:
    request = {
        "system": "x",
        "max_tokens": 1,
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "boom"}],
            },
        ],
    }
    assert "✗ result" in shown(request)


def test_show_prints_finish_reason_and_usage_of_response() -> None:
    text = shown(MESSAGE)
    assert "finished: stop (end_turn)" in text
    assert "tokens: 10 in, 5 out" in text
    assert "∴ thinking" in text


def test_show_truncates_long_texts_unless_full() -> None:
    request = {"messages": [{"role": "user", "content": "x" * 5000}], "reasoning_effort": "low"}
    assert "… +3,000 characters" in shown(request)
    full = shown(request, "--full")
    assert "characters" not in full
    assert full.count("x") == 5000


def test_show_numbers_each_citation_once() -> None:
    def text(words: str, *titles: str) -> dict[str, Any]:
        kind = {"type": "web_search_result_location", "encrypted_index": "e", "cited_text": "quote"}
        return {
            "type": "text",
            "text": words,
            "citations": [{**kind, "title": t, "url": f"https://{t}.example"} for t in titles],
        }

    content = [
        text("One", "a"),
        {"type": "text", "text": " and "},
        text("two", "b", "a"),
        {"type": "text", "text": "."},
    ]
    lines = shown({**MESSAGE, "content": content})
    assert "One[1] and two[1][2]." in lines
    assert lines.count("https://a.example") == 1


def test_show_prints_citation_with_invalid_span() -> None:
    spans = [Span(start=-5, end=99), Span(start=1, end=2, unit="furlong")]
    citations = [contentmodel.Citation(url=f"https://{i}.example", span=span) for i, span in enumerate(spans)]
    stored = contentmodel.dumps(contentmodel.TextContent(text="abc", annotations=citations))
    assert "abc[1][2]" in run("show", input=stored).stdout


@pytest.mark.parametrize("content_type", CONTENT_TYPES, ids=lambda c: c.__name__)
def test_show_prints_every_content_type(content_type: Any) -> None:
    given: dict[str, Any] = {
        "text": "words",
        "value": {"a": 1},
        "uri": "https://x.example",
        "file_id": "file_1",
        "vector_store_id": "vs_1",
        "usage": contentmodel.Usage(input_tokens=1),
        "action": "add",
        "kind": "effort",
        "item_id": "item_1",
        "api": "some-api",
        "request_id": "r_1",
        "approved": False,
        "call_id": "c_1",
        "name": "n_1",
        "server": "s_1",
        "arguments": {"a": "b"},
        "outputs": [contentmodel.TextContent(text="out"), contentmodel.ErrorContent(message="bad", code="no")],
        "tools": [{"name": "t_1"}, {"type": 3}],
        "parts": [contentmodel.TextContent(text="part")],
    }
    fields = {name: given[name] for name in content_type.__struct_fields__ if name in given}
    value = [content_type(**fields), content_type(**{f: fields[f] for f in required(content_type)})]
    if "outputs" in fields:
        value.append(content_type(**{**fields, "outputs": None}))
    result = run("show", input=contentmodel.dumps(value))
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) >= 3


def required(content_type: Any) -> list[str]:
    return [f.name for f in msgspec.structs.fields(content_type) if f.required]


# escape sequences in terminals


HOSTILE_TEXT = "\x1b]0;title\x07\x1b[2J \u202eevil\u202c \x9b31m \U000e0041 \ud83d [bold red]markup[/] :smile:\r\nnext"


def test_show_escapes_hostile_content() -> None:
    request = {
        "model": HOSTILE_TEXT,
        "metadata": {HOSTILE_TEXT: HOSTILE_TEXT},
        "tools": [{"type": "function", "function": {"name": HOSTILE_TEXT}}],
        "messages": [
            {"role": HOSTILE_TEXT, "name": HOSTILE_TEXT, "content": HOSTILE_TEXT},
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": HOSTILE_TEXT,
                        "type": "function",
                        "function": {"name": HOSTILE_TEXT, "arguments": json.dumps({HOSTILE_TEXT: HOSTILE_TEXT})},
                    },
                    {"id": "b", "type": "function", "function": {"name": "f", "arguments": HOSTILE_TEXT}},
                ],
            },
            {"role": "tool", "tool_call_id": HOSTILE_TEXT, "content": HOSTILE_TEXT},
        ],
    }
    text = shown(request, "--from", "openai-chat", "--kind", "request", "--width", "400")
    assert HOSTILE.search(text) is None
    assert r"\x1b[2J" in text
    assert r"\u202e" in text
    assert "[bold red]markup[/] :smile:" in text
    assert "(not a JSON object)" in text


def test_visible_escapes_control_characters_and_keeps_scripts() -> None:
    hostile = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Zl", "Zp", "Cs")]
    assert {c for c in hostile if not HOSTILE.fullmatch(c)} == {"\t", "\n"}
    assert all(HOSTILE.fullmatch(c) for c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\ufeff")
    kept = "Grüße, 日本語, नमस्ते, العربية, 👩‍👩‍👧, é"
    assert visible(kept) == kept


def test_safe_json_keeps_the_value() -> None:
    value = {"a": "\x7f\x9b\u202e\U000e0041é"}
    safe = safe_json(json.dumps(value, ensure_ascii=False).encode())
    assert json.loads(safe) == value
    assert HOSTILE.search(safe.decode()) is None


# detect, apis, schema


def test_detect_prints_api_and_kind(tmp_path: Path, chat: Path) -> None:
    assert run("detect", chat).stdout == "openai-chat request\n"
    result = run("detect", put(tmp_path / "in.jsonl", CHAT, "", {"a": 1}, MESSAGE))
    assert result.stdout == "1 openai-chat request\n4 anthropic-messages response\n"
    assert result.exit_code == 2
    assert "line 3: no API recognizes" in result.stderr
    stored = {"contentmodel": 1, "kind": "usage", "value": {}}
    assert run("detect", input=json.dumps(stored)).stdout == "contentmodel usage\n"


def test_detect_prints_file_names_for_several_files(tmp_path: Path, chat: Path) -> None:
    lines, missing = put(tmp_path / "in.jsonl", CHAT, MESSAGE), tmp_path / "missing.json"
    result = run("detect", missing, chat, lines)
    assert result.exit_code == 2
    assert f"{missing}: No such file" in result.stderr
    assert result.stdout.splitlines() == [
        f"{chat} openai-chat request",
        f"{lines}:1 openai-chat request",
        f"{lines}:2 anthropic-messages response",
    ]


@pytest.mark.parametrize(
    ("command", "hint"), [(("detect",), None), (("check",), "--for"), (("show",), "--from"), (("plan",), "--from")]
)
def test_detection_error_suggests_options_of_the_command(command: tuple[str, ...], hint: str | None) -> None:
    output = run(*command, input='{"a": 1}').stderr
    assert "no API recognizes" in output
    assert hint in output if hint else "--" not in output


def test_detection_error_names_key_with_value_of_wrong_class() -> None:
    output = run("convert", "--to", "openai-chat", input='{"messages": 7}').stderr
    assert "$.messages: expected array as in a request of openai-chat, got integer" in output
    assert "--from API" in output


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("missing.json", "check the path: the folder FOLDER has no missing.json"),
        ("none/missing.json", "check the path: the folder FOLDER has no none"),
        ("", "name a file, not a folder"),
    ],
)
@pytest.mark.parametrize("command", ["show", "convert", "check", "plan", "export", "detect"])
def test_commands_suggest_fix_of_path(tmp_path: Path, command: str, path: str, hint: str) -> None:
    result = run(command, tmp_path / path, *(["--to", "openai-chat"] if command == "convert" else []))
    assert result.exit_code == 2
    assert f"  {hint.replace('FOLDER', str(tmp_path))}\n" in result.stderr


def test_output_in_missing_folder_suggests_fix_of_path(tmp_path: Path, chat: Path) -> None:
    result = run("convert", chat, "--to", "openai-chat", "-o", tmp_path / "none" / "out.json")
    assert f"  check the path: the folder {tmp_path} has no none\n" in result.stderr


def test_apis_lists_installed_adapters() -> None:
    listed = json.loads(run("apis", "--json").stdout)
    assert [entry["api"] for entry in listed] == list(contentmodel.adapters())
    assert all(entry["rows"] > 10 and entry["unions"] for entry in listed)
    table = run("apis").stdout
    assert all(api in table for api in contentmodel.adapters())


def test_apis_prints_every_row_of_an_api() -> None:
    described = contentmodel.adapter("openai-chat").describe()
    assert json.loads(run("apis", "openai-chat", "--json").stdout) == json.loads(json.dumps(described, default=str))
    table = run("apis", "openai-chat").stdout
    assert all(row["model"] in table for union in described["unions"].values() for row in union["rows"])


def test_commands_report_adapter_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch, chat: Path) -> None:
    from contentmodel.cli import installed

    def fails(api: str) -> Any:
        if api == "openai-responses":
            raise ImportError("no module of that name")
        return contentmodel.adapter(api)

    monkeypatch.setattr(installed, "adapter", fails)
    result = run("detect", chat)
    assert result.exit_code == 2
    assert "openai-responses cannot be loaded: ImportError: no module of that name" in result.stderr
    assert "cannot be loaded" in run("apis").stdout
    named = run("convert", chat, "--from", "openai-chat", "--kind", "request", "--to", "anthropic-messages")
    assert named.exit_code == 0


def test_schema_prints_schema_of_the_model() -> None:
    assert json.loads(run("schema").stdout) == contentmodel.schema()


def test_version_option_prints_package_version() -> None:
    assert run("--version").stdout == f"contentmodel {contentmodel.__version__}\n"


@pytest.mark.parametrize("command", ["convert", "show", "detect", "apis", "schema"])
def test_command_help_shows_examples(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples" in result.stdout
    assert f"contentmodel {command}" in result.stdout


# as a process


def test_import_of_library_does_not_load_cli_dependencies() -> None:
    code = "import sys, contentmodel, contentmodel.cli; print({'typer', 'rich'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert result.stdout.strip() == b"set()"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_cli_without_extra_prints_pip_command(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from contentmodel.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert result.returncode == 2
    assert b'pip install "contentmodel[cli]"' in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("encoding", [slow("utf-8"), slow("ascii"), "cp1252"])
def test_commands_support_any_terminal_encoding(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    result = process("show", EXAMPLES / "chat.openai.json", env=environment)
    assert result.returncode == 0, result.stderr
    converted = process("convert", EXAMPLES / "chat.openai.json", "--to", "anthropic-messages", env=environment)
    assert json.loads(converted.stdout.decode("utf-8"))


@pytest.mark.skipif(os.name == "nt", reason="broken pipes behave differently on Windows")
@pytest.mark.parametrize("command", [("show",), slow(("convert", "--to", "openai-chat")), slow(("detect",))])
def test_commands_exit_quietly_on_broken_pipe(tmp_path: Path, command: tuple[str, ...]) -> None:
    source = put(tmp_path / "in.jsonl", *[CHAT] * 5000)
    arguments = [sys.executable, "-m", "contentmodel.cli", *command, str(source)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(60) == 141


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT")
def test_convert_leaves_no_partial_file_on_interrupt(tmp_path: Path) -> None:
    # So many lines that the conversion takes many times longer than the signal.
    (tmp_path / "in.jsonl").write_bytes((json.dumps(CHAT).encode() + b"\n") * 100_000)
    command = [
        sys.executable,
        "-m",
        "contentmodel.cli",
        "convert",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--to",
        "openai-chat",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as child:
        while child.poll() is None and not list(tmp_path.glob(".*.part")):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        try:
            _, errors = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 130
    assert b"Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_page_cut_limits_number_of_lines() -> None:
    assert Page().cut("a\n" * 100, 2000)[1] == "… +120 characters"
    assert Page(full=True).cut("a\n" * 100, 2000) == ("a\n" * 100, "")


@given(text=st.text("ab c-. \n", max_size=80), width=st.integers(1, 20))
def test_wrapped_matches_rich(text: str, width: int) -> None:
    expected = [line.plain for line in Text(text).wrap(Console(width=80), width)]
    assert [piece for line in text.split("\n") for piece in wrapped(line, width)] == expected


def test_show_has_the_default_width_if_the_terminal_reports_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"model": "m", "messages": [{"role": "user", "content": "Hello."}]}')
    shown = process("show", path, env={**os.environ, "COLUMNS": "0"})
    assert shown.returncode == 0
    assert b"Hello." in shown.stdout
    assert shown.stdout == process("show", path, env={**os.environ, "COLUMNS": "80"}).stdout
