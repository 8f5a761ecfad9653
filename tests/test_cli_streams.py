"""Streams on the command line: converted and shown while they arrive, with errors for broken ones."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import typer.testing

import contentmodel
from conftest import APIS, records, slow
from contentmodel.cli import incoming
from contentmodel.cli.app import app
from contentmodel.cli.console import HOSTILE
from contentmodel.cli.follow import Following
from contentmodel.cli.pieces import Page
from contentmodel.events import BlockCatchUp, BlockStart, BlockStop, Fold, TurnComplete
from contentmodel.lines import PROBED

EXAMPLES = Path(__file__).parent.parent / "examples"
TIDE = EXAMPLES / "tide_call.anthropic.sse"
GEMINI = EXAMPLES / "answer.gemini.sse"
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes and signals")


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    return typer.testing.CliRunner().invoke(app, [str(a) for a in arguments], input=input, env={"COLUMNS": "200"})


def events(*values: dict[str, Any]) -> bytes:
    return b"".join(b"event: %b\ndata: %b\n\n" % (v["type"].encode(), json.dumps(v).encode()) for v in values)


def text_stream(text: str, *, model: str = "claude-sonnet-4-5") -> bytes:
    """Return a complete Anthropic stream of one text."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    return events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    )


def until_text(data: bytes) -> int:
    """Return the offset after the first words of the answer."""
    return data.index(b"\n\n", data.index(b"Vlissingen")) + 2


