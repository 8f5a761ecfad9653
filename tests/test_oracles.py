"""Judges, strategies and coverage: refused faults, valid payloads, and positions with names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import ollama_payloads
from conftest import records
from contentmodel_conformance.coverage import sdk_types
from contentmodel_conformance.oracles import APIS, judge
from contentmodel_conformance.strategies.sdk import (
    sdk_fields,
    sdk_literals,
    sdk_members,
    sdk_payloads,
    with_unknowns,
)
from providers import bedrock_answer

Payload = dict[str, Any]

KINDS = ("request", "response")
every_envelope = pytest.mark.parametrize(("api", "kind"), [(api, kind) for api in APIS for kind in KINDS])

ANTHROPIC: Payload = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
}
CHAT: Payload = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
RESPONSES: Payload = {
    "model": "m",
    "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
}
GOOGLE: Payload = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}

MINIMAL: dict[tuple[str, str], Payload] = {
    ("anthropic-messages", "request"): ANTHROPIC,
    ("anthropic-messages", "response"): {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    ("google-generate-content", "request"): GOOGLE,
    ("google-interactions", "request"): {"model": "m", "input": [{"type": "user_input"}]},
    ("google-interactions", "response"): {"status": "completed", "steps": [{"type": "thought", "signature": "AAAA"}]},
    ("mistral-chat", "request"): CHAT,
    ("mistral-chat", "response"): {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
    ("cohere-chat", "request"): CHAT,
    ("cohere-chat", "response"): {"id": "c", "finish_reason": "COMPLETE", "message": {"role": "assistant"}},
    ("bedrock-converse", "request"): {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
    ("bedrock-converse", "response"): bedrock_answer("Hi"),
    ("ollama-chat", "request"): ollama_payloads.REQUEST,
    ("ollama-chat", "response"): {"message": {"role": "assistant"}},
    ("google-generate-content", "response"): {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
        "createTime": "2026-11-01T09:00:00.123456Z",
    },
    ("openai-chat", "request"): CHAT,
    ("openai-chat", "response"): {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "logprobs": None,
                "message": {"role": "assistant", "content": "Hi", "refusal": None},
            }
        ],
    },
    ("openai-responses", "request"): RESPONSES,
    ("openai-responses", "response"): {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
}


def edited(payload: Payload, edit: Callable[[Any], object]) -> Payload:
    copy: Payload = json.loads(json.dumps(payload))
    edit(copy)
    return copy


def each(strategy: SearchStrategy[Payload], examples: int, check: Callable[[Payload], None]) -> None:
    """Run the check on some draws, without the cost of shrinking and of a database."""

    @settings(
        max_examples=examples,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(payload: Payload) -> None:
        check(payload)

    run()


# --- judges ---------------------------------------------------------------------------------


@every_envelope
def test_judge_accepts_minimal_payload(api: str, kind: str) -> None:
    assert judge(api, kind).faults(MINIMAL[api, kind]) == []


def test_judge_is_cached() -> None:
    assert judge("openai-chat", "request") is judge("openai-chat", "request")


def test_judge_raises_lookup_error_for_api_without_sdk() -> None:
    with pytest.raises(LookupError, match="no judge of smoke-signals request"):
        judge("smoke-signals", "request")


@pytest.mark.parametrize(
    ("api", "payload", "path"),
    [
        ("anthropic-messages", edited(ANTHROPIC, lambda p: p["messages"][0].update(role="zzz")), "messages[0]"),
        ("openai-chat", edited(CHAT, lambda p: p["messages"][0].update(role="zzz")), "messages[0]"),
        ("openai-responses", edited(RESPONSES, lambda p: p["input"][0].update(role="zzz")), "input[0]"),
        (
            "google-generate-content",
            edited(GOOGLE, lambda p: p.update(toolConfig={"functionCallingConfig": {"mode": "zzz"}})),
            "toolConfig.functionCallingConfig.mode",
        ),
    ],
)
def test_judge_reports_unknown_enum_value(api: str, payload: Payload, path: str) -> None:
    (fault,) = judge(api, "request").faults(payload)
    assert fault.startswith(f"$.{path}: ")


@pytest.mark.parametrize(
    ("api", "payload", "path"),
    [
        (
            "anthropic-messages",
            edited(ANTHROPIC, lambda p: p["messages"][0]["content"][0].update(zzz=1)),
            "messages[0].content[0].zzz",
        ),
        (
            "openai-chat",
            edited(CHAT, lambda p: p["messages"][0]["content"][0].update(zzz=1)),
            "messages[0].content[0].zzz",
        ),
        (
            "openai-responses",
            edited(RESPONSES, lambda p: p["input"][0]["content"][0].update(zzz=1)),
            "input[0].content[0].zzz",
        ),
        (
            "google-generate-content",
            edited(GOOGLE, lambda p: p["contents"][0]["parts"][0].update(zzz=1)),
            "contents[0].parts[0].zzz",
        ),
    ],
)
def test_judge_reports_unknown_key_at_any_depth(api: str, payload: Payload, path: str) -> None:
    assert judge(api, "request").faults(payload) == [f"$.{path}: Extra inputs are not permitted"]


def test_judge_reports_path_of_missing_key() -> None:
    payload = edited(ANTHROPIC, lambda p: p["messages"][0]["content"].append({"type": "tool_use", "id": "t"}))
    assert judge("anthropic-messages", "request").faults(payload) == [
        "$.messages[0].content[1].input: Field required",
        "$.messages[0].content[1].name: Field required",
    ]


def test_judge_does_not_convert_types() -> None:
    for api, key in (("anthropic-messages", "max_tokens"), ("openai-chat", "max_tokens")):
        payload = MINIMAL[api, "request"] | {key: "9"}
        assert judge(api, "request").faults(payload) == [f"$.{key}: Input should be a valid integer"]


def test_judge_accepts_stream_and_rejects_header_parameters() -> None:
    assert judge("anthropic-messages", "request").faults(ANTHROPIC | {"stream": True}) == []
    assert judge("openai-chat", "request").faults(CHAT | {"stream": False}) == []
    assert judge("openai-responses", "request").faults(RESPONSES | {"stream": None}) == []
    assert judge("anthropic-messages", "request").faults(ANTHROPIC | {"betas": []}) != []


def test_google_judge_accepts_both_spellings_of_names_and_enums_in_any_case() -> None:
    declaration = {"name": "f", "parameters": {"type": "object"}}
    payload = GOOGLE | {
        "system_instruction": {"parts": [{"text": "Be brief"}]},
        "tools": [{"function_declarations": [declaration]}],
        "generation_config": {"maxOutputTokens": 9, "top_p": 0.5},
    }
    assert judge("google-generate-content", "request").faults(payload) == []


def test_google_judge_rejects_fields_that_only_the_client_sets() -> None:
    payload = MINIMAL["google-generate-content", "response"] | {"parsed": {}}
    assert judge("google-generate-content", "response").faults(payload) == ["$.parsed: Extra inputs are not permitted"]


# The share of recorded traffic from the API's own host that the judges accept. What they refuse there was newer or
# older than the SDK: keys of the server that its types lack, and keys that they now require.
@pytest.mark.parametrize(
    ("api", "kind", "share"),
    [
        ("anthropic-messages", "request", 1.0),
        ("anthropic-messages", "response", 0.95),
        ("google-generate-content", "request", 0.97),
        ("google-generate-content", "response", 0.8),
        ("openai-chat", "request", 1.0),
        ("openai-chat", "response", 1.0),
        ("openai-responses", "request", 0.83),
    ],
)
def test_judges_accept_what_providers_accepted(corpus: object, api: str, kind: str, share: float) -> None:
    taken = [r["body"] for r in records(api, kind) if r["dialect"] is None and (r["status"] or 200) < 400]
    accepted = [body for body in taken if not judge(api, kind).faults(body)]
    assert len(accepted) / len(taken) >= share


# --- strategies -----------------------------------------------------------------------------


def assert_judged(api: str, kind: str) -> Callable[[Payload], None]:
    def check(payload: Payload) -> None:
        assert judge(api, kind).faults(payload) == []

    return check


@pytest.mark.slow
@every_envelope
def test_judge_accepts_drawn_payloads(api: str, kind: str) -> None:
    each(sdk_payloads(api, kind), 60, assert_judged(api, kind))


@pytest.mark.slow
@every_envelope
def test_judge_accepts_each_union_member(api: str, kind: str) -> None:
    for strategy in sdk_members(api, kind).values():
        each(strategy, 2, assert_judged(api, kind))


@pytest.mark.slow
@every_envelope
def test_judge_accepts_each_field_and_literal(api: str, kind: str) -> None:
    for strategy in (*sdk_fields(api, kind).values(), *sdk_literals(api, kind).values()):
        each(strategy, 1, assert_judged(api, kind))


@pytest.mark.slow
@every_envelope
def test_payloads_with_unknowns_have_one_and_judge_reports_it(api: str, kind: str) -> None:
    def check(payload: Payload) -> None:
        assert "unknown_" in json.dumps(payload)
        if any(key.startswith("unknown_") for key in payload):  # A nested one may be in a value of any JSON.
            assert judge(api, kind).faults(payload) != []

    each(with_unknowns(sdk_payloads(api, kind)), 30, check)


@given(st.sampled_from(APIS).flatmap(lambda api: with_unknowns(sdk_payloads(api, "request"))))
def test_drawn_payloads_are_plain_json(payload: Payload) -> None:
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


# --- coverage -------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
def test_every_coverage_position_has_names(api: str) -> None:
    assert [name for name, tags in sdk_types(api).items() if not tags] == []


@pytest.mark.nightly
@pytest.mark.parametrize("api", APIS)
def test_strategies_draw_every_name_of_coverage(api: str) -> None:
    seen: set[str] = set()
    for kind in KINDS:
        for strategies in (sdk_members(api, kind), sdk_fields(api, kind), sdk_literals(api, kind)):
            for strategy in strategies.values():
                each(strategy, 1, lambda payload: seen.update(_words(payload)))
    known = sdk_types(api)
    # Error bodies are neither requests nor responses.
    assert {tag for name, tags in known.items() if not name.startswith("error.") for tag in tags} - seen == set()


def _words(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    ("api", "position", "some"),
    [
        ("anthropic-messages", "request.content", {"text", "tool_use", "tool_result", "document"}),
        ("anthropic-messages", "web_search_tool_result.content", {"web_search_result"}),
        ("anthropic-messages", "error.type", {"overloaded_error"}),
        ("openai-responses", "input.items", {"message", "function_call", "item_reference"}),
        ("openai-responses", "output.content", {"output_text", "refusal"}),
        ("openai-chat", "message.roles", {"user", "assistant", "tool"}),
        ("google-generate-content", "part.fields", {"text", "functionCall", "thoughtSignature"}),
        ("google-generate-content", "finish_reason", {"STOP", "MAX_TOKENS"}),
    ],
)
def test_coverage_positions_contain_well_known_names(api: str, position: str, some: set[str]) -> None:
    assert some <= sdk_types(api)[position]
