"""One command for an agent with a gateway of its own, and recorded requests."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import typer.testing

from contentmodel.cli.app import app as cli
from contentmodel.cli.gateway_agent import AGENTS, summary
from contentmodel.gateway import read_config
from gateways import Gateways, gateway
from providers import PROVIDERS
from raw_upstreams import RawUpstream, answer, raw_upstream, stream
from test_gateway_errors import TEXT, frames, whole

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
KEY = "sk-upstream-0123456789"

ASK = f"""
import json, os, sys, urllib.request
url = os.environ["ASK_URL"] + "/v1/messages"
body = json.dumps({PROVIDERS[CLAUDE].request!r}).encode()
request = urllib.request.Request(url, body, {{"content-type": "application/json", "x-api-key": os.environ["ASK_KEY"]}})
print(json.load(urllib.request.urlopen(request))["content"][0]["text"])
print(sys.argv[1:], file=sys.stderr)
sys.exit(7)
"""


@pytest.fixture(scope="module")
def up() -> Iterator[RawUpstream]:
    with raw_upstream() as running:
        yield running


def invoke(*arguments: str, **environment: str) -> Any:
    return typer.testing.CliRunner().invoke(cli, ["gateway", *arguments], env={"COLUMNS": "200", **environment})


def options(up: RawUpstream) -> list[str]:
    return ["--to", CHAT, "--base-url", up.base_url(CHAT), "--key", "env:UP_KEY", "--model", "gpt-5.2"]


def test_run_gives_a_program_the_gateway_and_ends_with_its_code(up: RawUpstream, tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    up.set_answers(answer({**json.loads(whole(CHAT)), "usage": usage}))
    script = tmp_path / "agent.py"
    script.write_text(ASK)
    run = ["--run", sys.executable, "--env", "ASK_URL={url}", "--env", "ASK_KEY={key}"]
    done = invoke(*options(up), *run, "--record", str(tmp_path / "kept"), "--", str(script), "-p", UP_KEY=KEY)
    assert done.exit_code == 7, done.output
    assert up.requests[0].headers["authorization"] == f"Bearer {KEY}"
    lines = done.stderr.splitlines()
    assert lines[0] == "1 request"
    assert lines[1] == "tokens: 9 input, 4 output"
    assert lines[2].startswith("losses: ")
    log = Path(lines[-1].removeprefix("log: "))
    assert json.loads(log.read_text().splitlines()[-1])["status"] == 200
    assert len(list((tmp_path / "kept").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "my-agent"], "--run my-agent: known agents are claude, codex, gemini"),
        (["--run", "claude", "--env", "X"], "--env: expected NAME=VALUE"),
        (["--run", "no-such-program", "--env", "A=b"], "--run no-such-program: no such program"),
        (["--run", "claude", "--workers", "2"], "--run excludes --workers"),
        (["--", "-p"], "need --run"),
        (["--env", "A=b"], "need --run"),
        (["--watch"], "--watch needs a configuration file"),
    ],
)
def test_run_with_a_fault_is_refused(arguments: list[str], message: str, up: RawUpstream) -> None:
    done = invoke(*options(up), *arguments, UP_KEY=KEY)
    assert done.exit_code == 2
    assert message in done.stderr


def test_variables_of_agents_have_the_url_of_the_gateway() -> None:
    """Codex gets arguments, so that no file of its own is changed."""
    assert AGENTS["claude"].variables["ANTHROPIC_BASE_URL"] == "{url}"
    assert AGENTS["gemini"].variables["GOOGLE_GEMINI_BASE_URL"] == "{url}"
    assert 'model_providers.contentmodel.base_url="{url}/v1"' in AGENTS["codex"].arguments


def test_summary_counts_requests_tokens_and_losses() -> None:
    found: list[Any] = [
        ("requests", (CHAT, "*", "up", "m", "200"), 2),
        ("requests", (CHAT, "*", "up", "m", "500"), 1),
        ("tokens", ("cache_write", "up", "m"), 1500),
        ("losses", ("as-text", "degraded", "request"), 3),
    ]
    assert list(summary(found)) == ["3 requests (1 failed)", "tokens: 1,500 cache write", "losses: as-text 3"]


def test_recording_has_both_sides_and_no_keys(up: RawUpstream, tmp_path: Path) -> None:
    upstream = {"api": CHAT, "base_url": up.base_url(CHAT), "key": "env:UP_KEY"}
    environment = {"UP_KEY": KEY}
    value = {"upstreams": {"up": upstream}, "routes": [{"to": "up", "model": "gpt-5.2"}]}
    folder = tmp_path / "kept"
    with gateway(read_config(value, environment=environment), environment=environment, record=folder) as (url, app):
        up.set_answers(answer({**json.loads(whole(CHAT)), "system_fingerprint": KEY}), stream(*frames(CHAT)))
        headers = {"x-api-key": "sk-client-0123456789"}
        for more in ({}, {"stream": True}):
            payload = {**PROVIDERS[CLAUDE].request, **more}
            httpx2.post(f"{url}/v1/messages", json=payload, headers=headers)
        Gateways.of(url, app).report("")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = sorted(folder.iterdir())
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
    first, second = (json.loads(file.read_text()) for file in files)
    assert json.loads(first["client"]["request"]["text"]) == PROVIDERS[CLAUDE].request
    assert TEXT in first["client"]["answer"]["text"]
    assert json.loads(first["upstreams"][0]["request"]["text"])["model"] == "gpt-5.2"
    assert first["upstreams"][0]["answer"]["status"] == 200
    assert "event: message_stop" in second["client"]["answer"]["text"]
    assert second["upstreams"][0]["answer"]["text"].startswith("data: ")
    assert second["report"]["id"] == second["id"]
    text = "".join(file.read_text() for file in files)
    assert KEY not in text
    assert "sk-client" not in text


def test_replay_converts_recorded_requests_and_lists_their_losses(up: RawUpstream, tmp_path: Path) -> None:
    upstream = {"api": CHAT, "base_url": up.base_url(CHAT), "key": "none"}
    value = {"upstreams": {"up": upstream}, "routes": [{"to": "up", "model": "gpt-5.2"}]}
    up.set_answers(answer(whole(CHAT)))
    with gateway(read_config(value), record=tmp_path / "kept") as (url, app):
        payload = {**PROVIDERS[CLAUDE].request, "metadata": {"user_id": "u"}, "container": "c"}
        httpx2.post(f"{url}/v1/messages", json=payload)
        Gateways.of(url, app).report("")
    done = invoke(
        "replay",
        str(tmp_path / "kept"),
        "--to",
        "google-generate-content",
        "--model",
        "gemini-3-pro",
        "-o",
        str(tmp_path / "out"),
    )
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("1 request, 0 that google-generate-content would refuse; losses: ")
    converted = json.loads(next((tmp_path / "out").iterdir()).read_text())
    assert "contents" in converted
    (tmp_path / "kept" / "x.json").write_text("{}")
    done = invoke("replay", str(tmp_path / "kept"), "--to", "google-generate-content")
    assert done.exit_code == 1
    assert "x: not a recorded request" in done.stdout
    assert invoke("replay", str(tmp_path / "kept"), "--to", "opena-chat").exit_code == 2
    assert "no recorded requests" in invoke("replay", os.devnull, "--to", CHAT).stderr
