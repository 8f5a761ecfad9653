"""Trajectories of agents in ATIF. The models of nvidia-nat-atif, those of Harbor, judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from contentmodel import (
    DecodeError,
    adapter,
    audit,
    check,
    convert,
    detect,
)
from contentmodel.errors import DetectError
from contentmodel_conformance.strategies.transcripts import transcripts
from data_sets import values

ATIF = "atif"
PROVIDERS = ("openai-chat", "openai-responses", "anthropic-messages", "google-generate-content")
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s1",
    "agent": {"name": "claude-code", "version": "2.1", "model_name": "claude-opus-4-8", "tool_definitions": [TOOL]},
    "steps": [
        {"step_id": 1, "timestamp": "2026-11-23T10:00:00Z", "source": "system", "message": "Be brief."},
        {
            "step_id": 2,
            "source": "user",
            "message": [
                {"type": "text", "text": "Look."},
                {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}},
            ],
        },
        {
            "step_id": 3,
            "source": "agent",
            "model_name": "claude-haiku-5-5",
            "message": "",
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "weather", "arguments": {"city": "Oslo"}, "extra": {"ms": 12}},
                {"tool_call_id": "c2", "function_name": "weather", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "18 degrees"},
                    {
                        "source_call_id": "c2",
                        "content": None,
                        "subagent_trajectory_ref": [{"trajectory_path": "s2.json"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 12, "completion_tokens": 3, "cost_usd": 0.1},
            "llm_call_count": 1,
        },
        {"step_id": 4, "source": "agent", "message": "Done.", "observation": {"results": [{"content": "exit code 0"}]}},
        {"step_id": 5, "source": "system", "message": "Stopped.", "observation": {"results": []}},
    ],
    "final_metrics": {"total_steps": 5},
}


def faults(payload: dict[str, Any]) -> list[str]:
    """Return the faults that the models of ATIF find."""
    pydantic = pytest.importorskip("pydantic")
    model = pytest.importorskip("nat.atif").Trajectory
    try:
        model.model_validate(payload)
    except pydantic.ValidationError as error:
        return [f"{fault['loc']}: {fault['msg']}" for fault in error.errors()]
    return []


def test_trajectory_is_valid_detected_and_encoded_unchanged() -> None:
    original = copy.deepcopy(TRAJECTORY)
    assert faults(TRAJECTORY) == []
    assert check(TRAJECTORY, api=ATIF) == []
    assert detect(TRAJECTORY) == (ATIF, "request")
    encoded = adapter(ATIF).encode_request(adapter(ATIF).decode_request(TRAJECTORY))
    assert (encoded.payload, encoded.losses) == (original, ())


@pytest.mark.parametrize("target", PROVIDERS)
def test_conversion_of_trajectory_reports_every_loss(target: str) -> None:
    encoded = convert(TRAJECTORY, target=target)
    assert audit(TRAJECTORY, encoded) == []
    assert {"$.steps[2].metrics", "$.steps[2].tool_calls[0].extra"} <= {loss.path for loss in encoded.losses}


@pytest.mark.parametrize("target", [*PROVIDERS, "hf-messages", "openai-finetune"])
@given(data=st.data())
def test_conversion_of_generated_trajectory_reports_every_loss(target: str, data: st.DataObject) -> None:
    payload = data.draw(values.ATIF)
    try:
        encoded = convert(payload, source=ATIF, target=target, model="gpt-4.1")
    except (DecodeError, DetectError):
        reject()
    assert audit(payload, encoded) == []


@pytest.mark.parametrize("source", PROVIDERS)
@given(data=st.data())
def test_converted_conversation_is_a_valid_trajectory(source: str, data: st.DataObject) -> None:
    payload = adapter(source).encode_request(data.draw(transcripts(source))).payload
    encoded = convert(payload, source=source, target=ATIF)
    assert faults(encoded.payload) == []
    assert check(encoded.payload, api=ATIF) == []


@pytest.mark.parametrize(
    ("path", "change", "rule"),
    [
        ("$.schema_version", lambda t: t.pop("schema_version"), "required-fields"),
        ("$.agent.version", lambda t: t["agent"].pop("version"), "required-fields"),
        ("$.steps[1].step_id", lambda t: t["steps"][1].update(step_id=7), "steps-are-numbered"),
        ("$.steps[1].source", lambda t: t["steps"][1].update(source="critic"), "sources-are-known"),
        ("$.steps[1].metrics", lambda t: t["steps"][1].update(metrics={}), "agent-fields-in-agent-steps"),
        (
            "$.steps[3].observation.results[0].source_call_id",
            lambda t: t["steps"][3]["observation"]["results"][0].update(source_call_id="c1"),
            "results-are-in-the-step-of-their-call",
        ),
    ],
)
def test_check_reports_what_the_models_refuse(path: str, change: Any, rule: str) -> None:
    trajectory = copy.deepcopy(TRAJECTORY)
    change(trajectory)
    assert faults(trajectory) != [] or rule == "required-fields"
    assert (rule, path) in {(violation.rule, violation.path) for violation in check(trajectory, api=ATIF)}
