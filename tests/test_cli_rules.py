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


def test_check_prints_path_rule_and_fix() -> None:
    result = run("check", "--for", "openai-chat", input=ORPHAN)
    assert result.exit_code == 1
    assert "refused results-follow-their-calls at $.messages[0].tool_call_id" in result.stdout
    assert "move it after its call" in result.stdout
    assert "1 violation" in result.stdout


def test_check_prints_no_violations_for_valid_request() -> None:
    result = run("check", AGENT)
    assert (result.exit_code, result.stdout.strip()) == (0, "no violations")


def test_check_json_output_includes_line_number() -> None:
    result = run("check", "--for", "openai-chat", "--json", input=f"{json.dumps(ORPHAN)}\n{json.dumps(ORPHAN)}\n")
    assert [json.loads(line)["line"] for line in result.stdout.splitlines()] == [1, 2]
    assert json.loads(result.stdout.splitlines()[0])["rule"] == "results-follow-their-calls"


def test_check_model_option_selects_rules() -> None:
    request = {"model": "any", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5}
    assert run("check", "--for", "openai-chat", input=request).exit_code == 0
    assert run("check", "--for", "openai-chat", "--model", "o3", input=request).exit_code == 1


def test_check_policy_option_selects_rules_of_host() -> None:
    request = {"model": "our-model", "messages": [{"role": "user", "content": "hi"}], "logit_bias": {"5": 1}}
    assert run("check", "--for", "openai-chat", input=request).exit_code == 0
    result = run("check", "--for", "openai-chat", "--policy", "dialect=groq", input=request)
    assert result.exit_code == 1
    assert "refused fields-accepted-by-host at $.logit_bias" in result.stdout


def test_check_policy_option_selects_capabilities() -> None:
    request = {"model": "our-model", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5}
    result = run("check", "--for", "openai-chat", "--policy", "capabilities=o3", input=request)
    assert (result.exit_code, result.stderr) == (1, "")


def test_check_rejects_unknown_policy() -> None:
    result = run("check", "--policy", "dialect=unknown", AGENT)
    assert result.exit_code == 2
    assert "unknown policy 'dialect=unknown'" in result.stderr


UNLISTED = [
    ("openai-chat", {"model": "our-model", "messages": [{"role": "user", "content": "hi"}]}, "$.model"),
    ("anthropic-messages", {**ASKED, "model": "claude-opus-9", "messages": ASKED["messages"][:1]}, "$.model"),
    ("google-generate-content", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "$"),
]


@pytest.mark.parametrize(("api", "request_", "path"), UNLISTED)
def test_check_prints_note_for_unlisted_model(api: str, request_: Any, path: str) -> None:
    result = run("check", "--for", api, input=f"{json.dumps(request_)}\n{json.dumps(request_)}\n")
    assert (result.exit_code, result.stdout) == (0, "no violations\n")
    what = "the request names no model" if path == "$" else f"'{request_['model']}' is not listed"
    assert result.stderr == f"note: {what}: checked as the provider's newest model\n"


@pytest.mark.parametrize(("api", "request_", "path"), UNLISTED)
def test_check_json_output_includes_unlisted_model(api: str, request_: Any, path: str) -> None:
    result = run("check", "--for", api, "--json", input=request_)
    [line] = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code, result.stderr) == (0, "")
    assert (line["rule"], line["severity"], line["path"]) == ("listed-model", "unchecked", path)
    assert "checked as the provider's newest model" in line["message"]


def test_check_prints_no_note_for_listed_model_or_api_without_model_table() -> None:
    result = run("check", "--for", "anthropic-messages", input={**ASKED, "messages": ASKED["messages"][:1]})
    assert (result.exit_code, result.stderr) == (0, "")
    blocks = {"turns": [{"role": "user", "blocks": [{"type": "text", "text": "hi"}]}]}
    assert "is not listed" not in run("check", "--for", "turn-blocks", input=blocks).stderr


def test_check_accepts_list_of_messages() -> None:
    result = run("check", "--for", "openai-chat", input=ORPHAN["messages"])
    assert (result.exit_code, result.stderr) == (
        1,
        "note: the request names no model: checked as the provider's newest model\n",
    )
    assert "refused results-follow-their-calls" in result.stdout


@pytest.mark.parametrize("input", ["nonsense", "[]", '{"choices": []}'])
def test_check_reports_invalid_input(input: str) -> None:
    result = run("check", input=input)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: standard input")


def test_check_rejects_unknown_api() -> None:
    result = run("check", AGENT, "--for", "contentmodel")
    assert (result.exit_code, "--for: unknown API" in result.stderr) == (2, True)


def test_plan_compares_all_targets() -> None:
    result = run("plan", AGENT)
    assert result.exit_code == 0
    for word in ("openai-chat", "openai-responses", "google-generate-content", "reasoning", "cost"):
        assert word in result.stdout


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
def test_plan_output_is_not_wrapped_within_words(columns: int, tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", AGENT, "--to", "contentmodel", "-o", stored).exit_code == 0
    result = typer.testing.CliRunner().invoke(app, ["plan", str(stored)], env={"COLUMNS": str(columns)})
    plans = json.loads(run("plan", stored, "--json").stdout)
    assert result.exit_code == 0
    for plan in plans:
        assert plan["target"] in result.stdout
        for family, kinds in plan["families"].items():
            assert family in result.stdout
            assert all(f"{count:,} {kind}" in result.stdout for kind, count in kinds.items())
    tables = result.stdout.count("losses by family")
    assert tables in {200: {1}, 20: {len(plans)}}.get(columns, range(1, len(plans) + 1))


def test_plan_json_output_is_sorted_by_cost() -> None:
    plans = json.loads(run("plan", AGENT, "--json", "--to", "openai-chat", "--to", "anthropic-messages").stdout)
    assert [plan["target"] for plan in plans] == ["anthropic-messages", "openai-chat"]
    assert plans[0]["cost"] == 0
    assert plans[1]["losses"][0]["path"].startswith("$.")


def test_plan_reads_stored_document(tmp_path: Path) -> None:
    stored = tmp_path / "stored.json"
    assert run("convert", AGENT, "--to", "contentmodel", "-o", stored).exit_code == 0
    assert "openai-chat" in run("plan", stored).stdout


def test_plan_reports_syntax_of_model_option() -> None:
    result = run("plan", AGENT, "--model", "gpt-5")
    assert (result.exit_code, "expected API=MODEL" in result.stderr) == (2, True)


def test_convert_writes_maps_and_undo_maps_restores_names(tmp_path: Path) -> None:
    maps = tmp_path / "maps.json"
    assert run("convert", "--to", "openai-chat", "--maps", maps, "-q", input=ASKED).exit_code == 0
    name = json.loads(maps.read_text())["names"]["a.b"]
    call = {"id": "q", "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    result = run("convert", "--to", "anthropic-messages", "--undo-maps", maps, "-q", input=answer)
    assert json.loads(result.stdout)["content"][0]["name"] == "a.b"


def test_convert_rejects_invalid_maps_file(tmp_path: Path) -> None:
    maps = tmp_path / "maps.json"
    maps.write_text('{"unknown": 1}')
    result = run("convert", "--to", "openai-chat", "--undo-maps", maps, input=ASKED)
    assert (result.exit_code, "not a file that --maps wrote" in result.stderr) == (2, True)


def test_convert_writes_model_of_the_target() -> None:
    result = run("convert", "--to", "openai-chat", "--model", "gpt-5.2", "-q", input=ASKED)
    assert json.loads(result.stdout)["model"] == "gpt-5.2"
