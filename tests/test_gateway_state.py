"""Reasoning of one API that clients of another one send back: each client, each issuer, whole and streamed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contentmodel import ChatRequest, ChatResponse, FunctionTool, Loss, adapter, fold_stream, user
from contentmodel.content.reasoning import ReasoningContent
from contentmodel.content.text import TextContent
from contentmodel.gateway import ConfigError, read_config
from contentmodel.gateway.config import http_apis
from contentmodel.gateway.front import Front, read_request
from contentmodel.gateway.lanes import LEARNING
from contentmodel.gateway.report import Report
from contentmodel.gateway.state import Envelope, State, StateKeys, is_envelope
from contentmodel.gateway.translation import Answer, Outgoing, Request
from contentmodel.gateway.upstream import Sender
from contentmodel.message import ChatMessage, assistant, tool_result
from contentmodel.unfolding import unfold
from gateways import config_for, gateway
from providers import PROVIDERS
from raw_upstreams import RawUpstream, answer

APIS = list(PROVIDERS)
SECRET = b"k" * 32
KEYS = StateKeys([SECRET], 256 * 1024)
TOOLS: list[Any] = [FunctionTool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})]
CALL = {"name": "look", "arguments": '{"at":"x"}'}
MODELS = {
    "openai-chat": "deepseek-reasoner",
    "openai-responses": "gpt-5.2",
    "anthropic-messages": "claude-opus-5",
    "google-generate-content": "gemini-3-pro",
    "google-interactions": "gemini-3-pro",
    "mistral-chat": "magistral-medium",
    "ollama-chat": "qwen3",
    "cohere-chat": "command-a-reasoning",
    "bedrock-converse": "anthropic.claude-opus-5",
}
FIRST, SECOND, OPAQUE, OTHER = "First I look.", "Then I think.", "T3BhcXVlIHN0YXRl", "T3RoZXIgc3RhdGU="
CODES = ("state-invalid", "state-of-other-account", "no-carrier", "foreign-reasoning", "opaque-state", "as-text")
MARKS = (FIRST, SECOND, OPAQUE, OTHER)


def chat(message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an answer with a call in the form of Chat Completions."""
    calls = [{"id": "abcdefghi", "type": "function", "function": CALL}]
    choice: dict[str, Any] = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", **message}}
    choice["message"]["tool_calls"] = calls
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **fields}


ANSWERS: dict[str, dict[str, Any]] = {
    "openai-chat": chat({"content": None, "reasoning_content": FIRST}),
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.2",
        "status": "completed",
        "output": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": FIRST}, {"type": "summary_text", "text": SECOND}],
                "encrypted_content": OPAQUE,
            },
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **CALL},
        ],
    },
    "anthropic-messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": [
            {"type": "thinking", "thinking": FIRST, "signature": OPAQUE},
            {"type": "redacted_thinking", "data": OTHER},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "x"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "google-generate-content": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": FIRST, "thought": True},
                        {"functionCall": {"name": "look", "args": {"at": "x"}}, "thoughtSignature": OPAQUE},
                    ],
                },
                "finishReason": "STOP",
            }
        ],
        "modelVersion": "gemini-3-pro",
    },
    "google-interactions": {
        "id": "i1",
        "object": "interaction",
        "status": "requires_action",
        "model": "gemini-3-pro",
        "steps": [
            {"type": "thought", "summary": [{"type": "text", "text": FIRST}], "signature": OPAQUE},
            {"type": "function_call", "id": "c1", "name": "look", "arguments": {"at": "x"}},
        ],
    },
    "mistral-chat": chat(
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": FIRST}], "signature": OPAQUE}]},
        usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    ),
    "ollama-chat": {
        "model": "qwen3",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "",
            "thinking": FIRST,
            "tool_calls": [{"function": {"name": "look", "arguments": {"at": "x"}}}],
        },
        "done": True,
        "done_reason": "stop",
    },
    "cohere-chat": {
        "id": "x",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": FIRST}],
            "tool_calls": [{"id": "look_1", "type": "function", "function": CALL}],
        },
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": FIRST, "signature": OPAQUE}}},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "look", "input": {"at": "x"}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    },
}
"""An answer of each API: reasoning with its state, and a call."""

CARRIERS = [api for api in APIS if (http := http_apis()[api]).state is not None and http.state.kind is not None]
"""The APIs whose clients send an opaque field back."""
PAIRS = [(client, issuer) for client in CARRIERS for issuer in APIS if client != issuer]