BROKEN = TIDE.read_bytes()[: until_text(TIDE.read_bytes())]
MALFORMED = BROKEN + b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 1, "delta": "x"}\n\n'
FAILED = BROKEN + events({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


# convert


@pytest.mark.parametrize("source", [TIDE, GEMINI], ids=lambda path: path.name)
@pytest.mark.parametrize("target", APIS)
def test_convert_output_of_example_streams_matches_library(source: Path, target: str) -> None:
    result = run("convert", source, "--to", target)
    assert result.exit_code == 0, result.stderr
    encoded = contentmodel.convert(source.read_bytes(), target=target)
    assert result.stdout_bytes == encoded.payload
    count = sum(loss.is_significant for loss in encoded.losses)
    assert (f"{count} loss" if count else "nothing lost") in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", [*APIS, "contentmodel"])
@pytest.mark.parametrize("api", APIS)
def test_convert_output_of_recorded_streams_matches_library(api: str, target: str, tmp_path: Path) -> None:
    found = [r for r in records(api, "stream") if r.get("dialect") is None][:4]
    if not found:
        pytest.skip("CONTENTMODEL_CORPUS is not set")
    for record in found:
        data = framed(record["body"])
        lost = tmp_path / "lost.json"
        result = run("convert", "-", "--kind", "stream", "--from", api, "--to", target, "--losses", lost, input=data)
        folded = contentmodel.fold_stream([data], api)
        broken = folded.error is not None and folded.error.code in ("stream_ended", "stream_malformed")
        assert result.exit_code == (2 if broken else 0), (record["id"], result.stderr)
        if target == "contentmodel":
            assert contentmodel.loads(result.stdout_bytes) == folded
            continue
        encoded = contentmodel.convert(data, source=api, target=target, kind="stream")
        assert result.stdout_bytes == encoded.payload
        assert [contentmodel.Loss(**loss) for loss in json.loads(lost.read_text())] == list(encoded.losses)


def framed(body: list[dict[str, Any]]) -> bytes:
    lines = []
    for event in body:
        lines += [f"event: {event['event']}\n"] if event.get("event") else []
        data = event["data"]
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join(lines).encode()


def test_convert_stores_stream_as_folded_response(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    result = run("convert", TIDE, "--to", "contentmodel", "-o", stored)
    assert result.exit_code == 0
    assert "nothing lost" in result.stderr
    answer = contentmodel.fold_stream([TIDE.read_bytes()], "anthropic-messages")
    assert contentmodel.loads(stored.read_bytes()) == answer
    compact = run("convert", TIDE, "--to", "contentmodel", "--compact")
    assert compact.stdout_bytes == contentmodel.dumps(answer) + b"\n"


@pytest.mark.parametrize("target", APIS)
def test_convert_encodes_stored_response_as_stream(tmp_path: Path, target: str) -> None:
    answer = contentmodel.fold_stream([TIDE.read_bytes()], "anthropic-messages")
    stored, lost = tmp_path / "stored.json", tmp_path / "lost.json"
    stored.write_bytes(contentmodel.dumps(answer))
    result = run("convert", stored, "--kind", "stream", "--to", target, "--losses", lost)
    assert result.exit_code == 0, result.stderr
    folded = contentmodel.fold_stream([result.stdout_bytes], target)
    assert folded.choices[0].messages[0].tool_calls[0].arguments_object == {
        "port": "Vlissingen",
        "day": "2026-03-14",
    }
    assert all(loss["path"].startswith("$.value") for loss in json.loads(lost.read_text()))


def test_convert_rejects_other_stored_documents_as_stream() -> None:
    stored = contentmodel.dumps([contentmodel.ChatMessage(role="user")])
    result = run("convert", "--kind", "stream", "--to", "openai-chat", input=stored)
    assert result.exit_code == 2
    assert "only a stored response" in result.stderr


def test_convert_reads_json_array_of_events_as_stream() -> None:
    frames = re.findall(r"data: (.*)", GEMINI.read_text())
    array = f"[{','.join(frames)}]"
    result = run("convert", "--kind", "stream", "--to", "openai-chat", input=array)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == run("convert", GEMINI, "--to", "openai-chat").stdout
    assert run("convert", "--to", "openai-chat", input=array).stdout == result.stdout


def test_convert_kind_stream_overrides_file_suffix(tmp_path: Path) -> None:
    lines = tmp_path / "stream.jsonl"
    lines.write_text("\n".join(re.findall(r"data: (.*)", GEMINI.read_text())) + "\n")
    result = run("convert", lines, "--kind", "stream", "--to", "openai-chat")
    assert result.stdout == run("convert", GEMINI, "--to", "openai-chat").stdout


def test_convert_writes_stream_to_output_file(tmp_path: Path) -> None:
    output = tmp_path / "out.sse"
    result = run("convert", TIDE, "--to", "openai-chat", "-o", output)
    assert result.stdout == ""
    assert output.read_bytes() == run("convert", TIDE, "--to", "openai-chat").stdout_bytes
    assert run("convert", TIDE, "--to", "openai-chat", "-o", TIDE).exit_code == 2


def test_convert_passes_policy_to_stream_encoder() -> None:
    assert "The lock opens" not in run("convert", TIDE, "--to", "openai-chat").stdout
    assert "The lock opens" in run("convert", TIDE, "--to", "openai-chat", "--policy", "reasoning=text").stdout


def test_convert_quiet_prints_nothing_for_stream() -> None:
    assert run("convert", TIDE, "--to", "openai-chat", "--quiet").stderr == ""


def test_undo_maps_restores_names_in_stream(tmp_path: Path) -> None:
    source = {
        "messages": [{"role": "user", "content": "When?"}],
        "tools": [{"type": "function", "function": {"name": "tide.table", "parameters": {"type": "object"}}}],
    }
    request, maps = tmp_path / "request.json", tmp_path / "maps.json"
    request.write_text(json.dumps(source))
    converted = run("convert", request, "--to", "anthropic-messages", "--maps", maps)
    name = json.loads(converted.stdout)["tools"][0]["name"]
    assert name != "tide.table"
    answer = TIDE.read_text().replace('"tide_table"', json.dumps(name))
    result = run("convert", "--to", "openai-chat", "--undo-maps", maps, input=answer)
    assert '"name":"tide.table"' in result.stdout
    assert name not in result.stdout


# losses


def test_convert_on_loss_raise_stops_stream_before_the_loss(tmp_path: Path) -> None:
    lost = tmp_path / "lost.json"
    result = run("convert", TIDE, "--to", "openai-chat", "--on-loss", "raise", "--losses", lost)
    assert result.exit_code == 1
    whole = run("convert", TIDE, "--to", "openai-chat").stdout
    assert whole.startswith(result.stdout)
    assert 0 < len(result.stdout) < len(whole)
    assert "the output that was already written remains" in result.stderr
    assert "ReasoningContent" in result.stderr
    assert [loss["what"] for loss in json.loads(lost.read_text())] == ["ReasoningContent"]


def test_convert_on_loss_raise_is_independent_of_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("convert", TIDE, "--to", "openai-chat", "--on-loss", "raise")
    whole = run(*arguments).stdout
    monkeypatch.setattr(incoming, "_CHUNK", 7)
    assert run(*arguments).stdout == whole


def test_convert_on_loss_raise_keeps_existing_output_file(tmp_path: Path) -> None:
    output = tmp_path / "out.sse"
    output.write_text("old")
    result = run("convert", TIDE, "--to", "openai-chat", "--on-loss", "raise", "-o", output)
    assert result.exit_code == 1
    assert output.read_text() == "old"
    assert "not converted: the conversion would cost 1 loss" in result.stderr


# broken streams


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BROKEN, "the stream ended before the answer was complete"),
        (BROKEN + b"event: content", "the stream ended in the middle of an event"),
        (MALFORMED, "anthropic-messages: expected an object, got string at $.delta"),
    ],
    ids=["ended", "cut", "malformed"],
)
@pytest.mark.parametrize("target", APIS)
def test_convert_reports_broken_stream_and_ends_output_with_error_event(data: bytes, message: str, target: str) -> None:
    result = run("convert", "--to", target, input=data)
    assert result.exit_code == 2
    assert f"error: standard input: {'event ' if 'expected' in message else ''}" in result.stderr
    assert message in result.stderr
    assert "Vlissingen" in result.stdout
    folded = contentmodel.fold_stream([result.stdout_bytes], target)
    assert folded.error is not None
    assert message in folded.error.message


