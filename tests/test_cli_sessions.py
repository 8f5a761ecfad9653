"""`contentmodel sessions`: listing, showing and converting the sessions of coding agents."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("zstandard")

import typer.testing
import zstandard

from contentmodel import adapter, audit
from contentmodel.cli.app import app
from contentmodel.cli.sessions.finding import find_session
from contentmodel.cli.sessions.loading import load_session
from contentmodel.cli.sessions.patches import patch_of, values_of
from contentmodel.cli.sessions.writing import Plan, convert_session
from contentmodel.lines import parse_lines, write_lines
from contentmodel.message import ChatMessage, contents_of
from session_files import Claude, Line, call, claude_session, codex_line, codex_session, said, text

CLAUDE, CODEX = "claude-code-session", "codex-rollout"
CLAUDE_ID = "5e551011-0000-4000-8000-000000000000"
CODEX_ID = "01a2080b-1a99-7323-a4d5-48fd7d239780"
FORK_ID = "01a2080b-1c0e-7a71-a747-30c842e9aa88"
NEW_ID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a temporary folder the home: no test reads or writes the sessions of this machine."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    words = ["sessions", *map(str, arguments)]
    return typer.testing.CliRunner().invoke(app, words, input=input, env={"COLUMNS": "200"})


def put(path: Path, lines: list[Any], changed: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_lines(lines))
    os.utime(path, (changed, changed))
    return path


def claude_file(home: Path, lines: list[Any] | None = None, changed: int = 1_000, name: str = CLAUDE_ID) -> Path:
    path = home / ".claude" / "projects" / "-project" / f"{name}.jsonl"
    return put(path, claude_session() if lines is None else lines, changed)


def codex_file(home: Path, lines: list[Any] | None = None, changed: int = 2_000, name: str = CODEX_ID) -> Path:
    folder = home / ".codex" / "sessions" / "2026" / "11" / "23"
    return put(
        folder / f"rollout-2026-11-23T10-00-00-{name}.jsonl", codex_session() if lines is None else lines, changed
    )


def listed(*arguments: object) -> list[Any]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


# list


def test_list_shows_the_sessions_of_all_agents_with_the_newest_first(home: Path) -> None:
    claude_file(home)
    codex_file(home)
    lines = run("list").stdout.splitlines()
    assert [line.split()[2] for line in lines[1:]] == ["codex", "claude-code"]
    assert lines[1].endswith("01a2080b  project  List the files.")
    assert [session["id"] for session in listed()] == [CODEX_ID, CLAUDE_ID]
    first = listed("--agent", "claude-code")[0]
    assert (first["directory"], first["created"]) == ("/project", "2026-11-23T10:00:01.000Z")
    assert (first["prompt"], first["changed"]) == ("List the files.", "1970-01-01T00:16:40Z")


def test_list_filters_by_agent_and_project(home: Path) -> None:
    claude_file(home)
    codex_file(home)
    assert [session["agent"] for session in listed("--agent", "codex")] == ["codex"]
    assert len(listed("--project", "/project")) == len(listed("--project", "/")) == 2
    assert listed("--project", "/proj") == []
    assert [session["agent"] for session in listed("--limit", "1")] == ["codex"]
    limited = run("list", "--limit", "1")
    assert "more sessions exist; --limit 0 lists all" in limited.stderr
    refused = run("list", "--agent", "emacs")
    assert refused.exit_code == 2
    assert "use one of: claude-code, codex" in refused.stderr


def test_list_reads_the_folders_that_the_environment_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    codex_file(home)
    assert listed() == []
    (home / ".codex").rename(home / "elsewhere")
    assert [session["id"] for session in listed()] == [CODEX_ID]


def test_list_omits_sub_agents_and_older_files_of_a_session_unless_all(home: Path) -> None:
    claude_file(home)
    sub = home / ".claude" / "projects" / "-project" / CLAUDE_ID / "subagents" / "agent-a1.jsonl"
    put(sub, claude_session(), 1)
    codex_file(home)
    codex_file(home, name=f"{CODEX_ID}_01a2080b-4c52-7d41-b85e-4a2839b1e573", changed=3_000)
    started = codex_session()
    started[0]["payload"]["thread_source"] = "subagent"
    codex_file(home, started, name=FORK_ID)
    assert [session["id"] for session in listed()] == [CODEX_ID, CLAUDE_ID]
    assert "4a2839b1e573" in listed()[0]["path"]
    assert sorted(session["id"] for session in listed("--all")) == sorted(
        [CODEX_ID, CODEX_ID, FORK_ID, CLAUDE_ID, "agent-a1"]
    )


def test_list_names_the_fault_of_a_broken_file_and_continues(home: Path) -> None:
    claude_file(home)
    codex_file(home).write_bytes(b"\xff\xfe not a session\n{\n")
    claude_file(home, [], name=NEW_ID)
    notes = {session["id"]: session["note"] for session in listed()}
    assert notes == {CODEX_ID: "no line is a JSON object", NEW_ID: "the file is empty", CLAUDE_ID: None}
    assert "no line is a JSON object" in run("list").stdout


def test_list_does_not_read_whole_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contentmodel.cli.sessions import finding

    monkeypatch.setattr(finding, "_BYTES", 2_000)
    long = {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "a" * 5_000}}
    claude_file(home, [{"type": "mode", "sessionId": CLAUDE_ID, "cwd": "/project"}, long])
    (session,) = listed()
    assert (session["directory"], session["prompt"]) == ("/project", None)


def test_list_shows_the_first_words_of_the_user(home: Path) -> None:
    file = Claude()
    file.user("<command-name>/clear</command-name>")
    file.user("Caveat: the program adds this.", isMeta=True)
    file.user([{"type": "image"}, text("Look at \x1b[31mthis.")])
    claude_file(home, file.lines)
    context = said("user", "<environment_context>\n</environment_context>")
    codex_file(home, [codex_session()[0], codex_line("response_item", context, 1), *codex_session()[1:]])
    shown = run("list").stdout
    assert "List the files." in shown
    assert "Look at \\x1b[31mthis." in shown


def test_list_without_sessions_names_the_folders(home: Path) -> None:
    result = run("list")
    assert result.exit_code == 0
    assert str(home / ".codex") in result.stdout


# show


def test_show_accepts_an_id_a_prefix_a_file_and_standard_input(home: Path) -> None:
    path = claude_file(home)
    shown = [run("show", name).stdout for name in (CLAUDE_ID, "5e55", path)]
    assert len(set(shown)) == 1
    assert "claude-code · 5e551011" in shown[0]
    assert "There is one file." in shown[0]
    piped = run("show", "-", input=path.read_bytes())
    assert piped.stdout == shown[0]


def test_show_reports_unknown_ids_ambiguous_ids_and_other_files(home: Path, tmp_path: Path) -> None:
    codex_file(home)
    codex_file(home, name=FORK_ID)
    unknown, several = run("show", "ffff"), run("show", "01a2080b")
    assert (unknown.exit_code, several.exit_code) == (2, 2)
    assert "`contentmodel sessions list`" in unknown.stderr
    assert FORK_ID in several.stderr
    assert CODEX_ID in several.stderr
    other = tmp_path / "chat.json"
    other.write_text('{"model": "m", "messages": []}')
    refused = run("show", other)
    assert refused.exit_code == 2
    assert "not a session of a coding agent" in refused.stderr
    assert run("show", tmp_path / "missing.jsonl").exit_code == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"\n \n", "it is empty"),
        (b"\x00\xff\n5\n", "no line is a JSON object"),
        (b'{"type": "user", "uu', "no line is a JSON object"),
        (b'{"type": "summary"}\n', "the format of its first lines is unknown"),
    ],
)
def test_show_names_the_reason_why_a_file_is_no_session(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(data)
    for result in (run("show", path), run("show", "-", input=data)):
        assert result.exit_code == 2
        assert f"not a session of a coding agent: {reason}\n" in result.stderr


def test_session_without_messages_is_refused(home: Path, tmp_path: Path) -> None:
    codex_file(home, [meta(CODEX_ID)])
    for arguments in (("show",), ("convert", "--to", "claude-code"), ("import", "--store", tmp_path / "history.db")):
        result = run(arguments[0], CODEX_ID, *arguments[1:])
        assert result.exit_code == 2
        assert "the session has no messages" in result.stderr
    assert not (tmp_path / "history.db").exists()


def test_empty_id_names_no_session(home: Path) -> None:
    claude_file(home)
    result = run("show", "")
    assert (result.exit_code, "SESSION is empty" in result.stderr) == (2, True)


# convert


def converted(home: Path, session: str, *arguments: object) -> tuple[Path, list[Any]]:
    """Convert a session. Return its file and its lines."""
    result = run("convert", session, *arguments)
    assert result.exit_code == 0, result.stderr
    path = Path(result.stdout.splitlines()[0].removeprefix("wrote "))
    return path, parse_lines(path.read_bytes())


def texts(messages: list[ChatMessage]) -> list[str]:
    return [content.text for content in contents_of(messages) if getattr(content, "text", "")]


def test_convert_writes_a_rollout_where_codex_finds_it(home: Path) -> None:
    claude_file(home)
    path, lines = converted(home, "5e55", "--to", "codex", "--id", NEW_ID, "--directory", home / "new folder")
    assert path == home / f".codex/sessions/2026/11/23/rollout-2026-11-23T10-00-01-{NEW_ID}.jsonl"
    assert (lines[0]["payload"]["id"], lines[0]["payload"]["cwd"]) == (NEW_ID, str(home / "new folder"))
    assert [session["id"] for session in listed("--agent", "codex")] == [NEW_ID]


def test_convert_writes_a_session_where_claude_code_finds_it(home: Path) -> None:
    codex_file(home)
    result = run("convert", "01a2", "--to", "claude-code", "--id", NEW_ID)
    path = home / f".claude/projects/-project/{NEW_ID}.jsonl"
    assert result.stdout.splitlines() == [f"wrote {path}", f"resume with: cd /project && claude --resume {NEW_ID}"]
    assert "converted to claude-code-session:" in result.stderr
    assert "the folder /project does not exist on this machine" in result.stderr
    assert {line["cwd"] for line in parse_lines(path.read_bytes())} == {"/project"}
    assert {line["sessionId"] for line in parse_lines(path.read_bytes())} == {NEW_ID}


def test_a_new_session_has_a_random_id(home: Path) -> None:
    claude_file(home)
    first, second = (converted(home, CLAUDE_ID, "--to", "codex")[0] for _ in range(2))
    assert first != second


def test_convert_never_replaces_a_file(home: Path, tmp_path: Path) -> None:
    path = claude_file(home)
    before = path.read_bytes()
    converted(home, CLAUDE_ID, "--to", "codex", "--id", NEW_ID)
    again = run("convert", CLAUDE_ID, "--to", "codex", "--id", NEW_ID)
    assert again.exit_code == 2
    assert f"codex already has a session with the id {NEW_ID}" in again.stderr
    output = tmp_path / "out.jsonl"
    output.write_text("mine")
    refused = run("convert", CLAUDE_ID, "--to", "codex", "-o", output)
    assert (refused.exit_code, output.read_text()) == (2, "mine")
    assert path.read_bytes() == before


def test_dry_run_writes_nothing(home: Path) -> None:
    claude_file(home)
    result = run("convert", CLAUDE_ID, "--to", "codex", "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"would write {home}/.codex/sessions/2026/11/23/rollout-")
    assert "agent-instructions" in result.stderr or "instructions of another agent" in result.stderr
    assert not (home / ".codex").exists()


def test_convert_writes_elsewhere_and_to_other_formats(home: Path, tmp_path: Path) -> None:
    claude_file(home)
    run("convert", CLAUDE_ID, "--to", "codex", "-o", tmp_path / "new" / "out.jsonl", "--losses", tmp_path / "l.json")
    assert json.loads((tmp_path / "new" / "out.jsonl").read_bytes().splitlines()[0])["type"] == "session_meta"
    assert {"agent-instructions"} <= {loss["code"] for loss in json.loads((tmp_path / "l.json").read_text())}
    assert not (home / ".codex").exists()
    chat = run("convert", CLAUDE_ID, "--to", "openai-chat", "-q")
    assert json.loads(chat.stdout)["messages"][0]["content"] == "List the files."


def test_refused_losses_are_listed(home: Path, tmp_path: Path) -> None:
    path = claude_file(home)
    arguments = ("--to", "codex", "--on-loss", "raise", "--losses")
    result = run("convert", CLAUDE_ID, *arguments, tmp_path / "l.json")
    assert result.exit_code == 1
    assert "agent-instructions" in (tmp_path / "l.json").read_text()
    assert not (home / ".codex").exists()
    assert run("convert", path, *arguments, path).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "claude-code"), "already"),
        (("--to", "emacs"), "--to: unknown agent or API 'emacs'"),
        (("--to", "Codex"), "did you mean codex?"),
        (("--to", "gemini-cli"), "cannot create sessions of gemini-cli"),
        (("--to", "codex", "--id", "../../x"), "--id: expected a UUID"),
        (("--to", "openai-chat", "--dry-run"), "--dry-run can be used only if --to is an agent"),
        (("--to", "codex", "--policy", "session=1"), "use --id UUID"),
        (("--to", "codex", "-o", "/dev/null/file"), "/dev/null is a file, not a folder"),
        (("--to", "codex", "-o", "/"), "/: is a folder"),
        (("--to", "codex", "--on-loss", "raise"), "not converted"),
    ],
)
def test_convert_refuses_options_that_it_cannot_follow(home: Path, arguments: tuple[str, ...], message: str) -> None:
    claude_file(home)
    result = run("convert", CLAUDE_ID, *arguments)
    assert result.exit_code == (1 if "raise" in arguments else 2)
    assert message in result.stderr
    assert not (home / ".codex").exists()


def test_the_time_of_a_session_names_no_other_folder(home: Path) -> None:
    file = Claude()
    file.user("Hello.")
    file.lines[0]["timestamp"] = "../-../-../x"
    claude_file(home, file.lines)
    path, _ = converted(home, CLAUDE_ID, "--to", "codex")
    assert path.parent == home / ".codex" / "sessions" / "1970" / "01" / "01"


# convert: forks of Codex


def numbered(lines: list[Any], start: int = 0) -> list[Any]:
    return [{**line, "ordinal": start + at} for at, line in enumerate(lines)]


def meta(session: str, **more: Any) -> Line:
    return codex_line("session_meta", {"id": session, "cwd": "/project", **more}, 0)


def conversation(*values: str) -> list[Any]:
    roles = ("user", "assistant")
    return [codex_line("response_item", said(roles[at % 2], value), at) for at, value in enumerate(values)]


def fork(home: Path, end: int) -> None:
    base = {"thread_id": CODEX_ID, "end_ordinal_exclusive": end}
    lines = [meta(FORK_ID, history_base=base), *conversation("Another way.", "It is done.")]
    codex_file(home, numbered(lines, end), name=FORK_ID)


def test_a_fork_has_the_history_of_the_session_that_it_continues(home: Path) -> None:
    codex_file(home, numbered([meta(CODEX_ID), *conversation("First.", "One.", "Second.", "Two.")]))
    fork(home, 3)
    _, lines = converted(home, FORK_ID, "--to", "claude-code")
    expected = ["First.", "One.", "Another way.", "It is done."]
    assert texts(adapter(CLAUDE).decode_request(lines).messages) == expected
    assert "Second." not in run("show", FORK_ID).stdout
    _, alone = converted(home, FORK_ID, "--to", "claude-code", "--alone")
    assert texts(adapter(CLAUDE).decode_request(alone).messages) == expected[2:]


def test_a_reverted_session_continues_its_own_older_file(home: Path) -> None:
    codex_file(home, numbered([meta(CODEX_ID), *conversation("First.", "One.", "Second.", "Two.")]))
    for name, end, values in (("_a", 3, ("Third.", "Three.", "Fourth.", "Four.")), ("_b", 6, ("Fifth.", "Five."))):
        base = {"thread_id": CODEX_ID, "end_ordinal_exclusive": end}
        lines = numbered([meta(CODEX_ID, history_base=base), *conversation(*values)], end)
        codex_file(home, lines, name=CODEX_ID + name, changed=3_000 + end)
    _, lines = converted(home, CODEX_ID, "--to", "claude-code")
    assert texts(adapter(CLAUDE).decode_request(lines).messages) == [
        "First.",
        "One.",
        "Third.",
        "Three.",
        "Fifth.",
        "Five.",
    ]


def test_a_fork_without_the_session_that_it_continues_is_refused(home: Path) -> None:
    fork(home, 3)
    result = run("convert", FORK_ID, "--to", "claude-code")
    assert result.exit_code == 2
    assert CODEX_ID in result.stderr
    assert "--alone" in result.stderr
    assert not (home / ".claude").exists()


def test_files_that_continue_each_other_are_refused(home: Path) -> None:
    base = {"thread_id": CODEX_ID, "end_ordinal_exclusive": 9}
    codex_file(home, numbered([meta(CODEX_ID, history_base=base), *conversation("First.")]))
    assert run("show", CODEX_ID).exit_code == 2


# convert: large results of Claude Code


def test_full_results_replace_previews_by_files_of_the_session(home: Path) -> None:
    file = Claude()
    file.user("Count.")
    file.answer("msg_1", call("toolu_1", command="seq 9"))
    preview = "<persisted-output>\nOutput too large. Full output saved to: /other/home/{}\n\nPreview:\n1"
    file.result("toolu_1", preview.format("tool-results/a.txt"))
    file.answer("msg_2", call("toolu_2", command="seq 8"))
    file.result("toolu_2", preview.format("../../../../secret.txt"))
    path = claude_file(home, file.lines)
    (home / "secret.txt").write_text("secret")
    results = path.with_suffix("") / "tool-results"
    results.mkdir(parents=True)
    (results / "a.txt").write_text("1 2 3 4 5 6 7 8 9")
    _, lines = converted(home, CLAUDE_ID, "--to", "codex", "--full-results")
    outputs = [line["payload"]["output"] for line in lines if "output" in line["payload"]]
    assert outputs[0] == "1 2 3 4 5 6 7 8 9"
    assert outputs[1].startswith("<persisted-output>")
    _, lines = converted(home, CLAUDE_ID, "--to", "codex")
    assert "1 2 3" not in str(lines)


# convert: tools


def with_call(block: Line, artifact: Any = None, content: Any = "Done.") -> list[Any]:
    file = Claude()
    file.user("Go.")
    file.answer("msg_1", block)
    result = {"type": "tool_result", "tool_use_id": block["id"], "content": content}
    file.user([result], toolUseResult=artifact)
    return file.lines


HUNK = {"structuredPatch": [{"lines": [" one", "-two", "+zwei"]}]}
UPDATE = "*** Begin Patch\n*** Update File: /a.txt\n@@\n one\n-two\n+zwei\n*** End Patch\n"
ADD = "*** Begin Patch\n*** Add File: /a.txt\n+one\n+\n*** End Patch\n"
PICTURE = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aWk="}}]


@pytest.mark.parametrize(
    ("block", "artifact", "content", "expected"),
    [
        (call("t", "Bash", command="ls", timeout=5), None, "", ("exec_command", {"cmd": "ls"})),
        (call("t", "Bash", command="ls", run_in_background=True), None, "", None),
        (call("t", "Write", file_path="/a.txt", content="one\n\n"), None, "", ("apply_patch", ADD)),
        (call("t", "Write", file_path="/a.txt", content="one"), None, "", None),
        (call("t", "Edit", file_path="/a.txt", old_string="two", new_string="zwei"), HUNK, "", ("apply_patch", UPDATE)),
        (call("t", "Edit", file_path="/a.txt", old_string="two", new_string="zwei"), None, "", None),
        (call("t", "Read", file_path="/a.png"), None, PICTURE, ("view_image", {"path": "/a.png"})),
        (call("t", "Read", file_path="/a.txt"), None, "", None),
        (call("t", "Bash", command=["ls"]), None, "", None),
        (call("t", "Other", command="ls"), None, "", None),
    ],
)
def test_calls_of_claude_code_become_calls_of_codex_if_they_do_the_same(
    home: Path, block: Line, artifact: Any, content: Any, expected: Any
) -> None:
    claude_file(home, with_call(block, artifact, content))
    _, lines = converted(home, CLAUDE_ID, "--to", "codex", "--tools", "map")
    made, result = (line["payload"] for line in lines if "call_id" in line["payload"])
    text_form = made.get("input")
    found = made["name"], text_form if text_form is not None else json.loads(made["arguments"])
    assert found == (expected or (block["name"], block["input"]))
    assert result["type"] == f"{made['type']}_output"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("exec_command", {"cmd": "ls", "yield_time_ms": 9}, ("Bash", {"command": "ls"})),
        ("exec_command", {"cmd": "ls", "workdir": "/project"}, ("Bash", {"command": "ls"})),
        ("exec_command", {"cmd": "ls", "workdir": "/other"}, None),
        ("shell", {"command": ["bash", "-lc", "ls"], "timeout_ms": 9}, ("Bash", {"command": "ls", "timeout": 9})),
        ("shell", {"command": ["ls", "-l"]}, None),
        ("view_image", {"path": "a.png"}, ("Read", {"file_path": "/project/a.png"})),
        ("apply_patch", ADD, ("Write", {"file_path": "/a.txt", "content": "one\n\n"})),
        (
            "apply_patch",
            UPDATE,
            ("Edit", {"file_path": "/a.txt", "old_string": "one\ntwo", "new_string": "one\nzwei"}),
        ),
        ("apply_patch", UPDATE.replace("@@", "@@ def f():"), None),
        ("apply_patch", UPDATE.replace("Update", "Delete"), None),
    ],
)
def test_calls_of_codex_become_calls_of_claude_code_if_they_do_the_same(
    home: Path, name: str, arguments: Any, expected: Any
) -> None:
    is_text = isinstance(arguments, str)
    kind = "custom_tool_call" if is_text else "function_call"
    held = {"input": arguments} if is_text else {"arguments": json.dumps(arguments)}
    lines = [
        *codex_session()[:3],
        codex_line("response_item", {"type": kind, "call_id": "call_1", "name": name, **held}, 4),
        codex_line("response_item", {"type": f"{kind}_output", "call_id": "call_1", "output": "Done."}, 5),
    ]
    codex_file(home, lines)
    _, made = converted(home, CODEX_ID, "--to", "claude-code", "--tools", "map")
    block = made[1]["message"]["content"][0]
    assert (block["name"], block["input"]) == (expected or (name, held if is_text else arguments))
    assert made[2]["message"]["content"][0]["tool_use_id"] == "call_1"


def test_calls_keep_their_names_by_default(home: Path) -> None:
    claude_file(home)
    _, lines = converted(home, CLAUDE_ID, "--to", "codex")
    assert {line["payload"]["name"] for line in lines if "name" in line["payload"]} == {"Bash"}


def test_calls_and_results_become_text(home: Path) -> None:
    claude_file(home, with_call(call("t", "Read", file_path="/a.png"), None, [text("a picture"), *PICTURE]))
    _, lines = converted(home, CLAUDE_ID, "--to", "codex", "--tools", "text")
    items = [line["payload"] for line in lines[1:]]
    assert [(item["role"], [part["type"] for part in item["content"]]) for item in items] == [
        ("user", ["input_text"]),
        ("assistant", ["output_text"]),
        ("user", ["input_text", "input_image"]),
    ]
    assert items[1]["content"][0]["text"] == '[Call of Read: {"file_path":"/a.png"}]'
    assert items[2]["content"][0]["text"] == "[Result of Read:]\na picture"


@pytest.mark.parametrize("tools", ["map", "text"])
def test_losses_of_tools_have_paths_in_the_file(home: Path, tmp_path: Path, tools: str) -> None:
    claude_file(home, with_call(call("t", "Bash", command="ls", description="List.")))
    run("convert", CLAUDE_ID, "--to", "codex", "--tools", tools, "--losses", tmp_path / "l.json")
    losses = [(loss["code"], loss["path"]) for loss in json.loads((tmp_path / "l.json").read_text())]
    block = "$[1].message.content[0]"
    if tools == "map":
        assert ("tool-mapped", f"{block}.name") in losses
        assert ("tool-argument", f"{block}.input.description") in losses
    else:
        assert {("as-text", f"{block}.name"), ("no-field", f"{block}.id")} <= {*losses}


@pytest.mark.parametrize("tools", ["keep", "map", "text"])
@pytest.mark.parametrize(("file", "target"), [(claude_file, CODEX), (codex_file, CLAUDE)])
def test_each_value_of_a_session_is_written_or_reported(home: Path, file: Any, target: str, tools: str) -> None:
    (loaded,) = load_session(find_session(str(file(home))))
    plan = Plan(target, tools, {"session": NEW_ID, "directory": "/project"}, "report")
    assert audit(loaded.lines, convert_session(loaded, plan)) == []


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "*** Begin Patch\n*** End Patch\n",
        ADD.replace("+one", "one"),
        UPDATE.replace("*** End Patch", "*** Update File: /b\n@@\n-a\n+b\n*** End Patch"),
        UPDATE.replace("*** End Patch", "*** End of File\n*** End Patch"),
        UPDATE.replace("@@\n one", "@@\n a\n+b\n@@\n one"),
    ],
)
def test_patches_of_other_shapes_are_no_edit_of_one_place(patch: str) -> None:
    assert values_of(patch, "edit") is None
    assert values_of(patch, "write") is None


def test_a_patch_of_an_action_does_that_action() -> None:
    values = {"path": "/a.txt", "text": "one\n\n"}
    assert values_of(patch_of("write", values, None) or "", "write") == values
    assert patch_of("write", {**values, "path": "/a\n*** Delete File: b"}, None) is None
    artifact = {"structuredPatch": [{"lines": ["-two", "\\ No newline at end of file", "+zwei"]}]}
    assert patch_of("edit", {"path": "/a.txt", "old": "two", "new": "zwei"}, artifact) is None


# import and export


def test_import_stores_a_session_with_its_times_usage_and_ids(home: Path, tmp_path: Path) -> None:
    history = pytest.importorskip("contentmodel.history")
    path = claude_file(home)
    store = tmp_path / "history.db"
    result = run("import", CLAUDE_ID, "--store", store)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1] == f"show with: contentmodel show {store} --conversation {CLAUDE_ID}"
    with history.TurnStore.open(store) as opened:
        assert opened.load(CLAUDE_ID) == adapter(CLAUDE).decode_request(path.read_bytes())
        turns = opened.turns(CLAUDE_ID)
    assert sum(turn.usage.output_tokens for turn in turns if turn.usage is not None) == 15
    assert turns[0].started_at.isoformat().startswith("2026-11-23T10:00:01")


def test_import_never_replaces_a_conversation(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("contentmodel.history")
    claude_file(home)
    for arguments, code in (((), 0), ((), 2), (("--conversation", "copy"), 0)):
        result = run("import", CLAUDE_ID, "--store", tmp_path / "history.db", *arguments)
        assert result.exit_code == code, result.stderr
    refused = run("import", CLAUDE_ID, "--store", tmp_path / "history.db")
    assert "--conversation ID" in refused.stderr
    memory = run("import", CLAUDE_ID, "--store", ":memory:")
    assert (memory.exit_code, "always empty" in memory.stderr) == (2, True)


def test_import_names_the_fault_of_a_store_that_cannot_be_created(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("contentmodel.history")
    text = tmp_path / "text.db"
    text.write_text("not a database")
    path = claude_file(home)
    faults = {
        tmp_path: "is a folder",
        tmp_path / "missing" / "history.db": "check the path",
        text: "is not a SQLite database",
    }
    for store, message in faults.items():
        result = run("import", path, "--store", store)
        assert result.exit_code == 2
        assert message in result.stderr
    assert text.read_text() == "not a database"


@pytest.mark.parametrize("file", [claude_file, codex_file])
def test_export_makes_the_page_of_a_session(home: Path, file: Any, tmp_path: Path) -> None:
    path = file(home)
    result = typer.testing.CliRunner().invoke(app, ["export", str(path), "-o", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.stderr
    page = (tmp_path / "page.html").read_text()
    assert "List the files." in page
    assert "It stays." in page


def test_list_has_the_sessions_of_gemini_if_its_adapter_is_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contentmodel.cli.sessions import agents

    lines = [
        {"sessionId": NEW_ID, "startTime": "2026-11-23T10:00:00.000Z", "kind": "main"},
        {"type": "user", "id": "1", "content": [{"text": "<session_context>"}]},
        {"type": "user", "id": "2", "content": [{"text": "List the files."}]},
    ]
    chats = home / ".gemini" / "tmp" / "shop" / "chats"
    put(chats / "session-2026-11-23T10-00-11111111.jsonl", lines, 1_000)
    put(chats / NEW_ID / "a1.jsonl", [{**lines[0], "sessionId": "a1", "kind": "subagent"}], 2_000)
    (chats.parent / ".project_root").write_text("/home/ada/shop")
    monkeypatch.setattr(agents, "points", lambda: {"gemini-cli-session": None})
    (session,) = listed()
    assert (session["id"], session["directory"], session["prompt"]) == (NEW_ID, "/home/ada/shop", "List the files.")
    assert {session["directory"] for session in listed("--all")} == {"/home/ada/shop"}
    assert len(listed("--all")) == 2
    monkeypatch.setattr(agents, "points", dict)
    assert listed() == []


# compressed and older files, and permissions


def compressed(path: Path, end: str) -> Path:
    data = path.read_bytes()
    packed = gzip.compress(data) if end == ".gz" else zstandard.ZstdCompressor().compress(data)
    target = path.with_name(path.name + end)
    target.write_bytes(packed)
    path.unlink()
    return target


def test_compressed_rollouts_are_listed_shown_and_converted(home: Path) -> None:
    path = compressed(codex_file(home), ".zst")
    assert [(session["id"], session["path"]) for session in listed()] == [(CODEX_ID, str(path))]
    assert "It stays." in run("show", CODEX_ID[:8]).stdout
    assert "It stays." in run("show", path).stdout
    _, lines = converted(home, CODEX_ID[:8], "--to", "claude-code")
    assert texts(adapter(CLAUDE).decode_request(lines).messages)[-1] == "It stays."
    imported = run("import", CODEX_ID[:8], "--store", home / "history.db")
    assert imported.exit_code == 0, imported.stderr


def test_a_fork_has_the_history_of_a_compressed_session(home: Path) -> None:
    codex_file(home, numbered([meta(CODEX_ID), *conversation("First.", "One.", "Second.", "Two.")]))
    fork(home, 3)
    before = run("show", FORK_ID).stdout
    assert "First." in before
    for path in [*(home / ".codex").rglob("*.jsonl")]:
        compressed(path, ".zst")
    assert run("show", FORK_ID).stdout == before


@pytest.mark.parametrize("end", [".gz", ".zst"])
@pytest.mark.parametrize("command", ["show", "detect"])
def test_commands_read_compressed_files(home: Path, tmp_path: Path, end: str, command: str) -> None:
    names = {"lines.jsonl": claude_session(), "chat.json": [{"messages": [{"role": "user", "content": "Hi."}]}]}
    for name, lines in names.items():
        plain = put(tmp_path / name, lines, 1)
        first = typer.testing.CliRunner().invoke(app, [command, str(plain)])
        assert first.exit_code == 0
        again = typer.testing.CliRunner().invoke(app, [command, str(compressed(plain, end))])
        assert again.stdout.replace(end, "") == first.stdout


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_damaged_compressed_file_is_named(home: Path, tmp_path: Path, end: str) -> None:
    path = compressed(put(tmp_path / "lines.jsonl", claude_session(), 1), end)
    path.write_bytes(path.read_bytes()[:20] + b"damaged")
    result = run("show", path)
    assert result.exit_code == 2
    assert str(path) in result.stderr


def test_older_files_of_gemini_cli_are_listed_shown_converted_and_imported(home: Path) -> None:
    path = home / ".gemini" / "tmp" / "project" / "chats" / "session-2026-01-20T05-37-00010001.json"
    path.parent.mkdir(parents=True)
    messages = [
        {"id": "1", "timestamp": "t", "type": "user", "content": "List the files."},
        {"id": "2", "timestamp": "t", "type": "gemini", "content": "There is one."},
    ]
    names = {"sessionId": CODEX_ID, "projectHash": "h", "startTime": "2026-01-20T05:37:00.000Z"}
    path.write_text(json.dumps({**names, "messages": messages}, indent=2))
    assert [(one["agent"], one["id"], one["prompt"]) for one in listed()] == [
        ("gemini-cli", CODEX_ID, "List the files.")
    ]
    assert "There is one." in run("show", CODEX_ID[:8]).stdout
    assert "There is one." in run("show", "-", input=path.read_bytes()).stdout
    _, lines = converted(home, str(path), "--to", "codex")
    assert texts(adapter(CODEX).decode_request(lines).messages) == ["List the files.", "There is one."]
    assert run("import", CODEX_ID[:8], "--store", home / "history.db").exit_code == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize(("mode", "folder"), [(0o600, 0o700), (0o640, 0o750), (0o644, 0o755), (0o444, 0o755)])
def test_a_new_session_has_the_permissions_of_its_source(home: Path, mode: int, folder: int) -> None:
    claude_file(home).chmod(mode)
    umask = os.umask(0o022)
    try:
        path, _ = converted(home, CLAUDE_ID[:8], "--to", "codex")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == mode | 0o200
    assert {stat.S_IMODE(above.stat().st_mode) for above in (path.parent, home / ".codex")} == {folder}


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_new_session_of_standard_input_and_a_new_store_are_private(home: Path, tmp_path: Path) -> None:
    data = write_lines(claude_session())
    assert run("convert", "-", "--to", "codex", "--output", tmp_path / "new.jsonl", input=data).exit_code == 0
    assert run("import", "-", "--store", tmp_path / "history.db", input=data).exit_code == 0
    for path in (tmp_path / "new.jsonl", tmp_path / "history.db"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_of_a_session_is_quoted_and_a_relative_one_is_ignored(home: Path) -> None:
    lines = claude_session()
    claude_file(home, [{**line, "cwd": "/tmp/a\nrm -rf ~"} if isinstance(line, dict) else line for line in lines])
    assert "\nrm -rf ~ does not" not in run("convert", CLAUDE_ID, "--to", "codex").stderr
    assert not any(line.startswith("rm -rf") for line in run("list").stdout.splitlines())
    claude_file(home, [{**line, "cwd": "../../etc"} if isinstance(line, dict) else line for line in lines])
    assert listed("--agent", "claude-code")[0]["directory"] is None


def test_a_rollout_of_an_impossible_time_is_in_the_folder_of_no_time(home: Path) -> None:
    lines = claude_session()
    claude_file(
        home, [{**line, "timestamp": "9999-99-99T00:00:00Z"} if isinstance(line, dict) else line for line in lines]
    )
    path, _ = converted(home, CLAUDE_ID, "--to", "codex")
    assert path.parent == home / ".codex" / "sessions" / "1970" / "01" / "01"
