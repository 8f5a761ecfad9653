"""The law of lanes: a template makes of other payloads what the model's way makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from contentmodel import DecodeError
from contentmodel.engine.json import write
from contentmodel.engine.lanes.lane import Lane
from contentmodel.engine.lanes.passing import Leaf, leaves, replaced
from contentmodel.engine.lanes.values import CONSTANT
from contentmodel.engine.pipeline.sentinels import MARKS
from contentmodel_conformance import laws

ODD: tuple[Any, ...] = (
    *("", " ", "\n", "x", "[", "]", "a b", "é", "half \ud83d", "0", "null", "stop", "tool_use", "length", "</think>"),
    *(f"{mark}call_1]" for mark in MARKS),
    *("[media of this result follow: #0123456789abcdef]", "x\n[media of this result follow: #0123456789abcdef]"),
    *("[is_error: true #0123456789abcdef]\nx", "<think>a</think>b", "<thought>a</thought>b", "<thinking>a</thinking>b"),
    *("computer", "bash", "web_search", "str_replace_based_edit_tool", "code_execution", "apply_patch", "memory"),
    *("call_1", "call_0123456789ab_1", "toolu_1", "srvtoolu_0123456789ab", "xs_call_0123456789", "fc_0123456789abcd"),
    *(
        "resp_0123456789abcdef0123456789abcdef",
        "skip_thought_signature_validator",
        "AAAA",
        "A-_=",
        "gpt-5.1-2026-01-01",
    ),
    *("{}", "{", "[1]", '{"a":1}', '{"a": 1}', '{"a":1,"a":2}', '{"input":"x"}', '{"a":1e5}', '{"a":1.0}', '{"a":NaN}'),
    *('{"a":"\\ud83d"}', "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-13-45T99:00:00Z"),
    *(0, 1, 2, 3, -1, 2**36, 2**53, 2**63, 10**30, 0.0, 1.0, 1.5, -2.5, 1e300, True, False, None),
    *([], {}, [1], {"a": 1}, {"input": "x"}, {"a": "\ud83d"}),
)
"""Values that a conversion may treat in another way than usual ones."""
TRIES = 24
"""The changed payloads that are tried for one template."""


def lanes(source: Any, target: Any, kind: str, payload: Any) -> None:
    """Compare what the template of an answer makes of answers with other values with what the model makes of them.

    The payload, the losses and the status are equal. A template need not take an answer.
    """
    if not (getattr(source, "has_lane", False) and getattr(target, "has_lane", False) and payload.__class__ is dict):
        return
    lane = Lane(source, target, None)
    encoded = lane.by_model(payload)
    template = lane.template_of(payload, encoded)
    if template is None:
        return
    for changed in _changed(payload, [*leaves(payload, lane.kinds_of(encoded) or {})]):
        made = template.fill(changed)
        if made is None:
            continue
        try:
            other = lane.by_model(changed)
        except DecodeError as error:
            raise laws.LawBroken("lanes", "$", "the lane takes an invalid answer", str(error), made) from error
        if write(made) != other.to_json():
            raise laws.LawBroken("lanes", "$", "the lane makes another payload", other.payload, made)
        if (template.losses, template.status) != (other.losses, other.status):
            expected, found = sorted(map(str, other.losses)), sorted(map(str, template.losses))
            raise laws.LawBroken("lanes", "$", "the lane reports other losses or another status", expected, found)


def _changed(payload: Any, found: list[Leaf]) -> Iterator[Any]:
    """Yield the payload with other values: odd ones, those of other places, and usual ones."""
    random = Random(write(payload))
    passing = [leaf for leaf in found if leaf.kind is not CONSTANT]
    for number in range(TRIES if passing else 0):
        values = {}
        for leaf in random.choices(passing if number % 8 else found, k=random.choice((1, 1, 2, 3))):
            made = leaf.kind.like(leaf.value, f"{random.random()}")
            values[leaf.path] = random.choice(
                (random.choice(ODD), random.choice(ODD), random.choice(found).value, made)
            )
        yield replaced(payload, values)