class Talk:
    """A client of one API and an upstream of another one, without connections."""

    def __init__(
        self, client: str, issuer: str, *, keys: StateKeys | None = KEYS, account: str = "a", **route: Any
    ) -> None:
        upstreams = {"up": {"api": issuer, "key": "none", "base_url": f"http://127.0.0.1:1/{account}"}}
        config = read_config({"upstreams": upstreams, "routes": [{"to": "up", "model": MODELS[issuer], **route}]})
        https = http_apis()
        self.client, self.issuer, self._keys = client, issuer, keys
        self.front = Front(client, https[client])
        self.sender = Sender("up", config.upstreams["up"], https[issuer], adapter(issuer), None)
        self._route = config.routes[0].at(config.routes[0].targets[0], config.upstreams)
        self.losses: tuple[Loss, ...] = ()

    def ask(self, payload: Any, *, streams: bool = False) -> Outgoing:
        """Send a request, and return what the upstream gets."""
        http = self.front.http
        if http.stream is None and (streams or http.streams_by_default):
            payload = {**payload, "stream": streams}
        model = "m" if http.names_model_in_path else None
        method = streams and http.stream is not None
        body = json.dumps(http.body_of(payload)).encode()
        self.incoming = read_request(self.front, "/", {}, {}, body, path_model=model, stream_method=method)
        made = Request(self.incoming, self._route, self._keys).outgoing(self.sender)
        self.losses = made.losses
        return made

    def sent(self, messages: list[ChatMessage]) -> Any:
        """Return what the upstream gets of messages that the client has."""
        return json.loads(self.ask(as_sent(self.client, messages)).body)

    def answer(self, payload: Any, *, streams: bool = False) -> list[ChatMessage]:
        """Return the messages that a client reads of an answer of the upstream."""
        outgoing = self.ask(as_sent(self.client, [user("Look.")]), streams=streams)
        made = Answer(self.incoming, self.sender, outgoing, self._route.choices)
        if streams:
            converter, data = made.converter(), as_stream(self.issuer, payload)
            stream = b"".join(
                [*(converter.feed(data[at : at + 7]) for at in range(0, len(data), 7)), converter.close()]
            )
            self.losses = converter.losses
            return fold_stream(stream, self.client).messages
        report = Report(id="r", client_api=self.client, path="/", started=0)
        data = json.dumps(payload).encode()
        reply = made.repeated(data, report) or made.whole(*made.read(data), report)
        LEARNING.submit(int).result()
        self.losses = report.answer
        return adapter(self.client).decode_response(reply.body).messages  # type: ignore[arg-type]

    @property
    def codes(self) -> list[str]:
        """The codes of the losses of reasoning of the latest request or answer."""
        return [loss.code for loss in self.losses if loss.code in CODES]


def as_stream(api: str, payload: Any) -> bytes:
    """Return an answer as the stream of its own API."""
    encoder = adapter(api).stream_encoder()
    response: ChatResponse = adapter(api).decode_response(payload)
    return b"".join([*map(encoder.feed, unfold(response)), encoder.close()])


def as_sent(client: str, messages: list[ChatMessage]) -> Any:
    """Return the request of a client with these messages, and with a result for a call in the last one."""
    calls = messages[-1].tool_calls
    results = [tool_result(call, "seen") for call in calls]
    request = ChatRequest(model="m", messages=[*messages, *results], tools=TOOLS)
    return json.loads(json.dumps(adapter(client).encode_request(request).payload))