def test_convert_stores_broken_stream_with_its_error(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", "--to", "contentmodel", "-o", stored, input=BROKEN).exit_code == 2
    error = contentmodel.loads(stored.read_bytes()).error
    assert error.code == "stream_ended"
    # The stored response is complete, so its conversion succeeds.
    again = run("convert", stored, "--kind", "stream", "--to", "openai-chat")
    assert again.exit_code == 0
    assert "the answer ends with an error: stream_ended" in again.stderr


@pytest.mark.parametrize("target", [*APIS, "contentmodel"])
def test_convert_keeps_provider_error_and_exits_with_code_0(target: str) -> None:
    result = run("convert", "--to", target, "--quiet", input=FAILED)
    assert result.exit_code == 0
    assert "the answer ends with an error: overloaded_error: Overloaded" in result.stderr
    assert "Overloaded" in result.stdout


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'data: {"a": 1}\n\n', "no event of this stream identifies its API"),
        (b": nothing but a comment\n\n", "no event of this stream identifies its API"),
        (b"data: [DONE]\n\n", "--from API"),
        (b"<html>Bad gateway</html>", "no event of this stream identifies its API"),
        (b"\n \n", "the input is empty"),
        (b"", "the input is empty"),
    ],
)
@pytest.mark.parametrize("command", [("convert", "--to", "openai-chat"), ("show",)])
def test_commands_report_stream_of_unknown_api(command: tuple[str, ...], data: bytes, message: str) -> None:
    result = run(*command, "--kind", "stream", input=data)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"error: standard input: {message}" in result.stderr or message == "--from API"
    assert message in result.stderr


