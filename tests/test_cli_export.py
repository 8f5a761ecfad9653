"""`contentmodel show` and `contentmodel export` on stores, and `export` of what `show` reads."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("jinja2")

import typer.testing

import contentmodel
from conftest import DATABASES
from contentmodel import ChatMessage, ChatRequest, ErrorContent, TextContent
from contentmodel.cli import stores
from contentmodel.cli.app import app
from contentmodel.cli.console import HOSTILE
from contentmodel.history import TurnStore
from contentmodel.history.log import ConversationLog
from test_html import check

EXAMPLES = Path(__file__).parent.parent / "examples"
AGENT = EXAMPLES / "agent_turns.anthropic.json"
TIDE = EXAMPLES / "tide_call.anthropic.sse"
EVIL = "<script>alert(1)</script>\u202e\x1b[31m"


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    return typer.testing.CliRunner().invoke(app, [str(a) for a in arguments], input=input, env={"COLUMNS": "200"})


def text(words: str) -> TextContent:
    return TextContent(text=words)


def transcript() -> ChatRequest:
    return contentmodel.adapter("anthropic-messages").decode_request(json.loads(AGENT.read_text()))


def fill(url: str | Path) -> dict[str, str]:
    """Fill a store with two conversations: "trip" with a branch and a log, and a hostile one. Return ids of turns."""
    with TurnStore.open(url, clock=lambda: datetime(2026, 3, 14, 9, tzinfo=UTC)) as store:
        turns = store.save("trip", transcript())
        log = ConversationLog(store)
        log.add("trip", "tool_use", "Looking at the <metrics>", turn=turns[1])
        log.add("trip", "title", "Slow checkout")
        branch = store.add_turn("trip", "user", [text("Never mind.")], turns[0], branch=True)
        store.add_turn(EVIL.replace("\x1b", "").replace("\u202e", ""), "user", [text(EVIL)])
        failed = store.begin_turn("<script>alert(1)</script>[31m", "assistant")
        store.end_turn(failed, status="failed", error=ErrorContent(message=EVIL))
    return {"first": turns[0].id, "last": turns[-1].id, "branch": branch.id}


@pytest.fixture(params=DATABASES)
def store(request: Any, tmp_path: Path) -> str:
    """Return a store to read, as the command line names it."""
    return str(tmp_path / "history.db") if request.param == "sqlite" else request.getfixturevalue("database")


# -- show --------------------------------------------------------------------------------------------------------------


def test_show_lists_conversations_of_a_store(store: str) -> None:
    fill(store)
    result = run("show", store)
    assert result.exit_code == 0
    head, *lines = result.output.splitlines()
    other, trip = sorted(lines, key=lambda line: line.split()[0])
    assert head.split() == ["turns", "created", "(UTC)", "changed", "(UTC)", "conversation"]
    assert trip.split() == ["4", "2026-03-14", "09:00:00", "2026-03-14", "09:00:00", "trip"]
    assert other.endswith("<script>alert(1)</script>[31m")


def test_show_prints_conversation_and_its_other_branches(store: str) -> None:
    ids = fill(store)
    result = run("show", store, "--conversation", "trip")
    assert result.exit_code == 0
    assert "conversation trip" in result.output
    assert "Never mind." in result.output
    assert "render_chart" not in result.output.partition("instructions")[2]
    hint = f"another branch ends with turn 3; --upto {ids['last']} shows it"
    assert hint in result.output
    other = run("show", store, "-c", "trip", "--upto", ids["last"], "--full").output
    assert "→ render_chart" in other
    assert "Never mind." not in other
    assert f"--upto {ids['branch']}" in other


def test_show_reports_failed_turn_and_escapes_hostile_text(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    fill(path)
    result = run("show", path, "-c", "<script>alert(1)</script>[31m")
    assert "turn 2 (assistant) is failed: <script>alert(1)</script>\\u202e\\x1b[31m" in result.output
    assert not HOSTILE.search(result.output)


def test_show_and_export_report_empty_store(tmp_path: Path) -> None:
    TurnStore.open(tmp_path / "history.db").close()
    assert run("show", tmp_path / "history.db").output == "no conversations\n"
    result = run("export", tmp_path / "history.db")
    assert (result.exit_code, "the store has no conversations" in result.output) == (2, True)


def test_show_and_export_page_through_many_conversations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_PAGE", 3)
    with TurnStore.open(tmp_path / "history.db") as store:
        for number in range(10):
            store.add_turn(f"c{number}", "user", [text("x")])
    lines = run("show", tmp_path / "history.db").output.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == [f"c{number}" for number in range(10)]
    exported = run("export", tmp_path / "history.db", "--to", "jsonl").stdout.splitlines()
    assert len(exported) == 10


# -- export of stores --------------------------------------------------------------------------------------------------


def test_export_html_of_conversation_has_times_branches_and_log(store: str, tmp_path: Path) -> None:
    ids = fill(store)
    page = tmp_path / "trip.html"
    result = run("export", store, "-c", "trip", "--upto", ids["last"], "-o", page)
    assert (result.exit_code, result.output) == (0, "")
    read = check(page.read_text())
    assert read.all_of("title") == ["Slow checkout"]
    assert {"turn 2", "2026-03-14 09:00:00 UTC", "turn 4"} <= set(read.all_of("bit"))
    assert {"shown to the user", "one of 2 branches", "→ run_query"} <= set(read.all_of("label"))
    assert "Looking at the <metrics>" in read.words
    named = run("export", store, "-c", "trip", "--title", "My <trip>", "--to", "html").stdout
    assert check(named).all_of("title") == ["My <trip>"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_export_of_a_private_store_is_private(tmp_path: Path) -> None:
    store = tmp_path / "history.db"
    fill(store)
    store.chmod(0o600)
    for form in ("html", "jsonl"):
        assert (
            run(
                "export", store, *(() if form == "jsonl" else ("-c", "trip")), "--to", form, "-o", tmp_path / form
            ).exit_code
            == 0
        )
        assert stat.S_IMODE((tmp_path / form).stat().st_mode) == 0o600


def test_export_json_of_conversation_matches_store(store: str, tmp_path: Path) -> None:
    ids = fill(store)
    with TurnStore.open(store) as opened:
        expected = opened.load("trip", ids["last"])
        rows = opened.export("trip")
    out = tmp_path / "trip.json"
    assert run("export", store, "-c", "trip", "--upto", ids["last"], "-o", out).exit_code == 0
    assert contentmodel.loads(out.read_bytes()) == expected == transcript()
    assert out.read_text().count("\n") > 10
    lines = run("export", store, "-c", "trip", "--upto", ids["last"], "--to", "jsonl").stdout
    assert lines.count("\n") == 1
    assert contentmodel.loads(lines) == expected
    assert json.loads(run("export", store, "-c", "trip", "--to", "turn-blocks").stdout) == rows


def test_export_jsonl_writes_one_line_per_conversation(store: str, tmp_path: Path) -> None:
    fill(store)
    out = tmp_path / "all.jsonl"
    assert run("export", store, "-o", out).exit_code == 0
    with TurnStore.open(store) as opened:
        expected = [opened.load(found.id) for found in opened.conversations()]
    assert [contentmodel.loads(line) for line in out.read_bytes().splitlines()] == expected
    assert run("show", out).exit_code == 0


def test_export_converts_conversation_to_request_and_reports_losses(tmp_path: Path) -> None:
    ids = fill(tmp_path / "history.db")
    out = tmp_path / "request.json"
    result = run(
        "export", tmp_path / "history.db", "-c", "trip", "--upto", ids["last"], "--to", "openai-chat", "-o", out
    )
    assert result.exit_code == 0
    expected = contentmodel.adapter("openai-chat").encode_request(transcript())
    assert json.loads(out.read_text()) == expected.payload
    significant = [loss for loss in expected.losses if loss.is_significant]
    assert f"converted to openai-chat: {len(significant)} losses" in result.output
    same = run(
        "export", tmp_path / "history.db", "-c", "trip", "--upto", ids["last"], "--to", "anthropic-messages", "-q"
    )
    assert json.loads(same.stdout) == json.loads(AGENT.read_text())
    assert same.stderr == ""


def test_export_of_store_with_one_conversation_needs_no_conversation_option(tmp_path: Path) -> None:
    with TurnStore.open(tmp_path / "history.db") as store:
        store.add_turn("only", "user", [text("Hello.")])
    read = check(run("export", tmp_path / "history.db").stdout)
    assert (read.all_of("title"), read.words) == (["only"], "Hello.")


def test_show_and_export_do_not_modify_the_store(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    fill(path)

    def content() -> str:
        connection = sqlite3.connect(path)
        digest = hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()
        connection.close()
        return digest

    before = content()
    for arguments in (["show", path], ["show", path, "-c", "trip"], ["export", path, "-c", "trip"]):
        assert run(*arguments).exit_code == 0
    assert content() == before
    assert [found.name for found in tmp_path.iterdir()] == ["history.db"]


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["show", "export"])
def test_show_and_export_report_invalid_store_arguments(command: str, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    fill(path)
    for arguments, expected in (
        ([path, "-c", "nope"], ["there is no conversation 'nope'", f"`contentmodel show {path}` lists"]),
        ([path, "-c", "trip", "--upto", "t"], ["the conversation 'trip' has no turn 't'"]),
        ([path, "--upto", "t"], ["--upto needs --conversation", "--conversation ID"]),
        ([path, "--from", "openai-chat"], ["--from cannot be used with a store"]),
        ([path, "--kind", "request"], ["--kind cannot be used with a store"]),
        ([AGENT, "-c", "x"], ["--conversation needs a store"]),
        ([AGENT, "--upto", "x"], ["--upto needs a store"]),
        ([tmp_path / "none.db"], ["none.db: No such file"]),
        ([f"sqlite:///{tmp_path}/none.db"], ["none.db: No such file"]),
        (["sqlite://"], ["an in-memory database is always empty"]),
        (["mysql://u:hush@h/x"], ["mysql://***@h/x: a store needs SQLite or PostgreSQL, not mysql"]),
        (["postgresql://u:hush@127.0.0.1:1/x"], ["the database failed"]),
        (["postgresql://127.0.0.1:1/x?user=u&password=hush"], ["password=***: the database failed"]),
        (["postgresql://u:hu@sh:h/x"], ["not the URL of a database"]),
    ):
        result = run(command, *arguments)
        assert result.exit_code == 2, arguments
        assert all(part in result.output for part in expected), result.output
        assert "hush" not in result.output
    assert not (tmp_path / "none.db").exists()


def test_export_lists_conversations_if_none_is_chosen(tmp_path: Path) -> None:
    with TurnStore.open(tmp_path / "history.db") as store:
        for number in range(7):
            store.add_turn(f"c{number}", "user", [text("x")])
    for to in ("html", "json", "turn-blocks", "openai-chat"):
        result = run("export", tmp_path / "history.db", "--to", to, "-o", tmp_path / "out")
        assert result.exit_code == 2
        assert "the store has several conversations" in result.output
        assert "  c4\n  ...\n" in result.output
        assert "choose one with --conversation ID, or export all with --to jsonl" in result.output
        assert not (tmp_path / "out").exists()


def test_show_and_export_do_not_modify_a_database_that_is_not_a_store(store: str) -> None:
    """A store would create its tables when it is opened."""
    from contentmodel.history.engines import make_engine, url_of

    if "://" not in store:
        connection = sqlite3.connect(store)
        connection.execute("CREATE TABLE bills (a)")
        connection.close()
        before = Path(store).read_bytes()
    for command in ("show", "export"):
        result = run(command, store)
        assert result.exit_code == 2
        assert "this database is not a store of conversations" in result.output
    if "://" not in store:
        assert Path(store).read_bytes() == before
        return
    engine = make_engine(url_of(store, is_async=False), 30)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").scalar() == 0
    engine.dispose()


def test_show_reports_corrupt_database(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 500)
    result = run("show", path)
    assert result.exit_code == 2
    assert "history.db: cannot be read as a SQLite database" in result.output


def test_show_reports_store_with_newer_schema_version(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    TurnStore.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE contentmodel_schema SET version = 99")
    connection.commit()
    connection.close()
    result = run("show", path)
    assert result.exit_code == 2
    assert "version 99 of the schema" in result.output


def test_show_and_export_without_extra_print_missing_extra(tmp_path: Path) -> None:
    fill(tmp_path / "history.db")
    for module, arguments, extra in (
        ("sqlalchemy", ["show", "history.db"], "history"),
        ("jinja2", ["export", str(AGENT)], "html"),
    ):
        code = (
            f"import sys; sys.modules[{module!r}] = None\n"
            f"from contentmodel.cli import main; sys.argv = ['contentmodel', *{arguments!r}]; main()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 2, done.stderr
        assert f"contentmodel[{extra}]" in done.stderr
        assert "Traceback" not in done.stderr


# -- export of documents and streams -----------------------------------------------------------------------------------


def test_export_writes_document_as_html(tmp_path: Path) -> None:
    read = check(run("export", AGENT).stdout)
    assert read.all_of("title") == [AGENT.name]
    assert "Checkout has been slow since this morning. What changed?" in read.words
    piped = run("export", "--title", "Piped", "--to", "html", input=AGENT.read_bytes())
    assert check(piped.stdout).all_of("title") == ["Piped"]
    out = tmp_path / "page.HTML"
    assert run("export", AGENT, "-o", out).exit_code == 0
    check(out.read_text())


def test_export_writes_document_in_every_other_format() -> None:
    assert contentmodel.loads(run("export", AGENT, "--to", "json").stdout) == transcript()
    assert contentmodel.loads(run("export", AGENT, "--to", "jsonl").stdout) == transcript()
    rows = json.loads(run("export", AGENT, "--to", "turn-blocks", "-q").stdout)
    assert contentmodel.adapter("turn-blocks").decode_request(rows).messages[0].text.startswith("Checkout")
    same = run("export", AGENT, "--to", "anthropic-messages")
    assert json.loads(same.stdout) == json.loads(AGENT.read_text())
    assert "nothing lost" in same.stderr


def test_export_writes_stored_values_as_html() -> None:
    message = ChatMessage(role="assistant", contents=[text(EVIL)])
    for value in (message, [message], text(EVIL), [text(EVIL)]):
        read = check(run("export", "-", input=contentmodel.dumps(value)).stdout)
        assert read.words == EVIL


def test_export_writes_stream_as_its_response() -> None:
    read = check(run("export", TIDE).stdout)
    assert "→ tide_table" in read.all_of("label")
    answer = contentmodel.loads(run("export", TIDE, "--to", "json").stdout)
    assert answer.finish_reason.reason == "tool_calls"
    exported = run("export", TIDE, "--to", "openai-chat")
    assert "$.choices[0].messages[0].contents[0]" in exported.stderr
    chat = json.loads(exported.stdout)
    assert chat["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "tide_table"


def test_export_writes_truncated_stream_up_to_the_fault(tmp_path: Path) -> None:
    out = tmp_path / "answer.html"
    result = run("export", "-", "-o", out, input=TIDE.read_bytes()[:-400])
    assert result.exit_code == 2
    assert "the part before the fault was exported" in result.output
    assert "stream_ended" in check(out.read_text()).all_of("label")


def test_export_rejects_several_documents_unless_format_is_jsonl(tmp_path: Path) -> None:
    source, out = tmp_path / "log.jsonl", tmp_path / "out"
    body = json.dumps(json.loads(AGENT.read_text()))
    source.write_text(f"{body}\nnonsense\n{body}\n")
    for to in ("html", "json", "openai-chat"):
        result = run("export", source, "--to", to, "-o", out)
        assert result.exit_code == 2
        assert f"has several documents, but {to} holds only one" in result.output
        assert not out.exists()
    result = run("export", source, "--to", "jsonl")
    assert result.exit_code == 2
    assert "log.jsonl, line 2: not JSON" in result.stderr
    assert [contentmodel.loads(line) for line in result.stdout.splitlines()] == [transcript()] * 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--to", "pdf"], "--to: unknown format or API 'pdf'"),
        (["--to", "pdf"], "html, json, jsonl, ag-ui"),
        (["--to", "json", "--title", "x"], "--title cannot be used with --to json"),
        (["--from", "nope"], "--from: unknown API 'nope'"),
        (["-o", str(AGENT)], "is already an input or output of this command"),
    ],
)
def test_export_reports_invalid_arguments(arguments: list[str], expected: str) -> None:
    result = run("export", AGENT, *arguments)
    assert result.exit_code == 2
    assert expected in result.output


def test_export_rejects_output_that_is_the_store(tmp_path: Path) -> None:
    fill(tmp_path / "history.db")
    before = (tmp_path / "history.db").read_bytes()
    for source in (tmp_path / "history.db", f"sqlite:///{tmp_path}/history.db"):
        result = run("export", source, "-c", "trip", "-o", tmp_path / "history.db")
        assert result.exit_code == 2
        assert "is already an input or output of this command" in result.output
    assert (tmp_path / "history.db").read_bytes() == before


def test_export_writes_no_output_for_invalid_json(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    result = run("export", tmp_path / "bad.json", "-o", tmp_path / "out.html")
    assert result.exit_code == 2
    assert "bad.json: not JSON" in result.output
    assert os.listdir(tmp_path) == ["bad.json"]


def test_counted_prints_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(stores, "err", lambda: console)

    def items() -> Iterator[int]:
        yield from range(1, 1_001)

    assert list(stores.counted(items(), "turns read")) == list(range(1, 1_001))
    assert "turns read" in console.file.getvalue()
    assert list(stores.counted(iter([1]), "turns read", quiet=True)) == [1]


def test_show_prints_times_in_utc(tmp_path: Path) -> None:
    from datetime import timezone

    zone = timezone(timedelta(hours=5))
    with TurnStore.open(tmp_path / "h.db", clock=lambda: datetime(2026, 3, 14, 2, 0, tzinfo=zone)) as store:
        store.add_turn("c", "user", [text("x")])
    assert "2026-03-13 21:00:00" in run("show", tmp_path / "h.db").output