def texts_in(value: Any) -> Iterator[str]:
    """Yield the strings of a JSON value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(inner)


def marks(payload: Any) -> list[str]:
    """Return the texts and states of the reasoning in a payload, which has no envelope."""
    assert "cm1." not in json.dumps(payload)
    assert "Y20xL" not in json.dumps(payload)
    return [text for text in texts_in(payload) if text in MARKS]


def envelopes(messages: list[ChatMessage]) -> list[str]:
    """Return the envelopes that a client got."""
    states = [content.protected for message in messages for content in message.contents]
    return [state.data for state in states if state is not None and is_envelope(state.data)]


def test_every_api_has_an_answer_with_reasoning() -> None:
    assert set(ANSWERS) == set(MODELS) == set(APIS)
    assert len(CARRIERS) == 6


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "issuer"), PAIRS)
def test_reasoning_goes_back_to_its_issuer(client: str, issuer: str, streams: bool) -> None:
    talk = Talk(client, issuer)
    messages = talk.answer(ANSWERS[issuer], streams=streams)
    assert talk.codes == []
    assert [c.text for m in messages for c in m.contents if isinstance(c, ReasoningContent) and c.text]
    sent = talk.sent([user("Look."), *messages])
    assert marks(sent) == marks(ANSWERS[issuer])
    assert talk.codes == []


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "issuer"), PAIRS)
def test_upstream_gets_its_own_blocks_in_their_order(client: str, issuer: str, streams: bool) -> None:
    talk = Talk(client, issuer)
    messages = talk.answer(ANSWERS[issuer], streams=streams)
    shape = [type(content) for content in messages[-1].contents if not isinstance(content, ReasoningContent)]
    own = adapter(issuer).decode_response(ANSWERS[issuer]).messages
    assert shape == [type(content) for content in own[-1].contents if not isinstance(content, ReasoningContent)]
    got = adapter(issuer).decode_request({**json.loads(talk.ask(as_sent(client, [user("Look."), *messages])).body)})
    contents = [content for message in got.messages if message.role == "assistant" for content in message.contents]
    assert [(type(c), c.protected) for c in contents] == [(type(c), c.protected) for m in own for c in m.contents]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "issuer"), PAIRS)
def test_state_goes_to_no_other_account_and_no_other_api(client: str, issuer: str, streams: bool) -> None:
    messages = [user("Look."), *Talk(client, issuer).answer(ANSWERS[issuer], streams=streams)]
    for other in (Talk(client, issuer, account="b"), *(Talk(client, api) for api in APIS if api != issuer)):
        sent = other.sent(messages)
        states = [content.protected for message in messages for content in message.contents]
        if OPAQUE not in [state.data for state in states if state is not None]:
            assert {OPAQUE, OTHER}.isdisjoint(marks(sent))
            assert ("state-of-other-account" in other.codes) is (OPAQUE in texts_in(ANSWERS[issuer]))


@pytest.mark.parametrize("client", CARRIERS)
def test_session_whose_model_changes_and_changes_back_keeps_its_state(client: str) -> None:
    """The model in the middle is one of the client's own API: bytes would pass through, but for the envelope."""
    issuer = next(api for api in ("openai-responses", "anthropic-messages") if api != client)
    own = Talk(client, client, model="m")
    first = Talk(client, issuer)
    messages = [user("Look."), *first.answer(ANSWERS[issuer])]
    turn = [*messages, *(tool_result(call, "seen") for call in messages[-1].tool_calls)]
    outgoing = own.ask(as_sent(client, turn[:2]))
    assert outgoing.passes
    assert marks(json.loads(outgoing.body)) == []
    assert "state-of-other-account" in own.codes
    native = adapter(client).decode_response(ANSWERS[client]).messages
    middle = Talk(client, client, model="m").ask(as_sent(client, [*turn, *native]))
    assert OPAQUE in marks(json.loads(middle.body))
    again = first.sent([*turn, *native])
    wanted = [mark for mark in marks(ANSWERS[issuer]) if mark in (OPAQUE, OTHER)]
    assert [mark for mark in marks(again) if mark in (OPAQUE, OTHER)] == wanted


@pytest.mark.parametrize("client", CARRIERS)
def test_request_without_an_envelope_passes_as_bytes(client: str) -> None:
    talk = Talk(client, client, model="m")
    outgoing = talk.ask(as_sent(client, [user("Look."), *adapter(client).decode_response(ANSWERS[client]).messages]))
    assert outgoing.body == talk.incoming.body


@pytest.mark.parametrize("client", CARRIERS)
def test_escaped_envelope_does_not_pass_as_bytes(client: str) -> None:
    issuer = next(api for api in ("openai-responses", "anthropic-messages") if api != client)
    messages = [user("Look."), *Talk(client, issuer).answer(ANSWERS[issuer])]
    talk = Talk(client, client, model="m")
    talk.ask(as_sent(client, messages))
    body = talk.incoming.body
    for mark, escaped in ((b"cm1.", b"\\u0063m1."), (b"Y20xL", b"Y2\\u0030xL")):
        body = body.replace(mark, escaped)
    incoming = read_request(
        talk.front,
        "/",
        {},
        {},
        body,
        path_model="m" if talk.front.http.names_model_in_path else None,
        stream_method=False,
    )
    made = Request(incoming, talk._route, KEYS).outgoing(talk.sender)
    assert marks(json.loads(made.body)) == []


