"""Conversations that the gateway keeps for clients of the Responses API, with upstreams that keep none."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.conversations import ConversationItem
from openai.types.responses import Response, ResponseItem
from pydantic import TypeAdapter

import contentmodel
from contentmodel import ChatResponse
from contentmodel.gateway import ConfigError, GatewayConfig, create_app, read_config
from contentmodel.history import AsyncTurnStore, HistoryError, TurnStore
from contentmodel_conformance.server import Fault, LoopbackServer, Turn, say
from gateways import config_for, gateway
from providers import PROVIDERS

CLAUDE = "anthropic-messages"
TOOLS: Any = [{"type": "function", "name": "files.read", "parameters": {"type": "object", "properties": {}}}]
THINKING = {"type": "thinking", "thinking": "I need the file.", "signature": "EuYBCkQ="}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgB"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "files_read_de5d2e37", "input": {}}


def claude(*blocks: dict[str, Any], stop: str = "end_turn") -> ChatResponse:
    return contentmodel.adapter(CLAUDE).decode_response(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": PROVIDERS[CLAUDE].model,
            "content": list(blocks),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 5},
        }
    )


SIGNED = claude(THINKING, REDACTED, {"type": "text", "text": "Reading."}, CALL, stop="tool_use")


def storing(server: LoopbackServer, store: Path | str | None, api: str = CLAUDE) -> GatewayConfig:
    upstream = {"api": api, "base_url": server.base_url(api), "key": "none", "retries": 0}
    own = {} if store is None else {"store": str(store)}
    return read_config({**own, "upstreams": {"up": upstream}, "routes": [{"to": "up", "model": PROVIDERS[api].model}]})


class Running:
    """A gateway with its upstream and an official client."""

    def __init__(self, server: LoopbackServer, url: str, app: Any, store: Path) -> None:
        self.server, self.url, self.app, self.store = server, url, app, store
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-of-the-client", max_retries=0)

    def ask(self, text: Any, previous: str | None = None, **options: Any) -> Response:
        more = {} if previous is None else {"previous_response_id": previous}
        return self.client.responses.create(model="m", input=text, **more, **options)

    def stream(self, text: Any, **options: Any) -> Response:
        with self.client.responses.stream(model="m", input=text, **options) as events:
            names = {event.response.id for event in events if hasattr(event, "response")}
            answer = events.get_final_response()
        assert names == {answer.id}
        return answer

    @property
    def sent(self) -> list[Any]:
        """The messages of the last request to the upstream."""
        return self.server.requests[-1].payload["messages"]

    @property
    def report(self) -> Any:
        return list(self.app.state.reports._reports.values())[-1]

    def statuses(self) -> list[str]:
        """Return the statuses of all stored turns."""
        with TurnStore.open(self.store) as store:
            return [turn.status for chat in store.conversations() for turn in store.turns(chat.id)]


@contextmanager
def running(tmp_path: Path, *script: Any, **options: Any) -> Iterator[Running]:
    store = tmp_path / "kept.db"
    with LoopbackServer(list(script), **options) as server, gateway(storing(server, store)) as (url, app):
        yield Running(server, url, app, store)


def texts(sent: list[Any]) -> list[str]:
    """Return the texts of a request to the upstream."""
    return [part["text"] for message in sent for part in message["content"] if part["type"] == "text"]


# -- without a store ---------------------------------------------------------------------------------------------------

REFUSED = [
    ({"previous_response_id": "resp_1"}, "previous_response_not_found", "previous_response_id", "`store`"),
    ({"conversation": "conv_1"}, None, "conversation", "`store`"),
    ({"conversation": {"id": "conv_1"}}, None, "conversation", "`store`"),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, None, "input", "`store`"),
    ({"prompt": {"id": "pmpt_1"}}, None, "prompt", "stored prompts"),
    ({"background": True}, None, "background", "in the background"),
]


@pytest.mark.parametrize("upstream", [CLAUDE, "openai-chat", "google-generate-content"])
@pytest.mark.parametrize(("fields", "code", "parameter", "words"), REFUSED)
def test_gateway_without_store_refuses_references(
    fields: Any, code: str | None, parameter: str, words: str, upstream: str
) -> None:
    with LoopbackServer([say("x")]) as server, gateway(storing(server, None, upstream)) as (url, _):
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-of-the-client", max_retries=0)
        with pytest.raises(openai.BadRequestError) as raised:
            client.responses.create(**{"model": "m", "input": "Hi", **fields})
        assert server.requests == []
    assert (raised.value.code, raised.value.param) == (code, parameter)
    assert words in str(raised.value)


@pytest.mark.parametrize("stream", [False, True])
def test_gateway_without_store_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    monkeypatch.chdir(tmp_path)
    with LoopbackServer([say("x")], repeat=True) as server, gateway(storing(server, None)) as (url, _):
        runs = Running(server, url, None, tmp_path)
        answer = runs.stream("Hi") if stream else runs.ask("Hi", store=True)
        assert answer.output_text == "x"
        assert not answer.id.startswith("resp_")
        assert httpx2.get(f"{url}/v1/responses/{answer.id}").status_code == 404
    assert os.listdir(tmp_path) == []


def test_upstream_of_the_same_api_gets_references_unchanged(tmp_path: Path) -> None:
    api = "openai-responses"
    upstream = LoopbackServer([say("x")], repeat=True)
    with upstream as server, gateway(storing(server, tmp_path / "kept.db", api)) as (url, _):
        for fields in ({"previous_response_id": "resp_1"}, {"conversation": "conv_1"}, {"background": True}):
            body = {"model": PROVIDERS[api].model, "input": "Hi", **fields}
            httpx2.post(f"{url}/v1/responses", json=body)
            assert server.requests[-1].payload == body
    with TurnStore.open(tmp_path / "kept.db") as store:
        assert store.conversations() == []


# -- chains of answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_signed_thinking_of_a_kept_answer_is_sent_back_unchanged(tmp_path: Path, stream: bool) -> None:
    with running(tmp_path, SIGNED, say("Done."), say("Bye.")) as runs:
        first = (runs.stream if stream else runs.ask)("Read it.", tools=TOOLS)
        call = first.output[-1]
        assert call.type == "function_call"
        assert (call.name, call.call_id) == ("files.read", "toolu_1")
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "text"}
        second = runs.ask([result], first.id, tools=TOOLS)
        answer = {"role": "assistant", "content": [THINKING, REDACTED, {"type": "text", "text": "Reading."}, CALL]}
        assert runs.sent[0]["content"] == [{"type": "text", "text": "Read it."}]
        assert runs.sent[1] == answer
        assert runs.sent[2]["content"][0]["tool_use_id"] == "toolu_1"
        runs.ask("Thanks.", second.id, tools=TOOLS)
        assert runs.sent[1] == answer
        assert texts(runs.sent) == ["Read it.", "Reading.", "Done.", "Thanks."]
        assert runs.server.check() == []
        assert second.previous_response_id == first.id


@pytest.mark.slow
def test_chain_survives_a_restart_of_the_gateway(tmp_path: Path) -> None:
    with running(tmp_path, SIGNED) as runs:
        first = runs.ask("Read it.", tools=TOOLS)
    with running(tmp_path, say("Done.")) as runs:
        runs.ask("Go on.", first.id, tools=TOOLS)
        assert runs.sent[1]["content"][0] == THINKING


def test_two_requests_may_follow_the_same_answer(tmp_path: Path) -> None:
    with running(tmp_path, *map(say, "abcd")) as runs:
        first = runs.ask("1")
        left, right = runs.ask("2", first.id), runs.ask("3", first.id)
        runs.ask("4", left.id)
        assert texts(runs.sent) == ["1", "a", "2", "b", "4"]
        assert right.output_text == "c"


@pytest.mark.slow
def test_parallel_requests_on_one_chain_are_all_kept(tmp_path: Path) -> None:
    with running(tmp_path, say("a"), repeat=True) as runs:
        first = runs.ask("1")
        answers: list[Response] = []
        threads = [threading.Thread(target=lambda: answers.append(runs.ask("2", first.id))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({answer.id for answer in answers}) == 8
        for answer in answers:
            runs.ask("3", answer.id)
            assert texts(runs.sent) == ["1", "a", "2", "a", "3"]


def test_instructions_and_tools_are_not_inherited(tmp_path: Path) -> None:
    with running(tmp_path, say("a"), say("b")) as runs:
        first = runs.ask("1", instructions="Be brief.", tools=TOOLS)
        runs.ask("2", first.id)
        payload = runs.server.requests[-1].payload
    assert "system" not in payload
    assert "tools" not in payload


def test_answer_with_store_false_is_not_kept(tmp_path: Path) -> None:
    with running(tmp_path, say("a"), say("b")) as runs:
        first = runs.ask("1")
        second = runs.ask("2", first.id, store=False)
        assert texts(runs.sent) == ["1", "a", "2"]
        with pytest.raises(openai.BadRequestError) as raised:
            runs.ask("3", second.id)
        assert raised.value.code == "previous_response_not_found"
        assert len(runs.statuses()) == 2


def test_count_of_tokens_includes_the_chain(tmp_path: Path) -> None:
    with running(tmp_path, say("a" * 4000), repeat=True) as runs:
        first = runs.ask("1")
        body = {"model": "m", "input": "2", "previous_response_id": first.id}
        unknown = {**body, "previous_response_id": "resp_1"}
        assert httpx2.post(f"{runs.url}/v1/responses/input_tokens", json=unknown).status_code == 400
        count = httpx2.post(f"{runs.url}/v1/responses/input_tokens", json=body).json()["input_tokens"]
        assert count > 900


def test_losses_of_kept_messages_have_paths_of_the_reference(tmp_path: Path) -> None:
    image: Any = {"type": "input_image", "image_url": "https://a.example/a.png", "detail": "high"}
    message: Any = {"role": "user", "content": [{"type": "input_text", "text": "Look."}, image]}
    with running(tmp_path, say("a"), say("b")) as runs:
        first = runs.ask([message])
        assert "$.input[0].content[1].detail" in {loss.path for loss in runs.report.request}
        runs.ask([message], first.id)
        paths = {loss.path for loss in runs.report.request}
    assert "$.input[0].content[1].detail" in paths
    assert any(path.startswith("$.previous_response_id.messages[0].contents[1]") for path in paths)
    assert not any(path.startswith(("$.messages", "$.store")) for path in paths)


# -- items -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_item_references_are_replaced_by_kept_items(tmp_path: Path, stream: bool) -> None:
    with running(tmp_path, SIGNED, say("Done."), say("Text alone.")) as runs:
        first = (runs.stream if stream else runs.ask)("Read it.", tools=TOOLS)
        references: Any = [{"type": "item_reference", "id": item.id} for item in first.output]
        result: Any = {"type": "function_call_output", "call_id": "toolu_1", "output": "text"}
        runs.ask([{"role": "user", "content": "Read it."}, *references, result], tools=TOOLS)
        assert runs.sent[1]["content"] == [THINKING, REDACTED, {"type": "text", "text": "Reading."}, CALL]
        runs.ask([references[0], {"role": "user", "content": "And?"}], tools=TOOLS)
        assert texts(runs.sent) == ["Reading.", "And?"]


@pytest.mark.parametrize("name", ["msg_1", f"msg_{'0' * 48}", "rs_" + "f" * 48])
def test_unknown_item_reference_is_refused(tmp_path: Path, name: str) -> None:
    refused = pytest.raises(openai.BadRequestError, match=f"Item with id '{name}' not found")
    with running(tmp_path, say("a")) as runs, refused:
        runs.ask([{"type": "item_reference", "id": name}])


def test_kept_answer_and_its_input_can_be_read(tmp_path: Path) -> None:
    with running(tmp_path, SIGNED, say("Done.")) as runs:
        first = runs.ask("Read it.", tools=TOOLS, metadata={"a": "b"})
        assert runs.client.responses.retrieve(first.id) == first
        assert first.metadata == {"a": "b"}
        result: Any = {"type": "function_call_output", "call_id": "toolu_1", "output": "text"}
        second = runs.ask([result, {"role": "user", "content": "And?"}], first.id, tools=TOOLS)
        page = httpx2.get(f"{runs.url}/v1/responses/{second.id}/input_items").json()
        assert [item["type"] for item in page["data"]] == ["message", "function_call_output"]
        for item in page["data"]:
            TypeAdapter(ResponseItem).validate_python(item)
        items = runs.client.responses.input_items.list(second.id, order="asc", limit=1)
        assert [item.type for item in items] == ["function_call_output", "message"]
        for limit in ("0", "101", "x", "9" * 5_000):
            refused = httpx2.get(f"{runs.url}/v1/responses/{second.id}/input_items", params={"limit": limit})
            assert (refused.status_code, refused.json()["error"]["param"]) == (400, "limit")


def test_deleted_answer_can_be_neither_read_nor_continued(tmp_path: Path) -> None:
    with running(tmp_path, *map(say, "abc")) as runs:
        first = runs.ask("1")
        second = runs.ask("2", first.id)
        runs.client.responses.delete(first.id)
        for call in (lambda: runs.client.responses.retrieve(first.id), lambda: runs.ask("3", first.id)):
            with pytest.raises(openai.APIStatusError):
                call()
        runs.ask("3", second.id)
        assert texts(runs.sent) == ["1", "a", "2", "b", "3"]


def test_text_of_deleted_answers_is_deleted_with_the_last_one(tmp_path: Path) -> None:
    with running(tmp_path, *map(say, "abc")) as runs:
        first = runs.ask("1")
        second = runs.ask("2", first.id)
        other = runs.ask("3", first.id)
        for answer in (first, second):
            runs.client.responses.delete(answer.id)
        assert len(runs.statuses()) == 4
        runs.client.responses.delete(other.id)
        assert runs.statuses() == []
        with TurnStore.open(runs.store) as store:
            assert store.conversations() == []


# -- conversations -----------------------------------------------------------------------------------------------------


def test_conversation_collects_the_items_of_its_answers(tmp_path: Path) -> None:
    with running(tmp_path, SIGNED, say("Done.")) as runs:
        chats = runs.client.conversations
        chat = chats.create(metadata={"a": "b"}, items=[{"role": "user", "content": "Listen."}])
        assert chats.retrieve(chat.id) == chat
        assert chat.metadata == {"a": "b"}
        first = runs.ask("Read it.", conversation=chat.id, tools=TOOLS)
        assert first.conversation is not None
        assert first.conversation.id == chat.id
        result: Any = {"type": "function_call_output", "call_id": "toolu_1", "output": "text"}
        runs.ask([result], conversation=chat.id, tools=TOOLS)
        assert texts(runs.sent) == ["Listen.", "Read it.", "Reading."]
        assert THINKING in runs.sent[2]["content"]
        page = httpx2.get(f"{runs.url}/v1/conversations/{chat.id}/items?order=asc").json()
        for item in page["data"]:
            TypeAdapter(ConversationItem).validate_python(item)
        kinds = ["message", "message", "message", "function_call", "function_call_output", "message"]
        assert [item["type"] for item in page["data"]] == kinds
        assert page["data"][2]["id"] == first.output[0].id
        assert chats.items.retrieve(page["data"][0]["id"], conversation_id=chat.id).id == page["data"][0]["id"]
        chats.items.create(chat.id, items=[{"role": "user", "content": "More."}])
        assert len(list(chats.items.list(chat.id))) == 7
        assert chats.update(chat.id, metadata={"c": "d"}).metadata == {"c": "d"}
        chats.delete(chat.id)
        with pytest.raises(openai.NotFoundError):
            chats.retrieve(chat.id)
        assert runs.statuses() == []


def test_unknown_conversation_is_not_found(tmp_path: Path) -> None:
    with running(tmp_path, say("a")) as runs:
        first = runs.ask("1")
        with TurnStore.open(runs.store) as store:
            (chain,) = store.conversations()
        assert first.id.startswith("resp_")
        for name in ("conv_1", chain.id):
            with pytest.raises(openai.NotFoundError):
                runs.ask("2", conversation=name)
            with pytest.raises(openai.NotFoundError):
                runs.client.conversations.retrieve(name)
        with pytest.raises(openai.NotFoundError):
            runs.client.conversations.delete(chain.id)


@pytest.mark.slow
def test_second_request_on_a_busy_conversation_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, Turn(say("a"), fault=Fault(stall=1.0)), say("b")) as runs:
        chat = runs.client.conversations.create()
        thread = threading.Thread(target=lambda: runs.ask("1", conversation=chat.id))
        thread.start()
        while not runs.server.requests:
            pass
        with pytest.raises(openai.ConflictError) as raised:
            runs.ask("2", conversation=chat.id)
        thread.join()
        assert raised.value.code == "conversation_locked"
        runs.ask("3", conversation=chat.id)
        assert texts(runs.sent) == ["1", "a", "3"]


def test_answer_that_follows_one_of_a_conversation_does_not_change_the_conversation(tmp_path: Path) -> None:
    with running(tmp_path, *map(say, "abc")) as runs:
        chat = runs.client.conversations.create()
        first = runs.ask("1", conversation=chat.id)
        other = runs.ask("2", first.id)
        assert len(list(runs.client.conversations.items.list(chat.id))) == 2
        assert len(list(runs.client.responses.input_items.list(other.id))) == 1
        runs.ask("3", other.id)
        assert texts(runs.sent) == ["1", "a", "2", "b", "3"]


# -- failures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("conversation", [False, True])
def test_request_that_the_upstream_refuses_leaves_nothing_in_the_store(tmp_path: Path, conversation: bool) -> None:
    with running(tmp_path, say("a"), Turn(say("b"), fault=Fault(status=500))) as runs:
        first = None if conversation else runs.ask("1").id
        chat: dict[str, Any] = {"conversation": runs.client.conversations.create().id} if conversation else {}
        if conversation:
            runs.ask("1", **chat)
        kept = runs.statuses()
        with pytest.raises(openai.InternalServerError):
            runs.ask("2", first, **chat)
        assert runs.statuses() == kept
        assert runs.ask("2", first, **chat).output_text == "b"
        assert texts(runs.sent) == ["1", "a", "2"]


def test_first_request_that_the_upstream_refuses_leaves_no_conversation(tmp_path: Path) -> None:
    with running(tmp_path, Turn(say("b"), fault=Fault(status=500))) as runs:
        with pytest.raises(openai.InternalServerError):
            runs.ask("2")
        with TurnStore.open(runs.store) as store:
            assert store.conversations() == []


def test_stream_that_breaks_is_stored_as_failed(tmp_path: Path) -> None:
    answer = claude({"type": "text", "text": "One."}, {"type": "text", "text": "Two, which is long."})
    with running(tmp_path, Turn(answer, fault=Fault(truncate=True)), say("b")) as runs:
        with runs.client.responses.stream(model="m", input="1") as events:
            seen = list(events)
        name = seen[0].response.id  # type: ignore[union-attr]
        assert seen[-1].type == "error"
        assert runs.statuses() == ["complete", "failed"]
        assert runs.client.responses.retrieve(name).status == "failed"
        runs.ask("2", name)
        assert texts(runs.sent)[0] == "1"


def test_answer_is_stored_as_interrupted_if_the_client_leaves(tmp_path: Path) -> None:
    answer = claude({"type": "text", "text": "One."}, {"type": "text", "text": "Two." * 50})
    with running(tmp_path, Turn(answer, fault=Fault(stall=5.0, stall_after=700)), say("b")) as runs:
        with runs.client.responses.stream(model="m", input="1") as events:
            name = next(iter(events)).response.id  # type: ignore[union-attr]
        for _ in range(100):
            if runs.statuses() == ["complete", "interrupted"]:
                break
            threading.Event().wait(0.05)
        assert runs.statuses() == ["complete", "interrupted"]
        assert runs.client.responses.retrieve(name).status == "cancelled"
        runs.ask("2", name)
        assert texts(runs.sent)[0] == "1"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("method", ["add_messages", "begin_turn", "put_block", "end_turn"])
def test_client_gets_the_answer_if_the_store_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise HistoryError("the database failed: disk full")

    with running(tmp_path, say("a"), repeat=True) as runs:
        with monkeypatch.context() as patch:
            patch.setattr(AsyncTurnStore, method, fail)
            answer = (runs.stream if stream else runs.ask)("1")
        assert answer.output_text == "a"
        assert runs.report.notes == ["the answer is not stored: HistoryError"]
        assert "disk full" in caplog.text
        runs.ask("2")


def test_client_gets_a_server_error_without_paths_if_the_store_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise HistoryError(f"{tmp_path}: the database failed")

    with running(tmp_path, say("a"), repeat=True) as runs:
        first = runs.ask("1")
        monkeypatch.setattr(AsyncTurnStore, "load", fail)
        with pytest.raises(openai.InternalServerError, match="cannot read its store") as raised:
            runs.ask("2", first.id)
        assert str(tmp_path) not in str(raised.value)


# -- configuration -----------------------------------------------------------------------------------------------------


def test_create_app_refuses_a_store_that_is_not_a_supported_database() -> None:
    config = config_for(CLAUDE, "http://localhost")
    with pytest.raises(ConfigError, match="store: a store needs SQLite or PostgreSQL"):
        create_app(GatewayConfig(upstreams=config.upstreams, routes=config.routes, store="mysql://localhost/a"))


@pytest.mark.slow
def test_missing_extra_of_the_store_is_reported_at_start() -> None:
    program = """
