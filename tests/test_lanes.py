"""Lanes: what templates make of answers and of the turns of requests is what the model makes of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

from contentmodel import ChatResponse, DecodeError, LossError, adapter, convert
from contentmodel.encoded import Encoded
from contentmodel.lanes import lane as lanes
from contentmodel.lanes.lane import Lane, Repeated, lane_of
from contentmodel.lanes.turns import SplicedRequest

CLAUDE, CHAT, RESPONSES = "anthropic-messages", "openai-chat", "openai-responses"
PUBLIC = (
    *("api", "created", "form", "losses", "maps", "may_lose", "model", "named_by_caller", "payload", "source_api"),
    *("status", "value"),
)


@pytest.fixture(autouse=True)
def _no_templates() -> Iterator[None]:
    with mock.patch.object(lanes, "_LANES", {}), mock.patch.object(lanes, "IS_ON", True):
        yield


def answer(number: int, **fields: Any) -> dict[str, Any]:
    """Return an answer of Claude with a text and a call."""
    call = {"type": "tool_use", "id": f"toolu_01abcdef{number:04d}", "name": "weather", "input": {"city": f"{number}"}}
    return {
        "id": f"msg_01abcdef{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": f"I look at city {number}."}, call],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000 + number, "output_tokens": 20 + number, "cache_read_input_tokens": 500 + number},
        **fields,
    }


def turn(number: int, result: str = "sunny") -> list[dict[str, Any]]:
    """Return the messages of Claude's API for a call and its result."""
    call_id = f"toolu_01abcdef{number:04d}"
    call = {"type": "tool_use", "id": call_id, "name": "weather", "input": {"city": f"{number}"}}
    outcome = {"type": "tool_result", "tool_use_id": call_id, "content": f"It is {result} in {number}."}
    thought = {"type": "thinking", "thinking": f"City {number} is next.", "signature": "QUJDREVG"}
    text = {"type": "text", "text": f"I look at city {number}."}
    return [{"role": "assistant", "content": [thought, text, call]}, {"role": "user", "content": [outcome]}]