@pytest.mark.parametrize("empty", ["", None])
def test_template_of_answers_without_reasoning_does_not_hide_it(empty: str | None) -> None:
    talk = Talk("anthropic-messages", "openai-chat")
    for number in range(6):
        talk.answer(chat({"content": f"Text {number}.", "reasoning_content": empty}))
    messages = talk.answer(chat({"content": "Text.", "reasoning_content": FIRST}))
    assert messages[-1].reasoning == FIRST
    assert len(envelopes(messages)) == 1


# -- damage ------------------------------------------------------------------------------------------------------------


def envelope_of(client: str, issuer: str) -> tuple[list[ChatMessage], Any]:
    """Return the messages of a client, and its next request."""
    messages = [user("Look."), *Talk(client, issuer).answer(ANSWERS[issuer])]
    return messages, as_sent(client, messages)


@settings(deadline=None, max_examples=40)
@given(data=st.data())
@pytest.mark.parametrize("client", CARRIERS)
def test_changed_envelope_is_never_forwarded(client: str, data: st.DataObject) -> None:
    issuer = next(api for api in ("openai-responses", "anthropic-messages") if api != client)
    messages, payload = envelope_of(client, issuer)
    text = data.draw(st.sampled_from(envelopes(messages)))
    at = data.draw(st.integers(0, len(text) - 1))
    changed = data.draw(
        st.sampled_from([text[:at], text[at + 1 :], text[:at] + text[at + 1 :], text + "A"])
        | st.characters(codec="ascii").map(lambda one: text[:at] + one + text[at + 1 :])
    )
    body = json.loads(json.dumps(payload).replace(json.dumps(text), json.dumps(changed)))
    talk = Talk(client, issuer)
    sent = json.loads(talk.ask(body).body)
    if changed not in (text, text.rstrip("=")):
        others = [one for one in envelopes(messages) if one != text]
        assert len([mark for mark in texts_in(sent) if mark in (OPAQUE, OTHER)]) <= len(others)
        assert text not in json.dumps(sent)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=80) | st.binary(max_size=80).map(lambda raw: base64.b64encode(raw).decode()))
def test_any_text_that_is_no_envelope_opens_to_nothing(text: str) -> None:
    for claimed in (text, f"cm1.{text}", base64.b64encode(f"cm1.{text}".encode("utf-8", "replace")).decode()):
        assert KEYS.open(claimed) is None


@settings(deadline=None, max_examples=50)
@given(st.text(), st.text(), st.binary(max_size=40), st.booleans())
def test_envelope_opens_to_what_was_sealed(text: str, call: str, digest: bytes, in_bytes: bool) -> None:
    states = [State(role="reasoning", data=text, extra={"n": 2**80, "t": [text]})]
    made = Envelope("a", "b", None, b"1", call, digest, states)
    sealed = KEYS.seal(made, in_bytes=in_bytes)
    assert sealed is not None
    opened = KEYS.open(sealed)
    assert opened is not None
    assert opened[1] == made
    assert StateKeys([b"o" * 32], 256 * 1024).open(sealed) is None
    assert StateKeys([b"o" * 32, SECRET], 256 * 1024).open(sealed) == opened
    assert StateKeys([SECRET], len(sealed) - 1).open(sealed) is None


@pytest.mark.parametrize("client", CARRIERS)
def test_envelopes_of_two_conversations_cannot_be_swapped(client: str) -> None:
    """Each names its call, or the text beside it."""
    issuer = next(api for api in ("openai-responses", "anthropic-messages") if api != client)
    first = json.dumps(ANSWERS[issuer])
    other = json.loads(
        first.replace("call_1", "call_2")
        .replace("toolu_1", "toolu_2")
        .replace(OPAQUE, "U3dhcHBlZA==")
        .replace(FIRST, "?")
    )
    messages, payload = envelope_of(client, issuer)
    foreign = envelopes(Talk(client, issuer).answer(other))
    body = json.dumps(payload)
    for old, new in zip(envelopes(messages), foreign, strict=True):
        body = body.replace(old, new)
    talk = Talk(client, issuer)
    sent = talk.ask(json.loads(body))
    assert "U3dhcHBlZA==" not in sent.body.decode()
    assert "state-invalid" in talk.codes