def test_convert_from_option_skips_detection_of_stream_api() -> None:
    result = run("convert", "--from", "anthropic-messages", "--to", "openai-chat", input=b'data: {"a": 1}\n\n')
    assert "standard input: " in result.stderr
    assert "whose it is" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", TIDE, "--to", "openai-chat", "--pretty"), "--pretty cannot be used with a stream"),
        (("convert", TIDE, "--to", "openai-chat", "--model", "gpt-5.2"), "--model needs a request"),
        (("convert", TIDE, "--to", "openai-chat", "--maps", "maps.json"), "--maps needs a request"),
        (("convert", TIDE, "--to", "openai-chat", "--kind", "response"), "remove --kind"),
        (("convert", TIDE, "--to", "contentmodel", "--policy", "reasoning=text"), "--policy"),
        (("convert", "missing.sse", "--kind", "stream", "--to", "openai-chat"), "missing.sse: No such file"),
        (("convert", ".", "--kind", "stream", "--to", "openai-chat"), "directory"),
        (("check", TIDE), "this is a stream: only requests can be checked"),
        (("plan", TIDE), "this is a stream: only requests and responses can be planned"),
    ],
)
def test_commands_reject_options_that_streams_do_not_support(
    arguments: tuple[object, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


# detection of streams


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf", b"\n\n", b": PROCESSING\n\n", b"retry: 5\n\n", b"id: 1\n"])
def test_detect_recognizes_stream_by_its_first_bytes(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    data = begin + TIDE.read_bytes()
    assert run("detect", input=data).stdout == "anthropic-messages stream\n"
    monkeypatch.setattr(incoming, "_CHUNK", 1)
    assert run("detect", input=data).stdout == "anthropic-messages stream\n"


@pytest.mark.parametrize("chunk", [1, 3, 1 << 16])
def test_detect_reads_whole_document_that_is_not_a_stream(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "_CHUNK", chunk)
    document = b'\xef\xbb\xbf \n{"messages": [], "model": "gpt-5"}'
    assert run("detect", input=document).stdout == "openai-chat request\n"
    assert run("detect", input=b" " * 200 + document[3:]).stdout == "openai-chat request\n"
    assert "not JSON" in run("detect", input=b"datum").stderr


def test_detect_prints_streams_among_several_files() -> None:
    result = run("detect", TIDE, EXAMPLES / "chat.openai.json", GEMINI)
    assert result.stdout.splitlines() == [
        f"{TIDE} anthropic-messages stream",
        f"{EXAMPLES / 'chat.openai.json'} openai-chat request",
        f"{GEMINI} google-generate-content stream",
    ]


def test_detect_reports_stream_of_unknown_api(tmp_path: Path) -> None:
    unknown = tmp_path / "nobody.sse"
    unknown.write_text('data: {"a": 1}\n\n')
    result = run("detect", unknown, TIDE)
    assert result.exit_code == 2
    assert result.stdout == f"{TIDE} anthropic-messages stream\n"
    assert f"{unknown}: no event of this stream" in result.stderr


# show


def test_show_prints_stream_like_its_stored_response(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    run("convert", TIDE, "--to", "contentmodel", "-o", stored)
    stream, answer = run("show", TIDE), run("show", stored)
    assert stream.exit_code == 0
    assert "anthropic-messages stream" in stream.stdout
    assert stream.stdout.splitlines()[1:] == answer.stdout.splitlines()[1:]
    assert "→ tide_table" in stream.stdout
    assert "finished: tool_calls (tool_use)" in stream.stdout


def test_show_reports_broken_stream() -> None:
    result = run("show", input=BROKEN)
    assert result.exit_code == 2
    assert "✗ stream_ended" in result.stdout
    assert "Vlissingen" in result.stdout
    assert "the stream ended before the answer was complete" in result.stderr
    failed = run("show", input=FAILED)
    assert failed.exit_code == 0
    assert "✗ overloaded_error: Overloaded" in failed.stdout


HOSTILE_TEXT = "\x1b]0;title\x07\x1b[2J\u202eevil [bold red]markup[/] :smile:"


def test_show_escapes_hostile_stream() -> None:
    result = run("show", input=text_stream(HOSTILE_TEXT, model=HOSTILE_TEXT))
    assert HOSTILE.search(result.stdout) is None
    assert r"\x1b[2J" in result.stdout
    assert "[bold red]markup[/] :smile:" in result.stdout


def test_following_prints_block_again_if_it_changed() -> None:
    old, new = contentmodel.TextContent(text="old"), contentmodel.TextContent(text="new")
    late = contentmodel.TextContent(text="late")
    following = Following(Fold(), Page())
    steps = [
        BlockStart(index=0, content=contentmodel.TextContent(text="")),
        BlockStop(index=0, content=old),
        BlockCatchUp(index=0, content=new),
        BlockCatchUp(index=1, content=late),
        TurnComplete(response=contentmodel.ChatResponse(), layout=[[[0, 1]]]),
    ]
    shown = [str(part) for step in steps for part in following.feed(step)]
    assert shown[-1] == "old"
    assert [str(part) for part in following.close()] == ["(changed after it was shown:)", "new", "late"]


def test_following_separates_blocks_of_several_choices() -> None:
    following = Following(Fold(), Page())
    for index in (0, 1):
        text = contentmodel.TextContent(text=f"answer {index}")
        assert not list(following.feed(BlockStart(index=index, content=text, choice=index)))
    assert [str(part) for part in following.open_blocks()] == ["answer 0", "answer 1"]
    shown = list(following.feed(BlockStop(index=1, content=contentmodel.TextContent(text="done"))))
    assert "answer 2" in str(getattr(shown[1], "title", ""))
    assert [str(part) for part in following.open_blocks()] == ["answer 0"]


# as a process: output is written before the input ends


@contextmanager
def child(*arguments: object, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "contentmodel.cli", *map(str, arguments)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with subprocess.Popen(command, **streams) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(descriptor: int, mark: bytes) -> bytes:
    """Read until `mark`, the end of the stream, or a minute without a byte."""
    data = b""
    while mark not in data and select.select([descriptor], [], [], 60)[0]:
        try:
            piece = os.read(descriptor, 1 << 16)
        except OSError:  # Raised by a terminal whose other end is closed.
            break
        if not piece:
            break
        data += piece
    return data


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


@posix
@pytest.mark.parametrize(
    "named",
    [(), slow(("--from", "anthropic-messages")), slow(("--kind", "stream"))],
)
@pytest.mark.parametrize("target", [APIS[0], *map(slow, APIS[1:])])
def test_convert_writes_stream_before_input_ends(target: str, named: tuple[str, ...]) -> None:
    data = TIDE.read_bytes()
    at = until_text(data)
    with child("convert", "-", "--to", target, *named) as process:
        assert process.stdout is not None
        feed(process, data[:at])
        early = read_until(process.stdout.fileno(), b"Vlissingen")
        assert b"Vlissingen" in early
        feed(process, data[at:])
        late, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert early + late == contentmodel.convert(data, target=target).payload


@posix
@pytest.mark.parametrize("named", [("--from", "openai-chat"), slow(())])
def test_convert_writes_lines_before_input_ends(named: tuple[str, ...]) -> None:
    """Without a named API, the first lines may be a document of lines: some formats have such documents."""
    line = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Vlissingen?"}]}).encode() + b"\n"
    count = 2 if named else 2 + PROBED
    with child("convert", "-", "--to", "anthropic-messages", "-q", *named) as process:
        assert process.stdout is not None
        feed(process, line * count + b"not JSON\n" + line[:20])
        early = read_until(process.stdout.fileno(), b"Vlissingen")
        assert b"Vlissingen" in early
        late, errors = process.communicate(line[20:], timeout=60)
    assert f"line {count + 1}: not JSON".encode() in errors
    assert (early + late).count(b"Vlissingen") == count + 1


@posix
def test_convert_writes_to_named_pipe_before_input_ends(tmp_path: Path) -> None:
    data = TIDE.read_bytes()
    at = until_text(data)
    place = tmp_path / "out"
    os.mkfifo(place)
    # Open at both ends, so that a child that dies early does not block this test.
    pipe = os.open(place, os.O_RDWR)
    try:
        with child("convert", "-", "--to", "openai-chat", "-o", place) as process:
            feed(process, data[:at])
            assert b"Vlissingen" in read_until(pipe, b"Vlissingen")
            process.communicate(data[at:], timeout=60)
    finally:
        os.close(pipe)
    assert process.returncode == 0


@posix
def test_show_prints_text_to_terminal_before_input_ends() -> None:
    import pty

    data = TIDE.read_bytes()
    at = until_text(data)
    test_end, child_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    try:
        with child("show", stdout=child_end, env=environment) as process:
            os.close(child_end)
            feed(process, data[:at])
            early = read_until(test_end, b"Vlissingen")
            assert b"Vlissingen" in early
            assert b"finished" not in early
            feed(process, data[at:])
            assert process.stdin is not None
            process.stdin.close()
            late = read_until(test_end, b"118 out").decode()
            assert process.wait(60) == 0
    finally:
        os.close(test_end)
    assert "to pass the lock." in late
    assert "port:" in late
    assert "finished: tool_calls (tool_use)" in late


@posix
def test_detect_does_not_wait_for_end_of_stream() -> None:
    data = TIDE.read_bytes()
    with child("detect") as process:
        assert process.stdout is not None
        feed(process, data[: until_text(data)])
        assert read_until(process.stdout.fileno(), b"\n") == b"anthropic-messages stream\n"


@posix
@pytest.mark.parametrize("command", [("convert", "--to", "openai-chat"), ("show",)])
def test_stream_commands_exit_quietly_on_broken_pipe(command: tuple[str, ...]) -> None:
    delta = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "word " * 200}}
    data = TIDE.read_bytes()
    at = until_text(data)
    long = data[:at] + events(delta) * 3000 + data[at:]
    with child(*command, "-", *([] if command == ("show",) else ["--quiet"])) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(long, timeout=60)
    assert process.returncode == 141
    assert errors == b""


@posix
def test_convert_stream_leaves_no_partial_file_on_interrupt(tmp_path: Path) -> None:
    lost = tmp_path / "lost.json"
    os.mkfifo(tmp_path / "in.sse")
    pipe = os.open(tmp_path / "in.sse", os.O_RDWR)
    probe = tmp_path / "probe"
    os.mkfifo(probe)
    reader = os.open(probe, os.O_RDWR)
    try:
        os.write(pipe, BROKEN)
        with child("convert", tmp_path / "in.sse", "--to", "openai-chat", "-o", probe, "--losses", lost) as process:
            assert b"Vlissingen" in read_until(reader, b"Vlissingen")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    finally:
        os.close(pipe)
        os.close(reader)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.sse", "probe"]


# -- streams that are conversations ------------------------------------------------------------------------------------

RUN = events(
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TEXT_MESSAGE_START", "messageId": "a1", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a1", "delta": "Hello."},
    {"type": "TEXT_MESSAGE_END", "messageId": "a1"},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
)


@pytest.mark.parametrize("options", [(), ("--from", "ag-ui"), ("--kind", "request")])
def test_convert_reads_events_of_a_run_as_a_request(options: tuple[str, ...]) -> None:
    result = run("convert", "--to", "openai-chat", *options, input=RUN)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["messages"][-1] == {"role": "assistant", "content": "Hello."}
    array = b"[%b]" % b",".join(line[6:] for line in RUN.splitlines() if line.startswith(b"data: "))
    stored = run("convert", "--to", "openai-chat", "--kind", "stream", input=array)
    assert stored.stdout == result.stdout
    assert run("detect", input=RUN).stdout == "ag-ui stream\n"
    assert "Hello." in run("show", input=RUN).stdout


def test_convert_refuses_events_of_a_run_as_a_response() -> None:
    result = run("convert", "--to", "openai-chat", "--kind", "response", input=RUN)
    assert result.exit_code == 2
    assert "this is a stream, not a response" in result.stderr


def test_commands_report_malformed_events_of_a_run() -> None:
    result = run("convert", "--to", "openai-chat", input=RUN.replace(b'"messageId": "a1", "delta"', b'"delta"'))
    assert result.exit_code == 2
    assert "$[2].messageId" in result.stderr
