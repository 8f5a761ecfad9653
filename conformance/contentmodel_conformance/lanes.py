"""The law of lanes: a template makes of other payloads what the model's way makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from contentmodel import ChatRequest, DecodeError
from contentmodel.encoded import Encoded
from contentmodel.engine.pipeline.sentinels import MARKS
from contentmodel.json import write
from contentmodel.lanes.lane import Lane, Repeated
from contentmodel.lanes.passing import Leaf, leaves, replaced
from contentmodel.lanes.template import Passing
from contentmodel.lanes.turns import DecodedTurns
from contentmodel.lanes.values import CONSTANT, ID, NAME, TEXT_OF_ARGUMENTS
from contentmodel_conformance import laws

ODD_TEXTS = (
    *("", " ", "\n", "x", "[", "]", "a b", "é", "half \ud83d", "0", "null", "stop", "tool_use", "length", "</think>"),
    *(f"{mark}call_1]" for mark in MARKS),
    *("[media of this result follow: #0123456789abcdef]", "x\n[media of this result follow: #0123456789abcdef]"),
    *("[is_error: true #0123456789abcdef]\nx", "<think>a</think>b", "<thought>a</thought>b", "<thinking>a</thinking>b"),
)
ODD_IDS = (
    *("", "", " ", "call_1", "call_0123456789ab_1", "toolu_1", "srvtoolu_0123456789ab", "xs_call_0123456789"),
    *("resp_0123456789abcdef0123456789abcdef", "a b", "id\n1", '"quoted"', "AAAA", "A-_=", "x" * 65),
)
ODD_ARGUMENTS = (
    *("{}", "{", "[1]", '{"a":1}', '{"a": 1}', '{"a":1,"a":2}', '{"input":"x"}', '{"a":1e5}', '{"a":1.0}', '{"a":NaN}'),
    '{"a":"\\ud83d"}',
)
ODD_NUMBERS = (0, 1, 2, 3, -1, 2**36, 2**53, 2**63, 10**30, 0.0, 1.0, 1.5, -2.5, 1e300, True, False, None)
ODD_LEAVES: tuple[Any, ...] = (
    *ODD_TEXTS,
    *("computer", "bash", "web_search", "str_replace_based_edit_tool", "code_execution", "apply_patch", "memory"),
    *("skip_thought_signature_validator", "gpt-5.1-2026-01-01"),
    *("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-13-45T99:00:00Z", *ODD_ARGUMENTS, *ODD_NUMBERS),
    *([], {}, [1], {"a": 1}, {"input": "x"}, {"a": "\ud83d"}),
)
"""Values that a conversion may treat in another way than usual ones."""
TRIES = 24
"""The changed payloads that are tried for one template."""
TURNS = 16
"""The turns of a request."""


def lanes(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Compare what templates make of answers, and of the turns of requests, with what the model makes of them.

    The payload, the losses, the status and the maps are equal. A template need not take an answer or a turn.
    """
    if not (getattr(source, "has_lane", False) and getattr(target, "has_lane", False) and payload.__class__ is dict):
        return
    lane = Lane(source, target, None)
    if kind == "request":
        _compare_turns(lane, source.messages_field, payload)
        return
    encoded = lane.answer_by_model(payload)
    template = lane.template_of(payload, encoded)
    if template is None:
        return
    for changed in _changed(payload, [*leaves(payload, lane.kinds_of(encoded) or {})]):
        filled = template.fill(changed)
        if filled is not None:
            other = _by_model(lane.answer_by_model, changed, filled)
            _compare(other, Repeated(changed, filled, template, lane, partial(lane.answer_by_model, changed)))