@pytest.mark.parametrize("client", CARRIERS)
def test_state_whose_call_the_client_dropped_is_invalid(client: str) -> None:
    issuer = "openai-responses" if client != "openai-responses" else "mistral-chat"
    messages = Talk(client, issuer).answer(ANSWERS[issuer])
    kept = [content for content in messages[-1].contents if isinstance(content, ReasoningContent | TextContent)]
    if not any(content.protected for content in kept):
        pytest.skip("the call had the envelope")
    talk = Talk(client, issuer)
    sent = talk.sent(
        [user("Look."), ChatMessage(role="assistant", contents=kept, origin=messages[-1].origin), user("?")]
    )
    assert {OPAQUE, OTHER}.isdisjoint(marks(sent))
    assert "state-invalid" in talk.codes


def test_invalid_state_has_the_path_of_its_block() -> None:
    _, payload = envelope_of("anthropic-messages", "openai-responses")
    payload["messages"][1]["content"][1]["signature"] = "cm1.no.envelope"
    talk = Talk("anthropic-messages", "openai-responses")
    sent = json.loads(talk.ask(payload).body)
    lost = [loss for loss in talk.losses if loss.code == "state-invalid"]
    assert [(loss.path, loss.kind) for loss in lost] == [("$.messages[1].content[1]", "dropped")]
    assert marks(sent) == [FIRST]


def test_too_many_bytes_of_state_drop_the_oldest() -> None:
    messages = [user("Look."), *Talk("anthropic-messages", "openai-responses").answer(ANSWERS["openai-responses"])]
    most = max(map(len, envelopes(messages)))
    keys = StateKeys([SECRET], most)
    turn = [messages[1], *(tool_result(call, "seen") for call in messages[1].tool_calls), assistant("Done."), user("?")]
    talk = Talk("anthropic-messages", "openai-responses", keys=keys)
    sent = talk.sent([messages[0], *(turn * 20)])
    kept = [mark for mark in texts_in(sent) if mark == OPAQUE]
    assert 0 < len(kept) < 20
    assert "state-invalid" in talk.codes


def test_state_larger_than_the_limit_is_not_carried() -> None:
    talk = Talk("anthropic-messages", "openai-responses", keys=StateKeys([SECRET], 50))
    for streams in (False, True):
        messages = talk.answer(ANSWERS["openai-responses"], streams=streams)
        assert envelopes(messages) == []
        assert messages[-1].reasoning == FIRST + SECOND
        assert talk.codes == ["no-carrier"]


# -- clients without an opaque field -----------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", ["ollama-chat", "cohere-chat"])
def test_client_without_an_opaque_field_gets_the_text(client: str, streams: bool) -> None:
    for issuer in (api for api in APIS if api != client):
        talk = Talk(client, issuer)
        messages = talk.answer(ANSWERS[issuer], streams=streams)
        assert messages[-1].reasoning.startswith(FIRST)
        assert ("no-carrier" in talk.codes) is (OPAQUE in texts_in(ANSWERS[issuer]))


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("issuer", [api for api in APIS if api != "openai-chat"])
def test_client_of_chat_gets_reasoning_in_the_chosen_field(issuer: str, streams: bool) -> None:
    has_state = OPAQUE in texts_in(ANSWERS[issuer])
    none = Talk("openai-chat", issuer)
    assert none.answer(ANSWERS[issuer], streams=streams)[-1].reasoning == ""
    assert "no-carrier" in none.codes or not has_state or issuer.startswith("google")
    text = Talk("openai-chat", issuer, chat_reasoning="reasoning_content")
    assert text.answer(ANSWERS[issuer], streams=streams)[-1].reasoning.startswith(FIRST)
    assert ("no-carrier" in text.codes) is (has_state and issuer != "google-generate-content")
    details = Talk("openai-chat", issuer, chat_reasoning="reasoning_details")
    messages = details.answer(ANSWERS[issuer], streams=streams)
    assert details.codes == []
    assert marks(details.sent([user("Look."), *messages])) == marks(ANSWERS[issuer])


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_other_choices_for_reasoning_carry_no_state(streams: bool) -> None:
    for client, issuer in PAIRS:
        text = Talk(client, issuer, reasoning="text").answer(ANSWERS[issuer], streams=streams)
        dropped = Talk(client, issuer, reasoning="drop").answer(ANSWERS[issuer], streams=streams)
        assert envelopes(text) == envelopes(dropped) == []
    carried = [user("Look."), *Talk("anthropic-messages", "openai-chat").answer(ANSWERS["openai-chat"])]
    assert marks(Talk("anthropic-messages", "openai-chat", reasoning="drop").sent(carried)) == []


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_thinking_model_gets_its_reasoning_with_the_second_request(upstream: RawUpstream) -> None:
    """DeepSeek refuses a call without `reasoning_content` (api-docs.deepseek.com/guides/thinking_mode)."""
    config = config_for("openai-chat", upstream.base_url("openai-chat"), model="deepseek-reasoner")
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    with gateway(config) as (url, _), anthropic.Anthropic(api_key="none", base_url=url, max_retries=0) as client:
        asked: dict[str, Any] = {"model": "m", "max_tokens": 99, "tools": tools}
        messages: list[Any] = [{"role": "user", "content": "Look."}]
        upstream.set_answers(answer(ANSWERS["openai-chat"]))
        first = client.messages.create(**asked, messages=messages)
        assert [block.type for block in first.content] == ["thinking", "tool_use"]
        result = {"type": "tool_result", "tool_use_id": "abcdefghi", "content": "seen"}
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        upstream.set_answers(answer(chat({"content": "Done."})))
        client.messages.create(**asked, messages=messages)
    called = next(m for m in upstream.requests[-1].payload["messages"] if m.get("tool_calls"))
    assert called["reasoning_content"] == FIRST