import sys
sys.modules["sqlalchemy"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "sqlalchemy" else find(name, *rest)
from contentmodel.gateway import create_app, read_config
value = {"upstreams": {"a": {"api": "openai-chat", "key": "none"}}, "routes": [{"to": "a"}]}
create_app(read_config(value))
print("created")
create_app(read_config({**value, "store": "kept.db"}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "contentmodel[history]" in done.stderr
    assert done.stdout == "created\n"


def test_gateway_requires_its_key_for_kept_answers(tmp_path: Path) -> None:
    with LoopbackServer([say("a")]) as server:
        config = storing(server, tmp_path / "kept.db")
        keyed = GatewayConfig(upstreams=config.upstreams, routes=config.routes, store=config.store, key="env:KEY")
        with gateway(keyed, environment={"KEY": "secret"}) as (url, _):
            client = openai.OpenAI(base_url=f"{url}/v1", api_key="secret", max_retries=0)
            answer = client.responses.create(model="m", input="Hi")
            assert client.responses.retrieve(answer.id).output_text == "a"
            wrong = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-of-the-client", max_retries=0)
            with pytest.raises(openai.AuthenticationError):
                wrong.responses.retrieve(answer.id)
            with pytest.raises(openai.AuthenticationError):
                wrong.conversations.create()


@pytest.mark.parametrize("stream", [False, True])
def test_answer_of_the_second_upstream_is_kept_if_the_first_one_fails(tmp_path: Path, stream: bool) -> None:
    store = tmp_path / "kept.db"
    broken = Turn(say("a"), fault=Fault(drop_after=20, times=9))
    with LoopbackServer([broken], repeat=True) as first, LoopbackServer([say("b"), say("c")]) as second:
        up = {
            name: {"api": CLAUDE, "base_url": server.base_url(CLAUDE), "key": "none", "retries": 0}
            for name, server in (("one", first), ("two", second))
        }
        routes = [{"to": ["one", "two"], "model": PROVIDERS[CLAUDE].model}]
        config = read_config({"store": str(store), "upstreams": up, "routes": routes})
        with gateway(config) as (url, app):
            runs = Running(second, url, app, store)
            answer = (runs.stream if stream else runs.ask)("1")
            assert answer.output_text == "b"
            assert runs.statuses() == ["complete", "complete"]
            runs.ask("2", answer.id)
            assert texts(runs.sent) == ["1", "b", "2"]


def test_chain_is_kept_in_postgresql(database: str) -> None:
    with LoopbackServer([SIGNED, say("Done.")]) as server, gateway(storing(server, database)) as (url, app):
        runs = Running(server, url, app, Path())
        first = runs.stream("Read it.", tools=TOOLS)
        runs.ask("Go on.", first.id, tools=TOOLS)
        assert runs.sent[1]["content"][0] == THINKING


def test_hosted_blocks_are_sent_back_unchanged_beside_a_renamed_tool(tmp_path: Path) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
    page = {"type": "web_search_result", "url": "https://a.example", "title": "t", "encrypted_content": "e"}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{**page, "page_age": None}]}
    blocks = [THINKING, search, found, {"type": "text", "text": "Found."}, CALL]
    with running(tmp_path, claude(*blocks, stop="tool_use"), say("Done.")) as runs:
        first = runs.ask("Search.", tools=[*TOOLS, {"type": "web_search"}])
        runs.ask("Go on.", first.id, tools=[*TOOLS, {"type": "web_search"}])
        assert runs.sent[1]["content"] == blocks
