"""Routes of a gateway: models, hosted tools, refused losses, lists of models, counts of tokens, and the command."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from typing import Any

import anthropic
import httpx2
import openai
import pytest
import typer.testing
from google import genai

from contentmodel.cli.app import app as cli
from contentmodel.gateway import read_config
from contentmodel_conformance.server import LoopbackServer, say
from gateways import config_for, gateway

ANTHROPIC, CHAT, RESPONSES, GOOGLE = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "google-generate-content",
)
ASKED = [{"role": "user", "content": "?"}]
SEARCH = {"type": "web_search"}


def sent(
    target: str, payload: dict[str, Any], path: str = "/v1/responses", **route: Any
) -> tuple[httpx2.Response, Any]:
    """Send a request through a gateway with one route. Return the answer, and the payload that the upstream got."""
    with LoopbackServer([say("Fine.")], repeat=True) as server:
        with gateway(config_for(target, server.base_url(target), **route)) as (url, _):
            answer = httpx2.post(f"{url}{path}", json=payload, trust_env=False)
        return answer, server.requests[-1].payload if server.requests else None


# -- models ------------------------------------------------------------------------------------------------------------


def test_first_route_that_matches_the_model_applies() -> None:
    with LoopbackServer([say("Fine.")], repeat=True) as server:
        upstream = {"api": CHAT, "base_url": server.base_url(CHAT), "key": "none"}
        routes = [
            {"models": ["small-*"], "to": "up", "model": "mini"},
            {"models": ["same"], "to": "up"},
            {"models": ["*"], "to": "up", "model": "large"},
        ]
        with gateway(read_config({"upstreams": {"up": upstream}, "routes": routes})) as (url, _):
            for model in ("small-1", "same", "any"):
                payload = {"model": model, "max_tokens": 9, "messages": ASKED}
                assert httpx2.post(f"{url}/v1/messages", json=payload, trust_env=False).status_code == 200
        assert [request.payload["model"] for request in server.requests] == ["mini", "same", "large"]


def test_model_without_a_route_is_not_found() -> None:
    with gateway(config_for(CHAT, "http://127.0.0.1:9/v1", models=["gpt-*"])) as (url, _):
        client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        with pytest.raises(anthropic.NotFoundError, match=r"no route for the model 'claude-x': it has gpt-\*"):
            client.messages.create(model="claude-x", max_tokens=9, messages=ASKED)


def test_official_clients_list_and_retrieve_the_models() -> None:
    config = config_for(CHAT, "http://127.0.0.1:9/v1", models=["a", "b-*"], model="b-1")
    with gateway(config) as (url, _):
        claude = anthropic.Anthropic(base_url=url, api_key="none")
        gpt = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
        gemini = genai.Client(api_key="none", http_options={"base_url": url})
        assert [model.id for model in claude.models.list()] == ["a", "b-1"]
        assert [model.id for model in gpt.models.list()] == ["a", "b-1"]
        assert [model.name for model in gemini.models.list()] == ["models/a", "models/b-1"]
        assert claude.models.retrieve("b-7").id == "b-7"
        assert gpt.models.retrieve("b-7").id == "b-7"
        assert gemini.models.get(model="b-7").name == "models/b-7"
        with pytest.raises(openai.NotFoundError):
            gpt.models.retrieve("c")


# -- what the upstream's API lacks -------------------------------------------------------------------------------------


def test_request_to_an_api_that_requires_an_output_limit_gets_one() -> None:
    _, payload = sent(ANTHROPIC, {"model": "m", "input": "?"})
    assert payload["max_tokens"] == 32000
    _, payload = sent(ANTHROPIC, {"model": "m", "input": "?"}, policies={"output_limit": "7"})
    assert payload["max_tokens"] == 7
    _, payload = sent(ANTHROPIC, {"model": "m", "input": "?", "max_output_tokens": 5})
    assert payload["max_tokens"] == 5


def test_request_to_the_responses_api_has_store_false_unless_the_client_sets_it() -> None:
    _, payload = sent(RESPONSES, {"model": "m", "messages": ASKED}, "/v1/chat/completions")
    assert payload["store"] is False
    _, payload = sent(RESPONSES, {"model": "m", "messages": ASKED, "store": True}, "/v1/chat/completions")
    assert payload["store"] is True


@pytest.mark.parametrize("choice", ["encode", "drop"])
def test_hosted_tool_that_the_upstream_lacks_is_left_out_and_reported(choice: str) -> None:
    answer, payload = sent(CHAT, {"model": "m", "input": "?", "tools": [SEARCH]}, hosted_tools=choice)
    assert "tools" not in payload
    assert "no-block=1" in answer.headers["contentmodel-losses"]


def test_hosted_tool_that_the_upstream_lacks_is_offered_as_a_function() -> None:
    named = {"type": "function", "name": "web_search", "parameters": {"type": "object", "properties": {}}}
    _, payload = sent(CHAT, {"model": "m", "input": "?", "tools": [SEARCH, named]}, hosted_tools="function")
    functions = [tool["function"] for tool in payload["tools"]]
    assert [function["name"] for function in functions] == ["web_search_hosted", "web_search"]
    assert functions[0]["parameters"]["required"] == ["query"]


@pytest.mark.parametrize("choice", ["encode", "function", "refuse"])
def test_hosted_tool_that_the_upstream_has_is_used(choice: str) -> None:
    answer, payload = sent(ANTHROPIC, {"model": "m", "input": "?", "tools": [SEARCH]}, hosted_tools=choice)
    assert answer.status_code == 200
    assert payload["tools"][0]["name"] == "web_search"
    assert payload["tools"][0]["type"].startswith("web_search_")


def test_hosted_tool_that_the_upstream_lacks_is_refused() -> None:
    answer, payload = sent(CHAT, {"model": "m", "input": "?", "tools": [SEARCH]}, hosted_tools="refuse")
    assert (answer.status_code, payload) == (400, None)
    assert "web_search" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("on_loss", "status"),
    [("refuse", 400), ({"settings": "refuse"}, 400), ({"media": "refuse"}, 200), ("report", 200)],
)
def test_on_loss_refuses_losses_by_family(on_loss: Any, status: int) -> None:
    answer, payload = sent(CHAT, {"model": "m", "input": "?", "truncation": "auto", "user": "u"}, on_loss="report")
    assert answer.status_code == 200
    asked = {"model": "m", "max_tokens": 9, "messages": ASKED, "top_k": 4}
    answer, payload = sent(CHAT, asked, "/v1/messages", on_loss=on_loss)
    assert answer.status_code == status
    assert (payload is None) is (status == 400)
    if status == 400:
        assert "at $.top_k: gpt-5.2 accepts no top k" in answer.json()["error"]["message"]


# -- counts of tokens --------------------------------------------------------------------------------------------------


class Counter:
    """An ASGI app that answers each request with a count of tokens, in the form of two APIs at once."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.requests: list[tuple[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive())["body"]
        self.requests.append((scope["path"], json.loads(body)))
        answer = json.dumps({"input_tokens": 17, "totalTokens": 17}).encode()
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": answer})