@pytest.mark.parametrize("is_down", [False, True], ids=["up", "down"])
def test_route_prefers_the_upstream_that_issued_the_newest_state(is_down: bool, upstream: RawUpstream) -> None:
    base = upstream.base_url("openai-responses")
    upstreams: dict[str, Any] = {
        name: {"api": "openai-responses", "key": "none", "base_url": f"{base}/{name}", "retries": 0} for name in "ab"
    }
    settings = {"upstreams": upstreams, "routes": [{"to": ["a", "b"], "model": "gpt-5.2"}], "state_key": "env:K"}
    environment = {"K": SECRET.decode()}
    # The answer came from "b", while "a" was down.
    only_b = {**settings, "routes": [{"to": "b", "model": "gpt-5.2"}]}
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9}
    question: list[Any] = [{"role": "user", "content": "Look."}]
    upstream.set_answers(answer(ANSWERS["openai-responses"]))
    with gateway(read_config(only_b, environment=environment), environment=environment) as (url, _):
        got = httpx2.post(f"{url}/v1/messages", json={**asked, "messages": question}, trust_env=False).json()
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "seen"}
    turn = [*question, {"role": "assistant", "content": got["content"]}, {"role": "user", "content": [result]}]
    failed = [answer('{"error": {"message": "down"}}', 500)] if is_down else []
    upstream.set_answers(*failed, answer(ANSWERS["openai-responses"]))
    # Another process with the same key.
    with gateway(read_config(settings, environment=environment), environment=environment) as (url, _):
        response = httpx2.post(f"{url}/v1/messages", json={**asked, "messages": turn}, trust_env=False)
    assert response.status_code == 200
    assert response.headers["contentmodel-upstream"] == ("a" if is_down else "b")
    sent = [json.dumps(request.payload) for request in upstream.requests]
    assert OPAQUE in sent[0]
    assert '"include": ["reasoning.encrypted_content"]' in sent[0]
    if is_down:
        assert OPAQUE not in sent[1]
        assert "state-of-other-account=1" in response.headers["contentmodel-losses"]


@pytest.mark.parametrize(
    ("setting", "path", "message"),
    [
        ({"state_key": "secret"}, "state_key", "expected env:NAME"),
        ({"state_key": "env:NONE"}, "state_key", "the environment variable NONE is not set"),
        ({"state_key": ["env:K", "env:SHORT"]}, "state_key[1]", "fewer than 32 characters"),
        ({"state_key": ["env:K", "env:K"]}, "state_key[1]", "listed twice"),
        ({"state_key": []}, "state_key", "expected `array` of length >= 1"),
        ({"limits": {"state_bytes": 0}}, "limits.state_bytes", "expected `int` >= 1"),
        ({"routes": [{"to": "up", "reasoning": "keep"}]}, "routes[0].reasoning", "'carry' or 'text' or 'drop'"),
        ({"routes": [{"to": "up", "chat_reasoning": "text"}]}, "routes[0].chat_reasoning", "'reasoning_details'"),
    ],
)
def test_wrong_setting_has_a_clear_message(setting: dict[str, Any], path: str, message: str) -> None:
    base = {"upstreams": {"up": {"api": "openai-chat", "key": "none"}}, "routes": [{"to": "up"}]}
    with pytest.raises(ConfigError) as caught:
        read_config({**base, **setting}, environment={"K": SECRET.decode(), "SHORT": "k"})
    assert [fault.path for fault in caught.value.faults] == [path]
    assert message in caught.value.faults[0].message
