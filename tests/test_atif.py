"""Trajectories of agents in ATIF. The models of nvidia-nat-atif, those of Harbor, judge what the adapter writes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from contentmodel import (
    DecodeError,
    FunctionCallContent,
    FunctionResultContent,
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


def test_step_decodes_to_its_message_and_the_results() -> None:
    request = adapter(ATIF).decode_request(TRAJECTORY)
    assert request.model == "claude-opus-4-8"
    assert [message.role for message in request.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "system")
    ]
    calls = request.messages[2].contents[2:]
    assert [call.call_id for call in calls if isinstance(call, FunctionCallContent)] == ["c1", "c2"]
    results = [c for c in request.messages[3].contents if isinstance(c, FunctionResultContent)]
    assert [result.call_id for result in results] == ["c1", "c2"]


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


def test_edited_result_is_written_in_the_step_of_its_call() -> None:
    request = adapter(ATIF).decode_request(TRAJECTORY)
    del request.messages[3].contents[1]
    steps: Any = adapter(ATIF).encode_request(request).payload["steps"]
    assert steps[2]["observation"] == {"results": [{"source_call_id": "c1", "content": "18 degrees"}]}


def test_observation_of_no_call_is_a_message_of_the_user() -> None:
    outputs: list[dict[str, Any]] = [
        {"content": "New output:\n$ ls", "extra": {"exit_code": 0}},
        {"source_call_id": None, "content": [{"type": "text", "text": "a.txt"}]},
    ]
    payload = {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "terminal", "version": "2"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "List the files."},
            {"step_id": 2, "source": "agent", "message": "ls", "observation": {"results": outputs}},
            {"step_id": 3, "source": "agent", "message": "Done."},
        ],
    }
    assert faults(payload) == []
    request = adapter(ATIF).decode_request(payload)
    assert [(message.role, message.text) for message in request.messages] == [
        ("user", "List the files."),
        ("assistant", "ls"),
        ("user", "New output:\n$ ls"),
        ("user", "a.txt"),
        ("assistant", "Done."),
    ]
    assert adapter(ATIF).encode_request(request).payload == payload
    encoded = convert(payload, target="openai-chat", model="gpt-4.1")
    assert [message["content"] for message in encoded.payload["messages"]] == [
        *("List the files.", "ls", "New output:\n$ ls", "a.txt", "Done.")
    ]
    assert "$.steps[1].observation.results[0].extra" in {loss.path for loss in encoded.losses}
    assert audit(payload, encoded) == []
    del request.messages[2]
    steps: Any = adapter(ATIF).encode_request(request).payload["steps"]
    assert steps[1]["observation"] == {"results": outputs[1:]}


@pytest.mark.parametrize(
    "step",
    [
        {"observation": {"results": [{"content": "x"}], "more": 1}},
        {"observation": {"results": [{"content": "x"}, {"content": None, "extra": {}}]}},
        {"tool_calls": [{"tool_call_id": "c1", "function_name": "f"}], "observation": {"results": [{"content": "x"}]}},
        {
            "timestamp": 7,
            "metrics": {"prompt_tokens": None, "completion_tokens": "3", "extra": {"reasoning_tokens": 1}},
        },
        {"timestamp": "soon", "metrics": {}},
    ],
)
def test_unusual_step_is_encoded_unchanged(step: dict[str, Any]) -> None:
    payload = {**TRAJECTORY, "steps": [{"step_id": 1, "source": "agent", "message": "", **step}]}
    original = copy.deepcopy(payload)
    assert adapter(ATIF).encode_request(adapter(ATIF).decode_request(payload)).payload == original
    for target in ("openai-chat", "pydantic-ai-messages", "claude-code-session"):
        assert audit(payload, convert(payload, source=ATIF, target=target)) == []


def test_times_and_metrics_are_those_of_messages() -> None:
    messages = adapter(ATIF).decode_request(TRAJECTORY).messages
    assert messages[0].created == "2026-11-23T10:00:00Z"
    assert messages[2].usage is not None
    assert (messages[2].usage.all_input_tokens, messages[2].usage.all_output_tokens) == (12, 3)


def test_session_is_written_with_its_times_metrics_and_models() -> None:
    usage = {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 1}
    common = {"isSidechain": False, "userType": "external", "cwd": "/", "sessionId": "s1", "version": "2.1.0"}

    def answer(uuid: str, parent: str, model: str) -> dict[str, Any]:
        message = {"id": f"msg_{uuid}", "type": "message", "role": "assistant", "model": model, "usage": usage}
        content = [{"type": "text", "text": "Hello."}]
        times = {"uuid": uuid, "parentUuid": parent, "timestamp": "2026-03-01T10:00:01.000Z"}
        return {**common, **times, "type": "assistant", "message": {**message, "content": content}}

    asked = {"type": "user", "message": {"role": "user", "content": "Hi."}, "uuid": "a", "parentUuid": None}
    lines = [
        {**common, **asked, "timestamp": "2026-03-01T10:00:00.000Z"},
        answer("b", "a", "claude-haiku-5-5"),
        answer("c", "b", "claude-opus-4-8"),
    ]
    encoded = convert(lines, source="claude-code-session", target=ATIF, kind="request")
    assert faults(encoded.payload) == []
    first, second, third = encoded.payload["steps"]
    assert first["timestamp"] == "2026-03-01T10:00:00.000Z"
    assert second["metrics"] == {
        "prompt_tokens": 26,
        "completion_tokens": 3,
        "cached_tokens": 20,
        "extra": {"cache_creation_input_tokens": 1},
    }
    models = [step.get("model_name", encoded.payload["agent"]["model_name"]) for step in (second, third)]
    assert models == ["claude-haiku-5-5", "claude-opus-4-8"]
    assert "message-record" not in {
        loss.code for loss in encoded.losses if loss.path.endswith((".timestamp", ".usage"))
    }


def test_observation_that_only_refers_to_another_trajectory_is_no_result() -> None:
    reference = {"session_id": "summary-1", "trajectory_path": "trajectory.summarization-1.json"}
    payload = {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "mapper", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Draw the coast."},
            {
                "step_id": 2,
                "source": "system",
                "message": "The context was summarized.",
                "observation": {"results": [{"source_call_id": None, "subagent_trajectory_ref": [reference]}]},
            },
            {"step_id": 3, "source": "user", "message": "Go on."},
        ],
    }
    request = adapter("atif").decode_request(payload)
    assert [message.role for message in request.messages] == ["user", "system", "user"]
    assert adapter("atif").encode_request(request).payload == payload
    made = convert(payload, source="atif", target="openai-chat", kind="request")
    assert [message["content"] for message in made.payload["messages"]] == [
        "Draw the coast.",
        "The context was summarized.",
        "Go on.",
    ]
    assert "$.steps[1].observation" in {loss.path for loss in made.losses}
    assert audit(payload, made) == []