def _compare_turns(lane: Lane, conversation: str, payload: Any) -> None:
    """Repeat a turn of a request with other values, and compare requests with odd values among these turns."""
    encoded = lane.request_by_model(payload)
    request, source = encoded.value, encoded.source
    if not isinstance(request, ChatRequest) or source is None or payload.get(conversation).__class__ is not list:
        return
    layout = DecodedTurns(payload, request, source[1], conversation)
    if not layout.turns:
        return
    random = Random(write(payload))
    start, end = random.choice(layout.turns)
    turn, kinds = payload[conversation][start:end], layout.kinds_of(start, end)
    listed = [*leaves(turn, kinds)]
    many = [replaced(turn, Passing(listed).others(f"{number}")) for number in range(TURNS)]
    names = [leaf.value for one in many for leaf in leaves(one, kinds) if leaf.kind is NAME]
    before, after = payload[conversation][:start], payload[conversation][end:]

    def with_turns(turns: list[Any]) -> Any:
        return layout.request([*before, *(message for one in turns for message in one), *after], names)

    turns = lane.turns(payload, None)
    whole = with_turns(many)
    turns.learn(whole, lane.request_by_model(whole))
    for changed in _changed(turn, listed):
        at = random.randrange(TURNS)
        changed = random.choice((changed, changed, changed, random.choice(many)))
        odd = with_turns([*many[:at], changed, *many[at + 1 :]])
        if random.random() < 0.3:
            odd = _with_odd_head(odd, conversation, random)
        filled = turns.without_turns(odd, turns.fits(odd[conversation]))
        if filled is not None:
            _compare(_by_model(lane.request_by_model, odd, filled.payload), filled)


def _with_odd_head(request: Any, conversation: str, random: Random) -> Any:
    """Return a request without a setting, or with odd messages between its turns."""
    names = [name for name in request if name != conversation]
    if names and random.random() < 0.5:
        removed = random.choice(names)
        return {name: value for name, value in request.items() if name != removed}
    messages = [*request[conversation]]
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(messages))
        messages[at : at + random.choice((0, 1))] = random.choice(([], [messages[0]], [messages[-1]], [messages[at]]))
    return {**request, conversation: messages}


def _by_model(convert: Any, payload: Any, filled: Any) -> Any:
    try:
        return convert(payload)
    except DecodeError as error:
        raise laws.LawBroken("lanes", "$", "the lane takes an invalid payload", str(error), filled) from error


def _compare(other: Encoded, filled: Encoded) -> None:
    if filled.to_json() != other.to_json():
        raise laws.LawBroken("lanes", "$", "the lane makes another payload", other.payload, filled.payload)
    expected, actual = sorted(map(str, other.losses)), sorted(map(str, filled.losses))
    if expected != actual:
        raise laws.LawBroken("lanes", "$", "the lane reports other losses", expected, actual)
    expected, actual = _facts(other), _facts(filled)
    if expected != actual:
        raise laws.LawBroken("lanes", "$", "the lane has other facts", expected, actual)


def _facts(encoded: Encoded) -> Any:
    return encoded.status, encoded.maps, encoded.model, encoded.created, encoded.count_losses()


def _odd_of(leaf: Leaf) -> tuple[Any, ...]:
    if leaf.value.__class__ is not str:
        return ODD_NUMBERS
    return ODD_IDS if leaf.kind is ID else ODD_ARGUMENTS if leaf.kind is TEXT_OF_ARGUMENTS else ODD_TEXTS


def _changed(payload: Any, listed: list[Leaf]) -> Iterator[Any]:
    """Yield the payload with other values: odd ones, those of other places, and usual ones."""
    random = Random(write(payload))
    passing = [leaf for leaf in listed if leaf.kind is not CONSTANT]
    for number in range(TRIES if passing else 0):
        values = {}
        for leaf in random.choices(passing if number % 8 else listed, k=random.choice((1, 1, 2, 3))):
            similar = leaf.kind.like(leaf.value, f"{random.random()}")
            odd = random.choice(_odd_of(leaf) if random.random() < 0.5 else ODD_LEAVES)
            values[leaf.path] = random.choice((odd, odd, random.choice(listed).value, similar))
        yield replaced(payload, values)
