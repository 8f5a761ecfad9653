"""`contentmodel check`, `contentmodel plan`, and the maps of `contentmodel convert`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import typer.testing

from contentmodel.cli.app import app

EXAMPLES = Path(__file__).parent.parent / "examples"
AGENT = EXAMPLES / "agent_turns.anthropic.json"
ORPHAN = {"model": "gpt-4o", "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}
ASKED = {
    "model": "claude-opus-4-8",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "a.b", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
    ],
}


def run(*arguments: object, input: Any = None) -> Any:
    text = input if isinstance(input, str) or input is None else json.dumps(input)
    return typer.testing.CliRunner().invoke(app, [str(a) for a in arguments], input=text, env={"COLUMNS": "200"})


def test_check_names_the_place_the_rule_and_the_fix() -> None:
    found = run("check", "--for", "openai-chat", input=ORPHAN)
    assert found.exit_code == 1
    assert "refused results-follow-their-calls at $.messages[0].tool_call_id" in found.stdout
    assert "move it after its call" in found.stdout
    assert "1 violation" in found.stdout


def test_check_says_that_nothing_is_broken() -> None:
    found = run("check", AGENT)
    assert (found.exit_code, found.stdout.strip()) == (0, "no violations")


def test_check_gives_json_with_the_number_of_the_line() -> None:
    found = run("check", "--for", "openai-chat", "--json", input=f"{json.dumps(ORPHAN)}\n{json.dumps(ORPHAN)}\n")
    assert [json.loads(line)["line"] for line in found.stdout.splitlines()] == [1, 2]
    assert json.loads(found.stdout.splitlines()[0])["rule"] == "results-follow-their-calls"


def test_check_asks_the_rules_of_a_model() -> None:
    request = {"model": "any", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5}
    assert run("check", "--for", "openai-chat", input=request).exit_code == 0
    assert run("check", "--for", "openai-chat", "--model", "o3", input=request).exit_code == 1


UNLISTED = [
    ("openai-chat", {"model": "our-model", "messages": [{"role": "user", "content": "hi"}]}, "$.model"),
    ("anthropic-messages", {**ASKED, "model": "claude-opus-9", "messages": ASKED["messages"][:1]}, "$.model"),
    ("google-generate-content", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "$"),
]


@pytest.mark.parametrize(("api", "request_", "path"), UNLISTED)
def test_check_notes_a_model_that_no_table_lists_and_finds_nothing(api: str, request_: Any, path: str) -> None:
    found = run("check", "--for", api, input=f"{json.dumps(request_)}\n{json.dumps(request_)}\n")
    assert (found.exit_code, found.stdout) == (0, "no violations\n")
    what = "the request names no model" if path == "$" else f"'{request_['model']}' is not listed"
    assert found.stderr == f"note: {what}: checked as the provider's newest model\n"


@pytest.mark.parametrize(("api", "request_", "path"), UNLISTED)
def test_check_gives_an_unlisted_model_as_json(api: str, request_: Any, path: str) -> None:
    found = run("check", "--for", api, "--json", input=request_)
    [line] = [json.loads(line) for line in found.stdout.splitlines()]
    assert (found.exit_code, found.stderr) == (0, "")
    assert (line["rule"], line["severity"], line["path"]) == ("listed-model", "unchecked", path)
    assert "checked as the provider's newest model" in line["what"]


def test_check_notes_no_listed_model_and_no_api_without_a_table() -> None:
    found = run("check", "--for", "anthropic-messages", input={**ASKED, "messages": ASKED["messages"][:1]})
    assert (found.exit_code, found.stderr) == (0, "")
    blocks = {"turns": [{"role": "user", "blocks": [{"type": "text", "text": "hi"}]}]}
    assert "is not listed" not in run("check", "--for", "turn-blocks", input=blocks).stderr


def test_check_takes_a_list_of_messages() -> None:
    found = run("check", "--for", "openai-chat", input=ORPHAN["messages"])
    assert (found.exit_code, found.stderr) == (
        1,
        "note: the request names no model: checked as the provider's newest model\n",
    )
    assert "refused results-follow-their-calls" in found.stdout


@pytest.mark.parametrize("input", ["nonsense", "[]", '{"choices": []}'])
def test_check_tells_bad_input(input: str) -> None:
    found = run("check", input=input)
    assert found.exit_code == 2
    assert found.stderr.startswith("error: standard input")


def test_check_takes_no_api_that_is_not_there() -> None:
    found = run("check", AGENT, "--for", "contentmodel")
    assert (found.exit_code, "--for: unknown API" in found.stderr) == (2, True)


def test_plan_compares_all_targets() -> None:
    found = run("plan", AGENT)
    assert found.exit_code == 0
    for word in ("openai-chat", "openai-responses", "google-generate-content", "reasoning", "cost"):
        assert word in found.stdout


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
def test_plan_breaks_no_word(columns: int, tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", AGENT, "--to", "contentmodel", "-o", stored).exit_code == 0
    found = typer.testing.CliRunner().invoke(app, ["plan", str(stored)], env={"COLUMNS": str(columns)})
    said = json.loads(run("plan", stored, "--json").stdout)
    assert found.exit_code == 0
    for plan in said:
        assert plan["target"] in found.stdout
        for family, kinds in plan["families"].items():
            assert family in found.stdout
            assert all(f"{count:,} {kind}" in found.stdout for kind, count in kinds.items())
    tables = found.stdout.count("losses by family")
    assert tables in {200: {1}, 20: {len(said)}}.get(columns, range(1, len(said) + 1))


def test_plan_gives_json_cheapest_first() -> None:
    plans = json.loads(run("plan", AGENT, "--json", "--to", "openai-chat", "--to", "anthropic-messages").stdout)
    assert [plan["target"] for plan in plans] == ["anthropic-messages", "openai-chat"]
    assert plans[0]["cost"] == 0
    assert plans[1]["losses"][0]["path"].startswith("$.")


def test_plan_reads_what_is_stored(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", AGENT, "--to", "contentmodel", "-o", stored).exit_code == 0
    assert "openai-chat" in run("plan", stored).stdout


def test_plan_tells_what_model_it_wants() -> None:
    found = run("plan", AGENT, "--model", "gpt-5")
    assert (found.exit_code, "expected API=MODEL" in found.stderr) == (2, True)


def test_maps_are_kept_and_undone(tmp_path: Path) -> None:
    maps = tmp_path / "maps.json"
    assert run("convert", "--to", "openai-chat", "--maps", maps, "-q", input=ASKED).exit_code == 0
    name = json.loads(maps.read_text())["names"]["a.b"]
    call = {"id": "q", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    found = run("convert", "--to", "anthropic-messages", "--undo-maps", maps, "-q", input=answer)
    assert json.loads(found.stdout)["content"][0]["name"] == "a.b"


def test_maps_that_are_none_are_told(tmp_path: Path) -> None:
    maps = tmp_path / "maps.json"
    maps.write_text('{"unknown": 1}')
    found = run("convert", "--to", "openai-chat", "--undo-maps", maps, input=ASKED)
    assert (found.exit_code, "not a file that --maps wrote" in found.stderr) == (2, True)


def test_a_model_of_the_target_is_written() -> None:
    found = run("convert", "--to", "openai-chat", "--model", "gpt-5.2", "-q", input=ASKED)
    assert json.loads(found.stdout)["model"] == "gpt-5.2"
