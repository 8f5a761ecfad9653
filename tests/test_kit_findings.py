"""Findings of the kit: the path of a difference, both values, the payload; and examples."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import contentmodel
from contentmodel import ChatResponse, FinishReason
from contentmodel_conformance import check_adapter
from contentmodel_conformance.differences import ABSENT, difference
from contentmodel_conformance.examples import EXAMPLES, example
from contentmodel_conformance.laws import LawBroken
from contentmodel_conformance.rendering import finding_lines
from contentmodel_conformance.report import beside
from contentmodel_conformance.strategies.damage import added_nulls, replacements

CHAT = contentmodel.adapter("openai-chat")


class Delegate:
    """Delegate to the Chat adapter. Tests override the methods that they break."""

    def __getattr__(self, name: str) -> Any:
        return getattr(CHAT, name)


def test_difference_of_lists_has_path_of_first_different_element() -> None:
    found = difference({"a": [1, {"b": 2}, 3]}, {"a": [1, {"b": 4}, 3, 5]})
    assert found is not None
    assert (found.where, found.expected, found.found) == ("$.a[1]", {"b": 2}, {"b": 4})
    assert found.detail.startswith("3 elements became 4")
    longer = difference([1], [1, 2])
    assert longer is not None
    assert (longer.where, longer.expected, longer.found) == ("$[1]", ABSENT, 2)


def test_beside_truncates_values_around_their_difference() -> None:
    same = ["the same words"] * 200
    one, other = beside([*same, "left", *same], [*same, "right", *same])
    assert '"left"' in one
    assert '"right"' in other
    assert max(len(one), len(other)) < 400
    assert one.startswith("...")
    assert beside({"a": 1}, {"a": 2}) == ('{"a": 1}', '{"a": 2}')


def test_beside_shows_end_of_values_if_one_is_prefix_of_other() -> None:
    one, other = beside("x" * 1000, "x" * 1000 + "y")
    assert 'y"' in other
    assert 'x"' in one


def test_given_payloads_are_tried_with_each_value_changed() -> None:
    class Hasty(Delegate):
        """Read the names of the places of a request, which must be a list of texts."""

        def decode_request(self, payload: Any) -> Any:
            if isinstance(payload, dict):
                [name.upper() for name in payload.get("places", [])]
            return CHAT.decode_request(payload)

    given: Any = {"request": [{"model": "m", "messages": [{"role": "user", "content": "x"}], "places": ["Oslo"]}]}
    report = check_adapter(Hasty(), only=["disturbance/given"], others=[], payloads=given)
    assert {finding.law for outcome in report.failures for finding in outcome.findings} == {"totality"}
    assert not check_adapter(CHAT, only=["disturbance/given"], others=[], payloads=given).failures


def test_edits_change_the_first_place_of_each_path_in_a_copy() -> None:
    payload = {"a": [1, 2]}
    assert [edit.applied() for edit in replacements([payload, {"a": [3]}])] == [
        *({}, {"a": None}, {"a": {"a": 1}}),
        *({"a": [2]}, {"a": [None, 2]}, {"a": [{"a": 1}, 2]}),
    ]
    assert payload == {"a": [1, 2]}


def test_nulls_are_added_under_the_keys_of_other_objects() -> None:
    payload = {"x": {"y": 1}}
    assert [edit.applied() for edit in added_nulls([payload, payload])] == [
        {"x": {"y": 1}, "y": None},
        {"x": {"y": 1, "x": None}},
    ]


def test_finding_on_model_value_shows_payload() -> None:
    class Shouting(Delegate):
        """Decode a text of the user in upper case."""

        def decode_request(self, payload: Any) -> Any:
            request = CHAT.decode_request(payload)
            raw = msgspec.json.encode(request).replace(b"Look it up.", b"LOOK IT UP.")
            return msgspec.json.decode(raw, type=contentmodel.ChatRequest)

    (outcome,) = check_adapter(Shouting(), only=["section/own"], others=[]).outcomes
    finding = outcome.findings[0]
    assert finding.minimal.startswith('{"model"')
    assert '"role": "user", "content": "Look it up."' in finding.wire
    assert any(line.startswith("  payload   {") for line in finding_lines(finding))


@pytest.mark.parametrize("api", EXAMPLES)
def test_examples_decode_to_expected_values(api: str) -> None:
    ((payload, expected),) = EXAMPLES[api]
    assert isinstance(expected, ChatResponse)
    assert expected.finish_reason == FinishReason(reason="length")
    example(contentmodel.adapter(api), (payload, expected))


def test_example_check_reports_path_of_different_value() -> None:
    ((payload, expected),) = EXAMPLES["openai-chat"]
    assert isinstance(expected, ChatResponse)
    choice = msgspec.structs.replace(expected.choices[0], finish_reason=FinishReason(reason="stop"))
    with pytest.raises(LawBroken) as found:
        example(CHAT, (payload, msgspec.structs.replace(expected, choices=[choice])))
    assert found.value.where == "$.choices[0].finish_reason.reason"
    assert (found.value.expected, found.value.found) == ("stop", "length")


def test_example_check_reports_value_missing_in_example() -> None:
    ((payload, expected),) = EXAMPLES["openai-chat"]
    with pytest.raises(LawBroken) as found:
        example(CHAT, (payload, msgspec.structs.replace(expected, usage=None)))
    assert found.value.where == "$.usage"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": "a"}, "expected a payload with its expected ChatRequest or ChatResponse"),
        (({"id": "a"},), "expected a payload with"),
        (({"id": "a"}, "Hello"), "expected a payload with"),
        (("nonsense", ChatResponse()), "not JSON"),
        (({"id": "a"}, ChatResponse(choices="Hello")), r"got `str` at \$.choices"),  # type: ignore[arg-type]
    ],
)
def test_check_adapter_rejects_invalid_examples(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"examples\[0\]: .*{message}"):
        check_adapter(contentmodel.adapter("openai-chat"), only=["example"], examples=[given])


def test_example_payload_may_be_bytes() -> None:
    adapter = contentmodel.adapter("anthropic-messages")
    text = b'{"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}'
    report = check_adapter(adapter, only=["example"], examples=[(text, adapter.decode_request(text))])
    assert report.ok


@pytest.mark.slow
def test_example_check_is_skipped_without_examples() -> None:
    class Unknown(Delegate):
        api = "like-chat"

    (outcome,) = check_adapter(Unknown(), only=["example"], others=[]).outcomes
    assert (outcome.status, "were given" in outcome.note) == ("skipped", True)
    given = EXAMPLES["openai-chat"]
    (outcome,) = check_adapter(Unknown(), only=["example"], others=[], examples=given).outcomes
    assert (outcome.status, outcome.tried) == ("passed", 1)