def request(*turns: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """Return a request of Claude's API with turns."""
    tool = {"name": "weather", "description": "Look at a city.", "input_schema": {"type": "object"}}
    start = {"role": "user", "content": "Look at all cities."}
    messages = [start, *(message for one in turns for message in one)]
    return {"model": "claude-sonnet-4-5", "max_tokens": 1000, "tools": [tool], "messages": messages, **fields}


def turns(count: int) -> list[list[dict[str, Any]]]:
    return [turn(number) for number in range(count)]


def last_of(make: Callable[[int], dict[str, Any]], kind: Any, target: str, uses: int = 4) -> Any:
    """Convert several payloads, and return the result of the last one."""
    results = [convert(make(number), source=CLAUDE, target=target, kind=kind) for number in range(uses)]
    return results[-1]


def by_model(payload: dict[str, Any], kind: Any, target: str) -> Encoded:
    with mock.patch.object(lanes, "IS_ON", False), mock.patch.object(lanes, "_LANES", {}):
        result = convert(payload, source=CLAUDE, target=target, kind=kind)
    assert type(result) is Encoded
    return result


@pytest.mark.parametrize("target", [CHAT, RESPONSES, "google-generate-content", "bedrock-converse", CLAUDE])
def test_answers_of_one_shape_are_repeated(target: str) -> None:
    repeated = last_of(answer, "response", target)
    assert type(repeated) is Repeated
    whole = by_model(answer(3), "response", target)
    assert repeated.to_json() == whole.to_json()
    for name in PUBLIC:
        assert getattr(repeated, name) == getattr(whole, name), name
    assert repeated.count_losses() == whole.count_losses()
    assert repeated.untraced() == []
    assert isinstance(repeated.value, ChatResponse)


@pytest.mark.parametrize("target", [CHAT, RESPONSES, "google-generate-content", "bedrock-converse", CLAUDE])
def test_turns_of_requests_are_put_back(target: str) -> None:
    long = request(*turns(30))
    spliced = last_of(lambda _: long, "request", target)
    assert type(spliced) is SplicedRequest
    whole = by_model(long, "request", target)
    assert spliced.to_json() == whole.to_json()
    assert sorted(map(str, spliced.losses)) == sorted(map(str, whole.losses))
    for name in set(PUBLIC) - {"losses"}:
        assert getattr(spliced, name) == getattr(whole, name), name
    assert spliced.count_losses() == whole.count_losses()


def test_losses_of_turns_are_in_the_order_of_the_source() -> None:
    spliced = last_of(lambda _: request(*turns(30)), "request", CHAT)
    places = [int(loss.path.split("[")[1].split("]")[0]) for loss in spliced.losses if "messages[" in loss.path]
    assert places == sorted(places)
    assert len(places) == 30


ODD_ANSWERS = [
    {"stop_reason": "max_tokens"},
    {"content": [{"type": "text", "text": ""}]},
    {"usage": {"input_tokens": 1, "output_tokens": 0}},
    {"usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 500}},
    {"id": "msg 1"},
    {"new_field": 1},
    {"model": "claude-opus-4-5"},
]


@pytest.mark.parametrize("fields", ODD_ANSWERS, ids=lambda fields: next(iter(fields)))
def test_other_answers_take_the_way_of_the_model(fields: dict[str, Any]) -> None:
    last_of(answer, "response", CHAT)
    odd = answer(9, **fields)
    converted = convert(odd, source=CLAUDE, target=CHAT, kind="response")
    assert converted.to_json() == by_model(odd, "response", CHAT).to_json()
    assert converted.losses == by_model(odd, "response", CHAT).losses


def odd_requests() -> dict[str, dict[str, Any]]:
    many = turns(30)
    cached = turn(90)
    cached[1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    failed = turn(91)
    failed[1]["content"][0]["is_error"] = True
    text = [{"role": "user", "content": "Faster."}]
    return {
        "an id twice": request(*many, many[4]),
        "a call without a result": request(*many[:10], many[10][:1], *many[11:]),
        "a result without a call": request(*many[:10], many[10][1:], *many[11:]),
        "a cache point": request(*many[:10], cached, *many[10:]),
        "a failed call": request(*many[:10], failed, *many[10:]),
        "a text of the user": request(*many[:10], text, *many[10:]),
        "a text of the user at the end": request(*many, text),
        "an unknown tool": request(*many, tools=[]),
        "a mark": request(*many[:10], turn(92, "[is_error: true #0123456789abcdef]"), *many[10:]),
    }


@pytest.mark.parametrize("name", odd_requests())
def test_odd_things_among_turns_are_converted_as_by_the_model(name: str) -> None:
    last_of(lambda _: request(*turns(30)), "request", CHAT)
    odd = odd_requests()[name]
    converted = convert(odd, source=CLAUDE, target=CHAT, kind="request")
    whole = by_model(odd, "request", CHAT)
    assert converted.to_json() == whole.to_json()
    assert sorted(map(str, converted.losses)) == sorted(map(str, whole.losses))


def test_faults_have_the_paths_of_the_whole_request() -> None:
    last_of(lambda _: request(*turns(30)), "request", CHAT)
    bad = request(*turns(30), [{"role": 5, "content": "x"}])
    with pytest.raises(DecodeError, match=r"\$\.messages\[61\]\.role"):
        convert(bad, source=CLAUDE, target=CHAT, kind="request")


def test_result_of_a_lane_is_pickled_with_its_losses() -> None:
    for result in (last_of(answer, "response", CHAT), last_of(lambda _: request(*turns(30)), "request", CHAT)):
        copy = pickle.loads(pickle.dumps(result))
        assert (copy.payload, copy.losses, copy.value) == (result.payload, result.losses, result.value)


def test_significant_losses_are_raised() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "QUJDREVG"}
    for number in range(5):
        with pytest.raises(LossError):
            convert(
                answer(number, content=[thinking, *answer(number)["content"]]),
                source=CLAUDE,
                target=CHAT,
                kind="response",
                on_loss="raise",
            )


def test_lanes_can_be_turned_off() -> None:
    with mock.patch.object(lanes, "IS_ON", False):
        assert type(last_of(answer, "response", CHAT)) is Encoded
        assert lane_of(adapter(CLAUDE), adapter(CHAT), None) is None


def test_adapters_without_lane_have_none() -> None:
    assert lane_of(adapter(CLAUDE), adapter("langchain-messages"), None) is None


def test_templates_are_bounded() -> None:
    lane = Lane(adapter(CLAUDE), adapter(CHAT), None)
    for number in range(40):
        for use in range(2):
            lane.answer(answer(use, usage={**answer(use)["usage"], f"field_{number}": 0}))
    (templates,) = lane._templates.values()
    assert len(templates) == Lane.MOST
    for number in range(100):
        for use in range(2):
            lane.answer(answer(use, **{f"field_{number}": None}))
    assert len(lane._templates) <= Lane.MOST_KEYS
