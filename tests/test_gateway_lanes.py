"""Lanes of the gateway: a request or an answer like earlier ones is converted as through the model."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import pytest

from conftest import APIS
from contentmodel import ChatChoice, ChatMessage, ChatResponse, FunctionCallContent, adapter, convert
from contentmodel.gateway.config import http_apis, read_config
from contentmodel.gateway.front import Front, GatewayError, read_request
from contentmodel.gateway.lanes import LEARNING
from contentmodel.gateway.report import Report
from contentmodel.gateway.translation import Answer, Outgoing, Request
from contentmodel.gateway.upstream import Sender
from contentmodel.lanes import lane as lanes
from contentmodel.renames import Renames
from providers import PROVIDERS
from test_lanes import CHAT, CLAUDE, answer, request, turns

GOOGLE = "google-generate-content"
PAIRS = [(client, upstream) for client in APIS for upstream in APIS if client != upstream]


@pytest.fixture(autouse=True)
def _lanes_are_on() -> Iterator[None]:
    with (
        mock.patch.object(lanes, "IS_ON", True),
        mock.patch.object(time, "time", return_value=1_800_000_000.5),
    ):
        yield


class Done(NamedTuple):
    """An exchange: the request for the upstream, the body for the client, and the report."""

    outgoing: Outgoing
    body: Any
    report: Report


class Gateway:
    """The conversions of a gateway for one client API and one upstream, without connections."""

    def __init__(self, client: str, upstream: str, **route: Any) -> None:
        settings = {"to": "up", "model": PROVIDERS[upstream].model, **route}
        config = read_config({"upstreams": {"up": {"api": upstream, "key": "none"}}, "routes": [settings]})
        https, self._up = http_apis(), config.upstreams["up"]
        self.front = Front(client, https[client])
        self.reader: Any = self.front.adapter
        self.sender = Sender("up", self._up, https[upstream], adapter(upstream), None)
        self._route = config.routes[0].at(config.routes[0].targets[0], config.upstreams)

    def outgoing(self, payload: Any, *, streams: bool = False) -> Outgoing:
        """Convert a request."""
        model = PROVIDERS[self.front.api].model if self.front.http.names_model_in_path else None
        data = json.dumps(payload).encode()
        path_streams = streams and self.front.http.stream is not None
        self.incoming = read_request(self.front, "/", {}, {}, data, path_model=model, stream_method=path_streams)
        made = Request(self.incoming, self._route).outgoing(self.sender)
        LEARNING.submit(int).result()
        return made

    def done(self, payload: Any, answered: Any) -> Done:
        """Convert a request and its answer."""
        outgoing = self.outgoing(payload)
        report = Report(id="r", client_api=self.front.api, path="/", started=0)
        reading = Answer(self.incoming, self.sender, outgoing, self._route.policies)
        data = json.dumps(answered).encode()
        reply = reading.repeated(data, report) or reading.whole(*reading.read(data), report)
        LEARNING.submit(int).result()
        return Done(outgoing, reply.body, report)


def payloads(client: str, upstream: str, number: int) -> tuple[Any, Any]:
    """Return a long request of one API, and an answer of another one."""
    asked, answered = request(*turns(16 + number)), answer(500 + number)
    if client != CLAUDE:
        asked = convert(asked, source=CLAUDE, target=client, kind="request").payload
    if upstream != CLAUDE:
        answered = convert(answered, source=CLAUDE, target=upstream, kind="response").payload
    return asked, answered


def same(gateway: Gateway, asked: Any, answered: Any, **route: Any) -> tuple[Done, int, bool]:
    """Compare an exchange with one through the model.

    Return it, the number of messages that were decoded, and whether the answer took a template.
    """
    reader, client, upstream = gateway.reader, gateway.front.api, gateway.sender.api
    with (
        mock.patch.object(reader, "trace_request", wraps=reader.trace_request) as decoded,
        mock.patch.object(Answer, "read", autospec=True, side_effect=Answer.read) as read,
    ):
        made = gateway.done(asked, answered)
        length = len(decoded.call_args_list[0].args[0][reader.conversation or "messages"])
    with mock.patch.object(lanes, "IS_ON", False):
        whole = Gateway(client, upstream, **route).done(asked, answered)
    assert made.outgoing.body == whole.outgoing.body
    assert sorted(map(str, made.outgoing.losses)) == sorted(map(str, whole.outgoing.losses))
    assert made.outgoing.maps == whole.outgoing.maps
    assert made.outgoing.violations == whole.outgoing.violations
    assert made.body == whole.body
    assert (made.report.answer, made.report.usage) == (whole.report.answer, whole.report.usage)
    return made, length, not read.called


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_lanes_are_taken_and_change_nothing(client: str, upstream: str) -> None:
    gateway = Gateway(client, upstream)
    for number in range(4):
        asked, answered = payloads(client, upstream, number)
        _, length, is_repeated = same(gateway, asked, answered)
    assert length < 0.4 * len(asked[gateway.reader.conversation or "messages"])
    assert is_repeated


def learned(client: str, upstream: str, **route: Any) -> Gateway:
    """Return a gateway that has templates."""
    gateway = Gateway(client, upstream, **route)
    for number in range(4):
        gateway.done(*payloads(client, upstream, number))
    return gateway


def test_answer_with_an_id_of_the_request_is_converted_by_the_model() -> None:
    gateway = learned(CHAT, CLAUDE)
    asked, _ = payloads(CHAT, CLAUDE, 5)
    made, _, is_repeated = same(gateway, asked, answer(3))
    assert not is_repeated
    assert b"toolu_01abcdef0003_2" in made.body


def test_answer_without_contents_is_converted_by_the_model() -> None:
    gateway = Gateway(CHAT, CLAUDE)
    for number in range(4):
        asked, answered = payloads(CHAT, CLAUDE, number)
        _, _, is_repeated = same(gateway, asked, {**answered, "content": [], "stop_reason": "end_turn"})
        assert not is_repeated


def test_answer_is_dated_by_the_clock() -> None:
    gateway = learned(CHAT, CLAUDE)
    with mock.patch.object(time, "time", return_value=1_900_000_000.0):
        made, _, is_repeated = same(gateway, *payloads(CHAT, CLAUDE, 5))
    assert is_repeated
    assert json.loads(made.body)["created"] == 1_900_000_000


@pytest.mark.parametrize("choice", ["function", "encode"])
def test_hosted_tools_are_changed_in_a_lane_as_well(choice: str) -> None:
    gateway = learned(CLAUDE, CHAT, hosted_tools=choice)
    asked, answered = payloads(CLAUDE, CHAT, 5)
    asked["tools"].append({"type": "code_execution_20250825", "name": "code_execution"})
    for _ in range(2):
        made, length, _ = same(gateway, asked, answered, hosted_tools=choice)
    assert length < len(asked["messages"])
    tools = json.loads(made.outgoing.body)["tools"]
    assert len(tools) == (2 if choice == "function" else 1)


def test_refusals_are_the_same_in_a_lane() -> None:
    gateway = learned(CLAUDE, CHAT)
    asked, _ = payloads(CLAUDE, CHAT, 5)
    asked["messages"].append({"role": 5, "content": "x"})
    with pytest.raises(GatewayError, match=r"\$\.messages\[43\]\.role"):
        gateway.outgoing(asked)


@pytest.mark.parametrize("streams", [True, False])
def test_stream_of_the_path_is_a_field_of_the_request(*, streams: bool) -> None:
    gateway = Gateway(GOOGLE, CHAT)
    for number in range(4):
        made = gateway.outgoing(payloads(GOOGLE, CHAT, number)[0], streams=streams)
        assert json.loads(made.body).get("stream", False) is streams


CALLS: list[tuple[Renames, list[tuple[str | None, str | None]], bool]] = [
    (Renames(), [(None, "f"), (None, "f")], True),
    (Renames(used=("a",)), [("b", "f")], True),
    (Renames(used=("a",)), [("a", "f")], False),
    (Renames(used=("a",)), [(None, "f")], False),
    (Renames(used=("a",)), [("b", "f"), ("b", "f")], False),
    (Renames(ids={"source": "a"}), [("a", "f")], False),
    (Renames(repeated={"a": "source"}), [("a", "f")], False),
    (Renames(names={"source": "f"}), [("b", "f")], False),
    (Renames(names={"source": "f"}), [("b", "source")], True),
]


@pytest.mark.parametrize(("maps", "calls", "expected"), CALLS)
def test_maps_leave_calls_of_other_ids_and_names(maps: Renames, calls: Any, *, expected: bool) -> None:
    assert maps.leave(calls) is expected
    contents = [FunctionCallContent(call_id=call_id, name=name, arguments={}) for call_id, name in calls]
    whole = ChatResponse(choices=[ChatChoice(messages=[ChatMessage(role="assistant", contents=contents)])])
    assert (maps.restored_names(whole, adapter(CHAT).restore_arguments) == whole) is expected