def counted(target: str, path: str, payload: Any, counter: Counter) -> httpx2.Response:
    """Send a request to count tokens through a gateway, and return the answer."""
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=counter))
    with gateway(config_for(target, "http://upstream.example"), client=client) as (url, _):
        return httpx2.post(f"{url}{path}", json=payload, trust_env=False)


CLAUDE = {"model": "m", "messages": ASKED, "system": "Be brief."}


@pytest.mark.parametrize(
    ("target", "path", "how"),
    [
        (ANTHROPIC, "/v1/messages/count_tokens", "upstream"),
        (RESPONSES, "/responses/input_tokens", "converted"),
        (GOOGLE, "/v1beta/models/gemini-3-pro-preview:countTokens", "converted"),
    ],
)
def test_tokens_are_counted_by_the_upstream(target: str, path: str, how: str) -> None:
    counter = Counter()
    answer = counted(target, "/v1/messages/count_tokens", CLAUDE, counter)
    assert answer.json() == {"input_tokens": 17}
    assert answer.headers["contentmodel-counted"] == how
    ((asked, payload),) = counter.requests
    assert asked == path
    assert "Be brief." in json.dumps(payload)
    assert not {"max_tokens", "stream", "store"} & payload.keys()


@pytest.mark.parametrize(("target", "status"), [(CHAT, 200), (RESPONSES, 404), (RESPONSES, 503)])
def test_tokens_are_estimated_if_the_upstream_cannot_count(target: str, status: int) -> None:
    answer = counted(target, "/v1/messages/count_tokens", CLAUDE, Counter(status))
    assert answer.json()["input_tokens"] > 3
    assert answer.headers["contentmodel-counted"] == "estimated"


def test_google_client_counts_tokens_with_an_upstream_of_another_api() -> None:
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=Counter()))
    with gateway(config_for(ANTHROPIC, "http://upstream.example"), client=client) as (url, _):
        gemini = genai.Client(api_key="none", http_options={"base_url": url})
        assert gemini.models.count_tokens(model="m", contents="How many?").total_tokens == 17


# -- the command -------------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-c", "from contentmodel.cli import main; main()", "gateway"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
        return port


@pytest.mark.slow
def test_command_serves_until_it_is_interrupted() -> None:
    with LoopbackServer([say("Fine.")], repeat=True) as server:
        port = free_port()
        options = ["--to", CHAT, "--base-url", server.base_url(CHAT), "--key", "none", "--model", "m"]
        process = subprocess.Popen([*COMMAND, *options, "--port", str(port)], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert process.stderr.readline() == f"listening on http://127.0.0.1:{port}\n"
        client = anthropic.Anthropic(base_url=f"http://127.0.0.1:{port}", api_key="none", max_retries=10)
        answer = client.messages.create(model="any", max_tokens=9, messages=ASKED)
        assert answer.content[0].type == "text"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert json.loads(errors.splitlines()[-1])["status"] == 200
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], ""),
        (["serve"], "expected a configuration file or --to API"),
        (["--to", "openai-caht"], "unknown API 'openai-caht'"),
        (["--to", CHAT, "--key", "sk-1234"], "--key: expected env:NAME or client or none"),
        (["--to", CHAT], "--key: the environment variable OPENAI_API_KEY is not set"),
        (["--to", CHAT, "--key", "none", "--on-loss", "medai=refuse"], "--on-loss: unknown family 'medai'"),
        (["--to", CHAT, "--key", "none", "--hosted-tools", "no"], "--hosted-tools: invalid enum value 'no'"),
        (["--to", CHAT, "--key", "none", "--host", "0.0.0.0"], "key: required with host '0.0.0.0'"),
        (["missing.toml"], "missing.toml: No such file"),
        (["a.toml", "--to", CHAT], "exclude each other"),
    ],
)
def test_command_line_with_a_fault_is_refused(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = typer.testing.CliRunner().invoke(cli, ["gateway", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert "sk-1234" not in done.stderr
